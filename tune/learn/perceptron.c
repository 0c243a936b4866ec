#include "tune/learn/perceptron.h"

#include <math.h>
#include <string.h>

static const double decay = 0.95, smallest = 1e-6; /* the constants of AdaDelta (Zeiler) */

static size_t cells(const perceptron *n, int l) {
  return (size_t)n->size[l] * (size_t)n->size[l + 1];
}

static bool give_room(perceptron *n, int l, tf_arena *a) {
  const size_t out = (size_t)n->size[l + 1], all = cells(n, l) + out;
  n->weight[l] = TF_ARRAY(a, double, cells(n, l));
  n->bias[l] = TF_ARRAY(a, double, out);
  n->grad2[l] = TF_ARRAY(a, double, all);
  n->step2[l] = TF_ARRAY(a, double, all);
  return n->weight[l] && n->bias[l] && n->grad2[l] && n->step2[l];
}

perceptron *perceptron_new(tf_arena *a, int n_in, tf_rng *rng) {
  perceptron *n = TF_NEW(a, perceptron);
  bool ok = n != NULL;
  if (ok) *n = (perceptron){0};
  for (int l = 0; ok && l <= PERCEPTRON_LAYERS; l++) {
    n->size[l] = l == 0 ? n_in : l == PERCEPTRON_LAYERS ? 1 : PERCEPTRON_WIDTH;
    n->value[l] = TF_ARRAY(a, double, (size_t)n->size[l]);
    n->delta[l] = TF_ARRAY(a, double, (size_t)n->size[l]);
    ok = n->value[l] && n->delta[l];
  }
  for (int l = 0; ok && l < PERCEPTRON_LAYERS; l++) {
    ok = give_room(n, l, a);
    const double scale =
        sqrt(6.0 / n->size[l]); /* He initialisation: values keep their size from layer to layer */
    for (size_t k = 0; ok && l + 1 < PERCEPTRON_LAYERS && k < cells(n, l);
         k++) /* the output begins at 0 */
      n->weight[l][k] = (2 * tf_rng_unit(rng) - 1) * scale;
  }
  return ok ? n : NULL;
}

double perceptron_ask(perceptron *n, const double *in) {
  memcpy(n->value[0], in, (size_t)n->size[0] * sizeof *in);
  for (int l = 0; l < PERCEPTRON_LAYERS; l++)
    for (int o = 0; o < n->size[l + 1]; o++) {
      const double *w = &n->weight[l][(size_t)o * (size_t)n->size[l]];
      double sum = n->bias[l][o];
      for (int i = 0; i < n->size[l]; i++)
        sum += w[i] * n->value[l][i];
      n->value[l + 1][o] = l + 1 < PERCEPTRON_LAYERS && sum < 0 ? 0 : sum;
    }
  return *n->value[PERCEPTRON_LAYERS];
}

static void adapt(double *at, double slope, double *grad2, double *step2) {
  *grad2 = decay * *grad2 + (1 - decay) * slope * slope;
  const double step = -sqrt(*step2 + smallest) / sqrt(*grad2 + smallest) * slope;
  *step2 = decay * *step2 + (1 - decay) * step * step;
  *at += step;
}

/* Backpropagation through layer l, then the update of its weights and biases. */
static void back(perceptron *n, int l) {
  const int in = n->size[l], out = n->size[l + 1];
  memset(n->delta[l], 0, (size_t)in * sizeof *n->delta[l]);
  for (int o = 0; o < out; o++) {
    const double d = n->delta[l + 1][o];
    if (d == 0) continue;
    for (int i = 0; i < in; i++) {
      const size_t k = (size_t)o * (size_t)in + (size_t)i;
      n->delta[l][i] += n->weight[l][k] * d;
      adapt(&n->weight[l][k], d * n->value[l][i], &n->grad2[l][k], &n->step2[l][k]);
    }
    const size_t k = cells(n, l) + (size_t)o;
    adapt(&n->bias[l][o], d, &n->grad2[l][k], &n->step2[l][k]);
  }
  for (int i = 0; l > 0 && i < in; i++)
    if (n->value[l][i] <= 0) n->delta[l][i] = 0;
}

double perceptron_teach(perceptron *n, const double *in, double target) {
  const double off = perceptron_ask(n, in) - target;
  *n->delta[PERCEPTRON_LAYERS] = 2 * off;
  for (int l = PERCEPTRON_LAYERS; l-- > 0;)
    back(n, l);
  return off * off;
}
