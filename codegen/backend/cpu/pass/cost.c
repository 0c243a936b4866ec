/* Cycles that a mapping's kernel costs a core beside the traffic that the model counts: register
 * tiles, packing, calls. An estimate to rank mappings with equal counts; its constants are the
 * architecture's (`core`). */
#include "codegen/backend/cpu/pass/cost.h"

#include <math.h>

#include "codegen/backend/cpu/note/share.h"
#include "codegen/backend/cpu/pass/loops.h"
#include "codegen/backend/cpu/pass/pass.h"
#include "model/input/dims.h"

enum { MAX_PATH = 256 };
enum { MAX_DEPTH = 64 };
/* Cycles in which threads begin a parallel region and wait for each other at its end
 * (arch-specs/cores/fitted.csv). */
enum { REGION = 4800 };

typedef struct {
  const ir_program *p;
  const tf_micro_isa *isa;
  const tf_core *core;
  int depth, instances;
  double close_words; /* words of a core's close memory */
  double trip[MAX_DEPTH],
      share[MAX_DEPTH]; /* of the surrounding loops: steps, and how many of them run concurrently */
  const ir_stmt *loop[MAX_DEPTH];
  uint64_t region; /* the loops outside of the parallel one: what threads keep, they lose when these
                      step */
  uint64_t *moves; /* [variable] the loops on which it depends, bit by depth */
  bool masked;
  cpu_path path;
  double
      *part; /* [TF_COST_PARTS] receives each part of what runs, in place of `cycles`; NULL: none */
  double run_share; /* with masks: the share of the current steps in which the statement runs */
  double cycles;
  bool out_of_memory; /* out of memory */
} walk;

static double parts(double n, double by) {
  const int64_t whole = (int64_t)n, step = (int64_t)by;
  return (double)((whole + step - 1) / step);
}

/* Cycles of one step of k: the longest of multiply-adds, loads, and the latency of dependent
 * multiply-adds. */
static double step_cycles(const tf_core *core, double rows, double across) {
  const double busy = rows * across > rows + across ? rows * across : rows + across;
  return (busy > core->ports * core->latency ? busy : core->ports * core->latency) / core->ports;
}

static double tiles_down(int registers, int64_t m, int across) {
  return parts((double)m, tf_micro_rows(registers, across));
}

/* Cycles of one step of k for a panel `across` vectors wide, with rows divided evenly. */
static double panel_step_cycles(const tf_core *core, int registers, int64_t m, int across) {
  const double count = tiles_down(registers, m, across), low = floor((double)m / count),
               more = (double)m - low * count;
  return more * (step_cycles(core, low + 1, across) + 0.5) +
         (count - more) * (step_cycles(core, low, across) + 0.5);
}

/* Cycles of one such panel, k deep. */
static double panel_cycles(const tf_core *core, int registers, int64_t m, double k, int across) {
  return k * panel_step_cycles(core, registers, m, across) +
         tiles_down(registers, m, across) * core->tile;
}

double tf_cost_tiles(const tf_core *core, int registers, int64_t m, int64_t vectors, double k,
                     int across) {
  const int rest = (int)(vectors % across);
  return (double)(vectors / across) * panel_cycles(core, registers, m, k, across) +
         (rest ? panel_cycles(core, registers, m, k, rest) : 0);
}

double tf_cost_block(const tf_core *core, int registers, int64_t m, int64_t vectors, double k,
                     int64_t panels) {
  const int narrow = (int)(vectors / panels);
  const int64_t wider = vectors % panels;
  return tf_cost_tiles(core, registers, m, wider * (narrow + 1), k, narrow + 1) +
         tf_cost_tiles(core, registers, m, (panels - wider) * narrow, k, narrow);
}

double tf_cost_split_lines(const tf_core *core, const tf_transposed *t, int across) {
  enum { LINE_WORDS = 16 };
  const double most = (double)t->vectors < across ? (double)t->vectors : across,
               rest = (double)(t->vectors % across), lines = (double)t->m / LINE_WORDS,
               tiles = tiles_down(t->registers, t->m, across),
               last = rest > 0 ? tiles_down(t->registers, t->m, (int)rest) : 0;
  const double torn = ((double)t->vectors - rest) * (tiles > lines ? tiles - lines : 0) +
                      rest * (last > lines ? last - lines : 0);
  const double each = core->page_crossing / 2; /* half: a store stalls the core less than a load */
  return t->row_pitch
             ? each * tf_cost_conflicts(core, most * t->lanes, t->row_pitch) * torn * t->lanes
             : 0;
}

/* Transposed squares of at most as many rows as lanes: of each vector of a tile one, or more where
 * joined rows end within it. */
static double transposed_squares(const tf_transposed *t, int across) {
  const int64_t rest = t->vectors % across;
  if (t->row < t->m && t->row >= t->lanes)
    return parts((double)t->row, t->lanes) * (double)(t->m / t->row) * (double)t->vectors;
  return (double)(t->vectors - rest) * tiles_down(t->registers, t->m, across) +
         (double)rest * (rest ? tiles_down(t->registers, t->m, (int)rest) : 0);
}

double tf_cost_channels(const tf_core *core, const tf_transposed *t, double k, int across) {
  return tf_cost_tiles(core, t->registers, t->m, t->vectors, k, across) +
         transposed_squares(t, across) * core->square * t->lanes +
         tf_cost_split_lines(core, t, across);
}

/* How often a statement runs on each concurrent core; `kept`: how often what it reads changes. */
static double runs(const walk *w, uint64_t mask, bool kept) {
  double n = 1;
  int last = w->depth;
  while (kept && last > 0 && !(mask >> (last - 1) & 1))
    last--;
  for (int i = 0; i < last; i++)
    n *= w->trip[i] / w->share[i];
  return last == w->depth ? n * w->run_share : n;
}

/* How often a core lays out an operand in a buffer of its own. */
static double fills(const walk *w, uint64_t mask, bool kept) {
  return runs(w, mask | w->region, kept);
}

/* How often a core packs an operand that has a slot for each of its boxes. */
static double slot_fills(const walk *w, uint64_t mask) {
  double n = 1;
  mask |= w->region;
  for (int i = 0; i < w->depth; i++)
    if (mask >> i & 1) n *= w->trip[i] / w->share[i];
  return n;
}

static double words_of(const ir_range *r, int n, const bool *in) {
  double words = 1;
  for (int i = 0; i < n; i++)
    if (!in || in[i]) words *= (double)r[i].most;
  return words;
}

/* Marks the dims of the op that move a read; returns the loops on which their ranges depend. */
static uint64_t dims_of(const walk *w, const ir_stmt *s, int read, bool *in) {
  const tf_op *op = &w->p->tree->workload->ops[s->op];
  const tf_ref *ref = &op->reads[read];
  uint64_t mask = 0;
  for (int k = 0; k < op->n_dims; k++) {
    in[k] = false;
    for (int r = 0; r < w->p->tree->workload->tensors[ref->tensor].rank; r++)
      for (int t = 0; t < ref->index[r].n_terms; t++)
        in[k] |= ref->index[r].terms[t].dim == op->dims[k];
    if (in[k]) mask |= lower_range_depends_on(w->moves, &s->range[k]);
  }
  return mask;
}

/* Float32 words that an element of the type takes. */
static double words_each(ir_type t) { return (double)ir_bytes(t) / (double)sizeof(float); }

static ir_type type_of(const walk *w, const ir_stmt *s, int read) {
  const int b = w->p->buffer_of[w->p->tree->workload->ops[s->op].reads[read].tensor];
  return b < 0 ? IR_F32 : w->p->buffers[b].type;
}

/* Cycles in which a core waits for the box of an argument from an outer memory while it copies it:
 * for its lines, and for the first access of each piece, half of which overlaps with copying the
 * piece before. A piece: rows that follow one another with less than a line between them. */
static double fetch_cycles(const walk *w, const cpu_product *p, const tf_tensor *z) {
  const double line = w->core->line / (double)sizeof(float);
  double apart = 1, span = 1, pieces = 1;
  int r = z->rank;
  do {
    r--;
    span += ((double)(p->slab[r].most < z->extent[r] ? p->slab[r].most : z->extent[r]) - 1) * apart;
    apart *= (double)z->extent[r];
  } while (r > 0 && apart - span < line);
  while (r-- > 0)
    pieces *= (double)cpu_slab_extent(p, r);
  return pieces * ((span + line) / w->core->stream + w->core->page_crossing / 2);
}

/* Words of 32 bits that packing n elements for the product writes; bytes go by words. */
static double packed_words(const cpu_product *p, ir_type type, double n) {
  return p->kernel->c == IR_I32 ? n * words_each(type) : n;
}

/* Cost of packing a slab; the rows of a group are packed together, each group as a word. */
static void cost_of_slab(walk *w, const ir_stmt *s) {
  const cpu_product *p = cpu_of(s)->product;
  const tf_op *op = &w->p->tree->workload->ops[s->op];
  const tf_tensor *z = &w->p->tree->workload->tensors[op->reads[cpu_slab_of(p)].tensor];
  uint64_t mask = 0;
  double rows = 1;
  for (int r = 0; r < z->rank; r++)
    mask |= lower_range_depends_on(w->moves, &p->slab[r]);
  for (int r = 0; r < z->rank - 1; r++)
    rows *= parts((double)cpu_slab_extent(p, r), r == cpu_slab_groups(p) ? p->kernel->group : 1);
  const bool far = p->keep_slab && (double)tf_tensor_words(z) > w->close_words;
  w->cycles += fills(w, mask, p->keep_slab) *
               (rows * (w->core->row * (double)p->stride +
                        (double)cpu_slab_extent(p, z->rank - 1) / w->core->copy) +
                (far ? fetch_cycles(w, p, z) : 0));
}

/* Whether the op's k-th dim is inside the micro-kernel: m, n or k of the product; of CHANNELS also
 * joined rows and all reduced dims. */
static bool stands_inside(const tf_op *op, const cpu_product *p, int k) {
  if (k == p->m || k == p->n) return true;
  return p->kind == CPU_CHANNELS ? k >= op->n_out_dims || (p->channels.joined && k == p->m - 1)
                                 : k == p->k;
}

static double outside(const walk *w, const ir_stmt *s) {
  const tf_op *op = &w->p->tree->workload->ops[s->op];
  double n = 1;
  for (int k = 0; k < op->n_dims; k++)
    if (!stands_inside(op, cpu_of(s)->product, k)) n *= (double)s->range[k].most;
  return n;
}

/* Words of an operand's box that the nest reads, borders included. */
static double read_box(const walk *w, const ir_stmt *s, int read) {
  const tf_op *op = &w->p->tree->workload->ops[s->op];
  const tf_ref *ref = &op->reads[read];
  double words = 1;
  for (int r = 0; r < w->p->tree->workload->tensors[ref->tensor].rank; r++) {
    double along = 1;
    for (int t = 0; t < ref->index[r].n_terms; t++)
      for (int k = 0; k < op->n_dims; k++)
        if (op->dims[k] == ref->index[r].terms[t].dim)
          along += fabs((double)ref->index[r].terms[t].coef) * (double)(s->range[k].most - 1);
    words *= along;
  }
  return words;
}

/* Cycles to fetch a slab from an outer memory where it does not fit in the close one beside the
 * nest's panels. */
static double slab_fetch_cycles(const walk *w, const ir_stmt *s, double panels,
                                double words_of_panels) {
  const cpu_product *p = cpu_of(s)->product;
  const ir_buffer *pack = p->slab ? &w->p->buffers[p->pack] : NULL;
  if (!pack || (double)pack->words * words_each(pack->type) + words_of_panels <= w->close_words)
    return 0;
  const double words = read_box(w, s, p->a) * words_each(type_of(w, s, p->a));
  return (words > w->close_words ? panels : 1) * words / w->core->copy;
}

/* Panels that do not fit in the close memory are fetched while tiles multiply. Those that no
 * earlier nest prefetches are fetched before the tiles start, once if they then stay. */
static void add_wait_for_panels(walk *w, const ir_stmt *s, double panels, double busy) {
  const cpu_product *p = cpu_of(s)->product;
  const tf_op *op = &w->p->tree->workload->ops[s->op];
  const ir_buffer *all = &w->p->buffers[p->channels.panels];
  const double coming = panels / w->core->stream, times = runs(w, 0, false);
  const bool pass = lower_panels_leave_cache(w->p->tree->arch,
                                             (int64_t)((double)all->words * words_each(all->type)));
  uint64_t mask = lower_range_depends_on(w->moves, &s->range[p->n]);
  for (int i = op->n_out_dims; i < op->n_dims; i++)
    mask |= lower_range_depends_on(w->moves, &s->range[i]);
  if (p->channels.next == CPU_NEXT_NONE && pass)
    w->cycles += (panels > w->close_words ? times : runs(w, mask, true)) * coming;
  else if (panels > w->close_words)
    busy = (busy > coming ? busy : coming) + panels / w->core->exposed_bandwidth;
  w->cycles += times * busy;
}

static void cost_of_channels(walk *w, const ir_stmt *s) {
  const cpu_product *p = cpu_of(s)->product;
  const tf_op *op = &w->p->tree->workload->ops[s->op];
  const int across = p->channels.panel / w->isa->lanes;
  double k = 1;
  for (int i = op->n_out_dims; i < op->n_dims; i++)
    k *= parts((double)s->range[i].most, i == p->channels.groups ? p->kernel->group : 1);
  const double passes = parts(k, TF_MICRO_PART),
               vectors = parts((double)s->range[p->n].most, w->isa->lanes),
               calls = outside(w, s) * passes;
  const int64_t row = s->range[p->m].most,
                rows = row * (p->channels.joined ? s->range[p->m - 1].most : 1);
  if (p->slab) cost_of_slab(w, s);
  const double steps =
      lower_inside_share(w->p->tree->workload, s) * k / passes * tf_micro_group_time(p->kernel);
  const tf_transposed transposed = {w->isa->registers,
                                    w->isa->lanes,
                                    row,
                                    rows,
                                    (int64_t)vectors,
                                    cpu_output_pitch(w->p->tree->workload, op, p->n)};
  double busy = calls * tf_cost_channels(w->core, &transposed, steps, across);
  double panels = k * vectors * w->isa->lanes;
  for (int i = 0; i < op->n_out_dims; i++)
    if (cpu_is_group(w->p->tree->workload, op, p, i)) panels *= (double)s->range[i].most;
  w->cycles += runs(w, 0, false) * slab_fetch_cycles(w, s, vectors / across, panels) +
               (cpu_lists_once(op, s) ? 1 : runs(w, 0, false)) * k;
  add_wait_for_panels(w, s, panels, busy);
}

/* The loops outside the given one; NULL: none. */
static uint64_t loops_outside(const walk *w, const ir_stmt *loop) {
  uint64_t mask = 0;
  for (int i = 0; loop && i < w->depth && w->loop[i] != loop; i++)
    mask |= UINT64_C(1) << i;
  return mask;
}

/* Cycles of a product in tiles of 16 x 16 sums: its multiplications, each of 16 groups of k (AMX)
 * or of one (SME, in a sixteenth of the time), plus storing the sums, and loading them for all
 * blocks of k but the first. */
static double tile_cycles(const walk *w, const ir_stmt *s, double n) {
  enum { SIDE = 16 };
  const cpu_product *p = cpu_of(s)->product;
  const double all = parts((double)s->range[p->m].most, SIDE) * parts(n, SIDE);
  const double share = (double)p->kernel->k_round / (p->kernel->group * SIDE);
  return all * (parts((double)s->range[p->k].most, p->kernel->k_round) * share * w->core->multiply +
                w->core->store * (s->nest.n_resets ? 2 : 1)) +
         parts(all, 4) * w->core->tile;
}

/* Row pitch of b in bytes, if b is an argument of whose rows the nest reads a part; else 0. */
static double row_bytes(const walk *w, const ir_stmt *s) {
  const cpu_product *p = cpu_of(s)->product;
  const tf_workload *wl = w->p->tree->workload;
  const tf_ref *b = &wl->ops[s->op].reads[p->b];
  const tf_tensor *z = &wl->tensors[b->tensor];
  if (z->producer >= 0 || p->stride != 1 || z->rank < 2 ||
      s->range[p->n].most >= z->extent[z->rank - 1])
    return 0;
  return (double)z->extent[z->rank - 1] * ir_bytes(w->p->buffers[w->p->buffer_of[b->tensor]].type);
}

/* Cycles to begin each such row: hardware prefetching stops at page boundaries, with more pages
 * than TLB entries each row misses the TLB, and a part shorter than a cache line fetches all of
 * it. */
static double row_starts(const walk *w, const ir_stmt *s) {
  const double k = (double)s->range[cpu_of(s)->product->k].most,
               n = (double)s->range[cpu_of(s)->product->n].most, row = row_bytes(w, s),
               page = w->core->page;
  const tf_ref *b = &w->p->tree->workload->ops[s->op].reads[cpu_of(s)->product->b];
  const double part = n * ir_bytes(w->p->buffers[w->p->buffer_of[b->tensor]].type);
  const double looked = row >= page && k > w->core->tlb_entries ? w->core->tlb_miss : 0,
               jumped = row >= page / 2 ? w->core->page_crossing : 0,
               begun = row > 0 && part < w->core->line ? w->core->row : 0;
  return k * fmax(fmax(looked, jumped), begun);
}

/* Words of a tensor delivered per cycle by the innermost memory, outside the close one, that holds
 * all of it. */
static double words_per_cycle(const walk *w, const tf_tensor *z) {
  const tf_arch *a = w->p->tree->arch;
  int from = tf_arch_near_cache(a) - 1;
  const double words = (double)tf_tensor_words(z);
  while (from > 0 && a->memories[from].capacity_words >= 0 &&
         words > (double)a->memories[from].capacity_words)
    from--;
  return from < 0 ? INFINITY : a->memories[from].read_bw;
}

/* Cycles in which a core waits for b where no product before prefetches it: copies and tiles look
 * too little ahead to hide the latency. */
static double wait_for_b(const walk *w, const ir_stmt *s, bool *in) {
  const cpu_product *p = cpu_of(s)->product;
  const tf_tensor *z =
      &w->p->tree->workload->tensors[w->p->tree->workload->ops[s->op].reads[p->b].tensor];
  const bool asked = (cpu_of(s)->prefetched >> (1 + p->b) & 1) &&
                     !(p->pack >= 0 && p->pairs.slots_along); /* those are read from their slots */
  if (z->producer >= 0 || p->slab || p->kernel->m_round > 1 || asked ||
      (double)tf_tensor_words(z) * words_each(type_of(w, s, p->b)) <= w->close_words / 2)
    return 0;
  const uint64_t mask = dims_of(w, s, p->b, in);
  const double words = read_box(w, s, p->b) * words_each(type_of(w, s, p->b));
  return runs(w, mask, true) * words / words_per_cycle(w, z);
}

/* Cycles in which a core waits for rows of an argument a that is read in place, which tiles
 * prefetch in pieces too short to hide the latency. */
static double wait_for_a(const walk *w, const ir_stmt *s, bool *in) {
  const cpu_product *p = cpu_of(s)->product;
  const int t = w->p->tree->workload->ops[s->op].reads[p->a].tensor;
  const tf_tensor *z = &w->p->tree->workload->tensors[t];
  if (p->pairs.transposed >= 0 || p->pairs.copy >= 0 || z->producer >= 0 ||
      p->kernel->a != IR_F32 || (cpu_of(s)->prefetched >> (1 + p->a) & 1) ||
      (double)tf_tensor_words(z) <= w->close_words / 2)
    return 0;
  const uint64_t mask = dims_of(w, s, p->a, in);
  return runs(w, mask, true) * read_box(w, s, p->a) / w->core->stream;
}

/* Cycles to lay out so many elements of a in rows along k: one for each, as they may have to be
 * converted or gathered; bytes whose neighbours along k are neighbours in memory go by words. */
static double row_copy_cycles(const walk *w, const ir_stmt *s, double words) {
  const cpu_product *p = cpu_of(s)->product;
  const tf_op *op = &w->p->tree->workload->ops[s->op];
  const tf_ref *a = &op->reads[p->a];
  const tf_tensor *z = &w->p->tree->workload->tensors[a->tensor];
  const ir_type type = type_of(w, s, p->a);
  const bool bytes = ir_is_byte(type) && p->kernel->c == IR_I32 && z->rank > 0 &&
                     tf_index_coef(&a->index[tf_inner_rank(z)], op->dims[p->k]) == 1;
  const double k = (double)s->range[p->k].most;
  return bytes ? words * words_each(type) / w->core->copy + words / k * w->core->row : words;
}

/* A product whose b is streamed: the longer of multiplying and fetching b. The former includes
 * packing, and loading and storing sums for each panel. */
static void cost_of_streamed(walk *w, const ir_stmt *s, bool *in) {
  const cpu_product *p = cpu_of(s)->product;
  const tf_op *op = &w->p->tree->workload->ops[s->op];
  const double m = (double)s->range[p->m].most, n = (double)s->range[p->n].most,
               k = (double)s->range[p->k].most, vectors = parts(n, w->isa->lanes),
               groups = k / p->kernel->group;
  const double busy = tf_cost_tiles(w->core, w->isa->registers, s->range[p->m].most,
                                    (int64_t)vectors, groups * tf_micro_group_time(p->kernel),
                                    (int)(p->pairs.pitch / w->isa->lanes)) +
                      2 * m * vectors * parts(groups, (double)p->pairs.steps) +
                      vectors * groups * p->kernel->group,
               waits = n * groups /
                       words_per_cycle(w, &w->p->tree->workload->tensors[op->reads[p->b].tensor]);
  w->cycles += runs(w, 0, false) * (busy > waits ? busy : waits);
  if (p->pairs.copy < 0) return;
  const uint64_t mask = dims_of(w, s, p->a, in);
  w->cycles += fills(w, mask, p->pairs.keep_copy) * row_copy_cycles(w, s, m * k);
}

static void cost_of_product(walk *w, const ir_stmt *s, const cpu_product *p) {
  enum { MAX_DIMS = 64 };
  const tf_op *op = &w->p->tree->workload->ops[s->op];
  const double rows = p->pairs.merged ? (double)s->range[p->n - 1].most : 1;
  const double m = (double)s->range[p->m].most, n = (double)s->range[p->n].most * rows,
               k = (double)s->range[p->k].most, calls = outside(w, s) / rows;
  bool in[MAX_DIMS];
  if (op->n_dims > MAX_DIMS) return;
  if (p->pairs.steps) {
    cost_of_streamed(w, s, in);
    return;
  }
  const double vectors = parts(n, w->isa->lanes), once = runs(w, 0, false);
  const int64_t panels =
      tf_micro_panels(w->isa->registers, (int64_t)vectors, tf_micro_across(&w->p->machine.choices));
  const double stays = w->core->l1_resident / (double)sizeof(float);
  /* sums are stored and loaded again for each block of k, in an outer memory where they do not fit
   * in the first cache */
  const bool in_tiles = p->kernel->m_round > 1;
  w->cycles +=
      once * calls *
      (in_tiles ? tile_cycles(w, s, n)
                : tf_cost_block(w->core, w->isa->registers, s->range[p->m].most, (int64_t)vectors,
                                k / p->kernel->group * tf_micro_group_time(p->kernel), panels) +
                      m * vectors);
  const double held = n * k * words_each(p->pack >= 0 ? p->kernel->b : type_of(w, s, p->b));
  if (held > stays) w->cycles += once * calls * held / w->core->exposed_bandwidth;
  if (s->nest.n_resets > 0 && m * n + held > stays)
    w->cycles += once * calls * 2 * m * n / w->core->exposed_bandwidth;
  w->cycles += wait_for_b(w, s, in) + wait_for_a(w, s, in);
  if (p->pack < 0) w->cycles += once * calls * row_starts(w, s);
  if (p->pairs.rows_span_pages)
    w->cycles += once * calls *
                 parts(m, tf_micro_rows(w->isa->registers, (int)parts(vectors, (double)panels))) *
                 vectors * k * w->core->strided_access;
  if (p->slab) {
    cost_of_slab(w, s);
  } else if (p->pack >= 0) {
    const uint64_t mask = dims_of(w, s, p->b, in);
    w->cycles += (p->pairs.slots_along ? slot_fills(w, mask) : fills(w, mask, p->pairs.keep_pack)) *
                 calls *
                 ((p->stride == 1 ? packed_words(p, p->kernel->b, n * k) / w->core->copy
                                  : n * k / w->core->transpose) +
                  row_starts(w, s) +
                  (p->pairs.slots_along ? held / w->core->stream
                                        : 0)); /* slots that are kept leave the close memory */
  }
  if (p->pairs.transposed >= 0) {
    const uint64_t mask = dims_of(w, s, p->a, in);
    w->cycles += fills(w, mask, true) * row_copy_cycles(w, s, words_of(s->range, op->n_dims, in));
  }
  if (p->pairs.copy >= 0) {
    const uint64_t mask = dims_of(w, s, p->a, in) | loops_outside(w, p->pairs.copy_in);
    w->cycles += fills(w, mask, p->pairs.keep_copy || p->pairs.copy_in) * calls *
                 row_copy_cycles(w, s, m * k);
  }
}

/* Few rows by a large operand: multiply-adds, plus reducing the lanes of each sum, or storing and
 * loading rows of c, plus the start of each contiguous piece of b. */
static void cost_of_skinny(walk *w, const ir_stmt *s, const cpu_product *p) {
  enum { STEPS = 8 };
  const double m = p->m < 0 ? 1 : (double)s->range[p->m].most, n = (double)s->range[p->n].most,
               k = (double)s->range[p->k].most, lanes = w->isa->lanes,
               calls = runs(w, 0, false) * outside(w, s);
  w->cycles += calls * (p->skinny.along_k
                            ? n * (m * (parts(k, lanes) / 2 + w->core->latency) + w->core->row)
                            : parts(n, lanes) * m * (k / 2 + parts(k, STEPS)) + k * w->core->row);
}

/* Each nonzero element is loaded with its position and multiplies vectors of b from the first
 * cache, into which these were copied; sums are loaded and stored for each part of k. */
static void cost_of_sparse(walk *w, const ir_stmt *s, const cpu_product *p) {
  enum { LOADS = 2 };
  const double m = (double)s->range[p->m].most, n = (double)s->range[p->n].most,
               k = (double)s->range[p->k].most, vectors = parts(n, w->isa->lanes),
               tiles = parts(vectors, p->sparse.across),
               rows = m < p->sparse.rows ? 1 : p->sparse.rows,
               left = parts(k, p->sparse.block_length) * p->sparse.nonzeros;
  const double loads = rows * (p->sparse.across + LOADS), waits = w->core->ports * w->core->latency;
  w->cycles += runs(w, 0, false) * outside(w, s) *
               (parts(m, rows) * tiles * left * (loads > waits ? loads : waits) / w->core->ports +
                2 * m * vectors * parts(k, (double)p->sparse.deep) + k * n / w->core->copy);
}

/* For each element along k of a nonzero block, vectors of b are loaded and multiply the block's
 * rows; b is copied row by row. */
static void cost_of_blocks(walk *w, const ir_stmt *s, const cpu_product *p) {
  const double m = (double)s->range[p->m].most, n = (double)s->range[p->n].most,
               k = (double)s->range[p->k].most, vectors = parts(n, w->isa->lanes),
               tiles = parts(vectors, p->sparse.across), rows = p->sparse.rows;
  const double loads = rows + p->sparse.across, products = rows * p->sparse.across,
               waits = w->core->ports * w->core->latency,
               each = products > loads ? products : loads;
  w->cycles +=
      runs(w, 0, false) * outside(w, s) *
      (m / rows * tiles * k * p->sparse.share * (each > waits ? each : waits) / w->core->ports +
       2 * m * vectors * parts(k, (double)p->sparse.deep) + k * n / w->core->copy +
       k * tiles * w->core->row);
}

/* The share of a nest's points that masks leave in the rows that they cut. */
static double unmasked_share(const walk *w, const ir_stmt *s) {
  double share = 1;
  for (int k = 0; w->masked && k < w->p->tree->workload->ops[s->op].n_dims; k++)
    if (!s->range[k].exact && s->range[k].most > 1)
      share *= cpu_share_of_range(&w->path, &s->range[k]);
  return share;
}

static void nest_inside(walk *w, const ir_stmt *s) {
  const cpu_product *p = cpu_product_of(s);
  if (p && p->kind == CPU_SPARSE)
    (p->sparse.block ? cost_of_blocks : cost_of_sparse)(w, s, p);
  else if (p && p->kind == CPU_CHANNELS)
    cost_of_channels(w, s);
  else if (p && p->kind == CPU_SKINNY)
    cost_of_skinny(w, s, p);
  else if (p)
    cost_of_product(w, s, p);
  else if (w->part)
    tf_cost_point_parts(w->p, w->isa, w->core, s, runs(w, 0, false), w->part);
  else
    w->cycles += runs(w, 0, false) * tf_cost_points(w->p, w->isa, w->core, s);
}

/* Moves the cycles of a product to the part of its type. */
static void note_product(walk *w, const cpu_product *p, double before) {
  const ir_type type = p->kernel ? p->kernel->b : IR_F32;
  w->part[p->kind == CPU_SKINNY     ? TF_COST_FEW
          : type == IR_BF16         ? TF_COST_BF16
          : type != IR_F32          ? TF_COST_BYTES
          : p->kind == CPU_CHANNELS ? TF_COST_CHANNELS
                                    : TF_COST_F32] += w->cycles - before;
  w->cycles = before;
}

static void nest(walk *w, const ir_stmt *s) {
  const double all = w->run_share, before = w->cycles;
  w->run_share *= unmasked_share(w, s);
  nest_inside(w, s);
  w->run_share = all;
  if (w->part && cpu_product_of(s)) note_product(w, cpu_product_of(s), before);
}

/* CORRECT, DIVIDE, CARRY: a factor for each row, and one pass over all elements. */
static void cost_of_scaling(walk *w, const ir_stmt *s) {
  const tf_op *op = &w->p->tree->workload->ops[s->op];
  const double rows = words_of(s->range, op->n_out_dims > 0 ? op->n_out_dims - 1 : 0, NULL),
               n = words_of(s->range, op->n_out_dims, NULL);
  w->cycles += runs(w, 0, false) * (rows * w->core->exponential + n * 2 / w->isa->lanes);
}

/* Moves what is retained from the step before. */
static void cost_of_keep(walk *w, const ir_stmt *s) {
  const int n = w->p->tree->workload->ops[s->op].n_out_dims;
  w->cycles += runs(w, 0, false) * words_of(s->range, n, NULL) / w->core->copy;
}

static void body(walk *w, const ir_body *b, bool together);

static void step_in(walk *w, const ir_stmt *s) {
  if (w->masked && w->path.n < MAX_PATH) w->path.s[w->path.n++] = s;
}

/* The body of an IR_IF, which runs where a range is not empty: in a share of masked steps. */
static void cost_of_guarded(walk *w, const ir_stmt *s) {
  const double all = w->run_share;
  if (w->masked) w->run_share *= cpu_share_of_guard(&w->path, s);
  body(w, &s->body, false);
  w->run_share = all;
}

static void loop(walk *w, const ir_stmt *s) {
  const int around_it = w->path.n;
  const uint64_t region = w->region;
  if (w->depth == MAX_DEPTH) return;
  if (ir_is_parallel(s) && w->instances > 1) {
    w->cycles += runs(w, 0, false) * REGION;
    w->region = (UINT64_C(1) << w->depth) - 1;
  }
  w->moves[s->loop.var] = UINT64_C(1) << w->depth;
  w->loop[w->depth] = s;
  step_in(w, s);
  w->trip[w->depth] = (double)s->loop.trip;
  w->share[w->depth++] = !ir_is_parallel(s)            ? 1
                         : s->loop.trip < w->instances ? (double)s->loop.trip
                                                       : w->instances;
  body(w, &s->body, false);
  w->depth--;
  w->region = region;
  w->path.n = around_it;
}

static void body(walk *w, const ir_body *b, bool together) {
  const int around_it = w->path.n;
  const double waits = tf_cost_traffic(w->p, b, together);
  w->out_of_memory |= waits < 0;
  *(w->part ? &w->part[TF_COST_WAITS] : &w->cycles) += runs(w, 0, false) * waits;
  for (int i = 0; i < b->n; i++) {
    const ir_stmt *s = b->s[i];
    if (s->kind == IR_LET)
      lower_let_moves(w->moves, s), step_in(w, s);
    else if (s->kind == IR_FOR)
      loop(w, s);
    else if (s->kind == IR_NEST)
      nest(w, s);
    else if (s->kind == IR_KEEP)
      cost_of_keep(w, s);
    else if (s->kind == IR_CORRECT || s->kind == IR_DIVIDE || s->kind == IR_CARRY)
      cost_of_scaling(w, s);
    else if (s->kind == IR_IF)
      cost_of_guarded(w, s);
    else if (s->kind == IR_TOGETHER)
      body(w, &s->body, true);
  }
  w->path.n = around_it;
}

static double cost_of(const ir_program *p, const tf_micro_isa *isa, double *part) {
  const tf_arch *a = p->tree->arch;
  walk w = {.p = p,
            .isa = isa,
            .core = &a->core,
            .instances = 1,
            .close_words = 2 * (double)lower_close_words(a),
            .part = part,
            .run_share = 1,
            .masked = tf_workload_masked(p->tree->workload),
            .moves = TF_ARRAY(p->arena, uint64_t, (size_t)p->n_vars + 1),
            .path = {.p = p,
                     .var = TF_ARRAY(p->arena, int64_t, (size_t)p->n_vars + 1),
                     .s = TF_ARRAY(p->arena, const ir_stmt *, MAX_PATH)}};
  if (!w.moves || !w.path.var || !w.path.s) return -1;
  for (int l = 1; l < a->n_memories; l++)
    w.instances *= (int)(a->memories[l].mesh[0] * a->memories[l].mesh[1]);
  body(&w, &p->body, false);
  return w.out_of_memory ? -1 : w.cycles;
}

double tf_cost(const ir_program *p, const tf_micro_isa *isa) { return cost_of(p, isa, NULL); }

bool tf_cost_parts(const ir_program *p, const tf_micro_isa *isa, double *part) {
  for (int i = 0; i < TF_COST_PARTS; i++)
    part[i] = 0;
  const double rest = cost_of(p, isa, part);
  part[TF_COST_REST] = rest;
  return rest >= 0;
}
