/* TileFlow's mappings in loop-nest notation (its map-raw files), a node a line, loops outer to
 * inner: for b,h in (4,?): # target: L2, profile: False, bypass: [C] pfor m,l in (8,LS): # target:
 * L2, split: 1, tag: op1 scope Sequential op NAME */
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "model/import/tileflow/tileflow.h"

/* A line, and how far it is read. */
typedef struct {
  ti_case *c;
  const char *text; /* its first byte */
  size_t len, i;
  tf_loc at; /* of the first byte */
} line;

static tf_loc loc_of(const line *l, size_t from, size_t len) {
  return (tf_loc){l->at.file, l->at.line, (uint32_t)from + 1, len ? (uint32_t)len : 1};
}

static void skip(line *l) {
  while (l->i < l->len && (l->text[l->i] == ' ' || l->text[l->i] == '\t' || l->text[l->i] == '\r'))
    l->i++;
}

static bool accept(line *l, char ch) {
  skip(l);
  if (l->i == l->len || l->text[l->i] != ch) return false;
  l->i++;
  return true;
}

/* The next word, up to a blank or one of ",():#[]"; empty at the end. */
static ti_word word(line *l) {
  skip(l);
  size_t from = l->i;
  while (l->i < l->len && !strchr(" \t\r,():#[]", l->text[l->i]))
    l->i++;
  return (ti_word){l->text + from, l->i - from, loc_of(l, from, l->i - from)};
}

static bool word_is(ti_word w, const char *text) {
  return strlen(text) == w.len && !memcmp(w.text, text, w.len);
}

static bool fail(line *l, const char *what) {
  return tf_fail(l->c->diags, loc_of(l, l->i, 1), TF_E_SYNTAX, "expected %s", what);
}

/* "a,b in (x,y):", outer to inner. */
static bool read_loops(line *l, ti_node *n) {
  ti_word dim[TI_MAX_DIMS];
  int count = 0;
  do {
    if (count == TI_MAX_DIMS) return fail(l, "fewer loops");
    dim[count] = word(l);
    if (!dim[count++].len) return fail(l, "a dimension");
  } while (accept(l, ','));
  if (!word_is(word(l), "in") || !accept(l, '(')) return fail(l, "'in (N, ..):'");
  n->loops = TF_ARRAY(l->c->arena, ti_loop, (size_t)count);
  if (!n->loops) return ti_no_memory(l->c);
  bool ok = true;
  for (int k = 0; k < count; k++) {
    ti_word trip = word(l);
    if (!trip.len || (k + 1 < count && !accept(l, ',')))
      return fail(l, "one factor for each dimension");
    ti_loop *loop = &n->loops[n->n_loops++];
    *loop = (ti_loop){.dim = ti_find_dim(l->c, dim[k], true), .at = trip.at};
    ok &= loop->dim >= 0 && ti_read_trip(l->c, trip, loop);
    for (int j = 0; j < k && ok; j++)
      if (n->loops[j].dim == loop->dim)
        ok = tf_fail(l->c->diags, dim[k].at, TF_E_DUP, "'%.40s' has two factors here",
                     l->c->dims[loop->dim].name);
  }
  return accept(l, ')') && accept(l, ':') ? ok : fail(l, "'):'");
}

static bool read_flag(line *l, ti_word w, bool *out) {
  *out = ti_same_word(w.text, w.len, "true");
  return *out || ti_same_word(w.text, w.len, "false") ||
         tf_fail(l->c->diags, w.at, TF_E_TYPE, "neither True nor False");
}

static bool read_split(line *l, ti_word w, ti_node *n) {
  int64_t x = 0;
  for (size_t i = 0; i < w.len; i++) {
    if (w.text[i] < '0' || w.text[i] > '9' || x > 1000)
      return tf_fail(l->c->diags, w.at, TF_E_RANGE, "split is a number");
    x = 10 * x + (w.text[i] - '0');
  }
  for (int k = 0; k < n->n_loops; k++)
    n->loops[k].y = n->n_loops - 1 - k >= x;
  return true;
}

static bool read_bypass(line *l, ti_node *n) {
  if (!accept(l, '[')) return fail(l, "'[TENSOR, ..]'");
  do {
    ti_word w = word(l);
    if (!w.len) return fail(l, "a data space");
    if (!ti_add_bypass(l->c, n, w)) return false;
  } while (accept(l, ','));
  return accept(l, ']') || fail(l, "']'");
}

enum { K_TARGET, K_SPLIT, K_TAG, K_PROFILE, K_MULTICAST, K_BYPASS, N_KEYS };

static bool read_value(line *l, int key, ti_node *n) {
  if (key == K_BYPASS) return read_bypass(l, n);
  ti_word w = word(l);
  if (!w.len) return fail(l, "a value");
  if (key == K_TARGET) {
    n->level = ti_find_level(l->c, w);
    n->level_at = w.at;
    return n->level >= 0;
  }
  if (key == K_SPLIT) return read_split(l, w, n);
  if (key == K_PROFILE) return read_flag(l, w, &n->profile);
  if (key == K_MULTICAST) return read_flag(l, w, &n->multicast);
  n->tag = tf_arena_strndup(l->c->arena, w.text, w.len);
  return n->tag != NULL || ti_no_memory(l->c);
}

/* "# key: value, key: value" */
static bool read_keys(line *l, ti_node *n) {
  static const char *const keys[N_KEYS] = {"target",  "split",     "tag",
                                           "profile", "multicast", "bypass"};
  if (!accept(l, '#')) return fail(l, "'# target: MEMORY'");
  do {
    ti_word w = word(l);
    int k = 0;
    while (k < N_KEYS && !word_is(w, keys[k]))
      k++;
    if (k == N_KEYS) {
      char hint[160];
      tf_near near = tf_near_start(w.text, w.len);
      for (k = 0; k < N_KEYS; k++)
        tf_near_offer(&near, keys[k]);
      return tf_fail(l->c->diags, w.at, TF_E_KEY, "unknown key '%.*s'%s",
                     (int)(w.len < 40 ? w.len : 40), w.text,
                     tf_near_text(&near, hint, sizeof hint));
    }
    if (!accept(l, ':')) return fail(l, "':'");
    if (!read_value(l, k, n)) return false;
  } while (accept(l, ','));
  if (n->level < 0) return fail(l, "'target: MEMORY'");
  return true;
}

static ti_kind kind_of(ti_word w) {
  return word_is(w, "scope") ? TI_SCOPE : word_is(w, "op") ? TI_OP : TI_TILE;
}

/* A node even where its line is wrong (*ok), so that those below it are read, too; NULL without
 * memory. */
static ti_node *read_line(line *l, ti_node *parent, bool *ok) {
  ti_word head = word(l);
  ti_kind kind = kind_of(head);
  bool spatial = word_is(head, "pfor");
  ti_node *n = ti_new_node(l->c, kind, head.at, parent);
  if (!n) return NULL;
  n->spatial = spatial;
  if (kind == TI_TILE && !spatial && !word_is(head, "for"))
    *ok = tf_fail(l->c->diags, head.at, TF_E_SYNTAX, "a line starts with for, pfor, scope or op");
  else if (kind == TI_TILE)
    *ok = read_loops(l, n) && read_keys(l, n);
  else if (kind == TI_SCOPE)
    *ok = ti_read_scope_type(l->c, word(l), &n->scope);
  else
    *ok = ti_set_leaf(l->c, n, word(l));
  skip(l);
  if (*ok && l->i < l->len && l->text[l->i] != '#') *ok = fail(l, "the end of the line");
  return n;
}

static bool add_child(ti_case *c, ti_node *n) {
  ti_node *up = n->parent;
  int have = up->n_children;
  if ((have & (have - 1)) == 0) { /* full at every power of two */
    ti_node **wider = TF_ARRAY(c->arena, ti_node *, 2 * (size_t)have + 1);
    if (!wider) return ti_no_memory(c);
    if (have) memcpy(wider, up->children, sizeof *wider * (size_t)have);
    up->children = wider;
  }
  up->children[up->n_children++] = n;
  return true;
}

bool ti_is_nest(const char *text, size_t len) {
  static const char *const heads[] = {"for ", "pfor ", "scope ", "op "};
  size_t i = 0;
  while (i < len && strchr(" \t\r\n", text[i]) && text[i])
    i++;
  for (size_t k = 0; k < sizeof heads / sizeof heads[0]; k++)
    if (len - i > strlen(heads[k]) && !memcmp(text + i, heads[k], strlen(heads[k]))) return true;
  return false;
}

/* Nodes that lines further in may hang below. */
typedef struct {
  bool over; /* nothing more can hang anywhere */
  int depth;
  size_t indent[TI_MAX_DEPTH];
  ti_node *node[TI_MAX_DEPTH];
} open_nodes;

static bool add_line(line *l, open_nodes *o) {
  ti_case *c = l->c;
  size_t indent = l->i;
  while (o->depth && o->indent[o->depth - 1] >= indent)
    o->depth--;
  o->over = !o->depth && c->root;
  if (o->over)
    return tf_fail(c->diags, loc_of(l, indent, 1), TF_E_SHAPE,
                   "a second tree: one line is outermost");
  if (o->depth == TI_MAX_DEPTH)
    return tf_fail(c->diags, loc_of(l, indent, 1), TF_E_LIMIT, "deeper than %d nodes",
                   TI_MAX_DEPTH);
  bool ok = true;
  ti_node *parent = o->depth ? o->node[o->depth - 1] : NULL, *n = read_line(l, parent, &ok);
  if (!n) return false;
  if (!parent)
    c->root = n;
  else if (!add_child(c, n))
    return false;
  o->indent[o->depth] = indent;
  o->node[o->depth++] = n;
  return ok;
}

bool ti_read_nest(ti_case *c, uint16_t file, const char *text, size_t len) {
  open_nodes *o = TF_NEW(c->arena, open_nodes);
  bool ok = true;
  uint32_t no = 1;
  if (!o) return ti_no_memory(c);
  for (size_t from = 0; from < len && !o->over; no++) {
    const char *end = memchr(text + from, '\n', len - from);
    line l = {c, text + from, end ? (size_t)(end - text) - from : len - from, 0, {file, no, 1, 1}};
    skip(&l);
    if (l.i < l.len && l.text[l.i] != '#') ok &= add_line(&l, o);
    from += l.len + 1;
  }
  return ok;
}
