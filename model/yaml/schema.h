/* Which keys a map may have: the check is driven by a table per map. */
#ifndef MODEL_YAML_SCHEMA_H
#define MODEL_YAML_SCHEMA_H
#include "model/yaml/node.h"

/* A bit of `kinds`: a spelling of an earlier version, which is read and never proposed. */
enum { TF_Y_EARLIER = 8 };
/* kinds: mask of tf_ykind; 0: anything. */
typedef struct {
  const char *key;
  unsigned kinds;
  bool required;
} tf_yrow;

/* A table of keys.  Readers check files by them; tests that draw files walk them. */
typedef struct {
  const tf_yrow *rows;
  size_t n;
} tf_keys;

/* Reports in d every key that has no row (with the nearest that has), every value of a
 * kind its row does not allow, every required key that is missing.  values[i] becomes the
 * value of rows[i], NULL if absent or of the wrong kind.  `what` names the map in messages
 * ("a memory").  False if anything was reported. */
bool tf_yschema_check(const tf_ynode *map, const tf_yrow *rows, size_t n, const char *what,
                      const tf_ynode **values, tf_diags *d);

/* Is the node of one of the kinds?  Reports E_TYPE otherwise: "NAME must be a list, not
 * text". */
bool tf_yschema_kind(const tf_ynode *node, unsigned kinds, const char *name, tf_diags *d);
#endif
