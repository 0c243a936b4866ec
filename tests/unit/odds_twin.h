/* How many elements are not zero in a part of a tensor, drawn: the slow twin of model/sparse/odds.c
 * and busiest.c. */
#ifndef TESTS_UNIT_ODDS_TWIN_H
#define TESTS_UNIT_ODDS_TWIN_H
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "model/sparse/busiest.h"

enum { MOST_PARTS = 12, ODDS_TRIES = 3 };

static int rng_between(tf_rng *g, int least, int most) {
  return least + (int)tf_rng_below(g, (uint32_t)(most - least + 1));
}

/* Elements in each of `parts` parts, of which the first nonzero that are drawn are not zero; or
 * each by itself. */
static void draw_parts(tf_rng *g, const tf_odds *o, int parts, int each, int *in) {
  const double mean = o->share * o->all, low = floor(mean + 1e-9);
  int left = (int)low + ((double)tf_rng_below(g, 1u << 30) / (1 << 30) < mean - low),
      all = (int)o->all;
  for (int i = 0; i < parts; i++)
    for (int k = in[i] = 0; k < each; k++, all--) {
      const bool is = o->kind == TF_ODDS_EACH
                          ? (double)tf_rng_below(g, 1u << 30) / (1 << 30) < o->share
                          : (int)tf_rng_below(g, (uint32_t)all) < left;
      in[i] += is;
      left -= is;
    }
}

/* The mean over draws of the most in any part, and how often the first has more than `most`. */
static void draw_all(tf_rng *g, const tf_odds *o, int parts, int each, double most, int draws,
                     double out[3]) {
  double sum = 0, squares = 0, beyond = 0;
  int in[MOST_PARTS];
  for (int d = 0; d < draws; d++) {
    int top = 0;
    draw_parts(g, o, parts, each, in);
    for (int i = 0; i < parts; i++)
      top = in[i] > top ? in[i] : top;
    sum += top, squares += (double)top * top, beyond += in[0] > most;
  }
  out[0] = sum / draws;
  out[1] = sqrt(fmax(0, squares / draws - out[0] * out[0]) / (draws - 1));
  out[2] = beyond / draws;
}

static bool check_one(tf_rng *g, const tf_odds *o, int parts, int each, double doubt) {
  const double told = tf_odds_busiest(o, parts, each), most = tf_odds_most(o, each, doubt);
  double seen[3];
  for (int i = 0, draws = 200; i < ODDS_TRIES; i++, draws *= 16) {
    draw_all(g, o, parts, each, most, draws, seen);
    const bool near = fabs(seen[0] - told) <= 3 * seen[1] + 1e-9 + 3e-3 * told;
    if (near && seen[2] <= doubt + 3 * sqrt(doubt / draws)) return true;
  }
  printf("# odds: %s of %g, share %g, %d parts of %d: busiest %g, drawn %g +- %g; above %g with "
         "%g, drawn %g\n",
         o->kind == TF_ODDS_EACH ? "each" : "drawn", o->all, o->share, parts, each, told, seen[0],
         seen[1], most, doubt, seen[2]);
  return false;
}

static int check_odds(tf_rng *g, int cases) {
  int wrong = 0;
  for (int i = 0; i < cases; i++) {
    const int parts = rng_between(g, 1, 12),
              each = rng_between(g, 1, !tf_rng_below(g, 3) ? 120 : 12),
              rest = !tf_rng_below(g, 2) ? 0 : rng_between(g, 0, 40);
    const tf_odds o = tf_odds_of(!tf_rng_below(g, 3) ? TF_ODDS_EACH : TF_ODDS_DRAWN,
                                 rng_between(g, 1, 20) / 20.0, parts * each + rest);
    wrong += !check_one(g, &o, parts, each, rng_between(g, 1, 4) / 20.0);
  }
  return wrong;
}

/* The mean over draws of the most tokens in any part of the experts, and its deviation. */
static void draw_routed(tf_rng *g, const int *of, int draws, double out[2]) {
  const int tokens = of[0], top = of[1], experts = of[2], parts = of[3];
  double sum = 0, squares = 0;
  for (int d = 0; d < draws; d++) {
    int in[MOST_PARTS] = {0}, most = 0;
    for (int t = 0; t < tokens; t++)
      for (int e = 0, left = top; e < experts; e++) {
        const bool is = (int)tf_rng_below(g, (uint32_t)(experts - e)) < left;
        in[e * parts / experts] += is;
        left -= is;
      }
    for (int i = 0; i < parts; i++)
      most = in[i] > most ? in[i] : most;
    sum += most, squares += (double)most * most;
  }
  out[0] = sum / draws;
  out[1] = sqrt(fmax(0, squares / draws - out[0] * out[0]) / (draws - 1));
}

/* Of one choice, of one token and of all experts within the draws' own error; of others, whose
 * distribution is that of equal variance, within 2 % beside. */
static int check_routed(tf_rng *g, int cases) {
  int wrong = 0;
  for (int i = 0; i < cases; i++) {
    const int parts = rng_between(g, 1, MOST_PARTS), experts = parts * rng_between(g, 1, 6),
              top = !tf_rng_below(g, 3) ? 1 : rng_between(g, 1, experts),
              tokens = !tf_rng_below(g, 4) ? 1 : rng_between(g, 1, 40),
              of[4] = {tokens, top, experts, parts};
    const double told = tf_routed_busiest(tokens, top, experts, parts),
                 room = top == 1 || tokens == 1 || top == experts ? 1e-9 : 0.02 * told;
    double seen[2] = {0};
    bool near = false;
    for (int k = 0, draws = 200; k < ODDS_TRIES && !near; k++, draws *= 8) {
      draw_routed(g, of, draws, seen);
      near = fabs(seen[0] - told) <= 3 * seen[1] + 1e-9 + room;
    }
    if (!near)
      printf("# odds: %d tokens to %d of %d experts in %d parts: busiest %g, drawn %g +- %g\n",
             tokens, top, experts, parts, told, seen[0], seen[1]);
    wrong += !near;
  }
  return wrong;
}
#endif
