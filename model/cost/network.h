/* Words that pass the links of networks (docs/SEMANTICS.md section 5). */
#ifndef MODEL_COST_NETWORK_H
#define MODEL_COST_NETWORK_H
#include "base/checked.h"
#include "tileflow/spec.h"

enum {
  TF_NET_LOOPS = 64,
  TF_NET_LEVELS = 16,      /* most memories of an architecture */
  TF_NET_COLUMNS = 1 << 16 /* most columns of a network whose stages have places of their own */
};

/* The instances that spatial loops fill along one side of a network, outer loop first.  shared: all
 * steps of the loop need the same word. */
typedef struct {
  tf_topology topology;
  int64_t side; /* instances of the network along it */
  int n;
  int64_t trip[TF_NET_LOOPS];
  bool shared[TF_NET_LOOPS];
  bool placed;                 /* it is one of several stages; then: */
  int64_t start;               /* its first instance */
  int64_t block[TF_NET_LOOPS]; /* instances between two steps of the loop; 0: as many as the loops
                                  inside of it have steps */
} tf_net_line;

/* Links that a word takes; cross: of the two links that may be the busiest, the share of the words
 * on each. */
typedef struct {
  double hops, cross[2];
} tf_net_way;

/* Averages over the instances of a line: alone: of a copy with a route of its own; all: of a word
 * that goes once to all that share it; first: of one that goes to the first of these.  distinct,
 * shared: steps of the loops of each kind. */
typedef struct {
  tf_net_way alone, all, first;
  double distinct, shared;
} tf_net_side;
/* The number of settings of the loops that share, or of the others; and the place of the i-th. */
static inline int64_t tf_net_settings(const tf_net_line *l, bool shared) {
  int64_t n = 1;
  for (int j = 0; j < l->n; j++)
    if (l->shared[j] == shared) n = tf_sat_mul(n, l->trip[j]);
  return n;
}

/* Without the start. */
static inline int64_t tf_net_place(const tf_net_line *l, bool shared, int64_t i) {
  int64_t at = 0, stride = 1;
  for (int j = l->n - 1; j >= 0; j--) {
    if (l->placed && l->block[j]) stride = l->block[j];
    if (l->shared[j] == shared) {
      at += i % l->trip[j] * stride;
      i /= l->trip[j];
    }
    stride = tf_sat_mul(stride, l->trip[j]);
  }
  return at;
}

tf_net_side tf_net_along(const tf_net_line *l);
/* The most hops to any of its instances in use. */
int64_t tf_net_farthest(const tf_net_line *l);

/* The same for a network of two sides, routed along X first; cross: links along X, then along a
 * column. */
typedef struct {
  double hops, cross[4];
} tf_net_route;
typedef struct {
  tf_net_route alone, all, first;
  double shared;
  bool one_way; /* both directions take the same links */
} tf_net_routes;
tf_net_routes tf_net_across(const tf_net_line side[2]);

struct tf_model;
/* Room for tf_networks where stages have places of their own; false when memory runs out. */
bool tf_networks_prepare(struct tf_model *m);
/* Fills hops and link_cycles of all levels; 0 in partial mappings, and where a network has no
 * topology. */
void tf_networks(struct tf_model *m);
/* Time that hops add to a transfer of the m-tile n. */
double tf_network_wait(const struct tf_model *m, int n);
#endif
