/* Text of what is noted of a statement, for dumps of programs. */
#include <inttypes.h>

#include "codegen/backend/cpu/note/note.h"
#include "tileflow/tree.h"

typedef struct {
  FILE *out;
  const ir_program *p;
  const tf_workload *wl;
} dump;

static const char *dim(const dump *d, const tf_op *op, int k) {
  return d->wl->dims[op->dims[k]].name;
}

static const char *read_name(const dump *d, const tf_op *op, int read) {
  return d->wl->tensors[op->reads[read].tensor].name;
}

static bool pads(const dump *d, const tf_op *op, int read) {
  const tf_tensor *z = &d->wl->tensors[op->reads[read].tensor];
  bool any = false;
  for (int r = 0; r < z->rank; r++)
    any |= z->pad[r] > 0;
  return any;
}

static const char *const prefetched_next[] = {
    [CPU_NEXT_NONE] = "",
    [CPU_NEXT_SAME] = " (prefetches its next)",
    [CPU_NEXT_LANES] = " (prefetches the next, then along lanes)",
    [CPU_NEXT_SUMS] = " (prefetches the next, then along the sum)"};

/* Prints rows, lanes and reduced dims, and the panels of channels. */
static void sides(const dump *d, const tf_op *op, const cpu_product *p) {
  const bool channels = p->kind == CPU_CHANNELS, joined = channels && p->channels.joined;
  if (p->m < 0)
    fputs("product: one row", d->out);
  else
    fprintf(d->out, "product: rows along %s%s%s", joined ? dim(d, op, p->m - 1) : "",
            joined ? " and " : "", dim(d, op, p->m));
  fprintf(d->out, ", lanes along %s, sums over %s", dim(d, op, p->n), dim(d, op, p->k));
  if (!channels) return;
  for (int k = op->n_out_dims + 1; k < op->n_dims; k++)
    fprintf(d->out, " %s", dim(d, op, k));
  fprintf(d->out, ", %s in panels of %d", read_name(d, op, p->b), p->channels.panel);
  if (p->channels.last != p->channels.panel) fprintf(d->out, ", the last of %d", p->channels.last);
  fputs(prefetched_next[p->channels.next], d->out);
}

static void slab(const dump *d, const tf_op *op, const cpu_product *p) {
  const int read = cpu_slab_of(p);
  fprintf(d->out, ", %s copied%s%s", read_name(d, op, read),
          pads(d, op, read) ? " with its borders" : "",
          p->keep_slab ? " until its box changes" : "");
  for (int r = 0; p->keep_slab && r < d->wl->tensors[op->reads[read].tensor].rank; r++)
    fprintf(d->out, "%s%" PRId64, r ? " x " : ", ", cpu_slab_extent(p, r));
}

/* Prints the product's dims, then its packed operands and their layout. */
static void dump_product(const dump *d, const ir_stmt *s) {
  const cpu_product *p = cpu_of(s)->product;
  const tf_op *op = &d->wl->ops[s->op];
  sides(d, op, p);
  if (p->slab) slab(d, op, p);
  if (p->kind == CPU_SKINNY)
    fprintf(d->out, "%s, %s where it stands", p->m < 0 ? "" : ", few rows", read_name(d, op, p->b));
  if (p->kind == CPU_PAIRS) {
    if (!p->slab && p->pack >= 0 && p->pairs.slots_along)
      fprintf(d->out, ", %s packed once in each of %" PRId64 " boxes", read_name(d, op, p->b),
              d->p->buffers[p->pack].slots);
    else if (p->pairs.steps)
      fprintf(d->out, ", %s passing by in panels of %" PRId64 " x %" PRId64, read_name(d, op, p->b),
              p->pairs.pitch, p->pairs.steps * p->kernel->group);
    else if (!p->slab && p->pack >= 0)
      fprintf(d->out, ", %s packed%s", read_name(d, op, p->b),
              p->pairs.keep_pack ? " until its box changes" : "");
    if (p->pairs.transposed >= 0) fprintf(d->out, ", %s transposed once", read_name(d, op, p->a));
    if (p->pairs.copy >= 0 && !cpu_of(s)->copied) {
      fprintf(d->out, ", rows of %s copied", read_name(d, op, p->a));
      if (p->pairs.copy_in)
        fprintf(d->out, " once for all of %s", d->p->var_name[p->pairs.copy_in->loop.var]);
    }
    if (p->pairs.merged) fputs(", its rows as one", d->out);
  }
  if (p->kind == CPU_SPARSE && p->sparse.block)
    fprintf(d->out, ", blocks of %d x %d of %s packed, in parts of %" PRId64, p->sparse.block,
            p->sparse.block_length, read_name(d, op, p->a), p->sparse.deep);
  else if (p->kind == CPU_SPARSE)
    fprintf(d->out, ", %d of every %d of %s packed, in parts of %" PRId64, p->sparse.nonzeros,
            p->sparse.block_length, read_name(d, op, p->a), p->sparse.deep);
  if (cpu_of(s)->rounded_for) fputs(", sums leave it rounded", d->out);
  if (cpu_of(s)->map) fprintf(d->out, ", sums leave it as %s", d->wl->ops[cpu_of(s)->map->op].name);
}

/* Prints its prefetches; "next" for those of a later iteration. */
static void prefetches(const dump *d, const ir_stmt *s) {
  for (int i = 0; i < cpu_of(s)->n_prefetches; i++) {
    const cpu_prefetch *a = &cpu_of(s)->prefetches[i];
    const tf_op *op = &d->wl->ops[a->nest->op];
    bool next = false;
    for (int k = 0; k < op->n_dims; k++)
      next |= a->shift[k] != 0;
    fprintf(d->out, "%s%s%s of %s", i ? ", " : ", prefetches ", next ? "the next " : "",
            a->read < 0 ? d->wl->tensors[op->out].name : read_name(d, op, a->read), op->name);
  }
}

static void nest(const dump *d, const ir_stmt *s, int in) {
  const cpu_note *n = cpu_of(s);
  if (n->product) fprintf(d->out, "\n%*s", in, ""), dump_product(d, s), prefetches(d, s);
  if (n->window) fprintf(d->out, ", a window of %d", n->window->taps), prefetches(d, s);
  if (n->fused) fputs(n->map_of ? ", by the product before" : ", by the window before", d->out);
}

void cpu_dump(FILE *out, const ir_program *p, const ir_stmt *s, int in) {
  const dump d = {out, p, p->tree->workload};
  if (s->kind == IR_NEST) nest(&d, s, in);
  if (s->kind == IR_TOGETHER && cpu_of(s)->overlapped)
    fputs(", a tile of rows ahead of the product behind", out);
  if (s->kind == IR_SAVE && cpu_of(s)->fused) fputs(", as it leaves the product", out);
}
