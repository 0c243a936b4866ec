/* Compiles a mapping: a dry run finds the sizes of all banks, the second run makes the
 * instructions, then flags are added. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/backend/npu/pass/pass.h"
#include "model/flow/range_memo.h"

static bool is_taken(const tf_npu *p, const char *name, bool own_too) {
  const npu_machine *m = &p->machine;
  bool taken = false;
  for (int i = 0; i < m->n_memories && own_too; i++)
    taken |= !strcmp(m->memory[i].name, name);
  for (int i = 0; i < m->n_queues; i++)
    taken |= !strcmp(m->queue[i], name);
  for (int i = 0; i < p->n_tensors && own_too; i++)
    taken |= !strcmp(p->tensor[i].name, name);
  return taken;
}

/* A name for the assembler: letters, digits and _, unused so far. */
static const char *name_of(tf_npu *p, const char *name, bool own_too) {
  char text[64] = "";
  size_t n = 0;
  for (const char *c = name; *c && n < sizeof text - 8; c++)
    text[n++] = isalnum((unsigned char)*c) ? *c : '_';
  for (int i = 2; is_taken(p, text, own_too); i++)
    snprintf(text + n, sizeof text - n, i == 2 ? "_" : "_%d", i);
  return tf_arena_strndup(p->arena, text, strlen(text));
}

const char *npu_name_new(tf_npu *p, const char *name) { return name_of(p, name, true); }

static bool name_machine(tf_npu *p, const npu_target *t) {
  npu_machine *m = &p->machine;
  *m = t->machine;
  m->name = name_of(p, m->name, false);
  m->memory[0].name = name_of(p, m->memory[0].name, false);
  if (t->flat) m->memory[1].name = name_of(p, m->memory[1].name, false);
  return m->name && m->memory[0].name && m->memory[1].name;
}

tf_npu *npu_head_of(const tf_arch *a, tf_diags *d) {
  npu_target t;
  if (!npu_target_of(a, &t, d)) return NULL;
  tf_npu *p = npu_new();
  if (p && name_machine(p, &t)) return p;
  tf_npu_free(p);
  tf_out_of_memory(d);
  return NULL;
}

bool npu_tensor_new(tf_npu *p, const tf_tensor *z, npu_tensor *t, tf_diags *d) {
  int64_t words = 1;
  for (int r = 0; r < z->rank; r++)
    words *= words > INT64_C(1) << 30 || z->extent[r] > INT64_C(1) << 30 ? 2 : z->extent[r];
  *t = (npu_tensor){.type = npu_type_of(z), .words = words};
  if (p->n_tensors == NPU_TENSORS || words > INT64_C(1) << 29 ||
      p->bytes + words * npu_type_bytes(t->type) > INT64_C(1) << 30)
    return tf_fail(d, z->at, TF_E_LIMIT,
                   "emit for npu: more than %d tensors, or more than 2^30 bytes", NPU_TENSORS);
  if (z->word_bits != 16 && z->word_bits != 32)
    return tf_fail(d, z->at, TF_E_LIMIT,
                   "emit for npu: words of '%.40s' have %d bits, not 16 or 32", z->name,
                   z->word_bits);
  t->name = npu_name_new(p, z->name);
  return t->name || tf_out_of_memory(d);
}

static void add_tensor(npu_build *b, int z) {
  const tf_tensor *t = &b->p->wl->tensors[z];
  npu_tensor new;
  b->global[z] = b->out->n_tensors;
  b->ok = npu_tensor_new(b->out, t, &new, b->d);
  new.in = t->producer < 0;
  new.out = t->producer >= 0 && t->n_consumers == 0;
  if (b->ok && !npu_add_tensor(b->out, new)) b->ok = tf_out_of_memory(b->d);
}

/* Links of a chain have them already. */
static void add_tensors(npu_build *b) {
  b->ok = b->tensor_places || name_machine(b->out, &b->t) || tf_out_of_memory(b->d);
  b->t.machine = b->out->machine;
  for (int z = 0; z < b->p->wl->n_tensors && b->ok; z++) {
    b->global[z] = -1;
    if (b->t.memory_of[b->p->home_level[z]] != 0) continue;
    if (b->tensor_places)
      b->global[z] = b->tensor_places[z].tensor;
    else
      add_tensor(b, z);
  }
}

static void fill(int *list, size_t n) {
  for (size_t i = 0; i < n; i++)
    list[i] = -1;
}

static bool make_build(npu_build *b, const tf_tree *tree) {
  tf_arena *a = b->arena;
  tf_plan *plan = tf_plan_new(a, tree);
  if (!plan || !tf_range_memo_exact(a, plan)) return tf_out_of_memory(b->d);
  b->p = plan;
  const size_t ops = (size_t)b->p->wl->n_ops, tensors = (size_t)b->p->wl->n_tensors,
               loops = (size_t)b->p->n_loops + 1;
  b->ev.plan = b->p;
  b->ev.exact = true;
  b->ev.trip = TF_ARRAY(a, int64_t, loops);
  b->ev.step = TF_ARRAY(a, int64_t, loops * ops);
  b->ev.made = TF_ARRAY(a, tf_ival *, ops);
  b->cur = TF_ARRAY(a, int64_t, loops);
  b->product = TF_ARRAY(a, bool, ops);
  b->global = TF_ARRAY(a, int, tensors);
  b->again = TF_ARRAY(a, bool, tensors);
  b->transit = TF_ARRAY(a, int, tensors);
  b->temp = TF_ARRAY(a, int, ops *NPU_TEMPS);
  b->fixing = TF_ARRAY(a, int, ops);
  if (!b->ev.trip || !b->ev.step || !b->ev.made || !b->cur || !b->product || !b->global ||
      !b->again || !b->transit || !b->temp || !b->fixing)
    return tf_out_of_memory(b->d);
  for (int l = 0; l < b->p->n_loops; l++)
    b->ev.trip[l] = tree->nodes[b->p->loops[l].node].loops[b->p->loops[l].slot].trip;
  for (int o = 0; o < b->p->wl->n_ops; o++)
    b->product[o] = npu_is_product(&b->p->wl->ops[o], b->p->wl);
  fill(b->transit, tensors);
  fill(b->temp, ops * NPU_TEMPS);
  fill(b->fixing, ops);
  return tf_eval_steps(&b->ev) || tf_fail(b->d, tree->nodes[0].at, TF_E_OVERFLOW,
                                          "the product of trip counts passes 2^63 - 1");
}

/* The least number of instructions for an entry of op o's innermost tile; before storage is
 * assigned, one. */
static double each_entry(const npu_build *b, int o) {
  const npu_bank *values = b->temp[o * NPU_TEMPS] < 0 ? NULL : &b->bank[b->temp[o * NPU_TEMPS]];
  double points = (double)npu_type_bytes(NPU_F32);
  if (!values || !values->in_parts) return 1;
  for (int r = 0; r < values->rank; r++)
    points *= (double)values->ext[r];
  return npu_vector_calls(b, o) * fmax(1, points / (double)values->bytes);
}

/* Whether the innermost tiles are entered few enough times. */
static bool is_short(npu_build *b) {
  double entries = 0;
  for (int o = 0; o < b->p->wl->n_ops; o++) {
    const tf_path *path = &b->p->path[b->p->tree->op_node[o]];
    double times = 1;
    for (int i = 0; i < path->n; i++)
      if (b->p->tree->nodes[b->p->loops[path->loops[i]].node].level != npu_level_of(b, o))
        times *= (double)b->ev.trip[path->loops[i]];
    entries += times * each_entry(b, o);
  }
  if (entries > NPU_LONGEST) npu_too_long(b);
  return b->ok;
}

/* Outputs that a dry walk has not read; of links others may read them. */
static bool find_unread(npu_build *b) {
  for (int z = 0; z < b->p->wl->n_tensors && !b->tensor_places; z++)
    if (b->global[z] >= 0)
      b->out->tensor[b->global[z]].unread = b->out->tensor[b->global[z]].out && !b->again[z];
  return true;
}

/* Sizes and storage of all banks. */
static bool fit(npu_build *b, const tf_tree *tree) {
  if (tree->open)
    return tf_fail(b->d, (tf_loc){0}, TF_E_OPEN, "emit for npu: the mapping has open parts");
  if (!npu_target_of(tree->arch, &b->t, b->d) || !make_build(b, tree)) return false;
  add_tensors(b);
  npu_turns_find(b);
  b->dry = true;
  return b->ok && is_short(b) && npu_walk(b) && find_unread(b) && npu_banks_place(b) && is_short(b);
}

/* All instructions, without flags. */
static bool run(npu_build *b, const tf_tree *tree) {
  if (!fit(b, tree)) return false;
  b->dry = false;
  return npu_walk(b);
}

void npu_build_free(npu_build *b) {
  if (!b) return;
  tf_arena_free(b->arena);
  tf_npu_free(b->out);
  free(b);
}

static npu_build *empty(tf_diags *d) {
  npu_build *b = calloc(1, sizeof *b);
  if (b)
    *b = (npu_build){
        .out = npu_new(), .arena = tf_arena_new(), .d = d, .ok = true, .steps = NPU_LONGEST};
  if (b && b->out && b->arena) return b;
  npu_build_free(b);
  tf_out_of_memory(d);
  return NULL;
}

npu_build *npu_build_link(tf_npu *out, const npu_link *l, tf_diags *d) {
  npu_build *b = empty(d);
  if (!b) return NULL;
  tf_npu_free(b->out);
  b->out = out;
  b->tensor_places = l->place;
  if (fit(b, l->tree)) {
    b->dry = false;
    return b;
  }
  b->out = NULL;
  npu_build_free(b);
  return NULL;
}

npu_build *npu_build_new(const tf_tree *tree, tf_diags *d) {
  npu_build *b = empty(d);
  if (b && fit(b, tree)) {
    b->dry = false;
    return b;
  }
  npu_build_free(b);
  return NULL;
}

bool npu_fits(const tf_tree *tree, tf_diags *d) {
  npu_build *b = empty(d);
  if (b) b->drops_made = true;
  const bool fits = b && run(b, tree);
  npu_build_free(b);
  return fits;
}

double npu_whole_cycles(const tf_tree *tree, tf_diags *d) {
  npu_build *b = npu_build_new(tree, d);
  double cycles = -1;
  if (b) {
    b->most = NPU_UNLIMITED, b->every_step = true;
    b->clock = npu_clock_new(b->out, false);
    if (!b->clock) tf_out_of_memory(d);
    if (b->clock && npu_walk(b)) npu_clock_run(b), cycles = npu_clock_end(b->clock);
    npu_clock_free(b->clock);
  }
  npu_build_free(b);
  return cycles;
}

/* Tags are the workload's names, which the program outlives. */
bool npu_keep_tags(tf_npu *p) {
  bool ok = true;
  for (size_t k = 0; ok && k < p->n; k++) {
    p->instr[k].tag = tf_arena_strndup(p->arena, p->instr[k].tag, strlen(p->instr[k].tag));
    ok = p->instr[k].tag != NULL;
  }
  return ok;
}

tf_npu *npu_compile(const tf_tree *tree, tf_diags *d) {
  const size_t errors = tf_diags_errors(d);
  npu_build *b = empty(d);
  tf_npu *p = NULL;
  if (b && run(b, tree) && npu_even(b->out) && npu_flags_add(b->out) && npu_keep_tags(b->out)) {
    p = b->out;
    b->out = NULL;
  }
  if (!p && tf_diags_errors(d) == errors) tf_out_of_memory(d);
  npu_build_free(b);
  return p;
}

/* Whether the program is within the limit, as far as a few steps of each loop tell. */
static bool short_as_counted(npu_build *b, int64_t *counted) {
  const double much = 1.06;
  if (!isfinite(b->most.length) || b->turn_tile >= 0) return true;
  const int64_t steps = b->steps;
  const double most = b->most.length;
  b->most.length *= much;
  b->counting = true;
  if (npu_walk(b) && b->length > b->most.length) npu_too_long(b);
  b->counting = false;
  b->most.length = most;
  b->length = 0;
  *counted = steps - b->steps;
  b->steps = steps;
  npu_banks_empty(b);
  return b->ok;
}

bool npu_predict(const tf_tree *tree, npu_limits most, npu_terms *terms, tf_diags *d) {
  npu_build *b = npu_build_new(tree, d);
  *terms = (npu_terms){.cycles = -1};
  if (b) {
    const int64_t given = b->steps;
    b->most = most;
    b->clock = npu_clock_new(b->out, true);
    if (!b->clock) tf_out_of_memory(d);
    const bool walked = b->clock && short_as_counted(b, &terms->counted) && npu_walk(b);
    if (walked && b->length > most.length) npu_too_long(b);
    const int64_t counted = terms->counted;
    if (walked && b->ok) *terms = npu_clock_terms(b->clock);
    terms->counted = counted;
    terms->length = b->length;
    terms->work = given - b->steps;
    npu_clock_free(b->clock);
  }
  npu_build_free(b);
  return terms->cycles >= 0;
}

bool npu_expect(const tf_tree *tree, npu_terms *terms, tf_diags *d) {
  enum { SHORT = 1 << 14 }; /* instructions */
  npu_terms whole;
  if (!npu_predict(tree, NPU_UNLIMITED, terms, d)) return false;
  if (terms->length > SHORT) return true;
  npu_build *b = empty(d);
  const bool ok = b && run(b, tree) && npu_clock_whole(b->out, &whole, d);
  npu_build_free(b);
  if (!ok) return false;
  whole.length = terms->length, whole.work = terms->work, whole.counted = terms->counted;
  *terms = whole;
  return true;
}
