/* Small loops that are timed to measure a computer.  They are compiled for each vector width, and
 * the widest that the processor has is used, so that they run on any computer. */
#ifndef CLI_HOST_HOST_KERNELS_H
#define CLI_HOST_HOST_KERNELS_H
#include <stdbool.h>
#include <stdint.h>

/* float32 a vector of the loops below. */
int host_lanes(void);

/* n additions (a multiple of 8), each depending on the one before: one cycle each.  *sum: n. False:
 * the cycles are not known for this kind of processor. */
bool host_adds(int64_t n, uint64_t *sum);

/* n rounds of HOST_VECTORS independent vector multiply-adds: s = s * x + 0, from x.  For x = 1 it
 * returns HOST_VECTORS. */
enum { HOST_VECTORS = 12 };
float host_multiply_adds(int64_t n, float x);

/* n rounds of 4 vector multiply-adds, each depending on the one before.  For x = 1 it returns 1. */
float host_multiply_add_chain(int64_t n, float x);

/* The sum, modulo 2^64, of n 64-bit words (a multiple of 64 of them); and a loop that writes them.
 */
uint64_t host_read(const uint64_t *p, int64_t n);
void host_write(uint64_t *p, int64_t n, uint64_t v);

/* to[i] = exp(from[i]), -80 <= from[i] <= 0, with a relative error of at most 1e-5; n a multiple
 * of 64. */
void host_exp(const float *from, float *to, int64_t n);

/* n calls of an empty function, each with the result of the one before; returns n. */
int64_t host_calls(int64_t n);

/* n rounds of HOST_TILES bfloat16 tile products, HOST_TILE_WORK multiply-adds each; false: such a
 * processor has no tiles. Call it only where the processor has tiles and the system allows their
 * use: where tf_emit_isa names them. */
enum { HOST_TILES = 4, HOST_TILE_WORK = 16 * 16 * 32 };
bool host_tiles(int64_t n);
#endif
