/* Decodes genes to groups: which ops share a Tile of which memory. */
#include <string.h>

#include "base/bits.h"
#include "search/space/genes.h"

/* Joins group b into group a. */
static void join_groups(int *group, int n, int a, int b) {
  int from = group[b], to = group[a];
  for (int i = 0; i < n; i++)
    if (group[i] == from) group[i] = to;
}

/* Groups before joining, and which groups each reaches. */
typedef struct {
  int *name;       /* [op] */
  uint64_t *reach; /* [op * words] of a group: groups that depend on it, directly or indirectly */
  size_t words;
} graph;

static void reach_of(const tf_shapes *s, graph *g) {
  const tf_workload *wl = s->wl;
  memset(g->reach, 0, (size_t)wl->n_ops * g->words * sizeof *g->reach);
  for (int o = 0; o < wl->n_ops; o++) {
    const tf_tensor *z = &wl->tensors[wl->ops[o].out];
    for (int i = 0; i < z->n_consumers; i++)
      if (g->name[z->consumers[i]] != g->name[o])
        tf_bits_add(&g->reach[(size_t)g->name[o] * g->words], g->name[z->consumers[i]]);
  }
  for (int k = 0; k < wl->n_ops; k++)
    for (int a = 0; a < wl->n_ops && g->name[k] == k; a++)
      if (tf_bits_has(&g->reach[(size_t)a * g->words], k))
        for (size_t i = 0; i < g->words; i++)
          g->reach[(size_t)a * g->words + i] |= g->reach[(size_t)k * g->words + i];
}

/* Joins groups that depend on each other in a cycle. */
static void join_cycles(const tf_shapes *s, int *group, graph *g) {
  int n = s->wl->n_ops;
  memcpy(g->name, group, (size_t)n * sizeof *group);
  reach_of(s, g);
  for (int a = 0; a < n; a++)
    for (int b = 0; b < n && g->name[a] == a; b++)
      if (g->name[b] == b && group[a] != group[b] &&
          tf_bits_has(&g->reach[(size_t)a * g->words], b) &&
          tf_bits_has(&g->reach[(size_t)b * g->words], a))
        join_groups(group, n, a, b);
}

static int least(int a, int b) { return a < b ? a : b; }

/* Splits groups with an op whose unit is above this memory: such ops cannot share a Tile of it.
 * `before`: the groups of the memory further out.  Groups are named by one of their ops; scratch:
 * [ops]. */
static void split_groups(const tf_shapes *s, int *group, const int *before, int level,
                         int *scratch) {
  enum { MANY = 1, LOW = 2 };
  int n = s->wl->n_ops;
  memset(scratch, 0, (size_t)n * sizeof *scratch);
  for (int o = 0; o < n; o++) {
    if (o != group[o]) scratch[group[o]] |= MANY;
    if (s->columns[o].unit_level < level) scratch[group[o]] |= LOW;
  }
  for (int o = 0; o < n; o++)
    if (scratch[group[o]] == (MANY | LOW)) group[o] = before[o];
}

bool tf_shapes_fuse(const tf_shapes *s, const int32_t *genes, tf_reads *reads, tf_arena *a,
                    tf_fusion *out) {
  const tf_workload *wl = s->wl;
  int levels = s->arch->n_memories;
  size_t n = (size_t)wl->n_ops;
  graph known = {TF_ARRAY(a, int, n), TF_ARRAY(a, uint64_t, n * tf_bits_words(n)),
                 tf_bits_words(n)};
  out->group = TF_ARRAY(a, int *, (size_t)levels + 1);
  int *all = TF_ARRAY(a, int, n *((size_t)levels + 1));
  if (!known.name || !known.reach || !out->group || !all) return false;
  for (int l = levels; l >= 0; l--) {
    int *g = out->group[l] = all + n * (size_t)l;
    for (int o = 0; o < wl->n_ops; o++)
      g[o] = l == levels ? o : out->group[l + 1][o];
    if (l == levels) continue;
    for (int o = 0; o < wl->n_ops; o++) {
      const tf_column *c = &s->columns[o];
      const tf_tensor *z = &wl->tensors[wl->ops[o].out];
      if (z->n_consumers == 0) continue;
      int to = z->consumers[genes[c->reader] % z->n_consumers];
      if (reads) tf_reads_note(reads, c->reader);
      if (reads) tf_reads_note(reads, c->level);
      int top = least(c->unit_level, s->columns[to].unit_level);
      if (least(genes[c->level], top + 1) > l) join_groups(g, wl->n_ops, o, to);
    }
    join_cycles(s, g, &known);
    split_groups(s, g, out->group[l + 1], l, known.name);
  }
  return true;
}
