/* Settles tiles and slots in turn (docs/NPU.md): tiles determine the sizes of banks, the remaining
 * room the number of slots of each, slots how far queues run ahead, and all of it when the program
 * ends. For a bank with one slot, tiles that take less of its tensor are tried, for one with more
 * than two, tiles that take more, until none ends sooner. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/backend/npu/pass/pass.h"
#include "model/eval/hooks.h"

enum { SETTLE_ROUNDS = 12 };
/* Instructions that may be evaluated before the last round. */
enum { SETTLE_WORK = 150000 };
/* The longest program of which all steps are timed. */
enum { SETTLE_WHOLE = 1 << 17 };

enum { SMALLER = 1, LARGER = 2 };

/* A factor of trip counts that moves from a loop to the next inner ones over its dim (LARGER
 * tiles), or back. */
typedef struct {
  int node, loop;
  unsigned char direction;
  int64_t factor;
} shift;

typedef struct {
  const tf_workload *wl;
  tf_tree *best; /* the best so far */
  double cycles;
  int64_t work;
  unsigned char *wanted; /* [dim] whether SMALLER, LARGER tiles are wanted */
  tf_emit_memo *memo;    /* of predictions; NULL: none */
  bool sure;             /* tiles are taken only if their program can be made */
  FILE *said;
} settler;

/* ---- tiles ---------------------------------------------------------------------------------- */
static int64_t least_factor(int64_t n) {
  for (int64_t f = 2; f * f <= n; f++)
    if (n % f == 0) return f;
  return n;
}

static int64_t common_factor(int64_t a, int64_t b) {
  while (b) {
    const int64_t rest = a % b;
    a = b, b = rest;
  }
  return a;
}

static bool has_dim(const tf_op *op, int dim) {
  bool has = false;
  for (int k = 0; k < op->n_dims; k++)
    has |= op->dims[k] == dim;
  return has;
}

/* The first of the temporal loops over the dim between the node and an op below it; NULL: none. */
static tf_loop *next_loop(const tf_tree *t, int node, int op, int dim) {
  const int leaf = t->op_node[op];
  tf_loop *found = NULL;
  if (leaf <= node || leaf >= t->nodes[node].end) return NULL;
  for (int n = t->nodes[leaf].parent; n > node; n = t->nodes[n].parent)
    for (int k = t->nodes[n].n_temporal - 1; k >= 0; k--)
      if (t->nodes[n].loops[k].dim == dim) found = &t->nodes[n].loops[k];
  return found;
}

/* The least number that divides all loops that lose a factor; 1: none. */
static int64_t factor_of(const tf_tree *t, const shift *s) {
  const tf_loop *outer = &t->nodes[s->node].loops[s->loop];
  int64_t common = s->direction == LARGER ? outer->trip : 0;
  for (int o = 0; o < t->workload->n_ops; o++) {
    const bool below = t->op_node[o] > s->node && t->op_node[o] < t->nodes[s->node].end;
    if (!below || !has_dim(&t->workload->ops[o], outer->dim)) continue;
    const tf_loop *inner = next_loop(t, s->node, o, outer->dim);
    if (!inner) return 1;
    if (s->direction == SMALLER) common = common_factor(common, inner->trip);
  }
  return common > 1 ? least_factor(common) : 1;
}

static bool is_next(const tf_tree *t, const tf_loop *inner, int node, int dim) {
  bool is = false;
  for (int o = 0; o < t->workload->n_ops; o++)
    is |= next_loop(t, node, o, dim) == inner;
  return is;
}

/* The tree after the shift; NULL: it violates a rule, or out of memory. */
static tf_tree *shifted(const tf_tree *t, const shift *s) {
  tf_tree *c = tf_tree_copy(t, t->arch, t->workload, NULL);
  if (!c) return NULL;
  tf_loop *outer = &c->nodes[s->node].loops[s->loop];
  for (int n = s->node + 1; n < c->nodes[s->node].end; n++)
    for (int k = 0; c->nodes[n].kind == TF_TILE && k < c->nodes[n].n_temporal; k++) {
      tf_loop *inner = &c->nodes[n].loops[k];
      if (inner->dim != outer->dim || !is_next(c, inner, s->node, outer->dim)) continue;
      inner->trip = s->direction == LARGER ? inner->trip * s->factor : inner->trip / s->factor;
    }
  outer->trip = s->direction == LARGER ? outer->trip / s->factor : outer->trip * s->factor;
  tf_tree *checked = tf_tree_copy(c, c->arch, c->workload, NULL);
  tf_tree_free(c);
  return checked;
}

/* ---- slots ---------------------------------------------------------------------------------- */
static void want_tiles(settler *s, int tensor, unsigned char direction) {
  for (int o = 0; o < s->wl->n_ops; o++) {
    const tf_op *op = &s->wl->ops[o];
    for (int k = 0; k < op->n_dims; k++) {
      bool moves = op->out == tensor && k < op->n_out_dims;
      for (int r = 0; r < op->n_reads; r++)
        moves |= op->reads[r].tensor == tensor && npu_read_has(s->wl, op, r, op->dims[k]);
      if (moves) s->wanted[op->dims[k]] |= direction;
    }
  }
}

/* Describes the slots of a memory's banks, and notes which tiles they suggest. */
static void note_slots(settler *s, const npu_build *b, int memory) {
  const char *before = b->t.machine.memory[memory].name;
  for (int i = 0; i < b->n_banks; i++) {
    const npu_bank *k = &b->bank[i];
    if (k->memory != memory || k->tensor < 0 || k->turn > 0) continue;
    fprintf(s->said, "%s %s %d x %" PRId64, before, s->wl->tensors[k->tensor].name, k->slots,
            k->bytes);
    before = ",";
    if (k->doubled && k->slots == 1) want_tiles(s, k->tensor, SMALLER);
    if (k->slots > 2) want_tiles(s, k->tensor, LARGER);
  }
  if (*before == ',') fputs("; ", s->said);
}

/* The buffer schedule of the tiles. */
static bool slots(settler *s, tf_diags *d) {
  npu_build *b = npu_build_new(s->best, d);
  if (!b) return false;
  memset(s->wanted, 0, (size_t)s->wl->n_dims);
  for (int m = 1; m < b->t.machine.n_memories; m++)
    note_slots(s, b, m);
  npu_build_free(b);
  return true;
}

/* ---- rounds --------------------------------------------------------------------------------- */
/* Whether the tiles fit by the model, whose limits differ from the program's. */
static bool fits(const tf_tree *t, tf_diags *d) {
  tf_result r;
  tf_model *m = tf_model_new(t, d);
  if (m) tf_model_walk_limit(m, 0), tf_model_estimate(m);
  const bool fits = m && tf_model_eval(m, NULL, &r) && r.feasible;
  tf_model_free(m);
  return fits;
}

/* The expected cycles of other tiles, if these end sooner than the best so far; else the best's, or
 * infinity. */
static double expected(settler *s, const tf_tree *t) {
  npu_terms terms = {.cycles = INFINITY};
  tf_diags *d = tf_diags_new();
  const bool ok = d &&
                  npu_predict_once(s->memo, t, (npu_limits){s->cycles, NPU_LONGEST}, &terms, d) &&
                  terms.cycles < s->cycles && fits(t, d) && (!s->sure || npu_fits(t, d));
  s->work += terms.work;
  tf_diags_free(d);
  return ok ? terms.cycles : INFINITY;
}

static void try(settler *s, shift x, tf_tree **best, shift *taken) {
  x.factor = factor_of(s->best, &x);
  tf_tree *t = x.factor > 1 ? shifted(s->best, &x) : NULL;
  const double cycles = t ? expected(s, t) : INFINITY;
  if (cycles >= s->cycles) {
    tf_tree_free(t);
    return;
  }
  tf_tree_free(*best);
  *best = t, *taken = x;
  s->cycles = cycles;
}

/* The best of the tiles that the slots suggest, while effort is left; NULL: none ends sooner. */
static tf_tree *best_tiles(settler *s, shift *taken) {
  tf_tree *best = NULL;
  for (int n = 0; n < s->best->n_nodes; n++)
    for (int k = 0; s->best->nodes[n].kind == TF_TILE && k < s->best->nodes[n].n_temporal; k++)
      for (int direction = SMALLER; direction <= LARGER; direction++)
        if (s->wanted[s->best->nodes[n].loops[k].dim] & direction && s->work < SETTLE_WORK)
          try(s, (shift){.node = n, .loop = k, .direction = (unsigned char)direction}, &best,
              taken);
  return best;
}

static bool can_be_made(const tf_tree *t) {
  tf_diags *d = tf_diags_new();
  const bool can = d && npu_fits(t, d);
  tf_diags_free(d);
  return can;
}

/* Takes the best; false: none ends sooner. */
static bool tiles(settler *s) {
  shift taken = {.node = -1};
  tf_tree *best = best_tiles(s, &taken);
  if (!best) return false;
  const tf_node *n = &s->best->nodes[taken.node];
  fprintf(s->said, "%s of %s below %s, by %" PRId64 "\n",
          taken.direction == LARGER ? "larger tiles" : "smaller tiles",
          s->wl->dims[n->loops[taken.loop].dim].name, s->best->arch->memories[n->level].name,
          taken.factor);
  tf_tree_free(s->best);
  s->best = best;
  return true;
}

static bool rounds(settler *s, tf_diags *d) {
  bool more = true;
  for (int i = 1; more; i++) {
    fprintf(s->said, "%d. %.6g cycles; ", i, s->cycles);
    if (!slots(s, d)) return false;
    more = i < SETTLE_ROUNDS && s->work < SETTLE_WORK;
    if (!more)
      fputs("enough was looked at\n", s->said);
    else if (!tiles(s))
      more = false, fputs("no other tiles end sooner: they stand\n", s->said);
  }
  return true;
}

static bool take_first(settler *s, const tf_tree *first, tf_diags *d) {
  tf_tree_free(s->best);
  s->best = tf_tree_copy(first, first->arch, first->workload, d);
  return s->best != NULL;
}

/* The estimate may be wrong by 1 % for long loops (docs/NPU.md). So if other tiles than the first
 * promise to save less than 3 %, they are kept only if the program with all its steps ends sooner;
 * if that is too long to be timed, if they promise more than 1 %. */
static bool ends_sooner_whole(settler *s, const tf_tree *first, const npu_terms *expected,
                              tf_diags *d) {
  if (!(s->cycles < expected->cycles) || s->cycles < 0.97 * expected->cycles) return true;
  if (expected->length > SETTLE_WHOLE && s->cycles < 0.99 * expected->cycles) return true;
  if (expected->length > SETTLE_WHOLE) {
    fputs("these save too little to be sure: the first stay\n", s->said);
    return take_first(s, first, d);
  }
  tf_diags *own = tf_diags_new();
  const double before = own ? npu_whole_cycles(first, own) : -1,
               after = own ? npu_whole_cycles(s->best, own) : -1;
  tf_diags_free(own);
  if (after >= 0 && (before < 0 || after < before)) return true;
  fprintf(s->said, "of all steps these take %.6g cycles, the first tiles %.6g: the first stay\n",
          after, before);
  return take_first(s, first, d);
}

static bool is_same(const tf_tree *a, const tf_tree *b) {
  char *x = tf_tree_text(a), *y = tf_tree_text(b);
  const bool same = x && y && !strcmp(x, y);
  free(x), free(y);
  return same;
}

/* NULL: as npu_settle, or the program of other tiles than the first cannot be made. */
static tf_tree *settled(const tf_tree *tree, bool sure, tf_emit_memo *memo, char **said,
                        bool *again, tf_diags *d) {
  size_t n = 0;
  npu_terms terms;
  settler s = {.wl = tree->workload,
               .best = tf_tree_copy(tree, tree->arch, tree->workload, d),
               .memo = memo,
               .sure = sure};
  s.wanted = calloc((size_t)s.wl->n_dims + 1, 1);
  s.said = open_memstream(said, &n);
  bool ok = s.best && s.wanted && s.said && npu_predict_once(memo, tree, NPU_UNLIMITED, &terms, d);
  if (ok) s.cycles = terms.cycles;
  ok = ok && rounds(&s, d) && ends_sooner_whole(&s, tree, &terms, d);
  *again = ok && !sure && !is_same(s.best, tree) && !can_be_made(s.best);
  ok = s.said && fclose(s.said) == 0 && ok && !*again;
  free(s.wanted);
  if (ok) return s.best;
  tf_tree_free(s.best);
  if (s.said) free(*said);
  *said = NULL;
  return NULL;
}

/* As a rule programs of tiles that end sooner can be made, and only the last is asked; where that
 * cannot, all are. */
tf_tree *npu_settle(const tf_tree *tree, tf_emit_memo *memo, char **said, tf_diags *d) {
  bool again = false;
  tf_tree *t = settled(tree, false, memo, said, &again, d);
  return t || !again ? t : settled(tree, true, memo, said, &again, d);
}
