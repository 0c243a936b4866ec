/* Random small cases: architecture, workload and mapping as the YAML that `tileflow eval` reads. */
#ifndef TESTS_ORACLE_GEN_H
#define TESTS_ORACLE_GEN_H
#include <stddef.h>

#include "base/rng.h"
#include "tileflow/model.h"

typedef struct {
  char text[16384];
  size_t len;
} page;

/* Appends; a number from lo to hi. */
void page_say(page *p, const char *fmt, ...) TF_PRINTF(2, 3);
int rng_between(tf_rng *g, int lo, int hi);
bool rng_chance(tf_rng *g, int n); /* one time in n */

/* Names of what a case was drawn to have, for the coverage table. */
typedef enum {
  GEN_SPATIAL,
  GEN_PARTIAL,
  GEN_BYPASS,
  GEN_KEEP,
  GEN_RETAIN,
  GEN_STREAM,
  GEN_NESTED,
  GEN_PAD,
  GEN_PARA,
  GEN_PIPE,
  GEN_SHAR,
  GEN_SEQ,
  GEN_NO_NETWORK,
  GEN_PERFECT,
  GEN_DOUBLE_BUFFER,
  GEN_NONE,
  GEN_LATENCY,
  GEN_PIPELINE,
  GEN_UNITS,
  GEN_FLAT,
  GEN_ROOT,
  GEN_BITS,
  GEN_MASK,
  GEN_FREE,
  GEN_SPELLED,
  GEN_DIVIDED,
  GEN_ENERGY,
  GEN_HOPS,
  GEN_OUTER_CAPACITY,
  GEN_HOME,
  GEN_PARTS,
  GEN_PEERS,
  GEN_N
} gen_feature;

/* Writes an architecture and a workload (gen_input.c), one with padding, a mask, drawn freely, or a
 * softmax spelled in any way if `asked` has GEN_PAD, GEN_MASK, GEN_FREE or GEN_SPELLED; a machine
 * whose memories take words from their neighbours if it has GEN_PEERS; the workload's kind. */
const char *gen_input(tf_rng *g, page *p, unsigned *features, unsigned asked);
/* Writes a workload with a mask (gen_masked.c); its kind. */
const char *gen_masked(tf_rng *g, page *p);
/* Writes a workload of more than 64 ops (gen_many.c), and a mapping of it; the workload's kind. */
const char *gen_many(tf_rng *g, page *p);
void gen_many_mapping(tf_rng *g, page *p, const tf_arch *arch, const tf_workload *wl);
extern const char gen_many_name[];
/* Writes a workload whose window slides, and a mapping of it in which neighbours need what others
 * held; the workload's kind (gen_peers.c). */
const char *gen_peers(tf_rng *g, page *p);
void gen_peers_mapping(tf_rng *g, page *p, const tf_arch *arch, const tf_workload *wl);
extern const char gen_peers_name[];
/* Writes a workload with padding (gen_padded.c). */
void gen_padded(tf_rng *g, page *p);
/* Writes a workload of any ops and indices (gen_free.c). */
void gen_free(tf_rng *g, page *p);
/* Writes a workload whose indices have / and % (gen_divided.c). */
void gen_divided(tf_rng *g, page *p);
/* Writes the case of that seed: first the architecture and the workload, then the mapping.
 * *features: bits 1 << gen_feature, GEN_PAD, GEN_MASK, GEN_FREE or GEN_SPELLED alone before: such a
 * workload, GEN_HOME: inputs and outputs live in memories further in, GEN_PARTS: memories have
 * parts, GEN_PEERS: neighbours hand words on; *kind: the workload's. False if the workload itself
 * was refused (a bug of the generator). */
bool gen_case(uint64_t seed, page *p, unsigned *features, const char **kind);
/* Writes how tensors lie in memories with lines: one memory in two. */
void gen_layouts(tf_rng *g, page *p);
/* Writes a mapping of the architecture and workload on the page.  False: they are refused. */
bool gen_mapping(tf_rng *g, page *p, unsigned *features);
extern const char *const gen_feature_name[GEN_N];
/* Whether machines have memories with lines, and tensors layouts in them. */
extern bool gen_with_lines;
/* Whether some dims have more than 16 elements, and spatial loops take as many steps. */
extern bool gen_wide;
/* Whether loops move reads of one tensor differently, by siblings or in one box. */
extern bool gen_turned;
/* An extent: 1 to most, or a wide one. */
int gen_extent(tf_rng *g, int most);
/* One case in so many has ops without dims and tensors of one number; 0: none has. */
extern int gen_numbers_in;
#endif
