/* The quick count.  When every chain of loops divides its range without remainder, all steps of a
 * loop shift a slice equally (thesis Eq. 3.10, 3.11): sizes are products of trip counts, and each
 * class of entries is one difference of two boxes; if borders of padded tensors clip them, a
 * difference of two sums over boxes (clip.c).  Values that do not depend on trip counts are
 * gathered once per tree; all other trip counts go to the general count (sums.h). */
#ifndef MODEL_COST_QUICK_EVEN_H
#define MODEL_COST_QUICK_EVEN_H
#include "model/flow/plan.h"

enum { TF_EVEN_VISITS = 1 << 20 }; /* saturation limit of `visits` */

/* A product of trip counts: value[next] * trip[loop]; number 0 is the constant 1. */
typedef struct {
  int next, loop;
} tf_product;

/* A range of a dim or of an index.  The loop at path position k (a bit of `moves`) moves its lower
 * end by shift[k] times the loop's step. */
typedef struct {
  enum { TF_WHOLE, TF_PART, TF_HULL } what;
  int64_t len;         /* WHOLE: extent */
  int product, base;   /* PART: product of its length; the range that is split */
  int chain;           /* PART: the loops that split it, among even->chains */
  int first, n;        /* HULL: of even->reads[first ...] */
  const tf_path *path; /* HULL: the path that `moves` refers to */
  /* HULL of a padded rank: the tensor covers from .. to - 1, reads may reach further; otherwise
   * from == to */
  int64_t from, to;
  bool made; /* with padding: an op's computed range, which must not be split differently from step
                to step */
  uint64_t moves, mixed; /* mixed: moved differently by different reads */
  uint64_t depends;      /* positions that its place or its length depends on */
  bool by_run; /* depends on what runs of a retaining scope compute, and is that range without
                  retention */
  int visits;  /* number of ranges it depends on, itself included, counted once per path; saturating
                */
  int64_t *shift;
} tf_even_range;

typedef struct {
  int range;
  int64_t coef;
} tf_even_term;
typedef struct {
  int64_t c;
  int first, n; /* even->terms */
} tf_even_read;

/* A loop moves a rank by k times its step. */
typedef struct {
  int rank;
  int64_t k;
} tf_even_shift;

/* A loop above a slice and the ranks it moves. */
typedef struct {
  int loop, pos, n;
  tf_even_shift *shift;
} tf_even_loop;

typedef struct {
  bool by_run; /* a rank depends on what runs of a retaining scope compute, or such runs load or
                  drop the slice */
  int n_rank;
  int *range; /* [n_rank] */
  int n_temporal, n_spatial;
  tf_even_loop *temporal; /* m-tiles only: from the inside */
  tf_even_loop *spatial;  /* m-tiles only: from the outside */
  int server;             /* the m-tile whose instances hold the serving memory; -1: there is one */
  int n_asks, *asks;      /* spatial loops below it that move the box */
  int n_same, *same; /* spatial loops that do not move the box, so that their instances share one
                        transfer */
  /* temporal loops that do not move the box: they repeat it within one production */
  int n_again, *again;
  int n_padded, *padded; /* ranks of a padded tensor, whose border may clip the box */
} tf_even_slice;

/* A condition: a chain must cover its range: product == length of range. */
typedef struct {
  int product, range;
} tf_even_cover;
/* A condition: unless `loop` has trip count 1, products a and b must be equal. */
typedef struct {
  int loop, a, b;
} tf_even_equal;
/* A condition for slice i: `loop` must have trip count 1. */
typedef struct {
  int slice, loop;
} tf_even_single;
/* A condition: one of two loops must have trip count 1. */
typedef struct {
  int one, other;
} tf_even_pair;

/* One rank of an intermediate at its home: spatial loops that distribute it over instances, and
 * those that put several slices, `distance` apart, into one instance. */
typedef struct {
  int range, n, *cut;
  int n_more, *more;
  int64_t *distance;
} tf_even_home;

/* The loops on one dim that split one range, from the node at which ops begin to lead. */
typedef struct {
  int lead, dim, base; /* base: the range that they split */
  bool may_differ;     /* they split ranges of several ops that need not be equal */
} tf_even_chain;

/* Another range than its base that a chain splits, and the op of that range. */
typedef struct {
  int chain, range, op;
} tf_even_other;

typedef struct tf_even {
  int n_chains;
  tf_even_chain *chains;
  int *chain_of; /* [n_loops] number of the loop's chain */
  int n_products, n_ranges, n_reads, n_terms, n_covers, n_equals, n_pairs, n_fixed, n_others,
      n_singles;
  tf_product *products;
  tf_even_range *ranges;
  tf_even_read *reads;
  tf_even_term *terms;
  tf_even_cover *covers;
  tf_even_equal *equals;
  tf_even_pair *pairs;
  tf_even_other *others;
  tf_even_single *singles; /* of slices affected by runs of a retaining scope */
  int *fixed;              /* loops whose trip count must be 1 */
  int *step; /* [n_loops] number of the product: how far an iteration moves its dim, in elements */
  int *op_step;          /* [op * n_loops + loop] the same for each op that the loop splits */
  tf_even_slice *slices; /* [n_slices] */
  tf_even_slice *stream; /* [n_ops] outputs that streaming corrects; n_rank -1: none */
  tf_even_home *home;    /* [home_at[z] + rank] intermediate z at its home scope */
  int *home_at;          /* [n_tensors] -1: an input or output */
} tf_even;

struct tf_model;

/* NULL if the quick count never applies to the tree, or memory runs out (*oom). */
tf_even *tf_even_new(tf_arena *a, const tf_plan *p, bool *oom);
/* Whether the range is split by loops only: then different settings have disjoint parts. */
bool tf_even_only_split(const tf_even *e, int range);
/* Allocates the values of one evaluation; false when memory runs out. */
bool tf_even_room(tf_arena *a, struct tf_model *m);
/* Fills the results of tf_count_all, tf_count_rescaled and tf_sizes.  False if it does not apply to
 * these trip counts; nothing is changed then. */
bool tf_even_count(struct tf_model *m);
/* Whether, for the trip counts, ops and reads that share a spatial loop split ranges of the same
 * length and move by the same steps; the quick counts apply to no others. */
bool tf_even_alike(struct tf_model *m);
#endif
