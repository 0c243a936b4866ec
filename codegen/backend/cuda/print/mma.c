/* Prints a product of fragments: for each step of the sum (8 to 32 elements, as the instruction has
 * it), rows of a and columns of b come from tiles in shared memory (by ldmatrix), from fragments,
 * or from memory, one element at a time. */
#include <inttypes.h>

#include "codegen/backend/cuda/pass/pass.h"
#include "codegen/backend/cuda/print/cuda.h"

typedef struct {
  const ir_stmt *s;
  const tf_op *op;
  const cu_matrices *f;
  const ir_buffer *out;
  const cu_mma *mma;
} product;

static int64_t step_of(const product *t) { return t->mma->kernel.k_round; }
/* Elements of a piece of 16 bytes. */
static int per_piece(const product *t) { return 16 / ir_bytes(t->mma->kernel.a); }

static const ir_buffer *from(const c_printer *c, const product *t, int read) {
  return &c->p->buffers[t->s->nest.from ? t->s->nest.from[read]
                                        : c->p->buffer_of[t->op->reads[read].tensor]];
}

static bool is_tile(const ir_buffer *b) { return cu_is_matrix(b) && b->role == IR_COPIED; }

static void difference(c_printer *c, ir_atom a, ir_atom b) {
  fputs("(int)(", c->out), c_atom(c->out, c->p, a), fputs(" - (", c->out), c_atom(c->out, c->p, b),
      fputs("))", c->out);
}

/* The origin of the operand's dim along the tile's rank; of stacked rows the first one's number. */
static void print_origin(c_printer *c, const product *t, const ir_buffer *b, int k, int rank) {
  if (cu_stack(b) && rank == cu_row_rank(b) && k == t->f->m) {
    fputs("(int)(", c->out), c_atom(c->out, c->p, t->s->stack->first), fputc(')', c->out);
    return;
  }
  difference(c, t->s->range[k].lo, b->base[rank]);
}

/* What is added to a lane's first row: multiples of 8, which do not change the swizzle, and the
 * rest; and to its piece. */
typedef struct {
  const char *eights, *row, *piece;
} lane_place;

/* "TILE[(slot * pieces + spot<..>(eights, row, piece)) * elements". */
static void tile_address(c_printer *c, const product *t, const ir_buffer *b, int row_dim,
                         int col_dim, const lane_place *at) {
  const cu_tile tile = cu_tile_of(b);
  fprintf(c->out, "%s[((", b->id), c_atom(c->out, c->p, b->slot);
  fprintf(c->out, ") * %" PRId64 " + spot<%" PRId64 ", %d, %d>(", tile.rows * tile.pitch,
          tile.pitch, tile.shift, tile.mask);
  print_origin(c, t, b, row_dim, cu_row_rank(b)),
      fprintf(c->out, " + %s, %s, ", at->eights, at->row);
  if (!cu_across(b))
    print_origin(c, t, b, col_dim, cu_column_rank(b)), fprintf(c->out, " / %d + ", per_piece(t));
  fprintf(c->out, "%s)) * %d", at->piece, per_piece(t));
}

/* Whether the tile is contiguous along k. */
static bool along_k(const product *t, int read, const ir_buffer *b) {
  return cu_across(b) ||
         t->op->reads[read].index[cu_column_rank(b)].terms[0].dim == t->op->dims[t->f->k];
}

/* The fragment of one operand, contiguous along k or along the other dim: a lane's row and piece,
 * for the first, then for the second. */
static void of_tile(c_printer *c, const product *t, const ir_buffer *b, int other,
                    const lane_place lane[2]) {
  const bool is_b = other == t->f->n, k = along_k(t, is_b ? t->f->b : t->f->a, b);
  c_indent(c);
  fprintf(c->out, "load_matrices%s(%s, &", k ? "" : "_turned", is_b ? "fb" : "fa[tm]");
  tile_address(c, t, b, k ? other : t->f->k, k ? t->f->k : other, &lane[!k]);
  fputs("]);\n", c->out);
}

static void a_of_tile(c_printer *c, const product *t, const ir_buffer *b) {
  static const lane_place lane[] = {
      {"16 * tm", "lane % 16", "2 * tk + lane / 16"},
      {"16 * tk", "lane / 16 * 8 + lane % 8", "2 * tm + lane / 8 % 2"}};
  of_tile(c, t, b, t->f->m, lane);
}

static void b_of_tile(c_printer *c, const product *t, const ir_buffer *b) {
  static const lane_place lane[] = {{"8 * tn", "lane / 16 * 8 + lane % 8", "2 * tk + lane / 8 % 2"},
                                    {"16 * tk", "lane % 16", "tn + lane / 16"}};
  of_tile(c, t, b, t->f->n, lane);
}

static bool is_ragged(const product *t, const ir_range *r) {
  return !r->exact || r->most % step_of(t);
}

/* Whether a is a fragment of sums, with twice as many neighbours in a lane as a register has: then
 * a step takes its elements in the order of the lanes, even ones first, and b's likewise. */
static bool is_even_first(const c_printer *c, const product *t) {
  return from(c, t, t->f->a)->space == CU_FRAGMENT && t->mma->kernel.group == 1;
}

/* Elements of a beyond the end of the sum become zero, as they may be no number, which zeros of b
 * do not cancel: in the step alone that has such, or, where all steps have them, in the last
 * columns alone. */
static void end_fragment(c_printer *c, const product *t, const ir_buffer *b) {
  const ir_range *k = &t->s->range[t->f->k];
  const int64_t columns = (k->most + step_of(t) - 1) / step_of(t) * step_of(t);
  if (b->space != CU_FRAGMENT || !is_ragged(t, k)) return;
  if (!k->exact) {
    c_line(c, "if ("), c_atom(c->out, c->p, k->hi), fputs(" - (", c->out);
    c_atom(c->out, c->p, k->lo), fprintf(c->out, ") < %" PRId64 ") {\n", columns), c->depth++;
    c_line(c, "const int end = (int)("), c_atom(c->out, c->p, k->hi), fputs(" - (", c->out);
    c_atom(c->out, c->p, k->lo), fputs(")) - 2 * (lane % 4);\n", c->out);
  }
  c_line(c, "#pragma unroll\n"), c_indent(c);
  fprintf(c->out, "for (int tm = 0; tm < %" PRId64 "; tm++) {\n", cu_matrix_rows(t->out) / 16);
  c->depth++;
  c_line(c, "#pragma unroll\n"), c_indent(c);
  fprintf(c->out, "for (int i = %" PRId64 "; i < %" PRId64 "; i++) {\n",
          k->exact ? k->most / 8 * 4 : 0, columns / 2);
  c->depth++, c_indent(c);
  fputs("if (i / 4 * 8 + i % 2", c->out);
  fprintf(c->out, k->exact ? " + 2 * (lane %% 4) >= %" PRId64 ")" : " >= end)", k->most);
  fprintf(c->out, " %s[tm][i / 4][i %% 4] = 0.0f;\n", b->id);
  c_close(c, k->exact ? 2 : 3);
}

/* With at most eight rows the lower half is unused (fragment.c) and zero, too. */
static void a_of_fragment(c_printer *c, const product *t, const ir_buffer *b) {
  const bool pairs = t->mma->kernel.group == 2,
             half = !t->s->stack && t->s->range[t->f->m].most <= 8;
  for (int i = 0; i < 4; i++) {
    c_indent(c);
    if (half && i % 2) {
      fprintf(c->out, "fa[tm][%d] = 0;\n", i);
      continue;
    }
    fprintf(c->out, "fa[tm][%d] = pack(", i);
    for (int e = 0; e < t->mma->kernel.group; e++) {
      const int neighbour = pairs ? e : i / 2, eight = pairs ? i / 2 : 0;
      fprintf(c->out, "%s%s[tm][%stk + %d][%d]", e ? ", " : "", b->id, pairs ? "2 * " : "", eight,
              i % 2 * 2 + neighbour);
    }
    fputs(");\n", c->out);
  }
}

static void set(c_printer *c, const product *t, int k, const char *more) {
  const char *dim = c_dim_name(c, t->op, k);
  c_indent(c);
  fprintf(c->out, "const int64_t d_%s = ", dim), c_atom(c->out, c->p, t->s->range[k].lo);
  fprintf(c->out, "%s;\n%*s(void)d_%s;\n", more, 2 * c->depth, "", dim);
}

/* An element of a tile that ldmatrix does not load, of one byte or four: that of register i,
 * neighbour te, in the half of the step that `half` names. Elements beyond the end of a range
 * exist, and are zero. Along the other dim a lane has row lane / 4 of eight; along the sum `group`
 * neighbours, or (even first) two that are a register apart. */
static void element_of_pieces(c_printer *c, const product *t, int read, int other) {
  const ir_buffer *b = from(c, t, read);
  const bool is_b = read == t->f->b, k = along_k(t, read, b), bytes = per_piece(t) == 16,
             even = is_b && is_even_first(c, t);
  const char *half = is_b ? "i % 2" : "i / 2", *other_half = is_b ? "i / 2" : "i % 2";
  char eights[64], row[64], piece[64], rest[64];
  if (k) {
    snprintf(eights, sizeof eights, "%s + 8 * (%s)", is_b ? "8 * tn" : "16 * tm", other_half);
    snprintf(row, sizeof row, "lane / 4");
    snprintf(piece, sizeof piece, even ? "2 * tk + lane %% 4 / 2" : "2 * tk + %s", half);
    snprintf(rest, sizeof rest,
             bytes  ? "4 * (lane %% 4) + te"
             : even ? "2 * (lane %% 2) + %s"
                    : "lane %% 4",
             half);
  } else {
    snprintf(eights, sizeof eights, bytes ? "32 * tk + 16 * (%s)" : "8 * tk", half);
    snprintf(row, sizeof row,
             bytes  ? "4 * (lane %% 4) + te"
             : even ? "2 * (lane %% 4) + %s"
                    : "4 * (%s) + lane %% 4",
             half);
    snprintf(piece, sizeof piece,
             bytes  ? (is_b ? "tn / 2" : "tm")
             : is_b ? "2 * tn + 2 * (%s) + lane / 16"
                    : "4 * tm + 2 * (%s) + lane / 16",
             other_half);
    snprintf(rest, sizeof rest, bytes ? "8 * (%s) + lane / 4" : "lane / 4 %% 4", other_half);
  }
  tile_address(c, t, b, k ? other : t->f->k, k ? t->f->k : other,
               &(lane_place){eights, row, piece});
  fprintf(c->out, " + %s]", rest);
}

/* A register of such elements; bytes are packed as they are. */
static void gathered_register(c_printer *c, const product *t, int read, int other, const char *to) {
  const bool bytes = per_piece(t) == 16;
  c_line(c, "#pragma unroll\n");
  c_line(c, "for (int i = 0; i < 4; i++) {\n");
  c->depth++;
  if (bytes) {
    c_indent(c), fprintf(c->out, "%s[i] = 0;\n", to);
    c_line(c, "#pragma unroll\n");
    c_indent(c), fprintf(c->out, "for (int te = 0; te < 4; te++) %s[i] |= (uint32_t)(uint8_t)", to);
    element_of_pieces(c, t, read, other), fputs(" << 8 * te;\n", c->out);
  } else {
    c_indent(c), fprintf(c->out, "%s[i] = pack(", to), element_of_pieces(c, t, read, other),
        fputs(");\n", c->out);
  }
  c_close(c, 1);
}

/* One element at a time, from memory. */
static void load_elements(c_printer *c, const product *t, int read, int other, const char *place,
                          const char *of_k, const char *to) {
  const int group = t->mma->kernel.group;
  if (is_tile(from(c, t, read))) {
    gathered_register(c, t, read, other, to);
    return;
  }
  c_line(c, "#pragma unroll\n");
  c_line(c, "for (int i = 0; i < 4; i++) {\n");
  c->depth++;
  c_indent(c), fprintf(c->out, "float part[%d];\n", group);
  set(c, t, other, place);
  c_line(c, "#pragma unroll\n");
  c_indent(c), fprintf(c->out, "for (int te = 0; te < %d; te++) {\n", group);
  c->depth++;
  set(c, t, t->f->k, of_k);
  c_indent(c);
  fprintf(c->out, "part[te] = d_%s < ", c_dim_name(c, t->op, other)),
      c_atom(c->out, c->p, t->s->range[other].hi);
  fprintf(c->out, " && d_%s < ", c_dim_name(c, t->op, t->f->k)),
      c_atom(c->out, c->p, t->s->range[t->f->k].hi);
  fputs(" ? ", c->out), c_element(c, t->op, read), fputs(" : 0.0f;\n", c->out);
  c_close(c, 1);
  c_indent(c), fprintf(c->out, "%s[i] = pack(part[0]", to);
  for (int e = 1; e < group; e++)
    fprintf(c->out, ", part[%d]", e);
  fputs(");\n", c->out);
  c_close(c, 1);
}

/* The elements of the sum that lane and register have: `half` names the half of the step, the lane
 * the neighbours. */
static void place_of_k(const product *t, const char *half, char *text, size_t size) {
  const int group = t->mma->kernel.group;
  snprintf(text, size, " + %" PRId64 " * tk + %d * (%s) + %d * (lane %% 4) + te", step_of(t),
           4 * group, half, group);
}

/* Converts what was loaded to the instruction's operand type. */
static void convert_operand(c_printer *c, const product *t, const char *to) {
  if (t->mma->kernel.group == 1) c_indent(c), fprintf(c->out, "settle(%s);\n", to);
}

static void load_a(c_printer *c, const product *t) {
  const ir_buffer *b = from(c, t, t->f->a);
  c_indent(c);
  fprintf(c->out, "uint32_t fa[%" PRId64 "][4];\n", cu_matrix_rows(t->out) / 16);
  c_line(c, "#pragma unroll\n");
  c_indent(c);
  fprintf(c->out, "for (int tm = 0; tm < %" PRId64 "; tm++) {\n", cu_matrix_rows(t->out) / 16);
  c->depth++;
  char of_k[80];
  place_of_k(t, "i / 2", of_k, sizeof of_k);
  if (cu_is_loaded(c->p, t->s, t->f->a))
    a_of_tile(c, t, b), convert_operand(c, t, "fa[tm]");
  else if (b->space == CU_FRAGMENT)
    a_of_fragment(c, t, b);
  else
    load_elements(c, t, t->f->a, t->f->m, " + 16 * tm + 8 * (i % 2) + lane / 4", of_k, "fa[tm]");
  c_close(c, 1);
}

static void load_b(c_printer *c, const product *t) {
  const ir_buffer *b = from(c, t, t->f->b);
  c_line(c, "uint32_t fb[4];\n");
  char of_k[80];
  place_of_k(t, "i % 2", of_k, sizeof of_k);
  if (is_even_first(c, t))
    snprintf(of_k, sizeof of_k, " + %" PRId64 " * tk + 2 * (lane %% 4) + i %% 2 + te", step_of(t));
  if (cu_is_loaded(c->p, t->s, t->f->b))
    b_of_tile(c, t, b), convert_operand(c, t, "fb");
  else
    load_elements(c, t, t->f->b, t->f->n, " + 8 * (tn + i / 2) + lane / 4", of_k, "fb");
}

static void zero(c_printer *c, const product *t, int64_t mt, int64_t nt) {
  if (t->s->nest.n_resets) c_line(c, "if (fresh) {\n"), c->depth++;
  c_indent(c),
      fprintf(c->out, "zero_fragments<%" PRId64 ">(&%s[0][0][0]);\n", mt * nt * 4, t->out->id);
  if (t->s->nest.n_resets) c_close(c, 1);
}

/* Whether the rows' dim moves b, too: then it has one setting. */
static bool is_of_both(const c_printer *c, const product *t) {
  const tf_ref *b = &t->op->reads[t->f->b];
  bool any = false;
  for (int r = 0; r < c->wl->tensors[b->tensor].rank; r++)
    any |= b->index[r].n_terms && b->index[r].terms[0].dim == t->op->dims[t->f->m];
  return any;
}

/* Opens dims with one setting; if one is empty, or the sum is, nothing is multiplied. */
static int open_single(c_printer *c, const product *t) {
  int opened = 0;
  if (is_of_both(c, t)) set(c, t, t->f->m, "");
  for (int k = 0; k < t->op->n_dims; k++) {
    if (k == t->f->m || k == t->f->n || ir_is_stacked(t->s, k)) continue;
    const ir_range *r = &t->s->range[k];
    if (k == t->f->k ? !r->never_empty : !r->exact) {
      c_line(c, "if ("), c_atom(c->out, c->p, r->lo), fputs(" < ", c->out),
          c_atom(c->out, c->p, r->hi);
      fputs(") {\n", c->out), c->depth++, opened++;
    }
    if (k != t->f->k) set(c, t, k, "");
  }
  return opened;
}

/* ---- wmma ----------------------------------------------------------------------------------- */

/* Sixteen of an operand's rows or columns: "wmma_load(NAME[i], &TILE[..], pitch)". */
static void wmma_load(c_printer *c, const product *t, int read, const char *name, const char *var) {
  const ir_buffer *b = from(c, t, read);
  const bool k = along_k(t, read, b);
  const int other = read == t->f->a ? t->f->m : t->f->n;
  const cu_tile tile = cu_tile_of(b);
  char side[40];
  snprintf(side, sizeof side, "16 * %s", var);
  c_indent(c);
  fprintf(c->out, "wmma_load(%s[%s], &%s[((", name, var, b->id), c_atom(c->out, c->p, b->slot);
  fprintf(c->out, ") * %" PRId64 " + ", tile.rows * tile.pitch);
  print_origin(c, t, b, k ? other : t->f->k, cu_row_rank(b));
  fprintf(c->out, " * %" PRId64 " + %s * %" PRId64 ") * %d + ", tile.pitch, k ? side : "16 * tk",
          tile.pitch, per_piece(t));
  print_origin(c, t, b, k ? t->f->k : other, cu_column_rank(b));
  fprintf(c->out, " + %s], %" PRId64 ");\n", k ? "16 * tk" : side, tile.pitch * per_piece(t));
}

/* All of an operand's fragments in the step: row-major if a's rows run along the sum and b's across
 * it, else column-major. */
static void wmma_loads(c_printer *c, const product *t, int read, const char *name, const char *var,
                       int64_t n) {
  const bool a = read == t->f->a, k = along_k(t, read, from(c, t, read));
  c_indent(c);
  fprintf(c->out, "wmma_%s<wmma_%s> %s[%" PRId64 "];\n", a ? "a" : "b", a == k ? "rows" : "columns",
          name, n);
  c_line(c, "#pragma unroll\n");
  c_indent(c), fprintf(c->out, "for (int %s = 0; %s < %" PRId64 "; %s++)\n", var, var, n, var);
  c->depth++;
  wmma_load(c, t, read, name, var);
  c->depth--;
}

/* For all fragments of the sums: "OPERATION(SUMS..", and what follows. */
static void wmma_each(c_printer *c, const product *t, int64_t mt, int64_t nt, const char *operation,
                      const char *rest) {
  c_line(c, "#pragma unroll\n");
  c_indent(c), fprintf(c->out, "for (int tm = 0; tm < %" PRId64 "; tm++)\n", mt);
  c_line(c, "#pragma unroll\n");
  c_indent(c);
  fprintf(c->out, "  for (int tn = 0; tn < %" PRId64 "; tn++) wmma_%s(%s_wmma[tm][tn]%s);\n", nt,
          operation, t->out->id, rest);
}

static void wmma_product(c_printer *c, const product *t) {
  const int64_t mt = cu_matrix_rows(t->out) / 16, nt = t->out->extent[cu_column_rank(t->out)] / 16;
  if (t->s->nest.n_resets) c_line(c, "if (fresh) {\n"), c->depth++;
  wmma_each(c, t, mt, nt, "zero", "");
  if (t->s->nest.n_resets) c_close(c, 1);
  const int opened = open_single(c, t);
  c_line(c, "#pragma unroll\n");
  c_indent(c);
  fprintf(c->out, "for (int tk = 0; tk < %" PRId64 "; tk++) {\n",
          (t->s->range[t->f->k].most + step_of(t) - 1) / step_of(t));
  c->depth++;
  wmma_loads(c, t, t->f->a, "fa", "tm", mt);
  wmma_loads(c, t, t->f->b, "fb", "tn", nt);
  char operation[40];
  snprintf(operation, sizeof operation, "multiply_%s", t->mma->type);
  wmma_each(c, t, mt, nt, operation, ", fa[tm], fb[tn]");
  c_close(c, 1 + opened);
}

void cu_fragment_begin(c_printer *c, const ir_stmt *s) {
  const ir_buffer *out = c_buffer(c, &c->wl->ops[s->op], -1);
  c_indent(c);
  fprintf(c->out, "zero_fragments<%" PRId64 ">(&%s[0][0][0]);\n",
          cu_matrix_rows(out) * out->extent[cu_column_rank(out)] / 32, out->id);
}

void cu_fragment_product(c_printer *c, const ir_stmt *s) {
  const product t = {s, &c->wl->ops[s->op], cu_of(s)->fragments,
                     c_buffer(c, &c->wl->ops[s->op], -1), cu_mma_for(c->p, &c->wl->ops[s->op])};
  const int64_t mt = cu_matrix_rows(t.out) / 16, nt = t.out->extent[cu_column_rank(t.out)] / 8;
  const bool begun = cu_begins_before(c->p, c->region_loop, s);
  if (!begun) c_fresh_flag(c, s);
  if (t.mma->wmma) {
    wmma_product(c, &t);
    return;
  }
  c_line(c, "const int lane = lane_here();\n");
  if (!begun) zero(c, &t, mt, nt);
  const int opened = open_single(c, &t);
  end_fragment(c, &t, from(c, &t, t.f->a));
  const int64_t steps = (cu_sum_length(c->p, s) + step_of(&t) - 1) / step_of(&t),
                some = cu_steps_at_a_time(c->p, s);
  c_indent(c);
  if (some < steps)
    fprintf(c->out, "#pragma unroll %" PRId64 "\n", some);
  else
    fputs("#pragma unroll\n", c->out);
  c_indent(c), fprintf(c->out, "for (int tk = 0; tk < %" PRId64 "; tk++) {\n", steps);
  c->depth++;
  load_a(c, &t);
  c_line(c, "#pragma unroll\n");
  c_indent(c), fprintf(c->out, "for (int tn = 0; tn < %" PRId64 "; tn += 2) {\n", nt);
  c->depth++;
  load_b(c, &t);
  c_line(c, "#pragma unroll\n");
  c_indent(c), fprintf(c->out, "for (int tm = 0; tm < %" PRId64 "; tm++) {\n", mt);
  c->depth++;
  const int64_t eights = (s->range[t.f->n].most + 7) / 8;
  for (int i = 0; i < 2; i++) {
    c_indent(c);
    if (i && eights % 2)
      fprintf(c->out, "if (tn + 1 < %" PRId64 ") ", eights); /* the last eight columns are unused */
    fprintf(c->out, "multiply_%s(%s[tm][tn + %d], fa[tm], fb + %d);\n", t.mma->type, t.out->id, i,
            2 * i);
  }
  c_close(c, 3 + opened);
}
