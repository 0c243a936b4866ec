/* Finds which scopes retain, and which ops' ranges depend on what they compute. */
#include "model/flow/range_memo.h"
#include "model/flow/retain.h"

/* The retaining scope whose runs determine the range of op o, which does not lead at node n; -1:
 * none. */
static int inferred_in(const tf_plan *p, int o, int n);
static int range_in(const tf_plan *p, int o, int n);

static int found_in(const tf_plan *p, int o, int n) {
  if (!tf_plan_leads(p, o, n)) return inferred_in(p, o, n);
  int up = p->tree->nodes[p->lead[o]].parent;
  return up < 0 ? -1 : range_in(p, o, up);
}

static int range_in(const tf_plan *p, int o, int n) {
  if (!p->memo) return found_in(p, o, n);
  bool known;
  tf_range_found *f = tf_memo_find(p, o, 0, n, &known);
  if (known) return f->scope;
  int in = found_in(p, o, n);
  f->scope = in;
  tf_memo_store(p, f, o, 0, n);
  return in;
}

static int inferred_in(const tf_plan *p, int o, int n) {
  const tf_tensor *z = &p->wl->tensors[p->wl->ops[o].out];
  if (p->retained[p->wl->ops[o].out] && n == p->home_scope[p->wl->ops[o].out]) return n;
  for (int i = 0; i < z->n_consumers; i++)
    if (tf_plan_above(p, n, p->tree->op_node[z->consumers[i]])) {
      int in = range_in(p, z->consumers[i], n);
      if (in >= 0) return in;
    }
  return -1;
}

/* Loops whose step makes a Seq between them and the scope pass to children that do not touch what
 * it keeps. */
static uint64_t dropping(const tf_plan *p, int scope) {
  const tf_path *path = &p->path[scope];
  uint64_t mask = 0;
  for (int q = p->tree->nodes[scope].parent; q >= 0; q = p->tree->nodes[q].parent)
    for (int k = 0; tf_plan_drops(&p->tree->nodes[q]) && k < path->n; k++)
      if (path->temporal >> k & 1 && tf_plan_above(p, p->loops[path->loops[k]].node, q))
        mask |= UINT64_C(1) << k;
  return mask;
}

static bool fill_retain(tf_plan *p, tf_retain *h) {
  for (int i = p->wl->n_ops - 1; i >= 0; i--) {
    int o = p->wl->topo[i], z = p->wl->ops[o].out;
    if (!p->retained[z] || p->home_scope[z] != h->scope) continue;
    if (h->n_ops == TF_MAX_RETAIN) return false;
    h->ops[h->n_ops++] = o;
    for (int r = 0; r < p->wl->ops[o].n_out_dims; r++)
      h->moves |= tf_demand_mask(p, o, r, h->scope);
  }
  h->drops = dropping(p, h->scope);
  return true;
}

/* Whether two retaining scopes are nested. */
static bool nested(const tf_plan *p) {
  for (int i = 0; i < p->n_retains; i++)
    for (int j = 0; j < p->n_retains; j++)
      if (i != j && tf_plan_above(p, p->retains[i].scope, p->retains[j].scope)) return true;
  return false;
}

/* Whether an op whose range depends on what is computed writes a tensor that lives further out. */
static bool escapes(const tf_plan *p) {
  for (int o = 0; o < p->wl->n_ops; o++) {
    int home = p->home_scope[p->wl->ops[o].out];
    if (p->made_in[o] >= 0 &&
        (home < 0 || !tf_plan_above(p, p->retains[p->made_in[o]].scope, home)))
      return true;
    if (p->stream_scope[o] >= 0 && p->made_in[o] >= 0) return true;
  }
  return false;
}

/* Whether an op that is computed in full is read by one whose range depends on what a retaining
 * scope computes, and by one whose range does not: the first may have no points while the second
 * has. */
static bool idle_for_one_reader(const tf_plan *p) {
  for (int o = 0; o < p->wl->n_ops; o++) {
    const tf_tensor *z = &p->wl->tensors[p->wl->ops[o].out];
    bool follows = false, free = false;
    for (int i = 0; i < z->n_consumers; i++) {
      follows |= p->made_in[z->consumers[i]] >= 0;
      free |= p->made_in[z->consumers[i]] < 0;
    }
    if (follows && free && z->n_consumers > 1) return true;
  }
  return false;
}

/* ---- ops without points, and what they would read ------------------------------------------- */

/* Ranks of a read whose index has a dim that is empty when the op has no points. */
static uint64_t empty_along(const tf_plan *p, const uint64_t *empty, tf_read_below at) {
  const tf_op *op = &p->wl->ops[at.op];
  uint64_t ranks = 0;
  for (int r = 0; r < p->wl->tensors[at.tensor].rank; r++)
    for (int t = 0; t < op->reads[at.ref].index[r].n_terms; t++) {
      const int rank = tf_out_rank(op, op->reads[at.ref].index[r].terms[t].dim);
      if (rank >= 0) ranks |= (empty[at.op] >> rank & 1) << r;
    }
  return ranks;
}

static uint64_t all_ranks(const tf_tensor *z) { return (UINT64_C(1) << z->rank) - 1; }

/* Ranks of op o's output whose ranges are empty whenever o has no points because a retaining scope
 * holds them; `empty` has those of its readers.  For a retained op all ranks; for another, those
 * along which each read of it is empty. */
static uint64_t empty_ranks(const tf_plan *p, const uint64_t *empty, int o) {
  const int z = p->wl->ops[o].out;
  uint64_t ranks = p->made_in[o] >= 0 ? all_ranks(&p->wl->tensors[z]) : 0;
  if (p->retained[z] || !ranks) return ranks;
  TF_EACH_READ (p->facts, o, 0, at)
    ranks &= empty_along(p, empty, at);
  return ranks;
}

/* Whether tensor z is also read by another op than `at`'s, in one m-tile below the scope that
 * decides whether the latter has points. */
static bool shares_tile(const tf_plan *p, tf_read_below at, int z) {
  const int scope = p->retains[p->made_in[at.op]].scope;
  for (int i = 0; i < p->wl->tensors[z].n_consumers; i++) {
    const int other = p->wl->tensors[z].consumers[i];
    const int both = tf_tree_common(p->tree, p->tree->op_node[at.op], p->tree->op_node[other]);
    if (other != at.op && both != scope && tf_plan_above(p, scope, both)) return true;
  }
  return false;
}

/* Whether, rank by rank, an op without points seems to read something: an index without a dim of
 * the op's output is never empty.  Then the sums would count what only it reads, or a larger box of
 * what others read. */
static bool may_read_without_points(const tf_plan *p, const uint64_t *empty) {
  for (int z = 0; z < p->wl->n_tensors; z++) {
    const tf_tensor *t = &p->wl->tensors[z];
    const bool follows = t->producer >= 0 && p->made_in[t->producer] >= 0 && !p->retained[z];
    if (follows && !empty[t->producer] && t->rank) return true;
    for (int i = 0; i < t->n_consumers; i++)
      for (int k = 0; k < p->wl->ops[t->consumers[i]].n_reads; k++) {
        const tf_read_below at = {.op = t->consumers[i], .ref = k, .tensor = z};
        if (p->wl->ops[at.op].reads[k].tensor != z || p->made_in[at.op] < 0) continue;
        const bool whole = empty_along(p, empty, at) == all_ranks(t);
        if (!whole && ((follows && t->n_consumers > 1) || shares_tile(p, at, z))) return true;
      }
  }
  return false;
}

/* The same, or out of memory. */
static bool check_idle_reads(tf_arena *a, const tf_plan *p) {
  uint64_t *empty = TF_ARRAY(a, uint64_t, (size_t)p->wl->n_ops);
  if (!empty) return true;
  for (int i = p->wl->n_ops - 1; i >= 0; i--)
    empty[p->wl->topo[i]] = empty_ranks(p, empty, p->wl->topo[i]);
  return may_read_without_points(p, empty);
}

/* Whether a Seq below a retaining scope has a child in which all ranges depend on what is computed:
 * a run that has nothing left to compute does not enter the child, and the Seq does not pass to
 * it. */
static bool may_skip_child(const tf_plan *p) {
  const tf_tree *t = p->tree;
  for (int n = 1; n < t->n_nodes; n++) {
    const tf_node *up = &t->nodes[t->nodes[n].parent];
    if (!tf_plan_drops(up) || up->n_retain || p->retain_at[n] < 0) continue;
    bool follows = true;
    for (int k = n; k < t->nodes[n].end; k++)
      follows &= t->nodes[k].kind != TF_OP || p->made_in[t->nodes[k].op] >= 0;
    if (follows) return true;
  }
  return false;
}

/* The retaining scopes, the nodes below them, and the ops whose ranges depend on them. */
static bool fill_all(tf_arena *a, tf_plan *p) {
  int n = p->tree->n_nodes;
  p->retains = TF_ARRAY(a, tf_retain, (size_t)p->n_retains + 1);
  if (!p->retains) return false;
  p->n_retains = 0;
  for (int i = 0; i < n; i++) {
    int up = p->tree->nodes[i].parent;
    p->retain_at[i] = up < 0 ? -1 : p->retain_at[up];
    if (up >= 0 && p->tree->nodes[up].kind == TF_SCOPE && p->tree->nodes[up].n_retain > 0)
      for (int k = 0; k < p->n_retains; k++)
        p->retain_at[i] = p->retains[k].scope == up ? k : p->retain_at[i];
    if (p->tree->nodes[i].kind != TF_SCOPE || !p->tree->nodes[i].n_retain) continue;
    p->retains[p->n_retains] = (tf_retain){.scope = i};
    p->irregular |= !fill_retain(p, &p->retains[p->n_retains++]);
  }
  for (int o = 0; o < p->wl->n_ops; o++) {
    tf_memo_begin(p);
    int in = range_in(p, o, p->tree->op_node[o]);
    p->made_in[o] = -1;
    for (int k = 0; k < p->n_retains && in >= 0; k++)
      p->made_in[o] = p->retains[k].scope == in ? k : p->made_in[o];
  }
  p->irregular |= p->n_retains && (nested(p) || escapes(p) || idle_for_one_reader(p) ||
                                   may_skip_child(p) || check_idle_reads(a, p));
  for (int k = 0; k < p->n_retains && !p->irregular; k++)
    for (int i = 0; i < p->retains[k].n_ops; i++)
      p->made_mask[p->retains[k].ops[i]] =
          p->retains[k].moves | p->path[p->retains[k].scope].temporal;
  return true;
}

bool tf_retain_plan(tf_arena *a, tf_plan *p) {
  int n = p->tree->n_nodes;
  p->made_in = TF_ARRAY(a, int, (size_t)p->wl->n_ops);
  p->made_mask = TF_ARRAY(a, uint64_t, (size_t)p->wl->n_ops);
  p->retain_at = TF_ARRAY(a, int, (size_t)n);
  if (!p->made_in || !p->made_mask || !p->retain_at) return false;
  for (int i = 0; i < n; i++)
    p->n_retains += p->tree->nodes[i].kind == TF_SCOPE && p->tree->nodes[i].n_retain > 0;
  for (int i = 0; i < n; i++)
    p->retain_at[i] = -1;
  for (int o = 0; o < p->wl->n_ops; o++)
    p->made_in[o] = -1;
  return p->n_retains == 0 || fill_all(a, p);
}
