/* The command line: what the commands share. */
#ifndef CLI_CLI_H
#define CLI_CLI_H
#include <stdio.h>

#include "tileflow/tileflow.h"

enum { CLI_DONE = 0, CLI_FAILED = 1, CLI_BAD_INPUT = 2, CLI_INFEASIBLE = 3 };

typedef struct {
  const char *const *files;
  size_t n_files;
  tf_setting *set;
  size_t n_set;
  const char *json, *csv, *svg, *dot; /* NULL: not asked for; "-": stdout */
  bool quiet;
} cli_options;

typedef struct {
  const char *name, *summary, *help; /* help: usage, options, an example that runs */
  int (*run)(const cli_options *o);
} cli_command;
extern const cli_command cli_commands[];
extern const int cli_n_commands;

int cmd_eval(const cli_options *o);
int cmd_check(const cli_options *o);
int cmd_tree(const cli_options *o);
int cmd_bound(const cli_options *o);

/* Everything one run reads and makes; cli_close frees it. */
typedef struct {
  tf_diags *diags;
  tf_spec *spec;
  tf_tree *tree;
  tf_model *model;
  tf_result result;
  tf_bounds bounds;
} cli_session;

/* Reads the files; with a mapping, the tree.  Returns CLI_DONE, or the exit status after the
 * diagnostics are printed to stderr. */
int cli_open(cli_session *s, const cli_options *o);
/* Needs architecture, workload and mapping, evaluates. */
int cli_evaluate(cli_session *s, const cli_options *o);
void cli_close(cli_session *s);

/* Writes to a temporary file beside `path` and renames it; "-": stdout.  False, with a message on
 * stderr, if that fails; an existing file is then left as it was. */
bool cli_write(const char *path, const char *text);

/* A text that grows; text is NULL once memory ran out. */
typedef struct {
  char *text;
  size_t len, room;
} cli_text;
void cli_printf(cli_text *t, const char *fmt, ...) TF_PRINTF(2, 3);

/* 12.3 k, 4.56 M, 789: at most 8 characters. */
const char *cli_count(char buf[16], double n);

void report_text(const cli_session *s, cli_text *out);
char *report_json(const cli_session *s);
void report_csv(const cli_session *s, cli_text *out);
void report_violations(const cli_session *s, const tf_result *r, FILE *out);
void violation_text(const cli_session *s, const tf_violation *v, char *buf, size_t size);
void draw_text(const cli_session *s, cli_text *out);
void draw_svg(const cli_session *s, cli_text *out);
void draw_dot(const cli_session *s, cli_text *out);
/* One line of a node as the mapping text writes it. */
void node_label(const cli_session *s, int node, cli_text *out);
#endif
