/* Growing text, and figures for people to read. */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tileflow/diag.h"

/* Initialised as {0}.  text is NULL while nothing has been printed; bad once memory ran out. */
typedef struct {
  char *text;
  size_t len, room;
  bool bad;
} cli_text;
void cli_printf(cli_text *t, const char *fmt, ...) TF_PRINTF(2, 3);
void cli_text_free(cli_text *t);
/* Makes room for one more element in an array of n that starts at *start and only grows by this: up
 * to the next power of two.  False, and the array as it was: memory ran out. */
#define CLI_GROW(array, n) cli_grow((void *)&(array), (int64_t)(n), sizeof *(array))
bool cli_grow(void *start, int64_t n, size_t size);
/* The text of a part that is about to be printed into `whole`; if the part is bad, the whole
 * becomes bad. */
const char *cli_part(const cli_text *part, cli_text *whole);
/* A text as a cell of CSV, on one line, quoted where necessary.  A line break becomes a blank, as
 * many tools read a row per line; one that a spreadsheet would run as a formula (= + - @ at its
 * start) gets an apostrophe before it. */
void cli_csv_cell(cli_text *out, const char *text);
/* The same for what stands between tags of SVG and HTML; NULL: nothing. */
void cli_escaped(cli_text *out, const char *text);

/* A blank and a word of a command, quoted where a shell would read it otherwise. */
void cli_put_word(cli_text *out, const char *word);
/* The same on stdout, and what follows. */
void cli_print_word_and(const char *word, const char *rest);

/* Number of code points, which is the number of columns for our output. */
size_t cli_columns(const char *s);

/* A figure as text, returned by value: cli_printf(t, "%s", cli_count(n).s). */
typedef struct {
  char s[32];
} cli_figure;
cli_figure cli_count(int64_t n);                  /* 9999, 65.54k, 1.049M */
cli_figure cli_real(double v);                    /* the same, of a time in cycles */
cli_figure cli_si(double v, const char *unit);    /* 209.7 uJ, from joules */
cli_figure cli_percent(double part, double of);   /* 16 %, 0.3 %; "-" of nothing */
cli_figure cli_times(double value, double bound); /* 1.67 x; "-" of nothing */
#endif
