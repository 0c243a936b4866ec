/* Parts of memories (docs/SEMANTICS.md section 4): which one holds a tensor, and what passes it. */
#include "tests/oracle/oracle.h"

const tf_mem_part *part_of(const oracle *o, int level, int n, int z) {
  const tf_memory *m = &o->arch->memories[level];
  bool left = false, right = false, result = false;
  for (int op = 0; op < o->wl->n_ops; op++) {
    const tf_op *k = &o->wl->ops[op];
    if (!op_below(o, op, n)) continue;
    result = result || k->out == z;
    left = left || (k->n_reads >= 1 && k->reads[0].tensor == z);
    right = right || (k->n_reads >= 2 && k->reads[1].tensor == z);
  }
  const int role = result ? TF_ROLE_RESULT : left ? TF_ROLE_LEFT : TF_ROLE_RIGHT;
  for (int i = 0; i < m->parts.n && (left || right || result); i++)
    if (m->parts.list[i].roles & 1u << role) return &m->parts.list[i];
  return NULL;
}

bool in_part(const oracle *o, int level, int n, int z) {
  return !o->part || part_of(o, level, n, z) == o->part;
}

int64_t held_bits(const oracle *o, int z, int64_t n) {
  const int own = o->wl->tensors[z].word_bits;
  return n * (o->part && o->part->word_bits > own ? o->part->word_bits : own);
}

/* Adds words of z in memory `level`, which Tile n holds there, or which live there (n < 0). */
static void pass(oracle *o, int level, int n, int z, words w) {
  const tf_mem_part *p = part_of(o, level, n < 0 || !holds(o, n, z) ? 0 : n, z);
  if (!p) return;
  words *to = &o->part_moved[level][p - o->arch->memories[level].parts.list];
  to->fill += w.fill;
  to->read += w.read;
  to->update += w.update;
  to->drain += w.drain;
}

void find_parts(oracle *o) {
  const int nz = o->wl->n_tensors, all = o->arch->n_memories;
  for (int n = 0; n < o->tree->n_nodes; n++)
    for (int z = 0; z < nz; z++) {
      const words *w = &o->by_node[n * nz + z], *late = &o->rescaled[n * nz + z];
      if (o->tree->nodes[n].kind == TF_TILE && holds(o, n, z)) {
        const int own = o->tree->nodes[n].level, up = server(o, n, z, own);
        pass(o, own, n, z, (words){.fill = w->fill, .drain = w->drain});
        pass(o, up, mtile(o, n, up), z, (words){.read = w->read, .update = w->update});
      }
      if (!late->read && !late->update) continue;
      const int held = server(o, n, z, all);
      pass(o, held, mtile(o, n, held), z, *late);
    }
  for (int op = 0; op < o->wl->n_ops; op++)
    for (int r = 0; r <= o->wl->ops[op].n_reads; r++) {
      const int z =
          r < o->wl->ops[op].n_reads ? o->wl->ops[op].reads[r].tensor : o->wl->ops[op].out;
      const int n = o->tree->op_node[op], up = leaf_server(o, op, z);
      pass(o, up, mtile(o, n, up), z, o->by_ref[op * 16 + r]);
    }
}
