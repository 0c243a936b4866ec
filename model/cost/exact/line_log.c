#include "model/cost/exact/line_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/cost/exact/lines.h"

/* Most accesses recorded before they are summed up; most runs of lines that all sums visit. */
enum { MOST_NOTED = 1 << 16, MOST_WORDS = 1 << 22 };
#define MOST_WORK (INT64_C(1) << 28)

/* A fast-forward: n settings, each of which moves the set; and the one before. */
typedef struct {
  int64_t n, before;
  int64_t by[TF_PLACE_RANKS];
} repeat;

typedef struct {
  tf_lines_what what;
  int i, n_points; /* n_points: 0 for a box */
  bool fresh, first, lacks;
  int64_t words, repeat; /* start of its numbers; its last repeat, -1: none */
} access;

struct tf_line_log {
  access *all;
  int64_t *
      words; /* of each access: its position; a box, and the part that is already held, or points */
  repeat *repeats;
  int64_t n, n_words, n_repeats, before; /* before: accesses that are summed up already */
  int64_t work;
};

void tf_line_log_free(struct tf_line_log *l) {
  if (!l) return;
  free(l->all);
  free(l->words);
  free(l->repeats);
  free(l);
}

static int ranks_of(const struct tf_model *m, int i) {
  const int rank = m->plan->wl->tensors[m->plan->slices[i].tensor].rank;
  return rank ? rank : 1;
}

static bool push(struct tf_line_log *l, const int64_t *v, int64_t n) {
  for (int64_t k = 0; k < n; k++) {
    if (!TF_GROW(l->words, l->n_words)) return false;
    l->words[l->n_words++] = v[k];
  }
  return true;
}

static bool add(struct tf_line_log *l, const tf_lines_noted *a, const tf_elements *c, int ranks) {
  if (!TF_GROW(l->all, l->n)) return false;
  l->all[l->n++] = (access){.what = a->what,
                            .i = a->i,
                            .n_points = c->n_points,
                            .fresh = a->fresh,
                            .first = a->first,
                            .lacks = c->lacks,
                            .words = l->n_words,
                            .repeat = -1};
  if (!push(l, a->coords, ranks)) return false;
  if (c->n_points) return push(l, c->points, (int64_t)c->n_points * ranks);
  return push(l, c->len, ranks) && push(l, c->gap_lo, ranks) && push(l, c->gap_len, ranks);
}

void tf_line_log_add(struct tf_model *m, const tf_lines_noted *a, const tf_elements *c) {
  struct tf_lines *x = m->lines;
  if (!x->log) x->log = calloc(1, sizeof *x->log);
  if (x->log && (x->log->n >= MOST_NOTED || x->log->n_words >= MOST_WORDS)) tf_line_log_sum(m);
  x->set.starved |= !x->log || !add(x->log, a, c, ranks_of(m, a->i));
}

int64_t tf_line_log_mark(const struct tf_model *m) {
  const struct tf_line_log *l = m->lines->log;
  return l ? l->before + l->n : 0;
}

bool tf_line_log_holds(const struct tf_model *m, int64_t mark) {
  return !m->lines->log || mark >= m->lines->log->before;
}

void tf_line_log_again(struct tf_model *m, int64_t mark, const int64_t *shift, int64_t times) {
  struct tf_line_log *l = m->lines->log;
  for (int64_t k = l ? mark - l->before : 0; l && k < l->n; k++) {
    access *a = &l->all[k];
    if (!TF_GROW(l->repeats, l->n_repeats)) {
      m->lines->set.starved = true;
      return;
    }
    repeat *t = &l->repeats[l->n_repeats];
    *t = (repeat){.n = times + 1, .before = a->repeat};
    memcpy(t->by, shift + (size_t)a->i * TF_MAX_RANK, (size_t)ranks_of(m, a->i) * sizeof *t->by);
    a->repeat = l->n_repeats++;
  }
}

/* ---- their lines
 * -------------------------------------------------------------------------------- */

static tf_elements cells_of(const struct tf_line_log *l, const access *a, int ranks) {
  const int64_t *at = l->words + a->words + ranks;
  const size_t bytes = (size_t)ranks * sizeof *at;
  tf_elements c = {.lacks = a->lacks, .n_points = a->n_points, .points = at};
  if (a->n_points) return c;
  memcpy(c.len, at, bytes);
  memcpy(c.gap_lo, at + ranks, bytes);
  memcpy(c.gap_len, at + 2 * ranks, bytes);
  return c;
}

/* The lines of an access and of all its repetitions, in the memory of its slice or (up) in the
 * serving one. */
static bool touched(struct tf_model *m, const access *a, bool up, tf_touched *t) {
  struct tf_line_log *l = m->lines->log;
  const int ranks = ranks_of(m, a->i);
  const tf_elements c = cells_of(l, a, ranks);
  int64_t at[TF_PLACE_RANKS] = {0};
  tf_place_loop loops[TF_SUM_LOOPS];
  tf_places p;
  int n = 0;
  memcpy(at, l->words + a->words, (size_t)ranks * sizeof *at);
  for (int64_t k = a->repeat; k >= 0 && n < TF_SUM_LOOPS; k = l->repeats[k].before, n++) {
    loops[n] = (tf_place_loop){.n = l->repeats[k].n};
    memcpy(loops[n].by, l->repeats[k].by, sizeof loops[n].by);
  }
  const bool ok = (up ? tf_lines_up(m, a->i, &p) : tf_lines_own(m, a->i, &p)) &&
                  tf_touched_sum(&p, at, &c, loops, n, &m->lines->set, t);
  l->work += m->lines->set.work;
  return ok && l->work < MOST_WORK;
}

/* Lines or cycles that slice i's instances move. */
static tf_move move_of(const struct tf_model *m, const access *a, int64_t v) {
  const tf_slice *s = &m->plan->slices[a->i];
  if (a->what == TF_LINES_READ) return (tf_move){.read = v};
  if (a->what == TF_LINES_UPDATE) return (tf_move){.update = v};
  return tf_move_of(s, &m->plan->arch->memories[s->level],
                    (tf_entry){v, a->fresh ? v : 0, a->fresh && a->first ? v : 0});
}

static tf_move one_side(tf_move v, bool up) {
  return up ? (tf_move){.read = v.read, .update = v.update}
            : (tf_move){.fill = v.fill, .drain = v.drain};
}

static bool sum_access(struct tf_model *m, const access *a) {
  const tf_slice *s = &m->plan->slices[a->i];
  for (int up = a->what == TF_LINES_ENTER ? 0 : 1; up < 2; up++) {
    tf_touched t;
    if (!tf_has_lines(m, up ? s->above : s->level)) continue;
    if (!touched(m, a, up, &t)) return false;
    const tf_move lines = one_side(move_of(m, a, t.lines), up),
                  cycles = one_side(move_of(m, a, t.cycles), up);
    tf_lines_add(m, a->i, &lines, &cycles);
  }
  return true;
}

void tf_line_log_sum(struct tf_model *m) {
  struct tf_line_log *l = m->lines->log;
  if (!l) return;
  for (int64_t k = 0; k < l->n && !m->lines->failed; k++)
    m->lines->failed = !sum_access(m, &l->all[k]);
  l->before += l->n;
  l->n = l->n_words = l->n_repeats = 0;
}
