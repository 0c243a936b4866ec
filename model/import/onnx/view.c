/* Operations on views, which move no data. */
#include <string.h>

#include "base/checked.h"
#include "model/import/onnx/onnx.h"

const ox_factor *ox_factors(const ox_value *v, int axis) {
  const ox_factor *f = v->f;
  for (int k = 0; k < axis; k++)
    f += v->n[k];
  return f;
}

int64_t ox_extent(const ox_value *v, int axis) {
  const ox_factor *f = ox_factors(v, axis);
  int64_t extent = 1;
  for (int i = 0; i < v->n[axis]; i++)
    extent *= f[i].extent;
  return extent;
}

bool ox_fits(ox_net *g, const ox_value *v) {
  return ox_size(v) <= OX_MOST_SIZE || ox_fail(g, TF_E_OVERFLOW, "more than 2^48 elements");
}

void ox_whole(ox_value *v, int tensor, int rank, const int64_t *shape) {
  v->tensor = tensor;
  v->rank = rank;
  v->n_factors = 0;
  for (int k = 0; k < rank; k++) {
    v->origin[k] = 0;
    v->n[k] = shape[k] > 1;
    if (shape[k] < 2) continue;
    ox_factor *f = &v->f[v->n_factors++];
    *f = (ox_factor){.extent = shape[k]};
    f->step[k] = 1;
  }
}

/* Axis `of` of another value becomes this one's. */
static void copy_axis(ox_value *v, int axis, const ox_value *from, int of) {
  v->n[axis] = from->n[of];
  memcpy(v->f + v->n_factors, ox_factors(from, of), (size_t)from->n[of] * sizeof *v->f);
  v->n_factors += from->n[of];
}

void ox_permute(ox_value *v, const int *axis) {
  const ox_value old = *v;
  v->n_factors = 0;
  for (int k = 0; k < v->rank; k++)
    copy_axis(v, k, &old, axis[k]);
  v->number = NULL;
}

/* Splits `f` so that its factors end at each cut inside it; `inner`: elements of the axis below it.
 * Returns the number of factors, outermost first. */
static int cut_factor(const ox_factor *f, int64_t inner, const ox_axis *cuts, ox_factor *out) {
  int n = 0, made = 0;
  int64_t at[OX_FACTORS + 2];
  if (f->extent == 1) return 0;
  at[n++] = inner * f->extent;
  for (int i = cuts->n - 1; i >= 0; i--)
    if (cuts->cut[i] > inner && cuts->cut[i] < inner * f->extent) at[n++] = cuts->cut[i];
  at[n++] = inner;
  for (int i = 0; i + 1 < n; i++) {
    out[made] = (ox_factor){.extent = at[i] / at[i + 1]};
    for (int r = 0; r < OX_RANK; r++)
      out[made].step[r] = f->step[r] * (at[i + 1] / inner);
    made++;
  }
  return made;
}

/* Splits the n factors f; returns their new number, or -1: too many. */
static int cut_factors(const ox_factor *f, int n, const ox_axis *cuts, ox_factor *out, int room) {
  ox_factor part[OX_FACTORS + 2], all[OX_FACTORS];
  int64_t inner = 1;
  int at = OX_FACTORS; /* filled from the end */
  for (int i = n - 1; i >= 0; i--) {
    const int made = cut_factor(&f[i], inner, cuts, part);
    if (made > at) return -1;
    at -= made;
    memcpy(all + at, part, (size_t)made * sizeof *all);
    inner *= f[i].extent;
  }
  if (OX_FACTORS - at > room) return -1;
  memcpy(out, all + at, (size_t)(OX_FACTORS - at) * sizeof *out);
  return OX_FACTORS - at;
}

bool ox_split(ox_net *g, ox_value *v, int axis, const ox_axis *cuts) {
  const ox_value old = *v;
  v->n_factors = 0;
  for (int k = 0; k < v->rank; k++) {
    if (k != axis) {
      if (v->n_factors + old.n[k] > OX_FACTORS)
        return ox_regroup(g, TF_E_LIMIT, "axes of more than %d factors", OX_FACTORS);
      copy_axis(v, k, &old, k);
      continue;
    }
    v->n[k] = cut_factors(ox_factors(&old, k), old.n[k], cuts, v->f + v->n_factors,
                          OX_FACTORS - v->n_factors);
    if (v->n[k] < 0) return ox_regroup(g, TF_E_LIMIT, "axes of more than %d factors", OX_FACTORS);
    v->n_factors += v->n[k];
  }
  return true;
}

bool ox_cut(ox_net *g, ox_axis *axis, int64_t extent) {
  int at = 0;
  while (at < axis->n && axis->cut[at] < extent)
    at++;
  if (at < axis->n && axis->cut[at] == extent) return true;
  if ((at > 0 && extent % axis->cut[at - 1]) || (at < axis->n && axis->cut[at] % extent))
    return ox_regroup(
        g, TF_E_SHAPE,
        "elements are regrouped by %lld and by %lld: that moves them, which the workload language "
        "cannot say",
        (long long)extent,
        (long long)(at < axis->n && axis->cut[at] % extent ? axis->cut[at] : axis->cut[at - 1]));
  if (axis->n > OX_FACTORS)
    return ox_regroup(g, TF_E_LIMIT, "axes of more than %d factors", OX_FACTORS);
  memmove(axis->cut + at + 1, axis->cut + at, (size_t)(axis->n - at) * sizeof *axis->cut);
  axis->cut[at] = extent;
  axis->n++;
  return true;
}

static bool join_factors(ox_net *g, ox_axis *axis, const ox_factor *f, int n) {
  int64_t inner = 1;
  bool ok = ox_cut(g, axis, 1);
  for (int i = n - 1; i >= 0 && ok; i--)
    ok = ox_cut(g, axis, inner *= f[i].extent);
  return ok;
}

bool ox_join(ox_net *g, ox_axis *axis, const ox_value *v, int at) {
  return join_factors(g, axis, ox_factors(v, at), v->n[at]);
}

/* Whether the extents end where factors can be split; then all cuts. */
static bool nests(const ox_value *v, int rank, const int64_t *shape, ox_axis *all) {
  int64_t inner = 1, have = 1;
  int i = v->n_factors - 1, k = rank - 1;
  *all = (ox_axis){.n = 1, .cut = {1}};
  while (i >= 0 || k >= 0) { /* the next end of a factor or of an axis, whichever comes first */
    const int64_t f = i >= 0 ? inner * v->f[i].extent : INT64_MAX,
                  a = k >= 0 ? have * shape[k] : INT64_MAX;
    const int64_t next = f < a ? f : a;
    if (next % all->cut[all->n - 1] || all->n > OX_FACTORS) return false;
    if (next > all->cut[all->n - 1]) all->cut[all->n++] = next;
    if (f == next) inner = f, i--;
    if (a == next) have = a, k--;
  }
  return true;
}

bool ox_view_as(ox_value *v, int rank, const int64_t *shape) {
  ox_axis all;
  ox_factor f[OX_FACTORS];
  const int n =
      nests(v, rank, shape, &all) ? cut_factors(v->f, v->n_factors, &all, f, OX_FACTORS) : -1;
  if (n < 0) return false;
  memcpy(v->f, f, (size_t)n * sizeof *f);
  v->n_factors = n;
  v->rank = rank;
  for (int k = 0, i = 0; k < rank; k++) {
    v->n[k] = 0;
    for (int64_t extent = shape[k]; extent > 1; v->n[k]++)
      extent /= f[i++].extent;
  }
  return true;
}

bool ox_slice(ox_net *g, ox_value *v, int axis, int64_t from, int64_t n, int64_t step) {
  ox_factor *f = v->f + (ox_factors(v, axis) - v->f);
  v->number = NULL;
  if (from == 0 && n == ox_extent(v, axis) && step == 1) return true;
  int64_t inner = 1;
  for (int i = 1; i < v->n[axis]; i++)
    inner *= f[i].extent;
  if (v->n[axis] > 1 && (from % inner || n % inner || step != 1))
    return ox_regroup(g, TF_E_SHAPE,
                      "cuts across axis %d, which a reshape put together of %lld times %lld", axis,
                      (long long)(ox_extent(v, axis) / inner), (long long)inner);
  if (v->n[axis] == 0) return true; /* a single element */
  for (int r = 0; r < OX_RANK; r++) {
    v->origin[r] += f->step[r] * (from / inner);
    f->step[r] *= step;
  }
  f->extent = n / inner;
  if (f->extent > 1) return true;
  memmove(f, f + 1, (size_t)(v->f + v->n_factors - f - 1) * sizeof *f);
  v->n_factors--;
  v->n[axis]--;
  return true;
}

bool ox_repeat(ox_net *g, ox_value *v, int rank, const int64_t *shape) {
  const ox_value old = *v;
  const int front = rank - old.rank;
  v->n_factors = 0;
  v->rank = rank;
  v->number = NULL;
  for (int k = 0; k < rank; k++) {
    const int64_t extent = k < front ? 1 : ox_extent(&old, k - front);
    if (extent != 1 && extent != shape[k])
      return ox_fail(g, TF_E_SHAPE, "axis %d has %lld elements, not %lld", k, (long long)extent,
                     (long long)shape[k]);
    if (v->n_factors + (extent > 1 ? old.n[k - front] : 1) > OX_FACTORS)
      return ox_fail(g, TF_E_LIMIT, "axes of more than %d factors", OX_FACTORS);
    if (extent > 1) {
      copy_axis(v, k, &old, k - front);
    } else {
      v->n[k] = shape[k] > 1;
      if (shape[k] > 1) v->f[v->n_factors++] = (ox_factor){.extent = shape[k]};
    }
  }
  return ox_fits(g, v);
}

bool ox_is_whole(const ox_net *g, const ox_value *v) {
  const ox_tensor *t = &g->tensor[v->tensor];
  int64_t inner = 1, all = 1, stride[OX_RANK];
  bool same = true;
  for (int r = t->rank - 1; r >= 0; r--) {
    stride[r] = all;
    all *= t->shape[r];
    same &= v->origin[r] == 0;
  }
  for (int i = v->n_factors - 1; i >= 0 && same; i--) {
    int64_t step = 0;
    for (int r = 0; r < t->rank; r++)
      step += v->f[i].step[r] * stride[r];
    same = step == inner;
    inner *= v->f[i].extent;
  }
  return same && inner == all;
}

int ox_rank_along(const ox_net *g, const ox_value *v, int axis) {
  const ox_tensor *t = &g->tensor[v->tensor];
  const ox_factor *f = ox_factors(v, axis);
  int found = -1;
  for (int r = 0; v->n[axis] == 1 && r < t->rank; r++)
    if (f->step[r]) found = found < 0 ? r : -2;
  return found < 0 ? -1 : found;
}

int ox_rank_of(const ox_net *g, const ox_value *v, int axis) {
  const int r = ox_rank_along(g, v, axis);
  const ox_factor *f = ox_factors(v, axis);
  return r >= 0 && f->step[r] == 1 && !v->origin[r] && f->extent == g->tensor[v->tensor].shape[r]
             ? r
             : -1;
}
