/* What zeros save, as far as the machine and the workload alone say it (docs/SEMANTICS.md section
 * 8): densities of all tensors, what memories hold of them, which points add nothing.  Figures are
 * expectations over all ways in which the zeros may fall. */
#ifndef MODEL_SPARSE_SPARSE_H
#define MODEL_SPARSE_SPARSE_H
#include "base/arena.h"
#include "model/sparse/odds.h"
#include "tileflow/spec.h"

/* What a memory keeps of each word of a tensor. */
typedef struct {
  const tf_format *format; /* NULL: words as they are */
  double stored;           /* words, the expectation */
  double entries, bits;    /* of metadata: how many, and how long all of them are */
  double worst_bits;       /* of metadata where no element is zero */
  bool upper;              /* entries are an upper bound */
  double flat, each,
      gap; /* bits of an element, and besides of one that is not zero, and of a zero: most */
  double read_pj, write_pj,
      drain_pj;        /* of an access to the word: to what is kept of it, with its metadata */
  int64_t held, worst; /* bits kept of each word, metadata included, times TF_HELD_ONE, rounded up:
                          expected, most */
} tf_packed;
enum { TF_HELD_ONE = 1024 };

/* Of a tensor whose zeros are known: the fibers along these ranks, by the elements in them that are
 * not zero. */
typedef struct {
  int tensor;
  uint32_t ranks;
  tf_odds odds;
} tf_fibers;

typedef struct tf_sparse {
  const tf_arch *arch;
  const tf_workload *wl;
  tf_tensor *tensors; /* the workload's, with the bands that its ops make as densities */
  bool *part;    /* [tensor] its band is a mask's: steps left out leave a part of its zeros out */
  double *share; /* [tensor] of its elements that are not zero */
  tf_packed *packed; /* [level * n_tensors + tensor] */
  uint64_t *factors; /* [op] reads: a point where one of them is zero adds nothing */
  double *joint;     /* [op] that reads two factors whose zeros are known: points where both are not
                        zero; -1: not found */
  int n_fibers;
  tf_fibers *fibers;
} tf_sparse;

/* False if memory ran out.  *out NULL: nothing is saved, as no tensor has a density, or the machine
 * makes no use of it. */
bool tf_sparse_new(tf_arena *a, const tf_arch *arch, const tf_workload *wl, tf_sparse **out);

/* Whether the machine makes use of zeros that the workload has. */
bool tf_sparse_applies(const tf_arch *arch, const tf_workload *wl);

/* The reads of op o, zeros of which have `rules` leave out its accesses to the target, or its
 * points (target -1). */
uint64_t tf_sparse_on(const tf_sparse *s, const tf_rules *rules, int o, int target);
/* The same of tiles of the target that inner memories fetch for it. */
uint64_t tf_sparse_on_tiles(const tf_sparse *s, const tf_rules *rules, int o, int target);
/* The probability that none of these reads of op o is zero: at most, and at least.  They differ
 * where the zeros of several are known, and how these meet is not found. */
double tf_sparse_keep(const tf_sparse *s, int o, uint64_t reads);
double tf_sparse_keep_least(const tf_sparse *s, int o, uint64_t reads);
/* How many of these reads are of tensors whose zeros are known; whether both of the above are the
 * same. */
int tf_sparse_known(const tf_sparse *s, int o, uint64_t reads);
bool tf_sparse_told(const tf_sparse *s, int o, uint64_t reads);
/* The reads of op o whose zeros may be in steps that a mask leaves out. */
uint64_t tf_sparse_parts(const tf_sparse *s, int o);
/* The least share of op o's points that take time, or energy, wherever a mapping holds its tensors.
 */
typedef struct {
  double time, energy;
} tf_least;
tf_least tf_sparse_least(const tf_sparse *s, int o, int unit);
/* What `words` words of z take in a memory, in bits times TF_HELD_ONE, but with a probability of at
 * most `doubt`. whole: they are whole blocks of its density. */
int64_t tf_sparse_likely(const tf_sparse *s, int level, int z, int64_t words, double doubt,
                         bool whole);
/* The least that a word of z takes of the outermost memory: of the time without zeros, and energy
 * in pJ.  Some point needs each word, and is as likely to be left out as any. */
tf_least tf_sparse_least_word(const tf_sparse *s, int z);
/* How the zeros of some elements of z fall: of elements whose coordinates differ in the ranks given
 * (a mask); whole: they are all those of these ranks. *exact: false where an assumption stands
 * behind it. */
tf_odds tf_sparse_odds(const tf_sparse *s, int z, uint32_t ranks, bool whole, bool *exact);
#endif
