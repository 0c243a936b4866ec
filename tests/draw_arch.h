/* Random machines for tests: every key that an architecture's file may have is drawn, by the tables
 * that read it.  A key that is added there ends the tests that draw, until draw_arch.c says how. */
#ifndef TESTS_DRAW_ARCH_H
#define TESTS_DRAW_ARCH_H
#include "base/rng.h"
#include "model/yaml/schema.h"

/* Parts of a file; a key may mean another thing in each. */
typedef enum {
  DRAW_ARCH,
  DRAW_MEMORY,
  DRAW_UNIT,
  DRAW_NETWORK,
  DRAW_BANDWIDTH,
  DRAW_ENERGY,
  DRAW_N
} draw_part;

tf_keys draw_keys_of(draw_part part);

/* `KEY: VALUE` for keys of the part that chance picks, each behind `between`; `but`: keys that are
 * not drawn, as " a b
 * ". Stays until the next call. */
const char *draw_some(tf_rng *g, draw_part part, const char *between, const char *but);
/* A value of one key. */
const char *draw_value(tf_rng *g, draw_part part, const char *key);
#endif
