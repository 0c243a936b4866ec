/* Time that passes.  A deadline is a sum: tf_now() + seconds. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

/* Seconds since some fixed moment; never falls. */
double tf_now(void);
#endif
