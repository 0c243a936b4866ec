/* Timeloop's files: which sections there are, and in which order they must be read. */
#include "model/import/timeloop/timeloop.h"

#include <stdlib.h>
#include <string.h>

#include "base/locale.h"

enum {
  S_ARCH,
  S_PROBLEM,
  S_MAPPING,
  S_VARIABLES,
  S_ARCH_CONSTRAINTS,
  S_MAP_CONSTRAINTS,
  S_ERT,
  S_ERT_SUMMARY,
  S_ART,
  S_ART_SUMMARY,
  S_SPARSE,
  N_READ, /* from here on: told, not read */
  S_DUMPED = N_READ + 5
};
static const tf_yrow sections[] = {
    [S_ARCH] = {"architecture", 0, false},
    [S_PROBLEM] = {"problem", 0, false},
    [S_MAPPING] = {"mapping", 0, false},
    [S_VARIABLES] = {"variables", TF_Y_MAP, false},
    [S_ARCH_CONSTRAINTS] = {"architecture_constraints", 0, false},
    [S_MAP_CONSTRAINTS] = {"mapspace_constraints", 0, false},
    [S_ERT] = {"ERT", 0, false},
    [S_ERT_SUMMARY] = {"ERT_summary", 0, false},
    [S_ART] = {"ART", 0, false},
    [S_ART_SUMMARY] = {"ART_summary", 0, false},
    [S_SPARSE] = {"sparse_optimizations", TF_Y_MAP, false},
    {"mapper", 0, false},
    {"mapspace", 0, false},
    {"components", 0, false},
    {"compound_components", 0, false},
    {"globals", 0, false},
    [S_DUMPED] = {"dumped_by_timeloop_front_end", 0, false},
};
enum { N_SECTIONS = sizeof sections / sizeof sections[0] };

/* Nothing is said: a list or map without an entry, or with none in its lists (`targets: []`). */
static bool is_hollow(const tf_ynode *node) {
  if (node->kind == TF_Y_SCALAR)
    return tf_ynode_empty(node) || tf_ynode_is(node, "null") || tf_ynode_is(node, "~");
  bool hollow = node->kind == TF_Y_MAP || node->n == 0;
  for (size_t i = 0; i < node->n && node->kind == TF_Y_MAP; i++)
    hollow &= tf_ynode_is(node->pairs[i].key, "version") || is_hollow(node->pairs[i].value);
  return hollow;
}

static void tell_section(tl_case *c, int i, const tf_ynode *node) {
  if (i != S_DUMPED) tl_fold(c, TL_NOTHING, node->at, "section %s", sections[i].key);
}

/* Finds the sections of one text; one that stands in an earlier text, too, is an error, unless one
 * says nothing: the front end's dumps hold `mapping: []` beside the mapper's own file. */
static bool find_sections(tl_case *c, const tf_text *t, const tf_ynode **found) {
  uint16_t file = tf_diags_add_file(c->diags, t->name, t->text, t->len);
  const tf_ynode *v[N_SECTIONS], *root = tf_yaml_read(c->arena, file, t->text, t->len, c->diags);
  if (!root || !tf_yschema_kind(root, TF_Y_MAP, "a file of Timeloop", c->diags)) return false;
  root = tl_merge(c, root);
  if (!root) return tf_out_of_memory(c->diags);
  if (!tf_yschema_check(root, sections, N_SECTIONS, "a file of Timeloop", v, c->diags))
    return false;
  bool ok = true;
  for (int i = 0; i < N_SECTIONS; i++) {
    if (!v[i]) continue;
    if (found[i] && is_hollow(v[i])) continue;
    if (found[i] && !is_hollow(found[i])) {
      ok = tf_fail(c->diags, v[i]->at, TF_E_DUP, "section '%s' given twice", sections[i].key);
      tf_note(c->diags, found[i]->at, "first given here");
    }
    found[i] = v[i];
    if (i >= N_READ && !is_hollow(v[i])) tell_section(c, i, v[i]);
  }
  return ok;
}

/* Tables need the components whose energies and areas they are. */
static bool read_tables(tl_case *c, const tf_ynode **found) {
  bool ok = true;
  for (int s = S_ERT; s <= S_ART_SUMMARY; s++)
    if (found[s] && !found[S_ARCH])
      return tf_fail(c->diags, found[s]->at, TF_E_MISSING, "%s needs its architecture",
                     sections[s].key);
  if (found[S_ERT])
    ok &= tl_read_ert(c, found[S_ERT], false);
  else if (found[S_ERT_SUMMARY])
    ok &= tl_read_ert(c, found[S_ERT_SUMMARY], true);
  if (found[S_ART])
    ok &= tl_read_art(c, found[S_ART], false);
  else if (found[S_ART_SUMMARY])
    ok &= tl_read_art(c, found[S_ART_SUMMARY], true);
  return ok;
}

/* The mapping, or what the constraints leave open of one. */
static bool read_mapping(tl_case *c, const tf_ynode **found) {
  const tf_ynode *map = found[S_MAPPING];
  bool given = map && !is_hollow(map), ok = true;
  for (int s = S_ARCH_CONSTRAINTS; s <= S_MAP_CONSTRAINTS; s++)
    if (found[s]) ok &= tl_add_constraints(c, found[s]);
  if (!ok) return false;
  if (given && c->n_constraints)
    tl_fold(c, TL_NOTHING, c->constraint[0].keys->at, "%d constraints, since a mapping is given",
            c->n_constraints);
  if (given && (!found[S_ARCH] || !found[S_PROBLEM]))
    return tf_fail(c->diags, map->at, TF_E_MISSING, "a mapping needs its architecture and problem");
  if (given) return tl_read_mapping(c, map);
  if (c->n_constraints && found[S_ARCH] && found[S_PROBLEM]) return tl_constrained_mapping(c);
  if (c->n_constraints)
    tl_lost(c, c->constraint[0].keys->at,
            "not read: %d constraints, which need architecture and problem", c->n_constraints);
  return true;
}

/* What zeros save is told by the names of data spaces, where the mapping keeps them. */
static bool read_sparse(tl_case *c, const tf_ynode *section) {
  if (section && is_hollow(section)) section = NULL;
  if (c->n_levels && c->has_problem) return tl_read_sparse(c, section);
  if (section)
    tl_lost(c, section->at, "not read: sparse_optimizations, which need architecture and problem");
  return true;
}

static bool read_sections(tl_case *c, const tf_ynode **found) {
  bool ok = true;
  if (found[S_VARIABLES]) ok &= tl_read_variables(c, found[S_VARIABLES]);
  if (found[S_ARCH]) ok &= tl_read_architecture(c, found[S_ARCH]);
  if (found[S_PROBLEM]) ok &= tl_read_problem(c, found[S_PROBLEM]);
  return ok && read_tables(c, found) && read_mapping(c, found) && read_sparse(c, found[S_SPARSE]);
}

char *tf_import_timeloop(const tf_text *texts, size_t n, tf_diags *d) {
  TF_IN_C_LOCALE;
  tf_arena *a = tf_arena_new();
  tl_case *c = a ? TF_NEW(a, tl_case) : NULL;
  const tf_ynode *found[N_SECTIONS] = {NULL};
  tf_page notes = {0}, out = {0};
  bool ok = c != NULL;
  if (!c) tf_out_of_memory(d);
  if (c) {
    c->arena = a;
    c->diags = d;
    c->notes = &notes;
  }
  for (size_t i = 0; i < n && c; i++)
    ok &= find_sections(c, &texts[i], found);
  if (ok && tf_diags_errors(d) == 0) ok = read_sections(c, found);
  ok = ok && tf_diags_errors(d) == 0; /* the YAML reader goes on after its own */
  if (c && tf_diags_errors(d) == 0 && tf_arena_failed(a)) ok = tf_out_of_memory(d);
  if (ok) {
    tl_tell_folded(c);
    tf_page_add(&out, "# Imported from Timeloop's format.\n%s", notes.text ? notes.text : "");
    tl_write(c, &out);
    if (out.bad || notes.bad) ok = tf_out_of_memory(d);
  }
  free(notes.text);
  tf_arena_free(a);
  if (ok) return out.text;
  free(out.text);
  return NULL;
}
