/* Attributes of Timeloop's components: those with a meaning here are read, the others reported,
 * misspelt ones refused. */
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
  A_INSTANCES,
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
  A_ACCESS_PJ,
  A_POINT_PJ,
  A_AREA,
  A_CLUSTER_AREA,
  A_ENTRY,
  N_A,
  A_CHANGES = N_A, /* changes numbers that Timeloop prints, unless it has the value `none` */
  A_PACKS, /* where formats are kept and by what they are read: their actions' energies tell it */
  A_LEAK,  /* leakage and who sleeps: told with the tables' leak actions */
  A_TABLES /* what only estimators of energy and area read: so is what nobody knows */
};
/* '-' and '_' are the same to Timeloop. */
static const struct {
  const char *key;
  int id;
  const char *none;
} known[] = {
    {"word_bits", A_WORD, NULL},
    {"word_width", A_WORD, NULL},
    {"datawidth", A_WORD, NULL},
    {"width", A_WIDTH, NULL},
    {"memory_width", A_WIDTH, NULL},
    {"data_storage_width", A_WIDTH, NULL},
    {"depth", A_DEPTH, NULL},
    {"memory_depth", A_DEPTH, NULL},
    {"data_storage_depth", A_DEPTH, NULL},
    {"entries", A_ENTRIES, NULL},
    {"block_size", A_BLOCK, NULL},
    {"n_words", A_BLOCK, NULL},
    {"instances", A_INSTANCES, NULL},
    {"meshX", A_MESH_X, NULL},
    {"meshY", A_MESH_Y, NULL},
    {"read_bandwidth", A_READ_BW, NULL},
    {"write_bandwidth", A_WRITE_BW, NULL},
    {"bandwidth", A_BW, NULL},
    {"shared_bandwidth", A_SHARED_BW, NULL},
    {"cluster_size", A_CLUSTER, NULL},
    {"multiple_buffering", A_BUFFERS, NULL},
    {"technology", A_TECHNOLOGY, NULL},
    {"global_cycle_seconds", A_CYCLE, NULL},
    {"sizeKB", A_SIZE_KB, NULL},
    {"vector_access_energy", A_ACCESS_PJ, NULL},
    {"energy", A_POINT_PJ, NULL},
    {"area", A_AREA, NULL},
    {"cluster_area", A_CLUSTER_AREA, NULL},
    {"metadata_datawidth", A_ENTRY, NULL},
    {"min_utilization", A_CHANGES, "0"},
    {"allow_overbooking", A_CHANGES, "false"},
    {"reduction_supported", A_CHANGES, "true"},
    {"network_fill_latency", A_CHANGES, "0"},
    {"network_drain_latency", A_CHANGES, "0"},
    {"addr_gen_energy", A_CHANGES, "0"},
    {"per_dataspace_bandwidth_consumption_scale", A_CHANGES, NULL},
    {"network_read", A_CHANGES, NULL},
    {"network_fill", A_CHANGES, NULL},
    {"network_drain", A_CHANGES, NULL},
    {"network_update", A_CHANGES, NULL},
    {"network_operand", A_CHANGES, NULL},
    {"network_result", A_CHANGES, NULL},
    {"compression_supported", A_PACKS, "false"},
    {"decompression_supported", A_PACKS, "false"},
    {"concordant_compressed_tile_traversal", A_PACKS, "false"},
    {"tile_partition_supported", A_PACKS, "false"},
    {"has_power_gating", A_LEAK, "false"},
    {"power_gated_at", A_LEAK, "null"},
    {"n_banks", A_TABLES, NULL},
    {"num_banks", A_TABLES, NULL},
    {"n_ports", A_TABLES, NULL},
    {"num_ports", A_TABLES, NULL},
    {"nports", A_TABLES, NULL},
    {"type", A_TABLES, NULL},
    {"width_a", A_TABLES, NULL},
    {"width_b", A_TABLES, NULL},
};
enum { N_KNOWN = sizeof known / sizeof known[0] };

static bool is_key(const tf_ynode *key, const char *name) {
  size_t i = 0;
  for (; i < key->len && name[i]; i++)
    if (key->text[i] != name[i] && !(key->text[i] == '-' && name[i] == '_')) return false;
  return i == key->len && !name[i];
}

/* Whether the value says no more than its absence would: "0" also as 0.0, false, null and nothing
 * in any spelling. */
static bool is_none(const tf_ynode *value, const char *none) {
  char *end;
  if (value->kind != TF_Y_SCALAR) return value->n == 0;
  const char *text = value->text;
  bool null = !*text || !strcmp(text, "null") || !strcmp(text, "~") || !strcmp(text, "None");
  if (null || !none) return null;
  if (!strcmp(none, "0")) return strtod(text, &end) <= 0 && end != text && !*end;
  return !strcmp(text, none) || (text[0] == none[0] - 'a' + 'A' && !strcmp(text + 1, none + 1));
}

/* The row of a key; -1: none.  *near: keys with a meaning that it may have meant. */
static int row_of(const tf_ynode *key, tf_near *near) {
  for (int k = 0; k < N_KNOWN; k++) {
    if (is_key(key, known[k].key)) return k;
    if (known[k].id != A_TABLES) tf_near_offer(near, known[k].key);
  }
  return -1;
}

/* Tells of an attribute that is not read. */
static void tell_attribute(tl_case *c, int row, const tf_ynode *key, const tf_ynode *value,
                           const char *name) {
  const char *text = tl_value_text(value);
  const int n = (int)strcspn(text, "\n");
  tl_reason why = TL_TABLES;
  if (row >= 0 && known[row].id == A_CHANGES && !is_none(value, known[row].none)) {
    tl_note(c, key, value, name);
    return;
  }
  if (row >= 0 && known[row].id != A_TABLES) why = TL_NOTHING;
  if (row < 0 && !strncmp(key->text, "metadata_", 9)) {
    tl_fold(c, TL_NOTHING, key->at, "metadata_.. of components");
    return;
  }
  tl_fold(c, why, key->at, "%.40s %.*s", key->text, n < 40 ? n : 40, n ? text : "null");
}

/* Puts the values of one map into v where a nearer map has given none.  A key that is not known but
 * is near one that is becomes an error (*ok false); any other is told. */
static void collect_values(tl_case *c, const tf_ynode *map, bool own, const char *name,
                           const tf_ynode **v, bool *ok) {
  for (size_t i = 0; i < map->n; i++) {
    const tf_ynode *key = map->pairs[i].key, *value = map->pairs[i].value;
    tf_near near = tf_near_start(key->text, key->len);
    char hint[80];
    const int row = row_of(key, &near);
    if (tf_ynode_is(key, "version")) continue;
    if (row >= 0 && known[row].id < N_A) {
      if (!v[known[row].id]) v[known[row].id] = value;
    } else if (!own) {
      continue; /* keys of the maps further out are told where these stand */
    } else if (row < 0 && near.best && strncmp(key->text, "metadata_", 9) != 0) {
      *ok = tf_fail(c->diags, key->at, TF_E_KEY,
                    "unknown key '%.60s' in the attributes of a component%s", key->text,
                    tf_near_text(&near, hint, sizeof hint));
    } else {
      tell_attribute(c, row, key, value, name);
    }
  }
}

/* "45nm", 45; others ("-1") mean that nothing is said.  The first counts. */
static void read_technology(tl_case *c, const tf_ynode *node) {
  char *end;
  long nm = strtol(node->text, &end, 10);
  bool given = end != node->text && (!*end || !strcmp(end, "nm")) && nm > 0 && nm < 1000;
  if (given && !c->technology) c->technology = nm;
  if (!given || c->technology != nm)
    tl_fold(c, TL_TABLES, node->at, "technology %.40s", node->text);
}

/* The first counts: a machine has one clock. */
static bool read_cycle(tl_case *c, const tf_ynode *node) {
  double seconds = 0;
  if (!tl_real(c, node, &seconds)) return false;
  if (!(c->cycle_seconds > 0)) c->cycle_seconds = seconds;
  if (seconds < c->cycle_seconds || seconds > c->cycle_seconds)
    tl_lost(c, node->at, "not modelled: a second clock, of %.40s s: the machine has one of %g s",
            node->text, c->cycle_seconds);
  return true;
}

/* Words of an access: where only a width is given, as many as it holds of Timeloop's default of 16
 * bits, or of their own. */
static bool read_block(tl_case *c, const tf_ynode *const *v, tl_level *l) {
  int64_t width = 0, cluster = 1;
  const int64_t word = l->word_bits ? l->word_bits : 16;
  bool ok = true;
  if (v[A_WIDTH]) ok &= tl_int(c, v[A_WIDTH], "width", 1, &width);
  if (v[A_CLUSTER]) ok &= tl_int(c, v[A_CLUSTER], "cluster-size", 1, &cluster);
  if (v[A_BLOCK])
    ok &= tl_int(c, v[A_BLOCK], "block-size", 1, &l->block);
  else if (width)
    l->block = width / word / cluster > 0 ? width / word / cluster : 1;
  return ok;
}

static bool read_words(tl_case *c, const tf_ynode *const *v, tl_level *l) {
  int64_t depth = -1;
  double buffers = 1;
  bool ok = read_block(c, v, l);
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
    ok = tf_fail(c->diags, v[A_BUFFERS]->at, TF_E_RANGE,
                 "multiple_buffering leaves '%.40s' no word", l->name);
  return ok;
}

/* `instances` wins over NAME[0..N]; all three are of the whole machine, and the mesh has as many
 * places. */
static bool read_mesh(tl_case *c, const tf_ynode *const *v, tl_level *l) {
  int64_t y = 0;
  if (!l->instances) return true; /* a container's attributes, or 0.4's nodes: their caller looks */
  if (v[A_INSTANCES] && !tl_int(c, v[A_INSTANCES], "instances", 1, &l->instances)) return false;
  if (v[A_MESH_X] && !tl_int(c, v[A_MESH_X], "meshX", 1, &l->mesh_x)) return false;
  if (!v[A_MESH_Y]) return true;
  if (!tl_int(c, v[A_MESH_Y], "meshY", 1, &y)) return false;
  if (!l->mesh_x && l->instances % y == 0) l->mesh_x = l->instances / y;
  if (l->mesh_x && l->instances % y == 0 && l->instances / y == l->mesh_x) return true;
  if (l->mesh_x)
    return tf_fail(c->diags, v[A_MESH_Y]->at, TF_E_FANOUT,
                   "meshX %lld times meshY %lld are not the %lld instances of '%.40s'",
                   (long long)l->mesh_x, (long long)y, (long long)l->instances, l->name);
  return tf_fail(c->diags, v[A_MESH_Y]->at, TF_E_FANOUT,
                 "%lld instances of '%.40s' fill no %lld rows", (long long)l->instances, l->name,
                 (long long)y);
}

/* Energies and an area of the file's own, pJ an access or a point, um2. */
static bool read_costs(tl_case *c, const tf_ynode *const *v, tl_level *l) {
  bool compute = l->kind == TL_COMPUTE, ok = true;
  double pj = -1;
  if (v[A_ACCESS_PJ] && !compute) {
    ok &= tl_amount(c, v[A_ACCESS_PJ], "vector_access_energy", &pj);
    l->read_pj = l->write_pj = pj / (double)l->block;
    l->own_energy = true;
  }
  if (v[A_POINT_PJ] && compute) ok &= tl_amount(c, v[A_POINT_PJ], "energy", &l->read_pj);
  if (v[A_AREA] && compute) ok &= tl_amount(c, v[A_AREA], "area", &l->area);
  if (v[A_CLUSTER_AREA] && !compute)
    ok &= tl_amount(c, v[A_CLUSTER_AREA], "cluster_area", &l->area);
  return ok;
}

static bool read_rates(tl_case *c, const tf_ynode *const *v, tl_level *l) {
  bool ok = true;
  double both = 0;
  if (v[A_BW] && (ok &= tl_real(c, v[A_BW], &both))) { /* Timeloop's old key */
    l->read_bw = l->write_bw = both / 2;
    tl_lost(c, v[A_BW]->at,
            "bandwidth of %.60s: half of it each for reads and writes, as Timeloop takes it",
            l->name);
  }
  if (v[A_READ_BW]) ok &= tl_real(c, v[A_READ_BW], &l->read_bw);
  if (v[A_WRITE_BW]) ok &= tl_real(c, v[A_WRITE_BW], &l->write_bw);
  if (v[A_SHARED_BW]) {
    ok &= tl_real(c, v[A_SHARED_BW], &l->read_bw);
    l->one_port = true;
  }
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
  ok &= read_words(c, v, l) && read_mesh(c, v, l) && read_rates(c, v, l) && read_costs(c, v, l);
  if (v[A_ENTRY] && !is_none(v[A_ENTRY], "0"))
    ok &= tl_int(c, v[A_ENTRY], "metadata_datawidth", 1, &l->entry_bits);
  if (v[A_TECHNOLOGY]) read_technology(c, v[A_TECHNOLOGY]);
  if (v[A_CYCLE]) ok &= read_cycle(c, v[A_CYCLE]);
  return ok;
}

bool tl_read_variables(tl_case *c, const tf_ynode *node) {
  for (size_t i = 0; i < node->n; i++) {
    const tf_ynode *key = node->pairs[i].key, *value = node->pairs[i].value;
    if (tf_ynode_is(key, "version")) continue;
    if (value->kind == TF_Y_SCALAR && tf_ynode_is(key, "technology"))
      read_technology(c, value);
    else if (tf_ynode_is(key, "global_cycle_seconds")) {
      if (!read_cycle(c, value)) return false;
    } else
      tl_fold(c, TL_TABLES, key->at, "%.40s %.40s of variables", key->text, tl_value_text(value));
  }
  return true;
}
