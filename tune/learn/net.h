/* A small fully connected network with ReLU and one output, trained by AdaDelta (Zeiler, 2012): it predicts what a step
 * brings (thesis 4.4.1).  Deterministic. */
#ifndef TUNE_LEARN_NET_H
#define TUNE_LEARN_NET_H
#include "base/arena.h"
#include "base/rng.h"

enum { NET_LAYERS = 4, NET_WIDTH = 64 };

typedef struct {
  int size[NET_LAYERS + 1];                      /* number of values of each layer, input first */
  double *weight[NET_LAYERS], *bias[NET_LAYERS]; /* [out][in] */
  double *grad2[NET_LAYERS], *step2[NET_LAYERS]; /* running means of squares, weights then biases */
  double *value[NET_LAYERS + 1], *delta[NET_LAYERS + 1];
} net;

/* The output is 0 until it has been taught.  NULL: out of memory. */
net *net_new(tf_arena *a, int n_in, tf_rng *rng);
double net_ask(net *n, const double *in);
/* One training step towards `target` at this input; returns the loss before it, (output - target)^2. */
double net_teach(net *n, const double *in, double target);
#endif
