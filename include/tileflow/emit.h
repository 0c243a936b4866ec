/* Fused kernels: a mapping as source code that a program can be built with. */
#ifndef TILEFLOW_EMIT_H
#define TILEFLOW_EMIT_H
#include "tileflow/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Instruction sets of the CPU target: key, meaning.  Those with longer keys add instructions for
 * bf16 and int8; float32 is the same with and without, but with SME's. */
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
  X("neon", "AArch64, 128 bits")                                                \
  X("neon_dot", "with dot products: int8")                                      \
  X("neon_i8mm", "and products of matrices: int8")                              \
  X("sme", "NEON, and SME's tiles of vectors of 512 bits: f32, bf16, int8.  Linux")
/* clang-format on */

/* A kernel that was timed on a computer: the model's prediction and the measurement, in seconds. */
typedef struct {
  int rank; /* of the mapping in the model's order, from 1 */
  double predicted;
  double measured; /* median of its rounds; negative: it could not be compiled or run */
} tf_measured;

/* Data types: key, type of the inputs, type of the outputs. */
/* clang-format off */
#define TF_DTYPES(X)                                                                                         \
  X("f32", "float32", "float32")                                                                             \
  X("bf16", "bfloat16", "bfloat16, rounded to nearest even once their float32 sums are complete")             \
  X("int8", "int8", "int32 where a product of two inputs makes them (exact), else float32")                  \
  X("f16", "float16 (cuda and opencl)", "float16, rounded as bf16 is")                                            \
  X("tf32", "float32, rounded to 11 bits where they are multiplied (cuda alone)", "float32")                  \
  X("f8", "float8, e4m3 (cuda alone, sm_89 or later)", "float32")
/* clang-format on */

/* Choices of the CPU's generator that can be made for it, as a tuning does: id, name, values,
 * meaning.  The first value leaves the choice to the generator. */
/* clang-format off */
#define TF_CHOICES(X)                                                                                                  \
  X(TILE, "tile", TF_VALUES("own", "1", "2", "3", "4", "6"), "vectors side by side in the register tile of a product")  \
  X(UNROLL, "unroll", TF_VALUES("own", "2", "4"), "steps of the reduced dim written out in a tile's loop")              \
  X(CLOSE, "close", TF_VALUES("own", "1/16", "1/4", "1/2", "2", "4"),                                                   \
    "times what counts as close to a core: the rest of an op's loops is computed at the loop below which it is")        \
  X(LANES, "lanes", TF_VALUES("own", "last", "channels"), "the output's dim along which a convolution's vectors lie")   \
  X(PACK, "pack", TF_VALUES("own", "never", "always"), "whether a product's panels are copied side by side")            \
  X(ROWS, "rows", TF_VALUES("own", "there", "copied"), "whether vectors along channels read rows in place or a copy")   \
  X(PREFETCH, "prefetch", TF_VALUES("own", "never"), "whether products prefetch what the next ones need")               \
  X(AT, "at", TF_VALUES("own", "apart", "rows"),                                                                        \
    "where rows of intermediates are computed: op after op; row after row; own: also while a product multiplies")
/* clang-format on */
#define TF_VALUES(...) __VA_ARGS__
typedef enum {
#define X(id, name, values, what) TF_CHOICE_##id,
  TF_CHOICES(X)
#undef X
      TF_N_CHOICES
} tf_choice;
enum { TF_CHOICE_VALUES = 8 };
/* A row of the table; the values end with NULL. */
typedef struct {
  const char *name, *what, *value[TF_CHOICE_VALUES];
} tf_choice_row;
TF_API const tf_choice_row *tf_choice_at(tf_choice c);
/* The index of the value taken for each choice; all 0: the generator's own. */
typedef struct {
  signed char at[TF_N_CHOICES];
} tf_choices;
/* Whether the choice can change a kernel of the workload. */
TF_API bool tf_choice_matters(tf_choice c, const tf_workload *wl);

/* Instructions of files that say how kernels call them (docs/FORMATS.md, `emit`), ready for the
 * CPU's generator.  It borrows the spec.  NULL with every reason in d: the generator has no kernels
 * of that shape, or types, or there is no such instruction set. */
typedef struct tf_emit_instrs tf_emit_instrs;
TF_API tf_emit_instrs *tf_emit_instrs_new(const tf_spec *s, tf_diags *d);
TF_API void tf_emit_instrs_free(tf_emit_instrs *e);

/* Predictions of cycles that are kept, and not made again: of mappings of one architecture and
 * workload, for one target.  What failed before fails again without a reason. */
typedef struct tf_emit_memo tf_emit_memo;
TF_API tf_emit_memo *tf_emit_memo_new(void); /* NULL: out of memory */
TF_API void tf_emit_memo_free(tf_emit_memo *m);

typedef struct {
  const char *dtype;   /* a key of TF_DTYPES; NULL: f32 */
  const char *isa;     /* a key of TF_ISAS; "multi": several of x86-64, selected at run time; NULL:
                          portable.  cuda: sm_80, sm_90a, wmma */
  const char *micro;   /* source of the float32 products: "own", or "libxsmm", which the kernel then
                          links; NULL: own */
  const char *name;    /* prefix of the exported names, an identifier; NULL: "kernel" */
  const char *version; /* of the calling program; NULL: not stated */
  const char *command; /* that reproduces the files, for their README; NULL: not stated */
  const tf_emit_instrs
      *instrs; /* cpu: used instead of the generator's own, by the instruction sets that they name;
                  "multi": only those without options of their own.  NULL: none */
  tf_choices choices;  /* cpu; for other targets all 0 */
  const bool *changes; /* cpu: [n_tensors] of the workload: inputs that differ from call to call, of
                          which no panels are offered to be packed once for many; NULL: the caller
                          decides for all together */
  bool live; /* cpu: files more, by which the kernel can be replaced as it runs (docs/HOWTO-tune.md)
              */
  double
      most_cycles; /* of tf_emit_cycles: more need not be told from each other; 0: all are told */
  tf_emit_memo *memo; /* of tf_emit_cycles, of one architecture and workload: what it keeps; NULL:
                         nothing */
  int64_t *work; /* of tf_emit_cycles: the instructions of a program that it looks at are added;
                    NULL: not asked */
  const char *settled;     /* of tf_emit_settled, where the mapping is from it; NULL: the mapping is
                              kept as it is */
  const tf_result *result; /* the model's prediction for the mapping; NULL: not stated */
  int n_measured, chosen;  /* chosen: index in `measured` of this kernel */
  const tf_measured *measured; /* mappings among which it was chosen; NULL: none was timed */
} tf_emit_options;

typedef struct {
  const char *name, *text;
} tf_emitted_file;

/* The files of one folder: kernel.h, kernel.c, parts.h, test.c, bench.c, Makefile, CMakeLists.txt,
 * README.md, manifest.json; for "multi" a kernel_ISA.c and parts_ISA.h for each, and the kernel.c
 * that selects one; if it is to be live, live.h, live.c, live_entry.c, live_tensors.h, try.c,
 * live.mk. */
typedef struct {
  int n;
  tf_emitted_file *file;
  bool skips;        /* some product multiplies only what is not zero of an operand */
  int64_t workspace; /* cuda, opencl: bytes of the device's memory that a call takes beside its
                        arguments; 0: none */
} tf_emitted;

/* The problem with its inputs and outputs handed over as the section `layout` has them lie where
 * they live: their ranks stand in that order, of which the last is the fastest.  Layouts that cut
 * ranks, which tf_emit follows, and those that tf_layout_of does not have, stay as they are in
 * `arch`.  The rest is borrowed from the arguments.  NULL: no memory. */
typedef struct {
  const tf_arch *arch;
  const tf_workload *workload;
  int n, n_cut; /* tensors in another order; in blocks */
} tf_handed;
TF_API tf_handed *tf_handed_new(const tf_arch *arch, const tf_workload *wl);
TF_API void tf_handed_free(tf_handed *h);
/* How an input or output lies where it lives, if not by rows, as kernels are handed it; NULL: by
 * rows, it is neither, or its zeros are known. */
TF_API const tf_laid *tf_layout_of(const tf_arch *arch, const tf_tensor *z);
/* Whether kernels follow l, of arch: it is by rows, or how an input or output is handed over. */
TF_API bool tf_layout_followed(const tf_arch *arch, const tf_workload *wl, const tf_laid *l);

/* Whether the target's kernels take inputs and outputs as their layouts cut them; otherwise
 * E_LIMIT, at the first, in d. */
TF_API bool tf_emit_takes_layouts(const char *target, const tf_arch *arch, const tf_workload *wl,
                                  tf_diags *d);

/* Emits C17 for CPUs: row-major arrays with any leading strides, OpenMP where the mapping spreads
 * work over instances. The kernel computes what the workload's expressions say, for any
 * architecture.  The tree is borrowed during the call. To be freed by tf_emitted_free.  NULL with
 * every reason in d: an open mapping (E_OPEN), streams that need a state for each instance
 * (E_STREAM), an unknown isa, dtype or micro (E_NAME), no memory (E_LIMIT). */
TF_API tf_emitted *tf_emit_cpu(const tf_tree *tree, const tf_emit_options *o, tf_diags *d);
TF_API void tf_emitted_free(tf_emitted *e);

/* An estimate in cycles of the kernel's inner parts on one core, to rank mappings with equal
 * figures by the model (target NULL: cpu): tiles as the micro-kernels cut them, packing of
 * operands, calls (docs/HOWTO-emit.md); without memory traffic.  Negative where tf_emit would
 * return NULL. */
TF_API double tf_emit_cycles(const tf_tree *tree, const char *target, const tf_emit_options *o,
                             tf_diags *d);
/* What a call of a kernel is expected to take, in cycles: a core by what its loops do; meanwhile
 * the outermost memory, and the busiest of those between it and the core's caches. */
typedef struct {
  double busy, outer, inner;
  const char *unsure; /* the kind of an op (scan, transposed, turned) of which fewer than half of
                         drawn kernels took within a quarter of it; NULL: none */
} tf_expected;
/* False: the target expects nothing (all but cpu), or makes no kernel of the mapping; the latter
 * with an error in d.  o->result: the model's counts of the mapping. */
TF_API bool tf_emit_expected(const tf_tree *tree, const char *target, const tf_emit_options *o,
                             tf_expected *e, tf_diags *d);
/* The cycles of the call.  left: the part of what it moves that the cache below the outermost
 * memory still has. */
TF_API double tf_expected_cycles(const tf_expected *e, double left);
/* How many times as many multiply-adds of `o->dtype` as of the architecture's words kernels begin
 * in a cycle, of the best instruction set that the options name; 1 where the target does not say,
 * or the options are wrong. */
TF_API double tf_emit_rate(const char *target, const tf_emit_options *o);
/* The width of such a type of floating point over the architecture's words, at most 1; of integers,
 * which tensors name themselves, 1. */
TF_API double tf_emit_width(const char *dtype, const tf_arch *arch);
/* The part of the model's cycles, of the architecture's words, that data of a narrower type take by
 * bytes (TF_DTYPES; NULL: f32), where mappings of the workload are ranked by their kernels: if it
 * is one convolution, whose kernels take windows and sums whole, however the mapping divides them.
 * Else 1: of products of matrices the kernel alone chooses worse (512 x 1000 x 2048 of int8, 1.14
 * times as long), and what passes between ops the model alone counts. */
TF_API double tf_emit_share(const char *dtype, const tf_arch *arch, const tf_workload *wl);
/* The value by which mappings are ranked, lower is better: of the model's cycles, the words through
 * its outermost memory, and the kernel's cycles.  The kernel's alone, if they are all; the model's
 * and the kernel's, of which both include the multiply-adds, which makes no difference; where that
 * share is less than 1, the kernel's and the time in which those words arrive, by bytes, each once
 * if the next memory holds all: the model's cycles would hide the kernel's
 * (docs/RESULTS-instructions.md). */
TF_API double tf_emit_value(const char *target, const char *dtype, const tf_tree *tree,
                            double cycles, double traffic, double kernel);
/* Whether the target's cycles are all that the kernel takes, in place of the model's (npu: when the
 * program's queues will have ended; cuda).  They may be expected of mappings whose program has not
 * been made: then tf_emit_fits tells whether it can be, the reason in d. */
TF_API bool tf_emit_cycles_whole(const char *target);
TF_API bool tf_emit_cycles_expected(const char *target);
TF_API bool tf_emit_fits(const tf_tree *tree, const char *target, tf_diags *d);
/* Whether the target has kernels for the architecture (npu: it is a line of the memories that an
 * NPU has); if not, an error in d. */
TF_API bool tf_emit_suits(const char *target, const tf_arch *arch, tf_diags *d);

/* The mapping, or one with other trip counts, found from it on, whose kernel ends sooner, and fits;
 * in *settled how, a line for each round (npu: docs/NPU.md, tiles and slots in turn).  The caller
 * frees both.  memo: as in the options, or NULL.  NULL, and *settled NULL: the target has nothing
 * of the kind; or makes no kernel of the mapping, the reason in d. */
TF_API tf_tree *tf_emit_settled(const tf_tree *tree, const char *target, tf_emit_memo *memo,
                                char **settled, tf_diags *d);

/* Where a target (cuda) says how long each of its units is busy: id, key, meaning. */
/* clang-format off */
#define TF_TIMES(X)                                                          \
  X(TENSOR, "tensor", "products on tensor cores")                            \
  X(SPECIAL, "special", "exponentials and other special functions")          \
  X(ISSUE, "issue", "instructions that warps issue")                         \
  X(SHARED, "shared", "reads and writes of shared memory")                   \
  X(L2, "l2", "copies from L2")                                              \
  X(MEMORY, "memory", "reads and writes of the outermost memory")            \
  X(WAITS, "waits", "barriers, and loads that nothing hides")                \
  X(START, "start", "starts of kernels")
/* clang-format on */
typedef enum {
#define X(id, key, what) TF_TIME_##id,
  TF_TIMES(X)
#undef X
      TF_N_TIMES
} tf_time;
/* Cycles that each unit of the fullest multiprocessor is busy with; they work side by side, and so
 * the whole is less than their sum.  bound: the busiest. */
typedef struct {
  double cycles;
  double unit[TF_N_TIMES];
  tf_time bound;
} tf_times;

/* The k-th open mapping that the target proposes for the workload, to be completed by a search if
 * no mapping is given. NULL: no more, or the target uses those of tf_search_template.  k < 0: the
 * (-1 - k)-th of those for workloads of which all other programs are too long; NULL: it has none.
 * The caller frees it. */
TF_API tf_tree *tf_emit_form(const char *target, const tf_arch *arch, const tf_workload *wl, int k);

/* As tf_emit_cpu for any target (NULL: cpu).  NULL as there; E_NAME: no such target, or one without
 * kernels. */
TF_API tf_emitted *tf_emit(const tf_tree *tree, const char *target, const tf_emit_options *o,
                           tf_diags *d);

/* The name of the i-th target, and a description (what may be NULL); NULL past the last. */
TF_API const char *tf_emit_target(int i, const char **what);
/* Whether the target of that name prints kernels, not only loops. */
TF_API bool tf_emit_prints(const char *target);
/* What can be done with a target's kernels besides. */
typedef enum {
  TF_EMIT_HERE = 1,  /* they are for processors as this computer's: tested and timed here, for its
                        best instruction set */
  TF_EMIT_TUNED = 2, /* they follow schedules that tune has measured */
  TF_EMIT_NETWORKS = 4, /* those of a network's groups are called in order */
  TF_EMIT_MICRO = 8,    /* their products may come from libraries */
  TF_EMIT_READ = 16,    /* they are texts to read, not code: the first file alone says it all */
  TF_EMIT_CHANNELS_LAST = 32, /* convolutions of halves are fastest with channels innermost */
  TF_EMIT_BLOCKS = 64         /* they take and give tensors of which a layout cuts ranks */
} tf_emit_ability;
TF_API bool tf_emit_able(const char *target, tf_emit_ability what);
/* Instruction sets that are the target's own, as a sentence lists them (NULL: none), and whether a
 * name is of one. */
TF_API const char *tf_emit_isas(const char *target);
TF_API bool tf_emit_owns_isa(const char *target, const char *isa);
/* Why an instruction set of the target's own changes nothing for data of that type (NULL: f32);
 * NULL: it does change something, or is none of its own. */
TF_API const char *tf_emit_isa_unused(const char *target, const char *isa, const char *dtype);

/* The loop IR of a target (NULL: cpu) as text; for cpu: what tf_emit_cpu prints for o's isa (of
 * several the best) and dtype.  o NULL: float32 without vectors.  Malloc'd, the caller frees.  NULL
 * as above; E_NAME: no such target. */
TF_API char *tf_emit_ir(const tf_tree *tree, const char *target, const tf_emit_options *o,
                        tf_diags *d);

/* Whether a kernel can have that name, as far as can be told before it is emitted; otherwise the
 * reason in d, E_NAME. Refused are words of C and C++, names of C's library and POSIX, and what may
 * be a macro. */
TF_API bool tf_emit_can_name(const char *name, tf_diags *d);

/* Whether the target (as in tf_emit; NULL: cpu) supports that type of data; otherwise what it
 * supports in d, E_NAME. */
TF_API bool tf_emit_has_dtype(const char *target, const char *dtype, tf_diags *d);

/* Of a kernel in int8: how many inputs become bytes, as no tensor has 8 bits, though products of
 * two inputs stand beside and read none of them: scales and biases, maybe.  *first: one of them, -1
 * if none. */
TF_API int tf_emit_made_bytes(const tf_workload *wl, int *first);

/* The best isa of this computer for data of that type (a key of TF_DTYPES; NULL: f32). */
TF_API const char *tf_emit_isa(const char *dtype);
/* Whether this computer can run that isa (a key of TF_ISAS; any other: no). */
TF_API bool tf_emit_runs(const char *isa);

#ifdef __cplusplus
}
#endif
#endif
