/* Timeloop's mapping: a list of directives, each for one level. */
#include <inttypes.h>

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

/* In 0.4's nodes spatial loops that name a component are those of the place above that spreads over
 * it. */
static int level_of(tl_case *c, const tf_ynode *target, bool space) {
  for (int i = 0; i < c->n_levels && space && !c->units_anywhere; i++)
    if (c->level[i].alias && tf_ynode_is(target, c->level[i].alias)) return i;
  return tl_find_level(c, target);
}

static bool read_loops(tl_case *c, const tf_ynode *node, const tf_ynode *const *v, tl_level *l,
                       bool space) {
  tl_loops *loops = space ? &l->nest.spatial : &l->nest.temporal;
  if (loops->given)
    return tf_fail(c->diags, node->at, TF_E_DUP, "a second %s directive of '%.40s'",
                   v[M_TYPE]->text, l->name);
  loops->given = true;
  if (v[M_FACTORS] && !tl_read_factors(c, v[M_FACTORS], false, loops)) return false;
  int64_t split = -1;
  if (v[M_SPLIT] && !tl_int(c, v[M_SPLIT], "split", 0, &split)) return false;
  if (space) l->nest.split = split > TL_MAX_DIMS ? TL_MAX_DIMS : (int)split;
  return tl_read_order(c, v[M_ORDER], loops);
}

/* The outermost memory holds inputs and outputs, and what a memory keeps does not pass it by. */
bool tl_check_storage(tl_case *c, const tl_level *l) {
  const tl_nest *n = &l->nest;
  bool ok = true;
  for (int z = 0; z < c->problem.n_spaces; z++) {
    if (!n->bypass[z]) continue;
    const tf_loc at = n->bypass_at[z].line ? n->bypass_at[z] : l->at;
    if (n->keep[z]) {
      ok = tf_fail(c->diags, at, TF_E_BYPASS, "'%.40s' both keeps and bypasses '%.40s'", l->name,
                   c->problem.space[z].name);
      if (n->keep_at[z].line) tf_note(c->diags, n->keep_at[z], "kept here");
    } else if (l == &c->level[0]) {
      ok = tf_fail(c->diags, at, TF_E_BYPASS,
                   "the outermost memory '%.40s' cannot be bypassed: '%.40s' is an %s of the "
                   "problem, and lives there",
                   l->name, c->problem.space[z].name,
                   c->problem.space[z].output ? "output" : "input");
    }
  }
  return ok;
}

/* A dummy_storage that keeps something is a memory; else it only spreads. */
static void take_dummies(tl_case *c) {
  for (int i = 1; i < c->n_levels; i++) {
    tl_level *l = &c->level[i];
    for (int z = 0; z < c->problem.n_spaces && l->dummy; z++)
      if (l->nest.keep[z]) l->kind = TL_MEMORY;
  }
}

bool tl_check_spread(tl_case *c, const tl_level *l) {
  for (int d = 0; d < c->problem.n_dims && l->kind == TL_SPREAD; d++)
    if (l->nest.temporal.trips[d] != 1)
      return tf_fail(c->diags, l->nest.temporal.at[d].line ? l->nest.temporal.at[d] : l->at,
                     TF_E_LOOP, "temporal loops of '%.40s', which stores nothing", l->name);
  return true;
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
  bool store = tf_ynode_is(v[M_TYPE], "bypass") || tf_ynode_is(v[M_TYPE], "datatype") ||
               tf_ynode_is(v[M_TYPE], "dataspace");
  if (store)
    return tl_read_names(c, v[M_KEEP], l->nest.keep, l->nest.keep_at) &&
           tl_read_names(c, v[M_BYPASS], l->nest.bypass, l->nest.bypass_at);
  if (!space && !tf_ynode_is(v[M_TYPE], "temporal"))
    return tf_fail(c->diags, v[M_TYPE]->at, TF_E_RANGE,
                   "no type '%.30s': temporal, spatial, bypass or datatype", v[M_TYPE]->text);
  for (int i = M_KEEP; i <= M_BYPASS; i++)
    if (v[i])
      return tf_fail(c->diags, v[i]->at, TF_E_KEY,
                     "'%s' in a %s directive: it stands in one of type bypass or datatype",
                     directive[i].key, v[M_TYPE]->text);
  return read_loops(c, node, v, l, space);
}

/* ---- factors ------------------------------------------------------------------------ */
/* The s-th loops (temporal, spatial) of level l. */
static tl_loops *loops_of(tl_case *c, int l, int s) {
  return s ? &c->level[l].nest.spatial : &c->level[l].nest.temporal;
}

/* A factor 0 takes what the others leave. */
static bool fill_rest(tl_case *c, const tf_ynode *at, int d) {
  int64_t product = 1, *rest = NULL;
  for (int l = 0; l < c->n_levels; l++)
    for (int s = 0; s < 2; s++) {
      int64_t *f = &loops_of(c, l, s)->trips[d];
      if (*f == TL_REST && rest)
        return tf_fail(c->diags, at->at, TF_E_OPEN,
                       "two factors 0 of '%.40s': one may take what is left", c->problem.dim[d]);
      if (*f == TL_REST)
        rest = f;
      else if (product > (INT64_C(1) << 50) / *f)
        return tf_fail(c->diags, at->at, TF_E_RANGE, "the factors of '%.40s' pass 2^50",
                       c->problem.dim[d]);
      else
        product *= *f;
    }
  if (rest)
    *rest = (c->problem.extent[d] + product - 1) / product;
  else if (product < c->problem.extent[d])
    return tf_fail(c->diags, at->at, TF_E_COVER,
                   "the factors of '%.40s' multiply to %lld, its extent is %lld", c->problem.dim[d],
                   (long long)product, (long long)c->problem.extent[d]);
  return true;
}

/* Steps that begin behind the extent: a factor that was meant otherwise.  Open ones inside count as
 * one step. */
bool tl_check_spare(tl_case *c, int d) {
  int64_t inner = 1;
  bool ok = true;
  for (int l = c->n_levels - 1; l >= 0; l--)
    for (int s = 1; s >= 0; s--) {
      const tl_loops *f = loops_of(c, l, s);
      const int64_t trips = f->trips[d], most = (c->problem.extent[d] - 1) / inner + 1;
      if (trips > most && f->at[d].line)
        ok =
            tf_fail(c->diags, f->at[d], TF_E_COVER,
                    "%" PRId64 " steps of '%.40s', each of %" PRId64 ", pass its extent of %" PRId64
                    ": %.40s=%" PRId64 " reaches all of it",
                    trips, c->problem.dim[d], inner, c->problem.extent[d], c->problem.dim[d], most);
      if (trips > 1 && inner <= c->problem.extent[d]) inner *= trips;
    }
  return ok;
}

/* Timeloop has a dim's last element at the sum of (residual - 1) steps of each loop, where a loop
 * without a residual runs all its steps: that must be the extent.  Without residuals, which old
 * files lack, the last step is partial. */
static bool check_residuals(tl_case *c, int d) {
  int64_t last = 0, product = 1;
  const tf_loc *at = NULL, *any = NULL;
  for (int l = 0; l < c->n_levels; l++)
    for (int s = 0; s < 2; s++) {
      const tl_loops *f = loops_of(c, l, s);
      last = last * f->trips[d] + (f->residual[d] ? f->residual[d] : f->trips[d]) - 1;
      product *= f->trips[d];
      if (f->residual[d]) at = &f->at[d];
      if (f->trips[d] > 1 && f->at[d].line) any = &f->at[d];
    }
  if (last + 1 == c->problem.extent[d]) return true;
  if (at)
    return tf_fail(c->diags, *at, TF_E_COVER,
                   "the factors of '%.40s' with their last steps reach %" PRId64
                   ", its extent is %" PRId64,
                   c->problem.dim[d], last + 1, c->problem.extent[d]);
  if (any)
    tl_lost(
        c, *any,
        "the factors of '%.40s' multiply to %" PRId64 ", its extent is %" PRId64
        ": here the last step is partial; Timeloop refuses it, and writes last steps as DIM=N,LAST",
        c->problem.dim[d], product, c->problem.extent[d]);
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
  const bool read = ok;
  take_dummies(c);
  for (int l = 0; l < c->n_levels && read; l++) {
    ok &= tl_check_storage(c, &c->level[l]);
    ok &= tl_check_spread(c, &c->level[l]);
  }
  for (int d = 0; d < c->problem.n_dims && ok; d++)
    ok &= fill_rest(c, node, d) && tl_check_spare(c, d) && check_residuals(c, d);
  return ok;
}
