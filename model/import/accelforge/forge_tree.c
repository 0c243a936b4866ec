/* The native mapping that AccelForge's says, once the places of tiles are chosen. */
#include <inttypes.h>
#include <stdlib.h>

#include "model/import/accelforge/forge.h"

/* The tile at hand: its loops so far. */
typedef struct {
  const forge *f;
  tf_page *out;
  int leaf; /* the first one below what is written */
  int level, indent;
  bool open, first; /* a tile is begun; it is the first one of its memory */
  tf_page loops, spread;
} pen;

/* Whether leaf k stands below path[at]. */
static bool below(const forge *f, const pen *w, int at, int k) {
  const fg_leaf *l = &f->leaf[w->leaf], *o = &f->leaf[k];
  if (at >= l->n) return k == w->leaf;
  for (int i = 0; i < at; i++)
    if (i >= o->n || o->path[i] != l->path[i]) return false;
  return true;
}

/* What the first tile of a memory passes by: what is touched below, and not held. */
static void write_bypass(pen *w, int at) {
  const forge *f = w->f;
  const char *sep = " bypass ";
  for (int z = 0; z < f->n_tensors && w->level > 0; z++) {
    bool any = false, held = false;
    for (int k = w->leaf; k < f->n_leaves && below(f, w, at, k); k++) {
      any |= fg_access_of(f, &f->leaf[k], z) >= 0;
      held |= fg_held(f, &f->leaf[k], w->level, z) >= 0;
    }
    if (!any || held || f->home[z] >= w->level) continue;
    tf_page_add(w->out, "%s%s", sep, f->tensor[z]);
    sep = " ";
  }
}

/* Ends the tile at hand, which stands at path[at] or above. */
static void flush(pen *w, int at) {
  if (!w->open || (!w->level && !w->loops.len && !w->spread.len)) return;
  tf_page_add(w->out, "%*s%s", w->indent, "", w->f->part[w->f->memory[w->level]].name);
  if (w->loops.len) tf_page_add(w->out, " for%s", w->loops.text);
  if (w->spread.len) tf_page_add(w->out, " spatial%s", w->spread.text);
  if (w->first) write_bypass(w, at);
  tf_page_add(w->out, "\n");
  w->loops.len = w->spread.len = 0;
  w->first = w->open = false;
  w->indent += 2;
}

static void begin_tiles(pen *w, int at) {
  for (int m = 1; m < w->f->n_memories; m++) {
    if (w->f->leaf[w->leaf].pos[m] != at) continue;
    flush(w, at);
    w->level = m;
    w->open = w->first = true;
  }
}

static void write_loop(pen *w, const fg_node *n, int at) {
  const forge *f = w->f;
  if (n->trips == 1) return;
  if (n->what == FG_FOR && w->spread.len) flush(w, at);
  w->open = true;
  if (n->what == FG_FOR)
    tf_page_add(&w->loops, " %s=%" PRId64, f->dims[n->dim].name, n->trips);
  else
    tf_page_add(&w->spread, " %s=%" PRId64 "@%c", f->dims[n->dim].name, n->trips,
                fg_along_y(f, n->part, n->fan) ? 'y' : 'x');
}

static void write_nodes(pen *w, const fg_node *n, int at);

static void write_split(pen *w, const fg_node *n, int at) {
  const forge *f = w->f;
  const char *sep = " keep ";
  const int indent = w->indent, level = w->level;
  tf_page_add(w->out, "%*s%s", indent, "", n->pipe ? "Pipe" : f->shar ? "Shar" : "Seq");
  for (int z = 0; z < f->n_tensors; z++) {
    if (f->home[z] <= level || f->scope[z] != n) continue;
    tf_page_add(w->out, "%s%s@%s", sep, f->tensor[z], f->part[f->memory[f->home[z]]].name);
    sep = " ";
  }
  tf_page_add(w->out, "\n");
  for (const fg_node *b = n->child; b; b = b->beside) {
    w->indent = indent + 2;
    w->level = level;
    write_nodes(w, b, at + 1);
  }
}

static void write_nodes(pen *w, const fg_node *n, int at) {
  for (; n; n = n->next, at++) {
    begin_tiles(w, at);
    if (n->what == FG_FOR || n->what == FG_SPREAD) write_loop(w, n, at);
    if (n->what != FG_SPLIT && n->what != FG_RUN) continue;
    flush(w, at);
    if (n->what == FG_SPLIT) {
      write_split(w, n, at);
      return;
    }
    tf_page_add(w->out, "%*sop %s\n", w->indent, "", w->f->einsum[n->einsum].op);
    w->leaf++;
  }
}

void fg_write_mapping(const forge *f, tf_page *out) {
  pen w = {.f = f, .out = out, .indent = 2};
  tf_page_add(out, "mapping: |\n");
  write_nodes(&w, f->root, 0);
  out->bad |= w.loops.bad || w.spread.bad;
  free(w.loops.text);
  free(w.spread.text);
}
