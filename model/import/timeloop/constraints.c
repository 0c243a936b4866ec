/* Timeloop's constraints as a mapping in which all is open that they do not fix: what `search` completes. */
#include <string.h>

#include "model/import/timeloop/timeloop.h"

bool tl_add_constraint(tl_case *c, int level, const char *type, const tf_ynode *keys) {
  const tf_ynode *target = tf_ymap_get(keys, "target"), *kind = tf_ymap_get(keys, "type");
  if (c->n_constraints == TL_MAX_CONSTRAINTS)
    return tf_fail(c->diags, keys->at, TF_E_LIMIT, "more than %d constraints", TL_MAX_CONSTRAINTS);
  for (int i = 0; i < 2 && !type; i++) {
    const tf_ynode *node = i ? kind : target;
    if (!node)
      return tf_fail(c->diags, keys->at, TF_E_MISSING, "a constraint needs the key '%s'", i ? "type" : "target");
    if (!tf_yschema_kind(node, TF_Y_SCALAR, i ? "type" : "target", c->diags)) return false;
  }
  c->constraint[c->n_constraints++] =
      (tl_constraint){level, type ? NULL : target, type ? NULL : kind, type ? type : kind->text, keys};
  return true;
}

bool tl_add_constraints(tl_case *c, const tf_ynode *section) {
  static const tf_yrow rows[] = {{"targets", TF_Y_LIST, true}, {"version", TF_Y_SCALAR, false}};
  const tf_ynode *v[2] = {section, NULL};
  bool ok = true;
  if (!tf_yschema_kind(section, TF_Y_MAP | TF_Y_LIST, "constraints", c->diags) ||
      (section->kind == TF_Y_MAP && !tf_yschema_check(section, rows, 2, "constraints", v, c->diags)))
    return false;
  for (size_t i = 0; i < v[0]->n; i++) {
    const tf_ynode *item = v[0]->items[i];
    ok &= tf_yschema_kind(item, TF_Y_MAP, "a constraint", c->diags) && tl_add_constraint(c, -1, NULL, item);
  }
  return ok;
}

enum { K_FACTORS, K_ORDER, K_SPLIT, K_KEEP, K_KEEP_ONLY, K_BYPASS, N_K };
static const tf_yrow rows[] = {
    [K_FACTORS] = {"factors", TF_Y_SCALAR | TF_Y_LIST, false},
    [K_ORDER] = {"permutation", TF_Y_SCALAR | TF_Y_LIST, false},
    [K_SPLIT] = {"split", TF_Y_SCALAR, false},
    [K_KEEP] = {"keep", TF_Y_LIST, false},
    [K_KEEP_ONLY] = {"keep_only", TF_Y_LIST, false},
    [K_BYPASS] = {"bypass", TF_Y_LIST, false},
    {"target", 0, false},
    {"type", 0, false},
    {"min", 0, false}, /* from here on: known, and noted */
    {"no_temporal_reuse", 0, false},
    {"no_reuse", 0, false},
    {"no_link_transfer", 0, false},
    {"no_multicast_no_reduction", 0, false},
    {"no_coalesce", 0, false},
    {"rmw_first_update", 0, false},
    {"no_iteration_over_dataspaces", 0, false},
    {"must_iterate_over_dataspaces", 0, false},
    {"maximize_dims", 0, false},
    {"max_overbooked_proportion", 0, false},
};
enum { N_ROWS = sizeof rows / sizeof rows[0], N_QUIET = N_K + 2 };

static bool constrain_loops(tl_case *c, const tf_ynode *const *v, tl_level *l, bool space) {
  tl_loops *loops = space ? &l->nest.spatial : &l->nest.temporal, said = {.given = true};
  int64_t split = -1;
  for (int d = 0; d < TL_MAX_DIMS; d++)
    said.trips[d] = -2; /* not named */
  if ((v[K_FACTORS] && !tl_read_factors(c, v[K_FACTORS], true, &said)) ||
      (v[K_ORDER] && !tl_read_order(c, v[K_ORDER], loops)) ||
      (v[K_SPLIT] && !tl_int(c, v[K_SPLIT], "split", 0, &split)))
    return false;
  for (int d = 0; d < c->problem.n_dims; d++) {
    if (said.trips[d] == -2) continue;
    bool rest = said.trips[d] == TL_REST;
    if (rest) tf_page_add(c->notes, "# %s: factor 0 of %s is left open\n", l->name, c->problem.dim[d]);
    loops->trips[d] = rest ? TL_OPEN : said.trips[d];
    loops->most[d] = said.most[d];
  }
  if (space && split >= 0) l->nest.split = split > TL_MAX_DIMS ? TL_MAX_DIMS : (int)split;
  return true;
}

static bool constrain_storage(tl_case *c, const tf_ynode *const *v, tl_level *l) {
  bool only[TL_MAX_SPACES] = {false};
  if (!tl_read_names(c, v[K_KEEP], l->nest.keep) || !tl_read_names(c, v[K_KEEP_ONLY], only) ||
      !tl_read_names(c, v[K_BYPASS], l->nest.bypass))
    return false;
  for (int z = 0; z < c->problem.n_spaces; z++) {
    if (v[K_KEEP_ONLY]) l->nest.bypass[z] |= !only[z];
    if (l->parallel && v[K_KEEP]) l->nest.bypass[z] |= !l->nest.keep[z];
    if (l->nest.keep[z] && l->nest.bypass[z])
      return tf_fail(c->diags, v[K_BYPASS] ? v[K_BYPASS]->at : l->at, TF_E_BYPASS,
                     "'%.40s' both keeps and bypasses '%.40s'", l->name, c->problem.space[z].name);
  }
  return true;
}

static bool apply_constraint(tl_case *c, const tl_constraint *k) {
  const tf_ynode *v[N_ROWS];
  bool space = !strcmp(k->type_text, "spatial"), time = !strcmp(k->type_text, "temporal");
  bool store =
      !strcmp(k->type_text, "bypass") || !strcmp(k->type_text, "datatype") || !strcmp(k->type_text, "dataspace");
  if (!tf_yschema_check(k->keys, rows, N_ROWS, "a constraint", v, c->diags)) return false;
  int at = k->level;
  if (at < 0 && (at = tl_find_level(c, k->target)) < 0) return false;
  tl_level *l = &c->level[at];
  for (int i = N_QUIET; i < N_ROWS; i++)
    if (v[i])
      tf_page_add(c->notes, "# not modelled: %s of the %s constraint of %s\n", rows[i].key, k->type_text, l->name);
  if (space || time) return constrain_loops(c, v, l, space);
  if (store) return constrain_storage(c, v, l);
  static const char *const known[] = {"utilization", "parallelism", "max_overbooked_proportion", "internal"};
  for (int i = 0; i < 4; i++)
    if (!strcmp(k->type_text, known[i])) return true; /* its keys are noted */
  return tf_fail(c->diags, k->type ? k->type->at : k->keys->at, TF_E_RANGE,
                 "no type '%.30s': temporal, spatial, bypass, datatype, dataspace, utilization or parallelism",
                 k->type_text);
}

/* Where nothing spreads, no spatial loop stands; temporal loops stand in memories only. */
static void open_level(tl_case *c, int at) {
  tl_level *l = &c->level[at];
  bool spreads =
      at + 1 < c->n_levels && (tl_fan(l, &c->level[at + 1], false) > 1 || tl_fan(l, &c->level[at + 1], true) > 1);
  memset(&l->nest, 0, sizeof l->nest);
  l->nest.split = -1;
  for (int d = 0; d < c->problem.n_dims; d++) {
    l->nest.temporal.trips[d] = l->kind == TL_MEMORY ? TL_OPEN : 1;
    l->nest.spatial.trips[d] = spreads ? TL_OPEN : 1;
    l->nest.temporal.order[d] = l->nest.spatial.order[d] = d;
  }
}

bool tl_constrained_mapping(tl_case *c) {
  bool ok = true;
  c->has_mapping = true;
  for (int i = 0; i < c->n_levels; i++)
    open_level(c, i);
  for (int i = 0; i < c->n_constraints; i++)
    ok &= apply_constraint(c, &c->constraint[i]);
  for (int z = 0; z < c->problem.n_spaces && ok; z++)
    if (c->level[0].nest.bypass[z])
      ok = tf_fail(c->diags, c->level[0].at, TF_E_BYPASS, "the outermost memory '%.40s' cannot be bypassed",
                   c->level[0].name);
  return ok;
}
