/* Inputs of a group that are read at `64 * head + row` of one rank, or with an offset, become
 * tensors whose indices are plain dims: the same words under other coordinates, addressed by
 * strides. Code that recognises products then recognises these, too. */
#include <stdio.h>
#include <string.h>

#include "net/net.h"

/* Elements to whose multiples rows must be aligned, so that 16 bytes can be moved at once. */
enum { ALIGNED = 8, MOST_RANKS = 16, MOST_DIMS = 4 };

/* How a read moves along one rank of a tensor. */
typedef enum { KEPT, SPREAD, SLICED, AT_ONE } way;
typedef struct {
  way kind;
  int64_t begin; /* coordinate of element 0 */
  /* SPREAD, SLICED: the dims, outermost first, and the step of each. */
  int n, dim[MOST_DIMS];
  int64_t step[MOST_DIMS], extent[MOST_DIMS];
} part;

typedef struct {
  tf_arena *a;
  tf_workload *wl;
  const bool *fixed;      /* [tensors] its strides are the caller's */
  int *tensor;            /* of the group, with room for one for each read */
  tf_group_place *place;  /* likewise */
  part parts[MOST_RANKS]; /* of the current read */
} splitter;

/* Sorts the terms, the largest step first. */
static void sort_terms(const splitter *s, const tf_index *x, part *p) {
  for (int k = 0; k < x->n_terms; k++) {
    int at = p->n++;
    for (; at > 0 && p->step[at - 1] < x->terms[k].coef; at--)
      p->dim[at] = p->dim[at - 1], p->step[at] = p->step[at - 1], p->extent[at] = p->extent[at - 1];
    p->dim[at] = x->terms[k].dim;
    p->step[at] = x->terms[k].coef;
    p->extent[at] = s->wl->dims[x->terms[k].dim].extent;
  }
}

static part part_of(const splitter *s, const tf_tensor *z, int r, const tf_index *x) {
  part p = {.kind = KEPT};
  if (z->lo[r] || z->pad[r] || x->c < 0 || x->n_terms > MOST_DIMS) return p;
  if (x->n_terms == 0) return (part){.kind = AT_ONE, .begin = x->c};
  part q = {.kind = x->n_terms > 1 ? SPREAD : SLICED, .begin = x->c};
  sort_terms(s, x, &q);
  bool whole = q.step[q.n - 1] == 1;
  for (int k = 0; k + 1 < q.n && whole; k++) /* an inner dim spans a step of the next outer one */
    whole = q.step[k] == q.step[k + 1] * q.extent[k + 1];
  if (!whole || q.begin + q.step[0] * q.extent[0] > z->extent[r]) return p;
  return q.kind == SLICED && q.begin == 0 ? p : q;
}

/* Sets parts; returns whether some rank is not read directly, while rows would remain aligned to 16
 * bytes. */
static bool differs(splitter *s, int t, const tf_ref *ref) {
  const tf_tensor *z = &s->wl->tensors[t];
  bool any = false;
  int ranks = 0;
  for (int r = 0; r < z->rank; r++) {
    s->parts[r] = part_of(s, z, r, &ref->index[r]);
    any |= s->parts[r].kind != KEPT;
    ranks += s->parts[r].kind == KEPT ? 1 : s->parts[r].n;
  }
  if (!any || ranks == 0 || ranks > MOST_RANKS) return false;
  const part *last = &s->parts[z->rank - 1];
  if (last->kind == AT_ONE) return !s->fixed[t] && z->extent[z->rank - 1] == 1;
  const int64_t inner = last->kind == SPREAD ? last->extent[last->n - 1] : ALIGNED;
  return z->extent[z->rank - 1] % ALIGNED == 0 && last->begin % ALIGNED == 0 &&
         inner % ALIGNED == 0;
}

/* ---- tensors -------------------------------------------------------------------------------- */
static bool same_place(const splitter *s, int t, int made) {
  const tf_tensor *z = &s->wl->tensors[t], *n = &s->wl->tensors[made];
  const tf_group_place *p = &s->place[made];
  int q = 0;
  for (int r = 0; r < z->rank; r++) {
    const part *x = &s->parts[r];
    const bool kept = x->kind == KEPT;
    if (p->begin[r] != x->begin) return false;
    for (int k = 0; k < (kept ? 1 : x->n); k++, q++)
      if (q >= n->rank || p->along[q] != r ||
          n->extent[q] != (kept ? z->extent[r] : x->extent[k]) ||
          p->step[q] != (kept ? 1 : x->step[k]))
        return false;
  }
  return q == n->rank;
}

/* Adds a tensor for the current read of t; returns its number; -1: out of memory. */
static int make_tensor(splitter *s, int t) {
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
    if (!net_is_taken(wl, name)) break;
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
    const bool kept = x->kind == KEPT;
    begin[r] = x->begin;
    if (kept) n->lo[n->rank] = z->lo[r], n->pad[n->rank] = z->pad[r];
    for (int k = 0; k < (kept ? 1 : x->n); k++) {
      along[n->rank] = r;
      step[n->rank] = kept ? 1 : x->step[k];
      n->extent[n->rank++] = kept ? z->extent[r] : x->extent[k];
    }
  }
  *p = (tf_group_place){along, step, begin};
  s->tensor[made] = s->tensor[t];
  wl->n_tensors++;
  return n->name ? made : -1;
}

static int place_for(splitter *s, int t, int before) {
  for (int made = before; made < s->wl->n_tensors; made++)
    if (s->tensor[made] == s->tensor[t] && same_place(s, t, made)) return made;
  return make_tensor(s, t);
}

/* ---- reads ---------------------------------------------------------------------------------- */
static bool set_plain_index(const splitter *s, tf_index *x, int dim) {
  tf_term *term = TF_ARRAY(s->a, tf_term, 1);
  if (!term) return false;
  *term = (tf_term){dim, 1};
  *x = (tf_index){1, term, 0};
  return true;
}

/* Replaces the current read by one of the new tensor. */
static bool read_new_tensor(splitter *s, tf_ref *ref, int rank, int made) {
  tf_index *index = TF_ARRAY(s->a, tf_index, MOST_RANKS);
  if (!index) return false;
  int q = 0;
  for (int r = 0; r < rank; r++) {
    const part *p = &s->parts[r];
    if (p->kind == KEPT) index[q++] = ref->index[r];
    for (int k = 0; k < p->n; k++)
      if (!set_plain_index(s, &index[q++], p->dim[k])) return false;
  }
  ref->index = index;
  ref->tensor = made;
  return true;
}

/* Counts the readers of the tensor, each op once. */
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

/* Removes tensors that are no longer read. */
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
      if (made < 0 || !read_new_tensor(s, ref, rank, made)) return false;
    }
  return true;
}

bool net_split(tf_arena *a, tf_workload *wl, const bool *fixed, int *tensor,
               tf_group_place *place) {
  splitter s = {.a = a, .wl = wl, .fixed = fixed, .tensor = tensor, .place = place};
  const int before = wl->n_tensors;
  if (!split_reads(&s, before)) return false;
  if (wl->n_tensors == before) return true;
  for (int t = 0; t < wl->n_tensors; t++)
    if (wl->tensors[t].producer < 0) count_consumers(wl, t);
  drop_unread(&s, before);
  return true;
}

/* ---- vectors as rows ------------------------------------------------------------------------ */
static bool reads_dim(const splitter *s, const tf_ref *ref, int dim) {
  bool any = false;
  for (int r = 0; r < s->wl->tensors[ref->tensor].rank; r++)
    for (int k = 0; k < ref->index[r].n_terms; k++)
      any |= ref->index[r].terms[k].dim == dim;
  return any;
}

/* The operand of a product that has none of the output's dims, while the other has them all; -1: no
 * such product. */
static int lone_operand(const splitter *s, const tf_op *op) {
  if (op->reduce != TF_REDUCE_ADD || op->n_reads != 2 || !op->n_out_dims ||
      op->n_dims == op->n_out_dims)
    return -1;
  for (int lone = 0; lone < 2; lone++) {
    bool ok = true;
    for (int d = 0; d < op->n_out_dims; d++)
      ok = ok && !reads_dim(s, &op->reads[lone], op->dims[d]) &&
           reads_dim(s, &op->reads[!lone], op->dims[d]);
    if (ok) return lone;
  }
  return -1;
}

/* A copy of n elements of `each` bytes after room for one; array NULL: zeros. */
static void *with_front(const splitter *s, const void *array, size_t n, size_t each) {
  char *all = tf_arena_alloc(s->a, (n + 1) * each);
  if (all && array) memcpy(all + each, array, n * each);
  return all;
}

/* Elements of the ranks after rank r. */
static int64_t words_after(const tf_tensor *z, int r) {
  int64_t n = 1;
  for (int k = r + 1; k < z->rank; k++)
    n *= z->extent[k];
  return n;
}

/* The network's rank along which rank r of an unsplit tensor runs; of merged ranks the last. */
static int rank_along(const tf_tensor *z, int r, const tf_tensor *outside) {
  int q = r;
  while (q + 1 < outside->rank && words_after(outside, q) > words_after(z, r))
    q++;
  return q;
}

/* Adds a first rank of extent 1 to the tensor and, if it is an argument of the kernel, a place. */
static bool add_rank(const splitter *s, int t, const tf_tensor *outside) {
  const tf_tensor before = s->wl->tensors[t];
  tf_tensor *z = &s->wl->tensors[t];
  const size_t n = (size_t)z->rank;
  tf_group_place *p = &s->place[t];
  int *along = TF_ARRAY(s->a, int, n + 1);
  int64_t *step = TF_ARRAY(s->a, int64_t, n + 1),
          *begin = TF_ARRAY(s->a, int64_t, (size_t)outside->rank + 1);
  z->lo = with_front(s, z->lo, n, sizeof *z->lo);
  z->extent = with_front(s, z->extent, n, sizeof *z->extent);
  z->pad = with_front(s, z->pad, n, sizeof *z->pad);
  if (!along || !step || !begin || !z->lo || !z->extent || !z->pad) return false;
  z->lo[0] = z->pad[0] = 0;
  z->extent[0] = 1;
  for (size_t r = 0; r < n; r++)
    along[r + 1] = p->along ? p->along[r] : rank_along(&before, (int)r, outside),
              step[r + 1] = p->along ? p->step[r] : 1;
  along[0] = n ? along[1]
               : 0; /* no index moves it; the next rank's size, so that it is aligned as that is */
  step[0] = n ? step[1] * z->extent[1] : 1;
  *p = (tf_group_place){along, step, p->along ? p->begin : begin};
  z->rank++;
  return true;
}

static bool add_index(const splitter *s, tf_ref *ref, int row) {
  const size_t n = (size_t)s->wl->tensors[ref->tensor].rank - 1; /* before the new rank */
  tf_index *index = with_front(s, ref->index, n, sizeof *index);
  if (index) ref->index = index;
  return index && set_plain_index(s, &index[0], row);
}

static bool add_dim(splitter *s) {
  tf_workload *wl = s->wl;
  tf_dim *dims = TF_ARRAY(s->a, tf_dim, (size_t)wl->n_dims + 1);
  char name[32] = "row";
  if (!dims) return false;
  for (int k = 2; net_is_taken(wl, name); k++)
    snprintf(name, sizeof name, "row_%d", k);
  memcpy(dims, wl->dims, (size_t)wl->n_dims * sizeof *dims);
  dims[wl->n_dims] = (tf_dim){tf_arena_strndup(s->a, name, strlen(name)), wl->at, 1};
  wl->dims = dims;
  return dims[wl->n_dims++].name != NULL;
}

bool net_add_row(tf_arena *a, tf_workload *wl, const tf_tensor *const *outside,
                 tf_group_place *place) {
  splitter s = {.a = a, .wl = wl, .place = place};
  bool *rows = TF_ARRAY(a, bool, (size_t)wl->n_tensors);
  bool any = false, may = wl->n_dims < NET_GROUP_DIMS;
  if (!rows) return false;
  for (int i = 0; i < wl->n_ops; i++) {
    const int lone = lone_operand(&s, &wl->ops[i]);
    any |= lone >= 0;
    may = may && wl->ops[i].n_out_dims == 1; /* a vector passes through */
    if (lone >= 0) rows[wl->ops[i].reads[lone].tensor] = true;
    rows[wl->ops[i].out] = true;
  }
  if (!any || !may) return true;
  const int row = wl->n_dims;
  if (!add_dim(&s)) return false;
  for (int t = 0; t < wl->n_tensors; t++)
    if (rows[t] && !add_rank(&s, t, outside[t])) return false;
  for (int i = 0; i < wl->n_ops; i++) {
    tf_op *op = &wl->ops[i];
    int *dims = with_front(&s, op->dims, (size_t)op->n_dims, sizeof *dims);
    if (!dims) return false;
    dims[0] = row;
    op->dims = dims;
    op->n_dims++, op->n_out_dims++;
    for (int k = 0; k < op->n_reads; k++)
      if (rows[op->reads[k].tensor] && !add_index(&s, &op->reads[k], row)) return false;
  }
  return true;
}
