/* Follows the branches of a certificate.  What each box is follows from the problem and from the
 * branches before it; the file only says how it is taken apart, or what is true of it, and that is
 * checked. */
#include <string.h>

#include "certify/certify_read.h"

enum { DEEPEST = 2000, ON_AN_AXIS = 2, AGREED = 9 };

typedef struct {
  const problem *p;
  groups g;
  wide least; /* of all leaves so far */
  proof_counts *n;
} proof;

/* ---- the space ------------------------------------------------------------------------------ */
static unsigned moved_by(const problem *p, int d) {
  unsigned all = 0;
  for (int z = 0; z < p->n_tensors; z++)
    all |= (unsigned)indexes(&p->tensor[z], d) << z;
  return all;
}

static void list_orders(groups *g, int *order, int n, unsigned used) {
  if (n == g->n) {
    memcpy(g->list[g->orders++], order, sizeof g->list[0]);
    return;
  }
  for (int k = 0; k < g->n && n < GROUPS; k++)
    if (!(used >> k & 1)) {
      order[n] = k;
      list_orders(g, order, n + 1, used | 1u << k);
    }
}

/* Dims that index the same tensors are a group, in the order of the dims; those that index all of
 * them are of none. */
static groups groups_of(const problem *p) {
  groups g = {0};
  int order[GROUPS] = {0};
  for (int d = 0; d < p->n_dims; d++) {
    const unsigned own = moved_by(p, d);
    g.group_of[d] = own + 1 == 1u << p->n_tensors ? -1 : g.n;
    for (int e = 0; e < d; e++)
      if (g.group_of[d] >= 0 && moved_by(p, e) == own) g.group_of[d] = g.group_of[e];
    if (g.group_of[d] < g.n) continue;
    if (++g.n > GROUPS) refuse("dims of more than %d groups", GROUPS);
  }
  list_orders(&g, order, 0, 0);
  return g;
}

static void put_in_order(const proof *q, int tile, int order, box *b) {
  b->order[tile] = order;
  for (int d = 0; d < q->p->n_dims; d++)
    for (int k = 0; k < q->g.n; k++)
      if (q->g.group_of[d] >= 0 && q->g.list[order][k] == q->g.group_of[d])
        b->place[tile][d] = k + 1;
}

/* Its home holds a tensor, and nothing further out does; nor are there instances that have parts of
 * a sum which lives in one of them. */
static void go_home(const problem *p, int z, box *b) {
  const tensor *t = &p->tensor[z];
  b->held[t->home] |= 1u << z;
  for (int l = 0; l < t->home; l++) {
    b->passed[l] |= 1u << z;
    for (int d = 0; d < p->n_dims; d++)
      for (int a = 0; t->produced && !indexes(t, d) && a < 2; a++)
        b->spread[l][a][d].hi = 1;
  }
}

/* All mappings. */
static box whole_space(const proof *q) {
  const problem *p = q->p;
  box b = {.order = {0}};
  for (int l = 0; l < p->n; l++) {
    b.order[l] = NO_ORDER;
    for (int d = 0; d < p->n_dims; d++) {
      for (int a = 0; a < 2; a++)
        b.spread[l][a][d] = (span){1, (int64_t)least(below(p, l)->mesh[a], p->extent[d])};
      b.steps[l][d] = (span){1, l == 0 ? 1 : p->extent[d]};
      b.length[l][d] = (span){1, p->extent[d]};
    }
  }
  for (int z = 0; z < p->n_tensors; z++)
    go_home(p, z, &b);
  return b;
}

/* Words through the outermost memory follow from the Tiles outside of the memories that hold a
 * tensor first, and from the blocks that enter these.  So further in a tensor need not be held; and
 * once all tensors are, the last of these Tiles takes all steps, and nothing further in is spread
 * (docs/CERTIFICATE.md). */
static void leave_inside(const problem *p, box *b) {
  unsigned met = 0; /* held further out */
  int last = 0;
  for (int l = 1; l < p->n; l++) {
    b->passed[l] |= met;
    b->held[l] &= ~met;
    if (b->held[l]) last = l;
    met |= b->held[l];
  }
  if (met + 1 != 1u << p->n_tensors) return;
  for (int l = last; l < p->n; l++) {
    b->order[l] = ANY_ORDER;
    for (int d = 0; d < p->n_dims; d++) {
      b->place[l][d] = 0;
      b->spread[l][0][d] = b->spread[l][1][d] = (span){1, 1};
      b->steps[l][d] = (span){1, l == last ? p->extent[d] : 1};
      if (l > last) b->length[l][d] = (span){1, p->extent[d]};
    }
  }
}

/* Takes what an axis does not hold off its spans; false if it holds nothing of the box.  At most
 * two dims lie on it. */
static bool cut_to_mesh(const problem *p, int tile, int axis, box *b) {
  span *s = b->spread[tile][axis];
  wide all = 1;
  int on = 0;
  for (int d = 0; d < p->n_dims; d++) {
    all = times(all, s[d].lo);
    on += s[d].lo > 1;
  }
  const int64_t mesh = below(p, tile)->mesh[axis];
  if (all > mesh || on > ON_AN_AXIS) return false;
  for (int d = 0; d < p->n_dims; d++)
    s[d].hi =
        (int64_t)least(s[d].hi, on == ON_AN_AXIS && s[d].lo == 1 ? 1 : mesh / (all / s[d].lo));
  return true;
}

/* ---- mappings that cost the same as one elsewhere ------------------------------------------- */
/* The fewest and most steps of any dim of a group. */
static span turns(const proof *q, const box *b, int tile, int group) {
  span all = {1, 1};
  for (int d = 0; d < q->p->n_dims; d++) {
    if (q->g.group_of[d] != group) continue;
    const span t = steps_at(q->p, b, tile, d);
    all.lo = t.lo > all.lo ? t.lo : all.lo;
    all.hi = t.hi > all.hi ? t.hi : all.hi;
  }
  return all;
}

/* Where a loop stands among others makes no difference if it has one step.  Of such orders the one
 * counts in which all of these stand inside, by number: whether the box's is another. */
static bool ordered_elsewhere(const proof *q, const box *b, int tile) {
  if (tile < 0 || tile + 1 >= q->p->n || b->order[tile] < 0) return false;
  const int *g = q->g.list[b->order[tile]];
  for (int i = 0; i < q->g.n; i++)
    for (int j = i + 1; j < q->g.n && turns(q, b, tile, g[i]).hi == 1; j++) {
      const span inner = turns(q, b, tile, g[j]);
      if (inner.lo > 1 || (inner.hi == 1 && g[i] > g[j])) return true;
    }
  return false;
}

/* A layout in the making: what is left of each axis, in instances and dims. */
typedef struct {
  int64_t room[2];
  int dims[2];
} axes;

/* Whether dims d .. can be laid out; more: with more on X, at the first dim that differs, than the
 * box has. */
static bool lays_out(const problem *p, const span (*on)[DIMS], int d, axes left, bool more) {
  if (d == p->n_dims) return !more;
  const int64_t all = on[0][d].lo * on[1][d].lo;
  for (int64_t x = more && on[0][d].lo > 1 ? on[0][d].lo : 1; x <= all && x <= left.room[0]; x++) {
    const int64_t y = all / x;
    axes next = left;
    if (all % x || y > left.room[1]) continue;
    next.room[0] /= x, next.room[1] /= y;
    next.dims[0] -= x > 1, next.dims[1] -= y > 1;
    if (next.dims[0] >= 0 && next.dims[1] >= 0 &&
        lays_out(p, on, d + 1, next, more && x == on[0][d].lo))
      return true;
  }
  return false;
}

/* Costs follow from how many instances a dim has on both axes.  Of ways to lay these out the one
 * counts that has most on X, first dims first: whether some Tile's is known and another. */
static bool laid_out_elsewhere(const problem *p, const box *b) {
  for (int l = 0; l < p->n; l++) {
    const axes all = {{below(p, l)->mesh[0], below(p, l)->mesh[1]}, {ON_AN_AXIS, ON_AN_AXIS}};
    bool known = true;
    for (int d = 0; d < p->n_dims; d++)
      for (int a = 0; a < 2; a++)
        known &= b->spread[l][a][d].lo == b->spread[l][a][d].hi;
    if (known && lays_out(p, b->spread[l], 0, all, true)) return true;
  }
  return false;
}

/* ---- leaves --------------------------------------------------------------------------------- */
/* The only mapping of a box. */
static mapping only_mapping(const proof *q, const box *b) {
  mapping m = {.n_tiles = q->p->n};
  for (int l = 0; l < q->p->n; l++) {
    m.level[l] = l;
    m.first[l] = m.n_loops;
    m.bypass[l] = b->passed[l];
    if (l && (b->held[l] | b->passed[l]) + 1 != 1u << q->p->n_tensors)
      refuse("this is more than one mapping");
    for (int place = 0; place <= q->g.n; place++)
      for (int d = 0; d < q->p->n_dims; d++) {
        const span t = steps_at(q->p, b, l, d);
        if (b->place[l][d] != place) continue;
        if (t.lo != t.hi || (l + 1 < q->p->n && b->order[l] == NO_ORDER))
          refuse("this is more than one mapping");
        m.loop[m.n_loops++] = (loop){l, d, IN_TIME, t.lo};
      }
    for (int a = 0; a < 2; a++)
      for (int d = 0; d < q->p->n_dims; d++) {
        const span s = b->spread[l][a][d];
        if (s.lo != s.hi) refuse("this is more than one mapping");
        m.loop[m.n_loops++] = (loop){l, d, a, s.lo};
      }
  }
  return m;
}

static void costs(proof *q, wide cost, const char *stated) {
  if (!agrees(cost, stated, AGREED))
    refuse("it costs %.10g, not %s", (double)cost / (double)ONE, stated);
  q->least = least(q->least, cost);
}

static void leaf(proof *q, char what, const box *b) {
  const char *why;
  wide cost;
  q->n->leaves[(int)what & 31]++;
  if (what == 'c') {
    if (beyond_end(q->p, b)) refuse("the box is empty");
    costs(q, least_cost(q->p, b), must_word("a cost"));
  } else if (what == 'v') {
    const mapping m = only_mapping(q, b);
    if (!count(q->p, &m, &cost, &why)) refuse("the mapping does not fit: %s", why);
    costs(q, cost, must_word("a cost"));
  } else if (what == 'f') {
    if (!too_large(q->p, b, (int)whole(must_word("a memory"), 1, q->p->n - 1)))
      refuse("some mapping may fit");
  } else if (what == 'e') {
    if (!beyond_end(q->p, b)) refuse("all steps may begin before the end");
  } else if (what == 't') {
    if (!ordered_elsewhere(q, b, (int)whole(must_word("a Tile"), 0, q->p->n - 1)))
      refuse("no other order is as good");
  } else if (what == 'l') {
    if (!laid_out_elsewhere(q->p, b)) refuse("it is laid out as the one that counts");
  } else {
    refuse("'%c' is no branch", what);
  }
}

/* ---- branches ------------------------------------------------------------------------------- */
static void follow(proof *q, const box *b, int deep);

/* AxisTile.dim: a number of the box. */
static span *number_named(const problem *p, const char *name, box *b, int *tile, int *axis) {
  const bool form = strlen(name) > 3 && name[1] >= '0' && name[1] < '0' + p->n && name[2] == '.';
  if (!form || !strchr("slxy", name[0])) refuse("'%s' is no number of a mapping", name);
  const int d = dim_named(p, name + 3, strlen(name + 3));
  *tile = name[1] - '0';
  *axis = strchr("sl", name[0]) ? IN_TIME : name[0] - 'x';
  if (*axis == IN_TIME && *tile == 0) refuse("the outermost Tile takes the steps that are left");
  if (name[0] == 'l') return &b->length[*tile][d];
  return *axis == IN_TIME ? &b->steps[*tile][d] : &b->spread[*tile][*axis][d];
}

/* Where a span is cut: behind the whole part of the root of the product of its ends, which leaves
 * both parts one. */
static int64_t middle(const span *s) {
  int64_t lo = s->lo, hi = s->hi;
  while (lo < hi) { /* the largest n of the span with n n <= lo hi */
    const int64_t n = lo + (hi - lo + 1) / 2;
    if (n * n <= s->lo * s->hi)
      lo = n;
    else
      hi = n - 1;
  }
  return lo < s->hi ? lo : s->hi - 1;
}

static void halves(proof *q, const box *b, int deep) {
  int tile, axis;
  box low = *b, high = *b;
  const char *name = must_word("a number");
  span *in_low = number_named(q->p, name, &low, &tile, &axis),
       *in_high = number_named(q->p, name, &high, &tile, &axis);
  if (in_low->lo == in_low->hi) refuse("%s is known", name);
  const int64_t mid = middle(in_low);
  end_of_line();
  in_low->hi = mid;
  in_high->lo = mid + 1;
  for (int k = 0; k < 2; k++) {
    box *part = k ? &high : &low;
    if (axis == IN_TIME || cut_to_mesh(q->p, tile, axis, part)) {
      follow(q, part, deep + 1);
    } else {
      if (strcmp(line("a branch"), "m") != 0) refuse("the mesh holds none of these");
      q->n->leaves['m' & 31]++;
      end_of_line();
    }
  }
}

static void in_orders(proof *q, const box *b, int deep) {
  const int tile = (int)whole(must_word("a Tile"), 0, q->p->n - 2);
  if (b->order[tile] != NO_ORDER) refuse("Tile %d is in order", tile);
  end_of_line();
  for (int k = 0; k < q->g.orders; k++) {
    box part = *b;
    put_in_order(q, tile, k, &part);
    follow(q, &part, deep + 1);
  }
}

/* Two parts: the memory holds the tensor, or is bypassed. */
static void held_or_not(proof *q, const box *b, int deep) {
  const int tile = (int)whole(must_word("a Tile"), 1, q->p->n - 1),
            z = tensor_named(q->p, must_word("a tensor"));
  if ((b->held[tile] | b->passed[tile]) >> z & 1) refuse("whether Tile %d holds it is known", tile);
  end_of_line();
  for (int k = 0; k < 2; k++) {
    box part = *b;
    *(k ? &part.passed[tile] : &part.held[tile]) |= 1u << z;
    if (q->p->objective == TRAFFIC) leave_inside(q->p, &part);
    follow(q, &part, deep + 1);
  }
}

static void follow(proof *q, const box *b, int deep) {
  const char *what = line("a branch");
  if (what[1]) refuse("'%s' is no branch", what);
  if (deep > DEEPEST) refuse("more than %d branches, one in the other", DEEPEST);
  if (what[0] == 'h') {
    halves(q, b, deep);
  } else if (what[0] == 'o') {
    in_orders(q, b, deep);
  } else if (what[0] == 'b') {
    held_or_not(q, b, deep);
  } else {
    leaf(q, what[0], b);
    end_of_line();
  }
}

wide prove(const problem *p, proof_counts *n) {
  proof q = {.p = p, .g = groups_of(p), .least = ((wide)1 << 126), .n = n};
  const box all = whole_space(&q);
  follow(&q, &all, 0);
  return q.least;
}
