/* Groups of a network's ops as workloads of their own: they compute what the network computes,
 * whatever they are called, and equal ones are known by their keys. */
#include <math.h>

#include "net/net.h"
#include "tests/kernels/whole.h"
#include "tests/unit/case.h"
#include "tests/unit/net_draw.h"

/* ---- what groups compute -------------------------------------------------------------------- */
/* Runs the group on the network's tensors, whose numbers are others there. */
static bool run_group(const tf_group *g, double **data) {
  const tf_workload *wl = g->workload;
  double **own = calloc((size_t)wl->n_tensors, sizeof *own);
  for (int z = 0; own && z < wl->n_tensors; z++)
    own[z] = data[g->tensor[z]];
  if (own) whole_run(wl, own);
  free(own);
  return own != NULL;
}

/* Ops first .. last of the order as a group; shorter by one until none is read inside and outside,
 * or in a view. */
static tf_group *cut_some(const test_case *e, int first, int *n) {
  const tf_workload *wl = e->spec->workload;
  for (; *n > 0; --*n) {
    tf_diags *d = tf_diags_new();
    tf_group *g = tf_group_cut(wl, wl->topo + first, *n, "part", (tf_loc){0}, d);
    if (!g)
      CHECK(tf_diags_errors(d) > 0 &&
            (tf_diags_at(d, 0)->code == TF_E_OUTPUT || tf_diags_at(d, 0)->code == TF_E_ORDER));
    tf_diags_free(d);
    if (g) return g;
  }
  return NULL;
}

static int64_t points(const tf_workload *wl, const tf_op *op) {
  int64_t n = 1;
  for (int k = 0; k < op->n_dims; k++)
    n *= wl->dims[op->dims[k]].extent;
  return n;
}

/* Whether the tensor is read beyond its borders. */
static bool is_padded(const tf_tensor *z) {
  for (int r = 0; r < z->rank; r++)
    if (z->pad[r]) return true;
  return false;
}

/* Ops and tensors are those of the network, with as many points and words; dims may have been
 * joined, but not the ranks of what comes from outside the network or leaves it, and only who reads
 * a tensor knows of its borders. */
static void check_group(const tf_group *g, const tf_workload *wl) {
  const tf_workload *part = g->workload;
  for (int o = 0; o < part->n_ops; o++) {
    const tf_op *op = &part->ops[o], *from = &wl->ops[g->op[o]];
    bool same = op->n_dims <= from->n_dims && op->n_reads == from->n_reads && part->topo[o] == o &&
                points(part, op) == points(wl, from) &&
                op->n_out_dims == part->tensors[op->out].rank;
    for (int k = 0; same && k < op->n_dims; k++)
      for (int m = 0; m < k; m++)
        same = same && op->dims[k] != op->dims[m];
    CHECK(same);
  }
  for (int z = 0; z < part->n_tensors; z++) {
    const tf_tensor *got = &part->tensors[z], *from = &wl->tensors[g->tensor[z]];
    const bool fixed = from->producer < 0 || !from->n_consumers;
    CHECK(got->name == from->name && whole_words(got) == whole_words(from) &&
          (fixed ? got->rank == from->rank : got->rank <= from->rank));
    CHECK(got->n_consumers || !is_padded(got));
  }
}

/* A network cut at random computes what the whole does, bit by bit. */
static void test_values(uint64_t seed) {
  tf_rng draws = tf_rng_new(seed, 78);
  const int ops = 3 + (int)tf_rng_below(&draws, 12);
  test_case e = case_of(net_arch, net_draw_text(seed, ops));
  const tf_workload *wl = e.spec->workload;
  tf_rng rng = tf_rng_new(seed, 77);
  double **want = whole_new(wl), **got = whole_new(wl);
  whole_run(wl, want);
  for (int at = 0; at < wl->n_ops;) {
    int n = 1 + (int)tf_rng_below(&rng, 5);
    if (n > wl->n_ops - at) n = wl->n_ops - at;
    tf_group *g = cut_some(&e, at, &n);
    if (!CHECK(g != NULL)) break;
    check_group(g, wl);
    CHECK(run_group(g, got));
    tf_group_free(g);
    at += n;
  }
  bool same = true;
  for (int z = 0; z < wl->n_tensors; z++)
    same = same && !memcmp(want[z], got[z], (size_t)whole_words(&wl->tensors[z]) * sizeof **got);
  if (!CHECK(same)) printf("seed %llu\n%s", (unsigned long long)seed, net_draw_text(seed, ops));
  whole_free(wl, want);
  whole_free(wl, got);
  case_drop(&e);
}

/* ---- channels last -------------------------------------------------------------------------- */
/* Convolutions with channels first: of the input, of what passes between groups, by a stride, of
 * one point, of each channel, in groups; maxima, a residual, a part of the channels, another order.
 */
static const char channels[] =
    "workload:\n"
    "  name: channels\n"
    "  dims: {n: 2, i: 3, c: 8, k: 16, k2: 16, l: 8, o: 5, h: 6, w: 5, p: 3, q: 2, r: 3, s: "
    "3, "
    "u: 2}\n"
    "  tensors: {X: {pad: [0, 0, 1, 1]}, B: {pad: [0, 0, 1, 1]}, F: {pad: [0, 0, 1, 1]}}\n"
    "  ops:\n"
    "  - A[n,c,h,w] += X[n,i,h+r-1,w+s-1] * Wa[c,i,r,s]\n"
    "  - B[n,c,h,w] = relu(A[n,c,h,w] + a[c])\n"
    "  - C[n,k,h,w] += B[n,c,h+r-1,w+s-1] * Wc[k,c,r,s]\n"
    "  - D[n,k2,h,w] += C[n,k,h,w] * Wd[k2,k]\n"
    "  - E[n,k,h,w] = D[n,k,h,w] + C[n,k,h,w]\n"
    "  - F[n,k,p,q] max= E[n,k,2*p+u,2*q+u]\n"
    "  - G[n,k,p,q] += F[n,k,p+r-1,q+s-1] * Wg[k,r,s]\n"
    "  - H[n,l,p,q] = G[n,l+8,p,q] * 2\n"
    "  - I[n,l,p] += H[n,c,p,q] * Wi[l,c,q]\n"
    "  - J[n,o,p,q] += H[n,c,p,q] * Wj[o,c]\n"
    "  - K[n,q,p,k] = G[n,k,p,q]\n";

/* Its elements, with that rank the last. */
static void turn(const tf_tensor *z, int rank, const double *from, double *to) {
  int64_t rows = 1, inner = 1, n = z->extent[rank];
  for (int r = 0; r < rank; r++)
    rows *= z->extent[r];
  for (int r = rank + 1; r < z->rank; r++)
    inner *= z->extent[r];
  for (int64_t x = 0; x < rows; x++)
    for (int64_t c = 0; c < n; c++)
      for (int64_t i = 0; i < inner; i++)
        to[(x * inner + i) * n + c] = from[(x * n + c) * inner + i];
}

/* Groups of up to `most` ops compute what the network does, of tensors that stand as is said. */
static void test_channels(int most) {
  test_case e = case_of(net_arch, channels);
  const tf_workload *wl = e.spec->workload;
  double **want = whole_new(wl), **got = whole_new(wl);
  const int *last = NULL;
  whole_run(wl, want);
  tf_arena *a = tf_arena_new();
  CHECK(net_channels_last(a, wl, "cuda", "f32", &last) && !last);
  CHECK(net_channels_last(a, wl, "cpu", "bf16", &last) && !last);
  CHECK(net_channels_last(a, wl, "cuda", "bf16", &last) && last);
  for (int z = 0; last && z < wl->n_tensors; z++)
    CHECK((last[z] == 1) == (strstr("A B C D E F G H Wc", wl->tensors[z].name) != NULL) &&
          (last[z] == 1 || last[z] == -1));
  for (int z = 0; last && z < wl->n_tensors; z++)
    if (wl->tensors[z].producer < 0 && last[z] >= 0)
      turn(&wl->tensors[z], last[z], want[z], got[z]);
  for (int at = 0, n = most; last && at < wl->n_ops; at += n, n = most) {
    tf_group *g = NULL;
    if (n > wl->n_ops - at) n = wl->n_ops - at;
    for (; n && !g; n -= !g) {
      tf_diags *d = tf_diags_new();
      g = net_group_cut(wl, wl->topo + at, n, &(net_cutting){.name = "part", .last = last}, d);
      tf_diags_free(d);
    }
    if (!CHECK(g && run_group(g, got))) break;
    tf_group_free(g);
  }
  for (int z = 0; last && z < wl->n_tensors; z++) {
    const tf_tensor *t = &wl->tensors[z];
    const size_t n = (size_t)whole_words(t);
    double *as = t->n_consumers ? calloc(n, sizeof *as) : NULL;
    if (as && last[z] >= 0) turn(t, last[z], want[z], as);
    if (!CHECK(!memcmp(as && last[z] >= 0 ? as : want[z], got[z], n * sizeof **got)))
      printf("%s of groups of %d\n", t->name, most);
    free(as);
  }
  whole_free(wl, want);
  whole_free(wl, got);
  tf_arena_free(a);
  case_drop(&e);
}

/* ---- what no group can beat ----------------------------------------------------------------- */
/* The bound of the network is no more than those of its groups together. */
static void test_bounds(uint64_t seed) {
  test_case e = case_of(net_arch, net_draw_text(seed, 10));
  const tf_workload *wl = e.spec->workload;
  tf_rng draws = tf_rng_new(seed, 79);
  tf_bounds whole, sum = {0}, part;
  CHECK(tf_bounds_of(e.spec->arch, wl, &whole));
  for (int at = 0, n; at < wl->n_ops; at += n) {
    n = 1 + (int)tf_rng_below(&draws, 4);
    if (n > wl->n_ops - at) n = wl->n_ops - at;
    tf_group *g = cut_some(&e, at, &n);
    if (!CHECK(g && tf_bounds_of(e.spec->arch, g->workload, &part))) break;
    sum.cycles += part.cycles;
    sum.energy_pj += part.energy_pj;
    sum.traffic_words += part.traffic_words;
    tf_group_free(g);
  }
  bool held = whole.cycles <= sum.cycles * (1 + 1e-12) &&
              whole.energy_pj <= sum.energy_pj * (1 + 1e-12) &&
              whole.traffic_words <= sum.traffic_words;
  if (!CHECK(held))
    printf("seed %llu: cycles %g over %g, words %lld over %lld\n", (unsigned long long)seed,
           whole.cycles, sum.cycles, (long long)whole.traffic_words, (long long)sum.traffic_words);
  case_drop(&e);
}

/* ---- dims and keys -------------------------------------------------------------------------- */
static const char layers[] = "workload:\n"
                             "  name: layers\n"
                             "  dims: {d8: 8, d8_2: 8, d16: 16}\n"
                             "  ops:\n"
                             "  - A[d8,d16] += X[d8,d8_2] * V[d8_2,d16]\n"
                             "  - B[d8,d16] = relu(A[d8,d16] + a[d16])\n"
                             "  - C[d8,d8_2] += B[d8,d16] * W[d16,d8_2]\n"
                             "  - D[d8,d16] += C[d8,d8_2] * V2[d8_2,d16]\n"
                             "  - E[d8,d16] = relu(D[d8,d16] + b[d16])\n"
                             "  - F[d8_2,d8] += E[d8_2,d16] * W2[d16,d8]\n"
                             "  - G[d8,d8_2] = F[d8,d8_2] + X[d8,d8_2]\n";

static tf_group *part(const test_case *e, int from, int n) {
  int ops[8];
  for (int i = 0; i < n; i++)
    ops[i] = from + n - 1 - i;
  return tf_group_cut(e->spec->workload, ops, n, "part", (tf_loc){0}, e->d);
}

/* ---- dims that are joined ------------------------------------------------------------------- */
static const char images[] = "workload:\n"
                             "  name: images\n"
                             "  dims: {c: 4, k: 6, h: 7, w: 5, v: 4}\n"
                             "  ops:\n"
                             "  - A[c,h,w] = relu(X[c,h,w])\n"
                             "  - B[k,h,w] += A[c,h,w] * W[k,c]\n"
                             "  - C[k,h,w] = B[k,h,w] + b[k]\n"
                             "  - S[k] += C[k,h,w]\n"
                             "  - D[k,h,w] = C[k,h,w] * S[k]\n"
                             "  - E[k,w,h] = D[k,h,w]\n"
                             "  - F[k,w,h] = E[k,w,h] + h\n"
                             "  - G[k,w,h] = abs(F[k,w,h])\n"
                             "  - H[k,h,v] = G[k,v + 1,h]\n"
                             "  - Y[k,h,v] = H[k,h,v] + 1\n"
                             "  - P[k,h] += G[k,w,h]\n"
                             "  - Q[k,v,h] = abs(G[k,v,h])\n"
                             "  - R[k,v,h] = Q[k,v,h] + 1\n"
                             "  - T[k,w,v] = abs(G[k,w,v])\n"
                             "  - U[k,w,v] = T[k,w,v] + 1\n"
                             "  - V[k,w,h] = abs(G[k,w,h])\n"
                             "  - Z[k,w,h] = V[k,w,h] * G[0,0,0]\n"
                             "  - O[k,w,h] = abs(Z[k,w,h])\n";

/* Which dims of a group become one: those that stand side by side in all that has one of them. */
static void test_joined(void) {
  static const struct {
    int line, from, n, dims;
    const char *last; /* the name of the last dim */
  } rows[] = {
      {__LINE__, 0, 1, 3,
       "w"}, /* an input of the network keeps its ranks, and what is made of it at its point */
      {__LINE__, 1, 1, 3, "c"},     /* k, h_w, c: a product of matrices */
      {__LINE__, 1, 4, 3, "c"},     /* with what is added, its sums and what they scale */
      {__LINE__, 4, 1, 2, "h_w"},   /* S moves with k alone */
      {__LINE__, 5, 1, 3, "h"},     /* turned: no pair is in order on both sides */
      {__LINE__, 6, 1, 2, "h"},     /* the value of h is used: k and w only */
      {__LINE__, 7, 1, 1, "k_w_h"}, /* a map over all of two tensors inside the network */
      {__LINE__, 10, 1, 3, "w"},    /* h stays, w is summed */
      {__LINE__, 11, 1, 3, "h"},    /* v is a part of the rank that w is */
      {__LINE__, 13, 1, 2, "v"},    /* as it is of the rank that h is; k_w */
      {__LINE__, 15, 1, 1, "k_w_h"},
      {__LINE__, 15, 2, 3, "h"}, /* an element of G by its three coordinates */
  };
  test_case e = case_of(net_arch, images);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tf_group *g = part(&e, rows[i].from, rows[i].n);
    const tf_workload *wl = g ? g->workload : NULL;
    CHECK_ROW_I64(&rows[i], wl ? wl->n_dims : 0, rows[i].dims);
    CHECK_ROW(&rows[i], wl && !strcmp(wl->dims[wl->n_dims - 1].name, rows[i].last));
    tf_group_free(g);
  }
  case_drop(&e);
}

static void test_keys(void) {
  test_case e = case_of(net_arch, layers);
  tf_group *a = part(&e, 0, 3), *b = part(&e, 3, 3), *c = part(&e, 0, 2);
  CHECK(a && b && a->key_size == b->key_size && !memcmp(a->key, b->key, a->key_size));
  CHECK(a && c && (a->key_size != c->key_size || memcmp(a->key, c->key, a->key_size) != 0));
  /* What the first product sums over is not what the last one makes. */
  CHECK(a && a->workload->n_dims == 4 &&
        a->workload->ops[0].dims[2] != a->workload->ops[2].dims[1]);
  CHECK(a && a->workload->ops[0].dims[1] == a->workload->ops[2].dims[2]);
  CHECK_TEXT(a ? a->workload->dims[3].name : NULL, "d8_2_2");
  tf_group_free(a);
  tf_group_free(b);
  tf_group_free(c);
  tf_group *all = part(&e, 0, 7);
  CHECK(all && all->workload->n_ops == 7);
  tf_group_free(all);
  case_drop(&e);
}

static void test_read_outside(void) {
  test_case e =
      case_of(net_arch, "workload:\n  name: w\n  dims: {m: 4}\n  ops:\n  - A[m] = X[m] + 1\n"
                        "  - B[m] = A[m] * 2\n  - C[m] = B[m] + A[m]\n");
  CHECK(!part(&e, 0, 2));
  char *text = tf_diags_text(e.d);
  CHECK(text && strstr(text, "'A' is made in this group and read both inside and outside of it"));
  CHECK(text && strstr(text, "read by op 'C' outside"));
  free(text);
  tf_group *g = part(&e, 1, 2);
  CHECK(g && g->workload->tensors[1].producer < 0 && g->workload->tensors[1].n_consumers == 2);
  tf_group_free(g);
  case_drop(&e);
}

/* A tensor is as wide as the group's own ops read it. */
static void test_pads(void) {
  test_case e = case_of(
      net_arch, "workload:\n  name: w\n  dims: {m: 4, n: 6}\n  ops:\n  - A[m] = X[m] + 1\n"
                "  - B[m] = A[m] * 2\n  - C[n] = A[n - 2] + 1\n  tensors: {A: {pad: [2]}}\n");
  static const struct {
    int line, first, n;
    int64_t pad;
  } rows[] = {{__LINE__, 1, 1, 0}, {__LINE__, 2, 1, 2}, {__LINE__, 1, 2, 2}, {__LINE__, 0, 1, 0}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tf_group *g = part(&e, rows[i].first, rows[i].n);
    int64_t pad = -1;
    for (int z = 0; g && z < g->workload->n_tensors; z++)
      if (!strcmp(g->workload->tensors[z].name, "A")) pad = g->workload->tensors[z].pad[0];
    CHECK_ROW(&rows[i], pad == rows[i].pad);
    tf_group_free(g);
  }
  case_drop(&e);
}

/* ---- kernels' types ------------------------------------------------------------------------- */
/* Units that multiply begin twice as many bfloat16 where the instruction set has pairs of them,
 * memories deliver twice as many; all else stays. */
static void test_seen(void) {
  static const struct {
    int line;
    const char *isa, *dtype;
    double rate, width;
  } rows[] = {
      {__LINE__, "avx512_bf16", "f32", 1, 1},
      {__LINE__, "avx512_bf16", "bf16", 2, 2},
      {__LINE__, "portable", "bf16", 1, 2},
      {__LINE__, "avx512_vnni", "int8", 4, 1},
  };
  static const char arch[] = "architecture:\n  name: a\n  clock: 1 GHz\n  word-bits: 32\n"
                             "  memories:\n  - {name: DRAM, bandwidth: 8}\n"
                             "  - {name: L1, capacity: 4096, bandwidth: 32}\n  compute:\n"
                             "  - {name: fma, mesh: [16], ops: [mac, add, mul, relu, max]}\n"
                             "  - {name: math, ops: [exp]}\n";
  test_case e = case_of(arch, layers);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const tf_net_opts o = {.objective = TF_LATENCY, .isa = rows[i].isa, .dtype = rows[i].dtype};
    net_planning s = {.costs = {.arch = e.spec->arch, .o = &o, .d = e.d}, .a = tf_arena_new()};
    const bool ok = s.a && net_scale_rates(&s);
    const tf_arch *was = e.spec->arch, *is = s.costs.arch;
    CHECK_ROW(&rows[i], ok && (is == was) == (rows[i].rate == 1 && rows[i].width == 1));
    for (int u = 0; ok && u < was->n_units; u++) {
      const double rate = was->units[u].kinds >> TF_K_MAC & 1 ? rows[i].rate : 1;
      CHECK_ROW(&rows[i], rate > 1 ? is->units[u].rate >= rate * was->units[u].rate
                                   : is->units[u].rate == was->units[u].rate);
    }
    for (int l = 0; ok && l < was->n_memories; l++)
      CHECK_ROW(&rows[i], is->memories[l].read_bw == rows[i].width * was->memories[l].read_bw &&
                              is->memories[l].capacity_words == was->memories[l].capacity_words);
    tf_arena_free(s.a);
  }
  case_drop(&e);
}

/* A group is expected to cost what its readers need: of a product of 64 rows one. */
static void test_needed(void) {
  static const char *const text[] = {"workload:\n  name: w\n  dims: {m: 64, n: 32, k: 32}\n  ops:\n"
                                     "  - A[m,n] += X[m,k] * Y[k,n]\n  - B[m,n] = A[m,n] * 2\n",
                                     "workload:\n  name: w\n  dims: {m: 64, n: 32, k: 32}\n  ops:\n"
                                     "  - A[m,n] += X[m,k] * Y[k,n]\n  - B[n] = A[0,n] * 2\n"};
  double baseline[2] = {0}, alone[2] = {0};
  for (int i = 0; i < 2; i++) {
    test_case e = case_of(net_arch, text[i]);
    const tf_net_opts o = {
        .objective = TF_LATENCY, .isa = "portable", .budget = {.max_evals = 20, .threads = 1}};
    net_costs *c = calloc(1, sizeof *c);
    if (CHECK(c)) {
      *c = (net_costs){.arch = e.spec->arch,
                       .wl = e.spec->workload,
                       .o = &o,
                       .d = e.d,
                       .deadline = INFINITY,
                       .until = INFINITY};
      const int ops[] = {0, 1};
      int id = -1;
      double least;
      if (CHECK(net_meet(c, ops, 2, &id, &least) && id >= 0))
        baseline[i] = c->entry[id].baseline, alone[i] = c->entry[c->alone[0]].value;
      net_costs_free(c);
    }
    free(c);
    case_drop(&e);
  }
  CHECK(alone[0] > 0 && alone[0] == alone[1] && baseline[0] >= alone[0] &&
        baseline[1] < alone[1] / 16);
}

/* Two products with many points for each word are expected to take no less together than each does
 * alone, though their kernels alone promise less. */
static void test_dear(void) {
  static const char text[] = "workload:\n  name: w\n  dims: {m: 64, n: 64, k: 64, l: 64}\n  ops:\n"
                             "  - A[m,n] += X[m,k] * Y[k,n]\n  - B[m,l] += A[m,n] * Z[n,l]\n";
  test_case e = case_of(net_arch, text);
  const tf_net_opts o = {
      .objective = TF_LATENCY, .isa = "avx512", .budget = {.max_evals = 20, .threads = 1}};
  net_costs *c = calloc(1, sizeof *c);
  if (CHECK(c)) {
    *c = (net_costs){.arch = e.spec->arch,
                     .wl = e.spec->workload,
                     .o = &o,
                     .d = e.d,
                     .deadline = INFINITY,
                     .until = INFINITY};
    const int ops[] = {0, 1};
    int id = -1;
    double least;
    if (CHECK(net_meet(c, ops, 2, &id, &least) && id >= 0)) {
      const net_cost *a = &c->entry[c->alone[0]], *b = &c->entry[c->alone[1]];
      CHECK(a->kernel > 0 && a->unit_cycles > a->kernel && a->unit_cycles <= a->value &&
            b->unit_cycles >= b->kernel);
      CHECK(least >= a->unit_cycles + b->unit_cycles);
    }
    net_costs_free(c);
  }
  free(c);
  case_drop(&e);
}

/* ---- time ----------------------------------------------------------------------------------- */
/* Of ten ops six are of a new kind, and groups have two at most: once n have run, what ends there
 * may take the share of kinds among those and the next two, of seven tenths of the time. */
static void test_pace(void) {
  int fresh[] = {0, 1, 2, 3, 3, 3, 3, 4, 5, 6, 6};
  static const struct {
    int line, n;
    double until;
  } rows[] = {
      {__LINE__, 0, 1000 + 60 * 0.7 * 2 / 6}, {__LINE__, 1, 1000 + 60 * 0.7 * 3 / 6},
      {__LINE__, 4, 1000 + 60 * 0.7 * 3 / 6}, {__LINE__, 6, 1000 + 60 * 0.7 * 5 / 6},
      {__LINE__, 7, 1000 + 60 * 0.7},         {__LINE__, 10, 1000 + 60 * 0.7},
  };
  const tf_workload wl = {.n_ops = 10};
  const tf_net_opts o = {.max_ops = 2};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    net_costs c = {.wl = &wl, .o = &o, .begun = 1000, .deadline = 1060, .new_kinds = fresh};
    net_time_reach(&c, rows[i].n);
    CHECK_ROW(&rows[i], fabs(c.until - rows[i].until) < 1e-9);
  }
  net_costs c = {.wl = &wl, .o = &o, .deadline = INFINITY, .until = INFINITY};
  net_time_reach(&c, 3);
  net_time_improve(&c, 2);
  CHECK(isinf(c.until));
}

/* A plan whose time is over at once has all ops, each mapped by itself, and says that time ended
 * it. */
static void test_no_time(uint64_t seed) {
  test_case e = case_of(net_arch, net_draw_text(seed, 12));
  const tf_net_opts o = {.objective = TF_LATENCY, .budget = {.time_limit = 1e-9, .threads = 1}};
  tf_net_plan *p = tf_net_plan_of(e.spec->arch, e.spec->workload, &o, e.d);
  if (!p) case_complain(e.d);
  CHECK(p && p->stopped_by == TF_STOP_TIME && p->n == e.spec->workload->n_ops &&
        p->evaluated <= p->n);
  for (int i = 0; p && i < p->n; i++)
    CHECK(p->groups[i].tree && p->groups[i].group->workload->n_ops == 1);
  tf_net_plan_free(p);
  case_drop(&e);
}

/* The time to expect of kernels is the longer of the model's and the kernel's, group by group;
 * without kernels none. */
static void test_kernel_cycles(const char *isa) {
  test_case e = case_of(net_arch, layers);
  const tf_net_opts o = {
      .objective = TF_LATENCY, .isa = isa, .budget = {.max_evals = 20, .threads = 1}};
  tf_net_plan *p = tf_net_plan_of(e.spec->arch, e.spec->workload, &o, e.d);
  double all = 0;
  if (!p) case_complain(e.d);
  CHECK(p);
  for (int i = 0; p && i < p->n; i++) {
    const tf_net_group *g = &p->groups[i];
    CHECK((g->kernel_cycles > 0) == (isa != NULL) &&
          g->kernel_cycles == p->groups[g->like].kernel_cycles);
    CHECK(isa ? g->memory_cycles > 0 && g->memory_cycles <= g->figures.cycles
              : g->memory_cycles == 0);
    all += isa ? fmax(g->kernel_cycles, g->memory_cycles) : 0;
  }
  CHECK(p && p->kernel_cycles == all);
  tf_net_plan_free(p);
  case_drop(&e);
}

/* ---- what earlier groups leave -------------------------------------------------------------- */
static double words_of(const tf_tensor *z) {
  double n = 1;
  for (int r = 0; r < z->rank; r++)
    n *= (double)z->extent[r];
  return n;
}

/* From the definition: all uses in a row; what was used between two uses of a tensor, it included,
 * has to fit. */
typedef struct {
  int n, tensor[4000], group[4000];
  bool made[4000];
} uses;

static void note_uses(uses *u, const tf_net_plan *p, const tf_workload *wl) {
  for (int i = 0; i < p->n; i++)
    for (int k = 0; k < p->groups[i].group->workload->n_tensors; k++) {
      const tf_tensor *t = &p->groups[i].group->workload->tensors[k];
      const int z = p->groups[i].group->tensor[k], of = wl->tensors[z].view_of;
      if (u->n == 4000 || (t->producer >= 0 && t->n_consumers > 0)) continue;
      u->tensor[u->n] = of ? of - 1 : z;
      u->group[u->n] = i;
      u->made[u->n++] = t->producer >= 0;
    }
}

/* The use of the same tensor before, if it is still there; -1: it is not. */
static int found_at(const uses *u, const tf_workload *wl, int at, double room) {
  int before = at - 1;
  while (before >= 0 && u->tensor[before] != u->tensor[at])
    before--;
  double held = 0;
  for (int i = before < 0 ? at : before; i < at; i++) {
    bool again = false;
    for (int j = i + 1; j < at; j++)
      again |= u->tensor[j] == u->tensor[i];
    held += again ? 0 : words_of(&wl->tensors[u->tensor[i]]);
  }
  return held <= room ? before : -1;
}

static void twin_of_parts(const uses *u, const tf_workload *wl, double room, double *all,
                          double *left) {
  for (int i = 0; i < u->n; i++) {
    const double words = words_of(&wl->tensors[u->tensor[i]]);
    const int before = u->made[i] ? -1 : found_at(u, wl, i, room);
    all[u->group[i]] += words;
    if (before < 0) continue;
    left[u->group[i]] += words;
    if (u->made[before]) left[u->group[before]] += words;
  }
}

static void test_left(uint64_t seed) {
  test_case e = case_of(net_arch, net_draw_text(seed, 12));
  const tf_workload *wl = e.spec->workload;
  const tf_net_opts o = {
      .objective = TF_LATENCY, .max_ops = 2, .budget = {.max_evals = 1, .threads = 1}};
  tf_net_plan *p = tf_net_plan_of(e.spec->arch, wl, &o, e.d);
  tf_arena *a = tf_arena_new();
  static uses u;
  u = (uses){0};
  if (!p) case_complain(e.d);
  if (p) note_uses(&u, p, wl);
  static const double rooms[] = {0, 10, 100, 1000, INFINITY};
  for (size_t r = 0; p && a && r < sizeof rooms / sizeof rooms[0]; r++) {
    double all[64] = {0}, left[64] = {0}, part[64];
    if (!CHECK(p->n <= 64 && net_residue_shares(a, wl, p, rooms[r], part))) break;
    twin_of_parts(&u, wl, rooms[r], all, left);
    for (int i = 0; i < p->n; i++)
      CHECK(fabs(part[i] * all[i] - left[i]) < 1e-6 && part[i] >= 0 && part[i] <= 1);
  }
  tf_arena_free(a);
  tf_net_plan_free(p);
  case_drop(&e);
}

/* ---- files ---------------------------------------------------------------------------------- */
/* A text ends after its bytes: what stands behind them is not part of it. */
static void test_has_plan(void) {
  static const struct {
    int line;
    bool has;
    const char *text;
    size_t len;
  } rows[] = {
      {__LINE__, true, "name: a\nplan:\n", 14},
      {__LINE__, true, "name: a\nplan:", 13},
      {__LINE__, false, "name: a\nplan:", 12},
      {__LINE__, true, "plan:", 5},
      {__LINE__, false, "name: a\n plan:\n", 15},
      {__LINE__, false, "\x08plan:\nplan:\n", 13},
      {__LINE__, false, "\n\n", 1},
      {__LINE__, false, "", 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const tf_text t = {"text", rows[i].text, rows[i].len};
    CHECK_ROW(&rows[i], tf_net_has_plan(&t) == rows[i].has);
  }
}

/* ---- what is computed again ----------------------------------------------------------------- */
static const char again_arch[] =
    "architecture:\n  name: again\n  clock: 1 GHz\n  memories:\n"
    "  - {name: DRAM, bandwidth: 4}\n  - {name: L1, capacity: 8 KiB, bandwidth: 64}\n"
    "  compute:\n  - {name: u, ops: [mac, mul, exp], below: L1, mesh: [16, 16]}\n";
/* What is read twice is large, and made of little; between its readers all of it has to be summed.
 */
static const char again_ops[] =
    "workload:\n  name: again\n  dims: {m: 128, h: 128}\n  ops:\n"
    "  - P[m,h] = exp(a[m] * b[h])\n  - S[] += P[m,h] * X[m,h]\n  - Y[m,h] = P[m,h] * S[]\n";

static tf_net_plan *plan_again(const test_case *e, tf_objective objective, int max_ops,
                               bool again) {
  const tf_net_opts o = {.objective = objective,
                         .max_ops = max_ops,
                         .recompute = again,
                         .budget = {.max_evals = 60, .seed = 1, .threads = 1}};
  tf_net_plan *p = tf_net_plan_of(e->spec->arch, e->spec->workload, &o, e->d);
  if (!CHECK(p != NULL)) case_complain(e->d);
  return p;
}

/* Runs the groups one after the other, each on what the network is given and groups before have
 * stored alone: the network's outputs are the same to the bit. */
static void check_values(const test_case *e, const tf_net_plan *p) {
  const tf_workload *wl = e->spec->workload;
  double **want = whole_new(wl), **stored = whole_new(wl);
  whole_run(wl, want);
  bool *there = calloc((size_t)wl->n_tensors, sizeof *there);
  for (int z = 0; z < wl->n_tensors; z++) {
    there[z] = wl->tensors[z].producer < 0;
    for (int64_t i = 0; !there[z] && i < whole_words(&wl->tensors[z]); i++)
      stored[z][i] = NAN;
  }
  for (int i = 0; i < p->n; i++) {
    const tf_group *g = p->groups[i].group;
    double **scratch = whole_new(wl), **own = calloc((size_t)wl->n_tensors, sizeof *own);
    for (int t = 0; t < g->workload->n_tensors; t++) {
      const tf_tensor *z = &g->workload->tensors[t];
      const int of = wl->tensors[g->tensor[t]].view_of;
      const bool inside = z->producer >= 0 && z->n_consumers > 0;
      if (z->producer < 0) CHECK(there[of ? of - 1 : g->tensor[t]]);
      own[t] = inside ? scratch[g->tensor[t]] : stored[g->tensor[t]];
      there[g->tensor[t]] |= z->producer >= 0 && !inside;
    }
    whole_run(g->workload, own);
    free(own);
    whole_free(wl, scratch);
  }
  for (int z = 0; z < wl->n_tensors; z++)
    if (wl->tensors[z].producer >= 0 && !wl->tensors[z].n_consumers)
      CHECK(there[z] &&
            !memcmp(want[z], stored[z], (size_t)whole_words(&wl->tensors[z]) * sizeof **want));
  free(there);
  whole_free(wl, want);
  whole_free(wl, stored);
}

static void check_read(const test_case *e, const tf_net_plan *p) {
  char *text = tf_net_plan_text(p, e->spec->arch, e->spec->workload);
  const tf_text t = {"plan.yaml", text, text ? strlen(text) : 0};
  tf_net_plan *back = tf_net_plan_read(e->spec->arch, e->spec->workload, &t, e->d);
  if (!CHECK(back && back->n == p->n && back->total.cycles == p->total.cycles &&
             back->total.traffic_words == p->total.traffic_words))
    case_complain(e->d);
  tf_net_plan_free(back);
  free(text);
}

static int ops_in(const tf_net_plan *p) {
  int n = 0;
  for (int i = 0; i < p->n; i++)
    n += p->groups[i].group->workload->n_ops;
  return n;
}

/* The maps' output is not stored: less time, and no memory between the groups but for a sum. */
static void test_chosen(void) {
  test_case e = case_of(again_arch, again_ops);
  tf_net_plan *p = plan_again(&e, TF_LATENCY, 8, false),
              *again = plan_again(&e, TF_LATENCY, 8, true);
  tf_net_memory m;
  if (CHECK(p && again && ops_in(p) == 3 && ops_in(again) == 4)) {
    CHECK(2 * again->total.cycles < p->total.cycles && again->n == 2);
    CHECK(again->total.cycles <= 1.02 * again->parts.cycles);
    check_values(&e, p);
    check_values(&e, again);
    check_read(&e, again);
    CHECK(tf_net_memory_of(again, e.spec->workload, 4, &m, e.d) && m.bytes == 64);
    tf_net_memory_free(&m);
  }
  tf_net_plan_free(p);
  tf_net_plan_free(again);
  case_drop(&e);
}

/* Drawn networks compute what they do without; returns the ops made again. */
static int test_drawn(uint64_t seed) {
  test_case e = case_of(net_arch, net_draw_text(seed, 7));
  tf_net_plan *p = plan_again(&e, TF_TRAFFIC, 4, true);
  int more = 0;
  if (p) {
    more = ops_in(p) - e.spec->workload->n_ops;
    check_values(&e, p);
    check_read(&e, p);
  }
  tf_net_plan_free(p);
  case_drop(&e);
  return more;
}

/* Two small maps on that many chips: cycles of their plan. */
static double cycles_on(int rows, int cols) {
  char arch[512];
  snprintf(arch, sizeof arch,
           "architecture:\n"
           "  name: chips\n"
           "  memories:\n"
           "  - {name: Host, bandwidth: 64}\n"
           "  - {name: Chip, capacity: 64 KiB, bandwidth: 64, mesh: [%d, %d]}\n"
           "  compute:\n"
           "  - {name: mx, ops: [mac, add, mul], below: Chip, mesh: [8, 8]}\n",
           rows, cols);
  test_case e = case_of(arch, "workload:\n"
                              "  name: maps\n"
                              "  dims: {a: 6, b: 8}\n"
                              "  tensors: {P: {pad: [2]}, Q: {pad: [6], shape: [2]}}\n"
                              "  ops:\n"
                              "  - P[a] = X[a] * Y[a] * Z[a]\n"
                              "  - R[b] = P[b] + Q[b - 6]\n");
  tf_net_opts o = {.objective = TF_LATENCY, .budget.seed = 1};
  tf_net_plan *p = tf_net_plan_of(e.spec->arch, e.spec->workload, &o, e.d);
  const double cycles = p ? p->total.cycles : INFINITY;
  CHECK(p != NULL);
  tf_net_plan_free(p);
  case_drop(&e);
  return cycles;
}

/* What fits on fewer chips fits on more: a plan for more takes no longer. */
static void test_more_chips(void) {
  const double one = cycles_on(1, 1), two = cycles_on(2, 1), four = cycles_on(2, 2),
               row = cycles_on(1, 3);
  CHECK(two <= one);
  CHECK(four <= two);
  CHECK(row <= one);
}

/* test_net [CASES]: random networks of each kind. */
int main(int argc, char **argv) {
  const uint64_t cases = argc > 1 ? strtoull(argv[1], NULL, 10) : 150;
  test_kernel_cycles(NULL);
  test_kernel_cycles("portable");
  for (uint64_t seed = 1; seed <= cases; seed++)
    test_values(seed);
  for (uint64_t seed = 1; seed <= cases; seed++)
    test_bounds(seed);
  for (uint64_t seed = 1; seed <= (cases + 3) / 4; seed++)
    test_left(seed);
  test_keys();
  test_has_plan();
  test_more_chips();
  test_pace();
  for (uint64_t seed = 1; seed <= 5; seed++)
    test_no_time(seed);
  for (int most = 1; most <= 4; most++)
    test_channels(most);
  test_joined();
  test_read_outside();
  test_pads();
  test_seen();
  test_needed();
  test_dear();
  test_chosen();
  int again = 0;
  for (uint64_t seed = 1; seed <= 8; seed++)
    again += test_drawn(seed);
  CHECK(again > 0);
  return check_report();
}
