/* Masked trees of many steps and instances: the walk that fast-forwards
 * (model/cost/exact/fast_forward.h) and takes one instance of a kind (model/flow/kinds.h) against
 * the walk of every step of every instance, to the last bit of every figure. */
#include "base/rng.h"
#include "model/cost/state.h"
#include "tests/unit/case.h"
#include "tests/unit/page.h"

typedef enum { FREELY, REPEATING, STEPPING } way;

/* A walk that reports its entries one by one walks all of them. */
static void ignore(struct tf_model *m, int i, const tf_move *v) { (void)m, (void)i, (void)v; }

static test_case evaluate(const char *text, way how) {
  test_case e = {0};
  case_read(&e, text);
  if (!e.model) return e;
  e.model->plan->irregular |= how != FREELY;
  if (how == STEPPING) e.model->note = ignore;
  case_evaluate(&e);
  return e;
}

static int pick(tf_rng *g, int lo, int hi) {
  return lo + (int)tf_rng_below(g, (uint32_t)(hi - lo + 1));
}

/* Causal, offset, bands of any width, either way round. */
static void condition(tf_rng *g, page *p) {
  const int c = pick(g, -3, 9), w = pick(g, 1, 20);
  switch (pick(g, 0, 4)) {
  case 0: say(p, "l <= m + %d", c < 0 ? 0 : c); return;
  case 1: say(p, "m <= l + %d", c < 0 ? 0 : c); return;
  case 2: say(p, "l <= m and m - l < %d", w); return;
  case 3: say(p, "m - l < %d and l - m < %d", w, pick(g, 1, 12)); return;
  default: say(p, "l <= m"); return;
  }
}

enum { WIDE = 9 }; /* sides of a mesh */

/* A Tile line with loops over m, l and n, of which some are spatial; divides what is left of each
 * extent. */
static void tile(tf_rng *g, page *p, int indent, int level, int left[3], bool last) {
  static const char dim[3] = {'m', 'l', 'n'};
  char spatial[64] = "";
  bool any = false;
  const int turn = pick(g, 0, 2);
  say(p, "  %*sL%d", indent, "", level);
  for (int i = 0; i < 3; i++) {
    const int d = (turn + i) % 3, trip = last ? left[d] : pick(g, 0, 2) ? pick(g, 1, left[d]) : 1;
    left[d] = (left[d] + trip - 1) / trip;
    if (trip == 1) continue;
    if (trip <= WIDE && pick(g, 0, 2) == 0 && (!*spatial || !strchr(spatial, 'y'))) {
      const size_t at = strlen(spatial);
      snprintf(spatial + at, sizeof spatial - at, "%s %c=%d@%c", at ? "" : " spatial", dim[d], trip,
               at ? 'y' : 'x');
      continue;
    }
    say(p, "%s %c=%d", any ? "" : " for", dim[d], trip);
    any = true;
  }
  say(p, "%s\n", spatial);
}

/* The op's own Tiles, of the whole of what is left of each dim; `wide` instances share l or m. */
static void own(tf_rng *g, page *p, int indent, const int left[3], bool has_n, const char *op,
                int wide) {
  int of[2] = {left[0], left[1]};
  const int d = pick(g, 0, 1);
  if (wide > 1) {
    of[d] = (of[d] + wide - 1) / wide;
    say(p, "  %*sL1 spatial %c=%d@x\n", indent, "", "ml"[d], wide);
    indent += 2;
  }
  say(p, "  %*sL2 for m=%d l=%d", indent, "", of[0], of[1]);
  if (has_n) say(p, " n=%d", left[2]);
  say(p, "\n  %*sop %s\n", indent + 2, "", op);
}

static void draw(tf_rng *g, page *p) {
  const int wide = pick(g, 0, 1) ? pick(g, 2, WIDE) : 1, m = pick(g, 2, 40),
            l = pick(g, 0, 2) ? m : pick(g, 2, 40), n = pick(g, 1, 6);
  const bool by_rows = pick(g, 0, 1); /* what is summed: over l, or over m */
  int left[3] = {m, l, n};
  const char *const scopes[] = {"Seq", "Shar", "Pipe"}, *const overlaps[] = {
                                                            "perfect", "double-buffer", "none"};
  say(p, "architecture:\n  overlap: %s\n  memories:\n  - {name: L0, bandwidth: %d}\n",
      overlaps[pick(g, 0, 2)], pick(g, 1, 9));
  for (int i = 1; i <= 2; i++)
    say(p, "  - {name: L%d, mesh: [%d, %d], bandwidth: %d, network: {multicast: %s, reduce: %s}}\n",
        i, WIDE, WIDE, pick(g, 1, 9), pick(g, 0, 2) ? "true" : "false",
        pick(g, 0, 2) ? "true" : "false");
  say(p, "  compute:\n  - {name: u, ops: [mac, max, exp, add, sub, mul, select]}\n");
  say(p, "workload:\n  name: w\n  dims: {m: %d, l: %d, n: %d}\n  ops:\n  ", m, l, n);
  if (pick(g, 0, 5)) {
    say(p, "- \"T[m,l] = select(");
    condition(g, p);
    say(p, ", S[m,l], -inf)\"\n");
  } else {
    say(p, "- \"T[m,l] = S[m,l] * 2\"\n");
  }
  say(p, "  - \"E[m,l] = exp(T[m,l])\"\n");
  say(p, by_rows ? "  - \"O[m,n] += E[m,l] * V[l,n]\"\n" : "  - \"O[l,n] += E[m,l] * V[m,n]\"\n");
  say(p, "mapping: |\n");
  const int outer = pick(g, 1, 3);
  for (int i = 0; i < outer; i++)
    tile(g, p, 2 * i, i < 2 ? i : 1, left, false);
  say(p, "  %*s%s\n", 2 * outer, "", scopes[pick(g, 0, 2)]);
  own(g, p, 2 * outer + 2, left, false, "T", wide);
  own(g, p, 2 * outer + 2, left, false, "E", wide);
  own(g, p, 2 * outer + 2, left, true, "O", pick(g, 0, 1) ? wide : 1);
}

static bool same(const test_case *a, const test_case *b) {
  const tf_workload *wl = a->spec->workload;
  const size_t n = (size_t)wl->n_tensors * (size_t)a->spec->arch->n_memories;
  bool alike = !memcmp(a->r.counts, b->r.counts, n * sizeof *a->r.counts) &&
               !memcmp(&a->r.cycles, &b->r.cycles, sizeof a->r.cycles) &&
               !memcmp(&a->r.energy_pj, &b->r.energy_pj, sizeof a->r.energy_pj);
  for (int o = 0; o < wl->n_ops && alike; o++)
    alike = a->r.ops[o].points == b->r.ops[o].points && a->r.ops[o].skipped == b->r.ops[o].skipped;
  for (int k = 0; k < a->tree->n_nodes && alike; k++)
    alike = a->r.nodes[k].runs == b->r.nodes[k].runs;
  return alike;
}

/* test_band [CASES] */
int main(int argc, char **argv) {
  const uint64_t cases = argc > 1 ? strtoull(argv[1], NULL, 10) : 150;
  uint64_t counted = 0, repeated = 0, skipped = 0, kinds = 0;
  for (uint64_t seed = 1; seed <= cases; seed++) {
    tf_rng g = tf_rng_new(seed, 7);
    page p = {.len = 0};
    draw(&g, &p);
    test_case all = evaluate(p.text, STEPPING), fast = evaluate(p.text, REPEATING),
              any = evaluate(p.text, FREELY);
    counted += all.ok;
    repeated += all.ok && fast.ok && fast.model->ev.work < all.model->ev.work;
    kinds += all.ok && fast.ok && 2 * fast.model->walked < all.model->walked;
    skipped += all.ok && all.r.ops[0].skipped > 0;
    if (!CHECK(all.ok == fast.ok && all.ok == any.ok &&
               (!all.ok || (same(&all, &fast) && (!any.model->ev.irregular || same(&all, &any))))))
      printf("seed %llu:\n%s\n", (unsigned long long)seed, p.text);
    case_drop(&all);
    case_drop(&fast);
    case_drop(&any);
  }
  if (argc > 1)
    printf("counted %llu repeated %llu skipped %llu short %llu\n", (unsigned long long)counted,
           (unsigned long long)repeated, (unsigned long long)skipped, (unsigned long long)kinds);
  CHECK(counted > cases / 4 && repeated > counted / 2 && skipped > counted / 4 &&
        kinds > counted / 4);
  return check_report();
}
