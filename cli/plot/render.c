/* Runs gnuplot in a temporary folder: the figure is written as a whole or not at all. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/os/run_program.h"
#include "cli/os/safe_write.h"
#include "cli/os/temp_dir.h"
#include "cli/plot/plot.h"

enum { SECONDS = 120 };

static const char *const names[] = {"figure.gp", "data.csv", "said", "figure"};
enum { SCRIPT, DATA, SAID, FIGURE, N_NAMES };

typedef struct {
  cli_temp dir;
  char path[N_NAMES][300]; /* a longer name is truncated, and hence not found */
} place;

static bool make_place(place *p, const char *format) {
  p->dir = cli_temp_dir();
  for (int i = 0; i < N_NAMES && p->dir.path; i++)
    snprintf(p->path[i], sizeof p->path[i], "%.256s/%s%s%s", p->dir.path, names[i],
             i == FIGURE ? "." : "", i == FIGURE ? format : "");
  return p->dir.path != NULL;
}

static bool put_inputs(const place *p, const plot_chart *c, const plot_choice *w) {
  cli_text csv = {0}, script = {0};
  plot_csv(c, &csv);
  plot_script(c, w, p->path[DATA], p->path[FIGURE], &script);
  bool ok = cli_safe_write(p->path[DATA], &csv) && cli_safe_write(p->path[SCRIPT], &script);
  cli_text_free(&csv);
  cli_text_free(&script);
  return ok;
}

/* Reads a whole binary file. */
static bool read_whole(const char *path, cli_text *out) {
  FILE *f = fopen(path, "rb");
  *out = (cli_text){.bad = !f};
  while (f && !out->bad && !feof(f)) {
    if (out->room < out->len + 65536) {
      char *more = realloc(out->text, out->room + 262144);
      out->bad = !more;
      if (!more) break;
      out->text = more;
      out->room += 262144;
    }
    out->len += fread(out->text + out->len, 1, 65536, f);
    out->bad |= ferror(f) != 0;
  }
  if (f) fclose(f);
  return !out->bad && out->len > 0;
}

/* Whether the picture ends as pictures of its format do: on a full disk gnuplot writes half of it,
 * and exits 0. */
static bool is_whole(const cli_text *picture, const char *format) {
  static const char *const ends[][2] = {{"svg", "</svg>"}, {"png", "IEND"}, {"pdf", "%%EOF"}};
  enum { NEAR = 16 };
  size_t from = picture->len > NEAR ? picture->len - NEAR : 0;
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
    for (size_t at = from, n = strlen(ends[i][1]);
         !strcmp(format, ends[i][0]) && at + n <= picture->len; at++)
      if (!memcmp(picture->text + at, ends[i][1], n)) return true;
  return false;
}

static void complain(const place *p, cli_ran how) {
  cli_text said = {0};
  if (how == CLI_NOT_THERE) {
    fputs("tileflow: error[E_IO]: gnuplot is not there: install it, or write the script with "
          "--script\n",
          stderr);
    return;
  }
  fprintf(stderr, "tileflow: error[E_IO]: gnuplot %s\n",
          how == CLI_TOO_LONG ? "took too long" : "could not draw this");
  if (read_whole(p->path[SAID], &said))
    fprintf(stderr, "%.*s", (int)(said.len < 2000 ? said.len : 2000), said.text);
  cli_text_free(&said);
}

cli_status plot_render(const plot_chart *c, const plot_choice *w, const char *figure) {
  place p;
  if (!make_place(&p, plot_format(figure))) return CLI_FAILED;
  cli_status status = CLI_FAILED;
  if (put_inputs(&p, c, w)) {
    const char *const args[] = {"gnuplot", p.path[SCRIPT], NULL};
    cli_ran how = cli_run_program(args, p.path[SAID], SECONDS);
    cli_text picture = {0};
    const bool drawn = how == CLI_RAN && read_whole(p.path[FIGURE], &picture);
    if (drawn && !is_whole(&picture, plot_format(figure)))
      cli_complain_of(figure, TF_E_IO,
                      "gnuplot's picture is not whole: there may be no space left in %.60s",
                      p.dir.path);
    else if (drawn)
      status = cli_safe_write(figure, &picture) ? CLI_DONE : CLI_FAILED;
    else if (how != CLI_STOPPED)
      complain(&p, how);
    cli_text_free(&picture);
  }
  cli_temp_dir_drop(&p.dir);
  return status;
}
