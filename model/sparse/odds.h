/* How likely elements of a tensor are zero together (docs/SEMANTICS.md section 8). */
#ifndef MODEL_SPARSE_ODDS_H
#define MODEL_SPARSE_ODDS_H
#include <stdbool.h>
#include <stdint.h>

/* How the zeros among some elements of a tensor fall. */
typedef enum {
  TF_ODDS_DRAWN, /* share * all of `all` elements are not zero, every choice of these as likely */
  TF_ODDS_EACH,  /* each by itself */
  TF_ODDS_FIXED, /* share * count of any `count` that are asked for are not zero: whole blocks */
  TF_ODDS_TOLD,  /* all of a fiber: `of[j]` of the fibers have j elements that are not zero */
  TF_ODDS_LOOSE /* in some way that is not known: the least probability that all are zero is told */
} tf_odds_kind;
typedef struct {
  tf_odds_kind kind;
  double share;
  double all;
  double per; /* DRAWN: as many of the elements that are asked for are zero together; 0: each is
                 drawn */
  const double *of; /* TOLD: [n_of] */
  int64_t n_of;
} tf_odds;

static inline tf_odds tf_odds_of(tf_odds_kind kind, double share, double all) {
  return (tf_odds){.kind = kind, .share = share, .all = all};
}

enum { TF_ODDS_MOST = 1 << 16 }; /* elements that are looked at one by one */

/* The probability that `count` elements are all zero. */
double tf_odds_none(const tf_odds *o, double count);
/* The fewest of `count` elements that no more of them are not zero but with a probability of at
 * most `doubt`; at most, by Chernoff's bound, where they are LOOSE. */
double tf_odds_most(const tf_odds *o, double count, double doubt);
/* Whether elements of these fall together, so that in a pair only one of both may. */
bool tf_odds_grouped(const tf_odds *o);
/* The probability that of `count` pairs of elements of two tensors at least one has no zero.  count
 * at most TF_ODDS_MOST; none of them LOOSE, not both grouped. */
double tf_odds_pair(const tf_odds *a, const tf_odds *b, int count);
#endif
