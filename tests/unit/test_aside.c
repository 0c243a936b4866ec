/* Copies side by side with work, and steps that meet at barriers: what a target with queues or with
 * lanes would make of a mapping runs as it should, and each fault planted in it is told, by
 * ir_check or by the interpreter. */
#include <math.h>

#include "codegen/backend/target.h"
#include "codegen/ir/race_check.h"
#include "codegen/lower/lower.h"
#include "tests/unit/case.h"

#define ARCH                                                                                       \
  "architecture:\n"                                                                                \
  "  name: two\n"                                                                                  \
  "  clock: 1 GHz\n"                                                                               \
  "  memories:\n"                                                                                  \
  "  - {name: DRAM, bandwidth: 4}\n"                                                               \
  "  - {name: L1, capacity: 4 KiB, bandwidth: 8}\n"                                                \
  "  compute:\n"                                                                                   \
  "  - {name: u, ops: [mac, mul, relu], below: L1}\n"

static const char gemm[] = ARCH "workload:\n"
                                "  name: gemm\n"
                                "  dims: {m: 10, n: 12, k: 20}\n"
                                "  ops:\n"
                                "  - \"C[m,n] += A[m,k] * B[k,n]\"\n"
                                "mapping: |\n"
                                "  DRAM for k=4\n"
                                "    L1 for m=10 n=12 k=5\n"
                                "      op C\n";

static const char chain[] = ARCH "workload:\n"
                                 "  name: chain\n"
                                 "  dims: {m: 4, n: 8, j: 8}\n"
                                 "  ops:\n"
                                 "  - \"T[m,n] = relu(A[m,n])\"\n"
                                 "  - \"D[m,j] += T[m,n] * B[n,j]\"\n"
                                 "mapping: |\n"
                                 "  DRAM for m=4\n"
                                 "    Seq keep T@L1\n"
                                 "      L1 for n=8\n"
                                 "        op T\n"
                                 "      L1 for j=8 n=8\n"
                                 "        op D\n";

/* What is planted where. */
typedef void plant(ir_program *p);

static ir_stmt *find(const ir_body *b, ir_kind kind) {
  for (int i = 0; i < b->n; i++) {
    ir_stmt *inner = b->s[i]->kind == kind ? b->s[i] : find(&b->s[i]->body, kind);
    if (inner) return inner;
  }
  return NULL;
}

/* The body that holds the first statement of that kind; *at: its place there. */
static ir_body *find_body(ir_body *b, ir_kind kind, int *at) {
  for (*at = 0; *at < b->n; ++*at)
    if (b->s[*at]->kind == kind) return b;
  for (int i = 0; i < b->n; i++) {
    ir_body *inner = find_body(&b->s[i]->body, kind, at);
    if (inner) return inner;
  }
  return NULL;
}

static void remove_first(ir_program *p, ir_kind kind) {
  int at;
  ir_body *b = find_body(&p->body, kind, &at);
  for (b->n--; at < b->n; at++)
    b->s[at] = b->s[at + 1];
}

static void append(lowering *w, ir_body *b, ir_stmt *s) {
  ir_stmt **more =
      TF_ARRAY(w->p->arena, ir_stmt *,
               2 * (size_t)b->n + 2); /* as lower_add leaves it: room up to a power of two */
  for (int i = 0; i < b->n; i++)
    more[i] = b->s[i];
  more[b->n++] = s;
  b->s = more;
}

/* ---- a target with a queue: tiles come while the ones before are worked on ------------------ */

static void add_copy(lowering *w, const ir_stmt *stage, ir_range *range, ir_atom slot) {
  ir_stmt *s = lower_add(w, IR_COPY);
  s->range = range;
  s->copy.to = stage->stage.buffer;
  s->copy.from = stage->stage.from;
  s->copy.slot = slot;
}

static ir_range *box_of(lowering *w, const ir_stmt *stage) {
  return TF_ARRAY(w->p->arena, ir_range, (size_t)w->p->buffers[stage->stage.buffer].rank);
}

/* The tile of the first step, into the first place. */
static void copy_first(lowering *w, const ir_stmt *stage, bool ends) {
  ir_range *first = box_of(w, stage);
  for (int r = 0; r < w->p->buffers[stage->stage.buffer].rank; r++) {
    const int64_t most = stage->range[r].most;
    first[r] =
        (ir_range){ir_number(0), ir_number(most), .most = most, .never_empty = true, .exact = true};
  }
  add_copy(w, stage, first, ir_number(0));
  w->into->s[w->into->n - 1]->copy.ends = ends;
}

/* Of the next step, into the other place; nothing where there is no next step. */
static void copy_next(lowering *w, const ir_stmt *stage, ir_atom slot, bool ends) {
  ir_range *next = box_of(w, stage);
  for (int r = 0; r < w->p->buffers[stage->stage.buffer].rank; r++) {
    const ir_range v = stage->range[r];
    const ir_atom end = ir_number(w->plan->wl->dims[2].extent);
    next[r] = v;
    if (v.lo.var < 0) continue;
    next[r] = (ir_range){lower_min(w, "next", (ir_atom){v.lo.var, v.lo.off + v.most}, end),
                         lower_min(w, "end", (ir_atom){v.lo.var, v.lo.off + 2 * v.most}, end),
                         .most = v.most};
  }
  add_copy(w, stage, next, slot);
  w->into->s[w->into->n - 1]->copy.ends = ends;
}

/* The step of the loop modulo 2. */
static ir_atom turn(lowering *w, ir_atom step) {
  ir_stmt *s = lower_add(w, IR_LET);
  s->let.var = lower_var(w, "turn_");
  s->let.expr = (ir_expr){IR_MOD, 2, TF_ARRAY(w->p->arena, ir_atom, 2), NULL};
  s->let.expr.arg[0] = step;
  s->let.expr.arg[1] = ir_number(2);
  return (ir_atom){s->let.var, 0};
}

static void open_tiles(lowering *w, const ir_stmt *stage, ir_atom slot) {
  ir_buffer *b = &w->p->buffers[stage->stage.buffer];
  b->role = IR_COPIED;
  b->slots = 2;
  b->slot = slot;
  for (int r = 0; r < b->rank; r++)
    b->base[r] = stage->range[r].lo;
}

/* STAGE becomes COPY of the next step's tiles, and WAIT for this one's. */
static void pipeline(lowering *w) {
  ir_body *all = &w->p->body, before = {0, NULL}, in = {0, NULL};
  ir_stmt *loop = find(all, IR_FOR), *stages[4];
  int n = 0;
  for (int i = 0; i < loop->body.n; i++)
    if (loop->body.s[i]->kind == IR_STAGE) stages[n++] = loop->body.s[i];
  w->into = &before;
  for (int i = 0; i < n; i++)
    copy_first(w, stages[i], i == n - 1);
  append(w, &before, loop);
  w->into = &in;
  w->n_lets = 0;
  for (int i = 0; i < loop->body.n; i++) {
    if (loop->body.s[i]->kind != IR_STAGE) append(w, &in, loop->body.s[i]);
    if (loop->body.s[i] != stages[n - 1]) continue;
    const ir_atom now = turn(w, (ir_atom){loop->loop.var, 0}),
                  other = turn(w, (ir_atom){loop->loop.var, 1});
    for (int k = 0; k < n; k++)
      copy_next(w, stages[k], other, k == n - 1);
    lower_add(w, IR_WAIT)->wait.left = 1;
    for (int k = 0; k < n; k++)
      open_tiles(w, stages[k], now);
  }
  loop->body = in;
  w->p->body = before;
  w->into = &w->p->body;
  lower_add(w, IR_WAIT); /* for the empty group of the last step */
}

static const lower_pass queue_passes[] = {
    {"pipeline", pipeline}, {"unused", lower_drop_unused}, {NULL, NULL}};
static const char *const dma[] = {"dma"};
static const ir_space near_spaces[] = {
    {"memory", IR_SERIAL, false}, {"near", IR_SERIAL, true}, {"own", IR_LANE, false}};
static const ir_platform near_platform = {
    1u << IR_SERIAL | 1u << IR_LANE | 1u << IR_BLOCK, 3, near_spaces, 1, dma, 3, NULL};
static const lower_target queue_target = {
    .platform = &near_platform, .copies = true, .depth = 1, .passes = queue_passes};

/* ---- a target with lanes: what one makes all read, behind a barrier ------------------------- */

static bool all_close_by(const lowering *w, int op) {
  (void)w, (void)op;
  return true;
}

static ir_stmt *nest_of(const ir_body *b, int op) {
  for (int i = 0; i < b->n; i++) {
    ir_stmt *inner =
        b->s[i]->kind == IR_NEST && b->s[i]->op == op ? b->s[i] : nest_of(&b->s[i]->body, op);
    if (inner) return inner;
  }
  return NULL;
}

static ir_range one_at(int var) {
  return (ir_range){(ir_atom){var, 0}, (ir_atom){var, 1}, .most = 1, .never_empty = true,
                    .exact = true};
}

/* Rows are blocks, columns lanes. */
static void spread(lowering *w) {
  ir_stmt *rows = find(&w->p->body, IR_FOR), *make = nest_of(&rows->body, 0),
          *use = nest_of(&rows->body, 1);
  rows->loop.map = IR_BLOCK;
  w->into = &rows->body;
  ir_stmt *lanes = lower_add(w, IR_FOR);
  lanes->loop.var = lower_var(w, "lane_");
  lanes->loop.dim = w->plan->wl->ops[0].dims[1];
  lanes->loop.trip = 8;
  lanes->loop.map = IR_LANE;
  w->into = &lanes->body;
  append(w, &lanes->body, make);
  lower_add(w, IR_BARRIER)->barrier.map = IR_LANE;
  append(w, &lanes->body, use);
  make->range[1] = use->range[1] = one_at(lanes->loop.var);
  int n = 0;
  for (int i = 0; i < rows->body.n; i++)
    if (rows->body.s[i]->kind != IR_NEST) rows->body.s[n++] = rows->body.s[i];
  rows->body.n = n;
  w->p->buffers[w->p->buffer_of[w->plan->wl->ops[0].out]].space = 1;
}

static const lower_pass lane_passes[] = {{"spread", spread}, {NULL, NULL}};
static const ir_space lane_spaces[] = {
    {"memory", IR_SERIAL, false}, {"shared", IR_BLOCK, true}, {"register", IR_LANE, false}};
static const ir_platform lane_platform = {
    1u << IR_SERIAL | 1u << IR_BLOCK | 1u << IR_LANE, 3, lane_spaces, 0, NULL, 0, NULL};
static const lower_target lane_target = {
    .platform = &lane_platform, .depth = 1, .close_by = all_close_by, .passes = lane_passes};

/* ---- runs ----------------------------------------------------------------------------------- */

enum { WORDS = 512 };

/* Fills the inputs and runs; whether the output is what plain loops make. */
static bool runs_right(const test_case *e, const ir_program *p, char *why, size_t size) {
  static double words[8][WORDS];
  double *data[8];
  const tf_workload *wl = e->spec->workload;
  for (int z = 0; z < wl->n_tensors; z++) {
    data[z] = words[z];
    for (int i = 0; i < WORDS; i++)
      words[z][i] = wl->tensors[z].producer < 0 ? (double)((i * 7 + z) % 5 - 2) : (double)NAN;
  }
  if (!ir_run_why(p, data, NULL, why, size)) return false;
  const tf_op *op = &wl->ops[wl->n_ops - 1];
  const int64_t m = wl->dims[op->dims[0]].extent, n = wl->dims[op->dims[1]].extent,
                k = wl->dims[op->dims[2]].extent;
  const double *a = data[wl->n_ops > 1 ? wl->ops[0].reads[0].tensor : op->reads[0].tensor],
               *b = data[op->reads[1].tensor];
  bool right = true;
  for (int64_t i = 0; i < m * n; i++) {
    double sum = 0;
    for (int64_t q = 0; q < k; q++) {
      const double v = a[i / n * k + q];
      sum += (wl->n_ops > 1 && v < 0 ? 0 : v) * b[q * n + i % n];
    }
    right &= data[op->out][i] == sum;
  }
  if (!right) snprintf(why, size, "wrong");
  return right;
}

static ir_stmt *copy_of(ir_program *p) { return find(&find(&p->body, IR_FOR)->body, IR_COPY); }
static ir_buffer *tile_of(ir_program *p) { return &p->buffers[copy_of(p)->copy.to]; }
static ir_stmt *wait_of(ir_program *p) { return find(&find(&p->body, IR_FOR)->body, IR_WAIT); }

static void sound(ir_program *p) { (void)p; }
static void other_queue(ir_program *p) { copy_of(p)->copy.queue = 3; }
static void far_copy(ir_program *p) { tile_of(p)->space = 0; }
static void no_space(ir_program *p) { tile_of(p)->space = 7; }
static void near_argument(ir_program *p) { p->buffers[0].space = 1; }
static void own_tile(ir_program *p) { tile_of(p)->space = 2; }
static void plain_box(ir_program *p) { tile_of(p)->role = IR_BOX; }
static void to_itself(ir_program *p) { copy_of(p)->copy.from = copy_of(p)->copy.to; }
static void large_tile(ir_program *p) {
  tile_of(p)->extent[0] = 9;
  tile_of(p)->words = 9 * 5;
}
static void no_tile(ir_program *p) { copy_of(p)->copy.slot = ir_number(7); }
static void many_left(ir_program *p) { wait_of(p)->wait.left = 9; }
static void wait_elsewhere(ir_program *p) { wait_of(p)->wait.queue = -1; }
static void never_waits(ir_program *p) { remove_first(p, IR_WAIT), remove_first(p, IR_WAIT); }
static void no_group(ir_program *p) {
  ir_body *in = &find(&p->body, IR_FOR)->body;
  for (int i = 0; i < in->n; i++)
    if (in->s[i]->kind == IR_COPY) in->s[i]->copy.ends = false;
}
static void mod_zero(ir_program *p) {
  find(&find(&p->body, IR_FOR)->body, IR_LET)->let.expr = (ir_expr){.fn = IR_MOD};
}
static void meets_alone(ir_program *p) {
  *wait_of(p) = (ir_stmt){.kind = IR_BARRIER, .barrier.map = IR_LANE};
}
static void meets_itself(ir_program *p) {
  *wait_of(p) = (ir_stmt){.kind = IR_BARRIER, .barrier.map = IR_SERIAL};
}
static void no_warps(ir_program *p) { find(&p->body, IR_FOR)->loop.map = IR_WARP; }
static void keeps_lanes(ir_program *p) {
  find(&find(&p->body, IR_FOR)->body, IR_FOR)->loop.map = IR_LANE;
}
static void late_wait(ir_program *p) { /* waits when all is over: the tile is read before */
  ir_stmt *wait = wait_of(p);
  *wait = (ir_stmt){.kind = IR_WAIT, .wait.left = 0};
  ir_body *in = &find(&p->body, IR_FOR)->body;
  int at;
  find_body(in, IR_WAIT, &at);
  for (; at + 1 < in->n; at++)
    in->s[at] = in->s[at + 1];
  in->s[at] = wait;
}
static void same_tile(ir_program *p) { /* the next tile comes into the one at hand */
  ir_body *in = &find(&p->body, IR_FOR)->body;
  for (int i = 0; i < in->n; i++)
    if (in->s[i]->kind == IR_COPY) in->s[i]->copy.slot = tile_of(p)->slot;
}
static void other_tile(ir_program *p) { tile_of(p)->slot = ir_number(0); }
static void split_group(ir_program *p) {
  copy_of(p)->copy.ends = true;
} /* waits for half of the next tile, too */
static void lax_wait(ir_program *p) { wait_of(p)->wait.left = 2; }
static void no_last_wait(ir_program *p) {
  find(&p->body, IR_FOR)->loop.trip = 2;
  p->body.n--;
}
static void outside(ir_program *p) {
  copy_of(p)->range[0].lo = ir_number(-1);
  copy_of(p)->range[0].hi = ir_number(9);
}

static ir_stmt *lanes_of(ir_program *p) { return find(&find(&p->body, IR_FOR)->body, IR_FOR); }
static void no_barrier(ir_program *p) { remove_first(p, IR_BARRIER); }
static void block_barrier(ir_program *p) { find(&p->body, IR_BARRIER)->barrier.map = IR_BLOCK; }
static void lane_in_lane(ir_program *p) { find(&p->body, IR_FOR)->loop.map = IR_LANE; }
static void block_in_lane(ir_program *p) {
  lanes_of(p)->loop.map = IR_BLOCK;
  find(&p->body, IR_FOR)->loop.map = IR_LANE;
}
static void all_write(ir_program *p) {
  nest_of(&p->body, 0)->range[1] =
      (ir_range){ir_number(0), ir_number(8), .most = 8, .never_empty = true, .exact = true};
}
static void some_meet(ir_program *p) {
  ir_body *in = &lanes_of(p)->body;
  ir_stmt *may = TF_NEW(p->arena, ir_stmt);
  may->kind = IR_IF;
  may->guard.n = 1;
  may->guard.range = TF_NEW(p->arena, ir_range);
  *may->guard.range = (ir_range){(ir_atom){lanes_of(p)->loop.var, 0}, ir_number(3), .most = 3};
  may->body = (ir_body){1, TF_ARRAY(p->arena, ir_stmt *, 1)};
  may->body.s[0] = in->s[1];
  in->s[1] = may;
}
static ir_buffer *shared_of(ir_program *p) {
  return &p->buffers[p->buffer_of[p->tree->workload->ops[0].out]];
}
static void in_registers(ir_program *p) { shared_of(p)->space = 2; } /* no lane sees the others' */
static void in_memory(ir_program *p) { shared_of(p)->space = 0; }    /* one place for all blocks */
static void sums_aside(ir_program *p) {                              /* lanes split the sum */
  ir_stmt *use = nest_of(&p->body, 1);
  use->range[2] = use->range[1];
  use->range[1] =
      (ir_range){ir_number(0), ir_number(8), .most = 8, .never_empty = true, .exact = true};
  use->nest.resets = &use->range[2].lo;
  use->nest.n_resets = 1;
}

typedef struct {
  int line;
  bool runs; /* ir_check sees nothing, the interpreter does */
  plant *plant;
  const char *told; /* NULL: it is sound */
} fault_row;

static void check_rows(const test_case *e, const lower_target *target, const fault_row *row,
                       int n) {
  for (int i = 0; i < n; i++) {
    char why[200] = "";
    ir_program *p = lower_kernel(e->tree, target, NULL, e->d);
    if (!CHECK_ROW(&row[i], p != NULL)) continue;
    row[i].plant(p);
    bool ok = ir_check(p, why, sizeof why);
    if (!CHECK_ROW(&row[i], ok == (!row[i].told || row[i].runs))) printf("  said: %s\n", why);
    if (ok) ok = runs_right(e, p, why, sizeof why);
    if (!CHECK_ROW(&row[i], row[i].told ? !ok && strstr(why, row[i].told) : ok))
      printf("  said: %s\n", why);
    ir_free(p);
  }
}

static void check_queue(void) {
  static const fault_row row[] = {
      {__LINE__, false, sound, NULL},
      {__LINE__, false, other_queue, "copy: no queue 3"},
      {__LINE__, false, far_copy, "nothing is copied into 'memory'"},
      {__LINE__, false, no_space, "no space 7"},
      {__LINE__, false, near_argument, "an argument outside of the first space"},
      {__LINE__, false, own_tile, "is copied into 'own'"},
      {__LINE__, false, plain_box, "into what is not filled by copies"},
      {__LINE__, false, to_itself, "from nowhere"},
      {__LINE__, false, large_tile, "a tile of 10 in 9"},
      {__LINE__, false, no_tile, "no tile 7"},
      {__LINE__, false, many_left, "until 9 are left"},
      {__LINE__, false, wait_elsewhere, "wait: no queue -1"},
      {__LINE__, false, never_waits, "nobody has waited for what is copied into"},
      {__LINE__, false, no_group, "does not end its group"},
      {__LINE__, false, mod_zero, "mod by no number"},
      {__LINE__, false, meets_alone, "no lane is around"},
      {__LINE__, false, meets_itself, "a for meets no other"},
      {__LINE__, false, no_warps, "the target has no warp"},
      {__LINE__, false, keeps_lanes, NULL}, /* rows of a tile, side by side */
      {__LINE__, false, late_wait, "nobody has waited for what is copied into"},
      {__LINE__, true, same_tile, "is written while a copy fills it"},
      {__LINE__, true, other_tile, "is read before its copy has been waited for"},
      {__LINE__, false, split_group, NULL},
      {__LINE__, true, lax_wait, "is read before its copy has been waited for"},
      {__LINE__, true, no_last_wait, "nobody has waited for a copy into"},
      {__LINE__, true, outside, "is touched outside of its box"},
  };
  test_case e = {0};
  case_read(&e, gemm);
  if (CHECK(e.tree != NULL)) check_rows(&e, &queue_target, row, sizeof row / sizeof *row);
  case_drop(&e);
}

static void check_lanes(void) {
  static const fault_row row[] = {
      {__LINE__, false, sound, NULL},
      {__LINE__, false, block_barrier, "a block meets no other"},
      {__LINE__, false, lane_in_lane, "lane within lane"},
      {__LINE__, false, block_in_lane, "block within lane"},
      {__LINE__, true, no_barrier, "is read by a step while another writes it"},
      {__LINE__, true, all_write, "is written by two steps side by side"},
      {__LINE__, true, some_meet, "3 of 8 steps come to it"},
      {__LINE__, true, sums_aside, "is written by two steps side by side"},
      {__LINE__, true, in_memory, "is written by two steps side by side"},
      {__LINE__, true, in_registers, "wrong"},
  };
  test_case e = {0};
  case_read(&e, chain);
  if (CHECK(e.tree != NULL)) check_rows(&e, &lane_target, row, sizeof row / sizeof *row);
  case_drop(&e);
}

static char *text_of(const test_case *e, const lower_target *target) {
  char *text = NULL;
  size_t n = 0;
  ir_program *p = lower_kernel(e->tree, target, NULL, e->d);
  FILE *out = open_memstream(&text, &n);
  if (p && out) ir_dump(out, p);
  if (out) fclose(out);
  ir_free(p);
  return text;
}

static void check_text(const char *spec, const lower_target *target, const char *const *lines) {
  test_case e = {0};
  case_read(&e, spec);
  char *text = e.tree ? text_of(&e, target) : NULL;
  for (; *lines; lines++)
    if (!CHECK(text && strstr(text, *lines))) printf("  no '%s' in\n%s", *lines, text ? text : "");
  free(text);
  case_drop(&e);
}

/* Who comes before whom, asked for one element. */
static void check_order(void) {
  test_case e = {0};
  case_read(&e, chain);
  ir_program *p = lower_kernel(e.tree, &lane_target, NULL, e.d);
  ir_races *w = p ? ir_race_new(p) : NULL;
  const int buffer = p ? p->buffer_of[p->tree->workload->ops[0].out] : 0;
  const ir_step_id block = ir_step_id_of(0, IR_BLOCK, 0), warp = ir_step_id_of(block, IR_WARP, 0),
                   other = ir_step_id_of(block, IR_WARP, 1);
  const ir_step_id a = ir_step_id_of(warp, IR_LANE, 0), b = ir_step_id_of(warp, IR_LANE, 1),
                   c = ir_step_id_of(other, IR_LANE, 0);
  if (CHECK(w != NULL)) {
    CHECK(!ir_race_access(w, buffer, 0, true, block) &&
          !ir_race_access(w, buffer, 0, true, a)); /* a is of the block */
    CHECK(ir_race_access(w, buffer, 0, false, b) && ir_race_access(w, buffer, 0, true, b));
    ir_race_sync(w, IR_LANE, a);
    CHECK(!ir_race_access(w, buffer, 0, false, b) &&
          ir_race_access(w, buffer, 0, false, c)); /* of another warp */
    ir_race_sync(w, IR_WARP, warp);
    CHECK(!ir_race_access(w, buffer, 0, false, c) && !ir_race_access(w, buffer, 0, false, a));
    CHECK(ir_race_access(w, buffer, 0, true, a) &&
          ir_race_access(w, buffer, 0, true, b)); /* both have read it */
    ir_race_sync(w, IR_LANE, b);
    CHECK(ir_race_access(w, buffer, 0, true, a)); /* the other warp has, too */
    ir_race_sync(w, IR_WARP, other);
    CHECK(!ir_race_access(w, buffer, 0, true, a));
    CHECK(!ir_race_copy(w, 0, a, buffer, 1, buffer, 0));
    CHECK(ir_race_access(w, buffer, 0, true, a) &&
          !ir_race_access(w, buffer, 0, false, a)); /* what a copy reads */
    CHECK(ir_race_access(w, buffer, 1, true, a) &&
          ir_race_access(w, buffer, 1, false, a)); /* and fills */
    CHECK_I64(ir_race_pending(w), buffer);
  }
  ir_race_free(w);
  ir_free(p);
  case_drop(&e);
}

int main(void) {
  static const char *const queue[] = {
      "copied, in near, one of 2: turn_",
      "copy A from memory to near by dma [0 .. 10] [0 .. 5] into tile 0\n",
      ", which ends the group\n",
      "wait for dma until 1 left\n",
      " = mod(",
      NULL};
  static const char *const lanes[] = {"block i_", "lane lane_", "barrier of lane\n",
                                      ", in shared\n", NULL};
  check_queue();
  check_lanes();
  check_text(gemm, &queue_target, queue);
  check_text(chain, &lane_target, lanes);
  check_order();
  return check_report();
}
