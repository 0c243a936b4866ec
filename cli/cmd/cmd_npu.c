/* tileflow npu: a program of the NPU, run by its simulator. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/npu/npu_report.h"
#include "cli/os/safe_write.h"

typedef struct {
  cli_input in;
  const char *json, *trace, *text, *data;
  bool timing;
} npu_options;
static const cli_slot slots[] = {CLI_AT(npu_options, JSON, json), CLI_AT(npu_options, TRACE, trace),
                                 CLI_AT(npu_options, TEXT, text), CLI_AT(npu_options, DATA, data),
                                 CLI_AT(npu_options, TIMING, timing)};
static const tf_loc nowhere = {0};

/* ---- tensors in files ----------------------------------------------------------------------- */
typedef struct {
  int n;
  double **data;
} tensors;

static void name_file(char *path, size_t size, const char *folder, const char *tensor) {
  snprintf(path, size, "%s/%s.f64", folder, tensor);
}

static bool read_tensor(const char *folder, const tf_npu_tensor *t, double *to, tf_diags *d) {
  char path[4096];
  name_file(path, sizeof path, folder, t->name);
  FILE *f = fopen(path, "rb");
  const size_t n = f ? fread(to, sizeof *to, (size_t)t->words, f) : 0;
  const bool more = f && fgetc(f) != EOF;
  if (f) fclose(f);
  if (n == (size_t)t->words && !more) return true;
  return tf_fail(d, nowhere, TF_E_IO, "'%.160s' does not hold the %lld doubles of '%.40s'", path,
                 (long long)t->words, t->name);
}

static bool read_tensors(const tf_npu *p, const char *folder, tensors *x, tf_diags *d) {
  tf_npu_tensor t;
  bool ok = true;
  while (folder && tf_npu_tensor_at(p, x->n, &t))
    x->n++;
  x->data = folder ? calloc((size_t)x->n + 1, sizeof *x->data) : NULL;
  for (int i = 0; x->data && i < x->n; i++) {
    tf_npu_tensor_at(p, i, &t);
    x->data[i] = calloc((size_t)t.words, sizeof **x->data);
    if (!x->data[i]) return tf_out_of_memory(d);
    if (t.in) ok = read_tensor(folder, &t, x->data[i], d) && ok;
  }
  return ok && (!folder || x->data || tf_out_of_memory(d));
}

static bool write_tensors(const tf_npu *p, const char *folder, const tensors *x) {
  tf_npu_tensor t;
  for (int i = 0; folder && tf_npu_tensor_at(p, i, &t); i++) {
    char path[4096];
    if (!t.out) continue;
    name_file(path, sizeof path, folder, t.name);
    FILE *f = fopen(path, "wb");
    const bool all =
        f && fwrite(x->data[i], sizeof **x->data, (size_t)t.words, f) == (size_t)t.words;
    if (f && fclose(f) == 0 && all) continue;
    cli_complain_of(path, TF_E_IO, "cannot write: %s", strerror(errno));
    return false;
  }
  return true;
}

static void free_tensors(tensors *x) {
  for (int i = 0; x->data && i < x->n; i++)
    free(x->data[i]);
  free(x->data);
}

/* ---- results -------------------------------------------------------------------------------- */
static bool write_as(const char *path, const tf_npu_result *r,
                     void (*print)(const tf_npu_result *r, cli_text *out)) {
  cli_text text = {0};
  if (!path) return true;
  print(r, &text);
  return cli_put_text(path, &text);
}

static bool put_program(const char *path, const tf_npu *p) {
  cli_text text = {0};
  char *said = path ? tf_npu_text(p) : NULL;
  if (said) cli_printf(&text, "%s", said);
  free(said);
  return !path || cli_put_text(path, &text);
}

static cli_status print(const tf_npu *p, const tf_npu_result *r, const npu_options *o) {
  const bool quiet = o->in.quiet || o->in.stdout_taken;
  const bool ok = write_as(o->json, r, npu_json) && write_as(o->trace, r, npu_trace) &&
                  put_program(o->text, p) && (quiet || write_as("-", r, npu_text));
  return ok ? CLI_DONE : CLI_FAILED;
}

static cli_status run_program(const tf_npu *p, const npu_options *o, tf_diags *d) {
  const tf_npu_options how = {.timing_only = o->timing, .spans = o->trace != NULL};
  tf_npu_result r = {0};
  tensors x = {0};
  cli_status status = CLI_BAD_INPUT;
  if (read_tensors(p, o->data, &x, d) && tf_npu_run(p, &how, x.data, &r, d))
    status = write_tensors(p, o->data, &x) ? print(p, &r, o) : CLI_FAILED;
  else
    cli_complain(d);
  tf_npu_result_free(&r);
  free_tensors(&x);
  return status;
}

/* Bytes of a program: a network's without loops is of a million lines. */
static const size_t MOST_BYTES = (size_t)1 << 28;

static cli_status run_npu(const void *options) {
  const npu_options *o = options;
  tf_diags *d = cli_diags();
  if (!d) return CLI_FAILED;
  tf_text text = tf_text_read_most(o->in.files[0], MOST_BYTES, d);
  tf_npu *p = text.text ? tf_npu_read(&text, d) : NULL;
  cli_status status = CLI_BAD_INPUT;
  if (p)
    status = run_program(p, o, d);
  else
    cli_complain(d);
  tf_npu_free(p);
  free((char *)text.text);
  tf_diags_free(d);
  return status;
}

static void check_npu(void *options, tf_diags *d) {
  const npu_options *o = options;
  if (o->in.n_files > 1) tf_fail(d, nowhere, TF_E_USAGE, "npu runs one program");
  if (o->in.n_set)
    tf_fail(d, nowhere, TF_E_USAGE, "a program has no params: --set means nothing to npu");
  if (o->timing && o->data)
    tf_fail(d, nowhere, TF_E_USAGE, "with --timing there are no values: --data means nothing");
}

const cli_command cmd_npu = {
    .name = "npu",
    .summary = "run a program of the NPU in its simulator",
    .arguments = "FILE.npu",
    .about = "Reads a program in the NPU's assembler (docs/NPU.md) and runs it by value and by "
             "cycle: what each queue did, and the words that passed each path.  Accesses that no "
             "flag orders, deadlocks, elements that nobody wrote, and places outside a memory are "
             "errors, with their place.\n"
             "Exit status: 0, or 2 for bad input.\n",
    .example = "examples/product.npu",
    .size = sizeof(npu_options),
    CLI_SLOTS(slots),
    .check = check_npu,
    .run = run_npu,
};
