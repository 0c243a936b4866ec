/* Words that mappings and constraints share: factors, permutations, names of levels and data
 * spaces. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "model/import/timeloop/timeloop.h"

int tl_find_level(tl_case *c, const tf_ynode *node) {
  char hint[160];
  tf_near near = tf_near_start(node->text, node->len);
  for (int i = 0; i < c->n_levels; i++) {
    if (c->level[i].kind == TL_COMPUTE) continue;
    if (tf_ynode_is(node, c->level[i].name)) return i;
    tf_near_offer(&near, c->level[i].name);
  }
  for (int i = 0; i < c->n_levels; i++) {
    if (!c->level[i].alias) continue;
    if (tf_ynode_is(node, c->level[i].alias)) return i;
    tf_near_offer(&near, c->level[i].alias);
  }
  tf_fail(c->diags, node->at, TF_E_NAME, "no memory '%.40s'%s", node->text,
          tf_near_text(&near, hint, sizeof hint));
  return -1;
}

/* Words of a directive: a list of scalars, or one scalar of words parted by blanks and commas. */
typedef struct {
  const char *text;
  size_t len;
  tf_loc at;
} word;

enum { MAX_WORDS = 3 * TL_MAX_DIMS };

/* Their number; -1 with an error. */
static int words_of(tl_case *c, const tf_ynode *node, word *out) {
  int n = 0;
  for (size_t i = 0; node->kind == TF_Y_LIST && i < node->n && n <= MAX_WORDS; i++) {
    if (!tf_yschema_kind(node->items[i], TF_Y_SCALAR, "a word", c->diags)) return -1;
    if (n < MAX_WORDS)
      out[n] = (word){node->items[i]->text, node->items[i]->len, node->items[i]->at};
    n++;
  }
  for (size_t i = 0; node->kind == TF_Y_SCALAR && i < node->len && n <= MAX_WORDS;) {
    size_t len = strcspn(node->text + i, " ,\t\n");
    if (len && n < MAX_WORDS) out[n] = (word){node->text + i, len, tf_ynode_place(node, i, len)};
    n += len > 0;
    i += len + 1;
  }
  if (n <= MAX_WORDS) return n;
  tf_fail(c->diags, node->at, TF_E_LIMIT, "more than %d words", MAX_WORDS);
  return -1;
}

/* "M=4", "M4", "M<=4": how long the dim's name is, and where the number starts; false: none of
 * these. */
static bool split_factor(word w, size_t *name, size_t *number, bool *bound) {
  size_t i = 0;
  while (i < w.len && w.text[i] != '=' && w.text[i] != '<')
    i++;
  *bound = i + 1 < w.len && w.text[i] == '<' && w.text[i + 1] == '=';
  *name = i;
  *number = i + 1 + *bound;
  if (i < w.len) return *bound || w.text[i] == '=';
  while (i > 0 && w.text[i - 1] >= '0' && w.text[i - 1] <= '9')
    i--;
  *name = *number = i;
  return i > 0 && i < w.len;
}

/* The 2 of "K=5,2", whose comma parts words, too: steps in the last step of the loops around. */
static bool read_residual(tl_case *c, word w, int64_t trips, int64_t *out) {
  char *end;
  long long value = strtoll(w.text, &end, 10);
  if (value < 1 || value > trips || end != w.text + w.len)
    return tf_fail(c->diags, w.at, TF_E_RANGE, "'%.*s' is no number of last steps of %lld",
                   (int)(w.len < 20 ? w.len : 20), w.text, (long long)trips);
  *out = value;
  return true;
}

/* *last: the dim of the factor before, then of this one. */
static bool read_factor(tl_case *c, word w, bool bounds, tl_loops *loops, bool *seen, int *last) {
  size_t name, number;
  bool bound;
  if (!split_factor(w, &name, &number, &bound) || (bound && !bounds))
    return tf_fail(c->diags, w.at, TF_E_SYNTAX, "a factor is written DIM=N%s",
                   bounds ? " or DIM<=N" : "");
  int d = tl_find_dim(c, w.at, w.text, name);
  if (d < 0) return false;
  char *end, digits[32];
  size_t n = w.len - number;
  snprintf(digits, sizeof digits, "%.*s", (int)(n < 31 ? n : 31), w.text + number);
  long long trips = strtoll(digits, &end, 10);
  if (end == digits || *end || trips < bound || trips > INT64_C(1) << 40)
    return tf_fail(c->diags, w.at, TF_E_RANGE, "'%.40s' is no trip count", digits);
  if (seen[d])
    return tf_fail(c->diags, w.at, TF_E_DUP, "'%.40s' has two factors here", c->problem.dim[d]);
  seen[d] = true;
  loops->at[d] = w.at;
  *last = d;
  loops->trips[d] = bound ? TL_OPEN : trips;
  loops->most[d] = bound ? trips : 0;
  return true;
}

bool tl_read_factors(tl_case *c, const tf_ynode *node, bool bounds, tl_loops *loops) {
  word w[MAX_WORDS];
  bool seen[TL_MAX_DIMS] = {false}, ok = true;
  int n = words_of(c, node, w), last = -1;
  for (int i = 0; i < n; i++) {
    bool residual = strspn(w[i].text, "0123456789") >= w[i].len && last >= 0 && !bounds;
    if (residual && node->kind == TF_Y_SCALAR) residual = w[i].text[-1] == ',';
    if (residual)
      ok &= read_residual(c, w[i], loops->trips[last], &loops->residual[last]);
    else
      ok &= read_factor(c, w[i], bounds, loops, seen, &last);
    if (residual) last = -1;
  }
  return ok && n >= 0;
}

bool tl_read_order(tl_case *c, const tf_ynode *node, tl_loops *loops) {
  word w[MAX_WORDS];
  int n = node ? words_of(c, node, w) : 0, n_order = 0;
  bool seen[TL_MAX_DIMS] = {false}, letters = false;
  if (n < 0) return false;
  if (n == 1 && w[0].len > 1) {
    letters = true;
    for (int d = 0; d < c->problem.n_dims; d++)
      letters &= strlen(c->problem.dim[d]) == 1;
  }
  loops->ordered |= n > 0;
  for (int i = 0; i < (letters ? (int)w[0].len : n); i++) {
    const char *name = letters ? w[0].text + i : w[i].text;
    int d = tl_find_dim(c, letters ? w[0].at : w[i].at, name, letters ? 1 : w[i].len);
    if (d < 0) return false;
    if (seen[d])
      return tf_fail(c->diags, node->at, TF_E_DUP, "'%.40s' stands twice in the permutation",
                     c->problem.dim[d]);
    seen[d] = true;
    loops->order[n_order++] = d;
  }
  for (int d = 0; d < c->problem.n_dims; d++)
    if (!seen[d]) loops->order[n_order++] = d;
  return true;
}

bool tl_read_names(tl_case *c, const tf_ynode *list, bool *out, tf_loc *at) {
  for (size_t i = 0; list && i < list->n; i++) {
    if (!tf_yschema_kind(list->items[i], TF_Y_SCALAR, "a data space", c->diags)) return false;
    int z = tl_find_space(c, list->items[i]);
    if (z < 0) return false;
    out[z] = true;
    at[z] = list->items[i]->at;
  }
  return true;
}
