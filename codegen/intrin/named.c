/* Instruction sets and data types by name. */
#include <string.h>

#include "codegen/intrin/described.h"

static void all_isas(char *all, size_t size) {
  for (int i = 0; tf_micro_isa_at(i); i++)
    snprintf(all + strlen(all), size - strlen(all), "%s, ", tf_micro_isa_at(i)->name);
  snprintf(all + strlen(all), size - strlen(all), "multi");
}

static const struct {
  const char *name;
  ir_type type;
} types[] = {{"f32", IR_F32}, {"bf16", IR_BF16}, {"int8", IR_I8}};

bool tf_micro_type_of(const char *dtype, ir_type *type) {
  const char *name = dtype ? dtype : "f32";
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (!strcmp(types[i].name, name)) {
      *type = types[i].type;
      return true;
    }
  return false;
}

bool tf_micro_data(const char *dtype, ir_type *type, tf_diags *d) {
  return tf_micro_type_of(dtype, type) ||
         tf_fail(d, (tf_loc){0}, TF_E_NAME, "no type of data '%.40s'; known: f32, bf16, int8",
                 dtype);
}

/* Those of the table. */
static int named(const char *name, const char *data, const tf_micro_isa **isas, tf_diags *d) {
  char all[160] = "";
  int n = 0;
  if (strcmp(name, "multi") != 0) {
    isas[0] = tf_micro_isa_find(name);
    if (isas[0]) return 1;
    all_isas(all, sizeof all);
    tf_fail(d, (tf_loc){0}, TF_E_NAME, "no instruction set '%.40s'; known: %s", name, all);
    return 0;
  }
  for (int i = 0; tf_micro_isa_at(i); i++)
    if (tf_micro_isa_at(i)->has && strstr(tf_micro_isa_at(i)->data, data)) n++;
  for (int i = 0, at = n; tf_micro_isa_at(i); i++)
    if (tf_micro_isa_at(i)->has && strstr(tf_micro_isa_at(i)->data, data))
      isas[--at] = tf_micro_isa_at(i);
  return n;
}

int tf_micro_isas(const tf_emit_options *o, const tf_micro_isa **isas, tf_diags *d) {
  const char *data = o->dtype ? o->dtype : "f32";
  const int n = named(o->isa ? o->isa : "portable", data, isas, d);
  for (int i = 0; i < n && o->instrs; i++)
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
      if (!strcmp(types[t].name, data))
        isas[i] = tf_micro_isa_with(o->instrs, isas[i], types[t].type, n > 1);
  return n;
}
