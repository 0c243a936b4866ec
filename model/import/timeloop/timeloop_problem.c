/* Timeloop's problem: dims, data spaces with their projections, and an instance's extents. */
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "model/import/timeloop/timeloop.h"

enum { MAX_COEFS = 16 };

/* Named coefficients of projections: a default, which the instance may change. */
typedef struct {
  int n;
  const char *name[MAX_COEFS];
  int64_t value[MAX_COEFS];
} coefs;

static int find_name(const char *const *names, int n, const char *name, size_t len, tf_near *near) {
  for (int i = 0; i < n; i++) {
    if (strlen(names[i]) == len && !memcmp(names[i], name, len)) return i;
    if (near) tf_near_offer(near, names[i]);
  }
  return -1;
}

int tl_find_dim(tl_case *c, tf_loc at, const char *name, size_t len) {
  char hint[160];
  tf_near near = tf_near_start(name, len);
  int d = find_name(c->problem.dim, c->problem.n_dims, name, len, &near);
  if (d < 0)
    tf_fail(c->diags, at, TF_E_NAME, "no dimension '%.*s'%s", (int)(len < 40 ? len : 40), name,
            tf_near_text(&near, hint, sizeof hint));
  return d;
}

int tl_find_space(tl_case *c, const tf_ynode *node) {
  char hint[160];
  tf_near near = tf_near_start(node->text, node->len);
  for (int i = 0; i < c->problem.n_spaces; i++) {
    if (tf_ynode_is(node, c->problem.space[i].name)) return i;
    tf_near_offer(&near, c->problem.space[i].name);
  }
  tf_fail(c->diags, node->at, TF_E_NAME, "no data space '%.40s'%s", node->text,
          tf_near_text(&near, hint, sizeof hint));
  return -1;
}

static bool read_dims(tl_case *c, const tf_ynode *node) {
  tl_problem *p = &c->problem;
  for (size_t i = 0; i < node->n; i++) {
    const tf_ynode *d = node->items[i];
    if (!tf_yschema_kind(d, TF_Y_SCALAR, "a dimension", c->diags)) return false;
    if (p->n_dims == TL_MAX_DIMS)
      return tf_fail(c->diags, d->at, TF_E_LIMIT, "more than %d dimensions", TL_MAX_DIMS);
    if (!tf_is_name(d->text, d->len, false))
      return tf_fail(c->diags, d->at, TF_E_SYNTAX, "'%.40s' cannot name a dimension", d->text);
    if (find_name(p->dim, p->n_dims, d->text, d->len, NULL) >= 0)
      return tf_fail(c->diags, d->at, TF_E_DUP, "dimension '%.40s' given twice", d->text);
    p->dim[p->n_dims++] = d->text;
  }
  return true;
}

static bool read_coefs(tl_case *c, const tf_ynode *list, coefs *k) {
  static const tf_yrow rows[] = {{"name", TF_Y_SCALAR, true}, {"default", TF_Y_SCALAR, false}};
  for (size_t i = 0; list && i < list->n; i++) {
    const tf_ynode *v[2];
    if (!tf_yschema_kind(list->items[i], TF_Y_MAP, "a coefficient", c->diags) ||
        !tf_yschema_check(list->items[i], rows, 2, "a coefficient", v, c->diags))
      return false;
    if (k->n == MAX_COEFS)
      return tf_fail(c->diags, list->items[i]->at, TF_E_LIMIT, "more than %d coefficients",
                     MAX_COEFS);
    k->name[k->n] = v[0]->text;
    k->value[k->n] = 1;
    if (v[1] && !tl_int(c, v[1], "default", 1, &k->value[k->n])) return false;
    k->n++;
  }
  return true;
}

/* [dim] or [dim, coefficient]. */
static bool read_term(tl_case *c, const tf_ynode *node, const coefs *k, tl_term *out) {
  if (!tf_yschema_kind(node, TF_Y_LIST, "a term of a projection", c->diags)) return false;
  if (node->n < 1 || node->n > 2)
    return tf_fail(c->diags, node->at, TF_E_SHAPE, "a term is [DIM] or [DIM, COEFFICIENT]");
  for (size_t i = 0; i < node->n; i++)
    if (!tf_yschema_kind(node->items[i], TF_Y_SCALAR, "a name", c->diags)) return false;
  const tf_ynode *dim = node->items[0], *coef = node->n > 1 ? node->items[1] : NULL;
  char hint[160];
  out->coef = 1;
  out->dim = tl_find_dim(c, dim->at, dim->text, dim->len);
  if (!coef) return out->dim >= 0;
  tf_near near = tf_near_start(coef->text, coef->len);
  int at = find_name(k->name, k->n, coef->text, coef->len, &near);
  if (at < 0)
    return tf_fail(c->diags, coef->at, TF_E_NAME, "no coefficient '%.40s'%s", coef->text,
                   tf_near_text(&near, hint, sizeof hint));
  out->coef = k->value[at];
  return out->dim >= 0;
}

static bool read_projection(tl_case *c, const tf_ynode *list, const coefs *k, tl_space *s) {
  for (size_t r = 0; r < list->n; r++) {
    const tf_ynode *terms = list->items[r];
    if (s->rank == TL_MAX_DIMS)
      return tf_fail(c->diags, terms->at, TF_E_LIMIT, "more than %d ranks", TL_MAX_DIMS);
    if (terms->kind == TF_Y_SCALAR) { /* a dim alone */
      int d = tl_find_dim(c, terms->at, terms->text, terms->len);
      if (d < 0) return false;
      s->index[s->rank].n = 1;
      s->index[s->rank++].term[0] = (tl_term){d, 1};
      continue;
    }
    if (!tf_yschema_kind(terms, TF_Y_LIST, "a rank of a projection", c->diags)) return false;
    for (size_t t = 0; t < terms->n; t++) {
      if (s->index[r].n == TL_MAX_TERMS)
        return tf_fail(c->diags, terms->at, TF_E_LIMIT, "more than %d terms in one rank",
                       TL_MAX_TERMS);
      if (!read_term(c, terms->items[t], k, &s->index[r].term[s->index[r].n++])) return false;
    }
    s->rank++;
  }
  return true;
}

static bool read_space(tl_case *c, const tf_ynode *node, const coefs *k) {
  static const tf_yrow rows[] = {{"name", TF_Y_SCALAR, true},
                                 {"projection", TF_Y_LIST, true},
                                 {"read-write", TF_Y_SCALAR, false},
                                 {"read_write", TF_Y_SCALAR, false},
                                 {"ranks", 0, false}}; /* names, for layouts */
  const tf_ynode *v[5];
  tl_problem *p = &c->problem;
  if (!tf_yschema_kind(node, TF_Y_MAP, "a data space", c->diags) ||
      !tf_yschema_check(node, rows, 5, "a data space", v, c->diags))
    return false;
  if (v[3]) v[2] = v[3]; /* 0.4 */
  if (p->n_spaces == TL_MAX_SPACES)
    return tf_fail(c->diags, node->at, TF_E_LIMIT, "more than %d data spaces", TL_MAX_SPACES);
  tl_space *s = &p->space[p->n_spaces++];
  s->name = v[0]->text;
  if (v[2] && !tl_bool(c, v[2], &s->output)) return false;
  if (!tf_is_name(v[0]->text, v[0]->len, false))
    return tf_fail(c->diags, v[0]->at, TF_E_SYNTAX, "'%.40s' cannot name a data space", v[0]->text);
  if (!read_projection(c, v[1], k, s)) return false;
  for (int r = 0; r < s->rank && s->output; r++)
    if (s->index[r].n != 1 || s->index[r].term[0].coef != 1)
      return tf_fail(c->diags, v[1]->items[r]->at, TF_E_OUTPUT,
                     "a rank of the output '%.40s' is one dimension", s->name);
  return true;
}

/* Elements as far from the diagonal as the band's width are not zero; a width of 0 is the diagonal.
 * Timeloop gives a share beside it no meaning. */
static bool read_band(tl_case *c, const tf_ynode *falls, const tf_ynode *width, tl_space *s) {
  bool plain = s->rank == 2;
  for (int r = 0; r < s->rank && plain; r++)
    plain = s->index[r].n == 1 && s->index[r].term[0].coef == 1;
  if (!plain)
    return tf_fail(c->diags, falls->at, TF_E_SHAPE,
                   "a band of '%.40s', whose ranks are not two dimensions", s->name);
  s->banded = true;
  return !width || tl_int(c, width, "the width of a band", 0, &s->band);
}

/* A share, hypergeometric if no distribution is said; of structured ones nothing says along which
 * rank. */
static bool read_density(tl_case *c, const tf_ynode *value, tl_space *s) {
  enum { D_SHARE, D_FALLS, D_WIDTH, N_D = 5 };
  static const tf_yrow rows[N_D] = {[D_SHARE] = {"density", TF_Y_SCALAR, false},
                                    [D_FALLS] = {"distribution", TF_Y_SCALAR, false},
                                    [D_WIDTH] = {"band_width", TF_Y_SCALAR, false},
                                    {"workload_tensor_size", 0, false},
                                    {"type", 0, false}};
  const tf_ynode *v[N_D] = {value};
  if (value->kind == TF_Y_MAP && !tf_yschema_check(value, rows, N_D, "a density", v, c->diags))
    return false;
  const tf_ynode *falls = v[D_FALLS];
  if (falls && tf_ynode_is(falls, "banded")) return read_band(c, falls, v[D_WIDTH], s);
  const bool fixed =
      falls && (tf_ynode_is(falls, "fixed_structured") || tf_ynode_is(falls, "fixed-structured") ||
                tf_ynode_is(falls, "fixed"));
  if (falls && !fixed && !tf_ynode_is(falls, "hypergeometric"))
    return tf_fail(c->diags, falls->at, TF_E_RANGE,
                   "no distribution '%.30s' here: hypergeometric, banded, or fixed_structured, "
                   "which is read as the first",
                   falls->text);
  if (!v[D_SHARE])
    return tf_fail(c->diags, value->at, TF_E_MISSING, "a density needs the key 'density'");
  double *out = &s->density;
  if (!tl_real(c, v[D_SHARE], out)) return false;
  if (*out > 1)
    return tf_fail(c->diags, v[D_SHARE]->at, TF_E_RANGE, "a density is a share, 1 at most");
  if (fixed && *out < 1) tl_fold(c, TL_UNIFORM, value->at, "%.40s", s->name);
  return true;
}

/* Of the data spaces named; commonDensity of all others. */
static bool read_densities(tl_case *c, const tf_ynode *map) {
  const tf_ynode *common = tf_ymap_get(map, "commonDensity"), *each = tf_ymap_get(map, "densities");
  tl_problem *p = &c->problem;
  bool ok = true, any = false;
  if (each && (tf_ynode_empty(each) || tf_ynode_is(each, "null"))) each = NULL;
  if (each && !tf_yschema_kind(each, TF_Y_MAP, "densities", c->diags)) return false;
  for (size_t i = 0; each && i < each->n; i++) {
    const int z = tl_find_space(c, each->pairs[i].key);
    ok &= z >= 0 && read_density(c, each->pairs[i].value, &p->space[z]);
  }
  for (int z = 0; z < p->n_spaces && common && ok; z++)
    if (!(p->space[z].density > 0) && !p->space[z].banded)
      ok &= read_density(c, common, &p->space[z]);
  for (int z = 0; z < p->n_spaces; z++)
    any |= p->space[z].banded || (p->space[z].density > 0 && p->space[z].density < 1);
  for (int z = 0; z < p->n_spaces;
       z++) /* here the zeros of a result follow from those of the operands, if not said */
    if (any && p->space[z].output && !(p->space[z].density > 0) && !p->space[z].banded)
      p->space[z].density = 1;
  for (int z = 0; z < p->n_spaces && !any; z++)
    p->space[z].density = 0;
  return ok;
}

/* A key that is no dim and no coefficient, which Timeloop passes by: an error if it may be a
 * misspelt one, since a coefficient that is not given has its default. */
static bool pass_by(tl_case *c, const tf_ynode *key, const tf_ynode *value, const coefs *k) {
  tf_near near = tf_near_start(key->text, key->len);
  char hint[160];
  for (int d = 0; d < c->problem.n_dims && key->len > 1; d++)
    tf_near_offer(&near, c->problem.dim[d]);
  for (int i = 0; i < k->n; i++)
    tf_near_offer(&near, k->name[i]);
  if (near.best)
    return tf_fail(c->diags, key->at, TF_E_NAME, "no dimension or coefficient '%.40s'%s", key->text,
                   tf_near_text(&near, hint, sizeof hint));
  tl_fold(c, TL_NOTHING, key->at, "%.40s %.40s of the instance", key->text, tl_value_text(value));
  return true;
}

/* Extents, and values of coefficients: DIM: N or COEFFICIENT: N. */
static bool read_instance(tl_case *c, const tf_ynode *map, coefs *k) {
  tl_problem *p = &c->problem;
  bool ok = true;
  for (size_t i = 0; i < map->n; i++) {
    const tf_ynode *key = map->pairs[i].key, *value = map->pairs[i].value;
    const int at = find_name(k->name, k->n, key->text, key->len, NULL),
              d = find_name(p->dim, p->n_dims, key->text, key->len, NULL);
    if (tf_ynode_is(key, "densities") || tf_ynode_is(key, "commonDensity"))
      continue; /* once data spaces are known */
    if (at < 0 && d < 0) {
      ok &= pass_by(c, key, value, k);
      continue;
    }
    if (!tf_yschema_kind(value, TF_Y_SCALAR, key->text, c->diags)) return false;
    ok &= tl_int(c, value, key->text, 1, at >= 0 ? &k->value[at] : &p->extent[d]);
  }
  for (int d = 0; d < p->n_dims && ok; d++)
    if (!p->extent[d])
      ok = tf_fail(c->diags, map->at, TF_E_MISSING, "the instance gives no extent of '%.40s'",
                   p->dim[d]);
  return ok;
}

static bool one_output(tl_case *c, const tf_ynode *at) {
  int n = 0;
  for (int i = 0; i < c->problem.n_spaces; i++)
    n += c->problem.space[i].output;
  if (n == 1 && c->problem.n_spaces == 1)
    return tf_fail(c->diags, at->at, TF_E_OUTPUT,
                   "the only data space is the output: something must be read");
  return n == 1 || tf_fail(c->diags, at->at, TF_E_OUTPUT,
                           "%d data spaces are 'read-write': one is the output", n);
}

bool tl_read_problem(tl_case *c, const tf_ynode *node) {
  static const tf_yrow rows[] = {
      {"shape", TF_Y_MAP, true}, {"instance", TF_Y_MAP, true}, {"version", TF_Y_SCALAR, false}};
  static const tf_yrow shape[] = {{"name", 0, false},
                                  {"dimensions", TF_Y_LIST, true},
                                  {"data-spaces", TF_Y_LIST, false},
                                  {"coefficients", TF_Y_LIST, false},
                                  {"data_spaces", TF_Y_LIST, false}};
  const tf_ynode *v[3], *s[5];
  coefs k = {.n = 0};
  if (!tf_yschema_kind(node, TF_Y_MAP, "problem", c->diags) ||
      !tf_yschema_check(node, rows, 3, "Timeloop's problem", v, c->diags) ||
      !tf_yschema_check(v[0], shape, 5, "the shape of a problem", s, c->diags))
    return false;
  if (!s[2] == !s[4])
    return tf_fail(c->diags, v[0]->at, TF_E_MISSING,
                   "the shape of a problem needs the key 'data-spaces' (0.4: 'data_spaces')");
  if (s[4]) s[2] = s[4];
  c->has_problem = true;
  c->problem.name = s[0] && s[0]->kind == TF_Y_SCALAR && s[0]->len ? s[0]->text : "problem";
  if (!read_dims(c, s[1]) || !read_coefs(c, s[3], &k) || !read_instance(c, v[1], &k)) return false;
  for (size_t i = 0; i < s[2]->n; i++)
    if (!read_space(c, s[2]->items[i], &k)) return false;
  return one_output(c, s[2]) && read_densities(c, v[1]);
}
