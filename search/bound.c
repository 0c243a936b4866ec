/* The capacity bound of a workload: a staircase per op, one after another, and what is left. */
#include "search/bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EXACT_WORDS = 53 }; /* bits of a count that a double holds */

typedef struct {
  const tf_arch *arch;
  const tf_workload *wl;
  bool apart;
  bool counted[256];      /* tensors that some op's staircase has */
  unsigned overlap[256];  /* [op] dims whose ranges may overlap from one run to the next: bits */
  tf_bound_slope *out;
  tf_b_stairs all;
} slope;

/* ---- which tensors an op answers for ------------------------------------------------------------- */
static int slot_of(const tf_op *op, int dim) {
  for (int i = 0; i < op->n_dims; i++)
    if (op->dims[i] == dim) return i;
  return -1;
}

/* Dims of the op that index a reference, one a rank, each once, within the tensor: bits; 0 with false otherwise. */
static bool plain(const slope *s, int o, const tf_ref *ref, unsigned *dims) {
  const tf_tensor *z = &s->wl->tensors[ref->tensor];
  const tf_op *op = &s->wl->ops[o];
  *dims = 0;
  for (int r = 0; r < z->rank; r++) {
    if (z->pad[r] > 0 || ref->index[r].n_terms > 1) return false;
    if (ref->index[r].n_terms == 0) continue;
    int d = slot_of(op, ref->index[r].terms[0].dim);
    if (d < 0 || d >= TF_B_DIMS || ((*dims | s->overlap[o]) >> d & 1)) return false;
    *dims |= 1u << d;
  }
  return true;
}

static int references(const tf_op *op, int z) {
  int n = 0;
  for (int r = 0; r < op->n_reads; r++)
    n += op->reads[r].tensor == z;
  return n;
}

/* Ranges of an op's output dims are what is read of it.  Where an index adds dims, or two references differ, the boxes of one
 * run and the next may overlap, and so do those of all that they index. */
static void find_overlaps(slope *s) {
  for (int k = s->wl->n_ops - 1; k >= 0; k--) {
    const tf_op *op = &s->wl->ops[s->wl->topo[k]];
    for (int i = 0; i < op->n_out_dims && i < TF_B_DIMS; i++) {
      const tf_index *first = NULL;
      for (int j = k + 1; j < s->wl->n_ops; j++) {
        const tf_op *reader = &s->wl->ops[s->wl->topo[j]];
        for (int r = 0; r < reader->n_reads; r++) {
          const tf_index *ix = &reader->reads[r].index[i];
          if (reader->reads[r].tensor != op->out) continue;
          int d = ix->n_terms ? slot_of(reader, ix->terms[0].dim) : -1;
          bool alike = ix->n_terms <= 1 && d < TF_B_DIMS && (d < 0 || !(s->overlap[s->wl->topo[j]] >> d & 1));
          alike &= !first || (first->c == ix->c && first->n_terms == ix->n_terms &&
                              (ix->n_terms == 0 || first->terms[0].coef == ix->terms[0].coef));
          if (!alike) s->overlap[s->wl->topo[k]] |= 1u << i;
          first = ix;
        }
      }
    }
  }
}

/* Whether op o needs what `other` makes, directly or not. */
static bool needs(const tf_workload *wl, int o, int other) {
  for (int r = 0; r < wl->ops[o].n_reads; r++) {
    int maker = wl->tensors[wl->ops[o].reads[r].tensor].producer;
    if (maker == other || (maker >= 0 && maker != o && needs(wl, maker, other))) return true;
  }
  return false;
}

/* A dim that the op reduces and another has that is not needed for it: a stream may cut it. */
static bool shares_reduced(const tf_workload *wl, int o) {
  const tf_op *op = &wl->ops[o];
  for (int i = op->n_out_dims; i < op->n_dims; i++)
    for (int other = 0; other < wl->n_ops; other++)
      if (other != o && !needs(wl, o, other) && slot_of(&wl->ops[other], op->dims[i]) >= 0) return true;
  return false;
}

static double weight(const slope *s, int z) {
  return (double)s->wl->tensors[z].word_bits / s->arch->word_bits;
}

static double words_of(const tf_b_op *b, unsigned dims) {
  double n = 1;
  for (int d = 0; d < b->n_dims; d++)
    if (dims >> d & 1) n *= (double)b->extent[d];
  return n;
}

static void add_tensor(slope *s, tf_b_op *b, int z, unsigned dims, bool out, bool stays) {
  if (b->n == TF_B_TENSORS) return;
  b->tensor[b->n++] = (tf_b_tensor){.dims = dims, .words = stays ? 0 : words_of(b, dims), .weight = weight(s, z),
                                    .out = out, .whole = stays};
  if (!stays && z < 256) s->counted[z] = true;
}

/* Inputs that this op alone reads, by one reference.  Others are left out: what serves one op may serve the next. */
static void add_reads(slope *s, int o, tf_b_op *b) {
  const tf_op *op = &s->wl->ops[o];
  for (int r = 0; r < op->n_reads; r++) {
    int z = op->reads[r].tensor;
    const tf_tensor *t = &s->wl->tensors[z];
    unsigned dims;
    bool own = s->apart || (t->producer < 0 && t->n_consumers == 1);
    if (own && references(op, z) == 1 && plain(s, o, &op->reads[r], &dims)) add_tensor(s, b, z, dims, false, false);
  }
}

/* The output: out of the chip, or staying there.  stays: the second. */
static void add_output(slope *s, int o, bool stays, tf_b_op *b) {
  const tf_op *op = &s->wl->ops[o];
  unsigned dims = 0;
  if (references(op, op->out) || (stays && shares_reduced(s->wl, o)) || (!stays && s->overlap[o])) return;
  for (int i = 0; i < op->n_out_dims && i < TF_B_DIMS; i++)
    dims |= 1u << i;
  add_tensor(s, b, op->out, dims, true, stays);
}

/* Most points of op o at once. */
static double units_for(const tf_arch *a, const tf_op *op) {
  double most = 1;
  for (int u = 0; u < a->n_units; u++) {
    if (op->kinds & ~a->units[u].kinds) continue;
    double n = (double)a->units[u].mesh[0] * (double)a->units[u].mesh[1];
    for (int l = 1; l <= a->units[u].below; l++)
      n *= (double)a->memories[l].mesh[0] * (double)a->memories[l].mesh[1];
    most = fmax(most, n);
  }
  return most;
}

static void begin(const slope *s, int o, tf_b_op *b) {
  const tf_op *op = &s->wl->ops[o];
  *b = (tf_b_op){.n_dims = op->n_dims < TF_B_DIMS ? op->n_dims : TF_B_DIMS, .units = units_for(s->arch, op),
                 .one_box = s->arch->n_memories == 2};
  for (int i = 0; i < b->n_dims; i++)
    b->extent[i] = s->wl->dims[op->dims[i]].extent;
}

/* ---- one op --------------------------------------------------------------------------------------------- */
/* Nothing held, nothing counted: where an op has no tensor to answer for. */
static bool stairs_of(slope *s, int o, bool stays, tf_b_stairs *out) {
  tf_b_op b;
  begin(s, o, &b);
  add_output(s, o, stays, &b);
  add_reads(s, o, &b);
  if (s->wl->ops[o].n_dims > TF_B_DIMS || b.n == 0) {
    tf_b_add(out, 0, 0);
    return false;
  }
  return tf_b_op_stairs(&b, out);
}

/* An intermediate either stays on the chip or passes through the outermost memory: the least of both. */
static void add_op(slope *s, int o) {
  const tf_tensor *z = &s->wl->tensors[s->wl->ops[o].out];
  bool inner = z->n_consumers > 0 && !s->apart;
  tf_b_stairs here = {0};
  bool attained = stairs_of(s, o, inner, &here);
  if (inner) {
    bool before = s->counted[s->wl->ops[o].out];
    stairs_of(s, o, false, &here);
    s->counted[s->wl->ops[o].out] = before;
    tf_b_tidy(&here);
  }
  s->out->attained &= attained;
  tf_b_sum(&s->all, &here);
  free(here.step);
}

/* ---- the whole -------------------------------------------------------------------------------------------- */
/* Words of tensors that no staircase has: each once.  apart: once for each op that touches them. */
static bool rest(slope *s, double *words) {
  const tf_workload *wl = s->wl;
  *words = 0;
  for (int z = 0; z < wl->n_tensors; z++) {
    const tf_tensor *t = &wl->tensors[z];
    int64_t n = 1;
    if (s->counted[z] || (t->producer >= 0 && t->n_consumers > 0)) continue;
    if (t->producer < 0) {
      if (!tf_bounds_input(wl, z, &n)) return false;
    } else {
      for (int r = 0; r < t->rank; r++)
        if (__builtin_mul_overflow(n, t->extent[r], &n)) return false;
    }
    *words += (double)n;
  }
  return true;
}

static double capacity_of(const tf_arch *a) {
  double all = 0, instances = 1;
  for (int l = 1; l < a->n_memories; l++) {
    const tf_memory *m = &a->memories[l];
    instances *= (double)m->mesh[0] * (double)m->mesh[1];
    if (m->capacity_words < 0) return INFINITY;
    all += instances * (double)m->capacity_words * m->word_bits / a->word_bits;
  }
  return all;
}

static bool single(const tf_arch *a) {
  return a->n_memories == 2 && a->memories[1].mesh[0] * a->memories[1].mesh[1] == 1 && !a->memories[1].double_buffered;
}

static bool climb(slope *s) {
  double words, more;
  if (!s->apart) find_overlaps(s);
  tf_b_add(&s->all, 0, 0);
  for (int k = 0; k < s->wl->n_ops; k++)
    add_op(s, s->wl->topo[k]);
  if (!rest(s, &more)) return false;
  for (int i = 0; i < s->all.n; i++)
    s->all.step[i].words += more;
  s->out->attained &= single(s->arch) && s->wl->n_ops == 1 && more == 0;
  words = s->all.n ? s->all.step[0].words : 0;
  return !s->all.failed && s->all.n > 0 && words < ldexp(1, EXACT_WORDS);
}

tf_bound_slope *tf_bound_slope_of(const tf_arch *arch, const tf_workload *wl, bool apart, tf_diags *d) {
  slope *s = calloc(1, sizeof *s);
  tf_bound_slope *out = calloc(1, sizeof *out);
  bool ok = s && out;
  if (ok && (wl->n_tensors > 256 || wl->n_ops > 256))
    ok = tf_fail(d, wl->at, TF_E_LIMIT, "more than 256 tensors or ops");
  else if (!ok)
    tf_fail(d, (tf_loc){0}, TF_E_LIMIT, "out of memory");
  if (ok) {
    s->arch = arch, s->wl = wl, s->apart = apart, s->out = out;
    out->attained = true;
    ok = climb(s) || tf_fail(d, wl->at, TF_E_OVERFLOW, "a bound passes 2^53, or memory ran out");
  }
  if (ok) {
    out->n = s->all.n;
    out->steps = s->all.step;
    out->least = out->steps[out->n - 1].words;
    out->here = capacity_of(arch);
  } else {
    if (s) free(s->all.step);
    free(out);
    out = NULL;
  }
  free(s);
  return out;
}

void tf_bound_slope_free(tf_bound_slope *s) {
  if (!s) return;
  free(s->steps);
  free(s);
}

double tf_bound_at(const tf_bound_slope *s, double capacity) {
  int lo = 0, hi = s->n; /* the first step beyond */
  while (lo < hi) {
    int mid = (lo + hi) / 2;
    if (s->steps[mid].capacity <= capacity)
      lo = mid + 1;
    else
      hi = mid;
  }
  return s->steps[lo ? lo - 1 : 0].words;
}
