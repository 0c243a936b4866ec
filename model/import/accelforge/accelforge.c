/* AccelForge's files as native text: which sections they have, and in what order they are read. */
#include "model/import/accelforge/accelforge.h"

#include <stdlib.h>
#include <string.h>

#include "base/locale.h"
#include "model/import/accelforge/forge.h"

enum { S_WORKLOAD, S_ARCH, S_MAPPING, S_RENAMES, S_VARIABLES, N_S };
static const tf_yrow sections[N_S] = {[S_WORKLOAD] = {"workload", 0, false},
                                      [S_ARCH] = {"arch", 0, false},
                                      [S_MAPPING] = {"mapping", 0, false},
                                      [S_RENAMES] = {"renames", 0, false},
                                      [S_VARIABLES] = {"variables", TF_Y_MAP, false}};

/* Nodes of Timeloop's mappings have targets instead. */
static bool is_mapping(const tf_ynode *mapping) {
  const tf_ynode *nodes = fg_member(mapping, "nodes");
  bool any = false;
  for (size_t i = 0; nodes && nodes->kind == TF_Y_LIST && i < nodes->n; i++)
    any |= fg_member(nodes->items[i], "component") || fg_member(nodes->items[i], "rank_variable");
  return any;
}

bool tf_accelforge_root(const tf_ynode *root) {
  return fg_member(root, "arch") || fg_member(fg_member(root, "workload"), "einsums") ||
         is_mapping(fg_member(root, "mapping")) || fg_member(fg_member(root, "renames"), "einsums");
}

/* A template with a section, or nodes, of its own. */
bool tf_accelforge_text(const tf_text *t) {
  /* the first one only at the start of a line */
  static const char *const own[] = {"arch:", "einsums:", "rank_variable:", "einsum:"};
  bool any = false;
  if (!fg_is_template(t)) return false;
  for (size_t i = 0; i < sizeof own / sizeof own[0] && !any; i++)
    for (size_t k = 0, n = strlen(own[i]); k + n <= t->len && !any; k++)
      any = !memcmp(t->text + k, own[i], n) && (i || !k || t->text[k - 1] == '\n');
  return any;
}

/* Keeps the file's sections, each from one file alone. */
static bool read_file(forge *f, const tf_text *t, const tf_ynode **all) {
  uint16_t file = tf_diags_add_file(f->diags, t->name, t->text, t->len);
  size_t len = t->len;
  const char *text = fg_is_template(t) ? fg_render(f, t, file, &len) : t->text;
  const tf_ynode *v[N_S];
  bool ok = true;
  if (!text) return false;
  if (text != t->text) {
    const size_t n = strlen(t->name);
    char *name = TF_ARRAY(f->arena, char, n + sizeof " (rendered)");
    if (!name) return false;
    memcpy(name, t->name, n);
    memcpy(name + n, " (rendered)", sizeof " (rendered)");
    file = tf_diags_add_file(f->diags, name, text, len);
  }
  const tf_ynode *root = tf_yaml_read(f->arena, file, text, len, f->diags);
  if (!root || !tf_yschema_kind(root, TF_Y_MAP, "a file of AccelForge", f->diags) ||
      !tf_yschema_check(root, sections, N_S, "a file of AccelForge", v, f->diags))
    return false;
  for (int i = 0; i < N_S; i++) {
    if (v[i] && all[i])
      ok = tf_fail(f->diags, v[i]->at, TF_E_DUP, "section '%s' given twice", sections[i].key);
    if (v[i]) all[i] = v[i];
  }
  return ok;
}

/* A setting that nothing takes is a slip. */
static bool check_settings(forge *f) {
  for (size_t i = 0; i < f->n_set; i++)
    if (i >= 64 || !(f->set_used >> i & 1))
      return tf_fail(f->diags, (tf_loc){0, 0, 0, 0}, TF_E_NAME,
                     "--set %.60s: no template of these files has this name", f->set[i].name);
  return true;
}

static bool read_sections(forge *f, const tf_ynode *const *all) {
  if (all[S_RENAMES] && !all[S_WORKLOAD] && !all[S_ARCH] && !all[S_MAPPING])
    return tf_fail(f->diags, all[S_RENAMES]->at, TF_E_MISSING,
                   "'renames' alone say nothing: give the workload's file, too");
  f->renames = all[S_RENAMES];
  f->variables[1] = all[S_VARIABLES];
  f->has_workload = all[S_WORKLOAD] != NULL;
  return (!all[S_WORKLOAD] || fg_read_workload(f, all[S_WORKLOAD])) &&
         (!all[S_ARCH] || fg_read_arch(f, all[S_ARCH])) &&
         (!all[S_MAPPING] || fg_read_mapping(f, all[S_MAPPING]));
}

static bool write_sections(forge *f, tf_page *out) {
  tf_page_add(out, "# Imported from AccelForge's format.\n");
  const bool ok =
      (!f->has_arch || fg_write_arch(f, out)) && (!f->has_workload || fg_write_workload(f, out));
  if (ok && f->root) fg_write_mapping(f, out);
  return ok;
}

char *tf_import_accelforge(const tf_text *texts, size_t n, const tf_setting *set, size_t n_set,
                           tf_diags *d) {
  TF_IN_C_LOCALE;
  tf_arena *a = tf_arena_new();
  forge *f = a ? TF_NEW(a, forge) : NULL;
  const tf_ynode *all[N_S] = {NULL};
  tf_page out = {0};
  bool ok = f != NULL;
  if (f) {
    f->arena = a;
    f->diags = d;
    f->set = set;
    f->n_set = n_set;
  }
  for (size_t i = 0; i < n && ok; i++)
    ok = read_file(f, &texts[i], all);
  ok = ok && check_settings(f) && tf_diags_errors(d) == 0 && read_sections(f, all) &&
       write_sections(f, &out);
  if (f && (out.bad || f->ops.bad || tf_arena_failed(a))) ok = false;
  if (!ok && tf_diags_errors(d) == 0) tf_out_of_memory(d);
  if (f) free(f->ops.text);
  tf_arena_free(a);
  if (ok && tf_diags_errors(d) == 0) return out.text;
  free(out.text);
  return NULL;
}
