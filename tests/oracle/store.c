/* What each memory instance holds, and when it is given up (docs/SEMANTICS.md section 3). */
#include <stdlib.h>
#include <string.h>

#include "tests/oracle/oracle.h"

static bool spatial(const oracle *o, place p) { return loop_of(o, p)->axis != TF_TEMPORAL; }

void first_instance(oracle *o, int n) {
  place path[MAX_PATH];
  int len = path_to(o, n, path);
  for (int i = 0; i < len; i++)
    if (spatial(o, path[i])) o->digit[path[i].node][path[i].slot] = 0;
}

bool next_instance(oracle *o, int n) {
  place path[MAX_PATH];
  for (int i = path_to(o, n, path) - 1; i >= 0; i--) {
    int64_t *digit = &o->digit[path[i].node][path[i].slot];
    if (!spatial(o, path[i])) continue;
    if (++*digit < loop_of(o, path[i])->trip) return true;
    *digit = 0;
  }
  return false;
}

uint64_t instance_key(const oracle *o, int n) {
  place path[MAX_PATH];
  int len = path_to(o, n, path);
  uint64_t key = 1;
  for (int i = 0; i < len; i++)
    if (spatial(o, path[i]) && loop_of(o, path[i])->trip > 1)
      key = key * o->radix + (uint64_t)o->digit[path[i].node][path[i].slot];
  return key;
}

/* Whether m-tiles a and b stand in the same child of every Para and Pipe above either of them. */
static bool same_side(const oracle *o, int a, int b) {
  for (int n = 0; n < o->tree->n_nodes; n++) {
    const tf_node *t = &o->tree->nodes[n];
    if (t->kind != TF_SCOPE || (t->scope != TF_PARA && t->scope != TF_PIPE)) continue;
    for (int c = 0; c < t->n_children; c++)
      if (below(o, a, t->children[c]) != below(o, b, t->children[c])) return false;
  }
  return true;
}

shelf *shelf_of(oracle *o, int tile, int z) {
  int level = o->tree->nodes[tile].level;
  for (int i = 0; i < o->n_shelves; i++)
    if (o->shelves[i].level == level && o->shelves[i].tensor == z &&
        same_side(o, o->shelves[i].first, tile))
      return &o->shelves[i];
  shelf *s = &o->shelves[o->n_shelves++];
  *s = (shelf){.level = level, .tensor = z, .first = tile, .latest = -1};
  return s;
}

copy *copy_at(shelf *s, uint64_t instance, bool add) {
  for (int i = 0; i < s->n; i++)
    if (s->copies[i].instance == instance) return &s->copies[i];
  if (!add) return NULL;
  s->copies = realloc(s->copies, (size_t)(s->n + 1) * sizeof *s->copies);
  if (!s->copies) abort();
  memset(&s->copies[s->n], 0, sizeof s->copies[s->n]);
  s->copies[s->n].instance = instance;
  return &s->copies[s->n++];
}

set *met_at(oracle *o, int z, int what, where_made key) {
  for (int i = 0; i < o->n_records[z]; i++)
    if (o->records[z][i].what == what && same_made(o->records[z][i].key, key))
      return &o->records[z][i].met;
  int n = o->n_records[z]++;
  o->records[z] = realloc(o->records[z], (size_t)(n + 1) * sizeof *o->records[z]);
  if (!o->records[z]) abort();
  memset(&o->records[z][n], 0, sizeof o->records[z][n]);
  o->records[z][n].what = what;
  o->records[z][n].key = key;
  return &o->records[z][n].met;
}

static void give_up(shelf *s, int i) { s->copies[i] = s->copies[--s->n]; }

/* A production of z begins, so the one before has ended: copies below the home are given up. */
void forget_production(oracle *o, int z) {
  for (int i = 0; i < o->n_shelves; i++)
    if (o->shelves[i].tensor == z) o->shelves[i].n = 0;
  o->n_records[z] = 0;
}

/* The instance of `scope` that an instance of node n, below it, belongs to. */
static uint64_t scope_instance(const oracle *o, uint64_t key, int n, int scope) {
  place path[MAX_PATH];
  int len = path_to(o, n, path);
  for (int i = path_to(o, scope, path); i < len; i++) {
    path_to(o, n, path);
    if (spatial(o, path[i]) && loop_of(o, path[i])->trip > 1) key /= o->radix;
  }
  return key;
}

static void pass_instance(oracle *o, int scope, int child, uint64_t instance) {
  for (int i = 0; i < o->n_shelves; i++) {
    shelf *s = &o->shelves[i];
    for (int k = s->n - 1; k >= 0; k--)
      if (!touched_below(o, child, s->tensor) && below(o, s->copies[k].node, scope) &&
          scope_instance(o, s->copies[k].instance, s->copies[k].node, scope) == instance)
        give_up(s, k);
  }
  for (int z = 0; z < o->wl->n_tensors; z++)
    if (o->kept[z] && home_scope(o, z) != scope && below(o, home_scope(o, z), scope) &&
        !touched_below(o, child, z))
      for (int i = 0; i < o->kept[z]->n; i++)
        if (scope_instance(o, o->kept[z]->key[i], home_scope(o, z), scope) == instance)
          o->kept[z]->held[i].empty = true;
}

/* Control passes to the child in the instances in which it runs: the others keep what they hold. */
void pass_seq(oracle *o, int scope, int child) {
  first_instance(o, child);
  do {
    bool runs = false;
    for (int op = 0; op < o->wl->n_ops && !runs; op++)
      runs = op_below(o, op, child) && !idle(o, op, child);
    if (runs) pass_instance(o, scope, child, instance_key(o, scope));
  } while (next_instance(o, child));
}

/* Whether spatial loops between the scope and node n split dims that z's maker reduces. */
static bool spread(const oracle *o, int scope, int n, int z) {
  place path[MAX_PATH];
  int len = path_to(o, n, path), op = 0;
  while (o->wl->ops[op].out != z)
    op++;
  for (int i = 0; i < len; i++) {
    if (!spatial(o, path[i]) || loop_of(o, path[i])->trip <= 1 || !below(o, path[i].node, scope))
      continue;
    bool kept = false;
    for (int r = 0; r < o->wl->ops[op].n_out_dims; r++)
      kept |= o->wl->ops[op].dims[r] == loop_of(o, path[i])->dim;
    if (!kept) return true;
  }
  return false;
}

void leave_child(oracle *o, int scope, int child) {
  for (int i = 0; i < o->n_shelves; i++) {
    shelf *s = &o->shelves[i];
    for (int k = s->n - 1; k >= 0; k--)
      if (below(o, s->copies[k].node, child) && makes(o, s->copies[k].node, s->tensor) &&
          spread(o, scope, s->copies[k].node, s->tensor))
        give_up(s, k);
  }
}

/* The next turning spatial loop below `scope` on the path, from i on. */
static int next_turning(const oracle *o, const place *path, int n, int scope, int i) {
  while (i < n &&
         (!spatial(o, path[i]) || loop_of(o, path[i])->trip <= 1 || !below(o, path[i].node, scope)))
    i++;
  return i;
}

static bool same_layout(oracle *o, int a, int b, int z) {
  place pa[MAX_PATH], pb[MAX_PATH];
  int na = path_to(o, a, pa), nb = path_to(o, b, pb), scope = lowest_common(o, a, b);
  int i = next_turning(o, pa, na, scope, 0), k = next_turning(o, pb, nb, scope, 0);
  for (; i < na && k < nb;
       i = next_turning(o, pa, na, scope, i + 1), k = next_turning(o, pb, nb, scope, k + 1)) {
    int64_t ea[MAX_RANK], eb[MAX_RANK];
    step_effect(o, a, z, pa[i], ea);
    step_effect(o, b, z, pb[k], eb);
    if (loop_of(o, pa[i])->axis != loop_of(o, pb[k])->axis ||
        loop_of(o, pa[i])->trip != loop_of(o, pb[k])->trip ||
        memcmp(ea, eb, (size_t)o->wl->tensors[z].rank * sizeof ea[0]))
      return false;
  }
  return i == na && k == nb;
}

void check_layout(oracle *o, shelf *s, int tile) {
  if (s->latest >= 0 && s->latest != tile && !same_layout(o, s->latest, tile, s->tensor)) s->n = 0;
}

/* Numbers the elements of z from 0. */
void fill_set(const oracle *o, int z, const box *b, set *out) {
  const tf_tensor *t = &o->wl->tensors[z];
  memset(out, 0, sizeof *out);
  int64_t at[MAX_RANK];
  if (b->empty) return;
  for (int r = 0; r < t->rank; r++)
    at[r] = b->rank[r].lo;
  for (;;) {
    int64_t number = 0;
    for (int r = 0; r < t->rank; r++)
      number = number * t->extent[r] + at[r] - t->lo[r];
    out->in[number] = 1;
    int r = t->rank - 1;
    while (r >= 0 && ++at[r] == b->rank[r].lo + b->rank[r].len) {
      at[r] = b->rank[r].lo;
      r--;
    }
    if (r < 0) return;
  }
}

int64_t count_set(const oracle *o, int z, const set *s) {
  int64_t size = 1, n = 0;
  for (int r = 0; r < o->wl->tensors[z].rank; r++)
    size *= o->wl->tensors[z].extent[r];
  for (int64_t i = 0; i < size; i++)
    n += s->in[i];
  return n;
}
