/* The schedules of an operator or a fused kernel as one integer vector: the form of its tree, the
 * instruction set, and, for each form, the factors into which every loop is split, the loop order
 * of each Tile (thesis 4.3), and the generator's other choices: how it unrolls, packs, lays
 * vectors, and where it computes intermediates.  A form is an open tree (tf_search_template) with a
 * constraint system derived from the workload, the memories and the units; decisions of forms not
 * chosen are 0. */
#ifndef TUNE_SPACE_SCHEDULES_H
#define TUNE_SPACE_SCHEDULES_H
#include "search/common/space.h"
#include "tileflow/emit.h"
#include "tileflow/model.h"
#include "tileflow/search.h"
#include "tileflow/tune.h"
#include "tune/csp/csp.h"

enum { TUNE_ORDER_LOOPS = 16 };

/* The meaning of a knob of a form's system. */
typedef struct {
  int node, loop; /* loop -1: the order of the node's temporal loops; node -1: the value of the
                     generator's choice of that number (TF_CHOICES) */
} tune_knob;

static inline bool tune_is_loop(const tune_knob *k) { return k->node >= 0 && k->loop >= 0; }
static inline bool tune_is_order(const tune_knob *k) { return k->node >= 0 && k->loop < 0; }
static inline bool tune_is_choice(const tune_knob *k) { return k->node < 0; }

/* A constraint PROD over knobs whose product is an extent: factors move between them. */
typedef struct {
  int n;
  const int *knob; /* [n] indices among the form's knobs */
} tune_split;

typedef struct {
  const char *name;
  tf_tree *tree; /* open */
  csp *s;
  tune_knob *knob; /* [s->n_knobs] as s->knob */
  int n_splits;
  tune_split *split;
  int first;        /* its first decision in the vector */
  int *feature;     /* [s->n_knobs] of tune_features: knobs of the same name are one in all forms */
  csp_state *stack; /* [s->n_knobs + 1] */
} tune_form;

typedef struct {
  tf_space space;
  tf_arena *arena;
  const tf_arch *arch;
  const tf_workload *wl;
  int n_forms, n_isas, n_features;
  int n_trees; /* forms that the ops fit, whether they fit the memories or not */
  tune_form form[TF_N_TEMPLATES + 1];
  const char *const *isa;
  bool dead; /* the last choice left no solution */
  /* Where only some rows are there: puts one of them that is near in the place of `to`, a step from
   * a (b is NULL) or a child of a and b.  False: none is.  NULL: every row of the system is there.
   */
  bool (*settle)(tf_space *space, const int32_t *a, const int32_t *b, int32_t *to);
} tune_space;

enum {
  TUNE_FORM,
  TUNE_ISA,
  TUNE_FIRST
}; /* the decisions of every vector; and where the forms' own begin */

/* The space of a workload; isas: names, at least one.  Borrows all.  NULL with errors in d: no form
 * suits the workload. */
tune_space *tune_space_new(const tf_arch *arch, const tf_workload *wl, int n_isas,
                           const char *const *isas, const tf_text *more, tf_diags *d);
void tune_space_free(tune_space *s);
const tune_form *tune_form_of(const tune_space *s, const int32_t *row);

/* ---- skeleton.c: the system of a form, with further constraints, and how many decisions it has;
 * -1: memory ran out, the tree is too large, there is no solution, or the constraints are wrong
 * (reported in more->d) */
typedef struct {
  const tf_text *text; /* NULL: no further constraints */
  uint16_t file;
  tf_diags *d;
} tune_more;
int tune_form_system(tune_form *f, const tune_space *of, const tune_more *more);
/* The number of orders of n loops in the space: all of up to four; for more, which is outermost and
 * which innermost; for more than TUNE_ORDER_LOOPS, one. */
int tune_orders(int n);
/* The loops of the k-th order, outermost first; n is at most TUNE_ORDER_LOOPS. */
void tune_order(int n, int k, int order[TUNE_ORDER_LOOPS]);

/* ---- size.c: what is said of a system, one of schedules by their knobs, or of rules by whole
 * solutions.  False: memory ran out; free its texts in either case. */
bool tune_size_of(const csp *s, const char *name, bool knobs, tf_space_form *out);

/* ---- schedule_decode.c */
/* The mapping of a row; NULL if memory ran out or it breaks a rule that the constraints do not
 * express. */
tf_tree *tune_decode(const tune_space *s, const int32_t *row);
/* What the row chooses for the generator. */
tf_choices tune_choices(const tune_space *s, const int32_t *row);

/* ---- encode.c */
/* The row of a mapping with the generator's own choices; false: it is not in the space. */
bool tune_encode(tune_space *s, const tf_tree *t, int isa, int32_t *row);

/* ---- schedule_moves.c: neighbours (thesis 4.3.2). */
/* The number of directions: for each split with n parts the n * (n - 1) moves of a factor from part
 * j to part i, for each other decision one up and one down, cyclically. */
int tune_directions(const tune_space *s);
/* The neighbour in that direction, into `to`; false: there is none, or the direction belongs to a
 * form not chosen. */
bool tune_step(tune_space *s, const int32_t *row, int direction, int32_t *to);
/* Crossover: of two rows of one form by its system (csp_cross); otherwise the first one, varied. */
bool tune_breed(tune_space *s, tf_rng *rng, const int32_t *a, const int32_t *b, bool mutate,
                int32_t *child);

/* ---- schedule_trace.c */
/* The schedule as text that tune_trace_read reads back.  Malloc'd. */
char *tune_trace(const tune_space *s, const int32_t *row);
/* What a schedule's text, as tune_trace makes it, chooses for the generator; unknown lines are
 * skipped. */
tf_choices tune_trace_choices(const char *text);
/* The row of a schedule's text; what it omits must follow from what it states.  False with every
 * error in d. */
bool tune_trace_read(tune_space *s, uint16_t file, const char *text, size_t len, int32_t *row,
                     tf_diags *d);
#endif
