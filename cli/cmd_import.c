/* tileflow import: writes what others describe in the native form. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/host.h"
#include "cli/report.h"
#include "cli/safe_write.h"

static const tf_loc nowhere = {0};
enum { MAX_BYTES = 16 << 20 };

/* The whole file into *out, malloc'd; false with an error in d. */
static bool load(const char *path, tf_text *out, tf_diags *d) {
  FILE *f = fopen(path, "rb");
  char *text = f ? malloc(MAX_BYTES + 1) : NULL;
  size_t len = text ? fread(text, 1, MAX_BYTES + 1, f) : 0;
  bool bad = !f || !text || ferror(f) || len > MAX_BYTES;
  if (bad) {
    tf_loc at = {tf_diags_add_file(d, path, "", 0), 0, 0, 0};
    tf_fail(d, at, TF_E_IO, "cannot read: %s", len > MAX_BYTES ? "larger than 16 MiB" : strerror(errno));
  }
  if (f) fclose(f);
  if (bad) free(text);
  *out = (tf_text){path, bad ? NULL : text, len};
  return !bad;
}

static bool import_files(const cli_options *o, cli_text *text, tf_diags *d) {
  tf_text *files = calloc(o->n_files, sizeof *files);
  char *native = NULL;
  bool ok = files != NULL;
  for (size_t i = 0; files && i < o->n_files; i++)
    ok &= load(o->files[i], &files[i], d);
  if (ok) native = tf_import(files, o->n_files, o->set, o->n_set, d);
  if (native) cli_printf(text, "%s", native);
  for (size_t i = 0; files && i < o->n_files; i++)
    free((char *)(uintptr_t)files[i].text);
  free(files);
  free(native);
  return native != NULL;
}

cli_status cmd_import(const cli_options *o) {
  tf_diags *d = tf_diags_new();
  cli_text text = {0}, notes = {0};
  cli_status status = CLI_BAD_INPUT;
  bool ok = false;
  if (!d) return CLI_FAILED;
  if (o->host && o->n_files > 0)
    tf_fail(d, nowhere, TF_E_USAGE, "'%.60s' is not read: import --host takes no files", o->files[0]);
  else
    ok = o->host ? cli_host_architecture(o->root ? o->root : "", &text, &notes, d) : import_files(o, &text, d);
  if (ok) status = cli_safe_write(o->out ? o->out : "-", &text) ? CLI_DONE : CLI_FAILED;
  if (status == CLI_BAD_INPUT || (!o->quiet && tf_diags_count(d))) cli_complain(d); /* or warn */
  if (!o->quiet && notes.text) fputs(notes.text, stderr);
  cli_text_free(&text);
  cli_text_free(&notes);
  tf_diags_free(d);
  return status;
}
