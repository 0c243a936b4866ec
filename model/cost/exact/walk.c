/* The exact walk: every step and one instance of each kind (model/flow/kinds.h), for the few
 * mappings whose instances do not run in lockstep (retained halos, siblings that leave different
 * instances idle, reads wholly in the padding), for which the general count sets tf_eval.irregular.
 * Iterations that repeat the previous one are skipped (fast_forward.h).  Gives up beyond
 * TF_WALK_MAX steps. */
#include "model/cost/exact/walk.h"

#include <stdlib.h>
#include <string.h>

#include "model/cost/exact/fast_forward.h"
#include "model/cost/exact/hand.h"
#include "model/cost/exact/lines.h"
#include "model/flow/plan_class.h"
#include "model/flow/range_memo.h"
#include "model/flow/retain.h"
#include "model/flow/skip.h"

/* Cached ranges stay valid until the loops on which they depend step; not those of retained
 * tensors, which change with the instance. */
static void hold(const tf_walker *e) {
  if (e->p->n_retains)
    tf_memo_hold(e->p);
  else
    tf_memo_resume(e->p);
}

/* Whether some op below node n has points in the current instance. */
static bool busy(tf_walker *e, int n) {
  bool any = false;
  hold(e);
  for (int i = n; i < e->p->tree->nodes[n].end && !any; i++)
    any = e->p->tree->nodes[i].kind == TF_OP &&
          !tf_op_idle(e->ev, e->p->tree->nodes[i].op, n, e->cur);
  tf_memo_release(e->p);
  return any;
}

/* The box of slice s in the current instance; false: nothing below its node that touches it has
 * points. */
static bool touched_box(tf_walker *e, const tf_slice *s, tf_ival *box) {
  hold(e);
  const bool any = tf_slice_touched(e->ev, s, e->cur);
  if (any) tf_slice_box(e->ev, s, e->cur, box);
  tf_memo_release(e->p);
  return any;
}

/* Clears e->ok where the product is more than 2^63 - 1. */
static int64_t times(tf_walker *e, int64_t a, int64_t b) {
  int64_t v;
  if (!__builtin_mul_overflow(a, b, &v)) return v;
  e->ok = false;
  return 0;
}

/* Instances of node n of the current kind that the loops from position `from` of its path
 * distinguish; of `merge`d loops that do not move the slice, one for each setting of the others. */
static int64_t of_kind(tf_walker *e, int n, int from, uint64_t merge) {
  const tf_path *path = &e->p->path[n];
  int64_t count = 1;
  for (uint64_t left = tf_path_spatial(e->p, n) & ~merge; left; left &= left - 1) {
    const int k = __builtin_ctzll(left), l = path->loops[k];
    if (k >= from) count = times(e, count, tf_kind_next(&e->kinds[l], e->cur[l]) - e->cur[l]);
  }
  return count;
}

/* Words that enter all instances of the current kind, as far as the loops from position `from` on
 * distinguish them. */
static tf_entry enter_kind(tf_walker *e, const tf_slice *s, int from, tf_entry one) {
  const int64_t all = of_kind(e, s->node, from, 0),
                groups = of_kind(e, s->node, from, s->merge & ~s->moving);
  return (tf_entry){times(e, one.all, all), times(e, one.groups, groups),
                    times(e, one.first, groups)};
}

/* Counts the instances of node n that have points at this moment. */
static int64_t busy_instances(tf_walker *e, int n) {
  int64_t count = 0;
  tf_walker_first(e, n);
  do {
    tf_walker_force_made(e);
    if (busy(e, n)) count += of_kind(e, n, 0, 0);
    if (--e->budget < 0) e->ok = false;
  } while (tf_walker_next(e, n) && e->ok);
  return count;
}

/* Whether node n has run before at another setting of these loops of its path, with the other loops
 * as now; s: and has touched this slice then in the current instance. */
static bool brought_before(const tf_walker *e, int n, uint64_t loops, const tf_slice *s) {
  const uint64_t skips = tf_skip_loops(e->p, n) & loops;
  for (uint64_t rest = loops & ~skips; rest; rest &= rest - 1)
    if (e->cur[e->p->path[n].loops[__builtin_ctzll(rest)]] != 0) return true;
  return skips && !tf_skip_first(e->ev, n, skips, s, e->cur);
}

/* All positions of node n's path, as bits. */
static uint64_t all_of(const tf_plan *p, int n) {
  return p->path[n].n ? ~UINT64_C(0) >> (TF_MAX_PATH - p->path[n].n) : 0;
}

/* Whether slice s is entered for the first time in its production, in the current instance: all
 * loops within the production that do not move its box are at 0. */
static bool first_time(const tf_walker *e, const tf_slice *s) {
  return !brought_before(e, s->node, s->inside & ~s->moving & e->p->path[s->node].temporal, s);
}

/* Identifies a sharing group: its parent instance, the box, and what it loads: what is not in
 * `old`, which holds `kept` words of it. */
static int group_row(const tf_walker *e, const tf_slice *s, const tf_ival *box, const tf_ival *old,
                     int64_t kept, int64_t *row) {
  const tf_path *path = &e->p->path[s->node];
  int n = 0;
  uint64_t key = UINT64_C(1469598103934665603);
  for (int k = 0; k < path->n; k++)
    if (e->p->loops[path->loops[k]].axis != TF_TEMPORAL && !(s->merge >> k & 1))
      key = (key ^ ((uint64_t)e->cur[path->loops[k]] + 1)) * UINT64_C(1099511628211);
  row[n++] = (int64_t)key;
  if (!e->p->wl->tensors[s->tensor].rank) row[n++] = kept; /* a number has no box to tell it */
  for (int r = 0; r < e->p->wl->tensors[s->tensor].rank; r++) {
    tf_ival both = tf_common_part(box[r], old[r]);
    row[n++] = box[r].lo;
    row[n++] = box[r].len;
    row[n++] = both.lo;
    row[n++] = both.len;
  }
  return n;
}

static void note_size(tf_walker *e, int i, const tf_ival *box) {
  int rank = e->p->wl->tensors[e->p->slices[i].tensor].rank;
  int64_t words = tf_ival_volume(box, rank), *len = &e->m->rank_len[e->m->views->rank_at[i]];
  e->m->box[i] = words > e->m->box[i] ? words : e->m->box[i];
  for (int r = 0; r < rank; r++)
    len[r] = box[r].len > len[r] ? box[r].len : len[r];
}

/* The class of the current entry: the loop that steps, or the sibling before it. */
static int class_of(const tf_walker *e, const tf_slice *s) {
  for (int c = 0; c < s->n_class - 1; c++) {
    int to = s->classes[c].stepping >= 0 ? s->classes[c].stepping : s->classes[c].zero_from;
    if (e->stepped[s->node] >= to || s->classes[c].stepping < 0) return c;
  }
  return s->n_class - 1;
}

/* Row of the current step among those of the slice's Tile: that of the loop that has stepped; the
 * last row is the first step. */
static int row_of(const tf_walker *e, int n) {
  const tf_view *v = &e->m->views->node[n];
  const int k = e->stepped[n];
  int row = e->m->steps[n] > 1 && k >= 0 ? 0 : v->n_rows - 1;
  while (row < v->n_rows - 1 && v->row_loop[row] != e->p->path[n].loops[k])
    row++;
  return row;
}

/* Finds the loop that has stepped: the innermost that is not at its start; where steps are skipped,
 * the outermost whose setting differs from that at the previous step. */
static void find_stepped(tf_walker *e, int n) {
  const tf_path *path = &e->p->path[n];
  int64_t *was = e->was ? e->was + (size_t)n * TF_MAX_PATH : NULL;
  int k = was ? 0 : path->n - 1;
  if (!was)
    while (k >= 0 && !(path->temporal >> k & 1 && e->cur[path->loops[k]] > 0))
      k--;
  else
    while (k < path->n && !(path->temporal >> k & 1 && e->cur[path->loops[k]] != was[k]))
      k++;
  e->stepped[n] = k < path->n && (!was || e->m->steps[n] > 0) ? k : -1;
  for (int j = 0; was && j < path->n; j++)
    was[j] = e->cur[path->loops[j]];
}

static void add_move(tf_move *to, const tf_move *v) {
  to->fill += v->fill;
  to->drain += v->drain;
  to->read += v->read;
  to->update += v->update;
}

/* Whether the spatial loops above node n are at their first setting. */
static bool first_of_all(const tf_walker *e, int n) {
  const tf_path *path = &e->p->path[n >= 0 ? n : 0];
  for (uint64_t left = n >= 0 ? tf_path_spatial(e->p, n) : 0; left; left &= left - 1)
    if (e->cur[path->loops[__builtin_ctzll(left)]]) return false;
  return true;
}

/* Words that instances move: the current one, those of its kind that the same memory serves, and
 * all of its kind. */
typedef struct {
  tf_move own, served, all;
} kind_move;

/* Adds the words of one kind of instance to those of the busiest; for the mean instance, share_out
 * divides the sum. */
static void add_flow(tf_walker *e, int i, const kind_move *v, tf_flow *sum) {
  const bool every = !e->m->first_busiest, own = every || first_of_all(e, e->p->slices[i].node),
             serving = every || first_of_all(e, e->m->views->server[i]);
  const tf_move *mine = every ? &v->all : &v->own, *there = every ? &v->all : &v->served;
  const tf_flow one = {own ? (double)mine->fill : 0, own ? (double)mine->drain : 0,
                       serving ? (double)there->read : 0, serving ? (double)there->update : 0};
  tf_flow_add(sum, &one);
}

/* The row of `each` for the current instance of node n; the first for nodes without instances of
 * their own. */
static size_t row_of_each(const tf_walker *e, int n) {
  return n < 0 ? 0 : (size_t)tf_store_index(e->st, n, e->cur);
}

/* Number of the current entry's row among those of all slices. */
static int entered_row(const tf_walker *e, int i) {
  const tf_slice *s = &e->p->slices[i];
  return e->m->views->entered_at[i] + (tf_after_sibling(&s->classes[e->m->entry_class])
                                           ? e->m->views->node[s->node].n_rows
                                           : row_of(e, s->node));
}

/* Adds what an instance moves to its own; of a Tile's slice also to the entries of its row. */
static void add_to_row(tf_walker *e, int i, size_t row, const tf_flow *v) {
  const tf_each *x = e->m->each;
  const tf_slice *s = &e->p->slices[i];
  tf_flow_add(&x->flows[row * (size_t)e->p->n_slices + (size_t)i], v);
  if (s->leaf) return;
  tf_flow_add(&x->entered[row * (size_t)e->m->views->n_entered + (size_t)entered_row(e, i)], v);
}

/* Adds the words of one kind of instance to the rows of its own memory and of the serving one. */
static void add_each(tf_walker *e, int i, const kind_move *v) {
  if (!e->m->each) return;
  const tf_flow own = {.fill = (double)v->own.fill, .drain = (double)v->own.drain},
                up = {.read = (double)v->served.read, .update = (double)v->served.update};
  add_to_row(e, i, row_of_each(e, e->p->slices[i].node), &own);
  add_to_row(e, i, row_of_each(e, e->m->views->server[i]), &up);
}

/* The position from which on loops of slice i's path distinguish instances that one memory
 * serves. */
static int served_from(const tf_walker *e, int i) {
  return e->m->views->server[i] < 0 ? 0 : e->p->path[e->m->views->server[i]].n;
}

static void enter_instance(tf_walker *e, int i, const tf_ival *box, tf_move *v, tf_flow *busy) {
  const tf_slice *s = &e->p->slices[i];
  const tf_memory *mem = &e->p->arch->memories[s->level];
  int rank = e->p->wl->tensors[s->tensor].rank;
  const bool first = first_time(e, s);
  tf_ival both[TF_MAX_RANK] = {0};
  int64_t row[TF_ROW_WORDS];
  tf_held *held = tf_store_at(e->st, i, tf_store_index(e->st, s->node, e->cur));
  for (int r = 0; r < rank; r++)
    both[r] = held->owner >= 0 ? tf_common_part(box[r], held->box[r]) : (tf_ival){0, 0};
  const int64_t kept = held->owner >= 0 ? tf_ival_volume(both, rank) : 0;
  int64_t words = tf_ival_volume(box, rank) - kept;
  if (kept == 0)
    for (int r = 0; r < rank; r++)
      both[r] = (tf_ival){0, 0};
  bool fresh = tf_store_new_row(e->st, row, group_row(e, s, box, both, kept, row));
  tf_entry in = {words, fresh ? words : 0, fresh && first ? words : 0};
  const kind_move once = {tf_move_of(s, mem, in),
                          tf_move_of(s, mem, enter_kind(e, s, served_from(e, i), in)),
                          tf_move_of(s, mem, enter_kind(e, s, 0, in))};
  add_move(v, &once.all);
  add_flow(e, i, &once, busy);
  add_each(e, i, &once);
  if (words && e->m->lines && e->m->lines->noting) tf_lines_enter(e->m, i, box, both, fresh, first);
  if (first_of_all(e, s->node))
    e->first = words;
  else
    e->more |= words > e->first;
  if (e->m->note) e->m->note(e->m, i, &once.all);
  tf_fast_forward_met(e, i, held, box);
  held->owner = i;
  held->touched = e->st->iteration;
  memcpy(held->box, box, sizeof held->box);
  note_size(e, i, box);
}

/* Enters the current instance, if neighbours hand words on: each instance is of its own kind. */
static void enter_handed(tf_walker *e, int i, const tf_handed *h, tf_move *v, tf_flow *busy) {
  const tf_slice *s = &e->p->slices[i];
  const tf_move one = {.fill = h->load, .drain = h->sent, .read = h->from_above};
  const kind_move once = {one, one, one};
  add_move(v, &one);
  add_flow(e, i, &once, busy);
  add_each(e, i, &once);
  if (first_of_all(e, s->node)) e->first = h->load;
  e->more |= h->load > e->first || h->sent;
  if (e->m->note) e->m->note(e->m, i, &one);
  if (!h->needs) return;
  tf_held *held = tf_store_at(e->st, i, tf_store_index(e->st, s->node, e->cur));
  held->owner = i;
  held->touched = e->st->iteration;
  memcpy(held->box, h->box, sizeof held->box);
  note_size(e, i, h->box);
}

/* Enters all instances of slice i at one moment, if neighbours hand words on: what each needs,
 * which neighbour has it, and what enters from further out. */
static bool enter_beside(tf_walker *e, int i, tf_move *v, tf_flow *busy) {
  const tf_slice *s = &e->p->slices[i];
  bool any = false;
  tf_walker_first(e, s->node);
  do {
    tf_handed *h = &e->handed[tf_store_index(e->st, s->node, e->cur)];
    *h = (tf_handed){.load = 0};
    tf_walker_force_made(e);
    h->needs = touched_box(e, s, h->box);
    any |= h->needs;
  } while (tf_walker_next(e, s->node) && (e->ok &= --e->budget >= 0));
  if (!any || !e->ok) return any;
  tf_hand_on(e, i);
  tf_walker_first(e, s->node);
  do {
    const tf_handed *h = &e->handed[tf_store_index(e->st, s->node, e->cur)];
    tf_walker_force_made(e);
    if (h->needs || h->sent) enter_handed(e, i, h, v, busy);
  } while (tf_walker_next(e, s->node) && (e->ok &= --e->budget >= 0));
  return any;
}

/* The same for other slices: one instance of each kind. */
static bool enter_kinds(tf_walker *e, int i, tf_move *v, tf_flow *busy) {
  const tf_slice *s = &e->p->slices[i];
  bool any = false;
  tf_ival box[TF_MAX_RANK];
  tf_store_clear_rows(e->st);
  tf_walker_first(e, s->node);
  do {
    tf_walker_force_made(e);
    if (touched_box(e, s, box)) {
      enter_instance(e, i, box, v, busy);
      any = true;
    }
  } while (tf_walker_next(e, s->node) && (e->ok &= --e->budget >= 0));
  return any;
}

/* Counts one moment of m-tile slice i, in all instances at once. */
static void enter(tf_walker *e, int i) {
  const tf_slice *s = &e->p->slices[i];
  tf_move v = {0, 0, 0, 0};
  tf_flow busy = {0, 0, 0, 0};
  e->first = 0;
  e->m->entry_class = class_of(e, s);
  tf_store_layout(e->st, e->ev, &e->m->scratch, i);
  const bool any =
      e->handed && tf_hands(e->m, i) ? enter_beside(e, i, &v, &busy) : enter_kinds(e, i, &v, &busy);
  add_move(&e->m->moves[i], &v);
  tf_flow_add(&e->m->flows[i], &busy);
  tf_flow_add(&e->entered[entered_row(e, i)], &busy);
  if (any) tf_store_last(e->st, i);
}

/* Words that the units read and update for the instances of a leaf. */
static tf_move leaf_move(const tf_slice *s, const tf_unit *unit, tf_entry in) {
  if (!s->makes) return (tf_move){.read = unit->multicast ? in.groups : in.all};
  const int64_t updates = unit->reduce ? in.groups : in.all;
  return (tf_move){.read = updates - in.first, .update = updates};
}

static void leaf_slice(tf_walker *e, int i, const tf_unit *unit) {
  const tf_slice *s = &e->p->slices[i];
  const bool noting = e->m->lines && e->m->lines->noting;
  tf_ival box[TF_MAX_RANK], none[TF_MAX_RANK] = {{0, 0}};
  int64_t row[TF_ROW_WORDS];
  tf_move *v = &e->m->moves[i];
  tf_store_clear_rows(e->st);
  tf_walker_first(e, s->node);
  do {
    tf_walker_force_made(e);
    if (!touched_box(e, s, box)) continue;
    int64_t words = tf_ival_volume(box, e->p->wl->tensors[s->tensor].rank);
    bool fresh = tf_store_new_row(e->st, row, group_row(e, s, box, none, 0, row));
    const tf_entry in = {words, fresh ? words : 0,
                         s->makes && fresh && first_time(e, s) ? words : 0};
    const kind_move once = {.served = leaf_move(s, unit, enter_kind(e, s, served_from(e, i), in)),
                            .all = leaf_move(s, unit, enter_kind(e, s, 0, in))};
    add_move(v, &once.all);
    add_flow(e, i, &once, &e->m->flows[i]);
    add_each(e, i, &once);
    if (noting && words)
      tf_lines_access(e->m, i, row_of_each(e, e->m->views->server[i]), box,
                      s->makes && !in.first && (fresh || !unit->reduce));
  } while (tf_walker_next(e, s->node) && (e->ok &= --e->budget >= 0));
  if (noting) tf_lines_step(e->m, i);
}

static void run_node(tf_walker *e, int n);

static void run_op(tf_walker *e, int n, int64_t points) {
  int o = e->p->tree->nodes[n].op;
  tf_op_result *r = &e->m->res.ops[o];
  r->points += points;
  r->units = points > r->units ? points : r->units;
  for (int i = 0; i <= e->p->wl->ops[o].n_reads; i++)
    leaf_slice(e, e->p->op_slice[o] + i, &e->p->arch->units[r->unit]);
}

static void run_loops(tf_walker *e, int n, int k) {
  const tf_node *t = &e->p->tree->nodes[n];
  if (k == t->n_temporal) {
    run_node(e, t->children[0]);
    return;
  }
  int l = e->p->first_loop[n] + k;
  for (int64_t i = 0; i < e->ev->trip[l] && e->ok; i++) {
    tf_walker_set(e, l, i);
    run_loops(e, n, k + 1);
    i = tf_fast_forward_after(e, l, i);
  }
  tf_walker_set(e, l, 0);
}

/* Computes what retained op o makes in this instance: the box around what is needed and not
 * held. */
static void make_instance(tf_walker *e, int o, int h) {
  const tf_op *op = &e->p->wl->ops[o];
  int rank = op->n_out_dims;
  tf_ival need[TF_MAX_RANK];
  bool empty = false;
  tf_ival *made = e->ev->made[o];
  e->ev->made[o] = NULL;
  for (int r = 0; r < rank; r++) {
    need[r] = tf_dim_range(e->ev, o, op->dims[r], h, e->cur);
    empty |= need[r].len <= 0;
  }
  if (!rank) empty = tf_op_idle(e->ev, o, h, e->cur);
  e->ev->made[o] = made;
  tf_held *held = tf_store_home(e->st, op->out, tf_store_index(e->st, h, e->cur));
  tf_retain_box(rank, need, empty, held->owner >= 0 ? held->box : NULL, made);
  if (!empty || held->owner < 0) {
    held->owner = empty ? -1 : o;
    held->touched = e->st->iteration;
    memcpy(held->box, need, sizeof need);
  }
}

/* Begins a run of scope h: new productions, and what retained ops have left to compute. */
static void begin_scope(tf_walker *e, int h) {
  for (int z = 0; z < e->p->wl->n_tensors; z++) {
    int o = e->p->wl->tensors[z].producer;
    if (e->p->home_scope[z] != h) continue;
    const tf_slice *out = &e->p->slices[e->p->op_slice[o] + e->p->wl->ops[o].n_reads];
    if (!brought_before(e, h, out->inside & all_of(e->p, h), NULL)) tf_store_forget(e->st, z);
  }
  for (int i = e->p->wl->n_ops - 1; i >= 0; i--) {
    int o = e->p->wl->topo[i];
    if (!e->st->made_all[o] || e->p->home_scope[e->p->wl->ops[o].out] != h) continue;
    tf_walker_first(e, h);
    do {
      tf_walker_force_made(e);
      make_instance(e, o, h);
    } while (tf_walker_next(e, h));
  }
}

/* Whether the current instance is the first of those whose runs use the same memory as home of z in
 * turn. */
static bool first_to_share(const tf_walker *e, int z) {
  const tf_path *path = &e->p->path[e->p->home_scope[z]];
  for (int k = 0; k < path->n; k++)
    if (e->cur[path->loops[k]] && tf_plan_brings(e->p, z, path->loops[k])) return false;
  return true;
}

/* Records what this run of the home scope leaves of intermediate z: of a retained one, all of
 * it. */
static void note_home(tf_walker *e, int z) {
  const tf_tensor *t = &e->p->wl->tensors[z];
  tf_ival all[TF_MAX_RANK] = {{0, 0}}, box[TF_MAX_RANK];
  tf_walker_first(e, e->p->home_scope[z]);
  do {
    bool any = true;
    if (first_to_share(e, z)) memset(all, 0, sizeof all);
    tf_walker_force_made(e);
    if (e->p->retained[z]) e->ev->made[t->producer] = NULL;
    for (int r = 0; r < t->rank && any; r++) {
      box[r] = tf_dim_range(e->ev, t->producer, e->p->wl->ops[t->producer].dims[r],
                            e->p->home_scope[z], e->cur);
      any = box[r].len > 0;
    }
    if (!any) continue;
    for (int r = 0; r < t->rank; r++)
      all[r] = tf_hull(all[r], box[r]);
    int64_t words = tf_home_share(e->m, z, all);
    e->m->home_words[z] = words > e->m->home_words[z] ? words : e->m->home_words[z];
  } while (tf_walker_next(e, e->p->home_scope[z]));
}

static void note_homes(tf_walker *e, int n) {
  for (int z = 0; z < e->p->wl->n_tensors; z++)
    if (e->p->home_scope[z] == n) note_home(e, z);
}

/* Words of streamed outputs that this run of scope h corrects. */
static void add_corrected(tf_walker *e, int h) {
  for (int o = 0; o < e->p->wl->n_ops; o++) {
    const tf_slice *s = &e->p->stream[o];
    tf_ival box[TF_MAX_RANK];
    if (s->node != h) continue;
    const bool goes_on = brought_before(e, h, s->inside & all_of(e->p, h), NULL);
    tf_walker_first(e, h);
    do {
      tf_walker_force_made(e);
      if (!touched_box(e, s, box)) continue;
      const int64_t one = tf_ival_volume(box, e->p->wl->tensors[s->tensor].rank),
                    words = times(e, one, of_kind(e, h, 0, 0));
      e->m->rescaled[2 * o] += words;
      e->m->rescaled[2 * o + 1] += goes_on ? 0 : words;
      const int server = e->m->views->server[e->p->n_slices + o];
      const double served = (double)(one * of_kind(e, h, served_from(e, e->p->n_slices + o), 0));
      if (e->m->each) {
        double *row = e->m->each->rescaled +
                      2 * (row_of_each(e, server) * (size_t)e->p->wl->n_ops + (size_t)o);
        row[0] += served;
        row[1] += goes_on ? 0 : served;
      }
      if (!first_of_all(e, server)) continue;
      e->m->rescaled_flow[2 * o] += served;
      e->m->rescaled_flow[2 * o + 1] += goes_on ? 0 : served;
    } while (tf_walker_next(e, h));
  }
}

/* Passes Seq n to the child in those instances in which the child has points; others keep their
 * contents. */
static void pass(tf_walker *e, int n, int child) {
  tf_walker_first(e, child);
  do {
    tf_walker_force_made(e);
    if (busy(e, child)) tf_store_pass(e->st, n, child, tf_store_index(e->st, n, e->cur));
  } while (tf_walker_next(e, child));
}

static void run_scope(tf_walker *e, int n) {
  const tf_node *t = &e->p->tree->nodes[n];
  e->st->runs[n] = true;
  begin_scope(e, n);
  note_homes(e, n);
  add_corrected(e, n);
  for (int c = 0; c < t->n_children && e->ok; c++) {
    if (!busy_instances(e, t->children[c])) continue;
    if (tf_skip_out(e->ev, t->children[c], e->cur)) {
      run_node(e, t->children[c]);
      continue;
    }
    if (tf_plan_drops(t)) pass(e, n, t->children[c]);
    run_node(e, t->children[c]);
    tf_store_leave(e->st, e->ev, n, t->children[c]);
  }
  e->st->runs[n] = false;
}

/* Records the most bits that an instance of m-tile n has held at one moment. */
static void note_held(tf_walker *e, int n) {
  const tf_view *v = &e->m->views->node[n];
  if (!v->n_slices) return;
  tf_walker_first(e, n);
  do {
    int64_t bits = 0;
    tf_walker_force_made(e);
    for (int i = v->first; i < v->first + v->n_slices; i++) {
      const tf_slice *s = &e->p->slices[i];
      tf_ival box[TF_MAX_RANK];
      if (!touched_box(e, s, box)) continue;
      bits += tf_ival_volume(box, e->p->wl->tensors[s->tensor].rank) *
              e->p->wl->tensors[s->tensor].word_bits;
    }
    e->m->at_once[n] = bits > e->m->at_once[n] ? bits : e->m->at_once[n];
  } while (tf_walker_next(e, n));
}

/* A skipped step of node n: counts its points as skipped, and nothing else. */
static void count_skipped(tf_walker *e, int n, int64_t points) {
  const tf_node *t = &e->p->tree->nodes[n];
  const bool outer = e->left_out;
  e->left_out = true;
  if (t->kind == TF_OP)
    e->m->res.ops[t->op].skipped += points;
  else if (t->kind == TF_TILE)
    run_loops(e, n, 0);
  else
    for (int c = 0; c < t->n_children && e->ok; c++)
      run_node(e, t->children[c]);
  e->left_out = outer;
}

static void run_node(tf_walker *e, int n) {
  const tf_node *t = &e->p->tree->nodes[n];
  int64_t now = busy_instances(e, n);
  if (!now || !e->ok) return;
  if (e->left_out || tf_skip_out(e->ev, n, e->cur)) {
    count_skipped(e, n, now);
    return;
  }
  find_stepped(e, n);
  e->m->steps[n]++;
  e->m->ev.work++;
  e->m->width[n] = now > e->m->width[n] ? now : e->m->width[n];
  if (e->m->views->node[n].n_slices) e->m->class_steps[e->m->views->node[n].row + row_of(e, n)]++;
  for (int i = 0; i < e->p->n_tile_slices; i++)
    if (e->p->slices[i].node == n) enter(e, i);
  note_held(e, n);
  if (t->kind == TF_OP)
    run_op(e, n, now);
  else if (t->kind == TF_TILE)
    run_loops(e, n, 0);
  else
    run_scope(e, n);
}

static void reset(struct tf_model *m) {
  const tf_plan *p = m->plan;
  memset(m->moves, 0, (size_t)p->n_slices * sizeof *m->moves);
  memset(m->flows, 0, (size_t)p->n_slices * sizeof *m->flows);
  memset(m->rescaled_flow, 0, 2 * (size_t)p->wl->n_ops * sizeof *m->rescaled_flow);
  memset(m->steps, 0, (size_t)p->tree->n_nodes * sizeof *m->steps);
  memset(m->width, 0, (size_t)p->tree->n_nodes * sizeof *m->width);
  memset(m->rescaled, 0, 2 * (size_t)p->wl->n_ops * sizeof *m->rescaled);
  memset(m->at_once, 0, (size_t)p->tree->n_nodes * sizeof *m->at_once);
  memset(m->box, 0, (size_t)p->n_tile_slices * sizeof *m->box);
  memset(m->rank_len, 0, (size_t)m->views->n_ranks * sizeof *m->rank_len);
  memset(m->scratch.cur, 0, (size_t)p->n_loops * sizeof *m->scratch.cur);
  memset(m->cells, 0, (size_t)m->views->n_cells * sizeof *m->cells);
  memset(m->class_steps, 0, (size_t)m->views->n_rows * sizeof *m->class_steps);
  if (m->peers) tf_peers_clear(m->peers);
  for (int o = 0; o < p->wl->n_ops; o++)
    m->res.ops[o] = (tf_op_result){.unit = p->unit[o]};
  for (int z = 0; z < p->wl->n_tensors; z++)
    if (p->home_scope[z] >= 0) m->home_words[z] = 0;
}

/* Adds the entered words to the ports once all steps are known, also of each instance; then the
 * busiest are known. */
static void finish_cells(tf_walker *e) {
  tf_cells_add_all(e->m, e->entered);
  for (int k = 0; e->m->each && k < e->m->each->n; k++) {
    struct tf_model one = tf_each_model(e->m, k);
    tf_cells_add_all(&one, e->m->each->entered + (size_t)k * (size_t)e->m->views->n_entered);
  }
  if (e->m->each) tf_each_cells(e->m);
}

/* Divides the total among the instances, if the mean instance is used for the busiest. */
static void share_out(struct tf_model *m) {
  const tf_plan *p = m->plan;
  if (m->first_busiest) return;
  for (int i = 0; i < p->n_slices; i++)
    m->flows[i] = tf_mean_flow(m, i, &m->moves[i]);
  for (int o = 0; o < p->wl->n_ops; o++)
    tf_rescaled_share(m, o);
  for (int n = 0; n < p->tree->n_nodes; n++) {
    const tf_view *v = &m->views->node[n];
    for (int c = 0; v->n_slices && c < v->n_rows * v->n_legs; c++) {
      const int pass = v->legs[c % v->n_legs].pass,
                from = pass < 0 ? -1 : m->views->passes[pass].from;
      const double width = from >= 0 && m->width[from] > 1 ? (double)m->width[from] : 1;
      m->cells[v->cell + c].read /= width;
      m->cells[v->cell + c].write /= width;
    }
  }
}

static void finish_ops(struct tf_model *m) {
  const tf_workload *wl = m->plan->wl;
  for (int o = 0; o < wl->n_ops; o++) {
    int64_t space = 1;
    for (int d = 0; d < wl->ops[o].n_dims; d++)
      space *= wl->dims[wl->ops[o].dims[d]].extent;
    const int64_t all = m->res.ops[o].points + m->res.ops[o].skipped;
    m->res.ops[o].recomputed = all > space ? all - space : 0;
  }
}

/* Most rows of words per instance that are kept; with more the first instance counts. */
enum { MOST_EACH = 1 << 20 };
/* With so few ops there are so few paths that following all is faster than caching ranges. */
enum { FEW_OPS = 3 };

static void end_walk(tf_walker *e, tf_arena *kinds) {
  free(e->entered);
  free(e->stepped);
  free(e->was);
  tf_store_free(e->st);
  tf_arena_free(kinds);
}

/* *rows: the most kinds of instance that are active at once, if a later one has loaded more than
 * the first. */
static bool walk(struct tf_model *m, int64_t *rows) {
  tf_walker e = {
      .m = m, .p = m->plan, .ev = &m->ev, .cur = m->scratch.cur, .budget = m->walk_max, .ok = true};
  e.handed = m->peers ? m->peers->handed : NULL;
  /* A store is large: none is made where nothing may be walked, or one moment of all instances
   * would be too much. */
  if (m->walk_max <= 0) return false;
  tf_arena *kinds = tf_arena_new();
  e.kinds = kinds ? tf_kinds_new(kinds, m) : NULL;
  if (!e.kinds || tf_store_instances(m->plan, &m->ev, e.kinds) > m->walk_max) {
    m->starved |= !e.kinds;
    tf_arena_free(kinds);
    return false;
  }
  reset(m);
  const size_t nodes = (size_t)m->plan->tree->n_nodes;
  e.entered = calloc((size_t)m->views->n_entered + 1, sizeof *e.entered);
  e.stepped = calloc(nodes, sizeof *e.stepped);
  e.was = m->plan->skips ? calloc(nodes, TF_MAX_PATH * sizeof *e.was) : NULL;
  e.st = e.entered && e.stepped && (e.was || !m->plan->skips)
             ? tf_store_new(m->plan, &m->ev, e.kinds)
             : NULL;
  if (!e.st) {
    end_walk(&e, kinds);
    m->starved = true;
    return false;
  }
  tf_range_memo *const before = m->plan->memo;
  tf_arena *memo = m->plan->wl->n_ops > FEW_OPS
                       ? tf_arena_new()
                       : NULL; /* without it the walk is slower, with the same result */
  if (memo && !tf_range_memo_exact(memo, m->plan)) m->plan->memo = before;
  m->ev.exact = true;
  m->ev.made = e.st->made;
  m->ev.kinds = e.kinds;
  tf_arena *kept = m->note && !m->noted ? NULL : tf_arena_new();
  if (kept) e.fast_forward = tf_fast_forward_new(kept, &e);
  if (kept) tf_skip_memo_new(kept, &m->ev);
  run_node(&e, 0);
  m->ev.skip_memo = NULL;
  m->ev.kinds = NULL;
  tf_arena_free(kept);
  m->ev.exact = false;
  m->plan->memo = before;
  tf_arena_free(memo);
  m->ev.made = NULL;
  m->walked = m->walk_max - e.budget;
  finish_ops(m);
  finish_cells(&e);
  share_out(m);
  *rows = e.more && e.ok ? tf_store_instances(m->plan, &m->ev, e.kinds) : 0;
  end_walk(&e, kinds);
  return e.ok;
}

/* Walks again, if the words of each instance must be counted by themselves. */
static bool walk_twice(struct tf_model *m) {
  int64_t rows = 0;
  const size_t row = (size_t)m->plan->n_slices + (size_t)m->views->n_cells;
  const bool ok = walk(m, &rows);
  if (!ok || !rows || !m->first_busiest || m->note || (size_t)rows > MOST_EACH / row) return ok;
  m->each = tf_each_new(m, (int)rows);
  m->starved |= !m->each;
  return m->each && walk(m, &rows);
}

/* Walks for the most that m-tiles hold, then again, access by access, for the lines. */
static bool walk_lines(struct tf_model *m) {
  struct tf_lines *x = m->lines;
  int64_t rows = 0;
  if (!x || m->open || m->note) return true;
  if (!walk(m, &rows)) return false;
  memcpy(x->room, m->rank_len, (size_t)m->views->n_ranks * sizeof *x->room);
  tf_lines_clear(m);
  x->noting = true;
  x->walked = walk(m, &rows);
  tf_line_log_sum(m);
  x->noting = false;
  m->starved |= x->set.starved;
  return x->walked && !x->failed && !m->starved;
}

bool tf_walk(struct tf_model *m) {
  tf_peers_free(m->peers);
  m->peers = NULL;
  if (m->views->peers && m->walk_max > 0) {
    m->peers = tf_peers_new(m, &m->starved);
    if (!m->peers) return false;
  }
  if (walk_lines(m) && walk_twice(m)) return true;
  tf_peers_free(m->peers);
  m->peers = NULL;
  return false;
}
