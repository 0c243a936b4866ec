/* AccelForge's architectures: a list of memories, arrays and units, each inside what stands before
 * it. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/names.h"
#include "model/import/accelforge/forge.h"

enum {
  K_NAME,
  K_SIZE,
  K_CLASS,
  K_TENSORS,
  K_ACTIONS,
  K_SPATIAL,
  K_LEAK,
  K_AREA,
  K_LATENCY,
  K_BITS,
  K_ACTION_BITS,
  K_VALUES,
  K_DIRECTION,
  K_ENABLED,
  K_LEAK_SCALE,
  K_AREA_SCALE,
  K_ENERGY_SCALE,
  K_ACTIONS_SCALE,
  K_RATE_SCALE,
  K_LATENCY_SCALE,
  K_ROWS = K_LATENCY_SCALE + 4
};
static const tf_yrow keys[K_ROWS] = {
    [K_NAME] = {"name", TF_Y_SCALAR, true},
    [K_SIZE] = {"size", TF_Y_SCALAR, false},
    [K_CLASS] = {"component_class", TF_Y_SCALAR, false},
    [K_TENSORS] = {"tensors", TF_Y_MAP, false},
    [K_ACTIONS] = {"actions", TF_Y_LIST, false},
    [K_SPATIAL] = {"spatial", TF_Y_LIST, false},
    [K_LEAK] = {"leak_power", TF_Y_SCALAR, false},
    [K_AREA] = {"area", TF_Y_SCALAR, false},
    [K_LATENCY] = {"total_latency", TF_Y_SCALAR, false},
    [K_BITS] = {"bits_per_value", TF_Y_MAP, false},
    [K_ACTION_BITS] = {"bits_per_action", TF_Y_SCALAR, false},
    [K_VALUES] = {"values_per_action", TF_Y_MAP, false},
    [K_DIRECTION] = {"direction", TF_Y_SCALAR | TF_Y_MAP, false},
    [K_ENABLED] = {"enabled", TF_Y_SCALAR, false},
    [K_LEAK_SCALE] = {"leak_power_scale", TF_Y_SCALAR, false},
    [K_AREA_SCALE] = {"area_scale", TF_Y_SCALAR, false},
    [K_ENERGY_SCALE] = {"energy_scale", TF_Y_SCALAR, false},
    [K_ACTIONS_SCALE] = {"actions_scale", TF_Y_SCALAR, false},
    [K_RATE_SCALE] = {"throughput_scale", TF_Y_SCALAR, false},
    [K_LATENCY_SCALE] = {"latency_scale", TF_Y_SCALAR, false},
    {"extra_attributes_for_component_model", 0, false}, /* for its component models */
    {"total_area", 0, false},                           /* results of its own */
    {"total_leak_power", 0, false}};

/* A number of at least 0, or above 0; left as it is where there is none. */
static bool amount(forge *f, const tf_ynode *node, const char *what, int part, bool positive,
                   double *out) {
  double x;
  if (!node) return true;
  if (!fg_number(f, node, what, part, &x)) return false;
  if (!(positive ? x > 0 : x >= 0))
    return tf_fail(f->diags, node->at, TF_E_RANGE, "%s is %g: it is a number %s", what, x,
                   positive ? "above 0" : "of 0 or more");
  *out = x;
  return true;
}

/* ---- actions --------------------------------------------------------------------------------- */

typedef struct {
  double energy, rate; /* below 0: not said */
  double bits;
} action;

/* What the map says of Einsum e's access a, times the bits of a value; 0: nothing. */
static bool bits_of_values(forge *f, const tf_ynode *map, int part, int e, int a, double *bits) {
  const int64_t of = f->tensor_bits[f->einsum[e].tensor[a]];
  *bits = 0;
  for (size_t i = 0; map && i < map->n; i++) {
    uint32_t set;
    double values = 0;
    if (!fg_set(f, map->pairs[i].key, e, part, &set)) return false;
    if (!(set >> a & 1)) continue;
    if (!amount(f, map->pairs[i].value, "values_per_action", part, true, &values)) return false;
    *bits = values * (double)of;
  }
  return true;
}

/* `values_per_action` of an action (maps[0]) or its component: bits of an action, where those are
 * the same for all tensors. */
static bool read_values(forge *f, const tf_ynode *const *maps, int part, double *bits) {
  const tf_ynode *said = maps[0] ? maps[0] : maps[1];
  double first = 0;
  if (!said) return true;
  if (!f->n_einsums)
    return tf_fail(f->diags, said->at, TF_E_MISSING,
                   "values of an action need the workload: give its file, too");
  for (int e = 0; e < f->n_einsums; e++)
    for (int a = 0; a < f->einsum[e].n; a++) {
      double one = 0;
      for (int i = 0; i < 2 && !(one > 0); i++)
        if (!bits_of_values(f, maps[i], part, e, a, &one)) return false;
      if (!(one > 0)) one = *bits;
      if (first > 0 && one != first)
        return tf_fail(
            f->diags, said->at, TF_E_RANGE,
            "an action moves %g bits of some tensors, and %g of others: here it moves as "
            "many of all",
            first, one);
      first = one;
    }
  *bits = first;
  return true;
}

static bool read_action(forge *f, const tf_ynode *node, int part, const tf_ynode *const *v,
                        action *a) {
  enum {
    A_NAME,
    A_ENERGY,
    A_RATE,
    A_TIME,
    A_BITS,
    A_E_SCALE,
    A_R_SCALE,
    A_T_SCALE,
    A_VALUES,
    N_A = 10
  };
  static const tf_yrow rows[N_A] = {[A_NAME] = {"name", TF_Y_SCALAR, true},
                                    [A_ENERGY] = {"energy", TF_Y_SCALAR, false},
                                    [A_RATE] = {"throughput", TF_Y_SCALAR, false},
                                    [A_TIME] = {"latency", TF_Y_SCALAR, false},
                                    [A_BITS] = {"bits_per_action", TF_Y_SCALAR, false},
                                    [A_E_SCALE] = {"energy_scale", TF_Y_SCALAR, false},
                                    [A_R_SCALE] = {"throughput_scale", TF_Y_SCALAR, false},
                                    [A_T_SCALE] = {"latency_scale", TF_Y_SCALAR, false},
                                    [A_VALUES] = {"values_per_action", TF_Y_MAP, false},
                                    {"extra_attributes_for_component_model", 0, false}};
  const tf_ynode *w[N_A];
  double time = -1, e = 1, r = 1, t = 1, own = 1, whole = 1, times = 1, slower = 1;
  bool ok = tf_yschema_check(node, rows, N_A, "an action", w, f->diags);
  ok &= amount(f, w[A_ENERGY], "energy", part, false, &a->energy);
  ok &= amount(f, w[A_RATE], "throughput", part, true, &a->rate);
  ok &= amount(f, w[A_TIME], "latency", part, false, &time);
  ok &= amount(f, w[A_BITS], "bits_per_action", part, true, &a->bits);
  ok &= amount(f, w[A_E_SCALE], "energy_scale", part, false, &e);
  ok &= amount(f, w[A_R_SCALE], "throughput_scale", part, true, &r);
  ok &= amount(f, w[A_T_SCALE], "latency_scale", part, true, &t);
  ok = ok && read_values(f, (const tf_ynode *[]){w[A_VALUES], v[K_VALUES]}, part, &a->bits) &&
       amount(f, v[K_ENERGY_SCALE], "energy_scale", part, false, &own) &&
       amount(f, v[K_RATE_SCALE], "throughput_scale", part, true, &whole) &&
       amount(f, v[K_LATENCY_SCALE], "latency_scale", part, true, &slower) &&
       amount(f, v[K_ACTIONS_SCALE], "actions_scale", part, true, &times);
  if (!ok) return false;
  if (a->rate < 0 && time >= 0) a->rate = time > 0 ? 1 / time : INFINITY;
  if (a->energy >= 0) a->energy *= e * own * times / a->bits;
  if (a->rate >= 0) a->rate *= r * whole * a->bits / t / slower / times;
  return true;
}

static bool read_actions(forge *f, fg_part *c, const tf_ynode *const *v, action *a) {
  const int part = (int)(c - f->part);
  const tf_ynode *list = v[K_ACTIONS];
  const char *const names[] = {c->kind == FG_COMPUTE ? "compute" : "read",
                               c->kind == FG_MEMORY ? "write" : NULL};
  bool ok = true;
  for (size_t i = 0; list && i < list->n; i++) {
    const tf_ynode *name = fg_member(list->items[i], "name");
    int k = 0;
    if (!tf_yschema_kind(list->items[i], TF_Y_MAP, "an action", f->diags)) return false;
    while (k < 2 && name && name->kind == TF_Y_SCALAR && names[k] && !tf_ynode_is(name, names[k]))
      k++;
    if (name && (k == 2 || !names[k]))
      ok = tf_fail(f->diags, name->at, TF_E_NAME, "'%s' has no action '%.40s', only '%s'%s%s",
                   c->name, name->kind == TF_Y_SCALAR ? name->text : "", names[0],
                   names[1] ? " and " : "", names[1] ? names[1] : "");
    else
      ok &= read_action(f, list->items[i], part, v, &a[k < 2 ? k : 0]);
  }
  return ok;
}

/* ---- how long actions take ------------------------------------------------------------------- */

/* The rest of the text behind `start`, both without blanks; NULL: it begins otherwise. */
static const char *behind(const char *text, const char *start) {
  const size_t n = strlen(start);
  return strncmp(text, start, n) ? NULL : text + n;
}

/* `total_latency`: each action its own time, all in turn or reads beside writes; or one time for
 * all, `sum(a.n_calls for a in actions) / 32 / 200e6`. */
static bool read_latency(forge *f, fg_part *c, const tf_ynode *node, action *a) {
  char text[256], expr[300];
  size_t n = 0;
  double each;
  if (!node) return true;
  for (const char *p = node->text; *p && n < sizeof text - 1; p++)
    if (!isspace((unsigned char)*p)) text[n++] = *p;
  text[n] = 0;
  const bool beside = behind(text, "max(") != NULL;
  const char *in = beside ? text + 4 : behind(text, "sum(");
  const char *own = in ? behind(in, "a.n_calls/a.throughputforainactions)") : NULL;
  const char *all = in ? behind(in, "a.n_callsforainactions)") : NULL;
  c->two_ports = beside;
  if (own && !*own) return true;
  if (!all)
    return tf_fail(f->diags, node->at, TF_E_SYNTAX,
                   "a total_latency is read that is 'sum' or 'max' of a.n_calls / a.throughput for "
                   "a in actions, or of a.n_calls, which is then divided or multiplied");
  memcpy(expr, "1", 2);
  strncat(expr, all, sizeof expr - 2);
  const fg_value v = fg_eval(f, expr, -1, (int)(c - f->part));
  each = v.is == FG_NUMBER ? v.number : -1;
  if (!(each > 0))
    return tf_fail(f->diags, node->at, TF_E_RANGE,
                   "what stands behind the sum must divide or multiply it by numbers above 0");
  a[0].rate = a[0].bits / each;
  a[1].rate = a[1].bits / each;
  return true;
}

/* One port has one rate for both. */
static bool check_ports(forge *f, fg_part *c) {
  if (isinf(c->read_rate) || isinf(c->write_rate)) c->two_ports = true;
  if (c->two_ports || c->read_rate < 0 || c->write_rate < 0 ||
      fabs(c->read_rate - c->write_rate) < 1e-9 * c->read_rate)
    return true;
  return tf_fail(f->diags, c->at, TF_E_RANGE,
                 "'%s' reads %g and writes %g bits a second through one port: here a port has one "
                 "rate; 'total_latency: max(a.n_calls / a.throughput for a in actions)' makes two",
                 c->name, c->read_rate, c->write_rate);
}

/* ---- arrays ---------------------------------------------------------------------------------- */

static bool read_fan(forge *f, fg_part *c, const tf_ynode *node) {
  enum { S_NAME, S_FANOUT, S_MAY, S_REUSE, S_GATED, S_BOUNDS, S_USAGE, S_SCALE, N_S };
  static const tf_yrow rows[N_S] = {[S_NAME] = {"name", TF_Y_SCALAR, true},
                                    [S_FANOUT] = {"fanout", TF_Y_SCALAR, true},
                                    [S_MAY] = {"may_reuse", TF_Y_SCALAR, false},
                                    [S_REUSE] = {"reuse", TF_Y_SCALAR, false},
                                    [S_GATED] = {"power_gateable", TF_Y_SCALAR, false},
                                    [S_BOUNDS] = {"loop_bounds", TF_Y_LIST, false},
                                    [S_USAGE] = {"min_usage", TF_Y_SCALAR, false},
                                    [S_SCALE] = {"usage_scale", TF_Y_SCALAR, false}};
  const tf_ynode *v[N_S];
  double n = 1, gated = 0;
  const int part = (int)(c - f->part);
  if (!tf_yschema_kind(node, TF_Y_MAP, "a spatial fanout", f->diags) ||
      !tf_yschema_check(node, rows, N_S, "a spatial fanout", v, f->diags) ||
      !amount(f, v[S_FANOUT], "fanout", part, true, &n) ||
      !amount(f, v[S_GATED], "power_gateable", part, false, &gated))
    return false;
  if (n != floor(n) || n > (1 << 24))
    return tf_fail(f->diags, v[S_FANOUT]->at, TF_E_RANGE,
                   "a fanout is a whole number up to 2^24, not %g", n);
  if (c->n_fans == FG_FANS)
    return tf_fail(f->diags, node->at, TF_E_LIMIT, "more than %d fanouts of one component",
                   FG_FANS);
  if (v[S_BOUNDS] && v[S_BOUNDS]->n)
    tf_warn(f->diags, v[S_BOUNDS]->at,
            "not modelled: loop_bounds of '%s': they constrain AccelForge's mapper", c->name);
  if (gated != 0)
    tf_warn(f->diags, v[S_GATED]->at,
            "along '%s' of '%s' instances in use leak: AccelForge counts no others, either, along "
            "fanouts beside it",
            v[S_NAME]->text, c->name);
  c->gated |= gated != 0;
  c->fan[c->n_fans++] = (fg_fan){.name = v[S_NAME]->text,
                                 .fanout = (int64_t)n,
                                 .reuse = v[S_MAY] ? v[S_MAY] : v[S_REUSE],
                                 .at = node->at};
  return true;
}

/* ---- components ------------------------------------------------------------------------------ */

static bool read_tensors(forge *f, fg_part *c, const tf_ynode *map) {
  for (size_t i = 0; map && i < map->n; i++) {
    const tf_ynode *key = map->pairs[i].key, *value = map->pairs[i].value;
    if (tf_ynode_is(key, "keep") || tf_ynode_is(key, "may_keep")) {
      if (!tf_yschema_kind(value, TF_Y_SCALAR, key->text, f->diags)) return false;
      *(tf_ynode_is(key, "keep") ? &c->keep : &c->may_keep) = value;
    } else {
      tf_warn(f->diags, key->at, "not modelled: %.40s of '%s': it constrains AccelForge's mapper",
              key->text, c->name);
    }
  }
  return true;
}

/* Energies and rates of a component that its model would give. */
static bool check_known(forge *f, fg_part *c, const tf_ynode *class) {
  const bool dummy = class && class->kind == TF_Y_SCALAR && tf_ynode_is(class, "Dummy");
  double *const all[] = {&c->read_j, &c->write_j,   &c->leak,
                         &c->area,   &c->read_rate, &c->write_rate};
  bool missing = false;
  if (c->kind != FG_MEMORY) c->write_j = c->read_j, c->write_rate = c->read_rate;
  for (int i = 0; i < 6; i++) {
    if (dummy && *all[i] < 0) *all[i] = i < 4 ? 0 : INFINITY;
    missing |= *all[i] < 0;
  }
  if (!missing) return true;
  if (class) {
    tf_warn(f->diags, class->at,
            "not modelled: the component model '%.40s' of '%s': what the file does not say of "
            "energy, area, leak_power and throughput are this model's defaults",
            class->text, c->name);
    return true;
  }
  if (c->read_j < 0 || c->write_j < 0)
    return tf_fail(f->diags, c->at, TF_E_MISSING,
                   "nothing says the energy of '%s': it has neither 'actions' with 'energy' nor a "
                   "'component_class'",
                   c->name);
  return true;
}

/* All that a memory may hold is as wide: other words of the same bits, in its place. */
static bool read_bits(forge *f, fg_part *c, const tf_ynode *map) {
  const int part = (int)(c - f->part);
  for (int e = 0; map && e < f->n_einsums; e++) {
    uint32_t held, of;
    if (!c->keep || c->may_keep)
      return tf_fail(f->diags, map->at, TF_E_KEY,
                     "bits of values are read of a memory that 'keep's some tensors, and may_keep "
                     "no others: '%s' may hold others",
                     c->name);
    if (!fg_set(f, c->keep, e, part, &held)) return false;
    for (size_t i = 0; i < map->n; i++) {
      double bits;
      if (!fg_set(f, map->pairs[i].key, e, part, &of)) return false;
      if (!(of & held)) continue;
      const fg_value v = map->pairs[i].value->kind == TF_Y_SCALAR
                             ? fg_eval(f, map->pairs[i].value->text, e, part)
                             : (fg_value){.is = FG_UNKNOWN};
      const int64_t own = f->tensor_bits[f->einsum[e].tensor[__builtin_ctz(of & held)]];
      bits = v.is == FG_NUMBER ? v.number : -1;
      if (!(bits > 0) || !own || (of & held) != held ||
          (c->widen > 0 && bits / (double)own != c->widen))
        return tf_fail(f->diags, map->pairs[i].value->at, TF_E_RANGE,
                       "of '%s' bits of values are read that are the same multiple of the "
                       "workload's for all that it keeps",
                       c->name);
      c->widen = bits / (double)own;
    }
  }
  if (map && !f->n_einsums)
    return tf_fail(f->diags, map->at, TF_E_MISSING,
                   "bits of values need the workload: give its file, too");
  return true;
}

static bool read_numbers(forge *f, fg_part *c, const tf_ynode *const *v) {
  const int part = (int)(c - f->part);
  action a[2] = {{-1, -1, 1}, {-1, -1, 1}};
  double leak = 1, area = 1;
  bool ok = true;
  for (int i = 0; i < 2; i++)
    ok = ok && amount(f, v[K_ACTION_BITS], "bits_per_action", part, true, &a[i].bits);
  ok &= read_actions(f, c, v, a);
  ok = ok && read_latency(f, c, v[K_LATENCY], a);
  ok &= amount(f, v[K_LEAK], "leak_power", part, false, &c->leak);
  ok &= amount(f, v[K_AREA], "area", part, false, &c->area);
  ok &= amount(f, v[K_LEAK_SCALE], "leak_power_scale", part, false, &leak);
  ok &= amount(f, v[K_AREA_SCALE], "area_scale", part, false, &area);
  ok &= amount(f, v[K_SIZE], "size", part, false, &c->size);
  if (!ok) return false;
  c->read_j = a[0].energy;
  c->read_rate = a[0].rate;
  c->write_j = a[1].energy;
  c->write_rate = a[1].rate;
  if (c->leak > 0) c->leak *= leak;
  if (c->area > 0) c->area *= area;
  return check_known(f, c, v[K_CLASS]) && (c->kind != FG_MEMORY || check_ports(f, c));
}

/* What goes down or up pays at the outermost memory: its reads all go down, its writes all come up.
 */
static bool fold_toll(forge *f, const fg_part *c, const tf_ynode *direction) {
  fg_part *top = f->n_memories ? &f->part[f->memory[0]] : NULL;
  uint32_t held = 0;
  bool all = c->keep && tf_ynode_is(c->keep, "All");
  for (int e = 0; !all && c->keep && e < f->n_einsums; e++) {
    if (!fg_set(f, c->keep, e, (int)(c - f->part), &held)) return false;
    if (held != (UINT32_C(1) << f->einsum[e].n) - 1) break;
    all = e + 1 == f->n_einsums;
  }
  const bool text = direction && direction->kind == TF_Y_SCALAR;
  const bool both = text && tf_ynode_is(direction, "up_and_down");
  const bool down = both || (text && tf_ynode_is(direction, "down"));
  const bool up = both || (text && tf_ynode_is(direction, "up"));
  if (!top || f->n_memories > 1 || c->n_fans || !(down || up) || !all || c->read_rate < INFINITY)
    return tf_fail(f->diags, c->at, TF_E_KEY,
                   "a toll is read right below the outermost memory, of all tensors, in one "
                   "direction for all, without a limit of throughput: '%s' is another one",
                   c->name);
  if (top->read_j >= 0 && down) top->read_j += c->read_j;
  if (top->write_j >= 0 && up) top->write_j += c->read_j;
  if (c->leak > 0 || c->area > 0)
    tf_warn(f->diags, c->at, "not modelled: leak_power and area of the toll '%s'", c->name);
  return true;
}

static bool place(forge *f, fg_part *c, const tf_ynode *const *v) {
  if (c->kind == FG_MEMORY) {
    if (f->n_memories == FG_MEMORIES)
      return tf_fail(f->diags, c->at, TF_E_LIMIT, "more than %d memories", FG_MEMORIES);
    f->memory[f->n_memories++] = (int)(c - f->part);
  }
  c->level = f->n_memories - 1;
  if (c->kind == FG_MEMORY && !v[K_SIZE])
    return tf_fail(f->diags, c->at, TF_E_MISSING, "the memory '%s' has no 'size'", c->name);
  if (c->kind != FG_MEMORY && c->level < 0)
    return tf_fail(f->diags, c->at, TF_E_SHAPE,
                   "'%s' stands before the first memory: here a memory is outermost", c->name);
  return true;
}

static bool read_component(forge *f, const tf_ynode *node, fg_kind kind) {
  const tf_ynode *v[K_ROWS];
  if (f->n_parts == FG_PARTS)
    return tf_fail(f->diags, node->at, TF_E_LIMIT, "more than %d components", FG_PARTS);
  if (!tf_yschema_check(node, keys, K_ROWS, "a component", v, f->diags)) return false;
  fg_part *c = &f->part[f->n_parts];
  *c = (fg_part){.kind = kind,
                 .name = v[K_NAME]->text,
                 .at = v[K_NAME]->at,
                 .node = node,
                 .enabled = v[K_ENABLED],
                 .size = INFINITY,
                 .leak = -1,
                 .area = -1};
  if (!tf_is_name(c->name, v[K_NAME]->len, true))
    return tf_fail(f->diags, c->at, TF_E_SYNTAX, "'%.40s' cannot name a component", c->name);
  for (int i = 0; i < f->n_parts; i++)
    if (!strcmp(f->part[i].name, c->name))
      return tf_fail(f->diags, c->at, TF_E_DUP, "component '%s' given twice", c->name);
  f->n_parts++;
  bool ok = place(f, c, v);
  ok &= read_tensors(f, c, v[K_TENSORS]);
  for (size_t i = 0; v[K_SPATIAL] && i < v[K_SPATIAL]->n; i++)
    ok &= read_fan(f, c, v[K_SPATIAL]->items[i]);
  ok = ok && read_bits(f, c, v[K_BITS]);
  if (!(c->widen > 0)) c->widen = 1;
  if (kind != FG_CONTAINER) ok &= read_numbers(f, c, v);
  if (f->n_memories == 1 && kind == FG_MEMORY && c->n_fans)
    ok = tf_fail(f->diags, c->fan[0].at, TF_E_SHAPE,
                 "the outermost memory '%s' has several instances: here it has one", c->name);
  return ok && (kind != FG_TOLL || fold_toll(f, c, v[K_DIRECTION]));
}

static bool read_nodes(forge *f, const tf_ynode *list, int deep) {
  static const struct {
    const char *tag;
    fg_kind kind;
  } kinds[] = {{"!Memory", FG_MEMORY},
               {"!Toll", FG_TOLL},
               {"!Container", FG_CONTAINER},
               {"!Compute", FG_COMPUTE}};
  bool ok = tf_yschema_kind(list, TF_Y_LIST, "nodes", f->diags);
  for (size_t i = 0; list->kind == TF_Y_LIST && i < list->n; i++) {
    const tf_ynode *node = list->items[i];
    const char *tag = node->tag ? node->tag : "";
    size_t k = 0;
    while (k < 4 && strcmp(tag, kinds[k].tag) != 0)
      k++;
    if (!tf_yschema_kind(node, TF_Y_MAP, "a node", f->diags)) return false;
    if (k < 4) {
      ok &= read_component(f, node, kinds[k].kind);
    } else if (!strcmp(tag, "!Hierarchical") && deep < 8 && fg_member(node, "nodes")) {
      ok &= read_nodes(f, fg_member(node, "nodes"), deep + 1);
    } else {
      char near[160];
      tf_near n = tf_near_start(tag, strlen(tag));
      for (k = 0; k < 4; k++)
        tf_near_offer(&n, kinds[k].tag);
      tf_near_offer(&n, "!Hierarchical");
      ok = tf_fail(f->diags, node->at, TF_E_KEY, "this model has no node with the tag '%.40s'%s",
                   tag, tf_near_text(&n, near, sizeof near));
    }
  }
  return ok;
}

/* The clock is the innermost unit's throughput: a cycle is its point. */
static void set_clock(forge *f) {
  int64_t all = 0;
  f->clock = 1e9;
  for (int i = 0; i < f->n_parts; i++)
    if (f->part[i].kind == FG_COMPUTE && f->part[i].read_rate > 0 &&
        f->part[i].read_rate < INFINITY)
      f->clock = f->part[i].read_rate;
  for (int z = 0; z < f->n_tensors && !all; z++)
    all = f->tensor_bits[z];
  f->word_bits = all ? (double)all : 8;
}

bool fg_read_arch(forge *f, const tf_ynode *node) {
  enum { A_NODES, A_VARIABLES, A_EXTRA, N_A };
  static const tf_yrow rows[N_A] = {
      [A_NODES] = {"nodes", TF_Y_LIST, true},
      [A_VARIABLES] = {"variables", TF_Y_MAP, false},
      [A_EXTRA] = {"extra_attributes_for_all_component_models", 0, false}};
  const tf_ynode *v[N_A];
  bool unit = false;
  if (!tf_yschema_kind(node, TF_Y_MAP, "an architecture of AccelForge", f->diags) ||
      !tf_yschema_check(node, rows, N_A, "an architecture of AccelForge", v, f->diags))
    return false;
  f->variables[0] = v[A_VARIABLES];
  f->has_arch = true;
  if (!read_nodes(f, v[A_NODES], 0)) return false;
  for (int i = 0; i < f->n_parts; i++)
    unit |= f->part[i].kind == FG_COMPUTE;
  if (!f->n_memories || !unit)
    return tf_fail(f->diags, v[A_NODES]->at, TF_E_MISSING, "an architecture has a %s",
                   unit ? "!Memory" : "!Compute");
  set_clock(f);
  return true;
}
