/* Reads a sweep: its section and files, and checks that they form a valid input together. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/locale.h"
#include "model/input/number.h"
#include "sweep/grid/grid.h"
#include "tileflow/tree.h"

static const tf_loc nowhere = {0};

/* ---- the files of the command line ---------------------------------------------------------- */
static bool read_base(tf_sweep *s, const char *const *paths, size_t n, tf_diags *d) {
  bool ok = true;
  s->base.input = TF_ARRAY(s->arena, sweep_input, n + 1);
  if (!s->base.input) return tf_out_of_memory(d);
  for (size_t i = 0; i < n; i++)
    if (sweep_input_read(s, "", paths[i], &s->base.input[s->base.n], d))
      s->base.n++;
    else
      ok = false;
  return ok;
}

/* The file with the section; NULL with an error. */
static const sweep_input *find_section(const tf_sweep *s, const tf_ynode **node, tf_diags *d) {
  const sweep_input *found = NULL;
  for (int i = 0; i < s->base.n; i++) {
    const sweep_input *in = &s->base.input[i];
    if (!in->sweep) continue;
    const tf_ynode *here = tf_ymap_get(in->root, "sweep");
    if (found) {
      tf_fail(d, here->at, TF_E_DUP, "section 'sweep' given twice");
      tf_note(d, (*node)->at, "first given here");
      return NULL;
    }
    found = in;
    *node = here;
  }
  if (!found) tf_fail(d, nowhere, TF_E_MISSING, "no file has a section 'sweep'");
  return found && tf_yschema_kind(*node, TF_Y_MAP, "sweep", d) ? found : NULL;
}

/* The first value of a swept param, as text: used if the section's own arithmetic refers to the
 * param. */
static const char *first_value(const tf_ynode *node) {
  const tf_ynode *one = node->kind == TF_Y_MAP                   ? tf_ymap_get(node, "from")
                        : node->kind == TF_Y_LIST && node->n > 0 ? node->items[0]
                                                                 : NULL;
  return one && one->kind == TF_Y_SCALAR ? one->text : NULL;
}

/* Settings for the params of the command line's files: the user's, and first values of swept
 * params. */
static size_t gather_settings(const tf_sweep *s, const tf_ynode *section, tf_setting *out) {
  const sweep_input *files[1];
  const tf_ynode *over = tf_ymap_get(section, "over");
  size_t n = 0;
  for (size_t i = 0; i < s->n_set; i++)
    for (int f = 0; f < s->base.n; f++) {
      files[0] = &s->base.input[f];
      if (strchr(s->set[i].name, '.') || !sweep_has_param(files, 1, s->set[i].name)) continue;
      out[n++] = s->set[i];
      break;
    }
  for (size_t k = 0; over && over->kind == TF_Y_MAP && k < over->n; k++)
    for (int f = 0; f < s->base.n; f++) {
      const char *name = over->pairs[k].key->text, *value = first_value(over->pairs[k].value);
      files[0] = &s->base.input[f];
      if (!value || strchr(name, '.') || !sweep_has_param(files, 1, name)) continue;
      out[n++] = (tf_setting){name, value};
      break;
    }
  return n;
}

static bool read_section(tf_sweep *s, const tf_ynode *node, tf_diags *d) {
  tf_reader r = {.arena = s->arena, .diags = d, .file = node->at.file};
  const tf_ynode *over = tf_ymap_get(node, "over");
  size_t n = (size_t)s->base.n + 1;
  tf_param_files files = {.map = TF_ARRAY(s->arena, const tf_ynode *, n),
                          .shared = TF_ARRAY(s->arena, bool, n)};
  tf_setting *set = TF_ARRAY(s->arena, tf_setting, s->n_set + (over ? over->n + 1 : 1));
  if (!files.map || !files.shared || !set) return tf_no_memory(&r);
  for (int i = 0; i < s->base.n; i++) {
    const sweep_input *b = &s->base.input[i];
    if (!b->params) continue;
    files.map[files.n] = b->params;
    files.shared[files.n++] = !b->arch && !b->workload && !b->mapping;
  }
  return tf_params_read(&r, &files, set, gather_settings(s, node, set)) &&
         sweep_section_read(&r, node, &s->section);
}

/* Files that contain only the sweep are not part of points. */
static void drop_section(tf_sweep *s) {
  int n = 0;
  for (int i = 0; i < s->base.n; i++) {
    const sweep_input *in = &s->base.input[i];
    if (in->params || in->arch || in->workload || in->mapping || !in->sweep)
      s->base.input[n++] = *in;
  }
  s->base.n = n;
}

/* ---- validity ------------------------------------------------------------------------------- */
/* The first machine of an architecture, or the first case of a workload, that meets the conditions;
 * -1: none. */
static int64_t first(const tf_sweep *s, bool machine, int of) {
  const tf_sweep_grid *g = &s->grid;
  int64_t all = machine ? g->n_machines : g->n_cases,
          part = all / (machine ? g->n_archs : g->n_workloads);
  for (int64_t i = part * of; i < part * (of + 1); i++)
    if (machine ? sweep_machine_holds(s, i) : sweep_case_holds(s, i)) return i;
  return -1;
}

static bool none_passes(const tf_sweep *s, const char *what, tf_diags *d) {
  const sweep_section *c = &s->section;
  return tf_fail(d, c->where[0].at, TF_E_RANGE, "no %s passes the conditions", what);
}

/* A given mapping must be legal on the only machine and workload. */
static bool check_tree(const tf_sweep *s, const tf_spec *p, tf_diags *d) {
  if (!p->mapping_text || s->grid.n_archs > 1 || s->grid.n_workloads > 1) return true;
  tf_tree *t = tf_tree_parse(p->mapping_text, p->mapping_at, p->arch, p->workload, d);
  bool ok = t != NULL;
  if (t && t->open && s->grid.method == TF_SWEEP_EVAL)
    ok = tf_fail(d, t->nodes[0].at, TF_E_OPEN,
                 "eval needs a mapping in which nothing is open; search completes it");
  tf_tree_free(t);
  return ok;
}

static bool check_point(const tf_sweep *s, int64_t point, tf_diags *d) {
  tf_spec *p = sweep_point_spec(s, point, d);
  bool ok = p && tf_no_views(p->workload, d) && check_tree(s, p, d);
  tf_spec_free(p);
  return ok;
}

/* Checks each file once, together with the first of the other lists, so that further errors concern
 * that file. */
static bool check_files(const tf_sweep *s, tf_diags *d) {
  const tf_sweep_grid *g = &s->grid;
  int64_t machine = -1, point = g->n_jobs ? g->jobs[0] : -1;
  for (int i = 0; i < g->n_archs && machine < 0; i++)
    machine = first(s, true, i);
  if (machine < 0) return none_passes(s, "machine", d);
  if (point < 0) return none_passes(s, "workload", d);
  bool ok = check_point(s, machine * g->n_cases + point, d);
  for (int i = 1; ok && i < g->n_archs; i++) {
    int64_t other = first(s, true, i);
    if (other >= 0 && other != machine) ok = check_point(s, other * g->n_cases + point, d);
  }
  for (int i = 1; ok && i < g->n_workloads; i++) {
    int64_t other = first(s, false, i);
    if (other >= 0 && other != point) ok = check_point(s, machine * g->n_cases + other, d);
  }
  for (int i = 1; ok && i < g->n_mappings; i++)
    ok = check_point(s, machine * g->n_cases + point + i, d);
  return ok;
}

/* The folder of a path, with its '/'; "" for the current one. */
static const char *folder_of(tf_arena *a, const char *path) {
  const char *last = strrchr(path, '/');
  return last ? tf_arena_strndup(a, path, (size_t)(last - path) + 1) : "";
}

static bool read_all(tf_sweep *s, const char *const *paths, size_t n, tf_diags *d) {
  const tf_ynode *node = NULL;
  if (!read_base(s, paths, n, d)) return false;
  const sweep_input *in = find_section(s, &node, d);
  if (!in || !read_section(s, node, d)) return false;
  const char *folder = folder_of(s->arena, in->text.name);
  drop_section(s);
  return folder && sweep_load(s, folder, d) && tf_diags_errors(d) == 0 && check_files(s, d) &&
         sweep_facts(s);
}

tf_sweep *tf_sweep_read(const char *const *paths, size_t n_paths, const tf_setting *set,
                        size_t n_set, tf_diags *d) {
  TF_IN_C_LOCALE;
  tf_arena *a = tf_arena_new();
  tf_sweep *s = a ? TF_NEW(a, tf_sweep) : NULL;
  size_t before = tf_diags_errors(d);
  if (s) {
    s->arena = a;
    s->set = set;
    s->n_set = n_set;
    if (read_all(s, paths, n_paths, d) && tf_diags_errors(d) == before) return s;
  }
  if (tf_diags_errors(d) == before) tf_out_of_memory(d);
  tf_arena_free(a);
  return NULL;
}

void tf_sweep_free(tf_sweep *s) {
  if (s) tf_arena_free(s->arena);
}

const tf_sweep_grid *tf_sweep_grid_of(const tf_sweep *s) { return &s->grid; }
