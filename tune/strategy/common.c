/* What the strategies share: known rows, random rows, and rows as feature vectors. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tune/strategy/tune_strategy.h"

static size_t width(const tune_context *w) { return (size_t)w->s->space.n; }

bool tune_new(const tune_context *w, const int32_t *row) {
  for (int k = 0; k < w->n_asked; k++)
    if (!memcmp(&w->asked[(size_t)k * width(w)], row, width(w) * sizeof *row)) return false;
  return true;
}

void tune_note(tune_context *w, const int32_t *row) {
  if (!tune_new(w, row)) return;
  if (w->n_asked == w->room) {
    const int to = w->room ? 2 * w->room : 64;
    int32_t *more = TF_ARRAY(w->arena, int32_t, (size_t)to * width(w));
    if (!more) return;
    if (w->n_asked) memcpy(more, w->asked, (size_t)w->n_asked * width(w) * sizeof *more);
    w->asked = more;
    w->room = to;
  }
  memcpy(&w->asked[(size_t)w->n_asked++ * width(w)], row, width(w) * sizeof *row);
}

bool tune_take(tune_context *w, const int32_t *row) {
  if (!tune_new(w, row)) return false;
  w->drawn++;
  if (!isfinite(w->model(w->ctx, row))) {
    w->unfit++;
    return false;
  }
  tune_note(w, row);
  return true;
}

bool tune_draw(tune_context *w, int32_t *row) {
  enum { TRIES = 400 };
  for (int k = 0; k < TRIES; k++) {
    if (!tf_space_random(&w->s->space, &w->rng)) return false;
    memcpy(row, w->s->space.chosen, width(w) * sizeof *row);
    if (tune_take(w, row)) return true;
  }
  return false;
}

void tune_features(const tune_space *s, const int32_t *row, double *x) {
  for (int i = 0; i < s->n_features; i++)
    x[i] = 0;
  x[TUNE_FORM] = (row[TUNE_FORM] + 1.0) / s->n_forms;
  x[TUNE_ISA] = (row[TUNE_ISA] + 1.0) / s->n_isas;
  const tune_form *f = tune_form_of(s, row);
  for (int k = 0; k < f->s->n_knobs; k++) {
    const csp_var *v = &f->s->var[f->s->knob[k]];
    const int32_t choice = row[f->first + k];
    x[f->feature[k]] =
        !tune_is_loop(&f->knob[k]) ? (choice + 1.0) / (v->n + 1.0) : log2((double)choice) / 8;
  }
}

bool tune_points_add(tune_points *p, tf_arena *a, int n, const int32_t *row, double seconds) {
  p->width = n;
  if (p->n == p->room) {
    const int to = p->room ? 2 * p->room : 64;
    int32_t *rows = TF_ARRAY(a, int32_t, (size_t)to * (size_t)n);
    double *times = TF_ARRAY(a, double, (size_t)to);
    if (!rows || !times) return false;
    if (p->n) memcpy(rows, p->row, (size_t)p->n * (size_t)n * sizeof *rows);
    if (p->n) memcpy(times, p->seconds, (size_t)p->n * sizeof *times);
    p->row = rows;
    p->seconds = times;
    p->room = to;
  }
  int k = p->n++;
  for (; k > 0 && p->seconds[k - 1] > seconds; k--) {
    p->seconds[k] = p->seconds[k - 1];
    memcpy(&p->row[(size_t)k * (size_t)n], tune_point(p, k - 1), (size_t)n * sizeof *row);
  }
  p->seconds[k] = seconds;
  memcpy(&p->row[(size_t)k * (size_t)n], row, (size_t)n * sizeof *row);
  return true;
}

int tune_points_start(const tune_points *p, tf_rng *rng, double gamma) {
  double all = 0;
  for (int k = 0; k < p->n; k++)
    all += exp(-gamma * (1 - p->seconds[0] / p->seconds[k]));
  double lot = tf_rng_unit(rng) * all;
  for (int k = 0; k < p->n; k++)
    if ((lot -= exp(-gamma * (1 - p->seconds[0] / p->seconds[k]))) < 0) return k;
  return p->n - 1;
}
