/* What differs between two mappings: a bar from 1 to B / A for each term, largest differences first
 * within its kind. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/plot/plot.h"

enum { WORDS_MOST = 8 };

typedef struct {
  const char *key, *says; /* key: the kind in diff's JSON */
  int most;
} part;
static const part parts[] = {{"total", "", 3},
                             {"cycles", " busy", 8},
                             {"energy_pj", " energy", 8},
                             {"words", " words", WORDS_MOST}};

static const char *text_of(json_t *object, const char *key) {
  const char *t = json_string_value(json_object_get(object, key));
  return t ? t : "";
}

/* Totals that are worth a bar. */
static bool wanted(const char *name) {
  return !strcmp(name, "cycles") || !strcmp(name, "energy_pj") || !strcmp(name, "traffic_words");
}

static cli_figure value(double v, bool energy) {
  return energy ? cli_si(v * 1e-12, "J") : cli_real(v);
}

static bool add_term(const plot_input *in, json_t *term, const part *p, plot_chart *c,
                     tf_diags *d) {
  const char *name = text_of(term, "name"), *tensor = text_of(term, "tensor"),
             *counter = text_of(term, "counter");
  char label[160], note[120];
  double a, b;
  if (!plot_member_number(in, term, "a", &a, d) || !plot_member_number(in, term, "b", &b, d))
    return false;
  const bool energy = !strcmp(p->key, "energy_pj") || !strcmp(name, "energy_pj"),
             total = !strcmp(p->key, "total");
  if (total)
    snprintf(label, sizeof label, "%s",
             energy                           ? "energy"
             : !strcmp(name, "traffic_words") ? "outermost words"
                                              : name);
  else if (*tensor)
    snprintf(label, sizeof label, "%.60s %.60s %.20s", name, tensor, counter);
  else
    snprintf(label, sizeof label, "%.60s%s", name, p->says);
  snprintf(note, sizeof note, "%s → %s", value(a, energy).s, value(b, energy).s);
  /* a term that is 0 on one side has no ratio: its bar ends at the edge */
  plot_add_point(c, &c->series[0],
                 a == b   ? 1
                 : a == 0 ? INFINITY
                          : b / a,
                 c->series[0].n, label, note);
  return true;
}

bool plot_diff(const plot_input *in, size_t n, const plot_choice *w, plot_chart *c, tf_diags *d) {
  (void)w;
  if (n != 1 || !in[0].json)
    return tf_fail(d, (tf_loc){0}, TF_E_USAGE,
                   "--as diff needs one file of JSON, as 'diff --json' writes it");
  json_t *terms = plot_member(in, in[0].json, "terms", JSON_ARRAY, d), *one;
  json_t *a = plot_member(in, in[0].json, "a", JSON_OBJECT, d),
         *b = plot_member(in, in[0].json, "b", JSON_OBJECT, d);
  if (!terms || !a || !b || !plot_add_series(c, "", PLOT_LINE, 0)) return false;
  char name_a[100], name_b[100];
  plot_base_name(text_of(a, "file"), name_a, sizeof name_a);
  plot_base_name(text_of(b, "file"), name_b, sizeof name_b);
  c->shape = PLOT_TERMS;
  c->log_x = true;
  snprintf(c->title, sizeof c->title, "%s → %s", name_a, name_b);
  snprintf(c->x_name, sizeof c->x_name, "ratio, %.50s on %.50s", text_of(a, "workload"),
           text_of(a, "architecture"));
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
    int left = parts[k].most;
    size_t i;
    json_array_foreach(terms, i, one) {
      double difference;
      if (strcmp(text_of(one, "kind"), parts[k].key) != 0) continue;
      if (!plot_member_number(in, one, "difference", &difference, d)) return false;
      if (!(k ? difference != 0 : wanted(text_of(one, "name"))) || left-- <= 0) continue;
      if (!add_term(in, one, &parts[k], c, d)) return false;
    }
  }
  if (c->series[0].n == 0)
    return tf_fail(d, (tf_loc){in[0].file, 1, 1, 1}, TF_E_MISSING, "it has no terms to draw");
  return true;
}
