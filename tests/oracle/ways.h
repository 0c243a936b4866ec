/* Which way counts what (ways.c). */
#ifndef TESTS_ORACLE_WAYS_H
#define TESTS_ORACLE_WAYS_H
#include <stdbool.h>
#include <stdint.h>

#include "tileflow/model.h"

/* What a program knows of a model beyond its interface, and what machines must have. */
typedef struct {
  void (*walk)(tf_model *m);            /* from now on it walks */
  int64_t (*walked)(const tf_model *m); /* steps that the last evaluation walked */
  unsigned features;                    /* of machines: GEN_PEERS */
} ways_hooks;

/* Draws `each` mappings a kind of workload, with lengths of up to a million, and prints how they
 * are counted: how many by each way, with the median, 99th of 100 and worst of their times.  only:
 * the kind of that name, else kinds whose name has it.  compare: figures are held against a walk.
 * Returns how many differ. */
long ways_print(long each, uint64_t seed, const char *only, bool compare, ways_hooks hooks);
#endif
