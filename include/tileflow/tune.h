/* Schedules tried on a machine (docs/HOWTO-tune.md): a strategy proposes them, whoever asks compiles and measures, and
 * a store keeps every measurement. */
#ifndef TILEFLOW_TUNE_H
#define TILEFLOW_TUNE_H
#include "tileflow/emit.h"
#include "tileflow/planner.h"

/* What came of a candidate: id, its name in the store, what it means. */
/* clang-format off */
#define TF_VERDICTS(X)                                                                  \
  X(RAN, "ran", "compiled, right, and timed")                                           \
  X(WRONG, "wrong", "its test found another result")                                    \
  X(CRASHED, "crashed", "ended by a signal, or without a time")                         \
  X(TOO_LONG, "too-long", "ended at the limit of seconds")                              \
  X(NOT_COMPILED, "not-compiled", "the compiler refused it")                            \
  X(NOT_EMITTED, "not-emitted", "the generator refused it")
/* clang-format on */
typedef enum {
#define X(id, name, what) TF_TUNE_##id,
  TF_VERDICTS(X)
#undef X
      TF_N_VERDICTS
} tf_verdict;
const char *tf_verdict_name(tf_verdict v);

typedef struct {
  tf_verdict verdict;
  double seconds; /* of RAN: of processor time, the median of the last turn */
  int turns;      /* until two medians agreed */
} tf_timing;

/* One trial, as it stands in the store. */
typedef struct {
  int no;           /* 0: the model's first choice, which no strategy asked for */
  const char *text; /* the schedule (docs/HOWTO-tune.md); of the first choice "" where it is none of the space's */
  const char *mapping, *isa;
  double cycles; /* as the model counts the mapping */
  tf_timing timing;
  bool same; /* its kernel was measured before, as another trial's: that measurement stands here, too */
} tf_trial;

typedef struct {
  int trials; /* done, resumed ones among them */
  int of;
  double best; /* seconds; infinite: none yet */
} tf_tune_progress;

typedef struct {
  const char *strategy; /* NULL: the first of tf_tune_strategy */
  uint64_t seed;
  int trials;                     /* beside the first choice */
  double time_limit;              /* in seconds, 0: none.  A run that it ends is no longer the same on another day */
  const char *store;              /* a file, made where there is none; NULL: in memory alone */
  const char *machine, *compiler; /* whose measurements they are */
  int n_isas;                     /* 0: kernel.isa alone */
  const char *const *isas;        /* instruction sets to choose among */
  const tf_text *constraints;     /* further ones on the space (docs/HOWTO-tune.md); NULL: none */
  tf_planner_opts plan;           /* of the first choice; its kernel's options are all kernels' */
  int batch;                      /* candidates measured in one call; 0: 4.  Another number is another run */
  /* Compiles and measures n kernels; false: it gives up, and so does the tuning (what was measured stays in the store).
   * The library starts no programs. */
  bool (*measure)(void *ctx, const tf_emitted *const *kernels, int n, tf_timing *out);
  bool (*stop)(void *ctx);
  void (*progress)(void *ctx, const tf_tune_progress *p);
  double (*now)(void *ctx); /* seconds, where time_limit is given */
  void *ctx;
} tf_tune_opts;

typedef struct {
  int n, best;            /* best: -1: none has run */
  tf_trial *trials;       /* [n] in order; texts belong to the tf_tuned */
  int resumed;            /* trials that the store had already */
  int64_t drawn, unfit;   /* schedules that strategies drew, and those among them that did not fit */
  struct tf_arena *arena; /* of the texts */
} tf_tuned;

/* Tunes the workload's kernel for the machine one sits at.  The same options and seed ask for the same schedules as
 * long as measurements are the same; with a store, a run that was ended (or killed) goes on where it stood.  NULL with
 * errors in d: no schedule suits the workload, a store that cannot be used (E_STORE), measure gave up (no error). */
tf_tuned *tf_tune_run(const tf_arch *arch, const tf_workload *wl, const tf_tune_opts *o, tf_diags *d);
void tf_tuned_free(tf_tuned *t);

/* The k-th strategy and what it does; NULL past the last. */
const char *tf_tune_strategy(int k, const char **about);

typedef struct {
  char *mapping, *isa; /* malloc'd */
  double seconds;
} tf_tune_best;

/* The fastest trial that the store has of this workload, architecture and type of data on that machine, whatever the
 * strategy.  False with *out empty: it has none, or, with an error in d, it cannot be used (E_STORE). */
bool tf_tune_find(const char *store, const char *machine, const tf_arch *arch, const tf_workload *wl, const char *dtype,
                  tf_tune_best *out, tf_diags *d);

/* The mapping that a schedule's text means.  *isa: one of isas.  NULL with every error in d, at its place in
 * the text, which is the file of that number. */
tf_tree *tf_tune_mapping(const tf_arch *arch, const tf_workload *wl, int n_isas, const char *const *isas, tf_text text,
                         const char **isa, tf_diags *d);
#endif
