/* Kernels of warpgroups (sm_90a): one warpgroup, the producer, requests boxes of tensors, which
 * fill rings of tiles in shared memory; two or three others, the consumers, multiply them. The
 * loops of the program are printed twice, once for each role. */
#ifndef CODEGEN_BACKEND_CUDA_PRINT_GROUP_H
#define CODEGEN_BACKEND_CUDA_PRINT_GROUP_H
#include "codegen/backend/cuda/pass/pass.h"
#include "codegen/backend/cuda/print/cuda.h"

enum {
  CU_MOST_RINGS = 10,
  CU_MOST_TILES = 16,
  CU_MOST_STEPS = 6, /* nested loops over the steps of one sum */
  CU_CLUSTER = 2
};

/* Tiles that are fetched and released together: the copies before one wait. */
typedef struct {
  const ir_stmt *wait;
  const ir_stmt *copy[CU_MOST_TILES];
  int n_copies;
  int64_t stages, bytes; /* of one stage */
  bool lasting; /* one tile for all steps of the surrounding loops, released when the loop over
                   warps ends */
} cu_ring;

/* A result that leaves by boxes: the SAVE, the map just before it that computes the values (NULL:
 * they are a product's), and the place of its panels in shared memory. */
typedef struct {
  const ir_stmt *save, *map;
  int64_t offset;
} cu_leaving;

typedef struct {
  const ir_stmt *part, *warps; /* the loop over blocks, and the loop over the warps that multiply */
  int number;                  /* of the part */
  int n;
  cu_ring ring[CU_MOST_RINGS];
  int64_t *tile;      /* [n_buffers] offset of a tile's first stage in shared memory */
  int64_t barriers;   /* offset of the rings' barriers: for each ring the full ones, then the empty
                         ones */
  cu_leaving leaving; /* save NULL: results go to memory from registers */
  int64_t shared;     /* of shared memory */
  bool *shared_tiles; /* [n_buffers] tiles of which the two blocks of a cluster fetch half each;
                 NULL: no clusters */
  bool in_turns;      /* warpgroups take blocks in turn, each alone */
  int groups;         /* consumers: two or three; one more warpgroup is the producer */
  int rows;           /* of a block */
} cu_groups;

/* Threads of a block; next: registers of a thread of the producer, and of a consumer, which
 * together are all of a multiprocessor's. */
static inline int cu_groups_threads(const cu_groups *g) {
  return (g->groups + 1) * CU_GROUP_WARPS * CU_LANES;
}
static inline int cu_groups_few(const cu_groups *g) { return g->groups == 2 ? 40 : 32; }
static inline int cu_groups_many(const cu_groups *g) { return g->groups == 2 ? 232 : 160; }
/* Whether the warpgroups of a stream wait for their turns: with three this is faster, with two
 * slower. */
static inline bool cu_groups_streams_in_turn(const cu_groups *g) { return g->groups > 2; }
/* The first of the named barriers of turns, one for each warpgroup; those before it belong to
 * results that leave. */
static inline int cu_groups_turn(const cu_groups *g) { return 1 + g->groups; }

/* One of the two roles in which the loops are printed. */
typedef struct {
  c_printer *c;
  const cu_groups *g;
  bool is_producer;    /* the producer's */
  int ring;            /* the ring that was waited for last; -1: none */
  const ir_stmt *last; /* in a block that is taken in turn: the statement after whose products the
                          turn ends; NULL: none */
} cu_role;

/* A loop whose steps are two products with work on rows in between, as in attention: the first
 * one's result becomes the second one's rows. Positions in the body. */
typedef struct {
  const ir_stmt *loop;
  int first, second;   /* the products */
  int ring[2];         /* the rings of the tiles that they wait for */
  const ir_stmt *mask; /* sets scores outside a band to -inf; NULL: none */
  int64_t lo, hi;      /* the band: key minus row */
} cu_stream;

/* group_rings.c: what printing a part needs. False: the part has no warpgroups, or out of
 * memory. */
bool cu_groups_find(const ir_program *p, const ir_stmt *part, int number, cu_groups *g);
/* The ring that the wait belongs to; -1: none. */
int cu_ring_of(const cu_groups *g, const ir_stmt *wait);
/* Whether both blocks of a cluster fill its tiles. */
bool cu_ring_is_common(const cu_groups *g, int ring);
/* Stages of all rings before this one: the index of its barriers. */
int64_t cu_ring_before(const cu_groups *g, int ring);

/* group_kernel.c: the __global__ function. */
void cu_groups_kernel(c_printer *c, const cu_groups *g, void (*open)(c_printer *c),
                      void (*values)(c_printer *c));
/* group_turns.c: the lets of a body; a wait until a ring's tiles are full; their release (back: of
 * those `back` turns before), only if `when` holds; the next stage of the ring. */
void cu_groups_lets(const cu_role *r, const ir_body *b);
void cu_groups_full(const cu_role *r, int ring);
void cu_groups_release(const cu_role *r, int ring, const char *when, const char *stage);
void cu_groups_give_back(const cu_role *r, int ring);
void cu_groups_release_last(const cu_role *r, int ring);
void cu_groups_next(const cu_role *r, int ring);
/* Warpgroups begin products in turn: waits for the turn; passes it on; the turns at the start, and
 * at the end, where none takes the last one. */
void cu_groups_take_turn(const cu_role *r);
void cu_groups_pass_turn(const cu_role *r);
void cu_groups_first_turn(const cu_role *r);
void cu_groups_last_turn(const cu_role *r);
/* group_product.c: a product of tiles, or of fragments by tiles: its start, its completion (its
 * sums may be used), or both. */
void cu_groups_product(c_printer *c, const cu_groups *g, const ir_stmt *s);
void cu_groups_begin(c_printer *c, const cu_groups *g, const ir_stmt *s, const char *fresh);
void cu_groups_wait(c_printer *c, const ir_stmt *s, int left);
/* Fragments as rows of a product: declares them, and rounds the lane's values. */
void cu_groups_rows(c_printer *c, const ir_stmt *s, bool declare);
/* Whether the statement runs in every step, under no condition. */
bool cu_groups_is_steady(const c_printer *c, const ir_stmt *s);
/* group_stream.c: whether the loop is a stream; prints it for consumers; prints its first step and
 * end, for both roles. */
bool cu_groups_find_stream(const cu_role *r, const ir_stmt *loop, cu_stream *t);
bool cu_groups_has_stream(const cu_role *r, const ir_body *b);
void cu_groups_stream(const cu_role *r, const cu_stream *t);
/* Whether a stream releases the lasting ring's tiles itself, before its last step ends. */
bool cu_groups_is_early(const cu_role *r, int ring);
void cu_groups_ends(const cu_role *r, const cu_stream *t);
/* group_leave.c: the statement in consumers; next: the SAVE whose results leave by boxes. */
void cu_groups_points(const cu_role *r, const ir_stmt *s);
void cu_groups_leave(const cu_role *r, const ir_stmt *s);
/* group_maps.c: the struct of tensor maps that a part takes; next: the code that makes them at its
 * start, and the number of blocks. */
void cu_groups_maps(FILE *out, const ir_program *p, const cu_groups *g);
void cu_groups_start(FILE *out, const ir_program *p, const cu_groups *g, const int64_t *offset,
                     const char *name);
/* group_page.c: the section on such parts in README.md; nothing if there are none. */
void cu_groups_page(FILE *out, const ir_program *p);
/* group_device.c: additional device functions of such kernels, for nvcc. */
void cu_groups_device(FILE *out, const ir_program *p);
#endif
