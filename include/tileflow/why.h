/* Why words move: what an evaluation counted, by cause. */
#ifndef TILEFLOW_WHY_H
#define TILEFLOW_WHY_H
#include "tileflow/model.h"

/* id, key (JSON, CSV).  "It" is the tensor; words are those beyond one pass unless said otherwise. */
/* clang-format off */
#define TF_CAUSES(X)                                                                            \
  X(FIRST, "needed")           /* entered once: the tensor, or what of it is touched */         \
  X(LOOP, "loop")              /* a loop that does not move it stands outside of what does */   \
  X(SEQ, "seq")                /* a Seq gives it up between two visits */                       \
  X(SPLIT, "split")            /* children of a Para or Pipe enter it each for themselves */    \
  X(PRODUCTION, "production")  /* the production of an intermediate has ended: it is made anew */ \
  X(LAYOUT, "layout")          /* another child had it spread otherwise, or its reduction spread */ \
  X(HALO, "halo")              /* neighbouring boxes overlap, and the overlap enters again */    \
  X(COPIES, "copies")          /* instances of a spatial loop that does not move it hold one each */ \
  X(PARTIAL, "partial")        /* partial sums leave and come back: a reduced loop stands outside */ \
  X(AGAIN, "again")            /* a Tile of another op enters it, too */                        \
  X(UNITS, "units")            /* all that compute units read and update: they keep nothing */  \
  X(STREAM, "stream")          /* all corrections of a streamed reduction */
/* clang-format on */
typedef enum {
#define X(id, key) TF_WHY_##id,
  TF_CAUSES(X)
#undef X
      TF_N_CAUSES
} tf_cause;

/* Words that one Tile (or op) moves of one tensor for one cause, over instances and the whole run. */
typedef struct {
  int tensor;
  int above, level; /* memory that serves it; memory that it fills, -1: compute units */
  int node;         /* the Tile or op; of STREAM: the scope that streams */
  tf_cause cause;
  int at, slot;    /* the loop that repeats: nodes[at].loops[slot]; the Seq: at alone; else -1 */
  int64_t size;    /* words of the tensor: so many are one pass; saturates */
  tf_counts words; /* fill and drain at `level`, read and update at `above`; peak: 0 */
} tf_why_row;

typedef struct {
  int n;
  tf_why_row *rows; /* by tensor, then from the outermost memory inwards */
  void *memory;     /* owned */
} tf_why;

/* The causes of what the model's last evaluation counted.  For each memory M and tensor, fill and drain summed over the
 * rows with level M, and read and update over those with above M, are exactly its counters.  What enters at a moment at
 * which loops that do not move the tensor have all not stepped yet is needed (or a halo, a copy); the rest falls to the
 * outermost of these loops that has stepped.  False, with nothing in out: no memory, or the evaluation walked more than
 * TF_WHY_WALK steps (it would be walked again).  The evaluation's result stays as it is.
 */
enum { TF_WHY_WALK = 1000000 };
bool tf_why_of(tf_model *m, tf_why *out);
void tf_why_free(tf_why *w);
const char *tf_cause_key(tf_cause c);
#endif
