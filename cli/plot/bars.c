/* Several mappings side by side: a group of bars for each resource, a bar for each mapping. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot/plot.h"

typedef enum { CYCLES, ENERGY, WORDS } figure;

static const char *text_of(json_t *object, const char *key) {
  const char *t = json_string_value(json_object_get(object, key));
  return t ? t : "?";
}

/* The whole, then each memory and each unit. */
static bool add_resources(const plot_input *in, const char *key, double scale, plot_chart *c, tf_diags *d) {
  static const char *const lists[] = {"levels", "compute"};
  plot_series *s = &c->series[c->n - 1];
  double v;
  bool ok = plot_member_number(in, in->json, key, &v, d);
  plot_add_point(c, s, 0, v * scale, scale < 1 ? "total" : "latency", NULL);
  for (int k = 0; k < 2; k++) {
    json_t *list = plot_member(in, in->json, lists[k], JSON_ARRAY, d), *one;
    size_t i;
    ok = ok && list;
    json_array_foreach(list, i, one) {
      if (!plot_member_number(in, one, key, &v, d)) return false;
      plot_add_point(c, s, s->n, v * scale, text_of(one, "name"), NULL);
    }
  }
  return ok;
}

/* Words of each tensor at each memory that is not empty in any of the mappings: all words that pass its ports. */
static bool add_words(const plot_input *in, plot_chart *c, tf_diags *d) {
  static const char *const ports[] = {"fill", "read", "update", "drain"};
  plot_series *s = &c->series[c->n - 1];
  json_t *levels = plot_member(in, in->json, "levels", JSON_ARRAY, d), *level, *one;
  size_t i;
  const char *tensor;
  json_array_foreach(levels, i, level) {
    json_t *tensors = plot_member(in, level, "tensors", JSON_OBJECT, d);
    if (!tensors) return false;
    json_object_foreach(tensors, tensor, one) {
      char name[120];
      double sum = 0, v;
      for (int k = 0; k < 4; k++) {
        if (!plot_member_number(in, one, ports[k], &v, d)) return false;
        sum += v;
      }
      snprintf(name, sizeof name, "%s %s", text_of(level, "name"), tensor);
      plot_add_point(c, s, s->n, sum, name, NULL);
    }
  }
  return levels != NULL;
}

/* Takes out the groups in which no mapping has a bar. */
static void drop_empty(plot_chart *c) {
  for (int k = c->series[0].n - 1; k >= 0; k--) {
    bool any = false;
    for (int i = 0; i < c->n; i++)
      any |= c->series[i].at[k].y > 0;
    for (int i = 0; i < c->n && !any; i++) {
      plot_series *s = &c->series[i];
      free(s->at[k].label);
      memmove(&s->at[k], &s->at[k + 1], (size_t)(--s->n - k) * sizeof *s->at);
    }
  }
}

static bool same_groups(const plot_series *a, const plot_series *b) {
  bool same = a->n == b->n;
  for (int i = 0; same && i < a->n; i++)
    same = !strcmp(a->at[i].label, b->at[i].label);
  return same;
}

/* Bars are side by side where the groups are those of one machine and workload. */
static bool check_groups(const plot_input *in, const plot_chart *c, tf_diags *d) {
  const int k = c->n - 1;
  if (same_groups(&c->series[0], &c->series[k])) return true;
  return tf_fail(d, (tf_loc){in[k].file, 1, 1, 1}, TF_E_SHAPE,
                 "its memories, units or tensors are others than those of '%.80s': they cannot stand side by side",
                 in[0].path);
}

bool plot_bars(const plot_input *in, size_t n, const plot_choice *w, plot_chart *c, tf_diags *d) {
  static const char *const whats[] = {"cycles", "energy", "words"};
  static const char *const y_names[] = {"busy cycles", "energy", "words through the ports"};
  const char *what = w->y ? w->y : whats[0];
  int f = 0;
  while (f < 3 && strcmp(what, whats[f]) != 0)
    f++;
  if (f == 3) return tf_fail(d, (tf_loc){0}, TF_E_USAGE, "--y of bars is cycles, energy or words, not '%.60s'", what);
  c->shape = PLOT_BARS;
  snprintf(c->y_name, sizeof c->y_name, "%s", y_names[f]);
  if (f == ENERGY) strcpy(c->unit, "J");
  bool ok = true;
  for (size_t i = 0; i < n; i++) {
    char name[120];
    if (!in[i].json) {
      ok = tf_fail(d, (tf_loc){in[i].file, 1, 1, 1}, TF_E_TYPE, "bars are of JSON, as 'eval --json' writes it");
      continue;
    }
    plot_base_name(in[i].path, name, sizeof name);
    if (!plot_add_series(c, name, PLOT_LINE, (int)i)) return false;
    bool read = f == WORDS ? add_words(&in[i], c, d)
                           : add_resources(&in[i], f == ENERGY ? "energy_pj" : "cycles", f == ENERGY ? 1e-12 : 1, c, d);
    ok = read && ok && check_groups(in, c, d);
    if (i == 0)
      snprintf(c->title, sizeof c->title, "%s of %s on %s",
               f == CYCLES   ? "Cycles"
               : f == ENERGY ? "Energy"
                             : "Words",
               text_of(in[0].json, "workload"), text_of(in[0].json, "architecture"));
  }
  c->log_y = f == WORDS; /* registers move a thousand times what DRAM does */
  if (ok && c->log_y) drop_empty(c);
  return ok;
}
