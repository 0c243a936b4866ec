/* Reads the workload section: its keys and dims; then ops, tensors and what follows. */
#include <math.h>
#include <string.h>

#include "base/names.h"
#include "model/input/table/keys.h"
#include "model/input/table/sections.h"
#include "model/input/workload_read.h"

enum {
#define X(id, key, kinds, required, json, words) W_##id,
  TF_WORKLOAD_KEYS(X)
#undef X
      N_W
};
static const tf_yrow workload_rows[N_W] = {TF_WORKLOAD_KEYS(TF_KEY_ROW)};

enum {
#define X(id, key, kinds, required, json, words) R_##id,
  TF_ROUTING_KEYS(X)
#undef X
      N_R
};
static const tf_yrow routing_rows[N_R] = {TF_ROUTING_KEYS(TF_KEY_ROW)};

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

/* ---- routing ------------------------------------------------------------------------ */
static bool no_dim(tf_wl_reader *w, const tf_ynode *name) {
  tf_near near = tf_near_start(name->text, name->len);
  char hint[80];
  for (int d = 0; d < w->wl->n_dims; d++)
    tf_near_offer(&near, w->wl->dims[d].name);
  return tf_fail(w->base->diags, name->at, TF_E_NAME, "no dim '%.60s'%s", name->text,
                 tf_near_text(&near, hint, sizeof hint));
}

/* A part of the experts (those of one chip) has other odds: the others take what they do not. */
static bool all_experts(tf_wl_reader *w, const tf_ynode *name) {
  const tf_routing *r = &w->wl->routing;
  const int64_t steps = w->wl->dims[r->dim].extent;
  const double run =
      (double)r->experts * (1 - pow(1 - (double)r->top / (double)r->experts, (double)r->tokens));
  if (steps == r->experts || (steps <= r->experts && fabs((double)steps - run) < 1)) return true;
  return tf_fail(w->base->diags, name->at, TF_E_RANGE,
                 "'%.60s' has %lld steps, but of %lld experts %.4g are expected to run", name->text,
                 (long long)steps, (long long)r->experts, run);
}

/* dims: they have all been read. */
static bool read_routing(tf_wl_reader *w, const tf_ynode *node, bool dims) {
  const tf_ynode *v[N_R];
  tf_routing *to = &w->wl->routing;
  if (!tf_yschema_check(node, routing_rows, N_R, "'routing'", v, w->base->diags)) return false;
  bool ok = tf_read_int(w->base, v[R_TOKENS], "tokens", 1, TF_MOST_FIGURE, &to->tokens);
  ok = tf_read_int(w->base, v[R_TOP], "top", 1, TF_MOST_FIGURE, &to->top) && ok;
  ok = tf_read_int(w->base, v[R_EXPERTS], "experts", 1, TF_MOST_FIGURE, &to->experts) && ok;
  if (!dims) return false;
  to->dim = tf_find_dim(w->wl, v[R_DIM]->text, v[R_DIM]->len);
  if (to->dim < 0) return no_dim(w, v[R_DIM]);
  if (!ok) return false;
  if (to->top > to->experts)
    return tf_fail(w->base->diags, v[R_TOP]->at, TF_E_RANGE, "'top' is %lld, of %lld experts",
                   (long long)to->top, (long long)to->experts);
  return all_experts(w, v[R_DIM]);
}

/* The dim may have become others. */
static bool find_routed(tf_wl_reader *w, const tf_ynode *node) {
  const tf_ynode *name = tf_ymap_get(node, "dim");
  w->wl->routing.dim = tf_find_dim(w->wl, name->text, name->len);
  return w->wl->routing.dim >= 0 ||
         tf_fail(w->base->diags, name->at, TF_E_INDEX,
                 "'%.60s' is cut in parts by an index: experts are the steps of a whole dim",
                 name->text);
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
  if (v[W_ROUTING]) ok = read_routing(&w, v[W_ROUTING], dims) && ok;
  bool known = dims || w.wl->n_dims > 0; /* else every index would be an error of its own */
  if (v[W_OPS] && known) tf_read_ops(&w, v[W_OPS]);
  bool facts = ok && dims && v[W_OPS] && !w.failed;
  if (v[W_TENSORS] && !facts) tf_read_tensor_rows(&w, v[W_TENSORS]);
  if (facts && v[W_TENSORS]) tf_link_views(&w, v[W_TENSORS]);
  if (facts && !w.failed) tf_op_order(&w);
  if (facts && !w.failed) tf_part_dims(&w);
  if (facts && !w.failed) tf_tensor_facts(&w, v[W_TENSORS]);
  if (facts && !w.failed) w.failed = !tf_cut_ranks(&w.cutting);
  if (facts && !w.failed && v[W_ROUTING]) w.failed = !find_routed(&w, v[W_ROUTING]);
  return facts && !w.failed ? w.wl : NULL;
}
