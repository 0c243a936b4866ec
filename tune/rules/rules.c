/* The rules in the order in which they are tried, and the systems they give. */
#include "tune/rules/rules.h"

#include <string.h>

#include "base/locale.h"
#include "tileflow/tune.h"
#include "tune/space/schedules.h"

/* Always-Inline: element by element, and read by others. */
static bool is_inlined(const tf_workload *wl, const tf_op *op) {
  return op->n_dims == op->n_out_dims && wl->tensors[op->out].n_consumers > 0;
}

/* Caches: what lies between the outermost memory and the registers. */
static int caches(const tf_arch *a) { return a->n_memories > 2 ? a->n_memories - 2 : 1; }

static void cached_stage(rules *r, const rule_stage *root, int position) {
  rule_stage *st = &r->stage[r->n_stages++];
  const tf_op *op = r->op;
  *st = (rule_stage){.tensor = (int16_t)op->out};
  memcpy(st->name, root->name, sizeof st->name);
  strncat(st->name, ".global", sizeof st->name - strlen(st->name) - 1);
  for (int k = 0; k < op->n_dims; k++)
    rule_axis_new(&r->sys, st, op->dims[k], k >= op->n_out_dims, true);
  rule_compute_at(&r->sys, st, root, position);
  rule_tile_knob(&r->sys, st, "_tileAll");
  for (int k = 0; k < caches(r->spec->arch) && !r->sys.bad; k++)
    rule_band(&r->sys, st, true, false);
  rules_call(r, st); /* Tensorize */
}

static void on_cpu(rules *r) {
  rule_stage *st = &r->stage[r->n_stages++];
  const tf_op *op = r->op;
  const bool reuse = op->n_dims > op->n_out_dims;
  *st = (rule_stage){.tensor = (int16_t)op->out};
  r->sys.too_long |= strlen(op->name) + sizeof ".global" > sizeof st->name;
  r->sys.bad |= r->sys.too_long;
  if (r->sys.bad) return;
  memcpy(st->name, op->name, strlen(op->name) + 1);
  if (r->family.n) rules_add_sizes(r);
  const int position = reuse ? rule_position(&r->sys, st, "global") : -1; /* Add-Cache-Stage */
  rule_range(&r->sys, st, "_unroll_pragma", true, 0, 5);
  for (int k = 0; k < op->n_out_dims; k++) {
    rule_axis_new(&r->sys, st, op->dims[k], false, false);
    rule_whole(&r->sys, &st->axis[k]);
  }
  rule_tile_knob(&r->sys, st, "_tileSpatial");
  rule_band(&r->sys, st, false, false); /* unroll */
  rule_band(&r->sys, st, false, true);  /* parallel */
  rule_band(&r->sys, st, false, false); /* for the cache */
  rule_innermost(&r->sys, st);
  rule_range(&r->sys, st, "_vectorize", true, 0, 1);
  if (reuse && !r->sys.bad) cached_stage(r, st, position);
}

/* An op's system; name: that of the rules. */
static bool derive(rules *r, tf_arena *a, const char **name) {
  r->sys = (rule_system){.s = csp_new(a), .wl = r->spec->workload};
  r->sys.bad = !r->sys.s;
  if (!r->sys.bad) rules_find_family(r);
  *name = r->family.n_scopes ? "scratchpad" : "cpu";
  if (r->family.n_scopes) {
    rules_prepare(r);
    if (!r->sys.bad) rules_schedule(r);
  } else {
    on_cpu(r);
  }
  return !r->sys.bad && csp_ready(r->sys.s);
}

bool tf_tune_rules(const tf_spec *spec, tf_space_size *out, tf_diags *d) {
  TF_IN_C_LOCALE;
  const tf_workload *wl = spec->workload;
  *out = (tf_space_size){0};
  bool ok = tf_no_views(wl, d);
  for (int o = 0; ok && o < wl->n_ops; o++) {
    tf_arena *a = tf_arena_new();
    rules *r = is_inlined(wl, &wl->ops[o]) ? NULL : TF_NEW(a, rules);
    const char *name;
    if (!r && !tf_arena_failed(a)) {
      tf_arena_free(a);
      continue;
    }
    if (r) *r = (rules){.spec = spec, .op = &wl->ops[o]};
    if (out->n == TF_SPACE_FORMS)
      ok = tf_fail(d, wl->ops[o].at, TF_E_LIMIT,
                   "a space of rules has at most %d ops that are not inlined", TF_SPACE_FORMS);
    else if (!r || (!derive(r, a, &name) && tf_arena_failed(a)))
      ok = tf_out_of_memory_at(d, wl->at);
    else if (r->sys.bad)
      ok = tf_fail(
          d, wl->ops[o].at, TF_E_LIMIT,
          r->sys.too_long
              ? "names of its variables would have more than %d letters"
              : "its system of constraints has too many variables, or an op more than %d loops",
          r->sys.too_long ? RULE_NAME - 1 : RULE_AXES);
    else
      ok = tune_size_of(r->sys.s, name, false, &out->form[out->n++]) ||
           tf_out_of_memory_at(d, wl->at);
    tf_arena_free(a);
  }
  return ok;
}
