/* Index expressions: affine forms of dims with whole coefficients. */
#include <string.h>

#include "base/checked.h"
#include "base/names.h"
#include "model/spec/workload_read.h"

static bool fail_overflow(tf_wl_reader *w, const tf_lex *at) {
  return tf_fail(w->base->diags, tf_lex_at(at), TF_E_RANGE, "the index passes 2^63 - 1");
}

/* a += factor * b. */
static bool add_scaled(tf_affine *a, const tf_affine *b, int64_t factor) {
  int64_t k;
  if (!tf_mul(b->c, factor, &k) || !tf_add(a->c, k, &a->c)) return false;
  for (int i = 0; i < b->n; i++) {
    int at = 0;
    while (at < a->n && a->term[at].dim != b->term[i].dim)
      at++;
    if (at == a->n) a->term[a->n++] = (tf_term){b->term[i].dim, 0};
    if (!tf_mul(b->term[i].coef, factor, &k)) return false;
    if (!tf_add(a->term[at].coef, k, &a->term[at].coef)) return false;
  }
  return true;
}

static bool constant(const tf_affine *a) {
  for (int i = 0; i < a->n; i++)
    if (a->term[i].coef != 0) return false;
  return true;
}

static bool scale(tf_affine *a, int64_t factor) {
  bool fits = tf_mul(a->c, factor, &a->c);
  for (int i = 0; i < a->n && fits; i++)
    fits = tf_mul(a->term[i].coef, factor, &a->term[i].coef);
  return fits;
}

/* a = a * b where one of them is constant, a / b where both are and b divides a. */
static bool multiply(tf_wl_reader *w, const tf_lex *at, char op, tf_affine *a, const tf_affine *b) {
  bool both = constant(a) && constant(b);
  if (op == '/' && both && b->c != 0 && b->c != -1 && a->c % b->c == 0) {
    a->c /= b->c;
    return true;
  }
  if (op == '*' && constant(b)) return scale(a, b->c) || fail_overflow(w, at);
  if (op == '*' && constant(a)) {
    int64_t factor = a->c;
    *a = *b;
    return scale(a, factor) || fail_overflow(w, at);
  }
  return tf_fail(w->base->diags, tf_lex_at(at), TF_E_INDEX,
                 op == '*' ? "an index is affine: dims are multiplied by constants only"
                           : "an index is affine: only constants divide, and without a rest; for K[h / 4] give h two "
                             "dims, K[g] and Q[g,r]");
}

static bool fail_not_whole(tf_wl_reader *w, tf_loc at, double f) {
  return tf_fail(w->base->diags, at, TF_E_INDEX, "indices are whole numbers, not %g", f);
}

/* A dim, else a param.  What is neither is reported and counts as 0. */
static void use_name(tf_wl_reader *w, tf_lex *x, tf_affine *out) {
  const tf_workload *wl = w->wl;
  const char *name = tf_lex_text(x);
  size_t len = x->tok.len;
  int dim = tf_find_dim(wl, name, len);
  tf_value v;
  if (dim >= 0) {
    out->n = 1;
    out->term[0] = (tf_term){dim, 1};
    return;
  }
  tf_param_state s = tf_param_value(w->base, name, len, x, &v);
  if (s == TF_PARAM_KNOWN && v.whole) {
    out->c = v.i;
    return;
  }
  w->failed = true;
  if (s == TF_PARAM_KNOWN) fail_not_whole(w, tf_lex_at(x), v.f);
  if (s != TF_PARAM_UNKNOWN) return;
  tf_near near = tf_near_start(name, len);
  char hint[80];
  for (int i = 0; i < wl->n_dims; i++)
    tf_near_offer(&near, wl->dims[i].name);
  for (size_t i = 0; tf_param_name(w->base->params, i); i++)
    tf_near_offer(&near, tf_param_name(w->base->params, i));
  tf_fail(w->base->diags, tf_lex_at(x), TF_E_NAME, "no dim '%.*s'%s", (int)(len < 60 ? len : 60), name,
          tf_near_text(&near, hint, sizeof hint));
}

static bool parse_atom(tf_wl_reader *w, tf_lex *x, tf_affine *out) {
  out->n = 0;
  out->c = 0;
  if (x->tok.kind == TF_T_NUMBER && !x->tok.value.whole) {
    w->failed = true;
    fail_not_whole(w, tf_lex_at(x), x->tok.value.f);
  }
  if (x->tok.kind == TF_T_NUMBER) out->c = x->tok.value.i;
  if (x->tok.kind == TF_T_NAME) use_name(w, x, out);
  if (x->tok.kind == TF_T_NUMBER || x->tok.kind == TF_T_NAME) {
    tf_lex_next(x);
    return true;
  }
  if (!tf_lex_take(x, '(')) return tf_lex_fail(x, "an index of dims");
  return tf_parse_affine(w, x, out) && tf_lex_need(x, ')', "to close '('");
}

static bool parse_signed(tf_wl_reader *w, tf_lex *x, tf_affine *out) {
  if (w->base->depth >= TF_MAX_DEPTH)
    return tf_fail(x->diags, tf_lex_at(x), TF_E_LIMIT, "nested deeper than %d", TF_MAX_DEPTH);
  w->base->depth++;
  tf_lex here = *x;
  bool minus = tf_lex_take(x, '-');
  bool ok = minus ? parse_signed(w, x, out) : parse_atom(w, x, out);
  w->base->depth--;
  if (!ok || !minus) return ok;
  return scale(out, -1) || fail_overflow(w, &here);
}

static bool parse_product(tf_wl_reader *w, tf_lex *x, tf_affine *out) {
  if (!parse_signed(w, x, out)) return false;
  while (tf_lex_is(x, '*') || tf_lex_is(x, '/')) {
    tf_affine b;
    tf_lex here = *x;
    tf_lex_next(x);
    if (!parse_signed(w, x, &b)) return false;
    if (!multiply(w, &here, here.tok.punct, out, &b)) w->failed = true;
  }
  return true;
}

bool tf_parse_affine(tf_wl_reader *w, tf_lex *x, tf_affine *out) {
  if (!parse_product(w, x, out)) return false;
  while (tf_lex_is(x, '+') || tf_lex_is(x, '-')) {
    tf_affine b;
    tf_lex here = *x;
    tf_lex_next(x);
    if (!parse_product(w, x, &b)) return false;
    if (add_scaled(out, &b, here.tok.punct == '+' ? 1 : -1)) continue;
    w->failed = true;
    fail_overflow(w, &here);
  }
  return true;
}
