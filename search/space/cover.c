/* Decides which choices satisfy the rule of cover (model/tree/cover.h).  A producer's loops are
 * decided before the loops that its readers have inside the same scope, so its range is sized as if
 * the readers' later counts divided exactly.  A reader's count that does not divide makes its first
 * step longer; then the rule is evaluated, with what is left to split as one more loop at each
 * leaf, to see whether the producer's loops still cover what is read. */
#include "model/tree/cover.h"

#include <string.h>

#include "model/input/dims.h"
#include "search/space/build.h"
#include "search/space/probe.h"

/* ---- once per tree --------------------------------------------------------------------------- */
/* Whether the index begins at 0, given which dims begin at 0. */
static bool begins_at_0(const tf_facts *f, const bool *zero, int o, const tf_index *x) {
  bool yes = x->c == 0;
  for (int i = 0; i < x->n_terms; i++)
    yes &= x->terms[i].coef > 0 && zero[tf_slot_of(f, o, x->terms[i].dim)];
  return yes;
}

/* Whether several reads of rank k of op o's output move differently, so that their hull is longer
 * than the longest of them. */
static bool reads_differ(const tf_facts *f, const bool *zero, int o, int k) {
  const tf_workload *wl = f->wl;
  const tf_index *first = NULL;
  bool all_at_0 = true, odd = false;
  int n = 0;
  TF_EACH_READ (f, o, 0, at) {
    const tf_index *x = &wl->ops[at.op].reads[at.ref].index[k];
    all_at_0 &= begins_at_0(f, zero, at.op, x);
    odd |= first && !tf_index_moves_as(first, x);
    first = x;
    n++;
  }
  return n > 1 && (odd || !all_at_0);
}

/* Whether some range must be computed by the rule of cover itself: readers differ, or written
 * counts may overshoot. */
static bool needs_rule(tf_space_build *b) {
  const tf_facts *f = b->f;
  bool odd = false, *zero = tf_arena_array(b->t->arena, (size_t)f->n_dims + 1, sizeof *zero);
  b->bad |= !zero;
  for (int i = f->wl->n_ops - 1; i >= 0 && !b->bad; i--) {
    int o = f->wl->topo[i];
    for (int k = 0; k < f->wl->ops[o].n_dims; k++) {
      bool *at_0 = &zero[f->dim_from[o] + k];
      *at_0 = true;
      if (tf_slot_reduced(f, o, k)) continue;
      odd |= reads_differ(f, zero, o, k);
      TF_EACH_READ (f, o, 0, at)
        *at_0 &= begins_at_0(f, zero, at.op, &f->wl->ops[at.op].reads[at.ref].index[k]);
    }
  }
  for (int i = 0; i < b->t->space.n; i++)
    odd |= b->t->decision[i].affects_producer && b->t->decision[i].trip > 1;
  return odd;
}

/* Whether a scope above Tile n has a producer for another op below it, so that the Tile's counts
 * affect the producer's range. */
static bool affects_producer(const tf_facts *f, int n) {
  for (int up = n; up >= 0; up = f->tree->nodes[up].parent)
    for (int k = f->leaf_from[up]; f->tree->nodes[up].kind == TF_SCOPE && k < f->leaf_end[up]; k++)
      if (!tf_leads(f, f->leaf_op[k], up)) return true;
  return false;
}

void tf_space_cover(tf_space_build *b) {
  tf_trips *t = b->t;
  const tf_facts *f = b->f;
  t->facts = f;
  t->cover = tf_cover_new(t->arena, f);
  t->rest = tf_arena_array(t->arena, (size_t)t->n_slots + 1, sizeof *t->rest);
  t->probe = tf_arena_array(t->arena, (size_t)t->n_loops + 1, sizeof *t->probe);
  t->product = tf_arena_array(t->arena, (size_t)t->n_slots + 1, sizeof *t->product);
  t->tried = tf_arena_array(t->arena, (size_t)t->n_slots + 1, sizeof *t->tried);
  t->steps = tf_arena_array(t->arena, (size_t)t->n_slots + 1, sizeof *t->steps);
  t->bound = tf_arena_array(t->arena, (size_t)t->n_slots + 1, sizeof *t->bound);
  b->bad |=
      !t->cover || !t->rest || !t->probe || !t->product || !t->tried || !t->steps || !t->bound;
  for (int i = 0; i < t->space.n && !b->bad; i++)
    t->decision[i].affects_producer = affects_producer(f, b->node[i]);
  for (int o = 0; o < f->wl->n_ops; o++)
    t->late_range |= t->known[o] == INT32_MAX;
  if (!b->bad) t->by_rule = needs_rule(b);
  if (!b->bad) t->program = tf_probe_new(b);
}

/* ---- during a walk --------------------------------------------------------------------------- */
/* tf_trips_probe, by walking the tree. */
static void walk_tree(tf_trips *t) {
  tf_cover_begin(t->cover, t->probe, t->rest);
  for (int s = 0; s < t->n_slots; s++) {
    t->steps[s] = t->cover->reach[s].steps;
    t->bound[s] = t->cover->reach[s].bound;
  }
}

bool tf_trips_probe(tf_trips *t, int from) {
  const tf_facts *f = t->facts;
  double most = 1;
  for (int o = 0; o < f->wl->n_ops; o++)
    for (int s = f->dim_from[o]; s < f->dim_from[o] + f->wl->ops[o].n_dims; s++)
      t->rest[s] = t->known[o] < from ? t->len[s] : 1;
  for (int s = 0; s < t->n_slots; s++)
    t->product[s] = (double)t->rest[s];
  for (int i = 0; i < t->space.n; i++) {
    const tf_decision *d = &t->decision[i];
    t->probe[d->loop] = i < from ? t->space.chosen[i] : d->trip ? d->trip : 1;
    for (int k = 0; k < d->n_slots; k++) {
      int64_t *rest = &t->rest[d->slots[k]];
      if (d->trip && i >= from) *rest = tf_space_parts((int32_t)*rest, d->trip);
      t->product[d->slots[k]] *= (double)t->probe[d->loop];
    }
  }
  for (int s = 0; s < t->n_slots; s++)
    most = t->product[s] > most ? t->product[s] : most;
  if (most > 0x1p62) return false;
  if (t->program && tf_probe_can(t->program, most))
    tf_probe_run(t->program, t);
  else
    walk_tree(t);
  return true;
}

void tf_trips_measure(tf_trips *t, int i) {
  const tf_facts *f = t->facts;
  if (!tf_trips_probe(t, i)) return;
  for (int o = 0; o < f->wl->n_ops; o++)
    for (int s = f->dim_from[o]; t->known[o] == i && s < f->dim_from[o] + f->wl->ops[o].n_dims; s++)
      t->len[s] = (int32_t)t->bound[s];
}

/* Whether the count divides what is left of each of its lengths. */
static bool divides(const tf_trips *t, const tf_decision *d, int32_t trip) {
  for (int k = 0; k < d->n_slots; k++)
    if (tf_space_parts(t->len[d->slots[k]], d->fixed_after[k]) % trip) return false;
  return true;
}

/* Whether only the rule can decide if the choice covers. */
static bool is_doubtful(const tf_trips *t, int i, int32_t trip) {
  const tf_decision *d = &t->decision[i];
  return (t->late_range && i + 1 == t->space.n) ||
         (d->affects_producer && !d->trip && !divides(t, d, trip));
}

void tf_trips_choose(tf_trips *t, int i, int32_t trip) {
  const tf_decision *d = &t->decision[i];
  t->doubtful = is_doubtful(t, i, trip);
  t->space.chosen[i] = trip;
  t->trips[d->loop] = trip;
  for (int k = 0; k < d->n_slots; k++)
    t->len[d->slots[k]] = tf_space_parts(t->len[d->slots[k]], trip);
}

/* Whether the known ranges are still covered once decision i is taken. */
static bool still_covers(tf_trips *t, int i) {
  const tf_facts *f = t->facts;
  bool ok = tf_trips_probe(t, i + 1);
  for (int o = 0; o < f->wl->n_ops && ok; o++)
    for (int s = f->dim_from[o];
         (t->known[o] <= i || i + 1 == t->space.n) && s < f->dim_from[o] + f->wl->ops[o].n_dims;
         s++)
      ok &= t->bound[s] <= t->steps[s];
  return ok;
}

bool tf_trips_covers(tf_trips *t, int i) { return i < 0 || !t->doubtful || still_covers(t, i); }

/* Whether they would be covered with another choice. */
static bool would_cover(tf_trips *t, int i, int32_t trip) {
  if (!is_doubtful(t, i, trip)) return true;
  memcpy(t->tried, t->len, (size_t)t->n_slots * sizeof *t->len);
  tf_trips_choose(t, i, trip);
  const bool ok = still_covers(t, i);
  memcpy(t->len, t->tried, (size_t)t->n_slots * sizeof *t->len);
  return ok;
}

int tf_trips_covering(tf_trips *t, int i, int32_t *domain, int n) {
  int left = 0;
  for (int k = 0; k < n; k++)
    if (would_cover(t, i, domain[k])) domain[left++] = domain[k];
  return left;
}

int32_t tf_trips_instead(tf_space *s, int i, const int32_t *domain, int n, int32_t choice) {
  tf_trips *t = (tf_trips *)s;
  int32_t below = TF_ANY;
  for (int k = 0; k < n; k++) {
    if (is_doubtful(t, i, domain[k])) continue;
    if (domain[k] > choice) return domain[k];
    below = domain[k];
  }
  for (int k = 0; k < n && below == TF_ANY; k++)
    if (would_cover(t, i, domain[k])) below = domain[k];
  return below;
}
