/* Words that instances take from their neighbours (docs/SEMANTICS.md section 5), place by place:
 * the walk records them, and those from further out; then all words on the links of these networks
 * are added up, link by link. */
#ifndef MODEL_COST_PEERS_H
#define MODEL_COST_PEERS_H
#include "model/cost/network.h"
#include "model/cost/state.h"

/* The source of a word: the neighbour of lower or higher x or y, or the memory further out. */
typedef enum {
  TF_LESS_X,
  TF_MORE_X,
  TF_LESS_Y,
  TF_MORE_Y,
  TF_N_BESIDE,
  TF_FROM_ABOVE = TF_N_BESIDE,
  TF_N_SOURCES
} tf_source;

/* One instance at one moment: its needs; its new words, those of them that it takes from further
 * out, and those that it hands on. */
typedef struct tf_handed {
  bool needs;
  tf_ival box[TF_MAX_RANK];
  int64_t load, from_above, sent;
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
  double *came;      /* [place * TF_N_SOURCES + source] bits */
  double *link;      /* [place * TF_N_BESIDE + source] words on the link that comes from there */
  tf_handed *handed; /* [index of the instance] at the current moment */
} tf_peers;

enum { TF_PEERS_MOST = 1 << 20 }; /* places */

/* NULL: out of memory, reported in *starved, or too many places. */
tf_peers *tf_peers_new(const struct tf_model *m, bool *starved);
void tf_peers_free(tf_peers *k);
void tf_peers_clear(tf_peers *k);
/* The place of the instance of memory `level` that the loops above node n select. */
size_t tf_peers_place(const struct tf_model *m, int n, int level, const int64_t *cur);

/* Sets the spatial loops of slice i's path to the instance from which a word may come.  False:
 * there is none.  *round: it is at the other end of a torus. */
bool tf_peers_beside(const struct tf_model *m, int i, tf_source from, int64_t *cur, bool *round);

/* Boxes whose words the instance need not take from further out, in the order in which they are
 * looked up; the first is its own. */
enum { TF_PEER_BOXES = 1 + 2 * TF_N_BESIDE };
typedef struct {
  int rank, n;
  const tf_ival *had[TF_PEER_BOXES];
} tf_peer_boxes;
/* Adds a box: the elements of `box` that are in it, and in none of those before. */
int64_t tf_peer_ask(tf_peer_boxes *q, const tf_ival *box, const tf_ival *had);

/* Whether slice i takes words from the neighbours of its memory's instances; then each word from
 * further out has a route of its own. */
static inline bool tf_hands(const struct tf_model *m, int i) {
  const tf_slice *s = &m->plan->slices[i];
  return !s->leaf && !s->makes && m->plan->arch->memories[s->level].peers;
}

/* ---- peers_even.c: all instances work alike --- */

/* Path positions of a slice: loops that fill its network along X and Y, and that move its box.  Of
 * `all` instances of a network, `distinct` take their words from further out. */
typedef struct {
  uint64_t x, y, moving;
  int64_t distinct, all;
} tf_peer_pattern;
tf_peer_pattern tf_peer_pattern_of(const struct tf_model *m, int i, uint64_t moving);
/* Creates peers and each, with a row for each instance; needs width.  False: too many, or out of
 * memory. */
bool tf_peers_even_new(struct tf_model *m);
void tf_peers_even_drop(struct tf_model *m);
/* Adds the first instance's words of slice i to all rows: in class c of its entries, and over the
 * run (m->flows).  b: words are handed on, and `drain` is the part of the fill that goes to
 * neighbours; NULL: they are not. */
void tf_peers_even_cells(struct tf_model *m, int i, int c, const tf_peer_pattern *b,
                         const tf_flow *v);
void tf_peers_even_flows(struct tf_model *m, int i, const tf_peer_pattern *b);
/* Records the sources of the words that each instance loads over the run. */
void tf_peers_even_sources(struct tf_model *m, int i, const tf_peer_pattern *b, int64_t words);
void tf_peers_even_end(struct tf_model *m);

/* ---- links */

/* Words of slice i that pass the network to memory `level`, spread evenly: those for all that share
 * them at once (or, not merged, for each of them), and those for the first of them. */
typedef struct {
  double words, first;
  bool merged, back;
} tf_peer_words;
void tf_peers_pass(struct tf_model *m, int i, int level, const tf_net_line side[2],
                   tf_peer_words w);
/* Adds the recorded words to those passed so far: words over all links of the level, and over the
 * busiest. */
void tf_peers_links(struct tf_model *m, int level, double *hops, double *busiest);
#endif
