/* YAML's merge keys, which libyaml leaves to its users. */
#include "model/import/timeloop/timeloop.h"

static bool is_merge(const tf_ynode *key) {
  return tf_ynode_is(key, "<<") || tf_ynode_is(key, "<<<");
}

typedef struct {
  tl_case *c;
  tf_ynode *map;
  tf_ypair *pairs;
  size_t room;
} builder;

static tf_ynode *new_map(tl_case *c, const tf_ynode *like, size_t room, builder *b) {
  tf_ynode *map = TF_NEW(c->arena, tf_ynode);
  *b = (builder){c, map, TF_ARRAY(c->arena, tf_ypair, room ? room : 1), room};
  if (!map || !b->pairs) return NULL;
  *map = *like;
  map->n = 0;
  map->pairs = b->pairs;
  return map;
}

/* a with those pairs of b that it lacks; with `deep`, maps that both have are merged in the same
 * way. */
static const tf_ynode *merge_two(tl_case *c, const tf_ynode *a, const tf_ynode *b, bool deep) {
  builder m;
  if (!new_map(c, a, a->n + b->n, &m)) return NULL;
  for (size_t i = 0; i < a->n; i++) {
    tf_ypair p = a->pairs[i];
    const tf_ynode *other = tf_ymap_get(b, p.key->text);
    if (deep && other && p.value->kind == TF_Y_MAP && other->kind == TF_Y_MAP)
      p.value = merge_two(c, p.value, other, true);
    if (!p.value) return NULL;
    m.pairs[m.map->n++] = p;
  }
  for (size_t i = 0; i < b->n; i++)
    if (!tf_ymap_get(a, b->pairs[i].key->text)) m.pairs[m.map->n++] = b->pairs[i];
  return m.map;
}

/* What a merge key brings: a map, or a list of maps, the first of which win. */
static const tf_ynode *merge_in(tl_case *c, const tf_ynode *map, const tf_ynode *key,
                                const tf_ynode *from) {
  size_t n = from->kind == TF_Y_LIST ? from->n : 1;
  for (size_t i = 0; i < n && map; i++) {
    const tf_ynode *part = from->kind == TF_Y_LIST ? from->items[i] : from;
    if (part->kind != TF_Y_MAP)
      tf_fail(c->diags, key->at, TF_E_TYPE, "'%s' merges maps, not %s", key->text,
              tf_ynode_what(part));
    else
      map = merge_two(c, map, part, key->len == 3);
  }
  return map;
}

static const tf_ynode *merge_map(tl_case *c, const tf_ynode *node) {
  builder m;
  if (!new_map(c, node, node->n, &m)) return NULL;
  for (size_t i = 0; i < node->n; i++) {
    tf_ypair p = {node->pairs[i].key, tl_merge(c, node->pairs[i].value)};
    if (!p.value) return NULL;
    if (!is_merge(p.key)) m.pairs[m.map->n++] = p;
  }
  const tf_ynode *out = m.map;
  for (size_t i = 0; i < node->n && out; i++) {
    if (!is_merge(node->pairs[i].key)) continue;
    const tf_ynode *from = tl_merge(c, node->pairs[i].value);
    out = from ? merge_in(c, out, node->pairs[i].key, from) : NULL;
  }
  return out;
}

const tf_ynode *tl_merge(tl_case *c, const tf_ynode *node) {
  if (node->kind == TF_Y_MAP) return merge_map(c, node);
  if (node->kind != TF_Y_LIST) return node;
  tf_ynode *list = TF_NEW(c->arena, tf_ynode);
  const tf_ynode **items = TF_ARRAY(c->arena, const tf_ynode *, node->n ? node->n : 1);
  if (!list || !items) return NULL;
  *list = *node;
  list->items = items;
  for (size_t i = 0; i < node->n; i++)
    if (!(items[i] = tl_merge(c, node->items[i]))) return NULL;
  return list;
}
