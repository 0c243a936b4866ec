/* Instruction sets with instructions that the caller has described. */
#include <stdlib.h>
#include <string.h>

#include "codegen/intrin/described.h"

#include "base/locale.h"

/* An instruction and one of the instruction sets that have it. */
typedef struct {
  tf_micro_kernel kernel;
  tf_micro_isa isa;
  ir_type data;
  bool plain; /* it needs no options of its own */
  char *text; /* owned: of isa.flags and isa.machine */
} extended;

struct tf_emit_instrs {
  int n;
  extended *isas; /* [n] */
};

/* With the options and the macro of the instruction. */
static bool extend(extended *x, const tf_instr_emit *e, const tf_micro_kernel *kernel,
                   const char *name) {
  const tf_micro_isa *isa = tf_micro_isa_find(name);
  const size_t room = strlen(isa->flags) + strlen(e->flags) + 2,
               more = strlen(isa->machine) + (e->defines ? strlen(e->defines) : 0) + 16;
  *x = (extended){
      .kernel = *kernel, .isa = *isa, .data = tf_micro_data_of(kernel), .plain = !*e->flags};
  x->text = malloc(room + more);
  if (!x->text) return false;
  snprintf(x->text, room, "%s%s%s", isa->flags, *e->flags ? " " : "", e->flags);
  snprintf(x->text + room, more, e->defines ? "%s && defined(%s)" : "%s", isa->machine, e->defines);
  x->isa.flags = x->text;
  x->isa.machine = x->text + room;
  x->isa.described = &x->kernel;
  return true;
}

static int rows_of(const tf_spec *s) {
  int n = 0;
  for (int i = 0; i < s->n_instrs; i++)
    n += s->instrs[i].emit ? s->instrs[i].emit->n_isas : 0;
  return n;
}

static bool extend_isas(tf_emit_instrs *e, const tf_instr *in, tf_diags *d) {
  tf_micro_kernel kernel;
  if (!in->emit) return true;
  if (!tf_micro_describe(in, &kernel, d)) return false;
  for (int i = 0; i < in->emit->n_isas; i++)
    if (!extend(&e->isas[e->n++], in->emit, &kernel, in->emit->isa[i].name))
      return tf_out_of_memory(d);
  return true;
}

tf_emit_instrs *tf_emit_instrs_new(const tf_spec *s, tf_diags *d) {
  TF_IN_C_LOCALE;
  tf_emit_instrs *e = calloc(1, sizeof *e);
  if (e) e->isas = calloc((size_t)rows_of(s) + 1, sizeof *e->isas);
  bool ok = (e && e->isas) || tf_out_of_memory(d);
  for (int i = 0; e && e->isas && i < s->n_instrs; i++)
    ok = extend_isas(e, &s->instrs[i], d) && ok;
  if (ok) return e;
  tf_emit_instrs_free(e);
  return NULL;
}

void tf_emit_instrs_free(tf_emit_instrs *e) {
  for (int i = 0; e && i < e->n; i++)
    free(e->isas[i].text);
  if (e) free(e->isas);
  free(e);
}

const tf_micro_isa *tf_micro_isa_with(const tf_emit_instrs *e, const tf_micro_isa *isa,
                                      ir_type data, bool plain) {
  for (int i = 0; i < e->n; i++)
    if (!strcmp(e->isas[i].isa.name, isa->name) && e->isas[i].data == data &&
        (e->isas[i].plain || !plain))
      return &e->isas[i].isa;
  return isa;
}
