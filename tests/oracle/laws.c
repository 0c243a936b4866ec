/* Laws that any two machines obey, on random mappings: what is faster in one respect is not slower,
 * what is larger still fits, and exchanged axes change nothing. oracle_laws [--cases N] [--seed S]
 * [--masked] [--file YAML...]
 * --file: of these mappings alone. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/oracle/gen.h"
#include "tileflow/tree.h"

enum { MEMORIES = 16, UNITS = 64, WALK = 20000 };

typedef struct {
  tf_arch arch;
  tf_memory memories[MEMORIES];
  tf_unit units[UNITS];
} machine;

typedef struct {
  uint64_t seed;
  const tf_spec *spec;
  const page *p;
  long cases, runs, broken, lower;
} session;

/* One evaluation. */
typedef struct {
  tf_diags *d;
  tf_tree *tree;
  tf_model *model;
  tf_result r;
  bool ok;
} figures;

/* Builds with asserts and sanitizers look at accesses, not at figures: of files they take one in so
 * many. */
#ifdef NDEBUG
enum { FILES_EACH = 1 };
#else
enum { FILES_EACH = 10 };
#endif

static void copy(machine *to, const tf_arch *from) {
  to->arch = *from;
  memcpy(to->memories, from->memories, (size_t)from->n_memories * sizeof *from->memories);
  memcpy(to->units, from->units, (size_t)from->n_units * sizeof *from->units);
  to->arch.memories = to->memories;
  to->arch.units = to->units;
}

static figures evaluate(const session *s, const machine *m, const char *mapping) {
  figures f = {.d = tf_diags_new()};
  f.tree = tf_tree_parse(mapping, s->spec->mapping_at, &m->arch, s->spec->workload, f.d);
  f.model = f.tree ? tf_model_new(f.tree, f.d) : NULL;
  if (f.model) tf_model_walk_limit(f.model, WALK);
  f.ok = f.model && tf_model_eval(f.model, NULL, &f.r);
  return f;
}

static void drop(figures *f) {
  tf_model_free(f->model);
  tf_tree_free(f->tree);
  tf_diags_free(f->d);
}

static void complain(session *s, const char *law, const char *of, double was, double is) {
  if (s->broken++ < 10)
    printf("# seed %" PRIu64 ": %s of %s: %.12g, now %.12g\n%s\n", s->seed, law, of, was, is,
           s->p->text);
}

/* ---- faster --------------------------------------------------------------------------------- */

/* A faster machine is given; mappings stay as they are. */
static void not_slower(session *s, const machine *m, const figures *was, const char *what,
                       const char *of) {
  figures is = evaluate(s, m, s->spec->mapping_text);
  s->runs++;
  if (!is.ok)
    complain(s, what, of, was->r.cycles, 0);
  else if (is.r.cycles > was->r.cycles * (1 + 1e-9))
    complain(s, what, of, was->r.cycles, is.r.cycles);
  else
    s->lower += is.r.cycles < was->r.cycles * (1 - 1e-9);
  if (is.ok && is.r.feasible != was->r.feasible)
    complain(s, "room, with more", of, was->r.feasible, is.r.feasible);
  drop(&is);
}

static void faster_memory(session *s, const figures *was, int l) {
  machine m;
  tf_memory *k = &m.memories[l];
  for (int side = 0; side < 2; side++) {
    copy(&m, s->spec->arch);
    *(side ? &k->write_bw : &k->read_bw) *= 2;
    if (k->one_port && side) continue;
    if (k->one_port) k->write_bw = k->read_bw;
    not_slower(s, &m, was, side ? "twice the write bandwidth" : "twice the read bandwidth",
               k->name);
  }
  copy(&m, s->spec->arch);
  k->latency /= 2;
  not_slower(s, &m, was, "half the latency", k->name);
  copy(&m, s->spec->arch);
  k->issue /= 2;
  not_slower(s, &m, was, "half the issue time", k->name);
}

static void faster_unit(session *s, const figures *was, int u) {
  machine m;
  copy(&m, s->spec->arch);
  m.units[u].rate *= 2;
  not_slower(s, &m, was, "twice the rate", m.units[u].name);
  copy(&m, s->spec->arch);
  m.units[u].pipeline /= 2;
  not_slower(s, &m, was, "half the pipeline", m.units[u].name);
}

/* ---- larger --------------------------------------------------------------------------------- */

/* A single instance is shared by what runs at once; of two, each child has its own, which is
 * another mapping. */
static void larger_mesh(session *s, const figures *was, int64_t *mesh, const machine *m,
                        const char *of) {
  if (mesh[0] * mesh[1] < 2) return;
  for (int a = 0; a < 2; a++) {
    mesh[a] += 1 + (int64_t)(s->seed % 3);
    figures is = evaluate(s, m, s->spec->mapping_text);
    s->runs++;
    if (!is.ok || (was->r.feasible && !is.r.feasible)) complain(s, "a larger mesh", of, 1, 0);
    if (is.ok &&
        (is.r.cycles > was->r.cycles * (1 + 1e-9) || is.r.cycles < was->r.cycles * (1 - 1e-9)))
      complain(s, "cycles with a larger mesh", of, was->r.cycles, is.r.cycles);
    drop(&is);
  }
}

static void larger(session *s, const figures *was) {
  machine m;
  copy(&m, s->spec->arch);
  for (int l = 1; l < m.arch.n_memories; l++)
    larger_mesh(s, was, m.memories[l].mesh, &m, m.memories[l].name);
  copy(&m, s->spec->arch);
  for (int u = 0; u < m.arch.n_units; u++)
    larger_mesh(s, was, m.units[u].mesh, &m, m.units[u].name);
  copy(&m, s->spec->arch);
  for (int l = 0; l < m.arch.n_memories; l++)
    m.memories[l].capacity_words *= m.memories[l].capacity_words > 0 ? 2 : 1;
  figures is = evaluate(s, &m, s->spec->mapping_text);
  s->runs++;
  if (!is.ok || (was->r.feasible && !is.r.feasible) || is.r.cycles != was->r.cycles)
    complain(s, "twice the capacity", "all", was->r.cycles, is.ok ? is.r.cycles : 0);
  drop(&is);
}

/* ---- exchanged axes ------------------------------------------------------------------------- */

static void turn(int64_t mesh[2]) {
  int64_t x = mesh[0];
  mesh[0] = mesh[1];
  mesh[1] = x;
}

static bool same(double a, double b) { return a <= b * (1 + 1e-9) && b <= a * (1 + 1e-9); }

static void transposed(session *s, const figures *was) {
  const tf_arch *arch = s->spec->arch;
  machine m;
  char *text = strdup(s->spec->mapping_text);
  for (char *c = text; *c; c++)
    if (*c == '@' && (c[1] == 'x' || c[1] == 'y')) c[1] = c[1] == 'x' ? 'y' : 'x';
  copy(&m, arch);
  for (int l = 0; l < arch->n_memories; l++)
    turn(m.memories[l].mesh);
  for (int u = 0; u < arch->n_units; u++)
    turn(m.units[u].mesh);
  figures is = evaluate(s, &m, text);
  s->runs++;
  if (!is.ok || is.r.feasible != was->r.feasible)
    complain(s, "room on exchanged axes", "all", was->r.feasible, is.ok && is.r.feasible);
  else if (!same(is.r.cycles, was->r.cycles) || !same(is.r.energy_pj, was->r.energy_pj))
    complain(s, "cycles on exchanged axes", "all", was->r.cycles, is.r.cycles);
  for (int i = 0; is.ok && i < arch->n_memories * s->spec->workload->n_tensors; i++)
    if (memcmp(&is.r.counts[i], &was->r.counts[i], sizeof is.r.counts[i]) != 0)
      complain(s, "words on exchanged axes", "all", (double)was->r.counts[i].fill,
               (double)is.r.counts[i].fill);
  drop(&is);
  free(text);
}

/* ---- cases ---------------------------------------------------------------------------------- */

/* Whether a network has a topology: then a way is longer on a larger one, and along X first. */
static bool routed(const tf_arch *a) {
  bool any = false;
  for (int l = 0; l < a->n_memories; l++)
    any |= a->memories[l].topology != TF_NO_TOPOLOGY;
  return any;
}

static void hold(session *s) {
  machine m;
  copy(&m, s->spec->arch);
  figures was = evaluate(s, &m, s->spec->mapping_text);
  if (was.ok) {
    s->cases++;
    for (int l = 0; l < m.arch.n_memories; l++)
      faster_memory(s, &was, l);
    for (int u = 0; u < m.arch.n_units; u++)
      faster_unit(s, &was, u);
    if (!routed(&m.arch)) larger(s, &was);
    if (!routed(&m.arch)) transposed(s, &was);
  }
  drop(&was);
}

static void load(page *p, const char *path) {
  FILE *f = fopen(path, "r");
  p->len = f ? fread(p->text, 1, sizeof p->text - 1, f) : 0;
  p->text[p->len] = 0;
  if (f) fclose(f);
}

static void one(session *s, uint64_t seed, unsigned features, const char *file) {
  static page p;
  const char *kind;
  if (file)
    load(&p, file);
  else if (!gen_case(seed, &p, &features, &kind))
    abort();
  tf_diags *d = tf_diags_new();
  tf_text t = {"case", p.text, p.len};
  tf_spec *spec = tf_spec_read_texts(&t, 1, NULL, 0, d);
  s->seed = seed;
  s->p = &p;
  s->spec = spec;
  long before = s->cases;
  if (spec) hold(s);
  if (file && s->cases == before) complain(s, "no figures", file, 0, 0);
  tf_spec_free(spec);
  tf_diags_free(d);
}

int main(int argc, char **argv) {
  session s = {.cases = 0};
  long cases = 500;
  uint64_t seed = 1;
  unsigned features = 0;
  for (int i = 1; i < argc; i++) {
    const char *value = i + 1 < argc ? argv[i + 1] : "";
    if (!strcmp(argv[i], "--masked"))
      features = 1u << GEN_MASK;
    else if (!strcmp(argv[i], "--file"))
      for (cases = 0; i + 1 < argc; i++) {
        if (i % FILES_EACH == 0) one(&s, 0, 0, argv[i + 1]);
      }
    else if (!strcmp(argv[i], "--cases"))
      cases = strtol(value, NULL, 10), i++;
    else if (!strcmp(argv[i], "--seed"))
      seed = strtoull(value, NULL, 10), i++;
    else
      return fprintf(stderr, "oracle_laws: what is '%s'?\n", argv[i]), 2;
  }
  for (uint64_t i = 0; s.cases < cases; i++)
    one(&s, seed * 1000000000 + i, features, NULL);
  printf("laws: %ld mappings on %ld other machines: %ld faster, %ld laws broken\n", s.cases, s.runs,
         s.lower, s.broken);
  return s.broken > 0 || (cases && s.lower < s.cases);
}
