/* The params of a sweep: lists, ranges by steps or factors, and zipped params. */
#include "sweep/section/over.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/names.h"

enum { FROM, TO, STEP, TIMES, N_RANGE };
static const double slack = 1e-9; /* relative to a step: `to` counts as reached despite rounding */

/* NAME, arch.NAME, workload.NAME */
static bool check_name(tf_reader *r, const tf_ynode *key) {
  static const char *const sections[] = {"arch.", "workload."};
  const char *name = key->text;
  for (size_t i = 0; i < 2; i++)
    if (!strncmp(name, sections[i], strlen(sections[i]))) name += strlen(sections[i]);
  if (tf_is_name(name, key->len - (size_t)(name - key->text), false)) return true;
  return tf_fail(r->diags, key->at, TF_E_SYNTAX,
                 "'%.60s' cannot name a param: NAME, arch.NAME or workload.NAME", key->text);
}

/* Columns of rows, of machines and of the store's view, beside those of goals.  SQL takes no notice
 * of case. */
static bool is_column(const char *name) {
  static const char *const columns[] = {
      "point",      "machine", "work",  "architecture", "workload", "mapping",    "state", "took",
      "held_words", "proved",  "evals", "bottleneck",   "message",  "mapping_of", "front", "gap"};
  static const char *const goals[] = {
#define X(id, key, column) column,
      TF_GOALS(X)
#undef X
  };
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
    if (!strcasecmp(name, columns[i])) return true;
  const size_t bound = strncasecmp(name, "bound_", 6) ? 0 : 6;
  for (int k = 0; k < TF_N_GOALS; k++)
    if (!strcasecmp(name + bound, goals[k])) return true;
  return false;
}

static bool check_column(tf_reader *r, const tf_ynode *key) {
  return !is_column(key->text) ||
         tf_fail(r->diags, key->at, TF_E_DUP,
                 "results have a column '%.60s' already: write arch.%.60s or workload.%.60s",
                 key->text, key->text, key->text);
}

static bool too_many(tf_reader *r, const tf_ynode *node) {
  return tf_fail(r->diags, node->at, TF_E_LIMIT, "more than %d values", SWEEP_MAX_VALUES);
}

static bool read_list(tf_reader *r, const tf_ynode *node, sweep_over *out) {
  bool ok = true;
  if (node->n == 0)
    return tf_fail(r->diags, node->at, TF_E_MISSING, "'%s' needs at least one value", out->name);
  if (node->n > SWEEP_MAX_VALUES) return too_many(r, node);
  out->values = TF_ARRAY(r->arena, double, node->n);
  if (!out->values) return tf_no_memory(r);
  for (size_t i = 0; i < node->n; i++) {
    tf_value v;
    if (!tf_read_value(r, node->items[i], out->name, &v)) {
      ok = false;
      continue;
    }
    for (int k = 0; k < out->n && out->n < 1000; k++) /* longer lists are written by programs */
      if (out->values[k] == v.f)
        ok = tf_fail(r->diags, node->items[i]->at, TF_E_DUP, "value %.17g given twice", v.f);
    out->values[out->n++] = v.f;
  }
  return ok;
}

static double value_at(const tf_value v[N_RANGE], bool times, int64_t i) {
  return times ? v[FROM].f * pow(v[TIMES].f, (double)i) : v[FROM].f + (double)i * v[STEP].f;
}

/* from .. to by steps or factors: errors are reported at the key that causes them. */
static bool check_range(tf_reader *r, const tf_ynode *const n[N_RANGE], const tf_value v[N_RANGE]) {
  bool ok = true;
  if (n[STEP] && !(v[STEP].f > 0))
    ok = tf_fail(r->diags, n[STEP]->at, TF_E_RANGE, "'step' is %g, must be more than 0", v[STEP].f);
  if (n[TIMES] && !(v[TIMES].f > 1))
    ok = tf_fail(r->diags, n[TIMES]->at, TF_E_RANGE, "'times' is %g, must be more than 1",
                 v[TIMES].f);
  if (n[TIMES] && !(v[FROM].f > 0))
    ok = tf_fail(r->diags, n[FROM]->at, TF_E_RANGE,
                 "'from' is %g, must be more than 0 where 'times' multiplies it", v[FROM].f);
  if (v[TO].f < v[FROM].f)
    ok = tf_fail(r->diags, n[TO]->at, TF_E_RANGE, "'to' is %g, must not be below 'from', %g",
                 v[TO].f, v[FROM].f);
  return ok;
}

static bool read_range(tf_reader *r, const tf_ynode *node, sweep_over *out) {
  static const tf_yrow keys[N_RANGE] = {[FROM] = {"from", TF_Y_SCALAR, true},
                                        [TO] = {"to", TF_Y_SCALAR, true},
                                        [STEP] = {"step", TF_Y_SCALAR, false},
                                        [TIMES] = {"times", TF_Y_SCALAR, false}};
  const tf_ynode *n[N_RANGE];
  tf_value v[N_RANGE];
  bool ok = tf_yschema_check(node, keys, N_RANGE, "a range", n, r->diags);
  for (int k = 0; k < N_RANGE; k++)
    if (n[k]) ok = tf_read_value(r, n[k], keys[k].key, &v[k]) && ok;
  if (ok && !n[STEP] == !n[TIMES])
    ok = tf_fail(r->diags, node->at, n[STEP] ? TF_E_DUP : TF_E_MISSING,
                 "a range needs 'step' or 'times'%s", n[STEP] ? ", not both" : "");
  if (!ok || !check_range(r, n, v)) return false;
  bool times = n[TIMES] != NULL;
  double steps =
      times ? log(v[TO].f / v[FROM].f) / log(v[TIMES].f) : (v[TO].f - v[FROM].f) / v[STEP].f;
  if (!(steps < SWEEP_MAX_VALUES)) return too_many(r, node);
  out->n = (int)floor(steps + slack) + 1;
  out->values = TF_ARRAY(r->arena, double, (size_t)out->n);
  if (!out->values) return tf_no_memory(r);
  for (int i = 0; i < out->n; i++)
    out->values[i] = value_at(v, times, i);
  return true;
}

static bool read_one(tf_reader *r, const tf_ypair *p, sweep_over *out) {
  out->name = p->key->text;
  out->at = p->key->at;
  bool ok = check_name(r, p->key) && check_column(r, p->key);
  if (!tf_yschema_kind(p->value, TF_Y_LIST | TF_Y_MAP, out->name, r->diags)) return false;
  return (p->value->kind == TF_Y_LIST ? read_list(r, p->value, out)
                                      : read_range(r, p->value, out)) &&
         ok;
}

/* ---- zip ---------------------------------------------------------------------------------- */
static int find_axis(tf_reader *r, const tf_ynode *node, const sweep_section *s) {
  char hint[80];
  tf_near near = tf_near_start(node->text, node->len);
  for (int i = 0; i < s->n_over; i++) {
    if (tf_ynode_is(node, s->over[i].name)) return i;
    tf_near_offer(&near, s->over[i].name);
  }
  tf_fail(r->diags, node->at, TF_E_NAME, "'over' has no param '%.60s'%s", node->text,
          tf_near_text(&near, hint, sizeof hint));
  return -1;
}

/* Zips the params of one list, at the position of the first. */
static bool join(tf_reader *r, const tf_ynode *list, bool *zipped, sweep_section *out) {
  int first = -1;
  bool ok = true;
  if (list->n < 2)
    return tf_fail(r->diags, list->at, TF_E_MISSING, "'zip' needs two params or more");
  for (size_t i = 0; i < list->n; i++) {
    const tf_ynode *node = list->items[i];
    int k = tf_yschema_kind(node, TF_Y_SCALAR, "a param of zip", r->diags) ? find_axis(r, node, out)
                                                                           : -1;
    ok = ok && k >= 0;
    if (k < 0) continue;
    if (zipped[k]) {
      ok = tf_fail(r->diags, node->at, TF_E_DUP, "'%s' is zipped already", node->text);
      continue;
    }
    zipped[k] = true;
    if (first < 0) first = k;
    if (out->over[k].n != out->over[first].n)
      ok = tf_fail(r->diags, node->at, TF_E_RANGE,
                   "'%s' has %d values, '%s' %d: zipped params have as many", out->over[k].name,
                   out->over[k].n, out->over[first].name, out->over[first].n);
    out->over[k].zip = first;
  }
  return ok;
}

static bool read_zip(tf_reader *r, const tf_ynode *zip, sweep_section *out) {
  bool *zipped = TF_ARRAY(r->arena, bool, (size_t)out->n_over + 1), ok = true;
  if (!zipped) return tf_no_memory(r);
  if (zip->n == 0 || zip->items[0]->kind != TF_Y_LIST) return join(r, zip, zipped, out);
  for (size_t i = 0; i < zip->n; i++)
    ok = tf_yschema_kind(zip->items[i], TF_Y_LIST, "a list of zip", r->diags) &&
         join(r, zip->items[i], zipped, out) && ok;
  return ok;
}

bool sweep_zip_read(tf_reader *r, const tf_ynode *zip, sweep_section *out) {
  return !zip || !out->over_is_whole || read_zip(r, zip, out);
}

bool sweep_over_read(tf_reader *r, const tf_ynode *over, sweep_section *out) {
  bool ok = true;
  if (over && over->n > TF_SWEEP_AXES)
    return tf_fail(r->diags, over->at, TF_E_LIMIT, "%zu params, at most %d", over->n,
                   TF_SWEEP_AXES);
  out->over = TF_ARRAY(r->arena, sweep_over, over ? over->n + 1 : 1);
  if (!out->over) return tf_no_memory(r);
  for (size_t i = 0; over && i < over->n; i++) {
    out->over[i].zip = out->n_over++;
    ok = read_one(r, &over->pairs[i], &out->over[i]) && ok;
  }
  out->over_is_whole = ok;
  return ok;
}
