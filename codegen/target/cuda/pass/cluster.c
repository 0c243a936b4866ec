/* Clusters of two blocks: neighbours that multiply the same columns bring half of these each, for both. */
#include "codegen/target/cuda/pass/pass.h"

enum { BLOCKS = 2, MOST_VALUES = 256 };

/* ---- numbers of a block ---------------------------------------------------------------------------------- */

/* What variables are in one block; those that nobody has set are 0, as in the first step of every loop. */
typedef struct {
  int n, var[MOST_VALUES];
  int64_t value[MOST_VALUES];
} values;

static int64_t value_of(const values *v, ir_atom a) {
  for (int i = v->n - 1; i >= 0 && a.var >= 0; i--)
    if (v->var[i] == a.var) return v->value[i] + a.off;
  return a.off;
}

static bool set(values *v, int var, int64_t value) {
  if (v->n == MOST_VALUES) return false;
  v->var[v->n] = var;
  v->value[v->n++] = value;
  return true;
}

static int64_t expression(const values *v, const ir_expr *e) {
  int64_t sum = 0;
  if (e->fn == IR_SUM) {
    for (int i = 0; i < e->n; i++)
      sum += e->coef[i] * value_of(v, e->arg[i]);
    return sum;
  }
  const int64_t a = value_of(v, e->arg[0]), b = value_of(v, e->arg[1]);
  if (e->fn == IR_DIV) return a / b;
  if (e->fn == IR_MOD) return a % b;
  if (e->fn == IR_PICK) return value_of(v, e->arg[a < b ? 2 : 3]);
  return (e->fn == IR_MIN) == (a < b) ? a : b;
}

/* ---- what two blocks have in common ---------------------------------------------------------------------- */

typedef struct {
  const ir_program *p;
  int64_t block[BLOCKS]; /* their numbers */
  values of[BLOCKS];
  bool *same; /* [n_buffers] tiles that are the same in both, so far */
  bool ok;
} pair;

static void look(pair *t, const ir_body *b) {
  for (int i = 0; i < b->n && t->ok; i++) {
    const ir_stmt *s = b->s[i];
    if (s->kind == IR_LET)
      for (int k = 0; k < BLOCKS; k++)
        t->ok = t->ok && set(&t->of[k], s->let.var, expression(&t->of[k], &s->let.expr));
    if (s->kind == IR_COPY)
      for (int r = 0; r < t->p->buffers[s->copy.to].rank; r++)
        t->same[s->copy.to] &= value_of(&t->of[0], s->range[r].lo) == value_of(&t->of[1], s->range[r].lo);
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
      set(&t.of[k], part->loop.var, block + k);
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
