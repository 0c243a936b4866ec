/* Reads the keys of an architecture by their tables: one function for each kind of key. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/names.h"
#include "model/input/arch_read.h"
#include "model/input/kinds.h"
#include "model/input/table/energy.h"
#include "model/input/table/sections.h"

/* Reads a value that is given; k[1], k[2]: rows of what it sets, too; s: the struct of all of them.
 */
typedef bool key_reader(tf_arch_reader *r, const tf_key *k, const tf_ynode *node, void *s);

/* ---- names -------------------------------------------------------------------------- */
bool tf_check_new_name(tf_arch_reader *r, const char *name, tf_loc at, const char *other,
                       tf_loc other_at) {
  if (!other || strcmp(name, other) != 0) return true;
  tf_fail(r->base->diags, at, TF_E_DUP, "name '%.60s' given twice", name);
  tf_note(r->base->diags, other_at, "first given here");
  return false;
}

/* Names that occur in mapping texts must not be keywords there. */
const char *tf_read_level_name(tf_arch_reader *r, const tf_ynode *node, const char *what) {
  static const char *const words[] = {"Seq",     "Shar",   "Para", "Pipe",   "op",    "for",
                                      "spatial", "bypass", "keep", "retain", "stream"};
  const char *name = tf_read_name(r->base, node, what, true);
  for (size_t i = 0; name && i < sizeof words / sizeof *words; i++) {
    if (strcmp(name, words[i]) != 0) continue;
    tf_fail(r->base->diags, node->at, TF_E_SYNTAX, "'%s' is a word of mapping texts", name);
    return NULL;
  }
  return name;
}

/* ---- numbers ------------------------------------------------------------------------ */
bool tf_read_positive(tf_arch_reader *r, const tf_ynode *node, const char *what, double *out) {
  tf_value v;
  if (!tf_read_value(r->base, node, what, &v)) return false;
  *out = v.f;
  if (v.f > 0) return true;
  return tf_fail(r->base->diags, node->at, TF_E_RANGE, "'%s' is %g, must be more than 0", what,
                 v.f);
}

static bool read_positive(tf_arch_reader *r, const tf_key *k, const tf_ynode *node, void *s) {
  return tf_read_positive(r, node, k->key, tf_key_at(k, s));
}

static bool read_flag(tf_arch_reader *r, const tf_key *k, const tf_ynode *node, void *s) {
  return tf_read_bool(r->base, node, tf_key_name(k), tf_key_at(k, s));
}

static bool read_bits(tf_arch_reader *r, const tf_key *k, const tf_ynode *node, void *s) {
  int64_t i;
  if (!tf_read_int(r->base, node, k->key, 1, TF_MOST_BITS, &i)) return false;
  *(int *)tf_key_at(k, s) = (int)i;
  return true;
}

/* Below 1e12, so that no sum of them overflows. */
static bool read_figure(tf_arch_reader *r, const tf_key *k, const tf_ynode *node, void *s) {
  const bool bytes = k->kind == TF_KEY_SIZE || k->kind == TF_KEY_ROOM;
  const bool none = k->kind == TF_KEY_COST || k->kind == TF_KEY_ROOM;
  double *out = tf_key_at(k, s);
  tf_quantity q = {.unit = NULL};
  if (bytes && !tf_read_quantity(r->base, node, k->key, TF_Q_BYTES, true, &q)) return false;
  if (!bytes && !tf_read_value(r->base, node, k->key, &q.value)) return false;
  *out = q.value.f;
  if ((*out > 0 || (none && *out == 0)) && *out <= TF_MOST_FIGURE) return true;
  return tf_fail(r->base->diags, node->at, TF_E_RANGE, "'%s' is %g, must be %s and at most %d",
                 k->key, *out, none ? "0 or more" : "more than 0", TF_MOST_FIGURE);
}

static bool read_mesh(tf_arch_reader *r, const tf_key *k, const tf_ynode *node, void *s) {
  static const char *const axis[] = {"mesh X", "mesh Y"};
  int64_t *mesh = tf_key_at(k, s);
  if (node->n != 1 && node->n != 2)
    return tf_fail(r->base->diags, node->at, TF_E_TYPE,
                   "'mesh' must be [X, Y], or [X] for [X, 1], not a list of %zu", node->n);
  bool ok = true;
  mesh[1] = 1;
  for (size_t i = 0; i < node->n; i++)
    ok = tf_read_int(r->base, node->items[i], axis[i], 1, INT32_MAX, &mesh[i]) && ok;
  return ok;
}

/* ---- quantities --------------------------------------------------------------------- */
static bool read_pj(tf_arch_reader *r, const tf_ynode *node, const char *what, double *pj) {
  tf_quantity q;
  if (!tf_read_quantity(r->base, node, what, TF_Q_PJ, false, &q)) return false;
  *pj = q.value.f;
  return true;
}

static bool read_energy(tf_arch_reader *r, const tf_key *k, const tf_ynode *node, void *s) {
  return read_pj(r, node, tf_key_name(k), tf_key_at(k, s));
}

/* A quantity per second or in seconds needs a clock; reports its absence once. */
static bool need_clock(tf_arch_reader *r, const tf_ynode *node, const char *what) {
  if (r->have_clock) return true;
  r->have_clock = true;
  return tf_fail(r->base->diags, node->at, TF_E_MISSING,
                 "'%s' in %s needs the key 'clock' in the architecture", what,
                 strcmp(what, "bandwidth") == 0 ? "bytes per second" : "ns");
}

static bool read_cycles(tf_arch_reader *r, const tf_key *k, const tf_ynode *node, void *s) {
  tf_quantity q;
  if (!tf_read_quantity(r->base, node, k->key, TF_Q_NS, true, &q)) return false;
  if (q.unit && !need_clock(r, node, k->key)) return false;
  *(double *)tf_key_at(k, s) = q.unit ? q.value.f * 1e-9 * r->arch->clock_hz : q.value.f;
  return true;
}

static bool read_area(tf_arch_reader *r, const tf_key *k, const tf_ynode *node, void *s) {
  tf_quantity q;
  *(bool *)tf_key_at(k + 1, s) = true;
  if (!tf_read_quantity(r->base, node, k->key, TF_Q_UM2, false, &q)) return false;
  *(double *)tf_key_at(k, s) = q.value.f;
  return true;
}

static bool read_hz(tf_arch_reader *r, const tf_key *k, const tf_ynode *node, void *s) {
  tf_quantity q;
  if (!tf_read_quantity(r->base, node, k->key, TF_Q_HZ, false, &q)) return false;
  if (q.value.f <= 0)
    return tf_fail(r->base->diags, node->at, TF_E_RANGE, "'%s' is 0, must be more", k->key);
  *(double *)tf_key_at(k, s) = q.value.f;
  return true;
}

static bool read_nm(tf_arch_reader *r, const tf_key *k, const tf_ynode *node, void *s) {
  tf_quantity q;
  if (!tf_read_quantity(r->base, node, k->key, TF_Q_NM, false, &q)) return false;
  if (!q.value.whole || q.value.i < 1 || q.value.i > TF_MOST_NM)
    return tf_fail(r->base->diags, node->at, TF_E_RANGE,
                   "'%s' is %g nm, must be a whole number of 1 to %d", k->key, q.value.f,
                   TF_MOST_NM);
  *(int *)tf_key_at(k, s) = (int)q.value.i;
  return true;
}

/* A name that is none of these. */
static bool no_such(tf_arch_reader *r, const tf_ynode *node, const char *what,
                    const char *const *names, int n) {
  tf_near near = tf_near_start(node->text, node->len);
  for (int i = 0; i < n; i++)
    tf_near_offer(&near, names[i]);
  char hint[80];
  return tf_fail(r->base->diags, node->at, TF_E_NAME, "no %s '%.40s'%s", what, node->text,
                 tf_near_text(&near, hint, sizeof hint));
}

static bool read_overlap(tf_arch_reader *r, const tf_key *k, const tf_ynode *node, void *s) {
  static const char *const key[] = {[TF_OVERLAP_PERFECT] = "perfect",
                                    [TF_OVERLAP_DOUBLE_BUFFER] = "double-buffer",
                                    [TF_OVERLAP_NONE] = "none"};
  for (int i = 0; i < 3; i++)
    if (tf_ynode_is(node, key[i])) {
      *(tf_overlap *)tf_key_at(k, s) = (tf_overlap)i;
      return true;
    }
  return no_such(r, node, "overlap", key, 3);
}

static const char *const topologies[] = {"mesh", "torus", "tree", "bus",
                                         "crossbar"}; /* from TF_MESH on */

const char *tf_topology_key(tf_topology t) {
  return t > TF_NO_TOPOLOGY && t < TF_N_TOPOLOGIES ? topologies[t - TF_MESH] : NULL;
}

static bool read_topology(tf_arch_reader *r, const tf_key *k, const tf_ynode *node, void *s) {
  for (int i = 0; i < TF_N_TOPOLOGIES - TF_MESH; i++)
    if (tf_ynode_is(node, topologies[i])) {
      *(tf_topology *)tf_key_at(k, s) = (tf_topology)(TF_MESH + i);
      return true;
    }
  return no_such(r, node, "topology", topologies, TF_N_TOPOLOGIES - TF_MESH);
}

/* ---- of memories -------------------------------------------------------------------- */
/* Words, or bytes made into whole words. */
static bool read_capacity(tf_arch_reader *r, const tf_key *k, const tf_ynode *node, void *s) {
  const tf_memory *m = r->owner ? r->owner : s;
  int64_t *out = tf_key_at(k, s);
  tf_quantity q;
  if (!tf_read_quantity(r->base, node, k->key, TF_Q_BYTES, true, &q)) return false;
  double words = q.unit ? floor(q.value.f * 8 / m->word_bits) : q.value.f;
  if (words != floor(words) || words >= 9.0e18)
    return tf_fail(r->base->diags, node->at, TF_E_RANGE,
                   "'capacity' is %.17g words, must be a whole number below 9e18", words);
  if (words < 1)
    return tf_fail(r->base->diags, node->at, TF_E_RANGE, "'capacity' is less than one word");
  int64_t bits;
  *out = (int64_t)words;
  bool exact = q.unit && q.value.whole && tf_mul(q.value.i, 8, &bits);
  if (exact) *out = bits / m->word_bits;
  if (!q.unit && q.value.whole) *out = q.value.i;
  return true;
}

static bool read_line(tf_arch_reader *r, const tf_key *k, const tf_ynode *node, void *s) {
  const tf_memory *m = s;
  tf_quantity q;
  if (!tf_read_quantity(r->base, node, k->key, TF_Q_BYTES, true, &q)) return false;
  const double words = q.unit ? q.value.f * 8 / m->word_bits : q.value.f;
  *(int64_t *)tf_key_at(k, s) = 1;
  if (words < 1 || words != floor(words) || words > TF_MOST_FIGURE)
    return tf_fail(r->base->diags, node->at, TF_E_RANGE,
                   "'%s' is %.10g words of %d bits, must be whole ones, 1 to %d", k->key, words,
                   m->word_bits, TF_MOST_FIGURE);
  *(int64_t *)tf_key_at(k, s) = (int64_t)words;
  return true;
}

/* Words per cycle, given so or as bytes per second. */
static bool read_rate(tf_arch_reader *r, const tf_ynode *node, int word_bits, double *rate) {
  tf_quantity q;
  if (!tf_read_quantity(r->base, node, "bandwidth", TF_Q_RATE, true, &q)) return false;
  if (q.unit && !need_clock(r, node, "bandwidth")) return false;
  *rate = q.unit ? q.value.f * 8 / word_bits / r->arch->clock_hz : q.value.f;
  if (*rate > 0) return true;
  return tf_fail(r->base->diags, node->at, TF_E_RANGE, "'bandwidth' is 0, must be more");
}

static const tf_yrow bandwidth_rows[] = {{"read", TF_Y_SCALAR, false},
                                         {"write", TF_Y_SCALAR, false}};

tf_keys tf_bandwidth_keys(void) { return (tf_keys){bandwidth_rows, 2}; }

static bool read_bandwidth(tf_arch_reader *r, const tf_key *k, const tf_ynode *node, void *s) {
  tf_memory *m = s;
  if (node->kind == TF_Y_SCALAR) {
    m->one_port = true;
    bool good = read_rate(r, node, m->word_bits, &m->read_bw);
    m->write_bw = m->read_bw;
    return good;
  }
  const tf_ynode *v[2];
  bool ok = tf_yschema_check(node, bandwidth_rows, 2, "a bandwidth", v, r->base->diags);
  if (node->n == 0)
    ok = tf_fail(r->base->diags, node->at, TF_E_MISSING, "'%s' needs 'read' or 'write'", k->key);
  if (v[0]) ok = read_rate(r, v[0], m->word_bits, &m->read_bw) && ok;
  if (v[1]) ok = read_rate(r, v[1], m->word_bits, &m->write_bw) && ok;
  return ok;
}

static const tf_yrow energy_rows[] = {
    {"read", TF_Y_SCALAR, true}, {"write", TF_Y_SCALAR, true}, {"drain", TF_Y_SCALAR, false}};

tf_keys tf_energy_keys(void) { return (tf_keys){energy_rows, 3}; }

static bool read_word_energy(tf_arch_reader *r, const tf_key *k, const tf_ynode *node, void *s) {
  tf_memory *m = s;
  if (node->kind == TF_Y_SCALAR) {
    bool good = read_pj(r, node, k->key, &m->read_pj);
    m->write_pj = m->read_pj;
    return good;
  }
  const tf_ynode *v[3];
  bool ok = tf_yschema_check(node, energy_rows, 3, "an energy", v, r->base->diags);
  if (v[0]) ok = read_pj(r, v[0], "read", &m->read_pj) && ok;
  if (v[1]) ok = read_pj(r, v[1], "write", &m->write_pj) && ok;
  if (v[2]) ok = read_pj(r, v[2], "drain", &m->drain_pj) && ok;
  m->drain_given = v[2];
  return ok;
}

/* ---- of units ----------------------------------------------------------------------- */
static bool read_kind(tf_arch_reader *r, const tf_ynode *node, uint32_t *kinds) {
  if (!tf_yschema_kind(node, TF_Y_SCALAR, "an op kind", r->base->diags)) return false;
  int kind = tf_kind_find(node->text, node->len);
  if (kind < 0) {
    tf_near near = tf_near_start(node->text, node->len);
    char hint[80];
    for (int i = 0; i < TF_K_LT; i++)
      tf_near_offer(&near, tf_kind_key((tf_kind)i));
    return tf_fail(r->base->diags, node->at, TF_E_NAME, "no op kind '%.40s'%s", node->text,
                   tf_near_text(&near, hint, sizeof hint));
  }
  if (*kinds & (1u << kind))
    return tf_fail(r->base->diags, node->at, TF_E_DUP, "op kind '%s' listed twice", node->text);
  *kinds |= 1u << kind;
  return true;
}

static bool read_ops(tf_arch_reader *r, const tf_key *k, const tf_ynode *list, void *s) {
  bool ok = true;
  if (list->n == 0)
    ok = tf_fail(r->base->diags, list->at, TF_E_MISSING, "'%s' needs at least one op kind", k->key);
  for (size_t i = 0; i < list->n; i++)
    ok = read_kind(r, list->items[i], tf_key_at(k, s)) && ok;
  return ok;
}

static bool read_below(tf_arch_reader *r, const tf_key *k, const tf_ynode *node, void *s) {
  const tf_arch *a = r->arch;
  int *below = tf_key_at(k, s);
  if (!r->have_memories) return true;
  tf_near near = tf_near_start(node->text, node->len);
  for (int i = 0; i < a->n_memories; i++) {
    *below = i;
    if (tf_ynode_is(node, a->memories[i].name)) return true;
    tf_near_offer(&near, a->memories[i].name);
  }
  char hint[80];
  return tf_fail(r->base->diags, node->at, TF_E_NAME, "no memory '%.60s'%s", node->text,
                 tf_near_text(&near, hint, sizeof hint));
}

/* ---- what zeros save ---------------------------------------------------------------- */
static bool read_chosen(tf_arch_reader *r, const tf_ynode *node, const char *what, tf_chosen *out) {
  if (!tf_yschema_kind(node, TF_Y_SCALAR, what, r->base->diags)) return false;
  *out = (tf_chosen){tf_read_name(r->base, node, "a tensor", false), node->at};
  return out->name != NULL;
}

/* '*', or a list of tensors; left out: all. */
static bool read_choice(tf_arch_reader *r, const tf_ynode *node, const char *what,
                        tf_selection *out) {
  *out = (tf_selection){0, NULL};
  if (!node || (node->kind == TF_Y_SCALAR && tf_ynode_is(node, "*"))) return true;
  if (node->kind != TF_Y_LIST)
    return tf_fail(r->base->diags, node->at, TF_E_TYPE, "'%s' must be a list of tensors, or '*'",
                   what);
  if (node->n == 0)
    return tf_fail(r->base->diags, node->at, TF_E_MISSING, "'%s' needs at least one tensor", what);
  out->names = TF_ARRAY(r->base->arena, tf_chosen, node->n);
  if (!out->names) return tf_no_memory(r->base);
  bool ok = true;
  for (size_t i = 0; i < node->n; i++) {
    ok = read_chosen(r, node->items[i], what, &out->names[i]) && ok;
    for (size_t k = 0; k < i && out->names[i].name && out->names[k].name; k++)
      if (!strcmp(out->names[k].name, out->names[i].name))
        ok = tf_fail(r->base->diags, node->items[i]->at, TF_E_DUP, "tensor '%.60s' listed twice",
                     out->names[i].name);
  }
  out->n = (int)node->n;
  return ok;
}

static bool read_pack(tf_arch_reader *r, const tf_ynode *node, tf_pack *out) {
  static const char *const key[TF_N_PACKS] = {
      [TF_PACK_NONE] = "uncompressed", [TF_PACK_BITMASK] = "bitmask",
      [TF_PACK_RUNS] = "run-length",   [TF_PACK_COORDINATE] = "coordinate",
      [TF_PACK_OFFSETS] = "offsets",   [TF_PACK_FLAGS] = "flags"};
  tf_near near = tf_near_start(node->text, node->len);
  char hint[80];
  for (int i = 0; i < TF_N_PACKS; i++) {
    *out = (tf_pack)i;
    if (tf_ynode_is(node, key[i])) return true;
    tf_near_offer(&near, key[i]);
  }
  return tf_fail(r->base->diags, node->at, TF_E_NAME, "no way to store a rank '%.40s'%s",
                 node->text, tf_near_text(&near, hint, sizeof hint));
}

/* "bitmask", or {as: bitmask, bits: 2}. */
static bool read_packing(tf_arch_reader *r, const tf_ynode *node, tf_packing *out) {
  static const tf_yrow rows[] = {{"as", TF_Y_SCALAR, true}, {"bits", TF_Y_SCALAR, true}};
  const tf_ynode *v[2];
  int64_t bits = 0;
  if (!tf_yschema_kind(node, TF_Y_SCALAR | TF_Y_MAP, "a rank", r->base->diags)) return false;
  if (node->kind == TF_Y_SCALAR) return read_pack(r, node, &out->pack);
  bool ok = tf_yschema_check(node, rows, 2, "a rank", v, r->base->diags);
  if (v[0]) ok = read_pack(r, v[0], &out->pack) && ok;
  if (v[1]) ok = tf_read_int(r->base, v[1], "bits", 1, 64, &bits) && ok;
  if (ok && v[1] && out->pack == TF_PACK_NONE)
    ok = tf_fail(r->base->diags, v[1]->at, TF_E_KEY,
                 "an uncompressed rank has no entries: no 'bits'");
  out->bits = (int)bits;
  return ok;
}

static bool read_ranks(tf_arch_reader *r, const tf_ynode *list, tf_format *f) {
  if (list->n < 1)
    return tf_fail(r->base->diags, list->at, TF_E_MISSING, "'ranks' needs at least one");
  if (list->n > TF_MAX_RANK)
    return tf_fail(r->base->diags, list->at, TF_E_LIMIT, "%zu ranks, at most %d", list->n,
                   TF_MAX_RANK);
  f->ranks = TF_ARRAY(r->base->arena, tf_packing, list->n);
  if (!f->ranks) return tf_no_memory(r->base);
  bool ok = true;
  f->n_ranks = (int)list->n;
  for (size_t i = 0; i < list->n; i++)
    ok = read_packing(r, list->items[i], &f->ranks[i]) && ok;
  return ok;
}

static bool read_entry_energy(tf_arch_reader *r, const tf_ynode *node, tf_format *f) {
  const tf_ynode *v[2] = {node, node};
  bool ok = true;
  f->priced = true;
  if (node->kind == TF_Y_MAP)
    ok = tf_yschema_check(node, energy_rows, 2, "an energy", v, r->base->diags);
  if (v[0]) ok = read_pj(r, v[0], "energy", &f->read_pj) && ok;
  if (v[1]) f->write_pj = f->read_pj;
  if (v[1] && v[1] != v[0]) ok = read_pj(r, v[1], "energy", &f->write_pj) && ok;
  return ok;
}

enum { F_TENSORS, F_RANKS, F_ENERGY, N_F };
static const tf_yrow format_rows[N_F] = {[F_TENSORS] = {"tensors", TF_Y_SCALAR | TF_Y_LIST, false},
                                         [F_RANKS] = {"ranks", TF_Y_LIST, true},
                                         [F_ENERGY] = {"energy", TF_Y_SCALAR | TF_Y_MAP, false}};

static bool read_format(tf_arch_reader *r, const tf_ynode *node, tf_format *f) {
  const tf_ynode *v[N_F];
  f->at = node->at;
  if (!tf_yschema_kind(node, TF_Y_MAP, "a format", r->base->diags)) return false;
  bool ok = tf_yschema_check(node, format_rows, N_F, "a format", v, r->base->diags);
  ok = read_choice(r, v[F_TENSORS], "tensors", &f->tensors) && ok;
  if (v[F_RANKS]) ok = read_ranks(r, v[F_RANKS], f) && ok;
  if (v[F_ENERGY]) ok = read_entry_energy(r, v[F_ENERGY], f) && ok;
  return ok;
}

static bool read_formats(tf_arch_reader *r, const tf_key *k, const tf_ynode *list, void *s) {
  tf_formats *all = tf_key_at(k, s);
  all->list = TF_ARRAY(r->base->arena, tf_format, list->n + 1);
  if (!all->list) return tf_no_memory(r->base);
  bool ok = true;
  all->n = (int)list->n;
  for (size_t i = 0; i < list->n; i++)
    ok = read_format(r, list->items[i], &all->list[i]) && ok;
  return ok;
}

#define X(id, key, kinds, required, json, words) R_##id,
enum { TF_RULE_KEYS(X) N_RULE };
#undef X
static const tf_yrow point_rows[] = {TF_POINT_KEYS(TF_KEY_ROW)},
                     rule_rows[N_RULE] = {TF_RULE_KEYS(TF_KEY_ROW)};
enum { N_POINT = sizeof point_rows / sizeof *point_rows };

static bool read_rule(tf_arch_reader *r, const tf_ynode *node, bool at_memory, tf_rule *out) {
  const char *what = at_memory ? "a rule of a memory" : "a rule of a compute unit";
  const tf_ynode *v[N_RULE] = {NULL};
  *out = (tf_rule){.at = node->at};
  if (!tf_yschema_kind(node, TF_Y_MAP, what, r->base->diags)) return false;
  bool ok = at_memory ? tf_yschema_check(node, rule_rows, N_RULE, what, v, r->base->diags)
                      : tf_yschema_check(node, point_rows, N_POINT, what, v, r->base->diags);
  ok = read_choice(r, v[R_ON], "on", &out->on) && ok;
  if (v[R_TILES]) ok = tf_read_bool(r->base, v[R_TILES], "tiles", &out->tiles) && ok;
  return read_choice(r, v[R_TARGET], "target", &out->target) && ok;
}

static bool read_rules(tf_arch_reader *r, const tf_key *k, const tf_ynode *list, void *s) {
  tf_rules *all = tf_key_at(k, s);
  all->list = TF_ARRAY(r->base->arena, tf_rule, list->n + 1);
  if (!all->list) return tf_no_memory(r->base);
  bool ok = true;
  all->n = (int)list->n;
  for (size_t i = 0; i < list->n; i++)
    ok = read_rule(r, list->items[i], k->kind == TF_KEY_RULES, &all->list[i]) && ok;
  return ok;
}

/* ---- parts of memories -------------------------------------------------------------- */
static bool read_role(tf_arch_reader *r, const tf_ynode *node, uint32_t *roles) {
  static const char *const key[TF_N_ROLES] = {"left", "right", "result"};
  if (!tf_yschema_kind(node, TF_Y_SCALAR, "what a part holds", r->base->diags)) return false;
  for (int i = 0; i < TF_N_ROLES; i++) {
    if (!tf_ynode_is(node, key[i])) continue;
    for (int p = 0; p < r->owner->parts.n; p++)
      if (*roles >> i & 1 || r->owner->parts.list[p].roles >> i & 1)
        return tf_fail(r->base->diags, node->at, TF_E_DUP,
                       "'%s' is held in one part alone, it is listed before", key[i]);
    *roles |= 1u << i;
    return true;
  }
  return no_such(r, node, "operand", key, TF_N_ROLES);
}

static bool read_holds(tf_arch_reader *r, const tf_key *k, const tf_ynode *list, void *s) {
  bool ok = true;
  if (list->n == 0)
    ok = tf_fail(r->base->diags, list->at, TF_E_MISSING, "'%s' needs at least one operand", k->key);
  for (size_t i = 0; i < list->n; i++)
    ok = read_role(r, list->items[i], tf_key_at(k, s)) && ok;
  return ok;
}

/* One part; r->of has those before it. */
static bool read_part(tf_arch_reader *r, const tf_ynode *node, tf_mem_part *p) {
  const tf_ynode *v[TF_MOST_KEYS];
  p->at = node->at;
  if (!tf_yschema_kind(node, TF_Y_MAP, tf_part_table.what, r->base->diags)) return false;
  bool ok = tf_keys_check(r, node, &tf_part_table, v);
  const tf_ynode *name = v[tf_key_find(&tf_part_table, "name")];
  if (name) {
    p->name = tf_read_level_name(r, name, tf_part_table.what);
    p->at = name->at;
    ok = p->name && ok;
  }
  for (int i = 0; &r->owner->parts.list[i] < p && p->name; i++)
    ok = tf_check_new_name(r, p->name, p->at, r->owner->parts.list[i].name,
                           r->owner->parts.list[i].at) &&
         ok;
  return tf_keys_read(r, &tf_part_table, v, p->at, p) && ok;
}

/* A memory whose capacity is left out has that of its parts. */
static bool sum_parts(tf_arch_reader *r, const tf_ynode *list, tf_memory *m) {
  int64_t sum = 0;
  for (int i = 0; i < m->parts.n; i++)
    if (!tf_add(sum, m->parts.list[i].capacity_words, &sum))
      return tf_fail(r->base->diags, list->at, TF_E_RANGE, "the parts' words pass 2^63 - 1");
  if (m->capacity_words < 0) m->capacity_words = sum;
  if (m->capacity_words >= sum) return true;
  tf_fail(r->base->diags, list->at, TF_E_RANGE, "the parts have %lld words, the memory has %lld",
          (long long)sum, (long long)m->capacity_words);
  tf_note(r->base->diags, m->capacity_at, "its capacity");
  return false;
}

static bool read_parts(tf_arch_reader *r, const tf_key *k, const tf_ynode *list, void *s) {
  tf_memory *m = s;
  bool ok = true;
  if (m == r->arch->memories)
    return tf_fail(r->base->diags, list->at, TF_E_KEY, "the outermost memory has no parts");
  if (list->n == 0)
    return tf_fail(r->base->diags, list->at, TF_E_MISSING, "'%s' needs at least one", k->key);
  if (list->n > TF_N_ROLES)
    return tf_fail(r->base->diags, list->at, TF_E_LIMIT, "%zu parts, at most %d", list->n,
                   (int)TF_N_ROLES);
  m->parts = (tf_mem_parts){.n = 0};
  r->owner = m;
  for (size_t i = 0; i < list->n; i++) {
    m->parts.n = (int)i + 1;
    ok = read_part(r, list->items[i], &m->parts.list[i]) && ok;
  }
  r->owner = NULL;
  return ok && sum_parts(r, list, m);
}

/* ---- figures of kernels ------------------------------------------------------------- */
static bool read_figures(tf_arch_reader *r, const tf_key *k, const tf_ynode *node, void *s) {
  const tf_ynode *v[TF_MOST_KEYS] = {NULL};
  const tf_table *t = tf_key_table(k->kind);
  bool ok = tf_keys_check(r, node, t, v);
  return tf_keys_read(r, t, v, node->at, tf_key_at(k, s)) && ok;
}

static void set_usual(const tf_table *t, void *figures) {
  for (size_t i = 0; i < t->n; i++)
    tf_key_set_usual(&t->keys[i], figures);
}

tf_core tf_core_usual(void) {
  tf_core core;
  set_usual(&tf_core_table, &core);
  return core;
}

tf_multiprocessor tf_multiprocessor_usual(void) {
  tf_multiprocessor m;
  set_usual(&tf_multiprocessor_table, &m);
  return m;
}

/* ---- what is left out --------------------------------------------------------------- */
/* Defaults that follow from other keys, which stand before in their table. */
static void set_default(tf_arch_reader *r, const tf_key *k, void *s) {
  tf_memory *m = s;
  tf_unit *u = s;
  if (k->kind == TF_KEY_BITS && k->usual <= 0 && !r->owner)
    *(int *)tf_key_at(k, s) = r->arch->word_bits;
  if (k->kind == TF_KEY_BELOW) *(int *)tf_key_at(k, s) = r->arch->n_memories - 1;
  if (tf_key_table(k->kind)) set_usual(tf_key_table(k->kind), tf_key_at(k, s));
  if (k->kind == TF_KEY_PJS) {
    const bool dram = tf_table_off_chip(r->arch, (int)(m - r->arch->memories));
    m->read_pj = m->write_pj =
        tf_table_word_pj(tf_table_bytes(m), m->word_bits, r->arch->technology_nm, dram);
    m->energy_from_table = true;
  }
  if (k->kind == TF_KEY_POINT) {
    u->pj = tf_table_point_pj(u->kinds, r->arch->word_bits, r->arch->technology_nm);
    u->energy_from_table = true;
  }
}

/* ---- tables ------------------------------------------------------------------------- */
static key_reader *const readers[TF_N_KEY_KINDS] = {
    [TF_KEY_MESH] = read_mesh,       [TF_KEY_WORDS] = read_capacity,
    [TF_KEY_LINE] = read_line,       [TF_KEY_RATES] = read_bandwidth,
    [TF_KEY_PJS] = read_word_energy, [TF_KEY_POINT] = read_energy,
    [TF_KEY_PJ] = read_energy,       [TF_KEY_CYCLES] = read_cycles,
    [TF_KEY_FLAG] = read_flag,       [TF_KEY_BITS] = read_bits,
    [TF_KEY_AREA] = read_area,       [TF_KEY_OPS] = read_ops,
    [TF_KEY_BELOW] = read_below,     [TF_KEY_RATE] = read_positive,
    [TF_KEY_HZ] = read_hz,           [TF_KEY_NM] = read_nm,
    [TF_KEY_OVERLAP] = read_overlap, [TF_KEY_TOPOLOGY] = read_topology,
    [TF_KEY_CORE] = read_figures,    [TF_KEY_MULTIPROCESSOR] = read_figures,
    [TF_KEY_COUNT] = read_figure,    [TF_KEY_COST] = read_figure,
    [TF_KEY_SIZE] = read_figure,     [TF_KEY_ROOM] = read_figure,
    [TF_KEY_FORMATS] = read_formats, [TF_KEY_RULES] = read_rules,
    [TF_KEY_POINTS] = read_rules,    [TF_KEY_PARTS] = read_parts,
    [TF_KEY_HOLDS] = read_holds};

/* Rows for the spellings of an earlier version, after the n rows of the table; returns how many. */
static size_t earlier_rows(const tf_table *t, size_t n, tf_yrow *rows, size_t *from) {
  size_t all = n;
  for (size_t i = 0; i < n; i++) {
    const char *earlier = tf_key_earlier(&t->keys[from[i]]);
    if (!earlier) continue;
    from[all] = from[i];
    rows[all++] = (tf_yrow){earlier, rows[i].kinds | TF_Y_EARLIER, false};
  }
  return all;
}

static bool check_part(tf_arch_reader *r, const tf_ynode *map, const tf_table *t, const char *part,
                       const tf_ynode **v) {
  tf_yrow rows[2 * TF_MOST_KEYS];
  size_t from[2 * TF_MOST_KEYS];
  const tf_ynode *found[2 * TF_MOST_KEYS];
  char what[80];
  const size_t n = earlier_rows(t, tf_key_rows(t, part, rows, from), rows, from);
  snprintf(what, sizeof what, "%s%s", *part ? "a " : "", *part ? part : t->what);
  bool ok = tf_yschema_check(map, rows, n, what, found, r->base->diags);
  for (size_t i = 0; i < n; i++) {
    const tf_ynode **to = &v[from[i]];
    if (rows[i].kinds & TF_Y_EARLIER && found[i] && *to)
      ok = tf_fail(r->base->diags, found[i]->at, TF_E_DUP,
                   "'%s' is what files of an earlier version call '%s': give one", rows[i].key,
                   tf_key_name(&t->keys[from[i]]));
    else if (found[i] || !(rows[i].kinds & TF_Y_EARLIER))
      *to = found[i];
  }
  return ok;
}

bool tf_keys_check(tf_arch_reader *r, const tf_ynode *map, const tf_table *t, const tf_ynode **v) {
  for (size_t i = 0; i < t->n; i++)
    v[i] = NULL;
  bool ok = check_part(r, map, t, "", v);
  for (size_t i = 0; i < t->n; i++)
    if (v[i] && t->keys[i].kind == TF_KEY_MAP) ok = check_part(r, v[i], t, t->keys[i].key, v) && ok;
  return ok;
}

static bool read_row(tf_arch_reader *r, const tf_table *t, size_t i, const tf_ynode *node,
                     void *into) {
  const tf_key *k = &t->keys[i];
  if (node && readers[k->kind]) return readers[k->kind](r, k, node, into);
  if (!node) set_default(r, k, into);
  return true;
}

/* Other quantities follow from the width of a word, which is read first. */
bool tf_keys_read(tf_arch_reader *r, const tf_table *t, const tf_ynode **v, tf_loc at, void *into) {
  bool ok = true;
  for (size_t i = 0; i < t->n; i++) {
    tf_key_set_usual(&t->keys[i], into);
    if (t->keys[i].kind == TF_KEY_PLACE)
      *(tf_loc *)tf_key_at(&t->keys[i], into) = v[i - 1] ? v[i - 1]->at : at;
  }
  for (int bits = 1; bits >= 0; bits--)
    for (size_t i = 0; i < t->n; i++)
      if ((t->keys[i].kind == TF_KEY_BITS) == bits) ok = read_row(r, t, i, v[i], into) && ok;
  return ok;
}
