/* Results leave by boxes: each warpgroup rounds 128 bytes of its rows at a time into a panel in
 * shared memory, and one thread sends it (TMA store). There are two panels: one is filled while the
 * other leaves. */
#include <inttypes.h>

#include "codegen/backend/cuda/print/group.h"

enum { ROWS = 64, PANEL = ROWS * CU_PANEL, PANELS = 2 };

/* Columns of a panel of the result that leaves. */
static int columns_of(const c_printer *c, const ir_stmt *save) {
  return CU_PANEL / ir_bytes(c->p->buffers[save->save.to].type);
}

/* Coordinates of a panel's first element, innermost first. The second warpgroup's rows follow the
 * first one's; stacked rows follow along their first dim. */
static void send(c_printer *c, const ir_stmt *s, bool in_turns) {
  const ir_buffer *to = &c->p->buffers[s->save.to], *from = &c->p->buffers[s->save.from];
  ir_stack half = {.length = {ROWS}};
  const int along = cu_stack(from) ? cu_stack(from)->axis[0] : cu_row_rank(from);
  if (cu_stack(from)) cu_half_of_stack(cu_stack(from), &half);
  c_line(c, "store_box(");
  fprintf(c->out, "&maps.out_%d, panel", s->save.to);
  for (int k = to->rank - 1; k >= 0; k--) {
    fputs(", (int)(", c->out),
        c_atom(c->out, c->p,
               !cu_stack(from) && k == cu_row_rank(from) ? cu_of(s)->row : s->range[k].lo);
    fputs(" - (", c->out), c_atom(c->out, c->p, to->base[k]), fputs("))", c->out);
    if (k == cu_column_rank(from)) fprintf(c->out, " + tp * %d", columns_of(c, s));
    if (k == along && !in_turns)
      fprintf(c->out, " + (int)threadIdx.y / 4 * %" PRId64, half.length[0]);
  }
  fputs("), store_end();\n", c->out);
}

/* A map of the sums, a panel at a time: all of it at once would need as many registers again. */
static void print_map(const cu_role *r) {
  if (!r->g->leaving.map) return;
  r->c->panel = columns_of(r->c, r->g->leaving.save) / 8;
  cu_groups_points(r, r->g->leaving.map);
  r->c->panel = 0;
}

void cu_groups_leave(const cu_role *r, const ir_stmt *s) {
  c_printer *c = r->c;
  const cu_groups *g = r->g;
  const ir_buffer *from = &c->p->buffers[s->save.from];
  const int64_t eights = from->extent[cu_column_rank(from)] / 8;
  const int each = columns_of(c, s) / 8;
  const char *type = c_type(c->p->buffers[s->save.to].type);
  c_line(c, "{ /* ");
  fprintf(c->out, "%s leaves */\n", c->p->buffers[s->save.to].name);
  c->depth++;
  c_line(c, "#pragma unroll\n");
  c_indent(c),
      fprintf(c->out, "for (int tp = 0; tp < %" PRId64 "; tp++) {\n", (eights + each - 1) / each);
  c->depth++;
  print_map(r);
  c_indent(c);
  fprintf(c->out,
          "%s *const panel = (%s *)(shared + %" PRId64
          " + threadIdx.y / 4 * %d + turn_of_panel * %d);\n",
          type, type, g->leaving.offset, PANELS * PANEL, PANEL);
  c_indent(c), fprintf(c->out, "if (THREAD %% 128 == 0) store_wait<%d>();\n", PANELS - 1);
  c_line(c, "group_meet(1 + threadIdx.y / 4, 128);\n");
  c_line(c, "#pragma unroll\n");
  c_indent(c), fprintf(c->out, "for (int te = 0; te < %d; te++)\n", 2 * each);
  c->depth++;
  c_indent(c);
  if (eights % each) fprintf(c->out, "if (%d * tp + te / 2 < %" PRId64 ") ", each, eights);
  fprintf(c->out, "put_staged(panel, te %% 2, te / 2, %s[0][%d * tp + te / 2] + 2 * (te %% 2));\n",
          from->id, each);
  c->depth--;
  c_line(c, "proxy_fence();\n");
  c_line(c, "group_meet(1 + threadIdx.y / 4, 128);\n");
  c_line(c, "if (THREAD % 128 == 0) {\n");
  c->depth++;
  send(c, s, g->in_turns);
  c_close(c, 1);
  c_line(c, "turn_of_panel ^= 1;\n");
  c_close(c, 2);
}

/* Operands come from the buffers that the nest names. */
void cu_groups_points(const cu_role *r, const ir_stmt *s) {
  c_printer *c = r->c;
  const tf_op *op = &c->wl->ops[s->op];
  int *const at = c->p->buffer_of; /* of this printer alone */
  int before[CU_MOST_ACCESSES];
  const bool named = s->kind == IR_NEST && s->nest.from;
  for (int i = 0; named && i < op->n_reads; i++)
    before[i] = at[op->reads[i].tensor], at[op->reads[i].tensor] = s->nest.from[i];
  if (s->kind == IR_NEST && cu_of(s)->fragments)
    cu_groups_product(c, r->g, s);
  else if (s == r->g->leaving.save)
    cu_groups_leave(r, s);
  else
    cu_fragment_points(c, s);
  for (int i = op->n_reads - 1; named && i >= 0; i--)
    at[op->reads[i].tensor] = before[i];
}
