/* laid.c: a kernel for arguments of which a layout cuts ranks in blocks, around one of rows; and
 * where tests find elements. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/backend/cpu/print/files.h"
#include "model/input/dims.h"

enum { LINE_BYTES = 64 };
enum { WORTH_THREADS = 1 << 15 }; /* words of a tensor that threads share */

static const tf_laid *cut(const ir_program *p, const tf_tensor *z) {
  const tf_laid *l = tf_layout_of(p->tree->arch, z);
  return l && l->n > z->rank ? l : NULL;
}

bool c_has_blocked(const ir_program *p) {
  const tf_workload *wl = p->tree->workload;
  bool any = false;
  for (int z = 0; z < wl->n_tensors; z++)
    any |= cut(p, &wl->tensors[z]) != NULL;
  return any;
}

const tf_laid *c_blocked(const c_package *k, const tf_tensor *z) {
  return k->blocked ? cut(k->p, z) : NULL;
}

int c_n_parts(const c_package *k, const tf_tensor *z) {
  const tf_laid *l = c_blocked(k, z);
  return l ? l->n : z->rank;
}

int64_t c_part_length(const c_package *k, const tf_tensor *z, int part) {
  const tf_laid *l = c_blocked(k, z);
  if (!l) return z->extent[part];
  const tf_laid_part *p = &l->parts[part];
  const int64_t n = z->extent[p->rank];
  if (p->part == TF_LAYOUT_DIV) return (n + p->by - 1) / p->by;
  return p->part == TF_LAYOUT_MOD && p->by < n ? p->by : n;
}

/* ---- loops over blocks ----------------------------------------------------------------------- */

/* Loops over the parts of z, in their order: p0, p1, ..; indented by `in`. */
static void loops(FILE *out, const c_package *k, const tf_tensor *z, int in) {
  for (int i = 0; i < c_n_parts(k, z); i++)
    fprintf(out, "%*sfor (int64_t p%d = 0; p%d < %" PRId64 "; p%d++)%s\n", 2 * i + in, "", i, i,
            c_part_length(k, z, i), i, i + 1 < c_n_parts(k, z) ? "" : " {");
}

/* The coordinate along rank r of what the loops are at, from the first one on. */
static void coordinate(FILE *out, const tf_laid *l, int r) {
  const char *sep = "";
  for (int i = 0; i < l->n; i++) {
    const tf_laid_part *p = &l->parts[i];
    if (p->rank != r) continue;
    fprintf(out, "%sp%d", sep, i);
    if (p->part == TF_LAYOUT_DIV) fprintf(out, " * %" PRId64, p->by);
    sep = " + ";
  }
}

/* Whether it is there, and not behind the end of a rank. */
static void inside(FILE *out, const tf_laid *l, const tf_tensor *z) {
  const char *sep = "";
  for (int i = 0; i < l->n; i++) {
    const tf_laid_part *p = &l->parts[i];
    if (p->part != TF_LAYOUT_DIV || z->extent[p->rank] % p->by == 0) continue;
    fputs(sep, out), coordinate(out, l, p->rank);
    fprintf(out, " < %" PRId64, z->extent[p->rank]);
    sep = " && ";
  }
  if (!*sep) fputc('1', out);
}

static void in_blocks(FILE *out, const tf_laid *l) {
  for (int i = 0; i + 1 < l->n; i++)
    fprintf(out, "p%d * step[%d] + ", i, i);
  fprintf(out, "p%d", l->n - 1);
}

static void in_rows(FILE *out, const tf_laid *l, const tf_tensor *z) {
  int64_t step = tf_tensor_words(z);
  for (int r = 0; r < z->rank; r++) {
    step /= z->extent[r];
    fputs(r ? " + (" : "(", out), coordinate(out, l, r);
    fprintf(out, ") * INT64_C(%" PRId64 ")", step);
  }
}

/* The function that brings argument z into rows, or out of them. */
static void mover(FILE *out, const c_package *k, int z) {
  const tf_tensor *t = &k->p->tree->workload->tensors[z];
  const tf_laid *l = c_blocked(k, t);
  const char *type = c_type(c_argument_type(k->p, z));
  const bool in = c_is_input(t);
  fprintf(out, "/* "), c_plain_text(out, t->name);
  fprintf(out, " */\nstatic void move_%d(%s%s *blocks, %s%s *rows, const int64_t *step) {\n", z,
          in ? "const " : "", type, in ? "" : "const ", type);
  if (ir_has_parallel(&k->p->body) && tf_tensor_words(t) >= WORTH_THREADS)
    fputs("#if defined(_OPENMP)\n#pragma omp parallel for\n#endif\n", out);
  loops(out, k, t, 2);
  const int deep = 2 * l->n + 2;
  fprintf(out, "%*sconst int there = ", deep, ""), inside(out, l, t);
  if (in) {
    fprintf(out, ";\n%*sif (there) rows[", deep, ""), in_rows(out, l, t);
    fputs("] = blocks[", out), in_blocks(out, l), fputs("];\n", out);
  } else {
    fprintf(out, ";\n%*sblocks[", deep, ""), in_blocks(out, l);
    fputs("] = there ? rows[", out), in_rows(out, l, t), fputs("] : 0;\n", out);
  }
  fprintf(out, "%*s}\n}\n\n", deep - 2, "");
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Whether all that reads argument z finds it in panels, if they are packed beforehand. */
static bool in_panels_alone(const c_package *k, int z) {
  const tf_workload *wl = k->p->tree->workload;
  int reads = 0;
  bool packed = false;
  for (int o = 0; o < wl->n_ops; o++)
    reads += tf_op_times_read(&wl->ops[o], z);
  for (int i = 0; c_packs(k) && i < k->p->n_notes; i++)
    packed |= c_packed_tensor(k, i) == &wl->tensors[z];
  return packed && reads == 1;
}

static int64_t bytes_of(const c_package *k, int z) {
  const int64_t bytes = tf_tensor_words(&k->p->tree->workload->tensors[z]) *
                        (int64_t)ir_bytes(c_argument_type(k->p, z));
  return (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
}

/* The arguments of the kernel of rows, of args and of `room` for those in blocks; packing: those
 * alone that are packed. */
static void arguments(FILE *out, const c_package *k, bool packing) {
  const tf_workload *wl = k->p->tree->workload;
  int64_t at = 0;
  fprintf(out, "  %s_rows_args rows;\n  %s_rows_dense(&rows);\n", k->name, k->name);
  for (int z = 0; z < wl->n_tensors; z++) {
    const tf_tensor *t = &wl->tensors[z];
    if (!c_is_argument(t)) continue;
    if (c_blocked(k, t)) {
      fprintf(out, "  rows."), c_field(out, t->name);
      fprintf(out, " = (%s *)(void *)(room + %" PRId64 ");\n", c_type(c_argument_type(k->p, z)),
              at);
      at += bytes_of(k, z);
      continue;
    }
    fprintf(out, "  rows."), c_field(out, t->name);
    fprintf(out, " = args->"), c_field(out, t->name), fputs(";\n", out);
    if (t->rank < 2) continue;
    fputs("  memcpy(rows.", out), c_stride_field(out, t->name);
    fputs(", args->", out), c_stride_field(out, t->name);
    fputs(", sizeof rows.", out), c_stride_field(out, t->name), fputs(");\n", out);
  }
  at = 0;
  for (int z = 0; z < wl->n_tensors; z++) {
    const tf_tensor *t = &wl->tensors[z];
    if (!c_blocked(k, t)) continue;
    if (c_is_input(t) && (!packing || in_panels_alone(k, z))) {
      fputs(!packing && in_panels_alone(k, z) ? "  if (!args->packed) " : "  ", out);
      fprintf(out, "move_%d(args->", z), c_field(out, t->name);
      fprintf(out, ", (%s *)(void *)(room + %" PRId64 "), args->", c_type(c_argument_type(k->p, z)),
              at);
      c_stride_field(out, t->name), fputs(");\n", out);
    }
    at += bytes_of(k, z);
  }
}

static int64_t room_of(const c_package *k) {
  const tf_workload *wl = k->p->tree->workload;
  int64_t all = 0;
  for (int z = 0; z < wl->n_tensors; z++)
    if (c_blocked(k, &wl->tensors[z])) all += bytes_of(k, z);
  return all;
}

static void absent(FILE *out, const c_package *k, bool packing) {
  const tf_workload *wl = k->p->tree->workload;
  fputs("  if (!args", out);
  for (int z = 0; z < wl->n_tensors; z++)
    if (c_blocked(k, &wl->tensors[z]) && (!packing || in_panels_alone(k, z)))
      fputs(" || !args->", out), c_field(out, wl->tensors[z].name);
  fprintf(out, ") return %s_bad_argument;\n", k->name);
}

/* The function of a call; `with`: one that names the instruction set. */
static void put_call(FILE *out, const c_package *k, bool with) {
  const tf_workload *wl = k->p->tree->workload;
  const char *n = k->name;
  const int64_t room = room_of(k);
  fprintf(out, "int %s%s(%sconst %s_args *args, void *workspace, size_t bytes) {\n", n,
          with ? "_with" : "", with ? "const char *isa, " : "", n);
  absent(out, k, false);
  fprintf(out,
          "  void *own = NULL;\n"
          "  if (!workspace) {\n    bytes = %s_workspace();\n    workspace = own = malloc(bytes);\n"
          "    if (!own) return %s_no_memory;\n  }\n"
          "  if (bytes < %s_workspace()) return %s_small_workspace;\n"
          "  unsigned char *const room = (unsigned char *)(((uintptr_t)workspace + 63) / 64 * "
          "64);\n",
          n, n, n, n);
  arguments(out, k, false);
  if (c_packs(k)) fputs("  rows.packed = args->packed;\n", out);
  fprintf(out,
          "  const int status = %s_rows%s(%s&rows, room + %" PRId64
          ", bytes - (size_t)(room + %" PRId64 " - (unsigned char *)workspace));\n",
          n, with ? "_with" : "", with ? "isa, " : "", room, room);
  int64_t at = 0;
  for (int z = 0; z < wl->n_tensors; z++) {
    const tf_tensor *t = &wl->tensors[z];
    if (!c_blocked(k, t)) continue;
    if (!c_is_input(t)) {
      fprintf(out, "  if (status == %s_done) move_%d(args->", n, z), c_field(out, t->name);
      fprintf(out, ", (const %s *)(void *)(room + %" PRId64 "), args->",
              c_type(c_argument_type(k->p, z)), at);
      c_stride_field(out, t->name), fputs(");\n", out);
    }
    at += bytes_of(k, z);
  }
  fputs("  free(own);\n  return status;\n}\n\n", out);
}

static void pack(FILE *out, const c_package *k) {
  const char *n = k->name;
  fprintf(out,
          "size_t %s_packed(void) { return %s_rows_packed(); }\n\n"
          "int %s_pack(const %s_args *args, void *packed, size_t bytes) {\n",
          n, n, n, n);
  absent(out, k, true);
  fprintf(out,
          "  void *const own = malloc(INT64_C(%" PRId64 "));\n  unsigned char *const room = own;\n"
          "  if (!own) return %s_no_memory;\n",
          room_of(k) + LINE_BYTES, n);
  arguments(out, k, true);
  fprintf(out,
          "  const int status = %s_rows_pack(&rows, packed, bytes);\n  free(own);\n"
          "  return status;\n}\n\n",
          n);
}

void c_laid_c(FILE *out, const c_package *k) {
  const tf_workload *wl = k->p->tree->workload;
  const char *n = k->name;
  fprintf(out, "/* %s: ", n), c_plain_text(out, wl->name);
  fprintf(out,
          ", for arguments in blocks: they are brought into rows, for the kernel of rows.h, and "
          "its outputs back.\n"
          " * Written by tileflow; see README.md. */\n"
          "#if defined(__GNUC__)\n"
          "#pragma GCC diagnostic ignored \"-Wunknown-pragmas\" /* of OpenMP, where it is off */\n"
          "#endif\n"
          "#include \"kernel.h\"\n#include \"rows.h\"\n\n#include <stdlib.h>\n"
          "#include <string.h>\n\n");
  for (int z = 0; z < wl->n_tensors; z++)
    if (c_blocked(k, &wl->tensors[z])) mover(out, k, z);
  fprintf(out,
          "size_t %s_workspace(void) { return (size_t)INT64_C(%" PRId64
          ") + %s_rows_workspace(); }\n\n",
          n, room_of(k) + LINE_BYTES, n);
  put_call(out, k, false);
  if (k->n_isas) {
    put_call(out, k, true);
    fprintf(out, "const char *%s_isa(int i) { return %s_rows_isa(i); }\n", n, n);
  }
  if (c_packs(k)) pack(out, k);
}

char *c_text_of_rows(const char *text) {
  static const char was[] = "\"kernel.h\"", is[] = "\"rows.h\"";
  char *named = c_with_name(text, C_NAME "_rows"), *to = named;
  for (const char *from = named; from && (*to = *from); from++, to++)
    if (!strncmp(from, was, sizeof was - 1))
      memcpy(to, is, sizeof is - 1), to += sizeof is - 2, from += sizeof was - 2;
  return named;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static int number_of(const c_package *k, const tf_tensor *z) {
  const tf_workload *wl = k->p->asked ? k->p->asked : k->p->tree->workload;
  return (int)(z - wl->tensors);
}

/* The last rank of each array has a gap after it, to test strides; a multiple of eight elements
 * (of float8 kernels 16 bytes) where the target has a path for these; none in half of the arrays,
 * where it has one for dense ones. */
static int64_t gap_of(const c_package *k, const tf_tensor *z) {
  if (c_blocked(k, z)) return 3;
  if (k->dense && (z->extent[0] + z->extent[z->rank - 1]) % 2 == 0) return 0;
  const ir_type data = k->p->machine.data;
  const int64_t whole = data == IR_F8 ? 16 / ir_bytes(c_argument_type(k->p, number_of(k, z)))
                        : ir_bytes(data) == 1 ? 16
                                              : 8;
  return k->eights && z->extent[z->rank - 1] % whole == 0 ? whole : 3;
}

int64_t c_spaced_words(const c_package *k, const tf_tensor *z) {
  const int parts = c_n_parts(k, z);
  int64_t n = 1;
  for (int i = 0; i < parts; i++)
    n *= c_part_length(k, z, i) + (i == parts - 1 && parts > 1 ? gap_of(k, z) : 0);
  return n;
}

void c_spaced_strides(FILE *out, const c_package *k, const tf_tensor *z) {
  const int last = c_n_parts(k, z) - 1;
  int64_t step = last > 0 ? c_part_length(k, z, last) + gap_of(k, z) : 1;
  for (int i = last - 1; i >= 0; i--) {
    fputs("  args.", out), c_stride_field(out, z->name),
        fprintf(out, "[%d] = %" PRId64 ";\n", i, step);
    step *= c_part_length(k, z, i);
  }
}

void c_places_text(FILE *out, const c_package *k) {
  const tf_workload *wl = k->p->tree->workload;
  for (int z = 0; z < wl->n_tensors; z++) {
    const tf_tensor *t = &wl->tensors[z];
    const tf_laid *l = c_blocked(k, t);
    if (!l) continue;
    fprintf(out, "static inline long long place_%d(long long i, const int64_t *step) {\n", z);
    for (int r = t->rank - 1; r >= 0; r--)
      fprintf(out, "  const long long r%d = i %% %" PRId64 ";\n  i /= %" PRId64 ";\n", r,
              t->extent[r], t->extent[r]);
    fputs("  return 0", out);
    for (int i = 0; i < l->n; i++) {
      const tf_laid_part *p = &l->parts[i];
      fprintf(out, " + r%d", p->rank);
      if (p->part != TF_LAYOUT_WHOLE)
        fprintf(out, " %c %" PRId64, p->part == TF_LAYOUT_DIV ? '/' : '%', p->by);
      if (i + 1 < l->n) fprintf(out, " * step[%d]", i);
    }
    fputs(";\n}\n\n", out);
  }
}

void c_spaced_at(FILE *out, const c_package *k, const tf_tensor *z) {
  if (c_blocked(k, z)) {
    fprintf(out, "place_%d(i, args.", number_of(k, z)), c_stride_field(out, z->name);
    fputc(')', out);
    return;
  }
  const int64_t last = z->rank > 1 ? z->extent[z->rank - 1] : tf_tensor_words(z);
  fprintf(out, "i / %" PRId64 " * %" PRId64 " + i %% %" PRId64, last,
          z->rank > 1 ? last + gap_of(k, z) : last, last);
}

void c_padding_test(FILE *out, const c_package *k, const tf_tensor *z) {
  const tf_laid *l = c_blocked(k, z);
  fputs("  {\n    const int64_t *step = args.", out), c_stride_field(out, z->name);
  fputs(";\n    int filled = 0;\n", out);
  loops(out, k, z, 4);
  const int deep = 2 * l->n + 4;
  fprintf(out, "%*sif (!(", deep, ""), inside(out, l, z);
  fprintf(out, ")) filled += k_%s[", z->name), in_blocks(out, l);
  fprintf(out,
          "] != 0;\n%*s}\n    if (filled) puts(\"%s: not zero behind its end\"), bad = 1;\n  }\n",
          deep - 2, "", z->name);
}
