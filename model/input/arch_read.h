/* Shared by the readers of architectures: spec_arch.c has the sections, arch_keys.c their keys. */
#ifndef MODEL_INPUT_ARCH_READ_H
#define MODEL_INPUT_ARCH_READ_H
#include "model/input/number.h"
#include "model/input/reader.h"
#include "model/input/table/keys.h"

/* What `bandwidth` and `energy` may have if they are maps. */
tf_keys tf_bandwidth_keys(void);
tf_keys tf_energy_keys(void);

typedef struct {
  tf_reader *base;
  tf_arch *arch;
  bool have_clock;        /* given, or its absence already reported */
  bool have_memories;     /* read without an error, so that `below` can be looked up */
  const tf_memory *owner; /* the memory whose parts are read; NULL: none */
} tf_arch_reader;

/* The values of a map by the rows of its table, NULL where a key is absent; reports what no row
 * allows.  v: [t->n]. */
bool tf_keys_check(tf_arch_reader *r, const tf_ynode *map, const tf_table *t, const tf_ynode **v);
/* Reads them into the struct, each row its fields; what is left out is as usual.  at: the place of
 * the whole.  Names and lists of parts are left to the caller. */
bool tf_keys_read(tf_arch_reader *r, const tf_table *t, const tf_ynode **v, tf_loc at, void *into);

/* A name of a memory, a part of one, or a unit, which must not be a word of mapping texts. */
const char *tf_read_level_name(tf_arch_reader *r, const tf_ynode *node, const char *what);

/* A number that must be more than 0. */
bool tf_read_positive(tf_arch_reader *r, const tf_ynode *node, const char *what, double *out);
/* Reports a name that was given before; other NULL: none was. */
bool tf_check_new_name(tf_arch_reader *r, const char *name, tf_loc at, const char *other,
                       tf_loc other_at);
#endif
