/* Where the genes stand, and what decoding them shares. */
#ifndef SEARCH_SPACE_GENES_H
#define SEARCH_SPACE_GENES_H
#include "search/space/shape.h"

enum {
  TF_MEMORIES_MAX = 16,
  TF_PRIORITIES = 8,
  TF_STRIP_STREAM = 1,
  TF_STRIP_KEEP = 2,
  TF_STRIP_BYPASS = 4,
  TF_STRIP_RUNS = 8,
  TF_RUN_KINDS = 3 /* apart, Seq, Shar */
};

/* First genes of an op's column. */
typedef struct {
  int to;          /* among its readers */
  int level;       /* 0: apart; 1 + memory: fused in that memory */
  int kind;        /* [1 + memory] scope of the group that ends with the op */
  int keep;        /* [1 + memory] what it makes stays one memory further in */
  int stream;      /* [1 + memory] */
  int run;         /* [1 + memory] parts on one kind of unit that follow one another share a scope */
  int *tile;       /* [2 * memory + inner] per dim a priority, then 4 spread dims: x, x, y, y */
  int unit, floor; /* unit that runs it and the memory above that unit */
} tf_column;

struct tf_shapes {
  tf_arena *arena;
  const tf_arch *arch;
  const tf_workload *wl;
  const tf_tree *given; /* completions of this tree; NULL: all shapes */
  int n, room;
  uint8_t *size;
  uint8_t *rare;      /* 1: mostly 0 */
  tf_column *columns; /* [n_ops] */
  int *bypass;        /* [tensor * n_memories + memory] gene */
  int *column;        /* [n] op, or n_ops */
  uint64_t shared;    /* dims of the last op that decide which part every op makes: loops over them make nothing run
                         again */
};

/* Fills in s->shared.  False if memory ran out. */
bool tf_shapes_find_shared(tf_shapes *s);

static inline void tf_reads_note(tf_reads *r, int gene) {
  if (!r->order[gene]) r->order[gene] = (uint32_t)++r->n;
}

/* The tree that genes stand for, features in `strip` left out; NULL if it is illegal. */
tf_tree *tf_shapes_decode(const tf_shapes *s, const int32_t *genes, tf_reads *reads, unsigned strip);

/* The completion of s->given that genes stand for; NULL if it is illegal. */
tf_tree *tf_shapes_complete(const tf_shapes *s, const int32_t *genes, tf_reads *reads);

/* What is fused: group[memory][op] names the group that shares a Tile of the memory; behind the last
 * memory each op is alone.  Groups of an inner memory lie within those of an outer one, and none
 * depends on itself through another. */
typedef struct {
  int **group; /* [n_memories + 1][n_ops] */
} tf_fusion;
/* In the arena.  reads may be NULL.  False if memory ran out. */
bool tf_shapes_fuse(const tf_shapes *s, const int32_t *genes, tf_reads *reads, tf_arena *a, tf_fusion *out);
#endif
