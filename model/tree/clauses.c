/* What follows the head of a line: loops, and lists of tensors. */
#include <string.h>

#include "model/tree/parse.h"

/* The clauses of a line, in the order of formats.md; each may stand once. */
typedef enum { FOR, SPATIAL, BYPASS, KEEP, RETAIN, STREAM, N_CLAUSES } clause;
static const char *const clause_keys[N_CLAUSES] = {"for", "spatial", "bypass", "keep", "retain", "stream"};

static clause clause_of(const tf_mlex *x) {
  int c = 0;
  while (c < N_CLAUSES && !tf_mlex_word(x, clause_keys[c]))
    c++;
  return (clause)c;
}

/* Passes tokens up to the next clause of the line, or to its end. */
static void skip_clause(tf_mlex *x) {
  while (x->tok.kind != TF_M_END && clause_of(x) == N_CLAUSES)
    tf_mlex_next(x);
}

/* Passes tokens up to the next loop or clause of the line, or to its end. */
static void skip_loop(tf_mlex *x) {
  while (x->tok.kind != TF_M_END && clause_of(x) == N_CLAUSES) {
    const char *p = x->p;
    while (p < x->end && *p == ' ')
      p++;
    if (x->tok.kind == TF_M_WORD && p < x->end && *p == '=') return;
    tf_mlex_next(x);
  }
}

/* At most as many entries as words can stand on the rest of the line. */
static size_t words_left(const tf_mlex *x) { return x->tok.len + (size_t)(x->end - x->p); }

/* ---- loops -------------------------------------------------------------------------- */
static bool read_count(tf_tree_reader *r, tf_mlex *x, const char *what, int64_t *out) {
  if (x->tok.kind != TF_M_NUMBER) return tf_mapping_expected(r, x, what);
  if (x->tok.huge || x->tok.number < 1)
    return tf_fail(r->diags, x->tok.at, TF_E_RANGE, "a trip count lies in 1 .. 2^63 - 1, not %.*s",
                   (int)(x->tok.len < 60 ? x->tok.len : 60), x->tok.text);
  *out = x->tok.number;
  tf_mlex_next(x);
  return true;
}

/* What follows "?{". */
static bool read_choices(tf_tree_reader *r, tf_mlex *x, tf_loop *l) {
  size_t room = 1;
  for (const char *p = x->p; p < x->end && *p != '}'; p++)
    room += *p == ',';
  int64_t *choices = TF_ARRAY(r->arena, int64_t, room + 1);
  if (!choices) return tf_tree_no_memory(r);
  l->choices = choices;
  do {
    if (!read_count(r, x, "a trip count", &choices[l->n_choices])) return false;
    l->n_choices++;
  } while ((size_t)l->n_choices <= room && tf_mlex_take(x, ','));
  return tf_mlex_take(x, '}') || tf_mapping_expected(r, x, "',' or '}'");
}

static bool read_trip(tf_tree_reader *r, tf_mlex *x, tf_loop *l) {
  if (!tf_mlex_take(x, '?')) return read_count(r, x, "a trip count or ?", &l->trip);
  r->tree->open = true;
  if (tf_mlex_take(x, '<')) return read_count(r, x, "the largest trip count", &l->max);
  return tf_mlex_take(x, '{') ? read_choices(r, x, l) : true;
}

static bool read_axis(tf_tree_reader *r, tf_mlex *x, tf_loop *l) {
  if (!tf_mlex_take(x, '@')) return tf_mapping_expected(r, x, "'@x' or '@y'");
  bool is_x = tf_mlex_word(x, "x");
  if (!is_x && !tf_mlex_word(x, "y")) return tf_mapping_expected(r, x, "axis x or y");
  l->axis = is_x ? TF_SPATIAL_X : TF_SPATIAL_Y;
  tf_mlex_next(x);
  return true;
}

/* One loop; its place spans from the dim to the last token.  False if it does not parse;
 * l->dim is -1 if only its name is unknown. */
static bool read_loop(tf_tree_reader *r, tf_mlex *x, bool spatial, tf_loop *l) {
  tf_mtok dim = x->tok;
  *l = (tf_loop){.dim = -1, .axis = TF_TEMPORAL, .at = dim.at};
  if (dim.kind != TF_M_WORD) return tf_mapping_expected(r, x, "a loop (dim=trips)");
  tf_mlex_next(x);
  if (!tf_mlex_take(x, '=')) return tf_mapping_expected(r, x, "'=' and a trip count");
  if (!read_trip(r, x, l) || (spatial && !read_axis(r, x, l))) return false;
  l->at.len = x->last.col - dim.at.col;
  if (!spatial && x->tok.kind == TF_M_PUNCT && x->tok.punct == '@')
    return tf_fail(r->diags, x->tok.at, TF_E_SYNTAX, "an axis on a loop of 'for': put the loop behind 'spatial'");
  l->dim = tf_mapping_dim(r, &dim);
  return true;
}

/* Reads loops up to the next clause; those with an error are left out.  Braces around them leave their
 * order open. */
static void read_loops(tf_tree_reader *r, tf_node *n, tf_mlex *x, bool spatial) {
  bool braces = !spatial && tf_mlex_take(x, '{');
  n->order_open |= braces;
  r->tree->open |= braces;
  do {
    tf_loop *l = &n->loops[n->n_loops];
    bool parsed = read_loop(r, x, spatial, l);
    if (!parsed) skip_loop(x);
    if (!parsed || l->dim < 0) {
      r->loops_ok = false;
      continue;
    }
    n->n_loops++;
    n->n_temporal += !spatial;
    if (braces && tf_mlex_take(x, '}')) return;
  } while (x->tok.kind != TF_M_END && clause_of(x) == N_CLAUSES);
  if (braces && r->loops_ok) r->loops_ok = tf_mapping_expected(r, x, "a loop or '}'");
}

/* ---- lists of tensors --------------------------------------------------------------- */
static void report_twice(tf_tree_reader *r, tf_loc at, tf_loc first, int tensor) {
  tf_fail(r->diags, at, TF_E_DUP, "'%.60s' is listed twice", r->tree->workload->tensors[tensor].name);
  tf_note(r->diags, first, "first listed here");
}

/* Appends a tensor that is not in the list yet. */
static void add_named(tf_tree_reader *r, tf_named *list, int *n, tf_named z) {
  for (int i = 0; i < *n; i++)
    if (list[i].tensor == z.tensor) {
      report_twice(r, z.at, list[i].at, z.tensor);
      return;
    }
  list[(*n)++] = z;
}

/* The tensors of bypass, retain or stream; false if one could not be read. */
static bool read_list(tf_tree_reader *r, tf_mlex *x, tf_named **list, int *n) {
  bool ok = true;
  *list = TF_ARRAY(r->arena, tf_named, words_left(x) / 2 + 2);
  if (!*list) return tf_tree_no_memory(r);
  do {
    if (x->tok.kind != TF_M_WORD) {
      ok = tf_mapping_expected(r, x, "a tensor");
      skip_clause(x);
      return ok;
    }
    int z = tf_mapping_tensor(r, &x->tok);
    if (z >= 0) add_named(r, *list, n, (tf_named){z, x->tok.at});
    ok = ok && z >= 0;
    tf_mlex_next(x);
  } while (x->tok.kind != TF_M_END && clause_of(x) == N_CLAUSES);
  return ok;
}

static bool read_keep(tf_tree_reader *r, tf_mlex *x, tf_keep *k) {
  tf_mtok tensor = x->tok;
  if (tensor.kind != TF_M_WORD) return tf_mapping_expected(r, x, "TENSOR@LEVEL");
  tf_mlex_next(x);
  if (!tf_mlex_take(x, '@') || x->tok.kind != TF_M_WORD)
    return tf_mapping_expected(r, x, "'@' and the memory to keep it in");
  *k = (tf_keep){tf_mapping_tensor(r, &tensor), tf_mapping_level(r, &x->tok), tensor.at};
  tf_mlex_next(x);
  k->at.len = x->last.col - k->at.col;
  return true;
}

static void read_keeps(tf_tree_reader *r, tf_node *n, tf_mlex *x) {
  n->keep = TF_ARRAY(r->arena, tf_keep, words_left(x) / 3 + 2);
  if (!n->keep) {
    tf_tree_no_memory(r);
    return;
  }
  do {
    tf_keep k;
    int twice = 0;
    if (!read_keep(r, x, &k)) {
      skip_clause(x);
      return;
    }
    while (twice < n->n_keep && n->keep[twice].tensor != k.tensor)
      twice++;
    if (twice < n->n_keep)
      report_twice(r, k.at, n->keep[twice].at, k.tensor);
    else if (k.tensor >= 0 && k.level >= 0)
      n->keep[n->n_keep++] = k;
  } while (x->tok.kind != TF_M_END && clause_of(x) == N_CLAUSES);
}

/* ---- clauses ------------------------------------------------------------------------ */
static void read_clause(tf_tree_reader *r, tf_node *n, tf_mlex *x, clause c) {
  switch (c) {
  case FOR:
  case SPATIAL: read_loops(r, n, x, c == SPATIAL); break;
  case BYPASS: read_list(r, x, &n->bypass, &n->n_bypass); break;
  case KEEP: read_keeps(r, n, x); break;
  case RETAIN: read_list(r, x, &n->retain, &n->n_retain); break;
  case STREAM: r->streams_ok &= read_list(r, x, &n->stream, &n->n_stream); break;
  case N_CLAUSES: break;
  }
}

/* Whether clause c may stand at the token that stands next, on a Tile or a scope. */
static bool clause_fits(tf_tree_reader *r, const tf_mlex *x, clause c, bool tile, unsigned seen) {
  if (c == N_CLAUSES)
    return tf_mapping_expected(r, x, tile ? "'for', 'spatial' or 'bypass'" : "'keep', 'retain' or 'stream'");
  if (tile != (c <= BYPASS))
    return tf_fail(r->diags, x->tok.at, TF_E_SYNTAX, "'%s' stands on a %s, not on a %s", clause_keys[c],
                   c <= BYPASS ? "memory's line" : "scope", tile ? "memory's line" : "scope");
  if (seen & (1u << c)) return tf_fail(r->diags, x->tok.at, TF_E_SYNTAX, "'%s' twice on a line", clause_keys[c]);
  if (c == FOR && (seen & (1u << SPATIAL)))
    return tf_fail(r->diags, x->tok.at, TF_E_SYNTAX, "'for' stands before 'spatial': spatial loops are innermost");
  return true;
}

static void read_clauses(tf_tree_reader *r, tf_node *n, tf_mlex *x, bool tile) {
  unsigned seen = 0;
  while (x->tok.kind != TF_M_END) {
    clause c = clause_of(x);
    bool fits = clause_fits(r, x, c, tile, seen);
    tf_mlex_next(x);
    if (fits) {
      seen |= 1u << c;
      read_clause(r, n, x, c);
    } else {
      r->loops_ok = r->streams_ok = false;
      skip_clause(x);
    }
  }
}

void tf_read_tile_rest(tf_tree_reader *r, tf_node *n, tf_mlex *x) {
  size_t most = 2;
  for (const char *p = x->tok.text; p < x->end; p++)
    most += *p == '=';
  n->loops = TF_ARRAY(r->arena, tf_loop, most);
  if (n->loops)
    read_clauses(r, n, x, true);
  else
    tf_tree_no_memory(r);
}

void tf_read_scope_rest(tf_tree_reader *r, tf_node *n, tf_mlex *x) { read_clauses(r, n, x, false); }
