/* Capacity curves: the least words for each capacity. */
#include <stdlib.h>
#include <string.h>

#include "search/bound/bound.h"

enum { TIDY_AT = 1 << 18 };

/* Halves the number of steps: two become one with the lower capacity and the fewer words, which is
 * a weaker but valid bound. */
static void thin(tf_b_curve *s) {
  int n = 0;
  for (int i = 0; i < s->n; i += 2)
    s->step[n++] = (tf_bound_step){s->step[i].capacity, s->step[i + 1 < s->n ? i + 1 : i].words};
  s->n = n;
}

void tf_b_add(tf_b_curve *s, double capacity, double words) {
  if (s->n == s->room && s->room >= TIDY_AT) {
    tf_b_tidy(s);
    if (s->n > s->room / 2) thin(s);
  }
  if (s->n == s->room) {
    int room = s->room ? 2 * s->room : 256;
    tf_bound_step *step = realloc(s->step, (size_t)room * sizeof *step);
    if (!step) {
      s->failed = true;
      return;
    }
    s->step = step;
    s->room = room;
  }
  s->step[s->n++] = (tf_bound_step){capacity, words};
}

static int by_capacity(const void *a, const void *b) {
  const tf_bound_step *x = a, *y = b;
  if (x->capacity != y->capacity) return x->capacity < y->capacity ? -1 : 1;
  return (x->words > y->words) - (x->words < y->words);
}

void tf_b_tidy(tf_b_curve *s) {
  int n = 0;
  if (s->n) qsort(s->step, (size_t)s->n, sizeof *s->step, by_capacity);
  for (int i = 0; i < s->n; i++)
    if (n == 0 || s->step[i].words < s->step[n - 1].words) s->step[n++] = s->step[i];
  s->n = n;
}

/* Both must begin with a step at capacity 0. */
void tf_b_sum(tf_b_curve *a, const tf_b_curve *b) {
  tf_b_curve sum = {0};
  int i = 0, j = 0;
  while (a->n && b->n && (i < a->n || j < b->n)) {
    double x = i < a->n ? a->step[i].capacity : b->step[j].capacity;
    if (j < b->n && b->step[j].capacity < x) x = b->step[j].capacity;
    while (i < a->n && a->step[i].capacity <= x)
      i++;
    while (j < b->n && b->step[j].capacity <= x)
      j++;
    if (i && j) tf_b_add(&sum, x, a->step[i - 1].words + b->step[j - 1].words);
  }
  tf_b_tidy(&sum);
  sum.failed |= a->failed || b->failed;
  free(a->step);
  *a = sum;
}
