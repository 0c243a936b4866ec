/* Inside the ONNX importer: a graph of nodes becomes ops of the workload language.
 *
 * A value is a view of a tensor: each of its axes is a list of factors, outermost first, and a step of a factor moves
 * some elements along the tensor's ranks.  Reshapes, transpositions, slices and repetitions change the view and move
 * nothing; a node that computes becomes an op whose dims are the factors of its axes. */
#ifndef MODEL_IMPORT_ONNX_ONNX_H
#define MODEL_IMPORT_ONNX_ONNX_H
#include <onnx/onnx.pb-c.h>
#include <stdio.h>

#include "base/arena.h"
#include "model/import/common/page.h"
#include "tileflow/spec.h"

/* Ranks and factors of a value, elements whose numbers are kept, words of an op's expression. */
enum { OX_RANK = 16, OX_FACTORS = 16, OX_NUMBERS = 1 << 12, OX_NODES = 64, OX_DIMS = 64, OX_MOST_EXTENT = 1 << 30 };
#define OX_MOST_SIZE (INT64_C(1) << 48) /* elements of a value */

typedef struct {
  int64_t extent;
  int64_t step[OX_RANK]; /* of the tensor's ranks; all 0: the same element again */
} ox_factor;

/* Where a value's elements stand.  tensor -1: nowhere yet; its numbers alone are known, or it is an initializer that no
 * op has read. */
typedef struct {
  const char *name;
  int tensor, rank, n_factors;
  int n[OX_RANK];                /* factors of each axis; an axis of one element has none */
  ox_factor f[OX_FACTORS];       /* of all axes, in their order */
  int64_t at[OX_RANK];           /* coordinates of the first element */
  const double *number;          /* the elements in order; NULL: not known */
  bool whole;                    /* they are integers */
  const Onnx__TensorProto *data; /* of the file, where it is one of its tensors */
  bool bad, empty;               /* its node failed and said why; it has no element */
} ox_value;

/* What a tensor holds that no op makes and no caller gives: of the file, or numbers that were computed here, or scale
 * or shift of a BatchNormalization (its scale, shift, mean, variance). */
typedef struct {
  const Onnx__TensorProto *data, *batch[4];
  const double *number;
  double epsilon;
  enum { OX_NO_FOLD, OX_SCALE, OX_SHIFT } fold;
} ox_source;

typedef struct {
  const char *name, *from; /* in the workload; in the graph */
  int rank;
  int64_t shape[OX_RANK], pad[OX_RANK], before[OX_RANK]; /* pad: the longer of what is read before and behind */
  int op;                                                /* that makes it; -1: an input, or a view */
  int view_of; /* tensor + 1 whose elements these are, in their order, along other ranks; 0: none */
  int reads;
  bool result, positive; /* the graph's; nothing in it is below 0 */
  ox_source source;
} ox_tensor;

typedef struct {
  int n;
  int dim[OX_FACTORS];
  int64_t coef[OX_FACTORS], c;
} ox_index;

typedef struct ox_expr {
  enum { OX_NUMBER, OX_READ, OX_CALL, OX_PLACE } what;
  double number;
  int tensor;
  ox_index *index;  /* OX_READ: [rank of tensor]; OX_PLACE: one, whose value it is */
  const char *call; /* "+ - * /", or a function of the language */
  int n_args;
  struct ox_expr *arg[3];
} ox_expr;

typedef struct {
  const char *node; /* that it comes from */
  int out, n_out, dim[OX_RANK];
  const char *reduce; /* "=", "+=", "max=", .. */
  ox_expr *value;
  bool gone; /* merged into its reader */
} ox_op;

/* An axis of the op that is being made: where its factors end, as products from the innermost. */
typedef struct {
  int n;
  int64_t cut[OX_FACTORS + 1]; /* 1 .. extent */
  int n_dims, dim[OX_FACTORS]; /* outermost first, once opened */
} ox_axis;

typedef struct {
  tf_arena *arena;
  tf_diags *diags;
  uint16_t file;
  const Onnx__GraphProto *graph;
  const tf_setting *set;
  size_t n_set;
  int64_t opset;
  int n_values, room_values;
  ox_value *value;
  int *chain, *bucket, n_buckets; /* values by name */
  int n_tensors, n_ops, room_tensors, room_ops;
  ox_tensor *tensor;
  ox_op *op;
  int n_dims;
  struct {
    int64_t extent;
    int nth; /* of this extent in an op */
  } dim[OX_DIMS];
  uint64_t used; /* dims of the op that is being made */
  const Onnx__NodeProto *node;
  int at_node;
  bool *needed;          /* nodes that some result needs */
  bool again, regrouped; /* the node is tried anew, with axes of one factor; it failed for axes of several */
  int *reads_before;     /* [room_tensors] */
  tf_page notes;
  bool oom;
} ox_net;

/* ---- net.c ---------------------------------------------------------------------------------------------------- */
/* An error about the node at hand; false. */
bool ox_fail(ox_net *g, tf_code code, const char *fmt, ...) TF_PRINTF(3, 4);
/* The same where axes of one factor might do: told if the node has been given such. */
bool ox_regroup(ox_net *g, tf_code code, const char *fmt, ...) TF_PRINTF(3, 4);
void ox_warn(ox_net *g, const char *fmt, ...) TF_PRINTF(2, 3);
ox_value *ox_find(ox_net *g, const char *name); /* NULL: none */
/* The value of that name is this one; NULL: out of memory, or too many. */
ox_value *ox_define(ox_net *g, const char *name, const ox_value *v);
void ox_undefine(ox_net *g, int n); /* all but the first n */
/* The node's k-th input; NULL: left out, or an error that was told. */
const ox_value *ox_input(ox_net *g, size_t k);
bool ox_has(const ox_net *g, size_t k);
/* The node's k-th output is this value. */
bool ox_give(ox_net *g, size_t k, const ox_value *v);
int ox_new_tensor(ox_net *g, const char *from);

/* Attributes of the node; `otherwise` where it lacks them. */
int64_t ox_int(const ox_net *g, const char *name, int64_t otherwise);
double ox_float(const ox_net *g, const char *name, double otherwise);
const char *ox_text(const ox_net *g, const char *name, const char *otherwise);
const Onnx__AttributeProto *ox_attribute(const ox_net *g, const char *name);
/* The attribute's integers, n of them; NULL: none. */
const int64_t *ox_ints(const ox_net *g, const char *name, size_t *n);
/* Numbers of the k-th input, as integers in the arena; NULL with n 0: left out; false: they are not known. */
bool ox_numbers(ox_net *g, size_t k, const int64_t **number, int64_t *n);
/* axis counted from the end where negative; false with an error. */
bool ox_axis_at(ox_net *g, int64_t axis, int rank, int *out);

/* ---- view.c --------------------------------------------------------------------------------------------------- */
int64_t ox_extent(const ox_value *v, int axis);
int64_t ox_size(const ox_value *v); /* INT64_MAX: or more */
/* Whether it has no more than OX_MOST_SIZE elements; an error if not. */
bool ox_fits(ox_net *g, const ox_value *v);
const ox_factor *ox_factors(const ox_value *v, int axis);
/* A value that stands alone in a tensor of these extents. */
void ox_whole(ox_value *v, int tensor, int rank, const int64_t *shape);
bool ox_reshape(ox_net *g, ox_value *v, int rank, const int64_t *shape);
void ox_permute(ox_value *v, const int *axis);
bool ox_slice(ox_net *g, ox_value *v, int axis, int64_t from, int64_t n, int64_t step);
/* Extents of 1 become n, the same element again; new axes stand in front. */
bool ox_repeat(ox_net *g, ox_value *v, int rank, const int64_t *shape);
/* Whether its elements are the tensor's, all of them in their order. */
bool ox_is_whole(const ox_net *g, const ox_value *v);
/* The one rank of the tensor that an axis of one factor runs along; -1: there is none. */
int ox_rank_along(const ox_net *g, const ox_value *v, int axis);
/* The same, step by step and from end to end: what is beside it is the tensor's padding. */
int ox_rank_of(const ox_net *g, const ox_value *v, int axis);
/* The factors of an axis end at these cuts. */
bool ox_split(ox_net *g, ox_value *v, int axis, const ox_axis *cuts);
/* The axis is cut where the value's is, too; false with an error: the two do not fit. */
bool ox_join(ox_net *g, ox_axis *axis, const ox_value *v, int at);
bool ox_cut(ox_net *g, ox_axis *axis, int64_t extent);

/* ---- build.c -------------------------------------------------------------------------------------------------- */
/* Begins an op: no dim is in use. */
void ox_begin(ox_net *g);
/* Gives each factor of the axis a dim. */
bool ox_open(ox_net *g, ox_axis *axis);
/* A dim of its own, as an axis. */
bool ox_open_extent(ox_net *g, ox_axis *axis, int64_t extent);
/* The axis of `outer` times `inner` elements, both open. */
bool ox_combine(ox_net *g, const ox_axis *outer, const ox_axis *inner, ox_axis *all);
/* The element of the value at the op's axes; axis[k] NULL: the value's k-th axis has one element, which is read again.
 */
ox_expr *ox_read(ox_net *g, const ox_value *v, const ox_axis *const *axis);
ox_expr *ox_number(ox_net *g, double number);
ox_expr *ox_index_value(ox_net *g, const ox_index *x); /* the index itself, as a number */
ox_expr *ox_call(ox_net *g, const char *call, ox_expr *a, ox_expr *b, ox_expr *c);
/* Whether some read of it moves with the dim. */
bool ox_reads_dim(const ox_net *g, const ox_expr *e, int d);
/* The name of what the node makes on its way to its result. */
const char *ox_part(ox_net *g, const char *what);
/* Ends the op: a tensor of these axes is made of the expression; its value.  False: out of memory. */
bool ox_make(ox_net *g, const char *name, const char *reduce, ox_expr *value, const ox_axis *const *axis, int n,
             ox_value *out);
/* The value in a tensor of its own, with ranks for its axes, those of one element among them. */
bool ox_copy(ox_net *g, ox_value *v, const char *name);
/* The value's elements, in their order, in a tensor of these extents, a rank each: a view of its own tensor where that
 * holds just them, else of a copy.  Such a view stands between groups of the network alone. */
bool ox_recast(ox_net *g, ox_value *v, int rank, const int64_t *shape);
/* Gives the node's inputs that have axes of several factors tensors with a rank for each; *any: there was one. */
bool ox_flatten_inputs(ox_net *g, bool *any);
/* A tensor for a value that has none yet: an input of the workload. */
bool ox_place(ox_net *g, ox_value *v);
/* The node's k-th input, in a tensor. */
bool ox_placed(ox_net *g, size_t k, ox_value *v);

/* ---- nodes ---------------------------------------------------------------------------------------------------- */
typedef struct {
  const char *type;
  bool (*make)(ox_net *g);
  const char *call; /* of the language, for those that compute at each element */
} ox_kind;
const ox_kind *ox_kind_of(const char *type); /* kinds.c; NULL: not known */
bool ox_known(ox_net *g, bool *done);        /* constant.c: computes a node whose inputs' numbers are known */
extern const ox_kind ox_points[], ox_products[], ox_windows[], ox_sums[], ox_moves[]; /* ended by {0} */

/* ---- merge.c, write.c ---------------------------------------------------------------------------------- */
bool ox_even_pads(ox_net *g); /* inputs are padded as far before as behind; where reads are not, a copy of it is read */
void ox_merge(ox_net *g);     /* ops that only their one reader needs, both elementwise, become one */
bool ox_name_tensors(ox_net *g); /* done with the names of values */
bool ox_write(ox_net *g, const Onnx__ModelProto *model, tf_page *p);

/* weights.c: the tensors of the workload whose numbers the model has, as a file of weights; false after an error.
 * path: of the model, beside which data of its own files lie. */
bool ox_write_weights(ox_net *g, const char *path, FILE *out);

/* depth.c: whether messages stand in each other no deeper than the reader's stack bears. */
bool ox_is_shallow(const char *text, size_t len);
#endif
