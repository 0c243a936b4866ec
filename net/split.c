/* Inputs of a group that are read at `64 * head + row` of one rank, or from some place on, become tensors whose indices
 * are plain dims: the same words under other coordinates, found by strides.  What looks for mappings of products knows
 * them then for what they are. */
#include <stdio.h>
#include <string.h>

#include "net/net.h"

/* Elements on whose multiples rows have to begin, so that 16 bytes can be moved at once. */
enum { ALIGNED = 8, MOST_RANKS = 16 };

/* How a read moves along one rank of a tensor. */
typedef enum { KEPT, IN_TWO, SLICED, AT_ONE } way;
typedef struct {
  way way;
  int64_t begin; /* where element 0 is */
  int64_t each;  /* IN_TWO: elements that the inner dim goes through */
  int64_t n;     /* the extent of the (outer) dim */
} part;

typedef struct {
  tf_arena *a;
  tf_workload *wl;
  const bool *fixed;      /* [tensors] its strides are the caller's */
  int *tensor;            /* of the group, with room for one for each read */
  tf_group_place *place;  /* likewise */
  part parts[MOST_RANKS]; /* of the read at hand */
} splitter;

static int64_t extent_of(const splitter *s, int dim) { return s->wl->dims[dim].extent; }

/* Of an index `each * d + e + begin`, e going through all of `each`. */
static bool in_two(const splitter *s, const tf_index *x, part *p) {
  const int outer = x->n_terms == 2 && x->terms[0].coef == 1;
  if (x->n_terms != 2 || x->terms[!outer].coef != 1 || x->terms[outer].coef < 2) return false;
  *p = (part){IN_TWO, x->c, x->terms[outer].coef, extent_of(s, x->terms[outer].dim)};
  return extent_of(s, x->terms[!outer].dim) == p->each;
}

static part part_of(const splitter *s, const tf_tensor *z, int r, const tf_index *x) {
  part p = {KEPT, 0, 1, z->extent[r]};
  if (z->lo[r] || z->pad[r] || x->c < 0) return p;
  if (x->n_terms == 0) return (part){AT_ONE, x->c, 1, 1};
  if (x->n_terms == 1 && x->terms[0].coef == 1 && x->c > 0)
    return (part){SLICED, x->c, 1, extent_of(s, x->terms[0].dim)};
  part two;
  if (in_two(s, x, &two) && two.begin + two.n * two.each <= z->extent[r]) return two;
  return p;
}

/* Fills parts; whether some rank is not read as it stands, and rows begin on 16 bytes then, too. */
static bool differs(splitter *s, int t, const tf_ref *ref) {
  const tf_tensor *z = &s->wl->tensors[t];
  bool any = false;
  int left = 0;
  if (z->rank == 0 || z->rank > MOST_RANKS / 2) return false;
  for (int r = 0; r < z->rank; r++) {
    s->parts[r] = part_of(s, z, r, &ref->index[r]);
    any |= s->parts[r].way != KEPT;
    left += s->parts[r].way != AT_ONE;
  }
  const part *last = &s->parts[z->rank - 1];
  if (last->way == AT_ONE && (s->fixed[t] || z->extent[z->rank - 1] > 1)) return false;
  if (last->way != AT_ONE && (z->extent[z->rank - 1] % ALIGNED || last->begin % ALIGNED)) return false;
  return any && left > 0 && (last->way != IN_TWO || last->each % ALIGNED == 0);
}

/* ---- tensors ------------------------------------------------------------------------------------------------ */
static bool same_place(const splitter *s, int t, int made) {
  const tf_tensor *z = &s->wl->tensors[t], *n = &s->wl->tensors[made];
  const tf_group_place *p = &s->place[made];
  int q = 0;
  for (int r = 0; r < z->rank; r++) {
    const part *x = &s->parts[r];
    if (p->begin[r] != x->begin) return false;
    if (x->way == AT_ONE) continue;
    if (q >= n->rank || p->along[q] != r || n->extent[q] != x->n || p->step[q] != x->each) return false;
    q += x->way == IN_TWO ? 2 : 1;
  }
  return q == n->rank;
}

static bool taken(const tf_workload *wl, const char *name) {
  for (int i = 0; i < wl->n_dims; i++)
    if (!strcmp(wl->dims[i].name, name)) return true;
  for (int t = 0; t < wl->n_tensors; t++)
    if (!strcmp(wl->tensors[t].name, name)) return true;
  return false;
}

/* A new tensor of the group, which has what the read at hand has of t; its number, -1: no memory. */
static int make(splitter *s, int t) {
  tf_workload *wl = s->wl;
  const tf_tensor *z = &wl->tensors[t];
  const int made = wl->n_tensors;
  tf_tensor *n = &wl->tensors[made];
  tf_group_place *p = &s->place[made];
  int64_t *all = TF_ARRAY(s->a, int64_t, 5 * MOST_RANKS);
  int *along = TF_ARRAY(s->a, int, MOST_RANKS);
  n->consumers = TF_ARRAY(s->a, int, (size_t)z->n_consumers);
  char name[160];
  for (int k = 2;; k++) {
    snprintf(name, sizeof name, "%.120s_%d", z->name, k);
    if (!taken(wl, name)) break;
  }
  if (!all || !along || !n->consumers) return -1;
  int *const consumers = n->consumers;
  *n = *z;
  n->name = tf_arena_strndup(s->a, name, strlen(name));
  n->consumers = consumers;
  n->n_consumers = 0;
  n->lo = all, n->extent = all + MOST_RANKS, n->pad = all + 2 * MOST_RANKS;
  int64_t *step = all + 3 * MOST_RANKS, *begin = all + 4 * MOST_RANKS;
  n->rank = 0;
  for (int r = 0; r < z->rank; r++) {
    const part *x = &s->parts[r];
    begin[r] = x->begin;
    if (x->way == AT_ONE) continue;
    if (x->way == KEPT) n->lo[n->rank] = z->lo[r], n->pad[n->rank] = z->pad[r];
    along[n->rank] = r, step[n->rank] = x->each, n->extent[n->rank++] = x->n;
    if (x->way == IN_TWO) along[n->rank] = r, step[n->rank] = 1, n->extent[n->rank++] = x->each;
  }
  *p = (tf_group_place){along, step, begin};
  s->tensor[made] = s->tensor[t];
  wl->n_tensors++;
  return n->name ? made : -1;
}

static int place_for(splitter *s, int t, int before) {
  for (int made = before; made < s->wl->n_tensors; made++)
    if (s->tensor[made] == s->tensor[t] && same_place(s, t, made)) return made;
  return make(s, t);
}

/* ---- reads -------------------------------------------------------------------------------------------------- */
static bool plain(const splitter *s, tf_index *x, int dim) {
  tf_term *term = TF_ARRAY(s->a, tf_term, 1);
  if (!term) return false;
  *term = (tf_term){dim, 1};
  *x = (tf_index){1, term, 0};
  return true;
}

/* The read at hand, of the tensor that has it. */
static bool turn(splitter *s, tf_ref *ref, int rank, int made) {
  tf_index *index = TF_ARRAY(s->a, tf_index, MOST_RANKS);
  if (!index) return false;
  int q = 0;
  for (int r = 0; r < rank; r++) {
    const tf_index *x = &ref->index[r];
    const part *p = &s->parts[r];
    const int outer = x->n_terms == 2 && x->terms[0].coef == 1;
    if (p->way == KEPT) index[q++] = *x;
    if (p->way == SLICED && !plain(s, &index[q++], x->terms[0].dim)) return false;
    if (p->way == IN_TWO &&
        (!plain(s, &index[q], x->terms[outer].dim) || !plain(s, &index[q + 1], x->terms[!outer].dim)))
      return false;
    q += p->way == IN_TWO ? 2 : 0;
  }
  ref->index = index;
  ref->tensor = made;
  return true;
}

/* Who reads the tensor, each op once. */
static void count_consumers(tf_workload *wl, int t) {
  tf_tensor *z = &wl->tensors[t];
  z->n_consumers = 0;
  for (int i = 0; i < wl->n_ops; i++)
    for (int k = 0; k < wl->ops[i].n_reads; k++)
      if (wl->ops[i].reads[k].tensor == t) {
        z->consumers[z->n_consumers++] = i;
        break;
      }
}

/* Takes tensors out that nobody reads any more. */
static void drop_unread(splitter *s, int before) {
  tf_workload *wl = s->wl;
  for (int t = before - 1; t >= 0; t--) {
    if (wl->tensors[t].producer >= 0 || wl->tensors[t].n_consumers > 0) continue;
    const size_t behind = (size_t)(--wl->n_tensors - t);
    memmove(&wl->tensors[t], &wl->tensors[t + 1], behind * sizeof *wl->tensors);
    memmove(&s->place[t], &s->place[t + 1], behind * sizeof *s->place);
    memmove(&s->tensor[t], &s->tensor[t + 1], behind * sizeof *s->tensor);
    for (int i = 0; i < wl->n_ops; i++) {
      wl->ops[i].out -= wl->ops[i].out > t;
      for (int k = 0; k < wl->ops[i].n_reads; k++)
        wl->ops[i].reads[k].tensor -= wl->ops[i].reads[k].tensor > t;
    }
  }
}

static bool split_reads(splitter *s, int before) {
  tf_workload *wl = s->wl;
  for (int i = 0; i < wl->n_ops; i++)
    for (int k = 0; k < wl->ops[i].n_reads; k++) {
      tf_ref *ref = &wl->ops[i].reads[k];
      const int t = ref->tensor, rank = wl->tensors[t].rank;
      if (wl->tensors[t].producer >= 0 || !differs(s, t, ref)) continue;
      const int made = place_for(s, t, before);
      if (made < 0 || !turn(s, ref, rank, made)) return false;
    }
  return true;
}

bool net_split(tf_arena *a, tf_workload *wl, const bool *fixed, int *tensor, tf_group_place *place) {
  splitter s = {.a = a, .wl = wl, .fixed = fixed, .tensor = tensor, .place = place};
  const int before = wl->n_tensors;
  if (!split_reads(&s, before)) return false;
  if (wl->n_tensors == before) return true;
  for (int t = 0; t < wl->n_tensors; t++)
    if (wl->tensors[t].producer < 0) count_consumers(wl, t);
  drop_unread(&s, before);
  return true;
}
