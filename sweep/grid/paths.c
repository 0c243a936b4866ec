/* Globs relative to the folder of the sweep. */
#include <glob.h>
#include <string.h>

#include "sweep/grid/load.h"

static char *copy(tf_arena *a, const char *text) { return tf_arena_strndup(a, text, strlen(text)); }

static bool keep_paths(tf_arena *a, const glob_t *found, size_t skip, sweep_paths *out) {
  out->path = TF_ARRAY(a, const char *, found->gl_pathc + 1);
  for (size_t i = 0; out->path && i < found->gl_pathc; i++)
    if (!(out->path[out->n++] = copy(a, found->gl_pathv[i] + skip))) return false;
  return out->path != NULL;
}

bool sweep_paths_of(tf_arena *a, const char *folder, const char *text, sweep_paths *out) {
  *out = (sweep_paths){0};
  if (!strpbrk(text, "*?[")) {
    out->n = 1;
    out->path = TF_ARRAY(a, const char *, 1);
    return out->path && (out->path[0] = copy(a, text));
  }
  size_t n = text[0] == '/' ? 0 : strlen(folder), m = strlen(text), k = 0;
  char *pattern =
      tf_arena_alloc(a, 2 * n + m + 1); /* * ? [ \ in the folder's own name are literal */
  if (!pattern) return false;
  for (size_t i = 0; i < n; i++) {
    if (strchr("*?[\\", folder[i])) pattern[k++] = '\\';
    pattern[k++] = folder[i];
  }
  memcpy(pattern + k, text, m + 1);
  glob_t found;
  int failed = glob(pattern, 0, NULL, &found);
  bool ok = failed ? failed != GLOB_NOSPACE : keep_paths(a, &found, n, out);
  globfree(&found);
  return ok;
}
