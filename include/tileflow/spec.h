/* Architecture and workload as read: plain data, owned by the tf_spec that holds them.  Meaning:
 * docs/FORMATS.md and docs/SEMANTICS.md section 1. */
#ifndef TILEFLOW_SPEC_H
#define TILEFLOW_SPEC_H
#include "tileflow/diag.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- architecture ---------------------------------------------------------------- */
typedef enum { TF_OVERLAP_PERFECT, TF_OVERLAP_DOUBLE_BUFFER, TF_OVERLAP_NONE } tf_overlap;
/* How the instances of a memory hang together with the one above; NO: words pass, and only their
 * way is counted. */
typedef enum {
  TF_NO_TOPOLOGY,
  TF_MESH,
  TF_TORUS,
  TF_TREE,
  TF_BUS,
  TF_CROSSBAR,
  TF_N_TOPOLOGIES
} tf_topology;
TF_API const char *tf_topology_key(tf_topology t); /* "mesh"; NULL: none */

/* ---- what zeros save (docs/SEMANTICS.md section 8) ---- */
/* A tensor that a format or a rule names. */
typedef struct {
  const char *name;
  tf_loc at;
} tf_chosen;

/* The tensors that it names; n 0: all that have zeros. */
typedef struct {
  int n;
  tf_chosen *names;
} tf_selection;

/* How the coordinates of one rank are told. */
typedef enum {
  TF_PACK_NONE,
  TF_PACK_BITMASK,
  TF_PACK_RUNS,
  TF_PACK_COORDINATE,
  TF_PACK_OFFSETS,
  TF_PACK_FLAGS,
  TF_N_PACKS
} tf_pack;
typedef struct {
  tf_pack pack;
  int bits; /* of an entry; 0: as many as its values need */
} tf_packing;

/* How a memory holds tensors: `ranks` are those of the tensor, outermost first; the first stands
 * for all further out.
 */
typedef struct {
  tf_loc at;
  tf_selection tensors;
  int n_ranks; /* >= 1 */
  tf_packing *ranks;
  bool priced; /* an entry has an energy of its own; if not, its bits have that of the memory's
                  words */
  double read_pj, write_pj;
} tf_format;
typedef struct {
  int n;
  tf_format *list;
} tf_formats;

/* What is left out where one of `on` is zero: accesses to the targets, or, at a unit, its points.
 */
typedef struct {
  tf_loc at;
  tf_selection target, on;
  bool tiles; /* of a memory: it is about tiles that inner memories fetch, not about accesses of
                 units */
} tf_rule;
typedef struct {
  int n;
  tf_rule *list;
} tf_rules;

/* ---- how tensors lie in a memory with lines (docs/SEMANTICS.md section 9) ---- */
typedef enum { TF_LAYOUT_WHOLE, TF_LAYOUT_DIV, TF_LAYOUT_MOD } tf_layout_part;
/* A rank of the tensor, rank / by, or rank % by. */
typedef struct {
  int rank;
  tf_layout_part part;
  int64_t by;
} tf_laid_part;
/* Its parts, the last one the fastest: each rank whole, or in two parts by the same number. */
typedef struct {
  tf_chosen tensor;
  int n;
  tf_laid_part *parts;
} tf_laid;
typedef struct {
  int n;
  tf_laid *list;
} tf_laids;

/* Every key of a file has one row, from which its field here, its reader, the identity of a
 * machine, the tables of docs/FORMATS.md and the JSON Schema follow (model/input/table/keys.h):
 *   KEY(kind, key, type, field, size, usual, left, words)
 *   PART(kind, key, left, words)          a key that has no field of its own
 * kind: how it is read and what it may be (TF_KEY_KINDS).  usual: the value if it is left out;
 * left: what the docs say of that, "": the value itself.  words: its meaning, for the docs. Members
 * of a map have the map's key before them, with a dot; their row follows that of the map.  ALSO: a
 * field that the key above sets, too, and its meaning. */
#define TF_MUST "an error" /* `left` of a key that must be given */

#define TF_KEY_FIELD(kind, key, type, field, size, usual, left, words) type field size;
#define TF_NO_FIELD(kind, key, left, words)

/* What a tensor is to the ops below a Tile: made by one of them, or else the first or second that
 * one reads. */
typedef enum { TF_ROLE_LEFT, TF_ROLE_RIGHT, TF_ROLE_RESULT, TF_N_ROLES } tf_role;

/* Small memories side by side that stand for one, each for operands of its own (docs/SEMANTICS.md
 * section 4). */
/* clang-format off */
#define TF_PART_KEYS(KEY, PART)                                                                                        \
  KEY(NAME, "name", const char *, name, , 0, TF_MUST, "as for a memory")                                               \
  KEY(HOLDS, "holds", uint32_t, roles, , 0, TF_MUST,                                                                   \
      "some of `left`, `right` and `result`: the first tensor that an op reads, the second, and what it makes; each "  \
      "in one part alone") /* bit 1u << tf_role */                                                                     \
  KEY(WORDS, "capacity", int64_t, capacity_words, , 0, TF_MUST, "size") /* in words of the memory */                   \
  KEY(PLACE, "", tf_loc, capacity_at, , 0, "", "where the capacity is written")                                        \
  KEY(FLAG, "double-buffered", bool, double_buffered, , false, "",                                                     \
      "tiles take twice their words of this part; those of all parts do where the memory is `double-buffered`")        \
  KEY(BITS, "word-bits", int, word_bits, , 0, "the tensor's", "least width of an element in it")
/* clang-format on */
typedef struct {
  tf_loc at;
  TF_PART_KEYS(TF_KEY_FIELD, TF_NO_FIELD)
} tf_mem_part;
typedef struct {
  int n; /* 0: the memory is one */
  tf_mem_part list[TF_N_ROLES];
} tf_mem_parts;

/* Memories are numbered from 0 = outermost; the thesis's level n is index 0. */
/* clang-format off */
#define TF_MEMORY_KEYS(KEY, PART)                                                                                      \
  KEY(NAME, "name", const char *, name, , 0, TF_MUST,                                                                  \
      "letters, digits, `_ - .`; not a keyword of the mapping text")                                                   \
  KEY(MESH, "mesh", int64_t, mesh, [2], 1, "`[1, 1]`",                                                                 \
      "`[X, Y]` instances below one instance of the memory above; `[X]` is `[X, 1]`")                                  \
  KEY(PLACE, "", tf_loc, mesh_at, , 0, "", "where the mesh is written")                                                \
  KEY(WORDS, "capacity", int64_t, capacity_words, , -1, "no limit; with `parts`, their sum", "size") /* in words */       \
  KEY(PLACE, "", tf_loc, capacity_at, , 0, "", "where the capacity is written")                                        \
  KEY(PARTS, "parts", tf_mem_parts, parts, , 0, "it is one",                                                           \
      "memories side by side that it stands for, a list; see below")                                                   \
  KEY(RATES, "bandwidth", double, read_bw, , INFINITY, "no limit",                                                     \
      "rate: one port for both ways; or `{read: .., write: ..}`: two ports") /* words a cycle */                       \
  KEY(ALSO, "", double, write_bw, , INFINITY, "", "the same of writes")                                                \
  KEY(ALSO, "", bool, one_port, , false, "", "reads and writes share read_bw (== write_bw)")                           \
  KEY(PJS, "energy", double, read_pj, , 0, "a table, see below", "per word; or `{read: .., write: .., drain: ..}`")    \
  KEY(ALSO, "", double, write_pj, , 0, "", "the same of writes")                                                       \
  KEY(ALSO, "", double, drain_pj, , 0, "", "the same of words read to be written further out")                         \
  KEY(ALSO, "", bool, drain_given, , false, "", "if not, they take what others take")                                  \
  KEY(ALSO, "", bool, energy_from_table, , false, "", "read_pj and write_pj come from the documented table")           \
  KEY(LINE, "access", int64_t, access, , 1, "one word",                                                                \
      "size that an access moves: energy is that of whole ones, those of each instance rounded up") /* in words */     \
  KEY(LINE, "line", int64_t, line, , 0, "counts go by words",                                                          \
      "size of a row of a bank, or of what a DMA unit moves, which is read or written as a whole ([SEMANTICS.md](SEMANTICS.md) section 9)")         \
  KEY(BITS, "banks", int, banks, , 1, "", "banks in which its lines lie in turn")                                      \
  KEY(BITS, "bank-ports", int, bank_ports, , 1, "", "lines that a bank serves in a cycle")                             \
  KEY(PJ, "leakage", double, leak_pj, , 0, "", "energy per cycle of each instance of the machine, used or not")        \
  KEY(FLAG, "power-gated", bool, gated, , false, "", "instances that a mapping does not use leak nothing")             \
  PART(MAP, "network", "as its members", "the network that feeds it")                                                  \
  KEY(FLAG, "network.multicast", bool, multicast, , true, "", "a word for several instances is sent once")             \
  KEY(FLAG, "network.reduce", bool, reduce, , true, "", "words of one sum are added on their way out")                 \
  KEY(PJ, "network.energy-per-hop", double, hop_pj, , 0, "", "energy per word and hop")                                \
  KEY(TOPOLOGY, "network.topology", tf_topology, topology, , TF_NO_TOPOLOGY, "nothing holds words up",                 \
      "`mesh`, `torus`, `tree`, `bus` or `crossbar` ([SEMANTICS.md](SEMANTICS.md) section 5)")                         \
  KEY(RATE, "network.width", double, link_bw, , INFINITY, "no limit",                                                  \
      "words per cycle of each of its links, in each direction; with a topology")                                      \
  KEY(CYCLES, "network.hop-latency", double, hop_latency, , 0, "",                                                     \
      "time of a hop, charged with `latency`; with a topology")                                                        \
  KEY(FLAG, "network.peers", bool, peers, , false, "",                                                                 \
      "instances take inputs from a neighbour that has them, instead of the memory above; with `mesh` or `torus`")     \
  KEY(CYCLES, "latency", double, latency, , 0, "",                                                                     \
      "time of one transfer, charged where nothing hides it ([SEMANTICS.md](SEMANTICS.md) D15)")                       \
  KEY(CYCLES, "issue", double, issue, , 0, "", "time to issue one transfer, charged likewise")                         \
  KEY(FLAG, "double-buffered", bool, double_buffered, , false, "",                                                     \
      "tiles take twice their words: one half is used while the other is filled")                                      \
  KEY(BITS, "word-bits", int, word_bits, , 0, "the architecture's", "width of its words")                              \
  KEY(AREA, "area", double, area_um2, , 0, "a table, see below; the outermost memory is off chip", "of one instance")  \
  KEY(ALSO, "", bool, area_given, , false, "", "if not, tf_arch_area uses the documented table")                       \
  KEY(FORMATS, "format", tf_formats, formats, , 0, "words as they are",                                                \
      "how it holds tensors that have zeros, a list; see below")                                                       \
  KEY(RULES, "gating", tf_rules, gating, , 0, "none", "accesses that zeros save the energy of, a list; see below")     \
  KEY(RULES, "skipping", tf_rules, skipping, , 0, "none",                                                              \
      "accesses that zeros save the energy and the time of, a list; see below")
/* clang-format on */
typedef struct {
  tf_loc at;
  TF_MEMORY_KEYS(TF_KEY_FIELD, TF_NO_FIELD)
  tf_selection home; /* inputs and outputs that live in it, by the section `home`; n 0: none */
  tf_laids laid;     /* by the section `layout`; all others are row-major */
} tf_memory;

/* Kinds of work that a compute unit can list; one row per kind: id, key in YAML.  Comparisons,
 * which give 1 or 0, cannot be listed: a unit that selects also compares. */
/* clang-format off */
#define TF_KINDS(X)                                                                         \
  X(MAC, "mac") X(ADD, "add") X(SUB, "sub") X(MUL, "mul") X(DIV, "div") X(MAX, "max")       \
  X(MIN, "min") X(NEG, "neg") X(EXP, "exp") X(LOG, "log") X(SQRT, "sqrt") X(TANH, "tanh")   \
  X(ERF, "erf") X(SIGMOID, "sigmoid") X(RELU, "relu") X(GELU, "gelu") X(SILU, "silu") \
  X(ABS, "abs") X(FLOOR, "floor") X(CEIL, "ceil") X(ROUND, "round") X(TRUNC, "trunc")       \
  X(SIN, "sin") X(COS, "cos") X(FMOD, "fmod")                                               \
  X(SELECT, "select") X(COPY, "copy") X(LT, "<") X(LE, "<=") X(EQ, "==") X(NE, "!=")
/* clang-format on */
typedef enum {
#define X(id, key) TF_K_##id,
  TF_KINDS(X)
#undef X
      TF_N_KINDS
} tf_kind;

/* Compute units. */
/* clang-format off */
#define TF_UNIT_KEYS(KEY, PART)                                                                                        \
  KEY(NAME, "name", const char *, name, , 0, TF_MUST, "as for a memory")                                               \
  KEY(OPS, "ops", uint32_t, kinds, , 0, TF_MUST,                                                                       \
      "kinds it runs: `mac add sub mul div max min neg exp log sqrt tanh erf sigmoid relu gelu silu abs floor ceil " \
      "round trunc sin cos fmod select`; "     \
      "`copy` is always among them") /* bit 1u << tf_kind */                                                           \
  KEY(BELOW, "below", int, below, , 0, "the innermost", "the memory that feeds it") /* its index */                    \
  KEY(MESH, "mesh", int64_t, mesh, [2], 1, "`[1, 1]`",                                                                 \
      "`[X, Y]` units below one instance of that memory; `[X]` is `[X, 1]`")                                           \
  KEY(RATE, "rate", double, rate, , 1, "", "points per cycle of one unit")                                             \
  KEY(POINT, "energy", double, pj, , 0, "a table, see below", "per point")                                             \
  KEY(ALSO, "", bool, energy_from_table, , false, "", "pj comes from the documented table")                            \
  KEY(PJ, "leakage", double, leak_pj, , 0, "", "energy per cycle of each unit of the machine, used or not")            \
  KEY(FLAG, "power-gated", bool, gated, , false, "", "units that a mapping does not use leak nothing")                 \
  KEY(CYCLES, "pipeline", double, pipeline, , 0, "", "time to fill and drain the array once") /* unless hidden */      \
  PART(MAP, "network", "as its members", "the network between that memory and the units")                              \
  KEY(FLAG, "network.multicast", bool, multicast, , true, "", "a word for several units is sent once")                 \
  KEY(FLAG, "network.reduce", bool, reduce, , true, "", "words of one sum are added on their way out")                 \
  KEY(AREA, "area", double, area_um2, , 0, "a table, see below", "of one unit")                                        \
  KEY(ALSO, "", bool, area_given, , false, "", "if not, tf_arch_area uses the documented table")                       \
  KEY(POINTS, "gating", tf_rules, gating, , 0, "none", "points that zeros save the energy of, a list; see below")      \
  KEY(POINTS, "skipping", tf_rules, skipping, , 0, "none",                                                             \
      "points that zeros save the energy and the time of, a list; see below")
/* clang-format on */
typedef struct {
  tf_loc at;
  TF_UNIT_KEYS(TF_KEY_FIELD, TF_NO_FIELD)
} tf_unit;

/* What kernels cost a core in addition to the words and the work that the model counts; `emit`
 * ranks mappings and chooses layouts by it.  The usual figures are those of a Zen 5 core, set so
 * that layers of ResNet and YOLO rank as they were measured. */
/* clang-format off */
#define TF_CORE_KEYS(KEY, PART)                                                                                        \
  KEY(COST, "tile", double, tile, , 20, "", "cycles to enter and leave a tile of a micro-kernel")                      \
  KEY(COUNT, "latency", double, latency, , 4, "", "cycles from the start of a multiply-add to its result")             \
  KEY(COUNT, "ports", double, ports, , 2, "", "how many multiply-adds, and how many loads, can begin in a cycle")      \
  KEY(COUNT, "copy", double, copy, , 4, "", "words per cycle that are packed row by row")                              \
  KEY(COUNT, "transpose", double, transpose, , 2, "", "words per cycle that are transposed in squares")                          \
  KEY(COST, "gather", double, gather, , 2, "",                                                                       \
      "cycles to lay out an element by itself, between others of another row")                                         \
  KEY(COST, "square", double, square, , 9, "", "cycles per lane to transpose a square of as many rows and store it")   \
  KEY(COST, "row", double, row, , 8, "", "cycles to begin a row that is packed or computed")                           \
  KEY(COST, "page-crossing", double, page_crossing, , 60, "", "the same if it is a page or more from the row before")                    \
  KEY(COST, "exponential", double, exponential, , 16, "",                                                                        \
      "cycles to compute what a row is multiplied by: an exponential, or an inverse")                                  \
  KEY(COST, "strided-access", double, strided_access, , 2, "",                                                                               \
      "cycles that a tile waits for a vector of an operand whose rows are pages apart")                                \
  KEY(ROOM, "l1-resident", double, l1_resident, , 32768, "",                                                                       \
      "size of the part of an operand that stays close to the core from one block of rows to the next")                \
  KEY(COUNT, "stream", double, stream, , 2, "", "words per cycle that arrive from further out while tiles multiply")   \
  KEY(COUNT, "exposed-bandwidth", double, exposed_bandwidth, , 8, "", "the same for the time that the tiles do not hide, which is added")        \
  KEY(SIZE, "line", double, line, , 64, "", "size of a cache line")                                                    \
  KEY(SIZE, "page", double, page, , 4096, "", "size of a page")                                                        \
  KEY(COST, "tlb-entries", double, tlb_entries, , 1024, "", "entries of a core's TLB")                                             \
  KEY(COST, "tlb-miss", double, tlb_miss, , 100, "", "cycles of a miss of the TLB")                                        \
  KEY(COUNT, "multiply", double, multiply, , 16, "", "cycles of a tile multiplication of AMX")                         \
  KEY(COST, "store", double, store, , 32, "", "cycles to store a tile's sums, and as many to load them")
/* clang-format on */
typedef struct {
  TF_CORE_KEYS(TF_KEY_FIELD, TF_NO_FIELD)
} tf_core;

TF_API tf_core tf_core_usual(void); /* the default figures */

/* A GPU's multiprocessor, one instance of the memory that blocks of threads have each for
 * themselves, as kernels find it in addition to what the model counts; `emit --target cuda` ranks
 * and lays out by it.  What holds if left out is an H100's (sm_90; sources in
 * arch-specs/h100.yaml), or an estimate. */
/* clang-format off */
#define TF_MULTIPROCESSOR_KEYS(KEY, PART)                                                                              \
  KEY(COUNT, "plain", double, plain, , 128, "", "lanes of the plain arithmetic units (CUDA cores)")                    \
  KEY(COUNT, "special", double, special, , 16, "", "lanes of the special-function units")                              \
  KEY(SIZE, "banks", double, banks, , 128, "",                                                                         \
      "bytes per cycle of shared memory, and the width of all its banks together")                                     \
  KEY(SIZE, "l2", double, l2, , 64, "", "bytes per cycle that come from L2")                                           \
  KEY(SIZE, "memory", double, memory, , 233472, "", "size of shared memory")                                           \
  KEY(ROOM, "reserve", double, reserve, , 1024, "", "the part of it that the system takes for each block")             \
  KEY(COUNT, "registers", double, registers, , 65536, "", "registers of 32 bits")                                      \
  KEY(COUNT, "most", double, most, , 255, "", "most registers that one thread may have")                               \
  KEY(COUNT, "threads", double, threads, , 2048, "", "threads that fit at once")                                       \
  KEY(COST, "latency", double, latency, , 600, "", "cycles until a load from global memory arrives")                   \
  KEY(COST, "barrier", double, barrier, , 30, "", "cycles to pass a barrier")                                          \
  KEY(COST, "start", double, start, , 6000, "", "cycles from one kernel to the start of the next")                     \
  KEY(COUNT, "point", double, point, , 4, "", "cycles of the instructions of one point on the plain units")            \
  KEY(COST, "wait", double, wait, , 24, "", "cycles that a thread waits for its operands")                             \
  KEY(COUNT, "share", double, share, , 0.63, "", "part of the tensor cores' peak rate that `mma.sync` reaches")
/* clang-format on */
typedef struct {
  TF_MULTIPROCESSOR_KEYS(TF_KEY_FIELD, TF_NO_FIELD)
} tf_multiprocessor;

TF_API tf_multiprocessor tf_multiprocessor_usual(void); /* the default figures */

/* The whole machine. */
/* clang-format off */
#define TF_ARCH_KEYS(KEY, PART)                                                                                        \
  KEY(TITLE, "name", const char *, name, , 0, "`architecture`", "any text")                                            \
  KEY(HZ, "clock", double, clock_hz, , 1e9, "1 GHz; an error where a unit needs it (`GB/s`, `ns`)", "frequency")       \
  KEY(BITS, "word-bits", int, word_bits, , 16, "", "width of an element")                                              \
  KEY(OVERLAP, "overlap", tf_overlap, overlap, , TF_OVERLAP_DOUBLE_BUFFER, "`double-buffer`",                          \
      "`perfect`, `double-buffer` or `none`")                                                                          \
  PART(MEMORIES, "memories", TF_MUST, "list, outermost first, 1 to 16")                                                \
  PART(UNITS, "compute", TF_MUST, "list of units, 1 to 16")                                                            \
  KEY(NM, "technology", int, technology_nm, , 45, "45 nm", "feature size, scales the default energies")                \
  KEY(CORE, "core", tf_core, core, , 0, "the defaults below",                                                          \
      "costs of kernels on a CPU core that the model does not count, for `emit`; see below")                           \
  KEY(MULTIPROCESSOR, "multiprocessor", tf_multiprocessor, multiprocessor, , 0, "the defaults below",                  \
      "figures of a GPU's multiprocessor, for `emit --target cuda`; see below")
/* clang-format on */
typedef struct {
  tf_loc at;
  TF_ARCH_KEYS(TF_KEY_FIELD, TF_NO_FIELD)
  int n_memories; /* >= 1 */
  tf_memory *memories;
  int n_units;
  tf_unit *units;
} tf_arch;
#undef TF_KEY_FIELD
#undef TF_NO_FIELD

/* Whether some memory has lines. */
TF_API bool tf_arch_lines(const tf_arch *a);

/* Area in um2 of all instances of all memories and units on the chip: as given, else by the
 * documented table.  source may be NULL. */
typedef enum { TF_AREA_GIVEN, TF_AREA_TABLE, TF_AREA_BOTH } tf_area_source;
TF_API double tf_arch_area(const tf_arch *a, tf_area_source *source);

/* Energy in pJ that memory l leaks in a cycle while so many of its instances are in use: all leak,
 * or, power gated, those. The same of units of kind u. */
TF_API double tf_memory_leakage(const tf_arch *a, int l, int64_t in_use);
TF_API double tf_unit_leakage(const tf_arch *a, int u, int64_t in_use);
/* What the whole machine leaks in a cycle at least, whatever the mapping: of gated memories one
 * instance, of gated units none. */
TF_API double tf_arch_leakage(const tf_arch *a);

/* Whether they are the same machine to the model: all keys but names, and figures of kernels. */
TF_API bool tf_arch_same(const tf_arch *a, const tf_arch *b);

/* The memory in which a core's blocks should stay between ops.  Candidates are the bounded memories
 * inside the outermost one, without the innermost (registers) if there are others.  It is the first
 * candidate whose instances are independent (its mesh has several, or its network neither
 * multicasts nor reduces); if there is none: the outermost candidate, or, of three and more, the
 * one inside it, as a last-level cache is shared by all cores.  0: no candidate. */
TF_API int tf_arch_near_cache(const tf_arch *a);

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

/* Elements of a tensor by their number in row-major order: from `from` on, before `to`. */
typedef struct {
  int64_t from, to;
} tf_stretch;

/* Which elements of a tensor are not zero.  GUESSED: not given; derived from the op that makes it
 * (model/sparse). TILES: blocks of elements that are zero together.  KNOWN: those of a band, or of
 * a file. */
typedef enum {
  TF_FALL_GUESSED,
  TF_FALL_UNIFORM,
  TF_FALL_BLOCKS,
  TF_FALL_TILES,
  TF_FALL_KNOWN
} tf_fall;
typedef struct {
  tf_fall fall;
  double share; /* of elements, more than 0, at most 1 */
  int rank;     /* BLOCKS: n of every m consecutive elements along this rank, from its first on */
  int64_t n, m;
  int64_t *tile; /* TILES: [rank] extents of a block, which divide those of the tensor */
  int n_runs;    /* KNOWN: the elements that are not zero, in order; no two runs meet */
  tf_stretch *runs;
} tf_density;

/* What kernels of integers (int8) hold a tensor's elements as.  UNSAID: it is no group's of a
 * network; the width of its words says.  SUMS: int32, of products of bytes. */
typedef enum {
  TF_HELD_UNSAID,
  TF_HELD_WIDE,
  TF_HELD_SIGNED,
  TF_HELD_UNSIGNED,
  TF_HELD_SUMS
} tf_held_as;

typedef struct {
  const char *name;
  tf_loc at;
  int rank;
  int64_t *lo;     /* [rank] first coordinate of the tensor (0 unless padding shifts it) */
  int64_t *extent; /* [rank] words along the rank: it covers lo .. lo + extent - 1 */
  int64_t *pad;    /* [rank] how far outside it may be read (reads there give zero) */
  int word_bits;
  bool says_bits;  /* the workload gives its word_bits */
  bool no_sign;    /* of an input of at most 8 bits: whole numbers from 0 on, not int8 */
  tf_held_as held; /* of a group's, as the network has it (net/cut.c) */
  bool ranged; /* no element is below `least` or above `most`: promised by the workload, or known
                  (net/cut.c) */
  int64_t least, most;
  int producer;    /* op index, -1: workload input */
  int n_consumers; /* ops that read it, each once, in op order; 0: workload output */
  int *consumers;
  tf_density density;
  const char
      *known_as; /* the name by which formats and rules of a machine know it; NULL: its own */
  int view_of;   /* number of a tensor, + 1: its words, in their order, are these under other
                    coordinates; 0: none.  producer is then that tensor's, and whoever reads this one
                    is among that one's consumers */
} tf_tensor;
/* Its elements, padding not counted: the product of its extents, which the reader has found to be
 * below 2^63. */
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

/* Tokens that a router sends to `top` of `experts` each, all choices as likely; the steps of a dim
 * are experts, or those of them that are expected to run (docs/SEMANTICS.md section 8). */
typedef struct {
  int dim;
  int64_t tokens, top, experts; /* experts 0: none are routed */
} tf_routing;
/* The tokens that the busiest of so many equal parts of the experts is expected to have; NAN: they
 * do not divide the experts. */
TF_API double tf_routing_busiest(const tf_routing *of, int64_t parts);

typedef struct {
  const char *name;
  tf_loc at;
  int n_dims, n_tensors, n_ops;
  tf_dim *dims;
  tf_tensor *tensors;
  tf_op *ops; /* in the order of the file */
  int *topo;  /* [n_ops] op indices, producers before consumers, file order otherwise */
  tf_routing routing;
} tf_workload;

/* The memory in which an input or output of the workload lives: the one that the section `home`
 * gives it, else the outermost. */
TF_API int tf_arch_home(const tf_arch *a, const tf_tensor *z);
/* Whether some input or output lives elsewhere than in the outermost memory. */
TF_API bool tf_arch_homes(const tf_arch *a, const tf_workload *wl);

/* ---- instructions ------------------------------------------------------------------ */
enum { TF_INSTR_LOOPS = 8, TF_INSTR_OPERANDS = 6 }; /* upper limits; operands include the output */

/* A part of an element's offset in an operand's tile: stride * (loop, loop / by, or loop % by). */
typedef struct {
  int loop;
  tf_layout_part part;
  int64_t by, stride;
} tf_layout;

typedef struct {
  tf_loc at;
  const char *type; /* "f16"; NULL: not given */
  int bits;         /* of an element */
  int memory; /* memory of the architecture that a call reads it from or writes it to; -1: not given
               */
  int64_t words; /* of a tile */
  int n_layout;
  tf_layout *layout;
} tf_operand;

/* How the CPU's generator calls it (docs/FORMATS.md).  Loops of `compute` say the rest: what a
 * register holds. */
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

/* What one call computes (its compute abstraction) is a workload of one op: the op's dims, in
 * order, are the instruction's loops, their extents its sizes; the op's reads, then its output, are
 * its operands. */
typedef struct {
  const char *name, *intrinsic; /* intrinsic: its name in a compiler; NULL: not given */
  tf_loc at;
  const tf_workload *body;
  int n_loops, n_operands;
  int64_t size[TF_INSTR_LOOPS];
  tf_operand operand[TF_INSTR_OPERANDS];
  int below; /* index of the memory each instance of which has one unit; -1: one unit in all */
  double latency,
      throughput; /* latency: cycles until the result; throughput: calls a cycle of one unit */
  const tf_instr_emit *emit; /* NULL: no kernel is written with it */
} tf_instr;

/* ---- reading --------------------------------------------------------------------- */
/* The contents of a set of files.  arch, workload: NULL if no file has that section.  mapping_text:
 * NULL if absent; mapping_at: the place of its first character (line n of the text is at
 * mapping_at.line + n, columns count from mapping_at.col).  All memory belongs to the tf_spec. */
typedef struct tf_spec {
  const tf_arch *arch;
  const tf_workload *workload;
  const char *mapping_text;
  tf_loc mapping_at;
  int n_instrs;
  const tf_instr *instrs;
} tf_spec;

typedef struct {
  const char *name, *value; /* --set NAME=VALUE: overrides params of that name; arch.NAME,
                               workload.NAME: of one file */
} tf_setting;

/* A named text. */
typedef struct {
  const char *name, *text; /* text NULL: could not be read, which was reported */
  size_t len;
} tf_text;

/* Reads a whole file, at most 16 MiB; "-" is stdin, named <stdin>.  text is malloc'd, the caller
 * frees; NULL with an error in d.  name is `path` itself, which must last as long. */
TF_API tf_text tf_text_read(const char *path, tf_diags *d);
/* The same of a file of at most so many bytes. */
TF_API tf_text tf_text_read_most(const char *path, size_t most, tf_diags *d);

/* The i-th param of the files, in the order they were read; NULL past the last.  *value, unless
 * value is NULL: its value. */
TF_API const char *tf_spec_param(const tf_spec *s, size_t i, double *value);

/* Reads and checks the files; NULL with every error of every file in d. */
TF_API tf_spec *tf_spec_read(const char *const *paths, size_t n_paths, const tf_setting *set,
                             size_t n_set, tf_diags *d);
/* The same from memory. */
TF_API tf_spec *tf_spec_read_texts(const tf_text *texts, size_t n, const tf_setting *set,
                                   size_t n_set, tf_diags *d);
TF_API void tf_spec_free(tf_spec *s);

/* The JSON Schema of a section (architecture, workload or mapping; "": of whole files), for editors
 * (docs/HOWTO-arch.md), from the tables of keys.  Malloc'd, the caller frees; NULL: out of memory,
 * or there is none of this section. */
TF_API char *tf_file_schema(const char *section);
/* That of architectures. */
TF_API char *tf_arch_schema(void);

/* Whether no tensor is a view of another; if one is, an error in d.  For whatever takes one mapping
 * of the whole workload: only networks (tileflow/net.h), which are cut into groups at them, may
 * have views. */
TF_API bool tf_no_views(const tf_workload *wl, tf_diags *d);

#ifdef __cplusplus
}
#endif
#endif
