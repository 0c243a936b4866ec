/* model/tree: mappings that docs/SEMANTICS.md allows are read, printed back alike, and give the
 * homes it says.  Malformed mappings with their exact messages are tests/bad/mapping. */
#include "tests/unit/case.h"

#define ARCH                                                                                       \
  "architecture:\n  memories:\n  - {name: DRAM}\n  - {name: L1, mesh: [2, 2]}\n"                   \
  "  - {name: L0, mesh: [4, 4]}\n  compute:\n  - {name: matrix, ops: [mac], below: L0}\n"          \
  "  - {name: vector, ops: [add, sub, mul, div, max, exp, log, tanh], below: L1}\n"

typedef enum {
  GEMM,
  CHAIN,
  CONV,
  PADDED,
  FORK,
  ATTN,
  SPLIT,
  RESIDUAL,
  SHARED,
  BLOCK,
  TEMP,
  LSE,
  WORDY,
  NUMBER,
  N_WL
} wl_id;
static const char *const workloads[N_WL] = {
    [GEMM] = "  dims: {m: 8, k: 4, n: 6}\n  ops:\n  - C[m,n] += A[m,k] * B[k,n]\n",
    [CHAIN] = "  dims: {m: 8, k: 4, l: 16, n: 2}\n  ops:\n  - C[m,l] += A[m,k] * B[k,l]\n"
              "  - E[m,n] += C[m,l] * D[l,n]\n",
    [CONV] = "  dims: {p: 8, q: 10, r: 3, s: 3}\n  ops:\n  - T[q] += I[q + r] * W[r]\n"
             "  - O[p] += T[p + s] * V[s]\n",
    [PADDED] = "  dims: {p: 8, q: 8, r: 3, s: 3}\n  tensors: {T: {pad: [1]}, I: {pad: [1]}}\n"
               "  ops:\n  - T[q] += I[q + r - 1] * W[r]\n  - O[p] += T[p + s - 1] * V[s]\n",
    [FORK] = "  dims: {m: 8, f: 4}\n  ops:\n  - T[m] = I[m] + J[m]\n"
             "  - U[m,f] = T[m] + F[f]\n  - O[m] += U[m,f] * T[m]\n",
    [ATTN] = "  dims: {m: 8, l: 16, a: 4, n: 2}\n  ops:\n  - S[m,l] += Q[m,a] * K[l,a]\n"
             "  - X[m] max= S[m,l]\n  - D[m,l] = S[m,l] - X[m]\n  - E[m,l] = exp(D[m,l])\n"
             "  - Z[m] += E[m,l]\n  - P[m,l] = E[m,l] / Z[m]\n"
             "  - O[m,n] += P[m,l] * V[l,n]\n",
    [SPLIT] = "  dims: {m: 8, l: 16, n: 2}\n  ops:\n  - X[m] max= S[m,l]\n"
              "  - E[m,l] = exp(2 * (S[m,l] - X[m]))\n  - Z[m] += E[m,l]\n"
              "  - U[m,n] += E[m,l] * V[l,n]\n  - O[m,n] = U[m,n] / Z[m]\n",
    [RESIDUAL] = "  dims: {p: 6, q: 8, r: 3}\n  ops:\n  - T[q] = I[q] + J[q]\n"
                 "  - U[p] += T[p + r] * W[r]\n  - O[p] = U[p] + T[p]\n",
    [SHARED] = "  dims: {m: 8, k: 4, n: 6, j: 6}\n  ops:\n  - C[m,n] += A[m,k] * B[k,n]\n"
               "  - E[m,j] += A[m,k] * D[k,j]\n",
    [BLOCK] = "  dims: {m: 4, h: 8, f: 6, j: 8}\n  ops:\n  - H[m,f] += I[m,h] * W[h,f]\n"
              "  - G[m,f] = tanh(H[m,f])\n  - R[m,j] += G[m,f] * V[f,j]\n"
              "  - O[m,j] = R[m,j] + I[m,j]\n",
    [LSE] = "  dims: {m: 8, l: 16, n: 2}\n  ops:\n  - X[m] max= S[m,l]\n"
            "  - E[m,l] = exp(S[m,l] - X[m])\n  - Z[m] += E[m,l]\n"
            "  - O[m,n] += E[m,l] / Z[m] * V[l,n]\n  - L[m] = X[m] + log(Z[m])\n",
    [WORDY] = "  dims: {for: 6, keep: 8, bypass: 4, spatial: 2}\n  ops:\n"
              "  - stream[for,bypass] += A[for,keep,spatial] * retain[keep,bypass]\n",
    [NUMBER] = "  dims: {n: 3, p: 1999, r: 2, m: 2000, q: 5}\n  tensors: {C: {pad: [1]}}\n  ops:\n"
               "  - K[] += I[n]\n  - C[p] = J[p] - K[]\n  - O[m] += C[m + r - 1] * W[r]\n"
               "  - B[q] = L[q] * K[]\n",
    [TEMP] = "  dims: {m: 8, l: 16, n: 2}\n  ops:\n  - X[m] max= S[m,l]\n"
             "  - Z[m] += exp(S[m,l] - X[m])\n"
             "  - O[m,n] += exp(S[m,l] - X[m]) / Z[m] * V[l,n]\n",
};

static tf_spec *read_workload(wl_id wl, tf_diags *d) {
  char text[2000];
  snprintf(text, sizeof text, ARCH "workload:\n%s", workloads[wl]);
  tf_text t = {"test.yaml", text, strlen(text)};
  return tf_spec_read_texts(&t, 1, NULL, 0, d);
}

static const tf_loc start = {0, 1, 1, 1};

/* ---- legal trees -------------------------------------------------------------------- */
#define ROWS_OF_ATTN(scope)                                                                        \
  scope "    L0 for m=4 l=4 a=4\n      op S\n    L1 for m=4 l=4\n      op X\n"                     \
        "    L1 for m=4 l=4\n      op D\n    L1 for m=4 l=4\n      op E\n"                         \
        "    L1 for m=4 l=4\n      op Z\n    L1 for m=4 l=4\n      op P\n"                         \
        "    L0 for m=4 l=4 n=2\n      op O\n"

typedef struct {
  int line;
  wl_id wl;
  const char *text;
} legal;

static const legal legals[] = {
    /* one op; partial tiles; the same dim twice; loops of one trip anywhere */
    {__LINE__, GEMM, "DRAM for m=8 k=4 n=6\n  op C\n"},
    {__LINE__, GEMM, "L0 for m=8 k=4 n=6\n  op C\n"},
    {__LINE__, GEMM, "DRAM for m=3 k=2 n=2\n  L0 for m=3 n=4 k=3\n    op C\n"},
    {__LINE__, GEMM, "DRAM for m=2 k=4 m=2 n=6 m=2\n  L1 bypass A B C\n    op C\n"},
    {__LINE__, GEMM, "DRAM for m=8 spatial k=2@x n=2@y\n  L1 for k=2 n=3\n    L0\n      op C\n"},
    {__LINE__, GEMM, "DRAM for m=100\n  L1 for k=4\n    L1 for n=6\n      op C\n"},
    {__LINE__, GEMM, "DRAM for m=? spatial n=?@x\n  L0 for k=?<=4 n=?{1,2,3}\n    op C\n"},
    {__LINE__, GEMM, "DRAM for m=? k=1\n  L1 for k=?{1}\n    L0 for k=4 n=6\n      op C\n"},
    /* dims and tensors that are called like clauses */
    {__LINE__, WORDY,
     "DRAM for for=2 keep=8\n  L1 for bypass=4 for=3 spatial keep=1@x spatial=2@y\n"
     "    op stream\n"},
    {__LINE__, WORDY,
     "DRAM for {keep=? spatial=2 for=2} spatial for=3@x bypass=2@y\n"
     "  L1 for bypass=2 bypass retain\n"
     "    op stream\n"},
    /* scopes of two; bypass and keep of every kind */
    {__LINE__, CHAIN,
     "Seq\n  DRAM for m=8 k=4 l=16\n    op C\n  DRAM for m=8 l=16 n=2\n    op E\n"},
    {__LINE__, CHAIN,
     "DRAM for m=8 n=1 k=1\n  Shar\n    L0 for k=4 l=16\n      op C\n"
     "    L0 for l=16 n=2\n      op E\n"},
    {__LINE__, CHAIN,
     "DRAM for m=8\n  Pipe\n    L0 for k=4 l=16\n      op C\n    L0 for l=16 n=2\n      op E\n"},
    {__LINE__, CHAIN,
     "DRAM for m=8 n=2\n  Seq\n    L0 for k=4 l=16\n      op C\n    L0 for l=16\n      op E\n"},
    {__LINE__, CHAIN,
     "DRAM for m=8\n  Seq keep C@L1\n    DRAM for k=4\n      L1 for l=16\n        op C\n"
     "    DRAM for l=8\n      L1 for l=2 n=2\n        op E\n"},
    {__LINE__, CHAIN,
     "DRAM for m=4\n  Seq keep C@L1\n    DRAM spatial m=2@x\n      L1 for k=4 l=16\n"
     "        op C\n    DRAM spatial m=2@x\n      L1 for l=16 n=2\n        op E\n"},
    {__LINE__, CHAIN,
     "DRAM for m=8\n  Seq keep C@L1\n    DRAM spatial l=2@x\n      L1 for k=4 l=8\n"
     "        op C\n    DRAM spatial l=2@x l=1@y\n      L1 for l=8 n=2\n        op E\n"},
    {__LINE__, CHAIN,
     "L1 for m=8\n  Seq keep C@L1 retain C\n    L0 for k=4 l=16 bypass C\n      op C\n"
     "    L0 for l=16 n=2 bypass D C\n      op E\n"},
    /* halos, padded and clipped */
    {__LINE__, CONV,
     "DRAM for p=4\n  Seq retain T\n    L0 for q=4 r=3\n      op T\n    L0 for p=2 s=3\n"
     "      op O\n"},
    {__LINE__, CONV,
     "DRAM for p=3\n  Seq\n    L0 for q=5 r=3\n      op T\n    L0 for p=3 s=3\n      op O\n"},
    {__LINE__, PADDED,
     "DRAM for p=4\n  Seq\n    L0 for q=4 r=3\n      op T\n    L0 for p=2 s=3\n      op O\n"},
    {__LINE__, PADDED,
     "DRAM for p=2\n  Seq\n    L0 for q=5 r=3\n      op T\n    L0 for p=4 s=3\n      op O\n"},
    {__LINE__, PADDED,
     "DRAM\n  Seq\n    L0 for q=8 r=3\n      op T\n    L0 for p=8 s=3\n      op O\n"},
    /* an intermediate with two readers, in one scope and with the pair of them nested */
    {__LINE__, FORK,
     "DRAM for m=2\n  Seq\n    L1 for m=4\n      op T\n    L1 for m=4 f=4\n      op U\n"
     "    L0 for m=4 f=4\n      op O\n"},
    {__LINE__, FORK,
     "DRAM for m=2\n  Seq\n    L1 for m=4\n      op T\n    L1 for m=2 f=2\n      Seq\n"
     "        L1 for m=2 f=2\n          op U\n        L0 for m=2 f=2\n          op O\n"},
    {__LINE__, FORK,
     "DRAM for m=2\n  Seq\n    L1 for m=2\n      Seq\n        L1 for m=2\n"
     "          op T\n        L1 for m=2 f=4\n          op U\n    L0 for m=4 f=4\n"
     "      op O\n"},
    {__LINE__, RESIDUAL,
     "DRAM for p=3\n  Shar retain T\n    L1 for q=4\n      op T\n    L0 for p=2 r=3\n"
     "      op U\n    L1 for p=2\n      op O\n"},
    {__LINE__, RESIDUAL,
     "DRAM\n  Seq\n    Seq\n      L1 for q=8\n        op T\n      L0 for p=6 r=3\n"
     "        op U\n    L1 for p=6\n      op O\n"},
    /* no dependence between children */
    {__LINE__, SHARED,
     "DRAM for m=8\n  Para\n    L0 for k=4 n=6\n      op C\n    L0 for k=4 j=6\n      op E\n"},
    {__LINE__, SHARED,
     "DRAM for m=8 k=2\n  Shar\n    L0 for j=6 k=2\n      op E\n    L0 for k=2 n=6\n      op C\n"},
    {__LINE__, BLOCK,
     "DRAM for m=4 j=2\n  Seq\n    DRAM for j=4\n      Seq\n        Pipe\n"
     "          L0 for f=6 h=8\n            op H\n          L1 for f=6\n"
     "            op G\n        L0 for f=6\n          op R\n    L1 for j=4\n      op O\n"},
    /* softmax: whole rows; streamed; nested; maximum and exponential fused; divided at the end */
    {__LINE__, ATTN,
     "DRAM for m=2\n  Seq\n    L0 for m=4 l=16 a=4\n      op S\n    L1 for m=4 l=16\n"
     "      op X\n    L1 for m=4 l=16\n      op D\n    L1 for m=4 l=16\n      op E\n"
     "    L1 for m=4 l=16\n      op Z\n    L1 for m=4 l=16\n      op P\n"
     "    L0 for m=4 l=16 n=2\n      op O\n"},
    {__LINE__, ATTN, ROWS_OF_ATTN("DRAM for m=2 l=4\n  Seq stream X Z O\n")},
    {__LINE__, ATTN, ROWS_OF_ATTN("DRAM for m=2 l=2 l=2\n  Shar keep E@L1 D@L1 stream O Z X\n")},
    {__LINE__, ATTN, ROWS_OF_ATTN("DRAM for m=2 l=4 spatial n=1@x\n  Pipe stream X Z O\n")},
    {__LINE__, ATTN, ROWS_OF_ATTN("L1 for l=? spatial m=?@x\n  Seq stream X Z O\n")},
    {__LINE__, ATTN,
     "DRAM for m=2 l=4\n  Seq stream X Z O\n    Seq\n      L0 for m=4 l=4 a=4\n"
     "        op S\n      L1 for m=4 l=4\n        op X\n    Seq\n      Seq\n"
     "        L1 for m=4 l=4\n          op D\n        L1 for m=4 l=4\n          op E\n"
     "      L1 for m=4 l=4\n        op Z\n    Seq\n      L1 for m=4 l=4\n        op P\n"
     "      L0 for m=4 l=4 n=2\n        op O\n"},
    {__LINE__, SPLIT,
     "DRAM for m=8\n  Seq\n    L1 for l=4\n      Seq stream X Z U\n        L1 for l=4\n"
     "          op X\n        L1 for l=4\n          op E\n        L1 for l=4\n"
     "          op Z\n        L0 for l=4 n=2\n          op U\n    L1 for n=2\n"
     "      op O\n"},
    {__LINE__, LSE,
     "DRAM for m=8\n  Seq\n    L1 for l=4\n      Seq stream X Z O\n        L1 for l=4\n"
     "          op X\n        L1 for l=4\n          op E\n        L1 for l=4\n"
     "          op Z\n        L1 for l=4 n=2\n          op O\n    L1\n      op L\n"},
    {__LINE__, TEMP,
     "DRAM for m=8 l=4\n  Seq stream X Z O\n    L1 for l=4\n      op X\n    L1 for l=4\n"
     "      op Z\n    L1 for l=4 n=2\n      op O\n"},
};

static void test_legal(void) {
  for (size_t i = 0; i < sizeof legals / sizeof *legals; i++) {
    const legal *row = &legals[i];
    tf_diags *d = tf_diags_new();
    tf_spec *s = read_workload(row->wl, d);
    tf_tree *t = s ? tf_tree_parse(row->text, start, s->arch, s->workload, d) : NULL;
    char *errors = tf_diags_text(d);
    if (!CHECK_ROW(row, t != NULL) && errors) printf("%s", errors);
    char *text = t ? tf_tree_text(t) : NULL;
    if (t) CHECK_ROW_TEXT(row, text, row->text);
    tf_tree *u = text ? tf_tree_parse(text, start, s->arch, s->workload, d) : NULL;
    if (t) CHECK_ROW(row, u && case_same_tree(t, u));
    tf_tree_free(u);
    tf_tree_free(t);
    free(text);
    free(errors);
    tf_spec_free(s);
    tf_diags_free(d);
  }
}

/* ---- layout of the text ------------------------------------------------------------- */
/* Text that prints otherwise than it was written. */
static void test_layout(void) {
  static const struct {
    int line;
    const char *in;
  } rows[] = {
      {__LINE__, "\n# head\n   DRAM  for m = 8 # why\n\n      L0 for k=4   n=6\n"
                 "       # deep\n         op C"},
      {__LINE__, "DRAM for m=8\r\n L0 for k=4 n=6\r\n  op C\r\n"},
      {__LINE__, "DRAM for m=8\n  L0 for k=4 n=6\n    op C # caf\xc3\xa9\t tab in a comment"},
      {__LINE__,
       "DRAM for m=8#\n                     L0 for k=4 n=6\n                          op C\n\n\n"},
      {__LINE__, "DRAM for m=0008\n  L0 for k=4 n=6\n    op C\n"},
  };
  tf_diags *d = tf_diags_new();
  tf_spec *s = read_workload(GEMM, d);
  for (size_t i = 0; s && i < sizeof rows / sizeof *rows; i++) {
    tf_tree *t = tf_tree_parse(rows[i].in, start, s->arch, s->workload, d);
    char *text = t ? tf_tree_text(t) : NULL;
    CHECK_ROW_TEXT(&rows[i], text, "DRAM for m=8\n  L0 for k=4 n=6\n    op C\n");
    free(text);
    tf_tree_free(t);
  }
  tf_spec_free(s);
  tf_diags_free(d);
}

/* ---- illegal trees: the codes, in order ----------------------------------------------- */
typedef struct {
  int line;
  wl_id wl;
  const char *text;
  int n;
  tf_code want[3];
} illegal;

static const illegal illegals[] = {
    {__LINE__, GEMM, "", 1, {TF_E_SHAPE}},
    {__LINE__, GEMM, "op C", 3, {TF_E_COVER, TF_E_COVER, TF_E_COVER}},
    {__LINE__, GEMM, "DRAM for m=7 k=4 n=6\n  op C", 1, {TF_E_COVER}},
    {__LINE__, GEMM, "DRAM for m=9223372036854775807 k=4 n=6 m=2\n  op C", 1, {TF_E_RANGE}},
    {__LINE__, GEMM, "DRAM for m=8 k=4\n  op C", 1, {TF_E_COVER}},
    {__LINE__,
     CHAIN,
     "Para\n  DRAM for m=8 k=4 l=16\n    op C\n  DRAM for m=8 l=16 n=2\n    op E",
     1,
     {TF_E_ORDER}},
    /* the readers of C lack nothing, but its maker lacks the extent that they ask for */
    {__LINE__,
     CHAIN,
     "DRAM for m=8 l=2\n  Seq\n    L0 for k=4 l=4\n      op C\n    L0 for l=8 n=2\n      op E",
     1,
     {TF_E_COVER}},
    {__LINE__,
     CONV,
     "DRAM for p=3\n  Seq\n    L0 for q=4 r=3\n      op T\n    L0 for p=3 s=3\n      op O",
     1,
     {TF_E_COVER}},
    {__LINE__,
     CONV,
     "DRAM for p=4 s=3\n  Seq\n    L0 for q=4 r=3\n      op T\n    L0 for p=2\n      op O",
     0,
     {0}},
    {__LINE__,
     CONV,
     "DRAM for p=4 r=3\n  Seq\n    L0 for q=4\n      op T\n    L0 for p=2 s=3\n      op O",
     1,
     {TF_E_LOOP}},
    /* the first tile is clipped, the second is not: 4 rows */
    {__LINE__,
     PADDED,
     "DRAM for p=4\n  Seq\n    L0 for q=3 r=3\n      op T\n    L0 for p=2 s=3\n      op O",
     1,
     {TF_E_COVER}},
    {__LINE__,
     PADDED,
     "DRAM for p=2\n  Seq\n    L0 for q=4 r=3\n      op T\n    L0 for p=4 s=3\n      op O",
     1,
     {TF_E_COVER}},
    {__LINE__,
     SPLIT,
     "DRAM for m=8\n  Seq\n    L1 for l=4\n      Seq stream X Z\n        L1 for l=4\n"
     "          op X\n        L1 for l=4\n          op E\n        L1 for l=4\n"
     "          op Z\n        L0 for l=4 n=2\n          op U\n    L1 for n=2\n      op O",
     1,
     {TF_E_STREAM}},
    /* one number, made anew in each of 2000 steps and read outside of them */
    {__LINE__,
     NUMBER,
     "Seq\n  DRAM for m=2000\n    Seq\n      DRAM\n        Seq\n          L1 for n=3\n"
     "            op K\n          L1 for p=2\n            op C\n      L1 for r=2\n        op O\n"
     "  DRAM for q=5\n    L1\n      op B",
     1,
     {TF_E_LOOP}},
    {__LINE__, ATTN, ROWS_OF_ATTN("DRAM for m=2 l=4\n  Seq\n"), 1, {TF_E_LOOP}},
    {__LINE__, ATTN, ROWS_OF_ATTN("DRAM for l=4 m=2\n  Seq stream X Z O\n"), 1, {TF_E_STREAM}},
    {__LINE__, ATTN, ROWS_OF_ATTN("DRAM for m=2 l=4\n  Seq stream X Z O E\n"), 1, {TF_E_STREAM}},
    {__LINE__, ATTN, ROWS_OF_ATTN("DRAM for m=2 l=4 a=2\n  Seq stream X Z O\n"), 1, {TF_E_LOOP}},
    {__LINE__,
     FORK,
     "DRAM for m=2 f=4\n  Seq\n    L1 for m=4\n      op T\n    L1 for m=4\n      op U\n"
     "    L0 for m=4\n      op O",
     0,
     {0}},
    {__LINE__,
     BLOCK,
     "DRAM for m=4 f=2\n  Seq\n    L0 for f=3 h=8\n      op H\n    L1 for f=3\n"
     "      op G\n    L0 for f=3 j=8\n      op R\n    L1 for j=8\n      op O",
     1,
     {TF_E_LOOP}},
};

static void test_illegal(void) {
  for (size_t i = 0; i < sizeof illegals / sizeof *illegals; i++) {
    const illegal *row = &illegals[i];
    tf_diags *d = tf_diags_new();
    tf_spec *s = read_workload(row->wl, d);
    tf_tree *t = s ? tf_tree_parse(row->text, start, s->arch, s->workload, d) : NULL;
    CHECK_ROW(row, (t != NULL) == (row->n == 0));
    bool as_wanted = CHECK_ROW_I64(row, (int64_t)tf_diags_errors(d), row->n);
    int k = 0;
    for (size_t e = 0; e < tf_diags_count(d) && k < row->n; e++)
      if (!tf_diags_at(d, e)->note)
        as_wanted &= CHECK_ROW_I64(row, tf_diags_at(d, e)->code, row->want[k++]);
    char *errors = tf_diags_text(d);
    if (!as_wanted && errors) printf("%s", errors);
    free(errors);
    tf_tree_free(t);
    tf_spec_free(s);
    tf_diags_free(d);
  }
}

/* ---- more steps than a range has ------------------------------------------------------ */
static const struct {
  int line;
  wl_id wl;
  const char *text;
  int n; /* warnings */
  const char *says;
} spares[] = {
    {__LINE__, GEMM, "DRAM for m=8 k=4 n=6\n  op C", 0, ""},
    {__LINE__, GEMM, "DRAM for m=9 k=4 n=6\n  op C", 1,
     "'m=9' steps past the range of op 'C': m=8 reaches all of it"},
    {__LINE__, GEMM, "DRAM for m=9223372036854775807 k=4 n=6\n  op C", 1,
     "'m=9223372036854775807' steps past the range of op 'C': m=8 reaches all of it"},
    /* a last step in part, which is needed: 3 x 3 and 2 x 4 of 8, 4 x 2 of 6; and one more than
       that */
    {__LINE__, GEMM, "DRAM for m=3 n=2\n  L0 for m=3 k=4 n=3\n    op C", 0, ""},
    {__LINE__, GEMM, "DRAM for m=3 n=4\n  L0 for m=3 k=4 n=2\n    op C", 1,
     "'n=4' steps past the range of op 'C': n=3 reaches all of it"},
    {__LINE__, GEMM, "DRAM for m=2 spatial n=4@x\n  L0 for m=4 k=4 n=2\n    op C", 1,
     "'n=4' steps past the range of op 'C': n=3 reaches all of it"},
    /* a maker's range: what its readers need with their halo, 4 in each step of 2 */
    {__LINE__, CONV,
     "DRAM for p=4\n  Seq\n    L0 for q=4 r=3\n      op T\n    L0 for p=2 s=3\n      op O", 0, ""},
    {__LINE__, CONV,
     "DRAM for p=4\n  Seq\n    L0 for q=5 r=3\n      op T\n    L0 for p=2 s=3\n      op O", 1,
     "'q=5' steps past the range of op 'T': q=4 reaches all of it"},
    /* clipped at the border, not in the middle: all 4 are needed */
    {__LINE__, PADDED,
     "DRAM for p=4\n  Seq\n    L0 for q=4 r=3\n      op T\n    L0 for p=2 s=3\n      op O", 0, ""},
    /* open counts say nothing, and may be one step inside of a fixed one */
    {__LINE__, GEMM, "DRAM for m=? k=4 n=6\n  op C", 0, ""},
    {__LINE__, GEMM, "DRAM for m=4 k=? n=? spatial m=2@x\n  L0 for m=? n=3\n    op C", 0, ""},
    {__LINE__, GEMM, "DRAM for m=32 k=? n=?\n  L0 for m=4\n    op C", 1,
     "'m=32' steps past its extent of 8: m=2 reaches all of it"},
    {__LINE__, GEMM, "DRAM for m=32 k=? n=?\n  L0 for m=?\n    op C", 1,
     "'m=32' steps past its extent of 8: m=8 reaches all of it"},
    {__LINE__, CHAIN,
     "DRAM for m=8\n  Seq\n    L0 for k=? l=16\n      op C\n    L0 for l=17 n=?\n      op E", 1,
     "'l=17' steps past its extent of 16: l=16 reaches all of it"},
};

static void test_spares(void) {
  for (size_t i = 0; i < sizeof spares / sizeof *spares; i++) {
    tf_diags *d = tf_diags_new();
    tf_spec *s = read_workload(spares[i].wl, d);
    tf_tree *t = s ? tf_tree_parse(spares[i].text, start, s->arch, s->workload, d) : NULL;
    CHECK_ROW(&spares[i], t != NULL);
    CHECK_ROW_I64(&spares[i], (int64_t)tf_diags_count(d), spares[i].n);
    if (tf_diags_count(d)) CHECK_ROW_TEXT(&spares[i], tf_diags_at(d, 0)->msg, spares[i].says);
    if (tf_diags_count(d)) CHECK_ROW(&spares[i], tf_diags_at(d, 0)->warning);
    tf_tree_free(t);
    tf_spec_free(s);
    tf_diags_free(d);
  }
}

/* ---- homes -------------------------------------------------------------------------- */
static void test_homes(void) {
  static const struct {
    int line;
    wl_id wl;
    const char *text, *tensor;
    int level, scope;
  } rows[] = {
      {__LINE__, GEMM, "L1 for m=8 k=4 n=6\n  op C", "C", 0, -1},
      {__LINE__, CHAIN, "Seq\n  L1 for m=8 k=4 l=16\n    op C\n  L1 for m=8 l=16 n=2\n    op E",
       "C", 0, 0},
      {__LINE__, CHAIN,
       "L1 for m=8\n  Seq\n    L0 for k=4 l=16\n      op C\n    L0 for l=16 n=2\n      op E", "C",
       1, 1},
      {__LINE__, CHAIN,
       "L1 for m=8\n  Seq\n    L0 for k=4 l=16\n      op C\n    L0 for l=16 n=2\n      op E", "A",
       0, -1},
      {__LINE__, CHAIN,
       "DRAM for m=8\n  Seq keep C@L0\n    L0 for k=4 l=16\n      op C\n"
       "    L0 for l=16 n=2\n      op E",
       "C", 2, 1},
      {__LINE__, FORK,
       "DRAM for m=2\n  Seq\n    L1 for m=4\n      op T\n    L1 for m=2 f=2\n      Seq\n"
       "        L1 for m=2 f=2\n          op U\n        L0 for m=2 f=2\n          op O\n",
       "T", 0, 1},
      {__LINE__, FORK,
       "DRAM for m=2\n  Seq\n    L1 for m=4\n      op T\n    L1 for m=2 f=2\n      Seq\n"
       "        L1 for m=2 f=2\n          op U\n        L0 for m=2 f=2\n          op O\n",
       "U", 1, 5},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tf_diags *d = tf_diags_new();
    tf_spec *s = read_workload(rows[i].wl, d);
    tf_tree *t = s ? tf_tree_parse(rows[i].text, start, s->arch, s->workload, d) : NULL;
    int z = 0;
    while (t && strcmp(s->workload->tensors[z].name, rows[i].tensor) != 0)
      z++;
    if (CHECK_ROW(&rows[i], t != NULL)) {
      CHECK_ROW_I64(&rows[i], tf_tree_home(t, z), rows[i].level);
      CHECK_ROW_I64(&rows[i], tf_tree_home_scope(t, z), rows[i].scope);
    }
    tf_tree_free(t);
    tf_spec_free(s);
    tf_diags_free(d);
  }
}

/* ---- limits ------------------------------------------------------------------------- */
static void test_depth(void) {
  tf_diags *d = tf_diags_new();
  tf_spec *s = read_workload(GEMM, d);
  for (int tiles = 254; s && tiles <= 256; tiles++) {
    char *text = malloc(1 << 17), *p = text;
    p += sprintf(p, "DRAM for m=8 k=4 n=6\n");
    for (int i = 1; i < tiles; i++)
      p += sprintf(p, "%*sL0\n", i, "");
    sprintf(p, "%*sop C\n", tiles, "");
    tf_tree *t = tf_tree_parse(text, start, s->arch, s->workload, d);
    CHECK((t != NULL) == (tiles + 1 <= 256));
    tf_tree_free(t);
    free(text);
  }
  CHECK(tf_diags_errors(d) == 1 && tf_diags_at(d, 0)->code == TF_E_LIMIT);
  tf_spec_free(s);
  tf_diags_free(d);
}

/* ---- cover against its definition ----------------------------------------------------- */
/* Whether nested loops with these trip counts reach 0 .. extent - 1, walked one by one. */
static bool reaches_slow(const int64_t *trip, int n, int64_t extent) {
  bool hit[64] = {false};
  int64_t total = 1, n_hit = 0;
  for (int i = 0; i < n; i++)
    total *= trip[i];
  for (int64_t at = 0; at < total; at++) {
    int64_t lo = 0, len = extent, rest = at, step = total;
    for (int i = 0; i < n; i++) {
      step /= trip[i];
      int64_t digit = rest / step;
      rest %= step;
      lo += digit * step;
      len = len - digit * step < step ? len - digit * step : step;
      if (len <= 0) break;
    }
    if (len == 1 && !hit[lo]) hit[lo] = true, n_hit++;
  }
  return n_hit == extent;
}

static void test_cover(void) {
  tf_diags *d = tf_diags_new();
  tf_spec *s = read_workload(GEMM, d);
  for (int64_t code = 0; s && code < 5 * 5 * 5; code++) {
    int64_t trip[3] = {code / 25 + 1, code / 5 % 5 + 1, code % 5 + 1};
    char text[200];
    snprintf(text, sizeof text,
             "DRAM for m=%" PRId64 " k=4\n  L1 for m=%" PRId64 " spatial m=%" PRId64
             "@x\n    L0 for n=6\n      op C\n",
             trip[0], trip[1], trip[2]);
    tf_diags *e = tf_diags_new();
    tf_tree *t = tf_tree_parse(text, start, s->arch, s->workload, e);
    CHECK((t != NULL) == reaches_slow(trip, 3, 8));
    tf_tree_free(t);
    tf_diags_free(e);
  }
  tf_spec_free(s);
  tf_diags_free(d);
}

int main(void) {
  test_legal();
  test_layout();
  test_illegal();
  test_spares();
  test_homes();
  test_depth();
  test_cover();
  return check_report();
}
