/* Finds the statements that can form a region: all have rows in common, and the elements that they
 * compute are accessed only by lanes of the same warp. */
#include "codegen/backend/cuda/pass/region.h"
#include "codegen/backend/cuda/box/box.h"

#include <string.h>

enum {
  MOST_FLOATS = 128,
  MOST_SUMS = 160
}; /* floats per lane: for one buffer; for the sums of all products */

static const tf_op *op_of(const cu_region *g, const ir_stmt *s) {
  return &g->p->tree->workload->ops[s->op];
}

/* With stacked rows the pixels of a convolution are rows. */
static bool roles_of(const cu_region *g, const ir_stmt *s, cu_matrices *t) {
  return (g->stacked && cu_roles_of_pixels(g->p, s, t)) || cu_roles(g->p, s, t);
}

/* Collects the statements that may be part of the region, and the variables that they set. */
static bool collect(cu_region *g, ir_stmt *const *s, int n, const ir_stmt *loop) {
  for (int i = 0; i < n; i++) {
    cu_matrices t;
    if (s[i]->kind == IR_LET) {
      g->inside[s[i]->let.var] = true;
    } else if (s[i]->kind == IR_FOR && s[i]->loop.map == IR_SERIAL) {
      g->inside[s[i]->loop.var] = true;
      if (!collect(g, s[i]->body.s, s[i]->body.n, s[i])) return false;
    } else if (ir_facts_of(s[i])->points && g->n_points < CU_MOST_WORK) {
      g->point[g->n_points++] = s[i];
      if (!roles_of(g, s[i], &t)) continue;
      if (g->n_work == CU_MOST_PRODUCTS) return false;
      g->work[g->n_work++] = (cu_work){.s = s[i], .roles = t, .loop = loop};
    } else {
      return false;
    }
  }
  return true;
}

static bool is_outside(const cu_region *g, ir_atom a) { return a.var < 0 || !g->inside[a.var]; }
static bool same_ends(const ir_range *a, const ir_range *b) {
  return ir_same(a->lo, b->lo) && ir_same(a->hi, b->hi);
}

/* Position of the dim among those of the statement; -1: none. */
static int position(const cu_region *g, const ir_stmt *s, int dim) {
  const int k = lower_find_dim(op_of(g, s), dim);
  return k < ir_n_ranges(g->p, s) ? k : -1;
}

/* Whether every output has the dim, with the same range, which is set outside. */
static bool is_common(const cu_region *g, int dim, const ir_range *r) {
  bool ok = is_outside(g, r->lo) && is_outside(g, r->hi);
  for (int i = 0; i < g->n_points && ok; i++) {
    const int k = position(g, g->point[i], dim);
    ok = k >= 0 && k < op_of(g, g->point[i])->n_out_dims && same_ends(&g->point[i]->range[k], r);
  }
  return ok;
}

/* Whether all dims of a product other than rows, columns and sum have one setting, and its sums
 * start inside the region. */
static bool is_plain(const cu_region *g, const cu_work *t) {
  const tf_op *op = op_of(g, t->s);
  bool ok = cu_is_row(g, op->dims[t->roles.m]);
  for (int k = 0; k < op->n_dims; k++)
    ok &= cu_is_row(g, op->dims[k]) || k == t->roles.n || k == t->roles.k ||
          t->s->range[k].most == 1 ||
          (k >= op->n_out_dims && t->s->range[k].exact && cu_is_across(g, t));
  for (int i = 0; i < t->s->nest.n_resets; i++)
    ok &= t->s->nest.resets[i].var < 0 || g->inside[t->s->nest.resets[i].var];
  return ok;
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* Rows along one dim that all statements share. */
static bool find_rows(cu_region *g) {
  const cu_work *first = &g->work[0];
  g->dim_m = op_of(g, first->s)->dims[first->roles.m];
  g->m = first->s->range[first->roles.m];
  return is_common(g, g->dim_m, &g->m);
}

/* Whether the dim at that position runs along rows of the product: it moves its a alone, and has
 * several settings. */
static bool goes_along_rows(const cu_region *g, const cu_work *t, int k) {
  const tf_op *op = op_of(g, t->s);
  return k >= 0 && k < op->n_out_dims && k != t->roles.n && t->s->range[k].most > 1 &&
         !cu_box_moves(g->p->tree->workload, &op->reads[t->roles.b], op->dims[k]);
}

/* Rows along all dims that move the first product's a alone, in the order of its ranks. A single
 * such dim that is an index of its own is no stack. */
static bool find_stack(cu_region *g) {
  const cu_work *first = &g->work[0];
  const tf_op *op = op_of(g, first->s);
  const tf_ref *a = &op->reads[first->roles.a];
  bool ok = true, alone = true;
  int64_t rows = 1;
  for (int r = 0; r < g->p->tree->workload->tensors[a->tensor].rank && ok; r++)
    for (int i = 0; i < a->index[r].n_terms && ok; i++) {
      const int dim = a->index[r].terms[i].dim, k = lower_find_dim(op, dim);
      if (!goes_along_rows(g, first, k)) continue;
      ok = g->n_stack < IR_MOST_STACKED && !cu_is_row(g, dim) &&
           is_common(g, dim, &first->s->range[k]);
      if (!ok) break;
      alone &= cu_single_dim(&a->index[r]) == dim;
      g->dim_m = g->stack_dim[g->n_stack] = dim;
      g->stack[g->n_stack++] = first->s->range[k];
      rows *= first->s->range[k].most;
    }
  if (!ok || g->n_stack == 0 || (g->n_stack == 1 && alone)) return g->n_stack = 0, false;
  g->m = (ir_range){
      .lo = ir_number(0), .hi = ir_number(rows), .most = rows, .never_empty = true, .exact = true};
  return true;
}

/* ---- fragments ------------------------------------------------------------------------------ */

/* Finds the buffers that are not accessed outside the region. */
static void find_own(const cu_region *g) {
  for (int b = 0; b < g->p->n_buffers; b++) {
    const ir_buffer *at = &g->p->buffers[b];
    const int here = cu_touches(g->p, g->s, g->n, b);
    g->is_fragment[b] = here && at->role == IR_BOX && at->slots == 1 && at->space != CU_FRAGMENT &&
                        (at->type == IR_F32 || at->type == IR_I32) &&
                        here == cu_touches(g->p, g->p->body.s, g->p->body.n, b);
  }
}

/* The dim at rank r; -1: the index is not one dim. */
static int dim_at(const cu_region *g, const cu_access *a, int r) {
  const tf_workload *wl = g->p->tree->workload;
  if (!a->ref) return wl->ops[wl->tensors[g->p->buffers[a->buffer].tensor].producer].dims[r];
  return cu_single_dim(&a->ref->index[r]);
}

/* Whether rank r of the buffer, along which the dim runs, has the block's rows; for a stack sets
 * its place. */
static bool has_rows(const cu_region *g, const ir_buffer *b, int r, int dim, int *at) {
  if (!g->stacked)
    return dim == g->dim_m && *at < 0 && ir_same(b->base[r], g->m.lo) && (*at = r, true);
  for (int i = 0; i < g->n_stack; i++)
    if (dim == g->stack_dim[i] && at[i] < 0 && ir_same(b->base[r], g->stack[i].lo) &&
        b->extent[r] == g->stack[i].most)
      return at[i] = r, true;
  return false;
}

/* Whether the access has rows along one rank, or along all of the stack's, and columns along at
 * most one other, and begins at the buffer's start; sets the layout of the buffer, or checks that
 * it agrees. */
static bool set_layout(const cu_region *g, const ir_stmt *s, const cu_access *a) {
  ir_buffer *b = &g->p->buffers[a->buffer];
  int at[IR_MOST_STACKED] = {-1, -1, -1, -1}, columns = -1;
  for (int r = 0; r < b->rank; r++) {
    const int dim = dim_at(g, a, r);
    if (has_rows(g, b, r, dim, at)) continue;
    if (b->extent[r] > 1) {
      const int k = dim < 0 ? -1 : position(g, s, dim);
      if (columns >= 0 || k < 0 || cu_is_row(g, dim) || !ir_same(s->range[k].lo, b->base[r]))
        return false;
      columns = r;
    }
  }
  const int last = g->stacked ? g->n_stack - 1 : 0, rows = at[last];
  for (int i = 0; i <= last; i++)
    if (at[i] < 0) return false;
  if (cu_is_matrix(b) && (cu_row_rank(b) != rows || cu_column_rank(b) != columns)) return false;
  const ir_stack *stack = g->stacked ? cu_stack_of(g, at, 0, ir_number(0)) : NULL;
  cu_set_layout(g->p, b, (cu_layout){.rows = rows, .columns = columns, .stack = stack});
  return true;
}

/* Statements other than products have at most one dim besides the rows. */
static bool is_row_work(const cu_region *g, const ir_stmt *s) {
  int long_dims = 0;
  for (int k = 0; k < ir_n_ranges(g->p, s); k++)
    long_dims += !cu_is_row(g, op_of(g, s)->dims[k]) && s->range[k].most > 1;
  return long_dims <= 1;
}

/* Whether the region may write a buffer that is also accessed outside: one lane writes each
 * element, and the region does not read it. */
static bool may_write(const cu_region *g, const ir_stmt *s, int buffer) {
  bool ok = s->kind == IR_SAVE || (s->kind == IR_NEST && op_of(g, s)->reduce == TF_ASSIGN);
  for (int i = 0; i < g->n_points && ok; i++) {
    cu_access a[CU_MOST_ACCESSES];
    const int n = cu_accesses(g->p, g->point[i], a);
    for (int k = 0; k < n && ok; k++)
      ok = a[k].buffer != buffer || (a[k].writes && g->point[i] == s);
  }
  return ok;
}

static bool fits(const cu_region *g, const ir_stmt *s) {
  cu_access a[CU_MOST_ACCESSES];
  cu_matrices t;
  const bool product = roles_of(g, s, &t);
  const int n = cu_accesses(g->p, s, a);
  if (n < 0 || (!product && !is_row_work(g, s))) return false;
  for (int i = 0; i < n; i++) {
    if (g->is_fragment[a[i].buffer] ? !set_layout(g, s, &a[i])
                                    : a[i].writes && !may_write(g, s, a[i].buffer))
      return false;
    const tf_op *op = op_of(g, s);
    if (product && g->is_fragment[a[i].buffer] && a[i].ref == &op->reads[t.b])
      return false; /* it would be in other lanes */
  }
  return true;
}

/* All matrices that a statement accesses must have the same dim along which a lane holds several
 * elements. */
static bool columns_agree(const cu_region *g, const ir_stmt *s) {
  cu_access a[CU_MOST_ACCESSES];
  cu_matrices t;
  if (roles_of(g, s, &t)) {
    const tf_op *op = op_of(g, s);
    const int n = cu_accesses(g->p, s, a);
    for (int i = 0; i < n; i++) {
      const ir_buffer *b = &g->p->buffers[a[i].buffer];
      const int dim = op->dims[a[i].writes ? t.n : t.k];
      if (g->is_fragment[a[i].buffer] &&
          (cu_column_rank(b) < 0 || dim_at(g, &a[i], cu_column_rank(b)) != dim))
        return false;
    }
    return true;
  }
  int dim = -1;
  const int n = cu_accesses(g->p, s, a), out = g->p->buffer_of[op_of(g, s)->out];
  /* a row sum is a column vector */
  if (s->kind == IR_NEST && op_of(g, s)->reduce != TF_ASSIGN && g->is_fragment[out] &&
      cu_column_rank(&g->p->buffers[out]) >= 0)
    return false;
  for (int i = 0; i < n; i++) {
    const ir_buffer *b = &g->p->buffers[a[i].buffer];
    if (!g->is_fragment[a[i].buffer] || cu_column_rank(b) < 0) continue;
    const int here = dim_at(g, &a[i], cu_column_rank(b));
    if (dim >= 0 && here != dim) return false;
    dim = here;
  }
  for (int k = 0; dim >= 0 && k < ir_n_ranges(g->p, s); k++)
    if (s->range[k].most > 1 && !cu_is_row(g, op_of(g, s)->dims[k]) && op_of(g, s)->dims[k] != dim)
      return false;
  return true;
}

/* ---- distribution over warps ---------------------------------------------------------------- */

static int64_t per_warp(int64_t length, int warps) {
  return cu_sides_up((length + warps - 1) / warps);
}

/* Divides rows among warps, or rows and columns if no statement needs whole rows: minimises wasted
 * multiplications, then repeated loads. If there are fewer rows than warps, the last warps only
 * copy tiles. */
static void distribute(cu_region *g) {
  int64_t least = INT64_MAX;
  if (g->groups) {
    g->warps = cu_group_warps(g->m.most);
    g->warps_m = g->warps, g->warps_n = 1;
    g->rows = CU_FRAGMENT_SIDE, g->columns = cu_sides_up(g->n_all.most);
    return;
  }
  g->rows = per_warp(g->m.most, CU_WARPS);
  g->warps_m = (int)((g->m.most + g->rows - 1) / g->rows), g->warps_n = 1;
  for (int m = 1; g->dim_n >= 0 && m <= CU_WARPS; m *= 2) {
    const int64_t rows = per_warp(g->m.most, m), columns = per_warp(g->n_all.most, CU_WARPS / m);
    const int64_t cost = rows * columns * 1024 + rows + columns;
    if (cost >= least || (cu_is_wmma(g->p) && (rows > CU_WMMA_SIDE || columns > CU_WMMA_SIDE)))
      continue;
    least = cost;
    g->warps_m = m, g->warps_n = CU_WARPS / m;
    g->rows = rows, g->columns = columns;
  }
}

/* Whether no statement needs more than one element of a row: all have columns along one dim, and
 * sum over others. */
static bool find_columns(cu_region *g) {
  const cu_work *first = &g->work[0];
  g->dim_n = op_of(g, first->s)->dims[first->roles.n];
  g->n_all = first->s->range[first->roles.n];
  bool ok = is_common(g, g->dim_n, &g->n_all);
  for (int i = 0; i < g->n_work && ok; i++) {
    const tf_op *op = op_of(g, g->work[i].s);
    const int from = g->work[i].s->nest.from
                         ? g->work[i].s->nest.from[g->work[i].roles.a]
                         : g->p->buffer_of[op->reads[g->work[i].roles.a].tensor];
    ok = !g->is_fragment[from] && op->dims[g->work[i].roles.n] == g->dim_n;
  }
  for (int i = 0; i < g->n_points && ok; i++)
    ok = g->point[i]->kind != IR_NEST || op_of(g, g->point[i])->reduce == TF_ASSIGN ||
         roles_of(g, g->point[i], &(cu_matrices){0});
  for (int b = 0; b < g->p->n_buffers && ok; b++)
    ok = !g->is_fragment[b] || cu_column_rank(&g->p->buffers[b]) >= 0;
  if (!ok) g->dim_n = -1;
  return ok;
}

/* ---- keys distributed over warps ------------------------------------------------------------ */

const ir_range *cu_keys_of(const cu_region *g) {
  for (int i = 0; i < g->keys->body.n; i++) {
    const int k = ir_facts_of(g->keys->body.s[i])->points
                      ? position(g, g->keys->body.s[i], g->keys->loop.dim)
                      : -1;
    if (k >= 0) return &g->keys->body.s[i]->range[k];
  }
  return NULL;
}

/* Whether warps can share a step of the loop: its sums over keys are partial sums, which another
 * statement combines. */
static bool may_share_step(const cu_region *g, const ir_range *keys) {
  bool ok = true;
  for (int i = 0; i < g->keys->body.n && ok; i++) {
    const ir_stmt *s = g->keys->body.s[i];
    if (s->kind == IR_LET) continue;
    const int k = ir_facts_of(s)->points ? position(g, s, g->keys->loop.dim) : -1;
    ok = ir_facts_of(s)->points && s->kind != IR_DIVIDE &&
         (k < 0 || same_ends(&s->range[k], keys)) &&
         (s->kind != IR_NEST || k < op_of(g, s)->n_out_dims || s->nest.part);
  }
  return ok;
}

/* Whether only the SAVE and the statement that combines its slots access the buffer. */
static bool is_merged(const ir_body *b, const cu_region *g, const ir_stmt *save) {
  bool ok = true;
  for (int i = 0; i < b->n && ok; i++) {
    ir_stmt *const s = b->s[i];
    if (ir_facts_of(s)->body)
      ok = is_merged(&s->body, g, save);
    else if (s != save && s->kind != IR_MERGE)
      ok = cu_touches(g->p, &s, 1, save->save.to) == 0;
  }
  return ok;
}

/* If there are rows for one warp only: eight, four or two warps share the keys of each step, if its
 * sums may be partial; the statement that combines the parts of all blocks combines theirs, too. */
static void share_keys(cu_region *g) {
  const int64_t unit = cu_padded_sum(g->p, 1);
  const ir_stmt *loop = NULL;
  bool ok = !g->groups && !g->stacked && !cu_is_wmma(g->p) && g->warps_m * g->warps_n == 1;
  for (int i = 0; i < g->n && ok; i++) {
    const ir_stmt *s = g->s[i];
    const ir_buffer *to = s->kind == IR_SAVE ? &g->p->buffers[s->save.to] : NULL;
    if (s->kind == IR_FOR) ok = !loop, loop = s;
    if (s->kind != IR_FOR && s->kind != IR_LET)
      ok = to && to->role == IR_LASTING && to->slots > 1 && to->slot.var >= 0 &&
           g->is_fragment[s->save.from] && is_merged(&g->p->body, g, s);
  }
  if (!ok || !loop) return;
  g->keys = loop;
  const ir_range *keys = cu_keys_of(g);
  ok = keys && keys->exact && may_share_step(g, keys);
  g->sharers = CU_WARPS;
  while (ok && g->sharers > 1 && keys->most % (g->sharers * unit))
    g->sharers /= 2;
  ok = ok && g->sharers > 1;
  g->keys_each = ok ? keys->most / g->sharers : 0;
  if (!ok) g->keys = NULL;
}

/* Whether the fragments fit in the registers. */
static bool has_registers(const cu_region *g) {
  int64_t sums = 0;
  bool ok = true;
  for (int b = 0; b < g->p->n_buffers; b++) {
    const ir_buffer *at = &g->p->buffers[b];
    if (!g->is_fragment[b]) continue;
    const int64_t columns = cu_column_rank(at) < 0 ? 4
                            : g->dim_n >= 0        ? g->columns
                                                   : cu_sides_up(at->extent[cu_column_rank(at)]);
    const int64_t floats = g->rows * columns / 32;
    ok &= floats <= MOST_FLOATS;
    for (int i = 0; i < g->n_work; i++)
      if (g->p->buffer_of[op_of(g, g->work[i].s)->out] == b) sums += floats;
  }
  return ok && sums <= MOST_SUMS;
}

/* With wmma: operands are tiles, and there are only products and copies of their sums. */
static bool fits_wmma(const cu_region *g) {
  bool ok = true;
  for (int i = 0; i < g->n_work && ok; i++)
    ok = g->work[i].side[0].tile && g->work[i].side[1].tile;
  for (int i = 0; i < g->n_points && ok; i++)
    ok = g->point[i]->kind == IR_SAVE || roles_of(g, g->point[i], &(cu_matrices){0});
  return ok;
}

static void unset_layouts(const cu_region *g) {
  for (int b = 0; b < g->p->n_buffers; b++)
    if (g->is_fragment[b]) g->p->buffers[b].note = NULL;
}

static bool find(cu_region *g) {
  g->why = "it does more than a region of warps can";
  if (!collect(g, g->s, g->n, NULL) || !g->n_work) return false;
  bool ok = g->stacked ? find_stack(g) : find_rows(g);
  for (int i = 0; i < g->n_work && ok; i++)
    ok = is_plain(g, &g->work[i]);
  if (!ok) return false;
  find_own(g);
  for (int i = 0; i < g->n_points && ok; i++)
    ok = fits(g, g->point[i]);
  for (int i = 0; i < g->n_points && ok; i++)
    ok = columns_agree(g, g->point[i]);
  if (ok) find_columns(g), distribute(g), share_keys(g);
  if (ok && cu_is_wmma(g->p))
    ok = g->dim_n >= 0 && g->columns > 0; /* two by two fragments for a warp */
  if (ok && !has_registers(g)) ok = false, g->why = "its sums do not fit the registers";
  ok = ok && (g->groups ? cu_plan_rings(g) : cu_plan_tiles(g)) &&
       (!cu_is_wmma(g->p) || fits_wmma(g));
  if (!ok) unset_layouts(g);
  return ok;
}

static bool try_region(lowering *w, ir_stmt *const *s, int n, bool groups, bool stacked,
                       cu_region *g) {
  *g = (cu_region){.p = w->p,
                   .stacked = stacked,
                   .w = w,
                   .n = n,
                   .s = s,
                   .dim_n = -1,
                   .groups = groups,
                   .warps = CU_WARPS,
                   .n_buffers = w->p->n_buffers};
  g->inside = TF_ARRAY(w->p->arena, bool, (size_t)w->p->n_vars + 1);
  g->is_fragment = TF_ARRAY(w->p->arena, bool, (size_t)w->p->n_buffers + 1);
  return !lower_failed(w) && find(g);
}

/* Whether one of the products is a convolution of which an operand would be gathered element by
 * element. */
static bool gathers_pixels(const cu_region *g) {
  bool any = false;
  for (int i = 0; i < g->n_work; i++)
    any |= cu_window(g->p->tree->workload, op_of(g, g->work[i].s)) >= 0 &&
           !(g->work[i].side[0].tile && g->work[i].side[1].tile);
  return any;
}

bool cu_region_of(lowering *w, ir_stmt *const *s, int n, cu_region *g) {
  const bool plain = try_region(w, s, n, false, false, g);
  if (cu_is_wmma(w->p) || (plain && !gathers_pixels(g))) return plain;
  if (plain) unset_layouts(g);
  return try_region(w, s, n, false, true, g) || (plain && try_region(w, s, n, false, false, g));
}

bool cu_region_of_groups(lowering *w, ir_stmt *const *s, int n, cu_region *g) {
  if (try_region(w, s, n, true, false, g)) return true;
  const char *why = g->why;
  if (try_region(w, s, n, true, true, g)) return true;
  if (!g->n_stack) g->why = why;
  return false;
}
