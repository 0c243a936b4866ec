/* A partial mapping, of which only the outer part is decided. */
#ifndef MODEL_COST_OPEN_H
#define MODEL_COST_OPEN_H
#include <stdbool.h>

/* A node is open if its trip counts are not decided.  All nodes below an open one are open, too. */
typedef struct {
  const bool *node;    /* [n_nodes] whether it is open */
  const double *units; /* [n_ops] the most units that any completion can give the op */
  /* [n_ops] lower bound on the time of the op's topmost open node, without the load that a scope
   * may hide; NULL: not known */
  const double *time;
  /* [n_units] the most units of the kind at once for all ops together; NULL: not known */
  const double *all;
} tf_open;
#endif
