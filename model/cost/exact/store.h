/* The contents of each instance of each memory during the exact walk, and the events that drop
 * them. */
#ifndef MODEL_COST_EXACT_STORE_H
#define MODEL_COST_EXACT_STORE_H
#include "model/cost/state.h"
#include "model/flow/kinds.h"

enum { TF_ROW_WORDS = 1 + 4 * TF_MAX_RANK };

/* One instance's copy of one tensor: its content, and the slice that left it. */
typedef struct {
  int owner;       /* slice (or op, for a slice at home) that left it; -1: nothing held */
  int64_t touched; /* the store's `iteration` when it was last looked up and written */
  tf_ival box[TF_MAX_RANK];
} tf_held;

typedef struct {
  int tensor, last, n; /* last: the slice entered last; -1: none */
  bool neighbours;     /* instances take words that their neighbours hold */
  tf_held *copies;
} tf_bank;

typedef struct {
  const tf_plan *plan;
  const tf_eval *ev;
  const tf_kinds *kinds; /* [loop] one instance of each kind is kept */
  tf_arena *arena;
  int *bank_of; /* [tile slice]; slices that can find each other's content share a bank */
  int n_banks;
  tf_bank *banks;
  tf_bank *homes;     /* [tensor] contents of the home memory for a retained tensor */
  bool *runs;         /* [node] this scope is running */
  tf_ival **made;     /* [op] storage for tf_eval.made */
  tf_ival **made_all; /* [op] for all instances, TF_MAX_RANK apart; NULL: not retained */
  int64_t *rows;      /* hash table (open addressing) of sharing groups */
  int *stamp, moment;
  int n_slots;
  int64_t iteration; /* iterations counted, for comparison by fast-forwarding */
} tf_store;

/* The kinds of the loops' settings, [n_loops]; NULL: out of memory. */
tf_kinds *tf_kinds_new(tf_arena *a, const struct tf_model *m);

/* The most kinds of instance that are active at once, for each of which a store has room. */
int64_t tf_store_instances(const tf_plan *p, const tf_eval *ev, const tf_kinds *kinds);

tf_store *tf_store_new(const tf_plan *p, const tf_eval *ev, const tf_kinds *kinds);
void tf_store_free(tf_store *s);

/* The instance of node n that the spatial loops above it select. */
int64_t tf_store_index(const tf_store *s, int n, const int64_t *cur);
tf_held *tf_store_at(tf_store *s, int slice, int64_t index);
tf_held *tf_store_home(tf_store *s, int tensor, int64_t index);

void tf_store_clear_rows(tf_store *s);
/* Whether this sharing group is new since the table was cleared. */
bool tf_store_new_row(tf_store *s, const int64_t *row, int n);

/* Slice i is entered: drops content that was left under another layout. */
void tf_store_layout(tf_store *s, tf_eval *ev, tf_scratch *w, int i);
void tf_store_last(tf_store *s, int i);
/* A production of the tensor begins or ends: drops copies in memories inside its home. */
void tf_store_forget(tf_store *s, int tensor);
/* Seq at node n passes to child in that instance of the Seq: drops what the child does not touch.
 */
void tf_store_pass(tf_store *s, int n, int child, int64_t instance);
/* A child of scope n ends: results with a spread reduction are written out. */
void tf_store_leave(tf_store *s, const tf_eval *ev, int n, int child);

/* ---- for fast-forwarding (fast_forward.h) */

/* How far an iteration of a loop moves contents: [tile slice * TF_MAX_RANK + rank] of a copy that
 * this slice left, [tensor * TF_MAX_RANK + rank] of a retained tensor at home. */
typedef struct {
  const int64_t *slice, *home;
} tf_store_shift;

/* int64_t that tf_store_keep writes. */
size_t tf_store_words(const tf_store *s);
/* Copies the contents. */
void tf_store_keep(const tf_store *s, int64_t *kept);
/* Whether the contents are those that were kept, with everything touched since `since` moved by one
 * iteration; with neighbours all moved equally, as they compare contents. */
bool tf_store_moved(const tf_store *s, const int64_t *kept, int64_t since, tf_store_shift by);
/* Moves what was touched since `since` by so many iterations. */
void tf_store_move(tf_store *s, int64_t since, tf_store_shift by, int64_t times);
#endif
