/* Figures: results to charts, charts to gnuplot scripts and CSV, scripts to pictures. */
#ifndef CLI_PLOT_PLOT_H
#define CLI_PLOT_PLOT_H
#include <jansson.h>

#include "cli/cli.h"
#include "cli/plot/plot_kinds.h"
#include "cli/text.h"

/* ---- input ---------------------------------------------------------------------------------- */
typedef struct {
  char *text; /* without its quotes */
  tf_loc at;
} plot_cell;

/* Row 0 has the names of the columns. */
typedef struct {
  int n_columns, n_rows; /* n_rows: without row 0 */
  plot_cell *cells;      /* [(1 + n_rows) * n_columns] */
  char *texts;           /* owned: what the cells point into */
} plot_table;

/* Reads comma-separated values with a row of names, cells quoted or not, line ends LF or CRLF.
 * False with every error in d; free it in either case. */
bool plot_table_read(const tf_text *from, uint16_t file, plot_table *out, tf_diags *d);
void plot_table_free(plot_table *t);
const plot_cell *plot_cell_at(const plot_table *t, int row, int column);
/* Index of a column; -1: there is none, with an error in d unless d is NULL. */
int plot_column(const plot_table *t, const char *name, tf_diags *d);
/* Whether an axis can show the number: ratios of such numbers, and their squares, are finite. */
static inline bool plot_can_draw(double v) {
  return v == 0 || (v > -1e140 && v < 1e140 && (v > 1e-140 || v < -1e-140));
}

/* The number in a cell; NAN if it is empty.  False with an error in d where it is no number that
 * can be drawn. */
bool plot_number(const plot_table *t, int row, int column, double *out, tf_diags *d);

/* The log of a search as a table: evaluations,best. */
bool plot_log_read(const tf_text *from, uint16_t file, plot_table *out, tf_diags *d);

typedef struct {
  const char *path;
  uint16_t file;
  json_t *json;     /* NULL: it is a table */
  plot_table table; /* n_columns 0: it is JSON */
} plot_input;

/* Reads JSON, CSV, logs of searches, and stores of sweeps (as tables of machines).  False with
 * every error in d; free it in either case. */
bool plot_inputs_read(const cli_input *in, plot_input **out, tf_diags *d);
void plot_inputs_free(plot_input *all, size_t n);
/* Leaves the rows of all tables of which the condition holds.  False with every error in d: its
 * text, a column that a table lacks, a cell that is no number, a table of which nothing is left,
 * JSON. */
bool plot_where(plot_input *all, size_t n, const char *text, tf_diags *d);
/* The last part of a path without its extension, in out[size]. */
void plot_base_name(const char *path, char *out, size_t size);
/* A required member of an object, of that type; NULL with an error in d. */
json_t *plot_member(const plot_input *in, json_t *object, const char *key, json_type type,
                    tf_diags *d);
bool plot_member_number(const plot_input *in, json_t *object, const char *key, double *out,
                        tf_diags *d);

/* ---- charts -------------------------------------------------------------------------------- */
typedef struct {
  double x, y, z;
  double low, high; /* SPANS: the part of the row's height, 0 to 1 */
  char *label;      /* of a bar's group, of a term; owned, may be NULL */
  char *note;       /* of a term: its two values; owned, may be NULL */
} plot_point;

typedef enum { PLOT_LINE, PLOT_DASHED, PLOT_STEPS, PLOT_POINTS, PLOT_CURVE, PLOT_FAINT } plot_style;

typedef struct {
  char name[120]; /* "": not in the legend */
  plot_style style;
  int colour, mark;  /* index into the palette; index into the marks */
  bool direct_label; /* where names are beside their marks: this one's is beside its only mark */
  int n;
  plot_point *points; /* [n]; none: only in the legend */
} plot_series;

/* SPANS: from x to z, in row y, whose name the label is. */
typedef enum { PLOT_XY, PLOT_BARS, PLOT_HEAT, PLOT_TERMS, PLOT_SPANS } plot_shape;

typedef struct {
  plot_shape shape;
  char title[300];
  char x_name[120], y_name[120], z_name[120];
  char x_unit[8], unit[8]; /* of x; of y, or of heat's z: "J" gets prefixes; "": a count, in
                              thousands or millions */
  bool log_x, log_y;
  bool powers_of_two; /* axes in powers of two */
  bool
      stacked; /* BARS: one on the other, else side by side; on a logarithmic axis they are marks */
  bool direct; /* XY: no legend, names of lines (less their last word) stand at their right ends */
  int n;
  plot_series *series; /* [n] */
  bool bad;            /* memory ran out */
} plot_chart;

plot_series *plot_add_series(plot_chart *c, const char *name, plot_style style, int colour);
/* The series of that name; a new one with the next colour if there is none. */
plot_series *plot_series_named(plot_chart *c, const char *name, plot_style style);
/* "WHAT of A, B, C and 2 more": a title that lists the inputs. */
void plot_title_of(plot_chart *c, const char *what, const plot_input *in, size_t n);
/* A column's name for readers: cycles, energy_pj. */
void plot_column_label(const char *column, char out[120]);
/* Converts the axis to units for figures: energy from pJ (in tables) to J, area from um2 to mm2;
 * call it once the axis has all points. */
void plot_use_units(plot_chart *c, char axis);
/* label and note are copied; NULL: none. */
void plot_add_point(plot_chart *c, plot_series *s, double x, double y, const char *label,
                    const char *note);
void plot_chart_free(plot_chart *c);

/* The user's choices; NULL: the default of the kind. */
typedef struct {
  const char *x, *y, *z, *by, *title;
  bool two_columns; /* width of the figure */
} plot_choice;

typedef struct {
  const char *name, *about;
  bool (*draw)(const plot_input *in, size_t n, const plot_choice *w, plot_chart *c, tf_diags *d);
} plot_kind;
/* NULL past the last. */
const plot_kind *plot_kind_at(int k);

#define X(name, about, help)                                                                       \
  bool plot_##name(const plot_input *in, size_t n, const plot_choice *w, plot_chart *c,            \
                   tf_diags *d);
PLOT_KINDS(X, X)
#undef X

/* ---- output ---------------------------------------------------------------------------------- */
void plot_csv(const plot_chart *c, cli_text *out);
/* A gnuplot script that reads the CSV at path csv and writes the picture `figure` in the format of
 * its extension. */
void plot_script(const plot_chart *c, const plot_choice *w, const char *csv, const char *figure,
                 cli_text *out);
/* svg, png or pdf: the extension of a path; NULL: another. */
const char *plot_format(const char *path);
/* Runs gnuplot and writes the figure, as a whole or not at all. */
cli_status plot_render(const plot_chart *c, const plot_choice *w, const char *figure);
#endif
