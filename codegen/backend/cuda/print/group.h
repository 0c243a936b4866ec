/* Kernels of warpgroups (sm_90a): one warpgroup asks for boxes of tensors, which fill rings of
 * tiles in shared memory; two or three others multiply them.  The loops of the program are printed
 * twice, once as either sees them. */
#ifndef CODEGEN_BACKEND_CUDA_PRINT_GROUP_H
#define CODEGEN_BACKEND_CUDA_PRINT_GROUP_H
#include "codegen/backend/cuda/pass/pass.h"
#include "codegen/backend/cuda/print/cuda.h"

enum {
  CU_MOST_RINGS = 10,
  CU_MOST_TILES = 16,
  CU_MOST_STEPS = 6, /* loops in each other over the steps of one sum */
  CU_CLUSTER = 2
};

/* Tiles that come together, and are given back together: the copies before a wait. */
typedef struct {
  const ir_stmt *wait;
  const ir_stmt *copy[CU_MOST_TILES];
  int n_copies;
  int64_t stages, bytes; /* bytes of one stage */
  bool lasting; /* one for all steps of the loops around: given back when the warps' loop ends */
} cu_ring;

/* What leaves by boxes: the statement, what makes its values of others just before (NULL: they are
 * a product's), and where its panels stand in shared memory. */
typedef struct {
  const ir_stmt *save, *map;
  int64_t at;
} cu_leaving;

typedef struct {
  const ir_stmt *part, *warps; /* the loop over blocks, and that over the warps that multiply */
  int number;                  /* of the part */
  int n;
  cu_ring ring[CU_MOST_RINGS];
  int64_t *tile;    /* [n_buffers] where a tile's first stage stands in shared memory */
  int64_t barriers; /* where the rings' barriers stand: for each ring its full ones, then its empty
                       ones */
  cu_leaving leaving; /* save NULL: sums go to memory from registers */
  int64_t shared;     /* bytes in all */
  bool *same;         /* [n_buffers] tiles that the two blocks of a cluster bring for both; NULL: no
                         clusters */
  bool in_turns;      /* warpgroups have blocks in turn, each by itself */
  int groups;         /* that multiply: two or three; one more asks for tiles */
  int rows;           /* of a block */
} cu_groups;

/* Threads of a block; registers of each that asks for tiles, and of each that multiplies: all of a
 * multiprocessor's. */
static inline int cu_groups_threads(const cu_groups *g) {
  return (g->groups + 1) * CU_GROUP_WARPS * CU_LANES;
}
static inline int cu_groups_few(const cu_groups *g) { return g->groups == 2 ? 40 : 32; }
static inline int cu_groups_many(const cu_groups *g) { return g->groups == 2 ? 232 : 160; }
/* Whether warpgroups of a stream wait for their turns: three gain by it, two are faster as they
 * come (16384 keys without a mask on an H200: width 64 5 %, width 128 6 %). */
static inline bool cu_groups_streams_in_turn(const cu_groups *g) { return g->groups > 2; }
/* Named barriers of turns, one of each warpgroup: from this one on; those before belong to what
 * leaves. */
static inline int cu_groups_turn(const cu_groups *g) { return 1 + g->groups; }

/* One of the two who go through the loops. */
typedef struct {
  c_printer *c;
  const cu_groups *g;
  bool makes;          /* as the warpgroup sees the loops that asks for tiles */
  int ring;            /* that was waited for last; -1 */
  const ir_stmt *last; /* of a block in turns, behind whose products it is the other's turn; NULL */
} cu_role;

/* A loop whose steps are two products with work on rows in between, as those of attention: the
 * first makes what the second has as its rows.  Positions in the body. */
typedef struct {
  const ir_stmt *loop;
  int first, second;   /* the products */
  int ring[2];         /* of the tiles that they wait for */
  const ir_stmt *mask; /* sets what a band leaves out to -inf; NULL: nothing does */
  int64_t lo, hi;      /* the band: keys less rows */
} cu_stream;

/* group_rings.c: what the printing of a part needs.  False: it is not of warpgroups, or there is no
 * memory. */
bool cu_groups_find(const ir_program *p, const ir_stmt *part, int number, cu_groups *g);
/* The ring whose wait it is; -1. */
int cu_ring_of(const cu_groups *g, const ir_stmt *wait);
/* Whether both blocks of a cluster fill its tiles. */
bool cu_ring_is_common(const cu_groups *g, int ring);
/* A number of stages before the ring's: its barriers' place. */
int64_t cu_ring_before(const cu_groups *g, int ring);

/* group_kernel.c: the __global__ function. */
void cu_groups_kernel(c_printer *c, const cu_groups *g, void (*open)(c_printer *c),
                      void (*values)(c_printer *c));
/* group_turns.c: the lets of a body; until tiles of a ring are there; they are given back (back:
 * those `back` turns before), only where `when` holds; the ring's next stage. */
void cu_groups_lets(const cu_role *r, const ir_body *b);
void cu_groups_full(const cu_role *r, int ring);
void cu_groups_give(const cu_role *r, int ring, const char *when, const char *stage);
void cu_groups_give_back(const cu_role *r, int ring);
void cu_groups_give_last(const cu_role *r, int ring);
void cu_groups_next(const cu_role *r, int ring);
/* One warpgroup after the other begins its products: until it is its turn; the next one's turn; who
 * begins, and whose the last turn is, that nobody takes. */
void cu_groups_take_turn(const cu_role *r);
void cu_groups_pass_turn(const cu_role *r);
void cu_groups_first_turn(const cu_role *r);
void cu_groups_last_turn(const cu_role *r);
/* group_product.c: a product of tiles, or of fragments by tiles: begun, done with (its sums may be
 * used), or both. */
void cu_groups_product(c_printer *c, const cu_groups *g, const ir_stmt *s);
void cu_groups_begin(c_printer *c, const cu_groups *g, const ir_stmt *s, const char *fresh);
void cu_groups_wait(c_printer *c, const ir_stmt *s, int left);
/* Rows that are fragments, as operands: declared, and rounded from what the lane has. */
void cu_groups_rows(c_printer *c, const ir_stmt *s, bool declare);
/* Whether it is done in every step, whatever the others do. */
bool cu_groups_is_steady(const c_printer *c, const ir_stmt *s);
/* group_stream.c: whether the loop is such a one; how it is printed for who multiplies; where it
 * begins and ends, for both. */
bool cu_groups_find_stream(const cu_role *r, const ir_stmt *loop, cu_stream *t);
bool cu_groups_has_stream(const cu_role *r, const ir_body *b);
void cu_groups_stream(const cu_role *r, const cu_stream *t);
/* Whether a stream gives the lasting ring's tiles back itself, before its last step is done. */
bool cu_groups_is_early(const cu_role *r, int ring);
void cu_groups_ends(const cu_role *r, const cu_stream *t);
/* group_leave.c: the statement as who multiplies does it; the save whose sums leave by boxes. */
void cu_groups_points(const cu_role *r, const ir_stmt *s);
void cu_groups_leave(const cu_role *r, const ir_stmt *s);
/* group_maps.c: the struct of tensor maps that a part takes; how its start makes them and how many
 * blocks there are. */
void cu_groups_maps(FILE *out, const ir_program *p, const cu_groups *g);
void cu_groups_start(FILE *out, const ir_program *p, const cu_groups *g, const int64_t *offset,
                     const char *name);
/* group_page.c: what README.md says of such parts; nothing if there are none. */
void cu_groups_page(FILE *out, const ir_program *p);
/* group_device.c: operations that such kernels have besides, for nvcc. */
void cu_groups_device(FILE *out, const ir_program *p);
#endif
