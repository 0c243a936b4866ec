/* How large a space of schedules is: its systems as text, and the exact number of what they leave.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/locale.h"
#include "base/names.h"
#include "tileflow/tune.h"
#include "tune/space/schedules.h"

/* Values that are tried at most, for all schedules and for those that fit. */
enum { STEPS_ALL = 1000000, STEPS_FIT = 300000 };

/* A malloc'd text of the number of solutions, or of different knobs; "": not counted.  NULL: out of
 * memory. */
static char *number_of(const csp *s, bool knobs, int64_t steps) {
  csp_total n;
  char text[CSP_TOTAL_TEXT];
  const csp_answer answer = s ? csp_count(s, knobs, steps, &n) : CSP_NO_MEMORY;
  return answer == CSP_NO_MEMORY ? NULL
                                 : strdup(answer == CSP_GAVE_UP ? "" : csp_total_text(n, text));
}

/* "12 PROD, 3 LE"; malloc'd. */
static char *kinds_of(const csp *s) {
  static const char *const word[] = {CSP_KINDS(TF_NAME_ROW)};
  int n[CSP_N_KINDS] = {0}, any = 0;
  char *out = NULL;
  size_t len;
  FILE *f = open_memstream(&out, &len);
  for (int r = 0; r < s->n_rules; r++)
    n[s->rule[r].kind]++;
  for (int k = 0; f && k < CSP_N_KINDS; k++)
    if (n[k]) fprintf(f, "%s%d %s", any++ ? ", " : "", n[k], word[k]);
  if (f && fclose(f) == 0) return out;
  free(out);
  return NULL;
}

bool tune_size_of(const csp *s, const char *name, bool knobs, tf_space_form *out) {
  tf_arena *a = tf_arena_new();
  int constants = 0;
  for (int v = 0; v < s->n_vars; v++)
    constants += s->var[v].constant;
  *out = (tf_space_form){.name = name,
                         .knobs = s->n_knobs,
                         .variables = s->n_vars - constants,
                         .constraints = s->n_rules,
                         .kinds = kinds_of(s),
                         .all = knobs ? number_of(csp_splits(s, a), true, STEPS_ALL) : strdup(""),
                         .fit = number_of(s, knobs, STEPS_FIT),
                         .text = csp_text(s)};
  tf_arena_free(a);
  return out->kinds && out->all && out->fit && out->text;
}

bool tf_tune_size(const tf_arch *arch, const tf_workload *wl, const tf_text *constraints,
                  tf_space_size *out, tf_diags *d) {
  TF_IN_C_LOCALE;
  const char *isa = "";
  *out = (tf_space_size){0};
  tune_space *s = tf_no_views(wl, d) ? tune_space_new(arch, wl, 1, &isa, constraints, d) : NULL;
  bool ok = s;
  for (int f = 0; ok && f < s->n_forms; f++)
    ok = tune_size_of(s->form[f].s, s->form[f].name, true, &out->form[out->n++]) ||
         tf_out_of_memory_at(d, wl->at);
  tune_space_free(s);
  return ok;
}

void tf_space_size_free(tf_space_size *s) {
  if (!s) return;
  for (int f = 0; f < s->n; f++) {
    free(s->form[f].kinds);
    free(s->form[f].all);
    free(s->form[f].fit);
    free(s->form[f].text);
  }
}
