/* The files of a program, in any language. */
#include <stdlib.h>

#include "codegen/backend/cuda/pass/pass.h"
#include "codegen/backend/cuda/print/cuda.h"
#include "codegen/ir/page.h"
#include "codegen/lower/lower.h"

enum { MOST_FILES = 16 };

bool cu_laid_c(FILE *out, cu_package *p) { return c_laid_c(out, &p->k), true; }

static char *text_of(const cu_file *file, cu_package *p) {
  char *text = NULL, *rows = NULL;
  size_t n = 0;
  FILE *out = open_memstream(&text, &n);
  const bool blocked = c_has_blocked(p->k.p);
  p->k.blocked = blocked && !file->of_rows;
  bool ok = out && file->print(out, p) && !ferror(out);
  ok = out && fclose(out) == 0 && ok;
  if (ok && !(blocked && file->of_rows)) return text;
  if (ok) rows = c_text_of_rows(text);
  free(text);
  return rows;
}

/* Inserts the kernel's name, if it is valid; code: texts that must not contain it as a word. */
static bool name_all(tf_emitted *e, const char *const *code, int n, const char *name, tf_diags *d) {
  const char *fault = c_name_fault(name, code, n);
  if (fault)
    return tf_fail(d, (tf_loc){0}, TF_E_NAME, "'%.40s' cannot name a kernel: %s", name, fault);
  return c_name_files(e, name);
}

static tf_emitted *print_all(const cu_file *files, int n, cu_package *p, const char *name,
                             tf_diags *d) {
  const char *code[MOST_FILES];
  int n_code = 0;
  tf_emitted *e = calloc(1, sizeof *e);
  if (e) e->file = calloc((size_t)n, sizeof *e->file);
  bool ok = e && e->file;
  for (int i = 0; i < n && ok; i++) {
    if (files[i].wanted && !files[i].wanted(p->k.p)) continue;
    e->file[e->n] = (tf_emitted_file){files[i].name, text_of(&files[i], p)};
    if (files[i].code) code[n_code++] = e->file[e->n].text;
    ok = e->file[e->n++].text != NULL;
  }
  ok = ok && name_all(e, code, n_code, name, d);
  if (ok) e->workspace = cu_workspace(&p->room);
  if (ok) return e;
  if (e) tf_emitted_free(e);
  return NULL;
}

/* Whether a copy at or below the list has a path of its own for dense arrays. */
static bool knows_dense(const ir_program *p, const ir_body *b) {
  bool any = false;
  for (int i = 0; i < b->n && !any; i++)
    any = (b->s[i]->kind == IR_COPY &&
           (cu_is_gathered(p, b->s[i]) || cu_has_contiguous_rows(p, b->s[i]))) ||
          knows_dense(p, &b->s[i]->body);
  return any;
}

tf_emitted *cu_emit(const cu_file *files, int n, const tf_tree *tree, const lower_target *lower,
                    const ir_machine *machine, const tf_emit_options *o, tf_diags *d) {
  const tf_micro_isa *isas[TF_MICRO_MOST_ISAS];
  cu_package p = {.k = {.o = o, .name = C_NAME, .isas = isas, .eights = true}};
  const size_t errors = tf_diags_errors(d);
  if (!tf_micro_isas(&(tf_emit_options){.isa = "portable"}, isas, d)) return NULL;
  p.k.isa = isas[0];
  p.k.source = tf_micro_source_find(NULL);
  if (machine->data == IR_F32 && machine->real) p.k.within = "2e-3";
  if (machine->data == IR_F8) p.k.within = "1e-2";
  p.k.p = lower_kernel(tree, lower, machine, d);
  p.k.dense = p.k.p && cu_mma_of(p.k.p) && knows_dense(p.k.p, &p.k.p->body);
  tf_emitted *e = p.k.p ? print_all(files, n, &p, o->name ? o->name : "kernel", d) : NULL;
  ir_free((ir_program *)p.k.p);
  if (!e && tf_diags_errors(d) == errors) tf_out_of_memory(d);
  return e;
}
