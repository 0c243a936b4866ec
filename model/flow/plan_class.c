/* Enumerates the ways in which control reaches an m-tile, and finds which entry left what its
 * memory then holds. */
#include "model/flow/plan_class.h"

#include "model/input/dims.h"

bool tf_plan_same_split(const tf_plan *p, int a, int b) {
  int c = tf_tree_common(p->tree, a, b);
  if (a != b && tf_plan_at_once(&p->tree->nodes[c])) return false;
  for (int n = a; n != c; n = p->tree->nodes[n].parent)
    if (n != a && tf_plan_at_once(&p->tree->nodes[n])) return false;
  for (int n = b; n != c; n = p->tree->nodes[n].parent)
    if (n != b && tf_plan_at_once(&p->tree->nodes[n])) return false;
  return true;
}

/* The last m-tile within nodes [from, to) that holds what s holds and that s can see; -1: none. */
static int last_seen(const tf_plan *p, const tf_slice *s, int from, int to) {
  for (int i = p->n_tile_slices - 1; i >= 0; i--) {
    const tf_slice *c = &p->slices[i];
    if (c->tensor == s->tensor && c->level == s->level && c->node >= from && c->node < to &&
        tf_plan_same_split(p, s->node, c->node))
      return i;
  }
  return -1;
}

/* Whether some of the children [from, to) of q that do not touch z have points for certain; those
 * that may have none because of q's retention are added to *idle. */
static bool any_untouched(const tf_plan *p, const tf_node *q, int from, int to, int z,
                          uint64_t *idle) {
  bool sure = false;
  for (int i = from; i < to; i++) {
    if (tf_node_touches(p->facts, q->children[i], z)) continue;
    bool follows = q->n_retain > 0 && i < 64;
    for (int k = q->children[i]; k < p->tree->nodes[q->children[i]].end; k++)
      if (p->tree->nodes[k].kind == TF_OP) follows &= p->made_in[p->tree->nodes[k].op] >= 0;
    if (follows) *idle |= UINT64_C(1) << i;
    sure |= !follows;
  }
  return sure;
}

/* The Seq that drops what prev left before control reaches node (docs/SEMANTICS.md: "Seq gives the
 * memory to the child that runs"); -1: none.  `top`: the Tile whose loop steps, or the scope that
 * passes from child to child.  idle: see tf_reuse_case. */
static int seq_drops(const tf_plan *p, int prev, int node, int top, int z, uint64_t *idle) {
  const tf_tree *t = p->tree;
  for (int q = t->nodes[prev].parent; q >= 0 && tf_plan_above(p, top, q); q = t->nodes[q].parent) {
    const tf_node *n = &t->nodes[q];
    if (!tf_plan_drops(n)) continue;
    int a = t->nodes[tf_child_towards(p->facts, q, prev)].child_no;
    int b = tf_plan_above(p, q, node) ? t->nodes[tf_child_towards(p->facts, q, node)].child_no : -1;
    bool passes = q == top ? any_untouched(p, n, a + 1, b, z, &idle[0])
                           : any_untouched(p, n, a + 1, n->n_children, z, &idle[1]) ||
                                 (b >= 0 && any_untouched(p, n, 0, b, z, &idle[0]));
    if (passes || (b < 0 && idle[1])) {
      idle[0] = 0;
      idle[1] = passes ? 0 : idle[1];
      return q;
    }
  }
  return -1;
}

/* Loops that spread the reduction of prev, below the outermost scope that control leaves. */
static bool fill_spread(tf_arena *a, const tf_plan *p, const tf_slice *prev, int top,
                        tf_reuse_case *c) {
  int scope = -1;
  if (!prev->makes) return true;
  for (int q = p->tree->nodes[prev->node].parent; q >= 0 && tf_plan_above(p, top, q);
       q = p->tree->nodes[q].parent)
    if (p->tree->nodes[q].kind == TF_SCOPE) scope = q;
  const tf_path *path = &p->path[prev->node];
  const tf_op *maker = &p->wl->ops[p->wl->tensors[prev->tensor].producer];
  c->spread = TF_ARRAY(a, int, (size_t)path->n + 1);
  for (int k = 0; c->spread && scope >= 0 && k < path->n; k++) {
    const tf_ploop *l = &p->loops[path->loops[k]];
    if (l->axis != TF_TEMPORAL && tf_plan_above(p, scope, l->node) &&
        tf_out_rank(maker, l->dim) < 0)
      c->spread[c->n_spread++] = path->loops[k];
  }
  return c->spread != NULL;
}

/* Completes class c, reached from node `top`, with the previous m-tile slice `prev` (-1: none). */
static bool finish(tf_arena *a, const tf_plan *p, const tf_slice *s, tf_reuse_case *c, int top,
                   int prev) {
  c->prev = -1;
  c->seq = -1;
  c->common = -1;
  c->top = top;
  if (prev < 0) return true;
  bool new_production = c->stepping >= 0 && !(s->inside >> c->stepping & 1);
  const tf_slice *q = &p->slices[prev];
  if (new_production) return true;
  c->seq = seq_drops(p, q->node, s->node, top, s->tensor, c->if_idle);
  if (c->seq >= 0) return true;
  c->prev = prev;
  if (!fill_spread(a, p, q, top, c)) return false;
  if (q == s) return true;
  c->common = tf_tree_common(p->tree, s->node, q->node);
  return true;
}

bool tf_plan_classes(tf_arena *a, tf_plan *p, tf_slice *s) {
  const tf_tree *t = p->tree;
  int pos = p->path[s->node].n;
  s->classes = TF_ARRAY(a, tf_reuse_case, (size_t)pos + 1);
  if (!s->classes) return false;
  for (int below = s->node, n = t->nodes[below].parent; n >= 0; below = n, n = t->nodes[n].parent) {
    const tf_node *node = &t->nodes[n];
    if (node->kind == TF_SCOPE) {
      int prev = tf_plan_at_once(node) ? -1 : last_seen(p, s, n, below);
      if (prev < 0) continue;
      tf_reuse_case *c = &s->classes[s->n_class++];
      *c = (tf_reuse_case){.stepping = -1, .zero_from = pos};
      return finish(a, p, s, c, n, prev);
    }
    for (int k = node->n_loops - 1; k >= 0; k--) {
      pos--;
      if (node->loops[k].axis != TF_TEMPORAL) continue;
      tf_reuse_case *c = &s->classes[s->n_class++];
      *c = (tf_reuse_case){.stepping = pos, .zero_from = pos + 1};
      if (!finish(a, p, s, c, n, last_seen(p, s, n, node->end))) return false;
    }
  }
  s->classes[s->n_class++] =
      (tf_reuse_case){.stepping = -1, .zero_from = 0, .prev = -1, .seq = -1, .common = -1};
  return true;
}
