#include "model/input/table/coordinates.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 64 << 20 };

/* An element that is listed, and where. */
typedef struct {
  int64_t element;
  uint32_t line;
} listed;

typedef struct {
  tf_text text;
  const char *pos, *line_from, *end;
  uint32_t line;
  const tf_tensor *t;
  tf_diags *d;
  uint16_t file; /* of the diagnostics; 0: no error yet */
  listed *all;
  int n;
  int values; /* numbers behind the coordinates; -1: none are allowed */
  bool market, mirrored,
      ok; /* of Matrix Market: coordinates count from 1; a symmetric matrix lists half */
  int entries;
  int64_t declared; /* how many are to come; -1: it is not said */
} reading;

/* ---- errors ------------------------------------------------------------------------- */
static tf_loc loc_of(reading *r, const char *from, const char *to) {
  if (!r->file) r->file = tf_diags_add_file(r->d, r->text.name, r->text.text, r->text.len);
  const tf_loc at = {r->file, r->line, (uint32_t)(from - r->line_from) + 1,
                     to > from ? (uint32_t)(to - from) : 1};
  return at;
}

static const char *end_of_line(const reading *r, const char *p) {
  while (p < r->end && *p != '\n')
    p++;
  return p;
}

/* ---- numbers ------------------------------------------------------------------------ */
static void skip_blanks(reading *r) {
  while (r->pos < r->end &&
         (*r->pos == ' ' || *r->pos == '\t' || *r->pos == ',' || *r->pos == '\r'))
    r->pos++;
}

static const char *end_of_word(const reading *r) {
  const char *p = r->pos;
  while (p < r->end && !isspace((unsigned char)*p) && *p != ',')
    p++;
  return p;
}

static bool line_ends(reading *r) {
  skip_blanks(r);
  return r->pos >= r->end || *r->pos == '\n' || *r->pos == '#';
}

/* A whole number from 0 on. */
static bool number(reading *r, const char *what, int64_t *out) {
  if (line_ends(r))
    return tf_fail(r->d, loc_of(r, r->pos, r->pos), TF_E_MISSING, "%s is missing", what);
  const char *to = end_of_word(r);
  *out = 0;
  for (const char *p = r->pos; p < to; p++) {
    if (*p < '0' || *p > '9')
      return tf_fail(r->d, loc_of(r, r->pos, to), TF_E_SYNTAX, "%s is no whole number from 0 on",
                     what);
    if (*out > INT32_MAX)
      return tf_fail(r->d, loc_of(r, r->pos, to), TF_E_RANGE, "%s is too large", what);
    *out = *out * 10 + (*p - '0');
  }
  r->pos = to;
  return true;
}

static bool nothing_more(reading *r, const char *what) {
  return line_ends(r) ||
         tf_fail(r->d, loc_of(r, r->pos, end_of_word(r)), TF_E_SYNTAX, "more than %s", what);
}

/* ---- lines -------------------------------------------------------------------------- */
static bool list_element(reading *r, int64_t element) {
  if (r->n == TF_COORDINATES_MOST)
    return tf_fail(r->d, loc_of(r, r->line_from, r->line_from), TF_E_LIMIT, "more than %d elements",
                   TF_COORDINATES_MOST);
  r->all[r->n++] = (listed){element, r->line};
  return true;
}

/* The tuple of a line, and its mirror image. */
static bool read_tuple(reading *r) {
  const tf_tensor *t = r->t;
  int64_t at[2] = {0, 0}, element = 0;
  for (int i = 0; i < t->rank; i++) {
    int64_t x;
    if (!number(r, "a coordinate", &x)) return false;
    const char *from = r->pos;
    while (from > r->line_from && from[-1] >= '0' && from[-1] <= '9')
      from--;
    x -= r->market;
    if (x < 0 || x >= t->extent[i])
      return tf_fail(r->d, loc_of(r, from, r->pos), TF_E_RANGE,
                     "coordinate %lld of rank %d of '%.60s', which has %d to %lld",
                     (long long)(x + r->market), i, t->name, (int)r->market,
                     (long long)(t->extent[i] - 1 + r->market));
    element = element * t->extent[i] + x;
    if (i < 2) at[i] = x;
  }
  for (int i = 0; i < r->values; i++) {
    if (line_ends(r))
      return tf_fail(r->d, loc_of(r, r->pos, r->pos), TF_E_MISSING,
                     "the element's value is missing");
    r->pos = end_of_word(r);
  }
  if (!nothing_more(r, r->market ? "coordinates and the value" : "a coordinate for each rank"))
    return false;
  r->entries++;
  return list_element(r, element) &&
         (!r->mirrored || at[0] == at[1] || list_element(r, at[1] * t->extent[1] + at[0]));
}

static bool read_size(reading *r) {
  const tf_tensor *t = r->t;
  for (int i = 0; i < 2; i++) {
    int64_t x;
    if (!number(r, "the size of the matrix", &x)) return false;
    if (x != t->extent[i])
      return tf_fail(r->d, loc_of(r, r->line_from, r->pos), TF_E_RANGE,
                     "rank %d of '%.60s' has %lld elements, not %lld", i, t->name,
                     (long long)t->extent[i], (long long)x);
  }
  return number(r, "the number of entries", &r->declared) &&
         nothing_more(r, "a size and the number of entries");
}

/* ---- the first line of Matrix Market ------------------------------------------------- */
static bool word_is(const char *from, const char *to, const char *word) {
  const size_t n = strlen(word);
  bool same = (size_t)(to - from) == n;
  for (size_t i = 0; same && i < n; i++)
    same = tolower((unsigned char)from[i]) == word[i];
  return same;
}

static bool read_banner(reading *r) {
  static const char *const words[4][5] = {{"matrix"},
                                          {"coordinate"},
                                          {"pattern", "real", "integer", "complex", "double"},
                                          {"general", "symmetric", "skew-symmetric", "hermitian"}};
  static const int values[5] = {0, 1, 1, 2, 1};
  r->pos = end_of_word(r);
  for (int i = 0; i < 4; i++) {
    int k = 0;
    skip_blanks(r);
    const char *to = end_of_word(r);
    while (k < 5 && words[i][k] && !word_is(r->pos, to, words[i][k]))
      k++;
    if (k == 5 || !words[i][k])
      return tf_fail(r->d, loc_of(r, r->pos, to), TF_E_SYNTAX,
                     "read here: matrix, coordinate, pattern, real, integer or complex, general, "
                     "symmetric, skew-symmetric or hermitian");
    if (i == 2) r->values = values[k];
    r->mirrored = k > 0;
    r->pos = to;
  }
  r->market = true;
  if (r->t->rank == 2 && (!r->mirrored || r->t->extent[0] == r->t->extent[1])) return true;
  return tf_fail(r->d, loc_of(r, r->line_from, end_of_line(r, r->line_from)), TF_E_RANK,
                 r->t->rank == 2 ? "a symmetric matrix, but '%.60s' is not square"
                                 : "a matrix, but '%.60s' is none",
                 r->t->name);
}

/* ---- the whole ---------------------------------------------------------------------- */
static bool read_line(reading *r) {
  if (r->line == 1 && r->end - r->pos > 14 && word_is(r->pos, r->pos + 14, "%%matrixmarket"))
    return read_banner(r);
  if (line_ends(r) || *r->pos == '%') return true;
  if (r->market && r->declared < 0) return read_size(r);
  return read_tuple(r);
}

static int by_element(const void *a, const void *b) {
  const listed *x = a, *y = b;
  return x->element != y->element ? (x->element < y->element ? -1 : 1)
         : x->line < y->line      ? -1
                                  : x->line > y->line;
}

static bool close_list(reading *r, tf_arena *a, tf_density *out) {
  qsort(r->all, (size_t)r->n, sizeof *r->all, by_element);
  for (int i = 1; i < r->n; i++)
    if (r->all[i].element == r->all[i - 1].element) {
      r->line = r->all[i].line;
      r->line_from = r->pos = r->text.text;
      return tf_fail(r->d, loc_of(r, r->pos, r->pos), TF_E_DUP, "this element is in line %u, too",
                     r->all[i - 1].line);
    }
  r->line = 1, r->line_from = r->text.text;
  const char *end = end_of_line(r, r->line_from);
  if (r->declared >= 0 && r->declared != r->entries)
    return tf_fail(r->d, loc_of(r, r->line_from, end), TF_E_RANGE,
                   "%d entries, but %lld are promised", r->entries, (long long)r->declared);
  if (!r->n)
    return tf_fail(r->d, loc_of(r, r->line_from, end), TF_E_MISSING,
                   "no element is listed: all of '%.60s' would be zero", r->t->name);
  out->runs = TF_ARRAY(a, tf_stretch, (size_t)r->n);
  if (!out->runs) return tf_out_of_memory(r->d);
  out->n_runs = r->n;
  for (int i = 0; i < r->n; i++)
    out->runs[i] = (tf_stretch){r->all[i].element, r->all[i].element + 1};
  int64_t words = 1;
  for (int i = 0; i < r->t->rank; i++)
    words *= r->t->extent[i];
  tf_runs_close(out, words);
  return true;
}

static int by_first(const void *a, const void *b) {
  const tf_stretch *x = a, *y = b;
  return x->from < y->from ? -1 : x->from > y->from;
}

void tf_runs_close(tf_density *out, int64_t words) {
  int n = 0;
  int64_t nonzero = 0;
  qsort(out->runs, (size_t)out->n_runs, sizeof *out->runs, by_first);
  for (int i = 0; i < out->n_runs; i++) {
    const tf_stretch *x = &out->runs[i];
    nonzero += x->to - x->from;
    if (n && out->runs[n - 1].to == x->from)
      out->runs[n - 1].to = x->to;
    else
      out->runs[n++] = *x;
  }
  out->n_runs = n;
  out->share = (double)nonzero / (double)words;
}

bool tf_coordinates_read(const char *path, const tf_tensor *t, tf_arena *a, tf_density *out,
                         tf_diags *d) {
  const size_t before = tf_diags_errors(d);
  reading r = {
      .t = t, .d = d, .declared = -1, .text = tf_text_read_most(path, MOST_BYTES, d), .ok = true};
  if (tf_diags_errors(d) > before) return false;
  r.all = malloc(TF_COORDINATES_MOST * sizeof *r.all);
  r.pos = r.text.text, r.end = r.pos + r.text.len;
  if (!r.all) r.ok = tf_out_of_memory(d);
  while (r.ok && r.pos < r.end) {
    r.line++;
    r.line_from = r.pos;
    const char *next = end_of_line(&r, r.pos);
    r.ok = read_line(&r);
    r.pos = next + (next < r.end);
  }
  r.ok = r.ok && close_list(&r, a, out);
  free(r.all);
  free((void *)(uintptr_t)r.text.text);
  return r.ok;
}
