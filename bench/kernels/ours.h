/* Our kernel as a contestant; kernel.h is what `tileflow emit` wrote.  PACKED: it also takes
 * weights that were packed beforehand. */
#ifndef BENCH_OURS_H
#define BENCH_OURS_H
#include <kernel.h>

#include "rounds.h"

static kernel_args args; /* the operands, before ready_ours */
static void *workspace;
static size_t bytes;

static void ours(void) { ran(kernel(&args, workspace, bytes)); }

#if defined(PACKED)
static kernel_args packed_args;
static void ours_packed(void) { ran(kernel(&packed_args, workspace, bytes)); }

static void pack_ours(void) {
  void *at = room(kernel_packed());
  ran(kernel_pack(&args, at, kernel_packed()));
  packed_args = args;
  packed_args.packed = at;
}
#endif

static void ready_ours(void) {
  bytes = kernel_workspace();
  workspace = malloc(bytes ? bytes : 1);
  if (!workspace) exit(2);
#if defined(PACKED)
  pack_ours();
#endif
}

/* Who takes part, ours first. */
typedef struct {
  contestant who[MOST];
  int n;
  int packed; /* whose time those are compared with that had their weights packed beforehand */
} party;

static void joins(party *p, const char *name, void (*run)(void), int beside) {
  if (p->n == MOST) exit(2);
  p->who[p->n++] = (contestant){.name = name, .run = run, .beside = beside};
}

static party of_ours(void) {
  party p = {.n = 0};
  joins(&p, "tileflow", ours, 0);
#if defined(PACKED)
  p.packed = 1;
  joins(&p, "tileflow packed", ours_packed, 1);
#endif
  return p;
}
#endif
