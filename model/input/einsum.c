/* References and element expressions of ops. */
#include <math.h>
#include <string.h>

#include "base/names.h"
#include "model/input/kinds.h"
#include "model/input/workload_read.h"

static int shown(size_t len) { return (int)(len < 60 ? len : 60); }

/* ---- references --------------------------------------------------------------------- */
static bool parse_indices(tf_wl_reader *w, tf_lex *x, tf_index *index, tf_span *span, int *n) {
  *n = 0;
  if (tf_lex_take(x, ']')) return true;
  do {
    tf_affine a;
    if (*n == TF_MAX_RANK)
      return tf_fail(x->diags, tf_lex_at(x), TF_E_LIMIT, "more than %d indices", TF_MAX_RANK);
    size_t from = x->tok.at;
    if (!tf_parse_affine(w, x, &a)) return false;
    if (!tf_form_keep(&a, w->base->arena, &index[*n])) return tf_no_memory(w->base);
    span[(*n)++] = (tf_span){from, x->prev_end > from ? x->prev_end - from : 1};
  } while (tf_lex_take(x, ','));
  if (tf_lex_take(x, ']')) return true;
  return tf_lex_fail(x, "',' or ']' after an index");
}

/* The tensor of a reference; reports a rank other than at its first use. */
static bool find_ref(tf_wl_reader *w, tf_ref *ref, const char *name, size_t len, int rank) {
  ref->tensor = tf_use_tensor(w, name, len, rank, ref->at);
  if (ref->tensor < 0) return false;
  const tf_tensor *t = &w->wl->tensors[ref->tensor];
  if (t->rank == rank) return true;
  w->failed = true;
  tf_fail(w->base->diags, ref->at, TF_E_RANK, "'%.60s' has rank %d here, rank %d elsewhere",
          t->name, rank, t->rank);
  tf_note(w->base->diags, t->at, "rank %d here", t->rank);
  return true;
}

bool tf_parse_ref(tf_wl_reader *w, tf_lex *x, tf_ref *out, tf_span **spans) {
  tf_index index[TF_MAX_RANK] = {0};
  tf_span span[TF_MAX_RANK];
  tf_lex name = *x;
  int rank;
  tf_lex_next(x);
  if (!tf_lex_need(x, '[', "after the name of a tensor")) return false;
  if (!parse_indices(w, x, index, span, &rank)) return false;
  out->at = tf_lex_since(x, name.tok.at);
  out->index = TF_ARRAY(w->base->arena, tf_index, (size_t)rank);
  *spans = TF_ARRAY(w->base->arena, tf_span, (size_t)rank);
  if (!out->index || !*spans) return tf_no_memory(w->base);
  memcpy(out->index, index, (size_t)rank * sizeof *index);
  memcpy(*spans, span, (size_t)rank * sizeof *span);
  return find_ref(w, out, tf_lex_text(&name), name.tok.len, rank);
}

/* ---- element expressions ------------------------------------------------------------ */
typedef struct {
  tf_wl_reader *w;
  tf_lex *x;
  tf_expr expr[TF_MAX_EXPR];
  int n_expr;
  tf_ref reads[TF_MAX_READS];
  tf_span *spans[TF_MAX_READS];
  int n_reads;
} element;

/* Each parse_ function appends nodes, the root last; returns its index, -1 on failure. */
static int parse_value(element *e);

static int append(element *e, const tf_lex *at, tf_expr node) {
  if (e->n_expr < TF_MAX_EXPR) {
    e->expr[e->n_expr] = node;
    return e->n_expr++;
  }
  tf_fail(e->x->diags, tf_lex_at(at), TF_E_LIMIT, "an expression of more than %d nodes",
          TF_MAX_EXPR);
  return -1;
}

static int append_number(element *e, const tf_lex *at, double f) {
  return append(e, at, (tf_expr){.what = TF_X_NUMBER, .number = f});
}

/* Constant folding: replaces the call's arguments, which are the last nodes, by its value.
 * Infinities may only come from `inf`. */
static int fold(element *e, const tf_lex *at, tf_kind kind, int n_args, const int *at_arg) {
  double arg[3] = {0};
  bool finite = true;
  for (int i = 0; i < n_args; i++) {
    arg[i] = e->expr[at_arg[i]].number;
    finite = finite && isfinite(arg[i]);
  }
  e->n_expr -= n_args;
  double f = tf_kind_apply(kind, arg);
  if (finite ? !isfinite(f) : isnan(f)) {
    e->w->failed = true;
    tf_fail(e->x->diags, tf_lex_at(at), TF_E_RANGE, "this is no finite number");
    f = 0;
  }
  return append_number(e, at, f);
}

static int append_call(element *e, const tf_lex *at, tf_kind kind, int n_args, const int *arg) {
  tf_expr call = {.what = TF_X_CALL, .call = kind, .n_args = n_args};
  bool numbers = true;
  for (int i = 0; i < n_args; i++) {
    call.arg[i] = arg[i];
    numbers = numbers && e->expr[arg[i]].what == TF_X_NUMBER;
  }
  if (numbers) return fold(e, at, kind, n_args, arg);
  bool by_zero =
      kind == TF_K_DIV && e->expr[arg[1]].what == TF_X_NUMBER && e->expr[arg[1]].number == 0;
  if (by_zero) {
    e->w->failed = true;
    tf_fail(e->x->diags, tf_lex_at(at), TF_E_RANGE, "division by zero");
  }
  return append(e, at, call);
}

/* What other languages have as one function, and how it is written here.  Of a matrix: m its rows,
 * n along them. */
static const struct {
  const char *names[4], *how;
} spelled[] = {
    {{"softmax"},
     "X[m] max= S[m,n]; E[m,n] = exp(S[m,n] - X[m]); Z[m] += E[m,n]; P[m,n] = E[m,n] / Z[m]"},
    {{"logsoftmax", "log_softmax"},
     "X[m] max= S[m,n]; D[m,n] = S[m,n] - X[m]; E[m,n] = exp(D[m,n]); Z[m] += E[m,n]; P[m,n] = "
     "D[m,n] - log(Z[m])"},
    {{"logsumexp"},
     "X[m] max= S[m,n]; E[m,n] = exp(S[m,n] - X[m]); Z[m] += E[m,n]; L[m] = X[m] + log(Z[m])"},
    {{"layernorm", "layer_norm"},
     "S[m] += X[m,n]; D[m,n] = X[m,n] - S[m] / N; V[m] += D[m,n] * D[m,n]; Y[m,n] = D[m,n] / "
     "sqrt(V[m] / N + 1e-5), N the extent of n"},
    {{"rmsnorm", "rms_norm"},
     "V[m] += X[m,n] * X[m,n]; Y[m,n] = X[m,n] / sqrt(V[m] / N + 1e-5), N the extent of n"},
    {{"mean", "avg", "average"}, "S[m] += X[m,n]; A[m] = S[m] / N, N the extent of n"},
    {{"variance", "var"},
     "S[m] += X[m,n]; D[m,n] = X[m,n] - S[m] / N; Q[m] += D[m,n] * D[m,n]; V[m] = Q[m] / N, N the "
     "extent of n"},
    {{"sum", "reduce_sum"}, "S[m] += X[m,n]"},
    {{"prod", "product"}, "P[m] *= X[m,n]"},
    {{"amax", "reduce_max", "maxpool"}, "M[m] max= X[m,n]"},
    {{"amin", "reduce_min"}, "M[m] min= X[m,n]"},
    {{"matmul", "dot", "gemm", "mm"}, "C[m,n] += A[m,k] * B[k,n]"},
    {{"conv", "conv2d"}, "O[k,p,q] += I[c,p+r,q+s] * W[k,c,r,s]"},
    {{"transpose"}, "T[n,m] = X[m,n]"},
    {{"pow", "square"}, "X[m] * X[m], or exp(b * log(X[m])) for any power b of numbers above 0"},
    {{"rsqrt"}, "1 / sqrt(X[m])"},
    {{"clip", "clamp"}, "min(max(X[m], low), high)"},
    {{"sign"}, "(X[m] > 0) - (X[m] < 0)"},
    {{"where", "if", "cond"}, "select(X[m] > 0, X[m], Y[m])"},
    {{"swish"}, "silu(X[m])"},
    {{"softplus"}, "max(X[m], 0) + log(1 + exp(-abs(X[m])))"},
    {{"leaky_relu", "leakyrelu"}, "max(X[m], 0) + 0.01 * min(X[m], 0)"},
    {{"elu"}, "select(X[m] > 0, X[m], exp(min(X[m], 0)) - 1)"},
    {{"relu6"}, "min(max(X[m], 0), 6)"},
    {{"hardswish", "hard_swish"}, "X[m] * min(max(X[m] + 3, 0), 6) / 6"},
};

/* Whether the text is the name, of small letters, in any case. */
static bool is_spelled(const char *name, const char *text, size_t len) {
  size_t i = 0;
  while (i < len && name[i] &&
         (name[i] == text[i] || (text[i] >= 'A' && text[i] <= 'Z' && name[i] - text[i] == 32)))
    i++;
  return i == len && !name[i];
}

/* How a function that is none here is written; NULL: nobody knows. */
static const char *spelling(const char *text, size_t len) {
  for (size_t i = 0; i < sizeof spelled / sizeof *spelled; i++)
    for (int k = 0; k < 4 && spelled[i].names[k]; k++)
      if (is_spelled(spelled[i].names[k], text, len)) return spelled[i].how;
  return NULL;
}

static void fail_function(const element *e, const tf_lex *name) {
  const char *text = tf_lex_text(name), *how = spelling(text, name->tok.len);
  tf_near near = tf_near_start(text, name->tok.len);
  char hint[80];
  for (int i = 0; i < TF_N_KINDS; i++)
    if (tf_kind_arity((tf_kind)i)) tf_near_offer(&near, tf_kind_key((tf_kind)i));
  if (how)
    tf_fail(e->x->diags, tf_lex_at(name), TF_E_NAME, "no function '%.*s'; it is written: %s",
            shown(name->tok.len), text, how);
  else
    tf_fail(e->x->diags, tf_lex_at(name), TF_E_NAME, "no function '%.*s'%s", shown(name->tok.len),
            text, tf_near_text(&near, hint, sizeof hint));
}

/* NAME(args), the '(' standing next. */
static int parse_call(element *e, const tf_lex *name) {
  const char *text = tf_lex_text(name);
  int kind = tf_kind_find(text, name->tok.len), arity = 0, n = 0, arg[3] = {0};
  const tf_lex *at = name;
  if (kind >= 0) arity = tf_kind_arity((tf_kind)kind);
  if (arity == 0) {
    fail_function(e, name);
    return -1;
  }
  tf_lex_next(e->x);
  do {
    int a = parse_value(e);
    if (a < 0) return -1;
    if (n < 3) arg[n] = a;
    n++;
  } while (tf_lex_take(e->x, ','));
  if (!tf_lex_need(e->x, ')', "after the arguments")) return -1;
  if (n == arity) return append_call(e, at, (tf_kind)kind, n, arg);
  tf_fail(e->x->diags, tf_lex_at(at), TF_E_SYNTAX, "'%s' takes %d argument%s, not %d",
          tf_kind_key((tf_kind)kind), arity, arity > 1 ? "s" : "", n);
  return -1;
}

static int parse_read(element *e, tf_lex *name) {
  if (e->n_reads == TF_MAX_READS) {
    tf_fail(e->x->diags, tf_lex_at(name), TF_E_LIMIT, "more than %d tensors read by one op",
            TF_MAX_READS);
    return -1;
  }
  tf_ref *ref = &e->reads[e->n_reads];
  *ref = (tf_ref){0};
  *e->x = *name;
  if (!tf_parse_ref(e->w, e->x, ref, &e->spans[e->n_reads])) return -1;
  return append(e, name, (tf_expr){.what = TF_X_READ, .ref = e->n_reads++});
}

/* Reports what a bare name that is no param might have meant. */
static void fail_bare_name(element *e, const tf_lex *name) {
  tf_wl_reader *w = e->w;
  const char *text = tf_lex_text(name);
  size_t len = name->tok.len;
  tf_near near = tf_near_start(text, len);
  char hint[80];
  const tf_lex *at = name;
  w->failed = true;
  if (tf_find_tensor(w, text, len) >= 0) {
    tf_fail(e->x->diags, tf_lex_at(at), TF_E_SYNTAX, "tensor '%.*s' needs its indices: %.*s[...]",
            shown(len), text, shown(len), text);
    return;
  }
  for (int i = 0; i < w->wl->n_dims; i++)
    tf_near_offer(&near, w->wl->dims[i].name);
  for (size_t i = 0; tf_param_name(w->base->params, i); i++)
    tf_near_offer(&near, tf_param_name(w->base->params, i));
  tf_fail(e->x->diags, tf_lex_at(at), TF_E_NAME, "no param or dim '%.*s'%s", shown(len), text,
          tf_near_text(&near, hint, sizeof hint));
}

/* Whether a dim's name is that of a param, too (`dims: {m: m}`): as a value it could be the place
 * or the extent. */
static bool means_two(element *e, const tf_lex *name, int dim) {
  tf_loc at;
  const char *is = e->w->wl->dims[dim].name;
  if (!tf_param_find(e->w->base->params, e->w->base->file, is, &at)) return false;
  tf_fail(e->x->diags, tf_lex_at(name), TF_E_DUP,
          "'%.60s' is both a dim and a param, and as a value could mean either: give one of them "
          "another name",
          is);
  tf_note(e->x->diags, at, "the param is given here");
  e->w->failed = true;
  return true;
}

static int parse_name(element *e) {
  tf_lex name = *e->x;
  tf_value v = {0};
  tf_lex_next(e->x);
  if (tf_lex_is(e->x, '(')) return parse_call(e, &name);
  if (tf_lex_is(e->x, '[')) return parse_read(e, &name);
  int dim = tf_find_dim(e->w->wl, tf_lex_text(&name), name.tok.len);
  if (dim >= 0 && means_two(e, &name, dim)) return -1;
  if (dim >= 0) return append(e, &name, (tf_expr){.what = TF_X_DIM, .dim = dim});
  tf_param_state s = tf_param_value(e->w->base, tf_lex_text(&name), name.tok.len, &name, &v);
  if (s == TF_PARAM_UNKNOWN && tf_lex_word(&name, "inf")) return append_number(e, &name, INFINITY);
  if (s == TF_PARAM_UNKNOWN) fail_bare_name(e, &name);
  if (s == TF_PARAM_FAILED) e->w->failed = true;
  return append_number(e, &name, s == TF_PARAM_KNOWN ? v.f : 1);
}

static int parse_atom(element *e) {
  tf_lex here = *e->x;
  if (here.tok.kind == TF_T_NAME) return parse_name(e);
  if (here.tok.kind == TF_T_NUMBER) {
    tf_lex_next(e->x);
    if (isfinite(here.tok.value.f)) return append_number(e, &here, here.tok.value.f);
    tf_fail(e->x->diags, tf_lex_at(&here), TF_E_RANGE, "number too large");
    return -1;
  }
  if (!tf_lex_take(e->x, '(')) {
    tf_lex_fail(e->x, "a tensor, a function, a param or a number");
    return -1;
  }
  int root = parse_value(e);
  return root >= 0 && tf_lex_need(e->x, ')', "to close '('") ? root : -1;
}

static int parse_signed(element *e) {
  tf_reader *r = e->w->base;
  tf_lex here = *e->x;
  if (r->depth >= TF_MAX_DEPTH) {
    tf_fail(r->diags, tf_lex_at(&here), TF_E_LIMIT, "nested deeper than %d", TF_MAX_DEPTH);
    return -1;
  }
  r->depth++;
  bool minus = tf_lex_take(e->x, '-');
  int root = minus ? parse_signed(e) : parse_atom(e);
  r->depth--;
  return root >= 0 && minus ? append_call(e, &here, TF_K_NEG, 1, &root) : root;
}

/* Operands between which the first or the second of two signs stands, which group to the left. */
static int parse_chain(element *e, int (*operand)(element *), const char *signs,
                       const tf_kind *kinds) {
  int arg[2] = {operand(e), 0};
  while (arg[0] >= 0 && (tf_lex_is(e->x, signs[0]) || tf_lex_is(e->x, signs[1]))) {
    tf_lex here = *e->x;
    tf_lex_next(e->x);
    arg[1] = operand(e);
    if (arg[1] < 0) return -1;
    arg[0] = append_call(e, &here, kinds[here.tok.punct != signs[0]], 2, arg);
  }
  return arg[0];
}

static int parse_product(element *e) {
  return parse_chain(e, parse_signed, "*/", (const tf_kind[]){TF_K_MUL, TF_K_DIV});
}

static int parse_sum(element *e) {
  return parse_chain(e, parse_product, "+-", (const tf_kind[]){TF_K_ADD, TF_K_SUB});
}

/* ---- conditions --------------------------------------------------------------------- */
/* Reads the comparison that follows.  *swapped: its sides are exchanged.  -1: there is none. */
static int take_comparison(tf_lex *x, bool *swapped) {
  static const struct {
    const char *sign;
    tf_kind kind;
    bool swapped;
  } rows[] = {{"<=", TF_K_LE, false}, {">=", TF_K_LE, true}, {"==", TF_K_EQ, false},
              {"!=", TF_K_NE, false}, {"<", TF_K_LT, false}, {">", TF_K_LT, true}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows && x->tok.kind != TF_T_END; i++) {
    size_t n = strlen(rows[i].sign);
    if (x->tok.at + n > x->node->len || memcmp(tf_lex_text(x), rows[i].sign, n) != 0) continue;
    x->tok.len = n;
    tf_lex_next(x);
    *swapped = rows[i].swapped;
    return (int)rows[i].kind;
  }
  return -1;
}

static int parse_comparison(element *e) {
  int arg[2] = {parse_sum(e), 0};
  tf_lex here = *e->x;
  bool swapped;
  if (arg[0] >= 0 && tf_lex_is(e->x, '=') && tf_lex_text(e->x)[1] != '=') {
    tf_fail(e->x->diags, tf_lex_at(e->x), TF_E_SYNTAX,
            "'=' compares nothing; did you mean '==', '<=' or '>='?");
    return -1;
  }
  int kind = arg[0] < 0 ? -1 : take_comparison(e->x, &swapped);
  if (kind < 0) return arg[0];
  arg[1] = parse_sum(e);
  if (arg[1] < 0) return -1;
  tf_lex again = *e->x;
  bool dummy;
  if (take_comparison(e->x, &dummy) >= 0) {
    tf_fail(e->x->diags, tf_lex_at(&again), TF_E_SYNTAX,
            "a comparison of a comparison; join two by 'and': a < b and b < c");
    return -1;
  }
  return append_call(e, &here, (tf_kind)kind, 2, swapped ? (int[]){arg[1], arg[0]} : arg);
}

/* The value as a condition: 1 where it is not 0. */
static int as_truth(element *e, const tf_lex *at, int root) {
  const tf_expr *x = &e->expr[root];
  if (x->what == TF_X_CALL && x->call >= TF_K_LT) return root;
  int arg[2] = {root, append_number(e, at, 0)};
  return arg[1] < 0 ? -1 : append_call(e, at, TF_K_NE, 2, arg);
}

static int parse_not(element *e) {
  tf_lex here = *e->x, next = here;
  if (!tf_lex_word(&here, "not")) return parse_comparison(e);
  tf_lex_next(&next);
  if (tf_lex_is(&next, '[')) return parse_comparison(e); /* a tensor of that name */
  if (e->w->base->depth >= TF_MAX_DEPTH) {
    tf_fail(e->x->diags, tf_lex_at(&here), TF_E_LIMIT, "nested deeper than %d", TF_MAX_DEPTH);
    return -1;
  }
  e->w->base->depth++;
  *e->x = next;
  int arg[2] = {parse_not(e), 0};
  e->w->base->depth--;
  if (arg[0] < 0 || (arg[1] = append_number(e, &here, 0)) < 0) return -1;
  return append_call(e, &here, TF_K_EQ, 2, arg);
}

/* Conditions joined by a word: `and` takes the minimum, `or` the maximum. */
static int parse_joined(element *e, const char *word, tf_kind kind, int (*part)(element *)) {
  int arg[2] = {part(e), 0};
  for (int n = 0; arg[0] >= 0 && tf_lex_word(e->x, word); n++) {
    tf_lex here = *e->x;
    if (n == 0) arg[0] = as_truth(e, &here, arg[0]);
    tf_lex_next(e->x);
    arg[1] = arg[0] < 0 ? -1 : part(e);
    arg[1] = arg[1] < 0 ? -1 : as_truth(e, &here, arg[1]);
    if (arg[1] < 0) return -1;
    arg[0] = append_call(e, &here, kind, 2, arg);
  }
  return arg[0];
}

static int parse_and(element *e) { return parse_joined(e, "and", TF_K_MIN, parse_not); }

static int parse_value(element *e) { return parse_joined(e, "or", TF_K_MAX, parse_and); }

bool tf_parse_element(tf_wl_reader *w, tf_lex *x, tf_op *op, tf_op_source *src) {
  tf_arena *a = w->base->arena;
  element e = {.w = w, .x = x};
  if (parse_value(&e) < 0) return false;
  if (x->tok.kind != TF_T_END) return tf_lex_fail(x, "an operator or the end");
  op->n_reads = e.n_reads;
  op->n_expr = e.n_expr;
  op->reads = TF_ARRAY(a, tf_ref, (size_t)e.n_reads);
  op->expr = TF_ARRAY(a, tf_expr, (size_t)e.n_expr);
  src->index = TF_ARRAY(a, tf_span *, (size_t)e.n_reads);
  if (!op->reads || !op->expr || !src->index) return tf_no_memory(w->base);
  memcpy(op->reads, e.reads, (size_t)e.n_reads * sizeof *e.reads);
  memcpy(op->expr, e.expr, (size_t)e.n_expr * sizeof *e.expr);
  memcpy(src->index, e.spans, (size_t)e.n_reads * sizeof *e.spans);
  return true;
}
