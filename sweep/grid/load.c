/* The files of a sweep, and the grid that they form. */
#include "sweep/grid/load.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/names.h"

enum { MOST_CASES = 1000000 };

static char *join_path(tf_arena *a, const char *folder, const char *path) {
  size_t n = path[0] == '/' || !strcmp(path, "-") ? 0 : strlen(folder), m = strlen(path);
  char *out = tf_arena_alloc(a, n + m + 1);
  if (!out) return NULL;
  memcpy(out, folder, n);
  memcpy(out + n, path, m + 1);
  return out;
}

/* ---- files ----------------------------------------------------------------------------------- */
static const tf_ynode *section(const tf_ynode *root, const char *key) {
  return root->kind == TF_Y_MAP ? tf_ymap_get(root, key) : NULL;
}

static void note_sections(sweep_input *in) {
  in->params = section(in->root, "params");
  if (in->params && in->params->kind != TF_Y_MAP)
    in->params = NULL; /* reported when a point is read */
  in->arch = section(in->root, "architecture");
  in->workload = section(in->root, "workload");
  in->mapping = section(in->root, "mapping");
  in->sweep = section(in->root, "sweep");
}

/* The title of a section; NULL: it has none. */
static const char *title(const sweep_input *in, const char *key) {
  const tf_ynode *s = section(in->root, key),
                 *name = s && s->kind == TF_Y_MAP ? tf_ymap_get(s, "name") : NULL;
  return name && name->kind == TF_Y_SCALAR && name->len ? name->text : NULL;
}

bool sweep_input_read(tf_sweep *s, const char *folder, const char *path, sweep_input *out,
                      tf_diags *d) {
  const char *full = join_path(s->arena, folder, path);
  if (!full) return tf_out_of_memory(d);
  tf_text t = tf_text_read(full, d);
  if (!t.text) return false;
  size_t mark = t.len >= 3 && !memcmp(t.text, "\xef\xbb\xbf", 3) ? 3 : 0;
  char *copy = tf_arena_alloc(s->arena, t.len + 1);
  if (copy) memcpy(copy, t.text + mark, t.len - mark);
  free((void *)(uintptr_t)t.text);
  if (!copy) return tf_out_of_memory(d);
  out->path = path;
  out->text = (tf_text){t.name, copy, t.len - mark};
  out->root = tf_yaml_read(s->arena, tf_diags_add_file(d, t.name, copy, out->text.len), copy,
                           out->text.len, d);
  if (out->root) note_sections(out);
  return out->root != NULL;
}

/* ---- files that the section names ----------------------------------------------------------- */
typedef struct {
  tf_sweep *s;
  const char *folder;
  const char *section; /* the section that each of them must have */
  sweep_inputs *out;
  tf_diags *d;
} list_reader;

static bool has_section(const sweep_input *in, const char *key) {
  return section(in->root, key) != NULL;
}

static bool read_listed(list_reader *l, const char *path, const sweep_pattern *from) {
  for (int i = 0; i < l->out->n; i++) {
    if (strcmp(l->out->input[i].path, path) != 0) continue;
    tf_fail(l->d, from->at, TF_E_DUP, "'%.120s' is listed twice", path);
    tf_note(l->d, l->out->input[i].at, "first listed here");
    return false;
  }
  const char *full = join_path(l->s->arena, l->folder, path);
  if (full && access(full, R_OK) != 0)
    return tf_fail(l->d, from->at, TF_E_IO, "cannot read '%.160s': %s", full, strerror(errno));
  sweep_input *in = &l->out->input[l->out->n];
  *in = (sweep_input){.at = from->at, .weight = from->weight};
  if (!sweep_input_read(l->s, l->folder, path, in, l->d)) return false;
  l->out->n++;
  return has_section(in, l->section) ||
         tf_fail(l->d, from->at, TF_E_MISSING, "'%.120s' has no section '%s'", path, l->section);
}

/* One file, or all files that match a glob, sorted by name. */
static bool read_pattern(list_reader *l, const sweep_pattern *p) {
  sweep_paths paths;
  if (!sweep_paths_of(l->s->arena, l->folder, p->text, &paths)) return tf_out_of_memory(l->d);
  if (paths.n == 0) return tf_fail(l->d, p->at, TF_E_IO, "no file is named like '%.120s'", p->text);
  sweep_input *room = TF_ARRAY(l->s->arena, sweep_input, (size_t)(l->out->n + paths.n));
  if (!room) return tf_out_of_memory(l->d);
  if (l->out->n) memcpy(room, l->out->input, (size_t)l->out->n * sizeof *room);
  l->out->input = room;
  bool ok = true;
  for (int i = 0; i < paths.n; i++)
    ok = read_listed(l, paths.path[i], p) && ok;
  return ok;
}

static bool read_list(list_reader l, const sweep_patterns *patterns) {
  bool ok = true;
  for (int i = 0; i < patterns->n; i++)
    ok = read_pattern(&l, &patterns->pattern[i]) && ok;
  return ok;
}

/* A section must be in files of the list or in one of the command line, not in both. */
static bool check_section(const tf_sweep *s, const char *key, const char *list,
                          const sweep_patterns *patterns, tf_diags *d) {
  const sweep_input *there = NULL;
  for (int i = 0; i < s->base.n; i++)
    if (has_section(&s->base.input[i], key)) there = &s->base.input[i];
  if (there && patterns->n) {
    tf_fail(d, patterns->key, TF_E_DUP, "'%s' are listed, and '%.80s' has a section '%s', too",
            list, there->path, key);
    return false;
  }
  if (there || patterns->n) return true;
  return tf_fail(d, s->section.at, TF_E_MISSING,
                 "no '%s' are listed, and no file has a section '%s'", list, key);
}

static bool check_mapping(const tf_sweep *s, tf_diags *d) {
  tf_sweep_method m = s->section.method;
  bool there = s->mappings.n > 0;
  for (int i = 0; i < s->base.n; i++)
    there |= s->base.input[i].mapping;
  if (m == TF_SWEEP_EVAL && !there)
    return tf_fail(d, s->section.method_at, TF_E_MISSING,
                   "eval needs 'mappings', or a file with a section 'mapping'");
  if (there && m != TF_SWEEP_EVAL && m != TF_SWEEP_SEARCH)
    return tf_fail(d, s->section.method_at, TF_E_KEY, "a mapping is given, which %s does not take",
                   tf_sweep_method_key((int)m));
  return true;
}

static bool load_lists(tf_sweep *s, const char *folder, tf_diags *d) {
  const sweep_section *c = &s->section;
  bool ok = read_list((list_reader){s, folder, "architecture", &s->archs, d}, &c->archs);
  ok = read_list((list_reader){s, folder, "workload", &s->workloads, d}, &c->workloads) && ok;
  ok = read_list((list_reader){s, folder, "mapping", &s->mappings, d}, &c->mappings) && ok;
  ok = check_section(s, "architecture", "architectures", &c->archs, d) && ok;
  ok = check_section(s, "workload", "workloads", &c->workloads, d) && ok;
  return check_mapping(s, d) && ok;
}

/* ---- the grid ------------------------------------------------------------------------------- */
/* Names files by their titles if these are distinct; otherwise by paths. */
static bool name_files(tf_sweep *s, const sweep_inputs *list, const char *key, int *n,
                       tf_sweep_file **out) {
  const sweep_inputs *from = list->n ? list : &s->base;
  *out = TF_ARRAY(s->arena, tf_sweep_file, (size_t)from->n + 1);
  if (!*out) return false;
  for (int i = 0; i < from->n; i++) {
    const sweep_input *in = &from->input[i];
    if (!has_section(in, key)) continue;
    const char *name = title(in, key);
    (*out)[(*n)++] = (tf_sweep_file){name      ? name
                                     : list->n ? in->path
                                               : key,
                                     in->path, list->n ? in->weight : 1};
  }
  for (int i = 0; i < *n; i++) {
    bool twice = false;
    for (int k = 0; k < *n; k++)
      twice |= k != i && title(&from->input[k], key) &&
               !strcmp(title(&from->input[k], key), (*out)[i].name);
    if (twice) (*out)[i].name = (*out)[i].file;
  }
  return true;
}

/* The first file of the list that, together with those of the command line, lacks the param; NULL:
 * none. */
static const sweep_input *lacks(const tf_sweep *s, const sweep_inputs *list, const char *name) {
  const sweep_input **files = TF_ARRAY(s->arena, const sweep_input *, (size_t)s->base.n + 1);
  if (!files) return NULL;
  for (int i = 0; i < s->base.n; i++)
    files[i] = &s->base.input[i];
  for (int k = 0; k < list->n; k++) {
    files[s->base.n] = &list->input[k];
    if (!sweep_has_param(files, s->base.n + 1, name)) return &list->input[k];
  }
  return list->n == 0 && !sweep_has_param(files, s->base.n, name) ? &s->base.input[0] : NULL;
}

static bool some_has(const sweep_inputs *list, const char *name) {
  for (int i = 0; i < list->n; i++)
    if (sweep_file_has(&list->input[i], name)) return true;
  return false;
}

/* Whether the param belongs to workloads: by its name, or because only files of workloads have it.
 */
static bool is_of_workload(const tf_sweep *s, const sweep_over *o) {
  bool in_base = false, with_arch = false;
  if (!strncmp(o->name, "workload.", 9)) return true;
  if (!strncmp(o->name, "arch.", 5) || some_has(&s->archs, o->name)) return false;
  for (int i = 0; i < s->base.n; i++) {
    if (!sweep_file_has(&s->base.input[i], o->name)) continue;
    in_base |= s->base.input[i].workload;
    with_arch |= s->base.input[i].arch;
  }
  return some_has(&s->workloads, o->name) || (in_base && !with_arch);
}

static void offer_params(const sweep_input *in, tf_near *near) {
  for (size_t k = 0; in->params && k < in->params->n; k++)
    if (in->params->pairs[k].key->kind == TF_Y_SCALAR)
      tf_near_offer(near, in->params->pairs[k].key->text);
}

static void fail_unknown(const tf_sweep *s, const sweep_over *o, const sweep_input *where,
                         tf_diags *d) {
  char hint[80];
  const char *dot = strchr(o->name, '.'), *name = dot ? dot + 1 : o->name;
  tf_near near = tf_near_start(name, strlen(name));
  offer_params(where, &near);
  for (int i = 0; i < s->base.n; i++)
    if (where != &s->base.input[i]) offer_params(&s->base.input[i], &near);
  tf_fail(d, o->at, TF_E_NAME, "'%.80s' has no param '%.60s'%s", where->path, o->name,
          tf_near_text(&near, hint, sizeof hint));
}

/* Finds out to which files a param belongs, and checks that each of them has it. */
static bool check_reach(const tf_sweep *s, const sweep_over *o, bool *of_workload, tf_diags *d) {
  *of_workload = is_of_workload(s, o);
  if (!strchr(o->name, '.') && some_has(&s->archs, o->name) && some_has(&s->workloads, o->name))
    return tf_fail(
        d, o->at, TF_E_DUP,
        "architectures and workloads have a param '%.60s': arch.%.60s or workload.%.60s?", o->name,
        o->name, o->name);
  const sweep_input *without = lacks(s, *of_workload ? &s->workloads : &s->archs, o->name);
  if (without) fail_unknown(s, o, without, d);
  for (size_t i = 0; i < s->n_set; i++)
    if (!strcmp(s->set[i].name, o->name))
      return tf_fail(d, o->at, TF_E_DUP, "param '%.60s' is swept, and set on the command line",
                     o->name);
  return !without;
}

static bool fill_axis(tf_sweep *s, int leader, bool of_workload, tf_sweep_axis *a) {
  const sweep_section *c = &s->section;
  *a = (tf_sweep_axis){.n = c->over[leader].n, .of_workload = of_workload};
  a->params = TF_ARRAY(s->arena, const char *, (size_t)c->n_over);
  for (int i = 0; a->params && i < c->n_over; i++) {
    if (c->over[i].zip != leader) continue;
    s->axis_of[i] = (int)(a - s->grid.axes);
    s->column_of[i] = a->n_params;
    a->params[a->n_params++] = c->over[i].name;
  }
  if (a->params) a->values = TF_ARRAY(s->arena, double, (size_t)a->n *(size_t)a->n_params);
  for (int i = 0; a->values && i < c->n_over; i++)
    for (int k = 0; c->over[i].zip == leader && k < a->n; k++)
      a->values[(size_t)k * (size_t)a->n_params + (size_t)s->column_of[i]] = c->over[i].values[k];
  return a->values != NULL;
}

static bool make_axes(tf_sweep *s, tf_diags *d) {
  const sweep_section *c = &s->section;
  size_t n = (size_t)c->n_over + 1;
  bool *reach = TF_ARRAY(s->arena, bool, n), ok = true;
  s->axis_of = TF_ARRAY(s->arena, int, n);
  s->column_of = TF_ARRAY(s->arena, int, n);
  s->grid.axes = TF_ARRAY(s->arena, tf_sweep_axis, n);
  if (!reach || !s->axis_of || !s->column_of || !s->grid.axes) return tf_out_of_memory(d);
  for (int i = 0; i < c->n_over; i++)
    ok = check_reach(s, &c->over[i], &reach[i], d) && ok;
  for (int i = 0; ok && i < c->n_over; i++)
    if (reach[i] != reach[c->over[i].zip])
      ok = tf_fail(d, c->over[i].at, TF_E_NAME, "'%s' is of %s, '%s' of %s: they cannot be zipped",
                   c->over[i].name, reach[i] ? "workloads" : "machines",
                   c->over[c->over[i].zip].name, reach[i] ? "machines" : "workloads");
  for (int i = 0; ok && i < c->n_over; i++)
    if (c->over[i].zip == i && !fill_axis(s, i, reach[i], &s->grid.axes[s->grid.n_axes++]))
      ok = tf_out_of_memory(d);
  return ok;
}

/* A condition must concern only machines or only cases; otherwise machines would be scored over
 * different workloads. */
static bool place_conditions(tf_sweep *s, tf_diags *d) {
  const sweep_section *c = &s->section;
  bool ok = true;
  s->of_machine = TF_ARRAY(s->arena, bool, (size_t)c->n_where + 1);
  if (!s->of_machine) return tf_out_of_memory(d);
  for (int w = 0; w < c->n_where; w++) {
    const char *machine = NULL, *workload = NULL;
    for (int i = 0; i < c->n_over; i++)
      if (sweep_expr_uses(c->where[w].expr, i))
        *(s->grid.axes[s->axis_of[i]].of_workload ? &workload : &machine) = c->over[i].name;
    s->of_machine[w] = !workload;
    if (machine && workload)
      ok = tf_fail(d, c->where[w].at, TF_E_NAME,
                   "'%s' is of machines, '%s' of workloads: machines that are compared need the "
                   "same workloads",
                   machine, workload);
  }
  return ok;
}

static bool count_points(tf_sweep *s, tf_diags *d) {
  tf_sweep_grid *g = &s->grid;
  double machines = g->n_archs,
         cases = (double)g->n_workloads * (g->n_mappings ? g->n_mappings : 1);
  for (int i = 0; i < g->n_axes; i++)
    *(g->axes[i].of_workload ? &cases : &machines) *= g->axes[i].n;
  if (machines * cases > SWEEP_MAX_POINTS)
    return tf_fail(d, s->section.at, TF_E_LIMIT, "%.3g points, at most %d", machines * cases,
                   SWEEP_MAX_POINTS);
  g->n_machines = (int64_t)machines;
  g->n_cases = (int64_t)cases;
  return true;
}

/* Called with the conditions placed and the points counted. */
static void count_passing(tf_sweep *s) {
  tf_sweep_grid *g = &s->grid;
  if (s->section.n_where == 0) g->n_passing = g->n_machines;
  for (int64_t i = 0; s->section.n_where && i < g->n_machines; i++)
    g->n_passing += sweep_machine_holds(s, i);
}

static bool list_works(tf_sweep *s, tf_diags *d) {
  tf_sweep_grid *g = &s->grid;
  if (g->n_cases > MOST_CASES)
    return tf_fail(d, s->section.at, TF_E_LIMIT,
                   "%lld workloads with their params and mappings, at most %d",
                   (long long)g->n_cases, MOST_CASES);
  g->jobs = TF_ARRAY(s->arena, int64_t, (size_t)g->n_cases);
  for (int64_t i = 0; g->jobs && i < g->n_cases; i++)
    if (sweep_case_holds(s, i)) g->jobs[g->n_jobs++] = i;
  return g->jobs || tf_out_of_memory(d);
}

static bool fill_grid(tf_sweep *s, tf_diags *d) {
  const sweep_section *c = &s->section;
  tf_sweep_grid *g = &s->grid;
  g->name = c->name;
  g->method = c->method;
  g->n_goals = c->n_goals;
  memcpy(g->goals, c->goals, sizeof g->goals);
  g->geometric = c->geometric;
  g->within = c->within;
  bool ok =
      name_files(s, &s->archs, "architecture", &g->n_archs, &g->archs) &&
      name_files(s, &s->workloads, "workload", &g->n_workloads, &g->workloads) &&
      (!s->mappings.n || name_files(s, &s->mappings, "mapping", &g->n_mappings, &g->mappings));
  ok = (ok || tf_out_of_memory(d)) && make_axes(s, d) && place_conditions(s, d) &&
       count_points(s, d);
  if (ok) count_passing(s);
  return ok && list_works(s, d);
}

static bool check_settings(const tf_sweep *s, tf_diags *d) {
  const sweep_inputs *all[] = {&s->base, &s->archs, &s->workloads, &s->mappings};
  size_t n = 0;
  for (int l = 0; l < 4; l++)
    n += (size_t)all[l]->n;
  const sweep_input **files = TF_ARRAY(s->arena, const sweep_input *, n + 1);
  if (!files) return tf_out_of_memory(d);
  int k = 0;
  for (int l = 0; l < 4; l++)
    for (int i = 0; i < all[l]->n; i++)
      files[k++] = &all[l]->input[i];
  bool ok = true;
  for (size_t i = 0; i < s->n_set; i++) {
    char hint[80];
    tf_near near = tf_near_start(s->set[i].name, strlen(s->set[i].name));
    if (sweep_has_param(files, k, s->set[i].name)) continue;
    for (int f = 0; f < k; f++)
      offer_params(files[f], &near);
    ok = tf_fail(d, (tf_loc){0}, TF_E_NAME, "no param '%.60s' to set%s", s->set[i].name,
                 tf_near_text(&near, hint, sizeof hint));
  }
  return ok;
}

bool sweep_load(tf_sweep *s, const char *folder, tf_diags *d) {
  return load_lists(s, folder, d) && check_settings(s, d) && fill_grid(s, d);
}
