/* How likely elements of a tensor are zero together (docs/SEMANTICS.md section 8). */
#ifndef MODEL_SPARSE_ODDS_H
#define MODEL_SPARSE_ODDS_H
#include <stdint.h>

/* How the zeros among some elements of a tensor fall. */
typedef enum {
  TF_ODDS_DRAWN, /* share * all of `all` elements are not zero, every choice of these as likely */
  TF_ODDS_EACH,  /* each by itself */
  TF_ODDS_FIXED, /* share * count of any `count` that are asked for are not zero: whole blocks */
  TF_ODDS_LOOSE  /* in some way that is not known: the least probability that all are zero is told */
} tf_odds_kind;
typedef struct {
  tf_odds_kind kind;
  double share;
  double all;
} tf_odds;

enum { TF_ODDS_MOST = 1 << 16 }; /* elements that are looked at one by one */

/* The probability that `count` elements are all zero. */
double tf_odds_none(const tf_odds *o, double count);
/* The probability that of `count` pairs of elements of two tensors at least one has no zero.  count at most
 * TF_ODDS_MOST; none of them LOOSE. */
double tf_odds_pair(const tf_odds *a, const tf_odds *b, int count);
#endif
