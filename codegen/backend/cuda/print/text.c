/* Functions on the device, and the entries that a program calls. */
#include <inttypes.h>

#include "codegen/backend/cuda/print/cuda.h"
#include "codegen/intrin/math.h"

static const char plain[] =
    "DEVICE int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }\n"
    "DEVICE int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }\n"
    "DEVICE int64_t pick(int64_t a, int64_t b, int64_t yes, int64_t no) { return a < b ? yes : no; "
    "}\n"
    "/* The greater, the smaller; of what is not a number and one, the number. */\n"
    "DEVICE float greater(float a, float b) { return fmaxf(a, b); }\n"
    "DEVICE float smaller(float a, float b) { return fminf(a, b); }\n"
    "DEVICE float greater_of(float a, float b) { return fmaxf(a, b); }\n"
    "DEVICE float smaller_of(float a, float b) { return fminf(a, b); }\n"
    "DEVICE float chosen(float c, float yes, float no) { return c != 0.0f ? yes : no; }\n";

/* exp of 16-bit data: an error of 1e-5 is far below their rounding. */
static const char exp_half[] = "exp_near(x)";

static const struct {
  tf_kind kind;
  const char *value;
} functions[] = {
    {TF_K_EXP, "expf(x)"},
    {TF_K_LOG, "logf(x)"},
    {TF_K_TANH, "tanhf(x)"},
    {TF_K_ERF, "erff(x)"},
    {TF_K_SIGMOID, "1.0f / (1.0f + expf(-x))"},
    {TF_K_SILU, "x / (1.0f + expf(-x))"},
    {TF_K_GELU, "0.5f * x * (1.0f + erff(x * 0.70710678f))"},
    {TF_K_RELU, "fmaxf(x, 0.0f)"},
};

void cu_functions(FILE *out, const tf_workload *wl, ir_type data) {
  uint32_t kinds = 0;
  for (int o = 0; o < wl->n_ops; o++)
    kinds |= wl->ops[o].kinds;
  fputs(plain, out);
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    if (kinds >> functions[i].kind & 1)
      fprintf(out, "DEVICE float %s(float x) { return %s; }\n",
              tf_micro_math_find((int)functions[i].kind)->name,
              functions[i].kind == TF_K_EXP && ir_is_coded(data) ? exp_half : functions[i].value);
  if (kinds >> TF_K_EXP & 1) /* subnormal numbers cost nothing on a GPU */
    fputs("DEVICE float fast_exp_low(float x) { return fast_exp(x); }\n", out);
}

/* ---- entries -------------------------------------------------------------------------------- */

static void each_argument(FILE *out, const tf_workload *wl,
                          void (*say)(FILE *out, const tf_tensor *t)) {
  for (int z = 0; z < wl->n_tensors; z++)
    if (c_is_argument(&wl->tensors[z])) say(out, &wl->tensors[z]);
}

static void ask_null(FILE *out, const tf_tensor *t) {
  fputs("  if (!args->", out), c_field(out, t->name), fputs(") return BAD_ARGUMENT;\n", out);
}

static void name(FILE *out, const tf_tensor *t) {
  fputs("  TENSOR(\"", out), c_plain_text(out, t->name), fputs("\", args->", out),
      c_field(out, t->name);
  fputs(", sizeof *args->", out), c_field(out, t->name), fputs(");\n", out);
}

/* Bytes from the first element to the last. */
static void span(FILE *out, const tf_tensor *t) {
  fprintf(out, "(size_t)(%" PRId64, t->rank ? t->extent[t->rank - 1] : 1);
  for (int r = 0; r + 1 < t->rank; r++)
    fprintf(out, " + %" PRId64 " * args->", t->extent[r] - 1), c_stride_field(out, t->name),
        fprintf(out, "[%d]", r);
  fputs(") * sizeof *args->", out), c_field(out, t->name);
}

static void send(FILE *out, const c_package *k, int z) {
  const tf_tensor *t = &k->p->tree->workload->tensors[z];
  fputs("  there.", out), c_field(out, t->name);
  fprintf(out, " = (%s *)bring(&ok, queue, args->", c_type(c_argument_type(k->p, z)));
  c_field(out, t->name), fputs(", ", out), span(out, t), fputs(");\n", out);
}

static void fetch(FILE *out, const tf_tensor *t) {
  if (c_is_input(t)) return;
  fputs("  ok = ok && take(queue, args->", out), c_field(out, t->name), fputs(", there.", out);
  c_field(out, t->name), fputs(", ", out), span(out, t), fputs(");\n", out);
}

static void release(FILE *out, const tf_tensor *t) {
  fputs("  leave(there.", out), c_field(out, t->name), fputs(");\n", out);
}

/* The entry for arrays on the device. */
static void device_entry(FILE *out, const c_package *k, const cu_language *say,
                         const cu_room *room) {
  const tf_workload *wl = k->p->tree->workload;
  const int64_t all = cu_workspace(room);
  const bool none = say->may_lack && all == 0;
  fputs("\n#define BAD_ARGUMENT " C_NAME "_bad_argument\n\nsize_t " C_NAME
        "_device_workspace(void) { return ",
        out);
  fprintf(out, none ? "0" : "(size_t)(INT64_C(%" PRId64 ") + 256)", all);
  fprintf(out,
          "; }\n\nint " C_NAME "_device(const " C_NAME
          "_args *args, void *workspace, size_t bytes, void *%s) {\n"
          "  if (!args%s) return BAD_ARGUMENT;\n",
          say->queue, none ? "" : " || !workspace");
  each_argument(out, wl, ask_null);
  fputs(none ? "  (void)bytes;\n"
             : "  if (bytes < " C_NAME "_device_workspace()) return " C_NAME "_small_workspace;\n",
        out);
  if (say->emulated) each_argument(out, wl, name);
  fputs(say->starting, out);
}

void cu_host_entry(FILE *out, const c_package *k, const char *arrays) {
  const tf_workload *wl = k->p->tree->workload;
  fprintf(out,
          "\nsize_t " C_NAME "_workspace(void) { return 64; }\n\n%s\n"
          "int " C_NAME "(const " C_NAME "_args *args, void *workspace, size_t bytes) {\n"
          "  if (!args) return BAD_ARGUMENT;\n",
          arrays);
  each_argument(out, wl, ask_null);
  fputs("  if (workspace && bytes < " C_NAME "_workspace()) return " C_NAME "_small_workspace;\n"
        "  void *queue = NULL;\n  if (!find_device(&queue)) return NO_DEVICE;\n"
        "  bool ok = true;\n  " C_NAME "_args there = *args;\n"
        "  const size_t needed = " C_NAME "_device_workspace();\n"
        "  void *const room = needed ? bring(&ok, queue, NULL, needed) : NULL;\n",
        out);
  for (int z = 0; z < wl->n_tensors; z++)
    if (c_is_argument(&wl->tensors[z])) send(out, k, z);
  fputs("  int status = ok ? " C_NAME "_device(&there, room, needed, queue) : " C_NAME
        "_no_memory;\n  ok = ok && status == " C_NAME "_done && finish(queue);\n",
        out);
  each_argument(out, wl, fetch);
  each_argument(out, wl, release);
  fputs("  leave(room);\n  return ok || status != " C_NAME "_done ? status : FAILED;\n}\n", out);
}

void cu_entries(FILE *out, const c_package *k, const cu_language *say, const cu_room *room) {
  device_entry(out, k, say, room);
  cu_host_entry(out, k, say->arrays);
}
