/* Choices of what is recomputed: estimated by a kernel an op, those that nothing beats planned. */
#include "train/front.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  ALL = 8,        /* kept tensors of which every choice is estimated */
  MOST_PLANS = 12 /* points that are planned */
};

/* Which of the kept tensors are recomputed. */
typedef struct {
  bool *recomputed; /* [n_kept] */
  double time, peak;
} choice;

typedef struct {
  tr_weighing *w;
  int n;        /* kept */
  int *kept;    /* [n] tensors of the forward workload that the backward pass reads */
  double *size; /* [n] bytes */
  int *number;  /* [n_tensors] its number among these; -1: none */
  bool *made;   /* [n_tensors] working storage */
  choice *choices;
  int n_choices, room;
} weighing;

tf_spec *tr_step(const tf_workload *fore, const tf_grad_options *o, const char *again,
                 tf_diags *d) {
  tf_grad_options own = *o;
  own.again = again && *again ? again : NULL;
  char *yaml = tf_grad(fore, &own, d);
  const tf_text text = {"(step)", yaml, yaml ? strlen(yaml) : 0};
  tf_spec *s = yaml ? tf_spec_read_texts(&text, 1, NULL, 0, d) : NULL;
  free(yaml);
  return s;
}

/* Marks the tensor, and what it is made of that nothing keeps. */
static void mark_made(const weighing *x, int t) {
  const tf_workload *wl = x->w->fore;
  if (x->made[t]) return;
  x->made[t] = true;
  const tf_op *op = &wl->ops[wl->tensors[t].producer];
  for (int i = 0; i < op->n_reads; i++) {
    const int from = op->reads[i].tensor;
    if (wl->tensors[from].producer >= 0 && x->number[from] < 0) mark_made(x, from);
  }
}

/* What is recomputed by that choice; *n: how many. */
static char *names_of(const weighing *x, const bool *again, int *n) {
  const tf_workload *wl = x->w->fore;
  char *text = NULL;
  size_t size;
  FILE *f = open_memstream(&text, &size);
  if (!f) return NULL;
  *n = 0;
  for (int t = 0; t < wl->n_tensors; t++)
    x->made[t] = false;
  for (int i = 0; i < x->n; i++)
    if (again[i]) mark_made(x, x->kept[i]);
  for (int i = 0; i < wl->n_ops; i++) {
    const int t = wl->ops[wl->topo[i]].out;
    if (x->made[t]) fprintf(f, "%s%s", (*n)++ ? "," : "", wl->tensors[t].name);
  }
  if (fclose(f) == 0) return text;
  free(text);
  return NULL;
}

/* ---- estimates ------------------------------------------------------------------------------- */
/* A map of what one op alone reads is made with it; and what is recomputed for one reader, if it is
 * a map. */
static bool streams(const tf_workload *wl, const tf_tensor *z) {
  if (z->producer < 0 || z->n_consumers != 1) return false;
  const tf_op *reader = &wl->ops[z->consumers[0]], *maker = &wl->ops[z->producer];
  const bool maps = reader->n_dims == reader->n_out_dims;
  return maps || (maker->n_dims == maker->n_out_dims && !strncmp(z->name, "again_", 6));
}

static bool estimate(weighing *x, choice *c) {
  int n;
  char *names = names_of(x, c->recomputed, &n);
  if (!names) return tf_out_of_memory(x->w->d);
  tf_spec *s = tr_step(x->w->fore, &x->w->o->step, names, x->w->d);
  free(names);
  if (!s) return false;
  tf_arena *a = tf_arena_new();
  tr_graph g;
  bool *gone = a ? TF_ARRAY(a, bool, (size_t)s->workload->n_tensors) : NULL;
  const bool ok = gone && tr_graph_of(a, x->w->arch, s->workload, &g);
  for (int t = 0; ok && t < s->workload->n_tensors; t++)
    gone[t] = streams(s->workload, &s->workload->tensors[t]);
  if (ok) {
    const tr_cost cost = tr_cost_of(&g, gone);
    c->time = cost.time;
    c->peak = cost.peak;
    x->w->out->weighed++;
  }
  tf_arena_free(a);
  tf_spec_free(s);
  return ok || tf_out_of_memory(x->w->d);
}

/* Estimates the choice and remembers it. */
static bool add_choice(weighing *x, const bool *again, choice *made) {
  if (x->n_choices == x->room) return true;
  choice *c = &x->choices[x->n_choices];
  c->recomputed = TF_ARRAY(x->w->a, bool, (size_t)x->n + 1);
  if (!c->recomputed) return tf_out_of_memory(x->w->d);
  if (x->n) memcpy(c->recomputed, again, (size_t)x->n * sizeof *again);
  if (!estimate(x, c)) return false;
  if (made) *made = *c;
  x->n_choices++;
  return true;
}

static bool add_all(weighing *x) {
  bool again[ALL] = {false};
  for (unsigned set = 0; set < 1u << x->n; set++) {
    for (int i = 0; i < x->n; i++)
      again[i] = set >> i & 1;
    if (!add_choice(x, again, NULL)) return false;
  }
  return true;
}

/* From keeping all, again and again what costs least time for the bytes that it frees; and what
 * keeps every k-th. */
static bool add_some(weighing *x) {
  bool *again = TF_ARRAY(x->w->a, bool, (size_t)x->n), ok = again != NULL;
  choice last = {0};
  ok = ok && add_choice(x, again, &last);
  for (int round = 0; ok && round < x->n; round++) {
    int best = -1;
    double least = INFINITY;
    choice found = last;
    for (int i = 0; ok && i < x->n; i++) {
      if (again[i]) continue;
      choice tried;
      again[i] = true;
      ok = add_choice(x, again, &tried);
      again[i] = false;
      const double price =
          ok ? (tried.time - last.time) / (x->size[i] + 2 * (last.peak - tried.peak)) : 0;
      if (!ok || price >= least) continue;
      least = price;
      best = i;
      found = tried;
    }
    if (best < 0) break;
    again[best] = true;
    last = found;
  }
  for (int k = 2; ok && k < x->n; k++) {
    for (int i = 0; i < x->n; i++)
      again[i] = i % k != k - 1;
    ok = add_choice(x, again, NULL);
  }
  return ok;
}

/* ---- the front ------------------------------------------------------------------------------- */
static int by_time(const void *a, const void *b) {
  const choice *x = a, *y = b;
  if (x->time != y->time) return x->time < y->time ? -1 : 1;
  return (x->peak > y->peak) - (x->peak < y->peak);
}

/* Leaves those that are beaten by none, the fastest first. */
static void keep_front(weighing *x) {
  int n = 0;
  qsort(x->choices, (size_t)x->n_choices, sizeof *x->choices, by_time);
  for (int i = 0; i < x->n_choices; i++)
    if (n == 0 || x->choices[i].peak < x->choices[n - 1].peak) x->choices[n++] = x->choices[i];
  x->n_choices = n;
}

static bool plan_point(weighing *x, const choice *c) {
  tr_weighing *w = x->w;
  tf_train_point *p = &w->out->points[w->out->n_points];
  char *names = names_of(x, c->recomputed, &p->n_again);
  p->again = names ? tf_arena_strndup(w->a, names, strlen(names)) : NULL;
  free(names);
  if (!p->again) return tf_out_of_memory(w->d);
  tf_spec *s = tr_step(w->fore, &w->o->step, p->again, w->d);
  tf_net_plan *plan = s ? tf_net_plan_of(w->arch, s->workload, &w->o->plan, w->d) : NULL;
  tf_net_memory memory = {0};
  const bool ok = plan && tf_net_memory_of(plan, s->workload, 0, &memory, w->d);
  if (ok) {
    p->bytes = memory.bytes;
    p->figures = plan->total;
    w->out->n_points++;
  }
  tf_net_memory_free(&memory);
  tf_net_plan_free(plan);
  tf_spec_free(s);
  return ok;
}

static int by_cycles(const void *a, const void *b) {
  const tf_train_point *x = a, *y = b;
  if (x->figures.cycles != y->figures.cycles) return x->figures.cycles < y->figures.cycles ? -1 : 1;
  return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* What no choice beats by the estimates is planned: the ends, and others at equal distances. */
static bool plan_all(weighing *x) {
  tf_train *t = x->w->out;
  const int n = x->n_choices < MOST_PLANS ? x->n_choices : MOST_PLANS;
  t->points = TF_ARRAY(x->w->a, tf_train_point, (size_t)n);
  if (!t->points) return tf_out_of_memory(x->w->d);
  for (int i = 0; i < n; i++)
    if (!plan_point(x, &x->choices[n > 1 ? i * (x->n_choices - 1) / (n - 1) : 0])) return false;
  qsort(t->points, (size_t)t->n_points, sizeof *t->points, by_cycles);
  int left = 0;
  for (int i = 0; i < t->n_points; i++)
    if (left == 0 || t->points[i].bytes < t->points[left - 1].bytes)
      t->points[left++] = t->points[i];
  t->n_points = left;
  return true;
}

/* Tensors of the forward pass that an op behind it reads. */
static bool find_kept(weighing *x, const tr_graph *step) {
  const tf_workload *wl = step->wl, *fore = x->w->fore;
  const size_t n = (size_t)fore->n_tensors;
  x->kept = TF_ARRAY(x->w->a, int, n);
  x->size = TF_ARRAY(x->w->a, double, n);
  x->number = TF_ARRAY(x->w->a, int, n);
  x->made = TF_ARRAY(x->w->a, bool, n);
  if (!x->kept || !x->size || !x->number || !x->made) return tf_out_of_memory(x->w->d);
  for (int t = 0; t < fore->n_tensors; t++)
    x->number[t] = -1;
  for (int i = 0; i < fore->n_ops; i++) {
    const int own = fore->ops[fore->topo[i]].out, t = tr_find(wl, "", fore->tensors[own].name);
    bool kept = false;
    for (int k = 0; t >= 0 && k < wl->tensors[t].n_consumers; k++)
      kept =
          kept || tr_find(fore, "", wl->tensors[wl->ops[wl->tensors[t].consumers[k]].out].name) < 0;
    if (!kept) continue;
    x->number[own] = x->n;
    x->kept[x->n] = own;
    x->size[x->n++] = step->bytes[t];
  }
  x->w->out->n_kept = x->n;
  return true;
}

bool tr_front(tr_weighing *w, const tr_graph *step) {
  weighing x = {.w = w};
  if (!find_kept(&x, step)) return false;
  w->out->all = x.n <= ALL;
  x.room = x.n <= ALL ? 1 << x.n : x.n * (x.n + 3) / 2 + 1;
  x.choices = TF_ARRAY(w->a, choice, (size_t)x.room);
  if (!x.choices) return tf_out_of_memory(w->d);
  if (!(w->out->all ? add_all(&x) : add_some(&x))) return false;
  keep_front(&x);
  return plan_all(&x);
}
