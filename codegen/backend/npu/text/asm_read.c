/* The assembler: text to a program, line by line. */
#include <string.h>

#include "codegen/backend/npu/text/asm_words.h"

#include "base/locale.h"

static void read_line(npu_reader *r) {
  const npu_word first = npu_next(r);
  if (first.n == 0) return;
  if (!npu_read_machine(r, first)) npu_read_instr(r, first);
}

static void check_all(npu_reader *r, const tf_text *t) {
  const npu_machine *m = &r->p->machine;
  const tf_loc top = {r->file, 1, 1, 1};
  for (int i = 0; i < r->depth; i++)
    tf_fail(r->d, r->p->instr[r->open[i]].loc, TF_E_SHAPE, "this loop has no end");
  if (!m->name) tf_fail(r->d, top, TF_E_MISSING, "'%s' names no machine", t->name);
  if (!m->n_memories || !m->n_queues)
    tf_fail(r->d, top, TF_E_MISSING, "the machine needs a memory and a queue");
}

tf_npu *tf_npu_read(const tf_text *t, tf_diags *d) {
  TF_IN_C_LOCALE;
  const size_t errors = tf_diags_errors(d);
  npu_reader r = {.p = t->text ? npu_new() : NULL,
                  .d = d,
                  .file = tf_diags_add_file(d, t->name, t->text ? t->text : "", t->len)};
  if (!r.p && t->text) tf_out_of_memory(d);
  if (!r.p) return NULL;
  for (const char *s = t->text, *end = s + t->len; s < end && tf_diags_errors(d) < TF_DIAGS_MAX;
       s = r.end + 1) {
    const char *newline = memchr(s, '\n', (size_t)(end - s));
    r.begin = r.next = s;
    r.end = newline ? newline : end;
    r.line++;
    read_line(&r);
  }
  check_all(&r, t);
  if (tf_diags_errors(d) == errors) return r.p;
  tf_npu_free(r.p);
  return NULL;
}
