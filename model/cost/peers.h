/* Words that instances take from their neighbours (docs/SEMANTICS.md section 5), place by place:
 * the walk notes them, and what came from further out; then all that takes the links of these
 * networks is added up, link by link. */
#ifndef MODEL_COST_PEERS_H
#define MODEL_COST_PEERS_H
#include "model/cost/network.h"
#include "model/cost/state.h"

/* Whence a word comes: the neighbour of lower or higher x or y, or further out. */
typedef enum {
  TF_LESS_X,
  TF_MORE_X,
  TF_LESS_Y,
  TF_MORE_Y,
  TF_N_BESIDE,
  TF_FROM_ABOVE = TF_N_BESIDE,
  TF_N_WHENCE
} tf_whence;

/* One instance at one moment: whether and what it needs; its new words, those of them that it takes
 * from further out, and those that it hands on. */
typedef struct tf_handed {
  bool needs;
  tf_ival box[TF_MAX_RANK];
  int64_t load, rest, sent;
} tf_handed;

/* The networks that feed one memory, those of all instances of the memory above. */
typedef struct {
  int64_t side[2], networks;
  size_t first; /* of their places */
} tf_peer_level;

typedef struct tf_peers {
  tf_arena *arena;
  tf_peer_level level[TF_NET_LEVELS];
  size_t n;          /* places */
  double *came;      /* [place * TF_N_WHENCE + whence] bits */
  double *link;      /* [place * TF_N_BESIDE + whence] words on the link that comes from there */
  tf_handed *handed; /* [index of the instance] at the moment at hand */
} tf_peers;

enum { TF_PEERS_MOST = 1 << 20 }; /* places */

/* NULL: out of memory, which *starved says, or more places than that. */
tf_peers *tf_peers_new(const struct tf_model *m, bool *starved);
void tf_peers_free(tf_peers *k);
void tf_peers_clear(tf_peers *k);
/* The place of the instance of memory `level` that the loops above node n select. */
size_t tf_peers_place(const struct tf_model *m, int n, int level, const int64_t *cur);

/* Whether slice i takes words from the neighbours of its memory's instances; each word that it
 * takes from further out takes its way alone then. */
static inline bool tf_hands(const struct tf_model *m, int i) {
  const tf_slice *s = &m->plan->slices[i];
  return !s->leaf && !s->makes && m->plan->arch->memories[s->level].peers;
}

/* ---- beside.c: where all instances do alike */

/* Positions of a slice's path: of loops that fill its network along X and Y, and that move its box.
 * Of `all` instances of a network `apart` take their words from further out. */
typedef struct {
  uint64_t x, y, moving;
  int64_t apart, all;
} tf_beside;
tf_beside tf_beside_of(const struct tf_model *m, int i, uint64_t moving);
/* Makes peers and each, with a row for each instance; needs width.  False: too many, or out of
 * memory. */
bool tf_beside_new(struct tf_model *m);
void tf_beside_drop(struct tf_model *m);
/* Adds what the first instance moves of slice i to the rows: in class c of its entries, and over
 * the run (m->flows). b: it is handed on, and `drain` is what of the fill goes to neighbours; NULL:
 * it is not. */
void tf_beside_cells(struct tf_model *m, int i, int c, const tf_beside *b, const tf_flow *v);
void tf_beside_flows(struct tf_model *m, int i, const tf_beside *b);
/* Notes whence these words, that each instance loads over the run, come to each. */
void tf_beside_come(struct tf_model *m, int i, const tf_beside *b, int64_t words);
void tf_beside_end(struct tf_model *m);

/* ---- links */

/* Words of slice i that pass the network to memory `level`, spread evenly: those for all that share
 * them at once (or, not merged, for each of them), and those for the first of them. */
typedef struct {
  double words, first;
  bool merged, back;
} tf_peer_words;
void tf_peers_pass(struct tf_model *m, int i, int level, const tf_net_line side[2],
                   tf_peer_words w);
/* Adds what came to what has passed so: words over all links of the level, and over the busiest. */
void tf_peers_links(struct tf_model *m, int level, double *hops, double *busiest);
#endif
