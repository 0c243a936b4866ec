/* Random cases of the oracle's generator: lowered, interpreted, and compared with the whole
 * workload. ir_test [--cases N] [--seed S] [--one SEED] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/backend/target.h"
#include "codegen/lower/lower.h"
#include "tests/kernels/draw.h"
#include "tests/kernels/whole.h"
#include "tileflow/tree.h"

typedef struct {
  long equal, wrong, refused, unlike;
  bool show;
} session;

/* With and without buffers for sums of narrow outputs, tiles of inputs, and halves for the next
 * ones. */
static bool lowered_equal(const tf_tree *tree, const lower_target *target, ir_type data,
                          tf_diags *d, bool show) {
  const tf_workload *wl = tree->workload;
  double **want = whole_new(wl), **got = whole_new(wl);
  ir_program *p = lower_kernel(tree, target, &(ir_machine){.data = data}, d);
  if (p && show) ir_dump(stdout, p);
  whole_run(wl, want);
  char why[200] = "";
  bool ok = p && want && got && ir_check(p, why, sizeof why) && ir_run(p, got, NULL) &&
            whole_equal(wl, want, got);
  if (*why) printf("%s\n", why);
  ir_free(p);
  whole_free(wl, want);
  whole_free(wl, got);
  return ok;
}

/* So few terms at a time that sums of some tens are carried through all levels, and nests that sum
 * more are cut. */
static void few_terms(const lowering *w, const ir_stmt *nest, lower_terms *t) {
  const tf_op *op = &w->plan->wl->ops[nest->op];
  *t = (lower_terms){.most = 3, .adds = 1, .limit = 2, .next = 2};
  for (int k = op->n_out_dims; k < op->n_dims; k++)
    t->adds *= nest->range[k].most;
}

static bool all_equal(const tf_tree *tree, tf_diags *d, bool show) {
  const lower_target *cpu = &tf_target_cpu.lower, *two = &tf_target_staged.lower;
  lower_target one = *two;
  one.depth = 1;
  lower_target few = *cpu;
  few.terms = few_terms;
  return lowered_equal(tree, &few, IR_F32, d, show) && lowered_equal(tree, cpu, IR_F32, d, show) &&
         lowered_equal(tree, cpu, IR_BF16, d, show) && lowered_equal(tree, &one, IR_F32, d, show) &&
         lowered_equal(tree, two, IR_F32, d, show);
}

static void one(void *ctx, uint64_t seed) {
  session *s = ctx;
  drawn c;
  draw(&c, seed);
  if (!c.tree) {
    s->refused++;
    if (s->show) draw_print(&c, seed);
  } else if (!draw_can_emit(&c))
    s->unlike++;
  else if (all_equal(c.tree, c.diags, s->show))
    s->equal++;
  else if (s->wrong++ < 5)
    draw_print(&c, seed);
  draw_close(&c);
}

static void one_conv(void *ctx, uint64_t seed) { one(ctx, seed | DRAW_CONV); }

static void one_fork(void *ctx, uint64_t seed) { one(ctx, seed | DRAW_FORKS); }

static void one_stream(void *ctx, uint64_t seed) { one(ctx, seed | DRAW_STREAM); }

static void one_spelled(void *ctx, uint64_t seed) { one(ctx, seed | DRAW_SPELLED); }

static void one_divided(void *ctx, uint64_t seed) { one(ctx, seed | DRAW_DIVIDED); }

static void one_homes(void *ctx, uint64_t seed) { one(ctx, seed | DRAW_HOMES); }

static void one_few(void *ctx, uint64_t seed) { one(ctx, seed | DRAW_FEW); }

/* Rows of sums that are a page long, and that a product takes as one: no gaps may be put between
 * them. */
static bool rows_as_one(void) {
  static const char text[] = "architecture:\n  name: a\n  clock: 1 GHz\n  word-bits: 32\n"
                             "  memories:\n  - {name: D, bandwidth: 4}\n"
                             "  - {name: L, capacity: 1 MiB, bandwidth: 8}\n  compute:\n"
                             "  - {name: u, ops: [mac, relu], below: L}\n"
                             "workload:\n  name: w\n  dims: {c: 8, k: 8, p: 2, q: 1024}\n"
                             "  ops:\n  - \"T[c,p,q] += W[c,k] * I[k,p,q]\"\n"
                             "  - \"O[c,p,q] = relu(T[c,p,q])\"\nmapping: |\n  D\n"
                             "    Seq keep T@L\n      L for c=8 p=2 q=1024 k=8\n"
                             "        op T\n      L for c=8 p=2 q=1024\n        op O\n";
  const tf_text in = {"rows", text, strlen(text)};
  tf_diags *d = tf_diags_new();
  tf_spec *spec = tf_spec_read_texts(&in, 1, NULL, 0, d);
  tf_tree *t =
      spec ? tf_tree_parse(spec->mapping_text, spec->mapping_at, spec->arch, spec->workload, d)
           : NULL;
  ir_machine machine;
  ir_program *p = t && tf_target_cpu.machine(&(tf_emit_options){.isa = "avx512"}, &machine, d)
                      ? lower_kernel(t, &tf_target_cpu.lower, &machine, d)
                      : NULL;
  char *said = NULL, why[200] = "";
  size_t n = 0;
  FILE *out = p ? open_memstream(&said, &n) : NULL;
  if (out) ir_dump(out, p);
  const bool ok =
      out && fclose(out) == 0 && strstr(said, "its rows as one") && ir_check(p, why, sizeof why);
  if (!ok) printf("rows as one: %s\n", *why ? why : "not emitted so");
  free(said);
  ir_free(p);
  tf_tree_free(t);
  tf_spec_free(spec);
  tf_diags_free(d);
  return ok;
}

int main(int argc, char **argv) {
  const draw_plan plan = draw_options(argc, argv, 2000);
  session s = {.show = plan.show};
  const draw_plan few = {.cases = plan.only ? 0 : plan.cases / 200, .seed = plan.seed};
  draw_each(&plan, one, &s);
  draw_each(&few, one_conv, &s);
  draw_each(&few, one_stream, &s);
  draw_each(&few, one_few, &s);
  const draw_plan spelled = {.cases = plan.only ? 0 : plan.cases / 10, .seed = plan.seed};
  draw_each(&spelled, one_spelled, &s);
  draw_each(&spelled, one_divided, &s);
  draw_each(&spelled, one_homes, &s);
  const draw_plan forks = {.cases = plan.only ? 0 : plan.cases * 5,
                           .seed = plan.seed}; /* most are refused */
  draw_each(&forks, one_fork, &s);
  printf("lowering: %ld cases equal, %ld wrong; %ld mappings refused by the tree's rules, %ld that "
         "emit refuses\n",
         s.equal, s.wrong, s.refused, s.unlike);
  const bool as_one = plan.only || rows_as_one();
  return s.wrong != 0 || s.equal == 0 || !as_one;
}
