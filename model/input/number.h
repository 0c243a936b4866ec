/* Numbers of the input: arithmetic on params, and quantities with units. */
#ifndef MODEL_INPUT_NUMBER_H
#define MODEL_INPUT_NUMBER_H
#include "base/quantity.h"
#include "model/input/lex.h"
#include "model/input/reader.h"

/* ---- params ------------------------------------------------------------------------- */
/* The params of all files.  Those of a file belong to its sections.  A name that a file lacks is
 * looked up in files without sections, whose params belong to all, then in the other files; if two
 * of these have it, it is ambiguous. */
enum { TF_OF_ARCH, TF_OF_WORKLOAD, TF_OF_MAPPING, TF_OF_INSTR, TF_N_OF };
typedef struct {
  size_t n;
  const tf_ynode **map;   /* [n] the section of one file each */
  bool *shared;           /* [n] the file has no other section */
  uint16_t file[TF_N_OF]; /* the file that has the section; 0: none */
} tf_param_files;

/* Takes the params and the settings; reports in r->diags what is wrong with any of them, every
 * param evaluated.  A setting NAME reaches every file that has the name, arch.NAME (workload.NAME,
 * mapping.NAME) the file of that section alone.  Sets r->params.  False without memory. */
bool tf_params_read(tf_reader *r, const tf_param_files *files, const tf_setting *set, size_t n_set);

typedef enum { TF_PARAM_UNKNOWN, TF_PARAM_FAILED, TF_PARAM_KNOWN } tf_param_state;
/* The value of a param, as r->file sees it.  FAILED: its own error has been reported. */
tf_param_state tf_param_value(tf_reader *r, const char *name, size_t len, tf_lex *from,
                              tf_value *out);
const char *tf_param_name(const tf_params *p, size_t i); /* NULL past the last */
/* The same with its value, unless value is NULL; only where reading has ended without an error. */
const char *tf_param_number(const tf_params *p, size_t i, double *value);
/* Whether the file, or one whose params belong to all, has the param. */
bool tf_param_find(const tf_params *p, uint16_t file, const char *name, tf_loc *at);

/* ---- expressions -------------------------------------------------------------------- */
/* sum := product {(+|-) product}; numbers, params, ( ), unary minus, ceil floor min max.
 * Stops at the first token that cannot go on.  False with the error in r->diags, except
 * where a param it uses has failed before. */
bool tf_parse_number(tf_reader *r, tf_lex *x, tf_value *out);

/* + - * / on values.  NULL, or what is wrong with the result (an E_RANGE). */
const char *tf_value_op(char op, tf_value a, tf_value b, tf_value *out);

/* ---- scalars ------------------------------------------------------------------------ */
/* `what` names the key in messages ("capacity").  All report what is wrong; false then. */
bool tf_read_value(tf_reader *r, const tf_ynode *node, const char *what, tf_value *out);
/* A whole number in lo .. hi. */
bool tf_read_int(tf_reader *r, const tf_ynode *node, const char *what, int64_t lo, int64_t hi,
                 int64_t *out);
bool tf_read_bool(tf_reader *r, const tf_ynode *node, const char *what, bool *out);

/* A number with a unit of one of `measures`; value is in that measure's base unit.  A plain
 * number (unit NULL) only where plain_ok.  Not negative, finite. */
typedef struct {
  tf_value value;
  const tf_unit_row *unit;
} tf_quantity;
bool tf_read_quantity(tf_reader *r, const tf_ynode *node, const char *what, unsigned measures,
                      bool plain_ok, tf_quantity *out);
#endif
