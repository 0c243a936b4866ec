/* The IR verifier: whether a program is what lowering must produce.  Statements are visited in
 * order, so that definitions are seen before uses. */
#include <stdarg.h>
#include <stdlib.h>

#include "codegen/ir/check.h"
#include "tileflow/tree.h"

/* Reports the first fault only. */
bool ir_must(ir_checker *c, bool fact, const char *fmt, ...) {
  if (c->ok && !fact) {
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(c->why, c->size, fmt, ap);
    va_end(ap);
    c->ok = false;
  }
  return c->ok;
}

static bool is_buffer(const ir_checker *c, int b) { return b >= 0 && b < c->p->n_buffers; }

void ir_must_be_set(ir_checker *c, const char *what, ir_atom a) {
  if (!ir_must(c, a.var < c->p->n_vars, "%s: no variable %d", what, a.var) || a.var < 0) return;
  ir_must(c, c->set[a.var], "%s: '%s' is not set yet", what, c->p->var_name[a.var]);
}

static void sets(ir_checker *c, const char *what, int var, bool again) {
  if (!ir_must(c, var >= 0 && var < c->p->n_vars, "%s: no variable %d", what, var)) return;
  ir_must(c, again || !c->defined[var], "%s: '%s' is set by another statement", what,
          c->p->var_name[var]);
  c->set[var] = c->defined[var] = true;
}

/* ---- values and ranges ---- */

static void range(ir_checker *c, const char *what, const ir_range *r) {
  ir_must_be_set(c, what, r->lo);
  ir_must_be_set(c, what, r->hi);
  ir_must(c, r->most >= 0, "%s: a range of at most %lld", what, (long long)r->most);
  ir_must(c, r->never_empty || !r->exact, "%s: a range is always full, and may be empty", what);
  ir_must(c, r->other >= 0 && r->other <= r->most, "%s: a rest of %lld of %lld", what,
          (long long)r->other, (long long)r->most);
  if (r->lo.var >= 0 || r->hi.var >= 0 || !r->exact) return;
  ir_must(c, r->hi.off - r->lo.off == r->most, "%s: %lld .. %lld holds not %lld", what,
          (long long)r->lo.off, (long long)r->hi.off, (long long)r->most);
}

void ir_must_be_ranges(ir_checker *c, const char *what, const ir_range *r, int n) {
  ir_must(c, n == 0 || r, "%s: no ranges", what);
  for (int i = 0; c->ok && i < n; i++)
    range(c, what, &r[i]);
}

/* Whether the expression names an argument and a box of it. */
static bool is_argument_box(const ir_checker *c, const ir_expr *e) {
  const ir_atom b = e->arg[0];
  if (e->n < 1 || b.var >= 0 || b.off < 0 || b.off >= c->p->n_buffers) return false;
  const ir_buffer *of = &c->p->buffers[b.off];
  return of->role == IR_ARGUMENT && of->rank > 0 && e->n == 1 + 2 * of->rank;
}

static void let(ir_checker *c, const ir_stmt *s) {
  const ir_expr *e = &s->let.expr;
  ir_must(c,
          (e->fn != IR_MOD && e->fn != IR_DIV) ||
              (e->n == 2 && e->arg[1].var < 0 && e->arg[1].off > 0),
          "let: %s by no number above 0", e->fn == IR_MOD ? "mod" : "div");
  ir_must(c, e->fn != IR_PICK || e->n == 4, "let: pick of %d values", e->n);
  ir_must(c, e->n >= 0 && (e->fn == IR_SUM || e->n > 0), "let: of no values");
  ir_must(c, e->fn != IR_SEEN || is_argument_box(c, e), "let: what is seen of no argument's box");
  ir_must(c, e->fn != IR_SUM || e->n == 0 || e->coef, "let: a sum without coefficients");
  for (int i = 0; c->ok && i < e->n; i++)
    ir_must_be_set(c, "let", e->arg[i]);
  sets(c, "let", s->let.var, false);
  if (c->ok) c->value[s->let.var] = e;
}

/* ---- buffers ---- */

static void box(ir_checker *c, const ir_buffer *b) {
  int64_t words = 1;
  ir_must(c, b->rank == 0 || (b->extent && b->base), "buffer %s: no box", b->name);
  if (!b->extent || !b->base) return;
  for (int r = 0; c->ok && r < b->rank; r++) {
    const int64_t n =
        (b->block.length && r == b->block.rank
             ? (b->extent[r] + b->block.length - 1) / b->block.length * b->block.length
             : b->extent[r]) +
        (r == b->rank - 1 ? b->gap : 0);
    ir_must(c, b->extent[r] >= 0 && !__builtin_mul_overflow(words, n, &words),
            "buffer %s: rank %d is too large", b->name, r);
    ir_must(c, b->base[r].var < c->p->n_vars, "buffer %s: no variable %d", b->name, b->base[r].var);
  }
  ir_must(c, b->words == words, "buffer %s: %lld words, its box has %lld", b->name,
          (long long)b->words, (long long)words);
}

static void buffer(ir_checker *c, int i) {
  const ir_buffer *b = &c->p->buffers[i];
  if (!ir_must(c, b->name && b->id, "buffer %d has no name", i)) return;
  ir_must(c, b->tensor >= -1 && b->tensor < c->wl->n_tensors, "buffer %s: no tensor %d", b->name,
          b->tensor);
  ir_must(c, b->level >= 0 && b->level < c->p->tree->arch->n_memories, "buffer %s: no memory %d",
          b->name, b->level);
  ir_must(c, b->space >= 0 && b->space < c->p->platform->n_spaces, "buffer %s: no space %d",
          b->name, b->space);
  ir_must(c, b->role != IR_ARGUMENT || b->space == 0,
          "buffer %s: an argument outside of the first space", b->name);
  ir_must(c, b->slots >= 1, "buffer %s: %lld slots", b->name, (long long)b->slots);
  ir_must(c,
          b->block.length >= 0 &&
              (!b->block.length || (b->block.rank >= 0 && b->block.rank < b->rank)),
          "buffer %s: blocks along no rank", b->name);
  ir_must(c, b->gap >= 0 && (!b->gap || (b->rank > 1 && !b->block.length)),
          "buffer %s: a gap behind no row", b->name);
  if (c->ok && b->tensor >= 0) {
    ir_must(c, b->rank == c->wl->tensors[b->tensor].rank, "buffer %s: rank %d, its tensor has %d",
            b->name, b->rank, c->wl->tensors[b->tensor].rank);
    box(c, b);
  }
  if (!c->ok || b->shares < 0) return;
  ir_must(c, is_buffer(c, b->shares) && b->shares != i, "buffer %s: shares the place of none",
          b->name);
  ir_must(c, !c->ok || c->p->buffers[b->shares].shares < 0,
          "buffer %s: shares the place of one that shares", b->name);
  ir_must(c, !c->ok || c->p->buffers[b->shares].words >= b->words,
          "buffer %s: shares a place that is too small", b->name);
  ir_must(c, !c->ok || c->p->buffers[b->shares].gap == b->gap,
          "buffer %s: shares a place with other gaps", b->name);
}

/* The contents of the buffer must be accessible here. */
static void reaches(ir_checker *c, const char *what, int b) {
  if (!ir_must(c, is_buffer(c, b), "%s: no buffer %d", what, b)) return;
  const ir_buffer *to = &c->p->buffers[b];
  const ir_space *in = &c->p->platform->spaces[to->space];
  ir_must(c, in->map == IR_SERIAL || c->maps >> in->map & 1,
          "%s: '%s' is in '%s', and no %s is around", what, to->name, in->name,
          ir_map_of(in->map)->name);
  for (int r = 0; r < to->rank; r++)
    ir_must_be_set(c, to->name, to->base[r]);
  if (to->slots > 1) ir_must_be_set(c, to->name, to->slot);
}

static void reads(ir_checker *c, const char *what, int b) {
  reaches(c, what, b);
  ir_must(c, !c->ok || c->written[b], "%s: nothing has been put into '%s'", what,
          c->ok ? c->p->buffers[b].name : "");
  ir_must(c, !c->ok || !c->sent[b], "%s: nobody has waited for what is copied into '%s'", what,
          c->ok ? c->p->buffers[b].name : "");
}

static void writes(ir_checker *c, const char *what, int b) {
  reaches(c, what, b);
  if (c->ok) c->written[b] = true;
}

static bool holds_tiles(const ir_checker *c, int b) {
  return is_buffer(c, b) && c->p->buffers[b].role == IR_TILES;
}
static bool is_copied(const ir_checker *c, int b) {
  return is_buffer(c, b) && c->p->buffers[b].role == IR_COPIED;
}
bool ir_is_of(const ir_checker *c, int b, int tensor) {
  return is_buffer(c, b) && c->p->buffers[b].tensor == tensor;
}

/* ---- statements ---- */

/* What the target's passes noted of the statement. */
static void noted(ir_checker *c, const ir_stmt *s) {
  const ir_notes *notes = c->p->platform->notes;
  if (c->ok && s->note && notes && notes->check) notes->check(c, s);
}

/* Whether a is lo less some other value, as it is when the first blocks are skipped. */
static bool is_since(const ir_checker *c, ir_atom a, ir_atom lo) {
  const ir_expr *e = a.var >= 0 ? c->value[a.var] : NULL;
  return e && e->fn == IR_SUM && e->n == 2 && e->arg[0].var == lo.var && e->coef[0] == 1 &&
         e->coef[1] == -1;
}

/* Rows of a statement are of its own ranges, which are no longer than the box that has them. */
static void stack(ir_checker *c, const ir_stmt *s) {
  const char *name = ir_facts_of(s)->name;
  ir_must(c, ir_facts_of(s)->points && s->stack->n > 0 && s->stack->n <= IR_MOST_STACKED,
          "%s: rows of no box", name);
  ir_must_be_set(c, name, s->stack->first);
  for (int i = 0; c->ok && i < s->stack->n; i++) {
    const int k = s->stack->axis[i];
    if (!ir_must(c, k >= 0 && k < ir_n_ranges(c->p, s), "%s: rows along no range", name)) return;
    ir_must(c, s->range[k].most <= s->stack->length[i], "%s: %lld rows in %lld", name,
            (long long)s->range[k].most, (long long)s->stack->length[i]);
  }
}

/* A sum must start over: each lower end of a reduced range that varies must be among the nest's
 * `resets`. */
static void sum_starts(ir_checker *c, const ir_stmt *s) {
  const tf_op *op = &c->wl->ops[s->op];
  for (int k = op->n_out_dims; c->ok && op->reduce != TF_ASSIGN && k < op->n_dims; k++) {
    const ir_atom lo = s->range[k].lo;
    bool asked = s->nest.part || (lo.var < 0 && lo.off == 0);
    for (int i = 0; i < s->nest.n_resets; i++)
      asked |=
          ir_same(lo, s->nest.resets[i]) || (lo.var >= 0 && is_since(c, s->nest.resets[i], lo));
    ir_must(c, asked, "nest %s: its sum over '%s' never starts", op->name,
            c->wl->dims[op->dims[k]].name);
  }
  for (int i = 0; c->ok && i < s->nest.n_resets; i++)
    ir_must_be_set(c, "nest", s->nest.resets[i]);
}

static void nest(ir_checker *c, const ir_stmt *s) {
  const tf_op *op = &c->wl->ops[s->op];
  const int to = c->p->buffer_of[op->out];
  sum_starts(c, s);
  ir_must(c, s->nest.divides >= -1 && s->nest.divides < op->n_reads, "nest %s: divides by no read",
          op->name);
  for (int i = 0; c->ok && i < op->n_reads; i++) {
    const int from = s->nest.from ? s->nest.from[i] : c->p->buffer_of[op->reads[i].tensor];
    ir_must(c, ir_is_of(c, from, op->reads[i].tensor), "nest %s: reads '%s' from another's buffer",
            op->name, c->wl->tensors[op->reads[i].tensor].name);
    if (c->ok && i != s->nest.divides) reads(c, op->name, from);
  }
  ir_must(c, ir_is_of(c, to, op->out), "nest %s: makes what has no buffer", op->name);
  ir_must(c, !c->ok || (!holds_tiles(c, to) && !is_copied(c, to)), "nest %s: makes an input",
          op->name);
  noted(c, s);
  if (c->ok) writes(c, op->name, to);
}

static void check_keep(ir_checker *c, const ir_stmt *s) {
  const tf_op *op = &c->wl->ops[s->op];
  const int b = s->keep.buffer;
  const ir_range *made = s->keep.missing;
  ir_must(c, ir_is_of(c, b, op->out) && c->p->buffers[b].role == IR_KEPT,
          "keep: its buffer keeps nothing of '%s'", op->name);
  ir_must(c, made != NULL, "keep: nothing is left");
  for (int r = 0; made && c->ok && r < op->n_out_dims; r++) {
    if (ir_same(made[r].lo, s->range[r].lo)) continue;
    sets(c, "keep", made[r].lo.var, false);
    sets(c, "keep", made[r].hi.var, false);
  }
  if (c->ok) reaches(c, "keep", b);
}

/* Defines the tile's base variables for the rest of the program: several statements may do so. */
static void stage(ir_checker *c, const ir_stmt *s) {
  const ir_buffer *b = &c->p->buffers[s->stage.buffer];
  const ir_range *ahead = s->stage.ahead;
  ir_must(c, ir_is_of(c, s->stage.from, b->tensor) && s->stage.from != s->stage.buffer,
          "stage %s: from nowhere", b->name);
  if (c->ok) reads(c, "stage", s->stage.from);
  ir_must(c, !ahead || b->slots > 1, "stage %s: begins the next tile where there is no room",
          b->name);
  if (ahead)
    ir_must_be_ranges(c, "stage", ahead, b->rank), ir_must_be_set(c, "stage", s->stage.last);
  for (int r = 0; c->ok && r < b->rank; r++) {
    ir_must(c, s->range[r].most <= b->extent[r], "stage %s: a tile of %lld in %lld", b->name,
            (long long)s->range[r].most, (long long)b->extent[r]);
    sets(c, "stage", b->base[r].var, true);
  }
  if (c->ok && b->slots > 1) sets(c, "stage", b->slot.var, true);
  if (c->ok) c->written[s->stage.buffer] = true;
}

static void forget(ir_checker *c, const ir_stmt *s) {
  const int z = s->forget.tensor, b = s->forget.buffer;
  ir_must(c, z >= 0 && z < c->wl->n_tensors, "forget: no tensor %d", z);
  ir_must(c, !c->ok || b < 0 || (ir_is_of(c, b, z) && holds_tiles(c, b)),
          "forget: a buffer that holds no tiles");
  if (s->forget.n_slots) ir_must_be_set(c, "forget", s->forget.slot);
}

static void loop(ir_checker *c, const ir_stmt *s) {
  ir_must(c, s->loop.trip > 0, "for: %lld steps", (long long)s->loop.trip);
  ir_must(c, s->loop.dim >= 0 && s->loop.dim < (c->wl->n_dims ? c->wl->n_dims : 1),
          "for: no dim %d", s->loop.dim);
  const ir_map_facts *map = ir_map_of(s->loop.map);
  ir_must(c, s->loop.map == IR_SERIAL || c->p->platform->maps >> s->loop.map & 1,
          "for: the target has no %s", map->name);
#define X(id, name_of, is_aside, can_meet, at)                                                     \
  ir_must(c, !map->parallel || !(c->maps >> IR_##id & 1) || at < map->depth, "for: %s within %s",  \
          map->name, name_of);
  IR_MAPS(X)
#undef X
  sets(c, "for", s->loop.var, false);
}

static bool is_queue(ir_checker *c, const char *what, int queue) {
  return ir_must(c, queue >= 0 && queue < c->p->platform->n_queues, "%s: no queue %d", what, queue);
}

static void check_copy(ir_checker *c, const ir_stmt *s) {
  const ir_buffer *to = &c->p->buffers[s->copy.to];
  is_queue(c, "copy", s->copy.queue);
  ir_must(c, c->p->platform->spaces[to->space].filled,
          "copy %s: nothing is copied into '%s' side by side", to->name,
          c->p->platform->spaces[to->space].name);
  ir_must(c, ir_is_of(c, s->copy.from, to->tensor) && s->copy.from != s->copy.to,
          "copy %s: from nowhere", to->name);
  if (c->ok) reads(c, "copy", s->copy.from);
  ir_must_be_set(c, "copy", s->copy.slot);
  if (s->copy.parts > 1) ir_must_be_set(c, "copy", s->copy.part);
  ir_must(c, s->copy.slot.var >= 0 || (s->copy.slot.off >= 0 && s->copy.slot.off < to->slots),
          "copy %s: no tile %lld", to->name, (long long)s->copy.slot.off);
  for (int r = 0; c->ok && r < to->rank; r++)
    ir_must(c, s->range[r].most <= to->extent[r], "copy %s: a tile of %lld in %lld", to->name,
            (long long)s->range[r].most, (long long)to->extent[r]);
  if (!c->ok) return;
  if (!c->written[s->copy.to]) c->sent[s->copy.to] = 1 + s->copy.queue;
  c->written[s->copy.to] = true;
  c->open[s->copy.queue] = !s->copy.ends;
}

/* Treats copies sent to the queue as arrived; whether they have is checked when the program runs.
 */
static void wait(ir_checker *c, const ir_stmt *s) {
  const int queue = s->wait.queue;
  if (!is_queue(c, "wait", queue)) return;
  ir_must(c, s->wait.left >= 0 && s->wait.left < c->p->platform->depth, "wait: until %d are left",
          s->wait.left);
  ir_must(c, !c->open[queue], "wait: the last copy by '%s' does not end its group",
          c->p->platform->queues[queue]);
  for (int i = 0; c->ok && i < c->p->n_buffers; i++)
    if (c->sent[i] == 1 + queue) c->sent[i] = 0;
}

static void barrier(ir_checker *c, const ir_stmt *s) {
  const ir_map_facts *map = ir_map_of(s->barrier.map);
  ir_must(c, map->meets, "barrier: a %s meets no other", map->name);
  ir_must(c, c->maps >> s->barrier.map & 1, "barrier: no %s is around", map->name);
}

/* Every copy begun must belong to a group that ends. */
static void all_copies_end(ir_checker *c) {
  for (int i = 0; c->ok && i < c->p->n_buffers; i++)
    ir_must(c, !c->sent[i], "copy %s: nobody waits for it", c->p->buffers[i].name);
  for (int i = 0; c->ok && i < c->p->platform->n_queues; i++)
    ir_must(c, !c->open[i], "copy: the last one by '%s' does not end its group",
            c->p->platform->queues[i]);
}

static void together(ir_checker *c, const ir_stmt *s) {
  ir_must(c, s->body.n > 0 && s->together.n_common > 0, "together: nothing in common");
  for (int i = 0; c->ok && i < s->body.n; i++) {
    ir_must(c, s->body.s[i]->kind == IR_NEST, "together: %s within",
            ir_facts_of(s->body.s[i])->name);
    ir_must(c, !c->ok || s->together.n_common <= c->wl->ops[s->body.s[i]->op].n_out_dims,
            "together: %d dims in common", s->together.n_common);
  }
  noted(c, s);
}

static void save(ir_checker *c, const ir_stmt *s) {
  const int z = c->wl->ops[s->op].out, from = s->save.from, to = s->save.to;
  ir_must(c, ir_is_of(c, from, z) && ir_is_of(c, to, z) && from != to,
          "save: not from one buffer of '%s' to another", c->wl->tensors[z].name);
  if (!c->ok) return;
  reaches(c, "save", from); /* a running value is saved also before its first step */
  noted(c, s);
  writes(c, "save", to);
}

static void carry(ir_checker *c, const ir_stmt *s) {
  const int z = c->wl->ops[s->op].out, from = s->carry.from, to = s->carry.to;
  ir_must(c, ir_is_of(c, to, z) && (from < 0 || (ir_is_of(c, from, z) && from != to)),
          "carry: not from one buffer of '%s' to another", c->wl->tensors[z].name);
  ir_must(c, c->wl->ops[s->op].reduce == TF_REDUCE_ADD, "carry: of what is no sum");
  if (!c->ok) return;
  if (from >= 0)
    reads(c, "carry", from), reads(c, "carry", to);
  else
    writes(c, "carry", to);
}

static void correct(ir_checker *c, const ir_stmt *s) {
  const int before = s->correct.before, after = s->correct.after;
  ir_must_be_set(c, "correct", s->correct.resets);
  reads(c, "correct", after);
  reads(c, "correct", before);
  for (int i = 0; i < s->correct.n_carries; i++)
    reads(c, "correct", s->correct.carries[i]);
  ir_must(c, !c->ok || c->p->buffers[after].tensor == c->p->buffers[before].tensor,
          "correct: by values of two tensors");
  ir_must(c, s->correct.rate > 0, "correct: at rate %g", s->correct.rate);
}

static void divide(ir_checker *c, const ir_stmt *s) {
  ir_must_be_set(c, "divide", s->divide.last);
  reads(c, "divide", s->divide.divisor);
}

static void merge(ir_checker *c, const ir_stmt *s) {
  const int z = c->wl->ops[s->op].out, from = s->merge.from, to = s->merge.to,
            before = s->merge.before;
  ir_must(c, ir_is_of(c, from, z) && ir_is_of(c, to, z) && from != to,
          "merge: not from one buffer of '%s' to another", c->wl->tensors[z].name);
  if (!c->ok) return;
  const ir_buffer *parts = &c->p->buffers[from];
  ir_must(c, s->merge.parts == parts->slots && parts->slot.var == s->merge.part,
          "merge: %lld of %lld parts", (long long)s->merge.parts, (long long)parts->slots);
  ir_must(c, (before < 0) == (s->merge.after < 0), "merge: corrected by half of what it needs");
  sets(c, "merge", s->merge.part, true);
  reads(c, "merge", from);
  if (before >= 0) {
    ir_must(c, s->merge.rate > 0, "merge: at rate %g", s->merge.rate);
    reads(c, "merge", before), reads(c, "merge", s->merge.after);
    ir_must(c,
            !c->ok || (c->p->buffers[before].slots == parts->slots &&
                       c->p->buffers[s->merge.after].slots == 1),
            "merge: corrected by as many values as parts");
  }
  if (s->merge.divisor >= 0) reads(c, "merge", s->merge.divisor);
  c->set[s->merge.part] = false;
  if (c->ok) writes(c, "merge", to);
}

static void body(ir_checker *c, const ir_stmt *around, const ir_body *b);

static void stmt(ir_checker *c, const ir_stmt *s) {
  const ir_facts *facts = ir_facts_of(s);
  ir_must(c, facts->body || s->body.n == 0, "%s: has a body", facts->name);
  ir_must(c, !c->parent || c->parent->kind != IR_TOGETHER || s->kind == IR_NEST,
          "%s: stands where rows go together", facts->name);
  ir_must(c, !(facts->points || s->kind == IR_KEEP) || (s->op >= 0 && s->op < c->wl->n_ops),
          "%s: no op %d", facts->name, s->op);
  ir_must(c, s->kind != IR_STAGE || holds_tiles(c, s->stage.buffer),
          "stage: its buffer holds no tiles");
  ir_must(c, s->kind != IR_COPY || is_copied(c, s->copy.to),
          "copy: into what is not filled by copies");
  if (c->ok) ir_must_be_ranges(c, facts->name, s->range, ir_n_ranges(c->p, s));
  if (c->ok && s->stack) stack(c, s);
  if (!c->ok) return;
  switch (s->kind) {
  case IR_LET: let(c, s); break;
  case IR_KEEP: check_keep(c, s); break;
  case IR_FORGET: forget(c, s); break;
  case IR_STAGE: stage(c, s); break;
  case IR_COPY: check_copy(c, s); break;
  case IR_WAIT: wait(c, s); break;
  case IR_BARRIER: barrier(c, s); break;
  case IR_FOR: loop(c, s); break;
  case IR_IF:
    ir_must(c, s->guard.n > 0, "if: nothing is asked");
    ir_must_be_ranges(c, "if", s->guard.range, s->guard.n);
    break;
  case IR_TOGETHER: together(c, s); break;
  case IR_NEST: nest(c, s); break;
  case IR_SAVE: save(c, s); break;
  case IR_CARRY: carry(c, s); break;
  case IR_CORRECT: correct(c, s); break;
  case IR_DIVIDE: divide(c, s); break;
  case IR_MERGE: merge(c, s); break;
  }
  if (facts->body && c->ok) body(c, s, &s->body);
}

/* What the body defines is out of scope after it. */
static void hide(ir_checker *c, const ir_stmt *s) {
  if (s->kind == IR_LET || s->kind == IR_FOR)
    c->set[s->kind == IR_LET ? s->let.var : s->loop.var] = false;
  for (int r = 0; s->kind == IR_KEEP && r < c->wl->ops[s->op].n_out_dims; r++)
    if (!ir_same(s->keep.missing[r].lo, s->range[r].lo))
      c->set[s->keep.missing[r].lo.var] = c->set[s->keep.missing[r].hi.var] = false;
}

static void body(ir_checker *c, const ir_stmt *around, const ir_body *b) {
  const ir_stmt *outside = c->parent;
  const unsigned maps = c->maps;
  c->parent = around;
  if (around && ir_is_parallel(around)) c->maps |= 1u << around->loop.map;
  for (int i = 0; c->ok && i < b->n; i++) {
    ir_must(c, b->s[i] != NULL, "no statement");
    if (b->s[i]) stmt(c, b->s[i]);
  }
  for (int i = 0; c->ok && i < b->n; i++)
    if (b->s[i]) hide(c, b->s[i]);
  if (c->ok && around && around->kind == IR_FOR) hide(c, around);
  c->parent = outside;
  c->maps = maps;
}

bool ir_check(const ir_program *p, char *why, size_t size) {
  ir_checker c = {.p = p, .wl = p->tree->workload, .why = why, .size = size, .ok = true};
  c.set = calloc((size_t)p->n_vars + 1, 2 * sizeof *c.set);
  c.value = calloc((size_t)p->n_vars + 1, sizeof *c.value);
  c.written = calloc((size_t)p->n_buffers + 1, sizeof *c.written);
  c.sent = calloc((size_t)p->n_buffers + 1, sizeof *c.sent);
  c.open = calloc((size_t)p->platform->n_queues + 1, sizeof *c.open);
  const bool room = c.set && c.value && c.written && c.sent && c.open;
  c.defined = c.set ? c.set + p->n_vars + 1 : NULL;
  for (int i = 0; room && c.ok && i < p->n_buffers; i++) {
    buffer(&c, i);
    c.written[i] = p->buffers[i].role == IR_ARGUMENT && c.ok &&
                   c.wl->tensors[p->buffers[i].tensor].producer < 0;
  }
  for (int z = 0; c.ok && z < c.wl->n_tensors; z++)
    ir_must(&c, p->buffer_of[z] < 0 || ir_is_of(&c, p->buffer_of[z], z),
            "tensor '%s' is in another's buffer", c.wl->tensors[z].name);
  if (room && p->platform->notes && p->platform->notes->check_all)
    p->platform->notes->check_all(&c);
  if (room) body(&c, NULL, &p->body), all_copies_end(&c);
  free(c.set);
  free(c.value);
  free(c.written);
  free(c.sent);
  free(c.open);
  return c.ok;
}
