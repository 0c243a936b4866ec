/* Parts of a certificate's text (docs/CERTIFICATE.md). */
#ifndef SEARCH_PROOF_PROOF_H
#define SEARCH_PROOF_PROOF_H
#include "search/common/objective.h"
#include "search/exact/single.h"

/* Text that grows; bad once memory ran out. */
typedef struct {
  char *text;
  size_t len, room;
  bool bad;
} tf_p_text;
void tf_p_say(tf_p_text *t, const char *fmt, ...) TF_PRINTF(2, 3);

/* The objective, the machine as far as the op's unit, and the op. */
void tf_p_problem(const tf_single_space *s, tf_objective objective, tf_p_text *out);
/* Tensors in the op's order: the output, then what is read. */
const tf_tensor *tf_p_tensor(const tf_single_space *s, int z);
/* A mapping of the op, a line for each Tile. */
void tf_p_mapping(const tf_single_space *s, const tf_tree *tree, tf_p_text *out);

/* The branches. */
typedef struct {
  const tf_single_space *space;
  tf_objective objective;
  const tf_budget *budget;
  double target;       /* boxes whose bound reaches it are not split */
  int64_t boxes, most; /* boxes examined; and the limit */
  double least;        /* result: no mapping of the space is below it */
  bool failed;         /* result: a mapping below the target, or too many boxes */
  tf_p_text *out;
} tf_p_branches;
void tf_p_branch(tf_p_branches *b);
/* The objective as certificates state it: EDP in pJ times cycles. */
double tf_p_value(tf_objective objective, double cycles, double pj, double words);
#endif
