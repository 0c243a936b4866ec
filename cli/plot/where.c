/* --where: rows of tables by conditions on their columns, "side >= 16 and state == 'found'". */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot/plot.h"

typedef enum { EQ, NE, LE, GE, LT, GT, N_OPS } comparison;
static const char *const ops[N_OPS] = {"==", "!=", "<=", ">=", "<", ">"};

enum { TERMS = 16, WORD = 120 };
typedef struct {
  char column[WORD], value[WORD];
  comparison op;
  bool text; /* the value is quoted: cells are compared as text */
  double number;
} term;

typedef struct {
  int n;
  term terms[TERMS];
} condition;

/* ---- reading --------------------------------------------------------------------------------- */
static const char *past_blanks(const char *p) { return p + strspn(p, " \t"); }

static bool copy(char to[WORD], const char *from, size_t n) {
  if (n == 0 || n >= WORD) return false;
  memcpy(to, from, n);
  to[n] = '\0';
  return true;
}

/* A column: letters, digits, dots, underscores.  The place behind it; NULL: there is none. */
static const char *read_column(const char *p, term *t) {
  size_t n = 0;
  while (isalnum((unsigned char)p[n]) || p[n] == '_' || p[n] == '.' || p[n] == '-')
    n++;
  return copy(t->column, p, n) ? past_blanks(p + n) : NULL;
}

static const char *read_op(const char *p, term *t) {
  for (int k = 0; k < N_OPS; k++)
    if (!strncmp(p, ops[k], strlen(ops[k]))) {
      t->op = (comparison)k;
      return past_blanks(p + strlen(ops[k]));
    }
  return NULL;
}

/* A number, or a text within quotes. */
static const char *read_operand(const char *p, term *t) {
  const char *end;
  t->text = *p == '\'' || *p == '"';
  if (t->text) {
    end = strchr(p + 1, *p);
    if (!end || (t->op != EQ && t->op != NE) ||
        (end > p + 1 && !copy(t->value, p + 1, (size_t)(end - p - 1))))
      return NULL;
    return past_blanks(end + 1);
  }
  char *past;
  t->number = strtod(p, &past);
  return past != p && isfinite(t->number) ? past_blanks(past) : NULL;
}

static bool read_condition(const char *text, condition *out, tf_diags *d) {
  const char *p = past_blanks(text);
  *out = (condition){0};
  while (out->n < TERMS) {
    term *t = &out->terms[out->n++];
    const char *column = p;
    p = read_column(p, t);
    if (p) p = read_op(p, t);
    if (p) p = read_operand(p, t);
    if (!p)
      return tf_fail(d, (tf_loc){0}, TF_E_SYNTAX,
                     "--where needs COLUMN == VALUE (or != < <= > >=; a text in quotes, and == or "
                     "!= alone), not '%.60s'",
                     column);
    if (!*p) return true;
    if (strncmp(p, "and ", 4) != 0)
      return tf_fail(d, (tf_loc){0}, TF_E_SYNTAX, "--where joins conditions by 'and', not '%.60s'",
                     p);
    p = past_blanks(p + 4);
  }
  return tf_fail(d, (tf_loc){0}, TF_E_LIMIT, "--where takes %d conditions at most", TERMS);
}

/* ---- rows ------------------------------------------------------------------------------------ */
static bool compare(comparison op, double a, double b) {
  switch (op) {
  case EQ: return a == b;
  case NE: return a != b;
  case LE: return a <= b;
  case GE: return a >= b;
  case LT: return a < b;
  case GT: return a > b;
  case N_OPS: break;
  }
  return false;
}

/* Whether it holds of a cell; where a number is wanted, an empty cell has none, and no condition
 * holds. */
static bool cell_holds(const plot_table *t, int row, int column, const term *c, tf_diags *d) {
  if (c->text) return (strcmp(plot_cell_at(t, row, column)->text, c->value) == 0) == (c->op == EQ);
  double v = NAN;
  return plot_number(t, row, column, &v, d) && !isnan(v) && compare(c->op, v, c->number);
}

static void filter(plot_table *t, const condition *c, const int *columns, tf_diags *d) {
  const size_t width = (size_t)t->n_columns;
  int kept = 0;
  for (int r = 0; r < t->n_rows; r++) {
    bool all = true;
    for (int k = 0; k < c->n; k++)
      all = all && cell_holds(t, r, columns[k], &c->terms[k], d);
    if (!all) continue;
    if (kept != r) /* row 0 of the cells has the names */
      memcpy(t->cells + (size_t)(kept + 1) * width, t->cells + (size_t)(r + 1) * width,
             width * sizeof *t->cells);
    kept++;
  }
  t->n_rows = kept;
}

bool plot_where(plot_input *all, size_t n, const char *text, tf_diags *d) {
  const size_t errors = tf_diags_errors(d);
  condition c;
  if (!read_condition(text, &c, d)) return false;
  for (size_t i = 0; i < n; i++) {
    int columns[TERMS];
    bool ok = true;
    if (all[i].table.n_columns == 0) {
      tf_fail(d, (tf_loc){all[i].file, 0, 0, 0}, TF_E_USAGE,
              "--where is of rows of a table, and this is JSON");
      continue;
    }
    for (int k = 0; k < c.n; k++)
      ok = (columns[k] = plot_column(&all[i].table, c.terms[k].column, d)) >= 0 && ok;
    if (ok) filter(&all[i].table, &c, columns, d);
    if (ok && tf_diags_errors(d) == errors && all[i].table.n_rows == 0)
      tf_fail(d, (tf_loc){all[i].file, 0, 0, 0}, TF_E_RANGE, "--where holds of none of its rows");
  }
  return tf_diags_errors(d) == errors;
}
