/* Pads the row pitch of sums that tiles of several rows store, so that rows do not fall into few
 * sets of a cache. Tiles of AMX, which store many rows, need it for rows an even number of cache
 * lines apart; register tiles, which store a few lines of a row at a time, for rows whole pages
 * apart. The padding is one cache line after each row. */
#include "codegen/backend/cpu/pass/pass.h"

enum { TILE_LINES = 4 };

/* The buffer whose memory it uses. */
static int memory_of(const ir_program *p, int buffer) {
  return p->buffers[buffer].shares >= 0 ? p->buffers[buffer].shares : buffer;
}

/* Buffers that share memory have one box (lower_share), and so get the same pitch. */
static void pad_rows(lowering *w, int place) {
  for (int i = 0; i < w->p->n_buffers; i++) {
    ir_buffer *b = &w->p->buffers[i];
    if (b->tensor < 0 || memory_of(w->p, i) != place) continue;
    b->gap = lower_line_bytes(w->plan->arch) / ir_bytes(b->type);
    b->words = b->words / b->extent[b->rank - 1] * (b->extent[b->rank - 1] + b->gap);
  }
}

/* Whether a product merges rows of the buffer at that place (lower_merge_rows), which then must
 * have no gap. */
static bool is_merged(const lowering *w, const ir_body *body, int place) {
  bool is = false;
  for (int i = 0; i < body->n && !is; i++) {
    const ir_stmt *s = body->s[i];
    const cpu_product *p = cpu_product_of(s);
    if (p && p->kind == CPU_PAIRS && p->pairs.merged) {
      const tf_op *op = &w->plan->wl->ops[s->op];
      is = memory_of(w->p, w->p->buffer_of[op->out]) == place ||
           memory_of(w->p, w->p->buffer_of[op->reads[p->b].tensor]) == place;
    }
    is = is || is_merged(w, &s->body, place);
  }
  return is;
}

/* The distance in bytes whose multiples map rows to the same cache sets. */
static int64_t same_sets(const tf_arch *a, const cpu_product *p) {
  if (p->kernel->m_round > 1) return 2 * lower_line_bytes(a);
  return a->core.page >= 1 ? (int64_t)a->core.page : 1;
}

static void pad_product(lowering *w, const ir_stmt *s) {
  const cpu_product *p = cpu_product_of(s);
  if (!p || cpu_of(s)->rounded_for || cpu_of(s)->map) return;
  const int place = memory_of(w->p, w->p->buffer_of[w->plan->wl->ops[s->op].out]);
  const ir_buffer *b = &w->p->buffers[place];
  if (b->role != IR_BOX || b->tensor < 0 || b->rank < 2 || b->gap || b->block.length) return;
  const int64_t bytes = b->extent[b->rank - 1] * ir_bytes(b->type),
                line = lower_line_bytes(w->plan->arch);
  if (bytes > TILE_LINES * line && bytes % same_sets(w->plan->arch, p) == 0 &&
      !is_merged(w, &w->p->body, place))
    pad_rows(w, place);
}

static void walk(lowering *w, const ir_body *body) {
  for (int i = 0; i < body->n; i++) {
    pad_product(w, body->s[i]);
    walk(w, &body->s[i]->body);
  }
}

void lower_pad_pitch(lowering *w) { walk(w, &w->p->body); }
