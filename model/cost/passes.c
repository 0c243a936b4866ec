/* Which nodes make words pass the ports of which memories; found once per tree. */
#include "model/cost/state.h"

/* Whether words pass the level because of node n itself: entries of a Tile, operands of an op,
 * corrections of a scope. */
static bool causes(const tf_plan *p, int n, int level) {
  for (int i = 0; i < p->n_slices; i++)
    if (p->slices[i].node == n &&
        (p->slices[i].above == level || (!p->slices[i].leaf && p->slices[i].level == level)))
      return true;
  for (int o = 0; o < p->wl->n_ops; o++)
    if (p->stream_scope[o] == n && p->stream[o].above == level) return true;
  return false;
}

int tf_pass_of(const tf_views *w, int n, int level) {
  const tf_view *v = &w->node[n];
  for (int i = v->first_pass; i < v->first_pass + v->n_passes; i++)
    if (w->passes[i].level == level) return i;
  return -1;
}

/* Adds the pass of node n at a level, if any words pass; those of its children exist already.
 * Children of Seq and Shar take at least as long as a port needs for them together, and a single
 * child as long as for itself: only what the node adds, or what Para and Pipe allow at once, may
 * take longer (`binds`). */
static void add_pass(const tf_plan *p, tf_views *w, int n, int level) {
  const tf_node *t = &p->tree->nodes[n];
  bool own = causes(p, n, level);
  int users = 0;
  for (int c = 0; c < t->n_children; c++)
    users += tf_pass_of(w, t->children[c], level) >= 0;
  if (!own && !users &&
      tf_plan_mtile(p, n, level) != n) /* an m-tile that only bypasses still occupies an instance */
    return;
  int i = w->n_passes++;
  w->passes[i] = (tf_pass){.node = n,
                           .level = level,
                           .up = -1,
                           .from = tf_plan_mtile(p, n, level),
                           .binds = own || (tf_plan_at_once(t) && users > 1)};
  for (int c = 0; c < t->n_children; c++) {
    int k = tf_pass_of(w, t->children[c], level);
    if (k < 0) continue;
    w->passes[k].up = i;
    w->passes[k].own_instances = tf_plan_at_once(t) && !tf_shared_instance(w, n, level);
  }
  w->node[n].n_passes++;
}

bool tf_passes_fill(tf_arena *a, const tf_plan *p, tf_views *w) {
  w->passes = TF_ARRAY(a, tf_pass, (size_t)(p->tree->n_nodes * w->n_memories));
  w->own_pass = TF_ARRAY(a, int, (size_t)p->n_slices + 1);
  w->up_pass = TF_ARRAY(a, int, (size_t)p->n_slices + 1);
  if (!w->passes || !w->own_pass || !w->up_pass) return false;
  for (int n = p->tree->n_nodes - 1; n >= 0; n--) {
    tf_view *v = &w->node[n];
    v->first_pass = w->n_passes;
    for (int l = 0; l < w->n_memories; l++)
      add_pass(p, w, n, l);
    for (int l = 0; l < v->n_legs; l++)
      v->legs[l].pass = tf_pass_of(w, n, v->legs[l].level);
  }
  for (int i = 0; i < p->n_slices; i++) {
    w->own_pass[i] = p->slices[i].leaf ? -1 : tf_pass_of(w, p->slices[i].node, p->slices[i].level);
    w->up_pass[i] = tf_pass_of(w, p->slices[i].node, p->slices[i].above);
  }
  return true;
}
