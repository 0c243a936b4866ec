/* Lines where every chain of loops divides (the quick count): each class of entries loads one set
 * of elements, at shifted positions, at all settings of its loops (model/layout/sum.h). */
#include "model/eval/lines_even.h"

#include <stdlib.h>
#include <string.h>

#include "model/cost/quick/clip.h"

/* A slice of the quick count; factor: how often each entry of the loops that move it counts,
 * because of the loops that do not. */
typedef struct {
  int i;
  const tf_slice *s;
  const tf_even_slice *v;
  const tf_path *path;
  tf_piece x;
  uint64_t moving; /* path positions */
  tf_places place;
  tf_elements cells;
  int n_loops;
  tf_place_loop loops[TF_SUM_LOOPS];
  int64_t low[TF_MAX_RANK]; /* of points: distance of their lower end from the first */
} job;

static int64_t shift_of(const struct tf_model *m, const job *j, int pos, int r) {
  const tf_even_range *of = &m->even->ranges[j->v->range[r]];
  return of->moves >> pos & 1 ? of->shift[pos] * m->value[m->even->step[j->path->loops[pos]]] : 0;
}

static int64_t trip_of(const struct tf_model *m, const job *j, int pos) {
  return m->ev.trip[j->path->loops[pos]];
}

static void start(const struct tf_model *m, int i, job *j) {
  memset(j, 0, sizeof *j);
  j->i = i;
  j->s = &m->plan->slices[i];
  j->v = j->x.v = &m->even->slices[i];
  j->path = &m->plan->path[j->s->node];
  for (int r = 0; r < j->v->n_rank; r++)
    j->x.len[r] = m->len[j->v->range[r]];
  for (int pos = 0; pos < j->path->n; pos++)
    for (int r = 0; r < j->v->n_rank && trip_of(m, j, pos) > 1; r++)
      if (shift_of(m, j, pos, r)) j->moving |= UINT64_C(1) << pos;
}

/* The loop at that position goes from setting `from` to its last. */
static void add_loop(const struct tf_model *m, job *j, int pos, int64_t from) {
  tf_place_loop *l = &j->loops[j->n_loops++];
  *l = (tf_place_loop){.from = from, .n = trip_of(m, j, pos) - from};
  for (int r = 0; r < j->v->n_rank; r++)
    l->by[r] = shift_of(m, j, pos, r);
}

static bool sum_up(struct tf_model *m, const job *j, tf_touched *t) {
  int64_t at[TF_PLACE_RANKS] = {0};
  const tf_tensor *z = &m->plan->wl->tensors[j->s->tensor];
  for (int r = 0; r < j->v->n_rank; r++)
    at[r] = m->lo[j->v->range[r]] - z->lo[r] + j->low[r];
  return tf_touched_sum(&j->place, at, &j->cells, j->loops, j->n_loops, &m->lines->set, t);
}

/* The number of settings of the loops. */
static int64_t settings(const job *j) {
  int64_t n = 1;
  for (int k = 0; k < j->n_loops; k++)
    n *= j->loops[k].n;
  return n;
}

static bool times(tf_touched *t, int64_t by) {
  return !__builtin_mul_overflow(t->lines, by, &t->lines) &&
         !__builtin_mul_overflow(t->cycles, by, &t->cycles);
}

/* ---- m-tiles -------------------------------------------------------------------------------- */

/* The set that enters in class c: all of the box but what the previous entry left.  False: nothing
 * does. */
static bool entering_set(const struct tf_model *m, job *j, const tf_reuse_case *c,
                         const int64_t *by) {
  int64_t lo[TF_MAX_RANK], len[TF_MAX_RANK];
  const bool found = tf_even_before(m, c, &j->x, by, lo, len);
  bool all = found;
  j->cells = (tf_elements){.len = {1}, .lacks = found};
  for (int r = 0; r < j->v->n_rank; r++) {
    j->cells.len[r] = j->x.len[r];
    if (!found) continue;
    const int64_t from = lo[r] > 0 ? lo[r] : 0,
                  end = lo[r] + len[r] < j->x.len[r] ? lo[r] + len[r] : j->x.len[r];
    j->cells.gap_lo[r] = from;
    j->cells.gap_len[r] = end > from ? end - from : 0;
    j->cells.lacks = j->cells.lacks && end > from;
    all = all && end - from == j->x.len[r];
  }
  return !all;
}

/* Steps of a class, all settings of temporal loops; in `again` of them a box is loaded for the
 * first time (0: never). */
typedef struct {
  int64_t all, again;
} steps;

/* Adds class c's lines; from: the path position up to which temporal loops run, at which they step;
 * -1: they do not. */
static bool add_class(struct tf_model *m, job *j, int stepping, int end, steps n) {
  const tf_memory *mem = &m->plan->arch->memories[j->s->level];
  tf_move lines = {0}, cycles = {0};
  int64_t spatial = 1;
  j->n_loops = 0;
  for (uint64_t left = j->moving & j->path->temporal; left; left &= left - 1) {
    const int pos = __builtin_ctzll(left);
    if (pos < end || pos == stepping) add_loop(m, j, pos, pos == stepping);
  }
  const int64_t temporal = settings(j);
  for (uint64_t left = j->moving & ~j->path->temporal; left; left &= left - 1) {
    const int pos = __builtin_ctzll(left);
    spatial *= trip_of(m, j, pos);
    add_loop(m, j, pos, 0);
  }
  const int64_t servers = j->v->server >= 0 ? m->width[j->v->server] : 1;
  const int64_t asks = tf_even_turns(m, j->v->asks, j->v->n_asks);
  const int64_t groups = asks * servers / spatial, all = m->width[j->s->node] / spatial;
  const int64_t served = groups * tf_even_turns(m, j->v->same, j->v->n_same);
  for (int up = 0; up < 2; up++) {
    tf_touched t;
    if (!tf_has_lines(m, up ? j->s->above : j->s->level)) continue;
    if (!(up ? tf_lines_up(m, j->i, &j->place) : tf_lines_own(m, j->i, &j->place)) ||
        !sum_up(m, j, &t))
      return false;
    if (!times(&t, n.all / temporal)) return false;
    for (int k = 0; k < 2; k++) {
      const int64_t v = k ? t.cycles : t.lines, again = v - (n.again ? v / n.again : 0);
      tf_move *to = k ? &cycles : &lines;
      if (up) {
        to->read = j->s->makes ? again * groups : v * (mem->multicast ? groups : served);
        to->update = j->s->makes ? v * (mem->reduce ? groups : served) : 0;
      } else {
        to->fill = j->s->makes ? again * groups : v * all;
        to->drain = j->s->makes ? v * all : 0;
      }
    }
  }
  tf_lines_add(m, j->i, &lines, &cycles);
  return true;
}

/* As count_tile in model/cost/quick/count.c. */
static bool tile(struct tf_model *m, int i) {
  job j;
  int64_t by[TF_MAX_RANK] = {0};
  start(m, i, &j);
  int64_t again = j.s->makes ? tf_even_turns(m, j.v->again, j.v->n_again) : 1;
  int c = 0;
  for (; c < j.s->n_class && j.s->classes[c].stepping >= 0; c++) {
    const tf_even_loop *l = &j.v->temporal[c];
    const int64_t trip = m->ev.trip[l->loop];
    if (trip <= 1) continue;
    const bool repeats = again > 1 && !l->n && j.s->inside >> l->pos & 1;
    if (repeats) again /= trip;
    tf_even_advance(m, l, -1, by);
    const bool any = entering_set(m, &j, &j.s->classes[c], by);
    tf_even_advance(m, l, trip, by);
    const int64_t n = (trip - 1) * m->outer[l->loop];
    if (any && !add_class(m, &j, l->pos, l->pos, (steps){n, repeats ? 0 : again})) return false;
  }
  const tf_reuse_case *last = &j.s->classes[c];
  const int64_t n = last->zero_from == 0 ? 1 : m->steps[last->top];
  return !entering_set(m, &j, last, by) || add_class(m, &j, -1, last->zero_from, (steps){n, again});
}

/* ---- operands ------------------------------------------------------------------------------- */

enum { MOST_AT_ONCE = 1 << 16 }; /* units below one instance */

/* The points that units below one instance of the serving memory need in one step.  False: too
 * many. */
static bool at_once(const struct tf_model *m, job *j, uint64_t below) {
  int64_t n = 1, low[TF_MAX_RANK] = {0};
  const int ranks = j->place.n_ranks;
  for (uint64_t left = below; left; left &= left - 1)
    n = n <= MOST_AT_ONCE ? n * trip_of(m, j, __builtin_ctzll(left)) : n;
  int64_t *points = n <= MOST_AT_ONCE ? calloc((size_t)(n * ranks), sizeof *points) : NULL;
  if (!points) return false;
  int64_t block = 1;
  for (uint64_t left = below; left; left &= left - 1) {
    const int pos = __builtin_ctzll(left);
    for (int r = 0; r < j->v->n_rank; r++) {
      const int64_t by = shift_of(m, j, pos, r);
      low[r] += by < 0 ? by * (trip_of(m, j, pos) - 1) : 0;
      for (int64_t i = 0; i < n; i++)
        points[i * ranks + r] += by * (i / block % trip_of(m, j, pos));
    }
    block *= trip_of(m, j, pos);
  }
  for (int64_t i = 0; i < n * ranks; i++)
    points[i] -= low[i % ranks];
  j->cells = (tf_elements){.n_points = (int)n, .points = points};
  memcpy(j->low, low, sizeof low);
  return true;
}

static bool leaf(struct tf_model *m, int i, const tf_unit *unit) {
  job j;
  tf_touched t;
  start(m, i, &j);
  if (!tf_has_lines(m, j.s->above)) return true;
  const uint64_t own = tf_path_spatial(m->plan, j.s->node),
                 outer = j.v->server < 0 ? 0 : tf_path_spatial(m->plan, j.v->server);
  if (!tf_lines_up(m, i, &j.place) || !at_once(m, &j, j.moving & own & ~outer)) return false;
  for (uint64_t left = j.moving & (j.path->temporal | outer); left; left &= left - 1)
    add_loop(m, &j, __builtin_ctzll(left), 0);
  const int64_t servers = j.v->server >= 0 ? m->width[j.v->server] : 1,
                all = m->steps[j.s->node] * servers;
  const bool ok = sum_up(m, &j, &t) && times(&t, all / settings(&j));
  free((void *)(uintptr_t)j.cells.points);
  if (!ok) return false;
  const int64_t again = tf_even_turns(m, j.v->again, j.v->n_again);
  const bool apart = !unit->reduce && tf_even_turns(m, j.v->same, j.v->n_same) > 1;
  tf_move lines = {.read = t.lines}, cycles = {.read = t.cycles};
  if (j.s->makes) {
    lines.update = t.lines;
    cycles.update = t.cycles;
    lines.read -= apart ? 0 : t.lines / again;
    cycles.read -= apart ? 0 : t.cycles / again;
  }
  tf_lines_add(m, i, &lines, &cycles);
  return true;
}

bool tf_lines_each(struct tf_model *m, bool (*sum_tile)(struct tf_model *m, int i),
                   bool (*sum_leaf)(struct tf_model *m, int i, const tf_unit *unit)) {
  const tf_plan *p = m->plan;
  bool ok = true;
  for (int i = 0; i < p->n_tile_slices && ok; i++)
    if (tf_has_lines(m, p->slices[i].level) || tf_has_lines(m, p->slices[i].above))
      ok = sum_tile(m, i);
  for (int o = 0; o < p->wl->n_ops && ok; o++)
    for (int r = 0; r <= p->wl->ops[o].n_reads && ok; r++)
      ok = sum_leaf(m, p->op_slice[o] + r, &p->arch->units[p->unit[o]]);
  m->starved |= m->lines->set.starved;
  return ok && !m->lines->failed && !m->starved;
}

bool tf_lines_even(struct tf_model *m) { return tf_lines_each(m, tile, leaf); }
