/* Counts, while the interpreter runs, the words that products pack, with the same reuse as in
 * emitted kernels. */
#include <stdlib.h>
#include <string.h>

#include "codegen/backend/cpu/note/note.h"
#include "tileflow/tree.h"

/* What a slot of a cached pack holds: the start of its box, and its lengths along n and k. */
enum { MAX_RANK = 16 };
typedef struct {
  bool valid;
  int64_t begin[MAX_RANK], n_n, n_k;
  int64_t end[MAX_RANK]; /* of slabs: the ends of the box */
} kept_box;

typedef struct {
  const ir_program *p;
  const int64_t *var; /* current values of the variables */
  ir_count *count;    /* [buffer] */
  kept_box *kept;     /* [slots of all buffers, buffer by buffer] */
} moment;

typedef struct {
  const moment *moment;
  const ir_stmt *nest;
  const tf_op *op;
  const cpu_product *product;
  int64_t point[256]; /* [dim] */
} counter;

static int64_t number(const moment *at, ir_atom a) {
  return a.var < 0 ? a.off : at->var[a.var] + a.off;
}
static int64_t low(const counter *c, int k) { return number(c->moment, c->nest->range[k].lo); }
static int64_t length(const counter *c, int k) {
  int64_t n = number(c->moment, c->nest->range[k].hi) - low(c, k);
  return n > 0 ? n : 0;
}

static const tf_tensor *tensor_of(const counter *c, int read) {
  return &c->moment->p->tree->workload->tensors[c->op->reads[read].tensor];
}

/* The element that a read accesses at the point. */
static void element_at(const counter *c, int read, int64_t *at) {
  const tf_ref *ref = &c->op->reads[read];
  for (int r = 0; r < tensor_of(c, read)->rank; r++) {
    at[r] = ref->index[r].c;
    for (int t = 0; t < ref->index[r].n_terms; t++)
      at[r] += ref->index[r].terms[t].coef * c->point[ref->index[r].terms[t].dim];
  }
}

static bool inside(const tf_tensor *z, const int64_t *at) {
  for (int r = 0; r < z->rank; r++)
    if (at[r] < z->lo[r] || at[r] >= z->lo[r] + z->extent[r]) return false;
  return true;
}

/* The number of the slot of `pack` for b's current box. */
static int64_t slot_of(const counter *c) {
  const cpu_product *p = c->product;
  int64_t place = 0;
  for (int k = 0; p->pairs.slots_along && k < c->op->n_dims; k++)
    if (p->pairs.slots_along[k] > 1)
      place = place * p->pairs.slots_along[k] +
              c->point[c->op->dims[k]] / (cpu_is_matrix(p, k) ? c->nest->range[k].most : 1);
  return place;
}

/* Whether the slot still holds this box; afterwards it does. */
static bool still_holds(const counter *c, int buffer, int64_t place, int read, int64_t n_n,
                        int64_t n_k) {
  kept_box now = {.valid = true, .n_n = n_n, .n_k = n_k}, *kept = &c->moment->kept[buffer];
  for (int i = 0; i < buffer; i++)
    kept += c->moment->p->buffers[i].slots - 1;
  kept += place;
  element_at(c, read, now.begin);
  bool same = kept->valid && kept->n_n == n_n && kept->n_k == n_k &&
              !memcmp(kept->begin, now.begin, sizeof now.begin);
  *kept = now;
  return same;
}

/* Counts one panel, a row of n for each k, at the current setting of the outer dims. */
static void panel(counter *c) {
  const cpu_product *p = c->product;
  int64_t n_n = length(c, p->n), n_k = length(c, p->k), at[MAX_RANK];
  const int n = c->op->dims[p->n], k = c->op->dims[p->k];
  c->point[n] = low(c, p->n);
  c->point[k] = low(c, p->k);
  if (p->pairs.keep_pack && still_holds(c, p->pack, slot_of(c), p->b, n_n, n_k)) return;
  for (int64_t i = 0; i < n_k; i++)
    for (int64_t j = 0; j < n_n; j++) {
      c->point[k] = low(c, p->k) + i;
      c->point[n] = low(c, p->n) + j;
      element_at(c, p->b, at);
      c->moment->count[p->pack].copied += inside(tensor_of(c, p->b), at);
    }
}

/* Counts the panels of all settings of the outer dims from the i-th on. */
static void panels(counter *c, int i) {
  const cpu_product *p = c->product;
  while (i < c->op->n_dims && (i == p->m || i == p->n || i == p->k))
    i++;
  if (i == c->op->n_dims) {
    panel(c);
    return;
  }
  for (int64_t k = 0; k < length(c, i); k++) {
    c->point[c->op->dims[i]] = low(c, i) + k;
    panels(c, i + 1);
  }
}

/* Whether the slab still holds the nest's box; afterwards it does. */
static bool holds_box(const counter *c, int rank) {
  kept_box now = {.valid = true}, *kept = &c->moment->kept[c->product->pack];
  for (int r = 0; r < rank; r++) {
    now.begin[r] = number(c->moment, c->product->slab[r].lo);
    now.end[r] = number(c->moment, c->product->slab[r].hi);
  }
  bool same = kept->valid && !memcmp(kept->begin, now.begin, sizeof now.begin) &&
              !memcmp(kept->end, now.end, sizeof now.end);
  *kept = now;
  return same;
}

static void slab(counter *c) {
  const cpu_product *p = c->product;
  const tf_tensor *z = tensor_of(c, cpu_slab_of(p));
  int64_t words = 1;
  if (p->keep_slab && holds_box(c, z->rank)) return;
  for (int r = 0; r < z->rank; r++) {
    int64_t lo = number(c->moment, p->slab[r].lo), hi = number(c->moment, p->slab[r].hi);
    lo = lo > z->lo[r] ? lo : z->lo[r];
    hi = hi < z->lo[r] + z->extent[r] ? hi : z->lo[r] + z->extent[r];
    words *= hi > lo ? (hi - lo + p->slab_by[r] - 1) / p->slab_by[r] : 0;
  }
  c->moment->count[p->pack].copied += words;
}

static bool moves(const counter *c, int read, int dim) {
  const tf_ref *ref = &c->op->reads[read];
  for (int r = 0; r < tensor_of(c, read)->rank; r++)
    for (int t = 0; t < ref->index[r].n_terms; t++)
      if (ref->index[r].terms[t].dim == dim) return true;
  return false;
}

static void transposed(counter *c) {
  const cpu_product *p = c->product;
  int64_t words = 1;
  for (int i = 0; i < c->op->n_dims; i++) {
    c->point[c->op->dims[i]] = low(c, i);
    if (moves(c, p->a, c->op->dims[i])) words *= length(c, i);
  }
  if (!still_holds(c, p->pairs.transposed, 0, p->a, 0, 0))
    c->moment->count[p->pairs.transposed].copied += words;
}

void *cpu_count_packs(const ir_program *p, ir_count *count) {
  const tf_workload *wl = p->tree->workload;
  size_t slots = 0;
  for (int i = 0; i < p->n_notes; i++) {
    const cpu_product *of = cpu_pack_at(p, i)->product;
    if (!cpu_packs_before_body(of)) continue;
    const tf_tensor *z =
        &wl->tensors[wl->ops[cpu_pack_at(p, i)->op].reads[cpu_packed_read(of)].tensor];
    count[cpu_panels_of(of)].copied +=
        of->kind == CPU_SPARSE ? of->sparse.values : tf_tensor_words(z);
  }
  for (int i = 0; i < p->n_buffers; i++)
    slots += (size_t)p->buffers[i].slots;
  return calloc(slots + 1, sizeof(kept_box));
}

void cpu_count_copies(void *run, const ir_program *p, const int64_t *var, ir_count *count,
                      const ir_stmt *nest) {
  const moment at = {p, var, count, run};
  counter c = {.moment = &at,
               .nest = nest,
               .op = &p->tree->workload->ops[nest->op],
               .product = cpu_of(nest)->product};
  if (!c.product) return;
  const bool pairs = c.product->kind == CPU_PAIRS;
  if (pairs && c.product->pairs.transposed >= 0) transposed(&c);
  if (c.product->slab)
    slab(&c);
  else if (pairs && c.product->pack >= 0 && length(&c, c.product->k) > 0)
    panels(&c, 0);
}
