/* Registers that ptxas will give a thread of a part, before it says so. */
#include "codegen/target/cuda/pass/pass.h"

/* What a part of the program has in a lane's registers. */
typedef struct {
  const ir_program *p;
  bool *seen;         /* [buffers] counted */
  double sums;        /* of products in fragments */
  double operands;    /* most fragments that one product has as its rows */
  bool products;      /* there are products in fragments ... */
  bool elements;      /* ... which read an operand an element at a time */
  int points, copies; /* sums that threads have by themselves; copies to shared memory */
  int lets;           /* values of the loops */
} held;

/* Numbers of a lane; of fragments whose lower halves no row has, half of these. */
static double numbers(const ir_stmt *s, const ir_buffer *b) {
  const int m = s->nest.fragments->m;
  const double all = (double)(b->extent[b->rows] * b->extent[b->columns]) / CU_LANES;
  return s->range[m].most <= CU_FRAGMENT_SIDE / 2 ? all * 0.75 : all;
}

static void hold_product(held *h, const ir_stmt *s) {
  const ir_fragments *f = s->nest.fragments;
  const tf_op *op = &h->p->tree->workload->ops[s->op];
  const cu_mma *mma = cu_mma_of(h->p);
  const int z = h->p->buffer_of[op->out];
  if (!h->seen[z]) h->sums += numbers(s, &h->p->buffers[z]);
  h->seen[z] = h->products = true;
  for (int i = 0; i < 2; i++) {
    const int read = i ? f->b : f->a;
    const ir_buffer *from = &h->p->buffers[s->nest.from[read]];
    const double in = from->space == CU_FRAGMENT ? numbers(s, from) : 0;
    if (in > h->operands) h->operands = in;
    if (in > 0 || !from->matrix || from->role != IR_COPIED) continue;
    h->elements |= mma && !mma->turns && op->reads[read].index[from->columns].terms[0].dim != op->dims[f->k];
  }
}

static void hold(held *h, const ir_body *body, bool region) {
  for (int i = 0; i < body->n; i++) {
    const ir_stmt *s = body->s[i];
    if (s->kind == IR_NEST && s->nest.fragments) hold_product(h, s);
    h->points +=
        !region && s->kind == IR_NEST && !s->nest.fragments && h->p->tree->workload->ops[s->op].reduce != TF_ASSIGN;
    h->copies += s->kind == IR_COPY;
    h->lets += s->kind == IR_LET;
    hold(h, &s->body, region || (s->kind == IR_FOR && cu_is_region(h->p, s)));
  }
}

/* Fitted to what ptxas 13.0 says for sm_80 of the thesis's chains and attention and the layers of workloads/models, in
 * four types (docs/HOWTO-emit.md says how near it comes). */
double cu_registers(const ir_program *p, const ir_stmt *part) {
  static const double few = 16, each_let = 1.5, some = 60, each_copy = 12, fragments = 62, each_sum = 1.65,
                      each_operand = 0.7, wide = 20, elements = 25;
  held h = {.p = p, .seen = TF_ARRAY(p->arena, bool, (size_t)p->n_buffers + 1)};
  const cu_mma *mma = cu_mma_of(p);
  if (!h.seen) return some;
  hold(&h, &(ir_body){.n = 1, .s = (ir_stmt *[]){(ir_stmt *)part}}, false);
  const double by_threads = h.points ? each_copy * h.copies : 0;
  if (!h.products) return h.points && h.copies ? some + by_threads : few + each_let * h.lets;
  const bool is_half = mma && ir_is_half(p->machine.data);
  return fragments + each_sum * h.sums + each_operand * h.operands + by_threads + (is_half ? 0 : wide) +
         (h.elements ? elements : 0);
}
