/* From an open tree to its constraint system: a knob for each open loop and for each Tile with a
 * choice of loop orders, products for each dim of each op, memory capacities, and numbers of
 * instances and units. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/tree/facts.h"
#include "tileflow/tree.h"
#include "tune/space/schedules.h"

typedef struct {
  tune_form *f;
  const tf_arch *arch;
  const tf_workload *wl;
  const tf_tree *t;
  tf_arena *a;
  csp *s;
  int **var; /* [node][loop] the variable of its trip count */
  tune_knob *knob;
  int n_knobs;
  bool bad;
} maker;

static int checked(maker *m, int v) {
  m->bad |= v < 0;
  return v < 0 ? 0 : v;
}

static void rule(maker *m, csp_kind kind, int v, int n, const int *list) {
  if (!m->bad) m->bad = !csp_add(m->s, kind, v, n, list);
}

/* ---- orders ---------------------------------------------------------------------------------- */
int tune_orders(int n) {
  static const int all[] = {1, 1, 2, 6, 24};
  return n > TUNE_ORDER_LOOPS ? 1 : n <= 4 ? all[n] : n * (n - 1);
}

/* Moves one element; the others close the gap. */
static void to_place(int *order, int from, int to) {
  const int x = order[from];
  if (from < to) memmove(&order[from], &order[from + 1], (size_t)(to - from) * sizeof *order);
  if (from > to) memmove(&order[to + 1], &order[to], (size_t)(from - to) * sizeof *order);
  order[to] = x;
}

void tune_order(int n, int k, int order[TUNE_ORDER_LOOPS]) {
  for (int i = 0; i < n; i++)
    order[i] = i;
  if (n < 2) return;
  if (n <= 4) { /* which of the remaining loops comes next */
    for (int i = 0, ways = tune_orders(n); i < n - 1; i++) {
      ways /= n - i;
      to_place(order, i + k / ways, i);
      k %= ways;
    }
    return;
  }
  const int outer = k / (n - 1), last = n - 1 - k % (n - 1),
            inner = last <= outer ? last - 1 : last;
  to_place(order, outer, 0);
  for (int i = 1; i < n; i++)
    if (order[i] == inner) {
      to_place(order, i, n - 1);
      break;
    }
}

/* ---- knobs ----------------------------------------------------------------------------------- */
/* "L2.m", "L1.n@x"; in a branch "C:L1.m"; duplicate names get a number. */
static void name_of(const maker *m, int node, int loop, char out[96]) {
  const tf_node *n = &m->t->nodes[node];
  const char *memory = m->arch->memories[n->level].name;
  char base[80];
  int o = -1, ops = 0;
  for (int i = node; i < n->end; i++)
    if (m->t->nodes[i].kind == TF_OP) o = m->t->nodes[i].op, ops++;
  const bool branch = ops == 1 && m->wl->n_ops > 1;
  const char *const axis[] = {"", "@x", "@y"};
  snprintf(base, sizeof base, "%.24s%s%.24s.%.20s%s", branch ? m->wl->ops[o].name : "",
           branch ? ":" : "", memory, loop < 0 ? "order" : m->wl->dims[n->loops[loop].dim].name,
           loop < 0 ? "" : axis[n->loops[loop].axis]);
  snprintf(out, 96, "%s", base);
  for (int k = 2; csp_find(m->s, out, strlen(out)) >= 0; k++)
    snprintf(out, 96, "%s'%d", base, k);
}

static void note_knob(maker *m, int node, int loop) {
  if (!m->bad) m->knob[m->n_knobs++] = (tune_knob){node, loop};
}

static bool is_choice(const tf_loop *l, int64_t trip) {
  bool any = l->n_choices == 0;
  for (int k = 0; k < l->n_choices; k++)
    any |= l->choices[k] == trip;
  return any;
}

/* Divisors of the extent within the written bounds. */
static void add_loop(maker *m, int node, int loop) {
  const tf_loop *l = &m->t->nodes[node].loops[loop];
  int64_t value[TF_DOMAIN_MAX];
  char name[96];
  if (l->trip) {
    m->var[node][loop] = checked(m, csp_number(m->s, l->trip));
    return;
  }
  const int all = csp_divisors(m->wl->dims[l->dim].extent, TF_DOMAIN_MAX, value);
  int n = 0;
  for (int k = 0; k < all; k++)
    if ((!l->max || value[k] <= l->max) && is_choice(l, value[k])) value[n++] = value[k];
  name_of(m, node, loop, name);
  m->var[node][loop] = checked(m, n ? csp_set(m->s, name, true, n, value) : -1);
  note_knob(m, node, loop);
}

static void add_tile(maker *m, int node) {
  const tf_node *n = &m->t->nodes[node];
  char name[96];
  m->var[node] = TF_ARRAY(m->a, int, (size_t)n->n_loops + 1);
  if (!m->var[node]) m->bad = true;
  for (int k = 0; !m->bad && k < n->n_loops; k++)
    add_loop(m, node, k);
  const int orders = tune_orders(n->n_temporal);
  if (orders < 2 || m->bad) return;
  name_of(m, node, -1, name);
  checked(m, csp_range(m->s, name, true, 0, orders - 1));
  note_knob(m, node, -1);
}

/* The choices of the generator that this workload has, as indices of values. */
static void add_choices(maker *m) {
  for (int c = 0; c < TF_N_CHOICES && !m->bad; c++) {
    const tf_choice_row *row = tf_choice_at((tf_choice)c);
    char name[96];
    int n = 0;
    while (row->value[n])
      n++;
    if (!tf_choice_matters((tf_choice)c, m->wl)) continue;
    snprintf(name, sizeof name, "kernel.%s", row->name);
    checked(m, csp_range(m->s, name, true, 0, n - 1));
    note_knob(m, -1, c);
  }
}

/* ---- products of trip counts ---------------------------------------------------------------- */
/* Loops from a node down to an op.  level: as well as those over instances in the Tiles around of
 * that memory or one further in, which it serves all; none: past the last. */
typedef struct {
  int node, level;
} span;

static bool spans(const maker *m, span of, int i, int loop) {
  const tf_node *n = &m->t->nodes[i];
  return i >= of.node || (n->kind == TF_TILE && n->level >= of.level && loop >= n->n_temporal);
}

/* Variables of these loops over a dim; returns how many. */
static int loops_over(const maker *m, int o, int dim, span of, int list[CSP_LIST_MAX]) {
  int n = 0;
  for (int i = m->t->op_node[o]; i >= 0; i = m->t->nodes[i].parent)
    for (int k = m->t->nodes[i].n_loops; k-- > 0 && n < CSP_LIST_MAX;)
      if (m->t->nodes[i].loops[k].dim == dim && spans(m, of, i, k)) list[n++] = m->var[i][k];
  for (int i = 0; i < n / 2; i++) { /* outermost first */
    const int x = list[i];
    list[i] = list[n - 1 - i];
    list[n - 1 - i] = x;
  }
  return n;
}

static bool has_dim(const tf_op *op, int dim) {
  for (int k = 0; k < op->n_dims; k++)
    if (op->dims[k] == dim) return true;
  return false;
}

/* Dims for which an op and the reader of its output are not related one to one: for loops above
 * both, the range left is no quotient. */
static uint64_t loose_dims(const maker *m, const tf_ref *ref) {
  const tf_tensor *z = &m->wl->tensors[ref->tensor];
  uint64_t all = 0;
  for (int r = 0; z->producer >= 0 && r < z->rank; r++) {
    const tf_index *x = &ref->index[r];
    const int made = m->wl->ops[z->producer].dims[r];
    if (x->n_terms == 1 && x->terms[0].coef == 1 && x->terms[0].dim == made && x->c == 0) continue;
    all |= UINT64_C(1) << made;
    for (int k = 0; k < x->n_terms; k++)
      all |= UINT64_C(1) << x->terms[k].dim;
  }
  return all;
}

static int ops_below(const maker *m, int node) {
  int n = 0;
  for (int i = node; i < m->t->nodes[node].end; i++)
    n += m->t->nodes[i].kind == TF_OP;
  return n;
}

/* Fixes at 1 the loops that several ops share, over dims that some of them lack or do not share one
 * to one. */
static void fix_shared(maker *m) {
  uint64_t loose = 0;
  for (int o = 0; o < m->wl->n_ops; o++)
    for (int k = 0; k < m->wl->ops[o].n_reads; k++)
      loose |= loose_dims(m, &m->wl->ops[o].reads[k]);
  for (int i = 0; i < m->t->n_nodes; i++)
    for (int k = 0;
         m->t->nodes[i].kind == TF_TILE && k < m->t->nodes[i].n_loops && ops_below(m, i) > 1; k++) {
      const int dim = m->t->nodes[i].loops[k].dim;
      bool all = !(loose >> dim & 1);
      for (int j = i; j < m->t->nodes[i].end; j++)
        all &= m->t->nodes[j].kind != TF_OP || has_dim(&m->wl->ops[m->t->nodes[j].op], dim);
      const int one = all ? 0 : checked(m, csp_number(m->s, 1));
      if (!all) rule(m, CSP_EQ, m->var[i][k], 1, &one);
    }
}

static void split_dims(maker *m) {
  int list[CSP_LIST_MAX];
  for (int o = 0; o < m->wl->n_ops; o++)
    for (int k = 0; k < m->wl->ops[o].n_dims; k++) {
      const int dim = m->wl->ops[o].dims[k],
                n = loops_over(m, o, dim, (span){0, m->arch->n_memories}, list);
      const int64_t extent = m->wl->dims[dim].extent;
      if (n == 0) {
        m->bad |= extent > 1;
        continue;
      }
      rule(m, CSP_PROD, checked(m, csp_number(m->s, extent)), n, list);
    }
}

/* ---- capacities ------------------------------------------------------------------------------ */
static int derived(maker *m, const char *what, int node, int a, int b) {
  char name[96];
  snprintf(name, sizeof name, "_%s.%d.%d.%d", what, node, a, b);
  return checked(m, csp_range(m->s, name, false, 0, CSP_MOST / 16));
}

/* The instances or units below a Tile along an axis. */
static int64_t mesh_of(const maker *m, int node, int axis) {
  const int level = m->t->nodes[node].level;
  int64_t most = 0;
  if (level + 1 < m->arch->n_memories) return m->arch->memories[level + 1].mesh[axis];
  for (int i = node; i < m->t->nodes[node].end; i++)
    for (int u = 0; m->t->nodes[i].kind == TF_OP && u < m->arch->n_units; u++) {
      const bool runs = !(m->wl->ops[m->t->nodes[i].op].kinds & ~m->arch->units[u].kinds);
      if (runs && m->arch->units[u].mesh[axis] > most) most = m->arch->units[u].mesh[axis];
    }
  return most ? most : 1;
}

/* The loops of a Tile and of those of the same memory around it are over the same instances. */
static void fan_out(maker *m, int node) {
  for (int axis = 0; axis < 2; axis++) {
    int list[CSP_LIST_MAX], k = 0, own = 0;
    for (int at = node; at >= 0; at = m->t->nodes[at].parent) {
      const tf_node *n = &m->t->nodes[at];
      if (n->kind != TF_TILE || n->level != m->t->nodes[node].level) continue;
      for (int i = n->n_temporal; i < n->n_loops && k < CSP_LIST_MAX; i++)
        if (n->loops[i].axis == (axis ? TF_SPATIAL_Y : TF_SPATIAL_X)) list[k++] = m->var[at][i];
      if (at == node) own = k;
    }
    if (own == 0) continue;
    const int all = derived(m, "units", node, axis, 0),
              most = checked(m, csp_number(m->s, mesh_of(m, node, axis)));
    rule(m, CSP_PROD, all, k, list);
    rule(m, CSP_LE, all, 1, &most);
  }
}

/* The extent of an index, 1 + the sum of |coef| * (length - 1), as a variable.  No rule subtracts,
 * so it is defined by extent + less = 1 + the sum of |coef| * length, less being the sum of |coef|.
 */
static int extent_of(maker *m, span of, int o, const tf_index *x, int at) {
  int sum[CSP_LIST_MAX + 1], n = 0;
  int64_t less = 0;
  for (int k = 0; k < x->n_terms; k++) {
    int list[CSP_LIST_MAX + 1]; /* one too many is refused by csp_add */
    const int64_t coef = x->terms[k].coef < 0 ? -x->terms[k].coef : x->terms[k].coef;
    int loops = loops_over(m, o, x->terms[k].dim, of, list);
    if (coef != 1 || loops == 0) list[loops++] = checked(m, csp_number(m->s, coef));
    less += coef;
    sum[n++] = derived(m, "len", of.node, at, k);
    rule(m, CSP_PROD, sum[n - 1], loops, list);
  }
  if (n == 1 && less == 1) return sum[0];
  const int one = checked(m, csp_number(m->s, 1)), total = derived(m, "total", of.node, at, 0);
  sum[n++] = one;
  rule(m, CSP_SUM, total, n, sum);
  const int extent = derived(m, "extent", of.node, at, 0);
  rule(m, CSP_SUM, total, 2, (int[]){extent, checked(m, csp_number(m->s, less))});
  return extent;
}

/* Whether two reads of an op are alike but for constants: one box is the hull of both. */
static bool same_but_constants(const tf_op *op, int a, int b, int rank) {
  bool same = op->reads[a].tensor == op->reads[b].tensor;
  for (int r = 0; same && r < rank; r++) {
    const tf_index *x = &op->reads[a].index[r], *y = &op->reads[b].index[r];
    same = x->n_terms == y->n_terms;
    for (int k = 0; same && k < x->n_terms; k++)
      same = x->terms[k].dim == y->terms[k].dim && x->terms[k].coef == y->terms[k].coef;
  }
  return same;
}

static bool seen_before(const tf_op *op, int ref, int rank) {
  for (int k = 0; k < ref; k++)
    if (same_but_constants(op, k, ref, rank)) return true;
  return false;
}

/* The distance between like references along a rank. */
static int64_t distance(const tf_op *op, int ref, int rank, int r) {
  int64_t lo = op->reads[ref].index[r].c, hi = lo;
  for (int k = 0; k < op->n_reads; k++) {
    if (!same_but_constants(op, ref, k, rank)) continue;
    const int64_t c = op->reads[k].index[r].c;
    lo = c < lo ? c : lo;
    hi = c > hi ? c : hi;
  }
  return hi - lo;
}

/* The length along rank r of what an op touches by this reference and those alike: the whole
 * tensor's where they are as far apart as that. */
static int length_of(maker *m, span of, int o, int ref, int r) {
  const tf_op *op = &m->wl->ops[o];
  const tf_tensor *t = &m->wl->tensors[ref < 0 ? op->out : op->reads[ref].tensor];
  const tf_index own = {1, &(tf_term){op->dims[r], 1}, 0};
  const int64_t more = ref < 0 ? 0 : distance(op, ref, t->rank, r);
  if (more >= t->extent[r]) return checked(m, csp_number(m->s, t->extent[r]));
  const int at = (o * 64 + ref + 1) * 16 + r,
            one = extent_of(m, of, o, ref < 0 ? &own : &op->reads[ref].index[r], at);
  if (more == 0) return one;
  const int all = derived(m, "hull", of.node, at, 0);
  rule(m, CSP_SUM, all, 2, (int[]){one, checked(m, csp_number(m->s, more))});
  return all;
}

/* Bits of the box of a tensor that an op touches in a span; borders are ignored. */
static int box_of(maker *m, span of, int o, int ref, int64_t bits) {
  const tf_op *op = &m->wl->ops[o];
  const int rank = m->wl->tensors[ref < 0 ? op->out : op->reads[ref].tensor].rank;
  int list[CSP_LIST_MAX], n = 0;
  for (int r = 0; r < rank; r++)
    list[n++] = length_of(m, of, o, ref, r);
  list[n++] = checked(m, csp_number(m->s, bits));
  const int box = derived(m, "bits", of.node, o, ref + 1);
  rule(m, CSP_PROD, box, n, list);
  return box;
}

/* What one instance of a memory holds at once: variables whose sum is at most its capacity. */
typedef struct {
  int level, n;
  int list[CSP_LIST_MAX];
} held;

static void hold(maker *m, held *h, int v) {
  if (h->n == CSP_LIST_MAX) { /* no rule has more: these are one from now on, their sum */
    const int some = derived(m, "some", v, h->level, 0);
    rule(m, CSP_SUM, some, h->n, h->list);
    h->list[0] = some;
    h->n = 1;
  }
  h->list[h->n++] = v;
}

/* Intermediates whose home is that memory, in this scope, or in any from node n down. */
static void hold_homes(maker *m, held *h, int n, bool below) {
  for (int z = 0; z < m->wl->n_tensors; z++) {
    const int scope = tf_tree_home_scope(m->t, z);
    const bool here = below ? scope >= n && scope < m->t->nodes[n].end : scope == n;
    if (here && tf_tree_home(m->t, z) == h->level)
      hold(m, h,
           box_of(m, (span){scope, h->level}, m->wl->tensors[z].producer, -1,
                  m->wl->tensors[z].word_bits));
  }
}

/* The boxes that a Tile holds for the ops below it, of tensors whose home is further out. */
static void hold_boxes(maker *m, held *h, int node) {
  const int64_t copies = m->arch->memories[h->level].double_buffered ? 2 : 1;
  for (int i = node; i < m->t->nodes[node].end; i++) {
    const tf_op *op = m->t->nodes[i].kind == TF_OP ? &m->wl->ops[m->t->nodes[i].op] : NULL;
    for (int ref = -1; op && ref < op->n_reads; ref++) {
      const int z = ref < 0 ? op->out : op->reads[ref].tensor;
      if (tf_tree_home(m->t, z) < h->level && !seen_before(op, ref, m->wl->tensors[z].rank))
        hold(m, h,
             box_of(m, (span){node, m->arch->n_memories}, m->t->nodes[i].op, ref,
                    m->wl->tensors[z].word_bits * copies));
    }
  }
}

static void fit(maker *m, const held *h, int node) {
  const tf_memory *memory = &m->arch->memories[h->level];
  const int all = derived(m, "held", node, h->level, 0);
  const int room = checked(m, csp_number(m->s, memory->capacity_words * memory->word_bits));
  rule(m, CSP_SUM, all, h->n, h->list);
  rule(m, CSP_LE, all, 1, &room);
}

/* The words of a memory from node n down, as model/cost/resource.c counts them: its outermost
 * Tiles, with the homes in the scopes around them (children of these run one after the other) and
 * below.  Borders, and what several ops read alike, are ignored: boxes may be counted larger than
 * they are. */
static void fit_below(maker *m, int n, held around) {
  const tf_node *node = &m->t->nodes[n];
  if (node->kind == TF_OP || (node->kind == TF_TILE && node->level > around.level)) return;
  if (node->kind == TF_TILE && node->level == around.level) {
    hold_homes(m, &around, n, true);
    hold_boxes(m, &around, n);
    if (around.n) fit(m, &around, n);
    return;
  }
  const int before = around.n;
  if (node->kind == TF_SCOPE) hold_homes(m, &around, n, false);
  if (around.n > before) fit(m, &around, n);
  for (int i = n + 1; i < node->end; i = m->t->nodes[i].end)
    fit_below(m, i, around);
}

static void add_capacities(maker *m) {
  for (int l = 1; l < m->arch->n_memories; l++) {
    const tf_memory *memory = &m->arch->memories[l];
    int64_t bits;
    if (memory->capacity_words < 0 ||
        __builtin_mul_overflow(memory->capacity_words, memory->word_bits, &bits))
      continue;
    if (bits <= CSP_MOST) fit_below(m, 0, (held){.level = l});
  }
}

/* ---- what a scope keeps ---------------------------------------------------------------------- */
/* Fixes at 1 the loops over instances between the scope and the memory that it keeps a tensor in,
 * on the path of an op: they would have to be alike for all that make and read it
 * (model/tree/check_keep.c), and stand above the scope. */
static void fix_instances(maker *m, int scope, int level, int o) {
  const int one = checked(m, csp_number(m->s, 1));
  for (int i = m->t->op_node[o]; i > scope; i = m->t->nodes[i].parent)
    for (int k = m->t->nodes[i].n_temporal;
         m->t->nodes[i].level < level && k < m->t->nodes[i].n_loops; k++)
      if (m->t->nodes[i].kind == TF_TILE) rule(m, CSP_EQ, m->var[i][k], 1, &one);
}

static void fix_kept(maker *m) {
  for (int z = 0; z < m->wl->n_tensors; z++) {
    const tf_tensor *t = &m->wl->tensors[z];
    const int scope = tf_tree_home_scope(m->t, z), level = tf_tree_home(m->t, z);
    if (scope < 0 || level <= tf_tree_level_above(m->t, scope)) continue;
    fix_instances(m, scope, level, t->producer);
    for (int i = 0; i < t->n_consumers; i++)
      fix_instances(m, scope, level, t->consumers[i]);
  }
}

/* ---- the whole ------------------------------------------------------------------------------- */
static int knob_of(const csp *s, int v) {
  for (int k = 0; k < s->n_knobs; k++)
    if (s->knob[k] == v) return k;
  return -1;
}

/* Finds products of knobs that equal an extent: factors can move between these. */
static void find_splits(maker *m) {
  tune_form *f = m->f;
  f->split = TF_ARRAY(m->a, tune_split, (size_t)m->s->n_rules + 1);
  for (int r = 0; f->split && r < m->s->n_rules; r++) {
    const csp_rule *x = &m->s->rule[r];
    int *knob =
        x->kind == CSP_PROD && m->s->var[x->v].constant ? TF_ARRAY(m->a, int, (size_t)x->n) : NULL;
    int n = 0;
    for (int k = 0; knob && k < x->n; k++)
      if (knob_of(m->s, x->list[k]) >= 0) knob[n++] = knob_of(m->s, x->list[k]);
    if (n > 1) f->split[f->n_splits++] = (tune_split){n, knob};
  }
  m->bad |= !f->split;
}

int tune_form_system(tune_form *f, const tune_space *of, const tune_more *more) {
  tf_arena *a = of->arena;
  maker m = {.f = f, .arch = of->arch, .wl = of->wl, .t = f->tree, .a = a, .s = csp_new(a)};
  size_t loops = 1 + TF_N_CHOICES;
  for (int i = 0; i < m.t->n_nodes; i++)
    loops += (size_t)m.t->nodes[i].n_loops + 1;
  m.var = TF_ARRAY(a, int *, (size_t)m.t->n_nodes);
  m.knob = TF_ARRAY(a, tune_knob, loops);
  m.bad = !m.s || !m.var || !m.knob || m.wl->n_dims > 64;
  for (int i = 0; !m.bad && i < m.t->n_nodes; i++)
    if (m.t->nodes[i].kind == TF_TILE) add_tile(&m, i);
  if (!m.bad) add_choices(&m);
  if (!m.bad) split_dims(&m);
  if (!m.bad) fix_shared(&m);
  for (int i = 0; !m.bad && i < m.t->n_nodes; i++)
    if (m.t->nodes[i].kind == TF_TILE) fan_out(&m, i);
  if (!m.bad) add_capacities(&m);
  if (!m.bad) fix_kept(&m);
  if (!m.bad && more->text)
    m.bad = !csp_read(a, m.s, more->file, more->text->text, more->text->len,
                      more->d); /* which also calls csp_ready */
  else if (!m.bad)
    m.bad = !csp_ready(m.s);
  m.bad = m.bad || m.s->n_knobs != m.n_knobs;
  f->s = m.s;
  f->knob = m.knob;
  if (!m.bad) find_splits(&m);
  f->stack = m.bad ? NULL : TF_ARRAY(a, csp_state, (size_t)m.s->n_knobs + 1);
  for (int k = 0; f->stack && k <= m.s->n_knobs; k++)
    m.bad |= !csp_state_new(m.s, a, &f->stack[k]);
  return !m.bad && f->stack && csp_propagate_all(m.s, &f->stack[0]) ? m.s->n_knobs : -1;
}
