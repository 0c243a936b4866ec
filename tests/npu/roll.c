#include "tests/npu/roll.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "codegen/backend/npu/text/roll.h"
#include "tests/unit/check.h"

/* ---- the slow twin -------------------------------------------------------------------------- */
static void move(int64_t *at, int64_t step[NPU_DEPTH], const int64_t *loop, int depth) {
  for (int k = 0; k < depth; k++)
    *at += step[k] * loop[k];
  memset(step, 0, sizeof *step * NPU_DEPTH);
}

static void turn(npu_ring *g, const int64_t *loop, int depth) {
  for (int k = 0; k < depth && g->n; k++)
    g->at = (uint8_t)((g->at + g->step[k] * (loop[k] % g->n)) % g->n);
  memset(g->step, 0, sizeof g->step);
}

/* Whether the flag is not of this step. */
static bool is_not_due(const npu_instr *i, const int64_t *loop) {
  bool out = false;
  for (int k = 0; k < i->flag.n && (i->op == NPU_SET || i->op == NPU_WAIT); k++) {
    int64_t v = 0;
    for (int d = NPU_DEPTH - 1; d >= 0; d--)
      v += i->flag.when[k].step[d] ? i->flag.when[k].step[d] * loop[d] : 0;
    out |= v < i->flag.when[k].first || v > i->flag.when[k].last;
  }
  return out;
}

static void add_moved(tf_npu *to, const npu_instr *i, const int64_t *loop, int depth) {
  if (is_not_due(i, loop)) return;
  npu_instr *one = npu_add(to, i->op);
  *one = *i;
  if (i->op == NPU_SET || i->op == NPU_WAIT) one->flag.n = 0;
  if (i->op == NPU_SET || i->op == NPU_WAIT || i->op == NPU_BARRIER) return;
  move(&one->to.base, one->to.step, loop, depth);
  turn(&one->to.ring, loop, depth);
  for (int k = 0; k < npu_facts_of(i->op)->sources; k++) {
    move(&one->from[k].base, one->from[k].step, loop, depth);
    turn(&one->from[k].ring, loop, depth);
  }
  for (int k = 0; k < 2 && i->op == NPU_LOAD; k++)
    move(&one->window.origin[k], one->window.step[k], loop, depth);
}

tf_npu *roll_unrolled(const tf_npu *p) {
  int64_t loop[NPU_DEPTH] = {0};
  size_t begin[NPU_DEPTH] = {0}, k = 0;
  int depth = 0;
  tf_npu *out = npu_new();
  npu_copy_head(out, p);
  while (k < p->n) {
    const npu_instr *i = &p->instr[k++];
    if (i->op == NPU_FOR) {
      loop[depth] = 0;
      begin[depth++] = k;
    } else if (i->op != NPU_END) {
      add_moved(out, i, loop, depth);
    } else if (++loop[depth - 1] < p->instr[begin[depth - 1] - 1].loop.trip) {
      k = begin[depth - 1];
    } else {
      depth--;
    }
  }
  return out;
}

bool roll_is_same(const tf_npu *looped, const tf_npu *flat) {
  tf_npu *out = roll_unrolled(looped);
  char *a = tf_npu_text(out), *b = tf_npu_text(flat);
  const bool same = a && b && !strcmp(a, b);
  free(a);
  free(b);
  tf_npu_free(out);
  return same;
}

static bool is_transfer(const npu_instr *i) { return i->op == NPU_COPY || i->op == NPU_LOAD; }

static bool same_dims(const npu_instr *a, const npu_instr *b) {
  bool same = a->via == b->via && a->n_dims == b->n_dims && !strcmp(a->tag, b->tag);
  for (int k = 0; k < a->n_dims && same; k++)
    same = a->dim[k].count == b->dim[k].count && a->dim[k].step[0] == b->dim[k].step[0] &&
           a->dim[k].step[1] == b->dim[k].step[1];
  return same;
}

bool roll_is_even(const tf_npu *p) {
  const size_t n = p->n < 2000 ? p->n : 2000;
  for (size_t k = 0; k < n; k++)
    for (size_t q = 0; q < k && is_transfer(&p->instr[k]); q++) {
      const npu_instr *a = &p->instr[k], *b = &p->instr[q];
      if (!is_transfer(b) || !same_dims(a, b)) continue;
      if (a->op != b->op) return false;
      if (a->op == NPU_LOAD && memcmp(a->window.size, b->window.size, sizeof a->window.size) != 0)
        return false;
    }
  return true;
}

/* ---- nests ---------------------------------------------------------------------------------- */
static const char machine[] = "machine m\nmemory GM align 1\nmemory L1 bytes 65536 align 2\n"
                              "memory UB bytes 65536 align 2\nqueue in\nqueue on\n"
                              "queue vec\npath GM L1 in words 8 latency 0\n"
                              "path L1 UB on words 8 latency 0\n"
                              "vector vec UB lanes 16 latency 0\n"
                              "tensor A f16 64 in\ntensor B f16 64 out\n";

typedef struct {
  char text[1 << 14];
  size_t n;
  tf_rng lot;
} draft;

static void put(draft *t, const char *fmt, ...) TF_PRINTF(2, 3);
static void put(draft *t, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  t->n += (size_t)vsnprintf(t->text + t->n, sizeof t->text - t->n, fmt, args);
  va_end(args);
}

static void put_at(draft *t, int depth) {
  put(t, "%d", (int)tf_rng_below(&t->lot, 3) * 64);
  for (int k = 0; k < depth; k++)
    if (tf_rng_below(&t->lot, 2)) put(t, "+%d*i%d", ((int)tf_rng_below(&t->lot, 5) - 2) * 32, k);
}

/* The same, as a rule in slots that loops go round. */
static void put_slot(draft *t, int depth) {
  put_at(t, depth);
  if (!tf_rng_below(&t->lot, 3)) return;
  put(t, "+512*(%d", (int)tf_rng_below(&t->lot, 6));
  for (int k = 0; k < depth; k++)
    if (tf_rng_below(&t->lot, 2)) put(t, "+%d*i%d", (int)tf_rng_below(&t->lot, 5), k);
  put(t, ")%%%d", 1 + (int)tf_rng_below(&t->lot, 4));
}

/* Of some steps of the loops around, as a rule. */
static void put_flag(draft *t, int depth) {
  static const char *const flags[] = {"barrier", "set in on 0", "wait in on 0", "set on vec 1"};
  static const char *const signs[] = {">=", "<=", "=="};
  const int which = (int)tf_rng_below(&t->lot, 4);
  put(t, "%s", flags[which]);
  for (int n = which && depth ? (int)tf_rng_below(&t->lot, 3) : 0; n > 0; n--)
    put(t, " if %d*i%d+i%d%s%d", (int)tf_rng_below(&t->lot, 5) - 1,
        (int)tf_rng_below(&t->lot, (unsigned)depth), (int)tf_rng_below(&t->lot, (unsigned)depth),
        signs[tf_rng_below(&t->lot, 3)], (int)tf_rng_below(&t->lot, 9));
}

static void put_line(draft *t, int depth) {
  switch (tf_rng_below(&t->lot, 4)) {
  case 0: put_flag(t, depth); break;
  case 1:
    put(t, "copy L1["), put_slot(t, depth), put(t, "]:f16 A["), put_at(t, depth);
    put(t, "]:f16 %d:1:1 @A", 1 + (int)tf_rng_below(&t->lot, 2));
    break;
  case 2:
    put(t, "load UB["), put_slot(t, depth), put(t, "]:f32 L1["), put_slot(t, depth),
        put(t, "]:f16 at ");
    put_at(t, depth), put(t, " "), put_at(t, depth), put(t, " in 9 9 4:1:1:1:0");
    break;
  default:
    put(t, "add UB["), put_slot(t, depth), put(t, "]:f32 UB["), put_slot(t, depth);
    put(t, "]:f32 %d 8:1:1:0", (int)tf_rng_below(&t->lot, 2));
    break;
  }
  put(t, "\n");
}

static void put_body(draft *t, int depth) {
  for (int n = 1 + (int)tf_rng_below(&t->lot, 3); n > 0; n--) {
    if (depth == 3 || tf_rng_below(&t->lot, 2)) {
      put_line(t, depth);
      continue;
    }
    put(t, "for i%d %d\n", depth, 1 + (int)tf_rng_below(&t->lot, 7));
    put_body(t, depth + 1);
    put(t, "end\n");
  }
}

/* The program of the text, unrolled and rolled: it does the same, in no more lines than either has.
 * Its text. */
static char *again(const char *text) {
  tf_diags *d = tf_diags_new();
  const tf_text named = {"nest.npu", text, strlen(text)};
  tf_npu *p = tf_npu_read(&named, d), *flat = p ? roll_unrolled(p) : NULL,
         *rolled = flat ? npu_roll(flat) : NULL;
  char *said = rolled ? tf_npu_text(rolled) : NULL;
  if (!CHECK(rolled && roll_is_same(rolled, flat) && roll_is_same(p, flat) && rolled->n <= flat->n))
    printf("%s%s", text, p ? "" : tf_diags_text(d));
  tf_npu_free(rolled);
  tf_npu_free(flat);
  tf_npu_free(p);
  tf_diags_free(d);
  return said;
}

/* Four deep, with what is before and behind inner loops: found as it stands. */
static const char nest[] =
    "for i0 3\n  copy L1[64*i0]:f16 A[0+2*i0]:f16 1:1:1 @A\n  for i1 4\n    set in on 0\n"
    "    wait in on 0\n    for i2 5\n      for i3 4\n"
    "        load UB[32*i1+-4*i2+1024*i3]:f32 L1[64*i0+2*i3]:f16 at -1+1*i0+2*i2 0+3*i3 in 9 9 "
    "4:1:1:1:0\n"
    "        set on vec 1\n"
    "      end\n      barrier\n    end\n    add UB[0+32*i1]:f32 UB[0]:f32 1 8:1:1:0\n  end\nend\n";

/* ---- steps in ranges ------------------------------------------------------------------------ */
/* Marks the steps that are in ranges of single loops, in the first or the last ones, or any. */
static void mark(tf_rng *lot, int depth, const int64_t *trip, bool *marked, int64_t n) {
  const int kind = (int)tf_rng_below(lot, 4), loop = (int)tf_rng_below(lot, (unsigned)depth);
  int64_t inner = 1;
  for (int k = loop + 1; k < depth; k++)
    inner *= trip[k];
  const int64_t some = (int64_t)tf_rng_below(lot, (unsigned)n + 1),
                at = (int64_t)tf_rng_below(lot, (unsigned)trip[loop]);
  for (int64_t s = 0; s < n; s++)
    marked[s] = kind == 0   ? s < some
                : kind == 1 ? s >= some && s / inner % trip[loop] == at
                : kind == 2 ? s / inner % trip[loop] >= at && s % inner <= some
                            : tf_rng_below(lot, 3) == 0;
}

/* Whether the steps in the parts are those marked, each in one. */
static bool is_marked(const npu_steps *part, int parts, int depth, const int64_t *trip,
                      const bool *marked, int64_t n) {
  bool same = true;
  for (int64_t s = 0; s < n; s++) {
    int64_t at[NPU_DEPTH], rest = s;
    int in = 0;
    for (int k = depth - 1; k >= 0; rest /= trip[k--])
      at[k] = rest % trip[k];
    for (int k = 0; k < parts; k++) {
      npu_instr i = {.op = NPU_SET};
      i.flag.n = part[k].n;
      memcpy(i.flag.when, part[k].when, sizeof part[k].when);
      in += !is_not_due(&i, at);
      same = same && npu_is_due(&i, at, depth) == !is_not_due(&i, at);
    }
    same = same && in == marked[s];
  }
  return same;
}

static void check_steps(int cases) {
  enum { MOST = 24, STEPS = 6 * 6 * 6 };
  int told = 0, simple = 0;
  for (int seed = 0; seed < cases; seed++) {
    tf_rng lot = tf_rng_new((uint64_t)seed, 82);
    int64_t trip[NPU_DEPTH] = {0}, n = 1;
    const int depth = 1 + (int)tf_rng_below(&lot, 3);
    bool marked[STEPS];
    npu_steps part[MOST];
    for (int k = 0; k < depth; k++)
      n *= trip[k] = 1 + (int64_t)tf_rng_below(&lot, 6);
    mark(&lot, depth, trip, marked, n);
    const int parts = npu_steps_of(marked, depth, trip, part, MOST);
    CHECK(parts < 0 || is_marked(part, parts, depth, trip, marked, n));
    told += parts >= 0;
    simple += parts == 0 || parts == 1;
  }
  CHECK(told > cases / 2 && simple > cases / 2);
}

bool roll_check(int cases) {
  check_steps(cases);
  static draft t;
  t.n = 0;
  put(&t, "%s%s", machine, nest);
  char *said = again(t.text);
  size_t lines = 0, most = 0;
  for (const char *c = t.text; *c; c++)
    most += *c == '\n';
  for (const char *c = said ? said : ""; *c; c++)
    lines += *c == '\n';
  CHECK_I64((int64_t)lines, (int64_t)most);
  free(said);
  for (int seed = 0; seed < cases; seed++) {
    t.n = 0;
    t.lot = tf_rng_new((uint64_t)seed, 81);
    put(&t, "%s", machine);
    put_body(&t, 0);
    free(again(t.text));
  }
  return check_failed == 0;
}
