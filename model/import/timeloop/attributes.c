/* Attributes of Timeloop's components: those with a meaning here are read, the others noted, misspelt ones refused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "model/import/timeloop/timeloop.h"

enum {
  A_WORD,
  A_WIDTH,
  A_DEPTH,
  A_ENTRIES,
  A_BLOCK,
  A_MESH_X,
  A_MESH_Y,
  A_READ_BW,
  A_WRITE_BW,
  A_BW,
  A_SHARED_BW,
  A_CLUSTER,
  A_BUFFERS,
  A_TECHNOLOGY,
  A_CYCLE,
  A_SIZE_KB,
  N_A,
  A_NOTED = N_A /* known, without a meaning here */
};
static const struct {
  const char *key;
  int id;
} known[] = {
    {"word-bits", A_WORD},
    {"word_bits", A_WORD},
    {"datawidth", A_WORD},
    {"width", A_WIDTH},
    {"depth", A_DEPTH},
    {"entries", A_ENTRIES},
    {"block-size", A_BLOCK},
    {"block_size", A_BLOCK},
    {"meshX", A_MESH_X},
    {"read_bandwidth", A_READ_BW},
    {"write_bandwidth", A_WRITE_BW},
    {"bandwidth", A_BW},
    {"shared_bandwidth", A_SHARED_BW},
    {"cluster-size", A_CLUSTER},
    {"cluster_size", A_CLUSTER},
    {"multiple_buffering", A_BUFFERS},
    {"technology", A_TECHNOLOGY},
    {"global_cycle_seconds", A_CYCLE},
    {"meshY", A_MESH_Y},
    {"num-ports", A_NOTED},
    {"n_ports", A_NOTED},
    {"n_banks", A_NOTED},
    {"num-banks", A_NOTED},
    {"instances", A_NOTED},
    {"type", A_NOTED},
    {"version", A_NOTED},
    {"sizeKB", A_SIZE_KB},
};
enum { N_KNOWN = sizeof known / sizeof known[0] };

void tl_note(tl_case *c, const tf_ynode *key, const tf_ynode *value, const char *name) {
  const char *text = value->kind == TF_Y_SCALAR ? value->text : tf_ynode_what(value);
  size_t n = strcspn(text, "\n");
  tf_warn(c->diags, key->at, "not modelled: %.60s %.*s of %.60s", key->text, (int)(n < 60 ? n : 60), text, name);
  tf_page_add(c->notes, "# not modelled: %.60s %.*s of %s\n", key->text, (int)(n < 60 ? n : 60), text, name);
}

bool tl_real(tl_case *c, const tf_ynode *node, double *out) {
  char *end;
  double value = node->kind == TF_Y_SCALAR ? strtod(node->text, &end) : -1;
  if (node->kind != TF_Y_SCALAR || end == node->text || *end || !(value > 0) || !(value < 1e15))
    return tf_fail(c->diags, node->at, TF_E_RANGE, "'%.40s' is no number above 0",
                   node->kind == TF_Y_SCALAR ? node->text : tf_ynode_what(node));
  *out = value;
  return true;
}

/* Puts the values of one map into v where a nearer map has given none.  A key that is not known but is near one that is
 * becomes an error (*ok false); any other is noted. */
static void collect_values(tl_case *c, const tf_ynode *map, bool own, const char *name, const tf_ynode **v, bool *ok) {
  for (size_t i = 0; i < map->n; i++) {
    const tf_ynode *key = map->pairs[i].key, *value = map->pairs[i].value;
    tf_near near = tf_near_start(key->text, key->len);
    char hint[80];
    int id = -1;
    for (int k = 0; k < N_KNOWN; k++) {
      if (tf_ynode_is(key, known[k].key)) id = known[k].id;
      tf_near_offer(&near, known[k].key);
    }
    if (id >= 0 && id < N_A) {
      if (!v[id]) v[id] = value;
    } else if (id < 0 && near.best) {
      if (own) /* keys of the maps further out are told with the components that have them */
        *ok = tf_fail(c->diags, key->at, TF_E_KEY, "unknown key '%.60s' in the attributes of a component%s", key->text,
                      tf_near_text(&near, hint, sizeof hint));
    } else if (own) {
      tl_note(c, key, value, name);
    }
  }
}

/* "45nm", 45; others ("-1") mean that nothing is said. */
static void read_technology(tl_case *c, const tf_ynode *node) {
  char *end;
  long nm = strtol(node->text, &end, 10);
  if (end != node->text && (!*end || !strcmp(end, "nm")) && nm > 0 && nm < 1000 && !c->technology) c->technology = nm;
}

static bool read_words(tl_case *c, const tf_ynode *const *v, tl_level *l) {
  int64_t width = 0, depth = -1, cluster = 1;
  double buffers = 1;
  bool ok = true;
  if (v[A_WIDTH]) ok &= tl_int(c, v[A_WIDTH], "width", 1, &width);
  if (v[A_CLUSTER]) ok &= tl_int(c, v[A_CLUSTER], "cluster-size", 1, &cluster);
  if (v[A_BLOCK])
    ok &= tl_int(c, v[A_BLOCK], "block-size", 1, &l->block);
  else if (width && l->word_bits)
    l->block = width / l->word_bits / cluster > 0 ? width / l->word_bits / cluster : 1;
  if (v[A_DEPTH]) ok &= tl_int(c, v[A_DEPTH], "depth", 1, &depth);
  if (v[A_BUFFERS]) ok &= tl_real(c, v[A_BUFFERS], &buffers);
  if (v[A_DEPTH] && depth > INT64_MAX / l->block)
    return tf_fail(c->diags, v[A_DEPTH]->at, TF_E_RANGE, "depth times block-size passes 2^63 - 1");
  l->words = depth < 0 ? -1 : depth * l->block;
  if (v[A_SIZE_KB] && tl_int(c, v[A_SIZE_KB], "sizeKB", 1, &l->words))
    l->words = l->words * 8192 / (l->word_bits ? l->word_bits : 16); /* sizeKB is 2^40 at most */
  if (v[A_ENTRIES]) ok &= tl_int(c, v[A_ENTRIES], "entries", 1, &l->words);
  if (l->words > 0 && buffers > 1) l->words = (int64_t)((double)l->words / buffers);
  if (v[A_BUFFERS] && l->words == 0)
    ok = tf_fail(c->diags, v[A_BUFFERS]->at, TF_E_RANGE, "multiple_buffering leaves '%.40s' no word", l->name);
  return ok;
}

bool tl_read_attributes(tl_case *c, const tf_ynode *const *maps, int n, tl_level *l) {
  const tf_ynode *v[N_A] = {NULL};
  bool ok = true;
  for (int i = 0; i < n; i++)
    if (maps[i]) collect_values(c, maps[i], i == 0, l->name, v, &ok);
  for (int i = 0; i < N_A; i++)
    if (v[i] && !tf_yschema_kind(v[i], TF_Y_SCALAR, "an attribute", c->diags)) return false;
  l->block = 1;
  if (v[A_WORD]) ok &= tl_int(c, v[A_WORD], "word-bits", 1, &l->word_bits);
  ok &= read_words(c, v, l);
  if (v[A_MESH_X]) ok &= tl_int(c, v[A_MESH_X], "meshX", 1, &l->mesh_x);
  int64_t mesh_y = 1;
  if (v[A_MESH_Y]) ok &= tl_int(c, v[A_MESH_Y], "meshY", 1, &mesh_y);
  if (v[A_MESH_Y] && l->instances && l->mesh_x && l->instances / l->mesh_x != mesh_y)
    tf_page_add(c->notes, "# not modelled: meshY %lld of %s, whose %lld instances stand %lld to a row\n",
                (long long)mesh_y, l->name, (long long)l->instances, (long long)l->mesh_x);
  if (v[A_READ_BW]) ok &= tl_real(c, v[A_READ_BW], &l->read_bw);
  if (v[A_WRITE_BW]) ok &= tl_real(c, v[A_WRITE_BW], &l->write_bw);
  if (v[A_BW]) ok &= tl_real(c, v[A_BW], &l->read_bw) && tl_real(c, v[A_BW], &l->write_bw);
  if (v[A_SHARED_BW]) {
    ok &= tl_real(c, v[A_SHARED_BW], &l->read_bw);
    l->one_port = true;
  }
  if (v[A_TECHNOLOGY]) read_technology(c, v[A_TECHNOLOGY]);
  if (v[A_CYCLE] && !(c->cycle_seconds > 0)) ok &= tl_real(c, v[A_CYCLE], &c->cycle_seconds);
  return ok;
}

bool tl_read_variables(tl_case *c, const tf_ynode *node) {
  for (size_t i = 0; i < node->n; i++) {
    const tf_ynode *key = node->pairs[i].key, *value = node->pairs[i].value;
    if (tf_ynode_is(key, "version")) continue;
    if (value->kind == TF_Y_SCALAR && tf_ynode_is(key, "technology"))
      read_technology(c, value);
    else if (tf_ynode_is(key, "global_cycle_seconds")) {
      if (!tl_real(c, value, &c->cycle_seconds)) return false;
    } else
      tl_note(c, key, value, "variables");
  }
  return true;
}
