/* Reverse mode over the graph of ops. */
#include "tileflow/grad.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/locale.h"
#include "base/names.h"
#include "grad/derive.h"
#include "grad/grad_step.h"
#include "grad/grad_write.h"
#include "grad/shift.h"
#include "grad/spread.h"

/* A tensor of the forward workload. */
typedef struct {
  bool of, by, given, again;
  bool hangs;   /* depends on one of `by` */
  bool reaches; /* one of `of` depends on it */
  bool flat;    /* its value does not matter, so that its gradient is 0 (a maximum or minimum) */
  int uses;     /* reads that may contribute to its gradient */
  bool asked_apart; /* its gradient is both requested and read further: a copy is the result */
  gr_target to;
  const gr_expr *sum; /* contributions to its gradient so far; NULL: none, or stored already */
  int made;           /* tensor of its gradient; -1: not yet */
} node;

typedef struct {
  gr_draft d;
  node *node; /* [n_tensors] of wl */
  tf_update step;
} grad;

/* ---- what is asked for -------------------------------------------------------------------- */
static int find_tensor(const tf_workload *wl, const char *name, size_t len, const char *what,
                       tf_diags *d) {
  tf_near near = tf_near_start(name, len);
  char hint[80];
  for (int t = 0; t < wl->n_tensors; t++) {
    if (strlen(wl->tensors[t].name) == len && !memcmp(wl->tensors[t].name, name, len)) return t;
    tf_near_offer(&near, wl->tensors[t].name);
  }
  tf_fail(d, wl->at, TF_E_NAME, "%s: no op uses a tensor '%.*s'%s", what,
          (int)(len < 60 ? len : 60), name, tf_near_text(&near, hint, sizeof hint));
  return -1;
}

/* Sets the flag `at` bytes into the node of each name; false after an error. */
static bool read_names(grad *g, const char *names, const char *what, size_t at) {
  bool ok = true;
  for (const char *s = names; s; s = strchr(s, ',') ? strchr(s, ',') + 1 : NULL) {
    int t = find_tensor(g->d.wl, s, strcspn(s, ","), what, g->d.diags);
    if (t >= 0) *(bool *)((char *)&g->node[t] + at) = true;
    ok = ok && t >= 0;
  }
  return ok;
}

/* Which tensors depend on one of `by`, other than through flat ones alone. */
static void find_hanging(grad *g) {
  const tf_workload *wl = g->d.wl;
  for (int t = 0; t < wl->n_tensors; t++)
    g->node[t].hangs = g->node[t].by;
  for (int i = 0; i < wl->n_ops; i++) {
    const tf_op *op = &wl->ops[wl->topo[i]];
    for (int k = 0; k < op->n_reads; k++) {
      const node *from = &g->node[op->reads[k].tensor];
      if (from->hangs && !from->flat) g->node[op->out].hangs = true;
    }
  }
}

static void set_defaults(grad *g, const tf_grad_options *o) {
  const tf_workload *wl = g->d.wl;
  for (int t = 0; t < wl->n_tensors; t++) {
    const tf_tensor *z = &wl->tensors[t];
    if (!o->of && z->producer >= 0 && z->n_consumers == 0) g->node[t].of = true;
    g->node[t].reaches = g->node[t].of;
    g->node[t].made = -1;
  }
  for (int i = wl->n_ops - 1; i >= 0; i--) {
    const tf_op *op = &wl->ops[wl->topo[i]];
    for (int k = 0; k < op->n_reads; k++)
      if (g->node[op->out].reaches) g->node[op->reads[k].tensor].reaches = true;
  }
  for (int t = 0; t < wl->n_tensors; t++)
    if (!o->by && wl->tensors[t].producer < 0) g->node[t].by = g->node[t].reaches;
  find_hanging(g);
}

static bool wanted(const node *n) { return n->hangs && n->reaches && !n->flat; }

static bool check_asked(grad *g) {
  const tf_workload *wl = g->d.wl;
  size_t before = tf_diags_errors(g->d.diags);
  int n_by = 0;
  for (int t = 0; t < wl->n_tensors; t++) {
    const node *n = &g->node[t];
    const tf_tensor *z = &wl->tensors[t];
    n_by += n->by;
    if (n->by && n->of)
      tf_fail(g->d.diags, z->at, TF_E_DUP, "'%.60s' is both what is differentiated and what by",
              z->name);
    else if (n->by && !n->reaches)
      tf_fail(g->d.diags, z->at, TF_E_NAME, "nothing that is differentiated hangs on '%.60s'",
              z->name);
    else if (n->of && !n->hangs)
      tf_fail(g->d.diags, z->at, TF_E_NAME, "'%.60s' hangs on nothing that it is differentiated by",
              z->name);
    else if (g->step && n->by && z->producer >= 0)
      tf_fail(g->d.diags, z->at, TF_E_NAME, "a step changes inputs, and an op makes '%.60s'",
              z->name);
    else if (n->again && z->producer < 0)
      tf_fail(g->d.diags, z->at, TF_E_NAME, "an input cannot be made again, and '%.60s' is one",
              z->name);
    for (int k = 0; k < wl->n_tensors && (n->by || n->of); k++)
      if (strncmp(wl->tensors[k].name, "d_", 2) == 0 && !strcmp(wl->tensors[k].name + 2, z->name))
        tf_fail(g->d.diags, wl->tensors[k].at, TF_E_DUP,
                "the gradient of '%.60s' is to have this name", z->name);
  }
  if (!n_by && tf_diags_errors(g->d.diags) == before)
    tf_fail(g->d.diags, wl->at, TF_E_NAME, "there is nothing to differentiate by: no input");
  return tf_diags_errors(g->d.diags) == before;
}

/* Finds maxima and minima that only keep an exponential small: their gradient is 0 up to rounding,
 * and would cost three passes. */
static bool find_flat(grad *g) {
  const tf_workload *wl = g->d.wl;
  bool *of = TF_ARRAY(g->d.arena, bool, (size_t)wl->n_tensors);
  gr_shift *shift = TF_ARRAY(g->d.arena, gr_shift, (size_t)wl->n_tensors);
  if (!of || !shift) return gr_fail_memory(&g->d);
  for (int t = 0; t < wl->n_tensors; t++)
    of[t] = g->node[t].of;
  for (int o = 0; o < wl->n_ops; o++) {
    const tf_op *op = &wl->ops[o];
    const bool extreme = op->reduce == TF_REDUCE_MAX || op->reduce == TF_REDUCE_MIN;
    if (extreme && wanted(&g->node[op->out]))
      g->node[op->out].flat = gr_shift_free(wl, op->out, of, shift);
  }
  find_hanging(g);
  return true;
}

/* ---- sums --------------------------------------------------------------------------------- */
static const char *name_of(gr_draft *d, const char *prefix, const char *name) {
  char text[300];
  snprintf(text, sizeof text, "%s_%.250s", prefix, name);
  const char *copy = tf_arena_strndup(d->arena, text, strlen(text));
  if (!copy) gr_fail_memory(d);
  return copy ? copy : "";
}

/* Home dims, names and seeds. */
static bool begin_sums(grad *g) {
  gr_draft *d = &g->d;
  const tf_workload *wl = d->wl;
  for (int o = 0; o < wl->n_ops; o++)
    for (int k = 0; k < wl->ops[o].n_reads && wanted(&g->node[wl->ops[o].out]); k++)
      g->node[wl->ops[o].reads[k].tensor].uses++;
  for (int t = 0; t < wl->n_tensors; t++) {
    node *n = &g->node[t];
    if (!wanted(n)) continue;
    const tf_tensor *z = &wl->tensors[t];
    bool read_on = false;
    for (int k = 0; z->producer >= 0 && k < wl->ops[z->producer].n_reads; k++)
      read_on = read_on || wanted(&g->node[wl->ops[z->producer].reads[k].tensor]);
    n->asked_apart = n->by && read_on;
    n->to.only = n->uses == 1 && !n->of;
    n->to.leaf = !read_on && !g->step;
    n->to.name = name_of(d, n->asked_apart || (n->of && !g->step) ? "total" : "d", z->name);
    if (!gr_home_dims(d, t, n->to.home)) return false;
    if (n->of && g->step) n->sum = gr_number(d, 1);
    if (!n->of || g->step) continue;
    int seed = gr_add_tensor(d, name_of(d, "d", z->name), z->rank, z->extent, z->word_bits);
    n->sum = gr_read_at(d, seed, n->to.home);
    if (n->uses == 0) n->made = seed;
  }
  return !d->failed;
}

/* Adds the op that stores the sum so far in a tensor. */
static int make_sum(gr_draft *d, int tensor, const node *n, const char *name, const gr_expr *e) {
  const gr_tensor *z = &d->tensors[tensor];
  int64_t extent[TF_MAX_RANK] = {0};
  int word_bits = z->word_bits, rank = z->rank;
  memcpy(extent, z->extent, sizeof extent);
  int t = gr_add_tensor(d, name, rank, extent, word_bits);
  gr_add_op(d, t, n->to.home, TF_ASSIGN, e);
  return t;
}

enum { MANY_NODES = 128 }; /* nodes of a sum beyond which it continues in another op */

static bool add_to_sum(gr_draft *d, int tensor, node *n, const gr_expr *e) {
  if (n->sum && gr_nodes(n->sum) + gr_nodes(e) > MANY_NODES) {
    int t = make_sum(d, tensor, n, name_of(d, "part", d->tensors[tensor].name), n->sum);
    n->sum = gr_read_at(d, t, n->to.home);
  }
  n->sum = gr_call(d, TF_K_ADD, n->sum, e, NULL);
  return n->sum || gr_fail_memory(d);
}

/* The tensor that the sum equals, element for element; -1: none. */
static int whole_tensor(gr_draft *d, const node *n) {
  const gr_expr *e = n->sum;
  if (n->by || !e || e->node.what != TF_X_READ)
    return -1; /* by: a tensor of that name is requested */
  for (int r = 0; r < d->tensors[e->tensor].rank; r++)
    if (!gr_same_form(e->index[r], gr_form(d, n->to.home[r]))) return -1;
  return e->tensor;
}

/* The gradient of the tensor, once all contributions are known; -1: it is 0. */
static int close_sum(gr_draft *d, int tensor, node *n) {
  if (n->made < 0 && whole_tensor(d, n) >= 0) n->made = whole_tensor(d, n);
  if (n->made < 0 && n->sum) n->made = make_sum(d, tensor, n, n->to.name, n->sum);
  return n->made;
}

/* ---- the reverse pass --------------------------------------------------------------------- */
static bool reverse_op(grad *g, const tf_op *op) {
  gr_draft *d = &g->d;
  d->at = op->at;
  int d_out = close_sum(d, op->out, &g->node[op->out]);
  bool any = false;
  for (int k = 0; k < op->n_reads; k++)
    any = any || wanted(&g->node[op->reads[k].tensor]);
  if (d_out < 0 || !any || d->failed) return !d->failed;
  const gr_expr **adjoint = tf_arena_array(d->arena, (size_t)op->n_reads, sizeof *adjoint);
  if (!adjoint) return gr_fail_memory(d);
  if (!gr_adjoints(d, op, d_out, adjoint)) return false;
  for (int k = 0; k < op->n_reads; k++) {
    int t = op->reads[k].tensor;
    node *n = &g->node[t];
    const gr_expr *part;
    if (!adjoint[k] || !wanted(n)) continue;
    if (!gr_spread(d, op, &op->reads[k], adjoint[k], &n->to, &part)) return false;
    if (!part) n->made = d->n_ops ? d->ops[d->n_ops - 1].out : -1;
    if (part && !add_to_sum(d, t, n, part)) return false;
  }
  return !d->failed;
}

/* Stores requested gradients that are not tensors of their own yet. */
static bool close_asked(grad *g) {
  gr_draft *d = &g->d;
  for (int t = 0; t < d->wl->n_tensors && !d->failed; t++) {
    node *n = &g->node[t];
    if (!n->by) continue;
    d->at = d->wl->tensors[t].at;
    int made = close_sum(d, t, n);
    const char *name = name_of(d, "d", d->tensors[t].name);
    if (made < 0)
      n->made = make_sum(d, t, n, name, gr_number(d, 0));
    else if (n->asked_apart)
      n->made = make_sum(d, t, n, name, gr_read_at(d, made, n->to.home));
    if (!d->failed && strcmp(d->tensors[n->made].name, name) != 0)
      d->failed = !tf_fail(d->diags, d->at, TF_E_DUP,
                           "something of the gradient is called '%.60s' already", name);
  }
  return !d->failed;
}

/* ---- forward ops that are needed ------------------------------------------------------------ */
static void need(void *ctx, const gr_expr *read) {
  bool *needed = ctx;
  needed[read->tensor] = true;
}

static void add_forward(gr_draft *d, const tf_op *op) {
  const gr_expr **value = gr_values(d, op);
  if (!value) return;
  d->at = op->at;
  gr_add_reduced(d, op, op->out, op->reduce, value[op->n_expr - 1]);
  if (!d->failed && strcmp(op->name, d->tensors[op->out].name) != 0)
    d->ops[d->n_ops - 1].name = op->name;
}

static bool add_forwards(grad *g) {
  gr_draft *d = &g->d;
  const tf_workload *wl = d->wl;
  bool *needed = tf_arena_array(d->arena, (size_t)d->n_tensors, sizeof *needed);
  if (!needed) return gr_fail_memory(d);
  for (int o = 0; o < d->n_ops; o++)
    gr_each_read(d->ops[o].e, need, needed);
  for (int t = 0; g->step && t < wl->n_tensors; t++)
    needed[t] = needed[t] || g->node[t].of || g->node[t].again;
  for (int i = wl->n_ops - 1; i >= 0; i--) {
    const tf_op *op = &wl->ops[wl->topo[i]];
    needed[op->out] = needed[op->out] && !g->node[op->out].given;
    for (int k = 0; k < op->n_reads && needed[op->out]; k++)
      needed[op->reads[k].tensor] = true;
  }
  for (int i = 0; i < wl->n_ops && !d->failed; i++)
    if (needed[wl->ops[wl->topo[i]].out]) add_forward(d, &wl->ops[wl->topo[i]]);
  return !d->failed;
}

/* ---- all of it ------------------------------------------------------------------------------ */
static bool make_step(grad *g, int n_backward) {
  gr_draft *d = &g->d;
  const size_t n = (size_t)d->wl->n_tensors;
  gr_stepping s = {.kind = g->step,
                   .n_backward = n_backward,
                   .of = TF_ARRAY(d->arena, bool, n),
                   .again = TF_ARRAY(d->arena, bool, n),
                   .gradient = TF_ARRAY(d->arena, int, n),
                   .home = TF_ARRAY(d->arena, const int *, n)};
  if (!s.of || !s.again || !s.gradient || !s.home) return gr_fail_memory(d);
  for (int t = 0; t < d->wl->n_tensors; t++) {
    s.of[t] = g->node[t].of;
    s.again[t] = g->node[t].again;
    s.gradient[t] = g->node[t].by ? g->node[t].made : -1;
    s.home[t] = g->node[t].to.home;
  }
  return gr_step(d, &s);
}

static char *write_gradient(grad *g) {
  gr_draft *d = &g->d;
  int n_backward = d->n_ops;
  if (!add_forwards(g)) return NULL;
  if (g->step && !make_step(g, n_backward)) return NULL;
  if (g->step) n_backward = 0;
  char title[300];
  snprintf(title, sizeof title, "%.250s-%s", d->wl->name, g->step ? "step" : "gradient");
  char *text = gr_write(d, n_backward, title);
  if (!text) return NULL;
  tf_text own = {"(gradient)", text, strlen(text)};
  /* exceeded limits are reported there; a quotient that some read stands across is not */
  tf_diags *said = d->divides ? tf_diags_new() : d->diags;
  tf_spec *back = said ? tf_spec_read_texts(&own, 1, NULL, 0, said) : NULL;
  if (!back) {
    free(text);
    text = NULL;
  }
  tf_spec_free(back);
  if (d->divides) tf_diags_free(said);
  return text;
}

static bool check_step(grad *g, const tf_grad_options *o) {
  const tf_loc at = g->d.wl->at;
  if (o->step && !o->by)
    return tf_fail(g->d.diags, at, TF_E_USAGE,
                   "a step needs the names of what it changes: --by W,..");
  if (o->step && o->given)
    return tf_fail(g->d.diags, at, TF_E_USAGE,
                   "what a step does not keep, --again says; --given is for a backward pass alone");
  if (!o->step && o->again)
    return tf_fail(g->d.diags, at, TF_E_USAGE,
                   "--again is for a step, with its forward pass: --step sgd or adam, too");
  return true;
}

static char *differentiate(grad *g, const tf_workload *wl, const tf_grad_options *o) {
  gr_draft *d = &g->d;
  g->node = tf_arena_array(d->arena, (size_t)wl->n_tensors, sizeof *g->node);
  if (!g->node && !gr_fail_memory(d)) return NULL;
  if (!gr_draft_begin(d, wl)) return NULL;
  if (!check_step(g, o)) return NULL;
  bool ok = read_names(g, o->of, "of", offsetof(node, of));
  ok = read_names(g, o->by, "by", offsetof(node, by)) && ok;
  ok = read_names(g, o->given, "given", offsetof(node, given)) && ok;
  ok = read_names(g, o->again, "again", offsetof(node, again)) && ok;
  if (!ok) return NULL;
  set_defaults(g, o);
  if (!check_asked(g) || !find_flat(g) || !begin_sums(g)) return NULL;
  for (int i = wl->n_ops - 1; i >= 0; i--) {
    const tf_op *op = &wl->ops[wl->topo[i]];
    if (wanted(&g->node[op->out]) && !reverse_op(g, op)) return NULL;
  }
  return close_asked(g) ? write_gradient(g) : NULL;
}

char *tf_grad(const tf_workload *wl, const tf_grad_options *o, tf_diags *d) {
  TF_IN_C_LOCALE;
  if (!tf_no_views(wl, d)) return NULL;
  bool again = false;
  char *text = NULL;
  do {
    tf_arena *arena = tf_arena_new();
    grad g = {.d = {.arena = arena, .diags = d, .whole = again}, .step = o->step};
    if (arena)
      text = differentiate(&g, wl, o);
    else
      gr_fail_memory(&g.d);
    again = !text && g.d.divides && !g.d.failed;
    tf_arena_free(arena);
  } while (again);
  return text;
}
