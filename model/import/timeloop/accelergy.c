/* Accelergy's tables: energy of actions (ERT) and areas (ART), as its files and their summaries
 * write them. */
#include <string.h>

#include "model/import/timeloop/timeloop.h"

/* "system.PE[0..3].buffer[0..1]" names the level "buffer". */
static tl_level *level_named(tl_case *c, const tf_ynode *name) {
  const char *s = name->text, *end = s + name->len, *start = s;
  int brackets = 0;
  for (const char *p = s; p < end; p++) {
    brackets += (*p == '[') - (*p == ']');
    if (*p == '.' && brackets == 0) start = p + 1;
  }
  size_t n = strcspn(start, "[");
  for (int i = 0; i < c->n_levels; i++)
    if (strlen(c->level[i].name) == n && !memcmp(c->level[i].name, start, n)) return &c->level[i];
  return NULL;
}

/* `energy` of an action, in pJ; 0.2's summaries give average, max, min. */
static bool read_energy(tl_case *c, const tf_ynode *node, double *out) {
  const tf_ynode *most = node->kind == TF_Y_MAP ? tf_ymap_get(node, "max") : node;
  if (!most)
    return tf_fail(c->diags, node->at, TF_E_MISSING, "an energy of several values needs 'max'");
  return tl_amount(c, most, "energy", out);
}

/* Of actions that are given for several arguments the dearest counts: Timeloop counts actions
 * without arguments. */
static void keep_dearest(double *energy, double pj) {
  if (*energy < pj) *energy = pj;
}

static bool read_action(tl_case *c, const tf_ynode *node, tl_level *l, double *update) {
  static const tf_yrow rows[] = {{"name", TF_Y_SCALAR, true},
                                 {"energy", TF_Y_SCALAR | TF_Y_MAP, true},
                                 {"arguments", 0, false}};
  const tf_ynode *v[3];
  double pj;
  if (!tf_yschema_kind(node, TF_Y_MAP, "an action", c->diags) ||
      !tf_yschema_check(node, rows, 3, "an action", v, c->diags) || !read_energy(c, v[1], &pj))
    return false;
  bool compute = l->kind == TL_COMPUTE, both = tf_ynode_is(v[0], "access");
  static const char *const point[] = {"compute",     "mac",      "mac_random",
                                      "mult_random", "multiply", "access"};
  if (!compute && tf_ynode_is(v[0], "leak")) {
    keep_dearest(&l->leak_pj, pj);
    return true;
  }
  if (!compute && (tf_ynode_is(v[0], "metadata_read") || tf_ynode_is(v[0], "metadata_write") ||
                   tf_ynode_is(v[0], "metadata_update"))) {
    keep_dearest(tf_ynode_is(v[0], "metadata_read") ? &l->entry_read_pj : &l->entry_write_pj, pj);
    return true;
  }
  if (l->own_energy) return true;
  if (compute) {
    for (size_t i = 0; i < sizeof point / sizeof point[0]; i++)
      if (tf_ynode_is(v[0], point[i])) {
        keep_dearest(&l->read_pj, pj);
        return true;
      }
  } else if (both || tf_ynode_is(v[0], "read") || tf_ynode_is(v[0], "write")) {
    if (!tf_ynode_is(v[0], "write")) keep_dearest(&l->read_pj, pj / (double)l->block);
    if (!tf_ynode_is(v[0], "read")) keep_dearest(&l->write_pj, pj / (double)l->block);
    return true;
  } else if (tf_ynode_is(v[0], "update")) {
    keep_dearest(update, pj / (double)l->block);
    return true;
  }
  if (pj > 0) tl_fold(c, TL_ACTIONS, v[0]->at, "%.40s of %.40s (%g pJ)", v[0]->text, l->name, pj);
  return true;
}

static bool read_table(tl_case *c, const tf_ynode *node) {
  static const tf_yrow rows[] = {{"name", TF_Y_SCALAR, true},
                                 {"actions", TF_Y_LIST, true},
                                 {"primitive_estimation(s)", 0, false},
                                 {"primitive_estimations", 0, false}};
  const tf_ynode *v[4];
  double update = -1;
  bool ok = true;
  if (!tf_yschema_kind(node, TF_Y_MAP, "a table", c->diags) ||
      !tf_yschema_check(node, rows, 4, "a table of energies", v, c->diags))
    return false;
  tl_level *l = level_named(c, v[0]);
  if (!l)
    tl_fold(c, TL_ACTIONS, v[0]->at, "all of %.60s, which is no memory or unit here", v[0]->text);
  if (l && !l->own_energy) l->read_pj = l->write_pj = -1;
  for (size_t i = 0; l && i < v[1]->n; i++)
    ok &= read_action(c, v[1]->items[i], l, &update);
  if (!ok || !l || l->kind == TL_COMPUTE || l->own_energy) return ok;
  if (l->write_pj < 0)
    l->write_pj = update;
  else if (update >= 0 && (update < l->write_pj || update > l->write_pj))
    tl_lost(c, node->at,
            "not modelled: an update of %.40s takes %.10g pJ, here %.10g pJ as a write", l->name,
            update, l->write_pj);
  if (l->read_pj < 0 && l->write_pj >= 0)
    return tf_fail(c->diags, node->at, TF_E_MISSING, "the table of '%.40s' has no action 'read'",
                   l->name);
  if (l->write_pj < 0 && l->read_pj >= 0) l->write_pj = l->read_pj;
  return true;
}

static bool read_area(tl_case *c, const tf_ynode *node) {
  static const tf_yrow rows[] = {{"name", TF_Y_SCALAR, true},
                                 {"area", TF_Y_SCALAR, true},
                                 {"primitive_estimation(s)", 0, false},
                                 {"primitive_estimations", 0, false}};
  const tf_ynode *v[4];
  double area;
  if (!tf_yschema_kind(node, TF_Y_MAP, "a table", c->diags) ||
      !tf_yschema_check(node, rows, 4, "a table of areas", v, c->diags) ||
      !tl_amount(c, v[1], "area", &area))
    return false;
  tl_level *l = level_named(c, v[0]);
  if (l)
    l->area = area;
  else
    tl_fold(c, TL_NOTHING, v[0]->at, "area of %.60s", v[0]->text);
  return true;
}

static bool read_tables(tl_case *c, const tf_ynode *section, bool summary, const char *what,
                        bool (*read)(tl_case *, const tf_ynode *)) {
  const tf_yrow rows[] = {{summary ? "table_summary" : "tables", TF_Y_LIST, true},
                          {"version", TF_Y_SCALAR, false}};
  const tf_ynode *v[2];
  bool ok = true;
  if (!tf_yschema_kind(section, TF_Y_MAP, what, c->diags) ||
      !tf_yschema_check(section, rows, 2, what, v, c->diags))
    return false;
  for (size_t i = 0; i < v[0]->n; i++)
    ok &= read(c, v[0]->items[i]);
  return ok;
}

bool tl_read_ert(tl_case *c, const tf_ynode *section, bool summary) {
  return read_tables(c, section, summary, "an energy reference table", read_table);
}

bool tl_read_art(tl_case *c, const tf_ynode *section, bool summary) {
  return read_tables(c, section, summary, "an area reference table", read_area);
}
