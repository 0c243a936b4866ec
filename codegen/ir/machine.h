/* The interpreter's state, shared by its files. */
#ifndef CODEGEN_IR_MACHINE_H
#define CODEGEN_IR_MACHINE_H
#include "codegen/ir/copies.h"
#include "codegen/ir/stage.h"
#include "codegen/ir/watch.h"

typedef struct {
  const ir_program *p;
  const tf_workload *wl;
  int64_t *var;            /* of the step at hand */
  double **data;           /* [buffer] likewise */
  const ir_counts *counts; /* NULL: none */
  ir_kept *kept;           /* as in copies.h: what scratch holds that lasts */
  ir_staged *staged;       /* [buffer] */
  ir_held **held;          /* [buffer] what each slot holds; NULL: not retained */
  ir_watch *watch;         /* NULL: steps go one after the other, and nothing is copied side by side */
  ir_who who;              /* watch: the step at hand */
  bool ok;
  char *why;
  size_t size;
} ir_running;

static inline int64_t ir_number_of(const ir_running *m, ir_atom a) { return a.var < 0 ? a.off : m->var[a.var] + a.off; }

/* The first fault is told. */
bool ir_fault(ir_running *m, const char *fmt, ...) TF_PRINTF(2, 3);
/* The buffer in whose place it stands. */
int ir_place_of(const ir_program *p, int buffer);
void ir_run_body(ir_running *m, const ir_body *b);
bool ir_may_enter(const ir_running *m, const ir_stmt *s); /* IF */

/* aside.c: a loop whose steps run side by side, in a program that is watched. */
void ir_run_aside(ir_running *m, const ir_stmt *loop);
#endif
