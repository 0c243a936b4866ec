/* Lines and banks, element by element (docs/SEMANTICS.md section 9): every element's bits are
 * looked at, and the lines in which they lie are listed. */
#include <stdlib.h>
#include <string.h>

#include "tests/oracle/oracle.h"

enum { MAX_LINES = 1 << 14 };

static const tf_laid *layout_of(const tf_memory *m, const char *tensor) {
  for (int i = 0; i < m->laid.n; i++)
    if (!strcmp(m->laid.list[i].tensor.name, tensor)) return &m->laid.list[i];
  return NULL;
}

/* Elements along rank r that memory `level` has room for, below node n. */
static int64_t room_along(const oracle *o, int n, int level, int z, int r) {
  if (home_level(o, z) == level) return o->wl->tensors[z].extent[r];
  const int64_t most = o->room[(mtile(o, n, level) * o->wl->n_tensors + z) * MAX_RANK + r];
  return most ? most : 1;
}

/* The address of element i, in elements: its digits in the order of the layout. */
static int64_t address(const oracle *o, int n, int level, int z, int64_t i) {
  const tf_tensor *t = &o->wl->tensors[z];
  const tf_laid *l = layout_of(&o->arch->memories[level], t->name);
  int64_t y[MAX_RANK] = {0}, at = 0;
  for (int r = t->rank - 1; r >= 0; r--) {
    y[r] = i % t->extent[r] % room_along(o, n, level, z, r);
    i /= t->extent[r];
  }
  for (int k = 0; k < (l ? l->n : t->rank); k++) {
    const int r = l ? l->parts[k].rank : k;
    const int64_t all = room_along(o, n, level, z, r), by = l ? l->parts[k].by : 1;
    int64_t digit = y[r], size = all;
    if (l && l->parts[k].part == TF_LAYOUT_DIV) digit = y[r] / by, size = (all + by - 1) / by;
    if (l && l->parts[k].part == TF_LAYOUT_MOD) digit = y[r] % by, size = by < all ? by : all;
    at = at * size + digit;
  }
  return at;
}

touched lines_of(oracle *o, int n, int level, int z, const set *s) {
  static unsigned char line[MAX_LINES];
  const tf_memory *m = &o->arch->memories[level];
  int64_t in_bank[4096] = {0};
  touched t = {0, 0};
  if (!m->line) return t;
  memset(line, 0, sizeof line);
  for (int64_t i = 0; i < tf_tensor_words(&o->wl->tensors[z]); i++) {
    if (!s->in[i]) continue;
    const int64_t bits = o->wl->tensors[z].word_bits, first = address(o, n, level, z, i) * bits;
    for (int64_t b = first; b < first + bits; b++) {
      const int64_t k = b / (m->line * m->word_bits);
      if (k < MAX_LINES)
        line[k] = 1;
      else
        give_up_walk(o, "lines of a tensor");
    }
  }
  for (int64_t k = 0; k < MAX_LINES; k++) {
    t.lines += line[k];
    in_bank[k % m->banks] += line[k];
  }
  for (int b = 0; b < m->banks; b++)
    while (t.cycles * m->bank_ports < in_bank[b])
      t.cycles++;
  return t;
}

/* ---- accesses ------------------------------------------------------------------------------- */

static void put(words *to, words w) {
  to->fill += w.fill;
  to->drain += w.drain;
  to->read += w.read;
  to->update += w.update;
}

static words own_of(words w) { return (words){.fill = w.fill, .drain = w.drain}; }
static words up_of(words w) { return (words){.read = w.read, .update = w.update}; }

void note_lines(oracle *o, int n, int z, const set *load, const set *before, bool speaks) {
  const int level = o->tree->nodes[n].level, up = server(o, n, z, level), nt = o->wl->n_tensors;
  set again;
  for (int i = 0; i < MAX_ELEMENTS; i++)
    again.in[i] = load->in[i] && before->in[i];
  const touched own = lines_of(o, n, level, z, load), own_again = lines_of(o, n, level, z, &again);
  const touched there = lines_of(o, n, up, z, load), there_again = lines_of(o, n, up, z, &again);
  put(&o->line_moved[level * nt + z],
      own_of(moves_of(o, n, z, own.lines, own_again.lines, speaks)));
  put(&o->line_moved[up * nt + z],
      up_of(moves_of(o, n, z, there.lines, there_again.lines, speaks)));
  put(share_at(&o->bank_own_by_node[n * nt + z], instance_key(o, n)),
      own_of(moves_of(o, n, z, own.cycles, own_again.cycles, speaks)));
  put(share_at(&o->bank_up_by_node[n * nt + z], parent_key(o, n, z, level)),
      up_of(moves_of(o, n, z, there.cycles, there_again.cycles, speaks)));
}

void note_access(oracle *o, uint64_t server, const set *element, bool reads, bool updates) {
  int k = 0;
  while (k < o->n_at_once && o->at_once[k].server != server)
    k++;
  if (k == MAX_SERVERS) {
    give_up_walk(o, "instances that serve one step, with lines");
    return;
  }
  if (k == o->n_at_once) {
    memset(&o->at_once[k], 0, sizeof o->at_once[k]);
    o->at_once[k].server = server;
    o->n_at_once++;
  }
  for (int i = 0; i < MAX_ELEMENTS; i++) {
    o->at_once[k].read.in[i] |= element->in[i] && reads;
    o->at_once[k].update.in[i] |= element->in[i] && updates;
  }
}

void end_access(oracle *o, int n, int z, int at) {
  const int level = server(o, n, z, o->arch->n_memories);
  for (int k = 0; k < o->n_at_once; k++) {
    const touched read = lines_of(o, n, level, z, &o->at_once[k].read);
    const touched update = lines_of(o, n, level, z, &o->at_once[k].update);
    put(&o->lines_by_ref[at], (words){.read = read.lines, .update = update.lines});
    put(share_at(&o->bank_up_by_ref[at], o->at_once[k].server),
        (words){.read = read.cycles, .update = update.cycles});
  }
  o->n_at_once = 0;
}

void make_lines(oracle *o, int64_t *room) {
  const size_t nt = (size_t)o->wl->n_tensors, nodes = (size_t)o->tree->n_nodes,
               ops = (size_t)o->wl->n_ops;
  o->lines = true;
  o->room = room;
  o->line_moved = calloc((size_t)o->arch->n_memories * nt, sizeof *o->line_moved);
  o->lines_by_ref = calloc(ops * 16, sizeof *o->lines_by_ref);
  o->bank_own_by_node = calloc(nodes * nt, sizeof *o->bank_own_by_node);
  o->bank_up_by_node = calloc(nodes * nt, sizeof *o->bank_up_by_node);
  o->bank_up_by_ref = calloc(ops * 16, sizeof *o->bank_up_by_ref);
  o->at_once = calloc(MAX_SERVERS, sizeof *o->at_once);
  if (!o->line_moved || !o->lines_by_ref || !o->bank_own_by_node || !o->bank_up_by_node ||
      !o->bank_up_by_ref || !o->at_once)
    abort();
}

static void free_rows(shares *s, size_t n) {
  for (size_t i = 0; s && i < n; i++)
    free(s[i].of);
  free(s);
}

void free_lines(oracle *o) {
  const size_t nt = (size_t)o->wl->n_tensors, nodes = (size_t)o->tree->n_nodes,
               ops = (size_t)o->wl->n_ops;
  free_rows(o->bank_own_by_node, nodes * nt);
  free_rows(o->bank_up_by_node, nodes * nt);
  free_rows(o->bank_up_by_ref, ops * 16);
  free(o->line_moved);
  free(o->lines_by_ref);
  free(o->room);
  free(o->at_once);
}
