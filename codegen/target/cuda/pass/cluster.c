/* Clusters of two blocks: neighbours that multiply the same columns bring half of these each, for both. */
#include "codegen/target/cuda/pass/pass.h"

enum { BLOCKS = 2 };

/* ---- what two blocks have in common ---------------------------------------------------------------------- */

typedef struct {
  const ir_program *p;
  int64_t block[BLOCKS]; /* their numbers */
  cu_values of[BLOCKS];
  bool *same; /* [n_buffers] tiles that are the same in both, so far */
  bool ok;
} pair;

static void look(pair *t, const ir_body *b) {
  for (int i = 0; i < b->n && t->ok; i++) {
    const ir_stmt *s = b->s[i];
    if (s->kind == IR_LET)
      for (int k = 0; k < BLOCKS; k++)
        t->ok = t->ok && cu_let(&t->of[k], s);
    if (s->kind == IR_COPY)
      for (int r = 0; r < t->p->buffers[s->copy.to].rank; r++)
        t->same[s->copy.to] &= cu_value(&t->of[0], s->range[r].lo) == cu_value(&t->of[1], s->range[r].lo);
    look(t, &s->body);
  }
}

/* Loops in which nothing but one product is done, with tiles that come for each step. */
static bool is_pieces(const ir_stmt *s) {
  int products = 0;
  bool only = s->loop.map == IR_SERIAL;
  for (int i = 0; i < s->body.n; i++) {
    const ir_kind kind = s->body.s[i]->kind;
    only &= kind == IR_LET || kind == IR_COPY || kind == IR_WAIT || kind == IR_BARRIER || kind == IR_NEST;
    products += kind == IR_NEST;
  }
  return only && products == 1;
}

/* Tiles that come in such loops; false: others come, too. */
static bool find_tiles(const ir_body *b, bool inside, bool *same) {
  bool only = true;
  for (int i = 0; i < b->n && only; i++) {
    const ir_stmt *s = b->s[i];
    if (s->kind == IR_COPY) only = inside, same[s->copy.to] = true;
    if (s->kind == IR_FOR) only = only && find_tiles(&s->body, is_pieces(s), same);
  }
  return only;
}

static bool has_network(const ir_program *p) {
  const int home = cu_home(p->tree->arch);
  return home > 0 && p->tree->arch->memories[home].multicast;
}

bool cu_cluster(const ir_program *p, const ir_stmt *part, bool *same) {
  bool any = false;
  for (int i = 0; i < p->n_buffers; i++)
    same[i] = false;
  if (!has_network(p) || part->loop.trip % BLOCKS || !find_tiles(&part->body, false, same)) return false;
  for (int64_t block = 0; block < part->loop.trip; block += BLOCKS) {
    pair t = {.p = p, .same = same, .ok = true};
    for (int k = 0; k < BLOCKS; k++)
      cu_set(&t.of[k], part->loop.var, block + k);
    look(&t, &part->body);
    if (!t.ok) return false;
  }
  for (int i = 0; i < p->n_buffers; i++) {
    const ir_buffer *b = &p->buffers[i];
    if (same[i]) same[i] = b->extent[b->rows] % (2 * CU_FRAGMENT_SIDE) == 0;
    any |= same[i];
  }
  return any;
}
