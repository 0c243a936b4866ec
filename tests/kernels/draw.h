/* Random cases of the oracle's generator, parsed. */
#ifndef TESTS_KERNELS_DRAW_H
#define TESTS_KERNELS_DRAW_H
#include "tests/oracle/gen.h"

typedef struct {
  page text;
  tf_diags *diags;
  tf_spec *spec;
  tf_tree *tree; /* NULL: the tree's rules refuse the mapping */
} drawn;

/* A seed of one of the convolutions, of the rows, of the forks, of the windows, of the streams, of
 * few rows, of panels, of any layout of space, of a softmax, below instead, or of indices that
 * divide (tests/oracle/gen_divided.c). */
#define DRAW_CONV (UINT64_C(1) << 63)
#define DRAW_ROWS (UINT64_C(1) << 62)
#define DRAW_WILD (UINT64_C(1) << 61)
#define DRAW_FORKS (UINT64_C(1) << 60)
#define DRAW_WINDOW (UINT64_C(1) << 59)
#define DRAW_STREAM (UINT64_C(1) << 58)
#define DRAW_FEW (UINT64_C(1) << 57)
#define DRAW_PANELS (UINT64_C(1) << 56)
#define DRAW_DEALT (UINT64_C(1) << 55)
#define DRAW_SPACE (UINT64_C(1) << 54)
#define DRAW_SPELLED (UINT64_C(1) << 53)
#define DRAW_DIVIDED (UINT64_C(1) << 52)
#define DRAW_HOMES (UINT64_C(1) << 47)
#define DRAW_THIN (UINT64_C(1) << 46)
/* Experts, scans, heads cut from one tensor, tensors of bytes, norms, windows of keys, convolutions
 * with gaps and transposed ones, experts by a table, chains of bytes: their number, from 1, is in
 * four bits of the seed. */
enum {
  DRAW_EXPERTS,
  DRAW_SCANS,
  DRAW_HEADS,
  DRAW_BYTES,
  DRAW_NORMS,
  DRAW_WINDOWS,
  DRAW_CONVS,
  DRAW_ROUTED,
  DRAW_CHAINS,
  DRAW_TRANSPOSED,
  DRAW_N_NAMED
};
#define DRAW_NAMED(kind) ((UINT64_C(1) + (kind)) << 48)
/* The named kind of the seed; -1: it has none. */
int draw_named_kind(uint64_t seed);

/* A line of an architecture: pages so small that rows of sums are whole pages long, and spaced out.
 */
#define DRAW_SMALL_PAGES "  core: {line: 16 B, page: 64 B}\n"

/* draw_conv.c: small convolutions, one or two in a row, whose lanes are to run along channels. */
void draw_conv(page *p, uint64_t seed);
/* draw_rows.c: maps and sums of rows before a product that reads the rows. */
void draw_rows(page *p, uint64_t seed);
/* draw_window.c: sums and maxima over small windows, maps of them, and a product over channels
 * behind. */
void draw_window(page *p, uint64_t seed);
/* draw_wild.c: what hangs on infinities, on what is not a number, and on the ends of the range. */
void draw_wild(page *p, uint64_t seed);
/* draw_wild.c: a case of the kind that the seed names. */
void draw_named(page *p, uint64_t seed);
/* draw_forks.c: an intermediate that is read inside and outside of a nested scope. */
void draw_forks(page *p, uint64_t seed);
/* draw_stream.c: attention whose keys are streamed below loops that come back to them. */
void draw_stream(page *p, uint64_t seed);
/* draw_few.c: few rows and a large operand, and rows that are copied once. */
void draw_few(page *p, uint64_t seed);
/* draw_panels.c: products of two inputs, of which the second may be laid out once for many calls.
 */
void draw_panels(page *p, uint64_t seed);
/* draw_panels.c: products that skip the zeros of an operand. */
void draw_thin(page *p, uint64_t seed);
/* draw_spelled.c: a softmax between two products, spelled in any way (tests/oracle/gen_spelled.h),
 * its keys streamed or not; the parts behind the architecture. */
void draw_spelled(page *p, uint64_t seed);
void draw_spelled_work(page *p, tf_rng *g, int most);
/* draw_dealt.c: a product of which two cores take pieces in turn. */
void draw_dealt(page *p, uint64_t seed);
/* draw_space.c: convolutions of one to three dims in any layout, with a mapping of any order. */
void draw_space(page *p, uint64_t seed);
/* An attribute of the case of that seed: 0 .. n - 1, whatever others are drawn of the same seed.  A
 * seed, or the number of a case, that is divided gives attributes with periods: those of which one
 * divides the other never meet freely. */
uint64_t draw_lot(uint64_t seed, const char *what, uint64_t n);

/* Which cases a program draws: --cases N of --seed S, or the one of --one SEED; shown: that one's
 * lowering. */
typedef struct {
  long cases;
  uint64_t seed, only;
  bool show;
} draw_plan;
draw_plan draw_options(int argc, char **argv, long cases);
/* Calls one with each seed, or with that of --one. */
void draw_each(const draw_plan *plan, void (*one)(void *ctx, uint64_t seed), void *ctx);

/* One of the instruction sets that can run and of `more` (NULL: of them alone): that of the
 * greatest lot, so that a seed gives the same one on another computer, if it is there. */
const char *draw_isa(uint64_t seed, bool (*can_run)(const char *isa), const char *more);

/* To be closed. */
void draw(drawn *c, uint64_t seed);
void draw_close(drawn *c);
/* The case as YAML, its seed and what the diagnostics say. */
void draw_print(const drawn *c, uint64_t seed);
/* Whether emit takes the mapping: makers and readers that other loops split, and instances that
 * would need running values of their own, it refuses. */
bool draw_can_emit(const drawn *c);
#endif
