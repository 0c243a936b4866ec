/* What the kernels of a program take, unit by unit: blocks on multiprocessors in waves, as many at
 * a time on each as registers and shared memory allow; in a block what tensor cores, plain units
 * and shared memory are busy with, and what nobody hides; of L2 and the outermost memory what all
 * blocks ask of them.  An estimate to rank mappings by. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "codegen/backend/cuda/pass/pass.h"

/* wgmma comes to this part of the tensor cores' rate, where tiles come beside it (a large product
 * on an H100: 78 to 81 %, shared/design/targets.md). */
static const double group_share = 0.8;
/* And shared memory to this part of its bandwidth, which those tiles and products share. */
static const double port_share = 0.9;
/* And to this part in blocks in turn; what is done behind the products of other blocks takes this
 * part of its cycles, since clocks rise while no product asks for power (8192 x 4096 x 4096 with
 * GELU on an H200: 613 and 713 TFLOP/s). */
static const double turn_share = 0.72, behind_share = 0.5;
/* Of three warpgroups that take turns in a loop of two products, of the shorter of products and
 * exponentials what is not beside the longer; of two it is all (fitted to 16384 and 4096 keys of
 * width 64 on an H200, causal or not: 525, 492, 492 and 410 TFLOP/s). */
static const double three_share = 0.75;
/* Cycles from one instruction of a warp to its next, where those of few others are between them;
 * and instructions by which a thread begins to copy to a tile, and those of a piece of it (fitted
 * to 40 products and attentions by mma.sync on an H200). */
static const double issue_cycles = 5, copy_begin = 60, copy_piece = 4;
/* Beside these, instructions that a warp issues, as they stand in what nvcc 13.0 makes of loops
 * with products (bench/cuda/issue.py): for a piece of a row that lanes load matrices from, its
 * place in the swizzle, where those of other rows are at constant distances; to begin to copy to a
 * tile, for a piece of it, and to work out where a piece is whose row is a pixel; for two points
 * that go to memory as one word; for a row whose sum or maximum goes from lane to lane; for a step,
 * and for what is done once a block where no loop is within it. */
static const double matrix_place = 3, matrix_counted = 5, tile_begin = 55, tile_piece = 3,
                    tile_pixel = 46, save_pair = 18, row_meets = 5, loop_step = 20, block_step = 50;
/* Where some warps alone do what is for few rows: to begin a product, whose places begin with the
 * warp's keys; for a multiplication on sm_90 whose rows' lower half is zero, which ptxas copies
 * anew. */
static const double product_begin = 22, row_half = 1.5;
/* For a place in a ring of tiles whose number is no power of two: a division. */
static const double ring_divided = 10;
/* Of an element that lanes take from a tile one by one, of four bytes and of one; to round one of
 * tf32 (4096^3 in int8 and tf32, operands across the sum, for sm_80).  Of a piece whose elements
 * become wider on their way (4096^3 in float8). */
static const double element_word = 4.2, element_byte = 2.6, element_rounded = 2.4,
                    piece_widened = 20;
/* Of a piece whose row does not begin on 16 bytes: by four words; or, where half of the rows begin
 * on a half of a word, by shifted ones, too, as a warp has rows of both kinds (counted in products
 * of 4094^3 and 4095 x 4093 x 4091 for sm_80); element by element.  Passes of the memory of blocks,
 * of which a warp's words each use a quarter. */
static const double piece_words = 15, piece_shifted = 35, piece_elements = 9, words_passes = 4,
                    shifted_passes = 9;
/* From this share of the multiprocessors on they get the outermost memory's whole rate; fewer get
 * less, in proportion. Not measured: it gives a product of 64 x 4096 x 4096 in 64 blocks on an H100
 * the 17 to 22 us that are expected of it by who knows such kernels. */
static const double reader_share = 2.0 / 3;
/* The same of warpgroups: for a product with its descriptors; for two points that go to a tile that
 * leaves; for a step of the ring, and for each loop around it whose first step is looked for; once
 * a block. */
static const double multiply_described = 5, group_pair = 2, ring_step = 53, ring_fresh = 3,
                    group_block = 120;
/* And of an element of a tile that is put together one by one: of neighbours along the sum that
 * stand apart (less where they are the same in each step, whose distances stay in registers),
 * beside each piece and the pixel's place along each rank; and of a window's places and channels.
 * The first four: a least-squares fit to 106 kernels of nvcc 13.0, rounded (2026-11-29). */
static const double copy_apart = 11, copy_stays = 9, apart_piece = 12, apart_rank = 10,
                    copy_place = 46;
/* Of a gathered tile (cu_is_gathered), by a thread: once; for a place of a window along one, two or
 * three ranks that may be outside; for an element; and for a piece whose row is a pixel.  Of one
 * whose rows stand together, once and for a piece; of both, for a piece in a swizzle (counted as
 * the others, in 43 convolutions with channels before pixels).
 */
static const double gather_begin = 15, gather_place[] = {0, 2, 3, 12.5, 12.5},
                    gather_element = 2.65, gather_piece = 22, rows_begin = 15, rows_piece = 0.8,
                    swizzled_piece = 16;
/* Bytes that a warp's read of elements keeps the port of its multiprocessor busy for. */
enum { READ_BYTES = 4 };
/* Of the shorter of what units and ports are busy with, what is not beside the longer (fitted so,
 * too). */
static const double both_share = 0.5;
/* Copies of a part that are told apart; of others nobody shares tiles. */
enum { MOST_COPIES = 32 };

typedef struct {
  const ir_program *p;
  const tf_multiprocessor *mp;
  double rate; /* multiply-adds a cycle of a multiprocessor's tensor cores */
  int64_t multiprocessors;
  double times;          /* how often control comes by in a block */
  double last;           /* and in the last step of the loop around */
  double lanes;          /* threads that have a step of the loops around */
  double row_warps;      /* warps of these, where loops are warps' and lanes' */
  bool groups;           /* it is of warpgroups */
  bool *same;            /* [n_buffers] tiles of which each block of a cluster brings half */
  bool each;             /* a lane has points of its own; else a warp's lanes share each sum */
  const ir_stmt *warps;  /* the loop over them around, of a region; NULL */
  const ir_stmt *around; /* the innermost serial loop; NULL */
  const ir_stmt *mask;   /* that compares in some of a loop's steps alone; NULL */
  double cut;            /* what share of them that is */
  bool fullest; /* of blocks that a mask leaves more or less of, that with most; else the mean */
  int n_copies;
  double copy_bytes[MOST_COPIES]; /* of each copy, in the order of the text */
  /* of a block, in cycles */
  double tensor, plain, special, shared, copied, waits;
  double issued; /* instructions, of the warp that issues most */
  double parts;  /* plain units, which add up parts of sums of a ring beside the other warpgroup's
                    products */
  double
      slots; /* those that machine code has, of such a warp; and in all, by whole blocks of warps */
  double all_slots;
  double share;      /* of the block's warps, who do it */
  bool few;          /* some of it is of few warps, who have nobody beside them */
  double multiplied; /* of these, those of tensor cores */
  double summed;     /* and multiply-adds of depthwise convolutions */
  int loops;         /* with products in their steps, so far */
  cu_step step;      /* of the one with most products among the innermost */
  double steps,
      depth; /* tiles of the longest ring that a block takes; how many are there at a time */
} block;

/* So many instructions of each warp. */
static void slots(block *b, double n) { b->slots += n, b->all_slots += n * b->share; }

static const tf_op *op_of(const block *b, const ir_stmt *s) {
  return &b->p->tree->workload->ops[s->op];
}

/* ---- what a block does ---------------------------------------------------------------------- */

static int64_t up(int64_t n, int64_t by) { return (n + by - 1) / by * by; }

static double points_of(const block *b, const ir_stmt *s) {
  double n = s->stack ? (double)s->stack->count : 1;
  for (int k = 0; k < ir_n_ranges(b->p, s); k++)
    if (!ir_is_stacked(s, k)) n *= (double)s->range[k].most;
  return n;
}

/* Loads of an operand's matrices, 16 of its rows or columns at a time, and the places of those in
 * one piece of a row: along the sum a step's, else those of 16 for all steps.  Steps that a loop
 * counts are variables. */
static double loads(const block *b, const ir_stmt *s, int read, double side, double steps) {
  if (!cu_is_loaded(b->p, s, read)) return 0;
  const ir_buffer *from = &b->p->buffers[s->nest.from[read]];
  const tf_op *op = op_of(b, s);
  const bool along = cu_across(from) || op->reads[read].index[cu_column_rank(from)].terms[0].dim ==
                                            op->dims[cu_of(s)->fragments->k];
  const double place = (double)cu_steps_at_a_time(b->p, s) < steps ? matrix_counted : matrix_place;
  return steps * side / 16 + place * (along ? steps : side / 16);
}

/* What a warp issues for elements of an operand that come one by one, and to round those of tf32.
 */
static double by_elements(const block *b, const ir_stmt *s, int read, double elements) {
  const cu_mma *mma = cu_mma_for(b->p, op_of(b, s));
  const bool fragments = b->p->buffers[s->nest.from[read]].space == CU_FRAGMENT;
  double each = mma->kernel.a == IR_F32 ? element_rounded : 0;
  if (!fragments && !cu_is_loaded(b->p, s, read))
    each += mma->kernel.a == IR_F32 ? element_word : element_byte;
  return elements / CU_LANES * each;
}

/* What a warp issues for a product of m x n in so many steps of its sum: multiplies, loads of
 * matrices or descriptors, selections of a zero where a loop begins sums, additions of short ones.
 */
static void issue(block *b, const ir_stmt *s, double m, double n, double steps) {
  const cu_matrices *f = cu_of(s)->fragments;
  const cu_mma *mma = cu_mma_for(b->p, op_of(b, s));
  const double sums = m * n / CU_LANES;
  double all = b->groups ? steps * m / 16 * ceil(n / 256)
                         : steps * m / 16 * n / 8 * (cu_is_widened(b->p, op_of(b, s)) ? 2 : 1);
  b->multiplied += b->times * all;
  if (b->groups)
    all *= multiply_described;
  else
    all += loads(b, s, f->a, m, steps) + loads(b, s, f->b, n, steps) +
           by_elements(b, s, f->a, m * steps * mma->kernel.k_round) +
           by_elements(b, s, f->b, n * steps * mma->kernel.k_round);
  /* sm_90's code goes round the zeros where others choose them, unless they are before the loop */
  if ((b->groups ? cu_has_short_sums(b->p)
                 : !cu_may_group(b->p) && !cu_begins_before(b->p, b->around, s)) &&
      s->nest.n_resets)
    all += sums;
  if (mma->kernel.a == IR_F8) all += sums * (b->groups ? 1 : steps);
  /* a register of four bytes becomes two of halves, and what a pair of products adds to is zero */
  if (!b->groups && cu_is_widened(b->p, op_of(b, s)))
    all += steps * (m / 16 * 8 + n / 8 * 4 + m / 16 * n / 8 * 2);
  if (b->share < 1) all += product_begin;
  if (cu_may_group(b->p) && s->range[f->m].most <= 8 &&
      b->p->buffers[s->nest.from[f->a]].space == CU_FRAGMENT)
    all += row_half * steps * n / 8;
  if (b->groups) all += ring_fresh * (s->nest.n_resets > 1 ? s->nest.n_resets - 1 : 0);
  slots(b, b->times * all);
}

/* All warps' rows and columns, filled up; operands by ldmatrix from tiles, else an element at a
 * time.  A warpgroup reads its columns once for all its warps. */
static void cost_of_product(block *b, const ir_stmt *s) {
  const cu_mma *mma = cu_mma_for(b->p, op_of(b, s));
  const cu_matrices *f = cu_of(s)->fragments;
  const double rate = b->rate * mma->kernel.group / cu_mma_of(b->p)->kernel.group;
  const ir_buffer *out = &b->p->buffers[b->p->buffer_of[op_of(b, s)->out]];
  const double m = (double)cu_matrix_rows(out), n = (double)out->extent[cu_column_rank(out)],
               k = (double)up(cu_sum_length(b->p, s), mma->kernel.k_round);
  const double warps = b->lanes / CU_LANES, all = m * n * k * warps;
  b->tensor += b->times * all / rate;
  b->issued += b->times * k / mma->kernel.k_round *
               (m / 16 * n / 8 + m / 16 + n / 16); /* multiply, load matrices */
  issue(b, s, m, n, k / mma->kernel.k_round);
  if (mma->kernel.a == IR_F8) /* parts are added up: of a ring's step, or of each instruction */
    *(b->groups ? &b->parts : &b->plain) +=
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

/* Calls that are more than one instruction of a plain unit: instructions in the code that nvcc 13.0
 * makes of them for data in halves, and those of them that special units do. */
static const struct {
  tf_kind kind;
  int instructions, special;
} calls[] = {{TF_K_EXP, 2, 1},      {TF_K_LOG, 26, 1},  {TF_K_SQRT, 8, 1},
             {TF_K_DIV, 9, 1},      {TF_K_TANH, 17, 2}, {TF_K_ERF, 28, 1},
             {TF_K_SIGMOID, 13, 2}, {TF_K_GELU, 31, 1}, {TF_K_SILU, 14, 2}};

/* What a point of fragments takes, whose operands are in registers: the calls of its expression,
 * and a sum's step.  A quotient by a number is a product; a deferred one is none. */
static void instructions(const block *b, const ir_stmt *s, double *all, double *special) {
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

/* Instructions fewer than these where an exponential is of a difference: one subtracts and scales.
 */
static int folded(const block *b, const ir_stmt *s) {
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

/* Points of memory take `point` instructions, of which a function is one; a dot product does
 * several by as many. */
static void in_memory(const block *b, const ir_stmt *s, double *all, double *special) {
  *all = (b->mp->point + cu_places_of(b->p, s)) /
         (cu_dot_of(b->p, s) < 0 ? 1 : b->p->machine.whole->k_round);
  *special = 0;
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    *special += (op_of(b, s)->kinds >> calls[i].kind & 1) != 0;
}

/* Points of fragments, whose rows and columns are eights. */
static double filled(const block *b, const ir_stmt *s) {
  double n = s->stack ? (double)up(s->stack->count, 8) : 1;
  for (int k = 0; k < ir_n_ranges(b->p, s); k++)
    if (!ir_is_stacked(s, k)) n *= (double)(s->range[k].most > 1 ? up(s->range[k].most, 8) : 1);
  return n;
}

/* What a warp issues for points of fragments: none where a sum is corrected, of warpgroups, which
 * do so when a maximum has risen alone. */
static double of_fragments(const block *b, const ir_stmt *s, double plain) {
  const tf_op *op = op_of(b, s);
  if (s->kind == IR_CORRECT && b->groups) return 0;
  double rows = s->kind == IR_NEST && op->reduce != TF_ASSIGN ? 1.0 / 8 : 0;
  for (int k = 0; rows > 0 && k < op->n_out_dims; k++)
    rows *= (double)(s->range[k].most > 1 ? up(s->range[k].most, 8) : 1);
  const double each =
      s->kind == IR_SAVE ? (b->groups ? group_pair : save_pair) / 2 : plain - folded(b, s);
  return filled(b, s) * each / CU_LANES + rows * row_meets;
}

/* Sums of a depthwise convolution, in registers; loads of weights go side by side. */
static void of_window(block *b, const ir_stmt *s) {
  const cu_window_work each = cu_window_work_of(b->p, s);
  const double share = b->share;
  b->issued += b->times * each.issued, b->summed += b->times * each.summed;
  b->plain += b->times * each.plain * b->lanes / b->mp->plain;
  b->share *= b->row_warps / CU_WARPS;
  slots(b, b->times * each.issued);
  b->share = share;
  b->shared += b->times * each.read * READ_BYTES * b->lanes / b->mp->banks;
  b->waits += b->times * b->mp->latency;
}

/* Points of fragments are all lanes'; others those of the threads that have a step of the loops
 * around. */
static void points(block *b, const ir_stmt *s, bool region) {
  if (cu_of(s)->window) of_window(b, s);
  if (cu_of(s)->window || cu_of(s)->taken) return;
  const double times = s == b->mask                                      ? b->cut * b->times
                       : s->kind == IR_DIVIDE && s->divide.last.var >= 0 ? b->last
                                                                         : b->times;
  const double each = points_of(b, s) * times, all = each * b->lanes / (region ? CU_LANES : 1);
  double plain, special;
  (region && s->kind != IR_SAVE ? instructions : in_memory)(b, s, &plain, &special);
  b->plain += all * plain / b->mp->plain;
  b->special += all * special / b->mp->special;
  if (region) {
    b->issued += each * plain / CU_LANES;
    slots(b, times * of_fragments(b, s, plain));
  }
  if (!region) b->waits += each * b->mp->wait / (b->each ? 1 : CU_LANES);
}

/* The parts of sums come from L2, one after the other. */
static void merge(block *b, const ir_stmt *s) {
  const double times = b->times;
  b->times *= (double)s->merge.parts;
  points(b, s, false);
  b->copied += points_of(b, s) * b->times * b->lanes * ir_bytes(b->p->buffers[s->merge.from].type) /
               b->mp->l2;
  b->times = times;
  b->waits += b->times * b->mp->latency;
}

/* A tile whose elements come from known distances: reads of a thread's pieces are on their way
 * together, as many as registers hold. */
static void gather(block *b, const ir_stmt *s) {
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
  slots(b, each);
  b->shared += b->times * pieces * per * threads * READ_BYTES / b->mp->banks;
  b->waits += b->times * ceil(pieces * per / FLIGHT) * b->mp->latency;
}

/* A tile element by element; of a window's places one piece of a thread's waits for those before.
 */
static void put_together(block *b, const ir_stmt *s) {
  const ir_buffer *to = &b->p->buffers[s->copy.to];
  const double apart = s->range[cu_column_rank(to)].lo.var < 0 ? copy_stays : copy_apart;
  const double elements = b->times * (double)(cu_matrix_rows(to) * cu_matrix_columns(to));
  const double piece = apart_piece + apart_rank * cu_stack(to)->n, each = CU_WARPS * CU_LANES;
  const double all =
      elements * (cu_across(to) ? copy_place : apart + piece * ir_bytes(to->type) / 16);
  b->plain += all / b->mp->plain;
  b->issued += all / each;
  slots(b, all / each);
  if (cu_across(to)) b->waits += elements * ir_bytes(to->type) / 16 / each * b->mp->latency;
}

/* A tile by so many pieces of 16 bytes a thread; of warpgroups another one brings it. */
static void tile(block *b, const ir_buffer *to, double pieces) {
  enum { OF_WINDOW = 35, PIECE = 60 }; /* 34 depthwise convolutions, bench/cuda/depthwise.py */
  if (!cu_is_matrix(to)) return;
  b->issued += b->times * (copy_begin + copy_piece * pieces);
  if (cu_stack(to) && cu_is_plain(to)) { /* some threads have one piece more than others */
    slots(b, b->times * (OF_WINDOW + PIECE * pieces));
    b->slots += b->times * PIECE * (ceil(pieces) - pieces);
  } else if (!b->groups) {
    slots(b, b->times * (tile_begin + (tile_piece + (cu_stack(to) ? tile_pixel : 0)) * pieces));
  }
}

/* What pieces of rows cost more that do not begin on 16 bytes; those that are not words come by
 * registers, and are waited for. */
static void misaligned(block *b, const ir_stmt *s, double pieces) {
  const ir_buffer *to = &b->p->buffers[s->copy.to];
  const int64_t begins = cu_row_begins(b->p, s), size = ir_bytes(to->type);
  if (begins >= 16 || !cu_is_matrix(to)) return;
  const double each = begins >= 4 ? piece_words
                      : size == 2 ? piece_shifted
                                  : piece_words + piece_elements * 16 / (double)size,
               passes = begins >= 4 ? words_passes : shifted_passes, all = CU_WARPS * CU_LANES;
  slots(b, b->times * each * pieces);
  b->issued += b->times * each * pieces;
  b->plain += b->times * each * pieces * all / b->mp->plain;
  b->shared += b->times * passes * pieces * 16 * all / b->mp->banks;
  if (begins < 4) b->waits += b->times * b->mp->latency;
}

/* What pieces cost more whose elements become wider on their way: they come by registers, and are
 * waited for. */
static void widened(block *b, const ir_stmt *s, double pieces) {
  const ir_buffer *to = &b->p->buffers[s->copy.to];
  if (!cu_is_matrix(to) || to->type == b->p->buffers[s->copy.from].type) return;
  slots(b, b->times * piece_widened * pieces);
  b->issued += b->times * piece_widened * pieces;
  b->plain += b->times * piece_widened * pieces * CU_WARPS * CU_LANES / b->mp->plain;
  b->waits += b->times * b->mp->latency;
}

/* A tile of rows that stand together; those that do not begin on 16 bytes cost what pieces of
 * others do. */
static void rows_together(block *b, const ir_stmt *s) {
  const bool swizzled = cu_tile_of(&b->p->buffers[s->copy.to]).mask != 0;
  const double pieces = (double)cu_share_of(b->p, s),
               each = b->times * (rows_begin + (swizzled ? swizzled_piece : rows_piece) * pieces);
  b->issued += each;
  slots(b, each);
  misaligned(b, s, pieces);
}

static void cost_of_copy(block *b, const ir_stmt *s) {
  const ir_buffer *to = &b->p->buffers[s->copy.to];
  const double copied = (double)cu_copied(b->p, s), bytes = cu_delivered(b->p, s),
               pieces = ir_bytes(to->type) * copied / 16 / (CU_WARPS * CU_LANES);
  b->copied += b->times * bytes / b->mp->l2 / (b->groups && b->same[s->copy.to] ? 2 : 1);
  b->copy_bytes[b->n_copies < MOST_COPIES ? b->n_copies : MOST_COPIES - 1] += b->times * bytes;
  b->n_copies++;
  if (cu_is_together(b->p, s))
    rows_together(b, s);
  else if (cu_is_gathered(b->p, s))
    gather(b, s);
  else if (cu_across(to) || (cu_stack(to) && cu_column_rank(to) < to->rank - 1))
    put_together(b, s);
  else
    tile(b, to, pieces), misaligned(b, s, pieces), widened(b, s, pieces);
  if (b->groups) b->shared += b->times * bytes / b->mp->banks;
  if (to->slots == 1) b->waits += b->times * b->mp->latency;
  if (b->groups && b->times > b->steps && to->slots > 1)
    b->steps = b->times, b->depth = (double)to->slots;
}

static void body(block *b, const ir_body *list, bool region);

/* Of a loop that was gone through: what a step is of the one with most products among the
 * innermost. */
static void step(block *b, const block *before) {
  const double products = (b->multiplied - before->multiplied) / b->times,
               sums = (b->summed - before->summed) / b->times;
  if (products + sums <= 0) return;
  slots(b, b->times * (b->groups ? ring_step : loop_step));
  if (b->loops++ == before->loops && products + sums > b->step.multiplied + b->step.summed)
    b->step = (cu_step){(b->slots - before->slots) / b->times, products, sums};
}

static void loop(block *b, const ir_stmt *s, bool region) {
  const block before = *b;
  const bool thread = s->loop.map == IR_WARP || s->loop.map == IR_LANE,
             here = region || cu_is_region(b->p, s);
  if (here && !region) b->warps = s;
  if (s->loop.map == IR_SERIAL) b->around = s;
  if (s->loop.map == IR_SERIAL) b->last = b->times, b->times *= (double)s->loop.trip;
  if ((b->groups || cu_of(s)->skips) && b->warps && s->loop.map == IR_SERIAL) {
    const cu_left left = cu_steps_left(b->p, b->warps, s);
    tf_mask m;
    b->times *= b->fullest ? left.most : left.mean;
    b->mask = cu_mask_of(b->p, b->warps, s, &m), b->cut = left.cut;
  }
  if (thread) b->lanes *= (double)s->loop.trip;
  if (s->loop.map == IR_WARP) b->row_warps *= (double)s->loop.trip;
  if (thread && here && !region) b->lanes *= CU_LANES;
  if (thread) b->each = s->loop.map == IR_LANE;
  body(b, &s->body, here);
  if (s->loop.map == IR_SERIAL && s->loop.trip > 1) step(b, &before);
  if (thread) b->waits += before.times * b->mp->barrier;
  b->times = before.times;
  b->last = before.last;
  b->lanes = before.lanes;
  b->row_warps = before.row_warps;
  b->each = before.each;
  b->warps = before.warps;
  b->around = before.around;
}

static double busy(const block *b) { return b->tensor / b->mp->share + b->plain + b->special; }

/* What is for some of the warps alone.  Each has the units of one scheduler, of which a
 * multiprocessor has as many as its plain units have warps' lanes; the others are another block's.
 */
static void some(block *b, const ir_stmt *s, bool region) {
  const double all = b->lanes, before = busy(b), schedulers = b->mp->plain / CU_LANES;
  const double warps = region && cu_of(s)->warps ? (double)cu_of(s)->warps : CU_WARPS;
  b->lanes *= warps / CU_WARPS;
  b->share *= warps / CU_WARPS;
  b->few |= region && warps < schedulers;
  body(b, &s->body, region);
  b->share /= warps / CU_WARPS;
  if (warps < schedulers) b->waits += (busy(b) - before) * (schedulers / warps - 1);
  b->lanes = all;
}

/* The place in a ring of tiles that are read; the next one to be filled has another. */
static void let(block *b, const ir_stmt *s) {
  const ir_expr *e = &s->let.expr;
  if (e->fn != IR_MOD || b->groups || b->times <= 1) return;
  const int64_t by = e->arg[1].off;
  bool is = false;
  for (int k = 0; k < b->p->n_buffers; k++)
    is |= b->p->buffers[k].role == IR_COPIED && b->p->buffers[k].slot.var == s->let.var;
  if (is && by & (by - 1)) slots(b, b->times * 2 * ring_divided);
}

static void body(block *b, const ir_body *list, bool region) {
  for (int i = 0; i < list->n; i++) {
    const ir_stmt *s = list->s[i];
    if (s->kind == IR_LET)
      let(b, s);
    else if (s->kind == IR_FOR)
      loop(b, s, region);
    else if (s->kind == IR_COPY)
      cost_of_copy(b, s);
    else if (s->kind == IR_BARRIER || s->kind == IR_WAIT)
      b->waits += b->times * b->mp->barrier;
    else if (s->kind == IR_NEST && cu_of(s)->fragments)
      cost_of_product(b, s);
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

/* ---- waves ---------------------------------------------------------------------------------- */

/* Cycles in which a multiprocessor's schedulers issue what so many warps of a block have: one a
 * cycle each, and there are four since Volta, whatever the lanes behind them. */
static double issued_by(const block *b, double warps) {
  enum { SCHEDULERS = 4 };
  return b->all_slots * warps / SCHEDULERS;
}

/* So many blocks of a multiprocessor side by side: what units are busy with adds up, waits are
 * another's work. */
static double together(const block *b, double blocks, double spilled) {
  const double all = busy(b) * spilled;
  const double ports = b->shared > b->copied ? b->shared : b->copied;
  const double alone = (b->few ? fmax(b->slots, b->issued) : b->issued) * issue_cycles * spilled;
  const double one = (all > alone ? all : alone) + b->waits + b->mp->latency,
               sum = blocks *
                     ((ports > all ? ports : all) + both_share * (ports > all ? all : ports));
  return fmax(fmax(sum, one), blocks * issued_by(b, CU_WARPS));
}

/* What a loop in turns takes, where one warpgroup multiplies while the others work on rows:
 * products and exponentials one behind the other, as attention on an H100 was seen to
 * (shared/design/targets.md). */
static double in_turns(const block *b, const ir_stmt *s, double one) {
  const double beside = cu_groups_of(s) > 2 ? (1 - three_share) * fmin(b->tensor, b->special) : 0;
  const double rows = b->plain + b->special, both = b->tensor + b->special - beside,
               most = rows > both ? rows : both;
  return one > most ? one : most;
}

/* Warps that have a block of the part: of warpgroups those that multiply it. */
static double warps_of(const block *b, const ir_stmt *s) {
  if (!b->groups) return CU_WARPS;
  return CU_GROUP_WARPS * (cu_is_in_turns(s) ? 1 : cu_groups_of(s));
}

/* A block of warpgroups is alone on its multiprocessor, and asks for its next tiles while it
 * multiplies; of what its products wait for, the other warpgroup hides half. */
static cu_pipe pipe_of(const block *b, const ir_stmt *s, double blocks) {
  const bool taken_in_turn = cu_is_in_turns(s);
  const double units = b->tensor / (taken_in_turn ? turn_share : group_share),
               ports = b->shared / port_share;
  const double copies = ports > b->copied ? ports : b->copied,
               one = fmax(fmax(units, b->parts), issued_by(b, warps_of(b, s)));
  const double steps = b->steps > 0 ? b->steps : 1;
  const bool rows = cu_has_turns(
      b->p, &s->body); /* are worked on between the products of a step, and nothing behind */
  return (cu_pipe){.steps = steps,
                   .depth = b->depth > 0 ? b->depth : 1,
                   .brings = copies / steps,
                   .takes = ((rows ? in_turns(b, s, one) : one) + b->waits / 2) / steps,
                   .latency = b->mp->latency,
                   .behind =
                       (rows ? 0 : (b->plain + b->special) * (taken_in_turn ? 1 : behind_share)) +
                       b->mp->barrier,
                   .blocks = blocks,
                   .in_turns = taken_in_turn};
}

/* Adds up what a block does. */
static void walk(block *b, const ir_stmt *s, bool fullest) {
  b->times = b->last = b->lanes = b->row_warps = 1;
  b->each = true;
  b->warps = b->mask = b->around = NULL;
  b->fullest = fullest;
  b->n_copies = 0;
  memset(b->copy_bytes, 0, sizeof b->copy_bytes);
  b->tensor = b->plain = b->special = b->shared = b->copied = b->waits = b->parts = b->issued = 0;
  b->slots = b->all_slots = b->multiplied = b->summed = 0;
  b->share = 1;
  b->few = false;
  b->loops = 0;
  b->step = (cu_step){0};
  b->steps = b->depth = 0;
  body(b, &s->body, false);
}

/* The grid of warpgroups is persistent: one start for all blocks, which are dealt to and fro where
 * some are longer. */
static double of_groups(block *b, const ir_stmt *s, double blocks) {
  walk(b, s, true);
  const cu_pipe most = pipe_of(b, s, 1);
  walk(b, s, false);
  const cu_pipe all = pipe_of(b, s, ceil(blocks / (double)b->multiprocessors));
  return fmax(cu_pipe_all(&all), cu_pipe_all(&most));
}

/* Blocks of other kernels: as many at once, a wave, as there is room for. */
static double of_waves(block *b, const ir_stmt *s, double blocks, double *wave) {
  const double registers = cu_registers(
                   b->p, s), /* products have as many blocks as nvcc is asked to make room for */
      at_once = (cu_multiplies(&s->body) && !cu_is_wmma(b->p)) || cu_has_window(&s->body)
                    ? cu_blocks_at_once(b->p, s)
                    : cu_resident(b->mp, registers, (double)cu_share(b->p, s, NULL));
  const double spilled = registers > b->mp->most ? 1.5 + (registers - b->mp->most) / 32 : 1;
  walk(b, s, false);
  *wave = at_once * (double)b->multiprocessors;
  const double full = floor(blocks / *wave), rest = blocks - full * *wave;
  const double last = rest > 0 ? together(b, ceil(rest / (double)b->multiprocessors), spilled) : 0;
  return full * together(b, at_once, spilled) + last;
}

/* ---- memories outside of blocks ------------------------------------------------------------- */

/* Cycles in which a memory delivers so many bytes. */
static double delivers(const tf_memory *m, double bytes) {
  return isfinite(m->read_bw) ? bytes / (m->read_bw * m->word_bits / CHAR_BIT) : 0;
}

/* Cycles for which L2 is busy with what all blocks copy, as its bandwidth to all multiprocessors
 * together is. */
static double of_l2(const block *b, double blocks) {
  const tf_arch *a = b->p->tree->arch;
  const int home = cu_home(a);
  return home < 2 ? 0 : delivers(&a->memories[home - 1], blocks * b->copied * b->mp->l2);
}

/* Sets which buffers in global memory the list copies to blocks, and which it touches in place. */
static void find_touched(const block *b, ir_stmt *const *s, int n, bool *copied, bool *touched) {
  for (int i = 0; i < n; i++) {
    bool *at = s[i]->kind == IR_COPY ? copied : touched;
    for (int k = 0; k < b->p->n_buffers && s[i]->body.n == 0; k++)
      at[k] |= b->p->buffers[k].space == CU_GLOBAL && cu_touches(b->p, &s[i], 1, k);
    find_touched(b, s[i]->body.s, s[i]->body.n, copied, touched);
  }
}

/* Bytes that blocks of a part copy from outside of L2: all, but for those that blocks of a wave
 * bring together, and those of a window's steps that the block has brought before.  share: as
 * cu_spanned's. */
static double of_copies(const block *b, const ir_stmt *s, double wave, double *share) {
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

/* Bytes that a part moves over the outermost memory's port: what it touches in place, once; what it
 * copies, once if L2 has room for all of it, else as often as waves of blocks bring it. */
static double of_memory(const block *b, const ir_stmt *s, double wave) {
  const tf_arch *a = b->p->tree->arch;
  const int home = cu_home(a), n = b->p->n_buffers;
  bool *copied = TF_ARRAY(b->p->arena, bool, 2 * (size_t)n + 2), *touched = copied + n;
  double in_place = 0, once = 0, *share = TF_ARRAY(b->p->arena, double, (size_t)n + 1);
  if (!copied || !share) return 0;
  const double waves = of_copies(b, s, wave, share);
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
  b->groups = b->same && cu_is_groups(s);
  if (b->groups && !cu_cluster(b->p, s, b->same))
    memset(b->same, 0, (size_t)b->p->n_buffers * sizeof *b->same);
}

static void part(block *b, const ir_stmt *s, tf_times *t) {
  const double blocks = s->kind == IR_FOR && s->loop.map == IR_BLOCK ? (double)s->loop.trip : 1;
  open_part(b, s);
  double wave = (double)b->multiprocessors;
  const double took = b->groups ? of_groups(b, s, blocks) : of_waves(b, s, blocks, &wave),
               l2 = of_l2(b, blocks);
  const double readers = fmin(blocks / (double)b->multiprocessors / reader_share, 1);
  const double memory = delivers(&b->p->tree->arch->memories[0], of_memory(b, s, wave)) / readers;
  const double outside = l2 > memory ? l2 : memory;
  const double each = ceil(blocks / (double)b->multiprocessors), here = each * b->copied;
  const double share = !b->groups ? b->mp->share : cu_has_turns(b->p, &s->body) ? 1 : group_share;
  const double waits =
      b->groups ? each / 2 : ceil(blocks / wave); /* blocks of a wave wait side by side */
  t->unit[TF_TIME_TENSOR] += each * b->tensor / share;
  t->unit[TF_TIME_SPECIAL] += each * b->special;
  t->unit[TF_TIME_ISSUE] += each * fmax(b->plain + b->parts, issued_by(b, warps_of(b, s)));
  t->unit[TF_TIME_SHARED] += each * b->shared;
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
  b.same = TF_ARRAY(p->arena, bool, (size_t)p->n_buffers + 1);
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
