/* Inputs and outputs that live in a memory further in (docs/SEMANTICS.md section 4): what each of
 * its instances meets of them in the whole run, setting by setting, and the room that all of them
 * set aside. */
#include <stdlib.h>
#include <string.h>

#include "tests/oracle/oracle.h"

/* What one instance meets below an m-tile. */
typedef struct {
  uint64_t instance;
  box met;
} meeting;

typedef struct {
  int node, n;
  meeting *list;
} meetings;

static void note_meeting(const oracle *o, int z, meetings *m, uint64_t instance, const box *b) {
  int i = 0;
  while (i < m->n && m->list[i].instance != instance)
    i++;
  if (i == m->n) {
    m->list = realloc(m->list, (size_t)(m->n + 1) * sizeof *m->list);
    if (!m->list) abort();
    m->list[m->n++] = (meeting){instance, {.empty = true}};
  }
  join_boxes(o, z, &m->list[i].met, b);
}

/* Through all settings of the loops above the m-tile, the k-th and those further in. */
static void go_through(oracle *o, int z, meetings *m, const place *path, int n, int k) {
  if (k == n) {
    const box b = slice(o, m->node, z);
    note_meeting(o, z, m, instance_key(o, m->node), &b);
    return;
  }
  int64_t *digit = &o->digit[path[k].node][path[k].slot];
  for (*digit = 0; *digit < loop_of(o, path[k])->trip; ++*digit)
    go_through(o, z, m, path, n, k + 1);
  *digit = 0;
}

static meetings meetings_of(oracle *o, int node, int z) {
  place path[MAX_PATH];
  meetings m = {.node = node};
  memset(o->digit, 0, sizeof o->digit);
  go_through(o, z, &m, path, path_to(o, node, path), 0);
  return m;
}

/* Who meets nothing at one node needs no more room for it. */
static bool same(span a, span b) {
  return a.len <= 0 || b.len <= 0 || (a.len == b.len && a.lo == b.lo);
}

static span met_of(const meeting *m, int r) { return m->met.empty ? (span){0, 0} : m->met.rank[r]; }

/* Whether every instance that meets some meets the same along the rank. */
static bool stands_still(const meetings *m, int r, span *what) {
  bool any = what->len > 0, still = true;
  for (int i = 0; i < m->n; i++) {
    const span s = met_of(&m->list[i], r);
    if (s.len > 0 && any) still &= same(s, *what);
    if (s.len > 0) *what = s, any = true;
  }
  return still;
}

/* The spatial loops with steps above an m-tile: memory, axis, trip count. */
static int spread_of(const oracle *o, int node, int64_t list[MAX_PATH][3]) {
  place path[MAX_PATH];
  const int len = path_to(o, node, path);
  int n = 0;
  for (int i = 0; i < len; i++) {
    const tf_loop *l = loop_of(o, path[i]);
    if (l->axis == TF_TEMPORAL || l->trip < 2) continue;
    list[n][0] = o->tree->nodes[path[i].node].level, list[n][1] = l->axis, list[n][2] = l->trip;
    n++;
  }
  return n;
}

/* Whether the k-th instance of both meets the same, for each k; they are listed in the order of
 * their loops. */
static bool each_same(const oracle *o, const meetings *a, const meetings *b, int r) {
  int64_t la[MAX_PATH][3], lb[MAX_PATH][3];
  const int n = spread_of(o, a->node, la);
  bool alike = n == spread_of(o, b->node, lb) && a->n == b->n;
  for (int i = 0; i < n && alike; i++)
    alike = !memcmp(la[i], lb[i], sizeof la[i]);
  for (int i = 0; i < a->n && alike; i++)
    alike = same(met_of(&a->list[i], r), met_of(&b->list[i], r));
  return alike;
}

/* The length along rank r that all instances set aside for these m-tiles. */
static int64_t side(const oracle *o, meetings *all, int n, int r) {
  int64_t longest = 0, lo = INT64_MAX, end = INT64_MIN;
  bool alike = true;
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < all[i].n; k++) {
      const span s = met_of(&all[i].list[k], r);
      if (s.len <= 0) continue;
      longest = s.len > longest ? s.len : longest;
      lo = s.lo < lo ? s.lo : lo;
      end = s.lo + s.len > end ? s.lo + s.len : end;
    }
    span what = {0, 0};
    alike &= i == 0 || each_same(o, &all[0], &all[i], r) ||
             (stands_still(&all[0], r, &what) && stands_still(&all[i], r, &what));
  }
  return alike || end < lo ? longest : end - lo;
}

/* Words for the m-tiles from node n down. */
static int64_t room_below(oracle *o, int n, int z) {
  meetings all[MAX_NODES];
  int found = 0;
  int64_t room = 1;
  o->no_borders = o->everywhere = true;
  for (int t = n; t < o->tree->nodes[n].end; t++)
    if (o->tree->nodes[t].kind == TF_TILE && o->tree->nodes[t].level == home_level(o, z) &&
        mtile(o, t, home_level(o, z)) == t && touched_below(o, t, z))
      all[found++] = meetings_of(o, t, z);
  o->no_borders = o->everywhere = false;
  for (int r = 0; r < o->wl->tensors[z].rank; r++) {
    const int64_t s = side(o, all, found, r);
    room *= s < o->wl->tensors[z].extent[r] ? s : o->wl->tensors[z].extent[r];
  }
  for (int i = 0; i < found; i++)
    free(all[i].list);
  return found ? room : 0;
}

int64_t home_room(oracle *o, int z) { return room_below(o, 0, z); }

/* Children of Para and Pipe that run in instances of their own. */
static bool apart(const oracle *o, int n, int level) {
  const tf_node *t = &o->tree->nodes[n];
  return t->kind == TF_SCOPE && (t->scope == TF_PARA || t->scope == TF_PIPE) &&
         !share_instance(o, n, level);
}

static int64_t bits_below(oracle *o, int n, int level) {
  const tf_node *t = &o->tree->nodes[n];
  bool any = false;
  int64_t sum = 0, most = 0;
  for (int i = n; i < t->end; i++)
    any |= apart(o, i, level);
  for (int c = 0; c < t->n_children && any; c++) {
    const int64_t k = bits_below(o, t->children[c], level);
    sum += k;
    most = k > most ? k : most;
  }
  if (any) return apart(o, n, level) ? most : sum;
  for (int z = 0; z < o->wl->n_tensors; z++)
    if (home_scope(o, z) < 0 && home_level(o, z) == level && in_part(o, level, 0, z))
      sum += held_bits(o, z, room_below(o, n, z));
  return sum;
}

int64_t home_bits(oracle *o, int level) { return bits_below(o, 0, level); }
