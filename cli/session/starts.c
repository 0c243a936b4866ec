/* Reads starts of a search from users' files: native YAML, eval's JSON, or printed output. */
#include "cli/session/starts.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/text.h"
#include "tileflow/tree.h"

enum { MAX_BYTES = 16 << 20 };

bool cli_starts_add(cli_starts *s, tf_tree *tree) {
  if (!CLI_GROW(s->tree, s->n)) {
    tf_tree_free(tree);
    return false;
  }
  s->tree[s->n++] = tree;
  return true;
}

void cli_starts_free(cli_starts *s) {
  for (int i = 0; i < s->n; i++)
    tf_tree_free(s->tree[i]);
  free(s->tree);
  *s = (cli_starts){0};
}

static char *copy_of(const char *text) {
  size_t n = strlen(text) + 1;
  char *out = malloc(n);
  if (out) memcpy(out, text, n);
  return out;
}

/* ---- the contents of a file ------------------------------------------------------------------ */
/* The whole file, malloc'd and NUL-ended; NULL with an error in d. */
static char *load(const char *path, tf_diags *d) {
  FILE *f = fopen(path, "rb");
  char *text = f ? malloc(MAX_BYTES + 2) : NULL;
  size_t len = text ? fread(text, 1, MAX_BYTES + 1, f) : 0;
  bool bad = !text || ferror(f) || len > MAX_BYTES;
  if (bad) {
    tf_loc at = {tf_diags_add_file(d, path, "", 0), 0, 0, 0};
    tf_fail(d, at, TF_E_IO, "cannot read: %s",
            len > MAX_BYTES ? "larger than 16 MiB" : strerror(errno));
    free(text);
    text = NULL;
  }
  if (f) fclose(f);
  if (text) text[len] = '\0';
  return text;
}

/* mapping.text of eval's JSON; NULL: there is none. */
static char *from_json(const char *text) {
  json_t *root = json_loads(text, 0, NULL);
  const char *found = json_string_value(json_object_get(json_object_get(root, "mapping"), "text"));
  char *out = found ? copy_of(found) : NULL;
  json_decref(root);
  return out;
}

static const char *line_end(const char *p) { return p + strcspn(p, "\n"); }

/* The block after a line `mapping: |` in the output of search or solve, unindented; NULL: there is
 * none. */
static char *from_report(const char *text) {
  static const char head[] = "mapping: |\n";
  const char *p = strncmp(text, head, sizeof head - 1) ? strstr(text, "\nmapping: |\n") : text;
  if (!p) return NULL;
  p = strchr(p + 1, '|') + 2;
  size_t indent = strspn(p, " ");
  char *out = indent ? malloc(strlen(p) + 1) : NULL, *to = out;
  while (out && strspn(p, " ") >= indent && p[indent] && p[indent] != '\n') {
    const char *end = line_end(p);
    size_t n = (size_t)(end - p) - indent;
    memcpy(to, p + indent, n);
    to += n;
    *to++ = '\n';
    p = end + (*end == '\n');
  }
  if (out) *to = '\0';
  return out;
}

/* Whether the native reader accepts the file. */
static bool is_native(const char *path) {
  tf_diags *d = tf_diags_new();
  tf_spec *p = d ? tf_spec_read(&path, 1, NULL, 0, d) : NULL;
  bool ok = p && p->mapping_text;
  tf_spec_free(p);
  tf_diags_free(d);
  return ok;
}

/* ---- one file -------------------------------------------------------------------------------- */
/* Checks a mapping by the rules, with errors at their places in d, and adds it. */
static void add_mapping(cli_session *s, const char *text, tf_loc at) {
  size_t before = tf_diags_errors(s->diags);
  tf_tree *t = tf_tree_parse(text, at, s->spec->arch, s->spec->workload, s->diags);
  if (t && !cli_starts_add(&s->starts, t)) tf_out_of_memory(s->diags);
  if (!t && tf_diags_errors(s->diags) > before)
    tf_note(s->diags, (tf_loc){0},
            "a mapping that a search begins with must be one of this architecture and workload; it "
            "need not fit");
}

static void add_found(cli_session *s, const char *path, char *text) {
  tf_loc at = {tf_diags_add_file(s->diags, path, text, strlen(text)), 1, 1, 1};
  add_mapping(s, text, at);
  free(text);
}

static void add_native(cli_session *s, const char *path) {
  tf_spec *p = tf_spec_read(&path, 1, NULL, 0, s->diags);
  if (p && p->mapping_text) {
    add_mapping(s, p->mapping_text, p->mapping_at);
  } else if (p) {
    tf_loc at = {tf_diags_add_file(s->diags, path, "", 0), 0, 0, 0};
    tf_fail(s->diags, at, TF_E_MISSING, "holds no mapping for the search to begin with");
  }
  tf_spec_free(p);
}

static void read_one(cli_session *s, const char *path) {
  char *text = load(path, s->diags), *found = NULL;
  if (!text) return;
  if (text[strspn(text, " \r\n\t")] == '{') found = from_json(text);
  if (!found && !is_native(path)) found = from_report(text);
  if (found)
    add_found(s, path, found);
  else
    add_native(s, path);
  free(text);
}

cli_status cli_read_starts(cli_session *s, const cli_paths *files) {
  for (size_t i = 0; i < files->n; i++)
    read_one(s, files->items[i]);
  if (tf_diags_errors(s->diags) == 0) return CLI_DONE;
  cli_complain(s->diags);
  return CLI_BAD_INPUT;
}
