/* The table of kinds. */
#include "cli/plot/plot.h"

#define X(name, about, help) {#name, about, plot_##name},
static const plot_kind kinds[] = {PLOT_KINDS(X, X)};
#undef X

const plot_kind *plot_kind_at(int k) {
  return k >= 0 && k < (int)(sizeof kinds / sizeof *kinds) ? &kinds[k] : NULL;
}
