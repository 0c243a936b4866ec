/* What every reader of a section carries. */
#ifndef MODEL_INPUT_READER_H
#define MODEL_INPUT_READER_H
#include "model/yaml/schema.h"
#include "tileflow/spec.h"

typedef struct tf_params tf_params;

typedef struct {
  tf_arena *arena; /* of the tf_spec */
  tf_diags *diags;
  tf_params *params;
  uint16_t file; /* whose section is read: whose params it sees first */
  int depth;     /* of parentheses and params in evaluation */
} tf_reader;

/* Limits, each an E_LIMIT when passed. */
enum {
  TF_MAX_PARAMS = 4096,
  TF_MAX_DIMS = 4096,
  TF_MAX_OP_DIMS = 64, /* of one op: sets of its dims are 64-bit words */
  TF_MAX_OPS = 4096,
  TF_MAX_TENSORS = 8192,
  TF_MAX_RANK = 16,
  TF_MAX_READS = 64,    /* of one op */
  TF_MAX_EXPR = 512,    /* nodes of one element expression */
  TF_MAX_FLOORS = 1024, /* different quotients in the indices of a workload */
  TF_MAX_TEXT = 16384,  /* bytes of one expression */
  TF_MAX_DEPTH = 200,   /* parentheses, and params that refer to params */
  TF_MAX_MEMORIES = 16,
  TF_MAX_UNITS = 16,
  TF_MAX_INSTRS = 256
};

/* Reports that memory ran out; always false. */
bool tf_no_memory(const tf_reader *r);

/* The text of a scalar that names something; reports what is no name.  NULL then. */
const char *tf_read_name(tf_reader *r, const tf_ynode *node, const char *what, bool dashes);

/* A title: any text of one line that is not empty. */
const char *tf_read_title(tf_reader *r, const tf_ynode *node);

/* Reads the sections.  NULL after an error, all of them in r->diags.  clock and word-bits of
 * the architecture serve its quantities; arch may be NULL for a workload alone. */
tf_arch *tf_read_arch(tf_reader *r, const tf_ynode *section);
tf_workload *tf_read_workload(tf_reader *r, const tf_ynode *section, const tf_arch *arch);
/* arch may be NULL: then the memories they name are not looked up. */
const tf_instr *tf_read_instrs(tf_reader *r, const tf_ynode *section, const tf_arch *arch, int *n);
#endif
