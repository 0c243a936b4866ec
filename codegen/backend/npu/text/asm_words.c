/* Words, numbers and names of a line, and messages about them. */
#include "codegen/backend/npu/text/asm_words.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

npu_word npu_next(npu_reader *r) {
  while (r->next < r->end && is_blank(*r->next))
    r->next++;
  npu_word w = {r->next, 0};
  if (r->next < r->end && *r->next == '#') return w;
  while (r->next < r->end && !is_blank(*r->next) && *r->next != '#')
    r->next++;
  w.n = (size_t)(r->next - w.s);
  return w;
}

bool npu_is(npu_word w, const char *text) { return strlen(text) == w.n && !memcmp(w.s, text, w.n); }

tf_loc npu_loc(const npu_reader *r, npu_word w) {
  return (tf_loc){r->file, r->line, (uint32_t)(w.s - r->begin) + 1, w.n ? (uint32_t)w.n : 1};
}

bool npu_fail(npu_reader *r, npu_word w, tf_code code, const char *fmt, ...) {
  char text[200];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  return tf_fail(r->d, npu_loc(r, w), code, "%s", text);
}

char *npu_keep(npu_reader *r, npu_word w) {
  char *s = tf_arena_strndup(r->p->arena, w.s, w.n);
  if (!s) npu_fail(r, w, TF_E_LIMIT, "out of memory");
  return s;
}

/* The word, terminated, or empty if it is longer than any number; false: there is no word. */
static bool number_text(npu_reader *r, npu_word w, const char *what, char text[64]) {
  text[0] = 0;
  if (w.n == 0) return npu_fail(r, w, TF_E_MISSING, "%s is missing", what);
  if (w.n < 64) memcpy(text, w.s, w.n), text[w.n] = 0;
  return true;
}

bool npu_real(npu_reader *r, npu_word w, const char *what, double *v) {
  char text[64], *end;
  if (!number_text(r, w, what, text)) return false;
  *v = strtod(text, &end);
  if (end == text || *end)
    return npu_fail(r, w, TF_E_SYNTAX, "'%.*s' is no number: %s", (int)w.n, w.s, what);
  return true;
}

bool npu_integer(npu_reader *r, npu_word w, const char *what, int64_t least, int64_t *v) {
  const int64_t most = INT64_C(1) << NPU_MOST_BITS;
  char text[64], *end;
  if (!number_text(r, w, what, text)) return false;
  *v = strtoll(text, &end, 10);
  if (end == text || *end)
    return npu_fail(r, w, TF_E_SYNTAX, "'%.*s' is no whole number: %s", (int)w.n, w.s, what);
  if (*v >= least && *v <= most) return true;
  return npu_fail(r, w, TF_E_RANGE, "%s is %" PRId64 ", but must be %" PRId64 " .. 2^%d", what, *v,
                  least, NPU_MOST_BITS);
}

bool npu_next_integer(npu_reader *r, const char *what, int64_t least, int64_t *v) {
  return npu_integer(r, npu_next(r), what, least, v);
}

bool npu_next_real(npu_reader *r, const char *what, double *v) {
  const npu_word w = npu_next(r);
  if (!npu_real(r, w, what, v)) return false;
  if (*v >= 0 && *v <= 1e12) return true;
  return npu_fail(r, w, TF_E_RANGE, "%s is %g, but must be 0 .. 1e12", what, *v);
}

static bool is_taken(const npu_reader *r, npu_word w) {
  const npu_machine *m = &r->p->machine;
  bool any = false;
  for (int i = 0; i < m->n_memories; i++)
    any |= npu_is(w, m->memory[i].name);
  for (int i = 0; i < m->n_queues; i++)
    any |= npu_is(w, m->queue[i]);
  for (int i = 0; i < r->p->n_tensors; i++)
    any |= npu_is(w, r->p->tensor[i].name);
  for (int i = 0; i < r->depth; i++)
    any |= npu_is(w, r->p->instr[r->open[i]].loop.name);
  return any;
}

char *npu_next_name(npu_reader *r, const char *what) {
  const npu_word w = npu_next(r);
  if (w.n == 0) return npu_fail(r, w, TF_E_MISSING, "the name of %s is missing", what), NULL;
  if (!tf_is_name(w.s, w.n, false) || w.n > 60)
    return npu_fail(r, w, TF_E_SYNTAX, "'%.*s' cannot name %s", w.n > 60 ? 60 : (int)w.n, w.s,
                    what),
           NULL;
  if (is_taken(r, w))
    return npu_fail(r, w, TF_E_DUP, "'%.*s' is the name of something already", (int)w.n, w.s), NULL;
  return npu_keep(r, w);
}

bool npu_ends(npu_reader *r) {
  const npu_word w = npu_next(r);
  return w.n == 0 || npu_fail(r, w, TF_E_SYNTAX, "the line should end before '%.*s'",
                              w.n > 60 ? 60 : (int)w.n, w.s);
}

/* Reports that there is no such thing, with a similar name. */
static int none(npu_reader *r, npu_word w, const char *what, const tf_near *near) {
  char text[120];
  if (w.n == 0)
    npu_fail(r, w, TF_E_MISSING, "a %s is missing", what);
  else
    npu_fail(r, w, TF_E_NAME, "no %s '%.*s'%s", what, w.n > 40 ? 40 : (int)w.n, w.s,
             tf_near_text(near, text, sizeof text));
  return -1;
}

int npu_memory_of(npu_reader *r, npu_word w) {
  const npu_machine *m = &r->p->machine;
  tf_near near = tf_near_start(w.s, w.n);
  for (int i = 0; i < m->n_memories; i++) {
    if (npu_is(w, m->memory[i].name)) return i;
    tf_near_offer(&near, m->memory[i].name);
  }
  return none(r, w, "memory", &near);
}

int npu_queue_of(npu_reader *r, npu_word w) {
  const npu_machine *m = &r->p->machine;
  tf_near near = tf_near_start(w.s, w.n);
  for (int i = 0; i < m->n_queues; i++) {
    if (npu_is(w, m->queue[i])) return i;
    tf_near_offer(&near, m->queue[i]);
  }
  return none(r, w, "queue", &near);
}
