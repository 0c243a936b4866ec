/* Along which of the output's dims the vectors of a convolution lie, by type of data, channels,
 * rows and windows. */
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

int main(void) {
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
