/* Everything, in order. */
#include <string.h>

#include "search/run/strategy.h"

/* ---- shapes: depth first through the genes in the order in which they are read ---------------- */
typedef struct {
  const tf_shapes *shapes;
  uint8_t *genes;
  tf_reads reads;
  bool begun, ended;
} outer;

static void *make_outer(tf_arena *a, const tf_shapes *s, tf_rng rng) {
  (void)rng;
  outer *o = TF_NEW(a, outer);
  if (!o) return NULL;
  size_t n = (size_t)tf_shapes_genes(s);
  o->shapes = s;
  o->genes = TF_ARRAY(a, uint8_t, n);
  o->reads.order = TF_ARRAY(a, uint16_t, n);
  return o->genes && o->reads.order ? o : NULL;
}

/* Raises the gene read last that can be raised; those read after it start at 0. */
static bool next(outer *o) {
  int n = tf_shapes_genes(o->shapes), last = -1;
  for (int i = 0; i < n; i++)
    if (o->reads.order[i] && o->genes[i] + 1 < tf_shapes_size(o->shapes, i) &&
        (last < 0 || o->reads.order[i] > o->reads.order[last]))
      last = i;
  if (last < 0) return false;
  o->genes[last]++;
  for (int i = 0; i < n; i++)
    if (!o->reads.order[i] || o->reads.order[i] > o->reads.order[last]) o->genes[i] = 0;
  return true;
}

static bool ask_outer(void *state, uint8_t *genes, uint64_t *like) {
  *like = 0;
  outer *o = state;
  o->ended = o->ended || (o->begun && !next(o));
  if (o->ended) return false;
  o->begun = true;
  tf_tree_free(tf_shapes_tree(o->shapes, o->genes, &o->reads)); /* for what it reads */
  memcpy(genes, o->genes, (size_t)tf_shapes_genes(o->shapes));
  return true;
}

static void tell_outer(void *state, const uint8_t *genes, const tf_reads *reads, uint64_t shape, double cost) {
  (void)state, (void)genes, (void)reads, (void)shape, (void)cost;
}

const tf_outer tf_outer_exhaustive = {make_outer, ask_outer, tell_outer};

/* ---- trip counts: depth first ------------------------------------------------------------------ */
typedef struct {
  tf_trips *t;
  int *at, *count; /* [decision] which of how many */
  bool begun;
} inner;

static void *make_inner(tf_arena *a, tf_trips *t, const int32_t *hint, int n_evals, tf_rng rng) {
  (void)hint, (void)n_evals, (void)rng;
  inner *s = TF_NEW(a, inner);
  if (!s) return NULL;
  s->t = t;
  s->at = TF_ARRAY(a, int, (size_t)t->n + 1);
  s->count = TF_ARRAY(a, int, (size_t)t->n + 1);
  return s->at && s->count ? s : NULL;
}

/* Steps the last of the first i decisions that has choices left, forgets those behind it; -1: none. */
static int step(inner *s, int i) {
  while (--i >= 0)
    if (++s->at[i] < s->count[i]) return i;
  return -1;
}

static bool ask_inner(void *state) {
  inner *s = state;
  int32_t domain[TF_DOMAIN_MAX];
  int fixed = 0; /* decisions whose choice stands */
  if (s->begun) {
    if (s->t->n == 0 || (fixed = step(s, s->t->n) + 1) == 0) return false;
  }
  s->begun = true;
  for (;;) {
    int i = 0;
    tf_trips_begin(s->t);
    for (; i < s->t->n; i++) {
      s->count[i] = tf_trips_domain(s->t, i, domain);
      if (i >= fixed) s->at[i] = 0;
      if (s->count[i] == 0) break;
      tf_trips_take(s->t, i, domain[s->at[i]]);
    }
    if (i == s->t->n) return true;
    if ((fixed = step(s, i) + 1) == 0) return false;
  }
}

static void tell_inner(void *state, double cost) { (void)state, (void)cost; }

const tf_inner tf_inner_exhaustive = {make_inner, ask_inner, tell_inner};
