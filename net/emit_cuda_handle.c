/* Parts of network.cu: a network with its arguments and its workspace on the device, and its
 * kernels as a CUDA graph. */
#include <inttypes.h>

#include "codegen/backend/cuda/print/cuda.h"
#include "net/emit.h"

static void floats(FILE *out, const net_emission *e, bool inputs) {
  for (int z = 0; z < e->wl->n_tensors; z++) {
    const tf_tensor *t = &e->wl->tensors[z];
    if (!c_is_argument(t) || c_is_input(t) != inputs) continue;
    fprintf(out, "  %sfloat *", inputs ? "const " : ""), c_field(out, t->name);
    fprintf(out, "; /* %" PRId64 "%s */\n", tf_tensor_words(t), inputs ? "" : ", written");
  }
}

void net_cuda_declare_handle(FILE *out, const net_emission *e) {
  fputs("/* Arrays of the host without gaps, in float32 whatever the network's type is. */\n"
        "typedef struct {\n",
        out);
  floats(out, e, true);
  floats(out, e, false);
  fputs("} " C_NAME "_floats;\n\n"
        "/* The network with memory of its own on the device, for one stream at a time.  Each of "
        "these returns as " C_NAME " does.\n"
        " * make: takes the memory, of all arguments and the workspace.  put: brings inputs there, "
        "rounded to the network's type; those\n"
        " * that are NULL stay what they are, so that weights are brought once.  start: computes "
        "the outputs, in the stream (a\n"
        " * cudaStream_t), and returns at once; as_graph: made at the first such call, and started "
        "as one from\n"
        " * then on.  get: waits for the device and fetches outputs, but those that are NULL. */\n"
        "typedef struct " C_NAME "_there " C_NAME "_there;\n"
        "int " C_NAME "_make(" C_NAME "_there **made);\n"
        "int " C_NAME "_put(" C_NAME "_there *n, const " C_NAME "_floats *from);\n"
        "int " C_NAME "_start(" C_NAME "_there *n, void *stream, int as_graph);\n"
        "int " C_NAME "_get(" C_NAME "_there *n, const " C_NAME "_floats *to);\n"
        "/* Its arrays there, for who fills or reads them himself; weights are packed at the first "
        "start behind make or put. */\n"
        "const " C_NAME "_args *" C_NAME "_arrays(const " C_NAME "_there *n);\n"
        "void " C_NAME "_free(" C_NAME "_there *n);\n\n",
        out);
}

/* ---- types ---------------------------------------------------------------------------------- */
static const char f32[] = "static element narrow_element(float x) { return x; }\n"
                          "static float wide_element(element x) { return x; }\n";
static const char bf16[] =
    "static element narrow_element(float x) {\n  uint32_t u;\n  memcpy(&u, &x, sizeof u);\n"
    "  if (x != x) return (element)(u >> 16 | 64);\n"
    "  return (element)((u + 0x7fff + (u >> 16 & 1)) >> 16);\n}\n"
    "static float wide_element(element x) {\n  const uint32_t u = (uint32_t)x << 16;\n  float f;\n"
    "  memcpy(&f, &u, sizeof f);\n  return f;\n}\n";
/* Rounds to nearest even by adding a number whose last bit is float16's. */
static const char f16[] =
    "static element narrow_element(float x) {\n  uint32_t u;\n  memcpy(&u, &x, sizeof u);\n"
    "  const uint32_t sign = u >> 16 & 0x8000;\n  float a = fabsf(x);\n"
    "  if (x != x) return (element)(sign | 0x7e00);\n"
    "  if (a >= 65520) return (element)(sign | 0x7c00);\n"
    "  if (a < 0x1p-14f) { /* without its leading 1 */\n    a += 0.5f;\n"
    "    memcpy(&u, &a, sizeof u);\n"
    "    return (element)(sign | (u - 0x3f000000));\n  }\n"
    "  memcpy(&u, &a, sizeof u);\n  u += 0xfff + (u >> 13 & 1);\n"
    "  return (element)(sign | ((u >> 13) - (112 << 10)));\n}\n"
    "static float wide_element(element x) {\n  const int e = x >> 10 & 31, m = x & 1023;\n"
    "  const float a = e == 31 ? (m ? NAN : INFINITY) : e ? ldexpf((float)(1024 + m), e - 25) : "
    "ldexpf((float)m, -24);\n"
    "  return x >> 15 ? -a : a;\n}\n";

/* The network's type on the host, and its conversions from and to float. */
static void put_types(FILE *out, const net_emission *e) {
  fprintf(out, "typedef %s element;\n", c_type(e->data));
  fputs(e->data == IR_BF16 ? bf16 : e->data == IR_F16 ? f16 : f32, out);
}

/* ---- network.cu ----------------------------------------------------------------------------- */
static const char moving[] =
    "\nstatic const size_t PIECE = 1 << 20; /* elements that are on their way at a time */\n\n"
    "/* n elements from the host, or there. */\n"
    "static int put_all(void *there, const float *from, size_t n) {\n"
    "  element *const piece = (element *)malloc(sizeof *piece * (n < PIECE ? n : PIECE));\n"
    "  bool ok = piece != NULL;\n"
    "  for (size_t at = 0; at < n && ok; at += PIECE) {\n"
    "    const size_t some = n - at < PIECE ? n - at : PIECE;\n"
    "    for (size_t i = 0; i < some; i++) piece[i] = narrow_element(from[at + i]);\n"
    "    ok = cudaMemcpy((element *)there + at, piece, some * sizeof *piece, "
    "cudaMemcpyHostToDevice) == cudaSuccess;\n"
    "  }\n  free(piece);\n  return ok ? " C_NAME "_done : " C_NAME "_no_memory;\n}\n\n"
    "static int get_all(float *to, const void *there, size_t n) {\n"
    "  element *const piece = (element *)malloc(sizeof *piece * (n < PIECE ? n : PIECE));\n"
    "  bool ok = piece != NULL;\n"
    "  for (size_t at = 0; at < n && ok; at += PIECE) {\n"
    "    const size_t some = n - at < PIECE ? n - at : PIECE;\n"
    "    ok = cudaMemcpy(piece, (const element *)there + at, some * sizeof *piece, "
    "cudaMemcpyDeviceToHost) == cudaSuccess;\n"
    "    for (size_t i = 0; i < some && ok; i++) to[at + i] = wide_element(piece[i]);\n"
    "  }\n  free(piece);\n  return ok ? " C_NAME "_done : FAILED;\n}\n";

static const char starting[] =
    "\nconst " C_NAME "_args *" C_NAME "_arrays(const " C_NAME "_there *n) { return &n->args; }\n\n"
    "static int start_all(" C_NAME "_there *n, void *stream) {\n"
    "  return " C_NAME "_device_packed(&n->args, n->workspace, " C_NAME
    "_device_workspace(), stream);\n}\n\n"
    "int " C_NAME "_start(" C_NAME
    "_there *n, void *stream, int as_graph) {\n  if (!n) return BAD_ARGUMENT;\n"
    "  int status = n->packed ? " C_NAME "_done : " C_NAME
    "_device_pack(&n->args, n->workspace, " C_NAME "_device_workspace(), stream);\n"
    "  n->packed = !status;\n"
    "  if (status || !as_graph) return status ? status : start_all(n, stream);\n"
    "  status = n->graph ? " C_NAME "_done : " C_NAME "_graph(&n->args, n->workspace, " C_NAME
    "_device_workspace(), &n->graph);\n"
    "  return status ? status : " C_NAME "_graph_start(n->graph, stream);\n}\n";

static void print_make(FILE *out, const net_emission *e) {
  fputs("\nint " C_NAME "_make(" C_NAME
        "_there **made) {\n  if (!made) return BAD_ARGUMENT;\n  *made = NULL;\n"
        "  void *none = NULL;\n  if (!find_device(&none)) return NO_DEVICE;\n"
        "  " C_NAME "_there *const n = (" C_NAME
        "_there *)calloc(1, sizeof *n);\n  if (!n) return " C_NAME "_no_memory;\n"
        "  bool ok = true;\n  " C_NAME "_dense(&n->args);\n"
        "  n->workspace = bring(&ok, NULL, NULL, " C_NAME "_device_workspace());\n",
        out);
  for (int z = 0; z < e->wl->n_tensors; z++) {
    const tf_tensor *t = &e->wl->tensors[z];
    if (!c_is_argument(t)) continue;
    fputs("  n->args.", out), c_field(out, t->name);
    fprintf(out, " = (element *)bring(&ok, NULL, NULL, %" PRId64 " * sizeof(element));\n",
            tf_tensor_words(t));
  }
  fputs("  if (ok) *made = n;\n  else " C_NAME "_free(n);\n  return ok ? " C_NAME "_done : " C_NAME
        "_no_memory;\n}\n",
        out);
}

/* put and get: one for inputs, one for outputs. */
static void move(FILE *out, const net_emission *e, bool inputs) {
  fprintf(out,
          "\nint " C_NAME "_%s(" C_NAME "_there *n, const " C_NAME
          "_floats *%s) {\n  if (!n || !%s) return BAD_ARGUMENT;\n  int status = %s;\n",
          inputs ? "put" : "get", inputs ? "from" : "to", inputs ? "from" : "to",
          inputs ? C_NAME "_done"
                 : "cudaDeviceSynchronize() == cudaSuccess ? " C_NAME "_done : FAILED");
  for (int z = 0; z < e->wl->n_tensors; z++) {
    const tf_tensor *t = &e->wl->tensors[z];
    if (!c_is_argument(t) || c_is_input(t) != inputs) continue;
    fprintf(out, "  if (!status && %s->", inputs ? "from" : "to"), c_field(out, t->name);
    if (inputs)
      fputs(") status = put_all((void *)n->args.", out), c_field(out, t->name),
          fputs(", from->", out);
    else
      fputs(") status = get_all(to->", out), c_field(out, t->name), fputs(", n->args.", out);
    c_field(out, t->name), fprintf(out, ", %" PRId64 ");\n", tf_tensor_words(t));
    if (inputs && net_is_packed(e, z))
      fputs("  if (from->", out), c_field(out, t->name), fputs(") n->packed = false;\n", out);
  }
  fputs("  return status;\n}\n", out);
}

static void release(FILE *out, const net_emission *e) {
  fputs("\nvoid " C_NAME "_free(" C_NAME "_there *n) {\n  if (!n) return;\n  " C_NAME
        "_graph_free(n->graph);\n",
        out);
  for (int z = 0; z < e->wl->n_tensors; z++)
    if (c_is_argument(&e->wl->tensors[z]))
      fputs("  leave(n->args.", out), c_field(out, e->wl->tensors[z].name), fputs(");\n", out);
  fputs("  leave(n->workspace);\n  free(n);\n}\n", out);
}

void net_cuda_handle(FILE *out, const net_emission *e) {
  fputs("\n/* ---- a network with its memory ---- */\n\nstruct " C_NAME "_there {\n  " C_NAME
        "_args args;\n"
        "  void *workspace, *graph; /* graph NULL: none was made */\n"
        "  bool packed;             /* weights, as the arguments have them now */\n};\n\n",
        out);
  put_types(out, e);
  fputs(moving, out);
  fputs(starting, out);
  release(out, e);
  print_make(out, e);
  move(out, e, true);
  move(out, e, false);
}

/* ---- programs ------------------------------------------------------------------------------- */
static const char series[] =
    "/* The i-th of a series that looks random: uniform, of that deviation (splitmix64). */\n"
    "static float number(uint64_t i, double deviation) {\n"
    "  uint64_t x = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);\n"
    "  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);\n"
    "  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);\n"
    "  x ^= x >> 31;\n"
    "  return (float)(((double)(x >> 40) / 8388608 - 1) * 1.7320508 * deviation);\n}\n\n"
    "static uint64_t at; /* in the series: arrays differ */\n\n"
    "static float *numbers(size_t n, double deviation) {\n"
    "  float *x = malloc(n * sizeof *x);\n  if (!x) exit(2);\n"
    "  for (size_t i = 0; i < n; i++) x[i] = number(at++, deviation);\n  return x;\n}\n\n";

/* The deviation of a tensor with several ranks for which a sum over its largest rank keeps the size
 * of activations. */
static double deviation_of(const tf_tensor *t) {
  double most = 1;
  for (int r = 0; r < t->rank && t->rank > 1; r++)
    most = (double)t->extent[r] > most ? (double)t->extent[r] : most;
  return 1 / most;
}

static void declare(FILE *out, const net_emission *e) {
  fputs("  " C_NAME "_floats f;\n  memset(&f, 0, sizeof f);\n", out);
  for (int z = 0; z < e->wl->n_tensors; z++) {
    const tf_tensor *t = &e->wl->tensors[z];
    if (!c_is_argument(t)) continue;
    fputs("  f.", out), c_field(out, t->name);
    fprintf(out, " = numbers(%" PRId64 ", sqrt(%.9g));\n", tf_tensor_words(t), deviation_of(t));
  }
}

static const char programs_head[] = "#include <math.h>\n#include <stdint.h>\n#include <stdio.h>\n"
                                    "#include <stdlib.h>\n#include <string.h>\n"
                                    "#include <time.h>\n\n#include \"kernel_device.h\"\n\n";

/* The outputs of the handle, of a second call without copying inputs again, of a graph, and for
 * arrays of the host must be the same bits. */
void net_cuda_test_handle(FILE *out, const net_emission *e) {
  fputs("/* Holds a network that has its memory on the device against calls with arrays of the "
        "host: the same bits, also of a second call\n"
        " * with the same inputs, and as a graph. */\n#define _POSIX_C_SOURCE 200809L\n",
        out);
  fputs(programs_head, out);
  fputs(series, out);
  put_types(out, e);
  fputs("\nstatic element *rounded(const float *x, size_t n) {\n"
        "  element *y = malloc(n * sizeof *y);\n"
        "  if (!y) exit(2);\n"
        "  for (size_t i = 0; i < n; i++) y[i] = narrow_element(x[i]);\n  return y;\n}\n"
        "\n"
        "/* Whether they are the numbers of x. */\n"
        "static int same(const char *what, const float *x, const element *y, size_t n) {\n"
        "  for (size_t i = 0; i < n; i++) {\n    const float z = wide_element(y[i]);\n"
        "    if (memcmp(&x[i], &z, sizeof z) && x[i] == x[i])\n"
        "      return printf(\"%s: element %zu is %.9g, and %.9g by arrays of the host\\n\", what, "
        "i, x[i], z), 0;\n"
        "  }\n  return printf(\"%s: the same bits\\n\", what), 1;\n}\n\n"
        "int main(void) {\n",
        out);
  declare(out, e);
  fputs("  " C_NAME "_args a;\n  memset(&a, 0, sizeof a);\n  " C_NAME "_dense(&a);\n", out);
  for (int z = 0; z < e->wl->n_tensors; z++) {
    const tf_tensor *t = &e->wl->tensors[z];
    if (!c_is_argument(t)) continue;
    fputs("  a.", out), c_field(out, t->name), fputs(" = rounded(f.", out), c_field(out, t->name);
    fprintf(out, ", %" PRId64 ");\n", tf_tensor_words(t));
  }
  fputs("  int status = " C_NAME "(&a, NULL, 0), bad = 0;\n"
        "  if (status == " C_NAME "_no_isa || status == " C_NAME
        "_no_device) return puts(\"not run: no CUDA device, or not this one\"), 2;\n"
        "  " C_NAME "_there *n = NULL;\n  if (status || " C_NAME "_make(&n) || " C_NAME
        "_put(n, &f)) return 2;\n"
        "  const " C_NAME "_floats none = {0};\n"
        "  for (int turn = 0; turn < 3 && !bad; turn++) { /* kernel after kernel; inputs stay; as "
        "a graph */\n"
        "    if (" C_NAME "_put(n, &none) || " C_NAME "_start(n, NULL, turn == 2) || " C_NAME
        "_get(n, &f)) return 2;\n",
        out);
  for (int z = 0; z < e->wl->n_tensors; z++) {
    const tf_tensor *t = &e->wl->tensors[z];
    if (!c_is_argument(t) || c_is_input(t)) continue;
    fputs("    bad |= !same(\"", out), c_plain_text(out, t->name), fputs("\", f.", out),
        c_field(out, t->name);
    fputs(", a.", out), c_field(out, t->name),
        fprintf(out, ", %" PRId64 ");\n", tf_tensor_words(t));
  }
  fputs("  }\n  " C_NAME "_free(n);\n  return bad;\n}\n", out);
}

void net_cuda_bench(FILE *out, const net_emission *e) {
  fputs("/* Times ", out), c_plain_text(out, e->wl->name);
  fputs(" on the device, many calls one behind the other: the least of the rounds, of a call.  "
        "Once as kernels that are started one by one, once as a\n"
        " * graph. */\n#define _POSIX_C_SOURCE 200809L\n",
        out);
  fputs(programs_head, out);
  fputs(series, out);
  fputs("enum { ROUNDS = 11, CALLS = 20 };\n\n"
        "static double now(void) {\n  struct timespec t;\n  clock_gettime(CLOCK_MONOTONIC, &t);\n"
        "  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;\n}\n\nint main(void) {\n",
        out);
  declare(out, e);
  fprintf(out,
          "  " C_NAME "_there *n = NULL;\n  const " C_NAME "_floats none = {0};\n"
          "  if (" C_NAME "_make(&n) || " C_NAME
          "_put(n, &f)) return puts(\"not run: no CUDA device, or no room on it\"), 2;\n"
          "  for (int graph = 0; graph <= 1; graph++) {\n    double least = 1e30;\n"
          "    for (int r = 0; r < ROUNDS; r++) {\n      const double from = now();\n"
          "      for (int c = 0; c < CALLS; c++)\n"
          "        if (" C_NAME
          "_start(n, NULL, graph)) return puts(\"not run: it could not be started\"), 2;\n"
          "      if (" C_NAME "_get(n, &none)) return puts(\"not run: it failed\"), 2;\n"
          "      const double took = (now() - from) / CALLS;\n"
          "      if (r && took < least) least = took;\n    }\n"
          "    printf(\"" C_NAME "%%s %%.6g s, %%.4g GFLOP/s\\n\", graph ? \", as a graph,\" : "
          "\"\", least, %.9g / least / 1e9);\n  }\n  " C_NAME "_free(n);\n  return 0;\n}\n",
          cu_flops(e->wl));
}
