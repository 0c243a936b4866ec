/* State of one lowering, shared by its files. */
#ifndef CODEGEN_LOWER_LOWER_H
#define CODEGEN_LOWER_LOWER_H
#include "codegen/ir/ir.h"
#include "codegen/ir/names.h"
#include "codegen/lower/target.h"
#include "model/flow/range.h"
#include "model/input/masked.h"

typedef struct {
  ir_expr expr;
  int var;
} lower_let;

/* Bounds of a value: first <= value <= last, unknown from LOWER_UNBOUNDED on; and a number of which
 * it is a multiple, 0 if it is always 0. */
typedef struct {
  int64_t first, last, multiple;
} lower_span;
#define LOWER_UNBOUNDED (INT64_MAX / 8)

/* A mask of scores, and the part that it leaves nothing of, which is not computed (mask.c). */
typedef struct {
  int scope; /* the innermost scope with all ops that the mask makes void below it; -1: no such mask
              */
  tf_mask band;
  bool inside; /* within the scope, with whole rows: void elements from `limit` on are not computed
                */
  bool streaming; /* within the scope, with streamed rows: blocks of l of which no row sees any are
                     skipped; by data, others than the first */
  ir_atom limit;
  ir_range few; /* whole rows: the range that producers compute for them, of few possible lengths */
  ir_atom first;    /* streamed: where the first block begins that is not skipped ... */
  ir_range visible; /* ... and a range that is empty in blocks that are skipped */
} lower_mask;

/* What op o's sums are carried in (carry.c): where they begin, with what ranges of the output, and
 * the buffers. */
typedef struct {
  bool marked, streams; /* begun outside of the scope that streams them */
  int space, position;
  ir_body *into;
  ir_range *range; /* [output dims] */
  int n, buffer[3];
  ir_stmt *correct; /* what corrects the sums in a scope that streams them; NULL: nothing */
} lower_carry;

struct lowering {
  ir_program *p;
  const lower_target *target;
  const tf_plan *plan;
  tf_eval run;
  tf_diags *d;
  ir_range *cur; /* [op * n_dims + dim] ranges on entry to the current node */
  ir_body *into; /* where statements are appended */
  int n_lets;    /* number of lets in scope */
  lower_let *lets;
  lower_span *span;  /* [variable] bounds of its value */
  int *var_of;       /* [loop] its variable once it has been opened; -1: not yet */
  int *hoisted;      /* [loop] variable of a loop hoisted outside of all; -1: not hoisted */
  bool *split_early; /* [loop] and it has split its ranges there */
  bool *summed;      /* [op] its output's sums have a float32 buffer of their own */
  int *
      narrow; /* [tensor] the buffer of an intermediate that is kept in the data's type; -1: none */
  bool in_parallel;   /* inside a parallel loop ... */
  int parallel;       /* ... namely this one */
  bool *keeps;        /* [tensor] its scope retains what the next run needs */
  ir_stmt **retained; /* [tensor] its IR_KEEP; NULL: none yet */
  int64_t *slots;     /* [tensor] instances whose runs of the scope alternate */
  int64_t *slot_step; /* [tensor * n_loops + loop] distance in slots between steps of a loop over
                         instances; 0: their runs do not alternate */
  ir_atom *slot;      /* [tensor] slot of the current instance */
  int *stage;         /* [level * n_tensors + tensor] buffer of an input in that memory; -1: none */
  int *source;        /* [tensor] the innermost buffer that holds it here; -1: the argument */
  ir_range
      *chain; /* `cur` on entry to the child of the nearest scope, which is at depth chain_depth */
  int chain_depth;
  lower_mask mask;
  lower_carry *carry; /* [op] */
};

/* Whether memory has run out.  Statements and values are then dummies; a function checks before it
 * uses arrays of its own, and the passes end. */
static inline bool lower_failed(const lowering *w) { return tf_arena_failed(w->p->arena); }

static inline ir_range *lower_range(lowering *w, int op, int dim) {
  return &w->cur[op * w->plan->wl->n_dims + dim];
}

/* lower_threads: whether the target's instances are threads.  lower_space: the memory space for a
 * buffer opened here, each thread's own or the common one. */
static inline bool lower_threads(const lowering *w) {
  return w->target->platform->maps >> IR_THREAD & 1;
}
static inline int lower_space(const lowering *w) {
  return w->in_parallel ? ir_space_of(w->target->platform, IR_THREAD) : 0;
}

/* let.c: values and statements.  Where memory has run out they return a number, a dummy variable,
 * or NULL. */
int lower_var(lowering *w, const char *fmt, ...) TF_PRINTF(2, 3);
ir_stmt *lower_add(lowering *w, ir_kind kind);
/* Opens the body of a statement; lower_close with the returned mark leaves it. */
typedef struct {
  ir_body *into;
  int n_lets;
} lower_mark;
lower_mark lower_open(lowering *w, ir_body *body);
void lower_close(lowering *w, lower_mark mark);
/* The value of an expression: folded, found among the lets in scope, or a new let of that name. */
ir_atom lower_sum(lowering *w, const char *name, ir_atom a, int64_t coef,
                  ir_atom b); /* a + coef * b */
ir_atom lower_min(lowering *w, const char *name, ir_atom a, ir_atom b);
ir_atom lower_max(lowering *w, const char *name, ir_atom a, ir_atom b);
ir_atom lower_select(lowering *w, const char *name, ir_range nonempty, ir_atom yes, ir_atom no);
/* IR_DIV and IR_MOD of a value >= 0. */
ir_atom lower_divmod(lowering *w, const char *name, ir_fn fn, ir_atom a, int64_t by);
/* IR_SEEN, of an argument. */
ir_atom lower_seen(lowering *w, int buffer, const ir_range *box);
/* span.c: bounds of a value, from the trip counts of the loops around it; a new variable,
 * unbounded; the variable of a loop; of an expression. */
lower_span lower_span_of(const lowering *w, ir_atom a);
void lower_span_unbounded(lowering *w, int var);
void lower_span_loop(lowering *w, int var, int64_t trip);
void lower_span_let(lowering *w, int var, const ir_expr *e);

/* range.c: ranges. */
ir_range lower_split(lowering *w, const char *name, ir_range r, ir_atom digit, int64_t step,
                     int64_t trip);
/* The range that an index covers while its dims are in the ranges of op; not clipped. */
ir_range lower_index(lowering *w, int op, const tf_index *ix);
/* Of tensor z what its readers ask of the op that makes it: an element, where a read is padding
 * alone; what they touch; that and what the maker makes. */
typedef enum { LOWER_ASKED, LOWER_TOUCHED, LOWER_HELD } lower_need;
/* Rank r of tensor z: the range that ops below node n need, clipped to the tensor. */
ir_range lower_demand(lowering *w, int z, int r, int n, lower_need need);
/* The range, made empty while another range of the op is empty; dim `but` is not considered. */
ir_range lower_unless_idle(lowering *w, int op, ir_range v, int but);

bool lower_same_range(const ir_range *a, const ir_range *b);
/* Position of the dim among the op's; -1: not there.  Next: whether an index is that dim alone. */
int lower_find_dim(const tf_op *op, int dim);
bool lower_is_dim(const tf_index *ix, int dim);

/* Adds a possible length to a range, while there is room; false: no room, lengths are then unknown.
 */
bool lower_add_length(ir_range *r, int64_t length);

/* mask.c: _find once, when the plan is there; the others after the ranges of scope n and when it
 * ends; after those of op o at a scope; around what scope n runs, closed by lower_close if `into`
 * is set. */
void lower_mask_find(lowering *w);
void lower_mask_open(lowering *w, int n);
void lower_mask_close(lowering *w, int n);
lower_mark lower_mask_visit(lowering *w, int n);
/* For a dim that op o reduces: a value that is 0 where the reduction starts, given the lower end of
 * its range. */
ir_atom lower_mask_fresh(lowering *w, int o, int dim, ir_atom lo);
/* Whether blocks of the dim, streamed by op o, are skipped where a mask leaves nothing of them. */
bool lower_mask_streams(const lowering *w, int o, int dim);

/* mask_end.c: whether the range is the mask's whole row; ends op o's row at the limit: a range that
 * is not the whole row belongs to readers, which end there already, or is a part; the same wherever
 * op o's ranges are inferred. */
bool lower_mask_whole(const lowering *w, const ir_range *r);
void lower_mask_end(lowering *w, int o);
void lower_mask_infer(lowering *w, int o);

/* keep.c: what scopes retain.  lower_keep_start after the arrays of `w`; lower_keep_plan after
 * loops were hoisted. */
bool lower_keep_start(lowering *w);
void lower_keep_plan(lowering *w);
/* Scope n retains the output of op o: opens its buffer, and sets the op's range to the part left to
 * compute. */
void lower_keep(lowering *w, int n, int o);
/* In a step of loop l of Tile n, and after the loop itself has been opened. */
void lower_keep_step(lowering *w, int n, int l, ir_atom digit);
void lower_keep_instance(lowering *w, int n, int l);
/* Where Seq n passes to a child. */
void lower_keep_pass(lowering *w, int n, int child);

/* Opens a body that runs where an op below the child (z >= 0: one that reads z) has points;
 * lower_close ends it. */
lower_mark lower_guard_nonempty(lowering *w, int child, int z);

/* stage.c: tiles of inputs, for memories filled by copies.  lower_stage_start with the buffers;
 * then on entry to Tile n, and where Seq n passes to the child. */
void lower_stage_start(lowering *w);
void lower_stage(lowering *w, int n);
void lower_stage_pass(lowering *w, int n, int child);

/* stream.c: once, when the plan is there, ops as their steps compute them take the place of the
 * workload's; the read by which op divides if it is the division alone that waits, -1: none, or
 * more; whether op is not run at all.  Running maxima and sums at scope n, before and after the
 * child that runs; and divisions that waited for the last step, after all children, whether it was
 * skipped or not. */
bool lower_stream_steps(lowering *w, tf_plan *plan);
int lower_late_divisor(const lowering *w, int o);
bool lower_is_idle(const lowering *w, int o);
bool lower_stream_check(lowering *w, int n);
void lower_stream_before(lowering *w, int n, int child);
void lower_stream_after(lowering *w, int n, int child);
void lower_stream_end(lowering *w, int n);

/* type.c: the element type of tensor z where nests access it; whether op reads inputs alone; and
 * whether op o multiplies inputs whose sums are integers. */
ir_type lower_type(const lowering *w, int z, bool argument);
bool lower_is_of_inputs(const tf_workload *wl, const tf_op *op);
bool lower_is_narrow(const lowering *w,
                     int z); /* an intermediate that is kept in the data's type */
bool lower_is_whole(const lowering *w, int o);
/* sums.c: an output or an intermediate that is narrower than its sums gets a float32 buffer, opened
 * where the first loop that reduces begins.  n, k: the Tile and the number of its next loop (or a
 * scope that streams); alone: the op whose nest comes next (or -1). lower_save_sums writes complete
 * sums to the output, rounded. */
typedef struct {
  int n;
  int *ops;
} lower_sums;
lower_sums lower_open_sums(lowering *w, int n, int k, int alone);
void lower_save_sums(lowering *w, lower_sums s);
/* carry.c: long sums, in parts.  Around loop k of Tile n, or the nest of op `alone` if that is not
 * -1, as lower_open_sums; the nest of node n with what moves on after it; and, in a scope that
 * streams op o, in the step whose range ends with `hi` at `end`. */
lower_sums lower_open_carries(lowering *w, int n, int k, int alone);
void lower_close_carries(lowering *w, lower_sums s);
void lower_carried_nest(lowering *w, int n);
void lower_join_streamed(lowering *w, int o, ir_atom hi, int64_t end);
/* Whether loop l splits a reduced dim of op o. */
bool lower_reduces(const lowering *w, int o, int l);
/* Whether sums of an output begin outside of loop k of Tile n. */
bool lower_has_sums(const lowering *w, int n, int k);

/* parts.c: a name or identifier followed by `_` and `what`; in the arena. */
char *lower_derived(lowering *w, const char *name, const char *what);

/* Passes over the whole program, for the targets' lists.  late.c: before rows are joined. */
void lower_divide_late(lowering *w);
/* rows.c: fuses neighbouring nests over the same rows. */
void lower_join_rows(lowering *w);
/* share.c: after rows are joined. */
void lower_share(lowering *w);
/* unused.c: at the end. */
void lower_drop_unused(lowering *w);

/* nest.c: the nest of the op at node n; NULL: out of memory. */
const ir_stmt *lower_nest(lowering *w, int n);
/* infer.c: infers the ranges at node n of the ops that lead only below it. */
void lower_infer(lowering *w, int n);
/* Splits the ranges that loop l splits, without a guard against empty ones; with one, which lists
 * ranges of which one must not be empty: how many, 0: one never is. */
void lower_split_leaders(lowering *w, int l, ir_atom digit);
int lower_split_guarded(lowering *w, int l, ir_atom digit, ir_range *guard);
/* All of dim d. */
ir_range lower_whole_range(const tf_workload *wl, int d);
/* parts.c: a statement over the output of op o; a buffer of tensor z. */
ir_stmt *lower_over_output(lowering *w, ir_kind kind, int o);
int lower_buffer(lowering *w, int z, const char *name, bool argument, int level);
/* lower.c: whether the steps of loop l of Tile n write disjoint data. */
bool lower_independent(const lowering *w, int n, int l);
#endif
