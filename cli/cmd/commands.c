/* The table of commands, and the help that is made from it. */
#include "cli/cmd/commands.h"

#include <string.h>

#include "cli/cmd/options.h"
#include "cli/nearest.h"
#include "cli/wrap.h"

static const cli_command commands[] = {
    {CLI_EVAL, "eval", "evaluate the mapping: counts, latency, energy",
     "Reads architecture, workload and mapping from the files, in any order, and prints what "
     "the mapping moves, holds, takes and costs, and what limits it.  A mapping that does not "
     "fit the machine is told where and by how much; its counts are printed all the same.\n"
     "Exit status: 0, 2 for bad input, 3 if the mapping does not fit.\n",
     "arch-specs/edge.yaml workloads/attention/g1.yaml \\\n"
     "    workloads/dataflows/edge/attention-flat-rgran.yaml",
     cmd_eval},
    {CLI_CHECK, "check", "read and check only",
     "Reads the files and prints a line for each section, or every error in them. "
     "A file may hold any of the sections; a mapping is checked where all three are given.\n"
     "Exit status: 0, or 2 if there is an error.\n",
     "arch-specs/edge.yaml workloads/attention/g1.yaml", cmd_check},
    {CLI_TREE, "tree", "draw the tile tree with what each node holds and moves",
     "Evaluates the mapping and draws its tree: how often each node runs, the words it holds, "
     "loads and stores, and the memory in which each tensor lives.\n"
     "Exit status: 0, 2 for bad input, 3 if the mapping does not fit.\n",
     "arch-specs/edge.yaml workloads/attention/g1.yaml \\\n"
     "    workloads/dataflows/edge/attention-flat-rgran.yaml",
     cmd_tree},
    {CLI_BOUND, "bound", "what no mapping can beat",
     "Prints the words that must pass through the outermost memory, the cycles and the energy "
     "below which no mapping of the workload on the architecture can get; then, for each capacity on chip, "
     "the words that are proved to pass through the outermost memory, with one unit and with all that the machine has, "
     "and those of a mapping (docs/HOWTO-bound.md).\n"
     "Exit status: 0, or 2 for bad input.\n",
     "arch-specs/edge.yaml workloads/attention/g1.yaml", cmd_bound},
    {CLI_DIFF, "diff", "two mappings, term by term: why one is faster",
     "Evaluates two mappings on the same machine and workload, and prints what differs, the larger\n"
     "difference first: cycles, energy, words by memory and tensor with what makes them pass again,\n"
     "units and instances.  The two files that hold a mapping are A and B; all others are common.\n"
     "FILE... -- FILE... says the files of each side, which may differ in machine and workload, too.\n"
     "Exit status: 0, 2 for bad input, 3 if one of the mappings does not fit.\n",
     "arch-specs/edge.yaml workloads/attention/g1.yaml \\\n"
     "    workloads/dataflows/edge/attention-layerwise.yaml workloads/dataflows/edge/attention-flat-rgran.yaml",
     cmd_diff},
    {CLI_SOLVE, "solve", "find the best mapping of the solver's space, and prove it",
     "Enumerates loop orders, scopes, spreads and trip counts with bounds, and prints the best mapping of "
     "its space (docs/HOWTO-solve.md): proved, or with the gap to what is proved where it was stopped. "
     "Mappings outside that space, which search may find (bypasses, uneven trip counts), can be better. "
     "--method closed takes the tiles that formulas give for each loop order, in milliseconds. "
     "The same result with any number of threads, unless --time-limit or Ctrl-C ends it.\n"
     "Exit status: 0, 2 for bad input, 3 if nothing fits, 130 if interrupted.\n",
     "arch-specs/edge.yaml workloads/gemm-chain/g5.yaml", cmd_solve},
    {CLI_SEARCH, "search", "find a mapping: GA over shapes, MCTS over trip counts",
     "Searches shapes (what is fused where, loop orders, what is spread over instances) and trip "
     "counts, and prints the best mapping with its report.  Where the files hold a mapping, what "
     "is open in it ('?') is completed.  The same seed and --evals give the same result with any "
     "number of threads.  --start gives it mappings to begin with: the result is no worse than the best of them that "
     "fits.  Ctrl-C prints the best so far; with --log, --resume goes on from there.\n"
     "Exit status: 0, 2 for bad input, 3 if nothing that fits was found, 130 if interrupted.\n",
     "arch-specs/edge.yaml workloads/gemm-chain/g1.yaml \\\n    --evals 20000 --seed 1", cmd_search},
    {CLI_IMPORT, "import", "write the native form of Timeloop's or TileFlow's files, or of this computer",
     "Reads Timeloop's architecture (0.2 to 0.4), problem, mapping or constraints, Accelergy's tables, or "
     "TileFlow's architecture, problem, mapping and macros, and writes the sections that mean the same; what "
     "has no place in the model is a warning.  With --host, writes the CPU it runs on as an architecture: cores, "
     "caches, "
     "clock and vectors from /sys and /proc, each number with where it was read, and what the "
     "system does not report as a marked assumption; --root reads a copy of another machine's.\n"
     "Exit status: 0, or 2 for bad input.\n",
     "tests/data/timeloop/case004.yaml", cmd_import},
    {CLI_EXPORT, "export", "write architecture, workload and mapping for another tool",
     "Writes a new folder with the files that Timeloop (one op) or TileFlow (fused ops) reads, for a second "
     "opinion; import reads them back to the same tree.  What the format cannot say is an error where it "
     "would change counts, else a comment in the files.  Without a mapping, the other two are written.\n"
     "Exit status: 0, or 2 for bad input (or a folder that is there already).\n",
     "examples/matmul.yaml --to timeloop -o matmul-timeloop", cmd_export},
    {CLI_EMIT, "emit", "write a fused kernel for the mapping",
     "Writes a new folder with the mapping as C17 (kernel.c, kernel.h), a test that holds it against "
     "a plain evaluation in double, a benchmark, a Makefile, a CMake file, a README and a manifest. "
     "Where no mapping is given, or some of it is open, one is searched for first.\n"
     "Exit status: 0, 2 for bad input (or a folder that is there already), 3 if the mapping does not fit.\n",
     "arch-specs/xeon-gold-6240.yaml workloads/gemm-chain/g1.yaml \\\n"
     "    workloads/dataflows/cpu/gemm-chain-rows.yaml -o g1-kernel",
     cmd_emit},
    {CLI_SWEEP, "sweep", "a grid of machines and workloads, each point's result kept in a store",
     "Reads the section 'sweep' (docs/HOWTO-sweep.md) and finds every point that the store lacks: bounds, the given "
     "mapping's figures, or a mapping.  Machines whose bounds a result beats are not solved.  The store is whole "
     "whenever the sweep is stopped or killed, and the same command goes on; rows are the same with any number of "
     "threads.  Ends with the front, and what of it is proved.\n"
     "Exit status: 0, 1 where the store cannot be written, 2 for bad input, or a store of another sweep, 130 if "
     "interrupted.\n",
     "examples/sweep.yaml --store edge-family.tfdb", cmd_sweep},
    {CLI_RESULTS, "results", "list, rank, filter, merge and export what a store holds",
     "Prints the front of a sweep's store: machines that none beats in the sweep's objectives, and how much better "
     "another could still be.  --where and --top list points instead, the best first; --csv has one row a point, by "
     "its number; --mapping prints that of one point as eval reads it; --merge takes the rows of other stores of the "
     "same sweep (of shards) into the first.\n"
     "Exit status: 0, or 2 for a store that cannot be read.\n",
     "edge-family.tfdb --where \"side >= 16 and state == 'found'\" --top 5", cmd_results},
};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

/* What later versions will have. */
static const char *const later[] = {"plot"};
enum { N_LATER = sizeof later / sizeof later[0] };

static void note_commands(tf_diags *d) {
  char list[160] = "";
  for (size_t i = 0; i < N_COMMANDS; i++) {
    if (i) strcat(list, ", ");
    strcat(list, commands[i].name);
  }
  tf_note(d, (tf_loc){0}, "version " TILEFLOW_VERSION " has %s", list);
}

const cli_command *cli_find_command(const char *name, tf_diags *d) {
  const tf_loc nowhere = {0};
  cli_nearest near = cli_nearest_to(name);
  for (size_t i = 0; i < N_COMMANDS; i++) {
    if (!strcmp(commands[i].name, name)) return &commands[i];
    cli_nearest_offer(&near, commands[i].name);
  }
  for (size_t i = 0; i < N_LATER; i++)
    if (!strcmp(later[i], name)) {
      tf_fail(d, nowhere, TF_E_USAGE, "this version has no command '%s' yet", name);
      note_commands(d);
      return NULL;
    }
  if (name[0] == '-')
    tf_fail(d, nowhere, TF_E_USAGE, "the command comes before '%.60s'", name);
  else if (near.best)
    tf_fail(d, nowhere, TF_E_USAGE, "no command '%.60s', did you mean '%s'?", name, near.best);
  else
    tf_fail(d, nowhere, TF_E_USAGE, "no command '%.60s'", name);
  if (!near.best) note_commands(d);
  return NULL;
}

static const char *arguments(const cli_command *c) {
  return c->id == CLI_IMPORT ? "FILE...|--host" : c->id == CLI_RESULTS ? "FILE" : "FILE...";
}

void cli_help(FILE *out) {
  fputs("usage: tileflow COMMAND FILE... [OPTION...]\n\n"
        "Counts what a fused dataflow moves, holds, takes and costs on a spatial "
        "accelerator.\n\n",
        out);
  for (size_t i = 0; i < N_COMMANDS; i++)
    cli_wrap(out, commands[i].summary,
             fprintf(out, "  tileflow %-6s %-14s  ", commands[i].name, arguments(&commands[i])));
  fputs("\ntileflow COMMAND --help    its options, and an example that runs\n"
        "tileflow --version         the version\n",
        out);
}

void cli_command_help(const cli_command *c, FILE *out) {
  fprintf(out, "usage: tileflow %s %s [OPTION...]\n\n", c->name, arguments(c));
  cli_wrap(out, c->about, 0);
  fputs("\noptions:\n", out);
  cli_options_help(c->id, out);
  fprintf(out, "\nexample, in the folder of the sources:\n  tileflow %s %s\n", c->name, c->example);
}
