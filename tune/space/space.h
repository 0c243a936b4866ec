/* The schedules of an operator or a fused kernel as one integer vector: which form its tree has, for which instruction
 * set it is emitted and, for each form, into which factors every loop is split and in which order the loops of a Tile
 * stand (thesis 4.3).  A form is an open tree (tf_search_template) with a system of constraints derived from the
 * workload, the memories and the units; decisions of the forms that were not taken are 0. */
#ifndef TUNE_SPACE_SPACE_H
#define TUNE_SPACE_SPACE_H
#include "search/common/space.h"
#include "tileflow/model.h"
#include "tileflow/search.h"
#include "tune/csp/csp.h"

enum { TUNE_ORDER_LOOPS = 16 };

/* What a knob of a form's system stands for. */
typedef struct {
  int node, loop; /* loop -1: the order of the node's temporal loops */
} tune_knob;

/* A constraint PROD over knobs alone, whose product is an extent: factors move between them. */
typedef struct {
  int n;
  const int *knob; /* [n] places among the form's knobs */
} tune_split;

typedef struct {
  const char *name;
  tf_tree *tree; /* open */
  csp *s;
  tune_knob *knob; /* [s->n_knobs] as s->knob */
  int n_splits;
  tune_split *split;
  int first;        /* its first decision in the vector */
  csp_state *stack; /* [s->n_knobs + 1] */
} tune_form;

typedef struct {
  tf_space space;
  tf_arena *arena;
  const tf_arch *arch;
  const tf_workload *wl;
  int n_forms, n_isas;
  tune_form form[TF_N_TEMPLATES + 1];
  const char *const *isa;
  bool dead; /* what was taken last leaves nothing */
} tune_space;

enum { TUNE_FORM, TUNE_ISA, TUNE_FIRST }; /* decisions of every vector, and where the forms' begin */

/* The space of a workload; isas: names, at least one.  Borrows all.  NULL with errors in d: no form suits the workload.
 */
tune_space *tune_space_new(const tf_arch *arch, const tf_workload *wl, int n_isas, const char *const *isas,
                           const tf_text *more, tf_diags *d);
void tune_space_free(tune_space *s);
const tune_form *tune_form_of(const tune_space *s, const int32_t *row);

/* ---- skeleton.c: the system of a form, with further constraints, and how many decisions it has.  -1: memory ran out,
 * the tree is too large, nothing is left, or they are wrong (told in more->d). */
typedef struct {
  const tf_text *text; /* NULL: no more constraints */
  uint16_t file;
  tf_diags *d;
} tune_more;
int tune_form_system(tune_form *f, const tune_space *of, const tune_more *more);
/* How many orders n loops have in the space: all up to four, then which stands outermost and which innermost; of more
 * than TUNE_ORDER_LOOPS one. */
int tune_orders(int n);
/* The loops of the k-th order, outermost first; n is at most TUNE_ORDER_LOOPS. */
void tune_order(int n, int k, int order[TUNE_ORDER_LOOPS]);

/* ---- decode.c */
/* The mapping of a row; NULL where memory ran out or it breaks a rule that no constraint says. */
tf_tree *tune_decode(const tune_space *s, const int32_t *row);

/* ---- encode.c */
/* The row whose mapping the tree is; false: it is none of the space's. */
bool tune_encode(tune_space *s, const tf_tree *t, int isa, int32_t *row);

/* ---- moves.c: neighbours (thesis 4.3.2). */
/* Directions: of each split with n parts the n * (n - 1) moves of a factor from part j to part i, of each other
 * decision one up and one down, cyclic. */
int tune_directions(const tune_space *s);
/* The neighbour in that direction, into `to`; false: it has none, or the direction is of a form not taken. */
bool tune_step(tune_space *s, const int32_t *row, int direction, int32_t *to);
/* Two rows bred: of one form, by its system (csp_cross); else the first, varied. */
bool tune_breed(tune_space *s, tf_rng *rng, const int32_t *a, const int32_t *b, bool mutate, int32_t *child);

/* ---- trace.c */
/* The schedule as text that tune_trace_read reads back.  Malloc'd. */
char *tune_trace(const tune_space *s, const int32_t *row);
/* The row of a schedule's text; what it does not say must follow from what it says.  False with every error in d. */
bool tune_trace_read(tune_space *s, uint16_t file, const char *text, size_t len, int32_t *row, tf_diags *d);
#endif
