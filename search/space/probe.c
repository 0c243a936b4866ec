/* The rule of cover (model/tree/cover.h) with every loop at its start, compiled once per tree to a
 * list of steps.  It gives the results of tf_cover_begin, by the same rules (model/tree/infer.h),
 * without a walk of the tree and without the parts on which no result depends: walks through trip
 * counts evaluate it for every count that does not divide.  unit.test_space compares both. */
#include "search/space/probe.h"

#include <string.h>

#include "model/input/dims.h"
#include "model/tree/range.h"

/* An index that is read, and the slots of its terms. */
typedef struct {
  const tf_index *x;
  const int *slots;
} index_read;

/* A loop that splits a length: its number, and its depth among the loops above. */
typedef struct {
  int loop, at;
} splitter;

typedef struct {
  enum { SPLIT, COPY, HULL, RESULT } kind;
  int slot;    /* the range that it sets; RESULT: the first of `n` final ranges */
  int from;    /* COPY: the source range; SPLIT: where `inner` has the steps further in */
  int n;       /* of reads, loops (outer ones first), or ranges */
  int depth;   /* loops above the node */
  bool traced; /* later steps need how far each loop moves the range */
  const index_read *reads;
  const splitter *loops;
} step;

struct tf_probe {
  int n_steps, n_slots, room, depth;
  step *steps;
  int *inner_from; /* [decision] where its slots begin in `inner` */
  int64_t
      *inner; /* [decision, slot] product of the counts of decisions after it, and of the rest */
  tf_ival *begin; /* [slot] full ranges */
  tf_ival *now;   /* [slot] */
  bool *mixed;    /* [slot] as in tf_shift */
  int64_t *shift; /* [slot][depth] elements by which a loop moves it; 0: none, or not traced */
  int64_t *other; /* [depth] */
  double moves;   /* times products of counts: an upper bound of every shift */
};

/* ---- compiling ------------------------------------------------------------------------------ */
static void add_step(tf_space_build *b, tf_probe *p, step s) {
  if (p->n_steps == p->room) {
    const int room = p->room ? 2 * p->room : 64;
    step *more = tf_space_array(b, (size_t)room, sizeof *more);
    if (b->bad) return;
    if (p->n_steps) memcpy(more, p->steps, (size_t)p->n_steps * sizeof *more);
    p->steps = more;
    p->room = room;
  }
  p->steps[p->n_steps++] = s;
}

/* The slots of an index of op o. */
static const int *slots_of(tf_space_build *b, tf_probe *p, int o, const tf_index *x) {
  int *slots = tf_space_array(b, (size_t)x->n_terms, sizeof *slots);
  double moves = 0;
  for (int j = 0; j < x->n_terms && !b->bad; j++) {
    slots[j] = tf_slot_of(b->f, o, x->terms[j].dim);
    moves += x->terms[j].coef < 0 ? -(double)x->terms[j].coef : (double)x->terms[j].coef;
  }
  if (moves > 1) p->moves *= moves;
  return slots;
}

/* The hull of what the ops below node n read of rank k of op o's output. */
static void add_hull(tf_space_build *b, tf_probe *p, int o, int k, int n) {
  const tf_facts *f = b->f;
  step s = {.kind = HULL, .slot = f->dim_from[o] + k};
  TF_EACH_READ (f, o, n, at)
    s.n++;
  index_read *reads = tf_space_array(b, (size_t)s.n, sizeof *reads);
  int i = 0;
  TF_EACH_READ (f, o, n, at) {
    const tf_index *x = &f->wl->ops[at.op].reads[at.ref].index[k];
    if (!b->bad) reads[i++] = (index_read){x, slots_of(b, p, at.op, x)};
  }
  s.reads = reads;
  s.depth = p->depth;
  add_step(b, p, s);
}

/* The ranges of op o, which does not lead at node n. */
static void add_inferred(tf_space_build *b, tf_probe *p, int o, int n) {
  const tf_facts *f = b->f;
  for (int i = 0; i < f->wl->ops[o].n_dims && !b->bad; i++) {
    const int dim = f->wl->ops[o].dims[i], slot = f->dim_from[o] + i;
    const tf_range_from source = tf_range_source(f, o, dim, n);
    const int of = source.rule == TF_BY_LEADER ? tf_slot_of(f, source.source, dim) : -1;
    if (source.rule == TF_BY_READERS) add_hull(b, p, o, i, n);
    if (of >= 0) add_step(b, p, (step){.kind = COPY, .slot = slot, .from = of, .depth = p->depth});
  }
}

/* Where `inner` has the steps of loops below Tile n for a slot; -1: no loop of the Tile splits
 * it. */
static int inner_of(const tf_space_build *b, const tf_probe *p, int n, int slot) {
  const tf_trips *t = b->t;
  int of = -1;
  for (int i = b->after_node[n]; i < t->space.n && b->node[i] == n; i++)
    for (int k = 0; k < t->decision[i].n_slots; k++)
      if (t->decision[i].slots[k] == slot) of = p->inner_from[i] + k;
  return of;
}

/* Adds the splits of op o, which leads at Tile n, by the Tile's loops. */
static void add_splits(tf_space_build *b, tf_probe *p, int o, int n) {
  const tf_facts *f = b->f;
  const tf_node *node = &f->tree->nodes[n];
  for (int i = 0; i < f->wl->ops[o].n_dims && !b->bad; i++) {
    step s = {.kind = SPLIT, .slot = f->dim_from[o] + i};
    s.from = inner_of(b, p, n, s.slot);
    splitter *loops = s.from < 0 ? NULL : tf_space_array(b, (size_t)node->n_loops, sizeof *loops);
    for (int k = 0; loops && k < node->n_loops; k++)
      if (node->loops[k].dim == f->wl->ops[o].dims[i])
        loops[s.n++] = (splitter){f->loop_from[n] + k, p->depth + k};
    s.loops = loops;
    if (loops) add_step(b, p, s);
  }
}

/* As tf_ranges_walk: consumers first. */
static void add_node(tf_space_build *b, tf_probe *p, int n) {
  const tf_facts *f = b->f;
  for (int k = f->leaf_end[n] - 1; k >= f->leaf_from[n] && !b->bad; k--) {
    const int o = f->leaf_op[k];
    if (!tf_leads(f, o, n)) add_inferred(b, p, o, n);
    if (f->lead[o] == n)
      add_step(b, p, (step){.kind = RESULT, .slot = f->dim_from[o], .n = f->wl->ops[o].n_dims});
  }
  for (int k = f->leaf_from[n]; f->tree->nodes[n].kind == TF_TILE && k < f->leaf_end[n] && !b->bad;
       k++)
    if (tf_leads(f, f->leaf_op[k], n)) add_splits(b, p, f->leaf_op[k], n);
}

/* Removes steps on which no result depends, from the last one back, and finds which shifts are
 * needed. */
static void prune(tf_space_build *b, tf_probe *p) {
  bool *need = tf_space_array(b, (size_t)p->n_slots, sizeof *need),
       *trace = tf_space_array(b, (size_t)p->n_slots, sizeof *trace);
  int left = p->n_steps;
  for (int i = p->n_steps - 1; i >= 0 && !b->bad; i--) {
    step s = p->steps[i];
    for (int k = 0; s.kind == RESULT && k < s.n; k++)
      need[s.slot + k] = true;
    if (s.kind != RESULT) {
      if (!need[s.slot]) continue;
      s.traced = trace[s.slot] || (s.kind == HULL && s.n > 1);
    }
    if (s.kind == HULL || s.kind == COPY) need[s.slot] = trace[s.slot] = false;
    if (s.kind == COPY) need[s.from] = true, trace[s.from] |= s.traced;
    for (int r = 0; s.kind == HULL && r < s.n; r++)
      for (int j = 0; j < s.reads[r].x->n_terms; j++)
        need[s.reads[r].slots[j]] = true, trace[s.reads[r].slots[j]] |= s.traced;
    p->steps[--left] = s;
  }
  p->steps += left;
  p->n_steps -= left;
}

/* Numbers the slots of decisions, and finds the depth of every node.  Returns the largest depth. */
static int number(tf_space_build *b, tf_probe *p, int *depth) {
  const tf_tree *tree = b->f->tree;
  int n_inner = 0, most = 0;
  p->inner_from = tf_space_array(b, (size_t)b->t->space.n, sizeof *p->inner_from);
  for (int i = 0; i < b->t->space.n && !b->bad; n_inner += b->t->decision[i++].n_slots)
    p->inner_from[i] = n_inner;
  p->inner = tf_space_array(b, (size_t)n_inner, sizeof *p->inner);
  for (int n = 0; n < tree->n_nodes && !b->bad; n++) {
    const int up = tree->nodes[n].parent;
    depth[n] =
        up < 0 ? 0 : depth[up] + (tree->nodes[up].kind == TF_TILE ? tree->nodes[up].n_loops : 0);
    const int below = depth[n] + tree->nodes[n].n_loops;
    most = below > most ? below : most;
  }
  return most;
}

tf_probe *tf_probe_new(tf_space_build *b) {
  const tf_facts *f = b->f;
  tf_probe *p = tf_space_array(b, 1, sizeof *p);
  int *depth = tf_space_array(b, (size_t)f->tree->n_nodes, sizeof *depth);
  if (b->bad) return NULL;
  *p = (tf_probe){.n_slots = f->n_dims, .moves = 1};
  const int most = number(b, p, depth);
  if (most > TF_SHIFT_LOOPS) return NULL;
  p->begin = tf_space_array(b, (size_t)p->n_slots, sizeof *p->begin);
  p->now = tf_space_array(b, (size_t)p->n_slots, sizeof *p->now);
  p->mixed = tf_space_array(b, (size_t)p->n_slots, sizeof *p->mixed);
  p->shift = tf_space_array(b, (size_t)p->n_slots * (size_t)most, sizeof *p->shift);
  p->other = tf_space_array(b, (size_t)most, sizeof *p->other);
  for (int o = 0; o < f->wl->n_ops && !b->bad; o++)
    for (int i = 0; i < f->wl->ops[o].n_dims; i++)
      p->begin[f->dim_from[o] + i] = (tf_ival){0, f->wl->dims[f->wl->ops[o].dims[i]].extent};
  for (int n = 0; n < f->tree->n_nodes && !b->bad; n++) {
    p->depth = depth[n];
    add_node(b, p, n);
  }
  prune(b, p);
  p->depth = most;
  return b->bad ? NULL : p;
}

/* ---- running -------------------------------------------------------------------------------- */
bool tf_probe_can(const tf_probe *p, double product) { return product * p->moves <= 0x1p62; }

static void split(tf_probe *p, const step *s, const int64_t *trips) {
  const int64_t inner = p->inner[s->from];
  int64_t steps = inner;
  for (int k = s->n - 1; k >= 0; k--) {
    const int64_t trip = trips[s->loops[k].loop];
    if (s->traced) p->shift[s->slot * p->depth + s->loops[k].at] = trip > 1 ? steps : 0;
    steps *= trip;
  }
  if (steps != inner && p->now[s->slot].len > inner) p->now[s->slot].len = inner;
}

static void copy_slot(tf_probe *p, const step *s) {
  p->now[s->slot] = p->now[s->from];
  p->mixed[s->slot] = p->mixed[s->from];
  if (s->traced)
    memcpy(&p->shift[s->slot * p->depth], &p->shift[s->from * p->depth],
           (size_t)s->depth * sizeof *p->shift);
}

/* How far each loop moves the read. */
static void shift_of(const tf_probe *p, const index_read *r, int depth, int64_t *by) {
  for (int at = 0; at < depth; at++)
    by[at] = 0;
  for (int j = 0; j < r->x->n_terms; j++) {
    const int64_t coef = r->x->terms[j].coef, *own = &p->shift[r->slots[j] * p->depth];
    for (int at = 0; at < depth; at++)
      by[at] += coef * own[at];
  }
}

static void hull(tf_probe *p, const step *s) {
  tf_ival v = {0, 0};
  int64_t *by = &p->shift[s->slot * p->depth];
  bool mixed = false;
  for (int k = 0; k < s->n; k++) {
    const index_read *r = &s->reads[k];
    tf_ival one = {r->x->c, 1};
    for (int j = 0; j < r->x->n_terms; j++) {
      one = tf_index_plus(one, r->x->terms[j].coef, p->now[r->slots[j]]);
      mixed |= p->mixed[r->slots[j]];
    }
    v = tf_hull(v, one);
    if (s->traced) shift_of(p, r, s->depth, k ? p->other : by);
    if (k) mixed |= memcmp(by, p->other, (size_t)s->depth * sizeof *by) != 0;
  }
  p->now[s->slot] = v;
  p->mixed[s->slot] = mixed;
}

static void write_bounds(const tf_probe *p, const step *s, int64_t *bound) {
  for (int slot = s->slot; slot < s->slot + s->n; slot++) {
    const int64_t len = p->now[slot].len, extent = p->begin[slot].len;
    bound[slot] = p->mixed[slot] || len > extent ? extent : len;
  }
}

void tf_probe_run(tf_probe *p, tf_trips *t) {
  for (int s = 0; s < p->n_slots; s++)
    t->steps[s] = t->rest[s];
  for (int i = t->space.n - 1; i >= 0; i--) {
    const tf_decision *d = &t->decision[i];
    for (int k = 0; k < d->n_slots; k++) {
      p->inner[p->inner_from[i] + k] = t->steps[d->slots[k]];
      t->steps[d->slots[k]] *= t->probe[d->loop];
    }
  }
  memcpy(p->now, p->begin, (size_t)p->n_slots * sizeof *p->now);
  memset(p->mixed, 0, (size_t)p->n_slots * sizeof *p->mixed);
  for (const step *s = p->steps; s < p->steps + p->n_steps; s++) {
    switch (s->kind) {
    case SPLIT: split(p, s, t->probe); break;
    case COPY: copy_slot(p, s); break;
    case HULL: hull(p, s); break;
    case RESULT: write_bounds(p, s, t->bound); break;
    }
  }
}
