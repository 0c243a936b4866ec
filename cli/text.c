#include "cli/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool make_room(cli_text *t, size_t n) {
  if (t->bad || t->len + n < t->room) return !t->bad;
  size_t room = 2 * (t->room + n + 128);
  char *bigger = realloc(t->text, room);
  t->bad = !bigger;
  if (!bigger) return false;
  t->text = bigger;
  t->room = room;
  return true;
}

bool cli_grow(void *start, int64_t n, size_t size) {
  if (n & (n - 1)) return true;
  void *array;
  memcpy(&array, start, sizeof array); /* whatever type it points to */
  array = realloc(array, (n ? 2 * (size_t)n : 1) * size);
  if (array) memcpy(start, &array, sizeof array);
  return array != NULL;
}

void cli_printf(cli_text *t, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  int n = vsnprintf(NULL, 0, fmt, args);
  va_end(args);
  if (n < 0 || !make_room(t, (size_t)n)) return;
  va_start(args, fmt);
  vsnprintf(t->text + t->len, (size_t)n + 1, fmt, args);
  va_end(args);
  t->len += (size_t)n;
}

void cli_text_free(cli_text *t) {
  free(t->text);
  *t = (cli_text){0};
}

const char *cli_part(const cli_text *part, cli_text *whole) {
  whole->bad |= part->bad;
  return part->text ? part->text : "";
}

void cli_print_word_and(const char *word, const char *rest) {
  cli_text t = {0};
  cli_put_word(&t, word);
  printf("%s%s", t.text ? t.text : "", rest);
  cli_text_free(&t);
}

/* An apostrophe stands between quotation marks: files that name a command have no backslash. */
void cli_put_word(cli_text *out, const char *word) {
  static const char plain[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/=,:+%@-";
  if (*word && strspn(word, plain) == strlen(word)) {
    cli_printf(out, " %s", word);
    return;
  }
  cli_printf(out, " '");
  for (; *word; word++)
    cli_printf(out, *word == '\'' ? "'\"'\"'" : "%c", *word);
  cli_printf(out, "'");
}

size_t cli_columns(const char *s) {
  size_t n = 0;
  for (; *s; s++)
    n += ((unsigned char)*s & 0xc0) != 0x80;
  return n;
}

/* Decimals for four digits: 1.049, 65.54, 262.1; v is below 999.95. */
static int decimals(double v) { return v < 9.9995 ? 3 : v < 99.995 ? 2 : 1; }

cli_figure cli_real(double v) {
  static const char suffix[] = " kMGTPE";
  cli_figure f;
  int k = 0;
  if (!(v >= 9999.5)) {
    snprintf(f.s, sizeof f.s, "%.4g", v);
    return f;
  }
  for (; v >= 999.95 && k < 6; k++)
    v /= 1000;
  snprintf(f.s, sizeof f.s, "%.*f%c", decimals(v), v, suffix[k]);
  return f;
}

cli_figure cli_count(int64_t n) {
  cli_figure f;
  if (n >= 10000) return cli_real((double)n);
  snprintf(f.s, sizeof f.s, "%" PRId64, n);
  return f;
}

cli_figure cli_si(double v, const char *unit) {
  static const char *const prefix[] = {"a", "f", "p", "n", "u", "m", "",
                                       "k", "M", "G", "T", "P", "E"};
  cli_figure f;
  int k = 0;
  if (!(v > 0) || isinf(v)) {
    snprintf(f.s, sizeof f.s, "%g %s", v, unit);
    return f;
  }
  for (v *= 1e18; v >= 999.95 && k < 12; k++)
    v /= 1000;
  snprintf(f.s, sizeof f.s, "%.*f %s%s", decimals(v), v, prefix[k], unit);
  return f;
}

cli_figure cli_percent(double part, double of) {
  cli_figure f = {"-"};
  if (!(of > 0)) return f;
  double p = 100 * part / of;
  snprintf(f.s, sizeof f.s, p > 0 && p < 0.95 ? "%.1f %%" : "%.0f %%", p);
  return f;
}

cli_figure cli_times(double value, double bound) {
  cli_figure f = {"-"};
  if (bound > 0) snprintf(f.s, sizeof f.s, "%.2f x", value / bound);
  return f;
}

void cli_csv_cell(cli_text *out, const char *text) {
  bool quote = false;
  for (const char *p = text; *p; p++)
    quote |= *p == ',' || *p == '"';
  if (quote) cli_printf(out, "\"");
  if (*text && strchr("=+-@\t\r", *text))
    cli_printf(out, "'"); /* or a spreadsheet runs it as a formula */
  for (const char *p = text; *p; p++)
    cli_printf(out, *p == '"' ? "\"\"" : "%c", (unsigned char)*p < ' ' || *p == 127 ? ' ' : *p);
  if (quote) cli_printf(out, "\"");
}

void cli_escaped(cli_text *out, const char *text) {
  for (; text && *text; text++)
    switch (*text) {
    case '<': cli_printf(out, "&lt;"); break;
    case '>': cli_printf(out, "&gt;"); break;
    case '&': cli_printf(out, "&amp;"); break;
    default: cli_printf(out, "%c", *text);
    }
}
