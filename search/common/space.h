/* A space of choices: a row of decisions, each with a domain that the choices before it may narrow.  Strategies
 * (search/strategy) know spaces by this alone; shapes of trees and trip counts (search/space) are two. */
#ifndef SEARCH_COMMON_SPACE_H
#define SEARCH_COMMON_SPACE_H
#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"

enum {
  TF_DOMAIN_MAX = 256, /* choices that one decision may have */
  TF_ANY = -1          /* in a row that wishes: no wish.  Choices are 0 or more */
};

typedef struct tf_space tf_space;

/* What a space must say of itself, and what it may know.  A row is [n] choices; order[i] is 1 for the decision that had
 * a say first, 0 for one that had none. */
typedef struct {
  /* Starts a candidate: nothing is taken. */
  void (*begin)(tf_space *s);
  /* What decision i may be, ascending; decisions 0 .. i - 1 have been taken.  Returns how many; 0: a dead end. */
  int (*domain)(tf_space *s, int i, int32_t domain[TF_DOMAIN_MAX]);
  /* Takes one of them, and notes it in chosen[i]. */
  void (*take)(tf_space *s, int i, int32_t choice);
  /* ---- NULL where it knows nothing better than the lot ---- */
  /* A choice by lot, where domains do not depend on each other and the lot is not even. */
  int32_t (*draw)(const tf_space *s, int i, tf_rng *rng);
  /* A promising choice of the n in the domain; lot: 32 random bits. */
  int32_t (*guess)(const tf_space *s, int i, const int32_t *domain, int n, uint32_t lot);
  /* A step to a neighbour of a row, which may hold wishes. */
  void (*vary)(tf_space *s, tf_rng *rng, const uint32_t *order, int32_t *row);
  /* Puts wishes where a row has none. */
  void (*complete)(const tf_space *s, int32_t *row);
  /* The k-th of n_seeds good starts. */
  void (*seed)(tf_space *s, int k, tf_rng *rng, int32_t *row);
  /* Decisions of one group, 0 .. n_groups - 1, are best inherited together. */
  int (*group)(const tf_space *s, int i);
  /* One number for the kind of candidate: kinds are kept apart for longer. */
  uint64_t (*species)(const tf_space *s, const int32_t *row, const uint32_t *order);
  /* Builds the candidate that is taken, for which decisions had a say.  The one read k-th depends on those read before
   * it alone.  NULL: all, in turn. */
  void (*order)(tf_space *s, uint32_t *order);
} tf_space_kind;

/* The first member of each space of a kind. */
struct tf_space {
  const tf_space_kind *kind;
  int n;           /* decisions */
  int32_t *chosen; /* [n] */
  bool fixed;      /* no domain depends on another choice: every row within them is a candidate */
  int n_seeds, n_groups;
  double (*cost)(
      void *ctx); /* builds and evaluates what is taken; less is better.  Set by whoever explores the space */
  void *ctx;
};

/* Undoes decisions i and after; those before stand. */
void tf_space_back(tf_space *s, int i);
/* Takes the choices of the row, or the next that the domains allow.  False: a dead end. */
bool tf_space_follow(tf_space *s, const int32_t *row);
/* A candidate by lot.  A dead end starts anew; false where that happens again and again. */
bool tf_space_random(tf_space *s, tf_rng *rng);
/* A neighbour of the row: what its kind knows, else another choice for one decision that had a say.  order NULL: all
 * had. */
void tf_space_vary(tf_space *s, tf_rng *rng, const uint32_t *order, int32_t *row);
/* The choice of n ascending ones that a wish means: itself, the next above, or the last. */
int32_t tf_space_nearest(const int32_t *domain, int n, int32_t wish);
#endif
