/* The parts of tileflow-certify: a problem, a mapping and a proof as a certificate states them
 * (docs/CERTIFICATE.md). Nothing here is taken from the rest of tileflow: the rules of cost are
 * written once more, from docs/SEMANTICS.md. */
#ifndef CERTIFY_CERTIFY_H
#define CERTIFY_CERTIFY_H
#include <stdbool.h>
#include <stddef.h>

#include "certify/certify_exact.h"

enum { MEMORIES = 6, DIMS = 6, TENSORS = 6, LOOPS = 128, TILES = 32, NAME = 64, PARTS = 3 };

/* Says why the certificate is none, with the line at hand, and ends with status 1. */
__attribute__((format(printf, 1, 2), noreturn)) void refuse(const char *why, ...);

/* ---- the problem ---------------------------------------------------------------------------- */
typedef enum { LATENCY, ENERGY, EDP, TRAFFIC } objective;
typedef enum { PERFECT, DOUBLE_BUFFER, NO_OVERLAP } overlap;

/* A part of a memory, for tensors of a role alone. */
enum { LEFT, RIGHT, RESULT, ROLES };
typedef struct {
  int64_t bits, capacity; /* the least width of an element in it; words of the memory */
  bool twice;
  unsigned holds; /* bit: role */
} mem_part;

/* What stands below a memory: instances of the next one, or units. */
typedef struct {
  char name[NAME];
  int64_t mesh[2]; /* instances below one instance of the memory further out */
  bool multicast, reduce;
  /* of a memory */
  int64_t bits, capacity; /* capacity: words of one instance; -1: no limit */
  ratio read, write;      /* words a cycle */
  bool one_port, twice;   /* twice: tiles take double their words */
  int n_parts;
  mem_part part[PARTS];
  ratio read_pj, write_pj, hop_pj, latency, issue;
  /* of a unit */
  ratio rate, pipeline, pj;
} resource;

typedef struct {
  char name[NAME];
  unsigned dims; /* bit d: dim d indexes it */
  int64_t bits;
  wide words; /* elements */
  bool produced;
  int home; /* the memory in which it lives */
} tensor;

typedef struct {
  objective objective;
  overlap overlap;
  int n; /* memories, outermost first; the unit stands below the last */
  resource memory[MEMORIES], unit;
  int n_dims, n_tensors;
  char dim[DIMS][NAME];
  int64_t extent[DIMS];
  tensor tensor[TENSORS];
} problem;

/* What stands below memory l. */
static inline const resource *below(const problem *p, int l) {
  return l + 1 < p->n ? &p->memory[l + 1] : &p->unit;
}

/* Whether a memory's part holds tensor z; NULL: all of the memory, which holds any.  The first
 * input is the left one, the second the right one. */
bool is_for(const problem *p, const mem_part *k, int z);

/* Whether words with these bits are too many for the memory or a part of it; and the bits that
 * tiles of so many take, of which one half may be used while the other is filled. */
bool overflows(const resource *m, const mem_part *k, wide bits);
wide doubled(const resource *m, const mem_part *k, wide bits);

static inline bool indexes(const tensor *z, int d) { return z->dims >> d & 1; }

/* ---- a mapping: Tiles, one inside the other ------------------------------------------------- */
enum { IN_TIME = -1 };
typedef struct {
  int tile, dim, axis; /* axis: IN_TIME, 0 (X), 1 (Y) */
  int64_t trip;
} loop;

typedef struct {
  int n_tiles, n_loops;
  int level[TILES], first[TILES]; /* memory; number of the first loop */
  unsigned bypass[TILES];         /* bit z */
  loop loop[LOOPS];               /* outermost first */
} mapping;

/* What the mapping costs, in fixed point: cycles, pJ, pJ times cycles, or words through the
 * outermost memory. False where it does not fit, with the reason in *why. */
bool count(const problem *p, const mapping *m, wide *value, const char **why);

/* ---- boxes of mappings ---------------------------------------------------------------------- */
typedef struct {
  int64_t lo, hi;
} span;

/* All mappings with one Tile for each memory and these numbers: instances over which a Tile spreads
 * a dim on each axis, steps in which it takes it (the outermost Tile: as many as cover the dim),
 * and the length of it that enters, or the dim's where that is less. */
enum { NO_ORDER = -1, ANY_ORDER = -2 }; /* none yet, or none that matters */
typedef struct {
  span spread[MEMORIES][2][DIMS];
  span steps[MEMORIES][DIMS], length[MEMORIES][DIMS]; /* [0] not used */
  int order[MEMORIES];                                /* number of the permutation of the groups */
  int place[MEMORIES][DIMS]; /* of the dim's loop: 0 outermost, then the groups; without order: 0 */
  unsigned held[MEMORIES],
      passed[MEMORIES]; /* bit z: the memory holds the tensor; is bypassed; neither: either */
} box;

static inline bool surely_held(const box *b, int l, int z) { return b->held[l] >> z & 1; }
static inline bool may_be_held(const box *b, int l, int z) { return !(b->passed[l] >> z & 1); }

enum { GROUPS = 4, ORDERS = 24 };
typedef struct {
  int n;              /* groups of dims that index the same tensors */
  int group_of[DIMS]; /* -1: a dim that indexes all of them, whose loops stand outside of the others
                       */
  int orders, list[ORDERS][GROUPS];
} groups;

typedef struct {
  int64_t leaves[32]; /* by the letter of the branch, & 31 */
} proof_counts;

/* Steps of a dim at a Tile, of any mapping of the box. */
span steps_at(const problem *p, const box *b, int tile, int d);
/* Whether in every mapping of the box some step, or instance of an axis, would begin beyond the end
 * of its dim. */
bool beyond_end(const problem *p, const box *b);
/* Whether no mapping of the box fits into the memory. */
bool too_large(const problem *p, const box *b, int memory);
/* No mapping of the box costs less, in fixed point.  Not to be asked of a box beyond the end. */
wide least_cost(const problem *p, const box *b);

/* No mapping whatever costs less. */
wide floor_of(const problem *p);

/* Reads the branches from the file, and returns what no mapping of the space is below. */
wide prove(const problem *p, proof_counts *n);

#endif
