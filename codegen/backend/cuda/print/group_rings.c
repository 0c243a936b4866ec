/* Plans the shared memory of a part of warpgroups: rings of tiles, their barriers, and panels that
 * leave. */
#include <stdlib.h>

#include "codegen/backend/cuda/print/group.h"

enum { TILE = 1024, BARRIER = 8 }; /* alignment of tiles in bytes; bytes of a barrier */

/* Bytes that the boxes of a tile fetch: of stacked rows only those that exist; the rest of the tile
 * keeps old data, and products of it are sums of unused rows. */
static int64_t fetched_bytes(const ir_buffer *to) {
  const int64_t tile = cu_bytes(to) / to->slots;
  return cu_stack(to) ? tile / cu_stack(to)->count * ir_stack_rows(cu_stack(to)) : tile;
}

static void find_rings(const ir_program *p, const ir_body *b, cu_groups *g) {
  cu_ring at = {0};
  for (int i = 0; i < b->n; i++) {
    const ir_stmt *s = b->s[i];
    if (s->kind == IR_COPY && at.n_copies < CU_MOST_TILES) {
      const ir_buffer *to = &p->buffers[s->copy.to];
      at.copy[at.n_copies++] = s;
      at.stages = to->slots;
      at.bytes += fetched_bytes(to);
    } else if (s->kind == IR_WAIT && at.n_copies && g->n < CU_MOST_RINGS) {
      at.wait = s;
      g->ring[g->n++] = at;
      at = (cu_ring){0};
    }
    find_rings(p, &s->body, g);
  }
}

/* The ring of tiles that are not released in the list that waits for them: no barrier follows the
 * work there. */
static void find_lasting(const ir_body *b, cu_groups *g) {
  for (int i = 0; i < b->n; i++) {
    const int ring = b->s[i]->kind == IR_WAIT ? cu_ring_of(g, b->s[i]) : -1;
    int barriers = 0;
    for (int k = i + 1; k < b->n && b->s[k]->kind != IR_WAIT; k++)
      barriers += b->s[k]->kind == IR_BARRIER;
    if (ring >= 0) g->ring[ring].lasting = barriers < 2;
    find_lasting(&b->s[i]->body, g);
  }
}

static cu_leaving find_save(const ir_program *p, const ir_body *b) {
  cu_leaving found = {0};
  for (int i = 0; i < b->n && !found.save; i++) {
    const ir_stmt *s = b->s[i], *before = i ? b->s[i - 1] : NULL;
    if (s->kind != IR_SAVE || !cu_of(s)->by_boxes) {
      found = find_save(p, &s->body);
      continue;
    }
    found.save = s;
    const tf_op *op =
        before && before->kind == IR_NEST ? &p->tree->workload->ops[before->op] : NULL;
    if (op && op->reduce == TF_ASSIGN && p->buffer_of[op->out] == s->save.from) found.map = before;
  }
  return found;
}

int cu_ring_of(const cu_groups *g, const ir_stmt *wait) {
  for (int i = 0; i < g->n; i++)
    if (g->ring[i].wait == wait) return i;
  return -1;
}

bool cu_ring_is_common(const cu_groups *g, int ring) {
  bool any = false;
  for (int k = 0; k < g->ring[ring].n_copies; k++)
    any |= g->shared_tiles && g->shared_tiles[g->ring[ring].copy[k]->copy.to];
  return any;
}

int64_t cu_ring_before(const cu_groups *g, int ring) {
  int64_t n = 0;
  for (int i = 0; i < ring; i++)
    n += 2 * g->ring[i].stages;
  return n;
}

bool cu_groups_find(const ir_program *p, const ir_stmt *part, int number, cu_groups *g) {
  *g = (cu_groups){.part = part,
                   .number = number,
                   .tile = TF_ARRAY(p->arena, int64_t, (size_t)p->n_buffers + 1)};
  if (!g->tile) return false;
  for (int i = 0; i < part->body.n; i++)
    if (part->body.s[i]->kind == IR_FOR) g->warps = part->body.s[i];
  if (!g->warps) return false;
  g->shared_tiles = TF_ARRAY(p->arena, bool, (size_t)p->n_buffers + 1);
  if (!g->shared_tiles) return false;
  if (!cu_cluster(p, part, g->shared_tiles)) g->shared_tiles = NULL;
  g->in_turns = cu_is_in_turns(part);
  g->groups = cu_groups_of(part);
  g->rows = (int)g->warps->loop.trip * CU_FRAGMENT_SIDE;
  find_rings(p, &g->warps->body, g);
  find_lasting(&g->warps->body, g);
  for (int i = 0; i < g->n; i++)
    for (int k = 0; k < g->ring[i].n_copies; k++) {
      const int to = g->ring[i].copy[k]->copy.to;
      g->tile[to] = g->shared;
      g->shared += (cu_bytes(&p->buffers[to]) + TILE - 1) / TILE * TILE;
    }
  g->leaving = find_save(p, &g->warps->body);
  g->leaving.offset = g->shared;
  if (g->leaving.save) g->shared += g->groups * CU_LEAVING_BYTES;
  g->barriers = g->shared;
  g->shared += (cu_ring_before(g, g->n) * BARRIER + 127) / 128 * 128;
  return true;
}
