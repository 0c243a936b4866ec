#include "model/sparse/sparse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/input/dims.h"
#include "model/input/reader.h"
#include "model/sparse/bands.h"
#include "model/sparse/known.h"

/* ---- densities ------------------------------------------------------------------------------ */

/* The probability that a call's value is not zero, of those of its arguments; at most, as sums are
 * taken not to cancel out. */
static double call_share(const tf_expr *e, const double *of) {
  const double a = e->n_args > 0 ? of[e->arg[0]] : 1, b = e->n_args > 1 ? of[e->arg[1]] : 1,
               c = e->n_args > 2 ? of[e->arg[2]] : 1;
  switch (e->call) {
  case TF_K_MUL: return a * b;
  case TF_K_DIV:
  case TF_K_NEG:
  case TF_K_SQRT:
  case TF_K_TANH:
  case TF_K_ERF:
  case TF_K_RELU:
  case TF_K_GELU:
  case TF_K_SILU:
  case TF_K_ABS:
  case TF_K_FLOOR:
  case TF_K_CEIL:
  case TF_K_ROUND:
  case TF_K_TRUNC:
  case TF_K_SIN:
  case TF_K_FMOD:
  case TF_K_COPY: return a;
  case TF_K_ADD:
  case TF_K_SUB:
  case TF_K_MAX:
  case TF_K_MIN: return 1 - (1 - a) * (1 - b);
  case TF_K_SELECT: return 1 - (1 - b) * (1 - c);
  default: return 1;
  }
}

/* What an op makes, of zeros in what it reads that fall independently. */
static double made_share(const tf_sparse *s, const tf_op *op) {
  double of[TF_MAX_EXPR], terms = 1;
  int known = 0;
  for (int i = 0; i < op->n_reads; i++) {
    if (s->share[op->reads[i].tensor] < 1 && tf_op_times_read(op, op->reads[i].tensor) > 1)
      return 1;
    known += s->tensors[op->reads[i].tensor].density.fall == TF_FALL_KNOWN;
  }
  if (known > 1) return 1;
  for (int i = 0; i < op->n_expr; i++) {
    const tf_expr *e = &op->expr[i];
    of[i] = e->what == TF_X_READ     ? s->share[op->reads[e->ref].tensor]
            : e->what == TF_X_CALL   ? call_share(e, of)
            : e->what == TF_X_NUMBER ? (e->number < 0 || e->number > 0)
                                     : 1;
  }
  const double point = of[op->n_expr - 1];
  for (int d = op->n_out_dims; d < op->n_dims; d++)
    terms *= (double)s->wl->dims[op->dims[d]].extent;
  if (point >= 1) return 1;
  return op->reduce == TF_REDUCE_MUL ? pow(point, terms) : 1 - pow(1 - point, terms);
}

/* The share of what op o makes; a band that it makes becomes the tensor's density. */
static double follow_op(tf_sparse *s, tf_bands *b, int o) {
  const tf_op *op = &s->wl->ops[o];
  const double share = made_share(s, op);
  tf_density band;
  if (!tf_bands_made(b, o, s->share, share, &band)) /* of what part of a band makes, none is told */
    return tf_sparse_parts(s, o) || tf_bands_met(b, o, s->share) ? 1 : share;
  s->tensors[op->out].density = band;
  s->part[op->out] = tf_bands_masked(b);
  return band.share;
}

static bool find_shares(tf_sparse *s, tf_arena *a) {
  const tf_workload *wl = s->wl;
  tf_bands *b = tf_bands_new(a, wl);
  for (int z = 0; z < wl->n_tensors; z++)
    s->share[z] = wl->tensors[z].density.fall == TF_FALL_GUESSED ? 1 : wl->tensors[z].density.share;
  for (int k = 0; k < wl->n_ops && b; k++) {
    const tf_op *op = &wl->ops[wl->topo[k]];
    if (wl->tensors[op->out].density.fall == TF_FALL_GUESSED)
      s->share[op->out] = follow_op(s, b, wl->topo[k]);
    for (int z = 0; z < wl->n_tensors; z++) /* views show the same words */
      if (wl->tensors[z].view_of == op->out + 1 && wl->tensors[z].density.fall == TF_FALL_GUESSED)
        s->share[z] = s->share[op->out];
  }
  return !tf_arena_failed(a);
}

/* Whether formats and rules for all tensors with zeros mean it. */
static bool has_zeros(const tf_sparse *s, int z) {
  return s->tensors[z].density.fall != TF_FALL_GUESSED || s->share[z] < 1;
}

static bool selects(const tf_sparse *s, const tf_selection *c, int z) {
  const tf_tensor *t = &s->tensors[z];
  for (int i = 0; i < c->n; i++)
    if (!strcmp(c->names[i].name, t->known_as ? t->known_as : t->name)) return true;
  return !c->n && has_zeros(s, z);
}

/* Elements of a block along the ranks. */
static double in_block(const tf_tensor *t, uint32_t ranks) {
  double n = 1;
  for (int r = 0; r < t->rank; r++)
    if (ranks >> r & 1) n *= (double)t->density.tile[r];
  return n;
}

/* Blocks that are drawn.  Elements of which some lie in a block together are the likelier to be
 * zero together. */
static tf_odds tiles_odds(const tf_tensor *t, uint32_t ranks, bool whole, bool *exact) {
  const double per = in_block(t, ranks);
  tf_odds o = tf_odds_of(TF_ODDS_DRAWN, t->density.share,
                         (double)tf_tensor_words(t) / in_block(t, UINT32_MAX));
  if (whole) o.per = per;
  *exact &= whole || per <= 1;
  return o;
}

static tf_odds known_odds(const tf_sparse *s, int z, uint32_t ranks, bool whole, bool *exact) {
  if (!ranks) return tf_odds_of(TF_ODDS_EACH, s->share[z], 0);
  for (int i = 0; i < s->n_fibers && whole; i++)
    if (s->fibers[i].tensor == z && s->fibers[i].ranks == ranks) return s->fibers[i].odds;
  *exact = false;
  return tf_odds_of(TF_ODDS_LOOSE, s->share[z], 0);
}

tf_odds tf_sparse_odds(const tf_sparse *s, int z, uint32_t ranks, bool whole, bool *exact) {
  const tf_tensor *t = &s->tensors[z];
  const tf_odds each = tf_odds_of(TF_ODDS_EACH, s->share[z], 0);
  if (t->density.fall == TF_FALL_UNIFORM)
    return tf_odds_of(TF_ODDS_DRAWN, t->density.share, (double)tf_tensor_words(t));
  if (t->density.fall == TF_FALL_TILES) return tiles_odds(t, ranks, whole, exact);
  if (t->density.fall == TF_FALL_KNOWN) return known_odds(s, z, ranks, whole, exact);
  if (t->density.fall == TF_FALL_GUESSED) *exact &= s->share[z] >= 1;
  if (t->density.fall != TF_FALL_BLOCKS || !(ranks >> t->density.rank & 1))
    return each; /* of different blocks */
  if (whole) return tf_odds_of(TF_ODDS_FIXED, t->density.share, 0);
  *exact = false;
  return tf_odds_of(TF_ODDS_LOOSE, s->share[z], 0);
}

/* ---- formats -------------------------------------------------------------------------------- */

/* One rank of a format: fibers of `length` children of `size` elements each. */
typedef struct {
  tf_packing how;
  int from, rank;           /* the tensor's ranks that children lie along; rank below 0: none */
  double length, size, all; /* all: elements of the tensor */
  bool full;                /* no child is empty: each has whole blocks */
} fiber;

static bool drops(tf_pack p) {
  return p == TF_PACK_BITMASK || p == TF_PACK_RUNS || p == TF_PACK_COORDINATE;
}

static int bits_for(double values) {
  int bits = 1;
  while (ldexp(1, bits) < values && bits < 64)
    bits++;
  return bits;
}

static int entry_bits(const fiber *f) {
  if (f->how.bits) return f->how.bits;
  return f->how.pack == TF_PACK_BITMASK   ? 1
         : f->how.pack == TF_PACK_FLAGS   ? 1
         : f->how.pack == TF_PACK_OFFSETS ? bits_for(f->all + 1)
                                          : bits_for(f->length);
}

/* The tensor's blocks as they lie in one fiber: elements of a block are `stride` children apart; 0:
 * in none, or a single one, so that children's zeros fall alike. */
static int64_t block_stride(const tf_tensor *t, int from, int rank) {
  int64_t stride = 1;
  if (t->density.fall != TF_FALL_BLOCKS || t->density.rank < from || t->density.rank > rank)
    return 0;
  for (int r = t->density.rank + 1; r <= rank; r++)
    stride *= t->extent[r];
  return stride;
}

/* The probability that `count` coordinates from `at` of a rank with blocks are zero. */
static double none_along(const tf_density *d, int64_t at, int64_t count) {
  const tf_odds block = tf_odds_of(TF_ODDS_DRAWN, d->share, (double)d->m);
  double p = 1;
  for (int64_t end = at + count; at < end && p > 0;) {
    const int64_t next = at - at % d->m + d->m < end ? at - at % d->m + d->m : end;
    p *= tf_odds_none(&block, (double)(next - at));
    at = next;
  }
  return p;
}

/* Ranks further in than the fiber's. */
static uint32_t inside(const fiber *f) {
  return f->rank < 0 ? UINT32_MAX : UINT32_MAX << f->rank << 1;
}

/* The probability that `count` children from `at` of a fiber have no element, of blocks that lie
 * along one rank of the fiber. */
static double none_of_tiles(const tf_tensor *t, const fiber *f, int64_t at, int64_t count) {
  bool exact = true;
  const int64_t side = f->rank < 0 ? 1 : t->density.tile[f->rank],
                blocks = (at + count - 1) / side - at / side + 1;
  const tf_odds o = tiles_odds(t, inside(f), true, &exact);
  return tf_odds_none(&o, (double)blocks * f->size);
}

/* The probability that `count` children from `at` of a fiber have no element that is not zero. */
static double none_from(const tf_sparse *s, int z, int64_t stride, const fiber *f, int64_t at,
                        int64_t count) {
  const tf_density *d = &s->tensors[z].density;
  double p = 1;
  bool exact = true;
  if (d->fall == TF_FALL_TILES) return none_of_tiles(&s->tensors[z], f, at, count);
  const tf_odds o = tf_sparse_odds(s, z, 0, false, &exact);
  if (!stride || count <= stride) return tf_odds_none(&o, (double)count * f->size);
  for (int64_t r = 0; r < stride && p > 0; r++) {
    const int64_t first = at > r ? (at - r + stride - 1) / stride : 0,
                  last = (at + count - 1 - r) / stride;
    p *= at + count - 1 < r ? 1 : none_along(d, first, last - first + 1);
  }
  return pow(p, f->size); /* elements of a child are in different blocks */
}

/* Whether blocks have more than one element along the ranks of the fiber but its last. */
static bool spans_rows(const tf_tensor *t, const fiber *f) {
  bool spans = false;
  for (int r = f->from; r < f->rank; r++)
    spans |= t->density.tile[r] > 1;
  return spans;
}

/* Runs that are longer than an entry can tell take entries of their own, with a zero: the
 * expectation in one fiber. */
static double fillers(const tf_sparse *s, int z, int64_t stride, const fiber *f) {
  if (f->full) return 0;
  const int64_t reach =
      entry_bits(f) < 62 ? INT64_C(1) << entry_bits(f) : INT64_MAX; /* children an entry reaches */
  const tf_tensor *t = &s->tensors[z];
  const bool tiles = t->density.fall == TF_FALL_TILES;
  const int64_t length = (int64_t)f->length, period = stride ? stride * t->density.m
                                                      : tiles && f->rank >= 0
                                                          ? t->density.tile[f->rank]
                                                          : 1;
  double sum = 0;
  for (int64_t k = reach; k <= length; k += reach) {
    double p = none_from(s, z, stride, f, 0,
                         k); /* from the fiber's beginning, or behind a child that has some */
    for (int64_t at = 0; at < period && at < length - k; at++) {
      const double here =
          none_from(s, z, stride, f, at + 1, k) - none_from(s, z, stride, f, at, k + 1);
      p += here * (double)((length - k - at + period - 1) / period);
    }
    if (p <= 1e-12) break;
    sum += p;
  }
  return sum;
}

/* The share of a fiber's children that have an element that is not zero. */
static double child_share(const tf_sparse *s, int z, const fiber *f) {
  const tf_tensor *t = &s->tensors[z];
  bool exact = true;
  if (f->full) return 1;
  if (t->density.fall == TF_FALL_KNOWN) return tf_known_children(t, f->size) * f->size / f->all;
  const tf_odds o = t->density.fall == TF_FALL_TILES ? tiles_odds(t, inside(f), true, &exact)
                                                     : tf_sparse_odds(s, z, 0, false, &exact);
  return 1 - tf_odds_none(&o, f->size);
}

/* Of the whole tensor: zeros that are stored because runs are longer than an entry can tell, in the
 * `fibers` that are there.  *upper: at most. */
static double all_fillers(const tf_sparse *s, int z, const fiber *x, double fibers, double kept,
                          bool *upper) {
  const tf_tensor *t = &s->tensors[z];
  const double reach = ldexp(1, entry_bits(x)), places = x->all / x->size,
               absent = places / x->length - fibers;
  if (t->density.fall == TF_FALL_KNOWN)
    return tf_known_fillers(t, x->length, x->size, reach) - absent * floor(x->length / reach);
  if (t->density.fall == TF_FALL_TILES && spans_rows(t, x)) {
    *upper = true;
    return (fibers * x->length - kept) / reach;
  }
  return places / x->length * fillers(s, z, block_stride(t, x->from, x->rank), x) -
         absent * floor(x->length / reach);
}

/* What a rank of the format adds to the bits of a tile of any of the tensor's elements.  reach: the
 * rank's fibers that are there because of one element that is not zero; 0: all are there anyway. */
static void add_most(const fiber *x, double entries, double reach, tf_packed *out) {
  const double bits = entry_bits(x);
  switch (x->how.pack) {
  case TF_PACK_BITMASK:
  case TF_PACK_FLAGS:
  case TF_PACK_OFFSETS:
    if (reach > 0)
      out->each += reach * (x->length + (x->how.pack == TF_PACK_OFFSETS)) * bits;
    else
      out->flat += entries * bits / x->all;
    break;
  case TF_PACK_RUNS: out->gap += ldexp(bits, -entry_bits(x)); /* fall through */
  case TF_PACK_COORDINATE: out->each += bits; break;
  default: break;
  }
}

/* The same of its words; x: the last rank; reach: elements that are stored because of one. */
static void add_words(const fiber *x, double bits, double reach, tf_packed *out) {
  if (reach > 0)
    out->each += reach * bits;
  else
    out->flat += bits;
  if (x->how.pack == TF_PACK_RUNS) out->gap += ldexp(bits, -entry_bits(x));
}

/* Walks the format's ranks, outermost first: entries, bits, and what is stored in the end, of the
 * whole tensor. */
static void pack(const tf_sparse *s, int z, const tf_format *f, tf_packed *out) {
  const tf_tensor *t = &s->tensors[z];
  const double all = (double)tf_tensor_words(t);
  double fibers = 1, worst_fibers = 1, size = all, reach = 0;
  for (int i = 0; i < f->n_ranks; i++) {
    const int rank = t->rank - f->n_ranks +
                     i; /* the tensor's; the first one with all outside it; below 0: none */
    fiber x = {.how = f->ranks[i], .from = i ? rank : 0, .rank = rank, .length = 1, .all = all};
    for (int r = i ? rank : 0; r <= rank; r++)
      if (r >= 0) x.length *= (double)t->extent[r];
    size /= x.length;
    x.size = size;
    x.full = t->density.fall == TF_FALL_BLOCKS && t->density.rank > rank;
    const double kept = all / size * child_share(s, z, &x),
                 more = x.how.pack == TF_PACK_RUNS
                            ? all_fillers(s, z, &x, fibers, kept, &out->upper)
                            : 0;
    double entries = 0, worst = 0;
    switch (x.how.pack) {
    case TF_PACK_FLAGS:
    case TF_PACK_BITMASK: entries = fibers * x.length, worst = worst_fibers * x.length; break;
    case TF_PACK_OFFSETS:
      entries = fibers * (x.length + 1), worst = worst_fibers * (x.length + 1);
      break;
    case TF_PACK_RUNS:
    case TF_PACK_COORDINATE: entries = kept + more, worst = worst_fibers * x.length; break;
    default: break;
    }
    add_most(&x, entries, reach, out);
    reach = drops(x.how.pack) ? 1 : reach * x.length;
    out->entries += entries / all;
    out->bits += entries * entry_bits(&x) / all;
    out->worst_bits += worst * entry_bits(&x) / all;
    fibers = drops(x.how.pack) ? kept : fibers * x.length;
    if (i + 1 == f->n_ranks)
      out->stored = (fibers + more) / all, add_words(&x, t->word_bits, reach, out);
    worst_fibers *= x.length;
  }
}

/* Where steps are left out, tiles that move have more of the elements than the whole tensor: no
 * format is taken. */
static const tf_format *format_of(const tf_sparse *s, const tf_memory *mem, int z) {
  if (s->part[z]) return NULL;
  for (int named = 1; named >= 0; named--)
    for (int i = 0; i < mem->formats.n; i++)
      if ((mem->formats.list[i].tensors.n > 0) == named && has_zeros(s, z) &&
          selects(s, &mem->formats.list[i].tensors, z))
        return &mem->formats.list[i];
  return NULL;
}

static void find_packed(tf_sparse *s, int level, int z) {
  const tf_memory *mem = &s->arch->memories[level];
  tf_packed *p = &s->packed[level * s->wl->n_tensors + z];
  const double bits = s->tensors[z].word_bits;
  *p = (tf_packed){.format = format_of(s, mem, z), .stored = 1};
  if (p->format) pack(s, z, p->format, p);
  const bool priced = p->format && p->format->priced;
  const double words = (p->stored * bits + (priced ? 0 : p->bits)) / mem->word_bits;
  p->read_pj = words * mem->read_pj + (priced ? p->entries * p->format->read_pj : 0);
  p->drain_pj = words * (mem->drain_given ? mem->drain_pj : mem->read_pj) +
                (priced ? p->entries * p->format->read_pj : 0);
  p->write_pj = words * mem->write_pj + (priced ? p->entries * p->format->write_pj : 0);
  p->held = (int64_t)ceil((p->stored * bits + p->bits) * TF_HELD_ONE - 1e-6);
  p->worst = (int64_t)ceil((bits + p->worst_bits) * TF_HELD_ONE - 1e-6);
}

/* Elements of `words` that are not zero, but for the doubt. */
static double most_nonzero(const tf_sparse *s, int z, double words, double doubt, bool whole) {
  const tf_tensor *t = &s->tensors[z];
  const tf_density *d = &t->density;
  const double all = (double)tf_tensor_words(t);
  switch (d->fall) {
  case TF_FALL_UNIFORM:
    return tf_odds_most(&(tf_odds){.kind = TF_ODDS_DRAWN, .share = d->share, .all = all}, words,
                        doubt);
  case TF_FALL_BLOCKS:
    return tf_odds_most(
        &(tf_odds){.kind = whole ? TF_ODDS_FIXED : TF_ODDS_LOOSE, .share = d->share}, words, doubt);
  case TF_FALL_TILES: {
    const double per = in_block(t, UINT32_MAX);
    return whole ? tf_odds_most(
                       &(tf_odds){
                           .kind = TF_ODDS_DRAWN, .share = d->share, .all = all / per, .per = per},
                       words, doubt)
                 : words;
  }
  case TF_FALL_KNOWN: return fmin(words, d->share * all);
  default:
    return tf_odds_most(&(tf_odds){.kind = TF_ODDS_EACH, .share = s->share[z]}, words, doubt);
  }
}

int64_t tf_sparse_likely(const tf_sparse *s, int level, int z, int64_t words, double doubt,
                         bool whole) {
  const tf_packed *k = &s->packed[level * s->wl->n_tensors + z];
  const double n = fmin((double)words, (double)tf_tensor_words(&s->tensors[z]));
  const double most = (double)words * (double)k->worst;
  if (!k->format || s->share[z] >= 1) return (int64_t)fmin(most, 9e18);
  const double nonzero = most_nonzero(s, z, n, doubt, whole);
  const double bits = ceil(
      (k->flat * (double)words + k->each * nonzero + k->gap * (n - nonzero)) * TF_HELD_ONE - 1e-6);
  return (int64_t)fmin(fmin(bits, most), 9e18);
}

/* ---- points --------------------------------------------------------------------------------- */

/* Whether the value of part i of the expression is a product that has read `ref` as a factor. */
static bool has_factor(const tf_op *op, int i, int ref) {
  const tf_expr *e = &op->expr[i];
  if (e->what == TF_X_READ) return e->ref == ref;
  if (e->what != TF_X_CALL) return false;
  const bool one =
      e->call == TF_K_MUL || e->call == TF_K_DIV || e->call == TF_K_NEG || e->call == TF_K_COPY;
  return one && (has_factor(op, e->arg[0], ref) ||
                 (e->call == TF_K_MUL && has_factor(op, e->arg[1], ref)));
}

static uint64_t find_factors(const tf_sparse *s, const tf_op *op) {
  uint64_t reads = 0;
  for (int i = 0; i < op->n_reads && op->reduce == TF_REDUCE_ADD; i++)
    if (s->share[op->reads[i].tensor] < 1 && tf_op_times_read(op, op->reads[i].tensor) == 1 &&
        has_factor(op, op->n_expr - 1, i))
      reads |= UINT64_C(1) << i;
  return reads;
}

static uint64_t named(const tf_sparse *s, const tf_rules *rules, bool tiles, int o, int target) {
  const tf_op *op = &s->wl->ops[o];
  uint64_t on = 0;
  for (int i = 0; i < rules->n; i++) {
    const tf_rule *rule = &rules->list[i];
    const bool all = target >= 0 && !rule->target.n; /* every tensor of the op, dense ones too */
    if (rule->tiles != tiles || (target >= 0 && !all && !selects(s, &rule->target, target)))
      continue;
    for (int r = 0; r < op->n_reads; r++)
      if (op->reads[r].tensor != target && selects(s, &rule->on, op->reads[r].tensor) &&
          !(tiles && s->part[op->reads[r].tensor]))
        on |= UINT64_C(1) << r;
  }
  return on & s->factors[o];
}

uint64_t tf_sparse_on(const tf_sparse *s, const tf_rules *rules, int o, int target) {
  return named(s, rules, false, o, target);
}

uint64_t tf_sparse_on_tiles(const tf_sparse *s, const tf_rules *rules, int o, int target) {
  return named(s, rules, true, o, target);
}

/* Zeros of which leave out anything of the target's, at either grain. */
static uint64_t on_any(const tf_sparse *s, const tf_rules *rules, int o, int target) {
  return named(s, rules, false, o, target) | named(s, rules, true, o, target);
}

static bool is_known(const tf_sparse *s, int o, int read) {
  return s->tensors[s->wl->ops[o].reads[read].tensor].density.fall == TF_FALL_KNOWN;
}

int tf_sparse_known(const tf_sparse *s, int o, uint64_t reads) {
  int n = 0;
  for (int r = 0; r < s->wl->ops[o].n_reads; r++)
    n += (reads >> r & 1) && is_known(s, o, r);
  return n;
}

bool tf_sparse_told(const tf_sparse *s, int o, uint64_t reads) {
  const int known = tf_sparse_known(s, o, reads);
  return known < 2 || (known == 2 && s->joint[o] >= 0);
}

/* Zeros of several tensors fall independently but for those that are known. */
static double share_computed(const tf_sparse *s, int o, uint64_t reads, bool least) {
  double keep = 1, most = 1, lack = 0;
  for (int r = 0; r < s->wl->ops[o].n_reads; r++) {
    if (!(reads >> r & 1)) continue;
    const double share = s->share[s->wl->ops[o].reads[r].tensor];
    if (!is_known(s, o, r))
      keep *= share;
    else
      most = fmin(most, share), lack += 1 - share;
  }
  if (tf_sparse_known(s, o, reads) == 2 && tf_sparse_told(s, o, reads)) return keep * s->joint[o];
  return keep * (least ? fmax(0, 1 - lack) : most);
}

double tf_sparse_keep(const tf_sparse *s, int o, uint64_t reads) {
  return share_computed(s, o, reads, false);
}

double tf_sparse_keep_least(const tf_sparse *s, int o, uint64_t reads) {
  return share_computed(s, o, reads, true);
}

tf_least tf_sparse_least(const tf_sparse *s, int o, int unit) {
  const tf_op *op = &s->wl->ops[o];
  uint64_t skipped = tf_sparse_on(s, &s->arch->units[unit].skipping, o, -1),
           gated = tf_sparse_on(s, &s->arch->units[unit].gating, o, -1);
  for (int l = 0; l < s->arch->n_memories; l++)
    for (int r = 0; r < op->n_reads; r++) {
      skipped |= on_any(s, &s->arch->memories[l].skipping, o, op->reads[r].tensor);
      gated |= on_any(s, &s->arch->memories[l].gating, o, op->reads[r].tensor);
    }
  return (tf_least){tf_sparse_keep_least(s, o, skipped),
                    tf_sparse_keep_least(s, o, skipped | gated)};
}

tf_least tf_sparse_least_word(const tf_sparse *s, int z) {
  const tf_memory *mem = &s->arch->memories[0];
  const tf_packed *k = &s->packed[z];
  tf_least least = {1, 1};
  for (int o = 0; o < s->wl->n_ops; o++) {
    const tf_op *op = &s->wl->ops[o];
    if (op->out != z && !tf_op_times_read(op, z)) continue;
    const uint64_t skipped = on_any(s, &mem->skipping, o, z), gated = on_any(s, &mem->gating, o, z);
    least.time = fmin(least.time, tf_sparse_keep_least(s, o, skipped));
    least.energy = fmin(least.energy, tf_sparse_keep_least(s, o, skipped | gated));
  }
  const double bits = s->tensors[z].word_bits;
  least.time *= k->format ? (k->stored * bits + k->bits) / bits : 1;
  least.energy *= s->tensors[z].producer < 0 ? k->read_pj : k->write_pj;
  return least;
}

/* ---- zeros that are known ------------------------------------------------------------------- */

enum { MOST_FIBERS = 1 << 22 };

/* Strides that number the fibers along the ranks of the mask; *n: how many there are. */
static void number_fibers(const tf_tensor *t, uint32_t ranks, int64_t *stride, double *n) {
  *n = 1;
  for (int r = t->rank - 1; r >= 0; r--) {
    stride[r] = ranks >> r & 1 ? 0 : (int64_t)*n;
    if (!(ranks >> r & 1) && *n <= MOST_FIBERS) *n *= (double)t->extent[r];
  }
}

static tf_fibers *fibers_of(tf_sparse *s, int z, uint32_t ranks) {
  for (int i = 0; i < s->n_fibers; i++)
    if (s->fibers[i].tensor == z && s->fibers[i].ranks == ranks) return NULL;
  s->fibers[s->n_fibers] = (tf_fibers){.tensor = z, .ranks = ranks};
  return &s->fibers[s->n_fibers];
}

/* Counts the fibers of z along the ranks; leaves out what is too large.  False without memory. */
static bool count_fibers(tf_sparse *s, tf_arena *a, int z, uint32_t ranks) {
  const tf_tensor *t = &s->tensors[z];
  int64_t stride[TF_MAX_RANK];
  double n;
  number_fibers(t, ranks, stride, &n);
  const double length = (double)tf_tensor_words(t) / n;
  tf_fibers *f = ranks && n <= MOST_FIBERS && length <= MOST_FIBERS ? fibers_of(s, z, ranks) : NULL;
  if (!f) return true;
  double *of = TF_ARRAY(a, double, (size_t)length + 1);
  int64_t *in = calloc((size_t)n, sizeof *in);
  if (of && in) {
    tf_known_counts(t, stride, in);
    for (int64_t i = 0; i < (int64_t)n; i++)
      of[in[i]] += 1 / n;
    f->odds = (tf_odds){
        .kind = TF_ODDS_TOLD, .share = t->density.share, .of = of, .n_of = (int64_t)length + 1};
    s->n_fibers++;
  }
  free(in);
  return of && in;
}

static int dim_of(const tf_ref *ref, int rank) { return ref->index[rank].terms[0].dim; }

static int rank_with(const tf_ref *ref, int n, int dim) {
  for (int r = 0; r < n; r++)
    if (dim_of(ref, r) == dim) return r;
  return -1;
}

/* Of the points of both references, each rank of which is a dim alone: the share where neither is
 * zero; -1: too many.
 */
static double share_of_both(const tf_sparse *s, const tf_ref *x, const tf_ref *y) {
  const tf_tensor *a = &s->tensors[x->tensor], *b = &s->tensors[y->tensor];
  int64_t of_a[TF_MAX_RANK] = {0}, of_b[TF_MAX_RANK] = {0};
  double n = 1, in_both = 0;
  for (int r = 0; r < a->rank; r++) {
    const int other = rank_with(y, b->rank, dim_of(x, r));
    of_a[r] = other >= 0 ? (int64_t)n : 0;
    if (other >= 0) of_b[other] = of_a[r];
    if (other >= 0 && n <= MOST_FIBERS) n *= (double)a->extent[r];
  }
  if (n > MOST_FIBERS) return -1;
  int64_t *count = calloc((size_t)n * 2, sizeof *count);
  if (!count) return -1;
  tf_known_counts(a, of_a, count);
  tf_known_counts(b, of_b, count + (int64_t)n);
  for (int64_t i = 0; i < (int64_t)n; i++)
    in_both += (double)count[i] * (double)count[i + (int64_t)n];
  free(count);
  return in_both / ((double)tf_tensor_words(a) * (double)tf_tensor_words(b) / n);
}

static bool find_known(tf_sparse *s, tf_arena *a) {
  bool ok = true;
  for (int o = 0; o < s->wl->n_ops; o++) {
    const tf_op *op = &s->wl->ops[o];
    const tf_ref *two[2] = {NULL, NULL};
    int n = 0;
    s->joint[o] = -1;
    for (int r = 0; r < op->n_reads; r++) {
      if (!(s->factors[o] >> r & 1) || !is_known(s, o, r)) continue;
      uint32_t ranks = 0;
      for (int d = op->n_out_dims; d < op->n_dims; d++)
        for (int k = 0; k < s->tensors[op->reads[r].tensor].rank; k++)
          if (dim_of(&op->reads[r], k) == op->dims[d]) ranks |= 1u << k;
      ok = ok && count_fibers(s, a, op->reads[r].tensor, ranks);
      two[n++ % 2] = &op->reads[r];
    }
    if (n == 2) s->joint[o] = share_of_both(s, two[0], two[1]);
  }
  return ok;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static bool machine_uses(const tf_arch *a) {
  bool any = false;
  for (int l = 0; l < a->n_memories; l++)
    any |= a->memories[l].formats.n || a->memories[l].gating.n || a->memories[l].skipping.n;
  for (int u = 0; u < a->n_units; u++)
    any |= a->units[u].gating.n || a->units[u].skipping.n;
  return any;
}

static bool has_any(const tf_sparse *s) {
  bool any = false;
  for (int z = 0; z < s->wl->n_tensors; z++)
    any |= s->tensors[z].density.fall != TF_FALL_GUESSED;
  return any;
}

/* Densities of all tensors alone; NULL without memory. */
static tf_sparse *with_shares(tf_arena *a, const tf_arch *arch, const tf_workload *wl) {
  const size_t n = (size_t)wl->n_tensors;
  tf_sparse *s = TF_NEW(a, tf_sparse);
  if (!s) return NULL;
  *s = (tf_sparse){.arch = arch,
                   .wl = wl,
                   .tensors = TF_ARRAY(a, tf_tensor, n),
                   .part = TF_ARRAY(a, bool, n),
                   .share = TF_ARRAY(a, double, n)};
  if (!s->tensors || !s->part || !s->share) return NULL;
  memcpy(s->tensors, wl->tensors, n * sizeof *s->tensors);
  return find_shares(s, a) ? s : NULL;
}

bool tf_sparse_applies(const tf_arch *arch, const tf_workload *wl) {
  tf_arena *a = machine_uses(arch) ? tf_arena_new() : NULL;
  const tf_sparse *s = a ? with_shares(a, arch, wl) : NULL;
  const bool applies = a ? !s || has_any(s) : false;
  tf_arena_free(a);
  return applies;
}

static int reads_in(const tf_workload *wl) {
  int n = 1;
  for (int o = 0; o < wl->n_ops; o++)
    n += wl->ops[o].n_reads;
  return n;
}

bool tf_sparse_new(tf_arena *a, const tf_arch *arch, const tf_workload *wl, tf_sparse **out) {
  *out = NULL;
  if (!machine_uses(arch)) return true;
  tf_sparse *s = with_shares(a, arch, wl);
  if (!s) return false;
  if (!has_any(s)) return true;
  s->packed = TF_ARRAY(a, tf_packed, (size_t)(wl->n_tensors * arch->n_memories));
  s->factors = TF_ARRAY(a, uint64_t, (size_t)wl->n_ops);
  s->joint = TF_ARRAY(a, double, (size_t)wl->n_ops);
  s->fibers = TF_ARRAY(a, tf_fibers, (size_t)reads_in(wl));
  if (!s->packed || !s->factors || !s->joint || !s->fibers) return false;
  for (int l = 0; l < arch->n_memories; l++)
    for (int z = 0; z < wl->n_tensors; z++)
      find_packed(s, l, z);
  for (int o = 0; o < wl->n_ops; o++)
    s->factors[o] = find_factors(s, &wl->ops[o]);
  *out = s;
  return find_known(s, a);
}

uint64_t tf_sparse_parts(const tf_sparse *s, int o) {
  uint64_t reads = 0;
  for (int r = 0; r < s->wl->ops[o].n_reads; r++)
    if (s->part[s->wl->ops[o].reads[r].tensor]) reads |= UINT64_C(1) << r;
  return reads;
}
