/* The native sections that mean what TileFlow's files say. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/import/tileflow/tileflow.h"
#include "model/input/kinds.h"
#include "model/tree/parse.h"

static void mark_at(ti_case *c, ti_out *out, tf_loc at, int tensor) {
  if (out->n_marks == out->room) {
    size_t room = out->room ? 2 * out->room : 128;
    ti_mark *wider = TF_ARRAY(c->arena, ti_mark, room);
    if (!wider) {
      out->page.bad = true;
      return;
    }
    if (out->n_marks) memcpy(wider, out->marks, sizeof *wider * out->n_marks);
    out->marks = wider;
    out->room = room;
  }
  out->marks[out->n_marks++] = (ti_mark){out->page.len, at, tensor};
}

/* ---- workload ----------------------------------------------------------------------- */
static void write_size(const ti_case *c, const ti_dim *d, tf_page *p) {
  if (d->extent)
    tf_page_add(p, "%" PRId64, d->extent);
  else if (d->sum[0] < 0)
    tf_page_add(p, "size_%s", d->name);
  else {
    write_size(c, &c->dims[d->sum[0]], p);
    tf_page_add(p, " + ");
    write_size(c, &c->dims[d->sum[1]], p);
    tf_page_add(p, " - 1");
  }
}

/* Sizes that no file gives: params that --set gives. */
static void write_params(const ti_case *c, tf_page *p) {
  bool needed[TI_MAX_DIMS] = {false}, any = false;
  for (int d = 0; d < c->n_dims; d++) {
    const ti_dim *x = &c->dims[d];
    if (!x->used || x->extent) continue;
    if (x->sum[0] < 0)
      needed[d] = true;
    else
      for (int i = 0; i < 2; i++)
        needed[x->sum[i]] |= !c->dims[x->sum[i]].extent;
  }
  for (int d = 0; d < c->n_dims; d++) {
    if (!needed[d]) continue;
    if (!any) tf_page_add(p, "params:   # sizes that no file gives: --set NAME=N gives them\n");
    tf_page_add(p, "  size_%s: \"?\"\n", c->dims[d].name);
    any = true;
  }
}

static void write_reference(const ti_case *c, const ti_ref *r, tf_page *p) {
  tf_page_add(p, "%s[", c->tensors[r->tensor].name);
  for (int k = 0; k < r->rank; k++)
    for (int t = 0; t < r->index[k].n; t++) {
      const tl_term *term = &r->index[k].term[t];
      tf_page_add(p, "%s", t ? " + " : k ? ", " : "");
      if (term->coef != 1) tf_page_add(p, "%" PRId64 "*", term->coef);
      tf_page_add(p, "%s", c->dims[term->dim].name);
    }
  tf_page_add(p, "]");
}

/* A dim that what it reads has and what it makes has not. */
static bool reduces(const ti_op *op) {
  bool made[TI_MAX_DIMS] = {false};
  for (int k = 0; k < op->out->rank; k++)
    for (int t = 0; t < op->out->index[k].n; t++)
      made[op->out->index[k].term[t].dim] = true;
  for (int r = 0; r < op->n_reads; r++)
    for (int k = 0; k < op->reads[r]->rank; k++)
      for (int t = 0; t < op->reads[r]->index[k].n; t++)
        if (!made[op->reads[r]->index[k].term[t].dim]) return true;
  return false;
}

static void write_op(ti_case *c, const ti_op *op, ti_out *out) {
  tf_page *p = &out->page;
  mark_at(c, out, op->at, -1);
  tf_page_add(p, "  - {name: \"%s\", expr: \"", op->name);
  write_reference(c, op->out, p);
  tf_page_add(p, reduces(op) ? " += " : " = ");
  if (op->kind >= 0) tf_page_add(p, "%s(", tf_kind_key((tf_kind)op->kind));
  for (int r = 0; r < op->n_reads; r++) {
    tf_page_add(p, "%s", r == 0 ? "" : op->kind >= 0 ? ", " : " * ");
    write_reference(c, op->reads[r], p);
  }
  tf_page_add(p, "%s\"}\n", op->kind >= 0 ? ")" : "");
}

static void write_workload(ti_case *c, ti_out *out) {
  tf_page *p = &out->page;
  mark_at(c, out, c->ops[0]->at, -1);
  write_params(c, p);
  tf_page_add(p, "workload:\n  name: problem\n  dims:\n");
  for (int d = 0; d < c->n_dims; d++) {
    if (!c->dims[d].used) continue;
    mark_at(c, out, c->dims[d].at, -1);
    tf_page_add(p, "    \"%s\": ", c->dims[d].name);
    write_size(c, &c->dims[d], p);
    tf_page_add(p, "\n");
  }
  tf_page_add(p, "  ops:\n");
  for (int o = 0; o < c->n_ops; o++)
    write_op(c, c->ops[o], out);
}

/* ---- mapping ------------------------------------------------------------------------ */
/* What the ops that lead at the node call the dim; -1 with an error if they do not agree. */
static int dim_at(ti_case *c, const ti_node *n, const ti_loop *l) {
  int dim = -2;
  if (!c->sums) return l->dim;
  for (int o = 0; o < c->n_ops; o++) {
    const ti_op *op = c->ops[o];
    int own = op->alias[l->dim];
    if (!c->leaf[o] || !ti_is_above(n, c->leaf[o]) || !ti_leads(c, o, n) ||
        (own == l->dim && !op->has[own]))
      continue;
    if (own < 0 || (dim >= 0 && own != dim)) {
      tf_fail(c->diags, l->at, TF_E_LOOP,
              "a loop on '%.40s' of op '%.40s', whose output is indexed by a sum of it",
              c->dims[l->dim].name, op->name);
      return -1;
    }
    dim = own;
  }
  return dim == -2 ? l->dim : dim;
}

/* Those of a temporal Tile, outer to inner; of a spatial one those along X, then those along Y. */
static bool write_loops(ti_case *c, const ti_node *n, ti_out *out) {
  const char *sep = n->spatial ? " spatial " : " for ";
  for (int i = 0; i < 2 * n->n_loops; i++) {
    const ti_loop *l = &n->loops[i % n->n_loops];
    if (l->trip == 1 || (n->spatial && l->y) != (i >= n->n_loops)) continue;
    int dim = dim_at(c, n, l);
    if (dim < 0) return false;
    tf_page_add(&out->page, "%s", sep);
    mark_at(c, out, l->at, -1);
    tf_page_add(&out->page, "%s=", c->dims[dim].name);
    if (l->trip)
      tf_page_add(&out->page, "%" PRId64, l->trip);
    else
      tf_page_add(&out->page, "?");
    if (n->spatial) tf_page_add(&out->page, "@%c", l->y ? 'y' : 'x');
    sep = " ";
  }
  return true;
}

static void write_bypass(ti_case *c, const ti_node *n, ti_out *out) {
  const char *sep = " bypass ";
  for (int i = 0; i < n->n_bypass; i++) {
    if (!n->bypass[i].native) continue;
    tf_page_add(&out->page, "%s", sep);
    mark_at(c, out, n->bypass[i].at, -1);
    tf_page_add(&out->page, "%s", c->tensors[n->bypass[i].tensor].name);
    sep = " ";
  }
}

static void write_keep(ti_case *c, const ti_node *n, ti_out *out) {
  const char *sep = " keep ";
  for (int z = 0; z < c->n_tensors; z++) {
    const ti_tensor *t = &c->tensors[z];
    if (t->scope != n || t->keep < 0 || t->no_keep) continue;
    tf_page_add(&out->page, "%s", sep);
    mark_at(c, out, n->at, z);
    tf_page_add(&out->page, "%s@%s", t->name, ti_level_name(c, t->keep));
    sep = " ";
  }
}

static void write_tag(const char *tag, tf_page *p) {
  tf_page_add(p, "   # ");
  for (int i = 0; tag[i] && i < 60; i++)
    tf_page_add(p, "%c", tag[i] >= 0x20 && tag[i] < 0x7f ? tag[i] : '?');
}

/* A spatial Tile stands on the line of the temporal one above it. */
static const ti_node *spread_below(const ti_node *n) {
  const ti_node *below = n->n_children == 1 ? n->children[0] : NULL;
  bool one = !n->spatial && below && below->kind == TI_TILE && below->spatial &&
             below->level == n->level && !below->n_bypass;
  return one ? below : NULL;
}

static bool write_node(ti_case *c, const ti_node *n, int indent, ti_out *out) {
  tf_page *p = &out->page;
  const char *tag = n->tag;
  bool ok = true;
  mark_at(c, out, n->kind == TI_TILE ? n->level_at : n->at, -1);
  tf_page_add(p, "%*s", indent, "");
  if (n->kind == TI_OP) tf_page_add(p, "op %s", c->ops[n->op]->name);
  if (n->kind == TI_SCOPE) {
    tf_page_add(p, "%s", tf_scope_at(n->scope)->key);
    write_keep(c, n, out);
  }
  if (n->kind == TI_TILE) {
    const ti_node *spread = spread_below(n);
    tf_page_add(p, "%s", ti_level_name(c, n->level));
    ok = write_loops(c, n, out) && (!spread || write_loops(c, spread, out));
    write_bypass(c, n, out);
    if (spread && !tag) tag = spread->tag;
    if (spread) n = spread;
  }
  if (tag) write_tag(tag, p);
  tf_page_add(p, "\n");
  for (int i = 0; i < n->n_children; i++)
    ok = write_node(c, n->children[i], indent + 2, out) && ok;
  return ok;
}

bool ti_write(ti_case *c, ti_out *out) {
  if (c->has_arch) {
    mark_at(c, out, c->arch->level[0].at, -1);
    tl_write_architecture(c->arch, &out->page);
  }
  if (c->has_problem) write_workload(c, out);
  if (!c->root) return true;
  mark_at(c, out, c->root->at, -1);
  tf_page_add(&out->page, "mapping: |\n");
  return write_node(c, c->root, 2, out);
}
