/* Which way counts what (ways.c). */
#ifndef TESTS_ORACLE_WAYS_H
#define TESTS_ORACLE_WAYS_H
#include <stdbool.h>
#include <stdint.h>

/* Draws `each` mappings a kind of workload, with lengths of up to `most`, and prints how they are counted: how many by
 * each way, with the median, 99th of 100 and worst of their times.  only: kinds whose name has it.  compare: figures
 * are held against a walk.  Returns how many differ. */
long ways_print(long each, uint64_t seed, double most, const char *only, bool compare);
#endif
