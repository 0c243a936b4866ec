/* The layout of the genes, and declarations shared by their decoders. */
#ifndef SEARCH_SPACE_GENES_H
#define SEARCH_SPACE_GENES_H
#include "search/space/shape.h"

enum { TF_MEMORIES_MAX = 16, TF_PRIORITIES = 8, TF_RUN_KINDS = 3 /* no scope, Seq, Shar */ };

/* Features that a tree is built without, as bits: those that the genes ask for and the tree's rules
 * refuse. */
enum {
  TF_STRIP_STREAM = 1 << 0,
  TF_STRIP_KEEP = 1 << 1,
  TF_STRIP_BYPASS = 1 << 2,
  TF_STRIP_RUNS = 1 << 3
};

/* First genes of an op's column. */
typedef struct {
  int reader; /* the reader into which it is fused */
  int level;  /* 0: not fused; 1 + memory: fused in that memory */
  int kind;   /* [1 + memory] scope of the group that ends with the op */
  int keep;   /* keep: the output stays one memory further in */
  int stream; /* [1 + memory] */
  int run;    /* run: consecutive parts on one kind of unit share a scope */
  int *tile;  /* [2 * memory + inner] per dim a priority, then 4 dims to be spread: x, x, y, y */
  int unit, unit_level; /* unit that runs it and the memory above that unit */
} tf_column;

struct tf_shapes {
  tf_arena *arena;
  const tf_arch *arch;
  const tf_workload *wl;
  const tf_tree *given; /* the space holds completions of this tree; NULL: all shapes */
  bool one_side;        /* a Tile spreads a dim along one axis at most */
  int n, room;
  uint8_t *size;
  uint8_t *rare;      /* 1: drawn as 0 most of the time */
  tf_column *columns; /* [n_ops] */
  int *bypass;        /* [tensor * n_memories + memory] gene */
  int *column;        /* [n] op, or n_ops */
  uint64_t *shared;   /* set of dims of the last op on which every producer's output depends: a loop
                         over them recomputes nothing */
};

/* Fills in s->shared.  False if memory ran out. */
bool tf_shapes_find_shared(tf_shapes *s);

static inline void tf_reads_note(tf_reads *r, int gene) {
  if (!r->order[gene]) r->order[gene] = (uint32_t)++r->n;
}

/* Whether gene i was read; order NULL: all were. */
static inline bool tf_was_read(const uint32_t *order, int i) { return !order || order[i]; }

/* The tree that the genes encode, without the features in `strip`; NULL if it is illegal. */
tf_tree *tf_shapes_decode(const tf_shapes *s, const int32_t *genes, tf_reads *reads,
                          unsigned strip);

/* The completion of s->given that the genes encode; NULL if it is illegal. */
tf_tree *tf_shapes_complete(const tf_shapes *s, const int32_t *genes, tf_reads *reads);

/* Which ops are fused: group[memory][op] names the group that shares a Tile of the memory; past the
 * last memory every op is alone.  Groups of an inner memory are subsets of those of an outer one,
 * and the dependences between groups have no cycle. */
typedef struct {
  int **group; /* [n_memories + 1][n_ops] */
} tf_fusion;
/* In the arena.  reads may be NULL.  False if memory ran out. */
bool tf_shapes_fuse(const tf_shapes *s, const int32_t *genes, tf_reads *reads, tf_arena *a,
                    tf_fusion *out);
#endif
