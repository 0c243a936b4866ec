/* The state of one sum, and the previous entry: shared by sums.c and sums_before.c. */
#ifndef MODEL_COST_GENERAL_SUMMING_H
#define MODEL_COST_GENERAL_SUMMING_H
#include "model/cost/general/sums.h"
#include "model/flow/retain.h"
#include "model/flow/skip.h"

/* Words of the boxes of a component's settings, with equal boxes of sharing instances counted once:
 * `all` boxes; boxes with `some` words found, once for each part found; boxes with words found in
 * every instance (`always`); and the words found.  A box of several components finds nothing if one
 * of them finds nothing; then instances with equal boxes load the same words, whatever the other
 * components find.  Each of the four multiplies over components, and all + some - always are the
 * words of boxes read once (docs/MODEL.md, 5a). */
typedef struct {
  int64_t all, some, always, kept;
} tf_words;

/* Masks are over path positions of the slice's node. */
typedef struct {
  tf_eval *ev;
  tf_scratch *w;
  const tf_slice *s, *prev;
  const tf_reuse_case *c;
  const tf_comp *comp;
  uint64_t
      zero; /* fixed at their first setting (temporal, for the previous entry: at their last) */
  uint64_t single; /* spatial: counted once, at setting 0 */
  uint64_t each;   /* spatial: every setting on its own, equal boxes counted once */
  int stepping;    /* position of the loop that has stepped; -1: none */
  uint64_t skips;  /* temporal: only settings whose steps the mask does not skip */
  bool divides; /* the loops of the mask's dims divide their ranges, and nothing else makes settings
                   differ */
  struct tf_known *known; /* [TF_KNOWN_MAX] cached sums by distance from the mask's edge */
  uint64_t
      one_by_one;  /* temporal: every setting on its own, as the previous m-tile ends elsewhere */
  uint64_t unlike; /* every setting on its own, as it moves this m-tile and the previous one
                      differently */
  uint64_t first_only; /* of `skips`: only the first setting that is not skipped, whatever the loops
                     inside it */
  tf_words sum;
  bool ok;
  /* if runs of a retaining scope matter */
  const tf_retain *h;
  int n_above;      /* number of loops above the scope */
  int run_loop;     /* the loop whose step begins this run of the scope; -1: the first run */
  uint64_t start;   /* loops of the scope inside that one, at their first setting */
  int64_t fine;     /* settings at the start of a loop that are visited one by one */
  bool uneven_runs; /* instances may compute ranges of different lengths in one run */
  bool runs_known;  /* the loops above the scope are set, and what the run computes is known */
  bool earlier_run; /* the previous entry belongs to an earlier run; then the settings there */
  bool dropped;     /* what the previous entry left has been dropped */
  tf_retain_setting setting, prev_setting;
  tf_made made, prev_made;
} tf_summing;

/* Cached: the sum over the settings inside position k, at this distance from the mask's edge. */
typedef struct tf_known {
  int k; /* -1: unused */
  int64_t distance;
  tf_words sum;
} tf_known;
enum { TF_KNOWN_MAX = 64 };

/* Adds mult * v to the sum; on overflow e->ok = false. */
void tf_sum_add(tf_summing *e, int64_t mult, tf_words v);
/* Adds the current setting, which represents mult settings. */
void tf_leaf_add(tf_summing *e, int64_t mult);
/* Clears the set of boxes counted. */
void tf_leaf_forget(tf_boxes *w);

/* Sets the loops as at the previous entry: the loop that steps one less, those inside it at their
 * last.  Applies what the run of that entry computed. */
void tf_before_set(tf_summing *e);
/* Applies what the current run and the run of the previous entry compute; false: s is not
 * entered. */
bool tf_before_arm(tf_summing *e);
void tf_before_disarm(tf_summing *e);
/* Whether settings of spatial loop k must be visited one by one because its chain had another range
 * at the previous entry. */
bool tf_before_differs(tf_summing *e, int k);
#endif
