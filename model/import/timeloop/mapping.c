/* Timeloop's mapping: a list of directives, each for one level. */
#include "model/import/timeloop/timeloop.h"

enum { M_TARGET, M_TYPE, M_FACTORS, M_ORDER, M_SPLIT, M_KEEP, M_BYPASS, N_M };
static const tf_yrow directive[N_M] = {
    {"target", TF_Y_SCALAR, true},
    {"type", TF_Y_SCALAR, true},
    {"factors", TF_Y_SCALAR | TF_Y_LIST, false},
    {"permutation", TF_Y_SCALAR | TF_Y_LIST, false},
    {"split", TF_Y_SCALAR, false},
    {"keep", TF_Y_LIST, false},
    {"bypass", TF_Y_LIST, false},
};

/* In 0.4 spatial loops that name a component are those of the place above that spreads over it. */
static int level_of(tl_case *c, const tf_ynode *target, bool space) {
  for (int i = 0; i < c->n_levels && space; i++)
    if (c->level[i].alias && tf_ynode_is(target, c->level[i].alias)) return i;
  return tl_find_level(c, target);
}

static bool read_loops(tl_case *c, const tf_ynode *node, const tf_ynode *const *v, tl_level *l, bool space) {
  tl_loops *loops = space ? &l->nest.spatial : &l->nest.temporal;
  if (loops->given)
    return tf_fail(c->diags, node->at, TF_E_DUP, "a second %s directive of '%.40s'", v[M_TYPE]->text, l->name);
  loops->given = true;
  if (v[M_FACTORS] && !tl_read_factors(c, v[M_FACTORS], false, loops)) return false;
  for (int d = 0; d < c->problem.n_dims && !space && l->kind == TL_SPREAD; d++)
    if (v[M_FACTORS] && loops->trips[d] != 1)
      return tf_fail(c->diags, v[M_FACTORS]->at, TF_E_LOOP, "temporal loops of '%.40s', which stores nothing", l->name);
  int64_t split = -1;
  if (v[M_SPLIT] && !tl_int(c, v[M_SPLIT], "split", 0, &split)) return false;
  if (space) l->nest.split = split > TL_MAX_DIMS ? TL_MAX_DIMS : (int)split;
  return tl_read_order(c, v[M_ORDER], loops);
}

static bool read_directive(tl_case *c, const tf_ynode *node) {
  const tf_ynode *v[N_M];
  if (!tf_yschema_kind(node, TF_Y_MAP, "a directive", c->diags) ||
      !tf_yschema_check(node, directive, N_M, "a directive of a mapping", v, c->diags))
    return false;
  bool space = tf_ynode_is(v[M_TYPE], "spatial");
  int at = level_of(c, v[M_TARGET], space);
  if (at < 0) return false;
  tl_level *l = &c->level[at];
  bool store =
      tf_ynode_is(v[M_TYPE], "bypass") || tf_ynode_is(v[M_TYPE], "datatype") || tf_ynode_is(v[M_TYPE], "dataspace");
  if (store) return tl_read_names(c, v[M_KEEP], l->nest.keep) && tl_read_names(c, v[M_BYPASS], l->nest.bypass);
  if (!space && !tf_ynode_is(v[M_TYPE], "temporal"))
    return tf_fail(c->diags, v[M_TYPE]->at, TF_E_RANGE, "no type '%.30s': temporal, spatial, bypass or datatype",
                   v[M_TYPE]->text);
  return read_loops(c, node, v, l, space);
}

/* A factor 0 takes what the others leave. */
static bool fill_rest(tl_case *c, const tf_ynode *at, int d) {
  int64_t product = 1, *rest = NULL;
  for (int l = 0; l < c->n_levels; l++)
    for (int s = 0; s < 2; s++) {
      int64_t *f = s ? &c->level[l].nest.spatial.trips[d] : &c->level[l].nest.temporal.trips[d];
      if (*f == TL_REST && rest)
        return tf_fail(c->diags, at->at, TF_E_OPEN, "two factors 0 of '%.40s': one may take what is left",
                       c->problem.dim[d]);
      if (*f == TL_REST)
        rest = f;
      else if (product > (INT64_C(1) << 50) / *f)
        return tf_fail(c->diags, at->at, TF_E_RANGE, "the factors of '%.40s' pass 2^50", c->problem.dim[d]);
      else
        product *= *f;
    }
  if (rest)
    *rest = (c->problem.extent[d] + product - 1) / product;
  else if (product < c->problem.extent[d])
    return tf_fail(c->diags, at->at, TF_E_COVER, "the factors of '%.40s' multiply to %lld, its extent is %lld",
                   c->problem.dim[d], (long long)product, (long long)c->problem.extent[d]);
  return true;
}

bool tl_read_mapping(tl_case *c, const tf_ynode *node) {
  bool ok = true;
  if (!tf_yschema_kind(node, TF_Y_LIST, "mapping", c->diags)) return false;
  c->has_mapping = true;
  for (int l = 0; l < c->n_levels; l++) {
    tl_nest *nest = &c->level[l].nest;
    nest->split = -1;
    for (int d = 0; d < c->problem.n_dims; d++)
      nest->temporal.trips[d] = nest->spatial.trips[d] = 1;
  }
  for (size_t i = 0; i < node->n; i++)
    ok &= read_directive(c, node->items[i]);
  for (int d = 0; d < c->problem.n_dims && ok; d++)
    ok &= fill_rest(c, node, d);
  return ok;
}
