/* A machine and a program for it as data: the assembler reads it, the compiler makes it and the
 * simulator runs it. */
#ifndef CODEGEN_BACKEND_NPU_SIM_PROGRAM_H
#define CODEGEN_BACKEND_NPU_SIM_PROGRAM_H
#include "base/arena.h"
#include "tileflow/npu.h"

enum {
  NPU_MEMORIES = 8,
  NPU_QUEUES = 8,
  NPU_PATHS = 32,
  NPU_DIMS = 6,
  NPU_DEPTH = 8,
  NPU_TENSORS = 1 << 12,
  NPU_FLAGS = 64,
  NPU_WHEN = 4
};

/* Types of elements: id, name, bytes. */
#define NPU_TYPES(X) X(F16, "f16", 2) X(F32, "f32", 4)
typedef enum {
#define X(id, name, bytes) NPU_##id,
  NPU_TYPES(X)
#undef X
      NPU_N_TYPES
} npu_type;

typedef struct {
  const char *name;
  int64_t bytes; /* 0: unlimited; tensors are in the first memory, which is unlimited */
  int64_t align; /* alignment of operands in bytes */
} npu_memory;

typedef struct {
  int from, to, queue;
  double words;   /* per cycle; 0: unlimited */
  double latency; /* cycles of each transfer */
} npu_path;

/* Blocks of m x n x k multiply-adds, `cycles` each; `fill` each time that the block of the left
 * operand changes; `latency` of each instruction.  rows: operands lie row by row; else in blocks
 * (docs/NPU.md). */
typedef struct {
  int queue, sums, left, right; /* queue -1: there is none */
  int64_t m, n, k;
  double cycles, fill, latency;
  bool rows;
} npu_cube;

typedef struct {
  int queue, memory; /* queue -1: there is none */
  int64_t lanes;
  double latency,
      port; /* port: the share by which an operation slows the cube while it runs, 0 to 1 */
} npu_vector;

typedef struct {
  const char *name;
  int n_memories, n_queues, n_paths;
  npu_memory memory[NPU_MEMORIES];
  const char *queue[NPU_QUEUES];
  npu_path path[NPU_PATHS];
  npu_cube cube;
  npu_vector vector;
} npu_machine;

typedef struct {
  const char *name;
  npu_type type;
  int64_t words;
  bool in, out;
  bool unread; /* as far as the compiler knows no instruction reads what others write there */
  int within;  /* 1 + number of an earlier tensor in whose bytes it lies, possibly overlapping with
                  others; 0: it has bytes of its own */
  int64_t offset; /* offset in global memory, in bytes */
  tf_loc loc;     /* of its definition in the text */
} npu_tensor;

/* Operations of instructions: id, name, sources (of vector operations). An operation of the vector
 * unit computes the function of its kind (sim_vector.c). */
/* clang-format off */
#define NPU_OPS(X) \
  X(FOR, "for", 0) X(END, "end", 0) X(SET, "set", 0) X(WAIT, "wait", 0) X(BARRIER, "barrier", 0) \
  X(COPY, "copy", 1) X(LOAD, "load", 1) X(MAD, "mad", 2) X(MOV, "mov", 1) X(GATHER, "gather", 1) X(ADD, "add", 2) X(SUB, "sub", 2) \
  X(MUL, "mul", 2) X(DIV, "div", 2) X(MAX, "max", 2) X(MIN, "min", 2) X(LT, "lt", 2) X(LE, "le", 2) \
  X(EQ, "eq", 2) X(NE, "ne", 2) X(NEG, "neg", 1) X(EXP, "exp", 1) X(LOG, "log", 1) X(SQRT, "sqrt", 1) \
  X(TANH, "tanh", 1) X(ERF, "erf", 1) X(SIGMOID, "sigmoid", 1) X(SILU, "silu", 1) X(RELU, "relu", 1) X(GELU, "gelu", 1) \
  X(ABS, "abs", 1) X(FLOOR, "floor", 1) X(CEIL, "ceil", 1) X(ROUND, "round", 1) X(TRUNC, "trunc", 1) \
  X(SIN, "sin", 1) X(COS, "cos", 1) X(FMOD, "fmod", 2) \
  X(SEL, "sel", 3) X(RADD, "radd", 1) X(RMUL, "rmul", 1) X(RMAX, "rmax", 1) X(RMIN, "rmin", 1)
/* clang-format on */
typedef enum {
#define X(id, name, sources) NPU_##id,
  NPU_OPS(X)
#undef X
      NPU_N_OPS
} npu_op;

typedef struct {
  const char *name;
  int sources;
} npu_op_facts;
const npu_op_facts *npu_facts_of(npu_op op);
const char *npu_type_name(npu_type t);
int64_t npu_type_bytes(npu_type t);
static inline bool npu_is_vector(npu_op op) { return op >= NPU_MOV; }
static inline bool npu_is_reduction(npu_op op) { return op >= NPU_RADD; }

/* Slots that a place uses in turn: slot number (at + sum of step[depth] * loop variable) mod n, of
 * `bytes` each.  n 0: it has its bytes to itself. */
typedef struct {
  int64_t bytes;
  uint8_t n, at, step[NPU_DEPTH];
} npu_ring;

/* The place of an operand, in bytes: base + sum of step[depth] * loop variable, in slot 0 of its
 * ring. memory -1: it is `number`. */
typedef struct {
  int memory, tensor; /* tensor -1: none; else `base` is relative to its begin */
  npu_type type;
  int64_t base, step[NPU_DEPTH];
  npu_ring ring;
  double number;
  tf_loc loc;
} npu_operand;
/* Where it begins while all loops are at 0. */
static inline int64_t npu_begin_of(const npu_operand *o) {
  return o->base + o->ring.at * o->ring.bytes;
}
/* Whether loops lead from slot to slot. */
static inline bool npu_turns(const npu_ring *g) {
  bool any = false;
  for (int k = 0; k < NPU_DEPTH; k++)
    any |= g->step[k] != 0;
  return any;
}

/* A dim of a transfer or of a vector operation: its number of elements, and their stride in the
 * destination and each source; of LOAD also the steps in the window's height and width. */
typedef struct {
  int64_t count, step[4], high, wide;
} npu_dim;

/* Steps of the loops around: those where the sum of step[depth] * loop variable is first .. last.
 */
typedef struct {
  int32_t step[NPU_DEPTH], first, last;
} npu_when;
enum { NPU_ANY_FIRST = INT32_MIN, NPU_ANY_LAST = INT32_MAX };

typedef struct {
  npu_op op;
  tf_loc loc;
  const char *tag;
  int queue;
  npu_operand to, from[3];
  int n_dims;
  npu_dim dim[NPU_DIMS]; /* the last is the innermost */
  union {
    struct { /* match: the matching END; of END its FOR */
      const char *name;
      int64_t trip;
      size_t match;
    } loop;
    struct { /* SET: queue `queue` sets it for queue `to`; WAIT: `to` waits for it, in steps that
                are in n ranges; a BARRIER is for all queues */
      int to, id, n;
      npu_when when[NPU_WHEN];
    } flag;
    struct {
      int64_t m, n, k, ld[3]; /* ld: of sums, left, right; 0: packed */
      bool add;
    } mad;
    struct { /* LOAD: the window's origin, like operands' places, and the size of the image, outside
                of which are zeros */
      int64_t origin[2], step[2][NPU_DEPTH], size[2];
    } window;
  };
  int via; /* the path of COPY and LOAD */
} npu_instr;

struct tf_npu {
  tf_arena *arena;
  npu_machine machine;
  int n_tensors;
  npu_tensor *tensor;
  int64_t bytes; /* of all tensors in global memory */
  size_t n;
  npu_instr *instr;
};

tf_npu *npu_new(void);
/* Adds a tensor; `within` another one, `offset` is relative to that one's begin, else it is
 * assigned. False: out of memory. */
bool npu_add_tensor(tf_npu *p, npu_tensor t);
/* Copies the machine and tensors of another program, whose names are borrowed. False: out of
 * memory. */
bool npu_copy_head(tf_npu *p, const tf_npu *from);
/* Whether the step of loops that is at `at` has the flag. */
bool npu_is_due(const npu_instr *flag, const int64_t *at, int depth);
/* A new instruction at the end; NULL: out of memory. */
npu_instr *npu_add(tf_npu *p, npu_op op);
/* The path between two memories; -1: there is none. */
int npu_path_of(const npu_machine *m, int from, int to);
/* Cycles of an instruction in its queue. */
double npu_cycles_of(const npu_machine *m, const npu_instr *i);
/* Elements of all its dims. */
int64_t npu_count(const npu_instr *i);

/* half.c: binary16, rounded to nearest even. */
uint16_t npu_to_half(float x);
float npu_from_half(uint16_t h);

/* sim_vector.c: the value of an operation. a: its sources; of a reduction the previous value and
 * the source. */
double npu_value(npu_op op, const double *a);
#endif
