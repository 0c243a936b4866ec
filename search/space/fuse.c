/* Genes -> which ops share a Tile of which memory. */
#include <string.h>

#include "search/space/genes.h"

static void join(int *group, int n, int a, int b) {
  int from = group[b], to = group[a];
  for (int i = 0; i < n; i++)
    if (group[i] == from) group[i] = to;
}

/* reach[a] bit b: some op of group a is read by one of group b, a != b, through any number. */
static void reach_of(const tf_shapes *s, const int *group, uint64_t *reach) {
  const tf_workload *wl = s->wl;
  memset(reach, 0, (size_t)wl->n_ops * sizeof *reach);
  for (int o = 0; o < wl->n_ops; o++) {
    const tf_tensor *z = &wl->tensors[wl->ops[o].out];
    for (int i = 0; i < z->n_consumers; i++)
      if (group[z->consumers[i]] != group[o]) reach[group[o]] |= (uint64_t)1 << group[z->consumers[i]];
  }
  for (int k = 0; k < wl->n_ops; k++)
    for (int a = 0; a < wl->n_ops; a++)
      if (reach[a] >> k & 1) reach[a] |= reach[k];
}

/* Joins groups that depend on each other; true if there were any. */
static bool join_cycles(const tf_shapes *s, int *group) {
  uint64_t reach[TF_OPS_MAX];
  reach_of(s, group, reach);
  for (int a = 0; a < s->wl->n_ops; a++)
    for (int b = 0; b < s->wl->n_ops; b++)
      if (group[a] != group[b] && (reach[group[a]] >> group[b] & 1) && (reach[group[b]] >> group[a] & 1)) {
        join(group, s->wl->n_ops, a, b);
        return true;
      }
  return false;
}

static int least(int a, int b) { return a < b ? a : b; }

/* Whether every group of two or more stands above the units of all its ops. */
static bool high_enough(const tf_shapes *s, const int *group, int level) {
  for (int a = 0; a < s->wl->n_ops; a++)
    for (int b = 0; b < s->wl->n_ops; b++)
      if (a != b && group[a] == group[b] && least(s->columns[a].floor, s->columns[b].floor) < level) return false;
  return true;
}

void tf_shapes_fuse(const tf_shapes *s, const int32_t *genes, tf_reads *reads, tf_fusion *out) {
  const tf_workload *wl = s->wl;
  int levels = s->arch->n_memories;
  for (int l = levels; l >= 0; l--) {
    int *g = out->group[l], *before = out->group[l + 1];
    for (int o = 0; o < wl->n_ops; o++)
      g[o] = l == levels ? o : before[o];
    if (l == levels) continue;
    for (int o = 0; o < wl->n_ops; o++) {
      const tf_column *c = &s->columns[o];
      const tf_tensor *z = &wl->tensors[wl->ops[o].out];
      if (z->n_consumers == 0) continue;
      int to = z->consumers[genes[c->to] % z->n_consumers];
      if (reads) tf_reads_note(reads, c->to);
      if (reads) tf_reads_note(reads, c->level);
      int top = least(c->floor, s->columns[to].floor);
      if (least(genes[c->level], top + 1) > l) join(g, wl->n_ops, o, to);
    }
    while (join_cycles(s, g)) {
    }
    /* a group that swallowed an op of an outer unit stays apart here */
    for (int o = 0; o < wl->n_ops && !high_enough(s, g, l); o++) {
      bool low = s->columns[o].floor < l;
      for (int b = 0; b < wl->n_ops && !low; b++)
        low = g[b] == g[o] && s->columns[b].floor < l;
      if (!low) continue;
      int name = g[o];
      for (int b = 0; b < wl->n_ops; b++)
        if (g[b] == name) g[b] = before[b];
    }
  }
}
