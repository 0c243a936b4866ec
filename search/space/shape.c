/* Layout of the genes. */
#include "search/space/shape.h"

#include <stdlib.h>
#include <string.h>

#include "search/common/ops.h"
#include "search/space/genes.h"
#include "tileflow/tree.h"

/* ---- layout --------------------------------------------------------------------------- */
static int gene(tf_shapes *s, int size, bool rare) {
  s->size[s->n] = (uint8_t)(size > 200 ? 200 : size);
  s->rare[s->n] = rare;
  return s->n++;
}

static void add_tile_genes(tf_shapes *s, int *first, int n_dims, bool outer) {
  *first = s->n;
  for (int d = 0; d < n_dims; d++)
    gene(s, TF_PRIORITIES, false);
  for (int k = 0; k < 4; k++)
    gene(s, n_dims + 1, outer);
}

/* Whether the ops run on units of more than one kind. */
static bool two_kinds(const tf_shapes *s) {
  for (int o = 1; o < s->wl->n_ops; o++)
    if (s->columns[o].unit != s->columns[0].unit) return true;
  return false;
}

static void add_op_genes(tf_shapes *s, int o) {
  tf_column *c = &s->columns[o];
  const tf_op *op = &s->wl->ops[o];
  int readers = s->wl->tensors[op->out].n_consumers, levels = s->arch->n_memories;
  c->reader = gene(s, readers ? readers : 1, false);
  c->level = gene(s, readers ? c->unit_level + 2 : 1, false);
  c->kind = s->n;
  for (int l = -1; l < levels; l++)
    gene(s, TF_N_SCOPES, false);
  c->keep = s->n;
  for (int l = -1; l < levels; l++)
    gene(s, l >= 0 && l < c->unit_level && readers ? 2 : 1, true);
  c->stream = s->n;
  for (int l = -1; l < levels; l++)
    gene(s, 2, false);
  c->run = s->n;
  for (int l = -1; l < levels; l++)
    gene(s, two_kinds(s) ? TF_RUN_KINDS : 1, false);
  for (int l = 0; l < levels; l++)
    for (int inner = 0; inner < 2; inner++)
      add_tile_genes(s, &c->tile[2 * l + inner], op->n_dims, !inner);
}

/* Upper bound on the number of genes: what lay_op and the bypasses add. */
static size_t room_of(const tf_arch *a, const tf_workload *wl) {
  size_t levels = (size_t)a->n_memories, n = (size_t)wl->n_tensors * levels;
  for (int o = 0; o < wl->n_ops; o++)
    n += 2 + 4 * (levels + 1) + 2 * levels * ((size_t)wl->ops[o].n_dims + 4);
  return n;
}

static bool alloc(tf_shapes *s, size_t room) {
  size_t levels = (size_t)s->arch->n_memories, n_ops = (size_t)s->wl->n_ops;
  s->room = (int)room;
  s->size = TF_ARRAY(s->arena, uint8_t, room + 1);
  s->rare = TF_ARRAY(s->arena, uint8_t, room + 1);
  s->column = TF_ARRAY(s->arena, int, room + 1);
  s->columns = TF_ARRAY(s->arena, tf_column, n_ops);
  s->bypass = TF_ARRAY(s->arena, int, (size_t)s->wl->n_tensors *levels);
  bool ok = s->size && s->rare && s->column && s->columns && s->bypass;
  for (size_t o = 0; ok && o < n_ops; o++)
    ok = (s->columns[o].tile = TF_ARRAY(s->arena, int, 2 * levels)) != NULL;
  return ok;
}

static bool lay_out(tf_shapes *s, tf_diags *d) {
  bool ok = tf_ops_can_run(s->arch, s->wl, d);
  for (int o = 0; o < s->wl->n_ops; o++) {
    int u = tf_ops_unit(s->arch, s->wl, o);
    s->columns[o].unit = u;
    s->columns[o].unit_level = u < 0 ? 0 : s->arch->units[u].below;
  }
  for (int o = 0; ok && o < s->wl->n_ops; o++) {
    int from = s->n;
    add_op_genes(s, o);
    for (; from < s->n; from++)
      s->column[from] = o;
  }
  for (int i = s->n; i < s->room; i++)
    s->column[i] = s->wl->n_ops;
  for (int z = 0; ok && z < s->wl->n_tensors; z++)
    for (int l = 0; l < s->arch->n_memories; l++)
      s->bypass[z * s->arch->n_memories + l] = gene(s, l ? 2 : 1, true);
  return ok;
}

tf_shapes *tf_shapes_new(const tf_arch *arch, const tf_workload *wl, tf_diags *d) {
  tf_arena *a = tf_arena_new();
  tf_shapes *s = a ? TF_NEW(a, tf_shapes) : NULL;
  bool small = arch->n_memories <= TF_MEMORIES_MAX;
  if (s && small) {
    s->arena = a;
    s->arch = arch;
    s->wl = wl;
    if (alloc(s, room_of(arch, wl)) && tf_shapes_find_shared(s)) {
      if (lay_out(s, d)) return s;
      tf_arena_free(a);
      return NULL;
    }
  }
  if (!small)
    tf_fail(d, arch->at, TF_E_LIMIT, "%d memories, and a search takes %d at most", arch->n_memories,
            TF_MEMORIES_MAX);
  else
    tf_out_of_memory_at(d, wl->at);
  tf_arena_free(a);
  return NULL;
}

void tf_shapes_one_side(tf_shapes *s) { s->one_side = true; }

void tf_shapes_free(tf_shapes *s) {
  if (s) tf_arena_free(s->arena);
}

int tf_shapes_genes(const tf_shapes *s) { return s->n; }

/* ---- as a space ------------------------------------------------------------------------- */
typedef struct {
  tf_space space;
  const tf_shapes *shapes;
} view;

static const tf_shapes *shapes_of(const tf_space *s) { return ((const view *)s)->shapes; }

static void begin(tf_space *s) { (void)s; }

static int domain_of(tf_space *s, int i, int32_t *domain) {
  int n = shapes_of(s)->size[i];
  for (int k = 0; k < n; k++)
    domain[k] = k;
  return n;
}

static void take(tf_space *s, int i, int32_t choice) { s->chosen[i] = choice; }

static int32_t draw(const tf_space *s, int i, tf_rng *rng) {
  return tf_shapes_draw(shapes_of(s), i, rng);
}

static void seed(tf_space *s, int k, tf_rng *rng, int32_t *row) {
  tf_shapes_seed(shapes_of(s), k, rng, row);
}

static void vary(tf_space *s, tf_rng *rng, const uint32_t *order, int32_t *row) {
  tf_shapes_vary(shapes_of(s), rng, order, row);
}

/* Genes of one column are best inherited together. */
static int group(const tf_space *s, int i) {
  return shapes_of(s)->given ? 0 : shapes_of(s)->column[i];
}

static uint64_t niche(const tf_space *s, const int32_t *row, const uint32_t *order) {
  return tf_shapes_niche(shapes_of(s), row, order);
}

static void order_of(tf_space *s, uint32_t *order) {
  tf_reads reads = {order, 0};
  tf_tree_free(tf_shapes_tree(shapes_of(s), s->chosen, &reads));
}

static const tf_space_kind kind = {begin,          domain_of,      take,
                                   draw,           .vary = vary,   .seed = seed,
                                   .group = group, .niche = niche, .order = order_of};

tf_space *tf_shapes_space(tf_arena *a, const tf_shapes *s) {
  view *v = TF_NEW(a, view);
  if (!v) return NULL;
  v->shapes = s;
  v->space = (tf_space){.kind = &kind,
                        .n = s->n,
                        .chosen = TF_ARRAY(a, int32_t, (size_t)s->n),
                        .fixed = true,
                        .n_seeds = tf_shapes_seeds(s),
                        .n_groups = s->given ? 1 : s->wl->n_ops + 1};
  return v->space.chosen ? &v->space : NULL;
}
