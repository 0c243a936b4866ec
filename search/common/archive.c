#include "search/common/archive.h"

#include <stdlib.h>
#include <string.h>

#include "tileflow/tree.h"

void tf_found_clear(tf_found *f) {
  free(f->text);
  tf_tree_free(f->tree);
  *f = (tf_found){0};
}

/* Copies all but the tree. */
static bool copy_found(tf_found *to, const tf_found *from) {
  size_t n = strlen(from->text) + 1;
  *to = (tf_found){.value = from->value, .figures = from->figures, .text = malloc(n)};
  if (to->text) memcpy(to->text, from->text, n);
  return to->text != NULL;
}

static int order(double a, double b) { return (a > b) - (a < b); }

int tf_figures_order(double a_value, const tf_figures *a, double b_value, const tf_figures *b) {
  int by = order(a_value, b_value);
  if (!by) by = order(a->energy_pj, b->energy_pj);
  if (!by) by = order(a->traffic_words, b->traffic_words);
  if (!by) by = order(a->cycles, b->cycles);
  return by ? by : order(a->held_words, b->held_words);
}

int tf_found_order(const tf_found *a, const tf_found *b) {
  int by = tf_figures_order(a->value, &a->figures, b->value, &b->figures);
  return by ? by : strcmp(a->text, b->text);
}

bool tf_keep_best(tf_found *list, uint64_t *shapes, int *n, int room, tf_found *f, uint64_t shape) {
  int at = 0;
  while (at < *n && shapes[at] != shape)
    at++;
  if (at < *n) {
    if (tf_found_order(&list[at], f) <= 0) return true;
  } else if (*n < room) {
    list[(*n)++] = (tf_found){0};
    at = *n - 1;
  } else if (tf_found_order(&list[--at], f) <= 0) {
    return true;
  }
  tf_found fresh;
  tf_found_clear(&list[at]);
  bool ok = copy_found(&fresh, f);
  if (!ok) { /* on failure the list stays complete, without the new one */
    memmove(&list[at], &list[at + 1], (size_t)(*n - at - 1) * sizeof *list);
    memmove(&shapes[at], &shapes[at + 1], (size_t)(*n - at - 1) * sizeof *shapes);
    (*n)--;
    return false;
  }
  fresh.tree = f->tree;
  f->tree = NULL;
  for (; at > 0 && tf_found_order(&list[at - 1], f) > 0; at--) {
    list[at] = list[at - 1];
    shapes[at] = shapes[at - 1];
  }
  list[at] = fresh;
  shapes[at] = shape;
  return true;
}

static bool at_least_as_good(const tf_figures *a, const tf_figures *b) {
  return a->cycles <= b->cycles && a->energy_pj <= b->energy_pj &&
         a->traffic_words <= b->traffic_words && a->held_words <= b->held_words;
}

bool tf_front_has(const tf_found *front, int n, const tf_figures *f) {
  for (int i = 0; i < n; i++)
    if (at_least_as_good(&front[i].figures, f)) return true;
  return false;
}

bool tf_keep_pareto(tf_found *front, int *n, const tf_found *f) {
  int left = 0;
  if (tf_front_has(front, *n, &f->figures)) return true;
  for (int i = 0; i < *n; i++) {
    if (at_least_as_good(&f->figures, &front[i].figures))
      tf_found_clear(&front[i]);
    else
      front[left++] = front[i];
  }
  *n = left;
  if (left == TF_PARETO_MAX) return true;
  if (!copy_found(&front[left], f)) return false;
  front[left].tree = f->tree ? tf_tree_copy(f->tree, f->tree->arch, f->tree->workload, NULL) : NULL;
  (*n)++;
  return !f->tree || front[left].tree;
}
