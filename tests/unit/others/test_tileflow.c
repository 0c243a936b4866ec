/* TileFlow's files as native ones: every file that it ships is read as it is, and every counter
 * that it reports is held against ours.  With a path as its argument it writes them all there as
 * CSV (bench/validate.sh). */
#include <glob.h>
#include <jansson.h>
#include <stdlib.h>

#include "tests/unit/case.h"
#include "tileflow/export.h"
#include "tileflow/import.h"

#define DATA "tests/data/tileflow/"

/* Why two counts differ; the rule is in docs/VALIDATION.md. */
enum { EQUAL, MEAN, FIRST, STAYS, LINK, APART, OTHER, N_WHY };
static const char *const why_text[N_WHY] = {"equal", "mean",  "first", "stays",
                                            "link",  "apart", "other"};

/* ---- one case ----------------------------------------------------------------------- */
enum { MAX_FILES = 4 };
typedef struct {
  tf_text file[MAX_FILES];
  int n_files;
  test_case c;
  int links; /* intermediates that cannot stay where TileFlow leaves them */
} run;

static void add_text(run *e, const char *name, const char *text) {
  char *copy = calloc(1, strlen(text) + 1);
  memcpy(copy, text, strlen(text));
  e->file[e->n_files++] = (tf_text){name, copy, strlen(copy)};
}

static void add_file(run *e, const char *path) {
  size_t len;
  char *text = case_file(path, &len);
  e->file[e->n_files++] = (tf_text){path, text, len};
}

static void drop(run *e) {
  for (int i = 0; i < e->n_files; i++)
    free((char *)(uintptr_t)e->file[i].text);
  case_drop(&e->c);
  *e = (run){0};
}

/* Imports the files; what comes out is read, too. */
static bool import(run *e, const tf_setting *set, size_t n_set) {
  e->c.d = tf_diags_new();
  char *native = tf_import(e->file, (size_t)e->n_files, set, n_set, e->c.d);
  for (size_t i = 0; i < tf_diags_count(e->c.d); i++)
    e->links += strstr(tf_diags_at(e->c.d, i)->msg, "stays further out") != NULL;
  if (native && strstr(native, "\"?\"") == NULL) case_read(&e->c, native); /* no open size */
  bool ok = native && tf_diags_errors(e->c.d) == 0;
  if (!ok) case_complain(e->c.d);
  free(native);
  return ok;
}

static bool evaluate(run *e, const tf_setting *set, size_t n_set) {
  if (!CHECK(import(e, set, n_set)) || !CHECK(e->c.tree && !e->c.tree->open)) return false;
  return CHECK(case_evaluate(&e->c));
}

/* What export writes in TileFlow's format, import reads back to the same tree. */
static void check_back(const run *e) {
  run b = {.n_files = 0};
  tf_export *x =
      tf_export_write("tileflow", e->c.spec->arch, e->c.spec->workload, e->c.tree, e->c.d);
  if (!CHECK(x != NULL)) return;
  for (int i = 0; i < x->n; i++)
    add_text(&b, x->file[i].name, x->file[i].text);
  char *before = tf_tree_text(e->c.tree), *after = NULL;
  if (CHECK(import(&b, NULL, 0) && b.c.tree)) after = tf_tree_text(b.c.tree);
  CHECK_TEXT(after, before);
  free(before);
  free(after);
  tf_export_free(x);
  drop(&b);
}

/* ---- what TileFlow reports ---------------------------------------------------------- */
/* Its counters by name: of a JSON object, or lines "NAME, VALUE" of six digits. */
typedef struct {
  json_t *json;
  char *csv;
} metrics;

static double total(const metrics *m, const char *key) {
  if (m->json) return json_number_value(json_object_get(m->json, key));
  size_t n = strlen(key);
  for (char *line = m->csv; *line;
       line = strchr(line, '\n') ? strchr(line, '\n') + 1 : line + strlen(line))
    if (!strncmp(line, key, n) && line[n] == ',') return strtod(line + n + 1, NULL);
  printf("%s\n", key);
  CHECK(!m->csv); /* every counter is reported */
  return -1;
}

static double metric(const metrics *m, const char *level, const char *counter, const char *tensor) {
  char key[120];
  snprintf(key, sizeof key, "%s::%s::%s", level, counter, tensor);
  return total(m, key);
}

/* ---- totals from TileFlow's figures ------------------------------------------------- */
/* Instances of a memory in use on the way to an op. */
static int64_t used(const tf_tree *t, int op, int level) {
  int64_t n = 1;
  for (int i = t->op_node[op]; i >= 0; i = t->nodes[i].parent)
    for (int k = t->nodes[i].n_temporal; t->nodes[i].kind == TF_TILE && k < t->nodes[i].n_loops;
         k++)
      if (t->nodes[i].level < level) n *= t->nodes[i].loops[k].trip;
  return n;
}

/* Instances of a memory over which it averages fills: all below those in use of the one above. */
static int64_t averaged(const tf_tree *t, int op, int level) {
  const int64_t *mesh = t->arch->memories[level].mesh;
  return level ? mesh[0] * mesh[1] * used(t, op, level - 1) : 1;
}

/* Classes of steps in which a Tile of the level is entered: each Tile above is entered first, or in
 * a step of one of its loops. TileFlow cuts a mean to a whole number in each of them. */
static int64_t step_classes(const tf_tree *t, int op, int level) {
  int64_t n = 1;
  for (int i = t->op_node[op]; i >= 0; i = t->nodes[i].parent) {
    int64_t moving = 1;
    for (int k = 0;
         t->nodes[i].kind == TF_TILE && t->nodes[i].level < level && k < t->nodes[i].n_temporal;
         k++)
      moving += t->nodes[i].loops[k].trip > 1;
    n *= moving;
  }
  return n;
}

/* One counter of one tensor at one level. */
typedef struct {
  double theirs; /* summed over instances; below 0: cannot be told */
  int64_t ours, update, drain;
  double cut; /* words that fills may lack */
  bool made, kept_apart, inner, exact;
} pair;

/* It loads every partial sum, the first touch of it, too: as many reads as updates, as many fills
 * as drains. */
static bool first_touch(const pair *p, bool read, bool fill) {
  double slack = (fill ? p->cut : 0) + (p->exact ? 0 : 1e-5 * p->theirs);
  double most = (double)(read ? p->update : p->drain), more = p->theirs - (double)p->ours;
  if (!p->made || !(read || fill) || more <= 0) return false;
  return p->inner ? more <= most + slack : fabs(p->theirs - most) <= slack;
}

static int why(const pair *p, bool read, bool fill) {
  double ours = (double)p->ours, slack = p->exact ? 0 : 1e-5 * p->theirs;
  if (p->theirs < 0) return APART;
  if (fabs(ours - p->theirs) <= slack) return EQUAL;
  if (p->kept_apart) return LINK;
  if (fill && ours > p->theirs && ours - p->theirs < p->cut + slack) return MEAN;
  if (first_touch(p, read, fill)) return FIRST;
  return ours < p->theirs ? STAYS : OTHER;
}

typedef struct {
  int n[N_WHY];
  int cases, whole_smaller, whole_equal, whole_larger, tensor_larger, links;
  double their_words, our_words, their_rest,
      our_rest; /* DRAM words; the rest: without what jumps between instances */
  FILE *csv;
} tally;

static void compare(const run *e, const metrics *m, const char *name, int level, int z, tally *t) {
  static const char *const counter[] = {"Read", "Fill", "Update"};
  const tf_tensor *x = &e->c.spec->workload->tensors[z];
  const tf_counts *c = &e->c.r.counts[level * e->c.spec->workload->n_tensors + z];
  const char *memory = e->c.spec->arch->memories[level].name;
  bool inner = x->producer >= 0 && x->n_consumers > 0;
  int maker = x->producer >= 0 ? x->producer : x->consumers[0],
      reader = x->n_consumers ? x->consumers[0] : maker;
  double read = metric(m, memory, "Read", x->name), update = metric(m, memory, "Update", x->name);
  double fill = metric(m, memory, "Fill", x->name);
  int64_t over = averaged(e->c.tree, maker, level);
  double cut = (double)over * (double)(step_classes(e->c.tree, maker, level) +
                                       (inner ? step_classes(e->c.tree, reader, level) : 0));
  double theirs[3] = {inner ? update * (double)used(e->c.tree, maker, level) +
                                  (read - update) * (double)used(e->c.tree, reader, level)
                            : read * (double)used(e->c.tree, maker, level),
                      over == averaged(e->c.tree, reader, level) ? fill * (double)over : -1,
                      update * (double)used(e->c.tree, maker, level)};
  int64_t ours[3] = {c->read, c->fill, c->update};
  for (int k = 0; k < 3; k++) {
    pair p = {theirs[k],
              ours[k],
              c->update,
              c->drain,
              cut,
              x->producer >= 0,
              inner && e->links > 0,
              inner,
              m->json != NULL};
    int w = why(&p, k == 0, k == 1);
    t->n[w]++;
    if (w == OTHER)
      printf("%s %s %s %s: %" PRId64 ", TileFlow %.0f\n", name, memory, x->name, counter[k],
             ours[k], theirs[k]);
    if (t->csv)
      fprintf(t->csv, "%s,%s,%s,%s,%.0f,%" PRId64 ",%s\n", name, memory, x->name, counter[k],
              theirs[k], ours[k], why_text[w]);
    if (level == 0 && k != 1) {
      t->tensor_larger +=
          !p.kept_apart && (double)ours[k] > theirs[k] + (p.exact ? 0 : 1e-5 * theirs[k]);
      t->their_rest += p.kept_apart ? 0 : theirs[k];
      t->our_rest += p.kept_apart ? 0 : (double)ours[k];
      t->their_words += theirs[k];
      t->our_words += (double)ours[k];
    }
  }
}

static void compare_all(const run *e, const metrics *m, const char *name, tally *t) {
  double theirs = t->their_words, ours = t->our_words;
  for (int l = 0; l < e->c.spec->arch->n_memories; l++)
    for (int z = 0; z < e->c.spec->workload->n_tensors; z++)
      compare(e, m, name, l, z, t);
  if (t->csv)
    fprintf(t->csv, "%s,,,Cycle,%.0f,%.0f,time\n", name, total(m, "Cycle"), e->c.r.cycles);
  double more = (t->our_words - ours) - (t->their_words - theirs),
         slack = m->json ? 0 : 1e-5 * theirs;
  t->cases++;
  t->links += e->links > 0;
  t->whole_larger += more > slack;
  t->whole_equal += fabs(more) <= slack;
  t->whole_smaller += more < -slack;
}

/* ---- the cases ---------------------------------------------------------------------- */
static void check_expected(tally *t) {
  static const tf_setting tutorial[] = {{"MO", "4"}, {"KO", "2"},  {"LO", "1"},
                                        {"KM", "2"}, {"MM", "8"},  {"LI", "512"},
                                        {"NO", "1"}, {"LM", "32"}, {"NI", "64"}};
  static const struct {
    const char *folder, *files[MAX_FILES];
    const tf_setting *set; /* factors that TileFlow's search chose: expected.mapping.txt */
    size_t n_set;
  } all[] = {
      {"04-test-attention",
       {"arch/arch.yaml", "macro/macro.yaml", "map/map-flat.yaml", "prob/prob.yaml"},
       NULL,
       0},
      {"08-test-2mm",
       {"arch/arch-spatial.yaml", "map/map.yaml", "prob/prob-2mm.yaml", NULL},
       NULL,
       0},
      {"tutorial-self-attention",
       {"arch/arch.yaml", "macro/macro.yaml", "map/map.yaml", "prob/prob.yaml"},
       tutorial,
       9},
  };
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    char path[160];
    run e = {.n_files = 0};
    size_t len;
    for (int k = 0; k < MAX_FILES && all[i].files[k]; k++) {
      snprintf(path, sizeof path, DATA "%s/%s", all[i].folder, all[i].files[k]);
      add_file(&e, path);
    }
    snprintf(path, sizeof path, DATA "%s/expected.csv", all[i].folder);
    metrics m = {NULL, case_file(path, &len)};
    if (evaluate(&e, all[i].set, all[i].n_set)) {
      compare_all(&e, &m, all[i].folder, t);
      check_back(&e);
    }
    free(m.csv);
    drop(&e);
  }
}

/* TileFlow gives none of the random mappings that it does not get through any figure: these are
 * only evaluated. */
static void check_random(tally *t, int *silent) {
  static const char *const dims[] = {"B", "H", "M", "N", "A", "L"};
  json_t *all = json_load_file(DATA "attention-random.json", 0, NULL), *one;
  size_t i;
  CHECK_I64((int64_t)json_array_size(all), 216);
  json_array_foreach(all, i, one) {
    char arch[160], size[6][24], name[60];
    tf_setting set[6];
    run e = {.n_files = 0};
    for (int k = 0; k < 6; k++) {
      snprintf(
          size[k], sizeof size[k], "%lld",
          (long long)json_integer_value(json_object_get(json_object_get(one, "sizes"), dims[k])));
      set[k] = (tf_setting){dims[k], size[k]};
    }
    snprintf(arch, sizeof arch, DATA "13-test-attention/arch/%s.yaml",
             json_string_value(json_object_get(one, "arch")));
    snprintf(name, sizeof name, "%s-%zu", json_string_value(json_object_get(one, "dataflow")), i);
    add_file(&e, arch);
    add_file(&e, DATA "13-test-attention/prob/attention.yaml");
    add_text(&e, name, json_string_value(json_object_get(one, "mapping")));
    metrics m = {json_object_get(one, "metrics"), NULL};
    bool ok = evaluate(&e, set, 6);
    if (ok && m.json) compare_all(&e, &m, name, t);
    if (ok) check_back(&e);
    *silent += !m.json;
    drop(&e);
  }
  json_decref(all);
}

/* TileFlow's own mapping of the products that were measured in RTL, with the factors of each run:
 * the RTL's DRAM words. */
static int rtl_run(const int64_t v[15]) {
  static const char *const names[] = {"M",  "N",  "K",  "L",  "MO", "KO", "LO", "KM",
                                      "MM", "LI", "SX", "SY", "NO", "LM", "NI"};
  int64_t m = v[0], l = v[1], k = v[2], n = v[3], tile_m = v[4], tile_k = v[6];
  int64_t value[] = {m,           n, k,  l,  m / tile_m, k / tile_k, 1, tile_k / 16,
                     tile_m / 16, l, 16, 16, 1,          l / 16,     n};
  char text[15][24];
  tf_setting set[15];
  run e = {.n_files = 0};
  for (int i = 0; i < 15; i++) {
    snprintf(text[i], sizeof text[i], "%" PRId64, value[i]);
    set[i] = (tf_setting){names[i], text[i]};
  }
  add_file(&e, DATA "rtl-validation/arch/arch.yaml");
  add_file(&e, DATA "rtl-validation/map/map.yaml");
  add_file(&e, DATA "rtl-validation/prob/prob.yaml");
  int64_t read = 0, update = 0;
  if (evaluate(&e, set, 15))
    for (int z = 0; z < e.c.spec->workload->n_tensors; z++) {
      read += e.c.r.counts[z].read;
      update += e.c.r.counts[z].update;
    }
  drop(&e);
  return read * 16 == v[10] && update * 16 == v[11];
}

static void check_rtl(void) {
  size_t len;
  char *csv = case_file("tests/data/rtl/fused_gemm.csv", &len);
  int rows = 0, equal = 0;
  for (char *line = strchr(csv, '\n'); line && line[1]; line = strchr(line + 1, '\n')) {
    int64_t v[15];
    char *p = line + 1;
    for (int i = 0; i < 15; i++) {
      v[i] = strtoll(p, &p, 10);
      p += *p == ',';
    }
    rows++;
    equal += rtl_run(v);
  }
  free(csv);
  CHECK_I64(rows, 66);
  CHECK_I64(equal, 66);
}

/* Every mapping of a folder on every architecture, with and without sizes. */
static int check_folder(const char *arch, const char *prob, const char *maps, const char *macro) {
  glob_t a, m;
  int n = 0;
  if (!CHECK(glob(arch, 0, NULL, &a) == 0) || !CHECK(glob(maps, 0, NULL, &m) == 0)) return 0;
  for (size_t i = 0; i < a.gl_pathc; i++)
    for (size_t k = 0; k < m.gl_pathc; k++) {
      run e = {.n_files = 0};
      add_file(&e, a.gl_pathv[i]);
      add_file(&e, m.gl_pathv[k]);
      if (prob) add_file(&e, prob);
      if (macro) add_file(&e, macro);
      if (!CHECK(import(&e, NULL, 0))) printf("%s %s\n", a.gl_pathv[i], m.gl_pathv[k]);
      drop(&e);
      n++;
    }
  globfree(&a);
  globfree(&m);
  return n;
}

static void check_files(void) {
  static const char attention[] = DATA "13-test-attention/prob/attention.yaml",
                    cnn[] = DATA "12-test-fused-cnn/prob/prob.yaml";
  int n = 0;
  n += check_folder(DATA "13-test-attention/arch/*.yaml", attention,
                    DATA "13-test-attention/map/*.yaml", NULL);
  n += check_folder(DATA "13-test-attention/arch/*.yaml", attention,
                    DATA "13-test-attention/map-raw/*.yaml", NULL);
  n += check_folder(DATA "12-test-fused-cnn/arch/*.yaml", cnn, DATA "12-test-fused-cnn/map/*.yaml",
                    NULL);
  n += check_folder(DATA "12-test-fused-cnn/arch/*.yaml", cnn, DATA "12-test-fused-cnn/map/*.yaml",
                    DATA "12-test-fused-cnn/macro.yaml");
  n += check_folder(DATA "12-test-fused-cnn/arch/*.yaml", cnn,
                    DATA "12-test-fused-cnn/map-raw/*.yaml", DATA "12-test-fused-cnn/macro.yaml");
  n += check_folder(DATA "12-test-fused-cnn/fused-layer.yaml", NULL,
                    DATA "12-test-fused-cnn/macro.y?ml", NULL);
  n += check_folder(DATA "rtl-validation/arch/arch.yaml", DATA "rtl-validation/prob/prob.yaml",
                    DATA "rtl-validation/map/map.yaml", NULL);
  n += check_folder(DATA "rtl-validation/arch/arch.yaml", DATA "rtl-validation/prob/prob-gemm.yaml",
                    DATA "rtl-validation/map/map-gemm.yaml", NULL);
  n += check_folder(
      DATA "04-test-attention/arch/arch.yaml", DATA "04-test-attention/prob/prob.yaml",
      DATA "04-test-attention/map/map-flat.yaml", DATA "04-test-attention/macro/macro.yaml");
  n += check_folder(
      DATA "tutorial-self-attention/arch/arch.yaml", DATA "tutorial-self-attention/prob/prob.yaml",
      DATA "tutorial-self-attention/map/map.yaml", DATA "tutorial-self-attention/macro/macro.yaml");
  CHECK_I64(n, 193);
}

/* A mapping that stands there in both notations is one tree. */
static void check_notations(void) {
  static const tf_setting sizes[] = {{"B", "1"},  {"H", "8"},  {"M", "512"},
                                     {"N", "64"}, {"A", "64"}, {"L", "512"}};
  static const struct {
    const char *folder, *prob, *macro, *name;
  } all[] = {
      {"13-test-attention", "prob/attention", NULL, "chimera"},
      {"13-test-attention", "prob/attention", NULL, "flash-attention"},
      {"13-test-attention", "prob/attention", NULL, "flat"},
      {"13-test-attention", "prob/attention", NULL, "no-fuse"},
      {"13-test-attention", "prob/attention", NULL, "pipeline"},
      {"13-test-attention", "prob/attention", NULL, "tileflow"},
      {"12-test-fused-cnn", "prob/prob", "macro", "fused-layer"},
      {"12-test-fused-cnn", "prob/prob", "macro", "isos"},
      {"12-test-fused-cnn", "prob/prob", "macro", "naive"},
      {"12-test-fused-cnn", "prob/prob", "macro", "tileflow"},
  };
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    static const char *const notation[] = {"map", "map-raw"};
    char path[4][160], *text[2] = {NULL, NULL};
    for (int k = 0; k < 2; k++) {
      run e = {.n_files = 0};
      snprintf(path[0], sizeof path[0], DATA "%s/arch/edge.yaml", all[i].folder);
      snprintf(path[1], sizeof path[1], DATA "%s/%s.yaml", all[i].folder, all[i].prob);
      snprintf(path[2], sizeof path[2], DATA "%s/%s/%s.yaml", all[i].folder, notation[k],
               all[i].name);
      snprintf(path[3], sizeof path[3], DATA "%s/macro.yaml", all[i].folder);
      for (int n = 0; n < (all[i].macro ? 4 : 3); n++)
        add_file(&e, path[n]);
      if (CHECK(import(&e, sizes, all[i].macro ? 0 : 6) && e.c.tree))
        text[k] = tf_tree_text(e.c.tree);
      drop(&e);
    }
    CHECK_TEXT(text[1], text[0]);
    free(text[0]);
    free(text[1]);
  }
}

static void show(const tally *t) {
  printf("%d cases:", t->cases);
  for (int w = 0; w < N_WHY; w++)
    printf(" %d %s", t->n[w], why_text[w]);
  printf("; DRAM words: %d smaller, %d equal, %d larger, %d of these links; %.0f of %.0f, without "
         "links %.0f of %.0f\n",
         t->whole_smaller, t->whole_equal, t->whole_larger, t->links, t->our_words, t->their_words,
         t->our_rest, t->their_rest);
}

int main(int argc, char **argv) {
  tally expected = {.cases = 0}, random = {.cases = 0};
  int silent = 0;
  FILE *csv = argc > 1 ? fopen(argv[1], "w") : NULL;
  if (csv) fprintf(csv, "case,level,tensor,counter,tileflow,ours,why\n");
  expected.csv = random.csv = csv;
  check_files();
  check_notations();
  check_rtl();
  check_expected(&expected);
  check_random(&random, &silent);
  show(&expected);
  show(&random);
  if (csv) fclose(csv);
  static const int printed[N_WHY] = {[EQUAL] = 103, [FIRST] = 20, [STAYS] = 3};
  static const int drawn[N_WHY] = {
      [EQUAL] = 6754, [MEAN] = 657, [FIRST] = 1364, [STAYS] = 152, [LINK] = 262, [APART] = 81};
  for (int w = 0; w < N_WHY; w++) {
    CHECK_I64(expected.n[w], printed[w]);
    CHECK_I64(random.n[w], drawn[w]);
  }
  CHECK_I64(silent, 10);
  CHECK_I64(random.links, 53);
  CHECK_I64(expected.whole_larger, 0);
  CHECK_I64(random.whole_larger, 42); /* all of them by what cannot stay */
  CHECK_I64(expected.tensor_larger + random.tensor_larger, 0);
  return check_report();
}
