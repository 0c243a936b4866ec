/* Where tiles begin.  AccelForge holds each tensor from a place of its own on; here a tile of a
 * memory holds all its tensors.  Of the ways to place tiles the one is taken in which the words
 * that move are AccelForge's. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "model/import/accelforge/forge.h"

enum { MOST_WAYS = 1 << 12, LAST = 3 };

/* How far a way is from AccelForge's counts; `tell`: says where. */
typedef struct {
  forge *f;
  bool tell;
  int errors, differences, held;
} audit;

static bool loops(const fg_node *n) {
  return (n->what == FG_FOR || n->what == FG_SPREAD) && n->trips > 1;
}

static bool uses(const forge *f, const fg_leaf *l, int a, int dim) {
  const fg_einsum *e = &f->einsum[l->einsum];
  for (int v = 0; v < e->n_vars[a]; v++)
    if (e->var[a][v] == dim) return true;
  return false;
}

static bool lives_in(const forge *f, int z, int m) { return f->home[z] == m; }

/* ---- where tiles begin ----------------------------------------------------------------------- */

/* Of the nodes that hold something in memory m the one behind `skip` others, or the last one; -1:
 * there is none. */
static int holds_at(const forge *f, const fg_leaf *l, int m, unsigned skip) {
  int at = -1;
  for (int i = 0; i < l->n; i++) {
    if (l->path[i]->what != FG_HOLD || l->path[i]->part != f->memory[m]) continue;
    if (at < 0 || skip-- > 0) at = i;
    if (!skip) break;
  }
  return at;
}

/* Two bits of `way` for each memory: at which of the nodes that hold something in it its tile
 * begins; LAST: at the last one, and behind all splits. */
static void set_places(forge *f, fg_leaf *l, unsigned way) {
  l->pos[0] = 0;
  for (int m = 1; m < f->n_memories; m++) {
    const unsigned skip = way >> (2 * m - 1) & LAST;
    l->pos[m] = holds_at(f, l, m, skip == LAST ? UINT_MAX : skip);
    if (l->pos[m] >= 0 && skip == LAST && l->pos[m] < l->segment) l->pos[m] = l->segment;
  }
  for (int i = 0; i < l->n; i++) {
    const int g = l->path[i]->what == FG_SPREAD ? fg_gap(f, l->path[i]->part) : 0;
    if (g > 0 && l->pos[g] < 0 && l->path[i]->trips > 1) l->pos[g] = i; /* nothing is in it */
  }
  for (int m = 1, least = 0; m < f->n_memories; m++) {
    if (l->pos[m] < 0) continue;
    if (l->pos[m] < least) l->pos[m] = least;
    least = l->pos[m];
  }
}

static int level_at(const forge *f, const fg_leaf *l, int i) {
  int level = 0;
  for (int m = 1; m < f->n_memories; m++)
    if (l->pos[m] >= 0 && l->pos[m] <= i) level = m;
  return level;
}

/* ---- what moves ------------------------------------------------------------------------------ */

/* Whether the leaf is in branch b of the split at path[depth]. */
static bool in_branch(const fg_leaf *l, const fg_node *split, int depth, const fg_node *b) {
  if (l->n <= depth || l->path[depth] != split) return false;
  if (l->n > depth + 1) return l->path[depth + 1] == b;
  return b->what == FG_RUN && b->einsum == l->einsum;
}

static bool touched_by_all(const forge *f, const fg_node *split, int depth, int z) {
  for (const fg_node *b = split->child; b; b = b->beside) {
    bool any = false;
    for (int i = 0; i < f->n_leaves && !any; i++)
      any = in_branch(&f->leaf[i], split, depth, b) && fg_access_of(f, &f->leaf[i], z) >= 0;
    if (!any) return false;
  }
  return true;
}

/* How often the tensor of access a is loaded, were it held from path[at] on: there each time that
 * any loop above steps; here what is held stays while loops step that do not move it. */
static double times_there(const fg_leaf *l, int at) {
  double n = 1;
  for (int i = 0; i < at; i++)
    if (loops(l->path[i])) n *= (double)l->path[i]->trips;
  return n;
}

static double times_here(const forge *f, const fg_leaf *l, int a, int at) {
  bool stays = true;
  double n = 1;
  for (int i = at - 1; i >= 0; i--) {
    const fg_node *p = l->path[i];
    if (p->what == FG_SPLIT && !p->pipe && !f->shar &&
        !touched_by_all(f, p, i, f->einsum[l->einsum].tensor[a]))
      stays = false;
    if (!loops(p)) continue;
    const bool moves = uses(f, l, a, p->dim);
    if (moves || p->what == FG_SPREAD || !stays) n *= (double)p->trips;
    if (moves && p->what == FG_FOR) stays = false;
  }
  return n;
}

static int64_t extent_at(const forge *f, const fg_leaf *l, int at, int dim) {
  int64_t n = f->dims[dim].extent;
  for (int i = 0; i < at; i++)
    if (loops(l->path[i]) && l->path[i]->dim == dim && l->path[i]->tile < n) n = l->path[i]->tile;
  return n;
}

/* Words of a tile, its windows as boxes of their rank variables. */
static double tile_at(const forge *f, const fg_leaf *l, int a, int at) {
  const fg_einsum *e = &f->einsum[l->einsum];
  double n = 1;
  for (int v = 0; v < e->n_vars[a]; v++)
    n *= (double)extent_at(f, l, at, e->var[a][v]);
  return n;
}

/* Whether loops between the two places move the tensor. */
static bool moved_between(const forge *f, const fg_leaf *l, int a, int from, int to) {
  for (int i = from < to ? from : to; i < (from < to ? to : from); i++)
    if (loops(l->path[i]) && uses(f, l, a, l->path[i]->dim)) return true;
  return false;
}

/* Whether loops above path[at] step through windows of the tensor, which may overlap. */
static bool steps_windows(const forge *f, const fg_leaf *l, int a, int at) {
  const fg_einsum *e = &f->einsum[l->einsum];
  for (int i = 0; i < at; i++)
    for (int v = 0; v < e->n_vars[a]; v++)
      if (loops(l->path[i]) && l->path[i]->what == FG_FOR && l->path[i]->dim == e->var[a][v] &&
          e->windows[a] >> v & 1)
        return true;
  return false;
}

static tf_loc tensor_place(const fg_node *hold, int z) {
  for (int k = 0; k < hold->n_tensors; k++)
    if (hold->tensor[k] == z) return hold->tensor_at[k];
  return hold->at;
}

static void check_words(audit *t, const fg_leaf *l, int m, int a, int at) {
  forge *f = t->f;
  const int p = l->pos[m], z = f->einsum[l->einsum].tensor[a];
  const bool window = f->einsum[l->einsum].windows[a] != 0;
  const bool moved = moved_between(f, l, a, at, p);
  const double there = times_there(l, at) * tile_at(f, l, a, at);
  const double here = times_here(f, l, a, p) * tile_at(f, l, a, p);
  const tf_loc place = tensor_place(l->path[at], z);
  const char *memory = f->part[f->memory[m]].name;
  if (here > there || (moved && (window || here < there))) {
    t->errors++;
    if (t->tell)
      tf_fail(f->diags, place, TF_E_LOOP,
              "'%s' holds '%s' and other tensors from places of their own on; here a memory holds "
              "all from one place on, where it would load %.0f words of it, AccelForge %.0f: move "
              "their storage nodes together",
              memory, f->tensor[z], here, there);
  } else if (window && (here < there || steps_windows(f, l, a, p))) {
    t->differences++;
    if (t->tell)
      tf_warn(
          f->diags, place,
          "what two steps have in common of '%s' stays in '%s' here, and is not loaded again as "
          "AccelForge counts",
          f->tensor[z], memory);
  } else if (here < there) {
    t->differences++;
    if (t->tell)
      tf_warn(
          f->diags, place,
          "'%s' stays in '%s' here while loops step that do not move it: '%s' loads %.0f words, "
          "AccelForge %.0f; the same, if it is held above these loops",
          f->tensor[z], memory, memory, here, there);
  } else if (moved) {
    t->held += p > at ? 1 : 100;
    if (t->tell)
      tf_warn(f->diags, place,
              "'%s' holds '%s' from %s place on, with the others: as many words move, %s are held",
              memory, f->tensor[z], p > at ? "a later" : "an earlier", p > at ? "fewer" : "more");
  }
}

/* ---- what branches leave for each other ------------------------------------------------------ */

/* Whether a temporal loop between the two places steps over the dim. */
static bool steps(const fg_leaf *l, int from, int to, int dim) {
  for (int i = from; i < to; i++)
    if (loops(l->path[i]) && l->path[i]->what == FG_FOR && l->path[i]->dim == dim) return true;
  return false;
}

/* Two branches of a split that hold one tensor: where neither steps over it, what the first leaves
 * need not be loaded by the second. */
static void check_pair(audit *t, const fg_leaf *l, const fg_leaf *k, int m, int z) {
  forge *f = t->f;
  int same = 0;
  const int a = fg_access_of(f, l, z), b = fg_access_of(f, k, z);
  while (same < l->n && same < k->n && l->path[same] == k->path[same])
    same++;
  if (a < 0 || b < 0 || !same || l->path[same - 1]->what != FG_SPLIT || l->path[same - 1]->pipe)
    return;
  if (l->pos[m] < same || k->pos[m] < same) return;
  const int at = fg_held(f, k, m, z);
  if (at < 0 || fg_held(f, l, m, z) < 0 || lives_in(f, z, m)) return;
  const fg_einsum *e = &f->einsum[l->einsum];
  for (int v = 0; v < e->n_vars[a]; v++)
    if (uses(f, k, b, e->var[a][v]) && steps(l, same, l->pos[m], e->var[a][v]) &&
        steps(k, same, k->pos[m], e->var[a][v]))
      return; /* the first step of one is not the last one of the other */
  t->differences++;
  if (t->tell)
    tf_warn(f->diags, tensor_place(k->path[at], z),
            "what the Einsum '%s' leaves of '%s' in '%s' can still be there for '%s', and is not "
            "loaded again as AccelForge counts; take it out of '%s', if it need not leave '%s'",
            e->name, f->tensor[z], f->part[f->memory[m]].name, f->einsum[k->einsum].name,
            f->part[f->memory[f->home[z] > 0 ? f->home[z] : 0]].name, f->part[f->memory[m]].name);
}

/* ---- a way as a whole ------------------------------------------------------------------------ */

static void check_spread(audit *t, const fg_leaf *l, int i) {
  forge *f = t->f;
  const fg_node *n = l->path[i];
  const int level = level_at(f, l, i), gap = fg_gap(f, n->part);
  if (level == gap || n->trips == 1) return;
  t->errors++;
  if (t->tell)
    tf_fail(f->diags, n->at, TF_E_LEVEL,
            "this loop spreads over instances below '%s', but stands %s: it stands between what "
            "'%s' holds and what is held further in",
            f->part[f->memory[gap]].name,
            level > gap ? "below what is held further in" : "above what it holds",
            f->part[f->memory[gap]].name);
}

/* A tile above a split holds the same tensors for all that is below. */
static void check_shared(audit *t, const fg_leaf *l, int m, int a) {
  forge *f = t->f;
  const int z = f->einsum[l->einsum].tensor[a], at = fg_held(f, l, m, z);
  for (int i = 0; i < f->n_leaves; i++) {
    const fg_leaf *k = &f->leaf[i];
    if (k == l || fg_access_of(f, k, z) < 0 || fg_held(f, k, m, z) >= 0) continue;
    if (l->pos[m] >= k->n ||
        memcmp(l->path, k->path, (size_t)(l->pos[m] + 1) * sizeof *l->path) != 0)
      continue;
    t->errors++;
    if (t->tell)
      tf_fail(f->diags, tensor_place(l->path[at], z), TF_E_BYPASS,
              "'%s' holds '%s' for the Einsum '%s', and not for '%s' below the same tile",
              f->part[f->memory[m]].name, f->tensor[z], f->einsum[l->einsum].name,
              f->einsum[k->einsum].name);
  }
}

static void check_leaf(audit *t, const fg_leaf *l) {
  forge *f = t->f;
  for (int i = 0; i < l->n; i++)
    if (l->path[i]->what == FG_SPREAD) check_spread(t, l, i);
  for (int m = 1; m < f->n_memories; m++)
    for (int a = 0; l->pos[m] >= 0 && a < f->einsum[l->einsum].n; a++) {
      const int z = f->einsum[l->einsum].tensor[a], at = fg_held(f, l, m, z);
      if (at < 0 || lives_in(f, z, m)) continue;
      check_words(t, l, m, a, at);
      check_shared(t, l, m, a);
      for (const fg_leaf *k = l + 1; k < f->leaf + f->n_leaves; k++)
        check_pair(t, l, k, m, z);
    }
}

/* An intermediate lives in a memory whose tile stands above its scope, or is named there. */
static void check_homes(audit *t) {
  forge *f = t->f;
  for (int i = 0; i < f->n_leaves; i++)
    for (int a = 0; a < f->einsum[f->leaf[i].einsum].n; a++) {
      const fg_leaf *l = &f->leaf[i];
      const int z = f->einsum[l->einsum].tensor[a], h = f->home[z];
      int scope = 0;
      if (h < 0 || !f->scope[z]) continue;
      while (scope < l->n && l->path[scope] != f->scope[z])
        scope++;
      const int at = fg_held(f, l, h, z);
      if (level_at(f, l, scope) <= h && (h == 0 || (at >= 0 && at < scope))) continue;
      t->errors++;
      if (t->tell)
        tf_fail(f->diags, at >= 0 ? tensor_place(l->path[at], z) : l->path[l->n - 1]->at, TF_E_KEEP,
                "'%s' goes from one Einsum to the other through '%s': it is held there above the "
                "split that has both below it, and nothing further in is held above that",
                f->tensor[z], f->part[f->memory[h]].name);
    }
}

static audit try_way(forge *f, unsigned way, bool tell) {
  audit t = {.f = f, .tell = tell};
  f->shar = way & 1;
  for (int i = 0; i < f->n_leaves; i++)
    set_places(f, &f->leaf[i], way);
  for (int i = 0; i < f->n_leaves; i++)
    check_leaf(&t, &f->leaf[i]);
  check_homes(&t);
  return t;
}

/* ---- arrays ---------------------------------------------------------------------------------- */

/* The memory or unit that access a's words come to, over arrays below memory `gap`. */
static int receiver(const forge *f, const fg_leaf *l, int a, int gap) {
  for (int m = gap + 1; m < f->n_memories; m++)
    if (l->held[m][a] >= 0 && l->pos[m] >= 0) return f->memory[m];
  return l->part;
}

/* Whether what a spatial loop does not move is sent once, or to each instance: what its hardware
 * may reuse. */
static bool check_reuse(forge *f, const fg_leaf *l, const fg_node *n) {
  const fg_fan *fan = &f->part[n->part].fan[n->fan];
  const fg_einsum *e = &f->einsum[l->einsum];
  uint32_t may;
  if (!fan->reuse)
    may = UINT32_MAX;
  else if (!fg_set(f, fan->reuse, l->einsum, n->part, &may))
    return false;
  for (int a = 0; a < e->n; a++) {
    fg_part *to = &f->part[receiver(f, l, a, fg_gap(f, n->part))];
    const int shares = may >> a & 1 ? 1 : -1;
    if (uses(f, l, a, n->dim)) continue;
    if (to->shares && to->shares != shares)
      return tf_fail(f->diags, n->at, TF_E_KEY,
                     "along '%s' '%s' may %sbe reused, and other words that come to '%s' may%s: "
                     "here a network sends all words once, or all to each instance",
                     fan->name, f->tensor[e->tensor[a]], shares > 0 ? "" : "not ", to->name,
                     shares > 0 ? " not" : "");
    to->shares = shares;
  }
  return true;
}

static bool check_arrays(forge *f) {
  for (int i = 0; i < f->n_leaves; i++) {
    const fg_leaf *l = &f->leaf[i];
    for (int k = 0; k < l->n; k++) {
      const fg_node *n = l->path[k];
      double used = 1;
      if (n->what != FG_SPREAD || n->trips == 1) continue;
      for (int j = 0; j <= k; j++)
        if (l->path[j]->what == FG_SPREAD && l->path[j]->part == n->part &&
            l->path[j]->fan == n->fan)
          used *= (double)l->path[j]->trips;
      const fg_fan *fan = &f->part[n->part].fan[n->fan];
      if (used > (double)fan->fanout)
        return tf_fail(f->diags, n->at, TF_E_FANOUT,
                       "%.0f steps side by side along '%s' of '%s', which has %lld", used,
                       fan->name, f->part[n->part].name, (long long)fan->fanout);
      if (!check_reuse(f, l, n)) return false;
    }
  }
  return true;
}

bool fg_place(forge *f) {
  unsigned ways = f->n_memories > 6 ? MOST_WAYS : 2u << 2 * (f->n_memories - 1), best = 0;
  double least = INFINITY;
  for (unsigned way = 0; way < ways && least > 0; way++) {
    const audit t = try_way(f, way, false);
    const double far = 1e15 * t.errors + 1e9 * t.differences + t.held;
    if (far < least) best = way;
    if (far < least) least = far;
  }
  return try_way(f, best, true).errors == 0 && check_arrays(f);
}
