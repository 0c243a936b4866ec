/* Zeros drawn, and what they leave of the accesses of a walk (docs/SEMANTICS.md section 8): the
 * slow twin of model/sparse and model/cost/zeros.c.  The walk notes every access once; each draw of
 * the tensors' zeros then goes through the notes. */
#ifndef TESTS_ORACLE_ZEROS_H
#define TESTS_ORACLE_ZEROS_H
#include "base/rng.h"
#include "tests/oracle/oracle.h"

enum { MAX_NOTES = 60000, MAX_READS = 6, MAX_TENSORS = 16, MAX_USES = 200000 };

/* A point that needs an access: the elements that its op reads there; -1: padding. */
typedef struct {
  short element[MAX_READS];
  int tile[MAX_READS]; /* the note of the tile that serves the operand; -1: none */
} needer;

/* What entered an instance of an m-tile at one moment: words [from, to) of the log, and who has
 * used them while they stayed. */
typedef struct {
  int level, above, tensor;
  int group; /* instances at this moment that load the same */
  int from, to;
  int uses;   /* the last one; -1: none */
  bool reads; /* it speaks for its group, or for itself */
} tile_note;
typedef struct {
  int element,
      outer; /* outer: the note of the tile that it came from; -1: of no tile that has entered */
} tile_word;
typedef struct {
  needer who;
  int op, next;
} tile_use;
/* The notes of what an instance holds. */
typedef struct {
  const void *shelf;
  uint64_t instance;
  int note[MAX_ELEMENTS];
} tile_content;

/* Access to an operand of an op, by all points that share it: needers [from, to) of the log. */
typedef struct {
  int op, ref, element; /* ref -1: the output */
  where_made key;       /* of an output: its memory's instance, and production */
  bool begins;          /* it is the first of its element in a production, whatever came before */
  int from, to;
} access_note;

/* How often each element passes a memory because of m-tiles. */
typedef struct {
  int fill[MAX_ELEMENTS], read[MAX_ELEMENTS], update[MAX_ELEMENTS], drain[MAX_ELEMENTS];
} passes;

typedef struct access_log {
  passes *tiles; /* [level * n_tensors + tensor] */
  access_note *notes;
  needer *needers;
  int n_notes, n_needers, first; /* first: the first note of the operand at hand */
  bool by_tiles;                 /* some rule is of tiles, so that these are noted, too: */
  tile_note *tile;
  tile_word *words;
  tile_use *uses;
  tile_content **held;
  int n_tile, n_words, n_uses, n_held, moment;
  bool full; /* more than there is room for: nothing is to be read off */
} access_log;

access_log *log_new(const tf_tree *tree);
void log_free(access_log *log);
oracle *oracle_run_noting(const tf_tree *tree, int64_t limit, struct access_log *log);

/* What the walk tells: `one` has a 1 for each counter that the entry's elements count in; partial
 * sums are those in `before`. */
void note_entry(oracle *o, int n, int z, const set *load, const set *before, words one);
/* The same of the tile, where it is not made below; group: of those at this moment. */
void note_tile(oracle *o, int n, int z, const set *load, int group, bool reads);
typedef struct {
  int leaf, op, ref;
  int group; /* that it shares with; -1: with nobody */
  where_made key;
} operand_key;
void note_operand(oracle *o, operand_key k, const set *element, const set *met);
/* The note of the tile that element e of the tile `entry` came from; -1: of none. */
int outer_of(const access_log *log, int entry, int e);
void end_operand(oracle *o); /* all instances of the operand have been told */

/* in[element]: false where the element is zero whatever operands hold (zero_places.c); how many are
 * not. */
int places_of(const oracle *o, int z, bool *in);

/* Draws `draws` times, and writes a line for each figure of the model that lies further than three
 * standard errors from the mean; where the model says that it is an upper bound, that lies so far
 * below.  What lies so far is drawn again, 16 and 256 times as often.  Whether the last draw has
 * left tiles out. */
bool compare_zeros(note *n, const oracle *o, const tf_result *r, tf_rng *g, int draws);
#endif
