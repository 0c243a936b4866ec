/* model/tree/build: a tree made node by node is the one that its text reads back to, and where it
 * breaks a rule the same errors are told at the same lines: for every mapping that we ship, for
 * those of tests/golden, and for random ones as they are drawn and with one thing changed. */
#include <dirent.h>
#include <sys/stat.h>

#include "model/tree/build.h"
#include "tests/oracle/gen.h"
#include "tests/unit/case.h"

static const tf_loc start = {0, 1, 1, 1};
static int mappings, refused;

/* ---- built against read --------------------------------------------------------------- */
/* Errors of the same code and words, on the same lines. */
static bool same_errors(const tf_diags *a, const tf_diags *b) {
  bool same = tf_diags_count(a) == tf_diags_count(b);
  for (size_t i = 0; same && i < tf_diags_count(a); i++) {
    const tf_diag *x = tf_diags_at(a, i), *y = tf_diags_at(b, i);
    same = x->code == y->code && x->note == y->note && strcmp(x->msg, y->msg) == 0 &&
           x->at.line == y->at.line;
  }
  return same;
}

/* As if the tree had been made in memory. */
static void forget_places(tf_tree *t) {
  const tf_loc none = {0};
  for (int i = 0; i < t->n_nodes; i++) {
    tf_node *n = &t->nodes[i];
    n->at = none;
    for (int k = 0; k < n->n_loops; k++)
      n->loops[k].at = none;
    for (int k = 0; k < n->n_keep; k++)
      n->keep[k].at = none;
    for (int k = 0; k < n->n_bypass; k++)
      n->bypass[k].at = none;
    for (int k = 0; k < n->n_retain; k++)
      n->retain[k].at = none;
    for (int k = 0; k < n->n_stream; k++)
      n->stream[k].at = none;
  }
}

static bool same_lines(const tf_tree *a, const tf_tree *b) {
  bool same = true;
  for (int i = 0; same && i < a->n_nodes; i++)
    same = a->nodes[i].at.line == b->nodes[i].at.line && a->nodes[i].at.col == b->nodes[i].at.col;
  return same;
}

static bool same_place(tf_loc a, tf_loc b) {
  return a.file == b.file && a.line == b.line && a.col == b.col && a.len == b.len;
}

static bool same_named(const tf_named *a, const tf_named *b, int n) {
  bool same = true;
  for (int i = 0; i < n; i++)
    same &= same_place(a[i].at, b[i].at);
  return same;
}

/* Of trees that are the same but for places. */
static bool same_places(const tf_tree *a, const tf_tree *b) {
  bool same = true;
  for (int i = 0; same && i < a->n_nodes; i++) {
    const tf_node *x = &a->nodes[i], *y = &b->nodes[i];
    same = same_place(x->at, y->at) && same_named(x->bypass, y->bypass, x->n_bypass) &&
           same_named(x->retain, y->retain, x->n_retain) &&
           same_named(x->stream, y->stream, x->n_stream);
    for (int k = 0; k < x->n_loops; k++)
      same &= same_place(x->loops[k].at, y->loops[k].at);
    for (int k = 0; k < x->n_keep; k++)
      same &= same_place(x->keep[k].at, y->keep[k].at);
  }
  return same;
}

/* A tree that was made stands, once it has been given a place, where the reader of its text puts
 * it. */
static bool places_as_read(tf_tree *built, const char *text) {
  tf_diags *d = tf_diags_new();
  bool same = d && tf_tree_place(built, "(mapping)", d);
  const tf_loc at = {built->nodes[0].at.file, 1, 1, 1};
  tf_tree *read = same ? tf_tree_parse(text, at, built->arch, built->workload, d) : NULL;
  same = same && read && at.file > 0 && !strcmp(tf_diags_file_name(d, at.file), "(mapping)") &&
         same_places(built, read);
  tf_tree_free(read);
  tf_diags_free(d);
  return same;
}

/* Nodes that may break rules: built, and read from their text.  True if they break none. */
static bool compare(const tf_tree *draft, const char *name) {
  tf_diags *d = tf_diags_new(), *e = tf_diags_new();
  char *text = tf_tree_text(draft);
  tf_tree *built = tf_tree_copy(draft, draft->arch, draft->workload, d);
  tf_tree *read = tf_tree_parse(text, start, draft->arch, draft->workload, e);
  bool same = same_errors(d, e) && !built == !read;
  if (same && built)
    same = case_same_tree(built, read) && same_lines(built, read) && places_as_read(built, text);
  if (!CHECK(same)) {
    printf("%s:\n%s", name, text);
    case_complain(d);
    case_complain(e);
  }
  bool legal = built != NULL;
  free(text);
  tf_tree_free(built);
  tf_tree_free(read);
  tf_diags_free(d);
  tf_diags_free(e);
  return legal;
}

/* ---- mappings in files ------------------------------------------------------------------- */
/* The files that its comment "# tileflow eval FILE..." names, or itself. */
static tf_spec *spec_of(const char *path, char *text, tf_diags *d) {
  enum { MOST = 8 };
  const char *paths[MOST] = {path};
  size_t n = 1;
  char *line = strstr(text, "# tileflow eval ");
  if (line && !(strstr(text, "\narchitecture:") && strstr(text, "\nworkload:"))) {
    line[strcspn(line, "\n")] = '\0';
    n = 0;
    for (char *word = strtok(line + strlen("# tileflow eval "), " "); word && n < MOST;
         word = strtok(NULL, " "))
      paths[n++] = word;
  }
  return tf_spec_read(paths, n, NULL, 0, d);
}

static void check_file(const char *path) {
  size_t len;
  char *text = case_file(path, &len);
  test_case e = {.d = tf_diags_new()};
  if (text && strstr(text, "\nmapping:")) {
    e.spec = spec_of(path, text, e.d);
    case_prepare(&e);
    if (!CHECK(e.tree)) {
      printf("%s\n", path);
      case_complain(e.d);
    } else {
      tf_tree *copy = tf_tree_copy(e.tree, e.spec->arch, e.spec->workload, e.d);
      CHECK(copy && case_same_tree(e.tree, copy) &&
            copy->nodes[0].at.line == e.tree->nodes[0].at.line);
      tf_tree_free(copy);
      forget_places(e.tree);
      CHECK(compare(e.tree, path));
      mappings++;
    }
  }
  free(text);
  case_drop(&e);
}

static void check_folder(const char *path) {
  DIR *folder = opendir(path);
  struct stat is;
  for (const struct dirent *f; folder && (f = readdir(folder)) != NULL;) {
    char below[1024];
    size_t len = strlen(f->d_name);
    snprintf(below, sizeof below, "%s/%s", path, f->d_name);
    if (f->d_name[0] == '.' || stat(below, &is) != 0) continue;
    if (S_ISDIR(is.st_mode)) check_folder(below);
    if (len > 5 && strcmp(f->d_name + len - 5, ".yaml") == 0) check_file(below);
  }
  if (folder) closedir(folder);
}

static void test_files(void) {
  check_folder("workloads");
  check_folder("examples");
  check_folder("tests/golden/in");
  CHECK(mappings >= 40);
}

/* ---- random mappings, with one thing changed --------------------------------------------- */
static void change_tile(tf_tree *t, tf_node *n, tf_rng *g) {
  tf_loop *l = n->n_loops ? &n->loops[rng_between(g, 0, n->n_loops - 1)] : NULL;
  switch (rng_between(g, 0, 5)) {
  case 0: n->level = rng_between(g, 0, t->arch->n_memories - 1); break;
  case 1: n->n_loops = n->n_temporal = 0; break;
  case 2: n->n_bypass = n->n_bypass > 0 ? n->n_bypass - 1 : 0; break;
  case 3:
    if (l) l->dim = rng_between(g, 0, t->workload->n_dims - 1);
    break;
  case 4:
    if (l && l->axis != TF_TEMPORAL)
      l->axis = l->axis == TF_SPATIAL_X ? TF_SPATIAL_Y : TF_SPATIAL_X;
    break;
  default:
    if (l) l->trip = rng_chance(g, 5) ? 0 : rng_between(g, 1, 5);
    t->open |= l && l->trip == 0;
  }
}

static void change_scope(tf_tree *t, tf_node *n, tf_rng *g) {
  switch (rng_between(g, 0, 3)) {
  case 0: n->scope = (tf_scope)rng_between(g, 0, TF_N_SCOPES - 1); break;
  case 1:
    if (n->n_keep) n->keep[0].level = rng_between(g, 0, t->arch->n_memories - 1);
    break;
  case 2:
    if (n->n_keep) n->keep[n->n_keep - 1].tensor = rng_between(g, 0, t->workload->n_tensors - 1);
    break;
  default:
    if (n->n_stream)
      n->stream[n->n_stream - 1].tensor = rng_between(g, 0, t->workload->n_tensors - 1);
  }
}

static void change(tf_tree *t, tf_rng *g) {
  tf_node *n = &t->nodes[rng_between(g, 0, t->n_nodes - 1)];
  switch (n->kind) {
  case TF_TILE: change_tile(t, n, g); break;
  case TF_SCOPE: change_scope(t, n, g); break;
  case TF_OP: n->op = rng_between(g, 0, t->workload->n_ops - 1); break;
  }
}

static void test_random(void) {
  enum { CASES = 400 };
  static page p;
  for (uint64_t seed = 1; seed <= CASES; seed++) {
    unsigned features = 0;
    const char *kind;
    tf_rng g = tf_rng_new(seed, 7);
    test_case e = {0};
    CHECK(gen_case(seed, &p, &features, &kind));
    case_read(&e, p.text);
    if (e.tree) {
      forget_places(e.tree);
      CHECK(compare(e.tree, kind));
      for (int k = 0; k < 4; k++) { /* changes add up */
        change(e.tree, &g);
        refused += !compare(e.tree, kind);
      }
    }
    case_drop(&e);
  }
  CHECK(refused > CASES); /* the changes do break rules */
}

/* ---- what only a builder can be asked ------------------------------------------------------ */
static const char gemm[] =
    "architecture:\n  memories:\n  - {name: DRAM}\n  - {name: L0, mesh: [4, 4]}\n"
    "  compute:\n  - {name: matrix, ops: [mac], below: L0}\n"
    "workload:\n  dims: {m: 8, k: 4, n: 6}\n  ops:\n  - C[m,n] += A[m,k] * B[k,n]\n";

static void test_order(void) {
  test_case e = {0};
  case_read(&e, gemm);
  tf_build *b = e.spec ? tf_build_new(e.spec->arch, e.spec->workload, e.d) : NULL;
  if (!CHECK(b)) return;
  int top = tf_build_tile(b, -1, 0);
  tf_build_loop(b, (tf_loop){.dim = 0, .trip = 4, .axis = TF_SPATIAL_X});
  tf_build_loop(b, (tf_loop){.dim = 0, .trip = 2}); /* stands outside the spatial one */
  for (int i = 0; i < 20; i++)
    tf_build_loop(b, (tf_loop){.dim = 1, .trip = 1});
  int low = tf_build_tile(b, top, 1);
  tf_build_loop(b, (tf_loop){.dim = 1, .trip = 4});
  tf_build_loop(b, (tf_loop){.dim = 2, .trip = 6});
  tf_build_op(b, low, 0);
  tf_tree *t = tf_build_tree(b);
  char *text = t ? tf_tree_text(t) : NULL;
  CHECK(text && strncmp(text, "DRAM for m=2 k=1 k=1 ", 21) == 0 &&
        strstr(text, " k=1 spatial m=4@x\n  L0 for k=4 n=6\n"));
  free(text);
  tf_tree_free(t);
  case_drop(&e);
}

static void test_faults(void) {
  test_case e = {0};
  case_read(&e, gemm);
  tf_build *b = e.spec ? tf_build_new(e.spec->arch, e.spec->workload, e.d) : NULL;
  if (!CHECK(b)) return;
  int n = tf_build_tile(b, -1, 0);
  tf_build_bypass(b, (tf_named){.tensor = 0});
  tf_build_bypass(b, (tf_named){.tensor = 0}); /* twice */
  while (n >= 0)
    n = tf_build_tile(b, n, 0); /* too deep at last */
  tf_build_loop(b, (tf_loop){.dim = 0, .trip = 4});
  CHECK(!tf_build_whole(b) && tf_build_draft(b)->n_nodes == TF_TREE_MAX_DEPTH);
  CHECK(tf_build_tree(b) == NULL && tf_diags_errors(e.d) == 2);
  CHECK(tf_diags_at(e.d, 0)->code == TF_E_DUP && tf_diags_at(e.d, 0)->at.line == 1);
  b = tf_build_new(e.spec->arch, e.spec->workload, NULL);
  CHECK(b && tf_build_tree(b) == NULL); /* empty */
  b = tf_build_new(e.spec->arch, e.spec->workload, NULL);
  tf_build_free(b);
  tf_build_free(NULL);
  CHECK(tf_build_tree(NULL) == NULL);
  case_drop(&e);
}

int main(void) {
  test_files();
  test_random();
  test_order();
  test_faults();
  return check_report();
}
