/* Notes of the CPU's passes on statements, read by its printer: products and their packed operands,
 * sums over windows, prefetches. codegen/ir passes notes on without reading them. */
#ifndef CODEGEN_BACKEND_CPU_NOTE_NOTE_H
#define CODEGEN_BACKEND_CPU_NOTE_NOTE_H
#include "codegen/ir/ir.h"

/* Which panels the tiles of a nest prefetch for the nest that runs next. */
typedef enum {
  CPU_NEXT_NONE,  /* none: they are cached */
  CPU_NEXT_SAME,  /* those of this nest, also where the next ones are not known */
  CPU_NEXT_LANES, /* the next panels along n */
  CPU_NEXT_SUMS   /* the next panels along the outermost reduced dim */
} cpu_next;

/* How a product is computed. PAIRS: as one matrix product for each setting of the outer dims.
 * SKINNY: likewise, with few rows (m) and a large b, which is read in place. CHANNELS: with vector
 * lanes along channels, where k stands for all reduced dims. SPARSE: from the nonzero elements of a
 * alone, each times a row of b. */
typedef enum { CPU_PAIRS, CPU_SKINNY, CPU_CHANNELS, CPU_SPARSE } cpu_product_kind;

/* A nest that is a matrix product: out[.., m, .., n] += a[.., m, k] * b[.., k, n], with loops over
 * all other dims outside. m, n, k are positions among the op's dims, a and b among its reads;
 * buffers are -1 where there is none. m is -1 if the output's only row has no dim. */
typedef struct {
  int m, n, k, a, b;
  const ir_kernel *kernel;
  int pack;         /* buffer for the packed b (CPU_CHANNELS: a); -1: it is read in place */
  ir_range *slab;   /* [rank of the operand] the box, padding included, that `pack` holds for the
                       whole nest; NULL: `pack` holds a panel of one setting of the outer dims, rows
                       of n side by side */
  int64_t *slab_by; /* [rank of the operand] above 1: the nest reads only every so many-th element
                       along the rank, and only these are packed */
  bool keep_slab;   /* the slab is of an argument: it stays valid until its box changes */
  int64_t stride;   /* of n along b's last rank; above 1, rows of the slab hold one phase (residue)
                       after the other */
  cpu_product_kind kind;
  union {
    struct {
      int64_t pitch; /* without a slab: the row pitch of `pack`, in elements, or in the kernel's
                       groups */
      int64_t steps; /* above 0: b is streamed in panels of `pitch` columns by so many groups of k,
                        of which `pack` holds the current one and the next; all panels of `strip`
                        columns, a multiple of `pitch`, come before the next groups of k. 0: `pack`
                        holds the whole box */
      int64_t strip;
      bool rows_span_pages; /* rows of b (elements adjacent along k) are a page or more apart, and b
                   is not packed */
      bool keep_pack; /* b is an argument: the packed copy stays valid until the box changes */
      int64_t *slots_along; /* [dims of the op] number of boxes along the dim that have a slot of
                          `pack` each, 1: no slots of their own; NULL: all boxes share one slot */
      int transposed; /* buffer for a transposed: m innermost, then k, then its other dims; valid
                         until its box changes */
      int copy; /* buffer for rows of a in the kernel's layout, of one setting of the outer dims */
      bool keep_copy; /* a is an argument */
      const struct ir_stmt
          *copy_in; /* the loop throughout which the copy stays valid, as its steps do not write a;
                       NULL: the copy is valid for one setting of the outer dims */
      int panels;   /* buffer with all of b in panels of `columns` along n and `deep` along k: k
                       innermost, then n, then b's other dims. The caller may pack it, else it is
                       unused. b is an argument, each rank of which one dim moves alone. -1: not
                       offered */
      int64_t columns, deep;
      bool merged; /* rows of the output's dim before n, and those of b, are contiguous (of
                      arguments: if their strides at run time say so) and are treated as one */
    } pairs;
    struct {
      bool along_k;     /* b and a are contiguous along k; else b is contiguous along n */
      bool held;        /* sums stay in registers, as in tf_micro_few */
      int strip, block; /* of columns, as in tf_micro_few */
    } skinny;
    /* Loops of the nest, outermost first: groups (cpu_is_group) in the order of the op's dims, n in
     * panels, the other outer dims. m is the output's last dim, n another of its dims. Elements of
     * a are broadcast from any address, so that neither windows nor strides need a copy, and short
     * rows leave no lane idle; the tile is transposed when it is stored. b is an argument indexed
     * by groups, n and reduced dims alone; its panels, group after group, are packed once, by the
     * cpu_packs of ir_program.notes. */
    struct {
      int64_t row_step; /* of m along a's last rank */
      bool joined; /* short rows are joined along the output's dim before m, which is short, too */
      int panel;   /* columns of n in a panel ... */
      int last;    /* ... and in the last panel, rounded up to vectors */
      cpu_next next; /* which panels to prefetch for the next nest */
      int groups; /* the reduced dim along which the kernel's groups of elements lie side by side,
                     in slab and panels, the last group padded with zeros; 0: groups have one
                     element */
      int groups_rank; /* the rank of a that this dim alone moves */
      int panels;    /* buffer with all of b in panels, each with a row of n for each setting of the
                        reduced dims */
      int64_t group; /* elements of the panels of one setting of the groups */
      int offsets;   /* buffer for the offsets of a's elements, one for each setting of the reduced
                        dims */
      /* The window, rows by columns, at the end of the reduced dims, of which tiles skip the
       * positions beyond a's borders. Columns: along m. Rows: along the output's dim before m,
       * which moves row_rank of a. */
      int window[2];
      ir_border column, row;
      int row_rank;
    } channels;
    /* a is an argument of two ranks, which m and k move alone. Of each block of `block_length`
     * elements along k at most `nonzeros` are not zero. The nonzero elements are packed once, with
     * their positions in their blocks, as panels: for each part of k, `deep` long, all rows, each
     * with `row_values` values. After all `values` values come their positions, one byte each. */
    /* Block-sparse, if `block` is set: blocks of `block` rows by `block_length` elements along k
     * are either zero or dense, and `nonzeros` is `block_length`. The dense ones follow one
     * another, a column of the block (its rows' values) for each element along k. After all
     * `values` values come the offsets at which each part of k and each row of blocks begins
     * (`starts` of them), then each block's position in its part. */
    struct {
      int nonzeros, block_length, block;
      int64_t starts; /* parts of k times rows of blocks, plus one */
      double share;   /* expected share of the blocks that are not zero */
      int panels,
          part_buffer; /* buffers: all of a; a part of b, laid out for the tiles that use it */
      int64_t deep, row_values, values;
      int rows, across; /* of a tile: rows of a, and vectors of columns of b */
    } sparse;
  };
} cpu_product;

/* A sum or maximum over a small window that is no matrix product: depthwise convolution, pooling.
 * Lanes run along the output's last dim, rows of a tile along the one before; maps that follow are
 * fused with it and read its sums from registers. codegen/backend/cpu/note/window.h describes its
 * reads. */
typedef struct {
  int taps;  /* number of positions of the window (settings of the reduced dims), constant */
  int value; /* the element of the op's expression that is summed */
  bool selects_identity; /* the op selects the identity of its reduction beyond the borders of what
                 it reads, so that these lanes keep the start value */
  int n_maps;
  const struct ir_stmt **maps;
  int fours; /* the read whose bytes, up to four neighbours along the innermost reduced dim, are
                multiplied by those of the other read and added up in int32 by one instruction; -1:
                none */
} cpu_window;

/* A prefetch of rows of an argument that a product of kind PAIRS, a map or a window will read or
 * write: the box of its current range, moved by shift[dim of its op]. */
typedef struct {
  const ir_stmt *nest;
  int read; /* of a product a or b, of a window the read along which lanes run; -1: the output */
  const int64_t *shift;
} cpu_prefetch;

/* The panels of all of an argument that a product reads as b (SPARSE: as a). */
typedef struct {
  ir_note note; /* of ir_program.notes */
  int op;
  const cpu_product *product;
} cpu_pack;

/* The notes of one statement. */
typedef struct {
  ir_note note;
  /* NEST */
  const cpu_product *product; /* NULL: evaluated point by point */
  const cpu_window *window;   /* a sum over a small window; NULL: no */
  const ir_stmt *producer; /* the TOGETHER whose nests its product's kernel runs, to compute rows of
                          a; NULL: a is there already */
  const ir_stmt *rounded_for; /* the following statement for which its product stores the sums
                                rounded: a SAVE, or the NEST whose rows of a they are; NULL: none */
  const ir_stmt *map;    /* a following map of its sums to bytes, which the product's tiles compute
                            before they store; NULL: none */
  const ir_stmt *map_of; /* of such a map: the nest of the product */
  bool copied;      /* the product before stores its sums in the layout that this one needs of a */
  int n_prefetches; /* what its product, or its window, prefetches while it computes ... */
  const cpu_prefetch *prefetches;
  unsigned prefetched; /* ... and which of its own operands others prefetch: bit 0 the output, bit 1
                          + i read i */
  /* Nothing is printed. NEST: a map fused into the window or product before; SAVE: likewise. */
  bool fused;
  /* TOGETHER: it computes rows of `a` for the following product, whose kernel runs it one tile
   * ahead of its multiplications. */
  bool overlapped;
} cpu_note;
extern const cpu_note cpu_no_note; /* empty; its address marks the CPU's notes */

/* The CPU's note of the statement, or cpu_no_note. */
static inline const cpu_note *cpu_of(const ir_stmt *s) {
  return s->note && s->note->owner == &cpu_no_note ? (const cpu_note *)s->note : &cpu_no_note;
}
/* A copy of the statement's note that may be written; copies of the statement keep the old one.
 * NULL: out of memory, which the arena remembers. */
cpu_note *cpu_edit(const ir_program *p, ir_stmt *s);
/* The product of a nest; NULL for all other statements. */
static inline const cpu_product *cpu_product_of(const ir_stmt *s) { return cpu_of(s)->product; }
/* The i-th of a program's packs. */
static inline const cpu_pack *cpu_pack_at(const ir_program *p, int i) {
  return (const cpu_pack *)p->notes[i];
}

/* The buffer of the panels, whether packed before the body or offered to the caller; -1: none.
 * Next: whether they are packed before the body, and the argument not read; and the packed read. */
static inline int cpu_panels_of(const cpu_product *p) {
  return p->kind == CPU_CHANNELS ? p->channels.panels
         : p->kind == CPU_SPARSE ? p->sparse.panels
         : p->kind == CPU_PAIRS  ? p->pairs.panels
                                 : -1;
}
static inline bool cpu_packs_before_body(const cpu_product *p) {
  return p->kind == CPU_CHANNELS || p->kind == CPU_SPARSE;
}
static inline int cpu_packed_read(const cpu_product *p) {
  return p->kind == CPU_SPARSE ? p->a : p->b;
}

/* Words of the panels of a SPARSE product. */
static inline int64_t cpu_sparse_words(const cpu_product *p) {
  const int64_t bytes = (int64_t)sizeof(float), values = p->sparse.values;
  if (!p->sparse.block) return values + (values + bytes - 1) / bytes;
  return values + p->sparse.starts + values / ((int64_t)p->sparse.block * p->sparse.block_length);
}

/* Elements of a panel of `pack` or `panels`, k deep, padded to whole rounds of the kernel; of a
 * kernel that lifts, followed by the correction of its sums, an int32 for each column. */
static inline int64_t cpu_panel_words(const cpu_product *p, int64_t k) {
  const ir_kernel *of = p->kernel;
  return ((k + of->k_round - 1) / of->k_round * of->k_round + (of->lifts ? of->group : 0)) *
         p->pairs.pitch;
}

/* The read whose box the slab holds; and its rank along which the elements of a group lie side by
 * side, -1: none. */
static inline int cpu_slab_of(const cpu_product *p) {
  return p->kind == CPU_CHANNELS ? p->a : p->b;
}
static inline int cpu_slab_groups(const cpu_product *p) {
  return p->kind == CPU_CHANNELS && p->channels.groups ? p->channels.groups_rank : -1;
}

/* Elements of the slab along a rank of its box. */
static inline int64_t cpu_slab_extent(const cpu_product *p, int r) {
  return (p->slab[r].most + p->slab_by[r] - 1) / p->slab_by[r];
}

/* The type of the slab's elements. */
static inline ir_type cpu_slab_type(const cpu_product *p) {
  return p->kind == CPU_CHANNELS ? p->kernel->a : p->kernel->b;
}

/* Whether the output's k-th dim, other than n, moves b, so that each of its settings has panels of
 * its own: groups of a convolution, the phases of a transposed one. */
bool cpu_is_group(const tf_workload *wl, const tf_op *op, const cpu_product *p, int k);
/* Bytes between neighbours along the k-th dim of an op's output, as float32; 0: of an intermediate,
 * whose layout is not fixed. */
int64_t cpu_output_pitch(const tf_workload *wl, const tf_op *op, int k);

/* Whether the op's k-th dim is m, n or k of the product. */
static inline bool cpu_is_matrix(const cpu_product *p, int k) {
  return k == p->m || k == p->n || k == p->k;
}

/* Whether the list of offsets of a's elements, of a product with lanes along channels, is the same
 * for all its nests, so that it is made once. */
static inline bool cpu_lists_once(const tf_op *op, const ir_stmt *s) {
  bool exact = true;
  for (int k = op->n_out_dims; k < op->n_dims; k++)
    exact &= s->range[k].exact;
  return exact;
}

/* Whether the nest's k-th dim spans the box that is prefetched: m, n or k of a product, or a dim of
 * a map that takes several steps. */
static inline bool cpu_spans_box(const ir_stmt *s, int k) {
  const cpu_product *p = cpu_product_of(s);
  return p ? cpu_is_matrix(p, k) : s->range[k].most > 1;
}
/* note.c: the dim of the box that alone moves rank r of the operand (-1: the output), by one
 * element a step; -1: no dim moves it; -2: several do, or by other steps. */
int cpu_box_dim(const tf_op *op, const ir_stmt *s, int read, int r);
/* The longest of the dims that move a rank but the last: its steps are the rows that are prefetched
 * together; -1: there are none. *boxes: settings of the other such dims. */
int cpu_box_rows(const tf_op *op, const ir_stmt *s, int read, int rank, int64_t *boxes);

/* note.c, check.c, dump.c, copies.c: the functions of ir_notes. While the interpreter runs,
 * elements that products pack (copy into another layout) are counted, with the same reuse as in
 * emitted kernels. */
void cpu_uses(const ir_program *p, const ir_stmt *s, void (*use)(void *ctx, ir_atom a), void *ctx);
void cpu_check(ir_checker *c, const ir_stmt *s);
void cpu_check_packs(ir_checker *c);
void cpu_dump(FILE *out, const ir_program *p, const ir_stmt *s, int in);
void *cpu_count_packs(const ir_program *p, ir_count *count);
void cpu_count_copies(void *run, const ir_program *p, const int64_t *var, ir_count *count,
                      const ir_stmt *nest);
#endif
