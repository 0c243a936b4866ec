/* What a run of a retaining scope computes: the box around what is needed and not held.  What is
 * held follows from earlier runs, which are found by stepping the scope's loops back. */
#include "model/flow/retain.h"

#include <string.h>

enum { TF_RETAIN_BACK = 64 }; /* most earlier runs searched for the last that computed something */

void tf_retain_box(int rank, const tf_ival *need, bool empty, const tf_ival *held, tf_ival *made) {
  int open = -1, n_open = 0;
  if (!rank) made[0] = (tf_ival){0, !empty && !held};
  if (!rank) return;
  for (int r = 0; r < rank; r++) {
    made[r] = empty ? (tf_ival){0, 0} : need[r];
    tf_ival both = held ? tf_common_part(need[r], held[r]) : (tf_ival){0, 0};
    if (both.len == need[r].len) continue;
    n_open += both.len == 0 ? 2 : 1;
    open = r;
  }
  for (int r = 0; r < rank && !empty && n_open == 0; r++)
    made[r].len = 0;
  if (empty || n_open != 1) return;
  tf_ival both = tf_common_part(need[open], held[open]);
  if (both.lo == need[open].lo)
    made[open] = (tf_ival){both.lo + both.len, need[open].len - both.len};
  else if (both.lo + both.len == need[open].lo + need[open].len)
    made[open].len -= both.len;
}

/* The innermost loop that is not at its start; -1: none. */
static int stepped(tf_eval *ev, const tf_retain *h, const tf_retain_setting *at) {
  const tf_path *path = &ev->plan->path[h->scope];
  for (int k = path->n - 1; k >= 0; k--) {
    if (!(path->temporal >> k & 1)) continue;
    if (at->digit[k] != 0) return k;
    ev->ragged |= at->slack[k] != 0;
  }
  return -1;
}

void tf_retain_stand(const tf_eval *ev, const tf_retain *h, const tf_retain_setting *at,
                     int64_t *dg) {
  const tf_path *path = &ev->plan->path[h->scope];
  for (uint64_t left = path->temporal; left; left &= left - 1)
    dg[path->loops[__builtin_ctzll(left)]] = at->digit[__builtin_ctzll(left)];
}

int tf_retain_before(tf_eval *ev, const tf_retain *h, int64_t *dg, tf_retain_setting *at) {
  const tf_path *path = &ev->plan->path[h->scope];
  int k = stepped(ev, h, at);
  if (k < 0) return -1;
  at->digit[k]--;
  tf_retain_stand(ev, h, at, dg);
  for (int j = k + 1; j < path->n; j++)
    if (path->temporal >> j & 1) {
      at->digit[j] = dg[path->loops[j]] = tf_last_setting(ev, h->scope, j, ~UINT64_C(0), dg);
      at->slack[j] = 0;
    }
  return k;
}

void tf_retain_skip(const tf_eval *ev, const tf_retain *h, tf_retain_setting *at) {
  const tf_path *path = &ev->plan->path[h->scope];
  for (int k = path->n - 1; k >= 0; k--) {
    if (!(path->temporal >> k & 1)) continue;
    if (ev->trip[path->loops[k]] > 1 && (h->moves | h->drops) >> k & 1) return;
    at->digit[k] = at->digit[k] > 1 ? 1 : at->digit[k];
    at->slack[k] = 0;
  }
}

void tf_retain_force(tf_eval *ev, const tf_retain *h, tf_made *made) {
  for (int i = 0; i < h->n_ops; i++)
    ev->made[h->ops[i]] = made ? made->box[i] : NULL;
}

/* The part of op i's output that is needed in the current run; false: none. */
static bool needed(tf_eval *ev, const tf_retain *h, int i, const int64_t *dg, tf_ival *out) {
  const tf_op *op = &ev->plan->wl->ops[h->ops[i]];
  bool any = true;
  ev->demand = true;
  for (int r = 0; r < op->n_out_dims; r++) {
    out[r] = tf_dim_range(ev, h->ops[i], op->dims[r], h->scope, dg);
    any &= out[r].len > 0;
  }
  if (!op->n_out_dims) any = !tf_op_idle(ev, h->ops[i], h->scope, dg);
  ev->demand = false;
  return any;
}

static void compute_first(tf_eval *ev, const tf_retain *h, int n, int64_t *dg,
                          const tf_retain_setting *at, tf_made *out);

/* Whether an op below `node` has work; dg: settings of the loops above. */
static bool has_work(const tf_eval *ev, int node, const int64_t *dg) {
  const tf_node *nodes = ev->plan->tree->nodes;
  for (int i = node; i < nodes[node].end; i++)
    if (nodes[i].kind == TF_OP && !tf_op_idle(ev, nodes[i].op, node, dg)) return true;
  return false;
}

/* Whether a Seq between the scope and loop k of its path has another child without work. */
static bool has_idle_child(const tf_eval *ev, const tf_retain *h, int k, const int64_t *dg) {
  const tf_plan *p = ev->plan;
  const int top = p->loops[p->path[h->scope].loops[k]].node;
  for (int at = h->scope, q; (q = p->tree->nodes[at].parent) >= 0 && q != top; at = q) {
    const tf_node *seq = &p->tree->nodes[q];
    for (int c = 0; c < seq->n_children && tf_plan_drops(seq); c++)
      if (seq->children[c] != at && !has_work(ev, seq->children[c], dg)) return true;
  }
  return false;
}

bool tf_retain_drops(const tf_eval *ev, const tf_retain *h, int64_t *dg) {
  const tf_path *path = &ev->plan->path[h->scope];
  tf_last_steps(ev, h->scope, dg);
  for (uint64_t left = h->drops; left; left &= left - 1) {
    const int k = __builtin_ctzll(left);
    if (ev->trip[path->loops[k]] > 1 && has_idle_child(ev, h, k, dg)) return false;
  }
  return true;
}

/* The part of op i's output that the home holds when the run at `at` begins; false: none. */
static bool found(tf_eval *ev, const tf_retain *h, int i, int64_t *dg, const tf_retain_setting *at,
                  tf_ival *held) {
  tf_retain_setting then = *at;
  tf_made made;
  for (int back = 0; back < TF_RETAIN_BACK; back++) {
    int k = tf_retain_before(ev, h, dg, &then);
    if (k < 0 || h->drops >> k & 1) return false;
    compute_first(ev, h, i, dg, &then, &made);
    tf_retain_stand(ev, h, &then, dg);
    if (needed(ev, h, i, dg, held)) return true;
    tf_retain_skip(ev, h, &then);
  }
  ev->irregular = true;
  return false;
}

/* What the first n of h->ops compute at `at`; remains applied. */
static void compute_first(tf_eval *ev, const tf_retain *h, int n, int64_t *dg,
                          const tf_retain_setting *at, tf_made *out) {
  tf_ival need[TF_MAX_RANK], held[TF_MAX_RANK];
  for (int i = 0; i < n; i++) {
    tf_retain_force(ev, h, NULL);
    for (int j = 0; j < i; j++)
      ev->made[h->ops[j]] = out->box[j];
    tf_retain_stand(ev, h, at, dg);
    bool any = needed(ev, h, i, dg, need);
    bool there = any && found(ev, h, i, dg, at, held);
    tf_retain_box(ev->plan->wl->ops[h->ops[i]].n_out_dims, need, !any, there ? held : NULL,
                  out->box[i]);
  }
  tf_retain_force(ev, h, NULL);
  for (int j = 0; j < n; j++)
    ev->made[h->ops[j]] = out->box[j];
}

void tf_retain_made(tf_eval *ev, const tf_retain *h, int64_t *dg, const tf_retain_setting *at,
                    tf_made *out) {
  compute_first(ev, h, h->n_ops, dg, at, out);
  tf_retain_stand(ev, h, at, dg);
}

void tf_retain_at(tf_eval *ev, tf_scratch *w, const tf_retain *h, const int64_t *digits,
                  tf_made *out) {
  const tf_path *path = &ev->plan->path[h->scope];
  tf_retain_setting at = {.digit = {0}};
  if (digits != w->cur) memcpy(w->cur, digits, (size_t)ev->plan->n_loops * sizeof *digits);
  for (int k = 0; k < path->n; k++)
    at.digit[k] = digits[path->loops[k]];
  ev->made = w->made;
  tf_retain_made(ev, h, w->cur, &at, out);
}

bool tf_retain_busy(const tf_eval *ev, const tf_retain *h, int node, const int64_t *dg) {
  const tf_plan *p = ev->plan;
  int child = tf_child_towards(p->facts, h->scope, node);
  for (int i = node; i < p->tree->nodes[node].end; i++)
    if (p->tree->nodes[i].kind == TF_OP &&
        (p->made_in[p->tree->nodes[i].op] < 0 || !tf_op_idle(ev, p->tree->nodes[i].op, child, dg)))
      return true;
  return false;
}

bool tf_retain_touched(const tf_eval *ev, const tf_retain *h, const tf_slice *s,
                       const int64_t *dg) {
  int child = tf_child_towards(ev->plan->facts, h->scope, s->node);
  if (!s->n_touch) return tf_retain_busy(ev, h, s->node, dg);
  for (int i = 0; i < s->n_touch; i++)
    if (ev->plan->made_in[s->touch[i].op] < 0 || !tf_op_idle(ev, s->touch[i].op, child, dg))
      return true;
  return false;
}

static bool splits_evenly(const tf_eval *ev, int n, int l, const int64_t *zero) {
  return tf_loop_range(ev, n, l, zero).len == ev->trip[l] * tf_step(ev, n, l);
}

/* Whether some loop above node n does not divide evenly what it splits. */
static bool cuts_above(const tf_eval *ev, int n, const int64_t *zero) {
  const tf_path *path = &ev->plan->path[n];
  for (int k = 0; k < path->n; k++)
    if (ev->trip[path->loops[k]] > 1 && ev->plan->loops[path->loops[k]].op >= 0 &&
        !splits_evenly(ev, n, path->loops[k], zero))
      return true;
  return false;
}

bool tf_retain_uneven(const tf_eval *ev, const tf_retain *h, const int64_t *zero) {
  const tf_path *path = &ev->plan->path[h->scope];
  bool spreads = false;
  for (uint64_t left = tf_path_spatial(ev->plan, h->scope); left; left &= left - 1)
    spreads |= ev->trip[path->loops[__builtin_ctzll(left)]] > 1;
  return spreads && cuts_above(ev, h->scope, zero);
}

/* Whether the range of some op of s depends on what runs of the retaining scope above it compute.
 */
static bool depends_on_runs(const tf_plan *p, const tf_slice *s) {
  for (int i = 0; i < s->n_touch; i++)
    if (p->made_in[s->touch[i].op] >= 0) return true;
  bool all = s->n_touch == 0;
  for (int i = s->node; i < p->tree->nodes[s->node].end; i++)
    if (p->tree->nodes[i].kind == TF_OP) all &= p->made_in[p->tree->nodes[i].op] >= 0;
  return all;
}

bool tf_retain_matters(const tf_plan *p, const tf_slice *s, const tf_reuse_case *c) {
  if (p->retain_at[s->node] < 0) return false;
  return depends_on_runs(p, s) ||
         (c && (c->if_idle[0] || c->if_idle[1] ||
                (c->prev >= 0 && depends_on_runs(p, &p->slices[c->prev]))));
}
