/* One task: a shape whose trip counts are searched within a quota.  Concurrent tasks share no data
 * that changes. */
#ifndef SEARCH_RUN_TASK_H
#define SEARCH_RUN_TASK_H
#include "search/common/budget_clock.h"
#include "search/run/prepared.h"
#include "search/space/shape.h"
#include "search/space/trips.h"
#include "search/strategy/strategy.h"
#include "tileflow/model.h"
#include "tileflow/search.h"

/* How often the quota of a shape may double, once per visit: less where few evaluations are left,
 * as more shapes are then worth more than more rows of one; more where the shape is given, as its
 * trip counts are the whole search.  TF_MASKED_VISITS: with a mask, a shape begins as at its third
 * visit: each task ends with a walk, for which few evaluations are too few. */
enum { TF_GROWTH = 6, TF_GROWTH_FEW = 3, TF_GROWTH_GIVEN = 12, TF_MASKED_VISITS = 2 };
/* The best of a task by the objective, and by each figure of the archive. */
enum { TF_BY_OBJECTIVE, TF_BY_CYCLES, TF_BY_ENERGY, TF_BY_TRAFFIC, TF_BY_HELD, TF_N_BY };

typedef struct {
  bool found;
  double value;
  tf_figures figures;
  int64_t *trips; /* [n_loops] */
  tf_tree *tree;
} tf_task_best;

/* One of the best completions, for tf_search_opts.variants. */
typedef struct {
  double value;
  tf_figures figures;
  int64_t *trips; /* malloc'd, [n_loops] */
} tf_variant;

/* Memory of a search: what earlier tasks have learnt. */
typedef struct {
  uint64_t key; /* tf_decision.key */
  int32_t trip;
} tf_hint;

typedef struct {
  uint64_t shape;
  int visits;
  bool even_done, exhausted; /* all trip counts that divide were tried; all were */
  double cost;
  int n_loops;
  int64_t *trips; /* malloc'd, [n_loops]; NULL: nothing that fits was found */
  tf_hint *hints; /* malloc'd: trips by decision, sorted by key */
  int n_hints;
} tf_known;

typedef struct {
  tf_known *list; /* sorted by shape */
  int n;
  tf_hint *hints; /* of the best mapping of all, sorted by key */
  int n_hints;
  double best, best_energy;
  uint64_t *tried; /* hash table of the completions that were offered as variants; 0: free */
  size_t n_tried, tried_room;
} tf_memory_of_search;

/* The result of a task as the log has it. */
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
  /* input, the same for all tasks */
  const tf_strategy *strategy;
  const tf_shapes *shapes;
  const tf_search_opts *opts;
  const tf_memory_of_search *memory;
  tf_prepared_list *kept;        /* prepared copies of shapes */
  const tf_search_result *sofar; /* of the tasks before; changes only between batches */
  int64_t walk_limit;
  double share; /* tf_demand_share of the workload */
  int growth;
  tf_budget_clock *clock;
  /* input of this task */
  int64_t no;
  int32_t *genes;
  uint64_t parent_id;          /* shape to start from, see tf_strategy_ops; 0: none */
  int64_t quota, effort_quota; /* 0: no limit */
  bool untold;                 /* its result is archived, but not told to the strategy */
  bool start;                  /* it searches the space of a start, not a row of the strategy */
  /* trip counts tried first and used as hints, begin_loops of them; NULL: none */
  const int64_t *begin;
  int begin_loops;
  const tf_logged *logged; /* replayed from the log; NULL: to be searched */
  double goal_energy; /* in pJ, of the incumbent when it met the goal: from then on energy counts in
                         the guiding cost, too; 0: not met */
  double variants_within; /* variants with a greater objective value are not kept */
  /* results */
  tf_reads reads;
  bool legal, exhausted, stopped; /* stopped: by the budget, before its quota */
  bool even;                      /* only trip counts that divide were offered */
  uint64_t shape;
  int64_t evals, effort;
  double cost; /* what the strategy is told: the guiding cost, see guide_of */
  int n_loops;
  tf_task_best best[TF_N_BY];
  tf_variant *variants; /* by ascending value; see variants.h */
  int n_variants;
  tf_tree *open;  /* of which they are completions; NULL: there are none */
  tf_hint *hints; /* malloc'd: the trip counts of best[TF_BY_OBJECTIVE] by decision */
  int n_hints;
  tf_prepared *prepared; /* to be kept; NULL: none */
  bool failed;           /* memory ran out */
} tf_task;

void tf_task_run(tf_task *t);
/* Frees its results. */
void tf_task_clear(tf_task *t);

const tf_known *tf_memory_find(const tf_memory_of_search *m, uint64_t shape);
#endif
