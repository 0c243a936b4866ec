/* The model against the brute-force walk on random cases.
 *   oracle_test [--cases N] [--seed S] [--one SEED] [--file YAML...] [--save DIR] [--coverage]
 * [--padded] [--masked]
 *               [--free] [--spelled] [--divided] [--left-out] [--walk] [--peers] [--lines] [--wide]
 *               [--numbers] [--turned] [--all-points]
 * --padded, --masked, --free, --spelled: only cases with padding, with masks, of workloads drawn
 * freely, of a softmax spelled in any way; --divided: with indices that divide, of which the oracle
 * follows the text; --left-out: of masked ones only those count in which a step was left out;
 * --peers: with memories that take words from their neighbours;
 * --lines: all with memories that have lines, as one in eight has where nothing is asked for;
 * --wide: all with long dims and as many instances, as one in 16 has otherwise;
 * --turned: all with reads of one tensor that loops move differently, as one in 32 has otherwise;
 * --numbers: all with ops without dims, as one in eight has otherwise;
 * --all-points: steps that a mask leaves out count, too, as searches have them; kept cases count
 * both ways;
 * --walk: the model walks (model/cost/exact), also where sums would count.  --file: cases that are
 * kept, of which each must be counted and walked.  --ways [KIND]: no oracle, but which way counts
 * what (ways.h); --alone: and no walk. A case that differs is printed as the YAML that `tileflow
 * eval` reads, and saved if asked. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/eval/hooks.h"
#include "tests/oracle/gen.h"
#include "tests/oracle/oracle.h"
#include "tests/oracle/ways.h"
#include "tests/oracle/written.h"

enum { WALK_LIMIT = 20000, WALK_MASKED = 3000, MAX_KINDS = 96 };

typedef struct {
  const char *name;
  long drawn, run;
} tally;

typedef struct {
  const char *save, *file;
  bool coverage, print, masked, left_out, walk, lines, wide, turned;
  unsigned features; /* asked for */
  long refused, walked, equal, differ, overflow, too_large, quick;
  long with[GEN_N], saw[N_EVENTS], feasible;
  tally kinds[MAX_KINDS];
  int n_kinds;
} session;

/* ---- one case ------------------------------------------------------------------------- */

static void report(session *s, uint64_t seed, const page *p, const note *n) {
  printf("# seed %" PRIu64 "\n%s%s\n", seed, n->text, p->text);
  if (!s->save) return;
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
  oracle *o = oracle_run(tree, s->masked ? WALK_MASKED : WALK_LIMIT);
  note n = {.len = 0};
  bool counted = false;
  if (!m || !o) abort();
  if (s->walk) tf_model_to_walk(m);
  if (oracle_all_points) tf_model_all_points(m);
  if (o->gave_up) {
    s->too_large++;
    if (s->file) printf("# %s: too large to walk: too many %s\n", s->file, o->too_many);
  } else if (!tf_model_eval(m, NULL, &r)) {
    s->overflow++;
    n.len = (size_t)snprintf(n.text, sizeof n.text, "# model: %s\n",
                             r.overflow ? "overflow" : "trip counts do not cover the extents");
  } else {
    counted = true;
    s->quick += tf_model_quick(m);
    s->walked += tf_model_walked(m) > 0;
    compare_results(&n, o, &r);
    compare_causes(&n, o, m, &r);
    for (int e = 0; e < N_EVENTS; e++)
      s->saw[e] += o->saw[e];
    s->feasible += r.feasible;
  }
  if (n.len) report(s, seed, p, &n);
  s->differ += n.len > 0;
  s->equal += counted && n.len == 0 && (!s->left_out || o->saw[SAW_LEFT_OUT]);
  oracle_free(o);
  tf_model_free(m);
  return counted;
}

static tally *kind_of(session *s, const char *name) {
  for (int i = 0; i < s->n_kinds; i++)
    if (!strcmp(s->kinds[i].name, name)) return &s->kinds[i];
  s->kinds[s->n_kinds] = (tally){name, 0, 0};
  return &s->kinds[s->n_kinds++];
}

static bool load_case(page *p, const char *path) {
  FILE *f = fopen(path, "r");
  p->len = f ? fread(p->text, 1, sizeof p->text - 1, f) : 0;
  p->text[p->len] = 0;
  if (f) fclose(f);
  return p->len > 0 && p->len < sizeof p->text - 1;
}

static void one(session *s, uint64_t seed) {
  page p;
  unsigned features = s->features;
  const char *kind = "file";
  gen_with_lines =
      s->lines || (!s->features && seed % 8 == 7); /* the others are drawn as they always were */
  gen_wide = s->wide || (!s->features && seed % 16 == 3);
  gen_turned = s->turned || (!s->features && seed % 32 == 6);
  if (s->file && !load_case(&p, s->file)) {
    printf("# %s: cannot be read, or is longer than %zu bytes\n", s->file, sizeof p.text - 2);
    s->refused++;
    return;
  }
  if (!s->file && !gen_case(seed, &p, &features, &kind)) abort();
  tf_diags *d = tf_diags_new();
  tf_text t = {"case", p.text, p.len};
  tf_spec *spec = tf_spec_read_texts(&t, 1, NULL, 0, d);
  tf_tree *tree =
      spec ? tf_tree_parse(spec->mapping_text, spec->mapping_at, spec->arch, spec->workload, d)
           : NULL;
  const bool divided = features >> GEN_DIVIDED & 1;
  written_use(divided && tree ? p.text : NULL, tree ? tree->workload : NULL);
  tally *k = kind_of(s, kind);
  k->drawn++;
  if (s->print || (s->file && !tree)) {
    char *why = tf_diags_text(d);
    printf("%s\n%s\n", s->print ? p.text : s->file, why ? why : "");
    free(why);
  }
  if (!tree)
    s->refused++;
  else if (compare(s, seed, &p, tree, d)) {
    k->run++;
    for (int f = 0; f < GEN_N; f++)
      s->with[f] += features >> f & 1;
    if (s->file && !oracle_all_points && tf_workload_masked(tree->workload)) {
      oracle_all_points = true;
      compare(s, seed, &p, tree, d);
      oracle_all_points = false;
    }
  }
  tf_tree_free(tree);
  tf_spec_free(spec);
  tf_diags_free(d);
}

static const char *const event_name[N_EVENTS] = {[SAW_PORTS] = "a port that makes the whole",
                                                 [SAW_FLOOR] = "a scope held up by a port",
                                                 [SAW_HIDDEN] = "a load that hides",
                                                 [SAW_NO_ROOM] = "a load that a busy port keeps",
                                                 [SAW_FOLLOWS] = "words after a sibling's",
                                                 [SAW_IDLE] = "an idle step",
                                                 [SAW_FIXES] = "corrections",
                                                 [SAW_LEFT_OUT] = "a step left out",
                                                 [SAW_HELD] = "what a neighbour held",
                                                 [SAW_NEEDED] = "what a neighbour needs, too",
                                                 [SAW_ROUND] = "a neighbour round a torus",
                                                 [SAW_WIDE] = "a loop over more than 16 instances"};

static void print_coverage(const session *s) {
  for (int i = 0; i < s->n_kinds; i++)
    printf("%-16s %7ld drawn %7ld compared\n", s->kinds[i].name, s->kinds[i].drawn,
           s->kinds[i].run);
  for (int f = 0; f < GEN_N; f++)
    printf("%-17s %23ld compared\n", gen_feature_name[f], s->with[f]);
  for (int e = 0; e < N_EVENTS; e++)
    printf("%-34s %6ld compared\n", event_name[e], s->saw[e]);
  printf("%-32s %8ld compared\n", "that fit", s->feasible);
}

/* Whether the option says what is drawn, or what is done with it; then it is set. */
static bool set_mode(session *s, const char *option) {
  static const struct {
    const char *option;
    gen_feature feature;
  } drawn[] = {
      {"--padded", GEN_PAD},  {"--homes", GEN_HOME},      {"--parts", GEN_PARTS},
      {"--peers", GEN_PEERS}, {"--masked", GEN_MASK},     {"--left-out", GEN_MASK},
      {"--free", GEN_FREE},   {"--spelled", GEN_SPELLED}, {"--divided", GEN_DIVIDED},
  };
  bool known = true;
  if (!strcmp(option, "--coverage"))
    s->coverage = true;
  else if (!strcmp(option, "--lines"))
    s->lines = true;
  else if (!strcmp(option, "--wide"))
    s->wide = true;
  else if (!strcmp(option, "--turned"))
    s->turned = true;
  else if (!strcmp(option, "--walk"))
    s->walk = true;
  else if (!strcmp(option, "--all-points"))
    oracle_all_points = true;
  else if (!strcmp(option, "--numbers"))
    gen_numbers_in = 1;
  else
    known = false;
  for (size_t i = 0; i < sizeof drawn / sizeof *drawn; i++)
    if (!strcmp(option, drawn[i].option)) s->features |= 1u << drawn[i].feature, known = true;
  s->left_out |= !strcmp(option, "--left-out");
  s->masked |= s->left_out || !strcmp(option, "--masked");
  return known;
}

int main(int argc, char **argv) {
  session s = {.save = NULL, .file = NULL};
  long cases = 2000;
  uint64_t seed = 1, only = 0;
  const char *ways = NULL;
  bool alone = false;
  gen_numbers_in = 8;
  for (int i = 1; i < argc; i++) {
    const char *value = i + 1 < argc ? argv[i + 1] : "";
    if (set_mode(&s, argv[i])) continue;
    if (!strcmp(argv[i], "--ways"))
      ways = *value == '-' ? "" : value, i += *ways != 0;
    else if (!strcmp(argv[i], "--alone"))
      alone = true;
    else if (!strcmp(argv[i], "--cases"))
      cases = strtol(value, NULL, 10), i++;
    else if (!strcmp(argv[i], "--seed"))
      seed = strtoull(value, NULL, 10), i++;
    else if (!strcmp(argv[i], "--one"))
      only = strtoull(value, NULL, 10), i++;
    else if (!strcmp(argv[i], "--file"))
      for (; i + 1 < argc && argv[i + 1][0] != '-'; i++)
        s.file = argv[i + 1], one(&s, 0);
    else if (!strcmp(argv[i], "--save"))
      s.save = value, i++;
    else
      return fprintf(stderr, "oracle_test: what is '%s'?\n", argv[i]), 2;
  }
  gen_with_lines = s.lines, gen_wide = s.wide, gen_turned = s.turned;
  if (ways)
    return ways_print(cases, seed, ways, !alone,
                      (ways_hooks){tf_model_to_walk, tf_model_walked, s.features}) > 0;
  if ((s.print = only != 0)) one(&s, only);
  for (uint64_t i = 0; !only && !s.file && s.equal + s.differ < cases; i++)
    one(&s, seed * 1000000000 + i);
  if (s.coverage) print_coverage(&s);
  printf("oracle: %ld cases equal, %ld differ; %ld mappings refused by the tree's rules, %ld too "
         "large to walk, %ld not counted by the model; %ld by the quick way, %ld walked\n",
         s.equal, s.differ, s.refused, s.too_large, s.overflow, s.quick, s.walked);
  return s.differ > 0 || (s.file && s.refused + s.too_large > 0);
}
