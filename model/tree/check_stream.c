/* stream: what is named must be streamable, over loops that allow it, and every value that depends
 * on running results must be corrected by the rewriting (docs/SEMANTICS.md, D11). */
#include <inttypes.h>

#include "model/input/dims.h"
#include "model/tree/algebra.h"
#include "model/tree/check.h"

/* One `stream` clause. */
typedef struct {
  int scope;
  int root;   /* outermost Tile with a loop over a streamed dim; the scope if there is none */
  bool loops; /* there is such a loop */
  bool *over; /* [dim] such a loop is over it */
} clause;

typedef struct {
  const tf_checker *c;
  int n_clauses;
  clause *clauses;
  tf_value_change *change; /* [tensor] how it changes while the loops run */
  tf_value_change *seen;   /* [tensor] the same, as the current op sees it */
  tf_value_change *work;   /* [longest expression] */
  const clause **cause;    /* [tensor] the clause because of which it changes; NULL: it is final */
  const tf_named **blame;  /* [tensor] the name in that clause */
  bool *rows;              /* [tensor * n_dims + dim] what it changes by is another along the dim */
  bool *moves;             /* [dim] the same of the current op */
  double *rate; /* [tensor] of a maximum, how exponentials in its sums change with it; 0: not known
                   yet */
} streams;

static const tf_value_change final = {.change = TF_V_FIXED, .max = -1, .sum = -1};
static const tf_value_change broken = {.change = TF_V_OTHER, .max = -1, .sum = -1};

static bool reduces(const streams *q, int o, int dim) {
  int slot = tf_dim_slot(q->c->f, o, dim);
  return slot >= 0 && tf_slot_reduced(q->c->f, o, slot);
}

/* ---- what is named ------------------------------------------------------------------ */
/* A running sum or maximum stays from step to step, and each adds to it; what is retained is not
 * made again. */
static bool check_retained(const streams *q, int scope, const tf_named *z) {
  const tf_node *n = &q->c->f->tree->nodes[scope];
  for (int k = 0; k < n->n_retain; k++) {
    if (n->retain[k].tensor != z->tensor) continue;
    tf_fail(q->c->diags, z->at, TF_E_STREAM,
            "'%.60s' is retained, so that no step after the first would add to it",
            tf_tensor_name(q->c, z->tensor));
    tf_note(q->c->diags, n->retain[k].at, "leave it out here: what is streamed stays anyway");
    return false;
  }
  return true;
}

static bool check_name(const streams *q, int scope, const tf_named *z) {
  const tf_facts *f = q->c->f;
  const char *name = tf_tensor_name(q->c, z->tensor);
  int o = f->wl->tensors[z->tensor].producer, home = f->home_scope[z->tensor];
  if (o < 0)
    return tf_fail(q->c->diags, z->at, TF_E_STREAM, "'%.60s' is an input, not a reduction", name);
  if (!tf_op_below(f, o, scope)) {
    tf_fail(q->c->diags, z->at, TF_E_STREAM, "'%.60s' is not made below this scope", name);
    tf_note(q->c->diags, tf_leaf(q->c, o)->at, "it is made here");
    return false;
  }
  tf_reduce how = f->wl->ops[o].reduce;
  if (how != TF_REDUCE_ADD && how != TF_REDUCE_MAX)
    return tf_fail(q->c->diags, z->at, TF_E_STREAM,
                   "op '%.50s' is neither a sum nor a maximum: only those can be streamed",
                   tf_op_name(q->c, o));
  if (f->stream_scope[o] != scope) {
    tf_fail(q->c->diags, z->at, TF_E_STREAM, "'%.60s' is streamed by a scope below too", name);
    tf_note(q->c->diags, f->tree->nodes[f->stream_scope[o]].at, "the scope below");
    return false;
  }
  if (!check_retained(q, scope, z)) return false;
  const int in = f->tree->nodes[f->lead[o]].parent; /* the scope furthest in where it is read */
  if (home < 0 || home == scope || !tf_is_above(f, scope, home)) {
    if (in == scope || !tf_is_above(f, scope, in)) return true;
    tf_fail(q->c->diags, z->at, TF_E_STREAM,
            "'%.50s' is read in a scope further in: what is streamed and what reads it are in "
            "different branches of this scope",
            name);
    tf_note(q->c->diags, f->tree->nodes[in].at, "the scope further in");
    return false;
  }
  tf_fail(q->c->diags, z->at, TF_E_STREAM,
          "this scope is not the home of '%.50s': stream it where all its readers are", name);
  tf_note(q->c->diags, f->tree->nodes[home].at, "its home scope");
  return false;
}

static bool check_names(const streams *q) {
  bool ok = true;
  for (int i = 0; i < q->n_clauses; i++) {
    const tf_node *n = &q->c->f->tree->nodes[q->clauses[i].scope];
    for (int k = 0; k < n->n_stream; k++)
      ok = check_name(q, q->clauses[i].scope, &n->stream[k]) && ok;
  }
  return ok;
}

/* ---- loops -------------------------------------------------------------------------- */
/* Whether some tensor that the clause names is reduced over the dim. */
static bool names_reduce(const streams *q, const tf_node *scope, int dim) {
  bool any = false;
  for (int k = 0; k < scope->n_stream && !any; k++) {
    int o = q->c->f->wl->tensors[scope->stream[k].tensor].producer;
    any = o >= 0 && reduces(q, o, dim);
  }
  return any;
}

/* Whether the loop is open and may get a single step: then it violates nothing yet.  The completed
 * mapping is checked again. */
static bool may_vanish(const tf_loop *l) {
  bool one = l->n_choices == 0;
  for (int i = 0; i < l->n_choices; i++)
    one |= l->choices[i] == 1;
  return l->trip == 0 && one;
}

/* One loop above the scope, outer ones first. */
static void check_loop(streams *q, clause *s, int node, int k) {
  const tf_loop *l = &q->c->f->tree->nodes[node].loops[k];
  const tf_node *scope = &q->c->f->tree->nodes[s->scope];
  const char *dim = tf_dim_name(q->c, l->dim);
  bool over = names_reduce(q, scope, l->dim), temporal = l->axis == TF_TEMPORAL;
  bool reported = q->c->loop_reported[q->c->f->loop_from[node] + k];
  if (tf_loop_trivial(l) || may_vanish(l)) return;
  if (over && !temporal)
    tf_fail(
        q->c->diags, l->at, TF_E_STREAM,
        "a spatial loop on '%.50s', over which '%.50s' is streamed: steps must follow one another",
        dim, tf_tensor_name(q->c, scope->stream[0].tensor));
  else if (over)
    s->over[l->dim] = true;
  else if (temporal && s->loops && !reported)
    tf_fail(q->c->diags, l->at, TF_E_STREAM,
            "'%.50s' inside the loop that '%.50s' is streamed over: put it outside that loop, or "
            "below the scope",
            dim, tf_tensor_name(q->c, scope->stream[0].tensor));
  if (over && temporal && !s->loops) s->root = node;
  s->loops |= over && temporal;
}

static void check_above(streams *q, clause *s, int node) {
  const tf_node *n = &q->c->f->tree->nodes[node];
  if (n->parent >= 0) check_above(q, s, n->parent);
  for (int k = 0; k < n->n_loops; k++)
    check_loop(q, s, node, k);
}

/* Checks that every tensor named is reduced over each streamed dim. */
static void check_dims(const streams *q, const clause *s) {
  const tf_node *n = &q->c->f->tree->nodes[s->scope];
  for (int k = 0; k < n->n_stream; k++)
    for (int d = 0; d < q->c->f->wl->n_dims; d++)
      if (s->over[d] && !reduces(q, q->c->f->wl->tensors[n->stream[k].tensor].producer, d))
        tf_fail(q->c->diags, n->stream[k].at, TF_E_STREAM,
                "'%.50s' is not reduced over '%.50s', over which this scope streams",
                tf_tensor_name(q->c, n->stream[k].tensor), tf_dim_name(q->c, d));
}

/* Steps of dim below the clause's scope on the way to op o; 0: some are open, or too many. */
static int64_t steps_below(const streams *q, const clause *s, int o, int dim) {
  const tf_tree *t = q->c->f->tree;
  int64_t steps = 1;
  for (int n = t->op_node[o]; n != s->scope; n = t->nodes[n].parent)
    for (int k = 0; k < t->nodes[n].n_loops; k++) {
      const tf_loop *l = &t->nodes[n].loops[k];
      if (l->dim == dim && (l->trip == 0 || __builtin_mul_overflow(steps, l->trip, &steps)))
        return 0;
    }
  return steps;
}

/* Checks that named reductions that lead tile the dim alike, as the others take their range from
 * any of them. */
static void check_steps(const streams *q, const clause *s) {
  const tf_node *n = &q->c->f->tree->nodes[s->scope];
  for (int d = 0; d < q->c->f->wl->n_dims; d++) {
    int64_t first = 0;
    for (int k = 0; k < n->n_stream && s->over[d]; k++) {
      int o = q->c->f->wl->tensors[n->stream[k].tensor].producer;
      int64_t steps = tf_leads(q->c->f, o, s->scope) ? steps_below(q, s, o, d) : 0;
      if (first && steps && steps != first)
        tf_fail(q->c->diags, n->stream[k].at, TF_E_STREAM,
                "below this scope '%.40s' takes %" PRId64
                " steps of '%.40s', but what is streamed with it %" PRId64 ": they must be as many",
                tf_tensor_name(q->c, n->stream[k].tensor), steps, tf_dim_name(q->c, d), first);
      first = first ? first : steps;
    }
  }
}

/* ---- algebra ------------------------------------------------------------------------ */
/* Why a named sum cannot be corrected; NULL if it can. */
static const char *wrong_sum(const tf_value_change *v) {
  switch (v->change) {
  case TF_V_FIXED: return "no exponential of a streamed maximum feeds it";
  case TF_V_SHIFTS: return "it sums what shifts with the maximum, not exponentials of that";
  case TF_V_OTHER: return v->why;
  case TF_V_SCALES: break;
  }
  if (v->power > 0) return "it sums a product with a running sum, which is not final yet";
  if (v->power < -1) return "it is divided by running sums more than once";
  if (v->exps == 0) return "no exponential of a streamed maximum feeds it";
  return v->exps == 1 || v->exps == -1 ? NULL : "it is not linear in the exponentials";
}

static int scope_of(const streams *q, int tensor) {
  const int producer = q->c->f->wl->tensors[tensor].producer;
  return producer < 0 ? -1 : q->c->f->stream_scope[producer];
}

/* The same, given that its value can be corrected: why it cannot be together with the others of its
 * scope. */
static const char *wrong_beside(const streams *q, int o, const tf_value_change *v) {
  const int scope = q->c->f->stream_scope[o];
  double *rate = &q->rate[v->max];
  if (scope_of(q, v->max) != scope) return "another scope streams its maximum";
  if (v->sum >= 0 && scope_of(q, v->sum) != scope)
    return "another scope streams the sum that it is divided by";
  if (v->factor >= 0)
    return "its exponentials grow as the maximum rises: they have to be of an element minus the "
           "maximum";
  const bool first = *rate == 0;
  if (first) *rate = v->factor;
  return *rate == v->factor
             ? NULL
             : "its exponents have the maximum times another number than those of a sum before it";
}

static void name_result(streams *q, int o, tf_value_change v) {
  const tf_op *op = &q->c->f->wl->ops[o];
  const tf_named *z = q->blame[op->out];
  const char *why = wrong_sum(&v);
  if (!why && op->reduce == TF_REDUCE_ADD && v.max >= 0)
    why = wrong_beside(q, o, &v); /* else no maximum changes it */
  if (op->reduce == TF_REDUCE_MAX)
    why = v.change == TF_V_FIXED ? NULL : "it is a maximum of what another streamed result changes";
  tf_value_change *out = &q->change[op->out];
  bool reported = v.change == TF_V_OTHER && !v.why;
  *out = broken;
  if (reported) return;
  if (why) {
    tf_fail(q->c->diags, z->at, TF_E_STREAM, "'%.60s' cannot be streamed: %s",
            tf_tensor_name(q->c, op->out), why);
    return;
  }
  bool max = op->reduce == TF_REDUCE_MAX;
  *out = (tf_value_change){.change = max ? TF_V_SHIFTS : TF_V_SCALES};
  out->max = max ? op->out : v.max;
  out->sum = max ? -1 : op->out;
  out->factor = max;
  out->power = !max;
}

/* Reductions over other dims preserve a change with which they commute. */
static tf_value_change reduced(const tf_op *op, tf_value_change v) {
  bool kept = op->reduce == TF_ASSIGN || (op->reduce == TF_REDUCE_ADD && v.change == TF_V_SCALES) ||
              (op->reduce == TF_REDUCE_MAX && v.change == TF_V_SHIFTS);
  if (!kept && v.change != TF_V_OTHER) {
    v.change = TF_V_OTHER;
    v.why = "it reduces a value that a streamed result changes";
  }
  return v;
}

/* Whether op o reduces a dim that the clause streams over. */
static bool over_dims(const streams *q, int o, const clause *s) {
  for (int d = 0; d < q->c->f->wl->n_dims; d++)
    if (s->over[d] && reduces(q, o, d)) return true;
  return false;
}

/* Why op o, which is not named, must not compute a changing value; NULL if it may. */
static const char *wrong_plain(const streams *q, int o, const tf_value_change *v, const clause *s) {
  const tf_facts *f = q->c->f;
  const tf_tensor *z = &f->wl->tensors[f->wl->ops[o].out];
  if (over_dims(q, o, s)) return "it accumulates over the loop: name it too";
  if (v->change == TF_V_OTHER) return v->why;
  bool leaves = z->n_consumers == 0;
  for (int i = 0; i < z->n_consumers; i++)
    leaves |= !tf_op_below(f, z->consumers[i], s->root);
  return leaves ? "its result leaves the loop before that is final" : NULL;
}

/* Reports, at the loop, an op that does not lead and reduces the loop's dim. */
static void plain_result(streams *q, int o, tf_value_change v, const clause *s,
                         const tf_named *blame) {
  const tf_op *op = &q->c->f->wl->ops[o];
  bool reported =
      (v.change == TF_V_OTHER && !v.why) || (!tf_leads(q->c->f, o, s->root) && over_dims(q, o, s));
  v = reported ? broken : reduced(op, v);
  q->cause[op->out] = s;
  q->blame[op->out] = blame;
  q->change[op->out] = v;
  if (reported) return;
  const char *why = s->loops ? wrong_plain(q, o, &v, s) : NULL;
  if (!why) return;
  q->change[op->out] = broken;
  tf_fail(q->c->diags, blame->at, TF_E_STREAM,
          "'%.40s' cannot be streamed: op '%.40s' depends on it, and %s",
          tf_tensor_name(q->c, blame->tensor), tf_op_name(q->c, o), why);
  tf_note(q->c->diags, tf_leaf(q->c, o)->at, "op '%.60s'", tf_op_name(q->c, o));
}

static void check_op(streams *q, int o) {
  const tf_facts *f = q->c->f;
  const tf_op *op = &f->wl->ops[o];
  int first = -1;
  for (int i = 0; i < op->n_reads; i++) {
    int z = op->reads[i].tensor;
    bool running = q->change[z].change != TF_V_FIXED && tf_op_below(f, o, q->cause[z]->root);
    q->seen[z] = running ? q->change[z] : final;
    if (running && first < 0) first = z;
  }
  tf_value_change v = tf_change_of(op, q->seen, q->work);
  tf_rows_apply(&(tf_rows){f->wl, q->seen, q->rows, q->moves}, op, f->stream_scope[o] >= 0, &v);
  if (f->stream_scope[o] >= 0)
    name_result(q, o, v);
  else if (v.change != TF_V_FIXED && first >= 0)
    plain_result(q, o, v, q->cause[first], q->blame[first]);
}

static void check_algebra(streams *q) {
  const tf_workload *wl = q->c->f->wl;
  for (int z = 0; z < wl->n_tensors; z++)
    q->change[z] = final;
  for (int i = 0; i < q->n_clauses; i++) {
    const tf_node *n = &q->c->f->tree->nodes[q->clauses[i].scope];
    for (int k = 0; k < n->n_stream; k++) {
      q->cause[n->stream[k].tensor] = &q->clauses[i];
      q->blame[n->stream[k].tensor] = &n->stream[k];
    }
  }
  for (int i = 0; i < wl->n_ops; i++)
    check_op(q, wl->topo[i]);
}

/* ---- all of them -------------------------------------------------------------------- */
static bool allocate(streams *q) {
  const tf_workload *wl = q->c->f->wl;
  tf_arena *a = q->c->arena;
  size_t n = (size_t)wl->n_tensors, longest = 1;
  for (int o = 0; o < wl->n_ops; o++)
    if ((size_t)wl->ops[o].n_expr > longest) longest = (size_t)wl->ops[o].n_expr;
  q->change = TF_ARRAY(a, tf_value_change, n);
  q->seen = TF_ARRAY(a, tf_value_change, n);
  q->work = TF_ARRAY(a, tf_value_change, longest);
  q->cause = TF_ARRAY(a, const clause *, n);
  q->blame = TF_ARRAY(a, const tf_named *, n);
  q->rows = TF_ARRAY(a, bool, n *(size_t)wl->n_dims + 1);
  q->moves = TF_ARRAY(a, bool, (size_t)wl->n_dims + 1);
  q->rate = TF_ARRAY(a, double, n);
  bool ok =
      q->change && q->seen && q->work && q->cause && q->blame && q->rows && q->moves && q->rate;
  for (int i = 0; ok && i < q->n_clauses; i++)
    ok = (q->clauses[i].over = TF_ARRAY(a, bool, (size_t)wl->n_dims)) != NULL;
  return ok;
}

static bool find_clauses(streams *q) {
  const tf_tree *t = q->c->f->tree;
  for (int i = 0; i < t->n_nodes; i++)
    q->n_clauses += t->nodes[i].n_stream > 0;
  q->clauses = TF_ARRAY(q->c->arena, clause, (size_t)q->n_clauses);
  for (int i = 0, n = 0; q->clauses && i < t->n_nodes; i++)
    if (t->nodes[i].n_stream > 0) q->clauses[n++] = (clause){.scope = i, .root = i};
  return q->clauses && allocate(q);
}

/* Marks the dims that a stream with errors splits: no further errors are reported on their ranges.
 */
static void mark_dims(const streams *q) {
  const tf_facts *f = q->c->f;
  for (int i = 0; i < q->n_clauses; i++) {
    const tf_node *n = &f->tree->nodes[q->clauses[i].scope];
    for (int d = 0; d < f->wl->n_dims; d++)
      q->c->dim_reported[d] |= names_reduce(q, n, d);
  }
}

void tf_check_stream(const tf_checker *c) {
  streams q = {.c = c};
  size_t before = tf_diags_errors(c->diags);
  if (!find_clauses(&q)) {
    tf_out_of_memory(c->diags);
    return;
  }
  if (q.n_clauses == 0) return;
  bool named = check_names(&q);
  for (int i = 0; named && i < q.n_clauses; i++) {
    check_above(&q, &q.clauses[i], q.clauses[i].scope);
    check_dims(&q, &q.clauses[i]);
    check_steps(&q, &q.clauses[i]);
  }
  if (named) check_algebra(&q);
  if (tf_diags_errors(c->diags) > before) mark_dims(&q);
}
