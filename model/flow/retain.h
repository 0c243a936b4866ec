/* What a scope that retains intermediates computes in one run, given the settings of its loops.  A
 * run is reached by the innermost of the loops above the scope that is not at its start; the
 * previous run has that loop one step back and those inside it at their end.  So what is computed
 * is a function of the settings alone, and settings fall into classes (docs/SEMANTICS.md section 1,
 * D10). */
#ifndef MODEL_FLOW_RETAIN_H
#define MODEL_FLOW_RETAIN_H
#include "model/flow/range.h"

enum { TF_MAX_RETAIN = 6 };

/* A scope that retains.  Masks are over path positions of the scope. */
typedef struct tf_retain {
  int scope, n_ops;
  int ops[TF_MAX_RETAIN]; /* consumers first */
  uint64_t moves;         /* loops that move what is needed */
  uint64_t drops; /* temporal loops whose step makes a Seq further out drop the home's content */
} tf_retain;

/* Settings of the loops above the scope.  slack: number of settings after this one that it
 * represents. */
typedef struct {
  int64_t digit[TF_MAX_PATH], slack[TF_MAX_PATH];
} tf_retain_setting;

typedef struct {
  tf_ival box[TF_MAX_RETAIN][TF_MAX_RANK];
} tf_made;

/* Fills p->retains, p->made_in, p->made_mask; sets p->irregular where only the walk applies. */
bool tf_retain_plan(tf_arena *a, tf_plan *p);

/* Whether instances may compute ranges of different lengths in one run of the scope: spatial loops
 * are above it, and some loop there does not divide what it splits evenly.  Needs steps and a
 * setting of zeros. */
bool tf_retain_uneven(const tf_eval *ev, const tf_retain *h, const int64_t *zero);

/* The box that is computed if `need` is needed and `held` (NULL: nothing) is held; of a number,
 * which has no rank, made[0] says how many. */
void tf_retain_box(int rank, const tf_ival *need, bool empty, const tf_ival *held, tf_ival *made);

/* Steps back to the previous run; returns the position of the loop that stepped from there, -1 if
 * there is none.  Sets ev->ragged if settings that `at` represents differ.  dg: settings by loop;
 * those of the scope's temporal loops are overwritten. */
int tf_retain_before(tf_eval *ev, const tf_retain *h, int64_t *dg, tf_retain_setting *at);
/* Skips the runs before `at`, which computes nothing, that certainly compute nothing, either. */
void tf_retain_skip(const tf_eval *ev, const tf_retain *h, tf_retain_setting *at);
/* What each of h->ops computes at `at`.  Needs ev->made (all NULL, or as left by the last call). */
void tf_retain_made(tf_eval *ev, const tf_retain *h, int64_t *dg, const tf_retain_setting *at,
                    tf_made *out);
/* Applies what is computed in the run to which `digits` belong; *out must live as long as it is
 * applied. */
void tf_retain_at(tf_eval *ev, tf_scratch *w, const tf_retain *h, const int64_t *digits,
                  tf_made *out);
/* Applies `made` (NULL: nothing). */
void tf_retain_force(tf_eval *ev, const tf_retain *h, tf_made *made);
void tf_retain_stand(const tf_eval *ev, const tf_retain *h, const tf_retain_setting *at,
                     int64_t *dg);
/* Whether runs of the retaining scope above slice s, if there is one, affect its entries in class c
 * (NULL: its box; for a slice without touches, the steps of its node). */
bool tf_retain_matters(const tf_plan *p, const tf_slice *s, const tf_reuse_case *c);
/* Whether each step of the loops in h->drops drops what the home holds: the children to which Seqs
 * then pass have work in the last step, and so in each.  Writes settings to dg. */
bool tf_retain_drops(const tf_eval *ev, const tf_retain *h, int64_t *dg);
/* Whether an op below `node`, a node below the scope, has points in the current run. */
bool tf_retain_busy(const tf_eval *ev, const tf_retain *h, int node, const int64_t *dg);
/* The same for the ops of a slice. */
bool tf_retain_touched(const tf_eval *ev, const tf_retain *h, const tf_slice *s, const int64_t *dg);
#endif
