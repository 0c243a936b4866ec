/* A schedule as text, one decision per line; it can be read back:
 *
 *   form whole
 *   isa avx512
 *   split L2.m 8            the trip count of the loop over m in the Tile of L2
 *   order L2.order k m n    the temporal loops of that Tile, outermost first
 *   choose kernel.tile 3    a choice of the generator (TF_CHOICES)
 *
 * Splits of 1, orders as in the form, and choices left to the generator need no line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "tileflow/tree.h"
#include "tune/space/schedules.h"

/* ---- printing -------------------------------------------------------------------------------- */
static void print_order(FILE *out, const tune_space *s, const tune_form *f, int k, int32_t choice) {
  const tf_node *n = &f->tree->nodes[f->knob[k].node];
  int order[TUNE_ORDER_LOOPS];
  tune_order(n->n_temporal, choice, order);
  fprintf(out, "order %s", f->s->var[f->s->knob[k]].name);
  for (int i = 0; i < n->n_temporal; i++)
    fprintf(out, " %s", s->wl->dims[n->loops[order[i]].dim].name);
  fputc('\n', out);
}

char *tune_trace(const tune_space *s, const int32_t *row) {
  const tune_form *f = tune_form_of(s, row);
  char *text = NULL;
  size_t len;
  FILE *out = open_memstream(&text, &len);
  if (!out) return NULL;
  fprintf(out, "form %s\nisa %s\n", f->name, s->isa[row[TUNE_ISA]]);
  for (int k = 0; k < f->s->n_knobs; k++) {
    const int32_t choice = row[f->first + k];
    const char *name = f->s->var[f->s->knob[k]].name;
    if (tune_is_order(&f->knob[k]) && choice > 0) print_order(out, s, f, k, choice);
    if (tune_is_loop(&f->knob[k]) && choice > 1) fprintf(out, "split %s %d\n", name, (int)choice);
    if (tune_is_choice(&f->knob[k]) && choice > 0)
      fprintf(out, "choose %s %s\n", name, tf_choice_at((tf_choice)f->knob[k].loop)->value[choice]);
  }
  if (fclose(out) == 0) return text;
  free(text);
  return NULL;
}

/* ---- reading --------------------------------------------------------------------------------- */
typedef struct {
  tune_space *s;
  tf_diags *d;
  uint16_t file;
  uint32_t line;
  const char *start, *at, *end;
  int32_t *row;
  const tune_form *f; /* NULL: no line has named it yet */
  bool *said;         /* [f->s->n_knobs] */
  tf_loc *where;
  bool ok;
} reader;

typedef struct {
  const char *text;
  size_t len;
} word;

static word next(reader *r) {
  while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\r'))
    r->at++;
  word w = {r->at, 0};
  if (r->at < r->end && *r->at == '#') r->at = r->end;
  while (r->at < r->end && !strchr(" \t\r#", *r->at) && *r->at)
    r->at++, w.len++;
  if (r->at < r->end && !*r->at) r->at++, w.len++; /* a NUL: no word that is known */
  return w;
}

static tf_loc loc_of(const reader *r, word w) {
  return (tf_loc){r->file, r->line, (uint32_t)(w.text - r->start) + 1, w.len ? (uint32_t)w.len : 1};
}

#define FAIL(r, w, code, ...) ((r)->ok = tf_fail((r)->d, loc_of(r, w), code, __VA_ARGS__))
static bool word_is(word w, const char *text) {
  return strlen(text) == w.len && !memcmp(text, w.text, w.len);
}

static void unknown(reader *r, word w, const char *what, tf_near *near) {
  char text[160];
  FAIL(r, w, TF_E_NAME, "no %s '%.*s'%s", what, w.len > 60 ? 60 : (int)w.len, w.text,
       tf_near_text(near, text, sizeof text));
}

static void take_form(reader *r, word w) {
  tf_near near = tf_near_start(w.text, w.len);
  if (r->f) {
    FAIL(r, w, TF_E_DUP, "the form is said already: %s", r->f->name);
    return;
  }
  for (int k = 0; k < r->s->n_forms; k++) {
    tf_near_offer(&near, r->s->form[k].name);
    if (!word_is(w, r->s->form[k].name)) continue;
    r->f = &r->s->form[k];
    r->row[TUNE_FORM] = k;
    r->said = TF_ARRAY(r->s->arena, bool, (size_t)r->f->s->n_knobs);
    r->where = TF_ARRAY(r->s->arena, tf_loc, (size_t)r->f->s->n_knobs);
    for (int i = 0; i < r->f->s->n_knobs; i++)
      r->row[r->f->first + i] = tune_is_loop(&r->f->knob[i]) ? 1 : 0;
    if (!r->said || !r->where) r->ok = tf_out_of_memory_at(r->d, loc_of(r, w));
    return;
  }
  unknown(r, w, "form that suits the workload is called", &near);
}

static void take_isa(reader *r, word w) {
  tf_near near = tf_near_start(w.text, w.len);
  for (int k = 0; k < r->s->n_isas; k++) {
    tf_near_offer(&near, r->s->isa[k]);
    if (!word_is(w, r->s->isa[k])) continue;
    r->row[TUNE_ISA] = k;
    return;
  }
  unknown(r, w, "instruction set of this computer is called", &near);
}

/* What a kind of line says; each line names a knob for which `is` holds. */
typedef struct {
  const char *word, *what;
  bool (*is)(const tune_knob *k);
  void (*take)(reader *r, int k); /* the rest of the line */
} line_row;

/* The knob of that name; -1 after an error. */
static int knob(reader *r, word w, const line_row *row) {
  tf_near near = tf_near_start(w.text, w.len);
  for (int k = 0; k < r->f->s->n_knobs; k++) {
    const char *name = r->f->s->var[r->f->s->knob[k]].name;
    if (!row->is(&r->f->knob[k])) continue;
    tf_near_offer(&near, name);
    if (!word_is(w, name)) continue;
    if (r->said[k]) return FAIL(r, w, TF_E_DUP, "'%s' is said already", name), -1;
    r->said[k] = true;
    r->where[k] = loc_of(r, w);
    return k;
  }
  unknown(r, w, row->what, &near);
  return -1;
}

static void take_split(reader *r, int k) {
  word w = next(r);
  int64_t value = 0;
  for (size_t i = 0; i < w.len && value >= 0; i++)
    value = w.text[i] >= '0' && w.text[i] <= '9' && value < 1000000000
                ? value * 10 + (w.text[i] - '0')
                : -1;
  const csp_var *x = &r->f->s->var[r->f->s->knob[k]];
  bool there = false;
  for (int i = 0; i < x->n; i++)
    there |= x->set[i] == value;
  if (there && w.len)
    r->row[r->f->first + k] = (int32_t)value;
  else
    FAIL(r, w, TF_E_RANGE,
         "'%.*s' is no factor that '%s' may have: a divisor of what it splits, at most %lld",
         w.len > 40 ? 40 : (int)w.len, w.text, x->name, (long long)x->hi);
}

static void take_order(reader *r, int k) {
  int order[TUNE_ORDER_LOOPS];
  const tf_node *n = &r->f->tree->nodes[r->f->knob[k].node];
  const word first = {r->at, 0};
  word w[TUNE_ORDER_LOOPS];
  for (int i = 0; i < n->n_temporal; i++)
    w[i] = next(r);
  for (int c = 0; c < tune_orders(n->n_temporal); c++) {
    bool same = true;
    tune_order(n->n_temporal, c, order);
    for (int i = 0; i < n->n_temporal; i++)
      same &= word_is(w[i], r->s->wl->dims[n->loops[order[i]].dim].name);
    if (same) {
      r->row[r->f->first + k] = c;
      return;
    }
  }
  FAIL(r, first, TF_E_ORDER, "no order of the space: all %d loops of the Tile, each once%s",
       n->n_temporal,
       n->n_temporal > 4 ? ", those between the outermost and the innermost as the form has them"
                         : "");
}

static void take_choice(reader *r, int k) {
  const word w = next(r);
  const tf_choice_row *row = tf_choice_at((tf_choice)r->f->knob[k].loop);
  tf_near near = tf_near_start(w.text, w.len);
  char what[96];
  for (int i = 0; row->value[i]; i++) {
    tf_near_offer(&near, row->value[i]);
    if (!word_is(w, row->value[i])) continue;
    r->row[r->f->first + k] = i;
    return;
  }
  snprintf(what, sizeof what, "value of 'kernel.%.40s' is", row->name);
  unknown(r, w, what, &near);
}

static const line_row lines[] = {
    {"split", "loop of this form is called", tune_is_loop, take_split},
    {"order", "order of this form is called", tune_is_order, take_order},
    {"choose", "choice for a kernel of this workload is called", tune_is_choice, take_choice},
};
enum { N_LINES = sizeof lines / sizeof *lines };

static void take_knob(reader *r, const line_row *row) {
  const int k = knob(r, next(r), row);
  if (k >= 0) row->take(r, k);
}

static void line(reader *r) {
  char text[160];
  word w = next(r);
  const line_row *row = NULL;
  if (w.len == 0) return;
  tf_near near = tf_near_start(w.text, w.len);
  tf_near_offer(&near, "form");
  tf_near_offer(&near, "isa");
  for (int i = 0; i < N_LINES; i++) {
    tf_near_offer(&near, lines[i].word);
    if (word_is(w, lines[i].word)) row = &lines[i];
  }
  if (word_is(w, "form"))
    take_form(r, next(r));
  else if (word_is(w, "isa"))
    take_isa(r, next(r));
  else if (!row) {
    FAIL(r, w, TF_E_KEY, "no line of a schedule begins with '%.*s'%s", w.len > 40 ? 40 : (int)w.len,
         w.text, tf_near_text(&near, text, sizeof text));
    return;
  } else if (!r->f) {
    FAIL(r, w, TF_E_MISSING, "a schedule begins with 'form NAME', which says what loops there are");
    r->at = r->end;
    return;
  } else
    take_knob(r, row);
  w = next(r);
  if (w.len && r->ok)
    FAIL(r, w, TF_E_SYNTAX, "expected the line's end, not '%.*s'", w.len > 40 ? 40 : (int)w.len,
         w.text);
}

tf_choices tune_trace_choices(const char *text) {
  tf_choices all = {{0}};
  for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
    char name[40], value[40];
    if (sscanf(text, "choose kernel.%39s %39s", name, value) != 2) continue;
    for (int c = 0; c < TF_N_CHOICES; c++)
      for (int k = 0; tf_choice_at((tf_choice)c)->value[k]; k++)
        if (!strcmp(name, tf_choice_at((tf_choice)c)->name) &&
            !strcmp(value, tf_choice_at((tf_choice)c)->value[k]))
          all.at[c] = (signed char)k;
  }
  return all;
}

/* Takes knob after knob: the first that leaves nothing is reported, at its line if it has one. */
static bool check(reader *r) {
  const tune_form *f = r->f;
  r->s->space.kind->begin(&r->s->space);
  for (int i = 0; i < r->s->space.n; i++) {
    r->s->space.kind->take(&r->s->space, i, r->row[i]);
    if (!r->s->dead) continue;
    const int k = i - f->first;
    const char *name = f->s->var[f->s->knob[k]].name;
    if (r->said[k])
      return tf_fail(r->d, r->where[k], TF_E_COVER,
                     "%d is not left for '%s': factors multiply to what is split, and tiles fit "
                     "their memories",
                     (int)r->row[i], name);
    return tf_fail(
        r->d, (tf_loc){r->file, r->line, 1, 1}, TF_E_COVER,
        "no line says 'split %s', and 1 is not left for it: factors multiply to what is split",
        name);
  }
  return true;
}

bool tune_trace_read(tune_space *s, uint16_t file, const char *text, size_t len, int32_t *row,
                     tf_diags *d) {
  reader r = {.s = s, .d = d, .file = file, .row = row, .ok = true};
  bool all = true;
  const char *end = text + len;
  memset(row, 0, (size_t)s->space.n * sizeof *row);
  while (text < end) {
    const char *stop = memchr(text, '\n', (size_t)(end - text));
    r.start = r.at = text;
    r.end = stop ? stop : end;
    r.line++;
    r.ok = true;
    line(&r);
    if (tf_arena_failed(s->arena)) return false; /* reported */
    all &= r.ok;
    text = stop ? stop + 1 : end;
  }
  if (!r.f && all)
    all = tf_fail(d, (tf_loc){file, r.line ? r.line : 1, 1, 1}, TF_E_MISSING,
                  "a schedule begins with 'form NAME', which says what loops there are");
  return all && r.f && check(&r);
}
