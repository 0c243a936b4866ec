/* Candidates of a convolution's kernel and what two models say of each: with either mapping of its
 * loops onto the instruction (vectors along the last dim, or along channels), the planner's choice
 * and N random schedules.
 *
 *   ways DIR N DTYPE ISA FILE...
 *
 * writes DIR/w<i> for each, and CSV on stdout. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tileflow/tileflow.h"

enum { MOST = 64, RANDOM_EVALS = 200, SEEDS = 60, LAST = 1, CHANNELS = 2 };
static const char ANY_NAME[] = "way"; /* under which kernels are compared */

typedef struct {
  const tf_spec *spec;
  const char *dir;
  tf_emit_options kernel;
  int lanes, n; /* n: candidates so far */
  char *seen[MOST];
  tf_diags *d;
} ways;

static bool write_file(const char *dir, const tf_emitted_file *f) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", dir, f->name);
  FILE *out = fopen(path, "w");
  const bool ok = out && fputs(f->text, out) >= 0;
  return out && fclose(out) == 0 && ok;
}

static const tf_instr *instr_of(const ways *w, const tf_instr *all, int n) {
  for (int i = 0; i < n; i++)
    for (int k = 0; all[i].emit && k < all[i].emit->n_isas; k++)
      if (!strcmp(all[i].emit->isa[k].name, w->kernel.isa)) return &all[i];
  return NULL;
}

/* Eq. 5.6-5.8 of the thesis: calls, one after the other, each of the instruction's latency; or what
 * is read or written at a level, which the loops of a level repeat as often as those of the level
 * within. */
static double thesis_of(const ways *w, const tf_result *r) {
  const tf_arch *a = w->spec->arch;
  const int n = w->spec->workload->n_tensors;
  const tf_instr *in = instr_of(w, w->spec->instrs, w->spec->n_instrs);
  double longest = 0, slots = 1;
  for (int l = 0; in && l < in->n_loops; l++)
    slots *= (double)in->size[l];
  longest = in ? (double)r->points / slots * in->latency : 0;
  for (int m = 0; m < a->n_memories; m++) {
    double reads = 0, writes = 0;
    for (int z = 0; z < n; z++) {
      reads += (double)r->counts[m * n + z].read;
      writes += (double)r->counts[m * n + z].update;
    }
    if (reads / a->memories[m].read_bw > longest) longest = reads / a->memories[m].read_bw;
    if (writes / a->memories[m].write_bw > longest) longest = writes / a->memories[m].write_bw;
  }
  return longest;
}

static bool is_new(ways *w, const char *source) {
  for (int i = 0; i < w->n; i++)
    if (!strcmp(w->seen[i], source)) return false;
  w->seen[w->n] = strdup(source);
  return w->seen[w->n] != NULL;
}

static const char *source_of(const tf_emitted *e) {
  for (int i = 0; i < e->n; i++)
    if (!strcmp(e->file[i].name, "kernel.c")) return e->file[i].text;
  return "";
}

/* Writes the tree's kernel as the next candidate. */
static void write_kernel(ways *w, const tf_tree *t) {
  char dir[2048], name[32];
  snprintf(name, sizeof name, "w%d", w->n);
  snprintf(dir, sizeof dir, "%s/%s", w->dir, name);
  w->kernel.name = name;
  tf_emitted *e = tf_emit(t, "cpu", &w->kernel, w->d);
  w->kernel.name = ANY_NAME;
  if (mkdir(dir, 0777)) perror(dir);
  for (int i = 0; e && i < e->n; i++)
    if (!write_file(dir, &e->file[i])) perror(dir);
  tf_emitted_free(e);
}

/* Adds the tree's kernel, if there is none like it. */
static bool add(ways *w, const tf_tree *t, const char *how) {
  tf_model *m = tf_model_new(t, w->d);
  tf_result r;
  const double cycles = tf_emit_cycles(t, "cpu", &w->kernel, w->d);
  tf_emitted *e = m && cycles >= 0 && tf_model_eval(m, NULL, &r) && r.feasible
                      ? tf_emit(t, "cpu", &w->kernel, w->d)
                      : NULL;
  const bool added = e && w->n < MOST && is_new(w, source_of(e));
  if (added) write_kernel(w, t);
  if (added)
    printf("%d,%s,%s,%.9g,%.9g,%.9g,%.9g\n", w->n++, w->lanes == CHANNELS ? "channels" : "last",
           how,
           tf_emit_value("cpu", w->kernel.dtype, t, r.cycles,
                         tf_result_traffic(w->spec->workload, &r), cycles),
           r.cycles, cycles, thesis_of(w, &r));
  tf_emitted_free(e);
  tf_model_free(m);
  return added;
}

static void planned(ways *w) {
  const tf_planner_opts o = {.kernel = w->kernel, .budget = {.seed = 1, .threads = 1}};
  tf_planned *p = tf_planner_run(w->spec->arch, w->spec->workload, NULL, &o, w->d);
  if (p && p->tree) add(w, p->tree, "planned");
  tf_planned_free(p);
}

/* A number below n, from the seed's i-th draw on (splitmix64). */
static int draw(uint64_t seed, int i, int n) {
  uint64_t x = (seed << 8 | (uint64_t)i) * UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return (int)((x ^ x >> 31) % (uint64_t)n);
}

/* Choices of the generator, but for the mapping, at random. */
static void choose(ways *w, uint64_t seed) {
  static const tf_choice what[] = {TF_CHOICE_TILE, TF_CHOICE_UNROLL, TF_CHOICE_ROWS,
                                   TF_CHOICE_PREFETCH, TF_CHOICE_CLOSE};
  for (int i = 0; i < (int)(sizeof what / sizeof *what); i++) {
    int n = 0;
    while (n < TF_CHOICE_VALUES && tf_choice_at(what[i])->value[n])
      n++;
    w->kernel.choices.at[what[i]] = (signed char)draw(seed, i + 1, n);
  }
}

/* Random completions of the template, whatever they cost. */
static void drawn(ways *w, int most) {
  const tf_choices before = w->kernel.choices;
  tf_tree *open = tf_search_template(w->spec->arch, w->spec->workload, TF_TEMPLATE_WHOLE);
  for (uint64_t seed = 1; open && most > 0 && seed < SEEDS; seed++) {
    const tf_search_opts o = {.strategy = "random",
                              .budget = {.max_evals = RANDOM_EVALS, .seed = seed, .threads = 1},
                              .variants = RANDOM_EVALS};
    tf_search_result *r = tf_search_run(w->spec->arch, w->spec->workload, open, &o, w->d);
    choose(w, seed);
    if (r && r->n_variants) most -= add(w, r->variants[draw(seed, 0, r->n_variants)].tree, "drawn");
    tf_search_free(r);
  }
  w->kernel.choices = before;
  tf_tree_free(open);
}

/* Prints "first" and the way that the planner takes of itself. */
static void first(ways *w) {
  w->kernel.choices = (tf_choices){{0}};
  const tf_planner_opts o = {.kernel = w->kernel, .budget = {.seed = 1, .threads = 1}};
  tf_planned *p = tf_planner_run(w->spec->arch, w->spec->workload, NULL, &o, w->d);
  tf_emitted *e = p && p->tree ? tf_emit(p->tree, "cpu", &w->kernel, w->d) : NULL;
  for (int i = 0; e && i < w->n; i++)
    if (!strcmp(source_of(e), w->seen[i])) printf("%d,,first,,,,\n", i);
  tf_emitted_free(e);
  tf_planned_free(p);
}

int main(int argc, char **argv) {
  tf_diags *d = tf_diags_new();
  if (argc < 6 || !d) return 2;
  tf_spec *spec = tf_spec_read((const char *const *)argv + 5, (size_t)argc - 5, NULL, 0, d);
  ways w = {.spec = spec,
            .dir = argv[1],
            .kernel = {.dtype = argv[3], .isa = argv[4], .name = ANY_NAME},
            .d = d};
  const bool ok = spec && spec->arch && spec->workload;
  if (ok) puts("way,lanes,how,predicted,model,kernel,thesis");
  for (w.lanes = LAST; ok && w.lanes <= CHANNELS; w.lanes++) {
    w.kernel.choices.at[TF_CHOICE_LANES] = (signed char)w.lanes;
    planned(&w);
    drawn(&w, atoi(argv[2]));
  }
  if (ok) first(&w);
  char *text = ok ? NULL : tf_diags_text(d);
  if (text) fputs(text, stderr);
  free(text);
  for (int i = 0; i < w.n; i++)
    free(w.seen[i]);
  tf_spec_free(spec);
  tf_diags_free(d);
  return ok && w.n ? 0 : 1;
}
