/* Reads the section `sweep`: its keys, and the lists of files.  Params: over.c. */
#include "sweep/section/section.h"

#include <math.h>
#include <string.h>

#include "base/names.h"
#include "sweep/section/over.h"

const char *tf_sweep_method_key(int method) {
  static const char *const keys[] = {TF_SWEEP_METHODS(TF_NAME_ROW)};
  return method >= 0 && method < TF_N_SWEEP_METHODS ? keys[method] : NULL;
}

const char *tf_goal_key(int goal) {
  static const char *const keys[] = {TF_GOALS(TF_NAME_ROW)};
  return goal >= 0 && goal < TF_N_GOALS ? keys[goal] : NULL;
}

const char *tf_goal_column(int goal) {
  static const char *const columns[] = {
#define X(id, key, column) column,
      TF_GOALS(X)
#undef X
  };
  return goal >= 0 && goal < TF_N_GOALS ? columns[goal] : NULL;
}

const char *tf_point_state_key(int state) {
  static const char *const keys[] = {TF_POINT_STATES(TF_NAME_ROW)};
  return state >= 0 && state < TF_N_POINT_STATES ? keys[state] : NULL;
}

static const char *score_key(int k) {
  static const char *const keys[] = {"sum", "geometric-mean"};
  return k < 2 ? keys[k] : NULL;
}

/* The index of a word in what key(k) lists; -1 with an error. */
static int read_word(tf_reader *r, const tf_ynode *node, const char *what,
                     const char *(*key)(int k)) {
  char hint[80];
  tf_near near = tf_near_start(node->text, node->len);
  for (int k = 0; key(k); k++) {
    if (tf_ynode_is(node, key(k))) return k;
    tf_near_offer(&near, key(k));
  }
  tf_fail(r->diags, node->at, TF_E_NAME, "no %s '%.40s'%s", what, node->text,
          tf_near_text(&near, hint, sizeof hint));
  return -1;
}

/* ---- lists ------------------------------------------------------------------------------- */
/* One value, or a list: its items. */
static size_t count(const tf_ynode *node) { return node->kind == TF_Y_LIST ? node->n : 1; }
static const tf_ynode *item(const tf_ynode *node, size_t i) {
  return node->kind == TF_Y_LIST ? node->items[i] : node;
}

static bool read_path(tf_reader *r, const tf_ynode *node, const char *what, sweep_pattern *out) {
  out->at = node->at;
  out->text = node->text;
  if (!tf_yschema_kind(node, TF_Y_SCALAR, what, r->diags)) return false;
  return (node->len > 0 && strlen(node->text) == node->len) ||
         tf_fail(r->diags, node->at, TF_E_SYNTAX, "%s needs a path", what);
}

/* {files: g*.yaml, weight: 3} */
static bool read_weighed(tf_reader *r, const tf_ynode *node, sweep_pattern *out) {
  static const tf_yrow keys[] = {{"files", TF_Y_SCALAR, true}, {"weight", TF_Y_SCALAR, true}};
  const tf_ynode *v[2];
  tf_value weight;
  bool ok = tf_yschema_check(node, keys, 2, "a workload of a sweep", v, r->diags);
  if (v[0]) ok = read_path(r, v[0], "files", out) && ok;
  if (!v[1] || !tf_read_value(r, v[1], "weight", &weight)) return false;
  out->weight = weight.f;
  if (!(weight.f > 0))
    tf_fail(r->diags, v[1]->at, TF_E_RANGE, "'weight' is %g, must be more than 0", weight.f);
  return ok && weight.f > 0;
}

static bool read_patterns(tf_reader *r, const tf_ynode *node, bool weighed, sweep_patterns *out) {
  if (!node) return true;
  size_t n = count(node);
  bool ok = true;
  out->key = node->at;
  out->pattern = TF_ARRAY(r->arena, sweep_pattern, n + 1);
  if (!out->pattern) return tf_no_memory(r);
  if (n == 0) return tf_fail(r->diags, node->at, TF_E_MISSING, "at least one file is needed");
  for (size_t i = 0; i < n; i++) {
    sweep_pattern *p = &out->pattern[out->n++];
    const tf_ynode *one = item(node, i);
    p->weight = 1;
    ok = (weighed && one->kind == TF_Y_MAP ? read_weighed(r, one, p)
                                           : read_path(r, one, "a file", p)) &&
         ok;
  }
  return ok;
}

static bool read_where(tf_reader *r, const tf_ynode *node, sweep_section *out) {
  if (!node) return true;
  const char **names = TF_ARRAY(r->arena, const char *, (size_t)out->n_over + 1);
  out->where = TF_ARRAY(r->arena, sweep_where, count(node) + 1);
  if (!names || !out->where) return tf_no_memory(r);
  for (int i = 0; i < out->n_over; i++)
    names[i] = out->over[i].name;
  const sweep_names known = {out->n_over, names, NULL};
  bool ok = true;
  for (size_t i = 0; i < count(node); i++) {
    const tf_ynode *one = item(node, i);
    sweep_where w = {sweep_expr_read(r, one, &known), one->text, one->at};
    if (w.expr) out->where[out->n_where++] = w;
    ok = w.expr && ok;
  }
  return ok;
}

/* ---- what is looked for, and how --------------------------------------------------------- */
static bool read_goals(tf_reader *r, const tf_ynode *node, sweep_section *out) {
  static const tf_goal unless_said[] = {TF_GOAL_CYCLES, TF_GOAL_ENERGY, TF_GOAL_AREA};
  bool ok = true, mapped = false;
  if (!node) {
    memcpy(out->goals, unless_said, sizeof unless_said);
    out->n_goals = 3;
    return true;
  }
  for (size_t i = 0; i < count(node); i++) {
    const tf_ynode *one = item(node, i);
    int goal = tf_yschema_kind(one, TF_Y_SCALAR, "an objective", r->diags)
                   ? read_word(r, one, "objective", tf_goal_key)
                   : -1;
    bool twice = false;
    for (int k = 0; k < out->n_goals; k++)
      twice |= goal == (int)out->goals[k];
    if (twice) tf_fail(r->diags, one->at, TF_E_DUP, "objective '%s' given twice", one->text);
    ok = ok && goal >= 0 && !twice;
    if (goal >= 0 && !twice) out->goals[out->n_goals++] = (tf_goal)goal;
    mapped |= goal >= 0 && goal != TF_GOAL_AREA;
  }
  if (!ok || mapped) return ok;
  return tf_fail(r->diags, node->at, TF_E_MISSING,
                 "one of the objectives must be one of mappings: cycles, energy, ...");
}

static bool read_budget(tf_reader *r, const tf_ynode *node, sweep_section *out) {
  static const tf_yrow keys[] = {{"evals", TF_Y_SCALAR, true}};
  const tf_ynode *v[1];
  if (!node) return true;
  bool ok = tf_yschema_check(node, keys, 1, "a budget", v, r->diags);
  if (v[0]) ok = tf_read_int(r, v[0], "evals", 1, INT64_MAX, &out->evals) && ok;
  return ok;
}

static bool read_method(tf_reader *r, const tf_ynode *node, sweep_section *out) {
  if (!node) return false; /* tf_yschema_check has said so */
  int k = read_word(r, node, "method", tf_sweep_method_key);
  out->method = k < 0 ? TF_SWEEP_BOUND : (tf_sweep_method)k;
  out->method_at = node->at;
  return k >= 0;
}

static bool read_score(tf_reader *r, const tf_ynode *node, sweep_section *out) {
  int k = node ? read_word(r, node, "score", score_key) : 0;
  out->geometric = k == 1;
  return k >= 0;
}

static bool read_within(tf_reader *r, const tf_ynode *node, sweep_section *out) {
  tf_value v;
  if (!node) return true;
  if (!tf_read_value(r, node, "within", &v)) return false;
  out->within = v.f;
  return (v.f >= 0 && v.f < 1) ||
         tf_fail(r->diags, node->at, TF_E_RANGE,
                 "'within' is %g, must be at least 0 and below 1: 0.01 is a hundredth", v.f);
}

static bool read_seed(tf_reader *r, const tf_ynode *node, sweep_section *out) {
  int64_t seed = 1;
  bool ok = !node || tf_read_int(r, node, "seed", 0, INT64_MAX, &seed);
  out->seed = (uint64_t)seed;
  return ok;
}

static bool read_name(tf_reader *r, const tf_ynode *node, sweep_section *out) {
  if (node) out->name = tf_read_title(r, node);
  return out->name != NULL;
}

static bool read_archs(tf_reader *r, const tf_ynode *node, sweep_section *out) {
  return read_patterns(r, node, false, &out->archs);
}

static bool read_workloads(tf_reader *r, const tf_ynode *node, sweep_section *out) {
  return read_patterns(r, node, true, &out->workloads);
}

static bool read_mappings(tf_reader *r, const tf_ynode *node, sweep_section *out) {
  return read_patterns(r, node, false, &out->mappings);
}

static bool read_counts(tf_reader *r, const tf_ynode *node, sweep_section *out) {
  out->counts = out->method != TF_SWEEP_BOUND;
  return !node || tf_read_bool(r, node, "counts", &out->counts);
}

/* ---- the table of fields ------------------------------------------------------------------ */
/* Read in this order, whether they are given or not: node is NULL then. */
static const struct {
  tf_yrow key;
  bool (*read)(tf_reader *r, const tf_ynode *node, sweep_section *out);
} fields[] = {{{"name", TF_Y_SCALAR, false}, read_name},
              {{"method", TF_Y_SCALAR, true}, read_method},
              {{"architectures", TF_Y_SCALAR | TF_Y_LIST, false}, read_archs},
              {{"workloads", TF_Y_SCALAR | TF_Y_LIST, false}, read_workloads},
              {{"mappings", TF_Y_SCALAR | TF_Y_LIST, false}, read_mappings},
              {{"over", TF_Y_MAP, false}, sweep_over_read},
              {{"zip", TF_Y_LIST, false}, sweep_zip_read},
              {{"where", TF_Y_SCALAR | TF_Y_LIST, false}, read_where},
              {{"objectives", TF_Y_SCALAR | TF_Y_LIST, false}, read_goals},
              {{"score", TF_Y_SCALAR, false}, read_score},
              {{"budget", TF_Y_MAP, false}, read_budget},
              {{"within", TF_Y_SCALAR, false}, read_within},
              {{"seed", TF_Y_SCALAR, false}, read_seed},
              {{"counts", TF_Y_SCALAR, false}, read_counts}};
enum { N_FIELDS = sizeof fields / sizeof fields[0] };

bool sweep_section_read(tf_reader *r, const tf_ynode *node, sweep_section *out) {
  const tf_ynode *v[N_FIELDS];
  tf_yrow rows[N_FIELDS];
  *out = (sweep_section){.name = "sweep", .at = node->at, .seed = 1};
  for (int i = 0; i < N_FIELDS; i++)
    rows[i] = fields[i].key;
  bool ok = tf_yschema_check(node, rows, N_FIELDS, "a sweep", v, r->diags);
  for (int i = 0; i < N_FIELDS; i++)
    ok = fields[i].read(r, v[i], out) && ok;
  if (ok && out->mappings.n && out->method != TF_SWEEP_EVAL)
    ok = tf_fail(r->diags, out->mappings.key, TF_E_KEY,
                 "'mappings' are for the method eval, not for %s",
                 tf_sweep_method_key((int)out->method));
  return ok;
}
