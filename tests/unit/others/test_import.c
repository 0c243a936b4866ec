/* Timeloop's files as native ones: the counters of 75 cases are those that Timeloop 3.0.3 prints,
 * but for two documented exceptions, in which ours are smaller, and one thing that
 * docs/SEMANTICS.md does not have. */
#include "tests/unit/case.h"
#include "tileflow/import.h"

typedef struct {
  char name[32];
  test_case c;
} run;

static void read_file(test_case *e, const char *path) {
  size_t len;
  char *text = case_file(path, &len);
  e->d = tf_diags_new();
  tf_text foreign = {path, text, len};
  char *native = tf_import_timeloop(&foreign, 1, e->d);
  case_read(e, native);
  if (!CHECK(case_evaluate(e))) printf("%s\n", path);
  free(native);
  free(text);
}

static void evaluate(run *e, const char *name) {
  char path[128];
  case_drop(&e->c);
  snprintf(e->name, sizeof e->name, "%s", name);
  snprintf(path, sizeof path, "tests/data/timeloop/%s.yaml", name);
  read_file(&e->c, path);
}

typedef struct {
  int equal, partial_sums, windows, links, other;
} tally;

static int find(const run *e, const char *level, const char *tensor, bool *output) {
  for (int l = 0; l < e->c.spec->arch->n_memories; l++)
    for (int z = 0; z < e->c.spec->workload->n_tensors; z++)
      if (!strcmp(e->c.spec->arch->memories[l].name, level) &&
          !strcmp(e->c.spec->workload->tensors[z].name, tensor)) {
        *output = e->c.spec->workload->tensors[z].producer >= 0;
        return l * e->c.spec->workload->n_tensors + z;
      }
  return -1;
}

/* One counter.  1: Timeloop fills every instance with the partial sum where one copy is enough.
 * 2: it counts a whole tile that moves in two ranks at once.  Links: case061, whose input it hands
 * on between neighbours: what they hand on it counts as reads of the inner memory, not of the
 * outer. */
static void compare(const run *e, bool output, bool fill, int64_t ours, int64_t theirs, tally *t) {
  if (ours == theirs)
    t->equal++;
  else if (output && fill && ours < theirs)
    t->partial_sums++;
  else if (!strcmp(e->name, "case061") && !output)
    t->links++;
  else if (!output && ours < theirs)
    t->windows++;
  else
    t->other++;
}

static void check_cases(void) {
  size_t len;
  char *csv = case_file("tests/data/timeloop/expected.csv", &len);
  run e = {.name = ""};
  tally t = {0, 0, 0, 0, 0};
  int cases = 0;
  for (char *line = csv; *line;) {
    char name[32], level[32], tensor[32];
    long long read, fill, update;
    char *end = line + strcspn(line, "\n");
    if (*line != '#' && sscanf(line, "%31[^,],%31[^,],%31[^,],%lld,%lld,%lld", name, level, tensor,
                               &read, &fill, &update) == 6) {
      bool output = false;
      if (strcmp(e.name, name)) {
        evaluate(&e, name);
        cases++;
      }
      int at = e.c.spec ? find(&e, level, tensor, &output) : -1;
      if (CHECK(at >= 0)) {
        compare(&e, output, false, e.c.r.counts[at].read, read, &t);
        compare(&e, output, true, e.c.r.counts[at].fill, fill, &t);
        compare(&e, output, false, e.c.r.counts[at].update, update, &t);
      }
    }
    line = *end ? end + 1 : end;
  }
  case_drop(&e.c);
  free(csv);
  CHECK_I64(cases, 75);
  CHECK_I64(t.other, 0);
  CHECK_I64(t.equal, 1513);
  CHECK_I64(t.partial_sums, 23);
  CHECK_I64(t.windows, 18);
  CHECK_I64(t.links, 3);
}

/* case061 with neighbours that hand its input on: what Timeloop reads of the buffer, which does not
 * hand on itself.  Of the 13,824 words that enter register files, 7,680 come from there and 6,144
 * from neighbours; Timeloop counts half of these. */
static void check_peers(void) {
  static const char rf[] = "  - name: RF\n";
  size_t len;
  char *text = case_file("tests/data/timeloop/case061.yaml", &len), *with = NULL;
  test_case e = {.d = tf_diags_new()};
  tf_text foreign = {"case061", text, len};
  char *native = tf_import_timeloop(&foreign, 1, e.d), *at = native ? strstr(native, rf) : NULL;
  if (CHECK(at != NULL)) {
    FILE *f = case_text(&with);
    fprintf(f, "%.*s    network: {topology: mesh, peers: true}\n%s",
            (int)(at - native + (long)strlen(rf)), native, at + strlen(rf));
    fclose(f);
    case_read(&e, with);
    bool output;
    if (CHECK(case_evaluate(&e))) {
      const run r = {.c = e};
      CHECK_I64(e.r.counts[find(&r, "GLB", "I", &output)].read, 7680);
      CHECK_I64(e.r.counts[find(&r, "GLB", "I", &output)].fill, 2880);
      CHECK_I64(e.r.counts[find(&r, "GLB", "W", &output)].read, 3456);
      CHECK_I64(e.r.counts[find(&r, "RF", "I", &output)].fill, 7680 + 2 * (10752 - 7680));
      CHECK_I64(e.r.counts[find(&r, "RF", "I", &output)].drain, 2 * (10752 - 7680));
      CHECK_I64(e.r.counts[find(&r, "RF", "I", &output)].read, 165888);
    }
  }
  case_drop(&e);
  free(with);
  free(native);
  free(text);
}

/* The parts that the cases lack: bypass, a remainder, words in a permutation, a stride of the
 * instance. */
static void check_directives(void) {
  static const char text[] =
      "architecture:\n  version: 0.3\n  subtree:\n  - name: system\n    local:\n"
      "    - {name: DRAM, class: DRAM, attributes: {word-bits: 8, technology: 45nm}}\n"
      "    subtree:\n    - name: PE[0..3]\n      local:\n"
      "      - {name: RF, class: regfile, attributes: {depth: 16, width: 32, word-bits: 8}}\n"
      "      - {name: mac, class: intmac}\n"
      "problem:\n  shape:\n    dimensions: [P, R]\n"
      "    coefficients: [{name: Wstride, default: 1}]\n"
      "    data-spaces:\n    - {name: I, projection: [[[P, Wstride], [R]]]}\n"
      "    - {name: W, projection: [[[R]]]}\n"
      "    - {name: O, projection: [[[P]]], read-write: true}\n"
      "  instance: {P: 8, R: 3, Wstride: 2}\n"
      "mapping:\n- {target: DRAM, type: temporal, factors: [P=0, R=1], permutation: [R, P]}\n"
      "- {target: DRAM, type: spatial, factors: P=4, split: 0}\n"
      "- {target: RF, type: bypass, bypass: [W]}\n"
      "- {target: RF, type: temporal, factors: P=1 R=3}\n";
  static const char want[] =
      "# Imported from Timeloop's format.\n"
      "architecture:\n  name: imported\n  clock: 1 GHz   # Timeloop counts cycles\n  word-bits: 8\n"
      "  technology: 45 nm\n"
      "  overlap: perfect   # Timeloop takes the longest of compute and each memory\n  memories:\n"
      "  - name: DRAM\n  - name: RF\n    mesh: [4, 1]\n    capacity: 64\n  compute:\n"
      "  - name: mac\n"
      "    below: RF\n    ops: [mac]\n"
      "workload:\n  name: problem\n  dims: {P: 8, R: 3}\n  ops:\n"
      "  - \"O[P] += I[2*P + R] * W[R]\"\n"
      "mapping: |\n  DRAM for P=2 spatial P=4@y\n    RF for R=3 bypass W\n      op O\n";
  tf_diags *d = tf_diags_new();
  tf_text t = {"text", text, sizeof text - 1};
  char *native = tf_import_timeloop(&t, 1, d);
  if (CHECK(native != NULL)) CHECK_TEXT(native, want);
  free(native);
  tf_diags_free(d);
}

/* One mapping in the words of 0.3 and of 0.4: the same counters, the same capacities, the same
 * meshes. */
static void check_dialects(void) {
  test_case a = {0}, b = {0};
  read_file(&a, "tests/data/import/conv-03.yaml");
  read_file(&b, "tests/data/import/conv-04.yaml");
  if (!CHECK(a.model && b.model)) return;
  const tf_arch *x = a.spec->arch, *y = b.spec->arch;
  CHECK_I64(x->n_memories, 4);
  CHECK_I64(y->n_memories, 4);
  for (int l = 0; l < 4; l++) {
    CHECK_I64(x->memories[l].capacity_words, y->memories[l].capacity_words);
    CHECK_I64(x->memories[l].mesh[0], y->memories[l].mesh[0]);
    CHECK_I64(x->memories[l].mesh[1], y->memories[l].mesh[1]);
  }
  for (int i = 0; i < 4 * a.spec->workload->n_tensors; i++) {
    CHECK_I64(a.r.counts[i].read, b.r.counts[i].read);
    CHECK_I64(a.r.counts[i].fill, b.r.counts[i].fill);
    CHECK_I64(a.r.counts[i].update, b.r.counts[i].update);
  }
  CHECK(a.r.counts[0].read + a.r.counts[1].read + a.r.counts[2].read > 0);
  case_drop(&a);
  case_drop(&b);
}

/* ---- what Timeloop's front end and its mapper write ------------------------------------------ */
#define MACHINE(more)                                                                              \
  "architecture:\n  version: '0.4'\n  subtree:\n  - name: top\n    attributes: {version: '0.4', "  \
  "technology: 40nm, "                                                                             \
  "has_power_gating: false, power_gated_at: null}\n    local:\n"                                   \
  "    - {name: \"Dram[1..1]\", class: DRAM, attributes: {width: 64, datawidth: 16, n_banks: 2, "  \
  "min_utilization: 0, "                                                                           \
  "allow_overbooking: false, reduction_supported: true, cluster_size: 1, multiple_buffering: 1, "  \
  "has_power_gating: "                                                                             \
  "false, power_gated_at: null, meshX: 1, meshY: 1}, required_actions: [read], enabled: true}\n"   \
  "    - {name: \"spread[1..1]\", class: dummy_storage, attributes: {width: 1, depth: 1, "         \
  "datawidth: 1, nports: 2}}\n"                                                                    \
  "    - {name: \"Buf[1..4]\", class: storage, subclass: my_buffer, attributes: {depth: 64, "      \
  "width: 8, datawidth: 8, "                                                                       \
  "num_ports: 2, has_power_gating: False" more "}}\n"                                              \
  "    - {name: \"mac[1..4]\", class: intmac, attributes: {multiplier_width: 8, meshX: 4, meshY: " \
  "1}}\n"

static const char dump[] = "dumped_by_timeloop_front_end: true\n" MACHINE(
    ", meshX: 4, meshY: 1") "architecture_constraints: {targets: [{target: Buf, type: temporal, "
                            "factors: R=3}]}\n"
                            "problem:\n  version: '0.4'\n  shape:\n    name: ''\n"
                            "    dimensions: [C, M, R, P]\n    coefficients: []\n"
                            "    data_spaces:\n"
                            "    - {name: W, projection: [[[C]], [[M]], [[R]]], read_write: "
                            "false}\n"
                            "    - {name: I, projection: [[[C]], [[R], [P]]], read_write: false}\n"
                            "    - {name: O, projection: [[[M]], [[P]]], read_write: true}\n"
                            "  instance: {C: 2, M: 4, R: 3, P: 12, H: 14, Hpad: 1, densities: {}}\n"
                            "compound_components: {version: '0.4', classes: []}\n"
                            "mapping: []\nmapper: {algorithm: random}\n";
static const char dump_map[] =
    "mapping:\n- {target: Buf, type: datatype, keep: [W, I, O], bypass: []}\n"
    "- {target: spread, type: datatype, keep: [], bypass: [W, I, O]}\n"
    "- {target: Dram, type: datatype, keep: [W, I, O], bypass: []}\n"
    "- {target: Buf, type: temporal, factors: \"C2 M1 R3 P5,2\", permutation: CMRP}\n"
    "- {target: spread, type: spatial, factors: C1 M4 R1 P1, permutation: CMRP, split: 4}\n"
    "- {target: spread, type: temporal, factors: C1 M1 R1 P1, permutation: CMRP}\n"
    "- {target: Dram, type: temporal, factors: C1 M1 R1 P3, permutation: CMRP}\n";

static char *import_two(const char *a, const char *b, tf_diags *d) {
  const tf_text t[] = {{"dump", a, strlen(a)}, {"map", b, b ? strlen(b) : 0}};
  return tf_import_timeloop(t, b ? 2 : 1, d);
}

/* The n-th warning's text; "" behind the last. */
static const char *warning(const tf_diags *d, int n) {
  for (size_t i = 0; i < tf_diags_count(d); i++)
    if (tf_diags_at(d, i)->warning && n-- == 0) return tf_diags_at(d, i)->msg;
  return "";
}

/* A dump and the mapper's file are read as they are; what has no effect is one line, and what
 * estimators read another. Elements are words of every memory, whatever its width. */
static void check_dump(void) {
  static const char want[] =
      "# Imported from Timeloop's format.\n"
      "# read by estimators of energy and area alone: n_banks 2, nports 2, num_ports 2, "
      "multiplier_width 8\n"
      "# without effect here: section mapper, has_power_gating false, power_gated_at null, "
      "min_utilization 0, allow_overbooking false and 5 more\n"
      "architecture:\n  name: imported\n  clock: 1 GHz   # Timeloop counts cycles\n"
      "  word-bits: 16\n"
      "  technology: 40 nm\n"
      "  overlap: perfect   # Timeloop takes the longest of compute and each memory\n"
      "  memories:\n  - name: Dram\n  - name: Buf\n    mesh: [4, 1]\n    capacity: 64\n"
      "  compute:\n  - name: mac\n"
      "    below: Buf\n    ops: [mac]\n"
      "workload:\n  name: problem\n  dims: {C: 2, M: 4, R: 3, P: 12}\n  ops:\n"
      "  - \"O[M, P] += W[C, M, R] * I[C, R + P]\"\n"
      "mapping: |\n  Dram for P=3 spatial M=4@x\n    Buf for P=5 R=3 C=2\n      op O\n";
  test_case c = {.d = tf_diags_new()};
  char *native = import_two(dump, dump_map, c.d);
  if (!native) case_complain(c.d);
  if (CHECK(native != NULL)) {
    CHECK(strstr(native, "words of 8 bits of Buf") !=
          NULL); /* its default energy is of another width */
    char *line = strstr(native, "# words of");
    if (line) memmove(line, strchr(line, '\n') + 1, strlen(strchr(line, '\n') + 1) + 1);
    CHECK_TEXT(native, want);
  }
  CHECK(tf_diags_errors(c.d) == 0 && !strncmp(warning(c.d, 2), "without effect here", 19) &&
        !*warning(c.d, 3));
  if (native) {
    case_read(&c, native);
    CHECK(case_evaluate(&c) && c.r.levels[1].peak <= 64);
  }
  free(native);
  case_drop(&c);
}

/* Figures that Timeloop 4 (Sparseloop) published of runs on sparse data: cycles, pJ of each memory
 * and of the units, each within one rounding of a count, and points that are computed. */
static void check_sparse(void) {
  static const struct {
    const char *name, *lines[4]; /* what the native form has */
    double cycles, pj[3], points;
  } runs[] = {
      {"product",
       {"    skipping: [{target: [A], on: [B]}]\n  - name: Buf\n",
        "    skipping: [{target: [B], on: [A]}, {target: [Z], on: [A, B]}]\n  compute:\n",
        "    A: {density: 0.25}\n", "Z[M, N] += A[K, M] * B[K, N]"},
       64,
       {150.958, 289.065 - (56 - 21.18293834) * 1.060977,
        20.16}, /* its 56 reads of Z: docs/VALIDATION.md, begun */
       64},
      {"window",
       {"ranks: [offsets, {as: run-length, bits: 4}], energy: {read: 0.373",
        "    skipping: [{target: [I], on: [W]}]\n  c", "    O: {density: 1}\n",
        "O[M, Q] += W[S, M] * I[S + Q]"},
       188,
       {654.07 - 0.446, 400.015 - 0.7, 59.22},
       188},
      {"dot",
       {"    gating: [{target: [B], on: [A]}, {target: [Z], on: [A]}]\n",
        "    gating: [{on: [A, B]}]\n", "    skipping: [{on: [A]}]\n", "    B: {density: 1}\n"},
       16,
       {52.606, 1.26, 0},
       4}};
  for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
    char path[128];
    size_t len;
    snprintf(path, sizeof path, "tests/data/import/sparse-%s.yaml", runs[i].name);
    char *text = case_file(path, &len);
    test_case c = {.d = tf_diags_new()};
    tf_text foreign = {path, text, len};
    char *native = tf_import_timeloop(&foreign, 1, c.d);
    case_read(&c, native);
    for (int k = 0; k < 4 && native; k++)
      if (!CHECK(strstr(native, runs[i].lines[k]) != NULL)) printf("%s", native);
    if (CHECK(case_evaluate(&c) && c.r.kept)) {
      const int n = c.spec->arch->n_memories;
      CHECK(c.r.cycles <= runs[i].cycles && c.r.cycles > runs[i].cycles - 1);
      for (int l = 0; l <= n; l++) {
        const double pj =
            l < n ? c.r.levels[l].energy_pj + c.r.levels[l].leakage_pj : c.r.units[0].energy_pj;
        if (!CHECK(pj > 0.994 * runs[i].pj[l] && pj < 1.001 * runs[i].pj[l]))
          printf("%s: %d %g\n", path, l, pj);
      }
      CHECK(c.r.kept->ops[0].points <= runs[i].points &&
            c.r.kept->ops[0].points > runs[i].points - 1);
    }
    free(native);
    free(text);
    case_drop(&c);
  }
}

/* Densities of 1 say nothing; a second mapping is one too many. */
static void check_dense(void) {
  char *text = calloc(1, sizeof dump + 200);
  tf_diags *d = tf_diags_new(), *twice = tf_diags_new();
  const char *at = strstr(dump, "densities: {}");
  if (!CHECK(text && at)) return;
  snprintf(text, sizeof dump + 200,
           "%.*sdensities: {W: 1, I: {distribution: fixed_structured, density: 1.0}}%s",
           (int)(at - dump), dump, at + strlen("densities: {}"));
  char *dense = import_two(dump, dump_map, d), *native = import_two(text, dump_map, d);
  char *both = import_two(dump_map, dump_map, twice);
  CHECK(dense && native && !both && tf_diags_errors(twice) == 1);
  if (dense && native) CHECK_TEXT(native, dense);
  free(dense);
  free(native);
  free(both);
  free(text);
  tf_diags_free(d);
  tf_diags_free(twice);
}

/* `instances` counts the whole machine, wherever the units stand in the list; meshY alone says the
 * rows. */
static void check_instances(void) {
  static const char text[] =
      "architecture:\n  version: 0.2\n  subtree:\n  - name: sys\n    local:\n"
      "    - {name: Mac, class: intmac, attributes: {instances: 64, meshX: 16}}\n"
      "    - {name: Dram, class: DRAM, attributes: {instances: 1, word_bits: 16}}\n"
      "    - {name: Buf, class: SRAM, attributes: {instances: 4, meshY: 2, bandwidth: 6}}\n"
      "    - {name: Adder, class: aladdin_adder}\n"
      "    - {name: \"Rf[0..7]\", class: regfile, attributes: {entries: 64, instances: 16, meshX: "
      "4}}\n";
  tf_diags *d = tf_diags_new();
  char *native = import_two(text, NULL, d);
  if (CHECK(native != NULL)) {
    CHECK(strstr(native, "  - name: Buf\n    mesh: [2, 2]\n    bandwidth: {read: 3, write: 3}\n") !=
          NULL);
    CHECK(strstr(native, "  - name: Rf\n    mesh: [2, 2]\n    capacity: 64\n") != NULL);
    CHECK(strstr(native, "  compute:\n  - name: Mac\n    mesh: [4, 1]\n") != NULL);
    CHECK(!strstr(native, "name: Adder"));
  }
  CHECK(strstr(warning(d, 0), "half of it each") &&
        strstr(warning(d, 1), "neither storage nor compute"));
  free(native);
  tf_diags_free(d);
}

/* Products of one and of three operands, and last steps as Timeloop prints them: K = 2 x 5 + 2. */
static void check_operands(void) {
  static const char problem[] =
      "problem:\n  shape:\n    dimensions: [I, J, K]\n    data-spaces:\n"
      "    - {name: A, projection: [I, K]}\n"
      "%s    - {name: Z, projection: [I, J], read-write: true}\n  instance: {I: 4, J: 4, K: 12}\n"
      "mapping:\n"
      "- {target: Dram, type: temporal, factors: [I=1, J=1, K=3], permutation: [K, J, I]}\n"
      "- {target: spread, type: spatial, factors: J=4}\n"
      "- {target: Buf, type: temporal, factors: \"I=4 J=1 K=5,2\", permutation: IJK}\n";
  static const struct {
    const char *more;
    int64_t read[3]; /* words read of the outermost: the output, A, what else */
  } kinds[] = {
      {"", {0, 48, 0}},
      {"    - {name: B, projection: [K, J]}\n", {0, 48, 48}},
      {"    - {name: B, projection: [K, J]}\n    - {name: D, projection: [I, J]}\n", {0, 48, 48}}};
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
    char text[1024];
    test_case c = {.d = tf_diags_new()};
    snprintf(text, sizeof text, problem, kinds[k].more);
    char *native = import_two(MACHINE(""), text, c.d);
    if (CHECK(native != NULL)) {
      case_read(&c, native);
      if (CHECK(case_evaluate(&c)))
        for (int z = 0; z < c.spec->workload->n_tensors && z < 3; z++)
          CHECK_I64(c.r.counts[z].read, kinds[k].read[z]);
    }
    free(native);
    case_drop(&c);
  }
}

int main(void) {
  check_dump();
  check_sparse();
  check_dense();
  check_instances();
  check_operands();
  check_cases();
  check_peers();
  check_dialects();
  check_directives();
  return check_report();
}
