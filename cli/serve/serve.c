#define _XOPEN_SOURCE 700
#include "cli/serve/serve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/os/interrupt.h"
#include "cli/os/run_program.h"
#include "cli/session/measure.h"
#include "tileflow/tree.h"
#include "tileflow/version.h"

enum { BUILD_SECONDS = 600, TURNS = 3, OWN = -1 };
static const double steady = 0.02; /* as of two times of one kernel */

/* ---- the folder ----------------------------------------------------------------------------- */
/* The kernel's name, from "typedef struct NAME_live" in live.h. */
static bool read_name(cli_serve *s) {
  static const char before[] = "typedef struct ", behind[] = "_live";
  cli_text path = {0};
  char line[512];
  cli_printf(&path, "%s/live.h", s->folder);
  FILE *f = path.bad ? NULL : fopen(path.text, "r");
  while (f && !*s->name && fgets(line, sizeof line, f)) {
    char *end = strstr(line, behind);
    if (end && !strncmp(line, before, sizeof before - 1))
      snprintf(s->name, sizeof s->name, "%.*s", (int)(end - line) - (int)sizeof before + 1,
               line + sizeof before - 1);
  }
  if (f) fclose(f);
  cli_text_free(&path);
  return *s->name;
}

static bool has(const cli_serve *s, const char *name, int how) {
  cli_text path = {0};
  cli_printf(&path, "%s/%s", s->folder, name);
  const bool is = !path.bad && access(path.text, how) == 0;
  cli_text_free(&path);
  return is;
}

static bool link_in(const cli_serve *s, const char *to, const char *name) {
  cli_text path = {0};
  cli_printf(&path, "%s/%s", s->dir.path, name);
  if (!path.bad) unlink(path.text);
  const bool ok = !path.bad && symlink(to, path.text) == 0;
  cli_text_free(&path);
  return ok;
}

/* Runs make there (below dir), with up to two words; says what it said if it fails. */
static cli_ran run_make(const cli_serve *s, const char *where, const char *a, const char *b) {
  cli_text dir = {0}, said = {0};
  cli_printf(&dir, "%s/%s", s->dir.path, where);
  cli_printf(&said, "%s/said", s->dir.path);
  const char *const args[] = {"make", "-s", "-C", dir.text, "-f", "live.mk", a, b, NULL};
  const cli_ran how =
      dir.bad || said.bad ? CLI_BROKE : cli_run_program(args, said.text, BUILD_SECONDS);
  if (how == CLI_BROKE && !said.bad) cli_quote(said.text);
  if (how == CLI_NOT_THERE)
    fputs("tileflow: error[E_IO]: tune needs make and a C compiler (cc, or $CC)\n", stderr);
  cli_text_free(&dir);
  cli_text_free(&said);
  return how;
}

static bool open_folder(cli_serve *s, const char *folder) {
  s->folder = realpath(folder, NULL);
  if (!s->folder || !read_name(s))
    cli_complain_of(folder, TF_E_IO, "is no folder of emit --live");
  else if (!has(s, "try", X_OK) || !has(s, "live.flags", R_OK))
    cli_complain_of(folder, TF_E_IO, "has no `try` yet: make -C %s -f live.mk", folder);
  else if (!has(s, "", W_OK))
    cli_complain_of(folder, TF_E_IO, "cannot be written to");
  else
    return true;
  return false;
}

bool cli_serve_begin(cli_serve *s, const cli_trials *trials, const char *folder) {
  *s = (cli_serve){
      .trials = trials, .dir = {NULL, -1}, .dtype = s->dtype, .served = OWN, .quiet = s->quiet};
  if (!open_folder(s, folder)) return false;
  s->dir = cli_temp_dir();
  if (!s->dir.path || !link_in(s, s->folder, "to")) return false;
  cli_hold_interrupt(0);
  const bool ok = run_make(s, "to", "bench", NULL) == CLI_RAN;
  cli_release_interrupt();
  return ok;
}

void cli_serve_end(cli_serve *s) {
  if (s->dir.path) cli_temp_dir_drop(&s->dir);
  free(s->folder);
  s->folder = NULL;
}

/* ---- builds --------------------------------------------------------------------------------- */
/* Whether the file holds the text. */
static bool file_holds(const char *path, const char *text) {
  const size_t n = strlen(text);
  char *all = malloc(n + 1);
  FILE *f = fopen(path, "rb");
  const bool same = all && f && fread(all, 1, n + 1, f) == n && !memcmp(all, text, n);
  if (f) fclose(f);
  free(all);
  return same;
}

static bool write_file(const char *path, const char *text) {
  if (file_holds(path, text)) return true; /* what was compiled from it stays */
  FILE *f = fopen(path, "wb");
  const bool ok = f && fputs(text, f) >= 0;
  return f && fclose(f) == 0 && ok;
}

static void folder_of(int build, cli_figure *name) {
  if (build == OWN)
    snprintf(name->s, sizeof name->s, "to");
  else
    snprintf(name->s, sizeof name->s, "b%d", build);
}

/* Whether the code of the kernel is that of the build which runs now. */
static bool is_served(const cli_serve *s, const tf_emitted *e) {
  static const char *const beside[] = {"test.c", "bench.c", "try.c", "live_entry.c"};
  cli_figure now;
  bool same = true;
  folder_of(s->served, &now);
  for (int i = 0; i < e->n && same; i++) {
    const char *end = strrchr(e->file[i].name, '.');
    bool counts = end && !strcmp(end, ".c");
    for (size_t k = 0; k < sizeof beside / sizeof *beside; k++)
      counts = counts && strcmp(e->file[i].name, beside[k]) != 0;
    if (!counts) continue;
    cli_text path = {0};
    cli_printf(&path, "%s/%s/%s", s->dir.path, now.s, e->file[i].name);
    same = !path.bad && file_holds(path.text, e->file[i].text);
    cli_text_free(&path);
  }
  return same;
}

/* A folder with the files, and what the last build has of theirs. */
static bool write_build(cli_serve *s, const tf_emitted *e) {
  cli_text dir = {0}, last = {0}, said = {0};
  cli_printf(&dir, "%s/b%d", s->dir.path, s->built);
  cli_printf(&last, "%s/b%d", s->dir.path, s->built - 1);
  cli_printf(&said, "%s/said", s->dir.path);
  const char *const copy[] = {"cp", "-a", last.text, dir.text, NULL};
  bool ok = !dir.bad && !last.bad && !said.bad &&
            (s->built ? cli_run_program(copy, said.text, BUILD_SECONDS) == CLI_RAN
                      : mkdir(dir.text, 0777) == 0);
  for (int i = 0; i < e->n && ok; i++) {
    cli_text path = {0};
    cli_printf(&path, "%s/%s", dir.text, e->file[i].name);
    ok = !path.bad && write_file(path.text, e->file[i].text);
    cli_text_free(&path);
  }
  cli_text_free(&dir);
  cli_text_free(&last);
  cli_text_free(&said);
  if (ok) s->built++;
  return ok;
}

/* How many times as fast the build is as what runs now; 0: it could not be measured. */
static double gain_of(const cli_serve *s, int build) {
  tf_timing t[2];
  cli_figure now, next;
  folder_of(s->served, &now);
  folder_of(build, &next);
  if (!link_in(s, now.s, "0") || !link_in(s, next.s, "1")) return 0;
  const bool ran = cli_trials_beside(s->trials, s->dir.path, 2, TURNS, t) &&
                   t[0].verdict == TF_TUNE_RAN && t[1].verdict == TF_TUNE_RAN;
  return ran && t[1].seconds > 0 ? t[0].seconds / t[1].seconds : 0;
}

static bool serve(cli_serve *s, const tf_emitted *e) {
  if (!write_build(s, e)) return false;
  cli_figure name;
  const int build = s->built - 1;
  folder_of(build, &name);
  if (run_make(s, name.s, "TO=../to", "tried") != CLI_RAN) {
    s->refused++;
    return false;
  }
  const double gain = gain_of(s, build);
  if (gain <= 1 + steady || run_make(s, name.s, "TO=../to", "deliver") != CLI_RAN) return false;
  s->served = build;
  s->delivered++;
  if (!s->quiet)
    printf("served: %d, %.2f times as fast as what ran before\n", s->delivered, gain),
        fflush(stdout);
  return true;
}

bool cli_serve_offer(cli_serve *s, const tf_emitted *kernel) {
  if (is_served(s, kernel)) return false;
  cli_hold_interrupt(0);
  const bool given = serve(s, kernel);
  cli_release_interrupt();
  return given;
}

/* ---- networks ------------------------------------------------------------------------------- */
/* Exchanges the trees and choices of the groups that are like i. */
static void exchange(tf_net_plan *p, int i, tf_tree **tree, tf_choices *choices) {
  const tf_choices before = p->groups[i].choices;
  for (int k = 0; k < p->n; k++) {
    if (p->groups[k].like != i) continue;
    tf_tree *t = p->groups[k].tree;
    p->groups[k].tree = tree[k];
    p->groups[k].choices = *choices;
    tree[k] = t;
  }
  *choices = before;
}

/* The trial's mapping for each of the groups that are like i. */
static bool trees_of(const tf_spec *spec, const tf_net_plan *p, int i, const tf_trial *trial,
                     tf_tree **tree, tf_diags *d) {
  tf_spec of = *spec;
  of.workload = (tf_workload *)(uintptr_t)p->groups[i].group->workload;
  tree[i] = cli_measured_tree("(a trial)", trial->mapping, &of, d);
  bool ok = tree[i];
  for (int k = i + 1; k < p->n && ok; k++)
    if (p->groups[k].like == i) {
      tree[k] = tf_tree_copy(tree[i], spec->arch, p->groups[k].group->workload, d);
      ok = tree[k];
    }
  return ok;
}

bool cli_serve_group(cli_serve *s, const tf_spec *spec, tf_net_plan *p, int i,
                     const tf_trial *trial) {
  tf_diags *d = tf_diags_new();
  tf_tree **tree = calloc((size_t)p->n + 1, sizeof *tree);
  tf_choices choices = trial->choices;
  bool given = false;
  if (d && tree && trees_of(spec, p, i, trial, tree, d)) {
    const tf_emit_options o = {.isa = trial->isa,
                               .dtype = s->dtype,
                               .name = s->name,
                               .live = true,
                               .version = TILEFLOW_VERSION};
    exchange(p, i, tree, &choices);
    tf_emitted *e = tf_net_emit_cpu(p, spec->arch, spec->workload, &o, d);
    given = e && cli_serve_offer(s, e);
    if (!given) exchange(p, i, tree, &choices);
    tf_emitted_free(e);
  }
  if (d && tf_diags_errors(d)) cli_complain(d);
  for (int k = 0; tree && k < p->n; k++)
    tf_tree_free(tree[k]);
  free(tree);
  tf_diags_free(d);
  return given;
}
