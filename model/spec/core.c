/* Reads what kernels cost a core and a multiprocessor, with defaults; finds the memory that a core's blocks should stay
 * in. */
#include "model/spec/arch_read.h"

typedef struct {
  const char *key;
  size_t at; /* in the struct */
  double usual;
  bool bytes, none; /* a size; may be 0 */
} field;

static const field of_core[] = {
#define X(id, key, usual, bytes, none) {key, offsetof(tf_core, id), usual, bytes, none},
    TF_CORE_FIELDS(X)
#undef X
};
static const field of_multiprocessor[] = {
#define X(id, key, usual, bytes, none) {key, offsetof(tf_multiprocessor, id), usual, bytes, none},
    TF_MULTIPROCESSOR_FIELDS(X)
#undef X
};
enum {
  N_CORE = sizeof of_core / sizeof *of_core,
  N_MULTIPROCESSOR = sizeof of_multiprocessor / sizeof *of_multiprocessor,
  MOST_FIELDS = 32
};
_Static_assert(N_CORE <= MOST_FIELDS && N_MULTIPROCESSOR <= MOST_FIELDS, "room for the rows of a table");

static double *at(void *figures, const field *f) { return (double *)(void *)((char *)figures + f->at); }

static void set_usual(void *figures, const field *fields, int n) {
  for (int i = 0; i < n; i++)
    *at(figures, &fields[i]) = fields[i].usual;
}

tf_core tf_core_usual(void) {
  tf_core core;
  set_usual(&core, of_core, N_CORE);
  return core;
}

tf_multiprocessor tf_multiprocessor_usual(void) {
  tf_multiprocessor m;
  set_usual(&m, of_multiprocessor, N_MULTIPROCESSOR);
  return m;
}

/* Below 1e12, so that no sum of them overflows. */
static bool read_field(tf_arch_reader *r, const tf_ynode *node, const field *f, double *out) {
  enum { MOST = 1000000000 };
  tf_quantity q = {.unit = NULL};
  tf_value v;
  if (f->bytes && !tf_read_quantity(r->base, node, f->key, TF_Q_BYTES, true, &q)) return false;
  if (!f->bytes && !tf_read_value(r->base, node, f->key, &v)) return false;
  *out = f->bytes ? q.value.f : v.f;
  if ((*out > 0 || (f->none && *out == 0)) && *out <= MOST) return true;
  return tf_fail(r->base->diags, node->at, TF_E_RANGE, "'%s' is %g, must be %s and at most %d", f->key, *out,
                 f->none ? "0 or more" : "more than 0", MOST);
}

static bool read_all(tf_arch_reader *r, const tf_ynode *node, const field *fields, int n, const char *what,
                     void *figures) {
  tf_yrow rows[MOST_FIELDS] = {{0}};
  const tf_ynode *v[MOST_FIELDS];
  set_usual(figures, fields, n);
  if (!node) return true;
  for (int i = 0; i < n; i++)
    rows[i] = (tf_yrow){fields[i].key, TF_Y_SCALAR, false};
  bool ok = tf_yschema_check(node, rows, (size_t)n, what, v, r->base->diags);
  for (int i = 0; i < n; i++)
    if (v[i]) ok = read_field(r, v[i], &fields[i], at(figures, &fields[i])) && ok;
  return ok;
}

bool tf_read_core(tf_arch_reader *r, const tf_ynode *node) {
  return read_all(r, node, of_core, N_CORE, "a core", &r->arch->core);
}

bool tf_read_multiprocessor(tf_arch_reader *r, const tf_ynode *node) {
  return read_all(r, node, of_multiprocessor, N_MULTIPROCESSOR, "a multiprocessor", &r->arch->multiprocessor);
}

/* ---- the memory that blocks stay in ------------------------------------------------ */
static bool is_candidate(const tf_arch *a, int l, bool innermost) {
  return a->memories[l].capacity_words > 0 && (innermost || l < a->n_memories - 1);
}

/* Whether its instances are filled independently: there are several, or nothing is shared on the way to them. */
static bool works_apart(const tf_memory *m) { return m->mesh[0] * m->mesh[1] > 1 || !(m->multicast || m->reduce); }

int tf_arch_close(const tf_arch *a) {
  int n = 0, outermost = 0, second = 0;
  bool innermost = true;
  for (int l = 1; l < a->n_memories - 1; l++)
    innermost &= a->memories[l].capacity_words <= 0;
  for (int l = 1; l < a->n_memories; l++) {
    if (!is_candidate(a, l, innermost)) continue;
    if (works_apart(&a->memories[l])) return l;
    if (n == 0) outermost = l;
    if (n++ == 1) second = l;
  }
  return n >= 3 ? second : outermost;
}
