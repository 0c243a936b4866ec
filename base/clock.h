/* Elapsed time.  A deadline is tf_now() + seconds. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

/* Seconds since some fixed moment; monotonic. */
double tf_now(void);
#endif
