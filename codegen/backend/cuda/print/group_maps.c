/* Tensor maps: the struct that a part takes, and the host code that fills it before each start. A
 * map describes a tensor's layout in memory, by the call's arguments, and a box: a panel of a tile,
 * 128 bytes along the last rank by rows along another. */
#include <inttypes.h>

#include "codegen/backend/cuda/print/group.h"

typedef struct {
  FILE *out;
  const ir_program *p;
  const int64_t *offset; /* of buffers in the workspace */
} maps;

void cu_groups_maps(FILE *out, const ir_program *p, const cu_groups *g) {
  (void)p;
  fprintf(out,
          "\n/* Tensors as part%d takes boxes from them, and sends them off. */\nstruct maps%d {\n",
          g->number, g->number);
  for (int i = 0; i < g->n; i++)
    for (int k = 0; k < g->ring[i].n_copies; k++)
      fprintf(out, "  tensor_map of_%d;\n", g->ring[i].copy[k]->copy.to);
  if (g->leaving.save) fprintf(out, "  tensor_map out_%d;\n", g->leaving.save->save.to);
  fputs("};\n", out);
}

/* Rows of a box: its length along each rank of the tensor, and its stride there. */
typedef struct {
  int64_t length[CU_BOX_RANKS], step[CU_BOX_RANKS];
  bool in_steps; /* some stride is not 1 */
} box_rows;

static box_rows along(int rank, int64_t n_rows) {
  box_rows b;
  b.in_steps = false;
  for (int r = 0; r < CU_BOX_RANKS; r++)
    b.length[r] = r == rank ? n_rows : 1, b.step[r] = 1;
  return b;
}

static box_rows of_stack(const ir_stack *stack) {
  box_rows b = along(-1, 1);
  for (int i = 0; i < stack->n; i++) {
    b.length[stack->axis[i]] = stack->length[i], b.step[stack->axis[i]] = stack->step[i];
    b.in_steps |= stack->step[i] > 1;
  }
  return b;
}

/* Of a tile; divided: into so many parts. */
static box_rows of_tile(const ir_buffer *to, int64_t divided) {
  return cu_stack(to) ? of_stack(cu_stack(to))
                      : along(cu_row_rank(to), cu_matrix_rows(to) / divided);
}

/* Of a result: a warpgroup's rows. */
static box_rows of_rows(const ir_buffer *from, bool in_turns) {
  ir_stack half;
  if (!cu_stack(from)) return along(cu_row_rank(from), CU_GROUP_ROWS / 2);
  return of_stack(in_turns || !cu_half_of_stack(cu_stack(from), &half) ? cu_stack(from) : &half);
}

/* "const int64_t extent[] = .., step[] = ..; const int box[] = ..;", innermost rank first. The
 * length of a box with steps counts the skipped elements, and `each` has the strides. */
static void print_extents(const maps *m, const ir_buffer *b, const box_rows *rows) {
  const tf_tensor *z = &m->p->tree->workload->tensors[b->tensor];
  const bool argument = b->role == IR_ARGUMENT;
  fputs("    const int64_t extent[] = {", m->out);
  for (int r = b->rank - 1; r >= 0; r--)
    fprintf(m->out, "%" PRId64 "%s", argument ? z->extent[r] : b->extent[r], r ? ", " : "};\n");
  fputs("    const int64_t step[] = {1", m->out);
  for (int r = b->rank - 2; r >= 0; r--) {
    fputs(", ", m->out);
    if (argument)
      fputs("args->", m->out), c_stride_field(m->out, z->name), fprintf(m->out, "[%d]", r);
    else
      fprintf(m->out, "%" PRId64, c_rank_step(b, r));
  }
  fputs("};\n    const int box[] = {", m->out);
  for (int r = b->rank - 1; r >= 0; r--)
    fprintf(m->out, "%" PRId64 "%s",
            r == b->rank - 1 ? (int64_t)CU_PANEL / ir_bytes(b->type)
                             : rows->length[r] * rows->step[r],
            r                ? ", "
            : rows->in_steps ? "}, each[] = {"
                             : "};\n");
  for (int r = b->rank - 1; r >= 0 && rows->in_steps; r--)
    fprintf(m->out, "%" PRId64 "%s", rows->step[r], r ? ", " : "};\n");
}

static void print_map_make(const maps *m, const char *name, int number, int buffer, box_rows rows) {
  const ir_buffer *b = &m->p->buffers[buffer];
  fputs("  {\n", m->out);
  print_extents(m, b, &rows);
  fprintf(m->out, "    const cudaError_t bad = map_make(&maps->%s_%d, CU_TENSOR_MAP_DATA_TYPE_%s, ",
          name, number,
          b->type == IR_F16   ? "FLOAT16"
          : b->type == IR_F8  ? "UINT8"
          : b->type == IR_F32 ? "FLOAT32"
                              : "BFLOAT16");
  if (b->role == IR_ARGUMENT)
    fputs("args->", m->out), c_field(m->out, m->p->tree->workload->tensors[b->tensor].name);
  else
    fprintf(m->out, "workspace + %" PRId64, m->offset[buffer]);
  fprintf(m->out, ", %d, extent, step, box%s);\n    if (bad != cudaSuccess) return bad;\n  }\n",
          b->rank, rows.in_steps ? ", each" : "");
}

/* Asks each device, once a thread, how many blocks of so much shared memory run at a time. */
static void ask_device(const maps *m, const cu_groups *g) {
  const int n = g->number;
  fprintf(m->out,
          "  static thread_local int known = -1, blocks = 0;\n  int device = 0;\n"
          "  cudaError_t bad = cudaGetDevice(&device);\n  if (bad != cudaSuccess) return bad;\n"
          "  if (device != known) {\n    known = -1;\n"
          "    bad = cudaDeviceGetAttribute(&blocks, cudaDevAttrMultiProcessorCount, device);\n"
          "    if (bad == cudaSuccess) bad = ask_shared(part%d, %" PRId64 ");\n"
          "    if (bad != cudaSuccess) return bad;\n"
          "    if (blocks > %" PRId64 ") blocks = %" PRId64 ";\n",
          n, g->shared, g->part->loop.trip, g->part->loop.trip);
  if (g->shared_tiles)
    fprintf(m->out,
            "    bad = blocks_of_clusters((const void *)part%d, &blocks, threads, %" PRId64
            ");\n    if (bad != cudaSuccess) return bad;\n",
            n, g->shared);
  fputs("    known = device;\n  }\n", m->out);
}

static void make_all(const maps *m, const cu_groups *g, const char *name) {
  fprintf(m->out,
          "static cudaError_t make_maps%d(maps%d *maps, const %s_args *args, unsigned char "
          "*workspace) {\n"
          "  (void)args, (void)workspace;\n",
          g->number, g->number, name);
  for (int i = 0; i < g->n; i++)
    for (int k = 0; k < g->ring[i].n_copies; k++) {
      const ir_stmt *s = g->ring[i].copy[k];
      const bool common = g->shared_tiles && g->shared_tiles[s->copy.to];
      print_map_make(m, "of", s->copy.to, s->copy.from,
                     of_tile(&m->p->buffers[s->copy.to], common ? CU_CLUSTER : 1));
    }
  if (g->leaving.save) {
    const ir_stmt *s = g->leaving.save;
    print_map_make(m, "out", s->save.to, s->save.to,
                   of_rows(&m->p->buffers[s->save.from], g->in_turns));
  }
  fputs("  return cudaSuccess;\n}\n\n", m->out);
}

void cu_groups_start(FILE *out, const ir_program *p, const cu_groups *g, const int64_t *offset,
                     const char *name) {
  const maps m = {out, p, offset};
  const int n = g->number;
  make_all(&m, g, name);
  fprintf(out,
          "/* Keeps the maps of the last calls of the thread, for others with the same arrays. */\n"
          "static cudaError_t start_part%d(const %s_args *args, unsigned char *workspace, "
          "cudaStream_t stream) {\n"
          "  const dim3 threads(%d, %d);\n",
          n, name, CU_LANES, cu_groups_threads(g) / CU_LANES);
  ask_device(&m, g);
  fprintf(out,
          "  static thread_local struct {\n    maps%d maps;\n    %s_args args;\n"
          "    unsigned char *workspace;\n    bool there;\n  } kept[MAPS_KEPT];\n"
          "  auto &at = kept[place_of(args, sizeof *args)];\n"
          "  if (!at.there || at.workspace != workspace || memcmp(&at.args, args, sizeof *args) != "
          "0) {\n"
          "    at.there = false;\n    bad = make_maps%d(&at.maps, args, workspace);\n"
          "    if (bad != cudaSuccess) return bad;\n"
          "    at.args = *args, at.workspace = workspace, at.there = true;\n  }\n",
          n, name, n);
  if (g->shared_tiles)
    fprintf(out,
            "  return START_CLUSTERS(part%d, blocks, threads, %" PRId64
            ", stream, *args, workspace, at.maps);\n}\n",
            n, g->shared);
  else
    fprintf(out,
            "  START_ROLES(part%d, blocks, threads, %" PRId64
            ", stream, *args, workspace, at.maps);\n  return cudaGetLastError();\n}\n",
            n, g->shared);
}
