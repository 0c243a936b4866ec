/* Time of the kernels of a program, unit by unit: blocks run on multiprocessors in waves, as many
 * at a time as registers and shared memory allow; within a block the cycles of tensor cores, plain
 * units and shared memory, and the latencies that nothing hides; the traffic of all blocks through
 * L2 and the outermost memory. An estimate to rank mappings with; fitted constants are in
 * arch-specs/cores/fitted.csv. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "codegen/backend/cuda/pass/pass.h"

/* The share of the tensor cores' rate that wgmma reaches while tiles arrive. */
static const double group_share = 0.8;
/* The share of shared memory's bandwidth that those tiles and products reach together. */
static const double port_share = 0.9;
/* The share of the tensor cores' rate where warpgroups take blocks in turn. Otherwise work after a
 * block's last product takes behind_share of its cycles, as clocks rise while no product draws
 * power. */
static const double turn_share = 0.72, behind_share = 0.5;
/* Three warpgroups that take turns in a loop of two products: the share of the shorter of products
 * and exponentials that does not overlap with the longer. With two warpgroups all of it. */
static const double three_share = 0.75;
/* Cycles between instructions of a warp with few other warps to fill them; instructions of a thread
 * to begin a copy to a tile, and for each piece of it. */
static const double issue_cycles = 5, copy_begin = 60, copy_piece = 4;
/* Additional instructions of a warp, counted in machine code of loops with products
 * (bench/cuda/issue.py): to begin a copy to a tile, for a piece of it, for the address of a piece
 * whose row is a pixel, and for a piece that may be short, with its length; the same where pieces
 * have addresses of their own; to store two points as one word; for a row whose sum or maximum
 * crosses lanes; for a step; and once a block for what stands in no loop. */
static const double tile_begin = 55, tile_piece = 3, tile_pixel = 46, tile_some = 10,
                    each_begin = 15, each_piece = 40, save_pair = 18, row_meets = 5, loop_step = 20,
                    block_step = 50;
/* For the slot of a ring whose number of tiles is no power of two: a division. */
static const double ring_divided = 10;
/* For a piece whose elements are widened in the copy. */
static const double piece_widened = 20;
/* For a piece of a row that does not begin at a multiple of 16 bytes: copied as four words; also
 * shifted, where half of the rows are misaligned by half a word, so that each warp has rows of both
 * kinds; or element by element. Passes of shared memory for a warp's words, of which each pass
 * stores a quarter. */
static const double piece_words = 15, piece_shifted = 35, piece_elements = 9, words_passes = 4,
                    shifted_passes = 9;
/* The share of the multiprocessors that draws the outermost memory's whole bandwidth; fewer draw in
 * proportion. */
static const double reader_share = 2.0 / 3;
/* For warpgroups: to store two points to a tile that leaves; for a step of the ring; once a
 * block. */
static const double group_pair = 2, ring_step = 53, group_block = 120;
/* For an element of a tile that is gathered: of neighbours along the sum that are apart in memory
 * (fewer, copy_stays, if their distances are the same in each step and stay in registers), beside
 * the work for each piece and for the pixel's coordinate along each rank; and of the positions and
 * channels of a window. */
static const double copy_apart = 11, copy_stays = 9, apart_piece = 12, apart_rank = 10,
                    copy_place = 46;
/* For a gathered tile of known distances (cu_is_gathered), for each thread: once; for a position of
 * a window along one, two or three ranks that may be outside; for an element; for a piece whose row
 * is a pixel. For a tile of contiguous rows: once, and for a piece. For both: for a piece with a
 * swizzle. */
static const double gather_begin = 15, gather_place[] = {0, 2, 3, 12.5, 12.5},
                    gather_element = 2.65, gather_piece = 22, rows_begin = 15, rows_piece = 0.8,
                    swizzled_piece = 16;
/* Bytes of a warp's read of single elements at the port. */
enum { READ_BYTES = 4 };
/* The share of the shorter of units' and ports' cycles that does not overlap with the longer. */
static const double both_share = 0.5;
/* Copies of a part that are distinguished; later ones are taken to share no tiles between
 * blocks. */
enum { MOST_COPIES = 32 };

typedef struct {
  const ir_program *p;
  const tf_multiprocessor *mp;
  double rate; /* multiply-adds a cycle of a multiprocessor's tensor cores */
  int64_t multiprocessors;
  double times;         /* how often the statement runs in a block */
  double last;          /* and of these in the last step of the surrounding loop */
  double lanes;         /* threads with a step of the surrounding loops */
  double row_warps;     /* warps of these, where loops are over warps and lanes */
  bool groups;          /* the part has warpgroups */
  bool *shared_tiles;   /* [n_buffers] tiles of which each block of a cluster fetches half */
  bool per_lane;        /* each lane has points of its own; else a warp's lanes share each sum */
  const ir_stmt *warps; /* of a region, the surrounding loop over warps; NULL: none */
  const ir_stmt *loop;  /* the innermost serial loop; NULL: none */
  const ir_stmt *mask;  /* the statement that masks scores, which compares in some of the loop's
                           steps only; NULL: none */
  double masked_share;  /* the share of those steps */
  bool longest;         /* with a mask: the longest block is meant; else the mean of all blocks */
  int n_copies;
  double copy_bytes[MOST_COPIES]; /* of each copy, in program order */
  /* of a block, in cycles: */
  double tensor, plain, special, shared, copied, waits, scattered;
  double issued;           /* instructions of the warp that issues most */
  double partial_sums;     /* cycles of plain units for partial sums of a ring, beside products */
  double slots, all_slots; /* instructions issued by such a warp; and by all, in whole warps */
  double share;            /* the share of the block's warps that run the statement */
  bool few_warps;          /* some work is for few warps, with no others to hide latencies */
  double multiplied;       /* of the instructions, those of tensor cores */
  double summed;           /* and multiply-adds of depthwise convolutions */
  int loops;               /* loops with products seen so far */
  cu_step step;            /* of the innermost loop with most products */
  double steps, depth;     /* tiles of the longest ring of a block; how many there are at a time */
} block;

/* Adds n instructions of each warp. */
static void add_slots(block *b, double n) { b->slots += n, b->all_slots += n * b->share; }

static const tf_op *op_of(const block *b, const ir_stmt *s) {
  return &b->p->tree->workload->ops[s->op];
}

/* ---- one block ------------------------------------------------------------------------------ */

static int64_t round_up(int64_t n, int64_t by) { return (n + by - 1) / by * by; }

static double points_of(const block *b, const ir_stmt *s) {
  double n = s->stack ? (double)s->stack->count : 1;
  for (int k = 0; k < ir_n_ranges(b->p, s); k++)
    if (!ir_is_stacked(s, k)) n *= (double)s->range[k].most;
  return n;
}

/* Rows and columns of all warps, with padding; operands come by ldmatrix from tiles, or element by
 * element. A warpgroup reads its columns once for all its warps. */
static void cost_of_product(block *b, const ir_stmt *s) {
  const cu_mma *mma = cu_mma_for(b->p, op_of(b, s));
  const cu_matrices *f = cu_of(s)->fragments;
  const double rate = b->rate * mma->kernel.group / cu_mma_of(b->p)->kernel.group;
  const ir_buffer *out = &b->p->buffers[b->p->buffer_of[op_of(b, s)->out]];
  const double m = (double)cu_matrix_rows(out), n = (double)out->extent[cu_column_rank(out)],
               k = (double)round_up(cu_sum_length(b->p, s), mma->kernel.k_round);
  const double warps = b->lanes / CU_LANES, all = m * n * k * warps;
  b->tensor += b->times * all / rate;
  b->issued += b->times * k / mma->kernel.k_round *
               (m / 16 * n / 8 + m / 16 + n / 16); /* multiply, load matrices */
  const cu_step each = cu_product_step(b->p, s, b->loop, cu_begins_before(b->p, b->loop, s),
                                       b->groups, b->share < 1);
  b->multiplied += b->times * each.multiplied;
  add_slots(b, b->times * each.issued);
  if (mma->kernel.a ==
      IR_F8) /* partial sums are added up, of a ring's step or of each instruction */
    *(b->groups ? &b->partial_sums : &b->plain) +=
        b->times * m * n * warps * (b->groups ? 1 : k / mma->kernel.k_round) / b->mp->plain;
  for (int i = 0; i < 2; i++) {
    const ir_buffer *from = &b->p->buffers[s->nest.from[i ? f->b : f->a]];
    const double elements = (i ? n : m) * k * warps / (i && b->groups ? CU_GROUP_WARPS : 1);
    if (from->role == IR_COPIED && cu_is_matrix(from))
      b->shared += b->times * elements * ir_bytes(mma->kernel.a) / b->mp->banks;
    else if (from->space != CU_FRAGMENT)
      b->plain += b->times * elements * b->mp->point / CU_LANES *
                  4; /* a warp's loads of 4 bytes, one by one */
  }
}

/* Calls of more than one instruction: all their instructions for 16-bit data, and those of them on
 * special units. */
static const struct {
  tf_kind kind;
  int instructions, special;
} calls[] = {{TF_K_EXP, 2, 1},      {TF_K_LOG, 26, 1},  {TF_K_SQRT, 8, 1},
             {TF_K_DIV, 9, 1},      {TF_K_TANH, 17, 2}, {TF_K_ERF, 28, 1},
             {TF_K_SIGMOID, 13, 2}, {TF_K_GELU, 31, 1}, {TF_K_SILU, 14, 2}};

/* Instructions of one point of fragments, whose operands are in registers: the calls of its
 * expression, and a step of the sum. A quotient by a number is a multiplication; a deferred
 * quotient takes none. */
static void point_instructions(const block *b, const ir_stmt *s, double *all, double *special) {
  const tf_op *op = op_of(b, s);
  const bool deferred = s->kind == IR_NEST && s->nest.divides >= 0;
  *all = s->kind == IR_NEST ? (op->reduce != TF_ASSIGN) + 0.5 * cu_is_multiplied(b->p, op) : 1;
  *special = 0;
  if (s->kind != IR_NEST) return;
  for (int i = 0; i < op->n_expr; i++) {
    const tf_expr *e = &op->expr[i];
    const bool by_number =
        e->what == TF_X_CALL && e->call == TF_K_DIV && op->expr[e->arg[1]].what == TF_X_NUMBER;
    if (e->what != TF_X_CALL || (deferred && e->call == TF_K_DIV)) continue;
    int n = 1, m = 0;
    for (size_t k = 0; k < sizeof calls / sizeof *calls && !by_number; k++)
      if (calls[k].kind == e->call) n = calls[k].instructions, m = calls[k].special;
    *all += n, *special += m;
  }
}

/* How many instructions fewer an exponential of a difference takes: one instruction subtracts and
 * scales. */
static int folded_instructions(const block *b, const ir_stmt *s) {
  const tf_op *op = op_of(b, s);
  int n = 0;
  for (int i = 0; s->kind == IR_NEST && i < op->n_expr; i++) {
    const tf_expr *e = &op->expr[i];
    if (e->what != TF_X_CALL || e->call != TF_K_EXP) continue;
    const tf_expr *of = &op->expr[e->arg[0]];
    n += of->what == TF_X_CALL && of->call == TF_K_SUB;
  }
  return n;
}

/* A point in memory takes `point` instructions, calls included, and a call occupies a special unit,
 * too; a dot product handles several points at once. */
static void memory_point_instructions(const block *b, const ir_stmt *s, double *all,
                                      double *special) {
  *all = (b->mp->point + cu_places_of(b->p, s)) /
         (cu_dot_of(b->p, s) < 0 ? 1 : b->p->machine.whole->k_round);
  *special = 0;
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    *special += (op_of(b, s)->kinds >> calls[i].kind & 1) != 0;
}

/* Points of fragments, with rows and columns padded to multiples of eight. */
static double padded_points(const block *b, const ir_stmt *s) {
  double n = s->stack ? (double)round_up(s->stack->count, 8) : 1;
  for (int k = 0; k < ir_n_ranges(b->p, s); k++)
    if (!ir_is_stacked(s, k))
      n *= (double)(s->range[k].most > 1 ? round_up(s->range[k].most, 8) : 1);
  return n;
}

/* Instructions of a warp for points of fragments; none to correct sums of warpgroups, which do so
 * only after a maximum has risen. */
static double fragment_instructions(const block *b, const ir_stmt *s, double plain) {
  const tf_op *op = op_of(b, s);
  if (s->kind == IR_CORRECT && b->groups) return 0;
  double rows = s->kind == IR_NEST && op->reduce != TF_ASSIGN ? 1.0 / 8 : 0;
  for (int k = 0; rows > 0 && k < op->n_out_dims; k++)
    rows *= (double)(s->range[k].most > 1 ? round_up(s->range[k].most, 8) : 1);
  const double each = s->kind == IR_SAVE ? (b->groups ? group_pair : save_pair) / 2
                                         : plain - folded_instructions(b, s);
  return padded_points(b, s) * each / CU_LANES + rows * row_meets;
}

/* Sums of a depthwise convolution, in registers; loads of weights overlap. */
static void cost_of_window(block *b, const ir_stmt *s) {
  const cu_window_work each = cu_window_work_of(b->p, s);
  const double share = b->share;
  b->issued += b->times * each.issued, b->summed += b->times * each.summed;
  b->plain += b->times * each.plain * b->lanes / b->mp->plain;
  b->share *= b->row_warps / CU_WARPS;
  add_slots(b, b->times * each.issued);
  b->share = share;
  b->shared += b->times * each.read * READ_BYTES * b->lanes / b->mp->banks;
  b->waits += b->times * b->mp->latency;
}

/* Points of fragments belong to all lanes, others to the threads with a step of the surrounding
 * loops. */
static void cost_of_points(block *b, const ir_stmt *s, bool region) {
  if (cu_of(s)->window) cost_of_window(b, s);
  if (cu_of(s)->window || cu_of(s)->fused) return;
  const double times = s == b->mask ? b->masked_share * b->times
                       : s->kind == IR_DIVIDE && s->divide.last.var >= 0 ? b->last
                                                                         : b->times;
  const double each = points_of(b, s) * times, all = each * b->lanes / (region ? CU_LANES : 1);
  double plain, special;
  (region && s->kind != IR_SAVE ? point_instructions : memory_point_instructions)(b, s, &plain,
                                                                                  &special);
  b->plain += all * plain / b->mp->plain;
  b->special += all * special / b->mp->special;
  if (region) {
    b->issued += each * plain / CU_LANES;
    add_slots(b, times * fragment_instructions(b, s, plain));
    if (b->groups) b->scattered += each * cu_store_lines(b->p, s) * b->lanes / CU_LANES;
  }
  if (!region) b->waits += each * b->mp->wait / (b->per_lane ? 1 : CU_LANES);
}

/* The parts of sums are read from L2, one after the other. */
static void cost_of_merge(block *b, const ir_stmt *s) {
  const double times = b->times;
  b->times *= (double)s->merge.parts;
  cost_of_points(b, s, false);
  b->copied += points_of(b, s) * b->times * b->lanes * ir_bytes(b->p->buffers[s->merge.from].type) /
               b->mp->l2;
  b->times = times;
  b->waits += b->times * b->mp->latency;
}

/* A tile whose elements have known distances: the loads of a thread's pieces overlap, as many as
 * registers hold. */
static void cost_of_gather(block *b, const ir_stmt *s) {
  enum { FLIGHT = 64 };
  const ir_buffer *to = &b->p->buffers[s->copy.to];
  const double per = 16.0 / ir_bytes(to->type), threads = CU_WARPS * CU_LANES;
  const cu_tile t = cu_tile_of(to);
  const ir_stack places = cu_across(to) ? cu_places(b->p, s) : (ir_stack){0};
  const double pieces =
      cu_across(to) ? (double)cu_share_of(b->p, s) : ceil((double)(t.rows * t.pieces) / threads);
  const double row = gather_place[places.n] * (double)ir_stack_rows(&places),
               spots = cu_across(to) ? (t.mask ? swizzled_piece : 0) : gather_piece;
  const double each =
      b->times * (gather_begin + row + spots * pieces + gather_element * pieces * per);
  b->plain += each * threads / b->mp->plain;
  b->issued += each;
  add_slots(b, each);
  b->shared += b->times * pieces * per * threads * READ_BYTES / b->mp->banks;
  b->waits += b->times * ceil(pieces * per / FLIGHT) * b->mp->latency;
}

/* A tile that is gathered element by element; of a window's positions, each piece of a thread waits
 * for the one before. */
static void cost_of_elementwise_gather(block *b, const ir_stmt *s) {
  const ir_buffer *to = &b->p->buffers[s->copy.to];
  const double apart = s->range[cu_column_rank(to)].lo.var < 0 ? copy_stays : copy_apart;
  const double elements = b->times * (double)(cu_matrix_rows(to) * cu_matrix_columns(to));
  const double piece = apart_piece + apart_rank * cu_stack(to)->n, each = CU_WARPS * CU_LANES;
  const double all =
      elements * (cu_across(to) ? copy_place : apart + piece * ir_bytes(to->type) / 16);
  b->plain += all / b->mp->plain;
  b->issued += all / each;
  add_slots(b, all / each);
  if (cu_across(to)) b->waits += elements * ir_bytes(to->type) / 16 / each * b->mp->latency;
}

/* A tile copied in so many pieces of 16 bytes for each thread; of warpgroups another warpgroup
 * copies it. */
static void cost_of_tile(block *b, const ir_stmt *s, double pieces) {
  enum { OF_WINDOW = 35, PIECE = 60 }; /* 34 depthwise convolutions, bench/cuda/depthwise.py */
  const ir_buffer *to = &b->p->buffers[s->copy.to];
  if (!cu_is_matrix(to)) return;
  const cu_tile t = cu_tile_of(to);
  const double there = (double)(t.rows * t.pieces) / (CU_WARPS * CU_LANES);
  b->issued += b->times * (copy_begin + copy_piece * pieces);
  if (cu_stack(to) && cu_is_plain(to)) { /* some threads have one piece more than others */
    add_slots(b, b->times * (OF_WINDOW + PIECE * pieces));
    b->slots += b->times * PIECE * (ceil(pieces) - pieces);
  } else if (!b->groups && !cu_stack(to) && !cu_is_by_rows(&t)) {
    add_slots(b, b->times * (each_begin + each_piece * there));
    b->slots += b->times * each_piece * (ceil(there) - there);
  } else if (!b->groups) {
    const bool full = cu_stack(to) || cu_lengths_of(b->p, s, &t) & CU_FULL;
    add_slots(b, b->times * (tile_begin + (cu_stack(to) ? tile_pixel : 0) * pieces +
                             (full ? tile_piece * pieces : tile_some * there)));
    if (cu_stack(to)) b->slots += b->times * tile_pixel * (ceil(there) - there);
  }
}

/* Extra cost of pieces of rows that do not begin at multiples of 16 bytes; those that are not
 * copied as words pass through registers, with a latency. */
static void add_misaligned(block *b, const ir_stmt *s, double pieces) {
  const ir_buffer *to = &b->p->buffers[s->copy.to];
  const int64_t begins = cu_row_alignment(b->p, s), size = ir_bytes(to->type);
  if (begins >= 16 || !cu_is_matrix(to)) return;
  const double each = begins >= 4 ? piece_words
                      : size == 2 ? piece_shifted
                                  : piece_words + piece_elements * 16 / (double)size,
               passes = begins >= 4 ? words_passes : shifted_passes, all = CU_WARPS * CU_LANES;
  add_slots(b, b->times * each * pieces);
  b->issued += b->times * each * pieces;
  b->plain += b->times * each * pieces * all / b->mp->plain;
  b->shared += b->times * passes * pieces * 16 * all / b->mp->banks;
  if (begins < 4) b->waits += b->times * b->mp->latency;
}

/* Extra cost of pieces whose elements are widened: they pass through registers, with a latency. */
static void add_widened(block *b, const ir_stmt *s, double pieces) {
  const ir_buffer *to = &b->p->buffers[s->copy.to];
  if (!cu_is_matrix(to) || to->type == b->p->buffers[s->copy.from].type) return;
  add_slots(b, b->times * piece_widened * pieces);
  b->issued += b->times * piece_widened * pieces;
  b->plain += b->times * piece_widened * pieces * CU_WARPS * CU_LANES / b->mp->plain;
  b->waits += b->times * b->mp->latency;
}

/* A tile of contiguous rows; if misaligned they cost what misaligned pieces of others do. */
static void cost_of_contiguous_rows(block *b, const ir_stmt *s) {
  const bool swizzled = cu_tile_of(&b->p->buffers[s->copy.to]).mask != 0;
  const double pieces = (double)cu_share_of(b->p, s),
               each = b->times * (rows_begin + (swizzled ? swizzled_piece : rows_piece) * pieces);
  b->issued += each;
  add_slots(b, each);
  add_misaligned(b, s, pieces);
}

static void cost_of_copy(block *b, const ir_stmt *s) {
  const ir_buffer *to = &b->p->buffers[s->copy.to];
  const double copied = (double)cu_copied(b->p, s), bytes = cu_delivered(b->p, s),
               pieces = ir_bytes(to->type) * copied / 16 / (CU_WARPS * CU_LANES);
  b->copied += b->times * bytes / b->mp->l2 / (b->groups && b->shared_tiles[s->copy.to] ? 2 : 1);
  b->copy_bytes[b->n_copies < MOST_COPIES ? b->n_copies : MOST_COPIES - 1] += b->times * bytes;
  b->n_copies++;
  if (cu_has_contiguous_rows(b->p, s))
    cost_of_contiguous_rows(b, s);
  else if (cu_is_gathered(b->p, s))
    cost_of_gather(b, s);
  else if (cu_across(to) || (cu_stack(to) && cu_column_rank(to) < to->rank - 1))
    cost_of_elementwise_gather(b, s);
  else
    cost_of_tile(b, s, pieces), add_misaligned(b, s, pieces), add_widened(b, s, pieces);
  if (b->groups) b->shared += b->times * bytes / b->mp->banks;
  if (to->slots == 1) b->waits += b->times * b->mp->latency;
  if (b->groups && b->times > b->steps && to->slots > 1)
    b->steps = b->times, b->depth = (double)to->slots;
}

static void body(block *b, const ir_body *list, bool region);

/* After a loop: keeps the step of the innermost loop with most products. */
static void keep_step(block *b, const block *before) {
  const double products = (b->multiplied - before->multiplied) / b->times,
               sums = (b->summed - before->summed) / b->times;
  if (products + sums <= 0) return;
  add_slots(b, b->times * (b->groups ? ring_step : loop_step));
  if (b->loops++ == before->loops && products + sums > b->step.multiplied + b->step.summed)
    b->step = (cu_step){(b->slots - before->slots) / b->times, products, sums};
}

static void loop(block *b, const ir_stmt *s, bool region) {
  const block before = *b;
  const bool thread = s->loop.map == IR_WARP || s->loop.map == IR_LANE,
             here = region || cu_is_region(b->p, s);
  if (here && !region) b->warps = s;
  if (s->loop.map == IR_SERIAL) b->loop = s;
  if (s->loop.map == IR_SERIAL) b->last = b->times, b->times *= (double)s->loop.trip;
  if ((b->groups || cu_of(s)->skips_steps) && b->warps && s->loop.map == IR_SERIAL) {
    const cu_left left = cu_steps_left(b->p, b->warps, s);
    tf_mask m;
    b->times *= b->longest ? left.most : left.mean;
    b->mask = cu_mask_of(b->p, b->warps, s, &m), b->masked_share = left.cut;
  }
  if (thread) b->lanes *= (double)s->loop.trip;
  if (s->loop.map == IR_WARP) b->row_warps *= (double)s->loop.trip;
  if (thread && here && !region) b->lanes *= CU_LANES;
  if (thread) b->per_lane = s->loop.map == IR_LANE;
  body(b, &s->body, here);
  if (s->loop.map == IR_SERIAL && s->loop.trip > 1) keep_step(b, &before);
  if (thread) b->waits += before.times * b->mp->barrier;
  b->times = before.times;
  b->last = before.last;
  b->lanes = before.lanes;
  b->row_warps = before.row_warps;
  b->per_lane = before.per_lane;
  b->warps = before.warps;
  b->loop = before.loop;
}

static double unit_cycles(const block *b) {
  return b->tensor / b->mp->share + b->plain + b->special;
}

/* Work of some warps alone. Each warp has the units of one scheduler, of which a multiprocessor has
 * as many as its plain units have warps' lanes; the others serve other blocks. */
static void cost_of_some_warps(block *b, const ir_stmt *s, bool region) {
  const double all = b->lanes, before = unit_cycles(b), schedulers = b->mp->plain / CU_LANES;
  const double warps = region && cu_of(s)->warps ? (double)cu_of(s)->warps : CU_WARPS;
  b->lanes *= warps / CU_WARPS;
  b->share *= warps / CU_WARPS;
  b->few_warps |= region && warps < schedulers;
  body(b, &s->body, region);
  b->share /= warps / CU_WARPS;
  if (warps < schedulers) b->waits += (unit_cycles(b) - before) * (schedulers / warps - 1);
  b->lanes = all;
}

/* The slot of a ring of tiles to read and, likewise, the one to fill next. */
static void cost_of_ring_slot(block *b, const ir_stmt *s) {
  const ir_expr *e = &s->let.expr;
  if (e->fn != IR_MOD || b->groups || b->times <= 1) return;
  const int64_t by = e->arg[1].off;
  bool is = false;
  for (int k = 0; k < b->p->n_buffers; k++)
    is |= b->p->buffers[k].role == IR_COPIED && b->p->buffers[k].slot.var == s->let.var;
  if (is && by & (by - 1)) add_slots(b, b->times * 2 * ring_divided);
}

static void body(block *b, const ir_body *list, bool region) {
  for (int i = 0; i < list->n; i++) {
    const ir_stmt *s = list->s[i];
    if (s->kind == IR_LET)
      cost_of_ring_slot(b, s);
    else if (s->kind == IR_FOR)
      loop(b, s, region);
    else if (s->kind == IR_COPY)
      cost_of_copy(b, s);
    else if (s->kind == IR_BARRIER || s->kind == IR_WAIT)
      b->waits += b->times * b->mp->barrier;
    else if (s->kind == IR_NEST && cu_of(s)->fragments)
      cost_of_product(b, s);
    else if (s->kind == IR_MERGE)
      cost_of_merge(b, s);
    else if (ir_facts_of(s)->points)
      cost_of_points(b, s, region);
    else if (s->kind == IR_IF)
      cost_of_some_warps(b, s, region);
    else
      body(b, &s->body, region);
  }
}

/* ---- waves of blocks ------------------------------------------------------------------------ */

/* Cycles in which a multiprocessor's four schedulers issue a block's instructions, one a cycle
 * each, for so many warps. */
static double issue_cycles_of(const block *b, double warps) {
  enum { SCHEDULERS = 4 };
  return b->all_slots * warps / SCHEDULERS;
}

/* Cycles of so many blocks of a multiprocessor that overlap: units' cycles add up, latencies are
 * hidden by the others' work. */
static double overlapped_cycles(const block *b, double blocks, double spilled) {
  const double all = unit_cycles(b) * spilled;
  const double ports = b->shared > b->copied ? b->shared : b->copied;
  const double alone =
      (b->few_warps ? fmax(b->slots, b->issued) : b->issued) * issue_cycles * spilled;
  const double one = (all > alone ? all : alone) + b->waits + b->mp->latency,
               sum = blocks *
                     ((ports > all ? ports : all) + both_share * (ports > all ? all : ports));
  return fmax(fmax(sum, one), blocks * issue_cycles_of(b, CU_WARPS));
}

/* Cycles of a loop in which warpgroups take turns: one multiplies while the others work on rows;
 * products and exponentials follow one another. */
static double cycles_in_turn(const block *b, const ir_stmt *s, double one) {
  const double beside = cu_groups_of(s) > 2 ? (1 - three_share) * fmin(b->tensor, b->special) : 0;
  const double rows = b->plain + b->special, both = b->tensor + b->special - beside,
               most = rows > both ? rows : both;
  return one > most ? one : most;
}

/* Warps that run a block of the part; of warpgroups those that multiply. */
static double warps_of(const block *b, const ir_stmt *s) {
  if (!b->groups) return CU_WARPS;
  return CU_GROUP_WARPS * (cu_is_in_turns(s) ? 1 : cu_groups_of(s));
}

/* The pipe of a block of warpgroups, which has its multiprocessor to itself and requests tiles
 * ahead while it multiplies; the other warpgroup hides half of the latencies of its products. */
static cu_pipe pipe_of(const block *b, const ir_stmt *s, double blocks) {
  const bool taken_in_turn = cu_is_in_turns(s);
  const double units = b->tensor / (taken_in_turn ? turn_share : group_share),
               ports = b->shared / port_share;
  const double copies = ports > b->copied ? ports : b->copied,
               one = fmax(fmax(units, b->partial_sums), issue_cycles_of(b, warps_of(b, s)));
  const double steps = b->steps > 0 ? b->steps : 1;
  const bool rows = cu_has_turns(
      b->p, &s->body); /* run between the products of a step, so that nothing is left after it */
  return (cu_pipe){.steps = steps,
                   .depth = b->depth > 0 ? b->depth : 1,
                   .producer = copies / steps,
                   .consumer = ((rows ? cycles_in_turn(b, s, one) : one) + b->waits / 2) / steps,
                   .latency = b->mp->latency,
                   .epilogue =
                       (rows ? 0 : (b->plain + b->special) * (taken_in_turn ? 1 : behind_share)) +
                       b->scattered + b->mp->barrier,
                   .blocks = blocks,
                   .in_turns = taken_in_turn};
}

/* Adds up the work of a block. */
static void walk(block *b, const ir_stmt *s, bool longest) {
  b->times = b->last = b->lanes = b->row_warps = 1;
  b->per_lane = true;
  b->warps = b->mask = b->loop = NULL;
  b->longest = longest;
  b->n_copies = 0;
  memset(b->copy_bytes, 0, sizeof b->copy_bytes);
  b->tensor = b->plain = b->special = b->shared = b->copied = b->waits = b->partial_sums =
      b->scattered = b->issued = 0;
  b->slots = b->all_slots = b->multiplied = b->summed = 0;
  b->share = 1;
  b->few_warps = false;
  b->loops = 0;
  b->step = (cu_step){0};
  b->steps = b->depth = 0;
  body(b, &s->body, false);
}

/* The grid of warpgroups is persistent: its blocks start once, and tasks of unequal length are
 * dealt in alternating order. */
static double warpgroup_cycles(block *b, const ir_stmt *s, double blocks) {
  walk(b, s, true);
  const cu_pipe most = pipe_of(b, s, 1);
  walk(b, s, false);
  const cu_pipe all = pipe_of(b, s, ceil(blocks / (double)b->multiprocessors));
  return fmax(cu_pipe_all(&all), cu_pipe_all(&most));
}

/* Blocks of other kernels run in waves, as many at a time as there is room for. */
static double wave_cycles(block *b, const ir_stmt *s, double blocks, double *wave) {
  const double registers = cu_registers(
                   b->p, s), /* the compiler is asked for registers such that so many blocks fit */
      at_once = (cu_multiplies(&s->body) && !cu_is_wmma(b->p)) || cu_has_window(&s->body)
                    ? cu_blocks_at_once(b->p, s)
                    : cu_resident(b->mp, registers, (double)cu_share(b->p, s, NULL));
  const double spilled = registers > b->mp->most ? 1.5 + (registers - b->mp->most) / 32 : 1;
  walk(b, s, false);
  *wave = at_once * (double)b->multiprocessors;
  const double full = floor(blocks / *wave), rest = blocks - full * *wave;
  const double last =
      rest > 0 ? overlapped_cycles(b, ceil(rest / (double)b->multiprocessors), spilled) : 0;
  return full * overlapped_cycles(b, at_once, spilled) + last;
}

/* ---- L2 and outer memories ------------------------------------------------------------------ */

/* Cycles in which a memory delivers so many bytes. */
static double memory_cycles(const tf_memory *m, double bytes) {
  return isfinite(m->read_bw) ? bytes / (m->read_bw * m->word_bits / CHAR_BIT) : 0;
}

/* Cycles of L2 for the copies of all blocks; its bandwidth is that to all multiprocessors
 * together. */
static double l2_cycles(const block *b, double blocks) {
  const tf_arch *a = b->p->tree->arch;
  const int home = cu_home(a);
  return home < 2 ? 0 : memory_cycles(&a->memories[home - 1], blocks * b->copied * b->mp->l2);
}

/* Finds the buffers in global memory that the list copies to blocks, and those that it accesses in
 * place. */
static void find_touched(const block *b, ir_stmt *const *s, int n, bool *copied, bool *touched) {
  for (int i = 0; i < n; i++) {
    bool *at = s[i]->kind == IR_COPY ? copied : touched;
    for (int k = 0; k < b->p->n_buffers && s[i]->body.n == 0; k++)
      at[k] |= b->p->buffers[k].space == CU_GLOBAL && cu_touches(b->p, &s[i], 1, k);
    find_touched(b, s[i]->body.s, s[i]->body.n, copied, touched);
  }
}

/* Bytes that blocks of a part copy from beyond L2: all except what blocks of a wave fetch together,
 * and what a window's earlier steps in the block have fetched. share: as in cu_spanned. */
static double copied_bytes(const block *b, const ir_stmt *s, double wave, double *share) {
  double of[MOST_COPIES], words[MOST_COPIES], bytes = 0;
  const bool many = s->kind == IR_FOR && s->loop.map == IR_BLOCK,
             apart = many && b->n_copies <= MOST_COPIES;
  const double blocks = many ? (double)s->loop.trip : 1;
  if (apart) cu_shared_tiles(b->p, s, (int64_t)(wave < blocks ? wave : blocks), b->n_copies, of);
  const int n = b->n_copies < MOST_COPIES ? b->n_copies : MOST_COPIES;
  cu_spanned(b->p, s, n, words, share);
  for (int c = 0; c < n; c++)
    bytes +=
        fmin(b->copy_bytes[c], words[c] * ir_bytes(b->p->machine.data)) * (apart ? of[c] : blocks);
  return bytes;
}

/* Bytes that a part moves through the outermost memory's port: what it accesses in place, once;
 * what it copies, once if L2 can hold all of it, else for each wave of blocks that fetches it. */
static double memory_bytes(const block *b, const ir_stmt *s, double wave) {
  const tf_arch *a = b->p->tree->arch;
  const int home = cu_home(a), n = b->p->n_buffers;
  bool *copied = TF_ARRAY(b->p->arena, bool, 2 * (size_t)n + 2), *touched = copied + n;
  double in_place = 0, once = 0, *share = TF_ARRAY(b->p->arena, double, (size_t)n + 1);
  if (!copied || !share) return 0;
  const double waves = copied_bytes(b, s, wave, share);
  find_touched(b, (ir_stmt *const[]){(ir_stmt *)s}, 1, copied, touched);
  for (int k = 0; k < n; k++) {
    const double bytes = (double)(b->p->buffers[k].words * ir_bytes(b->p->buffers[k].type));
    if (copied[k])
      once += bytes * share[k];
    else if (touched[k])
      in_place += bytes;
  }
  const tf_memory *l2 = home < 2 ? NULL : &a->memories[home - 1];
  const bool stays = l2 && (l2->capacity_words < 0 ||
                            once <= (double)l2->capacity_words * l2->word_bits / CHAR_BIT);
  return in_place + (stays && once < waves ? once : waves);
}

static void open_part(block *b, const ir_stmt *s) {
  b->groups = b->shared_tiles && cu_is_groups(s);
  if (b->groups && !cu_cluster(b->p, s, b->shared_tiles))
    memset(b->shared_tiles, 0, (size_t)b->p->n_buffers * sizeof *b->shared_tiles);
}

static void part(block *b, const ir_stmt *s, tf_times *t) {
  const double blocks = s->kind == IR_FOR && s->loop.map == IR_BLOCK ? (double)s->loop.trip : 1;
  open_part(b, s);
  double wave = (double)b->multiprocessors;
  const double took = b->groups ? warpgroup_cycles(b, s, blocks) : wave_cycles(b, s, blocks, &wave),
               l2 = l2_cycles(b, blocks);
  const double readers = fmin(blocks / (double)b->multiprocessors / reader_share, 1);
  const double memory =
      memory_cycles(&b->p->tree->arch->memories[0], memory_bytes(b, s, wave)) / readers;
  const double outside = l2 > memory ? l2 : memory;
  const double each = ceil(blocks / (double)b->multiprocessors), here = each * b->copied;
  const double share = !b->groups ? b->mp->share : cu_has_turns(b->p, &s->body) ? 1 : group_share;
  const double waits =
      b->groups ? each / 2 : ceil(blocks / wave); /* blocks of a wave wait side by side */
  t->unit[TF_TIME_TENSOR] += each * b->tensor / share;
  t->unit[TF_TIME_SPECIAL] += each * b->special;
  t->unit[TF_TIME_ISSUE] +=
      each * fmax(b->plain + b->partial_sums, issue_cycles_of(b, warps_of(b, s)));
  t->unit[TF_TIME_SHARED] += each * (b->shared + b->scattered);
  t->unit[TF_TIME_L2] += here > l2 ? here : l2;
  t->unit[TF_TIME_MEMORY] += memory;
  t->unit[TF_TIME_WAITS] += waits * b->waits;
  t->unit[TF_TIME_START] += b->mp->start;
  t->cycles += b->mp->start + (took > outside ? took : outside);
}

static block block_of(const ir_program *p) {
  const tf_arch *a = p->tree->arch;
  block b = {.p = p,
             .mp = &a->multiprocessor,
             .rate = cu_rate(p),
             .multiprocessors = cu_multiprocessors(p)};
  b.shared_tiles = TF_ARRAY(p->arena, bool, (size_t)p->n_buffers + 1);
  return b;
}

cu_pipe cu_pipe_of(const ir_program *p, const ir_stmt *part) {
  block b = block_of(p);
  open_part(&b, part);
  if (!b.groups) return (cu_pipe){0};
  walk(&b, part, false);
  return pipe_of(&b, part, ceil((double)part->loop.trip / (double)b.multiprocessors));
}

static void find_bound(tf_times *t) {
  for (int u = 1; u < TF_N_TIMES; u++)
    if (t->unit[u] > t->unit[t->bound]) t->bound = (tf_time)u;
}

cu_step cu_step_of(const ir_program *p, const ir_stmt *part) {
  block b = block_of(p);
  open_part(&b, part);
  walk(&b, part, false);
  if (b.step.multiplied + b.step.summed > 0) return b.step;
  const double once = b.groups ? ring_step + group_block : block_step;
  return (cu_step){b.slots + (b.summed > 0 ? loop_step : once), b.multiplied, b.summed};
}

tf_times cu_times_of(const ir_program *p, const ir_stmt *s) {
  tf_times t = {.cycles = 0};
  block b = block_of(p);
  part(&b, s, &t);
  find_bound(&t);
  return t;
}

tf_times cu_times(const ir_program *p) {
  tf_times t = {.cycles = 0};
  block b = block_of(p);
  for (int i = 0; i < p->body.n; i++)
    if (p->body.s[i]->kind != IR_LET) part(&b, p->body.s[i], &t);
  find_bound(&t);
  return t;
}

double cu_cycles(const tf_tree *tree, const lower_target *target, const ir_machine *machine,
                 tf_diags *d) {
  ir_program *p = lower_kernel(tree, target, machine, d);
  const double cycles = p ? cu_times(p).cycles : -1;
  ir_free(p);
  return cycles;
}
