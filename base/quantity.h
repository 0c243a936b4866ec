/* Units of quantities, one table (docs/FORMATS.md). */
#ifndef BASE_QUANTITY_H
#define BASE_QUANTITY_H
#include <stddef.h>

/* What a unit measures; a set of these is a mask. */
typedef enum {
  TF_Q_HZ = 1,    /* frequency, in Hz */
  TF_Q_BYTES = 2, /* size, in bytes */
  TF_Q_RATE = 4,  /* bytes per second */
  TF_Q_PJ = 8,    /* energy, in pJ */
  TF_Q_NM = 16,   /* length, in nm */
  TF_Q_NS = 32,   /* time, in ns */
  TF_Q_UM2 = 64   /* area, in um2 */
} tf_measure;

/* key, what it measures, how many of the base unit named above it is. */
/* clang-format off */
#define TF_UNITS(X)                                                                            \
  X("Hz", HZ, 1.0)                                                                             \
  X("kHz", HZ, 1e3) X("MHz", HZ, 1e6) X("GHz", HZ, 1e9) X("B", BYTES, 1.0)                     \
      X("KiB", BYTES, 1024.0) X("MiB", BYTES, 1048576.0) X("GiB", BYTES, 1073741824.0)         \
          X("KB", BYTES, 1e3) X("MB", BYTES, 1e6) X("GB", BYTES, 1e9) X("TB", BYTES, 1e12)     \
              X("B/s", RATE, 1.0) X("KiB/s", RATE, 1024.0) X("MiB/s", RATE, 1048576.0)         \
                  X("GiB/s", RATE, 1073741824.0) X("KB/s", RATE, 1e3) X("MB/s", RATE, 1e6)     \
                      X("GB/s", RATE, 1e9) X("TB/s", RATE, 1e12) X("pJ", PJ, 1.0)              \
                          X("nJ", PJ, 1e3) X("nm", NM, 1.0) X("ns", NS, 1.0)                \
                              X("um2", UM2, 1.0) X("mm2", UM2, 1e6)
/* clang-format on */

typedef struct {
  const char *key;
  tf_measure measure;
  double factor;
} tf_unit_row;

/* The row of a unit written exactly so, else NULL. */
const tf_unit_row *tf_unit_find(const char *text, size_t len);

/* The unit among those of `measures` that is nearest to the text, else NULL. */
const char *tf_unit_nearest(const char *text, size_t len, unsigned measures);

/* "B, KiB, ... or TB": the units of `measures`, for a message.  Returns buf. */
const char *tf_unit_list(unsigned measures, char *buf, size_t size);
#endif
