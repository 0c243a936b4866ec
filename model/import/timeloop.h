/* Inside the Timeloop importer: what its files say, before it is written in the native form. */
#ifndef MODEL_IMPORT_TIMELOOP_H
#define MODEL_IMPORT_TIMELOOP_H
#include "model/import/page.h"
#include "model/yaml/schema.h"
#include "tileflow/import.h"

enum { TL_MAX_LEVELS = 16, TL_MAX_DIMS = 26, TL_MAX_SPACES = 8, TL_MAX_TERMS = 8 };

/* A memory or the compute units: absolute counts, as Timeloop has them. */
typedef struct {
  const char *name; /* without [0..n] */
  tf_loc at;
  bool memory;
  int64_t instances, mesh_x;     /* mesh_x 0: not said */
  int64_t word_bits, words;      /* words -1: no capacity said */
  double read_bw, write_bw;      /* words per cycle, 0: not said */
  bool alone;                    /* the network below hands each receiver words of its own */
} tl_level;

typedef struct {
  int dim;
  int64_t coef;
} tl_term;

typedef struct {
  const char *name;
  bool output;
  int rank;
  struct {
    int n;
    tl_term term[TL_MAX_TERMS];
  } index[TL_MAX_DIMS];
} tl_space;

typedef struct {
  const char *name;
  int n_dims, n_spaces;
  const char *dim[TL_MAX_DIMS];
  int64_t extent[TL_MAX_DIMS];
  tl_space space[TL_MAX_SPACES];
} tl_problem;

/* What one memory's directives say. */
typedef struct {
  int64_t temporal[TL_MAX_DIMS], spatial[TL_MAX_DIMS];
  int t_order[TL_MAX_DIMS], s_order[TL_MAX_DIMS]; /* dims, inner to outer */
  int n_t, n_s, split;                            /* split: spatial dims before it go along X; -1: all */
  bool bypass[TL_MAX_SPACES];
} tl_nest;

typedef struct {
  tf_arena *arena;
  tf_diags *diags;
  tf_page *notes; /* comments: what is read and has no place in the model */
  int n_levels;   /* outermost first; memories, then at most one kind of compute unit */
  tl_level level[TL_MAX_LEVELS];
  bool any_op; /* the units run ops of every kind, not only mac */
  bool has_problem, has_mapping;
  tl_problem problem;
  tl_nest nest[TL_MAX_LEVELS];
} tl_case;

bool tl_read_architecture(tl_case *c, const tf_ynode *node);
bool tl_read_problem(tl_case *c, const tf_ynode *node);
bool tl_read_mapping(tl_case *c, const tf_ynode *node);
/* A whole number of at least `least`. */
bool tl_int(tl_case *c, const tf_ynode *node, const char *what, int64_t least, int64_t *out);
/* The dim, data space or memory of that name; -1 with an error that names the nearest. */
int tl_find_dim(tl_case *c, tf_loc at, const char *name, size_t len);
int tl_find_space(tl_case *c, const tf_ynode *node);
int tl_find_memory(tl_case *c, const tf_ynode *node);
/* The native sections; the architecture alone. */
void tl_write(const tl_case *c, tf_page *out);
void tl_write_architecture(const tl_case *c, tf_page *out);
/* The network below the n-th memory neither multicasts nor reduces. */
void tl_spread_alone(tl_case *c, int memory);
#endif
