/* What the picture of a plan shows: its groups as rows, what passes between them as arcs. */
#ifndef CLI_DRAW_DRAW_NETWORK_H
#define CLI_DRAW_DRAW_NETWORK_H
#include "cli/report/plan_report.h"

/* Equal groups that follow each other again and again (a layer's) are drawn once. */
typedef struct {
  int group, times; /* the first that the row stands for; how many stand there */
  int fold;         /* number of the fold + 1 that has it; 0: none */
  double cycles;    /* of all of them */
  int kind;         /* what bounds it: number in `kinds` */
} net_row;

/* A part of the plan that is repeated: rows first .. last. */
typedef struct {
  int first, last, times;
} net_fold;

/* A tensor that passes from a row to one further down. */
typedef struct {
  int from, to, tensor, lane; /* lane: 0 is next to the rows; -1: to the next row, no arc */
} net_arc;

typedef struct {
  const char *name; /* as in the report's column `bottleneck` */
  double cycles;
  int memory; /* the architecture's; -1: no memory */
} net_kind;

typedef struct {
  int n_rows, n_folds, n_arcs, n_kinds, n_lanes;
  net_row *row;
  net_fold *fold;
  net_arc *arc;
  net_kind *kind; /* the one that takes most time first */
} net_picture;

/* False: no memory.  Free it in either case. */
bool net_picture_make(net_picture *p, const cli_plan *plan);
void net_picture_free(net_picture *p);
/* As SVG; page: within a page of HTML. */
void cli_draw_network(const cli_plan *plan, bool page, cli_text *out);

/* For Google's Model Explorer: the graphs, of groups and of ops in them, and the figures of the
 * plan for both as node data. */
void cli_explorer_graphs(const cli_plan *p, cli_text *out);
void cli_explorer_data(const cli_plan *p, cli_text *out);
#endif
