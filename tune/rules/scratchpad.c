/* Ops with instructions that read from memories of their own: stages of copies, and the loops of
 * each. */
#include <stdio.h>
#include <string.h>

#include "tune/rules/rules.h"

static const char *memory(const rules *r, int level) { return r->spec->arch->memories[level].name; }

static rule_stage *add_stage(rules *r, const char *from, const char *scope, int tensor) {
  if (r->n_stages == RULE_STAGES) {
    r->sys.bad = true;
    return &r->stage[0];
  }
  rule_stage *st = &r->stage[r->n_stages++];
  *st = (rule_stage){.tensor = (int16_t)tensor};
  const int n = snprintf(st->name, sizeof st->name, "%s%s%s", from, *scope ? "." : "", scope);
  r->sys.too_long |= n >= (int)sizeof st->name;
  r->sys.bad |= r->sys.too_long;
  return st;
}

/* The dims of an index, each once, that an axis is made of. */
static void axes_of_read(rules *r, rule_stage *st, const tf_ref *ref) {
  for (int x = 0; x < r->sys.wl->tensors[ref->tensor].rank; x++)
    for (int k = 0; k < ref->index[x].n_terms; k++) {
      const int dim = ref->index[x].terms[k].dim;
      bool there = false;
      for (int i = 0; i < st->n_axes; i++)
        there |= st->axis[i].dim == dim;
      if (!there) rule_axis_new(&r->sys, st, dim, false, true);
    }
}

static void axes_of_op(rules *r, rule_stage *st, bool sums, bool copy) {
  for (int k = 0; k < (sums ? r->op->n_dims : r->op->n_out_dims); k++)
    rule_axis_new(&r->sys, st, r->op->dims[k], k >= r->op->n_out_dims, copy);
}

/* The position of a stage in the stage `in`; `like`: that of another one, or -1. */
static void put(rules *r, const rule_stage *st, int in, int like, const char *scope) {
  const int k = (int)(st - r->stage);
  r->computed_at[k] = in;
  r->position[k] = like >= 0 ? r->position[like] : rule_position(&r->sys, &r->stage[in], scope);
}

/* Stages from the op's output inwards: the root, the ways of the sums back, the sums; then the ways
 * of each input. Inputs that come through the same memory come at the same place. */
void rules_prepare(rules *r) {
  const rule_family *f = &r->family;
  const char *close = memory(r, f->instr[0]->below);
  char sums[RULE_NAME];
  rules_add_sizes(r);
  add_stage(r, r->op->name, "", r->op->out);
  for (int k = 0; k < f->n_scopes; k++) {
    snprintf(sums, sizeof sums, "%.60s.%.30s", r->op->name, close);
    rule_stage *st = add_stage(r, sums, memory(r, f->scope[k]), r->op->out);
    put(r, st, r->n_stages - 2, -1, memory(r, f->scope[k]));
  }
  const int compute = r->n_stages;
  put(r, add_stage(r, r->op->name, close, r->op->out), compute - 1, -1, close);
  for (int i = 0; i < r->op->n_reads; i++) {
    const int z = r->op->reads[i].tensor;
    for (int k = 0; k <= f->n_scopes; k++) {
      const char *scope = k < f->n_scopes ? memory(r, f->scope[k]) : close;
      const rule_stage *st =
          add_stage(r, k ? r->stage[r->n_stages - 1].name : r->sys.wl->tensors[z].name, scope, z);
      put(r, st, compute, i ? compute + 1 + k : -1, scope);
    }
    if (r->sys.bad) break;
  }
}

/* Words of 1, 2, 4 or 8 are moved at a time. */
static void vectorize(rules *r, rule_stage *st) {
  static const int64_t lanes[] = {1, 2, 4, 8};
  rule_band(&r->sys, st, false, false);
  int one = st->axis[0].var;
  for (int k = 1; k < st->n_axes && !r->sys.bad; k++) {
    char what[RULE_NAME];
    snprintf(what, sizeof what, "_vector%d", k);
    const int both = rule_range(&r->sys, st, what, false, 1, CSP_MOST / 16);
    rule_add(&r->sys, CSP_PROD, both, 2, (int[]){one, st->axis[k].var});
    one = both;
  }
  if (!r->sys.bad) r->sys.bad = !csp_in(r->sys.s, one, 4, lanes);
}

static void root(rules *r, rule_stage *st) {
  axes_of_op(r, st, false, false);
  for (int k = 0; k < st->n_axes; k++)
    rule_whole(&r->sys, &st->axis[k]);
  rule_range(&r->sys, st, "_unroll_pragma", true, 0, 5);
  rule_tile_knob(&r->sys, st, "_tileSpatial");
  rule_band(&r->sys, st, false, false); /* unroll */
  rule_band(&r->sys, st, false, true);  /* block */
  rule_band(&r->sys, st, false, true);  /* thread */
  rule_band(&r->sys, st, false, true);  /* warp */
  vectorize(r, st);
}

/* What a stage holds of its memory, in bits. */
static int held(rules *r, const rule_stage *st, const int whole[RULE_AXES]) {
  int list[RULE_AXES + 1], n = 0;
  for (int k = 0; k < st->n_axes; k++)
    list[n++] = whole[k];
  list[n++] = rule_number(&r->sys, r->sys.wl->tensors[st->tensor].word_bits);
  const int all = rule_range(&r->sys, st, "_bits", false, 0, CSP_MOST / 16);
  rule_add(&r->sys, CSP_PROD, all, n, list);
  return all;
}

/* A stage that copies: threads share its elements, and vectors or (tiles) the instruction's tiles
 * move them; next to the units it is tiles alone. */
static void copies(rules *r, rule_stage *st, bool close, bool tiles) {
  if (!close) rule_band(&r->sys, st, false, true); /* thread */
  if (tiles)
    rules_call(r, st);
  else
    vectorize(r, st);
}

static void sums(rules *r, rule_stage *st) {
  rule_tile_knob(&r->sys, st, "_tileAll");
  for (int k = 0; k < 2; k++)
    rule_band(&r->sys, st, true, false);
  rules_call(r, st);
  rule_innermost(&r->sys, st);
}

static bool is_read(const rules *r, int k, const tf_ref **ref) {
  const int compute = 1 + r->family.n_scopes, per = r->family.n_scopes + 1;
  *ref = k > compute ? &r->op->reads[(k - compute - 1) / per] : NULL;
  return *ref;
}

/* The stages of one scratchpad: their bits together. */
static void fit(rules *r, int scope, const int *bits, int n) {
  const tf_memory *m = &r->spec->arch->memories[r->family.scope[scope]];
  char what[RULE_NAME];
  int64_t room;
  if (m->capacity_words < 0 ||
      __builtin_mul_overflow(m->capacity_words, (int64_t)m->word_bits, &room) ||
      room > CSP_MOST / 16)
    return;
  snprintf(what, sizeof what, "_%.60s_held", m->name);
  const int all = rule_range(&r->sys, &r->stage[0], what, false, 0, CSP_MOST / 16),
            most = rule_number(&r->sys, room);
  rule_add(&r->sys, CSP_SUM, all, n, bits);
  rule_add(&r->sys, CSP_LE, all, 1, &most);
}

void rules_schedule(rules *r) {
  const int per = r->family.n_scopes + 1, compute = per;
  int bits[RULE_SCOPES][RULE_STAGES], n[RULE_SCOPES] = {0};
  root(r, &r->stage[0]);
  for (int k = 1; k < r->n_stages && !r->sys.bad; k++) {
    rule_stage *st = &r->stage[k];
    const tf_ref *ref;
    int whole[RULE_AXES];
    if (is_read(r, k, &ref))
      axes_of_read(r, st, ref);
    else
      axes_of_op(r, st, k == compute, true);
    if (r->sys.bad) return;
    rule_compute_at(&r->sys, st, &r->stage[r->computed_at[k]], r->position[k]);
    for (int i = 0; i < st->n_axes; i++)
      whole[i] = st->axis[i].var;
    const int scope = ref ? (k - compute - 1) % per : k - 1;
    if (scope < r->family.n_scopes) bits[scope][n[scope]++] = held(r, st, whole);
    if (k == compute)
      sums(r, st);
    else
      copies(r, st, scope == r->family.n_scopes, !ref || scope == r->family.n_scopes);
  }
  for (int s = 0; s < r->family.n_scopes && !r->sys.bad; s++)
    fit(r, s, bits[s], n[s]);
}
