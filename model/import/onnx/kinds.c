/* The operators that are known. */
#include <string.h>

#include "model/import/onnx/onnx.h"

static const ox_kind *const tables[] = {ox_points,  ox_products,   ox_windows, ox_sums,      ox_moves,
                                        ox_resizes, ox_transposed, ox_einsums, ox_recurrents};
enum { TABLES = sizeof tables / sizeof *tables };

const ox_kind *ox_kind_at(int at) {
  for (int t = 0; t < TABLES; t++)
    for (const ox_kind *k = tables[t]; k->type; k++)
      if (at-- == 0) return k;
  return NULL;
}

const ox_kind *ox_kind_of(const char *type) {
  const ox_kind *k = NULL;
  for (int at = 0; (k = ox_kind_at(at)) != NULL && strcmp(k->type, type) != 0;)
    at++;
  return k;
}
