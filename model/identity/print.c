#include "model/identity/print.h"

#include <string.h>

#include "model/input/table/keys.h"

/* ---- architectures -------------------------------------------------------------------- */

static void field(FILE *out, const tf_key *k, const void *s) {
  const unsigned char *byte = tf_key_of(k, s);
  const char *earlier = tf_key_earlier(k);
  fprintf(out, " %s ", earlier ? earlier : k->field);
  for (size_t i = 0; i < k->size; i++)
    fprintf(out, "%02x", byte[i]);
}

/* The row of the next field that the identity order names, NULL at its end. */
static const tf_key *next_listed(const tf_table *t, const char **order) {
  const size_t n = strcspn(*order, " ");
  const char *name = *order;
  *order += n + (name[n] == ' ');
  for (size_t i = 0; i < t->n; i++)
    if (n && t->keys[i].field && strlen(t->keys[i].field) == n &&
        !memcmp(t->keys[i].field, name, n))
      return &t->keys[i];
  return NULL;
}

static bool is_listed(const tf_table *t, const tf_key *k) {
  const char *order = t->identity_order;
  for (const tf_key *one = next_listed(t, &order); one; one = next_listed(t, &order))
    if (one == k) return true;
  return false;
}

/* Fields outside of the identity order are omitted where they have their default: so logs from
 * versions before these fields stay valid. */
void tf_keys_print(FILE *out, const tf_table *t, const void *s) {
  const char *order = t->identity_order;
  for (const tf_key *k = next_listed(t, &order); k; k = next_listed(t, &order))
    field(out, k, s);
  for (size_t i = 0; i < t->n; i++) {
    const tf_key *k = &t->keys[i];
    if (k->type != TF_FIELD_HELD && !is_listed(t, k) && !tf_key_is_usual(k, s)) field(out, k, s);
  }
}

static void choice(FILE *out, const char *what, const tf_selection *c) {
  fprintf(out, " %s", what);
  for (int i = 0; i < c->n; i++)
    fprintf(out, " %s", c->names[i].name);
  if (!c->n) fprintf(out, " *");
}

static void rules_of(FILE *out, const char *what, const tf_rules *rules) {
  for (int i = 0; i < rules->n; i++) {
    fprintf(out, "\n%s", what);
    choice(out, "target", &rules->list[i].target);
    choice(out, "on", &rules->list[i].on);
    if (rules->list[i].tiles) fprintf(out, " tiles");
  }
}

static void formats_of(FILE *out, const tf_formats *formats) {
  for (int i = 0; i < formats->n; i++) {
    const tf_format *f = &formats->list[i];
    fprintf(out, "\nformat");
    choice(out, "of", &f->tensors);
    for (int r = 0; r < f->n_ranks; r++)
      fprintf(out, " %d:%d", (int)f->ranks[r].pack, f->ranks[r].bits);
    if (f->priced) fprintf(out, " %.17g/%.17g", f->read_pj, f->write_pj);
  }
}

static void laid_of(FILE *out, const tf_laids *laid) {
  for (int i = 0; i < laid->n; i++) {
    fprintf(out, "\nlayout %s", laid->list[i].tensor.name);
    for (int k = 0; k < laid->list[i].n; k++)
      fprintf(out, " %d:%d:%lld", laid->list[i].parts[k].rank, (int)laid->list[i].parts[k].part,
              (long long)laid->list[i].parts[k].by);
  }
}

static void parts_of(FILE *out, const tf_mem_parts *parts) {
  for (int i = 0; i < parts->n; i++) {
    fprintf(out, "\npart");
    tf_keys_print(out, &tf_part_table, &parts->list[i]);
  }
}

void tf_arch_print(FILE *out, const tf_arch *a) {
  tf_keys_print(out, &tf_arch_table, a);
  for (int l = 0; l < a->n_memories; l++) {
    fprintf(out, "\nmemory %s", a->memories[l].name);
    tf_keys_print(out, &tf_memory_table, &a->memories[l]);
    if (a->memories[l].home.n) choice(out, "home", &a->memories[l].home);
    laid_of(out, &a->memories[l].laid);
    parts_of(out, &a->memories[l].parts);
    formats_of(out, &a->memories[l].formats);
    rules_of(out, "gating", &a->memories[l].gating);
    rules_of(out, "skipping", &a->memories[l].skipping);
  }
  for (int i = 0; i < a->n_units; i++) {
    fprintf(out, "\nunit %s", a->units[i].name);
    tf_keys_print(out, &tf_unit_table, &a->units[i]);
    rules_of(out, "gating", &a->units[i].gating);
    rules_of(out, "skipping", &a->units[i].skipping);
  }
  fputc('\n', out);
}

/* ---- workloads ------------------------------------------------------------------------ */

static void index_of(FILE *out, const tf_index *x) {
  fprintf(out, "[%lld", (long long)x->c);
  for (int k = 0; k < x->n_terms; k++)
    fprintf(out, " %lld*%d", (long long)x->terms[k].coef, x->terms[k].dim);
  fputc(']', out);
}

static void print_op(FILE *out, const tf_workload *wl, const tf_op *op) {
  fprintf(out, "op %s %d %d:", op->name, op->out, (int)op->reduce);
  for (int k = 0; k < op->n_dims; k++)
    fprintf(out, " %d", op->dims[k]);
  for (int k = 0; k < op->n_reads; k++) {
    fprintf(out, " read %d", op->reads[k].tensor);
    for (int r = 0; r < wl->tensors[op->reads[k].tensor].rank; r++)
      index_of(out, &op->reads[k].index[r]);
  }
  for (int k = 0; k < op->n_expr; k++) {
    const tf_expr *e = &op->expr[k];
    fprintf(out, " x%d", (int)e->what);
    if (e->what == TF_X_NUMBER) fprintf(out, " %.17g", e->number);
    if (e->what == TF_X_READ) fprintf(out, " %d", e->ref);
    if (e->what == TF_X_DIM) fprintf(out, " %d", e->dim);
    if (e->what == TF_X_CALL) fprintf(out, " %d", (int)e->call);
    for (int i = 0; e->what == TF_X_CALL && i < e->n_args; i++)
      fprintf(out, ",%d", e->arg[i]);
  }
  fputc('\n', out);
}

static void density_of(FILE *out, const tf_tensor *t) {
  const tf_density *d = &t->density;
  if (d->fall == TF_FALL_UNIFORM) fprintf(out, " density %.17g", d->share);
  if (d->fall == TF_FALL_BLOCKS)
    fprintf(out, " density %lld:%lld/%d", (long long)d->n, (long long)d->m, d->rank);
  if (d->fall == TF_FALL_TILES) fprintf(out, " density %.17g of", d->share);
  for (int r = 0; d->fall == TF_FALL_TILES && r < t->rank; r++)
    fprintf(out, " %lld", (long long)d->tile[r]);
  for (int i = 0; d->fall == TF_FALL_KNOWN && i < d->n_runs; i++)
    fprintf(out, " %lld..%lld", (long long)d->runs[i].from, (long long)d->runs[i].to);
}

void tf_workload_print(FILE *out, const tf_workload *wl) {
  for (int d = 0; d < wl->n_dims; d++)
    fprintf(out, "dim %s %lld\n", wl->dims[d].name, (long long)wl->dims[d].extent);
  for (int z = 0; z < wl->n_tensors; z++) {
    const tf_tensor *t = &wl->tensors[z];
    fprintf(out, "tensor %s %d%s", t->name, t->word_bits, t->no_sign ? " unsigned" : "");
    for (int r = 0; r < t->rank; r++)
      fprintf(out, " %lld+%lld/%lld", (long long)t->lo[r], (long long)t->extent[r],
              (long long)t->pad[r]);
    if (t->ranged) fprintf(out, " range %lld..%lld", (long long)t->least, (long long)t->most);
    if (t->view_of) fprintf(out, " view %d", t->view_of);
    density_of(out, t);
    fputc('\n', out);
  }
  for (int o = 0; o < wl->n_ops; o++)
    print_op(out, wl, &wl->ops[o]);
}
