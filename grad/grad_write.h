/* A draft as YAML. */
#ifndef GRAD_GRAD_WRITE_H
#define GRAD_GRAD_WRITE_H
#include "grad/draft.h"

/* Its ops, those from `first` on before the others; what each tensor needs of pads; inputs that are
 * read further past their end than before their start are read through a copy, as only an op's own
 * tensor may be padded so.  Malloc'd; NULL without memory. */
char *gr_write(gr_draft *d, int first, const char *title);
#endif
