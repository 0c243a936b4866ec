/* Files that list which elements of a tensor are not zero (docs/FORMATS.md): a tuple of coordinates
 * a line, or a matrix in the coordinate format of Matrix Market. */
#ifndef MODEL_INPUT_TABLE_COORDINATES_H
#define MODEL_INPUT_TABLE_COORDINATES_H
#include "base/arena.h"
#include "tileflow/spec.h"

enum { TF_COORDINATES_MOST = 1 << 20 }; /* runs of elements, and elements that a file may list */

/* Fills runs and share of a tensor of these extents; false with errors in d. */
bool tf_coordinates_read(const char *path, const tf_tensor *t, tf_arena *a, tf_density *out,
                         tf_diags *d);

/* Sorts the runs, joins those that meet, and counts the share of `words` elements. */
void tf_runs_close(tf_density *out, int64_t words);
#endif
