/* Shared by the files that build a tf_trips. */
#ifndef SEARCH_SPACE_BUILD_H
#define SEARCH_SPACE_BUILD_H
#include "model/tree/facts.h"
#include "search/space/trips.h"

typedef struct {
  tf_trips *t;
  const tf_facts *f;
  int *node;       /* [decision] its Tile */
  int *after_node; /* [node] how many decisions come before it */
  bool bad;        /* memory ran out */
} tf_space_build;

/* Memory of the space; NULL: it ran out. */
static inline void *tf_space_array(tf_space_build *b, size_t n, size_t size) {
  void *p = tf_arena_array(b->t->arena, n ? n : 1, size);
  b->bad |= !p;
  return p;
}

/* a / b, b > 0, rounded up. */
static inline int32_t tf_space_parts(int32_t a, int32_t b) {
  return b <= 1 ? a : b >= a ? 1 : (int32_t)((uint32_t)(a + b - 1) / (uint32_t)b);
}

static inline int tf_slot_of(const tf_facts *f, int o, int dim) {
  int i = tf_dim_slot(f, o, dim);
  return i < 0 ? -1 : f->dim_from[o] + i;
}

/* The instances of memory or units that the spatial loops of Tile n can fill along an axis. */
int32_t tf_space_mesh(const tf_facts *f, int n, tf_axis axis);

/* The unit that runs op o: the first in the file that can, and that is at or below every Tile above
 * the op; -1: none. */
int tf_space_unit(const tf_facts *f, int o);
/* Instances that the counts above decision d on its mesh take together; unknown counts as one. */
static inline int64_t tf_space_used(const tf_decision *d, const int32_t *row) {
  int64_t used = 1;
  for (int k = 0; k < d->n_same_mesh; k++)
    used *= row[d->same_mesh[k]] > 0 ? row[d->same_mesh[k]] : 1;
  return used;
}
/* mesh_share.c: the instances along the axis of decision d that its branch should take, if other
 * branches run at once on the same mesh. */
int32_t tf_space_share(const tf_facts *f, const tf_decision *d);
/* mesh_share.c: reduces counts that exceed a mesh, where branches run at once. */
void tf_trips_make_room(const tf_trips *t, int32_t *row);

/* Fills the `infer` of decision i with the lengths that are inferred on entering scope s. */
void tf_space_infer(tf_space_build *b, int s, int i);
extern const tf_space_kind tf_trips_kind;
/* Implements `guess` of tf_space_kind; moves.c has the others. */
int32_t tf_trips_guess(const tf_space *s, int i, const int32_t *domain, int n, uint32_t lot);
void tf_trips_complete(const tf_space *s, int32_t *row);
void tf_trips_vary(tf_space *s, tf_rng *rng, const uint32_t *order, int32_t *row);
/* Prepares what cover.c needs; call it once all decisions are there. */
void tf_space_cover(tf_space_build *b);
/* Evaluates the rule of cover for a partial choice, with loops at their start: decisions before
 * `from` as chosen, then written counts, open ones as 1; of known lengths, what is left to split is
 * their rest.  Fills `steps` and `bound`.  False where a product exceeds 2^62. */
bool tf_trips_probe(tf_trips *t, int from);
/* Infers, by the rule of cover, the lengths that decision i needs. */
void tf_trips_measure(tf_trips *t, int i);
/* Gives decision i its count, and notes whether only the rule of cover can decide if the remaining
 * loops cover every range. */
void tf_trips_choose(tf_trips *t, int i, int32_t trip);
/* Whether they can, decision i being the last one taken. */
bool tf_trips_covers(tf_trips *t, int i);
/* Implements `instead` of tf_space_kind: the next count that divides, or the last one before it;
 * else any that covers. */
int32_t tf_trips_instead(tf_space *s, int i, const int32_t *domain, int n, int32_t choice);
/* Keeps those of the n choices of decision i after which the loops can still cover every range;
 * returns how many. */
int tf_trips_covering(tf_trips *t, int i, int32_t *domain, int n);
/* Fills `fits` of every decision: the capacity checks that its choice may violate. */
void tf_space_checks(tf_space_build *b);
#endif
