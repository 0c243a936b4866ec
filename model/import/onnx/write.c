/* Prints the workload. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/import/onnx/onnx.h"

enum { LONGEST = 80, TURNS = 3 }; /* longest name, including the end; turn_of */

/* ---- names ---------------------------------------------------------------------------------- */

static bool is_function(const char *name) {
  static const char *const words[] = {"exp",    "log",  "sqrt", "tanh",  "erf",   "sigmoid",
                                      "silu",   "relu", "gelu", "abs",   "max",   "min",
                                      "select", "inf",  "ceil", "floor", "round", "trunc",
                                      "sin",    "cos",  "fmod", "and",   "or",    "not"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (!strcmp(words[i], name)) return true;
  return false;
}

/* Removes what exporters add around a name. */
static void clean(const char *from, char *out, size_t size) {
  size_t n = 0;
  while (*from && !isalnum((unsigned char)*from))
    from++;
  if (!isalpha((unsigned char)*from)) out[n++] = 'v';
  for (; *from && n + 1 < size; from++) {
    const bool plain = isalnum((unsigned char)*from) && (unsigned char)*from < 128;
    if (plain || (n && out[n - 1] != '_')) out[n++] = plain ? *from : '_';
  }
  while (n > 1 && out[n - 1] == '_')
    n--;
  out[n] = '\0';
  char *end = n > 9 ? out + n - 9 : out;
  if (!strcmp(end, "_output_0")) *end = '\0';
}

/* Dims are named d and their extent. */
static bool is_dim(const char *name) {
  return name[0] == 'd' && name[strspn(name + 1, "0123456789_") + 1] == '\0';
}

static bool is_taken(ox_net *g, const char *name) {
  return is_function(name) || is_dim(name) || ox_find(g, name);
}

static bool name_tensor(ox_net *g, int at) {
  char name[128], base[LONGEST];
  ox_tensor *t = &g->tensor[at];
  clean(t->from && *t->from ? t->from : "value", base, sizeof base);
  /* A number behind a dim's name is one more dim's name. */
  snprintf(name, sizeof name, "%s%s", is_dim(base) ? "v" : "", base);
  snprintf(base, sizeof base, "%.*s", (int)sizeof base - 1, name);
  for (int k = 2; is_taken(g, name); k++)
    snprintf(name, sizeof name, "%s_%d", base, k);
  const ox_value v = {.tensor = at};
  t->name = tf_arena_strndup(g->arena, name, strlen(name));
  return t->name && ox_define(g, t->name, &v);
}

/* What the caller knows by its name keeps it: results of the graph first, then its inputs, then all
 * else. */
static int turn_of(const ox_net *g, const ox_tensor *t) {
  if (t->result) return 0;
  for (size_t i = 0; t->op < 0 && !t->view_of && t->from && i < g->graph->n_input; i++)
    if (!strcmp(g->graph->input[i]->name, t->from)) return 1;
  return TURNS - 1;
}

bool ox_name_tensors(ox_net *g) {
  g->n_values = 0; /* from here on the table holds names of tensors */
  memset(g->bucket, 0xff, (size_t)g->n_buckets * sizeof *g->bucket);
  g->value = TF_ARRAY(g->arena, ox_value *, (size_t)g->n_tensors + 1);
  g->chain = TF_ARRAY(g->arena, int, (size_t)g->n_tensors + 1);
  g->room_values = g->n_tensors + 1;
  if (!g->value || !g->chain) return false;
  for (int turn = 0; turn < TURNS; turn++)
    for (int i = 0; i < g->n_tensors; i++) {
      const ox_tensor *t = &g->tensor[i];
      if ((t->op >= 0 ? !g->op[t->op].gone : t->reads > 0) && turn_of(g, t) == turn &&
          !name_tensor(g, i))
        return false;
    }
  return true;
}

static void dim(const ox_net *g, tf_page *p, int d) {
  tf_page_add(p, g->dim[d].nth ? "d%" PRId64 "_%d" : "d%" PRId64, g->dim[d].extent,
              g->dim[d].nth + 1);
}

/* ---- expressions ---------------------------------------------------------------------------- */

static void index_of(const ox_net *g, tf_page *p, const ox_index *x) {
  bool any = false;
  for (int i = 0; i < x->n; i++) {
    if (!x->coef[i]) continue;
    if (any) tf_page_add(p, " + ");
    if (x->coef[i] != 1) tf_page_add(p, "%" PRId64 " * ", x->coef[i]);
    dim(g, p, x->dim[i]);
    any = true;
  }
  if (!any)
    tf_page_add(p, "%" PRId64, x->c);
  else if (x->c)
    tf_page_add(p, x->c > 0 ? " + %" PRId64 : " - %" PRId64, x->c > 0 ? x->c : -x->c);
}

static void number(tf_page *p, double x) {
  char text[40];
  for (int digits = 6; digits <= 17;
       digits++) { /* the fewest digits that give the same number, as float32 or exactly */
    snprintf(text, sizeof text, "%.*g", digits, fabs(x));
    if (strtod(text, NULL) == fabs(x) ||
        (digits >= 9 && (float)strtod(text, NULL) == (float)fabs(x) && (double)(float)x == x))
      break;
  }
  tf_page_add(p, signbit(x) && x != 0 ? "(-%s)" : "%s", text);
}

static int level(const ox_expr *e) {
  if (e->kind != OX_CALL || e->call[1]) return 3;
  return *e->call == '+' || *e->call == '-' ? 1 : 2;
}

/* Comparisons and what joins them bind weakest: in parentheses. */
static bool is_condition(const ox_expr *e) {
  static const char *const words[] = {"<", "<=", "==", "!=", "and"};
  for (size_t i = 0; e->kind == OX_CALL && i < sizeof words / sizeof *words; i++)
    if (!strcmp(e->call, words[i])) return true;
  return false;
}

static void expr(const ox_net *g, tf_page *p, const ox_expr *e, int least) {
  if (e->kind == OX_NUMBER) {
    number(p, e->number);
    return;
  }
  if (e->kind == OX_READ) {
    const ox_tensor *t = &g->tensor[e->tensor];
    tf_page_add(p, "%s[", t->name);
    for (int r = 0; r < t->rank; r++) {
      if (r) tf_page_add(p, ",");
      index_of(g, p, &e->index[r]);
    }
    tf_page_add(p, "]");
    return;
  }
  if (e->kind == OX_PLACE) {
    tf_page_add(p, "(");
    index_of(g, p, e->index);
    tf_page_add(p, ")");
    return;
  }
  const int at = is_condition(e) ? 0 : level(e);
  if (at == 3) {
    tf_page_add(p, "%s(", e->call);
    for (int i = 0; i < e->n_args; i++) {
      if (i) tf_page_add(p, ", ");
      expr(g, p, e->arg[i], 0);
    }
    tf_page_add(p, ")");
    return;
  }
  if (at < least || at == 0) tf_page_add(p, "(");
  expr(g, p, e->arg[0], at);
  tf_page_add(p, " %s ", e->call);
  expr(g, p, e->arg[1], *e->call == '-' || *e->call == '/' ? at + 1 : at);
  if (at < least || at == 0) tf_page_add(p, ")");
}

/* ---- sections ------------------------------------------------------------------------------- */

static bool is_used(const ox_net *g, int d) {
  for (int i = 0; i < g->n_ops; i++) {
    if (g->op[i].gone) continue;
    for (int k = 0; k < g->op[i].n_out; k++)
      if (g->op[i].dim[k] == d) return true;
  }
  return false;
}

static void dims(const ox_net *g, tf_page *p) {
  const char *between = "  dims: {";
  for (int d = 0; d < g->n_dims; d++) {
    bool used = is_used(g, d);
    for (int i = 0; i < g->n_ops && !used; i++)
      used = !g->op[i].gone && ox_reads_dim(g, g->op[i].value, d);
    if (!used) continue;
    tf_page_add(p, "%s", between);
    dim(g, p, d);
    tf_page_add(p, ": %" PRId64, g->dim[d].extent);
    between = ", ";
  }
  tf_page_add(p, "}\n");
}

/* How far reads of a tensor go. */
static void span(const ox_net *g, const ox_expr *e, int tensor, int64_t *least, int64_t *most) {
  for (int r = 0; e->kind == OX_READ && e->tensor == tensor && r < g->tensor[tensor].rank; r++) {
    int64_t first = e->index[r].c, last = first;
    for (int i = 0; i < e->index[r].n; i++)
      *(e->index[r].coef[i] < 0 ? &first : &last) +=
          e->index[r].coef[i] * (g->dim[e->index[r].dim[i]].extent - 1);
    if (first < least[r]) least[r] = first;
    if (last > most[r]) most[r] = last;
  }
  for (int i = 0; i < e->n_args; i++)
    span(g, e->arg[i], tensor, least, most);
}

static void list(tf_page *p, const char *key, const int64_t *x, int n) {
  tf_page_add(p, "%s: [", key);
  for (int r = 0; r < n; r++)
    tf_page_add(p, r ? ", %" PRId64 : "%" PRId64, x[r]);
  tf_page_add(p, "]");
}

/* Whether they are weights of int8 that use seven bits, as quantisers can be set to write them for
 * processors that add two products as 16 bits: from -64 to 64.  Nearer ends would distinguish
 * layers that are the same but for their numbers. */
static bool of_seven_bits(const ox_net *g, const ox_tensor *t) {
  const Onnx__TensorProto *data = t->source.data;
  ox_reading from;
  int64_t n = 1;
  if (t->op >= 0 || t->bits != 8 || t->no_sign || t->source.fold || (!data && !t->source.number))
    return false;
  for (int r = 0; r < t->rank; r++)
    n *= t->shape[r]; /* of a tensor in the file: as many elements as bytes */
  if (data && (data->data_type != OX_T_INT8 || data->data_location == 1 ||
               !ox_has_numbers(g, data) || !ox_open_numbers(g, data, n, &from)))
    return false;
  for (int64_t i = 0; i < n; i++)
    if (fabs(data ? ox_next_number(&from) : t->source.number[i]) > 64) return false;
  return true;
}

static void tensor_row(const ox_net *g, int z, bool *any, tf_page *p) {
  const ox_tensor *t = &g->tensor[z];
  int64_t least[OX_RANK], most[OX_RANK];
  bool shaped = false, padded = false;
  if (!t->name) return;
  for (int r = 0; r < t->rank; r++)
    least[r] = INT64_MAX, most[r] = INT64_MIN;
  for (int i = 0; i < g->n_ops && t->op < 0; i++)
    if (!g->op[i].gone) span(g, g->op[i].value, z, least, most);
  for (int r = 0; r < t->rank; r++) {
    padded |= t->pad[r] > 0;
    shaped |= t->op < 0 && (least[r] != -t->pad[r] || most[r] != t->shape[r] - 1 + t->pad[r]);
  }
  shaped |= t->view_of > 0;
  if (!shaped && !padded && !t->bits) return;
  tf_page_add(p, "%s    %s: {", *any ? "" : "  tensors:\n", t->name);
  *any = true;
  if (t->view_of) tf_page_add(p, "view: %s, ", g->tensor[t->view_of - 1].name);
  if (padded) list(p, "pad", t->pad, t->rank);
  if (shaped) list(p, padded ? ", shape" : "shape", t->shape, t->rank);
  if (t->bits) tf_page_add(p, padded || shaped ? ", word-bits: %d" : "word-bits: %d", t->bits);
  if (t->bits && t->no_sign && t->op < 0 && !t->view_of) tf_page_add(p, ", unsigned: true");
  if (of_seven_bits(g, t)) tf_page_add(p, ", range: [-64, 64]");
  tf_page_add(p, "}\n");
}

static void op(const ox_net *g, const ox_op *o, tf_page *p) {
  tf_page_add(p, "  - %s[", g->tensor[o->out].name);
  for (int k = 0; k < o->n_out; k++) {
    if (k) tf_page_add(p, ",");
    dim(g, p, o->dim[k]);
  }
  tf_page_add(p, "] %s ", o->reduce);
  expr(g, p, o->value, 0);
  tf_page_add(p, "\n");
}

/* A comment must stay on one line. */
static void printable(tf_page *p, const char *s) {
  for (int n = 0; s && *s && n < 100; s++, n++)
    tf_page_add(p, "%c", (unsigned char)*s < 32 || (unsigned char)*s > 126 ? '?' : *s);
}

static void head(const ox_net *g, const Onnx__ModelProto *m, tf_page *p) {
  tf_page_add(p, "# From ONNX: graph '");
  printable(p, g->graph->name);
  tf_page_add(p, "', opset %" PRId64, g->opset);
  if (m->producer_name && *m->producer_name)
    tf_page_add(p, ", written by "), printable(p, m->producer_name);
  bool bits = false;
  for (int z = 0; z < g->n_tensors; z++)
    bits |= g->tensor[z].name && g->tensor[z].bits;
  tf_page_add(p, ".\n# Elements are as wide as the architecture's words%s.\n",
              bits ? ", where no word-bits say otherwise" : "");
  if (g->notes.text) tf_page_add(p, "%s", g->notes.text);
}

bool ox_write(ox_net *g, const Onnx__ModelProto *m, tf_page *p) {
  bool any = false;
  if (!ox_name_tensors(g)) return false;
  head(g, m, p);
  tf_page_add(p, "workload:\n  name: ");
  char name[60];
  clean(g->graph->name ? g->graph->name : "", name, sizeof name);
  tf_page_add(p, "%s\n", *name && strcmp(name, "v") != 0 ? name : "graph");
  dims(g, p);
  for (int z = 0; z < g->n_tensors; z++)
    tensor_row(g, z, &any, p);
  tf_page_add(p, "  ops:\n");
  for (int i = 0; i < g->n_ops; i++)
    if (!g->op[i].gone) op(g, &g->op[i], p);
  return true;
}
