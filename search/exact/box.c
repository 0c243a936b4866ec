/* Words that an op touches below a Tile: those that must be held there, and those that siblings may
 * have left there. */
#include <math.h>

#include "search/exact/state.h"

/* The last node on the way from a Tile to an op: the op's next Tile, or its leaf. */
static int next_node(const tf_x_template *t, const tf_x_tile *x) {
  int n = t->tree->nodes[x->node].children[0];
  while (t->tree->nodes[n].kind == TF_SCOPE)
    n = t->tree->nodes[n].children[t->tree->nodes[n].n_children - 1];
  return n;
}

/* Elements of what op o reads (k >= 0) or produces (-1), for given lengths of the dims: an upper
 * bound; least: a lower bound for every position of the box (the first box reaches furthest into
 * the padding). */
static double box_of(const tf_workload *wl, int o, int k, const int32_t *len, bool least) {
  const tf_op *op = &wl->ops[o];
  const tf_tensor *z = &wl->tensors[k < 0 ? op->out : op->reads[k].tensor];
  double box = 1;
  for (int r = 0; r < z->rank; r++) {
    double n = 1;
    if (k < 0)
      n = len[op->dims[r]];
    else
      for (int j = 0; j < op->reads[k].index[r].n_terms; j++) {
        const tf_term *term = &op->reads[k].index[r].terms[j];
        n += (double)(term->coef < 0 ? -term->coef : term->coef) * (len[term->dim] - 1);
      }
    if (least && k >= 0) n = fmax(1, n - (double)z->pad[r]);
    box *= fmin(n, (double)z->extent[r]);
  }
  return box;
}

/* Bits of what op o touches below a memory's Tile and what the memory, or a part of it, holds; each
 * tensor once, by its first reference. */
static double held_bits(const tf_x_template *t, int o, const tf_node *tile, const tf_mem_part *part,
                        const int32_t *len) {
  const tf_workload *wl = t->facts->wl;
  double bits = 0;
  bool met[64] = {false};
  for (int k = -1; k < wl->ops[o].n_reads; k++) {
    int z = k < 0 ? wl->ops[o].out : wl->ops[o].reads[k].tensor;
    if (met[z] || tf_tree_home(t->tree, z) >= tile->level) continue;
    met[z] = true;
    const tf_memory *m = &t->facts->arch->memories[tile->level];
    if (part && tf_part_for(m, tf_role_below(t->facts, (int)(tile - t->tree->nodes), z)) != part)
      continue;
    const int width = wl->tensors[z].word_bits;
    bits +=
        box_of(wl, o, k, len, true) * (part && part->word_bits > width ? part->word_bits : width);
  }
  return bits;
}

static bool parts_hold(const tf_x_template *t, int o, const tf_node *tile, const int32_t *len) {
  const tf_memory *m = &t->facts->arch->memories[tile->level];
  for (int i = 0; i < m->parts.n; i++) {
    const tf_mem_part *p = &m->parts.list[i];
    const double bits =
        held_bits(t, o, tile, p, len) * (m->double_buffered || p->double_buffered ? 2 : 1);
    if (ceil(bits / m->word_bits) > (double)p->capacity_words) return false;
  }
  return true;
}

bool tf_x_holds(tf_x_worker *w, const tf_x_tile *x, const int32_t *left, const int32_t *inside) {
  const tf_facts *f = w->t->facts;
  int o = x->op < 0 ? f->wl->topo[f->wl->n_ops - 1] : x->op, level = x->level + 1;
  const tf_node *child = &f->tree->nodes[next_node(w->t, x)];
  if (x->last || child->kind != TF_TILE || child->level != level) return true;
  const tf_memory *mem = &f->arch->memories[level];
  int32_t len[256];
  if (mem->capacity_words < 0) return true;
  for (int i = 0; i < f->wl->ops[o].n_dims; i++)
    len[f->wl->ops[o].dims[i]] = left[f->dim_from[o] + i];
  for (int i = 0; i < x->n_dims; i++)
    len[x->dims[i]] = inside[i];
  double bits = held_bits(w->t, o, child, NULL, len) * (mem->double_buffered ? 2 : 1);
  int64_t words = (int64_t)ceil(bits / mem->word_bits);
  const bool room = words <= mem->capacity_words;
  if (room && parts_hold(w->t, o, child, len)) return true;
  tf_x_note_capacity(w, level, room ? INT64_MAX : words);
  return false;
}

/* ---- reuse of what siblings left ------------------------------------------------------------- */
/* Whether a sibling may have left a copy of read k where Tile x spreads it.  Each spatial loop must
 * move the tensor: a sibling that spreads over a dim which does not move it reduces over that dim,
 * and then drops its copies. */
static bool may_find(const tf_x_template *t, const tf_x_tile *x, int k, const tf_x_state *s) {
  const tf_workload *wl = t->facts->wl;
  const tf_ref *ref = &wl->ops[x->op].reads[k];
  const tf_tensor *z = &wl->tensors[ref->tensor];
  if (z->producer < 0) return false;
  for (int i = 0; i < x->n_dims && z->n_consumers == 1; i++) {
    bool spreads = false, moves = false;
    for (int a = 0; a < 2; a++)
      spreads |= x->spatial[a][i] >= 0 && s->trips[x->spatial[a][i]] > 1;
    for (int r = 0; r < z->rank; r++)
      for (int j = 0; j < ref->index[r].n_terms; j++)
        moves |= ref->index[r].terms[j].dim == x->dims[i];
    if (spreads && !moves) return false;
  }
  return true;
}

static double instances_above(const tf_x_template *t, int n, const tf_x_state *s) {
  double all = 1;
  for (int p = t->tree->nodes[n].parent; p >= 0; p = t->tree->nodes[p].parent)
    for (int k = 0; t->tree->nodes[p].kind == TF_TILE && k < t->tree->nodes[p].n_loops; k++)
      if (t->tree->nodes[p].loops[k].axis != TF_TEMPORAL)
        all *= (double)s->trips[t->facts->loop_from[p] + k];
  return all;
}

/* An upper bound on the bits that one read finds in its memory, over the run, per instance. */
static double found_bits(tf_x_worker *w, const tf_x_tile *x, int k, const tf_x_state *s,
                         const tf_result *r) {
  const tf_facts *f = w->t->facts;
  const tf_op *op = &f->wl->ops[x->op];
  int z = op->reads[k].tensor, scope = tf_tree_home_scope(f->tree, z);
  int32_t len[256];
  if (scope < 0 || !may_find(w->t, x, k, s)) return 0;
  for (int i = 0; i < op->n_dims; i++)
    len[op->dims[i]] = w->t->rest[x->op][i] < 0 ? 1 : (int32_t)s->trips[w->t->rest[x->op][i]];
  return box_of(f->wl, x->op, k, len, false) * f->wl->tensors[z].word_bits *
         (double)r->nodes[scope].runs;
}

/* The memory of the Tile below x, NULL where there is none; *n: its node. */
static const tf_memory *memory_below(const tf_x_template *t, const tf_x_tile *x, int *n) {
  const tf_node *below = &t->tree->nodes[ *n = next_node(t, x)];
  return below->kind == TF_TILE ? &t->facts->arch->memories[below->level] : NULL;
}

double tf_x_reuse_time(tf_x_worker *w, const tf_x_tile *x, const tf_x_state *s,
                       const tf_result *r) {
  int n;
  double time = 0;
  const tf_memory *own = memory_below(w->t, x, &n), *up = &w->t->facts->arch->memories[x->level];
  for (int k = 0; own && k < w->t->facts->wl->ops[x->op].n_reads; k++) {
    double bits = found_bits(w, x, k, s, r);
    time += bits / own->word_bits / own->write_bw;
    time += bits / up->word_bits / up->read_bw * instances_above(w->t, n, s) /
            instances_above(w->t, x->node, s);
  }
  return time;
}

double tf_x_reuse_pj(tf_x_worker *w, const tf_x_tile *x, const tf_x_state *s, const tf_result *r) {
  int n;
  double pj = 0;
  const tf_memory *own = memory_below(w->t, x, &n), *up = &w->t->facts->arch->memories[x->level];
  const double hops = own ? own->hop_pj * (double)(own->mesh[0] + own->mesh[1]) : 0;
  for (int k = 0; own && k < w->t->facts->wl->ops[x->op].n_reads; k++) {
    double bits = found_bits(w, x, k, s, r) * instances_above(w->t, n, s);
    pj += bits / own->word_bits * (own->write_pj + hops) + bits / up->word_bits * up->read_pj;
  }
  return pj;
}
