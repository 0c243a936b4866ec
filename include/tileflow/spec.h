/* Architecture and workload as read: plain data, owned by the tf_spec that holds them.  Meaning: docs/FORMATS.md and
 * docs/SEMANTICS.md section 1. */
#ifndef TILEFLOW_SPEC_H
#define TILEFLOW_SPEC_H
#include "tileflow/diag.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- architecture ---------------------------------------------------------------- */
typedef enum { TF_OVERLAP_PERFECT, TF_OVERLAP_DOUBLE_BUFFER, TF_OVERLAP_NONE } tf_overlap;

/* Memories are numbered from 0 = outermost; the thesis's level n is index 0.  What sets one memory apart from another
 * is listed once, so that whatever must tell machines apart (a search's log, a store) walks the rows: type, field, the
 * array's size.
 *   mesh                   X, Y instances below one instance of the memory above
 *   capacity_words         per instance, in words of word_bits; -1: unbounded
 *   word_bits              of one word
 *   read_bw, write_bw      words a cycle, per instance; INFINITY: no limit
 *   one_port               reads and writes share read_bw (== write_bw)
 *   multicast, reduce      the network that feeds these instances
 *   double_buffered        streamed tiles occupy twice their words
 *   read_pj, write_pj      per word
 *   energy_from_table      read_pj and write_pj come from the documented table
 *   hop_pj                 per word and hop on the network above; 0: none given
 *   latency, issue         cycles of one transfer, and to issue it, unless something hides them
 *   area_um2, area_given   of one instance; if not given, tf_arch_area uses the documented table */
/* clang-format off */
#define TF_MEMORY_FIELDS(X)                                                                 \
  X(int64_t, mesh, [2]) X(int64_t, capacity_words, ) X(int, word_bits, )                    \
  X(double, read_bw, ) X(double, write_bw, ) X(bool, one_port, )                            \
  X(bool, multicast, ) X(bool, reduce, ) X(bool, double_buffered, )                         \
  X(double, read_pj, ) X(double, write_pj, ) X(bool, energy_from_table, ) X(double, hop_pj, ) \
  X(double, latency, ) X(double, issue, ) X(double, area_um2, ) X(bool, area_given, )
/* clang-format on */
#define TF_FIELD(type, id, size) type id size;
typedef struct {
  const char *name;
  tf_loc at, capacity_at, mesh_at; /* where the memory, its capacity and its mesh are written */
  TF_MEMORY_FIELDS(TF_FIELD)
} tf_memory;

/* Kinds of work that a compute unit can list; one row per kind: id, key in YAML.  Comparisons, which give 1 or 0,
 * cannot be listed: a unit that selects also compares. */
/* clang-format off */
#define TF_KINDS(X)                                                                         \
  X(MAC, "mac") X(ADD, "add") X(SUB, "sub") X(MUL, "mul") X(DIV, "div") X(MAX, "max")       \
  X(MIN, "min") X(NEG, "neg") X(EXP, "exp") X(LOG, "log") X(SQRT, "sqrt") X(TANH, "tanh")   \
  X(ERF, "erf") X(SIGMOID, "sigmoid") X(RELU, "relu") X(GELU, "gelu") X(SILU, "silu") \
  X(ABS, "abs") X(SELECT, "select") X(COPY, "copy") X(LT, "<") X(LE, "<=") X(EQ, "==") X(NE, "!=")
/* clang-format on */
typedef enum {
#define X(id, key) TF_K_##id,
  TF_KINDS(X)
#undef X
      TF_N_KINDS
} tf_kind;

/* Compute units; rows as above.
 *   kinds                  bit 1u << tf_kind; COPY is always set
 *   below                  index of the memory that it is below
 *   mesh                   X, Y units below one instance of that memory
 *   rate                   points a cycle of one unit
 *   pj                     per point; energy_from_table: of the documented table
 *   multicast, reduce      the network between that memory and the units
 *   pipeline               cycles to fill and drain the array once, charged unless hidden
 *   area_um2, area_given   of one unit */
/* clang-format off */
#define TF_UNIT_FIELDS(X)                                                                   \
  X(uint32_t, kinds, ) X(int, below, ) X(int64_t, mesh, [2]) X(double, rate, )              \
  X(double, pj, ) X(bool, energy_from_table, ) X(bool, multicast, ) X(bool, reduce, )       \
  X(double, pipeline, ) X(double, area_um2, ) X(bool, area_given, )
/* clang-format on */
typedef struct {
  const char *name;
  tf_loc at;
  TF_UNIT_FIELDS(TF_FIELD)
} tf_unit;

/* What kernels cost a core in addition to the words and the work that the model counts; `emit` ranks mappings and
 * chooses layouts by it.  One row per figure: id, key in YAML, default (figures of a Zen 5 core, set so that layers of
 * ResNet and YOLO rank as they were measured), whether it is a size in bytes, whether it may be 0.
 *   tile      cycles to enter and leave a tile of a micro-kernel
 *   latency   cycles of a multiply-add; ports: how many multiply-adds, and how many loads, can begin in a cycle
 *   copy      words a cycle packed row by row; turn: transposed in squares
 *   element   cycles to lay out an element by itself, between others of another row
 *   square    cycles a lane to transpose a square of as many rows and store it
 *   row       cycles to begin a row that is packed or computed; jump: if it is a page or more from the last
 *   factor    cycles to compute what a row is multiplied by: an exponential, or an inverse
 *   far       cycles that a tile waits for a vector of an operand whose rows are pages apart
 *   stays     bytes of an operand that stay close to the core from one block of rows to the next
 *   stream    words a cycle that arrive from further out while tiles multiply; seen: the same for the time that the
 *             tiles do not hide, which is added
 *   line      bytes of a cache line
 *   page      bytes of a page; pages: entries of a core's TLB; lookup: cycles of a miss
 *   multiply  cycles of an AMX tile multiplication; store: of storing and loading a tile's sums */
/* clang-format off */
#define TF_CORE_FIELDS(X)                                                                                  \
  X(tile, "tile", 20, false, true) X(latency, "latency", 4, false, false) X(ports, "ports", 2, false, false) \
  X(copy, "copy", 4, false, false) X(turn, "turn", 2, false, false) X(element, "element", 2, false, true) X(square, "square", 9, false, true)    \
  X(row, "row", 8, false, true) X(jump, "jump", 60, false, true) X(factor, "factor", 16, false, true) X(far, "far", 2, false, true)         \
  X(stays, "stays", 32768, true, true) X(stream, "stream", 2, false, false) X(seen, "seen", 8, false, false) \
  X(line, "line", 64, true, false) X(page, "page", 4096, true, false) X(pages, "pages", 1024, false, true) \
  X(lookup, "lookup", 100, false, true) X(multiply, "multiply", 16, false, false) X(store, "store", 32, false, true)
/* clang-format on */
typedef struct {
#define X(id, key, usual, bytes, none) double id;
  TF_CORE_FIELDS(X)
#undef X
} tf_core;

TF_API tf_core tf_core_usual(void); /* the default figures */

/* A GPU's multiprocessor, one instance of the memory that blocks of threads have each for themselves, as kernels find
 * it in addition to what the model counts; `emit --target cuda` ranks and lays out by it.  Rows as above; what holds if
 * left out is an H100's (sm_90; sources in arch-specs/h100.yaml), or an estimate.
 *   plain      lanes of plain units; special: of special functions
 *   banks      bytes a cycle of shared memory, and of a row of its banks; l2: bytes a cycle that come from outside
 *   memory     bytes of shared memory; reserve: of them, those that the system takes for each block
 *   registers  of 32 bits; most: of a thread; threads: that there is room for
 *   latency    cycles until a load from outside comes; barrier: until a barrier is passed; start: of a kernel behind
 *              another; point: of a point's instructions on plain units; wait: of a thread for its operands
 *   share      part of the tensor cores' rate that mma.sync comes to */
/* clang-format off */
#define TF_MULTIPROCESSOR_FIELDS(X)                                                                        \
  X(plain, "plain", 128, false, false) X(special, "special", 16, false, false) X(banks, "banks", 128, true, false) \
  X(l2, "l2", 64, true, false) X(memory, "memory", 233472, true, false) X(reserve, "reserve", 1024, true, true) \
  X(registers, "registers", 65536, false, false) X(most, "most", 255, false, false)                        \
  X(threads, "threads", 2048, false, false) X(latency, "latency", 600, false, true)                        \
  X(barrier, "barrier", 30, false, true) X(start, "start", 6000, false, true) X(point, "point", 4, false, false) \
  X(wait, "wait", 24, false, true) X(share, "share", 0.63, false, false)
/* clang-format on */
typedef struct {
#define X(id, key, usual, bytes, none) double id;
  TF_MULTIPROCESSOR_FIELDS(X)
#undef X
} tf_multiprocessor;

TF_API tf_multiprocessor tf_multiprocessor_usual(void); /* the default figures */

/* The whole machine; rows as above, beside its memories and units.
 *   core, multiprocessor   of whatever core runs an emitted kernel, and of a GPU */
/* clang-format off */
#define TF_ARCH_FIELDS(X)                                                                   \
  X(double, clock_hz, ) X(int, word_bits, ) X(int, technology_nm, ) X(tf_overlap, overlap, ) \
  X(tf_core, core, ) X(tf_multiprocessor, multiprocessor, )
/* clang-format on */
typedef struct {
  const char *name;
  tf_loc at;
  TF_ARCH_FIELDS(TF_FIELD)
  int n_memories; /* >= 1 */
  tf_memory *memories;
  int n_units;
  tf_unit *units;
} tf_arch;
#undef TF_FIELD

/* Area in um2 of all instances of all memories and units on the chip: as given, else by the documented table.  source
 * may be NULL. */
typedef enum { TF_AREA_GIVEN, TF_AREA_TABLE, TF_AREA_BOTH } tf_area_source;
TF_API double tf_arch_area(const tf_arch *a, tf_area_source *source);

/* The memory in which a core's blocks should stay between ops.  Candidates are the bounded memories inside the
 * outermost one, without the innermost (registers) if there are others.  It is the first candidate whose instances are
 * independent (its mesh has several, or its network neither multicasts nor reduces); if there is none: the outermost
 * candidate, or, of three and more, the one inside it, as a last-level cache is shared by all cores.  0: no
 * candidate. */
TF_API int tf_arch_close(const tf_arch *a);

/* ---- workload -------------------------------------------------------------------- */
typedef struct {
  const char *name;
  tf_loc at;
  int64_t extent; /* >= 1 */
} tf_dim;

/* An affine index: c + sum coef[i] * dim[i]; dims are distinct, coefs non-zero. */
typedef struct {
  int dim;
  int64_t coef;
} tf_term;
typedef struct {
  int n_terms;
  tf_term *terms;
  int64_t c;
} tf_index;

typedef struct {
  int tensor;
  tf_index *index; /* [rank of tensor] */
  tf_loc at;
} tf_ref;

typedef struct {
  const char *name;
  tf_loc at;
  int rank;
  int64_t *lo;     /* [rank] first coordinate of the tensor (0 unless padding shifts it) */
  int64_t *extent; /* [rank] words along the rank: it covers lo .. lo + extent - 1 */
  int64_t *pad;    /* [rank] how far outside it may be read (reads there give zero) */
  int word_bits;
  int producer;    /* op index, -1: workload input */
  int n_consumers; /* ops that read it, each once, in op order; 0: workload output */
  int *consumers;
  int view_of; /* number of a tensor, + 1: its words, in their order, are these under other coordinates; 0: none.
                  producer is then that tensor's, and whoever reads this one is among that one's consumers */
} tf_tensor;
/* Its elements, padding not counted: the product of its extents, which the reader has found to be below 2^63. */
TF_API int64_t tf_tensor_words(const tf_tensor *z);

typedef enum { TF_ASSIGN, TF_REDUCE_ADD, TF_REDUCE_MUL, TF_REDUCE_MAX, TF_REDUCE_MIN } tf_reduce;

/* Element expression, nodes in evaluation order (operands before their use, root last). */
typedef struct {
  enum { TF_X_NUMBER, TF_X_READ, TF_X_CALL, TF_X_DIM } what;
  tf_kind call;  /* TF_X_CALL: ADD SUB MUL DIV NEG, a comparison, or a function */
  int n_args;    /* TF_X_CALL: 1..3 */
  int arg[3];    /* indices of earlier nodes */
  int ref;       /* TF_X_READ: index into reads */
  int dim;       /* TF_X_DIM: dim of the workload, whose coordinate is the value */
  double number; /* TF_X_NUMBER; may be infinite */
} tf_expr;

typedef struct {
  const char *name;
  tf_loc at;
  int n_dims;
  int *dims;      /* its iteration space: output dims first, in output order, then reduced ones */
  int out;        /* the tensor it produces; rank r of it is dims[r] */
  int n_out_dims; /* == rank of out */
  tf_reduce reduce;
  int n_reads;
  tf_ref *reads; /* one per reference in the text, in order (a tensor may appear twice) */
  int n_expr;
  tf_expr *expr;
  uint32_t kinds; /* what a unit must list to run it; `+= a * b` is MAC only */
} tf_op;

typedef struct {
  const char *name;
  tf_loc at;
  int n_dims, n_tensors, n_ops;
  tf_dim *dims;
  tf_tensor *tensors;
  tf_op *ops; /* in the order of the file */
  int *topo;  /* [n_ops] op indices, producers before consumers, file order otherwise */
} tf_workload;

/* ---- instructions ------------------------------------------------------------------ */
enum { TF_INSTR_LOOPS = 8, TF_INSTR_OPERANDS = 6 }; /* upper limits; operands include the output */

/* A part of an element's offset in an operand's tile: stride * (loop, loop / by, or loop % by). */
typedef struct {
  int loop;
  enum { TF_LAYOUT_WHOLE, TF_LAYOUT_DIV, TF_LAYOUT_MOD } part;
  int64_t by, stride;
} tf_layout;

typedef struct {
  tf_loc at;
  const char *type; /* "f16"; NULL: not given */
  int bits;         /* of an element */
  int memory;       /* memory of the architecture that a call reads it from or writes it to; -1: not given */
  int64_t words;    /* of a tile */
  int n_layout;
  tf_layout *layout;
} tf_operand;

/* How the CPU's generator calls it (docs/FORMATS.md).  Loops of `compute` say the rest: what a register holds. */
enum { TF_INSTR_ISAS = 8 };
typedef struct {
  tf_loc at, call_at;
  int n_isas;
  struct {
    const char *name; /* a key of TF_ISAS; emit.h */
    tf_loc at;
  } isa[TF_INSTR_ISAS];
  const char *call;    /* C over the names of the operands; its value is the output's */
  const char *kernel;  /* what emitted text names it by; the instruction's name unless given */
  const char *flags;   /* options of gcc and clang beside those of the instruction sets; "": none */
  const char *defines; /* the macro that these options define; NULL: none */
} tf_instr_emit;

/* What one call computes (its compute abstraction) is a workload of one op: the op's dims, in order, are the
 * instruction's loops, their extents its sizes; the op's reads, then its output, are its operands. */
typedef struct {
  const char *name, *intrinsic; /* intrinsic: its name in a compiler; NULL: not given */
  tf_loc at;
  const tf_workload *body;
  int n_loops, n_operands;
  int64_t size[TF_INSTR_LOOPS];
  tf_operand operand[TF_INSTR_OPERANDS];
  int below;                  /* index of the memory each instance of which has one unit; -1: one unit in all */
  double latency, throughput; /* latency: cycles until the result; throughput: calls a cycle of one unit */
  const tf_instr_emit *emit;  /* NULL: no kernel is written with it */
} tf_instr;

/* ---- reading --------------------------------------------------------------------- */
/* The contents of a set of files.  arch, workload: NULL if no file has that section.  mapping_text: NULL if absent;
 * mapping_at: the place of its first character (line n of the text is at mapping_at.line + n, columns count from
 * mapping_at.col).  All memory belongs to the tf_spec. */
typedef struct tf_spec {
  const tf_arch *arch;
  const tf_workload *workload;
  const char *mapping_text;
  tf_loc mapping_at;
  int n_instrs;
  const tf_instr *instrs;
} tf_spec;

typedef struct {
  const char *name, *value; /* --set NAME=VALUE: overrides params of that name; arch.NAME, workload.NAME: of one file */
} tf_setting;

/* A named text. */
typedef struct {
  const char *name, *text; /* text NULL: could not be read, which was reported */
  size_t len;
} tf_text;

/* Reads a whole file, at most 16 MiB; "-" is stdin, named <stdin>.  text is malloc'd, the caller frees; NULL with an
 * error in d. */
TF_API tf_text tf_text_read(const char *path, tf_diags *d);
/* The same of a file of at most so many bytes. */
TF_API tf_text tf_text_read_most(const char *path, size_t most, tf_diags *d);

/* The i-th param of the files, in the order they were read; NULL past the last.  *value, unless value is NULL: its
 * value. */
TF_API const char *tf_spec_param(const tf_spec *s, size_t i, double *value);

/* Reads and checks the files; NULL with every error of every file in d. */
TF_API tf_spec *tf_spec_read(const char *const *paths, size_t n_paths, const tf_setting *set, size_t n_set,
                             tf_diags *d);
/* The same from memory. */
TF_API tf_spec *tf_spec_read_texts(const tf_text *texts, size_t n, const tf_setting *set, size_t n_set, tf_diags *d);
TF_API void tf_spec_free(tf_spec *s);

/* Whether no tensor is a view of another; if one is, an error in d.  For whatever takes one mapping of the whole
 * workload: only networks (tileflow/net.h), which are cut into groups at them, may have views. */
TF_API bool tf_no_views(const tf_workload *wl, tf_diags *d);

#ifdef __cplusplus
}
#endif
#endif
