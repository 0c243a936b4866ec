/* Variables and rules. */
#include "tune/csp/csp.h"

#include <stdio.h>
#include <string.h>

csp *csp_new(tf_arena *a) {
  csp *s = TF_NEW(a, csp);
  if (s) s->arena = a;
  return s;
}

/* Room for one more after n elements of that size, in the arena. */
static void *grown(tf_arena *a, void *at, int n, int *room, size_t size) {
  if (n < *room) return at;
  int to = *room ? 2 * *room : 32;
  void *p = tf_arena_array(a, (size_t)to, size);
  if (p && n) memcpy(p, at, (size_t)n * size);
  if (p) *room = to;
  return p;
}

static int add_var(csp *s, csp_var v) {
  v.name = tf_arena_strndup(s->arena, v.name, strlen(v.name));
  csp_var *at = s->n_vars < CSP_VARS_MAX
                    ? grown(s->arena, s->var, s->n_vars, &s->room_vars, sizeof *at)
                    : NULL;
  if (!at || !v.name) return -1;
  s->var = at;
  v.word = s->n_words;
  s->n_words += (v.n + 63) / 64;
  s->var[s->n_vars] = v;
  s->n_knobs += v.knob;
  return s->n_vars++;
}

int csp_range(csp *s, const char *name, bool knob, int64_t lo, int64_t hi) {
  int64_t value[CSP_SET_MAX];
  const int n = knob && hi - lo < CSP_SET_MAX ? (int)(hi - lo) + 1 : 0;
  for (int i = 0; i < n; i++)
    value[i] = lo + i;
  if (n) return csp_set(s, name, knob, n, value);
  return add_var(
      s, (csp_var){.name = name, .knob = knob, .lo = lo, .hi = hi > CSP_MOST ? CSP_MOST : hi});
}

int csp_set(csp *s, const char *name, bool knob, int n, const int64_t *values) {
  int64_t *set = n > 0 && n <= CSP_SET_MAX ? TF_ARRAY(s->arena, int64_t, (size_t)n) : NULL;
  if (!set) return -1;
  memcpy(set, values, (size_t)n * sizeof *set);
  return add_var(
      s, (csp_var){.name = name, .knob = knob, .lo = set[0], .hi = set[n - 1], .n = n, .set = set});
}

int csp_divisors(int64_t n, int most, int64_t *out) {
  int k = 0;
  for (int64_t x = 1; x <= n / x && k < most / 2; x++)
    if (n % x == 0) out[k++] = x;
  for (int i = k; i-- > 0;)
    if (out[i] != n / out[i]) out[k++] = n / out[i];
  return k;
}

int csp_number(csp *s, int64_t value) {
  char name[24];
  for (int v = 0; v < s->n_vars; v++)
    if (s->var[v].constant && s->var[v].lo == value) return v;
  snprintf(name, sizeof name, "%lld", (long long)value);
  return add_var(s, (csp_var){.name = name, .constant = true, .lo = value, .hi = value});
}

int csp_find(const csp *s, const char *name, size_t len) {
  for (int v = 0; v < s->n_vars; v++)
    if (!s->var[v].constant && strlen(s->var[v].name) == len && !memcmp(s->var[v].name, name, len))
      return v;
  return -1;
}

bool csp_add(csp *s, csp_kind kind, int v, int n, const int *list) {
  if (n < 1 || n > CSP_LIST_MAX || v < 0) return false;
  csp_rule *at = grown(s->arena, s->rule, s->n_rules, &s->room_rules, sizeof *at);
  int *own = TF_ARRAY(s->arena, int, (size_t)n);
  if (!at || !own) return false;
  s->rule = at;
  for (int k = 0; k < n; k++) {
    if (list[k] < 0) return false;
    own[k] = list[k];
  }
  s->rule[s->n_rules++] = (csp_rule){kind, v, n, own};
  return true;
}

bool csp_in(csp *s, int v, int n, const int64_t *values) {
  csp_var *x = &s->var[v];
  int64_t *set = n > 0 && n <= CSP_SET_MAX ? TF_ARRAY(s->arena, int64_t, (size_t)n) : NULL;
  int kept = 0;
  for (int k = 0; set && k < n; k++) {
    bool there = values[k] >= x->lo && values[k] <= x->hi && x->n == 0;
    for (int i = 0; i < x->n; i++)
      there |= x->set[i] == values[k];
    if (there) set[kept++] = values[k];
  }
  if (kept == 0) return false;
  x->set = set;
  x->n = kept;
  x->lo = set[0];
  x->hi = set[kept - 1];
  x->word = s->n_words; /* the old bits stay unused */
  s->n_words += (kept + 63) / 64;
  return true;
}

bool csp_ready(csp *s) {
  const size_t n = (size_t)s->n_vars + 1;
  s->knob = TF_ARRAY(s->arena, int, n);
  s->watchers = TF_ARRAY(s->arena, int *, n);
  s->n_watchers = TF_ARRAY(s->arena, int, n);
  if (!s->knob || !s->watchers || !s->n_watchers) return false;
  s->n_knobs = 0;
  for (int v = 0; v < s->n_vars; v++) {
    if (s->var[v].knob) s->knob[s->n_knobs++] = v;
    for (int pass = 0; pass < 2; pass++) {
      int found = 0;
      for (int r = 0; r < s->n_rules; r++)
        if (csp_names(&s->rule[r], v)) {
          if (pass) s->watchers[v][found] = r;
          found++;
        }
      if (pass == 0) s->watchers[v] = TF_ARRAY(s->arena, int, (size_t)found + 1);
      if (!s->watchers[v]) return false;
      s->n_watchers[v] = found;
    }
  }
  return true;
}

static bool in_domain(const csp_var *x, int64_t value) {
  if (value < x->lo || value > x->hi) return false;
  bool there = x->n == 0;
  for (int i = 0; i < x->n; i++)
    there |= x->set[i] == value;
  return there;
}

bool csp_rule_holds(const csp_rule *r, const int64_t *value) {
  int64_t all = r->kind == CSP_PROD;
  switch (r->kind) {
  case CSP_PROD:
    for (int k = 0; k < r->n; k++)
      if (value[r->list[k]] < 1 || __builtin_mul_overflow(all, value[r->list[k]], &all))
        return false;
    return value[r->v] == all;
  case CSP_SUM:
    for (int k = 0; k < r->n; k++)
      if (__builtin_add_overflow(all, value[r->list[k]], &all)) return false;
    return value[r->v] == all;
  case CSP_EQ: return value[r->v] == value[r->list[0]];
  case CSP_LE: return value[r->v] <= value[r->list[0]];
  case CSP_SELECT:
    all = value[r->list[0]];
    return all >= 0 && all < r->n - 1 && value[r->v] == value[r->list[1 + all]];
  case CSP_N_KINDS: break;
  }
  return false;
}

bool csp_holds(const csp *s, const int64_t *value) {
  for (int v = 0; v < s->n_vars; v++)
    if (!in_domain(&s->var[v], value[v])) return false;
  for (int r = 0; r < s->n_rules; r++)
    if (!csp_rule_holds(&s->rule[r], value)) return false;
  return true;
}

csp *csp_splits(const csp *s, tf_arena *a) {
  csp *out = csp_new(a);
  int *of = TF_ARRAY(a, int, (size_t)s->n_vars + 1);
  bool ok = out && of;
  for (int v = 0; ok && v < s->n_vars; v++) {
    const csp_var *x = &s->var[v];
    of[v] = x->constant ? csp_number(out, x->lo)
            : x->knob   ? csp_set(out, x->name, true, x->n, x->set)
                        : -1;
    ok = of[v] >= 0 || (!x->knob && !x->constant);
  }
  for (int r = 0; ok && r < s->n_rules; r++) {
    const csp_rule *x = &s->rule[r];
    int list[CSP_LIST_MAX];
    bool knobs = x->kind == CSP_PROD && s->var[x->v].constant;
    for (int k = 0; k < x->n; k++) {
      list[k] = of[x->list[k]];
      knobs &= list[k] >= 0;
    }
    if (knobs) ok = csp_add(out, CSP_PROD, of[x->v], x->n, list);
  }
  return ok && csp_ready(out) ? out : NULL;
}
