/* Two lists of loops of which those with one step count for nothing, compared as a branch-free program. */
#include "model/cost/quick/lanes.h"

int tf_lanes_paired(tf_lanes *w, const tf_lane_loops *a, const tf_lane_loops *b, tf_lane_alike *same, const void *of) {
  int row[TF_MAX_PATH + 1] = {0}, one = tf_l_int(w, 1), none = tf_l_int(w, 0);
  for (int i = a->n; i >= 0; i--) {
    bool end = i == a->n;
    int turns_i = end ? none : tf_l(w, TF_T_GT, a->loop[i], one), corner = none;
    for (int j = b->n; j >= 0; j--) {
      bool end_j = j == b->n;
      int turns_j = end_j ? none : tf_l(w, TF_T_GT, b->loop[j], one);
      int below = end ? none : row[j], beside = end_j ? none : row[j + 1], both = none;
      if (!end && !end_j) both = tf_l(w, TF_T_AND, same(w, of, i, j), corner);
      int rest = end_j ? none : tf_l_sel(w, turns_j, end ? none : both, beside);
      corner = below;
      row[j] = end && end_j ? one : end ? rest : tf_l_sel(w, turns_i, rest, below);
    }
  }
  return row[0];
}
