/* A genetic algorithm over shapes (thesis 3.5.2): the K best rows breed; columns are inherited
 * whole, genes that had a say mutate.  Rows that fuse differently are kept apart for longer: a kind
 * whose trip counts are not found yet would else be lost to one whose are. */
#include <string.h>

#include "search/strategy.h"

enum {
  KEPT = 48,      /* K */
  KIND = 8,       /* of which alike in what they fuse */
  FIRST = 48,     /* rows asked for before breeding begins, beside the seeds */
  AGAIN_ONE_IN = 10, /* a kept row is asked for unchanged: its trip counts are searched further */
  NEW_ONE_IN = 8,  /* a row from nowhere */
  CROSS_ONE_IN = 3,
};

typedef struct {
  uint8_t *genes;
  uint16_t *order;
  uint64_t species, shape;
  double cost;
} row;

typedef struct {
  const tf_shapes *shapes;
  tf_rng rng;
  int seeds, asked, n_kept, n_genes;
  row kept[KEPT + 1]; /* ascending cost; the last is room for one more */
  uint8_t *from;      /* [columns] which parent */
} ga;

static void *make(tf_arena *a, const tf_shapes *s, tf_rng rng) {
  ga *g = TF_NEW(a, ga);
  if (!g) return NULL;
  g->shapes = s;
  g->rng = rng;
  g->n_genes = tf_shapes_genes(s);
  g->from = TF_ARRAY(a, uint8_t, (size_t)tf_shapes_columns(s));
  bool ok = g->from != NULL;
  for (int k = 0; ok && k <= KEPT; k++) {
    g->kept[k].genes = TF_ARRAY(a, uint8_t, (size_t)g->n_genes);
    g->kept[k].order = TF_ARRAY(a, uint16_t, (size_t)g->n_genes);
    ok = g->kept[k].genes && g->kept[k].order;
  }
  return ok ? g : NULL;
}

/* The better of three by lot; or of two of the kind of one by lot. */
static const row *parent(ga *g) {
  uint32_t n = (uint32_t)g->n_kept, best = tf_rng_below(&g->rng, n);
  bool within = tf_rng_below(&g->rng, 3) == 0;
  uint64_t species = g->kept[best].species;
  for (int k = 0; k < 2; k++) {
    uint32_t other = tf_rng_below(&g->rng, n);
    if (other < best && (!within || g->kept[other].species == species)) best = other;
  }
  return &g->kept[best];
}

static void cross(ga *g, const row *a, const row *b, uint8_t *genes) {
  for (int c = 0; c < tf_shapes_columns(g->shapes); c++)
    g->from[c] = (uint8_t)tf_rng_below(&g->rng, 2);
  for (int i = 0; i < g->n_genes; i++)
    genes[i] = g->from[tf_shapes_column(g->shapes, i)] ? a->genes[i] : b->genes[i];
}

/* A row from nowhere, or a good start with other loops. */
static void fresh_row(ga *g, uint8_t *genes) {
  int seeds = tf_shapes_seeds(g->shapes);
  if (seeds && tf_rng_below(&g->rng, 4))
    tf_shapes_seed(g->shapes, (int)tf_rng_below(&g->rng, (uint32_t)seeds), &g->rng, genes);
  else
    tf_shapes_random(g->shapes, &g->rng, genes);
}

static bool ask(void *state, uint8_t *genes, uint64_t *like) {
  ga *g = state;
  *like = 0;
  if (tf_shapes_seed(g->shapes, g->seeds, &g->rng, genes)) {
    g->seeds++;
    return true;
  }
  bool fresh = g->asked++ < FIRST || g->n_kept == 0 || !tf_rng_below(&g->rng, NEW_ONE_IN);
  if (fresh) {
    fresh_row(g, genes);
    return true;
  }
  const row *a = parent(g), *b = parent(g);
  memcpy(genes, a->genes, (size_t)g->n_genes);
  *like = a->shape;
  if (!tf_rng_below(&g->rng, AGAIN_ONE_IN)) return true;
  if (!tf_rng_below(&g->rng, CROSS_ONE_IN)) cross(g, a, b, genes);
  tf_shapes_vary(g->shapes, &g->rng, a->order, genes);
  return true;
}

/* Whether both rows agree in every gene that has a say in the first. */
static bool alike(const ga *g, const row *a, const uint8_t *genes) {
  for (int i = 0; i < g->n_genes; i++)
    if (a->order[i] && a->genes[i] != genes[i]) return false;
  return true;
}

/* The row to give up when one too many is kept: the worst of a kind that has too many, else the worst
 * of all. */
static int surplus(const ga *g) {
  for (int k = g->n_kept - 1; k >= 0; k--) {
    int better = 0;
    for (int i = 0; i < k; i++)
      better += g->kept[i].species == g->kept[k].species;
    if (better >= KIND) return k;
  }
  return g->n_kept - 1;
}

/* Takes row k out; its memory waits behind the last. */
static void take_out(ga *g, int k) {
  row r = g->kept[k];
  for (g->n_kept--; k < g->n_kept; k++)
    g->kept[k] = g->kept[k + 1];
  g->kept[k] = r;
}

static void tell(void *state, const uint8_t *genes, const tf_reads *reads, uint64_t shape, double cost) {
  ga *g = state;
  for (int k = 0; k < g->n_kept; k++)
    if (alike(g, &g->kept[k], genes)) {
      if (cost >= g->kept[k].cost) return;
      take_out(g, k);
      break;
    }
  int k = g->n_kept++;
  row r = g->kept[k];
  memcpy(r.genes, genes, (size_t)g->n_genes);
  memcpy(r.order, reads->order, (size_t)g->n_genes * sizeof *r.order);
  r.cost = cost;
  r.shape = shape;
  r.species = tf_shapes_species(g->shapes, genes, reads);
  for (; k > 0 && g->kept[k - 1].cost > cost; k--)
    g->kept[k] = g->kept[k - 1];
  g->kept[k] = r;
  if (g->n_kept > KEPT) take_out(g, surplus(g));
}

const tf_outer tf_outer_ga = {make, ask, tell};
