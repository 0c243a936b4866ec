/* The tools whose files are imported, and which of them a file belongs to. */
#include "model/import/accelforge/accelforge.h"
#include "model/import/tileflow/tileflow.h"

#include "base/locale.h"

static bool has(const tf_ynode *map, const char *key) {
  return map && map->kind == TF_Y_MAP && tf_ymap_get(map, key);
}

/* What only TileFlow's files have: ops with inputs and outputs, a mapping that is a tree, sections
 * of its own. */
static bool is_tileflow(const tf_ynode *root) {
  static const char *const own[] = {"macro", "check", "tileflow-mapper", "verbose", "output"};
  if (!root || root->kind != TF_Y_MAP) return false;
  for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
    if (has(root, own[i])) return true;
  const tf_ynode *problem = tf_ymap_get(root, "problem"), *mapping = tf_ymap_get(root, "mapping");
  return has(problem, "io") || has(problem, "ops") || has(mapping, "node-type") ||
         has(mapping, "subtree");
}

/* What no native file has: sections of the two tools, and an architecture or a mapping in their
 * form. */
static bool is_foreign(const tf_ynode *root) {
  static const char *const own[] = {"problem",
                                    "variables",
                                    "architecture_constraints",
                                    "mapspace_constraints",
                                    "ERT",
                                    "ERT_summary",
                                    "ART",
                                    "ART_summary",
                                    "mapper",
                                    "mapspace",
                                    "components",
                                    "compound_components",
                                    "globals",
                                    "sparse_optimizations"};
  if (is_tileflow(root)) return true;
  if (!root || root->kind != TF_Y_MAP) return false;
  for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
    if (has(root, own[i])) return true;
  const tf_ynode *arch = tf_ymap_get(root, "architecture"), *mapping = tf_ymap_get(root, "mapping");
  return has(arch, "subtree") || has(arch, "nodes") || has(arch, "version") ||
         (mapping && mapping->kind != TF_Y_SCALAR);
}

/* ---- the table of importers ------------------------------------------------------------------ */
static bool no_text(const tf_text *text) { return (void)text, false; }

static bool no_root(const tf_ynode *root) { return (void)root, false; }

static bool is_nest(const tf_text *text) { return ti_is_nest(text->text, text->len); }

static char *import_onnx(const tf_text *texts, size_t n, const tf_setting *set, size_t n_set,
                         tf_diags *d) {
  for (size_t i = 0; n > 1 && i < n; i++)
    if (tf_import_is_onnx(&texts[i])) {
      tf_fail(d, (tf_loc){tf_diags_add_file(d, texts[i].name, "", 0), 0, 0, 0}, TF_E_USAGE,
              "an ONNX model is a whole workload: other foreign files beside it have no place");
      return NULL;
    }
  return tf_import_onnx(texts, set, n_set, d);
}

/* Whether none is set, of files that cannot have any; else an error. */
static bool has_no_macros(size_t n_set, tf_diags *d) {
  return !n_set || tf_fail(d, (tf_loc){0, 0, 0, 0}, TF_E_USAGE,
                           "--set gives macros of TileFlow's files: these have none");
}

static char *import_timeloop(const tf_text *texts, size_t n, const tf_setting *set, size_t n_set,
                             tf_diags *d) {
  (void)set;
  return has_no_macros(n_set, d) ? tf_import_timeloop(texts, n, d) : NULL;
}

/* The first row that knows one of the files reads them all; the last reads what no row knows, and
 * says what is wrong. */
static const struct {
  bool (*is_text)(const tf_text *text);  /* known by its bytes */
  bool (*is_root)(const tf_ynode *root); /* known by its keys; root NULL: no YAML */
  char *(*read)(const tf_text *texts, size_t n, const tf_setting *set, size_t n_set, tf_diags *d);
} importers[] = {{tf_import_is_onnx, no_root, import_onnx},
                 {is_nest, is_tileflow, tf_import_tileflow},
                 {tf_accelforge_text, tf_accelforge_root, tf_import_accelforge},
                 {no_text, is_foreign, import_timeloop}};
enum { N_IMPORTERS = sizeof importers / sizeof importers[0] };

/* The row that knows the file; N_IMPORTERS: none, it is a native one. */
static int importer_of(const tf_text *text) {
  int k = 0;
  for (; k < N_IMPORTERS; k++)
    if (importers[k].is_text(text)) return k;
  tf_arena *a = tf_arena_new();
  tf_diags *d = tf_diags_new(); /* the reader reports errors again */
  const tf_ynode *root = a && d ? tf_yaml_read(a, 0, text->text, text->len, d) : NULL;
  for (k = 0; k < N_IMPORTERS && !importers[k].is_root(root); k++) {
  }
  tf_diags_free(d);
  tf_arena_free(a);
  return k;
}

bool tf_import_foreign(const tf_text *text) { return importer_of(text) < N_IMPORTERS; }

char *tf_import(const tf_text *texts, size_t n, const tf_setting *set, size_t n_set, tf_diags *d) {
  TF_IN_C_LOCALE;
  int first = N_IMPORTERS - 1;
  for (size_t i = 0; i < n; i++) {
    const int k = importer_of(&texts[i]);
    if (k < first) first = k;
  }
  return importers[first].read(texts, n, set, n_set, d);
}
