/* Mappings that another tool has, too: those that export writes in its format. */
#ifndef SEARCH_COMMON_EXPORTABLE_H
#define SEARCH_COMMON_EXPORTABLE_H
#include "tileflow/export.h"

/* Whether the format has the mapping (NULL: it has not); true without a format. */
bool tf_can_export(const char *format, const tf_tree *tree);
/* Whether it has any mapping of the workload on the architecture: else errors in d.  True without a
 * format. */
bool tf_may_export(const char *format, const tf_arch *arch, const tf_workload *wl, tf_diags *d);
#endif
