/* The arguments after the command. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H
#include <stddef.h>
#include <stdio.h>

#include "cli/cli.h"
#include "cli/plot/plot_kinds.h"

/* At the end of a help: the names that may follow, from their table, of which the first is meant
 * where none does. */
#define CLI_NAMES "%names"

/* All options: id, name, what follows as the help shows it (NULL: nothing), its kind (options.c),
 * help. */
/* clang-format off */
#define CLI_OPTIONS(X) \
  X(SET, "--set", "NAME=VALUE", SETTING, "give a param another value; may be repeated") \
  X(JSON, "--json", "FILE|-", RESULT, "write the exact figures as JSON; -: to stdout, and nothing else there") \
  X(CSV, "--csv", "FILE|-", RESULT, "the same as comma-separated values") \
  X(TRACE, "--trace", "FILE|-", RESULT, "write what loads, works, stores and is held when, as CSV for plot") \
  X(SVG, "--svg", "FILE|-", RESULT, "draw the tree as SVG, not as text") \
  X(REPORT, "--report", "FILE|-", RESULT, "draw the network as SVG, or as a page of HTML (FILE.html)") \
  X(HTML, "--html", "FILE|-", RESULT, "write a page to explore: one file, for any browser, that loads nothing") \
  X(EXPLORER, "--explorer", "FILE|-", RESULT, "write the plan as graphs for Google's Model Explorer") \
  X(NODE_DATA, "--node-data", "FILE|-", RESULT, "write its figures as node data, which colour these graphs") \
  X(LIVE, "--live", NULL, FLAG, "--html: with the model inside, so that the page counts what one edits there") \
  X(DOT, "--dot", "FILE|-", RESULT, "draw it for Graphviz") \
  X(QUIET, "--quiet", NULL, FLAG, "print no report; errors still go to stderr") \
  X(HOST, "--host", NULL, FLAG, "describe the computer this runs on") \
  X(CORES, "--cores", "N", EVALS, "describe so many of its cores; all if not given") \
  X(NO_MEASURE, "--no-measure", NULL, FLAG, "read what the system reports, and time nothing") \
  X(ROOT, "--root", "DIR", WORD, "read DIR/sys and DIR/proc instead of /sys and /proc") \
  X(OF, "--of", "O,..", WORD, "what is differentiated; all outputs if not given") \
  X(BY, "--by", "A,..", WORD, \
    "a line for each value of columns A,B; if not given, of those that hold words") \
  X(GIVEN, "--given", "T,..", WORD, "what the forward pass has kept, to be read; else it is recomputed") \
  X(STEP, "--step", "sgd|adam", WORD, "a training step: forward, backward and the update of --by as one workload") \
  X(AGAIN, "--again", "T,..", WORD, "with --step: what the backward pass makes anew; else the forward pass keeps it") \
  X(MEMORY, "--memory", "BYTES", EVALS, "take the fastest choice that needs no more between groups") \
  X(LAUNCH, "--launch", "CYCLES", EVALS, "what starting a kernel takes, for the benefit of fusions; 0 if not given") \
  X(OUT, "--out", "PATH", OUT, "write there (-o, too); stdout if not given") \
  X(WRITE, "--out", "FILE|-", RESULT, "write the mapping as YAML (-o, too)") \
  X(FORCE, "--force", NULL, FLAG, "write over a file that is there already") \
  X(WORK, "--workload", "NAME", WORD, "product (if not given), attention, convolution") \
  X(LIST, "--list", NULL, FLAG, "list the workloads there are, and write nothing") \
  X(STORE, "--store", "FILE", WORD, "the store; NAME.tfdb, after the sweep's name, if not given") \
  X(SHARD, "--shard", "I/N", SHARD, "every N-th machine from the I-th on: one job of N") \
  X(FULL, "--full", NULL, FLAG, "solve machines, too, whose bounds a result beats") \
  X(WHERE, "--where", "CONDITION", WORD, "list the points of which it holds, on columns of --csv") \
  X(TOP, "--top", "N", EVALS, "list the N best points by the first objective") \
  X(POINT, "--point", "N", POINT, "print the mapping of that point, or write it with --mapping") \
  X(MACHINES, "--machines", NULL, FLAG, "--csv: a row a machine, scored over its workloads, not a row a point") \
  X(MERGE, "--merge", NULL, FLAG, "take what the second and later stores hold into the first") \
  X(TO, "--to", "NAME", WORD, "the tool it is for: timeloop or tileflow") \
  X(TARGET, "--target", "cpu|cuda|opencl|npu|hints|staged", WORD, "what the kernel is for, cpu if not given; hints: cuda's for Triton and others; staged, model: loops alone") \
  X(ISA, "--isa", "NAME", WORD, \
    "portable, sse2, avx2, avxvnni, avx512, avx512_vnni, avx512_bf16, amx, neon, neon_dot, neon_i8mm, sme, multi; this computer's " \
    "best if not given; cuda: sm_80 (if not given), sm_90a, wmma; opencl: dot (if not given), plain") \
  X(DTYPE, "--dtype", "NAME", WORD, "type of the data: f32, bf16, int8; cuda: f16, tf32 and f8, too; opencl: f32, bf16, f16, int8; f32 if not given") \
  X(MICRO, "--micro", "NAME", WORD, "where products of float32 come from: own, libxsmm; own if not given") \
  X(NAME, "--name", "NAME", WORD, "of the function, and prefix of all it exports; kernel if not given") \
  X(MEASURE, "--measure", "N", KERNELS, \
    "time the kernels of the model's N best mappings here, and keep the fastest") \
  X(LADDER, "--ladder", NULL, FLAG, "schedules from plain loops to the first choice, each with what it moves") \
  X(MEASURE_ALL, "--measure", NULL, FLAG, "of the ladder: time the kernel of each step here") \
  X(AS, "--as", "KIND", WORD, PLOT_NAMES) \
  X(SCRIPT, "--script", NULL, FLAG, "write the gnuplot script and its CSV beside the figure, too") \
  X(WIDTH, "--width", "one|two", WORD, "of a paper's columns that the figure takes; one if not given") \
  X(TITLE, "--title", "TEXT", WORD, "above the figure; else it says what was read") \
  X(X, "--x", "COLUMN", WORD, "along the axis") \
  X(Y, "--y", "COLUMN", WORD, "up the axis; bars of JSON: cycles, energy, words") \
  X(Z, "--z", "COLUMN", WORD, "heat: what the colour shows") \
  X(DUMP_IR, "--dump-ir", NULL, FLAG, "print the loop IR, too") \
  X(REPLACED, "--live", NULL, FLAG, "with files by which tune --serve replaces the kernel as a program calls it") \
  X(SERVE, "--serve", "DIR", WORD, "give each faster kernel to programs that run the one of DIR, of emit --live") \
  X(NO_TEST, "--no-test", NULL, FLAG, "write the kernel without running its test first") \
  X(HELP, "--help", NULL, FLAG, "print this") \
  X(OBJECTIVE, "--objective", "latency|energy|edp|traffic", OBJECTIVE, \
    "what a search makes small; latency if not given") \
  X(SEED, "--seed", "N", SEED, "of the search's random numbers; 1 if not given") \
  X(THREADS, "--threads", "N", THREADS, "one for each processor if not given") \
  X(TIME_LIMIT, "--time-limit", "S", SECONDS, \
    "seconds a search may take") \
  X(EVALS, "--evals", "N", EVALS, \
    "mappings that may be evaluated; without a limit: 500000, fewer for more than three ops") \
  X(STRATEGY, "--strategy", "NAME", STRATEGY, CLI_NAMES) \
  X(TUNER, "--strategy", "NAME", TUNER, CLI_NAMES) \
  X(TRIALS, "--trials", "N", EVALS, "schedules to measure, beside the model's first choice; without either: 64") \
  X(CONSTRAINTS, "--constraints", "FILE", WORD, "further constraints on schedules, a line each") \
  X(SPACE, "--space", NULL, FLAG, "print variables, constraints and exact size of the space; measure nothing") \
  X(RULES, "--rules", NULL, FLAG, "with --space: the system that Heron's rules derive from ops, instructions and memories") \
  X(WRITE_SCHEDULE, "--schedule", "FILE|-", RESULT, "write the fastest schedule, which emit --schedule reads") \
  X(SCHEDULE, "--schedule", "FILE", WORD, "emit the mapping of a schedule that tune wrote") \
  X(TUNED, "--tuned", "STORE", WORD, "emit the fastest mapping that tune has measured on this computer, from its store") \
  X(EXPORTABLE, "--exportable", "timeloop|tileflow", FORMAT, "only mappings that export --to writes") \
  X(METHOD, "--method", "NAME", METHOD, "how to solve: " CLI_NAMES) \
  X(START, "--start", "FILE", PATHS, \
    "a mapping to begin with (YAML, JSON of eval, or what search printed); may be repeated") \
  X(LOG, "--log", "FILE", LOG, "write what each step of the search found") \
  X(RESUME, "--resume", NULL, FLAG, \
    "go on from the log of a search that was stopped") \
  X(MAPPING, "--mapping", "FILE|-", RESULT, "write the mapping as YAML") \
  X(CERTIFICATE, "--certificate", "FILE|-", RESULT, "write a proof that tileflow-certify checks; of one op with plain indices") \
  X(PARETO, "--pareto", "FILE|-", RESULT, \
    "write the mappings that none beats in cycles, energy, traffic and words held, as CSV") \
  X(TEXT, "--text", "FILE|-", RESULT, "write the program as the disassembler says it") \
  X(DATA, "--data", "DIR", WORD, "read inputs from DIR/TENSOR.f64, raw doubles, and write outputs there; else random") \
  X(TIMING, "--timing", NULL, FLAG, "count cycles and words alone: no values, and of faults only deadlocks") \
  X(MAX_OPS, "--max-ops", "N", EVALS, "of a group, at most; 8 if not given, 32 at the most") \
  X(RECOMPUTE, "--recompute", NULL, FLAG, "ops may be computed again in other groups, where that costs less than what passes between these") \
  X(PAPER, "--paper", NULL, FLAG, "count the mappings as the thesis does in its table 5.3")
/* clang-format on */
typedef enum {
#define X(id, name, value, kind, help) CLI_##id,
  CLI_OPTIONS(X)
#undef X
      CLI_N_OPTIONS
} cli_option;

/* An option of a command, and where its struct stores the value; help, value: instead of the
 * table's, NULL: that one.  Words of value (a|b) are all that the command takes. */
typedef struct {
  cli_option option;
  size_t offset;
  const char *help, *value;
} cli_slot;
#define CLI_AT_WORDS(type, option, field, value, help)                                             \
  { CLI_##option, offsetof(type, field), help, value }
#define CLI_AT_SAYS(type, option, field, help) CLI_AT_WORDS(type, option, field, NULL, help)
#define CLI_AT(type, option, field) CLI_AT_SAYS(type, option, field, NULL)
/* The objective of what has a mapping for each group; the options of a page; of a cli_figures; of a
 * cli_looking. */
#define CLI_OBJECTIVE_OF_GROUPS(type, field)                                                       \
  CLI_AT_WORDS(type, OBJECTIVE, field, "latency|energy|traffic", NULL)
#define CLI_PAGE_AT(type, field) CLI_AT(type, HTML, field.html), CLI_AT(type, FORCE, field.force)
#define CLI_FIGURES_AT(type, field) CLI_AT(type, JSON, field.json), CLI_AT(type, CSV, field.csv)
#define CLI_LOOKING_AT(type, field)                                                                \
  CLI_AT(type, OBJECTIVE, field.objective), CLI_AT(type, SEED, field.seed),                        \
      CLI_AT(type, THREADS, field.threads), CLI_AT(type, TIME_LIMIT, field.time_limit),            \
      CLI_AT(type, EVALS, field.evals), CLI_AT(type, STRATEGY, field.strategy)

/* A file or folder that a command writes. */
typedef struct {
  cli_option option;
  const char *name, *path;
} cli_output;

/* The arguments of one command, as read. */
typedef struct {
  void *options; /* its struct, which begins with a cli_input; NULL: out of memory */
  bool help;
  int n_outputs;
  cli_output outputs[CLI_N_OPTIONS]; /* [n_outputs] without stdout; --log and --out last */
} cli_arguments;

typedef struct cli_command cli_command;

/* Reads n arguments into out, which borrows them (and splits NAME=VALUE in place).  False with
 * every error in d.  Free it in either case. */
bool cli_arguments_read(cli_arguments *out, const cli_command *c, int n, char **args, tf_diags *d);
void cli_arguments_free(cli_arguments *a, const cli_command *c);

/* Prints a line for each option of the command. */
void cli_options_help(const cli_command *c, FILE *out);

/* An option as completion for shells has it. */
typedef struct {
  const char *name, *value; /* value: as the help shows it; NULL: none follows */
  char help[400];
  bool path;       /* what follows is one */
  char words[200]; /* what may follow, with blanks between; "": anything */
} cli_option_facts;
/* The k-th option of the command, in the order of the help; false past the last. */
bool cli_option_at(const cli_command *c, int k, cli_option_facts *out);
/* outputs.c: the files that a command writes.  Errors in d where two results go to the same file,
 * or one overwrites a file that is read; start: further such files, may be NULL. */
void cli_check_outputs(const cli_arguments *a, const cli_paths *start, tf_diags *d);
/* Before work begins: whether the folders of the results exist and are writable.  False after a
 * message for each that is not. */
bool cli_outputs_ready(const cli_arguments *a);
#endif
