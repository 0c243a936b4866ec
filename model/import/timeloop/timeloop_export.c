/* One op and its loop nest as Timeloop (0.3) reads them, with energies and areas as Accelergy's
 * tables. */
#include <inttypes.h>
#include <stdlib.h>

#include "model/import/timeloop/timeloop.h"
#include "tileflow/tree.h"

/* ---- problem ------------------------------------------------------------------------ */
/* A product of what is read, each once, and of nothing else. */
static bool is_product(const tf_op *op) {
  int calls = 0;
  for (int i = 0; i < op->n_expr; i++) {
    const tf_expr *e = &op->expr[i];
    if (e->what == TF_X_CALL ? e->call != TF_K_MUL : e->what != TF_X_READ) return false;
    calls += e->what == TF_X_CALL;
  }
  return op->n_reads > 0 && op->n_expr == 2 * op->n_reads - 1 && calls == op->n_reads - 1;
}

static bool check_op(ex_case *x) {
  const tf_op *op = &x->wl->ops[0];
  bool ok = true;
  if (x->wl->n_ops != 1)
    return tf_fail(x->diags, x->wl->ops[1].at, TF_E_SHAPE,
                   "Timeloop evaluates one op, not %d: export to tileflow says more", x->wl->n_ops);
  if (op->reduce != TF_REDUCE_ADD || !is_product(op))
    ok = tf_fail(x->diags, op->at, TF_E_UNITKIND,
                 "Timeloop's ops are sums of products: OUT[..] += A[..] * B[..]");
  for (int i = 0; i < op->n_reads; i++)
    for (int k = 0; k < i; k++)
      if (op->reads[i].tensor == op->reads[k].tensor)
        ok = tf_fail(x->diags, op->reads[i].at, TF_E_DUP,
                     "'%.60s' is read twice: a data space of Timeloop is read once",
                     x->wl->tensors[op->reads[i].tensor].name);
  return ok;
}

/* The output as a reference: rank r is its r-th dim. */
static void write_output(ex_case *x, tf_page *p) {
  const tf_op *op = &x->wl->ops[0];
  tf_page_add(p, "    - name: %s\n      projection:%s\n", x->wl->tensors[op->out].name,
              op->n_out_dims ? "" : " []");
  for (int r = 0; r < op->n_out_dims; r++)
    tf_page_add(p, "      - [[%s]]\n", x->wl->dims[op->dims[r]].name);
  tf_page_add(p, "      read-write: true\n");
}

static bool write_problem(ex_case *x, tf_page *p) {
  const tf_workload *wl = x->wl;
  const tf_op *op = &wl->ops[0];
  bool ok = true;
  tf_page_add(p,
              "# Written by tileflow export: workload %s.\nproblem:\n  version: 0.3\n"
              "  shape:\n    name: %s\n    dimensions: [",
              wl->name, op->name);
  for (int d = 0; d < op->n_dims; d++)
    tf_page_add(p, "%s%s", d ? ", " : "", wl->dims[op->dims[d]].name);
  tf_page_add(p, "]\n");
  ex_coefficients(x, op, "    ", p);
  tf_page_add(p, "    data-spaces:\n");
  for (int i = 0; i < op->n_reads; i++) {
    const tf_tensor *t = &wl->tensors[op->reads[i].tensor];
    tf_page_add(p, "    - name: %s\n", t->name);
    ok &= ex_projection(x, t, &op->reads[i], "      ", p);
  }
  write_output(x, p);
  tf_page_add(p, "  instance: {");
  for (int d = 0; d < op->n_dims; d++)
    tf_page_add(p, "%s%s: %" PRId64, d ? ", " : "", wl->dims[op->dims[d]].name,
                wl->dims[op->dims[d]].extent);
  tf_page_add(p, "}\n");
  return ok;
}

/* ---- mapping ------------------------------------------------------------------------ */
/* The loops of one memory: Timeloop has one nest of each kind, each dim once in it. */
enum { MAX_NEST = 64 };
typedef struct {
  int n[2];
  tf_loop loop[2][MAX_NEST]; /* temporal; spatial */
  int64_t last[2][MAX_NEST]; /* their steps in the last step of the loops around them */
  const tf_node *first;      /* the first Tile of the memory, NULL: none */
} nest;

/* After the error of a mapping that Timeloop lacks: searches can be asked for one that it has. */
static bool say_how(const ex_case *x, tf_loc at) {
  tf_note(x->diags, at,
          "`search --exportable timeloop` and `solve --exportable timeloop` find mappings that "
          "Timeloop has");
  return false;
}

static bool add_loop(ex_case *x, const tf_node *node, nest *n, int kind, const tf_loop *l) {
  if (l->trip == 0)
    return tf_fail(x->diags, l->at, TF_E_OPEN, "an open trip count: search completes the mapping");
  if (l->trip == 1) return true;
  for (int i = 0; i < n->n[kind]; i++)
    if (n->loop[kind][i].dim == l->dim)
      return tf_fail(x->diags, l->at, TF_E_DUP,
                     "a second %s loop of '%.60s' at %.60s: Timeloop has one",
                     kind ? "spatial" : "temporal", x->wl->dims[l->dim].name,
                     x->arch->memories[node->level].name) ||
             say_how(x, l->at);
  if (kind == 0 && n->n[1] > 0)
    return tf_fail(x->diags, l->at, TF_E_LOOP,
                   "a temporal loop of %.60s inside its spatial ones: Timeloop has none",
                   x->arch->memories[node->level].name) ||
           say_how(x, l->at);
  if (n->n[kind] == MAX_NEST)
    return tf_fail(x->diags, l->at, TF_E_LIMIT, "more than %d loops", MAX_NEST);
  n->loop[kind][n->n[kind]++] = *l;
  return true;
}

static bool add_tile(ex_case *x, const tf_node *node, nest *n) {
  bool ok = true;
  if (!n->first) n->first = node;
  for (int i = 0; i < node->n_loops; i++)
    ok &= add_loop(x, node, n, i >= node->n_temporal, &node->loops[i]);
  return ok;
}

/* Timeloop's factors reach an extent exactly: a partial step is one of fewer steps further in
 * ("K=5,2"), and steps that begin behind the extent, which do not happen, are none. */
static void settle_steps(const ex_case *x, nest *nests, int dim) {
  const int64_t extent = x->wl->dims[dim].extent;
  int64_t inner = 1;
  for (int l = ex_n_memories(x) - 1; l >= 0; l--)
    for (int kind = 1; kind >= 0; kind--)
      for (int i = 0; i < nests[l].n[kind]; i++) {
        tf_loop *loop = &nests[l].loop[kind][i];
        const int64_t steps = (extent - 1) / inner + 1;
        if (loop->dim != dim) continue;
        if (loop->trip > steps) loop->trip = steps;
        nests[l].last[kind][i] = (extent - 1) / inner % loop->trip + 1;
        inner *= loop->trip;
      }
}

static void write_factors(const ex_case *x, const nest *n, int kind, tf_page *p) {
  const tf_op *op = &x->wl->ops[0];
  for (int d = 0; d < op->n_dims; d++) {
    int64_t trip = 1, last = 1;
    for (int i = 0; i < n->n[kind]; i++) {
      if (n->loop[kind][i].dim != op->dims[d]) continue;
      trip = n->loop[kind][i].trip;
      last = n->last[kind][i];
    }
    tf_page_add(p, "%s%s=%" PRId64, d ? " " : "", x->wl->dims[op->dims[d]].name, trip);
    if (last != trip) tf_page_add(p, ",%" PRId64, last);
  }
}

/* A permutation runs from inside: the dims along X are its first. */
static void write_spatial(const ex_case *x, const nest *n, tf_page *p) {
  tf_loop by_side[MAX_NEST];
  int done = 0, n_x = 0;
  for (int side = TF_SPATIAL_Y; side >= TF_SPATIAL_X; side--)
    for (int i = 0; i < n->n[1]; i++)
      if ((int)n->loop[1][i].axis == side) {
        by_side[done++] = n->loop[1][i];
        n_x += side == TF_SPATIAL_X;
      }
  tf_page_add(
      p, "- target: %s\n  type: spatial\n  factors: ", x->arch->memories[n->first->level].name);
  write_factors(x, n, 1, p);
  tf_page_add(p, "\n  permutation: ");
  ex_permutation(x, by_side, n->n[1], x->wl->ops[0].dims, x->wl->ops[0].n_dims, p);
  tf_page_add(p, "\n  split: %d\n", n_x);
}

static void write_storage(const ex_case *x, const nest *n, int l, tf_page *p) {
  const tf_workload *wl = x->wl;
  const char *sep = "", *memory = x->arch->memories[l].name;
  if (l == 0 || (n->first && !n->first->n_bypass))
    return; /* the outermost holds all, with or without a Tile */
  tf_page_add(p, "- target: %s\n  type: bypass\n  bypass: [", memory);
  for (int z = 0; z < wl->n_tensors; z++) {
    bool by = !n->first; /* a memory without a Tile holds nothing */
    for (int i = 0; n->first && i < n->first->n_bypass; i++)
      by |= n->first->bypass[i].tensor == z;
    if (!by) continue;
    tf_page_add(p, "%s%s", sep, wl->tensors[z].name);
    sep = ", ";
  }
  tf_page_add(p, "]\n");
}

static bool write_mapping(ex_case *x, tf_page *p) {
  const tf_tree *t = x->tree;
  nest *nests = calloc((size_t)ex_n_memories(x), sizeof *nests);
  bool ok = nests != NULL;
  x->bad |= !ok;
  for (int i = 0; i < t->n_nodes && ok; i++) {
    const tf_node *node = &t->nodes[i];
    if (node->kind == TF_SCOPE)
      ok = tf_fail(x->diags, node->at, TF_E_SHAPE, "Timeloop has no scopes");
    else if (node->kind == TF_TILE && node->order_open && node->n_temporal > 1)
      ok = tf_fail(x->diags, node->at, TF_E_OPEN,
                   "an open loop order: search completes the mapping");
    else if (node->kind == TF_TILE)
      ok &= add_tile(x, node, &nests[node->level]);
  }
  for (int d = 0; ok && d < x->wl->ops[0].n_dims; d++)
    settle_steps(x, nests, x->wl->ops[0].dims[d]);
  tf_page_add(p, "# Written by tileflow export.\nmapping:\n");
  for (int l = 0; l < ex_n_memories(x) && ok; l++) {
    const char *name = x->arch->memories[l].name;
    write_storage(x, &nests[l], l, p);
    tf_page_add(p, "- target: %s\n  type: temporal\n  factors: ", name);
    write_factors(x, &nests[l], 0, p);
    tf_page_add(p, "\n  permutation: ");
    ex_permutation(x, nests[l].loop[0], nests[l].n[0], x->wl->ops[0].dims, x->wl->ops[0].n_dims, p);
    tf_page_add(p, "\n");
    if (nests[l].n[1]) write_spatial(x, &nests[l], p);
  }
  free(nests);
  return ok;
}

/* ---- tables ------------------------------------------------------------------------- */
static void table_name(const ex_case *x, int l, tf_page *p) {
  int64_t n = ex_instances(x, l, -1);
  tf_page_add(p, "  - name: \"system.%s",
              l < ex_n_memories(x) ? x->arch->memories[l].name : x->unit->name);
  if (n > 1) tf_page_add(p, "[0..%" PRId64 "]", n - 1);
  tf_page_add(p, "\"\n");
}

static void write_leak(double pj, tf_page *p) {
  if (pj > 0) tf_page_add(p, "    - {name: leak, arguments: {}, energy: %.17g}\n", pj);
}

static void write_ert(const ex_case *x, tf_page *p) {
  tf_page_add(p, "# Written by tileflow export: pJ per element, and per point.\nERT:\n"
                 "  version: 0.3\n  tables:\n");
  for (int l = 0; l < ex_n_memories(x); l++) {
    const tf_memory *m = &x->arch->memories[l];
    const double k = ex_elements(x, l) / (double)ex_block(x, l);
    table_name(x, l, p);
    tf_page_add(p,
                "    actions:\n    - {name: read, arguments: {}, energy: %.17g}\n"
                "    - {name: write, arguments: {}, energy: %.17g}\n"
                "    - {name: update, arguments: {}, energy: %.17g}\n",
                m->read_pj / k, m->write_pj / k, m->write_pj / k);
    write_leak(m->leak_pj, p);
  }
  table_name(x, ex_n_memories(x), p);
  tf_page_add(p, "    actions:\n    - {name: compute, arguments: {}, energy: %.17g}\n",
              x->unit->pj);
  write_leak(x->unit->leak_pj, p);
}

/* The area that the architecture gives of memory l, or of the unit behind the last; 0: none. */
static double area_of(const ex_case *x, int l) {
  return l < ex_n_memories(x) ? x->arch->memories[l].area_um2 : x->unit->area_um2;
}

static bool gives_areas(const ex_case *x) {
  bool any = false;
  for (int l = 0; l <= ex_n_memories(x); l++)
    any |= area_of(x, l) > 0;
  return any;
}

static void write_art(const ex_case *x, tf_page *p) {
  tf_page_add(p, "# Written by tileflow export: um2.\nART:\n  version: 0.3\n  tables:\n");
  for (int l = 0; l <= ex_n_memories(x); l++) {
    double area = area_of(x, l);
    if (!(area > 0)) continue;
    table_name(x, l, p);
    tf_page_add(p, "    area: %.17g\n", area);
  }
}

bool ex_timeloop(ex_case *x) {
  tf_page page[5] = {{0}};
  if (!check_op(x)) return false;
  bool ok = write_problem(x, &page[1]);
  if (x->tree) ok &= write_mapping(x, &page[2]);
  ex_architecture(x, "0.3", &page[0]);
  write_ert(x, &page[3]);
  ex_file(x, "architecture.yaml", &page[0]);
  ex_file(x, "problem.yaml", &page[1]);
  if (x->tree) ex_file(x, "mapping.yaml", &page[2]);
  ex_file(x, "ERT.yaml", &page[3]);
  if (gives_areas(x)) {
    write_art(x, &page[4]);
    ex_file(x, "ART.yaml", &page[4]);
  }
  return ok;
}
