/* TileFlow's problem: dims with an instance's sizes, ops over data spaces, inputs and outputs. */
#include <string.h>

#include "base/names.h"
#include "model/import/tileflow/tileflow.h"
#include "model/input/kinds.h"

enum { MAX_COEFS = 32 };

/* Named coefficients of projections: a default, which the instance may change. */
typedef struct {
  int n;
  const char *name[MAX_COEFS];
  int64_t value[MAX_COEFS];
} coefs;

static int find_coef(const coefs *k, const tf_ynode *name, tf_near *near) {
  for (int i = 0; i < k->n; i++) {
    if (tf_ynode_is(name, k->name[i])) return i;
    if (near) tf_near_offer(near, k->name[i]);
  }
  return -1;
}

/* ---- dims and sizes ----------------------------------------------------------------- */
static bool add_dim(ti_case *c, ti_word w, void *arg) {
  (void)arg;
  char *name = tf_arena_strndup(c->arena, w.text, w.len);
  if (!name) return ti_no_memory(c);
  if (!tf_is_name(name, w.len, false))
    return tf_fail(c->diags, w.at, TF_E_SYNTAX, "'%.40s' cannot name a dimension", name);
  for (int d = 0; d < c->n_dims; d++)
    if (!strcmp(c->dims[d].name, name))
      return tf_fail(c->diags, w.at, TF_E_DUP, "dimension '%.40s' given twice", name);
  if (c->n_dims == TI_MAX_DIMS)
    return tf_fail(c->diags, w.at, TF_E_LIMIT, "more than %d dimensions", TI_MAX_DIMS);
  c->dims[c->n_dims++] = (ti_dim){.name = name, .at = w.at, .sum = {-1, -1}};
  return true;
}

/* DIM: N or MACRO, COEFFICIENT: N. */
static bool read_instance(ti_case *c, const tf_ynode *map, coefs *k) {
  bool ok = true;
  for (size_t i = 0; i < map->n; i++) {
    const tf_ynode *key = map->pairs[i].key, *value = map->pairs[i].value;
    const char *open;
    int at = find_coef(k, key, NULL);
    if (!tf_yschema_kind(value, TF_Y_SCALAR, key->text, c->diags)) return false;
    int d = at < 0 ? ti_find_dim(c, ti_word_of(key), false) : -1;
    int64_t *out = at >= 0 ? &k->value[at] : d >= 0 ? &c->dims[d].extent : NULL;
    ok &= out && ti_number(c, ti_word_of(value), key->text, out, &open);
    if (!ok || !open) continue;
    if (at >= 0)
      ok = tf_fail(c->diags, value->at, TF_E_NAME, "no macro '%.40s'", open);
    else
      c->dims[d].size = open;
  }
  for (int d = 0; d < c->n_dims && ok; d++)
    if (!c->dims[d].extent && !c->dims[d].size)
      ok = tf_fail(c->diags, map->at, TF_E_MISSING, "the instance gives no size of '%.40s'",
                   c->dims[d].name);
  return ok;
}

static bool read_coefs(ti_case *c, const tf_ynode *op, coefs *k) {
  static const tf_yrow rows[] = {{"name", TF_Y_SCALAR, true}, {"default", TF_Y_SCALAR, false}};
  const tf_ynode *list = op->kind == TF_Y_MAP ? tf_ymap_get(op, "coefficients") : NULL;
  if (list && !tf_yschema_kind(list, TF_Y_LIST, "coefficients", c->diags)) return false;
  for (size_t i = 0; list && i < list->n; i++) {
    const tf_ynode *v[2];
    if (!tf_yschema_kind(list->items[i], TF_Y_MAP, "a coefficient", c->diags) ||
        !tf_yschema_check(list->items[i], rows, 2, "a coefficient", v, c->diags))
      return false;
    if (find_coef(k, v[0], NULL) >= 0) continue; /* every op that uses it lists it */
    if (k->n == MAX_COEFS)
      return tf_fail(c->diags, list->items[i]->at, TF_E_LIMIT, "more than %d coefficients",
                     MAX_COEFS);
    k->name[k->n] = v[0]->text;
    k->value[k->n] = 1;
    if (v[1] && !tl_int(c->arch, v[1], "default", 1, &k->value[k->n])) return false;
    k->n++;
  }
  return true;
}

/* ---- data spaces -------------------------------------------------------------------- */
/* [dim] or [dim, coefficient]. */
static bool read_term(ti_case *c, const tf_ynode *node, const coefs *k, const ti_op *op,
                      tl_term *out) {
  if (!tf_yschema_kind(node, TF_Y_LIST, "a term of a projection", c->diags)) return false;
  if (node->n < 1 || node->n > 2)
    return tf_fail(c->diags, node->at, TF_E_SHAPE, "a term is [DIM] or [DIM, COEFFICIENT]");
  for (size_t i = 0; i < node->n; i++)
    if (!tf_yschema_kind(node->items[i], TF_Y_SCALAR, "a name", c->diags)) return false;
  const tf_ynode *coef = node->n > 1 ? node->items[1] : NULL;
  *out = (tl_term){ti_find_dim(c, ti_word_of(node->items[0]), false), 1};
  if (out->dim < 0) return false;
  if (!op->has[out->dim])
    return tf_fail(c->diags, node->items[0]->at, TF_E_NAME, "'%.40s' is no dimension of op '%.40s'",
                   c->dims[out->dim].name, op->name);
  if (!coef) return true;
  char hint[160];
  tf_near near = tf_near_start(coef->text, coef->len);
  int at = find_coef(k, coef, &near);
  if (at < 0)
    return tf_fail(c->diags, coef->at, TF_E_NAME, "no coefficient '%.40s'%s", coef->text,
                   tf_near_text(&near, hint, sizeof hint));
  out->coef = k->value[at];
  return true;
}

static bool read_projection(ti_case *c, const tf_ynode *list, const coefs *k, const ti_op *op,
                            ti_ref *r) {
  if (list->n > TI_MAX_RANK)
    return tf_fail(c->diags, list->at, TF_E_LIMIT, "more than %d ranks", TI_MAX_RANK);
  for (size_t i = 0; i < list->n; i++) {
    const tf_ynode *terms = list->items[i];
    ti_index *x = &r->index[r->rank++];
    if (!tf_yschema_kind(terms, TF_Y_LIST, "a rank of a projection", c->diags)) return false;
    x->at = terms->at;
    if (terms->n < 1 || terms->n > TI_MAX_TERMS)
      return tf_fail(c->diags, terms->at, TF_E_LIMIT, "a rank has 1 to %d terms", TI_MAX_TERMS);
    for (size_t t = 0; t < terms->n; t++)
      if (!read_term(c, terms->items[t], k, op, &x->term[x->n++])) return false;
  }
  return true;
}

/* The tensor of that name, new if it has not been met; -1 without room. */
static int tensor_of(ti_case *c, const tf_ynode *name) {
  for (int z = 0; z < c->n_tensors; z++)
    if (tf_ynode_is(name, c->tensors[z].name)) return z;
  if (c->n_tensors == TI_MAX_TENSORS) {
    tf_fail(c->diags, name->at, TF_E_LIMIT, "more than %d data spaces", TI_MAX_TENSORS);
    return -1;
  }
  c->tensors[c->n_tensors] =
      (ti_tensor){.name = name->text, .at = name->at, .producer = -1, .keep = -1};
  return c->n_tensors++;
}

/* The data spaces of an op, as they stand in the file. */
typedef struct {
  int n;
  ti_ref **ref;
  const tf_ynode **name, **read_write;
  ti_op *op;
} spaces;

static bool read_space(ti_case *c, const tf_ynode *node, const coefs *k, spaces *s) {
  static const tf_yrow rows[] = {{"name", TF_Y_SCALAR, true},
                                 {"projection", TF_Y_LIST, true},
                                 {"read-write", TF_Y_SCALAR, false}};
  const tf_ynode *v[3];
  ti_ref *r = TF_NEW(c->arena, ti_ref);
  if (!r) return ti_no_memory(c);
  if (!tf_yschema_kind(node, TF_Y_MAP, "a data space", c->diags) ||
      !tf_yschema_check(node, rows, 3, "a data space", v, c->diags))
    return false;
  for (int i = 0; i < s->n; i++)
    if (tf_ynode_is(v[0], s->name[i]->text))
      return tf_fail(c->diags, v[0]->at, TF_E_DUP, "data space '%.40s' given twice", v[0]->text);
  if (!tf_is_name(v[0]->text, v[0]->len, false))
    return tf_fail(c->diags, v[0]->at, TF_E_SYNTAX, "'%.40s' cannot name a data space", v[0]->text);
  bool flag;
  if (v[2] && !ti_read_bool(c, v[2], &flag)) return false;
  r->tensor = tensor_of(c, v[0]);
  r->at = v[0]->at;
  s->ref[s->n] = r;
  s->read_write[s->n] = v[2] && flag ? v[2] : NULL;
  s->name[s->n++] = v[0];
  return r->tensor >= 0 && read_projection(c, v[1], k, s->op, r);
}

static bool read_spaces(ti_case *c, const tf_ynode *list, const coefs *k, spaces *s) {
  s->ref = TF_ARRAY(c->arena, ti_ref *, list->n + 1);
  s->name = TF_ARRAY(c->arena, const tf_ynode *, list->n + 1);
  s->read_write = TF_ARRAY(c->arena, const tf_ynode *, list->n + 1);
  s->op->reads = TF_ARRAY(c->arena, ti_ref *, list->n + 1);
  if (!s->ref || !s->name || !s->read_write || !s->op->reads) return ti_no_memory(c);
  for (size_t i = 0; i < list->n; i++)
    if (!read_space(c, list->items[i], k, s)) return false;
  return true;
}

static int space_of(ti_case *c, const spaces *s, ti_word w) {
  char hint[160];
  tf_near near = tf_near_start(w.text, w.len);
  for (int i = 0; i < s->n; i++) {
    if (strlen(s->name[i]->text) == w.len && !memcmp(s->name[i]->text, w.text, w.len)) return i;
    tf_near_offer(&near, s->name[i]->text);
  }
  tf_fail(c->diags, w.at, TF_E_NAME, "op '%.40s' has no data space '%.*s'%s", s->op->name,
          (int)(w.len < 40 ? w.len : 40), w.text, tf_near_text(&near, hint, sizeof hint));
  return -1;
}

static bool add_read(ti_case *c, ti_word w, void *arg) {
  const spaces *s = arg;
  int at = space_of(c, s, w);
  if (at < 0) return false;
  for (int i = 0; i < s->op->n_reads; i++)
    if (s->op->reads[i] == s->ref[at])
      return tf_fail(c->diags, w.at, TF_E_DUP, "data space '%.40s' is read twice",
                     s->name[at]->text);
  s->op->reads[s->op->n_reads++] = s->ref[at];
  c->tensors[s->ref[at]->tensor].consumed = true;
  return true;
}

static bool set_out(ti_case *c, ti_word w, void *arg) {
  const spaces *s = arg;
  int at = space_of(c, s, w);
  if (at < 0) return false;
  if (s->op->out)
    return tf_fail(c->diags, w.at, TF_E_OUTPUT, "a second output of op '%.40s'", s->op->name);
  ti_tensor *z = &c->tensors[s->ref[at]->tensor];
  if (z->producer >= 0) {
    tf_fail(c->diags, w.at, TF_E_OUTPUT, "op '%.40s' makes '%.40s' again", s->op->name, z->name);
    tf_note(c->diags, c->ops[z->producer]->at, "op '%.40s' makes it, too",
            c->ops[z->producer]->name);
    return false;
  }
  s->op->out = s->ref[at];
  z->producer = c->n_ops - 1;
  return true;
}

/* ---- ops ---------------------------------------------------------------------------- */
static bool has_dim(ti_case *c, ti_word w, void *arg) {
  ti_op *op = arg;
  int d = ti_find_dim(c, w, false);
  if (d < 0) return false;
  if (op->has[d])
    return tf_fail(c->diags, w.at, TF_E_DUP, "dimension '%.40s' given twice", c->dims[d].name);
  return op->has[d] = true;
}

/* A data space that is neither read nor made is an error, and so is a sum over a dim that nothing
 * is indexed by. */
static bool check_op(ti_case *c, const spaces *s) {
  const ti_op *op = s->op;
  bool ok = true, met[TI_MAX_DIMS] = {false};
  if (!op->out || !op->n_reads)
    return tf_fail(c->diags, op->at, TF_E_OUTPUT,
                   "op '%.40s' needs something to read and one output", op->name);
  for (int i = 0; i < s->n; i++) {
    bool used = op->out == s->ref[i];
    for (int r = 0; r < op->n_reads; r++)
      used |= op->reads[r] == s->ref[i];
    if (!used)
      ok = tf_fail(c->diags, s->name[i]->at, TF_E_NAME,
                   "data space '%.40s' is neither in `ins` nor `out`", s->name[i]->text);
    if (s->read_write[i] && op->out != s->ref[i])
      ti_warn(c, s->read_write[i]->at,
              "without effect: read-write of '%.40s', which op '%.40s' only reads",
              s->name[i]->text, op->name);
    for (int r = 0; r < s->ref[i]->rank; r++)
      for (int t = 0; t < s->ref[i]->index[r].n; t++)
        met[s->ref[i]->index[r].term[t].dim] = true;
  }
  for (int d = 0; d < c->n_dims; d++)
    if (op->has[d] && !met[d] && c->dims[d].extent != 1)
      ok = tf_fail(c->diags, op->at, TF_E_INDEX,
                   "op '%.40s' has the dimension '%.40s', by which no data space of it is indexed",
                   op->name, c->dims[d].name);
  return ok;
}

/* What `type` says the op computes; TileFlow itself does not look. */
static void read_type(ti_case *c, const tf_ynode *node, ti_op *op) {
  int kind = tf_kind_find(node->text, node->len);
  if (kind >= 0 && tf_kind_arity((tf_kind)kind) == op->n_reads)
    op->kind = kind;
  else
    ti_warn(c, node->at,
            "not read: type '%.40s' of op '%.40s': it is taken as a product of what it reads",
            node->text, op->name);
}

enum {
  O_NAME,
  O_DIMS,
  O_SPACES,
  O_INS,
  O_OUT,
  O_TYPE,
  O_INPLACE,
  O_COEFS,
  O_DENSITY,
  O_DENSITIES,
  N_O,
  O_IO = N_O,
  O_INSTANCE,
  O_OPS,
  N_ALL
};
/* The keys of an op; a problem of a single op has them itself. */
#define OP_ROWS(required)                                                                          \
  [O_NAME] = {"name", TF_Y_SCALAR, required},                                                      \
  [O_DIMS] = {"dimensions", TF_Y_LIST | TF_Y_SCALAR, true},                                        \
  [O_SPACES] = {"data-spaces", TF_Y_LIST, required},                                               \
  [O_INS] = {"ins", TF_Y_LIST | TF_Y_SCALAR, required},                                            \
  [O_OUT] = {"out", TF_Y_LIST | TF_Y_SCALAR, required}, [O_TYPE] = {"type", TF_Y_SCALAR, false},   \
  [O_INPLACE] = {"inplace", TF_Y_SCALAR, false}, [O_COEFS] = {"coefficients", TF_Y_LIST, false},   \
  [O_DENSITY] = {"commonDensity", 0, false}, [O_DENSITIES] = {"densities", 0, false}

static bool read_op_keys(ti_case *c, const tf_ynode *node, const tf_ynode *const *v,
                         const coefs *k) {
  ti_op *op = TF_NEW(c->arena, ti_op);
  spaces s = {.op = op};
  if (!op) return ti_no_memory(c);
  if (c->n_ops == TI_MAX_OPS)
    return tf_fail(c->diags, node->at, TF_E_LIMIT, "more than %d ops", TI_MAX_OPS);
  *op = (ti_op){.name = v[O_NAME]->text, .at = v[O_NAME]->at, .kind = -1};
  for (int d = 0; d < TI_MAX_DIMS; d++)
    op->alias[d] = d;
  for (int o = 0; o < c->n_ops; o++)
    if (!strcmp(c->ops[o]->name, op->name))
      return tf_fail(c->diags, op->at, TF_E_DUP, "op '%.40s' given twice", op->name);
  if (!tf_is_name(op->name, v[O_NAME]->len, true))
    return tf_fail(c->diags, op->at, TF_E_SYNTAX, "'%.40s' cannot name an op", op->name);
  c->ops[c->n_ops++] = op; /* before its parts: what an op with faults makes, it makes */
  if (!ti_words(c, v[O_DIMS], has_dim, op) || !read_spaces(c, v[O_SPACES], k, &s)) return false;
  bool ok = ti_words(c, v[O_INS], add_read, &s);
  ok &= ti_words(c, v[O_OUT], set_out, &s);
  if (!ok || !check_op(c, &s)) return false;
  if (v[O_TYPE]) read_type(c, v[O_TYPE], op);
  if (v[O_INPLACE]) ti_warn(c, v[O_INPLACE]->at, "not modelled: inplace of op '%.40s'", op->name);
  for (int i = O_DENSITY; i <= O_DENSITIES; i++)
    if (v[i])
      ti_warn(c, v[i]->at, "not modelled: densities of op '%.40s': every element counts", op->name);
  return true;
}

static bool read_op(ti_case *c, const tf_ynode *node, const coefs *k) {
  static const tf_yrow rows[N_O] = {OP_ROWS(true)};
  const tf_ynode *v[N_O];
  return tf_yschema_kind(node, TF_Y_MAP, "an op", c->diags) &&
         tf_yschema_check(node, rows, N_O, "an op", v, c->diags) && read_op_keys(c, node, v, k);
}

/* ---- inputs and outputs ------------------------------------------------------------- */
static bool check_input(ti_case *c, ti_word w, void *arg) {
  int z = ti_find_tensor(c, w);
  if (z < 0) return false;
  ((bool *)arg)[z] = true;
  int o = c->tensors[z].producer;
  return o < 0 || tf_fail(c->diags, w.at, TF_E_OUTPUT, "'%.40s' is no input: op '%.40s' makes it",
                          c->tensors[z].name, c->ops[o]->name);
}

static bool check_output(ti_case *c, ti_word w, void *arg) {
  int z = ti_find_tensor(c, w);
  if (z < 0) return false;
  ((bool *)arg)[z] = true;
  if (c->tensors[z].producer < 0)
    return tf_fail(c->diags, w.at, TF_E_OUTPUT, "'%.40s' is no output: no op makes it",
                   c->tensors[z].name);
  if (c->tensors[z].consumed)
    ti_warn(c, w.at, "not modelled: '%.40s' as an output: an op reads it, so it is an intermediate",
            c->tensors[z].name);
  return true;
}

static bool check_io(ti_case *c, const tf_ynode *map) {
  static const tf_yrow rows[] = {{"ins", TF_Y_SCALAR | TF_Y_LIST, true},
                                 {"outs", TF_Y_SCALAR | TF_Y_LIST, true}};
  const tf_ynode *v[2];
  bool listed[TI_MAX_TENSORS] = {false};
  if (!tf_yschema_check(map, rows, 2, "'io'", v, c->diags)) return false;
  bool ok = ti_words(c, v[0], check_input, listed);
  ok &= ti_words(c, v[1], check_output, listed);
  for (int z = 0; z < c->n_tensors && ok; z++) {
    const ti_tensor *t = &c->tensors[z];
    if (listed[z] || (t->producer >= 0 && t->consumed)) continue;
    ok = tf_fail(c->diags, v[t->producer >= 0]->at, TF_E_MISSING, "'%.40s' is missing: %s", t->name,
                 t->producer >= 0 ? "no op reads it, so it is an output"
                                  : "no op makes it, so it is an input");
  }
  return ok;
}

bool ti_read_problem(ti_case *c, const tf_ynode *node) {
  static const tf_yrow several[N_ALL] = {
      OP_ROWS(false), [O_IO] = {"io", TF_Y_MAP, true}, [O_INSTANCE] = {"instance", TF_Y_MAP, true},
      [O_OPS] = {"ops", TF_Y_LIST, false}};
  const tf_ynode *v[N_ALL];
  coefs k = {.n = 0};
  if (!tf_yschema_kind(node, TF_Y_MAP, "problem", c->diags) ||
      !tf_yschema_check(node, several, N_ALL, "TileFlow's problem", v, c->diags) ||
      !ti_words(c, v[O_DIMS], add_dim, NULL))
    return false;
  const tf_ynode *ops = v[O_OPS];
  if (!ops && (!v[O_NAME] || !v[O_SPACES] || !v[O_INS] || !v[O_OUT]))
    return tf_fail(c->diags, node->at, TF_E_MISSING,
                   "a problem has `ops`, or is one op with name, data-spaces, ins and out");
  for (size_t i = 0; ops && i < ops->n; i++)
    if (!read_coefs(c, ops->items[i], &k)) return false;
  if (!read_coefs(c, node, &k) || !read_instance(c, v[O_INSTANCE], &k)) return false;
  bool ok = true;
  for (size_t i = 0; ops && i < ops->n; i++)
    ok &= read_op(c, ops->items[i], &k);
  if (!ops) ok = read_op_keys(c, node, v, &k);
  if (ok && !c->n_ops) ok = tf_fail(c->diags, node->at, TF_E_MISSING, "the problem has no op");
  return ok && check_io(c, v[O_IO]) && ti_name_sums(c);
}
