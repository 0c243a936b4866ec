/* Indices with quotients and remainders against what they say: random workloads, and at each point
 * of each op the element that the text names beside the one that the workload has.  The text is
 * evaluated by itself (index_text.h). */
#include "base/rng.h"
#include "tests/index_text.h"
#include "tests/unit/case.h"

enum { CASES = 6000, DIMS = 5, RANK = 3 };

/* ---- what is drawn -------------------------------------------------------------------------- */
typedef struct {
  tf_rng g;
  int n;
  char name[DIMS];
  int64_t extent[DIMS];
} drawn;

typedef struct {
  char s[400];
} words;

static int between(drawn *d, int lo, int hi) {
  return lo + (int)tf_rng_below(&d->g, (uint32_t)(hi - lo + 1));
}

/* An expression of the dims from `from` to `to`; wild: of any kind, else often one that cuts
 * evenly. */
static words draw(drawn *d, int from, int to, int depth) {
  words a, b, out;
  const int dim = between(d, from, to), how = depth ? between(d, 0, 7) : 0;
  const int64_t n = d->extent[dim];
  if (how <= 1) {
    snprintf(out.s, sizeof out.s, "%c", d->name[dim]);
  } else if (how <= 4) {
    a = draw(d, from, to, depth - 1);
    snprintf(out.s, sizeof out.s, "(%.180s) %c %d", a.s, "/%"[between(d, 0, 1)],
             between(d, 0, 3) ? between(d, 1, 4) : between(d, 1, (int)n + 1));
  } else if (how == 5) {
    a = draw(d, from, to, depth - 1);
    snprintf(out.s, sizeof out.s, "%d*(%.180s) %c %d", between(d, 1, 4), a.s,
             "+-"[between(d, 0, 1)], between(d, 0, 3));
  } else {
    a = draw(d, from, to, depth - 1);
    b = draw(d, from, to, depth - 1);
    snprintf(out.s, sizeof out.s, "(%.150s) * %d %c (%.150s)", a.s, between(d, 1, 4),
             how == 6 ? '+' : '-', b.s);
  }
  return out;
}

/* ---- an element, by the text and by the workload -------------------------------------------- */
/* Words before the element, by the extents of the written ranks. */
static int64_t offset(int rank, const int64_t *at, const int64_t *extent) {
  int64_t v = 0;
  for (int r = 0; r < rank; r++)
    v = v * extent[r] + at[r];
  return v;
}

static int64_t offset_read(const tf_workload *wl, const tf_op *op, int read, const int64_t *place,
                           bool *inside) {
  const tf_ref *ref = &op->reads[read];
  const tf_tensor *z = &wl->tensors[ref->tensor];
  int64_t at[16];
  for (int r = 0; r < z->rank; r++) {
    at[r] = ref->index[r].c - z->lo[r];
    for (int t = 0; t < ref->index[r].n_terms; t++)
      at[r] += ref->index[r].terms[t].coef *
               index_part(wl->dims[ref->index[r].terms[t].dim].name, place);
    *inside = *inside && at[r] >= 0 && at[r] < z->extent[r];
  }
  return offset(z->rank, at, z->extent);
}

static int64_t offset_made(const tf_workload *wl, const tf_op *op, const int64_t *place) {
  int64_t at[16];
  for (int r = 0; r < op->n_out_dims; r++)
    at[r] = index_part(wl->dims[op->dims[r]].name, place);
  return offset(op->n_out_dims, at, wl->tensors[op->out].extent);
}

typedef struct {
  words left[RANK], read[RANK];
  int n_left, n_read;
  int64_t left_extent[RANK], read_extent[RANK], read_lo[RANK];
  int from, to; /* its dims */
} written;

static bool step(const drawn *d, const written *o, int64_t *place) {
  for (int i = o->to; i >= o->from; i--) {
    if (++place[d->name[i] - 'a'] < d->extent[i]) return true;
    place[d->name[i] - 'a'] = 0;
  }
  return false;
}

/* The range of each index over the op's points. */
static void measure(const drawn *d, const words *index, int n, const written *o, int64_t *lo,
                    int64_t *extent) {
  int64_t place[26] = {0}, hi[RANK];
  for (int r = 0; r < n; r++)
    lo[r] = INT64_MAX, hi[r] = INT64_MIN;
  do
    for (int r = 0; r < n; r++) {
      const int64_t v = index_value(index[r].s, place);
      if (v < lo[r]) lo[r] = v;
      if (v > hi[r]) hi[r] = v;
    }
  while (step(d, o, place));
  for (int r = 0; r < n; r++)
    extent[r] = hi[r] - lo[r] + 1;
}

static bool same_elements(const drawn *d, const tf_workload *wl, const tf_op *op,
                          const written *o) {
  int64_t place[26] = {0};
  do {
    int64_t left[RANK], read[RANK];
    bool inside = true;
    for (int r = 0; r < o->n_left; r++)
      left[r] = index_value(o->left[r].s, place);
    for (int r = 0; r < o->n_read; r++)
      read[r] = index_value(o->read[r].s, place) - o->read_lo[r];
    if (offset(o->n_left, left, o->left_extent) != offset_made(wl, op, place)) return false;
    if (offset(o->n_read, read, o->read_extent) != offset_read(wl, op, 0, place, &inside) ||
        !inside)
      return false;
  } while (step(d, o, place));
  return true;
}

/* ---- cases ---------------------------------------------------------------------------------- */
static void say_op(FILE *f, const char *made, const char *read, const written *o) {
  fprintf(f, "  - \"%s[", made);
  for (int r = 0; r < o->n_left; r++)
    fprintf(f, "%s%s", r ? ", " : "", o->left[r].s);
  fprintf(f, "] = %s[", read);
  for (int r = 0; r < o->n_read; r++)
    fprintf(f, "%s%s", r ? ", " : "", o->read[r].s);
  fprintf(f, "]\"\n");
}

/* T[h, w, c] = I[..], T perhaps by sums of parts; O[x, y] = T[..], within T. */
static void draw_ops(drawn *d, written o[2]) {
  o[0] = (written){.n_left = 3, .n_read = between(d, 1, 3), .from = 0, .to = 2};
  for (int r = 0; r < 3; r++) {
    snprintf(o[0].left[r].s, sizeof o[0].left[r].s, "%c", d->name[r]);
    o[0].left_extent[r] = d->extent[r];
  }
  const int k = between(d, 1, 4);
  if (between(d, 0, 3) == 0) { /* w and c in one rank */
    o[0].n_left = 2;
    snprintf(o[0].left[1].s, sizeof o[0].left[1].s, "%lld*w + c", (long long)d->extent[2]);
    o[0].left_extent[1] *= d->extent[2];
  } else if (between(d, 0, 3) == 0 && d->extent[0] % k == 0) { /* the rest of h innermost */
    snprintf(o[0].left[0].s, sizeof o[0].left[0].s, "h / %d", k);
    snprintf(o[0].left[2].s, sizeof o[0].left[2].s, "c*%d + h %% %d", k, k);
    o[0].left_extent[0] /= k;
    o[0].left_extent[2] *= k;
  }
  for (int r = 0; r < o[0].n_read; r++)
    o[0].read[r] = draw(d, 0, 2, between(d, 0, 2));
  measure(d, o[0].read, o[0].n_read, &o[0], o[0].read_lo, o[0].read_extent);
  o[1] = (written){.n_left = 2, .n_read = o[0].n_left, .from = 3, .to = 4};
  for (int r = 0; r < 2; r++) {
    snprintf(o[1].left[r].s, sizeof o[1].left[r].s, "%c", d->name[3 + r]);
    o[1].left_extent[r] = d->extent[3 + r];
  }
  for (int r = 0; r < o[1].n_read; r++) {
    const words x = draw(d, 3, 4, between(d, 0, 1));
    o[1].read_extent[r] = o[0].left_extent[r];
    snprintf(o[1].read[r].s, sizeof o[1].read[r].s, "(%.300s) %% %lld", x.s,
             (long long)o[1].read_extent[r]);
  }
}

typedef struct {
  long read, cut, refused, wrong, could;
} tally;

static void one(uint64_t seed, tally *n) {
  static const int64_t extents[] = {1, 2, 3, 4, 4, 6, 8, 8, 12};
  drawn d = {.g = tf_rng_new(seed, 17), .n = DIMS, .name = {'h', 'w', 'c', 'x', 'y'}};
  written o[2];
  for (int i = 0; i < DIMS; i++)
    d.extent[i] = extents[between(&d, 0, 8)];
  draw_ops(&d, o);
  char *text = NULL;
  FILE *f = case_text(&text);
  fprintf(f, "workload:\n  dims: {");
  for (int i = 0; i < DIMS; i++)
    fprintf(f, "%s%c: %d", i ? ", " : "", d.name[i], (int)d.extent[i]);
  fprintf(f, "}\n  ops:\n");
  say_op(f, "T", "I", &o[0]);
  say_op(f, "O", "T", &o[1]);
  fclose(f);
  tf_diags *diags = tf_diags_new();
  tf_spec *spec = case_spec(text, diags);
  n->read += spec != NULL;
  n->refused += spec == NULL;
  if (spec) {
    const tf_workload *wl = spec->workload;
    n->cut += wl->n_dims > DIMS;
    const bool same =
        same_elements(&d, wl, &wl->ops[0], &o[0]) && same_elements(&d, wl, &wl->ops[1], &o[1]);
    if (!same) printf("seed %llu:\n%s", (unsigned long long)seed, text);
    n->wrong += !same;
  }
  tf_spec_free(spec);
  tf_diags_free(diags);
  free(text);
}

/* ---- what is refused ------------------------------------------------------------------------ */
/* Whether the index is affine over h and w cut at `at`, chains of divisors from 1 to the extent:
 * equal to what its steps along each part make of it. */
static bool affine_over(const drawn *d, const char *index, int64_t at[2][8], const int n[2]) {
  int64_t place[26] = {0}, step_of[2][8], first = index_value(index, place);
  for (int i = 0; i < 2; i++)
    for (int k = 0; k + 1 < n[i]; k++) {
      place[d->name[i] - 'a'] = at[i][k];
      step_of[i][k] = at[i][k] < d->extent[i] ? index_value(index, place) - first : 0;
      place[d->name[i] - 'a'] = 0;
    }
  const written o = {.from = 0, .to = 1};
  do {
    int64_t v = first;
    for (int i = 0; i < 2; i++)
      for (int k = 0; k + 1 < n[i]; k++)
        v += place[d->name[i] - 'a'] / at[i][k] % (at[i][k + 1] / at[i][k]) * step_of[i][k];
    if (v != index_value(index, place)) return false;
  } while (step(d, &o, place));
  return true;
}

/* All chains of both dims. */
static bool some_cut(const drawn *d, const char *index, int dim, int64_t at[2][8], int n[2]) {
  if (dim == 2) return affine_over(d, index, at, n);
  const int64_t last = at[dim][n[dim] - 1];
  bool found = false;
  if (last == d->extent[dim]) return some_cut(d, index, dim + 1, at, n);
  for (int64_t next = 2 * last; next <= d->extent[dim] && !found; next += last) {
    if (d->extent[dim] % next) continue;
    at[dim][n[dim]++] = next;
    found = some_cut(d, index, dim, at, n);
    n[dim]--;
  }
  return found;
}

static void refuse(uint64_t seed, tally *n) {
  static const int64_t extents[] = {2, 3, 4, 6, 8, 12};
  drawn d = {.g = tf_rng_new(seed, 18), .n = 2, .name = {'h', 'w'}};
  for (int i = 0; i < 2; i++)
    d.extent[i] = extents[between(&d, 0, 5)];
  const words x = draw(&d, 0, 1, between(&d, 1, 2));
  char text[700];
  snprintf(text, sizeof text,
           "workload:\n  dims: {h: %d, w: %d}\n  ops:\n  - \"O[h,w] = I[%s] * J[h,w]\"\n",
           (int)d.extent[0], (int)d.extent[1], x.s);
  tf_diags *diags = tf_diags_new();
  tf_spec *spec = case_spec(text, diags);
  int64_t at[2][8] = {{1}, {1}};
  int k[2] = {1, 1};
  const bool can = some_cut(&d, x.s, 0, at, k);
  n->read += spec != NULL;
  n->refused += spec == NULL;
  n->wrong += spec && !can;
  n->could += can && !spec;
  tf_spec_free(spec);
  tf_diags_free(diags);
}

int main(int argc, char **argv) {
  const long cases = argc > 1 ? atol(argv[1]) : CASES;
  tally n = {0};
  for (long i = 0; i < cases; i++)
    one((uint64_t)i + (argc > 2 ? strtoull(argv[2], NULL, 10) : 1), &n);
  printf("cut: %ld workloads read, %ld of them with dims in parts; %ld refused\n", n.read, n.cut,
         n.refused);
  CHECK_I64(n.wrong, 0);
  CHECK(n.cut * 8 >= cases);
  tally r = {0};
  for (long i = 0; i < cases; i++)
    refuse((uint64_t)i + (argc > 2 ? strtoull(argv[2], NULL, 10) : 1), &r);
  printf("cut: %ld indices read, %ld refused, %ld of them with a cut that would do\n", r.read,
         r.refused, r.could);
  CHECK_I64(r.wrong, 0);
  CHECK(r.could * 300 <= cases); /* such as a third of what has three steps */
  return check_report();
}
