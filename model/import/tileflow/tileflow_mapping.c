/* TileFlow's mapping in YAML: nodes with `node-type` Tile, Scope and Op. */
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "model/import/tileflow/tileflow.h"

ti_node *ti_new_node(ti_case *c, ti_kind kind, tf_loc at, ti_node *parent) {
  ti_node *n = TF_NEW(c->arena, ti_node);
  if (!n) {
    ti_no_memory(c);
    return NULL;
  }
  *n = (ti_node){.kind = kind,
                 .at = at,
                 .parent = parent,
                 .level = -1,
                 .op = -1,
                 .profile = true,
                 .multicast = true};
  return n;
}

bool ti_read_scope_type(ti_case *c, ti_word w, tf_scope *out) {
  static const struct {
    const char *word;
    tf_scope scope;
  } known[] = {{"sequential", TF_SEQ}, {"seq", TF_SEQ},       {"sharing", TF_SHAR},
               {"shared", TF_SHAR},    {"shar", TF_SHAR},     {"parallel", TF_PARA},
               {"para", TF_PARA},      {"pipeline", TF_PIPE}, {"pipelined", TF_PIPE},
               {"pipe", TF_PIPE}};
  char hint[160];
  tf_near near = tf_near_start(w.text, w.len);
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    if (ti_same_word(w.text, w.len, known[i].word)) {
      *out = known[i].scope;
      return true;
    }
    tf_near_offer(&near, known[i].word);
  }
  return tf_fail(c->diags, w.at, TF_E_RANGE, "no scope is of type '%.*s'%s",
                 (int)(w.len < 40 ? w.len : 40), w.text, tf_near_text(&near, hint, sizeof hint));
}

bool ti_read_trip(ti_case *c, ti_word w, ti_loop *l) {
  const char *comma = memchr(w.text, ',', w.len);
  ti_word head = {w.text, comma ? (size_t)(comma - w.text) : w.len, w.at};
  if (head.len == 1 && (*head.text == '?' || *head.text == 'X') && !ti_find_macro(c, head.text, 1))
    return true;
  if (comma)
    ti_warn(c, w.at, "not modelled: a last step of %.*s: it follows from the size",
            (int)(w.len - head.len - 1), comma + 1);
  return ti_number(c, head, "factor", &l->trip, &l->name);
}

/* ---- loops of a Tile ---------------------------------------------------------------- */
typedef struct {
  ti_case *c;
  const tf_ynode *node;
  int n;
  ti_loop loop[TI_MAX_DIMS];
} factors;

static ti_word part(const tf_ynode *node, size_t from, size_t len) {
  return (ti_word){node->text + from, len, tf_ynode_place(node, from, len ? len : 1)};
}

static bool add_factor(factors *f, ti_word dim, ti_word trip) {
  ti_case *c = f->c;
  int d = ti_find_dim(c, dim, false);
  if (d < 0) return false;
  for (int i = 0; i < f->n; i++)
    if (f->loop[i].dim == d)
      return tf_fail(c->diags, dim.at, TF_E_DUP, "'%.40s' has two factors here", c->dims[d].name);
  ti_loop *l = &f->loop[f->n++];
  *l = (ti_loop){.dim = d, .at = dim.at};
  l->at.len = (uint32_t)(trip.text + trip.len - dim.text);
  return ti_read_trip(c, trip, l);
}

/* "M=4 K = KO L=3,2": blanks may stand around '='. */
static bool read_factors(factors *f, const tf_ynode *node) {
  bool ok = true;
  const char *s = node->text;
  for (size_t i = strspn(s, " ,\t\n"); s[i]; i += strspn(s + i, " ,\t\n")) {
    size_t name = strcspn(s + i, "= ,\t\n"), eq = i + name;
    eq += strspn(s + eq, " \t\n");
    if (s[eq] != '=')
      return tf_fail(f->c->diags, tf_ynode_place(node, i, name ? name : 1), TF_E_SYNTAX,
                     "a factor is written DIM=N");
    size_t value = eq + 1 + strspn(s + eq + 1, " \t\n"), len = strcspn(s + value, "= ,\t\n");
    if (s[value + len] == ',' &&
        strspn(s + value + len + 1, "0123456789")) /* "4,3": a number behind the comma */
      len += 1 + strspn(s + value + len + 1, "0123456789");
    if (!len)
      return tf_fail(f->c->diags, tf_ynode_place(node, i, eq + 1 - i), TF_E_SYNTAX,
                     "a factor is written DIM=N");
    ok &= add_factor(f, part(node, i, name), part(node, value, len));
    i = value + len;
  }
  return ok;
}

typedef struct {
  ti_case *c;
  const factors *f;
  int n;
  int order[TI_MAX_DIMS]; /* factors, inner to outer */
} permutation;

static bool add_to_order(permutation *p, ti_word w) {
  int d = ti_find_dim(p->c, w, false), k = 0;
  if (d < 0) return false;
  while (k < p->f->n && p->f->loop[k].dim != d)
    k++;
  if (k == p->f->n)
    return tf_fail(p->c->diags, w.at, TF_E_NAME, "the permutation has '%.40s', the factors do not",
                   p->c->dims[d].name);
  for (int i = 0; i < p->n; i++)
    if (p->order[i] == k)
      return tf_fail(p->c->diags, w.at, TF_E_DUP, "'%.40s' stands twice in the permutation",
                     p->c->dims[d].name);
  p->order[p->n++] = k;
  return true;
}

/* A dim, or one-letter dims without a blank. */
static bool add_order(ti_case *c, ti_word w, void *arg) {
  bool ok = true, one = w.len == 1;
  for (int d = 0; d < c->n_dims; d++)
    one |= strlen(c->dims[d].name) == w.len && !memcmp(c->dims[d].name, w.text, w.len);
  if (one) return add_to_order(arg, w);
  for (size_t i = 0; i < w.len; i++) {
    tf_loc at = {w.at.file, w.at.line, w.at.col + (uint32_t)i, 1};
    ok &= add_to_order(arg, (ti_word){w.text + i, 1, at});
  }
  return ok;
}

/* Without a permutation TileFlow takes the order of a hash table: the factors as they stand are as
 * good. */
static bool read_order(const tf_ynode *node, const tf_ynode *order, factors *f, permutation *p) {
  ti_case *c = f->c;
  int moving = 0;
  if (order && !ti_words(c, order, add_order, p)) return false;
  for (int k = 0; k < f->n; k++) {
    bool met = !order;
    for (int i = 0; i < p->n; i++)
      met |= p->order[i] == k;
    if (!met && f->loop[k].trip != 1)
      return tf_fail(c->diags, order->at, TF_E_MISSING,
                     "the permutation lacks '%.40s', which has a factor",
                     c->dims[f->loop[k].dim].name);
    moving += f->loop[k].trip != 1;
  }
  if (order) return true;
  for (int k = 0; k < f->n; k++)
    p->order[k] = f->n - 1 - k;
  p->n = f->n;
  if (moving > 1)
    ti_warn(c, node->at,
            "no permutation: TileFlow leaves the order to a hash table; taken as written, "
            "outermost first");
  return true;
}

static bool read_loops(ti_case *c, const tf_ynode *node, const tf_ynode *factor,
                       const tf_ynode *order, const tf_ynode *split, ti_node *n) {
  factors *f = TF_NEW(c->arena, factors);
  permutation p = {.c = c, .f = f};
  int64_t x = TI_MAX_DIMS;
  if (!f) return ti_no_memory(c);
  f->c = c;
  bool ok = true;
  for (size_t i = 0; factor->kind == TF_Y_LIST && i < factor->n; i++)
    ok &= tf_yschema_kind(factor->items[i], TF_Y_SCALAR, "a factor", c->diags) &&
          read_factors(f, factor->items[i]);
  if (factor->kind == TF_Y_SCALAR) ok = read_factors(f, factor);
  if (!ok || !read_order(node, order, f, &p)) return false;
  if (split && !tl_int(c->arch, split, "split", 0, &x)) return false;
  if (split && !n->spatial) ti_warn(c, split->at, "without effect: split of a temporal Tile");
  n->loops = TF_ARRAY(c->arena, ti_loop, (size_t)p.n + 1);
  if (!n->loops) return ti_no_memory(c);
  for (int i = p.n - 1; i >= 0; i--) {
    ti_loop l = f->loop[p.order[i]];
    l.y = i >= x;
    n->loops[n->n_loops++] = l;
  }
  return true;
}

/* ---- nodes -------------------------------------------------------------------------- */
bool ti_add_bypass(ti_case *c, ti_node *n, ti_word w) {
  int z = ti_find_tensor(c, w);
  if (z < 0) return false;
  ti_bypass *wider = TF_ARRAY(c->arena, ti_bypass, (size_t)n->n_bypass + 1);
  if (!wider) return ti_no_memory(c);
  for (int i = 0; i < n->n_bypass; i++) {
    wider[i] = n->bypass[i];
    if (wider[i].tensor == z)
      return tf_fail(c->diags, w.at, TF_E_DUP, "'%.40s' bypasses twice", c->tensors[z].name);
  }
  wider[n->n_bypass++] = (ti_bypass){.tensor = z, .at = w.at};
  n->bypass = wider;
  return true;
}

typedef struct {
  ti_node *n;
} target;

static bool add_bypass(ti_case *c, ti_word w, void *arg) {
  static const char brackets[] = "[]";
  while (w.len && strchr(brackets, *w.text)) {
    w.text++;
    w.len--;
    w.at.col++;
  }
  while (w.len && strchr(brackets, w.text[w.len - 1]))
    w.len--;
  return !w.len || ti_add_bypass(c, ((target *)arg)->n, w);
}

bool ti_set_leaf(ti_case *c, ti_node *n, ti_word w) {
  n->op = ti_find_op(c, w);
  if (n->op < 0) return false;
  if (c->leaf[n->op]) {
    tf_fail(c->diags, w.at, TF_E_SHAPE, "op '%.40s' stands twice in the tree", c->ops[n->op]->name);
    tf_note(c->diags, c->leaf[n->op]->at, "first here");
    return false;
  }
  c->leaf[n->op] = n;
  return true;
}

enum {
  T_NODE,
  T_TYPE,
  T_FACTORS,
  T_ORDER,
  T_TARGET,
  T_SPLIT,
  T_BYPASS,
  T_MULTICAST,
  T_PROFILE,
  T_TAG,
  T_SUBTREE,
  N_T
};

static bool read_tile(ti_case *c, const tf_ynode *node, ti_node *n, const tf_ynode **subtree) {
  static const tf_yrow rows[N_T] = {
      [T_NODE] = {"node-type", TF_Y_SCALAR, true},
      [T_TYPE] = {"type", TF_Y_SCALAR, false},
      [T_FACTORS] = {"factors", TF_Y_SCALAR | TF_Y_LIST, true},
      [T_ORDER] = {"permutation", TF_Y_SCALAR | TF_Y_LIST, false},
      [T_TARGET] = {"target", TF_Y_SCALAR, true},
      [T_SPLIT] = {"split", TF_Y_SCALAR, false},
      [T_BYPASS] = {"bypass", TF_Y_SCALAR | TF_Y_LIST, false},
      [T_MULTICAST] = {"multicast", TF_Y_SCALAR, false},
      [T_PROFILE] = {"profile", TF_Y_SCALAR, false},
      [T_TAG] = {"tag", TF_Y_SCALAR, false},
      [T_SUBTREE] = {"subtree", TF_Y_LIST | TF_Y_MAP, true},
  };
  const tf_ynode *v[N_T];
  bool ok = tf_yschema_check(node, rows, N_T, "a Tile", v, c->diags);
  *subtree = v[T_SUBTREE];
  if (!ok) return false;
  n->spatial = v[T_TYPE] && ti_same_word(v[T_TYPE]->text, v[T_TYPE]->len, "spatial");
  if (v[T_TYPE] && !n->spatial && !ti_same_word(v[T_TYPE]->text, v[T_TYPE]->len, "temporal"))
    return tf_fail(c->diags, v[T_TYPE]->at, TF_E_RANGE,
                   "a Tile is temporal or spatial, not '%.40s'", v[T_TYPE]->text);
  n->level = ti_find_level(c, ti_word_of(v[T_TARGET]));
  n->level_at = v[T_TARGET]->at;
  ok = n->level >= 0;
  ok &= read_loops(c, node, v[T_FACTORS], v[T_ORDER], v[T_SPLIT], n);
  if (v[T_BYPASS]) ok &= ti_words(c, v[T_BYPASS], add_bypass, &(target){n});
  if (v[T_MULTICAST]) ok &= ti_read_bool(c, v[T_MULTICAST], &n->multicast);
  if (v[T_MULTICAST] && !n->spatial)
    ti_warn(c, v[T_MULTICAST]->at, "without effect: multicast of a temporal Tile");
  if (v[T_PROFILE]) ok &= ti_read_bool(c, v[T_PROFILE], &n->profile);
  if (v[T_TAG]) n->tag = v[T_TAG]->text;
  return ok;
}

static bool read_scope(ti_case *c, const tf_ynode *node, ti_node *n, const tf_ynode **subtree) {
  static const tf_yrow rows[] = {{"node-type", TF_Y_SCALAR, true},
                                 {"type", TF_Y_SCALAR, false},
                                 {"tag", TF_Y_SCALAR, false},
                                 {"subtree", TF_Y_LIST | TF_Y_MAP, true}};
  const tf_ynode *v[4];
  bool ok = tf_yschema_check(node, rows, 4, "a Scope", v, c->diags);
  *subtree = v[3];
  if (!ok) return false;
  n->scope = TF_SEQ; /* as TileFlow takes it */
  if (v[2]) n->tag = v[2]->text;
  return !v[1] || ti_read_scope_type(c, ti_word_of(v[1]), &n->scope);
}

static bool read_leaf(ti_case *c, const tf_ynode *node, ti_node *n) {
  static const tf_yrow rows[] = {{"node-type", TF_Y_SCALAR, true},
                                 {"name", TF_Y_SCALAR, true},
                                 {"binding", 0, false},
                                 {"tag", TF_Y_SCALAR, false}};
  const tf_ynode *v[4];
  if (!tf_yschema_check(node, rows, 4, "an Op", v, c->diags)) return false;
  if (v[2])
    ti_warn(c, v[2]->at, "without effect, as in TileFlow: binding of op '%.40s'", v[1]->text);
  if (v[3]) n->tag = v[3]->text;
  return ti_set_leaf(c, n, ti_word_of(v[1]));
}

static ti_node *read_node(ti_case *c, const tf_ynode *node, ti_node *parent, int depth);

static bool read_children(ti_case *c, const tf_ynode *subtree, ti_node *n, int depth) {
  size_t count = subtree->kind == TF_Y_LIST ? subtree->n : 1;
  n->children = TF_ARRAY(c->arena, ti_node *, count + 1);
  if (!n->children) return ti_no_memory(c);
  bool ok = true;
  for (size_t i = 0; i < count; i++) {
    ti_node *child =
        read_node(c, subtree->kind == TF_Y_LIST ? subtree->items[i] : subtree, n, depth + 1);
    if (child) n->children[n->n_children++] = child;
    ok &= child != NULL;
  }
  return ok;
}

static ti_node *read_node(ti_case *c, const tf_ynode *node, ti_node *parent, int depth) {
  static const char *const types[] = {"Tile", "Scope", "Op"};
  const tf_ynode *type, *subtree = NULL;
  char hint[160];
  int kind = 0;
  if (depth > TI_MAX_DEPTH) {
    tf_fail(c->diags, node->at, TF_E_LIMIT, "deeper than %d nodes", TI_MAX_DEPTH);
    return NULL;
  }
  if (!tf_yschema_kind(node, TF_Y_MAP, "a node of the mapping", c->diags)) return NULL;
  type = tf_ymap_get(node, "node-type");
  if (!type || type->kind != TF_Y_SCALAR) {
    tf_fail(c->diags, node->at, TF_E_MISSING,
            "a node needs the key 'node-type': Tile, Scope or Op");
    return NULL;
  }
  tf_near near = tf_near_start(type->text, type->len);
  while (kind < 3 && !ti_same_word(type->text, type->len, types[kind]))
    tf_near_offer(&near, types[kind++]);
  if (kind == 3) {
    tf_fail(c->diags, type->at, TF_E_RANGE, "no node-type '%.40s'%s", type->text,
            tf_near_text(&near, hint, sizeof hint));
    return NULL;
  }
  ti_node *n = ti_new_node(c, (ti_kind)kind, node->at, parent);
  if (!n) return NULL;
  bool ok = kind == TI_TILE    ? read_tile(c, node, n, &subtree)
            : kind == TI_SCOPE ? read_scope(c, node, n, &subtree)
                               : read_leaf(c, node, n);
  if (subtree) ok &= read_children(c, subtree, n, depth);
  return ok ? n : NULL;
}

/* A Tile that our export puts where TileFlow wants one and the tree has none. */
static bool is_filler(const ti_node *n) {
  bool filler = n->kind == TI_TILE && n->tag && !strcmp(n->tag, EX_NO_TILE) && n->n_children == 1 &&
                !n->n_bypass;
  for (int k = 0; k < n->n_loops; k++)
    filler &= n->loops[k].trip == 1;
  return filler;
}

static ti_node *leave_out_fillers(ti_node *n, ti_node *parent) {
  while (is_filler(n))
    n = n->children[0];
  n->parent = parent;
  for (int i = 0; i < n->n_children; i++)
    n->children[i] = leave_out_fillers(n->children[i], n);
  return n;
}

bool ti_read_mapping(ti_case *c, const tf_ynode *node) {
  c->root = read_node(c, node, NULL, 0);
  if (c->root) c->root = leave_out_fillers(c->root, NULL);
  return c->root != NULL;
}
