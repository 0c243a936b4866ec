/* What a file says and the model has no place for: warnings, and comments in the result.  What
 * changes no number here is folded into one line for each reason, so that what does is seen. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/import/timeloop/timeloop.h"

struct tl_folded {
  tl_folded *next;
  tl_reason reason;
  tf_loc at;
  const char *text;
};

/* The part of a value that a message shows. */
static int shown(const char *text) {
  size_t n = strcspn(text, "\n");
  return (int)(n < 60 ? n : 60);
}

const char *tl_value_text(const tf_ynode *value) {
  return value->kind == TF_Y_SCALAR ? value->text : tf_ynode_what(value);
}

static void note_case(tl_case *c, tf_loc at, const char *text) {
  tf_warn(c->diags, at, "%s", text);
  tf_page_add(c->notes, "# %s\n", text);
}

void tl_lost(tl_case *c, tf_loc at, const char *fmt, ...) {
  char text[240];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  note_case(c, at, text);
}

void tl_fold(tl_case *c, tl_reason reason, tf_loc at, const char *fmt, ...) {
  char text[160];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  tl_folded **last = &c->folded;
  for (; *last; last = &(*last)->next)
    if ((*last)->reason == reason && !strcmp((*last)->text, text)) return;
  tl_folded *f = TF_NEW(c->arena, tl_folded);
  if (!f) return;
  *f = (tl_folded){NULL, reason, at, tf_arena_strndup(c->arena, text, strlen(text))};
  if (f->text) *last = f;
}

void tl_note(tl_case *c, const tf_ynode *key, const tf_ynode *value, const char *name) {
  const char *text = tl_value_text(value);
  tl_lost(c, key->at, "not modelled: %.60s %.*s of %.60s", key->text, shown(text), text, name);
}

/* Each thing once, as many as a line has room for. */
static void list(const tl_case *c, tl_reason reason, char *out, size_t size) {
  size_t used = 0;
  int left = 0;
  out[0] = '\0';
  for (const tl_folded *f = c->folded; f; f = f->next) {
    if (f->reason != reason) continue;
    size_t n = strlen(f->text) + (used ? 2 : 0);
    if (left || used + n + 24 > size) {
      left++;
      continue;
    }
    used += (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "", f->text);
  }
  if (left) snprintf(out + used, size - used, " and %d more", left);
}

/* An element is a word of every memory, whatever its width: widths decide default energies and
 * areas alone, which are those of the outermost memory's words. */
static void tell_widths(tl_case *c) {
  const int64_t all = c->n_levels && c->level[0].word_bits ? c->level[0].word_bits : 16;
  for (int i = 1; i < c->n_levels; i++) {
    const tl_level *l = &c->level[i];
    if (l->kind != TL_MEMORY || !l->word_bits || l->word_bits == all) continue;
    if (l->read_pj >= 0)
      tl_fold(c, TL_NOTHING, l->at, "words of %d bits of %.40s", (int)l->word_bits, l->name);
    else
      tl_lost(c, l->at,
              "words of %d bits of %.40s: here its default energy and area are of words of %d bits",
              (int)l->word_bits, l->name, (int)all);
  }
}

void tl_tell_folded(tl_case *c) {
  static const char *const lead[TL_N_REASONS] = {
      [TL_UNIFORM] =
          "structured densities (fixed_structured) are uniform here, of the same share: ",
      [TL_TABLES] = "read by estimators of energy and area alone: ",
      [TL_ACTIONS] = "not counted, of the energy tables: ",
      [TL_NOTHING] = "without effect here: "};
  tell_widths(c);
  for (int r = 0; r < TL_N_REASONS; r++) {
    char things[150], text[240];
    const tl_folded *f = c->folded;
    while (f && f->reason != (tl_reason)r)
      f = f->next;
    if (!f) continue;
    list(c, (tl_reason)r, things, sizeof things);
    snprintf(text, sizeof text, "%s%s", lead[r], things);
    note_case(c, f->at, text);
  }
}
