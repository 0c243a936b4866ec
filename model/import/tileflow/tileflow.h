/* Inside the TileFlow importer: what its files say, before it is written in the native form. */
#ifndef MODEL_IMPORT_TILEFLOW_TILEFLOW_H
#define MODEL_IMPORT_TILEFLOW_TILEFLOW_H
#include "model/import/timeloop/timeloop.h"
#include "tileflow/tree.h"

enum {
  TI_MAX_DIMS = 64,
  TI_MAX_TENSORS = 512,
  TI_MAX_OPS = 256,
  TI_MAX_RANK = 16,
  TI_MAX_TERMS = 8,
  TI_MAX_DEPTH = 120,
  TI_MAX_MACROS = 4096
};

/* A named number, of `macro` or of a setting. */
typedef struct {
  const char *name;
  tf_loc at;
  int64_t value;
  bool set, used;
} ti_macro;

typedef struct {
  const char *name;
  tf_loc at;
  const char *size; /* what the instance names where no macro has that name; else NULL */
  int64_t extent;   /* 0: not known */
  int sum[2];       /* of a dim that stands for the sum of two: these; else -1 */
  bool used;
} ti_dim;

typedef struct {
  int n;
  tl_term term[TI_MAX_TERMS];
  tf_loc at;
} ti_index;

/* A data space of an op. */
typedef struct {
  int tensor, rank;
  tf_loc at;
  ti_index index[TI_MAX_RANK];
} ti_ref;

typedef struct {
  const char *name;
  tf_loc at;
  int kind; /* a tf_kind that `type` names; -1: the product of what it reads */
  int n_reads;
  ti_ref *out, **reads;
  bool has[TI_MAX_DIMS];
  int alias[TI_MAX_DIMS]; /* the dim that a dim is called in this op: itself, or one that stands for
                             a sum */
} ti_op;

typedef struct ti_node ti_node;
typedef struct {
  const char *name;
  tf_loc at;
  int producer; /* op, -1: input */
  bool consumed;
  ti_node *scope; /* intermediates: the lowest scope above all ops that touch it */
  int keep;       /* memory that it is kept in below the level of the scope; -1: none */
  bool no_keep;   /* the native rules forbid it */
} ti_tensor;

typedef struct {
  int dim;
  int64_t trip;     /* 0: open */
  const char *name; /* of an open one; NULL: '?' or 'X' */
  bool y;           /* spatial: along Y */
  tf_loc at;
} ti_loop;

typedef struct {
  int tensor;
  tf_loc at;
  bool native; /* a bypass for us, too; else only the place from which the tensor is held */
} ti_bypass;

typedef enum { TI_TILE, TI_SCOPE, TI_OP } ti_kind;
struct ti_node {
  ti_kind kind;
  tf_loc at;
  ti_node *parent;
  int n_children;
  ti_node **children;
  /* TI_TILE */
  bool spatial, profile, multicast;
  int level; /* index of the memory */
  tf_loc level_at;
  int n_loops; /* outer to inner */
  ti_loop *loops;
  int n_bypass;
  ti_bypass *bypass;
  const char *tag;
  tf_scope scope; /* TI_SCOPE */
  int op;         /* TI_OP */
};

/* Native text, with the foreign places that its parts come from. */
typedef struct {
  size_t from;
  tf_loc at;
  int tensor; /* the part keeps it; else -1 */
} ti_mark;
typedef struct {
  tf_page page;
  size_t n_marks, room;
  ti_mark *marks;
} ti_out;

typedef struct {
  tf_arena *arena;
  tf_diags *diags;
  tf_page *notes; /* comments */
  tl_case *arch;  /* its levels */
  bool has_arch, has_problem;
  int n_macros, room_macros;
  ti_macro *macros;
  int n_dims, n_tensors, n_ops;
  ti_dim dims[TI_MAX_DIMS];
  ti_tensor tensors[TI_MAX_TENSORS];
  ti_op *ops[TI_MAX_OPS];
  ti_node *leaf[TI_MAX_OPS];
  ti_node *root;    /* NULL: no mapping */
  bool exact_loops; /* `check: loopcount` */
  bool sums;        /* some op calls a dim by another name */
} ti_case;

/* A warning: what is said and has no place in the model.  It stands in the result as a comment,
 * too. */
void ti_warn(ti_case *c, tf_loc at, const char *fmt, ...) TF_PRINTF(3, 4);
bool ti_no_memory(ti_case *c);
bool ti_same_word(const char *text, size_t len, const char *word); /* in any letter case */
bool ti_read_bool(ti_case *c, const tf_ynode *node, bool *out);
/* Calls f for each word of a scalar (parted by blanks and commas) or of a list of scalars; false if
 * one call was. */
typedef struct {
  const char *text;
  size_t len;
  tf_loc at;
} ti_word;

static inline ti_word ti_word_of(const tf_ynode *scalar) {
  return (ti_word){scalar->text, scalar->len, scalar->at};
}
bool ti_words(ti_case *c, const tf_ynode *node, bool (*f)(ti_case *c, ti_word w, void *arg),
              void *arg);

/* Macros: of the section, and of --set. */
bool ti_read_macros(ti_case *c, const tf_ynode *map);
bool ti_take_settings(ti_case *c, const tf_setting *set, size_t n);
ti_macro *ti_find_macro(ti_case *c, const char *name, size_t len);
bool ti_check_settings(ti_case *c);
/* A number of at least 1, or a macro's value; *out is 0 for a name that no macro has, with *open
 * the name. */
bool ti_number(ti_case *c, ti_word w, const char *what, int64_t *out, const char **open);

int ti_find_dim(ti_case *c, ti_word w, bool any_case);
int ti_find_tensor(ti_case *c, ti_word w);
int ti_find_level(ti_case *c, ti_word w);
int ti_find_op(ti_case *c, ti_word w);
const char *ti_level_name(const ti_case *c, int level);

bool ti_read_problem(ti_case *c, const tf_ynode *node);
/* Gives each sum of dims that an op's output is indexed by a dim of its own. */
bool ti_name_sums(ti_case *c);

bool ti_read_mapping(ti_case *c, const tf_ynode *node);
bool ti_read_nest(ti_case *c, uint16_t file, const char *text, size_t len);
bool ti_is_nest(const char *text, size_t len);
ti_node *ti_new_node(ti_case *c, ti_kind kind, tf_loc at, ti_node *parent);
bool ti_read_scope_type(ti_case *c, ti_word w, tf_scope *out);
/* "4", a macro, a free name, "?" */
bool ti_read_trip(ti_case *c, ti_word w, ti_loop *l);
bool ti_add_bypass(ti_case *c, ti_node *n, ti_word w);
bool ti_set_leaf(ti_case *c, ti_node *n, ti_word w);

/* What the whole tree says: the trips of every dim, where intermediates live, what bypass means. */
bool ti_complete(ti_case *c);
bool ti_is_above(const ti_node *up, const ti_node *n); /* or n itself */
/* Whether the op leads at the node: none below reads what it makes. */
bool ti_leads(const ti_case *c, int op, const ti_node *n);

bool ti_write(ti_case *c, ti_out *out);
/* Reads the native text and reports its errors at their foreign places.  *again: a tensor cannot be
 * kept where it was, and is not in the next text. */
bool ti_check_native(ti_case *c, const ti_out *out, bool *again);

/* Writes native files as this format. */
bool ex_tileflow(ex_case *x);
#endif
