/* The loops of a tree as decisions. */
#include "search/space/trips.h"

#include <stdlib.h>
#include <string.h>

#include "search/common/factors.h"
#include "search/space/build.h"

enum { NO_LIMIT = INT32_MAX };

static int32_t clamp32(int64_t v) { return v > NO_LIMIT ? NO_LIMIT : (int32_t)v; }

static int32_t mul32(int32_t a, int32_t b) { return clamp32((int64_t)a * b); }

/* ---- one decision --------------------------------------------------------------------- */
static void fill_choices(tf_space_build *b, tf_decision *d, const tf_loop *l) {
  int32_t *list = tf_space_array(b, (size_t)l->n_choices, sizeof *list);
  if (b->bad) return;
  for (int i = 0; i < l->n_choices; i++) {
    int32_t v = clamp32(l->choices[i]);
    int k = i;
    for (; k > 0 && list[k - 1] > v; k--)
      list[k] = list[k - 1];
    list[k] = v;
  }
  d->n_choices = l->n_choices;
  d->choices = list;
}

static void fill_slots(tf_space_build *b, tf_decision *d, int n) {
  const tf_facts *f = b->f;
  int *slots = tf_space_array(b, (size_t)(f->leaf_end[n] - f->leaf_from[n]), sizeof *slots);
  if (b->bad) return;
  for (int i = f->leaf_from[n]; i < f->leaf_end[n]; i++) {
    int o = f->leaf_op[i], s = tf_slot_of(f, o, d->dim);
    if (s >= 0 && tf_leads(f, o, n)) slots[d->n_slots++] = s;
  }
  d->slots = slots;
}

/* Lists the earlier decisions whose spatial loops share the mesh of decision i. */
static void fill_before(tf_space_build *b, int i) {
  tf_decision *d = &b->t->decision[i];
  const tf_node *nodes = b->f->tree->nodes;
  int n = 0;
  if (d->axis == TF_TEMPORAL) return;
  for (int up = b->node[i]; up >= 0; up = nodes[up].parent)
    n += nodes[up].kind == TF_TILE ? nodes[up].n_loops : 0;
  int *list = tf_space_array(b, (size_t)n, sizeof *list);
  for (int up = b->node[i]; up >= 0 && !b->bad; up = nodes[up].parent)
    for (int j = b->after_node[up];
         j < i && b->node[j] == up && nodes[up].level == nodes[b->node[i]].level; j++)
      if (b->t->decision[j].axis == d->axis) list[d->n_same_mesh++] = j;
  d->same_mesh = list;
}

/* A key that identifies corresponding loops in other trees: level, axis, dim, whether a scope is
 * below, and `owner`: the op that ends its branch, or the unit that runs it. */
static uint64_t key_of(const tf_space_build *b, int n, const tf_decision *d, int owner) {
  const tf_facts *f = b->f;
  uint64_t many = f->leaf_end[n] - f->leaf_from[n] > 1;
  return (((((uint64_t)owner * 64 + (uint64_t)f->tree->nodes[n].level) * 4 + d->axis) * 2 + many)
          << 16) +
         (uint64_t)d->dim + 1;
}

static void add_loop(tf_space_build *b, int n, int k) {
  tf_trips *t = b->t;
  const tf_loop *l = &b->f->tree->nodes[n].loops[k];
  tf_decision *d = &t->decision[t->space.n];
  *d = (tf_decision){.loop = b->f->loop_from[n] + k,
                     .dim = l->dim,
                     .axis = l->axis,
                     .trip = clamp32(l->trip),
                     .max = clamp32(l->max)};
  b->node[t->space.n] = n;
  if (l->axis != TF_TEMPORAL) d->mesh = tf_space_mesh(b->f, n, l->axis);
  if (l->n_choices) fill_choices(b, d, l);
  fill_slots(b, d, n);
  d->node = n;
  d->op = b->f->leaf_op[b->f->leaf_end[n] - 1];
  d->share = l->axis == TF_TEMPORAL ? 0 : tf_space_share(b->f, d);
  d->key = key_of(b, n, d, d->op);
  d->unit_key = key_of(b, n, d, tf_space_unit(b->f, d->op) + 1);
  fill_before(b, t->space.n++);
}

static void add_tile(tf_space_build *b, int n) {
  const tf_node *node = &b->f->tree->nodes[n];
  for (int k = node->n_temporal; k < node->n_loops; k++)
    add_loop(b, n, k);
  for (int k = 0; k < node->n_temporal; k++)
    add_loop(b, n, k);
}

/* ---- upper bounds for later loops ------------------------------------------------------ */
static int32_t most_of(const tf_decision *d) {
  int32_t most = d->axis == TF_TEMPORAL ? NO_LIMIT : d->mesh;
  if (d->max && d->max < most) most = d->max;
  if (d->n_choices && d->choices[d->n_choices - 1] < most) most = d->choices[d->n_choices - 1];
  return most;
}

static void fill_after(tf_space_build *b) {
  tf_trips *t = b->t;
  size_t n = (size_t)t->n_slots;
  int32_t *fixed = tf_space_array(b, n, sizeof *fixed), *room = tf_space_array(b, n, sizeof *room);
  if (b->bad) return;
  for (size_t s = 0; s < n; s++)
    fixed[s] = room[s] = 1;
  for (int i = t->space.n - 1; i >= 0; i--) {
    tf_decision *d = &t->decision[i];
    int32_t *fixed_after = tf_space_array(b, (size_t)d->n_slots, sizeof *fixed_after);
    int32_t *room_after = tf_space_array(b, (size_t)d->n_slots, sizeof *room_after);
    if (b->bad) return;
    for (int k = 0; k < d->n_slots; k++) {
      int s = d->slots[k];
      fixed_after[k] = fixed[s];
      room_after[k] = room[s];
      if (d->trip)
        fixed[s] = mul32(fixed[s], d->trip);
      else
        room[s] = mul32(room[s], most_of(d));
    }
    d->fixed_after = fixed_after;
    d->room_after = room_after;
  }
}

static int by_unit_key(const void *a, const void *b) {
  const tf_decision *x = *(tf_decision *const *)a, *y = *(tf_decision *const *)b;
  return x->unit_key != y->unit_key ? (x->unit_key > y->unit_key) - (x->unit_key < y->unit_key)
                                    : (x > y) - (x < y);
}

/* Links corresponding loops (of equal unit_key) into lists. */
static void link_alike(tf_space_build *b) {
  int n = b->t->space.n;
  tf_decision *at = b->t->decision, **list = tf_space_array(b, (size_t)n, sizeof *list);
  if (b->bad) return;
  for (int i = 0; i < n; i++)
    list[i] = &at[i];
  qsort(list, (size_t)n, sizeof *list, by_unit_key);
  for (int i = 0; i < n; i++) {
    bool first = i == 0 || list[i - 1]->unit_key != list[i]->unit_key;
    list[i]->first_alike = first ? (int)(list[i] - at) : list[i - 1]->first_alike;
    list[i]->next_alike =
        i + 1 < n && list[i + 1]->unit_key == list[i]->unit_key ? (int)(list[i + 1] - at) : -1;
  }
}

/* ---- the whole ------------------------------------------------------------------------ */
static void add_nodes(tf_space_build *b) {
  const tf_tree *tree = b->f->tree;
  int *pending = tf_space_array(b, (size_t)tree->n_nodes, sizeof *pending), n_pending = 0;
  for (int n = 0; n < tree->n_nodes && !b->bad; n++) {
    int before = b->t->space.n;
    b->after_node[n] = before;
    if (tree->nodes[n].kind == TF_SCOPE) pending[n_pending++] = n;
    if (tree->nodes[n].kind == TF_TILE) add_tile(b, n);
    if (b->t->space.n == before) continue;
    for (int k = 0; k < n_pending; k++)
      tf_space_infer(b, pending[k], before);
    n_pending = 0;
  }
}

static bool fits(const tf_facts *f) {
  bool ok = true;
  for (int d = 0; d < f->wl->n_dims; d++)
    ok &= f->wl->dims[d].extent < NO_LIMIT / 4;
  return ok;
}

static bool build(tf_trips *t, const tf_facts *f) {
  tf_space_build b = {.t = t, .f = f};
  size_t loops = (size_t)f->n_loops + 1, slots = (size_t)f->n_dims + 1;
  t->n_loops = f->n_loops;
  t->n_slots = f->n_dims;
  t->decision = tf_space_array(&b, loops, sizeof *t->decision);
  b.node = tf_space_array(&b, loops, sizeof *b.node);
  b.after_node = tf_space_array(&b, (size_t)f->tree->n_nodes, sizeof *b.after_node);
  t->begin = tf_space_array(&b, slots, sizeof *t->begin);
  t->len = tf_space_array(&b, slots, sizeof *t->len);
  t->scratch = tf_space_array(&b, slots * ((size_t)f->wl->n_tensors + 1), sizeof *t->scratch);
  t->space.chosen = tf_space_array(&b, loops, sizeof *t->space.chosen);
  t->trips = tf_space_array(&b, loops, sizeof *t->trips);
  t->known = tf_space_array(&b, (size_t)f->wl->n_ops, sizeof *t->known);
  t->undivided = tf_space_array(&b, slots, sizeof *t->undivided);
  t->factors = tf_factors_new(t->arena);
  if (b.bad || !t->factors) return false;
  for (int o = 0; o < f->wl->n_ops; o++)
    t->known[o] = f->lead[o] == 0 ? -1 : INT32_MAX;
  for (int s = 0; s < f->n_dims; s++)
    t->undivided[s] = true;
  for (int o = 0; o < f->wl->n_ops; o++)
    for (int i = 0; i < f->wl->ops[o].n_dims; i++)
      t->begin[f->dim_from[o] + i] = (int32_t)f->wl->dims[f->wl->ops[o].dims[i]].extent;
  add_nodes(&b);
  if (!b.bad) fill_after(&b);
  if (!b.bad) link_alike(&b);
  if (!b.bad) tf_space_checks(&b);
  for (int i = 0; i < t->space.n && !b.bad; i++)
    for (int k = 0; k < t->decision[i].n_slots; k++)
      t->undivided[t->decision[i].slots[k]] = false;
  if (!b.bad) tf_space_cover(&b);
  return !b.bad;
}

tf_trips *tf_trips_new(const tf_tree *tree, tf_diags *d) {
  tf_arena *a = tf_arena_new();
  tf_trips *t = a ? TF_NEW(a, tf_trips) : NULL;
  const tf_facts *f = t ? tf_facts_new(a, tree) : NULL;
  bool small = f && fits(f);
  if (small) {
    t->arena = a;
    t->tree = tree;
    t->space.kind = &tf_trips_kind;
    if (build(t, f)) return t;
  }
  const tf_loc at = tree->nodes[0].at;
  if (f && !small)
    tf_fail(d, at, TF_E_LIMIT, "too large to search: an extent past 2^29");
  else
    tf_out_of_memory_at(d, at);
  tf_arena_free(a);
  return NULL;
}

void tf_trips_free(tf_trips *t) {
  if (t) tf_arena_free(t->arena);
}
