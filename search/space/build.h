/* What the makers of a tf_trips share. */
#ifndef SEARCH_SPACE_BUILD_H
#define SEARCH_SPACE_BUILD_H
#include "model/tree/facts.h"
#include "search/space/trips.h"

typedef struct {
  tf_trips *t;
  const tf_facts *f;
  int *node;       /* [decision] its Tile */
  int *after_node; /* [node] decisions before it */
  bool bad;        /* memory ran out */
} tf_space_build;

static inline int tf_slot_of(const tf_facts *f, int o, int dim) {
  int i = tf_dim_slot(f, o, dim);
  return i < 0 ? -1 : f->dim_from[o] + i;
}

/* The memory instances or units over which the spatial loops of Tile n spread, along an axis. */
int32_t tf_space_mesh(const tf_facts *f, int n, tf_axis axis);

/* Fills infer of decision i with what follows on entering scope s. */
void tf_space_infer(tf_space_build *b, int s, int i);
extern const tf_space_kind tf_trips_kind;
/* Its members that moves.c has. */
int32_t tf_trips_guess(const tf_space *s, int i, const int32_t *domain, int n, uint32_t lot);
void tf_trips_complete(const tf_space *s, int32_t *row);
void tf_trips_vary(tf_space *s, tf_rng *rng, const uint32_t *order, int32_t *row);
/* Fills what cover.c asks the rule of cover with; needs the decisions. */
void tf_space_cover(tf_space_build *b);
/* The lengths that are inferred before decision i, by the rule. */
void tf_trips_measure(tf_trips *t, int i);
/* Keeps of the n choices of decision i those after which every range can still be reached; returns how many. */
int tf_trips_covering(tf_trips *t, int i, int32_t *domain, int n);
/* Fills `fits` of every decision: the capacities that its choice may break. */
void tf_space_checks(tf_space_build *b);
#endif
