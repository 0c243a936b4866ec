/* The section `plan` of a file: groups of ops in execution order, each with its mapping. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/locale.h"
#include "base/names.h"
#include "model/yaml/schema.h"
#include "net/net.h"
#include "tileflow/tree.h"

enum { P_NETWORK, P_ARCH, P_OBJECTIVE, P_TARGET, P_ISA, P_DTYPE, P_GROUPS, P_FILES, P_SET, N_P };
static const tf_yrow plan_rows[N_P] = {
    [P_NETWORK] = {"network", TF_Y_SCALAR, false},
    [P_ARCH] = {"architecture", TF_Y_SCALAR, false},
    [P_OBJECTIVE] = {"objective", TF_Y_SCALAR, false},
    [P_TARGET] = {"target", TF_Y_SCALAR, false},
    [P_ISA] = {"isa", TF_Y_SCALAR, false},
    [P_DTYPE] = {"dtype", TF_Y_SCALAR, false},
    [P_GROUPS] = {"groups", TF_Y_LIST, true},
    [P_FILES] = {"files", TF_Y_LIST, false}, /* inputs.c reads it */
    [P_SET] = {"set", TF_Y_LIST, false}};
enum { G_OPS, G_CHOOSE, G_MAPPING, N_G };
static const tf_yrow group_rows[N_G] = {[G_OPS] = {"ops", TF_Y_LIST, true},
                                        [G_CHOOSE] = {"choose", TF_Y_MAP, false},
                                        [G_MAPPING] = {"mapping", TF_Y_SCALAR, true}};
static const tf_yrow choice_rows[TF_N_CHOICES] = {
#define X(id, name, values, what) {name, TF_Y_SCALAR, false},
    TF_CHOICES(X)
#undef X
};

typedef struct {
  const tf_arch *arch;
  const tf_workload *wl;
  tf_diags *d;
  tf_arena *a;
  const tf_ynode **named;       /* [n_ops] where a group names the op; NULL: nowhere yet */
  const tf_ynode **named_again; /* [n_ops] where another one does */
  int *group_of;                /* [n_ops] 1 + its group, the last */
  bool lost;                    /* some group names unknown ops, or none */
  const int *last;              /* as in net_cutting */
  tf_net_plan *plan;
} reader;

static bool no_memory(const reader *r) { return tf_out_of_memory(r->d); }

/* ---- ops ------------------------------------------------------------------------------------ */
static int find_op(const reader *r, const tf_ynode *name) {
  tf_near near = tf_near_start(name->text, name->len);
  char hint[80];
  for (int o = 0; o < r->wl->n_ops; o++)
    if (tf_ynode_is(name, r->wl->ops[o].name)) return o;
  for (int o = 0; o < r->wl->n_ops; o++)
    tf_near_offer(&near, r->wl->ops[o].name);
  tf_fail(r->d, name->at, TF_E_NAME, "the network has no op '%.60s'%s", name->text,
          tf_near_text(&near, hint, sizeof hint));
  return -1;
}

static bool is_twice(const reader *r, int o, const tf_ynode *name) {
  tf_fail(r->d, name->at, TF_E_DUP, "op '%.60s' is in two groups", r->wl->ops[o].name);
  tf_note(r->d, r->named[o]->at, "first named here");
  return false;
}

/* The numbers of the ops that a group names; false after an error. */
static bool read_ops(reader *r, const tf_ynode *list, int group, int *ops) {
  bool ok = list->n > 0 || tf_fail(r->d, list->at, TF_E_MISSING, "a group without ops");
  r->lost = r->lost || !ok;
  if (list->n > NET_MAX_GROUP)
    ok = tf_fail(r->d, list->at, TF_E_LIMIT, "a group of more than %d ops", NET_MAX_GROUP);
  for (size_t i = 0; i < list->n; i++) {
    const tf_ynode *name = list->items[i];
    const int o = tf_yschema_kind(name, TF_Y_SCALAR, "an op", r->d) ? find_op(r, name) : -1;
    if (o < 0) {
      ok = false;
      r->lost = true;
    } else if (r->group_of[o] == group + 1) {
      ok = is_twice(r, o, name);
    } else {
      if (!r->named[o])
        r->named[o] = name;
      else if (!r->named_again[o])
        r->named_again[o] = name;
      r->group_of[o] = group + 1;
      if (i < NET_MAX_GROUP) ops[i] = o;
    }
  }
  return ok;
}

static bool has_op(const tf_group *g, int op) {
  for (int o = 0; o < g->workload->n_ops; o++)
    if (g->op[o] == op) return true;
  return false;
}

/* Whether the group makes the op's output for others: none of its own ops reads it. */
static bool stores(const tf_group *g, int op) {
  for (int o = 0; o < g->workload->n_ops; o++)
    if (g->op[o] == op) return !g->workload->tensors[g->workload->ops[o].out].n_consumers;
  return false;
}

/* The first group that stores what the op makes; -1: none does. */
static int stored_by(const reader *r, int op) {
  for (int i = 0; i < r->plan->n; i++)
    if (stores(r->plan->groups[i].group, op)) return i;
  return -1;
}

/* Whether some group reads the tensor without making it, by which op. */
static bool read_from_memory(const reader *r, const tf_tensor *z, int *op) {
  for (int k = 0; k < z->n_consumers; k++)
    for (int i = 0; i < r->plan->n; i++) {
      const tf_group *g = r->plan->groups[i].group;
      *op = z->consumers[k];
      if (has_op(g, *op) && !has_op(g, z->producer)) return true;
    }
  return false;
}

/* What the group makes and reads itself is stored by another group, if some have to read it. */
static bool kept_inside(const reader *r, const tf_group *g, const tf_tensor *z) {
  int by = -1;
  if (stored_by(r, z->producer) >= 0 || !read_from_memory(r, z, &by)) return true;
  tf_fail(r->d, g->workload->at, TF_E_OUTPUT,
          "'%.60s' is made in this group and read both inside and outside of it", z->name);
  tf_note(r->d, r->wl->ops[by].at, "read by op '%.60s' outside", r->wl->ops[by].name);
  return false;
}

/* Checks what is made in several groups: one at most stores it, where another reads it, the others
 * read it themselves; each group has what its ops are made of. */
static bool made_again(reader *r) {
  bool ok = true;
  int by;
  for (int i = 0; i < r->plan->n; i++) {
    const tf_group *g = r->plan->groups[i].group;
    for (int o = 0; o < g->workload->n_ops; o++) {
      const int op = g->op[o];
      const tf_tensor *z = &r->wl->tensors[r->wl->ops[op].out];
      if (!stores(g, op))
        ok = kept_inside(r, g, z) && ok;
      else if (r->named_again[op] && (stored_by(r, op) < i || !read_from_memory(r, z, &by)))
        ok = is_twice(r, op, r->named_again[op]), r->named_again[op] = NULL; /* told once */
    }
    for (int t = 0; t < g->workload->n_tensors; t++) {
      const int maker = r->wl->tensors[g->tensor[t]].producer;
      if (g->workload->tensors[t].producer < 0 && maker >= 0 && stored_by(r, maker) > i)
        ok = tf_fail(r->d, g->workload->at, TF_E_ORDER,
                     "this group reads '%.60s', which a later group makes",
                     r->wl->tensors[g->tensor[t]].name);
    }
  }
  return ok;
}

/* Checks that each read of an op is produced by its group or an earlier one; of what is computed in
 * several groups, see above. */
static bool in_order(const reader *r) {
  bool ok = true;
  for (int o = 0; o < r->wl->n_ops; o++) {
    const tf_op *op = &r->wl->ops[o];
    const tf_tensor *late = NULL;
    for (int k = 0; k < op->n_reads && !late; k++) {
      const tf_tensor *z = &r->wl->tensors[op->reads[k].tensor];
      if (z->producer >= 0 && !r->named_again[z->producer] && !r->named_again[o] &&
          r->group_of[z->producer] > r->group_of[o])
        late = z;
    }
    if (late)
      ok = tf_fail(r->d, r->named[o]->at, TF_E_ORDER,
                   "op '%.60s' reads '%.60s', which a later group makes", op->name, late->name);
  }
  return ok;
}

static bool all_named(const reader *r, tf_loc at) {
  int missing = 0, first = -1;
  for (int o = 0; o < r->wl->n_ops; o++) {
    if (r->group_of[o]) continue;
    if (!missing++) first = o;
  }
  if (!missing) return true;
  tf_fail(r->d, at, TF_E_MISSING,
          missing > 1 ? "no group has op '%.60s', nor %d more" : "no group has op '%.60s'",
          r->wl->ops[first].name, missing - 1);
  tf_note(r->d, r->wl->ops[first].at, "of the network");
  return false;
}

/* ---- groups --------------------------------------------------------------------------------- */
/* Whether mappings of two groups with equal keys differ only in names, and their kernels have the
 * same choices. */
static bool same_mapping(const tf_net_group *a, const tf_net_group *b) {
  if (memcmp(&a->choices, &b->choices, sizeof a->choices) != 0) return false;
  tf_tree renamed = *a->tree; /* the numbers of dims, tensors and ops are equal */
  renamed.workload = b->group->workload;
  char *x = tf_tree_text(&renamed), *y = tf_tree_text(b->tree);
  const bool same = x && y && !strcmp(x, y);
  free(x);
  free(y);
  return same;
}

/* The first group before g that differs from it only in names, including the mapping; g's own
 * number if there is none. */
static int find_like(const reader *r, int i) {
  const tf_net_group *g = &r->plan->groups[i];
  for (int k = 0; k < i; k++) {
    const tf_net_group *x = &r->plan->groups[k];
    if (!x->tree || x->like != k || x->group->key_size != g->group->key_size ||
        memcmp(x->group->key, g->group->key, x->group->key_size) != 0)
      continue;
    if (same_mapping(g, x)) return k;
  }
  return i;
}

/* Whether the group has one dim in place of two adjacent ones of the network. */
static bool has_joined_dims(const reader *r, const tf_group *g) {
  for (int o = 0; o < g->workload->n_ops; o++)
    if (g->workload->ops[o].n_dims < r->wl->ops[g->op[o]].n_dims) return true;
  return false;
}

static bool take_choice(const tf_ynode *value, const tf_choice_row *row, signed char *out,
                        tf_diags *d) {
  tf_near near = tf_near_start(value->text, value->len);
  char hint[80];
  for (int k = 0; row->value[k]; k++) {
    tf_near_offer(&near, row->value[k]);
    *out = (signed char)k;
    if (tf_ynode_is(value, row->value[k])) return true;
  }
  return tf_fail(d, value->at, TF_E_NAME, "no value of '%s' is '%.40s'%s", row->name, value->text,
                 tf_near_text(&near, hint, sizeof hint));
}

/* The choices for the generator of the group's kernel; node NULL: none. */
static bool take_choices(const reader *r, tf_net_group *g, const tf_ynode *node) {
  const tf_ynode *v[TF_N_CHOICES] = {NULL};
  bool ok = !node || tf_yschema_check(node, choice_rows, TF_N_CHOICES, "what is chosen", v, r->d);
  for (int c = 0; c < TF_N_CHOICES; c++)
    if (v[c]) ok = take_choice(v[c], tf_choice_at((tf_choice)c), &g->choices.at[c], r->d) && ok;
  return ok;
}

static bool take_mapping(const reader *r, tf_net_group *g, const tf_ynode *node) {
  if (node->style != TF_Y_LITERAL)
    return tf_fail(r->d, node->at, TF_E_TYPE, "'mapping' must be a literal block: mapping: |");
  g->tree = tf_tree_parse(node->text, node->text_at, r->arch, g->group->workload, r->d);
  if (!g->tree && has_joined_dims(r, g->group))
    tf_note(r->d, node->at,
            "dims that stand side by side are one in a group, as they were not in plans of earlier "
            "versions: make such a plan anew");
  if (!g->tree) return false;
  if (g->tree->open)
    return tf_fail(r->d, node->at, TF_E_OPEN, "the mapping of a group may leave nothing open");
  return net_evaluate(r->arch, g, NULL, node->at, r->d);
}

static bool read_group(reader *r, const tf_ynode *node, int i) {
  const tf_ynode *v[N_G];
  int ops[NET_MAX_GROUP];
  char name[300];
  if (!tf_yschema_kind(node, TF_Y_MAP, "a group", r->d)) return !(r->lost = true);
  const bool whole = tf_yschema_check(node, group_rows, N_G, "a group", v, r->d);
  r->lost = r->lost || !v[G_OPS];
  if (!v[G_OPS] || !read_ops(r, v[G_OPS], i, ops) || !whole) return false;
  tf_net_group *g = &r->plan->groups[i];
  snprintf(name, sizeof name, "%.250s.%d", r->wl->name, i + 1);
  g->group =
      net_group_cut(r->wl, ops, (int)v[G_OPS]->n,
                    &(net_cutting){.name = name,
                                   .loc = v[G_OPS]->at,
                                   .splits = net_splits(*r->plan->target ? r->plan->target : NULL),
                                   .last = r->last,
                                   .recompute = true},
                    r->d);
  const bool chosen = take_choices(r, g, v[G_CHOOSE]);
  if (!g->group || !take_mapping(r, g, v[G_MAPPING]) || !chosen) return false;
  g->like = i;
  g->like = find_like(r, i);
  return true;
}

static bool read_objective(const reader *r, const tf_ynode *node) {
  for (int k = 0; node && tf_objective_key(k); k++)
    if (tf_ynode_is(node, tf_objective_key(k)) && k != TF_EDP) {
      r->plan->objective = (tf_objective)k;
      return true;
    }
  return !node || tf_fail(r->d, node->at, TF_E_NAME,
                          "no objective '%.40s' of a plan: latency, energy or traffic", node->text);
}

/* A data type that networks of the target can have. */
static bool read_dtype(const reader *r, const tf_ynode *node) {
  static const char *const keys[] = {
#define X(key, in, out) key,
      TF_DTYPES(X)
#undef X
  };
  tf_near near = tf_near_start(node->text, node->len);
  char hint[80];
  bool known = false;
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    tf_diags *d = tf_diags_new();
    const bool has = d && tf_net_has_dtype(r->plan->target, keys[i], d);
    tf_diags_free(d);
    if (has) tf_near_offer(&near, keys[i]);
    known |= has && tf_ynode_is(node, keys[i]);
  }
  return known || tf_fail(r->d, node->at, TF_E_NAME, "networks for %s have no data of '%.40s'%s",
                          r->plan->target, node->text, tf_near_text(&near, hint, sizeof hint));
}

/* The target of the plan, which must support networks; its isa and data type. */
static bool read_target(const reader *r, const tf_ynode *const *v) {
  tf_near near =
      tf_near_start(v[P_TARGET] ? v[P_TARGET]->text : "", v[P_TARGET] ? v[P_TARGET]->len : 0);
  const char *name;
  char hint[80];
  tf_net_plan *p = r->plan;
  if (!v[P_TARGET]) return true;
  for (int i = 0; (name = tf_emit_target(i, NULL)); i++)
    if (tf_emit_able(name, TF_EMIT_NETWORKS)) {
      tf_near_offer(&near, name);
      if (tf_ynode_is(v[P_TARGET], name)) snprintf(p->target, sizeof p->target, "%s", name);
    }
  if (!*p->target)
    return tf_fail(r->d, v[P_TARGET]->at, TF_E_NAME, "no target '%.40s' of networks%s",
                   v[P_TARGET]->text, tf_near_text(&near, hint, sizeof hint));
  if (v[P_ISA] && !tf_emit_owns_isa(p->target, v[P_ISA]->text))
    return tf_fail(r->d, v[P_ISA]->at, TF_E_NAME, "target %s has no isa '%.40s'; known: %s",
                   p->target, v[P_ISA]->text,
                   tf_emit_isas(p->target) ? tf_emit_isas(p->target) : "none");
  if (v[P_ISA]) snprintf(p->isa, sizeof p->isa, "%s", v[P_ISA]->text);
  if (!v[P_DTYPE]) return true;
  snprintf(p->dtype, sizeof p->dtype, "%s", v[P_DTYPE]->text);
  return read_dtype(r, v[P_DTYPE]);
}

static bool read_plan(reader *r, const tf_ynode *node) {
  const tf_ynode *v[N_P];
  bool ok = tf_yschema_check(node, plan_rows, N_P, "a plan", v, r->d);
  ok = read_objective(r, v[P_OBJECTIVE]) && ok;
  ok = read_target(r, v) && ok;
  if (!v[P_GROUPS]) return false;
  const size_t n = v[P_GROUPS]->n;
  r->named = TF_ARRAY(r->a, const tf_ynode *, (size_t)r->wl->n_ops);
  r->named_again = TF_ARRAY(r->a, const tf_ynode *, (size_t)r->wl->n_ops);
  r->group_of = TF_ARRAY(r->a, int, (size_t)r->wl->n_ops);
  r->plan->groups = calloc(n + 1, sizeof *r->plan->groups);
  const int *last;
  if (!r->named || !r->named_again || !r->group_of || !r->plan->groups ||
      !net_channels_last(r->a, r->wl, r->plan->target, r->plan->dtype, &last))
    return no_memory(r);
  r->last = last;
  for (r->plan->n = 0; r->plan->n < (int)n; r->plan->n++)
    ok = read_group(r, v[P_GROUPS]->items[r->plan->n], r->plan->n) && ok;
  ok = !r->lost && all_named(r, v[P_GROUPS]->at) && in_order(r) && ok;
  ok = ok && made_again(r);
  return ok && net_sum(r->arch, r->wl, r->plan, r->d);
}

static bool read_file(reader *r, const tf_text *text) {
  if (!r->a || !r->plan) return no_memory(r);
  const uint16_t file = tf_diags_add_file(r->d, text->name, text->text, text->len);
  const tf_ynode *root = tf_yaml_read(r->a, file, text->text, text->len, r->d);
  const tf_ynode *node = root && root->kind == TF_Y_MAP ? tf_ymap_get(root, "plan") : NULL;
  if (root && !node) tf_fail(r->d, root->at, TF_E_MISSING, "no 'plan' section");
  return node && tf_yschema_kind(node, TF_Y_MAP, "plan", r->d) && read_plan(r, node);
}

tf_net_plan *tf_net_plan_read(const tf_arch *arch, const tf_workload *wl, const tf_text *text,
                              tf_diags *d) {
  TF_IN_C_LOCALE;
  reader r = {
      .arch = arch, .wl = wl, .d = d, .a = tf_arena_new(), .plan = calloc(1, sizeof *r.plan)};
  const bool ok = read_file(&r, text);
  tf_arena_free(r.a);
  if (ok) return r.plan;
  tf_net_plan_free(r.plan);
  return NULL;
}

bool tf_net_has_plan(const tf_text *text) {
  static const char key[] = "plan:";
  if (!text->text || text->len == 0 || text->text[0] == 8) return false; /* an ONNX model */
  const char *end = text->text + text->len; /* need not be followed by a 0 */
  for (const char *line = text->text; line && end - line >= (ptrdiff_t)(sizeof key - 1);) {
    if (!memcmp(line, key, sizeof key - 1)) return true;
    line = memchr(line, '\n', (size_t)(end - line));
    if (line) line++;
  }
  return false;
}
