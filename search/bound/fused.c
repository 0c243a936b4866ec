/* Words that pass the outermost memory again in a graph of ops, as inner memories have no room.
 *
 * An intermediate stays in an inner memory, or passes the outermost one: it is written there once
 * at least.  For each op, and each of these states of what it makes and reads, fused_nest.c finds
 * the least words beyond those that pass once; of what no op is known to keep from passing nothing
 * counts.  Each op by itself takes the state that is least for it.  So the sum over all ops is a
 * bound, and what writes an intermediate counts for one op only: its maker, or its reader where the
 * maker has no words of its own.
 *
 * Two ops that are joined by an intermediate know more: if it stays, then in one memory, at one
 * place, its home scope.  The loops outside of that are those of both.  So the least of the sum of
 * both over all places counts, for one intermediate at a time: the greatest of these bounds. */
#include "search/bound/fused.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/demand/demand.h"
#include "model/input/dims.h"
#include "search/common/objective.h"

enum {
  DIMS = TF_F_DIMS,
  OPS = 64,
  LOOKS = 400000, /* in all */
  LOOKS_AT_ALL = 1000,
  LOOKS_AT_ONE = 10000,
  EXACT = TF_F_CLASSES,
  COARSE = 6,
  SEEN = 128,
  ALIKE = 1 << 16 /* places of an intermediate */
};

/* What was found of an op, in the states that its parts say. */
typedef struct {
  tf_f_op op;
  double least; /* below 0: nothing */
} seen_op;

typedef struct {
  const tf_arch *arch;
  const tf_workload *wl;
  tf_demand need;
  bool *may_wait;
  bool known[OPS];      /* the op's dims are cut alike by all ops that read what it makes */
  int unit[OPS];        /* the only kind that can run it */
  uint64_t needs[OPS];  /* ops, as bits, that it depends on */
  int deep[OPS];        /* the most ops that follow one another behind it */
  int root[OPS][DIMS];  /* the dim of the workload whose loops cut a dim; -1: no one knows */
  int place[OPS][DIMS]; /* of a dim among those that count; -1: it does not */
  double alone[OPS];    /* least words, beyond those that pass once; -1: not yet */
  int64_t looks;
  int n_seen;
  seen_op seen[SEEN];
} graph;

/* What an op does with the intermediates at it. */
typedef enum { LEFT_OUT, PASSES, STAYS } state;

typedef struct {
  int o;
  int out; /* state of what it makes */
  int in;  /* the operand that has a state; -1: none */
  state of_in;
} setting;

/* ---- dims ----------------------------------------------------------------------------------- */
static const tf_tensor *made_by(const graph *g, int o) {
  return &g->wl->tensors[g->wl->ops[o].out];
}

static void find_needs(graph *g, int o) {
  for (int r = 0; r < g->wl->ops[o].n_reads; r++) {
    const int maker = g->wl->tensors[g->wl->ops[o].reads[r].tensor].producer;
    if (maker >= 0) g->needs[o] |= g->needs[maker] | UINT64_C(1) << maker;
  }
}

/* Whether an op that this one does not need has a dim that this one reduces: a stream may cut
 * that. */
static bool shares_reduced(const graph *g, int o) {
  const tf_op *op = &g->wl->ops[o];
  for (int i = op->n_out_dims; i < op->n_dims; i++)
    for (int k = 0; k < g->wl->n_ops; k++)
      if (k != o && !(g->needs[o] >> k & 1) && tf_op_slot(&g->wl->ops[k], op->dims[i]) >= 0)
        return true;
  return false;
}

/* The root of output dim i of op o: that of the dims by which all read it alone, unmoved. */
static int root_of(const graph *g, int o, int i) {
  const tf_op *op = &g->wl->ops[o];
  const tf_tensor *t = made_by(g, o);
  int root = t->n_consumers ? -2 : op->dims[i];
  for (int c = 0; c < t->n_consumers; c++) {
    const int reader = t->consumers[c];
    for (int r = 0; r < g->wl->ops[reader].n_reads; r++) {
      const tf_ref *ref = &g->wl->ops[reader].reads[r];
      if (ref->tensor != op->out) continue;
      const tf_index *ix = &ref->index[i];
      if (ix->n_terms != 1 || ix->c || ix->terms[0].coef != 1 || t->pad[i]) return -1;
      const int slot = tf_op_slot(&g->wl->ops[reader], ix->terms[0].dim);
      const int here = slot >= 0 && slot < DIMS ? g->root[reader][slot] : -1;
      if (here < 0 || (root >= 0 && root != here)) return -1;
      root = here;
    }
  }
  return root < 0 ? -1 : root;
}

/* Dims that count: alike for all readers, needed whole, and none that another dim of the op goes
 * with. */
static void find_dims(graph *g, int o) {
  const tf_op *op = &g->wl->ops[o];
  int n = 0;
  g->deep[o] = 0;
  for (int c = 0; c < made_by(g, o)->n_consumers; c++)
    if (g->deep[made_by(g, o)->consumers[c]] + 1 > g->deep[o])
      g->deep[o] = g->deep[made_by(g, o)->consumers[c]] + 1;
  for (int i = 0; i < op->n_dims && i < DIMS; i++)
    g->root[o][i] = i < op->n_out_dims ? root_of(g, o, i) : op->dims[i];
  for (int i = 0; i < op->n_dims && i < DIMS; i++) {
    const int64_t e = g->wl->dims[op->dims[i]].extent;
    bool counts = g->root[o][i] >= 0 && e > 1 && tf_demanded(&g->need, o, op->dims[i]) == e;
    for (int k = 0; k < op->n_dims && k < DIMS; k++)
      counts &= k == i || g->root[o][k] != g->root[o][i];
    g->place[o][i] = counts ? n++ : -1;
  }
}

static void find_op(graph *g, int o) {
  const tf_op *op = &g->wl->ops[o];
  int able = -1;
  for (int u = 0; u < g->arch->n_units; u++)
    if (tf_needs_unit(g->arch, op, u)) able = u;
  find_dims(g, o);
  g->unit[o] = able;
  g->known[o] = able >= 0 && op->n_dims <= DIMS && !g->may_wait[o] &&
                (g->deep[o] == 0 || !shares_reduced(g, o));
  g->alone[o] = -1;
}

/* ---- parts ---------------------------------------------------------------------------------- */
/* The op's dims by which a tensor is indexed (ref NULL: what it makes), each alone in its rank.
 * False: it is not so. */
static bool is_plain(const graph *g, int o, int z, const tf_ref *ref, unsigned *dims) {
  const tf_tensor *t = &g->wl->tensors[z];
  const tf_op *op = &g->wl->ops[o];
  *dims = 0;
  for (int r = 0; r < t->rank; r++) {
    if (t->pad[r] || (ref && ref->index[r].n_terms > 1)) return false;
    if (ref && !ref->index[r].n_terms) continue;
    const int slot = ref ? tf_op_slot(op, ref->index[r].terms[0].dim) : r;
    if (slot < 0 || slot >= DIMS || (ref && !ref->index[r].terms[0].coef)) return false;
    if (g->wl->dims[op->dims[slot]].extent == 1) continue;
    if (g->place[o][slot] < 0 || (*dims >> g->place[o][slot] & 1)) return false;
    *dims |= 1u << g->place[o][slot];
  }
  return true;
}

static double words_of(const tf_f_op *op, unsigned dims) {
  double words = 1;
  for (int d = 0; d < op->n_dims; d++)
    if (dims >> d & 1) words *= (double)op->extent[d];
  return words;
}

static bool add_part(const graph *g, tf_f_op *op, int z, unsigned dims, tf_f_role role) {
  if (op->n == TF_F_PARTS) return false;
  op->part[op->n++] = (tf_f_part){dims, g->wl->tensors[z].word_bits, words_of(op, dims), role};
  return true;
}

static bool is_read_once(const graph *g, int o, int z) {
  return g->wl->tensors[z].n_consumers == 1 && tf_op_times_read(&g->wl->ops[o], z) == 1 &&
         g->wl->ops[o].out != z;
}

/* The op with its dims, no part. */
static void begin_op(const graph *g, int o, tf_f_op *op) {
  const tf_op *of = &g->wl->ops[o];
  const tf_unit *u = &g->arch->units[g->unit[o]];
  *op = (tf_f_op){.arch = g->arch, .inner = u->below, .mesh = {u->mesh[0], u->mesh[1]}};
  for (int i = 0; i < of->n_dims && i < DIMS; i++)
    if (g->place[o][i] >= 0) {
      op->extent[op->n_dims] = g->wl->dims[of->dims[i]].extent;
      op->deep[op->n_dims++] = i < of->n_out_dims ? g->deep[o] : 0;
    }
}

/* Whether an op has inputs of the workload for itself. */
static bool has_inputs(const graph *g, int o) {
  for (int r = 0; g->known[o] && r < g->wl->ops[o].n_reads; r++) {
    const tf_ref *ref = &g->wl->ops[o].reads[r];
    unsigned dims;
    if (g->wl->tensors[ref->tensor].producer < 0 && is_read_once(g, o, ref->tensor) &&
        is_plain(g, o, ref->tensor, ref, &dims))
      return true;
  }
  return false;
}

/* Whether an operand is an intermediate of this op alone, whose maker computes it in any mapping.
 */
static bool is_passed_on(const graph *g, int o, int r) {
  const tf_ref *ref = &g->wl->ops[o].reads[r];
  const int maker = g->wl->tensors[ref->tensor].producer;
  unsigned dims;
  return maker >= 0 && !g->may_wait[maker] && is_read_once(g, o, ref->tensor) &&
         is_plain(g, o, ref->tensor, ref, &dims) && tf_demanded_points(&g->need, maker) > 0;
}

/* The op in a setting, and what its states alone cost.  False: too many parts. */
static bool find_parts(const graph *g, const setting *s, tf_f_op *op, double *words) {
  const tf_op *of = &g->wl->ops[s->o];
  unsigned dims;
  bool ok = true;
  *words = 0;
  begin_op(g, s->o, op);
  for (int r = 0; r < of->n_reads; r++) {
    const tf_ref *ref = &of->reads[r];
    if (g->wl->tensors[ref->tensor].producer < 0 && is_read_once(g, s->o, ref->tensor) &&
        is_plain(g, s->o, ref->tensor, ref, &dims))
      ok &= add_part(g, op, ref->tensor, dims, TF_F_IN);
  }
  if (s->in >= 0 && is_plain(g, s->o, of->reads[s->in].tensor, &of->reads[s->in], &dims)) {
    if (s->of_in == STAYS) ok &= add_part(g, op, of->reads[s->in].tensor, dims, TF_F_READ);
    if (s->of_in == PASSES) *words += words_of(op, dims);
  }
  if (s->out != LEFT_OUT && is_plain(g, s->o, of->out, NULL, &dims)) {
    ok &= add_part(g, op, of->out, dims, s->out == STAYS ? TF_F_MADE : TF_F_OUT);
    if (s->out == PASSES && made_by(g, s->o)->n_consumers) *words += words_of(op, dims);
  }
  return ok && op->n > 0;
}

/* ---- one op --------------------------------------------------------------------------------- */
static bool same_part(const tf_f_part *a, const tf_f_part *b) {
  return a->dims == b->dims && a->bits == b->bits && a->words == b->words && a->role == b->role;
}

static bool same_op(const tf_f_op *a, const tf_f_op *b) {
  bool same = a->inner == b->inner && a->mesh[0] == b->mesh[0] && a->mesh[1] == b->mesh[1] &&
              a->n_dims == b->n_dims && a->n == b->n;
  for (int d = 0; d < a->n_dims && same; d++)
    same = a->extent[d] == b->extent[d] && a->deep[d] == b->deep[d];
  for (int i = 0; i < a->n && same; i++)
    same = same_part(&a->part[i], &b->part[i]);
  return same;
}

/* The least words of a nest, with so many looks at most. */
static double least_within(graph *g, tf_f_nest *n, tf_f_pin *pin, double enough, int64_t most) {
  int64_t looks = g->looks < most ? g->looks : most;
  const int64_t had = looks;
  const double least = tf_f_nest_least(n, pin, enough, &looks);
  g->looks -= had - looks;
  return least;
}

/* The words that the nest of an op adds, at least; below 0: nothing is known. */
static double least_of_op(graph *g, const tf_f_op *op) {
  tf_f_pin none = {.part = -1};
  for (int most = EXACT; most >= COARSE && g->looks > 0; most /= 2) {
    tf_f_nest *n = tf_f_nest_new(op, most);
    const double least = n ? least_within(g, n, &none, INFINITY, LOOKS / 8) : 0;
    tf_f_nest_free(n);
    if (n) return least;
  }
  return -1;
}

/* The least words of a setting; 0: nothing is known.  Ops that are alike are looked at once. */
static double least_of(graph *g, const setting *s) {
  tf_f_op op;
  double words, least = 0;
  int k = 0;
  if (!find_parts(g, s, &op, &words)) return 0;
  while (k < g->n_seen && !same_op(&g->seen[k].op, &op))
    k++;
  least = k < g->n_seen ? g->seen[k].least : least_of_op(g, &op);
  if (k == g->n_seen && k < SEEN) g->seen[g->n_seen++] = (seen_op){op, least};
  return least < 0 ? 0 : words + least;
}

/* The least over all states of what it reads, and makes, which count where that is for this op to
 * do.  passes: what it makes does. */
static double least_over(graph *g, int o, bool passes) {
  const tf_op *op = &g->wl->ops[o];
  const bool inner = made_by(g, o)->n_consumers > 0;
  setting s = {.o = o, .in = -1};
  double least = INFINITY;
  for (int r = 0; r < op->n_reads && s.in < 0; r++)
    if (is_passed_on(g, o, r) && !has_inputs(g, g->wl->tensors[op->reads[r].tensor].producer))
      s.in = r;
  for (int out = PASSES; out <= (inner && !passes ? STAYS : PASSES); out++) {
    s.out = inner && !has_inputs(g, o) ? LEFT_OUT : out;
    for (int in = PASSES; in <= (s.in >= 0 ? STAYS : PASSES); in++) {
      s.of_in = (state)in;
      least = fmin(least, least_of(g, &s));
    }
  }
  return least;
}

/* ---- two ops -------------------------------------------------------------------------------- */
/* Two ops and what joins them, with the places of its dims in both. */
typedef struct {
  int maker, reader, operand;
  int n, of_maker[DIMS], of_reader[DIMS];
} joint;

static bool find_joint(const graph *g, int reader, int r, joint *j) {
  const tf_ref *ref = &g->wl->ops[reader].reads[r];
  *j = (joint){.maker = g->wl->tensors[ref->tensor].producer, .reader = reader, .operand = r};
  if (!g->known[reader] || !is_passed_on(g, reader, r) || !has_inputs(g, j->maker)) return false;
  for (int i = 0; i < g->wl->tensors[ref->tensor].rank; i++) {
    const int slot =
        ref->index[i].n_terms ? tf_op_slot(&g->wl->ops[reader], ref->index[i].terms[0].dim) : -1;
    const int a = i < DIMS ? g->place[j->maker][i] : -1,
              b = slot >= 0 ? g->place[reader][slot] : -1;
    if (a < 0 && b < 0) continue;
    if (a < 0 || b < 0) return false;
    j->of_maker[j->n] = a, j->of_reader[j->n++] = b;
  }
  return true;
}

/* One of the two where the intermediate stays: its least words by the place of that. */
typedef struct {
  tf_f_op op;
  tf_f_nest *nest;
  tf_f_pin pin;
  double words; /* that its states alone cost */
} side;

static bool begin_side(const graph *g, const setting *s, tf_f_role role, int most, side *of) {
  of->nest = find_parts(g, s, &of->op, &of->words) ? tf_f_nest_new(&of->op, most) : NULL;
  of->pin = (tf_f_pin){.part = -1};
  for (int i = 0; of->nest && i < of->op.n; i++)
    if (of->op.part[i].role == role) of->pin.part = i;
  return of->nest && of->pin.part >= 0;
}

/* Places of what joins both: one memory, and classes of steps of each dim, from lo to hi. */
typedef struct {
  double least, of[2]; /* words of both, and of each */
  int level, lo[DIMS], hi[DIMS];
  int found[2][DIMS]; /* where few words of each do */
} places;

typedef struct {
  places *open;
  int64_t n;
  double least; /* words at places that are no longer open */
} frontier;

static bool is_one(const joint *j, const places *p) {
  for (int i = 0; i < j->n; i++)
    if (p->lo[i] < p->hi[i]) return false;
  return true;
}

/* Finds the least words at such places; those that are already known may be raised. */
static void find_at(graph *g, const joint *j, side *const of[2], double enough, places *p) {
  const int64_t most = is_one(j, p) ? LOOKS_AT_ONE : LOOKS_AT_ALL;
  for (int k = 0; k < 2 && p->of[0] + p->of[1] < enough; k++) {
    tf_f_pin *pin = &of[k]->pin;
    const int *dim = k ? j->of_reader : j->of_maker;
    pin->level = p->level;
    for (int i = 0; i < j->n; i++)
      pin->lo[dim[i]] = p->lo[i], pin->hi[dim[i]] = p->hi[i],
      pin->found[dim[i]] = (p->lo[i] + p->hi[i]) / 2;
    p->of[k] = fmax(p->of[k], least_within(g, of[k]->nest, pin, enough - p->of[1 - k], most));
    for (int i = 0; i < j->n; i++)
      p->found[k][i] = pin->found[dim[i]];
  }
  p->least = p->of[0] + p->of[1];
}

static void add_places(graph *g, const joint *j, side *const of[2], places *p, frontier *f) {
  find_at(g, j, of, f->least, p);
  if (p->least >= f->least) return;
  if (is_one(j, p) || !TF_GROW(f->open, f->n))
    f->least = p->least;
  else
    f->open[f->n++] = *p;
}

/* The one with the least words. */
static places take_places(frontier *f) {
  int64_t best = 0;
  for (int64_t k = 1; k < f->n; k++)
    if (f->open[k].least < f->open[best].least) best = k;
  const places p = f->open[best];
  f->open[best] = f->open[--f->n];
  return p;
}

/* Splits places where the two want them furthest apart, or else the dim of most. */
static void split_places(graph *g, const joint *j, side *const of[2], const places *p,
                         frontier *f) {
  int apart = -1, wide = 0;
  for (int i = 0; i < j->n; i++) {
    const int by = abs(p->found[0][i] - p->found[1][i]);
    if (by && (apart < 0 || by > abs(p->found[0][apart] - p->found[1][apart]))) apart = i;
    if (p->hi[i] - p->lo[i] > p->hi[wide] - p->lo[wide]) wide = i;
  }
  const int i = apart < 0 ? wide : apart;
  const int middle = apart < 0 ? (p->lo[i] + p->hi[i]) / 2 : (p->found[0][i] + p->found[1][i]) / 2;
  places half[2] = {*p, *p};
  half[0].hi[i] = middle, half[1].lo[i] = middle + 1;
  add_places(g, j, of, &half[0], f);
  add_places(g, j, of, &half[1], f);
}

/* The least sum of both, at any place. */
static double least_at_places(graph *g, const joint *j, side *const of[2]) {
  frontier f = {.least = INFINITY};
  const int64_t all = g->looks, most = LOOKS / 4;
  const int inner = of[0]->op.inner < of[1]->op.inner ? of[0]->op.inner : of[1]->op.inner;
  for (int l = 1; l <= inner; l++) {
    places p = {.level = l};
    for (int i = 0; i < j->n; i++)
      p.hi[i] = tf_f_nest_classes(of[0]->nest, j->of_maker[i]) - 1;
    add_places(g, j, of, &p, &f);
  }
  while (f.n) {
    const places p = take_places(&f);
    if (p.least >= f.least) break;
    if (g->looks < 0 || all - g->looks > most) {
      f.least = p.least;
      break;
    }
    split_places(g, j, of, &p, &f);
  }
  free(f.open);
  return f.least;
}

/* The least words of both ops where the intermediate stays.  What else the reader reads, and makes,
 * is in the state that is least. */
static double least_joined(graph *g, const joint *j, const setting *maker, const setting *reader) {
  for (int most = EXACT; most >= COARSE && g->looks > 0; most = most * 2 / 3) {
    side a = {.nest = NULL}, b = {.nest = NULL}, *const both[] = {&a, &b};
    const bool ok =
        begin_side(g, maker, TF_F_MADE, most, &a) && begin_side(g, reader, TF_F_READ, most, &b);
    const double least = ok ? least_at_places(g, j, both) + a.words + b.words : -1;
    tf_f_nest_free(a.nest);
    tf_f_nest_free(b.nest);
    if (least >= 0) return least;
  }
  return 0;
}

/* The least words of both ops. */
static double least_of_two(graph *g, const joint *j) {
  const bool inner = made_by(g, j->reader)->n_consumers > 0;
  const setting maker = {.o = j->maker, .out = STAYS, .in = -1};
  setting reader = {.o = j->reader, .in = j->operand, .of_in = STAYS};
  double least = least_over(g, j->maker, true) + least_over(g, j->reader, false);
  const double alone = g->alone[j->maker] + g->alone[j->reader];
  for (int out = PASSES; out <= (inner ? STAYS : PASSES) && least > alone; out++) {
    reader.out = inner && !has_inputs(g, j->reader) ? LEFT_OUT : out;
    least = fmin(least, least_joined(g, j, &maker, &reader));
  }
  return least;
}

/* ---- the graph ------------------------------------------------------------------------------ */
static double more_words(graph *g) {
  double all = 0, best;
  for (int k = 0; k < g->wl->n_ops; k++)
    find_needs(g, g->wl->topo[k]);
  for (int k = g->wl->n_ops - 1; k >= 0; k--)
    find_op(g, g->wl->topo[k]);
  for (int o = 0; o < g->wl->n_ops; o++) {
    g->alone[o] = g->known[o] ? least_over(g, o, false) : 0;
    if (isinf(g->alone[o])) g->alone[o] = 0;
    all += g->alone[o];
  }
  best = all;
  for (int o = 0; o < g->wl->n_ops; o++)
    for (int r = 0; r < g->wl->ops[o].n_reads; r++) {
      joint j;
      if (!find_joint(g, o, r, &j)) continue;
      const double two = least_of_two(g, &j);
      if (isfinite(two)) best = fmax(best, all - g->alone[j.maker] - g->alone[o] + two);
    }
  return best * (1 - 1e-12);
}

double tf_f_more_words(const tf_arch *a, const tf_workload *wl) {
  double words = 0;
  if (wl->n_ops > OPS || a->n_memories < 2 || tf_has_peers(a)) return 0;
  for (int z = 0; z < wl->n_tensors; z++)
    if (wl->tensors[z].view_of) return 0;
  graph *g = calloc(1, sizeof *g);
  if (!g) return 0;
  g->arch = a, g->wl = wl, g->looks = LOOKS;
  g->may_wait = tf_bounds_may_wait(wl);
  if (tf_demand_of(wl, &g->need) && g->may_wait && !g->need.masked) words = more_words(g);
  if (tf_arena_failed(g->need.arena)) words = 0;
  tf_demand_free(&g->need);
  free(g->may_wait);
  free(g);
  return words;
}
