/* Quotients of forms over parts, and the cuts without which they are not affine. */
#include "model/input/cut/divide.h"

#include <stdio.h>
#include <string.h>

#include "base/checked.h"

void tf_part_name(const tf_cutting *c, int part, char *out, size_t room) {
  const tf_part *p = &c->part[part];
  const tf_dim *d = &c->was[p->dim];
  const bool top = p->weight * p->extent == d->extent;
  int n = snprintf(out, room, "%.200s", d->name);
  if (p->weight > 1) n += snprintf(out + n, room - (size_t)n, "_div%lld", (long long)p->weight);
  if (!top)
    snprintf(out + n, room - (size_t)n, "%smod%lld", p->weight > 1 ? "" : "_",
             (long long)p->extent);
}

/* ---- forms over parts --------------------------------------------------------------- */
bool cut_fail_form(const tf_cutting *c, const tf_affine *a, tf_loc at) {
  if (a->n == TF_FORM_TERMS)
    return tf_fail(c->diags, at, TF_E_LIMIT, "an index of more than %d terms", TF_FORM_TERMS);
  return tf_fail(c->diags, at, TF_E_RANGE, "the index passes 2^63 - 1");
}

bool cut_form(const tf_cutting *c, const tf_index *x, tf_loc at, tf_affine *out) {
  bool fits = true;
  *out = (tf_affine){.c = x->c};
  for (int t = 0; t < x->n_terms && fits; t++) {
    const tf_term *term = &x->terms[t];
    if (term->dim >= TF_FLOOR) fits = tf_form_add(out, &c->value[term->dim - TF_FLOOR], term->coef);
    for (int p = 0; p < c->n_parts && term->dim < TF_FLOOR && fits; p++) {
      int64_t coef;
      if (c->part[p].dim != term->dim) continue;
      fits = tf_mul(term->coef, c->part[p].weight, &coef) && tf_form_add_term(out, p, coef);
    }
  }
  return fits || cut_fail_form(c, out, at);
}

/* ---- quotients ---------------------------------------------------------------------- */
/* `rest` as text. */
static void say_rest(const tf_cutting *c, const tf_affine *rest, char *out, size_t room) {
  size_t n = 0;
  out[0] = 0;
  for (int t = 0; t < rest->n && n + 32 < room;
       t++) { /* the message shows no more than its beginning */
    char name[300];
    const long long coef = rest->term[t].coef, size = coef < 0 ? -coef : coef;
    tf_part_name(c, rest->term[t].dim, name, sizeof name);
    n += (size_t)snprintf(out + n, room - n, coef < 0 ? (n ? " - " : "-") : n ? " + " : "");
    if (size != 1) n += (size_t)snprintf(out + n, room - n, "%lld*", size);
    n += (size_t)snprintf(out + n, room - n, "%.60s", name);
    if (n >= room) n = room - 1;
  }
  if (rest->c && n + 32 < room)
    snprintf(out + n, room - n, rest->c < 0 ? " - %llu" : " + %llu",
             rest->c < 0 ? 0 - (unsigned long long)rest->c : (unsigned long long)rest->c);
}

static cut_outcome fail_read(const tf_cutting *c, const cut_asker *by) {
  const tf_tensor *z = &c->wl->tensors[by->read->tensor];
  tf_fail(c->diags, by->at, TF_E_INDEX,
          "'%.60s' is made in parts, as a dim of it is cut, and this reads across them: divide "
          "alike, or in a network read a view of it",
          z->name);
  tf_note(c->diags, z->at, "made here");
  const tf_op *op = &c->wl->ops[z->producer];
  for (int i = 0; i < op->n_dims; i++)
    if (c->because[op->dims[i]].line)
      tf_note(c->diags, c->because[op->dims[i]], "'%.60s' is cut for this",
              c->was[op->dims[i]].name);
  return CUT_NEVER;
}

static cut_outcome fail_floor(const tf_cutting *c, const tf_affine *rest, int64_t m,
                              const int64_t reach[2], int stays, const cut_asker *by) {
  char text[400];
  if (by->read) return fail_read(c, by);
  if (stays >= 0) {
    tf_part_name(c, stays, text, sizeof text);
    tf_fail(c->diags, by->at, TF_E_INDEX,
            "'%.80s' has %lld steps, which a division by %lld does not cut evenly", text,
            (long long)c->part[stays].extent, (long long)m);
    return CUT_NEVER;
  }
  say_rest(c, rest, text, sizeof text);
  tf_fail(c->diags, by->at, TF_E_INDEX,
          "divided by %lld this leaves %.90s, which runs over %lld .. %lld, past a multiple of "
          "%lld: it is affine in no parts of its dims",
          (long long)m, text, (long long)reach[0], (long long)reach[1], (long long)m);
  return CUT_NEVER;
}

static cut_outcome cut(tf_cutting *c, int part, int64_t extent, tf_loc at) {
  if (c->n_parts == TF_CUT_DIMS) {
    tf_fail(c->diags, at, TF_E_LIMIT, "more than %d dims once those that are divided are cut",
            TF_CUT_DIMS);
    return CUT_NEVER;
  }
  tf_part *p = &c->part[part];
  memmove(p + 1, p, (size_t)(c->n_parts++ - part) * sizeof *p);
  p[1].extent = extent;
  p[0].extent /= extent;
  p[0].weight *= extent;
  c->because[p->dim] = at;
  return CUT_AGAIN;
}

/* What is divided by m, less multiples of it: term t has the coefficient rest.term[t].coef, or that
 * less its sign's m where bit t of `wrapped` is set. */
typedef struct {
  tf_affine rest;
  int64_t m;
  unsigned wrapped;
  int64_t lo, hi; /* the values that it takes */
} remains;

static int64_t sign(int64_t x) { return x < 0 ? -1 : 1; }

static bool is_wrapped(const remains *x, int t) { return t < 32 && x->wrapped >> t & 1; }

static bool find_reach(const tf_cutting *c, remains *x) {
  x->lo = x->hi = x->rest.c;
  for (int t = 0; t < x->rest.n; t++) {
    const tf_term *term = &x->rest.term[t];
    const int64_t r = is_wrapped(x, t) ? term->coef - sign(term->coef) * x->m : term->coef;
    int64_t far, *end = r > 0 ? &x->hi : &x->lo;
    if (!tf_mul(r, c->part[term->dim].extent - 1, &far) || !tf_add(*end, far, end)) return false;
  }
  return true;
}

static bool within_one(const remains *x) {
  int64_t from, room;
  return tf_mul(tf_floor_div(x->lo, x->m), x->m, &from) && tf_sub(x->hi, from, &room) &&
         room < x->m;
}

/* Wraps terms until what remains lies within one multiple of m: of 3*a + 1 with two steps, modulo
 * 2, -a + 1. */
static bool turn(const tf_cutting *c, remains *x) {
  enum { MOST = 6 };
  const unsigned n = 1u << (x->rest.n < MOST ? x->rest.n : MOST);
  for (x->wrapped = 0; x->wrapped < n; x->wrapped++)
    if (find_reach(c, x) && within_one(x)) return true;
  x->wrapped = 0;
  return false;
}

/* Splits e into m * out + rest. */
static bool take_multiples(const tf_affine *e, int64_t m, tf_affine *out, tf_affine *rest) {
  *out = (tf_affine){0};
  *rest = (tf_affine){.c = e->c};
  for (int t = 0; t < e->n; t++) {
    const int64_t r = e->term[t].coef % m;
    if (!tf_form_add_term(out, e->term[t].dim, e->term[t].coef / m)) return false;
    if (r) rest->term[rest->n++] = (tf_term){e->term[t].dim, r};
  }
  return true;
}

cut_outcome cut_divide(tf_cutting *c, const tf_affine *e, int64_t m, const cut_asker *by,
                       tf_affine *out) {
  remains x = {.m = m};
  bool fits = take_multiples(e, m, out, &x.rest);
  if (fits && turn(c, &x)) {
    out->c = tf_floor_div(x.lo, m);
    for (int t = 0; t < x.rest.n && fits; t++)
      if (is_wrapped(&x, t))
        fits = tf_form_add_term(out, x.rest.term[t].dim, sign(x.rest.term[t].coef));
    if (fits) return CUT_DONE;
  }
  if (!fits || !find_reach(c, &x)) {
    cut_fail_form(c, out, by->at);
    return CUT_NEVER;
  }
  int stays = -1;
  for (int t = 0; t < x.rest.n; t++) {
    const int part = x.rest.term[t].dim;
    const int64_t r = x.rest.term[t].coef, period = m / tf_gcd(m, r < 0 ? -r : r),
                  n = c->part[part].extent;
    if (n > period && n % period == 0) return cut(c, part, period, by->at);
    if (n > period) stays = part;
  }
  return fail_floor(c, &x.rest, m, (int64_t[]){x.lo, x.hi}, stays, by);
}

/* ---- ranks in parts ------------------------------------------------------------------ */
int cut_rank_parts(const tf_cutting *c, const tf_affine *a, tf_term *part) {
  int64_t next = 1;
  int n = 0;
  for (int t = 0; t < a->n; t++) {
    int at = n;
    if (a->term[t].coef == 0) continue;
    for (;
         at > 0 && (part[at - 1].coef > a->term[t].coef ||
                    (part[at - 1].coef == a->term[t].coef && c->part[part[at - 1].dim].extent > 1));
         at--)
      part[at] = part[at - 1];
    part[at] = a->term[t];
    n++;
  }
  for (int t = 0; t < n; t++)
    if (part[t].coef != next || !tf_mul(next, c->part[part[t].dim].extent, &next)) return 0;
  return a->c == 0 ? n : 0;
}

cut_outcome cut_spread(tf_cutting *c, const tf_affine *e, const tf_term *part, int n,
                       const cut_asker *by, tf_affine *out) {
  out[n - 1] = *e;
  for (int i = 1; i < n; i++) {
    tf_affine *above = &out[n - 1 - i], *below = &out[n - i];
    const cut_outcome o = cut_divide(c, e, part[i].coef, by, above);
    if (o != CUT_DONE) return o;
    if (tf_form_add(below, above, -(part[i].coef / part[i - 1].coef))) continue;
    cut_fail_form(c, below, by->at);
    return CUT_NEVER;
  }
  return CUT_DONE;
}
