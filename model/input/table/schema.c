/* The tables of keys of architectures as JSON Schema. */
#include "model/input/table/schema.h"

static void write_property(FILE *out, const tf_table *t, const tf_key *k) {
  fprintf(out, "\"%s\": {\"description\": \"%s\", ", tf_key_name(k), k->words);
  if (k->kind == TF_KEY_MAP)
    tf_schema_object(out, t, k->key);
  else
    fprintf(out, "\"$ref\": \"#/$defs/%s\"", tf_key_json(k->kind));
  fprintf(out, "}");
}

void tf_schema_object(FILE *out, const tf_table *t, const char *part) {
  tf_yrow rows[TF_MOST_KEYS];
  size_t from[TF_MOST_KEYS];
  const size_t n = tf_key_rows(t, part, rows, from);
  const char *sep = "";
  fprintf(out, "\"type\": \"object\", \"additionalProperties\": false, \"required\": [");
  for (size_t i = 0; i < n; i++) {
    if (!rows[i].required) continue;
    fprintf(out, "%s\"%s\"", sep, rows[i].key);
    sep = ", ";
  }
  fprintf(out, "], \"properties\": {\n");
  for (size_t i = 0; i < n; i++) {
    fprintf(out, "      ");
    write_property(out, t, &t->keys[from[i]]);
    fprintf(out, i + 1 < n ? ",\n" : "\n    }");
  }
}

/* What kinds of keys may be, but for what every section has (model/schema). */
static const struct {
  const char *name, *schema;
} defs[] = {
    {"mesh", "\"type\": \"array\", \"minItems\": 1, \"maxItems\": 2, \"items\": {\"$ref\": "
             "\"#/$defs/number\"}"},
    {"size", "\"$ref\": \"#/$defs/number\""},
    {"rates", "\"anyOf\": [{\"$ref\": \"#/$defs/number\"}, {\"$ref\": \"#/$defs/ways\"}]"},
    {"energies",
     "\"anyOf\": [{\"type\": \"string\"}, {\"type\": \"object\", \"additionalProperties\": false, "
     "\"required\": [\"read\", \"write\"], \"properties\": {\"read\": {\"type\": \"string\"}, "
     "\"write\": {\"type\": \"string\"}, \"drain\": {\"type\": \"string\"}}}]"},
    {"ways", "\"type\": \"object\", \"additionalProperties\": false, \"properties\": {\"read\": "
             "{\"$ref\": \"#/$defs/number\"}, \"write\": {\"$ref\": \"#/$defs/number\"}}"},
    {"energy", "\"type\": \"string\""},
    {"time", "\"$ref\": \"#/$defs/number\""},
    {"flag", "\"type\": \"boolean\""},
    {"bits", "\"$ref\": \"#/$defs/number\""},
    {"area", "\"type\": \"string\""},
    {"ops", "\"type\": \"array\", \"minItems\": 1, \"items\": {\"type\": \"string\"}"},
    {"positive", "\"$ref\": \"#/$defs/number\""},
    {"frequency", "\"type\": \"string\""},
    {"length", "\"type\": \"string\""},
    {"overlap", "\"enum\": [\"perfect\", \"double-buffer\", \"none\"]"},
    {"topology", "\"enum\": [\"mesh\", \"torus\", \"tree\", \"bus\", \"crossbar\"]"},
    {"count", "\"$ref\": \"#/$defs/number\""},
    {"cost", "\"$ref\": \"#/$defs/number\""},
    {"bytes", "\"$ref\": \"#/$defs/number\""},
    {"tensors", "\"anyOf\": [{\"const\": \"*\"}, {\"type\": \"array\", \"minItems\": 1, \"items\": "
                "{\"type\": \"string\"}}]"},
    {"packing",
     "\"enum\": [\"uncompressed\", \"bitmask\", \"run-length\", \"coordinate\", \"offsets\"]"},
    {"formats",
     "\"type\": \"array\", \"items\": {\"type\": \"object\", \"additionalProperties\": false, "
     "\"required\": [\"ranks\"], \"properties\": {\"tensors\": {\"$ref\": \"#/$defs/tensors\"}, "
     "\"ranks\": {\"type\": \"array\", \"minItems\": 1, \"items\": {\"anyOf\": [{\"$ref\": "
     "\"#/$defs/packing\"}, {\"type\": \"object\", \"additionalProperties\": false, \"required\": "
     "[\"as\", \"bits\"], \"properties\": {\"as\": {\"$ref\": \"#/$defs/packing\"}, \"bits\": "
     "{\"$ref\": \"#/$defs/bits\"}}}]}}, \"energy\": {\"$ref\": \"#/$defs/energies\"}}}"},
    {"rules", "\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/rule\"}"},
    {"points", "\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/point\"}"},
    {"parts", "\"type\": \"array\", \"minItems\": 1, \"maxItems\": 3, \"items\": {\"$ref\": "
              "\"#/$defs/part\"}"},
    {"holds", "\"type\": \"array\", \"minItems\": 1, \"items\": {\"enum\": [\"left\", \"right\", "
              "\"result\"]}"},
    {"memories", "\"type\": \"array\", \"minItems\": 1, \"maxItems\": 16, \"items\": {\"$ref\": "
                 "\"#/$defs/memory\"}"},
    {"units", "\"type\": \"array\", \"minItems\": 1, \"maxItems\": 16, \"items\": {\"$ref\": "
              "\"#/$defs/unit\"}"},
};

void tf_schema_arch_defs(FILE *out) {
  static const struct {
    const char *name;
    const tf_table *of;
  } objects[] = {{"architecture", &tf_arch_table}, {"memory", &tf_memory_table},
                 {"part", &tf_part_table},         {"unit", &tf_unit_table},
                 {"core", &tf_core_table},         {"multiprocessor", &tf_multiprocessor_table}};
  for (size_t i = 0; i < sizeof defs / sizeof *defs; i++)
    fprintf(out, "    \"%s\": {%s},\n", defs[i].name, defs[i].schema);
  for (size_t i = 0; i < 6; i++) {
    fprintf(out, "    \"%s\": {", objects[i].name);
    tf_schema_object(out, objects[i].of, "");
    fprintf(out, i < 5 ? "},\n" : "}");
  }
}
