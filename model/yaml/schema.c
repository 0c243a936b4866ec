/* Checks maps against their tables of keys. */
#include "model/yaml/schema.h"

#include <stdio.h>
#include <string.h>

#include "base/names.h"

static const char *kinds_text(unsigned kinds) {
  static const char *const text[] = {
      "anything", "a single value",          "a list",          "a single value or a list",
      "a map",    "a single value or a map", "a list or a map", "anything"};
  return text[kinds & 7];
}

bool tf_yschema_kind(const tf_ynode *node, unsigned kinds, const char *name, tf_diags *d) {
  bool empty = tf_ynode_empty(node);
  if (kinds == 0 || ((node->kind & kinds) && !empty)) return true;
  const char *quote = strchr(name, ' ') ? "" : "'"; /* "a memory" is a description, no key */
  return tf_fail(d, node->at, TF_E_TYPE, "%s%.60s%s must be %s, not %s", quote, name, quote,
                 kinds_text(kinds), tf_ynode_what(node));
}

/* Reports an unknown key together with those that exist; returns the one that was probably meant.
 */
static const char *unknown_key(const tf_ynode *key, const tf_yrow *rows, size_t n, const char *what,
                               tf_diags *d) {
  tf_near near = tf_near_start(key->text, key->len);
  char hint[80], all[160];
  size_t used = 0;
  bool cut = false;
  all[0] = '\0';
  for (size_t i = 0; i < n && !(rows[i].kinds & TF_Y_EARLIER); i++) {
    tf_near_offer(&near, rows[i].key);
    if (used + strlen(rows[i].key) + 8 > sizeof all) { /* whole names only */
      if (!cut) memcpy(all + used, ", ...", 6);
      cut = true;
      continue;
    }
    int more = snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", rows[i].key);
    used += more > 0 ? (size_t)more : 0;
  }
  tf_near_text(&near, hint, sizeof hint);
  if (near.best)
    tf_fail(d, key->at, TF_E_KEY, "unknown key '%.60s' in %s%s", key->text, what, hint);
  else
    tf_fail(d, key->at, TF_E_KEY, "unknown key '%.40s' in %s; known: %s", key->text, what, all);
  return near.best;
}

bool tf_yschema_check(const tf_ynode *map, const tf_yrow *rows, size_t n, const char *what,
                      const tf_ynode **values, tf_diags *d) {
  bool ok = true;
  bool misspelt[64] = {false}; /* rows that an unknown key may have meant */
  for (size_t i = 0; i < n; i++)
    values[i] = NULL;
  for (size_t p = 0; p < map->n; p++) {
    const tf_ynode *key = map->pairs[p].key;
    size_t i = 0;
    while (i < n && !tf_ynode_is(key, rows[i].key))
      i++;
    if (i < n && !values[i])
      values[i] = map->pairs[p].value;
    else if (i == n) {
      const char *meant = unknown_key(key, rows, n, what, d);
      for (size_t k = 0; k < n && k < 64; k++)
        misspelt[k] |= meant == rows[k].key;
    }
    ok = ok && i < n;
  }
  for (size_t i = 0; i < n; i++) {
    if (!values[i] && rows[i].required && !misspelt[i])
      ok = tf_fail(d, map->at, TF_E_MISSING, "%s needs the key '%s'", what, rows[i].key);
    if (!values[i] || tf_yschema_kind(values[i], rows[i].kinds, rows[i].key, d)) continue;
    values[i] = NULL;
    ok = false;
  }
  return ok;
}
