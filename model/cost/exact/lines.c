/* Lines that accesses touch, access by access where a walk records them, and the memory's time for
 * them. */
#include "model/cost/exact/lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/cost/exact/line_log.h"

bool tf_lines_new(struct tf_model *m) {
  const tf_plan *p = m->plan;
  bool any = false;
  for (int l = 0; l < p->arch->n_memories; l++)
    any |= p->arch->memories[l].line > 0;
  if (!any) return true;
  struct tf_lines *x = TF_NEW(m->arena, struct tf_lines);
  if (!x) return false;
  const size_t slices = (size_t)p->n_slices + 1, passes = (size_t)m->views->n_passes + 1;
  x->moved = TF_ARRAY(m->arena, tf_move, slices);
  x->cycles = TF_ARRAY(m->arena, tf_move, slices);
  x->below = TF_ARRAY(m->arena, tf_ports, passes);
  x->concurrent = TF_ARRAY(m->arena, tf_ports, passes);
  x->room = TF_ARRAY(m->arena, int64_t, (size_t)m->views->n_ranks + 1);
  x->res.counts = TF_ARRAY(m->arena, tf_counts, (size_t)(p->arch->n_memories * p->wl->n_tensors));
  x->res.cycles = TF_ARRAY(m->arena, double, (size_t)p->arch->n_memories);
  m->lines = x;
  return x->moved && x->cycles && x->below && x->concurrent && x->room && x->res.counts &&
         x->res.cycles;
}

void tf_lines_free(struct tf_lines *l) {
  if (!l) return;
  tf_line_set_free(&l->set);
  tf_line_log_free(l->log);
  free(l->step);
}

void tf_lines_clear(struct tf_model *m) {
  memset(m->lines->moved, 0, (size_t)m->plan->n_slices * sizeof(tf_move));
  memset(m->lines->cycles, 0, (size_t)m->plan->n_slices * sizeof(tf_move));
  m->lines->walked = m->lines->failed = false;
}

/* ---- accesses recorded by a walk ------------------------------------------------------------ */

static bool add_checked(int64_t *to, int64_t v) { return !__builtin_add_overflow(*to, v, to); }

static void cells_of(const tf_tensor *z, const tf_ival *box, const tf_ival *has, tf_elements *c) {
  *c = (tf_elements){.len = {1}, .lacks = true};
  for (int r = 0; r < z->rank; r++) {
    c->len[r] = box[r].len;
    c->gap_lo[r] = has[r].lo - box[r].lo;
    c->gap_len[r] = has[r].len;
    c->lacks = c->lacks && has[r].len > 0;
  }
  c->lacks = c->lacks && z->rank > 0;
}

void tf_lines_enter(struct tf_model *m, int i, const tf_ival *box, const tf_ival *has, bool fresh,
                    bool first) {
  const tf_tensor *z = &m->plan->wl->tensors[m->plan->slices[i].tensor];
  tf_lines_noted a = {TF_LINES_ENTER, i, fresh, first, {0}};
  tf_elements c;
  cells_of(z, box, has, &c);
  for (int r = 0; r < z->rank; r++)
    a.coords[r] = box[r].lo - z->lo[r];
  tf_line_log_add(m, &a, &c);
}

void tf_lines_access(struct tf_model *m, int i, size_t server, const tf_ival *point, bool reads) {
  struct tf_lines *x = m->lines;
  const tf_slice *s = &m->plan->slices[i];
  if (!tf_has_lines(m, s->above)) return;
  if (!TF_GROW(x->step, x->n_step)) {
    x->set.starved = true;
    return;
  }
  tf_line_access *a = &x->step[x->n_step++];
  *a = (tf_line_access){.server = server, .reads = reads};
  for (int r = 0; r < m->plan->wl->tensors[s->tensor].rank; r++)
    a->coords[r] = point[r].lo - m->plan->wl->tensors[s->tensor].lo[r];
}

static int by_server(const void *a, const void *b) {
  const tf_line_access *x = a, *y = b;
  return (x->server > y->server) - (x->server < y->server);
}

/* Records accesses from..to - 1, all of them or those that read. */
static void note(struct tf_model *m, int i, tf_lines_what what, int64_t from, int64_t to) {
  struct tf_lines *x = m->lines;
  const int rank = m->plan->wl->tensors[m->plan->slices[i].tensor].rank, ranks = rank ? rank : 1;
  const bool all = what == TF_LINES_UPDATE || !m->plan->slices[i].makes;
  int64_t *points = malloc((size_t)(to - from) * (size_t)ranks * sizeof *points);
  tf_lines_noted a = {.what = what, .i = i};
  tf_elements c = {.n_points = 0, .points = points};
  x->set.starved |= !points;
  for (int64_t k = from; k < to && points; k++) {
    if (!all && !x->step[k].reads) continue;
    for (int r = 0; r < ranks; r++) {
      const int64_t v = rank ? x->step[k].coords[r] : 0;
      points[c.n_points * ranks + r] = v;
      a.coords[r] = c.n_points && a.coords[r] < v ? a.coords[r] : v;
    }
    c.n_points++;
  }
  for (int k = 0; k < c.n_points * ranks; k++)
    points[k] -= a.coords[k % ranks];
  if (c.n_points) tf_line_log_add(m, &a, &c);
  free(points);
}

void tf_lines_step(struct tf_model *m, int i) {
  struct tf_lines *x = m->lines;
  if (x->n_step) qsort(x->step, (size_t)x->n_step, sizeof *x->step, by_server);
  for (int64_t from = 0, to = 0; from < x->n_step; from = to) {
    while (to < x->n_step && x->step[to].server == x->step[from].server)
      to++;
    note(m, i, TF_LINES_READ, from, to);
    if (m->plan->slices[i].makes) note(m, i, TF_LINES_UPDATE, from, to);
  }
  x->n_step = 0;
}

/* ---- time ----------------------------------------------------------------------------------- */

static tf_ports sum_of(tf_ports a, tf_ports b) {
  return (tf_ports){a.read + b.read, a.write + b.write};
}

static tf_ports busier(const tf_memory *mem, tf_ports a, tf_ports b) {
  if (mem->one_port) return tf_bank_time(mem, a) > tf_bank_time(mem, b) ? a : b;
  return (tf_ports){a.read > b.read ? a.read : b.read, a.write > b.write ? a.write : b.write};
}

static void add_slices(struct tf_model *m) {
  const tf_plan *p = m->plan;
  for (int i = 0; i < p->n_slices; i++) {
    const tf_flow k = tf_mean_flow(m, i, &m->lines->cycles[i]);
    tf_ports *up = &m->lines->below[m->views->up_pass[i]];
    *up = sum_of(*up, (tf_ports){k.read, k.update});
    if (m->views->own_pass[i] < 0) continue;
    tf_ports *own = &m->lines->below[m->views->own_pass[i]];
    *own = sum_of(*own, (tf_ports){k.drain, k.fill});
  }
}

static void fill_result(struct tf_model *m) {
  const tf_plan *p = m->plan;
  tf_lines_result *r = &m->lines->res;
  const int nt = p->wl->n_tensors;
  memset(r->counts, 0, (size_t)(p->arch->n_memories * nt) * sizeof *r->counts);
  for (int i = 0; i < p->n_slices; i++) {
    const tf_slice *s = &p->slices[i];
    const tf_move *v = &m->lines->moved[i];
    tf_counts *up = &r->counts[s->above * nt + s->tensor];
    m->lines->failed |= !add_checked(&up->read, v->read) || !add_checked(&up->update, v->update);
    if (s->leaf) continue;
    tf_counts *own = &r->counts[s->level * nt + s->tensor];
    m->lines->failed |= !add_checked(&own->fill, v->fill) || !add_checked(&own->drain, v->drain);
  }
  for (int l = 0; l < p->arch->n_memories; l++) {
    const int pass = tf_pass_of(m->views, 0, l);
    r->cycles[l] = pass < 0 ? 0 : tf_bank_time(&p->arch->memories[l], m->lines->below[pass]);
  }
}

void tf_lines_ports(struct tf_model *m) {
  struct tf_lines *x = m->lines;
  const tf_views *w = m->views;
  memset(x->below, 0, (size_t)w->n_passes * sizeof *x->below);
  memset(x->concurrent, 0, (size_t)w->n_passes * sizeof *x->concurrent);
  if (m->open) return;
  add_slices(m);
  for (int i = 0; i < w->n_passes; i++) {
    const tf_pass *k = &w->passes[i];
    x->below[i] = sum_of(x->below[i], x->concurrent[i]);
    if (k->up < 0) continue;
    if (k->own_instances)
      x->concurrent[k->up] =
          busier(&m->plan->arch->memories[k->level], x->concurrent[k->up], x->below[i]);
    else
      x->below[k->up] = sum_of(x->below[k->up], x->below[i]);
  }
  fill_result(m);
}
