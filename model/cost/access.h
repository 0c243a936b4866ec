/* Whole accesses (docs/SEMANTICS.md section 6). */
#ifndef MODEL_COST_ACCESS_H
#define MODEL_COST_ACCESS_H
#include "base/checked.h"
#include "tileflow/spec.h"

/* Whether energies follow from the words alone: an access moves one word, and a word read to be
 * written further out costs the same as other reads. */
static inline bool tf_plain_access(const tf_memory *mem) {
  return mem->access <= 1 && !mem->drain_given;
}

/* Energy of a word that is read out of the memory to be written further out. */
static inline double tf_drain_pj(const tf_memory *mem) {
  return mem->drain_given ? mem->drain_pj : mem->read_pj;
}

/* Words of the memory that `words` of `bits` bits take, spread evenly over `instances`, each of
 * which ends with a whole access.  Above 2^63 bits the last accesses are neglected. */
static inline double tf_accessed(const tf_memory *mem, int64_t instances, int64_t words, int bits) {
  int64_t moved, at_once;
  if (!tf_mul(words, bits, &moved) || !tf_mul(mem->access, mem->word_bits, &at_once) ||
      !tf_mul(at_once, instances, &at_once))
    return (double)words * bits / mem->word_bits;
  return (double)(moved / at_once + (moved % at_once != 0)) * (double)instances *
         (double)mem->access;
}
#endif
