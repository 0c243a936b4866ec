/* Predictions that a planner has had made, by the mapping's text: rounds of tiles come back to
 * mappings that were ranked before. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "codegen/backend/npu/pass/pass.h"
#include "codegen/ir/memo.h"

typedef struct {
  char *text; /* of the mapping */
  npu_limits most;
  npu_terms terms;
  bool ok;
} prediction;

typedef struct {
  int64_t n;
  prediction *at;
} predictions;

static void drop(void *made) {
  predictions *all = made;
  for (int64_t i = 0; i < all->n; i++)
    free(all->at[i].text);
  free(all->at);
  free(all);
}

static predictions *predictions_of(tf_emit_memo *m) {
  if (m && !m->made && (m->made = calloc(1, sizeof(predictions)))) m->drop = drop;
  return m ? m->made : NULL;
}

/* Whether the prediction is what one under other limits would be, or more than its cycles' limit:
 * its own limits did not end it, or they were no lower. */
static bool holds(const prediction *p, npu_limits most) {
  const bool short_as_ever =
      p->most.length == most.length || (p->ok && p->terms.length <= most.length);
  return short_as_ever &&
         ((p->ok && p->terms.cycles <= p->most.cycles) || p->most.cycles >= most.cycles);
}

static const prediction *find(const predictions *all, const char *text, npu_limits most) {
  for (int64_t i = 0; i < all->n; i++)
    if (holds(&all->at[i], most) && !strcmp(all->at[i].text, text)) return &all->at[i];
  return NULL;
}

/* Takes the prediction's text; where there is no room it is not kept. */
static void keep(predictions *all, prediction p) {
  if (TF_GROW(all->at, all->n))
    all->at[all->n++] = p;
  else
    free(p.text);
}

bool npu_predict_once(tf_emit_memo *m, const tf_tree *tree, npu_limits most, npu_terms *terms,
                      tf_diags *d) {
  predictions *all = predictions_of(m);
  char *text = all ? tf_tree_text(tree) : NULL;
  const prediction *known = text ? find(all, text, most) : NULL;
  if (known) {
    free(text);
    *terms = known->terms;
    return known->ok;
  }
  const bool ok = npu_predict(tree, most, terms, d);
  if (text) keep(all, (prediction){text, most, *terms, ok});
  return ok;
}
