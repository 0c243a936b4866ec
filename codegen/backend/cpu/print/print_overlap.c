/* Prints a product whose kernel computes rows of its operand a while it multiplies: the work on a
 * row becomes functions of addresses that the caller passes. */
#include <inttypes.h>
#include <stdlib.h>

#include "codegen/backend/cpu/print/print.h"

/* The nests of the rows: first the sum that is computed one row before the others (0 or 1 of them),
 * then the others. */
typedef struct {
  const ir_stmt *const *nests;
  int lead, n, dim, across; /* dim: along the row; across: from row to row */
  int64_t words;
  int rounded; /* the tensor that the product reads as bfloat16, from a buffer of rows; -1: none */
} rows;

/* The tensor of the rows that the product reads, or would read without deferred quotients. */
static int rows_tensor(const c_printer *c, const rows *r, const ir_stmt *s) {
  int z = c->wl->ops[s->op].reads[cpu_of(s)->product->a].tensor;
  for (int k = cpu_of(s)->producer->body.n - 1; k >= r->n; k--) {
    const tf_op *op = &c->wl->ops[r->nests[k]->op];
    if (op->out == z) z = op->reads[op->expr[op->expr[op->n_expr - 1].arg[0]].ref].tensor;
  }
  return z;
}

/* Whether only the rows' nests and the product read z. */
static bool reads_none_else(const c_printer *c, const ir_stmt *s, int z) {
  const tf_tensor *t = &c->wl->tensors[z];
  for (int i = 0; i < t->n_consumers; i++) {
    bool inside = t->consumers[i] == s->op;
    for (int k = 0; k < cpu_of(s)->producer->body.n; k++)
      inside |= cpu_of(s)->producer->body.s[k]->op == t->consumers[i];
    if (!inside) return false;
  }
  return true;
}

/* Whether only rounded values of z are stored, and of its deferred quotients. */
static bool only_rounded(const c_printer *c, const rows *r, const ir_stmt *s) {
  bool only = r->rounded >= 0 && reads_none_else(c, s, r->rounded);
  for (int k = r->n; only && k < cpu_of(s)->producer->body.n; k++)
    only = reads_none_else(c, s, c->wl->ops[r->nests[k]->op].out);
  return only;
}

static rows rows_of(const c_printer *c, const ir_stmt *s) {
  const ir_stmt *t = cpu_of(s)->producer, *first = t->body.s[0];
  const tf_op *op = &c->wl->ops[first->op];
  rows r = {(const ir_stmt *const *)t->body.s,
            op->reduce != TF_ASSIGN,
            0,
            op->dims[t->together.n_common],
            op->dims[t->together.n_common - 1],
            first->range[t->together.n_common].most,
            -1};
  while (r.n < t->body.n && !c_is_deferred_quotient(c, r.nests[r.n]))
    r.n++;
  if (cpu_of(s)->product->pairs.copy >= 0) r.rounded = rows_tensor(c, &r, s);
  return r;
}

/* A nest whose sums start over or continue, as those of all others do; NULL: none. */
static const ir_stmt *continuing_nest(const rows *r) {
  for (int k = 0; k < r->n; k++)
    if (r->nests[k]->nest.n_resets) return r->nests[k];
  return NULL;
}

/* Lists all accesses of the nests. */
static int list_places(const c_printer *c, const rows *r, c_row_at *at) {
  int n = 0;
  for (int k = 0; k < r->n; k++) {
    const tf_op *op = &c->wl->ops[r->nests[k]->op];
    for (int i = -1; i < op->n_reads; i++, n++)
      if (at)
        at[n] = (c_row_at){op, i,
                           i < 0 ? op->reduce == TF_ASSIGN : c_moves_with(c, &op->reads[i], r->dim),
                           k < r->lead};
  }
  return n;
}

static void type_of(c_printer *c, const c_row_at *at) {
  fprintf(c->out, "%s%s *", at->ref < 0 ? "" : "const ",
          c_type(c_buffer(c, at->op, at->ref)->type));
}

/* Prints the addresses in the row of the leading sum, or of the others. */
static void print_addresses(c_printer *c, bool lead, const char *row) {
  for (int i = 0; i < c->n_row_at; i++) {
    if (c->row_at[i].lead != lead) continue;
    c_line(c, ""), type_of(c, &c->row_at[i]);
    fprintf(c->out, "const at%d = of->at%d + %s * of->step%d;\n", i, i, row, i);
    c_indent(c);
    fprintf(c->out, "(void)at%d;\n", i);
  }
}

static const ir_stmt *const *part_of(const rows *r, bool lead, int *n) {
  *n = lead ? r->lead : r->n - r->lead;
  return r->nests + (lead ? 0 : r->lead);
}

static void open_part(c_printer *c, const rows *r, bool lead, const char *row) {
  int n;
  const ir_stmt *const *all = part_of(r, lead, &n);
  print_addresses(c, lead, row);
  if (r->rounded >= 0 && !lead)
    c_line(c, ""), fprintf(c->out, "uint16_t *const rounded = of->rounded + %s * of->wide;\n", row);
  c_rows_open(c, all, n, r->dim);
}

static void at_vector(c_printer *c, const rows *r, bool lead, bool cut) {
  int n;
  const ir_stmt *const *all = part_of(r, lead, &n);
  c_rows_vector(c, all, n, r->dim, cut);
  if (r->rounded < 0 || lead) return;
  c_indent(c);
  fprintf(c->out, "bf16_round%s(rounded + d_%s, v_%s%s);\n", cut ? "_part" : "",
          c->p->dim_id[r->dim], c->p->tensor_id[r->rounded], cut ? ", rest" : "");
}

static void close_part(c_printer *c, const rows *r, bool lead) {
  int n;
  const ir_stmt *const *all = part_of(r, lead, &n);
  c_rows_close(c, all, n);
  if (r->rounded < 0 || lead) return;
  c_indent(c);
  fprintf(c->out, "for (int64_t q = %" PRId64 "; q < of->wide; q++) rounded[q] = 0;\n", r->words);
}

static int64_t rest_of(const c_printer *c, const rows *r) {
  return r->words % tf_micro_lanes(c->micro);
}

static void open_rest(c_printer *c, const rows *r) {
  c_line(c, "{\n");
  c->depth++;
  c_indent(c);
  fprintf(c->out, "const int rest = %d;\n", (int)rest_of(c, r));
}

/* Prints a whole row of the leading sum, or of the others. */
static void whole_row(c_printer *c, const rows *r, bool lead, const char *row) {
  const char *name = c->p->dim_id[r->dim];
  c_line(c, "{\n");
  c->depth++;
  open_part(c, r, lead, row);
  c_indent(c);
  fprintf(c->out, "int64_t d_%s = 0;\n", name);
  c_indent(c);
  fprintf(c->out, "for (; d_%s + LANES <= %" PRId64 "; d_%s += LANES) {\n", name, r->words, name);
  c->depth++;
  at_vector(c, r, lead, false);
  c_close(c, 1);
  if (rest_of(c, r)) open_rest(c, r), at_vector(c, r, lead, true), c_close(c, 1);
  close_part(c, r, lead);
  c_close(c, 1);
}

static void print_type(c_printer *c, const rows *r, const char *name) {
  fputs("\ntypedef struct {\n", c->out);
  for (int i = 0; i < c->n_row_at; i++)
    c_line(c, "  "), type_of(c, &c->row_at[i]), fprintf(c->out, "at%d;\n  int64_t step%d;\n", i, i);
  if (r->rounded >= 0) c_line(c, "  uint16_t *rounded;\n  int64_t wide;\n");
  if (continuing_nest(r)) c_line(c, "  int fresh;\n");
  fprintf(c->out, "} %s;\n", name);
}

static void print_rows(c_printer *c, const rows *r, const char *name) {
  fprintf(c->out, "\nstatic APART void %s_rows(const %s *of, int64_t from, int64_t to) {\n", name,
          name);
  c->depth++;
  for (int lead = r->lead; lead >= 0;
       lead--) { /* the leading sums of all rows come first: several overlap, where each would
                    otherwise wait for its own row's end */
    c_line(c, "for (int64_t i = from; i < to; i++) {\n");
    c->depth++;
    whole_row(c, r, lead, "i");
    c_close(c, 1);
  }
  c_close(c, 1);
}

enum { BEGIN, OPEN, VECTOR, CLOSE, TEXTS };

static void print_text(c_printer *c, const rows *r, int which) {
  if (which == BEGIN && r->lead) whole_row(c, r, true, "from");
  if (which == OPEN && r->lead) {
    c_line(c, "const int64_t next = i + 1 < to ? i + 1 : i;\n");
    open_part(c, r, true, "next");
  }
  if (which == OPEN) open_part(c, r, false, "i");
  for (int lead = 0; which == VECTOR && lead <= r->lead; lead++)
    at_vector(c, r, lead, false);
  if (which != CLOSE) return;
  if (rest_of(c, r)) {
    open_rest(c, r);
    for (int lead = 0; lead <= r->lead; lead++)
      at_vector(c, r, lead, true);
    c_close(c, 1);
  }
  close_part(c, r, false);
  if (!r->lead) return;
  c_line(c, "if (i + 1 < to) {\n");
  c->depth++;
  close_part(c, r, true);
  c_close(c, 1);
}

/* Prints the addresses at the first row and their steps from row to row, where the kernel is
 * called. */
static void print_places(c_printer *c, const rows *r, const ir_stmt *s, const c_row_at *at, int n,
                         const char *name) {
  c_indent(c);
  fprintf(c->out, "const %s of = {", name);
  for (int i = 0; i < n; i++) {
    fputs(i ? ", &" : "&", c->out), c_place(c, at[i].op, at[i].ref);
    fputs(", ", c->out), c_step(c, at[i].op, at[i].ref, r->across);
  }
  if (r->rounded >= 0)
    fprintf(c->out, ", %s_pack%d, k_wide", c->p->buffers[cpu_of(s)->product->pairs.copy].id,
            cpu_of(s)->product->pairs.copy);
  const ir_stmt *on = continuing_nest(r);
  if (on) fputs(", ", c->out), c_is_fresh(c, on);
  fputs("};\n", c->out);
}

struct c_ahead {
  char name[32], place[80];
  char *text[TEXTS];
  tf_micro_ahead micro;
};

const tf_micro_ahead *c_ahead_micro(const c_ahead *h) { return h ? &h->micro : NULL; }

void c_ahead_free(c_ahead *h) {
  for (int i = 0; h && i < TEXTS; i++)
    free(h->text[i]);
  free(h);
}

/* With c's accesses set: prints all that stands in front of the kernel. */
static bool print_before(c_printer *c, const rows *r, c_ahead *h) {
  FILE *const out = c->out;
  const int depth = c->depth;
  bool ok = true;
  c->depth = 0;
  c->out = c->blocks;
  print_type(c, r, h->name);
  print_rows(c, r, h->name);
  c->depth = 2;
  for (int i = 0; ok && i < TEXTS; i++) {
    size_t size;
    ok = (c->out = open_memstream(&h->text[i], &size)) != NULL;
    if (!ok) break;
    print_text(c, r, i);
    ok = fclose(c->out) == 0;
  }
  c->out = out, c->depth = depth;
  return ok;
}

c_ahead *c_ahead_begin(c_printer *c, const ir_stmt *s) {
  const rows r = rows_of(c, s);
  const int n = list_places(c, &r, NULL);
  c_row_at *at = calloc((size_t)n + 1, sizeof *at);
  c_ahead *h = calloc(1, sizeof *h);
  bool ok = at && h;
  if (ok) {
    list_places(c, &r, at);
    snprintf(h->name, sizeof h->name, "ahead%d", c->n_ahead++);
    snprintf(h->place, sizeof h->place, "d_%s", c->p->dim_id[r.dim]);
    c->row_at = at, c->n_row_at = n, c->row_dim = r.dim,
    c->rounded_only = only_rounded(c, &r, s) ? r.rounded : -1;
    ok = print_before(c, &r, h);
    c->row_at = NULL, c->n_row_at = 0, c->rounded_only = -1;
    h->micro = (tf_micro_ahead){h->name,       h->place,        r.words,       h->text[BEGIN],
                                h->text[OPEN], h->text[VECTOR], h->text[CLOSE]};
    if (ok) print_places(c, &r, s, at, n, h->name);
  }
  free(at);
  c->failed |= !ok;
  if (ok) return h;
  c_ahead_free(h);
  return NULL;
}
