/* Inside the ONNX importer: a graph of nodes becomes ops of the workload language.
 *
 * A value is a view of a tensor: each of its axes is a list of factors, outermost first, and a step
 * of a factor moves some elements along the tensor's ranks.  Reshapes, transpositions, slices and
 * repetitions change the view and move nothing; a node that computes becomes an op whose dims are
 * the factors of its axes. */
#ifndef MODEL_IMPORT_ONNX_ONNX_H
#define MODEL_IMPORT_ONNX_ONNX_H
#include <onnx/onnx.pb-c.h>
#include <stdio.h>

#include "base/arena.h"
#include "model/import/common/import_page.h"
#include "tileflow/spec.h"

/* Limits: ranks and factors of a value, elements whose values are kept, nodes of an op's
 * expression. */
enum {
  OX_RANK = 16,
  OX_FACTORS = 16,
  OX_NUMBERS = 1 << 12,
  OX_NODES = 64,
  OX_DIMS = 64,
  OX_MOST_EXTENT = 1 << 30
};
/* Most names of values. */
enum { OX_MOST_VALUES = 1 << 16 };
/* Most numbers of a result that is computed here, and of all of them. */
enum { OX_FOLDED = 1 << 20, OX_FOLDED_IN_ALL = 1 << 24 };
#define OX_MOST_SIZE (INT64_C(1) << 48) /* most elements of a value */

typedef struct {
  int64_t extent;
  int64_t step[OX_RANK]; /* by how much a step moves along each of the tensor's ranks; all 0: the
                            same element again */
} ox_factor;

/* A value as a view of a tensor.  tensor -1: none yet; only its constants are known, or it is an
 * initializer that no op has read. */
typedef struct {
  const char *name;
  int tensor, rank, n_factors;
  int n[OX_RANK];          /* number of factors of each axis; an axis of one element has none */
  ox_factor f[OX_FACTORS]; /* of all axes, in order */
  int64_t origin[OX_RANK]; /* coordinates of the first element in the tensor */
  const double *number;    /* the elements in order; NULL: not constant */
  int type;                /* ONNX's of its elements (OX_TYPES); 0: not said */
  const Onnx__TensorProto *data; /* the file's tensor that it is; NULL: none */
  bool place;      /* its numbers are first, first + 1 .. along one axis: coordinates */
  bool bad, empty; /* its node failed and reported it; it has no elements */
  uint32_t none;   /* of an empty input: which axes have no element */
} ox_value;

/* The data of a tensor that neither an op produces nor the caller gives: from the file, computed
 * here, or scale or shift of a BatchNormalization (from its scale, shift, mean, variance). */
typedef struct {
  const Onnx__TensorProto *data, *batch[4];
  const double *number;
  double epsilon;
  enum { OX_NO_FOLD, OX_SCALE, OX_SHIFT } fold;
} ox_source;

typedef struct {
  const char *name, *from; /* in the workload; in the graph */
  int rank;
  int64_t shape[OX_RANK], pad[OX_RANK],
      read_before[OX_RANK]; /* pad: the larger of what is read before and after */
  int op;                   /* its producer; -1: an input, or a view */
  int view_of; /* 1 + the tensor whose elements it shows, in the same order, along other ranks; 0:
                  none */
  int reads;
  int asked;             /* outputs of the graph that show it */
  bool result, positive; /* an output of the graph; never negative */
  bool no_sign;          /* of `bits`: integers without a sign */
  bool whole;            /* its elements are whole numbers */
  int bits; /* of an element that is an integer of less than 32; 0: as the architecture has it */
  ox_source source;
} ox_tensor;

typedef struct {
  int n;
  int dim[OX_FACTORS + 4]; /* with those of a window's position and element */
  int64_t coef[OX_FACTORS + 4], c;
} ox_index;

typedef struct ox_expr {
  enum { OX_NUMBER, OX_READ, OX_CALL, OX_PLACE } kind;
  double number;
  int tensor;
  ox_index *index;  /* OX_READ: [rank of tensor]; OX_PLACE: one, whose value it is */
  const char *call; /* "+ - * /", or a function of the workload language */
  int n_args;
  struct ox_expr *arg[3];
} ox_expr;

typedef struct {
  const char *node; /* the node that it stems from */
  int out, n_out, dim[OX_RANK];
  const char *reduce; /* "=", "+=", "max=", .. */
  ox_expr *value;
  bool gone; /* merged into its reader */
} ox_op;

/* An axis of the op being built: where its factors end, as products from the innermost. */
typedef struct {
  int n;
  int64_t cut[OX_FACTORS + 1]; /* 1 .. extent */
  int n_dims, dim[OX_FACTORS]; /* outermost first, once opened */
} ox_axis;

/* What changes numbers by no more than the elements' width does: reported once, for all nodes
 * (ox_remark). */
enum { OX_WHOLE_SUMS, OX_NARROW_FLOATS, OX_REMARKS };

/* A subgraph that is being run: its own names stand for values with the prefix. */
typedef struct ox_scope {
  const Onnx__GraphProto *body;
  const char *prefix;
  const struct ox_scope *outer;
} ox_scope;

typedef struct ox_net {
  tf_arena *arena;
  tf_diags *diags;
  uint16_t file;
  const uint8_t *bytes; /* of the file */
  const Onnx__GraphProto *graph;
  const tf_setting *set;
  size_t n_set;
  int64_t opset;
  int n_values, room_values;
  ox_value **value;               /* each stays where it is */
  int *chain, *bucket, n_buckets; /* hash table of values by name */
  int n_tensors, n_ops, room_tensors, room_ops;
  ox_tensor *tensor;
  ox_op *op;
  int n_dims;
  struct {
    int64_t extent;
    int nth; /* number of dims of this extent in an op */
  } dim[OX_DIMS];
  uint64_t used; /* dims that the op being built uses */
  const Onnx__NodeProto *node,
      *within; /* within: the graph's own node that this one is part of; NULL: it is one */
  const ox_scope *scope;
  int at_node;
  bool *needed, *asked;  /* nodes on which some result depends; inputs of which this is so */
  bool again, regrouped; /* the node is being tried again with axes of one factor; it failed with
                            axes of several */
  int *reads_before;     /* [room_tensors] */
  int64_t folded;        /* numbers that were computed here */
  struct {
    int n;
    const Onnx__NodeProto *first;
  } remark[OX_REMARKS];
  const double *beside; /* the numbers of the node's first output, which is a view of weights; NULL:
                           not known */
  tf_page notes;
  bool (*take)(struct ox_net *g); /* the node at hand, made of what is known so far (read.c) */
  bool oom;
} ox_net;

/* ---- net.c ---------------------------------------------------------------------------------- */
/* Reports an error about the current node; always false. */
bool ox_fail(ox_net *g, tf_code code, const char *fmt, ...) TF_PRINTF(3, 4);
/* The same if axes of one factor might help: reported only once the node has been given such. */
bool ox_regroup(ox_net *g, tf_code code, const char *fmt, ...) TF_PRINTF(3, 4);
void ox_warn(ox_net *g, const char *fmt, ...) TF_PRINTF(2, 3);
/* Counts the current node among those of which such a thing is said at the end. */
void ox_remark(ox_net *g, int what);
void ox_tell_remarks(ox_net *g);
ox_value *ox_find(ox_net *g, const char *name); /* NULL: none */
/* Defines the value of that name; NULL: out of memory, or too many. */
ox_value *ox_define(ox_net *g, const char *name, const ox_value *v);
void ox_undefine(ox_net *g, int n); /* removes all but the first n */
/* The node's k-th input; NULL: omitted, or an error was reported. */
const ox_value *ox_input(ox_net *g, size_t k);
bool ox_has(const ox_net *g, size_t k);
/* Sets the node's k-th output; its type follows from the operator, but for those whose results have
 * one of their own.
 */
bool ox_give(ox_net *g, size_t k, const ox_value *v);
int ox_new_tensor(ox_net *g, const char *from);
/* Whether some node or the graph's results want the node's k-th output. */
bool ox_is_wanted(const ox_net *g, size_t k);

/* An attribute of the node; `otherwise` if it lacks it. */
int64_t ox_int(const ox_net *g, const char *name, int64_t otherwise);
double ox_float(const ox_net *g, const char *name, double otherwise);
const char *ox_text(const ox_net *g, const char *name, const char *otherwise);
const Onnx__AttributeProto *ox_attribute(const ox_net *g, const char *name);
/* The attribute's integers, n of them; NULL: none. */
const int64_t *ox_ints(const ox_net *g, const char *name, size_t *n);
/* The constants of the k-th input, as integers in the arena; NULL with n 0: omitted; false: not
 * constant. */
bool ox_numbers(ox_net *g, size_t k, const int64_t **number, int64_t *n);
/* Resolves an axis that is counted from the end if negative; false with an error. */
bool ox_axis_at(ox_net *g, int64_t axis, int rank, int *out);

/* ---- view.c --------------------------------------------------------------------------------- */
int64_t ox_extent(const ox_value *v, int axis);
int64_t ox_size(const ox_value *v); /* INT64_MAX: at least that */
/* Whether it has no more than OX_MOST_SIZE elements; an error if not. */
bool ox_fits(ox_net *g, const ox_value *v);
const ox_factor *ox_factors(const ox_value *v, int axis);
/* A value that is a whole tensor of these extents. */
void ox_whole(ox_value *v, int tensor, int rank, const int64_t *shape);
/* Its elements, in order, along axes of these extents; false: no view of its tensor has them so
 * (ox_reshape copies). */
bool ox_view_as(ox_value *v, int rank, const int64_t *shape);
void ox_permute(ox_value *v, const int *axis);
bool ox_slice(ox_net *g, ox_value *v, int axis, int64_t from, int64_t n, int64_t step);
/* Broadcasts: extents of 1 become n, the same element again; new axes come first. */
bool ox_repeat(ox_net *g, ox_value *v, int rank, const int64_t *shape);
/* moves.c: n values beside each other along an axis, as an op: the sum of all, each 0 where the
 * others are. */
bool ox_concat(ox_net *g, ox_value *v, size_t n, int axis, const char *name, ox_value *out);
/* Whether its elements are all of the tensor's, in the same order. */
bool ox_is_whole(const ox_net *g, const ox_value *v);
/* The only rank of the tensor that an axis of one factor moves along; -1: none. */
int ox_rank_along(const ox_net *g, const ox_value *v, int axis);
/* The same, if it covers the rank step by step from end to end, so that its neighbours are the
 * tensor's padding. */
int ox_rank_of(const ox_net *g, const ox_value *v, int axis);
/* Splits the factors of an axis at these cuts. */
bool ox_split(ox_net *g, ox_value *v, int axis, const ox_axis *cuts);
/* Adds the cuts of the value's axis; false with an error: they are incompatible. */
bool ox_join(ox_net *g, ox_axis *axis, const ox_value *v, int at);
bool ox_cut(ox_net *g, ox_axis *axis, int64_t extent);

/* ---- build.c -------------------------------------------------------------------------------- */
/* Begins an op: no dim is in use. */
void ox_begin(ox_net *g);
/* Gives each factor of the axis a dim. */
bool ox_open(ox_net *g, ox_axis *axis);
/* An axis with a dim of its own. */
bool ox_open_extent(ox_net *g, ox_axis *axis, int64_t extent);
/* The axis of `outer` times `inner` elements, both with dims. */
bool ox_combine(ox_net *g, const ox_axis *outer, const ox_axis *inner, ox_axis *all);
/* The element of the value at the op's axes; axis[k] NULL: the value's k-th axis has one element,
 * which is repeated. */
ox_expr *ox_read(ox_net *g, const ox_value *v, const ox_axis *const *axis);
ox_expr *ox_number(ox_net *g, double number);
ox_expr *ox_index_value(ox_net *g, const ox_index *x); /* the index itself, as a number */
ox_expr *ox_call(ox_net *g, const char *call, ox_expr *a, ox_expr *b, ox_expr *c);
/* Whether some read in it moves with the dim. */
bool ox_reads_dim(const ox_net *g, const ox_expr *e, int d);
/* A name for an intermediate of the node. */
const char *ox_part(ox_net *g, const char *what);
/* Ends the op: its output is a tensor with these axes, computed by the expression; returns its
 * value.  False: out of memory. */
bool ox_make(ox_net *g, const char *name, const char *reduce, ox_expr *value,
             const ox_axis *const *axis, int n, ox_value *out);
/* Copies the value into a tensor of its own, with ranks for its axes, also for those of one
 * element. */
bool ox_copy(ox_net *g, ox_value *v, const char *name);
/* The value's elements, in order, in a tensor of these extents: a view of its own tensor if that
 * holds just them, otherwise of a copy.  Such a view is only allowed between groups of the network.
 */
bool ox_recast(ox_net *g, ox_value *v, int rank, const int64_t *shape);
/* The same where views do for a reader, too. */
bool ox_reshape(ox_net *g, ox_value *v, int rank, const int64_t *shape);
/* Repeats each element `times` times along each axis. */
bool ox_repeat_each(ox_net *g, ox_value *v, const int64_t *times);
/* Replaces the node's inputs that have axes of several factors by tensors with a rank for each;
 * *any: whether there were any. */
bool ox_flatten_inputs(ox_net *g, bool *any);
/* Gives a value without a tensor one: an input of the workload. */
bool ox_place(ox_net *g, ox_value *v);
/* The node's k-th input, in a tensor. */
bool ox_placed(ox_net *g, size_t k, ox_value *v);
/* A tensor of numbers computed here, which an op reads; the numbers stay the caller's, in the
 * arena. */
bool ox_table(ox_net *g, const char *part, int rank, const int64_t *shape, const double *number,
              ox_value *out);

/* ---- nodes ---------------------------------------------------------------------------------- */
typedef struct {
  const char *type;
  bool (*make)(ox_net *g);
  const char *call; /* of the workload language, for elementwise nodes */
} ox_kind;
const ox_kind *ox_kind_of(const char *type); /* schema.c; NULL: unknown */
const ox_kind *ox_kind_at(int at);           /* NULL past the last */
bool ox_known(ox_net *g, bool *done); /* constant.c: evaluates a node whose inputs are constant */
/* schema.c: what ONNX's definitions say. */
bool ox_is_defined(const char *type);
const char *ox_defined_at(size_t at); /* the operators that are, by name; NULL past the last */
int64_t ox_newest_opset(void);        /* that is known */
bool ox_check_node(ox_net *g);        /* all that the node says is known; errors if not */
bool ox_check_results(ox_net *g);     /* all of the node's results that are wanted are made */
bool ox_check_numbers(ox_net *g); /* what it does to data of the type that it gets can be said */
/* Before opset 7: its second operand stands along the first's last axes, as it does later. */
bool ox_check_axis(ox_net *g, const ox_value *a, const ox_value *b);
int ox_result_type(const ox_net *g, int own); /* own: of those that have one */
bool ox_is_integer(int type);                 /* or bool; tensor.c */
bool ox_folds(const char *type);              /* whether some node of that type is evaluated here */
/* fold.c: the same for nodes that move, choose and sum numbers.  Not done: too many to hold, or
 * others tell why not. */
bool ox_fold(ox_net *g, bool *done);
bool ox_moves_numbers(const char *type);
/* The type that the node, a Cast or CastLike, makes of its input; 0: none. */
int ox_cast_type(ox_net *g);
/* Where a Slice of these extents begins, how many elements it takes, maybe none, and how far apart
 * (never 0, maybe negative). */
typedef struct {
  int64_t first[OX_RANK], n[OX_RANK], step[OX_RANK];
} ox_cuts;
bool ox_cuts_of(ox_net *g, int rank, const int64_t *extent, ox_cuts *out); /* moves.c */
bool ox_reduced_axes(ox_net *g, int rank, bool *over); /* sums.c: which axes the node reduces */
extern const ox_kind ox_points[], ox_products[], ox_windows[], ox_sums[], ox_moves[], ox_resizes[],
    ox_transposed[], ox_recurrents[], ox_composed[], ox_attentions[], ox_choices[],
    ox_layers[]; /* terminated by {0} */

/* The type of an operator's attribute (schema.c); 0: it has none of that name. */
char ox_attribute_type(const char *type, const char *name);

/* ---- tensor.c: tensors in the file ---------------------------------------------------------- */
/* The value of a tensor of the file: its shape, and its values if they are few and inside the file.
 */
bool ox_tensor_value(ox_net *g, const Onnx__TensorProto *t, const char *name, ox_value *out);

/* ONNX's data types: number, name, bytes of an element in a file (0: not read), kind, bits that a
 * number has (of the significand where it is a float). */
typedef enum {
  OX_FLOAT_KIND,
  OX_COARSE_KIND,
  OX_SIGNED_KIND,
  OX_UNSIGNED_KIND,
  OX_BOOL_KIND,
  OX_OTHER_KIND
} ox_type_kind;
/* clang-format off */
#define OX_TYPES(X)                                                                                     \
  X(FLOAT, 1, "float32", 4, FLOAT, 24)         X(UINT8, 2, "uint8", 1, UNSIGNED, 8)                     \
  X(INT8, 3, "int8", 1, SIGNED, 8)             X(UINT16, 4, "uint16", 2, UNSIGNED, 16)                  \
  X(INT16, 5, "int16", 2, SIGNED, 16)          X(INT32, 6, "int32", 4, SIGNED, 32)                      \
  X(INT64, 7, "int64", 8, SIGNED, 64)          X(STRING, 8, "string", 0, OTHER, 0)                      \
  X(BOOL, 9, "bool", 1, BOOL, 1)               X(FLOAT16, 10, "float16", 2, FLOAT, 11)                  \
  X(DOUBLE, 11, "float64", 8, FLOAT, 53)       X(UINT32, 12, "uint32", 4, UNSIGNED, 32)                 \
  X(UINT64, 13, "uint64", 8, UNSIGNED, 64)     X(COMPLEX64, 14, "complex64", 0, OTHER, 0)               \
  X(COMPLEX128, 15, "complex128", 0, OTHER, 0) X(BFLOAT16, 16, "bfloat16", 2, FLOAT, 8)                 \
  X(FLOAT8E4M3FN, 17, "float8e4m3fn", 0, COARSE, 4) X(FLOAT8E4M3FNUZ, 18, "float8e4m3fnuz", 0, COARSE, 4) \
  X(FLOAT8E5M2, 19, "float8e5m2", 0, COARSE, 3) X(FLOAT8E5M2FNUZ, 20, "float8e5m2fnuz", 0, COARSE, 3)   \
  X(UINT4, 21, "uint4", 0, UNSIGNED, 4)        X(INT4, 22, "int4", 0, SIGNED, 4)                        \
  X(FLOAT4E2M1, 23, "float4e2m1", 0, COARSE, 2) X(FLOAT8E8M0, 24, "float8e8m0", 0, COARSE, 1)           \
  X(UINT2, 25, "uint2", 0, UNSIGNED, 2)        X(INT2, 26, "int2", 0, SIGNED, 2)
/* clang-format on */
enum {
#define X(name, number, text, bytes, kind, bits) OX_T_##name = number,
  OX_TYPES(X)
#undef X
};

const char *ox_type_name(int type);
ox_type_kind ox_type_kind_of(int type); /* of no known type: OX_OTHER_KIND */
int ox_type_bits(int type);
/* Bytes of an element; 0: an unsupported type. */
size_t ox_bytes_of(int type);
/* The number nearest to x that the type has, or what it keeps of a whole one; *ok: whether that is
 * known here. */
double ox_as_type(double x, int type, bool *ok);
/* The element at p, in little-endian bytes. */
double ox_element(int type, const uint8_t *p);
/* The numbers of a tensor in the file: as they lie in memory (`raw`), or in a list, whose next one
 * is at `at` (NULL: the reader of messages took them). */
typedef struct {
  const Onnx__TensorProto *t;
  const uint8_t *raw, *cursor, *end;
  int64_t next;
} ox_reading;
bool ox_has_numbers(const ox_net *g, const Onnx__TensorProto *t);
/* Begins to read them; false: there are not n. */
bool ox_open_numbers(const ox_net *g, const Onnx__TensorProto *t, int64_t n, ox_reading *out);
/* Each in its turn. */
double ox_next_number(ox_reading *x);

/* Its n numbers, in the arena; NULL: it has none in this file, or an error was reported. */
const double *ox_tensor_numbers(ox_net *g, const Onnx__TensorProto *t, int64_t n);
/* The node's k-th input if its numbers are known; ox_read_at: reads them from the file if they are
 * not. */
const ox_value *ox_known_at(ox_net *g, size_t k);
const ox_value *ox_read_at(ox_net *g, size_t k);
/* Room for n numbers of a result; NULL: out of memory, or more than may be held here, which is no
 * error. */
double *ox_numbers_room(ox_net *g, int64_t n);
/* The same for places; NULL with an error. */
int64_t *ox_places_room(ox_net *g, int64_t n);

/* ---- compose.c: nodes that are composed of others ------------------------------------------- */
/* Takes a node, written as `a, @1 = Type($0, b, [1,2], {8}, 0.5, -) axis=1`: `$k` and `@k` are
 * inputs and results of the node at hand, other names those of lines before, [..] whole numbers,
 * {n,first} the coordinates first .. of n places,
 * `-` nothing. */
bool ox_run(ox_net *g, const char *fmt, ...) TF_PRINTF(2, 3);
/* What a line before made of that name; NULL: it failed. */
const ox_value *ox_made(ox_net *g, const char *part);
/* Whether two inputs have one type; an error if not. */
bool ox_same_type(ox_net *g, size_t a, size_t b);
/* An attribute's text, which a line may have as it is; NULL with an error: it is no word. */
const char *ox_word(ox_net *g, const char *name, const char *otherwise);
/* Names numbers, which stay the caller's, as a line before would have. */
bool ox_let(ox_net *g, const char *part, int rank, const int64_t *shape, const double *number,
            int type);
/* Runs the subgraph that an attribute is, from one line's result to another's. */
bool ox_apply(ox_net *g, const char *name, const char *to, const char *from);
/* sums.c: LayerNormalization whose mean or deviation is a result; BatchNormalization in training.
 */
bool ox_layer_norm_parts(ox_net *g);
bool ox_batch_norm_training(ox_net *g);
/* layers.c: a Conv or Gemm of what DequantizeLinear makes of integers of 8 bits, as sums of
 * integers, and one factor; a MaxPool of it, as that of the integers.  Not done: it is none. */
bool ox_in_steps(ox_net *g, bool *done);
/* [..] of these numbers; of ones, but for n at one axis. */
const char *ox_list(ox_net *g, int n, const int64_t *x);
/* An attribute of numbers as the text of a line (ox_run); nothing where the node has none. */
const char *ox_same_list(ox_net *g, const char *name);
const char *ox_ones(ox_net *g, int rank, int axis, int64_t n);

/* ---- windows.c, resample.c: what nodes whose windows slide share ---------------------------- */
enum { OX_SLID = 4 }; /* most axes along which windows slide */

/* Reads n numbers of an attribute, each at least `least`; without it they stay as they are. */
bool ox_window_attribute(ox_net *g, const char *name, int n, int64_t least, int64_t *out);
/* Extents of the weights' windows, from the weights or kernel_shape. */
bool ox_kernel_of(ox_net *g, const ox_value *w, int64_t *kernel);
/* Adds the axis, a step of which moves `times` elements of `step` each, to the index of a rank. */
void ox_add_term(ox_index *x, const ox_axis *a, int64_t step, int64_t times);
/* So many elements before and after a rank are read, as zeros; numbers below 0 ask for none. */
void ox_pad_rank(ox_tensor *t, int rank, int64_t before, int64_t after);
/* Adds the cuts of an axis of `outer` groups of n elements to both axes. */
bool ox_cut_groups(ox_net *g, const ox_value *v, int axis, int64_t n, ox_axis *outer,
                   ox_axis *inner);
/* Adds the node's input k to `out`, whose axes are made[0 .. n - 1], along its channels. */
bool ox_add_bias(ox_net *g, size_t k, const ox_axis *channel, const ox_axis *const *made, int n,
                 ox_value *out);
/* The name of the sum to which a bias is added, or of the result if there is none. */
const char *ox_sum_name(ox_net *g);

/* resample.c: element i of the result along an axis is the sum of `taps` elements at[i * taps + ..]
 * of v, each times its weight; of those below 0 the weight is 0.  Whatever the numbers are, v is
 * replaced by the result of n elements.
 */
typedef struct {
  int64_t n, taps;
  int64_t *source;
  double *weight;
} ox_blend;
bool ox_blend_room(ox_net *g, int64_t n, int64_t taps, ox_blend *out);
bool ox_mix(ox_net *g, ox_value *v, int axis, const ox_blend *b);
int64_t ox_mixed_taps(const ox_blend *b, int64_t in); /* products that it sums for each element */
/* An axis of one element becomes one of n: the same element again. */
bool ox_repeat_one(ox_net *g, ox_value *v, int axis, int64_t n);

/* ---- merge.c, write.c ----------------------------------------------------------------------- */
bool ox_even_pads(
    ox_net *g); /* inputs are padded equally before and after; if reads are not, a copy is read */
void ox_merge(
    ox_net *g); /* merges elementwise ops into their only reader, if that is elementwise */
bool ox_name_tensors(ox_net *g); /* after this, names of values are no longer needed */
bool ox_write(ox_net *g, const Onnx__ModelProto *model, tf_page *p);

/* weights.c: writes the tensors of the workload whose data the model has as a file of weights;
 * false after an error. path: of the model, next to which external data lies.  dtype: f32 (NULL) or
 * bf16. */
bool ox_write_weights(ox_net *g, const char *path, const char *dtype, FILE *out);

/* Fields of a tensor that hold its numbers, as ONNX numbers them. */
enum { OX_FLOATS = 4, OX_INT32S = 5, OX_INT64S = 7, OX_RAW = 9, OX_DOUBLES = 10, OX_UINT64S = 11 };
/* wire.c: the model that the bytes are, for the caller to free; NULL with an error (g NULL:
 * without).  Its tensors have none of these fields where it stands in one piece: ox_piece finds
 * that, *n bytes in the file's own text; NULL: none.
 */
Onnx__ModelProto *ox_unpack(ox_net *g, const char *text, size_t len);
const uint8_t *ox_piece(const ox_net *g, const Onnx__TensorProto *t, unsigned number, size_t *n);
#endif
