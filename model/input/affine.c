/* Index expressions: affine forms, with whole coefficients, of dims and of quotients by numbers. */
#include <string.h>

#include "base/checked.h"
#include "base/names.h"
#include "model/input/dims.h"
#include "model/input/workload_read.h"

_Static_assert((int)TF_CUT_DIMS == TF_MAX_DIMS && (int)TF_CUT_OP_DIMS == TF_MAX_OP_DIMS &&
                   (int)TF_CUT_RANK == TF_MAX_RANK && (int)TF_CUT_EXPR == TF_MAX_EXPR,
               "limits of the rooms agree");

static bool fail_overflow(tf_wl_reader *w, const tf_lex *at) {
  return tf_fail(w->base->diags, tf_lex_at(at), TF_E_RANGE, "the index passes 2^63 - 1");
}

/* a += factor * b. */
static bool add_scaled(tf_wl_reader *w, const tf_lex *at, tf_affine *a, const tf_affine *b,
                       int64_t factor) {
  if (tf_form_add(a, b, factor)) return true;
  if (a->n < TF_FORM_TERMS) return fail_overflow(w, at);
  return tf_fail(w->base->diags, tf_lex_at(at), TF_E_LIMIT, "an index of more than %d terms",
                 TF_FORM_TERMS);
}

/* a = a * b where one of them is constant. */
static bool multiply(tf_wl_reader *w, const tf_lex *at, tf_affine *a, const tf_affine *b) {
  if (tf_form_constant(b)) return tf_form_scale(a, b->c) || fail_overflow(w, at);
  if (tf_form_constant(a)) {
    int64_t factor = a->c;
    *a = *b;
    return tf_form_scale(a, factor) || fail_overflow(w, at);
  }
  return tf_fail(w->base->diags, tf_lex_at(at), TF_E_INDEX,
                 "dims of an index are multiplied by numbers only");
}

/* x = f + c with f = y / m: then x / by = (y + c * m) / (m * by). */
static bool join_quotients(const tf_wl_reader *w, tf_affine *x, int64_t *by) {
  tf_affine y = {.c = 0};
  if (x->n != 1 || x->term[0].dim < TF_FLOOR || x->term[0].coef != 1) return false;
  const tf_floor *f = &w->floors[x->term[0].dim - TF_FLOOR];
  int64_t m;
  y.n = f->dividend.n_terms;
  memcpy(y.term, f->dividend.terms, (size_t)y.n * sizeof *y.term);
  if (!tf_mul(f->divisor, *by, &m) || !tf_mul(x->c, f->divisor, &y.c) ||
      !tf_add(y.c, f->dividend.c, &y.c))
    return false;
  *x = y;
  *by = m;
  return true;
}

/* The number of the quotient x / by, added unless the workload has it; -1 after an error. */
static int find_floor(tf_wl_reader *w, const tf_affine *written, int64_t by, tf_loc at) {
  tf_index of;
  tf_affine joined = *written, *x = &joined;
  while (join_quotients(w, x, &by))
    continue;
  if (!w->floors) w->floors = TF_ARRAY(w->base->arena, tf_floor, TF_MAX_FLOORS);
  if (!w->floors || !tf_form_keep(x, w->base->arena, &of)) return tf_no_memory(w->base) ? 0 : -1;
  for (int f = 0; f < w->n_floors; f++)
    if (w->floors[f].divisor == by && tf_index_same(&w->floors[f].dividend, &of)) return f;
  if (w->n_floors < TF_MAX_FLOORS) {
    w->floors[w->n_floors] = (tf_floor){of, by, at};
    return w->n_floors++;
  }
  tf_fail(w->base->diags, at, TF_E_LIMIT, "more than %d different quotients in indices",
          TF_MAX_FLOORS);
  return -1;
}

/* Whether it is y % m with m at most b: its quotient is 0, however y is cut. */
static bool rest_below(const tf_wl_reader *w, const tf_affine *a, int64_t b) {
  for (int t = 0; t < a->n; t++) {
    if (a->term[t].dim < TF_FLOOR) continue;
    const tf_floor *f = &w->floors[a->term[t].dim - TF_FLOOR];
    tf_affine y = {.n = f->dividend.n_terms, .c = f->dividend.c};
    memcpy(y.term, f->dividend.terms, (size_t)y.n * sizeof *y.term);
    if (a->term[t].coef != -f->divisor || f->divisor > b ||
        !tf_form_add_term(&y, a->term[t].dim, -f->divisor))
      continue;
    if (tf_form_add(&y, a, -1) && tf_form_constant(&y) && y.c == 0) return true;
  }
  return false;
}

/* a = a / b, rounded down, or a % b, where b is a number of 1 or more. */
static bool divide(tf_wl_reader *w, tf_lex *x, const tf_lex *sign, size_t from, tf_affine *a,
                   const tf_affine *b) {
  const bool rest = tf_lex_is(sign, '%');
  if (!tf_form_constant(b))
    return tf_fail(w->base->diags, tf_lex_at(sign), TF_E_INDEX,
                   "an index is divided by numbers only");
  if (b->c < 1)
    return tf_fail(w->base->diags, tf_lex_at(sign), TF_E_RANGE,
                   "an index is divided by 1 or more, not by %lld", (long long)b->c);
  tf_affine quotient = {.c = tf_floor_div(a->c, b->c)};
  if (b->c == 1) quotient = *a;
  if (rest_below(w, a, b->c))
    quotient = (tf_affine){.c = 0};
  else if (b->c > 1 && !tf_form_constant(a)) {
    const int f = find_floor(w, a, b->c, tf_lex_since(x, from));
    if (f < 0) return false;
    quotient = (tf_affine){1, {{TF_FLOOR + f, 1}}, 0};
  }
  if (rest) return add_scaled(w, sign, a, &quotient, -b->c);
  *a = quotient;
  return true;
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
  tf_fail(w->base->diags, tf_lex_at(x), TF_E_NAME, "no dim '%.*s'%s", (int)(len < 60 ? len : 60),
          name, tf_near_text(&near, hint, sizeof hint));
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
  return tf_form_scale(out, -1) || fail_overflow(w, &here);
}

static bool parse_product(tf_wl_reader *w, tf_lex *x, tf_affine *out) {
  const size_t from = x->tok.at;
  if (!parse_signed(w, x, out)) return false;
  while (tf_lex_is(x, '*') || tf_lex_is(x, '/') || tf_lex_is(x, '%')) {
    tf_affine b;
    tf_lex here = *x;
    tf_lex_next(x);
    const bool before = w->failed;
    w->failed = false;
    if (!parse_signed(w, x, &b)) return false;
    if (w->failed) continue; /* nobody knows by what */
    const bool fits =
        tf_lex_is(&here, '*') ? multiply(w, &here, out, &b) : divide(w, x, &here, from, out, &b);
    w->failed = before || !fits;
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
    if (!add_scaled(w, &here, out, &b, here.tok.punct == '+' ? 1 : -1)) w->failed = true;
  }
  return true;
}
