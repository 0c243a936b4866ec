/* The physical mapping: tiles, calls, layout, and time. */
#include <math.h>

#include "base/checked.h"
#include "base/locale.h"
#include "model/instr/match.h"

typedef struct {
  const tf_workload *wl;
  const tf_op *op;
  const tf_instr *in;
  const tf_instr_map *map;
  tf_instr_place *out;
} placing;

static int64_t extent_of(const placing *p, int loop) {
  return p->wl->dims[p->op->dims[loop]].extent;
}

static uint64_t mapped(const placing *p) {
  uint64_t all = 0;
  for (int l = 0; l < p->in->n_loops; l++)
    all |= p->map->set[l];
  return all;
}

static bool times(int64_t *product, int64_t by) { return tf_mul(*product, by, product); }

static bool place_loops(const placing *p, int64_t *slots) {
  tf_instr_place *out = p->out;
  uint64_t in = mapped(p);
  bool ok = true;
  out->outer = 1;
  for (int d = 0; d < p->op->n_dims; d++)
    if (!(in >> d & 1)) ok = ok && times(&out->outer, extent_of(p, d));
  out->calls = out->outer;
  *slots = 1;
  for (int l = 0; ok && l < p->in->n_loops; l++) {
    out->extent[l] = 1;
    for (int d = 0; d < p->op->n_dims; d++)
      if (p->map->set[l] >> d & 1) ok = ok && times(&out->extent[l], extent_of(p, d));
    out->tiles[l] = (out->extent[l] - 1) / p->in->size[l] + 1;
    ok = ok && times(&out->calls, out->tiles[l]) && times(slots, p->in->size[l]);
  }
  return ok && times(slots, out->calls);
}

/* Tiles lie in the order of the operand's indices, the last one fastest; then come the loops
 * around, the last of the op's dims fastest. */
static bool place_operand(const placing *p, int o) {
  const tf_op *body = &p->in->body->ops[0];
  int64_t words = p->in->operand[o].words;
  uint64_t in = mapped(p);
  tf_index own;
  tf_term term;
  const tf_index *ix;
  int rank = 0;
  while (tf_instr_index(p->in->body, body, o, rank, &own, &term))
    rank++;
  for (int x = rank - 1; x >= 0; x--) {
    ix = tf_instr_index(p->in->body, body, o, x, &own, &term);
    for (int l = p->in->n_loops - 1; l >= 0; l--) {
      if (!tf_instr_coef(body, ix, l) || p->out->operand[o].tile_step[l]) continue;
      p->out->operand[o].tile_step[l] = words;
      if (!times(&words, p->out->tiles[l])) return false;
    }
  }
  for (int d = p->op->n_dims - 1; d >= 0; d--) {
    bool moves = false;
    for (int x = 0; (ix = tf_instr_index(p->wl, p->op, o, x, &own, &term)); x++)
      moves = moves || tf_instr_coef(p->op, ix, d);
    if (!moves || in >> d & 1) continue;
    p->out->operand[o].outer_step[d] = words;
    if (!times(&words, extent_of(p, d))) return false;
  }
  p->out->operand[o].words = words;
  return true;
}

/* ---- time ------------------------------------------------------------------------------------ */
/* Instances of a memory; 1 for none. */
static double instances(const tf_arch *a, int memory) {
  double n = 1;
  for (int i = 0; a && i <= memory; i++)
    n *= (double)a->memories[i].mesh[0] * (double)a->memories[i].mesh[1];
  return n;
}

/* Calls that make one tile of the output, one after the other. */
static double chain(const placing *p) {
  double n = 1;
  uint64_t in = mapped(p);
  for (int l = p->in->body->ops[0].n_out_dims; l < p->in->n_loops; l++)
    n *= (double)p->out->tiles[l];
  for (int d = p->op->n_out_dims; d < p->op->n_dims; d++)
    if (!(in >> d & 1)) n *= (double)extent_of(p, d);
  return n;
}

/* Cycles in which words of some bits pass the ports of all instances of a memory. */
static double transfer(const tf_arch *a, int memory, double bits, bool write) {
  const tf_memory *m = &a->memories[memory];
  double bw = write ? m->write_bw : m->read_bw;
  return bits / m->word_bits / bw / instances(a, memory);
}

/* R and W of Eq. 5.8 at the memories that operands name, and at the outermost one. */
static double longest_transfer(const placing *p, const tf_arch *a, double output_tiles) {
  const int n = p->in->n_operands;
  double in[TF_INSTR_OPERANDS] = {0}, packed = 0, longest = 0;
  for (int o = 0; o < n - 1; o++) {
    const tf_operand *x = &p->in->operand[o];
    packed += (double)p->out->operand[o].words * x->bits;
    if (x->memory < 0) continue;
    for (int k = 0; k <= o; k++) /* operands of one memory share its port */
      if (p->in->operand[k].memory == x->memory) {
        in[k] += (double)p->out->calls * (double)x->words * x->bits;
        longest = fmax(longest, transfer(a, x->memory, in[k], false));
        break;
      }
  }
  const tf_operand *made = &p->in->operand[n - 1];
  longest = fmax(longest, transfer(a, 0, packed, false));
  longest = fmax(longest, transfer(a, 0, (double)p->out->operand[n - 1].words * made->bits, true));
  if (made->memory < 0) return longest;
  return fmax(longest,
              transfer(a, made->memory, output_tiles * (double)made->words * made->bits, true));
}

static double time_of(const placing *p, const tf_arch *a, bool paper) {
  double one = chain(p), tiles = (double)p->out->calls / one, units = instances(a, p->in->below);
  double calls = ceil(tiles / units) * one; /* of the busiest unit */
  double compute =
      paper ? calls * p->in->latency : p->in->latency + (calls - 1) / p->in->throughput;
  return a ? fmax(compute, longest_transfer(p, a, tiles)) : compute;
}

bool tf_instr_place_of(const tf_workload *wl, int op, const tf_instr *in, const tf_instr_map *map,
                       tf_instr_timing how, tf_instr_place *out, tf_diags *d) {
  TF_IN_C_LOCALE;
  placing p = {wl, &wl->ops[op], in, map, out};
  int64_t slots, points = 1;
  *out = (tf_instr_place){0};
  bool ok = place_loops(&p, &slots);
  for (int o = 0; o < in->n_operands; o++)
    ok = ok && place_operand(&p, o);
  for (int k = 0; k < p.op->n_dims; k++)
    ok = ok && times(&points, extent_of(&p, k));
  if (!ok)
    return tf_fail(d, p.op->at, TF_E_OVERFLOW,
                   "the calls or packed words of op '%.60s' on '%.60s' pass 2^63 - 1", p.op->name,
                   in->name);
  out->utilization = (double)points / (double)slots;
  out->cycles = time_of(&p, how.arch, how.paper);
  return true;
}
