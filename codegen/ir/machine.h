/* The interpreter's state, shared by its files. */
#ifndef CODEGEN_IR_MACHINE_H
#define CODEGEN_IR_MACHINE_H
#include "codegen/ir/race_check.h"
#include "codegen/ir/stage.h"

enum { IR_MAX_RANK = 16 };

typedef struct {
  const ir_program *p;
  const tf_workload *wl;
  int64_t *var;            /* of the current step */
  double **data;           /* [buffer] of the current step */
  const ir_counts *counts; /* NULL: nothing is counted */
  void *noted;             /* what the target's notes remember (ir_notes); with counts */
  ir_staged *staged;       /* [buffer] */
  ir_held **held;          /* [buffer] what each slot holds; NULL: not retained */
  ir_races *races;         /* NULL: no concurrent steps and no asynchronous copies */
  ir_step_id who;          /* with races: the current step */
  bool ok;
  char *why;
  size_t size;
} ir_interpreter;

static inline int64_t ir_atom_value(const ir_interpreter *m, ir_atom a) {
  return a.var < 0 ? a.off : m->var[a.var] + a.off;
}

/* Reports the first fault only. */
bool ir_fault(ir_interpreter *m, const char *fmt, ...) TF_PRINTF(2, 3);
/* The buffer whose memory it uses (itself, or the one it shares with). */
int ir_place_of(const ir_program *p, int buffer);
/* run_points.c: the offset of the coordinates in a slot whose box begins at `base`; -1 (and a
 * fault) outside the buffer. */
int64_t ir_offset_in(ir_interpreter *m, int buffer, int64_t slot, const ir_atom *base,
                     const int64_t *at);
/* The element at those coordinates; NULL (and a fault) where it must not be accessed. */
double *ir_element(ir_interpreter *m, int buffer, const int64_t *at, bool writes);
/* Reports what race_check.c says of the buffer; NULL: nothing. */
bool ir_report_race(ir_interpreter *m, int buffer, const char *fault);
/* Whether the length n is one that the range may have. */
bool ir_range_allows(const ir_range *r, int64_t n);
void ir_run_let(ir_interpreter *m, const ir_stmt *s);
/* NEST, SAVE, CARRY, CORRECT, DIVIDE, MERGE. */
void ir_run_points(ir_interpreter *m, const ir_stmt *s);

/* run_boxes.c: statements of their names. */
void ir_run_keep(ir_interpreter *m, const ir_stmt *s);
void ir_run_forget(ir_interpreter *m, const ir_stmt *s);
void ir_run_stage(ir_interpreter *m, const ir_stmt *s);
void ir_run_copy(ir_interpreter *m, const ir_stmt *s);
#endif
