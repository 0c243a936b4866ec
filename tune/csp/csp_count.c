/* Exact numbers of solutions.  A part of the system is a set of open variables with the rules
 * between them.  One variable of it gets each of its values in turn; what is left falls into parts
 * that share no rule, whose numbers multiply.  Each part is counted once: its number is kept under
 * its domains and what its rules still ask of them, so that products of factors cost what a table
 * over their partial products would. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "tune/csp/csp.h"

enum { VALUES_MOST = 4096 };
#define KEYS_MOST ((size_t)256 << 20) /* bytes of kept keys */

typedef struct {
  int n_vars, n_rules;
  int *var, *rule; /* var: those open, before any value was tried */
} part;

typedef struct kept {
  struct kept *next;
  csp_total n;
  size_t size;
  char key[];
} kept;

typedef struct {
  const csp *s;
  bool *follows; /* [n_vars] its value follows from the knobs */
  int64_t steps;
  csp_answer trouble; /* CSP_FOUND: none */
  bool too_many;
  /* of the part that is looked at; no call keeps them over another */
  int *uses, *group; /* [n_vars] */
  bool *free_of_rules;
  int64_t *value; /* [n_vars] */
  char *key;
  size_t key_size, key_room;
  kept **table; /* [n_slots] */
  size_t n_slots, n_kept, kept_bytes;
} counter;

static csp_total count_below(counter *c, const csp_state *st, const part *p);

static bool open_in(const csp_state *st, int v) { return st->left[v].lo < st->left[v].hi; }

static csp_total stop(counter *c, csp_answer why) {
  if (c->trouble == CSP_FOUND) c->trouble = why;
  return 0;
}

static csp_total times(counter *c, csp_total a, csp_total b) {
  csp_total out;
  c->too_many |= __builtin_mul_overflow(a, b, &out);
  return out;
}

/* ---- what follows from the knobs ------------------------------------------------------------ */
/* A factor or summand that alone is not known; -1: none, -2: several. */
static int last_unknown(const counter *c, const csp_rule *r) {
  int last = -1;
  for (int k = 0; k < r->n; k++)
    if (!c->follows[r->list[k]]) last = last == -1 ? r->list[k] : -2;
  return last;
}

static bool follow(counter *c, const csp_rule *r) {
  const int last = r->kind == CSP_LE ? -2 : last_unknown(c, r);
  const int v = last == -1                                               ? r->v
                : last >= 0 && r->kind != CSP_SELECT && c->follows[r->v] ? last
                                                                         : -1;
  if (v < 0 || c->follows[v]) return false;
  return c->follows[v] = true;
}

static void find_followers(counter *c) {
  for (int v = 0; v < c->s->n_vars; v++)
    c->follows[v] = c->s->var[v].knob || c->s->var[v].lo == c->s->var[v].hi;
  for (bool more = true; more;) {
    more = false;
    for (int r = 0; r < c->s->n_rules; r++)
      more |= follow(c, &c->s->rule[r]);
  }
}

/* ---- rules that no longer ask anything ------------------------------------------------------ */
static bool any_open(const csp_state *st, const csp_rule *r) {
  bool any = open_in(st, r->v);
  for (int k = 0; k < r->n; k++)
    any |= open_in(st, r->list[k]);
  return any;
}

/* Whether the rule only says what v is: no other rule names it, and whatever the list gives is in
 * its range.  What follows from the knobs is one of them, as it were, and must not get its name
 * from what does not. */
static bool only_names(const counter *c, const csp_state *st, const csp_rule *r) {
  const csp_left *v = &st->left[r->v];
  int64_t lo = r->kind == CSP_PROD, hi = lo;
  if ((r->kind != CSP_PROD && r->kind != CSP_SUM) || c->uses[r->v] > 1 || c->s->var[r->v].n ||
      !open_in(st, r->v))
    return false;
  for (int k = 0; k < r->n; k++) {
    const csp_left *x = &st->left[r->list[k]];
    if (r->list[k] == r->v || (c->follows[r->v] && !c->follows[r->list[k]])) return false;
    const bool over = r->kind == CSP_PROD ? x->lo < 1 || __builtin_mul_overflow(lo, x->lo, &lo) ||
                                                __builtin_mul_overflow(hi, x->hi, &hi)
                                          : __builtin_add_overflow(lo, x->lo, &lo) ||
                                                __builtin_add_overflow(hi, x->hi, &hi);
    if (over) return false;
  }
  return lo >= v->lo && hi <= v->hi;
}

static bool asks_nothing(const counter *c, const csp_state *st, const csp_rule *r) {
  if (!any_open(st, r)) return true;
  if (r->kind == CSP_LE && st->left[r->v].hi <= st->left[r->list[0]].lo) return true;
  if ((r->kind == CSP_EQ || r->kind == CSP_LE) && r->v == r->list[0]) return true;
  return only_names(c, st, r);
}

static void use(counter *c, const csp_rule *r, int by) {
  c->uses[r->v] += by;
  for (int k = 0; k < r->n; k++)
    c->uses[r->list[k]] += by;
}

/* Leaves the rules that still ask something, at the head of rule; returns how many.  A variable
 * that only had its name from a rule is free of rules afterwards. */
static int live_rules(counter *c, const csp_state *st, const part *p, int *rule) {
  int n = p->n_rules, before;
  memcpy(rule, p->rule, (size_t)n * sizeof *rule);
  for (int i = 0; i < n;
       i++) { /* all that it names, beyond the part too: fixed ones and those named by it only */
    const csp_rule *r = &c->s->rule[rule[i]];
    c->uses[r->v] = c->free_of_rules[r->v] = 0;
    for (int k = 0; k < r->n; k++)
      c->uses[r->list[k]] = 0;
  }
  for (int i = 0; i < n; i++)
    use(c, &c->s->rule[rule[i]], 1);
  do {
    before = n;
    n = 0;
    for (int i = 0; i < before; i++) {
      const csp_rule *r = &c->s->rule[rule[i]];
      if (!asks_nothing(c, st, r)) {
        rule[n++] = rule[i];
        continue;
      }
      c->free_of_rules[r->v] |= only_names(c, st, r);
      use(c, r, -1);
    }
  } while (n < before);
  return n;
}

/* Whether rules whose variables are all fixed hold: propagation may have stopped before it saw
 * that. */
static bool fixed_rules_hold(counter *c, const csp_state *st, const part *p) {
  for (int i = 0; i < p->n_rules; i++) {
    const csp_rule *r = &c->s->rule[p->rule[i]];
    if (any_open(st, r)) continue;
    c->value[r->v] = st->left[r->v].lo;
    for (int k = 0; k < r->n; k++)
      c->value[r->list[k]] = st->left[r->list[k]].lo;
    if (!csp_rule_holds(r, c->value)) return false;
  }
  return true;
}

/* ---- parts ---------------------------------------------------------------------------------- */
static int root_of(counter *c, int v) {
  while (c->group[v] != v)
    v = c->group[v] = c->group[c->group[v]];
  return v;
}

static void join(counter *c, const csp_state *st, const csp_rule *r) {
  int first = -1;
  for (int k = -1; k < r->n; k++) {
    const int v = k < 0 ? r->v : r->list[k];
    if (!open_in(st, v)) continue;
    if (first < 0)
      first = v;
    else
      c->group[root_of(c, v)] = root_of(c, first);
  }
}

static int open_of(const csp_state *st, const csp_rule *r) {
  for (int k = 0; k < r->n; k++)
    if (open_in(st, r->list[k])) return r->list[k];
  return r->v;
}

/* The part of one group, in arrays of its own behind `at`; returns what lies behind them. */
static int *take_part(counter *c, const csp_state *st, const part *whole, int root, part *out) {
  int *at = out->var;
  for (int i = 0; i < whole->n_vars; i++)
    if (open_in(st, whole->var[i]) && root_of(c, whole->var[i]) == root)
      at[out->n_vars++] = whole->var[i];
  out->rule = at + out->n_vars;
  for (int i = 0; i < whole->n_rules; i++)
    if (root_of(c, open_of(st, &c->s->rule[whole->rule[i]])) == root)
      out->rule[out->n_rules++] = whole->rule[i];
  return out->rule + out->n_rules;
}

/* The number of values of a variable that no rule names. */
static csp_total width(const counter *c, const csp_state *st, int v) {
  int64_t value[CSP_SET_MAX];
  if (!c->s->var[v].knob && !c->follows[v]) return 1; /* one is enough */
  if (c->s->var[v].n == 0) return (csp_total)(st->left[v].hi - st->left[v].lo) + 1;
  return (csp_total)csp_values(c->s, st, v, CSP_SET_MAX, value);
}

/* ---- what a part is known by ---------------------------------------------------------------- */
static void put_bytes(counter *c, const void *what, size_t size) {
  if (!tf_grow_text(&c->key, &c->key_room, c->key_size + size)) {
    stop(c, CSP_NO_MEMORY);
    return;
  }
  memcpy(c->key + c->key_size, what, size);
  c->key_size += size;
}

/* What the fixed variables of a rule come to: a product, a sum, or each. */
static void put_fixed(counter *c, const csp_state *st, const csp_rule *r) {
  int64_t all = r->kind == CSP_PROD;
  const bool one = r->kind == CSP_PROD || r->kind == CSP_SUM;
  bool fits = true;
  for (int k = 0; one && k < r->n; k++) {
    const int64_t x = st->left[r->list[k]].lo;
    if (!open_in(st, r->list[k]))
      fits &= r->kind == CSP_PROD ? !__builtin_mul_overflow(all, x, &all)
                                  : !__builtin_add_overflow(all, x, &all);
  }
  if (one && fits) put_bytes(c, &all, sizeof all);
  for (int k = one && fits ? r->n : 0; k < r->n; k++)
    if (!open_in(st, r->list[k])) put_bytes(c, &st->left[r->list[k]].lo, sizeof all);
  if (!open_in(st, r->v)) put_bytes(c, &st->left[r->v].lo, sizeof all);
}

static void make_key(counter *c, const csp_state *st, const part *p) {
  c->key_size = 0;
  for (int i = 0; i < p->n_vars; i++) {
    const csp_var *x = &c->s->var[p->var[i]];
    put_bytes(c, &p->var[i], sizeof *p->var);
    put_bytes(c, &st->left[p->var[i]], sizeof *st->left);
    put_bytes(c, &st->bits[x->word], (size_t)(x->n + 63) / 64 * sizeof *st->bits);
  }
  for (int i = 0; i < p->n_rules; i++) {
    put_bytes(c, &p->rule[i], sizeof *p->rule);
    put_fixed(c, st, &c->s->rule[p->rule[i]]);
  }
}

static size_t slot_of(const char *key, size_t size, size_t n_slots) {
  uint64_t h = UINT64_C(1469598103934665603); /* FNV-1a */
  for (size_t i = 0; i < size; i++)
    h = (h ^ (unsigned char)key[i]) * UINT64_C(1099511628211);
  return (size_t)((h ^ h >> 29) % n_slots);
}

static const kept *find_kept(const counter *c, const char *key, size_t size) {
  const kept *k = c->table[slot_of(key, size, c->n_slots)];
  while (k && (k->size != size || memcmp(k->key, key, size) != 0))
    k = k->next;
  return k;
}

static void grow(counter *c) {
  const size_t n = 2 * c->n_slots;
  kept **to = calloc(n, sizeof *to);
  if (!to) return; /* the chains get longer */
  for (size_t i = 0; i < c->n_slots; i++)
    for (kept *k = c->table[i], *next; k; k = next) {
      next = k->next;
      kept **at = &to[slot_of(k->key, k->size, n)];
      k->next = *at;
      *at = k;
    }
  free(c->table);
  c->table = to;
  c->n_slots = n;
}

/* Takes k over. */
static void keep_count(counter *c, kept *k) {
  if (c->kept_bytes > KEYS_MOST) {
    free(k);
    return;
  }
  if (c->n_kept >= c->n_slots) grow(c);
  kept **at = &c->table[slot_of(k->key, k->size, c->n_slots)];
  k->next = *at;
  *at = k;
  c->n_kept++;
  c->kept_bytes += sizeof *k + k->size;
}

/* ---- the values of one variable ------------------------------------------------------------- */
static int rising(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* The products, or sums, of the n numbers in out with the m numbers; sorted, each once.  -1: too
 * many. */
static int combine(bool products, int64_t *out, int n, const int64_t *by, int m) {
  int64_t *all = malloc((size_t)n * (size_t)m * sizeof *all);
  int kept_n = 0;
  size_t k = 0;
  bool fits = all != NULL;
  for (int i = 0; fits && i < n; i++)
    for (int j = 0; fits && j < m; j++)
      fits = products ? !__builtin_mul_overflow(out[i], by[j], &all[k++])
                      : !__builtin_add_overflow(out[i], by[j], &all[k++]);
  if (fits) qsort(all, k, sizeof *all, rising);
  for (size_t i = 0; fits && i < k; i++) {
    if (i && all[i] == all[i - 1]) continue;
    fits = kept_n < VALUES_MOST;
    if (fits) out[kept_n++] = all[i];
  }
  free(all);
  return fits ? kept_n : -1;
}

/* What the rule can make of v; at least the values it can have.  -1: too many. */
static int made_by(const counter *c, const csp_state *st, const csp_rule *r,
                   int64_t out[VALUES_MOST]) {
  int64_t value[CSP_SET_MAX];
  int n = 1;
  out[0] = r->kind == CSP_PROD;
  for (int k = 0; n > 0 && k < r->n; k++) {
    const int m = csp_values(c->s, st, r->list[k], CSP_SET_MAX, value);
    n = m < 0 || (int64_t)n * m > (int64_t)VALUES_MOST * 64
            ? -1
            : combine(r->kind == CSP_PROD, out, n, value, m);
  }
  return n;
}

static int values_of(const counter *c, const csp_state *st, const part *p, int v,
                     int64_t out[VALUES_MOST]) {
  int n = csp_values(c->s, st, v, CSP_SET_MAX, out);
  for (int i = 0; i < p->n_rules && c->s->var[v].n == 0; i++) {
    const csp_rule *r = &c->s->rule[p->rule[i]];
    if (r->v != v || (r->kind != CSP_PROD && r->kind != CSP_SUM)) continue;
    int64_t made[VALUES_MOST];
    const int m = made_by(c, st, r, made);
    if (m < 0 || (n >= 0 && m >= n)) continue;
    memcpy(out, made, (size_t)m * sizeof *out);
    n = m;
  }
  return n;
}

/* The variable that most rules of the part name, of those with fewest values.  Of variables that do
 * not follow from the knobs only where no knob is open (any). */
static int choose(const counter *c, const csp_state *st, const part *p, bool any) {
  int best = -1, best_rules = -1;
  int64_t best_width = 0;
  for (int i = 0; i < p->n_vars; i++) {
    const int v = p->var[i];
    const int64_t wide = st->left[v].hi - st->left[v].lo;
    int rules = 0;
    if (!any && !c->follows[v]) continue;
    for (int k = 0; k < p->n_rules; k++)
      rules += csp_names(&c->s->rule[p->rule[k]], v);
    if (best >= 0 && (rules < best_rules || (rules == best_rules && wide >= best_width))) continue;
    best = v;
    best_rules = rules;
    best_width = wide;
  }
  return best;
}

static bool has_knob(const counter *c, const part *p) {
  for (int i = 0; i < p->n_vars; i++)
    if (c->follows[p->var[i]]) return true;
  return false;
}

/* Adds what the part has with v narrowed to lo .. hi. */
static void try_range(counter *c, csp_state *to, const csp_state *st, const part *p, int v,
                      csp_left range, csp_total *sum) {
  if (--c->steps < 0) {
    stop(c, CSP_GAVE_UP);
    return;
  }
  csp_state_copy(c->s, to, st);
  const bool in = range.lo == range.hi
                      ? csp_fix(c->s, to, v, range.lo)
                      : csp_narrow(c->s, to, v, range.lo, range.hi) && csp_propagate_all(c->s, to);
  if (in) c->too_many |= __builtin_add_overflow(*sum, count_below(c, to, p), sum);
}

static csp_total try_all(counter *c, const csp_state *st, const part *p) {
  const bool any = !has_knob(c, p);
  const int v = choose(c, st, p, any);
  int64_t *value = malloc(VALUES_MOST * sizeof *value);
  tf_arena *a = tf_arena_new();
  csp_state to;
  csp_total sum = 0;
  if (!value || !csp_state_new(c->s, a, &to)) {
    stop(c, CSP_NO_MEMORY);
  } else {
    const int n = values_of(c, st, p, v, value);
    const csp_left is = st->left[v];
    const int64_t mid = is.lo + (is.hi - is.lo) / 2;
    for (int k = 0; k < (n < 0 ? 2 : n) && c->trouble == CSP_FOUND && !(any && sum); k++)
      try_range(c, &to, st, p, v,
                n >= 0 ? (csp_left){value[k], value[k]}
                : k    ? (csp_left){mid + 1, is.hi}
                       : (csp_left){is.lo, mid},
                &sum);
  }
  free(value);
  tf_arena_free(a);
  return any && sum ? 1 : sum;
}

/* The number of a part none of whose variables is fixed. */
static csp_total count_part(counter *c, const csp_state *st, const part *p) {
  make_key(c, st, p);
  const kept *known = c->trouble == CSP_FOUND ? find_kept(c, c->key, c->key_size) : NULL;
  if (known) return known->n;
  kept *k = malloc(sizeof *k + c->key_size);
  if (!k || c->trouble != CSP_FOUND) {
    free(k);
    return stop(c, CSP_NO_MEMORY);
  }
  k->size = c->key_size;
  memcpy(k->key, c->key, c->key_size);
  k->n = try_all(c, st, p);
  const csp_total n = k->n;
  if (c->trouble == CSP_FOUND)
    keep_count(c, k);
  else
    free(k);
  return n;
}

/* The number of what is left of a part. */
static csp_total count_below(counter *c, const csp_state *st, const part *p) {
  if (c->trouble != CSP_FOUND || !fixed_rules_hold(c, st, p)) return 0;
  int *room = malloc(((size_t)p->n_vars + 2 * (size_t)p->n_rules + 1) * sizeof *room);
  part *parts = calloc((size_t)p->n_vars + 1, sizeof *parts);
  csp_total n = 1;
  int n_parts = 0;
  if (!room || !parts) {
    free(room);
    free(parts);
    return stop(c, CSP_NO_MEMORY);
  }
  for (int i = 0; i < p->n_vars; i++) {
    c->uses[p->var[i]] = c->free_of_rules[p->var[i]] = 0;
    c->group[p->var[i]] = p->var[i];
  }
  part live = {.n_vars = p->n_vars, .var = p->var, .rule = room};
  live.n_rules = live_rules(c, st, p, room);
  for (int i = 0; i < live.n_rules; i++)
    join(c, st, &c->s->rule[live.rule[i]]);
  int *at = room + live.n_rules;
  for (int i = 0; i < p->n_vars; i++) {
    const int v = p->var[i];
    if (!open_in(st, v) || c->free_of_rules[v]) continue;
    if (c->uses[v] == 0) n = times(c, n, width(c, st, v));
    if (c->uses[v] == 0 || root_of(c, v) != v) continue;
    parts[n_parts] = (part){.var = at};
    at = take_part(c, st, &live, v, &parts[n_parts++]);
  }
  for (int i = 0; i < n_parts && n; i++)
    n = times(c, n, count_part(c, st, &parts[i]));
  free(room);
  free(parts);
  return n;
}

/* ---- the whole ------------------------------------------------------------------------------ */
static csp_total count_all(counter *c, tf_arena *a) {
  const csp *s = c->s;
  csp_state st;
  part p = {.var = TF_ARRAY(a, int, (size_t)s->n_vars + 1),
            .rule = TF_ARRAY(a, int, (size_t)s->n_rules + 1)};
  if (!csp_state_new(s, a, &st) || !p.rule) return stop(c, CSP_NO_MEMORY);
  if (!csp_propagate_all(s, &st)) return 0;
  for (int v = 0; v < s->n_vars; v++)
    p.var[p.n_vars++] = v;
  for (int r = 0; r < s->n_rules; r++)
    p.rule[p.n_rules++] = r;
  return count_below(c, &st, &p);
}

csp_answer csp_count(const csp *s, bool knobs, int64_t steps, csp_total *out) {
  tf_arena *a = tf_arena_new();
  const size_t n = (size_t)s->n_vars + 1;
  counter c = {.s = s,
               .steps = steps,
               .trouble = CSP_FOUND,
               .follows = TF_ARRAY(a, bool, n),
               .uses = TF_ARRAY(a, int, n),
               .group = TF_ARRAY(a, int, n),
               .free_of_rules = TF_ARRAY(a, bool, n),
               .value = TF_ARRAY(a, int64_t, n),
               .n_slots = 1024};
  c.table = calloc(c.n_slots, sizeof *c.table);
  *out = 0;
  if (tf_arena_failed(a) || !c.table) {
    c.trouble = CSP_NO_MEMORY;
  } else {
    if (knobs) find_followers(&c);
    for (int v = 0; v < s->n_vars && !knobs; v++)
      c.follows[v] = true;
    *out = count_all(&c, a);
  }
  for (size_t i = 0; c.table && i < c.n_slots; i++)
    for (kept *k = c.table[i], *next; k; k = next) {
      next = k->next;
      free(k);
    }
  free(c.table);
  free(c.key);
  tf_arena_free(a);
  if (c.trouble != CSP_FOUND) return c.trouble;
  if (c.too_many) return CSP_GAVE_UP;
  return *out ? CSP_FOUND : CSP_NONE;
}

const char *csp_total_text(csp_total n, char out[CSP_TOTAL_TEXT]) {
  char *at = out + CSP_TOTAL_TEXT;
  *--at = '\0';
  do
    *--at = (char)('0' + (int)(n % 10));
  while (n /= 10);
  return at;
}
