/* What export writes, import reads back to the same tree, counters and energies: the 75 cases of
 * Timeloop, and more. */
#include "tests/unit/case.h"
#include "tileflow/export.h"
#include "tileflow/import.h"

typedef struct {
  test_case c;
  char *text; /* of the tree */
} run;

static void drop(run *e) {
  case_drop(&e->c);
  free(e->text);
  e->text = NULL;
}

/* Reads native text; takes it. */
static bool evaluate(run *e, char *native) {
  case_read(&e->c, native);
  e->text = e->c.tree ? tf_tree_text(e->c.tree) : NULL;
  free(native);
  bool ok = case_evaluate(&e->c);
  if (!ok) case_complain(e->c.d);
  return ok;
}

/* Export and import again. */
static bool back(const run *a, const char *format, run *b) {
  b->c.d = tf_diags_new();
  tf_export *e = tf_export_write(format, a->c.spec->arch, a->c.spec->workload, a->c.tree, b->c.d);
  tf_text files[TF_EXPORT_MAX_FILES];
  for (int i = 0; e && i < e->n; i++)
    files[i] = (tf_text){e->file[i].name, e->file[i].text, strlen(e->file[i].text)};
  bool ok = CHECK(e != NULL) && evaluate(b, tf_import(files, (size_t)e->n, NULL, 0, b->c.d));
  tf_export_free(e);
  return ok;
}

static int tensor_named(const tf_workload *wl, const char *name) {
  for (int z = 0; z < wl->n_tensors; z++)
    if (!strcmp(wl->tensors[z].name, name)) return z;
  return -1;
}

/* What words read to be written further out take: nothing in Timeloop's files. */
static double drains_pj(const run *r) {
  const tf_workload *wl = r->c.spec->workload;
  double pj = 0;
  for (int l = 0; l < r->c.spec->arch->n_memories; l++) {
    const tf_memory *m = &r->c.spec->arch->memories[l];
    for (int z = 0; z < wl->n_tensors; z++)
      pj += (double)r->c.r.counts[l * wl->n_tensors + z].drain * wl->tensors[z].word_bits /
            m->word_bits * (m->drain_given ? m->drain_pj : m->read_pj);
  }
  return pj;
}

static void same(const run *a, const run *b) {
  const tf_workload *wa = a->c.spec->workload, *wb = b->c.spec->workload;
  CHECK_TEXT(b->text, a->text);
  for (int l = 0; l < a->c.spec->arch->n_memories; l++)
    for (int z = 0; z < wa->n_tensors; z++) {
      int to = tensor_named(wb, wa->tensors[z].name);
      if (!CHECK(to >= 0)) return;
      const tf_counts *x = &a->c.r.counts[l * wa->n_tensors + z],
                      *y = &b->c.r.counts[l * wb->n_tensors + to];
      CHECK_I64(y->fill, x->fill);
      CHECK_I64(y->read, x->read);
      CHECK_I64(y->update, x->update);
      CHECK_I64(y->drain, x->drain);
    }
  CHECK(b->c.r.cycles <= a->c.r.cycles && b->c.r.cycles >= a->c.r.cycles);
  double off = b->c.r.energy_pj / (a->c.r.energy_pj - drains_pj(a) + drains_pj(b)) - 1;
  CHECK(off < 1e-12 && off > -1e-12);
}

static void check_timeloop_cases(void) {
  int n = 0;
  for (int i = 0; i < 1000; i++) {
    char path[64];
    snprintf(path, sizeof path, "tests/data/timeloop/case%03d.yaml", i);
    size_t len;
    char *foreign = case_file(path, &len);
    if (*foreign) {
      run a = {.c = {.d = tf_diags_new()}}, b = {.text = NULL};
      tf_text t = {path, foreign, len};
      n++;
      if (CHECK(evaluate(&a, tf_import_timeloop(&t, 1, a.c.d))) && CHECK(back(&a, "timeloop", &b)))
        same(&a, &b);
      drop(&a);
      drop(&b);
    }
    free(foreign);
  }
  CHECK_I64(n, 75);
}

/* A memory without a Tile, words of several letters, areas, bandwidths of one port, a nest over two
 * Tiles. */
static const char native[] =
    "architecture:\n  clock: 1 GHz\n  overlap: perfect\n  memories:\n"
    "  - {name: DRAM, bandwidth: 7}\n"
    "  - {name: L2, capacity: 4096, bandwidth: {read: 8, write: 4}, area: 0.5 mm2}\n"
    "  - {name: L1, mesh: [2, 2], capacity: 512}\n  - {name: RF, capacity: 32, word-bits: 8}\n"
    "  compute:\n  - {name: mac, ops: [mac], area: 100 um2, energy: 0.25 pJ}\n"
    "workload:\n  dims: {row: 16, col: 12, red: 10}\n  ops:\n"
    "  - \"C[row, col] += A[row, red] * B[3*red + 2*col]\"\n"
    "mapping: |\n  DRAM for row=2\n    DRAM for col=3\n"
    "      L1 for row=4 spatial row=2@x col=2@y bypass B\n"
    "        RF for red=10 col=2\n          op C\n";

static char *copy(const char *s) {
  char *t = malloc(strlen(s) + 1);
  return t ? strcpy(t, s) : NULL;
}

static void check_corners(void) {
  run a = {.text = NULL}, b = {.text = NULL};
  char *text = copy(native);
  char *l1 = strstr(text, "L1 for row=4 spatial");
  memcpy(l1, "L2 for row=4 spatial", 20); /* spread below L2; L1 has no Tile */
  if (CHECK(evaluate(&a, text)) && CHECK(back(&a, "timeloop", &b))) {
    free(a.text);
    a.text = copy("DRAM for row=2 col=3\n"
                  "  L2 for row=4 spatial row=2@x col=2@y bypass B\n"
                  "    RF for red=10 col=2\n      op C\n");
    same(&a, &b);
    CHECK(tf_arch_area(b.c.spec->arch, NULL) > 0.5e6);
  }
  drop(&a);
  drop(&b);
}

/* Fused chains for TileFlow: the same tree and the same counters; it knows one kind of unit, and no
 * overlap. */
static const char chain[] =
    "architecture:\n  overlap: perfect\n  memories:\n  - {name: DRAM, bandwidth: 4}\n"
    "  - {name: Buffer, capacity: 65536, bandwidth: {read: 32, write: 32}, mesh: [2, 2]}\n"
    "  - {name: Reg, capacity: 3, mesh: [4, 4]}\n  compute:\n"
    "  - {name: pe, ops: [mac, mul, add, exp]}\n"
    "workload:\n  dims: {m: 64, l: 32, k: 16, n: 8, p: 12, r: 3}\n  ops:\n"
    "  - C[m,l] += A[m,k] * B[k,l]\n  - E[m,l] = C[m,l] * G[m]\n  - F[m,n] += E[m,l] * D[l,n]\n"
    "  - H[m,p] += Q[m,2*p + r] * R[r]\n"
    "mapping: |\n";
static const char *const trees[] = {
    "  DRAM for m=4 spatial m=2@x\n    Buffer\n      Shar\n"
    "        Buffer for l=8 k=4 spatial m=4@x k=4@y\n          Reg for l=4 m=2\n            op C\n"
    "        Buffer for l=8 spatial m=4@x l=4@y\n          Reg for m=2\n            op E\n"
    "        Buffer for n=8 l=32 spatial m=4@x\n          Reg for m=2\n            op F\n"
    "        Buffer for p=3 spatial m=4@x p=4@y\n          Reg for m=2 r=3\n            op H\n",
    "  DRAM for m=16\n    Seq keep C@Buffer E@Buffer\n"
    "      DRAM for k=4\n        Buffer for l=32 spatial m=4@x k=4@y\n          Reg\n"
    "            op C\n"
    "      Buffer for l=8 spatial m=4@x l=4@y\n        op E\n"
    "      DRAM for l=2\n        Buffer for n=8 l=4 spatial m=4@x l=4@y\n          Reg\n"
    "            op F\n"
    "      Buffer for p=12 spatial m=4@x r=3@y\n        Reg\n          op H\n",
};

static void check_chains(void) {
  for (size_t i = 0; i < sizeof trees / sizeof trees[0]; i++) {
    run a = {.text = NULL}, b = {.text = NULL};
    char *text = malloc(sizeof chain + strlen(trees[i]));
    if (!CHECK(text != NULL)) return;
    strcat(strcpy(text, chain), trees[i]);
    if (CHECK(evaluate(&a, text)) && CHECK(back(&a, "tileflow", &b))) {
      b.c.r.cycles = a.c.r.cycles; /* times and energies are not said */
      b.c.r.energy_pj = a.c.r.energy_pj;
      same(&a, &b);
    }
    drop(&a);
    drop(&b);
  }
}

/* A format that there is none of is an error that says so. */
static void check_names(void) {
  run a = {0};
  a.c.d = tf_diags_new();
  CHECK(!tf_export_format(-1) && !tf_export_format(2));
  case_read(&a.c,
            "architecture:\n  memories:\n  - {name: DRAM}\n  compute:\n"
            "  - {name: pe, ops: [mac], below: DRAM}\nworkload:\n  dims: {m: 2, k: 2}\n  ops:\n"
            "  - C[m] += A[m,k] * B[k]\nmapping: |\n  DRAM for m=2 k=2\n    op C\n");
  if (CHECK(a.c.spec)) {
    CHECK(!tf_export_write("nope", a.c.spec->arch, a.c.spec->workload, a.c.tree, a.c.d));
    CHECK_I64((int64_t)tf_diags_errors(a.c.d), 1);
    CHECK(tf_diags_count(a.c.d) && tf_diags_at(a.c.d, 0)->code == TF_E_NAME);
  }
  drop(&a);
}

int main(void) {
  check_names();
  check_chains();
  check_timeloop_cases();
  check_corners();
  return check_report();
}
