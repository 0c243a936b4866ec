/* Timeloop's files: which sections there are, and in which order they must be read. */
#include "model/import/timeloop.h"

#include <stdlib.h>
#include <string.h>

bool tl_int(tl_case *c, const tf_ynode *node, const char *what, int64_t least, int64_t *out) {
  char *end;
  long long value = strtoll(node->text, &end, 10);
  if (end != node->text && !*end && value >= least && value <= INT64_C(1) << 40) {
    *out = value;
    return true;
  }
  return tf_fail(c->diags, node->at, TF_E_RANGE, "%s '%.40s' is no whole number from %lld to 2^40", what,
                 node->text, (long long)least);
}

enum { S_ARCH, S_PROBLEM, S_MAPPING, N_READ };
static const tf_yrow sections[] = {
    [S_ARCH] = {"architecture", 0, false},
    [S_PROBLEM] = {"problem", 0, false},
    [S_MAPPING] = {"mapping", 0, false},
    {"mapper", 0, false}, /* how Timeloop searches: noted, not read */
    {"architecture_constraints", 0, false},
    {"mapspace_constraints", 0, false},
};
enum { N_SECTIONS = sizeof sections / sizeof sections[0] };

/* Finds the sections of one text; one that stands in an earlier text, too, is an error. */
static bool find_sections(tl_case *c, const tf_text *t, const tf_ynode **found) {
  uint16_t file = tf_diags_add_file(c->diags, t->name, t->text, t->len);
  const tf_ynode *v[N_SECTIONS], *root = tf_yaml_read(c->arena, file, t->text, t->len, c->diags);
  if (!root || !tf_yschema_kind(root, TF_Y_MAP, "a file of Timeloop", c->diags) ||
      !tf_yschema_check(root, sections, N_SECTIONS, "a file of Timeloop", v, c->diags))
    return false;
  bool ok = true;
  for (int i = 0; i < N_SECTIONS; i++) {
    if (!v[i]) continue;
    if (found[i])
      ok = tf_fail(c->diags, v[i]->at, TF_E_DUP, "section '%s' given twice", sections[i].key);
    found[i] = v[i];
    if (i >= N_READ) tf_page_say(c->notes, "# not read: section %s\n", sections[i].key);
  }
  return ok;
}

static bool read_sections(tl_case *c, const tf_ynode **found) {
  bool ok = true;
  if (found[S_ARCH]) ok &= tl_read_architecture(c, found[S_ARCH]);
  if (found[S_PROBLEM]) ok &= tl_read_problem(c, found[S_PROBLEM]);
  if (!found[S_MAPPING] || !ok) return ok;
  if (!found[S_ARCH] || !found[S_PROBLEM])
    return tf_fail(c->diags, found[S_MAPPING]->at, TF_E_MISSING, "a mapping needs its architecture and problem");
  return tl_read_mapping(c, found[S_MAPPING]);
}

char *tf_import_timeloop(const tf_text *texts, size_t n, tf_diags *d) {
  tf_arena *a = tf_arena_new();
  tl_case *c = a ? TF_NEW(a, tl_case) : NULL;
  const tf_ynode *found[N_SECTIONS] = {NULL};
  tf_page notes = {0}, out = {0};
  bool ok = c != NULL;
  if (!c) tf_fail(d, (tf_loc){0}, TF_E_LIMIT, "out of memory");
  if (c) {
    c->arena = a;
    c->diags = d;
    c->notes = &notes;
  }
  for (size_t i = 0; i < n && c; i++)
    ok &= find_sections(c, &texts[i], found);
  if (ok && tf_diags_errors(d) == 0) ok = read_sections(c, found);
  ok = ok && tf_diags_errors(d) == 0; /* the YAML reader goes on after its own */
  if (ok) {
    tf_page_say(&out, "# Imported from Timeloop's format.\n%s", notes.text ? notes.text : "");
    tl_write(c, &out);
    if (out.bad || notes.bad) ok = tf_fail(d, (tf_loc){0}, TF_E_LIMIT, "out of memory");
  }
  free(notes.text);
  tf_arena_free(a);
  if (ok) return out.text;
  free(out.text);
  return NULL;
}
