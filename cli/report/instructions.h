/* The mappings of all ops onto all instructions. */
#ifndef CLI_INSTRUCTIONS_H
#define CLI_INSTRUCTIONS_H
#include "cli/cli.h"
#include "cli/text.h"
#include "tileflow/instr.h"

typedef struct {
  bool paper; /* counted as in the thesis */
  const tf_spec *spec;
  tf_instr_maps *maps;    /* [instruction * ops + op] */
  tf_instr_place **place; /* [instruction * ops + op][mapping] */
} instr_table;

/* False with an error in d.  Free it in either case. */
bool instr_make(instr_table *t, const tf_spec *spec, tf_diags *d);
void instr_free(instr_table *t);
void instr_json(const instr_table *t, cli_text *out);
void instr_text(const instr_table *t, cli_text *out);
#endif
