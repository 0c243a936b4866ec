/* TileFlow's files: which sections there are, and in which order they must be read. */
#include "model/import/tileflow/tileflow.h"

#include <stdlib.h>
#include <string.h>

#include "base/locale.h"

enum {
  S_ARCH,
  S_PROBLEM,
  S_MAPPING,
  S_MACRO,
  S_CHECK,
  S_MAPPER,
  S_VERBOSE,
  S_OUTPUT,
  S_ERT,
  S_ART,
  S_SPARSE,
  N_SECTIONS
};
static const tf_yrow sections[N_SECTIONS] = {
    [S_ARCH] = {"architecture", 0, false},
    [S_PROBLEM] = {"problem", 0, false},
    [S_MAPPING] = {"mapping", 0, false},
    [S_MACRO] = {"macro", TF_Y_MAP, false},
    [S_CHECK] = {"check", TF_Y_MAP, false},
    [S_MAPPER] = {"tileflow-mapper", TF_Y_MAP, false},
    [S_VERBOSE] = {"verbose", TF_Y_SCALAR, false},
    [S_OUTPUT] = {"output", TF_Y_SCALAR, false},
    [S_ERT] = {"ERT", 0, false},
    [S_ART] = {"ART", 0, false},
    [S_SPARSE] = {"sparse_optimizations", 0, false},
};

/* A text of nothing but blanks and comments. */
static bool is_empty(const char *text, size_t len) {
  for (size_t i = 0; i < len; i++) {
    if (text[i] == '#')
      while (i < len && text[i] != '\n')
        i++;
    else if (!strchr(" \t\r\n", text[i]) || !text[i])
      return false;
  }
  return true;
}

typedef struct {
  const tf_ynode *node[N_SECTIONS];
  const tf_text *nest; /* a mapping in loop-nest notation */
  uint16_t nest_file;
} found;

static void note_sections(ti_case *c, const tf_ynode *root, found *f) {
  const tf_ynode *v[N_SECTIONS];
  tf_yschema_check(root, sections, N_SECTIONS, "a file of TileFlow", v, c->diags);
  for (int i = 0; i < N_SECTIONS; i++) {
    if (!v[i]) continue;
    if (i == S_MACRO) {
      ti_read_macros(c, v[i]);
    } else if (f->node[i] && i != S_CHECK && i != S_VERBOSE) {
      tf_fail(c->diags, v[i]->at, TF_E_DUP, "section '%s' given twice", sections[i].key);
      tf_note(c->diags, f->node[i]->at, "first given here");
    }
    f->node[i] = v[i];
  }
}

/* False if the text is no YAML; other errors let the rest be read. */
static bool find_sections(ti_case *c, const tf_text *t, found *f) {
  uint16_t file = tf_diags_add_file(c->diags, t->name, t->text, t->len);
  if (is_empty(t->text, t->len)) {
    ti_warn(c, (tf_loc){file, 1, 1, 1}, "'%.80s' holds nothing", t->name);
    return true;
  }
  if (ti_is_nest(t->text, t->len)) {
    tf_loc at = {file, 1, 1, 1};
    if (f->nest) tf_fail(c->diags, at, TF_E_DUP, "a second mapping");
    f->nest = t;
    f->nest_file = file;
    return true;
  }
  const tf_ynode *root = tf_yaml_read(c->arena, file, t->text, t->len, c->diags);
  if (!root || !tf_yschema_kind(root, TF_Y_MAP, "a file of TileFlow", c->diags)) return false;
  note_sections(c, root, f);
  return true;
}

/* What its own run, and not the mapping, follows. */
static bool read_switches(ti_case *c, const found *f) {
  static const tf_yrow checks[] = {{"loopcount", TF_Y_SCALAR, false},
                                   {"mem", TF_Y_SCALAR, false},
                                   {"spatial", TF_Y_SCALAR, false}};
  static const tf_yrow mapper[] = {{"timeout", TF_Y_SCALAR, false},
                                   {"objective", TF_Y_SCALAR, false},
                                   {"alg", TF_Y_SCALAR, false},
                                   {"topk", TF_Y_SCALAR, false}};
  const tf_ynode *v[4];
  bool ok = true;
  c->exact_loops = true;
  if (f->node[S_CHECK]) {
    ok = tf_yschema_check(f->node[S_CHECK], checks, 3, "'check'", v, c->diags);
    if (v[0]) ok &= ti_read_bool(c, v[0], &c->exact_loops);
    for (int i = 1; i < 3; i++) {
      bool on = true;
      if (v[i]) ok &= ti_read_bool(c, v[i], &on);
      if (!on)
        ti_warn(c, v[i]->at, "not modelled: check %s: what does not fit is always told",
                checks[i].key);
    }
  }
  if (f->node[S_MAPPER]) {
    ok &= tf_yschema_check(f->node[S_MAPPER], mapper, 4, "'tileflow-mapper'", v, c->diags);
    for (int i = 0; i < 4; i++)
      if (v[i])
        ti_warn(c, v[i]->at,
                "not read: %s %.40s of tileflow-mapper: `tileflow search` has options of its own%s",
                mapper[i].key, v[i]->text,
                i == 0   ? " (--time-limit)"
                : i == 1 ? " (--objective)"
                         : "");
  }
  if (f->node[S_SPARSE])
    ti_warn(c, f->node[S_SPARSE]->at, "not modelled: sparse_optimizations: every element counts");
  for (int i = S_VERBOSE; i <= S_OUTPUT; i++)
    if (f->node[i])
      ti_warn(c, f->node[i]->at, "not read: '%s' is about what TileFlow prints", sections[i].key);
  return ok;
}

static bool read_sections(ti_case *c, const found *f) {
  bool ok = read_switches(c, f);
  c->has_arch = f->node[S_ARCH] != NULL;
  c->has_problem = f->node[S_PROBLEM] != NULL;
  if (f->node[S_ARCH]) ok &= tl_read_architecture(c->arch, f->node[S_ARCH]);
  for (int i = S_ERT; i <= S_ART; i++)
    if (f->node[i] && !c->has_arch)
      ok = tf_fail(c->diags, f->node[i]->at, TF_E_MISSING, "%s needs its architecture",
                   sections[i].key);
  if (ok && f->node[S_ERT]) ok &= tl_read_ert(c->arch, f->node[S_ERT], false);
  if (ok && f->node[S_ART]) ok &= tl_read_art(c->arch, f->node[S_ART], false);
  if (f->node[S_PROBLEM]) ok &= ti_read_problem(c, f->node[S_PROBLEM]);
  if ((!f->node[S_MAPPING] && !f->nest) || !ok) return ok;
  tf_loc at = f->nest ? (tf_loc){f->nest_file, 1, 1, 1} : f->node[S_MAPPING]->at;
  if (f->nest && f->node[S_MAPPING]) return tf_fail(c->diags, at, TF_E_DUP, "a second mapping");
  if (!c->has_arch || !c->has_problem)
    return tf_fail(c->diags, at, TF_E_MISSING, "a mapping needs its %s",
                   c->has_arch      ? "problem"
                   : c->has_problem ? "architecture"
                                    : "architecture and problem");
  ok = f->nest ? ti_read_nest(c, f->nest_file, f->nest->text, f->nest->len)
               : ti_read_mapping(c, f->node[S_MAPPING]);
  return ok && ti_complete(c);
}

/* Writes the native text, and holds it against the native rules: once more where a tensor cannot
 * stay where TileFlow leaves it. */
static bool write_checked(ti_case *c, ti_out *out) {
  bool again = true;
  for (int turn = 0; turn <= TI_MAX_TENSORS && again; turn++) {
    out->page.len = out->n_marks = 0;
    if (!ti_write(c, out)) return false;
    if (out->page.bad) return ti_no_memory(c);
    if (!ti_check_native(c, out, &again)) return false;
  }
  return true;
}

static bool read_all(ti_case *c, const tf_text *texts, size_t n, const tf_setting *set,
                     size_t n_set) {
  found f = {.nest = NULL};
  bool ok = ti_take_settings(c, set, n_set), whole = true;
  for (size_t i = 0; i < n; i++)
    whole &= find_sections(c, &texts[i], &f);
  ok = whole && read_sections(c, &f) && ok;
  return ok && ti_check_settings(c) &&
         tf_diags_errors(c->diags) == 0; /* the YAML reader goes on after its own errors */
}

static ti_case *new_case(tf_arena *a, tf_page *notes, tf_diags *d) {
  ti_case *c = TF_NEW(a, ti_case);
  if (!c) return NULL;
  c->arena = a;
  c->diags = d;
  c->notes = notes;
  c->arch = TF_NEW(a, tl_case);
  if (!c->arch) return NULL;
  *c->arch = (tl_case){.arena = a, .diags = d, .notes = notes, .any_op = true};
  return c;
}

/* The whole result; NULL after an error. */
static char *import_case(ti_case *c, const tf_text *texts, size_t n, const tf_setting *set,
                         size_t n_set) {
  tf_page all = {0};
  ti_out out = {.n_marks = 0};
  bool ok = read_all(c, texts, n, set, n_set) && write_checked(c, &out);
  if (ok) {
    tl_tell_folded(c->arch);
    tf_page_add(&all, "# Imported from TileFlow's format.\n%s%s",
                c->notes->text ? c->notes->text : "", out.page.text ? out.page.text : "");
    if (all.bad || c->notes->bad) ok = ti_no_memory(c);
  }
  free(out.page.text);
  if (ok) return all.text;
  free(all.text);
  return NULL;
}

char *tf_import_tileflow(const tf_text *texts, size_t n, const tf_setting *set, size_t n_set,
                         tf_diags *d) {
  TF_IN_C_LOCALE;
  tf_arena *a = tf_arena_new();
  tf_page notes = {0};
  ti_case *c = a ? new_case(a, &notes, d) : NULL;
  char *text = c ? import_case(c, texts, n, set, n_set) : NULL;
  if (!c) tf_out_of_memory(d);
  free(notes.text);
  tf_arena_free(a);
  return text;
}
