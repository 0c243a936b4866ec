/* Divides a mesh among branches that run at once: each should get about its share of all points.
 * The mesh is cut along its longer side.  The shares are heuristics: any counts that fit are in the
 * space. */
#include "search/space/build.h"

/* A mesh of units, or (unit -1) of the instances below a memory. */
typedef struct {
  int level, unit;
} mesh;

static mesh mesh_of(const tf_facts *f, int level, int o) {
  const int u = tf_space_unit(f, o);
  return (mesh){level, u >= 0 && f->arch->units[u].below <= level ? u : -1};
}

/* Whether op o runs on the mesh. */
static bool is_on(const tf_facts *f, mesh m, int o) {
  return tf_space_unit(f, o) >= 0 && mesh_of(f, m.level, o).unit == m.unit;
}

static bool is_at_once(const tf_node *n) {
  return n->kind == TF_SCOPE && tf_scope_at(n->scope)->at_once;
}

static double points_of(const tf_facts *f, int o) {
  double points = 1;
  for (int k = 0; k < f->wl->ops[o].n_dims; k++)
    points *= (double)f->wl->dims[f->wl->ops[o].dims[k]].extent;
  return points;
}

/* Points of the ops below node n that run on the mesh. */
static double points_below(const tf_facts *f, mesh m, int n) {
  double points = 0;
  for (int i = f->leaf_from[n]; i < f->leaf_end[n]; i++)
    if (is_on(f, m, f->leaf_op[i])) points += points_of(f, f->leaf_op[i]);
  return points;
}

static bool is_cut(const tf_facts *f, const tf_decision *d) {
  const tf_axis other = d->axis == TF_SPATIAL_X ? TF_SPATIAL_Y : TF_SPATIAL_X;
  const int32_t across = tf_space_mesh(f, d->node, other);
  return d->mesh > across || (d->mesh == across && d->axis == TF_SPATIAL_X);
}

int32_t tf_space_share(const tf_facts *f, const tf_decision *d) {
  const tf_node *nodes = f->tree->nodes;
  const mesh m = mesh_of(f, nodes[d->node].level, d->op);
  double part = 1;
  if (!is_cut(f, d)) return d->mesh;
  for (int n = d->node, up = nodes[n].parent; up >= 0; n = up, up = nodes[n].parent)
    if (is_at_once(&nodes[up])) {
      const double own = points_below(f, m, n), all = points_below(f, m, up);
      if (own > 0 && own < all) part *= own / all;
    }
  const int32_t share = (int32_t)(part * d->mesh + 0.5);
  return share > 0 ? share : 1;
}

/* The first decision at node n or after: decisions are in the order of nodes. */
static int first_from(const tf_trips *t, int n) {
  int lo = 0, hi = t->space.n;
  while (lo < hi) {
    const int mid = lo + (hi - lo) / 2;
    if (t->decision[mid].node < n)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

/* Instances of the mesh that the counts below node n take on the way to op o. */
static double taken_by(const tf_trips *t, const int32_t *row, mesh m, int n, int o) {
  const tf_node *nodes = t->tree->nodes;
  double area = 1;
  for (int i = first_from(t, n); i < t->space.n && t->decision[i].node < nodes[n].end; i++) {
    const tf_decision *d = &t->decision[i];
    if (d->axis != TF_TEMPORAL && row[i] > 1 && nodes[d->node].level == m.level &&
        tf_op_below(t->facts, o, d->node))
      area *= row[i];
  }
  return area;
}

/* The same, for all children of node n together. */
static double taken_below(const tf_trips *t, const int32_t *row, mesh m, int n) {
  const tf_facts *f = t->facts;
  const tf_node *node = &t->tree->nodes[n];
  double sum = 0;
  for (int c = 0; c < node->n_children; c++) {
    double most = 0;
    for (int i = f->leaf_from[node->children[c]]; i < f->leaf_end[node->children[c]]; i++) {
      const int o = f->leaf_op[i];
      const double area = is_on(f, m, o) ? taken_by(t, row, m, node->children[c], o) : 0;
      if (area > most) most = area;
    }
    sum += most;
  }
  return sum;
}

/* Whether the counts below some scope around decision d exceed the mesh. */
static bool exceeds_mesh(const tf_trips *t, const int32_t *row, const tf_decision *d) {
  const tf_node *nodes = t->tree->nodes;
  const mesh m = mesh_of(t->facts, nodes[d->node].level, d->op);
  const double all = (double)tf_space_mesh(t->facts, d->node, TF_SPATIAL_X) *
                     (double)tf_space_mesh(t->facts, d->node, TF_SPATIAL_Y);
  bool crowded = false;
  for (int up = nodes[d->node].parent; up >= 0 && !crowded; up = nodes[up].parent)
    crowded = is_at_once(&nodes[up]) && taken_below(t, row, m, up) > all;
  return crowded;
}

void tf_trips_make_room(const tf_trips *t, int32_t *row) {
  for (int i = 0; i < t->space.n; i++) {
    const tf_decision *d = &t->decision[i];
    if (d->axis == TF_TEMPORAL || d->share >= d->mesh || row[i] < 2 || !exceeds_mesh(t, row, d))
      continue;
    const int64_t used = tf_space_used(d, row);
    const int64_t most = used < d->share ? d->share / used : 1;
    if (row[i] > most) row[i] = (int32_t)most;
  }
}
