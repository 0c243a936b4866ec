/* Maps products to tensor cores: finds the regions. */
#include <stdio.h>

#include "codegen/target/cuda/pass/region.h"

/* Replaces n statements by the region. */
static bool put(lowering *w, ir_stmt *const *s, int n) {
  cu_region g;
  if (low_failed(w) || !cu_region_of(w, s, n, &g)) return false;
  cu_region_make(w, &g);
  return true;
}

static void whole(lowering *w, ir_body *b, bool top) {
  ir_body new = {0, NULL};
  const low_mark mark = low_open(w, &new);
  int first = 0; /* lets belong to the block */
  while (!low_failed(w) && first < b->n && b->s[first]->kind == IR_LET)
    cu_again(w, b->s[first++], NULL);
  if (!top && first < b->n && put(w, b->s + first, b->n - first)) {
    low_close(w, mark);
    if (!low_failed(w)) *b = new;
    return;
  }
  low_close(w, mark);
  for (int i = 0; i < b->n && !low_failed(w); i++)
    if (b->s[i]->kind != IR_FOR || b->s[i]->loop.map != IR_WARP) whole(w, &b->s[i]->body, false);
}

static bool has_products(const ir_program *p, const ir_body *b) {
  ir_fragments t;
  bool any = false;
  for (int i = 0; i < b->n && !any; i++)
    any = (b->s[i]->kind == IR_NEST && cu_roles(p, b->s[i], &t)) || has_products(p, &b->s[i]->body);
  return any;
}

/* For whoever reads the program. */
static const char *no_groups(lowering *w, const char *why) {
  char note[200];
  const int n = snprintf(note, sizeof note, "No warpgroups: %s", why); /* reasons are short */
  return tf_arena_strndup(w->p->arena, note, (size_t)n);
}

/* Blocks all of whose work warpgroups can do; of others that have products it is noted why not. */
static void groups(lowering *w) {
  for (int i = 0; i < w->p->body.n && !low_failed(w); i++) {
    ir_stmt *s = w->p->body.s[i];
    ir_body new = {0, NULL};
    cu_region g = {0};
    int first = 0;
    if (s->kind != IR_FOR || s->loop.map != IR_BLOCK || !has_products(w->p, &s->body)) continue;
    const low_mark mark = low_open(w, &new);
    while (first < s->body.n && s->body.s[first]->kind == IR_LET)
      cu_again(w, s->body.s[first++], NULL);
    const bool ok = !low_failed(w) && cu_region_of_groups(w, s->body.s + first, s->body.n - first, &g);
    if (ok) cu_region_make(w, &g);
    low_close(w, mark);
    if (ok && !low_failed(w))
      s->body = new;
    else if (g.why)
      s->loop.note = no_groups(w, g.why);
  }
}

void low_cuda_tensor_rows(lowering *w) {
  if (!cu_mma_of(w->p)) return;
  w->n_lets = 0;
  cu_name_reads(w, &w->p->body);
  cu_grow(w, 3 * w->plan->wl->n_ops); /* two tiles and the sums of each op */
  if (w->p->machine.groups) groups(w);
  whole(w, &w->p->body, true);
}

/* ---- product by product ---------------------------------------------------------------------------------- */

static bool is_settled(const lowering *w, const ir_stmt *nest, const ir_stmt *s) {
  return s->kind == IR_SAVE && s->op == nest->op && s->save.from == w->p->buffer_of[w->plan->wl->ops[nest->op].out];
}

/* Whether anything but nests and copies touches the op's output. */
static bool is_corrected(const ir_program *p, const ir_body *b, int op) {
  bool any = false;
  for (int i = 0; i < b->n && !any; i++) {
    const ir_kind kind = b->s[i]->kind;
    any = ((kind == IR_CORRECT || kind == IR_DIVIDE) && b->s[i]->op == op) || is_corrected(p, &b->s[i]->body, op);
  }
  return any;
}

/* Makes the nest compute fragments, which are then copied to the old buffer of its sums. */
static bool apart(lowering *w, ir_stmt *s) {
  const int z = w->plan->wl->ops[s->op].out, to = w->p->buffer_of[z];
  if (is_corrected(w->p, &w->p->body, s->op)) return false;
  const int at = low_buffer(w, z, w->p->buffers[to].name, false, 0);
  ir_range *box = cu_ranges(w, s);
  char *id = low_derived(w, w->p->tensor_id[z], "fragments");
  if (low_failed(w)) return false;
  ir_buffer *b = &w->p->buffers[at];
  b->id = id;
  b->role = IR_BOX, b->type = low_type(w, z, false), b->space = 0, b->words = 1;
  for (int r = 0; r < b->rank; r++)
    b->base[r] = box[r].lo, b->words *= b->extent[r] = box[r].most;
  ir_stmt save = {.kind = IR_SAVE, .op = s->op, .range = box};
  save.save.from = at, save.save.to = to;
  ir_body two = {0, NULL};
  const low_mark mark = low_open(w, &two);
  w->p->buffer_of[z] = at;
  cu_again(w, s, NULL), cu_again(w, &save, NULL);
  low_close(w, mark);
  ir_body *const in = w->into;
  const int before = in->n;
  if (low_failed(w)) return false;
  /* the statements must be in the program while region checks look for other users */
  ir_stmt old = *s;
  *s = (ir_stmt){.kind = IR_FOR, .body = two};
  const bool ok = put(w, two.s, two.n);
  *s = old;
  if (ok) return true;
  in->n = before;
  w->p->buffer_of[z] = to;
  w->p->n_buffers = at;
  return false;
}

static void each(lowering *w, ir_body *b) {
  ir_body new = {0, NULL};
  const low_mark mark = low_open(w, &new);
  for (int i = 0; i < b->n && !low_failed(w); i++) {
    ir_stmt *s = b->s[i];
    ir_fragments t;
    const bool product = s->kind == IR_NEST && cu_roles(w->p, s, &t);
    if (product && i + 1 < b->n && is_settled(w, s, b->s[i + 1]) && put(w, &b->s[i], 2)) {
      i++;
      continue;
    }
    if (product && apart(w, s)) continue;
    ir_stmt *same = cu_again(w, s, NULL);
    if (same && ir_facts_of(s)->body && !(s->kind == IR_FOR && s->loop.map == IR_WARP)) each(w, &same->body);
  }
  low_close(w, mark);
  if (!low_failed(w)) *b = new;
}

void low_cuda_tensor(lowering *w) {
  if (!cu_mma_of(w->p)) return;
  w->n_lets = 0;
  each(w, &w->p->body);
}
