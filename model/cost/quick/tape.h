/* A branch-free program, compiled once per tree and run for many rows of trip counts at once. Every
 * value is an array of lanes, one per row, so that each step is a loop over lanes, which the
 * compiler vectorises.  Integers must stay below 2^53 where a step divides them; sums and products
 * wrap. */
#ifndef MODEL_COST_QUICK_TAPE_H
#define MODEL_COST_QUICK_TAPE_H
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

enum { TF_LANES = 32 };

typedef union {
  int64_t i[TF_LANES];
  double d[TF_LANES];
} tf_lane;

/* What a step computes from its operands a, b and c: integers (conditions are 0 or 1), and reals.
 */
typedef enum {
  TF_T_CONST, /* an integer */
  TF_T_REAL,  /* a real constant */
  TF_T_INPUT,
  TF_T_ADD,
  TF_T_SUB,
  TF_T_MUL,
  TF_T_DIV, /* truncated quotient of integers below 2^53 */
  TF_T_MIN,
  TF_T_MAX,
  TF_T_EQ,
  TF_T_GT,
  TF_T_AND,
  TF_T_OR,
  TF_T_SEL,   /* c ? a : b, of either type */
  TF_T_TO,    /* integer to real */
  TF_T_BELOW, /* reals: a < b */
  TF_T_FADD,
  TF_T_FSUB,
  TF_T_FMUL,
  TF_T_FDIV,
  TF_T_FMAX
} tf_tape_op;

typedef struct {
  tf_tape_op op;
  int d, a, b, c; /* slots */
} tf_tape_step;

typedef struct tf_tape {
  int n_steps, n_slots;
  tf_tape_step *steps;
  tf_lane *slots; /* inputs first, then constants */
  int *out;       /* slots of the results */
} tf_tape;

/* A program under construction.  Equal values are shared; constants are folded. */
typedef struct tf_scribe tf_scribe;

/* NULL when memory runs out. */
tf_scribe *tf_scribe_new(int n_inputs);
void tf_scribe_free(tf_scribe *s);
/* These return the number of a value.  Number k < n_inputs is input k. */
int tf_tape_int(tf_scribe *s, int64_t value);
int tf_tape_real(tf_scribe *s, double value);
int tf_tape_make(tf_scribe *s, tf_tape_op op, int a, int b, int c);
/* Whether the value is this integer for all inputs. */
bool tf_tape_is(const tf_scribe *s, int value, int64_t constant);
/* The program for n results, in the arena; NULL when memory runs out or it is too long. */
tf_tape *tf_tape_new(tf_arena *a, tf_scribe *s, const int *values, int n);
/* Runs it on the first `rows` lanes of the input slots, or on more.  All lanes must have inputs. */
void tf_tape_run(const tf_tape *t, int rows);
#endif
