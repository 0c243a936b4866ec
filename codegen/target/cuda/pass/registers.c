/* Registers that ptxas will give a thread of a part, before it says so. */
#include "codegen/target/cuda/pass/pass.h"

/* What a part of the program has in a lane's registers. */
typedef struct {
  const ir_program *p;
  bool *seen;                  /* [buffers] counted */
  bool products;               /* there are products in fragments */
  double sums;                 /* of these */
  double sides;                /* fragments of sixteen rows that one of them has */
  double exponentials;         /* that a lane has of a region */
  int read, counted;           /* what maps of a region read from memory; coordinates that they compute with */
  int points;                  /* sums that threads have by themselves */
  int copies, lets;            /* copies to shared memory; values of the loops */
  double arguments, distances; /* arrays of the caller that it touches, and steps of their ranks */
} held;

/* Numbers of a lane; of fragments whose lower halves no row has, half of these. */
static double numbers(const ir_stmt *s, const ir_buffer *b) {
  const int m = s->nest.fragments->m;
  const double all = (double)(b->extent[b->rows] * b->extent[b->columns]) / CU_LANES;
  return s->range[m].most <= CU_FRAGMENT_SIDE / 2 ? all * 0.75 : all;
}

static void hold_product(held *h, const ir_stmt *s) {
  const int z = h->p->buffer_of[h->p->tree->workload->ops[s->op].out];
  const ir_buffer *out = &h->p->buffers[z];
  const double sides = (double)out->extent[out->rows] / CU_FRAGMENT_SIDE;
  if (!h->seen[z]) h->sums += numbers(s, out);
  if (sides > h->sides) h->sides = sides;
  h->seen[z] = h->products = true;
}

/* What a map of a region takes besides fragments: each of its points has its own. */
static void hold_map(held *h, const ir_stmt *s) {
  const tf_op *op = &h->p->tree->workload->ops[s->op];
  const ir_buffer *out = &h->p->buffers[h->p->buffer_of[op->out]];
  if (op->kinds >> TF_K_EXP & 1 && out->space == CU_FRAGMENT && out->columns >= 0)
    h->exponentials += (double)(out->extent[out->rows] * out->extent[out->columns]) / CU_LANES;
  for (int i = 0; i < op->n_expr; i++)
    h->counted += op->expr[i].what == TF_X_DIM;
  for (int i = 0; i < op->n_reads; i++)
    h->read +=
        h->p->buffers[s->nest.from ? s->nest.from[i] : h->p->buffer_of[op->reads[i].tensor]].space != CU_FRAGMENT;
}

static void hold(held *h, const ir_body *body, bool region) {
  for (int i = 0; i < body->n; i++) {
    const ir_stmt *s = body->s[i];
    const bool nest = s->kind == IR_NEST, product = nest && s->nest.fragments;
    if (product) hold_product(h, s);
    if (region && nest && !product) hold_map(h, s);
    h->points += !region && nest && !product && h->p->tree->workload->ops[s->op].reduce != TF_ASSIGN;
    h->copies += s->kind == IR_COPY;
    h->lets += s->kind == IR_LET;
    hold(h, &s->body, region || (s->kind == IR_FOR && cu_is_region(h->p, s)));
  }
}

static void hold_arguments(held *h, const ir_stmt *part) {
  for (int i = 0; i < h->p->n_buffers; i++) {
    const ir_buffer *b = &h->p->buffers[i];
    if (b->role != IR_ARGUMENT || !cu_touches(h->p, &(ir_stmt *){(ir_stmt *)part}, 1, i)) continue;
    h->arguments++, h->distances += b->rank - 1;
  }
}

/* Fitted to what ptxas 13.0 says for sm_80 of the thesis's chains and attention, the layers of workloads/models and
 * random workloads, in five types (docs/HOWTO-emit.md says how near it comes).  Sums stand beside the columns that they
 * are multiplied by; tf32's are rounded where they are multiplied, and so are exponentials. */
double cu_registers(const ir_program *p, const ir_stmt *part) {
  static const double few = 5.5, each_argument = 14, some_lets = 0.45, own = 42, each_copy = 10, each_distance = 4,
                      fragments = 19.5, each_sum = 1.43, each_rounded = 0.45, each_exponential = 1, each_side = 12,
                      each_let = 1.1, each_read = 16, each_counted = 12;
  held h = {.p = p, .seen = TF_ARRAY(p->arena, bool, (size_t)p->n_buffers + 1)};
  const cu_mma *mma = cu_mma_of(p);
  if (!h.seen) return own;
  hold(&h, &(ir_body){.n = 1, .s = (ir_stmt *[]){(ir_stmt *)part}}, false);
  hold_arguments(&h, part);
  if (h.products) {
    const double rounded =
        mma && mma->kernel.a == IR_F32 ? each_rounded * h.sums + each_exponential * h.exponentials : 0;
    const double maps = each_read * h.read + each_counted * (h.counted > 2 ? h.counted - 2 : 0);
    return fragments + each_sum * h.sums + each_side * h.sides + each_let * h.lets + rounded + maps;
  }
  if (h.points && h.copies) return own + each_copy * h.copies + each_distance * h.distances;
  return few + some_lets * h.lets + each_argument * h.arguments;
}
