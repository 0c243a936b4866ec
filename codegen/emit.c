#include "tileflow/emit.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/print_files.h"

typedef struct {
  const char *name;
  bool (*print)(FILE *out, c_package *k);
} file_row;

#define PLAIN(f) static bool f##_file(FILE *out, c_package *k) { f(out, k); return true; }
PLAIN(c_kernel_h)
PLAIN(c_parts_h)
PLAIN(c_test_c)
PLAIN(c_bench_c)
PLAIN(c_makefile)
PLAIN(c_cmake)
PLAIN(c_readme)
PLAIN(c_manifest)

/* kernel.c first: it finds the size of the workspace. */
static const file_row rows[] = {
  {"kernel.c", c_kernel_c},        {"kernel.h", c_kernel_h_file},      {"parts.h", c_parts_h_file},  {"test.c", c_test_c_file},
  {"bench.c", c_bench_c_file},     {"Makefile", c_makefile_file},      {"CMakeLists.txt", c_cmake_file},
  {"README.md", c_readme_file},    {"manifest.json", c_manifest_file},
};
enum { N_FILES = sizeof rows / sizeof rows[0] };

static bool print_one(const file_row *row, c_package *k, tf_emitted_file *f) {
  char *text = NULL;
  size_t n = 0;
  FILE *out = open_memstream(&text, &n);
  bool ok = out && row->print(out, k) && !ferror(out);
  ok = out && fclose(out) == 0 && ok;
  f->name = row->name;
  f->text = text;
  return ok;
}

static bool is_identifier(const char *s) {
  if (!isalpha((unsigned char)*s) && *s != '_') return false;
  for (; *s; s++)
    if (!isalnum((unsigned char)*s) && *s != '_') return false;
  return true;
}

static const tf_micro_isa *isa_of(const tf_emit_options *o, tf_diags *d) {
  const char *name = o->isa ? o->isa : "portable";
  const tf_micro_isa *isa = tf_micro_isa_find(name);
  char all[128] = "";
  for (int i = 0; tf_micro_isa_at(i); i++)
    snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? ", " : "", tf_micro_isa_at(i)->name);
  if (!isa) tf_fail(d, (tf_loc){0}, TF_E_NAME, "no instruction set '%.40s'; known: %s", name, all);
  return isa;
}

static const struct {
  const char *name;
  ir_type type;
} types[] = {{"f32", IR_F32}, {"bf16", IR_BF16}, {"int8", IR_I8}};

static bool type_of(const tf_emit_options *o, ir_type *type, tf_diags *d) {
  const char *name = o->dtype ? o->dtype : "f32";
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (!strcmp(types[i].name, name)) {
      *type = types[i].type;
      return true;
    }
  return tf_fail(d, (tf_loc){0}, TF_E_NAME, "no type of data '%.40s'; known: f32, bf16, int8", name);
}

tf_emitted *tf_emit_cpu(const tf_tree *tree, const tf_emit_options *o, tf_diags *d) {
  c_package k = {.o = o, .name = o->name ? o->name : "kernel", .isa = isa_of(o, d)};
  ir_type data = IR_F32;
  if (!type_of(o, &data, d) || !k.isa) return NULL;
  if (!is_identifier(k.name)) {
    tf_fail(d, (tf_loc){0}, TF_E_NAME, "'%.40s' cannot name a function in C", k.name);
    return NULL;
  }
  const ir_target target = tf_micro_target(k.isa, data);
  ir_program *p = ir_lower(tree, &target, d);
  tf_emitted *e = p ? calloc(1, sizeof *e) : NULL;
  bool ok = e && (e->file = calloc(N_FILES, sizeof *e->file)) != NULL;
  k.p = p;
  for (int i = 0; i < N_FILES && ok; i++) {
    ok = print_one(&rows[i], &k, &e->file[i]);
    e->n = i + 1;
  }
  ir_free(p);
  if (ok) return e;
  tf_emitted_free(e);
  if (p) tf_fail(d, (tf_loc){0}, TF_E_LIMIT, "out of memory");
  return NULL;
}

void tf_emitted_free(tf_emitted *e) {
  for (int i = 0; e && i < e->n; i++)
    free((char *)e->file[i].text);
  if (e) free(e->file);
  free(e);
}

char *tf_emit_ir(const tf_tree *tree, tf_diags *d) {
  ir_program *p = ir_lower(tree, NULL, d);
  char *text = NULL;
  size_t n = 0;
  FILE *out = p ? open_memstream(&text, &n) : NULL;
  if (out) ir_dump(out, p);
  if (p && (!out || fclose(out) != 0)) tf_fail(d, (tf_loc){0}, TF_E_LIMIT, "out of memory");
  ir_free(p);
  return text;
}
