/* Fused kernels: a mapping as source code that a program can be built with. */
#ifndef TILEFLOW_EMIT_H
#define TILEFLOW_EMIT_H
#include "tileflow/model.h"

/* Instruction sets of the CPU target: key, what it is.  The longer keys add units for bf16 and int8; float32 is as
 * without. */
/* clang-format off */
#define TF_ISAS(X)                                                              \
  X("portable", "C17 alone")                                                    \
  X("sse2", "x86-64, 128 bits")                                                 \
  X("avx2", "x86-64 with AVX2 and FMA, 256 bits")                               \
  X("avxvnni", "with AVX-VNNI: int8")                                           \
  X("avx512", "x86-64-v4: AVX-512 F, VL, BW, DQ, CD, 512 bits")                 \
  X("avx512_vnni", "with AVX-512 VNNI: int8")                                   \
  X("avx512_bf16", "with AVX-512 VNNI and BF16: int8, bf16")                    \
  X("amx", "and AMX's tiles: int8, bf16.  Linux")                               \
  X("neon", "AArch64, 128 bits")
/* clang-format on */

/* A kernel that was timed on a computer: what the model said and what it took, in seconds. */
typedef struct {
  int rank; /* of the mapping in the model's order, from 1 */
  double predicted;
  double measured; /* median of its rounds; negative: it could not be compiled or run */
} tf_measured;

/* Types of the data: key, what the inputs are, what the outputs are. */
/* clang-format off */
#define TF_DTYPES(X)                                                                                         \
  X("f32", "float32", "float32")                                                                             \
  X("bf16", "bfloat16", "bfloat16, rounded to nearest even once their float32 sums are complete")             \
  X("int8", "int8", "int32 where a product of two inputs makes them (exact), else float32")                  \
  X("f16", "float16 (cuda alone)", "float16, rounded as bf16 is")                                            \
  X("tf32", "float32, rounded to 11 bits where they are multiplied (cuda alone)", "float32")
/* clang-format on */

typedef struct {
  const char *dtype; /* a key of TF_DTYPES; NULL: f32 */
  const char *isa;   /* a key of TF_ISAS; "multi": those of x86-64, chosen among at run time; NULL: portable */
  const char
      *micro; /* where products of float32 come from: "own", or "libxsmm", which the kernel then links; NULL: own */
  const char *name;            /* prefix of what the kernel exports, an identifier; NULL: "kernel" */
  const char *version;         /* of the program that asks; NULL: not said */
  const char *command;         /* that reproduces the files; for their README.  NULL: not said */
  const tf_result *result;     /* the model's prediction for the mapping; NULL: not said */
  int n_measured, chosen;      /* chosen: the entry of `measured` that this kernel is */
  const tf_measured *measured; /* mappings it was chosen from; NULL: none was timed */
} tf_emit_options;

typedef struct {
  const char *name, *text;
} tf_emitted_file;

/* Files of one directory: kernel.h, kernel.c, parts.h, test.c, bench.c, Makefile, CMakeLists.txt, README.md,
 * manifest.json; for "multi" kernel_ISA.c and parts_ISA.h of each, and the kernel.c that chooses. */
typedef struct {
  int n;
  tf_emitted_file *file;
} tf_emitted;

/* Emits C17 for CPUs: arrays row-major with any leading strides, OpenMP where the mapping spreads work over
 * instances.  The kernel computes what the workload's expressions say, whatever the architecture.  The tree is borrowed
 * for the call.  NULL with every reason in d: an open mapping (E_OPEN),
 * streams that need a state for each instance (E_STREAM), an unknown isa, dtype or micro (E_NAME), memory (E_LIMIT). */
tf_emitted *tf_emit_cpu(const tf_tree *tree, const tf_emit_options *o, tf_diags *d);
void tf_emitted_free(tf_emitted *e);

/* Cycles to rank mappings by that the model finds alike (target NULL: cpu): those that the inner parts of the kernel
 * would take a core of a CPU, tiles as the micro-kernels cut them, operands laid out anew, calls.  An estimate
 * (docs/HOWTO-emit.md says of what); memories are not in it.  0 for an NPU, where the model has all.  Negative: as
 * tf_emit's NULL. */
double tf_emit_cycles(const tf_tree *tree, const char *target, const tf_emit_options *o, tf_diags *d);

/* The k-th mapping that the target takes of that workload, its trip counts open; to be searched where none is given.
 * NULL: there are no more, or the target takes what tf_search_template makes.  The caller's. */
tf_tree *tf_emit_form(const char *target, const tf_arch *arch, const tf_workload *wl, int k);

/* As tf_emit_cpu for that target (NULL: cpu).  NULL as there; E_NAME: there is no such target, or it has loops alone.
 */
tf_emitted *tf_emit(const tf_tree *tree, const char *target, const tf_emit_options *o, tf_diags *d);

/* The name of the i-th target, and what it is (what may be NULL); NULL past the last. */
const char *tf_emit_target(int i, const char **what);
/* Whether there are kernels for the target of that name, and not loops alone. */
bool tf_emit_prints(const char *target);

/* The loop IR of a target (NULL: cpu) as text: of cpu, what tf_emit_cpu prints for o's isa (of several the best) and
 * dtype. o NULL: in float32 without vectors.  Malloc'd.  NULL as above; E_NAME: no such target. */
char *tf_emit_ir(const tf_tree *tree, const char *target, const tf_emit_options *o, tf_diags *d);

/* Whether a kernel can have that name, as far as can be said before it is there; else the reason, E_NAME.  Not words of
 * C and C++, what C's library and POSIX call something, or what may be a macro. */
bool tf_emit_can_name(const char *name, tf_diags *d);

/* Whether the target (a key as tf_emit has it; NULL: cpu) takes data of that type; else what it takes, E_NAME. */
bool tf_emit_has_dtype(const char *target, const char *dtype, tf_diags *d);

/* The best isa for data of that type (a key of TF_DTYPES; NULL: f32) that the computer it runs on has. */
const char *tf_emit_isa(const char *dtype);
/* Whether it can run that isa (a key of TF_ISAS; any other: no). */
bool tf_emit_runs(const char *isa);
#endif
