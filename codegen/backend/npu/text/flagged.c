/* Flags apart from the instructions that they stand at, so that loops need not end where some steps
 * alone have one: the first, whose slots nobody has used, or the last, behind which nobody waits.
 */
#include <stdlib.h>
#include <string.h>

#include "codegen/backend/npu/text/roll.h"

/* ---- off ------------------------------------------------------------------------------------ */
/* Whether the flag is of an instruction of `queue`, and behind those of its kind in `mask`. */
static bool note_flag(const npu_instr *i, int queue, int of, int other, uint8_t *mask) {
  const bool ok = i->flag.id == 0 && i->flag.n == 0 && of == queue && !(*mask >> other);
  *mask |= (uint8_t)(1u << other);
  return ok;
}

bool npu_flagged_of(const tf_npu *flat, npu_flagged *f) {
  const size_t n = flat->n + 1;
  *f = (npu_flagged){.at = calloc(n, sizeof *f->at), .waits = calloc(n, 1), .sets = calloc(n, 1)};
  bool ok = f->at && f->waits && f->sets;
  int waiting = -1; /* the queue of the waits before the next instruction */
  for (size_t k = 0; k < flat->n && ok; k++) {
    const npu_instr *i = &flat->instr[k];
    if (i->op == NPU_WAIT) {
      ok = note_flag(i, waiting < 0 ? i->flag.to : waiting, i->flag.to, i->queue, &f->waits[f->n]);
      waiting = i->flag.to;
    } else if (i->op == NPU_SET) {
      ok = f->n > 0 && waiting < 0 &&
           note_flag(i, flat->instr[f->at[f->n - 1]].queue, i->queue, i->flag.to,
                     &f->sets[f->n - 1]);
    } else {
      ok = waiting < 0 || (i->op != NPU_BARRIER && i->queue == waiting);
      waiting = -1;
      f->at[f->n++] = k;
    }
  }
  if (ok && waiting < 0) return true;
  npu_flagged_free(f);
  return false;
}

void npu_flagged_free(npu_flagged *f) {
  free(f->at);
  free(f->waits);
  free(f->sets);
}

/* ---- on again ------------------------------------------------------------------------------- */
/* Which runs of the instructions of a program with loops are whose. */
typedef struct {
  const npu_flagged *f;
  const tf_npu *p;
  tf_npu out;          /* its instructions alone */
  size_t *begin, *run; /* run[begin[k]] ..: the runs of instruction k, as they follow each other */
  bool *marked;
  int depth;
  int64_t trip[NPU_DEPTH];
} putter;

/* Calls each run of an instruction in order: counts it, or notes it. */
static void walk(putter *w, size_t *next, bool note) {
  int64_t at[NPU_DEPTH];
  int depth = 0;
  size_t runs = 0;
  for (size_t k = 0; k < w->p->n;) {
    const npu_instr *i = &w->p->instr[k];
    if (i->op == NPU_FOR) at[depth++] = 0;
    if (i->op != NPU_FOR && i->op != NPU_END) {
      if (note) w->run[w->begin[k] + next[k]] = runs;
      next[k]++, runs++;
    }
    const bool again = i->op == NPU_END && ++at[depth - 1] < w->p->instr[i->loop.match].loop.trip;
    depth -= i->op == NPU_END && !again;
    k = again ? i->loop.match + 1 : k + 1;
  }
}

static bool find_runs(putter *w) {
  size_t *next = calloc(w->p->n + 1, sizeof *next);
  w->begin = calloc(w->p->n + 1, sizeof *w->begin);
  w->run = calloc(w->f->n + 1, sizeof *w->run);
  w->marked = calloc(w->f->n + 1, sizeof *w->marked);
  const bool ok = next && w->begin && w->run && w->marked;
  if (ok) walk(w, next, false);
  for (size_t k = 0; k < w->p->n && ok; k++)
    w->begin[k + 1] = w->begin[k] + next[k];
  if (ok) memset(next, 0, w->p->n * sizeof *next);
  if (ok) walk(w, next, true);
  free(next);
  return ok;
}

/* The flags of that kind between the queue of instruction k and queue q. */
static bool put_flags(putter *w, size_t k, npu_op op, int q) {
  enum { MOST = 12 };
  const uint8_t *masks = op == NPU_WAIT ? w->f->waits : w->f->sets;
  npu_steps steps[MOST];
  const size_t n = w->begin[k + 1] - w->begin[k];
  bool any = false;
  for (size_t s = 0; s < n; s++)
    any |= w->marked[s] = masks[w->run[w->begin[k] + s]] >> q & 1;
  const int parts = any ? npu_steps_of(w->marked, w->depth, w->trip, steps, MOST) : 0;
  for (int s = 0; s < parts; s++) {
    npu_instr *i = npu_add(&w->out, op);
    if (!i) return false;
    i->queue = op == NPU_WAIT ? q : w->p->instr[k].queue;
    i->flag.to = op == NPU_WAIT ? w->p->instr[k].queue : q;
    i->flag.n = steps[s].n;
    memcpy(i->flag.when, steps[s].when, sizeof steps[s].when);
  }
  return parts >= 0;
}

static bool put_instr(putter *w, size_t k, size_t *open) {
  const npu_instr *from = &w->p->instr[k];
  bool ok = true;
  for (int q = 0; q < NPU_QUEUES && ok; q++)
    ok = put_flags(w, k, NPU_WAIT, q);
  npu_instr *i = ok ? npu_add(&w->out, from->op) : NULL;
  if (!i) return false;
  *i = *from;
  if (i->op == NPU_FOR) open[w->depth] = w->out.n - 1, w->trip[w->depth++] = i->loop.trip;
  if (i->op == NPU_END) {
    i->loop.match = open[--w->depth];
    w->out.instr[i->loop.match].loop.match = w->out.n - 1;
  }
  for (int q = 0; q < NPU_QUEUES && ok; q++)
    ok = put_flags(w, k, NPU_SET, q);
  return ok;
}

bool npu_flagged_put(const npu_flagged *f, tf_npu *looped) {
  putter w = {.f = f, .p = looped};
  size_t open[NPU_DEPTH];
  bool ok = find_runs(&w);
  for (size_t k = 0; k < looped->n && ok; k++)
    ok = put_instr(&w, k, open);
  if (ok) {
    free(looped->instr);
    looped->instr = w.out.instr;
    looped->n = w.out.n;
  } else {
    free(w.out.instr);
  }
  free(w.begin);
  free(w.run);
  free(w.marked);
  return ok;
}
