/* The facts that identify a sweep: a store records them, and cannot be used for a sweep with
 * others. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sweep/grid/grid.h"
#include "tileflow/version.h"

static char *text_of(tf_arena *a, const char *fmt, ...) TF_PRINTF(2, 3);
static char *text_of(tf_arena *a, const char *fmt, ...) {
  va_list args, again;
  va_start(args, fmt);
  va_copy(again, args);
  int n = vsnprintf(NULL, 0, fmt, args);
  char *out = n < 0 ? NULL : tf_arena_alloc(a, (size_t)n + 1);
  if (out) vsnprintf(out, (size_t)n + 1, fmt, again);
  va_end(again);
  va_end(args);
  return out;
}

static bool add_fact(tf_sweep *s, const char *key, const char *value) {
  if (!key || !value) return false;
  s->facts[s->n_facts++] = (sweep_fact){key, value};
  return true;
}

static char *values_text(tf_arena *a, const sweep_over *o) {
  enum { ROOM = 26 };
  char *out = tf_arena_alloc(a, (size_t)o->n * ROOM + 1), *to = out;
  for (int i = 0; out && i < o->n; i++)
    to += snprintf(to, ROOM + 1, "%s%.17g", i ? ", " : "", o->values[i]);
  return out;
}

static char *goals_text(tf_arena *a, const tf_sweep_grid *g) {
  char *out = text_of(a, "%s", tf_goal_key((int)g->goals[0]));
  for (int i = 1; out && i < g->n_goals; i++)
    out = text_of(a, "%s, %s", out, tf_goal_key((int)g->goals[i]));
  return out;
}

bool sweep_facts(tf_sweep *s) {
  const sweep_section *c = &s->section;
  tf_arena *a = s->arena;
  s->facts = TF_ARRAY(a, sweep_fact, (size_t)c->n_over * 2 + (size_t)c->n_where + s->n_set + 16);
  bool ok = s->facts && add_fact(s, "tileflow", TILEFLOW_VERSION) && add_fact(s, "name", c->name) &&
            add_fact(s, "method", tf_sweep_method_key((int)c->method)) &&
            add_fact(s, "objectives", goals_text(a, &s->grid)) &&
            add_fact(s, "score", c->geometric ? "geometric-mean" : "sum") &&
            add_fact(s, "seed", text_of(a, "%" PRIu64, c->seed)) &&
            add_fact(s, "budget.evals", text_of(a, "%" PRId64, c->evals)) &&
            add_fact(s, "counts", c->counts ? "true" : "false");
  if (ok && c->within > 0) ok = add_fact(s, "within", text_of(a, "%.17g", c->within));
  for (int i = 0; ok && i < c->n_over; i++) {
    ok = add_fact(s, text_of(a, "over.%s", c->over[i].name), values_text(a, &c->over[i]));
    if (ok && c->over[i].zip != i)
      ok = add_fact(s, text_of(a, "zip.%s", c->over[i].name), c->over[c->over[i].zip].name);
  }
  for (int i = 0; ok && i < c->n_where; i++)
    ok = add_fact(s, text_of(a, "where.%d", i + 1), c->where[i].text);
  if (ok && c->n_where) ok = add_fact(s, SWEEP_PASSING, text_of(a, "%" PRId64, s->grid.n_passing));
  for (size_t i = 0; ok && i < s->n_set; i++)
    ok = add_fact(s, text_of(a, "set.%s", s->set[i].name), s->set[i].value);
  return ok;
}
