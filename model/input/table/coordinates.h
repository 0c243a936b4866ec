/* Tensors of which it is known which elements are not zero (docs/FORMATS.md): files that list them,
 * a tuple of coordinates a line, or a matrix in the coordinate format of Matrix Market; bands; and
 * whether each element is read as often. */
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

/* Whether each rank of the reference is one dim, which moves over all of it, and no other rank has:
 * then each element is read equally often. */
bool tf_is_plain(const tf_workload *wl, const tf_tensor *t, const tf_ref *ref);
/* even[op]: whether it computes each point equally often, and reads for each. */
void tf_even_ops(const tf_workload *wl, bool *even);

/* The band of the coordinates x and y of ranks p < q: x - left <= y <= x + right. */
typedef struct {
  int p, q;
  int64_t left, right;
} tf_band;
/* How many rows the tensor has, of elements that lie in such a band one behind the other; 0: more
 * than TF_COORDINATES_MOST. */
int64_t tf_band_rows(const tf_band *b, const tf_tensor *t);
/* Fills runs and share of a tensor of so many; without runs if the band has no element.  False
 * without memory. */
bool tf_band_fill(const tf_band *b, const tf_tensor *t, tf_arena *a, tf_density *out);
#endif
