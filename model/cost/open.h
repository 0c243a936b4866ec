/* A mapping of which only the outer part is decided. */
#ifndef MODEL_COST_OPEN_H
#define MODEL_COST_OPEN_H
#include "tileflow/tree.h"

/* A node is open where its trip counts are not decided.  All below an open node is open, too. */
typedef struct {
  const bool *node;    /* [n_nodes] whether it is open */
  const double *units; /* [n_ops] most units at once that a completion can give the op */
  /* [n_ops] least time of the op's topmost open node, without the load that a scope may hide; NULL: not known */
  const double *time;
  const double *all; /* [n_units] most units of the kind at once for all ops together; NULL: not known */
} tf_open;
#endif
