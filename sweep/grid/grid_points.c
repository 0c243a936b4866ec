/* Numbers of points, and their decoding. */
#include <math.h>
#include <stdio.h>

#include "sweep/grid/grid.h"

/* The positions on the axes of workloads (or of machines) from n; the last axis varies fastest. */
static int64_t positions_on_axes(const tf_sweep_grid *g, bool of_workload, int64_t n,
                                 int at[TF_SWEEP_AXES]) {
  for (int i = g->n_axes - 1; i >= 0; i--) {
    if (g->axes[i].of_workload != of_workload) continue;
    at[i] = (int)(n % g->axes[i].n);
    n /= g->axes[i].n;
  }
  return n;
}

tf_sweep_place tf_sweep_place_of(const tf_sweep_grid *g, int64_t point) {
  tf_sweep_place p = {.mapping = -1};
  int64_t machine = point / g->n_cases, rest = point % g->n_cases;
  for (int i = 0; i < TF_SWEEP_AXES; i++)
    p.at[i] = -1;
  p.arch = (int)positions_on_axes(g, false, machine, p.at);
  if (g->n_mappings) {
    p.mapping = (int)(rest % g->n_mappings);
    rest /= g->n_mappings;
  }
  p.workload = (int)positions_on_axes(g, true, rest, p.at);
  return p;
}

double sweep_case_weight(const tf_sweep_grid *g, int64_t case_no) {
  return g->workloads[tf_sweep_place_of(g, case_no).workload].weight;
}

static double value_of(const tf_sweep *s, int param, const tf_sweep_place *p) {
  const tf_sweep_axis *a = &s->grid.axes[s->axis_of[param]];
  return a->values[(int64_t)p->at[s->axis_of[param]] * a->n_params + s->column_of[param]];
}

static bool condition_holds(const tf_sweep *s, int64_t point, bool machine) {
  sweep_value values[TF_SWEEP_AXES];
  tf_sweep_place p = tf_sweep_place_of(&s->grid, point);
  for (int i = 0; i < s->section.n_over; i++)
    values[i] = (sweep_value){value_of(s, i, &p), NULL};
  for (int i = 0; i < s->section.n_where; i++)
    if (s->of_machine[i] == machine && !sweep_expr_holds(s->section.where[i].expr, values))
      return false;
  return true;
}

bool sweep_machine_holds(const tf_sweep *s, int64_t machine) {
  return condition_holds(s, machine * s->grid.n_cases, true);
}
bool sweep_case_holds(const tf_sweep *s, int64_t case_no) {
  return condition_holds(s, case_no, false);
}

/* ---- the input of a point ------------------------------------------------------------------ */
enum { VALUE_TEXT = 32 };

typedef struct {
  const sweep_input **files;
  tf_text *texts;
  tf_setting *set;
  char (*value)[VALUE_TEXT];
  int n_files;
  size_t n_set;
} input;

static void add_file(input *in, const sweep_inputs *list, int i) {
  if (list->n == 0 || i < 0) return;
  in->texts[in->n_files] = list->input[i].text;
  in->files[in->n_files++] = &list->input[i];
}

static tf_spec *read(const tf_sweep *s, const tf_sweep_place *p, input *in, tf_diags *d) {
  for (int i = 0; i < s->base.n; i++)
    add_file(in, &s->base, i);
  add_file(in, &s->archs, p->arch);
  add_file(in, &s->workloads, p->workload);
  add_file(in, &s->mappings, p->mapping);
  for (size_t i = 0; i < s->n_set; i++)
    if (sweep_has_param(in->files, in->n_files, s->set[i].name)) in->set[in->n_set++] = s->set[i];
  for (int i = 0; i < s->section.n_over; i++) {
    snprintf(in->value[i], VALUE_TEXT, "%.17g", value_of(s, i, p));
    in->set[in->n_set++] = (tf_setting){s->section.over[i].name, in->value[i]};
  }
  return tf_spec_read_texts(in->texts, (size_t)in->n_files, in->set, in->n_set, d);
}

tf_spec *sweep_point_spec(const tf_sweep *s, int64_t point, tf_diags *d) {
  tf_sweep_place p = tf_sweep_place_of(&s->grid, point);
  tf_arena *a = tf_arena_new();
  size_t files = (size_t)s->base.n + 3, settings = s->n_set + (size_t)s->section.n_over;
  input in = {0};
  if (a) {
    in.files = TF_ARRAY(a, const sweep_input *, files);
    in.texts = TF_ARRAY(a, tf_text, files);
    in.set = TF_ARRAY(a, tf_setting, settings + 1);
    in.value = tf_arena_array(a, settings + 1, VALUE_TEXT);
  }
  bool ok = in.files && in.texts && in.set && in.value;
  if (!ok) tf_out_of_memory(d);
  tf_spec *spec = ok ? read(s, &p, &in, d) : NULL;
  tf_arena_free(a);
  return spec;
}
