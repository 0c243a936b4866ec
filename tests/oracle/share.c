/* Words by the instance of the memory whose ports they pass. */
#include <stdlib.h>

#include "tests/oracle/oracle.h"

words *share_at(shares *s, uint64_t instance) {
  for (int i = 0; i < s->n; i++)
    if (s->of[i].instance == instance) return &s->of[i].w;
  s->of = realloc(s->of, (size_t)(s->n + 1) * sizeof *s->of);
  if (!s->of) abort();
  s->of[s->n].instance = instance;
  s->of[s->n].w = (words){0, 0, 0, 0};
  return &s->of[s->n++].w;
}

void add_words(words *to, words w) {
  to->fill += w.fill;
  to->drain += w.drain;
  to->read += w.read;
  to->update += w.update;
}

void note_shares(const oracle *o, int n, int z, shares *own, shares *up, words w) {
  add_words(share_at(own, instance_key(o, n)), (words){.fill = w.fill, .drain = w.drain});
  add_words(share_at(up, parent_key(o, n, z, o->tree->nodes[n].level)),
            (words){.read = w.read, .update = w.update});
}

typedef struct {
  shares **list;
  size_t n;
} row;

enum { ROWS = 9 };

static void find_rows(oracle *o, row *rows) {
  const size_t nt = (size_t)o->wl->n_tensors, nodes = (size_t)o->tree->n_nodes,
               ops = (size_t)o->wl->n_ops;
  const row all[ROWS] = {{&o->own_by_node, nodes * nt},
                         {&o->up_by_node, nodes * nt},
                         {&o->up_by_ref, ops * 16},
                         {&o->own_by_class, nodes * MAX_CLASSES * nt},
                         {&o->up_by_class, nodes * MAX_CLASSES * nt},
                         {&o->own_by_scope, nodes * nodes * nt},
                         {&o->up_by_scope, nodes * nodes * nt},
                         {&o->up_corrected, ops},
                         {&o->up_rescaled, nodes * nt}};
  for (int i = 0; i < ROWS; i++)
    rows[i] = all[i];
}

bool make_shares(oracle *o) {
  row rows[ROWS];
  bool ok = true;
  find_rows(o, rows);
  for (int i = 0; i < ROWS; i++)
    ok = (*rows[i].list = calloc(rows[i].n, sizeof **rows[i].list)) && ok;
  return ok;
}

void free_shares(oracle *o) {
  row rows[ROWS];
  find_rows(o, rows);
  for (int i = 0; i < ROWS; i++) {
    for (size_t k = 0; *rows[i].list && k < rows[i].n; k++)
      free((*rows[i].list)[k].of);
    free(*rows[i].list);
  }
}
