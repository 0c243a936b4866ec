/* Whether everything has room: docs/SEMANTICS.md D13, sentence by sentence, and capacities. */
#include <stdlib.h>
#include <string.h>

#include "tests/oracle/oracle.h"

/* A mesh: instances of memory `level` + 1, or (unit >= 0) units below memory `level`. */
typedef struct {
  int level, unit;
  int64_t size[2];
} mesh;

/* What a node takes: length along the shelves, depth across them. */
typedef struct {
  int64_t length, depth;
  int node;
} area;

/* A way to place it: the axis along which shelves run. */
typedef struct {
  const oracle *o;
  const mesh *on;
  int axis;
  berth *spots; /* where what stands in shelves is written; NULL: nowhere */
} layout;

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

static bool uses(const oracle *o, const mesh *on, int op) {
  return on->unit < 0 ? o->arch->units[o->unit[op]].below > on->level : o->unit[op] == on->unit;
}

static bool apart(const layout *l, int n) {
  const tf_node *t = &l->o->tree->nodes[n];
  if (t->kind != TF_SCOPE || (t->scope != TF_PARA && t->scope != TF_PIPE)) return false;
  return share_instance(l->o, n, l->on->level) &&
         (l->on->unit >= 0 || !share_instance(l->o, n, l->on->level + 1));
}

/* Copies of the child that the node's spatial loops put on the mesh along an axis. */
static int64_t copies(const layout *l, int n, int axis) {
  const tf_node *t = &l->o->tree->nodes[n];
  int64_t all = 1;
  for (int k = 0; t->kind == TF_TILE && t->level == l->on->level && k < t->n_loops; k++)
    if (t->loops[k].axis == (axis ? TF_SPATIAL_Y : TF_SPATIAL_X)) all *= t->loops[k].trip;
  return all;
}

/* What node n takes where shelves have at most that length. */
static area area_of(const layout *l, int n, int64_t most);

/* The areas of what stands in shelves below a scope, in the order of the text: through scopes of
 * that kind, and through Tiles that have no spatial loop for the mesh. */
static int list_areas(const layout *l, int n, int64_t most, area *to) {
  const tf_node *t = &l->o->tree->nodes[n];
  bool open = apart(l, n) || (t->kind == TF_TILE && copies(l, n, 0) == 1 && copies(l, n, 1) == 1);
  int found = 0;
  for (int c = 0; open && c < t->n_children; c++)
    found += list_areas(l, t->children[c], most, &to[found]);
  if (open) return found;
  *to = area_of(l, n, most);
  to->node = n;
  return to->length > 0;
}

/* Takes the deepest that is left, time and again, and begins a shelf where it does not fit the one
 * at hand. */
static area in_shelves(const layout *l, area *list, int n, int64_t most) {
  area all = {0, 0, 0};
  int64_t at = 0, depth = 0;
  for (int k = 0; k < n; k++) {
    int best = -1;
    for (int i = 0; i < n; i++)
      if (list[i].length > 0 && (best < 0 || list[i].depth > list[best].depth)) best = i;
    if (at > 0 && at + list[best].length > most) {
      all.depth += depth;
      at = depth = 0;
    }
    if (l->spots) {
      l->spots[list[best].node].corner[l->axis] = at;
      l->spots[list[best].node].corner[!l->axis] = all.depth;
    }
    at += list[best].length;
    depth = larger(depth, list[best].depth);
    all.length = larger(all.length, at);
    list[best].length = 0;
  }
  all.depth += depth;
  return all;
}

static area area_of(const layout *l, int n, int64_t most) {
  const tf_node *t = &l->o->tree->nodes[n];
  area all = {0, 0, 0};
  if (t->kind == TF_OP) return uses(l->o, l->on, t->op) ? (area){1, 1, n} : all;
  if (apart(l, n)) {
    area *list = calloc((size_t)l->o->tree->n_nodes + 1, sizeof *list);
    if (!list) abort();
    all = in_shelves(l, list, list_areas(l, n, most, list), most);
    free(list);
    if (l->spots) {
      l->spots[n].whole[l->axis] = all.length;
      l->spots[n].whole[!l->axis] = all.depth;
    }
    return all;
  }
  int64_t times = copies(l, n, l->axis), left = most / times;
  for (int c = 0; c < t->n_children; c++) {
    area k = area_of(l, t->children[c], left > 0 ? left : 1);
    all.length = larger(all.length, k.length);
    all.depth = larger(all.depth, k.depth);
  }
  return (area){all.length * times, all.depth * copies(l, n, !l->axis), n};
}

/* Shelves along either axis, of any length up to the mesh's. */
static bool has_room(const oracle *o, const mesh *on) {
  for (int axis = 0; axis < 2; axis++)
    for (int64_t most = 1; most <= on->size[axis]; most++) {
      area a = area_of(&(layout){o, on, axis, NULL}, 0, most);
      if (a.length <= on->size[axis] && a.depth <= on->size[!axis]) return true;
    }
  return false;
}

void find_spots(const oracle *o, int level, berth *spots) {
  const tf_memory *mem = &o->arch->memories[level];
  const mesh on = {level - 1, -1, {mem->mesh[0], mem->mesh[1]}};
  for (int axis = 0; axis < 2; axis++)
    for (int64_t most = on.size[axis]; most > 0; most--) {
      const area a = area_of(&(layout){o, &on, axis, spots}, 0, most);
      if (a.length <= on.size[axis] && a.depth <= on.size[!axis]) return;
    }
  memset(spots, 0, (size_t)o->tree->n_nodes * sizeof *spots);
}

bool fits(const oracle *o) {
  const tf_arch *arch = o->arch;
  bool fit = true;
  for (int l = 0; l < arch->n_memories; l++) {
    const tf_memory *mem = &arch->memories[l];
    mesh on = {l - 1, -1, {mem->mesh[0], mem->mesh[1]}};
    fit = fit && (mem->capacity_words < 0 || o->level_peak[l] <= mem->capacity_words) &&
          (!l || has_room(o, &on));
    for (int i = 0; i < mem->parts.n; i++)
      fit = fit && o->part_peak[l][i] <= mem->parts.list[i].capacity_words;
  }
  for (int u = 0; u < arch->n_units; u++) {
    mesh on = {arch->units[u].below, u, {arch->units[u].mesh[0], arch->units[u].mesh[1]}};
    fit = fit && has_room(o, &on);
  }
  return fit;
}
