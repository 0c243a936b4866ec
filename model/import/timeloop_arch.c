/* Timeloop's architecture: a tree of containers, each with local memories and compute units. */
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "model/import/timeloop.h"

/* Keys with a meaning here, and keys that are read and noted. */
enum { A_WORD, A_DATA, A_WIDTH, A_DEPTH, A_ENTRIES, A_BLOCK, A_MESH_X, A_READ_BW, A_WRITE_BW, A_BW, A_BLOCK2, A_SIZE_KB, N_A };
static const tf_yrow attributes[] = {
    [A_WORD] = {"word-bits", TF_Y_SCALAR, false},
    [A_DATA] = {"datawidth", TF_Y_SCALAR, false},
    [A_WIDTH] = {"width", TF_Y_SCALAR, false},
    [A_DEPTH] = {"depth", TF_Y_SCALAR, false},
    [A_ENTRIES] = {"entries", TF_Y_SCALAR, false},
    [A_BLOCK] = {"block-size", TF_Y_SCALAR, false},
    [A_MESH_X] = {"meshX", TF_Y_SCALAR, false},
    [A_READ_BW] = {"read_bandwidth", TF_Y_SCALAR, false},
    [A_WRITE_BW] = {"write_bandwidth", TF_Y_SCALAR, false},
    [A_BW] = {"bandwidth", TF_Y_SCALAR, false},
    [A_BLOCK2] = {"block_size", TF_Y_SCALAR, false},
    [A_SIZE_KB] = {"sizeKB", TF_Y_SCALAR, false},
    [N_A] = {"meshY", TF_Y_SCALAR, false},
    {"technology", TF_Y_SCALAR, false},
    {"cluster-size", TF_Y_SCALAR, false},
    {"num-ports", TF_Y_SCALAR, false},
    {"n_banks", TF_Y_SCALAR, false},
    {"instances", TF_Y_SCALAR, false},
};
enum { N_ATTRIBUTES = sizeof attributes / sizeof attributes[0] };

static bool read_real(tl_case *c, const tf_ynode *node, double *out) {
  char *end;
  *out = strtod(node->text, &end);
  return (end != node->text && !*end && *out > 0 && *out < 1e15) ||
         tf_fail(c->diags, node->at, TF_E_RANGE, "'%.40s' is no number above 0", node->text);
}

/* "RF[0..7]": the name, and how many there are. */
static bool read_name(tl_case *c, const tf_ynode *node, const char **name, int64_t *count) {
  const char *open = strchr(node->text, '[');
  size_t n = open ? (size_t)(open - node->text) : node->len;
  *count = 1;
  if (open) {
    char *end;
    long long from = strtoll(open + 1, &end, 10), to = from;
    if (strncmp(end, "..", 2) == 0) to = strtoll(end + 2, &end, 10);
    if (from != 0 || to < 0 || to >= 1 << 30 || strcmp(end, "]") != 0)
      return tf_fail(c->diags, node->at, TF_E_SYNTAX, "'%.60s': instances are written NAME[0..N]", node->text);
    *count = to + 1;
  }
  if (!tf_is_name(node->text, n, true))
    return tf_fail(c->diags, node->at, TF_E_SYNTAX, "'%.60s' cannot name a memory or unit", node->text);
  *name = tf_arena_strndup(c->arena, node->text, n);
  return *name != NULL;
}

static bool is_compute(const char *class) {
  static const char *const known[] = {"intmac", "fpmac", "mac", "compute", "intmultiplier"};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    if (!strcmp(class, known[i])) return true;
  return false;
}

static bool read_attributes(tl_case *c, const tf_ynode *node, tl_level *l) {
  const tf_ynode *v[N_ATTRIBUTES] = {NULL};
  int64_t width = 0, depth = -1, block = 1;
  if (!node) return true;
  bool ok = tf_yschema_check(node, attributes, N_ATTRIBUTES, "the attributes of a component", v, c->diags);
  if (v[A_WORD]) ok &= tl_int(c, v[A_WORD], "word-bits", 1, &l->word_bits);
  if (v[A_DATA]) ok &= tl_int(c, v[A_DATA], "datawidth", 1, &l->word_bits);
  if (v[A_WIDTH]) ok &= tl_int(c, v[A_WIDTH], "width", 1, &width);
  if (!v[A_BLOCK]) v[A_BLOCK] = v[A_BLOCK2];
  if (v[A_BLOCK]) ok &= tl_int(c, v[A_BLOCK], "block-size", 1, &block);
  else if (width && l->word_bits) block = width / l->word_bits > 0 ? width / l->word_bits : 1;
  if (v[A_DEPTH]) ok &= tl_int(c, v[A_DEPTH], "depth", 1, &depth);
  if (depth > INT64_MAX / block) return tf_fail(c->diags, node->at, TF_E_RANGE, "depth times block-size passes 2^63 - 1");
  l->words = depth < 0 ? -1 : depth * block;
  if (v[A_SIZE_KB] && tl_int(c, v[A_SIZE_KB], "sizeKB", 1, &l->words))
    l->words = l->words * 8192 / (l->word_bits ? l->word_bits : 16); /* 2^40 at most */
  if (v[A_ENTRIES]) ok &= tl_int(c, v[A_ENTRIES], "entries", 1, &l->words);
  if (v[A_MESH_X]) ok &= tl_int(c, v[A_MESH_X], "meshX", 1, &l->mesh_x);
  if (v[A_READ_BW]) ok &= read_real(c, v[A_READ_BW], &l->read_bw);
  if (v[A_WRITE_BW]) ok &= read_real(c, v[A_WRITE_BW], &l->write_bw);
  if (v[A_BW]) {
    ok &= read_real(c, v[A_BW], &l->read_bw);
    l->write_bw = l->read_bw;
  }
  for (int i = N_A; i < N_ATTRIBUTES; i++)
    if (v[i]) tf_page_say(c->notes, "# not modelled: %s %s of %s\n", attributes[i].key, v[i]->text, l->name);
  return ok;
}

/* One component of a `local` list; `outer`: instances of the containers around it. */
static bool read_component(tl_case *c, const tf_ynode *node, int64_t outer) {
  static const tf_yrow rows[] = {{"name", TF_Y_SCALAR, true}, {"class", TF_Y_SCALAR, true},
                                 {"attributes", TF_Y_MAP, false}};
  const tf_ynode *v[3];
  tl_level l = {.at = node->at, .words = -1};
  int64_t count;
  if (!tf_yschema_kind(node, TF_Y_MAP, "a component", c->diags) ||
      !tf_yschema_check(node, rows, 3, "a component", v, c->diags) || !read_name(c, v[0], &l.name, &count))
    return false;
  l.memory = !is_compute(v[1]->text);
  l.instances = count * outer;
  bool ok = read_attributes(c, v[2], &l);
  if (c->n_levels == TL_MAX_LEVELS)
    return tf_fail(c->diags, node->at, TF_E_LIMIT, "more than %d components", TL_MAX_LEVELS);
  if (c->n_levels && !c->level[c->n_levels - 1].memory)
    return tf_fail(c->diags, node->at, TF_E_SHAPE, "'%.40s' stands behind the compute units: they come last",
                   l.name);
  c->level[c->n_levels++] = l;
  return ok;
}

static bool read_container(tl_case *c, const tf_ynode *node, int64_t outer) {
  static const tf_yrow rows[] = {{"name", TF_Y_SCALAR, true}, {"local", TF_Y_LIST, false},
                                 {"subtree", TF_Y_LIST, false}, {"attributes", 0, false}};
  const tf_ynode *v[4];
  const char *name;
  int64_t count;
  if (!tf_yschema_kind(node, TF_Y_MAP, "a container", c->diags) ||
      !tf_yschema_check(node, rows, 4, "a container", v, c->diags) || !read_name(c, v[0], &name, &count))
    return false;
  if (count > (INT64_C(1) << 40) / outer)
    return tf_fail(c->diags, node->at, TF_E_RANGE, "more than 2^40 instances");
  bool ok = true;
  for (size_t i = 0; v[1] && i < v[1]->n; i++)
    ok &= read_component(c, v[1]->items[i], outer * count);
  if (v[2] && v[2]->n > 1)
    return tf_fail(c->diags, v[2]->items[1]->at, TF_E_SHAPE, "a second subtree: one path of memories is modelled");
  return ok && (!v[2] || v[2]->n == 0 || read_container(c, v[2]->items[0], outer * count));
}

/* Whether every level's instances spread evenly below one of the level above. */
static bool check_meshes(tl_case *c) {
  bool ok = true;
  for (int i = 1; i < c->n_levels; i++) {
    const tl_level *l = &c->level[i], *up = &c->level[i - 1];
    int64_t x = l->mesh_x ? l->mesh_x : l->instances, ux = up->mesh_x ? up->mesh_x : up->instances;
    bool even = l->instances % x == 0 && up->instances % ux == 0 && x % ux == 0 &&
                (l->instances / x) % (up->instances / ux) == 0;
    if (!even)
      ok = tf_fail(c->diags, l->at, TF_E_FANOUT, "%lld instances of '%.40s' (meshX %lld) do not spread evenly "
                   "below %lld of '%.40s' (meshX %lld)", (long long)l->instances, l->name, (long long)x,
                   (long long)up->instances, up->name, (long long)ux);
  }
  return ok;
}

bool tl_read_architecture(tl_case *c, const tf_ynode *node) {
  static const tf_yrow rows[] = {{"version", TF_Y_SCALAR, false}, {"subtree", TF_Y_LIST, true}};
  const tf_ynode *v[2];
  if (!tf_yschema_kind(node, TF_Y_MAP, "architecture", c->diags) ||
      !tf_yschema_check(node, rows, 2, "Timeloop's architecture", v, c->diags))
    return false;
  if (v[0] && strcmp(v[0]->text, "0.2") != 0 && strcmp(v[0]->text, "0.3") != 0)
    return tf_fail(c->diags, v[0]->at, TF_E_RANGE, "version '%.20s' is not read: 0.2 and 0.3 are", v[0]->text);
  if (v[1]->n != 1)
    return tf_fail(c->diags, v[1]->at, TF_E_SHAPE, "one subtree is expected, not %zu", v[1]->n);
  if (!read_container(c, v[1]->items[0], 1)) return false;
  if (c->n_levels == 0 || !c->level[0].memory)
    return tf_fail(c->diags, v[1]->at, TF_E_SHAPE, "no memory: the outermost holds inputs and outputs");
  if (c->level[c->n_levels - 1].memory)
    return tf_fail(c->diags, v[1]->at, TF_E_SHAPE, "no compute units (class intmac, fpmac, mac or compute)");
  return check_meshes(c);
}
