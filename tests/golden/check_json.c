/* Reads the JSON of `tileflow eval` from stdin and holds it against the keys and types that
 * docs/FORMATS.md gives for `eval --json`.  Prints each that is missing or of another type. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* A path into the object: ".key", "[]" for every item of a list, "{}" for every value. */
static const struct {
  const char *path, *types; /* s text, i integer, r real, b boolean, n null, l list, o object */
} keys[] = {
    {"tileflow", "s"},
    {"architecture", "s"},
    {"workload", "s"},
    {"mapping.text", "s"},
    {"mapping.origin", "s"},
    {"mapping.feasible", "b"},
    {"mapping.violations", "l"},
    {"cycles", "r"},
    {"seconds", "r"},
    {"energy_pj", "r"},
    {"edp", "r"},
    {"points", "i"},
    {"compute_utilization", "r"},
    {"bottleneck", "s"},
    {"levels.[].name", "s"},
    {"levels.[].instances", "i"},
    {"levels.[].capacity_words", "in"},
    {"levels.[].peak_words", "i"},
    {"levels.[].fill", "i"},
    {"levels.[].read", "i"},
    {"levels.[].update", "i"},
    {"levels.[].drain", "i"},
    {"levels.[].cycles", "r"},
    {"levels.[].energy_pj", "r"},
    {"levels.[].tensors.{}.fill", "i"},
    {"levels.[].tensors.{}.read", "i"},
    {"levels.[].tensors.{}.update", "i"},
    {"levels.[].tensors.{}.drain", "i"},
    {"levels.[].tensors.{}.peak_words", "i"},
    {"compute.[].name", "s"},
    {"compute.[].points", "i"},
    {"compute.[].units_used", "i"},
    {"compute.[].cycles", "r"},
    {"compute.[].energy_pj", "r"},
    {"ops.[].name", "s"},
    {"ops.[].points", "i"},
    {"ops.[].recomputed", "i"},
    {"ops.[].cycles", "r"},
    {"bounds.cycles", "r"},
    {"bounds.energy_pj", "r"},
    {"bounds.traffic_words", "i"},
};
enum { N_KEYS = sizeof keys / sizeof keys[0] };

static char type_of(const json_t *v) {
  static const char letter[] = {
      [JSON_OBJECT] = 'o', [JSON_ARRAY] = 'l', [JSON_STRING] = 's', [JSON_INTEGER] = 'i',
      [JSON_REAL] = 'r',   [JSON_TRUE] = 'b',  [JSON_FALSE] = 'b',  [JSON_NULL] = 'n'};
  return v ? letter[json_typeof(v)] : '-';
}

/* How many values at the rest of the path are missing or wrong; *seen counts all. */
static int check(json_t *v, const char *rest, const char *types, int *seen) {
  char step[64];
  const char *dot = strchr(rest, '.');
  size_t len = dot ? (size_t)(dot - rest) : strlen(rest);
  const char *key, *then = dot ? dot + 1 : rest + len;
  json_t *item;
  int wrong = 0;
  size_t i;
  if (len == 0) {
    (*seen)++;
    return !v || !strchr(types, type_of(v));
  }
  snprintf(step, sizeof step, "%.*s", (int)len, rest);
  if (strcmp(step, "[]") == 0)
    json_array_foreach(v, i, item) wrong += check(item, then, types, seen);
  else if (strcmp(step, "{}") == 0)
    json_object_foreach(v, key, item) wrong += check(item, then, types, seen);
  else
    wrong = check(json_object_get(v, step), then, types, seen);
  return wrong;
}

int main(void) {
  json_error_t error;
  json_t *object = json_loadf(stdin, JSON_REJECT_DUPLICATES, &error);
  int failed = 0, values = 0;
  if (!object) {
    printf("no JSON: line %d: %s\n", error.line, error.text);
    return 1;
  }
  for (size_t k = 0; k < N_KEYS; k++) {
    int seen = 0, wrong = check(object, keys[k].path, keys[k].types, &seen);
    if (wrong || !seen)
      printf("%s: %d of %d missing or no '%s'\n", keys[k].path, wrong, seen, keys[k].types);
    failed += wrong || !seen;
    values += seen;
  }
  json_decref(object);
  printf("%d keys, %d failed; %s\n", (int)N_KEYS, failed, values ? "values found" : "no values");
  return failed != 0;
}
