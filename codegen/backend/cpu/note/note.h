/* What the CPU's passes note of statements, for its printer: products and their packed operands,
 * sums over windows, what is prefetched.  codegen/ir passes notes on and knows none of this. */
#ifndef CODEGEN_BACKEND_CPU_NOTE_NOTE_H
#define CODEGEN_BACKEND_CPU_NOTE_NOTE_H
#include "codegen/ir/ir.h"

/* Which panels a nest's tiles prefetch for the nest that follows it. */
typedef enum {
  CPU_NEXT_NONE,  /* none: they are in a cache already */
  CPU_NEXT_SAME,  /* those of this nest, or it is not known */
  CPU_NEXT_LANES, /* the next panels along n */
  CPU_NEXT_SUMS   /* the next panels along the outermost reduced dim */
} cpu_next;

/* How a product is computed: PAIRS, a pair of matrices for each setting of the outer dims; FEW, the
 * same with few rows and a large b that is read in place; CHANNELS, vector lanes along channels,
 * with k all that is reduced; SPARSE, only the elements of a that are not zero, each times a row of
 * b. */
typedef enum { CPU_PAIRS, CPU_FEW, CPU_CHANNELS, CPU_SPARSE } cpu_way;

/* A nest that is a matrix product: out[.., m, .., n] += a[.., m, k] * b[.., k, n], all other dims
 * outside.  m, n, k are positions among the op's dims, a and b among its reads; buffers are -1
 * where there is none.  m is -1 where few rows are a single one that no dim of the output counts.
 */
typedef struct {
  int m, n, k, a, b;
  const ir_kernel *kernel;
  int pack; /* buffer for the packed b (CPU_CHANNELS: a); -1: it is read in place */
  ir_range
      *slab; /* [rank of it] the box, padding included, that `pack` holds once for the whole nest;
                NULL: a panel for each setting of the outer dims, rows of n side by side */
  int64_t *slab_by; /* [rank of it] above 1: no more than each so many-th element of the box is
                       read, and there */
  bool keep_slab;   /* the slab is of an argument: it stays valid until its box changes */
  int64_t stride;   /* of n along b's last rank; above 1, rows of the slab hold one phase (residue)
                       after the other */
  cpu_way way;
  union {
    struct {
      int64_t wide; /* without a slab: row pitch of `pack`, in elements (or groups, where the kernel
                       has them) */
      int64_t steps; /* above 0: b passes by in panels of `wide` columns and so many groups of k, of
                        which `pack` holds the one at hand and the next; those of `strip` columns, a
                        multiple, before the next steps.  0: its whole box is there */
      int64_t strip;
      bool far;  /* elements of b adjacent along k are a page or more apart, and b is not packed */
      bool keep; /* b is an argument: the packed copy stays valid until the box changes */
      int64_t *places; /* [dims of the op] above 1: number of boxes along the dim that have a slot
                          of `pack` each; NULL: all boxes use one slot in turn */
      int transposed;  /* buffer for a transposed: m innermost, then k, then its other dims; valid
                          while its box is */
      int copy; /* buffer for rows of a in the layout that the kernel wants, for each setting of the
                   outer dims */
      bool keep_copy; /* a is an argument */
      const struct ir_stmt
          *copy_in; /* a loop whose steps do not write a: the copy stays valid until it starts over;
                       NULL: for one setting of the outer dims only */
      int panels;   /* buffer with all of b in panels of `columns` along n and `deep` along k, those
                       of k innermost, then   those of n, then b's other dims.  The caller may fill it
                       beforehand, else it is not used (b is an   argument, each rank of which one dim
                       moves alone); -1: not offered */
      int64_t columns, deep;
      bool merged; /* rows of the output's dim before n, and of b, are contiguous (of arguments: if
                      their strides say so), and can be treated as one row */
    } pairs;
    struct {
      bool along_k;     /* b and a are contiguous along k; else b is contiguous along n */
      bool held;        /* sums stay in registers, as of tf_micro_few */
      int strip, block; /* of columns, as of tf_micro_few */
    } few;
    /* The nest walks groups (cpu_is_group), within these k in the order of the op's dims, n in
     * panels, and the other outer dims within these.  m is the output's last dim, n another of its
     * dims.  Elements of a are broadcast from any address: neither windows nor strides need a copy,
     * and no lane idles where rows are short.  The tile is transposed when it is stored.  b is an
     * argument indexed by groups, n and reduced dims alone; its panels, those of one group after
     * the other, are packed once, in the cpu_packs of ir_program.notes. */
    struct {
      int64_t row_step; /* of m along a's last rank */
      bool joined; /* short rows are joined with those of the output's dim before m, where that has
                      few */
      int panel;   /* columns of n in a panel ... */
      int last;    /* ... and in the last panel, rounded up to vectors */
      cpu_next next; /* which panels to prefetch for the next nest */
      int groups; /* the reduced dim along which the kernel's groups stand side by side, in slab and
                     panels, the last one filled up with zeros; 0: its groups are of one */
      int groups_rank; /* the rank of a that it moves, alone */
      int panels;    /* buffer with all of b in panels; each has a row of n for each setting of the
                        reduced dims */
      int64_t group; /* elements of panels of one group */
      int offsets;   /* buffer for the offsets of a's elements, one for each setting of the reduced
                        dims */
      /* The window at the end of what is reduced, rows by columns, of which tiles leave out what is
       * beyond a's borders: for elements along m; and for the output's dim before m, whose rows'
       * elements move row_rank of a. */
      int window[2];
      ir_border column, row;
      int row_rank;
    } channels;
    /* a is an argument of two ranks, which m and k move alone; of every `of` elements along k, from
     * the first on, at most `n` are not zero.  These are packed once, with their places in their
     * blocks, as panels: parts of k that are `deep`, in each all rows, in each of these `each`
     * values; behind `values` of them their places, a byte each. */
    /* Or, with a `block`, blocks of so many rows by `of` elements along k are zero together: n is
     * `of`, and each has room.  Those that are not stand one behind the other, a row of the block
     * for each element along k; behind all of `values` where those of each part of k and each row
     * of blocks begin, and then where they stand in their parts. */
    struct {
      int n, of, block;
      int64_t starts;   /* how many parts of k and rows of blocks there are, and one */
      double share;     /* of the blocks that are expected */
      int panels, room; /* buffers: all of a; a part of b, laid out for the tiles that use it */
      int64_t deep, each, values;
      int rows, across; /* of a tile: rows of a, and vectors of b's columns */
    } sparse;
  };
} cpu_product;

/* A sum over a small window that is no matrix product: depthwise convolution, pooling.  Lanes run
 * along the output's last dim, rows of a tile along the one before; following maps are fused with
 * it, on sums in registers. codegen/backend/cpu/note/window.h describes its reads. */
typedef struct {
  int taps;   /* number of settings of the reduced dims (window elements), constant */
  int value;  /* of the op's expression, what is summed */
  bool fills; /* beyond the borders of what it reads the sum takes its start, which the op chooses
                 there */
  int n_maps;
  const struct ir_stmt **maps;
  int fours; /* read whose bytes, up to four neighbours along the innermost reduced dim, are
                multiplied at once by those of the other, and added up in int32; -1: none */
} cpu_window;

/* A prefetch: rows of an argument that a product of one pair of matrices, a map or a window will
 * read or write, in its current range moved by shift[dim of its op]. */
typedef struct {
  const ir_stmt *nest;
  int read; /* of a product a or b, of a window what lanes run along; -1: its output */
  const int64_t *shift;
} cpu_prefetch;

/* All panels of an argument that a product reads as b (SPARSE: as a). */
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
  const ir_stmt
      *rows; /* the TOGETHER that computes the rows of its product; NULL: they are there already */
  const ir_stmt *rounds_for; /* a following statement that would copy its sums rounded, which its
                                product does at once; NULL:  none */
  const ir_stmt *map;    /* a following map of its sums to bytes, which its product's tiles compute
                            before they store; NULL: none */
  const ir_stmt *map_of; /* of such a map, the nest before */
  bool copied;           /* the product before it copies the rows that it needs */
  int n_prefetches;      /* what its product, or its window, prefetches while it computes ... */
  const cpu_prefetch *prefetches;
  unsigned prefetched; /* ... and its own operands that others prefetch: bit 0 the output, 1 + i
                          read i */
  /* NEST: a map that is fused into the window sum or the product before it.  SAVE: the product
   * before has done it.
   */
  bool done;
  /* TOGETHER: it computes the rows of `a` for the following product, which runs it one tile ahead
   * while it multiplies.
   */
  bool ahead;
} cpu_note;
extern const cpu_note cpu_no_note; /* nothing; and whose notes are the CPU's */

/* What is noted of the statement, if by a CPU's pass; else nothing. */
static inline const cpu_note *cpu_of(const ir_stmt *s) {
  return s->note && s->note->of == &cpu_no_note ? (const cpu_note *)s->note : &cpu_no_note;
}
/* The same to be written: a copy, so that statements that were copied keep theirs.  NULL: no
 * memory, which the arena remembers. */
cpu_note *cpu_edit(const ir_program *p, ir_stmt *s);
/* The product of a nest; NULL for all else, too. */
static inline const cpu_product *cpu_product_of(const ir_stmt *s) { return cpu_of(s)->product; }
/* The i-th of a program's packs. */
static inline const cpu_pack *cpu_pack_at(const ir_program *p, int i) {
  return (const cpu_pack *)p->notes[i];
}

/* The buffer of the panels, packed before the body or offered to the caller; -1: none.  Whether
 * they are packed before the body, which reads nothing else; and the read that they are of. */
static inline int cpu_panels_of(const cpu_product *p) {
  return p->way == CPU_CHANNELS ? p->channels.panels
         : p->way == CPU_SPARSE ? p->sparse.panels
         : p->way == CPU_PAIRS  ? p->pairs.panels
                                : -1;
}
static inline bool cpu_packs_first(const cpu_product *p) {
  return p->way == CPU_CHANNELS || p->way == CPU_SPARSE;
}
static inline int cpu_packed_read(const cpu_product *p) {
  return p->way == CPU_SPARSE ? p->a : p->b;
}

/* Words of the panels of such a product. */
static inline int64_t cpu_sparse_words(const cpu_product *p) {
  const int64_t bytes = (int64_t)sizeof(float), values = p->sparse.values;
  if (!p->sparse.block) return values + (values + bytes - 1) / bytes;
  return values + p->sparse.starts + values / ((int64_t)p->sparse.block * p->sparse.of);
}

/* Elements of a panel of `pack` or `panels`, k deep: filled up; and behind it, as int32_t for each
 * column, what a kernel that lifts adds to its sums. */
static inline int64_t cpu_panel_words(const cpu_product *p, int64_t k) {
  const ir_kernel *of = p->kernel;
  return ((k + of->k_round - 1) / of->k_round * of->k_round + (of->lifts ? of->group : 0)) *
         p->pairs.wide;
}

/* The read whose box the slab holds; its rank of which groups of elements stand side by side, -1:
 * none. */
static inline int cpu_slab_of(const cpu_product *p) { return p->way == CPU_CHANNELS ? p->a : p->b; }
static inline int cpu_slab_groups(const cpu_product *p) {
  return p->way == CPU_CHANNELS && p->channels.groups ? p->channels.groups_rank : -1;
}

/* Elements of the slab along a rank of its box. */
static inline int64_t cpu_slab_places(const cpu_product *p, int r) {
  return (p->slab[r].most + p->slab_by[r] - 1) / p->slab_by[r];
}

/* The type of the slab's elements. */
static inline ir_type cpu_slab_type(const cpu_product *p) {
  return p->way == CPU_CHANNELS ? p->kernel->a : p->kernel->b;
}

/* Whether the output's k-th dim is not n but moves b, whose panels are others for each of its
 * settings: groups of a convolution, the phases of a transposed one. */
bool cpu_is_group(const tf_workload *wl, const tf_op *op, const cpu_product *p, int k);
/* Bytes between neighbours along the k-th dim of an op's output, as float32; 0: of an intermediate,
 * which may lie otherwise. */
int64_t cpu_rows_apart(const tf_workload *wl, const tf_op *op, int k);

/* Whether the op's k-th dim is m, n or k of the product. */
static inline bool cpu_is_matrix(const cpu_product *p, int k) {
  return k == p->m || k == p->n || k == p->k;
}

/* Whether the offsets of a's elements that a product with lanes along channels lists are the same
 * for all its nests: then they are listed once. */
static inline bool cpu_lists_once(const tf_op *op, const ir_stmt *s) {
  bool exact = true;
  for (int k = op->n_out_dims; k < op->n_dims; k++)
    exact &= s->range[k].exact;
  return exact;
}

/* Whether the nest's k-th dim makes the rows that are prefetched: m, n or k of a product, or one of
 * a map that takes several steps. */
static inline bool cpu_is_of_box(const ir_stmt *s, int k) {
  const cpu_product *p = cpu_product_of(s);
  return p ? cpu_is_matrix(p, k) : s->range[k].most > 1;
}
/* note.c: the only one of these that moves rank r of the operand (-1: the output); -1: none, -2:
 * several, or not by one a step. */
int cpu_box_dim(const tf_op *op, const ir_stmt *s, int read, int r);
/* Which of them counts the rows, of a tensor of so many ranks: the longest but the last rank's.
 * *boxes: how many boxes of such rows there are, a setting of the others each. */
int cpu_box_rows(const tf_op *op, const ir_stmt *s, int read, int rank, int64_t *boxes);

/* note.c, check.c, dump.c, copies.c: the functions of ir_notes.  While the interpreter runs,
 * elements that products pack are counted: operands copied into another layout, with the same reuse
 * as in emitted kernels. */
void cpu_uses(const ir_program *p, const ir_stmt *s, void (*use)(void *ctx, ir_atom a), void *ctx);
void cpu_check(ir_checker *c, const ir_stmt *s);
void cpu_check_packs(ir_checker *c);
void cpu_dump(FILE *out, const ir_program *p, const ir_stmt *s, int in);
void *cpu_count_packs(const ir_program *p, ir_count *count);
void cpu_count_copies(void *run, const ir_program *p, const int64_t *var, ir_count *count,
                      const ir_stmt *nest);
#endif
