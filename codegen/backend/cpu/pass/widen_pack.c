/* Products with lanes along channels, seen with their surrounding loops: boxes (with borders) that
 * steps use again are packed once, widened to cover all these steps; panels from outer memories are
 * prefetched one nest ahead. */
#include "codegen/backend/cpu/pass/loops.h"

/* A wider box must save so many words for each that it holds, as it lies farther from the core and
 * is less dense (arch-specs/cores/fitted.csv). */
enum { SPARES = 2 };

/* Panels that take more than 1 / SHARE of the close memory do not stay there for a whole run
 * (arch-specs/cores/fitted.csv). */
enum { SHARE = 4 };

/* How often a core fills a box that depends on those loops: once for each step of all loops down to
 * the innermost of them. */
static double fills(const lower_loops_around *w, uint64_t mask) {
  double n = 1;
  int last = w->depth;
  while (last > 0 && !(mask >> (last - 1) & 1))
    last--;
  for (int i = 0; i < last; i++)
    n *= ir_is_parallel(w->loop[i]) ? 1 : (double)w->loop[i]->loop.trip;
  return n;
}

/* The range of the index over all settings. */
static ir_range all_of(const tf_workload *wl, const tf_index *ix) {
  ir_range v = {.lo = ir_number(ix->c), .most = 1, .never_empty = true, .exact = true};
  for (int t = 0; t < ix->n_terms; t++) {
    const int64_t along = ix->terms[t].coef * (wl->dims[ix->terms[t].dim].extent - 1);
    if (along < 0) v.lo.off += along;
    v.most += along < 0 ? -along : along;
  }
  v.hi = ir_number(v.lo.off + v.most);
  return v;
}

/* The loops inside one that uses the same box again. */
static uint64_t reusing_loops(const lower_loops_around *w, uint64_t mask) {
  for (int i = 0; i < w->depth; i++)
    if (!(mask >> i & 1) && !ir_is_parallel(w->loop[i]) && w->loop[i]->loop.trip > 1)
      return ~UINT64_C(0) << i;
  return 0;
}

static double words_of(const ir_range *r, int rank) {
  double words = 1;
  for (int i = 0; i < rank; i++)
    words *= (double)r[i].most;
  return words;
}

static uint64_t box_moves(const lower_loops_around *w, const ir_range *r, int rank) {
  uint64_t mask = 0;
  for (int i = 0; i < rank; i++)
    mask |= lower_range_depends_on(w->moves, &r[i]);
  return mask;
}

/* Widens to their whole length the ranks that such loops change, if that saves copies. */
static void widen(lower_loops_around *w, ir_stmt *s) {
  const cpu_product *p = cpu_of(s)->product;
  const tf_workload *wl = w->w->plan->wl;
  const tf_ref *a = &wl->ops[s->op].reads[p->a];
  const int rank = wl->tensors[a->tensor].rank;
  const uint64_t mask = box_moves(w, p->slab, rank), again = reusing_loops(w, mask);
  ir_range *wide = TF_ARRAY(w->w->p->arena, ir_range, (size_t)rank);
  cpu_product *product = TF_NEW(w->w->p->arena, cpu_product);
  if (lower_failed(w->w) || !(mask & again)) return;
  for (int r = 0; r < rank; r++)
    wide[r] = lower_range_depends_on(w->moves, &p->slab[r]) & again ? all_of(wl, &a->index[r])
                                                                    : p->slab[r];
  const double words = words_of(wide, rank);
  if (words > INT32_MAX || SPARES * fills(w, box_moves(w, wide, rank)) * words >
                               fills(w, mask) * words_of(p->slab, rank))
    return;
  *product = *p;
  product->slab = wide;
  w->w->p->buffers[p->pack].words = lower_slab_words(p, wide, rank);
  cpu_note *note = cpu_edit(w->w->p, s);
  if (note) note->product = product;
}

/* Which panels the next nest needs, by how the innermost loop moves them. */
static cpu_next next_of(const lower_loops_around *w, const ir_stmt *s) {
  int i = w->depth - 1;
  while (i >= 0 && w->loop[i]->loop.trip == 1)
    i--;
  if (i < 0 || ir_is_parallel(w->loop[i])) return CPU_NEXT_SAME;
  if (lower_depends_on(w->moves, s->range[cpu_of(s)->product->n].lo) >> i & 1)
    return CPU_NEXT_LANES;
  return lower_depends_on(w->moves, s->range[w->w->plan->wl->ops[s->op].n_out_dims].lo) >> i & 1
             ? CPU_NEXT_SUMS
             : CPU_NEXT_SAME;
}

bool lower_panels_leave_cache(const tf_arch *a, int64_t words) {
  return words > lower_close_words(a) / SHARE;
}

static void prefetch(lower_loops_around *w, ir_stmt *s) {
  const int64_t words = w->w->p->buffers[cpu_of(s)->product->channels.panels].words;
  cpu_product *p = lower_panels_leave_cache(w->w->plan->arch, words)
                       ? TF_NEW(w->w->p->arena, cpu_product)
                       : NULL;
  if (!p) return;
  *p = *cpu_of(s)->product;
  p->channels.next = next_of(w, s);
  cpu_note *note = cpu_edit(w->w->p, s);
  if (note) note->product = p;
}

static void widen_product(lower_loops_around *w, ir_stmt *s) {
  const cpu_product *p = cpu_of(s)->product;
  if (p->kind != CPU_CHANNELS) return;
  if (p->slab && p->keep_slab) widen(w, s);
  if (!w->w->p->machine.choices.at[TF_CHOICE_PREFETCH]) prefetch(w, s);
}

void lower_widen_slabs(lowering *w) {
  lower_walk_loops(&(lower_loops_around){.w = w, .product = widen_product, .together = true});
}
