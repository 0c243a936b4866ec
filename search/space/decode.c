/* Decodes genes to the nodes of a mapping, which is then checked like a user's. */
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "model/input/dims.h"
#include "model/tree/build.h"
#include "search/space/genes.h"

typedef struct {
  const tf_shapes *s;
  const int32_t *genes;
  tf_reads *reads;
  unsigned strip;
  tf_fusion f;
  tf_arena *arena; /* of groups and names */
  tf_build *out;
  bool bad; /* memory ran out */
} writer;

typedef struct {
  int n;
  int *ops;      /* producers before their readers */
  uint64_t *has; /* the same as a set */
} group;

static void *array(writer *w, size_t n, size_t size) {
  void *p = tf_arena_array(w->arena, n, size);
  w->bad |= !p;
  return p;
}

/* An empty group with room for n ops. */
static group new_group(writer *w, int n) {
  size_t words = tf_bits_words((size_t)w->s->wl->n_ops);
  return (group){0, array(w, (size_t)n, sizeof(int)), array(w, words, sizeof(uint64_t))};
}

static void add_op(group *g, int o) {
  g->ops[g->n++] = o;
  tf_bits_add(g->has, o);
}

static bool in(const group *g, int o) { return tf_bits_has(g->has, o); }

static int gene(writer *w, int i) {
  tf_reads_note(w->reads, i);
  return w->genes[i];
}

/* ---- leading ops ------------------------------------------------------------------------ */
static bool leads(const writer *w, const group *g, int o) {
  const tf_tensor *z = &w->s->wl->tensors[w->s->wl->ops[o].out];
  for (int i = 0; i < z->n_consumers; i++)
    if (in(g, z->consumers[i])) return false;
  return true;
}

/* 0: no loop on the dim may be above the group; 1: one may; 2: one may if the reductions are
 * streamed. */
static int allowed(const writer *w, const group *g, int dim) {
  int answer = 1;
  for (int i = 0; i < g->n; i++) {
    const tf_op *op = &w->s->wl->ops[g->ops[i]];
    int at = tf_op_slot(op, dim);
    if (leads(w, g, g->ops[i])) {
      if (at < 0) return 0;
    } else if (at >= op->n_out_dims) {
      answer = 2;
    }
  }
  return answer;
}

/* The dim over which the group's reductions could be streamed, -1: none. */
static int stream_dim(const writer *w, const group *g) {
  for (int d = 0; d < w->s->wl->n_dims; d++)
    if (w->s->wl->dims[d].extent > 1 && allowed(w, g, d) == 2) return d;
  return -1;
}

/* ---- Tiles ------------------------------------------------------------------------------- */
typedef struct {
  int level, owner; /* the group's last op, whose genes describe the Tile */
  const int *first; /* its genes */
  bool spread;      /* spatial loops are allowed */
  int stream;       /* dim that is streamed below; -1: none */
} tile;

static int64_t mesh_of(const writer *w, const group *g, int level, int axis) {
  const tf_arch *a = w->s->arch;
  int64_t least = INT64_MAX;
  for (int i = 0; i < g->n; i++) {
    const tf_column *c = &w->s->columns[g->ops[i]];
    int64_t m =
        c->unit_level <= level ? a->units[c->unit].mesh[axis] : a->memories[level + 1].mesh[axis];
    if (m < least) least = m;
  }
  return least;
}

/* Words of one reference with a length of 2 in `dim` and of 1 in all other dims. */
static double words_with(const writer *w, const tf_op *op, const tf_index *index, int rank,
                         int dim) {
  double words = 1;
  for (int r = 0; r < rank; r++) {
    if (!index) {
      words *= op->dims[r] == dim ? 2 : 1;
      continue;
    }
    for (int j = 0; j < index[r].n_terms; j++)
      if (index[r].terms[j].dim == dim)
        words *= 1 + (double)llabs((long long)index[r].terms[j].coef);
  }
  (void)w;
  return words;
}

/* Whether a loop of two steps on the dim at the op's own innermost Tile of this memory would exceed
 * its capacity whatever else is chosen.  Then the loop is omitted. */
static bool exceeds_capacity(const writer *w, const group *g, int level, int dim) {
  const tf_memory *m = &w->s->arch->memories[level];
  if (g->n > 1 || m->capacity_words < 0 || w->strip != 0) return false;
  const tf_op *op = &w->s->wl->ops[g->ops[0]];
  double bits = 0, copies = m->double_buffered ? 2 : 1;
  for (int r = -1; r < op->n_reads; r++) {
    int z = r < 0 ? op->out : op->reads[r].tensor;
    const tf_tensor *t = &w->s->wl->tensors[z];
    bool twice = false;
    for (int q = 0; q < r; q++)
      twice |= op->reads[q].tensor == z;
    if (twice || w->genes[w->s->bypass[z * w->s->arch->n_memories + level]]) continue;
    if (t->producer >= 0 && t->n_consumers > 0 && level < w->s->columns[t->producer].unit_level)
      continue; /* its home may be this memory */
    bits +=
        copies * t->word_bits * words_with(w, op, r < 0 ? NULL : op->reads[r].index, t->rank, dim);
  }
  return bits > (double)m->capacity_words * m->word_bits;
}

/* Orders the temporal loops by ascending priority; a streamed dim comes last. */
static int order_of(writer *w, const group *g, const tile *t, int *order) {
  const tf_op *op = &w->s->wl->ops[t->owner];
  int rank[256], n = 0;
  for (int i = 0; i < op->n_dims && n < 256; i++) {
    int d = op->dims[i], kind = allowed(w, g, d);
    bool may = kind == 1 || (kind == 2 && t->stream == d);
    if (w->s->wl->dims[d].extent == 1 || !may || exceeds_capacity(w, g, t->level, d)) continue;
    int p = kind == 2 ? TF_PRIORITIES : gene(w, *t->first + i), k = n++;
    for (; k > 0 && rank[k - 1] > p; k--) {
      rank[k] = rank[k - 1];
      order[k] = order[k - 1];
    }
    rank[k] = p;
    order[k] = d;
  }
  return n;
}

/* The dims that a Tile spreads already. */
typedef struct {
  int first; /* the one that this axis has already; -1: none */
  int n, dim[4];
} spreads;

static bool spread_already(const writer *w, const spreads *s, int dim) {
  bool there = dim == s->first;
  for (int i = 0; i < s->n && w->s->one_side; i++)
    there |= s->dim[i] == dim;
  return there;
}

static void put_spread(writer *w, const group *g, const tile *t, int which, spreads *s) {
  const tf_op *op = &w->s->wl->ops[t->owner];
  int axis = which / 2;
  int64_t mesh = mesh_of(w, g, t->level, axis);
  if (mesh <= 1 || (which % 2 == 1 && s->first < 0)) return;
  int pick = gene(w, *t->first + op->n_dims + which);
  int d = pick ? op->dims[pick - 1] : -1;
  if (which % 2 == 0) s->first = -1;
  bool ok = d >= 0 && w->s->wl->dims[d].extent > 1 && allowed(w, g, d) == 1 &&
            !spread_already(w, s, d) && !exceeds_capacity(w, g, t->level, d);
  if (which % 2 == 0) s->first = ok ? d : -1;
  if (ok) s->dim[s->n++] = d;
  if (ok) tf_build_loop(w->out, (tf_loop){.dim = d, .axis = axis ? TF_SPATIAL_Y : TF_SPATIAL_X});
}

static bool touches(const writer *w, const group *g, int z) {
  for (int i = 0; i < g->n; i++) {
    const tf_op *op = &w->s->wl->ops[g->ops[i]];
    if (op->out == z) return true;
    for (int r = 0; r < op->n_reads; r++)
      if (op->reads[r].tensor == z) return true;
  }
  return false;
}

static void put_bypass(writer *w, const group *g, int level) {
  for (int z = 0; level > 0 && z < w->s->wl->n_tensors; z++) {
    if (w->strip & TF_STRIP_BYPASS || !touches(w, g, z)) continue;
    if (gene(w, w->s->bypass[z * w->s->arch->n_memories + level]))
      tf_build_bypass(w->out, (tf_named){.tensor = z});
  }
}

static int put_tile(writer *w, const group *g, int parent, tile t, bool outermost) {
  spreads s = {.first = -1};
  int order[256], n = order_of(w, g, &t, order);
  int node = tf_build_tile(w->out, parent, t.level);
  for (int k = 0; k < n; k++)
    tf_build_loop(w->out, (tf_loop){.dim = order[k], .axis = TF_TEMPORAL});
  for (int which = 0; which < 4 && t.spread; which++)
    put_spread(w, g, &t, which, &s);
  if (outermost) put_bypass(w, g, t.level);
  return node;
}

/* ---- scopes -------------------------------------------------------------------------------- */
/* Splits g into its groups at a memory, producers first. */
static int split(writer *w, const group *g, int memory, group *parts) {
  const int *name = w->f.group[memory];
  const tf_workload *wl = w->s->wl;
  int n = 0;
  bool *done = array(w, (size_t)wl->n_ops, sizeof *done);
  for (int left = g->n; left > 0 && !w->bad;) {
    int before = left;
    for (int i = 0; i < g->n; i++) {
      int id = name[g->ops[i]];
      if (done[id]) continue;
      bool ready = true;
      for (int k = 0; k < g->n; k++) { /* all that the part reads is produced by earlier parts? */
        if (name[g->ops[k]] != id) continue;
        const tf_op *op = &wl->ops[g->ops[k]];
        for (int r = 0; r < op->n_reads; r++) {
          int maker = wl->tensors[op->reads[r].tensor].producer;
          ready &= maker < 0 || !in(g, maker) || name[maker] == id || done[name[maker]];
        }
      }
      if (!ready) continue;
      parts[n] = new_group(w, g->n);
      for (int k = 0; k < g->n && !w->bad; k++)
        if (name[g->ops[k]] == id) add_op(&parts[n], g->ops[k]);
      left -= parts[n++].n;
      done[id] = true;
    }
    if (left == before) break; /* no valid order: impossible, as tf_shapes_fuse joins cycles */
  }
  return n;
}

/* Gives consecutive parts whose ops run on one kind of unit the same name; returns the number of
 * names. */
static int runs_of(const writer *w, const group *parts, int n, int *name) {
  int runs = 0, before = -1;
  for (int k = 0; k < n; k++) {
    int unit = w->s->columns[parts[k].ops[0]].unit;
    for (int i = 1; i < parts[k].n; i++)
      if (w->s->columns[parts[k].ops[i]].unit != unit) unit = -1;
    if (k == 0 || unit < 0 || unit != before) runs++;
    before = unit;
    for (int i = 0; i < parts[k].n; i++)
      name[parts[k].ops[i]] = runs - 1;
  }
  return runs;
}

/* Whether the scope over g, whose children are named by `name`, is the home scope of o's output:
 * the lowest with the producer and all readers below it, in different children. */
static bool home_here(const writer *w, const group *g, const int *name, int o) {
  const tf_tensor *z = &w->s->wl->tensors[w->s->wl->ops[o].out];
  bool apart = false;
  for (int i = 0; i < z->n_consumers; i++) {
    if (!in(g, z->consumers[i])) return false;
    apart |= name[z->consumers[i]] != name[o];
  }
  return apart;
}

/* Writes the tensors that the scope keeps one memory further in; returns whether there are any. */
static bool put_keep(writer *w, const group *g, const int *name, int level, bool write) {
  bool begun = false;
  for (int i = 0; level >= 0 && i < g->n; i++) {
    int o = g->ops[i];
    const tf_tensor *z = &w->s->wl->tensors[w->s->wl->ops[o].out];
    bool deep = w->s->columns[o].unit_level > level && home_here(w, g, name, o);
    for (int c = 0; c < z->n_consumers; c++)
      deep &= w->s->columns[z->consumers[c]].unit_level > level;
    if (!deep || w->strip & TF_STRIP_KEEP || !gene(w, w->s->columns[o].keep + 1 + level)) continue;
    if (write) tf_build_keep(w->out, (tf_keep){.tensor = w->s->wl->ops[o].out, .level = level + 1});
    begun = true;
  }
  return begun;
}

static void put_stream(writer *w, const group *g, int level, int dim) {
  for (int i = 0; i < g->n; i++) {
    const tf_op *op = &w->s->wl->ops[g->ops[i]];
    bool leaves = leads(w, g, g->ops[i]);
    if (tf_op_slot(op, dim) < op->n_out_dims) continue;
    if (!leaves && !home_here(w, g, w->f.group[level + 1], g->ops[i])) continue;
    tf_build_stream(w->out, (tf_named){.tensor = op->out});
  }
}

/* The first scope kind whose children run at once and may read each other. */
static tf_scope feeding(void) {
  int k = 0;
  while (!tf_scope_at((tf_scope)k)->at_once || !tf_scope_at((tf_scope)k)->feeds)
    k++;
  return (tf_scope)k;
}

/* Uses Pipe instead of Para, which must not hold a producer and its reader. */
static tf_scope kind_of(writer *w, const group *g, const int *name, int level, int owner) {
  tf_scope k = (tf_scope)gene(w, w->s->columns[owner].kind + 1 + level);
  for (int i = 0; !tf_scope_at(k)->feeds && i < g->n; i++) {
    const tf_tensor *z = &w->s->wl->tensors[w->s->wl->ops[g->ops[i]].out];
    for (int c = 0; c < z->n_consumers; c++)
      if (in(g, z->consumers[c]) && name[z->consumers[c]] != name[g->ops[i]]) k = feeding();
  }
  return k;
}

/* ---- groups -------------------------------------------------------------------------------- */
static void put_group(writer *w, const group *g, int level, int parent);

static int owner_of(const group *g) { return g->ops[g->n - 1]; }

static tile tile_of(const writer *w, const group *g, int level, bool inner) {
  int o = owner_of(g);
  return (tile){level, o, &w->s->columns[o].tile[2 * level + inner], true, -1};
}

/* Emits what is below the Tile of a group that is not split at this memory. */
static void put_below(writer *w, const group *g, int level, int parent) {
  int o = g->ops[0];
  if (g->n == 1 && w->s->columns[o].unit_level <= level)
    tf_build_op(w->out, parent, o);
  else
    put_group(w, g, level + 1, parent);
}

static void put_parts(writer *w, const group *parts, int n, int level, int parent, bool spread) {
  for (int k = 0; k < n; k++) {
    if (level < 0) {
      put_group(w, &parts[k], 0, parent);
      continue;
    }
    tile t = tile_of(w, &parts[k], level, true);
    t.spread = spread;
    put_below(w, &parts[k], level, put_tile(w, &parts[k], parent, t, false));
  }
}

typedef struct {
  const group *at;
  int n;
} groups;

/* Emits the children of a scope; consecutive parts on one kind of unit get a scope of their own. */
static void put_runs(writer *w, groups of, const int *name, int level, int parent, tf_scope kind,
                     bool spread) {
  const group *parts = of.at;
  const int n = of.n;
  for (int k = 0, end; k < n; k = end) {
    group run = new_group(w, w->s->wl->n_ops);
    if (w->bad) return;
    for (end = k; end < n && name[parts[end].ops[0]] == name[parts[k].ops[0]]; end++)
      for (int i = 0; i < parts[end].n; i++)
        add_op(&run, parts[end].ops[i]);
    bool keep = false;
    int above = parent;
    if (end - k > 1) {
      above = tf_build_scope(w->out, parent, kind);
      keep = put_keep(w, &run, w->f.group[level + 1], level, true);
    }
    put_parts(w, &parts[k], end - k, level, above, spread && !keep);
  }
}

/* The scope kind that joins the runs of a scope's parts; -1: none.  Fills name[] with the runs'
 * names. */
static int join_runs(writer *w, const group *parts, int n, int gene_no, int *name) {
  int runs = runs_of(w, parts, n, name);
  if (runs < 2 || runs == n || w->strip & TF_STRIP_RUNS) return -1;
  int pick = gene(w, gene_no);
  return pick == 0 ? -1 : pick == 1 ? TF_SEQ : TF_SHAR;
}

static void put_scope(writer *w, const group *g, int level, const group *parts, int n, int parent) {
  int owner = owner_of(g), dim = stream_dim(w, g), join = -1;
  int *runs = array(w, (size_t)w->s->wl->n_ops, sizeof *runs);
  if (w->bad) return;
  const tf_column *c = &w->s->columns[owner];
  bool stream =
      dim >= 0 && level >= 0 && !(w->strip & TF_STRIP_STREAM) && gene(w, c->stream + 1 + level);
  if (!stream) join = join_runs(w, parts, n, c->run + 1 + level, runs);
  const int *name = join >= 0 ? runs : w->f.group[level + 1];
  bool keep = put_keep(w, g, name, level, false);
  if (level >= 0) {
    tile t = tile_of(w, g, level, false);
    if (stream) t.stream = dim;
    parent = put_tile(w, g, parent, t, true);
  }
  int scope = tf_build_scope(w->out, parent, kind_of(w, g, name, level, owner));
  put_keep(w, g, name, level, true);
  if (stream) put_stream(w, g, level, dim);
  if (join >= 0)
    put_runs(w, (groups){parts, n}, runs, level, scope, (tf_scope)join, !keep);
  else
    put_parts(w, parts, n, level, scope, !keep);
}

/* Emits the group's Tile of this memory and all below it; level -1: the root. */
static void put_group(writer *w, const group *g, int level, int parent) {
  group *parts = array(w, (size_t)g->n, sizeof *parts);
  int n = w->bad ? 0 : split(w, g, level + 1, parts);
  if (w->bad) return;
  if (n > 1) {
    put_scope(w, g, level, parts, n, parent);
  } else if (level >= 0) {
    put_below(w, g, level, put_tile(w, g, parent, tile_of(w, g, level, true), true));
  } else {
    put_group(w, g, 0, parent);
  }
}

tf_tree *tf_shapes_decode(const tf_shapes *s, const int32_t *genes, tf_reads *reads,
                          unsigned strip) {
  writer w = {.s = s, .genes = genes, .reads = reads, .strip = strip, .arena = tf_arena_new()};
  w.bad = !w.arena || !tf_shapes_fuse(s, genes, reads, w.arena, &w.f);
  w.out = w.bad ? NULL : tf_build_new(s->arch, s->wl, NULL);
  w.bad |= !w.out;
  if (!w.bad) {
    group all = new_group(&w, s->wl->n_ops);
    for (int i = 0; i < s->wl->n_ops && !w.bad; i++)
      add_op(&all, s->wl->topo[i]);
    put_group(&w, &all, -1, -1);
  }
  tf_arena_free(w.arena);
  if (!w.bad) return tf_build_tree(w.out);
  tf_build_free(w.out);
  return NULL;
}
