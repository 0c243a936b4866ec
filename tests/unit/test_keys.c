/* The tables of keys (model/input/table/keys.h): docs/FORMATS.md and docs/tileflow.schema.json say
 * what they say, and a row that is added is read, told apart, compared and described without
 * another line. */
#include <stdlib.h>

#include "model/identity/print.h"
#include "model/input/arch_read.h"
#include "model/input/table/schema.h"
#include "tests/unit/case.h"

/* ---- the reference --------------------------------------------------------------------------- */

static void write_usual(FILE *out, const tf_key *k) {
  const bool bytes = k->kind == TF_KEY_SIZE || k->kind == TF_KEY_ROOM;
  if (*k->left)
    fprintf(out, "%s", k->left);
  else if (k->kind == TF_KEY_FLAG)
    fprintf(out, "%s", k->usual > 0 ? "true" : "false");
  else if (bytes && k->usual >= 1024)
    fprintf(out, "%g KiB", k->usual / 1024);
  else
    fprintf(out, "%g%s", k->usual, bytes ? " B" : "");
}

static void write_reference(FILE *out, const tf_table *t) {
  fprintf(out, "| Key | Meaning | Left out |\n|---|---|---|\n");
  for (size_t i = 0; i < t->n; i++) {
    const tf_key *k = &t->keys[i];
    if (!*k->key) continue;
    fprintf(out, "| `%s` | %s | ", k->key, k->words);
    write_usual(out, k);
    fprintf(out, " |\n");
  }
}

static char *reference_of(const tf_table *t) {
  char *text;
  FILE *out = case_text(&text);
  write_reference(out, t);
  fclose(out);
  return text;
}

static void check_reference(const tf_table *t, const char *docs) {
  char *text = reference_of(t);
  if (!CHECK(strstr(docs, text) != NULL))
    printf("docs/FORMATS.md: the table of %s must be\n%s\n", t->what, text);
  free(text);
}

/* ---- JSON Schema ---------------------------------------------------------------------------- */

static void check_schema(void) {
  static const char path[] = "docs/tileflow.schema.json";
  size_t len;
  char *text = tf_file_schema("");
  if (!CHECK(text != NULL)) return;
  if (getenv("TF_UPDATE_GOLDEN")) {
    FILE *f = fopen(path, "w");
    if (CHECK(f != NULL)) fputs(text, f);
    if (f) fclose(f);
  }
  char *file = case_file(path, &len);
  CHECK(!strcmp(file, text)); /* TF_UPDATE_GOLDEN=1 writes it anew */
  free(file);
  free(text);
}

/* ---- a key that is added --------------------------------------------------------------------- */

typedef struct {
  tf_memory m;
  double wear;
} grown;

/* The table of memories with one row more. */
static tf_table grown_table(void) {
  static tf_key keys[TF_MOST_KEYS];
  tf_table t = tf_memory_table;
  memcpy(keys, t.keys, t.n * sizeof *keys);
  keys[t.n++] = (tf_key){TF_KEY_PJ,      "wear", "wear", TF_FIELD_REAL,    offsetof(grown, wear),
                         sizeof(double), 0,      "",     "energy per year"};
  t.keys = keys;
  return t;
}

/* What a memory of the text is, and what is said against it, to be freed. */
static char *read_grown(const tf_table *t, const char *text, grown *out) {
  tf_arena *arena = tf_arena_new();
  tf_diags *d = tf_diags_new();
  tf_arch arch = {.word_bits = 16, .technology_nm = 45};
  tf_reader base = {
      .arena = arena, .diags = d, .file = tf_diags_add_file(d, "m.yaml", text, strlen(text))};
  tf_arch_reader r = {.base = &base, .arch = &arch};
  const tf_ynode *v[TF_MOST_KEYS], *node = tf_yaml_read(arena, base.file, text, strlen(text), d);
  memset(out, 0, sizeof *out);
  if (CHECK(node != NULL) && tf_keys_check(&r, node, t, v)) tf_keys_read(&r, t, v, node->at, out);
  char *said = tf_diags_text(d);
  tf_diags_free(d);
  tf_arena_free(arena);
  return said;
}

static char *identity_of(const tf_table *t, const grown *g) {
  char *text;
  FILE *out = case_text(&text);
  tf_keys_print(out, t, g);
  fclose(out);
  return text;
}

static void check_identities(const tf_table *t, const grown *without, const grown *three,
                             const grown *four) {
  char *text[3] = {identity_of(t, without), identity_of(t, three), identity_of(t, four)};
  char *before = identity_of(&tf_memory_table, without);
  CHECK_TEXT(text[0], before); /* what was logged before the key was there still holds */
  CHECK(strcmp(text[0], text[1]) != 0 && strcmp(text[1], text[2]) != 0 &&
        strcmp(text[0], text[2]) != 0);
  CHECK(!tf_keys_same(t, without, three) && !tf_keys_same(t, three, four) &&
        tf_keys_same(t, three, three));
  for (int i = 0; i < 3; i++)
    free(text[i]);
  free(before);
}

static void check_wrong(const tf_table *t) {
  grown g;
  char *near = read_grown(t, "{name: M, waer: 3 pJ}", &g),
       *unit = read_grown(t, "{name: M, wear: 3 ns}", &g),
       *below = read_grown(t, "{name: M, wear: -3 pJ}", &g);
  CHECK(strstr(near, "unknown key 'waer' in a memory, did you mean 'wear'?") != NULL);
  CHECK(strstr(unit, "m.yaml:1:19: error[E_UNIT]: 'ns' is no unit for 'wear'") != NULL);
  CHECK(strstr(below, "'wear' is -3, must not be negative") != NULL);
  free(near);
  free(unit);
  free(below);
}

static void check_added(void) {
  const tf_table t = grown_table();
  grown without, three, four;
  char *said[3] = {read_grown(&t, "{name: M, latency: 2}", &without),
                   read_grown(&t, "{name: M, latency: 2, wear: 3 pJ}", &three),
                   read_grown(&t, "{name: M, latency: 2, wear: 0.004 nJ}", &four)};
  for (int i = 0; i < 3; i++) {
    CHECK_TEXT(said[i], "");
    free(said[i]);
  }
  CHECK(without.wear == 0 && three.wear == 3 && four.wear == 4 && four.m.latency == 2);
  check_identities(&t, &without, &three, &four);
  check_wrong(&t);
  char *docs = reference_of(&t), *schema;
  FILE *out = case_text(&schema);
  tf_schema_object(out, &t, "");
  fclose(out);
  CHECK(strstr(docs, "| `wear` | energy per year | 0 |\n") != NULL);
  CHECK(strstr(schema,
               "\"wear\": {\"description\": \"energy per year\", \"$ref\": \"#/$defs/energy\"}") !=
        NULL);
  free(docs);
  free(schema);
}

int main(void) {
  static const tf_table *const tables[] = {&tf_arch_table, &tf_memory_table,
                                           &tf_part_table, &tf_unit_table,
                                           &tf_core_table, &tf_multiprocessor_table};
  size_t len;
  char *docs = case_file("docs/FORMATS.md", &len);
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    check_reference(tables[i], docs);
  free(docs);
  check_schema();
  check_added();
  return check_report();
}
