/* The walk itself: control goes through the tree as the mapping says, every loop setting by
 * setting, all instances of a step at once (docs/SEMANTICS.md sections 2 and 3). */
#include <stdlib.h>
#include <string.h>

#include "tests/oracle/oracle.h"
#include "tests/oracle/zeros.h"

static void run_node(oracle *o, int n);

/* ---- sharing -------------------------------------------------------------------------------- */

/* What instances load at one moment; those of one parent and production with equal boxes and equal
 * words share. */
typedef struct {
  uint64_t parent, production;
  box want;
  set load;
} request;

typedef struct {
  int n;
  request *list;
  int asked; /* number of the group of the last one that asked */
} moment;

static bool same_box(const oracle *o, int z, const box *a, const box *b) {
  if (a->empty || b->empty) return a->empty && b->empty;
  return !memcmp(a->rank, b->rank, (size_t)o->wl->tensors[z].rank * sizeof a->rank[0]);
}

/* Which of those who asked at this moment has asked for the same; -1: nobody. */
static int asked_before(const oracle *o, const moment *m, int z, const request *q) {
  for (int i = 0; i < m->n; i++)
    if (m->list[i].parent == q->parent && m->list[i].production == q->production &&
        same_box(o, z, &m->list[i].want, &q->want) &&
        !memcmp(&m->list[i].load, &q->load, sizeof q->load))
      return i;
  return -1;
}

/* Whether nobody at this moment has asked for the same yet; remembers it. */
static bool first_to_ask(const oracle *o, moment *m, int z, const request *q) {
  m->asked = asked_before(o, m, z, q);
  if (m->asked >= 0) return false;
  m->asked = m->n;
  m->list = realloc(m->list, (size_t)(m->n + 1) * sizeof *m->list);
  if (!m->list) abort();
  m->list[m->n++] = *q;
  return true;
}

uint64_t parent_key(const oracle *o, int n, int z, int level) {
  int tile = mtile(o, n, server(o, n, z, level));
  return tile < 0 ? 1 : instance_key(o, tile);
}

static uint64_t production_key(const oracle *o, int z) {
  return home_scope(o, z) < 0 ? 1 : instance_key(o, home_scope(o, z));
}

static void charge(oracle *o, int n, int z, int level, int up, words w) {
  int nt = o->wl->n_tensors, scope = follows(o, n, z);
  const int in_scope = (n * o->tree->n_nodes + scope) * nt + z,
            in_class = (n * MAX_CLASSES + o->class_now[n]) * nt + z;
  add_words(&o->moved[level * nt + z], (words){.fill = w.fill, .drain = w.drain});
  add_words(&o->moved[up * nt + z], (words){.read = w.read, .update = w.update});
  add_words(&o->by_node[n * nt + z], w);
  o->saw[SAW_FOLLOWS] |= scope >= 0 && w.fill + w.drain > 0;
  note_shares(o, n, z, &o->own_by_node[n * nt + z], &o->up_by_node[n * nt + z], w);
  if (scope >= 0)
    note_shares(o, n, z, &o->own_by_scope[in_scope], &o->up_by_scope[in_scope], w);
  else
    note_shares(o, n, z, &o->own_by_class[in_class], &o->up_by_class[in_class], w);
}

/* ---- entering an m-tile ---------------------------------------------------------------------- */

static bool touched_now(const oracle *o, int n, int z) {
  for (int op = 0; op < o->wl->n_ops; op++)
    if (op_below(o, op, n) && touches(o, op, z) && !idle(o, op, n)) return true;
  return false;
}

/* Moves of one instance: its words, those that carry a partial result, and whether it is the one
 * that speaks for its group. */
words moves_of(const oracle *o, int n, int z, int64_t all, int64_t partial, bool speaks) {
  const tf_memory *mem = &o->arch->memories[o->tree->nodes[n].level];
  if (!makes(o, n, z)) return (words){.fill = all, .read = speaks || !mem->multicast ? all : 0};
  return (words){.drain = all,
                 .update = speaks || !mem->reduce ? all : 0,
                 .fill = speaks ? partial : 0,
                 .read = speaks ? partial : 0};
}

static void raise_to(int64_t *so_far, int64_t v) { *so_far = v > *so_far ? v : *so_far; }

static void note_size(oracle *o, int n, int z, const box *b) {
  int nt = o->wl->n_tensors;
  raise_to(&o->peak[o->tree->nodes[n].level * nt + z], volume(o, z, b));
  raise_to(&o->largest[n * nt + z], volume(o, z, b));
  for (int r = 0; r < o->wl->tensors[z].rank && !b->empty; r++)
    raise_to(&o->extent[(n * nt + z) * MAX_RANK + r], b->rank[r].len);
}

/* Those of a set that stand for elements of z. */
static void note_arrival(oracle *o, const moment *m, int n, words w, bool speaks) {
  if (o->n_arrivals == MAX_FLOWS) {
    give_up_walk(o, "instances at one moment, for a network");
    return;
  }
  o->arrivals[o->n_arrivals++] = (arrival){m->asked, w.fill, w.read, speaks, place_of(o, n)};
}

/* One instance of m-tile n takes its slice of z.  `before`: elements of the production entered at
 * earlier moments; `now`: gathers those of this one. */
static void enter_slice(oracle *o, int n, int z, shelf *s, moment *m, const set *before, set *now) {
  request q = {.parent = parent_key(o, n, z, o->tree->nodes[n].level),
               .production = production_key(o, z),
               .want = slice(o, n, z)};
  copy *c = copy_at(s, instance_key(o, n), true);
  set want;
  int64_t all = 0, partial = 0;
  fill_set(o, z, &q.want, &want);
  memset(&q.load, 0, sizeof q.load);
  for (int i = 0; i < size_of(o, z); i++) {
    q.load.in[i] = want.in[i] && !c->what.in[i];
    all += q.load.in[i];
    partial += q.load.in[i] && before->in[i];
    now->in[i] |= q.load.in[i];
  }
  bool speaks = first_to_ask(o, m, z, &q);
  if (o->topologies) note_arrival(o, m, n, (words){.fill = all, .read = partial}, speaks);
  charge(o, n, z, s->level, server(o, n, z, s->level), moves_of(o, n, z, all, partial, speaks));
  if (o->lines) note_lines(o, n, z, &q.load, before, speaks);
  if (o->log) note_entry(o, n, z, &q.load, before, moves_of(o, n, z, 1, 1, speaks));
  if (o->log) note_tile(o, n, z, &q.load, m->asked, moves_of(o, n, z, 1, 1, speaks).read);
  c->what = want;
  c->node = n;
  note_size(o, n, z, &q.want);
}

static void add_set(const oracle *o, int z, set *to, const set *from) {
  for (int i = 0; i < size_of(o, z); i++)
    to->in[i] |= from->in[i];
}

/* One moment of m-tile n for tensor z, in all instances in which it happens.  Not inlined: its 2
 * MiB of stack would stand in every frame of the recursion over nodes. */
static __attribute__((noinline)) void enter(oracle *o, int n, int z) {
  shelf *s = shelf_of(o, n, z);
  moment m = {.n = 0};
  set now[MAX_PRODUCTIONS];
  uint64_t keys[MAX_PRODUCTIONS];
  int n_keys = 0;
  bool any = false;
  check_layout(o, s, n);
  o->n_arrivals = 0;
  if (o->log) o->log->moment++;
  first_instance(o, n);
  do {
    if (!touched_now(o, n, z)) continue;
    uint64_t key = production_key(o, z);
    int k = 0;
    while (k < n_keys && keys[k] != key)
      k++;
    if (k == n_keys) {
      if (n_keys == MAX_PRODUCTIONS) {
        give_up_walk(o, "productions at one moment");
        break;
      }
      keys[n_keys] = key;
      memset(&now[n_keys++], 0, sizeof now[0]);
    }
    enter_slice(o, n, z, s, &m, met_at(o, z, -1 - s->level, (where_made){.production = key}),
                &now[k]);
    any = true;
  } while (next_instance(o, n));
  for (int k = 0; k < n_keys && makes(o, n, z);
       k++) /* what is read before it is made carries nothing */
    add_set(o, z, met_at(o, z, -1 - s->level, (where_made){.production = keys[k]}), &now[k]);
  if (any) s->latest = n;
  if (o->topologies) find_links(o, n, z, o->arrivals, o->n_arrivals);
  free(m.list);
}

/* ---- words that neighbours hand on ---------------------------------------------------------- */

/* One instance of an m-tile: what it needs and held before, and who hands on what. */
typedef struct {
  where at;
  bool needs;
  set want, had;
  int64_t all, sent, rest;
} neighbour;

static bool takes_from_peers(const oracle *o, int n, int z) {
  return o->arch->memories[o->tree->nodes[n].level].peers && !makes(o, n, z);
}

/* Who hands element i to the k-th: the first neighbour, by lower x, higher x, lower y, higher y,
 * that held it before; one of lower x or y, not round a torus, also if it needs it now.  -1:
 * nobody. */
static int giver(oracle *o, int level, const neighbour *all, int n, int k, int i) {
  int best = -1, turn = 4;
  event saw = SAW_HELD;
  for (int j = 0; j < n; j++) {
    beside_by by;
    if (!beside(o, level, &all[k].at, &all[j].at, &by) || by.turn >= turn) continue;
    const bool gets = all[j].needs && all[j].want.in[i] && by.turn % 2 == 0 && !by.round;
    if (!all[j].had.in[i] && !gets) continue;
    saw = by.round ? SAW_ROUND : all[j].had.in[i] ? SAW_HELD : SAW_NEEDED;
    best = j, turn = by.turn;
  }
  o->saw[saw] |= best >= 0;
  return best;
}

/* What each needs, and what it held. */
static int list_instances(oracle *o, int n, int z, shelf *s, neighbour *all) {
  int count = 0;
  first_instance(o, n);
  do {
    neighbour *k = &all[count++];
    const copy *c = copy_at(s, instance_key(o, n), true);
    if (count == MAX_FLOWS) {
      give_up_walk(o, "instances that hand words on");
      break;
    }
    memset(k, 0, sizeof *k);
    k->at = place_of(o, n);
    k->had = c->what;
    k->needs = touched_now(o, n, z);
    if (!k->needs) continue;
    const box b = slice(o, n, z);
    fill_set(o, z, &b, &k->want);
  } while (next_instance(o, n));
  return count;
}

/* One moment of m-tile n for tensor z, where the instances of its memory take words from each
 * other. */
static void enter_beside(oracle *o, int n, int z) {
  shelf *s = shelf_of(o, n, z);
  neighbour *all = calloc(MAX_FLOWS, sizeof *all);
  bool any = false;
  if (!all || o->log) abort();
  check_layout(o, s, n);
  const int count = list_instances(o, n, z, s, all);
  for (int k = 0; k < count; k++) {
    any |= all[k].needs;
    for (int i = 0; i < size_of(o, z) && all[k].needs; i++) {
      if (!all[k].want.in[i] || all[k].had.in[i]) continue;
      const int from = giver(o, s->level, all, count, k, i);
      all[k].all++;
      if (from >= 0) {
        all[from].sent++;
        hand_over(o, s->level, z, &all[from].at, &all[k].at);
      } else {
        all[k].rest++;
      }
    }
  }
  int k = 0;
  first_instance(o, n);
  do {
    if (o->gave_up) break;
    const neighbour *own = &all[k];
    o->arrivals[k++] = (arrival){.all = own->rest, .place = own->at};
    if (own->all || own->sent)
      charge(o, n, z, s->level, server(o, n, z, s->level),
             (words){.fill = own->all, .drain = own->sent, .read = own->rest});
    if (!own->needs) continue;
    const box b = slice(o, n, z);
    copy *c = copy_at(s, instance_key(o, n), true);
    c->what = own->want;
    c->node = n;
    note_size(o, n, z, &b);
  } while (next_instance(o, n));
  if (any) s->latest = n;
  find_own_ways(o, n, z, o->arrivals, count);
  free(all);
}

/* The sum of what one instance of m-tile n holds now, in bits. */
static void weigh(oracle *o, int n) {
  first_instance(o, n);
  do {
    int64_t bits = 0;
    for (int z = 0; z < o->wl->n_tensors; z++)
      if (holds(o, n, z)) {
        box b = slice(o, n, z);
        bits += volume(o, z, &b) * o->wl->tensors[z].word_bits;
      }
    o->held[n] = bits > o->held[n] ? bits : o->held[n];
  } while (next_instance(o, n));
}

/* ---- points --------------------------------------------------------------------------------- */

enum {
  MADE = -1000
}; /* elements of a production by the instance of its home memory, among those met */

static bool in_box(const oracle *o, int z, const box *b, const set *s) {
  set all;
  fill_set(o, z, b, &all);
  for (int i = 0; i < size_of(o, z); i++)
    if (s->in[i] && !all.in[i]) return false;
  return true;
}

/* What a point of intermediate z makes is at home from now on, in the instance of its memory; what
 * one reads must be there, in the same production (SEMANTICS section 2, D9). */
static void at_home(oracle *o, int n, int op, int z, bool makes_it, const set *point) {
  const int scope = home_scope(o, z), tile = mtile(o, n, home_level(o, z));
  if (scope < 0) return;
  const uint64_t instance = tile < 0 ? 1 : instance_key(o, tile);
  set *made = met_at(o, z, MADE, (where_made){instance, production_key(o, z)});
  int maker = 0;
  while (o->wl->ops[maker].out != z)
    maker++;
  int64_t lost = 0;
  for (int i = 0; i < size_of(o, z); i++) {
    lost += point->in[i] && !made->in[i];
    if (makes_it) made->in[i] |= point->in[i];
  }
  bool there = !lost || makes_it || (o->masked >= 0 && o->fully_masked[maker]);
  for (int i = 0; o->kept[z] && i < o->kept[z]->n && !there; i++)
    there =
        o->kept[z]->key[i] == instance_key(o, scope) && in_box(o, z, &o->kept[z]->held[i], point);
  o->lost[op] += there ? 0 : lost;
}

static void add_operand(oracle *o, int at, uint64_t server, words w) {
  add_words(&o->by_ref[at], w);
  add_words(share_at(&o->up_by_ref[at], server), w);
}

/* Reference `ref` (-1: output) of the op at leaf n, for all points that run at this step. */
static void operand(oracle *o, int n, int op, int ref) {
  const tf_op *p = &o->wl->ops[op];
  const tf_unit *unit = &o->arch->units[o->unit[op]];
  int z = ref < 0 ? p->out : p->reads[ref].tensor;
  const int at = op * 16 + (ref < 0 ? p->n_reads : ref);
  const bool far = takes_links(o, n, op, ref);
  moment m = {.n = 0};
  o->n_arrivals = 0;
  first_instance(o, n);
  do {
    request q = {.parent = parent_key(o, n, z, o->arch->n_memories),
                 .production = production_key(o, z),
                 .want = op_box(o, op, ref, n)};
    if (q.want.empty) continue;
    fill_set(o, z, &q.want, &q.load);
    at_home(o, n, op, z, ref < 0, &q.load);
    bool speaks = first_to_ask(o, &m, z, &q);
    if (o->log) {
      const bool apart = ref < 0 ? !unit->reduce : !unit->multicast;
      const where_made key = ref < 0 ? (where_made){q.parent, q.production} : (where_made){0, 0};
      note_operand(o, (operand_key){n, op, ref, apart ? -1 : asked_before(o, &m, z, &q), key},
                   &q.load, ref < 0 ? met_at(o, z, n, key) : &q.load);
    }
    if (far) note_arrival(o, &m, n, (words){.fill = 1}, speaks);
    if (ref >= 0) {
      add_operand(o, at, q.parent, (words){.read = speaks || !unit->multicast});
      if (o->lines) note_access(o, q.parent, &q.load, true, false);
      continue;
    }
    if (!speaks && unit->reduce) {
      if (far) share_partial(o);
      continue;
    }
    set *met = met_at(o, z, n, (where_made){q.parent, q.production});
    int64_t fresh = 0;
    for (int i = 0; i < size_of(o, z); i++)
      fresh += q.load.in[i] && !met->in[i];
    add_set(o, z, met, &q.load);
    add_operand(o, at, q.parent, (words){.update = 1, .read = 1 - fresh});
    if (far) o->arrivals[o->n_arrivals - 1].partial = 1 - fresh;
    if (o->lines) note_access(o, q.parent, &q.load, !fresh, true);
  } while (next_instance(o, n));
  if (o->lines) end_access(o, n, z, at);
  if (far) find_unit_links(o, n, z, unit, ref < 0);
  free(m.list);
}

static void run_op(oracle *o, int n) {
  int op = o->tree->nodes[n].op;
  int64_t points = 0;
  first_instance(o, n);
  do
    points += !idle(o, op, n);
  while (next_instance(o, n));
  o->points[op] += points;
  o->units[op] = points > o->units[op] ? points : o->units[op];
  for (int r = -1; r < o->wl->ops[op].n_reads; r++) {
    operand(o, n, op, r);
    if (o->log) end_operand(o);
  }
}

/* ---- scopes --------------------------------------------------------------------------------- */

/* Whether the production of z goes on: a streamed reduction, not at the first step of its loops. */
static bool goes_on(oracle *o, int scope, int z) {
  place path[MAX_PATH], again[MAX_PATH];
  int n = path_to(o, scope, path), op = 0, n_again = 0;
  while (o->wl->ops[op].out != z)
    op++;
  for (int i = 0; i < n && stream_scope(o, op) >= 0; i++) {
    int dim = loop_of(o, path[i])->dim;
    for (int d = o->wl->ops[op].n_out_dims; d < o->wl->ops[op].n_dims; d++)
      if (o->wl->ops[op].dims[d] == dim && loop_of(o, path[i])->axis == TF_TEMPORAL)
        again[n_again++] = path[i];
  }
  for (int i = 0; i < n_again && o->masked < 0; i++)
    if (o->digit[again[i].node][again[i].slot] != 0) return true;
  return o->masked >= 0 && happened_before(o, scope, again, n_again);
}

/* The box around `need` less `have`: what a retained intermediate's producer makes (SEMANTICS D10).
 */
static box lacking(const oracle *o, int z, const box *need, const box *have) {
  set a, b;
  box all = {.empty = true};
  fill_set(o, z, need, &a);
  fill_set(o, z, have, &b);
  const tf_tensor *t = &o->wl->tensors[z];
  int64_t size = 1, missing = 0;
  for (int r = 0; r < t->rank; r++)
    size *= t->extent[r];
  for (int64_t i = 0; i < size; i++) {
    if (!a.in[i] || b.in[i]) continue;
    missing++;
    int64_t rest = i;
    for (int r = t->rank - 1; r >= 0; r--) {
      int64_t at = rest % t->extent[r] + t->lo[r];
      rest /= t->extent[r];
      span *s = &all.rank[r];
      if (all.empty) {
        *s = (span){at, 1};
      } else {
        int64_t end = s->lo + s->len > at + 1 ? s->lo + s->len : at + 1;
        s->lo = at < s->lo ? at : s->lo;
        s->len = end - s->lo;
      }
    }
    all.empty = false;
  }
  return missing == volume(o, z, &all) ? all : *need;
}

static int kept_slot(oracle *o, int z, uint64_t key) {
  int i = 0;
  while (i < o->kept[z]->n && o->kept[z]->key[i] != key)
    i++;
  if (i == o->kept[z]->n) {
    if (i == MAX_RETAINING) {
      give_up_walk(o, "instances of a scope that retains");
      return 0;
    }
    o->kept[z]->n++;
    o->kept[z]->key[i] = key;
    o->kept[z]->held[i].empty = true;
    o->kept[z]->made[i].empty = true;
  }
  return i;
}

/* What this run of z's home scope makes, in the instance at hand; what its home holds afterwards.
 */
static void retain(oracle *o, int scope, int z) {
  int op = 0, i = kept_slot(o, z, instance_key(o, scope));
  while (o->wl->ops[op].out != z)
    op++;
  box need = {.empty = false};
  o->whole = z;
  for (int r = 0; r < o->wl->tensors[z].rank; r++) {
    need.rank[r] = dim_range(o, op, o->wl->ops[op].dims[r], scope);
    need.empty |= need.rank[r].len <= 0;
  }
  if (!o->wl->tensors[z].rank) need.empty = idle(o, op, scope);
  o->whole = -1;
  o->kept[z]->made[i] = lacking(o, z, &need, &o->kept[z]->held[i]);
  if (!need.empty) o->kept[z]->held[i] = need;
}

static void begin_scope(oracle *o, int scope) {
  for (int z = 0; z < o->wl->n_tensors; z++)
    if (home_scope(o, z) == scope && !goes_on(o, scope, z)) forget_production(o, z);
  for (int i = o->wl->n_ops - 1; i >= 0; i--) {
    int z = o->wl->ops[o->wl->topo[i]].out;
    if (!o->kept[z] || home_scope(o, z) != scope) continue;
    first_instance(o, scope);
    do
      retain(o, scope, z);
    while (next_instance(o, scope));
  }
}

/* ---- what a run leaves at home, and what streaming adds ------------------------------------- */

/* Joins what the maker makes below node n, in every setting of the loops between the scope and n,
 * into the box of each instance of the memory (named by `tile`); the largest counts. */
static void note_home(oracle *o, int scope, int z, int n, int tile) {
  place path[MAX_PATH];
  int len = path_to(o, n, path), from = path_to(o, scope, path);
  path_to(o, n, path);
  static struct {
    uint64_t key;
    box all;
  } seen[MAX_AT_HOME];
  int n_seen = 0;
  bool more = true;
  first_instance(o, n);
  while (more) {
    uint64_t key = tile < 0 ? 1 : instance_key(o, tile);
    int k = 0;
    while (k < n_seen && seen[k].key != key)
      k++;
    if (k == MAX_AT_HOME) {
      give_up_walk(o, "instances that have an intermediate's home");
      return;
    }
    if (k == n_seen) seen[n_seen++].key = key, seen[k].all.empty = true;
    box b = slice(o, n, z);
    join_boxes(o, z, &seen[k].all, &b);
    more = next_instance(o, n);
    for (int i = len - 1; i >= from && !more; i--) {
      int64_t *digit = &o->digit[path[i].node][path[i].slot];
      if (loop_of(o, path[i])->axis != TF_TEMPORAL) continue;
      more = ++*digit < loop_of(o, path[i])->trip;
      *digit = more ? *digit : 0;
    }
  }
  for (int k = 0; k < n_seen; k++) {
    int64_t size = volume(o, z, &seen[k].all);
    o->home[z] = size > o->home[z] ? size : o->home[z];
  }
}

static void note_homes(oracle *o, int scope) {
  for (int z = 0; z < o->wl->n_tensors; z++) {
    if (home_scope(o, z) != scope) continue;
    int op = 0, level = home_level(o, z), tile = mtile(o, scope, level);
    while (o->wl->ops[op].out != z)
      op++;
    int kept = tile < 0 ? mtile(o, o->tree->op_node[op], level) : -1;
    o->whole = z;
    if (kept >= 0)
      note_home(o, scope, z, kept, kept);
    else
      note_home(o, scope, z, scope, tile);
    o->whole = -1;
  }
}

/* Elements of streamed outputs that this run of the scope corrects. */
static void note_streams(oracle *o, int scope) {
  for (int op = 0; op < o->wl->n_ops; op++) {
    if (stream_scope(o, op) != scope) continue;
    const int z = o->wl->ops[op].out;
    first_instance(o, scope);
    const bool again = goes_on(o, scope, z);
    first_instance(o, scope);
    do {
      box b = op_box(o, op, -1, scope);
      const int64_t all = volume(o, z, &b), once = again ? 0 : all;
      o->corrected[op] += all;
      o->corrected_once[op] += once;
      add_words(share_at(&o->up_corrected[op], parent_key(o, scope, z, o->arch->n_memories)),
                (words){.read = all, .update = once});
    } while (next_instance(o, scope));
    first_instance(o, scope);
  }
}

int64_t running(oracle *o, int n) {
  int64_t count = 0;
  first_instance(o, n);
  do {
    bool any = false;
    for (int op = 0; op < o->wl->n_ops && !any; op++)
      any = op_below(o, op, n) && !idle(o, op, n);
    count += any;
  } while (next_instance(o, n));
  return count;
}

/* What this run of scope n makes is in force from now on, or no longer. */
static void set_open(oracle *o, int n, bool open) {
  for (int z = 0; z < o->wl->n_tensors; z++)
    if (o->kept[z] && home_scope(o, z) == n) o->kept[z]->open = open;
}

static void run_scope(oracle *o, int n) {
  const tf_node *t = &o->tree->nodes[n];
  set_open(o, n, true);
  begin_scope(o, n);
  note_homes(o, n);
  note_streams(o, n);
  for (int c = 0; c < t->n_children; c++) {
    if (!running(o, t->children[c])) continue;
    if (left_out(o, t->children[c])) {
      run_node(o, t->children[c]);
      continue;
    }
    if (t->scope == TF_SEQ) pass_seq(o, n, t->children[c]);
    run_node(o, t->children[c]);
    leave_child(o, n, t->children[c]);
  }
  set_open(o, n, false);
}

static void run_loops(oracle *o, int n, int k) {
  const tf_node *t = &o->tree->nodes[n];
  if (k == t->n_temporal) {
    run_node(o, t->children[0]);
    return;
  }
  for (int64_t i = 0; i < t->loops[k].trip && !o->gave_up; i++) {
    o->digit[n][k] = i;
    run_loops(o, n, k + 1);
  }
  o->digit[n][k] = 0;
}

/* The class of this step of node n (SEMANTICS D18). */
static void note_step(oracle *o, int n) {
  place path[MAX_PATH];
  int len = path_to(o, n, path), class = 0;
  for (int i = 0; i < len && o->runs[n]; i++)
    if (o->masked < 0 && loop_of(o, path[i])->axis == TF_TEMPORAL &&
        o->digit[path[i].node][path[i].slot] != 0)
      class = 1 + i;
  for (int i = len - 1; i >= 0 && o->masked >= 0; i--) {
    const int64_t now = o->digit[path[i].node][path[i].slot];
    if (loop_of(o, path[i])->axis == TF_TEMPORAL && o->runs[n] && now != o->was[n][i])
      class = 1 + i;
    o->was[n][i] = now;
  }
  o->class_now[n] = class;
  o->class_steps[n * MAX_CLASSES + class]++;
  o->runs[n]++;
}

/* A step in vain: its points are counted as left out. */
static void leave_out(oracle *o, int n, int64_t points) {
  const tf_node *t = &o->tree->nodes[n];
  const bool outer = o->skips;
  o->skips = o->saw[SAW_LEFT_OUT] = true;
  if (t->kind == TF_OP) o->skipped[t->op] += points;
  if (t->kind == TF_TILE) run_loops(o, n, 0);
  for (int c = 0; t->kind == TF_SCOPE && c < t->n_children; c++)
    run_node(o, t->children[c]);
  o->skips = outer;
}

static void run_node(oracle *o, int n) {
  const tf_node *t = &o->tree->nodes[n];
  int64_t at_once = running(o, n);
  if (++o->steps > o->limit) give_up_walk(o, "steps");
  o->saw[SAW_IDLE] |= !at_once;
  if (!at_once || o->gave_up) return;
  if (o->skips || left_out(o, n)) {
    leave_out(o, n, at_once);
    return;
  }
  note_step(o, n);
  o->width[n] = at_once > o->width[n] ? at_once : o->width[n];
  for (int z = 0; z < o->wl->n_tensors; z++)
    if (holds(o, n, z)) takes_from_peers(o, n, z) ? enter_beside(o, n, z) : enter(o, n, z);
  if (t->kind == TF_TILE && mtile(o, n, t->level) == n) weigh(o, n);
  if (t->kind == TF_OP)
    run_op(o, n);
  else if (t->kind == TF_TILE)
    run_loops(o, n, 0);
  else
    run_scope(o, n);
}

/* ---- the whole run -------------------------------------------------------------------------- */

static void add_retained(oracle *o) {
  for (int n = 0; n < o->tree->n_nodes; n++)
    for (int k = 0; o->tree->nodes[n].kind == TF_SCOPE && k < o->tree->nodes[n].n_retain; k++) {
      int z = o->tree->nodes[n].retain[k].tensor;
      if (home_scope(o, z) == n && !o->kept[z]) o->kept[z] = calloc(1, sizeof *o->kept[z]);
    }
}

/* room: what m-tiles hold along ranks, where lines count; taken over. */
static oracle *run(const tf_tree *tree, int64_t limit, struct access_log *log, int64_t *room) {
  oracle *o = calloc(1, sizeof *o);
  size_t nt = (size_t)tree->workload->n_tensors, nodes = (size_t)tree->n_nodes;
  size_t units = (size_t)tree->arch->n_units, levels = (size_t)tree->arch->n_memories,
         ops = (size_t)tree->workload->n_ops;
  if (!o) return NULL;
  *o = (oracle){.tree = tree,
                .wl = tree->workload,
                .arch = tree->arch,
                .limit = limit,
                .whole = -1,
                .log = log};
  for (size_t l = 0; l < levels; l++)
    o->topologies |= tree->arch->memories[l].topology != TF_NO_TOPOLOGY;
  o->shelves = calloc(nodes * nt + 1, sizeof *o->shelves);
  o->kept = calloc(nt, sizeof *o->kept);
  o->leads = calloc(ops * nodes, sizeof *o->leads);
  note_leads(o);
  o->moved = calloc(levels * nt, sizeof *o->moved);
  o->by_node = calloc(nodes * nt, sizeof *o->by_node);
  o->by_ref = calloc(ops * 16, sizeof *o->by_ref);
  o->peak = calloc(levels * nt, sizeof *o->peak);
  o->extent = calloc(nodes * nt * MAX_RANK, sizeof *o->extent);
  o->rescaled = calloc(nodes * nt, sizeof *o->rescaled);
  o->class_now = calloc(nodes, sizeof *o->class_now);
  o->class_steps = calloc(nodes * MAX_CLASSES, sizeof *o->class_steps);
  o->fixes = calloc(ops * N_FIXES, sizeof *o->fixes);
  o->node_cycles = calloc(nodes, sizeof *o->node_cycles);
  o->level_cycles = calloc(levels, sizeof *o->level_cycles);
  o->level_instances = calloc(levels, sizeof *o->level_instances);
  o->unit_cycles = calloc(units, sizeof *o->unit_cycles);
  o->unit_use = calloc(units, sizeof *o->unit_use);
  int64_t **rows[] = {&o->held, &o->runs, &o->width, &o->largest};
  for (size_t i = 0; i < 4; i++)
    *rows[i] = calloc(nodes * nt, sizeof **rows[i]);
  o->was = calloc(nodes, sizeof *o->was);
  if (!make_shares(o)) abort();
  if (room) make_lines(o, room);
  int64_t **per_op[] = {&o->points,         &o->units,   &o->corrected,
                        &o->corrected_once, &o->skipped, &o->lost};
  for (size_t i = 0; i < sizeof per_op / sizeof *per_op; i++)
    *per_op[i] = calloc(ops, sizeof **per_op[i]);
  o->home = calloc(nt, sizeof *o->home);
  o->level_peak = calloc(levels, sizeof *o->level_peak);
  find_room(o);
  if (o->gave_up) return o;
  for (int op = 0; op < tree->workload->n_ops; op++)
    o->unit[op] = unit_of(o, op);
  add_retained(o);
  find_mask(o);
  if (o->topologies) begin_links(o);
  run_node(o, 0);
  find_moves(o);
  find_peaks(o);
  find_latency(o, false);
  return o;
}

oracle *oracle_run_noting(const tf_tree *tree, int64_t limit, struct access_log *log) {
  bool lines = false;
  for (int l = 0; l < tree->arch->n_memories; l++)
    lines |= tree->arch->memories[l].line > 0;
  oracle *first = lines ? run(tree, limit, NULL, NULL) : NULL;
  if (first && first->gave_up) return first;
  int64_t *room = first ? first->extent : NULL;
  if (first) first->extent = NULL;
  if (first) oracle_free(first);
  return run(tree, limit, log, room);
}

oracle *oracle_run(const tf_tree *tree, int64_t limit) {
  return oracle_run_noting(tree, limit, NULL);
}

void oracle_free(oracle *o) {
  free_shares(o);
  free_lines(o);
  for (int l = 0; l < 16; l++)
    free(o->networks[l].link);
  for (int i = 0; i < o->n_shelves; i++)
    free(o->shelves[i].copies);
  for (int z = 0; z < o->wl->n_tensors; z++) {
    free(o->records[z]);
    free(o->kept[z]);
  }
  void *all[] = {
      o->shelves,        o->kept,       o->leads,       o->moved,        o->by_node,
      o->by_ref,         o->peak,       o->extent,      o->held,         o->runs,
      o->width,          o->largest,    o->points,      o->units,        o->corrected,
      o->corrected_once, o->home,       o->level_peak,  o->rescaled,     o->class_now,
      o->class_steps,    o->fixes,      o->node_cycles, o->level_cycles, o->level_instances,
      o->unit_cycles,    o->unit_use,   o->was,         o->skipped,      o->lost,
      o->arrivals,       o->flows.list, o->late};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
    free(all[i]);
  for (int l = 0; l < MAX_LEVELS; l++)
    free(o->spots[l]);
  free(o);
}
