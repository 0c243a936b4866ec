/* Drafts as text: padding, used dims, ops with the necessary parentheses. */
#include "grad/grad_write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/names.h"
#include "model/yaml/quote.h"

/* ---- what is read of each tensor -------------------------------------------------------- */
typedef struct {
  bool read, copied;
  int64_t before[TF_MAX_RANK], behind[TF_MAX_RANK]; /* words read outside of it */
  int copy;                                         /* tensor of its copy, if it is copied */
} reach;

typedef struct {
  gr_draft *d;
  reach *reach; /* [n_tensors] */
  bool *dim;    /* [n_dims] whether it is used */
  FILE *out;
} writer;

static void note_read(void *ctx, const gr_expr *read) {
  writer *w = ctx;
  const gr_tensor *t = &w->d->tensors[read->tensor];
  reach *x = &w->reach[read->tensor];
  x->read = true;
  for (int r = 0; r < t->rank; r++) {
    int64_t lo, hi;
    gr_form_range(w->d, read->index[r], &lo, &hi);
    if (-lo > x->before[r]) x->before[r] = -lo;
    if (hi - (t->extent[r] - 1) > x->behind[r]) x->behind[r] = hi - (t->extent[r] - 1);
  }
}

static bool one_sided(const gr_tensor *t, const reach *x) {
  for (int r = 0; r < t->rank; r++)
    if (x->behind[r] > x->before[r]) return true;
  return false;
}

/* Adds a copy of tensor t, which is read in place of it. */
static void add_copy(gr_draft *d, int t, reach *x) {
  char name[300];
  int dims[TF_MAX_RANK];
  const gr_tensor in = d->tensors[t];
  snprintf(name, sizeof name, "copy_%.250s", in.name);
  for (int r = 0; r < in.rank; r++) {
    dims[r] = gr_fresh_dim(d, in.extent[r], dims, r, "copied");
  }
  x->copied = true;
  x->copy = gr_add_tensor(d, name, in.rank, in.extent, in.word_bits);
  gr_add_op(d, x->copy, dims, TF_ASSIGN, gr_read_at(d, t, dims));
}

static bool measure(writer *w) {
  gr_draft *d = w->d;
  int n_tensors = d->n_tensors, n_ops = d->n_ops;
  w->reach = tf_arena_array(d->arena, (size_t)n_tensors * 2, sizeof *w->reach);
  w->dim = tf_arena_array(
      d->arena, GR_ALL_DIMS + (size_t)d->n_dims + (size_t)n_tensors * TF_MAX_RANK, sizeof *w->dim);
  if (!w->reach || !w->dim) return gr_fail_memory(d);
  for (int o = 0; o < n_ops; o++) {
    gr_each_read(d->ops[o].e, note_read, w);
    gr_mark_dims(d, d->ops[o].e, w->dim);
    for (int r = 0; r < d->tensors[d->ops[o].out].rank; r++)
      w->dim[d->ops[o].left[r]] = true;
  }
  for (int t = 0; t < n_tensors; t++)
    if (w->reach[t].read && d->tensors[t].producer < 0 && one_sided(&d->tensors[t], &w->reach[t]))
      add_copy(d, t, &w->reach[t]);
  for (int o = n_ops; o < d->n_ops; o++)
    for (int r = 0; r < d->tensors[d->ops[o].out].rank; r++)
      w->dim[d->ops[o].left[r]] = true;
  for (int t = 0; t < n_tensors; t++) {
    if (!w->reach[t].copied) continue;
    w->reach[w->reach[t].copy] = w->reach[t];
    w->reach[w->reach[t].copy].copied = false;
    w->reach[t] = (reach){.read = true, .copied = true, .copy = w->reach[t].copy};
  }
  return !d->failed;
}

/* ---- expressions ------------------------------------------------------------------------ */
static void put_number(FILE *out, double v) {
  char text[40];
  if (isinf(v)) {
    fputs(v < 0 ? "-inf" : "inf", out);
    return;
  }
  for (int digits = 6; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, v);
    if (strtod(text, NULL) == v) break;
  }
  fputs(text, out);
}

static void put_term(const writer *w, tf_term t, bool first) {
  const char *name = w->d->dims[t.dim].name;
  const char *sign = t.coef < 0 ? first ? "-" : " - " : first ? "" : " + ";
  unsigned long long size =
      t.coef < 0 ? 0 - (unsigned long long)t.coef : (unsigned long long)t.coef;
  const bool apart = gr_is_quotient(w->d, t.dim) && t.coef != 1;
  if (size == 1)
    fprintf(w->out, apart ? "%s(%s)" : "%s%s", sign, name);
  else if (apart)
    fprintf(w->out, "%s%llu*(%s)", sign, size, name);
  else
    fprintf(w->out, "%s%llu*%s", sign, size, name);
}

static void put_form(const writer *w, tf_index x) {
  bool first = true;
  for (int i = 0; i < x.n_terms; i++)
    if (x.terms[i].coef > 0) {
      put_term(w, x.terms[i], first);
      first = false;
    }
  for (int i = 0; i < x.n_terms; i++)
    if (x.terms[i].coef < 0) {
      put_term(w, x.terms[i], first);
      first = false;
    }
  if (first)
    fprintf(w->out, "%lld", (long long)x.c);
  else if (x.c)
    fprintf(w->out, x.c < 0 ? " - %llu" : " + %llu",
            x.c < 0 ? 0 - (unsigned long long)x.c : (unsigned long long)x.c);
}

static void put_read(const writer *w, const gr_expr *e, bool through_copy) {
  int t = through_copy && w->reach[e->tensor].copied ? w->reach[e->tensor].copy : e->tensor;
  fprintf(w->out, "%s[", w->d->tensors[t].name);
  for (int r = 0; r < w->d->tensors[t].rank; r++) {
    fputs(r ? "," : "", w->out);
    put_form(w, e->index[r]);
  }
  fputs("]", w->out);
}

static const char *key_of(tf_kind kind) {
  static const char *const keys[] = {TF_KINDS(TF_NAME_ROW)};
  return keys[kind];
}

/* 0: a comparison, 1: a sum, 2: a product, 3: what needs no parentheses in either. */
static int level_of(tf_kind kind) {
  if (kind >= TF_K_LT) return 0;
  if (kind == TF_K_ADD || kind == TF_K_SUB) return 1;
  return kind == TF_K_MUL || kind == TF_K_DIV ? 2 : 3;
}

static void put_expr(const writer *w, const gr_expr *e, int least, bool through_copy);

static void put_call(const writer *w, const gr_expr *e, bool through_copy) {
  fprintf(w->out, "%s(", key_of(e->node.call));
  for (int i = 0; i < e->node.n_args; i++) {
    fputs(i ? ", " : "", w->out);
    put_expr(w, e->arg[i], 0, through_copy);
  }
  fputs(")", w->out);
}

/* The coordinates of the point. */
static void put_place(const writer *w, tf_index x, int least) {
  bool plain = x.n_terms == 1 && x.c == 0 && x.terms[0].coef == 1;
  bool apart = !plain && least > 1;
  fputs(apart ? "(" : "", w->out);
  put_form(w, x);
  fputs(apart ? ")" : "", w->out);
}

/* In parentheses where it binds less than `least`. */
static void put_expr(const writer *w, const gr_expr *e, int least, bool through_copy) {
  if (e->node.what == TF_X_NUMBER) put_number(w->out, e->node.number);
  if (e->node.what == TF_X_READ) put_read(w, e, through_copy);
  if (e->node.what == TF_X_DIM) put_place(w, e->index[0], least);
  if (e->node.what != TF_X_CALL) return;
  tf_kind kind = e->node.call;
  int level = level_of(kind);
  if (level == 3 && kind != TF_K_NEG) {
    put_call(w, e, through_copy);
    return;
  }
  static const char *const sign[] = {[TF_K_ADD] = " + ", [TF_K_SUB] = " - ", [TF_K_MUL] = " * ",
                                     [TF_K_DIV] = " / ", [TF_K_NEG] = "-",   [TF_K_LT] = " < ",
                                     [TF_K_LE] = " <= ", [TF_K_EQ] = " == ", [TF_K_NE] = " != "};
  if (level < least) fputs("(", w->out);
  if (kind != TF_K_NEG) put_expr(w, e->arg[0], level ? level : 1, through_copy);
  fputs(sign[kind], w->out);
  put_expr(w, e->arg[kind != TF_K_NEG], kind == TF_K_NEG ? 3 : level + 1, through_copy);
  if (level < least) fputs(")", w->out);
}

/* ---- sections --------------------------------------------------------------------------- */
static void put_list(FILE *out, const char *key, int n, const int64_t *v) {
  fprintf(out, "%s: [", key);
  for (int i = 0; i < n; i++)
    fprintf(out, "%s%lld", i ? ", " : "", (long long)v[i]);
  fputs("]", out);
}

static void put_tensor(const writer *w, int t, bool *any) {
  const gr_tensor *z = &w->d->tensors[t];
  const reach *x = &w->reach[t];
  int64_t pad[TF_MAX_RANK];
  bool padded = false, input = z->producer < 0;
  for (int r = 0; r < z->rank; r++) {
    pad[r] = x->before[r] > x->behind[r] ? x->before[r] : x->behind[r];
    padded = padded || pad[r];
  }
  if ((input && !x->read) || (!input && !padded && (z->word_bits == 16 || !z->word_bits))) return;
  fprintf(w->out, "%s    %s: {", *any ? "" : "  tensors:\n", z->name);
  *any = true;
  if (input) put_list(w->out, "shape", z->rank, z->extent);
  if (padded) put_list(w->out, input ? ", pad" : "pad", z->rank, pad);
  if (z->word_bits && z->word_bits != 16)
    fprintf(w->out, "%sword-bits: %d", input || padded ? ", " : "", z->word_bits);
  fputs("}\n", w->out);
}

static void put_op(const writer *w, const gr_op *op) {
  static const char *const sign[] = {[TF_ASSIGN] = "=",
                                     [TF_REDUCE_ADD] = "+=",
                                     [TF_REDUCE_MUL] = "*=",
                                     [TF_REDUCE_MAX] = "max=",
                                     [TF_REDUCE_MIN] = "min="};
  const gr_tensor *t = &w->d->tensors[op->out];
  bool copies = op->e->node.what == TF_X_READ && w->reach[op->e->tensor].copied &&
                w->reach[op->e->tensor].copy == op->out;
  fputs("  - ", w->out);
  if (op->name) fprintf(w->out, "{name: %s, expr: \"", op->name);
  fprintf(w->out, "%s[", t->name);
  for (int r = 0; r < t->rank; r++)
    fprintf(w->out, "%s%s", r ? "," : "", w->d->dims[op->left[r]].name);
  fprintf(w->out, "] %s ", sign[op->reduce]);
  put_expr(w, op->e, 0, !copies);
  fputs(op->name ? "\"}\n" : "\n", w->out);
}

char *gr_write(gr_draft *d, int first, const char *title) {
  writer w = {.d = d};
  char *text = NULL;
  size_t size = 0;
  bool any = false;
  if (!measure(&w)) return NULL;
  w.out = open_memstream(&text, &size);
  if (!w.out && !gr_fail_memory(d)) return NULL;
  fputs("workload:\n  name: ", w.out);
  tf_yaml_quote(w.out, title);
  fputs("\n  dims: {", w.out);
  for (int i = 0; i < d->n_dims; i++)
    if (w.dim[i] && !gr_is_quotient(d, i)) {
      fprintf(w.out, "%s%s: %lld", any ? ", " : "", d->dims[i].name, (long long)d->dims[i].extent);
      any = true;
    }
  fputs("}\n", w.out);
  any = false;
  for (int t = 0; t < d->n_tensors; t++)
    put_tensor(&w, t, &any);
  fputs("  ops:\n", w.out);
  for (int i = 0; i < d->n_ops; i++)
    put_op(&w, &d->ops[(first + i) % d->n_ops]);
  if (fclose(w.out) == 0) return text;
  free(text);
  gr_fail_memory(d);
  return NULL;
}
