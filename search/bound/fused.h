/* Parts of the bound of words that pass again in a graph of ops: what one op moves at least. */
#ifndef SEARCH_BOUND_FUSED_H
#define SEARCH_BOUND_FUSED_H
#include "tileflow/spec.h"

enum { TF_F_DIMS = 16, TF_F_PARTS = 4, TF_F_CLASSES = 40, TF_F_LEVELS = 8 };

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

/* Where a part's place is pinned: the memory, and the classes of its steps of each dim, from lo to
 * hi. */
typedef struct {
  int part; /* -1: none is */
  int level, lo[TF_F_DIMS], hi[TF_F_DIMS];
  int found[TF_F_DIMS]; /* answer: classes with which few words do */
} tf_f_pin;

typedef struct tf_f_nest tf_f_nest;

/* With at most so many classes of steps for each dim, which depend on its extent and this number
 * alone.  NULL: no memory.  To be freed. */
tf_f_nest *tf_f_nest_new(const tf_f_op *op, int classes);
void tf_f_nest_free(tf_f_nest *n);
int tf_f_nest_classes(const tf_f_nest *n, int dim);
/* The least words of the op beyond those that pass once; INFINITY: there is no room.  Fewer where
 * that is `enough`, or where the looks that are left, in all, do not do. */
double tf_f_nest_least(tf_f_nest *n, tf_f_pin *pin, double enough, int64_t *looks);

/* A lower bound on the words that pass the outermost memory beyond compulsory ones, as inner
 * memories have no room to keep what ops share.  0: nothing is known. */
double tf_f_more_words(const tf_arch *a, const tf_workload *wl);
#endif
