/* Timeloop's mapping: a list of directives, each for one memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "model/import/timeloop.h"

int tl_find_memory(tl_case *c, const tf_ynode *node) {
  char hint[160];
  tf_near near = tf_near_start(node->text, node->len);
  for (int i = 0; i < c->n_levels; i++) {
    if (!c->level[i].memory) continue;
    if (tf_ynode_is(node, c->level[i].name)) return i;
    tf_near_offer(&near, c->level[i].name);
  }
  tf_fail(c->diags, node->at, TF_E_NAME, "no memory '%.40s'%s", node->text, tf_near_text(&near, hint, sizeof hint));
  return -1;
}

/* Words of a directive: a list of scalars, or one scalar of words parted by blanks and commas. */
typedef struct {
  const char *text;
  size_t len;
  tf_loc at;
} word;

enum { MAX_WORDS = 2 * TL_MAX_DIMS };

static int words_of(tl_case *c, const tf_ynode *node, word *out) {
  int n = 0;
  for (size_t i = 0; node->kind == TF_Y_LIST && i < node->n && n < MAX_WORDS; i++) {
    if (!tf_yschema_kind(node->items[i], TF_Y_SCALAR, "a word", c->diags)) return -1;
    out[n++] = (word){node->items[i]->text, node->items[i]->len, node->items[i]->at};
  }
  for (size_t i = 0; node->kind == TF_Y_SCALAR && i < node->len && n < MAX_WORDS;) {
    size_t len = strcspn(node->text + i, " ,\t\n");
    if (len) out[n++] = (word){node->text + i, len, tf_ynode_place(node, i, len)};
    i += len + 1;
  }
  return n;
}

/* "M=4": a dim and its trip count. */
static bool read_factor(tl_case *c, word w, int64_t *trip, bool *seen) {
  const char *eq = memchr(w.text, '=', w.len);
  if (!eq) return tf_fail(c->diags, w.at, TF_E_SYNTAX, "a factor is written DIM=N");
  int d = tl_find_dim(c, w.at, w.text, (size_t)(eq - w.text));
  char *end, digits[32];
  size_t n = w.len - (size_t)(eq - w.text) - 1;
  if (d < 0) return false;
  snprintf(digits, sizeof digits, "%.*s", (int)(n < 31 ? n : 31), eq + 1);
  trip[d] = strtoll(digits, &end, 10);
  if (end == digits || *end || trip[d] < 0 || trip[d] > INT64_C(1) << 40)
    return tf_fail(c->diags, w.at, TF_E_RANGE, "'%.40s' is no trip count", digits);
  if (seen[d]) return tf_fail(c->diags, w.at, TF_E_DUP, "'%.40s' has two factors here", c->problem.dim[d]);
  seen[d] = true;
  return true;
}

static bool read_factors(tl_case *c, const tf_ynode *node, int64_t *trip) {
  word w[MAX_WORDS];
  bool seen[TL_MAX_DIMS] = {false}, ok = true;
  int n = words_of(c, node, w);
  for (int i = 0; i < n; i++)
    ok &= read_factor(c, w[i], trip, seen);
  return ok && n >= 0;
}

/* Dims, inner to outer: words, or one word of one-letter dims.  Dims left out come last, as they stand. */
static bool read_order(tl_case *c, const tf_ynode *node, int *order, int *n_order) {
  word w[MAX_WORDS];
  int n = node ? words_of(c, node, w) : 0;
  bool seen[TL_MAX_DIMS] = {false}, letters = false;
  if (n < 0) return false;
  if (n == 1 && w[0].len > 1) {
    letters = true;
    for (int d = 0; d < c->problem.n_dims; d++)
      letters &= strlen(c->problem.dim[d]) == 1;
  }
  *n_order = 0;
  for (int i = 0; i < (letters ? (int)w[0].len : n); i++) {
    const char *name = letters ? w[0].text + i : w[i].text;
    int d = tl_find_dim(c, letters ? w[0].at : w[i].at, name, letters ? 1 : w[i].len);
    if (d < 0) return false;
    if (seen[d])
      return tf_fail(c->diags, node->at, TF_E_DUP, "'%.40s' stands twice in the permutation", c->problem.dim[d]);
    seen[d] = true;
    order[(*n_order)++] = d;
  }
  for (int d = 0; d < c->problem.n_dims; d++)
    if (!seen[d]) order[(*n_order)++] = d;
  return true;
}

static bool read_names(tl_case *c, const tf_ynode *list, bool *out) {
  for (size_t i = 0; list && i < list->n; i++) {
    if (!tf_yschema_kind(list->items[i], TF_Y_SCALAR, "a data space", c->diags)) return false;
    int z = tl_find_space(c, list->items[i]);
    if (z < 0) return false;
    out[z] = true;
  }
  return true;
}

enum { M_TARGET, M_TYPE, M_FACTORS, M_ORDER, M_SPLIT, M_KEEP, M_BYPASS, N_M };
static const tf_yrow directive[N_M] = {
    {"target", TF_Y_SCALAR, true},
    {"type", TF_Y_SCALAR, true},
    {"factors", TF_Y_SCALAR | TF_Y_LIST, false},
    {"permutation", TF_Y_SCALAR | TF_Y_LIST, false},
    {"split", TF_Y_SCALAR, false},
    {"keep", TF_Y_LIST, false},
    {"bypass", TF_Y_LIST, false},
};

static bool read_directive(tl_case *c, const tf_ynode *node) {
  const tf_ynode *v[N_M];
  if (!tf_yschema_kind(node, TF_Y_MAP, "a directive", c->diags) ||
      !tf_yschema_check(node, directive, N_M, "a directive of a mapping", v, c->diags))
    return false;
  int l = tl_find_memory(c, v[M_TARGET]);
  if (l < 0) return false;
  tl_nest *nest = &c->nest[l];
  if (tf_ynode_is(v[M_TYPE], "bypass") || tf_ynode_is(v[M_TYPE], "datatype")) {
    bool keep[TL_MAX_SPACES] = {false};
    return read_names(c, v[M_KEEP], keep) && read_names(c, v[M_BYPASS], nest->bypass);
  }
  bool space = tf_ynode_is(v[M_TYPE], "spatial");
  if (!space && !tf_ynode_is(v[M_TYPE], "temporal"))
    return tf_fail(c->diags, v[M_TYPE]->at, TF_E_RANGE, "no type '%.30s': temporal, spatial, bypass or datatype",
                   v[M_TYPE]->text);
  if (space ? nest->n_s : nest->n_t)
    return tf_fail(c->diags, node->at, TF_E_DUP, "a second %s directive of '%.40s'", v[M_TYPE]->text,
                   c->level[l].name);
  if (v[M_FACTORS] && !read_factors(c, v[M_FACTORS], space ? nest->spatial : nest->temporal)) return false;
  int64_t split = -1;
  if (v[M_SPLIT] && !tl_int(c, v[M_SPLIT], "split", 0, &split)) return false;
  if (space) nest->split = split > TL_MAX_DIMS ? TL_MAX_DIMS : (int)split;
  return read_order(c, v[M_ORDER], space ? nest->s_order : nest->t_order, space ? &nest->n_s : &nest->n_t);
}

/* A factor 0 takes what the others leave. */
static bool fill_remainders(tl_case *c, const tf_ynode *at) {
  bool ok = true;
  for (int d = 0; d < c->problem.n_dims; d++) {
    int64_t product = 1, *open = NULL;
    int n_open = 0;
    for (int l = 0; l < c->n_levels; l++)
      for (int s = 0; s < 2; s++) {
        int64_t *f = s ? &c->nest[l].spatial[d] : &c->nest[l].temporal[d];
        if (*f == 0) {
          open = f;
          n_open++;
        } else if (product > (INT64_C(1) << 50) / *f) {
          return tf_fail(c->diags, at->at, TF_E_RANGE, "the factors of '%.40s' pass 2^50", c->problem.dim[d]);
        } else {
          product *= *f;
        }
      }
    if (n_open > 1)
      ok = tf_fail(c->diags, at->at, TF_E_OPEN, "two factors 0 of '%.40s': one may take what is left",
                   c->problem.dim[d]);
    else if (open)
      *open = (c->problem.extent[d] + product - 1) / product;
    else if (product < c->problem.extent[d])
      ok = tf_fail(c->diags, at->at, TF_E_COVER, "the factors of '%.40s' multiply to %lld, its extent is %lld",
                   c->problem.dim[d], (long long)product, (long long)c->problem.extent[d]);
  }
  return ok;
}

bool tl_read_mapping(tl_case *c, const tf_ynode *node) {
  bool ok = true;
  if (!tf_yschema_kind(node, TF_Y_LIST, "mapping", c->diags)) return false;
  c->has_mapping = true;
  for (int l = 0; l < c->n_levels; l++) {
    c->nest[l].split = -1;
    for (int d = 0; d < c->problem.n_dims; d++)
      c->nest[l].temporal[d] = c->nest[l].spatial[d] = 1;
  }
  for (size_t i = 0; i < node->n; i++)
    ok &= read_directive(c, node->items[i]);
  return ok && fill_remainders(c, node);
}
