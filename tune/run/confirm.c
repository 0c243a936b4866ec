#include "tune/run/confirm.h"

#include <stdlib.h>
#include <string.h>

#include "tileflow/tree.h"
#include "tune/space/schedules.h"

enum {
  OWN = 4,
  MOST = OWN + 1
}; /* finalists of the run, the first choice among them; and one of the store */

typedef struct {
  int n;
  tune_finalist finalist[MOST];
  tf_emitted *files[MOST];
} finals;

const char *tune_kernel_text(const tf_emitted *e) {
  for (int f = 0; f < e->n; f++)
    if (!strncmp(e->file[f].name, "kernel", 6) && strstr(e->file[f].name, ".c"))
      return e->file[f].text;
  return "";
}

static bool is_own(const tune_end *e, const tune_finalist *f) { return f->run == e->run; }

static bool is_chosen(const finals *f, int no) {
  for (int k = 0; k < f->n; k++)
    if (f->finalist[k].no == no) return true;
  return false;
}

/* The fastest trial that is not chosen yet; -1: none. */
static int next_of(const tune_end *e, const finals *f) {
  int best = -1;
  for (int k = 0; k < e->out->n; k++) {
    const tf_trial *t = &e->out->trials[k];
    if (t->timing.verdict != TF_TUNE_RAN || t->same || is_chosen(f, k)) continue;
    if (best < 0 || t->timing.seconds < e->out->trials[best].timing.seconds) best = k;
  }
  return best;
}

static void choose_own(const tune_end *e, finals *f) {
  const bool first = e->out->n > 0 && e->out->trials[0].timing.verdict == TF_TUNE_RAN;
  if (first) f->finalist[f->n++] = (tune_finalist){.run = e->run};
  for (int k = next_of(e, f); k >= 0 && f->n < OWN; k = next_of(e, f))
    f->finalist[f->n++] = (tune_finalist){.run = e->run, .no = k};
}

/* ---- kernels --------------------------------------------------------------------------------- */
/* The kernel of a mapping and what its schedule says beside; NULL: there is none. */
static tf_emitted *kernel_of(const tune_end *e, const char *mapping, const char *isa,
                             const char *schedule) {
  tf_emit_options o = e->o->plan.kernel;
  tf_diags *d = tf_diags_new();
  tf_tree *t = d ? tf_tree_parse(mapping, (tf_loc){0}, e->arch, e->wl, d) : NULL;
  o.isa = isa;
  o.choices = tune_trace_choices(schedule);
  tf_emitted *files = t ? tf_emit(t, "cpu", &o, d) : NULL;
  tf_tree_free(t);
  tf_diags_free(d);
  return files;
}

static bool is_new(const finals *f, const tf_emitted *files) {
  for (int k = 0; k < f->n; k++)
    if (!strcmp(tune_kernel_text(f->files[k]), tune_kernel_text(files))) return false;
  return true;
}

/* Emits the kernels; trials without one are left out. */
static void emit_own(const tune_end *e, finals *f) {
  const finals chosen = *f;
  f->n = 0;
  for (int k = 0; k < chosen.n; k++) {
    const tf_trial *t = &e->out->trials[chosen.finalist[k].no];
    tf_emitted *files = kernel_of(e, t->mapping, t->isa, t->text);
    if (files && is_new(f, files)) {
      f->finalist[f->n] = chosen.finalist[k];
      f->files[f->n++] = files;
    } else {
      tf_emitted_free(files);
    }
  }
}

/* Adds the fastest of the other runs, if it is another kernel. */
static bool add_stored(const tune_end *e, finals *f) {
  tf_tune_best best;
  tune_finalist who;
  char *schedule;
  bool there;
  if (!tune_store_best(e->store, &e->what, &there, &best, &schedule, &who, e->d)) return false;
  tf_emitted *files =
      there && !is_own(e, &who) ? kernel_of(e, best.mapping, best.isa, schedule) : NULL;
  if (files && is_new(f, files)) {
    f->finalist[f->n] = who;
    f->files[f->n++] = files;
    files = NULL;
  }
  tf_emitted_free(files);
  free(best.mapping);
  free(best.isa);
  free(schedule);
  return true;
}

/* ---- the round ------------------------------------------------------------------------------- */
/* Times them; those that do not run this time are left out.  False: it was ended. */
static bool time_all(tune_end *e, finals *f) {
  tf_timing timing[MOST] = {0};
  e->gave_up = !e->o->confirm(e->o->ctx, (const tf_emitted *const *)f->files, f->n, timing);
  int n = 0;
  for (int k = 0; k < f->n && !e->gave_up; k++) {
    tf_emitted *files = f->files[k];
    const bool ran = timing[k].verdict == TF_TUNE_RAN && timing[k].seconds > 0;
    f->finalist[n] = f->finalist[k];
    f->finalist[n].confirmed = timing[k].seconds;
    f->files[k] = f->files[n];
    f->files[n] = files;
    n += ran;
  }
  f->n = n;
  return !e->gave_up;
}

/* Notes the times in the trials of this run, and which is the best. */
static void note(const tune_end *e, const finals *f) {
  double least = 0;
  for (int k = 0; k < f->n; k++) {
    if (!is_own(e, &f->finalist[k])) continue;
    const double seconds = f->finalist[k].confirmed;
    e->out->trials[f->finalist[k].no].confirmed = seconds;
    if (least > 0 && seconds >= least) continue;
    least = seconds;
    e->out->best = f->finalist[k].no;
  }
}

bool tune_confirm(tune_end *e) {
  finals f = {0};
  bool all = false;
  choose_own(e, &f);
  if (!e->o->confirm || f.n == 0) return true;
  bool ok = tune_store_confirmed(e->store, e->run, f.finalist, f.n, &all, e->d);
  if (ok && !all) {
    emit_own(e, &f);
    ok = add_stored(e, &f);
    const int emitted = f.n;
    if (ok && f.n > 1)
      ok = time_all(e, &f) && tune_store_confirm(e->store, e->run, f.finalist, f.n, e->d);
    for (int k = 0; k < emitted; k++)
      tf_emitted_free(f.files[k]);
  }
  if (ok && f.n > 1) note(e, &f);
  return ok;
}
