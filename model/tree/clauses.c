/* The rest of a line after its head: loops, and lists of tensors. */
#include <string.h>

#include "model/tree/parse.h"

typedef enum {
#define X(id, key) id,
  TF_CLAUSES(X)
#undef X
      N_CLAUSES
} clause;
static const char *const clause_keys[N_CLAUSES] = {
#define X(id, key) key,
    TF_CLAUSES(X)
#undef X
};

/* What stands behind the token at hand; 0: nothing. */
static char behind(const tf_mlex *x) {
  const char *p = x->p;
  while (p < x->end && *p == ' ')
    p++;
  return p < x->end ? *p : '\0';
}

/* A dim or a tensor may be called like a clause: what a loop or a keep begins with is none. */
static clause clause_of(const tf_mlex *x) {
  int c = behind(x) == '=' || behind(x) == '@' ? N_CLAUSES : 0;
  while (c < N_CLAUSES && !tf_mlex_word(x, clause_keys[c]))
    c++;
  return (clause)c;
}

/* Skips tokens up to the next clause of the line, or to its end. */
static void skip_clause(tf_mlex *x) {
  while (x->tok.kind != TF_M_END && clause_of(x) == N_CLAUSES)
    tf_mlex_next(x);
}

/* Skips tokens up to the next loop or clause of the line, or to its end. */
static void skip_loop(tf_mlex *x) {
  while (x->tok.kind != TF_M_END && clause_of(x) == N_CLAUSES) {
    if (x->tok.kind == TF_M_WORD && behind(x) == '=') return;
    tf_mlex_next(x);
  }
}

/* ---- loops -------------------------------------------------------------------------- */
static bool read_count(tf_build *b, tf_mlex *x, const char *what, int64_t *out) {
  if (x->tok.kind != TF_M_NUMBER) return tf_mapping_expected(b, x, what);
  if (x->tok.huge || x->tok.number < 1)
    return tf_fail(b->diags, x->tok.at, TF_E_RANGE, "a trip count lies in 1 .. 2^63 - 1, not %.*s",
                   (int)(x->tok.len < 60 ? x->tok.len : 60), x->tok.text);
  *out = x->tok.number;
  tf_mlex_next(x);
  return true;
}

/* Reads what follows "?{". */
static bool read_choices(tf_build *b, tf_mlex *x, tf_loop *l) {
  int64_t *choices = NULL;
  do {
    l->choices = choices = tf_build_room(b, choices, l->n_choices, sizeof *choices);
    if (!choices || !read_count(b, x, "a trip count", &choices[l->n_choices])) return false;
    l->n_choices++;
  } while (tf_mlex_take(x, ','));
  return tf_mlex_take(x, '}') || tf_mapping_expected(b, x, "',' or '}'");
}

static bool read_trip(tf_build *b, tf_mlex *x, tf_loop *l) {
  if (!tf_mlex_take(x, '?')) return read_count(b, x, "a trip count or ?", &l->trip);
  b->tree->open = true;
  if (tf_mlex_take(x, '<')) return read_count(b, x, "the largest trip count", &l->max);
  return tf_mlex_take(x, '{') ? read_choices(b, x, l) : true;
}

static bool read_axis(tf_build *b, tf_mlex *x, tf_loop *l) {
  if (!tf_mlex_take(x, '@')) return tf_mapping_expected(b, x, "'@x' or '@y'");
  bool is_x = tf_mlex_word(x, "x");
  if (!is_x && !tf_mlex_word(x, "y")) return tf_mapping_expected(b, x, "axis x or y");
  l->axis = is_x ? TF_SPATIAL_X : TF_SPATIAL_Y;
  tf_mlex_next(x);
  return true;
}

/* One loop; its place spans from the dim to the last token.  False if it does not parse;
 * l->dim is -1 if only its name is unknown. */
static bool read_loop(tf_build *b, tf_mlex *x, bool spatial, tf_loop *l) {
  tf_mtok dim = x->tok;
  *l = (tf_loop){.dim = -1, .axis = TF_TEMPORAL, .at = dim.at};
  if (dim.kind != TF_M_WORD) return tf_mapping_expected(b, x, "a loop (dim=trips)");
  tf_mlex_next(x);
  if (!tf_mlex_take(x, '=')) return tf_mapping_expected(b, x, "'=' and a trip count");
  if (!read_trip(b, x, l) || (spatial && !read_axis(b, x, l))) return false;
  l->at.len = x->last.col - dim.at.col;
  if (!spatial && x->tok.kind == TF_M_PUNCT && x->tok.punct == '@')
    return tf_fail(b->diags, x->tok.at, TF_E_SYNTAX,
                   "an axis on a loop of 'for': put the loop behind 'spatial'");
  l->dim = tf_mapping_dim(b, &dim);
  return true;
}

/* Reads loops up to the next clause; those with an error are left out.  Braces around them leave
 * their order open. */
static void read_loops(tf_build *b, tf_mlex *x, bool spatial) {
  bool braces = !spatial && tf_mlex_take(x, '{');
  b->tree->nodes[b->tree->n_nodes - 1].order_open |= braces;
  b->tree->open |= braces;
  do {
    tf_loop l;
    bool parsed = read_loop(b, x, spatial, &l);
    if (!parsed) skip_loop(x);
    if (!parsed || l.dim < 0) {
      b->loops_ok = false;
      continue;
    }
    tf_build_loop(b, l);
    if (braces && tf_mlex_take(x, '}')) return;
  } while (x->tok.kind != TF_M_END && clause_of(x) == N_CLAUSES);
  if (braces && b->loops_ok) b->loops_ok = tf_mapping_expected(b, x, "a loop or '}'");
}

/* ---- lists of tensors --------------------------------------------------------------- */
/* The tensors of bypass, retain or stream; false if one could not be read. */
static bool read_list(tf_build *b, tf_mlex *x, void (*add)(tf_build *b, tf_named z)) {
  bool ok = true;
  do {
    if (x->tok.kind != TF_M_WORD) {
      ok = tf_mapping_expected(b, x, "a tensor");
      skip_clause(x);
      return ok;
    }
    int z = tf_mapping_tensor(b, &x->tok);
    if (z >= 0) add(b, (tf_named){z, x->tok.at});
    ok = ok && z >= 0;
    tf_mlex_next(x);
  } while (x->tok.kind != TF_M_END && clause_of(x) == N_CLAUSES);
  return ok;
}

static bool read_keep(tf_build *b, tf_mlex *x, tf_keep *k) {
  tf_mtok tensor = x->tok;
  if (tensor.kind != TF_M_WORD) return tf_mapping_expected(b, x, "TENSOR@LEVEL");
  tf_mlex_next(x);
  if (!tf_mlex_take(x, '@') || x->tok.kind != TF_M_WORD)
    return tf_mapping_expected(b, x, "'@' and the memory to keep it in");
  *k = (tf_keep){tf_mapping_tensor(b, &tensor), tf_mapping_level(b, &x->tok), tensor.at};
  tf_mlex_next(x);
  k->at.len = x->last.col - k->at.col;
  return true;
}

static void read_keeps(tf_build *b, tf_mlex *x) {
  do {
    tf_keep k;
    if (!read_keep(b, x, &k)) {
      skip_clause(x);
      return;
    }
    if (k.tensor >= 0 && k.level >= 0) tf_build_keep(b, k);
  } while (x->tok.kind != TF_M_END && clause_of(x) == N_CLAUSES);
}

/* ---- clauses ------------------------------------------------------------------------ */
static void read_clause(tf_build *b, tf_mlex *x, clause c) {
  switch (c) {
  case FOR:
  case SPATIAL: read_loops(b, x, c == SPATIAL); break;
  case BYPASS: read_list(b, x, tf_build_bypass); break;
  case KEEP: read_keeps(b, x); break;
  case RETAIN: read_list(b, x, tf_build_retain); break;
  case STREAM: b->streams_ok &= read_list(b, x, tf_build_stream); break;
  case N_CLAUSES: break;
  }
}

/* Whether clause c is allowed at the next token, on a Tile or a scope. */
static bool clause_fits(tf_build *b, const tf_mlex *x, clause c, bool tile, unsigned seen) {
  if (c == N_CLAUSES)
    return tf_mapping_expected(
        b, x, tile ? "'for', 'spatial' or 'bypass'" : "'keep', 'retain' or 'stream'");
  if (tile != (c <= BYPASS))
    return tf_fail(b->diags, x->tok.at, TF_E_SYNTAX, "'%s' stands on a %s, not on a %s",
                   clause_keys[c], c <= BYPASS ? "memory's line" : "scope",
                   tile ? "memory's line" : "scope");
  if (seen & (1u << c))
    return tf_fail(b->diags, x->tok.at, TF_E_SYNTAX, "'%s' twice on a line", clause_keys[c]);
  if (c == FOR && (seen & (1u << SPATIAL)))
    return tf_fail(b->diags, x->tok.at, TF_E_SYNTAX,
                   "'for' stands before 'spatial': spatial loops are innermost");
  return true;
}

void tf_read_clauses(tf_build *b, tf_mlex *x, bool tile) {
  unsigned seen = 0;
  while (x->tok.kind != TF_M_END) {
    clause c = clause_of(x);
    bool fits = clause_fits(b, x, c, tile, seen);
    tf_mlex_next(x);
    if (fits) {
      seen |= 1u << c;
      read_clause(b, x, c);
    } else {
      b->loops_ok = b->streams_ok = false;
      skip_clause(x);
    }
  }
}
