#include "search/common/factors.h"

#include <stdlib.h>

enum { SLOTS = 1024, MOST = 160 };

typedef struct {
  int32_t n;
  int few, count;
  const int32_t *list;
} entry;

struct tf_factors {
  tf_arena *arena;
  entry table[SLOTS]; /* slot n mod SLOTS; a later n replaces an earlier one */
};

tf_factors *tf_factors_new(tf_arena *a) {
  tf_factors *f = TF_NEW(a, tf_factors);
  if (f) f->arena = a;
  return f;
}

static int insert(int32_t *list, int count, int32_t v) {
  int i = count;
  for (int k = 0; k < count; k++)
    if (list[k] == v) return count;
  if (count == MOST) return count;
  for (; i > 0 && list[i - 1] > v; i--)
    list[i] = list[i - 1];
  list[i] = v;
  return count + 1;
}

static int collect(int32_t n, int few, int32_t *list) {
  int count = 0;
  for (int32_t d = 1; (int64_t)d * d <= n; d++)
    if (n % d == 0) {
      count = insert(list, count, d);
      count = insert(list, count, n / d);
    }
  if (count > few || n < 4) return count;
  for (int32_t tile = 2; tile < n && tile > 0; tile *= 2)
    count = insert(list, count, (n + tile - 1) / tile);
  return count;
}

int tf_factors_of(tf_factors *f, int32_t n, int few, const int32_t **out) {
  entry *e = &f->table[(uint32_t)n % SLOTS];
  if (e->n != n || e->few != few) {
    int32_t list[MOST];
    int count = collect(n, few, list);
    int32_t *kept = TF_ARRAY(f->arena, int32_t, (size_t)count);
    if (!kept) return 0;
    for (int i = 0; i < count; i++)
      kept[i] = list[i];
    *e = (entry){n, few, count, kept};
  }
  *out = e->list;
  return e->count;
}
