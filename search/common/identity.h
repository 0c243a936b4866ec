/* A hash of the whole search problem, which tells whether a log belongs to it. */
#ifndef SEARCH_COMMON_IDENTITY_H
#define SEARCH_COMMON_IDENTITY_H
#include "tileflow/model.h"

/* given may be NULL; starts: the mappings that the search begins with. */
uint64_t tf_identity(const tf_arch *arch, const tf_workload *wl, const tf_tree *given,
                     const tf_tree *const *starts, int n_starts);
#endif
