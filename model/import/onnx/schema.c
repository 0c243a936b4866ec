/* What ONNX's own definitions say of the operators that are known.  A node is read only where all
 * it says is understood: its attributes, its inputs and results, the version of its operator, the
 * type of its numbers. */
#include <string.h>

#include "base/names.h"
#include "model/import/onnx/onnx.h"

/* What integers mean to an operator: as good as any numbers (it moves, chooses, compares); sums or
 * products, which wrap at the ends of their type; a quotient, which is cut; one that its node cuts;
 * nothing, as it is defined for floats. */
typedef enum { ANY, WRAPS, CUTS, CUT_THERE, FLOATS } integers;
/* The type of a result: that of an input, or one of its own. */
typedef enum { AS_0, AS_1, TRUTH, COUNT, OWN } result;

/* Name; the first opset since which it means what is read here; the opset of its newest definition
 * (0: none in ONNX); most inputs (-1: any number) and results; integers; type of its results;
 * attributes with the type of each (i, f, s, t, g: integer, number, text, tensor, graph; I, F, S:
 * lists).  Those with a `-` change no number here: they concern memory, the precision of a step,
 * training, or what is refused otherwise. */
/* clang-format off */
#define OPERATORS(X)                                                                                                   \
  X(Abs, 1, 13, 1, 1, WRAPS, AS_0, "-consumed_inputs:I")                                                               \
  X(Acos, 7, 22, 1, 1, FLOATS, AS_0, "")                                                                               \
  X(Acosh, 9, 22, 1, 1, FLOATS, AS_0, "")                                                                              \
  X(Add, 1, 14, 2, 1, WRAPS, AS_0, "axis:i broadcast:i -consumed_inputs:I")                                            \
  X(AffineGrid, 20, 20, 2, 1, FLOATS, AS_0, "align_corners:i")                                                         \
  X(And, 1, 7, 2, 1, ANY, TRUTH, "axis:i broadcast:i")                                                                 \
  X(ArgMax, 1, 13, 1, 1, ANY, COUNT, "axis:i keepdims:i select_last_index:i")                                          \
  X(ArgMin, 1, 13, 1, 1, ANY, COUNT, "axis:i keepdims:i select_last_index:i")                                          \
  X(Asin, 7, 22, 1, 1, FLOATS, AS_0, "")                                                                               \
  X(Asinh, 9, 22, 1, 1, FLOATS, AS_0, "")                                                                              \
  X(Atan, 7, 22, 1, 1, FLOATS, AS_0, "")                                                                               \
  X(Atanh, 9, 22, 1, 1, FLOATS, AS_0, "")                                                                              \
  X(Attention, 23, 25, 7, 4, FLOATS, AS_0,                                                                             \
    "is_causal:i kv_num_heads:i left_window_size:i q_num_heads:i qk_matmul_output_mode:i "                             \
    "right_window_size:i scale:f softcap:f -softmax_precision:i")                                                      \
  X(AveragePool, 1, 22, 1, 1, FLOATS, AS_0,                                                                            \
    "auto_pad:s ceil_mode:i count_include_pad:i dilations:I kernel_shape:I pads:I strides:I")                          \
  X(BatchNormalization, 1, 15, 5, 5, FLOATS, AS_0,                                                                     \
    "epsilon:f is_test:i spatial:i training_mode:i momentum:f -consumed_inputs:I")                                     \
  X(BitShift, 11, 28, 2, 1, WRAPS, AS_0, "direction:s")                                                                \
  X(BitwiseAnd, 18, 18, 2, 1, WRAPS, AS_0, "")                                                                         \
  X(BitwiseNot, 18, 18, 1, 1, WRAPS, AS_0, "")                                                                         \
  X(BitwiseOr, 18, 18, 2, 1, WRAPS, AS_0, "")                                                                          \
  X(BitwiseXor, 18, 18, 2, 1, WRAPS, AS_0, "")                                                                         \
  X(BlackmanWindow, 17, 17, 1, 1, ANY, OWN, "output_datatype:i periodic:i")                                            \
  X(Cast, 6, 28, 1, 1, ANY, OWN, "to:i round_mode:s saturate:i")                                                       \
  X(CastLike, 1, 25, 2, 1, ANY, OWN, "round_mode:s saturate:i")                                                        \
  X(CausalConvWithState, 27, 27, 4, 2, FLOATS, AS_0, "activation:s")                                                   \
  X(Ceil, 1, 13, 1, 1, FLOATS, AS_0, "-consumed_inputs:I")                                                             \
  X(Celu, 1, 28, 1, 1, FLOATS, AS_0, "alpha:f")                                                                        \
  X(CenterCropPad, 18, 18, 2, 1, ANY, AS_0, "axes:I")                                                                  \
  X(Clip, 1, 13, 3, 1, ANY, AS_0, "max:f min:f -consumed_inputs:I")                                                    \
  X(Col2Im, 18, 18, 3, 1, FLOATS, AS_0, "dilations:I pads:I strides:I")                                                \
  X(Compress, 9, 28, 2, 1, ANY, AS_0, "axis:i")                                                                        \
  X(Concat, 4, 13, -1, 1, ANY, AS_0, "axis:i")                                                                         \
  X(Constant, 1, 25, 0, 1, ANY, OWN, "value:t value_float:f value_floats:F value_int:i value_ints:I")                  \
  X(ConstantOfShape, 1, 25, 1, 1, ANY, OWN, "value:t")                                                                 \
  X(Conv, 1, 22, 3, 1, FLOATS, AS_0, "auto_pad:s dilations:I group:i kernel_shape:I pads:I strides:I")                 \
  X(ConvInteger, 10, 10, 4, 1, ANY, OWN, "auto_pad:s dilations:I group:i kernel_shape:I pads:I strides:I")             \
  X(ConvTranspose, 1, 22, 3, 1, FLOATS, AS_0,                                                                          \
    "auto_pad:s dilations:I group:i kernel_shape:I output_padding:I output_shape:I pads:I strides:I")                  \
  X(Cos, 1, 22, 1, 1, FLOATS, AS_0, "")                                                                                \
  X(Cosh, 9, 22, 1, 1, FLOATS, AS_0, "")                                                                               \
  X(CumProd, 26, 26, 2, 1, WRAPS, AS_0, "exclusive:i reverse:i")                                                       \
  X(CumSum, 1, 14, 2, 1, WRAPS, AS_0, "exclusive:i reverse:i")                                                         \
  X(DFT, 17, 20, 3, 1, FLOATS, AS_0, "axis:i inverse:i onesided:i")                                                    \
  X(DepthToSpace, 1, 28, 1, 1, ANY, AS_0, "blocksize:i mode:s")                                                        \
  X(DequantizeLinear, 10, 28, 3, 1, ANY, OWN, "axis:i block_size:i output_dtype:i")                                    \
  X(Det, 11, 22, 1, 1, FLOATS, AS_0, "")                                                                               \
  X(Div, 1, 14, 2, 1, CUT_THERE, AS_0, "axis:i broadcast:i -consumed_inputs:I")                                        \
  X(Dropout, 1, 22, 3, 2, ANY, AS_0, "is_test:i -ratio:f -seed:i -consumed_inputs:I")                                  \
  X(DynamicQuantizeLinear, 11, 11, 1, 3, FLOATS, OWN, "")                                                              \
  X(Einsum, 1, 28, -1, 1, WRAPS, AS_0, "equation:s")                                                                   \
  X(Elu, 1, 22, 1, 1, FLOATS, AS_0, "alpha:f -consumed_inputs:I")                                                      \
  X(Equal, 1, 19, 2, 1, ANY, TRUTH, "axis:i broadcast:i")                                                              \
  X(Erf, 1, 13, 1, 1, FLOATS, AS_0, "")                                                                                \
  X(Exp, 1, 13, 1, 1, FLOATS, AS_0, "-consumed_inputs:I")                                                              \
  X(Expand, 1, 13, 2, 1, ANY, AS_0, "")                                                                                \
  X(EyeLike, 9, 22, 1, 1, ANY, OWN, "dtype:i k:i")                                                                     \
  X(Flatten, 1, 25, 1, 1, ANY, AS_0, "axis:i")                                                                         \
  X(FlexAttention, 1, 0, 3, 1, FLOATS, AS_0, "prob_mod:g scale:f score_mod:g -softmax_precision:i")                    \
  X(Floor, 1, 13, 1, 1, FLOATS, AS_0, "-consumed_inputs:I")                                                            \
  X(GRU, 7, 22, 6, 2, FLOATS, AS_0,                                                                                    \
    "activations:S clip:f direction:s hidden_size:i layout:i linear_before_reset:i -activation_alpha:F "               \
    "-activation_beta:F")                                                                                              \
  X(Gather, 1, 13, 2, 1, ANY, AS_0, "axis:i")                                                                          \
  X(GatherElements, 11, 13, 2, 1, ANY, AS_0, "axis:i")                                                                 \
  X(GatherND, 11, 13, 2, 1, ANY, AS_0, "batch_dims:i")                                                                 \
  X(Gelu, 1, 20, 1, 1, FLOATS, AS_0, "approximate:s")                                                                  \
  X(Gemm, 1, 13, 3, 1, FLOATS, AS_0, "alpha:f beta:f transA:i transB:i -broadcast:i")                                  \
  X(GlobalAveragePool, 1, 22, 1, 1, FLOATS, AS_0, "")                                                                  \
  X(GlobalLpPool, 2, 22, 1, 1, FLOATS, AS_0, "p:i")                                                                    \
  X(GlobalMaxPool, 1, 22, 1, 1, FLOATS, AS_0, "")                                                                      \
  X(Greater, 1, 13, 2, 1, ANY, TRUTH, "axis:i broadcast:i")                                                            \
  X(GreaterOrEqual, 1, 16, 2, 1, ANY, TRUTH, "")                                                                       \
  X(GridSample, 16, 22, 2, 1, FLOATS, AS_0, "align_corners:i mode:s padding_mode:s")                                   \
  X(GroupNormalization, 1, 21, 3, 1, FLOATS, AS_0, "epsilon:f num_groups:i -stash_type:i")                             \
  X(HammingWindow, 17, 17, 1, 1, ANY, OWN, "output_datatype:i periodic:i")                                             \
  X(HannWindow, 17, 17, 1, 1, ANY, OWN, "output_datatype:i periodic:i")                                                \
  X(HardSigmoid, 1, 22, 1, 1, FLOATS, AS_0, "alpha:f beta:f -consumed_inputs:I")                                       \
  X(HardSwish, 1, 22, 1, 1, FLOATS, AS_0, "")                                                                          \
  X(Hardmax, 1, 13, 1, 1, FLOATS, AS_0, "axis:i")                                                                      \
  X(Identity, 1, 25, 1, 1, ANY, AS_0, "")                                                                              \
  X(If, 1, 25, 1, -1, ANY, OWN, "else_branch:g then_branch:g")                                                         \
  X(InstanceNormalization, 1, 22, 3, 1, FLOATS, AS_0, "epsilon:f -consumed_inputs:I")                                  \
  X(IsInf, 10, 20, 1, 1, FLOATS, TRUTH, "detect_negative:i detect_positive:i")                                         \
  X(IsNaN, 1, 20, 1, 1, FLOATS, TRUTH, "")                                                                             \
  X(LRN, 1, 13, 1, 1, FLOATS, AS_0, "alpha:f beta:f bias:f size:i")                                                    \
  X(LSTM, 7, 22, 8, 3, FLOATS, AS_0,                                                                                   \
    "activations:S clip:f direction:s hidden_size:i input_forget:i layout:i -activation_alpha:F "                      \
    "-activation_beta:F")                                                                                              \
  X(LayerNormalization, 1, 17, 3, 3, FLOATS, AS_0, "axis:i epsilon:f -stash_type:i")                                   \
  X(LeakyRelu, 1, 16, 1, 1, FLOATS, AS_0, "alpha:f -consumed_inputs:I")                                                \
  X(Less, 1, 13, 2, 1, ANY, TRUTH, "axis:i broadcast:i")                                                               \
  X(LessOrEqual, 1, 16, 2, 1, ANY, TRUTH, "")                                                                          \
  X(LinearAttention, 27, 27, 6, 2, FLOATS, AS_0, "-chunk_size:i kv_num_heads:i q_num_heads:i scale:f update_rule:s")   \
  X(Log, 1, 13, 1, 1, FLOATS, AS_0, "-consumed_inputs:I")                                                              \
  X(LogSoftmax, 1, 13, 1, 1, FLOATS, AS_0, "axis:i")                                                                   \
  X(Loop, 1, 25, -1, -1, ANY, OWN, "body:g")                                                                           \
  X(LpNormalization, 1, 22, 1, 1, FLOATS, AS_0, "axis:i p:i")                                                          \
  X(LpPool, 2, 22, 1, 1, FLOATS, AS_0, "auto_pad:s ceil_mode:i dilations:I kernel_shape:I p:i pads:I strides:I")       \
  X(MatMul, 1, 13, 2, 1, WRAPS, AS_0, "")                                                                              \
  X(MatMulInteger, 10, 10, 4, 1, ANY, OWN, "")                                                                         \
  X(Max, 1, 13, -1, 1, ANY, AS_0, "-consumed_inputs:I")                                                                \
  X(MaxPool, 1, 22, 1, 2, ANY, AS_0,                                                                                   \
    "auto_pad:s ceil_mode:i dilations:I kernel_shape:I pads:I strides:I -storage_order:i")                             \
  X(Mean, 1, 13, -1, 1, FLOATS, AS_0, "-consumed_inputs:I")                                                            \
  X(MeanVarianceNormalization, 9, 13, 1, 1, FLOATS, AS_0, "axes:I")                                                    \
  X(Min, 1, 13, -1, 1, ANY, AS_0, "-consumed_inputs:I")                                                                \
  X(Mish, 1, 22, 1, 1, FLOATS, AS_0, "")                                                                               \
  X(Mod, 1, 28, 2, 1, CUT_THERE, AS_0, "fmod:i")                                                                       \
  X(Mul, 1, 14, 2, 1, WRAPS, AS_0, "axis:i broadcast:i -consumed_inputs:I")                                            \
  X(Neg, 1, 13, 1, 1, WRAPS, AS_0, "-consumed_inputs:I")                                                               \
  X(NegativeLogLikelihoodLoss, 12, 22, 3, 1, FLOATS, AS_0, "ignore_index:i reduction:s")                               \
  X(Not, 1, 1, 1, 1, ANY, TRUTH, "")                                                                                   \
  X(OneHot, 9, 28, 3, 1, ANY, OWN, "axis:i")                                                                           \
  X(Or, 1, 7, 2, 1, ANY, TRUTH, "axis:i broadcast:i")                                                                  \
  X(PRelu, 7, 16, 2, 1, WRAPS, AS_0, "")                                                                               \
  X(Pad, 2, 25, 4, 1, ANY, AS_0, "mode:s pads:I value:f")                                                              \
  X(Pow, 1, 15, 2, 1, WRAPS, AS_0, "axis:i broadcast:i")                                                               \
  X(QGemm, 1, 0, 9, 1, ANY, OWN, "alpha:f transA:i transB:i")                                                          \
  X(QLinearAdd, 1, 0, 8, 1, ANY, OWN, "")                                                                              \
  X(QLinearAveragePool, 1, 0, 5, 1, ANY, OWN,                                                                          \
    "auto_pad:s ceil_mode:i channels_last:i count_include_pad:i kernel_shape:I pads:I strides:I")                      \
  X(QLinearConcat, 1, 0, -1, 1, ANY, OWN, "axis:i")                                                                    \
  X(QLinearConv, 10, 10, 9, 1, ANY, OWN,                                                                               \
    "auto_pad:s dilations:I group:i kernel_shape:I pads:I strides:I")                                                  \
  X(QLinearGlobalAveragePool, 1, 0, 5, 1, ANY, OWN, "channels_last:i")                                                 \
  X(QLinearLeakyRelu, 1, 0, 5, 1, ANY, OWN, "alpha:f")                                                                 \
  X(QLinearMatMul, 10, 21, 8, 1, ANY, OWN, "")                                                                         \
  X(QLinearMul, 1, 0, 8, 1, ANY, OWN, "")                                                                              \
  X(QLinearSigmoid, 1, 0, 5, 1, ANY, OWN, "")                                                                          \
  X(QLinearSoftmax, 1, 0, 5, 1, ANY, OWN, "axis:i opset:i")                                                            \
  X(QLinearWhere, 1, 0, 9, 1, ANY, OWN, "")                                                                            \
  X(QuantizeLinear, 10, 28, 3, 1, ANY, OWN, "axis:i block_size:i output_dtype:i precision:i -saturate:i")              \
  X(RMSNormalization, 1, 23, 2, 1, FLOATS, AS_0, "axis:i epsilon:f -stash_type:i")                                     \
  X(RNN, 7, 22, 6, 2, FLOATS, AS_0,                                                                                    \
    "activations:S clip:f direction:s hidden_size:i layout:i -activation_alpha:F -activation_beta:F")                  \
  X(Range, 1, 27, 3, 1, ANY, AS_0, "-stash_type:i")                                                                    \
  X(Reciprocal, 1, 13, 1, 1, FLOATS, AS_0, "-consumed_inputs:I")                                                       \
  X(ReduceL1, 1, 18, 2, 1, WRAPS, AS_0, "axes:I keepdims:i noop_with_empty_axes:i")                                    \
  X(ReduceL2, 1, 18, 2, 1, CUTS, AS_0, "axes:I keepdims:i noop_with_empty_axes:i")                                     \
  X(ReduceLogSum, 1, 28, 2, 1, CUTS, AS_0, "axes:I keepdims:i noop_with_empty_axes:i")                                 \
  X(ReduceLogSumExp, 1, 28, 2, 1, CUTS, AS_0, "axes:I keepdims:i noop_with_empty_axes:i")                              \
  X(ReduceMax, 1, 20, 2, 1, ANY, AS_0, "axes:I keepdims:i noop_with_empty_axes:i")                                     \
  X(ReduceMean, 1, 18, 2, 1, CUTS, AS_0, "axes:I keepdims:i noop_with_empty_axes:i")                                   \
  X(ReduceMin, 1, 20, 2, 1, ANY, AS_0, "axes:I keepdims:i noop_with_empty_axes:i")                                     \
  X(ReduceProd, 1, 18, 2, 1, WRAPS, AS_0, "axes:I keepdims:i noop_with_empty_axes:i")                                  \
  X(ReduceSum, 1, 13, 2, 1, WRAPS, AS_0, "axes:I keepdims:i noop_with_empty_axes:i")                                   \
  X(ReduceSumSquare, 1, 18, 2, 1, WRAPS, AS_0, "axes:I keepdims:i noop_with_empty_axes:i")                             \
  X(Relu, 1, 14, 1, 1, ANY, AS_0, "-consumed_inputs:I")                                                                \
  X(Reshape, 5, 25, 2, 1, ANY, AS_0, "allowzero:i")                                                                    \
  X(Resize, 10, 19, 4, 1, ANY, AS_0,                                                                                   \
    "antialias:i axes:I coordinate_transformation_mode:s cubic_coeff_a:f exclude_outside:i "                           \
    "keep_aspect_ratio_policy:s mode:s nearest_mode:s extrapolation_value:f")                                          \
  X(ReverseSequence, 10, 28, 2, 1, ANY, AS_0, "batch_axis:i time_axis:i")                                              \
  X(RotaryEmbedding, 23, 23, 4, 1, FLOATS, AS_0, "interleaved:i num_heads:i rotary_embedding_dim:i")                   \
  X(Round, 1, 22, 1, 1, FLOATS, AS_0, "")                                                                              \
  X(STFT, 17, 17, 4, 1, FLOATS, AS_0, "onesided:i")                                                                    \
  X(Scan, 9, 25, -1, -1, ANY, OWN,                                                                                     \
    "body:g num_scan_inputs:i scan_input_axes:I scan_input_directions:I scan_output_axes:I "                           \
    "scan_output_directions:I")                                                                                        \
  X(Scatter, 9, 11, 3, 1, ANY, AS_0, "axis:i")                                                                         \
  X(ScatterElements, 11, 18, 3, 1, ANY, AS_0, "axis:i reduction:s")                                                    \
  X(ScatterND, 1, 18, 3, 1, ANY, AS_0, "reduction:s")                                                                  \
  X(Selu, 6, 22, 1, 1, FLOATS, AS_0, "alpha:f gamma:f")                                                                \
  X(Shape, 1, 25, 1, 1, ANY, COUNT, "end:i start:i")                                                                   \
  X(Shrink, 9, 9, 1, 1, FLOATS, AS_0, "bias:f lambd:f")                                                                \
  X(Sigmoid, 1, 13, 1, 1, FLOATS, AS_0, "-consumed_inputs:I")                                                          \
  X(Sign, 1, 13, 1, 1, ANY, AS_0, "")                                                                                  \
  X(SimplifiedLayerNormalization, 1, 0, 2, 1, FLOATS, AS_0, "axis:i epsilon:f -stash_type:i")                          \
  X(Sin, 1, 22, 1, 1, FLOATS, AS_0, "")                                                                                \
  X(Sinh, 9, 22, 1, 1, FLOATS, AS_0, "")                                                                               \
  X(Size, 1, 25, 1, 1, ANY, COUNT, "")                                                                                 \
  X(Slice, 1, 13, 5, 1, ANY, AS_0, "axes:I ends:I starts:I")                                                           \
  X(Softmax, 1, 13, 1, 1, FLOATS, AS_0, "axis:i")                                                                      \
  X(SoftmaxCrossEntropyLoss, 12, 13, 3, 2, FLOATS, AS_0, "ignore_index:i reduction:s")                                 \
  X(Softplus, 1, 22, 1, 1, FLOATS, AS_0, "")                                                                           \
  X(Softsign, 1, 22, 1, 1, FLOATS, AS_0, "")                                                                           \
  X(SpaceToDepth, 1, 28, 1, 1, ANY, AS_0, "blocksize:i mode:s")                                                        \
  X(Split, 2, 18, 2, -1, ANY, AS_0, "axis:i num_outputs:i split:I")                                                    \
  X(Sqrt, 1, 13, 1, 1, FLOATS, AS_0, "-consumed_inputs:I")                                                             \
  X(Squeeze, 1, 25, 2, 1, ANY, AS_0, "axes:I")                                                                         \
  X(Sub, 1, 14, 2, 1, WRAPS, AS_0, "axis:i broadcast:i -consumed_inputs:I")                                            \
  X(Sum, 1, 13, -1, 1, WRAPS, AS_0, "-consumed_inputs:I")                                                              \
  X(SwiGLU, 28, 28, 2, 1, FLOATS, AS_0, "alpha:f")                                                                     \
  X(Swish, 1, 24, 1, 1, FLOATS, AS_0, "alpha:f")                                                                       \
  X(Tan, 1, 22, 1, 1, FLOATS, AS_0, "")                                                                                \
  X(Tanh, 1, 13, 1, 1, FLOATS, AS_0, "-consumed_inputs:I")                                                             \
  X(TensorScatter, 24, 24, 3, 1, FLOATS, AS_0, "axis:i mode:s")                                                        \
  X(ThresholdedRelu, 1, 22, 1, 1, FLOATS, AS_0, "alpha:f")                                                             \
  X(Tile, 6, 13, 2, 1, ANY, AS_0, "")                                                                                  \
  X(TopK, 1, 24, 2, 2, ANY, OWN, "axis:i k:i largest:i -sorted:i")                                                     \
  X(Transpose, 1, 25, 1, 1, ANY, AS_0, "perm:I")                                                                       \
  X(Trilu, 1, 14, 2, 1, ANY, AS_0, "upper:i")                                                                          \
  X(Unsqueeze, 1, 25, 2, 1, ANY, AS_0, "axes:I")                                                                       \
  X(Upsample, 7, 10, 2, 1, ANY, AS_0, "mode:s scales:F")                                                               \
  X(Where, 1, 16, 3, 1, ANY, AS_1, "")                                                                                 \
  X(Xor, 1, 7, 2, 1, ANY, TRUTH, "axis:i broadcast:i")
/* clang-format on */

typedef struct {
  const char *type;
  int64_t least, newest; /* opsets */
  int inputs, outputs;
  integers integers;
  result result;
  const char *attributes;
} definition;

static const definition definitions[] = {
#define X(name, least, newest, inputs, outputs, integers, result, attributes)                      \
  {#name, least, newest, inputs, outputs, integers, result, attributes},
    OPERATORS(X)
#undef X
};

static const definition *definition_of(const char *type) {
  for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++)
    if (!strcmp(definitions[i].type, type)) return &definitions[i];
  return NULL;
}

bool ox_is_defined(const char *type) { return definition_of(type) != NULL; }

const char *ox_defined_at(size_t at) {
  return at < sizeof definitions / sizeof *definitions ? definitions[at].type : NULL;
}

int64_t ox_newest_opset(void) {
  int64_t newest = 0;
  for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++)
    if (definitions[i].newest > newest) newest = definitions[i].newest;
  return newest;
}

/* ---- attributes ----------------------------------------------------------------------------- */

typedef struct {
  const char *name;
  size_t len;
  char type;
} known_attribute;

/* The attribute that stands at *at in a list of them, whose type is behind a colon; moves *at to
 * the next. */
static bool next_attribute(const char **at, known_attribute *out) {
  while (**at == ' ' || **at == '-')
    ++*at;
  if (!**at) return false;
  out->name = *at;
  out->len = strcspn(*at, ":");
  out->type = out->name[out->len + 1];
  *at += out->len + 2;
  return true;
}

/* Writers of proto3 leave out what is 0 or empty: then the type alone says what it is. */
static bool has_type(const Onnx__AttributeProto *a, char type) {
  static const struct {
    char type;
    int kind;
  } types[] = {{'f', 1}, {'i', 2}, {'s', 3}, {'t', 4}, {'g', 5}, {'F', 6}, {'I', 7}, {'S', 8}};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (types[i].type == type && a->has_type && (int)a->type == types[i].kind)
      return type == 't' ? a->t != NULL : type == 'g' ? a->g != NULL : true;
  if (a->has_type && a->type) return false;
  return type == 'f'   ? a->has_f
         : type == 'i' ? a->has_i
         : type == 's' ? a->has_s
         : type == 't' ? a->t != NULL
         : type == 'g' ? a->g != NULL
         : type == 'F' ? a->n_floats > 0
         : type == 'I' ? a->n_ints > 0
                       : a->n_strings > 0;
}

char ox_attribute_type(const char *type, const char *name) {
  const definition *d = definition_of(type);
  const char *at = d ? d->attributes : "";
  known_attribute known;
  while (next_attribute(&at, &known))
    if (strlen(name) == known.len && !strncmp(name, known.name, known.len)) return known.type;
  return 0;
}

static bool check_attribute(ox_net *g, const definition *d, const Onnx__AttributeProto *a) {
  const char *name = a->name ? a->name : "", *at = d->attributes;
  tf_near near = tf_near_start(name, strlen(name));
  known_attribute known;
  char word[40], text[80] = "";
  while (next_attribute(&at, &known)) {
    if (strlen(name) != known.len || strncmp(name, known.name, known.len) != 0) continue;
    if (a->ref_attr_name && *a->ref_attr_name)
      return ox_fail(g, TF_E_NAME, "attribute '%.60s' is that of a function, outside of one", name);
    return has_type(a, known.type) ||
           ox_fail(g, TF_E_TYPE, "attribute '%.60s' has a value of another type", name);
  }
  char words[8][sizeof word];
  at = d->attributes;
  for (int i = 0; i < 8 && next_attribute(&at, &known); i++) {
    const size_t n = known.len < sizeof word - 1 ? known.len : sizeof word - 1;
    memcpy(words[i], known.name, n);
    words[i][n] = '\0';
    tf_near_offer(&near, words[i]);
  }
  if (near.best) tf_near_text(&near, text, sizeof text);
  return ox_fail(g, TF_E_NAME, "attribute '%.60s' is not known%s", name, text);
}

/* ---- nodes ---------------------------------------------------------------------------------- */

static int count_given(char *const *name, size_t n) {
  while (n > 0 && !*name[n - 1])
    n--;
  return (int)n;
}

/* Before opset 7 the second operand stood along the axes from `axis` on of the first; from there on
 * along its last. */
bool ox_check_axis(ox_net *g, const ox_value *a, const ox_value *b) {
  if (!ox_attribute(g, "axis")) return true;
  const int64_t axis = ox_int(g, "axis", 0);
  return (axis < 0 ? axis + a->rank : axis) == a->rank - b->rank || b->rank == 0 ||
         ox_size(b) == 1 ||
         ox_fail(g, TF_E_NAME, "operands along axis %lld: only those along the last axes are known",
                 (long long)axis);
}

bool ox_check_node(ox_net *g) {
  const Onnx__NodeProto *n = g->node;
  const definition *d = definition_of(n->op_type);
  bool ok = true;
  if (!d) return true;
  if (g->opset < d->least)
    return ox_fail(g, TF_E_NAME,
                   "its definition of opset %lld is not known, only those from %lld on",
                   (long long)g->opset, (long long)d->least);
  for (size_t i = 0; i < n->n_attribute; i++)
    ok = check_attribute(g, d, n->attribute[i]) && ok;
  if (d->inputs >= 0 && count_given(n->input, n->n_input) > d->inputs)
    ok = ox_fail(g, TF_E_LIMIT, "%d inputs; it takes %d", count_given(n->input, n->n_input),
                 d->inputs);
  if (d->outputs >= 0 && count_given(n->output, n->n_output) > d->outputs)
    ok = ox_fail(g, TF_E_LIMIT, "%d results; it has %d", count_given(n->output, n->n_output),
                 d->outputs);
  return ok;
}

bool ox_check_results(ox_net *g) {
  const Onnx__NodeProto *n = g->node;
  bool ok = true;
  for (size_t k = 0; k < n->n_output; k++)
    if (*n->output[k] && !ox_find(g, n->output[k]) && ox_is_wanted(g, k))
      ok = ox_fail(g, TF_E_NAME, "result %zu, '%.60s', is not known", k, n->output[k]);
  return ok;
}

/* ---- types ---------------------------------------------------------------------------------- */

static int type_of_input(const ox_net *g, size_t k) {
  const ox_value *v =
      k < g->node->n_input && *g->node->input[k] ? ox_find((ox_net *)g, g->node->input[k]) : NULL;
  return v ? v->type : 0;
}

int ox_result_type(const ox_net *g, int own) {
  const definition *d = definition_of(g->node->op_type);
  switch (d ? d->result : AS_0) {
  case AS_1: return type_of_input(g, 1);
  case TRUTH: return OX_T_BOOL;
  case COUNT: return OX_T_INT64;
  case OWN: return own;
  case AS_0: break;
  }
  return type_of_input(g, 0);
}

/* Whether sums and products of that type stay in it but for what no sum of a model reaches. */
static bool is_wide(int type) { return type == OX_T_INT32 || type == OX_T_INT64; }

bool ox_check_numbers(ox_net *g) {
  const definition *d = definition_of(g->node->op_type);
  const int type = type_of_input(g, 0);
  const ox_type_kind kind = ox_type_kind_of(type);
  if (!d || type == 0 || kind == OX_FLOAT_KIND || d->result == COUNT) return true;
  const char *name = ox_type_name(type);
  if (d->integers == ANY && kind != OX_OTHER_KIND) return true;
  if (kind == OX_COARSE_KIND || kind == OX_OTHER_KIND || kind == OX_BOOL_KIND ||
      d->integers == FLOATS)
    return ox_fail(g, TF_E_TYPE, "of data of type %s", name);
  if (d->integers == CUT_THERE) {
    if (is_wide(type)) ox_remark(g, OX_WHOLE_SUMS);
    return true;
  }
  if (d->integers == CUTS)
    return ox_fail(g, TF_E_TYPE,
                   "of %s data cuts to whole numbers, which the workload language cannot say",
                   name);
  if (!is_wide(type))
    return ox_fail(
        g, TF_E_TYPE,
        "of %s data wraps at the ends of the type, which the workload language cannot say", name);
  ox_remark(g, OX_WHOLE_SUMS);
  return true;
}

/* ---- the operators that are known ----------------------------------------------------------- */

static const ox_kind *const tables[] = {ox_points,   ox_products,   ox_windows,    ox_sums,
                                        ox_moves,    ox_resizes,    ox_transposed, ox_recurrents,
                                        ox_composed, ox_attentions, ox_choices,    ox_layers};
enum { TABLES = sizeof tables / sizeof *tables };

const ox_kind *ox_kind_at(int at) {
  for (int t = 0; t < TABLES; t++)
    for (const ox_kind *k = tables[t]; k->type; k++)
      if (at-- == 0) return k;
  return NULL;
}

const ox_kind *ox_kind_of(const char *type) {
  const ox_kind *k = NULL;
  for (int at = 0; (k = ox_kind_at(at)) != NULL && strcmp(k->type, type) != 0;)
    at++;
  return k;
}

bool ox_give(ox_net *g, size_t k, const ox_value *v) {
  if (k >= g->node->n_output || !*g->node->output[k]) return true;
  ox_value *made = ox_define(g, g->node->output[k], v);
  if (made) made->type = ox_result_type(g, v->type);
  return made != NULL;
}
