/* The brute-force walk of an execution, written from docs/SEMANTICS.md: it steps
 * through every iteration of every loop in every instance and keeps the set of elements that each
 * memory instance holds.  It shares no code with model/; it takes only parsed trees from the
 * library. Slow and obvious on purpose, for extents of a few elements. */
#ifndef TESTS_ORACLE_ORACLE_H
#define TESTS_ORACLE_ORACLE_H
#include "tileflow/model.h"
#include "tileflow/tree.h"

enum {
  MAX_RANK = 8,
  MAX_DIMS = 16,
  MAX_ELEMENTS = 4096,
  MAX_PATH = 48,
  MAX_NODES = 320,
  MAX_OPS = 128,
  MOST_BOUNDS = 8,
  MAX_LEVELS = 16,
  MAX_PRODUCTIONS = 512,
  MAX_RETAINING = 512,
  MAX_AT_HOME = 4096,
  MAX_CLASSES = MAX_PATH + 1
};

/* What a case had, for the coverage table. */
typedef enum {
  SAW_PORTS,
  SAW_FLOOR,
  SAW_HIDDEN,
  SAW_NO_ROOM,
  SAW_FOLLOWS,
  SAW_IDLE,
  SAW_FIXES,
  SAW_LEFT_OUT,
  SAW_HELD,
  SAW_NEEDED,
  SAW_ROUND,
  SAW_WIDE,
  N_EVENTS
} event;

/* Corrections of a streamed reduction (SEMANTICS D11). */
typedef enum { FIX_EXP, FIX_MUL, FIX_DIV, N_FIXES } fix;

/* lo .. lo + len - 1; len <= 0: empty. */
typedef struct {
  int64_t lo, len;
} span;

typedef struct {
  bool empty;
  span rank[MAX_RANK];
} box;

/* A set of elements of one tensor. */
typedef struct {
  unsigned char in[MAX_ELEMENTS];
} set;

/* Content of one memory instance: what the m-tile `node` left of a tensor. */
typedef struct {
  uint64_t instance; /* key of the spatial settings above the m-tile */
  int node;
  set what;
} copy;

/* What m-tiles that see each other's content hold of one tensor at one level. */
typedef struct {
  int level, tensor, first; /* first: the first of these m-tiles */
  int latest;               /* m-tile entered latest, -1 */
  int n;
  copy *copies;
} shelf;

/* A memory's instance, 0 where any will do, and the production: two keys, for one number made of
 * both could be that of another pair. */
typedef struct {
  uint64_t instance, production;
} where_made;

static inline bool same_made(where_made a, where_made b) {
  return a.instance == b.instance && a.production == b.production;
}

/* Elements met in a production, by memory instance or by production. */
typedef struct {
  int what; /* m-tile node, or the op's leaf */
  where_made key;
  set met;
} record;

/* A retained intermediate: what its home still has and what this run makes, by instance of the
 * scope. */
typedef struct {
  int n;
  uint64_t key[MAX_RETAINING];
  bool open; /* its scope runs now: made is in force */
  box held[MAX_RETAINING], made[MAX_RETAINING];
} halo;

typedef struct {
  int64_t fill, read, update, drain;
} words;

/* Words by the instance of the memory whose ports they pass: fill and drain by that of the m-tile,
 * read and update by that of the server. */
typedef struct {
  int n;
  struct {
    uint64_t instance;
    words w;
  } * of;
} shares;

/* What passes a network; uneven: at some moment instances moved unlike words. */
typedef struct {
  int n;
  struct link {
    uint64_t key;
    double words;
  } * link;
  double hops, told; /* told: words of the busiest link, where they are taken from elsewhere */
  bool uneven;
} network;

/* One instance at one moment: its words, those that carry a partial result, and whether it speaks
 * for its group. */
enum { MAX_FLOWS = 4096, MAX_SERVERS = 256 };
typedef struct {
  uint64_t net[16]; /* [level] the network that feeds it: by the places further out */
  int64_t at[16][2],
      side[16]
          [2]; /* its place there; the network's sides, or what the loops take if that is more */
} where;

/* On a mesh: the corner of a node's rectangle in its scope's, and the sides of all rectangles of a
 * scope together. */
typedef struct {
  int64_t corner[2], whole[2];
} berth;
typedef struct {
  int group;
  int64_t all, partial;
  bool speaks;
  where place;
} arrival;

/* Words on their way; alone: where they left networks that do not merge them. */
typedef struct {
  int group;
  uint64_t alone;
  double all, words; /* words: in those of the memory whose network they pass */
  where place;
} flow;
typedef struct {
  int n;
  flow *list; /* [MAX_FLOWS] */
} flows;

/* A comparison of a mask's condition, which leaves what makes it true (holds) or false. */
typedef struct {
  int expr;
  bool holds;
} mask_bound;

typedef struct {
  const tf_tree *tree;
  const tf_workload *wl;
  const tf_arch *arch;
  network networks[16];   /* [level] */
  bool topologies;        /* some network has one; then: */
  struct late_step *late; /* [op] */
  flows flows;
  berth *spots[MAX_LEVELS]; /* [n_nodes] of networks whose stages have places; NULL: none has */
  arrival *arrivals;        /* [MAX_FLOWS] of this moment */
  int n_arrivals;
  int64_t digit[MAX_NODES][16]; /* setting of each Tile's loops */
  uint64_t radix;               /* of instances' keys: no spatial loop takes more steps */
  int n_shelves;
  shelf *shelves;
  int n_records[256]; /* [tensor] */
  record *records[256];
  int unit[MAX_OPS]; /* [op] */
  halo **kept;       /* [tensor]; NULL: not retained */
  int whole;         /* retained intermediate that is taken in full, -1 */
  bool *leads;       /* [op * n_nodes + node] */
  /* lines (lines.c) */
  bool lines, banks;   /* some memory has lines; what is asked for are cycles of banks */
  int64_t *room;       /* [as extent] what m-tiles hold at most, from a walk before */
  words *line_moved;   /* [level * n_tensors + tensor] lines */
  words *lines_by_ref; /* [op * 16 + reference] */
  shares *bank_own_by_node, *bank_up_by_node,
      *bank_up_by_ref; /* cycles of banks, as words in own_by_node .. */
  int n_at_once;       /* accesses of one operand at one step, by the instance that serves them */
  struct at_once {
    uint64_t server;
    set read, update;
  } * at_once; /* [MAX_SERVERS] */
  /* results */
  words *moved;   /* [level * n_tensors + tensor] */
  words *by_node; /* [node * n_tensors + tensor] m-tiles: fill, drain own; read, update at the
                     server */
  words
      *by_ref; /* [op * 16 + reference] an op's operands, output last: read, update at the server */
  /* the same by instance; own: of the m-tile, up: of the server */
  shares *own_by_node, *up_by_node, *up_by_ref;
  /* [(node * MAX_CLASSES + class) * n_tensors + tensor] those of a class; but for entries that
   * follow a sibling's below a scope: [(node * n_nodes + scope) * n_tensors + tensor] */
  shares *own_by_class, *up_by_class, *own_by_scope, *up_by_scope;
  shares *up_corrected; /* [op] of corrected (as read) and corrected_once (as update) */
  shares *up_rescaled;  /* as rescaled */
  int64_t *peak;        /* [level * n_tensors + tensor] */
  int64_t *held;        /* [node] most bits an m-tile holds, once */
  int64_t *largest;     /* [node * n_tensors + tensor] most words an m-tile holds of it */
  int64_t *extent;      /* [(node * n_tensors + tensor) * MAX_RANK + rank] the same by rank */
  int64_t *corrected,
      *corrected_once;   /* [op] elements of a streamed output: every run, once a production */
  int64_t *runs, *width; /* [node] moments; most instances at once */
  int *class_now; /* [node] class of its present step: 0 the first of all, 1 + i: the i-th loop of
                     its path is the innermost temporal one not at its first iteration */
  int64_t *class_steps;     /* [node * MAX_CLASSES + class] */
  int64_t *points, *units;  /* [op] */
  int64_t *fixes;           /* [op * N_FIXES + kind] points of corrections, beside `points` */
  words *rescaled;          /* [scope * n_tensors + tensor] read and updated by corrections */
  int64_t *home;            /* [tensor] largest slice of an intermediate at home */
  int64_t *level_peak;      /* [level] words of the memory */
  int64_t part_peak[16][3]; /* [level][part] the same of its parts */
  words part_moved[16][3];  /* [level][part] of all tensors while they are in it */
  const tf_mem_part *part;  /* what is held is that of a part; NULL: of the memory */
  double cycles, *node_cycles, *level_cycles, *unit_cycles;
  int64_t *level_instances, *unit_use;
  int masked; /* op that selects -inf, -1: none does */
  mask_bound bound[MOST_BOUNDS];
  int n_bounds, mask_l, mask_q; /* the two dims whose distance it bounds */
  bool may_skip[MAX_NODES];     /* all below the node is such */
  bool fully_masked[MAX_OPS],
      skips; /* [op] nobody needs what it makes where that is false; a step is being left out */
  int64_t (*was)[MAX_PATH]; /* [node] where its loops stood at the step before */
  int64_t *skipped;         /* [op] points of steps left out */
  int64_t *lost;            /* [op] reads of elements that are not at home */
  int64_t steps;            /* taken so far, against `limit` */
  int64_t limit;
  struct access_log *log; /* zeros.h; NULL: accesses are not noted */
  bool everywhere;        /* loops do not split what wanders (home.c) */
  bool no_borders;        /* ranges are as if no tensor ended anywhere */
  bool mean;              /* ports are those of the mean instance */
  const char *too_many;   /* why it gave up: of these there are more than the walk has room for */
  bool gave_up;           /* nothing is to be read off */
  bool saw[N_EVENTS];
} oracle;

/* NULL when memory runs out. */
oracle *oracle_run(const tf_tree *tree, int64_t limit);
void oracle_free(oracle *o);

/* ---- what streaming leaves out of the steps (online.c) --------------------------------------- */
typedef struct late_step {
  bool left_out[64]; /* [read] a running sum, which counts as 1, or a number made of such */
  bool no_points;    /* it only hands an operand or a number on */
  bool idle;         /* a number, `value`: it is not run */
  double value;
  int divided_by; /* of a streamed sum: the op of the sum that divides it at the end; -1: none */
} late_step;
void find_late(const oracle *o, late_step *step); /* [op] */

/* ---- what there is room for (facts.c) ------------------------------------------------------ */
void give_up_walk(oracle *o, const char *too_many);
/* Gives up where the case is too large for the tables, and finds the radix of instances' keys. */
void find_room(oracle *o);

/* ---- facts of the tree (facts.c) ---------------------------------------------------------- */
bool below(const oracle *o, int n, int top); /* n is top or stands below it */
bool op_below(const oracle *o, int op, int top);
bool touches(const oracle *o, int op, int z);
bool touched_below(const oracle *o, int top, int z);
bool leads(const oracle *o, int op, int n);   /* no op below n reads what it makes */
void note_leads(oracle *o);                   /* asked often */
int mtile(const oracle *o, int n, int level); /* first Tile of the level on the path to n; -1 */
int home_scope(const oracle *o, int z);       /* -1: an input or output of the workload */
int home_level(const oracle *o, int z);
bool holds(const oracle *o, int tile, int z); /* an m-tile that holds z */
int server(const oracle *o, int n, int z,
           int level);                     /* innermost level outside `level` that holds z */
bool makes(const oracle *o, int n, int z); /* the op that makes z is below n */
int lowest_common(const oracle *o, int a, int b);
int unit_of(const oracle *o, int op); /* the first that has the op's kinds, below all its Tiles */
int stream_scope(const oracle *o, int op); /* scope that streams op's output; -1 */
/* The scope below which an entry of m-tile n for z, at the digits set, follows a sibling's
 * (SEMANTICS D18); -1 */
int follows(const oracle *o, int n, int z);
/* Loops on the path to n, outer to inner, own loops of Tiles strictly above n. */
typedef struct {
  int node, slot;
} place;
int path_to(const oracle *o, int n, place *list);
const tf_loop *loop_of(const oracle *o, place p);

/* ---- ranges (ranges.c) -------------------------------------------------------------------- */
span dim_range(const oracle *o, int op, int dim, int n); /* on entry to n, at the digits set */
/* Elements one iteration of the loop takes: the trip counts of its dim further inside on op's path.
 */
int64_t step(const oracle *o, int op, place p);
/* Whether op's dim enters the node from which op leads as a range that moves from one run to the
 * next. */
bool wanders(const oracle *o, int op, int dim);
bool idle(const oracle *o, int op, int n);
box op_box(const oracle *o, int op, int ref, int n); /* ref -1: its output */
box slice(const oracle *o, int n, int z);            /* of all ops below n that run */
int64_t volume(const oracle *o, int z, const box *b);
void join_boxes(const oracle *o, int z, box *all, const box *b); /* all: the box around both */
bool splits_alike(oracle *o); /* ops below a spatial loop split its dim alike */
/* Lower corner's shift, per rank, of m-tile n's slice of z for one step of the loop at p: full
 * tiles, no borders. */
void step_effect(oracle *o, int n, int z, place p, int64_t *shift);

/* ---- masks (masks.c) ------------------------------------------------------------------------ */
extern bool oracle_all_points; /* steps that a mask leaves out count like others */
void find_mask(oracle *o);
bool left_out(oracle *o, int n); /* the step of node n at the digits set: all its instances */
/* Whether node n has run in an earlier setting of these loops, the rest of its path standing. */
bool happened_before(oracle *o, int n, const place *loops, int n_loops);
int64_t running(oracle *o, int n); /* instances of node n in which some op has work (run.c) */

/* ---- words by instance (share.c) ------------------------------------------------------------- */
words *share_at(shares *s, uint64_t instance);
void add_words(words *to, words w);
/* Notes the words of the instance at hand among those of its memory, and of the one that serves it.
 */
void note_shares(const oracle *o, int n, int z, shares *own, shares *up, words w);
bool make_shares(oracle *o);
void free_shares(oracle *o);

/* ---- instances and content (store.c) ------------------------------------------------------- */
void first_instance(oracle *o, int n);
bool next_instance(oracle *o, int n);          /* of the spatial loops above n */
uint64_t instance_key(const oracle *o, int n); /* settings of spatial loops above n that turn */
shelf *shelf_of(oracle *o, int tile, int z);
copy *copy_at(shelf *s, uint64_t instance, bool add);
set *met_at(oracle *o, int z, int what, where_made key);
void forget_production(oracle *o, int z);
void pass_seq(oracle *o, int scope, int child);
void leave_child(oracle *o, int scope, int child);
void check_layout(oracle *o, shelf *s, int tile);
void fill_set(const oracle *o, int z, const box *b, set *out);
int64_t count_set(const oracle *o, int z, const set *s);

/* ---- networks (network.c) ------------------------------------------------------------------- */
/* Where nodes stand in the shelves of the network to memory `level`, from D13; all 0 if they do not
 * fit.  (room.c) */
void find_spots(const oracle *o, int level, berth *spots);
void begin_links(oracle *o); /* before the walk, where some network has a topology */
/* What enters m-tile n for z at one moment goes through the networks. */
void find_links(oracle *o, int n, int z, const arrival *list, int count);
/* Whether units below leaf n read (ref -1: update) the operand past memories that bypass it, at the
 * steps of the op: streams leave some out (late_step). */
bool takes_links(const oracle *o, int n, int op, int ref);
/* The last that arrived updates with others, and gets as much of a partial result as they. */
void share_partial(oracle *o);
/* What units below leaf n read of z at one step, or update in it, past memories that bypass it. */
void find_unit_links(oracle *o, int n, int z, const tf_unit *unit, bool result);
/* Whether instance b stands beside a, on the side of lower or higher x, lower or higher y (turn 0
 * .. 3), or on that side round a torus. */
typedef struct {
  int turn;
  bool round;
} beside_by;
bool beside(const oracle *o, int level, const where *a, const where *b, beside_by *by);
/* One word takes the link between neighbours. */
void hand_over(oracle *o, int level, int z, const where *from, const where *to);
/* The words of each instance, which it shares with no other, go through the networks. */
void find_own_ways(oracle *o, int n, int z, const arrival *list, int count);
where place_of(const oracle *o,
               int n); /* of the instance at hand of m-tile n, in all networks on its way */
double link_time(const oracle *o, int level); /* of the busiest link of any network of the level */
double network_wait(oracle *o, int n);        /* time that hops add to a transfer of m-tile n */

/* ---- sums, words held (figures.c), latency (latency.c) -------------------------------------- */
void find_moves(oracle *o);
void find_peaks(oracle *o);
int leaf_server(const oracle *o, int op, int z); /* memory that serves the op's operand z */
/* What one instance of memory `level` holds from the beginning to the end (home.c): bits of all,
 * words of one tensor.
 */
int64_t home_bits(oracle *o, int level);
int64_t home_room(oracle *o, int z);
bool share_instance(const oracle *o, int scope,
                    int level); /* whether children share one (SEMANTICS D12) */
/* mean: what passes a port is that of the mean instance, not of the busiest. */
void find_latency(oracle *o, bool mean);
/* Whether that may be: borders clip, a scope retains, a tensor is read by two indices, or ops split
 * a spatial loop's dim differently. */
bool mean_allowed(oracle *o);
/* The part of memory `level` that holds z for what is below node n (parts.c); NULL: none. */
const tf_mem_part *part_of(const oracle *o, int level, int n, int z);
void find_parts(oracle *o); /* what passes the parts */
/* Of what o->part must hold: whether z counts, held for what is below node n; the bits of so many
 * words of it. */
bool in_part(const oracle *o, int level, int n, int z);
int64_t held_bits(const oracle *o, int z, int64_t n);
double work_pj(const oracle *o);   /* of all points and corrections (latency.c) */
double energy_of(const oracle *o); /* of all */
bool fits(const oracle *o);        /* whether every memory and mesh has room (room.c) */

/* ---- lines and banks (lines.c) -------------------------------------------------------------- */
typedef struct {
  int64_t lines, cycles;
} touched;
/* What an access to these elements touches of memory `level`, for what is below node n. */
touched lines_of(oracle *o, int n, int level, int z, const set *s);
/* What enters an instance of m-tile n; of it what carries a partial result is in `before`. */
void note_lines(oracle *o, int n, int z, const set *load, const set *before, bool speaks);
/* An access of a unit; the end of those at one step, to the operand z of leaf n, reference `at`. */
void note_access(oracle *o, uint64_t server, const set *element, bool reads, bool updates);
void end_access(oracle *o, int n, int z, int at);
/* Begins and ends that; room is taken over. */
void make_lines(oracle *o, int64_t *room);
void free_lines(oracle *o);
/* Cycles of the banks of memory `level` while n runs (latency.c). */
double bank_time(oracle *o, int n, int level);
/* run.c */
words moves_of(const oracle *o, int n, int z, int64_t all, int64_t partial, bool speaks);
uint64_t parent_key(const oracle *o, int n, int z, int level);

/* ---- beside the model (compare.c) ----------------------------------------------------------- */
typedef struct {
  char text[8192];
  size_t len;
} note;
/* Writes a line for each figure of the model that differs from the walk's, and for each that can
 * never be: a port or unit busier than the whole, or what lies below a bound. */
void compare_results(note *n, oracle *o, const tf_result *r);
/* The same where the words of all causes are not the words that model m counted. */
void compare_causes(note *n, const oracle *o, tf_model *m, const tf_result *r);

/* The number of elements of tensor z. */
static inline int size_of(const oracle *o, int z) {
  return (int)tf_tensor_words(&o->wl->tensors[z]);
}
#endif
