/* What a whole TileFlow tree says: whether factors reach the sizes, where intermediates live, what
 * bypass means. */
#include <string.h>

#include "base/checked.h"
#include "model/import/tileflow/tileflow.h"

bool ti_is_above(const ti_node *up, const ti_node *n) {
  while (n && n != up)
    n = n->parent;
  return n != NULL;
}

static bool touches(const ti_case *c, int op, int tensor) {
  const ti_op *o = c->ops[op];
  bool touches = o->out->tensor == tensor;
  for (int r = 0; r < o->n_reads; r++)
    touches |= o->reads[r]->tensor == tensor;
  return touches;
}

bool ti_leads(const ti_case *c, int op, const ti_node *n) {
  for (int o = 0; o < c->n_ops; o++)
    for (int r = 0; r < c->ops[o]->n_reads; r++)
      if (c->ops[o]->reads[r]->tensor == c->ops[op]->out->tensor && ti_is_above(n, c->leaf[o]))
        return false;
  return true;
}

/* ---- factors ------------------------------------------------------------------------ */
/* TileFlow runs whole steps only; here the last one is partial. */
static void check_product(ti_case *c, int op, int dim) {
  int64_t product = 1;
  const ti_loop *last = NULL;
  for (const ti_node *n = c->leaf[op]; n; n = n->parent)
    for (int k = 0; k < n->n_loops; k++) {
      if (n->loops[k].dim != dim) continue;
      if (!n->loops[k].trip || !tf_mul(product, n->loops[k].trip, &product)) return;
      if (n->loops[k].trip > 1 || !last) last = &n->loops[k];
    }
  if (last && c->dims[dim].extent && product > c->dims[dim].extent)
    ti_warn(c, last->at,
            "the factors of '%.40s' multiply to %lld on the way to op '%.40s', its size is %lld: "
            "here the last step is partial%s",
            c->dims[dim].name, (long long)product, c->ops[op]->name, (long long)c->dims[dim].extent,
            c->exact_loops ? "; TileFlow refuses it" : "");
}

enum { MAX_NAMES = 512 }; /* that are looked at */
typedef struct {
  int n, room;
  const ti_loop **loop;
} names;

static bool add_name(ti_case *c, names *v, const ti_loop *l) {
  if (v->n == v->room) {
    int room = v->room ? 2 * v->room : 64;
    const ti_loop **wider = TF_ARRAY(c->arena, const ti_loop *, (size_t)room);
    if (!wider) return ti_no_memory(c);
    if (v->n) memcpy(wider, v->loop, sizeof *wider * (size_t)v->n);
    v->loop = wider;
    v->room = room;
  }
  v->loop[v->n++] = l;
  return true;
}

/* A free name that stands in several places has one value for TileFlow. */
static bool check_names(ti_case *c, const ti_node *n, names *v) {
  for (int k = 0; k < n->n_loops; k++) {
    const ti_loop *l = &n->loops[k];
    if (l->trip || !l->name) continue;
    int met = 0;
    for (int i = 0; i < v->n; i++)
      met += !strcmp(v->loop[i]->name, l->name);
    if (met == 1)
      ti_warn(c, l->at,
              "not modelled: '%.40s' stands in several places, and has one value in TileFlow: here "
              "each is open by itself",
              l->name);
    if (met < 2 && v->n < MAX_NAMES && !add_name(c, v, l)) return false;
  }
  for (int i = 0; i < n->n_children; i++)
    if (!check_names(c, n->children[i], v)) return false;
  return true;
}

/* ---- where intermediates live ------------------------------------------------------- */
static ti_node *common_scope(ti_node *a, const ti_node *b) {
  while (a && b && !ti_is_above(a, b))
    a = a->parent;
  return b ? a : NULL;
}

static bool bypasses(const ti_node *n, int tensor) {
  for (int i = 0; i < n->n_bypass; i++)
    if (n->bypass[i].tensor == tensor) return true;
  return false;
}

/* The first temporal Tile below the scope, on the way to the op, that holds the tensor; NULL: none.
 */
static const ti_node *holder(const ti_case *c, const ti_node *scope, int op, int tensor) {
  const ti_node *found = NULL;
  for (const ti_node *n = c->leaf[op]; n && n != scope; n = n->parent)
    if (n->kind == TI_TILE && !n->spatial && !bypasses(n, tensor)) found = n;
  return found;
}

static int level_above(const ti_node *n) {
  for (n = n->parent; n; n = n->parent)
    if (n->kind == TI_TILE) return n->level;
  return 0;
}

/* TileFlow holds an intermediate in the first Tile below its scope, and nowhere above. */
static void find_home(ti_case *c, int tensor) {
  ti_tensor *z = &c->tensors[tensor];
  int level = -1;
  bool differ = false;
  z->scope = NULL;
  for (int o = 0; o < c->n_ops; o++)
    if (touches(c, o, tensor))
      z->scope = z->scope ? common_scope(z->scope, c->leaf[o]) : c->leaf[o];
  if (!z->scope || z->scope->kind != TI_SCOPE) return;
  for (int o = 0; o < c->n_ops; o++) {
    if (!touches(c, o, tensor)) continue;
    const ti_node *h = holder(c, z->scope, o, tensor);
    int own = h ? h->level : level_above(z->scope);
    differ |= level >= 0 && own != level;
    if (level < 0 || own < level) level = own;
  }
  if (differ)
    ti_warn(c, z->scope->at,
            "the ops that touch '%.40s' hold it in different memories: here in '%.40s'", z->name,
            ti_level_name(c, level));
  z->keep = level > level_above(z->scope) ? level : -1;
}

/* ---- bypass, profile ---------------------------------------------------------------- */
static const ti_node *tile_of_level_above(const ti_node *n) {
  for (const ti_node *up = n->parent; up; up = up->parent)
    if (up->kind == TI_TILE && up->level == n->level) return up;
  return NULL;
}

static bool touched_below(const ti_case *c, const ti_node *n, int tensor) {
  for (int o = 0; o < c->n_ops; o++)
    if (c->leaf[o] && ti_is_above(n, c->leaf[o]) && touches(c, o, tensor)) return true;
  return false;
}

/* Whether some Tile between the scope of an intermediate and n holds it. */
static bool held_above(const ti_node *scope, const ti_node *n, int tensor) {
  for (const ti_node *up = n->parent; up && up != scope; up = up->parent)
    if (up->kind == TI_TILE && !up->spatial && !bypasses(up, tensor)) return true;
  return false;
}

static bool resolve_bypass(ti_case *c, const ti_node *n, ti_bypass *b) {
  const ti_tensor *z = &c->tensors[b->tensor];
  bool inner = z->producer >= 0 && z->consumed;
  bool below =
      inner && z->scope && z->scope->kind == TI_SCOPE && n != z->scope && ti_is_above(z->scope, n);
  if (!touched_below(c, n, b->tensor) || (inner && !below)) {
    ti_warn(c, b->at, "without effect: bypass of '%.40s', which does not pass here", z->name);
    return true;
  }
  if (inner && !held_above(z->scope, n, b->tensor)) return true; /* says where it is held from */
  if (n->level == 0)
    return tf_fail(c->diags, b->at, TF_E_BYPASS,
                   "'%.40s' cannot bypass '%.40s': inputs and outputs live there", z->name,
                   ti_level_name(c, 0));
  const ti_node *first = tile_of_level_above(n);
  if (first) {
    tf_fail(c->diags, b->at, TF_E_BYPASS,
            "'%.40s' is held by the Tile of '%.40s' above: bypass it there", z->name,
            ti_level_name(c, n->level));
    tf_note(c->diags, first->at, "the Tile above");
    return false;
  }
  b->native = true;
  return true;
}

static bool resolve_node(ti_case *c, ti_node *n) {
  bool ok = true;
  for (int i = 0; i < n->n_bypass; i++)
    ok &= resolve_bypass(c, n, &n->bypass[i]);
  if (n->kind == TI_TILE && !n->profile && !tile_of_level_above(n))
    ti_warn(c, n->at, "not modelled: profile False: what '%.40s' moves is counted here",
            ti_level_name(c, n->level));
  for (int i = 0; i < n->n_children; i++)
    ok &= resolve_node(c, n->children[i]);
  return ok;
}

/* A network is the same for all Tiles that spread over it. */
static bool join_networks(ti_case *c, const ti_node *n, const ti_node **by_level) {
  bool ok = true;
  if (n->kind == TI_TILE && n->spatial) {
    const ti_node **first = &by_level[n->level];
    if (*first && (*first)->multicast != n->multicast) {
      ok = tf_fail(c->diags, n->at, TF_E_RANGE,
                   "'multicast' differs between Tiles that spread over the network below '%.40s'",
                   ti_level_name(c, n->level));
      tf_note(c->diags, (*first)->at, "the other one");
    }
    if (!*first) *first = n;
    if (!n->multicast) tl_spread_alone(c->arch, n->level);
  }
  for (int i = 0; i < n->n_children; i++)
    ok &= join_networks(c, n->children[i], by_level);
  return ok;
}

bool ti_complete(ti_case *c) {
  const ti_node *by_level[TL_MAX_LEVELS] = {NULL};
  names v = {.n = 0};
  if (!check_names(c, c->root, &v)) return false;
  for (int o = 0; o < c->n_ops; o++)
    for (int d = 0; d < c->n_dims && c->leaf[o]; d++)
      if (c->ops[o]->has[d]) check_product(c, o, d);
  for (int z = 0; z < c->n_tensors; z++)
    if (c->tensors[z].producer >= 0 && c->tensors[z].consumed) find_home(c, z);
  bool ok = resolve_node(c, c->root);
  return join_networks(c, c->root, by_level) && ok;
}
