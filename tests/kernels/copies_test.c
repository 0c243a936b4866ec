/* What the interpreter counts against what the model counts, on random trees of the oracle's
 * generator and on random products. copies_test [--cases N] [--seed S] [--one SEED] */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/backend/target.h"
#include "tests/kernels/draw.h"
#include "tests/kernels/whole.h"
#include "tileflow/model.h"
#include "tileflow/tree.h"

typedef struct {
  long equal, wrong, outside, retaining; /* retaining: equal, and something was kept */
  int64_t copied, ahead;                 /* tiles */
  bool show;
} session;

/* ---- points: the class --------------------------------------------------------------------------
 * Every element that a point touches passes through the memory that holds it: so, summed over the
 * levels, reads that serve points are reads less fills, and updates by points are updates less
 * drains, where no network makes one of several. */

static void networks_off(tf_arch *a, uint64_t seed) {
  (void)seed;
  for (int l = 0; l < a->n_memories; l++)
    a->memories[l].multicast = a->memories[l].reduce = false;
  for (int u = 0; u < a->n_units; u++)
    a->units[u].multicast = a->units[u].reduce = false;
}

static bool streams(const tf_tree *t) {
  for (int n = 0; n < t->n_nodes; n++)
    if (t->nodes[n].kind == TF_SCOPE && t->nodes[n].n_stream) return true;
  return false;
}

static bool below(const tf_tree *t, int n, int op) {
  return n <= t->op_node[op] && t->op_node[op] < t->nodes[n].end;
}

/* Whether a retained tensor has readers in the branch of its maker, which then makes all that they
 * need, each time. */
static bool follows_readers(const tf_tree *t) {
  bool any = false;
  for (int n = 0; n < t->n_nodes; n++)
    for (int i = 0; t->nodes[n].kind == TF_SCOPE && i < t->nodes[n].n_retain; i++) {
      const tf_tensor *z = &t->workload->tensors[t->nodes[n].retain[i].tensor];
      for (int c = 0; c < t->nodes[n].n_children; c++)
        for (int k = 0; k < z->n_consumers; k++)
          any |= below(t, t->nodes[n].children[c], z->producer) &&
                 below(t, t->nodes[n].children[c], z->consumers[k]);
    }
  return any;
}

static bool reduces(const tf_op *op, int dim) {
  for (int k = op->n_out_dims; k < op->n_dims; k++)
    if (op->dims[k] == dim) return true;
  return false;
}

/* Whether a loop spreads a sum of an op below over instances of a memory: each then starts its own,
 * without a read. */
static bool spreads_sum(const tf_tree *t, const tf_result *r) {
  for (int n = 0; n < t->n_nodes; n++)
    for (int k = 0; t->nodes[n].kind == TF_TILE && k < t->nodes[n].n_loops; k++)
      for (int i = n; t->nodes[n].loops[k].axis != TF_TEMPORAL && i < t->nodes[n].end; i++) {
        if (t->nodes[i].kind != TF_OP ||
            !reduces(&t->workload->ops[t->nodes[i].op], t->nodes[n].loops[k].dim))
          continue;
        if (t->nodes[n].level < t->arch->units[r->ops[t->nodes[i].op].unit].below) return true;
      }
  return false;
}

static bool counts_equal(const tf_tree *t, const tf_result *r, const ir_program *p,
                         const ir_counts *c, bool show) {
  const tf_workload *wl = t->workload;
  bool same = true;
  for (int o = 0; o < wl->n_ops; o++)
    same &= r->ops[o].points == c->points[o];
  if (show)
    for (int o = 0; o < wl->n_ops; o++)
      printf("%s: %" PRId64 " points, model %" PRId64 "\n", wl->ops[o].name, c->points[o],
             r->ops[o].points);
  for (int z = 0; z < wl->n_tensors; z++) {
    int64_t read = 0, written = 0;
    for (int l = 0; l < t->arch->n_memories; l++) {
      const tf_counts *k = &r->counts[l * wl->n_tensors + z];
      read += k->read - k->fill;
      written += k->update - k->drain;
    }
    const ir_count *b = &c->buffer[p->buffer_of[z]];
    if (show)
      printf("%s: read %" PRId64 ", model %" PRId64 "; written %" PRId64 ", model %" PRId64 "\n",
             wl->tensors[z].name, b->read, read, b->written, written);
    same &= b->read == read && b->written == written;
  }
  return same;
}

/* A tree lowered and run, and what that counted. */
typedef struct {
  ir_program *p;
  ir_counts c;
  bool ok;
} counted;

static counted run_counted(const tf_tree *t, const lower_target *target, tf_diags *d, bool show) {
  counted r = {.p = lower_kernel(t, target, NULL, d)};
  double **data = whole_new(t->workload);
  r.c.buffer = calloc(r.p ? (size_t)r.p->n_buffers + 1 : 1, sizeof *r.c.buffer);
  r.c.points = calloc((size_t)t->workload->n_ops + 1, sizeof *r.c.points);
  if (r.p && show) ir_dump(stdout, r.p);
  r.ok = r.p && data && r.c.buffer && r.c.points && ir_run(r.p, data, &r.c);
  whole_free(t->workload, data);
  return r;
}

static void counted_free(counted *r) {
  free(r->c.buffer);
  free(r->c.points);
  ir_free(r->p);
}

static bool points_equal(session *s, const tf_tree *t, const tf_result *r, tf_diags *d) {
  counted k = run_counted(t, &tf_target_model.lower, d, s->show);
  const bool same = k.ok && counts_equal(t, r, k.p, &k.c, s->show);
  bool keeps = false;
  for (int i = 0; same && i < k.p->n_buffers; i++)
    keeps |= k.c.buffer[i].kept > 0;
  s->retaining += keeps;
  counted_free(&k);
  return same;
}

/* What is counted of trees of a class, on machines that are changed before. */
typedef struct {
  void (*change)(tf_arch *a, uint64_t seed);
  bool (*in)(const tf_tree *t, const tf_result *r);
  bool (*equal)(session *s, const tf_tree *t, const tf_result *r, tf_diags *d);
} comparison;

static void compare(session *s, uint64_t seed, const comparison *by) {
  drawn c;
  draw(&c, seed);
  tf_model *m = NULL;
  tf_result r;
  if (c.tree) by->change((tf_arch *)(uintptr_t)c.tree->arch, seed);
  bool in = c.tree && draw_can_emit(&c) && !follows_readers(c.tree) &&
            (m = tf_model_new(c.tree, c.diags)) != NULL && tf_model_eval(m, NULL, &r) &&
            by->in(c.tree, &r);
  if (!in)
    s->outside++;
  else if (by->equal(s, c.tree, &r, c.diags))
    s->equal++;
  else if (s->wrong++ < 5)
    draw_print(&c, seed);
  tf_model_free(m);
  draw_close(&c);
}

static bool counts_right(const tf_tree *t, const tf_result *r) {
  return !streams(t) && !spreads_sum(t, r);
}

static void one(void *ctx, uint64_t seed) {
  static const comparison by = {networks_off, counts_right, points_equal};
  compare(ctx, seed, &by);
}

/* ---- copies: products whose operand is laid out anew for each tile ------------------------------
 * A product with a panel that has to be packed, or with weights that have to be turned, in tiles of
 * a memory M.  Each copy is then a fill of M: the boxes of two steps are the same (then neither
 * copies) or have nothing in common (then both take all of it). */

static char *write_product(tf_rng *g, const char **tensor) {
  static const char machine[] = "architecture:\n  name: a\n  clock: 1 GHz\n  word-bits: 32\n"
                                "  memories:\n  - {name: D, bandwidth: 4}\n"
                                "  - {name: M, capacity: 36 KiB, bandwidth: 8}\n  compute:\n"
                                "  - {name: u, ops: [mac], below: M}\n";
  enum { ROOM = 2048 };
  char *text = malloc(ROOM);
  int64_t trip[3], step[3]; /* m, n, k */
  for (int i = 0; i < 3; i++)
    trip[i] = 2 + (int64_t)tf_rng_below(g, 2);
  /* The panel fits half of M (4608 words) as a tile of n and k, and not in one of them alone. */
  bool convolution = tf_rng_below(g, 2);
  step[0] = 1 + (int64_t)tf_rng_below(g, 6);
  step[1] = (convolution ? 130 : 125) / trip[1];
  step[2] = 120 / trip[2];
  int order = (int)tf_rng_below(g, convolution ? 2 : 6);
  static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                   {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  if (!text) abort();
  int at =
      snprintf(text, ROOM,
               "%sworkload:\n  name: w\n  dims: {m: %d, n: %d, k: %d%s}\n  ops:\n  - %s\n"
               "mapping: |\n  D for",
               machine, (int)(trip[0] * step[0]), (int)(trip[1] * step[1]),
               (int)(trip[2] * step[2]), convolution ? ", r: 3" : "",
               convolution ? "\"O[m,n] += W[m,k,r] * I[k,n+r]\"" : "\"O[m,n] += A[m,k] * B[n,k]\"");
  for (int i = 0; i < 3; i++)
    at += snprintf(text + at, (size_t)(ROOM - at), " %c=%d", "mnk"[orders[order][i]],
                   (int)trip[orders[order][i]]);
  snprintf(text + at, (size_t)(ROOM - at), "\n    M for m=%d n=%d k=%d%s\n      op O\n",
           (int)step[0], (int)step[1], (int)step[2], convolution ? " r=3" : "");
  *tensor = convolution ? "W" : "B";
  return text;
}

/* ---- tiles of inputs
 * ---------------------------------------------------------------------------------------------
 * Where a target's memories are filled by copies, the words that IR_STAGE brings into each are the
 * model's fills.  In the class: one instance of each memory, scopes that run their children in
 * turn. */

static bool one_instance(const tf_tree *t) {
  bool one = true;
  for (int n = 0; n < t->n_nodes; n++) {
    for (int k = 0; t->nodes[n].kind == TF_TILE && k < t->nodes[n].n_loops; k++)
      one &= t->nodes[n].loops[k].axis == TF_TEMPORAL || t->nodes[n].loops[k].trip == 1;
    one &= t->nodes[n].kind != TF_SCOPE ||
           (t->nodes[n].n_stream == 0 &&
            (t->nodes[n].scope == TF_SEQ || t->nodes[n].scope == TF_SHAR));
  }
  return one;
}

static bool fills_equal(const tf_tree *t, const tf_result *r, const ir_program *p,
                        const ir_counts *c, bool show, session *s) {
  const int nt = t->workload->n_tensors;
  bool same = true;
  for (int i = 0; i < p->n_buffers; i++) {
    const ir_buffer *b = &p->buffers[i];
    if (b->role != IR_TILES) continue;
    const int64_t fill = r->counts[b->level * nt + b->tensor].fill;
    if (show)
      printf("%s in %s: copied %" PRId64 " (%" PRId64 " ahead), filled %" PRId64 "\n", b->name,
             t->arch->memories[b->level].name, c->buffer[i].copied, c->buffer[i].ahead, fill);
    same &= c->buffer[i].copied == fill;
    s->copied += c->buffer[i].copied, s->ahead += c->buffer[i].ahead;
  }
  return same;
}

static bool staged_equal(session *s, const tf_tree *t, const tf_result *r, tf_diags *d, int depth) {
  lower_target target = tf_target_staged.lower;
  target.depth = depth;
  counted k = run_counted(t, &target, d, s->show);
  const bool same = k.ok && fills_equal(t, r, k.p, &k.c, s->show, s);
  counted_free(&k);
  return same;
}

/* One case in two has two halves everywhere. */
static void halve(tf_arch *a, uint64_t seed) {
  for (int l = 0; l < a->n_memories; l++)
    ((tf_memory *)(uintptr_t)a->memories)[l].double_buffered |= draw_lot(seed, "halves", 2) != 0;
}

static bool fills_right(const tf_tree *t, const tf_result *r) { return (void)r, one_instance(t); }

static bool both_equal(session *s, const tf_tree *t, const tf_result *r, tf_diags *d) {
  return staged_equal(s, t, r, d, 1) && staged_equal(s, t, r, d, 2);
}

static void one_staged(void *ctx, uint64_t seed) {
  static const comparison by = {halve, fills_right, both_equal};
  compare(ctx, seed, &by);
}

static void one_staged_home(void *ctx, uint64_t seed) { one_staged(ctx, seed | DRAW_HOMES); }

static int named(const tf_workload *wl, const char *name) {
  for (int z = 0; z < wl->n_tensors; z++)
    if (!strcmp(wl->tensors[z].name, name)) return z;
  return -1;
}

static bool copies_equal(const tf_tree *t, const tf_result *r, tf_diags *d, const char *tensor) {
  counted k = run_counted(t, &tf_target_model.lower, d, false);
  int64_t copied = 0, fill = r->counts[t->workload->n_tensors + named(t->workload, tensor)].fill;
  for (int i = 0; k.ok && i < k.p->n_buffers; i++)
    copied += k.c.buffer[i].copied;
  if (copied != fill) printf("# copied %" PRId64 ", the model fills %" PRId64 "\n", copied, fill);
  const bool same = k.ok && copied == fill;
  counted_free(&k);
  return same;
}

static void one_product(void *ctx, uint64_t seed) {
  session *s = ctx;
  tf_rng g = tf_rng_new(seed, 7);
  const char *tensor;
  char *text = write_product(&g, &tensor);
  tf_text in = {"product", text, strlen(text)};
  tf_diags *d = tf_diags_new();
  tf_spec *spec = tf_spec_read_texts(&in, 1, NULL, 0, d);
  tf_tree *t =
      spec ? tf_tree_parse(spec->mapping_text, spec->mapping_at, spec->arch, spec->workload, d)
           : NULL;
  tf_model *m = t ? tf_model_new(t, d) : NULL;
  tf_result r;
  if (m && tf_model_eval(m, NULL, &r) && copies_equal(t, &r, d, tensor))
    s->equal++;
  else if (s->wrong++ < 5) {
    char *why = tf_diags_text(d);
    printf("%s# seed %" PRIu64 "\n%s", text, seed, why ? why : "");
    free(why);
  }
  tf_model_free(m);
  tf_tree_free(t);
  tf_spec_free(spec);
  tf_diags_free(d);
  free(text);
}

static void one_conv(void *ctx, uint64_t seed) { one(ctx, seed | DRAW_CONV); }

/* Whether something has gone wrong, or of many cases none was what it is to be. */
static bool bad(const session *s, const char *what, long cases, int64_t sought) {
  printf("%s: %ld cases equal, %ld wrong, %ld outside of the class", what, s->equal, s->wrong,
         s->outside);
  return s->wrong != 0 || (cases >= 1000 && (s->equal == 0 || sought == 0));
}

int main(int argc, char **argv) {
  const draw_plan plan = draw_options(argc, argv, 2000);
  const draw_plan few = {.cases = plan.only ? 0 : plan.cases / 50, .seed = plan.seed};
  const draw_plan homes = {.cases = plan.only ? 0 : plan.cases / 4, .seed = plan.seed};
  const draw_plan chains = {.cases = few.cases / 3, .seed = plan.seed};
  const long cases = plan.only ? 1 : plan.cases;
  session points = {.show = plan.show}, tiles = points, at_home = points, products = {0};
  draw_each(&plan, one, &points);
  draw_each(&chains, one_conv, &points);
  draw_each(&plan, one_staged, &tiles);
  draw_each(&homes, one_staged_home, &at_home);
  draw_each(&few, one_product, &products);
  bool wrong = bad(&points, "points", cases, points.retaining);
  printf("; %ld keep words\n", points.retaining);
  wrong |= bad(&tiles, "tiles", cases, tiles.ahead);
  printf("; %" PRId64 " words copied, %" PRId64 " of them ahead\n", tiles.copied, tiles.ahead);
  wrong |= bad(&at_home, "tiles with homes", homes.cases, at_home.copied);
  printf("; %" PRId64 " words copied\n", at_home.copied);
  wrong |= bad(&products, "products", cases, 1);
  putchar('\n');
  return wrong || (points.equal == 0 && tiles.equal == 0);
}
