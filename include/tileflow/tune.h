/* Tuning by measurement (docs/HOWTO-tune.md): a strategy proposes schedules, the caller compiles
 * and measures them, and a store keeps every measurement. */
#ifndef TILEFLOW_TUNE_H
#define TILEFLOW_TUNE_H
#include "tileflow/emit.h"
#include "tileflow/planner.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The outcome of a candidate: id, its name in the store, meaning. */
/* clang-format off */
#define TF_VERDICTS(X)                                          \
  X(RAN, "ran", "compiled, right, and timed")                   \
  X(WRONG, "wrong", "its test found another result")            \
  X(CRASHED, "crashed", "ended by a signal, or without a time") \
  X(TOO_LONG, "too-long", "ended at the limit of seconds")      \
  X(NOT_COMPILED, "not-compiled", "the compiler refused it")    \
  X(NOT_EMITTED, "not-emitted", "the generator refused it")
/* clang-format on */
typedef enum {
#define X(id, name, what) TF_TUNE_##id,
  TF_VERDICTS(X)
#undef X
      TF_N_VERDICTS
} tf_verdict;
TF_API const char *tf_verdict_name(tf_verdict v);

typedef struct {
  tf_verdict verdict;
  double seconds; /* of RAN: processor time in seconds, the median of the last turn */
  int turns;      /* until two medians agreed */
} tf_timing;

/* One trial, as in the store. */
typedef struct {
  int no;           /* 0: the model's first choice, which no strategy proposed */
  const char *text; /* the schedule (docs/HOWTO-tune.md); of the first choice "" if the space does
                       not contain it */
  const char *mapping, *isa;
  tf_choices choices; /* of the schedule; of the first choice: none */
  double cycles;      /* of the mapping, by the model */
  tf_timing timing;
  bool same; /* its kernel was measured before, in another trial, whose measurement is copied */
  double confirmed; /* seconds beside the other fastest, in turns, at the end; 0: it was not one of
                       them */
} tf_trial;

typedef struct {
  int trials; /* finished trials, resumed ones included */
  int of;
  double best; /* in seconds; infinite: none yet */
} tf_tune_progress;

typedef struct {
  const char *strategy; /* NULL: the first of tf_tune_strategy */
  uint64_t seed;
  int trials;        /* in addition to the first choice */
  double time_limit; /* in seconds, 0: none.  A run that it ends cannot be reproduced */
  const char *store; /* a file, created if it is missing; NULL: in memory only */
  const char *machine, *compiler; /* identify the origin of the measurements */
  int n_isas;                     /* 0: kernel.isa only */
  const char *const *isas;        /* instruction sets to choose among */
  const tf_text
      *constraints;     /* additional constraints on the space (docs/HOWTO-tune.md); NULL: none */
  tf_planner_opts plan; /* for the first choice; its kernel options apply to all kernels */
  int batch; /* candidates measured in one call; 0: 4.  Affects which schedules are tried */
  /* Compiles and measures n kernels; false: the tuning ends (what was measured stays in the store).
   * The library itself starts no programs.  A kernel with the same text as one that ran on this
   * machine, built by this compiler, in any run of the store, is not measured again. */
  bool (*measure)(void *ctx, const tf_emitted *const *kernels, int n, tf_timing *out);
  /* Times n different kernels that ran, in turns, so that what else the computer does falls on all
   * alike; false as of measure.  At the end of a run that ended by itself: the first choice, the
   * fastest others, and the fastest that other runs of the store have.  NULL: the fastest by its
   * own measurement is the best. */
  bool (*confirm)(void *ctx, const tf_emitted *const *kernels, int n, tf_timing *out);
  /* A kernel that is faster than all before, by its own measurement, as soon as its batch is
   * measured, or read from the store; the first choice, too.  NULL: nobody is told. */
  void (*better)(void *ctx, const tf_emitted *kernel, const tf_trial *trial);
  bool (*stop)(void *ctx);
  void (*progress)(void *ctx, const tf_tune_progress *p);
  double (*now)(void *ctx); /* in seconds; needed with time_limit */
  void *ctx;
} tf_tune_opts;

typedef struct {
  int n, best;      /* best: index, of those that were confirmed if any was; -1: none has run */
  tf_trial *trials; /* [n] in order; texts belong to the tf_tuned */
  int resumed;      /* trials that the store already had */
  int known;        /* trials whose kernels other runs of the store had measured, on this machine */
  int64_t drawn, unfit;   /* schedules that strategies drew; those of them that did not fit */
  struct tf_arena *arena; /* of the texts */
} tf_tuned;

/* Tunes the workload's kernel for this machine.  The same options and seed propose the same
 * schedules as long as the measurements are the same; with a store, an interrupted (or killed) run
 * continues where it was.  NULL with errors in d: no schedule suits the workload, a store that
 * cannot be used (E_STORE); or without an error if measure returned false. */
TF_API tf_tuned *tf_tune_run(const tf_arch *arch, const tf_workload *wl, const tf_tune_opts *o,
                             tf_diags *d);
TF_API void tf_tuned_free(tf_tuned *t);

/* Name and description of the k-th strategy; NULL past the last. */
TF_API const char *tf_tune_strategy(int k, const char **about);

typedef struct {
  char *mapping, *isa; /* malloc'd */
  double seconds;
  tf_choices choices;
} tf_tune_best;

/* Whose measurements count: of that machine, for that type of data (as in tf_emit_options). */
typedef struct {
  const char *machine, *dtype;
} tf_tune_asked;

/* The fastest trial in the store for this workload and architecture, by any strategy: of those that
 * were confirmed last, if any was.  False with *out empty: there is none, or, with an error in d,
 * the store cannot be used (E_STORE).
 */
TF_API bool tf_tune_find(const char *store, const tf_tune_asked *asked, const tf_arch *arch,
                         const tf_workload *wl, tf_tune_best *out, tf_diags *d);

/* What a schedule says beside its mapping. */
typedef struct {
  const char *isa; /* one of those that were given */
  tf_choices choices;
} tf_schedule;

/* The mapping of a schedule's text, as a tree that the caller frees.  NULL with every error in d,
 * located in the text, which is the file of that number. */
TF_API tf_tree *tf_tune_mapping(const tf_arch *arch, const tf_workload *wl, int n_isas,
                                const char *const *isas, tf_text text, tf_schedule *out,
                                tf_diags *d);

/* One system of constraints of a space (docs/HOWTO-tune.md), and how many schedules it leaves.
 * Texts are malloc'd. */
typedef struct {
  const char *name; /* of its form */
  int knobs, variables, constraints;
  char *kinds; /* of the constraints: "12 PROD, 3 LE" */
  char *all;   /* the exact number of values of the knobs whose factors multiply to the extents; of
                  rules: "" */
  char *fit;  /* of those of them that satisfy every constraint; of rules: of solutions.  "": it was
                 given up */
  char *text; /* the system, a line for each variable and constraint */
} tf_space_form;
enum { TF_SPACE_FORMS = 8 };
typedef struct {
  int n;
  tf_space_form form[TF_SPACE_FORMS];
} tf_space_size;

/* The space that tf_tune_run looks through.  False with errors in d; free out in either case. */
TF_API bool tf_tune_size(const tf_arch *arch, const tf_workload *wl, const tf_text *constraints,
                         tf_space_size *out, tf_diags *d);
/* The system that Heron's rules of generation derive from the ops, the instructions and the
 * memories, whose schedules are not those of tf_tune_run: to count, to print, to compare. */
TF_API bool tf_tune_rules(const tf_spec *spec, tf_space_size *out, tf_diags *d);
TF_API void tf_space_size_free(tf_space_size *s);

/* Schedules from plain loops to the model's first choice: each takes over one more of its decisions
 * (the order of loops, how they are cut, vectors, where intermediates are computed), as text that
 * tf_tune_mapping takes. */
enum { TF_LADDER_MOST = 6 };
typedef struct {
  const char *what; /* taken over by this step */
  char *text;       /* malloc'd */
} tf_ladder_step;
typedef struct {
  int n; /* 0: no mapping that fits was found */
  tf_ladder_step step[TF_LADDER_MOST];
  int64_t evals; /* of the plan */
  tf_stop stopped_by;
} tf_ladder;
/* isas: the first is that of the steps without vectors, the last that of the plan
 * (plan->kernel.isa).  Steps that are like the one before, or that the workload does not have, are
 * left out.  False with errors in d, as where the first choice is none of the schedules. */
TF_API bool tf_tune_ladder(const tf_arch *arch, const tf_workload *wl, int n_isas,
                           const char *const *isas, const tf_planner_opts *plan, tf_ladder *out,
                           tf_diags *d);
TF_API void tf_ladder_free(tf_ladder *l);

#ifdef __cplusplus
}
#endif
#endif
