/* Timeloop's sparse keys (Sparseloop): formats in which memories hold data spaces, and what zeros
 * leave out. */
#include <string.h>

#include "model/import/timeloop/timeloop.h"

/* Keys with '_', as in 0.4, or '-'. */
enum { P_NAME, P_TARGET, P_ACTIONS, P_FORMATS, P_POINTS, N_P, P_OLD = 3 };
static const tf_yrow place_rows[N_P + P_OLD] = {
    [P_NAME] = {"name", TF_Y_SCALAR, false},
    [P_TARGET] = {"target", TF_Y_SCALAR, false},
    [P_ACTIONS] = {"action_optimization", TF_Y_LIST, false},
    [P_FORMATS] = {"representation_format", TF_Y_MAP, false},
    [P_POINTS] = {"compute_optimization", TF_Y_LIST, false},
    {"action-optimization", TF_Y_LIST, false},
    {"representation-format", TF_Y_MAP, false},
    {"compute-optimization", TF_Y_LIST, false},
};

/* ---- formats ------------------------------------------------------------------------ */
typedef struct {
  const char *word, *as;
} format_name;
static const format_name format_names[] = {
    {"UOP", "offsets"},
    {"uop", "offsets"},
    {"CP", "coordinate"},
    {"cp", "coordinate"},
    {"B", "bitmask"},
    {"b", "bitmask"},
    {"bitmask", "bitmask"},
    {"UB", "flags"},
    {"ub", "flags"},
    {"RLE", "run-length"},
    {"rle", "run-length"},
    {"U", "uncompressed"},
    {"uncompressed", "uncompressed"},
};

static bool read_format_name(tl_case *c, const tf_ynode *node, const char **as) {
  for (size_t i = 0; i < sizeof format_names / sizeof format_names[0]; i++)
    if (tf_ynode_is(node, format_names[i].word)) {
      *as = format_names[i].as;
      return true;
    }
  return tf_fail(c->diags, node->at, TF_E_RANGE,
                 "no format '%.30s' here: UOP (offsets), CP (coordinates), B (a bitmask), UB (one "
                 "beside all values), RLE (run lengths) or U (uncompressed)",
                 node->text);
}

/* The ranks of a data space that one of the dims moves. */
static uint32_t ranks_of(const tl_space *s, uint32_t dims) {
  uint32_t ranks = 0;
  for (int r = 0; r < s->rank; r++)
    for (int t = 0; t < s->index[r].n; t++)
      if (dims >> s->index[r].term[t].dim & 1) ranks |= 1u << r;
  return ranks;
}

/* `flattened_rankIDs`, [[R, S], ..]: the dims whose loops make one rank of the format, as ranks of
 * the data space. */
static bool read_flattened(tl_case *c, const tf_ynode *node, const tl_space *s, uint32_t *ranks) {
  uint32_t dims = 0;
  for (size_t i = 0; i < node->n; i++) {
    const tf_ynode *list = node->items[i];
    if (!tf_yschema_kind(list, TF_Y_LIST, "a list of flattened dims", c->diags)) return false;
    for (size_t k = 0; k < list->n; k++) {
      const tf_ynode *name = list->items[k];
      if (!tf_yschema_kind(name, TF_Y_SCALAR, "a flattened dim", c->diags)) return false;
      const int d = tl_find_dim(c, name->at, name->text, name->len);
      if (d < 0) return false;
      dims |= 1u << d;
    }
  }
  *ranks = ranks_of(s, dims);
  return true;
}

static bool read_rank(tl_case *c, const tf_ynode *node, const tl_space *s, tl_packing *out) {
  enum { R_FORMAT, R_FLAT, R_OLD_FLAT, R_BITS, R_OLD_BITS, R_PAYLOAD, R_OLD_PAYLOAD, N_R };
  static const tf_yrow rows[N_R] = {[R_FORMAT] = {"format", TF_Y_SCALAR, true},
                                    [R_FLAT] = {"flattened_rankIDs", TF_Y_LIST, false},
                                    [R_OLD_FLAT] = {"flattened-rankIDs", TF_Y_LIST, false},
                                    [R_BITS] = {"metadata_word_bits", TF_Y_SCALAR, false},
                                    [R_OLD_BITS] = {"metadata-word-bits", TF_Y_SCALAR, false},
                                    [R_PAYLOAD] = {"payload_word_bits", TF_Y_SCALAR, false},
                                    [R_OLD_PAYLOAD] = {"payload-word-bits", TF_Y_SCALAR, false}};
  const tf_ynode *v[N_R];
  if (!tf_yschema_kind(node, TF_Y_MAP, "a rank of a format", c->diags) ||
      !tf_yschema_check(node, rows, N_R, "a rank of a format", v, c->diags) ||
      !read_format_name(c, v[R_FORMAT], &out->as))
    return false;
  out->at = node->at;
  for (int i = R_FLAT; i < N_R; i += 2)
    if (!v[i]) v[i] = v[i + 1];
  if (v[R_FLAT] && !read_flattened(c, v[R_FLAT], s, &out->ranks)) return false;
  const tf_ynode *bits = !strcmp(out->as, "offsets") ? v[R_PAYLOAD] : v[R_BITS];
  return !bits || !strcmp(out->as, "uncompressed") ||
         tl_int(c, bits, "bits of an entry", 1, &out->bits);
}

/* A rank of loops over several ranks of the data space is none of a format here, but for all of
 * them at once: then the ranks inside tell all, and offsets outside are few. */
static bool fuse_flattened(tl_case *c, const tl_level *l, const tl_space *s, tl_format *f) {
  bool flat = false;
  for (int i = 0; i < f->n; i++)
    flat |= (f->rank[i].ranks & (f->rank[i].ranks - 1)) != 0;
  if (!flat || f->n == 1) return true;
  for (int i = 0; i + 1 < f->n; i++)
    if (strcmp(f->rank[i].as, "offsets") != 0)
      return tf_fail(c->diags, f->rank[i].at, TF_E_SHAPE,
                     "a rank over several flattened dims, and another inside it: here only UOP may "
                     "stand outside one");
    else
      tl_lost(c, f->rank[i].at, "not modelled: offsets (UOP) of flattened dims of %.60s at %.60s",
              s->name, l->name);
  f->rank[0] = f->rank[f->n - 1];
  f->n = 1;
  return true;
}

static bool read_format(tl_case *c, const tf_ynode *node, tl_level *l) {
  enum { F_NAME, F_RANKS, F_ORDER, F_OLD_ORDER, N_F };
  static const tf_yrow rows[N_F] = {[F_NAME] = {"name", TF_Y_SCALAR, true},
                                    [F_RANKS] = {"ranks", TF_Y_LIST, true},
                                    [F_ORDER] = {"rank_application_order", TF_Y_SCALAR, false},
                                    [F_OLD_ORDER] = {"rank-application-order", TF_Y_SCALAR, false}};
  const tf_ynode *v[N_F];
  if (!tf_yschema_kind(node, TF_Y_MAP, "a format of a data space", c->diags) ||
      !tf_yschema_check(node, rows, N_F, "a format of a data space", v, c->diags))
    return false;
  const int z = tl_find_space(c, v[F_NAME]);
  if (z < 0) return false;
  const tf_ynode *order = v[F_ORDER] ? v[F_ORDER] : v[F_OLD_ORDER];
  if (order && !tf_ynode_is(order, "inner-to-outer"))
    return tf_fail(c->diags, order->at, TF_E_RANGE,
                   "ranks of a format stand for the innermost loops: 'inner-to-outer', not '%.40s'",
                   order->text);
  tl_format *f = &l->format[z];
  if (f->n)
    return tf_fail(c->diags, v[F_NAME]->at, TF_E_DUP, "a second format of '%.40s' at '%.40s'",
                   v[F_NAME]->text, l->name);
  if (v[F_RANKS]->n < 1 || v[F_RANKS]->n > TL_MAX_RANKS)
    return tf_fail(c->diags, v[F_RANKS]->at, TF_E_SHAPE, "a format of %zu ranks: 1 to %d are read",
                   v[F_RANKS]->n, TL_MAX_RANKS);
  for (size_t i = 0; i < v[F_RANKS]->n; i++)
    if (!read_rank(c, v[F_RANKS]->items[i], &c->problem.space[z], &f->rank[f->n++])) return false;
  for (int i = 0; i < f->n; i++)
    if (!f->rank[i].bits && !strcmp(f->rank[i].as, "run-length")) f->rank[i].bits = l->entry_bits;
  return fuse_flattened(c, l, &c->problem.space[z], f);
}

static bool read_formats(tl_case *c, const tf_ynode *node, tl_level *l) {
  static const tf_yrow rows[] = {{"data_spaces", TF_Y_LIST, false},
                                 {"data-spaces", TF_Y_LIST, false}};
  const tf_ynode *v[2];
  bool ok = true;
  if (!tf_yschema_check(node, rows, 2, "a representation format", v, c->diags)) return false;
  if (!v[0]) v[0] = v[1];
  if (!v[0])
    return tf_fail(c->diags, node->at, TF_E_MISSING,
                   "a representation format needs the key 'data_spaces'");
  for (size_t i = 0; i < v[0]->n; i++)
    ok &= read_format(c, v[0]->items[i], l);
  return ok;
}

/* ---- rules -------------------------------------------------------------------------- */
static bool read_kind(tl_case *c, const tf_ynode *node, tl_saving *kind) {
  *kind = tf_ynode_is(node, "skipping") ? TL_SKIPPING : TL_GATING;
  return *kind == TL_SKIPPING || tf_ynode_is(node, "gating") ||
         tf_fail(c->diags, node->at, TF_E_RANGE, "no type '%.30s': gating or skipping", node->text);
}

/* The first memory further in than level `at` that keeps data space z; NULL: units are served from
 * here. */
static const tl_level *kept_inside(const tl_case *c, int at, int z) {
  for (int i = at + 1; i < c->n_levels && !c->open; i++)
    if (c->level[i].kind == TL_MEMORY && !c->level[i].nest.bypass[z]) return &c->level[i];
  return NULL;
}

/* The memory that serves what level `at` is told of: itself, or, where an operand passes it by, the
 * next one further out that keeps it.  -1: none, as Timeloop has it for a result; -2: with an
 * error.  *tiles: it serves a memory. */
static int server_of(tl_case *c, const tf_ynode *target, int at, int z, bool *tiles) {
  const int told = at;
  const tl_level *in = kept_inside(c, at, z);
  *tiles = in != NULL;
  if (in && (c->problem.space[z].output || c->level[at].nest.bypass[z])) {
    tf_fail(c->diags, target->at, TF_E_SHAPE,
            "'%.40s' passes tiles of '%.40s' to '%.40s': rules here are of tiles that are fetched "
            "to be read from what the memory keeps, or of what units are served with, at '%.40s'",
            c->level[at].name, target->text, in->name, in->name);
    return -2;
  }
  while (at > 0 && (c->level[at].kind != TL_MEMORY || c->level[at].nest.bypass[z]))
    at--;
  if (at == told || !c->problem.space[z].output) return at;
  tl_lost(
      c, target->at,
      "without effect, as in Timeloop: a rule of '%.60s' at '%.60s', which the result passes by",
      target->text, c->level[told].name);
  return -1;
}

static bool read_conditions(tl_case *c, const tf_ynode *list, int target, uint32_t *on) {
  for (size_t i = 0; i < list->n; i++) {
    const tf_ynode *name = list->items[i];
    if (!tf_yschema_kind(name, TF_Y_SCALAR, "a condition", c->diags)) return false;
    const int z = tl_find_space(c, name);
    if (z < 0) return false;
    if (c->problem.space[z].output)
      return tf_fail(c->diags, name->at, TF_E_OUTPUT,
                     "'%.40s' is the result: zeros of operands leave accesses out", name->text);
    if (z == target)
      return tf_fail(
          c->diags, name->at, TF_E_SHAPE,
          "'%.40s' on zeros of its own: a format without them (CP, B, RLE) leaves them out",
          name->text);
    *on |= 1u << z;
  }
  return *on || tf_fail(c->diags, list->at, TF_E_MISSING,
                        "a rule needs a data space whose zeros leave the access out");
}

static bool read_option(tl_case *c, const tf_ynode *node, int at, tl_saving kind) {
  static const tf_yrow rows[] = {{"target", TF_Y_SCALAR, true},
                                 {"condition_on", TF_Y_LIST, false},
                                 {"condition-on", TF_Y_LIST, false}};
  const tf_ynode *v[3];
  uint32_t on = 0;
  if (!tf_yschema_kind(node, TF_Y_MAP, "an option", c->diags) ||
      !tf_yschema_check(node, rows, 3, "an option", v, c->diags))
    return false;
  if (!v[1]) v[1] = v[2];
  if (!v[1])
    return tf_fail(c->diags, node->at, TF_E_MISSING, "an option needs the key 'condition_on'");
  const int z = tl_find_space(c, v[0]);
  if (z < 0 || !read_conditions(c, v[1], z, &on)) return false;
  bool tiles = false;
  const int server = server_of(c, v[0], at, z, &tiles);
  if (server < 0) return server == -1;
  tl_level *l = &c->level[server];
  (tiles ? l->tiles : l->saves)[kind][z] |= on;
  c->gated |= kind == TL_GATING && !tiles ? on : 0;
  return true;
}

static bool read_action(tl_case *c, const tf_ynode *node, int at) {
  static const tf_yrow rows[] = {{"type", TF_Y_SCALAR, true}, {"options", TF_Y_LIST, true}};
  const tf_ynode *v[2];
  tl_saving kind;
  bool ok = true;
  if (!tf_yschema_kind(node, TF_Y_MAP, "an action optimization", c->diags) ||
      !tf_yschema_check(node, rows, 2, "an action optimization", v, c->diags) ||
      !read_kind(c, v[0], &kind))
    return false;
  for (size_t i = 0; i < v[1]->n; i++)
    ok &= read_option(c, v[1]->items[i], at, kind);
  return ok;
}

/* Of units: zeros of any operand. */
static bool read_points(tl_case *c, const tf_ynode *node, tl_level *l) {
  static const tf_yrow rows[] = {{"type", TF_Y_SCALAR, true}};
  const tf_ynode *v[1];
  tl_saving kind;
  if (!tf_yschema_kind(node, TF_Y_MAP, "a compute optimization", c->diags) ||
      !tf_yschema_check(node, rows, 1, "a compute optimization", v, c->diags) ||
      !read_kind(c, v[0], &kind))
    return false;
  for (int z = 0; z < c->problem.n_spaces; z++)
    if (!c->problem.space[z].output) l->points[kind] |= 1u << z;
  return true;
}

/* Refuses what stands at a level of another kind. */
static bool fits(tl_case *c, const tf_ynode *node, const tl_level *l, bool memory) {
  return !node || (l->kind == TL_MEMORY) == memory ||
         tf_fail(c->diags, node->at, TF_E_SHAPE, "'%.40s' is no %s", l->name,
                 memory ? "memory" : "compute unit");
}

/* The memory or unit of that name; -1 with an error. */
static int find_place(tl_case *c, const tf_ynode *name) {
  for (int i = 0; i < c->n_levels; i++)
    if (c->level[i].kind == TL_COMPUTE && tf_ynode_is(name, c->level[i].name)) return i;
  return tl_find_level(c, name);
}

static bool read_place(tl_case *c, const tf_ynode *node, int at) {
  const tf_ynode *v[N_P + P_OLD];
  bool ok = true;
  if (!tf_yschema_kind(node, TF_Y_MAP, "a target of sparse optimizations", c->diags) ||
      !tf_yschema_check(node, place_rows, N_P + P_OLD, "a target of sparse optimizations", v,
                        c->diags))
    return false;
  for (int i = P_ACTIONS; i < N_P; i++)
    if (!v[i]) v[i] = v[i + P_OLD];
  const tf_ynode *name = v[P_NAME] ? v[P_NAME] : v[P_TARGET];
  if (at < 0 && !name)
    return tf_fail(c->diags, node->at, TF_E_MISSING,
                   "a target of sparse optimizations needs the key 'name'");
  if (at < 0 && (at = find_place(c, name)) < 0) return false;
  tl_level *l = &c->level[at];
  if (!fits(c, v[P_ACTIONS], l, true) || !fits(c, v[P_FORMATS], l, true)) return false;
  if (v[P_POINTS] && l->kind != TL_COMPUTE) return fits(c, v[P_POINTS], l, false);
  if (v[P_FORMATS]) ok &= read_formats(c, v[P_FORMATS], l);
  for (size_t i = 0; v[P_ACTIONS] && i < v[P_ACTIONS]->n; i++)
    ok &= read_action(c, v[P_ACTIONS]->items[i], at);
  for (size_t i = 0; v[P_POINTS] && i < v[P_POINTS]->n; i++)
    ok &= read_points(c, v[P_POINTS]->items[i], l);
  return ok;
}

/* ---- the order of ranks --------------------------------------------------------------- */
/* The place of the outermost loop that moves rank r: the smaller the further out. */
static int outermost_loop(const tl_case *c, const tl_space *s, int r) {
  int at = 0;
  for (int l = 0; l < c->n_levels; l++)
    for (int k = 0; k < 2; k++) {
      const tl_loops *loops = k ? &c->level[l].nest.spatial : &c->level[l].nest.temporal;
      for (int i = c->problem.n_dims - 1; i >= 0; i--, at++) {
        const int d = loops->given ? loops->order[i] : i;
        if (loops->trips[d] > 1 && ranks_of(s, 1u << d) >> r & 1) return at;
      }
    }
  return at;
}

/* Sparseloop's ranks are loops, so that a tensor in a format of several lies in the order of its
 * loops. */
static void order_ranks(const tl_case *c, tl_space *s) {
  for (int i = 1; i < s->rank; i++)
    for (int k = i; k > 0 && outermost_loop(c, s, k) < outermost_loop(c, s, k - 1); k--) {
      const tl_index index = s->index[k];
      s->index[k] = s->index[k - 1];
      s->index[k - 1] = index;
    }
}

bool tl_read_sparse(tl_case *c, const tf_ynode *section) {
  static const tf_yrow rows[] = {{"targets", TF_Y_LIST, true}, {"version", TF_Y_SCALAR, false}};
  const tf_ynode *v[2];
  bool ok = true;
  if (section && (!tf_yschema_kind(section, TF_Y_MAP, "sparse optimizations", c->diags) ||
                  !tf_yschema_check(section, rows, 2, "sparse optimizations", v, c->diags)))
    return false;
  for (size_t i = 0; section && i < v[0]->n; i++)
    ok &= read_place(c, v[0]->items[i], -1);
  for (int l = 0; l < c->n_levels; l++)
    if (c->level[l].sparse) ok &= read_place(c, c->level[l].sparse, l);
  for (int l = 0; l < c->n_levels; l++) /* units pass by points whose operand is gated */
    if (c->level[l].kind == TL_COMPUTE) c->level[l].points[TL_SKIPPING] |= c->gated;
  for (int z = 0; z < c->problem.n_spaces && !c->open; z++) {
    bool several = false;
    for (int l = 0; l < c->n_levels; l++)
      several |= c->level[l].format[z].n > 1;
    if (several) order_ranks(c, &c->problem.space[z]);
  }
  return ok;
}

/* ---- writing ------------------------------------------------------------------------ */
static void write_names(const tl_case *c, uint32_t on, tf_page *out) {
  const char *sep = "[";
  for (int z = 0; z < c->problem.n_spaces; z++) {
    if (!(on >> z & 1)) continue;
    tf_page_add(out, "%s%s", sep, c->problem.space[z].name);
    sep = ", ";
  }
  tf_page_add(out, "]");
}

static void write_format(const tl_case *c, const tl_level *l, int z, tf_page *out) {
  const tl_format *f = &l->format[z];
  tf_page_add(out, "    - {tensors: [%s], ranks: [", c->problem.space[z].name);
  for (int i = 0; i < f->n; i++)
    if (f->rank[i].bits)
      tf_page_add(out, "%s{as: %s, bits: %lld}", i ? ", " : "", f->rank[i].as,
                  (long long)f->rank[i].bits);
    else
      tf_page_add(out, "%s%s", i ? ", " : "", f->rank[i].as);
  tf_page_add(out, "]");
  if (l->read_pj >= 0)
    tf_page_add(out, ", energy: {read: %.17g pJ, write: %.17g pJ}", l->entry_read_pj,
                l->entry_write_pj);
  tf_page_add(out, "}\n");
}

void tl_write_sparse(const tl_case *c, const tl_level *l, tf_page *out) {
  static const char *const key[TL_N_SAVINGS] = {[TL_GATING] = "gating", [TL_SKIPPING] = "skipping"};
  bool any = false;
  for (int z = 0; z < c->problem.n_spaces; z++) {
    if (!l->format[z].n) continue;
    if (!any) tf_page_add(out, "    format:\n");
    any = true;
    write_format(c, l, z, out);
  }
  for (int k = 0; k < TL_N_SAVINGS; k++) {
    const char *sep = "[";
    for (int i = 0; i < 2 * c->problem.n_spaces; i++) {
      const int z = i / 2, tiles = i % 2;
      const uint32_t on = tiles ? l->tiles[k][z] : l->saves[k][z];
      if (!on) continue;
      if (*sep == '[') tf_page_add(out, "    %s: ", key[k]);
      tf_page_add(out, "%s{target: [%s], on: ", sep, c->problem.space[z].name);
      write_names(c, on, out);
      tf_page_add(out, "%s}", tiles ? ", tiles: true" : "");
      sep = ", ";
    }
    if (*sep == ',') tf_page_add(out, "]\n");
    if (!l->points[k]) continue;
    tf_page_add(out, "    %s: [{on: ", key[k]);
    write_names(c, l->points[k], out);
    tf_page_add(out, "}]\n");
  }
}
