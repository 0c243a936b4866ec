/* Values of variables in one block, and which tiles concurrent blocks fetch from the outermost
 * memory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/backend/cuda/pass/pass.h"

/* ---- values --------------------------------------------------------------------------------- */

int64_t cu_value(const cu_values *v, ir_atom a) {
  for (int i = v->n - 1; i >= 0 && a.var >= 0; i--)
    if (v->var[i] == a.var) return v->value[i] + a.off;
  return a.off;
}

bool cu_set(cu_values *v, int var, int64_t value) {
  if (v->n == CU_MOST_VALUES) return false;
  v->var[v->n] = var;
  v->value[v->n++] = value;
  return true;
}

static int64_t expression(const cu_values *v, const ir_expr *e) {
  int64_t sum = 0;
  if (e->fn == IR_SUM) {
    for (int i = 0; i < e->n; i++)
      sum += e->coef[i] * cu_value(v, e->arg[i]);
    return sum;
  }
  const int64_t a = cu_value(v, e->arg[0]), b = cu_value(v, e->arg[1]);
  if (e->fn == IR_DIV) return a / b;
  if (e->fn == IR_MOD) return a % b;
  if (e->fn == IR_PICK) return cu_value(v, e->arg[a < b ? 2 : 3]);
  return (e->fn == IR_MIN) == (a < b) ? a : b;
}

bool cu_let(cu_values *v, const ir_stmt *let) {
  return cu_set(v, let->let.var, expression(v, &let->let.expr));
}

/* ---- tiles of concurrent blocks ------------------------------------------------------------- */

/* Waves that are sampled; the mean stands for all. */
enum { MOST_WAVES = 8 };

/* The first tile of every copy in a block, as a key: equal keys are equal tiles. */
typedef struct {
  const ir_program *p;
  cu_values values;
  int n, room;
  uint64_t *key; /* [room] a key for each copy of the part */
} tiles;

static void find_tiles(tiles *t, const ir_body *b) {
  for (int i = 0; i < b->n; i++) {
    const ir_stmt *s = b->s[i];
    if (s->kind == IR_LET) cu_let(&t->values, s);
    if (s->kind == IR_COPY && t->n < t->room) {
      uint64_t key = 1469598103934665603u;
      for (int r = 0; r < t->p->buffers[s->copy.to].rank; r++)
        key = (key ^ (uint64_t)cu_value(&t->values, s->range[r].lo)) * 1099511628211u;
      t->key[t->n++] = key;
    }
    find_tiles(t, &s->body);
  }
}

static int by_number(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static int64_t distinct(uint64_t *at, int64_t n) {
  int64_t all = n > 0;
  qsort(at, (size_t)n, sizeof *at, by_number);
  for (int64_t i = 1; i < n; i++)
    all += at[i] != at[i - 1];
  return all;
}

void cu_shared_tiles(const ir_program *p, const ir_stmt *part, int64_t wave, int copies,
                     double *of) {
  const int64_t blocks = part->loop.trip, waves = (blocks + wave - 1) / wave;
  const int64_t most = waves < MOST_WAVES ? waves : MOST_WAVES;
  uint64_t *key = calloc((size_t)copies * (size_t)(wave + 1), sizeof *key),
           *own = calloc((size_t)copies + 1, sizeof *own);
  for (int c = 0; c < copies; c++)
    of[c] = key && own ? 0 : (double)blocks;
  for (int64_t w = 0; w < most && key && own; w++) {
    const int64_t first = w * waves / most * wave,
                  n = blocks - first < wave ? blocks - first : wave;
    for (int64_t i = 0; i < n; i++) {
      tiles t = {.p = p, .room = copies, .key = own};
      cu_set(&t.values, part->loop.var, first + i);
      find_tiles(&t, &part->body);
      for (int c = 0; c < copies; c++)
        key[c * wave + i] = own[c];
    }
    for (int c = 0; c < copies; c++)
      of[c] += (double)distinct(key + c * wave, n) * (double)waves / (double)most;
  }
  free(key);
  free(own);
}

/* ---- elements of one block ------------------------------------------------------------------ */

static bool is_along(const ir_stack *t, int rank) {
  bool is = false;
  for (int i = 0; t && i < t->n; i++)
    is |= t->axis[i] == rank;
  return is;
}

int64_t cu_copied(const ir_program *p, const ir_stmt *s) {
  const ir_buffer *to = &p->buffers[s->copy.to];
  int64_t words = (cu_stack(to) ? ir_stack_rows(cu_stack(to)) : 1) *
                  (cu_across(to) ? ir_stack_rows(cu_across(to)) : 1);
  for (int r = 0; r < to->rank; r++)
    if (!is_along(cu_stack(to), r) && !is_along(cu_across(to), r)) words *= s->range[r].most;
  return words;
}

/* Coordinates along a rank that the rows of a stack span. */
static int64_t coordinates_of(const ir_stack *t, int rank) {
  int64_t reach = 0;
  for (int i = 0; t && i < t->n; i++)
    if (t->axis[i] == rank)
      reach += (t->length[i] - 1) * (t->step[i] < 0 ? -t->step[i] : t->step[i]);
  return reach;
}

double cu_distinct(const ir_program *p, const ir_stmt *s) {
  const ir_buffer *to = &p->buffers[s->copy.to];
  double words = 1;
  for (int r = 0; r < to->rank; r++) {
    const bool stacked = is_along(cu_stack(to), r) || is_along(cu_across(to), r);
    words *= stacked
                 ? (double)(coordinates_of(cu_stack(to), r) + coordinates_of(cu_across(to), r) + 1)
                 : (double)s->range[r].most;
  }
  return fmin(words, (double)cu_copied(p, s));
}

double cu_delivered(const ir_program *p, const ir_stmt *s) {
  enum { SECTOR_BYTES = 32 }; /* of a memory transaction */
  const ir_buffer *to = &p->buffers[s->copy.to], *from = &p->buffers[s->copy.from];
  const double bytes = ir_bytes(from->type) * cu_distinct(p, s);
  const ir_stack *rows = cu_stack(to);
  const bool apart = rows && !cu_across(to) && cu_column_rank(to) < to->rank - 1;
  if (!apart || rows->axis[rows->n - 1] == to->rank - 1) return bytes;
  return bytes * fmin((double)cu_dense_step(p, from, rows->axis[rows->n - 1]),
                      SECTOR_BYTES / ir_bytes(from->type));
}

/* Values in the first step of all loops, and in the last. */
typedef struct {
  const ir_program *p;
  cu_values first, last;
  int n, room;
  double *words; /* [room] */
  double *share; /* [n_buffers] */
} spans;

/* The distance along a rank from a copy's first tile to its last, in either direction. */
static int64_t tile_distance(const spans *t, const ir_range *r) {
  const int64_t by = cu_value(&t->last, r->lo) - cu_value(&t->first, r->lo);
  return by < 0 ? -by : by;
}

/* Elements of the box from a copy's first tile to its last. */
static double spanned_elements(const spans *t, const ir_stmt *s) {
  double words = 1;
  for (int r = 0; r < t->p->buffers[s->copy.to].rank; r++)
    words *= (double)(s->range[r].most + tile_distance(t, &s->range[r]));
  return words;
}

/* The share of that box that is read: where pixels are read in steps longer than the window,
 * elements in between never are. */
static double share_read(const spans *t, const ir_stmt *s) {
  const ir_stack *stack = cu_stack(&t->p->buffers[s->copy.to]);
  double share = 1;
  for (int i = 0; i < stack->n; i++)
    share *=
        fmin(1, (double)(tile_distance(t, &s->range[stack->axis[i]]) + 1) / (double)stack->step[i]);
  return share;
}

static void find_spans(spans *t, const ir_body *b) {
  for (int i = 0; i < b->n; i++) {
    const ir_stmt *s = b->s[i];
    if (s->kind == IR_LET) cu_let(&t->first, s), cu_let(&t->last, s);
    if (s->kind == IR_FOR && s->loop.map == IR_SERIAL)
      cu_set(&t->last, s->loop.var, s->loop.trip - 1);
    const bool stacked = s->kind == IR_COPY && cu_stack(&t->p->buffers[s->copy.to]);
    if (s->kind == IR_COPY && t->n < t->room)
      t->words[t->n++] = stacked ? spanned_elements(t, s) : INFINITY;
    if (stacked) t->share[s->copy.from] = share_read(t, s);
    find_spans(t, &s->body);
  }
}

void cu_spanned(const ir_program *p, const ir_stmt *part, int copies, double *words,
                double *share) {
  spans t = {.p = p, .room = copies, .words = words, .share = share};
  for (int k = 0; k < p->n_buffers; k++)
    share[k] = 1;
  find_spans(&t, &part->body);
}
