/* Mapping text -> nodes.  Shared by the files that read mappings. */
#ifndef MODEL_TREE_PARSE_H
#define MODEL_TREE_PARSE_H
#include "base/arena.h"
#include "model/tree/lex.h"
#include "tileflow/tree.h"

enum { TF_TREE_MAX_DEPTH = 256, TF_TREE_MAX_NODES = 65536 };

/* What could be read of a text that has errors; a rule is checked where what it needs is
 * sound, so that one cause is one error. */
typedef struct {
  tf_arena *arena;
  tf_tree *tree;
  tf_diags *diags;
  bool lines_ok;   /* every line stands where its indentation says */
  bool heads_ok;   /* and opens a node */
  bool shape_ok;   /* and the nodes form a whole tree, each op once */
  bool loops_ok;   /* every loop was read */
  bool streams_ok; /* every `stream` was read */
  bool whole;      /* memory and limits sufficed */
} tf_tree_reader;

/* Reads the text into r->tree, whose arch and workload are set.  Every error of syntax,
 * names and shape goes to r->diags. */
void tf_tree_read(tf_tree_reader *r, const char *text, tf_loc at);

/* The rest of the line after the head: loops, bypass; keep, retain, stream. */
void tf_read_tile_rest(tf_tree_reader *r, tf_node *n, tf_mlex *x);
void tf_read_scope_rest(tf_tree_reader *r, tf_node *n, tf_mlex *x);

/* Reports at the token that stands next: "expected WHAT, not 'x'".  Always false. */
bool tf_mapping_expected(tf_tree_reader *r, const tf_mlex *x, const char *what);
bool tf_tree_no_memory(tf_tree_reader *r);

/* Index by name, -1 (reported at the token) if there is none.  A head is a memory too, but
 * where there is none the error speaks of all that may open a line. */
int tf_mapping_head(tf_tree_reader *r, const tf_mtok *t);
int tf_mapping_level(tf_tree_reader *r, const tf_mtok *t);
int tf_mapping_dim(tf_tree_reader *r, const tf_mtok *t);
int tf_mapping_tensor(tf_tree_reader *r, const tf_mtok *t);
int tf_mapping_op(tf_tree_reader *r, const tf_mtok *t);

/* The scope kind a word names, TF_N_SCOPES if none; and its key. */
tf_scope tf_scope_find(const char *word, size_t len);
const char *tf_scope_key(tf_scope s);
#endif
