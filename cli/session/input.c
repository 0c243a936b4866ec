/* Reads the files of a command once each, and converts foreign ones to native text. */
#define _POSIX_C_SOURCE 200809L /* mmap */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/session/input.h"

#include "tileflow/import.h"
#include "tileflow/net.h"

static const tf_loc nowhere = {0};

/* The first byte of every ONNX model, and of no other file; the largest size of a model. */
enum { BINARY = 8 };
static const size_t MOST_BINARY = (size_t)1 << 31;

/* The flags after n texts: which of them are mapped files. */
static bool *mapped(tf_text *texts, size_t n) { return (bool *)(texts + n + 1); }

/* Maps a model in a regular file: pages are loaded as they are read.  NULL: it is no model, or
 * cannot be mapped. */
static const char *map_model(const char *path, size_t *len) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* does not wait for a pipe */
  struct stat s;
  unsigned char first;
  const bool fits = fd >= 0 && fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_size > 0 &&
                    (uintmax_t)s.st_size <= MOST_BINARY && pread(fd, &first, 1, 0) == 1 &&
                    first == BINARY;
  void *at = fits ? mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
  if (fd >= 0) close(fd);
  if (at == MAP_FAILED) return NULL;
  *len = (size_t)s.st_size;
  return at;
}

/* Reads the file; true: a model, which is mapped and loaded on demand. */
static bool read_input(const char *path, tf_text *out, tf_diags *d) {
  *out = (tf_text){.name = path};
  out->text = strcmp(path, "-") != 0 ? map_model(path, &out->len) : NULL;
  if (out->text) return true;
  *out = tf_text_read(path, d);
  return false;
}

bool cli_read_texts(const cli_input *o, tf_text **texts, tf_diags *d) {
  size_t errors = tf_diags_errors(d);
  bool seen = false;
  *texts = calloc(o->n_files + 1, sizeof **texts + sizeof(bool));
  if (!*texts) return tf_out_of_memory(d);
  for (size_t i = 0; i < o->n_files; i++) {
    bool in = !strcmp(o->files[i], "-");
    if (in && seen)
      tf_fail(d, nowhere, TF_E_USAGE, "'-' given twice: stdin is read once");
    else
      mapped(*texts, o->n_files)[i] = read_input(o->files[i], &(*texts)[i], d);
    seen |= in;
  }
  return tf_diags_errors(d) == errors;
}

void cli_free_texts(tf_text *texts, size_t n) {
  for (size_t i = 0; texts && i < n; i++) {
    if (mapped(texts, n)[i])
      munmap((void *)(uintptr_t)texts[i].text, texts[i].len);
    else
      free((void *)(uintptr_t)texts[i].text);
  }
  free(texts);
}

/* Reports as warnings the comments at the top of converted text, in which Timeloop's importer lists
 * what it left out; TileFlow's importer warns itself. */
static void warn_of_notes(const char *text, tf_diags *d) {
  if (tf_diags_count(d)) return;
  for (const char *line = text; *line == '#'; line += strcspn(line, "\n") + 1)
    if (!strncmp(line, "# not ", 6))
      tf_warn(d, nowhere, "%.*s", (int)strcspn(line + 2, "\n"), line + 2);
}

/* Converts texts, all of them foreign; the first n_set settings belong to them. */
static bool import(const cli_input *o, const tf_text *texts, size_t n, const tf_setting *set,
                   size_t n_set, tf_text *out) {
  static const char name[] = "(imported)";
  tf_diags *d = tf_diags_new(); /* separate, so that warnings are printed once */
  char *text = d ? tf_import(texts, n, set, n_set, d) : NULL;
  if (text) warn_of_notes(text, d);
  if (d && tf_diags_count(d) && (!text || !o->quiet)) cli_complain(d);
  tf_diags_free(d);
  *out = (tf_text){name, text, text ? strlen(text) : 0};
  return text != NULL;
}

tf_spec *cli_read_spec(const cli_input *o, tf_diags *d) {
  tf_text *texts;
  cli_read_texts(o, &texts, d);
  tf_spec *spec = texts ? cli_spec_of(o, texts, d) : NULL;
  cli_free_texts(texts, o->n_files);
  return spec;
}

void cli_put_settings(cli_text *out, const cli_input *in) {
  for (size_t i = 0; i < in->n_set; i++) {
    cli_text set = {0};
    cli_printf(&set, "%s=%s", in->set[i].name, in->set[i].value);
    cli_printf(out, " --set");
    cli_put_word(out, cli_part(&set, out));
    cli_text_free(&set);
  }
}

const tf_text *cli_find_plan(const cli_input *o, const tf_text *texts) {
  for (size_t i = 0; texts && i < o->n_files; i++)
    if (tf_net_has_plan(&texts[i])) return &texts[i];
  return NULL;
}

/* Sorts the texts, foreign ones first; returns their number. */
static size_t sort(const cli_input *o, const tf_text *texts, tf_text *sorted) {
  size_t n_foreign = 0, n = 0;
  for (int pass = 0; pass < 2; pass++)
    for (size_t i = 0; i < o->n_files; i++) {
      const bool foreign = texts[i].text && tf_import_foreign(&texts[i]);
      if (foreign != (pass == 0)) continue;
      sorted[n++] = texts[i];
      n_foreign += foreign;
    }
  return n_foreign;
}

/* The number of settings that belong to the foreign files, which are put first: all if no file is
 * native, else those that name axes of an ONNX model. */
static size_t settings_of_foreign(const cli_input *o, const tf_text *sorted, size_t n_foreign,
                                  tf_setting *set) {
  if (n_foreign == 0 || n_foreign == o->n_files) return n_foreign ? o->n_set : 0;
  return n_foreign == 1 && o->n_set && tf_import_is_onnx(&sorted[0])
             ? tf_import_onnx_axes(&sorted[0], set, o->n_set)
             : 0;
}

tf_spec *cli_spec_of(const cli_input *o, const tf_text *texts, tf_diags *d) {
  tf_text *sorted = calloc(o->n_files + 1, sizeof *sorted), native = {0};
  tf_setting *set = calloc(o->n_set + 1, sizeof *set);
  tf_spec *spec = NULL;
  bool imported = true;
  if (!sorted || !set) {
    tf_out_of_memory(d);
  } else {
    if (o->n_set) memcpy(set, o->set, o->n_set * sizeof *set);
    const size_t n_foreign = sort(o, texts, sorted),
                 taken = settings_of_foreign(o, sorted, n_foreign, set);
    imported = n_foreign == 0 || import(o, sorted, n_foreign, set, taken, &native);
    const size_t from = n_foreign ? n_foreign - 1 : 0;
    if (n_foreign) sorted[from] = native;
    spec = tf_spec_read_texts(sorted + from, o->n_files - from, set + taken, o->n_set - taken, d);
  }
  free((void *)(uintptr_t)native.text);
  free(sorted);
  free(set);
  if (imported && tf_diags_errors(d) == 0) return spec;
  tf_spec_free(spec);
  return NULL;
}
