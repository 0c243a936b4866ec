/* Softmax between two products, spelled in any way: where its scale, mask, maximum and division
 * stand, in which order its factors, and in how many ops; every choice drawn by itself. */
#ifndef TESTS_ORACLE_GEN_SPELLED_H
#define TESTS_ORACLE_GEN_SPELLED_H
#include "tests/oracle/gen.h"

enum { SPELLED_OPS = 16 };

/* Masks: none, bands that the model knows, or any that leave something of each row. */
typedef enum { SPELLED_PLAIN, SPELLED_BANDS, SPELLED_ROWS } spelled_masks;

typedef struct {
  spelled_masks masks;
  bool negates; /* so may a sign */
  bool behind;  /* the division may be an op outside of what streams */
  int most;     /* of an extent */
} spelled_may;

typedef struct {
  int n;
  struct {
    char name;
    char dims[8]; /* its loops, names of dims of one letter */
    bool behind;  /* it stands outside of what streams */
  } op[SPELLED_OPS];
  char streamed[32];     /* " X Z O" */
  int m, l, a, n_dim, b; /* extents; b 0: no batch */
} spelled;

/* Writes the section `workload`. */
void spell(tf_rng *g, page *p, spelled_may may, spelled *out);
#endif
