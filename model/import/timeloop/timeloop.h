/* Inside the Timeloop importer: what its files say, before it is written in the native form. */
#ifndef MODEL_IMPORT_TIMELOOP_TIMELOOP_H
#define MODEL_IMPORT_TIMELOOP_TIMELOOP_H
#include "model/import/common/writer.h"
#include "model/yaml/schema.h"
#include "tileflow/import.h"

enum {
  TL_MAX_LEVELS = 48,
  TL_MAX_MEMORIES = 16,
  TL_MAX_DIMS = 26,
  TL_MAX_SPACES = 8,
  TL_MAX_TERMS = 8,
  TL_MAX_RANKS = 8 /* of a format */
};

/* Trip counts that are not numbers: what the others leave; open, for the search. */
enum { TL_REST = 0, TL_OPEN = -1 };

/* What the directives, or the constraints, of one level say. */
typedef struct {
  int64_t trips[TL_MAX_DIMS], most[TL_MAX_DIMS]; /* most: bound of an open one, 0: none */
  int order[TL_MAX_DIMS];                        /* dims, inner to outer */
  int64_t residual[TL_MAX_DIMS]; /* steps in the last step of the loops around it; 0: not said */
  tf_loc at[TL_MAX_DIMS];        /* where the factor stands; line 0: nowhere */
  bool given, ordered;
} tl_loops;
typedef struct {
  tl_loops temporal, spatial;
  int split; /* spatial dims before it in the order go along X; -1: not said */
  bool bypass[TL_MAX_SPACES], keep[TL_MAX_SPACES];
  tf_loc bypass_at[TL_MAX_SPACES],
      keep_at[TL_MAX_SPACES];   /* where they are named; line 0: nowhere */
  tf_loc order_at[2], split_at; /* constraints: of temporal and spatial loops */
} tl_nest;

/* A rank of a format, as the native form names it. */
typedef struct {
  const char *as;
  int64_t bits;   /* of an entry, 0: not said */
  uint32_t ranks; /* of the data space that it stands for, a mask; 0: not said */
  tf_loc at;
} tl_packing;
typedef struct {
  int n; /* 0: none */
  tl_packing rank[TL_MAX_RANKS];
} tl_format;
/* What zeros save: energy, or energy and time. */
typedef enum { TL_GATING, TL_SKIPPING, TL_N_SAVINGS } tl_saving;

/* A memory, the compute units, or a place that only spreads what is above it over instances (0.4's
 * containers and components with `spatial`): it stores nothing, and its spatial loops are those of
 * the memory above. */
typedef enum { TL_MEMORY, TL_SPREAD, TL_COMPUTE } tl_kind;
typedef struct {
  const char *name;  /* without [0..n] */
  const char *alias; /* TL_SPREAD: the container or component below it; else NULL */
  tf_loc at;
  tl_kind kind;
  bool dummy;    /* Timeloop's dummy_storage: a memory where a mapping keeps something in it */
  bool parallel; /* beside others, in 0.4's !Parallel: what it does not keep passes it by */
  int64_t instances, mesh_x; /* absolute counts; mesh_x 0: not said */
  int64_t word_bits, words;  /* words -1: no capacity said */
  int64_t block;             /* words of one access */
  double read_bw, write_bw;  /* words per cycle, 0: not said */
  bool one_port;             /* both ways share read_bw */
  double read_pj, write_pj;  /* per word, compute: read_pj per point; below 0: not said */
  double leak_pj;            /* per cycle and instance */
  bool own_energy;           /* the file gives it beside the tables, and it wins over theirs */
  double area;               /* um2, below 0: not said */
  bool alone;                /* the network below it hands each receiver words of its own */
  const tf_ynode *sparse;    /* what it says of zeros, read once the mapping is; NULL: nothing */
  tl_format format[TL_MAX_SPACES];
  int64_t entry_bits;                          /* of run lengths, 0: not said */
  double entry_read_pj, entry_write_pj;        /* of metadata */
  uint32_t saves[TL_N_SAVINGS][TL_MAX_SPACES]; /* by target: the data spaces whose zeros do it */
  uint32_t tiles[TL_N_SAVINGS]
                [TL_MAX_SPACES]; /* the same of tiles that memories further in fetch */
  uint32_t points[TL_N_SAVINGS]; /* of units */
  tl_nest nest;
} tl_level;

typedef struct {
  int dim;
  int64_t coef;
} tl_term;

typedef struct {
  int n;
  tl_term term[TL_MAX_TERMS];
} tl_index;

typedef struct {
  const char *name;
  bool output;
  int rank;
  double density; /* 0: not said */
  bool banded;    /* all but a band around the diagonal is zero, `band` elements to each side */
  int64_t band;
  tl_index index[TL_MAX_DIMS];
} tl_space;

typedef struct {
  const char *name;
  int n_dims, n_spaces;
  const char *dim[TL_MAX_DIMS];
  int64_t extent[TL_MAX_DIMS];
  tl_space space[TL_MAX_SPACES];
} tl_problem;

/* A constraint as found: its level's name or number, its kind, its keys. */
typedef struct {
  int level; /* -1: `target` names it */
  const tf_ynode *target, *type;
  const char *type_text; /* inline constraints of 0.4: the key */
  const tf_ynode *keys;
} tl_constraint;
enum { TL_MAX_CONSTRAINTS = 256 };

/* Why something of a file is not modelled, where one line reports all of a kind. */
typedef enum {
  TL_UNIFORM, /* densities that are structured in a way that is not said */
  TL_TABLES,  /* estimators of energy and area read it */
  TL_ACTIONS, /* an action of the tables that nothing here counts */
  TL_NOTHING, /* it changes no number here */
  TL_N_REASONS
} tl_reason;
typedef struct tl_folded tl_folded;

typedef struct {
  tf_arena *arena;
  tf_diags *diags;
  tf_page *notes;    /* comments: what is read and has no place in the model */
  tl_folded *folded; /* reported once all is read */
  int n_levels;      /* outermost first; memories and spreads, then one kind of compute unit */
  tl_level level[TL_MAX_LEVELS];
  double cycle_seconds; /* 0: not said */
  int64_t technology;   /* nm, 0: not said */
  bool units_anywhere;  /* in a `subtree` units may stand before memories: counts say what is below
                           what */
  bool any_op; /* the units run ops of every kind, not only mac; the outermost memory, too, has a
                  capacity */
  bool has_problem, has_mapping;
  bool open;      /* the mapping is what constraints leave open */
  uint32_t gated; /* data spaces whose zeros gate an access at a memory */
  tl_problem problem;
  int n_constraints;
  tl_constraint constraint[TL_MAX_CONSTRAINTS];
} tl_case;

/* Warnings at their places, and comments in the result.  tl_lost: of what changes numbers that the
 * file's own tool prints; tl_note: "not modelled: KEY VALUE of NAME".  tl_fold keeps a thing ("KEY
 * VALUE") for the one line of its reason, which tl_tell_folded says. */
void tl_lost(tl_case *c, tf_loc at, const char *fmt, ...) TF_PRINTF(3, 4);
void tl_note(tl_case *c, const tf_ynode *key, const tf_ynode *value, const char *name);
void tl_fold(tl_case *c, tl_reason reason, tf_loc at, const char *fmt, ...) TF_PRINTF(4, 5);
void tl_tell_folded(tl_case *c);
/* A scalar's text, or "a map", for messages. */
const char *tl_value_text(const tf_ynode *value);
/* A map with YAML's merge keys ("<<", and "<<<" of Timeloop's front end, which merges maps in maps,
 * too) done, in every depth.  NULL without memory. */
const tf_ynode *tl_merge(tl_case *c, const tf_ynode *node);

bool tl_read_architecture(tl_case *c, const tf_ynode *node);
bool tl_read_variables(tl_case *c, const tf_ynode *node);
bool tl_read_nodes(tl_case *c, const tf_ynode *list); /* of version 0.4 */
/* Takes the attributes of a component: maps[0] are its own, the others those of what it stands in,
 * nearest first. */
bool tl_read_attributes(tl_case *c, const tf_ynode *const *maps, int n, tl_level *l);
/* Puts a level behind the others; false with an error where it cannot stand. */
bool tl_add_level(tl_case *c, const tl_level *l);
/* What a component of that class is, as Timeloop tells by parts of its name. */
typedef enum { TL_CLASS_MEMORY, TL_CLASS_COMPUTE, TL_CLASS_NETWORK, TL_CLASS_NONE } tl_class;
tl_class tl_class_of(const tf_ynode *class, const tf_ynode *subclass); /* each may be NULL */
/* Tells of a component that is neither memory nor unit, which Timeloop leaves out, too; true.  Of
 * area_scale and energy_scale (scale[0], scale[1]; each may be NULL) that are not 1. */
bool tl_tell_class(tl_case *c, const tf_ynode *class, const char *name, tl_class is);
void tl_tell_scales(tl_case *c, const tf_ynode *const *scale, const char *name);
/* "RF[0..7]": the name, and how many there are. */
bool tl_read_name(tl_case *c, const tf_ynode *node, const char **name, int64_t *count);

bool tl_read_problem(tl_case *c, const tf_ynode *node);
bool tl_read_mapping(tl_case *c, const tf_ynode *node);
/* Keeps what constrains mappings, read only once the problem is known; NULL type: the key `type`
 * says it. */
bool tl_add_constraint(tl_case *c, int level, const char *type, const tf_ynode *keys);
bool tl_add_constraints(tl_case *c, const tf_ynode *section);
/* `sparse_optimizations` (NULL: none) and those of components, once the mapping is read. */
bool tl_read_sparse(tl_case *c, const tf_ynode *section);
void tl_write_sparse(const tl_case *c, const tl_level *l, tf_page *out);
/* The mapping with everything open that the constraints leave open. */
bool tl_constrained_mapping(tl_case *c);
/* Energies (per word, per point) and areas of Accelergy's tables. */
bool tl_read_ert(tl_case *c, const tf_ynode *section, bool summary);
bool tl_read_art(tl_case *c, const tf_ynode *section, bool summary);

bool tl_bool(tl_case *c, const tf_ynode *node, bool *out);
/* A whole number of at least `least`; a real number above 0. */
bool tl_int(tl_case *c, const tf_ynode *node, const char *what, int64_t least, int64_t *out);
bool tl_real(tl_case *c, const tf_ynode *node, double *out);
/* An energy or area: 0 or more, finite. */
bool tl_amount(tl_case *c, const tf_ynode *node, const char *what, double *out);
/* The dim, data space or level of that name; -1 with an error that names the nearest. */
int tl_find_dim(tl_case *c, tf_loc at, const char *name, size_t len);
int tl_find_space(tl_case *c, const tf_ynode *node);
int tl_find_level(tl_case *c, const tf_ynode *node);
/* "M=4 N4 K=5,2", where `bounds` "M<=4", too, but nothing like the 2; sets what loops has of the
 * dims named. */
bool tl_read_factors(tl_case *c, const tf_ynode *node, bool bounds, tl_loops *loops);
/* Dims, inner to outer: words, or one word of one-letter dims.  Those left out come last, as they
 * stand. */
bool tl_read_order(tl_case *c, const tf_ynode *node, tl_loops *loops);
/* Data spaces of a list (NULL: none), and where they stand in it. */
bool tl_read_names(tl_case *c, const tf_ynode *list, bool *out, tf_loc *at);

/* False with an error where a memory keeps and bypasses one data space, or the outermost one
 * bypasses any. */
bool tl_check_storage(tl_case *c, const tl_level *l);
/* False with an error at a temporal loop of a level that only spreads. */
bool tl_check_spread(tl_case *c, const tl_level *l);
/* False with an error at a factor of dim d of which whole steps begin behind the extent. */
bool tl_check_spare(tl_case *c, int d);

/* Instances along X (or Y), of all and below one instance of level `up`. */
int64_t tl_along(const tl_level *l, bool y);
int64_t tl_fan(const tl_level *up, const tl_level *l, bool y);
/* The native sections; the architecture alone. */
void tl_write(const tl_case *c, tf_page *out);
void tl_write_architecture(const tl_case *c, tf_page *out);
/* The network below the n-th memory neither multicasts nor reduces. */
void tl_spread_alone(tl_case *c, int memory);

/* Writes native files as this format. */
bool ex_timeloop(ex_case *x);
#endif
