/* Words that neighbours hand on where loops leave a remainder or windows slide (docs/SEMANTICS.md
 * section 5): sums over kinds of settings, dim by dim.
 *
 * A dim that loops split places an instance's range by the sum of its digits times their steps, so
 * of the settings of a dim a few kinds differ: those at which the ranges of an instance and of its
 * neighbours are whole, those at the end of the extent, and those beyond it for some of them.  An
 * instance that sits out a moment holds what it had when a loop further out last stood lower. */
#ifndef MODEL_COST_GENERAL_BESIDE_H
#define MODEL_COST_GENERAL_BESIDE_H
#include "model/cost/peers.h"

/* Instances that are looked at together: one, and its neighbours at 1 + tf_source; or those that
 * may share transfers, as boxes are equal by chance. */
enum { TF_SELF, TF_ABOUT = 1 + TF_N_BESIDE, TF_BESIDE_TOGETHER = 64 };

/* A dim above a node, the loops that split it one after the other, from the outside, in stages: an
 * op whose range is what its readers need splits a part of what loops further out leave. */
enum { TF_BESIDE_STAGES = 3, TF_BESIDE_LOOPS = 12 };
typedef struct {
  int64_t extent;
  int n_stages;
  int64_t tile[TF_BESIDE_STAGES]; /* the longest range below the loops of the stage */
  bool ranked;                    /* it moves a rank of the tensor; alone: each digit counts by
                                     itself, as a border may clip the rank */
  bool alone;
  int n, n_spatial; /* loops of more than one step: in time, and over instances */
  struct tf_beside_loop {
    int pos, stage;
    int64_t trip, step;
  } loop[TF_BESIDE_LOOPS], spatial[TF_BESIDE_LOOPS];
} tf_beside_dim;

/* Where spatial loops place the instances: all of them, and those up to a stage. */
typedef struct {
  int64_t all[TF_BESIDE_TOGETHER], upto[TF_BESIDE_STAGES][TF_BESIDE_TOGETHER];
} tf_beside_place;

/* Moments of one instance: those at which the loop at position `stepping` steps (-1: the first one;
 * TF_MAX_PATH: all of them), those inside it and those at `zero` at their first.  Of its neighbours
 * those in `rests` sit out these moments; what the instances hold is of the moment at which the
 * loop at since[] stood lower.  shares: of n instances any may sit out. */
typedef struct {
  int stepping, n;
  bool shares;
  bool finds; /* something is held */
  bool each;  /* each digit of the dim counts by itself */
  uint64_t zero;
  int since[TF_BESIDE_TOGETHER];
  uint64_t there, rests; /* bits of instances; there: it exists, and works at some moment */
} tf_beside_moments;

/* Settings of a dim that differ in place alone: ranges of the instances, now and as held. */
typedef struct {
  int64_t n;
  tf_ival *now, *held;
} tf_beside_kind;

enum { TF_BESIDE_KINDS = 512 };
typedef struct {
  int n;
  tf_ival *room; /* [TF_BESIDE_KINDS * 2 * instances] */
  tf_beside_kind at[TF_BESIDE_KINDS];
} tf_beside_kinds;

/* A dim of the slice in another m-tile that has left what instances hold, where the first `shared`
 * loops in time are those of the dim beside it: as now, or since the loop at a position stood
 * lower. apart: both move unlike. */
typedef struct {
  const tf_beside_dim *d;
  const tf_beside_place *at;
  int shared, since;
} tf_beside_left;

/* Fills the kinds of a dim at such moments; left: NULL: what is held is of the dim itself.  False:
 * there are too many, or an instance has sat out what has left its content. */
bool tf_beside_kinds_of(const tf_beside_dim *d, const tf_beside_moments *x,
                        const tf_beside_place *at, const tf_beside_left *left,
                        tf_beside_kinds *out);
/* What an instance holds along a dim that no loop shares. */
tf_ival tf_beside_last(const tf_beside_left *left, int who);

/* Words that enter an instance: all that are new, those of them that neighbours hand on, and those
 * from further out. */
typedef struct {
  int64_t load, from[TF_N_BESIDE], above;
} tf_beside_words;

/* Ranks that share dims, and these dims: their settings do not depend on those of other groups. */
enum { TF_BESIDE_DIMS = 16, TF_BESIDE_RANKS = 4, TF_BESIDE_TERMS = 8, TF_BESIDE_BOXES = 8 };
typedef struct {
  uint32_t dims;
  int n_rank;
  unsigned char rank[TF_BESIDE_RANKS];
} tf_beside_group;

/* Settings of a group's dims at which the instance's ranges are as long, and the others' lie as far
 * from them: [rank][0] is what the instance needs, then what it need not take from further out. */
typedef struct {
  int64_t n;
  tf_ival box[TF_BESIDE_RANKS][TF_BESIDE_BOXES];
} tf_beside_set;

enum { TF_BESIDE_SETS = 256 };
typedef struct {
  int n;
  tf_beside_set at[TF_BESIDE_SETS];
} tf_beside_sets;

/* What an instance has along a group's ranks, or a dim that moves none: words (0: it sits out),
 * those of them that it finds; the first instances with the same box, and with the same found of
 * it. */
typedef struct {
  int64_t words, kept;
  int box, found;
} tf_beside_share;

typedef struct {
  int64_t n;
  tf_beside_share of[TF_BESIDE_TOGETHER];
} tf_beside_share_set;

typedef struct {
  int n;
  tf_beside_share_set at[TF_BESIDE_SETS];
} tf_beside_shares;

/* A rank of the slice: the sum of c and the terms' ranges times their coefficients; from
 * TF_BESIDE_DIMS on a term's dim is one of the map's hulls, then of its parts. */
typedef struct {
  int64_t c;
  int n;
  struct {
    int dim;
    int64_t coef;
  } term[TF_BESIDE_TERMS];
} tf_beside_rank;

/* A dim of an op that makes what others read: the hull of what they ask of its rank r. */
enum { TF_BESIDE_FORMS = 3, TF_BESIDE_HULLS = 8 };
typedef struct {
  const tf_tensor *z;
  bool clamps; /* a border may cut what they ask */
  int r, n;
  tf_beside_rank of[TF_BESIDE_FORMS];
} tf_beside_hull;

/* A part of a range that is no tile of a dim: the dim's digits choose the tile from its lower end
 * on; where it ends earlier, an instance sits out. */
enum { TF_BESIDE_PARTS = 8, TF_BESIDE_PART = TF_BESIDE_DIMS + TF_BESIDE_HULLS };
typedef struct {
  tf_beside_rank of;
  int dim;
} tf_beside_part;

/* What a slice depends on: dims, none of whose ranges may be empty where it is touched, and its
 * ranks, as each of its forms touches them: the box is the hull of all.  Filled by beside_map.c. */
typedef struct {
  int n_dims, n_hulls, n_ranks, n_forms;
  tf_beside_hull hull[TF_BESIDE_HULLS];
  int n_parts;
  tf_beside_part part[TF_BESIDE_PARTS];
  tf_beside_dim dim[TF_BESIDE_DIMS];
  tf_beside_rank rank[TF_BESIDE_FORMS][TF_BESIDE_DIMS];
} tf_beside_map;
/* The dims of which a term's is made, as bits; from bit TF_BESIDE_DIMS on its parts.  As many ranks
 * after the tensor's own say that a part is not empty. */
uint32_t tf_beside_under(const tf_beside_map *map, int dim);
/* By how much dim `dim` moves a rank; false: by different distances. */
bool tf_beside_moves(const tf_beside_map *map, const tf_beside_rank *r, int dim, int64_t *by);
/* False: left to the walk. */
bool tf_beside_map_of(const struct tf_model *m, const tf_slice *s, tf_beside_map *out);

/* A slice, and one of its instances with its neighbours. */
typedef struct {
  const struct tf_model *m;
  const tf_slice *s;
  int i;
  const tf_path *path;
  tf_beside_map map;
  int n_groups;
  tf_beside_group group[TF_BESIDE_DIMS];
  uint64_t turning; /* positions of loops in time that take more than one step */
  uint64_t moving;  /* positions of loops that move the box */
  bool drops;       /* some entries find nothing, or another slice's content */
  tf_beside_place at[TF_BESIDE_DIMS];
  int n;           /* instances looked at together */
  uint64_t shared; /* positions of loops over instances that may bring equal boxes to several */
  uint64_t there;  /* bits of instances */
  unsigned round;  /* at the other end of a torus */
  int from;        /* a slice in another m-tile that leaves content here; -1: none.  Then: */
  tf_beside_map old;
  const tf_path *old_path;
  int n_common, n_pairs; /* positions common to both paths; loops over instances: this, the other */
  int pair[TF_MAX_PATH][2];
  int holder[TF_BESIDE_DIMS]; /* of old's dims: the one beside it; -1: none */
  tf_beside_place old_at[TF_BESIDE_DIMS];
  tf_beside_left left[TF_BESIDE_DIMS];
  uint32_t apart;  /* dims that move a rank unlike those of old beside them */
  bool torn;       /* an instance has worked in one of both alone */
  uint32_t ranked; /* dims of the groups */
  tf_beside_kinds *kinds;
  tf_ival *room;
  tf_beside_sets *sets;
  tf_beside_shares *shares; /* of those that may share, in place of sets */
} tf_beside;

/* Begins with slice i, or a streamed output (tf_slice_at).  False: it is left to the walk, or
 * memory ran out. */
bool tf_beside_begin(struct tf_model *m, int i, bool shares, tf_beside *b);
void tf_beside_end(tf_beside *b);
/* Places the instance of the loops at cur with its neighbours, or with those that may share its
 * transfers, in the order of the loops. */
void tf_beside_put(tf_beside *b, int64_t *cur);
void tf_beside_put_shared(tf_beside *b, int64_t *cur);
/* Advances to the next of those; false after the last, with the first set again. */
bool tf_beside_next_shared(const tf_beside *b, int64_t *cur);
/* Groups the ranks for what entries find; other: the other slice's dims count, too.  False: too
 * many in a group. */
bool tf_beside_regroup(tf_beside *b, bool other);
/* What entries find: nothing, what the slice has left, or what the one in another m-tile has. */
typedef enum { TF_FIND_NOTHING, TF_FIND_OWN, TF_FIND_OTHER } tf_beside_found;
/* Adds the words of the instance at such moments; since: of the other slice's.  False: left to the
 * walk. */
bool tf_beside_sum(tf_beside *b, int stepping, tf_beside_found found, uint64_t zero,
                   tf_beside_words *sum);
/* The same of instances that may share: sum[b->n]; above: of the words that it loads those that no
 * instance before it loads at the same moment. */
bool tf_beside_sum_shared(tf_beside *b, int stepping, tf_beside_found found, uint64_t zero,
                          tf_beside_words *sum);

/* Whether a tree may be counted so. */
bool tf_beside_may(const struct tf_model *m);
/* Counts the slices to memories whose instances hand words on, and what each instance moves of the
 * others, after sums have counted these.  False: left to the walk. */
bool tf_beside_count(struct tf_model *m);
#endif
