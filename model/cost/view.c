/* Gathers the lists of view.h from the plan. */
#include "model/cost/view.h"

#include <string.h>
enum { STEPS_COMPARED = 1 << 12 }; /* of a loop; a loop of more steps is taken to move the box */

static double ratio(const tf_plan *p, int tensor, int level) {
  return (double)p->wl->tensors[tensor].word_bits / p->arch->memories[level].word_bits;
}

/* The leg of view v for `level`, added if it is new.  v->legs has room for every level. */
static int leg_for(tf_view *v, int level, int from) {
  for (int i = from; i < v->n_legs; i++)
    if (v->legs[i].level == level) return i;
  v->legs[v->n_legs] = (tf_leg){level, -1};
  return v->n_legs++;
}

static bool fill_rows(tf_arena *a, const tf_plan *p, tf_view *v, int n) {
  const tf_path *path = &p->path[n];
  v->row_loop = TF_ARRAY(a, int, (size_t)path->n + 1);
  for (int k = path->n - 1; v->row_loop && k >= 0; k--)
    if (p->loops[path->loops[k]].axis == TF_TEMPORAL) v->row_loop[v->n_rows++] = path->loops[k];
  v->n_rows++;
  return v->row_loop != NULL;
}

static bool fill_tile(tf_arena *a, const tf_plan *p, tf_views *w, int n) {
  tf_view *v = &w->node[n];
  leg_for(v, p->tree->nodes[n].level, 0);
  for (int i = 0; i < p->n_tile_slices; i++) {
    if (p->slices[i].node != n) continue;
    v->first = v->n_slices++ ? v->first : i;
    w->leg[i] = leg_for(v, p->slices[i].above, 1);
  }
  return fill_rows(a, p, v, n);
}

static void fill_op(const tf_plan *p, tf_views *w, int n) {
  int o = p->tree->nodes[n].op;
  for (int i = 0; i <= p->wl->ops[o].n_reads; i++) {
    int s = p->op_slice[o] + i;
    w->leg[s] = leg_for(&w->node[n], p->slices[s].above, 0);
  }
}

static bool same_instance(const tf_plan *p, int n, int level) {
  int from = 0;
  for (int up = n; up >= 0; up = p->tree->nodes[up].parent)
    if (p->tree->nodes[up].kind == TF_TILE && p->tree->nodes[up].level > from)
      from = p->tree->nodes[up].level;
  for (int l = from + 1; l <= level; l++)
    if (p->arch->memories[l].mesh[0] * p->arch->memories[l].mesh[1] > 1) return false;
  return true;
}

static bool fill_shared(tf_arena *a, const tf_plan *p, tf_views *w) {
  int levels = w->n_memories = p->arch->n_memories;
  w->shared = TF_ARRAY(a, bool, (size_t)(p->tree->n_nodes * levels));
  for (int i = 0; w->shared && i < p->tree->n_nodes * levels; i++)
    w->shared[i] =
        p->tree->nodes[i / levels].kind == TF_SCOPE && same_instance(p, i / levels, i % levels);
  for (int n = 0; n < p->tree->n_nodes; n++)
    w->splits |= tf_plan_at_once(&p->tree->nodes[n]);
  return w->shared != NULL;
}

/* Writes a label: at most 40 bytes of the name, then `what`. */
static void label(tf_label to, const char *name, const char *what) {
  size_t n = strlen(name) < 40 ? strlen(name) : 40;
  memcpy(to, name, n);
  strcpy(to + n, what);
}

static bool fill_names(tf_arena *a, const tf_plan *p, tf_views *w) {
  const tf_arch *arch = p->arch;
  w->unit_name = TF_ARRAY(a, tf_label, (size_t)arch->n_units + 1);
  w->port_name = TF_ARRAY(a, tf_label, (size_t)arch->n_memories * 2);
  w->net_name = TF_ARRAY(a, tf_label, (size_t)arch->n_memories);
  if (!w->unit_name || !w->port_name || !w->net_name) return false;
  for (int l = 0; l < arch->n_memories; l++) {
    label(w->net_name[l], arch->memories[l].name, " network");
    w->networks |= arch->memories[l].topology != TF_NO_TOPOLOGY;
    w->peers |= arch->memories[l].peers;
  }
  for (int u = 0; u < arch->n_units; u++)
    label(w->unit_name[u], arch->units[u].name, " compute");
  for (int l = 0; l < 2 * arch->n_memories; l++)
    label(w->port_name[l], arch->memories[l / 2].name, l & 1 ? " write" : " read");
  return true;
}

static bool fill_paces(tf_arena *a, const tf_arch *arch, tf_views *w) {
  w->port_rate = TF_ARRAY(a, tf_port_rate, (size_t)arch->n_memories);
  for (int l = 0; w->port_rate && l < arch->n_memories; l++)
    w->port_rate[l] = (tf_port_rate){1 / arch->memories[l].read_bw, 1 / arch->memories[l].write_bw,
                                     arch->memories[l].one_port};
  return w->port_rate != NULL;
}

static bool fill_peaks(tf_arena *a, const tf_arch *arch, tf_views *w) {
  w->peak = TF_ARRAY(a, double, (size_t)arch->n_units + 1);
  for (int u = 0; w->peak && u < arch->n_units; u++) {
    const tf_unit *unit = &arch->units[u];
    w->peak[u] = (double)unit->mesh[0] * (double)unit->mesh[1] * unit->rate;
    for (int l = 1; l <= unit->below; l++)
      w->peak[u] *= (double)arch->memories[l].mesh[0] * (double)arch->memories[l].mesh[1];
  }
  return w->peak != NULL;
}

bool tf_mesh_serves(const tf_plan *p, int o, const tf_mesh *k) {
  int u = p->unit[o];
  return k->unit < 0 ? p->arch->units[u].below > k->level : u == k->unit;
}

/* The spatial loops of the mesh's level on the path to op o. */
static void mesh_path(const tf_plan *p, int o, tf_mesh *k) {
  const tf_path *path = &p->path[p->tree->op_node[o]];
  if (!tf_mesh_serves(p, o, k)) return;
  for (int j = 0; j < path->n; j++) {
    const tf_ploop *l = &p->loops[path->loops[j]];
    if (l->axis != TF_TEMPORAL && p->tree->nodes[l->node].level == k->level)
      k->loops[k->n_loops++] = path->loops[j];
  }
  k->loops[k->n_loops++] = -1;
}

static bool add_mesh(tf_arena *a, const tf_plan *p, tf_views *w, tf_mesh mesh) {
  tf_mesh *k = &w->meshes[w->n_meshes++];
  size_t most = 1;
  for (int o = 0; o < p->wl->n_ops; o++)
    most += (size_t)p->path[p->tree->op_node[o]].n + 1;
  *k = mesh;
  k->loops = TF_ARRAY(a, int, most);
  for (int o = 0; k->loops && o < p->wl->n_ops; o++)
    mesh_path(p, o, k);
  return k->loops != NULL;
}

static bool fill_meshes(tf_arena *a, const tf_plan *p, tf_views *w) {
  const tf_arch *arch = p->arch;
  w->meshes = TF_ARRAY(a, tf_mesh, (size_t)(arch->n_memories + arch->n_units));
  bool ok = w->meshes != NULL;
  for (int l = 0; l + 1 < arch->n_memories && ok; l++)
    ok = add_mesh(a, p, w, (tf_mesh){.level = l, .unit = -1, .mesh = arch->memories[l + 1].mesh});
  for (int u = 0; u < arch->n_units && ok; u++)
    ok = add_mesh(a, p, w,
                  (tf_mesh){.level = arch->units[u].below, .unit = u, .mesh = arch->units[u].mesh});
  return ok;
}

static bool add_arrays(tf_arena *a, const tf_plan *p, tf_views *w) {
  size_t slices = (size_t)p->n_slices + 1;
  w->node = TF_ARRAY(a, tf_view, (size_t)p->tree->n_nodes);
  w->leg = TF_ARRAY(a, int, slices);
  w->own = TF_ARRAY(a, double, slices);
  w->up = TF_ARRAY(a, double, slices);
  w->rank_at = TF_ARRAY(a, int, slices);
  w->entered_at = TF_ARRAY(a, int, slices);
  w->server = TF_ARRAY(a, int, slices + (size_t)p->wl->n_ops);
  w->ratio = TF_ARRAY(a, double, (size_t)(p->arch->n_memories * p->wl->n_tensors));
  w->part = TF_ARRAY(a, const tf_mem_part *, slices);
  w->at_home = TF_ARRAY(a, const tf_mem_part *, (size_t)p->wl->n_tensors + 1);
  return w->node && w->leg && w->own && w->up && w->rank_at && w->entered_at && w->server &&
         w->ratio && w->part && w->at_home;
}

double tf_kept_words(const tf_plan *p, int tensor, int level) {
  const tf_packed *k = p->sparse ? &p->sparse->packed[level * p->wl->n_tensors + tensor] : NULL;
  if (!k || !k->format) return ratio(p, tensor, level);
  return (k->stored * p->wl->tensors[tensor].word_bits + k->bits) /
         p->arch->memories[level].word_bits;
}

static void fill_ratios(const tf_plan *p, tf_views *w) {
  for (int l = 0; l < p->arch->n_memories; l++)
    for (int z = 0; z < p->wl->n_tensors; z++)
      w->ratio[l * p->wl->n_tensors + z] = ratio(p, z, l);
  for (int i = 0; i < p->n_slices; i++) {
    const tf_slice *s = &p->slices[i];
    w->up[i] = tf_kept_words(p, s->tensor, s->above);
    w->own[i] = s->leaf ? 0 : tf_kept_words(p, s->tensor, s->level);
  }
}

/* Finds which parts of memories hold which tensors. */
static void fill_parts(const tf_plan *p, tf_views *w) {
  for (int l = 0; l < p->arch->n_memories; l++)
    w->parts |= p->arch->memories[l].parts.n > 0;
  if (!w->parts) return;
  for (int i = 0; i < p->n_tile_slices; i++) {
    const tf_slice *s = &p->slices[i];
    w->part[i] =
        tf_part_for(&p->arch->memories[s->level], tf_role_below(p->facts, s->node, s->tensor));
  }
  for (int z = 0; z < p->wl->n_tensors; z++)
    w->at_home[z] =
        tf_part_for(&p->arch->memories[p->home_level[z]], tf_role_below(p->facts, 0, z));
}

/* Finds the loops whose instances share what enters a slice.  Retention makes runs differ, but not
 * the instances of a loop that moves nothing: so it is ignored here, as if it were known that
 * nothing is reused (model/eval/bare.c). */
static bool fill_shares(tf_arena *a, const tf_plan *p, tf_views *w) {
  w->shares = TF_ARRAY(a, uint64_t, (size_t)p->n_slices + 1);
  w->pulled = TF_ARRAY(a, uint64_t, (size_t)p->n_slices + 1);
  for (int i = 0; w->shares && w->pulled && i < p->n_slices; i++) {
    const tf_slice *s = &p->slices[i];
    w->shares[i] = s->merge;
    for (uint64_t left = s->merge; left; left &= left - 1)
      for (int r = 0; r < p->wl->tensors[s->tensor].rank; r++) {
        const int k = __builtin_ctzll(left);
        if (tf_slice_moved(p, s, r, k)) w->shares[i] &= ~(left & -left);
        if (tf_slice_pulled(p, s, r, k)) w->pulled[i] |= left & -left;
      }
  }
  return w->shares && w->pulled;
}

/* Whether all steps of loop l need the same box of slice s. */
static bool keeps_box(const tf_eval *ev, const tf_slice *s, int l, int64_t *digit) {
  bool same = ev->trip[l] <= STEPS_COMPARED;
  memset(digit, 0, (size_t)ev->plan->n_loops * sizeof *digit);
  for (int r = 0; same && r < ev->plan->wl->tensors[s->tensor].rank; r++) {
    const tf_ival first = tf_slice_rank(ev, s, r, digit);
    for (digit[l] = 1; same && digit[l] < ev->trip[l]; digit[l]++) {
      const tf_ival one = tf_slice_rank(ev, s, r, digit);
      same = one.lo == first.lo && one.len == first.len;
    }
    digit[l] = 0;
  }
  return same;
}

uint64_t tf_shares_of(const tf_eval *ev, const tf_views *w, int i, int64_t *digit) {
  const tf_slice *s = &ev->plan->slices[i];
  uint64_t shares = w->shares[i];
  for (uint64_t left = w->pulled[i]; left; left &= left - 1) {
    const int l = ev->plan->path[s->node].loops[__builtin_ctzll(left)];
    if (keeps_box(ev, s, l, digit)) shares |= left & -left;
  }
  return shares;
}

tf_views *tf_views_new(tf_arena *a, const tf_plan *p) {
  tf_views *w = TF_NEW(a, tf_views);
  if (!w || !add_arrays(a, p, w) || !fill_shared(a, p, w) || !fill_names(a, p, w) ||
      !fill_peaks(a, p->arch, w) || !fill_paces(a, p->arch, w) || !fill_meshes(a, p, w))
    return NULL;
  if (w->networks && !fill_shares(a, p, w)) return NULL;
  for (int i = 0; i < p->n_tile_slices; i++) {
    w->rank_at[i] = w->n_ranks;
    w->n_ranks += p->wl->tensors[p->slices[i].tensor].rank;
  }
  fill_ratios(p, w);
  fill_parts(p, w);
  for (int i = 0; i < p->n_slices + p->wl->n_ops; i++) {
    const tf_slice *s = tf_slice_at(p, i);
    w->server[i] = s->node < 0 ? -1 : tf_plan_mtile(p, s->node, s->above);
  }
  for (int n = 0; n < p->tree->n_nodes; n++) {
    tf_view *v = &w->node[n];
    if (p->tree->nodes[n].kind == TF_SCOPE) continue;
    v->legs = TF_ARRAY(a, tf_leg, (size_t)p->arch->n_memories + 1);
    if (!v->legs) return NULL;
    if (p->tree->nodes[n].kind == TF_OP)
      fill_op(p, w, n);
    else if (!fill_tile(a, p, w, n))
      return NULL;
    v->cell = w->n_cells;
    v->row = w->n_rows;
    v->leg = w->n_legs;
    w->n_legs += v->n_legs;
    w->n_cells += v->n_rows * v->n_legs;
    w->n_rows += v->n_rows;
  }
  for (int i = 0; i < p->n_tile_slices; i++) {
    w->entered_at[i] = w->n_entered;
    w->n_entered += w->node[p->slices[i].node].n_rows + 1;
  }
  return tf_passes_fill(a, p, w) ? w : NULL;
}
