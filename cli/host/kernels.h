/* Small loops that are timed to learn what a computer delivers.  Each is compiled for the widest vectors that there may
 * be, and runs on any computer: what the processor lacks is left to narrower ones. */
#ifndef CLI_HOST_KERNELS_H
#define CLI_HOST_KERNELS_H
#include <stdbool.h>
#include <stdint.h>

/* float32 a vector of the loops below. */
int host_lanes(void);

/* n additions (a multiple of 8), each of which waits for the one before: a cycle each.  *sum: n.  False: nobody knows
 * their cycles on such a processor. */
bool host_adds(int64_t n, uint64_t *sum);

/* n rounds of HOST_VECTORS vectors of multiply-adds that do not wait for each other: s = s * x + 0, from x.  x 1:
 * returns HOST_VECTORS. */
enum { HOST_VECTORS = 12 };
float host_multiply_adds(int64_t n, float x);

/* n rounds of 4 multiply-adds of vectors, each of which waits for the one before.  x 1: returns 1. */
float host_multiply_add_chain(int64_t n, float x);

/* The sum, modulo 2^64, of n words of 64 bits (a multiple of 64 of them); and sets them. */
uint64_t host_read(const uint64_t *p, int64_t n);
void host_write(uint64_t *p, int64_t n, uint64_t v);

/* to[i] = exp(from[i]), -80 <= from[i] <= 0, to within 1e-5 of itself; n a multiple of 64. */
void host_exp(const float *from, float *to, int64_t n);

/* n calls of a function that does nothing, each with what the one before gave; n. */
int64_t host_calls(int64_t n);

/* n rounds of HOST_TILES products of tiles of bfloat16, HOST_TILE_WORK multiply-adds each; false: such a processor has
 * no tiles.  Only where it has, and the system has given leave to use them: where tf_emit_isa names them. */
enum { HOST_TILES = 4, HOST_TILE_WORK = 16 * 16 * 32 };
bool host_tiles(int64_t n);
#endif
