/* The ops of a workload: left side, operator, names, iteration space, kinds. */
#include <string.h>

#include "model/input/table/sections.h"
#include "model/input/workload_read.h"

/* ---- left side ---------------------------------------------------------------------- */
/* The dim that an index plainly is, else -1. */
static int plain_dim(const tf_index *x) {
  bool plain = x->n_terms == 1 && x->c == 0 && x->terms[0].coef == 1 && x->terms[0].dim < TF_FLOOR;
  return plain ? x->terms[0].dim : -1;
}

/* One more than there may be is kept, so that check_dims sees it. */
static void add_dim(tf_op *op, int dim) {
  for (int i = 0; i < op->n_dims; i++)
    if (op->dims[i] == dim) return;
  if (op->n_dims <= TF_MAX_OP_DIMS) op->dims[op->n_dims++] = dim;
}

static void add_index_dims(const tf_wl_reader *w, tf_op *op, const tf_index *x) {
  for (int t = 0; t < x->n_terms; t++)
    if (x->terms[t].dim < TF_FLOOR)
      add_dim(op, x->terms[t].dim);
    else
      add_index_dims(w, op, &w->floors[x->terms[t].dim - TF_FLOOR].dividend);
}

/* Whether parts of dims may count through a rank by it, which tf_part_dims finds out: a quotient is
 * in it, or 2*h + a.
 */
static bool may_count(const tf_index *x) {
  bool sum = x->n_terms > 1 && x->c == 0, quotient = false, one = false;
  for (int t = 0; t < x->n_terms; t++) {
    sum = sum && x->terms[t].coef > 0;
    one = one || x->terms[t].coef == 1;
    quotient = quotient || x->terms[t].dim >= TF_FLOOR;
  }
  return quotient || (sum && one);
}

/* Every index a dim of its own, or a sum of parts; fills op->dims. */
static bool check_left(tf_wl_reader *w, tf_op *op, const tf_ref *left, const tf_span *span,
                       const tf_ynode *text, int rank) {
  op->dims = TF_ARRAY(w->base->arena, int, TF_MAX_OP_DIMS + 1);
  if (!op->dims) return tf_no_memory(w->base);
  for (int r = 0; r < rank; r++) {
    int dim = plain_dim(&left->index[r]);
    bool twice = false;
    for (int i = 0; i < op->n_dims; i++)
      twice = twice || op->dims[i] == dim;
    if (dim < 0 && may_count(&left->index[r])) {
      add_index_dims(w, op, &left->index[r]);
      w->left[op - w->wl->ops].joined = true;
      continue;
    }
    if (dim >= 0 && !twice) {
      add_dim(op, dim);
      continue;
    }
    if (w->failed && dim < 0) return false; /* an unknown dim, reported before */
    tf_loc at = tf_ynode_place(text, span[r].from, span[r].len);
    return tf_fail(w->base->diags, at, TF_E_OUTPUT,
                   dim < 0 ? "the left side is indexed by plain dims only"
                           : "dim '%.60s' twice on the left side",
                   dim < 0 ? "" : w->wl->dims[dim].name);
  }
  op->n_out_dims = op->n_dims;
  return true;
}

/* The tensor is made here, and nowhere before. */
static bool make_tensor(tf_wl_reader *w, int op_no, const tf_ref *left) {
  tf_tensor *t = &w->wl->tensors[left->tensor];
  if (t->producer >= 0) {
    tf_fail(w->base->diags, left->at, TF_E_OUTPUT, "tensor '%.60s' is made twice", t->name);
    tf_note(w->base->diags, t->at, "first made here");
    return false;
  }
  t->producer = op_no;
  t->at = left->at;
  return true;
}

static bool read_operator(tf_lex *x, tf_reduce *reduce) {
  static const char *const key[] = {[TF_ASSIGN] = "=",
                                    [TF_REDUCE_ADD] = "+=",
                                    [TF_REDUCE_MUL] = "*=",
                                    [TF_REDUCE_MAX] = "max=",
                                    [TF_REDUCE_MIN] = "min="};
  for (int i = 0; i <= TF_REDUCE_MIN; i++) {
    size_t n = strlen(key[i]);
    if (strncmp(tf_lex_text(x), key[i], n) != 0 || tf_lex_text(x)[n] == '=') continue;
    *reduce = (tf_reduce)i;
    tf_lex_next(x);
    if (n > 1) tf_lex_next(x);
    return true;
  }
  return tf_lex_fail(x, "=, +=, *=, max= or min= after the left side");
}

/* ---- after both sides are read ------------------------------------------------------ */
/* Reduced dims follow those of the output, in order of first appearance. */
static void add_reduced_dims(const tf_wl_reader *w, tf_op *op) {
  for (int i = 0; i < op->n_reads; i++)
    for (int r = 0; r < w->wl->tensors[op->reads[i].tensor].rank; r++)
      add_index_dims(w, op, &op->reads[i].index[r]);
  for (int i = 0; i < op->n_expr; i++)
    if (op->expr[i].what == TF_X_DIM) add_dim(op, op->expr[i].dim);
}

static bool check_dims(tf_wl_reader *w, const tf_op *op, tf_loc at) {
  return op->n_dims <= TF_MAX_OP_DIMS ||
         tf_fail(w->base->diags, at, TF_E_LIMIT, "an op over more than %d dims", TF_MAX_OP_DIMS);
}

static bool check_assign(tf_wl_reader *w, const tf_op *op, tf_loc at) {
  const bool later =
      w->left[op - w->wl->ops].joined; /* when it is known which parts are on the left */
  if (op->reduce != TF_ASSIGN || op->n_dims == op->n_out_dims || later) return true;
  return tf_fail(w->base->diags, at, TF_E_OUTPUT,
                 "'=' assigns, but dim '%.60s' is not on the left; += *= max= min= reduce",
                 w->wl->dims[op->dims[op->n_out_dims]].name);
}

static bool check_no_self(tf_wl_reader *w, const tf_op *op) {
  for (int i = 0; i < op->n_reads; i++)
    if (op->reads[i].tensor == op->out)
      return tf_fail(w->base->diags, op->reads[i].at, TF_E_CYCLE,
                     "the op reads what it makes, '%.60s'", w->wl->tensors[op->out].name);
  return true;
}

static uint32_t bit(tf_kind k) { return 1u << k; }

/* What of the expression is an address's arithmetic: comparisons and + - * / of dims and numbers,
 * which ask no unit. */
static bool free_of_data(const tf_op *op, int i, const bool *is_free) {
  static const uint32_t plain = 1u << TF_K_ADD | 1u << TF_K_SUB | 1u << TF_K_MUL | 1u << TF_K_DIV |
                                1u << TF_K_NEG | 1u << TF_K_MIN | 1u << TF_K_MAX;
  const tf_expr *x = &op->expr[i];
  bool all = x->what == TF_X_DIM || x->what == TF_X_NUMBER ||
             (x->what == TF_X_CALL && (x->call >= TF_K_LT || plain >> x->call & 1));
  for (int k = 0; k < x->n_args; k++)
    all = all && is_free[x->arg[k]];
  return all;
}

/* What a unit must list. */
static uint32_t kinds_of(const tf_op *op) {
  static const uint32_t of_reduce[] = {[TF_ASSIGN] = 0,
                                       [TF_REDUCE_ADD] = 1u << TF_K_ADD,
                                       [TF_REDUCE_MUL] = 1u << TF_K_MUL,
                                       [TF_REDUCE_MAX] = 1u << TF_K_MAX,
                                       [TF_REDUCE_MIN] = 1u << TF_K_MIN};
  const tf_expr *root = &op->expr[op->n_expr - 1];
  bool product = op->n_expr == 3 && root->what == TF_X_CALL && root->call == TF_K_MUL;
  if (op->reduce == TF_REDUCE_ADD && product) return bit(TF_K_MAC);
  uint32_t kinds = of_reduce[op->reduce];
  bool is_free[TF_MAX_EXPR];
  for (int i = 0; i < op->n_expr; i++) {
    is_free[i] = free_of_data(op, i, is_free);
    if (op->expr[i].what == TF_X_CALL && !is_free[i])
      kinds |= bit(op->expr[i].call >= TF_K_LT ? TF_K_SELECT : op->expr[i].call);
  }
  return kinds ? kinds : bit(TF_K_COPY);
}

static bool keep_left(tf_wl_reader *w, tf_left *to, const tf_ref *left, const tf_span *span,
                      const tf_ynode *text) {
  const int rank = w->wl->tensors[left->tensor].rank;
  to->ref = *left;
  to->at = TF_ARRAY(w->base->arena, tf_loc, (size_t)rank);
  if (!to->at) return tf_no_memory(w->base);
  for (int r = 0; r < rank; r++)
    to->at[r] = tf_ynode_place(text, span[r].from, span[r].len);
  return true;
}

/* "T[dims] op= expression"; false after an error that leaves the op incomplete. */
static bool parse_op(tf_wl_reader *w, int no, const tf_ynode *text) {
  tf_op *op = &w->wl->ops[no];
  tf_op_source *src = &w->source[no];
  tf_lex x = tf_lex_start(text, 0, w->base->diags);
  tf_ref left = {0};
  tf_span *span;
  src->text = text;
  op->out = -1;
  if (x.tok.kind != TF_T_NAME) return tf_lex_fail(&x, "a tensor that the op makes");
  bool before = w->failed;
  w->failed = false;
  if (!tf_parse_ref(w, &x, &left, &span)) return false;
  int rank = w->wl->tensors[left.tensor].rank;
  op->out = left.tensor;
  if (!keep_left(w, &w->left[no], &left, span, text)) return false;
  bool good = !w->failed && check_left(w, op, &left, span, text, rank);
  good = make_tensor(w, no, &left) && good;
  w->failed = before || !good;
  tf_loc at = tf_lex_at(&x);
  if (!read_operator(&x, &op->reduce)) return false;
  if (op->reduce != TF_ASSIGN) at.len = op->reduce >= TF_REDUCE_MAX ? 4 : 2;
  bool right_before = w->failed;
  if (!tf_parse_element(w, &x, op, src)) return false;
  if (right_before || w->failed || !good) return good && check_no_self(w, op);
  add_reduced_dims(w, op);
  op->kinds = kinds_of(op);
  return check_no_self(w, op) && check_dims(w, op, left.at) && check_assign(w, op, at);
}

/* ---- the list ----------------------------------------------------------------------- */
/* The text of an op and the name it is given; NULL text after an error. */
static const tf_ynode *op_text(tf_wl_reader *w, const tf_ynode *node, const tf_ynode **name) {
  static const tf_yrow rows[] = {TF_OP_KEYS(TF_KEY_ROW)};
  const tf_ynode *v[2];
  *name = NULL;
  if (!tf_yschema_kind(node, TF_Y_SCALAR | TF_Y_MAP, "an op", w->base->diags)) return NULL;
  if (node->kind == TF_Y_MAP) {
    if (!tf_yschema_check(node, rows, 2, "an op", v, w->base->diags)) w->failed = true;
    *name = v[0];
    node = v[1];
  }
  if (!node || node->len <= TF_MAX_TEXT) return node;
  tf_fail(w->base->diags, node->at, TF_E_LIMIT, "an op of more than %d bytes", TF_MAX_TEXT);
  return NULL;
}

static bool name_op(tf_wl_reader *w, int no, const tf_ynode *name) {
  tf_workload *wl = w->wl;
  tf_op *op = &wl->ops[no];
  if (name) {
    op->at = name->at;
    op->name = tf_read_name(w->base, name, "an op", true);
    if (!op->name) return false;
  } else if (op->out >= 0) {
    op->name = wl->tensors[op->out].name;
    if (wl->tensors[op->out].producer != no) return true; /* made twice: reported */
  }
  for (int i = 0; i < no && op->name; i++) {
    if (!wl->ops[i].name || strcmp(wl->ops[i].name, op->name) != 0) continue;
    tf_fail(w->base->diags, op->at, TF_E_DUP, "two ops have the name '%.60s'", op->name);
    tf_note(w->base->diags, wl->ops[i].at, "first given here");
    return false;
  }
  return true;
}

static void read_op(tf_wl_reader *w, int no, const tf_ynode *node) {
  const tf_ynode *name;
  tf_op *op = &w->wl->ops[no];
  op->out = -1;
  op->at = node->at;
  const tf_ynode *text = op_text(w, node, &name);
  bool ok = text && parse_op(w, no, text);
  if (text && !name) op->at = text->at;
  ok = name_op(w, no, name) && ok;
  if (!ok) w->failed = true;
}

void tf_read_ops(tf_wl_reader *w, const tf_ynode *list) {
  tf_workload *wl = w->wl;
  size_t n = list->n;
  if (n < 1) tf_fail(w->base->diags, list->at, TF_E_MISSING, "'ops' needs at least one");
  if (n > TF_MAX_OPS)
    tf_fail(w->base->diags, list->at, TF_E_LIMIT, "%zu ops, at most %d", n, TF_MAX_OPS);
  if (n < 1 || n > TF_MAX_OPS) {
    w->failed = true;
    return;
  }
  wl->ops = TF_ARRAY(w->base->arena, tf_op, n);
  w->source = TF_ARRAY(w->base->arena, tf_op_source, n);
  w->left = TF_ARRAY(w->base->arena, tf_left, n);
  if (!wl->ops || !w->source || !w->left) {
    w->failed = !tf_no_memory(w->base);
    return;
  }
  for (size_t i = 0; i < n; i++) {
    wl->n_ops = (int)i + 1;
    read_op(w, (int)i, list->items[i]);
  }
}
