/* Checks that what the CPU's passes note can be printed: a product's dims move the operands that
 * they have to, and scratch has room for what is packed. */
#include "codegen/ir/check.h"
#include "codegen/backend/cpu/note/note.h"

static bool moves(const tf_workload *wl, const tf_ref *ref, int dim) {
  bool any = false;
  for (int r = 0; r < wl->tensors[ref->tensor].rank; r++)
    for (int t = 0; t < ref->index[r].n_terms; t++)
      any |= ref->index[r].terms[t].dim == dim;
  return any;
}

static bool scratch(ir_checker *c, int b, const char *what, int64_t words) {
  if (!ir_must(c, ir_is_of(c, b, -1), "product: its %s is no scratch", what)) return false;
  return ir_must(c, c->p->buffers[b].words >= words,
                 "product: %lld words of %s do not hold its box of %lld",
                 (long long)c->p->buffers[b].words, what, (long long)words);
}

/* The most words of the read that the nest touches, padding included. */
static int64_t box_of(const ir_checker *c, const ir_stmt *s, int read) {
  const tf_ref *ref = &c->wl->ops[s->op].reads[read];
  int64_t words = 1;
  for (int k = 0; k < c->wl->ops[s->op].n_dims; k++)
    if (moves(c->wl, ref, c->wl->ops[s->op].dims[k])) words *= s->range[k].most;
  return words;
}

static void slab(ir_checker *c, const ir_stmt *s, int read) {
  const int rank = c->wl->tensors[c->wl->ops[s->op].reads[read].tensor].rank;
  int64_t words = 1;
  ir_must_be_ranges(c, "slab", cpu_of(s)->product->slab, rank);
  for (int r = 0; c->ok && r < rank; r++)
    words *= cpu_slab_extent(cpu_of(s)->product, r);
  scratch(c, cpu_of(s)->product->pack, "slab", words);
}

/* The product's dims, and which operands each of them moves. */
static bool check_sides(ir_checker *c, const ir_stmt *s) {
  const cpu_product *p = cpu_of(s)->product;
  const tf_op *op = &c->wl->ops[s->op];
  ir_must(c, p->kernel != NULL, "product: no kernel");
  ir_must(c, op->n_reads == 2 && p->a >= 0 && p->b >= 0 && p->a + p->b == 1,
          "product: its operands are not two");
  const bool one_row = p->m < 0 && p->kind == CPU_SKINNY;
  ir_must(c,
          (p->m >= 0 || one_row) && p->m < op->n_out_dims && p->n >= 0 && p->n < op->n_out_dims &&
              p->m != p->n,
          "product: rows and lanes are not dims of its output");
  ir_must(c, p->k >= op->n_out_dims && p->k < op->n_dims, "product: no dim is summed");
  if (!c->ok) return false;
  const tf_ref *a = &op->reads[p->a], *b = &op->reads[p->b];
  ir_must(c, one_row || (moves(c->wl, a, op->dims[p->m]) && !moves(c->wl, b, op->dims[p->m])),
          "product: its rows are not of a alone");
  ir_must(c, moves(c->wl, b, op->dims[p->n]) && !moves(c->wl, a, op->dims[p->n]),
          "product: its lanes are not of b alone");
  ir_must(c, moves(c->wl, a, op->dims[p->k]) && moves(c->wl, b, op->dims[p->k]),
          "product: its sum is not over both operands");
  const ir_range *n = &s->range[p->n], *m = one_row ? n : &s->range[p->m];
  return ir_must(
      c, (one_row || m->exact || m->other) && (p->kind != CPU_PAIRS || n->exact || n->other),
      "product: the length of a side is unknown");
}

/* Rows that are merged into one follow each other without a gap. */
static void check_merged(ir_checker *c, const ir_stmt *s) {
  const tf_op *op = &c->wl->ops[s->op];
  const int out = c->p->buffer_of[op->out],
            b = c->p->buffer_of[op->reads[cpu_of(s)->product->b].tensor];
  ir_must(c, !c->p->buffers[out].gap && !c->p->buffers[b].gap,
          "product: rows as one, with gaps between them");
}

/* The pack has a slot for each of the boxes that `slots_along` counts. */
static void check_slots(ir_checker *c, const ir_stmt *s) {
  const cpu_product *p = cpu_of(s)->product;
  int64_t all = 1;
  for (int k = 0; k < c->wl->ops[s->op].n_dims; k++)
    all *= p->pairs.slots_along[k];
  ir_must(c, all == c->p->buffers[p->pack].slots,
          "product: %lld places for %lld boxes of its panel",
          (long long)c->p->buffers[p->pack].slots, (long long)all);
}

/* Parts of k begin where nests do and consist of whole blocks; the buffer `part_buffer` holds one
 * part for the columns of a tile. */
static void check_sparse(ir_checker *c, const ir_stmt *s) {
  const cpu_product *p = cpu_of(s)->product;
  const ir_range *k = &s->range[p->k];
  ir_must(c,
          p->sparse.nonzeros > 0 && p->sparse.nonzeros <= p->sparse.block_length &&
              p->sparse.block_length <= UINT8_MAX + 1,
          "product: %d of every %d elements", p->sparse.nonzeros, p->sparse.block_length);
  if (!c->ok) return;
  ir_must(c,
          p->sparse.deep > 0 && p->sparse.deep % p->sparse.block_length == 0 &&
              p->sparse.row_values == p->sparse.deep / p->sparse.block_length * p->sparse.nonzeros,
          "product: parts of %lld hold %lld values", (long long)p->sparse.deep,
          (long long)p->sparse.row_values);
  ir_must(c, (k->lo.var < 0 && k->lo.off == 0) || (k->exact && k->most % p->sparse.deep == 0),
          "product: parts of %lld begin in the middle of a nest's", (long long)p->sparse.deep);
  const ir_range *m = &s->range[p->m];
  ir_must(c, !p->sparse.block || (m->exact && m->most % p->sparse.block == 0),
          "product: blocks of %d rows are cut in the middle", p->sparse.block);
  scratch(c, p->sparse.panels, "panels", cpu_sparse_words(p));
  scratch(c, p->sparse.part_buffer, "room",
          p->sparse.deep * p->sparse.across * c->p->machine.lanes);
}

static void check_product(ir_checker *c, const ir_stmt *s) {
  const cpu_product *p = cpu_of(s)->product;
  if (!check_sides(c, s)) return;
  const int64_t m = p->m < 0 ? 1 : s->range[p->m].most, n = s->range[p->n].most,
                k = s->range[p->k].most;
  if (p->slab)
    slab(c, s, cpu_slab_of(p));
  else if (p->kind == CPU_PAIRS && p->pack >= 0)
    scratch(c, p->pack, "panel",
            p->pairs.steps ? 2 * p->pairs.steps * p->kernel->group * p->pairs.pitch : n * k);
  if (c->ok && p->kind == CPU_PAIRS && p->pack >= 0 && p->pairs.slots_along) check_slots(c, s);
  if (!c->ok) return;
  switch (p->kind) {
  case CPU_PAIRS:
    if (p->pairs.transposed >= 0)
      scratch(c, p->pairs.transposed, "transposed operand", box_of(c, s, p->a));
    if (p->pairs.copy >= 0) scratch(c, p->pairs.copy, "rows", m * k);
    if (p->pairs.merged) check_merged(c, s);
    break;
  case CPU_SKINNY:
    ir_must(c, p->pack < 0 && !p->slab, "product: of few rows, with b laid out anew");
    break;
  case CPU_CHANNELS:
    ir_must(c,
            p->channels.panel > 0 && p->channels.last > 0 && p->channels.last <= p->channels.panel,
            "product: panels of %d, the last of %d", p->channels.panel, p->channels.last);
    scratch(c, p->channels.panels, "panels", box_of(c, s, p->b));
    scratch(c, p->channels.offsets, "places", k);
    break;
  case CPU_SPARSE: check_sparse(c, s); break;
  }
}

static void nest(ir_checker *c, const ir_stmt *s) {
  const tf_op *op = &c->wl->ops[s->op];
  if (c->ok && cpu_of(s)->product) check_product(c, s);
  for (int i = 0; c->ok && i < cpu_of(s)->n_prefetches; i++)
    ir_must(c,
            cpu_of(s)->prefetches[i].nest && cpu_of(s)->prefetches[i].nest->kind == IR_NEST &&
                cpu_of(s)->prefetches[i].shift,
            "nest %s: prefetches for no nest", op->name);
  const ir_stmt *next = cpu_of(s)->rounded_for, *rows = cpu_of(s)->producer;
  ir_must(c,
          !next || (next->kind == IR_NEST ? cpu_of(next)->copied
                                          : next->kind == IR_SAVE && cpu_of(next)->fused),
          "nest %s: what it rounds is done again", op->name);
  const ir_stmt *map = cpu_of(s)->map;
  ir_must(c, !map || (map->kind == IR_NEST && cpu_of(map)->fused && cpu_of(map)->map_of),
          "nest %s: what its tiles make of its sums is made again", op->name);
  ir_must(c, !rows || (rows->kind == IR_TOGETHER && cpu_of(rows)->overlapped),
          "nest %s: its rows are not made ahead", op->name);
}

static void together(ir_checker *c, const ir_stmt *s) {
  for (int i = 0; i < s->body.n; i++)
    ir_must(c, !cpu_product_of(s->body.s[i]), "together: %s within",
            ir_facts_of(s->body.s[i])->name);
}

void cpu_check(ir_checker *c, const ir_stmt *s) {
  if (s->kind == IR_NEST) nest(c, s);
  if (s->kind == IR_TOGETHER) together(c, s);
}

void cpu_check_packs(ir_checker *c) {
  for (int i = 0; c->ok && i < c->p->n_notes; i++) {
    const cpu_pack *k = cpu_pack_at(c->p, i);
    ir_must(c,
            k->op >= 0 && k->op < c->wl->n_ops && k->product &&
                ir_is_of(c, cpu_panels_of(k->product), -1),
            "panels of no product");
  }
}
