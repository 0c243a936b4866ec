/* Words, macros and names of TileFlow's files. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "model/import/tileflow/tileflow.h"

static char lower(char ch) { return (char)tolower((unsigned char)ch); }

bool ti_same_word(const char *text, size_t len, const char *word) {
  for (size_t i = 0; i < len; i++)
    if (!word[i] || lower(text[i]) != lower(word[i])) return false;
  return word[len] == '\0';
}

bool ti_read_bool(ti_case *c, const tf_ynode *node, bool *out) {
  static const char *const yes[] = {"true", "yes", "on", "1"}, *const no[] = {"false", "no", "off",
                                                                              "0"};
  for (int i = 0; i < 4; i++) {
    if (ti_same_word(node->text, node->len, yes[i])) return *out = true;
    if (ti_same_word(node->text, node->len, no[i])) {
      *out = false;
      return true;
    }
  }
  return tf_fail(c->diags, node->at, TF_E_TYPE, "'%.40s' is neither true nor false", node->text);
}

bool ti_words(ti_case *c, const tf_ynode *node, bool (*f)(ti_case *c, ti_word w, void *arg),
              void *arg) {
  static const char blanks[] = " ,\t\n";
  bool ok = true;
  for (size_t i = 0; node->kind == TF_Y_LIST && i < node->n; i++)
    ok &= tf_yschema_kind(node->items[i], TF_Y_SCALAR, "a word", c->diags) &&
          ti_words(c, node->items[i], f, arg);
  for (size_t i = 0; node->kind == TF_Y_SCALAR && i < node->len;) {
    size_t len = strcspn(node->text + i, blanks);
    if (len) ok &= f(c, (ti_word){node->text + i, len, tf_ynode_place(node, i, len)}, arg);
    i += len + 1;
  }
  return ok;
}

/* ---- macros ------------------------------------------------------------------------- */
ti_macro *ti_find_macro(ti_case *c, const char *name, size_t len) {
  for (int i = 0; i < c->n_macros; i++)
    if (strlen(c->macros[i].name) == len && !memcmp(c->macros[i].name, name, len))
      return &c->macros[i];
  return NULL;
}

static bool add_macro(ti_case *c, ti_macro m) {
  if (c->n_macros == TI_MAX_MACROS)
    return tf_fail(c->diags, m.at, TF_E_LIMIT, "more than %d macros", TI_MAX_MACROS);
  if (c->n_macros == c->room_macros) {
    int room = c->room_macros ? 2 * c->room_macros : 32;
    ti_macro *wider = TF_ARRAY(c->arena, ti_macro, (size_t)room);
    if (!wider) return ti_no_memory(c);
    if (c->n_macros) memcpy(wider, c->macros, sizeof *wider * (size_t)c->n_macros);
    c->macros = wider;
    c->room_macros = room;
  }
  c->macros[c->n_macros++] = m;
  return true;
}

static bool parse_whole(const char *text, int64_t *out) {
  char *end;
  long long value = strtoll(text, &end, 10);
  *out = value;
  return end != text && !*end && value >= 1 && value <= INT64_C(1) << 40;
}

bool ti_read_macros(ti_case *c, const tf_ynode *map) {
  bool ok = true;
  for (size_t i = 0; i < map->n; i++) {
    const tf_ynode *key = map->pairs[i].key, *value = map->pairs[i].value;
    ti_macro m = {.name = key->text, .at = key->at},
             *before = ti_find_macro(c, key->text, key->len);
    if (before && before->set) continue;             /* --set replaces it */
    if (before && before->at.file != key->at.file) { /* in one file the YAML reader says it */
      ok = tf_fail(c->diags, key->at, TF_E_DUP, "macro '%.40s' given twice", key->text);
      tf_note(c->diags, before->at, "first given here");
    } else if (!before) {
      if (!tf_yschema_kind(value, TF_Y_SCALAR, key->text, c->diags))
        ok = false;
      else if (!parse_whole(value->text, &m.value))
        ok = tf_fail(c->diags, value->at, TF_E_RANGE,
                     "macro '%.40s' is '%.40s', no whole number from 1 to 2^40", key->text,
                     value->text);
      if (m.value < 1) m.value = 1; /* wrong: what uses it is read on */
      if (!add_macro(c, m)) return false;
    }
  }
  return ok;
}

bool ti_take_settings(ti_case *c, const tf_setting *set, size_t n) {
  bool ok = true;
  for (size_t i = 0; i < n; i++) {
    ti_macro m = {.name = set[i].name, .set = true};
    if (ti_find_macro(c, m.name, strlen(m.name)))
      ok = tf_fail(c->diags, m.at, TF_E_DUP, "--set: macro '%.40s' is set twice", m.name);
    else if (!parse_whole(set[i].value, &m.value))
      ok = tf_fail(c->diags, m.at, TF_E_RANGE,
                   "--set: macro '%.40s' is '%.40s', no whole number from 1 to 2^40", m.name,
                   set[i].value);
    else
      ok &= add_macro(c, m);
  }
  return ok;
}

bool ti_check_settings(ti_case *c) {
  bool ok = true;
  for (int i = 0; i < c->n_macros; i++)
    if (c->macros[i].set && !c->macros[i].used)
      ok = tf_fail(c->diags, c->macros[i].at, TF_E_NAME,
                   "--set: no size and no factor is called '%.40s'", c->macros[i].name);
  return ok;
}

bool ti_number(ti_case *c, ti_word w, const char *what, int64_t *out, const char **open) {
  ti_macro *m = ti_find_macro(c, w.text, w.len);
  char *text = tf_arena_strndup(c->arena, w.text, w.len);
  if (!text) return ti_no_memory(c);
  *open = NULL;
  *out = 0;
  if (m) {
    m->used = true;
    *out = m->value;
    return true;
  }
  if (parse_whole(text, out)) return true;
  *out = 0;
  *open = text;
  return tf_is_name(w.text, w.len, false) ||
         tf_fail(c->diags, w.at, TF_E_RANGE,
                 "%s '%.40s' is no whole number from 1 to 2^40, and no name", what, text);
}

/* ---- names -------------------------------------------------------------------------- */
static bool fail_name(ti_case *c, ti_word w, const char *what, const tf_near *near) {
  char hint[160];
  return tf_fail(c->diags, w.at, TF_E_NAME, "no %s '%.*s'%s", what, (int)(w.len < 40 ? w.len : 40),
                 w.text, tf_near_text(near, hint, sizeof hint));
}

static bool word_is(ti_word w, const char *name) {
  return strlen(name) == w.len && !memcmp(name, w.text, w.len);
}

int ti_find_dim(ti_case *c, ti_word w, bool any_case) {
  tf_near near = tf_near_start(w.text, w.len);
  for (int d = 0; d < c->n_dims; d++) {
    if (word_is(w, c->dims[d].name)) return d;
    tf_near_offer(&near, c->dims[d].name);
  }
  for (int d = 0; any_case && d < c->n_dims; d++)
    if (ti_same_word(w.text, w.len, c->dims[d].name)) return d;
  fail_name(c, w, "dimension", &near);
  return -1;
}

int ti_find_tensor(ti_case *c, ti_word w) {
  tf_near near = tf_near_start(w.text, w.len);
  for (int z = 0; z < c->n_tensors; z++) {
    if (word_is(w, c->tensors[z].name)) return z;
    tf_near_offer(&near, c->tensors[z].name);
  }
  fail_name(c, w, "data space", &near);
  return -1;
}

int ti_find_op(ti_case *c, ti_word w) {
  tf_near near = tf_near_start(w.text, w.len);
  for (int o = 0; o < c->n_ops; o++) {
    if (word_is(w, c->ops[o]->name)) return o;
    tf_near_offer(&near, c->ops[o]->name);
  }
  fail_name(c, w, "op", &near);
  return -1;
}

/* The name of the n-th memory; NULL past the last. */
const char *ti_level_name(const ti_case *c, int level) {
  for (int i = 0; i < c->arch->n_levels; i++)
    if (c->arch->level[i].kind == TL_MEMORY && level-- == 0) return c->arch->level[i].name;
  return NULL;
}

int ti_find_level(ti_case *c, ti_word w) {
  tf_near near = tf_near_start(w.text, w.len);
  const char *name;
  for (int l = 0; (name = ti_level_name(c, l)) != NULL; l++) {
    if (word_is(w, name)) return l;
    tf_near_offer(&near, name);
  }
  fail_name(c, w, "memory", &near);
  return -1;
}
