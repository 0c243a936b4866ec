/* Every way to map an op's loops onto an instruction's (docs/HOWTO-instruction.md).  Loops of an
 * instruction are numbered as in tf_instr, loops of an op by their position in tf_op.dims. */
#ifndef TILEFLOW_INSTR_H
#define TILEFLOW_INSTR_H
#include "tileflow/spec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The virtual mapping: which of the op's loops, fused in the op's order, each loop of the
 * instruction covers.  The op's other loops remain around the calls. */
typedef struct {
  uint64_t set[TF_INSTR_LOOPS]; /* bit 1 << loop of the op */
  bool executable; /* false only where counted as in the thesis: no call computes this */
} tf_instr_map;

/* The physical mapping: tiles of the instruction's size, the last of each loop padded with zeros.
 * An operand is packed: tile after tile, tiles in the order of its indices, and all of them for
 * each setting of the outer loops on which it depends. */
typedef struct {
  int64_t extent[TF_INSTR_LOOPS]; /* of the fused loops */
  int64_t tiles[TF_INSTR_LOOPS];
  int64_t outer; /* number of settings of the outer loops */
  int64_t calls;
  double utilization; /* points of the op / points that the calls can compute */
  struct {
    int64_t words;                     /* packed */
    int64_t tile_step[TF_INSTR_LOOPS]; /* words from one tile to the next along the loop; 0: the
                                          same tile */
    int64_t outer_step[64];            /* [n_dims of the op] the same for the outer loops */
  } operand[TF_INSTR_OPERANDS];
  double cycles; /* predicted, see tf_instr_place */
} tf_instr_place;

/* Why an op has no mapping. */
typedef enum { TF_INSTR_FITS, TF_INSTR_ELEMENT, TF_INSTR_LOOP, TF_INSTR_NONE } tf_instr_reason;

typedef struct {
  int64_t n;
  tf_instr_map *maps;
  int64_t effective; /* number of them that differ if loops of extent 1 are ignored, and that leave
                        no loop of the instruction idle which another loop of the op could fill */
  tf_instr_reason reason;
  int loop; /* TF_INSTR_LOOP: the instruction's loop that no loop of the op can be */
} tf_instr_maps;

/* All mappings.  paper: those that the thesis counts in its table 5.3; otherwise all correct ones
 * in which each of the op's loops is given to one loop of the instruction or to none, every loop of
 * the instruction has one, and operands are those of the op in the order of its expression.  False
 * with an error in d: more than 2^14, or memory ran out. Free out in either case. */
TF_API bool tf_instr_find(const tf_workload *wl, int op, const tf_instr *in, bool paper,
                          tf_instr_maps *out, tf_diags *d);
TF_API void tf_instr_maps_free(tf_instr_maps *m);

/* The layout of the operands, and the time of Eq. 5.6-5.8 for one schedule: calls for different
 * tiles of the output run on all units in parallel, those for one tile one after the other; sources
 * are read at each call, an output tile is written once; packed data pass the outermost memory
 * once.  False with an error in d where a count exceeds 2^63 -
 * 1. Requires map->executable. */
typedef struct {
  const tf_arch *arch; /* NULL: only the calls take time */
  bool paper; /* calls do not overlap (latency, as in Eq. 5.7); otherwise they start at the rate of
                 the throughput */
} tf_instr_timing;
TF_API bool tf_instr_place_of(const tf_workload *wl, int op, const tf_instr *in,
                              const tf_instr_map *map, tf_instr_timing how, tf_instr_place *out,
                              tf_diags *d);

#ifdef __cplusplus
}
#endif
#endif
