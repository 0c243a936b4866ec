/* The share of a statement's points that masks leave. It is found by computing the values on which
 * its ranges depend for the steps of the surrounding loops: for all of them, or a sample. */
#include "codegen/backend/cpu/note/share.h"

#include <math.h>

enum { MOST_STEPS = 64, MOST_SETTINGS = 1024 };

typedef struct {
  const cpu_path *path;
  const ir_range *r; /* [n] */
  int n;
  bool *needed; /* [path] */
  double settings, shares;
  int64_t most; /* steps of a loop that are sampled */
  bool unknown; /* some value is known at run time only */
} sum;

static int64_t atom(const cpu_path *at, ir_atom a) {
  return a.var < 0 ? a.off : at->var[a.var] + a.off;
}

static int64_t value(const cpu_path *at, const ir_expr *e) {
  int64_t v = e->fn == IR_SUM ? 0 : atom(at, e->arg[0]);
  if (e->fn == IR_MOD) return v % e->arg[1].off;
  if (e->fn == IR_DIV) return v / e->arg[1].off;
  if (e->fn == IR_PICK) return v < atom(at, e->arg[1]) ? atom(at, e->arg[2]) : atom(at, e->arg[3]);
  for (int i = 0; i < e->n; i++) {
    const int64_t a = atom(at, e->arg[i]);
    if (e->fn == IR_SUM)
      v += e->coef[i] * a;
    else if (e->fn == IR_MIN ? a < v : a > v)
      v = a;
  }
  return v;
}

/* Marks the values and loops on which the ranges depend, from the innermost out. */
static void find_needed(sum *s) {
  const cpu_path *at = s->path;
  for (int v = 0; v < at->p->n_vars; v++)
    at->var[v] = 0;
  for (int i = 0; i < s->n; i++) {
    if (s->r[i].lo.var >= 0) at->var[s->r[i].lo.var] = 1;
    if (s->r[i].hi.var >= 0) at->var[s->r[i].hi.var] = 1;
  }
  for (int i = at->n - 1; i >= 0; i--) {
    const ir_stmt *x = at->s[i];
    s->needed[i] = at->var[x->kind == IR_LET ? x->let.var : x->loop.var] != 0;
    if (x->kind != IR_LET || !s->needed[i]) continue;
    s->unknown |= x->let.expr.fn == IR_SEEN;
    for (int k = 0; k < x->let.expr.n; k++)
      if (x->let.expr.arg[k].var >= 0) at->var[x->let.expr.arg[k].var] = 1;
  }
}

/* The longest of the ranges, as a share of its maximum; of a guard: 1 if any has points, else 0. */
static double share_here(const sum *s, bool guard) {
  double share = 0;
  for (int i = 0; i < s->n; i++) {
    const double n = (double)(atom(s->path, s->r[i].hi) - atom(s->path, s->r[i].lo));
    if (n > 0) share = fmax(share, guard ? 1 : n / (double)s->r[i].most);
  }
  return share;
}

static void sum_shares(sum *s, int from, bool guard) {
  for (int i = from; i < s->path->n; i++) {
    const ir_stmt *x = s->path->s[i];
    if (!s->needed[i]) continue;
    if (x->kind == IR_LET) {
      s->path->var[x->let.var] = value(s->path, &x->let.expr);
      continue;
    }
    const int64_t n = x->loop.trip < s->most ? x->loop.trip : s->most;
    for (int64_t k = 0; k < n; k++) {
      s->path->var[x->loop.var] = n > 1 ? k * (x->loop.trip - 1) / (n - 1) : 0;
      sum_shares(s, i + 1, guard);
    }
    return;
  }
  s->settings++, s->shares += share_here(s, guard);
}

static double share(const cpu_path *at, const ir_range *r, int n, bool guard) {
  sum s = {.path = at, .r = r, .n = n, .most = MOST_STEPS};
  s.needed = TF_ARRAY(at->p->arena, bool, (size_t)at->n + 1);
  if (!s.needed) return 1;
  find_needed(&s);
  if (s.unknown) return 1;
  int loops = 0;
  for (int i = 0; i < at->n; i++)
    loops += s.needed[i] && at->s[i]->kind == IR_FOR && at->s[i]->loop.trip > 1;
  while (s.most > 2 && pow((double)s.most, loops) > MOST_SETTINGS)
    s.most /= 2;
  sum_shares(&s, 0, guard);
  return s.settings > 0 ? s.shares / s.settings : 1;
}

double cpu_share_of_guard(const cpu_path *at, const ir_stmt *guard) {
  return share(at, guard->guard.range, guard->guard.n, true);
}

double cpu_share_of_range(const cpu_path *at, const ir_range *r) { return share(at, r, 1, false); }
