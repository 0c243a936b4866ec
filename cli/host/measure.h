/* What this computer delivers, as timed loops see it: what no file of the system says. */
#ifndef CLI_HOST_MEASURE_H
#define CLI_HOST_MEASURE_H
#include <stdbool.h>
#include <stdint.h>

/* The median of the rounds, and how far apart the middle half of them lies, as a share of it.  0, 0: not measured. */
typedef struct {
  double value, spread;
} host_figure;

host_figure host_figure_of(double *rounds, int n); /* sorts them; n above 0 */

enum { HOST_CACHES = 8 };
typedef struct {
  host_figure clock_hz; /* 0 where no instruction's cycles are known; then the caller's clock stands for it */
  host_figure mac;      /* float32 multiply-adds a cycle of one core */
  host_figure latency;  /* cycles of a multiply-add that the next one waits for */
  host_figure exp;      /* exponentials a cycle, operands and results in the first cache */
  host_figure tile;     /* bfloat16 multiply-adds a cycle in tiles */
  host_figure call;     /* cycles of a call and its return */
  host_figure
      read[HOST_CACHES]; /* bytes a cycle that a core reads of half of each cache, as listed; the last is memory */
  host_figure write[HOST_CACHES]; /* and writes */
} host_measured;

/* bytes: of n caches (below HOST_CACHES), outermost first; clock_hz: what is taken where the clock cannot be measured;
 * tiles: whether the computer has them and gives leave.  Takes a second or two, by the processor time of the calling
 * thread.  False: memory ran out. */
bool host_measure(const int64_t *bytes, int n, double clock_hz, bool tiles, host_measured *out);
#endif
