/* Preloaded by chosen.sh: programs of one thread that ask for the time that passes get their processor time (to a microsecond), which leaves
 * out what others run in between. */
#define _POSIX_C_SOURCE 200809L
#include <time.h>

int clock_gettime(clockid_t which, struct timespec *t) {
  if (which != CLOCK_MONOTONIC) return timespec_get(t, TIME_UTC) == TIME_UTC ? 0 : -1;
  clock_t now = clock();
  t->tv_sec = now / CLOCKS_PER_SEC;
  t->tv_nsec = now % CLOCKS_PER_SEC * (1000000000 / CLOCKS_PER_SEC);
  return 0;
}
