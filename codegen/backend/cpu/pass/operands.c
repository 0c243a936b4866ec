/* Operands of products and their scratch buffers, shared by several passes. */
#include "codegen/backend/cpu/pass/pass.h"
#include "codegen/intrin/micro.h"

static int64_t rounded(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

int64_t lower_close_words(const tf_arch *a) {
  const tf_memory *m = &a->memories[tf_arch_near_cache(a)];
  if (m->capacity_words <= 0) return INT64_MAX / 8;
  return (int64_t)((double)m->capacity_words * m->word_bits / 8 / 2 / (double)sizeof(float));
}

bool lower_reads_dim(const tf_ref *ref, int rank, int dim) {
  for (int r = 0; r < rank; r++)
    for (int t = 0; t < ref->index[r].n_terms; t++)
      if (ref->index[r].terms[t].dim == dim) return true;
  return false;
}

bool lower_padded(const tf_tensor *z) {
  for (int r = 0; r < z->rank; r++)
    if (z->pad[r]) return true;
  return false;
}

int lower_scratch(lowering *w, ir_type type, int64_t words, const char *name, const char *id) {
  ir_program *p = w->p;
  p->buffers[p->n_buffers] = (ir_buffer){.role = IR_SCRATCH,
                                         .tensor = -1,
                                         .words = words,
                                         .space = lower_space(w),
                                         .name = name,
                                         .id = id,
                                         .type = type,
                                         .shares = -1,
                                         .slots = 1,
                                         .level = w->plan->arch->n_memories - 1};
  return p->n_buffers++;
}

int64_t lower_slab_words(const cpu_product *p, const ir_range *slab, int rank) {
  int64_t words = 1;
  for (int r = 0; r < rank; r++)
    words *= rounded((slab[r].most + p->slab_by[r] - 1) / p->slab_by[r], r == cpu_slab_groups(p)
                                                                             ? p->kernel->group
                                                                         : r == rank - 1 ? p->stride
                                                                                         : 1);
  return words;
}

/* The stride at which a rank is packed. A 1 x 1 convolution with a stride reads every other element
 * alone; integers, whose rows are copied into groups in any case, skip the others. */
static int64_t packed_stride(const tf_tensor *z, const tf_ref *ref, int r, const cpu_product *p) {
  const tf_index *ix = &ref->index[r];
  const bool groups = p->kind == CPU_CHANNELS && p->channels.groups && p->kernel->c == IR_I32;
  return groups && !z->pad[r] && ix->n_terms == 1 && ix->terms[0].coef > 1 ? ix->terms[0].coef : 1;
}

/* Panels are parts of the slab's buffer. */
void lower_add_slab(lowering *w, const ir_stmt *nest, const tf_ref *ref, cpu_product *p) {
  const tf_tensor *z = &w->plan->wl->tensors[ref->tensor];
  p->slab = TF_ARRAY(w->p->arena, ir_range, (size_t)z->rank);
  p->slab_by = TF_ARRAY(w->p->arena, int64_t, (size_t)z->rank);
  for (int r = 0; r < z->rank && !lower_failed(w); r++) {
    p->slab[r] = lower_index(w, nest->op, &ref->index[r]);
    p->slab_by[r] = packed_stride(z, ref, r, p);
  }
  if (lower_failed(w)) return;
  p->pack = lower_scratch(w, cpu_slab_type(p), lower_slab_words(p, p->slab, z->rank), z->name,
                          w->p->tensor_id[ref->tensor]);
}

bool lower_has_windows(const tf_workload *wl, const tf_ref *ref) {
  for (int r = 0; r < wl->tensors[ref->tensor].rank; r++) {
    int moves = 0;
    for (int t = 0; t < ref->index[r].n_terms; t++)
      moves += wl->dims[ref->index[r].terms[t].dim].extent > 1;
    if (moves > 1) return true;
  }
  return false;
}

const ir_kernel *lower_exact_kernel(const lowering *w, const tf_op *op, int a,
                                    const ir_kernel *kernel) {
  if (kernel != w->p->machine.whole) return kernel;
  const tf_workload *wl = w->plan->wl;
  ir_operand of[2];
  for (int i = 0; i < 2; i++) {
    const int z = op->reads[i].tensor;
    of[i] = ir_operand_of(wl, z, w->p->buffers[w->p->buffer_of[z]].type);
  }
  const ir_kernel *fours = tf_micro_fours(&w->p->machine, &of[a], &of[1 - a]);
  return fours ? fours : kernel;
}

int64_t lower_line_bytes(const tf_arch *a) { return a->core.line >= 1 ? (int64_t)a->core.line : 1; }
