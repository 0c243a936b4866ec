/* Maps products to tensor cores: finds the regions. */
#include <stdio.h>
#include <string.h>

#include "codegen/backend/cuda/pass/region.h"

/* Replaces n statements by the region. */
static bool put_region(lowering *w, ir_stmt *const *s, int n) {
  cu_region g;
  if (lower_failed(w) || !cu_region_of(w, s, n, &g)) return false;
  cu_region_make(w, &g);
  return true;
}

static void replace_regions(lowering *w, ir_body *b, bool top) {
  ir_body new = {0, NULL};
  const lower_mark mark = lower_open(w, &new);
  int first = 0; /* lets stay in the block */
  while (!lower_failed(w) && first < b->n && b->s[first]->kind == IR_LET)
    cu_copy_with_ranges(w, b->s[first++], NULL);
  if (!top && first < b->n && put_region(w, b->s + first, b->n - first)) {
    lower_close(w, mark);
    if (!lower_failed(w)) *b = new;
    return;
  }
  lower_close(w, mark);
  for (int i = 0; i < b->n && !lower_failed(w); i++)
    if (b->s[i]->kind != IR_FOR || b->s[i]->loop.map != IR_WARP)
      replace_regions(w, &b->s[i]->body, false);
}

static bool has_products(const ir_program *p, const ir_body *b) {
  cu_matrices t;
  bool any = false;
  for (int i = 0; i < b->n && !any; i++)
    any = (b->s[i]->kind == IR_NEST && cu_roles(p, b->s[i], &t)) || has_products(p, &b->s[i]->body);
  return any;
}

/* Notes in the program why a loop has no warpgroups. */
static const char *no_groups(lowering *w, const char *why) {
  char note[200];
  const int n = snprintf(note, sizeof note, "No warpgroups: %s", why); /* reasons are short */
  return tf_arena_strndup(w->p->arena, note, (size_t)n);
}

/* The number of statements in the body that compute the op. */
static int times_made(const ir_body *b, int op) {
  int n = 0;
  for (int i = 0; i < b->n; i++)
    n += (b->s[i]->kind == IR_NEST && b->s[i]->op == op) + times_made(&b->s[i]->body, op);
  return n;
}

/* A buffer for the nest's part of its output, in float32. */
static int box_for(lowering *w, const ir_stmt *s, const char *what) {
  const int z = w->plan->wl->ops[s->op].out;
  const int at = lower_buffer(w, z, w->p->buffers[w->p->buffer_of[z]].name, false, 0);
  char *id = lower_derived(w, w->p->tensor_id[z], what);
  if (lower_failed(w)) return at;
  ir_buffer *b = &w->p->buffers[at];
  b->id = id;
  b->role = IR_BOX, b->type = lower_type(w, z, false), b->space = 0, b->words = 1;
  for (int r = 0; r < b->rank; r++)
    b->base[r] = s->range[r].lo, b->words *= b->extent[r] = s->range[r].most;
  return at;
}

/* Whether several kernels access the buffer, so that it lies in global memory. */
static bool is_between_kernels(const ir_program *p, int buffer) {
  int parts = 0;
  for (int i = 0; i < p->body.n; i++)
    parts += cu_touches(p, &p->body.s[i], 1, buffer) > 0;
  return parts > 1 && p->buffers[buffer].slots == 1;
}

/* Whether the nest is an activation or a bias: it computes elements of an array of 16 bits, or in a
 * kernel of float8, from elements at the same points, of arguments or results of other kernels. */
static bool is_map_of_array(const lowering *w, const ir_stmt *s) {
  if (s->kind != IR_NEST || w->plan->wl->ops[s->op].reduce != TF_ASSIGN) return false;
  const int at = w->p->buffer_of[w->plan->wl->ops[s->op].out];
  const ir_buffer *to = &w->p->buffers[at];
  return (ir_is_half(to->type) || w->p->machine.data == IR_F8) &&
         (to->role == IR_ARGUMENT || is_between_kernels(w->p, at)) &&
         times_made(&w->p->body, s->op) == 1;
}

/* Appends the statements; results of such nests first stay in registers, and a SAVE after each
 * stores them, which boxes can do. */
static void with_saves(lowering *w, const ir_body *b, int first) {
  for (int i = first; i < b->n && !lower_failed(w); i++) {
    const ir_stmt *s = b->s[i];
    if (!is_map_of_array(w, s)) {
      cu_copy_with_ranges(w, s, NULL);
      continue;
    }
    const int z = w->plan->wl->ops[s->op].out, to = w->p->buffer_of[z];
    ir_stmt save = {.kind = IR_SAVE, .op = s->op, .range = cu_ranges(w, s)};
    const int from = box_for(w, s, "made");
    if (lower_failed(w)) return;
    w->p->buffer_of[z] = from;
    save.save.from = from, save.save.to = to;
    cu_copy_with_ranges(w, s, NULL), cu_copy_with_ranges(w, &save, NULL);
  }
}

/* Replaces a block's statements from `first` on by a region of warpgroups; `saves`: with SAVEs of
 * the maps' results. False: they cannot be one, and nothing has changed. */
static bool put_groups(lowering *w, ir_stmt *s, int first, bool saves, cu_region *g) {
  const int n_buffers = w->p->n_buffers, n_tensors = w->plan->wl->n_tensors;
  const ir_body before = s->body;
  int *of = TF_ARRAY(w->p->arena, int, (size_t)n_tensors + 1);
  ir_body work = {0, NULL}, new = {0, NULL};
  if (lower_failed(w)) return false;
  memcpy(of, w->p->buffer_of, (size_t)n_tensors * sizeof *of);
  lower_mark mark = lower_open(w, &work);
  if (saves)
    with_saves(w, &before, first);
  else
    for (int i = first; i < before.n; i++)
      cu_copy_with_ranges(w, before.s[i], NULL);
  lower_close(w, mark);
  if (lower_failed(w)) return false;
  s->body = work; /* searches for other accesses of a buffer then see the new statements only */
  mark = lower_open(w, &new);
  for (int i = 0; i < first; i++)
    cu_copy_with_ranges(w, before.s[i], NULL);
  const bool ok = !lower_failed(w) && cu_region_of_groups(w, work.s, work.n, g);
  if (ok) cu_region_make(w, g);
  lower_close(w, mark);
  s->body = ok ? new : before;
  if (ok) return true;
  w->p->n_buffers = n_buffers;
  memcpy(w->p->buffer_of, of, (size_t)n_tensors * sizeof *of);
  return false;
}

/* Gives warpgroups all blocks whose work they can do; of other blocks with products the reason is
 * noted. */
static void find_warpgroups(lowering *w) {
  cu_name_reads(w, &w->p->body); /* a SAVE replaces what others read */
  for (int i = 0; i < w->p->body.n && !lower_failed(w); i++) {
    ir_stmt *s = w->p->body.s[i];
    cu_region g = {0};
    int first = 0, maps = 0;
    if (s->kind != IR_FOR || s->loop.map != IR_BLOCK || !has_products(w->p, &s->body)) continue;
    while (first < s->body.n && s->body.s[first]->kind == IR_LET)
      first++;
    for (int k = first; k < s->body.n; k++)
      maps += is_map_of_array(w, s->body.s[k]);
    const bool ok =
        (maps && put_groups(w, s, first, true, &g)) || put_groups(w, s, first, false, &g);
    if (!ok && g.why) s->loop.note = no_groups(w, g.why);
    if (ok && g.warps < CU_WARPS)
      s->loop.note =
          "Warpgroups in turn: what one does with its block's sums is beside the other's products";
  }
}

/* A tensor-core product sums along one dim at a time: other reduced dims become loops (heads of
 * attention, when its output is projected). With few channels it sums along as many dims of the
 * window and channels as fit in one product; with channels that are not contiguous, along a chunk
 * of them and the window. */
static void sum_in_steps(lowering *w, const ir_stmt *s) {
  const tf_op *op = &w->plan->wl->ops[s->op];
  const lower_mark outside = {w->into, w->n_lets};
  cu_matrices t;
  const bool few = !cu_is_wmma(w->p) && s->kind == IR_NEST && cu_window(w->plan->wl, op) >= 0 &&
                   cu_has_few_channels(w->plan->wl, op);
  const int64_t chunk = s->kind == IR_NEST && !few ? cu_chunk_of(w->p, s) : 0;
  cu_depthwise window;
  const bool product =
      !cu_depthwise_of(w->p, s, &window) && (cu_roles(w->p, s, &t) || few || chunk);
  ir_range *r = cu_ranges(w, s);
  ir_atom *steps = TF_ARRAY(w->p->arena, ir_atom, (size_t)op->n_dims + 1);
  bool *stepped = TF_ARRAY(w->p->arena, bool, (size_t)op->n_dims + 1);
  if (few && stepped) cu_find_stepped(w->plan->wl, op, stepped);
  lower_mark mark;
  int n = 0;
  for (int k = op->n_out_dims; product && k < op->n_dims && !lower_failed(w); k++) {
    const int64_t trip = s->range[k].most;
    if (chunk ? k > op->n_out_dims || trip == chunk : few ? !stepped[k] : k == t.k) continue;
    if (trip == 1) continue;
    const int64_t piece = chunk ? chunk : 1;
    steps[n] = cu_open_for(w, IR_SERIAL, op->dims[k], trip / piece, &mark);
    r[k] = lower_split(w, w->p->dim_id[op->dims[k]], r[k], steps[n++], piece, trip / piece);
  }
  ir_stmt *same = lower_failed(w) ? NULL : cu_copy_with_ranges(w, s, r);
  for (int i = 0; i < n && same && !lower_failed(w);
       i++) { /* a partial sum starts with the first steps of all */
    const ir_stmt before = *same;
    cu_set_resets(w, &before, same, steps[i]);
  }
  lower_close(w, outside);
}

void lower_cuda_tensor_rows(lowering *w) {
  if (!cu_mma_of(w->p)) return;
  w->n_lets = 0;
  cu_replace(w, &w->p->body, sum_in_steps);
  cu_name_reads(w, &w->p->body);
  cu_grow(w, 4 * w->plan->wl->n_ops); /* for each op two tiles, sums and saved values */
  if (cu_may_group(w->p)) find_warpgroups(w);
  replace_regions(w, &w->p->body, true);
}

/* ---- product by product --------------------------------------------------------------------- */

static bool is_settled(const lowering *w, const ir_stmt *nest, const ir_stmt *s) {
  return s->kind == IR_SAVE && s->op == nest->op &&
         s->save.from == w->p->buffer_of[w->plan->wl->ops[nest->op].out];
}

/* Whether the op's output is accessed by other statements than nests and copies. */
static bool is_corrected(const ir_program *p, const ir_body *b, int op) {
  bool any = false;
  for (int i = 0; i < b->n && !any; i++) {
    const ir_kind kind = b->s[i]->kind;
    any = ((kind == IR_CORRECT || kind == IR_DIVIDE) && b->s[i]->op == op) ||
          is_corrected(p, &b->s[i]->body, op);
  }
  return any;
}

/* Makes the nest compute fragments, which are then copied to the previous buffer of its sums. */
static bool compute_in_fragments(lowering *w, ir_stmt *s) {
  const int z = w->plan->wl->ops[s->op].out, to = w->p->buffer_of[z];
  if (is_corrected(w->p, &w->p->body, s->op)) return false;
  ir_range *box = cu_ranges(w, s);
  const int at = box_for(w, s, "fragments");
  if (lower_failed(w)) return false;
  ir_stmt save = {.kind = IR_SAVE, .op = s->op, .range = box};
  save.save.from = at, save.save.to = to;
  ir_body two = {0, NULL};
  const lower_mark mark = lower_open(w, &two);
  w->p->buffer_of[z] = at;
  cu_copy_with_ranges(w, s, NULL), cu_copy_with_ranges(w, &save, NULL);
  lower_close(w, mark);
  ir_body *const in = w->into;
  const int before = in->n;
  if (lower_failed(w)) return false;
  /* the statements must be part of the program while regions search for other accesses, of this and
   * of later regions, as new statements join the program when the whole body is done */
  ir_stmt old = *s;
  *s = (ir_stmt){.kind = IR_FOR, .body = two};
  if (put_region(w, two.s, two.n)) return true;
  *s = old;
  in->n = before;
  w->p->buffer_of[z] = to;
  w->p->n_buffers = at;
  return false;
}

static void each(lowering *w, ir_body *b) {
  ir_body new = {0, NULL};
  const lower_mark mark = lower_open(w, &new);
  for (int i = 0; i < b->n && !lower_failed(w); i++) {
    ir_stmt *s = b->s[i];
    cu_matrices t;
    const bool product = s->kind == IR_NEST && cu_roles(w->p, s, &t);
    if (product && i + 1 < b->n && is_settled(w, s, b->s[i + 1]) && put_region(w, &b->s[i], 2)) {
      i++;
      continue;
    }
    if (product && compute_in_fragments(w, s)) continue;
    ir_stmt *same = cu_copy_with_ranges(w, s, NULL);
    if (same && ir_facts_of(s)->body && !(s->kind == IR_FOR && s->loop.map == IR_WARP))
      each(w, &same->body);
  }
  lower_close(w, mark);
  if (!lower_failed(w)) *b = new;
}

void lower_cuda_tensor(lowering *w) {
  if (!cu_mma_of(w->p)) return;
  w->n_lets = 0;
  each(w, &w->p->body);
}
