/* AccelForge's workloads as native text: an Einsum is an op, a rank variable a dim. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "model/import/accelforge/forge.h"

/* ---- text ------------------------------------------------------------------------------------ */

const char *fg_past_blanks(const char *p) {
  while (isspace((unsigned char)*p))
    p++;
  return p;
}

/* The name that begins here; what follows it, NULL: none that fits. */
const char *fg_take_name(const char *p, char *name) {
  size_t n = 0;
  p = fg_past_blanks(p);
  while ((isalnum((unsigned char)p[n]) || p[n] == '_') && n < FG_NAME)
    n++;
  if (!n || n == FG_NAME || isdigit((unsigned char)*p)) return NULL;
  memcpy(name, p, n);
  name[n] = 0;
  return fg_past_blanks(p + n);
}

static bool begins_name(char c) { return isalpha((unsigned char)c) || c == '_'; }

static fg_dim *dim_of(forge *f, const char *name, tf_loc at) {
  for (int i = 0; i < f->n_dims; i++)
    if (!strcmp(f->dims[i].name, name)) return &f->dims[i];
  if (f->n_dims == FG_DIMS) {
    tf_fail(f->diags, at, TF_E_LIMIT, "more than %d rank variables", FG_DIMS);
    return NULL;
  }
  fg_dim *d = &f->dims[f->n_dims++];
  *d = (fg_dim){.at = at};
  memcpy(d->name, name, strlen(name) + 1);
  return d;
}

/* A whole number above 0, or a product of such, up to the end of the text. */
static bool take_number(const char *p, int64_t *value) {
  bool more = true, ok = true;
  *value = 1;
  while (more && ok) {
    char *end;
    const long long one = strtoll(p, &end, 10);
    ok = end != p && one > 0 && !__builtin_mul_overflow(*value, (int64_t)one, value);
    p = fg_past_blanks(end);
    more = *p == '*';
    p += more;
  }
  return ok && !*p && *value < INT64_MAX;
}

/* `0 <= m < 128`. */
static bool read_range(forge *f, const tf_ynode *node) {
  char name[FG_NAME];
  if (!tf_yschema_kind(node, TF_Y_SCALAR, "a range", f->diags)) return false;
  const char *p = fg_past_blanks(node->text);
  p = *p == '0' ? fg_past_blanks(p + 1) : NULL;
  p = p && !strncmp(p, "<=", 2) ? fg_take_name(p + 2, name) : NULL;
  int64_t value = 0;
  if (!p || *p != '<' || !take_number(p + 1 + (p[1] == '='), &value))
    return tf_fail(f->diags, node->at, TF_E_SYNTAX,
                   "'%.60s': a range is read that is written like '0 <= m < 128'", node->text);
  fg_dim *d = dim_of(f, name, node->at);
  if (!d) return false;
  d->extent = value + (p[1] == '=');
  d->ranged = true;
  return true;
}

static bool read_ranges(forge *f, const tf_ynode *all) {
  bool ok = true;
  for (size_t i = 0; all && i < all->n; i++)
    ok &= read_range(f, all->kind == TF_Y_MAP ? all->pairs[i].value : all->items[i]);
  return ok;
}

/* ---- Einsums --------------------------------------------------------------------------------- */

#define INDEX_SIGNS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ +-*()"

/* A rank variable of an access, once; window: it shares its index with others. */
static bool add_var(forge *f, fg_access *to, int var, bool window, tf_loc at) {
  int i = 0;
  f->dims[var].used = true;
  while (i < to->n_vars && to->var[i] != var)
    i++;
  if (window && i < FG_RANKS) to->window |= UINT32_C(1) << i;
  if (i < to->n_vars) return true;
  if (to->n_vars == FG_RANKS)
    return tf_fail(f->diags, at, TF_E_LIMIT, "more than %d rank variables index '%s'", FG_RANKS,
                   to->name);
  to->var[to->n_vars++] = var;
  return true;
}

/* An index into a rank (NULL: the one called as its variable, in capitals).  A variable alone takes
 * the rank's size, where it has no range. */
static bool add_index(forge *f, fg_access *to, const char *rank, const char *index, tf_loc at) {
  char name[FG_NAME], capitals[FG_NAME];
  if (strspn(index, INDEX_SIGNS) != strlen(index))
    return tf_fail(f->diags, at, TF_E_SYNTAX, "an index is a sum of rank variables, not '%.40s'",
                   index);
  const char *rest = fg_take_name(index, name);
  tf_page_add(&to->index, "%s", to->index.len ? ", " : "");
  for (const char *p = fg_past_blanks(index), *next; *p; p = next) {
    char one[FG_NAME];
    next = begins_name(*p) ? fg_take_name(p, one) : p + 1;
    if (!next)
      return tf_fail(f->diags, at, TF_E_LIMIT,
                     "a rank variable has at most %d letters, not '%.60s'", FG_NAME - 1, p);
    const bool times = begins_name(*p) && p > index && isdigit((unsigned char)p[-1]); /* `2p` */
    tf_page_add(&to->index, "%s%.*s", times ? "*" : "", (int)(next - p), p);
    fg_dim *in = begins_name(*p) ? dim_of(f, one, at) : NULL;
    if (begins_name(*p) && !in) return false;
    if (in && !add_var(f, to, (int)(in - f->dims), !rest || *rest, at)) return false;
  }
  if (!rest || *rest) return true;
  fg_dim *d = dim_of(f, name, at);
  for (size_t i = 0; i <= strlen(name); i++)
    capitals[i] = (char)toupper((unsigned char)name[i]);
  const tf_ynode *size = f->rank_sizes ? tf_ymap_get(f->rank_sizes, rank ? rank : capitals) : NULL;
  int64_t value = 0;
  if (!size || d->ranged) return true;
  if (size->kind != TF_Y_SCALAR || !take_number(size->text, &value))
    return tf_fail(f->diags, size->at, TF_E_RANGE, "a rank's size is a whole number above 0");
  if (!d->extent || value < d->extent) d->extent = value;
  return true;
}

static fg_access *add_access(forge *f, const char *name, bool output, tf_loc at) {
  int z = 0;
  while (z < f->n_tensors && strcmp(f->tensor[z], name) != 0)
    z++;
  if (f->n_accesses == FG_ACCESSES || z == FG_TENSORS) {
    tf_fail(f->diags, at, TF_E_LIMIT, "more than %d tensors in an Einsum, or %d in all",
            FG_ACCESSES, FG_TENSORS);
    return NULL;
  }
  if (z == f->n_tensors) memcpy(f->tensor[f->n_tensors++], name, strlen(name) + 1);
  fg_access *a = &f->accesses[f->n_accesses++];
  *a = (fg_access){.output = output, .joined = '*', .tensor = z};
  memcpy(a->name, name, strlen(name) + 1);
  return a;
}

/* `T[b, M: p]`; what follows it. */
static const char *read_reference(forge *f, const char *p, bool output, tf_loc at) {
  char name[FG_NAME];
  p = fg_take_name(p, name);
  if (!p || *p != '[') return NULL;
  fg_access *to = add_access(f, name, output, at);
  const char *end = strchr(p, ']');
  if (!to || !end) return NULL;
  for (p++; p < end;) {
    const size_t n = strcspn(p, ",]"), colon = strcspn(p, ":");
    char *index = tf_arena_strndup(f->arena, p, n), rank[FG_NAME];
    const bool named = colon < n && fg_take_name(p, rank);
    if (!index || !add_index(f, to, named ? rank : NULL, named ? index + colon + 1 : index, at))
      return NULL;
    p += n + (p[n] == ',');
  }
  return fg_past_blanks(end + 1);
}

/* `Z[m, n] = A[m, k] * B[k, n]`. */
static bool read_text(forge *f, const tf_ynode *node) {
  const size_t said = tf_diags_errors(f->diags);
  const char *p = read_reference(f, node->text, true, node->at);
  bool ok = p && *p == '=';
  while (ok && p && *p && strchr("=*+", *p)) {
    const char joined = *p;
    p = read_reference(f, p + 1, false, node->at);
    ok = p != NULL;
    if (ok) f->accesses[f->n_accesses - 1].joined = joined;
  }
  if (ok && !*p) return true;
  return tf_diags_errors(f->diags) == said &&
         tf_fail(f->diags, node->at, TF_E_SYNTAX,
                 "an Einsum is read that is written like 'Z[m, n] = A[m, k] * B[k, n]'");
}

static bool read_access(forge *f, const tf_ynode *node) {
  static const tf_yrow rows[] = {{"name", TF_Y_SCALAR, true},
                                 {"projection", TF_Y_LIST | TF_Y_MAP, true},
                                 {"output", TF_Y_SCALAR, false},
                                 {"persistent", 0, false}}; /* for its mapper */
  const tf_ynode *v[4];
  char name[FG_NAME];
  if (!tf_yschema_kind(node, TF_Y_MAP, "a tensor access", f->diags) ||
      !tf_yschema_check(node, rows, 4, "a tensor access", v, f->diags))
    return false;
  const char *rest = fg_take_name(v[0]->text, name);
  if (!rest || *rest)
    return tf_fail(f->diags, v[0]->at, TF_E_SYNTAX, "'%.40s' cannot name a tensor", v[0]->text);
  const bool output = v[2] && (tf_ynode_is(v[2], "True") || tf_ynode_is(v[2], "true"));
  fg_access *to = add_access(f, name, output, v[0]->at);
  bool ok = to != NULL;
  for (size_t i = 0; i < v[1]->n && ok; i++) {
    const bool map = v[1]->kind == TF_Y_MAP;
    const tf_ynode *x = map ? v[1]->pairs[i].value : v[1]->items[i];
    ok = tf_yschema_kind(x, TF_Y_SCALAR, "an index", f->diags) &&
         add_index(f, to, map ? v[1]->pairs[i].key->text : NULL, x->text, x->at);
  }
  return ok;
}

/* Whether some rank variable of the Einsum's inputs is not of its output. */
static bool reduces(const forge *f, const fg_access *out) {
  bool any = false;
  for (int i = 0; i < f->n_accesses; i++)
    for (const char *p = f->accesses[i].index.text; p && *p;) {
      char name[FG_NAME], other[FG_NAME];
      const char *next = begins_name(*p) ? fg_take_name(p, name) : NULL;
      bool there = !next;
      for (const char *q = out->index.text; next && q && *q;) {
        const char *after = begins_name(*q) ? fg_take_name(q, other) : NULL;
        there |= after && !strcmp(name, other);
        q = after ? after : q + 1;
      }
      any |= !there;
      p = next ? next : p + 1;
    }
  return any;
}

/* What runs the Einsum: a product and its sum are one step. */
static unsigned kinds_of(const forge *f, bool sums) {
  bool added = false;
  for (int i = 0, inputs = 0; i < f->n_accesses; i++)
    if (!f->accesses[i].output) added |= inputs++ > 0 && f->accesses[i].joined == '+';
  if (f->n_accesses == 2) return sums ? FG_ADD : 0;
  if (f->n_accesses > 3) return FG_MAC | FG_MUL | FG_ADD;
  return added ? FG_ADD : sums ? FG_MAC : FG_MUL;
}

/* Keeps what mappings and sets need of the Einsum at hand. */
static bool keep_einsum(forge *f, const char *name, const char *op, bool sums,
                        const tf_ynode *renames, tf_loc at) {
  if (f->n_einsums == FG_EINSUMS)
    return tf_fail(f->diags, at, TF_E_LIMIT, "more than %d Einsums", FG_EINSUMS);
  fg_einsum *e = &f->einsum[f->n_einsums++];
  *e = (fg_einsum){.n = f->n_accesses, .kinds = kinds_of(f, sums), .renames = renames};
  memcpy(e->name, name, strlen(name) + 1);
  memcpy(e->op, op, strlen(op) + 1);
  for (int i = 0; i < f->n_accesses; i++) {
    const fg_access *a = &f->accesses[i];
    e->tensor[i] = a->tensor;
    e->n_vars[i] = a->n_vars;
    e->var[i] = TF_ARRAY(f->arena, int, (size_t)a->n_vars + 1);
    if (!e->var[i]) return false;
    memcpy(e->var[i], a->var, (size_t)a->n_vars * sizeof a->var[0]);
    e->outputs |= a->output ? UINT32_C(1) << i : 0;
    e->windows[i] = a->window;
  }
  return true;
}

static bool write_op(forge *f, const tf_ynode *name, const tf_ynode *renames, tf_loc at) {
  const fg_access *out = NULL;
  for (int i = 0; i < f->n_accesses; i++) {
    if (f->accesses[i].output && out)
      return tf_fail(f->diags, at, TF_E_OUTPUT,
                     "an Einsum makes one tensor: this one makes '%s' "
                     "and '%s'",
                     out->name, f->accesses[i].name);
    if (f->accesses[i].output) out = &f->accesses[i];
  }
  if (!out || f->n_accesses < 2)
    return tf_fail(f->diags, at, TF_E_OUTPUT, "an Einsum has an output and an input");
  char own[FG_NAME]; /* else it is called as what it makes */
  const char *rest = name ? fg_take_name(name->text, own) : NULL;
  const char *op = rest && !*rest ? own : out->name;
  const bool sums = reduces(f, out);
  if (!keep_einsum(f, op, op, sums, renames, at)) return false;
  tf_page_add(&f->ops, "  - {name: %s, expr: \"%s[%s] %s", op, out->name,
              out->index.len ? out->index.text : "", sums ? "+=" : "=");
  bool first = true;
  for (int i = 0; i < f->n_accesses; i++) {
    const fg_access *a = &f->accesses[i];
    if (a == out) continue;
    tf_page_add(&f->ops,
                first              ? " %s[%s]"
                : a->joined == '+' ? " + %s[%s]"
                                   : " * %s[%s]",
                a->name, a->index.len ? a->index.text : "");
    first = false;
  }
  tf_page_add(&f->ops, "\"}\n");
  return true;
}

static bool read_einsum(forge *f, const tf_ynode *node) {
  enum { E_NAME, E_TEXT, E_ACCESSES, E_RANGES, E_RENAMES, N_E = 6 };
  static const tf_yrow rows[N_E] = {[E_NAME] = {"name", TF_Y_SCALAR, false},
                                    [E_TEXT] = {"einsum", TF_Y_SCALAR, false},
                                    [E_ACCESSES] = {"tensor_accesses", TF_Y_LIST, false},
                                    [E_RANGES] = {"iteration_space_shape", TF_Y_LIST, false},
                                    [E_RENAMES] = {"renames", 0, false},
                                    {"is_copy_operation", 0, false}};
  const tf_ynode *v[N_E] = {NULL};
  bool ok =
      node->kind == TF_Y_SCALAR || (tf_yschema_kind(node, TF_Y_MAP, "an Einsum", f->diags) &&
                                    tf_yschema_check(node, rows, N_E, "an Einsum", v, f->diags));
  const tf_ynode *text = node->kind == TF_Y_SCALAR ? node : v[E_TEXT];
  if (!ok) return false;
  if (!text == !v[E_ACCESSES])
    return tf_fail(f->diags, node->at, TF_E_MISSING,
                   "an Einsum needs 'einsum' or 'tensor_accesses', one of the two");
  f->n_accesses = 0;
  if (text) ok = read_text(f, text);
  for (size_t i = 0; ok && !text && i < v[E_ACCESSES]->n; i++)
    ok = read_access(f, v[E_ACCESSES]->items[i]);
  ok = ok && read_ranges(f, v[E_RANGES]) && write_op(f, v[E_NAME], v[E_RENAMES], node->at);
  for (int i = 0; i < f->n_accesses; i++) {
    f->ops.bad |= f->accesses[i].index.bad;
    free(f->accesses[i].index.text);
  }
  return ok;
}

/* ---- the workload ---------------------------------------------------------------------------- */

/* Bits of all tensors, or of some by their names: sets of tensors need what renames make of them.
 */
static bool read_bits(forge *f) {
  const tf_ynode *all = f->bits ? tf_ymap_get(f->bits, "All") : NULL;
  bool ok = true;
  for (size_t i = 0; f->bits && i < f->bits->n && ok; i++) {
    const tf_ynode *key = f->bits->pairs[i].key, *value = f->bits->pairs[i].value;
    int64_t bits = 0;
    bool named = tf_ynode_is(key, "All");
    for (int z = 0; z < f->n_tensors; z++)
      named |= tf_ynode_is(key, f->tensor[z]);
    if (!named)
      ok =
          tf_fail(f->diags, key->at, TF_E_NAME,
                  "bits are read of All and of tensors by name, not of the set '%.60s'", key->text);
    else if (value->kind != TF_Y_SCALAR || !take_number(value->text, &bits))
      ok = tf_fail(f->diags, value->at, TF_E_RANGE, "bits are a whole number above 0");
  }
  for (int z = 0; z < f->n_tensors && ok && f->bits; z++) {
    const tf_ynode *own = tf_ymap_get(f->bits, f->tensor[z]), *of = own ? own : all;
    if (of) ok = take_number(of->text, &f->tensor_bits[z]);
  }
  return ok;
}

static void write_bits(const forge *f, tf_page *out) {
  if (f->bits) tf_page_add(out, "  tensors:\n");
  for (int z = 0; z < f->n_tensors && f->bits; z++)
    if (f->tensor_bits[z])
      tf_page_add(out, "    %s: {word-bits: %" PRId64 "}\n", f->tensor[z], f->tensor_bits[z]);
}

bool fg_write_workload(forge *f, tf_page *out) {
  tf_page_add(out, "workload:\n  name: imported\n  dims: {");
  bool first = true;
  for (int i = 0; i < f->n_dims; i++) {
    if (!f->dims[i].used) continue;
    if (!f->dims[i].extent)
      return tf_fail(f->diags, f->dims[i].at, TF_E_MISSING,
                     "nothing says how long the rank variable '%.40s' is: it has no range, and "
                     "indexes no rank of rank_sizes by itself",
                     f->dims[i].name);
    tf_page_add(out, "%s%s: %" PRId64, first ? "" : ", ", f->dims[i].name, f->dims[i].extent);
    first = false;
  }
  tf_page_add(out, "}\n");
  write_bits(f, out);
  tf_page_add(out, "  ops:\n%s", f->ops.text ? f->ops.text : "");
  return true;
}

bool fg_read_workload(forge *f, const tf_ynode *node) {
  enum { W_RANGES, W_SIZES, W_BITS, W_EINSUMS, W_SHAPE, N_W = 7 };
  static const tf_yrow rows[N_W] = {[W_RANGES] = {"iteration_space_shape", TF_Y_MAP, false},
                                    [W_SIZES] = {"rank_sizes", TF_Y_MAP, false},
                                    [W_BITS] = {"bits_per_value", TF_Y_MAP, false},
                                    [W_EINSUMS] = {"einsums", TF_Y_LIST, true},
                                    [W_SHAPE] = {"shape", TF_Y_MAP | TF_Y_EARLIER, false},
                                    {"persistent_tensors", 0, false}, /* for its mapper */
                                    {"version", 0, false}};
  const tf_ynode *v[N_W];
  if (!tf_yschema_kind(node, TF_Y_MAP, "a workload of AccelForge", f->diags) ||
      !tf_yschema_check(node, rows, N_W, "a workload of AccelForge", v, f->diags))
    return false;
  f->rank_sizes = v[W_SIZES];
  f->bits = v[W_BITS];
  bool ok = read_ranges(f, v[W_RANGES]) && read_ranges(f, v[W_SHAPE]); /* 0.5 calls them so */
  for (size_t i = 0; i < v[W_EINSUMS]->n && ok; i++)
    ok = read_einsum(f, v[W_EINSUMS]->items[i]);
  return ok && read_bits(f);
}
