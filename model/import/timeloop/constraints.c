/* Timeloop's constraints as a mapping in which all is open that they do not fix: what `search`
 * completes. */
#include <stdio.h>
#include <string.h>

#include "model/import/timeloop/timeloop.h"

bool tl_add_constraint(tl_case *c, int level, const char *type, const tf_ynode *keys) {
  const tf_ynode *target = tf_ymap_get(keys, "target"), *kind = tf_ymap_get(keys, "type");
  if (c->n_constraints == TL_MAX_CONSTRAINTS)
    return tf_fail(c->diags, keys->at, TF_E_LIMIT, "more than %d constraints", TL_MAX_CONSTRAINTS);
  for (int i = 0; i < 2 && !type; i++) {
    const tf_ynode *node = i ? kind : target;
    if (!node)
      return tf_fail(c->diags, keys->at, TF_E_MISSING, "a constraint needs the key '%s'",
                     i ? "type" : "target");
    if (!tf_yschema_kind(node, TF_Y_SCALAR, i ? "type" : "target", c->diags)) return false;
  }
  c->constraint[c->n_constraints++] = (tl_constraint){
      level, type ? NULL : target, type ? NULL : kind, type ? type : kind->text, keys};
  return true;
}

bool tl_add_constraints(tl_case *c, const tf_ynode *section) {
  static const tf_yrow rows[] = {{"targets", TF_Y_LIST, true}, {"version", TF_Y_SCALAR, false}};
  const tf_ynode *v[2] = {section, NULL};
  bool ok = true;
  if (!tf_yschema_kind(section, TF_Y_MAP | TF_Y_LIST, "constraints", c->diags) ||
      (section->kind == TF_Y_MAP &&
       !tf_yschema_check(section, rows, 2, "constraints", v, c->diags)))
    return false;
  for (size_t i = 0; i < v[0]->n; i++) {
    const tf_ynode *item = v[0]->items[i];
    ok &= tf_yschema_kind(item, TF_Y_MAP, "a constraint", c->diags) &&
          tl_add_constraint(c, -1, NULL, item);
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

static bool fail_twice(tl_case *c, tf_loc at, tf_loc first, const char *what, const tl_level *l) {
  tf_fail(c->diags, at, TF_E_DUP, "a second constraint of %.60s of '%.40s'", what, l->name);
  tf_note(c->diags, first, "the first one");
  return false;
}

/* A factor and a bound of one loop may come from two constraints; else each is said once. */
static bool constrain_dim(tl_case *c, tl_level *l, tl_loops *loops, const tl_loops *said, int d) {
  const bool open = said->trips[d] == TL_OPEN || said->trips[d] == TL_REST;
  char what[80];
  snprintf(what, sizeof what, "the factor of '%.40s'", c->problem.dim[d]);
  if (loops->at[d].line && (open ? loops->most[d] > 0 : loops->trips[d] != TL_OPEN))
    return fail_twice(c, said->at[d], loops->at[d], what, l);
  const int64_t fixed = open ? loops->trips[d] : said->trips[d],
                most = said->most[d] ? said->most[d] : loops->most[d];
  if (fixed > 0 && most && fixed > most) {
    tf_fail(c->diags, said->at[d], TF_E_COVER,
            "'%.40s' has %lld steps at '%.40s', and at most %lld", c->problem.dim[d],
            (long long)fixed, l->name, (long long)most);
    tf_note(c->diags, loops->at[d], "the other constraint");
    return false;
  }
  if (said->trips[d] == TL_REST)
    tl_lost(c, said->at[d],
            "factor 0 of '%.40s' is left open; Timeloop takes the whole extent here",
            c->problem.dim[d]);
  if (!open) loops->trips[d] = said->trips[d];
  loops->most[d] = loops->trips[d] == TL_OPEN ? most : 0;
  loops->at[d] = said->at[d];
  return true;
}

static bool constrain_loops(tl_case *c, const tf_ynode *const *v, tl_level *l, bool space) {
  tl_loops *loops = space ? &l->nest.spatial : &l->nest.temporal, said = {.given = true};
  tf_loc *order_at = &l->nest.order_at[space], *split_at = &l->nest.split_at;
  int64_t split = -1;
  bool ok = true;
  for (int d = 0; d < TL_MAX_DIMS; d++)
    said.trips[d] = -2; /* not named */
  if (v[K_ORDER] && order_at->line)
    return fail_twice(c, v[K_ORDER]->at, *order_at, "the permutation", l);
  if (space && v[K_SPLIT] && split_at->line)
    return fail_twice(c, v[K_SPLIT]->at, *split_at, "the split", l);
  if ((v[K_FACTORS] && !tl_read_factors(c, v[K_FACTORS], true, &said)) ||
      (v[K_ORDER] && !tl_read_order(c, v[K_ORDER], loops)) ||
      (v[K_SPLIT] && !tl_int(c, v[K_SPLIT], "split", 0, &split)))
    return false;
  for (int d = 0; d < c->problem.n_dims; d++)
    if (said.trips[d] != -2) ok &= constrain_dim(c, l, loops, &said, d);
  if (v[K_ORDER]) *order_at = v[K_ORDER]->at;
  if (v[K_SPLIT]) *split_at = v[K_SPLIT]->at;
  if (space && split >= 0) l->nest.split = split > TL_MAX_DIMS ? TL_MAX_DIMS : (int)split;
  return ok;
}

static bool constrain_storage(tl_case *c, const tf_ynode *const *v, tl_level *l) {
  tl_nest *n = &l->nest;
  bool only[TL_MAX_SPACES] = {false};
  tf_loc at[TL_MAX_SPACES];
  if (!tl_read_names(c, v[K_KEEP], n->keep, n->keep_at) ||
      !tl_read_names(c, v[K_KEEP_ONLY], only, at) ||
      !tl_read_names(c, v[K_BYPASS], n->bypass, n->bypass_at))
    return false;
  for (int z = 0; z < c->problem.n_spaces; z++) {
    bool others = (v[K_KEEP_ONLY] && !only[z]) || (l->parallel && v[K_KEEP] && !n->keep[z]);
    if (!others || n->bypass[z]) continue;
    n->bypass[z] = true;
    n->bypass_at[z] = v[K_KEEP_ONLY] ? v[K_KEEP_ONLY]->at : v[K_KEEP]->at;
  }
  return true;
}

static bool apply_constraint(tl_case *c, const tl_constraint *k) {
  const tf_ynode *v[N_ROWS];
  bool space = !strcmp(k->type_text, "spatial"), time = !strcmp(k->type_text, "temporal");
  bool store = !strcmp(k->type_text, "bypass") || !strcmp(k->type_text, "bypassing") ||
               !strcmp(k->type_text, "datatype") || !strcmp(k->type_text, "dataspace");
  if (!tf_yschema_check(k->keys, rows, N_ROWS, "a constraint", v, c->diags)) return false;
  int at = k->level;
  if (at < 0 && (at = tl_find_level(c, k->target)) < 0) return false;
  tl_level *l = &c->level[at];
  for (int i = N_QUIET; i < N_ROWS; i++)
    if (v[i] && (v[i]->kind == TF_Y_SCALAR || v[i]->n > 0))
      tl_lost(c, v[i]->at, "not modelled: %s of the %.30s constraint of %.60s", rows[i].key,
              k->type_text, l->name);
  if (space || time) return constrain_loops(c, v, l, space);
  if (store) return constrain_storage(c, v, l);
  static const char *const known[] = {"utilization", "parallelism", "max_overbooked_proportion",
                                      "internal"};
  for (int i = 0; i < 4; i++)
    if (!strcmp(k->type_text, known[i])) return true; /* its keys are noted */
  return tf_fail(
      c->diags, k->type ? k->type->at : k->keys->at, TF_E_RANGE,
      "no type '%.30s': temporal, spatial, bypass, datatype, dataspace, utilization or parallelism",
      k->type_text);
}

/* Where nothing spreads, no spatial loop stands; temporal loops stand in memories only. */
static void open_level(tl_case *c, int at) {
  tl_level *l = &c->level[at];
  bool spreads = at + 1 < c->n_levels && (tl_fan(l, &c->level[at + 1], false) > 1 ||
                                          tl_fan(l, &c->level[at + 1], true) > 1);
  memset(&l->nest, 0, sizeof l->nest);
  l->nest.split = -1;
  for (int d = 0; d < c->problem.n_dims; d++) {
    l->nest.temporal.trips[d] = l->kind == TL_MEMORY ? TL_OPEN : 1;
    l->nest.spatial.trips[d] = spreads ? TL_OPEN : 1;
    l->nest.temporal.order[d] = l->nest.spatial.order[d] = d;
  }
}

/* What leaves a dim short: its steps at every level are fixed, or bounded. */
static bool check_reach(tl_case *c, int d) {
  const int64_t extent = c->problem.extent[d];
  int64_t most = 1;
  const tf_loc *at[2 * TL_MAX_LEVELS];
  int n = 0;
  for (int l = 0; l < c->n_levels; l++)
    for (int s = 0; s < 2; s++) {
      const tl_loops *f = s ? &c->level[l].nest.spatial : &c->level[l].nest.temporal;
      const int64_t steps = f->trips[d] == TL_OPEN ? f->most[d] : f->trips[d];
      if (!steps) return true; /* open without a bound */
      most = most > extent / steps ? extent : most * steps;
      if (f->at[d].line) at[n++] = &f->at[d];
    }
  if (most >= extent) return true;
  tf_fail(c->diags, n ? *at[n - 1] : c->level[0].at, TF_E_COVER,
          "the constraints leave '%.40s' at most %lld steps, its extent is %lld: leave its factor "
          "open at one level",
          c->problem.dim[d], (long long)most, (long long)extent);
  for (int i = 0; i + 1 < n; i++)
    tf_note(c->diags, *at[i], "and here");
  return false;
}

bool tl_constrained_mapping(tl_case *c) {
  bool ok = true;
  c->has_mapping = c->open = true;
  for (int i = 0; i < c->n_levels; i++)
    open_level(c, i);
  for (int i = 0; i < c->n_constraints; i++)
    ok &= apply_constraint(c, &c->constraint[i]);
  const bool read = ok;
  for (int l = 0; l < c->n_levels && read; l++) {
    ok &= tl_check_storage(c, &c->level[l]);
    ok &= tl_check_spread(c, &c->level[l]);
  }
  for (int d = 0; d < c->problem.n_dims && ok; d++) {
    ok &= tl_check_spare(c, d);
    ok &= check_reach(c, d);
  }
  return ok;
}
