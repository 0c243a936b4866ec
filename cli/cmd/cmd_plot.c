/* tileflow plot: figures of results, drawn by gnuplot. */
#include <stdio.h>
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/nearest.h"
#include "cli/os/safe_write.h"
#include "cli/plot/plot.h"

typedef struct {
  cli_input in;
  plot_choice choice;
  const char *as, *out, *width, *where;
  bool script;
} plot_options;
static const cli_slot slots[] = {
    CLI_AT(plot_options, AS, as),
    CLI_AT_SAYS(plot_options, OUT, out, "the figure (-o, too)"),
    CLI_AT(plot_options, SCRIPT, script),
    CLI_AT(plot_options, WIDTH, width),
    CLI_AT(plot_options, TITLE, choice.title),
    CLI_AT(plot_options, X, choice.x),
    CLI_AT(plot_options, Y, choice.y),
    CLI_AT(plot_options, Z, choice.z),
    CLI_AT(plot_options, BY, choice.by),
    CLI_AT_SAYS(plot_options, WHERE, where,
                "draw the rows of which it holds: \"side >= 16 and state == 'found'\"")};

static const tf_loc nowhere = {0};

/* NULL with an error in d. */
static const plot_kind *find_kind(const char *name, tf_diags *d) {
  cli_nearest near = cli_nearest_to(name);
  char known[240] = "";
  for (int k = 0; plot_kind_at(k); k++) {
    const char *its = plot_kind_at(k)->name;
    if (!strcmp(its, name)) return plot_kind_at(k);
    cli_nearest_offer(&near, its);
    snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", k ? ", " : "", its);
  }
  if (near.best)
    tf_fail(d, nowhere, TF_E_USAGE, "no figure '%.60s', did you mean '%s'?", name, near.best);
  else
    tf_fail(d, nowhere, TF_E_USAGE, "no figure '%.60s'; known: %s", name, known);
  return NULL;
}

static void check_plot(void *options, tf_diags *d) {
  plot_options *o = options;
  if (!o->as)
    tf_fail(d, nowhere, TF_E_USAGE, "plot needs --as KIND");
  else
    find_kind(o->as, d);
  if (!o->out)
    tf_fail(d, nowhere, TF_E_USAGE, "plot needs -o FIGURE");
  else if (!plot_format(o->out))
    tf_fail(d, nowhere, TF_E_USAGE, "'%.80s': a figure ends in .svg, .png or .pdf", o->out);
  o->choice.two_columns = o->width && !strcmp(o->width, "two");
  if (o->width && !o->choice.two_columns && strcmp(o->width, "one") != 0)
    tf_fail(d, nowhere, TF_E_USAGE, "--width is one or two columns, not '%.60s'", o->width);
  if (o->in.n_set)
    tf_fail(d, nowhere, TF_E_USAGE, "plot draws results as they are: --set means nothing to it");
}

/* FIGURE.gp and FIGURE.csv beside FIGURE.svg; the script refers to the others by relative names. */
static bool write_script(const plot_chart *c, const plot_options *o) {
  const char *slash = strrchr(o->out, '/'), *name = slash ? slash + 1 : o->out;
  const int stem = (int)(strrchr(o->out, '.') - o->out), base = (int)(strrchr(name, '.') - name);
  cli_text csv = {0}, script = {0}, csv_path = {0}, script_path = {0}, csv_name = {0};
  cli_printf(&csv_path, "%.*s.csv", stem, o->out);
  cli_printf(&script_path, "%.*s.gp", stem, o->out);
  cli_printf(&csv_name, "%.*s.csv", base, name);
  plot_csv(c, &csv);
  bool ok = !csv_path.bad && !script_path.bad && !csv_name.bad;
  if (ok) plot_script(c, &o->choice, csv_name.text, name, &script);
  for (size_t i = 0; ok && i < o->in.n_files; i++) /* lines of lines.csv as lines.svg */
    if (!strcmp(o->in.files[i], csv_path.text)) {
      cli_complain_of(csv_path.text, TF_E_USAGE,
                      "--script would overwrite it, and it is read: give the figure another name");
      ok = false;
    }
  ok = ok && cli_safe_write(csv_path.text, &csv) && cli_safe_write(script_path.text, &script);
  cli_text_free(&csv);
  cli_text_free(&script);
  cli_text_free(&csv_path);
  cli_text_free(&script_path);
  cli_text_free(&csv_name);
  return ok;
}

static cli_status run_plot(const void *options) {
  const plot_options *o = options;
  tf_diags *d = cli_diags();
  plot_input *in = NULL;
  plot_chart c = {0};
  if (!d) return CLI_FAILED;
  bool ok = plot_inputs_read(&o->in, &in, d) &&
            (!o->where || plot_where(in, o->in.n_files, o->where, d)) &&
            find_kind(o->as, d)->draw(in, o->in.n_files, &o->choice, &c, d);
  cli_status status = ok ? CLI_DONE : CLI_BAD_INPUT;
  if (!ok && !c.bad) cli_complain(d);
  if (c.bad) {
    cli_complain(NULL);
    status = CLI_FAILED;
  }
  if (status == CLI_DONE && o->script && !write_script(&c, o)) status = CLI_FAILED;
  if (status == CLI_DONE) status = plot_render(&c, &o->choice, o->out);
  plot_chart_free(&c);
  plot_inputs_free(in, o->in.n_files);
  tf_diags_free(d);
  return status;
}

const cli_command cmd_plot = {
    .name = "plot",
    .summary = "figures of results, drawn by gnuplot",
    .about = "Draws what other commands wrote as a figure, ready for a paper:\n" PLOT_HELP
             "It runs gnuplot.  --script leaves the script and its data beside the figure, to be "
             "changed by hand.\n"
             "Exit status: 0, 1 if gnuplot is not there or fails, 2 for bad input.\n",
    .example = "docs/results/slope.csv --as slope -o /tmp/slope.svg",
    .size = sizeof(plot_options),
    CLI_SLOTS(slots),
    .check = check_plot,
    .run = run_plot,
};
