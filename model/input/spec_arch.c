/* Reads the architecture section: its memories and compute units.  Keys: arch_keys.c. */
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "model/input/arch_read.h"
#include "model/input/table/area.h"

/* The key of a map's table that is called so. */
static const tf_ynode *given(const tf_table *t, const tf_ynode **v, const char *key) {
  return v[tf_key_find(t, key)];
}

/* ---- memories ----------------------------------------------------------------------- */
/* The outermost memory stands alone, and nothing feeds it. */
static bool check_outermost(tf_arch_reader *r, const tf_ynode **v, const tf_memory *m) {
  const tf_ynode *mesh = given(&tf_memory_table, v, "mesh"),
                 *network = given(&tf_memory_table, v, "network");
  bool ok = true;
  if (mesh && (m->mesh[0] != 1 || m->mesh[1] != 1))
    ok = tf_fail(r->base->diags, mesh->at, TF_E_RANGE,
                 "the outermost memory has one instance: 'mesh' must be [1, 1]");
  if (network)
    ok = tf_fail(r->base->diags, network->at, TF_E_KEY,
                 "no network feeds the outermost memory '%.60s'", m->name ? m->name : "");
  return ok;
}

/* Neighbours are those of a mesh or a torus. */
static bool check_peers(tf_arch_reader *r, const tf_ynode **v, const tf_memory *m) {
  const tf_ynode *topology = given(&tf_memory_table, v, "network.topology");
  if (!m->peers || m->topology == TF_MESH || m->topology == TF_TORUS) return true;
  if (topology && m->topology == TF_NO_TOPOLOGY) return true; /* reported already */
  tf_fail(r->base->diags, given(&tf_memory_table, v, "network.peers")->at,
          topology ? TF_E_RANGE : TF_E_MISSING,
          "'peers' needs 'topology: mesh' or 'torus', whose instances have neighbours");
  if (topology)
    tf_note(r->base->diags, topology->at, "the network is a %s", tf_topology_key(m->topology));
  return false;
}

/* What is said of links is of those that a topology has. */
static void warn_of_links(tf_arch_reader *r, const tf_ynode **v, const tf_memory *m) {
  static const struct {
    const char *key, *fix;
  } of[] = {{"width", "or bound what passes by the memory's 'bandwidth'"},
            {"hop-latency", "or state the time of a transfer by the memory's 'latency'"}};
  if (given(&tf_memory_table, v, "network.topology")) return;
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    char key[32];
    snprintf(key, sizeof key, "network.%s", of[i].key);
    const tf_ynode *node = given(&tf_memory_table, v, key);
    if (node)
      tf_warn(r->base->diags, node->at,
              "'%s' has no effect: without 'topology' the network of '%.60s' has no links; add "
              "'topology: mesh' (torus, tree, bus, crossbar), %s",
              of[i].key, m->name ? m->name : "", of[i].fix);
  }
}

/* A memory with lines moves whole ones. */
static bool check_line(tf_arch_reader *r, const tf_ynode **v, const tf_memory *m) {
  static const char *const not_with[] = {"access", "format", "gating", "skipping"},
                           *const needs[] = {"banks", "bank-ports"};
  const tf_ynode *line = given(&tf_memory_table, v, "line");
  bool ok = true;
  for (int i = 0; i < 4 && line; i++) {
    const tf_ynode *other = given(&tf_memory_table, v, not_with[i]);
    if (!other) continue;
    ok = tf_fail(r->base->diags, other->at, TF_E_KEY, "'%s' and 'line' do not go together",
                 not_with[i]);
    tf_note(r->base->diags, line->at, "'%.60s' has lines", m->name ? m->name : "");
  }
  for (int i = 0; i < 2 && !line; i++) {
    const tf_ynode *key = given(&tf_memory_table, v, needs[i]);
    if (key)
      ok = tf_fail(r->base->diags, key->at, TF_E_MISSING,
                   "'%s' needs 'line': banks hold lines in turn", needs[i]);
  }
  return ok;
}

static bool read_memory(tf_arch_reader *r, const tf_ynode *node, int level) {
  tf_memory *m = &r->arch->memories[level];
  const tf_ynode *v[TF_MOST_KEYS];
  m->at = node->at;
  if (!tf_yschema_kind(node, TF_Y_MAP, tf_memory_table.what, r->base->diags)) return false;
  bool ok = tf_keys_check(r, node, &tf_memory_table, v);
  const tf_ynode *name = given(&tf_memory_table, v, "name");
  if (name) {
    m->name = tf_read_level_name(r, name, tf_memory_table.what);
    m->at = name->at;
    ok = m->name && ok;
  }
  for (int i = 0; i < level && m->name && ok; i++)
    ok = tf_check_new_name(r, m->name, m->at, r->arch->memories[i].name, r->arch->memories[i].at);
  ok = tf_keys_read(r, &tf_memory_table, v, m->at, m) && check_peers(r, v, m) &&
       check_line(r, v, m) && ok;
  warn_of_links(r, v, m);
  return (level > 0 || check_outermost(r, v, m)) && ok;
}

static bool read_memories(tf_arch_reader *r, const tf_ynode *list) {
  tf_arch *a = r->arch;
  if (list->n < 1)
    return tf_fail(r->base->diags, list->at, TF_E_MISSING, "'memories' needs at least one");
  if (list->n > TF_MAX_MEMORIES)
    return tf_fail(r->base->diags, list->at, TF_E_LIMIT, "%zu memories, at most %d", list->n,
                   TF_MAX_MEMORIES);
  a->memories = TF_ARRAY(r->base->arena, tf_memory, list->n);
  if (!a->memories) return tf_no_memory(r->base);
  bool ok = true;
  for (size_t i = 0; i < list->n; i++) {
    a->n_memories = (int)i + 1;
    ok = read_memory(r, list->items[i], (int)i) && ok;
  }
  return ok;
}

/* ---- compute units ------------------------------------------------------------------ */
static bool read_unit(tf_arch_reader *r, const tf_ynode *node, int no) {
  tf_unit *u = &r->arch->units[no];
  const tf_ynode *v[TF_MOST_KEYS];
  u->at = node->at;
  if (!tf_yschema_kind(node, TF_Y_MAP, tf_unit_table.what, r->base->diags)) return false;
  bool ok = tf_keys_check(r, node, &tf_unit_table, v);
  const tf_ynode *name = given(&tf_unit_table, v, "name");
  if (name) {
    u->name = tf_read_level_name(r, name, tf_unit_table.what);
    u->at = name->at;
    ok = u->name && ok;
  }
  for (int i = 0; i < no && u->name && ok; i++)
    ok = tf_check_new_name(r, u->name, u->at, r->arch->units[i].name, r->arch->units[i].at);
  ok = tf_keys_read(r, &tf_unit_table, v, u->at, u) && ok;
  u->kinds |= 1u << TF_K_COPY;
  return ok;
}

static bool read_units(tf_arch_reader *r, const tf_ynode *list) {
  tf_arch *a = r->arch;
  if (list->n < 1)
    return tf_fail(r->base->diags, list->at, TF_E_MISSING, "'compute' needs at least one unit");
  if (list->n > TF_MAX_UNITS)
    return tf_fail(r->base->diags, list->at, TF_E_LIMIT, "%zu compute units, at most %d", list->n,
                   TF_MAX_UNITS);
  a->units = TF_ARRAY(r->base->arena, tf_unit, list->n);
  if (!a->units) return tf_no_memory(r->base);
  bool ok = true;
  for (size_t i = 0; i < list->n; i++) {
    a->n_units = (int)i + 1;
    ok = read_unit(r, list->items[i], (int)i) && ok;
  }
  return ok;
}

/* Lines are counted where neighbours hand nothing on, and nothing is saved by zeros. */
static bool check_with_lines(tf_arch_reader *r) {
  const tf_arch *a = r->arch;
  const tf_memory *first = NULL;
  bool ok = true;
  for (int l = 0; l < a->n_memories && !first; l++)
    if (a->memories[l].line) first = &a->memories[l];
  for (int l = 0; l < a->n_memories && first; l++) {
    const tf_memory *m = &a->memories[l];
    const bool zeros = m->formats.n || m->gating.n || m->skipping.n;
    if (!zeros && !m->peers) continue;
    ok = tf_fail(r->base->diags, m->at, TF_E_KEY,
                 "'%.60s' has %s, which are not counted beside lines", m->name,
                 zeros ? "formats or rules for zeros" : "'peers'");
    tf_note(r->base->diags, first->at, "'%.60s' has lines", first->name);
  }
  for (int u = 0; u < a->n_units && first; u++) {
    if (!a->units[u].gating.n && !a->units[u].skipping.n) continue;
    ok = tf_fail(r->base->diags, a->units[u].at, TF_E_KEY,
                 "'%.60s' has rules for zeros, which are not counted beside lines",
                 a->units[u].name);
    tf_note(r->base->diags, first->at, "'%.60s' has lines", first->name);
  }
  return ok;
}

/* Rules of tiles are of memories that serve another one. */
static bool check_tiles(tf_arch_reader *r) {
  const tf_memory *last = &r->arch->memories[r->arch->n_memories - 1];
  bool ok = true;
  for (int w = 0; w < 2; w++) {
    const tf_rules *rules = w ? &last->skipping : &last->gating;
    for (int i = 0; i < rules->n; i++)
      if (rules->list[i].tiles)
        ok = tf_fail(r->base->diags, rules->list[i].at, TF_E_KEY,
                     "no memory fetches tiles from '%.60s', the innermost one: a rule of tiles "
                     "stands further out",
                     last->name);
  }
  return ok;
}

/* ---- what follows from all of it ---------------------------------------------------- */
/* All instances of a memory, those of its units included, must count below 2^63. */
static bool check_instances(tf_arch_reader *r) {
  int64_t n = 1;
  for (int i = 0; i < r->arch->n_memories; i++) {
    const tf_memory *m = &r->arch->memories[i];
    if (tf_mul(n, m->mesh[0], &n) && tf_mul(n, m->mesh[1], &n)) continue;
    return tf_fail(r->base->diags, m->mesh_at, TF_E_RANGE, "the instances of '%.60s' pass 2^63 - 1",
                   m->name);
  }
  for (int i = 0; i < r->arch->n_units; i++) {
    const tf_unit *u = &r->arch->units[i];
    int64_t k = n;
    if (tf_mul(k, u->mesh[0], &k) && tf_mul(k, u->mesh[1], &k)) continue;
    return tf_fail(r->base->diags, u->at, TF_E_RANGE, "the units of '%.60s' pass 2^63 - 1",
                   u->name);
  }
  return true;
}

static bool same_choice(const tf_selection *a, const tf_selection *b) {
  bool same = a->n == b->n;
  for (int i = 0; same && i < a->n; i++)
    same = !strcmp(a->names[i].name, b->names[i].name);
  return same;
}

static bool same_rules(const tf_rules *a, const tf_rules *b) {
  bool same = a->n == b->n;
  for (int i = 0; same && i < a->n; i++)
    same = same_choice(&a->list[i].target, &b->list[i].target) &&
           same_choice(&a->list[i].on, &b->list[i].on) && a->list[i].tiles == b->list[i].tiles;
  return same;
}

static bool same_price(const tf_format *a, const tf_format *b) {
  return a->priced == b->priced && !(a->read_pj < b->read_pj) && !(a->read_pj > b->read_pj) &&
         !(a->write_pj < b->write_pj) && !(a->write_pj > b->write_pj);
}

static bool same_formats(const tf_formats *a, const tf_formats *b) {
  bool same = a->n == b->n;
  for (int i = 0; same && i < a->n; i++) {
    const tf_format *f = &a->list[i], *g = &b->list[i];
    same = f->n_ranks == g->n_ranks && same_choice(&f->tensors, &g->tensors) && same_price(f, g);
    for (int r = 0; same && r < f->n_ranks; r++)
      same = f->ranks[r].pack == g->ranks[r].pack && f->ranks[r].bits == g->ranks[r].bits;
  }
  return same;
}

static bool same_laid(const tf_laids *a, const tf_laids *b) {
  bool same = a->n == b->n;
  for (int i = 0; same && i < a->n; i++) {
    const tf_laid *x = &a->list[i], *y = &b->list[i];
    same = x->n == y->n && !strcmp(x->tensor.name, y->tensor.name);
    for (int k = 0; same && k < x->n; k++)
      same = x->parts[k].rank == y->parts[k].rank && x->parts[k].part == y->parts[k].part &&
             x->parts[k].by == y->parts[k].by;
  }
  return same;
}

bool tf_arch_lines(const tf_arch *a) {
  bool any = false;
  for (int l = 0; l < a->n_memories; l++)
    any |= a->memories[l].line > 0;
  return any;
}

static bool same_parts(const tf_mem_parts *a, const tf_mem_parts *b) {
  bool same = a->n == b->n;
  for (int i = 0; same && i < a->n; i++)
    same = tf_keys_same(&tf_part_table, &a->list[i], &b->list[i]);
  return same;
}

bool tf_arch_same(const tf_arch *a, const tf_arch *b) {
  bool same = a->n_memories == b->n_memories && a->n_units == b->n_units &&
              tf_keys_same(&tf_arch_table, a, b);
  for (int l = 0; same && l < a->n_memories; l++)
    same = tf_keys_same(&tf_memory_table, &a->memories[l], &b->memories[l]) &&
           same_choice(&a->memories[l].home, &b->memories[l].home) &&
           same_laid(&a->memories[l].laid, &b->memories[l].laid) &&
           same_parts(&a->memories[l].parts, &b->memories[l].parts) &&
           same_formats(&a->memories[l].formats, &b->memories[l].formats) &&
           same_rules(&a->memories[l].gating, &b->memories[l].gating) &&
           same_rules(&a->memories[l].skipping, &b->memories[l].skipping);
  for (int u = 0; same && u < a->n_units; u++)
    same = tf_keys_same(&tf_unit_table, &a->units[u], &b->units[u]) &&
           same_rules(&a->units[u].gating, &b->units[u].gating) &&
           same_rules(&a->units[u].skipping, &b->units[u].skipping);
  return same;
}

int tf_arch_home(const tf_arch *a, const tf_tensor *z) {
  for (int l = 1; l < a->n_memories; l++)
    for (int i = 0; i < a->memories[l].home.n; i++)
      if (!strcmp(a->memories[l].home.names[i].name, z->known_as ? z->known_as : z->name)) return l;
  return 0;
}

bool tf_arch_homes(const tf_arch *a, const tf_workload *wl) {
  for (int z = 0; z < wl->n_tensors; z++)
    if ((wl->tensors[z].producer < 0 || wl->tensors[z].n_consumers == 0) &&
        tf_arch_home(a, &wl->tensors[z]))
      return true;
  return false;
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

/* ---- leakage ------------------------------------------------------------------------ */
/* All instances of memory l. */
static double instances_of(const tf_arch *a, int l) {
  double n = 1;
  for (int i = 0; i <= l; i++)
    n *= (double)(a->memories[i].mesh[0] * a->memories[i].mesh[1]);
  return n;
}

double tf_memory_leakage(const tf_arch *a, int l, int64_t in_use) {
  return (a->memories[l].gated ? (double)in_use : instances_of(a, l)) * a->memories[l].leak_pj;
}

double tf_unit_leakage(const tf_arch *a, int u, int64_t in_use) {
  const tf_unit *unit = &a->units[u];
  const double all = instances_of(a, unit->below) * (double)(unit->mesh[0] * unit->mesh[1]);
  return (unit->gated ? (double)in_use : all) * unit->leak_pj;
}

double tf_arch_leakage(const tf_arch *a) {
  double pj = 0;
  for (int l = 0; l < a->n_memories; l++)
    pj += tf_memory_leakage(a, l, 1);
  for (int u = 0; u < a->n_units; u++)
    pj += tf_unit_leakage(a, u, 0);
  return pj;
}

/* ---- the memory that blocks stay in ------------------------------------------------ */
static bool is_candidate(const tf_arch *a, int l, bool innermost) {
  return a->memories[l].capacity_words > 0 && (innermost || l < a->n_memories - 1);
}

/* Whether its instances are filled independently: there are several, or nothing is shared on the
 * way to them. */
static bool works_apart(const tf_memory *m) {
  return m->mesh[0] * m->mesh[1] > 1 || !(m->multicast || m->reduce);
}

int tf_arch_near_cache(const tf_arch *a) {
  int n = 0, outermost = 0, second = 0;
  bool innermost = true;
  for (int l = 1; l < a->n_memories - 1; l++)
    innermost &= a->memories[l].capacity_words <= 0;
  for (int l = 1; l < a->n_memories; l++) {
    if (!is_candidate(a, l, innermost)) continue;
    if (works_apart(&a->memories[l])) return l;
    if (n == 0) outermost = l;
    if (n++ == 1) second = l;
  }
  return n >= 3 ? second : outermost;
}

/* ---- the section -------------------------------------------------------------------- */
tf_arch *tf_read_arch(tf_reader *base, const tf_ynode *section) {
  tf_arch_reader r = {.base = base, .arch = TF_NEW(base->arena, tf_arch)};
  const tf_ynode *v[TF_MOST_KEYS];
  tf_arch *a = r.arch;
  if (!a) return tf_no_memory(base) ? a : NULL;
  bool ok = tf_keys_check(&r, section, &tf_arch_table, v);
  const tf_ynode *name = given(&tf_arch_table, v, "name"),
                 *memories = given(&tf_arch_table, v, "memories"),
                 *units = given(&tf_arch_table, v, "compute");
  r.have_clock = given(&tf_arch_table, v, "clock") != NULL;
  a->at = section->at;
  a->name = "architecture";
  if (name) {
    a->name = tf_read_title(base, name);
    a->at = name->at;
  }
  ok = tf_keys_read(&r, &tf_arch_table, v, a->at, a) && ok;
  r.have_memories = memories && read_memories(&r, memories);
  const bool worked = units && read_units(&r, units);
  ok = ok && a->name && r.have_memories && worked && check_instances(&r) && check_with_lines(&r) &&
       check_tiles(&r);
  return ok ? a : NULL;
}
