/* What the kernels of a program take, besides what the model counts of memories: blocks on multiprocessors in waves, as
 * many at a time on each as registers and shared memory allow; in a block what tensor cores, plain units and shared
 * memory are busy with, and what nobody hides.  An estimate to rank mappings by that the model finds alike. */
#include <math.h>
#include <string.h>

#include "codegen/target/cuda/pass/pass.h"

/* wgmma comes to this part of the tensor cores' rate, where tiles come beside it (a large product on an H100: 78 to 81
 * %, shared/design/targets.md). */
static const double group_share = 0.8;
/* And shared memory to this part of its bandwidth, which those tiles and products share. */
static const double port_share = 0.9;
/* Registers that ptxas may take beside those that are expected, as a factor: from there on it may spill. */
static const double margin = 1.10;

typedef struct {
  const ir_program *p;
  const tf_multiprocessor *mp;
  double rate; /* multiply-adds a cycle of a multiprocessor's tensor cores */
  int64_t multiprocessors;
  double times; /* how often control comes by in a block */
  double lanes; /* threads that have a step of the loops around */
  bool groups;  /* it is of warpgroups */
  bool *same;   /* [n_buffers] tiles of which each block of a cluster brings half */
  bool each;    /* a lane has points of its own; else a warp's lanes share each sum */
  /* of a block, in cycles */
  double tensor, plain, special, shared, copied, waits;
} block;

static const tf_op *op_of(const block *b, const ir_stmt *s) { return &b->p->tree->workload->ops[s->op]; }

/* ---- registers ------------------------------------------------------------------------------------------- */

/* What a part of the program has in a lane's registers. */
typedef struct {
  bool *seen;        /* [buffers] counted */
  double sums;       /* of products in fragments */
  bool pieces, rows; /* a sum in pieces, whose tiles are on their way; work on rows beside products */
  bool guarded;      /* some warps have no rows: all work stands under that question */
} held;

static void find_held(const ir_program *p, const ir_body *body, bool region, held *h) {
  for (int i = 0; i < body->n; i++) {
    const ir_stmt *s = body->s[i];
    if (s->kind == IR_NEST && s->nest.fragments) {
      const int z = p->buffer_of[p->tree->workload->ops[s->op].out];
      const ir_buffer *b = &p->buffers[z];
      if (!h->seen[z]) h->sums += (double)(b->extent[b->rows] * b->extent[b->columns]) / CU_LANES;
      h->seen[z] = true;
      h->pieces |= s->nest.n_fresh > 0;
    } else {
      h->rows |= region && ir_facts_of(s)->points && s->kind != IR_SAVE;
    }
    h->guarded |= s->kind == IR_IF && s->guard.steps > 0;
    find_held(p, &s->body, region || (s->kind == IR_FOR && cu_is_region(p, s)), h);
  }
}

/* Fitted to what ptxas 13.0 says for sm_80 of the thesis's chains and attention, the layers of workloads/models, and
 * products of 128 x 128, all in bfloat16 (docs/HOWTO-emit.md): within 10 % of most. */
double cu_registers(const ir_program *p, const ir_stmt *part) {
  enum { ALWAYS = 30, PIECES = 30, ROWS = 18, GUARD = 20 };
  static const double each = 1.7;
  held h = {.seen = TF_ARRAY(p->arena, bool, (size_t)p->n_buffers + 1)};
  if (!h.seen) return ALWAYS;
  find_held(p, &part->body, false, &h);
  return ALWAYS + (h.rows ? ROWS : h.pieces ? PIECES : 0) + (h.guarded ? GUARD : 0) + each * h.sums;
}

/* ---- what a block does ----------------------------------------------------------------------------------- */

static int64_t up(int64_t n, int64_t by) { return (n + by - 1) / by * by; }

static double points_of(const block *b, const ir_stmt *s) {
  double n = 1;
  for (int k = 0; k < ir_n_ranges(b->p, s); k++)
    n *= (double)s->range[k].most;
  return n;
}

/* All warps' rows and columns, filled up; operands by ldmatrix from tiles, else an element at a time.  A warpgroup
 * reads its columns once for all its warps. */
static void product(block *b, const ir_stmt *s) {
  const cu_mma *mma = cu_mma_of(b->p);
  const ir_fragments *f = s->nest.fragments;
  const ir_buffer *out = &b->p->buffers[b->p->buffer_of[op_of(b, s)->out]];
  const double m = (double)out->extent[out->rows], n = (double)out->extent[out->columns],
               k = (double)up(s->range[f->k].most, mma->kernel.k_round);
  const double warps = b->lanes / CU_LANES, all = m * n * k * warps;
  b->tensor += b->times * all / b->rate;
  for (int i = 0; i < 2; i++) {
    const ir_buffer *from = &b->p->buffers[s->nest.from[i ? f->b : f->a]];
    const double elements = (i ? n : m) * k * warps / (i && b->groups ? CU_GROUP_WARPS : 1);
    if (from->role == IR_COPIED && from->matrix)
      b->shared += b->times * elements * ir_bytes(mma->kernel.a) / b->mp->banks;
    else if (from->space != CU_FRAGMENT)
      b->plain += b->times * elements * b->mp->point / CU_LANES * 4; /* a warp's loads of 4 bytes, one by one */
  }
}

/* Special functions that the op's expression has. */
static int specials(const tf_op *op) {
  static const tf_kind kinds[] = {TF_K_EXP, TF_K_LOG,     TF_K_SQRT, TF_K_DIV, TF_K_TANH,
                                  TF_K_ERF, TF_K_SIGMOID, TF_K_GELU, TF_K_SILU};
  int n = 0;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    n += (op->kinds >> kinds[i] & 1) != 0;
  return n;
}

/* Points of fragments are all lanes'; others those of the threads that have a step of the loops around. */
static void points(block *b, const ir_stmt *s, bool region) {
  const double each = points_of(b, s) * b->times, all = each * b->lanes / (region ? CU_LANES : 1);
  b->plain += all * b->mp->point / b->mp->plain;
  b->special += all * specials(op_of(b, s)) / b->mp->special;
  if (!region) b->waits += each * b->mp->wait / (b->each ? 1 : CU_LANES);
}

/* The parts of sums come from L2, one after the other. */
static void merge(block *b, const ir_stmt *s) {
  const double times = b->times;
  b->times *= (double)s->merge.parts;
  points(b, s, false);
  b->copied += points_of(b, s) * b->times * b->lanes * ir_bytes(b->p->buffers[s->merge.from].type) / b->mp->l2;
  b->times = times;
  b->waits += b->times * b->mp->latency;
}

static void copy(block *b, const ir_stmt *s) {
  const ir_buffer *to = &b->p->buffers[s->copy.to];
  double bytes = (double)ir_bytes(to->type);
  for (int r = 0; r < to->rank; r++)
    bytes *= (double)s->range[r].most;
  b->copied += b->times * bytes / b->mp->l2 / (b->groups && b->same[s->copy.to] ? 2 : 1);
  if (b->groups) b->shared += b->times * bytes / b->mp->banks;
  if (to->slots == 1) b->waits += b->times * b->mp->latency;
}

static void body(block *b, const ir_body *list, bool region);

static void loop(block *b, const ir_stmt *s, bool region) {
  const block before = *b;
  const bool thread = s->loop.map == IR_WARP || s->loop.map == IR_LANE, here = region || cu_is_region(b->p, s);
  if (s->loop.map == IR_SERIAL) b->times *= (double)s->loop.trip;
  if (thread) b->lanes *= (double)s->loop.trip;
  if (thread && here && !region) b->lanes *= CU_LANES;
  if (thread) b->each = s->loop.map == IR_LANE;
  body(b, &s->body, here);
  if (thread) b->waits += before.times * b->mp->barrier;
  b->times = before.times;
  b->lanes = before.lanes;
  b->each = before.each;
}

static double busy(const block *b) { return b->tensor / b->mp->share + b->plain + b->special; }

/* What is for some of the warps alone.  Each has the units of one scheduler, of which a multiprocessor has as many as
 * its plain units have warps' lanes; the others are another block's. */
static void some(block *b, const ir_stmt *s, bool region) {
  const double all = b->lanes, before = busy(b), schedulers = b->mp->plain / CU_LANES;
  const double warps = region && s->guard.steps ? (double)s->guard.steps : CU_WARPS;
  b->lanes *= warps / CU_WARPS;
  body(b, &s->body, region);
  if (warps < schedulers) b->waits += (busy(b) - before) * (schedulers / warps - 1);
  b->lanes = all;
}

static void body(block *b, const ir_body *list, bool region) {
  for (int i = 0; i < list->n; i++) {
    const ir_stmt *s = list->s[i];
    if (s->kind == IR_FOR)
      loop(b, s, region);
    else if (s->kind == IR_COPY)
      copy(b, s);
    else if (s->kind == IR_BARRIER || s->kind == IR_WAIT)
      b->waits += b->times * b->mp->barrier;
    else if (s->kind == IR_NEST && s->nest.fragments)
      product(b, s);
    else if (s->kind == IR_MERGE)
      merge(b, s);
    else if (ir_facts_of(s)->points)
      points(b, s, region);
    else if (s->kind == IR_IF)
      some(b, s, region);
    else
      body(b, &s->body, region);
  }
}

/* ---- waves ----------------------------------------------------------------------------------------------- */

static double shared_bytes(const ir_program *p) {
  double bytes = 0;
  for (int i = 0; i < p->n_buffers; i++)
    if (p->buffers[i].space == CU_SHARED) bytes += (double)cu_bytes(&p->buffers[i]);
  return bytes;
}

double cu_resident(const tf_multiprocessor *m, double registers, double shared) {
  const double most = registers < m->most ? registers : m->most;
  const double by[] = {floor(m->registers / (ceil(most / 8) * 8 * CU_WARPS * CU_LANES)),
                       floor(m->memory / (shared + m->reserve)), m->threads / (CU_WARPS * CU_LANES)};
  double least = by[0];
  for (int i = 1; i < 3; i++)
    least = by[i] < least ? by[i] : least;
  return least < 1 ? 1 : least;
}

/* So many blocks of a multiprocessor side by side: what units are busy with adds up, waits are another's work. */
static double together(const block *b, double blocks, double spilled) {
  const double all = busy(b) * spilled;
  const double ports = b->shared > b->copied ? b->shared : b->copied;
  const double one = all + b->waits + b->mp->latency, sum = blocks * (ports > all ? ports : all);
  return sum > one ? sum : one;
}

/* Whether a loop's steps are two products with work on rows in between, which warpgroups do in turn. */
static bool has_turns(const ir_body *b) {
  int products = 0;
  bool any = false;
  for (int i = 0; i < b->n && !any; i++) {
    products += b->s[i]->kind == IR_NEST && b->s[i]->nest.fragments;
    any = b->s[i]->kind == IR_FOR && has_turns(&b->s[i]->body);
  }
  return any || products == 2;
}

/* What such a loop takes where one warpgroup multiplies while the other works on rows: products and exponentials one
 * behind the other, as attention on an H100 was seen to (shared/design/targets.md). */
static double in_turns(const block *b, double one) {
  const double rows = b->plain + b->special, both = b->tensor + b->special, most = rows > both ? rows : both;
  return one > most ? one : most;
}

/* A block of warpgroups is alone on its multiprocessor, and asks for its next tiles while it multiplies; of what its
 * products wait for, the other warpgroup hides half.  The grid is persistent: one start for all blocks. */
static double of_groups(const block *b, const ir_stmt *s, double blocks) {
  const double units = b->tensor / group_share, ports = b->shared / port_share;
  const double copies = ports > b->copied ? ports : b->copied, one = units > copies ? units : copies;
  return b->mp->start + b->mp->latency +
         ceil(blocks / (double)b->multiprocessors) *
             ((has_turns(&s->body) ? in_turns(b, one) : one + b->plain + b->special) + b->waits / 2 + b->mp->barrier);
}

static double part(block *b, const ir_stmt *s) {
  const double blocks = s->kind == IR_FOR && s->loop.map == IR_BLOCK ? (double)s->loop.trip : 1;
  const double registers = cu_registers(b->p, s), at_once = cu_resident(b->mp, registers, shared_bytes(b->p));
  const double most = registers * margin, spilled = most > b->mp->most ? 1.5 + (most - b->mp->most) / 32 : 1;
  b->times = b->lanes = 1;
  b->each = true;
  b->groups = b->same && cu_is_groups(s);
  if (b->groups && !cu_cluster(b->p, s, b->same)) memset(b->same, 0, (size_t)b->p->n_buffers * sizeof *b->same);
  b->tensor = b->plain = b->special = b->shared = b->copied = b->waits = 0;
  body(b, &s->body, false);
  if (b->groups) return of_groups(b, s, blocks);
  const double wave = at_once * (double)b->multiprocessors, full = floor(blocks / wave), rest = blocks - full * wave;
  double cycles = b->mp->start + full * together(b, at_once, spilled);
  if (rest > 0) cycles += together(b, ceil(rest / (double)b->multiprocessors), spilled);
  return cycles;
}

double cu_rate(const ir_program *p) {
  const tf_arch *a = p->tree->arch;
  const int home = cu_home(a);
  const cu_mma *mma = cu_mma_of(p);
  double best = a->multiprocessor.plain;
  for (int u = 0; u < a->n_units; u++) {
    double n = (double)(a->units[u].mesh[0] * a->units[u].mesh[1]);
    for (int l = home + 1; l <= a->units[u].below; l++)
      n *= (double)(a->memories[l].mesh[0] * a->memories[l].mesh[1]);
    if (a->units[u].kinds >> TF_K_MAC & 1 && n > best) best = n;
  }
  return mma ? best * mma->kernel.group / 2 : best;
}

double cu_cost(const ir_program *p) {
  const tf_arch *a = p->tree->arch;
  const int home = cu_home(a);
  block b = {.p = p, .mp = &a->multiprocessor, .rate = cu_rate(p), .multiprocessors = 1};
  b.same = TF_ARRAY(p->arena, bool, (size_t)p->n_buffers + 1);
  if (home) b.multiprocessors = a->memories[home].mesh[0] * a->memories[home].mesh[1];
  double cycles = 0;
  for (int i = 0; i < p->body.n; i++)
    if (p->body.s[i]->kind != IR_LET) cycles += part(&b, p->body.s[i]);
  return cycles;
}
