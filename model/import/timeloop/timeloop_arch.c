/* Timeloop's architecture as a tree of containers, each with local memories and compute units (0.2,
 * 0.3, and what 0.4's front end hands on). */
#include <string.h>

#include "model/import/timeloop/timeloop.h"

/* What the names of the inner loops' places are derived from in 0.4: "inter_PE_spatial" spreads
 * over PE. */
static const char *spread_alias(tl_case *c, const char *name) {
  size_t n = strlen(name);
  bool fits = n > 14 && !strncmp(name, "inter_", 6) && !strcmp(name + n - 8, "_spatial");
  return fits ? tf_arena_strndup(c->arena, name + 6, n - 14) : NULL;
}

enum { MAX_DEPTH = 64 };

/* Maps of attributes, nearest first. */
typedef struct {
  int n;
  const tf_ynode *map[MAX_DEPTH];
} inherited;

/* One component of a `local` list; `outer`: instances of the containers around it. */
static bool read_component(tl_case *c, const tf_ynode *node, int64_t outer, const inherited *in) {
  static const tf_yrow rows[] = {{"name", TF_Y_SCALAR, true},     {"class", TF_Y_SCALAR, true},
                                 {"attributes", TF_Y_MAP, false}, {"subclass", TF_Y_SCALAR, false},
                                 {"required_actions", 0, false},  {"enabled", TF_Y_SCALAR, false},
                                 {"area_scale", 0, false},        {"energy_scale", 0, false}};
  const tf_ynode *v[8], *maps[MAX_DEPTH + 1];
  tl_level l = {.at = node->at, .words = -1, .read_pj = -1, .write_pj = -1, .area = -1};
  int64_t count;
  if (!tf_yschema_kind(node, TF_Y_MAP, "a component", c->diags) ||
      !tf_yschema_check(node, rows, 8, "a component", v, c->diags) ||
      !tl_read_name(c, v[0], &l.name, &count))
    return false;
  const tl_class is = tl_class_of(v[1], v[3]);
  if (is == TL_CLASS_NETWORK || is == TL_CLASS_NONE) return tl_tell_class(c, v[1], l.name, is);
  l.dummy = tf_ynode_is(v[1], "dummy_storage");
  l.kind = is == TL_CLASS_COMPUTE ? TL_COMPUTE : l.dummy ? TL_SPREAD : TL_MEMORY;
  if (l.dummy) l.alias = spread_alias(c, l.name);
  if (count > (INT64_C(1) << 40) / outer)
    return tf_fail(c->diags, node->at, TF_E_RANGE, "more than 2^40 instances");
  l.instances = count * outer;
  maps[0] = v[2];
  memcpy(maps + 1, in->map, sizeof in->map[0] * (size_t)in->n);
  tl_tell_scales(c, v + 6, l.name);
  if (v[5] && (tf_ynode_is(v[5], "false") || tf_ynode_is(v[5], "False")))
    return tf_fail(c->diags, v[5]->at, TF_E_KEY,
                   "'%.40s' is not enabled: Timeloop's front end leaves it out, its model does "
                   "not; take it out here",
                   l.name);
  return tl_read_attributes(c, maps, in->n + 1, &l) && tl_add_level(c, &l);
}

static bool read_container(tl_case *c, const tf_ynode *node, int64_t outer, inherited *in) {
  static const tf_yrow rows[] = {{"name", TF_Y_SCALAR, true},
                                 {"local", TF_Y_LIST, false},
                                 {"subtree", TF_Y_LIST, false},
                                 {"attributes", 0, false}};
  const tf_ynode *v[4];
  const char *name;
  int64_t count;
  if (!tf_yschema_kind(node, TF_Y_MAP, "a container", c->diags) ||
      !tf_yschema_check(node, rows, 4, "a container", v, c->diags) ||
      !tl_read_name(c, v[0], &name, &count))
    return false;
  if (count > (INT64_C(1) << 40) / outer)
    return tf_fail(c->diags, node->at, TF_E_RANGE, "more than 2^40 instances");
  if (v[3] && tf_ynode_empty(v[3])) v[3] = NULL;
  if (v[3] && !tf_yschema_kind(v[3], TF_Y_MAP, "attributes", c->diags)) return false;
  if (v[3]) { /* read once for what it says wrongly or without effect, then with each component */
    tl_level none = {.name = name};
    if (in->n == MAX_DEPTH)
      return tf_fail(c->diags, node->at, TF_E_LIMIT, "containers nest deeper than %d", MAX_DEPTH);
    if (!tl_read_attributes(c, &v[3], 1, &none)) return false;
    memmove(in->map + 1, in->map, sizeof in->map[0] * (size_t)in->n++);
    in->map[0] = v[3];
  }
  bool ok = true;
  for (size_t i = 0; v[1] && i < v[1]->n; i++)
    ok &= read_component(c, v[1]->items[i], outer * count, in);
  if (v[2] && v[2]->n > 1)
    return tf_fail(c->diags, v[2]->items[1]->at, TF_E_SHAPE,
                   "a second subtree: one path of memories is modelled");
  return ok && (!v[2] || v[2]->n == 0 || read_container(c, v[2]->items[0], outer * count, in));
}

/* Whether every level's instances spread evenly below one of the level above. */
static bool check_meshes(tl_case *c) {
  bool ok = true;
  for (int i = 1; i < c->n_levels; i++) {
    const tl_level *l = &c->level[i], *up = &c->level[i - 1];
    bool even = l->instances % tl_along(l, false) == 0 &&
                up->instances % tl_along(up, false) == 0 &&
                tl_along(l, false) % tl_along(up, false) == 0 &&
                tl_along(l, true) % tl_along(up, true) == 0;
    if (!even)
      ok = tf_fail(c->diags, l->at, TF_E_FANOUT,
                   "%lld instances of '%.40s' (meshX %lld) do not spread evenly below %lld of "
                   "'%.40s' (meshX %lld)",
                   (long long)l->instances, l->name, (long long)tl_along(l, false),
                   (long long)up->instances, up->name, (long long)tl_along(up, false));
  }
  return ok;
}

static bool check_levels(tl_case *c, const tf_ynode *at) {
  if (c->n_levels == 0 || c->level[0].kind != TL_MEMORY)
    return tf_fail(c->diags, at->at, TF_E_SHAPE,
                   "no memory: the outermost holds inputs and outputs");
  if (c->level[0].instances > 1)
    return tf_fail(c->diags, c->level[0].at, TF_E_FANOUT,
                   "%lld instances of '%.40s': the outermost memory is one",
                   (long long)c->level[0].instances, c->level[0].name);
  if (c->level[c->n_levels - 1].kind != TL_COMPUTE)
    return tf_fail(c->diags, at->at, TF_E_SHAPE,
                   "no compute units (class intmac, fpmac, mac or compute)");
  return check_meshes(c);
}

bool tl_read_architecture(tl_case *c, const tf_ynode *node) {
  static const tf_yrow rows[] = {
      {"version", TF_Y_SCALAR, false}, {"subtree", TF_Y_LIST, false}, {"nodes", TF_Y_LIST, false}};
  static const char *const versions[] = {"0.2", "0.3", "0.4"};
  const tf_ynode *v[3];
  inherited in = {.n = 0};
  bool known = false;
  if (!tf_yschema_kind(node, TF_Y_MAP, "architecture", c->diags) ||
      !tf_yschema_check(node, rows, 3, "Timeloop's architecture", v, c->diags))
    return false;
  for (int i = 0; v[0] && i < 3; i++)
    known |= tf_ynode_is(v[0], versions[i]);
  if (v[0] && !known)
    return tf_fail(c->diags, v[0]->at, TF_E_RANGE,
                   "version '%.20s' is not read: 0.2, 0.3 and 0.4 are", v[0]->text);
  if (!v[1] == !v[2])
    return tf_fail(c->diags, node->at, TF_E_MISSING,
                   "an architecture has a `subtree` (0.2, 0.3) or `nodes` (0.4)");
  if (v[2]) return tl_read_nodes(c, v[2]) && check_levels(c, v[2]);
  if (v[1]->n != 1)
    return tf_fail(c->diags, v[1]->at, TF_E_SHAPE, "one subtree is expected, not %zu", v[1]->n);
  c->units_anywhere = true;
  return read_container(c, v[1]->items[0], 1, &in) && check_levels(c, v[1]);
}
