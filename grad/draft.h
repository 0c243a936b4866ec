/* A workload being built: dims, tensors, ops, element expressions. */
#ifndef GRAD_DRAFT_H
#define GRAD_DRAFT_H
#include <string.h>

#include "base/arena.h"
#include "model/input/reader.h"

/* In an index a number below GR_SLOT is a dim of the draft, GR_SLOT + s is slot s of the forward
 * op's dims. */
enum { GR_SLOT = 1 << 20 };

/* Immutable, with shared parts.  Constructors return NULL if memory ran out, or an argument is
 * NULL. */
typedef struct gr_expr gr_expr;
struct gr_expr {
  tf_expr node; /* arg and ref are not used */
  const gr_expr *arg[3];
  int tensor;            /* TF_X_READ */
  const tf_index *index; /* [rank], from 0 on; TF_X_DIM: [1] its value */
};

typedef struct {
  const char *name;
  int rank, word_bits;
  int64_t extent[TF_MAX_RANK];
  int producer; /* op of the draft; -1: none so far */
} gr_tensor;

typedef struct {
  const char *name; /* NULL: as its tensor */
  int out;          /* its tensor, which has n_left ranks */
  int left[TF_MAX_RANK];
  tf_reduce reduce;
  const gr_expr *e;
  tf_loc at; /* the forward op it is for */
} gr_op;

typedef struct {
  tf_arena *arena;
  tf_diags *diags;
  const tf_workload *wl;
  int n_dims, n_tensors, n_ops; /* equal to the numbers in wl, except for ops */
  int room_dims, room_tensors, room_ops;
  tf_dim *dims;
  gr_tensor *tensors;
  gr_op *ops;
  tf_loc at;           /* the forward op being processed */
  bool failed;         /* reported */
  bool divides, whole; /* divides: some index has a quotient; whole: none may */
} gr_draft;

/* Dims and tensors of wl; false without memory. */
bool gr_draft_begin(gr_draft *d, const tf_workload *wl);
bool gr_fail_memory(gr_draft *d);

/* A dim of that extent other than the n in `avoid`: an existing one, or a new one with a name like
 * `like`. */
int gr_fresh_dim(gr_draft *d, int64_t extent, const int *avoid, int n, const char *like);
/* home / weight % extent as a dim of its own, which has no loop: its name is that text, and it
 * stands in indices alone. top: it needs no remainder. */
int gr_quotient(gr_draft *d, int home, int64_t weight, int64_t extent, bool top);
/* No other dim's name has a blank. */
static inline bool gr_is_quotient(const gr_draft *d, int dim) {
  return strchr(d->dims[dim].name, ' ') != NULL;
}
/* A new tensor; `name` gets digits appended if it is not unique.  -1 after an error. */
int gr_add_tensor(gr_draft *d, const char *name, int rank, const int64_t *extent, int word_bits);
/* Adds the op that computes `out`; `left`: [rank] dims. */
void gr_add_op(gr_draft *d, int out, const int *left, tf_reduce reduce, const gr_expr *e);
/* A tensor that is 1 within 0 .. extent - 1 and 0 in its padding; created on first use. */
int gr_inside(gr_draft *d, int64_t extent);

/* ---- index forms ---------------------------------------------------------------------- */
tf_index gr_form(gr_draft *d, int var);
/* x + k * y + c. */
tf_index gr_add_form(gr_draft *d, tf_index x, int64_t k, tf_index y, int64_t c);
/* Slots replaced by map[slot]; where map[slot].c is GR_OPEN the slot stays. */
#define GR_OPEN INT64_MIN
tf_index gr_map_form(gr_draft *d, tf_index x, const tf_index *map);
bool gr_same_form(tf_index a, tf_index b);
/* First and last value; `extent` of slots. */
void gr_form_range(const gr_draft *d, tf_index x, int64_t *lo, int64_t *hi);
/* The reference with its dims as slots of the op, counted from the tensor's first coordinate. */
const tf_index *gr_ref_forms(gr_draft *d, const tf_op *op, const tf_ref *ref);

/* ---- element expressions ---------------------------------------------------------------- */
const gr_expr *gr_number(gr_draft *d, double v);
const gr_expr *gr_read(gr_draft *d, int tensor, const tf_index *index);
/* The tensor at plain dims. */
const gr_expr *gr_read_at(gr_draft *d, int tensor, const int *dims);
/* The value of an index form. */
const gr_expr *gr_place(gr_draft *d, tf_index form);
/* Products with 1 and sums with NULL are left out. */
const gr_expr *gr_call(gr_draft *d, tf_kind kind, const gr_expr *a, const gr_expr *b,
                       const gr_expr *c);
const gr_expr *gr_map_expr(gr_draft *d, const gr_expr *e, const tf_index *map);
/* Reads of tensor t become reads of to[t]; GR_ONE: the number 1. */
#define GR_ONE (-1)
const gr_expr *gr_swap_reads(gr_draft *d, const gr_expr *e, const int *to);
/* Number of nodes; reads. */
int gr_nodes(const gr_expr *e);
/* Marks the dims of e's reads and of the places that are values in it. */
enum { GR_ALL_DIMS = 4 * TF_MAX_DIMS };
void gr_mark_dims(const gr_draft *d, const gr_expr *e, bool dim[GR_ALL_DIMS]);
void gr_mark_form(tf_index x, bool dim[GR_ALL_DIMS]);
/* What an op reduces over the loops, of which its left side has some.  Its text has those loops
 * alone that it names: a sum is multiplied by the steps of the others, a product names them. */
const gr_expr *gr_with_loops(gr_draft *d, const gr_expr *e, const bool loops[GR_ALL_DIMS],
                             const int *left, int n_left, tf_reduce reduce);
/* Adds the op that computes `out` as op computes what it makes, of e over op's slots. */
void gr_add_reduced(gr_draft *d, const tf_op *op, int out, tf_reduce reduce, const gr_expr *e);
/* Calls f for each read of e. */
void gr_each_read(const gr_expr *e, void (*f)(void *ctx, const gr_expr *read), void *ctx);
#endif
