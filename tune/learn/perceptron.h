/* A small fully connected network with ReLU and one output, trained by AdaDelta (Zeiler, 2012): it
 * predicts what a step brings (thesis 4.4.1).  Deterministic. */
#ifndef TUNE_LEARN_PERCEPTRON_H
#define TUNE_LEARN_PERCEPTRON_H
#include "base/arena.h"
#include "base/rng.h"

enum { PERCEPTRON_LAYERS = 4, PERCEPTRON_WIDTH = 64 };

typedef struct {
  int size[PERCEPTRON_LAYERS + 1]; /* number of values of each layer, input first */
  double *weight[PERCEPTRON_LAYERS], *bias[PERCEPTRON_LAYERS]; /* [out][in] */
  double *grad2[PERCEPTRON_LAYERS],
      *step2[PERCEPTRON_LAYERS]; /* running means of squares, weights then biases */
  double *value[PERCEPTRON_LAYERS + 1], *delta[PERCEPTRON_LAYERS + 1];
} perceptron;

/* The output is 0 until it has been taught.  NULL: out of memory. */
perceptron *perceptron_new(tf_arena *a, int n_in, tf_rng *rng);
double perceptron_ask(perceptron *n, const double *in);
/* One training step towards `target` at this input; returns the loss before it, (output -
 * target)^2. */
double perceptron_teach(perceptron *n, const double *in, double target);
#endif
