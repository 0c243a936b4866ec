/* Capacity checks, cycles and energy as a branch-free program: resource.c, ports.c, latency.c and
 * energy.c, value for value.  Whether branches that run at once fit side by side on a mesh is
 * checked row by row instead. */
#include "model/cost/access.h"
#include "model/cost/quick/lanes.h"
#include "model/cost/zeros.h"

static const tf_tape_op A = TF_T_ADD, M = TF_T_MUL;
static const tf_tape_op FA = TF_T_FADD, FS = TF_T_FSUB, FM = TF_T_FMUL, FD = TF_T_FDIV;

static int more(tf_lanes *w, int a, int b) { return tf_l(w, TF_T_FMAX, a, b); }

/* ---- words held, instances used -------------------------------------------------------------- */

static int bits_of(tf_lanes *w, int level, int z, int words) {
  const int width = w->p->wl->tensors[z].word_bits;
  if (w->part && w->part->word_bits > width)
    return tf_l(w, M, words, tf_l_int(w, w->part->word_bits));
  if (!w->kept) return tf_l(w, M, words, tf_l_int(w, width));
  const int64_t held = w->p->sparse->packed[level * w->p->wl->n_tensors + z].held;
  const int bits = tf_l(w, A, tf_l(w, M, words, tf_l_int(w, held)), tf_l_int(w, TF_HELD_ONE - 1));
  const double most = 0x1p52 / (double)held; /* so that the quotient is exact */
  tf_l_must(w, tf_l(w, TF_T_BELOW, tf_l_to(w, words), tf_l_real(w, most)));
  return tf_l(w, TF_T_DIV, bits, tf_l_int(w, TF_HELD_ONE));
}

static int times(const tf_lanes *w, int level) {
  return w->p->arch->memories[level].double_buffered || (w->part && w->part->double_buffered) ? 2
                                                                                              : 1;
}

static bool has_slice(const tf_lanes *w, int i) {
  return !w->part || w->m->views->part[i] == w->part;
}
static bool has_home(const tf_lanes *w, int z) {
  return !w->part || w->m->views->at_home[z] == w->part;
}

/* The most words of a tensor that one instance holds at a level. */
static int peak_of(tf_lanes *w, int level, int z) {
  int most = w->p->home_level[z] == level ? w->home_words[z] : tf_l_int(w, 0);
  for (int i = 0; i < w->p->n_tile_slices; i++)
    if (w->p->slices[i].level == level && w->p->slices[i].tensor == z)
      most = tf_l(w, TF_T_MAX, w->box[i], most);
  return most;
}

/* Bits at home at `level` in node n; below: of the scopes from there down. */
static int homes(tf_lanes *w, int n, int level, bool below) {
  int bits = tf_l_int(w, 0);
  for (int z = 0; z < w->p->wl->n_tensors; z++) {
    int home = w->p->home_scope[z];
    if (home >= 0 && w->p->home_level[z] == level && has_home(w, z) &&
        (below ? tf_plan_above(w->p, n, home) : home == n))
      bits = tf_l(w, A, bits, bits_of(w, level, z, peak_of(w, level, z)));
  }
  return bits;
}

/* Words of tensor z that Shar's children would count twice: the sum of their boxes minus the
 * hull. */
static int twice_of(tf_lanes *w, const tf_node *n, int level, int z) {
  const tf_plan *p = w->p;
  int sum = tf_l_int(w, 0), box = tf_l_int(w, 1), rank = p->wl->tensors[z].rank, holders = 0,
      len[TF_MAX_RANK];
  for (int r = 0; r < rank; r++)
    len[r] = tf_l_int(w, 0);
  for (int c = 0; c < n->n_children; c++) {
    int most = tf_l_int(w, 0);
    bool holds = false;
    for (int i = 0; i < p->n_tile_slices; i++) {
      const tf_slice *s = &p->slices[i];
      if (s->tensor != z || s->level != level || !tf_plan_above(p, n->children[c], s->node))
        continue;
      if (!has_slice(w, i)) continue;
      for (int r = 0; r < rank; r++)
        len[r] = tf_l(w, TF_T_MAX, len[r], w->rank_len[w->m->views->rank_at[i] + r]);
      most = tf_l(w, TF_T_MAX, most, w->box[i]);
      holds = true;
    }
    holders += holds;
    sum = tf_l(w, A, sum, most);
  }
  int all = tf_l_real(w, 1);
  for (int r = 0; r < rank && holders > 1; r++) {
    box = tf_l(w, M, box, len[r]);
    all = tf_l(w, FM, all, tf_l_to(w, len[r]));
  }
  if (holders < 2) return tf_l_int(w, 0);
  tf_l_must(w, tf_l(w, TF_T_BELOW, all, tf_l_real(w, TF_LANE_MOST)));
  return tf_l(w, TF_T_SUB, sum, box);
}

/* Bits that one instance of memory `level` must hold for node n. */
static int need(tf_lanes *w, int n, int level) {
  const tf_node *node = &w->p->tree->nodes[n];
  int total = tf_l_int(w, 0), twice = tf_l_int(w, times(w, level));
  if (node->kind == TF_OP || (node->kind == TF_TILE && node->level > level)) return total;
  if (node->kind == TF_TILE && node->level == level) {
    const tf_view *v = &w->m->views->node[n];
    for (int i = v->first; i < v->first + v->n_slices; i++)
      if (has_slice(w, i))
        total = tf_l(w, A, total, bits_of(w, level, w->p->slices[i].tensor, w->box[i]));
    return tf_l(w, A, homes(w, n, level, true), tf_l(w, M, total, twice));
  }
  const tf_scope_held words =
      node->kind == TF_SCOPE ? tf_scope_at(node->scope)->words : TF_HELD_MAX;
  const bool sums =
      words == TF_HELD_UNION || (words == TF_HELD_SUM && tf_shared_instance(w->m->views, n, level));
  for (int c = 0; c < node->n_children; c++)
    total = tf_l(w, sums ? A : TF_T_MAX, total, need(w, node->children[c], level));
  for (int z = 0; z < w->p->wl->n_tensors && words == TF_HELD_UNION; z++)
    total = tf_l(w, TF_T_SUB, total,
                 tf_l(w, M, bits_of(w, level, z, twice_of(w, node, level, z)), twice));
  return node->kind == TF_SCOPE ? tf_l(w, A, total, homes(w, n, level, false)) : total;
}

static void within(tf_lanes *w, int a, int64_t most) {
  w->fits = tf_l(w, TF_T_AND, w->fits, tf_l(w, TF_T_GT, tf_l_int(w, most), a));
}

/* Bits that one instance of the memory must hold. */
static int level_bits(tf_lanes *w, int level) {
  int bits = need(w, 0, level);
  for (int z = 0; z < w->p->wl->n_tensors; z++) /* inputs and outputs are held throughout */
    if (w->p->home_scope[z] < 0 && w->p->home_level[z] == level && has_home(w, z))
      bits = tf_l(w, A, bits, bits_of(w, level, z, w->home_words[z]));
  return bits;
}

/* Requires what a memory, or w->part of it, must hold to fit. */
static void capacity(tf_lanes *w, int level, int64_t words) {
  int64_t most; /* bits that fit; where that overflows, more than any tree counted here can need */
  if (words < 0 || __builtin_mul_overflow(words, w->p->arch->memories[level].word_bits, &most) ||
      most == INT64_MAX)
    return;
  w->kept = w->m->zeros != NULL;
  within(w, level_bits(w, level), most + 1);
  w->kept = false;
}

static void capacities(tf_lanes *w, int level) {
  const tf_memory *mem = &w->p->arch->memories[level];
  w->need[level] = level_bits(w, level);
  capacity(w, level, mem->capacity_words);
  for (int i = 0; i < mem->parts.n; i++) {
    w->part = &mem->parts.list[i];
    capacity(w, level, w->part->capacity_words);
    w->part = NULL;
  }
}

/* Requires the loops of every path to fit the mesh. */
static void mesh(tf_lanes *w, const tf_mesh *k) {
  int use[2] = {tf_l_int(w, 1), tf_l_int(w, 1)};
  for (int i = 0; i < k->n_loops; i++) {
    int l = k->loops[i];
    bool y = l >= 0 && w->p->loops[l].axis == TF_SPATIAL_Y;
    if (l >= 0) {
      use[y] = tf_l(w, M, use[y], l);
      continue;
    }
    for (int a = 0; a < 2; a++) {
      if (k->mesh[a] < INT64_MAX) within(w, use[a], k->mesh[a] + 1);
      use[a] = tf_l_int(w, 1);
    }
  }
}

void tf_lanes_fits(tf_lanes *w) {
  for (int l = 0; l < w->p->arch->n_memories; l++)
    capacities(w, l);
  for (int i = 0; i < w->m->views->n_meshes && !w->m->views->splits; i++)
    mesh(w, &w->m->views->meshes[i]);
}

/* ---- ports ---------------------------------------------------------------------------------- */

static void add_real(tf_lanes *w, int *to, int count, double by) {
  *to = tf_l(w, FA, *to, tf_l(w, FM, count, tf_l_real(w, by)));
}

static void add_scaled(tf_lanes *w, int *to, int count, double by) {
  *to = tf_l(w, FA, *to, tf_l(w, FM, tf_l_to(w, count), tf_l_real(w, by)));
}

/* The instances in use at once. */
static void instances(tf_lanes *w) {
  const tf_views *v = w->m->views;
  for (int i = 0; i < v->n_passes; i++)
    w->in_use[i] = tf_l_int(w, 0);
  for (int i = 0; i < v->n_passes; i++) {
    const tf_pass *k = &v->passes[i];
    if (k->from >= 0) w->in_use[i] = w->width[k->from];
    if (k->up >= 0)
      w->in_use[k->up] = tf_l(w, k->own_instances ? A : TF_T_MAX, w->in_use[k->up], w->in_use[i]);
  }
}

/* tf_left_reads. */
static int left_reads(tf_lanes *w, const tf_left *left, int read, int update) {
  const int first = tf_l(w, FM, tf_l(w, FS, update, read), tf_l_real(w, left->first));
  return more(w, tf_l(w, FS, tf_l(w, FM, update, tf_l_real(w, left->update)), first), w->zero);
}

/* tf_zeros_take. */
static void take_zeros(tf_lanes *w) {
  for (int i = w->p->n_tile_slices; i < w->p->n_slices && w->m->zeros; i++) {
    const tf_left *left = &tf_zeros_left(w->m, i)->left[TF_LEFT_TIME];
    tf_lane_move *v = &w->flows[i];
    v->read = w->p->slices[i].makes ? left_reads(w, left, v->read, v->update)
                                    : tf_l(w, FM, v->read, tf_l_real(w, left->read));
    v->update = tf_l(w, FM, v->update, tf_l_real(w, left->update));
  }
}

static tf_lane_ports both(tf_lanes *w, tf_lane_ports a, tf_lane_ports b) {
  return (tf_lane_ports){tf_l(w, FA, a.read, b.read), tf_l(w, FA, a.write, b.write)};
}

/* The busier of two instances at once: of each port, or of the one that reads and writes share. */
static tf_lane_ports busier(tf_lanes *w, const tf_memory *mem, tf_lane_ports a, tf_lane_ports b) {
  if (!mem->one_port) return (tf_lane_ports){more(w, a.read, b.read), more(w, a.write, b.write)};
  const int first = tf_l(w, TF_T_BELOW, tf_l(w, FA, b.read, b.write), tf_l(w, FA, a.read, a.write));
  return (tf_lane_ports){tf_l_sel(w, first, a.read, b.read), tf_l_sel(w, first, a.write, b.write)};
}

static void ports(tf_lanes *w) {
  const tf_views *v = w->m->views;
  take_zeros(w);
  for (int i = 0; i < v->n_passes; i++)
    w->below[i] = w->concurrent[i] = (tf_lane_ports){w->zero, w->zero};
  for (int i = 0; i < w->p->n_slices; i++) {
    tf_lane_ports *up = &w->below[v->up_pass[i]];
    add_real(w, &up->read, w->flows[i].read, v->up[i]);
    add_real(w, &up->write, w->flows[i].update, v->up[i]);
    if (v->own_pass[i] < 0) continue;
    tf_lane_ports *own = &w->below[v->own_pass[i]];
    add_real(w, &own->read, w->flows[i].drain, v->own[i]);
    add_real(w, &own->write, w->flows[i].fill, v->own[i]);
  }
  for (int i = 0; i < v->n_passes; i++) {
    const tf_pass *k = &v->passes[i];
    w->below[i] = both(w, w->below[i], w->concurrent[i]);
    if (k->up < 0) continue;
    if (k->own_instances)
      w->concurrent[k->up] =
          busier(w, &w->p->arch->memories[k->level], w->concurrent[k->up], w->below[i]);
    else
      w->below[k->up] = both(w, w->below[k->up], w->below[i]);
  }
}

/* The time that a pass needs for the words of both ports. */
static int port_time(tf_lanes *w, int pass, tf_lane_ports by) {
  const tf_memory *mem = &w->p->arch->memories[w->m->views->passes[pass].level];
  int read = tf_l(w, FM, by.read, tf_l_real(w, 1 / mem->read_bw));
  int write = tf_l(w, FM, by.write, tf_l_real(w, 1 / mem->write_bw));
  return mem->one_port ? tf_l(w, FA, read, write) : more(w, read, write);
}

/* Words of a pass, less those that have passed before the m-tile `first` begins. */
static tf_lane_ports left_of(tf_lanes *w, int pass, int first) {
  tf_lane_ports p = w->below[pass];
  const tf_view *v = first < 0 ? NULL : &w->m->views->node[first];
  for (int l = 0; v && l < v->n_legs; l++) {
    if (v->legs[l].level != w->m->views->passes[pass].level) continue;
    p.read = tf_l(w, FS, p.read, w->hidden[v->leg + l].read);
    p.write = tf_l(w, FS, p.write, w->hidden[v->leg + l].write);
  }
  return p;
}

static int busiest(tf_lanes *w, int n, bool all, int first) {
  const tf_view *v = &w->m->views->node[n];
  int t = w->zero;
  for (int i = v->first_pass; i < v->first_pass + v->n_passes; i++)
    if (w->m->views->passes[i].binds || all) t = more(w, port_time(w, i, left_of(w, i, first)), t);
  return t;
}

/* ---- latency -------------------------------------------------------------------------------- */

static int op_time(tf_lanes *w, int n) {
  int o = w->p->tree->nodes[n].op;
  const tf_unit *unit = &w->p->arch->units[w->p->unit[o]];
  int pace = tf_l(w, FM, tf_l_to(w, w->width[n]), tf_l_real(w, unit->rate));
  int work = tf_l(w, FD, tf_l_to(w, tf_l(w, M, w->steps[n], w->width[n])), pace);
  if (w->m->zeros) work = tf_l(w, FM, work, tf_l_real(w, tf_zeros_work(w->m, o, TF_LEFT_TIME)));
  int t = more(w, work, busiest(w, n, true, -1));
  return w->p->arch->overlap == TF_OVERLAP_PERFECT ? t
                                                   : tf_l(w, FA, t, tf_l_real(w, unit->pipeline));
}

static tf_lane_ports entries(tf_lanes *w, const tf_view *v, int leg) {
  const tf_views *all = w->m->views;
  tf_lane_ports sum = {w->zero, w->zero};
  for (int i = v->first; i < v->first + v->n_slices; i++) {
    if (leg && all->leg[i] != leg) continue;
    add_real(w, &sum.read, leg ? w->flows[i].read : w->flows[i].drain,
             leg ? all->up[i] : all->own[i]);
    add_real(w, &sum.write, leg ? w->flows[i].update : w->flows[i].fill,
             leg ? all->up[i] : all->own[i]);
  }
  return sum;
}

static tf_lane_ports loads(tf_lanes *w, tf_lane_ports p, int leg) {
  return leg ? (tf_lane_ports){p.read, w->zero} : (tf_lane_ports){w->zero, p.write};
}

static tf_lane_ports stores(tf_lanes *w, tf_lane_ports p, int leg) { return loads(w, p, !leg); }

static int in_turn(tf_lanes *w, int n) {
  const tf_view *v = &w->m->views->node[n];
  int load = w->zero, store = w->zero;
  for (int l = 0; l < v->n_legs; l++) {
    tf_lane_ports p = entries(w, v, l);
    load = more(w, load, port_time(w, v->legs[l].pass, loads(w, p, l)));
    store = more(w, store, port_time(w, v->legs[l].pass, stores(w, p, l)));
  }
  return tf_l(w, FA, load, store);
}

static int free_time(tf_lanes *w, int before, const tf_view *f, int l) {
  const tf_views *all = w->m->views;
  const int last = w->overlaps[before].last, room = w->overlaps[before].room;
  if (last < 0) return w->zero;
  int level = f->legs[l].level, child = tf_pass_of(all, w->p->tree->nodes[last].children[0], level);
  int own = tf_pass_of(all, last, level);
  const tf_view *v = &all->node[last];
  if (own < 0) return room;
  tf_lane_ports p = child < 0 ? (tf_lane_ports){w->zero, w->zero} : w->below[child];
  for (int k = 0; k < v->n_legs; k++)
    if (v->legs[k].level == level) {
      tf_lane_ports passed = stores(w, entries(w, v, k), k);
      p.read = tf_l(w, FA, p.read, passed.read);
      p.write = tf_l(w, FA, p.write, passed.write);
    }
  if (!w->p->arch->memories[level].one_port) p = loads(w, p, l);
  int busy = tf_l(w, FD, port_time(w, own, p), tf_l_to(w, w->steps[last]));
  return more(w, tf_l(w, FS, room, busy), w->zero);
}

/* The exposed time of Tile f's first load after the end of the previous node; -1: all. */
static int first_load(tf_lanes *w, int f, int before) {
  const tf_view *v = &w->m->views->node[f];
  int left = w->zero;
  for (int l = 0; l < v->n_legs; l++) {
    tf_lane_ports p = loads(w, w->cells[v->cell + (v->n_rows - 1) * v->n_legs + l], l);
    int load = port_time(w, v->legs[l].pass, p), share = w->zero;
    if (before >= 0) {
      int free = free_time(w, before, v, l), some = tf_l(w, TF_T_BELOW, free, load);
      share = tf_l_sel(w, some, tf_l(w, FD, free, load), tf_l_real(w, 1));
      load = tf_l(w, FS, load, tf_l_sel(w, some, free, load));
    }
    w->hidden[v->leg + l] =
        (tf_lane_ports){tf_l(w, FM, share, p.read), tf_l(w, FM, share, p.write)};
    left = more(w, left, load);
  }
  return left;
}

static int stepwise(tf_lanes *w, int n, int child, int before) {
  const tf_view *v = &w->m->views->node[n];
  const int *steps = &w->class_steps[v->row];
  int work = tf_l(w, FD, child, tf_l_to(w, w->steps[n])), total = w->zero, store = w->zero;
  for (int j = 0; j < v->n_rows - 1; j++) {
    int t = tf_l(w, FM, steps[j], work);
    for (int l = 0; l < v->n_legs; l++)
      t = more(w, t, port_time(w, v->legs[l].pass, w->cells[v->cell + j * v->n_legs + l]));
    total = tf_l(w, FA, total, t);
  }
  const tf_lane_ports *first = &w->cells[v->cell + (v->n_rows - 1) * v->n_legs];
  for (int l = 0; l < v->n_legs; l++)
    store = more(w, store, port_time(w, v->legs[l].pass, stores(w, first[l], l)));
  w->overlaps[n] = (tf_lane_overlapping){n, n, work};
  return tf_l(w, FA, tf_l(w, FA, tf_l(w, FA, total, first_load(w, n, before)), work), store);
}

/* The network wait of a Tile in one step, if it moves any words. */
static int wait_of(tf_lanes *w, int n) {
  const tf_view *v = &w->m->views->node[n];
  const tf_memory *mem = &w->p->arch->memories[w->p->tree->nodes[n].level];
  int any = tf_l_int(w, 0), none = tf_l_int(w, 0);
  for (int i = v->first; i < v->first + v->n_slices; i++) {
    any = tf_l(w, TF_T_OR, any, tf_l(w, TF_T_GT, w->moves[i].fill, none));
    any = tf_l(w, TF_T_OR, any, tf_l(w, TF_T_GT, w->moves[i].drain, none));
  }
  return tf_l_sel(w, any, tf_l_real(w, mem->latency + mem->issue), w->zero);
}

static int node_time(tf_lanes *w, int n, int before);

static int tile_time(tf_lanes *w, int n, int before) {
  const tf_arch *a = w->p->arch;
  const bool passes = !w->m->views->node[n].n_slices || a->overlap == TF_OVERLAP_PERFECT;
  int child = node_time(w, n + 1, passes ? before : -1), time = child;
  if (passes) {
    w->overlaps[n] = w->overlaps[n + 1];
  } else {
    int wait = wait_of(w, n);
    time = a->overlap != TF_OVERLAP_NONE ? tf_l(w, FA, stepwise(w, n, child, before), wait)
                                         : tf_l(w, FA, tf_l(w, FA, child, in_turn(w, n)),
                                                tf_l(w, FM, wait, tf_l_to(w, w->steps[n])));
  }
  int all = more(w, time, busiest(w, n, false, before < 0 ? -1 : w->overlaps[n].first));
  w->overlaps[n].room = tf_l(w, FA, w->overlaps[n].room, tf_l(w, FS, all, time));
  return all;
}

static int in_order(tf_lanes *w, int n, int before) {
  const tf_node *t = &w->p->tree->nodes[n];
  const int outer = before;
  int sum = w->zero;
  bool may_hide = false;
  for (int c = 0; c < t->n_children; c++) {
    const int child = t->children[c];
    sum = tf_l(w, FA, sum, node_time(w, child, before));
    may_hide |= before != outer && w->overlaps[child].first >= 0 && w->overlaps[before].last >= 0;
    if (w->m->by_steps) before = child;
  }
  const tf_lane_overlapping first = w->overlaps[t->children[0]],
                            last = w->overlaps[t->children[t->n_children - 1]];
  int all = more(w, sum, busiest(w, n, may_hide, outer < 0 ? -1 : first.first));
  w->overlaps[n] =
      (tf_lane_overlapping){first.first, last.last, tf_l(w, FA, last.room, tf_l(w, FS, all, sum))};
  return all;
}

static int at_once(tf_lanes *w, int n) {
  const tf_node *t = &w->p->tree->nodes[n];
  int sum = w->zero, most = w->zero;
  for (int c = 0; c < t->n_children; c++) {
    const int k = node_time(w, t->children[c], -1);
    sum = tf_l(w, FA, sum, k);
    most = more(w, k, most);
  }
  int time = most;
  if (tf_scope_at(t->scope)->time == TF_TAKES_STAGES)
    time = tf_l(w, FA, most, tf_l(w, FD, tf_l(w, FS, sum, most), tf_l_to(w, w->steps[n])));
  return more(w, time, busiest(w, n, false, -1));
}

static int node_time(tf_lanes *w, int n, int before) {
  const tf_node *t = &w->p->tree->nodes[n];
  w->overlaps[n] = (tf_lane_overlapping){-1, -1, w->zero};
  w->cycles[n] = t->kind == TF_OP     ? op_time(w, n)
                 : t->kind == TF_TILE ? tile_time(w, n, before)
                 : tf_plan_at_once(t) ? at_once(w, n)
                                      : in_order(w, n, before);
  return w->cycles[n];
}

int tf_lanes_cycles(tf_lanes *w) {
  instances(w);
  ports(w);
  return node_time(w, 0, -1);
}

int tf_lanes_nodes(tf_lanes *w, int cycles) {
  int sum = w->zero;
  for (int n = 0; n < w->p->tree->n_nodes; n++)
    sum = tf_l(w, FA, sum,
               tf_l_sel(w, tf_l(w, TF_T_BELOW, w->cycles[n], cycles), w->cycles[n], cycles));
  return sum;
}

/* ---- energy --------------------------------------------------------------------------------- */

/* Words that all slices of tensor z move at a level. */
static tf_lane_move moved(tf_lanes *w, int level, int z) {
  int none = tf_l_int(w, 0);
  tf_lane_move sum = {none, none, none, none};
  for (int i = 0; i < w->p->n_slices; i++) {
    const tf_slice *s = &w->p->slices[i];
    if (s->tensor != z) continue;
    if (s->above == level) {
      sum.read = tf_l(w, A, sum.read, w->moves[i].read);
      sum.update = tf_l(w, A, sum.update, w->moves[i].update);
    }
    if (s->leaf || s->level != level) continue;
    sum.fill = tf_l(w, A, sum.fill, w->moves[i].fill);
    sum.drain = tf_l(w, A, sum.drain, w->moves[i].drain);
  }
  return sum;
}

/* Instances of a level in use at once. */
static int used_at(tf_lanes *w, int level) {
  const int pass = tf_pass_of(w->m->views, 0, level), one = tf_l_int(w, 1);
  return level && pass >= 0 ? tf_l(w, TF_T_MAX, w->in_use[pass], one) : one;
}

/* Units of a kind in use at once below node n. */
static int units_used(tf_lanes *w, int n, int u) {
  const tf_node *t = &w->p->tree->nodes[n];
  int all = tf_l_int(w, 0);
  if (t->kind == TF_OP) return w->p->unit[t->op] == u ? w->width[n] : all;
  for (int c = 0; c < t->n_children; c++)
    all = tf_l(w, tf_plan_at_once(t) ? A : TF_T_MAX, all, units_used(w, t->children[c], u));
  return all;
}

static bool leaks(const tf_arch *a) {
  bool any = false;
  for (int l = 0; l < a->n_memories; l++)
    any |= a->memories[l].leak_pj > 0;
  for (int u = 0; u < a->n_units; u++)
    any |= a->units[u].leak_pj > 0;
  return any;
}

/* Leakage per cycle. */
static int leakage(tf_lanes *w) {
  const tf_arch *a = w->p->arch;
  int pj = w->zero;
  for (int l = 0; l < a->n_memories; l++)
    pj = tf_l(w, FA, pj,
              a->memories[l].gated
                  ? tf_l(w, FM, tf_l_to(w, used_at(w, l)), tf_l_real(w, a->memories[l].leak_pj))
                  : tf_l_real(w, tf_memory_leakage(a, l, 0)));
  for (int u = 0; u < a->n_units; u++)
    pj = tf_l(w, FA, pj,
              a->units[u].gated
                  ? tf_l(w, FM, tf_l_to(w, units_used(w, 0, u)), tf_l_real(w, a->units[u].leak_pj))
                  : tf_l_real(w, tf_unit_leakage(a, u, 0)));
  return pj;
}

/* Words of the memory that `words` of tensor z take by whole accesses (model/cost/access.h). */
static int accessed(tf_lanes *w, int level, int words, int z) {
  const tf_memory *mem = &w->p->arch->memories[level];
  const int used = used_at(w, level), one = tf_l_int(w, 1);
  const double most = 0x1p52; /* so that quotients are exact */
  const double line = (double)mem->access * mem->word_bits;
  const int bits = tf_l(w, M, words, tf_l_int(w, w->p->wl->tensors[z].word_bits)),
            by = tf_l(w, M, tf_l_int(w, mem->access * mem->word_bits), used);
  tf_l_must(w, tf_l(w, TF_T_BELOW,
                    tf_l(w, FM, tf_l_to(w, words), tf_l_real(w, w->p->wl->tensors[z].word_bits)),
                    tf_l_real(w, most / 2)));
  tf_l_must(w, tf_l(w, TF_T_BELOW, tf_l(w, FM, tf_l_to(w, used), tf_l_real(w, line)),
                    tf_l_real(w, most / 2)));
  const int each = tf_l(w, TF_T_DIV, tf_l(w, A, bits, tf_l(w, TF_T_SUB, by, one)), by);
  return tf_l(w, FM, tf_l(w, FM, tf_l_to(w, each), tf_l_to(w, used)),
              tf_l_real(w, (double)mem->access));
}

/* A term of the energy: so many words of tensor z, by whole accesses. */
static int access_pj(tf_lanes *w, int level, int words, int z, double pj) {
  return tf_l(w, FM, accessed(w, level, words, z), tf_l_real(w, pj));
}

static int accesses_pj(tf_lanes *w, int level, int z, tf_lane_move v) {
  const tf_memory *mem = &w->p->arch->memories[level];
  const int sum = tf_l(w, FA, access_pj(w, level, v.read, z, mem->read_pj),
                       access_pj(w, level, v.drain, z, tf_drain_pj(mem)));
  const int written = tf_l(w, FA, accessed(w, level, v.fill, z), accessed(w, level, v.update, z));
  return tf_l(w, FA, sum, tf_l(w, FM, written, tf_l_real(w, mem->write_pj)));
}

static int words_pj(tf_lanes *w, const tf_memory *mem, tf_lane_move v) {
  int sum = w->zero;
  add_scaled(w, &sum, mem->drain_given ? v.read : tf_l(w, A, v.read, v.drain), mem->read_pj);
  if (mem->drain_given) add_scaled(w, &sum, v.drain, mem->drain_pj);
  add_scaled(w, &sum, tf_l(w, A, v.fill, v.update), mem->write_pj);
  return sum;
}

static int level_energy(tf_lanes *w, int level) {
  const tf_plan *p = w->p;
  const tf_memory *mem = &p->arch->memories[level];
  double hops = (double)(mem->mesh[0] - 1 + mem->mesh[1] - 1) / 2 * mem->hop_pj;
  int pj = w->zero;
  for (int z = 0; z < p->wl->n_tensors; z++) {
    const tf_lane_move v = moved(w, level, z);
    const int k = tf_l_real(w, (double)p->wl->tensors[z].word_bits / mem->word_bits);
    int crossing = w->zero;
    add_scaled(w, &crossing, tf_l(w, A, v.fill, v.drain), hops);
    const int all = mem->access > 1
                        ? tf_l(w, FA, accesses_pj(w, level, z, v), tf_l(w, FM, k, crossing))
                        : tf_l(w, FM, k, tf_l(w, FA, words_pj(w, mem, v), crossing));
    pj = tf_l(w, FA, pj, all);
  }
  return pj;
}

/* tf_zeros_count: subtracts the omitted accesses of leaves from `moved`; reals. */
static tf_lane_move left_of_moved(tf_lanes *w, int level, int z) {
  const tf_lane_move v = moved(w, level, z);
  tf_lane_move left = {tf_l_to(w, v.fill), tf_l_to(w, v.drain), tf_l_to(w, v.read),
                       tf_l_to(w, v.update)};
  for (int i = w->p->n_tile_slices; i < w->p->n_slices; i++) {
    const tf_slice *s = &w->p->slices[i];
    const tf_left *of = &tf_zeros_left(w->m, i)->left[TF_LEFT_ENERGY];
    const int read = tf_l_to(w, w->moves[i].read), update = tf_l_to(w, w->moves[i].update);
    if (s->tensor != z || s->above != level) continue;
    left.read = tf_l(w, FS, left.read,
                     s->makes ? tf_l(w, FS, read, left_reads(w, of, read, update))
                              : tf_l(w, FM, read, tf_l_real(w, 1 - of->read)));
    left.update = tf_l(w, FS, left.update, tf_l(w, FM, update, tf_l_real(w, 1 - of->update)));
  }
  return left;
}

/* level_energy of the words that zeros do not save. */
static int level_energy_left(tf_lanes *w, int level) {
  const tf_plan *p = w->p;
  const tf_memory *mem = &p->arch->memories[level];
  double hops = (double)(mem->mesh[0] - 1 + mem->mesh[1] - 1) / 2 * mem->hop_pj;
  int pj = w->zero;
  for (int z = 0; z < p->wl->n_tensors; z++) {
    const tf_packed *k = &p->sparse->packed[level * p->wl->n_tensors + z];
    const double words = (k->stored * p->wl->tensors[z].word_bits + k->bits) / mem->word_bits;
    const tf_lane_move v = left_of_moved(w, level, z);
    const int read = tf_l(w, FM, v.read, tf_l_real(w, k->read_pj)),
              drain = tf_l(w, FM, v.drain, tf_l_real(w, k->drain_pj));
    pj = tf_l(w, FA, pj, tf_l(w, FA, read, drain));
    add_real(w, &pj, tf_l(w, FA, v.fill, v.update), k->write_pj);
    add_real(w, &pj, tf_l(w, FA, v.fill, v.drain), hops * words);
  }
  return pj;
}

/* Those of op o's points that take energy. */
static int points_left(tf_lanes *w, int o, int points) {
  const double void_share = 1 - tf_zeros_work(w->m, o, TF_LEFT_ENERGY);
  return tf_l(w, FS, points, tf_l(w, FM, tf_l_to(w, w->points[o]), tf_l_real(w, void_share)));
}

int tf_lanes_energy(tf_lanes *w, int cycles) {
  const tf_arch *a = w->p->arch;
  int pj = w->zero;
  for (int l = 0; l < a->n_memories; l++)
    pj = tf_l(w, FA, pj, w->m->zeros ? level_energy_left(w, l) : level_energy(w, l));
  for (int u = 0; u < a->n_units; u++) {
    int points = tf_l_int(w, 0);
    for (int o = 0; o < w->p->wl->n_ops; o++)
      if (w->p->unit[o] == u) points = tf_l(w, A, points, w->points[o]);
    int left = tf_l_to(w, points);
    for (int o = 0; o < w->p->wl->n_ops && w->m->zeros; o++)
      if (w->p->unit[o] == u) left = points_left(w, o, left);
    pj = tf_l(w, FA, pj, tf_l(w, FM, left, tf_l_real(w, a->units[u].pj)));
  }
  return leaks(a) ? tf_l(w, FA, pj, tf_l(w, FM, leakage(w), cycles)) : pj;
}

/* ---- words at the outermost memory, words held ---------------------------------------------- */

/* Sums tensor by tensor, in the order of tf_result_traffic. */
int tf_lanes_traffic(tf_lanes *w) {
  int all = w->zero;
  for (int z = 0; z < w->p->wl->n_tensors; z++) {
    tf_lane_move v = moved(w, 0, z);
    all = tf_l(w, FA, all, tf_l_to(w, tf_l(w, A, v.read, v.update)));
  }
  return all;
}

/* Needs tf_lanes_fits and tf_lanes_cycles. */
int tf_lanes_held(tf_lanes *w) {
  int all = w->zero;
  for (int l = 1; l < w->p->arch->n_memories; l++) {
    int pass = tf_pass_of(w->m->views, 0, l), word = w->p->arch->memories[l].word_bits;
    int users = pass < 0 ? tf_l_int(w, 1) : tf_l(w, TF_T_MAX, w->in_use[pass], tf_l_int(w, 1));
    int words = tf_l(w, TF_T_DIV, tf_l(w, A, w->need[l], tf_l_int(w, word - 1)), tf_l_int(w, word));
    tf_l_must(w, tf_l(w, TF_T_BELOW, tf_l_to(w, w->need[l]),
                      tf_l_real(w, 0x1p52))); /* so that the quotient is exact */
    all = tf_l(w, FA, all, tf_l(w, FM, tf_l_to(w, words), tf_l_to(w, users)));
  }
  return all;
}
