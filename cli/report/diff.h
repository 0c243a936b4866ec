/* Two evaluations, term by term. */
#ifndef CLI_DIFF_H
#define CLI_DIFF_H
#include "cli/cli.h"
#include "cli/text.h"

typedef enum {
  DIFF_TOTAL,
  DIFF_CYCLES,
  DIFF_ENERGY,
  DIFF_WORDS,
  DIFF_HELD,
  DIFF_USED,
  DIFF_N_KINDS
} diff_kind;

/* One figure of both sides; 0 where a side does not have it.  Names are borrowed from the sessions.
 */
typedef struct {
  diff_kind kind;
  const char *name;    /* of the memory or unit; of the total */
  const char *tensor;  /* of words: their tensor; else NULL */
  const char *counter; /* of words: read, update; else NULL */
  double a, b;
} diff_term;

typedef struct {
  const cli_session *a, *b;
  const char *name_a, *name_b; /* the files in which the sides differ */
  int n;
  diff_term *terms; /* by kind, then larger differences first */
  bool bad;         /* memory ran out */
} diff;

void diff_make(diff *d);
void diff_free(diff *d);
/* The causes of side s's words in term t, without compulsory ones, largest first; at most `room`.
 */
int diff_causes(const cli_session *s, const diff_term *t, const tf_why_row **rows, int room);

const char *diff_kind_key(diff_kind k);
void diff_text(const diff *d, cli_text *out);
void diff_json(const diff *d, cli_text *out);
void diff_csv(const diff *d, cli_text *out);
#endif
