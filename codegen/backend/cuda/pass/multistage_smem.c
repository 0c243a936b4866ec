/* Plans shared memory of warpgroups: rings of tiles that boxes of tensors (TMA) fill, with as many
 * stages as there is room for. Boxes are clipped at a tensor's end only, and padded with zeros; so
 * sums extend to that end, or consist of whole steps. */
#include "codegen/backend/cuda/pass/region.h"

/* Bytes of the sum for one product, outside of loops; elements of it that arrive as a whole, in
 * loops; stages of a ring at most. */
enum { STEP = CU_PANEL, MOST_WHOLE = 512, MOST_STAGES = 8 };

static const tf_op *op_of_work(const cu_region *g, const cu_work *t) {
  return &g->p->tree->workload->ops[t->s->op];
}

static int64_t up(int64_t n, int64_t by) { return (n + by - 1) / by * by; }

static bool refuse(cu_region *g, const char *why) { return g->why = why, false; }

/* The row pitch of the buffer, in a dense array; 0: its strides are not what boxes take. */
static bool has_steps(const cu_region *g, int buffer) {
  const ir_buffer *b = &g->p->buffers[buffer];
  const tf_tensor *z = &g->p->tree->workload->tensors[b->tensor];
  const int64_t last =
      b->role == IR_ARGUMENT ? z->extent[z->rank - 1] : b->extent[b->rank - 1] + b->gap;
  return z->rank <= CU_BOX_RANKS && b->block.length == 0 &&
         last * ir_bytes(b->type) % CU_BOX_BYTES == 0;
}

/* The length of a tile along a dim of the product. */
static int64_t length_of(const cu_region *g, const cu_work *t, int dim) {
  const tf_op *op = op_of_work(g, t);
  if (dim == op->dims[t->roles.k]) return cu_padded_sum(g->p, t->step);
  if (dim == g->dim_m) return g->rows * g->warps;
  return cu_sides_up(t->s->range[t->roles.n].most);
}

static int64_t bytes_of_tile(const cu_region *g, const cu_work *t, int i, int *rows) {
  const tf_ref *ref = &op_of_work(g, t)->reads[i ? t->roles.b : t->roles.a];
  const int last = g->p->tree->workload->tensors[ref->tensor].rank - 1,
            bytes = ir_bytes(g->p->machine.data);
  const ir_stack *stack = t->side[i].stack;
  *rows = (int)(stack ? stack->count : length_of(g, t, ref->index[t->side[i].rows].terms[0].dim));
  return *rows * up(length_of(g, t, ref->index[last].terms[0].dim) * bytes, CU_PANEL);
}

/* The value of the variable, if the body sets it; NULL: it does not. */
static const ir_expr *set_in(const ir_body *b, int var) {
  for (int i = 0; i < b->n; i++)
    if (b->s[i]->kind == IR_LET && b->s[i]->let.var == var) return &b->s[i]->let.expr;
  return NULL;
}

/* Whether ranges always end at multiples of `by`, or where the tensor ends. */
static bool ends_in_steps(const ir_body *lets, const ir_range *r, int64_t extent, int64_t by) {
  if ((r->exact && r->most % by == 0) || (r->hi.var < 0 && r->hi.off == extent)) return true;
  const ir_expr *e = r->most % by == 0 ? set_in(lets, r->hi.var) : NULL;
  bool end = false, full = false;
  for (int i = 0; e && e->fn == IR_MIN && e->n == 2 && i < 2; i++) {
    end |= e->arg[i].var < 0 && e->arg[i].off == extent;
    full |= ir_same(e->arg[i], (ir_atom){r->lo.var, r->lo.off + r->most});
  }
  return end && full && r->hi.off == 0;
}

/* Whether a range of a buffer's last rank begins at a multiple of CU_BOX_BYTES, as boxes must:
 * otherwise the device reports an illegal instruction (the PTX manual has no such rule for
 * coordinates). */
static bool is_aligned_start(const cu_region *g, const ir_buffer *b, ir_atom lo) {
  const int bytes = ir_bytes(b->type);
  return lower_span_of(g->w, lo).multiple * bytes % CU_BOX_BYTES == 0 &&
         lower_span_of(g->w, b->base[b->rank - 1]).multiple * bytes % CU_BOX_BYTES == 0;
}

bool cu_half_of_stack(const ir_stack *all, ir_stack *half) {
  const int64_t inner = ir_stack_rows(all) / all->length[0];
  *half = *all;
  half->length[0] = CU_TURN_ROWS / inner;
  return ir_stack_rows(all) == CU_GROUP_ROWS && CU_TURN_ROWS % inner == 0;
}

/* Whether a warpgroup's stacked rows are a box of the output that ends where the tensor does. */
static bool is_box_of_rows(const cu_region *g, const ir_body *lets, const ir_stmt *s) {
  const ir_buffer *to = &g->p->buffers[s->save.to];
  const ir_stack *t = cu_stack(&g->p->buffers[s->save.from]);
  ir_stack half;
  bool ok = g->warps < CU_WARPS || cu_half_of_stack(t, &half);
  for (int i = 0; i < t->n && ok; i++)
    ok = ends_in_steps(lets, &g->stack[i], to->extent[t->axis[i]], g->stack[i].most);
  return ok;
}

bool cu_leaves_by_boxes(const cu_region *g, const ir_body *lets, const ir_stmt *s) {
  const tf_op *op = &g->p->tree->workload->ops[s->op];
  const ir_buffer *to = &g->p->buffers[s->save.to], *from = &g->p->buffers[s->save.from];
  const int last = op->n_out_dims - 1;
  if (!g->is_fragment[s->save.from] || !(ir_is_coded(to->type) || to->type == IR_F32) || last < 1 ||
      to->slots > 1 || !has_steps(g, s->save.to) || !is_aligned_start(g, to, s->range[last].lo))
    return false;
  bool ok = cu_column_rank(from) == last && cu_is_row(g, op->dims[cu_row_rank(from)]);
  for (int k = 0; k <= last && ok; k++)
    ok = cu_is_row(g, op->dims[k]) || k == last || (s->range[k].most == 1 && s->range[k].exact);
  ok = ok &&
       (g->stacked ? is_box_of_rows(g, lets, s)
                   : ends_in_steps(lets, &g->m, to->extent[cu_row_rank(from)], g->rows * g->warps));
  return ok &&
         ends_in_steps(lets, &s->range[last], to->extent[last], CU_PANEL / ir_bytes(to->type));
}

/* Whether no step of the sum fetches elements of the operand beyond the sum's dim: the tensor may
 * be longer, if another op reads it, too. */
static bool stays_in_sum(const cu_region *g, const cu_work *t, int i) {
  const int read = i ? t->roles.b : t->roles.a, buffer = cu_source_of(g->p, t->s, read);
  const ir_range *k = &t->s->range[t->roles.k];
  const tf_op *op = op_of_work(g, t);
  const ir_buffer *b = &g->p->buffers[buffer];
  const tf_tensor *z = &g->p->tree->workload->tensors[b->tensor];
  const int64_t by = t->trip > 1 ? t->step : cu_padded_sum(g->p, 1);
  bool to_end = k->hi.var < 0;
  for (int r = 0; r < z->rank; r++)
    if (cu_single_dim(&op->reads[read].index[r]) == op->dims[t->roles.k])
      to_end &= b->base[r].var < 0 && k->hi.off - b->base[r].off ==
                                          (b->role == IR_ARGUMENT ? z->extent[r] : b->extent[r]);
  return to_end || (k->exact && k->most % by == 0);
}

/* Whether products can take the operand in its layout: operands of bytes must be contiguous along
 * the sum. */
static bool takes_layout(const cu_region *g, const cu_work *t, int i) {
  const tf_ref *ref = &op_of_work(g, t)->reads[i ? t->roles.b : t->roles.a];
  const int last = g->p->tree->workload->tensors[ref->tensor].rank - 1;
  return cu_mma_of(g->p)->turns ||
         ref->index[last].terms[0].dim == op_of_work(g, t)->dims[t->roles.k];
}

/* Whether a box can take the rows of a stack: with steps and lengths that boxes allow. */
static bool fits_box(const ir_stack *t) {
  bool ok = true;
  for (int i = 0; t && i < t->n; i++)
    ok &= t->step[i] <= CU_BOX_STEP && t->length[i] * t->step[i] <= CU_BOX_SIDE;
  return ok;
}

/* Whether the boxes of an operand's tile begin where boxes may: pieces of its sum are whole panels,
 * or all of it. */
static bool begins_in_place(const cu_region *g, const cu_work *t, int i) {
  const int read = i ? t->roles.b : t->roles.a;
  const tf_ref *ref = &op_of_work(g, t)->reads[read];
  const int last = g->p->tree->workload->tensors[ref->tensor].rank - 1,
            dim = ref->index[last].terms[0].dim;
  const ir_range *r = dim == g->dim_m ? &g->m : &t->s->range[lower_find_dim(op_of_work(g, t), dim)];
  return is_aligned_start(g, &g->p->buffers[cu_source_of(g->p, t->s, read)], r->lo);
}

static bool plan_side(cu_region *g, cu_work *t, int i) {
  cu_operand *side = &t->side[i];
  int rows = 0;
  const int last =
      g->p->tree->workload->tensors[op_of_work(g, t)->reads[i ? t->roles.b : t->roles.a].tensor]
          .rank -
      1;
  side->tile = i == 0 && g->stacked ? cu_find_stack(g, t, side) && side->columns == last
                                    : cu_find_tile(g, t, i, side);
  if (!side->tile && i == 0 && g->stacked)
    return refuse(g, "rows of several dims whose operand does not have the sum's neighbours side "
                     "by side (channels last)");
  if (!side->tile)
    return refuse(g, i ? "columns of a product that are no matrix of a tensor"
                       : "rows of a product that are no matrix of a tensor");
  if (!has_steps(g, cu_source_of(g->p, t->s, i ? t->roles.b : t->roles.a)))
    return refuse(g, "an operand whose rows do not begin on 16 bytes, or of more than five ranks");
  if (!begins_in_place(g, t, i)) return refuse(g, "boxes that do not begin on 16 bytes");
  if (!takes_layout(g, t, i)) return refuse(g, "bytes whose neighbours do not run along the sum");
  if (!stays_in_sum(g, t, i))
    return refuse(g, "a sum in steps that neither fill instructions nor end where the tensor does");
  if (!fits_box(side->stack))
    return refuse(g, "rows in steps of more than 8, or across more than 256 elements");
  side->lasting = cu_is_lasting(g, t, i);
  side->bytes = bytes_of_tile(g, t, i, &rows);
  return rows <= CU_BOX_SIDE || refuse(g, "a box of more than 256 rows");
}

static bool plan_one(cu_region *g, cu_work *t) {
  const int64_t k = t->s->range[t->roles.k].most, n = cu_sides_up(t->s->range[t->roles.n].most);
  if (cu_mma_for(g->p, op_of_work(g, t)) != cu_mma_of(g->p))
    return refuse(g, lower_is_of_inputs(g->p->tree->workload, op_of_work(g, t))
                         ? "bytes whose neighbours do not run along the sum"
                         : "float8 by what a kernel made");
  if (cu_is_across(g, t)) return refuse(g, "a convolution of fewer than eight channels");
  const int bytes = ir_bytes(g->p->machine.data);
  const bool own = g->is_fragment[cu_source_of(g->p, t->s, t->roles.a)];
  const bool in_loop =
      t->loop && !g->stacked; /* loops around stacked rows are steps of the same sum */
  const int most = in_loop && !cu_has_short_sums(g->p)
                       ? MOST_WHOLE
                       : STEP; /* a step of a short sum is a partial sum */
  const bool whole = own || k <= most / bytes;
  t->step = whole ? k : STEP / bytes;
  t->trip = (k + t->step - 1) / t->step;
  if (n > cu_group_columns(g->p))
    return refuse(g, cu_has_short_sums(g->p) ? "more than 128 columns" : "more than 256 columns");
  return (own || plan_side(g, t, 0)) && plan_side(g, t, 1);
}

/* Whether only tiles use shared memory, and nothing uses scratch memory: the threads of a block do
 * not synchronise. */
static bool is_by_registers(const cu_region *g) {
  bool ok = true;
  for (int b = 0; b < g->p->n_buffers; b++) {
    const ir_buffer *at = &g->p->buffers[b];
    const int here = cu_touches(g->p, g->s, g->n, b);
    ok &= !here || g->is_fragment[b] || at->role == IR_ARGUMENT ||
          here < cu_touches(g->p, g->p->body.s, g->p->body.n, b);
  }
  return ok;
}

static int64_t bytes_of(const cu_region *g, int stages) {
  int64_t sum = 0;
  for (int i = 0; i < g->n_work; i++)
    for (int k = 0; k < 2; k++)
      if (cu_has_own_tile(&g->work[i], k))
        sum += g->work[i].side[k].bytes * (g->work[i].side[k].lasting ? 1 : stages);
  return sum;
}

/* Whether warpgroups can take blocks in turn. A step of two products has turns of its own, and
 * additions of partial sums overlap with the other warpgroup's products. */
static bool may_take_turns(cu_region *g) {
  if (cu_has_short_sums(g->p)) return refuse(g, "blocks of float8 that have not 65 to 128 rows");
  bool ok = true;
  for (int i = 1; i < g->n_work; i++)
    ok &= !g->work[i].loop;
  return ok || refuse(g, "steps of several products in blocks that have not 65 to 128 rows");
}

/* Registers of a lane for sums of products, and for rows that are fragments. */
static int64_t registers_of_sums(const cu_region *g) {
  int64_t n = 0;
  for (int i = 0; i < g->n_work; i++) {
    const cu_work *t = &g->work[i];
    n += cu_sides_up(t->s->range[t->roles.n].most) / 2;
    if (g->is_fragment[cu_source_of(g->p, t->s, t->roles.a)])
      n += cu_padded_sum(g->p, t->s->range[t->roles.k].most) / 4;
  }
  return n;
}

/* Whether three warpgroups fit in a block: their threads have fewer registers than those of two. */
static bool fits_three_groups(cu_region *g) {
  enum { NUMBERS = 128 };
  if (cu_has_short_sums(g->p)) return refuse(g, "blocks of float8 that have not 65 to 128 rows");
  return registers_of_sums(g) <= NUMBERS ||
         refuse(g, "more sums in blocks of more than 128 rows than registers hold");
}

bool cu_plan_rings(cu_region *g) {
  if (g->m.most > CU_THREE_ROWS || g->m.most <= CU_TURN_ROWS / 2)
    return refuse(g, "blocks that have not 33 to 192 rows");
  if (g->m.most > CU_GROUP_ROWS && !fits_three_groups(g)) return false;
  if (g->warps < CU_WARPS && !may_take_turns(g)) return false;
  for (int i = 0; i < g->n_work; i++)
    if (!plan_one(g, &g->work[i])) return false;
  cu_find_adjacent(g);
  if (!is_by_registers(g)) return refuse(g, "an intermediate that does not stay in registers");
  const int64_t groups = g->m.most > CU_GROUP_ROWS ? 3 : 2, leaving = groups * CU_LEAVING_BYTES;
  const int64_t room = CU_GROUP_SHARED - leaving - CU_BARRIER_BYTES;
  int stages = MOST_STAGES;
  while (stages > 1 && bytes_of(g, stages) > room)
    stages--;
  if (stages < 2) return refuse(g, "tiles of which two do not fit shared memory");
  for (int i = 0; i < g->n_work; i++)
    g->work[i].slots = stages;
  return true;
}

/* ---- properties of a planned part ----------------------------------------------------------- */
