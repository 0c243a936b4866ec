#include "search/run/composed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/bits.h"
#include "base/checked.h"
#include "model/tree/build.h"
#include "search/common/canon.h"
#include "search/common/exportable.h"
#include "search/common/identity.h"
#include "search/common/objective.h"
#include "search/common/ops.h"

/* TIME_PART: all takes at most one part in so many of a time limit.  EVALS_MOST: of an op, if only
 * time is limited. */
enum { TIME_PART = 8, EVALS_MOST = 4000 };
#define LEAST_SECONDS 1e-3 /* of an op's search */
/* Shares of memory 1 that a run's intermediates may fill; 0: each op is a run. */
static const double shares[] = {0.5, 0.125, 0};
enum { SHARES = sizeof shares / sizeof *shares };

/* Ops from .. to - 1 of the order of execution, under one Tile. */
typedef struct {
  int from, to;
  int dim[2];      /* spread over the axes of memory 1's mesh; -1: none is */
  int64_t trip[2]; /* over so many of its instances */
  double bits;     /* that an instance keeps */
} run;

/* An op by itself. */
typedef struct {
  tf_canon *part;
  tf_arena *arena;
  tf_arch arch;
  tf_workload wl;
  uint64_t identity;
  int like;      /* the first place with this identity, whose tree it has, too */
  tf_tree *tree; /* NULL: none fits */
} piece;

typedef struct {
  const tf_arch *arch;
  const tf_workload *wl;
  const tf_search_opts *o;
  tf_search_of_op *search;
  tf_budget_clock *clock;
  tf_evaluator *q;
  int64_t each; /* evaluations of one op */
  double until; /* seconds of the clock for this share, if time has a limit */
  int left;     /* ops to search, with this share */
  double share;
  bool sums; /* what a run leaves may be spread over its sums, and fill a part of the mesh */
  int n_runs;
  run *runs;        /* [n_ops] */
  piece *pieces;    /* [n_ops] by place in the order of execution */
  int *place;       /* [n_ops] */
  size_t words;     /* of a set of dims */
  uint64_t *moves;  /* [n_ops] sets, scratch of dims_of_all */
  uint64_t *shared; /* the set that it finds */
} composer;

/* ---- runs ----------------------------------------------------------------------------------- */
static const tf_op *op_at(const composer *j, int k) { return &j->wl->ops[j->wl->topo[k]]; }

static uint64_t *moves_at(const composer *j, int k) { return j->moves + (size_t)k * j->words; }

/* Leaves those dims that the read has. */
static void keep_read(const tf_workload *wl, const tf_ref *ref, size_t words, uint64_t *dims) {
  for (size_t w = 0; w < words; w++) {
    uint64_t has = 0;
    for (int r = 0; r < wl->tensors[ref->tensor].rank; r++)
      for (int t = 0; t < ref->index[r].n_terms; t++)
        if ((size_t)ref->index[r].terms[t].dim / 64 == w)
          has |= UINT64_C(1) << ref->index[r].terms[t].dim % 64;
    dims[w] &= has;
  }
}

/* What a run's k-th op moves: of what its readers in the run move, what each of their reads has. */
static void find_moves(const composer *j, int k, int to) {
  const tf_op *op = op_at(j, k);
  const tf_tensor *z = &j->wl->tensors[op->out];
  uint64_t *own = moves_at(j, k);
  bool leads = true;
  memset(own, 0, j->words * sizeof *own);
  for (int i = 0; i < z->n_consumers; i++) {
    const int c = j->place[z->consumers[i]];
    if (c >= to) continue;
    for (int r = 0; r < op_at(j, c)->n_reads; r++) {
      const tf_ref *ref = &op_at(j, c)->reads[r];
      if (ref->tensor != op->out) continue;
      if (leads) memcpy(own, moves_at(j, c), j->words * sizeof *own);
      for (size_t w = 0; w < j->words; w++)
        own[w] &= moves_at(j, c)[w];
      leads = false;
      keep_read(j->wl, ref, j->words, own);
    }
  }
  const int n_dims = j->sums ? op->n_dims : op->n_out_dims;
  for (int i = 0; i < n_dims && leads; i++)
    tf_bits_add(own, op->dims[i]);
}

/* The dims that all ops of a run share: each step of one makes, and reads, a part of its own. */
static const uint64_t *dims_of_all(const composer *j, int from, int to) {
  memset(j->shared, 0xff, j->words * sizeof *j->shared);
  for (int k = to - 1; k >= from; k--) {
    find_moves(j, k, to);
    for (size_t w = 0; w < j->words; w++)
      j->shared[w] &= moves_at(j, k)[w];
  }
  return j->shared;
}

/* The longest dim that fills memory 1's mesh, or as much of it as that has steps, if `sums`; false:
 * none does. */
static bool spread(const composer *j, const uint64_t *among, run *r) {
  const int64_t *mesh = j->arch->memories[1].mesh;
  int longest = -1;
  r->dim[0] = r->dim[1] = -1;
  r->trip[0] = r->trip[1] = 1;
  for (int d = 0; d < j->wl->n_dims; d++)
    if (tf_bits_has(among, d) && !tf_ops_window(j->wl, d) &&
        (longest < 0 || j->wl->dims[d].extent > j->wl->dims[longest].extent))
      longest = d;
  if (mesh[0] * mesh[1] == 1) return true;
  if (longest < 0) return false;
  int64_t left = j->wl->dims[longest].extent;
  if (left < (j->sums ? 2 : mesh[0] * mesh[1])) return false;
  for (int a = 0; a < 2; a++) {
    r->trip[a] = left < mesh[a] ? left : mesh[a];
    left /= r->trip[a];
    if (r->trip[a] > 1) r->dim[a] = longest;
  }
  return true;
}

/* Whether a run keeps what its k-th op makes: all readers are in it. */
static bool keeps(const composer *j, const run *r, int k) {
  const tf_tensor *z = &j->wl->tensors[op_at(j, k)->out];
  bool all = z->n_consumers > 0;
  for (int c = 0; c < z->n_consumers; c++)
    all &= j->place[z->consumers[c]] >= r->from && j->place[z->consumers[c]] < r->to;
  return all;
}

static double bits_of(const tf_tensor *z) { return (double)tf_tensor_words(z) * z->word_bits; }

static double instances(const run *r) { return (double)r->trip[0] * (double)r->trip[1]; }

static double room(const composer *j) {
  const tf_memory *m = &j->arch->memories[1];
  return m->capacity_words < 0 ? INFINITY : (double)m->capacity_words * m->word_bits;
}

static bool lies_below(const composer *j, int k) {
  const int u = tf_ops_unit(j->arch, j->wl, j->wl->topo[k]);
  return u >= 0 && j->arch->units[u].below >= 1;
}

/* Whether these ops can be a run. */
static bool is_run(const composer *j, run *r) {
  if (!spread(j, dims_of_all(j, r->from, r->to), r)) return false;
  r->bits = 0;
  for (int k = r->from; k < r->to; k++) {
    if (!lies_below(j, k)) return false;
    if (keeps(j, r, k)) r->bits += bits_of(&j->wl->tensors[op_at(j, k)->out]) / instances(r);
  }
  return r->bits <= j->share * room(j);
}

/* Each run is as long as can be. */
static void find_runs(composer *j) {
  j->n_runs = 0;
  for (int from = 0; from < j->wl->n_ops; from = j->runs[j->n_runs++].to) {
    run r = {.from = from, .to = from + 1, .dim = {-1, -1}, .trip = {1, 1}};
    for (run next = {.from = from, .to = from + 2};
         j->share > 0 && next.to <= j->wl->n_ops && is_run(j, &next); next.to++)
      r = next;
    j->runs[j->n_runs] = r;
  }
}

/* ---- an op by itself ------------------------------------------------------------------------ */
/* By how much an index spans more where the op's dims have other extents. */
static int64_t wider(const tf_index *ix, const tf_dim *was, const tf_dim *is) {
  int64_t by = 0;
  for (int t = 0; t < ix->n_terms; t++) {
    const tf_term *x = &ix->terms[t];
    by += (x->coef < 0 ? -x->coef : x->coef) * (is[x->dim].extent - was[x->dim].extent);
  }
  return by;
}

/* Tensors cover what the op touches with these extents: of several reads of one, the most. */
static bool fit_tensors(piece *p, const tf_dim *was) {
  const tf_op *op = &p->wl.ops[0];
  for (int z = 0; z < p->wl.n_tensors; z++) {
    tf_tensor *t = &p->wl.tensors[z];
    int64_t *extent = TF_ARRAY(p->arena, int64_t, (size_t)t->rank + 1);
    if (!extent) return false;
    for (int r = 0; r < t->rank; r++) {
      int64_t by = INT64_MIN;
      if (z == op->out) by = p->wl.dims[op->dims[r]].extent - was[op->dims[r]].extent;
      for (int k = 0; k < op->n_reads; k++) {
        const int64_t own =
            op->reads[k].tensor == z ? wider(&op->reads[k].index[r], was, p->wl.dims) : INT64_MIN;
        by = own > by ? own : by;
      }
      extent[r] = t->extent[r] + by;
    }
    t->extent = extent;
  }
  return true;
}

/* Memory 1 has one instance, in which tensors of the run live beside this op's own. */
static bool adapt_machine(const composer *j, const run *r, int k, piece *p) {
  const tf_op *op = op_at(j, k);
  tf_memory *m = TF_ARRAY(p->arena, tf_memory, (size_t)p->arch.n_memories + 1);
  tf_chosen *home =
      TF_ARRAY(p->arena, tf_chosen, (size_t)(j->arch->memories[1].home.n + op->n_reads + 2));
  if (!m || !home) return false;
  for (int l = 0; l < p->arch.n_memories; l++)
    m[l] = p->arch.memories[l];
  double others = r->bits;
  tf_selection lives = {0, home};
  for (int i = 0; i < m[1].home.n; i++)
    home[lives.n++] = m[1].home.names[i];
  for (int i = r->from; i < r->to; i++) {
    bool own = i == k;
    for (int c = 0; c < op->n_reads; c++)
      own |= op->reads[c].tensor == op_at(j, i)->out;
    if (!own || !keeps(j, r, i)) continue;
    const tf_tensor *z = &j->wl->tensors[op_at(j, i)->out];
    home[lives.n++] = (tf_chosen){.name = z->known_as ? z->known_as : z->name};
    others -= bits_of(z) / instances(r);
  }
  m[1].home = lives;
  m[1].mesh[0] = m[1].mesh[1] = 1;
  if (m[1].capacity_words >= 0) m[1].capacity_words -= (int64_t)(others / m[1].word_bits);
  p->arch.memories = m;
  return true;
}

/* The least number from n on that only 2, 3 and 5 divide: many steps of it are whole. */
static int64_t smooth(int64_t n) {
  for (;; n++) {
    int64_t left = n;
    for (int f = 2; f <= 5; f++)
      while (left % f == 0)
        left /= f;
    if (left == 1) return n;
  }
}

static bool adapt_extents(const run *r, piece *p) {
  tf_dim *dims = TF_ARRAY(p->arena, tf_dim, (size_t)p->wl.n_dims + 1);
  tf_tensor *tensors = TF_ARRAY(p->arena, tf_tensor, (size_t)p->wl.n_tensors + 1);
  if (!dims || !tensors) return false;
  for (int z = 0; z < p->wl.n_tensors; z++)
    tensors[z] = p->wl.tensors[z];
  for (int d = 0; d < p->wl.n_dims; d++) {
    dims[d] = p->wl.dims[d];
    bool spread = false;
    for (int a = 0; a < 2; a++)
      if (tf_canon_dim(p->part, d) == r->dim[a]) {
        dims[d].extent = tf_ceil_div(dims[d].extent, r->trip[a]);
        spread = true;
      }
    if (spread) dims[d].extent = smooth(dims[d].extent);
  }
  const tf_dim *was = p->wl.dims;
  p->wl.dims = dims;
  p->wl.tensors = tensors;
  return fit_tensors(p, was);
}

static bool make_piece(const composer *j, const run *r, int k, piece *p) {
  p->arena = tf_arena_new();
  p->part = p->arena ? tf_canon_of_op(j->arch, j->wl, j->wl->topo[k]) : NULL;
  if (!p->part) return false;
  p->arch = *tf_canon_arch(p->part);
  p->wl = *tf_canon_workload(p->part);
  const bool ok = r->to == r->from + 1 || (adapt_machine(j, r, k, p) && adapt_extents(r, p));
  p->identity = ok ? tf_identity(&p->arch, &p->wl, NULL, NULL, 0) : 0;
  return ok;
}

static void clear_pieces(composer *j) {
  for (int k = 0; k < j->wl->n_ops; k++) {
    tf_tree_free(j->pieces[k].tree);
    tf_canon_free(j->pieces[k].part);
    tf_arena_free(j->pieces[k].arena);
    j->pieces[k] = (piece){0};
  }
}

static tf_budget budget_of(const composer *j) {
  const tf_budget *all = &j->o->budget;
  const double seconds = (j->until - tf_clock_seconds(j->clock)) / j->left;
  return (tf_budget){.seed = all->seed,
                     .threads = all->threads,
                     .max_evals = j->each,
                     .time_limit = all->time_limit > 0 ? fmax(seconds, LEAST_SECONDS) : 0,
                     .stop = all->stop,
                     .ctx = all->ctx};
}

static void search_piece(composer *j, piece *p) {
  const tf_search_opts o = {.objective = j->o->objective,
                            .exportable = j->o->exportable,
                            .budget = budget_of(j),
                            .keep = 1};
  tf_diags *d = tf_diags_new(); /* finding none is no error here */
  tf_search_result *r = d ? j->search(&p->arch, &p->wl, &o, d) : NULL;
  if (r) j->q->evals += r->evals;
  if (r && r->n_best) {
    p->tree = r->best[0].tree;
    r->best[0].tree = NULL;
  }
  tf_search_free(r);
  tf_diags_free(d);
}

/* ---- steps of what is spread ---------------------------------------------------------------- */
static int64_t largest_divisor(int64_t of, int64_t most) {
  int64_t best = 1;
  for (int64_t k = 1; k * k <= of; k++)
    if (of % k == 0) {
      if (k <= most) best = k > best ? k : best;
      if (of / k <= most) best = of / k > best ? of / k : best;
    }
  return best;
}

/* The tree in which the loops of a dim have exactly its extent as their product: each gets the
 * largest divisor that is no more than it has, from the innermost on, and a loop outside of all
 * others the rest.  NULL: memory ran out, or a rule refuses it. */
static tf_tree *with_divisors(const tf_tree *t, int dim) {
  int64_t left = t->workload->dims[dim].extent;
  tf_build *b = tf_build_new(t->arch, t->workload, NULL);
  int n = 0;
  for (int i = 0; i < t->n_nodes; i++)
    n += t->nodes[i].n_loops;
  tf_loop *loops = malloc((size_t)n * sizeof *loops + 1);
  for (int i = t->n_nodes - 1; i >= 0 && loops; i--)
    for (int k = t->nodes[i].n_loops - 1; k >= 0; k--) {
      tf_loop *l = &loops[--n];
      *l = t->nodes[i].loops[k];
      if (l->dim != dim) continue;
      l->trip = largest_divisor(left, l->trip);
      left /= l->trip;
    }
  for (int i = 0; i < t->n_nodes && b && loops; i++) {
    tf_build_node(b, &t->nodes[i]);
    if (!i && left > 1) tf_build_loop(b, (tf_loop){.dim = dim, .trip = left});
    for (int k = 0; k < t->nodes[i].n_loops; k++, n++)
      if (loops[n].dim != dim || loops[n].trip > 1) tf_build_loop(b, loops[n]);
  }
  tf_tree *out = NULL;
  if (loops)
    out = tf_build_tree(b);
  else
    tf_build_free(b);
  free(loops);
  return out;
}

/* All ops of a run take the same steps of what is spread. */
static void align(const run *r, piece *p) {
  for (int d = 0; d < p->wl.n_dims && p->tree; d++)
    if (tf_canon_dim(p->part, d) == r->dim[0] || tf_canon_dim(p->part, d) == r->dim[1]) {
      tf_tree *t = with_divisors(p->tree, d);
      tf_tree_free(p->tree);
      p->tree = t;
    }
}

/* Makes the problem of each op; returns how many differ, 0: memory ran out. */
static int make_pieces(composer *j) {
  int n = 0;
  for (int i = 0; i < j->n_runs; i++)
    for (int k = j->runs[i].from; k < j->runs[i].to; k++) {
      piece *p = &j->pieces[k];
      if (!make_piece(j, &j->runs[i], k, p)) return 0;
      for (p->like = 0; p->like < k; p->like++)
        if (j->pieces[p->like].identity == p->identity) break;
      n += p->like == k;
    }
  return n;
}

/* Finds a mapping of each op; of equal problems once.  False: an op has none. */
static bool solve_pieces(composer *j, int64_t evals) {
  j->left = make_pieces(j);
  if (!j->left) return false;
  j->each = evals / j->left < EVALS_MOST ? evals / j->left : EVALS_MOST;
  for (int i = 0; i < j->n_runs; i++)
    for (int k = j->runs[i].from; k < j->runs[i].to; k++) {
      piece *p = &j->pieces[k];
      if (p->like < k) continue;
      if (j->each < 1 || tf_clock_over(j->clock)) return false;
      search_piece(j, p);
      if (p->tree) align(&j->runs[i], p);
      if (!p->tree) return false;
      j->left--;
    }
  return true;
}

/* ---- the whole ------------------------------------------------------------------------------ */
static void put_run(const composer *j, const run *r, int parent, tf_build *b) {
  if (r->to > r->from + 1) {
    const int tile = tf_build_tile(b, parent, 0);
    for (int a = 0; a < 2; a++)
      if (r->dim[a] >= 0)
        tf_build_loop(b, (tf_loop){.dim = r->dim[a],
                                   .axis = a ? TF_SPATIAL_Y : TF_SPATIAL_X,
                                   .trip = r->trip[a]});
    parent = tf_build_scope(b, tile, TF_SEQ);
    for (int k = r->from; k < r->to; k++)
      if (keeps(j, r, k)) tf_build_keep(b, (tf_keep){.tensor = op_at(j, k)->out, .level = 1});
  }
  for (int k = r->from; k < r->to; k++)
    tf_canon_put_back(j->pieces[k].part, j->pieces[j->pieces[k].like].tree, parent, b);
}

static tf_tree *whole_of(const composer *j) {
  tf_build *b = tf_build_new(j->arch, j->wl, NULL);
  if (!b) return NULL;
  const int root = j->n_runs > 1 ? tf_build_scope(b, -1, TF_SEQ) : -1;
  for (int i = 0; i < j->n_runs; i++)
    put_run(j, &j->runs[i], root, b);
  return tf_build_tree(b);
}

static void offer(composer *j, tf_tree *t, tf_found *best) {
  tf_figures f;
  double value = INFINITY;
  if (t && tf_can_export(j->q->exportable, t) && tf_evaluate_tree(t, j->q, &f, NULL))
    value = tf_objective_value(j->q->objective, &f);
  if (value < best->value) {
    tf_tree_free(best->tree);
    *best = (tf_found){.tree = t, .value = value, .figures = f};
  } else {
    tf_tree_free(t);
  }
}

static bool alloc(composer *j) {
  const size_t n = (size_t)j->wl->n_ops;
  j->runs = calloc(n, sizeof *j->runs);
  j->pieces = calloc(n, sizeof *j->pieces);
  j->place = calloc(n, sizeof *j->place);
  j->words = tf_bits_words((size_t)j->wl->n_dims);
  j->moves = calloc(n * j->words, sizeof *j->moves);
  j->shared = calloc(j->words, sizeof *j->shared);
  for (int k = 0; j->place && k < j->wl->n_ops; k++)
    j->place[j->wl->topo[k]] = k;
  return j->runs && j->pieces && j->place && j->moves && j->shared;
}

/* Whether extents and tensors are such that an op's problem can be made. */
static bool is_plain(const tf_workload *wl) {
  bool plain = true;
  for (int d = 0; d < wl->n_dims; d++)
    plain &= wl->dims[d].extent <= INT32_MAX;
  for (int z = 0; z < wl->n_tensors; z++)
    plain &= wl->tensors[z].density.fall == TF_FALL_GUESSED;
  return plain;
}

bool tf_composed_linked(const tf_arch *a) {
  const tf_memory *m = a->n_memories > 1 ? &a->memories[1] : NULL;
  return m && m->topology != TF_NO_TOPOLOGY && m->mesh[0] * m->mesh[1] > 1;
}

bool tf_composed(const tf_arch *arch, const tf_workload *wl, const tf_search_opts *o,
                 tf_search_of_op *search, tf_budget_clock *clock, tf_evaluator *q, tf_found *out) {
  composer j = {.arch = arch, .wl = wl, .o = o, .search = search, .clock = clock, .q = q};
  *out = (tf_found){.value = INFINITY};
  const int64_t most = o->budget.max_evals, evals = most > 0 ? most : INT64_MAX;
  if (evals <= SHARES || arch->n_memories < 2 || !is_plain(wl)) return false;
  const bool room = alloc(&j);
  q->failed |= !room;
  /* Of few ops the largest runs alone: the search sees the others by itself. */
  const bool linked = tf_composed_linked(arch), few = wl->n_ops < TF_COMPOSED_FROM;
  const int tries = !linked ? SHARES : few ? 2 : SHARES + 1;
  for (int i = 0; i < tries && room && !tf_clock_over(clock); i++) {
    j.sums = linked && i == 0;
    j.share = shares[linked && i > 0 ? i - 1 : i];
    j.until = tf_clock_seconds(clock) + o->budget.time_limit / TIME_PART / tries;
    find_runs(&j);
    if (solve_pieces(&j, evals / tries)) offer(&j, whole_of(&j), out);
    clear_pieces(&j);
  }
  free(j.runs);
  free(j.pieces);
  free(j.place);
  free(j.moves);
  free(j.shared);
  return out->tree;
}
