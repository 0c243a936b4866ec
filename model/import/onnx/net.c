/* The graph's names, attributes and errors. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "model/import/onnx/onnx.h"

enum { SHOWN = 60, SAID = 400 };

/* Prefixes the message with the current node. */
static void about_node(const ox_net *g, char *buf, size_t size, const char *fmt, va_list ap) {
  const Onnx__NodeProto *n = g->node;
  int len = 0;
  char type[100] = "";
  if (n && g->within)
    snprintf(type, sizeof type, "%.40s, of which %.40s", g->within->op_type, n->op_type);
  else if (n)
    snprintf(type, sizeof type, "%.40s", n->op_type ? n->op_type : "");
  if (n && n->name && *n->name)
    len = snprintf(buf, size, "node '%.*s' (%s): ", SHOWN, n->name, type);
  else if (n)
    len = snprintf(buf, size, "node %d (%s): ", g->at_node, type);
  vsnprintf(buf + len, size - (size_t)len, fmt, ap);
}

bool ox_fail(ox_net *g, tf_code code, const char *fmt, ...) {
  char why[SAID];
  va_list ap;
  va_start(ap, fmt);
  about_node(g, why, sizeof why, fmt, ap);
  va_end(ap);
  return tf_fail(g->diags, (tf_loc){.file = g->file}, code, "%s", why);
}

bool ox_regroup(ox_net *g, tf_code code, const char *fmt, ...) {
  char why[SAID];
  va_list ap;
  g->regrouped = true;
  if (g->node && !g->again) return false;
  va_start(ap, fmt);
  about_node(g, why, sizeof why, fmt, ap);
  va_end(ap);
  return tf_fail(g->diags, (tf_loc){.file = g->file}, code, "%s", why);
}

void ox_warn(ox_net *g, const char *fmt, ...) {
  char why[SAID];
  va_list ap;
  va_start(ap, fmt);
  about_node(g, why, sizeof why, fmt, ap);
  va_end(ap);
  tf_warn(g->diags, (tf_loc){.file = g->file}, "%s", why);
}

void ox_remark(ox_net *g, int what) {
  if (!g->remark[what].n++) g->remark[what].first = g->node;
}

void ox_tell_remarks(ox_net *g) {
  static const char *const what[OX_REMARKS] = {
      [OX_WHOLE_SUMS] =
          "compute with integers as float32 numbers: exact up to 2^24, and they do not wrap",
      [OX_NARROW_FLOATS] = "cast to narrower floats and round nothing: all is computed in float32"};
  for (int i = 0; i < OX_REMARKS; i++) {
    const Onnx__NodeProto *n = g->remark[i].first;
    if (!n) continue;
    const char *name = n->name && *n->name ? n->name : n->output[0];
    tf_warn(g->diags, (tf_loc){.file = g->file}, "%d node%s, the first '%.60s' (%.40s), %s",
            g->remark[i].n, g->remark[i].n > 1 ? "s" : "", name, n->op_type, what[i]);
  }
}

/* ---- values by name ------------------------------------------------------------------------- */

static unsigned hash(const char *s) {
  unsigned h = 2166136261u;
  for (; *s; s++)
    h = (h ^ (unsigned char)*s) * 16777619u;
  return h;
}

ox_value *ox_find(ox_net *g, const char *name) {
  for (int i = g->bucket[hash(name) % (unsigned)g->n_buckets]; i >= 0; i = g->chain[i])
    if (!strcmp(g->value[i]->name, name)) return g->value[i];
  return NULL;
}

/* Room for one more: values stay where they are, as nodes hold on to their inputs. */
static bool more_values(ox_net *g) {
  if (g->n_values < g->room_values) return true;
  if (g->n_values >= OX_MOST_VALUES)
    return ox_fail(g, TF_E_LIMIT, "more than %d names of values", OX_MOST_VALUES);
  const int room = 2 * g->room_values + 1;
  ox_value **value = TF_ARRAY(g->arena, ox_value *, (size_t)room);
  int *chain = TF_ARRAY(g->arena, int, (size_t)room);
  if (!value || !chain) return !(g->oom = true);
  memcpy(value, g->value, (size_t)g->n_values * sizeof *value);
  memcpy(chain, g->chain, (size_t)g->n_values * sizeof *chain);
  g->value = value, g->chain = chain, g->room_values = room;
  return true;
}

ox_value *ox_define(ox_net *g, const char *name, const ox_value *v) {
  const unsigned at = hash(name) % (unsigned)g->n_buckets;
  if (ox_find(g, name)) {
    ox_fail(g, TF_E_DUP, "value '%.*s' is made twice", SHOWN, name);
    return NULL;
  }
  if (!more_values(g)) return NULL;
  ox_value *new = g->value[g->n_values] = TF_NEW(g->arena, ox_value);
  if (!new) return g->oom = true, NULL;
  *new = *v;
  new->name = name;
  g->chain[g->n_values] = g->bucket[at];
  g->bucket[at] = g->n_values++;
  return new;
}

bool ox_has(const ox_net *g, size_t k) {
  if (k >= g->node->n_input || !*g->node->input[k]) return false;
  const ox_value *v = ox_find((ox_net *)g, g->node->input[k]);
  return !v || !v->empty;
}

void ox_undefine(ox_net *g, int n) {
  for (; g->n_values > n; g->n_values--)
    g->bucket[hash(g->value[g->n_values - 1]->name) % (unsigned)g->n_buckets] =
        g->chain[g->n_values - 1];
}

const ox_value *ox_input(ox_net *g, size_t k) {
  if (k >= g->node->n_input || !*g->node->input[k])
    return (void)ox_fail(g, TF_E_MISSING, "input %zu is not given", k), NULL;
  if (!ox_has(g, k))
    return (void)ox_fail(g, TF_E_RANGE,
                         "input %zu, '%.*s', has no elements: empty tensors are refused", k, SHOWN,
                         g->node->input[k]),
           NULL;
  const ox_value *v = ox_find(g, g->node->input[k]);
  if (!v) ox_fail(g, TF_E_NAME, "nothing before it makes '%.*s'", SHOWN, g->node->input[k]);
  return v && !v->bad ? v : NULL;
}

/* Whether the node, or a subgraph in it, reads a value of that name. */
static bool reads(const Onnx__NodeProto *n, const char *name) {
  for (size_t k = 0; k < n->n_input; k++)
    if (!strcmp(n->input[k], name)) return true;
  for (size_t a = 0; a < n->n_attribute; a++) {
    const Onnx__GraphProto *b = n->attribute[a]->g;
    for (size_t i = 0; b && i < b->n_output; i++)
      if (b->output[i]->name && !strcmp(b->output[i]->name, name)) return true;
    for (size_t i = 0; b && i < b->n_node; i++)
      if (reads(b->node[i], name)) return true;
  }
  return false;
}

bool ox_is_wanted(const ox_net *g, size_t k) {
  const char *name = k < g->node->n_output ? g->node->output[k] : "";
  bool any = false;
  for (size_t i = 0; *name && i < g->graph->n_output; i++)
    any |= !strcmp(g->graph->output[i]->name, name);
  for (size_t i = 0; *name && i < g->graph->n_node && !any; i++)
    any = g->needed[i] && reads(g->graph->node[i], name);
  return any || (*name && g->within);
}

int ox_new_tensor(ox_net *g, const char *from) {
  if (g->n_tensors == g->room_tensors) {
    ox_fail(g, TF_E_LIMIT, "more than %d tensors", g->room_tensors);
    return -1;
  }
  g->tensor[g->n_tensors] = (ox_tensor){.from = from, .op = -1};
  return g->n_tensors++;
}

/* ---- attributes ----------------------------------------------------------------------------- */

const Onnx__AttributeProto *ox_attribute(const ox_net *g, const char *name) {
  for (size_t i = 0; i < g->node->n_attribute; i++)
    if (g->node->attribute[i]->name && !strcmp(g->node->attribute[i]->name, name))
      return g->node->attribute[i];
  return NULL;
}

int64_t ox_int(const ox_net *g, const char *name, int64_t otherwise) {
  const Onnx__AttributeProto *a = ox_attribute(g, name);
  return a ? a->i : otherwise;
}

double ox_float(const ox_net *g, const char *name, double otherwise) {
  const Onnx__AttributeProto *a = ox_attribute(g, name);
  return a ? (double)a->f : otherwise;
}

const char *ox_text(const ox_net *g, const char *name, const char *otherwise) {
  const Onnx__AttributeProto *a = ox_attribute(g, name);
  if (!a) return otherwise;
  char *s = tf_arena_strndup(g->arena, (const char *)a->s.data, a->s.len);
  return s ? s : otherwise;
}

const int64_t *ox_ints(const ox_net *g, const char *name, size_t *n) {
  const Onnx__AttributeProto *a = ox_attribute(g, name);
  *n = a ? a->n_ints : 0;
  return a && a->n_ints ? a->ints : NULL;
}

/* Ends of slices are often the largest integer. */
static int64_t clamped_integer(double x) {
  return x >= 0x1p62 ? INT64_C(1) << 62 : x <= -0x1p62 ? -(INT64_C(1) << 62) : (int64_t)x;
}

bool ox_numbers(ox_net *g, size_t k, const int64_t **number, int64_t *n) {
  *number = NULL;
  *n = 0;
  if (!ox_has(g, k)) return true;
  const ox_value *v = ox_input(g, k);
  if (!v) return false;
  if (!v->number)
    return ox_fail(g, TF_E_OPEN, "'%.*s' must be known: it says shapes, not data", SHOWN, v->name);
  *n = ox_size(v);
  if (*n > OX_NUMBERS) return ox_fail(g, TF_E_LIMIT, "a list of more than %d numbers", OX_NUMBERS);
  int64_t *out = TF_ARRAY(g->arena, int64_t, (size_t)*n + 1);
  g->oom |= !out;
  for (int64_t i = 0; i < *n && out; i++) {
    if (isnan(v->number[i])) return ox_fail(g, TF_E_RANGE, "'%.*s' is no number", SHOWN, v->name);
    out[i] = clamped_integer(v->number[i]);
  }
  *number = out;
  return out != NULL;
}

bool ox_axis_at(ox_net *g, int64_t axis, int rank, int *out) {
  if (axis < -rank || axis >= rank)
    return ox_fail(g, TF_E_RANGE, "axis %lld of %d", (long long)axis, rank);
  *out = (int)(axis < 0 ? axis + rank : axis);
  return true;
}

int64_t ox_size(const ox_value *v) {
  int64_t size = 1;
  for (int i = 0; i < v->n_factors; i++)
    if (!tf_mul(size, v->f[i].extent, &size)) return INT64_MAX;
  return size;
}
