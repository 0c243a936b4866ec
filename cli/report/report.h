/* The results of an evaluation, for people and for programs. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H
#include "cli/cli.h"
#include "cli/text.h"
#include "tileflow/slope.h"
#include "tileflow/trace.h"

/* Probability with which what a memory is said to hold at most is enough. */
#define CLI_CONFIDENCE 0.999

void cli_report_text(const cli_session *s, cli_text *out);
/* The JSON object of docs/FORMATS.md; nodes: with an entry for each node of the tree. */
void cli_report_json(const cli_session *s, bool nodes, cli_text *out);
void cli_report_csv(const cli_session *s, cli_text *out);
/* Intervals of time, one row each. */
void cli_trace_csv(const cli_session *s, const tf_trace *t, cli_text *out);
/* The same in the Trace Event Format, a microsecond for a cycle. */
void cli_trace_json(const cli_session *s, const tf_trace *t, cli_text *out);
/* Version, names and bounds only, for a run without a mapping. */
void cli_bounds_json(const cli_session *s, const tf_slope *slope, cli_text *out);
void cli_slope_csv(const cli_session *s, const tf_slope *slope, cli_text *out);

/* What a masked workload leaves out; NULL without a mask. */
const char *cli_masked_line(const tf_workload *wl);
/* What is counted where zeros save something; NULL: they save nothing. */
const char *cli_zeros_line(const tf_spec *s);

/* How the mapping was found, and the mapping. */
void cli_report_found(const cli_session *s, cli_text *out);
/* What the solver's space has. */
const char *cli_space_of(const cli_found *f);
/* The closed form's figures of the mapping; nothing for another method. */
void cli_report_closed(const cli_session *s, cli_text *out);
/* The mapping as a YAML section. */
void cli_mapping_yaml(const cli_session *s, cli_text *out);

/* "9.8 uJ to 15.1 uJ": where tables give energies, or areas, what published sources make of the
 * whole; empty where the architecture gives all. */
typedef struct {
  char s[2 * sizeof(cli_figure) + 8];
} cli_span;
cli_span cli_energy_range(const cli_session *s);
cli_span cli_area_range(const cli_session *s);
/* The bottleneck, and the slack of all others. */
void cli_report_bottleneck(const cli_session *s, cli_text *out);
/* The cause of repeated transfers: "loop m=4 of DRAM (line 22) steps outside of it". */
void cli_cause(const cli_session *s, const tf_why_row *r, cli_text *out);
/* Words that a row moves at the memory that serves it. */
int64_t cli_cause_words(const tf_why_row *r);
/* What passes more than once, and why: the large terms. */
void cli_report_why(const cli_session *s, cli_text *out);

/* Writes the files (or stdout) that --json and --csv name.  False after a message. */
bool cli_write_figures(const cli_session *s, const cli_figures *f, bool nodes);
/* The report, to stdout. */
bool cli_print_report(const cli_session *s);
/* For a mapping that was found: writes the files, the mapping's own (NULL: not asked for), and the
 * report, unless stdout is used otherwise or is to be quiet. */
bool cli_write_found(const cli_session *s, const cli_input *in, const cli_figures *f,
                     const char *mapping);

/* One violation in a line: what needs how much, and how much is available. */
void cli_violation_line(const cli_session *s, const tf_violation *v, cli_text *out);
/* Prints all violations to stderr, each with its place in the mapping and where the limit was set.
 * Returns CLI_INFEASIBLE if there are any, else `status`. */
cli_status cli_report_violations(cli_session *s, cli_status status);

/* A memory's ports or the units of a kind, and how long they are busy. */
typedef struct {
  const char *name;
  bool unit;
  double cycles;
} cli_resource;
/* All of an evaluation, [*n], the busiest first, then by name; to be freed.  NULL: no memory. */
cli_resource *cli_resources(const cli_session *s, int *n);
/* Whether it is what the model names as bottleneck: "DRAM read", "matrix compute". */
bool cli_is_bottleneck(const cli_session *s, const char *name, bool unit);
/* What a memory moves of all tensors; peak is 0.  False if a sum exceeds 2^63 - 1. */
bool cli_sum_counts(const cli_session *s, int level, tf_counts *sum);
/* The same for a result that cli_evaluate has checked: its sums do not overflow. */
tf_counts cli_level_counts(const cli_session *s, int level);
/* The same in words of that memory, which may be wider or narrower than the tensors'. */
typedef struct {
  double fill, read, update, drain, peak;
} cli_words;
cli_words cli_level_words(const cli_session *s, int level);
cli_words cli_tensor_words(const cli_session *s, int level, int tensor);
/* What Tile n loads and stores, in words of its memory; from tf_node_result where causes are not
 * known. */
cli_words cli_node_words(const cli_session *s, int n);
/* Whether words of different sizes occur: then reports say whose words they count. */
bool cli_word_sizes_differ(const cli_session *s);
/* The word size of each memory. */
void cli_put_word_sizes(const tf_arch *a, cli_text *out);
/* Words through the outermost memory in both directions. */
double cli_outer_traffic(const cli_session *s);
/* The number of units of all kinds; a double, as it may exceed 2^63. */
double cli_all_units(const tf_arch *a);
#endif
