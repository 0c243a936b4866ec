/* Params, and the arithmetic of the input: named numbers, whose expressions may refer to each other
 * in any order. Those of a file belong to its sections. */
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/names.h"
#include "model/input/number.h"
#include "model/input/table/converters.h"

typedef enum { WAITING, ACTIVE, FAILED, KNOWN } state;

typedef struct {
  const char *name;
  tf_loc at;
  const tf_ynode *text; /* what evaluates to its value, from byte `off` on */
  size_t offset;
  uint16_t file; /* whose it is */
  bool shared;   /* the file has no section: it belongs to all */
  int set;       /* by a setting: 1 by name alone, 2 of this file alone */
  state state;
  tf_value value;
  int caller; /* ACTIVE: the param whose evaluation asked for it, -1: none */
} param;

struct tf_params {
  size_t n;
  param *list;
  int current; /* innermost one in evaluation, -1: none */
};

static bool is_named(const param *q, const char *name, size_t len) {
  return strlen(q->name) == len && memcmp(q->name, name, len) == 0;
}

/* The param of that name in one file; NULL: it has none. */
static param *find_in(const tf_params *p, uint16_t file, const char *name, size_t len) {
  for (size_t i = 0; i < p->n; i++)
    if (p->list[i].file == file && is_named(&p->list[i], name, len)) return &p->list[i];
  return NULL;
}

/* What the name means in a file that has none of its own: the first that belongs to all, else the
 * first of another file; *second: another one that it could mean as well. */
static param *find_elsewhere(const tf_params *p, const char *name, size_t len, param **second) {
  param *found = NULL;
  *second = NULL;
  for (size_t i = 0; i < p->n; i++) {
    param *q = &p->list[i];
    if (!is_named(q, name, len) || (found && found->shared && !q->shared)) continue;
    bool better = !found || (q->shared && !found->shared);
    *second = better ? NULL : *second ? *second : q;
    if (better) found = q;
  }
  return found;
}

const char *tf_param_name(const tf_params *p, size_t i) {
  return i < p->n ? p->list[i].name : NULL;
}

const char *tf_param_number(const tf_params *p, size_t i, double *value) {
  if (i < p->n && value) *value = p->list[i].value.f;
  return tf_param_name(p, i);
}

bool tf_param_find(const tf_params *p, uint16_t file, const char *name, tf_loc *at) {
  param *second, *q = find_in(p, file, name, strlen(name));
  if (!q) q = find_elsewhere(p, name, strlen(name), &second);
  if (!q || (q->file != file && !q->shared)) return false;
  *at = q->at;
  return true;
}

/* ---- values ------------------------------------------------------------------------- */
static const char *real_result(double f, tf_value *out) {
  if (!isfinite(f)) return "the result is no finite number";
  *out = tf_real(f);
  return NULL;
}

/* Integers divide to an integer where that is exact. */
static const char *divide(tf_value a, tf_value b, tf_value *out) {
  if (b.f == 0) return "division by zero";
  bool exact = a.whole && b.whole && !(a.i == INT64_MIN && b.i == -1) && a.i % b.i == 0;
  if (!exact) return real_result(a.f / b.f, out);
  *out = tf_integer(a.i / b.i);
  return NULL;
}

const char *tf_value_op(char op, tf_value a, tf_value b, tf_value *out) {
  int64_t i = 0;
  if (op == '/') return divide(a, b, out);
  if (!a.whole || !b.whole)
    return real_result(op == '+' ? a.f + b.f : op == '-' ? a.f - b.f : a.f * b.f, out);
  bool fits = op == '+'   ? tf_add(a.i, b.i, &i)
              : op == '-' ? tf_sub(a.i, b.i, &i)
                          : tf_mul(a.i, b.i, &i);
  if (!fits) return "the result passes 2^63 - 1";
  *out = tf_integer(i);
  return NULL;
}

/* ---- expressions -------------------------------------------------------------------- */
static bool parse_sum(tf_reader *r, tf_lex *x, tf_value *out);

static bool too_deep(tf_lex *x) {
  return tf_fail(x->diags, tf_lex_at(x), TF_E_LIMIT, "nested deeper than %d", TF_MAX_DEPTH);
}

/* Applies an operator; errors are located at it. */
static bool apply(tf_reader *r, const tf_lex *op, tf_value a, tf_value b, tf_value *out) {
  const char *wrong = tf_value_op(op->tok.punct, a, b, out);
  return !wrong || tf_fail(r->diags, tf_lex_at(op), TF_E_RANGE, "%s", wrong);
}

static tf_value round_to(tf_value v, double f) { return v.whole ? v : tf_real(f); }

/* a^b: of whole numbers exact, where it fits. */
static const char *power(tf_value a, tf_value b, tf_value *out) {
  enum { MOST_STEPS = 63 }; /* more of what is not 0, 1 or -1 do not fit */
  tf_value all = tf_integer(1);
  bool exact = a.whole && b.whole && b.i >= 0 && b.i <= MOST_STEPS;
  for (int64_t i = 0; exact && i < b.i; i++)
    exact = !tf_value_op('*', all, a, &all);
  if (!exact) return real_result(pow(a.f, b.f), out);
  *out = all;
  return NULL;
}

/* ceil floor min max pow: what a number may call. */
static bool parse_call(tf_reader *r, tf_lex *x, const char *name, tf_value *out) {
  tf_value b;
  const tf_lex at = *x;
  bool two = name[0] == 'm' || name[0] == 'p';
  tf_lex_next(x);
  if (!parse_sum(r, x, out)) return false;
  if (two && x->tok.kind == TF_T_END) /* in braces YAML ends it at the comma */
    return tf_lex_fail(
        x, "',' and a second argument (inside of { } or [ ] a text with a comma needs quotes)");
  if (two && !tf_lex_need(x, ',', "between two arguments")) return false;
  if (two && !parse_sum(r, x, &b)) return false;
  if (!tf_lex_need(x, ')', "after the arguments")) return false;
  if (name[0] == 'c') *out = round_to(*out, ceil(out->f));
  if (name[0] == 'f') *out = round_to(*out, floor(out->f));
  if (name[0] == 'p') {
    const char *wrong = power(*out, b, out);
    return !wrong || tf_fail(r->diags, tf_lex_at(&at), TF_E_RANGE, "%s", wrong);
  }
  if (two && (name[1] == 'i' ? b.f < out->f : b.f > out->f)) *out = b;
  return true;
}

/* A figure of a component: all its arguments, each in its range. */
static bool parse_component(tf_reader *r, tf_lex *x, const tf_component *c, tf_value *out) {
  double of[3];
  tf_lex_next(x);
  for (int i = 0; i < c->n; i++) {
    const tf_lex at = *x;
    if (i && x->tok.kind == TF_T_END)
      return tf_lex_fail(x,
                         "',' and more arguments (in { } or [ ] a text with a comma needs quotes)");
    if (i && !tf_lex_need(x, ',', "between two arguments")) return false;
    if (!parse_sum(r, x, out)) return false;
    of[i] = out->f;
    if (of[i] < c->of[i].least || of[i] > c->of[i].most || isnan(of[i]))
      return tf_fail(r->diags, tf_lex_at(&at), TF_E_RANGE, "%s of '%s' are %g to %g, not %g",
                     c->of[i].what, c->name, c->of[i].least, c->of[i].most, of[i]);
  }
  *out = tf_real(c->value(of));
  return tf_lex_need(x, ')', "after the arguments");
}

static bool parse_name(tf_reader *r, tf_lex *x, tf_value *out) {
  static const char *const calls[] = {"ceil", "floor", "min", "max", "pow"};
  tf_lex here = *x;
  tf_lex_next(x);
  for (size_t i = 0; i < sizeof calls / sizeof *calls && tf_lex_is(x, '('); i++)
    if (tf_lex_word(&here, calls[i])) return parse_call(r, x, calls[i], out);
  for (int i = 0; i < TF_N_COMPONENTS && tf_lex_is(x, '('); i++)
    if (tf_lex_word(&here, tf_components[i].name))
      return parse_component(r, x, &tf_components[i], out);
  tf_param_state s = tf_param_value(r, tf_lex_text(&here), here.tok.len, &here, out);
  if (s != TF_PARAM_UNKNOWN) return s == TF_PARAM_KNOWN;
  tf_near near = tf_near_start(tf_lex_text(&here), here.tok.len);
  char hint[80];
  for (size_t i = 0; tf_param_name(r->params, i); i++)
    tf_near_offer(&near, tf_param_name(r->params, i));
  return tf_fail(r->diags, tf_lex_at(&here), TF_E_NAME, "no param '%.*s'%s",
                 (int)(here.tok.len < 60 ? here.tok.len : 60), tf_lex_text(&here),
                 tf_near_text(&near, hint, sizeof hint));
}

static bool parse_atom(tf_reader *r, tf_lex *x, tf_value *out) {
  if (x->tok.kind == TF_T_NUMBER) {
    if (!isfinite(x->tok.value.f))
      return tf_fail(r->diags, tf_lex_at(x), TF_E_RANGE, "number too large");
    *out = x->tok.value;
    tf_lex_next(x);
    return true;
  }
  if (x->tok.kind == TF_T_NAME) return parse_name(r, x, out);
  if (!tf_lex_take(x, '(')) return tf_lex_fail(x, "a number");
  return parse_sum(r, x, out) && tf_lex_need(x, ')', "to close '('");
}

static bool parse_signed(tf_reader *r, tf_lex *x, tf_value *out) {
  if (r->depth >= TF_MAX_DEPTH) return too_deep(x);
  r->depth++;
  tf_lex here = *x;
  bool minus = tf_lex_take(x, '-');
  bool ok = minus ? parse_signed(r, x, out) : parse_atom(r, x, out);
  r->depth--;
  if (!ok || !minus) return ok;
  return apply(r, &here, tf_integer(0), *out, out);
}

/* Operands joined by one of two operators of the same precedence, left-associative. */
static bool parse_chain(tf_reader *r, tf_lex *x, const char *ops, tf_value *out) {
  bool sum = ops[0] == '+';
  if (!(sum ? parse_chain(r, x, "*/", out) : parse_signed(r, x, out))) return false;
  while (tf_lex_is(x, ops[0]) || tf_lex_is(x, ops[1])) {
    tf_lex here = *x;
    tf_value b;
    tf_lex_next(x);
    if (!(sum ? parse_chain(r, x, "*/", &b) : parse_signed(r, x, &b))) return false;
    if (!apply(r, &here, *out, b, out)) return false;
  }
  return true;
}

static bool parse_sum(tf_reader *r, tf_lex *x, tf_value *out) {
  return parse_chain(r, x, "+-", out);
}

bool tf_parse_number(tf_reader *r, tf_lex *x, tf_value *out) { return parse_sum(r, x, out); }

/* ---- evaluation --------------------------------------------------------------------- */
static bool fail_cycle(tf_reader *r, const param *again, tf_lex *from) {
  const tf_params *p = r->params;
  tf_fail(r->diags, tf_lex_at(from), TF_E_CYCLE, "param '%.60s' is defined by itself", again->name);
  int notes = 0;
  for (int i = p->current; i >= 0 && &p->list[i] != again && notes < 8; i = p->list[i].caller) {
    tf_note(r->diags, p->list[i].at, "through param '%.60s'", p->list[i].name);
    notes++;
  }
  return false;
}

/* "?" waits for a setting. */
static bool read_value(tf_reader *r, param *q) {
  if (strcmp(q->text->text + q->offset, "?") == 0)
    return tf_fail(r->diags, q->text->at, TF_E_OPEN,
                   "param '%.60s' is open: give it with --set %.60s=VALUE", q->name, q->name);
  tf_lex x = tf_lex_start(q->text, q->offset, r->diags);
  bool ok = tf_parse_number(r, &x, &q->value);
  return ok && x.tok.kind != TF_T_END ? tf_lex_fail(&x, "an operator or the end") : ok;
}

/* Whether a setting that reaches several files has failed in one of them: it is reported once. */
static bool failed_before(const tf_params *p, const param *q) {
  for (size_t i = 0; q->set && i < p->n; i++)
    if (p->list[i].text == q->text && p->list[i].state == FAILED) return true;
  return false;
}

/* Evaluates the text of a param that is waiting. */
static void evaluate(tf_reader *r, param *q) {
  tf_params *p = r->params;
  uint16_t file = r->file;
  q->state = ACTIVE;
  q->caller = p->current;
  p->current = (int)(q - p->list);
  r->file = q->file;
  q->state = !failed_before(p, q) && read_value(r, q) ? KNOWN : FAILED;
  r->file = file;
  p->current = q->caller;
}

static void fail_ambiguous(tf_reader *r, const param *a, const param *b, tf_lex *from) {
  tf_fail(r->diags, tf_lex_at(from), TF_E_DUP,
          "param '%.60s' is given in two files, and not in this one: which?", a->name);
  tf_note(r->diags, a->at, "given here");
  tf_note(r->diags, b->at, "and here");
}

tf_param_state tf_param_value(tf_reader *r, const char *name, size_t len, tf_lex *from,
                              tf_value *out) {
  param *second = NULL, *q = find_in(r->params, r->file, name, len);
  if (!q) q = find_elsewhere(r->params, name, len, &second);
  if (!q) return TF_PARAM_UNKNOWN;
  if (second) {
    fail_ambiguous(r, q, second, from);
    return TF_PARAM_FAILED;
  }
  if (q->state == WAITING) evaluate(r, q);
  if (q->state == ACTIVE) {
    fail_cycle(r, q, from);
    q->state = FAILED;
  }
  *out = q->value;
  return q->state == KNOWN ? TF_PARAM_KNOWN : TF_PARAM_FAILED;
}

/* ---- settings ----------------------------------------------------------------------- */
/* "NAME=VALUE" as a file of its own, so that messages can point into it. */
static const tf_ynode *setting_node(tf_reader *r, const tf_setting *s) {
  size_t name = strlen(s->name), value = strlen(s->value);
  char *text = tf_arena_alloc(r->arena, name + value + 2);
  tf_ynode *n = TF_NEW(r->arena, tf_ynode);
  if (!text || !n) return NULL;
  memcpy(text, s->name, name);
  text[name] = '=';
  memcpy(text + name + 1, s->value, value);
  n->kind = TF_Y_SCALAR;
  n->text = n->src = text;
  n->len = name + value + 1;
  n->src_end = text + n->len;
  n->at = (tf_loc){tf_diags_add_file(r->diags, "--set", text, n->len), 1, 1, (uint32_t)n->len};
  n->text_at = n->at;
  return n;
}

static void fail_setting(tf_reader *r, tf_loc at, const char *name) {
  tf_near near = tf_near_start(name, strlen(name));
  char hint[80];
  for (size_t i = 0; i < r->params->n; i++)
    tf_near_offer(&near, r->params->list[i].name);
  tf_fail(r->diags, at, TF_E_NAME, "no param '%.60s' to set%s", name,
          r->params->n ? tf_near_text(&near, hint, sizeof hint) : "; the files have no params");
}

static void set_param(tf_reader *r, param *q, const tf_ynode *n, size_t off, int how) {
  tf_loc at = tf_ynode_place(n, 0, off > 1 ? off - 1 : 1);
  if (q->set == how) {
    tf_fail(r->diags, at, TF_E_DUP, "param '%.60s' set twice", q->name);
    tf_note(r->diags, q->at, "first set here");
    return;
  }
  q->set = how;
  q->at = at;
  q->text = n;
  q->offset = off;
}

/* NAME: every param of that name. */
static void set_all(tf_reader *r, const tf_setting *s, const tf_ynode *n) {
  size_t len = strlen(s->name);
  bool any = false;
  for (size_t i = 0; i < r->params->n; i++) {
    param *q = &r->params->list[i];
    if (!is_named(q, s->name, len)) continue;
    bool first = !any;
    any = true;
    if (q->set == 0 || first) set_param(r, q, n, len + 1, 1);
  }
  if (!any) fail_setting(r, tf_ynode_place(n, 0, len ? len : 1), s->name);
}

/* Whose params a name like arch.NAME means; -1: it names no section. */
static int section_of(const char *name) {
  static const char *const words[] = {"arch", "architecture", "workload", "mapping"};
  static const int of[] = {TF_OF_ARCH, TF_OF_ARCH, TF_OF_WORKLOAD, TF_OF_MAPPING};
  const char *dot = strchr(name, '.');
  for (int i = 0; dot && i < 4; i++)
    if (strlen(words[i]) == (size_t)(dot - name) && !memcmp(words[i], name, (size_t)(dot - name)))
      return of[i];
  return -1;
}

/* SECTION.NAME: that of the section's file alone; where the section sees another file's, it gets
 * one of its own. */
static void set_one(tf_reader *r, const tf_setting *s, const tf_ynode *n, uint16_t file) {
  tf_params *p = r->params;
  const char *name = strchr(s->name, '.') + 1;
  size_t len = strlen(name);
  tf_loc at = tf_ynode_place(n, 0, strlen(s->name));
  if (!file) {
    tf_fail(r->diags, at, TF_E_NAME, "no file has the section that '%.60s' names", s->name);
    return;
  }
  param *second, *q = find_in(p, file, name, len),
                 *seen = q ? q : find_elsewhere(p, name, len, &second);
  if (!seen) {
    fail_setting(r, at, name);
    return;
  }
  if (!q) {
    q = &p->list[p->n++];
    *q = (param){.name = seen->name, .file = file, .state = WAITING};
  }
  set_param(r, q, n, strlen(s->name) + 1, 2);
}

/* Those of one section go last: they have the last word. */
static bool apply_settings(tf_reader *r, const tf_param_files *files, const tf_setting *set,
                           size_t n_set) {
  for (int narrow = 0; narrow < 2; narrow++)
    for (size_t i = 0; i < n_set; i++) {
      int section = section_of(set[i].name);
      if ((section >= 0) != narrow) continue;
      const tf_ynode *n = setting_node(r, &set[i]);
      if (!n) return tf_no_memory(r);
      if (narrow)
        set_one(r, &set[i], n, files->file[section]);
      else
        set_all(r, &set[i], n);
    }
  return true;
}

/* ---- files -------------------------------------------------------------------------- */
static void add_param(tf_reader *r, const tf_ynode *key, const tf_ynode *value, bool shared) {
  const char *name = tf_read_name(r, key, "a param", false);
  if (!name || find_in(r->params, key->at.file, name, key->len)) return;
  bool ok = tf_yschema_kind(value, TF_Y_SCALAR, name, r->diags);
  r->params->list[r->params->n++] = (param){.name = name,
                                            .at = key->at,
                                            .text = value,
                                            .file = key->at.file,
                                            .shared = shared,
                                            .state = ok ? WAITING : FAILED};
}

bool tf_params_read(tf_reader *r, const tf_param_files *files, const tf_setting *set,
                    size_t n_set) {
  size_t n = n_set;
  tf_params *p = r->params = TF_NEW(r->arena, tf_params);
  if (!p) return tf_no_memory(r);
  p->current = -1;
  for (size_t i = 0; i < files->n; i++)
    n += files->map[i]->n;
  p->list = TF_ARRAY(r->arena, param, n);
  if (!p->list) return tf_no_memory(r);
  for (size_t i = 0; i < files->n; i++)
    for (size_t k = 0; k < files->map[i]->n && p->n < TF_MAX_PARAMS; k++)
      add_param(r, files->map[i]->pairs[k].key, files->map[i]->pairs[k].value, files->shared[i]);
  if (n - n_set > TF_MAX_PARAMS)
    tf_fail(r->diags, files->map[files->n - 1]->at, TF_E_LIMIT, "more than %d params",
            TF_MAX_PARAMS);
  if (!apply_settings(r, files, set, n_set)) return false;
  for (size_t i = 0; i < p->n; i++)
    if (p->list[i].state == WAITING) evaluate(r, &p->list[i]);
  return true;
}
