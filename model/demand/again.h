/* Words that a memory serves more than once, as memories further in have no capacity to keep
 * them. */
#ifndef MODEL_DEMAND_AGAIN_H
#define MODEL_DEMAND_AGAIN_H
#include "model/demand/ended.h"

/* A spread of an op, and the memories that hold its tensors. */
typedef struct {
  int inner;                      /* memories inside of the outermost */
  double (*outer)[TF_ENDED_DIMS]; /* [l][d]: instances of memory l over which dim d is spread, or
                                     more */
  const double *units;            /* [d]: units, or more */
  const double *wide;             /* [d]: values that units work on at once, or fewer */
  const unsigned *held;           /* [z]: bit l - 1 of memory l */
} tf_again_way;

/* Reloads of the tensors that memory `level` holds; level 0: of each tensor in the outermost memory
 * that holds it, other than the outermost memory itself. */
typedef struct {
  int level;
  double times[TF_ENDED_TENSORS]; /* how often its words enter there, on average */
  double first[TF_ENDED_TENSORS]; /* its words that enter in the first step, in all instances */
  double block[TF_ENDED_TENSORS]; /* of these, those of the first instance */
} tf_again_words;

typedef double (*tf_again_time)(const void *of, const tf_again_words *w);

typedef struct tf_again tf_again;

/* Of one op; NULL without memory.  To be freed. */
tf_again *tf_again_new(const tf_ended *op);
void tf_again_free(tf_again *a);
/* Whether the limit of effort is reached: the last result, and every later one, is the trivial
 * bound. */
bool tf_again_ended(const tf_again *a);

/* The least time over all blocks and orders that fit, if it is below range[1]; none takes less than
 * range[0].  `level` as above.  The time must grow with all words. */
double tf_again_least(tf_again *a, const tf_again_way *way, int level, const double range[2],
                      tf_again_time time, const void *of);
#endif
