/* LSTM, GRU and RNN: a step after the other, each a product of the state before it and ops on its
 * elements.
 *
 * What the inputs contribute to the gates is one product for all steps.  Values: x [steps, batch,
 * in]; w [directions, gates * hidden, in]; r [directions, gates * hidden, hidden]; b [directions, 2
 * * gates * hidden]; states [directions, batch, hidden]. */
#include <stdio.h>
#include <string.h>

#include "model/import/onnx/onnx.h"

enum { X, W, R, B, LENGTHS, H0, C0, PEEPHOLES, INPUTS };
enum { MOST_GATES = 4, DIRECTIONS = 2 };

typedef struct rnn rnn;

typedef struct {
  const char *type, *gate; /* gate: a letter each, in the order of the weights */
  int n_gates;
  const char *function[MOST_GATES];
  bool (*step)(rnn *r);
  const char *activations[3]; /* as ONNX lists them, for one direction */
  int n_activations;
} cell;

struct rnn {
  ox_net *g;
  const cell *cell;
  ox_value in[INPUTS];
  bool has[INPUTS];
  int64_t steps, batch, hidden;
  int n_directions, direction, step;
  ox_value inputs; /* [steps, batch, gates * hidden]: what x contributes, in this direction */
  ox_value sums; /* [batch, gates * hidden]: what the state before contributes; without one there is
                    none */
  ox_value h, c; /* [batch, hidden]: the state */
  bool has_h, has_c, batch_first;
  ox_axis at_batch, at_hidden; /* of the op being built */
  bool relu;                   /* RNN's function is relu */
  bool bad;                    /* something could not be read */
};

/* "name.part.direction.step" */
static const char *part(const rnn *r, const char *what) {
  char name[60];
  snprintf(name, sizeof name, "%s.%d.%d", what, r->direction, r->step);
  return ox_part(r->g, name);
}

/* ---- what is read --------------------------------------------------------------------------- */

static ox_expr *read(rnn *r, const ox_value *v, const ox_axis *const *at) {
  ox_expr *e = ox_read(r->g, v, at);
  r->bad |= !e;
  return e;
}

/* Of an input whose first axis are directions, this one's. */
static bool of_direction(const rnn *r, int k, ox_value *v) {
  *v = r->in[k];
  return ox_slice(r->g, v, 0, r->direction, 1, 1);
}

/* An op with axes of batch and hidden elements. */
static bool open_op(rnn *r) {
  ox_begin(r->g);
  return ox_open_extent(r->g, &r->at_batch, r->batch) &&
         ox_open_extent(r->g, &r->at_hidden, r->hidden);
}

static bool end(rnn *r, const char *name, ox_expr *e, ox_value *out) {
  const ox_axis *const at[] = {&r->at_batch, &r->at_hidden};
  return ox_make(r->g, name, "=", e, at, 2, out);
}

static ox_expr *state(rnn *r, const ox_value *v) {
  const ox_axis *const at[] = {&r->at_batch, &r->at_hidden};
  return read(r, v, at);
}

/* b of a gate: of the inputs, or of the state. */
static ox_expr *bias(rnn *r, int gate, bool of_state) {
  const ox_axis *const at[] = {NULL, &r->at_hidden};
  ox_value v;
  if (!of_direction(r, B, &v) ||
      !ox_slice(r->g, &v, 1, ((of_state ? r->cell->n_gates : 0) + gate) * r->hidden, r->hidden,
                1)) {
    r->bad = true;
    return NULL;
  }
  return read(r, &v, at);
}

/* NULL is nothing to add. */
static ox_expr *plus(rnn *r, ox_expr *a, ox_expr *b) {
  return a && b ? ox_call(r->g, "+", a, b, NULL) : a ? a : b;
}

/* What the inputs contribute to a gate at this step. */
static ox_expr *from_inputs(rnn *r, int gate) {
  const ox_axis *const at[] = {NULL, &r->at_batch, &r->at_hidden};
  ox_value v = r->inputs;
  if (!ox_slice(r->g, &v, 0, r->step, 1, 1) ||
      !ox_slice(r->g, &v, 2, gate * r->hidden, r->hidden, 1)) {
    r->bad = true;
    return NULL;
  }
  ox_expr *e = read(r, &v, at);
  return r->has[B] ? plus(r, e, bias(r, gate, false)) : e;
}

/* What the state before contributes; NULL: nothing. */
static ox_expr *from_state(rnn *r, int gate) {
  ox_expr *e = NULL;
  ox_value v = r->sums;
  if (r->has_h && ox_slice(r->g, &v, 1, gate * r->hidden, r->hidden, 1)) e = state(r, &v);
  return r->has[B] ? plus(r, e, bias(r, gate, true)) : e;
}

/* ---- products ------------------------------------------------------------------------------- */

/* Sums over the last axis of v [.., k] and of the direction's rows of input k [1, rows, k]. */
static bool product(rnn *r, const char *name, const ox_value *v, int weights, int64_t from,
                    int64_t rows, ox_value *out) {
  ox_net *g = r->g;
  ox_value w;
  ox_axis axis[OX_RANK] = {0}, made = {0};
  const ox_axis *in[OX_RANK], *at[OX_RANK];
  if (!of_direction(r, weights, &w) || !ox_slice(g, &w, 1, from, rows, 1)) return false;
  ox_begin(g);
  for (int i = 0; i < v->rank; i++) {
    if (!ox_join(g, &axis[i], v, i) || (i == v->rank - 1 && !ox_join(g, &axis[i], &w, 2)) ||
        !ox_open(g, &axis[i]))
      return false;
    in[i] = at[i] = &axis[i];
  }
  if (!ox_join(g, &made, &w, 1) || !ox_open(g, &made)) return false;
  at[v->rank - 1] = &made;
  const ox_axis *const of_w[] = {NULL, &made, &axis[v->rank - 1]};
  ox_expr *x = ox_read(g, v, in), *y = ox_read(g, &w, of_w);
  return ox_make(g, name, "+=", x && y ? ox_call(g, "*", x, y, NULL) : NULL, at, v->rank, out);
}

/* ---- cells ---------------------------------------------------------------------------------- */

static bool gate(rnn *r, int k, ox_value *out) {
  const char name[] = {r->cell->gate[k], 0};
  const char *f = r->relu ? "relu" : r->cell->function[k];
  if (!open_op(r)) return false;
  ox_expr *e = plus(r, from_inputs(r, k), from_state(r, k));
  return e && end(r, part(r, name), ox_call(r->g, f, e, NULL, NULL), out);
}

static ox_expr *times(rnn *r, const ox_value *a, const ox_value *b) {
  ox_expr *x = state(r, a), *y = state(r, b);
  return x && y ? ox_call(r->g, "*", x, y, NULL) : NULL;
}

/* c = f c + i c~, h = o tanh(c) */
static bool lstm(rnn *r) {
  ox_value of[MOST_GATES];
  for (int k = 0; k < r->cell->n_gates; k++)
    if (!gate(r, k, &of[k])) return false;
  if (!open_op(r)) return false;
  ox_expr *e = times(r, &of[0], &of[3]);
  if (e && r->has_c) e = plus(r, times(r, &of[2], &r->c), e);
  if (!end(r, part(r, "cell"), e, &r->c) || !open_op(r)) return false;
  r->has_c = true;
  ox_expr *o = state(r, &of[1]), *c = state(r, &r->c);
  c = c ? ox_call(r->g, "tanh", c, NULL, NULL) : NULL;
  return o && c && end(r, part(r, "state"), ox_call(r->g, "*", o, c, NULL), &r->h);
}

/* What the state contributes to h~ once it is reset: the product of r h, or r times the product. */
static bool reset(rnn *r, const ox_value *by, ox_value *out) {
  ox_value h;
  if (ox_int(r->g, "linear_before_reset", 0)) {
    if (!open_op(r)) return false;
    ox_expr *e = from_state(r, 2), *z = state(r, by);
    return e && z && end(r, part(r, "reset"), ox_call(r->g, "*", z, e, NULL), out);
  }
  return open_op(r) && end(r, part(r, "reset"), times(r, by, &r->h), &h) &&
         product(r, part(r, "again"), &h, R, 2 * r->hidden, r->hidden, out);
}

/* h = (1 - z) h~ + z h */
static bool gru(rnn *r) {
  const bool linear = ox_int(r->g, "linear_before_reset", 0),
             acts = r->has_h || (linear && r->has[B]);
  ox_value z, by, again, h;
  if (!gate(r, 0, &z) || !gate(r, 1, &by) || (acts && !reset(r, &by, &again)) || !open_op(r))
    return false;
  ox_expr *e = plus(r, from_inputs(r, 2), acts ? state(r, &again) : NULL);
  if (e && !linear && r->has[B]) e = plus(r, e, bias(r, 2, true));
  if (!e || !end(r, part(r, "h"), ox_call(r->g, "tanh", e, NULL, NULL), &h) || !open_op(r))
    return false;
  ox_expr *rest = ox_call(r->g, "-", ox_number(r->g, 1), state(r, &z), NULL), *new = state(r, &h);
  e = rest && new ? ox_call(r->g, "*", rest, new, NULL) : NULL;
  if (e && r->has_h) e = plus(r, e, times(r, &z, &r->h));
  return end(r, part(r, "state"), e, &r->h);
}

static bool plain(rnn *r) { return gate(r, 0, &r->h); }

static const cell cells[] = {
    {"LSTM",
     "iofc",
     4,
     {"sigmoid", "sigmoid", "sigmoid", "tanh"},
     lstm,
     {"Sigmoid", "Tanh", "Tanh"},
     3},
    {"GRU", "zrh", 3, {"sigmoid", "sigmoid", "tanh", NULL}, gru, {"Sigmoid", "Tanh", NULL}, 2},
    {"RNN", "h", 1, {"tanh", NULL, NULL, NULL}, plain, {"Tanh", NULL, NULL}, 1}};

static bool one_step(rnn *r) {
  const bool apart = r->cell->step == gru &&
                     !ox_int(r->g, "linear_before_reset", 0); /* h~ has a product of its own */
  if (r->has_h &&
      !product(r, part(r, "sums"), &r->h, R, 0, (r->cell->n_gates - apart) * r->hidden, &r->sums))
    return false;
  const bool ok = r->cell->step(r) && !r->bad;
  r->has_h = true;
  return ok;
}

/* ---- the node ------------------------------------------------------------------------------- */

static bool check_shape(rnn *r, int k, int rank, const int64_t *extent) {
  if (!r->has[k]) return true;
  bool same = r->in[k].rank == rank;
  for (int i = 0; i < rank && same; i++)
    same = ox_extent(&r->in[k], i) == extent[i];
  return same || ox_fail(r->g, TF_E_SHAPE, "input %d is not of the extents that the others say", k);
}

static bool check_shapes(rnn *r) {
  const int64_t n = r->n_directions, rows = r->cell->n_gates * r->hidden;
  const int64_t w[] = {n, rows, ox_extent(&r->in[X], 2)}, of_r[] = {n, rows, r->hidden},
                b[] = {n, 2 * rows}, h[] = {n, r->batch, r->hidden};
  if (!check_shape(r, W, 3, w) || !check_shape(r, R, 3, of_r) || !check_shape(r, B, 2, b) ||
      !check_shape(r, H0, 3, h) || !check_shape(r, C0, 3, h))
    return false;
  const int64_t hidden = ox_int(r->g, "hidden_size", r->hidden);
  return hidden == r->hidden ||
         ox_fail(r->g, TF_E_SHAPE, "hidden_size is %lld, the weights are for %lld",
                 (long long)hidden, (long long)r->hidden);
}

static bool equals(const ProtobufCBinaryData *s, const char *text) {
  return s->len == strlen(text) && !memcmp(s->data, text, s->len);
}

/* Other functions than the usual ones are not known, but for an RNN's relu. */
static bool check_functions(rnn *r) {
  const Onnx__AttributeProto *a = ox_attribute(r->g, "activations");
  const size_t each = (size_t)r->cell->n_activations;
  if (a && a->n_strings && a->n_strings != each * (size_t)r->n_directions)
    return ox_fail(r->g, TF_E_SHAPE, "%zu activations, not %zu", a->n_strings,
                   each * (size_t)r->n_directions);
  for (size_t i = 0; a && i < a->n_strings; i++)
    r->relu |= r->cell->step == plain && equals(&a->strings[i], "Relu");
  for (size_t i = 0; a && i < a->n_strings; i++)
    if (!equals(&a->strings[i], r->relu ? "Relu" : r->cell->activations[i % each]))
      return ox_fail(r->g, TF_E_OPEN, "activations other than the usual ones are not known");
  return true;
}

static bool check_attributes(rnn *r) {
  ox_net *g = r->g;
  const char *way = ox_text(g, "direction", "forward");
  r->n_directions = strcmp(way, "bidirectional") ? 1 : DIRECTIONS;
  if (r->n_directions == 1 && strcmp(way, "forward") != 0 && strcmp(way, "reverse") != 0)
    return ox_fail(g, TF_E_NAME, "direction '%.40s'", way);
  if (r->has[LENGTHS])
    return ox_fail(g, TF_E_OPEN, "sequences of lengths of their own are not known");
  if (r->has[PEEPHOLES]) return ox_fail(g, TF_E_OPEN, "peepholes are not known");
  if (ox_attribute(g, "clip") || ox_int(g, "input_forget", 0))
    return ox_fail(g, TF_E_OPEN, "clip and input_forget are not known");
  return check_functions(r);
}

/* With layout 1 the batch comes first: the other order is another view. */
static bool turn_inputs(rnn *r) {
  static const int order[] = {1, 0, 2};
  const int64_t layout = ox_int(r->g, "layout", 0);
  r->batch_first = layout == 1;
  if (layout != 0 && layout != 1)
    return ox_fail(r->g, TF_E_RANGE, "layout %lld; 0 and 1 are known", (long long)layout);
  for (int k = 0; k < INPUTS && r->batch_first; k++) {
    if (k != X && k != H0 && k != C0) continue;
    if (!r->has[k]) continue;
    if (r->in[k].rank != 3)
      return ox_fail(r->g, TF_E_RANK, "input %d has %d axes, not 3", k, r->in[k].rank);
    ox_permute(&r->in[k], order);
  }
  return true;
}

static bool take_inputs(rnn *r) {
  for (int k = 0; k < INPUTS; k++) {
    r->has[k] = k < H0 + 1 + (r->cell->step == lstm) * 2 && ox_has(r->g, (size_t)k);
    if ((k <= R || (r->has[k] && k != LENGTHS && k != PEEPHOLES)) &&
        !ox_placed(r->g, (size_t)k, &r->in[k]))
      return false;
  }
  if (!turn_inputs(r)) return false;
  for (int k = 0; k < INPUTS; k++)
    for (int i = 0; r->has[k] && i < r->in[k].rank; i++)
      if (r->in[k].n[i] > 1)
        return ox_regroup(r->g, TF_E_SHAPE, "input %d has an axis that a reshape put together", k);
  if (r->in[X].rank != 3 || r->in[R].rank != 3)
    return ox_fail(r->g, TF_E_RANK, "inputs and weights have three axes");
  r->steps = ox_extent(&r->in[X], 0);
  r->batch = ox_extent(&r->in[X], 1);
  r->hidden = ox_extent(&r->in[R], 2);
  if (r->steps > r->g->room_ops)
    return ox_fail(r->g, TF_E_LIMIT, "more than %d ops", r->g->room_ops); /* one a step */
  return check_attributes(r) && check_shapes(r);
}

static bool begin_state(rnn *r, int k, ox_value *v) {
  const int64_t shape[] = {r->batch, r->hidden};
  return !r->has[k] || (of_direction(r, k, v) && ox_reshape(r->g, v, 2, shape));
}

/* All steps of a direction; h[t]: the state after step t as [1, 1, batch, hidden]. */
static bool walk(rnn *r, bool backward, ox_value *h) {
  const int64_t shape[] = {1, 1, r->batch, r->hidden};
  r->step = 0;
  r->has_h = r->has[H0];
  r->has_c = r->has[C0];
  if (!product(r, part(r, "inputs"), &r->in[X], W, 0, r->cell->n_gates * r->hidden, &r->inputs))
    return false;
  if (!begin_state(r, H0, &r->h) || !begin_state(r, C0, &r->c)) return false;
  for (int64_t i = 0; i < r->steps; i++) {
    r->step = (int)(backward ? r->steps - 1 - i : i);
    if (!one_step(r)) return false;
    h[r->step] = r->h;
    if (!ox_reshape(r->g, &h[r->step], 4, shape)) return false;
  }
  return true;
}

/* The k-th output: the final states of the directions, stacked. */
static bool give_last(rnn *r, size_t k, ox_value *last) {
  const int64_t shape[] = {1, r->batch, r->hidden};
  ox_value out;
  if (!ox_is_wanted(r->g, k)) return true;
  for (int d = 0; d < r->n_directions; d++)
    if (!ox_reshape(r->g, &last[d], 3, shape)) return false;
  static const int order[] = {1, 0, 2};
  if (!ox_concat(r->g, last, (size_t)r->n_directions, 0, r->g->node->output[k], &out)) return false;
  if (r->batch_first) ox_permute(&out, order);
  return ox_give(r->g, k, &out);
}

static bool recurrent(ox_net *g) {
  ox_value all[DIRECTIONS], h[DIRECTIONS], c[DIRECTIONS], out;
  rnn *r = TF_NEW(g->arena, rnn);
  if (!r) return !(g->oom = true);
  *r = (rnn){.g = g, .cell = cells};
  while (strcmp(r->cell->type, g->node->op_type) != 0)
    r->cell++;
  if (!take_inputs(r)) return false;
  const bool every = ox_is_wanted(g, 0),
             reverse = !strcmp(ox_text(g, "direction", "forward"), "reverse");
  ox_value *of = TF_ARRAY(g->arena, ox_value, (size_t)r->steps + 1);
  if (!of) return !(g->oom = true);
  for (r->direction = 0; r->direction < r->n_directions; r->direction++) {
    const int d = r->direction;
    if (!walk(r, d || reverse, of)) return false;
    h[d] = r->h, c[d] = r->c;
    if (every && !ox_concat(g, of, (size_t)r->steps, 0,
                            r->n_directions > 1 ? part(r, "all") : g->node->output[0], &all[d]))
      return false;
  }
  static const int order[] = {2, 0, 1, 3};
  if (every && !ox_concat(g, all, (size_t)r->n_directions, 1, g->node->output[0], &out))
    return false;
  if (every && r->batch_first) ox_permute(&out, order);
  if (every && !ox_give(g, 0, &out)) return false;
  return give_last(r, 1, h) && (r->cell->step != lstm || give_last(r, 2, c));
}

const ox_kind ox_recurrents[] = {{"LSTM", recurrent, NULL},
                                 {"GRU", recurrent, NULL},
                                 {"RNN", recurrent, NULL},
                                 {NULL, NULL, NULL}};
