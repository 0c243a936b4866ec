/* Random cases of the oracle's generator, exported and imported again: the same counts, or export refuses.
 *   export_test [--cases N] [--seed S] [--one SEED] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/kernels/draw.h"
#include "tileflow/tileflow.h"

typedef struct {
  long equal, refused, wrong, other;
  bool show;
} session;

/* Words of a tensor by its name and the memory's. */
static const tf_counts *counts_of(const tf_tree *t, const tf_result *r, const char *memory, const char *tensor) {
  for (int l = 0; l < t->arch->n_memories; l++)
    for (int z = 0; z < t->workload->n_tensors; z++)
      if (!strcmp(t->arch->memories[l].name, memory) && !strcmp(t->workload->tensors[z].name, tensor))
        return &r->counts[l * t->workload->n_tensors + z];
  return NULL;
}

static bool same_counts(const tf_tree *a, const tf_result *x, const tf_tree *b, const tf_result *y) {
  for (int l = 0; l < a->arch->n_memories; l++)
    for (int z = 0; z < a->workload->n_tensors; z++) {
      const tf_counts *c = &x->counts[l * a->workload->n_tensors + z];
      const tf_counts *d = counts_of(b, y, a->arch->memories[l].name, a->workload->tensors[z].name);
      bool none = !c->fill && !c->read && !c->update && !c->drain && !c->peak;
      if (!d ? !none : memcmp(c, d, sizeof *c) != 0) return false;
    }
  return x->points == y->points;
}

/* What import makes of the files counts as the original does. */
static bool back(const drawn *c, const tf_export *e, tf_diags *d) {
  tf_text files[TF_EXPORT_MAX_FILES];
  for (int i = 0; i < e->n; i++)
    files[i] = (tf_text){e->file[i].name, e->file[i].text, strlen(e->file[i].text)};
  char *text = tf_import(files, (size_t)e->n, NULL, 0, d);
  tf_text native = {"native", text, text ? strlen(text) : 0};
  tf_spec *s = text ? tf_spec_read_texts(&native, 1, NULL, 0, d) : NULL;
  tf_tree *t = s ? tf_tree_parse(s->mapping_text, s->mapping_at, s->arch, s->workload, d) : NULL;
  tf_model *a = tf_model_new(c->tree, d), *b = t ? tf_model_new(t, d) : NULL;
  tf_result x, y;
  bool same = a && b && tf_model_eval(a, NULL, &x) && tf_model_eval(b, NULL, &y) && same_counts(c->tree, &x, t, &y);
  tf_model_free(a);
  tf_model_free(b);
  tf_tree_free(t);
  tf_spec_free(s);
  free(text);
  return same;
}

static void one_format(session *s, const drawn *c, const char *format, uint64_t seed) {
  tf_diags *d = tf_diags_new();
  tf_export *e = tf_export_write(format, c->spec->arch, c->spec->workload, c->tree, d);
  bool same = e && back(c, e, d);
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
  printf(
      "export: %ld come back with the same counts, %ld wrong; %ld refused, %ld mappings refused by the tree's rules\n",
      s.equal, s.wrong, s.refused, s.other);
  return s.wrong != 0 || (!plan.only && s.equal == 0);
}
