/* The values that params take. */
#ifndef SWEEP_SECTION_OVER_H
#define SWEEP_SECTION_OVER_H
#include "sweep/section/section.h"

/* Either may be NULL.  `zip` names params of `over`, and is read after it. */
bool sweep_over_read(tf_reader *r, const tf_ynode *over, sweep_section *out);
bool sweep_zip_read(tf_reader *r, const tf_ynode *zip, sweep_section *out);
#endif
