/* Capacity: the least size of an m-tile given the choices so far, and which later decisions can
 * still reduce it. */
#include <string.h>

#include "search/space/build.h"

typedef struct {
  tf_space_build *b;
  tf_scheck check;
  int *slots, *limits; /* [entry] a length, and the node above which loops divide it */
  int *on, n_on;       /* decisions of Tiles above a limit, ascending */
  tf_sbox *boxes;
} maker;

static int entry_of(maker *m, int slot, int limit) {
  for (int i = 0; i < m->check.n_slots; i++)
    if (m->slots[i] == slot && m->limits[i] == limit) return i;
  m->slots[m->check.n_slots] = slot;
  m->limits[m->check.n_slots] = limit;
  return m->check.n_slots++;
}

/* The slot whose length at node n decides the range of a dim of op o: its own where the op leads,
 * else that of a reader whose index is this dim alone.  -1: the range depends on more than one
 * length. */
static int resolve(const tf_facts *f, int n, int o, int dim) {
  for (int depth = 0; depth <= f->wl->n_ops; depth++) {
    int i = tf_dim_slot(f, o, dim);
    if (i < 0) return -1;
    if (tf_leads(f, o, n)) return f->dim_from[o] + i;
    if (i >= f->wl->ops[o].n_out_dims) return -1;
    const tf_tensor *z = &f->wl->tensors[f->wl->ops[o].out];
    int c = -1;
    const tf_index *x = NULL;
    for (int k = 0; k < z->n_consumers && c < 0; k++)
      if (tf_op_below(f, z->consumers[k], n)) c = z->consumers[k];
    for (int r = 0; c >= 0 && r < f->wl->ops[c].n_reads; r++)
      if (f->wl->ops[c].reads[r].tensor == f->wl->ops[o].out) x = &f->wl->ops[c].reads[r].index[i];
    if (!x || x->n_terms != 1) return -1;
    o = c;
    dim = x->terms[0].dim;
  }
  return -1;
}

static void add_term(maker *m, tf_sterm *terms, int *n, int slot, int limit, int64_t coef) {
  if (slot < 0) return;
  if (coef < 0) coef = -coef;
  terms[(*n)++] =
      (tf_sterm){entry_of(m, slot, limit), coef > INT32_MAX / 2 ? INT32_MAX / 2 : (int32_t)coef};
}

/* The box of tensor z that op o touches by read `ref` (-1: its output), at node n. */
static void add_box(maker *m, int n, int o, int ref, double bits) {
  const tf_facts *f = m->b->f;
  const tf_op *op = &f->wl->ops[o];
  const tf_tensor *z = &f->wl->tensors[ref < 0 ? op->out : op->reads[ref].tensor];
  tf_srank *ranks = tf_space_array(m->b, (size_t)z->rank, sizeof *ranks);
  if (m->b->bad) return;
  for (int r = 0; r < z->rank; r++) {
    int n_terms = ref < 0 ? 1 : op->reads[ref].index[r].n_terms;
    tf_sterm *terms = tf_space_array(m->b, (size_t)n_terms, sizeof *terms);
    if (m->b->bad) return;
    int64_t all = z->extent[r] > INT32_MAX ? INT32_MAX : z->extent[r];
    int64_t pad = ref < 0 ? 0 : z->pad[r];
    ranks[r] = (tf_srank){
        .terms = terms, .clip = (int32_t)all, .less = pad > INT32_MAX ? INT32_MAX : (int32_t)pad};
    for (int j = 0; j < n_terms; j++) {
      int dim = ref < 0 ? op->dims[r] : op->reads[ref].index[r].terms[j].dim;
      int64_t coef = ref < 0 ? 1 : op->reads[ref].index[r].terms[j].coef;
      add_term(m, terms, &ranks[r].n_terms, resolve(f, n, o, dim), n, coef);
    }
  }
  m->boxes[m->check.n_boxes++] = (tf_sbox){z->rank, ranks, bits};
}

/* An op below node n that touches z (a leading one, if there is any), and by which read (-1: as its
 * output). */
static bool find_touch(const tf_facts *f, int n, int z, int *o, int *ref) {
  bool found = false;
  for (int i = f->leaf_from[n]; i < f->leaf_end[n]; i++) {
    int c = f->leaf_op[i];
    for (int r = -1; r < f->wl->ops[c].n_reads; r++) {
      if ((r < 0 ? f->wl->ops[c].out : f->wl->ops[c].reads[r].tensor) != z) continue;
      if (found && !tf_leads(f, c, n)) continue;
      *o = c;
      *ref = r;
      found = true;
    }
  }
  return found;
}

/* Adds what the Tile's memory holds, or, unless part is NULL, what a part of it holds. */
static void add_boxes(maker *m, int tile, const tf_mem_part *part) {
  const tf_facts *f = m->b->f;
  const tf_node *t = &f->tree->nodes[tile];
  for (int z = 0; z < f->wl->n_tensors && !m->b->bad; z++) {
    int o, ref, home = tf_tree_home(f->tree, z), scope = f->home_scope[z];
    double bits = f->wl->tensors[z].word_bits;
    const tf_memory *mem = &f->arch->memories[t->level];
    const bool twice = mem->double_buffered || (part && part->double_buffered);
    if (part && bits < part->word_bits) bits = part->word_bits;
    if (!find_touch(f, tile, z, &o, &ref)) continue;
    if (part && tf_part_for(mem, tf_role_below(f, home < t->level ? tile : 0, z)) != part) continue;
    if (home < t->level && !tf_node_bypasses(t, z))
      add_box(m, tile, o, ref, twice ? 2 * bits : bits);
    else if (home == t->level && scope > tile && find_touch(f, scope, z, &o, &ref))
      add_box(m, scope, o, ref, bits);
  }
}

/* ---- which loops can still divide which lengths -------------------------------------------- */
static bool divides(const tf_decision *d, int slot) {
  for (int k = 0; k < d->n_slots; k++)
    if (d->slots[k] == slot) return true;
  return false;
}

/* The product of the fixed loops after decision i that still divide entry e of the check; 0: an
 * open loop may divide it down to 1. */
static int32_t left_to_divide(const maker *m, int i, int e) {
  const tf_trips *t = m->b->t;
  const tf_facts *f = m->b->f;
  int slot = m->slots[e], limit = m->limits[e], o = 0;
  int64_t fixed = 1;
  while (o + 1 < f->wl->n_ops && f->dim_from[o + 1] <= slot)
    o++;
  if (!tf_leads(f, o, m->b->node[i])) return 0; /* its length is not known yet */
  for (int k = 0; k < m->n_on; k++) {
    int j = m->on[k];
    bool counts = j > i && m->b->node[j] < limit && tf_is_above(f, m->b->node[j], limit) &&
                  divides(&t->decision[j], slot);
    if (!counts) continue;
    if (t->decision[j].trip == 0) return 0;
    if (fixed < INT32_MAX) fixed *= t->decision[j].trip;
  }
  return fixed > INT32_MAX ? INT32_MAX : (int32_t)fixed;
}

typedef struct {
  int decision;
  tf_sfit fit;
} found;

typedef struct {
  found *list; /* Tile by Tile */
  int n, room;
} fits;

/* Whether the check gives the same result as at the decision before: no entry's least length has
 * become known since.  divide: what is left of each entry, before and now. */
static bool is_same_result(const tf_scheck *check, const int32_t *then, const int32_t *now) {
  for (int e = 0; e < check->n_slots; e++)
    if (now[e] && !then[e]) return false;
  return true;
}

/* Adds the capacity check to decision i, if its loop divides a length of the check and the result
 * may be new. */
static void add_fit(maker *m, const tf_scheck *check, int i, fits *list) {
  const tf_decision *d = &m->b->t->decision[i];
  bool concerned = false;
  for (int e = 0; e < check->n_slots; e++)
    concerned |= m->b->node[i] < m->limits[e] &&
                 tf_is_above(m->b->f, m->b->node[i], m->limits[e]) && divides(d, m->slots[e]);
  if (!concerned || d->trip) return;
  int32_t *divide = tf_space_array(m->b, (size_t)check->n_slots, sizeof *divide);
  bool *own = tf_space_array(m->b, (size_t)check->n_slots, sizeof *own);
  if (m->b->bad) return;
  for (int e = 0; e < check->n_slots; e++) {
    divide[e] = left_to_divide(m, i, e);
    own[e] = divide[e] && divides(d, check->slots[e]);
  }
  const tf_sfit *last = list->n ? &list->list[list->n - 1].fit : NULL;
  if (last && last->check == check && is_same_result(check, last->divide, divide)) return;
  if (list->n == list->room) {
    int room = list->room ? 2 * list->room : 256;
    found *more = tf_space_array(m->b, (size_t)room, sizeof *more);
    if (m->b->bad) return;
    if (list->n) memcpy(more, list->list, (size_t)list->n * sizeof *more);
    list->list = more;
    list->room = room;
  }
  list->list[list->n++] = (found){i, {check, divide, own}};
}

/* Lists the decisions of the Tiles above the limits. */
static void list_above(maker *m) {
  const tf_tree *tree = m->b->f->tree;
  bool *above = tf_space_array(m->b, (size_t)tree->n_nodes, sizeof *above);
  int n = 0;
  for (int e = 0; e < m->check.n_slots && !m->b->bad; e++)
    for (int up = tree->nodes[m->limits[e]].parent; up >= 0 && !above[up];
         up = tree->nodes[up].parent) {
      above[up] = true;
      n += tree->nodes[up].kind == TF_TILE ? tree->nodes[up].n_loops : 0;
    }
  m->on = tf_space_array(m->b, (size_t)n, sizeof *m->on);
  for (int u = 0; u < tree->n_nodes && !m->b->bad; u++)
    for (int i = m->b->after_node[u]; above[u] && i < m->b->t->space.n && m->b->node[i] == u; i++)
      m->on[m->n_on++] = i;
}

static bool is_mtile(const tf_facts *f, int n) {
  const tf_node *t = &f->tree->nodes[n];
  if (t->kind != TF_TILE || f->arch->memories[t->level].capacity_words < 0) return false;
  for (int up = t->parent; up >= 0; up = f->tree->nodes[up].parent)
    if (f->tree->nodes[up].kind == TF_TILE && f->tree->nodes[up].level == t->level) return false;
  return true;
}

/* The most boxes and terms that the ops below a Tile may need: one box for each use of a tensor. */
static size_t most_terms(const tf_facts *f, int tile, size_t *boxes) {
  size_t terms = 0;
  *boxes = 0;
  for (int i = f->leaf_from[tile]; i < f->leaf_end[tile]; i++) {
    const tf_op *op = &f->wl->ops[f->leaf_op[i]];
    *boxes += 1 + (size_t)op->n_reads;
    terms += (size_t)op->n_out_dims;
    for (int r = 0; r < op->n_reads; r++)
      for (int k = 0; k < f->wl->tensors[op->reads[r].tensor].rank; k++)
        terms += (size_t)op->reads[r].index[k].n_terms;
  }
  return terms;
}

/* Makes the check of the capacity of a Tile's memory, or of a part of it. */
static void check_tile(tf_space_build *b, int tile, const tf_mem_part *part, fits *list) {
  const tf_facts *f = b->f;
  const tf_memory *mem = &f->arch->memories[f->tree->nodes[tile].level];
  size_t boxes, terms = most_terms(f, tile, &boxes);
  maker m = {.b = b,
             .slots = tf_space_array(b, terms, sizeof(int)),
             .limits = tf_space_array(b, terms, sizeof(int)),
             .boxes = tf_space_array(b, boxes, sizeof(tf_sbox))};
  tf_scheck *check = tf_space_array(b, 1, sizeof *check);
  if (b->bad) return;
  add_boxes(&m, tile, part);
  if (b->bad) return;
  *check = m.check;
  check->capacity_bits =
      (double)(part ? part->capacity_words : mem->capacity_words) * mem->word_bits;
  check->boxes = m.boxes;
  check->slots = m.slots;
  list_above(&m);
  for (int k = 0; k < m.n_on && !b->bad; k++)
    add_fit(&m, check, m.on[k], list);
}

/* Gives each decision the checks found for it, Tile by Tile. */
static void distribute_fits(tf_space_build *b, const fits *list) {
  tf_decision *at = b->t->decision;
  tf_sfit **next = tf_space_array(b, (size_t)b->t->space.n, sizeof *next);
  tf_sfit *all = tf_space_array(b, (size_t)list->n, sizeof *all);
  if (b->bad) return;
  for (int k = 0; k < list->n; k++)
    at[list->list[k].decision].n_fits++;
  for (int i = 0; i < b->t->space.n; all += at[i++].n_fits)
    at[i].fits = next[i] = all;
  for (int k = 0; k < list->n; k++)
    *next[list->list[k].decision]++ = list->list[k].fit;
}

void tf_space_checks(tf_space_build *b) {
  fits list = {0};
  for (int n = 0; n < b->f->tree->n_nodes && !b->bad; n++) {
    if (!is_mtile(b->f, n)) continue;
    const tf_mem_parts *parts = &b->f->arch->memories[b->f->tree->nodes[n].level].parts;
    check_tile(b, n, NULL, &list);
    for (int i = 0; i < parts->n && !b->bad; i++)
      check_tile(b, n, &parts->list[i], &list);
  }
  if (!b->bad) distribute_fits(b, &list);
}
