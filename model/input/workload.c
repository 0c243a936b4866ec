/* Reads the workload section: its keys and dims; then ops, tensors and what follows. */
#include <string.h>

#include "base/names.h"
#include "model/input/table/sections.h"
#include "model/input/workload_read.h"

enum {
#define X(id, key, kinds, required, json, words) W_##id,
  TF_WORKLOAD_KEYS(X)
#undef X
      N_W
};
static const tf_yrow workload_rows[N_W] = {TF_WORKLOAD_KEYS(TF_KEY_ROW)};

/* A name means one thing in index expressions: a dim or a param.  `m: m` is clear: indices have the
 * dim, and a value that has the name is refused where it stands (einsum.c). */
static bool check_no_param(tf_wl_reader *w, const tf_dim *dim, const tf_ynode *extent) {
  tf_loc at;
  if (extent->kind == TF_Y_SCALAR && !strcmp(extent->text, dim->name)) return true;
  if (!tf_param_find(w->base->params, w->base->file, dim->name, &at)) return true;
  tf_fail(w->base->diags, dim->at, TF_E_DUP,
          "'%.60s' is both a dim and a param: give one of them another name", dim->name);
  tf_note(w->base->diags, at, "the param is given here");
  return false;
}

static bool read_dim(tf_wl_reader *w, const tf_ypair *pair) {
  tf_workload *wl = w->wl;
  const char *name = tf_read_name(w->base, pair->key, "a dim", false);
  if (!name || tf_find_dim(wl, name, pair->key->len) >= 0) return false;
  tf_dim *dim = &wl->dims[wl->n_dims++];
  *dim = (tf_dim){name, pair->key->at, 1};
  bool ok = tf_read_int(w->base, pair->value, name, 1, INT64_MAX, &dim->extent);
  return check_no_param(w, dim, pair->value) && ok;
}

bool tf_read_dims(tf_wl_reader *w, const tf_ynode *map) {
  if (map->n > TF_MAX_DIMS)
    return tf_fail(w->base->diags, map->at, TF_E_LIMIT, "%zu dims, at most %d", map->n,
                   TF_MAX_DIMS);
  w->wl->dims = TF_ARRAY(w->base->arena, tf_dim, map->n);
  if (!w->wl->dims) return tf_no_memory(w->base);
  bool ok = true;
  for (size_t i = 0; i < map->n; i++)
    ok = read_dim(w, &map->pairs[i]) && ok;
  return ok;
}

void tf_part_dims(tf_wl_reader *w) {
  w->cutting = (tf_cutting){.arena = w->base->arena,
                            .diags = w->base->diags,
                            .wl = w->wl,
                            .n_floors = w->n_floors,
                            .floors = w->floors,
                            .left = w->left};
  w->failed = !tf_cut_dims(&w->cutting);
}

tf_workload *tf_read_workload(tf_reader *base, const tf_ynode *section, const tf_arch *arch) {
  tf_wl_reader w = {.base = base, .arch = arch, .wl = TF_NEW(base->arena, tf_workload)};
  const tf_ynode *v[N_W];
  if (!w.wl) return tf_no_memory(base) ? w.wl : NULL;
  bool ok = tf_yschema_check(section, workload_rows, N_W, "the workload", v, base->diags);
  w.wl->name = "workload";
  w.wl->at = section->at;
  if (v[W_NAME]) {
    w.wl->name = tf_read_title(base, v[W_NAME]);
    w.wl->at = v[W_NAME]->at;
    ok = w.wl->name && ok;
  }
  bool dims = v[W_DIMS] && tf_read_dims(&w, v[W_DIMS]);
  bool known = dims || w.wl->n_dims > 0; /* else every index would be an error of its own */
  if (v[W_OPS] && known) tf_read_ops(&w, v[W_OPS]);
  bool facts = ok && dims && v[W_OPS] && !w.failed;
  if (v[W_TENSORS] && !facts) tf_read_tensor_rows(&w, v[W_TENSORS]);
  if (facts && v[W_TENSORS]) tf_link_views(&w, v[W_TENSORS]);
  if (facts && !w.failed) tf_op_order(&w);
  if (facts && !w.failed) tf_part_dims(&w);
  if (facts && !w.failed) tf_tensor_facts(&w, v[W_TENSORS]);
  if (facts && !w.failed) w.failed = !tf_cut_ranks(&w.cutting);
  return facts && !w.failed ? w.wl : NULL;
}
