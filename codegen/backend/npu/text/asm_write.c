/* The disassembler. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "codegen/backend/npu/text/asm.h"

#include "base/locale.h"

static void put_machine(FILE *out, const npu_machine *m) {
  fprintf(out, "machine %s\n", m->name);
  for (int i = 0; i < m->n_memories; i++) {
    fprintf(out, "memory %s", m->memory[i].name);
    if (m->memory[i].bytes) fprintf(out, " bytes %" PRId64, m->memory[i].bytes);
    fprintf(out, " align %" PRId64 "\n", m->memory[i].align);
  }
  for (int i = 0; i < m->n_queues; i++)
    fprintf(out, "queue %s\n", m->queue[i]);
  for (int i = 0; i < m->n_paths; i++) {
    const npu_path *p = &m->path[i];
    fprintf(out, "path %s %s %s words %.17g latency %.17g\n", m->memory[p->from].name,
            m->memory[p->to].name, m->queue[p->queue], p->words, p->latency);
  }
  const npu_cube *c = &m->cube;
  if (c->queue >= 0)
    fprintf(out,
            "cube %s %s %s %s %s m %" PRId64 " n %" PRId64 " k %" PRId64
            " cycles %.17g fill %.17g latency %.17g\n",
            m->queue[c->queue], m->memory[c->sums].name, m->memory[c->left].name,
            m->memory[c->right].name, c->rows ? "rows" : "blocks", c->m, c->n, c->k, c->cycles,
            c->fill, c->latency);
  const npu_vector *v = &m->vector;
  if (v->queue < 0) return;
  fprintf(out, "vector %s %s lanes %" PRId64 " latency %.17g", m->queue[v->queue],
          m->memory[v->memory].name, v->lanes, v->latency);
  if (v->port > 0) fprintf(out, " port %.17g", v->port);
  fputc('\n', out);
}

static void put_place(FILE *out, int64_t at, const int64_t *step, const char *const *loops) {
  fprintf(out, "%" PRId64, at);
  for (int i = 0; i < NPU_DEPTH; i++)
    if (step[i]) fprintf(out, "+%" PRId64 "*%s", step[i], loops[i]);
}

static void put_ring(FILE *out, const npu_ring *g, const char *const *loops) {
  fprintf(out, "+%" PRId64 "*(%d", g->bytes, g->at);
  for (int i = 0; i < NPU_DEPTH; i++) {
    if (g->step[i] == 1) fprintf(out, "+%s", loops[i]);
    if (g->step[i] > 1) fprintf(out, "+%d*%s", g->step[i], loops[i]);
  }
  fprintf(out, ")%%%d", g->n);
}

static void put_operand(FILE *out, const tf_npu *p, const npu_operand *o,
                        const char *const *loops) {
  const bool turns = npu_turns(&o->ring);
  if (o->memory < 0) {
    fprintf(out, " %.17g", o->number);
    return;
  }
  fprintf(out, " %s[",
          o->tensor >= 0 ? p->tensor[o->tensor].name : p->machine.memory[o->memory].name);
  put_place(out, turns ? o->base : npu_begin_of(o), o->step, loops);
  if (turns) put_ring(out, &o->ring, loops);
  fprintf(out, "]:%s", npu_type_name(o->type));
}

static void put_dims(FILE *out, const npu_instr *i) {
  const int sources = npu_facts_of(i->op)->sources;
  for (int k = 0; k < i->n_dims; k++) {
    const npu_dim *d = &i->dim[k];
    fprintf(out, " %" PRId64, d->count);
    for (int s = 0; s <= sources; s++)
      fprintf(out, ":%" PRId64, d->step[s]);
    if (i->op == NPU_LOAD) fprintf(out, ":%" PRId64 ":%" PRId64, d->high, d->wide);
  }
}

static void put_operands(FILE *out, const tf_npu *p, const npu_instr *i, const char *const *loops) {
  put_operand(out, p, &i->to, loops);
  for (int k = 0; k < npu_facts_of(i->op)->sources; k++)
    put_operand(out, p, &i->from[k], loops);
  for (int k = 0; k < 2 && i->op == NPU_LOAD; k++) {
    fputs(k ? " " : " at ", out);
    put_place(out, i->window.origin[k], i->window.step[k], loops);
  }
  if (i->op == NPU_LOAD)
    fprintf(out, " in %" PRId64 " %" PRId64, i->window.size[0], i->window.size[1]);
  if (i->op == NPU_MAD) {
    fprintf(out, " %" PRId64 " %" PRId64 " %" PRId64 " %s", i->mad.m, i->mad.n, i->mad.k,
            i->mad.add ? "add" : "set");
    if (i->mad.ld[0])
      fprintf(out, " ld %" PRId64 " %" PRId64 " %" PRId64, i->mad.ld[0], i->mad.ld[1],
              i->mad.ld[2]);
  }
  put_dims(out, i);
  if (*i->tag) fprintf(out, " @%s", i->tag);
}

/* Steps that have the flag: if PLACE>=FIRST, <=LAST, or ==. */
static void put_when(FILE *out, const npu_when *w, const char *const *loops) {
  const char *before = " if ";
  for (int i = 0; i < NPU_DEPTH; i++) {
    if (!w->step[i]) continue;
    fputs(before, out);
    if (w->step[i] != 1) fprintf(out, "%d*", w->step[i]);
    fputs(loops[i], out);
    before = "+";
  }
  if (*before == ' ') fputs(" if 0", out);
  fprintf(out, "%s%d",
          w->first == w->last         ? "=="
          : w->first == NPU_ANY_FIRST ? "<="
                                      : ">=",
          w->first == NPU_ANY_FIRST ? w->last : w->first);
}

static void put_instr(FILE *out, const tf_npu *p, const npu_instr *i, const char *const *loops) {
  fputs(npu_facts_of(i->op)->name, out);
  switch (i->op) {
  case NPU_FOR: fprintf(out, " %s %" PRId64, i->loop.name, i->loop.trip); break;
  case NPU_SET:
  case NPU_WAIT:
    fprintf(out, " %s %s %d", p->machine.queue[i->queue], p->machine.queue[i->flag.to], i->flag.id);
    for (int k = 0; k < i->flag.n; k++)
      put_when(out, &i->flag.when[k], loops);
    break;
  case NPU_END:
  case NPU_BARRIER: break;
  default: put_operands(out, p, i, loops); break;
  }
  fputc('\n', out);
}

void npu_put_head(FILE *out, const tf_npu *p) {
  put_machine(out, &p->machine);
  for (int i = 0; i < p->n_tensors; i++) {
    const npu_tensor *t = &p->tensor[i];
    fprintf(out, "tensor %s %s %" PRId64 " %s", t->name, npu_type_name(t->type), t->words,
            !t->in   ? t->out ? "out" : "tmp"
            : t->out ? "inout"
                     : "in");
    if (t->within)
      fprintf(out, " at %s %" PRId64, p->tensor[t->within - 1].name,
              t->offset - p->tensor[t->within - 1].offset);
    fputc('\n', out);
  }
}

static void put_all(FILE *out, const tf_npu *p) {
  const char *loops[NPU_DEPTH];
  int depth = 0;
  npu_put_head(out, p);
  for (size_t k = 0; k < p->n; k++) {
    const npu_instr *i = &p->instr[k];
    depth -= i->op == NPU_END;
    fprintf(out, "%*s", 2 * depth, "");
    if (i->op == NPU_FOR) loops[depth++] = i->loop.name;
    put_instr(out, p, i, loops);
  }
}

char *tf_npu_text(const tf_npu *p) {
  TF_IN_C_LOCALE;
  char *text = NULL;
  size_t n = 0;
  FILE *out = open_memstream(&text, &n);
  if (!out) return NULL;
  put_all(out, p);
  const bool ok = !ferror(out);
  if (fclose(out) == 0 && ok) return text;
  free(text);
  return NULL;
}
