/* What this computer delivers, measured by timed loops: figures that no file of the system
 * contains. */
#ifndef CLI_HOST_HOST_MEASURE_H
#define CLI_HOST_HOST_MEASURE_H
#include <stdbool.h>
#include <stdint.h>

/* The median of the rounds, and their interquartile range relative to it.  0, 0: not measured. */
typedef struct {
  double value, spread;
} host_figure;

host_figure host_figure_of(double *rounds, int n); /* sorts them; n above 0 */

enum { HOST_CACHES = 8 };
typedef struct {
  host_figure
      clock_hz;        /* 0 if no instruction's cycles are known; then the caller's clock is used */
  host_figure mac;     /* float32 multiply-adds a cycle of one core */
  host_figure latency; /* cycles of a multiply-add whose result the next one needs */
  host_figure exp;  /* exponentials a cycle, with operands and results in the first-level cache */
  host_figure tile; /* bfloat16 multiply-adds a cycle in AMX tiles */
  host_figure call; /* cycles of a call and its return */
  host_figure read[HOST_CACHES]; /* bytes a cycle that a core reads from a block of half the size of
                                    each cache, in the same order; the last is memory */
  host_figure write[HOST_CACHES]; /* the same for writes */
} host_measured;

/* bytes: sizes of n caches (< HOST_CACHES), outermost first; clock_hz: used where the clock cannot
 * be measured; tiles: whether the computer has AMX tiles and allows their use.  Takes a second or
 * two; uses processor time of the calling thread. False: memory ran out. */
bool host_measure(const int64_t *bytes, int n, double clock_hz, bool tiles, host_measured *out);
#endif
