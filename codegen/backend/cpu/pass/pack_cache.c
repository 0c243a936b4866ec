/* Keeps packed panels that surrounding loops use again, box after box, as every block of queries
 * uses all keys: the pack gets a slot for each box, which is then packed once. */
#include <string.h>

#include "codegen/backend/cpu/pass/loops.h"

enum { LINE = 64 };

typedef struct {
  int instances;
  int64_t most; /* bytes per core for these slots */
} cores;

/* Whether one core runs several steps of loop i. */
static bool runs_in_turn(const lower_loops_around *w, int i) {
  return w->loop[i]->loop.trip >
         (ir_is_parallel(w->loop[i]) ? ((const cores *)w->data)->instances : 1);
}

static bool moves_b(const lower_loops_around *w, const ir_stmt *s, int k) {
  const tf_workload *wl = w->w->plan->wl;
  const tf_ref *b = &wl->ops[s->op].reads[cpu_of(s)->product->b];
  return lower_reads_dim(b, wl->tensors[b->tensor].rank, wl->ops[s->op].dims[k]);
}

/* Counts the boxes along each dim in those loops; returns their product, 0: too many. */
static int64_t count(const lower_loops_around *w, const ir_stmt *s, uint64_t loops,
                     int64_t *places) {
  const tf_workload *wl = w->w->plan->wl;
  const tf_op *op = &wl->ops[s->op];
  int64_t all = 1;
  for (int k = 0; k < op->n_dims; k++) {
    const int64_t step = cpu_is_matrix(cpu_of(s)->product, k) ? s->range[k].most : 1;
    const bool many = moves_b(w, s, k) && (lower_range_depends_on(w->moves, &s->range[k]) & loops ||
                                           s->range[k].most > step);
    places[k] = many ? (wl->dims[op->dims[k]].extent + step - 1) / step : 1;
    if (__builtin_mul_overflow(all, places[k], &all)) return 0;
  }
  return all;
}

/* Gives each box a slot throughout the outermost loop that reuses them, if there is room. */
static void give_slots(lower_loops_around *w, ir_stmt *s) {
  const tf_op *op = &w->w->plan->wl->ops[s->op];
  ir_buffer *pack = &w->w->p->buffers[cpu_of(s)->product->pack];
  uint64_t mask = 0;
  cpu_product *p = TF_NEW(w->w->p->arena, cpu_product);
  int64_t *places = TF_ARRAY(w->w->p->arena, int64_t, (size_t)op->n_dims + 1), all, bytes;
  for (int k = 0; k < op->n_dims; k++)
    if (moves_b(w, s, k)) mask |= lower_range_depends_on(w->moves, &s->range[k]);
  for (int i = 0; i < w->depth && !lower_failed(w->w); i++) {
    if (mask >> i & 1 || !runs_in_turn(w, i) || !(mask >> i)) continue;
    const int64_t words = (pack->words + LINE - 1) / LINE * LINE;
    all = count(w, s, ~UINT64_C(0) << i, places);
    if (all <= 1 || __builtin_mul_overflow(all, words * ir_bytes(pack->type), &bytes) ||
        bytes > ((const cores *)w->data)->most)
      continue;
    *p = *cpu_of(s)->product;
    p->pairs.slots_along = places;
    pack->words = words;
    pack->slots = all;
    cpu_note *note = cpu_edit(w->w->p, s);
    if (note) note->product = p;
    return;
  }
}

static void cache_product(lower_loops_around *w, ir_stmt *s) {
  const cpu_product *p = cpu_of(s)->product;
  if (p->kind == CPU_PAIRS && p->pack >= 0 && !p->slab && p->pairs.keep_pack) give_slots(w, s);
}

/* Half of the innermost memory that all cores share, divided among them. */
static int64_t slot_bytes(const tf_arch *a, int instances) {
  double most = 0;
  int64_t sharing = instances;
  for (int l = 1; l < a->n_memories; l++) {
    sharing /= a->memories[l].mesh[0] * a->memories[l].mesh[1];
    const double bytes =
        (double)a->memories[l].capacity_words * a->memories[l].word_bits / 8 / (double)sharing;
    if (bytes > most) most = bytes;
  }
  return (int64_t)(most / 2);
}

void lower_cache_panels(lowering *w) {
  const tf_arch *a = w->plan->arch;
  cores all = {.instances = 1};
  for (int l = 1; l < a->n_memories; l++)
    all.instances *= (int)(a->memories[l].mesh[0] * a->memories[l].mesh[1]);
  all.most = slot_bytes(a, all.instances);
  lower_walk_loops(&(lower_loops_around){.w = w, .product = cache_product, .data = &all});
}
