/* tileflow tree: the tree as text, SVG or Graphviz. */
#include <stdio.h>

#include "cli/cmd/commands.h"
#include "cli/draw/draw.h"
#include "cli/os/safe_write.h"
#include "cli/report/report.h"
#include "cli/session/session.h"

typedef struct {
  cli_input in;
  cli_figures figures;
  cli_looking look;
  const char *svg, *dot;
} tree_options;
static const cli_slot slots[] = {CLI_FIGURES_AT(tree_options, figures),
                                 CLI_LOOKING_AT(tree_options, look), CLI_AT(tree_options, SVG, svg),
                                 CLI_AT(tree_options, DOT, dot)};

static bool draw(const cli_session *s, const char *path,
                 void (*how)(const cli_session *, cli_text *)) {
  cli_text t = {0};
  how(s, &t);
  return cli_put_text(path, &t);
}

static bool draw_all(const cli_session *s, const tree_options *o) {
  bool ok = cli_write_figures(s, &o->figures, true);
  if (o->svg) ok = draw(s, o->svg, cli_draw_svg) && ok;
  if (o->dot) ok = draw(s, o->dot, cli_draw_dot) && ok;
  bool text = !o->svg && !o->dot && !o->in.quiet && !o->in.stdout_taken;
  if (text) ok = draw(s, "-", cli_draw_text) && ok;
  fflush(stdout); /* before what goes to stderr */
  return ok;
}

static cli_status run_tree(const void *options) {
  const tree_options *o = options;
  cli_session s;
  cli_status status = cli_evaluate(&s, &o->in, &o->look);
  if (status == CLI_DONE)
    status = cli_report_violations(&s, draw_all(&s, o) ? CLI_DONE : CLI_FAILED);
  cli_close(&s);
  return status;
}

const cli_command cmd_tree = {
    .name = "tree",
    .summary = "draw the tile tree with what each node holds and moves",
    .about = "Evaluates the mapping and draws its tree: how often each node runs, the words it "
             "holds, loads and stores, and the memory in which each tensor lives.\n"
             "Exit status: 0, 2 for bad input, 3 if the mapping does not fit.\n",
    .example = "arch-specs/edge.yaml workloads/attention/g1.yaml \\\n"
               "    workloads/dataflows/edge/attention-flat-rgran.yaml",
    .size = sizeof(tree_options),
    CLI_SLOTS(slots),
    .run = run_tree,
};
