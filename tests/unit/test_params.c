/* Params of several files: whose they are, and which of them a setting reaches. */
#include "tests/unit/check.h"
#include "tileflow/spec.h"

#define CHIP                                                                                       \
  "architecture:\n  memories:\n  - {name: A}\n  - {name: B, capacity: n}\n  compute:\n  - {name: " \
  "u, ops: [mac]}\n"
#define WORK "workload:\n  dims: {m: n, k: 2}\n  ops:\n  - C[m] += A[m,k] * B[k]\n"

typedef struct {
  int line;
  const char *file[4], *set[3]; /* NULL: no more; of a setting: NAME=VALUE */
  int64_t capacity, extent;     /* 0: an error */
  tf_code code;
} param_case;

static const param_case rows[] = {
    /* each file's own */
    {__LINE__, {"params: {n: 5}\n" CHIP, "params: {n: 7}\n" WORK}, {NULL}, 5, 7, 0},
    {__LINE__, {"params: {n: h + 1, h: 2}\n" CHIP, "params: {h: 6, n: h}\n" WORK}, {NULL}, 3, 6, 0},
    {__LINE__,
     {"params: {n: 'pow(3, 2) - pow(9, 0.5)'}\n" CHIP,
      "params: {n: 'floor(0.5 + 8 * (1 - pow(1 - 2 / 8, 4)))'}\n" WORK},
     {NULL},
     6,
     5,
     0},
    {__LINE__,
     {"params: {n: 'pow(7, 22) - 3909821048582988042'}\n" CHIP, "params: {n: 'pow(5, 0)'}\n" WORK},
     {NULL},
     7,
     1,
     0},
    {__LINE__, {"params: {n: 'pow(0, -1)'}\n" CHIP, WORK}, {NULL}, 0, 0, TF_E_RANGE},
    /* of another file, where there is one; of a file without sections for all */
    {__LINE__, {CHIP, "params: {n: 7}\n" WORK}, {NULL}, 7, 7, 0},
    {__LINE__, {CHIP, "params: {n: 7}\n", WORK}, {NULL}, 7, 7, 0},
    {__LINE__, {"params: {n: 5}\n" CHIP, "params: {n: 7}\n", WORK}, {NULL}, 5, 7, 0},
    {__LINE__, {CHIP, "params: {n: 7}\n", "params: {n: 8}\n" WORK}, {NULL}, 7, 8, 0},
    {__LINE__, {"params: {n: 5}\n" CHIP WORK, "params: {n: 7}\n"}, {NULL}, 5, 5, 0},
    /* ambiguous */
    {__LINE__, {CHIP WORK, "params: {n: 7}\n", "params: {n: 8}\n"}, {NULL}, 0, 0, TF_E_DUP},
    {__LINE__,
     {CHIP, "params: {n: 7}\n" WORK, "params: {n: 8}\nmapping: |\n  A\n"},
     {NULL},
     0,
     0,
     TF_E_DUP},
    {__LINE__,
     {"params: {n: 4}\n" CHIP, "params: {n: 7}\n" WORK,
      "params: {n: 8}\nmapping: |\n  A\n    op C\n"},
     {"n=1"},
     1,
     1,
     0},
    /* settings */
    {__LINE__, {"params: {n: 5}\n" CHIP, "params: {n: 7}\n" WORK}, {"n=9"}, 9, 9, 0},
    {__LINE__, {"params: {n: 5}\n" CHIP, "params: {n: 7}\n" WORK}, {"arch.n=9"}, 9, 7, 0},
    {__LINE__, {"params: {n: 5}\n" CHIP, "params: {n: 7}\n" WORK}, {"architecture.n=9"}, 9, 7, 0},
    {__LINE__,
     {"params: {n: 5}\n" CHIP, "params: {n: 7}\n" WORK},
     {"workload.n=9", "n=3"},
     3,
     9,
     0},
    {__LINE__,
     {"params: {n: 5, h: 1}\n" CHIP, "params: {n: 7, h: 2}\n" WORK},
     {"n=h+10"},
     11,
     12,
     0},
    {__LINE__, {CHIP, "params: {n: 7}\n", WORK}, {"arch.n=9"}, 9, 7, 0},
    {__LINE__, {"params: {n: 5}\n" CHIP WORK}, {"arch.n=9"}, 9, 9, 0},
    {__LINE__, {"params: {n: \"?\"}\n" CHIP, "params: {n: 7}\n" WORK}, {"arch.n=9"}, 9, 7, 0},
    {__LINE__,
     {"params: {n: \"?\"}\n" CHIP, "params: {n: 7}\n" WORK},
     {"workload.n=9"},
     0,
     0,
     TF_E_OPEN},
    {__LINE__,
     {"params: {n: 5}\n" CHIP, "params: {n: 7}\n" WORK},
     {"arch.n=9", "arch.n=8"},
     0,
     0,
     TF_E_DUP},
    {__LINE__, {"params: {n: 5}\n" CHIP, "params: {n: 7}\n" WORK}, {"n=9", "n=8"}, 0, 0, TF_E_DUP},
    {__LINE__, {"params: {n: 5}\n" CHIP, "params: {n: 7}\n" WORK}, {"arch.h=9"}, 0, 0, TF_E_NAME},
    {__LINE__,
     {"params: {n: 5}\n" CHIP, "params: {n: 7}\n" WORK},
     {"mapping.n=9"},
     0,
     0,
     TF_E_NAME},
    {__LINE__, {"params: {n: 5}\n" CHIP, "params: {n: 7}\n" WORK}, {"n=)"}, 0, 0, TF_E_SYNTAX},
    /* a dim's name: taken by a param of its own file, or of all; not by one of another */
    {__LINE__, {"params: {m: 3, n: 5}\n" CHIP, "params: {n: 7}\n" WORK}, {NULL}, 5, 7, 0},
    {__LINE__, {"params: {n: 5}\n" CHIP, "params: {n: 7, m: 1}\n" WORK}, {NULL}, 0, 0, TF_E_DUP},
    {__LINE__,
     {"params: {n: 5}\n" CHIP, "params: {m: 1}\n", "params: {n: 7}\n" WORK},
     {NULL},
     0,
     0,
     TF_E_DUP},
};

/* "NAME=VALUE" cut in two, in `text`. */
static tf_setting setting_of(const char *from, char *text) {
  strcpy(text, from);
  char *eq = strchr(text, '=');
  *eq = '\0';
  return (tf_setting){text, eq + 1};
}

int main(void) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const param_case *row = &rows[i];
    tf_diags *d = tf_diags_new();
    static const char *const names[] = {"a.yaml", "b.yaml", "c.yaml", "d.yaml"};
    tf_text text[4];
    tf_setting set[3];
    char copy[3][40];
    size_t n = 0, n_set = 0;
    for (; n < 4 && row->file[n]; n++)
      text[n] = (tf_text){names[n], row->file[n], strlen(row->file[n])};
    for (; n_set < 3 && row->set[n_set]; n_set++)
      set[n_set] = setting_of(row->set[n_set], copy[n_set]);
    tf_spec *s = tf_spec_read_texts(text, n, set, n_set, d);
    CHECK_ROW(row, (s != NULL) == (row->capacity > 0));
    CHECK_ROW_I64(row, (int64_t)tf_diags_errors(d) > 0, row->capacity == 0);
    if (s) CHECK_ROW_I64(row, s->arch->memories[1].capacity_words, row->capacity);
    if (s) CHECK_ROW_I64(row, s->workload->dims[0].extent, row->extent);
    if (!s && tf_diags_count(d)) CHECK_ROW_I64(row, tf_diags_at(d, 0)->code, row->code);
    if (!s && row->code == TF_E_SYNTAX)
      CHECK_ROW_I64(row, (int64_t)tf_diags_errors(d), 1); /* told once */
    tf_spec_free(s);
    tf_diags_free(d);
  }
  return check_report();
}
