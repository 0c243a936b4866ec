/* Which nests over the same rows become one loop, and over how many dims: those whose vectors lie
 * along the output's last dim keep it to themselves, as a sum down columns would be scalar inside
 * such a loop. */
#include "codegen/backend/target.h"
#include "codegen/lower/lower.h"
#include "tests/unit/case.h"
#include "tests/unit/page.h"

static int common_in(const ir_body *b) {
  for (int i = 0; i < b->n; i++) {
    const int inner =
        b->s[i]->kind == IR_TOGETHER ? b->s[i]->together.n_common : common_in(&b->s[i]->body);
    if (inner) return inner;
  }
  return 0;
}

static const struct {
  int line;
  const char *first, *second; /* ops, that name their outputs A and B */
  const char *dims;           /* "D=N .." as a tile writes them */
  const char *extents;        /* the same as a workload writes them */
  int common;
} rows[] = {
    {__LINE__, "A[n] += X[k] * V[k,n]", "B[n] += X[k] * W[k,n]", "n=8 k=6", "n: 8, k: 6", 0},
    {__LINE__, "A[n] += X[k] * V[n,k]", "B[n] += X[k] * W[n,k]", "n=8 k=6", "n: 8, k: 6", 1},
    {__LINE__, "A[m,n] max= X[m,k] * V[k,n]", "B[m,n] max= Y[m,k] * W[k,n]", "m=4 n=8 k=6",
     "m: 4, n: 8, k: 6", 1},
    {__LINE__, "A[m,n] max= X[m,k] * V[n,k]", "B[m,n] max= Y[m,k] * W[n,k]", "m=4 n=8 k=6",
     "m: 4, n: 8, k: 6", 2},
    {__LINE__, "A[m] += X[m,k] * V[m,k]", "B[m] max= Y[m,k]", "m=4 k=6", "m: 4, k: 6", 1},
    {__LINE__, "A[m,n] = exp(X[m,n])", "B[m,n] = A[m,n] * Y[m,n]", "m=4 n=8", "m: 4, n: 8", 1},
    {__LINE__, "A[n] = exp(X[n])", "B[n] = A[n] * Y[n]", "n=8", "n: 8", 0},
};

int main(void) {
  const tf_target *model = &tf_target_model;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    page p = {.len = 0};
    test_case e = {0};
    say(&p,
        "architecture:\n  name: two\n  memories:\n  - {name: DRAM}\n  - {name: Buf}\n"
        "  compute:\n  - {name: pe, ops: [mac, mul, max, exp]}\n"
        "workload:\n  name: w\n  dims: {%s}\n  ops:\n  - \"%s\"\n  - \"%s\"\n"
        "mapping: |\n  DRAM\n    Seq\n      Buf for %s\n        op A\n      Buf for %s\n"
        "        op B\n",
        rows[i].extents, rows[i].first, rows[i].second, rows[i].dims, rows[i].dims);
    case_read(&e, p.text);
    ir_machine machine = {.lanes = 1};
    ir_program *ir = e.tree ? lower_kernel(e.tree, &model->lower, &machine, e.d) : NULL;
    CHECK(ir != NULL);
    if (!ir) case_complain(e.d);
    if (ir) CHECK_ROW_I64(&rows[i], common_in(&ir->body), rows[i].common);
    ir_free(ir);
    case_drop(&e);
  }
  return check_report();
}
