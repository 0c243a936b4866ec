/* What stands behind figures: counts of an evaluation by cause, energies and areas as sources
 * differ. */
#ifndef TILEFLOW_WHY_H
#define TILEFLOW_WHY_H
#include "tileflow/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* id, key (JSON, CSV).  "It" is the tensor; words are those beyond one pass unless said otherwise.
 */
/* clang-format off */
#define TF_CAUSES(X)                                                                                        \
  X(FIRST, "needed")           /* entered once: the tensor, or the part of it that is touched */            \
  X(LOOP, "loop")              /* a loop that does not move it is outside of one that does */               \
  X(SEQ, "seq")                /* a Seq drops it between two visits */                                      \
  X(SPLIT, "split")            /* children of a Para or Pipe each load it for themselves */                 \
  X(PRODUCTION, "production")  /* the production of an intermediate has ended: it is produced again */      \
  X(LAYOUT, "layout")          /* another child had it under another layout, or its reduction was spread */ \
  X(HALO, "halo")              /* neighbouring boxes overlap, and the overlap is loaded again */            \
  X(COPIES, "copies")          /* instances of a spatial loop that does not move it hold a copy each */     \
  X(PARTIAL, "partial")        /* partial sums leave and come back: a reduced loop is outside */            \
  X(AGAIN, "again")            /* a Tile of another op enters it, too */                                    \
  X(UNITS, "units")            /* all that compute units read and update: they keep nothing */              \
  X(STREAM, "stream")          /* all corrections of a streamed reduction */
/* clang-format on */
typedef enum {
#define X(id, key) TF_WHY_##id,
  TF_CAUSES(X)
#undef X
      TF_N_CAUSES
} tf_cause;

/* Words that one Tile (or op) moves of one tensor for one cause, over instances and the whole run.
 */
typedef struct {
  int tensor;
  int above, level; /* memory that serves it; memory that it fills, -1: compute units */
  int node;         /* the Tile or op; for STREAM: the scope that streams */
  tf_cause cause;
  int at,
      slot; /* the loop that repeats: nodes[at].loops[slot]; for a Seq: `at` only; otherwise -1 */
  int64_t size;    /* words of the tensor, which make one pass; saturating */
  tf_counts words; /* fill and drain at `level`, read and update at `above`; peak: 0 */
} tf_why_row;

typedef struct {
  int n;
  tf_why_row *rows; /* by tensor, then from the outermost memory inwards */
  void *memory;     /* owned */
} tf_why;

/* The causes of the counts of the model's last evaluation.  For each memory M and tensor, fill and
 * drain summed over the rows with level M, and read and update over those with above M, are exactly
 * its counters.  What enters while all loops that do not move the tensor are at their first setting
 * is needed (or a halo, a copy); the rest is attributed to the outermost of these loops that has
 * stepped.  False, with nothing in out: no memory, or the evaluation walked more than TF_WHY_WALK
 * steps (which would be walked again).  The evaluation's result is unchanged. */
enum { TF_WHY_WALK = 1000000 };
TF_API bool tf_why_of(tf_model *m, tf_why *out);
TF_API void tf_why_free(tf_why *w);
TF_API const char *tf_cause_key(tf_cause c);

/* ---- how sure energies and areas are --------------------------------------------------------- */
typedef struct {
  double low, high;
} tf_margin;

/* The energy of the model's last evaluation if each component that the tables price costs the
 * least, and the most, that a published source says (docs/FORMATS.md); pJ, and leakage is in the
 * whole alone.  False: tables price nothing of it, and both ends are what was counted. */
TF_API bool tf_energy_range(const tf_model *m, tf_margin *out);
TF_API bool tf_level_energy_range(const tf_model *m, int level, tf_margin *out);
TF_API bool tf_unit_energy_range(const tf_model *m, int unit, tf_margin *out);
/* The same of tf_arch_area, in um2. */
TF_API bool tf_area_range(const tf_arch *a, tf_margin *out);

#ifdef __cplusplus
}
#endif
#endif
