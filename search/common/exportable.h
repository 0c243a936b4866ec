/* Restricts mappings to those that can be exported to another tool's format. */
#ifndef SEARCH_COMMON_EXPORTABLE_H
#define SEARCH_COMMON_EXPORTABLE_H
#include "tileflow/export.h"

/* Whether the format can express the mapping (NULL: never); true without a format. */
bool tf_can_export(const char *format, const tf_tree *tree);
/* Whether it can express any mapping of the workload on the architecture; else errors in d.  True
 * without a format. */
bool tf_may_export(const char *format, const tf_arch *arch, const tf_workload *wl, tf_diags *d);
#endif
