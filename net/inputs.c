/* The files from which a plan was made: their names and hashes in the plan. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/locale.h"
#include "base/sha256.h"
#include "model/yaml/quote.h"
#include "model/yaml/schema.h"
#include "net/net.h"

enum { F_PATH, F_SHA, N_F };
static const tf_yrow file_rows[N_F] = {
    [F_PATH] = {"path", TF_Y_SCALAR, true}, [F_SHA] = {"sha256", TF_Y_SCALAR, true}};
enum { S_NAME, S_VALUE, N_S };
static const tf_yrow set_rows[N_S] = {
    [S_NAME] = {"name", TF_Y_SCALAR, true}, [S_VALUE] = {"value", TF_Y_SCALAR, true}};
enum { MOST = 1000, SHOWN = 12 };

struct tf_net_inputs {
  tf_arena *arena;
  size_t n, n_set;
  const char **path;
  const tf_ynode **path_node, **sha; /* [n] */
  tf_setting *set;
};

/* ---- written -------------------------------------------------------------------------------- */
char *tf_net_inputs_text(const tf_text *texts, size_t n, const tf_setting *set, size_t n_set) {
  TF_IN_C_LOCALE;
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (!out) return NULL;
  fputs("  files:\n", out);
  for (size_t i = 0; i < n; i++) {
    char sha[TF_SHA256_TEXT];
    if (tf_net_has_plan(&texts[i])) continue;
    tf_sha256_text(texts[i].text, texts[i].len, sha);
    fputs("  - {path: ", out), tf_yaml_quote(out, texts[i].name),
        fprintf(out, ", sha256: %s}\n", sha);
  }
  if (n_set) fputs("  set:\n", out);
  for (size_t i = 0; i < n_set; i++) {
    fputs("  - {name: ", out), tf_yaml_quote(out, set[i].name);
    fputs(", value: ", out), tf_yaml_quote(out, set[i].value), fputs("}\n", out);
  }
  if (fclose(out) == 0) return text;
  free(text);
  return NULL;
}

/* ---- read ----------------------------------------------------------------------------------- */
static const tf_ynode *list_of(const tf_ynode *plan, const char *key, tf_diags *d) {
  const tf_ynode *list = tf_ymap_get(plan, key);
  if (!list || !tf_yschema_kind(list, TF_Y_LIST, key, d)) return NULL;
  if (list->n <= MOST) return list;
  tf_fail(d, list->at, TF_E_LIMIT, "more than %d %s", MOST, key);
  return NULL;
}

static bool read_files(tf_net_inputs *in, const tf_ynode *list, tf_diags *d) {
  bool ok = true;
  const size_t room = list ? list->n : 0;
  in->path = TF_ARRAY(in->arena, const char *, room + 1);
  in->path_node = TF_ARRAY(in->arena, const tf_ynode *, room + 1);
  in->sha = TF_ARRAY(in->arena, const tf_ynode *, room + 1);
  if (!in->path || !in->path_node || !in->sha) return tf_out_of_memory(d);
  for (size_t i = 0; i < room; i++) {
    const tf_ynode *v[N_F];
    if (!tf_yschema_kind(list->items[i], TF_Y_MAP, "a file", d) ||
        !tf_yschema_check(list->items[i], file_rows, N_F, "a file", v, d)) {
      ok = false;
      continue;
    }
    in->path[in->n] = v[F_PATH]->text;
    in->path_node[in->n] = v[F_PATH];
    in->sha[in->n++] = v[F_SHA];
  }
  return ok;
}

static bool read_set(tf_net_inputs *in, const tf_ynode *list, tf_diags *d) {
  bool ok = true;
  in->set = TF_ARRAY(in->arena, tf_setting, (list ? list->n : 0) + 1);
  if (!in->set) return tf_out_of_memory(d);
  for (size_t i = 0; list && i < list->n; i++) {
    const tf_ynode *v[N_S];
    if (tf_yschema_kind(list->items[i], TF_Y_MAP, "a setting", d) &&
        tf_yschema_check(list->items[i], set_rows, N_S, "a setting", v, d))
      in->set[in->n_set++] = (tf_setting){v[S_NAME]->text, v[S_VALUE]->text};
    else
      ok = false;
  }
  return ok;
}

static bool read_inputs(tf_net_inputs *in, const tf_text *text, tf_diags *d) {
  const uint16_t file = tf_diags_add_file(d, text->name, text->text, text->len);
  const tf_ynode *root = tf_yaml_read(in->arena, file, text->text, text->len, d);
  const tf_ynode *plan = root && root->kind == TF_Y_MAP ? tf_ymap_get(root, "plan") : NULL;
  if (!plan || !tf_yschema_kind(plan, TF_Y_MAP, "plan", d)) return false;
  const bool files = read_files(in, list_of(plan, "files", d), d),
             set = read_set(in, list_of(plan, "set", d), d);
  if (files && set && !in->n && tf_diags_errors(d) == 0)
    tf_fail(d, plan->at, TF_E_MISSING,
            "the plan names no files: give its architecture and network beside it");
  return tf_diags_errors(d) == 0;
}

tf_net_inputs *tf_net_inputs_read(const tf_text *plan, tf_diags *d) {
  TF_IN_C_LOCALE;
  tf_arena *a = tf_arena_new();
  tf_net_inputs *in = a ? TF_NEW(a, tf_net_inputs) : NULL;
  if (in) in->arena = a;
  if (in && read_inputs(in, plan, d)) return in;
  if (!in)
    tf_out_of_memory(d);
  else if (tf_diags_errors(d) == 0)
    tf_fail(d, (tf_loc){0}, TF_E_MISSING, "no plan");
  tf_arena_free(a);
  return NULL;
}

void tf_net_inputs_free(tf_net_inputs *in) {
  if (in) tf_arena_free(in->arena);
}

const char *tf_net_inputs_path(const tf_net_inputs *in, size_t i) {
  return i < in->n ? in->path[i] : NULL;
}

const tf_setting *tf_net_inputs_set(const tf_net_inputs *in, size_t *n) {
  *n = in->n_set;
  return in->set;
}

bool tf_net_inputs_same(const tf_net_inputs *in, const tf_text *texts, tf_diags *d) {
  TF_IN_C_LOCALE;
  bool ok = true;
  for (size_t i = 0; i < in->n; i++) {
    char sha[TF_SHA256_TEXT];
    tf_sha256_text(texts[i].text, texts[i].len, sha);
    if (tf_ynode_is(in->sha[i], sha)) continue;
    ok = tf_fail(d, in->sha[i]->at, TF_E_NAME,
                 "'%.100s' has changed since this plan was made: its sha256 is %.*s.., not %.*s..",
                 in->path[i], SHOWN, sha, SHOWN, in->sha[i]->text);
    tf_note(d, in->path_node[i]->at,
            "give architecture and network beside the plan to use it with what they hold now");
  }
  return ok;
}
