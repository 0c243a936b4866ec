/* The public entry points: they find the target by name, and call its row. */
#include "tileflow/emit.h"

#include <stdlib.h>
#include <string.h>

#include "base/locale.h"
#include "codegen/backend/target.h"
#include "codegen/intrin/micro.h"
#include "codegen/lower/lower.h"
#include "tileflow/tree.h"

#define X(name) &tf_target_##name,
static const tf_target *const targets[] = {TF_TARGET_ROWS(X)};
#undef X
enum { N_TARGETS = sizeof targets / sizeof *targets };

/* The row of that name (NULL: the first row); NULL: there is none. */
static const tf_target *known_target(const char *name) {
  for (int i = 0; i < N_TARGETS; i++)
    if (!name || !strcmp(targets[i]->name, name)) return targets[i];
  return NULL;
}

/* The same, with an error in d. */
static const tf_target *find_target(const char *name, tf_diags *d) {
  const tf_target *t = known_target(name);
  if (!t) tf_fail(d, (tf_loc){0}, TF_E_NAME, "no target '%.40s'", name);
  return t;
}

const char *tf_emit_target(int i, const char **what) {
  if (i < 0 || i >= N_TARGETS) return NULL;
  if (what) *what = targets[i]->description;
  return targets[i]->name;
}

bool tf_emit_prints(const char *target) {
  const tf_target *t = known_target(target);
  return t && t->print;
}

bool tf_emit_able(const char *target, tf_emit_ability what) {
  const tf_target *t = known_target(target);
  return t && t->able & what;
}

const char *tf_emit_isas(const char *target) {
  const tf_target *t = known_target(target);
  return t ? t->isas : NULL;
}

bool tf_emit_owns_isa(const char *target, const char *isa) {
  const tf_target *t = known_target(target);
  return t && t->owns && t->owns(isa);
}

const char *tf_emit_isa_unused(const char *target, const char *isa, const char *dtype) {
  const tf_target *t = known_target(target);
  return t && isa && t->unused && t->owns && t->owns(isa) ? t->unused(isa, dtype) : NULL;
}

/* Whether callers of the kernel can access each input and output in the memory where it lives. */
static bool within_reach(const tf_target *t, const tf_tree *tree, tf_diags *d) {
  for (int z = 0; t->reaches && z < tree->workload->n_tensors; z++) {
    const tf_tensor *x = &tree->workload->tensors[z];
    const int level = x->producer < 0 || x->n_consumers == 0 ? tf_arch_home(tree->arch, x) : 0;
    if (level > 0 && !t->reaches(tree->arch, level))
      return tf_fail(d, x->at, TF_E_LIMIT,
                     "'%.40s' lives in '%.40s', where no caller of a kernel for %s can put or find "
                     "it: leave its 'home' out",
                     x->name, tree->arch->memories[level].name, t->name);
  }
  return true;
}

static bool takes_layouts(const tf_target *t, const tf_arch *a, const tf_workload *wl,
                          tf_diags *d) {
  const bool takes = !t->print || t->able & (TF_EMIT_BLOCKS | TF_EMIT_READ);
  for (int z = 0; z < wl->n_tensors && !takes; z++) {
    const tf_laid *l = tf_layout_of(a, &wl->tensors[z]);
    if (l && l->n > wl->tensors[z].rank)
      return tf_fail(d, l->tensor.at, TF_E_LIMIT,
                     "kernels for %s take no tensors in blocks: give '%.40s' its ranks whole, in "
                     "any order",
                     t->name, l->tensor.name);
  }
  return true;
}

bool tf_emit_takes_layouts(const char *target, const tf_arch *a, const tf_workload *wl,
                           tf_diags *d) {
  TF_IN_C_LOCALE;
  const tf_target *t = known_target(target);
  return !t || takes_layouts(t, a, wl, d);
}

tf_emitted *tf_target_emit(const tf_target *t, const tf_tree *tree, const tf_emit_options *o,
                           tf_diags *d) {
  if (!within_reach(t, tree, d) || !takes_layouts(t, tree->arch, tree->workload, d)) return NULL;
  if (t->print) return t->print(t, tree, o, d);
  tf_fail(d, (tf_loc){0}, TF_E_NAME, "target '%.40s' has no kernels, only loops", t->name);
  return NULL;
}

char *tf_target_ir(const tf_target *t, const tf_tree *tree, const tf_emit_options *o, tf_diags *d) {
  ir_machine machine = {.data = IR_F32};
  if (!within_reach(t, tree, d)) return NULL;
  if (o && !t->machine(o, &machine, d)) return NULL;
  ir_program *p = lower_kernel(tree, &t->lower, &machine, d);
  char *text = NULL;
  size_t n = 0;
  FILE *out = p ? open_memstream(&text, &n) : NULL;
  if (out) ir_dump(out, p);
  if (p && (!out || fclose(out) != 0)) tf_out_of_memory(d);
  ir_free(p);
  return text;
}

bool tf_emit_has_dtype(const char *target, const char *dtype, tf_diags *d) {
  TF_IN_C_LOCALE;
  const tf_target *t = find_target(target, d);
  ir_machine machine;
  return t && t->machine(&(tf_emit_options){.dtype = dtype}, &machine, d);
}

static bool reads(const tf_op *op, int z) {
  bool some = false;
  for (int i = 0; i < op->n_reads; i++)
    some |= op->reads[i].tensor == z;
  return some;
}

int tf_emit_made_bytes(const tf_workload *wl, int *first) {
  int n = 0, products = 0, said = 0;
  *first = -1;
  for (int z = 0; z < wl->n_tensors; z++) {
    const tf_tensor *t = &wl->tensors[z];
    bool factor = false;
    said |= t->word_bits <= 8;
    for (int o = 0; o < wl->n_ops; o++) {
      const bool is = ir_is_product(&wl->ops[o]) && lower_is_of_inputs(wl, &wl->ops[o]);
      products += is;
      factor |= is && reads(&wl->ops[o], z);
    }
    if (t->producer >= 0 || t->says_bits || factor || !t->n_consumers) continue;
    if (!n++) *first = z;
  }
  if (said || !products) return *first = -1, 0;
  return n;
}

tf_emitted *tf_emit(const tf_tree *tree, const char *target, const tf_emit_options *o,
                    tf_diags *d) {
  TF_IN_C_LOCALE;
  const tf_target *t = find_target(target, d);
  return t ? tf_target_emit(t, tree, o, d) : NULL;
}

tf_emitted *tf_emit_cpu(const tf_tree *tree, const tf_emit_options *o, tf_diags *d) {
  TF_IN_C_LOCALE;
  return tf_target_emit(&tf_target_cpu, tree, o, d);
}

double tf_emit_cycles(const tf_tree *tree, const char *target, const tf_emit_options *o,
                      tf_diags *d) {
  TF_IN_C_LOCALE;
  const tf_target *t = find_target(target, d);
  if (t && !t->cycles && t->ranked_as) t = find_target(t->ranked_as, d);
  return t && t->cycles && within_reach(t, tree, d) ? t->cycles(tree, o, d) : -1;
}

bool tf_emit_expected(const tf_tree *tree, const char *target, const tf_emit_options *o,
                      tf_expected *e, tf_diags *d) {
  TF_IN_C_LOCALE;
  const tf_target *t = find_target(target, d);
  return t && t->expected && within_reach(t, tree, d) && t->expected(tree, o, e, d);
}

double tf_emit_rate(const char *target, const tf_emit_options *o) {
  TF_IN_C_LOCALE;
  const tf_target *t = known_target(target);
  tf_diags *d = tf_diags_new(); /* errors in the options are reported by tf_emit */
  const double rate = t && t->rate && d ? t->rate(o, d) : 1;
  tf_diags_free(d);
  return rate;
}

/* Whether some index of the op's reads has several dims. */
static bool reads_windows(const tf_workload *wl, const tf_op *op) {
  for (int i = 0; i < op->n_reads; i++)
    for (int r = 0; r < wl->tensors[op->reads[i].tensor].rank; r++)
      if (op->reads[i].index[r].n_terms > 1) return true;
  return false;
}

/* The width of the type relative to the architecture's words, at most 1. */
static double relative_width(ir_type data, const tf_arch *arch) {
  enum { BYTE = 8 };
  const double width = (double)(ir_bytes(data) * BYTE) / arch->memories[0].word_bits;
  return width < 1 ? width : 1;
}

double tf_emit_width(const char *dtype, const tf_arch *arch) {
  ir_type data;
  return tf_micro_type_of(dtype, &data) && data != IR_I8 ? relative_width(data, arch) : 1;
}

double tf_emit_share(const char *dtype, const tf_arch *arch, const tf_workload *wl) {
  ir_type data;
  if (wl->n_ops != 1 || !reads_windows(wl, &wl->ops[0]) || !tf_micro_type_of(dtype, &data))
    return 1;
  return relative_width(data, arch);
}

/* Words that pass the outermost memory: each tensor once, if all fit in the next memory, which is
 * taken for a cache that keeps them however often a mapping repeats accesses. */
static double words_passing(const tf_tree *t, double traffic, double share) {
  const tf_workload *wl = t->workload;
  double all = 0;
  for (int i = 0; i < wl->n_tensors; i++)
    all += (double)tf_tensor_words(&wl->tensors[i]);
  const int64_t room = t->arch->n_memories > 1 ? t->arch->memories[1].capacity_words : 0;
  const bool stay = room < 0 || all * share <= (double)room;
  return share * (stay && all < traffic ? all : traffic);
}

double tf_emit_value(const char *target, const char *dtype, const tf_tree *tree, double cycles,
                     double traffic, double kernel) {
  const double share = tf_emit_share(dtype, tree->arch, tree->workload);
  if (tf_emit_cycles_whole(target)) return kernel;
  return kernel + (share < 1 ? words_passing(tree, traffic, share) / tree->arch->memories[0].read_bw
                             : cycles);
}

bool tf_emit_suits(const char *target, const tf_arch *arch, tf_diags *d) {
  TF_IN_C_LOCALE;
  const tf_target *t = known_target(target);
  return !t || !t->suits || t->suits(arch, d);
}

bool tf_emit_cycles_whole(const char *target) {
  const tf_target *t = known_target(target);
  return t && t->whole;
}

bool tf_emit_cycles_expected(const char *target) {
  const tf_target *t = known_target(target);
  return t && t->fits;
}

bool tf_emit_fits(const tf_tree *tree, const char *target, tf_diags *d) {
  TF_IN_C_LOCALE;
  const tf_target *t = find_target(target, d);
  return t && (!t->fits || t->fits(tree, d));
}

tf_emit_memo *tf_emit_memo_new(void) { return calloc(1, sizeof(tf_emit_memo)); }

void tf_emit_memo_free(tf_emit_memo *m) {
  if (m && m->made) m->drop(m->made);
  free(m);
}

tf_tree *tf_emit_settled(const tf_tree *tree, const char *target, tf_emit_memo *memo,
                         char **settled, tf_diags *d) {
  TF_IN_C_LOCALE;
  const tf_target *t = find_target(target, d);
  *settled = NULL;
  return t && t->settle ? t->settle(tree, memo, settled, d) : NULL;
}

tf_tree *tf_emit_form(const char *target, const tf_arch *arch, const tf_workload *wl, int k) {
  const tf_target *t = known_target(target);
  return t && t->form && (k >= 0 || t->fits) ? t->form(arch, wl, k) : NULL;
}

char *tf_emit_ir(const tf_tree *tree, const char *target, const tf_emit_options *o, tf_diags *d) {
  TF_IN_C_LOCALE;
  const tf_target *t = find_target(target, d);
  return t ? tf_target_ir(t, tree, o, d) : NULL;
}
