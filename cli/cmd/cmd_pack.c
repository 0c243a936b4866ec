/* tileflow pack: the weights of a model as a file that an emitted library reads. */
#define _POSIX_C_SOURCE 200809L /* ftello */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/os/safe_write.h"
#include "cli/report/report.h"
#include "cli/session/input.h"
#include "tileflow/import.h"

typedef struct {
  cli_input in;
  const char *out, *dtype;
} pack_options;
static const cli_slot slots[] = {
    CLI_AT_SAYS(pack_options, DTYPE, dtype,
                "type of the numbers: f32, or bf16 for a network emitted so; f32 if not given"),
    CLI_AT_SAYS(pack_options, OUT, out, "write there (-o, too); weights.bin if not given")};

static const tf_loc nowhere = {0};

static const tf_text *find_model(const cli_input *in, const tf_text *texts, tf_diags *d) {
  const tf_text *model = NULL;
  for (size_t i = 0; i < in->n_files; i++) {
    if (!texts[i].text || !tf_import_is_onnx(&texts[i]))
      tf_fail(d, (tf_loc){.file = tf_diags_add_file(d, in->files[i], "", 0)}, TF_E_USAGE,
              "no ONNX model: weights are in these alone");
    else if (model)
      tf_fail(d, nowhere, TF_E_USAGE, "'%.60s' and '%.60s': the weights of one model at a time",
              model->name, texts[i].name);
    else
      model = &texts[i];
  }
  return tf_diags_errors(d) ? NULL : model;
}

/* Packs into a file that has no name yet: the one asked for is written as a whole or not at all. */
static bool pack(const pack_options *o, FILE *f, tf_diags *d) {
  tf_text *texts;
  bool ok = cli_read_texts(&o->in, &texts, d);
  const tf_text *model = ok ? find_model(&o->in, texts, d) : NULL;
  ok = model && tf_import_onnx_weights(model, o->in.set, o->in.n_set, o->dtype, f, d);
  cli_free_texts(texts, o->in.n_files);
  return ok;
}

static cli_status run_pack(const void *options) {
  const pack_options *o = options;
  const char *path = o->out ? o->out : "weights.bin";
  tf_diags *d = cli_diags();
  if (!d) return CLI_FAILED;
  FILE *f = cli_scratch(path);
  if (!f) {
    cli_complain_of(path, TF_E_IO, "cannot write: %s", strerror(errno));
    tf_diags_free(d);
    return CLI_FAILED;
  }
  bool ok = pack(o, f, d);
  errno = 0;
  const bool written = fflush(f) == 0 && !ferror(f);
  if (!written && !tf_diags_errors(d)) /* the reason of an earlier write is not kept */
    cli_complain_of(path, TF_E_IO, "cannot write: %s", strerror(errno ? errno : ENOSPC));
  ok |= !written && !tf_diags_errors(d);
  const long long bytes = (long long)ftello(f);
  cli_status status = !written                 ? CLI_FAILED
                      : !ok                    ? CLI_BAD_INPUT
                      : cli_safe_copy(path, f) ? CLI_DONE
                                               : CLI_FAILED;
  if (!ok || (!o->in.quiet && tf_diags_count(d))) cli_complain(d); /* or prints warnings */
  if (status == CLI_DONE && !o->in.quiet && !o->in.stdout_taken)
    printf("%s: %lld bytes\n", path, bytes);
  fclose(f);
  tf_diags_free(d);
  return status;
}

const cli_command cmd_pack = {
    .name = "pack",
    .arguments = "MODEL.onnx",
    .summary = "write a model's weights as an emitted network reads them",
    .about = "Reads an ONNX model and writes a file (weights.bin, or -o FILE) of what it holds for "
             "the tensors of its workload: initializers and constants, whatever type and place "
             "they have, with external data, and scale and shift of each BatchNormalization, in "
             "float32 or, with --dtype bf16, rounded to bfloat16.  NAME_weights of an emitted "
             "network takes them from there (docs/HOWTO-plan.md).\n"
             "Exit status: 0, or 2 for bad input.\n",
    .example = "tests/data/onnx/mob-17.onnx -o /tmp/mob-weights.bin",
    .size = sizeof(pack_options),
    CLI_SLOTS(slots),
    .run = run_pack,
};
