/* Collects located diagnostics.  Rendering is in diag_text.c. */
#include "base/diag_list.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/locale.h"
#include "base/names.h"
#include "base/utf8.h"

tf_diags *tf_diags_new(void) { return calloc(1, sizeof(tf_diags)); }

void tf_diags_free(tf_diags *d) {
  if (!d) return;
  for (size_t i = 0; i < d->n_files; i++) {
    free(d->files[i].name);
    free(d->files[i].text);
  }
  free(d->files);
  free(d->entries);
  free(d);
}

static char *copy_text(const char *s, size_t n) {
  char *copy = malloc(n + 1);
  if (!copy) return NULL;
  if (n) memcpy(copy, s, n);
  copy[n] = '\0';
  return copy;
}

/* A file's name as messages show it: control characters and bytes that are not UTF-8 as \xNN. */
static char *copy_name(const char *s) {
  size_t len = strlen(s), out = 0;
  char *copy = malloc(4 * len + 1);
  for (size_t i = 0; copy && i < len;) {
    uint32_t code;
    size_t n = tf_utf8_next(s + i, s + len, &code);
    bool show = n > 0 && tf_printable(code);
    n = n ? n : 1;
    if (show) memcpy(copy + out, s + i, n);
    for (size_t k = 0; !show && k < n; k++)
      snprintf(copy + out + 4 * k, 5, "\\x%02x", (unsigned)(unsigned char)s[i + k]);
    out += show ? n : 4 * n;
    i += n;
  }
  if (copy) copy[out] = '\0';
  return copy;
}

/* Reports that memory ran out, and returns "no file": without its text, places in it could not be
 * shown. */
static uint16_t without_memory(tf_diags *d) {
  tf_out_of_memory(d);
  return 0;
}

/* File numbers start at 1; 0, also returned when no more can be kept, is "no file". */
uint16_t tf_diags_add_file(tf_diags *d, const char *name, const char *text, size_t len) {
  if (d->n_files >= UINT16_MAX) return 0;
  if (!TF_GROW(d->files, d->n_files)) return without_memory(d);
  tf_source f = {copy_name(name), copy_text(text, len), len};
  if (!f.name || !f.text) {
    free(f.name);
    free(f.text);
    return without_memory(d);
  }
  d->files[d->n_files++] = f;
  return (uint16_t)d->n_files;
}

const char *tf_diags_file_name(const tf_diags *d, uint16_t file) {
  return file >= 1 && file <= d->n_files ? d->files[file - 1].name : "";
}

const char *tf_diags_file_text(const tf_diags *d, uint16_t file) {
  return file >= 1 && file <= d->n_files ? d->files[file - 1].text : NULL;
}

/* Makes a message one printable line: odd code points become '?', a cut one is dropped. */
static void tidy(char *msg, size_t size, bool cut) {
  size_t len = strlen(msg), out = 0;
  for (size_t i = 0; i < len;) {
    uint32_t code;
    size_t n = tf_utf8_next(msg + i, msg + len, &code);
    bool keep = n > 0 && tf_printable(code);
    if (!keep && cut && len - i < 4) break;
    if (keep)
      memmove(msg + out, msg + i, n);
    else
      msg[out] = '?';
    out += keep ? n : 1;
    i += n ? n : 1;
  }
  msg[out] = '\0';
  if (!cut) return;
  size_t dots = out < size - 4 ? out : size - 4;
  while (dots > 0 && ((unsigned char)msg[dots] & 0xc0) == 0x80)
    dots--;
  memcpy(msg + dots, "...", 4);
}

TF_PRINTF(6, 0)
static void append(tf_diags *d, tf_loc at, tf_code code, bool note, bool warning, const char *fmt,
                   va_list ap) {
  if (!TF_GROW(d->entries, d->n_entries)) return;
  tf_diag *e = &d->entries[d->n_entries++];
  *e = (tf_diag){code, note, warning, at, ""};
  int n = vsnprintf(e->msg, sizeof e->msg, fmt, ap);
  tidy(e->msg, sizeof e->msg, n >= (int)sizeof e->msg);
}

bool tf_fail(tf_diags *d, tf_loc at, tf_code code, const char *fmt, ...) {
  TF_IN_C_LOCALE;
  d->n_errors++;
  if (d->n_errors > TF_DIAGS_MAX) return false;
  va_list ap;
  va_start(ap, fmt);
  append(d, at, code, false, false, fmt, ap);
  va_end(ap);
  return false;
}

bool tf_out_of_memory_at(tf_diags *d, tf_loc at) {
  return tf_fail(d, at, TF_E_LIMIT, "out of memory");
}

bool tf_out_of_memory(tf_diags *d) { return tf_out_of_memory_at(d, (tf_loc){0}); }

void tf_note(tf_diags *d, tf_loc at, const char *fmt, ...) {
  TF_IN_C_LOCALE;
  if (d->n_entries == 0 || d->n_errors > TF_DIAGS_MAX) return;
  va_list ap;
  va_start(ap, fmt);
  append(d, at, d->entries[d->n_entries - 1].code, true, false, fmt, ap);
  va_end(ap);
}

void tf_warn(tf_diags *d, tf_loc at, const char *fmt, ...) {
  TF_IN_C_LOCALE;
  if (d->n_entries >= TF_DIAGS_MAX) return;
  va_list ap;
  va_start(ap, fmt);
  append(d, at, TF_N_CODES, false, true, fmt, ap);
  va_end(ap);
}

size_t tf_diags_errors(const tf_diags *d) { return d->n_errors; }
size_t tf_diags_count(const tf_diags *d) { return d->n_entries; }
const tf_diag *tf_diags_at(const tf_diags *d, size_t i) {
  return i < d->n_entries ? &d->entries[i] : NULL;
}

const char *tf_code_key(tf_code code) {
  static const char *const key[] = {TF_CODES(TF_NAME_ROW)};
  return (unsigned)code < TF_N_CODES ? key[code] : "E_?";
}
