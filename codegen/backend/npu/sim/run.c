/* Simulates a run: queues run concurrently, each in order; whichever can begin first does. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/locale.h"
#include "base/rng.h"
#include "codegen/backend/npu/sim/run.h"

/* ---- memories ------------------------------------------------------------------------------- */
static bool make_memories(npu_run *r) {
  const tf_npu *p = r->p;
  for (int i = 0; i < p->machine.n_memories; i++) {
    const size_t bytes = (size_t)(i ? p->machine.memory[i].bytes : p->bytes) + 8;
    r->bytes[i] = calloc(bytes, 1);
    r->shadow[i] = calloc(bytes / 2 + 1, sizeof(npu_shadow));
    if (!r->bytes[i] || !r->shadow[i]) return false;
  }
  return true;
}

static void write_input(npu_run *r, int t, const double *data) {
  const npu_tensor *z = &r->p->tensor[t];
  tf_rng rng = tf_rng_new(1, (uint64_t)t);
  for (int64_t k = 0; k < z->words; k++) {
    const int64_t at = r->p->tensor[t].offset + k * npu_type_bytes(z->type);
    const float x = (float)(data ? data[k] : 2 * tf_rng_unit(&rng) - 1);
    const uint16_t h = npu_to_half(x);
    if (z->type == NPU_F16)
      memcpy(r->bytes[0] + at, &h, sizeof h);
    else
      memcpy(r->bytes[0] + at, &x, sizeof x);
    for (int64_t b = 0; b < npu_type_bytes(z->type) / 2; b++)
      r->shadow[0][at / 2 + b].set = true;
  }
}

static void read_output(const npu_run *r, int t, double *data) {
  const npu_tensor *z = &r->p->tensor[t];
  for (int64_t k = 0; k < z->words; k++) {
    const uint8_t *b = r->bytes[0] + r->p->tensor[t].offset + k * npu_type_bytes(z->type);
    float x;
    uint16_t h;
    memcpy(&x, b, z->type == NPU_F16 ? 0 : sizeof x);
    memcpy(&h, b, sizeof h);
    data[k] = (double)(z->type == NPU_F16 ? npu_from_half(h) : x);
  }
}

/* Reports an output of which an element was not written. */
static void check_written(npu_run *r, int t) {
  const npu_tensor *z = &r->p->tensor[t];
  for (int64_t b = 0; b < z->words * npu_type_bytes(z->type) / 2; b++)
    if (!r->shadow[0][r->p->tensor[t].offset / 2 + b].set) {
      r->ok = tf_fail(r->d, z->loc, TF_E_UNWRITTEN, "byte %lld of '%s' is not written",
                      (long long)(2 * b), z->name);
      return;
    }
}

/* ---- counts --------------------------------------------------------------------------------- */
static tf_npu_flow *flow_of(npu_run *r, tf_npu_result *out, const npu_instr *i) {
  const npu_machine *m = &r->p->machine;
  const char *from = m->memory[m->path[i->via].from].name, *to = m->memory[m->path[i->via].to].name;
  for (int k = 0; k < out->n_flows; k++)
    if (out->flows[k].from == from && out->flows[k].to == to && !strcmp(out->flows[k].tag, i->tag))
      return &out->flows[k];
  if (!TF_GROW(out->flows, out->n_flows)) return NULL;
  out->flows[out->n_flows] = (tf_npu_flow){.from = from, .to = to, .tag = i->tag};
  return &out->flows[out->n_flows++];
}

static int64_t mads(const npu_instr *i) {
  return i->op == NPU_MAD ? i->mad.m * i->mad.n * i->mad.k : 0;
}

static void note(npu_run *r, tf_npu_result *out, const npu_instr *i, double begin, double end) {
  out->queues[i->queue].instructions++;
  out->queues[i->queue].busy += end - begin;
  out->mads += mads(i);
  if (npu_is_vector(i->op)) out->lanes += npu_count(i);
  tf_npu_flow *f = i->via >= 0 ? flow_of(r, out, i) : NULL;
  if (f) f->words += npu_count(i);
  if (f) f->cycles += end - begin;
  r->last_span[i->queue] = out->n_spans;
  const int64_t words = i->via >= 0 || npu_is_vector(i->op) ? npu_count(i) : mads(i);
  if (out->spans)
    out->spans[out->n_spans++] = (tf_npu_span){r->p->machine.queue[i->queue],
                                               npu_facts_of(i->op)->name,
                                               i->tag,
                                               i->loc.line,
                                               begin,
                                               end,
                                               words};
}

/* ---- a port that the cube shares with the vector unit --------------------------------------- */
/* The cycles by which a vector operation that runs for `beside` more cycles delays a product that
 * runs for `left` more: they share a port. */
static double delay_of_port(const npu_run *r, double left, double beside) {
  const double part = r->p->machine.vector.port, most = beside * (1 - part);
  return left <= most ? left * part / (1 - part) : beside * part;
}

/* An instruction begins, and would end at *end if alone. A product that begins during a vector
 * operation ends later; a vector operation that begins during a product makes the product end
 * later. */
static void share_port(npu_run *r, tf_npu_result *out, const npu_instr *i, double begin,
                       double *end) {
  const int cube = r->p->machine.cube.queue;
  if (i->op == NPU_MAD) {
    if (r->vector_end > begin) *end += delay_of_port(r, *end - begin, r->vector_end - begin);
    r->mad_end = *end;
  } else if (npu_is_vector(i->op)) {
    r->vector_end = *end;
    if (r->mad_end <= begin) return;
    const double more = delay_of_port(r, r->mad_end - begin, *end - begin);
    r->mad_end += more;
    r->time[cube] += more;
    out->queues[cube].busy += more;
    if (out->spans) out->spans[r->last_span[cube]].end += more;
  }
}

/* ---- queues --------------------------------------------------------------------------------- */
static const npu_step *head(const npu_run *r, int q) {
  return r->pos[q] < r->n[q] ? &r->steps[r->list[q][r->pos[q]]] : NULL;
}

static bool all_at(const npu_run *r, const npu_step *barrier) {
  bool all = true;
  for (int q = 0; q < r->p->machine.n_queues; q++)
    all &= head(r, q) == barrier;
  return all;
}

/* When the head of the queue can begin; negative: not yet known. */
static double begin_of(npu_run *r, int q) {
  const npu_step *s = head(r, q);
  if (!s) return -1;
  const npu_instr *i = npu_instr_of(r, s);
  if (i->op == NPU_BARRIER && !all_at(r, s)) return -1;
  if (i->op != NPU_WAIT) return r->time[q];
  const npu_flag *f = r->flags[i->queue][i->flag.to][i->flag.id].first;
  return !f ? -1 : f->time > r->time[q] ? f->time : r->time[q];
}

/* A queue that waited for another one also knows what that one knew to have ended. */
static void learn_ended(uint32_t *to, const uint32_t *from) {
  for (int k = 0; k < NPU_QUEUES; k++)
    to[k] = from[k] > to[k] ? from[k] : to[k];
}

static void set_flag(npu_run *r, int q, const npu_instr *i) {
  npu_flags *f = &r->flags[q][i->flag.to][i->flag.id];
  npu_flag *new = calloc(1, sizeof *new);
  if (!new) {
    r->ok = tf_out_of_memory_at(r->d, i->loc);
    return;
  }
  new->time = r->time[q];
  memcpy(new->known_ended, r->known_ended[q], sizeof new->known_ended);
  *(f->first ? f->last : &f->first) = new;
  f->last = &new->next;
}

static void wait_flag(npu_run *r, int q, const npu_instr *i) {
  npu_flags *f = &r->flags[i->queue][i->flag.to][i->flag.id];
  npu_flag *old = f->first;
  learn_ended(r->known_ended[q], old->known_ended);
  f->first = old->next;
  free(old);
}

/* All queues have reached the barrier, and continue together when the last one has. */
static void pass_barrier(npu_run *r, double at) {
  const int n = r->p->machine.n_queues;
  for (int q = 0; q < n; q++)
    at = r->time[q] > at ? r->time[q] : at;
  for (int q = 1; q < n; q++)
    learn_ended(r->known_ended[0], r->known_ended[q]);
  for (int q = 0; q < n; q++) {
    memcpy(r->known_ended[q], r->known_ended[0], sizeof r->known_ended[q]);
    r->time[q] = at;
    r->pos[q]++;
  }
}

static void begin_head(npu_run *r, int q, double begin, tf_npu_result *out) {
  const npu_step *s = head(r, q);
  const npu_instr *i = npu_instr_of(r, s);
  if (i->op == NPU_BARRIER) {
    pass_barrier(r, begin);
    return;
  }
  r->pos[q]++;
  r->time[q] = begin;
  if (i->op == NPU_SET) {
    set_flag(r, q, i);
  } else if (i->op == NPU_WAIT) {
    wait_flag(r, q, i);
  } else {
    r->known_ended[q][q] = (uint32_t)r->pos[q];
    if (!r->o->timing_only) npu_exec(r, q, s);
    r->time[q] = begin + npu_cycles_of(&r->p->machine, i);
    if (r->p->machine.vector.port > 0) share_port(r, out, i, begin, &r->time[q]);
    note(r, out, i, begin, r->time[q]);
  }
}

static bool run_next(npu_run *r, tf_npu_result *out) {
  int best = -1;
  double begin = 0;
  for (int q = 0; q < r->p->machine.n_queues; q++) {
    const double t = begin_of(r, q);
    if (t >= 0 && (best < 0 || t < begin)) best = q, begin = t;
  }
  if (best >= 0) begin_head(r, best, begin, out);
  return best >= 0 && r->left >= 0;
}

static void check_ended(npu_run *r) {
  for (int q = 0; q < r->p->machine.n_queues && r->left >= 0; q++) {
    const npu_step *s = head(r, q);
    if (!s) continue;
    const npu_instr *i = npu_instr_of(r, s);
    if (i->op == NPU_WAIT)
      r->ok = tf_fail(r->d, i->loc, TF_E_DEADLOCK,
                      "queue '%s' waits here for a flag that '%s' never sets",
                      r->p->machine.queue[q], r->p->machine.queue[i->queue]);
    else
      r->ok =
          tf_fail(r->d, i->loc, TF_E_DEADLOCK,
                  "queue '%s' waits at this barrier, which not all reach", r->p->machine.queue[q]);
  }
}

/* ---- a run ---------------------------------------------------------------------------------- */
static bool start(npu_run *r, double *const *data, tf_npu_result *out) {
  const tf_npu *p = r->p;
  r->reported = calloc(p->n + 1, 1);
  out->n_queues = p->machine.n_queues;
  out->queues = calloc((size_t)out->n_queues + 1, sizeof *out->queues);
  if (!r->reported || !out->queues || (!r->o->timing_only && !make_memories(r)))
    return tf_out_of_memory(r->d);
  for (int q = 0; q < out->n_queues; q++)
    out->queues[q].queue = p->machine.queue[q];
  for (int t = 0; t < p->n_tensors && !r->o->timing_only; t++)
    if (p->tensor[t].in) write_input(r, t, data ? data[t] : NULL);
  if (!npu_issue(r)) return false;
  if (r->o->spans) out->spans = calloc(r->n_steps + 1, sizeof *out->spans);
  return !r->o->spans || out->spans || tf_out_of_memory(r->d);
}

static void finish(npu_run *r, double *const *data, tf_npu_result *out) {
  const tf_npu *p = r->p;
  for (int q = 0; q < p->machine.n_queues; q++)
    out->cycles = r->time[q] > out->cycles ? r->time[q] : out->cycles;
  check_ended(r);
  for (int t = 0; t < p->n_tensors && r->ok && !r->o->timing_only; t++) {
    if (p->tensor[t].out) check_written(r, t);
    if (p->tensor[t].out && data && data[t]) read_output(r, t, data[t]);
  }
}

static void free_run(npu_run *r) {
  for (int q = 0; q < NPU_QUEUES; q++)
    for (int to = 0; to < NPU_QUEUES; to++)
      for (int k = 0; k < NPU_FLAGS; k++)
        for (npu_flag *f = r->flags[q][to][k].first, *next; f; f = next) {
          next = f->next;
          free(f);
        }
  for (int i = 0; i < NPU_MEMORIES; i++) {
    free(r->bytes[i]);
    free(r->shadow[i]);
  }
  for (int q = 0; q < NPU_QUEUES; q++)
    free(r->list[q]);
  free(r->steps);
  free(r->reported);
  free(r);
}

bool tf_npu_run(const tf_npu *p, const tf_npu_options *o, double *const *data, tf_npu_result *out,
                tf_diags *d) {
  TF_IN_C_LOCALE;
  static const tf_npu_options none = {0};
  *out = (tf_npu_result){0};
  npu_run *r = calloc(1, sizeof *r);
  if (!r) return tf_out_of_memory(d);
  r->p = p;
  r->o = o ? o : &none;
  r->d = d;
  r->ok = true;
  if (start(r, data, out)) {
    while (run_next(r, out)) {
    }
    finish(r, data, out);
  } else {
    r->ok = false;
  }
  const bool ok = r->ok;
  free_run(r);
  return ok;
}

void tf_npu_result_free(tf_npu_result *r) {
  if (!r) return;
  free(r->flows);
  free(r->queues);
  free(r->spans);
  *r = (tf_npu_result){0};
}
