/* Inside the AccelForge importer: what its files say, before it is written in the native form. */
#ifndef MODEL_IMPORT_ACCELFORGE_FORGE_H
#define MODEL_IMPORT_ACCELFORGE_FORGE_H
#include "model/import/common/import_page.h"
#include "model/yaml/schema.h"
#include "tileflow/spec.h"

enum {
  FG_DIMS = 2048,
  FG_TENSORS = 2048,
  FG_EINSUMS = 2048,
  FG_ACCESSES = 16,
  FG_RANKS = 16, /* rank variables of a tensor in an Einsum */
  FG_NAME = 48,
  FG_PARTS = 64, /* components of an architecture */
  FG_MEMORIES = 16,
  FG_FANS = 4 /* of one component */
};

typedef struct {
  char name[FG_NAME];
  int64_t extent; /* 0: not known yet */
  tf_loc at;
  bool ranged; /* its own range says so */
  bool used;   /* by an Einsum */
} fg_dim;

/* A tensor in an Einsum, and the text of its indices. */
typedef struct {
  char name[FG_NAME];
  tf_page index;
  char joined; /* to the input before: '*' or '+' */
  bool output;
  int tensor, n_vars, var[FG_RANKS]; /* the dims that index it, each once */
  uint32_t window; /* of var: those of an index that is more than a variable alone */
} fg_access;

enum { FG_MAC = 1, FG_MUL = 2, FG_ADD = 4 };

typedef struct {
  char name[FG_NAME], op[FG_NAME]; /* there, and of its op here */
  int n, tensor[FG_ACCESSES];
  int n_vars[FG_ACCESSES], *var[FG_ACCESSES];
  uint32_t outputs;              /* a mask of accesses */
  uint32_t windows[FG_ACCESSES]; /* of var: masks of those that share an index with others */
  unsigned kinds;                /* that its unit needs; 0: a copy, which all have */
  const tf_ynode *renames;
} fg_einsum;

typedef enum { FG_MEMORY, FG_TOLL, FG_CONTAINER, FG_COMPUTE } fg_kind;

typedef struct {
  const char *name;
  int64_t fanout;
  const tf_ynode *reuse; /* what its hardware may share along it; NULL: everything */
  tf_loc at;
} fg_fan;

/* A component.  Energies are J of a bit (of a point), rates bits (points) a second of one
 * instance; below 0: not said. */
typedef struct {
  fg_kind kind;
  const char *name;
  tf_loc at;
  const tf_ynode *node, *keep, *may_keep, *enabled, *size_node;
  int n_fans;
  fg_fan fan[FG_FANS];
  int level;   /* the memory it is, or the last one before it; -1: none */
  double size; /* bits, INFINITY: no limit */
  double read_j, write_j, read_rate, write_rate;
  bool two_ports, gated;
  double leak, area; /* W and m2 */
  double widen;      /* bits of a value here over those of the workload */
  unsigned kinds;    /* of a unit beside others: what Einsums that run on it need */
  bool runs;         /* some Einsum may run on it */
  int shares; /* between it and the memory above: 0: not said, 1: words are shared, -1: not */
} fg_part;

typedef struct fg_node fg_node;
typedef enum { FG_HOLD, FG_FOR, FG_SPREAD, FG_RUN, FG_SPLIT } fg_what;
struct fg_node {
  fg_what what;
  tf_loc at;
  fg_node *next;          /* further in */
  fg_node *child;         /* SPLIT: its first branch */
  fg_node *beside;        /* of the first node of a branch: the next one */
  int part;               /* HOLD, SPREAD, RUN */
  int n_tensors, *tensor; /* HOLD */
  tf_loc *tensor_at;
  int dim, fan; /* FOR, SPREAD */
  int64_t tile, trips;
  int einsum; /* RUN */
  bool pipe;  /* SPLIT: its branches run at the same time */
};

/* What stands above an Einsum, outermost first, and where on it the first tile of each memory
 * begins: before path[pos]; -1: it has none. */
enum { FG_PATH = 256 };
typedef struct {
  int n, einsum, part, pos[FG_MEMORIES];
  int held[FG_MEMORIES][FG_ACCESSES]; /* the node that holds the access in the memory; -1: none */
  int segment;                        /* behind the innermost split */
  fg_node **path;
} fg_leaf;

typedef struct {
  tf_arena *arena;
  tf_diags *diags;
  const tf_setting *set;
  size_t n_set;
  uint64_t set_used;
  const tf_ynode *rank_sizes, *bits, *variables[2], *renames;
  int n_dims, n_tensors, n_accesses, n_einsums, n_parts, n_memories;
  bool has_workload, has_arch;
  fg_dim dims[FG_DIMS];
  char tensor[FG_TENSORS][FG_NAME];
  int64_t tensor_bits[FG_TENSORS];
  fg_access accesses[FG_ACCESSES]; /* of the Einsum at hand */
  fg_einsum einsum[FG_EINSUMS];
  fg_part part[FG_PARTS];
  int memory[FG_MEMORIES]; /* parts */
  double clock;            /* Hz */
  double word_bits;
  int steps;     /* of an expression */
  fg_node *root; /* of the mapping; NULL: none */
  int n_leaves;
  fg_leaf *leaf;
  int *home;       /* by tensor: the memory in which an intermediate lives; -1: not one */
  fg_node **scope; /* by tensor: the split that it lives for; NULL: none */
  bool shar;       /* what is in memories stays from branch to branch */
  tf_page ops, notes;
} forge;

/* ---- text ---- */
const char *fg_past_blanks(const char *p);
/* The name that begins here; what follows it, NULL: none that fits. */
const char *fg_take_name(const char *p, char *name);
const tf_ynode *fg_member(const tf_ynode *map, const char *key);
/* The templates of Jinja in a text, carried out: loops, conditions, settings, values.  NULL with
 * errors; *rendered: there were any. */
char *fg_render(forge *f, const tf_text *t, uint16_t file, size_t *len);
bool fg_is_template(const tf_text *t);

/* ---- expressions: numbers, and sets of the tensors of an Einsum as masks of its accesses ---- */
typedef struct {
  enum { FG_NUMBER, FG_SET, FG_UNKNOWN } is;
  double number;
  uint32_t set;
  const char *why; /* UNKNOWN */
  size_t off, len; /* UNKNOWN: of the text */
} fg_value;
/* e: -1: no Einsum is at hand. */
fg_value fg_eval(forge *f, const char *text, int e, int part);
/* The number that a scalar says: the same for all Einsums, or an error. */
bool fg_number(forge *f, const tf_ynode *node, const char *what, int part, double *out);
/* The set of Einsum e's accesses; an error where it cannot be told. */
bool fg_set(forge *f, const tf_ynode *node, int e, int part, uint32_t *out);

bool fg_read_workload(forge *f, const tf_ynode *node);
bool fg_write_workload(forge *f, tf_page *out);
bool fg_read_arch(forge *f, const tf_ynode *node);
/* The memory above the instances that a part's fanouts make, and the side of their mesh. */
int fg_gap(const forge *f, int part);
bool fg_along_y(const forge *f, int part, int fan);
bool fg_write_arch(forge *f, tf_page *out);
bool fg_read_mapping(forge *f, const tf_ynode *node);
/* Chooses where tiles begin, so that as many words move as there; warnings and errors where that
 * cannot be. */
bool fg_place(forge *f);
void fg_write_mapping(const forge *f, tf_page *out);

/* The access of a leaf's Einsum to a tensor, -1: none. */
int fg_access_of(const forge *f, const fg_leaf *l, int tensor);
/* Where on the path memory m begins to hold the tensor; -1: it does not. */
int fg_held(const forge *f, const fg_leaf *l, int m, int tensor);
#endif
