/* Instances used: whether the loops, and the children that run at once, fit every mesh
 * (docs/SEMANTICS.md section 4, D13; thesis Eq. 3.12). */
#include <string.h>

#include "base/checked.h"
#include "model/cost/state.h"

/* One attempt to place everything on a mesh: children that run at once are in shelves along one
 * axis. */
typedef struct {
  struct tf_model *m;
  const tf_mesh *mesh;
  int along;      /* axis of the shelves: 0 X, 1 Y */
  int n;          /* rectangles at m->rects in use */
  int packs;      /* scopes that are being placed */
  bool nested;    /* such a scope is inside a child of another */
  int node;       /* the last one that uses more than one instance */
  tf_spot *spots; /* [n_nodes] to be found; NULL: not asked for */
} placing;

static tf_rect use_of(placing *k, int n, tf_rect room);

static int64_t more(int64_t a, int64_t b) { return a > b ? a : b; }

/* Whether the children of node n are placed side by side on the mesh. */
static bool places(const placing *k, int n) {
  const tf_views *w = k->m->views;
  int level = k->mesh->level;
  return tf_plan_at_once(&k->m->plan->tree->nodes[n]) && tf_shared_instance(w, n, level) &&
         (k->mesh->unit >= 0 || !tf_shared_instance(w, n, level + 1));
}

/* The extent of Tile n's spatial loops over the mesh, by axis. */
static tf_rect loops_of(const placing *k, int n) {
  const tf_node *t = &k->m->plan->tree->nodes[n];
  tf_rect by = {.side = {1, 1}};
  for (int i = 0; i < t->n_loops && t->kind == TF_TILE && t->level == k->mesh->level; i++) {
    if (t->loops[i].axis == TF_TEMPORAL) continue;
    int64_t *on = &by.side[t->loops[i].axis == TF_SPATIAL_Y];
    *on = tf_sat_mul(*on, k->m->ev.trip[k->m->plan->first_loop[n] + i]);
  }
  return by;
}

/* Adds the rectangles placed side by side below node n: nested scopes without a loop between them
 * are one. */
static void gather(placing *k, int n, tf_rect room) {
  const tf_node *t = &k->m->plan->tree->nodes[n];
  tf_rect by = loops_of(k, n);
  bool through = t->kind == TF_TILE && by.side[0] == 1 && by.side[1] == 1;
  for (int c = 0; c < t->n_children && (through || places(k, n)); c++)
    gather(k, t->children[c], room);
  if (through || places(k, n)) return;
  tf_rect own = use_of(k, n, room);
  own.node = n;
  if (own.side[0]) k->m->rects[k->n++] = own;
}

/* Sorts by length across the shelves, longest first; stable. */
static void sort(tf_rect *r, int n, int across) {
  for (int i = 1; i < n; i++) {
    tf_rect own = r[i];
    int at = i;
    for (; at > 0 && r[at - 1].side[across] < own.side[across]; at--)
      r[at] = r[at - 1];
    r[at] = own;
  }
}

/* Packs rectangles into shelves as long as the room; spots: where each begins, if not NULL. */
static tf_rect shelves(tf_rect *r, int n, int along, tf_rect room, tf_spot *spots) {
  int across = !along;
  tf_rect all = {.side = {0, 0}};
  int64_t length = 0, depth = 0;
  sort(r, n, across);
  for (int i = 0; i < n; i++) {
    int64_t longer = tf_sat_add(length, r[i].side[along]);
    if (length && longer > room.side[along]) {
      all.side[across] = tf_sat_add(all.side[across], depth);
      longer = r[i].side[along];
      depth = 0;
    }
    if (spots) {
      spots[r[i].node].at[along] = longer - r[i].side[along];
      spots[r[i].node].at[across] = all.side[across];
    }
    length = longer;
    depth = more(depth, r[i].side[across]);
    all.side[along] = more(all.side[along], length);
  }
  all.side[across] = tf_sat_add(all.side[across], depth);
  return all;
}

/* The rectangle that the children of node n take side by side. */
static tf_rect place_children(placing *k, int n, tf_rect room) {
  int from = k->n;
  k->nested |= k->packs++ > 0;
  gather(k, n, room);
  k->packs--;
  if (k->n > from + 1) k->node = n;
  tf_rect use = shelves(&k->m->rects[from], k->n - from, k->along, room, k->spots);
  for (int a = 0; a < 2 && k->spots; a++)
    k->spots[n].block[a] = use.side[a];
  k->n = from;
  return use;
}

/* The part of the mesh that the nodes from n down use, within the room that the loops around leave
 * to each of them. */
static tf_rect use_of(placing *k, int n, tf_rect room) {
  const tf_plan *p = k->m->plan;
  const tf_node *t = &p->tree->nodes[n];
  if (t->kind == TF_OP)
    return (tf_rect){
        .side = {tf_mesh_serves(p, t->op, k->mesh), tf_mesh_serves(p, t->op, k->mesh)}};
  if (places(k, n)) return place_children(k, n, room);
  tf_rect use = {.side = {0, 0}}, by = loops_of(k, n);
  for (int a = 0; a < 2; a++)
    room.side[a] = more(1, by.side[a] > 0 ? room.side[a] / by.side[a] : 1);
  for (int c = 0; c < t->n_children; c++) {
    tf_rect one = use_of(k, t->children[c], room);
    for (int a = 0; a < 2; a++)
      use.side[a] = more(use.side[a], one.side[a]);
  }
  if (!use.side[0]) return use;
  for (int a = 0; a < 2; a++)
    use.side[a] = tf_sat_mul(use.side[a], by.side[a]);
  if (by.side[0] > 1 || by.side[1] > 1) k->node = n;
  return use;
}

static bool within(const placing *k, tf_rect use) {
  return use.side[0] <= k->mesh->mesh[0] && use.side[1] <= k->mesh->mesh[1];
}

/* The factor by which the mesh would have to be larger. */
static double excess(const placing *k, tf_rect use) {
  double by = 1;
  for (int a = 0; a < 2; a++)
    if (use.side[a] > k->mesh->mesh[a]) by *= (double)use.side[a] / (double)k->mesh->mesh[a];
  return by;
}

/* Whether shelves of some length up to the mesh's fit.  Shorter shelves are tried as shelves may be
 * nested: so a larger mesh always holds what a smaller one holds.  *use, *node: of the longest. */
static bool fits_along(placing k, tf_rect *use, int *node) {
  const tf_mesh *mesh = k.mesh;
  const int along = k.along;
  tf_rect room = {.side = {mesh->mesh[0], mesh->mesh[1]}};
  *use = use_of(&k, 0, room);
  *node = k.node;
  bool fit = within(&k, *use);
  if (room.side[along] > TF_MAX_SHELF) room.side[along] = TF_MAX_SHELF + 1;
  while (!fit && k.nested && --room.side[along] > 0)
    fit = within(&k, use_of(&k, 0, room));
  return fit;
}

static void check(struct tf_model *m, tf_result *out, const tf_mesh *mesh) {
  tf_rect use[2];
  int node[2];
  for (int a = 0; a < 2; a++)
    if (fits_along((placing){.m = m, .mesh = mesh, .along = a}, &use[a], &node[a])) return;
  placing k = {.mesh = mesh};
  int near = excess(&k, use[1]) < excess(&k, use[0]);
  for (int a = 0; a < 2; a++)
    if (use[near].side[a] > mesh->mesh[a])
      tf_violate(out, (tf_violation){.code = TF_E_FANOUT,
                                     .node = node[near],
                                     .unit = mesh->unit,
                                     .level = mesh->unit < 0 ? mesh->level + 1 : mesh->level,
                                     .axis = a,
                                     .need = use[near].side[a],
                                     .have = mesh->mesh[a]});
}

bool tf_mesh_place(struct tf_model *m, int mesh) {
  const size_t n = (size_t)m->plan->tree->n_nodes;
  tf_spot *spots = &m->spots[n * (size_t)mesh];
  bool fit = false;
  memset(spots, 0, n * sizeof *spots);
  for (int a = 0; a < 2 && !fit; a++) {
    placing k = {.m = m, .mesh = &m->views->meshes[mesh], .along = a, .spots = spots};
    tf_rect use;
    int node;
    fit = fits_along(k, &use, &node);
  }
  if (!fit) memset(spots, 0, n * sizeof *spots);
  return fit;
}

/* Whether the loops of every path fit the mesh: sufficient where no scope runs its children at
 * once. */
static bool paths_fit(const struct tf_model *m, const tf_mesh *mesh) {
  int64_t use[2] = {1, 1};
  bool fit = true;
  for (int i = 0; i < mesh->n_loops; i++) {
    int l = mesh->loops[i];
    if (l >= 0) {
      int64_t *by = &use[m->plan->loops[l].axis == TF_SPATIAL_Y];
      *by = tf_sat_mul(*by, m->ev.trip[l]);
      continue;
    }
    fit &= use[0] <= mesh->mesh[0] && use[1] <= mesh->mesh[1];
    use[0] = use[1] = 1;
  }
  return fit;
}

void tf_meshes_check(struct tf_model *m, tf_result *out) {
  for (int i = 0; i < m->views->n_meshes; i++)
    if (m->views->splits || !paths_fit(m, &m->views->meshes[i]))
      check(m, out, &m->views->meshes[i]);
}
