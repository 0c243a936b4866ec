/* Random cases of the oracle's generator, exported and imported again: the same counts, or export
 * refuses.  Timeloop's files once more in the words of its front end. export_test [--cases N]
 * [--seed S] [--one SEED] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "tests/kernels/draw.h"
#include "tileflow/tileflow.h"

typedef struct {
  long equal, refused, wrong, other;
  bool show;
} session;

/* Words of a tensor by its name and the memory's. */
static const tf_counts *counts_of(const tf_tree *t, const tf_result *r, const char *memory,
                                  const char *tensor) {
  for (int l = 0; l < t->arch->n_memories; l++)
    for (int z = 0; z < t->workload->n_tensors; z++)
      if (!strcmp(t->arch->memories[l].name, memory) &&
          !strcmp(t->workload->tensors[z].name, tensor))
        return &r->counts[l * t->workload->n_tensors + z];
  return NULL;
}

static bool same_counts(const tf_tree *a, const tf_result *x, const tf_tree *b,
                        const tf_result *y) {
  for (int l = 0; l < a->arch->n_memories; l++)
    for (int z = 0; z < a->workload->n_tensors; z++) {
      const tf_counts *c = &x->counts[l * a->workload->n_tensors + z];
      const tf_counts *d = counts_of(b, y, a->arch->memories[l].name, a->workload->tensors[z].name);
      bool none = !c->fill && !c->read && !c->update && !c->drain && !c->peak;
      if (!d ? !none : memcmp(c, d, sizeof *c) != 0) return false;
    }
  return x->points == y->points;
}

/* ---- the same in other words ---------------------------------------------------------- */
static bool starts(const char *line, const char *with) {
  return !strncmp(line, with, strlen(with));
}

/* What Timeloop's files have beside what matters, and other ways to say that: a line of an
 * architecture.  *left: the instances that its name no longer has. */
static void reword_component(FILE *out, const char *line, int n, tf_rng *rng, long long *left) {
  static const char *const noise[] = {"has_power_gating: false",
                                      "power_gated_at: null",
                                      "min_utilization: 0",
                                      "n_banks: 2",
                                      "num_ports: 2",
                                      "reduction_supported: true",
                                      "metadata_width: 0",
                                      "adder_width: 16"};
  char name[64];
  long long last;
  if (sscanf(line, "    - name: %60[^[][0..%lld]", name, &last) == 2 && tf_rng_below(rng, 3)) {
    *left = tf_rng_below(rng, 2) ? last + 1 : 0;
    fprintf(out, *left ? "    - name: %s\n" : "    - name: %s[1..%lld]\n", name, last + 1);
  } else if (starts(line, "        meshY:") && tf_rng_below(rng, 3) == 0) {
    return; /* meshX is enough */
  } else if (starts(line, "      class: SRAM") && tf_rng_below(rng, 2)) {
    fputs("      class: storage\n      subclass: my_sram\n", out);
  } else {
    fprintf(out, "%.*s\n", n, line);
  }
  if (!starts(line, "      attributes:")) return;
  if (*left) fprintf(out, "        instances: %lld\n", *left);
  *left = 0;
  for (size_t i = 0; i < sizeof noise / sizeof noise[0]; i++)
    if (tf_rng_below(rng, 4) == 0) fprintf(out, "        %s\n", noise[i]);
}

/* A file of Timeloop as its front end might have written it; malloc'd. */
static char *reword(const char *text, tf_rng *rng) {
  char *out = NULL;
  size_t size;
  long long left = 0;
  FILE *f = open_memstream(&out, &size);
  const bool arch = strstr(text, "architecture:") != NULL;
  if (!f) exit(2);
  if (arch && tf_rng_below(rng, 2)) fputs("dumped_by_timeloop_front_end: true\nmapping: []\n", f);
  for (const char *p = text; *p;) {
    const int n = (int)strcspn(p, "\n");
    const char *extents = "  instance: {";
    if (arch)
      reword_component(f, p, n, rng, &left);
    else if (starts(p, extents) && tf_rng_below(rng, 2))
      fprintf(f, "%sHpad: 1, Wpad: 0, densities: {}, %.*s\n", extents, n - (int)strlen(extents),
              p + strlen(extents));
    else
      fprintf(f, "%.*s\n", n, p);
    p += n + (p[n] == '\n');
  }
  fclose(f);
  return out;
}

/* What import makes of the files counts as the original does. */
static bool back(const drawn *c, const tf_export *e, tf_rng *words, tf_diags *d) {
  tf_text files[TF_EXPORT_MAX_FILES];
  char *said[TF_EXPORT_MAX_FILES] = {NULL};
  for (int i = 0; i < e->n; i++) {
    const char *file = words ? said[i] = reword(e->file[i].text, words) : e->file[i].text;
    files[i] = (tf_text){e->file[i].name, file, strlen(file)};
  }
  char *text = tf_import(files, (size_t)e->n, NULL, 0, d);
  tf_text native = {"native", text, text ? strlen(text) : 0};
  tf_spec *s = text ? tf_spec_read_texts(&native, 1, NULL, 0, d) : NULL;
  tf_tree *t = s ? tf_tree_parse(s->mapping_text, s->mapping_at, s->arch, s->workload, d) : NULL;
  tf_model *a = tf_model_new(c->tree, d), *b = t ? tf_model_new(t, d) : NULL;
  tf_result x, y;
  bool same = a && b && tf_model_eval(a, NULL, &x) && tf_model_eval(b, NULL, &y) &&
              same_counts(c->tree, &x, t, &y);
  tf_model_free(a);
  tf_model_free(b);
  tf_tree_free(t);
  tf_spec_free(s);
  free(text);
  for (int i = 0; i < e->n; i++)
    free(said[i]);
  return same;
}

static void one_format(session *s, const drawn *c, const char *format, uint64_t seed) {
  tf_diags *d = tf_diags_new();
  tf_export *e = tf_export_write(format, c->spec->arch, c->spec->workload, c->tree, d);
  tf_rng words = tf_rng_new(seed, 7);
  bool same =
      e && back(c, e, NULL, d) && (strcmp(format, "timeloop") != 0 || back(c, e, &words, d));
  s->refused += !e;
  s->equal += same;
  if (e && !same && s->wrong++ < 5) {
    char *why = tf_diags_text(d);
    printf("# %s, seed %llu\n%s%s", format, (unsigned long long)seed, c->text.text, why ? why : "");
    free(why);
  }
  tf_export_free(e);
  tf_diags_free(d);
}

static void one(void *ctx, uint64_t seed) {
  session *s = ctx;
  drawn c;
  draw(&c, seed);
  for (int i = 0; c.tree && tf_export_format(i); i++)
    one_format(s, &c, tf_export_format(i), seed);
  s->other += !c.tree;
  draw_close(&c);
}

int main(int argc, char **argv) {
  const draw_plan plan = draw_options(argc, argv, 2000);
  session s = {.show = plan.show};
  draw_each(&plan, one, &s);
  printf("export: %ld come back with the same counts, %ld wrong; %ld refused, %ld mappings refused "
         "by the tree's rules\n",
         s.equal, s.wrong, s.refused, s.other);
  return s.wrong != 0 || (!plan.only && s.equal == 0);
}
