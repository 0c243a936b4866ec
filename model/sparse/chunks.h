/* How likely a box of a tensor, as loops cut it, has an element that is not zero (docs/SEMANTICS.md
 * section 8). */
#ifndef MODEL_SPARSE_CHUNKS_H
#define MODEL_SPARSE_CHUNKS_H
#include "model/sparse/sparse.h"

/* Boxes of one size.  grid: they cut the whole tensor, from its first element on; if not, all that
 * is known of them is how long they are. */
typedef struct {
  int64_t len[16]; /* [rank] */
  bool grid;
} tf_chunks;

/* Shares as they were found, by tensor and box: two for each place that these hash to, the first
 * and the last. */
enum { TF_CHUNKS_KEPT = 64 };
typedef struct {
  struct {
    int tensor; /* and 1; 0: none */
    bool exact;
    tf_chunks of;
    double some;
  } kept[TF_CHUNKS_KEPT];
} tf_chunks_memo;

/* The mean probability that a box of z is not all zero.  *exact: false if that is an upper bound.
 */
double tf_sparse_some(const tf_sparse *s, int z, const tf_chunks *b, tf_chunks_memo *memo,
                      bool *exact);
#endif
