/* Timeloop's architecture 0.4: a list of containers and components, each inside what stands before
 * it. */
#include <stdio.h>
#include <string.h>

#include "model/import/timeloop/timeloop.h"

enum { MAX_CONTAINERS = 64 };

typedef struct {
  tl_case *c;
  int64_t x, y; /* instances so far */
  int n_maps; /* attributes of the containers, nearest first, from maps[1]; [0] is for a component's
                 own */
  const tf_ynode *maps[MAX_CONTAINERS + 1];
  bool parallel;
} walk;

enum {
  N_NAME,
  N_CLASS,
  N_SUBCLASS,
  N_ATTRIBUTES,
  N_SPATIAL,
  N_CONSTRAINTS,
  N_ENABLED,
  N_AREA,
  N_ENERGY,
  N_SPARSE,
  N_ACTIONS,
  N_ROWS
};
static const tf_yrow rows[] = {
    [N_NAME] = {"name", TF_Y_SCALAR, true},
    [N_CLASS] = {"class", TF_Y_SCALAR, false},
    [N_SUBCLASS] = {"subclass", TF_Y_SCALAR, false},
    [N_ATTRIBUTES] = {"attributes", TF_Y_MAP, false},
    [N_SPATIAL] = {"spatial", TF_Y_MAP, false},
    [N_CONSTRAINTS] = {"constraints", TF_Y_MAP, false},
    [N_ENABLED] = {"enabled", TF_Y_SCALAR, false},
    [N_AREA] = {"area_scale", 0, false},
    [N_ENERGY] = {"energy_scale", 0, false},
    [N_SPARSE] = {"sparse_optimizations", TF_Y_MAP, false},
    [N_ACTIONS] = {"required_actions", 0, false},
};

static bool read_spatial(tl_case *c, const tf_ynode *node, int64_t *x, int64_t *y) {
  static const tf_yrow keys[] = {{"meshX", TF_Y_SCALAR, false}, {"meshY", TF_Y_SCALAR, false}};
  const tf_ynode *v[2];
  *x = *y = 1;
  return !node ||
         (tf_yschema_check(node, keys, 2, "spatial", v, c->diags) &&
          (!v[0] || tl_int(c, v[0], "meshX", 1, x)) && (!v[1] || tl_int(c, v[1], "meshY", 1, y)));
}

/* The place above `name` whose spatial loops spread over its instances. */
static bool add_spread(walk *w, const tf_ynode *name) {
  char text[160];
  int n = snprintf(text, sizeof text, "inter_%.120s_spatial", name->text);
  tl_level l = {.at = name->at,
                .kind = TL_SPREAD,
                .instances = w->x * w->y,
                .mesh_x = w->x,
                .words = -1,
                .block = 1};
  l.name = tf_arena_strndup(w->c->arena, text, (size_t)n);
  l.alias = tf_arena_strndup(w->c->arena, name->text, name->len);
  return l.name && l.alias && tl_add_level(w->c, &l);
}

/* `constraints` of a node, by kind; `spread`: the number of the place above it, or -1, `own`: its
 * own. */
static bool read_constraints(walk *w, const tf_ynode *map, int spread, int own) {
  bool ok = true;
  for (size_t i = 0; map && i < map->n; i++) {
    const tf_ynode *key = map->pairs[i].key, *value = map->pairs[i].value;
    if (value->kind == TF_Y_MAP && value->n == 0) continue;
    int level = tf_ynode_is(key, "spatial") && spread >= 0 ? spread : own;
    if (level < 0)
      ok = tf_fail(w->c->diags, key->at, TF_E_LOOP,
                   "'%.40s' constrains a container that spreads over nothing", key->text);
    else if (tf_yschema_kind(value, TF_Y_MAP, key->text, w->c->diags))
      ok &= tl_add_constraint(w->c, level, key->text, value);
    else
      ok = false;
  }
  return ok;
}

/* Multiplies the instances by the node's own; *spread: the place that spreads over them, -1 where
 * there is one only. */
static bool multiply_instances(walk *w, const tf_ynode *const *v, int *spread) {
  int64_t x, y;
  *spread = -1;
  if (!read_spatial(w->c, v[N_SPATIAL], &x, &y)) return false;
  if (x > (INT64_C(1) << 30) / w->x || y > (INT64_C(1) << 30) / w->y)
    return tf_fail(w->c->diags, v[N_SPATIAL]->at, TF_E_RANGE,
                   "more than 2^30 instances along one side");
  if (x * y > 1) {
    if (w->parallel)
      return tf_fail(w->c->diags, v[N_SPATIAL]->at, TF_E_SHAPE,
                     "instances of one of several parallel components");
    if (!add_spread(w, v[N_NAME])) return false;
    *spread = w->c->n_levels - 1;
  }
  w->x *= x;
  w->y *= y;
  return true;
}

static bool read_container(walk *w, const tf_ynode *const *v) {
  int spread;
  if (w->n_maps == MAX_CONTAINERS)
    return tf_fail(w->c->diags, v[N_NAME]->at, TF_E_LIMIT, "more than %d containers",
                   MAX_CONTAINERS);
  if (v[N_ATTRIBUTES]) {
    tl_level none = {.name = v[N_NAME]->text};
    if (!tl_read_attributes(w->c, &v[N_ATTRIBUTES], 1, &none)) return false;
    memmove(w->maps + 2, w->maps + 1, sizeof w->maps[0] * (size_t)w->n_maps++);
    w->maps[1] = v[N_ATTRIBUTES];
  }
  return multiply_instances(w, v, &spread) && read_constraints(w, v[N_CONSTRAINTS], spread, spread);
}

static bool read_component(walk *w, const tf_ynode *const *v) {
  tl_level l = {.at = v[N_NAME]->at,
                .words = -1,
                .read_pj = -1,
                .write_pj = -1,
                .area = -1,
                .parallel = w->parallel};
  int spread;
  if (!v[N_CLASS] && !v[N_SUBCLASS])
    return tf_fail(w->c->diags, v[N_NAME]->at, TF_E_MISSING,
                   "component '%.40s' needs the key 'class'", v[N_NAME]->text);
  const tl_class is = tl_class_of(v[N_CLASS], v[N_SUBCLASS]);
  l.name = v[N_NAME]->text;
  if (is == TL_CLASS_NETWORK || is == TL_CLASS_NONE)
    return tl_tell_class(w->c, v[N_CLASS] ? v[N_CLASS] : v[N_SUBCLASS], l.name, is);
  l.kind = is == TL_CLASS_COMPUTE ? TL_COMPUTE : TL_MEMORY;
  l.sparse = v[N_SPARSE];
  w->maps[0] = v[N_ATTRIBUTES];
  if (!multiply_instances(w, v, &spread)) return false;
  l.instances = w->x * w->y;
  l.mesh_x = w->x;
  if (!tl_read_attributes(w->c, w->maps, w->n_maps + 1, &l)) return false;
  if (l.instances != w->x * w->y || l.mesh_x != w->x)
    return tf_fail(w->c->diags, l.at, TF_E_FANOUT,
                   "the attributes of '%.40s' give it %lld instances (meshX %lld), its place %lld "
                   "(meshX %lld): 0.4 writes them as `spatial`",
                   l.name, (long long)l.instances, (long long)l.mesh_x, (long long)(w->x * w->y),
                   (long long)w->x);
  return tl_add_level(w->c, &l) &&
         read_constraints(w, v[N_CONSTRAINTS], spread, w->c->n_levels - 1);
}

static bool read_list(walk *w, const tf_ynode *list);

/* !Parallel and !Hierarchical hold nodes of their own. */
static bool read_branch(walk *w, const tf_ynode *node, bool parallel) {
  static const tf_yrow keys[] = {{"nodes", TF_Y_LIST, true}};
  const tf_ynode *v[1];
  bool before = w->parallel;
  if (!tf_yschema_check(node, keys, 1, node->tag, v, w->c->diags)) return false;
  w->parallel |= parallel;
  bool ok = read_list(w, v[0]);
  w->parallel = before;
  return ok;
}

static bool read_node(walk *w, const tf_ynode *node) {
  const tf_ynode *v[N_ROWS];
  const char *tag = node->tag ? node->tag : "";
  if (!strcmp(tag, "!Nothing")) return true;
  if (!tf_yschema_kind(node, TF_Y_MAP, "a node", w->c->diags)) return false;
  if (!strcmp(tag, "!Parallel") || !strcmp(tag, "!Hierarchical"))
    return read_branch(w, node, tag[1] == 'P');
  bool container = !strcmp(tag, "!Container");
  if (!container && strcmp(tag, "!Component") != 0)
    return tf_fail(w->c->diags, node->at, TF_E_TYPE,
                   "a node is tagged !Container, !Component, !Parallel, !Hierarchical or !Nothing, "
                   "not '%.30s'",
                   tag);
  if (!tf_yschema_check(node, rows, N_ROWS, container ? "a container" : "a component", v,
                        w->c->diags))
    return false;
  const char *name = v[N_NAME]->text;
  int64_t count;
  if (!tl_read_name(w->c, v[N_NAME], &name, &count)) return false;
  if (count != 1)
    return tf_fail(w->c->diags, v[N_NAME]->at, TF_E_SYNTAX,
                   "'%.60s': 0.4 writes instances as `spatial`", v[N_NAME]->text);
  if (v[N_ENABLED] && (tf_ynode_is(v[N_ENABLED], "false") || tf_ynode_is(v[N_ENABLED], "False"))) {
    tl_fold(w->c, TL_NOTHING, v[N_ENABLED]->at, "%.60s, which is not enabled", name);
    return true;
  }
  tl_tell_scales(w->c, v + N_AREA, name);
  if (v[N_SPARSE] && v[N_SPARSE]->n == 0) v[N_SPARSE] = NULL;
  if (v[N_SPARSE] && container)
    return tf_fail(w->c->diags, v[N_SPARSE]->at, TF_E_SHAPE, "the container '%.40s' stores nothing",
                   name);
  return container ? read_container(w, v) : read_component(w, v);
}

static bool read_list(walk *w, const tf_ynode *list) {
  bool ok = true;
  for (size_t i = 0; i < list->n; i++)
    ok &= read_node(w, list->items[i]);
  return ok;
}

bool tl_read_nodes(tl_case *c, const tf_ynode *list) {
  walk w = {.c = c, .x = 1, .y = 1};
  return read_list(&w, list);
}
