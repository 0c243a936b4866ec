/* What the tree says before anything runs. */
#include <string.h>

#include "tests/oracle/oracle.h"

bool below(const oracle *o, int n, int top) {
  for (; n >= 0; n = o->tree->nodes[n].parent)
    if (n == top) return true;
  return false;
}

bool op_below(const oracle *o, int op, int top) { return below(o, o->tree->op_node[op], top); }

static bool reads(const oracle *o, int op, int z) {
  for (int i = 0; i < o->wl->ops[op].n_reads; i++)
    if (o->wl->ops[op].reads[i].tensor == z) return true;
  return false;
}

bool touches(const oracle *o, int op, int z) { return o->wl->ops[op].out == z || reads(o, op, z); }

bool touched_below(const oracle *o, int top, int z) {
  for (int i = 0; i < o->wl->n_ops; i++)
    if (op_below(o, i, top) && touches(o, i, z)) return true;
  return false;
}

static bool find_leads(const oracle *o, int op, int n) {
  for (int i = 0; i < o->wl->n_ops; i++)
    if (op_below(o, i, n) && reads(o, i, o->wl->ops[op].out)) return false;
  return true;
}

bool leads(const oracle *o, int op, int n) { return o->leads[op * o->tree->n_nodes + n]; }

void note_leads(oracle *o) {
  for (int op = 0; op < o->wl->n_ops; op++)
    for (int n = 0; n < o->tree->n_nodes; n++)
      o->leads[op * o->tree->n_nodes + n] = find_leads(o, op, n);
}

int mtile(const oracle *o, int n, int level) {
  int first = -1;
  for (; n >= 0; n = o->tree->nodes[n].parent)
    if (o->tree->nodes[n].kind == TF_TILE && o->tree->nodes[n].level == level) first = n;
  return first;
}

int lowest_common(const oracle *o, int a, int b) {
  while (!below(o, b, a))
    a = o->tree->nodes[a].parent;
  return a;
}

static int maker(const oracle *o, int z) {
  for (int i = 0; i < o->wl->n_ops; i++)
    if (o->wl->ops[i].out == z) return i;
  return -1;
}

int home_scope(const oracle *o, int z) {
  int make = maker(o, z), common = make < 0 ? -1 : o->tree->op_node[make];
  bool read = false;
  for (int i = 0; i < o->wl->n_ops && make >= 0; i++)
    if (reads(o, i, z)) {
      common = lowest_common(o, common, o->tree->op_node[i]);
      read = true;
    }
  return read ? common : -1;
}

/* Of inputs and outputs: the memory whose `home` names it. */
static int given_home(const oracle *o, int z) {
  int level = 0;
  for (int l = 0; l < o->arch->n_memories; l++)
    for (int i = 0; i < o->arch->memories[l].home.n; i++)
      if (!strcmp(o->arch->memories[l].home.names[i].name, o->wl->tensors[z].name)) level = l;
  return level;
}

int home_level(const oracle *o, int z) {
  int scope = home_scope(o, z);
  if (scope < 0) return given_home(o, z);
  const tf_node *s = &o->tree->nodes[scope];
  for (int i = 0; i < s->n_keep; i++)
    if (s->keep[i].tensor == z) return s->keep[i].level;
  for (int n = s->parent; n >= 0; n = o->tree->nodes[n].parent)
    if (o->tree->nodes[n].kind == TF_TILE) return o->tree->nodes[n].level;
  return 0;
}

bool holds(const oracle *o, int tile, int z) {
  const tf_node *t = &o->tree->nodes[tile];
  if (t->kind != TF_TILE || mtile(o, tile, t->level) != tile || t->level <= home_level(o, z))
    return false;
  for (int i = 0; i < t->n_bypass; i++)
    if (t->bypass[i].tensor == z) return false;
  return touched_below(o, tile, z);
}

int server(const oracle *o, int n, int z, int level) {
  for (int l = level - 1; l > home_level(o, z); l--)
    if (mtile(o, n, l) >= 0 && holds(o, mtile(o, n, l), z)) return l;
  return home_level(o, z);
}

bool makes(const oracle *o, int n, int z) {
  int make = maker(o, z);
  return make >= 0 && op_below(o, make, n);
}

int stream_scope(const oracle *o, int op) {
  for (int i = 0; i < o->tree->n_nodes; i++)
    for (int k = 0; o->tree->nodes[i].kind == TF_SCOPE && k < o->tree->nodes[i].n_stream; k++)
      if (o->tree->nodes[i].stream[k].tensor == o->wl->ops[op].out) return i;
  return -1;
}

int path_to(const oracle *o, int n, place *list) {
  int up = o->tree->nodes[n].parent;
  if (up < 0) return 0;
  int k = path_to(o, up, list);
  for (int s = 0; o->tree->nodes[up].kind == TF_TILE && s < o->tree->nodes[up].n_loops; s++)
    list[k++] = (place){up, s};
  return k;
}

const tf_loop *loop_of(const oracle *o, place p) { return &o->tree->nodes[p.node].loops[p.slot]; }

static bool turned(const oracle *o, int n, int scope) {
  place path[MAX_PATH];
  int len = path_to(o, n, path);
  if (o->masked >= 0) return o->class_now[n] > 0 && below(o, path[o->class_now[n] - 1].node, scope);
  for (int i = 0; i < len; i++)
    if (below(o, path[i].node, scope) && loop_of(o, path[i])->axis == TF_TEMPORAL &&
        o->digit[path[i].node][path[i].slot] != 0)
      return true;
  return false;
}

/* Whether an m-tile of the level that holds z stands in that child, no Para or Pipe between. */
static bool sibling_holds(const oracle *o, int child, int level, int z) {
  const tf_node *t = &o->tree->nodes[child];
  if (t->kind == TF_TILE && t->level == level && holds(o, child, z)) return true;
  if (t->kind == TF_SCOPE && (t->scope == TF_PARA || t->scope == TF_PIPE)) return false;
  for (int c = 0; c < t->n_children; c++)
    if (sibling_holds(o, t->children[c], level, z)) return true;
  return false;
}

/* Choice: where several scopes qualify, the innermost: it is that sibling's entry which comes just
 * before. */
int follows(const oracle *o, int n, int z) {
  int level = o->tree->nodes[n].level;
  for (int from = n, s = o->tree->nodes[n].parent; s >= 0; from = s, s = o->tree->nodes[s].parent) {
    const tf_node *t = &o->tree->nodes[s];
    if (t->kind != TF_SCOPE) continue;
    if (t->scope == TF_PARA || t->scope == TF_PIPE || turned(o, n, s)) return -1;
    for (int c = 0; t->children[c] != from; c++)
      if (sibling_holds(o, t->children[c], level, z)) return s;
  }
  return -1;
}

int unit_of(const oracle *o, int op) {
  int deepest = 0;
  for (int n = o->tree->op_node[op]; n >= 0; n = o->tree->nodes[n].parent)
    if (o->tree->nodes[n].kind == TF_TILE && o->tree->nodes[n].level > deepest)
      deepest = o->tree->nodes[n].level;
  for (int u = 0; u < o->arch->n_units; u++)
    if (!(o->wl->ops[op].kinds & ~o->arch->units[u].kinds) && o->arch->units[u].below >= deepest)
      return u;
  return 0;
}

/* ---- what there is room for ----------------------------------------------------------------- */

void give_up_walk(oracle *o, const char *too_many) {
  if (!o->gave_up) o->too_many = too_many;
  o->gave_up = true;
}

static void limit(oracle *o, int64_t n, int64_t most, const char *what) {
  if (n > most) give_up_walk(o, what);
}

/* A key has a digit for each spatial loop above its instance, behind a one. */
static void find_radix(oracle *o) {
  uint64_t most = 2;
  for (int n = 0; n < o->tree->n_nodes; n++)
    for (int s = 0; s < o->tree->nodes[n].n_loops; s++) {
      const tf_loop *l = &o->tree->nodes[n].loops[s];
      if (l->axis != TF_TEMPORAL && (uint64_t)l->trip > most) most = (uint64_t)l->trip;
    }
  o->radix = most;
  o->saw[SAW_WIDE] = most > 16;
  for (int op = 0; op < o->wl->n_ops; op++) {
    place path[MAX_PATH];
    const int len = path_to(o, o->tree->op_node[op], path);
    uint64_t keys = 2;
    for (int i = 0; i < len; i++) {
      if (loop_of(o, path[i])->axis == TF_TEMPORAL || loop_of(o, path[i])->trip <= 1) continue;
      if (keys > UINT64_MAX / most) give_up_walk(o, "instances to be named");
      keys *= most;
    }
  }
}

void find_room(oracle *o) {
  limit(o, o->tree->n_nodes, MAX_NODES, "nodes");
  limit(o, o->wl->n_ops, MAX_OPS, "ops");
  limit(o, o->wl->n_tensors, 256, "tensors");
  limit(o, o->arch->n_memories, MAX_LEVELS - 1, "memories");
  for (int z = 0; z < o->wl->n_tensors; z++) {
    limit(o, o->wl->tensors[z].rank, MAX_RANK, "ranks of a tensor");
    limit(o, tf_tensor_words(&o->wl->tensors[z]), MAX_ELEMENTS, "elements of a tensor");
  }
  for (int op = 0; op < o->wl->n_ops; op++) {
    limit(o, o->wl->ops[op].n_reads, 15, "reads of an op");
    limit(o, o->wl->ops[op].n_dims, MAX_DIMS, "dims of an op");
    int loops = 0;
    for (int n = o->tree->op_node[op]; n >= 0; n = o->tree->nodes[n].parent)
      loops += o->tree->nodes[n].n_loops;
    limit(o, loops, MAX_PATH, "loops above an op");
  }
  for (int n = 0; n < o->tree->n_nodes; n++)
    limit(o, o->tree->nodes[n].n_loops, 16, "loops of a Tile");
  if (!o->gave_up) find_radix(o);
}
