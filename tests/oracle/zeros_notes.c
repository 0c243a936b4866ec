/* What the walk notes of its accesses, for draws of zeros to go through (zeros.h). */
#include <stdlib.h>
#include <string.h>

#include "tests/oracle/zeros.h"

/* ---- notes of the walk ----------------------------------------------------------------------- */

access_log *log_new(const tf_tree *tree) {
  access_log *log = calloc(1, sizeof *log);
  const size_t cells = (size_t)(tree->arch->n_memories * tree->workload->n_tensors);
  if (!log || !(log->tiles = calloc(cells, sizeof *log->tiles)) ||
      !(log->notes = calloc(MAX_NOTES, sizeof *log->notes)) ||
      !(log->needers = calloc(MAX_NOTES, sizeof *log->needers)))
    abort();
  for (int op = 0; op < tree->workload->n_ops; op++)
    log->full |= tree->workload->ops[op].n_reads > MAX_READS;
  log->full |= tree->workload->n_tensors > MAX_TENSORS;
  for (int l = 0; l < tree->arch->n_memories; l++)
    for (int w = 0; w < 2; w++) {
      const tf_rules *rules =
          w ? &tree->arch->memories[l].gating : &tree->arch->memories[l].skipping;
      for (int i = 0; i < rules->n; i++)
        log->by_tiles |= rules->list[i].tiles;
    }
  if (log->by_tiles && (!(log->tile = calloc(MAX_NOTES, sizeof *log->tile)) ||
                        !(log->words = calloc(MAX_USES, sizeof *log->words)) ||
                        !(log->uses = calloc(MAX_USES, sizeof *log->uses)) ||
                        !(log->held = calloc(MAX_NOTES, sizeof *log->held))))
    abort();
  return log;
}

void log_free(access_log *log) {
  free(log->tiles);
  free(log->notes);
  free(log->needers);
  for (int i = 0; i < log->n_held; i++)
    free(log->held[i]);
  free(log->tile);
  free(log->words);
  free(log->uses);
  free(log->held);
  free(log);
}

void note_entry(oracle *o, int n, int z, const set *load, const set *before, words one) {
  const int nt = o->wl->n_tensors, level = o->tree->nodes[n].level;
  const bool result = makes(o, n, z);
  passes *own = &o->log->tiles[level * nt + z],
         *up = &o->log->tiles[server(o, n, z, level) * nt + z];
  for (int e = 0; e < size_of(o, z); e++) {
    if (!load->in[e]) continue;
    const int again = !result || before->in[e];
    own->fill[e] += (int)one.fill * again;
    up->read[e] += (int)one.read * again;
    up->update[e] += (int)one.update;
    own->drain[e] += (int)one.drain;
  }
}

/* ---- tiles that stay ------------------------------------------------------------------------- */

static tile_content *content_at(access_log *log, const void *of, uint64_t instance, bool add) {
  for (int i = 0; i < log->n_held; i++)
    if (log->held[i]->shelf == of && log->held[i]->instance == instance) return log->held[i];
  if (!add) return NULL;
  tile_content *c = log->held[log->n_held++] = malloc(sizeof *c);
  if (!c) abort();
  c->shelf = of;
  c->instance = instance;
  for (int e = 0; e < MAX_ELEMENTS; e++)
    c->note[e] = -1;
  return c;
}

/* The note of element e of z as memory `level` holds it for node n; -1: it has not entered it. */
static int tile_at(oracle *o, int n, int z, int level, int e) {
  const int tile = mtile(o, n, level);
  if (tile < 0 || e < 0 || !holds(o, tile, z)) return -1;
  const tile_content *c = content_at(o->log, shelf_of(o, tile, z), instance_key(o, tile), false);
  return c ? c->note[e] : -1;
}

void note_tile(oracle *o, int n, int z, const set *load, int group, bool reads) {
  access_log *log = o->log;
  const int level = o->tree->nodes[n].level, above = server(o, n, z, level), all = size_of(o, z);
  if (!log->by_tiles || makes(o, n, z)) return;
  log->full |= log->n_tile + 1 >= MAX_NOTES || log->n_words + all >= MAX_USES ||
               log->n_held + 1 >= MAX_NOTES;
  if (log->full) return;
  tile_content *c = content_at(log, shelf_of(o, n, z), instance_key(o, n), true);
  const int entry = log->n_tile++, from = log->n_words;
  for (int e = 0; e < all; e++) {
    if (!load->in[e]) continue;
    log->words[log->n_words++] = (tile_word){e, tile_at(o, n, z, above, e)};
    c->note[e] = entry;
  }
  log->tile[entry] =
      (tile_note){level, above, z, log->moment * 4096 + group, from, log->n_words, -1, reads};
}

int outer_of(const access_log *log, int entry, int e) {
  for (int i = log->tile[entry].from; i < log->tile[entry].to; i++)
    if (log->words[i].element == e) return log->words[i].outer;
  return -1;
}

/* A point uses element e of the tile, and so of those that it came from. */
static void use_tile(access_log *log, int entry, int op, int e, const needer *who) {
  for (; entry >= 0; entry = outer_of(log, entry, e)) {
    log->full |= log->n_uses + 1 >= MAX_USES;
    if (log->full) return;
    log->uses[log->n_uses] = (tile_use){*who, op, log->tile[entry].uses};
    log->tile[entry].uses = log->n_uses++;
  }
}

static int only_element(const oracle *o, int z, const set *s) {
  for (int e = 0; e < size_of(o, z); e++)
    if (s->in[e]) return e;
  return -1;
}

/* The note of the same group, or a new one; its needers must stand together, so they are put behind
 * all others. */
static access_note *note_of(access_log *log, operand_key k, int element) {
  for (int i = log->first; i < log->n_notes && k.group >= 0; i++)
    if (log->notes[i].element == element && log->notes[i].from == -1 - k.group)
      return &log->notes[i];
  access_note *a = &log->notes[log->n_notes++];
  *a = (access_note){
      .op = k.op, .ref = k.ref, .element = element, .from = k.group >= 0 ? -1 - k.group : -1000000};
  return a;
}

/* Until the operand ends, a note's `from` holds its group, and the needers of each note have its
 * number in `owner`. */
static int owner[MAX_NOTES];

void note_operand(oracle *o, operand_key k, const set *element, const set *met) {
  access_log *log = o->log;
  const tf_op *op = &o->wl->ops[k.op];
  log->full |= log->n_notes + 1 >= MAX_NOTES || log->n_needers + 1 >= MAX_NOTES;
  if (log->full) return;
  access_note *a =
      note_of(log, k, only_element(o, k.ref < 0 ? op->out : op->reads[k.ref].tensor, element));
  a->key = k.key;
  a->begins |= !met->in[a->element];
  owner[log->n_needers] = (int)(a - log->notes);
  needer *who = &log->needers[log->n_needers++];
  for (int r = 0; r < op->n_reads; r++) {
    set at;
    const box b = op_box(o, k.op, r, k.leaf);
    fill_set(o, op->reads[r].tensor, &b, &at);
    who->element[r] = (short)(b.empty ? -1 : only_element(o, op->reads[r].tensor, &at));
    who->tile[r] = -1;
    if (log->by_tiles)
      who->tile[r] = tile_at(o, k.leaf, op->reads[r].tensor,
                             leaf_server(o, k.op, op->reads[r].tensor), who->element[r]);
  }
  if (k.ref >= 0) use_tile(log, who->tile[k.ref], k.op, who->element[k.ref], who);
}

/* Sorts the operand's needers by their notes. */
void end_operand(oracle *o) {
  access_log *log = o->log;
  if (log->full || log->first == log->n_notes) return;
  static needer sorted[MAX_NOTES];
  int begin = log->first ? log->notes[log->first - 1].to : 0, n = begin;
  for (int i = log->first; i < log->n_notes; i++) {
    log->notes[i].from = n;
    for (int k = begin; k < log->n_needers; k++)
      if (owner[k] == i) sorted[n++] = log->needers[k];
    log->notes[i].to = n;
  }
  memcpy(&log->needers[begin], &sorted[begin], (size_t)(n - begin) * sizeof *sorted);
  log->first = log->n_notes;
}
