/* Random cases of the oracle's generator: lowered, interpreted, and compared with the whole workload.
 *   ir_test [--cases N] [--seed S] [--one SEED] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/target/target.h"
#include "tests/kernels/draw.h"
#include "tests/kernels/whole.h"

typedef struct {
  long equal, wrong, refused, unlike;
  bool show;
} session;

/* With and without buffers for sums of narrow outputs, tiles of inputs, and halves for the next ones. */
static bool lowered_equal(const tf_tree *tree, const low_target *target, ir_type data, tf_diags *d, bool show) {
  const tf_workload *wl = tree->workload;
  double **want = whole_new(wl), **got = whole_new(wl);
  ir_program *p = low_lower(tree, target, &(ir_machine){.data = data}, d);
  if (p && show) ir_dump(stdout, p);
  whole_run(wl, want);
  bool ok = p && want && got && ir_run(p, got, NULL) && whole_equal(wl, want, got);
  ir_free(p);
  whole_free(wl, want);
  whole_free(wl, got);
  return ok;
}

static bool all_equal(const tf_tree *tree, tf_diags *d, bool show) {
  const low_target *cpu = &tf_target_cpu.lower, *two = &tf_target_staged.lower;
  low_target one = *two;
  one.depth = 1;
  return lowered_equal(tree, cpu, IR_F32, d, show) && lowered_equal(tree, cpu, IR_BF16, d, show) &&
         lowered_equal(tree, &one, IR_F32, d, show) && lowered_equal(tree, two, IR_F32, d, show);
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

static void one_few(void *ctx, uint64_t seed) { one(ctx, seed | DRAW_FEW); }

int main(int argc, char **argv) {
  const draw_plan plan = draw_options(argc, argv, 2000);
  session s = {.show = plan.show};
  const draw_plan few = {.cases = plan.only ? 0 : plan.cases / 200, .seed = plan.seed};
  draw_each(&plan, one, &s);
  draw_each(&few, one_conv, &s);
  draw_each(&few, one_stream, &s);
  draw_each(&few, one_few, &s);
  const draw_plan forks = {.cases = plan.only ? 0 : plan.cases * 5, .seed = plan.seed}; /* most are refused */
  draw_each(&forks, one_fork, &s);
  printf("lowering: %ld cases equal, %ld wrong; %ld mappings refused by the tree's rules, %ld that emit refuses\n",
         s.equal, s.wrong, s.refused, s.unlike);
  return s.wrong != 0 || s.equal == 0;
}
