/* Graphs whose ops read several of those before them: what is asked of ranges takes work with the
 * size of the graph, not with the ways through it, which grow exponentially.  Counted in answers
 * that had to be worked out. */
#include "base/rng.h"
#include "model/cost/state.h"
#include "model/flow/range_memo.h"
#include "tests/unit/check.h"
#include "tileflow/tileflow.h"

enum { ROOM = 120000 };

static const char arch[] = "architecture:\n  name: a\n  clock: 1 GHz\n  memories:\n"
                           "  - {name: M, bandwidth: 1}\n  - {name: L, bandwidth: 1}\n"
                           "  compute:\n  - {name: u, ops: [mac, add, mul, exp], below: L}\n";

/* Op i reads up to three of the `back` ops before it, the one right before it always.  All of them
 * below one loop, or of Tiles of their own. */
static void put_graph(tf_rng *rng, char *p, int n, unsigned back) {
  p += sprintf(
      p, "%sworkload:\n  name: w\n  dims: {m: 5, n: 7}\n  ops:\n  - A0[m,n] = exp(X[m,n])\n", arch);
  for (int i = 1; i < n; i++) {
    p += sprintf(p, "  - A%d[m,n] = A%d[m,n]", i, i - 1);
    for (unsigned k = tf_rng_below(rng, 3); k-- > 0;)
      p += sprintf(p, " + A%d[m,n]",
                   i - 1 - (int)tf_rng_below(rng, (unsigned)i < back ? (unsigned)i : back));
    p += sprintf(p, "\n");
  }
  p += sprintf(p, "mapping: |\n  M for m=2\n    Seq\n");
  for (int i = 0; i < n; i++)
    p += sprintf(p, "      L for m=3 n=7\n        op A%d\n", i);
}

/* Answers worked out by an evaluation. */
static void test_work(void) {
  static char text[ROOM];
  tf_rng rng = tf_rng_new(3, 11);
  for (int n = 50; n <= 200; n *= 2)
    for (unsigned back = 2; back <= 30; back += 14) {
      put_graph(&rng, text, n, back);
      tf_text t = {"graph", text, strlen(text)};
      tf_diags *d = tf_diags_new();
      tf_spec *s = tf_spec_read_texts(&t, 1, NULL, 0, d);
      tf_tree *tree =
          s ? tf_tree_parse(s->mapping_text, s->mapping_at, s->arch, s->workload, d) : NULL;
      tf_model *m = tree ? tf_model_new(tree, d) : NULL;
      if (!CHECK(m != NULL)) printf("%s", tf_diags_text(d));
      tf_result r;
      if (m) CHECK(tf_model_eval(m, NULL, &r));
      const tf_range_memo *memo = m ? m->plan->memo : NULL;
      if (CHECK(memo != NULL))
        CHECK(memo->walked <
              (int64_t)100 * n * n); /* some questions an op, some answers an op to each */
      if (memo) printf("# %d ops, %u back: %lld answers\n", n, back, (long long)memo->walked);
      tf_model_free(m);
      tf_tree_free(tree);
      tf_spec_free(s);
      tf_diags_free(d);
    }
}

/* Of a chain as short as softmax, asked with `exact`, as the walks of the NPU's compiler ask: each
 * range asks whether its readers have work, dim by dim. */
static void test_exact(void) {
  static char text[ROOM];
  tf_rng rng = tf_rng_new(3, 12);
  put_graph(&rng, text, 7, 2);
  tf_diags *d = tf_diags_new();
  tf_spec *s = tf_spec_read_texts(&(tf_text){"graph", text, strlen(text)}, 1, NULL, 0, d);
  tf_tree *tree = s ? tf_tree_parse(s->mapping_text, s->mapping_at, s->arch, s->workload, d) : NULL;
  tf_arena *a = tf_arena_new();
  tf_plan *p = tree ? tf_plan_new(a, tree) : NULL;
  if (CHECK(p && tf_range_memo_exact(a, p) && p->memo)) {
    const size_t loops = (size_t)p->n_loops;
    tf_eval ev = {.plan = p, .exact = true, .trip = TF_ARRAY(a, int64_t, loops)};
    ev.step = TF_ARRAY(a, int64_t, loops * 7);
    const int64_t *zero = TF_ARRAY(a, int64_t, loops);
    for (int l = 0; l < p->n_loops; l++)
      ev.trip[l] = tree->nodes[p->loops[l].node].loops[p->loops[l].slot].trip;
    CHECK(tf_eval_steps(&ev));
    p->memo->walked = 0;
    for (int o = 0; o < 7; o++)
      CHECK(!tf_op_idle(&ev, o, tree->op_node[o], zero));
    CHECK(p->memo->walked > 0 &&
          p->memo->walked <= 7 * 7 * 2 * 3); /* ops asked, ops, dims, nodes above an op */
    printf("# softmax's size: %lld answers\n", (long long)p->memo->walked);
  }
  tf_arena_free(a);
  tf_tree_free(tree);
  tf_spec_free(s);
  tf_diags_free(d);
}

int main(void) {
  test_work();
  test_exact();
  return check_report();
}
