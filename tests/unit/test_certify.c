#define _XOPEN_SOURCE 700 /* popen */
/* Certificates (docs/CERTIFICATE.md) and the program that checks them, on random machines, products
 * and objectives: what it counts of any mapping, bypassed or not, is what the model counts; what
 * the solver proves passes; no mapping is below the bound; and a file in which one digit is another
 * one does not pass. */
#include <ctype.h>
#include <signal.h>
#include <sys/wait.h>

#include "tests/unit/draw_single.h"
#include "tileflow/solve.h"

/* ---- the checker ---------------------------------------------------------------------------- */
static bool passes(const char *text, bool loud) {
  FILE *f = popen(loud ? CERTIFY " -" : CERTIFY " - >/dev/null", "w");
  if (!f) exit(2);
  fputs(text, f);
  const int status = pclose(f);
  if (status == -1 || !WIFEXITED(status) || WEXITSTATUS(status) > 1) {
    printf("the checker ended with %d\n", status);
    exit(1);
  }
  return WEXITSTATUS(status) == 0;
}

/* Writes the digest of the lines before it, as one who means to deceive would. */
static void sign(char *text) {
  char *end = strstr(text, "\nend ");
  uint64_t h = UINT64_C(0xcbf29ce484222325);
  for (const char *c = text; c <= end; c++)
    h = (h ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
  snprintf(end + 1, strlen(end + 1) + 1, "end %016llx\n", (unsigned long long)h);
}

/* ---- one number changed --------------------------------------------------------------------- */
typedef struct {
  int proofs, changed, signed_anew, believed; /* believed: of those signed anew, that pass */
  int homes, homes_changed; /* certificates, and changed ones, of problems with homes */
  int64_t boxes, mappings;
} seen;

/* A digit behind a character of the text: one of a number, where `from` is past the names of the
 * head. */
static char *some_digit(tf_rng *g, char *text, char *from) {
  const int n = (int)(strstr(text, "\nend ") - from);
  char *at = from + pick(g, 0, n - 1);
  while (!isdigit((unsigned char)*at))
    at = at[1] == 'e' && at[2] == 'n' ? from : at + 1;
  return at;
}

/* Another digit for one of the copy: behind the head, or (anywhere) maybe in it. */
static char *change(tf_rng *g, char *copy, bool anywhere) {
  char *at = some_digit(g, copy, anywhere && pick(g, 0, 1) ? copy : strstr(copy, "\ntile "));
  const char old = *at;
  while (*at == old)
    *at = (char)('0' + pick(g, 0, 9));
  return at;
}

static void show_believed(char *copy, char *at) {
  *strchr(at, '\n') = 0;
  while (at > copy && at[-1] != '\n')
    at--;
  printf("believed, once it is signed: %s\n", at);
}

static void try_change(tf_rng *g, const char *text, seen *n) {
  char *copy = strdup(text), *at = change(g, copy, true);
  n->changed++;
  CHECK(!passes(copy, false));
  if (at > strstr(copy, "\ntile ")) { /* else it may be a true statement of another machine */
    sign(copy);
    n->signed_anew++;
    n->believed += passes(copy, false);
    if (passes(copy, false)) show_believed(copy, at);
  }
  free(copy);
}

/* test_certify change SEED IN OUT SIGNED, for bench/results-certificate.sh: a certificate with a
 * digit changed. */
static int change_file(char **argv) {
  char *text = NULL;
  size_t room = 0;
  FILE *in = fopen(argv[3], "r"), *out = fopen(argv[4], "w");
  const bool read = in && getdelim(&text, &room, 0, in) > 0;
  if (in) fclose(in);
  tf_rng g = tf_rng_new((uint64_t)atoll(argv[2]), 37);
  if (!read || !out || !strstr(text, "\nend ")) return 2;
  change(&g, text, false);
  if (atoi(argv[5])) sign(text);
  fputs(text, out);
  free(text);
  return fclose(out) ? 2 : 0;
}

/* ---- cases ---------------------------------------------------------------------------------- */
static double figure_of(tf_objective o, const tf_result *r, const tf_workload *wl) {
  const double words = tf_result_traffic(wl, r);
  return o == TF_LATENCY  ? r->cycles
         : o == TF_ENERGY ? r->energy_pj
         : o == TF_EDP    ? r->cycles * r->energy_pj
                          : words;
}

/* Has each home hold its tensor; false where instances further out would have parts of a sum that
 * lives in one. */
static bool at_home(const tf_spec *s, mapping *m) {
  const tf_op *op = &s->workload->ops[0];
  for (int z = 0; z < m->op->n_tensors; z++) {
    const int home =
        tf_arch_home(s->arch, &s->workload->tensors[z ? op->reads[z - 1].tensor : op->out]);
    if (home) m->past[home] &= ~(UINT32_C(1) << z);
    for (int l = 0; l < home && !z; l++)
      for (int d = 0; d < m->op->n_dims; d++)
        if (!(m->op->tensor[z].dims >> d & 1) && m->spread[l][0][d] * m->spread[l][1][d] > 1)
          return false;
  }
  return true;
}

/* Any mapping: the checker counts what the model counts; and no mapping is below a bound that was
 * proved. */
static void try_mapping(tf_rng *g, const tf_spec *s, mapping *m, tf_objective o, double bound,
                        seen *n) {
  static page p;
  draw_mapping(g, m);
  if (!at_home(s, m)) return;
  put_mapping(m, s->workload, &p);
  tf_diags *d = tf_diags_new();
  tf_tree *tree = tf_tree_parse(p.text, (tf_loc){0}, s->arch, s->workload, d);
  tf_model *model = tree ? tf_model_new(tree, d) : NULL;
  tf_result r;
  CHECK(model != NULL);
  const bool fits = model && tf_model_eval(model, NULL, &r) && r.feasible;
  if (fits && bound > 0) CHECK(figure_of(o, &r, s->workload) >= bound * (1 - 1e-9));
  tf_certificate c = {0};
  const tf_certificate_opts few = {.objective = o, .budget = {.max_evals = 20000}};
  if (fits && bound <= 0 && CHECK(tf_certify(tree, &few, &c, d))) {
    const bool ok = passes(c.text, false);
    CHECK(ok);
    if (!ok) printf("%s%.600s\n", p.text, c.text), (void)passes(c.text, true);
    n->mappings++;
    n->homes += tf_arch_homes(s->arch, s->workload);
    n->boxes += c.boxes;
  }
  tf_certificate_free(&c);
  tf_model_free(model);
  tf_tree_free(tree);
  tf_diags_free(d);
}

static void try_proof(tf_rng *g, const tf_spec *s, mapping *m, tf_objective o, seen *n) {
  enum { CHANGES = 6, MAPPINGS = 30 };
  const tf_solve_opts opts = {.objective = o, .budget = {.threads = 1, .max_evals = 4000}};
  tf_diags *d = tf_diags_new();
  tf_solve_result *r = tf_solve_exact(s->arch, s->workload, &opts, d);
  tf_certificate c = {0};
  const tf_certificate_opts few = {.objective = o, .budget = {.max_evals = 20000}};
  if (r && r->tree && tf_certify(r->tree, &few, &c, d)) {
    const bool ok = passes(c.text, false);
    CHECK(ok);
    if (!ok) printf("%.600s\n", c.text);
    n->proofs += c.bound >= c.value * (1 - 1e-8);
    for (int i = 0; i < CHANGES; i++)
      try_change(g, c.text, n);
    n->homes += tf_arch_homes(s->arch, s->workload);
    n->homes_changed += tf_arch_homes(s->arch, s->workload) ? CHANGES : 0;
    for (int i = 0; i < MAPPINGS; i++)
      try_mapping(g, s, m, o, c.bound, n);
  }
  tf_certificate_free(&c);
  tf_solve_free(r);
  tf_diags_free(d);
}

/* Takes from the machine what no certificate states; a machine that has it is refused. */
static void plain(const tf_spec *s) {
  bool any = false;
  for (int l = 0; l < s->arch->n_memories; l++) {
    tf_memory *mem = &s->arch->memories[l];
    any |=
        mem->access > 1 || mem->drain_given || mem->leak_pj > 0 || mem->topology != TF_NO_TOPOLOGY;
  }
  for (int u = 0; u < s->arch->n_units; u++)
    any |= s->arch->units[u].leak_pj > 0;
  tf_diags *d = tf_diags_new();
  CHECK(!any || !tf_certifiable(s->arch, s->workload, d));
  tf_diags_free(d);
  for (int l = 0; l < s->arch->n_memories; l++) {
    tf_memory *mem = &s->arch->memories[l];
    mem->access = 1, mem->drain_given = false, mem->leak_pj = 0, mem->topology = TF_NO_TOPOLOGY;
  }
  for (int u = 0; u < s->arch->n_units; u++)
    s->arch->units[u].leak_pj = 0;
}

/* Gives some inner memories parts, each for operands of its own. */
static void give_parts(tf_rng *g, const tf_spec *s) {
  static const char *const name[] = {"a", "b", "c"};
  for (int l = 1; l < s->arch->n_memories; l++) {
    tf_memory *mem = &s->arch->memories[l];
    const int64_t room = mem->capacity_words < 0 ? 4096 : mem->capacity_words;
    if (pick(g, 0, 1)) continue;
    mem->parts.n = pick(g, 1, TF_N_ROLES);
    for (int i = 0; i < mem->parts.n; i++)
      mem->parts.list[i] = (tf_mem_part){.name = name[i],
                                         .capacity_words = room * pick(g, 2, 10) / 10 + 1,
                                         .double_buffered = pick(g, 0, 3) == 0,
                                         .word_bits = pick(g, 0, 2) ? 0 : 32};
    for (int r = 0; r < TF_N_ROLES; r++) /* some in none */
      if (pick(g, 0, 5)) mem->parts.list[pick(g, 0, mem->parts.n - 1)].roles |= 1u << r;
  }
}

/* No certificate passes in which is[i] stands for the first was[i] from there on, signed anew. */
static void check_changes(const char *text, const char *from, const char *const *was,
                          const char *const *is, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const char *at = from ? strstr(from, was[i]) : NULL;
    char *copy = calloc(1, strlen(text) + 64);
    if (!CHECK(copy && at)) exit(1);
    sprintf(copy, "%.*s%s%s", (int)(at - text), text, is[i], at + strlen(was[i]));
    sign(copy);
    CHECK(!passes(copy, false));
    free(copy);
  }
}

/* A mapping that fills the parts of a memory to the last word: their lines in its certificate, and
 * changes of each with which it would not fit. */
static void check_parts(void) {
  static const char text[] =
      "architecture:\n  name: a\n  clock: 1 GHz\n  word-bits: 16\n  memories:\n"
      "  - {name: GM, bandwidth: 16}\n"
      "  - name: L0\n    bandwidth: 64\n    parts:\n"
      "    - {name: L0A, holds: [left], capacity: 128}\n"
      "    - {name: L0B, holds: [right], capacity: 256, double-buffered: true}\n"
      "    - {name: L0C, holds: [result], capacity: 512, word-bits: 32}\n  compute:\n"
      "  - {name: u, ops: [mac], below: L0}\nworkload:\n  name: w\n  dims: {m: 32, n: 16, k: 8}\n"
      "  ops: [\"C[m,n] += A[m,k] * B[k,n]\"]\nmapping: |\n  GM for m=2\n"
      "    L0 for m=16 n=16 k=8\n      op C\n";
  static const char *const was[] = {"capacity 128 ", "capacity 256 ", "capacity 512 ",
                                    "bits 1 ",       "bits 32 ",      "twice no h",
                                    "holds left",    "holds right"},
                           *const is[] = {"capacity 127 ", "capacity 255 ", "capacity 511 ",
                                          "bits 17 ",      "bits 33 ",      "twice yes h",
                                          "holds result",  "holds left"};
  tf_text in = {"parts", text, strlen(text)};
  tf_diags *d = tf_diags_new();
  tf_spec *s = tf_spec_read_texts(&in, 1, NULL, 0, d);
  tf_tree *t = s ? tf_tree_parse(s->mapping_text, s->mapping_at, s->arch, s->workload, d) : NULL;
  const tf_certificate_opts opts = {.objective = TF_LATENCY, .budget = {.max_evals = 20000}};
  tf_certificate c = {0};
  CHECK(t && tf_certify(t, &opts, &c, d) && passes(c.text, false));
  if (c.text) check_changes(c.text, strstr(c.text, "\npart "), was, is, sizeof was / sizeof *was);
  tf_certificate_free(&c);
  tf_tree_free(t);
  tf_spec_free(s);
  tf_diags_free(d);
}

/* Gives some tensors homes in inner memories, which have room for them or not. */
static void give_homes(tf_rng *g, const tf_spec *s) {
  static tf_chosen names[TF_SINGLE_TILES][TF_SINGLE_TENSORS];
  for (int l = 0; l < s->arch->n_memories; l++)
    s->arch->memories[l].home.n = 0, s->arch->memories[l].home.names = names[l];
  for (int z = 0; z < s->workload->n_tensors; z++) {
    tf_memory *mem = &s->arch->memories[pick(g, 1, s->arch->n_memories - 1)];
    if (pick(g, 0, 1))
      mem->home.names[mem->home.n++] = (tf_chosen){.name = s->workload->tensors[z].name};
    if (pick(g, 0, 3) == 0) mem->capacity_words = -1;
  }
}

/* A product whose first operand lives in the middle memory: the room for it, to the last word, and
 * every number of what the certificate says of the home changed. */
static void check_homes(void) {
  static const char text[] =
      "architecture:\n  name: a\n  clock: 1 GHz\n  word-bits: 16\n  memories:\n"
      "  - {name: D, bandwidth: 4}\n"
      "  - {name: H, mesh: [2, 1], bandwidth: 8, capacity: 248}\n"
      "  - {name: R, bandwidth: 16, capacity: 64}\n"
      "  compute:\n  - {name: u, ops: [mac], below: R}\nhome: {A: H}\nworkload:\n  name: w\n"
      "  dims: {m: 32, n: 6, k: 8}\n  ops: [\"C[m,n] += A[m,k] * B[k,n]\"]\nmapping: |\n"
      "  D for m=4 spatial m=2@x\n    H bypass B for n=6 k=2\n      R for m=4 k=4\n        op C\n";
  static const char *const was[] = {"capacity 248", " home H", "bits 16 home", "mesh 2 1",
                                    "bypass B"},
                           *const is[] = {"capacity 247", " home R", "bits 17 home", "mesh 1 2",
                                          "bypass A"};
  tf_text in = {"homes", text, strlen(text)};
  tf_diags *d = tf_diags_new();
  tf_spec *s = tf_spec_read_texts(&in, 1, NULL, 0, d);
  tf_tree *t = s ? tf_tree_parse(s->mapping_text, s->mapping_at, s->arch, s->workload, d) : NULL;
  const tf_certificate_opts opts = {.objective = TF_LATENCY, .budget = {.max_evals = 20000}};
  tf_certificate c = {0};
  const bool ok = t && tf_certify(t, &opts, &c, d) && passes(c.text, false);
  if (!CHECK(ok)) printf("%s", tf_diags_text(d)), exit(1);
  if (c.text) check_changes(c.text, c.text, was, is, sizeof was / sizeof *was);
  tf_certificate_free(&c);
  tf_tree_free(t);
  tf_spec_free(s);
  tf_diags_free(d);
}

static void try_problem(tf_rng *g, seen *n) {
  enum { MAPPINGS = 4 };
  static page p;
  tf_diags *d = tf_diags_new();
  tf_spec *s = draw_problem(g, &p, d);
  if (s) plain(s), give_parts(g, s);
  if (s && pick(g, 0, 2) == 0) give_homes(g, s);
  const tf_x_shape alone = {.kind = TF_SEQ};
  tf_x_template *t = s ? tf_x_template_new(s->arch, s->workload, &alone, d) : NULL;
  const tf_objective o = (tf_objective)pick(g, 0, TF_N_OBJECTIVES - 1);
  tf_single_op op;
  CHECK(t != NULL);
  if (t && tf_single_op_of(t, &op) && op.n_dims) {
    mapping m = {.op = &op, .t = t, .x = &t->tiles[0]};
    for (int i = 0; i < MAPPINGS; i++)
      try_mapping(g, s, &m, o, 0, n);
    if (op.points < 20000) try_proof(g, s, &m, o, n);
  }
  tf_x_template_free(t);
  tf_spec_free(s);
  tf_diags_free(d);
}

int main(int argc, char **argv) { /* test_certify CASES SEED: others */
  if (argc == 6) return change_file(argv);
  const int cases = argc > 2 ? atoi(argv[1]) : 10;
  tf_rng g = tf_rng_new(argc > 2 ? (uint64_t)atoll(argv[2]) : 1, 37);
  seen n = {0};
  check_parts();
  check_homes();
  signal(SIGPIPE, SIG_IGN); /* the checker reads up to the line that is wrong */
  for (int i = 0; i < cases; i++)
    try_problem(&g, &n);
  const bool few = cases < 10; /* of which chance may leave none of a kind */
  CHECK(few || (n.mappings >= cases &&
                n.proofs * 4 >= cases)); /* else most were of no kind that has certificates */
  CHECK(n.believed * 20 <=
        n.signed_anew +
            10); /* a change may leave a proof of something else that is true: one of few */
  CHECK(few || (n.homes > 0 && n.homes_changed > 0));
  printf("%d mappings, %d proofs, %d files changed; of %d signed anew %d pass; %d and %d changed "
         "with homes; %lld boxes\n",
         (int)n.mappings, n.proofs, n.changed, n.signed_anew, n.believed, n.homes, n.homes_changed,
         (long long)n.boxes);
  return check_report();
}
