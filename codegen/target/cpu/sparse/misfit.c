/* Arguments with more elements that are not zero than there may be: what the kernel says of them, and its test. */
#include <inttypes.h>

#include "codegen/target/cpu/sparse/sparse.h"

static const cpu_product *product_at(const ir_program *p, int i) {
  const bool ours = p->notes[i]->of == &cpu_no_note; /* another target has packs of its own */
  return ours && cpu_pack_at(p, i)->product->way == CPU_SPARSE ? cpu_pack_at(p, i)->product : NULL;
}

bool c_has_sparse(const ir_program *p) {
  bool any = false;
  for (int i = 0; i < p->n_notes; i++)
    any |= product_at(p, i) != NULL;
  return any;
}

/* The tensor of the i-th pack, if that is of such a product, and the first one of it; else NULL. */
static const tf_tensor *tensor_at(const c_package *k, int i) {
  const tf_tensor *z = product_at(k->p, i) ? c_packed_tensor(k, i) : NULL;
  for (int e = 0; e < i && z; e++)
    if (product_at(k->p, e) && c_packed_tensor(k, e) == z) return NULL;
  return z;
}

void c_misfit_h(FILE *out, const c_package *k) {
  const tf_workload *wl = k->p->tree->workload;
  fputs("/* Multiplies what is not zero alone of", out);
  for (int i = 0; i < k->p->n_notes; i++) {
    const tf_tensor *z = tensor_at(k, i);
    const cpu_product *p = product_at(k->p, i);
    if (z)
      fprintf(out, " %s (at most %d of every %d along %s)", z->name, p->sparse.n, p->sparse.of,
              wl->dims[wl->ops[cpu_pack_at(k->p, i)->op].dims[p->k]].name);
  }
  fprintf(out,
          ".  A call with more returns\n"
          " * %s_bad_pattern, as does one that packs; %s_misfit then returns the argument's name, and in `at` the "
          "coordinates of the\n"
          " * first element too many; NULL: there is none.  What a zero would have been multiplied by is not read: it "
          "may be infinite,\n * or no number. */\n"
          "const char *%s_misfit(const %s_args *args, int64_t at[2]);\n\n",
          k->name, k->name, k->name, k->name);
}

static void find(FILE *out, const tf_tensor *z) {
  const int r = z->density.rank;
  fprintf(out,
          "  for (int64_t row = 0; row < %" PRId64 "; row++)\n"
          "    for (int64_t from = 0; from < %" PRId64 "; from += %" PRId64 ") {\n      int count = 0;\n"
          "      for (int64_t x = from; x < from + %" PRId64 " && x < %" PRId64 "; x++)\n        if (args->",
          z->extent[1 - r], z->extent[r], z->density.m, z->density.m, z->extent[r]);
  c_field(out, z->name), fprintf(out, "[%s * args->", r ? "row" : "x"), c_stride_field(out, z->name);
  fprintf(out,
          "[0] + %s] != 0.0f && ++count > %" PRId64
          ") {\n          at[%d] = x, at[%d] = row;\n          return \"%s\";\n        }\n    }\n",
          r ? "x" : "row", z->density.n, r, 1 - r, z->name);
}

void c_misfit(FILE *out, const c_package *k) {
  fprintf(out, "\nconst char *%s_misfit(const %s_args *args, int64_t at[2]) {\n", k->name, k->name);
  for (int i = 0; i < k->p->n_notes; i++)
    if (tensor_at(k, i)) find(out, tensor_at(k, i));
  fputs("  return NULL;\n}\n", out);
}

/* ---- tests ----------------------------------------------------------------------------------------------------- */

static const char kept[] =
    "static unsigned long long drawn(unsigned long long i) {\n"
    "  unsigned long long u = (i + 1) * 0x9e3779b97f4a7c15ULL;\n"
    "  u = (u ^ u >> 31) * 0x9e3779b97f4a7c15ULL;\n  return u ^ u >> 29;\n}\n\n"
    "/* Whether element i is one of the n of every m along a rank that are not zero: those of the n least numbers "
    "drawn. */\n"
    "static int kept(unsigned long long i, unsigned long long step, unsigned long long extent, unsigned n, unsigned m) "
    "{\n"
    "  const unsigned long long at = i / step % extent % m, first = i - at * step;\n  unsigned before = 0;\n"
    "  for (unsigned e = 0; e < m; e++) before += drawn(first + e * step) < drawn(i);\n"
    "  return before < n;\n}\n\n";

void c_kept_text(FILE *out, const c_package *k) {
  if (c_has_sparse(k->p)) fputs(kept, out);
}

bool c_is_thinned(const c_package *k, const tf_tensor *z) {
  return c_has_sparse(k->p) && c_is_input(z) && z->density.fall == TF_FALL_BLOCKS;
}

void c_kept(FILE *out, const tf_tensor *z) {
  int64_t step = 1;
  for (int r = z->rank - 1; r > z->density.rank; r--)
    step *= z->extent[r];
  fprintf(out, "kept((unsigned long long)i, %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ")", step,
          z->extent[z->density.rank], z->density.n, z->density.m);
}

/* Elements 0 .. n of the last row, where they are in one block. */
static void spoil(FILE *out, const c_package *k, const tf_tensor *z) {
  const int r = z->density.rank;
  const int64_t n = z->density.n, row = z->extent[1 - r] - 1;
  const char *at = r ? "row * s + x" : "x * s + row", *name = k->name;
  if (n >= z->density.m || n >= z->extent[r]) return;
  fputs("  {\n    const int64_t s = args.", out), c_stride_field(out, z->name);
  fprintf(out,
          "[0], row = %" PRId64 ";\n    int64_t at[2] = {-1, -1};\n"
          "    if (%s_misfit(&args, at)) puts(\"%s: an element too many is found where there is none\"), bad = 1;\n"
          "    for (int64_t x = 0; x <= %" PRId64 "; x++) k_%s[%s] = 1;\n"
          "    const char *const of = %s_misfit(&args, at);\n"
          "    if (!of || strcmp(of, \"%s\") || at[%d] != %" PRId64 " || at[%d] != row || %s(&args, workspace, bytes) "
          "!= %s_bad_pattern)\n      puts(\"%s: an element too many is not found\"), bad = 1;\n",
          row, name, z->name, n, z->name, at, name, z->name, r, n, 1 - r, name, name, z->name);
  if (c_packs(k))
    fprintf(out,
            "    void *room_for_it = room(%s_packed(), 1);\n"
            "    if (%s_pack(&args, room_for_it, %s_packed()) != %s_bad_pattern) puts(\"%s: an element too many is "
            "packed\"), bad = 1;\n    free(room_for_it);\n",
            name, name, name, name, z->name);
  fprintf(out, "    for (int64_t x = 0; x <= %" PRId64 "; x++) k_%s[%s] = 0;\n  }\n", n, z->name, at);
}

void c_misfit_test(FILE *out, const c_package *k) {
  for (int i = 0; i < k->p->n_notes; i++)
    if (tensor_at(k, i)) spoil(out, k, tensor_at(k, i));
}
