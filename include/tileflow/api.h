/* What the library exports: each function that these headers declare, and no other name
 * (tests/symbols.sh compares). */
#ifndef TILEFLOW_API_H
#define TILEFLOW_API_H

/* Stands before each of them.  All else is compiled with hidden symbols, so that a program's own
 * names are its own. */
#ifndef TF_API
#if defined(__GNUC__)
#define TF_API __attribute__((visibility("default")))
#else
#define TF_API
#endif
#endif

#endif
