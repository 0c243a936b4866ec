/* Memories and units of an architecture: their names, classes, and places in the chain. */
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "model/import/timeloop/timeloop.h"

bool tl_read_name(tl_case *c, const tf_ynode *node, const char **name, int64_t *count) {
  const char *open = strchr(node->text, '[');
  size_t n = open ? (size_t)(open - node->text) : node->len;
  *count = 1;
  if (open) {
    char *end;
    long long from = strtoll(open + 1, &end, 10), to = from;
    if (strncmp(end, "..", 2) == 0) to = strtoll(end + 2, &end, 10);
    if (from < 0 || from > 1 || to < from || to > 1 << 30 || strcmp(end, "]") != 0)
      return tf_fail(c->diags, node->at, TF_E_SYNTAX,
                     "'%.60s': instances are written NAME[0..N] or NAME[1..N]", node->text);
    *count = to - from + 1;
  }
  if (!tf_is_name(node->text, n, true))
    return tf_fail(c->diags, node->at, TF_E_SYNTAX, "'%.60s' cannot name a memory or unit",
                   node->text);
  *name = tf_arena_strndup(c->arena, node->text, n);
  return *name != NULL;
}

static tl_class class_of(const char *class) {
  static const struct {
    const char *part;
    tl_class is;
  } known[] = {{"DRAM", TL_CLASS_MEMORY},           {"SRAM", TL_CLASS_MEMORY},
               {"regfile", TL_CLASS_MEMORY},        {"smartbuffer", TL_CLASS_MEMORY},
               {"storage", TL_CLASS_MEMORY},        {"mac", TL_CLASS_COMPUTE},
               {"compute", TL_CLASS_COMPUTE},       {"intmultiplier", TL_CLASS_COMPUTE},
               {"XY_NoC", TL_CLASS_NETWORK},        {"Legacy", TL_CLASS_NETWORK},
               {"ReductionTree", TL_CLASS_NETWORK}, {"SimpleMulticast", TL_CLASS_NETWORK}};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    if (strstr(class, known[i].part)) return known[i].is;
  return TL_CLASS_NONE;
}

tl_class tl_class_of(const tf_ynode *class, const tf_ynode *subclass) {
  tl_class is = class ? class_of(class->text) : TL_CLASS_NONE;
  return is == TL_CLASS_NONE && subclass ? class_of(subclass->text) : is;
}

bool tl_tell_class(tl_case *c, const tf_ynode *class, const char *name, tl_class is) {
  tl_lost(c, class->at, "not modelled: '%.40s' of class %.40s, %s", name, class->text,
          is == TL_CLASS_NETWORK
              ? "a network: words pass between memories at no cost of its own"
              : "which is neither storage nor compute: Timeloop leaves it out, too");
  return true;
}

void tl_tell_scales(tl_case *c, const tf_ynode *const *scale, const char *name) {
  static const char *const key[] = {"area_scale", "energy_scale"};
  for (int i = 0; i < 2; i++)
    if (scale[i] && strcmp(tl_value_text(scale[i]), "1") != 0 &&
        strcmp(tl_value_text(scale[i]), "1.0") != 0)
      tl_lost(c, scale[i]->at,
              "not modelled: %s %.40s of %.60s: energies and areas are those of the tables", key[i],
              tl_value_text(scale[i]), name);
}

bool tl_add_level(tl_case *c, const tl_level *l) {
  int memories = l->kind == TL_MEMORY;
  for (int i = 0; i < c->n_levels; i++) {
    memories += c->level[i].kind == TL_MEMORY;
    if (!strcmp(c->level[i].name, l->name))
      return tf_fail(c->diags, l->at, TF_E_DUP, "a second component is named '%.40s'", l->name);
  }
  if (c->n_levels == TL_MAX_LEVELS || memories > TL_MAX_MEMORIES)
    return tf_fail(c->diags, l->at, TF_E_LIMIT, "more than %d memories or %d places",
                   TL_MAX_MEMORIES, TL_MAX_LEVELS);
  bool behind = c->n_levels && c->level[c->n_levels - 1].kind == TL_COMPUTE;
  if (behind && (l->kind == TL_COMPUTE || !c->units_anywhere))
    return tf_fail(c->diags, l->at, TF_E_SHAPE,
                   "'%.40s' stands behind the compute units: they come last", l->name);
  c->level[c->n_levels] = behind ? c->level[c->n_levels - 1] : *l;
  if (behind) c->level[c->n_levels - 1] = *l;
  c->n_levels++;
  return true;
}

int64_t tl_along(const tl_level *l, bool y) {
  int64_t x = l->mesh_x ? l->mesh_x : l->instances;
  return y ? l->instances / x : x;
}

int64_t tl_fan(const tl_level *up, const tl_level *l, bool y) {
  return tl_along(l, y) / tl_along(up, y);
}
