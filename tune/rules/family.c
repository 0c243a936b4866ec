/* Which instructions compute an op, and their sizes as variables. */
#include <stdio.h>
#include <string.h>

#include "tune/rules/rules.h"

/* The first mapping that gives each loop of the instruction one loop of the op, which its size
 * divides; false: none does. */
static bool fits(const rules *r, const tf_instr *in, int dim[TF_INSTR_LOOPS],
                 bool sum[TF_INSTR_LOOPS]) {
  tf_diags *d = tf_diags_new();
  tf_instr_maps maps = {0};
  bool found = false;
  const int op = (int)(r->op - r->sys.wl->ops);
  if (d && tf_instr_find(r->sys.wl, op, in, false, &maps, d))
    for (int64_t m = 0; m < maps.n && !found; m++) {
      found = maps.maps[m].executable;
      for (int k = 0; k < in->n_loops && found; k++) {
        const uint64_t set = maps.maps[m].set[k];
        found = set && !(set & (set - 1));
        const int loop = found ? __builtin_ctzll(set) : 0;
        dim[k] = r->op->dims[loop];
        sum[k] = loop >= r->op->n_out_dims;
        found = found && r->sys.wl->dims[dim[k]].extent % in->size[k] == 0;
      }
    }
  tf_instr_maps_free(&maps);
  tf_diags_free(d);
  return found;
}

static bool same_but_sizes(const tf_instr *a, const tf_instr *b) {
  return a == b || (a->intrinsic && b->intrinsic && !strcmp(a->intrinsic, b->intrinsic) &&
                    a->n_loops == b->n_loops);
}

/* The memories between the outermost and the units that sources are read from. */
static void find_scopes(rule_family *f) {
  const tf_instr *in = f->instr[0];
  for (int l = 1; l < in->below; l++) {
    bool any = false;
    for (int k = 0; k + 1 < in->n_operands; k++)
      any |= in->operand[k].memory == l;
    if (any && f->n_scopes < RULE_SCOPES) f->scope[f->n_scopes++] = l;
  }
}

void rules_find_family(rules *r) {
  rule_family *f = &r->family;
  for (int i = 0; i < r->spec->n_instrs && f->n < RULE_FAMILY; i++) {
    int dim[TF_INSTR_LOOPS];
    bool sum[TF_INSTR_LOOPS];
    const tf_instr *in = &r->spec->instrs[i];
    if ((f->n && !same_but_sizes(f->instr[0], in)) ||
        !fits(r, in, f->n ? dim : f->dim, f->n ? sum : f->sum))
      continue;
    if (f->n && memcmp(dim, f->dim, (size_t)in->n_loops * sizeof *dim) != 0) continue;
    f->instr[f->n++] = in;
  }
  if (f->n) find_scopes(f);
}

/* ---- sizes ---------------------------------------------------------------------------------- */
/* The family's sizes of a loop, ascending, each once. */
static int sizes_of(const rule_family *f, int loop, int64_t out[RULE_FAMILY]) {
  int n = 0;
  for (int i = 0; i < f->n; i++) {
    int at = 0;
    const int64_t x = f->instr[i]->size[loop];
    while (at < n && out[at] < x)
      at++;
    if (at < n && out[at] == x) continue;
    memmove(&out[at + 1], &out[at], (size_t)(n - at) * sizeof *out);
    out[at] = x;
    n++;
  }
  return n;
}

/* What every call computes, in points; 0: not all the same. */
static int64_t points_of(const rule_family *f) {
  int64_t all = 0;
  for (int i = 0; i < f->n; i++) {
    int64_t points = 1;
    for (int k = 0; k < f->instr[i]->n_loops; k++)
      points *= f->instr[i]->size[k];
    if (i && points != all) return 0;
    all = points;
  }
  return all;
}

/* Whether sizes of the family, taken loop by loop, give as many points only where they are one of
 * its instructions: then the product says which there are. */
static bool product_says_all(const rule_family *f, int64_t points) {
  const int loops = f->instr[0]->n_loops;
  int64_t size[TF_INSTR_LOOPS][RULE_FAMILY], tuples = 1, right = 0;
  int n[TF_INSTR_LOOPS];
  for (int k = 0; k < loops; k++) {
    n[k] = sizes_of(f, k, size[k]);
    tuples *= n[k];
  }
  if (points == 0 || tuples > 1 << 20) return false;
  for (int64_t t = 0; t < tuples; t++) {
    int64_t all = 1, rest = t;
    for (int k = 0; k < loops; k++) {
      all *= size[k][rest % n[k]];
      rest /= n[k];
    }
    right += all == points;
  }
  return right == f->n;
}

/* "wmma" of "wmma::mma_sync". */
static void prefix_of(const tf_instr *in, rule_stage *out) {
  const char *name = in->intrinsic ? in->intrinsic : in->name;
  snprintf(out->name, sizeof out->name, "%.*s", (int)strcspn(name, ": ("), name);
}

/* A size with several values: a boolean for each, one of which is 1 and says which (IN). */
static void one_of(rules *r, const rule_stage *prefix, int loop, int n, const int64_t *value) {
  const int size = r->family.size[loop], one = rule_number(&r->sys, 1);
  int cand[RULE_FAMILY];
  for (int i = 0; i < n && !r->sys.bad; i++) {
    char what[RULE_NAME];
    snprintf(what, sizeof what, "_%.60s_cand%d", r->sys.wl->dims[r->family.dim[loop]].name, i);
    cand[i] = rule_range(&r->sys, prefix, what, false, 0, 1);
    rule_add(&r->sys, CSP_SELECT, size, 3, (int[]){cand[i], size, rule_number(&r->sys, value[i])});
  }
  rule_add(&r->sys, CSP_SUM, one, n, cand);
}

/* All sizes multiplied are the points of a call. */
static void multiply(rules *r, const rule_stage *prefix, int64_t points) {
  const rule_family *f = &r->family;
  char name[RULE_NAME], what[4 * RULE_NAME];
  int all = f->size[0];
  snprintf(name, sizeof name, "_%.40s", r->sys.wl->dims[f->dim[0]].name);
  for (int k = 1; k + 1 < f->instr[0]->n_loops && !r->sys.bad; k++) {
    snprintf(what, sizeof what, "%s_%s_%.40s", name, prefix->name, r->sys.wl->dims[f->dim[k]].name);
    r->sys.too_long |= strlen(what) >= sizeof name;
    r->sys.bad |= r->sys.too_long;
    if (r->sys.bad) return;
    memcpy(name, what, strlen(what) + 1);
    const int both = rule_range(&r->sys, prefix, name, false, 1, points);
    rule_add(&r->sys, CSP_PROD, both, 2, (int[]){all, f->size[k]});
    all = both;
  }
  rule_add(&r->sys, CSP_PROD, rule_number(&r->sys, points), 2,
           (int[]){all, f->size[f->instr[0]->n_loops - 1]});
}

/* Which instruction it is, where no product says so. */
static void choose(rules *r, const rule_stage *prefix) {
  const rule_family *f = &r->family;
  int list[RULE_FAMILY + 1] = {rule_range(&r->sys, prefix, "_call", true, 0, f->n - 1)};
  for (int k = 0; k < f->instr[0]->n_loops; k++) {
    for (int i = 0; i < f->n; i++)
      list[1 + i] = rule_number(&r->sys, f->instr[i]->size[k]);
    rule_add(&r->sys, CSP_SELECT, f->size[k], 1 + f->n, list);
  }
}

void rules_add_sizes(rules *r) {
  rule_family *f = &r->family;
  rule_stage prefix = {.n_axes = 0};
  const int64_t points = points_of(f);
  const bool product = f->instr[0]->n_loops > 1 && product_says_all(f, points);
  prefix_of(f->instr[0], &prefix);
  for (int k = 0; k < f->instr[0]->n_loops && !r->sys.bad; k++) {
    int64_t value[RULE_FAMILY];
    const int n = sizes_of(f, k, value);
    char what[RULE_NAME];
    snprintf(what, sizeof what, "_%.60s", r->sys.wl->dims[f->dim[k]].name);
    f->size[k] = rule_range(&r->sys, &prefix, what, n > 1 && product, value[0], value[n - 1]);
    if (n > 1 && product) one_of(r, &prefix, k, n, value);
  }
  if (f->n > 1 && product)
    multiply(r, &prefix, points);
  else if (f->n > 1)
    choose(r, &prefix);
}

void rules_call(rules *r, rule_stage *st) {
  const int loops = r->family.n ? r->family.instr[0]->n_loops : 0;
  for (int k = 0; k < st->n_axes; k++)
    for (int i = 0; i < loops; i++)
      if (r->family.dim[i] == st->axis[k].dim) {
        rule_split(&r->sys, st, k);
        rule_add(&r->sys, CSP_EQ, st->axis[k].var, 1, &r->family.size[i]);
      }
}
