/* A program whose locale has a decimal comma: the library reads and writes numbers as it does
 * without. */
#include <locale.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/check.h"
#include "tileflow/tileflow.h"

static const char text[] = "architecture:\n"
                           "  clock: 1.5 GHz\n"
                           "  memories:\n"
                           "  - {name: DRAM, bandwidth: 8.5, energy: 1.25 pJ}\n"
                           "  - {name: L1, capacity: 512, bandwidth: 0.75}\n"
                           "  compute:\n"
                           "  - {name: mac, ops: [mac, add, mul], mesh: [4, 4], rate: 0.5}\n"
                           "workload:\n"
                           "  dims: {m: 16, n: 16, k: 16}\n"
                           "  ops: ['C[m,n] += 0.25 * A[m,k] * B[k,n]']\n"
                           "mapping: |\n"
                           "  DRAM for m=4 n=4\n"
                           "    L1 for m=2 n=2 k=16 spatial m=2@x n=2@y\n"
                           "      op C\n";

/* Cycles of the mapping; the mapping, the kernel's files and the messages as one text. */
static char *all(double *cycles) {
  char *out = NULL;
  size_t n = 0;
  FILE *f = open_memstream(&out, &n);
  tf_diags *d = tf_diags_new();
  tf_spec *s = tf_spec_read_texts(
      &(tf_text){.name = "t.yaml", .text = (char *)(uintptr_t)text, .len = sizeof text - 1}, 1,
      NULL, 0, d);
  tf_tree *t = s ? tf_tree_parse(s->mapping_text, s->mapping_at, s->arch, s->workload, d) : NULL;
  tf_model *m = t ? tf_model_new(t, d) : NULL;
  tf_result r = {0};
  const bool counted = m && tf_model_eval(m, NULL, &r);
  if (CHECK(counted)) {
    char *tree = tf_tree_text(t);
    tf_emitted *e = tf_emit(t, "cpu", &(tf_emit_options){.isa = "portable"}, d);
    fprintf(f, "%s", tree);
    for (size_t i = 0; CHECK(e != NULL) && i < (size_t)e->n; i++)
      fprintf(f, "%s\n%s\n", e->file[i].name, e->file[i].text);
    tf_emitted_free(e);
    free(tree);
  }
  *cycles = r.cycles;
  char *said = tf_diags_text(d);
  fprintf(f, "%s", said ? said : "");
  free(said);
  tf_model_free(m);
  tf_tree_free(t);
  tf_spec_free(s);
  tf_diags_free(d);
  fclose(f);
  return out;
}

/* Makes a locale with a decimal comma, and goes into it; false: this system cannot. */
static bool into_comma(const char *dir) {
  char path[64], command[200];
  snprintf(path, sizeof path, "%s/source", dir);
  FILE *f = fopen(path, "w");
  if (!f) return false;
  fputs("comment_char %\nescape_char /\nLC_NUMERIC\ndecimal_point \"<U002C>\"\n"
        "thousands_sep \"<U002E>\"\n"
        "grouping 3;3\nEND LC_NUMERIC\n",
        f);
  fclose(f);
  snprintf(command, sizeof command, "localedef -c -i %s -f ANSI_X3.4-1968 %s/comma >/dev/null 2>&1",
           path, dir);
  (void)!system(command);
  setenv("LOCPATH", dir, 1);
  return setlocale(LC_NUMERIC, "comma") && localeconv()->decimal_point[0] == ',';
}

int main(void) {
  char dir[] = "/tmp/test-locale-XXXXXX", command[64];
  double plain = 0, comma = 0;
  if (!mkdtemp(dir)) return 2;
  char *want = all(&plain);
  const bool there = into_comma(dir);
  char *got = all(&comma);
  char number[16];
  snprintf(number, sizeof number, "%.1f", 8.5);
  CHECK_TEXT(number, there ? "8,5" : "8.5"); /* the program's own locale is as it was */
  CHECK(plain > 0 && plain == comma);
  CHECK_TEXT(got, want);
  free(got);
  free(want);
  snprintf(command, sizeof command, "rm -rf %s", dir);
  (void)!system(command);
  if (!there) puts("SKIP: localedef makes no locale here");
  return there ? check_report() : 77;
}
