/* Reads the architecture section: its own keys and its memories.  Units: arch_units.c. */
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/names.h"
#include "model/spec/arch_read.h"
#include "model/spec/table/area.h"
#include "model/spec/table/energy.h"

enum { MAX_WORD_BITS = 4096, MAX_NM = 10000 };

/* ---- pieces that memories and units share ------------------------------------------- */
bool tf_read_mesh(tf_arch_reader *r, const tf_ynode *node, int64_t mesh[2]) {
  static const char *const axis[] = {"mesh X", "mesh Y"};
  mesh[0] = mesh[1] = 1;
  if (!node) return true;
  if (node->n != 2)
    return tf_fail(r->base->diags, node->at, TF_E_TYPE, "'mesh' must be [X, Y], a list of 2, not of %zu", node->n);
  bool ok = true;
  for (int i = 0; i < 2; i++)
    ok = tf_read_int(r->base, node->items[i], axis[i], 1, INT32_MAX, &mesh[i]) && ok;
  return ok;
}

static const tf_yrow network_rows[] = {
    {"multicast", TF_Y_SCALAR, false}, {"reduce", TF_Y_SCALAR, false}, {"energy-per-hop", TF_Y_SCALAR, false}};

tf_keys tf_network_keys(void) { return (tf_keys){network_rows, sizeof network_rows / sizeof *network_rows}; }

bool tf_read_network(tf_arch_reader *r, const tf_ynode *node, bool *multicast, bool *reduce, double *hop_pj) {
  *multicast = *reduce = true;
  if (!node) return true;
  const tf_ynode *v[3];
  size_t n = hop_pj ? 3 : 2;
  bool ok = tf_yschema_check(node, network_rows, n, "a network", v, r->base->diags);
  if (v[0]) ok = tf_read_bool(r->base, v[0], "multicast", multicast) && ok;
  if (v[1]) ok = tf_read_bool(r->base, v[1], "reduce", reduce) && ok;
  if (n == 3 && v[2]) ok = tf_read_energy(r, v[2], "energy-per-hop", hop_pj) && ok;
  return ok;
}

bool tf_read_energy(tf_arch_reader *r, const tf_ynode *node, const char *what, double *pj) {
  tf_quantity q;
  if (!tf_read_quantity(r->base, node, what, TF_Q_PJ, false, &q)) return false;
  *pj = q.value.f;
  return true;
}

/* A quantity per second or in seconds needs a clock; reports its absence once. */
static bool need_clock(tf_arch_reader *r, const tf_ynode *node, const char *what) {
  if (r->have_clock) return true;
  r->have_clock = true;
  return tf_fail(r->base->diags, node->at, TF_E_MISSING, "'%s' in %s needs the key 'clock' in the architecture", what,
                 strcmp(what, "bandwidth") == 0 ? "bytes per second" : "ns");
}

bool tf_read_cycles(tf_arch_reader *r, const tf_ynode *node, const char *what, double *cycles) {
  tf_quantity q;
  if (!node) return true;
  if (!tf_read_quantity(r->base, node, what, TF_Q_NS, true, &q)) return false;
  if (q.unit && !need_clock(r, node, what)) return false;
  *cycles = q.unit ? q.value.f * 1e-9 * r->arch->clock_hz : q.value.f;
  return true;
}

bool tf_read_area(tf_arch_reader *r, const tf_ynode *node, double *um2, bool *given) {
  tf_quantity q = {.unit = NULL};
  *given = node != NULL;
  if (!node) return true;
  if (!tf_read_quantity(r->base, node, "area", TF_Q_UM2, false, &q)) return false;
  *um2 = q.value.f;
  return true;
}

bool tf_read_positive(tf_arch_reader *r, const tf_ynode *node, const char *what, double *out) {
  tf_value v;
  if (!tf_read_value(r->base, node, what, &v)) return false;
  *out = v.f;
  if (v.f > 0) return true;
  return tf_fail(r->base->diags, node->at, TF_E_RANGE, "'%s' is %g, must be more than 0", what, v.f);
}

bool tf_check_new_name(tf_arch_reader *r, const char *name, tf_loc at, const char *other, tf_loc other_at) {
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

/* ---- memories ----------------------------------------------------------------------- */
enum {
  M_NAME,
  M_MESH,
  M_CAPACITY,
  M_BANDWIDTH,
  M_ENERGY,
  M_NETWORK,
  M_LATENCY,
  M_ISSUE,
  M_DOUBLE,
  M_BITS,
  M_AREA,
  N_M
};
static const tf_yrow memory_rows[N_M] = {
    [M_NAME] = {"name", TF_Y_SCALAR, true},
    [M_MESH] = {"mesh", TF_Y_LIST, false},
    [M_CAPACITY] = {"capacity", TF_Y_SCALAR, false},
    [M_BANDWIDTH] = {"bandwidth", TF_Y_SCALAR | TF_Y_MAP, false},
    [M_ENERGY] = {"energy", TF_Y_SCALAR | TF_Y_MAP, false},
    [M_NETWORK] = {"network", TF_Y_MAP, false},
    [M_LATENCY] = {"latency", TF_Y_SCALAR, false},
    [M_ISSUE] = {"issue", TF_Y_SCALAR, false},
    [M_DOUBLE] = {"double-buffered", TF_Y_SCALAR, false},
    [M_BITS] = {"word-bits", TF_Y_SCALAR, false},
    [M_AREA] = {"area", TF_Y_SCALAR, false},
};

tf_keys tf_memory_keys(void) { return (tf_keys){memory_rows, N_M}; }

/* Words, or bytes made into whole words. */
static bool read_capacity(tf_arch_reader *r, const tf_ynode *node, tf_memory *m) {
  m->capacity_words = -1;
  if (!node) return true;
  tf_quantity q;
  if (!tf_read_quantity(r->base, node, "capacity", TF_Q_BYTES, true, &q)) return false;
  double words = q.unit ? floor(q.value.f * 8 / m->word_bits) : q.value.f;
  if (words != floor(words) || words >= 9.0e18)
    return tf_fail(r->base->diags, node->at, TF_E_RANGE, "'capacity' is %.17g words, must be a whole number below 9e18",
                   words);
  if (words < 1) return tf_fail(r->base->diags, node->at, TF_E_RANGE, "'capacity' is less than one word");
  int64_t bits;
  m->capacity_words = (int64_t)words;
  bool exact = q.unit && q.value.whole && tf_mul(q.value.i, 8, &bits);
  if (exact) m->capacity_words = bits / m->word_bits;
  if (!q.unit && q.value.whole) m->capacity_words = q.value.i;
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

static const tf_yrow bandwidth_rows[] = {{"read", TF_Y_SCALAR, false}, {"write", TF_Y_SCALAR, false}};

tf_keys tf_bandwidth_keys(void) { return (tf_keys){bandwidth_rows, 2}; }

static bool read_bandwidth(tf_arch_reader *r, const tf_ynode *node, tf_memory *m) {
  m->read_bw = m->write_bw = INFINITY;
  if (!node) return true;
  if (node->kind == TF_Y_SCALAR) {
    m->one_port = true;
    bool good = read_rate(r, node, m->word_bits, &m->read_bw);
    m->write_bw = m->read_bw;
    return good;
  }
  const tf_ynode *v[2];
  bool ok = tf_yschema_check(node, bandwidth_rows, 2, "a bandwidth", v, r->base->diags);
  if (node->n == 0) ok = tf_fail(r->base->diags, node->at, TF_E_MISSING, "'bandwidth' needs 'read' or 'write'");
  if (v[0]) ok = read_rate(r, v[0], m->word_bits, &m->read_bw) && ok;
  if (v[1]) ok = read_rate(r, v[1], m->word_bits, &m->write_bw) && ok;
  return ok;
}

static const tf_yrow energy_rows[] = {{"read", TF_Y_SCALAR, true}, {"write", TF_Y_SCALAR, true}};

tf_keys tf_energy_keys(void) { return (tf_keys){energy_rows, 2}; }

static bool read_word_energy(tf_arch_reader *r, const tf_ynode *node, bool dram, tf_memory *m) {
  m->energy_from_table = !node;
  if (!node) {
    double bytes = m->capacity_words < 0 ? 0 : (double)m->capacity_words * m->word_bits / 8;
    dram = dram && m->capacity_words < 0;
    m->read_pj = tf_table_word_pj(bytes, m->word_bits, r->arch->technology_nm, dram);
    m->write_pj = m->read_pj;
    return true;
  }
  if (node->kind == TF_Y_SCALAR) {
    bool good = tf_read_energy(r, node, "energy", &m->read_pj);
    m->write_pj = m->read_pj;
    return good;
  }
  const tf_ynode *v[2];
  bool ok = tf_yschema_check(node, energy_rows, 2, "an energy", v, r->base->diags);
  if (v[0]) ok = tf_read_energy(r, v[0], "read", &m->read_pj) && ok;
  if (v[1]) ok = tf_read_energy(r, v[1], "write", &m->write_pj) && ok;
  return ok;
}

static bool read_bits(tf_arch_reader *r, const tf_ynode *node, int *bits) {
  int64_t i = *bits;
  if (node && !tf_read_int(r->base, node, "word-bits", 1, MAX_WORD_BITS, &i)) return false;
  *bits = (int)i;
  return true;
}

/* The outermost memory stands alone, and nothing feeds it. */
static bool check_outermost(tf_arch_reader *r, const tf_ynode **v, const tf_memory *m) {
  bool ok = true;
  if (v[M_MESH] && (m->mesh[0] != 1 || m->mesh[1] != 1))
    ok = tf_fail(r->base->diags, v[M_MESH]->at, TF_E_RANGE,
                 "the outermost memory has one instance: 'mesh' must be [1, 1]");
  if (v[M_NETWORK])
    ok = tf_fail(r->base->diags, v[M_NETWORK]->at, TF_E_KEY, "no network feeds the outermost memory '%.60s'",
                 m->name ? m->name : "");
  return ok;
}

static bool read_memory(tf_arch_reader *r, const tf_ynode *node, int level) {
  tf_memory *m = &r->arch->memories[level];
  const tf_ynode *v[N_M];
  m->at = m->capacity_at = m->mesh_at = node->at;
  m->word_bits = r->arch->word_bits;
  if (!tf_yschema_kind(node, TF_Y_MAP, "a memory", r->base->diags)) return false;
  bool ok = tf_yschema_check(node, memory_rows, N_M, "a memory", v, r->base->diags);
  if (v[M_NAME]) {
    m->name = tf_read_level_name(r, v[M_NAME], "a memory");
    m->at = v[M_NAME]->at;
    ok = m->name && ok;
  }
  for (int i = 0; i < level && m->name && ok; i++)
    ok = tf_check_new_name(r, m->name, m->at, r->arch->memories[i].name, r->arch->memories[i].at);
  m->mesh_at = v[M_MESH] ? v[M_MESH]->at : m->at;
  m->capacity_at = v[M_CAPACITY] ? v[M_CAPACITY]->at : m->at;
  ok = read_bits(r, v[M_BITS], &m->word_bits) && ok;
  ok = tf_read_mesh(r, v[M_MESH], m->mesh) && ok;
  ok = read_capacity(r, v[M_CAPACITY], m) && ok;
  ok = read_bandwidth(r, v[M_BANDWIDTH], m) && ok;
  ok = read_word_energy(r, v[M_ENERGY], level == 0, m) && ok;
  ok = tf_read_network(r, v[M_NETWORK], &m->multicast, &m->reduce, &m->hop_pj) && ok;
  ok = tf_read_cycles(r, v[M_LATENCY], "latency", &m->latency) && ok;
  ok = tf_read_cycles(r, v[M_ISSUE], "issue", &m->issue) && ok;
  ok = tf_read_area(r, v[M_AREA], &m->area_um2, &m->area_given) && ok;
  if (v[M_DOUBLE]) ok = tf_read_bool(r->base, v[M_DOUBLE], "double-buffered", &m->double_buffered) && ok;
  return (level > 0 || check_outermost(r, v, m)) && ok;
}

/* All instances of a memory, those of its units included, must count below 2^63. */
static bool check_instances(tf_arch_reader *r) {
  int64_t n = 1;
  for (int i = 0; i < r->arch->n_memories; i++) {
    const tf_memory *m = &r->arch->memories[i];
    if (tf_mul(n, m->mesh[0], &n) && tf_mul(n, m->mesh[1], &n)) continue;
    return tf_fail(r->base->diags, m->mesh_at, TF_E_RANGE, "the instances of '%.60s' pass 2^63 - 1", m->name);
  }
  for (int i = 0; i < r->arch->n_units; i++) {
    const tf_unit *u = &r->arch->units[i];
    int64_t k = n;
    if (tf_mul(k, u->mesh[0], &k) && tf_mul(k, u->mesh[1], &k)) continue;
    return tf_fail(r->base->diags, u->at, TF_E_RANGE, "the units of '%.60s' pass 2^63 - 1", u->name);
  }
  return true;
}

static bool read_memories(tf_arch_reader *r, const tf_ynode *list) {
  tf_arch *a = r->arch;
  if (list->n < 1) return tf_fail(r->base->diags, list->at, TF_E_MISSING, "'memories' needs at least one");
  if (list->n > TF_MAX_MEMORIES)
    return tf_fail(r->base->diags, list->at, TF_E_LIMIT, "%zu memories, at most %d", list->n, TF_MAX_MEMORIES);
  a->memories = TF_ARRAY(r->base->arena, tf_memory, list->n);
  if (!a->memories) return tf_no_memory(r->base);
  bool ok = true;
  for (size_t i = 0; i < list->n; i++) {
    a->n_memories = (int)i + 1;
    ok = read_memory(r, list->items[i], (int)i) && ok;
  }
  return ok;
}

double tf_arch_area(const tf_arch *a, tf_area_source *source) {
  double instances = 1, area = 0;
  bool given = false, table = false;
  for (int i = 0; i < a->n_memories; i++) {
    const tf_memory *m = &a->memories[i];
    double own = m->area_given ? m->area_um2 : tf_table_memory_um2(a, i);
    instances *= (double)(m->mesh[0] * m->mesh[1]);
    area += instances * own;
    given |= m->area_given;
    table |= !m->area_given && own > 0;
    for (int k = 0; k < a->n_units; k++) {
      const tf_unit *u = &a->units[k];
      if (u->below != i) continue;
      double unit = u->area_given ? u->area_um2 : tf_table_unit_um2(a, u);
      area += instances * (double)(u->mesh[0] * u->mesh[1]) * unit;
      given |= u->area_given;
      table |= !u->area_given && unit > 0;
    }
  }
  if (source) *source = !table ? TF_AREA_GIVEN : given ? TF_AREA_BOTH : TF_AREA_TABLE;
  return area;
}

/* ---- the section -------------------------------------------------------------------- */
enum { A_NAME, A_CLOCK, A_BITS, A_OVERLAP, A_MEMORIES, A_COMPUTE, A_TECHNOLOGY, A_CORE, A_MULTIPROCESSOR, N_A };
static const tf_yrow arch_rows[N_A] = {
    [A_NAME] = {"name", TF_Y_SCALAR, false},
    [A_CLOCK] = {"clock", TF_Y_SCALAR, false},
    [A_BITS] = {"word-bits", TF_Y_SCALAR, false},
    [A_OVERLAP] = {"overlap", TF_Y_SCALAR, false},
    [A_MEMORIES] = {"memories", TF_Y_LIST, true},
    [A_COMPUTE] = {"compute", TF_Y_LIST, true},
    [A_TECHNOLOGY] = {"technology", TF_Y_SCALAR, false},
    [A_CORE] = {"core", TF_Y_MAP, false},
    [A_MULTIPROCESSOR] = {"multiprocessor", TF_Y_MAP, false},
};

tf_keys tf_arch_keys(void) { return (tf_keys){arch_rows, N_A}; }

static bool read_clock(tf_arch_reader *r, const tf_ynode *node) {
  r->arch->clock_hz = 1e9;
  r->have_clock = node != NULL;
  if (!node) return true;
  tf_quantity q;
  if (!tf_read_quantity(r->base, node, "clock", TF_Q_HZ, false, &q)) return false;
  if (q.value.f <= 0) return tf_fail(r->base->diags, node->at, TF_E_RANGE, "'clock' is 0, must be more");
  r->arch->clock_hz = q.value.f;
  return true;
}

static bool read_technology(tf_arch_reader *r, const tf_ynode *node) {
  r->arch->technology_nm = 45;
  if (!node) return true;
  tf_quantity q;
  if (!tf_read_quantity(r->base, node, "technology", TF_Q_NM, false, &q)) return false;
  if (!q.value.whole || q.value.i < 1 || q.value.i > MAX_NM)
    return tf_fail(r->base->diags, node->at, TF_E_RANGE, "'technology' is %g nm, must be a whole number of 1 to %d",
                   q.value.f, MAX_NM);
  r->arch->technology_nm = (int)q.value.i;
  return true;
}

static bool read_overlap(tf_arch_reader *r, const tf_ynode *node) {
  static const char *const key[] = {
      [TF_OVERLAP_PERFECT] = "perfect", [TF_OVERLAP_DOUBLE_BUFFER] = "double-buffer", [TF_OVERLAP_NONE] = "none"};
  r->arch->overlap = TF_OVERLAP_DOUBLE_BUFFER;
  if (!node) return true;
  tf_near near = tf_near_start(node->text, node->len);
  for (int i = 0; i < 3; i++) {
    r->arch->overlap = (tf_overlap)i;
    if (tf_ynode_is(node, key[i])) return true;
    tf_near_offer(&near, key[i]);
  }
  char hint[80];
  return tf_fail(r->base->diags, node->at, TF_E_NAME, "no overlap '%.40s'%s", node->text,
                 tf_near_text(&near, hint, sizeof hint));
}

tf_arch *tf_read_arch(tf_reader *base, const tf_ynode *section) {
  tf_arch_reader r = {.base = base, .arch = TF_NEW(base->arena, tf_arch)};
  const tf_ynode *v[N_A];
  tf_arch *a = r.arch;
  if (!a) return tf_no_memory(base) ? a : NULL;
  bool ok = tf_yschema_check(section, arch_rows, N_A, "the architecture", v, base->diags);
  a->at = section->at;
  a->name = "architecture";
  if (v[A_NAME]) {
    a->name = tf_read_title(base, v[A_NAME]);
    a->at = v[A_NAME]->at;
  }
  a->word_bits = 16;
  ok = read_clock(&r, v[A_CLOCK]) && ok;
  ok = read_bits(&r, v[A_BITS], &a->word_bits) && ok;
  ok = read_overlap(&r, v[A_OVERLAP]) && ok;
  ok = read_technology(&r, v[A_TECHNOLOGY]) && ok;
  ok = tf_read_core(&r, v[A_CORE]) && ok;
  ok = tf_read_multiprocessor(&r, v[A_MULTIPROCESSOR]) && ok;
  bool memories = v[A_MEMORIES] && read_memories(&r, v[A_MEMORIES]);
  bool units = v[A_COMPUTE] && tf_read_units(&r, v[A_COMPUTE], memories);
  ok = ok && a->name && memories && units && check_instances(&r);
  return ok ? a : NULL;
}
