/* A space of choices: a sequence of decisions, each with a domain that earlier choices may narrow.
 * Strategies (search/strategy) know spaces through this interface alone; search/space implements
 * two: the shapes of trees, and the trip counts of one tree. */
#ifndef SEARCH_COMMON_SPACE_H
#define SEARCH_COMMON_SPACE_H
#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"

enum {
  TF_DOMAIN_MAX = 256, /* most choices of one decision */
  TF_ANY = -1          /* in a row of preferred choices: no preference.  Choices are 0 or more */
};

typedef struct tf_space tf_space;

/* The functions of a space.  A row is [n] choices, or preferred choices (targets) that
 * tf_space_nearest turns into choices.  order[i] says when decision i was read while the candidate
 * was built: 1 for the first read, 0 if it was not read and so has no effect.  An order of NULL:
 * all were read. */
typedef struct {
  /* Starts a candidate, with no decision taken. */
  void (*begin)(tf_space *s);
  /* The domain of decision i, ascending, once decisions 0 .. i - 1 are taken.  Returns its size; 0:
   * a dead end. */
  int (*domain)(tf_space *s, int i, int32_t domain[TF_DOMAIN_MAX]);
  /* Takes one choice of the domain, and stores it in chosen[i]. */
  void (*take)(tf_space *s, int i, int32_t choice);
  /* ---- optional: NULL where uniform random choices will do ---------------------------------- */
  /* A random choice, for spaces whose domains do not depend on each other and whose distribution is
   * not uniform. */
  int32_t (*draw)(const tf_space *s, int i, tf_rng *rng);
  /* A promising choice of the n in the domain; lot: 32 random bits that decide between several. */
  int32_t (*guess)(const tf_space *s, int i, const int32_t *domain, int n, uint32_t lot);
  /* Turns a row, which may hold targets, into one of its neighbours. */
  void (*vary)(tf_space *s, tf_rng *rng, const uint32_t *order, int32_t *row);
  /* Puts targets where a row has no preference. */
  void (*complete)(const tf_space *s, int32_t *row);
  /* Writes the k-th of n_seeds good starting rows. */
  void (*seed)(tf_space *s, int k, tf_rng *rng, int32_t *row);
  /* The group of decision i, 0 .. n_groups - 1.  Crossover inherits a group as a whole. */
  int (*group)(const tf_space *s, int i);
  /* A hash of the kind of candidate.  Strategies keep several kinds alive, so that a promising one
   * is not dropped early. */
  uint64_t (*niche)(const tf_space *s, const int32_t *row, const uint32_t *order);
  /* Builds the candidate whose decisions are taken, and says which decisions were read.  Which one
   * is read k-th depends only on those read before it.  NULL: all are read, in order. */
  void (*order)(tf_space *s, uint32_t *order);
  /* Where finding out which choices of decision i are dead ends takes long, the domain holds these,
   * too, and the next domain is then empty.  Replaces such a choice by another of the n; TF_ANY:
   * there is none. */
  int32_t (*instead)(tf_space *s, int i, const int32_t *domain, int n, int32_t choice);
} tf_space_kind;

/* The first member of every space. */
struct tf_space {
  const tf_space_kind *kind;
  int n;           /* decisions */
  int32_t *chosen; /* [n] */
  bool fixed; /* no domain depends on another choice: every row within the domains is a candidate */
  int n_seeds, n_groups;
  /* Builds and evaluates the candidate; lower is better.  Set by the caller that explores the
   * space. */
  double (*cost)(void *ctx);
  void *ctx;
};

/* The domain of decision i, as `domain`; where the choice before it is a dead end, replaces it
 * first. */
int tf_space_domain(tf_space *s, int i, int32_t domain[TF_DOMAIN_MAX]);
/* Undoes decisions i and after. */
void tf_space_back(tf_space *s, int i);
/* Takes the choices of the row, or the nearest that the domains allow.  False: a dead end. */
bool tf_space_follow(tf_space *s, const int32_t *row);
/* Takes random choices.  At a dead end it begins again; false after many dead ends. */
bool tf_space_random(tf_space *s, tf_rng *rng);
/* Changes the row into a neighbour: by the space's own `vary`, else by giving one decision that was
 * read another choice. */
void tf_space_vary(tf_space *s, tf_rng *rng, const uint32_t *order, int32_t *row);
/* The choice nearest to a target among n ascending ones: itself, else the next greater, else the
 * last. */
int32_t tf_space_nearest(const int32_t *domain, int n, int32_t target);
#endif
