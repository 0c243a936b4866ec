/* The model against the brute-force walk on random cases.
 *   oracle_test [--cases N] [--seed S] [--one SEED] [--save DIR] [--coverage] [--padded]
 * --padded: only cases with padding.
 * A case that differs is printed as the YAML that `tileflow eval` reads, and saved if asked. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/oracle/gen.h"
#include "tests/oracle/oracle.h"

enum { WALK_LIMIT = 20000, MAX_KINDS = 64 };

typedef struct {
  const char *name;
  long drawn, run;
} tally;

typedef struct {
  const char *save;
  bool coverage, print, padded;
  long refused, walked, equal, differ, overflow, too_long, quick;
  long with[GEN_N];
  tally kinds[MAX_KINDS];
  int n_kinds;
} session;

/* ---- one comparison ------------------------------------------------------------------------- */

typedef struct {
  char text[8192];
  size_t len;
} note;

static void differs(note *n, const char *what, const char *of, int64_t model, int64_t oracle_) {
  if (model == oracle_ || n->len > sizeof n->text - 200)
    return;
  n->len += (size_t)snprintf(n->text + n->len, sizeof n->text - n->len,
                             "# %s of %s: model %" PRId64 ", oracle %" PRId64 "\n", what, of, model, oracle_);
}

static void compare_counts(note *n, const oracle *o, const tf_result *r) {
  char of[200];
  for (int l = 0; l < o->arch->n_memories; l++)
    for (int z = 0; z < o->wl->n_tensors; z++) {
      const tf_counts *c = &r->counts[l * o->wl->n_tensors + z];
      const words *w = &o->moved[l * o->wl->n_tensors + z];
      snprintf(of, sizeof of, "%s in %s", o->wl->tensors[z].name, o->arch->memories[l].name);
      differs(n, "fill", of, c->fill, w->fill);
      differs(n, "read", of, c->read, w->read);
      differs(n, "update", of, c->update, w->update);
      differs(n, "drain", of, c->drain, w->drain);
      differs(n, "peak", of, c->peak, o->peak[l * o->wl->n_tensors + z]);
    }
  for (int l = 0; l < o->arch->n_memories; l++)
    differs(n, "peak words", o->arch->memories[l].name, r->levels[l].peak, o->level_peak[l]);
}

static void compare_work(note *n, const oracle *o, const tf_result *r) {
  for (int op = 0; op < o->wl->n_ops; op++) {
    differs(n, "points", o->wl->ops[op].name, r->ops[op].points, o->points[op]);
    differs(n, "units", o->wl->ops[op].name, r->ops[op].units, o->units[op]);
    differs(n, "kind of unit", o->wl->ops[op].name, r->ops[op].unit, o->unit[op]);
  }
  for (int k = 0; k < o->tree->n_nodes; k++) {
    char of[40];
    int64_t loads = 0, stores = 0;
    for (int z = 0; z < o->wl->n_tensors; z++) {
      loads += o->by_node[k * o->wl->n_tensors + z].fill;
      stores += o->by_node[k * o->wl->n_tensors + z].drain;
    }
    snprintf(of, sizeof of, "node %d", k);
    differs(n, "runs", of, r->nodes[k].runs, o->runs[k]);
    differs(n, "loads", of, r->nodes[k].loads, loads);
    differs(n, "stores", of, r->nodes[k].stores, stores);
  }
  double gap = r->cycles - o->cycles;
  if (gap > 1e-9 * o->cycles || -gap > 1e-9 * o->cycles)
    n->len += (size_t)snprintf(n->text + n->len, sizeof n->text - n->len,
                               "# cycles: model %.12g, oracle %.12g\n", r->cycles, o->cycles);
}

static void report(session *s, uint64_t seed, const page *p, const note *n) {
  printf("# seed %" PRIu64 "\n%s%s\n", seed, n->text, p->text);
  if (!s->save)
    return;
  char path[512];
  snprintf(path, sizeof path, "%s/case-%" PRIu64 ".yaml", s->save, seed);
  FILE *f = fopen(path, "w");
  if (f) {
    fprintf(f, "%s%s", n->text, p->text);
    fclose(f);
  }
}

static bool compare(session *s, uint64_t seed, const page *p, const tf_tree *tree, tf_diags *d) {
  tf_model *m = tf_model_new(tree, d);
  tf_result r;
  oracle *o = oracle_run(tree, WALK_LIMIT);
  note n = {.len = 0};
  bool counted = false;
  if (!m || !o)
    abort();
  if (o->gave_up)
    s->too_long++;
  else if (!tf_model_eval(m, NULL, &r)) {
    s->overflow++;
    n.len = (size_t)snprintf(n.text, sizeof n.text, "# model: %s\n",
                             r.overflow ? "overflow" : "trip counts do not cover the extents");
  } else {
    counted = true;
    s->quick += tf_model_quick(m);
    compare_counts(&n, o, &r);
    compare_work(&n, o, &r);
  }
  if (n.len)
    report(s, seed, p, &n);
  s->differ += n.len > 0;
  s->equal += counted && n.len == 0;
  oracle_free(o);
  tf_model_free(m);
  return counted;
}

/* ---- cases ------------------------------------------------------------------------------------ */

static tally *kind_of(session *s, const char *name) {
  for (int i = 0; i < s->n_kinds; i++)
    if (!strcmp(s->kinds[i].name, name))
      return &s->kinds[i];
  s->kinds[s->n_kinds] = (tally){name, 0, 0};
  return &s->kinds[s->n_kinds++];
}

static void one(session *s, uint64_t seed) {
  page p;
  unsigned features = s->padded ? 1u << GEN_PAD : 0;
  const char *kind;
  if (!gen_case(seed, &p, &features, &kind))
    abort();
  tf_diags *d = tf_diags_new();
  tf_text t = {"case", p.text, p.len};
  tf_spec *spec = tf_spec_read_texts(&t, 1, NULL, 0, d);
  tf_tree *tree = spec ? tf_tree_parse(spec->mapping_text, spec->mapping_at, spec->arch, spec->workload, d)
                       : NULL;
  tally *k = kind_of(s, kind);
  k->drawn++;
  if (s->print) {
    char *why = tf_diags_text(d);
    printf("%s%s\n", p.text, why ? why : "");
    free(why);
  }
  if (!tree)
    s->refused++;
  else if (compare(s, seed, &p, tree, d)) {
    k->run++;
    for (int f = 0; f < GEN_N; f++)
      s->with[f] += features >> f & 1;
  }
  tf_tree_free(tree);
  tf_spec_free(spec);
  tf_diags_free(d);
}

static void print_coverage(const session *s) {
  for (int i = 0; i < s->n_kinds; i++)
    printf("%-16s %7ld drawn %7ld compared\n", s->kinds[i].name, s->kinds[i].drawn, s->kinds[i].run);
  for (int f = 0; f < GEN_N; f++)
    printf("%-16s %24ld compared\n", gen_feature_name[f], s->with[f]);
}

int main(int argc, char **argv) {
  session s = {.save = NULL};
  long cases = 2000;
  uint64_t seed = 1, only = 0;
  for (int i = 1; i < argc; i++) {
    const char *value = i + 1 < argc ? argv[i + 1] : "";
    if (!strcmp(argv[i], "--coverage"))
      s.coverage = true;
    else if (!strcmp(argv[i], "--padded"))
      s.padded = true;
    else if (!strcmp(argv[i], "--cases"))
      cases = strtol(value, NULL, 10), i++;
    else if (!strcmp(argv[i], "--seed"))
      seed = strtoull(value, NULL, 10), i++;
    else if (!strcmp(argv[i], "--one"))
      only = strtoull(value, NULL, 10), i++;
    else if (!strcmp(argv[i], "--save"))
      s.save = value, i++;
    else
      return fprintf(stderr, "oracle_test: what is '%s'?\n", argv[i]), 2;
  }
  s.print = only != 0;
  if (only)
    one(&s, only);
  for (uint64_t i = 0; !only && s.equal + s.differ < cases; i++)
    one(&s, seed * 1000000000 + i);
  if (s.coverage)
    print_coverage(&s);
  printf("oracle: %ld cases equal, %ld differ; %ld mappings refused by the tree's rules, %ld too long to walk, "
         "%ld not counted by the model; %ld by the quick way\n", s.equal, s.differ, s.refused, s.too_long, s.overflow,
         s.quick);
  return s.differ > 0;
}
