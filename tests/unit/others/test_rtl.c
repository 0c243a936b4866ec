/* Predictions against RTL: 66 fused matrix products, tests/data/rtl.  DRAM words are exact, cycles
 * within what docs/VALIDATION.md publishes. */
#include "tests/unit/case.h"
#include "tests/unit/others/rtl.h"

typedef struct {
  long m, l, k, n, tile_m, tile_l, tile_k1, tile_n, tile_k2, cycles, to_buffer, to_memory, to_reg,
      from_reg;
} row;

/* Words between buffer and registers.  The RTL moves more than the products need, by two terms of
 * the shapes alone: it reads the partial sums that nobody wrote yet (zeros: M L of C, M N of E),
 * and between the products it passes over C once, M L words up and M L down. */
static void check_registers(const tf_spec *s, const tf_result *res, const row *r) {
  int nz = s->workload->n_tensors;
  int64_t read = 0, update = 0;
  for (int z = 0; z < nz; z++) {
    read += res->counts[nz + z].read;
    update += res->counts[nz + z].update;
  }
  CHECK_I64(read, r->to_reg / 16 - 2 * r->m * r->l - r->m * r->n);
  CHECK_I64(update, r->from_reg / 16 - r->m * r->l);
}

/* The error of the predicted cycles; checks the words. */
static double check_row(const tf_text *arch, const row *r) {
  char text[1024];
  int n = snprintf(text, sizeof text, rtl_product, r->m, r->l, r->k, r->n, r->m / r->tile_m,
                   r->k / r->tile_k1, r->tile_k1 / 16, r->tile_m / 16, r->l, r->l / r->tile_k2,
                   r->tile_k2 / 16, r->tile_m / 16, r->n);
  tf_text texts[2] = {*arch, {"product", text, (size_t)n}};
  tf_diags *d = tf_diags_new();
  tf_spec *s = tf_spec_read_texts(texts, 2, NULL, 0, d);
  tf_tree *t = s ? tf_tree_parse(s->mapping_text, s->mapping_at, s->arch, s->workload, d) : NULL;
  tf_model *m = t ? tf_model_new(t, d) : NULL;
  tf_result res;
  double error = 1;
  if (CHECK(m && tf_model_eval(m, NULL, &res))) {
    int64_t read = 0, update = 0;
    for (int z = 0; z < s->workload->n_tensors; z++) {
      read += res.counts[z].read;
      update += res.counts[z].update;
    }
    CHECK_I64(read, r->to_buffer / 16);
    CHECK_I64(update, r->to_memory / 16);
    check_registers(s, &res, r);
    error = res.cycles / (double)r->cycles - 1;
  }
  tf_model_free(m);
  tf_tree_free(t);
  tf_spec_free(s);
  tf_diags_free(d);
  return error < 0 ? -error : error;
}

int main(void) {
  size_t len;
  char *csv = case_file("tests/data/rtl/fused_gemm.csv", &len),
       *yaml = case_file("arch-specs/rtl-core.yaml", &len);
  tf_text arch = {"rtl-core.yaml", yaml, len};
  double sum = 0, worst = 0;
  int rows = 0;
  for (char *line = csv; *line; line += strcspn(line, "\n"), line += *line == '\n') {
    row r;
    if (sscanf(line, "%ld,%ld,%ld,%ld,%ld,%ld,%ld,%ld,%ld,%ld,%ld,%ld,%ld,%ld", &r.m, &r.l, &r.k,
               &r.n, &r.tile_m, &r.tile_l, &r.tile_k1, &r.tile_n, &r.tile_k2, &r.cycles,
               &r.to_buffer, &r.to_memory, &r.to_reg, &r.from_reg) != 14)
      continue;
    double error = check_row(&arch, &r);
    sum += error;
    worst = error > worst ? error : worst;
    rows++;
  }
  CHECK_I64(rows, 66);
  CHECK(sum / rows < 0.015);
  CHECK(worst < 0.085);
  free(csv);
  free(yaml);
  return check_report();
}
