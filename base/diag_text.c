/* Renders diagnostics: message, source line, caret. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag_list.h"
#include "base/grow.h"
#include "base/locale.h"
#include "base/utf8.h"

enum { SHOWN = 96, LEAD = 40 }; /* columns shown of a long line, of these before the caret */

/* A growing text; bad once memory ran out. */
typedef struct {
  char *text;
  size_t len, room;
  bool bad;
} out;

static void put_bytes(out *o, const char *s, size_t n) {
  o->bad |= !tf_grow_text(&o->text, &o->room, o->len + n + 1);
  if (o->bad) return;
  memcpy(o->text + o->len, s, n);
  o->len += n;
  o->text[o->len] = '\0';
}

static void put_text(out *o, const char *s) { put_bytes(o, s, strlen(s)); }

static void put_repeat(out *o, char c, size_t n) {
  for (size_t i = 0; i < n; i++)
    put_bytes(o, &c, 1);
}

/* Where the lines of one file start; made anew when the file changes. */
typedef struct {
  uint16_t file;
  size_t n, *start;
} line_index;

static bool index_lines(line_index *x, const tf_diags *d, uint16_t file) {
  if (x->file == file) return true;
  const char *text = d->files[file - 1].text, *end = text + d->files[file - 1].len;
  size_t n = 1;
  for (const char *p = text; p < end;) {
    size_t b = tf_line_break(p, end);
    n += b > 0;
    p += b ? b : 1;
  }
  size_t *start = realloc(x->start, n * sizeof *start);
  if (!start) return false;
  *x = (line_index){file, 1, start};
  start[0] = 0;
  for (const char *p = text; p < end;) {
    size_t b = tf_line_break(p, end);
    p += b ? b : 1;
    if (b) start[x->n++] = (size_t)(p - text);
  }
  return true;
}

/* Prints one column of source: a printable code point, else '?' (a blank for a tab). */
static size_t put_column(out *o, const char *p, const char *end, bool show) {
  uint32_t code;
  size_t n = tf_utf8_next(p, end, &code);
  if (!show) return n ? n : 1;
  if (n && tf_printable(code))
    put_bytes(o, p, n);
  else
    put_text(o, code == '\t' ? " " : "?");
  return n ? n : 1;
}

/* Columns from p to the end of its line. */
static size_t count_columns(const char *p, const char *end) {
  size_t n = 0;
  uint32_t code;
  for (; p < end && !tf_line_break(p, end); n++) {
    size_t bytes = tf_utf8_next(p, end, &code);
    p += bytes ? bytes : 1;
  }
  return n;
}

/* The source line of `at` and a caret under it; a long line is cut around the caret. */
static void put_source(out *o, const tf_diags *d, line_index *x, tf_loc at) {
  if (at.line == 0 || at.file == 0 || at.file > d->n_files) return;
  if (!index_lines(x, d, at.file) || at.line > x->n) return;
  const char *end = d->files[at.file - 1].text + d->files[at.file - 1].len;
  const char *p = d->files[at.file - 1].text + x->start[at.line - 1];
  size_t columns = count_columns(p, end), col = at.col ? at.col - 1 : 0;
  if (col > columns) col = columns;
  size_t first = columns > SHOWN && col > LEAD ? col - LEAD : 0;
  size_t last = columns - first > SHOWN ? first + SHOWN : columns;
  char gutter[32];
  snprintf(gutter, sizeof gutter, "%5u | ", (unsigned)at.line);
  put_text(o, gutter);
  if (first) put_text(o, "...");
  for (size_t c = 0; c < last; c++)
    p += put_column(o, p, end, c >= first);
  if (last < columns) put_text(o, "...");
  put_text(o, "\n");
  put_repeat(o, ' ', strlen(gutter) - 2);
  put_text(o, "| ");
  put_repeat(o, ' ', col - first + (first ? 3 : 0));
  put_text(o, "^");
  size_t room = last > col + 1 ? last - col - 1 : 0, tail = at.len > 1 ? at.len - 1 : 0;
  put_repeat(o, '~', tail < room ? tail : room);
  put_text(o, "\n");
}

static void put_entry(out *o, const tf_diags *d, line_index *x, const tf_diag *e) {
  char place[48] = "";
  const char *name = tf_diags_file_name(d, e->at.file);
  if (e->at.line)
    snprintf(place, sizeof place, ":%u:%u", (unsigned)e->at.line, (unsigned)e->at.col);
  put_text(o, *name ? name : "tileflow");
  put_text(o, place);
  bool error = !e->note && !e->warning;
  put_text(o, error ? ": error[" : e->note ? ": note: " : ": warning: ");
  if (error) put_text(o, tf_code_key(e->code));
  if (error) put_text(o, "]: ");
  put_text(o, e->msg);
  put_text(o, "\n");
  put_source(o, d, x, e->at);
}

/* An error and its position in the list. */
typedef struct {
  tf_loc at;
  size_t first;
} group;

static int compare(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

static int by_place(const void *pa, const void *pb) {
  const group *a = pa, *b = pb;
  int c = compare(a->at.file, b->at.file);
  if (c == 0) c = compare(a->at.line, b->at.line);
  if (c == 0) c = compare(a->at.col, b->at.col);
  return c ? c : compare(a->first, b->first);
}

/* Errors with their notes, sorted by place; NULL without memory. */
static group *sorted_groups(const tf_diags *d, size_t *n) {
  group *g = malloc((d->n_entries + 1) * sizeof *g);
  if (!g) return NULL;
  *n = 0;
  for (size_t i = 0; i < d->n_entries; i++)
    if (!d->entries[i].note || i == 0) g[(*n)++] = (group){d->entries[i].at, i};
  qsort(g, *n, sizeof *g, by_place);
  return g;
}

char *tf_diags_text(const tf_diags *d) {
  TF_IN_C_LOCALE;
  out o = {0};
  line_index x = {0};
  size_t n;
  group *g = sorted_groups(d, &n);
  if (!g) return NULL;
  put_bytes(&o, "", 0);
  for (size_t i = 0; i < n; i++) {
    size_t e = g[i].first;
    if (d->entries[e].warning && d->n_errors)
      continue; /* warnings are shown only if there are no errors */
    do
      put_entry(&o, d, &x, &d->entries[e++]);
    while (e < d->n_entries && d->entries[e].note);
  }
  if (d->n_errors > TF_DIAGS_MAX) {
    char more[64];
    snprintf(more, sizeof more, "tileflow: %zu more errors\n", d->n_errors - TF_DIAGS_MAX);
    put_text(&o, more);
  }
  free(g);
  free(x.start);
  if (!o.bad) return o.text;
  free(o.text);
  return NULL;
}
