/* Loops over keys that skip the steps in which a mask leaves nothing (pass/skip.c) for any row of
 * the block. */
#include <inttypes.h>

#include "codegen/backend/cuda/pass/pass.h"
#include "codegen/backend/cuda/print/cuda.h"

enum { FAR = 1024 }; /* keys and rows of a step are less far apart */

static bool is_far(int64_t bound) { return bound >= TF_MASK_FAR || bound <= -TF_MASK_FAR; }

/* The loop in the list whose steps the variable bounds; NULL: none. */
static const ir_stmt *loop_of(const ir_body *b, int var) {
  const ir_stmt *found = NULL;
  for (int i = 0; i < b->n; i++) {
    const cu_note *note = cu_of(b->s[i]);
    if (b->s[i]->kind == IR_FOR && note->skips_steps && (note->first == var || note->end == var))
      found = b->s[i];
  }
  return found;
}

/* The step's keys: the range of the statement that masks them. */
static const ir_range *keys_of(const c_printer *c, const ir_stmt *loop, const tf_mask *m) {
  for (int i = 0; i < loop->body.n; i++)
    if (loop->body.s[i]->kind == IR_NEST && loop->body.s[i]->op == m->op)
      return &loop->body.s[i]->range[lower_find_dim(&c->wl->ops[m->op], m->l)];
  return NULL;
}

/* Skips steps from one end as long as the mask leaves nothing in them; at least one step stays. */
static void skip_steps(c_printer *c, const ir_stmt *loop, const tf_mask *m, bool last) {
  const cu_note *note = cu_of(loop);
  const char *first = c->p->var_name[note->first], *end = c->p->var_name[note->end];
  const ir_range *keys = keys_of(c, loop, m);
  const int64_t bound = last ? m->hi : m->lo;
  if (!keys || is_far(bound)) return;
  c_indent(c), fprintf(c->out, "for (; %s - %s > 1; %s%s) {\n", end, first, last ? end : first,
                       last ? "--" : "++");
  c->depth++;
  c_indent(c), fprintf(c->out, "const int64_t %s = %s%s;\n", c->p->var_name[loop->loop.var],
                       last ? end : first, last ? " - 1" : "");
  for (int i = 0; i < loop->body.n; i++)
    if (loop->body.s[i]->kind == IR_LET) {
      c_let(c, loop->body.s[i]);
      c_indent(c), fprintf(c->out, "(void)%s;\n", c->p->var_name[loop->body.s[i]->let.var]);
    }
  c_line(c, "if ("), c_atom(c->out, c->p, last ? keys->lo : keys->hi), fputs(" - (", c->out);
  c_atom(c->out, c->p, note->row);
  fprintf(c->out, last ? ") < %" PRId64 ") break;\n" : ") > %" PRId64 ") break;\n",
          last ? bound + note->rows : bound);
  c_close(c, 1);
}

bool cu_steps_open(c_printer *c, const ir_body *b, const ir_stmt *let) {
  const ir_stmt *loop = loop_of(b, let->let.var);
  tf_mask m;
  if (!loop || !tf_mask_find(c->wl, c->p->arena, &m)) return false;
  const cu_note *note = cu_of(loop);
  if (let->let.var == note->end) return true; /* it is set together with the first */
  c_indent(c);
  fprintf(c->out, "int64_t %s = 0, %s = %" PRId64 "; /* of steps that are not masked */\n",
          c->p->var_name[note->first], c->p->var_name[note->end], loop->loop.trip);
  c_indent(c), fprintf(c->out, "(void)%s;\n", c->p->var_name[note->first]);
  for (int last = 1; last >= 0; last--)
    skip_steps(c, loop, &m, last);
  return true;
}

bool cu_steps_are_left_out(const ir_body *b) {
  bool any = false;
  for (int i = 0; i < b->n && !any; i++)
    any = cu_of(b->s[i])->skips_steps || cu_steps_are_left_out(&b->s[i]->body);
  return any;
}

/* ---- a step --------------------------------------------------------------------------------- */

static const ir_range *range_of(const c_printer *c, const ir_stmt *s, int dim) {
  return &s->range[lower_find_dim(&c->wl->ops[s->op], dim)];
}

/* How far a lane's first key may lie beyond its first row, by the bound. */
static void key_distance(c_printer *c, const ir_stmt *s, const tf_mask *m, const char *name,
                         int64_t bound) {
  c_indent(c), fprintf(c->out, "const int %s = (int)least(most(", name);
  c_atom(c->out, c->p, range_of(c, s, m->q)->lo), fputs(" - (", c->out);
  c_atom(c->out, c->p, range_of(c, s, m->l)->lo);
  fprintf(c->out, ") + %" PRId64 " + LANE / 4 - LANE %% 4 * 2, -%d), %d);\n", bound, FAR, FAR);
}

void cu_leave_out(c_printer *c, const ir_stmt *s) {
  tf_mask m;
  if (!tf_mask_find(c->wl, c->p->arena, &m)) return;
  const ir_buffer *b = c_buffer(c, &c->wl->ops[s->op], -1);
  const int64_t sides = b->extent[cu_row_rank(b)] / CU_FRAGMENT_SIDE,
                eights = b->extent[cu_column_rank(b)] / 8;
  const bool hi = !is_far(m.hi), lo = !is_far(m.lo);
  if (hi) key_distance(c, s, &m, "last", m.hi);
  if (lo) key_distance(c, s, &m, "first", m.lo);
  for (int64_t side = 0; side < sides; side++) {
    c_line(c, "#pragma unroll\n");
    c_indent(c), fprintf(c->out, "for (int i = 0; i < %" PRId64 "; i++) {\n", 4 * eights);
    c->depth++;
    c_line(c, "const int ahead = 8 * (i / 4) + i % 2 - 8 * (i / 2 % 2)");
    if (side) fprintf(c->out, " - %" PRId64, side * CU_FRAGMENT_SIDE);
    fputs(";\n", c->out), c_indent(c);
    fprintf(c->out, "if (%s%s%s) %s[%" PRId64 "][i / 4][i %% 4] = -INFINITY;\n",
            hi ? "ahead > last" : "", hi && lo ? " || " : "", lo ? "ahead < first" : "", b->id,
            side);
    c_close(c, 1);
  }
}

bool cu_steps_masked(c_printer *c, const ir_stmt *s) {
  tf_mask m;
  if (!c->skips_steps || s->kind != IR_NEST || !tf_mask_find(c->wl, c->p->arena, &m) ||
      m.op != s->op)
    return false;
  const ir_range *keys = range_of(c, s, m.l), *rows = range_of(c, s, m.q);
  const bool hi = !is_far(m.hi), lo = !is_far(m.lo);
  c->chosen = &c->wl->ops[s->op];
  cu_fragment_points(c, s);
  c->chosen = NULL;
  c_line(c, "if (");
  if (hi) {
    c_atom(c->out, c->p, keys->hi), fputs(" - (", c->out), c_atom(c->out, c->p, rows->lo);
    fprintf(c->out, ") > %" PRId64 "%s", m.hi + 1, lo ? " || " : "");
  }
  if (lo) {
    c_atom(c->out, c->p, keys->lo), fputs(" - (", c->out), c_atom(c->out, c->p, rows->lo);
    fprintf(c->out, ") < %" PRId64, m.lo + rows->most - 1);
  }
  fputs(") {\n", c->out);
  c->depth++;
  cu_leave_out(c, s);
  c_close(c, 1);
  return true;
}
