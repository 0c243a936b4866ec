#include "model/input/table/keys.h"

#include <math.h>
#include <string.h>

/* ---- tables ------------------------------------------------------------------------- */
static const struct {
  unsigned yaml;
  const char *json;
} kinds[TF_N_KEY_KINDS] = {
#define X(id, yaml, json) [TF_KEY_##id] = {yaml, json},
    TF_KEY_KINDS(X)
#undef X
};

#define TYPE_OF(type)                                                                              \
  _Generic((type){0}, double                                                                       \
           : TF_FIELD_REAL, bool                                                                   \
           : TF_FIELD_FLAG, int                                                                    \
           : TF_FIELD_INT, int64_t                                                                 \
           : TF_FIELD_WHOLE, uint32_t                                                              \
           : TF_FIELD_MASK, default                                                                \
           : TF_FIELD_HELD)
#define KEY(kind, key, type, field, size, usual, left, words)                                      \
  {TF_KEY_##kind,     key,   #field, TYPE_OF(type), offsetof(STRUCT, field),                       \
   sizeof(type size), usual, left,   words},
#define PART(kind, key, left, words)                                                               \
  {TF_KEY_##kind, key, NULL, TF_FIELD_HELD, 0, 0, 0, left, words},

#define STRUCT tf_arch
static const tf_key arch_keys[] = {TF_ARCH_KEYS(KEY, PART)};
#undef STRUCT
#define STRUCT tf_memory
static const tf_key memory_keys[] = {TF_MEMORY_KEYS(KEY, PART)};
#undef STRUCT
#define STRUCT tf_mem_part
static const tf_key part_keys[] = {TF_PART_KEYS(KEY, PART)};
#undef STRUCT
#define STRUCT tf_unit
static const tf_key unit_keys[] = {TF_UNIT_KEYS(KEY, PART)};
#undef STRUCT
#define STRUCT tf_core
static const tf_key core_keys[] = {TF_CORE_KEYS(KEY, PART)};
#undef STRUCT
#define STRUCT tf_multiprocessor
static const tf_key multiprocessor_keys[] = {TF_MULTIPROCESSOR_KEYS(KEY, PART)};
#undef STRUCT

#define ROWS(of) of, sizeof of / sizeof *of
/* The order of identity_order is that of logs that are kept: rows added later stay out of it. */
const tf_table tf_arch_table = {"the architecture", ROWS(arch_keys),
                                "clock_hz word_bits technology_nm overlap core multiprocessor"};
const tf_table tf_memory_table = {
    "a memory", ROWS(memory_keys),
    "mesh capacity_words word_bits read_bw write_bw one_port multicast reduce double_buffered "
    "read_pj write_pj energy_from_table hop_pj latency issue area_um2 area_given"};
const tf_table tf_part_table = {"a part of a memory", ROWS(part_keys), ""};
const tf_table tf_unit_table = {
    "a compute unit", ROWS(unit_keys),
    "kinds below mesh rate pj energy_from_table multicast reduce pipeline area_um2 area_given"};
const tf_table tf_core_table = {"a core", ROWS(core_keys), ""};
const tf_table tf_multiprocessor_table = {"a multiprocessor", ROWS(multiprocessor_keys), ""};

_Static_assert(sizeof arch_keys / sizeof(tf_key) <= TF_MOST_KEYS &&
                   sizeof memory_keys / sizeof(tf_key) <= TF_MOST_KEYS &&
                   sizeof part_keys / sizeof(tf_key) <= TF_MOST_KEYS &&
                   sizeof unit_keys / sizeof(tf_key) <= TF_MOST_KEYS &&
                   sizeof core_keys / sizeof(tf_key) <= TF_MOST_KEYS &&
                   sizeof multiprocessor_keys / sizeof(tf_key) <= TF_MOST_KEYS,
               "room for the rows of a table");

const tf_table *tf_key_table(tf_key_kind kind) {
  return kind == TF_KEY_CORE             ? &tf_core_table
         : kind == TF_KEY_MULTIPROCESSOR ? &tf_multiprocessor_table
                                         : NULL;
}

/* ---- keys --------------------------------------------------------------------------- */
const char *tf_key_json(tf_key_kind kind) { return kinds[kind].json; }

const char *tf_key_name(const tf_key *k) {
  const char *dot = strchr(k->key, '.');
  return dot ? dot + 1 : k->key;
}

const char *tf_key_earlier(const tf_key *k) {
  static const struct {
    const char *now, *earlier;
  } core[] = {{"transpose", "turn"},         {"gather", "element"},     {"page-crossing", "jump"},
              {"exponential", "factor"},     {"strided-access", "far"}, {"l1-resident", "stays"},
              {"exposed-bandwidth", "seen"}, {"tlb-entries", "pages"},  {"tlb-miss", "lookup"}};
  if (k < core_keys || k >= core_keys + sizeof core_keys / sizeof *core_keys) return NULL;
  for (size_t i = 0; i < sizeof core / sizeof *core; i++)
    if (strcmp(core[i].now, k->key) == 0) return core[i].earlier;
  return NULL;
}

bool tf_key_must(const tf_key *k) { return strcmp(k->left, TF_MUST) == 0; }

static bool is_of(const tf_key *k, const char *part) {
  const size_t n = strlen(part);
  if (!*k->key) return false;
  return n ? strncmp(k->key, part, n) == 0 && k->key[n] == '.' : !strchr(k->key, '.');
}

size_t tf_key_rows(const tf_table *t, const char *part, tf_yrow rows[TF_MOST_KEYS],
                   size_t from[TF_MOST_KEYS]) {
  size_t n = 0;
  for (size_t i = 0; i < t->n; i++) {
    if (!is_of(&t->keys[i], part)) continue;
    from[n] = i;
    rows[n++] =
        (tf_yrow){tf_key_name(&t->keys[i]), kinds[t->keys[i].kind].yaml, tf_key_must(&t->keys[i])};
  }
  return n;
}

int tf_key_find(const tf_table *t, const char *key) {
  for (size_t i = 0; i < t->n; i++)
    if (strcmp(t->keys[i].key, key) == 0) return (int)i;
  return -1;
}

/* ---- fields ------------------------------------------------------------------------- */
static const size_t size_of[] = {[TF_FIELD_REAL] = sizeof(double),
                                 [TF_FIELD_FLAG] = sizeof(bool),
                                 [TF_FIELD_INT] = sizeof(int),
                                 [TF_FIELD_WHOLE] = sizeof(int64_t),
                                 [TF_FIELD_MASK] = sizeof(uint32_t)};

static void set(tf_field_type type, void *at, double usual) {
  switch (type) {
  case TF_FIELD_REAL: *(double *)at = usual; break;
  case TF_FIELD_FLAG: *(bool *)at = usual > 0; break;
  case TF_FIELD_INT: *(int *)at = (int)usual; break;
  case TF_FIELD_WHOLE: *(int64_t *)at = (int64_t)usual; break;
  case TF_FIELD_MASK: *(uint32_t *)at = (uint32_t)usual; break;
  case TF_FIELD_HELD: break;
  }
}

void tf_key_set_usual(const tf_key *k, void *s) {
  if (k->type == TF_FIELD_HELD) return;
  for (size_t done = 0; done < k->size; done += size_of[k->type])
    set(k->type, (char *)s + k->offset + done, k->usual);
}

static bool same_reals(const double *a, const double *b) { return !(*a < *b) && !(*a > *b); }

bool tf_key_same(const tf_key *k, const void *s, const void *t) {
  const void *a = tf_key_of(k, s), *b = tf_key_of(k, t);
  if (k->type == TF_FIELD_HELD) return true;
  return k->type == TF_FIELD_REAL ? same_reals(a, b) : memcmp(a, b, k->size) == 0;
}

bool tf_keys_same(const tf_table *t, const void *a, const void *b) {
  bool same = true;
  for (size_t i = 0; i < t->n; i++)
    same &= tf_key_same(&t->keys[i], a, b);
  return same;
}

bool tf_key_is_usual(const tf_key *k, const void *s) {
  int64_t room[4] = {0};
  tf_key alone = *k;
  alone.offset = 0;
  tf_key_set_usual(&alone, room);
  return tf_key_same(&alone, room, tf_key_of(k, s));
}
