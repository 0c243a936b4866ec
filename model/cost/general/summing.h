/* One sum in progress, and the entry before the one at hand: shared by sums.c and sums_before.c. */
#ifndef MODEL_COST_GENERAL_SUMMING_H
#define MODEL_COST_GENERAL_SUMMING_H
#include "model/cost/general/sums.h"
#include "model/flow/retain.h"
#include "model/flow/skip.h"

/* Words of the boxes of a comp's settings, of equal boxes (which each tells apart) counted once: of all boxes; of those
 * that find some of their words, each once for each part found; of those that find some in every instance that has
 * them; and the words found.  A box of several comps finds nothing where one of its comps does, so instances with equal
 * boxes load the same words there, whatever the other comps found: each of the four multiplies from comp to comp, and
 * all + some - always are the words of the boxes of which each is read once. */
typedef struct {
  int64_t all, some, always, kept;
} tf_words;

/* Masks are over path positions of the slice's node. */
typedef struct {
  tf_eval *ev;
  tf_scratch *w;
  const tf_slice *s, *prev;
  const tf_pclass *c;
  const tf_comp *comp;
  uint64_t zero;          /* at their first setting now (temporal: at their last, before) */
  uint64_t single;        /* spatial: counted once, at setting 0 */
  uint64_t each;          /* spatial: every setting by itself, equal boxes counted once */
  int carry;              /* position of the loop that has stepped, -1 */
  uint64_t skips;         /* temporal: only settings count in which a mask leaves something of the step */
  bool divides;           /* the loops of the mask's dims divide their ranges, and nothing else tells settings apart */
  struct tf_known *known; /* [TF_KNOWN_MAX] of these: sums by distance */
  uint64_t apart;         /* temporal: told apart, as the m-tile before ends elsewhere */
  uint64_t again;         /* of `skips`: only the first setting that counts, whatever those inside it */
  tf_words sum;
  bool ok;
  /* where runs of a retaining scope decide */
  const tf_retain *h;
  int n_above;    /* loops above the scope */
  int turn;       /* the loop whose step begins this run of the scope, -1: the first run */
  uint64_t start; /* its loops inside that one: at their first setting */
  int64_t fine;   /* settings at the start of a loop that are told apart */
  bool armed;     /* the loops above the scope stand, and what the run makes is known */
  bool back;      /* the entry before belongs to an earlier run: then, there */
  bool dropped;   /* what the entry before left is gone */
  tf_spot here, there;
  tf_made now, then;
} tf_summing;

/* What the settings from position k on come to, l so far from q. */
typedef struct tf_known {
  int k; /* -1: none */
  int64_t distance;
  tf_words sum;
} tf_known;
enum { TF_KNOWN_MAX = 64 };

/* Adds mult * v to the sum; overflow: e->ok = false. */
void tf_sum_add(tf_summing *e, int64_t mult, tf_words v);
/* Adds the setting at hand, which stands for mult of them. */
void tf_leaf_add(tf_summing *e, int64_t mult);
/* Forgets the boxes met. */
void tf_leaf_forget(tf_boxes *w);

/* The last setting of temporal loop k that happens, of node n's path, loops outside it as dg says. */
int64_t tf_before_last(tf_summing *e, int n, int k, uint64_t loops, const int64_t *dg);
/* Settings of the loops at the entry before: the carried loop one less, those inside at their last.
 * Leaves in force what the run of that entry makes. */
void tf_before_set(tf_summing *e);
/* What is made in the run at hand, and in the run of the entry before; false: s is not entered. */
bool tf_before_arm(tf_summing *e);
void tf_before_disarm(tf_summing *e);
/* Whether settings of spatial loop k must be told apart because its chain had another range before. */
bool tf_before_differs(tf_summing *e, int k);
#endif
