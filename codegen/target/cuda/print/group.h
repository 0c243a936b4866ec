/* Kernels of warpgroups (sm_90a): one warpgroup asks for boxes of tensors, which fill rings of tiles in shared memory;
 * two others multiply them.  The loops of the program are printed twice, once as either sees them. */
#ifndef CODEGEN_TARGET_CUDA_PRINT_GROUP_H
#define CODEGEN_TARGET_CUDA_PRINT_GROUP_H
#include "codegen/target/cuda/pass/pass.h"
#include "codegen/target/cuda/print/cuda.h"

enum {
  CU_MOST_RINGS = 10,
  CU_MOST_TILES = 16,
  CU_GROUP_THREADS = 3 * 128,
  CU_MAKER_REGISTERS = 40,
  CU_USER_REGISTERS = 232
};

/* Tiles that come together, and are given back together: the copies before a wait. */
typedef struct {
  const ir_stmt *wait;
  const ir_stmt *copy[CU_MOST_TILES];
  int n_copies;
  int64_t stages, bytes; /* bytes of one stage */
  bool lasting;          /* one for all steps of the loops around: given back when the warps' loop ends */
} cu_ring;

/* What leaves by boxes: the statement, the buffer it goes to, and where its panels stand in shared memory. */
typedef struct {
  const ir_stmt *save;
  int64_t at;
} cu_leaving;

typedef struct {
  const ir_stmt *part, *warps; /* the loop over blocks, and that over the warps that multiply */
  int number;                  /* of the part */
  int n;
  cu_ring ring[CU_MOST_RINGS];
  int64_t *tile;      /* [n_buffers] where a tile's first stage stands in shared memory */
  int64_t barriers;   /* where the rings' barriers stand: for each ring its full ones, then its empty ones */
  cu_leaving leaving; /* save NULL: sums go to memory from registers */
  int64_t shared;     /* bytes in all */
} cu_groups;

/* group_rings.c: what the printing of a part needs.  False: it is not of warpgroups, or there is no memory. */
bool cu_groups_find(const ir_program *p, const ir_stmt *part, int number, cu_groups *g);
/* The ring whose wait it is; -1. */
int cu_ring_of(const cu_groups *g, const ir_stmt *wait);
/* A number of stages before the ring's: its barriers' place. */
int64_t cu_ring_before(const cu_groups *g, int ring);

/* group_kernel.c: the __global__ function. */
void cu_groups_kernel(c_printer *c, const cu_groups *g, void (*open)(c_printer *c), void (*values)(c_printer *c));
/* group_product.c: a product of tiles, or of fragments by tiles. */
void cu_groups_product(c_printer *c, const cu_groups *g, const ir_stmt *s);
/* group_leave.c: the save whose sums leave by boxes. */
void cu_groups_leave(c_printer *c, const cu_groups *g, const ir_stmt *s);
/* group_maps.c: the struct of tensor maps that a part takes; how its start makes them and how many blocks there are. */
void cu_groups_maps(FILE *out, const ir_program *p, const cu_groups *g);
void cu_groups_start(FILE *out, const ir_program *p, const cu_groups *g, const int64_t *offset, const char *name);
/* group_device.c: operations that such kernels have besides, for nvcc. */
void cu_groups_device(FILE *out, const ir_program *p);
#endif
