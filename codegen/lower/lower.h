/* State of one lowering, shared by its files. */
#ifndef CODEGEN_LOWER_LOWER_H
#define CODEGEN_LOWER_LOWER_H
#include "codegen/ir/ir.h"
#include "codegen/ir/names.h"
#include "codegen/lower/target.h"
#include "model/flow/range.h"
#include "model/spec/masked.h"

typedef struct {
  ir_expr expr;
  int var;
} low_let;

/* A mask of scores, and what is left out where it leaves nothing (mask.c). */
typedef struct {
  int scope; /* the innermost with all that it makes void below; -1: there is no mask that does */
  tf_mask of;
  bool inside;    /* the scope is open, rows stand whole, and what the mask makes void ends at `limit` */
  bool streaming; /* the scope is open, and blocks of l that lie before the first that a row sees, or from `limit` on
                     are left out */
  ir_atom limit;
  ir_range few;  /* whole rows: what others make for them, of few lengths */
  ir_atom fresh; /* streamed: 0 in the first block that is not left out ... */
  ir_range seen; /* ... and a range that is empty in those that are */
} low_mask;

struct lowering {
  ir_program *p;
  const low_target *target;
  const tf_plan *plan;
  tf_eval run;
  tf_diags *d;
  ir_range *cur; /* [op * n_dims + dim] on entry to the node at hand */
  ir_body *into; /* where statements go */
  int n_lets;    /* lets that are visible */
  low_let *lets;
  int *var_of;        /* [loop] its variable, once it has been opened; -1 */
  int *hoisted;       /* [loop] variable of a loop that was put outside of all; -1 */
  bool *summed;       /* [op] its output, made by sums, has got the buffer where they are float32 */
  int *narrow;        /* [tensor] where an intermediate is kept in the data's type; -1: it is not */
  bool in_parallel;   /* below a loop that runs in parallel ... */
  int parallel;       /* ... which is that one */
  bool *keeps;        /* [tensor] its scope keeps what the next run needs */
  ir_stmt **left;     /* [tensor] its IR_KEEP; NULL: not yet there */
  int64_t *slots;     /* [tensor] instances whose runs of the scope take turns */
  int64_t *slot_step; /* [tensor * n_loops + loop] slots from one step of a loop over instances to the next; 0: their
                         runs do not take turns */
  ir_atom *slot;      /* [tensor] of the instance at hand */
  int *stage;         /* [level * n_tensors + tensor] buffer of an input in that memory; -1: none */
  int *from;          /* [tensor] the innermost that holds it here; -1: the argument */
  ir_range *chain;    /* `cur` on entry to the child of the nearest scope, at that depth */
  int chain_depth;
  low_mask mask;
};

/* Whether memory has run out.  Statements and values are none then, and lead nowhere; a function asks before it uses
 * arrays of its own, and the passes end. */
static inline bool low_failed(const lowering *w) { return tf_arena_failed(w->p->arena); }

static inline ir_range *low_range(lowering *w, int op, int dim) { return &w->cur[op * w->plan->wl->n_dims + dim]; }

/* Whether the target's instances are threads; the space of a buffer that is opened here: each thread's own, or that of
 * all. */
static inline bool low_threads(const lowering *w) { return w->target->platform->maps >> IR_THREAD & 1; }
static inline int low_space(const lowering *w) {
  return w->in_parallel ? ir_space_of(w->target->platform, IR_THREAD) : 0;
}

/* let.c: values, and statements.  Where memory has run out: a number, a variable's number that stands for nothing,
 * NULL. */
int low_var(lowering *w, const char *fmt, ...) TF_PRINTF(2, 3);
ir_stmt *low_add(lowering *w, ir_kind kind);
/* Opens the body of a statement; low_close with what it returned goes back. */
typedef struct {
  ir_body *into;
  int n_lets;
} low_mark;
low_mark low_open(lowering *w, ir_body *body);
void low_close(lowering *w, low_mark mark);
/* The value of an expression: folded, found among the visible lets, or let anew under that name. */
ir_atom low_sum(lowering *w, const char *name, ir_atom a, int64_t coef, ir_atom b); /* a + coef * b */
ir_atom low_min(lowering *w, const char *name, ir_atom a, ir_atom b);
ir_atom low_max(lowering *w, const char *name, ir_atom a, ir_atom b);
ir_atom low_pick(lowering *w, const char *name, ir_range nonempty, ir_atom yes, ir_atom no);
/* IR_DIV and IR_MOD, of a value of 0 or more. */
ir_atom low_by(lowering *w, const char *name, ir_fn fn, ir_atom a, int64_t by);

/* range.c: ranges. */
ir_range low_split(lowering *w, const char *name, ir_range r, ir_atom digit, int64_t step, int64_t trip);
/* What an index reads while its dims are in the ranges of op; not clipped. */
ir_range low_index(lowering *w, int op, const tf_index *ix);
/* Rank r of tensor z: of what ops below node n touch, clipped to the tensor. */
ir_range low_demand(lowering *w, int z, int r, int n, bool with_maker);
/* The range, empty while the op has nothing to do in another dim; `but` is not looked at. */
ir_range low_unless_idle(lowering *w, int op, ir_range v, int but);

bool low_same_range(const ir_range *a, const ir_range *b);
/* Position of the dim in the op's; -1: not there.  Whether an index is that dim alone. */
int low_find_dim(const tf_op *op, int dim);
bool low_is_dim(const tf_index *ix, int dim);

/* The other lengths of a range, as far as there is room for them; false: there is none, and they are unknown. */
bool low_add_length(ir_range *r, int64_t length);

/* mask.c: once, when the plan is there; behind the ranges of scope n, and when it ends; behind those of op o at a
 * scope; around what scope n runs, closed by low_close where `into` is set. */
void low_mask_find(lowering *w);
void low_mask_open(lowering *w, int n);
void low_mask_close(lowering *w, int n);
void low_mask_infer(lowering *w, int o);
low_mark low_mask_visit(lowering *w, int n);
/* Of op o's range of a dim that it reduces: what is 0 where the reduction starts, given its lower end; what is the
 * extent where it is complete, given its upper end. */
ir_atom low_mask_fresh(const lowering *w, int o, int dim, ir_atom lo);
ir_atom low_mask_last(lowering *w, int o, int dim, ir_atom hi);

/* keep.c: what scopes retain.  low_keep_start, behind the arrays of `w`; low_keep_plan, when loops have been hoisted.
 */
bool low_keep_start(lowering *w);
void low_keep_plan(lowering *w);
/* Scope n keeps what op o makes: opens its buffer, and leaves the op's range as what is to be made. */
void low_keep(lowering *w, int n, int o);
/* In a step of loop l of Tile n; where the loop itself has just been opened. */
void low_keep_step(lowering *w, int n, int l, ir_atom digit);
void low_keep_instance(lowering *w, int n, int l);
/* Where Seq n passes to the child. */
void low_keep_pass(lowering *w, int n, int child);

/* Opens a body that is entered where an op below the child (z >= 0: one that reads z) has something to do; low_close
 * ends it. */
low_mark low_open_busy(lowering *w, int child, int z);

/* stage.c: tiles of inputs where memories are filled by copies.  low_stage_start, with the buffers; on entry to Tile n;
 * where Seq n passes to the child. */
void low_stage_start(lowering *w);
void low_stage(lowering *w, int n);
void low_stage_pass(lowering *w, int n, int child);

/* stream.c: running maxima and sums of scope n, around the child that runs. */
bool low_stream_check(lowering *w, int n);
void low_stream_before(lowering *w, int n, int child);
void low_stream_after(lowering *w, int n, int child);

/* type.c: the type of tensor z where nests find it; whether op o multiplies inputs whose sums are whole numbers. */
ir_type low_type(const lowering *w, int z, bool argument);
bool low_is_product(const tf_op *op);
bool low_is_narrow(const lowering *w, int z); /* an intermediate that is kept in the data's type */
bool low_is_whole(const lowering *w, int o);
/* Outputs, and intermediates, that are narrower than their sums get a float32 buffer of their own where the first loop
 * that reduces begins: n, k are the Tile and its loop that comes next (or a scope that streams), alone the op whose
 * nest does (or -1). low_save_sums writes them to the outputs, rounded, once they are whole. */
typedef struct {
  int n;
  int *ops;
} low_sums;
low_sums low_open_sums(lowering *w, int n, int k, int alone);
void low_save_sums(lowering *w, low_sums s);
/* Whether sums of an output have begun outside of loop k of Tile n. */
bool low_has_sums(const lowering *w, int n, int k);

/* A name or an identifier, `_` and what; in the arena. */
char *low_derived(lowering *w, const char *name, const char *what);

/* Passes of the whole program, for lists of targets.  late.c: before rows are joined. */
void low_divide_late(lowering *w);
/* rows.c: joins neighbouring nests that go over the same rows. */
void low_join_rows(lowering *w);
/* share.c: after rows are joined. */
void low_share(lowering *w);
/* unused.c: at the end. */
void low_drop_unused(lowering *w);

/* lower.c */
/* Whether the steps of loop l of Tile n write nothing in common. */
bool low_independent(const lowering *w, int n, int l);
/* Ranges at node n of the ops that lead only below it. */
void low_infer(lowering *w, int n);
/* Splits what loop l splits; no guard sees to it that a range is left. */
void low_split_leaders(lowering *w, int l, ir_atom digit);
/* A row over the output of op o. */
ir_stmt *low_over_output(lowering *w, ir_kind kind, int o);
int low_buffer(lowering *w, int z, const char *name, bool argument, int level);
#endif
