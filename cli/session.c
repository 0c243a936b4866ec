#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static int complain(cli_session *s) {
  char *text = tf_diags_text(s->diags);
  fputs(text ? text : "tileflow: out of memory\n", stderr);
  free(text);
  return CLI_BAD_INPUT;
}

int cli_open(cli_session *s, const cli_options *o) {
  *s = (cli_session){.diags = tf_diags_new()};
  if (!s->diags)
    return CLI_FAILED;
  s->spec = tf_spec_read(o->files, o->n_files, o->set, o->n_set, s->diags);
  if (!s->spec)
    return complain(s);
  const tf_spec *p = s->spec;
  if (p->mapping_text && p->arch && p->workload) {
    s->tree = tf_tree_parse(p->mapping_text, p->mapping_at, p->arch, p->workload, s->diags);
    if (!s->tree)
      return complain(s);
  }
  return CLI_DONE;
}

static int lacks(const char *what, const char *hint) {
  fprintf(stderr, "tileflow: error[E_MISSING]: no file has a section '%s'%s\n", what, hint);
  return CLI_BAD_INPUT;
}

/* The first open trip count, as an error at its place. */
static int refuse_open(cli_session *s) {
  for (int i = 0; i < s->tree->n_nodes; i++)
    for (int k = 0; s->tree->nodes[i].kind == TF_TILE && k < s->tree->nodes[i].n_loops; k++)
      if (s->tree->nodes[i].loops[k].trip == 0)
        tf_fail(s->diags, s->tree->nodes[i].loops[k].at, TF_E_OPEN,
                "this trip count is open: eval needs a number");
  return complain(s);
}

int cli_evaluate(cli_session *s, const cli_options *o) {
  int status = cli_open(s, o);
  if (status != CLI_DONE)
    return status;
  if (!s->spec->arch)
    return lacks("architecture", "");
  if (!s->spec->workload)
    return lacks("workload", "");
  if (!s->tree)
    return lacks("mapping", ": eval needs one; this version has no solver.  A mapping reads like\n"
                            "  mapping: |\n    DRAM for m=8\n      L1 for k=64 spatial m=4@x\n"
                            "        op C");
  if (s->tree->open)
    return refuse_open(s);
  s->model = tf_model_new(s->tree, s->diags);
  if (!s->model)
    return complain(s);
  if (!tf_model_eval(s->model, NULL, &s->result)) {
    tf_fail(s->diags, s->tree->nodes[0].at, s->result.overflow ? TF_E_OVERFLOW : TF_E_COVER,
            s->result.overflow ? "a count of this mapping passes 2^63 - 1, or its exact walk is too long"
                               : "the trip counts do not reach the extents");
    return complain(s);
  }
  tf_bounds_of(s->spec->arch, s->spec->workload, &s->bounds);
  return CLI_DONE;
}

void cli_close(cli_session *s) {
  tf_model_free(s->model);
  tf_tree_free(s->tree);
  tf_spec_free(s->spec);
  tf_diags_free(s->diags);
}

void cli_printf(cli_text *t, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  int n = vsnprintf(NULL, 0, fmt, ap);
  va_end(ap);
  if (n < 0)
    return;
  if (t->len + (size_t)n + 1 > t->room) {
    size_t room = 2 * (t->len + (size_t)n + 256);
    char *more = realloc(t->text, room);
    if (!more)
      return;
    t->text = more;
    t->room = room;
  }
  va_start(ap, fmt);
  vsnprintf(t->text + t->len, t->room - t->len, fmt, ap);
  va_end(ap);
  t->len += (size_t)n;
}

const char *cli_count(char buf[16], double n) {
  static const char *const unit[] = {"", " k", " M", " G", " T", " P", " E"};
  int u = 0;
  for (; n >= 9999.5 && u < 6; u++)
    n /= 1000;
  snprintf(buf, 16, u ? "%.4g%s" : "%.5g%s", n, unit[u]);
  return buf;
}

bool cli_write(const char *path, const char *text) {
  if (!strcmp(path, "-"))
    return fputs(text, stdout) >= 0 && fflush(stdout) == 0;
  size_t n = strlen(path) + 32;
  char *temp = malloc(n);
  if (!temp)
    return false;
  snprintf(temp, n, "%s.tmp-%ld", path, (long)getpid());
  FILE *f = fopen(temp, "wx");
  bool ok = f && fputs(text, f) >= 0;
  if (f)
    ok &= fclose(f) == 0;
  ok = ok && rename(temp, path) == 0;
  if (!ok) {
    fprintf(stderr, "tileflow: error[E_IO]: cannot write '%s'\n", path);
    if (f)
      remove(temp);
  }
  free(temp);
  return ok;
}
