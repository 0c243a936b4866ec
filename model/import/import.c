/* Recognises the tool that files belong to. */
#include "model/import/tileflow/tileflow.h"

static bool has(const tf_ynode *map, const char *key) { return map && map->kind == TF_Y_MAP && tf_ymap_get(map, key); }

/* What only TileFlow's files have: ops with inputs and outputs, a mapping that is a tree, sections of its own. */
static bool is_tileflow(const tf_ynode *root) {
  static const char *const own[] = {"macro", "check", "tileflow-mapper", "verbose", "output"};
  if (!root || root->kind != TF_Y_MAP) return false;
  for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
    if (has(root, own[i])) return true;
  const tf_ynode *problem = tf_ymap_get(root, "problem"), *mapping = tf_ymap_get(root, "mapping");
  return has(problem, "io") || has(problem, "ops") || has(mapping, "node-type") || has(mapping, "subtree");
}

/* What no native file has: sections of the two tools, and an architecture or a mapping in their form. */
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

bool tf_import_foreign(const tf_text *text) {
  if (tf_import_is_onnx(text)) return true;
  tf_arena *a = tf_arena_new();
  tf_diags *d = tf_diags_new(); /* the reader reports errors again */
  bool foreign =
      a && d && (ti_is_nest(text->text, text->len) || is_foreign(tf_yaml_read(a, 0, text->text, text->len, d)));
  tf_diags_free(d);
  tf_arena_free(a);
  return foreign;
}

static bool any_tileflow(const tf_text *texts, size_t n) {
  bool found = false;
  for (size_t i = 0; i < n && !found; i++) {
    tf_arena *a = tf_arena_new();
    tf_diags *d = tf_diags_new(); /* the reader reports errors again */
    if (a && d)
      found =
          ti_is_nest(texts[i].text, texts[i].len) || is_tileflow(tf_yaml_read(a, 0, texts[i].text, texts[i].len, d));
    tf_diags_free(d);
    tf_arena_free(a);
  }
  return found;
}

char *tf_import(const tf_text *texts, size_t n, const tf_setting *set, size_t n_set, tf_diags *d) {
  for (size_t i = 0; i < n; i++) {
    if (!tf_import_is_onnx(&texts[i])) continue;
    if (n == 1) return tf_import_onnx(texts, set, n_set, d);
    tf_fail(d, (tf_loc){tf_diags_add_file(d, texts[i].name, "", 0), 0, 0, 0}, TF_E_USAGE,
            "an ONNX model is a whole workload: other foreign files beside it have no place");
    return NULL;
  }
  if (any_tileflow(texts, n)) return tf_import_tileflow(texts, n, set, n_set, d);
  if (n_set) {
    tf_fail(d, (tf_loc){0, 0, 0, 0}, TF_E_USAGE, "--set gives macros of TileFlow's files: these have none");
    return NULL;
  }
  return tf_import_timeloop(texts, n, d);
}
