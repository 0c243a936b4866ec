/* In which order nests add up sums, as the printer and the micro-kernels do: how many terms are
 * added to one element of the output in turn. */
#include "codegen/backend/cpu/pass/pass.h"
#include "codegen/intrin/micro.h"
#include "model/input/dims.h"

static int64_t times(int64_t a, int64_t b) {
  return __builtin_mul_overflow(a, b, &a) ? INT64_MAX / 4 : a;
}
static int64_t parts(int64_t n, int64_t of) { return (n + of - 1) / of; }

/* Whether the op's k-th dim moves each operand along its last rank by one, or not at all. */
static bool runs_along(const lowering *w, const tf_op *op, int k) {
  for (int i = 0; i < op->n_reads; i++) {
    const tf_ref *ref = &op->reads[i];
    const int rank = w->plan->wl->tensors[ref->tensor].rank;
    if (rank > 1 && lower_reads_dim(ref, rank - 1, op->dims[k])) return false;
    const int64_t step = rank > 0 ? tf_index_coef(&ref->index[rank - 1], op->dims[k]) : 0;
    if (step != 0 && step != 1) return false;
  }
  return true;
}

/* Whether an element of the output is summed at a time, along rows, in vectors or in double:
 * precise enough for any length. Otherwise each term is added to an element in memory. */
static bool along_rows(const lowering *w, const tf_op *op) {
  const int last = op->n_out_dims - 1;
  if (last < 0) return true;
  if (runs_along(w, op, last)) return false;
  for (int k = op->n_out_dims; k < op->n_dims; k++)
    if (runs_along(w, op, k)) return true;
  return false;
}

/* Terms that are added to an element in memory, `some` at a time. */
static void add_in_memory(lower_terms *t, int64_t all, int64_t some) {
  t->adds = parts(all, some);
  t->limit = TF_MICRO_RUN;
  t->most = TF_MICRO_RUN * some;
}

/* A nest sums up `adds` terms or fewer before it adds them to the output. */
static void add_sums(lower_terms *t, int64_t all, int64_t adds) {
  t->adds = adds;
  t->limit = TF_MICRO_RUNS;
  t->most = adds <= TF_MICRO_RUNS            ? all
            : all / adds * TF_MICRO_RUNS > 0 ? all / adds * TF_MICRO_RUNS
                                             : 1;
}

/* Whether the kernel holds its sums in tiles; a product of a kernel that is not the machine's has
 * none of a micro-kernel. */
static bool in_tiles(const lowering *w, const ir_kernel *k) {
  return (k == w->p->machine.real || k == w->p->machine.whole) &&
         tf_micro_in_tiles(tf_micro_kernel_of(k));
}

static void of_product(const lowering *w, const ir_stmt *s, int64_t all, lower_terms *t) {
  enum { ONE_ROW = 4, ROWS = 6 }; /* the least rows of b that are added at once: micro_skinny.c */
  const cpu_product *p = cpu_of(s)->product;
  const int64_t k = s->range[p->k].most, others = all / (k > 0 ? k : 1);
  if (p->kernel->a != IR_F32) return;
  if (p->kind == CPU_SPARSE)
    add_sums(t, all, parts(all, p->sparse.deep));
  else if (p->kind == CPU_CHANNELS)
    add_sums(t, all, parts(all, TF_MICRO_PART));
  else if (p->kind == CPU_SKINNY && !p->skinny.along_k)
    add_in_memory(t, all, p->m < 0 || s->range[p->m].most == 1 ? ONE_ROW : ROWS);
  else if (p->kind == CPU_SKINNY)
    add_sums(t, all,
             times(others, parts(k, (int64_t)TF_MICRO_RUN * TF_MICRO_RUNS * w->p->machine.lanes)));
  else if (in_tiles(w, p->kernel))
    add_sums(t, all, k > TF_MICRO_RUN ? times(others, k) : others);
  else
    add_sums(
        t, all,
        times(others, parts(k, p->pairs.steps && p->pairs.steps < TF_MICRO_RUN ? p->pairs.steps
                                                                               : TF_MICRO_RUN)));
}

void lower_terms_of(const lowering *w, const ir_stmt *s, lower_terms *t) {
  const tf_op *op = &w->plan->wl->ops[s->op];
  int64_t all = 1;
  *t = (lower_terms){.next = TF_MICRO_RUNS};
  for (int k = op->n_out_dims; k < op->n_dims; k++)
    all = times(all, s->range[k].most);
  if (ir_is_half(w->p->machine.data) || w->p->buffers[w->p->buffer_of[op->out]].type != IR_F32 ||
      all < 1)
    return;
  if (cpu_of(s)->product)
    of_product(w, s, all, t);
  else if (along_rows(w, op))
    add_sums(t, all, 1);
  else
    add_in_memory(t, all, 1);
}
