/* Nodes that are composed of others: compositions written as text, a line for each node, and the
 * subgraphs of If, Loop and Scan, which are run as often as is known here. */
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/import/onnx/onnx.h"

/* Longest line; most operands, results and attributes of one; most numbers of a list; most nodes of
 * a subgraph. */
enum {
  LINE = 1024,
  OPERANDS = 24,
  RESULTS = 4,
  ATTRIBUTES = 8,
  LISTED = 64,
  BODY = 512,
  TRIPS = 4096
};

/* ---- a node within another ------------------------------------------------------------------ */

/* Takes a node as part of the one at hand.  An error in it is reported once. */
static bool take_node(ox_net *g, Onnx__NodeProto *n) {
  const Onnx__NodeProto *const outer = g->node, *const within = g->within;
  const bool again = g->again;
  n->name = outer->name;
  g->within = within ? within : outer;
  g->node = n;
  const bool ok = g->take(g) && !g->oom;
  g->node = outer, g->within = within;
  g->again = again, g->regrouped = false;
  return ok;
}

static Onnx__NodeProto *new_node(ox_net *g, const char *type) {
  Onnx__NodeProto *n = TF_NEW(g->arena, Onnx__NodeProto);
  if (!n) return g->oom = true, NULL;
  onnx__node_proto__init(n);
  n->op_type = (char *)type;
  n->input = TF_ARRAY(g->arena, char *, OPERANDS + 1);
  n->output = TF_ARRAY(g->arena, char *, RESULTS + 1);
  n->attribute = TF_ARRAY(g->arena, Onnx__AttributeProto *, ATTRIBUTES + 1);
  if (n->input && n->output && n->attribute) return n;
  return g->oom = true, NULL;
}

/* A name for numbers that no node makes. */
static char *new_name(ox_net *g) {
  char word[24];
  snprintf(word, sizeof word, "n%d", g->n_values);
  return (char *)ox_part(g, word);
}

/* Defines numbers and returns the name of their value; NULL with an error. */
static char *define(ox_net *g, int rank, int64_t n, double *x, int type) {
  ox_value v = {0};
  char *name = new_name(g);
  ox_whole(&v, -1, rank, &n);
  v.number = x, v.type = type, v.name = name;
  return x && ox_define(g, name, &v) ? name : NULL;
}

/* ---- lines of text -------------------------------------------------------------------------- */

typedef struct {
  ox_net *g;
  const char *cursor;
  bool ok;
} line;

static void skip(line *l) {
  while (*l->cursor == ' ' || *l->cursor == ',')
    l->cursor++;
}

/* The next word, up to one of `ends`, in the arena. */
static char *word(line *l, const char *ends) {
  skip(l);
  const size_t n = strcspn(l->cursor, ends);
  char *s = tf_arena_strndup(l->g->arena, l->cursor, n);
  l->cursor += n;
  if (!s) l->ok = false, l->g->oom = true;
  return s ? s : "";
}

static int64_t *list_of(line *l, const char *text, size_t *n) {
  int64_t *x = TF_ARRAY(l->g->arena, int64_t, LISTED);
  *n = 0;
  if (!x) l->ok = false, l->g->oom = true;
  while (x && *text && *text != ']' && *n < LISTED) {
    char *end;
    x[(*n)++] = strtoll(text, &end, 10);
    text = *end == ',' ? end + 1 : end;
    if (end == text && *end && *end != ']') break;
  }
  if (x && *text && *text != ']')
    l->ok = ox_fail(l->g, TF_E_LIMIT, "a list of more than %d numbers", LISTED);
  return x;
}

static double *room(line *l, size_t n) {
  double *x = ox_numbers_room(l->g, (int64_t)n + 1);
  if (!x)
    l->ok = l->g->oom ? false
                      : ox_fail(l->g, TF_E_LIMIT, "more than %d numbers that are computed here",
                                OX_FOLDED_IN_ALL);
  return x;
}

/* [1,2]: whole numbers. */
static char *listed(line *l, const char *text) {
  size_t n;
  const int64_t *from = list_of(l, text, &n);
  double *x = l->ok ? room(l, n) : NULL;
  for (size_t i = 0; x && i < n; i++)
    x[i] = (double)from[i];
  return define(l->g, 1, (int64_t)n, x, OX_T_INT64);
}

/* {n,first}: the coordinates first, first + 1 .. of n places. */
static char *places(line *l, const char *text) {
  size_t n;
  const int64_t *from = list_of(l, text, &n);
  const int64_t many = l->ok ? from[0] : 0, first = l->ok && n > 1 ? from[1] : 0;
  if (l->ok && (many < 1 || many > OX_FOLDED))
    l->ok =
        ox_fail(l->g, TF_E_LIMIT, "%lld places; up to %d are known", (long long)many, OX_FOLDED);
  double *x = l->ok ? room(l, (size_t)many) : NULL;
  for (int64_t i = 0; x && i < many; i++)
    x[i] = (double)(first + i);
  char *name = define(l->g, 1, many, x, OX_T_INT64);
  if (name) ox_find(l->g, name)->place = true;
  return name;
}

static char *scalar(line *l, const char *text) {
  double *x = room(l, 1);
  const bool whole = text[strspn(text, "-0123456789")] == '\0';
  if (x) *x = strtod(text, NULL);
  return define(l->g, 0, 1, x, whole ? OX_T_INT64 : OX_T_FLOAT);
}

/* An operand: `$1` the node's input, `@1` its result, `-` none, a number, a list, places, or a name
 * of a line above. */
static char *operand(line *l) {
  const Onnx__NodeProto *n = l->g->node;
  skip(l);
  const char first = *l->cursor;
  char *text = word(l, first == '[' ? "]" : first == '{' ? "}" : " ,()=");
  if (!l->ok) return "";
  if (first == '[' || first == '{') {
    l->cursor++;
    char *name = first == '[' ? listed(l, text + 1) : places(l, text + 1);
    return name ? name : (l->ok = false, "");
  }
  const size_t k = (size_t)strtol(text + (*text != '\0'), NULL, 10);
  if (first == '$') return k < n->n_input ? n->input[k] : "";
  if (first == '@') return k < n->n_output ? n->output[k] : "";
  if (first == '-' && !text[1]) return "";
  if (isdigit((unsigned char)first) || first == '-' || !strcmp(text, "inf")) {
    char *name = scalar(l, text);
    return name ? name : (l->ok = false, "");
  }
  return (char *)ox_part(l->g, text);
}

static void attribute(line *l, Onnx__NodeProto *n) {
  Onnx__AttributeProto *a = TF_NEW(l->g->arena, Onnx__AttributeProto);
  char *name = word(l, "="), *text = *l->cursor ? (l->cursor++, word(l, " ")) : "";
  if (!a || !l->ok || n->n_attribute == ATTRIBUTES) {
    l->ok = false, l->g->oom |= !a;
    return;
  }
  onnx__attribute_proto__init(a);
  a->name = name;
  a->has_type = 1;
  switch (ox_attribute_type(n->op_type, name)) {
  case 'i':
    a->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT, a->has_i = 1,
    a->i = strtoll(text, NULL, 10);
    break;
  case 'f':
    a->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT, a->has_f = 1, a->f = strtof(text, NULL);
    break;
  case 'I':
    a->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS, a->ints = list_of(l, text, &a->n_ints);
    break;
  default:
    a->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING, a->has_s = 1;
    a->s.data = (uint8_t *)text, a->s.len = strlen(text);
  }
  n->attribute[n->n_attribute++] = a;
}

static Onnx__NodeProto *node_of(line *l) {
  Onnx__NodeProto *n = new_node(l->g, "");
  for (; n && l->ok && n->n_output < RESULTS; skip(l)) {
    n->output[n->n_output++] = operand(l);
    skip(l);
    if (*l->cursor == '=') break;
  }
  if (!n || *l->cursor++ != '=') return NULL;
  n->op_type = word(l, "(");
  l->cursor += *l->cursor == '(';
  for (skip(l); l->ok && *l->cursor && *l->cursor != ')' && n->n_input < OPERANDS; skip(l))
    n->input[n->n_input++] = operand(l);
  l->cursor += *l->cursor == ')';
  for (skip(l); l->ok && *l->cursor; skip(l))
    attribute(l, n);
  return l->ok ? n : NULL;
}

bool ox_run(ox_net *g, const char *fmt, ...) {
  char text[LINE];
  va_list ap;
  va_start(ap, fmt);
  const int len = vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  if (len < 0 || len >= LINE)
    return ox_fail(g, TF_E_LIMIT, "a composition of more than %d letters", LINE);
  line l = {.g = g, .cursor = text, .ok = true};
  Onnx__NodeProto *n = node_of(&l);
  const int64_t opset = g->opset;
  g->opset = ox_newest_opset(); /* compositions are written in what the operators mean today */
  const bool ok = n && take_node(g, n);
  g->opset = opset;
  return ok;
}

bool ox_let(ox_net *g, const char *part, int rank, const int64_t *shape, const double *number,
            int type) {
  ox_value v = {.name = ox_part(g, part), .number = number, .type = type};
  ox_whole(&v, -1, rank, shape);
  return ox_define(g, v.name, &v) != NULL;
}

const ox_value *ox_made(ox_net *g, const char *part) {
  const ox_value *v = ox_find(g, ox_part(g, part));
  return v && !v->bad ? v : NULL;
}

bool ox_same_type(ox_net *g, size_t a, size_t b) {
  const ox_value *x = ox_input(g, a), *y = ox_input(g, b);
  if (!x || !y) return false;
  return x->type == y->type || !x->type || !y->type ||
         ox_fail(g, TF_E_TYPE, "inputs %zu and %zu of types %s and %s", a, b, ox_type_name(x->type),
                 ox_type_name(y->type));
}

const char *ox_word(ox_net *g, const char *name, const char *otherwise) {
  const char *text = ox_text(g, name, otherwise);
  for (const char *at = text; *at; at++)
    if (!isalnum((unsigned char)*at) && *at != '_')
      return (void)ox_fail(g, TF_E_NAME, "%s '%.40s'", name, text), NULL;
  return text;
}

const char *ox_list(ox_net *g, int n, const int64_t *x) {
  const size_t size = 24 * (size_t)n + 3;
  char *text = TF_ARRAY(g->arena, char, size);
  if (!text) return g->oom = true, "[]";
  size_t at = (size_t)snprintf(text, size, "[");
  for (int i = 0; i < n; i++)
    at += (size_t)snprintf(text + at, size - at, "%s%lld", i ? "," : "", (long long)x[i]);
  snprintf(text + at, size - at, "]");
  return text;
}

const char *ox_same_list(ox_net *g, const char *name) {
  size_t n;
  const int64_t *x = ox_ints(g, name, &n);
  if (!x) return "";
  const char *list = ox_list(g, (int)(n < OX_RANK ? n : OX_RANK), x);
  const size_t len = strlen(name) + strlen(list) + 2;
  char *s = TF_ARRAY(g->arena, char, len);
  if (!s) return g->oom = true, "";
  snprintf(s, len, "%s=%.*s", name, (int)strlen(list) - 2, list + 1);
  return s;
}

const char *ox_ones(ox_net *g, int rank, int axis, int64_t n) {
  int64_t shape[OX_RANK];
  for (int k = 0; k < rank; k++)
    shape[k] = k == axis ? n : 1;
  return ox_list(g, rank, shape);
}

/* ---- subgraphs ------------------------------------------------------------------------------ */

/* Whether a name is one of the subgraph's own. */
static bool is_local(const Onnx__GraphProto *b, const char *name) {
  for (size_t i = 0; i < b->n_input; i++)
    if (!strcmp(b->input[i]->name, name)) return true;
  for (size_t i = 0; i < b->n_initializer; i++)
    if (!strcmp(b->initializer[i]->name, name)) return true;
  for (size_t i = 0; i < b->n_node; i++)
    for (size_t k = 0; k < b->node[i]->n_output; k++)
      if (!strcmp(b->node[i]->output[k], name)) return true;
  return false;
}

static char *prefixed(ox_net *g, const char *prefix, const char *name) {
  const size_t n = strlen(prefix) + strlen(name) + 2;
  char *s = TF_ARRAY(g->arena, char, n);
  if (!s) return g->oom = true, "";
  snprintf(s, n, "%s.%s", prefix, name);
  return s;
}

/* The value that a name within the innermost subgraph stands for. */
static char *resolved(ox_net *g, char *name) {
  for (const ox_scope *s = g->scope; *name && s; s = s->outer)
    if (is_local(s->body, name)) return prefixed(g, s->prefix, name);
  return name;
}

static bool is_named(const char *name) { return name && *name; }

/* Whether all that the rest relies on is there, in subgraphs within it, too. */
static bool has_names(const Onnx__GraphProto *b) {
  bool named =
      b->n_node <= BODY && b->n_initializer <= BODY && b->n_input <= BODY && b->n_output <= BODY;
  for (size_t i = 0; named && i < b->n_node; i++) {
    named = is_named(b->node[i]->op_type);
    for (size_t k = 0; named && k < b->node[i]->n_attribute; k++)
      named = !b->node[i]->attribute[k]->g || has_names(b->node[i]->attribute[k]->g);
  }
  for (size_t i = 0; named && i < b->n_input; i++)
    named = is_named(b->input[i]->name);
  for (size_t i = 0; named && i < b->n_output; i++)
    named = is_named(b->output[i]->name);
  for (size_t i = 0; named && i < b->n_initializer; i++)
    named = is_named(b->initializer[i]->name);
  return named;
}

/* Whether a node, or a subgraph in it, reads the value. */
static bool reads(const Onnx__NodeProto *n, const char *name);
static bool graph_reads(const Onnx__GraphProto *b, const char *name) {
  for (size_t i = 0; i < b->n_output; i++)
    if (!strcmp(b->output[i]->name, name)) return true;
  for (size_t i = 0; i < b->n_node; i++)
    if (reads(b->node[i], name)) return true;
  return false;
}

static bool reads(const Onnx__NodeProto *n, const char *name) {
  for (size_t k = 0; k < n->n_input; k++)
    if (!strcmp(n->input[k], name)) return true;
  for (size_t k = 0; k < n->n_attribute; k++)
    if (n->attribute[k]->g && graph_reads(n->attribute[k]->g, name)) return true;
  return false;
}

/* Which of its nodes its results need. */
static void mark_needed(const Onnx__GraphProto *b, bool *needed) {
  for (size_t i = b->n_node; i-- > 0;) {
    needed[i] = false;
    for (size_t k = 0; k < b->node[i]->n_output && !needed[i]; k++) {
      const char *name = b->node[i]->output[k];
      for (size_t o = 0; *name && o < b->n_output; o++)
        needed[i] |= !strcmp(b->output[o]->name, name);
      for (size_t j = i + 1; *name && j < b->n_node && !needed[i]; j++)
        needed[i] = needed[j] && reads(b->node[j], name);
    }
  }
}

static bool take_copy(ox_net *g, const Onnx__NodeProto *from) {
  Onnx__NodeProto *n = TF_NEW(g->arena, Onnx__NodeProto);
  if (!n) return !(g->oom = true);
  *n = *from;
  n->input = TF_ARRAY(g->arena, char *, n->n_input + 1);
  n->output = TF_ARRAY(g->arena, char *, n->n_output + 1);
  if (!n->input || !n->output) return !(g->oom = true);
  for (size_t k = 0; k < n->n_input; k++)
    n->input[k] = resolved(g, from->input[k]);
  for (size_t k = 0; k < n->n_output; k++)
    n->output[k] = resolved(g, from->output[k]);
  return take_node(g, n);
}

/* Runs the nodes of a subgraph whose inputs are defined. */
static bool run_body(ox_net *g, const ox_scope *s) {
  bool needed[BODY] = {false}, ok = true;
  mark_needed(s->body, needed);
  g->scope = s;
  for (size_t i = 0; i < s->body->n_initializer && ok; i++) {
    ox_value v;
    char *name = prefixed(g, s->prefix, s->body->initializer[i]->name);
    ok = ox_find(g, name) ||
         (ox_tensor_value(g, s->body->initializer[i], name, &v) && ox_define(g, name, &v));
  }
  for (size_t i = 0; i < s->body->n_node && ok; i++)
    ok = !needed[i] || take_copy(g, s->body->node[i]);
  g->scope = s->outer;
  return ok;
}

/* Another name of a value. */
static bool bind(ox_net *g, char *out, char *in) {
  Onnx__NodeProto *n = new_node(g, "Identity");
  if (!n) return false;
  n->output[n->n_output++] = out;
  n->input[n->n_input++] = in;
  return take_node(g, n);
}

/* The value of the subgraph's k-th result. */
static char *result_of(ox_net *g, const ox_scope *s, size_t k) {
  g->scope = s;
  char *name = resolved(g, s->body->output[k]->name);
  g->scope = s->outer;
  return name;
}

static char *iteration(ox_net *g, int64_t i) {
  char word[32];
  snprintf(word, sizeof word, "%lld", (long long)i);
  return (char *)ox_part(g, word);
}

static const Onnx__GraphProto *body_of(ox_net *g, const char *name) {
  const Onnx__AttributeProto *a = ox_attribute(g, name);
  if (!a || !a->g) return (void)ox_fail(g, TF_E_MISSING, "no %s", name), NULL;
  if (has_names(a->g)) return a->g;
  return (void)ox_fail(g, TF_E_LIMIT,
                       "a subgraph of more than %d nodes, or with something that has no name",
                       BODY),
         NULL;
}

bool ox_apply(ox_net *g, const char *name, const char *to, const char *from) {
  const Onnx__GraphProto *b = body_of(g, name);
  if (!b) return false;
  if (b->n_input != 1 || b->n_output != 1)
    return ox_fail(g, TF_E_SHAPE, "%s of %zu inputs and %zu results", name, b->n_input,
                   b->n_output);
  const ox_scope s = {b, ox_part(g, name), g->scope};
  return bind(g, prefixed(g, s.prefix, b->input[0]->name), (char *)ox_part(g, from)) &&
         run_body(g, &s) && bind(g, (char *)ox_part(g, to), result_of(g, &s, 0));
}

/* The branch that a known condition chooses. */
static bool branch(ox_net *g) {
  const ox_value *c = ox_input(g, 0);
  if (!c) return false;
  if (!c->number || ox_size(c) != 1) return ox_fail(g, TF_E_OPEN, "a condition that is data");
  const Onnx__GraphProto *b = body_of(g, c->number[0] != 0 ? "then_branch" : "else_branch");
  if (!b) return false;
  if (b->n_output != g->node->n_output)
    return ox_fail(g, TF_E_SHAPE, "%zu results of a branch of %zu", g->node->n_output, b->n_output);
  const ox_scope s = {b, iteration(g, 0), g->scope};
  bool ok = run_body(g, &s);
  for (size_t k = 0; k < b->n_output && ok; k++)
    ok = !*g->node->output[k] || bind(g, g->node->output[k], result_of(g, &s, k));
  return ok;
}

/* ---- loops ---------------------------------------------------------------------------------- */

/* What goes through the iterations: values that each gets from the one before, and the results of
 * all, concatenated. */
typedef struct {
  const Onnx__GraphProto *body;
  size_t n_state, n_left, n_first; /* n_first: results of the body before the states */
  char **state, **left;            /* left: [trip * n_left + k] */
} turns;

static bool make_turns(ox_net *g, turns *t, int64_t trips) {
  t->state = TF_ARRAY(g->arena, char *, t->n_state + 1);
  t->left = TF_ARRAY(g->arena, char *, (t->n_left + 1) * (size_t)(trips + 1));
  return (t->state && t->left) || !(g->oom = true);
}

/* The results of an iteration: the states of the next one, and what it leaves. */
static void keep_results(ox_net *g, turns *t, const ox_scope *s, int64_t trip) {
  for (size_t k = 0; k < t->n_state; k++)
    t->state[k] = result_of(g, s, t->n_first + k);
  for (size_t k = 0; k < t->n_left; k++)
    t->left[(size_t)trip * t->n_left + k] = result_of(g, s, t->n_first + t->n_state + k);
}

/* The results of the iterations, stacked along a new axis; backwards: the last one first. */
static bool gather_left(ox_net *g, const turns *t, size_t k, int64_t trips, int64_t axis,
                        bool backwards) {
  Onnx__NodeProto *n = new_node(g, "Concat");
  char *out = g->node->output[t->n_state + k];
  if (!n || !*out) return n != NULL;
  n->input = TF_ARRAY(g->arena, char *, (size_t)trips + 1);
  Onnx__AttributeProto *a = TF_NEW(g->arena, Onnx__AttributeProto);
  if (!n->input || !a) return !(g->oom = true);
  onnx__attribute_proto__init(a);
  a->name = "axis", a->has_type = 1, a->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT,
  a->has_i = 1, a->i = axis;
  n->attribute[n->n_attribute++] = a;
  n->output[n->n_output++] = out;
  for (int64_t i = 0; i < trips; i++) {
    double *x = ox_numbers_room(g, 1);
    Onnx__NodeProto *wide = new_node(g, "Unsqueeze");
    if (!x || !wide) return !(g->oom = true);
    *x = (double)axis;
    wide->input[wide->n_input++] = t->left[(size_t)(backwards ? trips - 1 - i : i) * t->n_left + k];
    if (!(wide->input[wide->n_input++] = define(g, 1, 1, x, OX_T_INT64))) return false;
    wide->output[wide->n_output++] = n->input[n->n_input++] = new_name(g);
    if (!take_node(g, wide)) return false;
  }
  return take_node(g, n);
}

static bool give_states(ox_net *g, const turns *t) {
  for (size_t k = 0; k < t->n_state; k++)
    if (*g->node->output[k] && !bind(g, g->node->output[k], t->state[k])) return false;
  return true;
}

/* A known number; otherwise `none`.  False: it is data. */
static bool known_number(ox_net *g, const char *name, double none, double *out) {
  const ox_value *v = *name ? ox_find(g, name) : NULL;
  *out = v && v->number ? v->number[0] : none;
  return !v || (v->number && !v->bad && ox_size(v) == 1);
}

static bool loop(ox_net *g) {
  turns t = {.body = body_of(g, "body"), .n_first = 1};
  double most, go;
  const Onnx__NodeProto *n = g->node;
  if (!t.body) return false;
  if (n->n_input < 2 || t.body->n_input != n->n_input || t.body->n_output < n->n_input - 1 ||
      t.body->n_output != n->n_output + 1)
    return ox_fail(g, TF_E_SHAPE, "a loop and a body of other numbers of inputs and results");
  if (!known_number(g, n->input[0], TRIPS + 1, &most) || !known_number(g, n->input[1], 1, &go))
    return ox_fail(g, TF_E_OPEN, "a number of trips, or a condition, that is data");
  t.n_state = n->n_input - 2, t.n_left = n->n_output - t.n_state;
  if (!make_turns(g, &t, TRIPS)) return false;
  for (size_t k = 0; k < t.n_state; k++)
    t.state[k] = n->input[2 + k];
  int64_t trip = 0;
  for (; (double)trip < most && go != 0; trip++) {
    if (trip == TRIPS) return ox_fail(g, TF_E_LIMIT, "more than %d trips", TRIPS);
    const ox_scope s = {t.body, iteration(g, trip), g->scope};
    double *x = ox_numbers_room(g, 2);
    if (!x)
      return ox_fail(g, TF_E_LIMIT, "more than %d numbers that are computed here",
                     OX_FOLDED_IN_ALL);
    x[0] = (double)trip, x[1] = 1;
    char *of[] = {define(g, 0, 1, x, OX_T_INT64), define(g, 0, 1, x + 1, OX_T_BOOL)};
    for (size_t k = 0; k < t.body->n_input; k++)
      if ((k < 2 && !of[k]) ||
          !bind(g, prefixed(g, s.prefix, t.body->input[k]->name), k < 2 ? of[k] : t.state[k - 2]))
        return false;
    if (!run_body(g, &s)) return false;
    if (!known_number(g, result_of(g, &s, 0), 1, &go))
      return ox_fail(g, TF_E_OPEN, "a condition that is data");
    keep_results(g, &t, &s, trip);
  }
  if (!trip && t.n_left) return ox_fail(g, TF_E_RANGE, "no trip: empty tensors are refused");
  bool ok = give_states(g, &t);
  for (size_t k = 0; k < t.n_left && ok; k++)
    ok = gather_left(g, &t, k, trip, 0, false);
  return ok;
}

/* The k-th number of a list that may be left out. */
static int64_t number_of(const ox_net *g, const char *name, size_t k) {
  size_t n;
  const int64_t *x = ox_ints(g, name, &n);
  return x && k < n ? x[k] : 0;
}

/* Element `at` of what is scanned, as the body's input. */
static bool bind_slice(ox_net *g, char *out, size_t k, size_t input, int64_t at) {
  Onnx__NodeProto *n = new_node(g, "Gather");
  Onnx__AttributeProto *a = n ? TF_NEW(g->arena, Onnx__AttributeProto) : NULL;
  double *x = ox_numbers_room(g, 1);
  if (!a || !x) return !(g->oom = true);
  *x = (double)at;
  onnx__attribute_proto__init(a);
  a->name = "axis", a->has_type = 1, a->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT,
  a->has_i = 1;
  a->i = number_of(g, "scan_input_axes", k);
  n->attribute[n->n_attribute++] = a;
  n->input[n->n_input++] = g->node->input[input];
  if (!(n->input[n->n_input++] = define(g, 0, 1, x, OX_T_INT64))) return false;
  n->output[n->n_output++] = out;
  return take_node(g, n);
}

static bool scan_trips(ox_net *g, size_t states, size_t scanned, int64_t *trips) {
  *trips = 0;
  for (size_t k = 0; k < scanned; k++) {
    const ox_value *v = ox_input(g, states + k);
    int axis;
    if (!v || !ox_axis_at(g, number_of(g, "scan_input_axes", k), v->rank, &axis)) return false;
    if (k && ox_extent(v, axis) != *trips)
      return ox_fail(g, TF_E_SHAPE, "what is scanned has several lengths");
    *trips = ox_extent(v, axis);
  }
  return (*trips >= 1 && *trips <= TRIPS) ||
         ox_fail(g, TF_E_LIMIT, "%lld trips; 1 to %d can be", (long long)*trips, TRIPS);
}

static bool scan(ox_net *g) {
  const Onnx__NodeProto *n = g->node;
  const int64_t listed = ox_int(g, "num_scan_inputs", 0);
  turns t = {.body = body_of(g, "body")};
  if (!t.body) return false;
  if (listed < 1 || (size_t)listed > n->n_input || t.body->n_input != n->n_input ||
      t.body->n_output != n->n_output || n->n_output < n->n_input - (size_t)listed)
    return ox_fail(g, TF_E_SHAPE, "a scan and a body of other numbers of inputs and results");
  const size_t scanned = (size_t)listed;
  int64_t trips;
  t.n_state = n->n_input - scanned, t.n_left = n->n_output - t.n_state;
  if (!scan_trips(g, t.n_state, scanned, &trips) || !make_turns(g, &t, trips)) return false;
  for (size_t k = 0; k < t.n_state; k++)
    t.state[k] = n->input[k];
  for (int64_t trip = 0; trip < trips; trip++) {
    const ox_scope s = {t.body, iteration(g, trip), g->scope};
    for (size_t k = 0; k < n->n_input; k++) {
      char *name = prefixed(g, s.prefix, t.body->input[k]->name);
      const bool back = k >= t.n_state && number_of(g, "scan_input_directions", k - t.n_state) != 0;
      if (!(k < t.n_state ? bind(g, name, t.state[k])
                          : bind_slice(g, name, k - t.n_state, k, back ? trips - 1 - trip : trip)))
        return false;
    }
    if (!run_body(g, &s)) return false;
    keep_results(g, &t, &s, trip);
  }
  bool ok = give_states(g, &t);
  for (size_t k = 0; k < t.n_left && ok; k++)
    ok = gather_left(g, &t, k, trips, number_of(g, "scan_output_axes", k),
                     number_of(g, "scan_output_directions", k) != 0);
  return ok;
}

const ox_kind ox_composed[] = {
    {"If", branch, NULL},
    {"Loop", loop, NULL},
    {"Scan", scan, NULL},
    {NULL, NULL, NULL},
};
