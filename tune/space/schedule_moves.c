/* Neighbours of a row, arranged so that the next larger divisor of one part is one step away
 * (thesis 4.3.2). */
#include <stdlib.h>
#include <string.h>

#include "tune/space/schedules.h"

int tune_directions(const tune_space *s) {
  int n = 4; /* form and instruction set, one up and one down each */
  for (int k = 0; k < s->n_forms; k++) {
    n += 2 * s->form[k].s->n_knobs;
    for (int i = 0; i < s->form[k].n_splits; i++)
      n += s->form[k].split[i].n * (s->form[k].split[i].n - 1);
  }
  return n;
}

/* Whether the row, after some choices were changed, is in the space. */
static bool is_row(tune_space *s, const int32_t *row) {
  int32_t value[TF_DOMAIN_MAX];
  s->space.kind->begin(&s->space);
  for (int i = 0; i < s->space.n; i++) {
    const int n = s->space.kind->domain(&s->space, i, value);
    bool there = false;
    for (int k = 0; k < n; k++)
      there |= value[k] == row[i];
    if (!there) return false;
    s->space.kind->take(&s->space, i, row[i]);
  }
  return !s->dead;
}

/* Whether `to`, a step from the row, is there. */
static bool is_there(tune_space *s, const int32_t *row, int32_t *to) {
  return s->settle ? s->settle(&s->space, row, NULL, to) : is_row(s, to);
}

/* Part i becomes the next larger divisor of both parts' product; j the cofactor. */
static bool move(int32_t *i, int32_t *j) {
  const int64_t both = (int64_t)*i * *j;
  for (int64_t x = *i + INT64_C(1); x <= both; x++)
    if (both % x == 0) {
      *i = (int32_t)x;
      *j = (int32_t)(both / x);
      return true;
    }
  return false;
}

/* The next or previous value in the knob's own domain, cyclically. */
static bool next_value(const csp_var *x, bool up, int32_t *value) {
  for (int k = 0; k < x->n; k++)
    if (x->set[k] == *value) {
      *value = (int32_t)x->set[(k + (up ? 1 : x->n - 1)) % x->n];
      return x->n > 1;
    }
  return false;
}

static bool in_split(const tune_form *f, int knob) {
  for (int i = 0; i < f->n_splits; i++)
    for (int k = 0; k < f->split[i].n; k++)
      if (f->split[i].knob[k] == knob) return true;
  return false;
}

/* Another form, or another instruction set: the first row of that form. */
static bool change_form(tune_space *s, int direction, int32_t *to) {
  const int at = direction / 2, of = at == TUNE_FORM ? s->n_forms : s->n_isas;
  if (of < 2) return false;
  to[at] = (to[at] + (direction % 2 ? 1 : of - 1)) % of;
  if (at == TUNE_ISA) return true;
  if (!tf_space_follow(&s->space, to) || s->dead) return false;
  memcpy(to, s->space.chosen, (size_t)s->space.n * sizeof *to);
  return true;
}

bool tune_step(tune_space *s, const int32_t *row, int direction, int32_t *to) {
  memcpy(to, row, (size_t)s->space.n * sizeof *to);
  if (direction < 4) return change_form(s, direction, to);
  direction -= 4;
  for (int k = 0; k < s->n_forms; k++) {
    const tune_form *f = &s->form[k];
    const bool taken = k == row[TUNE_FORM];
    if (direction < 2 * f->s->n_knobs) {
      const int knob = direction / 2;
      return taken && !in_split(f, knob) &&
             next_value(&f->s->var[f->s->knob[knob]], direction % 2, &to[f->first + knob]) &&
             is_there(s, row, to);
    }
    direction -= 2 * f->s->n_knobs;
    for (int i = 0; i < f->n_splits; i++) {
      const tune_split *x = &f->split[i];
      if (direction < x->n * (x->n - 1)) {
        const int a = direction / (x->n - 1), b = (a + 1 + direction % (x->n - 1)) % x->n;
        return taken && move(&to[f->first + x->knob[a]], &to[f->first + x->knob[b]]) &&
               is_there(s, row, to);
      }
      direction -= x->n * (x->n - 1);
    }
  }
  return false;
}

/* A row's knobs as values of the system's variables. */
static void knobs_of(const tune_form *f, const int32_t *row, int64_t *value) {
  for (int k = 0; k < f->s->n_knobs; k++)
    value[f->s->knob[k]] = row[f->first + k];
}

bool tune_breed(tune_space *s, tf_rng *rng, const int32_t *a, const int32_t *b, bool mutate,
                int32_t *child) {
  const tune_form *f = tune_form_of(s, a);
  const size_t n = (size_t)f->s->n_vars + 1;
  memcpy(child, a, (size_t)s->space.n * sizeof *child);
  if (a[TUNE_FORM] != b[TUNE_FORM]) {
    tf_space_vary(&s->space, rng, NULL, child);
    return true;
  }
  int64_t *value = malloc(3 * n * sizeof *value);
  if (!value) return false;
  knobs_of(f, a, value);
  knobs_of(f, b, value + n);
  const csp_parents p = {value, value + n, f->s->n_knobs, f->s->knob};
  const bool ok = csp_cross(f->s, rng, &p, mutate, value + 2 * n) == CSP_FOUND;
  for (int k = 0; ok && k < f->s->n_knobs; k++)
    child[f->first + k] = (int32_t)value[2 * n + (size_t)f->s->knob[k]];
  if (ok && tf_rng_below(rng, 2)) child[TUNE_ISA] = b[TUNE_ISA];
  free(value);
  return ok && (!s->settle || s->settle(&s->space, a, b, child));
}

const tune_form *tune_form_of(const tune_space *s, const int32_t *row) {
  return &s->form[row[TUNE_FORM]];
}
