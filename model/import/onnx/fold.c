/* Numbers that are known here, moved, chosen and summed: what exporters spell out to make masks,
 * indices, tables. */
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "model/import/onnx/onnx.h"

/* A tensor of known numbers; stride: by how much a step along each axis moves in x. */
typedef struct {
  int rank;
  int64_t shape[OX_RANK], stride[OX_RANK], size;
  const double *x;
  int type;
} list;

/* ---- in and out ----------------------------------------------------------------------------- */

static void set_shape(list *v, int rank, const int64_t *shape) {
  v->rank = rank;
  v->size = 1;
  for (int k = rank - 1; k >= 0; k--) {
    v->shape[k] = shape[k];
    v->stride[k] = v->size;
    v->size *= shape[k];
  }
}

/* The numbers of the k-th input, which ox_known_at has found. */
static list input(ox_net *g, size_t k) {
  const ox_value *v = ox_known_at(g, k);
  int64_t shape[OX_RANK];
  list out = {.x = v->number, .type = v->type};
  for (int i = 0; i < v->rank; i++)
    shape[i] = ox_extent(v, i);
  set_shape(&out, v->rank, shape);
  return out;
}

/* Room for the result of these extents; its size is 0 where they are too many numbers to hold,
 * which is no error: an op may compute what cannot be held here. */
static double *result_room(ox_net *g, list *out, int rank, const int64_t *shape) {
  int64_t n = 1;
  out->size = 0;
  if (rank > OX_RANK) return NULL;
  for (int k = 0; k < rank; k++)
    if (shape[k] < 1 || !tf_mul(n, shape[k], &n)) return NULL;
  double *x = ox_numbers_room(g, n);
  if (x) set_shape(out, rank, shape);
  out->x = x;
  return x;
}

static bool end(ox_net *g, const list *out) {
  ox_value v = {0};
  ox_whole(&v, -1, out->rank, out->shape);
  v.name = g->node->output[0];
  v.number = out->x;
  return ox_give(g, 0, &v);
}

/* The same of sums: whole ones stay in their type. */
static bool end_sum(ox_net *g, const list *out, double *x) {
  bool ok = true;
  for (int64_t i = 0; i < out->size && ok && ox_is_integer(out->type); i++)
    x[i] = ox_as_type(x[i], out->type, &ok);
  return ok ? end(g, out)
            : ox_fail(g, TF_E_RANGE, "a sum that is no number of type %s", ox_type_name(out->type));
}

static bool give_nothing(ox_net *g) {
  const ox_value v = {.tensor = -1, .name = g->node->output[0], .empty = true};
  return ox_give(g, 0, &v);
}

/* The next place of `at` in these extents, last axis first; false after the last. */
static bool next(int64_t *at, int rank, const int64_t *shape) {
  for (int k = rank - 1; k >= 0; k--) {
    if (++at[k] < shape[k]) return true;
    at[k] = 0;
  }
  return false;
}

static int64_t offset_of(const int64_t *at, int rank, const int64_t *stride) {
  int64_t from = 0;
  for (int k = 0; k < rank; k++)
    from += at[k] * stride[k];
  return from;
}

/* Fills the result with what lies at `base` and, a step along an axis of it, `stride` further. */
static void gather_result(double *to, const list *out, const double *from, int64_t base,
                          const int64_t *stride) {
  int64_t at[OX_RANK] = {0}, i = 0;
  do
    to[i++] = from[base + offset_of(at, out->rank, stride)];
  while (next(at, out->rank, out->shape));
}

/* Weights of the file are seen in another order where they lie: what packs them finds them under
 * their name.  What is computed of them may still be known here. */
static bool is_weight(ox_net *g) {
  const ox_value *v = ox_known_at(g, 0);
  return !ox_is_integer(v->type) &&
         (v->tensor >= 0 ? g->tensor[v->tensor].source.data : v->data) != NULL;
}

/* Ends a node that moves numbers: a view of weights gets them, once it is made, beside what it
 * shows. */
static bool end_view(ox_net *g, const list *out, bool *done) {
  if (!is_weight(g)) return *done = true, end(g, out);
  g->beside = out->x;
  return true;
}

/* ---- moved ---------------------------------------------------------------------------------- */

static bool transpose(ox_net *g, bool *done) {
  const list v = input(g, 0);
  size_t n;
  const int64_t *perm = ox_ints(g, "perm", &n);
  int64_t shape[OX_RANK], stride[OX_RANK];
  list out = {.type = v.type};
  for (int k = 0; k < v.rank; k++) {
    const int64_t from = perm && n == (size_t)v.rank ? perm[k] : v.rank - 1 - k;
    if (from < 0 || from >= v.rank || (perm && n != (size_t)v.rank))
      return true; /* reported by the view's reader */
    shape[k] = v.shape[from], stride[k] = v.stride[from];
  }
  double *x = result_room(g, &out, v.rank, shape);
  if (!x) return true;
  gather_result(x, &out, v.x, 0, stride);
  return end_view(g, &out, done);
}

static bool slice(ox_net *g, bool *done) {
  const list v = input(g, 0);
  list out = {.type = v.type};
  int64_t shape[OX_RANK], stride[OX_RANK], base = 0;
  ox_cuts cuts;
  if (!ox_cuts_of(g, v.rank, v.shape, &cuts)) return false;
  for (int k = 0; k < v.rank; k++) {
    if (!cuts.n[k]) return *done = true, give_nothing(g);
    base += cuts.first[k] * v.stride[k];
    shape[k] = cuts.n[k], stride[k] = cuts.step[k] * v.stride[k];
  }
  double *x = result_room(g, &out, v.rank, shape);
  if (!x) return true;
  gather_result(x, &out, v.x, base, stride);
  return end_view(g, &out, done);
}

static bool expand(ox_net *g, bool *done) {
  const list v = input(g, 0), want = input(g, 1);
  list out = {.type = v.type};
  const int wanted = (int)want.size, rank = wanted > v.rank ? wanted : v.rank;
  int64_t shape[OX_RANK], stride[OX_RANK];
  if (rank > OX_RANK) return true;
  for (int k = 0; k < rank; k++) {
    const int i = k - (rank - wanted), j = k - (rank - v.rank);
    if (i >= 0 && !(want.x[i] >= 1 && want.x[i] <= OX_FOLDED)) return true;
    const int64_t has = j < 0 ? 1 : v.shape[j], asked = i < 0 ? 1 : (int64_t)want.x[i];
    if (has != 1 && asked != 1 && has != asked) return true;
    shape[k] = has == 1 ? asked : has;
    stride[k] = has == 1 ? 0 : v.stride[j];
  }
  double *x = result_room(g, &out, rank, shape);
  if (!x) return true;
  gather_result(x, &out, v.x, 0, stride);
  return end_view(g, &out, done);
}

/* Each axis is two: which copy, and where in it. */
static bool tile(ox_net *g, bool *done) {
  const list v = input(g, 0), times = input(g, 1);
  list out = {.type = v.type}, apart;
  int64_t shape[OX_RANK], both[OX_RANK], stride[OX_RANK];
  if (times.size != v.rank || 2 * v.rank > OX_RANK) return true;
  for (int k = 0; k < v.rank; k++) {
    if (!(times.x[k] >= 1 && times.x[k] <= OX_FOLDED)) return true;
    both[2 * k] = (int64_t)times.x[k], both[2 * k + 1] = v.shape[k];
    stride[2 * k] = 0, stride[2 * k + 1] = v.stride[k];
    shape[k] = both[2 * k] * v.shape[k];
  }
  double *x = result_room(g, &out, v.rank, shape);
  if (!x) return true;
  set_shape(&apart, 2 * v.rank, both);
  gather_result(x, &apart, v.x, 0, stride);
  return *done = true, end(g, &out);
}

static bool concat(ox_net *g, bool *done) {
  const list first = input(g, 0);
  list out = {.type = first.type};
  int64_t shape[OX_RANK], outer = 1, from = 0;
  int axis;
  if (!ox_axis_at(g, ox_int(g, "axis", 0), first.rank, &axis)) return false;
  memcpy(shape, first.shape, sizeof shape);
  for (size_t i = 1; i < g->node->n_input; i++) {
    if (!ox_has(g, i)) continue; /* of no element */
    const list v = input(g, i);
    if (v.rank != first.rank) return true; /* reported by those that join tensors */
    for (int k = 0; k < v.rank; k++)
      if (k != axis && v.shape[k] != first.shape[k]) return true;
    if (!tf_add(shape[axis], v.shape[axis], &shape[axis])) return true;
  }
  double *x = result_room(g, &out, first.rank, shape);
  if (!x) return true;
  for (int k = 0; k < axis; k++)
    outer *= shape[k];
  for (size_t i = 0; i < g->node->n_input; i++) {
    if (!ox_has(g, i)) continue;
    const list v = input(g, i);
    const int64_t row = v.size / outer;
    for (int64_t o = 0; o < outer; o++)
      memcpy(x + o * (out.size / outer) + from, v.x + o * row, (size_t)row * sizeof *x);
    from += row;
  }
  return *done = true, end(g, &out);
}

static bool trilu(ox_net *g, bool *done) {
  const list v = input(g, 0);
  const bool upper = ox_int(g, "upper", 1) != 0;
  const double off = ox_has(g, 1) ? ox_known_at(g, 1)->number[0] : 0;
  list out = {.type = v.type};
  if (v.rank < 2) return ox_fail(g, TF_E_RANK, "a triangle of %d axes", v.rank);
  double *x = result_room(g, &out, v.rank, v.shape);
  const int64_t columns = v.shape[v.rank - 1], rows = v.shape[v.rank - 2];
  for (int64_t i = 0; i < v.size && x; i++) {
    const double row = (double)(i / columns % rows) + off, column = (double)(i % columns);
    x[i] = (upper ? row <= column : column <= row) ? v.x[i] : 0;
  }
  return !x || (*done = true, end(g, &out));
}

/* ---- chosen by indices ---------------------------------------------------------------------- */

static bool index_at(ox_net *g, double number, int64_t all, int64_t *out) {
  const double at = number < 0 ? number + (double)all : number;
  if (!(at >= 0 && at < (double)all))
    return ox_fail(g, TF_E_RANGE, "element %g of %lld", number, (long long)all);
  *out = (int64_t)at;
  return true;
}

/* Whether the indices have one stride: what they choose is then a view. */
static bool one_stride(const list *which) {
  for (int64_t i = 1; i < which->size; i++)
    if (which->x[i] - which->x[i - 1] != which->x[1] - which->x[0]) return false;
  return which->size == 1 || which->x[0] != which->x[1];
}

static bool gather(ox_net *g, bool *done) {
  const list v = input(g, 0), which = input(g, 1);
  list out = {.type = v.type};
  int64_t shape[2 * OX_RANK], outer = 1, at = 0;
  int axis, rank = 0;
  if (!ox_axis_at(g, ox_int(g, "axis", 0), v.rank, &axis)) return false;
  if (v.rank + which.rank - 1 > OX_RANK) return true;
  for (int k = 0; k < axis; k++)
    outer *= shape[rank++] = v.shape[k];
  for (int k = 0; k < which.rank; k++)
    shape[rank++] = which.shape[k];
  for (int k = axis + 1; k < v.rank; k++)
    shape[rank++] = v.shape[k];
  double *x = result_room(g, &out, rank, shape);
  if (!x) return true;
  const int64_t inner = v.stride[axis];
  for (int64_t o = 0; o < outer; o++)
    for (int64_t i = 0; i < which.size; i++) {
      if (!index_at(g, which.x[i], v.shape[axis], &at)) return false;
      memcpy(x + (o * which.size + i) * inner, v.x + (o * v.shape[axis] + at) * inner,
             (size_t)inner * sizeof *x);
    }
  return one_stride(&which) ? end_view(g, &out, done) : (*done = true, end(g, &out));
}

/* Rows of `data` that indices name are replaced by those of `updates`. */
static bool scatter(ox_net *g, bool *done) {
  const list v = input(g, 0), which = input(g, 1), rows = input(g, 2);
  list out = {.type = v.type};
  const int deep =
      which.rank
          ? (int)(which.shape[which.rank - 1] < OX_RANK ? which.shape[which.rank - 1] : OX_RANK)
          : 0;
  if (deep < 1 || deep > v.rank)
    return ox_fail(g, TF_E_RANK, "indices of %d numbers in %d axes", deep, v.rank);
  const int64_t many = which.size / deep, inner = v.stride[deep - 1];
  if (rows.size != many * inner || strcmp(ox_text(g, "reduction", "none"), "none") != 0)
    return ox_fail(g, TF_E_SHAPE, "%lld numbers for %lld rows of %lld", (long long)rows.size,
                   (long long)many, (long long)inner);
  double *x = result_room(g, &out, v.rank, v.shape);
  if (!x) return true;
  memcpy(x, v.x, (size_t)v.size * sizeof *x);
  for (int64_t i = 0; i < many; i++) {
    int64_t to = 0, at = 0;
    for (int k = 0; k < deep; k++) {
      if (!index_at(g, which.x[i * deep + k], v.shape[k], &at)) return false;
      to += at * v.stride[k];
    }
    memcpy(x + to, rows.x + i * inner, (size_t)inner * sizeof *x);
  }
  return *done = true, end(g, &out);
}

/* ---- sums ----------------------------------------------------------------------------------- */

static double joined(char how, double a, double b) {
  return how == '+' ? a + b : how == '*' ? a * b : how == 'm' ? fmax(a, b) : fmin(a, b);
}

static bool reduce(ox_net *g, bool *done) {
  const char *type = g->node->op_type;
  const char how = strstr(type, "Prod")  ? '*'
                   : strstr(type, "Max") ? 'm'
                   : strstr(type, "Min") ? 'n'
                                         : '+';
  const list v = input(g, 0);
  list out = {.type = v.type};
  int64_t shape[OX_RANK], kept[OX_RANK] = {0}, step[OX_RANK], at[OX_RANK] = {0};
  bool over[OX_RANK];
  int rank = 0;
  if (!ox_reduced_axes(g, v.rank, over)) return false;
  for (int k = 0; k < v.rank; k++)
    kept[k] = over[k] ? 1 : v.shape[k];
  double *x = result_room(g, &out, v.rank, kept);
  if (!x) return true;
  for (int k = 0; k < v.rank; k++)
    step[k] = over[k] ? 0 : out.stride[k];
  for (int64_t i = 0; i < out.size; i++)
    x[i] = how == '+' ? 0 : how == '*' ? 1 : how == 'm' ? (double)-INFINITY : (double)INFINITY;
  int64_t i = 0;
  do {
    double *to = &x[offset_of(at, v.rank, step)];
    *to = joined(how, *to, v.x[i++]);
  } while (next(at, v.rank, v.shape));
  for (int64_t k = 0; k < out.size && strstr(type, "Mean"); k++)
    x[k] /= (double)(v.size / out.size);
  for (int k = 0; k < v.rank; k++)
    if (!over[k] || ox_int(g, "keepdims", 1)) shape[rank++] = kept[k];
  set_shape(&out, rank, shape);
  return *done = true, end_sum(g, &out, x);
}

static bool running_sum(ox_net *g, bool *done) {
  const list v = input(g, 0);
  list out = {.type = v.type};
  const int64_t *which;
  int64_t many;
  int axis;
  if (!ox_numbers(g, 1, &which, &many) || !ox_axis_at(g, which[0], v.rank, &axis)) return false;
  const bool back = ox_int(g, "reverse", 0) != 0, without = ox_int(g, "exclusive", 0) != 0;
  double *x = result_room(g, &out, v.rank, v.shape);
  if (!x) return true;
  const int64_t n = v.shape[axis], inner = v.stride[axis];
  for (int64_t row = 0; row < v.size / n; row++) {
    double sum = 0;
    for (int64_t k = 0; k < n; k++) {
      const int64_t i = row / inner * n * inner + (back ? n - 1 - k : k) * inner + row % inner;
      x[i] = without ? sum : sum + v.x[i];
      sum += v.x[i];
    }
  }
  return *done = true, end_sum(g, &out, x);
}

/* Matrices beside each other; those of a batch of one, or of no batch, stand beside each of the
 * other's. */
static bool fold_matmul(ox_net *g, bool *done) {
  const list a = input(g, 0), b = input(g, 1);
  list out = {.type = a.type};
  int64_t shape[OX_RANK], at[OX_RANK] = {0}, sa[OX_RANK] = {0}, sb[OX_RANK] = {0}, i = 0;
  const int rank = a.rank > b.rank ? a.rank : b.rank;
  if (a.rank < 2 || b.rank < 2 || a.shape[a.rank - 1] != b.shape[b.rank - 2])
    return true; /* reported where ops are made */
  for (int k = 0; k < rank; k++) {
    const int p = k - (rank - a.rank), q = k - (rank - b.rank);
    const int64_t m = p < 0 || k == rank - 1 ? 1 : a.shape[p],
                  n = q < 0 || k == rank - 2 ? 1 : b.shape[q];
    if (m != n && m != 1 && n != 1) return true;
    shape[k] = m > n ? m : n;
    if (m > 1) sa[k] = a.stride[p];
    if (n > 1) sb[k] = b.stride[q];
  }
  double *x = result_room(g, &out, rank, shape);
  const int64_t depth = a.shape[a.rank - 1], below = b.stride[b.rank - 2];
  int64_t work;
  if (!x || !tf_mul(out.size, depth, &work) || work > 16 * (int64_t)OX_FOLDED) return true;
  do {
    const double *p = a.x + offset_of(at, rank, sa), *q = b.x + offset_of(at, rank, sb);
    double sum = 0;
    for (int64_t k = 0; k < depth; k++)
      sum += p[k] * q[k * below];
    x[i++] = sum;
  } while (next(at, rank, shape));
  return *done = true, end_sum(g, &out, x);
}

/* ---- which ---------------------------------------------------------------------------------- */

/* n: inputs that it needs; reads: takes numbers of the file, too, that are more than may say
 * shapes. */
static const struct {
  const char *type;
  bool (*make)(ox_net *g, bool *done);
  size_t n;
  bool reads;
} folds[] = {
    {"Transpose", transpose, 1, false}, {"Slice", slice, 1, false},
    {"Expand", expand, 2, false},       {"Tile", tile, 2, false},
    {"Concat", concat, 1, false},       {"Trilu", trilu, 1, false},
    {"Gather", gather, 2, true},        {"ScatterND", scatter, 3, true},
    {"ReduceSum", reduce, 1, false},    {"ReduceMean", reduce, 1, false},
    {"ReduceProd", reduce, 1, false},   {"ReduceMax", reduce, 1, false},
    {"ReduceMin", reduce, 1, false},    {"CumSum", running_sum, 2, false},
    {"MatMul", fold_matmul, 2, false},
};

bool ox_moves_numbers(const char *type) {
  for (size_t i = 0; i < sizeof folds / sizeof *folds; i++)
    if (!strcmp(folds[i].type, type)) return true;
  return false;
}

/* Counts what is read as some of what is made: many small results of one long list take time, too.
 */
static bool count_reads(ox_net *g) {
  enum { READ_AS_MADE = 16 };
  for (size_t k = 0; k < g->node->n_input; k++) {
    const ox_value *v = ox_known_at(g, k);
    if (v) g->folded += ox_size(v) / READ_AS_MADE;
  }
  return g->folded < OX_FOLDED_IN_ALL;
}

bool ox_fold(ox_net *g, bool *done) {
  *done = false;
  for (size_t i = 0; i < sizeof folds / sizeof *folds; i++) {
    if (strcmp(folds[i].type, g->node->op_type) != 0) continue;
    bool all = g->node->n_input >= folds[i].n;
    for (size_t k = 0; k < folds[i].n && all; k++)
      all = ox_has(g, k);
    for (size_t k = g->node->n_input;
         k-- > 0 && all;) /* indices first: without them nothing has to be read */
      all = !ox_has(g, k) || (folds[i].reads ? ox_read_at(g, k) : ox_known_at(g, k)) != NULL;
    return !all || !count_reads(g) || folds[i].make(g, done);
  }
  return true;
}
