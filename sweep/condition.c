/* Conditions on the rows of a store. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sweep/store/sweep_store.h"

#include "base/locale.h"

/* Columns other than params; those of the goals and their bounds are in between. */
enum {
  ARCHITECTURE,
  WORKLOAD,
  MAPPING,
  STATE,
  BOTTLENECK,
  N_TEXTS,
  POINT = N_TEXTS,
  MACHINE,
  HELD,
  PROVED,
  EVALS,
  GOALS
};
enum { N_FIXED = GOALS + TF_N_GOALS + TF_GOAL_AREA, MOST = N_FIXED + TF_SWEEP_AXES };
static const char *const fixed[GOALS] = {"architecture", "workload", "mapping", "state",
                                         "bottleneck",   "point",    "machine", "held_words",
                                         "proved",       "evals"};

struct tf_condition {
  tf_arena *arena;
  sweep_expr *expr;
  const char *names[MOST];
  bool texts[MOST];
  char bounds[TF_GOAL_AREA][32];
  int n;
};

static void name_columns(tf_condition *c, const tf_sweep_grid *g) {
  for (int i = 0; i < GOALS; i++) {
    c->names[i] = fixed[i];
    c->texts[i] = i < N_TEXTS;
  }
  c->n = GOALS;
  for (int k = 0; k < TF_N_GOALS; k++)
    c->names[c->n++] = tf_goal_column(k);
  for (int k = 0; k < TF_GOAL_AREA; k++) {
    snprintf(c->bounds[k], sizeof c->bounds[k], "bound_%s", tf_goal_column(k));
    c->names[c->n++] = c->bounds[k];
  }
  for (int i = 0; i < g->n_axes; i++)
    for (int p = 0; p < g->axes[i].n_params && c->n < MOST; p++)
      c->names[c->n++] = g->axes[i].params[p];
}

/* Registers the text of the command line as a file, so that messages can point into it. */
static tf_ynode node_of(const char *text, tf_diags *d) {
  tf_ynode n = {.kind = TF_Y_SCALAR, .text = text, .len = strlen(text), .src = text};
  n.src_end = text + n.len;
  n.at = n.text_at = (tf_loc){tf_diags_add_file(d, "--where", text, n.len), 1, 1, (uint32_t)n.len};
  return n;
}

tf_condition *tf_condition_read(const char *text, const tf_store *s, tf_diags *d) {
  TF_IN_C_LOCALE;
  tf_condition *c = calloc(1, sizeof *c);
  if (c) c->arena = tf_arena_new();
  if (!c || !c->arena) {
    tf_out_of_memory(d);
    tf_condition_free(c);
    return NULL;
  }
  tf_reader r = {.arena = c->arena, .diags = d};
  tf_ynode node = node_of(text, d);
  name_columns(c, &s->grid);
  c->expr = sweep_expr_read(&r, &node, &(sweep_names){c->n, c->names, c->texts});
  if (c->expr) return c;
  tf_condition_free(c);
  return NULL;
}

void tf_condition_free(tf_condition *c) {
  if (!c) return;
  tf_arena_free(c->arena);
  free(c);
}

bool tf_condition_holds(const tf_condition *c, const tf_sweep_grid *g, const tf_sweep_row *r) {
  sweep_value v[MOST];
  tf_sweep_place p = tf_sweep_place_of(g, r->point);
  int n = GOALS;
  memset(v, 0, sizeof v);
  v[ARCHITECTURE].text = g->archs[p.arch].name;
  v[WORKLOAD].text = g->workloads[p.workload].name;
  v[MAPPING].text = p.mapping >= 0 ? g->mappings[p.mapping].name : "";
  v[STATE].text = tf_point_state_key((int)r->state);
  v[BOTTLENECK].text = r->bottleneck ? r->bottleneck : "";
  v[POINT].number = (double)r->point;
  v[MACHINE].number = (double)(r->point / g->n_cases);
  v[HELD].number = r->held_words;
  v[PROVED].number = r->proved;
  v[EVALS].number = (double)r->evals;
  for (int k = 0; k < TF_N_GOALS; k++)
    v[n++].number = r->figures[k];
  for (int k = 0; k < TF_GOAL_AREA; k++)
    v[n++].number = r->bounds[k];
  for (int i = 0; i < g->n_axes; i++)
    for (int k = 0; k < g->axes[i].n_params && n < MOST; k++)
      v[n++].number = g->axes[i].values[(int64_t)p.at[i] * g->axes[i].n_params + k];
  return sweep_expr_holds(c->expr, v);
}
