/* Row pitch of sums to which tiles of several rows are stored: rows an even number of cache lines apart fall into few
 * sets of a cache (measured with 512 float32 a row: a third of the whole product's time on Sapphire Rapids).  An
 * additional line between rows avoids that. */
#include "codegen/target/cpu/pass/pass.h"

enum { TILE_LINES = 4 };

/* The buffer whose memory it uses. */
static int root(const ir_program *p, int buffer) {
  return p->buffers[buffer].shares >= 0 ? p->buffers[buffer].shares : buffer;
}

/* Buffers in one memory have one box (low_share), and keep one layout. */
static void space_out(lowering *w, int place) {
  for (int i = 0; i < w->p->n_buffers; i++) {
    ir_buffer *b = &w->p->buffers[i];
    if (b->tensor < 0 || root(w->p, i) != place) continue;
    b->gap = low_line_bytes(w->plan->arch) / ir_bytes(b->type);
    b->words = b->words / b->extent[b->rank - 1] * (b->extent[b->rank - 1] + b->gap);
  }
}

static void product(lowering *w, const ir_stmt *s) {
  const ir_product *p = ir_product_of(s);
  if (!p || s->nest.rounds_for) return;
  const int place = root(w->p, w->p->buffer_of[w->plan->wl->ops[s->op].out]);
  const ir_buffer *b = &w->p->buffers[place];
  if (b->role != IR_BOX || b->tensor < 0 || b->rank < 2 || b->gap || b->block.by) return;
  const int64_t bytes = b->extent[b->rank - 1] * ir_bytes(b->type), line = low_line_bytes(w->plan->arch);
  /* tiles in registers store a row of a few lines at a time: pages apart, all of them fall into the same sets */
  const int64_t apart = p->kernel->m_round > 1 ? 2 * line : (int64_t)w->plan->arch->core.page;
  if (bytes > TILE_LINES * line && bytes % apart == 0) space_out(w, place);
}

static void walk(lowering *w, const ir_body *body) {
  for (int i = 0; i < body->n; i++) {
    product(w, body->s[i]);
    walk(w, &body->s[i]->body);
  }
}

void low_space_rows(lowering *w) { walk(w, &w->p->body); }
