/* What files may hold as JSON Schema, for editors: from the tables of keys by which they are read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/locale.h"
#include "model/input/table/schema.h"
#include "model/input/table/sections.h"
#include "model/schema/pattern.h"
#include "tileflow/spec.h"

typedef struct {
  const char *key;
  bool required;
  const char *json, *words;
} row;
#define ROW(id, key, kinds, required, json, words) {key, required, json, words},
static const row sections[] = {TF_SECTIONS(ROW)}, workload[] = {TF_WORKLOAD_KEYS(ROW)},
                 routing[] = {TF_ROUTING_KEYS(ROW)}, tensor[] = {TF_TENSOR_KEYS(ROW)},
                 blocks[] = {TF_DENSITY_KEYS(ROW)}, tiles[] = {TF_TILES_KEYS(ROW)},
                 band[] = {TF_BAND_KEYS(ROW)}, listed[] = {TF_LISTED_KEYS(ROW)},
                 op[] = {TF_OP_KEYS(ROW)}, point[] = {TF_POINT_KEYS(ROW)},
                 rule[] = {TF_RULE_KEYS(ROW)};

static void write_property(FILE *out, const char *indent, const row *r) {
  fprintf(out, "%s\"%s\": {\"description\": \"%s\", \"$ref\": \"#/$defs/%s\"}", indent, r->key,
          r->words, r->json);
}

static void write_object(FILE *out, const char *name, const row *rows, size_t n) {
  const char *sep = "";
  fprintf(out,
          "    \"%s\": {\"type\": \"object\", \"additionalProperties\": false, \"required\": [",
          name);
  for (size_t i = 0; i < n; i++) {
    if (!rows[i].required) continue;
    fprintf(out, "%s\"%s\"", sep, rows[i].key);
    sep = ", ";
  }
  fprintf(out, "], \"properties\": {\n");
  for (size_t i = 0; i < n; i++) {
    write_property(out, "      ", &rows[i]);
    fprintf(out, i + 1 < n ? ",\n" : "\n    }}");
  }
}

typedef struct {
  const char *name, *schema;
} def;

static void write_defs(FILE *out, const def *defs, size_t n) {
  for (size_t i = 0; i < n; i++)
    fprintf(out, "    \"%s\": {%s},\n", defs[i].name, defs[i].schema);
}

/* Of every section.  A number may be an expression of params, which is text. */
static const def common[] = {
    {"name", "\"type\": \"string\""},
    {"title", "\"type\": \"string\""},
    {"number", "\"type\": [\"number\", \"string\"]"},
    {"symbol", "\"type\": \"string\", \"pattern\": \"^" TF_RE_SYMBOL "$\""},
};

#define SYMBOLS "\"propertyNames\": {\"$ref\": \"#/$defs/symbol\"}"
static const def of_workload[] = {
    {"numbers", "\"type\": \"array\", \"maxItems\": 16, \"items\": {\"$ref\": \"#/$defs/number\"}"},
    {"dims", "\"type\": \"object\", \"maxProperties\": 64, " SYMBOLS
             ", \"additionalProperties\": {\"$ref\": \"#/$defs/number\"}"},
    {"rows",
     "\"type\": \"object\", " SYMBOLS ", \"additionalProperties\": {\"$ref\": \"#/$defs/tensor\"}"},
    {"symbols", "\"type\": \"array\", \"minItems\": 2, \"maxItems\": 2, \"items\": {\"$ref\": "
                "\"#/$defs/symbol\"}"},
    {"density",
     "\"anyOf\": [{\"$ref\": \"#/$defs/number\"}, {\"$ref\": \"#/$defs/blocks\"}, {\"$ref\": "
     "\"#/$defs/tiles\"}, {\"$ref\": \"#/$defs/band\"}, {\"$ref\": \"#/$defs/listed\"}]"},
    {"expr", "\"type\": \"string\", \"maxLength\": 16384, \"pattern\": \"^" TF_RE_OP "\""},
    {"graph", "\"type\": \"array\", \"minItems\": 1, \"maxItems\": 4096, \"items\": {\"anyOf\": "
              "[{\"$ref\": \"#/$defs/expr\"}, {\"$ref\": \"#/$defs/op\"}]}"},
};

static void write_workload_defs(FILE *out) {
  write_defs(out, of_workload, sizeof of_workload / sizeof *of_workload);
  static const struct {
    const char *name;
    const row *rows;
    size_t n;
  } densities[] = {{"blocks", blocks, sizeof blocks / sizeof *blocks},
                   {"tiles", tiles, sizeof tiles / sizeof *tiles},
                   {"band", band, sizeof band / sizeof *band},
                   {"listed", listed, sizeof listed / sizeof *listed}};
  for (size_t i = 0; i < sizeof densities / sizeof *densities; i++) {
    write_object(out, densities[i].name, densities[i].rows, densities[i].n);
    fprintf(out, ",\n");
  }
  write_object(out, "tensor", tensor, sizeof tensor / sizeof *tensor);
  fprintf(out, ",\n");
  write_object(out, "op", op, sizeof op / sizeof *op);
  fprintf(out, ",\n");
  write_object(out, "routing", routing, sizeof routing / sizeof *routing);
  fprintf(out, ",\n");
  write_object(out, "workload", workload, sizeof workload / sizeof *workload);
}

static void write_arch_defs(FILE *out) {
  write_object(out, "point", point, sizeof point / sizeof *point);
  fprintf(out, ",\n");
  write_object(out, "rule", rule, sizeof rule / sizeof *rule);
  fprintf(out, ",\n");
  tf_schema_arch_defs(out);
}

static void write_mapping_defs(FILE *out) {
  fprintf(out, "    \"mapping\": {\"type\": \"string\", \"pattern\": \"");
  tf_write_mapping_pattern(out);
  fprintf(out, "\"}");
}

/* Sections of which nothing more is said here. */
static void write_other_defs(FILE *out) {
  static const def others[] = {
      {"instructions", "\"type\": \"array\", \"items\": {\"type\": \"object\"}"},
      {"params", "\"type\": \"object\", " SYMBOLS
                 ", \"additionalProperties\": {\"$ref\": \"#/$defs/number\"}"},
  };
  write_defs(out, others, 2);
  fprintf(out, "    \"section\": {\"type\": \"object\"}");
}

static const struct {
  const char *section, *title;
  void (*defs)(FILE *out);
} parts[] = {{"architecture", "Architectures of tileflow", write_arch_defs},
             {"workload", "Workloads of tileflow", write_workload_defs},
             {"mapping", "Mappings of tileflow", write_mapping_defs},
             {"", "Files of tileflow", write_other_defs}};
enum { N_PARTS = sizeof parts / sizeof *parts, ALL = N_PARTS - 1 };

static void write_properties(FILE *out, int part) {
  if (part != ALL) {
    fprintf(out, "  \"properties\": {\"%s\": {\"$ref\": \"#/$defs/%s\"}},\n", parts[part].section,
            parts[part].section);
    return;
  }
  fprintf(out, "  \"additionalProperties\": false,\n  \"properties\": {\n");
  for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
    write_property(out, "    ", &sections[i]);
    fprintf(out, i + 1 < sizeof sections / sizeof *sections ? ",\n" : "\n  },\n");
  }
}

/* Of one part, or of ALL. */
static void write_schema(FILE *out, int part) {
  fprintf(out,
          "{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
          "  \"title\": \"%s\",\n  \"type\": \"object\",\n",
          parts[part].title);
  write_properties(out, part);
  fprintf(out, "  \"$defs\": {\n");
  write_defs(out, common, sizeof common / sizeof *common);
  for (int i = part == ALL ? 0 : part; i <= part; i++) {
    parts[i].defs(out);
    fprintf(out, i < part ? ",\n" : "\n  }\n}\n");
  }
}

static char *schema_of(int part) {
  char *text = NULL;
  size_t len;
  FILE *out = open_memstream(&text, &len);
  if (out) write_schema(out, part);
  if (out && !ferror(out) && !fclose(out)) return text;
  free(text);
  return NULL;
}

char *tf_file_schema(const char *section) {
  TF_IN_C_LOCALE;
  int part = 0;
  while (part < N_PARTS && strcmp(parts[part].section, section) != 0)
    part++;
  return part < N_PARTS ? schema_of(part) : NULL;
}

char *tf_arch_schema(void) {
  TF_IN_C_LOCALE;
  return schema_of(0);
}
