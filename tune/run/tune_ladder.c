/* A ladder of schedules, from loops as they are written to the model's first choice: each step
 * takes over one more of its decisions.  Rows are built in the form of the first choice and kept if
 * the form's constraints hold. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/locale.h"
#include "tileflow/tree.h"
#include "tileflow/tune.h"
#include "tune/space/schedules.h"

/* What a step has of the first choice. */
typedef struct {
  const char *what;
  bool sums_outside; /* else loops are in the order in which the ops are written, sums inside */
  bool parts_of_sums, parts, vectors, near;
} rung;
static const rung rungs[] = {
    {"loops as the ops are written, sums innermost", false, false, false, false, false},
    {"loops of sums outside of the output's last", true, false, false, false, false},
    {"sums in parts", true, true, false, false, false},
    {"all loops in parts, in the order of the first choice", true, true, true, false, false},
    {"vectors", true, true, true, true, false},
    {"what ops pass on computed where it is read", true, true, true, true, true},
};
_Static_assert(sizeof rungs / sizeof *rungs == TF_LADDER_MOST, "room for each");

typedef struct {
  tune_space *s;
  const tune_form *f;
  const int32_t *goal; /* the first choice */
  int32_t *row;
  char *last; /* the step before, as mapping_of has it; malloc'd */
} climber;

/* The op's k whose dim it is, of the first op below the node that has it; NULL: none has. */
static const tf_op *op_with(const climber *c, int node, int dim, int *k) {
  const tf_tree *t = c->f->tree;
  for (int i = node; i < t->nodes[node].end; i++) {
    const tf_op *op = t->nodes[i].kind == TF_OP ? &c->s->wl->ops[t->nodes[i].op] : NULL;
    for (*k = 0; op && *k < op->n_dims; ++*k)
      if (op->dims[*k] == dim) return op;
  }
  return NULL;
}

static bool is_sum(const climber *c, int node, int dim) {
  int k;
  const tf_op *op = op_with(c, node, dim, &k);
  return op && k >= op->n_out_dims;
}

/* The position of a loop among those of its Tile, outermost first. */
static int place_of(const climber *c, const rung *r, int node, int dim) {
  int k;
  const tf_op *op = op_with(c, node, dim, &k);
  if (!op) return 0;
  return r->sums_outside && k == op->n_out_dims - 1 ? op->n_dims : k;
}

/* The order of a Tile's loops with the fewest pairs in the wrong order. */
static int32_t order_of(const climber *c, const rung *r, int node) {
  const tf_node *n = &c->f->tree->nodes[node];
  int32_t best = 0;
  int order[TUNE_ORDER_LOOPS], least = INT32_MAX;
  for (int32_t o = 0; o < tune_orders(n->n_temporal); o++) {
    int wrong = 0;
    tune_order(n->n_temporal, o, order);
    for (int i = 0; i < n->n_temporal; i++)
      for (int j = i + 1; j < n->n_temporal; j++)
        wrong += place_of(c, r, node, n->loops[order[i]].dim) >
                 place_of(c, r, node, n->loops[order[j]].dim);
    if (wrong < least) least = wrong, best = o;
  }
  return best;
}

static bool is_taken(const climber *c, const rung *r, const tune_knob *k) {
  return r->parts ||
         (r->parts_of_sums && is_sum(c, k->node, c->f->tree->nodes[k->node].loops[k->loop].dim));
}

static bool has_sums(const climber *c, int node) {
  const tf_node *n = &c->f->tree->nodes[node];
  bool any = false;
  for (int l = 0; l < n->n_temporal; l++)
    any |= is_sum(c, node, n->loops[l].dim);
  return any;
}

/* Gives one loop of each dim what the others do not have of it: the outermost, or (together) the
 * outermost beside a loop over a sum, so that its order with that matters. */
static void fill(const climber *c, bool together) {
  const tune_form *f = c->f;
  for (int s = 0; s < f->n_splits; s++) {
    int64_t all = 1, have = 1;
    int to = -1;
    for (int i = 0; i < f->split[s].n; i++) {
      const int k = f->split[s].knob[i], node = f->knob[k].node;
      all *= c->goal[f->first + k], have *= c->row[f->first + k];
      const bool can = f->tree->nodes[node].loops[f->knob[k].loop].axis == TF_TEMPORAL &&
                       (!together || has_sums(c, node));
      if (can && (to < 0 || k < to)) to = k;
    }
    if (to >= 0 && have && all % have == 0) c->row[f->first + to] *= (int32_t)(all / have);
  }
}

/* The generator's choice with that value. */
static int32_t valued(tf_choice choice, const char *value) {
  const tf_choice_row *row = tf_choice_at(choice);
  int32_t v = 0;
  while (row->value[v] && strcmp(row->value[v], value) != 0)
    v++;
  return row->value[v] ? v : 0;
}

/* As little as can be is left to one nest until loops are in parts; intermediates are made op after
 * op until last. */
static int32_t chosen(const rung *r, tf_choice choice) {
  if (choice == TF_CHOICE_CLOSE && !r->parts) return valued(choice, "1/16");
  return choice == TF_CHOICE_AT && !r->near ? valued(choice, "apart") : 0;
}

static void build(const climber *c, const rung *r, bool together) {
  const tune_form *f = c->f;
  memcpy(c->row, c->goal, (size_t)c->s->space.n * sizeof *c->row);
  if (!r->vectors) c->row[TUNE_ISA] = 0;
  for (int k = 0; k < f->s->n_knobs; k++) {
    int32_t *v = &c->row[f->first + k];
    if (tune_is_loop(&f->knob[k]) && !is_taken(c, r, &f->knob[k])) *v = 1;
    if (tune_is_order(&f->knob[k]) && !r->parts) *v = order_of(c, r, f->knob[k].node);
    if (tune_is_choice(&f->knob[k])) *v = chosen(r, (tf_choice)f->knob[k].loop);
  }
  if (together) fill(c, true);
  fill(c, false);
}

/* Whether the row is in the space. */
static bool is_there(const climber *c) {
  tf_space *s = &c->s->space;
  return tf_space_follow(s, c->row) && !c->s->dead &&
         !memcmp(c->row, s->chosen, (size_t)s->n * sizeof *c->row);
}

/* The row's mapping with what stands beside it: loops of one step, whose order says nothing, are
 * not in it.  NULL: no memory, or it breaks a rule of mappings. */
static char *mapping_of(const climber *c) {
  const tf_choices chosen = tune_choices(c->s, c->row);
  tf_tree *t = tune_decode(c->s, c->row);
  char *mapping = t ? tf_tree_text(t) : NULL, *all = NULL;
  size_t len;
  FILE *out = mapping ? open_memstream(&all, &len) : NULL;
  if (out) {
    fprintf(out, "%s%s", mapping, c->s->isa[c->row[TUNE_ISA]]);
    for (int k = 0; k < TF_N_CHOICES; k++)
      fprintf(out, " %d", chosen.at[k]);
  }
  if (out && fclose(out)) free(all), all = NULL;
  free(mapping);
  tf_tree_free(t);
  return all;
}

/* Adds the step if the form has it and it is another than the one before.  False: memory ran out.
 */
static bool add_rung(climber *c, const rung *r, tf_ladder *out) {
  bool there = false;
  for (int together = 1; together >= 0 && !there; together--) {
    build(c, r, together);
    there = is_there(c);
  }
  char *mapping = there ? mapping_of(c) : NULL;
  if (!mapping || (c->last && !strcmp(mapping, c->last))) {
    free(mapping);
    return true;
  }
  free(c->last);
  c->last = mapping;
  char *text = tune_trace(c->s, c->row);
  if (text) out->step[out->n++] = (tf_ladder_step){r->what, text};
  return text;
}

static bool climb(climber *c, const tf_tree *first, tf_ladder *out, tf_diags *d) {
  const tf_workload *wl = c->s->wl;
  int32_t *goal = calloc(2 * (size_t)c->s->space.n, sizeof *goal);
  bool ok = goal;
  if (!ok) tf_out_of_memory_at(d, wl->at);
  if (ok && !tune_encode(c->s, first, c->s->n_isas - 1, goal))
    ok = tf_fail(d, wl->at, TF_E_SHAPE,
                 "the model's first choice for %.60s is none of the schedules of tune, so there is "
                 "no ladder to it: a longer search may choose another",
                 wl->name ? wl->name : "the workload");
  c->goal = goal;
  c->row = goal ? goal + c->s->space.n : NULL;
  if (ok) c->f = tune_form_of(c->s, goal);
  for (size_t i = 0; ok && i < sizeof rungs / sizeof *rungs; i++)
    ok = add_rung(c, &rungs[i], out) || tf_out_of_memory_at(d, wl->at);
  free(goal);
  free(c->last);
  return ok;
}

bool tf_tune_ladder(const tf_arch *arch, const tf_workload *wl, int n_isas, const char *const *isas,
                    const tf_planner_opts *plan, tf_ladder *out, tf_diags *d) {
  TF_IN_C_LOCALE;
  *out = (tf_ladder){0};
  climber c = {.s = tf_no_views(wl, d) ? tune_space_new(arch, wl, n_isas, isas, NULL, d) : NULL};
  tf_planned *p = c.s ? tf_planner_run(arch, wl, NULL, plan, d) : NULL;
  if (p) out->evals = p->evals, out->stopped_by = p->stopped_by;
  const bool ok = p && (!p->tree || climb(&c, p->tree, out, d));
  tf_planned_free(p);
  tune_space_free(c.s);
  if (!ok) tf_ladder_free(out);
  return ok;
}

void tf_ladder_free(tf_ladder *l) {
  if (!l) return;
  for (int i = 0; i < l->n; i++)
    free(l->step[i].text);
  *l = (tf_ladder){0};
}
