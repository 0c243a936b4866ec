/* Programs: tables of operations and types, construction, costs. */
#include "codegen/backend/npu/sim/program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/grow.h"

static const npu_op_facts ops[] = {
#define X(id, name, sources) {name, sources},
    NPU_OPS(X)
#undef X
};
static const struct {
  const char *name;
  int64_t bytes;
} types[] = {
#define X(id, name, bytes) {name, bytes},
    NPU_TYPES(X)
#undef X
};

const npu_op_facts *npu_facts_of(npu_op op) { return &ops[op]; }
const char *npu_type_name(npu_type t) { return types[t].name; }
int64_t npu_type_bytes(npu_type t) { return types[t].bytes; }

tf_npu *npu_new(void) {
  tf_npu *p = calloc(1, sizeof *p);
  if (p) p->arena = tf_arena_new();
  if (p && p->arena) {
    p->machine.cube.queue = p->machine.vector.queue = -1;
    return p;
  }
  free(p);
  return NULL;
}

void tf_npu_free(tf_npu *p) {
  if (!p) return;
  tf_arena_free(p->arena);
  free(p->instr);
  free(p->tensor);
  free(p);
}

bool npu_add_tensor(tf_npu *p, npu_tensor t) {
  if (!TF_GROW(p->tensor, p->n_tensors)) return false;
  t.offset = t.within ? p->tensor[t.within - 1].offset + t.offset : p->bytes;
  p->tensor[p->n_tensors++] = t;
  if (!t.within) p->bytes = (t.offset + t.words * npu_type_bytes(t.type) + 63) / 64 * 64;
  return true;
}

bool npu_copy_head(tf_npu *p, const tf_npu *from) {
  p->machine = from->machine;
  for (int i = 0; i < from->n_tensors; i++) {
    if (!TF_GROW(p->tensor, p->n_tensors)) return false;
    p->tensor[p->n_tensors++] = from->tensor[i];
  }
  p->bytes = from->bytes;
  return true;
}

npu_instr *npu_add(tf_npu *p, npu_op op) {
  if (!TF_GROW(p->instr, p->n)) return NULL;
  npu_instr *i = &p->instr[p->n++];
  memset(i, 0, sizeof *i);
  i->op = op;
  i->tag = "";
  i->queue = i->via = -1;
  return i;
}

bool tf_npu_tensor_at(const tf_npu *p, int i, tf_npu_tensor *t) {
  if (i < 0 || i >= p->n_tensors) return false;
  *t = (tf_npu_tensor){p->tensor[i].name, p->tensor[i].words, p->tensor[i].in, p->tensor[i].out};
  return true;
}

bool npu_is_due(const npu_instr *flag, const int64_t *at, int depth) {
  bool due = true;
  for (int k = 0; k < flag->flag.n && due; k++) {
    const npu_when *w = &flag->flag.when[k];
    int64_t sum = 0;
    for (int d = 0; d < depth; d++)
      sum += w->step[d] * at[d];
    due = sum >= w->first && sum <= w->last;
  }
  return due;
}

int npu_path_of(const npu_machine *m, int from, int to) {
  for (int i = 0; i < m->n_paths; i++)
    if (m->path[i].from == from && m->path[i].to == to) return i;
  return -1;
}

int64_t npu_count(const npu_instr *i) {
  int64_t n = 1;
  for (int k = 0; k < i->n_dims; k++)
    n *= i->dim[k].count;
  return n;
}

static double mad_cycles(const npu_cube *c, const npu_instr *i) {
  const double left = (double)tf_ceil_div(i->mad.m, c->m) * (double)tf_ceil_div(i->mad.k, c->k);
  const double columns = (double)tf_ceil_div(i->mad.n, c->n) * c->cycles;
  return c->latency + left * (columns > c->fill ? columns : c->fill);
}

double npu_cycles_of(const npu_machine *m, const npu_instr *i) {
  if (i->op == NPU_MAD) return mad_cycles(&m->cube, i);
  if (i->op == NPU_COPY || i->op == NPU_LOAD) {
    const npu_path *p = &m->path[i->via];
    return p->latency + (p->words > 0 ? (double)npu_count(i) / p->words : 0);
  }
  if (npu_is_vector(i->op))
    return m->vector.latency + (double)tf_ceil_div(npu_count(i), m->vector.lanes);
  return 0;
}
