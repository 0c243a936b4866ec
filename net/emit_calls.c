/* network.c: the kernels in the order of the plan, on arguments and on the arena; the number of
 * threads of a call. */
#include <inttypes.h>

#include "net/emit.h"

/* The stride of rank r of the network's tensor: the caller's, or that of a dense tensor in the
 * arena. */
static void put_step(FILE *out, const tf_tensor *z, int r, bool argument) {
  int64_t step = 1;
  for (int i = r + 1; i < z->rank; i++)
    step *= z->extent[i];
  if (argument && r + 1 < z->rank)
    fputs("args->", out), c_stride_field(out, z->name), fprintf(out, "[%d]", r);
  else
    fprintf(out, "%" PRId64, argument ? INT64_C(1) : step);
}

/* Sets k.X to a place in the tensor, and its strides. */
static void bind_place(FILE *out, const tf_tensor *inside, const tf_tensor *outside,
                       const tf_group_place *p, bool argument) {
  for (int r = 0; r < outside->rank; r++)
    if (p->begin[r]) {
      fputs("  k.", out), c_field(out, inside->name),
          fprintf(out, " += %" PRId64 " * ", p->begin[r]);
      put_step(out, outside, r, argument), fputs(";\n", out);
    }
  for (int q = 0; q + 1 < inside->rank; q++) {
    fputs("  k.", out), c_stride_field(out, inside->name), fprintf(out, "[%d] = ", q);
    if (p->step[q] > 1) fprintf(out, "%" PRId64 " * ", p->step[q]);
    put_step(out, outside, p->along[q], argument), fputs(";\n", out);
  }
}

/* Sets k.X to the argument with its strides, or to a dense tensor in the arena. */
static void bind(FILE *out, const net_emission *e, int i, int t) {
  const tf_tensor *inside = &net_called(e, i)->group->group->workload->tensors[t];
  const tf_group *group = e->plan->groups[i].group;
  const int z = group->tensor[t];
  tf_tensor *outside = &(tf_tensor){0};
  *outside = e->wl->tensors[z];
  const bool argument = e->memory.offset[z] < 0;
  if (!c_is_argument(inside)) return;
  if (e->last && !net_move_rank(e->a, outside, e->last[z])) tf_out_of_memory(e->d);
  fputs("  k.", out), c_field(out, inside->name);
  if (argument)
    fputs(" = args->", out), c_field(out, outside->name), fputs(";\n", out);
  else
    fprintf(out, " = (%s *)(void *)(arena + %" PRId64 ");\n", c_type(net_type_of(e, z)),
            e->memory.offset[z]);
  if (group->place[t].along) {
    bind_place(out, inside, outside, &group->place[t], argument);
    return;
  }
  if (!argument || inside->rank < 2) return;
  fputs("  memcpy(k.", out), c_stride_field(out, inside->name), fputs(", args->", out);
  c_stride_field(out, outside->name), fputs(", sizeof k.", out), c_stride_field(out, inside->name),
      fputs(");\n", out);
}

void net_bind_all(FILE *out, const net_emission *e, int i) {
  const net_kernel *k = net_called(e, i);
  const tf_workload *wl = k->group->group->workload;
  fprintf(out, "  %s_args k;\n  %s_dense(&k);\n", k->name, k->name);
  for (int t = 0; t < wl->n_tensors; t++)
    bind(out, e, i, t);
}

/* Whether panels of the group's arguments are packed beforehand, as they do not change between
 * calls. */
static bool packs(const net_emission *e, int i) {
  const net_kernel *k = net_called(e, i);
  const tf_net_group *g = &e->plan->groups[i];
  bool ok = k->packs;
  for (int p = 0; ok && p < k->program->n_notes; p++) {
    const tf_op *op = &k->group->group->workload->ops[cpu_pack_at(k->program, p)->op];
    const int t = op->reads[cpu_pack_at(k->program, p)->product->b].tensor;
    ok = e->wl->tensors[g->group->tensor[t]].producer < 0;
  }
  return ok;
}

static void call(FILE *out, const net_emission *e, int i) {
  const net_kernel *k = net_called(e, i);
  fprintf(out, "\n/* %d:", i + 1);
  for (int o = 0; o < e->plan->groups[i].group->workload->n_ops; o++)
    fprintf(out, " %s", e->plan->groups[i].group->workload->ops[o].name);
  fprintf(out,
          " */\n"
          "static int run_%d(const %s_args *args, char *arena, void *scratch, size_t bytes, const "
          "char **packed) {\n",
          i + 1, C_NAME);
  net_bind_all(out, e, i);
  fputs("  (void)args;\n  (void)arena;\n  (void)packed;\n", out);
  if (packs(e, i))
    fprintf(out, "  k.packed = *packed;\n  if (*packed) *packed += lines(%s_packed());\n", k->name);
  fprintf(out, "  return %s(&k, scratch, bytes);\n}\n", k->name);
  if (!packs(e, i)) return;
  fprintf(out, "\nstatic int pack_%d(const %s_args *args, char *arena, char **packed) {\n", i + 1,
          C_NAME);
  net_bind_all(out, e, i);
  fprintf(out,
          "  (void)args;\n  (void)arena;\n"
          "  const int status = %s_pack(&k, *packed, %s_packed());\n"
          "  *packed += lines(%s_packed());\n  return status;\n}\n",
          k->name, k->name, k->name);
}

static void sizes(FILE *out, const net_emission *e) {
  fprintf(out, "\nstatic size_t most_scratch(void) {\n  size_t most = 0, n;\n");
  for (int i = 0; i < e->plan->n; i++)
    if (net_has_kernel(e, i))
      fprintf(out, "  if ((n = %s_workspace()) > most) most = n;\n", e->kernel[i].name);
  fprintf(out,
          "  return most;\n}\n\n"
          "size_t %s_workspace(void) { return (size_t)ARENA + 64 + most_scratch(); }\n",
          C_NAME);
}

static void entry(FILE *out, const net_emission *e) {
  fprintf(
      out,
      "\nstatic int run_all(const %s_args *args, void *workspace) {\n"
      "  char *arena = (char *)(((uintptr_t)workspace + 63) / 64 * 64), *scratch = arena + ARENA;\n"
      "  const size_t bytes = most_scratch();\n  const char *packed = %s;\n  int status = 0;\n",
      C_NAME, c_packs(&e->package) ? "args->packed" : "NULL");
  for (int i = 0; i < e->plan->n; i++)
    fprintf(out, "  if (!status) status = run_%d(args, arena, scratch, bytes, &packed);\n", i + 1);
  fprintf(out,
          "  return status;\n}\n\n"
          "int %s(const %s_args *args, void *workspace, size_t bytes) {\n"
          "  if (!args) return %s_bad_argument;\n",
          C_NAME, C_NAME, C_NAME);
  for (int z = 0; z < e->wl->n_tensors; z++)
    if (c_is_argument(&e->wl->tensors[z]))
      fputs("  if (!args->", out), c_field(out, e->wl->tensors[z].name),
          fprintf(out, ") return %s_bad_argument;\n", C_NAME);
  fprintf(out,
          "  if (workspace && bytes < %s_workspace()) return %s_small_workspace;\n"
          "  void *own = workspace ? NULL : malloc(%s_workspace());\n"
          "  if (!workspace && !own) return %s_no_memory;\n"
          "  const int status = run_all(args, workspace ? workspace : own);\n"
          "  free(own);\n  return status;\n}\n",
          C_NAME, C_NAME, C_NAME, C_NAME);
}

static void packing(FILE *out, const net_emission *e) {
  if (!c_packs(&e->package)) return;
  fprintf(out, "\nsize_t %s_packed(void) {\n  size_t n = 0;\n", C_NAME);
  for (int i = 0; i < e->plan->n; i++)
    if (packs(e, i)) fprintf(out, "  n += lines(%s_packed());\n", net_called(e, i)->name);
  fprintf(out,
          "  return n;\n}\n\n"
          "int %s_pack(const %s_args *args, void *packed, size_t bytes) {\n"
          "  if (!args || !packed",
          C_NAME, C_NAME);
  for (int p = 0; p < e->whole.n_notes; p++)
    fputs(" || !args->", out), c_field(out, c_packed_tensor(&e->package, p)->name);
  fprintf(out,
          ") return %s_bad_argument;\n"
          "  if (bytes < %s_packed()) return %s_small_workspace;\n  char *at = packed;\n"
          "  int status = 0;\n",
          C_NAME, C_NAME, C_NAME);
  for (int i = 0; i < e->plan->n; i++)
    if (packs(e, i)) fprintf(out, "  if (!status) status = pack_%d(args, NULL, &at);\n", i + 1);
  fputs("  return status;\n}\n", out);
}

void net_say_arena(FILE *out, const net_emission *e) {
  fprintf(out,
          "\n/* Bytes of what passes from group to group (the most alive at once: %" PRId64
          "). */\n#define ARENA INT64_C(%" PRId64 ")\n",
          e->memory.least, e->memory.bytes);
}

void net_print_calls(FILE *out, const net_emission *e) {
  fprintf(out, "/* %s: ", C_NAME), c_plain_text(out, e->wl->name);
  fprintf(out, ", group after group.  Written by tileflow; see README.md. */\n"
               "#include \"network.h\"\n\n#include <stdio.h>\n#include <stdlib.h>\n"
               "#include <string.h>\n#if defined(_OPENMP)\n#include <omp.h>\n#endif\n\n");
  for (int i = 0; i < e->plan->n; i++)
    if (net_has_kernel(e, i)) fprintf(out, "#include \"g%d.h\"\n", i + 1);
  net_say_arena(out, e);
  if (c_packs(&e->package))
    fputs("\n/* Rounded up to cache lines. */\n"
          "static inline size_t lines(size_t n) { return (n + 63) / 64 * 64; }\n",
          out);
  for (int i = 0; i < e->plan->n; i++)
    call(out, e, i);
  sizes(out, e);
  entry(out, e);
  packing(out, e);
  net_print_threads(out);
  net_print_weights(out, e);
}

/* ---- threads -------------------------------------------------------------------------------- */
void net_declare_threads(FILE *out) {
  fprintf(out,
          "/* The same on so many threads, of OpenMP's pool for the calling thread; 0: as many as "
          "OpenMP would take.  One without OpenMP.\n"
          " * The outputs are the same bits whatever their number.  %s_workspace_on: bytes of "
          "workspace that such a call needs. */\n"
          "size_t %s_workspace_on(int threads);\n"
          "int %s_on(const %s_args *args, void *workspace, size_t bytes, int threads);\n\n",
          C_NAME, C_NAME, C_NAME, C_NAME);
}

void net_print_threads(FILE *out) {
  fputs("\n/* The threads that OpenMP takes for this caller from now on; how many they were. */\n"
        "static int take_threads(int threads) {\n"
        "#if defined(_OPENMP)\n  const int before = omp_get_max_threads();\n"
        "  if (threads > 0) omp_set_num_threads(threads);\n  return before;\n"
        "#else\n  return threads;\n#endif\n}\n",
        out);
  fprintf(out,
          "\nsize_t %s_workspace_on(int threads) {\n  const int before = take_threads(threads);\n"
          "  const size_t bytes = %s_workspace();\n  take_threads(before);\n  return bytes;\n}\n"
          "\nint %s_on(const %s_args *args, void *workspace, size_t bytes, int threads) {\n"
          "  const int before = take_threads(threads), status = %s(args, workspace, bytes);\n"
          "  take_threads(before);\n  return status;\n}\n",
          C_NAME, C_NAME, C_NAME, C_NAME, C_NAME);
}
