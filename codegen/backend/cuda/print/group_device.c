/* Device functions of sm_90a: PTX here, their emulation in hopper.hpp. */
#include <inttypes.h>

#include "codegen/backend/cuda/print/group.h"

static const char arch[] = "#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)\n"
                           "#error \"warpgroups: sm_90a\"\n#endif\n"
                           "#define START_ROLES(part, blocks, threads, bytes, stream, ...) "
                           "START(part, blocks, threads, bytes, stream, __VA_ARGS__)\n"
                           "typedef CUtensorMap tensor_map;\n"
                           "DEVICE uint32_t shared_at(const void *at) { return "
                           "(uint32_t)__cvta_generic_to_shared(at); }\n";

static const char barriers[] =
    "/* A barrier in shared memory: made for so many arrivals a phase; known to boxes; an arrival; "
    "one that says how many\n"
    " * bytes come in this phase, too; until the phase of that parity is over. */\n"
    "DEVICE void barrier_init(uint64_t *at, int count) {\n"
    "  asm volatile(\"mbarrier.init.shared::cta.b64 [%0], %1;\" ::\"r\"(shared_at(at)), "
    "\"r\"(count) : \"memory\");\n"
    "}\n"
    "DEVICE void barrier_known(void) { asm volatile(\"fence.mbarrier_init.release.cluster;\" ::: "
    "\"memory\"); }\n"
    "DEVICE void barrier_arrive(uint64_t *at) {\n"
    "  asm volatile(\"mbarrier.arrive.shared::cta.b64 _, [%0];\" ::\"r\"(shared_at(at)) : "
    "\"memory\");\n"
    "}\n"
    "DEVICE void barrier_expect(uint64_t *at, int bytes) {\n"
    "  asm volatile(\"mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\" "
    "::\"r\"(shared_at(at)), \"r\"(bytes) : \"memory\");\n"
    "}\n"
    "#ifdef TILEFLOW_WATCHDOG /* cycles: a wait that takes longer says where, and ends the kernel "
    "*/\n"
    "#include <cstdio>\n"
    "DEVICE void barrier_wait(uint64_t *at, unsigned parity) {\n"
    "  for (const long long began = clock64();;) {\n    unsigned over;\n"
    "    asm volatile(\"{\\n.reg .pred done;\\nmbarrier.try_wait.parity.shared::cta.b64 done, "
    "[%1], %2;\\n\"\n"
    "                 \"selp.u32 %0, 1, 0, done;\\n}\" : \"=r\"(over) : \"r\"(shared_at(at)), "
    "\"r\"(parity) : \"memory\");\n"
    "    if (over) return;\n"
    "    if (clock64() - began < TILEFLOW_WATCHDOG) continue;\n"
    "    if (threadIdx.x == 0)\n"
    "      printf(\"block %d, warp %d: the barrier at byte %u never ends its phase of parity "
    "%u\\n\", (int)blockIdx.x, (int)threadIdx.y,\n             shared_at(at), parity);\n"
    "    __trap();\n  }\n}\n"
    "#else\n"
    "DEVICE void barrier_wait(uint64_t *at, unsigned parity) {\n"
    "  asm volatile(\"{\\n.reg .pred done;\\nagain: mbarrier.try_wait.parity.shared::cta.b64 done, "
    "[%0], %1;\\n\"\n"
    "               \"@!done bra again;\\n}\" ::\"r\"(shared_at(at)), \"r\"(parity) : "
    "\"memory\");\n}\n"
    "#endif\n";

static const char clusters[] =
    "/* Clusters of two blocks: which of them the block is; all threads of both meet; an arrival "
    "at the same barrier of\n"
    " * the block `to`, who brings what comes next: the tile was read by products alone, which "
    "were waited for, so there is\n"
    " * nothing to release to the cluster (`.release.cluster` would be a barrier of the whole "
    "GPU's memory). */\n"
    "DEVICE int cluster_member(void) {\n  unsigned rank;\n"
    "  asm volatile(\"mov.u32 %0, %%cluster_ctarank;\" : \"=r\"(rank));\n  return (int)rank;\n}\n"
    "DEVICE void cluster_meet(void) {\n"
    "  asm volatile(\"barrier.cluster.arrive.release;\\nbarrier.cluster.wait.acquire;\" ::: "
    "\"memory\");\n}\n"
    "DEVICE void barrier_arrive_at(uint64_t *at, int to) {\n"
    "  asm volatile(\"{\\n.reg .b32 there;\\nmapa.shared::cluster.u32 there, %0, %1;\\n\"\n"
    "               \"mbarrier.arrive.shared::cluster.b64 _, [there];\\n}\" "
    "::\"r\"(shared_at(at)), \"r\"(to) : \"memory\");\n}\n"
    "static cudaLaunchConfig_t clusters_of(cudaLaunchAttribute *pair, int blocks, dim3 threads, "
    "size_t bytes, cudaStream_t stream) {\n"
    "  cudaLaunchConfig_t config = {};\n"
    "  pair->id = cudaLaunchAttributeClusterDimension;\n"
    "  pair->val.clusterDim.x = 2, pair->val.clusterDim.y = 1, pair->val.clusterDim.z = 1;\n"
    "  config.gridDim = dim3((unsigned)blocks), config.blockDim = threads, config.dynamicSmemBytes "
    "= bytes;\n"
    "  config.stream = stream, config.attrs = pair, config.numAttrs = 1;\n  return config;\n}\n"
    "/* Blocks that run at a time, in clusters, of so many. */\n"
    "static cudaError_t blocks_of_clusters(const void *part, int *blocks, dim3 threads, size_t "
    "bytes) {\n"
    "  cudaLaunchAttribute pair;\n  int most = 0;\n"
    "  const cudaLaunchConfig_t config = clusters_of(&pair, *blocks / 2 * 2 ? *blocks / 2 * 2 : 2, "
    "threads, bytes, NULL);\n"
    "  const cudaError_t bad = cudaOccupancyMaxActiveClusters(&most, part, &config);\n"
    "  if (bad != cudaSuccess) return bad;\n"
    "  *blocks = *blocks / 2 < most ? *blocks / 2 * 2 : 2 * most;\n"
    "  return *blocks ? cudaSuccess : cudaErrorLaunchOutOfResources;\n}\n"
    "template <class... P, class... A>\n"
    "static cudaError_t start_clusters(void (*part)(P...), int blocks, dim3 threads, size_t bytes, "
    "cudaStream_t stream, A... args) {\n"
    "  cudaLaunchAttribute pair;\n"
    "  const cudaLaunchConfig_t config = clusters_of(&pair, blocks, threads, bytes, stream);\n"
    "  return cudaLaunchKernelEx(&config, part, args...);\n}\n"
    "#define START_CLUSTERS(...) start_clusters(__VA_ARGS__)\n";

static const char leaving[] =
    "/* The end of a group of boxes that leave; until at most `left` of the thread's groups are "
    "still being read. */\n"
    "DEVICE void store_end(void) { asm volatile(\"cp.async.bulk.commit_group;\" ::: \"memory\"); "
    "}\n"
    "template <int left> DEVICE void store_wait(void) {\n"
    "  asm volatile(\"cp.async.bulk.wait_group.read %0;\" ::\"n\"(left) : \"memory\");\n}\n"
    "/* What the thread wrote is there for boxes and products. */\n"
    "DEVICE void proxy_fence(void) { asm volatile(\"fence.proxy.async.shared::cta;\" ::: "
    "\"memory\"); }\n"
    "/* So many threads meet. */\n"
    "DEVICE void group_meet(int id, int threads) {\n"
    "  asm volatile(\"bar.sync %0, %1;\" ::\"r\"(id), \"r\"(threads) : \"memory\");\n}\n"
    "/* Two warpgroups in turn: until the other has passed the turn on; it is passed on. */\n"
    "DEVICE void turn_wait(int id) { group_meet(id, 256); }\n"
    "DEVICE void turn_pass(int id) { asm volatile(\"bar.arrive %0, 256;\" ::\"r\"(id) : "
    "\"memory\"); }\n"
    "/* Whether any lane of the warp has it. */\n"
    "DEVICE bool any_lane(bool x) { return __any_sync(0xffffffffu, x); }\n";

static const char products[] =
    "/* Products of a warpgroup: behind what was done with registers; the end of a group; until at "
    "most `left` are under way. */\n"
    "DEVICE void multiply_begin(void) { asm volatile(\"wgmma.fence.sync.aligned;\" ::: "
    "\"memory\"); }\n"
    "DEVICE void multiply_end(void) { asm volatile(\"wgmma.commit_group.sync.aligned;\" ::: "
    "\"memory\"); }\n"
    "template <int left> DEVICE void multiply_wait(void) {\n"
    "  asm volatile(\"wgmma.wait_group.sync.aligned %0;\" ::\"n\"(left) : \"memory\");\n}\n"
    "/* Sums that products add to: from here on as they left them, and not before. */\n"
    "template <int n> DEVICE void sums_hold(float *d) {\n"
    "#pragma unroll\n"
    "  for (int i = 0; i < n; i++) asm volatile(\"\" : \"+f\"(d[i])::\"memory\");\n}\n"
    "/* Registers of each thread of a warpgroup from now on. */\n"
    "template <int n> DEVICE void registers_fewer(void) { asm "
    "volatile(\"setmaxnreg.dec.sync.aligned.u32 %0;\" ::\"n\"(n)); }\n"
    "template <int n> DEVICE void registers_more(void) { asm "
    "volatile(\"setmaxnreg.inc.sync.aligned.u32 %0;\" ::\"n\"(n)); }\n"
    "/* Sums of 64 rows and n columns = (more: +=) rows by columns, 32 bytes of the sum, both in "
    "shared memory, as descriptors say;\n"
    " * or the rows in registers.  Turned: neighbours are across the sum. */\n"
    "template <int n, int turned_a, int turned_b> DEVICE void multiply_tiles(float *d, uint64_t a, "
    "uint64_t b, bool more);\n"
    "template <int n, int turned_b> DEVICE void multiply_rows(float *d, const uint32_t *a, "
    "uint64_t b, bool more);\n";

static const char host_finds[] =
    "/* The driver's function that makes tensor maps, which a thread looks for once. */\n"
    "typedef CUresult (*map_encode)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const "
    "cuuint64_t *, const cuuint64_t *,\n"
    "                               const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave, "
    "CUtensorMapSwizzle,\n"
    "                               CUtensorMapL2promotion, CUtensorMapFloatOOBfill);\n"
    "static cudaError_t map_find_encode(map_encode *encode) {\n"
    "  static thread_local void *entry = NULL;\n"
    "  if (!entry) {\n    cudaDriverEntryPointQueryResult found;\n"
    "#if CUDART_VERSION >= 12050\n"
    "    const cudaError_t bad =\n"
    "        cudaGetDriverEntryPointByVersion(\"cuTensorMapEncodeTiled\", &entry, 12000, "
    "cudaEnableDefault, &found);\n"
    "#else /* takes the toolkit's own version */\n"
    "    const cudaError_t bad = cudaGetDriverEntryPoint(\"cuTensorMapEncodeTiled\", &entry, "
    "cudaEnableDefault, &found);\n"
    "#endif\n"
    "    if (bad != cudaSuccess) return entry = NULL, bad;\n"
    "    if (found != cudaDriverEntryPointSuccess) return entry = NULL, "
    "cudaErrorInsufficientDriver;\n"
    "  }\n"
    "  *encode = (map_encode)entry;\n  return cudaSuccess;\n}\n";
/* each: of boxes with steps, the stride along each rank. */
static const char host_begins[] = "/* cudaErrorInvalidValue where the driver refuses: addresses "
                                  "and steps must be multiples of 16 bytes. */\n"
                                  "static cudaError_t map_make(tensor_map *m, CUtensorMapDataType "
                                  "type, const void *base, int rank, const int64_t *extent,\n"
                                  "                            const int64_t *step, const int *box";
static const char host_each[] = ", const int *each = NULL";
static const char host[] =
    ") {\n"
    "  const int bytes = type == CU_TENSOR_MAP_DATA_TYPE_UINT8 ? 1 : type == "
    "CU_TENSOR_MAP_DATA_TYPE_FLOAT32 ? 4 : 2;\n"
    "  cuuint64_t extents[5], steps[5];\n  cuuint32_t boxes[5], ones[5] = {1, 1, 1, 1, 1};\n"
    "  map_encode encode = NULL;\n  const cudaError_t bad = map_find_encode(&encode);\n"
    "  if (bad != cudaSuccess) return bad;\n"
    "  for (int r = 0; r < rank; r++) {\n"
    "    extents[r] = (cuuint64_t)extent[r], boxes[r] = (cuuint32_t)box[r];\n"
    "    if (r && (step[r] <= 0 || step[r] * bytes % 16)) return cudaErrorInvalidValue;\n"
    "    if (r) steps[r - 1] = (cuuint64_t)step[r] * (cuuint64_t)bytes;\n  }\n";
static const char host_steps[] =
    "  for (int r = 1; r < rank && each; r++) ones[r] = (cuuint32_t)each[r];\n";
static const char host_ends[] =
    "  const CUresult made = encode(m, type, (cuuint32_t)rank, (void *)(uintptr_t)base, extents, "
    "steps, boxes, ones,\n"
    "                               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,\n"
    "                               CU_TENSOR_MAP_L2_PROMOTION_L2_256B, "
    "CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);\n"
    "  return made == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;\n}\n";

/* Common to device and emulation. */
static const char both[] =
    "/* A tile for products, with the swizzle of 128 bytes: bytes from its begin; from a panel to "
    "the next, and from eight\n"
    " * rows to the next (PTX ISA, 9.7.15.5.1).  Where it begins is the lower half's alone: from "
    "step to step of a sum\n"
    " * machine code adds a number to that. */\n"
    "DEVICE uint64_t matrix_at(const void *at, int along, int leading, int step) {\n"
    "  const uint32_t low = ((shared_at(at) & 0x3ffff) >> 4 | (uint32_t)(leading >> 4) << 16) + "
    "(uint32_t)(along >> 4);\n"
    "  return (uint64_t)low | (uint64_t)(step >> 4) << 32 | (uint64_t)1 << 62;\n}\n";

/* Host code: storage of the maps of a call's arrays. */
static const char kept[] = "enum { MAPS_KEPT = 32 };\n"
                           "static unsigned place_of(const void *args, size_t bytes) {\n"
                           "  uint64_t h = UINT64_C(14695981039346656037), word;\n"
                           "  for (size_t i = 0; i + sizeof word <= bytes; i += sizeof word) {\n"
                           "    memcpy(&word, (const char *)args + i, sizeof word);\n"
                           "    h = (h ^ word) * UINT64_C(1099511628211), h ^= h >> 32;\n  }\n"
                           "  return (unsigned)(h % MAPS_KEPT);\n}\n";

static const char staged[] =
    "/* Two neighbours of a warp's row LANE / 4 (down: 8 below it), columns 8 * eight + 2 * (LANE "
    "% 4), to a swizzled panel. */\n";
static const char staged_halves[] =
    "DEVICE void put_staged(uint16_t *panel, int down, int eight, const float *two) {\n"
    "  const int row = (int)threadIdx.y % 4 * 16 + 8 * down + LANE / 4;\n"
    "  uint32_t *const to = (uint32_t *)((unsigned char *)panel + row * 128 + ((eight ^ row % "
    "8) * 16 + LANE % 4 * 4));\n"
    "  WRITES(to, 4);\n  *to = pack(two[0], two[1]);\n}\n";
static const char staged_words[] =
    "struct alignas(8) two_words {\n  float x, y;\n};\n"
    "DEVICE void put_staged(float *panel, int down, int eight, const float *two) {\n"
    "  const int row = (int)threadIdx.y % 4 * 16 + 8 * down + LANE / 4;\n"
    "  two_words *const to = (two_words *)((unsigned char *)panel + row * 128 + (((2 * eight + "
    "LANE % 4 / 2) ^ row % 8) * 16 + LANE % 2 * 8));\n"
    "  WRITES(to, 8);\n  *to = two_words{two[0], two[1]};\n}\n";

static const char staged_bytes[] =
    "DEVICE void put_staged(uint8_t *panel, int down, int eight, const float *two) {\n"
    "  const int row = (int)threadIdx.y % 4 * 16 + 8 * down + LANE / 4;\n"
    "  uint16_t *const to = (uint16_t *)(panel + row * 128 + ((eight / 2 ^ row % 8) * 16 + eight % "
    "2 * 8 + LANE % 4 * 2));\n"
    "  WRITES(to, 2);\n  *to = pack_two_e4m3(two[0], two[1]);\n}\n";

/* ---- by rank and by width ------------------------------------------------------------------- */

static void coordinates(FILE *out, int rank) {
  for (int r = 0; r < rank; r++)
    fprintf(out, ", int c%d", r);
}

/* The coordinates as the instruction's operands from number `first` on. */
static void places(FILE *out, int rank, int first) {
  for (int r = 0; r < rank; r++)
    fprintf(out, "%s%%%d", r ? ", " : "", first + r);
}

static void inputs(FILE *out, int rank) {
  for (int r = 0; r < rank; r++)
    fprintf(out, ", \"r\"(c%d)", r);
}

/* A box that fills the same place in both blocks of a cluster, and counts at the barriers of
 * both. */
static void box_for_all(FILE *out, int rank) {
  fputs("DEVICE void load_box_for_all(void *to, const tensor_map *map, uint64_t *barrier", out);
  coordinates(out, rank);
  fprintf(out,
          ") {\n"
          "  asm "
          "volatile(\"cp.async.bulk.tensor.%dd.shared::cluster.global.mbarrier::complete_tx::bytes."
          "multicast::cluster [%%0], [%%1, {",
          rank);
  places(out, rank, 4);
  fputs("}], [%2], %3;\" ::\"r\"(shared_at(to)), \"l\"(map), \"r\"(shared_at(barrier)), "
        "\"h\"((uint16_t)3)",
        out);
  inputs(out, rank);
  fputs(" : \"memory\");\n}\n", out);
}

static void boxes(FILE *out, int rank) {
  fputs("DEVICE void load_box(void *to, const tensor_map *map, uint64_t *barrier", out);
  coordinates(out, rank);
  fprintf(out,
          ") {\n"
          "  asm "
          "volatile(\"cp.async.bulk.tensor.%dd.shared::cluster.global.mbarrier::complete_tx::bytes "
          "[%%0], [%%1, {",
          rank);
  places(out, rank, 3);
  fputs("}], [%2];\" ::\"r\"(shared_at(to)), \"l\"(map), \"r\"(shared_at(barrier))", out);
  inputs(out, rank);
  fputs(" : \"memory\");\n}\nDEVICE void store_box(const tensor_map *map, const void *from", out);
  coordinates(out, rank);
  fprintf(out,
          ") {\n  asm volatile(\"cp.async.bulk.tensor.%dd.global.shared::cta.bulk_group [%%0, {",
          rank);
  places(out, rank, 2);
  fputs("}], [%1];\" ::\"l\"(map), \"r\"(shared_at(from))", out);
  inputs(out, rank);
  fputs(" : \"memory\");\n}\n", out);
}

/* The instruction's other operands are numbered after its sums. */
static void print_wgmma(FILE *out, const cu_mma *m, int n, bool rows, bool turned_a,
                        bool turned_b) {
  const int sums = n / 2, a = rows ? 4 : 1;
  if (rows)
    fprintf(out,
            "template <> __device__ __forceinline__ void multiply_rows<%d, %d>(float *d, const "
            "uint32_t *a, uint64_t b, bool more) {\n",
            n, turned_b);
  else
    fprintf(out,
            "template <> __device__ __forceinline__ void multiply_tiles<%d, %d, %d>(float *d, "
            "uint64_t a, uint64_t b, bool more) {\n",
            n, turned_a, turned_b);
  fprintf(out,
          "  asm volatile(\"{\\n.reg .pred more;\\nsetp.ne.b32 more, %%%d, 0;\\n\"\n"
          "               \"wgmma.mma_async.sync.aligned.m64n%dk%d.f32.%s.%s {",
          sums + a + 1, n, CU_STEP_BYTES / ir_bytes(m->kernel.a), m->type, m->type);
  for (int i = 0; i < sums; i++)
    fprintf(out, "%s%%%d", i ? "," : "", i);
  fputs("}, ", out);
  for (int i = 0; i < a; i++)
    fprintf(out, "%s%%%d%s", i || !rows ? i ? ", " : "" : "{", sums + i,
            i == a - 1 && rows ? "}" : "");
  fprintf(out, ", %%%d, more, 1, 1", sums + a);
  if (!rows && m->turns) fprintf(out, ", %d", turned_a);
  if (m->turns) fprintf(out, ", %d", turned_b);
  fputs(";\\n}\"\n               :", out);
  for (int i = 0; i < sums; i++)
    fprintf(out, "%s\"+f\"(d[%d])", i ? ", " : " ", i);
  fputs("\n               : ", out);
  for (int i = 0; i < a; i++)
    fprintf(out, rows ? "\"r\"(a[%d]), " : "\"l\"(a), ", i);
  fputs("\"l\"(b), \"r\"((int)more));\n}\n", out);
}

typedef struct {
  unsigned ranks,
      common; /* the ranks of boxes that exist, one bit each; those of boxes that clusters share */
  bool steps; /* some boxes have steps */
  bool leaves[IR_I64 + 1]; /* [ir_type] results of the type leave by boxes */
  bool used[CU_GROUP_COLUMNS / 16 + 1][2][2]
           [2]; /* columns / 16, rows, transposed a, transposed b */
} used;

static bool is_turned(const ir_program *p, const ir_stmt *s, int read) {
  const tf_op *op = &p->tree->workload->ops[s->op];
  const ir_buffer *b = &p->buffers[s->nest.from[read]];
  return op->reads[read].index[cu_column_rank(b)].terms[0].dim != op->dims[cu_of(s)->fragments->k];
}

static void find(const ir_program *p, const ir_body *b, used *u) {
  for (int i = 0; i < b->n; i++) {
    const ir_stmt *s = b->s[i];
    find(p, &s->body, u);
    if (s->kind == IR_COPY && s->copy.queue == CU_BOXES) {
      const ir_stack *stack = cu_stack(&p->buffers[s->copy.to]);
      u->ranks |= 1u << p->buffers[s->copy.from].rank;
      for (int k = 0; stack && k < stack->n; k++)
        u->steps |= stack->step[k] > 1;
    }
    if (s->kind == IR_SAVE && cu_of(s)->by_boxes) {
      u->ranks |= 1u << p->buffers[s->save.to].rank;
      u->leaves[p->buffers[s->save.to].type] = true;
    }
    if (s->kind != IR_NEST || !cu_of(s)->fragments) continue;
    const ir_buffer *out = &p->buffers[p->buffer_of[p->tree->workload->ops[s->op].out]];
    const bool rows = p->buffers[s->nest.from[cu_of(s)->fragments->a]].space == CU_FRAGMENT;
    u->used[out->extent[cu_column_rank(out)] / 16][rows]
           [!rows && is_turned(p, s, cu_of(s)->fragments->a)]
           [is_turned(p, s, cu_of(s)->fragments->b)] = true;
  }
}

static used used_of(const ir_program *p) {
  used u = {0};
  bool *same = TF_ARRAY(p->arena, bool, (size_t)p->n_buffers + 1);
  for (int i = 0; i < p->body.n; i++) {
    if (!cu_is_groups(p->body.s[i])) continue;
    find(p, &p->body.s[i]->body, &u);
    const bool pairs = same && cu_cluster(p, p->body.s[i], same);
    for (int b = 0; pairs && b < p->n_buffers; b++)
      if (same[b]) u.common |= 1u << p->buffers[b].rank;
  }
  return u;
}

void cu_groups_device(FILE *out, const ir_program *p) {
  const used u = used_of(p);
  if (!u.ranks) return;
  fputs("#if !defined(TILEFLOW_EMULATE)\n", out);
  fputs(arch, out), fputs(barriers, out), fputs(u.common ? clusters : "", out), fputs(leaving, out),
      fputs(products, out);
  for (int r = 1; r <= CU_BOX_RANKS; r++)
    if (u.ranks >> r & 1) boxes(out, r);
  for (int r = 1; r <= CU_BOX_RANKS; r++)
    if (u.common >> r & 1) box_for_all(out, r);
  for (int n = 0; n <= CU_GROUP_COLUMNS / 16; n++)
    for (int i = 0; i < 8; i++)
      if (u.used[n][i >> 2][i >> 1 & 1][i & 1])
        print_wgmma(out, cu_mma_of(p), 16 * n, i >> 2, i >> 1 & 1, i & 1);
  fputs(host_finds, out), fputs(host_begins, out), fputs(u.steps ? host_each : "", out),
      fputs(host, out);
  fputs(u.steps ? host_steps : "", out), fputs(host_ends, out);
  fputs("#endif\n", out);
  fputs(kept, out), fputs(both, out);
  const bool halves = u.leaves[IR_BF16] || u.leaves[IR_F16];
  if (halves || u.leaves[IR_F32] || u.leaves[IR_F8]) fputs(staged, out);
  if (halves) fputs(staged_halves, out);
  if (u.leaves[IR_F32]) fputs(staged_words, out);
  if (u.leaves[IR_F8]) fputs(staged_bytes, out);
}
