/* The table of formats, and what of an architecture none of them can express. */
#include <stdlib.h>
#include <string.h>

#include "model/import/tileflow/tileflow.h"

#include "base/locale.h"
#include "model/sparse/sparse.h"

static const struct {
  const char *name;
  bool (*write)(ex_case *);
} formats[] = {{"timeloop", ex_timeloop}, {"tileflow", ex_tileflow}};
enum { N_FORMATS = sizeof formats / sizeof formats[0] };

const char *tf_export_format(int i) { return i >= 0 && i < N_FORMATS ? formats[i].name : NULL; }

void tf_export_free(tf_export *e) {
  for (int i = 0; e && i < e->n; i++)
    free(e->file[i].text);
  free(e);
}

/* Reports what would change counts: words moved or held. */
static bool check_network(ex_case *x, tf_loc at, const char *name, bool multicast, bool reduce) {
  if (multicast && reduce) return true;
  return tf_fail(
      x->diags, at, TF_E_KEY,
      "the network of '%.60s' does not %s: the format has none such; leave `%s: false` out", name,
      multicast ? "reduce" : "multicast", multicast ? "reduce" : "multicast");
}

static bool check_architecture(ex_case *x) {
  const tf_arch *a = x->arch;
  bool ok = true;
  for (int i = 0; x->tree && i < x->tree->n_nodes; i++)
    if (x->tree->nodes[i].kind == TF_TILE && x->tree->nodes[i].level >= ex_n_memories(x))
      ok = tf_fail(x->diags, x->tree->nodes[i].at, TF_E_LEVEL,
                   "'%.60s' lies below '%.60s', the units that the format is given",
                   a->memories[x->tree->nodes[i].level].name, x->unit->name);
  x->fits = ok;
  if (!ok) return false;
  for (int i = 0; i < a->n_memories; i++) {
    const tf_memory *m = &a->memories[i];
    if (i) ok &= check_network(x, m->at, m->name, m->multicast, m->reduce);
    if (m->parts.n)
      ok = tf_fail(x->diags, m->parts.list[0].at, TF_E_KEY,
                   "'%.60s' has parts: the formats have none; leave `parts` out, and give it the "
                   "`capacity` of one",
                   m->name);
    if (m->double_buffered)
      ok = tf_fail(x->diags, m->at, TF_E_KEY,
                   "'%.60s' is double-buffered, its tiles take twice their words: the format has "
                   "no word for it; leave `double-buffered` out and halve its capacity",
                   m->name);
  }
  ok &= check_network(x, x->unit->at, x->unit->name, x->unit->multicast, x->unit->reduce);
  for (int z = 0; z < x->wl->n_tensors; z++)
    if (x->wl->tensors[z].word_bits != a->word_bits)
      ok = tf_fail(x->diags, x->wl->tensors[z].at, TF_E_KEY,
                   "'%.60s' has words of %d bits, the others of %d: the format has one width for "
                   "all; leave `word-bits` out",
                   x->wl->tensors[z].name, x->wl->tensors[z].word_bits, a->word_bits);
  if (tf_arch_lines(a))
    ok = tf_fail(x->diags, a->at, TF_E_KEY,
                 "the formats have no word for lines and banks of memories: leave `line` out");
  if (tf_arch_homes(a, x->wl))
    ok = tf_fail(
        x->diags, x->wl->at, TF_E_KEY,
        "the formats have no word for a tensor that lives in an inner memory: leave `home` out");
  if (tf_sparse_applies(a, x->wl))
    ok = tf_fail(x->diags, x->wl->at, TF_E_KEY,
                 "densities, formats and rules for zeros are not written: leave `density` out");
  return ok;
}

/* The unit that runs every op; with several, the first that runs them all. */
static const tf_unit *unit_of(const tf_arch *a, const tf_workload *wl) {
  uint32_t kinds = 0;
  for (int i = 0; i < wl->n_ops; i++)
    kinds |= wl->ops[i].kinds;
  for (int i = 0; i < a->n_units; i++)
    if ((a->units[i].kinds & kinds) == kinds) return &a->units[i];
  for (int i = 0; i < a->n_units;
       i++) /* otherwise the unit for matrix products, as both tools know one kind of point only */
    if (a->units[i].kinds >> TF_K_MAC & 1) return &a->units[i];
  return &a->units[0];
}

tf_export *tf_export_write(const char *format, const tf_arch *arch, const tf_workload *wl,
                           const tf_tree *tree, tf_diags *d) {
  TF_IN_C_LOCALE;
  ex_case x = {.arch = arch,
               .wl = wl,
               .tree = tree,
               .diags = d,
               .unit = unit_of(arch, wl),
               .out = calloc(1, sizeof *x.out)};
  if (!x.out) {
    tf_out_of_memory(d);
    return NULL;
  }
  int f = 0;
  while (f < N_FORMATS && strcmp(formats[f].name, format) != 0)
    f++;
  bool ok = f < N_FORMATS || tf_fail(d, (tf_loc){0}, TF_E_NAME, "no format '%.40s'", format);
  ok = ok && tf_no_views(wl, d) && check_architecture(&x);
  if (f < N_FORMATS && x.fits) ok &= formats[f].write(&x);
  if (x.bad) ok = tf_out_of_memory(d);
  if (ok && x.out->n > 0) return x.out;
  tf_export_free(x.out);
  return NULL;
}
