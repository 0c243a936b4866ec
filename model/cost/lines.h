/* Lines that accesses touch, and the cycles that banks need for them (docs/SEMANTICS.md section 9). */
#ifndef MODEL_COST_LINES_H
#define MODEL_COST_LINES_H
#include "model/cost/state.h"
#include "model/layout/sum.h"

/* A unit's access to an operand in the step that is walked: by the instance that serves it. */
typedef struct {
  size_t server;
  bool reads; /* a result: it is read, too */
  int64_t at[TF_MAX_RANK];
} tf_line_access;

struct tf_lines {
  tf_move *moved, *cycles; /* [n_slices] lines, and cycles of banks, as words in moves */
  tf_ports *below, *aside; /* [views->n_passes] cycles of banks, as words in below and aside of the model */
  int64_t *room;           /* [views->n_ranks] what m-tiles hold at most along ranks */
  bool noting;             /* a walk notes every access */
  bool walked;             /* one has */
  bool failed;             /* a sum passes 2^63 - 1, or there is too much to look at */
  tf_line_set set;
  tf_line_access *step; /* accesses of one operand in a step */
  int64_t n_step;
  tf_lines_result res;
};

/* Creates m->lines where some memory has lines; false if memory ran out. */
bool tf_lines_new(struct tf_model *m);
void tf_lines_free(struct tf_lines *l);
void tf_lines_clear(struct tf_model *m);
/* Whether memory `level` has lines. */
static inline bool tf_has_lines(const struct tf_model *m, int level) { return m->plan->arch->memories[level].line > 0; }
/* How slice i lies in its own memory, or in the one that serves it; needs rank_len (or, while a walk notes, room). */
bool tf_lines_own(const struct tf_model *m, int i, tf_places *p);
bool tf_lines_up(const struct tf_model *m, int i, tf_places *p);
/* What enters an instance in a walk: its box less what it has; fresh: for those that share it, first: at all. */
void tf_lines_enter(struct tf_model *m, int i, const tf_ival *box, const tf_ival *has, bool fresh, bool first);
/* A unit's access in the step that is walked; the end of the step. */
void tf_lines_access(struct tf_model *m, int i, size_t server, const tf_ival *point, bool reads);
void tf_lines_step(struct tf_model *m, int i);
/* Adds lines and cycles to what slice i moves. */
void tf_lines_add(struct tf_model *m, int i, const tf_move *lines, const tf_move *cycles);
/* Fills what nodes cause, and the result; needs in_use. */
void tf_lines_ports(struct tf_model *m);
/* Cycles of the banks that a pass needs. */
double tf_lines_time(const struct tf_model *m, int pass);
/* Words of memory `level` that the lines of a counter take, no fewer than `words`. */
double tf_lines_words(const struct tf_model *m, int level, int64_t lines, double words);
#endif
