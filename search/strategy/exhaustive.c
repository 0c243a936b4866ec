/* Exhaustive enumeration: depth first through the decisions in the order in which they were
 * read. */
#include "search/strategy/strategy.h"

typedef struct {
  tf_space *space;
  int *at, *count; /* [decision] index of the choice, and size of the domain */
  uint32_t *order; /* [decision] of the previous candidate */
  bool begun, ended;
} walk;

static void *make(tf_arena *a, tf_space *s, const int32_t *hint, int n_asks, tf_rng rng) {
  (void)hint, (void)n_asks, (void)rng;
  walk *w = TF_NEW(a, walk);
  if (!w) return NULL;
  w->space = s;
  w->at = TF_ARRAY(a, int, (size_t)s->n + 1);
  w->count = TF_ARRAY(a, int, (size_t)s->n + 1);
  w->order = TF_ARRAY(a, uint32_t, (size_t)s->n + 1);
  return w->at && w->count && w->order ? w : NULL;
}

/* Advances, among the decisions that have a further choice, the one read last; decisions read after
 * it go back to their first choice.  Returns the least decision that changes; -1: none can be
 * advanced. */
static int advance(walk *w) {
  int n = w->space->n, last = -1, least;
  for (int i = 0; i < n; i++)
    if (w->order[i] && w->at[i] + 1 < w->count[i] && (last < 0 || w->order[i] > w->order[last]))
      last = i;
  if (last < 0) return -1;
  w->at[last]++;
  least = last;
  for (int i = n - 1; i >= 0; i--)
    if (!w->order[i] || w->order[i] > w->order[last]) {
      if (w->at[i] && i < least) least = i;
      w->at[i] = 0;
    }
  return least;
}

/* Takes decisions from `first` on.  False: a dead end, in which no decision was read. */
static bool go_on(walk *w, int first) {
  int32_t domain[TF_DOMAIN_MAX];
  tf_space *s = w->space;
  tf_space_back(s, first);
  for (int i = 0; i < s->n; i++)
    w->order[i] = (uint32_t)i + 1;
  for (int i = first; i < s->n; i++) {
    w->count[i] = s->kind->domain(s, i, domain);
    if (w->count[i] == 0) {
      for (; i < s->n; i++)
        w->order[i] = 0;
      return false;
    }
    s->kind->take(s, i, domain[w->at[i]]);
  }
  if (s->kind->order) s->kind->order(s, w->order);
  return true;
}

static bool ask(void *state, uint64_t *parent_id) {
  walk *w = state;
  *parent_id = 0;
  while (!w->ended) {
    int first = w->begun ? advance(w) : 0;
    w->begun = true;
    w->ended = first < 0;
    if (!w->ended && go_on(w, first)) return true;
  }
  return false;
}

static void tell(void *state, const tf_feedback *t) { (void)state, (void)t; }

const tf_strategy_ops tf_strategy_exhaustive = {make, ask, tell, .batches = true,
                                                .ignores_feedback = true};
