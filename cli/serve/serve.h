/* tune --serve: faster kernels for programs that run one of emit --live. */
#ifndef CLI_SERVE_H
#define CLI_SERVE_H
#include "cli/os/temp_dir.h"
#include "cli/session/trials.h"
#include "tileflow/net.h"

typedef struct {
  const cli_trials *trials;
  cli_temp dir; /* `to`: a link to the folder of the program's kernel; b0, b1, ..: what was built; 0
                   and 1: links to those that are timed beside each other */
  char *folder; /* its path */
  char name[160];         /* of the kernel */
  const char *dtype;      /* of its data, as in tf_emit_options */
  int built, served;      /* builds; the one that runs now, -1: the folder's own */
  int delivered, refused; /* refused: by its trial */
  bool quiet;
} cli_serve;

/* Examines the folder of the program's kernel; of *s, dtype and quiet are given.  False after a
 * message on stderr. */
bool cli_serve_begin(cli_serve *s, const cli_trials *trials, const char *folder);
void cli_serve_end(cli_serve *s);
/* Builds the kernel (emitted to be live, with that name) beside the one that runs now, tries it as
 * the program will, and times both in turns: if it is faster by more than measurements differ,
 * programs get it. */
bool cli_serve_offer(cli_serve *s, const tf_emitted *kernel);
/* The same with the network in which group i, and those that are like it, have the trial's mapping.
 * The plan keeps it if it was given to programs. */
bool cli_serve_group(cli_serve *s, const tf_spec *spec, tf_net_plan *p, int i,
                     const tf_trial *trial);
#endif
