/* Checks the native text by the native rules, and reports errors at the foreign places. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "model/import/tileflow/tileflow.h"

/* A placeholder for sizes that no file gives: the largest product of given factors, so that all of
 * them fit. */
static int64_t placeholder_of(const ti_case *c, int dim) {
  int64_t most = 1;
  for (int o = 0; o < c->n_ops; o++) {
    int64_t product = 1;
    for (const ti_node *n = c->leaf[o]; n; n = n->parent)
      for (int k = 0; k < n->n_loops; k++)
        if (n->loops[k].dim == dim && n->loops[k].trip &&
            !tf_mul(product, n->loops[k].trip, &product))
          product = 1;
    if (product > most) most = product;
  }
  return most;
}

static bool set_sizes(ti_case *c, tf_setting *set, size_t *n_set) {
  char text[200];
  *n_set = 0;
  for (int d = 0; d < c->n_dims; d++) {
    const ti_dim *x = &c->dims[d];
    bool needed = x->used && !x->extent && x->sum[0] < 0;
    for (int s = 0; s < c->n_dims; s++)
      needed |= c->dims[s].used && (c->dims[s].sum[0] == d || c->dims[s].sum[1] == d) &&
                !x->extent && !c->dims[s].extent;
    if (!needed) continue;
    snprintf(text, sizeof text, "size_%.120s", x->name);
    set[*n_set].name = tf_arena_strndup(c->arena, text, strlen(text));
    snprintf(text, sizeof text, "%lld", (long long)placeholder_of(c, d));
    set[*n_set].value = tf_arena_strndup(c->arena, text, strlen(text));
    if (!set[*n_set].name || !set[*n_set].value) return ti_no_memory(c);
    ++*n_set;
  }
  return true;
}

/* The mark for a place of the native text. */
static const ti_mark *mark_of(const ti_out *out, tf_loc at) {
  const char *text = out->page.text, *line = text;
  for (uint32_t l = 1; l < at.line && line; l++) {
    line = strchr(line, '\n');
    line = line ? line + 1 : NULL;
  }
  size_t offset = line ? (size_t)(line - text) + (at.col ? at.col - 1 : 0) : 0;
  const ti_mark *found = NULL;
  for (size_t i = 0; i < out->n_marks && out->marks[i].from <= offset; i++)
    found = &out->marks[i];
  return found;
}

static bool forbid_keep(ti_case *c, const ti_mark *m, const tf_diag *e) {
  ti_tensor *z = &c->tensors[m->tensor];
  if (!z->no_keep) ti_warn(c, m->at, "%.190s; it stays further out", e->msg);
  z->no_keep = true;
  return true;
}

/* Reports the errors of the native readers; tensors that cannot be kept are not kept in the next
 * attempt. */
static bool report_native(ti_case *c, const ti_out *out, const tf_diags *native, bool *again) {
  bool ok = true, reported = false;
  for (size_t i = 0; i < tf_diags_count(native); i++) {
    const tf_diag *e = tf_diags_at(native, i);
    const ti_mark *m = mark_of(out, e->at);
    tf_loc at = m ? m->at : (tf_loc){0, 0, 0, 0};
    if (e->warning) continue; /* on placeholder sizes, of which the user is warned otherwise */
    if (e->note) {
      if (reported) tf_note(c->diags, at, "%s", e->msg);
      continue;
    }
    reported = !(e->code == TF_E_KEEP && m && m->tensor >= 0 && forbid_keep(c, m, e));
    if (reported)
      ok = tf_fail(c->diags, at, e->code, "%s", e->msg);
    else
      *again = true;
  }
  return ok;
}

bool ti_check_native(ti_case *c, const ti_out *out, bool *again) {
  tf_diags *native = tf_diags_new();
  tf_setting set[TI_MAX_DIMS];
  size_t n_set;
  *again = false;
  if (!native || !set_sizes(c, set, &n_set)) {
    tf_diags_free(native);
    return ti_no_memory(c);
  }
  tf_text text = {"native", out->page.text ? out->page.text : "", out->page.len};
  tf_spec *s = text.len ? tf_spec_read_texts(&text, 1, set, n_set, native) : NULL;
  if (s && s->mapping_text)
    tf_tree_free(tf_tree_parse(s->mapping_text, s->mapping_at, s->arch, s->workload, native));
  bool ok = report_native(c, out, native, again);
  tf_spec_free(s);
  tf_diags_free(native);
  return ok;
}
