/* Prints the instructions of files as the table of kernels that the generator is built with:
 *   intrin_table TABLE.c FILE...
 * What the generator cannot use ends the build, with what is wrong in which line. */
#include <stdio.h>
#include <stdlib.h>

#include "codegen/intrin/described.h"

/* A text, or NULL.  What a description may hold needs no escapes in C. */
static void text(FILE *out, const char *t) { t ? fprintf(out, "\"%s\"", t) : fputs("NULL", out); }

static void row(FILE *out, const tf_micro_kernel *k) {
  const ir_kernel *i = &k->kernel;
  fprintf(out,
          "    {{\"%s\", (ir_type)%d, (ir_type)%d, (ir_type)%d, %d, %d, %d, %d, (ir_type)%d, %d},\n"
          "     %d, (tf_micro_form)%d, ",
          i->name, (int)i->a, (int)i->b, (int)i->c, i->group, i->m_round, i->n_round, i->k_round,
          (int)i->leaves, (int)i->lifts, k->lanes, (int)k->form);
  text(out, k->prefix);
  fprintf(out, ", \"%s\", NULL, \"%s\",\n     {", k->sums, k->call);
  for (int m = 0; m < 3; m++)
    text(out, k->operand[m]), fputs(m < 2 ? ", " : "},\n     {", out);
  for (int n = 0; k->isa[n]; n++)
    text(out, k->isa[n]), fputs(", ", out);
  fputs("NULL}},\n", out);
}

static int rows_of(FILE *out, const char *path, tf_diags *d) {
  tf_spec *s = tf_spec_read(&path, 1, NULL, 0, d);
  int n = 0;
  for (int i = 0; s && i < s->n_instrs; i++) {
    tf_micro_kernel k;
    if (!s->instrs[i].emit || !tf_micro_describe(&s->instrs[i], &k, d)) continue;
    row(out, &k);
    n++;
  }
  tf_spec_free(s);
  return n;
}

static bool print(FILE *out, int n_files, char **files, tf_diags *d) {
  int n = 0;
  fputs("/* Printed by codegen/intrin/table. */\n#include \"codegen/intrin/micro.h\"\n\n"
        "const tf_micro_kernel tf_micro_described[] = {\n",
        out);
  for (int i = 0; i < n_files; i++)
    n += rows_of(out, files[i], d);
  fprintf(out, "};\nconst int tf_micro_n_described = %d;\n", n);
  return tf_diags_errors(d) == 0 && n > 0;
}

int main(int argc, char **argv) {
  tf_diags *d = tf_diags_new();
  FILE *out = argc > 2 ? fopen(argv[1], "w") : NULL;
  bool ok = d && out && print(out, argc - 2, argv + 2, d);
  if (out && fclose(out) != 0) ok = false;
  char *said = d ? tf_diags_text(d) : NULL;
  if (said) fputs(said, stderr);
  if (!ok && argc > 1) remove(argv[1]);
  free(said);
  tf_diags_free(d);
  return ok ? 0 : 1;
}
