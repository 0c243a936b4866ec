/* The kinds of figures: name, what it reads and shows, its lines of `plot --help`.  A kind has a
 * function plot_NAME; the table has its row, the option's list and the help from here. */
#ifndef CLI_PLOT_PLOT_KINDS_H
#define CLI_PLOT_PLOT_KINDS_H

/* clang-format off */
#define PLOT_KINDS(FIRST, X) \
  FIRST(bars, \
    "JSON of eval, several mappings side by side: cycles, energy or words of each resource; CSV: --y of each --x and --by", \
    "bars: JSON of eval, several mappings side by side; --y cycles, energy, words\n" \
    "bars: CSV; --x the groups, --y the figure, --by the bars\n") \
  X(roofline, "JSON of eval: the machine's roofs at each memory, the mappings as points", \
    "roofline: JSON of eval, the roofs of each memory and the mappings under them\n") \
  X(slope, "JSON or CSV of bound: least words proved and found, by the words on chip; JSON of eval: machines on it", \
    "slope: JSON or CSV of bound, and JSON of eval: machines on it\n") \
  X(convergence, "logs of search, or CSV with evaluations and best", \
    "convergence: logs of search, or CSV with evaluations and best\n") \
  X(pareto, "CSV, or the store of a sweep: points in two figures, and those that none beats", \
    "pareto: CSV, or a sweep's store; --x cycles --y energy_pj if not given\n") \
  X(lines, "CSV: one figure over another, a line for each --by", "lines, points: CSV, --x, --y, --by\n") \
  X(points, "CSV: a point a row, marks for each --by", "") \
  X(heat, "CSV: one figure over two params", "heat: CSV, --x, --y, --z\n") \
  X(diff, "JSON of diff: what differs between two mappings, term by term", \
    "diff: JSON of diff, what differs, as ratios\n") \
  X(timeline, "CSV of eval --trace: what loads, works and stores when", \
    "timeline: CSV of eval --trace, what loads, works and stores when\n") \
  X(occupancy, "CSV of eval --trace: words held over time in each memory", \
    "occupancy: the same CSV, words held meanwhile\n")
/* clang-format on */

/* Their names in a row, and their lines of the help, as literals. */
#define PLOT_FIRST_NAME(name, about, help) #name
#define PLOT_NEXT_NAME(name, about, help) ", " #name
#define PLOT_NAMES PLOT_KINDS(PLOT_FIRST_NAME, PLOT_NEXT_NAME)
#define PLOT_HELP_OF(name, about, help) help
#define PLOT_HELP PLOT_KINDS(PLOT_HELP_OF, PLOT_HELP_OF)
#endif
