/* What zeros save, as far as the machine and the workload alone say it (docs/SEMANTICS.md section 8): densities of all
 * tensors, what memories hold of them, which points add nothing.  Figures are expectations over all ways in which the
 * zeros may fall. */
#ifndef MODEL_SPARSE_SPARSE_H
#define MODEL_SPARSE_SPARSE_H
#include "base/arena.h"
#include "model/sparse/odds.h"
#include "tileflow/spec.h"

/* What a memory keeps of each word of a tensor. */
typedef struct {
  const tf_format *format;            /* NULL: words as they are */
  double stored;                      /* words, the expectation */
  double entries, bits;               /* of metadata: how many, and how long all of them are */
  double worst_bits;                  /* of metadata where no element is zero */
  double read_pj, write_pj, drain_pj; /* of an access to the word: to what is kept of it, with its metadata */
  int64_t held, worst; /* bits kept of each word, metadata included, times TF_HELD_ONE, rounded up: expected, most */
} tf_packed;
enum { TF_HELD_ONE = 1024 };

typedef struct tf_sparse {
  const tf_arch *arch;
  const tf_workload *wl;
  double *share;     /* [tensor] of its elements that are not zero */
  tf_packed *packed; /* [level * n_tensors + tensor] */
  uint64_t *factors; /* [op] reads: a point where one of them is zero adds nothing */
} tf_sparse;

/* False if memory ran out.  *out NULL: nothing is saved, as no tensor has a density, or the machine makes no use of
 * it. */
bool tf_sparse_new(tf_arena *a, const tf_arch *arch, const tf_workload *wl, tf_sparse **out);

/* Whether the machine makes use of zeros that the workload has. */
bool tf_sparse_applies(const tf_arch *arch, const tf_workload *wl);

/* The reads of op o, zeros of which have `rules` leave out its accesses to the target, or its points (target -1). */
uint64_t tf_sparse_on(const tf_sparse *s, const tf_rules *rules, int o, int target);
/* The probability that none of these reads of op o is zero. */
double tf_sparse_keep(const tf_sparse *s, int o, uint64_t reads);
/* The least share of op o's points that take time, or energy, wherever a mapping holds its tensors. */
typedef struct {
  double time, energy;
} tf_least;
tf_least tf_sparse_least(const tf_sparse *s, int o, int unit);
/* The least that a word of z takes of the outermost memory: of the time without zeros, and energy in pJ.  Some point
 * needs each word, and is as likely to be left out as any. */
tf_least tf_sparse_least_word(const tf_sparse *s, int z);
/* How the zeros of some elements of z fall: of elements whose coordinates differ in the ranks given (a mask); whole:
 * they are all those of these ranks. *exact: false where an assumption stands behind it. */
tf_odds tf_sparse_odds(const tf_sparse *s, int z, uint32_t ranks, bool whole, bool *exact);
#endif
