/* Lower bounds on all completions of the choices made so far. */
#include <math.h>
#include <string.h>

#include "search/common/complete.h"
#include "search/common/objective.h"
#include "search/exact/state.h"

/* ---- bounds ---------------------------------------------------------------------------------- */
static double fill(tf_x_worker *w, const int64_t mesh[2], const int32_t *len, int n) {
  uint64_t h = TF_HASH_START;
  h = tf_hash(h, mesh, 2 * sizeof *mesh);
  h = tf_hash(h, len, (size_t)n * sizeof *len);
  tf_x_memo *m = &w->memos[h % TF_X_MEMO];
  if (m->n != n + 1 || m->mesh[0] != mesh[0] || m->mesh[1] != mesh[1] ||
      memcmp(m->len, len, (size_t)n * sizeof *len) != 0) {
    m->n = n + 1;
    m->mesh[0] = mesh[0], m->mesh[1] = mesh[1];
    memcpy(m->len, len, (size_t)n * sizeof *len);
    m->fill = tf_x_fill(mesh, len, n);
  }
  return m->fill;
}

/* The most units that op o can get once Tiles 0 .. stage are chosen: those chosen, times those that
 * the remaining lengths can fill at the other Tiles on its path. */
double tf_x_most_units(tf_x_worker *w, int o, int stage, const tf_x_state *s) {
  const tf_x_template *t = w->t;
  const tf_facts *f = t->facts;
  int32_t len[TF_X_DIMS];
  double units = 1;
  int n = 0;
  for (int p = t->tree->op_node[o]; p >= 0; p = t->tree->nodes[p].parent)
    for (int k = 0; t->tree->nodes[p].kind == TF_TILE && k < t->tree->nodes[p].n_loops; k++)
      if (t->tree->nodes[p].loops[k].axis != TF_TEMPORAL)
        units *= (double)s->trips[f->loop_from[p] + k];
  for (int i = 0; i < f->wl->ops[o].n_dims; i++)
    if (t->rest[o][i] >= 0 && n < TF_X_DIMS) len[n++] = (int32_t)s->trips[t->rest[o][i]];
  for (int k = 0; k < t->n_paths[o]; k++) {
    const tf_x_tile *x = &t->tiles[t->path[o][k]];
    if (t->path[o][k] > stage && (x->mesh[0] > 1 || x->mesh[1] > 1))
      units *= fill(w, x->mesh, len, n);
  }
  return units;
}

double tf_x_all_units(const tf_x_worker *w, int u, int stage, const tf_x_state *s) {
  const tf_x_template *t = w->t;
  const tf_arch *arch = t->facts->arch;
  const tf_unit *unit = &arch->units[u];
  double all = (double)(unit->mesh[0] * unit->mesh[1]);
  for (int l = 1; l <= unit->below; l++) {
    double here = (double)(arch->memories[l].mesh[0] * arch->memories[l].mesh[1]);
    if (l < t->shape.shared &&
        l - 1 <= stage) { /* chosen, and above the scope's Tile: its children share its instances */
      const tf_x_tile *x = &t->tiles[l - 1];
      here = 1;
      for (int a = 0; a < 2; a++)
        for (int i = 0; i < x->n_dims; i++)
          if (x->spatial[a][i] >= 0) here *= (double)s->trips[x->spatial[a][i]];
    }
    all *= here;
  }
  return all;
}

double tf_x_bound_of(const tf_x_worker *w, const tf_result *r) {
  const tf_arch *arch = w->t->facts->arch;
  const tf_bounds *b = w->task->floor;
  tf_figures f = tf_figures_of(arch, w->t->facts->wl, r);
  f.cycles = fmax(f.cycles, b->cycles);
  f.energy_pj += w->open_pj + (f.cycles - r->cycles) * tf_arch_leakage(arch);
  f.energy_pj = fmax(f.energy_pj, b->energy_pj);
  f.traffic_words = fmax(f.traffic_words, (double)b->traffic_words);
  f.edp = f.energy_pj * f.cycles / arch->clock_hz;
  if (!tf_x_meets_tie(w, &f)) return INFINITY;
  return tf_objective_value(w->task->opts->objective, &f);
}

bool tf_x_meets_tie(const tf_x_worker *w, const tf_figures *f) {
  const tf_x_side_condition *tie = w->task->tie;
  return !tie || tf_objective_value(tie->goal, f) <= tie->limit * (1 + 1e-12);
}

/* Whether a bound is below the limit by more than rounding. */
bool tf_x_below_limit(const tf_x_worker *w, double bound) {
  return bound < w->task->limit * (1 - 1e-12);
}

void tf_x_note_capacity(tf_x_worker *w, int level, int64_t need) {
  tf_solve_level *l = &w->task->counts.level[level];
  l->pruned++;
  if (need < l->least) l->least = need;
}

/* Whether the parts of memory l have room. */
static bool parts_fit(const tf_memory *m, const tf_level_result *r) {
  for (int i = 0; i < m->parts.n; i++)
    if (r->parts[i].peak > m->parts.list[i].capacity_words) return false;
  return true;
}

/* Whether the decided part fits.  The peak of a settled memory is the same in every completion; the
 * words of a closed m-tile count towards its memory. */
bool tf_x_fits(tf_x_worker *w, const tf_x_tile *x, const tf_result *r) {
  const tf_arch *arch = w->t->facts->arch;
  for (int l = 0; l < arch->n_memories; l++) {
    int64_t have = arch->memories[l].capacity_words;
    if (have < 0 || !x->settled[l]) continue;
    const bool room = r->levels[l].peak <= have;
    if (room && parts_fit(&arch->memories[l], &r->levels[l])) continue;
    tf_x_note_capacity(w, l, room ? INT64_MAX : r->levels[l].peak);
    return false;
  }
  return true;
}
