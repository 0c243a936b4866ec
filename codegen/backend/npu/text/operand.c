/* Operands, `MEMORY[at + step*loop]:type`, and dims, `count:step:step`. */
#include <inttypes.h>
#include <string.h>

#include "base/names.h"
#include "codegen/backend/npu/text/asm_words.h"

/* The rest of a word. */
static npu_word from(npu_word w, const char *s) { return (npu_word){s, (size_t)(w.s + w.n - s)}; }
static const char *find_char(npu_word w, char c) { return w.n ? memchr(w.s, c, w.n) : NULL; }

static bool read_place(npu_reader *r, npu_word w, npu_operand *o) {
  const npu_machine *m = &r->p->machine;
  o->tensor = -1;
  for (int i = 1; i < m->n_memories; i++)
    if (npu_is(w, m->memory[i].name)) return o->memory = i, true;
  for (int i = 0; i < r->p->n_tensors; i++)
    if (npu_is(w, r->p->tensor[i].name)) return o->memory = 0, o->tensor = i, true;
  tf_near near = tf_near_start(w.s, w.n);
  for (int i = 1; i < m->n_memories; i++)
    tf_near_offer(&near, m->memory[i].name);
  for (int i = 0; i < r->p->n_tensors; i++)
    tf_near_offer(&near, r->p->tensor[i].name);
  char text[120];
  return npu_fail(r, w, TF_E_NAME, "no memory or tensor '%.*s'%s", w.n > 40 ? 40 : (int)w.n, w.s,
                  tf_near_text(&near, text, sizeof text));
}

static bool add_step(npu_reader *r, npu_word loop, int64_t by, int64_t *step) {
  tf_near near = tf_near_start(loop.s, loop.n);
  for (int i = 0; i < r->depth; i++) {
    const char *name = r->p->instr[r->open[i]].loop.name;
    if (npu_is(loop, name)) return step[i] += by, true;
    tf_near_offer(&near, name);
  }
  char text[120];
  return npu_fail(r, loop, TF_E_NAME, "no loop '%.*s' around%s", loop.n > 40 ? 40 : (int)loop.n,
                  loop.s, tf_near_text(&near, text, sizeof text));
}

/* number, number*loop or loop. */
static bool read_term(npu_reader *r, npu_word w, const char *what, int64_t *at, int64_t *step) {
  const char *star = find_char(w, '*');
  int64_t v = 1;
  const bool named = w.n && !star && tf_is_name(w.s, w.n, false);
  if (named) return add_step(r, w, 1, step);
  const npu_word number = star ? (npu_word){w.s, (size_t)(star - w.s)} : w;
  if (!npu_integer(r, number, what, -(INT64_C(1) << NPU_MOST_BITS), &v)) return false;
  if (star) return add_step(r, from(w, star + 1), v, step);
  *at += v;
  return true;
}

bool npu_read_place(npu_reader *r, npu_word w, const char *what, int64_t *at, int64_t *step) {
  int terms = 0;
  for (const char *s = w.s, *end = w.s + w.n; s <= end; terms++) {
    const npu_word rest = from(w, s);
    const char *plus = find_char(rest, '+');
    if (terms > 2 * NPU_DEPTH)
      return npu_fail(r, w, TF_E_LIMIT, "%s has at most %d terms", what, 2 * NPU_DEPTH);
    if (!read_term(r, (npu_word){s, plus ? (size_t)(plus - s) : rest.n}, what, at, step))
      return false;
    s = plus ? plus + 1 : end + 1;
  }
  return true;
}

/* Behind the place's other terms: NUMBER*(PLACE)%SLOTS. */
static bool read_ring(npu_reader *r, npu_word w, npu_ring *g) {
  const char *open = find_char(w, '('), *close = find_char(w, ')');
  int64_t at = 0, step[NPU_DEPTH] = {0}, n = 0;
  if (open == w.s || open[-1] != '*' || !close || close < open || close + 1 >= w.s + w.n ||
      close[1] != '%')
    return npu_fail(r, w, TF_E_SYNTAX, "slots are BYTES*(PLACE)%%SLOTS, behind all other terms");
  if (!npu_integer(r, (npu_word){w.s, (size_t)(open - 1 - w.s)}, "bytes of a slot", 1, &g->bytes) ||
      !npu_read_place(r, (npu_word){open + 1, (size_t)(close - open - 1)}, "a slot", &at, step) ||
      !npu_integer(r, from(w, close + 2), "how many slots", 1, &n))
    return false;
  bool before = at < 0;
  for (int k = 0; k < NPU_DEPTH; k++)
    before |= step[k] < 0;
  if (before || n > UINT8_MAX)
    return npu_fail(r, w, TF_E_RANGE, "slots go up from 0, and there are at most %d", UINT8_MAX);
  g->n = (uint8_t)n;
  g->at = (uint8_t)(at % n);
  for (int k = 0; k < NPU_DEPTH; k++)
    g->step[k] = (uint8_t)(step[k] % n);
  return true;
}

/* Where an operand begins. */
static bool read_begin(npu_reader *r, npu_word w, npu_operand *o) {
  const char *ring = find_char(w, '(');
  if (!ring) return npu_read_place(r, w, "a byte offset", &o->base, o->step);
  while (ring > w.s && ring[-1] != '+')
    ring--;
  const npu_word before = {w.s, ring > w.s ? (size_t)(ring - 1 - w.s) : 0};
  return (ring == w.s || npu_read_place(r, before, "a byte offset", &o->base, o->step)) &&
         read_ring(r, from(w, ring), &o->ring);
}

static bool read_colon_type(npu_reader *r, npu_word w, npu_operand *o) {
  if (w.n == 0 && o->tensor >= 0) return o->type = r->p->tensor[o->tensor].type, true;
  for (int i = 0; i < NPU_N_TYPES; i++)
    if (w.n > 1 && w.s[0] == ':' && npu_is(from(w, w.s + 1), npu_type_name((npu_type)i)))
      return o->type = (npu_type)i, true;
  return npu_fail(r, w, TF_E_SYNTAX, "behind the place stands the type: :f16 or :f32");
}

bool npu_read_operand(npu_reader *r, npu_word w, npu_operand *o, bool number) {
  const char *open = find_char(w, '['), *close = open ? find_char(w, ']') : NULL;
  *o = (npu_operand){.memory = -1, .tensor = -1, .loc = npu_loc(r, w)};
  if (w.n == 0) return npu_fail(r, w, TF_E_MISSING, "an operand is missing");
  if (!open && number) return npu_real(r, w, "a number, or MEMORY[at]:type", &o->number);
  if (!open || !close || close < open)
    return npu_fail(r, w, TF_E_SYNTAX, "an operand is MEMORY[at]:type or TENSOR[at]");
  if (!read_place(r, (npu_word){w.s, (size_t)(open - w.s)}, o) ||
      !read_begin(r, (npu_word){open + 1, (size_t)(close - open - 1)}, o) ||
      !read_colon_type(r, from(w, close + 1), o))
    return false;
  if (o->tensor < 0 || o->type == r->p->tensor[o->tensor].type) return true;
  return npu_fail(r, w, TF_E_TYPE, "'%s' holds %s", r->p->tensor[o->tensor].name,
                  npu_type_name(r->p->tensor[o->tensor].type));
}

/* How many numbers follow a dim's count. */
static int n_steps(npu_op op) { return op == NPU_LOAD ? 4 : 1 + npu_facts_of(op)->sources; }

bool npu_read_dim(npu_reader *r, npu_word w, npu_instr *i) {
  const int n = 1 + n_steps(i->op);
  int64_t v[6] = {1}, most = INT64_C(1) << NPU_MOST_BITS;
  const char *s = w.s, *end = w.s + w.n;
  if (i->n_dims == NPU_DIMS)
    return npu_fail(r, w, TF_E_LIMIT, "an instruction has at most %d dims", NPU_DIMS);
  for (int k = 0; k < n; k++) {
    const npu_word rest = {s, s < end ? (size_t)(end - s) : 0};
    const char *colon = find_char(rest, ':');
    const npu_word one = {s, colon ? (size_t)(colon - s) : rest.n};
    if (!colon != (k == n - 1))
      return npu_fail(r, w, TF_E_SYNTAX, "a dim of '%s' is a count and %d steps, between colons",
                      npu_facts_of(i->op)->name, n - 1);
    if (!npu_integer(r, one, k ? "a step" : "a count", k ? -most : 1, &v[k])) return false;
    s = colon ? colon + 1 : end;
  }
  npu_dim *dim = &i->dim[i->n_dims];
  *dim = (npu_dim){.count = v[0], .step = {v[1], v[2]}};
  if (i->op == NPU_LOAD)
    dim->high = v[3], dim->wide = v[4];
  else
    dim->step[2] = v[3], dim->step[3] = v[4];
  if (npu_count(i) > most / v[0])
    return npu_fail(r, w, TF_E_RANGE, "more than 2^%d elements", NPU_MOST_BITS);
  i->n_dims++;
  return true;
}
