/* The interpreter's state, shared by its files. */
#ifndef CODEGEN_IR_MACHINE_H
#define CODEGEN_IR_MACHINE_H
#include "codegen/ir/race_check.h"
#include "codegen/ir/stage.h"

typedef struct {
  const ir_program *p;
  const tf_workload *wl;
  int64_t *var;            /* of the current step */
  double **data;           /* [buffer] of the current step */
  const ir_counts *counts; /* NULL: nothing is counted */
  void *noted;             /* what the target's notes remember (ir_notes); with counts */
  ir_staged *staged;       /* [buffer] */
  ir_held **held;          /* [buffer] what each slot holds; NULL: not retained */
  ir_watch *watch;         /* NULL: no concurrent steps and no asynchronous copies */
  ir_who who;              /* with watch: the current step */
  bool ok;
  char *why;
  size_t size;
} ir_running;

static inline int64_t ir_number_of(const ir_running *m, ir_atom a) { return a.var < 0 ? a.off : m->var[a.var] + a.off; }

/* Reports the first fault only. */
bool ir_fault(ir_running *m, const char *fmt, ...) TF_PRINTF(2, 3);
/* The buffer whose memory it uses (itself, or the one it shares with). */
int ir_place_of(const ir_program *p, int buffer);
void ir_run_body(ir_running *m, const ir_body *b);
bool ir_may_enter(const ir_running *m, const ir_stmt *s); /* IF */

/* In parallel_exec.c: runs a loop with concurrent steps, in a program that is watched. */
void ir_run_parallel(ir_running *m, const ir_stmt *loop);
#endif
