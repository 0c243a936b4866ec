/* Internal to the exporters: what all of them write, and how they report what they cannot express.
 */
#ifndef MODEL_IMPORT_COMMON_WRITER_H
#define MODEL_IMPORT_COMMON_WRITER_H
#include "model/import/common/import_page.h"
#include "tileflow/export.h"

struct tf_loop;

typedef struct {
  const tf_arch *arch;
  const tf_workload *wl;
  const tf_tree *tree; /* NULL: none */
  tf_diags *diags;
  const tf_unit *unit; /* the compute units that are written */
  tf_export *out;
  bool fits; /* every Tile's memory is written */
  bool bad;  /* memory ran out */
} ex_case;

/* Adds the page as a file; frees it. */
void ex_file(ex_case *x, const char *name, tf_page *page);
/* The architecture of version `version` with memories down to the one above the unit, as both tools
 * read it. */
void ex_architecture(ex_case *x, const char *version, tf_page *p);
/* Total instances of memory l, or of the unit (l = number of memories written), along X (or Y, or
 * both: -1). */
int64_t ex_instances(const ex_case *x, int l, int side);
int ex_n_memories(const ex_case *x);
/* Elements in a word of memory l, which may be a part of one: in both formats an element is a word
 * of every memory. */
double ex_elements(const ex_case *x, int l);
/* Elements of one access of memory l, where the formats can say it; else 1. */
int64_t ex_block(const ex_case *x, int l);
/* "      - [[m], [p, c2]]..." lines: the index of every rank; false with an error where an index
 * has a constant, a negative coefficient, no dim or too many, or the tensor is padded. */
enum { EX_MOST_TERMS = 8 }; /* import reads no more of TileFlow's */
bool ex_projection(ex_case *x, const tf_tensor *t, const tf_ref *ref, const char *indent,
                   tf_page *p);
/* "coefficients:" by which an op multiplies its dims, each once; nothing if all are 1. */
void ex_coefficients(const ex_case *x, const tf_op *op, const char *indent, tf_page *p);
/* Dims of loops, inner to outer, then the others of `dims`: the permutation of both formats. */
void ex_permutation(const ex_case *x, const struct tf_loop *loops, int n, const int *dims,
                    int n_dims, tf_page *p);

/* The tag of tiles that TileFlow requires and the tree lacks. */
#define EX_NO_TILE "no-tile-here"
#endif
