#include "search/common/factors.h"

#include <stdlib.h>

enum { SLOTS = 1024, KINDS = TF_ROUNDED + 1, MOST = 240, LARGE = 16, FEW_DIVISORS = 8 };

typedef struct {
  int32_t n;
  tf_factors_kind kind;
  int count;
  const int32_t *list;
} entry;

struct tf_factors {
  tf_arena *arena;
  entry table[SLOTS]; /* by n and kind; a later one replaces an earlier one */
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

static int divisors(int32_t n, int32_t *list) {
  int count = 0;
  for (int32_t d = 1; (int64_t)d * d <= n; d++)
    if (n % d == 0) {
      count = insert(list, count, d);
      count = insert(list, count, n / d);
    }
  return count;
}

int32_t tf_rounded(int32_t n) {
  int32_t list[MOST];
  const bool is_odd = n > TF_ROUND && n < INT32_MAX - TF_ROUND && divisors(n, list) <= FEW_DIVISORS;
  return is_odd ? (n + TF_ROUND - 1) / TF_ROUND * TF_ROUND : n;
}

static int collect(int32_t n, tf_factors_kind kind, int32_t *list) {
  if (kind == TF_ROUNDED) {
    int count = divisors(tf_rounded(n), list);
    while (count > 0 && list[count - 1] >= n)
      count--;
    return insert(list, count, n);
  }
  int count = divisors(n, list);
  const bool few = count <= FEW_DIVISORS;
  for (int32_t tile = 2; kind != TF_DIVISORS && tile < n && tile > 0; tile *= 2)
    count = insert(list, count, (n + tile - 1) / tile);
  for (int32_t k = 2; kind == TF_WITH_ALL && (few || k <= LARGE) && (int64_t)k * k <= n; k++) {
    count = insert(list, count, k);
    if (!few) continue;
    count = insert(list, count, (n + k - 1) / k);
  }
  return count;
}

int tf_factors_of(tf_factors *f, int32_t n, tf_factors_kind kind, const int32_t **out) {
  entry *e = &f->table[((uint32_t)n * KINDS + kind) % SLOTS];
  if (e->n != n || e->kind != kind) {
    int32_t list[MOST];
    int count = collect(n, kind, list);
    int32_t *kept = TF_ARRAY(f->arena, int32_t, (size_t)count);
    if (!kept) return 0;
    for (int i = 0; i < count; i++)
      kept[i] = list[i];
    *e = (entry){n, kind, count, kept};
  }
  *out = e->list;
  return e->count;
}
