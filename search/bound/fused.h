/* Parts of the bound of words that pass again in a graph of ops: what one op moves at least. */
#ifndef SEARCH_BOUND_FUSED_H
#define SEARCH_BOUND_FUSED_H
#include "tileflow/spec.h"

enum { TF_F_DIMS = 16, TF_F_PARTS = 4, TF_F_CLASSES = 40, TF_F_LEVELS = 8, TF_F_FRONT = 12 };

/* What a tensor is to an op that touches it. */
typedef enum {
  TF_F_IN,   /* enters */
  TF_F_OUT,  /* leaves, and partial sums come back */
  TF_F_MADE, /* stays in an inner memory, and this op makes it */
  TF_F_READ  /* stays in an inner memory, where another op has made it */
} tf_f_role;

typedef struct {
  unsigned dims; /* bits of the op's dims, each in a rank of its own */
  double bits;   /* of a word */
  double words;
  tf_f_role role;
} tf_f_part;

typedef struct {
  const tf_arch *arch;
  int inner;       /* the memory that feeds its units */
  int64_t mesh[2]; /* of these */
  int n_dims;
  int64_t extent[TF_F_DIMS];
  int deep[TF_F_DIMS]; /* ops behind this one that may cut the dim; 0: this one alone does */
  int n;
  tf_f_part part[TF_F_PARTS];
} tf_f_op;

/* Where a part's place is pinned: the class of its steps of each dim, and the memory. */
typedef struct {
  int part; /* -1: none is */
  int level, steps[TF_F_DIMS];
  double times; /* that it may be made, at most, on the average */
} tf_f_pin;

/* The fewest words of an op beyond those that pass once, by the bits of one memory, in all
 * instances, that its tensors hold throughout: ascending bits, descending words. */
typedef struct {
  int n;
  double bits[TF_F_FRONT], words[TF_F_FRONT];
} tf_f_front;

typedef struct tf_f_nest tf_f_nest;

/* With at most so many classes of steps for each dim, which depend on its extent and this number
 * alone.  NULL: no memory.  To be freed. */
tf_f_nest *tf_f_nest_new(const tf_f_op *op, int classes);
void tf_f_nest_free(tf_f_nest *n);
int tf_f_nest_classes(const tf_f_nest *n, int dim);
/* The least words of the op beyond those that pass once; INFINITY: there is no room.  `looks` are
 * left, in all: below 0 the answer is of no use. */
double tf_f_nest_least(tf_f_nest *n, const tf_f_pin *pin, int64_t *looks);
/* The same, and for each inner memory by what tensors hold of it from run to run of the pinned
 * part's home scope: those that no loop on its dims moves outside of it. */
double tf_f_nest_fronts(tf_f_nest *n, const tf_f_pin *pin, int64_t *looks, tf_f_front *of_level);
/* Runs of that scope, at least. */
double tf_f_nest_runs(const tf_f_nest *n, const tf_f_pin *pin);
/* Bits of a memory in all instances, beyond those of the pinned part; below 0: it has none. */
double tf_f_nest_room(const tf_f_nest *n, const tf_f_pin *pin, int level);

/* A lower bound on the words that pass the outermost memory beyond compulsory ones, as inner
 * memories have no room to keep what ops share.  0: nothing is known. */
double tf_f_more_words(const tf_arch *a, const tf_workload *wl);
typedef struct {
  double once;       /* words that pass once */
  double in_a_cycle; /* words that pass the outermost memory in one */
  double known;      /* cycles that any mapping takes */
} tf_f_time;
/* Cycles at least: mappings that move fewer words make an intermediate again, which takes time. */
double tf_f_least_cycles(const tf_arch *a, const tf_workload *wl, const tf_f_time *t);
#endif
