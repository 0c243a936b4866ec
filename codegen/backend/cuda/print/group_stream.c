/* Streams: loops of two products with work on rows in between (attention), software-pipelined: the
 * first product of a step runs together with the second one of the step before, whose rows have
 * stayed in registers, and with work on rows while the second is incomplete. Three warpgroups begin
 * their products in turn, so that one multiplies while the others work on rows. Steps in which a
 * mask leaves nothing are skipped. */
#include <inttypes.h>

#include "codegen/backend/cuda/print/group.h"

static const tf_op *op_of(const cu_role *r, const ir_stmt *s) { return &r->c->wl->ops[s->op]; }

static int made_by(const cu_role *r, const ir_stmt *s) {
  return r->c->p->buffer_of[op_of(r, s)->out];
}

/* ---- recognition ---------------------------------------------------------------------------- */

static bool is_let_in(const ir_body *b, int var) {
  bool any = false;
  for (int i = 0; i < b->n; i++)
    any |= b->s[i]->kind == IR_LET && b->s[i]->let.var == var;
  return any;
}

/* Whether a value is 0 in the loop's step 0 alone: it is the step's number, or a multiple of it. */
static bool is_first(const ir_stmt *loop, ir_atom a) {
  if (a.off != 0) return false;
  if (a.var == loop->loop.var) return true;
  for (int i = 0; i < loop->body.n; i++) {
    const ir_stmt *s = loop->body.s[i];
    if (s->kind != IR_LET || s->let.var != a.var) continue;
    const ir_expr *e = &s->let.expr;
    return e->fn == IR_SUM && e->n == 1 && e->coef[0] > 0 && e->arg[0].var == loop->loop.var &&
           e->arg[0].off == 0;
  }
  return false;
}

/* Whether the statement knows of other steps only whether its own is the first. */
static bool tests_first_only(const ir_stmt *loop, const ir_stmt *s) {
  if (s->kind == IR_NEST)
    return s->nest.n_resets == 0 || (s->nest.n_resets == 1 && is_first(loop, s->nest.resets[0]));
  return s->kind != IR_CORRECT || is_first(loop, s->correct.resets);
}

/* Whether it runs after the second product: it divides sums of all steps, and does not depend on
 * the last one. */
static bool is_after(const cu_role *r, const cu_stream *t, const ir_stmt *s) {
  if (s->kind != IR_DIVIDE) return false;
  bool own = false;
  for (int k = 0; k < ir_n_ranges(r->c->p, s); k++)
    own |= is_let_in(&t->loop->body, s->range[k].lo.var) ||
           is_let_in(&t->loop->body, s->range[k].hi.var);
  return !own;
}

/* Whether it stands between the products, and accesses the second one's result only to correct
 * it. */
static bool is_between(const cu_role *r, const ir_stmt *second, const ir_stmt *s) {
  if (s->kind == IR_CORRECT && made_by(r, s) == made_by(r, second)) return true;
  return ir_facts_of(s)->points && s->kind != IR_DIVIDE &&
         cu_touches(r->c->p, (ir_stmt *const *)&s, 1, made_by(r, second)) == 0;
}

static bool find_products(const cu_role *r, const ir_stmt *loop, cu_stream *t) {
  int n = 0, rings = 0;
  *t = (cu_stream){.loop = loop, .ring = {-1, -1}};
  for (int i = 0; i < loop->body.n; i++) {
    const ir_stmt *s = loop->body.s[i];
    if (s->kind == IR_FOR || s->kind == IR_IF || (s->kind == IR_LET && n > 0)) return false;
    if (s->kind == IR_WAIT && (rings == 2 || rings != n)) return false;
    if (s->kind == IR_WAIT) t->ring[rings++] = cu_ring_of(r->g, s);
    if (s->kind != IR_NEST || !cu_of(s)->fragments) continue;
    if (n == 2 || rings != n + 1 || !cu_groups_is_steady(r->c, s)) return false;
    *(n++ ? &t->second : &t->first) = i;
  }
  return n == 2;
}

/* Finds the mask whose band tells which steps can be skipped: nothing that they compute is
 * needed. */
static void find_mask(const cu_role *r, cu_stream *t) {
  tf_mask m;
  t->mask = cu_mask_of(r->c->p, r->g->warps, t->loop, &m);
  if (t->mask) t->lo = m.lo, t->hi = m.hi;
}

bool cu_groups_find_stream(const cu_role *r, const ir_stmt *loop, cu_stream *t) {
  const ir_program *p = r->c->p;
  if (loop->loop.map != IR_SERIAL || loop->loop.trip < 2 || !find_products(r, loop, t))
    return false;
  const ir_stmt *first = loop->body.s[t->first], *second = loop->body.s[t->second];
  bool ok = p->buffers[first->nest.from[cu_of(first)->fragments->a]].space != CU_FRAGMENT &&
            first->nest.n_resets == 0 &&
            p->buffers[second->nest.from[cu_of(second)->fragments->a]].space == CU_FRAGMENT &&
            second->nest.n_resets == 1 && made_by(r, first) != made_by(r, second);
  for (int i = 0; i < 2; i++)
    ok = ok && t->ring[i] >= 0 && !r->g->ring[t->ring[i]].lasting &&
         r->g->ring[t->ring[i]].stages > 1;
  for (int i = 0; i < loop->body.n && ok; i++) {
    const ir_stmt *s = loop->body.s[i];
    if (!ir_facts_of(s)->points) continue;
    ok = tests_first_only(loop, s) && (i == t->first || i == t->second ||
                                       (i < t->first    ? false
                                        : i < t->second ? is_between(r, second, s)
                                                        : is_after(r, t, s)));
  }
  if (ok) find_mask(r, t);
  return ok;
}

bool cu_groups_has_stream(const cu_role *r, const ir_body *b) {
  bool any = false;
  cu_stream t;
  for (int i = 0; i < b->n && !any; i++)
    any = (b->s[i]->kind == IR_FOR && cu_groups_find_stream(r, b->s[i], &t)) ||
          cu_groups_has_stream(r, &b->s[i]->body);
  return any;
}

/* ---- the steps that run --------------------------------------------------------------------- */

static const ir_range *range_of(const cu_role *r, const cu_stream *t, int dim) {
  return &t->mask->range[lower_find_dim(op_of(r, t->mask), dim)];
}

/* "k - (q - 16 * warp)": an end of the step's keys, minus the first row of the block. */
static void distance(const cu_role *r, const cu_stream *t, ir_atom key) {
  c_printer *c = r->c;
  tf_mask m;
  if (!tf_mask_find(c->wl, c->p->arena, &m)) return;
  c_atom(c->out, c->p, key), fputs(" - (", c->out);
  c_atom(c->out, c->p, range_of(r, t, m.q)->lo);
  fprintf(c->out, " - %d * %s)", CU_FRAGMENT_SIDE, c->p->var_name[r->g->warps->loop.var]);
}

static bool is_far(int64_t bound) { return bound >= TF_MASK_FAR || bound <= -TF_MASK_FAR; }

void cu_groups_ends(const cu_role *r, const cu_stream *t) {
  c_printer *c = r->c;
  const char *var = c->p->var_name[t->loop->loop.var];
  const ir_range *keys = range_of(r, t, t->loop->loop.dim);
  c_indent(c),
      fprintf(c->out, "int64_t first = 0, end = %" PRId64 "; /* steps that are not masked */\n",
              t->loop->loop.trip);
  c_line(c, "(void)first;\n");
  for (int last = 1; last >= 0; last--) {
    if (is_far(last ? t->hi : t->lo)) continue;
    c_line(c, last ? "for (; end - first > 1; end--) {\n" : "for (; end - first > 1; first++) {\n");
    c->depth++;
    c_indent(c), fprintf(c->out, "const int64_t %s = %s;\n", var, last ? "end - 1" : "first");
    cu_groups_lets(r, &t->loop->body);
    c_line(c, "if (");
    distance(r, t, last ? keys->lo : keys->hi);
    if (last)
      fprintf(c->out, " < %" PRId64 ") break;\n", t->hi + r->g->rows);
    else
      fprintf(c->out, " > %" PRId64 ") break;\n", t->lo);
    c_close(c, 1);
  }
}

/* ---- printing ------------------------------------------------------------------------------- */

/* A mask selects an element or -inf: in steps without masked elements the element, without
 * comparing. */
static void masked(const cu_role *r, const cu_stream *t, const ir_stmt *s) {
  c_printer *c = r->c;
  const ir_range *keys = range_of(r, t, t->loop->loop.dim);
  const char *join = "";
  c->chosen = op_of(r, s);
  cu_groups_points(r, s);
  c->chosen = NULL;
  c_line(c, "if (");
  if (!is_far(t->hi)) {
    distance(r, t, keys->hi), fprintf(c->out, " > %" PRId64, t->hi + 1);
    join = " || ";
  }
  if (!is_far(t->lo)) {
    fputs(join, c->out), distance(r, t, keys->lo);
    fprintf(c->out, " < %" PRId64, t->lo + r->g->rows - 1);
  }
  fputs(") {\n", c->out);
  c->depth++;
  cu_leave_out(c, s);
  c_close(c, 1);
}

/* Sums are corrected only if a maximum of the warp's rows has risen. */
static void correct(const cu_role *r, const ir_stmt *s) {
  const char *before = r->c->p->buffers[s->correct.before].id,
             *after = r->c->p->buffers[s->correct.after].id;
  c_indent(r->c);
  fprintf(r->c->out, "if (any_lane(%s[0][0] != %s[0][0] || %s[0][1] != %s[0][1])) {\n", before,
          after, before, after);
  r->c->depth++;
  cu_groups_points(r, s);
  c_close(r->c, 1);
}

static bool is_late(const cu_role *r, const cu_stream *t, const ir_stmt *s) {
  return s->kind == IR_CORRECT && made_by(r, s) == made_by(r, t->loop->body.s[t->second]);
}

/* The statements between the products; late: those that correct the sums of the second one. */
static void print_between(const cu_role *r, const cu_stream *t, bool late) {
  for (int i = t->first + 1; i < t->second; i++) {
    const ir_stmt *s = t->loop->body.s[i];
    if (!ir_facts_of(s)->points || is_late(r, t, s) != late) continue;
    if (late)
      correct(r, s);
    else if (s == t->mask && s->kind == IR_NEST)
      masked(r, t, s);
    else
      cu_groups_points(r, s);
  }
}

/* Whether only the stream's first product reads the ring's tiles, which are the same in all
 * steps. */
static bool is_of_first(const cu_role *r, const cu_stream *t, int ring) {
  const ir_program *p = r->c->p;
  const cu_ring *at = &r->g->ring[ring];
  const ir_body *all = &r->g->warps->body;
  ir_stmt *const *first = &t->loop->body.s[t->first];
  bool is = at->lasting;
  for (int i = 0; i < at->n_copies && is; i++) {
    const int tile = at->copy[i]->copy.to, own = cu_touches(p, first, 1, tile);
    is = own > 0 && cu_touches(p, all->s, all->n, tile) ==
                        own + cu_touches(p, (ir_stmt *const *)&at->copy[i], 1, tile);
  }
  return is;
}

bool cu_groups_is_early(const cu_role *r, int ring) {
  const ir_body *b = &r->g->warps->body;
  bool is = false;
  cu_stream t;
  for (int i = 0; i < b->n && !is; i++)
    is = b->s[i]->kind == IR_FOR && cu_groups_find_stream(r, b->s[i], &t) &&
         is_of_first(r, &t, ring);
  return is;
}

/* Rows of the second product, kept for the next step. */
static void keep_rows(const cu_role *r, const ir_stmt *second) {
  int *const at = r->c->p->buffer_of;
  (void)at;
  cu_groups_rows(r->c, second, false);
}

static void first_step(const cu_role *r, const cu_stream *t, const char *from) {
  c_printer *c = r->c;
  const ir_stmt *first = t->loop->body.s[t->first];
  c_line(c, "{ /* the first step */\n");
  c->depth++;
  c_indent(c), fprintf(c->out, "const int64_t %s = %s;\n", c->p->var_name[t->loop->loop.var], from);
  c_indent(c), fprintf(c->out, "(void)%s;\n", c->p->var_name[t->loop->loop.var]);
  cu_groups_lets(r, &t->loop->body);
  cu_groups_full(r, t->ring[0]);
  cu_groups_begin(c, r->g, first, NULL);
  cu_groups_wait(c, first, 0);
  cu_groups_give_back(r, t->ring[0]);
  c->step = C_STEP_FIRST;
  print_between(r, t, false);
  keep_rows(r, t->loop->body.s[t->second]);
  c->step = C_STEP_ANY;
  c_close(c, 1);
}

static void later_steps(const cu_role *r, const cu_stream *t, const char *from, const char *end) {
  c_printer *c = r->c;
  const ir_stmt *first = t->loop->body.s[t->first], *second = t->loop->body.s[t->second];
  const char *var = c->p->var_name[t->loop->loop.var];
  char fresh[120];
  c_line(c, "#pragma unroll 1\n"), c_indent(c);
  fprintf(c->out, "for (int64_t %s = %s + 1; %s < %s; %s++) {\n", var, from, var, end, var);
  c->depth++;
  cu_groups_lets(r, &t->loop->body);
  cu_groups_full(r, t->ring[0]);
  cu_groups_full(r, t->ring[1]);
  if (cu_groups_streams_in_turn(r->g)) cu_groups_take_turn(r);
  cu_groups_begin(c, r->g, first, NULL);
  snprintf(fresh, sizeof fresh, "(%.60s == %.20s + 1)", var, from);
  cu_groups_begin(c, r->g, second, fresh);
  if (cu_groups_streams_in_turn(r->g)) cu_groups_pass_turn(r);
  cu_groups_wait(c, first, 1);
  cu_groups_give_back(r, t->ring[0]);
  c->step = C_STEP_LATER;
  print_between(r, t, false);
  cu_groups_wait(c, second, 0);
  cu_groups_give_back(r, t->ring[1]);
  print_between(r, t, true);
  keep_rows(r, second);
  c->step = C_STEP_ANY;
  c_close(c, 1);
}

void cu_groups_stream(const cu_role *r, const cu_stream *t) {
  c_printer *c = r->c;
  const ir_stmt *second = t->loop->body.s[t->second];
  char from[24] = "0", end[24], fresh[60];
  snprintf(end, sizeof end, "%" PRId64, t->loop->loop.trip);
  if (t->mask) snprintf(from, sizeof from, "first"), snprintf(end, sizeof end, "end");
  c_line(c, "{\n");
  c->depth++;
  if (t->mask) cu_groups_ends(r, t);
  cu_groups_rows(c, second, true);
  first_step(r, t, from);
  later_steps(r, t, from, end);
  for (int i = 0; i < r->g->n;
       i++) /* the next block's tiles are fetched during this one's last step */
    if (is_of_first(r, t, i)) cu_groups_give_back(r, i);
  snprintf(fresh, sizeof fresh, "(%s - %s == 1)", end, from);
  cu_groups_full(r, t->ring[1]);
  cu_groups_begin(c, r->g, second, fresh);
  cu_groups_wait(c, second, 0);
  cu_groups_give_back(r, t->ring[1]);
  c->step = C_STEP_LAST;
  for (int i = t->second + 1; i < t->loop->body.n; i++)
    if (ir_facts_of(t->loop->body.s[i])->points) cu_groups_points(r, t->loop->body.s[i]);
  c->step = C_STEP_ANY;
  c_close(c, 1);
}
