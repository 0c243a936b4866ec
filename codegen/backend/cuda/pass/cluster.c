/* Clusters of two blocks: neighbours that multiply the same columns (weights; keys and values of
 * one head) each fetch half of these tiles, for both (multicast). */
#include "codegen/backend/cuda/pass/pass.h"

enum { BLOCKS = 2 };

/* ---- tiles that two blocks share ------------------------------------------------------------ */

typedef struct {
  const ir_program *p;
  int64_t block[BLOCKS]; /* their numbers */
  cu_values values[BLOCKS];
  bool *shared; /* [n_buffers] tiles that are the same in both, as far as seen */
  bool ok;
} pair;

static void look(pair *t, const ir_body *b) {
  for (int i = 0; i < b->n && t->ok; i++) {
    const ir_stmt *s = b->s[i];
    if (s->kind == IR_LET)
      for (int k = 0; k < BLOCKS; k++)
        t->ok = t->ok && cu_let(&t->values[k], s);
    if (s->kind == IR_COPY)
      for (int r = 0; r < t->p->buffers[s->copy.to].rank; r++)
        t->shared[s->copy.to] &=
            cu_value(&t->values[0], s->range[r].lo) == cu_value(&t->values[1], s->range[r].lo);
    look(t, &s->body);
  }
}

/* Finds the tiles that are fetched in each step of loops; false: steps are skipped (skip.c), which
 * differs from block to block. warps: the surrounding loop over them; NULL: none. */
static bool find_tiles(const ir_program *p, const ir_body *b, const ir_stmt *warps, bool inside,
                       bool *same) {
  bool ok = true;
  tf_mask m;
  for (int i = 0; i < b->n && ok; i++) {
    const ir_stmt *s = b->s[i];
    const bool steps = s->kind == IR_FOR && s->loop.map == IR_SERIAL;
    if (s->kind == IR_COPY) same[s->copy.to] = inside;
    ok = s->kind != IR_IF && !(steps && warps && cu_mask_of(p, warps, s, &m)) &&
         find_tiles(p, &s->body, s->kind == IR_FOR && s->loop.map == IR_WARP ? s : warps,
                    inside || steps, same);
  }
  return ok;
}

static bool has_network(const ir_program *p) {
  const int home = cu_home(p->tree->arch);
  return home > 0 && p->tree->arch->memories[home].multicast;
}

bool cu_cluster(const ir_program *p, const ir_stmt *part, bool *same) {
  bool any = false;
  for (int i = 0; i < p->n_buffers; i++)
    same[i] = false;
  if (!has_network(p) || part->loop.trip % BLOCKS || !find_tiles(p, &part->body, NULL, false, same))
    return false;
  for (int64_t block = 0; block < part->loop.trip; block += BLOCKS) {
    pair t = {.p = p, .shared = same, .ok = true};
    for (int k = 0; k < BLOCKS; k++)
      cu_set(&t.values[k], part->loop.var, block + k);
    look(&t, &part->body);
    if (!t.ok) return false;
  }
  for (int i = 0; i < p->n_buffers; i++) {
    const ir_buffer *b = &p->buffers[i];
    if (same[i]) same[i] = !cu_stack(b) && b->extent[cu_row_rank(b)] % (2 * CU_FRAGMENT_SIDE) == 0;
    any |= same[i];
  }
  return any;
}
