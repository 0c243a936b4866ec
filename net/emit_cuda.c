/* A plan as a folder of CUDA C++: the kernels of each distinct group, and network.cu, which
 * launches them in order. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/backend/cuda/print/cuda.h"
#include "codegen/backend/target.h"
#include "net/emit.h"

enum { FILES_EACH = 3, FILES_MORE = 12, FILE_NAME = 40 };
enum { ALIGN = 256 }; /* alignment of the arena and of the kernels' scratch in bytes */

/* ---- kernels -------------------------------------------------------------------------------- */
static bool make_kernel(net_emission *e, int i, const char *name) {
  net_kernel *k = &e->kernel[i];
  tf_emit_options o = *e->o;
  k->group = &e->plan->groups[i];
  k->first_group = k->group->like;
  if (!net_has_kernel(e, i)) return true;
  snprintf(k->name, sizeof k->name, "%.120s_g%d", name, i + 1);
  o.name = k->name;
  o.result = NULL;
  o.measured = NULL;
  k->files = tf_emit(k->group->tree, "cuda", &o, e->d);
  if (!k->files)
    tf_note(e->d, k->group->group->workload->ops[0].at,
            "op '%.60s' is in this group, the plan's %d", k->group->group->workload->ops[0].name,
            i + 1);
  return k->files;
}

static const char *text_of(const tf_emitted *e, const char *name) {
  for (int f = 0; e && f < e->n; f++)
    if (!strcmp(e->file[f].name, name)) return e->file[f].text;
  return NULL;
}

/* The text of a file that is the same for all kernels that have it; NULL: no kernel has it. */
static const char *common(const net_emission *e, const char *name) {
  const char *text = NULL;
  for (int i = 0; i < e->plan->n && !text; i++)
    if (net_has_kernel(e, i)) text = text_of(e->kernel[i].files, name);
  return text;
}

static bool has_groups(const net_emission *e) { return common(e, "hopper.hpp"); }

static bool add_kernel(tf_emitted *out, const net_kernel *k, int i) {
  static const char *const names[FILES_EACH] = {"kernel.cu", "kernel.h", "kernel_device.h"},
                           *const ends[] = {".cu", ".h", "_device.h"};
  char header[FILE_NAME], device[FILE_NAME], name[FILE_NAME];
  snprintf(header, sizeof header, "\"g%d.h\"", i + 1);
  snprintf(device, sizeof device, "\"g%d_device.h\"", i + 1);
  bool ok = true;
  for (int r = 0; r < FILES_EACH && ok; r++) {
    const char *from = text_of(k->files, names[r]);
    snprintf(name, sizeof name, "g%d%s", i + 1, ends[r]);
    char *text = from ? net_replace(strdup(from), "\"kernel.h\"", header) : NULL;
    ok = net_add_file(out, name, net_replace(text, "\"kernel_device.h\"", device));
  }
  return ok;
}

/* ---- network.cu: the kernels in the order of the plan, in one stream, on arguments and on the
 * arena -----------------
 */
static void call(FILE *out, const net_emission *e, int i) {
  const tf_workload *wl = e->plan->groups[i].group->workload;
  fprintf(out, "\n/* %d:", i + 1);
  for (int o = 0; o < wl->n_ops; o++)
    fprintf(out, " %s", wl->ops[o].name);
  fprintf(out,
          " */\nstatic int run_%d(const " C_NAME
          "_args *args, unsigned char *arena, void *scratch, size_t bytes, void *stream) {\n",
          i + 1);
  net_bind_all(out, e, i);
  fprintf(out,
          "  (void)args;\n  (void)arena;\n  return %s_device(&k, scratch, bytes, stream);\n}\n",
          net_called(e, i)->name);
}

static void sizes(FILE *out, const net_emission *e) {
  fputs("\nstatic size_t most_scratch(void) {\n  size_t most = 0, n;\n", out);
  for (int i = 0; i < e->plan->n; i++)
    if (net_has_kernel(e, i))
      fprintf(out, "  if ((n = %s_device_workspace()) > most) most = n;\n", e->kernel[i].name);
  fprintf(out,
          "  return most;\n}\n\nsize_t " C_NAME
          "_device_workspace(void) { return (size_t)ARENA + %d + most_scratch(); }\n",
          2 * ALIGN);
}

/* ---- weights in the kernels' layout --------------------------------------------------------- */
/* Placed after the arena, for the life of the workspace. */
static void place_weights(net_emission *e) {
  for (int z = 0; z < e->wl->n_tensors; z++) {
    if (!net_is_packed(e, z)) continue;
    e->memory.offset[z] = (e->memory.bytes + ALIGN - 1) / ALIGN * ALIGN;
    e->memory.bytes = e->memory.offset[z] + tf_tensor_words(&e->wl->tensors[z]) * ir_bytes(e->data);
  }
}

static const char packing[] =
    "#if defined(TILEFLOW_EMULATE)\n"
    "static void pack_one(const weights &w, int64_t i) {\n#else\n"
    "static __device__ void pack_one(const weights &w, int64_t i) {\n#endif\n"
    "  int64_t at = 0, left = i;\n"
    "  for (int r = RANKS - 1; r >= 0; left /= w.extent[r--]) at += left % w.extent[r] * "
    "w.step[r];\n"
    "  w.to[i] = w.from[at];\n}\n\n"
    "#if defined(TILEFLOW_EMULATE)\n"
    "static int pack(const weights &w, void *) {\n"
    "  for (int64_t i = 0; i < w.n; i++) pack_one(w, i);\n  return " C_NAME "_done;\n}\n#else\n"
    "static __global__ void __launch_bounds__(256) pack_part(const weights w) {\n"
    "  for (int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x; i < w.n; i += (int64_t)gridDim.x "
    "* 256) pack_one(w, i);\n}\n\n"
    "static int pack(const weights &w, void *stream) {\n"
    "  const int64_t blocks = (w.n + 255) / 256;\n"
    "  pack_part<<<(unsigned)(blocks < 1024 ? blocks : 1024), 256, 0, (cudaStream_t)stream>>>(w);\n"
    "  return cudaGetLastError() == cudaSuccess ? " C_NAME "_done : FAILED;\n}\n#endif\n";

/* The q-th rank of a tensor in the order of packed weights. */
static int rank_at(const net_emission *e, int z, int q) {
  const int last = e->last[z], rank = e->wl->tensors[z].rank;
  return q + 1 == rank ? last : q + (q >= last);
}

static void pack_one(FILE *out, const net_emission *e, int z, int ranks) {
  const tf_tensor *t = &e->wl->tensors[z];
  fprintf(out, "  if (!status) status = pack({args->"), c_field(out, t->name);
  fprintf(out, ", (%s *)(void *)(p->arena + %" PRId64 "), %" PRId64 ", {", c_type(e->data),
          e->memory.offset[z], tf_tensor_words(t));
  for (int q = t->rank - ranks; q < t->rank; q++)
    fprintf(out, "%s%" PRId64, q > t->rank - ranks ? ", " : "",
            q < 0 ? INT64_C(1) : t->extent[rank_at(e, z, q)]);
  fputs("}, {", out);
  for (int q = t->rank - ranks; q < t->rank; q++) {
    const int r = q < 0 ? -1 : rank_at(e, z, q);
    fputs(q > t->rank - ranks ? ", " : "", out);
    if (r < 0 || r + 1 == t->rank)
      fputs(r < 0 ? "0" : "1", out);
    else
      fputs("args->", out), c_stride_field(out, t->name), fprintf(out, "[%d]", r);
  }
  fputs("}}, stream);\n", out);
}

static void pack_all(FILE *out, const net_emission *e) {
  int ranks = 0;
  for (int z = 0; z < e->wl->n_tensors; z++)
    if (net_is_packed(e, z) && e->wl->tensors[z].rank > ranks) ranks = e->wl->tensors[z].rank;
  if (ranks)
    fprintf(out,
            "\n/* Weights of convolutions with their channels last: element i of them, in rows "
            "without gaps. */\nenum { RANKS = %d };\n"
            "typedef struct {\n  const %s *from;\n  %s *to;\n"
            "  int64_t n, extent[RANKS], step[RANKS];\n} weights;\n\n%s",
            ranks, c_type(e->data), c_type(e->data), packing);
  fputs("\nstatic int pack_all(const " C_NAME
        "_args *args, const places *p, void *stream) {\n  (void)args, (void)p, (void)stream;\n"
        "  int status = " C_NAME "_done;\n",
        out);
  for (int z = 0; z < e->wl->n_tensors; z++)
    if (net_is_packed(e, z)) pack_one(out, e, z, ranks);
  fputs("  return status;\n}\n\n"
        "int " C_NAME "_device_pack(const " C_NAME
        "_args *args, void *workspace, size_t bytes, void *stream) {\n  places p;\n"
        "  const int status = places_of(args, workspace, bytes, &p);\n"
        "  return status ? status : pack_all(args, &p, stream);\n}\n",
        out);
}

/* The entry for arrays on the device. */
static void entry(FILE *out, const net_emission *e) {
  fputs("\n/* Where what passes between kernels stands, and what each has besides. */\n"
        "typedef struct {\n  unsigned char *arena;\n  void *scratch;\n  size_t rest;\n} places;\n\n"
        "static int places_of(const " C_NAME
        "_args *args, void *workspace, size_t bytes, places *p) {\n"
        "  if (!args || !workspace) return BAD_ARGUMENT;\n",
        out);
  for (int z = 0; z < e->wl->n_tensors; z++)
    if (c_is_argument(&e->wl->tensors[z]))
      fputs("  if (!args->", out), c_field(out, e->wl->tensors[z].name),
          fputs(") return BAD_ARGUMENT;\n", out);
  fprintf(out,
          "  if (bytes < " C_NAME "_device_workspace()) return " C_NAME "_small_workspace;\n"
          "  p->arena = (unsigned char *)(((uintptr_t)workspace + %d) / %d * %d);\n"
          "  p->scratch = p->arena + (ARENA + %d) / %d * %d;\n"
          "  p->rest = most_scratch();\n  return " C_NAME "_done;\n}\n",
          ALIGN - 1, ALIGN, ALIGN, ALIGN - 1, ALIGN, ALIGN);
  pack_all(out, e);
  fputs("\nint " C_NAME "_device_packed(const " C_NAME
        "_args *args, void *workspace, size_t bytes, void *stream) {\n"
        "  places p;\n  int status = places_of(args, workspace, bytes, &p);\n",
        out);
  for (int i = 0; i < e->plan->n; i++)
    fprintf(out, "  if (!status) status = run_%d(args, p.arena, p.scratch, p.rest, stream);\n",
            i + 1);
  fputs("  return status;\n}\n\n"
        "int " C_NAME "_device(const " C_NAME
        "_args *args, void *workspace, size_t bytes, void *stream) {\n"
        "  const int status = " C_NAME "_device_pack(args, workspace, bytes, stream);\n"
        "  return status ? status : " C_NAME "_device_packed(args, workspace, bytes, stream);\n}\n",
        out);
}

/* ---- the same as a graph with branches ------------------------------------------------------ */
static bool waits(const net_branches *b, int i, int j) {
  return b->waits[(size_t)i * (size_t)b->groups + (size_t)j];
}

static bool is_waited_for(const net_branches *b, int j) {
  bool any = false;
  for (int i = j + 1; i < b->groups; i++)
    any |= waits(b, i, j);
  return any;
}

/* A group that may run next, of the last branch that has one; -1: none is left. */
static int next_of(const net_branches *b, const bool *ran) {
  int best = -1;
  for (int i = 0; i < b->groups; i++) {
    bool may = !ran[i] && (best < 0 || b->branch[i] > b->branch[best]);
    for (int j = 0; j < i && may; j++)
      may = ran[j] || (!waits(b, i, j) && b->branch[i] != b->branch[j]);
    if (may) best = i;
  }
  return best;
}

/* The emulation, which has no streams, runs groups in another order that the branches allow. */
static bool emulated_graph(FILE *out, const net_emission *e) {
  bool *ran = calloc((size_t)e->plan->n + 1, sizeof *ran);
  fputs("\n#if defined(TILEFLOW_EMULATE)\n"
        "/* A graph is its arguments; its groups run in another order that its branches allow. */\n"
        "typedef struct {\n  " C_NAME "_args args;\n  places at;\n} graph_there;\n\n"
        "int " C_NAME "_graph(const " C_NAME
        "_args *args, void *workspace, size_t bytes, void **graph) {\n"
        "  graph_there *const g = (graph_there *)malloc(sizeof *g);\n  if (!g || !graph) exit(2);\n"
        "  int status = places_of(args, workspace, bytes, &g->at);\n"
        "  if (!status) status = pack_all(args, &g->at, NULL);\n"
        "  if (!status) g->args = *args;\n  if (status) free(g);\n"
        "  *graph = status ? NULL : g;\n  return status;\n}\n\n"
        "int " C_NAME "_graph_start(void *graph, void *stream) {\n"
        "  const graph_there *const g = (graph_there *)graph;\n  int status = g ? " C_NAME
        "_done : BAD_ARGUMENT;\n",
        out);
  for (int i; ran && (i = next_of(&e->branches, ran)) >= 0; ran[i] = true)
    fprintf(out,
            "  if (!status) status = run_%d(&g->args, g->at.arena, g->at.scratch, g->at.rest, "
            "stream);\n",
            i + 1);
  fputs("  return status;\n}\n\nvoid " C_NAME "_graph_free(void *graph) { free(graph); }\n#else\n",
        out);
  const bool ok = ran != NULL;
  free(ran);
  return ok;
}

static void branched(FILE *out, const net_emission *e) {
  const net_branches *b = &e->branches;
  fprintf(
      out,
      "enum { GROUPS = %d, BRANCHES = %d };\n\n"
      "static int wait_for(cudaStream_t on, cudaEvent_t event) {\n"
      "  return cudaStreamWaitEvent(on, event, 0) == cudaSuccess ? " C_NAME "_done : FAILED;\n}\n\n"
      "static int mark(cudaEvent_t event, cudaStream_t on) {\n"
      "  return cudaEventRecord(event, on) == cudaSuccess ? " C_NAME "_done : FAILED;\n}\n\n"
      "/* Groups in streams, of which each is a branch; events: that behind each group, then those "
      "of branches. */\n"
      "static int run_branches(const " C_NAME
      "_args *args, const places *p, cudaStream_t *on, cudaEvent_t *behind) {\n"
      "  int status = mark(behind[GROUPS], on[0]);\n"
      "  for (int b = 1; b < BRANCHES && !status; b++) status = wait_for(on[b], behind[GROUPS]);\n",
      b->groups, b->n);
  for (int i = 0; i < b->groups; i++) {
    for (int j = 0; j < i; j++)
      if (waits(b, i, j))
        fprintf(out, "  if (!status) status = wait_for(on[%d], behind[%d]);\n", b->branch[i], j);
    fprintf(out, "  if (!status) status = run_%d(args, p->arena, p->scratch, p->rest, on[%d]);\n",
            i + 1, b->branch[i]);
    if (is_waited_for(b, i))
      fprintf(out, "  if (!status) status = mark(behind[%d], on[%d]);\n", i, b->branch[i]);
  }
  fputs(
      "  for (int b = 1; b < BRANCHES && !status; b++) {\n"
      "    status = mark(behind[GROUPS + b], on[b]);\n"
      "    if (!status) status = wait_for(on[0], behind[GROUPS + b]);\n  }\n  return status;\n}\n",
      out);
}

static const char capturing[] =
    "\nint " C_NAME "_graph(const " C_NAME
    "_args *args, void *workspace, size_t bytes, void **graph) {\n"
    "  places p;\n  cudaStream_t on[BRANCHES] = {NULL};\n"
    "  cudaEvent_t behind[GROUPS + BRANCHES] = {NULL};\n"
    "  cudaGraph_t all = NULL;\n  cudaGraphExec_t made = NULL;\n"
    "  int status = graph ? places_of(args, workspace, bytes, &p) : BAD_ARGUMENT;\n"
    "  if (!status) status = pack_all(args, &p, NULL);\n"
    "  bool ok = !status && cudaStreamSynchronize(NULL) == cudaSuccess;\n"
    "  for (int b = 0; b < BRANCHES && ok; b++)\n"
    "    ok = cudaStreamCreateWithFlags(&on[b], cudaStreamNonBlocking) == cudaSuccess;\n"
    "  for (int i = 0; i < GROUPS + BRANCHES && ok; i++)\n"
    "    ok = cudaEventCreateWithFlags(&behind[i], cudaEventDisableTiming) == cudaSuccess;\n"
    "  if (ok && cudaStreamBeginCapture(on[0], cudaStreamCaptureModeThreadLocal) == cudaSuccess) "
    "{\n"
    "    status = run_branches(args, &p, on, behind);\n"
    "    ok = cudaStreamEndCapture(on[0], &all) == cudaSuccess && !status &&\n"
    "         cudaGraphInstantiateWithFlags(&made, all, 0) == cudaSuccess;\n  } else {\n"
    "    ok = false;\n  }\n"
    "  if (all) cudaGraphDestroy(all);\n"
    "  for (int i = 0; i < GROUPS + BRANCHES; i++)\n"
    "    if (behind[i]) cudaEventDestroy(behind[i]);\n"
    "  for (int b = 0; b < BRANCHES; b++)\n    if (on[b]) cudaStreamDestroy(on[b]);\n"
    "  if (graph) *graph = ok ? (void *)made : NULL;\n"
    "  return ok || status ? status : FAILED;\n}\n\n"
    "int " C_NAME "_graph_start(void *graph, void *stream) {\n  if (!graph) return BAD_ARGUMENT;\n"
    "  return cudaGraphLaunch((cudaGraphExec_t)graph, (cudaStream_t)stream) == cudaSuccess "
    "? " C_NAME "_done : FAILED;\n}\n\n"
    "void " C_NAME "_graph_free(void *graph) {\n"
    "  if (graph) cudaGraphExecDestroy((cudaGraphExec_t)graph);\n}\n"
    "#endif\n";

static void as_graph(FILE *out, const net_emission *e) {
  if (!emulated_graph(out, e)) tf_out_of_memory(e->d);
  branched(out, e);
  fputs(capturing, out);
}

static void print_calls(FILE *out, const net_emission *e) {
  fputs("/* " C_NAME ": ", out), c_plain_text(out, e->wl->name);
  fputs(", group after group.  Written by tileflow; see README.md. */\n"
        "#if defined(TILEFLOW_EMULATE)\n#include \"emulate.hpp\"\n#else\n"
        "#include <cuda_runtime.h>\n#endif\n"
        "#include <math.h>\n#include <stdint.h>\n#include <stdio.h>\n"
        "#include <stdlib.h>\n#include <string.h>\n\n"
        "#include \"kernel.h\"\n#include \"kernel_device.h\"\n",
        out);
  for (int i = 0; i < e->plan->n; i++)
    if (net_has_kernel(e, i))
      fprintf(out, "#include \"g%d.h\"\n#include \"g%d_device.h\"\n", i + 1, i + 1);
  net_say_arena(out, e);
  fputs("#define BAD_ARGUMENT " C_NAME "_bad_argument\n#define FAILED ((int)" C_NAME "_failed)\n",
        out);
  for (int i = 0; i < e->plan->n; i++)
    call(out, e, i);
  sizes(out, e);
  entry(out, e);
  as_graph(out, e);
  cu_host_entry(out, &e->package, cu_arrays);
  net_print_weights(out, e);
  net_cuda_handle(out, e);
}

static void print_device_header(FILE *out, const net_emission *e) {
  fputs("/* The network for arrays that are on the device already.  network.h says what the "
        "arguments are; there " C_NAME
        "\n * takes the host's arrays and copies them there and back in each call. */\n"
        "#ifndef TILEFLOW_" C_NAME "_DEVICE_H\n#define TILEFLOW_" C_NAME
        "_DEVICE_H\n#include \"kernel.h\"\n\n"
        "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
        "/* Bytes of device memory that a call needs: what passes between kernels, and what the "
        "largest has besides. */\n"
        "size_t " C_NAME "_device_workspace(void);\n",
        out);
  fputs(
      "/* The weights that kernels read in another order than the arguments', brought into that "
      "order, in the workspace;\n"
      " * packed: a call when they are there and have not changed since, which pack, device or "
      "graph has done with this\n"
      " * workspace. */\n"
      "int " C_NAME "_device_pack(const " C_NAME
      "_args *args, void *workspace, size_t bytes, void *stream);\n"
      "int " C_NAME "_device_packed(const " C_NAME
      "_args *args, void *workspace, size_t bytes, void *stream);\n"
      "/* Packs, and starts the kernels in the stream (a cudaStream_t), one behind the other, and "
      "returns at "
      "once; pointers of args and\n"
      " * workspace are the device's.  The first that cannot be started ends it.  May be captured "
      "in a CUDA graph. */\n"
      "int " C_NAME "_device(const " C_NAME
      "_args *args, void *workspace, size_t bytes, void *stream);\n\n"
      "/* The same as a graph (a cudaGraphExec_t), for these pointers, in which kernels that touch "
      "nothing of each other run beside\n"
      " * each other: made once, started in a stream as often as wanted, one start at a time.  "
      "Weights are packed when it is\n"
      " * made; where they change, " C_NAME "_device_pack has to be called before it is started. "
      "*/\n"
      "int " C_NAME "_graph(const " C_NAME
      "_args *args, void *workspace, size_t bytes, void **graph);\n"
      "int " C_NAME "_graph_start(void *graph, void *stream);\nvoid " C_NAME
      "_graph_free(void *graph);\n\n",
      out);
  net_cuda_declare_handle(out, e);
  fputs("#ifdef __cplusplus\n}\n#endif\n#endif\n", out);
}

/* ---- files ---------------------------------------------------------------------------------- */
static void print_makefile(FILE *out, const net_emission *e) {
  const bool groups = has_groups(e);
  fprintf(out,
          "# make, make test, make bench; make emulate, where there is no device.  NVCC, ARCH (%s) "
          "and NVCCFLAGS may be set.\n"
          "NVCC ?= nvcc\nARCH ?= %s\nNVCCFLAGS ?= -O3\n"
          "ALL = -std=c++17 %s $(NVCCFLAGS) -Xcompiler -fPIC\n",
          groups ? "sm_90a, no other" : "native: of the GPU that is here; sm_80, sm_90, ...",
          groups ? "sm_90a" : "native",
          groups ? "-gencode arch=$(subst sm_,compute_,$(ARCH)),code=$(ARCH)" : "-arch=$(ARCH)");
  fputs("KERNELS =", out);
  for (int i = 0; i < e->plan->n; i++)
    if (net_has_kernel(e, i)) fprintf(out, " g%d", i + 1);
  fputs("\nOBJECTS = network.o $(KERNELS:=.o)\n\n"
        "all: libnetwork.a libnetwork.so test bench\n"
        "libnetwork.a: $(OBJECTS)\n\t$(AR) rcs $@ $(OBJECTS)\n"
        "libnetwork.so: $(OBJECTS)\n\t$(NVCC) $(ALL) -shared -o $@ $(OBJECTS)\n"
        "network.o: network.cu network.h network_device.h $(KERNELS:=.h) $(KERNELS:=_device.h)\n"
        "\t$(NVCC) $(ALL) -c -o $@ network.cu\n"
        "g%.o: g%.cu g%.h g%_device.h\n\t$(NVCC) $(ALL) -c -o $@ $<\n"
        "test: test.c test_device.c $(OBJECTS)\n\t$(CC) -O2 -std=c17 -c -o test.o test.c\n"
        "\t$(CC) -O2 -std=c17 -c -o test_device.o test_device.c\n"
        "\t$(NVCC) $(ALL) -o $@ test.o $(OBJECTS) -lm\n"
        "\t$(NVCC) $(ALL) -o test_device test_device.o $(OBJECTS) -lm\n\t./test\n\t./test_device\n"
        "bench: bench.c $(OBJECTS)\n\t$(CC) -O2 -std=c17 -c -o bench.o bench.c\n"
        "\t$(NVCC) $(ALL) -o $@ bench.o $(OBJECTS)\n"
        "EMULATE = -std=c++17 -DTILEFLOW_EMULATE -Wno-unknown-pragmas\nCXXFLAGS ?= -O1\n"
        "CFLAGS ?= -O2\n"
        "EMULATED = emulate-network.o $(KERNELS:%=emulate-%.o)\n"
        "emulate-%.o: %.cu emulate.hpp $(wildcard *.hpp *.h)\n"
        "\t$(CXX) $(EMULATE) $(CXXFLAGS) -x c++ -c -o $@ $<\n"
        "emulate: test.c test_device.c $(EMULATED)\n"
        "\t$(CC) $(CFLAGS) -std=c17 -c -o emulate-test.o test.c\n"
        "\t$(CC) $(CFLAGS) -std=c17 -c -o emulate-test_device.o test_device.c\n"
        "\t$(CXX) -o $@ emulate-test.o $(EMULATED) -lm\n"
        "\t$(CXX) -o emulate_device emulate-test_device.o $(EMULATED) -lm\n\t./emulate\n"
        "\t./emulate_device\n"
        "clean:\n"
        "\trm -f *.o libnetwork.a libnetwork.so test test_device bench emulate emulate_device\n"
        ".PHONY: all clean\n",
        out);
}

static void print_readme(FILE *out, const net_emission *e) {
  fputs("# ", out), c_plain_text(out, e->wl->name);
  fprintf(out,
          "\n\n"
          "A network of %d ops as %d fused groups, whose kernels are started in order (%d "
          "different ones; data: %s).\n"
          "\n"
          "    make test     compiles with nvcc, runs, compares with a plain evaluation in double "
          "(within %s of the norm of each output)\n"
          "    make bench    compiles; ./bench times it, kernel after kernel and as a CUDA graph\n"
          "    make emulate  the test without nvcc or a device: compiled as C++, threads one after "
          "the other\n"
          "\n"
          "`network.h`: arrays of the host.  `network_device.h`: arrays that are on the device, "
          "and a stream; or a network with memory of\n"
          "its own there, to which float32 are brought, weights once for all calls.  "
          "`libnetwork.so` has all of it.\n",
          e->wl->n_ops, e->plan->n, net_kernels_of(e), c_type_name(e->data), e->package.within);
  fprintf(out, "\nBetween kernels: %lld bytes on the device.\n", (long long)e->memory.bytes);
  if (has_groups(e))
    fputs("\n"
          "Some kernels are of warpgroups (sm_90a): arrays must stand on 16 bytes, and strides be "
          "multiples of them, else a call says `bad_argument`.\n",
          out);
  if (e->o->command) fprintf(out, "\nWritten by\n\n    %s\n", e->o->command);
}

static void print_header(FILE *out, const net_emission *e) {
  c_kernel_h_begin(out, &e->package);
  cu_codes(out);
  net_declare_weights(out);
  c_kernel_h_end(out);
}
static void print_test(FILE *out, const net_emission *e) { c_test_c(out, &e->package); }

static const net_own_file rows[] = {
    {"network.h", print_header},
    {"network_device.h", print_device_header},
    {"network.cu", print_calls},
    {"test.c", print_test},
    {"test_device.c", net_cuda_test_handle},
    {"bench.c", net_cuda_bench},
    {"Makefile", print_makefile},
    {"README.md", print_readme},
};

static tf_emitted *write_files(const net_emission *e, const char *name) {
  static const char *const shared[] = {"emulate.hpp", "hopper.hpp"};
  tf_emitted *out = net_files_new(net_kernels_of(e) * FILES_EACH + FILES_MORE);
  bool ok = out != NULL;
  for (int i = 0; ok && i < e->plan->n; i++)
    if (net_has_kernel(e, i)) ok = add_kernel(out, &e->kernel[i], i);
  for (size_t r = 0; ok && r < sizeof rows / sizeof *rows; r++)
    ok = net_add_own(out, e, &rows[r], name);
  for (size_t s = 0; ok && s < sizeof shared / sizeof *shared; s++)
    if (common(e, shared[s])) ok = net_add_file(out, shared[s], strdup(common(e, shared[s])));
  if (ok) return out;
  tf_emitted_free(out);
  tf_out_of_memory(e->d);
  return NULL;
}

/* ---- the whole network ---------------------------------------------------------------------- */
/* The tolerance of the test: each group rounds its results, and errors add up as in a random
 * walk. */
static void set_within(net_emission *e) {
  const double groups = sqrt(e->plan->n);
  const double rounds = e->data == IR_BF16                           ? 1.5e-2
                        : e->data == IR_F16 || e->whole.machine.real ? 3e-3
                                                                     : 3e-5;
  snprintf(e->within, sizeof e->within, "%.2g", fmin(0.2, rounds * fmax(2, groups)));
}

static bool begin_emission(net_emission *e) {
  const tf_micro_isa *isas[TF_MICRO_MOST_ISAS];
  if (!tf_target_cuda.machine(e->o, &e->whole.machine, e->d)) return false;
  e->data = e->whole.machine.data;
  if (!tf_micro_isas(&(tf_emit_options){.isa = "portable"}, isas, e->d)) return false;
  e->isa = isas[0];
  e->tree.workload = e->wl;
  e->whole.tree = &e->tree;
  e->whole.platform = tf_target_cuda.lower.platform;
  set_within(e);
  e->package = (c_package){.p = &e->whole,
                           .lacking = CU_NO_DEVICE,
                           .absent = cu_absent,
                           .o = e->o,
                           .isa = e->isa,
                           .source = tf_micro_source_find(NULL),
                           .name = C_NAME,
                           .entry = C_NAME,
                           .within = e->within,
                           .eights = true};
  e->a = tf_arena_new();
  if (!e->a || !net_channels_last(e->a, e->wl, e->plan->target, e->plan->dtype, &e->last))
    return tf_out_of_memory(e->d);
  if (!tf_net_memory_of(e->plan, e->wl, ir_bytes(e->data), &e->memory, e->d)) return false;
  place_weights(e);
  return true;
}

static bool find_branches(net_emission *e) {
  bool *scratch = TF_ARRAY(e->a, bool, (size_t)e->plan->n);
  if (!scratch) return tf_out_of_memory(e->d);
  for (int i = 0; i < e->plan->n; i++)
    scratch[i] = net_called(e, i)->files && net_called(e, i)->files->workspace > 0;
  const net_sharing s = {&e->memory, ir_bytes(e->data), scratch};
  return net_branches_of(e->a, e->plan, e->wl, &s, &e->branches) || tf_out_of_memory(e->d);
}

tf_emitted *net_emit_cuda(net_emission *e, const char *name) {
  if (!begin_emission(e)) return NULL;
  e->kernel = calloc((size_t)e->plan->n + 1, sizeof *e->kernel);
  if (!e->kernel) return tf_out_of_memory(e->d), NULL;
  for (int i = 0; i < e->plan->n; i++)
    if (!make_kernel(e, i, name)) return NULL;
  return find_branches(e) ? write_files(e, name) : NULL;
}
