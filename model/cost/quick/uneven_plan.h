/* Internal to the count with remainders: for every slice, the chains of loops that must be summed
 * over together; and one sum over the settings of the loops above it. */
#ifndef MODEL_COST_QUICK_UNEVEN_PLAN_H
#define MODEL_COST_QUICK_UNEVEN_PLAN_H
#include "model/cost/quick/grid.h"
#include "model/cost/quick/uneven.h"
#include "model/cost/state.h"
#include "model/flow/range.h"

enum {
  TF_PATH_CHAINS = 16,
  TF_CHAIN_LOOPS = 16,
  TF_SETTINGS_KEPT = 4,
  TF_SUMS_OWN = 64,
  TF_SUMS_SIBLING = 16,
  TF_PLAIN_CHAINS = 4
};

/* A loop that takes more than one step in the current evaluation. */
typedef struct {
  uint64_t bit; /* of its position */
  int64_t trip, step;
  int64_t bound; /* its digit of the last element of the longest range that enters the chain */
} tf_turn;

/* A chain on the path of a node. */
typedef struct {
  int chain;          /* of even->chains */
  int n;              /* its loops on that path */
  unsigned char *pos; /* their positions, from the outside */
  uint32_t needs;     /* chains of the path on which the range that it splits depends; not itself */
  /* in the current evaluation: */
  int n_turn;
  tf_turn *turn; /* [n_turn], from the outside */
  int64_t len;   /* the longest range that enters it */
} tf_path_chain;

/* A cached sum, for a setting of the trip counts on which it depends. */
typedef struct {
  int64_t setting; /* 0: none */
  uint64_t zero, last;
  int stepping;
  bool found;
  int64_t all, kept, chosen;
} tf_sum_kept;

/* Trip counts and steps of the loops of a group, and the number of that setting. */
typedef struct {
  int64_t setting; /* 0: none */
  int64_t *values; /* [n_values] */
} tf_setting_kept;

/* A cache of sums: searches change few loops at a time, and sums that do not depend on these are
 * reused. */
typedef struct {
  int64_t evaluation, setting; /* the setting in that evaluation */
  int64_t settings;            /* given a number so far */
  int n_values, next;
  tf_setting_kept known[TF_SETTINGS_KEPT];
  int n_entries;        /* a power of two */
  tf_sum_kept *entries; /* [n_entries], by hash; NULL: not allocated yet */
} tf_sums_kept;

/* A group: chains that are summed over together, as the ranges of some depend on others, or as they
 * move one rank; and the ranks that they move.  Sums of different groups multiply. */
typedef struct {
  uint32_t now, prev; /* chains by number on the path of the slice; of the slice found */
  uint64_t positions; /* of the loops of `now` */
  int n_rank;
  unsigned char rank[TF_MAX_RANK];
  bool clipped;  /* borders clip its one rank at some setting */
  bool cut;      /* borders cut ranges that its chains split: digits near borders are enumerated */
  uint64_t idle; /* of `then`: positions of spatial loops that split such a range, so that an
                    instance may be idle in a run */
  int n_plain; /* > 0: its chains in `plain`, each of which splits what the previous one leaves; the
                  group's only rank, if any, is what the last one leaves */
  unsigned char plain[TF_PLAIN_CHAINS];
  tf_sums_kept *kept; /* shared by all slices of the node with the same chains and ranges */
} tf_chain_group;

typedef struct {
  bool unsupported; /* borders clip one of them in an unsupported way */
  int n;
  tf_chain_group *group;
} tf_chain_groups;

typedef struct {
  bool
      to_general; /* left to the general count: depends on what runs of a retaining scope compute */
  int run;        /* that scope, if all ops below are computed in its runs (of plan->retains); -1:
                     otherwise */
  int n;
  tf_path_chain *chain;
  int *number_of; /* [even->n_chains] number of the chain on this path; -1: it has no loop there */
  uint64_t turning; /* positions of loops with more than one step in the current evaluation */
  int64_t *step;    /* [path] how far they move the ops below, in elements */
  tf_chain_groups steps;
  tf_even_slice
      *held; /* of an m-tile, if borders cut ranges: the ranges of all its slices; NULL: too many */
  tf_chain_groups most; /* and their groups */
} tf_uneven_node;

typedef struct {
  bool to_general; /* left to the general count */
  bool off;        /* left in the current evaluation only */
  bool cancels;    /* terms of an index cancel along a sharing spatial loop, so that the last
                      instance's box is shorter */
  /* run: as of a node; needs: the scope whose runs must be countable, too (uneven_run.c); -1: none
   */
  int run, needs;
  uint64_t same, again; /* positions that do not move the box: spatial ones that share, temporal
                           ones in a production */
  uint64_t still[TF_N_SIDES];
  uint64_t join; /* positions of spatial loops that share, of different chains that move one rank */
  tf_chain_groups self;     /* if the slice itself left the content, or nothing is found */
  tf_chain_groups *sibling; /* [n_class] if another m-tile left it */
} tf_uneven_slice;

struct tf_uneven {
  bool applies;           /* the tree has no ranges that borders clip */
  int64_t evaluation;     /* number of the current one */
  tf_uneven_node *node;   /* [n_nodes] */
  tf_uneven_slice *slice; /* [n_slices + n_ops]: slices, then streamed outputs */
  bool *tells;            /* [n_retains] each run computes all that is needed, or nothing: */
  uint64_t *still; /* [n_retains] all if the loops at these positions are at their first setting;
                      else nothing */
  tf_even_slice *home;    /* [n_tensors] ranges at the home scope, if borders cut ranges */
  tf_chain_groups *homes; /* [n_tensors] */
  tf_flow *flows;         /* [most classes of a slice] of the current slice */
};

/* Allocates the cache if it has no entries yet; false when memory runs out. */
bool tf_sums_room(tf_arena *a, tf_sums_kept *k);
/* ---- uneven_sum.c ---------------------------------------------------------------------------- */

/* The argument of a sum: the settings of the loops on the path of a slice. */
typedef struct {
  const tf_even_slice *v; /* without ranks: settings are counted */
  const tf_chain_groups *groups;
  int node;
  uint64_t zero; /* positions: temporal loops at their first, spatial ones of which only the first
                    instance counts */
  int stepping;  /* the loop that has stepped, -1: none; those inside it are among `zero` */
  /* the slice that left the content found; NULL: none */
  const tf_even_slice *q;
  int from;     /* its node */
  bool sibling; /* another m-tile's; then: */
  int n_common; /* positions up to here are common to both paths */
} tf_uneven_sum;

/* Sums of the boxes, and of the parts found, with more positions at their first setting.  join:
 * positions of spatial loops of which several load the same box; it counts once. */
typedef struct {
  uint64_t zero, join;
  int64_t box, kept;
} tf_uneven_total;

enum { TF_UNEVEN_SUMS = 9 };

typedef struct {
  int n;
  tf_uneven_total total[TF_UNEVEN_SUMS];
} tf_uneven_sums;

/* Settings that differ in place alone: digits from digit[position] on, alike[position] of them, of
 * each loop that takes more than one step.  Boxes are those at the first of these digits. */
typedef struct {
  const int64_t *digit, *alike;
  bool finds;                                   /* something was there */
  tf_ival box[TF_MAX_RANK], found[TF_MAX_RANK]; /* [rank] found: of the box */
} tf_uneven_setting;

/* Who visits them; borders: they clip boxes of the tree. */
typedef struct {
  bool borders;
  void *to;
  bool (*add)(void *to, const tf_uneven_setting *s); /* false: it gives up */
} tf_uneven_visit;

/* Visits all settings that w sums over, with all chains at once.  False: somebody gave up. */
bool tf_uneven_visit_all(struct tf_model *m, const tf_uneven_sum *w, const tf_uneven_visit *visit);

/* Fills all sums.  False: left to the general count. */
bool tf_uneven_sum_up(struct tf_model *m, const tf_uneven_sum *what, tf_uneven_sums *sums);
/* The longest part that borders leave along the only rank of a group of w.  False: left to the
 * general count. */
bool tf_uneven_longest(struct tf_model *m, const tf_uneven_sum *w, const tf_chain_group *g,
                       int64_t *len);

/* Whether all ranges of w's groups that borders may clip are longest at one setting.  False: not
 * known. */
bool tf_uneven_fullest(struct tf_model *m, const tf_uneven_sum *w);

/* ---- uneven.c ------------------------------------------------------------------------------- */

/* Begins an evaluation without counting.  False: closed sums do not apply to its trip counts. */
bool tf_uneven_ready(struct tf_model *m);
/* Fills what is summed over for the entries of slice i in a class.  False: there are none. */
bool tf_uneven_entries(const struct tf_model *m, int i, int class, tf_uneven_sum *w);
/* The same for all settings of the slice. */
tf_uneven_sum tf_uneven_settings(const struct tf_model *m, int i);
/* Whether its loops alone tell which instances share a transfer. */
bool tf_uneven_tells(const struct tf_model *m, int i);

/* ---- uneven_run.c --------------------------------------------------------------------------- */

/* The retaining scope in whose runs all ops below the node are made; -1: none. */
int tf_run_of_node(const tf_plan *p, int n);
/* Fills run and needs of slice i.  False: what enters it is left to the general count. */
bool tf_run_tells(const tf_plan *p, const tf_even *e, int i, tf_uneven_slice *out);
/* The retaining scope in whose runs a child has computed what slice s finds in class c of its
 * entries, in the same run; what a run leaves is not found in a run that computes nothing.  -1: not
 * so. */
int tf_run_found(const tf_plan *p, const tf_slice *s, const tf_reuse_case *c);
/* Finds what runs compute in this evaluation, and which slices are left to the general count. */
void tf_run_begin(struct tf_model *m);

/* Chains of the path on which a range depends. */
uint32_t tf_uneven_chains(const tf_even *e, const tf_uneven_node *n, int range);

/* ---- uneven_clip.c: borders ----------------------------------------------------------------- */

/* The distinct places to which loops bring a box, from `at` on: a grid. */
typedef struct {
  int n;
  int64_t step[TF_MAX_PATH], trip[TF_MAX_PATH];
  int64_t at, count;
} tf_join;

/* Settings at which tiles differ only in place: a loop at a position has `count` digits from
 * `digit` on. */
typedef struct {
  const tf_uneven_node *node;
  uint64_t positions; /* those that may have other digits than 0 */
  int stepping;       /* for the loop there, places are of the previous digit; -1: none */
  const int64_t *digit, *count;
  const tf_join *join; /* additional places */
} tf_alike;

/* The places of a rank's boxes at such settings. */
typedef struct {
  tf_grid grid;
  int64_t at, extent; /* the first place, in the tensor; its extent */
  int64_t each;       /* settings with the same place */
} tf_clip_places;

/* Whether a border cuts the range at some setting, or one from which it follows. */
bool tf_uneven_cut(const tf_even *e, int range);
/* Whether boxes of the range reach beyond the tensor at some setting. */
bool tf_uneven_reaches(const tf_even *e, const tf_even_range *r);
/* Whether the range is the part that an op must compute within borders, independent of loops: in
 * m->lo and m->len. */
static inline bool tf_uneven_fixed(const tf_even_range *r) {
  return r->what == TF_HULL && r->made && r->from < r->to && !r->depends;
}
/* The most that the range can be, at any setting. */
static inline int64_t tf_uneven_most(const struct tf_model *m, int range) {
  const tf_even_range *r = &m->even->ranges[range];
  const int64_t all = r->from < r->to ? r->to - r->from : INT64_MAX;
  return m->len[range] < all ? m->len[range] : all;
}
/* Whether borders may leave equal boxes of a rank to several instances, for loops at these
 * positions. */
bool tf_uneven_meets(const struct tf_model *m, const tf_path *path, int range, uint64_t positions);
/* Whether no box of the range reaches beyond the upper end of the tensor. */
bool tf_uneven_within(const tf_even *e, const tf_even_range *r);
/* Fills the places of boxes of a range at the settings of `a`.  False: sums of lengths up to len
 * could overflow. */
bool tf_uneven_places(const tf_even_range *r, const tf_alike *a, int64_t len, tf_clip_places *p);
/* Fills the places to which the loops at these positions bring a box of the range.  False: they are
 * no grid. */
bool tf_uneven_join(const struct tf_model *m, int node, const tf_even_range *r, uint64_t positions,
                    tf_join *j);

/* Fills the places that are not among the same places shifted down by a multiple of `by`. False:
 * they are no grid. */
bool tf_uneven_more(const tf_join *all, int64_t by, tf_join *more);

/* ---- uneven_range.c: enumeration of digits, and ranges at them ------------------------------ */

/* A chain on one path while digits are chosen, from the outside. */
typedef struct {
  bool ready, tight; /* tight: all digits so far are those of the bound */
  bool lost;         /* of the previous entry: the instance was idle */
  int at;            /* of the previous entry: its loops up to here are set */
  int64_t rest;      /* while tight: the remaining part of the last element's number */
  int64_t full;      /* length of a full tile inside the loops that are set */
  int64_t off;       /* its shift, without digits that are equal now and at the previous entry */
  int64_t last[TF_CHAIN_LOOPS]; /* digits of loops that are at their last; -1: another loop */
} tf_chain_digits;

typedef struct {
  tf_chain_digits now[TF_PATH_CHAINS], prev[TF_PATH_CHAINS];
} tf_path_digits;

typedef struct {
  struct tf_model *m;
  tf_uneven_sum w;
  const tf_even *e;
  const tf_uneven_node *n, *from;
  const tf_path *path, *before;
  const tf_chain_group *g;
  bool finds;  /* some content may be found */
  bool paired; /* pair and twin are filled */
  /* [position] the one on the previous entry's path with the same digit; -1: none */
  signed char pair[TF_MAX_PATH];
  /* [position on the previous entry's path] the one with its digit; -1: it is at its last */
  signed char twin[TF_MAX_PATH];
  int64_t digit[TF_MAX_PATH];      /* [position] chosen last */
  int64_t equivalent[TF_MAX_PATH]; /* [position] number of equivalent digits from that one on,
                                 counted at once */
  int64_t all, kept, chosen;       /* chosen: settings at which a box was added */
  tf_join join;                    /* places of sharing spatial loops, in addition to the digits */
  int rest;     /* position of a sharing spatial loop that leaves a remainder; -1: none.  Then: */
  tf_join more; /* of these places, those that no earlier digit of that loop has */
  bool longest; /* `all` becomes the longest part within borders of the group's only rank, `kept`
                   that of whole tiles */
  bool fullest; /* `all` becomes whether all ranks of the group are as long as possible at one
                   setting */
  int looks;    /* settings enumerated so far, of a group that borders cut */
  const tf_uneven_visit *visit; /* of settings, which are not summed up; NULL: they are.  Then: */
  uint32_t sure;                /* chains before, whatever of whose digits the instance was there */
  bool gave_up;
} tf_uneven_summing;

/* A loop whose digit is chosen: at position k, of chain c now and b at the previous entry (-1: none
 * with this digit). */
typedef struct {
  int k, c, b;
  int64_t less; /* the digit at the previous entry is lower by this */
} tf_digit_of;

/* Digits from the first to the last. */
typedef struct {
  int64_t first, last;
} tf_digits;

static inline int64_t tf_trip_at(const tf_uneven_summing *j, const tf_path *path, int pos) {
  return j->m->ev.trip[path->loops[pos]];
}
static inline int64_t tf_step_at(const tf_uneven_summing *j, const tf_path *path, int pos) {
  return (path == j->path ? j->n : j->from)->step[pos];
}
/* Whether borders matter to the digits of the group; whether places are whole ones. */
static inline bool tf_near_borders(const tf_uneven_summing *j) {
  return j->visit ? j->visit->borders : j->g->cut;
}
static inline bool tf_placed(const tf_uneven_summing *j) { return j->visit || j->g->cut; }
static inline int64_t tf_tile_of(const tf_chain_digits *t) {
  return t->tight ? t->rest + 1 : t->full;
}
/* The range; its place leaves out digits that are equal now and at the previous entry, unless
 * places are whole ones.  Gives up if a read is wholly in the padding. */
tf_ival tf_uneven_range_at(tf_uneven_summing *j, const tf_path_digits *d, bool prev, int range);
/* The longest range that any instance has at one moment of what chain c splits, of which len is the
 * first one's: over the instances that spatial loops at their first setting represent. */
int64_t tf_uneven_longest_of_all(tf_uneven_summing *j, const tf_path_digits *d, int c, int64_t len);
/* The digits from `first` to `most` at which no border affects a group that borders cut. */
tf_digits tf_uneven_inside(tf_uneven_summing *j, const tf_path_digits *d, const tf_digit_of *at,
                           int64_t first, int64_t most);
#endif
