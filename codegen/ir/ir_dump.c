/* The program as text. */
#include <inttypes.h>

#include "codegen/ir/ir.h"
#include "tileflow/tree.h"

typedef struct {
  FILE *out;
  const ir_program *p;
  const tf_workload *wl;
} dump;

static void atom(const dump *d, ir_atom a) {
  if (a.var < 0)
    fprintf(d->out, "%" PRId64, a.off);
  else if (a.off)
    fprintf(d->out, "%s%+" PRId64, d->p->var_name[a.var], a.off);
  else
    fputs(d->p->var_name[a.var], d->out);
}

static void expr(const dump *d, const ir_expr *e) {
  static const char *const name[] = {
      [IR_SUM] = "sum", [IR_MIN] = "min", [IR_MAX] = "max",  [IR_PICK] = "pick",
      [IR_MOD] = "mod", [IR_DIV] = "div", [IR_SEEN] = "seen"};
  fprintf(d->out, "%s(", name[e->fn]);
  for (int i = 0; i < e->n; i++) {
    if (i) fputs(", ", d->out);
    if (e->fn == IR_SEEN && i == 0) {
      fputs(d->p->buffers[e->arg[0].off].name, d->out);
      continue;
    }
    if (e->fn == IR_SUM && e->coef[i] != 1) fprintf(d->out, "%" PRId64 " * ", e->coef[i]);
    atom(d, e->arg[i]);
  }
  fputc(')', d->out);
}

static void range(const dump *d, const char *name, const ir_range *r) {
  fprintf(d->out, " %s[", name);
  atom(d, r->lo);
  fputs(" .. ", d->out);
  atom(d, r->hi);
  fprintf(d->out, "%s", r->exact ? "]" : ")");
}

/* At which rate a correction follows its maximum. */
static void rate(const dump *d, double r) {
  if (r != 1) fprintf(d->out, " at rate %g", r);
}

static void body(const dump *d, const ir_body *b, int depth);

/* Prints the range of each dim of an op. */
static void op_ranges(const dump *d, const ir_stmt *s) {
  const tf_op *op = &d->wl->ops[s->op];
  for (int k = 0; k < ir_n_ranges(d->p, s); k++)
    range(d, d->wl->dims[op->dims[k]].name, &s->range[k]);
  if (!s->stack) return;
  fprintf(d->out, " in %" PRId64 " rows of %" PRId64 " from ", s->stack->count,
          ir_stack_rows(s->stack));
  atom(d, s->stack->first);
}

static void stage(const dump *d, const ir_stmt *s) {
  const ir_buffer *b = &d->p->buffers[s->stage.buffer], *from = &d->p->buffers[s->stage.from];
  const ir_range *ahead = s->stage.ahead;
  fprintf(d->out, "stage %s in %s from %s", b->name, d->p->tree->arch->memories[b->level].name,
          d->p->tree->arch->memories[from->level].name);
  for (int r = 0; r < b->rank; r++)
    range(d, "", &s->range[r]);
  if (ahead) fputs(", begin", d->out);
  for (int r = 0; ahead && r < b->rank; r++)
    range(d, "", &ahead[r]);
  if (ahead) fputs(" unless ", d->out), atom(d, s->stage.last);
  fputc('\n', d->out);
}

static void dump_copy(const dump *d, const ir_stmt *s) {
  const ir_buffer *to = &d->p->buffers[s->copy.to], *from = &d->p->buffers[s->copy.from];
  const ir_space *spaces = d->p->platform->spaces;
  fprintf(d->out, "copy %s from %s to %s by %s", to->name, spaces[from->space].name,
          spaces[to->space].name, d->p->platform->queues[s->copy.queue]);
  for (int r = 0; r < to->rank; r++)
    range(d, "", &s->range[r]);
  if (to->slots > 1) fputs(" into tile ", d->out), atom(d, s->copy.slot);
  if (s->copy.parts > 1) fprintf(d->out, ", one of %" PRId64 " parts", s->copy.parts);
  fputs(s->copy.ends ? ", which ends the group\n" : "\n", d->out);
}

/* Prints what is left of the box, and the ranks in which it may be cut. */
static void dump_keep(const dump *d, const ir_stmt *s) {
  const tf_op *op = &d->wl->ops[s->op];
  fprintf(d->out, "keep %s", d->p->buffers[s->keep.buffer].name);
  op_ranges(d, s);
  fputs(" and leave", d->out);
  for (int r = 0; r < op->n_out_dims; r++)
    if (!ir_same(s->keep.missing[r].lo, s->range[r].lo))
      range(d, d->wl->dims[op->dims[r]].name, &s->keep.missing[r]);
  fputc('\n', d->out);
}

static void forget(const dump *d, const ir_stmt *s) {
  const int z = s->forget.tensor, b = s->forget.buffer;
  fprintf(d->out, "forget %s", d->wl->tensors[z].name);
  if (b >= 0) fprintf(d->out, " in %s", d->p->tree->arch->memories[d->p->buffers[b].level].name);
  if (s->forget.n_slots && d->p->buffers[d->p->buffer_of[z]].slots > 1)
    fprintf(d->out, " of %" PRId64 " from ", s->forget.n_slots), atom(d, s->forget.slot);
  fputc('\n', d->out);
}

/* Prints what the target's passes noted of the statement. */
static void noted(const dump *d, const ir_stmt *s, int depth) {
  const ir_notes *notes = d->p->platform->notes;
  if (s->note && notes && notes->dump) notes->dump(d->out, d->p, s, 2 * depth + 2);
}

static void nest(const dump *d, const ir_stmt *s, int depth) {
  const tf_op *op = &d->wl->ops[s->op];
  fprintf(d->out, "nest %s", op->name);
  op_ranges(d, s);
  if (op->reduce != TF_ASSIGN) fputs(s->nest.n_resets ? " afresh where 0 is" : " afresh", d->out);
  for (int i = 0; i < s->nest.n_resets; i++)
    fputc(' ', d->out), atom(d, s->nest.resets[i]);
  if (s->nest.finite) fputs(" from the lowest finite number", d->out);
  if (s->nest.divides >= 0) fputs(", not divided yet", d->out);
  noted(d, s, depth);
  fputc('\n', d->out);
}

static void carry(const dump *d, const ir_stmt *s) {
  fprintf(d->out, "carry %s", d->p->buffers[s->carry.to].name), op_ranges(d, s);
  if (s->carry.from >= 0)
    fprintf(d->out, " takes in %s%s", d->p->buffers[s->carry.from].name,
            s->carry.clears ? ", which starts anew" : "");
  else
    fputs(" starts", d->out);
  fputc('\n', d->out);
}

static void dump_merge(const dump *d, const ir_stmt *s) {
  fprintf(d->out, "merge %" PRId64 " of %s", s->merge.parts, d->p->buffers[s->merge.from].name),
      op_ranges(d, s);
  if (s->merge.after >= 0)
    fprintf(d->out, " by %s", d->p->buffers[s->merge.after].name), rate(d, s->merge.rate);
  if (s->merge.divisor >= 0)
    fprintf(d->out, ", divided by %s", d->p->buffers[s->merge.divisor].name);
  fputc('\n', d->out);
}

static void stmt(const dump *d, const ir_stmt *s, int depth) {
  fprintf(d->out, "%*s", 2 * depth, "");
  switch (s->kind) {
  case IR_LET:
    fprintf(d->out, "%s = ", d->p->var_name[s->let.var]), expr(d, &s->let.expr),
        fputc('\n', d->out);
    break;
  case IR_KEEP: dump_keep(d, s); break;
  case IR_STAGE: stage(d, s); break;
  case IR_FORGET: forget(d, s); break;
  case IR_COPY: dump_copy(d, s); break;
  case IR_WAIT:
    fprintf(d->out, "wait for %s until %d left\n", d->p->platform->queues[s->wait.queue],
            s->wait.left);
    break;
  case IR_BARRIER: fprintf(d->out, "barrier of %s\n", ir_map_of(s->barrier.map)->name); break;
  case IR_FOR:
    fprintf(d->out, "%s %s < %" PRId64 "%s%s\n", ir_map_of(s->loop.map)->name,
            d->p->var_name[s->loop.var], s->loop.trip, s->loop.note ? "  # " : "",
            s->loop.note ? s->loop.note : "");
    body(d, &s->body, depth + 1);
    break;
  case IR_IF:
    fputs("if any of", d->out);
    for (int i = 0; i < s->guard.n; i++)
      range(d, "", &s->guard.range[i]);
    fputc('\n', d->out);
    body(d, &s->body, depth + 1);
    break;
  case IR_TOGETHER:
    fprintf(d->out, "together over the first %d", s->together.n_common), noted(d, s, depth);
    fputc('\n', d->out);
    body(d, &s->body, depth + 1);
    break;
  case IR_NEST: nest(d, s, depth); break;
  case IR_SAVE:
    fprintf(d->out, "save %s", d->p->buffers[s->save.from].name), op_ranges(d, s);
    noted(d, s, depth);
    fputc('\n', d->out);
    break;
  case IR_CARRY: carry(d, s); break;
  case IR_CORRECT:
    fprintf(d->out, "correct %s", d->wl->ops[s->op].name), op_ranges(d, s);
    fprintf(d->out, " by %s", d->p->buffers[s->correct.after].name), rate(d, s->correct.rate);
    fputs(" unless 0 is ", d->out), atom(d, s->correct.resets);
    fputc('\n', d->out);
    break;
  case IR_DIVIDE:
    fprintf(d->out, "divide %s", d->wl->ops[s->op].name), op_ranges(d, s);
    fprintf(d->out, " by %s when ", d->p->buffers[s->divide.divisor].name), atom(d, s->divide.last);
    fprintf(d->out, " is %" PRId64 "\n", s->divide.end);
    break;
  case IR_MERGE: dump_merge(d, s); break;
  }
}

static void body(const dump *d, const ir_body *b, int depth) {
  for (int i = 0; i < b->n; i++)
    stmt(d, b->s[i], depth);
}

void ir_dump(FILE *out, const ir_program *p) {
  dump d = {out, p, p->tree->workload};
  for (int i = 0; i < p->n_buffers; i++) {
    const ir_buffer *b = &p->buffers[i];
    fprintf(out, "%s %s of %s", b->role == IR_ARGUMENT ? "argument" : "buffer", b->name,
            p->tree->arch->memories[b->level].name);
    for (int r = 0; r < b->rank; r++) {
      fprintf(out, " %" PRId64 "@", b->extent[r]);
      atom(&d, b->base[r]);
    }
    if (b->block.length)
      fprintf(out, ", rank %d in blocks of %" PRId64, b->block.rank, b->block.length);
    if (b->gap) fprintf(out, ", rows %" PRId64 " further apart", b->gap);
    if (b->role == IR_KEPT) fputs(" kept", out);
    if (b->role == IR_TILES) fputs(b->slots > 1 ? " staged in two halves" : " staged", out);
    if (b->role == IR_COPIED) fputs(" copied", out);
    if (b->space > 0) fprintf(out, ", in %s", p->platform->spaces[b->space].name);
    if (b->role == IR_SCRATCH && b->slots > 1)
      fprintf(out, ", %" PRId64 " of them", b->slots);
    else if (b->slots > 1)
      fprintf(out, ", one of %" PRId64 ": ", b->slots), atom(&d, b->slot);
    if (b->shares >= 0) fprintf(out, " in the place of %s", p->buffers[b->shares].name);
    fputc('\n', out);
  }
  body(&d, &p->body, 0);
}

void ir_free(ir_program *p) {
  if (p) tf_arena_free(p->arena);
}
