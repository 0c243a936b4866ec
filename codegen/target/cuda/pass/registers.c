/* Registers that ptxas will give a thread of a part, before it says so. */
#include "codegen/target/cuda/pass/pass.h"

/* What a part of the program has in a lane's registers. */
typedef struct {
  bool *seen;        /* [buffers] counted */
  double sums;       /* of products in fragments */
  bool pieces, rows; /* a sum in pieces, whose tiles are on their way; work on rows beside products */
  bool guarded;      /* some warps have no rows: all work stands under that question */
} held;

static void find_held(const ir_program *p, const ir_body *body, bool region, held *h) {
  for (int i = 0; i < body->n; i++) {
    const ir_stmt *s = body->s[i];
    if (s->kind == IR_NEST && s->nest.fragments) {
      const int z = p->buffer_of[p->tree->workload->ops[s->op].out];
      const ir_buffer *b = &p->buffers[z];
      if (!h->seen[z]) h->sums += (double)(b->extent[b->rows] * b->extent[b->columns]) / CU_LANES;
      h->seen[z] = true;
      h->pieces |= s->nest.n_fresh > 0;
    } else {
      h->rows |= region && ir_facts_of(s)->points && s->kind != IR_SAVE;
    }
    h->guarded |= s->kind == IR_IF && s->guard.steps > 0;
    find_held(p, &s->body, region || (s->kind == IR_FOR && cu_is_region(p, s)), h);
  }
}

/* Fitted to what ptxas 13.0 says for sm_80 of the thesis's chains and attention, the layers of workloads/models, and
 * products of 128 x 128, all in bfloat16 (docs/HOWTO-emit.md): within 10 % of most. */
double cu_registers(const ir_program *p, const ir_stmt *part) {
  enum { ALWAYS = 30, PIECES = 30, ROWS = 18, GUARD = 20 };
  static const double each = 1.7;
  held h = {.seen = TF_ARRAY(p->arena, bool, (size_t)p->n_buffers + 1)};
  if (!h.seen) return ALWAYS;
  find_held(p, &part->body, false, &h);
  return ALWAYS + (h.rows ? ROWS : h.pieces ? PIECES : 0) + (h.guarded ? GUARD : 0) + each * h.sums;
}
