/* Primitives: what each adds to the system. */
#include "tune/rules/rules_stage.h"

#include <stdio.h>
#include <string.h>

/* Heron's range of a fused loop; longer where the extents need it. */
#define FUSED_MOST INT64_C(1000000)

static int checked(rule_system *r, int v) {
  r->bad |= v < 0;
  return v < 0 ? 0 : v;
}

void rule_add(rule_system *r, csp_kind kind, int v, int n, const int *list) {
  if (!r->bad) r->bad = !csp_add(r->s, kind, v, n, list);
}

int rule_number(rule_system *r, int64_t value) { return checked(r, csp_number(r->s, value)); }

/* A name from two parts. */
static void name_of(rule_system *r, char out[RULE_NAME], const char *a, const char *b) {
  const int n = snprintf(out, RULE_NAME, "%s%s", a, b);
  r->too_long |= n < 0 || n >= RULE_NAME;
  r->bad |= r->too_long;
}

int rule_range(rule_system *r, const rule_stage *of, const char *what, bool knob, int64_t lo,
               int64_t hi) {
  char name[RULE_NAME];
  name_of(r, name, of->name, what);
  return r->bad ? 0 : checked(r, csp_range(r->s, name, knob, lo, hi));
}

/* "STAGE_AXIS". */
static int axis_var(rule_system *r, const rule_stage *st, const char *axis, int64_t most) {
  char what[RULE_NAME];
  name_of(r, what, "_", axis);
  return r->bad ? 0 : rule_range(r, st, what, false, 1, most);
}

static int64_t extent(const rule_system *r, const rule_axis *x) {
  return r->wl->dims[x->dim].extent;
}

void rule_axis_new(rule_system *r, rule_stage *st, int dim, bool sum, bool copy) {
  if (st->n_axes == RULE_AXES) {
    r->bad = true;
    return;
  }
  rule_axis *x = &st->axis[st->n_axes++];
  *x = (rule_axis){.dim = dim, .sum = sum};
  name_of(r, x->name, r->wl->dims[dim].name, copy && !sum ? ".c" : "");
  x->var = axis_var(r, st, x->name, extent(r, x));
}

void rule_whole(rule_system *r, const rule_axis *x) {
  const int all = rule_number(r, extent(r, x));
  rule_add(r, CSP_EQ, x->var, 1, &all);
}

int rule_split(rule_system *r, rule_stage *st, int axis) {
  rule_axis *x = &st->axis[axis];
  char outer[RULE_NAME], inner[RULE_NAME];
  name_of(r, outer, x->name, ".outer");
  name_of(r, inner, x->name, ".inner");
  const int part[] = {axis_var(r, st, outer, extent(r, x)), axis_var(r, st, inner, extent(r, x))};
  rule_add(r, CSP_PROD, x->var, 2, part);
  r->n_splits++;
  x->var = part[1];
  memcpy(x->name, inner, sizeof inner);
  return part[0];
}

static void add_place(rule_system *r, rule_stage *st) {
  if (st->n_places == RULE_PLACES) {
    r->bad = true;
    return;
  }
  for (int k = 0; k < st->n_axes; k++)
    st->left[st->n_places][k] = st->axis[k].var;
  st->n_places++;
}

void rule_innermost(rule_system *r, rule_stage *st) {
  add_place(r, st);
  for (int k = 0; k < st->n_axes && !r->bad; k++)
    st->left[st->n_places - 1][k] = rule_number(r, 1);
}

/* One loop of two, as long as both together; it has a number for a name where that of both is too
 * long. */
static int fuse(rule_system *r, const rule_stage *st, char name[RULE_NAME], int var,
                const char *other, int by) {
  char both[2 * RULE_NAME + 8];
  const size_t n =
      strlen(name) - (strlen(name) > 6 && !strcmp(name + strlen(name) - 6, ".fused") ? 6 : 0);
  snprintf(both, sizeof both, "%.*s.%s.fused", (int)n, name, other);
  if (strlen(st->name) + 1 + strlen(both) >= RULE_NAME)
    snprintf(both, sizeof both, "loop%d.fused", r->n_fused);
  name_of(r, name, both, "");
  const csp_var *a = &r->s->var[var], *b = &r->s->var[by];
  int64_t most;
  if (__builtin_mul_overflow(a->hi, b->hi, &most) || most > CSP_MOST / 16) most = CSP_MOST / 16;
  const int out = axis_var(r, st, name, most > FUSED_MOST ? most : FUSED_MOST);
  rule_add(r, CSP_PROD, out, 2, (int[]){var, by});
  r->n_fused++;
  return out;
}

int rule_band(rule_system *r, rule_stage *st, bool sums, bool fused) {
  char all[RULE_NAME] = "";
  int one = -1;
  for (int k = 0; k < st->n_axes && !r->bad; k++) {
    char outer[RULE_NAME];
    if (st->axis[k].sum && !sums) continue;
    name_of(r, outer, st->axis[k].name, ".outer");
    const int v = rule_split(r, st, k);
    if (!fused || r->bad) continue;
    if (one < 0) memcpy(all, outer, sizeof all);
    one = one < 0 ? v : fuse(r, st, all, one, outer, v);
  }
  add_place(r, st);
  return one;
}

int rule_position(rule_system *r, const rule_stage *in, const char *scope) {
  char what[RULE_NAME];
  snprintf(what, sizeof what, "_%.60s_pos", scope);
  return rule_range(r, in, what, true, 0, 10);
}

/* A boolean for each place, one of which is 1: that of the position.  Stages that have a position
 * in common share them. */
static void select_one(rule_system *r, const rule_stage *in, int position) {
  const char *name = r->s->var[position].name;
  int list[RULE_PLACES + 1], n = 0;
  int64_t value[RULE_PLACES];
  char select[RULE_NAME + 8]; /* a name cut at 80, _select, any int */
  snprintf(select, sizeof select, "%.80s_select0", name);
  if (csp_find(r->s, select, strlen(select)) >= 0) return;
  list[n++] = position;
  for (int k = 0; k < in->n_places && !r->bad; k++) {
    snprintf(select, sizeof select, "%.80s_select%d", name, k);
    value[k] = k;
    list[n++] = checked(r, csp_range(r->s, select, false, 0, 1));
  }
  r->bad |= !csp_in(r->s, position, in->n_places, value);
  const int one = rule_number(r, 1);
  rule_add(r, CSP_SUM, one, n - 1, list + 1);
  rule_add(r, CSP_SELECT, one, n, list);
}

void rule_compute_at(rule_system *r, rule_stage *st, const rule_stage *in, int position) {
  if (r->bad) return;
  select_one(r, in, position);
  for (int k = 0; k < st->n_axes && !r->bad; k++) {
    int list[RULE_PLACES + 1] = {position}, at = 0;
    while (at < in->n_axes && in->axis[at].dim != st->axis[k].dim)
      at++;
    for (int p = 0; at < in->n_axes && p < in->n_places; p++)
      list[1 + p] = in->left[p][at];
    if (at < in->n_axes)
      rule_add(r, CSP_SELECT, st->axis[k].var, 1 + in->n_places, list);
    else
      rule_whole(r, &st->axis[k]);
  }
}

int rule_tile_knob(rule_system *r, const rule_stage *st, const char *what) {
  int64_t value[CSP_SET_MAX], longest = 1;
  char name[RULE_NAME];
  for (int k = 0; k < st->n_axes; k++)
    if (extent(r, &st->axis[k]) > longest) longest = extent(r, &st->axis[k]);
  name_of(r, name, st->name, what);
  return r->bad ? 0
                : checked(r, csp_set(r->s, name, true, csp_divisors(longest, CSP_SET_MAX, value),
                                     value));
}
