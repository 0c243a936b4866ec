/* Shared by the two files that read architectures, arch.c and arch_units.c. */
#ifndef MODEL_SPEC_ARCH_READ_H
#define MODEL_SPEC_ARCH_READ_H
#include "model/spec/number.h"
#include "model/spec/reader.h"

/* The keys that a part of an architecture may have. */
tf_keys tf_arch_keys(void);
tf_keys tf_memory_keys(void);
tf_keys tf_bandwidth_keys(void);
tf_keys tf_energy_keys(void);
tf_keys tf_network_keys(void); /* of a unit's network: but the last */
tf_keys tf_unit_keys(void);

typedef struct {
  tf_reader *base;
  tf_arch *arch;
  bool have_clock; /* given, or its absence already reported */
} tf_arch_reader;

/* Each takes NULL where the key is absent, unless it says so, and reports what is wrong. */
bool tf_read_mesh(tf_arch_reader *r, const tf_ynode *node, int64_t mesh[2]);
bool tf_read_network(tf_arch_reader *r, const tf_ynode *node, bool *multicast, bool *reduce,
                     double *hop_pj); /* hop_pj NULL: the key is not allowed */
bool tf_read_cycles(tf_arch_reader *r, const tf_ynode *node, const char *what, double *cycles);
bool tf_read_area(tf_arch_reader *r, const tf_ynode *node, double *um2, bool *given);
/* node must not be NULL: */
bool tf_read_energy(tf_arch_reader *r, const tf_ynode *node, const char *what, double *pj);
bool tf_read_positive(tf_arch_reader *r, const tf_ynode *node, const char *what, double *out);
const char *tf_read_level_name(tf_arch_reader *r, const tf_ynode *node, const char *what);
bool tf_check_new_name(tf_arch_reader *r, const char *name, tf_loc at, const char *other, tf_loc other_at);

/* The list of compute units.  memories: whether the memories are known, so that `below` can
 * be looked up. */
bool tf_read_units(tf_arch_reader *r, const tf_ynode *list, bool memories);

/* What kernels cost a core, and what a multiprocessor has for them; node NULL: as usual. */
bool tf_read_core(tf_arch_reader *r, const tf_ynode *node);
bool tf_read_multiprocessor(tf_arch_reader *r, const tf_ynode *node);
#endif
