/* Shared by the files that read workloads. */
#ifndef MODEL_INPUT_WORKLOAD_READ_H
#define MODEL_INPUT_WORKLOAD_READ_H
#include "model/input/cut/cut.h"
#include "model/input/number.h"
#include "model/input/reader.h"

/* Where the pieces of an op stand in its text; only errors need it. */
typedef struct {
  size_t from, len; /* bytes of the op's text */
} tf_span;
typedef struct {
  const tf_ynode *text;
  tf_span **index; /* [n_reads][rank] */
} tf_op_source;

typedef struct {
  tf_reader *base;
  const tf_arch *arch; /* NULL: none */
  tf_workload *wl;
  tf_op_source *source; /* [n_ops] */
  int tensors_room;
  int *buckets;     /* tensors by hash of their name, chained by next */
  int *next;        /* [tensors_room] */
  bool failed;      /* something was reported; later phases that would cascade are left out */
  tf_floor *floors; /* [TF_MAX_FLOORS], n_floors of them: quotients that indices have */
  int n_floors;
  tf_left *left;      /* [n_ops] */
  tf_cutting cutting; /* needs: ops without errors */
} tf_wl_reader;

/* One index of a reference, up to ',' or ']'.  Unknown names are reported, counted as 0, and
 * set w->failed; false only where the text cannot be followed any more. */
bool tf_parse_affine(tf_wl_reader *w, tf_lex *x, tf_affine *out);

/* Dims that indices divide, cut (cut/cut.h).  needs: ops without errors; producers. */
void tf_part_dims(tf_wl_reader *w);

/* The right side of an op: fills op->reads, expr and places.  Failures as above. */
bool tf_parse_element(tf_wl_reader *w, tf_lex *x, tf_op *op, tf_op_source *src);

/* T[i, j, ...], the name standing next.  spans: [rank] of the tensor, on the arena. */
bool tf_parse_ref(tf_wl_reader *w, tf_lex *x, tf_ref *out, tf_span **spans);

/* The map of dims: fills wl->dims.  False after an error. */
bool tf_read_dims(tf_wl_reader *w, const tf_ynode *map);

/* The ops list: text -> wl->ops and wl->tensors. */
void tf_read_ops(tf_wl_reader *w, const tf_ynode *list);

/* needs: dims, ops and tensors without errors.  leaves: tensor extents from what is made
 * and read, consumers, the order of the ops; sizes checked. */
void tf_tensor_facts(tf_wl_reader *w, const tf_ynode *tensors);
void tf_op_order(tf_wl_reader *w);

/* Reads the values of the tensors section; unknown names are left to tf_tensor_facts. */
void tf_read_tensor_rows(tf_wl_reader *w, const tf_ynode *tensors);

/* views.c.  Finds what each view is a view of; that tensor's producer becomes the view's.  needs:
 * ops. */
void tf_link_views(tf_wl_reader *w, const tf_ynode *tensors);
/* Checks that a view has as many words as what it is a view of (padding is none of either's words),
 * and adds its readers to that tensor's.  needs: extents, consumers. */
void tf_close_views(tf_wl_reader *w, const tf_ynode *tensors);
/* Whether an op's left side says what its coordinates are. */
static inline bool tf_is_made(const tf_tensor *t) { return t->producer >= 0 && !t->view_of; }

int tf_find_dim(const tf_workload *wl, const char *name, size_t len); /* -1: none */
int tf_find_tensor(const tf_wl_reader *w, const char *name, size_t len);
/* Finds or adds it, with the given rank if new; -1 after a limit or without memory. */
int tf_use_tensor(tf_wl_reader *w, const char *name, size_t len, int rank, tf_loc at);

/* The keys of a tensor's row in `tensors`. */
tf_keys tf_tensor_keys(void);
#endif
