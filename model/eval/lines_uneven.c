/* Lines where loops leave a remainder or borders clip boxes: the settings of a class of entries
 * fall into few kinds of digits (model/cost/quick/uneven_sum.c), each of which brings one set of
 * elements, moved along.  The units that take part in a step of an op do so by the kinds of digits
 * of the loops above the serving memory and in time. */
#include "model/eval/lines_uneven.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/grow.h"
#include "model/cost/quick/uneven_plan.h"
#include "model/eval/lines_even.h"

enum { MOST_SETTINGS = 1 << 13, MOST_POINTS = 1 << 16 };
#define MOST_WORK (INT64_C(1) << 26) /* runs of lines that all sums look at, and points */

/* A slice; where its elements lie in its own memory ([0]) and in the one that serves it. */
typedef struct {
  struct tf_model *m;
  int i;
  const tf_slice *s;
  const tf_even_slice *v;
  const tf_uneven_slice *u;
  const tf_uneven_node *n;
  const tf_tensor *z;
  bool lined[2];
  tf_places place[2];
  tf_touched sum[2];
  int64_t looked;
} job;

static bool start(struct tf_model *m, int i, job *j) {
  const tf_slice *s = &m->plan->slices[i];
  *j = (job){.m = m,
             .i = i,
             .s = s,
             .v = &m->even->slices[i],
             .u = &m->uneven->slice[i],
             .n = &m->uneven->node[s->node],
             .z = &m->plan->wl->tensors[s->tensor]};
  j->lined[0] = s->level >= 0 && tf_has_lines(m, s->level);
  j->lined[1] = tf_has_lines(m, s->above);
  return (!j->lined[0] || tf_lines_own(m, i, &j->place[0])) &&
         (!j->lined[1] || tf_lines_up(m, i, &j->place[1]));
}

static int64_t shift_of(const job *j, int pos, int r) {
  const tf_even_range *of = &j->m->even->ranges[j->v->range[r]];
  return of->moves >> pos & 1 ? of->shift[pos] * j->n->step[pos] : 0;
}

/* Adds the lines of a set at all settings of the loops. */
static bool add_lines(job *j, const int64_t *at, const tf_elements *c, const tf_place_loop *loops,
                      int n) {
  bool ok = true;
  for (int up = 0; up < 2 && ok; up++) {
    tf_touched t;
    if (!j->lined[up]) continue;
    ok = tf_touched_sum(&j->place[up], at, c, loops, n, &j->m->lines->set, &t) &&
         tf_add(j->sum[up].lines, t.lines, &j->sum[up].lines) &&
         tf_add(j->sum[up].cycles, t.cycles, &j->sum[up].cycles);
    j->looked += j->m->lines->set.work + 1;
  }
  return ok && j->looked < MOST_WORK;
}

/* ---- m-tiles -------------------------------------------------------------------------------- */

/* What enters of a box of which some was there. */
static tf_elements cells_of(const job *j, const tf_uneven_setting *s, bool *any) {
  tf_elements c = {.len = {1}, .lacks = j->v->n_rank > 0};
  bool all = true;
  *any = true;
  for (int r = 0; r < j->v->n_rank; r++) {
    c.len[r] = s->box[r].len;
    c.gap_lo[r] = s->found[r].lo - s->box[r].lo;
    c.gap_len[r] = s->found[r].len;
    c.lacks = c.lacks && s->found[r].len > 0;
    all = all && s->found[r].len == s->box[r].len;
    *any = *any && s->box[r].len > 0;
  }
  *any = *any && !(all && (j->v->n_rank == 0 ? s->finds : c.lacks));
  return c;
}

static bool add_entry(void *to, const tf_uneven_setting *s) {
  job *j = to;
  tf_place_loop loops[TF_MAX_PATH];
  int64_t at[TF_PLACE_RANKS] = {0};
  bool any;
  int n = 0;
  const tf_elements c = cells_of(j, s, &any);
  if (!any) return true;
  for (int r = 0; r < j->v->n_rank; r++)
    at[r] = s->box[r].lo - j->z->lo[r];
  for (uint64_t left = j->n->turning; left; left &= left - 1) {
    const int pos = __builtin_ctzll(left);
    if (s->alike[pos] <= 1) continue;
    tf_place_loop *l = &loops[n++];
    *l = (tf_place_loop){.n = s->alike[pos]};
    for (int r = 0; r < j->v->n_rank; r++)
      l->by[r] = shift_of(j, pos, r);
  }
  return add_lines(j, at, &c, loops, n);
}

/* The lines of entries at which more loops stand at their first. */
static bool sum_entries(job *j, const tf_uneven_sum *of, uint64_t zero, tf_touched sum[2]) {
  const struct tf_model *m = j->m;
  tf_uneven_sum w = *of;
  const tf_uneven_visit visit = {m->plan->clips || m->plan->cuts, j, add_entry};
  w.zero |= zero;
  memset(j->sum, 0, sizeof j->sum);
  if (!tf_uneven_visit_all(j->m, &w, &visit)) return false;
  memcpy(sum, j->sum, sizeof j->sum);
  return true;
}

static tf_move one_side(tf_move v, bool up) {
  return up ? (tf_move){.read = v.read, .update = v.update}
            : (tf_move){.fill = v.fill, .drain = v.drain};
}

/* Adds what all, one of those that share, and the first of a production move. */
static void add_moves(job *j, const tf_touched all[2], const tf_touched groups[2],
                      const tf_touched first[2]) {
  const tf_memory *mem = &j->m->plan->arch->memories[j->s->level];
  for (int up = 0; up < 2; up++) {
    if (!j->lined[up]) continue;
    const tf_entry e = {all[up].lines, groups[up].lines, first[up].lines},
                   c = {all[up].cycles, groups[up].cycles, first[up].cycles};
    const tf_move lines = one_side(tf_move_of(j->s, mem, e), up),
                  cycles = one_side(tf_move_of(j->s, mem, c), up);
    tf_lines_add(j->m, j->i, &lines, &cycles);
  }
}

static bool entries(job *j, int class) {
  const uint64_t turning = j->n->turning, same = j->u->same & turning,
                 again = j->u->again & turning;
  const int stepping = j->s->classes[class].stepping;
  tf_uneven_sum w;
  tf_touched all[2], groups[2], first[2] = {{0, 0}, {0, 0}};
  if (!tf_uneven_entries(j->m, j->i, class, &w)) return true;
  if (!sum_entries(j, &w, 0, all)) return false;
  memcpy(groups, all, sizeof all);
  if (same && !sum_entries(j, &w, same, groups)) return false;
  if (j->s->makes && !(stepping >= 0 && j->u->again >> stepping & 1)) {
    memcpy(first, groups, sizeof first);
    if (again & ~w.zero && !sum_entries(j, &w, same | again, first)) return false;
  }
  add_moves(j, all, groups, first);
  return true;
}

/* Whether it matters which instances share a transfer, and loops do not tell one by one: those of
 * several chains bring one box to several instances, or borders leave equal ones. */
static bool joined(const job *j) {
  const uint64_t on = j->u->join & j->n->turning;
  const bool shares =
      j->s->makes || (j->lined[1] && j->m->plan->arch->memories[j->s->level].multicast);
  return shares && (on & (on - 1) || !tf_uneven_tells(j->m, j->i));
}

static bool tile(struct tf_model *m, int i) {
  job j;
  if (!start(m, i, &j) || j.u->off || joined(&j)) return false;
  for (int c = 0; c < j.s->n_class; c++)
    if (tf_run_found(m->plan, j.s, &j.s->classes[c]) >= 0 || !entries(&j, c)) return false;
  return true;
}

/* ---- operands ------------------------------------------------------------------------------- */

/* Settings of a leaf's loops, and the place at the first of them. */
typedef struct {
  int64_t digit[TF_MAX_PATH], alike[TF_MAX_PATH], at[TF_MAX_RANK];
} setting;

/* Loops are those in time and above the serving memory, of which a step is one setting, then those
 * that tell its units apart. */
typedef struct {
  job j;
  int n_step, n_loop, pos[TF_MAX_PATH];
  setting *all;
  int64_t n;
  int64_t *points, n_points; /* of a step: the coordinates of each unit's element */
  int64_t *group, *keys;     /* [n_points] units that may share an element have one number */
  int least;                 /* of which so many have an element for it to count */
  int64_t from[TF_MAX_PATH], alike[TF_MAX_PATH]; /* [n_step] the steps at hand */
} leaf_job;

static bool add_setting(void *to, const tf_uneven_setting *s) {
  leaf_job *l = to;
  for (int r = 0; r < l->j.v->n_rank; r++)
    if (s->box[r].len <= 0) return true;
  if (l->n >= MOST_SETTINGS) return false;
  if (!TF_GROW(l->all, l->n)) {
    l->j.m->starved = true;
    return false;
  }
  setting *x = &l->all[l->n++];
  for (int k = 0; k < l->n_loop; k++)
    x->digit[k] = s->digit[l->pos[k]], x->alike[k] = s->alike[l->pos[k]];
  for (int r = 0; r < l->j.v->n_rank; r++)
    x->at[r] = s->box[r].lo - l->j.z->lo[r];
  return true;
}

static bool add_number(leaf_job *l, int64_t **to, int64_t n, int64_t v) {
  if (!TF_GROW(*to, n)) {
    l->j.m->starved = true;
    return false;
  }
  (*to)[n] = v;
  return true;
}

/* Adds the elements of the units at a setting, from loop k on. */
static bool add_units(leaf_job *l, const setting *x, int k, const int64_t *at, int64_t group) {
  const int ranks = l->j.place[1].n_ranks;
  int64_t own[TF_MAX_RANK] = {0};
  bool ok = l->n_points < MOST_POINTS;
  if (k == l->n_loop) {
    for (int r = 0; r < ranks && ok; r++)
      ok = add_number(l, &l->points, l->n_points * ranks + r, at[r]);
    ok = ok && add_number(l, &l->group, l->n_points, group);
    l->n_points += ok;
    return ok;
  }
  const bool shares = l->j.s->merge >> l->pos[k] & 1;
  const int64_t trip = l->j.m->ev.trip[l->j.m->plan->path[l->j.s->node].loops[l->pos[k]]];
  for (int64_t i = 0; i < x->alike[k] && ok; i++) {
    for (int r = 0; r < l->j.v->n_rank; r++)
      own[r] = at[r] + i * shift_of(&l->j, l->pos[k], r);
    ok = add_units(l, x, k + 1, own, shares ? group : group * trip + x->digit[k] + i);
  }
  return ok;
}

static int ascending(const void *a, const void *b) {
  const int64_t *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* Leaves each element once, if enough units have it; at: becomes the lower end of all.  False:
 * their numbers pass 2^63 - 1. */
static bool elements(leaf_job *l, int64_t *at) {
  const int ranks = l->j.place[1].n_ranks;
  int64_t len[TF_MAX_RANK], n = 0, all = 1, groups = 1, last = -1;
  bool ok = true;
  for (int r = 0; r < ranks && ok; r++) {
    int64_t end = at[r] = l->points[r];
    for (int64_t k = 1; k < l->n_points; k++) {
      const int64_t v = l->points[k * ranks + r];
      at[r] = v < at[r] ? v : at[r];
      end = v > end ? v : end;
    }
    len[r] = end + 1 - at[r];
    ok = tf_mul(all, len[r], &all);
  }
  for (int64_t k = 0; k < l->n_points; k++)
    groups = l->group[k] >= groups ? l->group[k] + 1 : groups;
  ok = ok && tf_mul(all, groups, &all);
  for (int64_t k = 0; k < l->n_points && ok; k++) {
    int64_t key = 0;
    for (int r = 0; r < ranks; r++)
      key = key * len[r] + l->points[k * ranks + r] - at[r];
    ok = add_number(l, &l->keys, k, key * groups + l->group[k]);
  }
  if (!ok) return false;
  qsort(l->keys, (size_t)l->n_points, sizeof *l->keys, ascending);
  for (int64_t k = 0, next; k < l->n_points; k = next) {
    int64_t key = l->keys[k] / groups;
    for (next = k + 1; next < l->n_points && l->keys[next] == l->keys[k];)
      next++;
    if (next - k < l->least || key == last) continue;
    last = key;
    for (int r = ranks - 1; r >= 0; key /= len[r--])
      l->points[n * ranks + r] = key % len[r];
    n++;
  }
  l->n_points = n;
  return true;
}

/* Adds the lines of the steps at hand, in which units at these settings take part. */
static bool add_steps(leaf_job *l, const int64_t *some, int64_t n) {
  job *j = &l->j;
  tf_place_loop loops[TF_MAX_PATH];
  int64_t at[TF_PLACE_RANKS] = {0};
  int n_loops = 0;
  l->n_points = 0;
  for (int64_t i = 0; i < n; i++) {
    const setting *x = &l->all[some[i]];
    for (int r = 0; r < j->v->n_rank; r++) {
      at[r] = x->at[r];
      for (int k = 0; k < l->n_step; k++)
        at[r] += (l->from[k] - x->digit[k]) * shift_of(j, l->pos[k], r);
    }
    if (!add_units(l, x, l->n_step, at, 0)) return false;
  }
  j->looked += l->n_points;
  if (!elements(l, at)) return false;
  if (!l->n_points) return true;
  for (int k = 0; k < l->n_step; k++) {
    if (l->alike[k] <= 1) continue;
    tf_place_loop *to = &loops[n_loops++];
    *to = (tf_place_loop){.n = l->alike[k]};
    for (int r = 0; r < j->v->n_rank; r++)
      to->by[r] = shift_of(j, l->pos[k], r);
  }
  const tf_elements c = {.n_points = (int)l->n_points, .points = l->points};
  return add_lines(j, at, &c, loops, n_loops);
}

/* The least digit of loop k above `digit` at which settings begin or end; -1: there is none. */
static int64_t next_edge(const leaf_job *l, const int64_t *some, int64_t n, int k, int64_t digit) {
  int64_t next = -1;
  for (int64_t i = 0; i < n; i++) {
    const setting *x = &l->all[some[i]];
    const int64_t edge[2] = {x->digit[k], x->digit[k] + x->alike[k]};
    for (int e = 0; e < 2; e++)
      if (edge[e] > digit && (next < 0 || edge[e] < next)) next = edge[e];
  }
  return next;
}

/* The steps from loop k on, of these settings: digits at which the same ones take part are one. */
static bool steps(leaf_job *l, const int64_t *some, int64_t n, int k) {
  if (k == l->n_step) return add_steps(l, some, n);
  int64_t *here = malloc((size_t)n * sizeof *here);
  bool ok = here != NULL;
  l->j.m->starved |= !ok;
  for (int64_t digit = next_edge(l, some, n, k, -1), next; digit >= 0 && ok; digit = next) {
    int64_t taking = 0;
    next = next_edge(l, some, n, k, digit);
    for (int64_t i = 0; i < n; i++) {
      const setting *x = &l->all[some[i]];
      if (x->digit[k] <= digit && digit < x->digit[k] + x->alike[k]) here[taking++] = some[i];
    }
    if (!taking) continue;
    l->from[k] = digit, l->alike[k] = next - digit;
    l->j.looked += n;
    ok = l->j.looked < MOST_WORK && steps(l, here, taking, k + 1);
  }
  free(here);
  return ok;
}

/* The lines of steps at which more loops stand at their first, of elements that enough units have.
 */
static bool sum_steps(leaf_job *l, uint64_t zero, int least, tf_touched *sum) {
  const struct tf_model *m = l->j.m;
  tf_uneven_sum w = tf_uneven_settings(m, l->j.i);
  const tf_uneven_visit visit = {m->plan->clips || m->plan->cuts, l, add_setting};
  w.zero |= zero;
  l->n = 0;
  l->least = least;
  l->j.sum[1] = (tf_touched){0, 0};
  if (!tf_uneven_visit_all(l->j.m, &w, &visit)) return false;
  int64_t *some = malloc((size_t)(l->n + 1) * sizeof *some);
  l->j.m->starved |= !some;
  for (int64_t i = 0; i < l->n && some; i++)
    some[i] = i;
  const bool ok = some && (!l->n || steps(l, some, l->n, 0));
  free(some);
  *sum = l->j.sum[1];
  return ok;
}

static bool add_leaf(leaf_job *l, const tf_unit *unit) {
  const job *j = &l->j;
  const uint64_t again = j->u->again & j->n->turning;
  tf_touched all, first, apart = {0, 0};
  if (!sum_steps(l, 0, 1, &all)) return false;
  first = all;
  if (j->s->makes && again && !sum_steps(l, again, 1, &first)) return false;
  if (j->s->makes && !unit->reduce && !sum_steps(l, again, 2, &apart)) return false;
  tf_move lines = {.read = all.lines}, cycles = {.read = all.cycles};
  if (j->s->makes) {
    lines = (tf_move){.read = all.lines - first.lines + apart.lines, .update = all.lines};
    cycles = (tf_move){.read = all.cycles - first.cycles + apart.cycles, .update = all.cycles};
  }
  tf_lines_add(j->m, j->i, &lines, &cycles);
  return true;
}

static bool leaf(struct tf_model *m, int i, const tf_unit *unit) {
  leaf_job l = {.n = 0};
  if (!start(m, i, &l.j) || l.j.u->off) return false;
  if (!l.j.lined[1]) return true;
  const int server = m->views->server[i];
  const uint64_t outer = server < 0 ? 0 : tf_path_spatial(m->plan, server),
                 units = tf_path_spatial(m->plan, l.j.s->node) & ~outer;
  for (int below = 0; below < 2; below++) {
    for (uint64_t left = l.j.n->turning & (below ? units : ~units); left; left &= left - 1)
      l.pos[l.n_loop++] = __builtin_ctzll(left);
    if (!below) l.n_step = l.n_loop;
  }
  const bool ok = add_leaf(&l, unit);
  free(l.all);
  free(l.points);
  free(l.group);
  free(l.keys);
  return ok;
}

bool tf_lines_uneven(struct tf_model *m) {
  return tf_uneven_ready(m) && tf_lines_each(m, tile, leaf);
}
