/* Reads the compute units of an architecture. */
#include <string.h>

#include "base/names.h"
#include "model/spec/arch_read.h"
#include "model/spec/kinds.h"
#include "model/spec/table/energy.h"

enum { U_NAME, U_OPS, U_BELOW, U_MESH, U_RATE, U_ENERGY, U_PIPELINE, U_NETWORK, U_AREA, N_U };
static const tf_yrow unit_rows[N_U] = {
    [U_NAME] = {"name", TF_Y_SCALAR, true},          [U_OPS] = {"ops", TF_Y_LIST, true},
    [U_BELOW] = {"below", TF_Y_SCALAR, false},       [U_MESH] = {"mesh", TF_Y_LIST, false},
    [U_RATE] = {"rate", TF_Y_SCALAR, false},         [U_ENERGY] = {"energy", TF_Y_SCALAR, false},
    [U_PIPELINE] = {"pipeline", TF_Y_SCALAR, false}, [U_NETWORK] = {"network", TF_Y_MAP, false},
    [U_AREA] = {"area", TF_Y_SCALAR, false},
};

tf_keys tf_unit_keys(void) { return (tf_keys){unit_rows, N_U}; }

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

static bool read_kinds(tf_arch_reader *r, const tf_ynode *list, uint32_t *kinds) {
  bool ok = true;
  if (list->n == 0) ok = tf_fail(r->base->diags, list->at, TF_E_MISSING, "'ops' needs at least one op kind");
  for (size_t i = 0; i < list->n; i++)
    ok = read_kind(r, list->items[i], kinds) && ok;
  return ok;
}

static bool find_memory(tf_arch_reader *r, const tf_ynode *node, int *below) {
  const tf_arch *a = r->arch;
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

static bool read_unit(tf_arch_reader *r, const tf_ynode *node, int no, bool memories) {
  tf_unit *u = &r->arch->units[no];
  const tf_ynode *v[N_U];
  u->at = node->at;
  if (!tf_yschema_kind(node, TF_Y_MAP, "a compute unit", r->base->diags)) return false;
  bool ok = tf_yschema_check(node, unit_rows, N_U, "a compute unit", v, r->base->diags);
  if (v[U_NAME]) {
    u->name = tf_read_level_name(r, v[U_NAME], "a compute unit");
    u->at = v[U_NAME]->at;
    ok = u->name && ok;
  }
  for (int i = 0; i < no && u->name && ok; i++)
    ok = tf_check_new_name(r, u->name, u->at, r->arch->units[i].name, r->arch->units[i].at);
  if (v[U_OPS]) ok = read_kinds(r, v[U_OPS], &u->kinds) && ok;
  u->rate = 1;
  u->below = r->arch->n_memories - 1;
  if (v[U_BELOW] && memories) ok = find_memory(r, v[U_BELOW], &u->below) && ok;
  ok = tf_read_mesh(r, v[U_MESH], u->mesh) && ok;
  if (v[U_RATE]) ok = tf_read_positive(r, v[U_RATE], "rate", &u->rate) && ok;
  ok = tf_read_cycles(r, v[U_PIPELINE], "pipeline", &u->pipeline) && ok;
  ok = tf_read_network(r, v[U_NETWORK], &u->multicast, &u->reduce, NULL) && ok;
  ok = tf_read_area(r, v[U_AREA], &u->area_um2, &u->area_given) && ok;
  u->energy_from_table = !v[U_ENERGY];
  u->pj = tf_table_point_pj(u->kinds, r->arch->word_bits, r->arch->technology_nm);
  if (v[U_ENERGY]) ok = tf_read_energy(r, v[U_ENERGY], "energy", &u->pj) && ok;
  u->kinds |= 1u << TF_K_COPY;
  return ok;
}

bool tf_read_units(tf_arch_reader *r, const tf_ynode *list, bool memories) {
  tf_arch *a = r->arch;
  if (list->n < 1) return tf_fail(r->base->diags, list->at, TF_E_MISSING, "'compute' needs at least one unit");
  if (list->n > TF_MAX_UNITS)
    return tf_fail(r->base->diags, list->at, TF_E_LIMIT, "%zu compute units, at most %d", list->n, TF_MAX_UNITS);
  a->units = TF_ARRAY(r->base->arena, tf_unit, list->n);
  if (!a->units) return tf_no_memory(r->base);
  bool ok = true;
  for (size_t i = 0; i < list->n; i++) {
    a->n_units = (int)i + 1;
    ok = read_unit(r, list->items[i], (int)i, memories) && ok;
  }
  return ok;
}
