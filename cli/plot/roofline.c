/* The roofline: the peak rate of the units, what each memory can feed them, and where mappings are.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/plot/plot.h"

/* What one memory of a result moves through its busier port, and the bandwidth of all its
 * instances. */
typedef struct {
  const char *name;
  bool limited;
  double words, bandwidth; /* words; words a cycle */
} feed;

/* A bandwidth; null means no limit. */
static double bandwidth_of(const json_t *v) {
  return json_is_number(v) ? json_number_value(v) : INFINITY;
}

static bool read_feed(const plot_input *in, json_t *level, feed *out, tf_diags *d) {
  static const char *const keys[] = {"read", "drain", "fill", "update"};
  json_t *machine = plot_member(in, level, "machine", JSON_OBJECT, d),
         *bits = json_object_get(level, "bits");
  double words[4], instances, word_bits;
  if (!machine || !plot_member_number(in, machine, "instances", &instances, d) ||
      !plot_member_number(in, level, "word_bits", &word_bits, d))
    return false;
  for (int k = 0; k < 4; k++) {
    if (!plot_member_number(in, bits, keys[k], &words[k], d)) return false;
    words[k] /= word_bits;
  }
  const double rd = bandwidth_of(json_object_get(machine, "read_bandwidth"));
  const double wr = bandwidth_of(json_object_get(machine, "write_bandwidth"));
  const double out_words = words[0] + words[1], in_words = words[2] + words[3];
  *out = (feed){.name = json_string_value(json_object_get(level, "name"))};
  if (json_is_true(json_object_get(machine, "one_port"))) {
    out->words = out_words + in_words;
    out->bandwidth = rd * instances;
  } else {
    bool writes = in_words / wr > out_words / rd;
    out->words = writes ? in_words : out_words;
    out->bandwidth = (writes ? wr : rd) * instances;
  }
  out->limited = isfinite(out->bandwidth);
  return true;
}

/* Points a cycle of all units of one kind: what one op can have. */
static bool read_unit(const plot_input *in, json_t *unit, double *peak, tf_diags *d) {
  double n, rate;
  json_t *machine = plot_member(in, unit, "machine", JSON_OBJECT, d);
  if (!machine || !plot_member_number(in, machine, "units", &n, d) ||
      !plot_member_number(in, machine, "rate", &rate, d))
    return false;
  *peak = n * rate;
  return true;
}

static bool read_peak(const plot_input *in, double *peak, tf_diags *d) {
  json_t *units = plot_member(in, in->json, "compute", JSON_ARRAY, d), *unit;
  size_t i;
  *peak = 0;
  json_array_foreach(units, i, unit) {
    double its;
    if (!read_unit(in, unit, &its, d)) return false;
    *peak = fmax(*peak, its);
  }
  return units != NULL;
}

/* Colours stand for memories, marks for mappings, which the legend shows in grey: one point for
 * each pair. */
static bool add_mapping(const plot_input *in, int mark, plot_chart *c, tf_diags *d) {
  json_t *levels = plot_member(in, in->json, "levels", JSON_ARRAY, d), *level;
  double points, cycles;
  char name[100];
  size_t i;
  if (!levels || !plot_member_number(in, in->json, "points", &points, d) ||
      !plot_member_number(in, in->json, "cycles", &cycles, d))
    return false;
  if (!(points > 0) || !(cycles > 0))
    return tf_fail(d, (tf_loc){in->file, 1, 1, 1}, TF_E_RANGE,
                   "'points' and 'cycles' must be more than 0");
  plot_base_name(in->path, name, sizeof name);
  plot_series *s = plot_add_series(c, name, PLOT_POINTS, 6);
  if (s) s->mark = mark;
  json_array_foreach(levels, i, level) {
    feed f;
    if (!read_feed(in, level, &f, d)) return false;
    if (!f.limited || f.words <= 0) continue;
    s = plot_add_series(c, "", PLOT_POINTS, (int)i);
    if (s) s->mark = mark;
    plot_add_point(c, s, points / f.words, points / cycles, NULL, NULL);
  }
  return true;
}

/* The range of x over all points, slightly extended. */
static void range_of(const plot_chart *c, double *lo, double *hi) {
  *lo = INFINITY, *hi = 0;
  for (int i = 0; i < c->n; i++)
    for (int k = 0; k < c->series[i].n; k++) {
      *lo = fmin(*lo, c->series[i].points[k].x);
      *hi = fmax(*hi, c->series[i].points[k].x);
    }
  *lo /= 4;
  *hi *= 4;
}

/* Of memories, up to the best unit's, with the ridge where they meet it; then one for each kind of
 * unit. */
static bool add_roofs(const plot_input *in, double peak, plot_chart *c, tf_diags *d) {
  json_t *level;
  double lo, hi;
  size_t i;
  range_of(c, &lo, &hi);
  json_array_foreach(json_object_get(in->json, "levels"), i, level) {
    feed f;
    char name[120];
    if (!read_feed(in, level, &f, d)) return false;
    if (!f.limited || f.words <= 0) continue;
    const double ridge = peak / f.bandwidth;
    snprintf(name, sizeof name, "%.60s %s", f.name ? f.name : "?", cli_real(f.bandwidth).s);
    hi = fmax(hi, 2 * ridge);
    plot_series *s = plot_add_series(c, name, PLOT_LINE, (int)i);
    plot_add_point(c, s, fmin(lo, ridge / 2), fmin(lo, ridge / 2) * f.bandwidth, NULL, NULL);
    snprintf(name, sizeof name, "%.3g", ridge);
    plot_add_point(c, s, ridge, peak, NULL, name);
  }
  json_array_foreach(json_object_get(in->json, "compute"), i, level) {
    char name[120];
    double its;
    if (!read_unit(in, level, &its, d)) return false;
    const char *unit = json_string_value(json_object_get(level, "name"));
    snprintf(name, sizeof name, "%.60s %s", unit ? unit : "?", cli_real(its).s);
    plot_series *s = plot_add_series(c, name, its < peak ? PLOT_DASHED : PLOT_LINE, 7);
    plot_add_point(c, s, lo, its, NULL, NULL);
    plot_add_point(c, s, hi, its, NULL, NULL);
  }
  return true;
}

/* The machine's name; NULL with an error in d if there is none. */
static const char *machine_of(const plot_input *in, tf_diags *d) {
  return json_string_value(plot_member(in, in->json, "architecture", JSON_STRING, d));
}

bool plot_roofline(const plot_input *in, size_t n, const plot_choice *w, plot_chart *c,
                   tf_diags *d) {
  (void)w;
  const char *machine = NULL;
  double peak = 0;
  for (size_t i = 0; i < n; i++) {
    double its;
    if (!in[i].json)
      return tf_fail(d, (tf_loc){in[i].file, 1, 1, 1}, TF_E_TYPE,
                     "roofline is of JSON, as 'eval --json' writes it");
    const char *its_machine = machine_of(&in[i], d);
    if (!its_machine || !add_mapping(&in[i], (int)i, c, d) || !read_peak(&in[i], &its, d))
      return false;
    if (i == 0) machine = its_machine, peak = its;
    if (strcmp(machine, its_machine) != 0)
      return tf_fail(d, (tf_loc){in[i].file, 1, 1, 1}, TF_E_SHAPE,
                     "its machine is not that of '%.80s': roofs differ", in[0].path);
  }
  const json_t *workload = plot_member(&in[0], in[0].json, "workload", JSON_STRING, d);
  if (!workload) return false;
  if (c->n == (int)n)
    return tf_fail(d, (tf_loc){in[0].file, 1, 1, 1}, TF_E_MISSING,
                   "no memory of it has a limited bandwidth");
  c->log_x = c->log_y = true;
  snprintf(c->title, sizeof c->title, "Roofline of %s, %s", machine, json_string_value(workload));
  strcpy(c->x_name, "points per word at the memory");
  strcpy(c->y_name, "points per cycle");
  return add_roofs(&in[0], peak, c, d);
}
