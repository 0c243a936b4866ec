/* Words that the outermost memory gives again, as memories further in have no room to keep them. */
#ifndef MODEL_DEMAND_AGAIN_H
#define MODEL_DEMAND_AGAIN_H
#include "model/demand/ended.h"

/* A way to spread an op, and where its tensors are held. */
typedef struct {
  int inner;                      /* memories inside of the outermost */
  double (*outer)[TF_ENDED_DIMS]; /* [l][d]: instances of memory l over which dim d is spread, or
                                     more */
  const double *units;            /* [d]: units, or more */
  const double *wide;             /* [d]: values that units work on at once, or fewer */
  const unsigned *held;           /* [z]: bit l - 1 of memory l */
} tf_again_way;

/* What is known of the tensors that memory `level` holds; 0: of each in the outermost memory that
 * holds it, inside of the outermost one. */
typedef struct {
  int level;
  double times[TF_ENDED_TENSORS]; /* that its words enter there */
  double first[TF_ENDED_TENSORS]; /* words of it that do in the first step, in all instances */
  double block[TF_ENDED_TENSORS]; /* in the first instance */
} tf_again_words;

typedef double (*tf_again_time)(const void *of, const tf_again_words *w);

typedef struct tf_again tf_again;

/* For one op; NULL without memory.  To be freed. */
tf_again *tf_again_new(const tf_ended *op);
void tf_again_free(tf_again *a);
/* Whether it took too long: the last answer, and all from now on, is the least. */
bool tf_again_ended(const tf_again *a);

/* The least time of all blocks and orders that there is room for, if it is below range[1]; none
 * takes less than range[0].  `level` as above.  The time grows with all words. */
double tf_again_least(tf_again *a, const tf_again_way *way, int level, const double range[2],
                      tf_again_time time, const void *of);
#endif
