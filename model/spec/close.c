/* Which memory a core's blocks are to stay in. */
#include "tileflow/spec.h"

static bool is_candidate(const tf_arch *a, int l, bool innermost) {
  return a->memories[l].capacity_words > 0 && (innermost || l < a->n_memories - 1);
}

/* Whether each of its instances is filled on its own: several there are, or nothing is shared on the way to them. */
static bool works_apart(const tf_memory *m) { return m->mesh[0] * m->mesh[1] > 1 || !(m->multicast || m->reduce); }

int tf_arch_close(const tf_arch *a) {
  int n = 0, outermost = 0, second = 0;
  bool innermost = true;
  for (int l = 1; l < a->n_memories - 1; l++)
    innermost &= a->memories[l].capacity_words <= 0;
  for (int l = 1; l < a->n_memories; l++) {
    if (!is_candidate(a, l, innermost)) continue;
    if (works_apart(&a->memories[l])) return l;
    if (n == 0) outermost = l;
    if (n++ == 1) second = l;
  }
  return n >= 3 ? second : outermost;
}
