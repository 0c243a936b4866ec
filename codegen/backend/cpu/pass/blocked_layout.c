/* Blocked layouts of intermediates between products with lanes along channels: channels innermost,
 * in blocks as wide as the producer's panels. Tiles are then stored without transposition, and
 * readers broadcast elements from any address anyhow. */
#include "codegen/backend/cpu/pass/pass.h"

typedef struct {
  const lowering *w;
  int buffer, tensor;
  int64_t block; /* 0: not produced yet */
  int rank;
  bool ok;
} blocks;

/* Whether a range of channels always begins with a block. */
static bool begins_block(const ir_range *r, int64_t block) {
  return r->lo.var < 0 ? r->lo.off % block == 0 : r->exact && r->most % block == 0;
}

static void makes(blocks *b, const ir_stmt *s) {
  const cpu_product *p = cpu_of(s)->product;
  b->ok &= p && p->kind == CPU_CHANNELS &&
           (!b->block || (b->block == p->channels.panel && b->rank == p->n)) &&
           begins_block(&s->range[p->n], p->channels.panel);
  if (!b->ok) return;
  b->block = p->channels.panel;
  b->rank = p->n;
}

/* Requires that elements are read in place, and that blocks run along one reduced dim. Producers
 * are visited before their readers. */
static void reads(blocks *b, const ir_stmt *s, int read) {
  const tf_op *op = &b->w->plan->wl->ops[s->op];
  const cpu_product *p = cpu_of(s)->product;
  const tf_index *ix = &op->reads[read].index[b->rank];
  b->ok &= b->block && p && p->kind == CPU_CHANNELS && read == p->a && !p->slab &&
           ix->n_terms == 1 && ix->terms[0].coef == 1 && ix->c == 0;
  if (!b->ok) return;
  int k = op->n_out_dims;
  while (k < op->n_dims && op->dims[k] != ix->terms[0].dim)
    k++;
  b->ok = k < op->n_dims && begins_block(&s->range[k], b->block);
  for (int r = 0; r < b->w->p->buffers[b->buffer].rank; r++)
    b->ok &= r == b->rank ||
             !lower_reads_dim(&(tf_ref){.index = &op->reads[read].index[r]}, 1, ix->terms[0].dim);
}

static void touches(blocks *b, const ir_stmt *s) {
  const tf_op *op = &b->w->plan->wl->ops[s->op];
  if (s->kind == IR_NEST && op->out == b->tensor) makes(b, s);
  for (int i = 0; s->kind == IR_NEST && i < op->n_reads; i++)
    if (op->reads[i].tensor == b->tensor) reads(b, s, i);
  if (s->kind != IR_NEST) b->ok &= op->out != b->tensor && !ir_names(s, b->buffer);
}

static void find(blocks *b, const ir_body *body) {
  for (int i = 0; i < body->n; i++) {
    const ir_stmt *s = body->s[i];
    if (ir_facts_of(s)->points)
      touches(b, s);
    else if (ir_facts_of(s)->body)
      find(b, &s->body);
    else
      b->ok &= !ir_names(s, b->buffer) && (s->kind != IR_FORGET || s->forget.tensor != b->tensor);
  }
}

static bool stands_alone(const ir_program *p, int buffer) {
  const ir_buffer *b = &p->buffers[buffer];
  bool alone = (b->role == IR_BOX || b->role == IR_LASTING) && b->type == IR_F32 && b->shares < 0;
  for (int i = 0; i < p->n_buffers; i++)
    alone &= p->buffers[i].shares != buffer;
  return alone;
}

/* Tensors larger than the close memory keep rows: a block brings a new line for each element of a
 * tile at once. */
void lower_block_channels(lowering *w) {
  for (int i = 0; i < w->p->n_buffers && w->p->machine.lanes; i++) {
    ir_buffer *b = &w->p->buffers[i];
    blocks at = {.w = w, .buffer = i, .tensor = b->tensor, .ok = true};
    if (!stands_alone(w->p, i) || w->p->buffer_of[b->tensor] != i) continue;
    find(&at, &w->p->body);
    if (!at.ok || !at.block || b->base[at.rank].var >= 0 || b->base[at.rank].off) continue;
    const int64_t channels = b->extent[at.rank],
                  words = b->words / channels * ((channels + at.block - 1) / at.block * at.block);
    if (words > lower_close_words(w->plan->arch)) continue;
    b->block.length = at.block;
    b->block.rank = at.rank;
    b->words = words;
  }
}
