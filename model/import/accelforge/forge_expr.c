/* Expressions of AccelForge's files: the part of Python by which they say numbers, conditions, and
 * sets of an Einsum's tensors. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/import/accelforge/forge.h"

enum { MOST_DEEP = 32, MOST_ARGUMENTS = 16, MOST_TEXT = 4096, MOST_TEXTS = 1024 };

typedef struct {
  forge *f;
  int e, part, deep;
  const char *text, *p;
} walk;

static fg_value number(double x) { return (fg_value){.is = FG_NUMBER, .number = x}; }

static fg_value set(uint32_t x) { return (fg_value){.is = FG_SET, .set = x}; }

static fg_value unknown(const walk *w, const char *from, size_t len, const char *why) {
  return (fg_value){
      .is = FG_UNKNOWN, .why = why, .off = (size_t)(from - w->text), .len = len ? len : 1};
}

static bool truth(fg_value v) { return v.is == FG_SET ? v.set != 0 : v.number != 0; }

static fg_value eval_choice(walk *w);
static fg_value eval_text(forge *f, const char *text, int e, int part, int deep);

/* Takes the sign, or the word if it ends there. */
static bool take(walk *w, const char *sign) {
  const size_t n = strlen(sign);
  w->p = fg_past_blanks(w->p);
  if (strncmp(w->p, sign, n) != 0) return false;
  if (isalpha((unsigned char)*sign) && (isalnum((unsigned char)w->p[n]) || w->p[n] == '_'))
    return false;
  w->p += n;
  return true;
}

static uint32_t all_of(const forge *f, int e) {
  return f->einsum[e].n == 32 ? UINT32_MAX : (UINT32_C(1) << f->einsum[e].n) - 1;
}

/* Of the accesses of e those whose tensor another Einsum touches; made: one makes it, and another
 * one reads it. */
static uint32_t shared(const forge *f, int e, bool made) {
  const fg_einsum *one = &f->einsum[e];
  uint32_t out = 0;
  for (int i = 0; i < one->n; i++) {
    bool written = false, read = false, other = false;
    for (int k = 0; k < f->n_einsums; k++)
      for (int j = 0; j < f->einsum[k].n; j++) {
        if (f->einsum[k].tensor[j] != one->tensor[i]) continue;
        const bool makes = f->einsum[k].outputs >> j & 1;
        written |= makes;
        read |= !makes;
        other |= k != e;
      }
    if (made ? written && read : other) out |= UINT32_C(1) << i;
  }
  return out;
}

/* The set's text in `renames`: of an Einsum its own, else those of all. */
static const tf_ynode *renamed(const tf_ynode *renames, const char *name) {
  const tf_ynode *own = fg_member(renames, name);
  if (own) return own->kind == TF_Y_MAP ? fg_member(own, "source") : own;
  for (size_t i = 0; renames && renames->kind == TF_Y_LIST && i < renames->n; i++) {
    const tf_ynode *called = fg_member(renames->items[i], "name");
    if (called && called->kind == TF_Y_SCALAR && tf_ynode_is(called, name))
      return fg_member(renames->items[i], "source");
  }
  return NULL;
}

static const tf_ynode *rename_of(const forge *f, int e, const char *name) {
  const tf_ynode *own = renamed(f->einsum[e].renames, name);
  const tf_ynode *all = fg_member(f->renames, "einsums");
  for (size_t i = 0; !own && all && all->kind == TF_Y_LIST && i < all->n; i++) {
    const tf_ynode *whose = fg_member(all->items[i], "name");
    if (whose && whose->kind == TF_Y_SCALAR &&
        (tf_ynode_is(whose, "default") || tf_ynode_is(whose, f->einsum[e].name)))
      own = renamed(fg_member(all->items[i], "tensor_accesses"), name);
  }
  return own && own->kind == TF_Y_SCALAR ? own : NULL;
}

/* A set that a name says; false: none does. */
static bool find_set(walk *w, const char *name, fg_value *out) {
  const forge *f = w->f;
  const bool all = !strcmp(name, "All") || !strcmp(name, "Tensors");
  const bool known = all || !strcmp(name, "Nothing") || !strcmp(name, "Inputs") ||
                     !strcmp(name, "Outputs") || !strcmp(name, "Intermediates") ||
                     !strcmp(name, "Shared");
  int part = 0;
  while (part < f->n_parts && strcmp(f->part[part].name, name) != 0)
    part++;
  if (w->e < 0) {
    if (known) *out = unknown(w, w->p, 1, "it depends on the tensors of an Einsum");
    return known;
  }
  const fg_einsum *e = &f->einsum[w->e];
  *out = set(0);
  for (int i = 0; i < e->n; i++)
    if (!strcmp(f->tensor[e->tensor[i]], name)) return *out = set(UINT32_C(1) << i), true;
  for (int z = 0; z < f->n_tensors; z++)
    if (!strcmp(f->tensor[z], name)) return true;
  const tf_ynode *as = rename_of(f, w->e, name);
  if (as) return *out = eval_text(w->f, as->text, w->e, -1, w->deep + 1), true;
  if (part < f->n_parts && f->part[part].keep) {
    *out = eval_text(w->f, f->part[part].keep->text, w->e, part, w->deep + 1);
    return true;
  }
  if (all) *out = set(all_of(f, w->e));
  if (!strcmp(name, "Inputs")) *out = set(all_of(f, w->e) & ~e->outputs);
  if (!strcmp(name, "Outputs")) *out = set(e->outputs);
  if (!strcmp(name, "Intermediates")) *out = set(shared(f, w->e, true));
  if (!strcmp(name, "Shared")) *out = set(shared(f, w->e, false));
  return known;
}

static fg_value eval_name(walk *w, const char *name, const char *from) {
  fg_value found;
  const tf_ynode *own = w->part >= 0 ? fg_member(w->f->part[w->part].node, name) : NULL;
  if (!strcmp(name, "inf")) return number(INFINITY);
  if (!strcmp(name, "pi")) return number(3.14159265358979323846);
  if (!strcmp(name, "True") || !strcmp(name, "true")) return number(1);
  if (!strcmp(name, "False") || !strcmp(name, "false")) return number(0);
  for (int i = 0; i < 2 && !own; i++)
    own = fg_member(w->f->variables[i], name);
  if (own && own->kind == TF_Y_SCALAR)
    return eval_text(w->f, own->text, w->e, w->part, w->deep + 1);
  if (find_set(w, name, &found)) return found;
  return unknown(w, from, strlen(name), "nothing defines it, or it depends on an Einsum");
}

static fg_value call_function(walk *w, const char *name, const char *from) {
  fg_value a[MOST_ARGUMENTS];
  int n = 0;
  if (!take(w, ")")) do {
      if (n == MOST_ARGUMENTS) return unknown(w, from, strlen(name), "it has too many arguments");
      a[n++] = eval_choice(w);
    } while (take(w, ","));
  if (n && !take(w, ")")) return unknown(w, w->p, 1, "a ')' is missing here");
  for (int i = 0; i < n; i++)
    if (a[i].is == FG_UNKNOWN) return a[i];
  const double x = n && a[0].is == FG_NUMBER ? a[0].number : NAN;
  if (n == 1 && a[0].is == FG_SET && !strcmp(name, "len"))
    return number(__builtin_popcount(a[0].set));
  if (n >= 1 && (!strcmp(name, "min") || !strcmp(name, "max"))) {
    double best = x;
    for (int i = 1; i < n; i++) {
      const double y = a[i].is == FG_NUMBER ? a[i].number : NAN;
      best = (*(name + 1) == 'i') == (y < best) ? y : best;
    }
    return number(best);
  }
  static const struct {
    const char *name;
    double (*of)(double);
  } one[] = {{"ceil", ceil}, {"floor", floor}, {"round", rint}, {"abs", fabs}, {"sqrt", sqrt},
             {"log2", log2}, {"int", trunc},   {"exp", exp},    {"log", log},  {"log10", log10}};
  for (size_t i = 0; n == 1 && i < sizeof one / sizeof one[0]; i++)
    if (!strcmp(name, one[i].name)) return number(one[i].of(x));
  if (n == 1 && !strcmp(name, "float")) return a[0];
  if (n == 2 && !strcmp(name, "pow") && a[1].is == FG_NUMBER) return number(pow(x, a[1].number));
  return unknown(w, from, strlen(name), "this function is not read");
}

/* Bits of the one tensor of a set. */
static fg_value bits_of(const walk *w, fg_value v, const char *from, size_t len) {
  if (v.is != FG_SET || w->e < 0 || __builtin_popcount(v.set) != 1)
    return unknown(w, from, len, "bits are those of one tensor");
  const int64_t bits = w->f->tensor_bits[w->f->einsum[w->e].tensor[__builtin_ctz(v.set)]];
  return bits ? number((double)bits) : unknown(w, from, len, "the workload gives no bits");
}

static fg_value eval_atom(walk *w) {
  char name[FG_NAME];
  const char *from = w->p = fg_past_blanks(w->p);
  fg_value v;
  if (take(w, "(")) {
    v = eval_choice(w);
    if (!take(w, ")")) return unknown(w, w->p, 1, "a ')' is missing here");
  } else if (isdigit((unsigned char)*from) || *from == '.') {
    char *end;
    v = number(strtod(from, &end));
    if (end == from) return unknown(w, from, 1, "a number or a name is missing here");
    w->p = end;
  } else {
    const char *next = fg_take_name(from, name);
    if (!next) return unknown(w, from, 1, "a number or a name is missing here");
    w->p = next;
    v = take(w, "(") ? call_function(w, name, from) : eval_name(w, name, from);
  }
  while (take(w, ".")) {
    const char *next = fg_take_name(w->p, name);
    if (!next) return unknown(w, w->p, 1, "a name is missing here");
    w->p = next;
    if (v.is == FG_UNKNOWN || !strcmp(name, "tensors") || !strcmp(name, "Tensors")) continue;
    v = strcmp(name, "bits_per_value") ? unknown(w, from, (size_t)(next - from), "it is not read")
                                       : bits_of(w, v, from, (size_t)(next - from));
  }
  return v;
}

/* `-`, `~` and powers, which bind tighter than what stands before them. */
static fg_value eval_sign(walk *w) {
  if (++w->deep > MOST_DEEP) return unknown(w, w->p, 1, "this is too deep");
  fg_value v, to;
  w->p = fg_past_blanks(w->p);
  if (take(w, "-")) {
    v = eval_sign(w);
    if (v.is == FG_NUMBER) v.number = -v.number;
  } else if (take(w, "+")) {
    v = eval_sign(w);
  } else if (take(w, "~")) {
    v = eval_sign(w);
    if (v.is == FG_SET && w->e >= 0) v.set = all_of(w->f, w->e) & ~v.set;
  } else {
    v = eval_atom(w);
    if (take(w, "**")) {
      to = eval_sign(w);
      if (to.is == FG_UNKNOWN) v = to;
      if (v.is == FG_NUMBER) v.number = pow(v.number, to.number);
    }
  }
  w->deep--;
  return v;
}

static fg_value apply(const walk *w, const char *at, const char *sign, fg_value a, fg_value b) {
  if (a.is == FG_UNKNOWN) return a;
  if (b.is == FG_UNKNOWN) return b;
  if (a.is != b.is) return unknown(w, at, 1, "a set and a number do not go together");
  if (a.is == FG_SET) {
    if (!strcmp(sign, "&")) return set(a.set & b.set);
    if (!strcmp(sign, "|")) return set(a.set | b.set);
    if (!strcmp(sign, "-")) return set(a.set & ~b.set);
    if (!strcmp(sign, "==")) return number(a.set == b.set);
    if (!strcmp(sign, "!=")) return number(a.set != b.set);
    return unknown(w, at, 1, "sets have no such operator");
  }
  const double x = a.number, y = b.number;
  if (!strcmp(sign, "*")) return number(x * y);
  if (!strcmp(sign, "/")) return number(x / y);
  if (!strcmp(sign, "//")) return number(floor(x / y));
  if (!strcmp(sign, "%")) return number(x - y * floor(x / y));
  if (!strcmp(sign, "+")) return number(x + y);
  if (!strcmp(sign, "-")) return number(x - y);
  if (!strcmp(sign, "==")) return number(x == y);
  if (!strcmp(sign, "!=")) return number(x != y);
  if (!strcmp(sign, "<=")) return number(x <= y);
  if (!strcmp(sign, ">=")) return number(x >= y);
  if (!strcmp(sign, "<")) return number(x < y);
  if (!strcmp(sign, ">")) return number(x > y);
  return unknown(w, at, 1, "numbers have no such operator");
}

/* Operators of two sides, tight to loose. */
static fg_value eval_level(walk *w, int level) {
  static const char *const signs[][8] = {
      {"//", "/", "*", "%"}, {"+", "-"}, {"&"}, {"|"}, {"==", "!=", "<=", ">=", "<", ">"}};
  fg_value v = level ? eval_level(w, level - 1) : eval_sign(w);
  for (bool more = true; more;) {
    more = false;
    for (int i = 0; i < 8 && signs[level][i] && !more; i++) {
      const char *at = fg_past_blanks(w->p);
      if (!take(w, signs[level][i])) continue;
      more = true;
      const fg_value right = level ? eval_level(w, level - 1) : eval_sign(w);
      v = apply(w, at, signs[level][i], v, right);
    }
  }
  return v;
}

static fg_value eval_not(walk *w) {
  if (!take(w, "not")) return eval_level(w, 4);
  const fg_value v = eval_not(w);
  return v.is == FG_UNKNOWN ? v : number(!truth(v));
}

/* Python's: the side that decides is the value. */
static fg_value eval_and(walk *w) {
  fg_value v = eval_not(w);
  while (take(w, "and")) {
    const fg_value right = eval_not(w);
    if (v.is != FG_UNKNOWN && truth(v)) v = right;
  }
  return v;
}

static fg_value eval_or(walk *w) {
  fg_value v = eval_and(w);
  while (take(w, "or")) {
    const fg_value right = eval_and(w);
    if (v.is != FG_UNKNOWN && !truth(v)) v = right;
  }
  return v;
}

static fg_value eval_choice(walk *w) {
  if (++w->deep > MOST_DEEP) return unknown(w, w->p, 1, "this is too deep");
  fg_value v = eval_or(w);
  if (take(w, "if")) {
    const fg_value when = eval_or(w);
    if (!take(w, "else")) {
      v = unknown(w, w->p, 1, "an 'else' is missing here");
    } else {
      const fg_value other = eval_choice(w);
      v = when.is == FG_UNKNOWN ? when : truth(when) ? v : other;
    }
  }
  w->deep--;
  return v;
}

/* Places of what is inside a name's own text are those of the name: they lie in another scalar. */
static fg_value eval_text(forge *f, const char *text, int e, int part, int deep) {
  walk w = {.f = f, .e = e, .part = part, .deep = deep, .text = text, .p = text};
  if (deep > MOST_DEEP) return unknown(&w, text, 1, "it is defined by itself");
  if (strlen(text) > MOST_TEXT || ++f->steps > MOST_TEXTS)
    return unknown(&w, text, 1, "it is too long");
  fg_value v = eval_choice(&w);
  w.p = fg_past_blanks(w.p);
  if (*w.p) v = unknown(&w, w.p, 1, "this is not read");
  return v;
}

fg_value fg_eval(forge *f, const char *text, int e, int part) {
  f->steps = 0;
  return eval_text(f, text, e, part, 0);
}

static bool refuse(forge *f, const tf_ynode *node, const char *what, fg_value v) {
  const size_t off = v.off < node->len ? v.off : node->len ? node->len - 1 : 0;
  const size_t len = off + v.len <= node->len ? v.len : 1;
  return tf_fail(f->diags, node->len ? tf_ynode_place(node, off, len) : node->at, TF_E_SYNTAX,
                 "%s cannot be told: %s%s", what,
                 v.is == FG_UNKNOWN ? v.why : "it is a set, not a number",
                 f->has_workload ? "" : "; give the workload's file, too, if it is one of these");
}

bool fg_number(forge *f, const tf_ynode *node, const char *what, int part, double *out) {
  if (!tf_yschema_kind(node, TF_Y_SCALAR, what, f->diags)) return false;
  fg_value v = fg_eval(f, node->text, -1, part);
  for (int e = 0; v.is != FG_NUMBER && e < f->n_einsums; e++) {
    const fg_value one = fg_eval(f, node->text, e, part);
    if (one.is != FG_NUMBER) return refuse(f, node, what, one);
    if (e && one.number != *out)
      return tf_fail(f->diags, node->at, TF_E_RANGE,
                     "%s is %g for the Einsum '%s' and %g for '%s': here it is one number", what,
                     *out, f->einsum[0].name, one.number, f->einsum[e].name);
    *out = one.number;
    if (e + 1 == f->n_einsums) return true;
  }
  if (v.is != FG_NUMBER) return refuse(f, node, what, v);
  *out = v.number;
  return true;
}

bool fg_set(forge *f, const tf_ynode *node, int e, int part, uint32_t *out) {
  if (!tf_yschema_kind(node, TF_Y_SCALAR, "a set of tensors", f->diags)) return false;
  const fg_value v = fg_eval(f, node->text, e, part);
  *out = v.set;
  if (v.is == FG_SET) return true;
  return refuse(f, node, "this set of tensors",
                v.is == FG_NUMBER ? (fg_value){.is = FG_UNKNOWN, .why = "it is a number", .len = 1}
                                  : v);
}
