/* The operators that are known. */
#include <string.h>

#include "model/import/onnx/onnx.h"

static const ox_kind *const tables[] = {ox_points, ox_products, ox_windows,    ox_sums,
                                        ox_moves,  ox_resizes,  ox_transposed, ox_einsums};

const ox_kind *ox_kind_of(const char *type) {
  for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
    for (const ox_kind *k = tables[t]; k->type; k++)
      if (!strcmp(k->type, type)) return k;
  return NULL;
}
