/* Words on the links of networks with a topology, walked one by one (docs/SEMANTICS.md section 5):
 * every word that enters an instance takes its way link by link from the memory that serves it,
 * through each network between; a word for several takes a link once where the network multicasts,
 * and words of one sum merge where it reduces. */
#include <stdlib.h>
#include <string.h>

#include "tests/oracle/oracle.h"

void begin_links(oracle *o) {
  o->arrivals = calloc(MAX_FLOWS, sizeof *o->arrivals);
  o->flows.list = calloc(MAX_FLOWS, sizeof *o->flows.list);
  o->late = calloc(MAX_OPS, sizeof *o->late);
  if (!o->arrivals || !o->flows.list || !o->late) abort();
  find_late(o, o->late);
  for (int l = 1; l < o->arch->n_memories; l++) {
    const tf_memory *mem = &o->arch->memories[l];
    const bool has = mem->topology != TF_NO_TOPOLOGY && !mem->peers;
    if (has) o->spots[l] = calloc((size_t)o->tree->n_nodes, sizeof *o->spots[l]);
    if (o->spots[l]) find_spots(o, l, o->spots[l]);
  }
}

/* ---- places --------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t a, uint64_t b) { return (a * 1000003 + b) * 2654435761U + 17; }

/* Where the instance at hand of node n stands in the network to memory `level`: shelves in shelves,
 * from the outermost on. */
static void stand(const oracle *o, int n, int level, int64_t at[2]) {
  int chain[MAX_PATH], len = 0;
  int64_t corner[2] = {0, 0}, step[2] = {0, 0};
  bool above = true;
  while (o->tree->nodes[n].kind == TF_TILE && o->tree->nodes[n].n_children == 1 &&
         o->tree->nodes[n].level >= level)
    n = o->tree->nodes[n].children[0];
  for (int k = n; k >= 0; k = o->tree->nodes[k].parent)
    chain[len++] = k;
  while (len-- > 0) {
    const tf_node *t = &o->tree->nodes[chain[len]];
    const berth *s = &o->spots[level][chain[len]];
    for (int a = 0; a < 2; a++) {
      if (s->whole[a]) corner[a] += step[a] * s->whole[a], step[a] = 0;
      corner[a] += s->corner[a];
    }
    above = t->kind != TF_TILE || t->level == level - 1;
    for (int i = 0; i < t->n_loops && above && t->kind == TF_TILE; i++)
      if (t->loops[i].axis != TF_TEMPORAL) {
        int64_t *on = &step[t->loops[i].axis == TF_SPATIAL_Y];
        *on = *on * t->loops[i].trip + o->digit[chain[len]][i];
      }
  }
  for (int a = 0; a < 2; a++)
    at[a] = corner[a] + step[a];
}

where place_of(const oracle *o, int n) {
  where w = {.net = {0}};
  place path[MAX_PATH];
  const int len = path_to(o, n, path);
  for (int i = 0; i < len; i++) {
    const tf_loop *l = loop_of(o, path[i]);
    const int level = o->tree->nodes[path[i].node].level + 1;
    if (l->axis == TF_TEMPORAL || level > o->arch->n_memories) continue;
    int64_t *on = &w.at[level][l->axis == TF_SPATIAL_Y],
            *side = &w.side[level][l->axis == TF_SPATIAL_Y];
    *on = *on * l->trip + o->digit[path[i].node][path[i].slot];
    *side = (*side ? *side : 1) * l->trip;
  }
  for (int l = 0; l < o->arch->n_memories; l++)
    for (int a = 0; a < 2; a++)
      if (w.side[l][a] < o->arch->memories[l].mesh[a]) w.side[l][a] = o->arch->memories[l].mesh[a];
  for (int l = 1; l <= o->arch->n_memories; l++)
    w.net[l] = mix(mix(mix(w.net[l - 1], (uint64_t)w.at[l - 1][0]), (uint64_t)w.at[l - 1][1]),
                   (uint64_t)l);
  for (int l = 1; l < o->arch->n_memories; l++)
    if (o->spots[l]) stand(o, n, l, w.at[l]);
  return w;
}

/* ---- links ---------------------------------------------------------------------------------- */

/* The links of one word; those taken already do not count again. */
enum { MAX_WAY = 4096 };
typedef struct {
  int n;
  uint64_t key[MAX_WAY];
} way;

static bool taken_before(way *w, uint64_t link) {
  for (int i = 0; i < w->n; i++)
    if (w->key[i] == link) return true;
  w->key[w->n++] = link;
  return false;
}

/* So many words take a link of the network to memory `level`, the first time in this way. */
static void take(oracle *o, int level, way *w, uint64_t link, double amount) {
  network *k = &o->networks[level];
  int i = 0;
  if (w->n == MAX_WAY) {
    give_up_walk(o, "links of one way");
    return;
  }
  if (taken_before(w, link)) return;
  k->hops += amount;
  while (i < k->n && k->link[i].key != link)
    i++;
  if (i == k->n) {
    k->link = realloc(k->link, (size_t)(k->n + 1) * sizeof *k->link);
    if (!k->link) abort();
    k->link[k->n++] = (struct link){link, 0};
  }
  k->link[i].words += amount;
}

static uint64_t link_of(uint64_t net, int64_t from, int64_t to, int what) {
  return mix(mix(mix(net, (uint64_t)from + 1), (uint64_t)to + 1), (uint64_t)what);
}

/* Links of row y, and of column x, are named so. */
static int row_of(int64_t y) { return 2 * (int)y; }
static int column_of(int64_t x) { return 1 + 2 * (int)x; }

/* The link between two instances of row or column `what`, outwards or back. */
static uint64_t between(uint64_t net, int64_t in, int64_t out, int what, bool up) {
  return up ? link_of(net, out, in, what) : link_of(net, in, out, what);
}

/* Along one side from 0 to `at`, or back. */
static void along(oracle *o, int level, const where *to, int side, double amount, way *w, bool up) {
  const int what = side ? column_of(to->at[level][0]) : row_of(0);
  const tf_memory *mem = &o->arch->memories[level];
  const int64_t n = to->side[level][side], at = to->at[level][side];
  const uint64_t net = to->net[level];
  if (mem->topology == TF_TREE) { /* from the root; nodes as in a heap */
    int depth = 0;
    while (1LL << depth < n)
      depth++;
    for (int64_t leaf = (1LL << depth) + at; leaf > 1; leaf /= 2)
      take(o, level, w, between(net, leaf / 2, leaf, what, up), amount);
    return;
  }
  const bool back = mem->topology == TF_TORUS && at > n / 2;
  for (int64_t x = 0; x != at; x = back ? (x + n - 1) % n : x + 1)
    take(o, level, w, between(net, x, back ? (x + n - 1) % n : x + 1, what, up), amount);
}

static void go(oracle *o, const where *to, int level, double amount, way *w, bool up) {
  const tf_memory *mem = &o->arch->memories[level];
  const uint64_t net = to->net[level];
  const int64_t *at = to->at[level];
  if (mem->topology == TF_BUS) {
    take(o, level, w, link_of(net, 0, 0, 0), amount);
  } else if (mem->topology == TF_CROSSBAR) {
    network *k = &o->networks[level];
    const double hops = k->hops;
    take(o, level, w, link_of(net, -1, 0, up),
         amount); /* the memory's own link and the instance's are one hop */
    k->hops = hops;
    take(o, level, w, link_of(net, at[0], at[1], 2 + up), amount);
  } else {
    along(o, level, to, 0, amount, w, up);
    along(o, level, to, 1, amount, w, up);
  }
}

/* ---- what enters at a moment ---------------------------------------------------------------- */

static bool same_flow(const flow *a, const flow *b, int level) {
  return a->group == b->group && a->alone == b->alone && a->place.net[level] == b->place.net[level];
}

/* The first of the flows up to the k-th that is the same. */
static int first_same(const flows *f, int k, int level) {
  int i = 0;
  while (!same_flow(&f->list[i], &f->list[k], level))
    i++;
  return i;
}

/* Words of flows go through the network to memory `level`; those of one flow share their links if
 * `merge`. */
static void pass_network(oracle *o, int level, bool merge, bool up) {
  flows *f = &o->flows;
  static way w;
  for (int i = 0; i < f->n && o->arch->memories[level].topology != TF_NO_TOPOLOGY; i++) {
    if (merge && first_same(f, i, level) != i) continue;
    w.n = 0;
    for (int k = i; k < f->n; k++)
      if (k == i || (merge && same_flow(&f->list[i], &f->list[k], level)))
        go(o, &f->list[k].place, level, f->list[i].words, &w, up);
  }
}

/* What is one flow further out: of those that merged, one is left; of the others each. */
static void leave_network(oracle *o, int level, bool merge) {
  flows *f = &o->flows;
  int left = 0;
  for (int i = 0; i < f->n; i++) {
    bool first = true;
    for (int k = 0; k < left && merge; k++)
      first &= !same_flow(&f->list[k], &f->list[i], level);
    if (!first) continue;
    flow *to = &f->list[left++];
    *to = f->list[i];
    if (!merge)
      to->alone =
          mix(mix(to->alone, (uint64_t)to->place.at[level][0]), (uint64_t)to->place.at[level][1]);
  }
  f->n = left;
}

/* The flows between memory `from` and an instance of memory `level`. */
static void route(oracle *o, int level, int from, int z, bool up, bool one) {
  for (int l = level; l > from; l--) {
    const tf_memory *mem = &o->arch->memories[l];
    const bool merge = !one && (up ? mem->reduce : mem->multicast);
    for (int i = 0; i < o->flows.n; i++)
      o->flows.list[i].words = o->flows.list[i].all * o->wl->tensors[z].word_bits / mem->word_bits;
    pass_network(o, l, merge, up);
    leave_network(o, l, merge);
  }
}

/* Whether the instances of this moment move alike: as many as the loops have, all with as many
 * words, and groups of one size. */
static bool alike(const oracle *o, int n, const arrival *list, int count) {
  place path[MAX_PATH];
  const int len = path_to(o, n, path);
  int64_t all = 1;
  for (int i = 0; i < len; i++)
    all *= loop_of(o, path[i])->axis == TF_TEMPORAL ? 1 : loop_of(o, path[i])->trip;
  bool same = count == all;
  for (int t = 0; t < o->wl->n_tensors;
       t++) { /* borders, and parts that are kept, may make boxes alike */
    same &= !o->kept[t];
    for (int r = 0; r < o->wl->tensors[t].rank; r++)
      same &= o->wl->tensors[t].pad[r] == 0;
  }
  for (int i = 0; i < count; i++) {
    int mine = 0, first = 0;
    for (int k = 0; k < count; k++)
      mine += list[k].group == list[i].group, first += list[k].group == list[0].group;
    same &= list[i].all == list[0].all && mine == first &&
            (!list[i].partial || list[i].partial == list[i].all) &&
            !list[i].partial == !list[0].partial;
  }
  return same;
}

/* Whether the loops above some node are too many for a torus: how long it is to fit them all is
 * left to the model. */
static bool too_long(const oracle *o, int level) {
  const tf_memory *mem = &o->arch->memories[level];
  bool any = false;
  for (int n = 0; n < o->tree->n_nodes && mem->topology == TF_TORUS; n++) {
    const where w = place_of(o, n);
    any |= w.side[level][0] > mem->mesh[0] || w.side[level][1] > mem->mesh[1];
  }
  return any;
}

void find_links(oracle *o, int n, int z, const arrival *list, int count) {
  int64_t all = 0;
  for (int i = 0; i < count; i++)
    all += list[i].all;
  if (!all) return;
  for (int l = o->tree->nodes[n].level; l > server(o, n, z, o->tree->nodes[n].level); l--)
    o->networks[l].uneven |=
        !alike(o, n, list, count) || (o->arch->memories[l].peers && too_long(o, l));
  for (int up = 0; up < 2; up++) {
    const bool result = makes(o, n, z), one = result && !up;
    o->flows.n = 0;
    for (int i = 0; i < count && (result || !up); i++) {
      flow *f = &o->flows.list[o->flows.n];
      if (o->flows.n == MAX_FLOWS) abort();
      *f = (flow){.group = list[i].group,
                  .all = (double)(one ? list[i].partial : list[i].all),
                  .place = list[i].place};
      if (f->all > 0 && (!one || list[i].speaks)) o->flows.n++;
    }
    route(o, o->tree->nodes[n].level, server(o, n, z, o->tree->nodes[n].level), z, up, one);
  }
}

bool takes_links(const oracle *o, int n, int op, int ref) {
  const tf_op *p = &o->wl->ops[op];
  if (!o->topologies || (ref < 0 ? o->late[op].idle : o->late[op].left_out[ref])) return false;
  return o->arch->units[o->unit[op]].below >
         server(o, n, ref < 0 ? p->out : p->reads[ref].tensor, o->arch->n_memories);
}

void share_partial(oracle *o) {
  arrival *a = &o->arrivals[o->n_arrivals - 1];
  int i = 0;
  while (o->arrivals[i].group != a->group)
    i++;
  a->partial = o->arrivals[i].partial;
}

void find_unit_links(oracle *o, int n, int z, const tf_unit *unit, bool result) {
  const int from = server(o, n, z, o->arch->n_memories);
  for (int l = unit->below; l > from; l--)
    o->networks[l].uneven |= o->n_arrivals && (!alike(o, n, o->arrivals, o->n_arrivals) ||
                                               (o->arch->memories[l].peers && too_long(o, l)));
  for (int up = 0; up < 2 && unit->below > from; up++) {
    const bool partial = result && !up;
    o->flows.n = 0;
    for (int i = 0; i < o->n_arrivals && (result || !up); i++) {
      const arrival *a = &o->arrivals[i];
      flow *f = &o->flows.list[o->flows.n];
      *f = (flow){
          .group = a->group, .all = (double)(partial ? a->partial : a->all), .place = a->place};
      if (f->all > 0 && (!partial || !unit->reduce || a->speaks)) o->flows.n++;
    }
    leave_network(o, unit->below + 1, !partial && (up ? unit->reduce : unit->multicast));
    route(o, unit->below, from, z, up, partial);
  }
}

/* ---- what neighbours hand on ---------------------------------------------------------------- */

bool beside(const oracle *o, int level, const where *a, const where *b, beside_by *by) {
  const tf_memory *mem = &o->arch->memories[level];
  if (a->net[level] != b->net[level]) return false;
  for (int s = 0; s < 2; s++) {
    const int64_t n = a->side[level][s], step = b->at[level][s] - a->at[level][s];
    if (a->at[level][!s] != b->at[level][!s] || !step) continue;
    const bool round = mem->topology == TF_TORUS && n > 2 && (step == n - 1 || step == 1 - n);
    if (step != 1 && step != -1 && !round) return false;
    const bool less = round ? step > 0 : step < 0;
    *by = (beside_by){.turn = 2 * s + !less, .round = round};
    return true;
  }
  return false;
}

void hand_over(oracle *o, int level, int z, const where *from, const where *to) {
  const int64_t *a = from->at[level], *b = to->at[level];
  const bool x = a[0] != b[0];
  const uint64_t link =
      link_of(to->net[level], x ? a[0] : a[1], x ? b[0] : b[1], x ? row_of(a[1]) : column_of(a[0]));
  static way w;
  w.n = 0;
  take(o, level, &w, link,
       (double)o->wl->tensors[z].word_bits / o->arch->memories[level].word_bits);
}

void find_own_ways(oracle *o, int n, int z, const arrival *list, int count) {
  const int level = o->tree->nodes[n].level;
  o->flows.n = 0;
  for (int i = 0; i < count; i++) {
    if (o->flows.n == MAX_FLOWS) abort();
    if (list[i].all)
      o->flows.list[o->flows.n++] =
          (flow){.group = i, .all = (double)list[i].all, .place = list[i].place};
  }
  for (int l = level - 1; l > server(o, n, z, level); l--)
    o->networks[l].uneven |= o->flows.n > 0;
  o->networks[level].uneven |= too_long(o, level);
  route(o, level, server(o, n, z, level), z, false, false);
}

/* ---- what follows --------------------------------------------------------------------------- */

double link_time(const oracle *o, int level) {
  const network *k = &o->networks[level];
  double most = k->told;
  for (int i = 0; i < k->n; i++)
    most = k->link[i].words > most ? k->link[i].words : most;
  return most / o->arch->memories[level].link_bw;
}

/* The links to the farthest instance of one network. */
static double hops_to(oracle *o, int n, int level) {
  const tf_memory *mem = &o->arch->memories[level];
  double most = mem->topology == TF_BUS || mem->topology == TF_CROSSBAR;
  static way w;
  if (mem->topology == TF_NO_TOPOLOGY || most > 0) return most;
  network kept = o->networks[level];
  first_instance(o, n);
  do {
    o->networks[level] = (network){.n = 0};
    w.n = 0;
    const where at = place_of(o, n);
    go(o, &at, level, 1, &w, false);
    most = w.n > most ? w.n : most;
    free(o->networks[level].link);
  } while (next_instance(o, n));
  o->networks[level] = kept;
  return most;
}

double network_wait(oracle *o, int n) {
  double most = 0;
  for (int z = 0; z < o->wl->n_tensors; z++) {
    double wait = 0;
    if (!holds(o, n, z)) continue;
    for (int l = o->tree->nodes[n].level; l > server(o, n, z, o->tree->nodes[n].level); l--)
      wait += hops_to(o, n, l) * o->arch->memories[l].hop_latency;
    most = wait > most ? wait : most;
  }
  return most;
}
