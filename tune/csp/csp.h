/* Constraint systems over integers, as Heron describes a space of schedules (Bi et al., ASPLOS
 * 2023; levels.md 3.2): variables with domains, some of them knobs, which a schedule chooses, and
 * constraints between them.  A solution gives every variable a value. */
#ifndef TUNE_CSP_CSP_H
#define TUNE_CSP_CSP_H
#include "base/arena.h"
#include "base/rng.h"
#include "tileflow/diag.h"

/* Kinds of constraints: id, word of the text format, whether it has a result followed by a list. */
/* clang-format off */
#define CSP_KINDS(X)                                                        \
  X(PROD, "PROD", "v is the product of the list, all at least 1")           \
  X(SUM, "SUM", "v is the sum of the list")                                 \
  X(EQ, "EQ", "v is the one of the list")                                   \
  X(LE, "LE", "v is at most the one of the list")                           \
  X(SELECT, "SELECT", "v is the u-th of the list, from 0; u stands first")
/* clang-format on */
typedef enum {
#define X(id, word, what) CSP_##id,
  CSP_KINDS(X)
#undef X
      CSP_N_KINDS
} csp_kind;

enum {
  CSP_SET_MAX = 1024, /* values of a set */
  CSP_LIST_MAX = 64,  /* variables of one constraint */
  CSP_VARS_MAX = 4096
};
#define CSP_MOST (INT64_C(1) << 62) /* the greatest value; products saturate there */

/* A set, ascending, or (n = 0) the range lo .. hi; never negative. */
typedef struct {
  const char *name;
  bool knob, constant;
  int64_t lo, hi;
  int n;
  const int64_t *set;
  int word; /* where its bits begin in the state */
} csp_var;

typedef struct {
  csp_kind kind;
  int v, n;
  const int *list; /* [n] variables */
} csp_rule;

static inline bool csp_names(const csp_rule *r, int v) {
  bool any = r->v == v;
  for (int k = 0; k < r->n; k++)
    any |= r->list[k] == v;
  return any;
}

typedef struct {
  tf_arena *arena;
  int n_vars, n_rules, n_words, room_vars, room_rules;
  csp_var *var;
  csp_rule *rule;
  int n_knobs;
  int *knob;      /* [n_knobs] in the order of their creation */
  int **watchers; /* [n_vars] rules that name the variable, filled by csp_ready */
  int *n_watchers;
} csp;

/* ---- csp.c: building a system.  Each returns a variable; -1 if memory runs out or a limit is
 * exceeded */
csp *csp_new(tf_arena *a);
/* The range lo .. hi; a knob becomes a set if its values are few enough. */
int csp_range(csp *s, const char *name, bool knob, int64_t lo, int64_t hi);
/* values: ascending, copied. */
int csp_set(csp *s, const char *name, bool knob, int n, const int64_t *values);
/* The divisors of n, ascending; returns how many.  If there are more than fit, the middle ones are
 * left out. */
int csp_divisors(int64_t n, int most, int64_t *out);
int csp_number(csp *s,
               int64_t value); /* a variable with that value; the same one for equal values */
int csp_find(const csp *s, const char *name, size_t len);
bool csp_add(csp *s, csp_kind kind, int v, int n, const int *list);
/* IN: restricts the variable to these values; false: none is left. */
bool csp_in(csp *s, int v, int n, const int64_t *values);
/* To be called after the last rule, before any function below. */
bool csp_ready(csp *s);
/* Whether the values [n_vars] satisfy all domains and rules. */
bool csp_holds(const csp *s, const int64_t *value);
bool csp_rule_holds(const csp_rule *r, const int64_t *value);
/* The knobs of a system (ready) with what says how extents are split, and nothing else of it:
 * products of knobs that equal a number.  NULL: memory ran out. */
csp *csp_splits(const csp *s, tf_arena *a);

/* ---- propagate.c: constraint propagation */
typedef struct {
  int64_t lo, hi;
} csp_left;
typedef struct {
  csp_left *left; /* [n_vars] */
  uint64_t *bits; /* [n_words] of sets: which values are left */
} csp_state;

bool csp_state_new(const csp *s, tf_arena *a,
                   csp_state *st); /* all domains complete; false: out of memory */
void csp_state_whole(const csp *s, csp_state *st);
void csp_state_copy(const csp *s, csp_state *to, const csp_state *from);
/* All propagate to a fixed point, after narrowing a domain if they are given one; false: some
 * variable has no value left. */
bool csp_propagate_all(const csp *s, csp_state *st);
bool csp_fix(const csp *s, csp_state *st, int v, int64_t value);
/* The values left of a set, or of a range of at most `most` values, ascending; returns how many.
 * -1: a wider range. */
int csp_values(const csp *s, const csp_state *st, int v, int most, int64_t *out);
bool csp_has(const csp *s, const csp_state *st, int v, int64_t value);
/* Narrow without propagating. */
bool csp_narrow(const csp *s, csp_state *st, int v, int64_t lo, int64_t hi);
bool csp_drop(const csp *s, csp_state *st, int v, int64_t value); /* of a set */

/* ---- csp_solve.c */
typedef enum { CSP_FOUND, CSP_NONE, CSP_GAVE_UP, CSP_NO_MEMORY } csp_answer;
/* A random solution; each has a positive probability.  from: domains to begin with (NULL: all).  By
 * backtracking, so that NONE proves that there is no solution; GAVE_UP after a limit of steps. */
csp_answer csp_sample(const csp *s, const csp_state *from, tf_rng *rng, int64_t *value);
/* Crossover of two solutions (CGA): each key variable is restricted to a parent's value (a range:
 * to between both), except for one if `mutate`; random keys are released until a solution exists.
 */
typedef struct {
  const int64_t *a, *b; /* [n_vars], of which only the keys are used */
  int n_keys;
  const int *keys; /* variables */
} csp_parents;
csp_answer csp_cross(const csp *s, tf_rng *rng, const csp_parents *p, bool mutate, int64_t *value);

/* ---- csp_count.c */
__extension__ typedef unsigned __int128 csp_total;
enum { CSP_TOTAL_TEXT = 40 };
/* The exact number of solutions; or, of knobs alone, of different values of them that some solution
 * has.  FOUND, NONE; GAVE_UP after so many steps (values that were tried), or if the number exceeds
 * 2^128. */
csp_answer csp_count(const csp *s, bool knobs, int64_t steps, csp_total *out);
/* In decimal, within out. */
const char *csp_total_text(csp_total n, char out[CSP_TOTAL_TEXT]);

/* ---- csp_text.c */
/* One variable or rule per line; # begins a comment:
 *   knob NAME in {1,2,4}     var NAME in 1..64
 *   PROD v = a b c           SUM v = a b       EQ v = a      LE v <= 48     SELECT v = u : a b c IN
 * v {8,16} A number may be used in place of any name.  s: adds to an existing system; NULL: a new
 * one.  NULL with every error in d. */
csp *csp_read(tf_arena *a, csp *s, uint16_t file, const char *text, size_t len, tf_diags *d);
/* The text that csp_read reads back.  Malloc'd; NULL: out of memory. */
char *csp_text(const csp *s);
#endif
