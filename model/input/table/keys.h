/* The keys of an architecture's file as tables: the rows of include/tileflow/spec.h, and what each
 * kind of key is. Whatever must know every key (readers, identities, comparisons, docs, the JSON
 * Schema, tests that draw machines) walks them. */
#ifndef MODEL_INPUT_TABLE_KEYS_H
#define MODEL_INPUT_TABLE_KEYS_H
#include <stddef.h>

#include "model/yaml/schema.h"
#include "tileflow/spec.h"

/* id, kinds of YAML nodes, how a value reads in JSON Schema: a name of its "$defs", or "" if it is
 * said elsewhere. */
/* clang-format off */
#define TF_KEY_KINDS(X)                                                                                                \
  X(NAME, TF_Y_SCALAR, "name")              /* of a memory or unit */                                                  \
  X(TITLE, TF_Y_SCALAR, "title")            /* any text of one line */                                                 \
  X(MESH, TF_Y_LIST, "mesh")                                                                                           \
  X(WORDS, TF_Y_SCALAR, "size")             /* a size in words, or in bytes */                                         \
  X(LINE, TF_Y_SCALAR, "size")              /* the same, whole words, at most TF_MOST_FIGURE */                         \
  X(RATES, TF_Y_SCALAR | TF_Y_MAP, "rates") /* words a cycle, or bytes a second; a map: read and write */              \
  X(PJS, TF_Y_SCALAR | TF_Y_MAP, "energies") /* of a word, likewise */                                                 \
  X(POINT, TF_Y_SCALAR, "energy")           /* of a point */                                                           \
  X(PJ, TF_Y_SCALAR, "energy")                                                                                         \
  X(CYCLES, TF_Y_SCALAR, "time")            /* cycles, or ns */                                                        \
  X(FLAG, TF_Y_SCALAR, "flag")              /* true or false */                                                        \
  X(BITS, TF_Y_SCALAR, "bits")              /* 1 to TF_MOST_BITS */                                                    \
  X(AREA, TF_Y_SCALAR, "area")                                                                                         \
  X(OPS, TF_Y_LIST, "ops")                  /* op kinds */                                                             \
  X(BELOW, TF_Y_SCALAR, "name")             /* a memory */                                                             \
  X(RATE, TF_Y_SCALAR, "positive")          /* more than 0 */                                                          \
  X(HZ, TF_Y_SCALAR, "frequency")                                                                                      \
  X(NM, TF_Y_SCALAR, "length")              /* whole nm, 1 to TF_MOST_NM */                                            \
  X(TOPOLOGY, TF_Y_SCALAR, "topology")                                                                                 \
  X(OVERLAP, TF_Y_SCALAR, "overlap")                                                                                   \
  X(CORE, TF_Y_MAP, "core") X(MULTIPROCESSOR, TF_Y_MAP, "multiprocessor") /* structs with tables of their own */       \
  X(COUNT, TF_Y_SCALAR, "count")            /* of those: more than 0, at most TF_MOST_FIGURE */                        \
  X(COST, TF_Y_SCALAR, "cost")              /* the same or 0 */                                                        \
  X(SIZE, TF_Y_SCALAR, "bytes")             /* bytes, more than 0 */                                                   \
  X(ROOM, TF_Y_SCALAR, "bytes")             /* the same or 0 */                                                        \
  X(MAP, TF_Y_MAP, "")                      /* the rows behind it are its members */                                   \
  X(MEMORIES, TF_Y_LIST, "memories") X(UNITS, TF_Y_LIST, "units")                                                      \
  X(FORMATS, TF_Y_LIST, "formats") X(RULES, TF_Y_LIST, "rules")                                                        \
  X(POINTS, TF_Y_LIST, "points")            /* rules without a target */                                               \
  X(PARTS, TF_Y_LIST, "parts")              /* of a memory */                                                          \
  X(HOLDS, TF_Y_LIST, "holds")              /* roles of tensors */                                                     \
  X(ALSO, 0, "") X(PLACE, 0, "")            /* no keys; PLACE: where the key above is written, else what it is of */
/* clang-format on */
typedef enum {
#define X(id, yaml, json) TF_KEY_##id,
  TF_KEY_KINDS(X)
#undef X
      TF_N_KEY_KINDS
} tf_key_kind;

enum { TF_MOST_BITS = 4096, TF_MOST_NM = 10000, TF_MOST_FIGURE = 1000000000, TF_MOST_KEYS = 48 };

/* What a field holds; HELD: what is compared and written otherwise (names, places, structs). */
typedef enum {
  TF_FIELD_REAL,
  TF_FIELD_FLAG,
  TF_FIELD_INT,
  TF_FIELD_WHOLE,
  TF_FIELD_MASK,
  TF_FIELD_HELD
} tf_field_type;

typedef struct {
  tf_key_kind kind;
  const char *key;   /* "" where the row is a field alone */
  const char *field; /* NULL: it has none */
  tf_field_type type;
  size_t offset, size; /* in the struct */
  double usual;
  const char *left, *words;
} tf_key;

typedef struct {
  const char *what; /* "a memory" */
  const tf_key *keys;
  size_t n;
  const char *identity_order; /* fields in the order of an identity, "a b c"; others follow
                       where not as usual */
} tf_table;

extern const tf_table tf_arch_table, tf_memory_table, tf_part_table, tf_unit_table, tf_core_table,
    tf_multiprocessor_table;
/* The table of a struct in a field; NULL: the kind has none. */
const tf_table *tf_key_table(tf_key_kind kind);

const char *tf_key_json(tf_key_kind kind);
/* How files and logs of an earlier version spell it; NULL: likewise.  It is read, and identities
 * have it, so that logs from then still hold. */
const char *tf_key_earlier(const tf_key *k);
/* The key without the map that it is a member of. */
const char *tf_key_name(const tf_key *k);
bool tf_key_must(const tf_key *k);
/* Rows for the check of a map: of the table's own keys (part ""), or of the members of a map (its
 * key).  from: their numbers in the table.  Returns how many. */
size_t tf_key_rows(const tf_table *t, const char *part, tf_yrow rows[TF_MOST_KEYS],
                   size_t from[TF_MOST_KEYS]);
/* -1: none has the key. */
int tf_key_find(const tf_table *t, const char *key);

/* Fields of the struct s. */
static inline void *tf_key_at(const tf_key *k, void *s) { return (char *)s + k->offset; }
static inline const void *tf_key_of(const tf_key *k, const void *s) {
  return (const char *)s + k->offset;
}
void tf_key_set_usual(const tf_key *k, void *s);
bool tf_key_same(const tf_key *k, const void *s, const void *t);
/* All rows of the table. */
bool tf_keys_same(const tf_table *t, const void *a, const void *b);
bool tf_key_is_usual(const tf_key *k, const void *s);
#endif
