/* The closed form against slow twins: Algorithm 1 against boxes counted point by point, the tree's
 * formula against the model, stationary points against a minimiser that knows nothing of them,
 * rounding against enumeration. test_closed [CASES [SEED]] */
#include <stdlib.h>

#include "base/rng.h"
#include "search/closed/closed.h"
#include "tests/unit/case.h"

static const char *const machine = "architecture:\n"
                                   "  name: a\n"
                                   "  memories: [{name: DRAM}, {name: Buf}]\n"
                                   "  compute: [{name: u, ops: [mac, add], below: Buf}]\n";

/* ---- random chains --------------------------------------------------------------------------- */
static int pick(tf_rng *r, int lo, int hi) {
  return lo + (int)tf_rng_below(r, (uint32_t)(hi - lo + 1));
}

/* Products one after another, of 2 .. 4 ops; every extent up to most. */
static void gemms(tf_rng *r, int n, int most, char *out, size_t size) {
  char ops[600] = "";
  bool batch = tf_rng_below(r, 3) == 0;
  const char *b = batch ? "b," : "";
  for (int i = 0; i < n; i++) {
    char in[16];
    snprintf(in, sizeof in, i ? "T%d" : "A", i);
    snprintf(ops + strlen(ops), sizeof ops - strlen(ops),
             "  - T%d[%sm,d%d] += %s[%sm,d%d] * B%d[%sd%d,d%d]\n", i + 1, b, i + 1, in, b, i, i, b,
             i, i + 1);
  }
  int at = snprintf(out, size, "workload:\n  name: w\n  dims: {%s%sm: %d", batch ? "b: " : "",
                    batch ? (tf_rng_below(r, 2) ? "2, " : "3, ") : "", pick(r, 1, most));
  for (int i = 0; i <= n; i++)
    at += snprintf(out + at, size - (size_t)at, ", d%d: %d", i, pick(r, 1, most));
  snprintf(out + at, size - (size_t)at, "}\n  ops:\n%s", ops);
}

/* Two convolutions of one spatial dim. */
static void convs(tf_rng *r, int most, char *out, size_t size) {
  snprintf(out, size,
           "workload:\n  name: w\n  dims: {c: %d, k: %d, p: %d, r: %d, f: %d, x: %d, u: %d}\n"
           "  ops:\n  - M[k,p] += I[c,%d*p+r] * W[k,c,r]\n  - O[f,x] += M[k,%d*x+u] * V[f,k,u]\n",
           pick(r, 1, most), pick(r, 1, most), 2 * most + 3, pick(r, 1, 3), pick(r, 1, most),
           pick(r, 1, most), pick(r, 1, 3), pick(r, 1, 2), pick(r, 1, 2));
}

static void draw(tf_rng *r, int most, char *out, size_t size) {
  int kind = pick(r, 0, 4);
  if (kind == 4)
    convs(r, most, out, size);
  else
    gemms(r, kind < 2 ? 2 : kind + 1, most, out, size);
}

/* Dims of the last op that may be shared: those that others do not reduce. */
static void share(const tf_workload *wl, tf_rng *r, bool *shared) {
  const tf_op *last = &wl->ops[wl->topo[wl->n_ops - 1]];
  memset(shared, 0, TF_C_DIMS * sizeof *shared);
  for (int i = 0; i < last->n_dims; i++) {
    const char *name = wl->dims[last->dims[i]].name;
    bool own =
        !strcmp(name, "u") || !strcmp(name, "f") || (name[0] == 'd' && i == last->n_out_dims - 1);
    shared[last->dims[i]] = !own && tf_rng_below(r, 6) > 0;
  }
}

typedef struct {
  int n, loops[TF_C_LOOPS];
  double s[TF_C_LOOPS];
} order;

/* Shared loops in random order, then own ones; tiles of any size. */
static void draw_order(tf_rng *r, const tf_chain *c, bool divide, order *o) {
  o->n = 0;
  for (int own = 0; own < 2; own++) {
    int from = o->n;
    for (int l = 0; l < c->n_loops; l++)
      if ((c->loops[l].op >= 0) == (own == 1)) {
        o->loops[o->n] = l;
        int other = from + (int)tf_rng_below(r, (uint32_t)(o->n - from + 1));
        o->loops[o->n++] = o->loops[other];
        o->loops[other] = l;
      }
  }
  for (int l = 0; l < c->n_loops; l++) {
    int64_t n = c->loops[l].extent, t = 1 + tf_rng_below(r, (uint32_t)n);
    while (divide && n % t)
      t--;
    o->s[l] = (double)t;
  }
}

/* ---- Algorithm 1 ----------------------------------------------------------------------------- */
/* Footprints by marking every element that the points of one tile touch; the rest word by word from
 * the thesis. */
typedef struct {
  const tf_chain *c;
  const order *o;
  int64_t len[TF_C_OPS][TF_C_DIMS];
} marking;

static int64_t extent_of(const tf_workload *wl, const tf_index *ix, const int64_t *len,
                         const tf_op *op) {
  int64_t lo = 0, hi = 0;
  for (int t = 0; t < ix->n_terms; t++)
    for (int i = 0; i < op->n_dims; i++)
      if (op->dims[i] == ix->terms[t].dim) {
        int64_t far = ix->terms[t].coef * (len[i] - 1);
        lo += far < 0 ? far : 0;
        hi += far > 0 ? far : 0;
      }
  (void)wl;
  return hi - lo + 1;
}

/* Lengths of an op's dims in one tile: for what it moves in and out (io) and for what stays. */
static void tile_lengths(const marking *m, int k, bool io, int64_t *len) {
  const tf_workload *wl = m->c->wl;
  const tf_op *op = &wl->ops[m->c->ops[k]];
  bool last = k == m->c->n_ops - 1;
  for (int i = 0; i < op->n_dims; i++) {
    int shared = -1, own = -1;
    for (int l = 0; l < m->c->n_loops; l++) {
      if (m->c->loops[l].dim != op->dims[i]) continue;
      if (m->c->loops[l].op < 0) shared = l;
      if (m->c->loops[l].op == m->c->ops[k]) own = l;
    }
    len[i] = wl->dims[op->dims[i]].extent;
    if ((last || i >= op->n_out_dims) && shared >= 0)
      len[i] = (int64_t)m->o->s[shared];
    else if (own >= 0 && io)
      len[i] = (int64_t)m->o->s[own];
    else if (!last && i < op->n_out_dims) {
      len[i] = 1;
      for (int j = k + 1; j < m->c->n_ops; j++) {
        const tf_op *reader = &wl->ops[m->c->ops[j]];
        int64_t theirs[TF_C_DIMS];
        tile_lengths(m, j, false, theirs);
        for (int q = 0; q < reader->n_reads; q++)
          if (reader->reads[q].tensor == op->out) {
            int64_t n = extent_of(wl, &reader->reads[q].index[i], theirs, reader);
            len[i] = n > len[i] ? n : len[i];
          }
      }
    }
  }
}

static void twin_algorithm1(const tf_chain *c, const order *o, double *volume, double *use) {
  marking m = {.c = c, .o = o};
  const tf_workload *wl = c->wl;
  *volume = *use = 0;
  for (int k = 0; k < c->n_ops; k++) {
    const tf_op *op = &wl->ops[c->ops[k]];
    double total = 0;
    for (int q = 0; q <= op->n_reads; q++) {
      int z = q < op->n_reads ? op->reads[q].tensor : op->out;
      bool io = wl->tensors[z].producer < 0 || wl->tensors[z].n_consumers == 0, keep = true;
      int64_t len[TF_C_DIMS];
      double df = 1, dm;
      tile_lengths(&m, k, io, len);
      for (int r = 0; r < wl->tensors[z].rank; r++)
        df *= (double)(q < op->n_reads ? extent_of(wl, &op->reads[q].index[r], len, op) : len[r]);
      total += df;
      dm = df;
      for (int i = o->n - 1; io && i >= 0; i--) {
        int l = o->loops[i];
        bool mine = c->loops[l].op == c->ops[k], touches = false;
        if (c->loops[l].op < 0) { /* shared: does a longer tile change any length of the op? */
          order longer = *o;
          marking n = {.c = c, .o = &longer};
          int64_t a[TF_C_DIMS], b[TF_C_DIMS];
          longer.s[l] += 1;
          tile_lengths(&m, k, false, a);
          tile_lengths(&n, k, false, b);
          for (int d = 0; d < op->n_dims; d++) {
            mine |= a[d] != b[d];
            if (a[d] == b[d]) continue;
            touches |= q == op->n_reads ? d < op->n_out_dims : false;
            for (int r = 0; q < op->n_reads && r < wl->tensors[z].rank; r++)
              for (int t = 0; t < op->reads[q].index[r].n_terms; t++)
                touches |= op->reads[q].index[r].terms[t].dim == op->dims[d];
          }
        } else if (mine) {
          for (int d = 0; d < op->n_out_dims; d++)
            touches |= q == op->n_reads && op->dims[d] == c->loops[l].dim;
          for (int r = 0; q < op->n_reads && r < wl->tensors[z].rank; r++)
            for (int t = 0; t < op->reads[q].index[r].n_terms; t++)
              touches |= op->reads[q].index[r].terms[t].dim == c->loops[l].dim;
        }
        if (!mine) continue;
        if (touches) keep = false;
        if (!keep)
          dm *= (double)(((int64_t)c->loops[l].extent + (int64_t)o->s[l] - 1) / (int64_t)o->s[l]);
      }
      if (io) *volume += dm;
    }
    if (total > *use) *use = total;
  }
}

static void check_algorithm1(int cases, uint64_t seed) {
  tf_rng r = tf_rng_new(seed, 1);
  for (int i = 0; i < cases; i++) {
    char text[2000];
    bool shared[TF_C_DIMS];
    order o;
    draw(&r, 9, text, sizeof text);
    test_case s = case_of(machine, text);
    tf_chain *c = malloc(sizeof *c);
    share(s.spec->workload, &r, shared);
    if (c && CHECK(tf_chain_of(s.spec->workload, -1, shared, c))) {
      double dv, mu, want_dv, want_mu;
      draw_order(&r, c, false, &o);
      tf_chain_algorithm1(c, o.loops, o.n, o.s, &dv, &mu);
      twin_algorithm1(c, &o, &want_dv, &want_mu);
      if (!CHECK_NEAR(dv, want_dv, 1e-12) || !CHECK_NEAR(mu, want_mu, 1e-12))
        printf("case %d:\n%s", i, text);
    }
    free(c);
    case_drop(&s);
  }
}

/* Table 3.4 and Eq. 3.15, 3.16 of the thesis: order m l k n. */
static void check_table_3_4(void) {
  test_case s =
      case_of(machine, "workload:\n  name: w\n  dims: {m: 48, l: 36, k: 20, n: 28}\n  ops:\n"
                       "  - C[m,l] += A[m,k] * B[k,l]\n  - E[m,n] += C[m,l] * D[l,n]\n");
  bool shared[TF_C_DIMS] = {0};
  double tile[TF_C_LOOPS] = {0}, dv, mu, m = 0, l = 0, k = 0, n = 0;
  tf_chain *c = malloc(sizeof *c);
  int loops[4] = {0};
  for (int i = 0; i < s.spec->workload->n_dims; i++)
    shared[i] = strchr("ml", s.spec->workload->dims[i].name[0]) != NULL;
  CHECK(c && tf_chain_of(s.spec->workload, -1, shared, c));
  for (int i = 0; c && i < c->n_loops; i++) {
    char name = s.spec->workload->dims[c->loops[i].dim].name[0];
    loops[strchr("mlkn", name) - "mlkn"] = i;
    tile[i] = name == 'm' ? (m = 12) : name == 'l' ? (l = 9) : name == 'k' ? (k = 5) : (n = 7);
  }
  if (c) {
    tf_chain_algorithm1(c, loops, 4, tile, &dv, &mu);
    CHECK_NEAR(dv,
               48 * 20 * (36 / l) + 20 * 36 * (48 / m) + 28 * 36 * (48 / m) + 48 * 28 * (36 / l),
               1e-12);
    CHECK_NEAR(mu, fmax(m * k + k * l + m * l, m * l + l * n + m * n), 1e-12);
  }
  free(c);
  case_drop(&s);
}

/* ---- the tree, by the model ----------------------------------------------------------------- */
static void tree_text(const tf_chain *c, const order *o, tf_scope kind, char *out, size_t size) {
  const tf_workload *wl = c->wl;
  int at = snprintf(out, size, "DRAM");
  const char *word = " for";
  for (int i = 0; i < o->n; i++)
    if (c->loops[o->loops[i]].op < 0) {
      int64_t t = (int64_t)o->s[o->loops[i]];
      at += snprintf(out + at, size - (size_t)at, "%s %s=%d", word,
                     wl->dims[c->loops[o->loops[i]].dim].name,
                     (int)((c->loops[o->loops[i]].extent + t - 1) / t));
      word = "";
    }
  at += snprintf(out + at, size - (size_t)at, "\n  %s keep", kind == TF_SEQ ? "Seq" : "Shar");
  for (int k = 0; k + 1 < c->n_ops; k++)
    at +=
        snprintf(out + at, size - (size_t)at, " %s@Buf", wl->tensors[wl->ops[c->ops[k]].out].name);
  marking m = {.c = c, .o = o};
  for (int k = 0; k < c->n_ops; k++) {
    const tf_op *op = &wl->ops[c->ops[k]];
    int64_t len[TF_C_DIMS];
    at += snprintf(out + at, size - (size_t)at, "\n    DRAM");
    word = " for";
    for (int i = 0; i < o->n; i++)
      if (c->loops[o->loops[i]].op == c->ops[k]) {
        int64_t t = (int64_t)o->s[o->loops[i]];
        at += snprintf(out + at, size - (size_t)at, "%s %s=%d", word,
                       wl->dims[c->loops[o->loops[i]].dim].name,
                       (int)((c->loops[o->loops[i]].extent + t - 1) / t));
        word = "";
      }
    tile_lengths(&m, k, true, len);
    at += snprintf(out + at, size - (size_t)at, "\n      Buf");
    word = " for";
    for (int i = 0; i < op->n_dims; i++) {
      at += snprintf(out + at, size - (size_t)at, "%s %s=%d", word, wl->dims[op->dims[i]].name,
                     (int)len[i]);
      word = "";
    }
    at += snprintf(out + at, size - (size_t)at, "\n        op %s", op->name);
  }
  snprintf(out + at, size - (size_t)at, "\n");
}

/* Words into Buf and out of it, each word of an output once for each time it leaves; words held. */
static bool count(const test_case *s, const char *text, double *words, double *again,
                  double *held) {
  const tf_workload *wl = s->spec->workload;
  tf_tree *t = tf_tree_parse(text, (tf_loc){0}, s->spec->arch, wl, s->d);
  tf_model *m = t ? tf_model_new(t, s->d) : NULL;
  tf_result r;
  bool ok = m && tf_model_eval(m, NULL, &r);
  *words = *again = 0;
  for (int z = 0; ok && z < wl->n_tensors; z++) {
    bool in = wl->tensors[z].producer < 0;
    *words += (double)(in ? r.counts[z].read : r.counts[z].update);
    *again += in ? 0 : (double)r.counts[z].read;
  }
  if (ok) *held = (double)r.levels[1].peak;
  if (!ok) case_complain(s->d);
  tf_model_free(m);
  tf_tree_free(t);
  return ok;
}

/* One memory of `capacity` words below the outermost; all loops of the order are cut. */
static void one_level(const tf_chain *c, const order *o, tf_scope kind, double capacity,
                      double alpha, tf_c_problem *p) {
  memset(p, 0, sizeof *p);
  p->chain = c;
  p->kind = kind;
  p->n = 1;
  p->n_order = o->n;
  memcpy(p->order, o->loops, (size_t)o->n * sizeof *o->loops);
  for (int l = 0; l < c->n_loops; l++) {
    p->spread[0][l] = 1;
    p->low[l] = alpha;
  }
  p->capacity[0] = capacity;
  p->word_bits[0] = 16;
  p->rate[0] = 1;
}

/* Words that the memory of the tiles holds. */
static double held_words(const tf_chain *c, const order *o, tf_scope kind, const double *tile) {
  tf_c_problem p;
  tf_c_tiles t = {0};
  one_level(c, o, kind, INFINITY, 1, &p);
  memcpy(t.tile[0], tile, sizeof t.tile[0]);
  return tf_c_held(&p, &t, 0);
}

static void check_model(int cases, uint64_t seed) {
  int n_alike = 0;
  tf_rng r = tf_rng_new(seed, 2);
  for (int i = 0; i < cases; i++) {
    char text[2000], tree[4000];
    bool shared[TF_C_DIMS];
    order o;
    double words = 0, again = 0, held = 0;
    draw(&r, 7, text, sizeof text);
    bool conv = strstr(text, "u:") != NULL;
    test_case s = case_of(machine, text);
    tf_chain *c = malloc(sizeof *c);
    share(s.spec->workload, &r, shared);
    tf_scope kind = tf_rng_below(&r, 2) ? TF_SEQ : TF_SHAR;
    if (c && CHECK(tf_chain_of(s.spec->workload, -1, shared, c))) {
      draw_order(&r, c, tf_rng_below(&r, 2) == 0, &o);
      for (int l = 0; l < c->n_loops;
           l++) /* windows are not cut: producers would make halos twice */
        if (strchr("ur", s.spec->workload->dims[c->loops[l].dim].name[0]))
          o.s[l] = (double)c->loops[l].extent;
      tree_text(c, &o, kind, tree, sizeof tree);
      if (!CHECK(count(&s, tree, &words, &again, &held))) {
        printf("case %d:\n%s%s", i, text, tree);
      } else {
        double got = tf_chain_words(c, kind, o.loops, o.n, o.s, false), dv, mu;
        double both = tf_chain_words(c, kind, o.loops, o.n, o.s, true);
        double room = held_words(c, &o, kind, o.s);
        tf_chain_algorithm1(c, o.loops, o.n, o.s, &dv, &mu);
        bool ok = conv ? CHECK(got >= words * (1 - 1e-12)) : CHECK_NEAR(got, words, 1e-12);
        ok = (conv || CHECK_NEAR(both, words + again, 1e-12)) && ok;
        bool alike = !conv && kind == TF_SHAR; /* where Algorithm 1 says the same */
        for (int l = 0; l < c->n_loops; l++) {
          int64_t n = c->loops[l].extent, t = (int64_t)o.s[l];
          alike &= n > t && n % t == 0 &&
                   (c->loops[l].op >= 0 || c->loops[l].ops == (1u << c->n_ops) - 1);
        }
        n_alike += alike;
        ok = (!alike || CHECK_NEAR(dv, got, 1e-12)) && ok;
        ok = (conv ? CHECK(room >= held * (1 - 1e-12)) : CHECK(room >= held - 0.5)) && ok;
        if (!ok)
          printf("case %d: words %g held %g room %g\n%s%s", i, words, held, room, text, tree);
      }
    }
    free(c);
    case_drop(&s);
  }
  CHECK(n_alike * 100 > cases);
}

/* ---- stationary points ---------------------------------------------------------------------- */
/* Least volume of Eq. 3.15 over a fine grid of tiles of m; the tile of l is what Eq. 3.16 leaves.
 */
static double scan(double m, double l, double k, double n, double capacity, double alpha) {
  double least = INFINITY;
  for (int i = 0; i <= 20000; i++) {
    double tm = alpha * pow(m / alpha, i / 20000.0),
           tl = fmin(l, (capacity - alpha * tm) / (tm + alpha));
    if (tl < alpha) continue;
    least = fmin(least, m * k * l / tl + k * l * m / tm + n * l * m / tm + m * n * l / tl);
  }
  return least;
}

static void check_gemm(int cases, uint64_t seed) {
  tf_rng r = tf_rng_new(seed, 3);
  for (int i = 0; i < cases; i++) {
    static const double alphas[] = {1, 1, 2, 4, 16};
    double alpha = alphas[tf_rng_below(&r, 5)], cost, gp;
    int m = 16 << pick(&r, 0, 7), l = 16 + pick(&r, 0, 1500), k = 17 + pick(&r, 0, 500),
        n = 17 + pick(&r, 0, 500);
    double capacity = 3 * alpha * alpha + exp(tf_rng_unit(&r) * 13);
    char text[400];
    bool shared[TF_C_DIMS] = {0};
    order o = {.n = 4};
    tf_c_problem p;
    tf_c_tiles t, by_gp;
    snprintf(text, sizeof text,
             "workload:\n  name: w\n  dims: {m: %d, l: %d, k: %d, n: %d}\n  ops:\n"
             "  - C[m,l] += A[m,k] * B[k,l]\n  - E[m,n] += C[m,l] * D[l,n]\n",
             m, l, k, n);
    test_case s = case_of(machine, text);
    tf_chain *c = malloc(sizeof *c);
    for (int d = 0; d < s.spec->workload->n_dims; d++)
      shared[d] = strchr("ml", s.spec->workload->dims[d].name[0]) != NULL;
    CHECK(c && tf_chain_of(s.spec->workload, -1, shared, c));
    for (int j = 0; j < 4; j++)
      o.loops[j] = j;
    one_level(c, &o, TF_SEQ, capacity, alpha, &p);
    double want = scan(m, l, k, n, capacity, alpha);
    if (CHECK(tf_c_solve_gemm(&p, &t, &cost))) CHECK_NEAR(cost, want, 1e-3);
    if (CHECK(tf_c_solve(&p, &by_gp, &gp))) CHECK_NEAR(gp, cost, 1e-3);
    if (!CHECK(cost <= tf_c_real_words(&p, &by_gp) * (1 + 1e-9)))
      printf("%s capacity %g\n", text, capacity);
    CHECK_NEAR(tf_c_real_words(&p, &t), cost, 1e-9);
    CHECK(tf_c_fits(&p, &t, 0));
    free(c);
    case_drop(&s);
  }
}

/* The least that coordinate steps of shrinking length find from many starts: knows nothing of
 * slopes. */
static double descend(const tf_c_problem *p, tf_rng *r) {
  double least = INFINITY;
  for (int start = 0; start < 12; start++) {
    tf_c_tiles t;
    for (int l = 0; l < p->chain->n_loops; l++)
      t.tile[0][l] = (double)p->chain->loops[l].extent;
    for (int i = 0; i < p->n_order; i++)
      t.tile[0][p->order[i]] =
          pow((double)p->chain->loops[p->order[i]].extent, start ? tf_rng_unit(r) : 0);
    while (!tf_c_fits(p, &t, 0))
      for (int i = 0; i < p->n_order; i++)
        t.tile[0][p->order[i]] = pow(t.tile[0][p->order[i]], 0.9) * 0.999 + 0.001;
    double here = tf_c_real_words(p, &t);
    for (double step = 2; step > 1.0002;) {
      bool better = false;
      for (int i = 0; i < p->n_order; i++)
        for (int j = 0; j < p->n_order; j++)
          for (int up = 0; up < 2; up++) { /* one longer, another shorter, or the same one */
            tf_c_tiles next = t;
            double *a = &next.tile[0][p->order[i]], *b = &next.tile[0][p->order[j]];
            if (i != j) *b = fmax(1, *b / step);
            *a = fmin((double)p->chain->loops[p->order[i]].extent,
                      fmax(1, up ? *a * step : *a / step));
            double words = tf_c_real_words(p, &next);
            if (words >= here * (1 - 1e-12) || !tf_c_fits(p, &next, 0)) continue;
            here = words;
            t = next;
            better = true;
          }
      if (!better) step = sqrt(step);
    }
    least = fmin(least, here);
  }
  return least;
}

/* A problem of a random chain that fits with tiles of 1. */
static bool draw_problem(tf_rng *r, tf_chain *c, const tf_workload *wl, tf_c_problem *p,
                         int most_loops) {
  bool shared[TF_C_DIMS];
  order o;
  share(wl, r, shared);
  if (!tf_chain_of(wl, -1, shared, c)) return false;
  draw_order(r, c, false, &o);
  int n = 0;
  for (int i = 0; i < o.n; i++)
    if (!strchr("ur", wl->dims[c->loops[o.loops[i]].dim].name[0])) o.loops[n++] = o.loops[i];
  o.n = n;
  one_level(c, &o, tf_rng_below(r, 2) ? TF_SEQ : TF_SHAR, INFINITY, 1, p);
  double s[TF_C_LOOPS], most, least;
  for (int l = 0; l < c->n_loops; l++)
    s[l] = (double)c->loops[l].extent;
  most = held_words(c, &o, p->kind, s);
  for (int i = 0; i < o.n; i++)
    s[o.loops[i]] = 1;
  least = held_words(c, &o, p->kind, s);
  p->capacity[0] = floor(least + 1 + (most - least) * tf_rng_unit(r) * tf_rng_unit(r));
  return o.n > 0 && o.n <= most_loops;
}

/* Calls check with problems of chains whose extents are up to `extent`, of at most `loops` loops.
 */
static void each_problem(int cases, tf_rng r, int extent, int loops,
                         bool (*check)(const tf_c_problem *p, tf_rng *r, const char *text)) {
  tf_chain *c = malloc(sizeof *c);
  for (int i = 0; c && i < cases; i++) {
    char text[2000];
    tf_c_problem p;
    draw(&r, extent, text, sizeof text);
    test_case s = case_of(machine, text);
    if (draw_problem(&r, c, s.spec->workload, &p, loops) && !check(&p, &r, text))
      printf("case %d:\n%s", i, text);
    case_drop(&s);
  }
  free(c);
}

static bool is_stationary(const tf_c_problem *p, tf_rng *r, const char *text) {
  tf_c_tiles t;
  double cost;
  if (!CHECK(tf_c_solve(p, &t, &cost)) || !CHECK(tf_c_fits(p, &t, 0))) return false;
  if (strstr(text, "2*"))
    return true; /* lengths with a constant below 0: the program takes them longer */
  double want = descend(p, r);
  bool ok = CHECK_NEAR(tf_c_real_words(p, &t), cost, 2e-4);
  ok = CHECK(cost <= want * (1 + 1e-3)) && ok;
  if (!ok) printf("capacity %g, %g instead of %g\n", p->capacity[0], cost, want);
  return ok;
}

/* ---- two memories, Eq. 3.21 ----------------------------------------------------------------- */
typedef struct {
  double m, n, k, capacity[2], rate[2];
} two;

/* C[m,n] += A[m,k] B[k,n], order m n k at both levels, written out by hand: cycles of the slower
 * level; INFINITY: does not fit. t: m n k of the outer level, then of the inner one.  Inside, C is
 * left each time the outer k steps. */
static double slower(const two *w, const double *t) {
  for (int d = 0; d < 2; d++) {
    const double *x = t + 3 * d;
    if (x[0] * x[2] + x[2] * x[1] + x[0] * x[1] > w->capacity[d] * (1 + 1e-12)) return INFINITY;
  }
  for (int i = 0; i < 3; i++)
    if (t[3 + i] > t[i] * (1 + 1e-12)) return INFINITY;
  double outer = w->m * w->k * w->n / t[1] + w->k * w->n * w->m / t[0] + w->m * w->n;
  double inner = w->m * w->k * w->n / t[4] + w->k * w->n * w->m / t[3] + w->m * w->n * w->k / t[2];
  return fmax(outer / w->rate[0], inner / w->rate[1]);
}

static double descend_two(const two *w, tf_rng *r) {
  double least = INFINITY, most[3] = {w->m, w->n, w->k};
  for (int start = 0; start < 20; start++) {
    double t[6], here;
    for (int i = 0; i < 6; i++)
      t[i] = start && i < 3 ? pow(w->capacity[0] / 3, 0.5 * tf_rng_unit(r)) : 1;
    for (int i = 0; i < 3; i++)
      t[i] = fmin(t[i], most[i]);
    if (isinf(here = slower(w, t))) continue;
    for (double step = 2; step > 1.0005;) {
      bool better = false;
      for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
          for (int both = 0; both < 3; both++) { /* i longer or shorter, j shorter or as it is; the
                                                    same of a pair of levels */
            double next[6];
            memcpy(next, t, sizeof next);
            if (j != i) next[j] = fmax(1, next[j] / step);
            next[i] = fmin(most[i % 3], fmax(1, both == 1 ? next[i] / step : next[i] * step));
            if (both == 2 && i < 3) next[i + 3] = fmin(next[i], next[i + 3] * step);
            double words = slower(w, next);
            if (words >= here * (1 - 1e-12)) continue;
            here = words;
            memcpy(t, next, sizeof t);
            better = true;
          }
      if (!better) step = sqrt(step);
    }
    least = fmin(least, here);
  }
  return least;
}

static void check_two_levels(int cases, uint64_t seed) {
  tf_rng r = tf_rng_new(seed, 7);
  for (int i = 0; i < cases; i++) {
    int m = pick(&r, 8, 200), n = pick(&r, 8, 200), k = pick(&r, 8, 200);
    two w = {.m = m, .n = n, .k = k};
    w.capacity[0] = 20 + exp(tf_rng_unit(&r) * 10);
    w.capacity[1] = 4 + tf_rng_unit(&r) * tf_rng_unit(&r) * w.capacity[0];
    w.rate[0] = 1;
    w.rate[1] = 0.5 + 20 * tf_rng_unit(&r);
    char text[300];
    snprintf(text, sizeof text,
             "workload:\n  name: w\n  dims: {m: %d, n: %d, k: %d}\n  ops:\n"
             "  - C[m,n] += A[m,k] * B[k,n]\n",
             m, n, k);
    test_case s = case_of(machine, text);
    tf_chain *c = malloc(sizeof *c);
    tf_c_problem p = {.chain = c, .kind = TF_SEQ, .n = 2, .n_order = 3, .order = {0, 1, 2}};
    tf_c_tiles t;
    double cost;
    CHECK(c && tf_chain_of(s.spec->workload, 0, NULL, c)); /* loops m, n, k: output dims first */
    for (int d = 0; d < 2; d++) {
      p.capacity[d] = w.capacity[d];
      p.rate[d] = w.rate[d];
      p.word_bits[d] = 16;
      for (int l = 0; l < 3; l++)
        p.spread[d][l] = p.low[l] = 1;
    }
    if (CHECK(tf_c_solve(&p, &t, &cost))) {
      double tiles[6] = {t.tile[0][0], t.tile[0][1], t.tile[0][2],
                         t.tile[1][0], t.tile[1][1], t.tile[1][2]};
      double want = descend_two(&w, &r);
      bool ok = CHECK_NEAR(slower(&w, tiles), cost, 1e-3);
      ok = CHECK(cost <= want * (1 + 1e-3)) && ok;
      if (!ok)
        printf("case %d: capacity %g %g rate %g, %g instead of %g\n%s", i, w.capacity[0],
               w.capacity[1], w.rate[1], cost, want, text);
    }
    free(c);
    case_drop(&s);
  }
}

/* ---- rounding ------------------------------------------------------------------------------- */
/* Least words over all whole-numbered tiles that fit. */
static double enumerate(const tf_c_problem *p) {
  double least = INFINITY;
  tf_c_tiles t;
  for (int l = 0; l < p->chain->n_loops; l++)
    t.tile[0][l] = (double)p->chain->loops[l].extent;
  for (int i = 0; i < p->n_order; i++)
    t.tile[0][p->order[i]] = 1;
  for (;;) {
    if (tf_c_fits(p, &t, 0)) least = fmin(least, tf_c_level_words(p, &t, 0));
    int i = 0;
    while (i < p->n_order && t.tile[0][p->order[i]] >= (double)p->chain->loops[p->order[i]].extent)
      t.tile[0][p->order[i++]] = 1;
    if (i == p->n_order) return least;
    t.tile[0][p->order[i]]++;
  }
}

static bool is_rounded(const tf_c_problem *p, tf_rng *r, const char *text) {
  tf_c_tiles t, down, near;
  double cost;
  (void)r, (void)text;
  if (!CHECK(tf_c_solve(p, &t, &cost))) return false;
  double limit = tf_c_round_limit(p, &t), best = enumerate(p), real = tf_c_real_words(p, &t);
  down = t; /* the thesis's rounding, to divisors or not */
  for (int l = 0; l < p->chain->n_loops; l++)
    down.tile[0][l] = fmax(1, floor(t.tile[0][l] * (1 + 1e-9)));
  bool ok = CHECK(tf_c_fits(p, &down, 0)) && CHECK(tf_c_round(p, &t, &near)) &&
            CHECK(tf_c_fits(p, &near, 0));
  ok = CHECK(tf_c_level_words(p, &down, 0) <= limit * real * (1 + 1e-9)) && ok;
  ok = CHECK(best <= tf_c_level_words(p, &down, 0) * (1 + 1e-9)) && ok;
  ok = CHECK(best <= tf_c_level_words(p, &near, 0) * (1 + 1e-9)) && ok;
  if (!ok) printf("capacity %g, real %g, best %g, limit %g\n", p->capacity[0], real, best, limit);
  return ok;
}

/* A whole number from least to most, of any magnitude alike. */
static int64_t any_from(tf_rng *r, double least, double most) {
  return (int64_t)floor(least * pow(most / least, tf_rng_unit(r)) + 0.5);
}

/* Eq. 3.19 where the thesis claims it: two products, each dim from 16 to 4096, a memory of 4 Ki to
 * 1 Mi words. */
static void check_guarantee(int cases, uint64_t seed) {
  tf_rng r = tf_rng_new(seed, 7);
  tf_chain *c = malloc(sizeof *c);
  int met = 0;
  double worst = 0, of_real = 0;
  for (int i = 0; c && i < cases; i++) {
    char text[400];
    long dim[4];
    for (int d = 0; d < 4; d++)
      dim[d] = (long)any_from(&r, 16, 4096);
    snprintf(text, sizeof text,
             "workload:\n  name: w\n  dims: {m: %ld, k: %ld, l: %ld, n: %ld}\n  ops:\n"
             "  - C[m,l] += A[m,k] * B[k,l]\n  - E[m,n] += C[m,l] * D[l,n]\n",
             dim[0], dim[1], dim[2], dim[3]);
    test_case s = case_of(machine, text);
    tf_c_problem p;
    tf_c_tiles t, whole;
    double cost;
    bool shared[TF_C_DIMS];
    order o;
    share(s.spec->workload, &r, shared);
    if (tf_chain_of(s.spec->workload, -1, shared, c)) {
      draw_order(&r, c, false, &o);
      one_level(c, &o, tf_rng_below(&r, 2) ? TF_SEQ : TF_SHAR, (double)any_from(&r, 4096, 1 << 20),
                1, &p);
      if (o.n && tf_c_solve(&p, &t, &cost)) {
        met++;
        bool ok = CHECK(tf_c_round(&p, &t, &whole)) && CHECK(tf_c_fits(&p, &whole, 0));
        const double over = tf_c_level_words(&p, &whole, 0) / tf_c_real_words(&p, &t);
        ok = CHECK(over <= tf_c_round_limit(&p, &t) * (1 + 1e-9)) && ok;
        worst = fmax(worst, over / tf_c_round_limit(&p, &t));
        of_real = fmax(of_real, over);
        if (!ok) printf("case %d, memory %g:\n%s", i, p.capacity[0], text);
      }
    }
    case_drop(&s);
  }
  free(c);
  printf(
      "Eq. 3.19: %d problems, at most %.4f of the words it allows, %.4f of those of real numbers\n",
      met, worst, of_real);
  CHECK(met * 2 > cases);
}

/* ---- the solver ----------------------------------------------------------------------------- */
static const char *const chip = "architecture:\n"
                                "  name: chip\n"
                                "  memories:\n"
                                "  - {name: DRAM, bandwidth: 2}\n"
                                "  - {name: Buf, capacity: %d, bandwidth: 8, mesh: [%d, 1]}\n"
                                "  - {name: Reg, capacity: 4, mesh: [%d, 2]}\n"
                                "  compute: [{name: u, ops: [mac, add], below: Reg}]\n";

/* The value of a mapping, feasible or not at all. */
static bool value_of(const test_case *s, const char *text, tf_objective goal, double *value) {
  tf_tree *t = tf_tree_parse(text, (tf_loc){0}, s->spec->arch, s->spec->workload, s->d);
  tf_model *m = t ? tf_model_new(t, s->d) : NULL;
  tf_result r;
  bool ok = m && tf_model_eval(m, NULL, &r) && r.feasible;
  *value = 0;
  for (int z = 0; ok && goal == TF_TRAFFIC && z < s->spec->workload->n_tensors; z++)
    *value += (double)(r.counts[z].read + r.counts[z].update);
  if (ok && goal != TF_TRAFFIC) *value = goal == TF_LATENCY ? r.cycles : r.energy_pj;
  tf_model_free(m);
  tf_tree_free(t);
  return ok;
}

static void check_solver(int cases, uint64_t seed) {
  tf_rng r = tf_rng_new(seed, 6);
  int found = 0;
  for (int i = 0; i < cases; i++) {
    static const tf_objective goals[] = {TF_LATENCY, TF_ENERGY, TF_TRAFFIC};
    char text[2000], arch[800];
    tf_solve_opts o = {.objective = goals[tf_rng_below(&r, 3)], .budget.threads = 1};
    draw(&r, 24, text, sizeof text);
    snprintf(arch, sizeof arch, chip, 20 << pick(&r, 0, 6), pick(&r, 1, 3), pick(&r, 1, 4));
    test_case s = case_of(arch, text);
    tf_solve_result *a = tf_solve_closed(s.spec->arch, s.spec->workload, &o, s.d);
    tf_solve_result *b = tf_solve_closed(s.spec->arch, s.spec->workload, &o, s.d);
    double value;
    if (CHECK(a && b) && a->tree) {
      char *mapping = tf_tree_text(a->tree);
      bool ok = CHECK(b->tree && case_same_tree(a->tree, b->tree)) &&
                CHECK(value_of(&s, mapping, o.objective, &value)) &&
                CHECK_NEAR(value, a->value, 1e-12) && CHECK(a->bound <= a->value * (1 + 1e-12)) &&
                CHECK(a->closed.orders > 0 && a->closed.real_words > 0 && a->closed.limit >= 1);
      if (!ok) printf("case %d:\n%s%s%s", i, arch, text, mapping);
      free(mapping);
      found++;
    }
    tf_solve_free(a);
    tf_solve_free(b);
    case_drop(&s);
  }
  CHECK(found * 2 > cases);
}

#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__)
enum { CASES = 300 };
#else
enum { CASES = 80 }; /* a debug build takes its time */
#endif

/* test_closed [CASES [SEED [OF_EQ_3_19]]] */
int main(int argc, char **argv) {
  int cases = argc > 1 ? atoi(argv[1]) : CASES;
  uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  check_table_3_4();
  check_algorithm1(cases, seed);
  check_model(cases, seed);
  check_gemm(cases / 3, seed);
  each_problem(cases / 3, tf_rng_new(seed, 4), 40, 8, is_stationary);
  check_two_levels(cases / 3, seed);
  each_problem(cases, tf_rng_new(seed, 5), 9, 5, is_rounded);
  check_guarantee(argc > 3 ? atoi(argv[3]) : 2 * cases, seed);
  check_solver(cases / 5, seed);
  return check_report();
}
