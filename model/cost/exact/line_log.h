/* Accesses to memories with lines that a walk records.  An access that a fast-forward repeats is
 * recorded once, with the number of repetitions and the shift of each; the lines of all of them are
 * one sum over places (model/layout/sum.h). */
#ifndef MODEL_COST_EXACT_LINE_LOG_H
#define MODEL_COST_EXACT_LINE_LOG_H
#include "model/cost/state.h"
#include "model/layout/sum.h"

/* The kind of access. */
typedef enum {
  TF_LINES_ENTER,  /* words that enter an instance, in its own memory and in the serving one */
  TF_LINES_READ,   /* words that units read in a step */
  TF_LINES_UPDATE, /* words that they update */
} tf_lines_what;

/* An access of slice i.  coords: coordinates of the lower end of its elements, in the tensor;
 * fresh, first: of words that enter: counts for those that share them, and at all. */
typedef struct {
  tf_lines_what what;
  int i;
  bool fresh, first;
  int64_t coords[TF_PLACE_RANKS];
} tf_lines_noted;

/* Records an access; too many are summed up, and can no longer be repeated. */
void tf_line_log_add(struct tf_model *m, const tf_lines_noted *a, const tf_elements *c);
/* The number of accesses so far; whether all since that number can be repeated. */
int64_t tf_line_log_mark(const struct tf_model *m);
bool tf_line_log_holds(const struct tf_model *m, int64_t mark);
/* Repeats all since then `times` times; shift: [slice * TF_MAX_RANK + rank] how far each repetition
 * moves them. */
void tf_line_log_again(struct tf_model *m, int64_t mark, const int64_t *shift, int64_t times);
/* Sums up the recorded accesses, while the rooms are those of the walk, and clears the log. */
void tf_line_log_sum(struct tf_model *m);
void tf_line_log_free(struct tf_line_log *l);
#endif
