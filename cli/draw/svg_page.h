/* The layout of a drawn tree, and texts of any drawing. */
#ifndef CLI_SVG_PAGE_H
#define CLI_SVG_PAGE_H
#include "cli/cli.h"
#include "cli/text.h"

/* The style of a line in a box. */
typedef enum { SVG_HEAD, SVG_LOOPS, SVG_SMALL, SVG_WRONG } svg_style;
enum { SVG_LINES = 10, SVG_LINE = 16 }; /* lines a box holds at most; pixels of one */

typedef struct {
  int n;
  svg_style style[SVG_LINES];
  cli_text line[SVG_LINES];
  bool wrong;         /* it needs more than the machine has */
  int row;            /* over the whole page; boxes of a row start at the same height */
  double w, h, cx, y; /* pixels; cx is the middle, y the top */
  double span;        /* width of its subtree */
} svg_box;

/* A stripe of rows: one for each memory that has a Tile or scope in it, and one for the ops. */
typedef struct {
  int rows; /* 0: the band is left out */
  double y, h;
} svg_band;

typedef struct {
  svg_box *box;   /* [n_nodes] */
  svg_band *band; /* [n_memories + 1], the last for the ops */
  double w, h;
} svg_page;

/* False if memory ran out.  Free it in either case. */
bool svg_page_make(svg_page *p, const cli_session *s, double left, double top);
/* The band of a node: that of the nearest Tile, itself included; ops have one of their own. */
int svg_band_of(const cli_session *s, int node);
/* Upper bound on the width of a text in pixels, for any replacement of our font. */
double svg_width(svg_style style, const char *text);
/* A text.  anchor: what of it is at x, "middle" or "end"; NULL: its begin.  An attribute, since
 * some renderers (ImageMagick's own) take no anchor from a style sheet. */
void svg_text(cli_text *out, const char *anchor, double x, double y, const char *class,
              const char *text);
void svg_page_free(svg_page *p, const cli_session *s);
#endif
