/* The values that params take. */
#ifndef SWEEP_SECTION_OVER_H
#define SWEEP_SECTION_OVER_H
#include "sweep/section/section.h"

/* `over` and `zip`, either of which may be NULL. */
bool sweep_over_read(tf_reader *r, const tf_ynode *over, const tf_ynode *zip, sweep_section *out);
#endif
