/* Along which of the output's dims the vectors of a convolution lie, by type of data, channels,
 * rows and windows; and whether rows are copied for vectors along channels. */
#include "codegen/backend/cpu/note/note.h"
#include "codegen/backend/target.h"
#include "codegen/intrin/micro.h"
#include "tests/unit/case.h"
#include "tests/unit/page.h"

/* k channels, p x q results of windows r x r, sums over c channels; the mapping spreads q over the
 * units. */
static const struct {
  int line;
  const char *isa;
  ir_type type;
  int k, q, c, r;
  bool channels;
} rows[] = {
    {__LINE__, "avx512_bf16", IR_BF16, 13, 36, 8, 3,
     true}, /* 36 vectors of pairs or 39 of words (two a pair) */
    {__LINE__, "avx512_bf16", IR_BF16, 6, 47, 8, 3, false},  /* 47 and 36 */
    {__LINE__, "avx512_bf16", IR_BF16, 8, 32, 8, 3, false},  /* 32 and 32 */
    {__LINE__, "avx512_bf16", IR_BF16, 8, 33, 8, 3, true},   /* 33 and 48 */
    {__LINE__, "avx512_bf16", IR_BF16, 13, 36, 8, 1, false}, /* no window: pairs along rows, too */
    {__LINE__, "avx512_bf16", IR_BF16, 13, 36, 1, 3, true},  /* a pair is filled up */
    {__LINE__, "avx512_vnni", IR_I8, 1, 48, 8, 3, true},
    {__LINE__, "avx512_vnni", IR_I8, 13, 48, 8, 1, false},
    {__LINE__, "avx512", IR_F32, 13, 36, 8, 3, false},
    {__LINE__, "avx512", IR_BF16, 13, 36, 8, 3, false}, /* it has no pairs */
};

static const cpu_product *product_in(const ir_body *b) {
  const cpu_product *found = NULL;
  for (int i = 0; i < b->n && !found; i++) {
    found = cpu_product_of(b->s[i]);
    if (!found) found = product_in(&b->s[i]->body);
  }
  return found;
}

/* Rows of q results for k channels of float32, spread over the units, by windows r x r; copied:
 * whether rows are copied first. They are in pairs, and where elements are read often: about once
 * for each of at most 2 x 16 channels and each place of a window. */
static const struct {
  int line, k, q, r;
  bool copied;
} short_rows[] = {{__LINE__, 32, 14, 1, false}, {__LINE__, 32, 9, 1, false},
                  {__LINE__, 64, 15, 1, false}, {__LINE__, 32, 20, 1, false},
                  {__LINE__, 32, 7, 1, true},   {__LINE__, 16, 14, 3, false},
                  {__LINE__, 128, 14, 3, true}};

static void test_short_rows(void) {
  for (size_t i = 0; i < sizeof short_rows / sizeof short_rows[0]; i++) {
    page p = {.len = 0};
    test_case e = {0};
    const int k = short_rows[i].k, q = short_rows[i].q, r = short_rows[i].r;
    say(&p,
        "architecture:\n  name: two\n  memories:\n  - {name: DRAM}\n  - {name: Buf}\n"
        "  compute:\n  - {name: pe, ops: [mac], mesh: [128, 1]}\n"
        "workload:\n  name: w\n  dims: {k: %d, p: 8, q: %d, c: 8, r: %d, s: %d}\n  ops:\n"
        "  - \"O[k,p,q] += I[c,p+r,q+s] * W[k,c,r,s]\"\n"
        "mapping: |\n  DRAM\n    Buf for p=8 q=%d c=8 r=%d s=%d spatial k=%d@x\n      op O\n",
        k, q, r, r, q, r, r, k);
    case_read(&e, p.text);
    const ir_machine machine = tf_micro_machine(tf_micro_isa_find("avx512"), IR_F32);
    ir_program *ir = e.tree ? lower_kernel(e.tree, &tf_target_cpu.lower, &machine, e.d) : NULL;
    const cpu_product *of = ir ? product_in(&ir->body) : NULL;
    if (!CHECK(of)) case_complain(e.d);
    if (of) CHECK_ROW_I64(&short_rows[i], of->kind == CPU_CHANNELS, true);
    if (of) CHECK_ROW_I64(&short_rows[i], of->slab != NULL, short_rows[i].copied);
    ir_free(ir);
    case_drop(&e);
  }
}

int main(void) {
  test_short_rows();
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    page p = {.len = 0};
    test_case e = {0};
    say(&p,
        "architecture:\n  name: two\n  memories:\n  - {name: DRAM}\n  - {name: Buf}\n"
        "  compute:\n  - {name: pe, ops: [mac], mesh: [64, 1]}\n"
        "workload:\n  name: w\n  dims: {k: %d, p: 5, q: %d, c: %d, r: %d, s: %d}\n  ops:\n"
        "  - \"O[k,p,q] += I[c,p+r,q+s] * W[k,c,r,s]\"\n"
        "mapping: |\n  DRAM\n    Buf for k=%d p=5 c=%d r=%d s=%d spatial q=%d@x\n      op O\n",
        rows[i].k, rows[i].q, rows[i].c, rows[i].r, rows[i].r, rows[i].k, rows[i].c, rows[i].r,
        rows[i].r, rows[i].q);
    case_read(&e, p.text);
    const ir_machine machine = tf_micro_machine(tf_micro_isa_find(rows[i].isa), rows[i].type);
    ir_program *ir = e.tree ? lower_kernel(e.tree, &tf_target_cpu.lower, &machine, e.d) : NULL;
    const cpu_product *of = ir ? product_in(&ir->body) : NULL;
    CHECK(of != NULL);
    if (!ir) case_complain(e.d);
    if (of) CHECK_ROW_I64(&rows[i], of->kind == CPU_CHANNELS, rows[i].channels);
    ir_free(ir);
    case_drop(&e);
  }
  return check_report();
}
