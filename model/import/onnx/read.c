/* Reads the graph: its inputs, the needed nodes, one after the other. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/locale.h"
#include "base/names.h"
#include "model/import/onnx/onnx.h"
#include "tileflow/import.h"

enum { MOST_TENSORS = 8192, MOST_OPS = 4096, MOST_SETTINGS = 1000 };

/* ---- room ----------------------------------------------------------------------------------- */

static size_t names_of(const Onnx__GraphProto *graph) {
  size_t n = graph->n_input + graph->n_initializer;
  for (size_t i = 0; i < graph->n_node; i++)
    n += graph->node[i]->n_output + graph->node[i]->n_input;
  return n;
}

static bool make_room(ox_net *g) {
  const size_t n = names_of(g->graph);
  if (n > OX_MOST_VALUES || g->graph->n_node > OX_MOST_VALUES)
    return ox_fail(g, TF_E_LIMIT, "more than %d names of values", OX_MOST_VALUES);
  g->room_values = (int)n + 1;
  g->n_buckets = (int)n + MOST_OPS; /* compositions have names of their own */
  g->room_tensors = MOST_TENSORS;
  g->room_ops = MOST_OPS;
  g->value = TF_ARRAY(g->arena, ox_value *, (size_t)g->room_values);
  g->chain = TF_ARRAY(g->arena, int, (size_t)g->room_values);
  g->bucket = TF_ARRAY(g->arena, int, (size_t)g->n_buckets);
  g->tensor = TF_ARRAY(g->arena, ox_tensor, MOST_TENSORS);
  g->op = TF_ARRAY(g->arena, ox_op, MOST_OPS);
  g->needed = TF_ARRAY(g->arena, bool, g->graph->n_node + 1);
  g->asked = TF_ARRAY(g->arena, bool, g->graph->n_input + 1);
  g->reads_before = TF_ARRAY(g->arena, int, MOST_TENSORS);
  if (!g->value || !g->chain || !g->bucket || !g->tensor || !g->op || !g->needed || !g->asked ||
      !g->reads_before)
    return !(g->oom = true);
  memset(g->bucket, 0xff, (size_t)g->n_buckets * sizeof *g->bucket);
  return true;
}

static void forget_values(ox_net *g) {
  g->n_values = 0;
  memset(g->bucket, 0xff, (size_t)g->n_buckets * sizeof *g->bucket);
}

/* ---- which nodes some result needs ---------------------------------------------------------- */

static bool want(ox_net *g, const char *name) {
  const ox_value mark = {.tensor = -1};
  return !*name || ox_find(g, name) || ox_define(g, name, &mark);
}

/* What a node reads, and what subgraphs in it do: their own names, too, which does no harm. */
static bool want_inputs(ox_net *g, const Onnx__NodeProto *n) {
  bool ok = true;
  for (size_t k = 0; k < n->n_input && ok; k++)
    ok = want(g, n->input[k]);
  for (size_t a = 0; a < n->n_attribute && ok; a++) {
    const Onnx__GraphProto *b = n->attribute[a]->g;
    for (size_t i = 0; b && i < b->n_output && ok; i++)
      ok = !b->output[i]->name || want(g, b->output[i]->name);
    for (size_t i = 0; b && i < b->n_node && ok; i++)
      ok = want_inputs(g, b->node[i]);
  }
  return ok;
}

static bool find_needed(ox_net *g) {
  bool ok = true;
  for (size_t i = 0; i < g->graph->n_output && ok; i++)
    ok = want(g, g->graph->output[i]->name);
  for (size_t i = g->graph->n_node; i-- > 0 && ok;) {
    const Onnx__NodeProto *n = g->graph->node[i];
    for (size_t k = 0; k < n->n_output; k++)
      g->needed[i] |= *n->output[k] && ox_find(g, n->output[k]);
    if (g->needed[i]) ok = want_inputs(g, n);
  }
  for (size_t i = 0; i < g->graph->n_input; i++) {
    const char *name = g->graph->input[i]->name;
    g->asked[i] = !name || !*name || ox_find(g, name);
  }
  return ok;
}

/* ---- inputs --------------------------------------------------------------------------------- */

static bool give_initializers(ox_net *g) {
  bool ok = true;
  for (size_t i = 0; i < g->graph->n_initializer; i++) {
    const Onnx__TensorProto *t = g->graph->initializer[i];
    ox_value v;
    if (!t->name || !*t->name) return ox_fail(g, TF_E_MISSING, "an initializer without a name");
    ok = ox_tensor_value(g, t, t->name, &v) && ox_define(g, t->name, &v) && ok;
  }
  return ok;
}

/* The extent that a setting gives an axis of that name; 0: none. */
static int64_t set_extent(ox_net *g, const char *name, bool *used) {
  for (size_t i = 0; i < g->n_set; i++) {
    if (strcmp(g->set[i].name, name) != 0) continue;
    char *end;
    errno = 0;
    const long long n = strtoll(g->set[i].value, &end, 10);
    used[i] = true;
    if (*end || errno || n < 1 || n > OX_MOST_EXTENT)
      ox_fail(g, TF_E_RANGE, "--set %.60s=%.40s: a whole number from 1 to 2^30 is needed", name,
              g->set[i].value);
    return n < 1 || n > OX_MOST_EXTENT ? 1 : n;
  }
  return 0;
}

enum { AXIS_NAME = 80 };

/* The name by which a setting gives an axis its extent: its own, if that has a letter or a digit.
 */
static void name_axis(const char *input, int axis, const Onnx__TensorShapeProto__Dimension *d,
                      char name[AXIS_NAME]) {
  const bool has =
      d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM && d->dim_param;
  const char *own = has ? d->dim_param : "";
  while (*own && !isalnum((unsigned char)*own))
    own++;
  if (*own)
    snprintf(name, AXIS_NAME, "%.60s", d->dim_param);
  else
    snprintf(name, AXIS_NAME, "%.60s_%d", input, axis);
}

/* What the file says; below 0: nothing, as some writers have it. */
static int64_t extent_in_file(const Onnx__TensorShapeProto__Dimension *d) {
  return d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE ? d->dim_value : -1;
}

static bool extent_of(ox_net *g, const char *input, int axis,
                      const Onnx__TensorShapeProto__Dimension *d, bool *used, int64_t *out) {
  char name[AXIS_NAME];
  *out = extent_in_file(d);
  if (*out > OX_MOST_EXTENT)
    return ox_fail(g, TF_E_RANGE, "input '%.60s': axis %d has %lld elements", input, axis,
                   (long long)*out);
  if (*out >= 0) return true;
  name_axis(input, axis, d, name);
  *out = set_extent(g, name, used);
  return *out ||
         ox_fail(g, TF_E_OPEN, "input '%.60s': axis %d has no extent; give it with --set %s=N",
                 input, axis, name);
}

/* The shape of an input; NULL: it is no tensor with one. */
static const Onnx__TensorShapeProto *shape_of(const Onnx__ValueInfoProto *in) {
  const Onnx__TypeProto *type = in->type;
  const bool is_tensor =
      type && type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE && type->tensor_type;
  return is_tensor ? type->tensor_type->shape : NULL;
}

/* Of an input that no result needs: its axes may be set. */
static bool pass_input(ox_net *g, const Onnx__ValueInfoProto *in, bool *used) {
  const Onnx__TensorShapeProto *s = shape_of(in);
  char name[AXIS_NAME];
  for (size_t k = 0; s && in->name && k < s->n_dim; k++) {
    name_axis(in->name, (int)k, s->dim[k], name);
    if (extent_in_file(s->dim[k]) < 0) set_extent(g, name, used);
  }
  return true;
}

static bool give_input(ox_net *g, const Onnx__ValueInfoProto *in, bool *used) {
  const Onnx__TensorShapeProto *s = shape_of(in);
  int64_t shape[OX_RANK];
  bool ok = true;
  if (!in->name || !*in->name) return ox_fail(g, TF_E_MISSING, "an input without a name");
  if (ox_find(g, in->name)) return true; /* an initializer: older files list these as inputs, too */
  if (!s) return ox_fail(g, TF_E_TYPE, "input '%.60s' is no tensor with a shape", in->name);
  if (s->n_dim > OX_RANK)
    return ox_fail(g, TF_E_LIMIT, "input '%.60s' has more than %d axes", in->name, OX_RANK);
  for (size_t k = 0; k < s->n_dim; k++)
    ok = extent_of(g, in->name, (int)k, s->dim[k], used, &shape[k]) && ok;
  ox_value v = {.name = in->name, .type = in->type->tensor_type->elem_type};
  if (!ok) {
    v.bad = true;
    v.tensor = -1;
    return ox_define(g, in->name, &v) && false;
  }
  for (size_t k = 0; k < s->n_dim; k++)
    v.empty |= shape[k] == 0, v.none |= (uint32_t)(shape[k] == 0) << k;
  ox_whole(&v, -1, (int)s->n_dim, shape);
  return ox_fits(g, &v) && ox_define(g, in->name, &v) != NULL;
}

static bool give_all(ox_net *g) {
  bool used[MOST_SETTINGS] = {false}, ok = g->n_set <= MOST_SETTINGS && give_initializers(g);
  for (size_t i = 0; i < g->graph->n_input; i++)
    ok = (g->asked[i] ? give_input : pass_input)(g, g->graph->input[i], used) && ok;
  for (size_t i = 0; i < g->n_set && i < MOST_SETTINGS; i++)
    if (!used[i])
      ok = ox_fail(g, TF_E_NAME, "--set %.60s: no axis of an input has that name", g->set[i].name);
  return ok;
}

/* ---- nodes ---------------------------------------------------------------------------------- */

static bool is_standard(const Onnx__NodeProto *n) {
  return !n->domain || !*n->domain || !strcmp(n->domain, "ai.onnx");
}

/* Of ONNX's own other domains these alone. */
static bool is_preview(const Onnx__NodeProto *n) {
  return n->domain && !strcmp(n->domain, "ai.onnx.preview") && !strcmp(n->op_type, "FlexAttention");
}

/* Of onnxruntime's own domain what its quantiser writes: QGemm and all QLinear but the two that are
 * ONNX's. */
static bool is_microsoft(const char *type) {
  return !strcmp(type, "QGemm") ||
         (!strncmp(type, "QLinear", 7) && strcmp(type, "QLinearConv") != 0 &&
          strcmp(type, "QLinearMatMul") != 0);
}

static bool is_known(const Onnx__NodeProto *n) {
  const bool preview = !strcmp(n->op_type, "FlexAttention");
  const bool own =
      is_microsoft(n->op_type) ? n->domain && !strcmp(n->domain, "com.microsoft") : is_standard(n);
  return (preview ? is_preview(n) : own) && (ox_kind_of(n->op_type) || ox_folds(n->op_type));
}

static void suggest(const char *type, char *buf, size_t size) {
  tf_near near = tf_near_start(type, strlen(type));
  for (size_t at = 0; ox_defined_at(at); at++)
    tf_near_offer(&near, ox_defined_at(at));
  buf[0] = '\0';
  if (near.best) tf_near_text(&near, buf, size);
}

/* Reports every unknown operator once, with its nodes. */
static bool tell_unknown(ox_net *g) {
  bool ok = true;
  for (size_t i = 0; i < g->graph->n_node; i++) {
    const Onnx__NodeProto *n = g->graph->node[i];
    if (!g->needed[i] || is_known(n)) continue;
    char who[120] = "", near[80];
    int many = 0;
    bool reported = false;
    for (size_t k = 0; k < g->graph->n_node; k++) {
      const Onnx__NodeProto *m = g->graph->node[k];
      if (!g->needed[k] || strcmp(m->op_type, n->op_type) != 0 || is_standard(m) != is_standard(n))
        continue;
      reported |= k < i;
      if (many++ < 3 && m->name && *m->name)
        snprintf(who + strlen(who), sizeof who - strlen(who), "%s'%.30s'", *who ? ", " : "",
                 m->name);
    }
    if (reported) continue;
    near[0] = '\0';
    if (is_standard(n)) suggest(n->op_type, near, sizeof near);
    const bool own = !is_standard(n);
    ok = ox_fail(g, TF_E_NAME, "operator '%.40s%s%.40s' is not known: %d node%s%s%s%s%s",
                 own ? n->domain : "", own ? "." : "", n->op_type, many, many > 1 ? "s" : "",
                 *who ? ", " : "", who, many > 3 && *who ? ", .." : "", near);
  }
  return ok;
}

/* Marks the node's outputs as unknown, after its error was reported. */
static void mark_bad(ox_net *g) {
  const ox_value bad = {.tensor = -1, .bad = true};
  for (size_t k = 0; k < g->node->n_output; k++)
    if (*g->node->output[k] && !ox_find(g, g->node->output[k]))
      ox_define(g, g->node->output[k], &bad);
}

/* Imports the node; if axes merged by reshapes prevent it, tries again with inputs that have a rank
 * for each. */
static bool make_node(ox_net *g, const ox_kind *kind) {
  const int n_values = g->n_values, n_tensors = g->n_tensors;
  bool any = false;
  for (int z = 0; z < n_tensors; z++)
    g->reads_before[z] = g->tensor[z].reads;
  g->again = g->regrouped = false;
  if (kind->make(g)) return true;
  if (!g->regrouped) return false;
  ox_undefine(g, n_values);
  for (int z = 0; z < n_tensors; z++)
    g->tensor[z].reads = g->reads_before[z];
  g->again = true;
  const bool ok = ox_flatten_inputs(g, &any) && kind->make(g);
  g->again = false;
  return ok;
}

static bool is_named(const Onnx__NodeProto *n) {
  for (size_t k = 0; k < n->n_output; k++)
    if (*n->output[k]) return true;
  return false;
}

static bool take_node(ox_net *g) {
  bool done;
  if (!is_named(g->node)) return true;
  if (!is_known(g->node)) return ox_fail(g, TF_E_NAME, "an operator that is not known");
  g->beside = NULL;
  if (!ox_check_node(g) || !ox_known(g, &done)) return false;
  if (done) return ox_check_results(g);
  const double *beside = g->beside;
  const ox_kind *kind = ox_kind_of(g->node->op_type);
  if (!kind) return ox_fail(g, TF_E_OPEN, "known where its inputs are known numbers alone");
  if (!ox_in_steps(g, &done)) return false;
  if (done) return ox_check_results(g);
  if (!ox_check_numbers(g) || !make_node(g, kind) || !ox_check_results(g)) return false;
  ox_value *v = beside ? ox_find(g, g->node->output[0]) : NULL;
  if (v) v->number = beside;
  return true;
}

static bool take_nodes(ox_net *g) {
  for (size_t i = 0; i < g->graph->n_node && !g->oom; i++) {
    g->node = g->graph->node[i];
    g->at_node = (int)i;
    if (!g->needed[i] || take_node(g)) continue;
    mark_bad(g);
    if (!g->oom && tf_diags_errors(g->diags) == 0)
      ox_fail(g, TF_E_RANGE, "what it says is not understood");
  }
  g->node = NULL;
  ox_tell_remarks(g);
  return !g->oom && tf_diags_errors(g->diags) == 0;
}

/* ---- results -------------------------------------------------------------------------------- */

/* A tensor of its own for a result that is a view, an input, read by others, or another result
 * under another shape. */
static bool copy_result(ox_net *g, const ox_value *v, const char *name) {
  ox_value out = *v;
  if (!ox_copy(g, &out, name)) return false;
  g->tensor[out.tensor].result = true;
  return true;
}

static void count_asked(ox_net *g) {
  for (size_t i = 0; i < g->graph->n_output; i++) {
    const ox_value *v = ox_find(g, g->graph->output[i]->name);
    if (v && !v->bad && v->tensor >= 0) g->tensor[v->tensor].asked++;
  }
}

static bool take_results(ox_net *g) {
  bool ok = g->graph->n_output > 0 || ox_fail(g, TF_E_MISSING, "the graph has no output");
  count_asked(g);
  for (size_t i = 0; i < g->graph->n_output; i++) {
    const char *name = g->graph->output[i]->name;
    const ox_value *v = ox_find(g, name);
    if (!v || v->bad) {
      ok = v ? false : ox_fail(g, TF_E_NAME, "nothing makes output '%.60s'", name);
      continue;
    }
    if (v->empty) {
      ok =
          ox_fail(g, TF_E_RANGE, "output '%.60s' has no elements: empty tensors are refused", name);
      continue;
    }
    ox_tensor *t = v->tensor < 0 ? NULL : &g->tensor[v->tensor];
    if (t && t->op >= 0 && t->reads == 0 && t->asked == 1 && ox_is_whole(g, v)) {
      t->result = true;
      t->from =
          name; /* its caller asks for the output, not for what a reshape at the end made it of */
    } else {
      ok = copy_result(g, v, name) && ok;
    }
  }
  return ok;
}

/* ---- the file ------------------------------------------------------------------------------- */

static bool is_text(const char *s) { return s && *s; }

/* Checks names on which the rest relies. */
static bool check_graph(ox_net *g) {
  bool ok = true;
  for (size_t i = 0; i < g->graph->n_node; i++) {
    g->node = g->graph->node[i];
    g->at_node = (int)i;
    if (!is_text(g->node->op_type)) ok = ox_fail(g, TF_E_MISSING, "a node without an operator");
  }
  g->node = NULL;
  for (size_t i = 0; i < g->graph->n_output; i++)
    if (!is_text(g->graph->output[i]->name))
      ok = ox_fail(g, TF_E_MISSING, "an output without a name");
  return ok;
}

static int64_t opset_of(const Onnx__ModelProto *m) {
  for (size_t i = 0; i < m->n_opset_import; i++)
    if (!is_text(m->opset_import[i]->domain) || !strcmp(m->opset_import[i]->domain, "ai.onnx"))
      return m->opset_import[i]->version;
  return 1;
}

static bool take_graph(ox_net *g) {
  if (g->opset > ox_newest_opset())
    return ox_fail(g, TF_E_NAME, "opset %lld: what its operators mean is known up to opset %lld",
                   (long long)g->opset, (long long)ox_newest_opset());
  if (!check_graph(g) || !make_room(g) || !find_needed(g)) return false;
  forget_values(g);
  const bool known = tell_unknown(g), given = give_all(g);
  if (!known || !given || !take_nodes(g) || !take_results(g) || !ox_even_pads(g)) return false;
  ox_merge(g);
  return !g->oom;
}

bool tf_import_is_onnx(const tf_text *t) {
  return t->len > 1 && t->text[0] == 8 && t->text[1] > 0 && t->text[1] < 32;
}

/* Where the model's data for the workload go, and their type. */
typedef struct {
  const char *dtype;
  FILE *out;
} weights_to;

/* Writes the workload as text; or, if `weights` is not NULL, the model's data for it. */
static void take_model(ox_net *g, const tf_text *t, const Onnx__ModelProto *m, tf_page *page,
                       const weights_to *weights) {
  g->graph = m->graph;
  g->opset = opset_of(m);
  g->oom = !g->arena;
  if (g->oom || !take_graph(g)) return;
  if (!weights)
    g->oom |= !ox_write(g, m, page);
  else if (!ox_write_weights(g, t->name, weights->dtype, weights->out))
    g->oom |= tf_diags_errors(g->diags) == 0;
}

static bool has_open_axis(const Onnx__GraphProto *graph, const char *name) {
  char own[AXIS_NAME];
  for (size_t i = 0; i < graph->n_input; i++) {
    const Onnx__TensorShapeProto *s = shape_of(graph->input[i]);
    for (size_t k = 0; s && k < s->n_dim; k++) {
      if (extent_in_file(s->dim[k]) >= 0) continue;
      name_axis(graph->input[i]->name ? graph->input[i]->name : "", (int)k, s->dim[k], own);
      if (!strcmp(own, name)) return true;
    }
  }
  return false;
}

size_t tf_import_onnx_axes(const tf_text *t, tf_setting *set, size_t n_set) {
  size_t n = 0;
  Onnx__ModelProto *m = ox_unpack(NULL, t->text, t->len);
  for (size_t i = 0; m && i < n_set; i++) {
    if (!has_open_axis(m->graph, set[i].name)) continue;
    const tf_setting taken = set[i];
    memmove(set + n + 1, set + n, (i - n) * sizeof *set); /* the others keep their order */
    set[n++] = taken;
  }
  if (m) onnx__model_proto__free_unpacked(m, NULL);
  return n;
}

static char *import(const tf_text *t, const tf_setting *set, size_t n_set,
                    const weights_to *weights, tf_diags *d) {
  ox_net g = {.diags = d,
              .file = tf_diags_add_file(d, t->name, "", 0),
              .set = set,
              .n_set = n_set,
              .arena = tf_arena_new(),
              .take = take_node};
  tf_page page = {0};
  g.bytes = (const uint8_t *)t->text;
  Onnx__ModelProto *m = ox_unpack(&g, t->text, t->len);
  if (m) take_model(&g, t, m, &page, weights);
  if ((g.oom || page.bad || g.notes.bad) && tf_diags_errors(d) == 0)
    ox_fail(&g, TF_E_LIMIT, "out of memory");
  if (m) onnx__model_proto__free_unpacked(m, NULL);
  tf_arena_free(g.arena);
  free(g.notes.text);
  if (tf_diags_errors(d) == 0) return page.text;
  free(page.text);
  return NULL;
}

char *tf_import_onnx(const tf_text *t, const tf_setting *set, size_t n_set, tf_diags *d) {
  TF_IN_C_LOCALE;
  return import(t, set, n_set, NULL, d);
}

bool tf_import_onnx_weights(const tf_text *t, const tf_setting *set, size_t n_set,
                            const char *dtype, FILE *out, tf_diags *d) {
  TF_IN_C_LOCALE;
  if (dtype && strcmp(dtype, "f32") != 0 && strcmp(dtype, "bf16") != 0 &&
      strcmp(dtype, "int8") != 0)
    return tf_fail(d, (tf_loc){0}, TF_E_NAME,
                   "weights are written in f32, bf16 or int8, not in '%.40s'", dtype);
  const weights_to to = {dtype, out};
  free(import(t, set, n_set, &to, d));
  return tf_diags_errors(d) == 0;
}
