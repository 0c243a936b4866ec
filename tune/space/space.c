/* The space behind the interface that every strategy knows (search/common/space.h). */
#include <stdlib.h>
#include <string.h>

#include "tune/space/space.h"

static const char *const form_names[TF_N_TEMPLATES] = {"whole", "stream", "parts", "outside"};

const tune_form *tune_form_of(const tune_space *s, const int32_t *row) { return &s->form[row[TUNE_FORM]]; }

static void begin(tf_space *space) { ((tune_space *)space)->dead = false; }

/* The place of decision i among the knobs of the form taken; -1: it is another form's. */
static int place(const tune_space *s, int i) {
  const tune_form *f = &s->form[s->space.chosen[TUNE_FORM]];
  return i >= f->first && i < f->first + f->s->n_knobs ? i - f->first : -1;
}

static int domain(tf_space *space, int i, int32_t *out) {
  tune_space *s = (tune_space *)space;
  int64_t value[TF_DOMAIN_MAX];
  int n = 0, of = i == TUNE_FORM ? s->n_forms : i == TUNE_ISA ? s->n_isas : 0;
  if (s->dead) return 0;
  for (; n < of; n++)
    out[n] = n;
  if (of) return n;
  const int k = place(s, i);
  out[0] = 0;
  if (k < 0) return 1;
  const tune_form *f = &s->form[space->chosen[TUNE_FORM]];
  n = csp_values(f->s, &f->stack[k], f->s->knob[k], TF_DOMAIN_MAX, value);
  for (int j = 0; j < n; j++)
    out[j] = (int32_t)value[j];
  return n < 0 ? 0 : n;
}

static void take(tf_space *space, int i, int32_t choice) {
  tune_space *s = (tune_space *)space;
  space->chosen[i] = choice;
  const int k = i < TUNE_FIRST ? -1 : place(s, i);
  if (k < 0 || s->dead) return;
  tune_form *f = &s->form[space->chosen[TUNE_FORM]];
  csp_state_copy(f->s, &f->stack[k + 1], &f->stack[k]);
  s->dead = !csp_fix(f->s, &f->stack[k + 1], f->s->knob[k], choice);
}

/* A neighbour: a direction by lot. */
static void vary(tf_space *space, tf_rng *rng, const uint32_t *order, int32_t *row) {
  enum { TRIES = 64 };
  tune_space *s = (tune_space *)space;
  const int n = tune_directions(s);
  int32_t *to = malloc((size_t)space->n * sizeof *to);
  (void)order;
  for (int k = 0; to && k < TRIES; k++)
    if (tune_step(s, row, (int)tf_rng_below(rng, (uint32_t)n), to)) {
      memcpy(row, to, (size_t)space->n * sizeof *row);
      break;
    }
  free(to);
}

static const tf_space_kind kind = {.begin = begin, .domain = domain, .take = take, .vary = vary};

tune_space *tune_space_new(const tf_arch *arch, const tf_workload *wl, int n_isas, const char *const *isas,
                           tf_diags *d) {
  tf_arena *a = tf_arena_new();
  tune_space *s = TF_NEW(a, tune_space);
  if (!s) {
    tf_arena_free(a);
    tf_fail(d, wl->at, TF_E_LIMIT, "out of memory");
    return NULL;
  }
  *s = (tune_space){.arena = a, .arch = arch, .wl = wl, .n_isas = n_isas, .isa = isas};
  int n = TUNE_FIRST;
  for (int t = 0; t < TF_N_TEMPLATES; t++) {
    tune_form *f = &s->form[s->n_forms];
    *f = (tune_form){.name = form_names[t], .first = n, .tree = tf_search_template(arch, wl, (tf_template)t)};
    if (f->tree && tune_form_system(f, arch, wl, a)) {
      n += f->s->n_knobs;
      s->n_forms++;
    } else {
      tf_tree_free(f->tree);
      f->tree = NULL;
    }
  }
  s->space = (tf_space){.kind = &kind, .n = n, .chosen = TF_ARRAY(a, int32_t, (size_t)n)};
  if (s->n_forms && s->space.chosen && !tf_arena_failed(a)) return s;
  if (tf_arena_failed(a))
    tf_fail(d, wl->at, TF_E_LIMIT, "out of memory");
  else
    tf_fail(d, wl->at, TF_E_SHAPE,
            "no form of a schedule suits %.60s on %.40s: its ops share no loop, or the machine has one memory",
            wl->name ? wl->name : "the workload", arch->name ? arch->name : "the architecture");
  tune_space_free(s);
  return NULL;
}

void tune_space_free(tune_space *s) {
  if (!s) return;
  for (int k = 0; k < s->n_forms; k++)
    tf_tree_free(s->form[k].tree);
  tf_arena_free(s->arena);
}
