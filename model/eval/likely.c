/* The probability that what a memory is expected to hold fits, and the expected time of the busiest
 * unit, and of the busiest expert (docs/SEMANTICS.md section 8). */
#include <math.h>
#include <stdlib.h>

#include "model/cost/zeros.h"
#include "model/input/dims.h"
#include "model/sparse/busiest.h"

/* Whether all that m-tiles hold of z are whole blocks of its density: their lengths are multiples,
 * and they begin at multiples. */
static bool in_blocks(const struct tf_model *m, int z) {
  const tf_plan *p = m->plan;
  const tf_density *d = &p->wl->tensors[z].density;
  bool whole = d->fall == TF_FALL_BLOCKS || d->fall == TF_FALL_TILES;
  for (int o = 0; o < p->wl->n_ops && whole; o++)
    for (int i = 0; i < p->wl->ops[o].n_reads; i++)
      for (int r = 0; r < p->wl->tensors[z].rank && p->wl->ops[o].reads[i].tensor == z; r++)
        whole &= p->wl->ops[o].reads[i].index[r].n_terms <= 1;
  for (int i = 0; i < p->n_tile_slices && whole; i++)
    for (int r = 0; r < p->wl->tensors[z].rank && p->slices[i].tensor == z; r++) {
      const int64_t side = d->fall == TF_FALL_TILES ? d->tile[r] : r == d->rank ? d->m : 1;
      whole &= m->rank_len[m->views->rank_at[i] + r] % side == 0;
    }
  return whole;
}

/* The most words of level l that are exceeded with probability `doubt` at most, which all tiles
 * held at once share. */
static int64_t words_but_for(struct tf_model *m, int l, double doubt) {
  m->doubt = doubt / (2 * (m->plan->n_tile_slices + m->plan->wl->n_tensors));
  const int64_t words = tf_likely_words(m, l), most = m->zeros->res.most[l];
  return words < most ? words : most;
}

/* The smallest doubts are given in steps of a half. */
enum { STEPS = 40 };

bool tf_model_fits(tf_model *of, double confidence, tf_fit *out) {
  struct tf_model *m = of->as_bare ? of->bare : of;
  const tf_plan *p = m->plan;
  bool *whole = m->zeros ? calloc((size_t)p->wl->n_tensors + 1, sizeof *whole) : NULL;
  if (!whole) return false;
  for (int z = 0; z < p->wl->n_tensors; z++)
    whole[z] = in_blocks(m, z);
  m->in_blocks = whole;
  for (int l = 0; l < p->arch->n_memories; l++) {
    const int64_t room = p->arch->memories[l].capacity_words;
    double doubt = 1;
    out[l].words = words_but_for(m, l, 1 - confidence);
    out[l].fits = room < 0 || m->zeros->res.most[l] <= room ? 1 : 0;
    for (int i = 0; i < STEPS && out[l].fits < 1 && words_but_for(m, l, doubt / 2) <= room; i++)
      doubt /= 2, out[l].fits = 1 - doubt;
  }
  m->in_blocks = NULL;
  free(whole);
  return true;
}

/* ---- the busiest unit ----------------------------------------------------------------------- */

/* The only read in the mask; -1: there are several. */
static int only_read(uint64_t reads) {
  int r = 0;
  while (!(reads >> r & 1))
    r++;
  return reads >> r == 1 ? r : -1;
}

/* Whether the op reads all of the tensor, each rank by a dim alone. */
static bool reads_all(const tf_workload *wl, const tf_ref *ref) {
  const tf_tensor *t = &wl->tensors[ref->tensor];
  bool all = true;
  for (int r = 0; r < t->rank; r++)
    all = all && ref->index[r].n_terms == 1 &&
          tf_index_is_dim(&ref->index[r], ref->index[r].terms[0].dim) &&
          wl->dims[ref->index[r].terms[0].dim].extent == t->extent[r];
  return all;
}

/* The number of parts into which spatial loops divide the tensor that the reference reads; 0: not
 * into whole blocks of its density, or not evenly. */
static double parts_of(const struct tf_model *m, int o, const tf_ref *ref) {
  const tf_plan *p = m->plan;
  const tf_tensor *t = &p->sparse->tensors[ref->tensor];
  const tf_density *d = &t->density;
  const tf_path *path = &p->path[p->tree->op_node[o]];
  double parts = 1;
  for (int k = 0; k < path->n; k++) {
    const int l = path->loops[k];
    if (p->loops[l].axis == TF_TEMPORAL || m->ev.trip[l] < 2) continue;
    for (int r = 0; r < t->rank; r++) {
      if (!tf_index_coef(&ref->index[r], p->loops[l].dim)) continue;
      const int64_t side = d->fall == TF_FALL_TILES                    ? d->tile[r]
                           : d->fall == TF_FALL_BLOCKS && r == d->rank ? d->m
                                                                       : 1;
      parts *= tf_step(&m->ev, p->tree->op_node[o], l) % side == 0 ? (double)m->ev.trip[l] : 0;
    }
  }
  return parts;
}

/* NAN: not known. */
static double busiest(const struct tf_model *m, int o) {
  const tf_plan *p = m->plan;
  const uint64_t on = m->zeros->point_voiders[o].reads[TF_LEFT_TIME];
  const int r = on ? only_read(on) : -1;
  if (m->zeros->tiles &&
      m->zeros->work[o].share[TF_LEFT_TIME] < m->zeros->own_work[o].share[TF_LEFT_TIME])
    return NAN;
  if (!on || m->zeros->work[o].share[TF_LEFT_TIME] >= 1) return 1;
  if (r < 0 || !m->quick || m->partial || !reads_all(p->wl, &p->wl->ops[o].reads[r])) return NAN;
  const tf_ref *ref = &p->wl->ops[o].reads[r];
  const tf_tensor *t = &p->sparse->tensors[ref->tensor];
  const tf_density *d = &t->density;
  const double parts = parts_of(m, o, ref), all = (double)tf_tensor_words(t),
               share = p->sparse->share[ref->tensor];
  double per = 1;
  for (int k = 0; k < t->rank && d->fall == TF_FALL_TILES; k++)
    per *= (double)d->tile[k];
  if (parts < 1 || (d->fall == TF_FALL_KNOWN && parts > 1)) return NAN;
  if (parts < 2 || d->fall == TF_FALL_BLOCKS || d->fall == TF_FALL_KNOWN) return 1;
  const tf_odds odds =
      tf_odds_of(d->fall == TF_FALL_GUESSED ? TF_ODDS_EACH : TF_ODDS_DRAWN, share, all / per);
  return tf_odds_busiest(&odds, parts, all / per / parts) / (share * all / per / parts);
}

bool tf_model_busiest(const tf_model *of, double *times) {
  const struct tf_model *m = tf_evaluated(of);
  for (int o = 0; m->zeros && o < m->plan->wl->n_ops; o++)
    times[o] = busiest(m, o);
  return m->zeros != NULL;
}

/* ---- experts ------------------------------------------------------------------------------- */
int64_t tf_model_routed(const tf_model *of, int o) {
  const struct tf_model *m = tf_evaluated(of);
  const tf_plan *p = m->plan;
  const tf_routing *routing = &p->wl->routing;
  const tf_path *path = &p->path[p->tree->op_node[o]];
  int64_t parts = 1, steps = 1;
  bool has = false;
  for (int k = 0; k < p->wl->ops[o].n_dims; k++)
    has |= p->wl->ops[o].dims[k] == routing->dim;
  if (!routing->experts || !has) return 0;
  for (int k = 0; k < path->n; k++) {
    const tf_ploop *l = &p->loops[path->loops[k]];
    if (l->dim != routing->dim) continue;
    steps *= m->ev.trip[path->loops[k]];
    if (l->axis != TF_TEMPORAL) parts *= m->ev.trip[path->loops[k]];
  }
  return steps == routing->experts && p->wl->dims[routing->dim].extent == steps ? parts : 0;
}

double tf_routing_busiest(const tf_routing *of, int64_t parts) {
  if (parts < 1 || of->experts % parts) return NAN;
  return tf_routed_busiest((double)of->tokens, (double)of->top, (double)of->experts, (double)parts);
}
