/* Where the elements of a tensor lie in a memory with lines, and the lines that a set of them
 * touches (docs/SEMANTICS.md section 9). */
#ifndef MODEL_LAYOUT_PLACE_H
#define MODEL_LAYOUT_PLACE_H
#include "tileflow/spec.h"

enum { TF_PLACE_RANKS = 16, TF_PLACE_PARTS = 2 * TF_PLACE_RANKS };

/* An element's address is the sum over the parts of stride * (y / div % mod), y its coordinate in
 * the room of its rank; mod 0: all of y / div. */
typedef struct {
  int rank;
  int64_t div, mod, stride;
} tf_place_part;

typedef struct {
  int n_ranks, n_parts;
  tf_place_part part[TF_PLACE_PARTS]; /* the last one is the fastest */
  int64_t room[TF_PLACE_RANKS]; /* elements along each rank; the coordinate x lies at (x - lo) mod
                                   room */
  int64_t cut[TF_PLACE_RANKS];  /* by which a layout cuts it; 1: not at all */
  int64_t bits, line_bits;      /* of an element, of a line */
  int64_t banks, ports;         /* ports: lines that a bank serves in a cycle */
} tf_places;

/* A set of elements: a box less a box, or points; coordinates from its lower end. */
typedef struct {
  int64_t len[TF_PLACE_RANKS];
  bool lacks;
  int64_t gap_lo[TF_PLACE_RANKS], gap_len[TF_PLACE_RANKS];
  int n_points;          /* 0: the box */
  const int64_t *points; /* [n_points * n_ranks] */
} tf_elements;

/* Lines that are touched, and cycles of the bank that has most of them. */
typedef struct {
  int64_t lines, cycles;
} tf_touched;

typedef struct {
  int64_t lo, hi; /* both touched */
} tf_line_run;

/* Working storage; all 0 to begin with. */
typedef struct {
  tf_line_run *runs;
  int64_t n, work; /* work: runs that were looked at, in all */
  int64_t *bank, n_bank;
  bool starved;
} tf_line_set;

void tf_line_set_free(tf_line_set *s);

/* How a tensor with that room lies in memory `mem`.  False: its address would pass 2^62 bits. */
bool tf_places_make(const tf_memory *mem, const tf_tensor *z, const int64_t *room, tf_places *out);

/* The lines of a set whose lower end is at coordinates `at` (0 .. room - 1), `shift` bits further
 * on. */
tf_touched tf_touched_by(const tf_places *p, const int64_t *at, int64_t shift, const tf_elements *c,
                         tf_line_set *s);
#endif
