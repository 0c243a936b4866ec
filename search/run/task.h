/* One task: a shape whose trip counts are searched within a quota.  Tasks share nothing that changes
 * while they run. */
#ifndef SEARCH_RUN_TASK_H
#define SEARCH_RUN_TASK_H
#include "search/common/watch.h"
#include "search/space/shape.h"
#include "search/space/trips.h"
#include "search/strategy/strategy.h"
#include "tileflow/model.h"
#include "tileflow/search.h"

/* The best of a task by the objective, and by each figure of the archive. */
/* Doublings of a shape's quota, one a visit; where the shape is given its trip counts are all there is
 * to search. */
enum { TF_GROWTH = 3, TF_GROWTH_GIVEN = 12 };
enum { TF_BY_OBJECTIVE, TF_BY_CYCLES, TF_BY_ENERGY, TF_BY_TRAFFIC, TF_BY_HELD, TF_N_BY };

typedef struct {
  bool there;
  double value;
  tf_figures figures;
  int64_t *trips; /* [n_loops] */
  tf_tree *tree;
} tf_task_best;

/* A completion among the best, for tf_search_opts.variants. */
typedef struct {
  double value;
  tf_figures figures;
  int64_t *trips; /* malloc'd, [n_loops] */
  tf_tree *tree;  /* NULL: it may not be written so */
} tf_variant;

/* What earlier tasks know. */
typedef struct {
  uint64_t key; /* of a decision */
  int32_t trip;
} tf_hint;

typedef struct {
  uint64_t shape;
  int visits;
  bool even_done, exhausted; /* every trip count that divides, or every one, was tried */
  double cost;
  int n_loops;
  int64_t *trips; /* malloc'd, [n_loops]; NULL: nothing that fits */
  tf_hint *hints; /* malloc'd: the decisions of trips, sorted by key */
  int n_hints;
} tf_known;

typedef struct {
  tf_known *list; /* sorted by shape */
  int n, room;
  tf_hint *hints; /* of the best of all, sorted by key */
  int n_hints;
  double best;
} tf_memory_of_search;

/* What a log says a task found. */
typedef struct {
  int64_t no;
  uint64_t shape;
  int64_t evals;
  bool exhausted;
  double cost;
  struct {
    bool there;
    double value;
    tf_figures figures;
    int n_trips;
    int64_t *trips;
  } best[TF_N_BY];
} tf_logged;

typedef struct {
  /* the same for all */
  const tf_strategy *strategy;
  const tf_shapes *shapes;
  const tf_search_opts *opts;
  const tf_memory_of_search *memory;
  int64_t walk_limit;
  int growth;
  bool quick_only; /* mappings that the model takes long to count are left to tasks of uneven trip counts */
  tf_watch *watch;
  /* asked */
  int64_t no;
  int32_t *genes;
  uint64_t like;               /* shape to start from, see tf_way */
  int64_t quota, effort_quota; /* 0: no bound */
  bool uneven;                 /* see tf_trips */
  bool aside;                  /* what it finds steers nothing */
  bool start;                  /* the space of a mapping that was known before: no strategy's row */
  const int64_t *begin;        /* trip counts that are tried first and led by, as many as begin_loops; NULL: none */
  int begin_loops;
  const tf_logged *logged; /* NULL: to be searched */
  double variants_within;  /* of the objective: variants above it are not kept */
  /* found */
  tf_reads reads;
  bool legal, exhausted, cut; /* cut: stopped before its quota */
  uint64_t shape;
  int64_t evals, effort;
  double cost; /* that the strategies are told, see guide_of */
  int n_loops;
  tf_task_best best[TF_N_BY];
  tf_variant *variants; /* ascending value; see variants.h */
  int n_variants;
  tf_hint *hints; /* malloc'd: the decisions of best[TF_BY_OBJECTIVE] */
  int n_hints;
  bool failed; /* memory ran out */
} tf_task;

void tf_task_run(tf_task *t);
/* Frees what it found. */
void tf_task_clear(tf_task *t);

const tf_known *tf_memory_find(const tf_memory_of_search *m, uint64_t shape);
#endif
