/* A target is a row: one that stands here alone lowers, prints and runs.  And what no pass may
 * leave is seen: ir_check tells each of the faults planted below. */
#include <stdlib.h>

#include "codegen/backend/cpu/note/note.h"
#include "codegen/backend/cuda/pass/pass.h"
#include "codegen/backend/target.h"
#include "codegen/lower/lower.h"
#include "tests/unit/check.h"

static const char gemm[] = "architecture:\n"
                           "  name: two\n"
                           "  clock: 1 GHz\n"
                           "  memories:\n"
                           "  - {name: DRAM, bandwidth: 4}\n"
                           "  - {name: L1, capacity: 4 KiB, bandwidth: 8, double-buffered: true}\n"
                           "  compute:\n"
                           "  - {name: u, ops: [mac, add], below: L1}\n"
                           "workload:\n"
                           "  name: gemm\n"
                           "  dims: {m: 10, n: 12, k: 20}\n"
                           "  ops:\n"
                           "  - \"C[m,n] += A[m,k] * B[k,n]\"\n"
                           "mapping: |\n"
                           "  DRAM for m=4 n=3 k=2\n"
                           "    L1 for m=3 n=4 k=10\n"
                           "      op C\n";

typedef struct {
  tf_diags *d;
  tf_spec *spec;
  tf_tree *tree;
} session;

static session open_session(const char *text) {
  session s = {.d = tf_diags_new()};
  const tf_text t = {"target", text, strlen(text)};
  s.spec = tf_spec_read_texts(&t, 1, NULL, 0, s.d);
  if (s.spec)
    s.tree = tf_tree_parse(s.spec->mapping_text, s.spec->mapping_at, s.spec->arch, s.spec->workload,
                           s.d);
  return s;
}

static void close_session(session *s) {
  tf_tree_free(s->tree);
  tf_spec_free(s->spec);
  tf_diags_free(s->d);
}

/* ---- a toy target --------------------------------------------------------------------------- */

/* Its pass: a register for each tile. */
static void count_tiles(lowering *w) {
  for (int i = 0; i < w->p->n_buffers; i++)
    w->p->machine.registers += w->p->buffers[i].role == IR_TILES;
}

static const lower_pass toy_passes[] = {
    {"unused", lower_drop_unused}, {"count", count_tiles}, {NULL, NULL}};

static bool toy_machine(const tf_emit_options *o, ir_machine *machine, tf_diags *d) {
  (void)o, (void)d;
  machine->lanes = 1;
  return true;
}

static tf_emitted *toy_print(const tf_target *t, const tf_tree *tree, const tf_emit_options *o,
                             tf_diags *d);

static const ir_space toy_spaces[] = {{"all", IR_SERIAL, false}, {"tiles", IR_SERIAL, true}};
static const ir_platform toy_platform = {
    .maps = 1u << IR_SERIAL, .n_spaces = 2, .spaces = toy_spaces};

static const tf_target toy = {
    .name = "toy",
    .description = "a machine of tests",
    .lower = {.platform = &toy_platform, .copies = true, .depth = 1, .passes = toy_passes},
    .machine = toy_machine,
    .print = toy_print,
    .run = ir_run,
};

/* One file that says how many tiles there are. */
static tf_emitted *toy_print(const tf_target *t, const tf_tree *tree, const tf_emit_options *o,
                             tf_diags *d) {
  ir_machine machine = {.data = IR_F32};
  ir_program *p = t->machine(o, &machine, d) ? lower_kernel(tree, &t->lower, &machine, d) : NULL;
  tf_emitted *e = p ? calloc(1, sizeof *e) : NULL;
  if (e) e->file = calloc(1, sizeof *e->file);
  char *text = e && e->file ? calloc(1, 32) : NULL;
  if (text) {
    snprintf(text, 32, "tiles: %d\n", p->machine.registers);
    e->file[e->n++] = (tf_emitted_file){"toy.txt", text};
  }
  ir_free(p);
  return e;
}

static void check_toy(const session *s) {
  const tf_emit_options o = {0};
  tf_emitted *e = tf_target_emit(&toy, s->tree, &o, s->d);
  char *ir = tf_target_ir(&toy, s->tree, &o, s->d);
  if (CHECK(e && e->n == 1)) CHECK_TEXT(e->file[0].text, "tiles: 2\n");
  CHECK(ir && strstr(ir, "stage A in L1 from DRAM") && strstr(ir, "staged, in tiles") &&
        !strstr(ir, "begin")); /* of depth 1 */
  tf_emitted_free(e);
  free(ir);

  static double a[10 * 20], b[20 * 12], c[10 * 12];
  double *data[] = {NULL, NULL, NULL};
  const tf_workload *wl = s->tree->workload;
  for (int z = 0; z < 3; z++)
    data[z] = !strcmp(wl->tensors[z].name, "A") ? a : !strcmp(wl->tensors[z].name, "B") ? b : c;
  for (int i = 0; i < 200; i++)
    a[i] = i % 7;
  for (int i = 0; i < 240; i++)
    b[i] = i % 5;
  ir_program *p = lower_kernel(s->tree, &toy.lower, NULL, s->d);
  CHECK(p && toy.run(p, data, NULL));
  for (int m = 0; m < 10; m++)
    for (int n = 0; n < 12; n++) {
      double want = 0;
      for (int k = 0; k < 20; k++)
        want += a[m * 20 + k] * b[k * 12 + n];
      CHECK(c[m * 12 + n] == want);
    }
  ir_free(p);
}

/* The table: names that are there, and one that is not. */
static void check_table(const session *s) {
  const tf_emit_options o = {0};
  const char *what;
  CHECK_TEXT(tf_emit_target(0, &what), "cpu");
  CHECK(what && !tf_emit_target(100, NULL) && !tf_emit_target(-1, NULL));
  for (int i = 0; tf_emit_target(i, NULL); i++) {
    char *ir = tf_emit_ir(s->tree, tf_emit_target(i, NULL), NULL, s->d);
    CHECK(ir != NULL);
    CHECK(i == 3 || tf_emit_cycles(s->tree, tf_emit_target(i, NULL), &o, s->d) >
                        0); /* npu: it has no such memories */
    free(ir);
  }
  CHECK(tf_emit_able("cpu", TF_EMIT_HERE) && tf_emit_able(NULL, TF_EMIT_TUNED) &&
        !tf_emit_able("cuda", TF_EMIT_HERE));
  CHECK(!tf_emit_able("toy", TF_EMIT_HERE) && !tf_emit_isas("cpu") && !tf_emit_isas("toy"));
  CHECK(tf_emit_isa_unused("cuda", "sm_90a", NULL) &&
        tf_emit_isa_unused("hints", "sm_90a", "int8"));
  CHECK(!tf_emit_isa_unused("cuda", "sm_90a", "bf16") &&
        !tf_emit_isa_unused("cuda", "sm_90a", "f8"));
  CHECK(!tf_emit_isa_unused("cuda", "sm_80", NULL) && !tf_emit_isa_unused("cuda", NULL, NULL));
  CHECK(!tf_emit_isa_unused("cpu", "sm_90a", NULL) && !tf_emit_isa_unused("opencl", "plain", NULL));
  CHECK(tf_emit_owns_isa("cuda", "sm_80") && !tf_emit_owns_isa("cuda", "avx2") &&
        !tf_emit_owns_isa("npu", "sm_80"));
  tf_emitted *e = tf_emit(s->tree, NULL, &o, s->d);
  CHECK(e && e->n > 0);
  tf_emitted_free(e);
  CHECK_I64((int64_t)tf_diags_errors(s->d), 0);
  CHECK(!tf_emit(s->tree, "staged", &o, s->d) && tf_diags_errors(s->d) == 1);
  CHECK(!tf_emit(s->tree, "toy", &o, s->d) && tf_diags_errors(s->d) == 2);
}

/* ---- planted faults ------------------------------------------------------------------------- */

static ir_stmt *find(const ir_body *b, ir_kind kind) {
  for (int i = 0; i < b->n; i++) {
    ir_stmt *inner = b->s[i]->kind == kind ? b->s[i] : find(&b->s[i]->body, kind);
    if (inner) return inner;
  }
  return NULL;
}

static cpu_product *product_of(ir_program *p) {
  return (cpu_product *)(uintptr_t)cpu_of(find(&p->body, IR_NEST))->product;
}

/* Turns a statement into one of another kind, of which nothing but the head is said. */
static void become(ir_stmt *s, ir_kind kind) {
  *s = (ir_stmt){.kind = kind, .op = s->op, .range = s->range, .body = s->body};
}

static void sound(ir_program *p) { (void)p; }
static void unset(ir_program *p) {
  find(&p->body, IR_NEST)->range[0].lo = (ir_atom){find(&p->body, IR_FOR)->loop.var + 99, 0};
}
static void late_let(ir_program *p) { find(&p->body, IR_FOR)->body.s[0] = find(&p->body, IR_NEST); }
/* Behind a loop, a value of what is set in it. */
static void left_let(ir_program *p) {
  ir_stmt **two = TF_ARRAY(p->arena, ir_stmt *, (size_t)p->body.n + 1),
          *let = TF_NEW(p->arena, ir_stmt);
  memcpy(two, p->body.s, (size_t)p->body.n * sizeof *two);
  *let = (ir_stmt){.kind = IR_LET, .let = {.var = p->n_vars - 1, .expr = {.fn = IR_MAX, .n = 1}}};
  let->let.expr.arg = TF_NEW(p->arena, ir_atom);
  *let->let.expr.arg = (ir_atom){find(&find(&p->body, IR_FOR)->body, IR_FOR)->loop.var, 0};
  two[p->body.n] = let;
  p->body = (ir_body){p->body.n + 1, two};
}
static void boxed_nowhere(ir_program *p) {
  const int to = p->buffer_of[p->tree->workload->ops[0].out], from = p->n_buffers;
  ir_buffer *more = TF_ARRAY(p->arena, ir_buffer, (size_t)from + 1);
  ir_stmt *s = find(&p->body, IR_NEST);
  memcpy(more, p->buffers, (size_t)from * sizeof *more);
  more[from] = more[to], more[from].role = IR_BOX;
  p->buffers = more, p->n_buffers = from + 1;
  become(s, IR_SAVE);
  s->save.from = from, s->save.to = to;
  cu_note *note = cu_edit(p, s);
  p->platform = &lower_cuda_platform; /* whose notes these are */
  note->by_boxes = true, note->row = (ir_atom){p->n_vars, 0};
}
static void twice(ir_program *p) {
  find(&find(&p->body, IR_FOR)->body, IR_FOR)->loop.var = find(&p->body, IR_FOR)->loop.var;
}
static void no_steps(ir_program *p) { find(&p->body, IR_FOR)->loop.trip = 0; }
static void no_op(ir_program *p) { find(&p->body, IR_NEST)->op = 7; }
static void with_body(ir_program *p) { find(&p->body, IR_NEST)->body = p->body; }
static void endless(ir_program *p) { find(&p->body, IR_NEST)->nest.n_resets = 0; }
static void too_long(ir_program *p) { find(&p->body, IR_NEST)->range[0].other = 99; }
static void small_box(ir_program *p) { p->buffers[0].words--; }
static void no_memory(ir_program *p) { p->buffers[0].level = 5; }
static void shares_itself(ir_program *p) { p->buffers[1].shares = 1; }
static void other_tensor(ir_program *p) { p->buffer_of[0] = p->buffer_of[1]; }
static void parallel_twice(ir_program *p) {
  find(&p->body, IR_FOR)->loop.map = find(&find(&p->body, IR_FOR)->body, IR_FOR)->loop.map =
      IR_THREAD;
}

static void kind_if(ir_program *p) { become(find(&p->body, IR_FOR), IR_IF); }
static void together(ir_program *p) { become(find(&p->body, IR_FOR), IR_TOGETHER); }
static void saves(ir_program *p) { become(find(&p->body, IR_NEST), IR_SAVE); }
static void same_operand(ir_program *p) { product_of(p)->a = product_of(p)->b; }
static void turned_round(ir_program *p) {
  cpu_product *q = product_of(p);
  const int m = q->m;
  q->m = q->n, q->n = m;
}
static void sums_rows(ir_program *p) { product_of(p)->k = product_of(p)->m; }
static void no_scratch(ir_program *p) { product_of(p)->pairs.transposed = 0; }
static void small_scratch(ir_program *p) { p->buffers[product_of(p)->pack].words = 1; }
static void large_tile(ir_program *p) { find(&p->body, IR_STAGE)->range[0].most = 1000; }
static void from_nowhere(ir_program *p) {
  ir_stmt *s = find(&p->body, IR_STAGE);
  s->stage.from = s->stage.buffer;
}
static void unread(ir_program *p) {
  ir_stmt *s = find(&p->body, IR_STAGE);
  become(s, IR_FORGET);
  s->forget.buffer = -1;
}

static void unmade(ir_program *p) {
  p->buffers[p->buffer_of[p->tree->workload->ops[0].reads[0].tensor]].role = IR_BOX;
}

static void check_faults(const session *s) {
  enum { MODEL, STAGED, BF16 };
  static const struct {
    int line, target;
    void (*plant)(ir_program *);
    const char *told; /* NULL: it is sound */
  } row[] = {
      {__LINE__, MODEL, sound, NULL},
      {__LINE__, STAGED, sound, NULL},
      {__LINE__, BF16, sound, NULL},
      {__LINE__, MODEL, unset, "nest: no variable"},
      {__LINE__, MODEL, late_let, "is not set yet"},
      {__LINE__, MODEL, left_let, "is not set yet"},
      {__LINE__, MODEL, boxed_nowhere, "save: no variable"},
      {__LINE__, MODEL, twice, "is set by another statement"},
      {__LINE__, MODEL, no_steps, "for: 0 steps"},
      {__LINE__, MODEL, no_op, "nest: no op 7"},
      {__LINE__, MODEL, with_body, "nest: has a body"},
      {__LINE__, MODEL, endless, "its sum over 'k' never starts"},
      {__LINE__, MODEL, too_long, "a rest of 99"},
      {__LINE__, MODEL, small_box, "its box has"},
      {__LINE__, MODEL, no_memory, "no memory 5"},
      {__LINE__, MODEL, shares_itself, "shares the place of none"},
      {__LINE__, MODEL, other_tensor, "is in another's buffer"},
      {__LINE__, MODEL, parallel_twice, "parallel within parallel"},
      {__LINE__, MODEL, kind_if, "if: nothing is asked"},
      {__LINE__, MODEL, together, "together: nothing in common"},
      {__LINE__, MODEL, saves, "save: not from one buffer"},
      {__LINE__, MODEL, same_operand, "its operands are not two"},
      {__LINE__, MODEL, turned_round, "its rows are not of a alone"},
      {__LINE__, MODEL, sums_rows, "no dim is summed"},
      {__LINE__, MODEL, no_scratch, "transposed operand is no scratch"},
      {__LINE__, BF16, small_scratch, "do not hold its box"},
      {__LINE__, STAGED, large_tile, "a tile of 1000"},
      {__LINE__, STAGED, from_nowhere, "from nowhere"},
      {__LINE__, STAGED, unread, "is not set yet"},
      {__LINE__, MODEL, unmade, "nothing has been put into"},
  };
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    ir_machine machine;
    char why[200] = "";
    const tf_target *t = row[i].target == STAGED ? &tf_target_staged
                         : row[i].target == BF16 ? &tf_target_cpu
                                                 : &tf_target_model;
    const tf_emit_options o = {.isa = "avx512_bf16", .dtype = "bf16"};
    CHECK_ROW(&row[i], t->machine(&o, &machine, s->d));
    lower_target lower = t->lower;
    if (row[i].target == MODEL) lower.close_by = NULL; /* all loops stay */
    ir_program *p = lower_kernel(s->tree, &lower, &machine, s->d);
    if (!CHECK_ROW(&row[i], p != NULL)) continue;
    row[i].plant(p);
    const bool ok = ir_check(p, why, sizeof why);
    if (!CHECK_ROW(&row[i], row[i].told ? !ok && strstr(why, row[i].told) : ok))
      printf("  said: %s\n", why);
    ir_free(p);
  }
}

/* What a pass leaves is looked at in every build: one that puts a statement where its values are
 * not declared makes an error that names it, and no kernel. */
static void plant_late(lowering *w) { late_let(w->p); }

static void check_passes(const session *s) {
  static const lower_pass passes[] = {
      {"unused", lower_drop_unused}, {"plant", plant_late}, {NULL, NULL}};
  lower_target lower = tf_target_model.lower;
  ir_machine machine;
  tf_diags *d = tf_diags_new();
  lower.close_by = NULL;
  lower.passes = passes;
  CHECK(d && tf_target_model.machine(&(tf_emit_options){.dtype = "f32"}, &machine, d));
  ir_program *p = lower_kernel(s->tree, &lower, &machine, d);
  char *said = tf_diags_text(d);
  if (!CHECK(!p && said && strstr(said, "wrong loops after pass 'plant'") &&
             strstr(said, "is not set yet")))
    printf("  said: %s\n", said ? said : "");
  free(said);
  ir_free(p);
  tf_diags_free(d);
}

/* However slow the memory is, weights are read where they stand, or pass by in panels, for so many
 * rows only that the kernel's code, which has a call for each tile of them, and its stack stay
 * small. */
static void check_rows(int rows, bool in_tiles, bool passes) {
  char text[1024];
  snprintf(text, sizeof text,
           "architecture:\n  name: slow\n  clock: 1 GHz\n  memories:\n"
           "  - {name: DRAM, bandwidth: 0.001}\n"
           "  - {name: L1, capacity: 4 KiB, bandwidth: 8}\n  compute:\n"
           "  - {name: u, ops: [mac, add], below: L1}\n"
           "workload:\n  name: w\n  dims: {m: %d, n: 64, k: 64}\n  ops:\n"
           "  - \"C[m,n] += A[m,k] * B[k,n]\"\n"
           "mapping: |\n  DRAM\n    L1 for m=%d n=64 k=64\n      op C\n",
           rows, rows);
  const tf_emit_options o = {.isa = "avx2", .dtype = "f32"};
  session s = open_session(text);
  tf_emitted *e = s.tree ? tf_emit(s.tree, NULL, &o, s.d) : NULL;
  bool tiles = false, panels = false;
  for (int i = 0; e && i < e->n; i++) {
    tiles |= strstr(e->file[i].text, "rows, in tiles,") != NULL;
    panels |= strstr(e->file[i].text, ", which streams past") != NULL;
  }
  CHECK(e && tiles == in_tiles && panels == passes);
  tf_emitted_free(e);
  close_session(&s);
}

/* Every target lowers a workload of numbers alone, which has no dim that a loop could go over. */
static void check_numbers(void) {
  session s = open_session("architecture:\n  name: a\n  memories:\n  - {name: DRAM}\n"
                           "  - {name: L1}\n  compute:\n  - {name: u, ops: [mul, exp]}\n"
                           "workload:\n  name: w\n  dims: {}\n  ops:\n"
                           "  - \"C[] = A[] * 2\"\n  - \"E[] = exp(C[]) * B[]\"\n"
                           "mapping: |\n  DRAM\n    Seq\n      L1\n        op C\n      L1\n"
                           "        op E\n");
  for (int i = 0; CHECK(s.tree) && tf_emit_target(i, NULL); i++) {
    char *ir = tf_emit_ir(s.tree, tf_emit_target(i, NULL), NULL, s.d);
    if (!CHECK(ir)) printf("  of target %s\n", tf_emit_target(i, NULL));
    free(ir);
  }
  close_session(&s);
}

int main(void) {
  check_numbers();
  session s = open_session(gemm);
  if (CHECK(s.tree != NULL)) {
    check_faults(&s);
    check_passes(&s);
    check_toy(&s);
    check_table(&s);
  }
  close_session(&s);
  check_rows(6, true, false);
  check_rows(7, false, true);
  check_rows(128, false, true);
  check_rows(129, false, false);
  check_rows(1 << 20, false, false);
  return check_report();
}
