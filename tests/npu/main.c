/* Random workloads emitted for the NPU and run in its simulator: outputs equal the workload's own,
 * words of each path the model's, flags are all needed (each left out is found) and cost no time
 * beside what they order. npu_test [--cases N] [--from SEED] [--one SEED] npu_test --plans [N]
 * workloads (the first N) without a mapping: what the planner finds is emitted and right */
#include <stdlib.h>

#include "base/rng.h"
#include "codegen/backend/npu/pass/pass.h"
#include "codegen/backend/npu/text/roll.h"
#include "model/cost/state.h"
#include "tests/kernels/whole.h"
#include "tests/npu/cases.h"
#include "tests/npu/draw.h"
#include "tests/npu/roll.h"

static void note(errors *e, double off) {
  if (CHECK(e->n < MOST_CASES)) e->off[e->n++] = off;
}

/* ---- one program ---------------------------------------------------------------------------- */
static int tensor_of(const tf_workload *wl, const char *name) {
  for (int z = 0; z < wl->n_tensors; z++)
    if (!strcmp(wl->tensors[z].name, name)) return z;
  return -1;
}

/* In float32 all along, but for sums of a tile: relative to the largest element.  What is no number
 * is not near. */
static bool is_near(const double *got, const double *want, int64_t n, double most) {
  double top = 1e-30;
  bool near = true;
  for (int64_t i = 0; i < n; i++)
    top = fmax(top, fabs(want[i]));
  for (int64_t i = 0; i < n; i++)
    near = near && fabs(got[i] - want[i]) <= most * top;
  return near;
}

/* Whether the queue that works most waits between its first and its last instruction. */
static bool stalls(const tf_npu_result *r) {
  const char *top = "";
  double busy = 0, begin = INFINITY, end = 0;
  for (int q = 0; q < r->n_queues; q++)
    if (r->queues[q].busy > busy) {
      busy = r->queues[q].busy;
      top = r->queues[q].queue;
    }
  for (size_t i = 0; i < r->n_spans; i++) {
    if (strcmp(r->spans[i].queue, top) != 0) continue;
    begin = fmin(begin, r->spans[i].begin);
    end = fmax(end, r->spans[i].end);
  }
  return end - begin > busy * (1 + 1e-9);
}

bool run_values(const test_case *e, const tf_npu *p, tf_npu_result *r, double most) {
  const tf_workload *wl = e->spec->workload;
  double **want = whole_new(wl), *data[NPU_TENSORS] = {NULL};
  tf_npu_tensor t;
  whole_run(wl, want);
  for (int i = 0; tf_npu_tensor_at(p, i, &t); i++) {
    data[i] = calloc((size_t)t.words, sizeof **data);
    if (t.in) memcpy(data[i], want[tensor_of(wl, t.name)], (size_t)t.words * sizeof **data);
  }
  bool ok = tf_npu_run(p, &(tf_npu_options){.spans = true}, data, r, e->d);
  for (int i = 0; tf_npu_tensor_at(p, i, &t); i++) {
    if (t.out) ok = is_near(data[i], want[tensor_of(wl, t.name)], t.words, most) && ok;
    free(data[i]);
  }
  whole_free(wl, want);
  return ok;
}

/* Words that leave (or reach) a memory for a tensor, over all paths. */
static int64_t flow(const tf_npu_result *r, const char *memory, const char *tensor, bool leave) {
  int64_t words = 0;
  for (int i = 0; i < r->n_flows; i++)
    if (!strncmp(leave ? r->flows[i].from : r->flows[i].to, memory, strlen(memory)) &&
        !strcmp(r->flows[i].tag, tensor))
      words += r->flows[i].words;
  return words;
}

/* Whether some op reads windows of the tensor. */
static bool has_windows(const tf_workload *wl, int z) {
  bool has = false;
  for (int o = 0; o < wl->n_ops; o++)
    for (int i = 0; i < wl->ops[o].n_reads; i++)
      for (int r = 0; r < wl->tensors[z].rank && wl->ops[o].reads[i].tensor == z; r++)
        has |= wl->ops[o].reads[i].index[r].n_terms > 1;
  return has;
}

/* Words that the model counts where a running sum is corrected for the first time, which has not
 * been made yet. */
static int64_t not_made(const test_case *e, int z, int level) {
  const tf_plan *p = e->model->plan;
  const int o = p->wl->tensors[z].producer;
  if (o < 0 || p->stream_scope[o] < 0 || p->stream[o].above != level ||
      p->wl->ops[o].reduce != TF_REDUCE_ADD)
    return 0;
  return e->model->rescaled[2 * o + 1];
}

/* The levels between which nothing computes: what leaves is read and drained, what comes is filled
 * and updated. Windows become rows of a matrix on their way to the cube: what passes there are the
 * matrix's words, not the box's. */
static bool words_agree(const test_case *e, const tf_npu_result *r, const char *memory, int level,
                        bool innermost) {
  const tf_workload *wl = e->spec->workload;
  bool ok = true;
  for (int z = 0; z < wl->n_tensors; z++) {
    const tf_counts *c = &e->r.counts[level * wl->n_tensors + z];
    const char *name = wl->tensors[z].name;
    const int64_t less = not_made(e, z, level);
    const int64_t out = innermost ? c->drain : c->read + c->drain - less,
                  in = innermost ? c->fill : c->fill + c->update - less;
    const bool spread = level > 0 && has_windows(wl, z);
    const bool same = (spread || flow(r, memory, name, true) == out) &&
                      ((spread && innermost) || flow(r, memory, name, false) == in);
    if (!same)
      printf("%s of %s: out %lld, model %lld; in %lld, model %lld\n", memory, name,
             (long long)flow(r, memory, name, true), (long long)out,
             (long long)flow(r, memory, name, false), (long long)in);
    ok = ok && same;
  }
  return ok;
}

/* ---- flags ---------------------------------------------------------------------------------- */
/* The program without its k-th wait, and the set that it is for; NULL: there are not so many. */
static tf_npu *without(const tf_npu *p, size_t k) {
  size_t at = 0, n = 0;
  for (; at < p->n && (p->instr[at].op != NPU_WAIT || n++ < k); at++) {
  }
  if (at == p->n) return NULL;
  const npu_instr *wait = &p->instr[at];
  int nth = 0;
  for (size_t i = 0; i < at; i++)
    nth += p->instr[i].op == NPU_WAIT && p->instr[i].queue == wait->queue &&
           p->instr[i].flag.to == wait->flag.to;
  tf_npu *less = npu_new();
  npu_copy_head(less, p);
  for (size_t i = 0; i < p->n; i++) {
    const npu_instr *s = &p->instr[i];
    const bool its =
        s->op == NPU_SET && s->queue == wait->queue && s->flag.to == wait->flag.to && nth-- == 0;
    if (i != at && !its) *npu_add(less, s->op) = *s;
  }
  return less;
}

void plant(const test_case *e, const tf_npu *p, uint64_t seed, tally *t) {
  size_t waits = 0;
  for (size_t i = 0; i < p->n; i++)
    waits += p->instr[i].op == NPU_WAIT;
  tf_rng lot = tf_rng_new(seed, 80);
  for (size_t k = tf_rng_below(&lot, 7); k < waits; k += 1 + waits / 3) {
    tf_npu *less = without(p, k);
    tf_diags *d = tf_diags_new();
    tf_npu_result r;
    const bool ok = tf_npu_run(less, NULL, NULL, &r, d);
    t->planted++;
    t->found += !ok;
    if (ok) printf("seed %llu: flag %zu is not missed\n", (unsigned long long)seed, k);
    tf_npu_result_free(&r);
    tf_npu_free(less);
    tf_diags_free(d);
  }
  (void)e;
}

/* ---- cases ---------------------------------------------------------------------------------- */
static bool text_again(const tf_npu *p, tf_diags *d) {
  char *once = tf_npu_text(p);
  const tf_text text = {"kernel.npu", once, strlen(once)};
  tf_npu *same = tf_npu_read(&text, d);
  char *twice = same ? tf_npu_text(same) : NULL;
  const bool ok = twice && !strcmp(once, twice);
  tf_npu_free(same);
  free(once);
  free(twice);
  return ok;
}

/* Whether the terms make up the cycles, and the queue that they name works as long as it does in
 * the simulator. */
static bool terms_agree(const npu_terms *t, const tf_npu *p, const tf_npu_result *r) {
  bool ok = fabs(t->fill + t->busy + t->stall + t->drain - t->cycles) <= 1e-6 * t->cycles;
  for (int q = 0; q < r->n_queues; q++)
    if (!strcmp(r->queues[q].queue, p->machine.queue[t->queue]))
      ok = ok && fabs(t->busy / r->queues[q].busy - 1) < 0.15;
  return ok;
}

/* What is kept of predictions is what would be predicted, as far as the limit of cycles. */
static void check_kept(test_case *e, const npu_terms *terms) {
  const double share[] = {0.5, 1, INFINITY, 2, 0.25};
  tf_emit_memo *memo = tf_emit_memo_new();
  for (size_t i = 0; memo && i < sizeof share / sizeof *share; i++) {
    npu_terms kept, made;
    const npu_limits most = {share[i] * terms->cycles, i % 2 ? NPU_LONGEST : INFINITY};
    const bool ok = npu_predict_once(memo, e->tree, most, &kept, e->d);
    CHECK(npu_predict(e->tree, most, &made, e->d) == ok);
    CHECK(made.cycles <= most.cycles ? kept.cycles == made.cycles && kept.work == made.work
                                     : kept.cycles > most.cycles);
  }
  tf_emit_memo_free(memo);
}

/* Tiles that slots speak for: the program is right and ends sooner than that of the mapping, after
 * so many cycles, or is that one; and once they stand they stay. */
static void check_settled(test_case *e, double cycles, tally *t) {
  char *said = NULL, *again = NULL;
  npu_terms before, after;
  tf_npu_result r = {0};
  tf_tree *tree = npu_settle(e->tree, NULL, &said, e->d),
          *twice = tree ? npu_settle(tree, NULL, &again, e->d) : NULL;
  tf_npu *p = tree ? npu_compile(tree, e->d) : NULL;
  CHECK(p && twice && run_values(e, p, &r, 1e-4));
  CHECK(tree && npu_predict(e->tree, NPU_UNLIMITED, &before, e->d) &&
        npu_predict(tree, NPU_UNLIMITED, &after, e->d) && after.cycles <= before.cycles);
  const bool stands = said && strstr(said, "they stand"),
             back = said && strstr(said, "the first stay");
  const bool moved = said && strstr(said, "2. ") && !back;
  CHECK(p && (moved ? npu_clock_program(p, e->d) < cycles : npu_clock_program(p, e->d) == cycles));
  CHECK(!stands || !moved || after.cycles < before.cycles);
  CHECK(
      !stands || back ||
      (again && !strncmp(again, "1. ", 3) && strstr(again, "they stand") && !strstr(again, "2. ")));
  t->settled += moved;
  if (p) tf_npu_result_free(&r);
  tf_npu_free(p);
  tf_tree_free(tree), tf_tree_free(twice);
  free(said), free(again);
}

static void check_case(test_case *e, uint64_t seed, tally *t, bool loud) {
  tf_npu_result r = {0};
  tf_npu *p = e->tree ? npu_compile(e->tree, e->d) : NULL;
  t->cases++;
  if (!p) {
    t->refused++;
    if (loud) case_complain(e->d);
    return;
  }
  tf_npu *rolled = npu_roll(p);
  bool ok = CHECK(rolled && roll_is_same(rolled, p)) && text_again(rolled, e->d) &&
            run_values(e, rolled, &r, 1e-4);
  t->flat += p->n;
  t->rolled += rolled ? rolled->n : 0;
  ok = words_agree(e, &r, "GM", 0, false) && ok;
  /* within a step that a mask does not leave out whole, the program leaves out nothing */
  if (!e->model->plan->skips)
    ok = words_agree(e, &r, "L1", 1, false) && words_agree(e, &r, "L0", 3, true) && ok;
  if (!CHECK(ok) || loud) {
    printf("seed %llu: %g cycles, model %g\n", (unsigned long long)seed, r.cycles, e->r.cycles);
    case_complain(e->d);
  }
  npu_terms terms;
  CHECK(npu_predict(e->tree, NPU_UNLIMITED, &terms, e->d) && terms_agree(&terms, p, &r));
  const double late = r.cycles / e->r.cycles - 1, off = r.cycles / terms.cycles - 1;
  /* no flag makes anybody wait for longer than what it is for */
  CHECK(fabs(r.cycles / npu_clock_program(p, e->d) - 1) < 1e-9);
  CHECK(fabs(npu_whole_cycles(e->tree, e->d) / npu_clock_program(p, e->d) - 1) < 1e-9);
  check_kept(e, &terms);
  if (loud)
    printf("beside the model's %+.1f %%, beside those expected %+.2f %%\n", 100 * late, 100 * off);
  const bool flows = !stalls(&r);
  note(&t->model[flows], late);
  note(&t->expected[flows], off);
  plant(e, p, seed, t);
  if (seed % 3 == 0) check_settled(e, npu_clock_program(p, e->d), t);
  tf_npu_result_free(&r);
  tf_npu_free(rolled);
  tf_npu_free(p);
}

static void text_case(const char *text, uint64_t seed, tally *t, bool loud) {
  test_case e = {.d = tf_diags_new()};
  case_read(&e, text);
  if (e.model) tf_model_eval(e.model, NULL, &e.r);
  if (!CHECK(e.model)) {
    printf("seed %llu\n%s\n", (unsigned long long)seed, text);
    case_complain(e.d);
  } else if (e.r.feasible) {
    check_case(&e, seed, t, loud);
  }
  tf_model_free(e.model);
  tf_tree_free(e.tree);
  tf_spec_free(e.spec);
  tf_diags_free(e.d);
}

static void draw_case(uint64_t seed, tally *t, bool loud) {
  static char text[8192];
  draw_npu(seed, text, sizeof text);
  if (loud) puts(text);
  text_case(text, seed, t, loud);
}

/* Rows that the border clips less from step to step: the image's tile is largest in the third, not
 * at either end. */
static const char clipped[] =
    "architecture:\n  name: clipped\n  word-bits: 32\n  memories:\n"
    "  - {name: GM, bandwidth: {read: 32, write: 32}}\n"
    "  - {name: L1, capacity: 256 KiB, bandwidth: {read: 256}}\n"
    "  - {name: UB, capacity: 256 KiB, bandwidth: {read: 64}}\n" NPU_CUBE
    "  - {name: vector, below: UB, mesh: [64, 1], rate: 1, ops: [add]}\n"
    "workload:\n  name: conv\n  dims: {k: 16, p: 10, q: 16, c: 16, r: 5}\n  tensors:\n"
    "    I: {pad: [0, 2, 0], shape: [16, 10, 16]}\n  ops:\n"
    "  - O[k,p,q] += I[c, p + r - 2, q] * F[k,c,r]\n"
    "mapping: |\n  GM for p=10\n    L1 for r=5\n      L0 spatial q=16@x k=16@y c=16@x\n"
    "        op O\n";

/* Steps that read padding alone, and leave nothing for those that follow. */
static const char beside[] =
    "architecture:\n  name: beside\n  word-bits: 32\n  memories:\n"
    "  - {name: GM, bandwidth: {read: 32, write: 32}}\n"
    "  - {name: L1, capacity: 256 KiB, bandwidth: {read: 256}}\n"
    "  - {name: UB, capacity: 256 KiB, bandwidth: {read: 64}}\n" NPU_CUBE
    "  - {name: vector, below: UB, mesh: [64, 1], rate: 1, ops: [add]}\n"
    "workload:\n  name: conv\n  dims: {k: 16, p: 2, q: 64, c: 16, r: 2, s: 3}\n  tensors:\n"
    "    I: {pad: [0, 1, 1], shape: [16, 1, 127]}\n  ops:\n"
    "  - O[k,p,q] += I[c, p + r - 1, 2*q + s - 1] * F[k,c,r,s]\n"
    "mapping: |\n  GM for q=2 r=2 p=2\n    L1 bypass O\n"
    "      L0 for q=2 s=3 spatial q=16@x k=16@y c=16@x\n"
    "        op O\n";

/* Of the blocks of rows only the third sees two blocks of keys, so that its sums alone are
 * corrected. */
static const char third[] =
    "architecture:\n  name: third\n  word-bits: 32\n  memories:\n"
    "  - {name: GM, bandwidth: {read: 32, write: 32}}\n"
    "  - {name: L1, capacity: 256 KiB, bandwidth: {read: 256}}\n"
    "  - {name: UB, capacity: 256 KiB, bandwidth: {read: 64}}\n" NPU_CUBE
    "  - {name: vector, ops: [add, sub, mul, div, max, exp, select], below: UB, mesh: [64, 1], "
    "rate: 1}\n"
    "workload:\n  name: window\n  dims: {m: 64, l: 64, k: 16, n: 16}\n  ops:\n"
    "  - S[m,l] += Q[m,k] * K[l,k]\n"
    "  - T[m,l] = select(l <= m and m - l < 8, S[m,l], -inf)\n  - X[m] max= T[m,l]\n"
    "  - P[m,l] = exp(T[m,l] - X[m])\n  - D[m] += P[m,l]\n  - R[m,l] = P[m,l] / D[m]\n"
    "  - O[m,n] += R[m,l] * V[l,n]\n"
    "mapping: |\n  GM for m=4 l=2\n    L1\n"
    "      Seq stream X D O keep S@UB T@UB X@UB P@UB D@UB R@L1\n"
    "        L1 for l=2\n          UB bypass Q K\n"
    "            L0 spatial m=16@x l=16@y k=16@x\n              op S\n"
    "        UB for m=16 l=2 spatial l=16@x\n          op T\n"
    "        UB for m=16 l=2 spatial l=16@x\n          op X\n"
    "        UB for m=16 l=2 spatial l=16@x\n          op P\n"
    "        UB for m=16 l=2 spatial l=16@x\n          op D\n"
    "        UB for m=16 l=2 spatial l=16@x\n          op R\n"
    "        L1 for l=2\n          L0 spatial m=16@x n=16@y l=16@x\n            op O\n";

/* Loops of more steps than the clock looks at. */
static const char steps[] =
    "architecture:\n  name: steps\n  word-bits: 32\n  overlap: double-buffer\n  memories:\n"
    "  - {name: GM, bandwidth: {read: 32, write: 32}}\n"
    "  - {name: L1, capacity: 256 KiB, bandwidth: {read: 256}}\n"
    "  - {name: UB, capacity: 256 KiB, bandwidth: {read: 64}}\n" NPU_CUBE
    "  - {name: vector, below: UB, mesh: [64, 1], rate: 1, ops: [add]}\n"
    "workload:\n  name: product\n  dims: {m: 330, n: 30, k: 230}\n  ops:\n"
    "  - C[m,n] += A[m,k] * B[k,n]\n"
    "mapping: |\n  GM for m=21\n    L1 for n=2 k=15\n"
    "      L0 spatial m=16@x n=16@y k=16@x\n        op C\n";

/* Rows of which one child makes all but the last element, another that one, which begins where
 * operands may: neither waits for the other. */
static const char ends[] =
    "architecture:\n  name: ends\n  word-bits: 32\n  overlap: double-buffer\n  memories:\n"
    "  - {name: GM, bandwidth: {read: 32, write: 32}}\n"
    "  - {name: L1, capacity: 512 KiB, bandwidth: {read: 64}}\n"
    "  - {name: UB, capacity: 256 KiB, bandwidth: {read: 64}}\n" NPU_CUBE
    "  - {name: vector, below: UB, mesh: [64, 1], rate: 1, ops: [add]}\n"
    "workload:\n  name: conv\n  dims: {n: 4, k: 32, p: 2, q: 17, c: 32, r: 1, s: 3}\n  tensors:\n"
    "    I: {pad: [0, 0, 0, 2], shape: [4, 32, 2, 31]}\n  ops:\n"
    "  - O[n,k,p,q] += I[n, c, p + r, 2*q + s - 2] * F[r,s,k,c]\n"
    "mapping: |\n  GM for p=2 n=2\n    L1 for s=3 n=2 c=2 k=2 q=2\n"
    "      L0 for n=1 spatial q=16@x k=16@y c=16@x\n"
    "        op O\n";

static int farther(const void *a, const void *b) {
  const double x = fabs(*(const double *)a), y = fabs(*(const double *)b);
  return (x > y) - (x < y);
}

/* The one of them that is farthest off; *sum: of all, without signs. */
static double spread(errors *e, const char *what, double *sum) {
  if (!e->n) return 0;
  double all = 0;
  qsort(e->off, (size_t)e->n, sizeof *e->off, farther);
  for (int i = 0; i < e->n; i++)
    all += fabs(e->off[i]);
  *sum += all;
  printf("  %4d programs, %s: %6.2f %% on average, median %6.2f %%, nine of ten within %6.2f %%, "
         "worst %7.2f %%\n",
         e->n, what, 100 * all / e->n, 100 * fabs(e->off[e->n / 2]),
         100 * fabs(e->off[(e->n * 9 + 9) / 10 - 1]), 100 * e->off[e->n - 1]);
  return fabs(e->off[e->n - 1]);
}

static int report(tally *t) {
  static const char *const kinds[] = {"the busiest queue stalls", "it never stalls"};
  double off = 0, late = 0, worst = 0;
  printf("%d cases, %d refused, %d with better tiles; %d flags left out, %d found; %zu "
         "instructions in %zu lines\n"
         "Cycles beside those expected\n",
         t->cases, t->refused, t->settled, t->planted, t->found, t->flat, t->rolled);
  for (int k = 0; k < 2; k++)
    worst = fmax(worst, spread(&t->expected[k], kinds[k], &off));
  puts("Cycles beside the model's");
  for (int k = 0; k < 2; k++)
    spread(&t->model[k], kinds[k], &late);
  const int ran = t->cases - t->refused;
  printf("all %d: beside those expected %.2f %% on average, %.2f %% at worst; beside the model's "
         "%.1f %%\n",
         ran, 100 * off / ran, 100 * worst, 100 * late / ran);
  CHECK_I64(t->found, t->planted);
  CHECK(t->refused * 5 < t->cases);
  if (t->cases >= 40) CHECK(t->settled > 0);
  CHECK(worst < 0.15 && off < 0.01 * ran);
  return check_report();
}

int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "--plans"))
    return plans(argc > 2 ? strtoul(argv[2], NULL, 10) : SIZE_MAX);
  if (argc == 3 && !strcmp(argv[1], "--vectors")) return vectors(atoi(argv[2])), check_report();
  static tally t;
  int cases = 40, from = 0;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!strcmp(argv[i], "--cases")) cases = atoi(argv[i + 1]);
    if (!strcmp(argv[i], "--from")) from = atoi(argv[i + 1]);
    if (!strcmp(argv[i], "--one")) {
      draw_case((uint64_t)atoll(argv[i + 1]), &t, true);
      return check_report();
    }
  }
  for (int s = from; s < from + cases; s++)
    draw_case((uint64_t)s, &t, false);
  if (!from) text_case(clipped, 0, &t, false);
  if (!from) text_case(beside, 0, &t, false);
  if (!from) text_case(third, 0, &t, false);
  if (!from) text_case(steps, 0, &t, false);
  if (!from) text_case(ends, 0, &t, false);
  if (!from) CHECK(roll_check(400));
  return report(&t);
}
