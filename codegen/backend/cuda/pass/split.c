/* Split sums (split-K): if there are fewer blocks than multiprocessors, or few rows of a softmax,
 * the steps of a loop over a sum are distributed over blocks, too. Each block computes a partial
 * sum, in a slot of the workspace; a second kernel combines the slots, always in the order of their
 * numbers, so that results are reproducible. Streamed sums are corrected by the running maximum, of
 * which each part has its own: a part counts exp(its maximum - the total maximum) times. The
 * mapping chooses: a spatial loop over a reduced dim, or, of two nested temporal loops over the
 * same dim, the outer one. */
#include <stdio.h>

#include "codegen/backend/cuda/pass/pass.h"

enum { MOST_MERGED = 16 };

/* A result whose sum is split. */
typedef struct {
  int op;
  int visible;           /* the buffer of the sum that is visible outside ... */
  int sums;              /* ... and the one in the block; the same, if none is visible outside */
  int parts, result;     /* the buffer of the parts, of all blocks; the buffer of the result */
  const ir_range *range; /* the box of the output that a block has */
  int divisor;           /* its divisor: an index among the merged results; -1: none */
  int whole;             /* ... or, if that is already complete, the buffer that has it; -1: none */
  bool corrected;
  double rate; /* ... by exponentials of `rate` times the maximum's change */
} merged;

typedef struct {
  lowering *w;
  const ir_stmt *block,
      *loop; /* the loop over blocks, and the loop in its body whose steps are distributed */
  ir_stmt *const *after; /* the statements after the loop over blocks ... */
  int n_after, replaced; /* ... their number, and how many of them the merge replaces */
  int index;             /* the index of the loop in the body */
  const ir_stmt **let;   /* [vars] the let that defines it, in the loop; NULL: none */
  bool *steps;           /* [vars] a step of a loop inside the loop */
  bool *moves;           /* [vars] depends on the loop's step */
  bool *inside;          /* [vars] set inside the loop */
  int n, maximum;        /* results; the index of the running maximum; -1: none */
  merged results[MOST_MERGED];
} split;

static const tf_op *op_at(const split *t, int o) { return &t->w->plan->wl->ops[o]; }

/* ---- analysis ------------------------------------------------------------------------------- */

static bool moves(const split *t, ir_atom a) { return a.var >= 0 && t->moves[a.var]; }
static bool is_outside(const split *t, const ir_range *r) {
  return (r->lo.var < 0 || !t->inside[r->lo.var]) && (r->hi.var < 0 || !t->inside[r->hi.var]);
}

/* Whether a part may have nothing to sum, so that no statement would start its sums. */
static bool may_be_empty(const split *t, const ir_stmt *s) {
  const tf_op *op = op_at(t, s->op);
  for (int k = op->n_out_dims; s->kind == IR_NEST && op->reduce != TF_ASSIGN && k < op->n_dims; k++)
    if (moves(t, s->range[k].lo) && !s->range[k].never_empty) return true;
  return false;
}

/* Finds the variables that the loop sets; false: a statement may be skipped, so that a part might
 * have nothing. */
static bool find_vars(split *t, const ir_body *b) {
  bool ok = true;
  for (int i = 0; i < b->n && ok; i++) {
    const ir_stmt *s = b->s[i];
    if (s->kind == IR_FOR) t->inside[s->loop.var] = t->steps[s->loop.var] = true;
    if (s->kind == IR_LET) {
      t->inside[s->let.var] = true;
      t->let[s->let.var] = s;
      for (int k = 0; k < s->let.expr.n; k++)
        t->moves[s->let.var] |= moves(t, s->let.expr.arg[k]);
    }
    ok = s->kind == IR_FOR || s->kind == IR_LET ||
         (ir_facts_of(s)->points && (s->kind != IR_NEST || !may_be_empty(t, s)));
    ok = ok && find_vars(t, &s->body);
  }
  return ok;
}

static int find(const split *t, int op) {
  for (int i = 0; i < t->n; i++)
    if (t->results[i].op == op) return i;
  return -1;
}

static int find_buffer(const split *t, int buffer) {
  for (int i = 0; i < t->n; i++)
    if (t->results[i].visible == buffer) return i;
  return -1;
}

/* Whether a nest sums over a part of the split dim. */
static bool sums_a_part(const split *t, const ir_stmt *s) {
  const tf_op *op = op_at(t, s->op);
  bool any = false;
  for (int k = op->n_out_dims; s->kind == IR_NEST && op->reduce != TF_ASSIGN && k < op->n_dims; k++)
    any |= moves(t, s->range[k].lo);
  return any;
}

/* Whether no other block computes the same points: there are as many blocks as boxes of the op's
 * output. */
static bool is_alone(const split *t, int o, const ir_range *r) {
  const tf_op *op = op_at(t, o);
  int64_t boxes = 1;
  for (int k = 0; k < op->n_out_dims; k++) {
    const int64_t extent = t->w->plan->wl->dims[op->dims[k]].extent;
    if (r[k].most < 1 ||
        __builtin_mul_overflow(boxes, (extent + r[k].most - 1) / r[k].most, &boxes))
      return false;
  }
  return boxes == t->block->loop.trip;
}

/* Adds a result: its first nest determines the block's box. */
static bool add_result(split *t, const ir_stmt *s) {
  const tf_op *op = op_at(t, s->op);
  const int seen = t->w->p->buffer_of[op->out];
  const ir_buffer *b = &t->w->p->buffers[seen];
  bool ok = t->n < MOST_MERGED && (b->role == IR_BOX || b->role == IR_ARGUMENT) &&
            is_alone(t, s->op, s->range);
  for (int k = 0; k < op->n_out_dims && ok; k++)
    ok = is_outside(t, &s->range[k]);
  if (!ok || find(t, s->op) >= 0) return false;
  if (op->reduce == TF_REDUCE_MAX && t->w->plan->stream_scope[s->op] >= 0) t->maximum = t->n;
  t->results[t->n++] = (merged){.op = s->op,
                                .visible = seen,
                                .sums = seen,
                                .result = -1,
                                .range = s->range,
                                .divisor = -1,
                                .whole = -1};
  return true;
}

static bool find_merged(split *t, const ir_body *b) {
  bool ok = true;
  for (int i = 0; i < b->n && ok; i++)
    ok = (!sums_a_part(t, b->s[i]) || add_result(t, b->s[i])) && find_merged(t, &b->s[i]->body);
  return ok;
}

/* Whether a buffer that a statement also writes is private to this block: it is not accessed
 * outside, except at the step's own place. */
static bool is_own(const split *t, const ir_stmt *s, int buffer) {
  const tf_op *op = op_at(t, s->op);
  ir_stmt *const in[] = {(ir_stmt *)t->loop};
  bool own = cu_touches(t->w->p, in, 1, buffer) ==
                 cu_touches(t->w->p, t->w->p->body.s, t->w->p->body.n, buffer) &&
             t->w->p->buffers[buffer].role == IR_BOX;
  for (int k = 0; k < op->n_out_dims; k++)
    own |= moves(t, s->range[k].lo);
  return own;
}

/* Whether the nest reads a result of which its block has only a part; streamed sums handle this
 * themselves. */
static bool reads_part(const split *t, const ir_stmt *s) {
  const tf_op *op = op_at(t, s->op);
  bool any = false;
  for (int i = 0; i < op->n_reads; i++) {
    const int at = find_buffer(t, s->nest.from[i]);
    any |= at >= 0 && t->w->plan->stream_scope[t->results[at].op] < 0;
  }
  return any;
}

static bool may_correct(split *t, const ir_stmt *s) {
  const int at = find(t, s->op);
  if (at < 0 || t->maximum < 0 || s->correct.after != t->results[t->maximum].visible) return false;
  t->results[at].rate = s->correct.rate;
  return t->results[at].corrected = true;
}

static bool may_divide(split *t, const ir_stmt *s) {
  const int at = find(t, s->op), by = find_buffer(t, s->divide.divisor);
  if (at < 0 || by < 0 || t->results[at].divisor >= 0) return false;
  t->results[at].divisor = by;
  return true;
}

/* Whether several blocks may execute each statement of the loop. */
static bool may_split_all(split *t, const ir_body *b) {
  bool ok = true;
  for (int i = 0; i < b->n && ok; i++) {
    const ir_stmt *s = b->s[i];
    switch (s->kind) {
    case IR_NEST:
      ok = !reads_part(t, s) &&
           (sums_a_part(t, s) || is_own(t, s, t->w->p->buffer_of[op_at(t, s->op)->out]));
      break;
    case IR_SAVE: ok = is_own(t, s, s->save.to); break;
    case IR_CORRECT: ok = may_correct(t, s); break;
    case IR_DIVIDE: ok = may_divide(t, s); break;
    case IR_LET:
    case IR_KEEP:
    case IR_FORGET:
    case IR_CARRY: /* only other targets have these */
    case IR_STAGE:
    case IR_COPY:
    case IR_WAIT:
    case IR_BARRIER:
    case IR_FOR:
    case IR_IF:
    case IR_TOGETHER:
    case IR_MERGE: ok = may_split_all(t, &s->body);
    }
  }
  return ok;
}

/* The statements after the loop: values, and copies of results to their destination. */
static bool find_saves(split *t) {
  const ir_body *b = &t->block->body;
  bool ok = true;
  for (int i = t->index + 1; i < b->n && ok; i++) {
    if (b->s[i]->kind == IR_LET) continue;
    const int at = b->s[i]->kind == IR_SAVE ? find_buffer(t, b->s[i]->save.from) : -1;
    ok = at >= 0 && t->results[at].result < 0;
    if (ok) t->results[at].result = b->s[i]->save.to, t->results[at].range = b->s[i]->range;
  }
  return ok;
}

/* The only statement, besides values, of the next kernel that is not replaced yet; NULL: there is
 * none, or several. */
static const ir_stmt *next_kernel(const split *t) {
  const ir_stmt *s = t->replaced < t->n_after ? t->after[t->replaced] : NULL;
  if (!s || s->kind != IR_FOR) return NULL;
  const ir_body *b = &s->body;
  int i = 0;
  while (i < b->n && b->s[i]->kind == IR_LET)
    i++;
  return i == b->n - 1 ? b->s[i] : NULL;
}

/* Whether all blocks share one copy of the buffer. */
static bool is_whole(const ir_buffer *b) {
  bool whole = b->slots == 1;
  for (int r = 0; r < b->rank; r++)
    whole &= b->base[r].var < 0;
  return whole;
}

/* If the next kernel only divides the only result, by a sum that is complete: the merge divides,
 * too, and the kernel is dropped. */
static void replace_divide(split *t) {
  merged *m = &t->results[0];
  const ir_stmt *s = next_kernel(t);
  if (!s || s->kind != IR_DIVIDE || s->op != m->op || m->result >= 0 || s->divide.last.var >= 0 ||
      s->divide.last.off != s->divide.end || !is_whole(&t->w->p->buffers[s->divide.divisor]))
    return;
  m->whole = s->divide.divisor;
  t->replaced++;
}

/* Accesses of a result inside the loop, and by the statements after it that are replaced. */
static int touches_known(const split *t, const merged *m) {
  ir_stmt *const in[] = {(ir_stmt *)t->loop};
  return cu_touches(t->w->p, in, 1, m->visible) + (m->whole >= 0) + (m->result >= 0);
}

/* If the next kernel only copies the only result to its destination: the merge writes there, and
 * the kernel is dropped. */
static void replace_save(split *t) {
  merged *m = &t->results[0];
  const ir_stmt *s = next_kernel(t);
  if (!s || s->kind != IR_SAVE || m->result >= 0 || s->save.from != m->visible ||
      touches_known(t, m) + 1 != cu_touches(t->w->p, t->w->p->body.s, t->w->p->body.n, m->visible))
    return;
  m->result = s->save.to;
  t->replaced++;
}

static void replace_after(split *t) {
  if (t->n != 1) return;
  replace_divide(t);
  replace_save(t);
}

/* How many statements at or below the list compute, correct or divide the op's output. */
static int count_makers(ir_stmt *const *s, int n, int op) {
  int found = 0;
  for (int i = 0; i < n; i++) {
    const bool names = s[i]->kind == IR_SAVE || s[i]->kind == IR_MERGE;
    found += (ir_facts_of(s[i])->points && !names && s[i]->op == op) +
             count_makers(s[i]->body.s, s[i]->body.n, op);
  }
  return found;
}

/* Whether results are computed, corrected and divided only inside the loop and by the replaced
 * statements: these become partial, which would affect others. */
static bool are_made_here(const split *t) {
  const ir_body *all = &t->w->p->body;
  ir_stmt *const in[] = {(ir_stmt *)t->loop};
  bool ok = true;
  for (int i = 0; i < t->n; i++) {
    const merged *m = &t->results[i];
    ok &= count_makers(in, 1, m->op) + (m->whole >= 0) == count_makers(all->s, all->n, m->op);
  }
  return ok;
}

/* Whether values that others are corrected or divided by have not been rounded. */
static bool is_exact(const split *t) {
  bool ok = true;
  for (int i = 0; i < t->n; i++) {
    ok &= !t->results[i].corrected || t->results[t->maximum].result < 0;
    ok &= t->results[i].divisor < 0 || t->results[t->results[i].divisor].result < 0;
  }
  return ok;
}

/* ---- transformation ------------------------------------------------------------------------- */

/* Adds a buffer for the result, with `slots` slots, of all blocks: the whole of it. */
static int open_buffer(split *t, const merged *m, const char *what, int64_t slots, int slot) {
  lowering *w = t->w;
  const int z = op_at(t, m->op)->out, at = lower_buffer(w, z, what, false, 0);
  char text[100];
  snprintf(text, sizeof text, "%s%d", what, at);
  char *id = lower_derived(w, w->p->tensor_id[z], text);
  const int n = snprintf(text, sizeof text, "%.80s_%s", w->plan->wl->tensors[z].name, what);
  char *name = tf_arena_strndup(w->p->arena, text, (size_t)n);
  if (lower_failed(w)) return 0;
  ir_buffer *b = &w->p->buffers[at];
  b->id = id;
  b->name = name;
  b->role = slots ? IR_LASTING : IR_BOX, b->space = 0, b->type = lower_type(w, z, false);
  b->slots = slots > 1 ? slots : 1;
  if (slots > 1) b->slot = (ir_atom){slot, 0};
  b->words = 1;
  for (int r = 0; r < b->rank; r++) {
    b->base[r] = slots ? ir_number(w->plan->wl->tensors[z].lo[r]) : m->range[r].lo;
    b->words *= b->extent[r] = slots ? w->plan->wl->tensors[z].extent[r] : m->range[r].most;
  }
  return at;
}

static void open_buffers(split *t, int part) {
  const ir_program *p = t->w->p;
  cu_grow(t->w, 3 * t->n);
  for (int i = 0; i < t->n && !lower_failed(t->w); i++) {
    merged *m = &t->results[i];
    const bool saved = m->result >= 0;
    const bool shown = p->buffers[m->visible].role == IR_ARGUMENT ||
                       touches_known(t, m) != cu_touches(p, p->body.s, p->body.n, m->visible);
    m->parts = open_buffer(t, m, "parts", t->loop->loop.trip, part);
    if (shown) m->sums = open_buffer(t, m, "part", 0, -1);
    if (!saved) m->result = shown ? m->visible : open_buffer(t, m, "all", 1, -1);
  }
  for (int i = 0; i < t->n && !lower_failed(t->w); i++)
    t->w->p->buffer_of[op_at(t, t->results[i].op)->out] = t->results[i].sums;
}

/* The block's own buffer, in place of one visible outside in which it was summed. */
static int own_buffer(const split *t, int buffer) {
  const int at = find_buffer(t, buffer);
  return at < 0 ? buffer : t->results[at].sums;
}

/* Adds the steps of loops inside the part on which the atom depends. */
static int steps_of(const split *t, ir_atom a, ir_atom *to, int n) {
  if (a.var < 0 || !t->inside[a.var]) return n;
  if (t->steps[a.var]) {
    bool new = true;
    for (int i = 0; i < n; i++)
      new &= to[i].var != a.var;
    if (new) to[n++] = (ir_atom){a.var, 0};
    return n;
  }
  for (int k = 0; t->let[a.var] && k < t->let[a.var]->let.expr.n; k++)
    n = steps_of(t, t->let[a.var]->let.expr.arg[k], to, n);
  return n;
}

/* A sum starts in the part's first steps. */
static void part_nest(split *t, const ir_stmt *s) {
  const tf_op *op = op_at(t, s->op);
  int *from = TF_ARRAY(t->w->p->arena, int, (size_t)op->n_reads + 1);
  ir_atom *fresh = TF_ARRAY(t->w->p->arena, ir_atom, (size_t)t->w->p->n_vars + 1);
  ir_stmt *new = cu_copy_with_ranges(t->w, s, NULL);
  if (lower_failed(t->w)) return;
  for (int i = 0; i < op->n_reads; i++)
    from[i] = own_buffer(t, s->nest.from[i]);
  new->nest.from = from;
  if (!sums_a_part(t, s)) return;
  new->nest.part = true;
  new->nest.resets = fresh;
  new->nest.n_resets = 0;
  for (int i = 0; i < s->nest.n_resets; i++)
    new->nest.n_resets = steps_of(t, s->nest.resets[i], fresh, new->nest.n_resets);
}

/* Corrects what the part has from earlier steps. */
static void part_correct(split *t, const ir_stmt *s) {
  ir_atom *step = TF_ARRAY(t->w->p->arena, ir_atom, (size_t)t->w->p->n_vars + 1),
          any = ir_number(0);
  const int n = step ? steps_of(t, s->correct.resets, step, 0) : 0;
  for (int i = 0; i < n; i++)
    any = lower_sum(t->w, "step", any, 1, step[i]);
  ir_stmt *new = n ? cu_copy_with_ranges(t->w, s, NULL) : NULL;
  if (!new) return;
  new->correct.resets = any;
  new->correct.after = own_buffer(t, s->correct.after);
}

static void part_body(split *t, const ir_body *b) {
  for (int i = 0; i < b->n && !lower_failed(t->w); i++) {
    ir_stmt *s = b->s[i];
    if (s->kind == IR_NEST) {
      part_nest(t, s);
    } else if (s->kind == IR_CORRECT) {
      part_correct(t, s);
    } else if (s->kind != IR_DIVIDE) { /* divisions wait until the parts are combined */
      ir_stmt *new = cu_copy_with_ranges(t->w, s, NULL);
      if (!new) return;
      if (s->kind == IR_SAVE) new->save.from = own_buffer(t, s->save.from);
      if (s->kind != IR_FOR) continue;
      new->body = (ir_body){0, NULL};
      const lower_mark mark = lower_open(t->w, &new->body);
      part_body(t, &s->body);
      lower_close(t->w, mark);
    }
  }
}

static void keep_lets(split *t, int from, int to) {
  for (int i = from; i < to; i++)
    if (t->block->body.s[i]->kind == IR_LET) cu_copy_with_ranges(t->w, t->block->body.s[i], NULL);
}

/* Loops over blocks and, innermost, over parts of them. */
static void put_parts(split *t, int part) {
  lowering *w = t->w;
  lower_mark mark;
  const int64_t parts = t->loop->loop.trip;
  const ir_atom all =
      cu_open_for(w, IR_BLOCK, t->block->loop.dim, t->block->loop.trip * parts, &mark);
  cu_set_var(w, t->block->loop.var, lower_divmod(w, "block", IR_DIV, all, parts));
  cu_set_var(w, part, lower_divmod(w, "block", IR_MOD, all, parts));
  keep_lets(t, 0, t->index);
  cu_set_var(w, t->loop->loop.var, (ir_atom){part, 0});
  part_body(t, &t->loop->body);
  keep_lets(t, t->index + 1, t->block->body.n);
  for (int i = 0; i < t->n && !lower_failed(w); i++) {
    ir_stmt *s = lower_add(w, IR_SAVE);
    if (!s) return;
    s->op = t->results[i].op;
    s->range = (ir_range *)t->results[i].range;
    s->save.from = t->results[i].sums, s->save.to = t->results[i].parts;
  }
  lower_close(w, mark);
}

static ir_atom renamed(ir_atom a, const int *name) {
  return (ir_atom){a.var < 0 ? a.var : name[a.var], a.off};
}

/* Repeats the values of a block under new names. */
static void name_lets(split *t, int *name) {
  for (int i = 0; i < t->block->body.n && !lower_failed(t->w); i++) {
    const ir_stmt *s = t->block->body.s[i];
    if (s->kind != IR_LET) continue;
    ir_expr e = s->let.expr;
    ir_atom *arg = TF_ARRAY(t->w->p->arena, ir_atom, (size_t)e.n + 1);
    ir_stmt *new = lower_add(t->w, IR_LET);
    const int var = lower_var(t->w, "of_");
    if (lower_failed(t->w)) return;
    for (int k = 0; k < e.n; k++)
      arg[k] = renamed(e.arg[k], name);
    e.arg = arg;
    name[s->let.var] = new->let.var = var;
    new->let.expr = e;
  }
}

static ir_stmt merge(const split *t, const merged *m, int part, const ir_range *r) {
  ir_stmt s = {.kind = IR_MERGE, .op = m->op, .range = (ir_range *)r};
  s.merge.from = m->parts, s.merge.to = m->result;
  s.merge.part = part, s.merge.parts = t->loop->loop.trip;
  s.merge.before = m->corrected ? t->results[t->maximum].parts : -1;
  s.merge.after = m->corrected ? t->results[t->maximum].result : -1;
  s.merge.divisor = m->divisor >= 0 ? t->results[m->divisor].result : m->whole;
  s.merge.rate = m->rate;
  return s;
}

/* Merges a block's box of the result. */
static void merge_box(split *t, const merged *m, int part, const int *name) {
  const int n = op_at(t, m->op)->n_out_dims;
  ir_range *r = TF_ARRAY(t->w->p->arena, ir_range, (size_t)n + 1);
  if (!r) return;
  for (int k = 0; k < n; k++) {
    r[k] = m->range[k];
    r[k].lo = renamed(r[k].lo, name), r[k].hi = renamed(r[k].hi, name);
  }
  const ir_stmt s = merge(t, m, part, r);
  cu_copy_with_ranges(t->w, &s, NULL);
}

/* Merges all of the only result, in as many blocks as it has pieces. */
static void merge_all(split *t, int part) {
  const tf_op *op = op_at(t, t->results[0].op);
  ir_range *r = TF_ARRAY(t->w->p->arena, ir_range, (size_t)op->n_out_dims + 1);
  for (int k = 0; k < op->n_out_dims && r; k++) {
    const int64_t extent = t->w->plan->wl->dims[op->dims[k]].extent;
    r[k] = (ir_range){.lo = ir_number(0),
                      .hi = ir_number(extent),
                      .most = extent,
                      .never_empty = true,
                      .exact = true};
  }
  if (!r) return;
  const ir_stmt s = merge(t, &t->results[0], part, r);
  cu_spread_points(t->w, &s, NULL);
}

/* Merges the maximum first, then sums, then quotients. */
static void merge_results(split *t, int part) {
  lowering *w = t->w;
  lower_mark mark;
  if (t->n == 1) {
    merge_all(t, part);
    return;
  }
  int *name = TF_ARRAY(w->p->arena, int, (size_t)w->p->n_vars + 1);
  const ir_atom block = cu_open_for(w, IR_BLOCK, t->block->loop.dim, t->block->loop.trip, &mark);
  if (lower_failed(w)) return;
  for (int v = 0; v < w->p->n_vars - 1; v++)
    name[v] = v;
  name[t->block->loop.var] = block.var;
  name_lets(t, name);
  for (int turn = 0; turn < 3; turn++)
    for (int i = 0; i < t->n && !lower_failed(w); i++)
      if (turn == (i == t->maximum ? 0 : t->results[i].divisor < 0 ? 1 : 2))
        merge_box(t, &t->results[i], part, name);
  lower_close(w, mark);
}

/* ---- choice of the loop --------------------------------------------------------------------- */

/* The tree's loop of an IR_FOR; NULL: none. */
static const tf_ploop *origin(const lowering *w, const ir_stmt *s) {
  for (int l = 0; l < w->plan->n_loops; l++)
    if (w->var_of[l] == s->loop.var) return &w->plan->loops[l];
  return NULL;
}

/* The only statement of the body besides values, if that is a loop; else NULL. */
static const ir_stmt *only_loop(const ir_body *b) {
  int i = 0;
  while (i < b->n && b->s[i]->kind == IR_LET)
    i++;
  return i == b->n - 1 && b->s[i]->kind == IR_FOR ? b->s[i] : NULL;
}

static bool is_asked(const lowering *w, const ir_stmt *s) {
  const tf_ploop *l = origin(w, s);
  if (!l || s->loop.map != IR_SERIAL || s->loop.trip < 2) return false;
  if (l->axis != TF_TEMPORAL) return true;
  const ir_stmt *next = only_loop(&s->body);
  return next && next->loop.dim == s->loop.dim && next->loop.trip > 1;
}

/* Whether one warp has all rows of a block's softmax, so that warps can share keys (region.c) if
 * blocks share them, too: then there may be more blocks than multiprocessors. */
static bool is_of_one_warp(const split *t) {
  if (t->maximum < 0) return false;
  const merged *top = &t->results[t->maximum];
  int64_t rows = 1;
  for (int k = 0; k < op_at(t, top->op)->n_out_dims && rows <= CU_FRAGMENT_SIDE; k++)
    rows *= top->range[k].most;
  return rows <= CU_FRAGMENT_SIDE;
}

static bool find_split(lowering *w, const ir_body *b, int i, split *t) {
  const ir_stmt *block = b->s[i];
  const size_t vars = (size_t)w->p->n_vars + 1;
  const tf_memory *home = &w->plan->arch->memories[cu_home(w->plan->arch)];
  *t = (split){
      .w = w, .block = block, .after = &b->s[i] + 1, .n_after = b->n - i - 1, .maximum = -1};
  while (t->index < block->body.n && block->body.s[t->index]->kind == IR_LET)
    t->index++;
  if (t->index == block->body.n) return false;
  t->loop = block->body.s[t->index];
  if (t->loop->kind != IR_FOR || !is_asked(w, t->loop) || w->mask.scope >= 0) return false;
  t->let = TF_ARRAY(w->p->arena, const ir_stmt *, vars);
  t->steps = TF_ARRAY(w->p->arena, bool, vars);
  t->moves = TF_ARRAY(w->p->arena, bool, vars);
  t->inside = TF_ARRAY(w->p->arena, bool, vars);
  if (lower_failed(w)) return false;
  t->moves[t->loop->loop.var] = t->inside[t->loop->loop.var] = true;
  if (!find_vars(t, &t->loop->body) || !find_merged(t, &t->loop->body) || !t->n ||
      !may_split_all(t, &t->loop->body) || !find_saves(t) || !is_exact(t) ||
      !(block->loop.trip < home->mesh[0] * home->mesh[1] || is_of_one_warp(t)))
    return false;
  replace_after(t);
  return are_made_here(t);
}

void lower_cuda_split(lowering *w) {
  ir_body *b = &w->p->body, new = {0, NULL};
  const lower_mark mark = lower_open(w, &new);
  w->n_lets = 0;
  cu_name_reads(w, b);
  for (int i = 0; i < b->n && !lower_failed(w); i++) {
    split t;
    if (b->s[i]->kind != IR_FOR || !find_split(w, b, i, &t)) {
      if (!lower_failed(w)) cu_copy_with_ranges(w, b->s[i], NULL);
      continue;
    }
    const int part = lower_var(w, "part_");
    i += t.replaced;
    open_buffers(&t, part);
    if (!lower_failed(w)) put_parts(&t, part);
    if (!lower_failed(w)) merge_results(&t, part);
  }
  lower_close(w, mark);
  if (!lower_failed(w)) *b = new;
}
