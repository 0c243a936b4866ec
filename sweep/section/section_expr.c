/* Conditions as postfix programs: operands before operators. */
#include "sweep/section/section_expr.h"

#include <math.h>
#include <string.h>

#include "base/names.h"

enum { MOST_STEPS = 128, MOST_DEPTH = 32 };

typedef enum {
  NUMBER,
  TEXT,
  NAME,
  ADD,
  SUB,
  MUL,
  DIV,
  NEG,
  CEIL,
  FLOOR,
  MIN,
  MAX,
  LT,
  LE,
  GT,
  GE,
  EQ,
  NE,
  AND,
  OR,
  NOT
} what;

typedef struct {
  what what;
  double number;
  const char *text;
  int name;
} step;

struct sweep_expr {
  int n;
  step *steps;
};

typedef struct {
  tf_reader *r;
  tf_lex x;
  const sweep_names *names;
  sweep_expr *out;
  int depth;
} parser;

/* The type of a part of the text.  BAD is 0, so that functions that report an error can return
 * false. */
typedef enum { BAD, IS_NUMBER, IS_TEXT, IS_TRUTH } type;

static bool add_step(parser *p, step s) {
  if (p->out->n >= MOST_STEPS)
    return tf_fail(p->r->diags, tf_lex_at(&p->x), TF_E_LIMIT, "more than %d steps in a condition",
                   MOST_STEPS);
  p->out->steps[p->out->n++] = s;
  return true;
}

static type add_op(parser *p, what w, type gives) {
  return add_step(p, (step){.what = w}) ? gives : BAD;
}

/* Whether the next character is c, which the lexer of numbers does not know. */
static bool at_char(const parser *p, char c) {
  const tf_tok *t = &p->x.tok;
  return (t->kind == TF_T_BAD || t->kind == TF_T_PUNCT) && t->len == 1 &&
         tf_lex_text(&p->x)[0] == c;
}

static bool wrong_type(parser *p, size_t from, const char *need) {
  return tf_fail(p->r->diags, tf_lex_since(&p->x, from), TF_E_TYPE, "%s is needed here", need);
}

static type parse_or(parser *p);
static type parse_sum(parser *p);

/* 'text' or "text": the lexer is at the opening quote. */
static type parse_quoted(parser *p) {
  const char *from = tf_lex_text(&p->x) + 1, *end = strchr(from, from[-1]);
  if (!end)
    return tf_fail(p->r->diags, tf_lex_at(&p->x), TF_E_SYNTAX, "no second quote ends this text");
  char *text = tf_arena_strndup(p->r->arena, from, (size_t)(end - from));
  if (!text) return tf_no_memory(p->r);
  p->x.tok.len = (size_t)(end - from) + 2;
  tf_lex_next(&p->x);
  return add_step(p, (step){.what = TEXT, .text = text}) ? IS_TEXT : BAD;
}

/* Reads arch.NAME as one token. */
static void join_name(parser *p) {
  const char *text = p->x.node->text;
  size_t end = p->x.tok.at + p->x.tok.len, more = 0;
  while (text[end] == '.' &&
         (more = strspn(text + end + 1,
                        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")))
    end += 1 + more;
  p->x.tok.len = end - p->x.tok.at;
}

static type unknown_name(parser *p, const tf_lex *here) {
  tf_near near = tf_near_start(tf_lex_text(here), here->tok.len);
  char hint[80];
  for (int i = 0; i < p->names->n; i++)
    tf_near_offer(&near, p->names->names[i]);
  tf_fail(p->r->diags, tf_lex_at(here), TF_E_NAME, "no value '%.*s'%s",
          (int)(here->tok.len < 60 ? here->tok.len : 60), tf_lex_text(here),
          tf_near_text(&near, hint, sizeof hint));
  return BAD;
}

/* ceil floor min max; the lexer is after the '('. */
static type parse_call(parser *p, what w) {
  for (int i = 0; i < (w == MIN || w == MAX ? 2 : 1); i++) {
    size_t from = p->x.tok.at;
    if (i && !tf_lex_need(&p->x, ',', "between two arguments")) return BAD;
    type t = parse_sum(p);
    if (t == BAD) return BAD;
    if (t != IS_NUMBER) return wrong_type(p, from, "a number");
  }
  return tf_lex_need(&p->x, ')', "after the arguments") ? add_op(p, w, IS_NUMBER) : BAD;
}

static type parse_name(parser *p) {
  static const char *const calls[] = {"ceil", "floor", "min", "max"};
  join_name(p);
  tf_lex here = p->x;
  tf_lex_next(&p->x);
  for (int i = 0; i < 4 && tf_lex_is(&p->x, '('); i++)
    if (tf_lex_word(&here, calls[i])) {
      tf_lex_next(&p->x);
      return parse_call(p, (what)(CEIL + i));
    }
  for (int i = 0; i < p->names->n; i++)
    if (tf_lex_word(&here, p->names->names[i]))
      return !add_step(p, (step){.what = NAME, .name = i}) ? BAD
             : p->names->texts && p->names->texts[i]       ? IS_TEXT
                                                           : IS_NUMBER;
  tf_value v;
  tf_param_state s = p->r->params
                         ? tf_param_value(p->r, tf_lex_text(&here), here.tok.len, &here, &v)
                         : TF_PARAM_UNKNOWN;
  if (s == TF_PARAM_KNOWN)
    return add_step(p, (step){.what = NUMBER, .number = v.f}) ? IS_NUMBER : BAD;
  return s == TF_PARAM_FAILED ? BAD : unknown_name(p, &here);
}

static type parse_atom(parser *p) {
  if (p->x.tok.kind == TF_T_NUMBER) {
    step s = {.what = NUMBER, .number = p->x.tok.value.f};
    tf_lex_next(&p->x);
    return add_step(p, s) ? IS_NUMBER : BAD;
  }
  if (p->x.tok.kind == TF_T_NAME) return parse_name(p);
  if (at_char(p, '\'') || at_char(p, '"')) return parse_quoted(p);
  if (!tf_lex_take(&p->x, '(')) return tf_lex_fail(&p->x, "a value");
  type t = parse_or(p);
  return t != BAD && tf_lex_need(&p->x, ')', "to close '('") ? t : BAD;
}

/* An operand of arithmetic, after any number of minus signs. */
static type parse_signed(parser *p) {
  if (p->depth >= MOST_DEPTH)
    return tf_fail(p->r->diags, tf_lex_at(&p->x), TF_E_LIMIT, "nested deeper than %d", MOST_DEPTH);
  size_t from = p->x.tok.at;
  p->depth++;
  bool minus = tf_lex_take(&p->x, '-');
  type t = minus ? parse_signed(p) : parse_atom(p);
  p->depth--;
  if (t == BAD || !minus) return t;
  if (t != IS_NUMBER) return wrong_type(p, from, "a number");
  return add_op(p, NEG, IS_NUMBER);
}

/* Operands joined by operators of one precedence, left-associative. */
static type parse_chain(parser *p, const char *ops) {
  bool sum = ops[0] == '+';
  size_t from = p->x.tok.at;
  type t = sum ? parse_chain(p, "*/") : parse_signed(p);
  while (t != BAD && (tf_lex_is(&p->x, ops[0]) || tf_lex_is(&p->x, ops[1]))) {
    bool first = tf_lex_is(&p->x, ops[0]);
    if (t != IS_NUMBER) return wrong_type(p, from, "a number");
    tf_lex_next(&p->x);
    size_t right = p->x.tok.at;
    t = sum ? parse_chain(p, "*/") : parse_signed(p);
    if (t == BAD) return BAD;
    if (t != IS_NUMBER) return wrong_type(p, right, "a number");
    t = add_op(p, sum ? (first ? ADD : SUB) : first ? MUL : DIV, IS_NUMBER);
  }
  return t;
}

static type parse_sum(parser *p) { return parse_chain(p, "+-"); }

/* < <= > >= == !=; NUMBER: none follows. */
static what accept_comparison(parser *p) {
  static const struct {
    const char *text;
    what what;
  } all[] = {{"<=", LE}, {"<", LT}, {">=", GE}, {">", GT}, {"==", EQ}, {"!=", NE}};
  for (size_t i = 0; i < sizeof all / sizeof all[0] && p->x.tok.kind != TF_T_END; i++) {
    size_t n = strlen(all[i].text);
    if (strncmp(tf_lex_text(&p->x), all[i].text, n) != 0) continue;
    p->x.tok.len = n;
    tf_lex_next(&p->x);
    return all[i].what;
  }
  return NUMBER;
}

static type parse_comparison(parser *p) {
  size_t from = p->x.tok.at;
  type left = parse_sum(p);
  if (left == BAD) return BAD;
  what w = accept_comparison(p);
  if (w == NUMBER) return left;
  size_t right_from = p->x.tok.at;
  type right = parse_sum(p);
  if (right == BAD) return BAD;
  if (left != right || left == IS_TRUTH)
    return wrong_type(p, left == IS_TRUTH ? from : right_from,
                      left == IS_TEXT ? "a text, in quotes or by name," : "a number");
  if (left == IS_TEXT && w != EQ && w != NE)
    return wrong_type(p, from, "a number (texts are == or !=)");
  return add_op(p, w, IS_TRUTH);
}

static bool accept_word(parser *p, const char *word) {
  if (!tf_lex_word(&p->x, word)) return false;
  tf_lex_next(&p->x);
  return true;
}

static type parse_not(parser *p) {
  size_t from = p->x.tok.at;
  if (!tf_lex_word(&p->x, "not")) return parse_comparison(p);
  if (++p->depth >= MOST_DEPTH)
    return tf_fail(p->r->diags, tf_lex_at(&p->x), TF_E_LIMIT, "nested deeper than %d", MOST_DEPTH);
  tf_lex_next(&p->x);
  type t = parse_not(p);
  p->depth--;
  if (t != BAD && t != IS_TRUTH) return wrong_type(p, from, "a condition behind 'not'");
  return t == BAD ? BAD : add_op(p, NOT, IS_TRUTH);
}

/* Conditions joined by `and`, and these by `or`. */
static type parse_joined(parser *p, bool any) {
  size_t from = p->x.tok.at;
  type t = any ? parse_joined(p, false) : parse_not(p);
  while (t != BAD && accept_word(p, any ? "or" : "and")) {
    type right = any ? parse_joined(p, false) : parse_not(p);
    if (right == BAD) return BAD;
    if (t != IS_TRUTH || right != IS_TRUTH) return wrong_type(p, from, "a condition on both sides");
    t = add_op(p, any ? OR : AND, IS_TRUTH);
  }
  return t;
}

static type parse_or(parser *p) { return parse_joined(p, true); }

sweep_expr *sweep_expr_read(tf_reader *r, const tf_ynode *node, const sweep_names *names) {
  if (!tf_yschema_kind(node, TF_Y_SCALAR, "a condition", r->diags)) return NULL;
  if (node->len > TF_MAX_TEXT || strlen(node->text) != node->len) {
    tf_fail(r->diags, node->at, TF_E_LIMIT, "a condition is a text of at most %d bytes",
            TF_MAX_TEXT);
    return NULL;
  }
  parser p = {.r = r, .names = names, .out = TF_NEW(r->arena, sweep_expr)};
  if (p.out) p.out->steps = TF_ARRAY(r->arena, step, MOST_STEPS);
  if (!p.out || !p.out->steps) {
    tf_no_memory(r);
    return NULL;
  }
  p.x = tf_lex_start(node, 0, r->diags);
  type t = parse_or(&p);
  if (t == BAD) return NULL;
  bool whole = p.x.tok.kind == TF_T_END || tf_lex_fail(&p.x, "an operator or the end");
  if (whole && t != IS_TRUTH) whole = wrong_type(&p, 0, "a comparison, like a <= 4,");
  return whole ? p.out : NULL;
}

/* ---- evaluation ------------------------------------------------------------------------- */
static double of_one(what w, double a) {
  return w == NEG ? -a : w == CEIL ? ceil(a) : w == FLOOR ? floor(a) : !(a != 0);
}

static double of_two(what w, double a, double b) {
  switch (w) {
  case ADD: return a + b;
  case SUB: return a - b;
  case MUL: return a * b;
  case DIV: return a / b;
  case MIN: return fmin(a, b);
  case MAX: return fmax(a, b);
  case LT: return a < b;
  case LE: return a <= b;
  case GT: return a > b;
  case GE: return a >= b;
  case EQ: return a == b;
  case NE: return a != b;
  case AND: return a != 0 && b != 0;
  default: return a != 0 || b != 0;
  }
}

/* Nesting is limited, and each level holds few operands: the stack suffices for any text that was
 * read. */
bool sweep_expr_holds(const sweep_expr *x, const sweep_value *values) {
  sweep_value stack[MOST_STEPS] = {{0, NULL}};
  int n = 0;
  for (int i = 0; i < x->n; i++) {
    const step *s = &x->steps[i];
    if (s->what == NUMBER || s->what == TEXT) {
      stack[n++] = (sweep_value){s->number, s->text};
    } else if (s->what == NAME) {
      stack[n++] = values[s->name];
    } else if (s->what == NEG || s->what == NOT || s->what == CEIL || s->what == FLOOR) {
      stack[n - 1] = (sweep_value){of_one(s->what, stack[n - 1].number), NULL};
    } else {
      sweep_value a = stack[n - 2], b = stack[n - 1];
      double v = a.text && b.text ? (double)((strcmp(a.text, b.text) == 0) == (s->what == EQ))
                                  : of_two(s->what, a.number, b.number);
      stack[--n - 1] = (sweep_value){v, NULL};
    }
  }
  return n == 1 && stack[0].number != 0;
}

bool sweep_expr_uses(const sweep_expr *x, int name) {
  for (int i = 0; i < x->n; i++)
    if (x->steps[i].what == NAME && x->steps[i].name == name) return true;
  return false;
}
