/* The functions of the vector unit's operations. */
#include <math.h>

#include "codegen/backend/npu/sim/program.h"
#include "model/input/kinds.h"

/* The kind of the operation. */
static tf_kind kind_of(npu_op op) {
  switch (op) {
  case NPU_ADD:
  case NPU_RADD: return TF_K_ADD;
  case NPU_SUB: return TF_K_SUB;
  case NPU_MUL:
  case NPU_RMUL: return TF_K_MUL;
  case NPU_DIV: return TF_K_DIV;
  case NPU_MAX:
  case NPU_RMAX: return TF_K_MAX;
  case NPU_MIN:
  case NPU_RMIN: return TF_K_MIN;
  case NPU_LT: return TF_K_LT;
  case NPU_LE: return TF_K_LE;
  case NPU_EQ: return TF_K_EQ;
  case NPU_NE: return TF_K_NE;
  case NPU_NEG: return TF_K_NEG;
  case NPU_EXP: return TF_K_EXP;
  case NPU_LOG: return TF_K_LOG;
  case NPU_SQRT: return TF_K_SQRT;
  case NPU_TANH: return TF_K_TANH;
  case NPU_ERF: return TF_K_ERF;
  case NPU_SIGMOID: return TF_K_SIGMOID;
  case NPU_SILU: return TF_K_SILU;
  case NPU_RELU: return TF_K_RELU;
  case NPU_GELU: return TF_K_GELU;
  case NPU_ABS: return TF_K_ABS;
  case NPU_FLOOR: return TF_K_FLOOR;
  case NPU_CEIL: return TF_K_CEIL;
  case NPU_ROUND: return TF_K_ROUND;
  case NPU_TRUNC: return TF_K_TRUNC;
  case NPU_SIN: return TF_K_SIN;
  case NPU_COS: return TF_K_COS;
  case NPU_FMOD: return TF_K_FMOD;
  case NPU_SEL: return TF_K_SELECT;
  case NPU_MOV:
  case NPU_GATHER: return TF_K_COPY;
  case NPU_FOR:
  case NPU_END:
  case NPU_SET:
  case NPU_WAIT:
  case NPU_BARRIER:
  case NPU_COPY:
  case NPU_LOAD:
  case NPU_MAD:
  case NPU_N_OPS: break; /* not the vector unit's */
  }
  return TF_K_COPY;
}

double npu_value(npu_op op, const double *a) { return tf_kind_apply(kind_of(op), a); }
