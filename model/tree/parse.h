/* Mapping text -> nodes.  Shared by the files that read mappings. */
#ifndef MODEL_TREE_PARSE_H
#define MODEL_TREE_PARSE_H
#include "base/arena.h"
#include "model/tree/build.h"

/* ---- lines and tokens (tree_lex.c) ---- */
typedef enum { TF_M_END, TF_M_WORD, TF_M_NUMBER, TF_M_PUNCT, TF_M_BAD } tf_mkind;

typedef struct {
  tf_mkind kind;
  char punct;     /* one of = @ ? { } , and < for "<=" */
  bool huge;      /* NUMBER that passes 2^63 - 1 */
  int64_t number; /* NUMBER */
  const char *text;
  size_t len;
  tf_loc at;
} tf_mtok;

/* The rest of a line, and its next token. */
typedef struct {
  const char *p, *end;
  tf_loc at; /* of p */
  tf_mtok tok;
  tf_loc last; /* one column past the token before */
} tf_mlex;

/* A text that is read line by line. */
typedef struct {
  const char *p, *end;
  tf_loc at; /* of p, which starts a line */
} tf_mtext;

/* Moves to the next line that is neither blank nor a comment, past its indentation.  False at the
 * end of the text. *tab: the place of a tab in the line; line 0 if there is none. */
bool tf_mtext_line(tf_mtext *t, tf_mlex *x, tf_loc *tab);

void tf_mlex_next(tf_mlex *x);
bool tf_mlex_word(const tf_mlex *x, const char *word);
bool tf_mlex_take(tf_mlex *x, char punct); /* skips it if it is the next token */

/* ---- nodes ---- */
/* A tree being built.  Where a text has errors, it holds what could be read; a rule is checked only
 * if what it depends on is correct, so that one cause gives one error. */
struct tf_build {
  tf_arena *arena;
  tf_tree *tree;
  tf_diags *diags, *own; /* own: the same if created by the builder itself */
  size_t errors;         /* in diags before */
  tf_loc at;             /* of the whole */
  int room;              /* of tree->nodes */
  bool lines_ok;         /* every line is indented correctly */
  bool heads_ok;         /* and opens a node */
  bool shape_ok;         /* and the nodes form a complete tree with each op once */
  bool loops_ok;         /* every loop could be read */
  bool streams_ok;       /* every `stream` could be read */
  bool whole;            /* memory and limits sufficed */
};

/* Adds the lines of the text as nodes.  Every error of syntax and names goes to b->diags. */
void tf_tree_read(tf_build *b, const char *text, tf_loc at);

/* The clauses of a line, in the order of docs/FORMATS.md; each at most once.  Those before KEEP
 * stand on a Tile. */
#define TF_CLAUSES(X)                                                                              \
  X(FOR, "for")                                                                                    \
  X(SPATIAL, "spatial")                                                                            \
  X(BYPASS, "bypass")                                                                              \
  X(KEEP, "keep")                                                                                  \
  X(RETAIN, "retain")                                                                              \
  X(STREAM, "stream")

/* Reads the rest of the line after the head, for the node added last: loops, bypass; keep, retain,
 * stream. */
void tf_read_clauses(tf_build *b, tf_mlex *x, bool tile);

/* Room for one more element after n, in a list that only this function grows; NULL (reported) when
 * memory runs out. */
void *tf_build_room(tf_build *b, void *list, int n, size_t size);

/* Reports at the next token: "expected WHAT, not 'x'".  Always false. */
bool tf_mapping_expected(tf_build *b, const tf_mlex *x, const char *what);

/* Index by name; -1 (reported at the token) if there is none.  A head may be a memory; if it is
 * none, the error lists all that may open a line. */
int tf_mapping_head(tf_build *b, const tf_mtok *t);
int tf_mapping_level(tf_build *b, const tf_mtok *t);
int tf_mapping_dim(tf_build *b, const tf_mtok *t);
int tf_mapping_tensor(tf_build *b, const tf_mtok *t);
int tf_mapping_op(tf_build *b, const tf_mtok *t);

/* The scope kind a word names, TF_N_SCOPES if none. */
tf_scope tf_scope_find(const char *word, size_t len);
#endif
