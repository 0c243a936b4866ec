/* Accesses to memories with lines that a walk notes.  What a leap repeats is noted once, with how
 * often it comes again and how far each time moves it; the lines of all of them are one sum over
 * places (model/layout/sum.h). */
#ifndef MODEL_COST_EXACT_LINE_LOG_H
#define MODEL_COST_EXACT_LINE_LOG_H
#include "model/cost/state.h"
#include "model/layout/sum.h"

/* What an access counts as. */
typedef enum {
  TF_LINES_ENTER,  /* what enters an instance, in its own memory and in the one that serves it */
  TF_LINES_READ,   /* what units read in a step */
  TF_LINES_UPDATE, /* what they update */
} tf_lines_what;

/* An access of slice i.  at: coordinates of the lower end of its elements, in the tensor; fresh,
 * first: of what enters, for those that share it, and at all. */
typedef struct {
  tf_lines_what what;
  int i;
  bool fresh, first;
  int64_t at[TF_PLACE_RANKS];
} tf_lines_noted;

/* Notes an access; what there are too many of is summed up, and no longer repeated. */
void tf_line_log_add(struct tf_model *m, const tf_lines_noted *a, const tf_cells *c);
/* How many there have been; whether all since that many can be repeated. */
int64_t tf_line_log_mark(const struct tf_model *m);
bool tf_line_log_holds(const struct tf_model *m, int64_t mark);
/* All since then come so many times more; shift: [slice * TF_MAX_RANK + rank] how far each time
 * moves them. */
void tf_line_log_again(struct tf_model *m, int64_t mark, const int64_t *shift, int64_t times);
/* Adds up what is noted, while the rooms are those of the walk, and forgets it. */
void tf_line_log_sum(struct tf_model *m);
void tf_line_log_free(struct tf_line_log *l);
#endif
