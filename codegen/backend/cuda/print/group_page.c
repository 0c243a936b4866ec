/* README.md of kernels of warpgroups: each one as a Pipe of a producer and consumers, and how the
 * cycles of its steps come about. A mapping's tree has no such node, as no op is a copy. */
#include <inttypes.h>

#include "codegen/backend/cuda/print/group.h"

/* One of the two roles, in the loops as it runs them. */
typedef struct {
  FILE *out;
  const ir_program *p;
  const cu_groups *g;
  bool makes;
  int depth;
  bool listing; /* its actions are being listed in one line */
} reader;

static void line(reader *r) {
  fprintf(r->out, "%s%*s", r->listing ? "\n" : "", 2 * r->depth, "");
  r->listing = false;
}

static void tiles(reader *r, const cu_ring *ring) {
  for (int i = 0; i < ring->n_copies; i++) {
    const ir_buffer *to = &r->p->buffers[ring->copy[i]->copy.to];
    line(r);
    fprintf(r->out, "%s, %" PRId64 " x %" PRId64, r->p->tree->workload->tensors[to->tensor].name,
            cu_matrix_rows(to), to->extent[cu_column_rank(to)]);
    if (!ring->lasting) fprintf(r->out, ", into a ring of %" PRId64, ring->stages);
    fputs(r->g->shared_tiles && r->g->shared_tiles[ring->copy[i]->copy.to]
              ? ", half of it for both of a cluster\n"
              : "\n",
          r->out);
  }
}

static const char *done_to(const ir_program *p, const ir_stmt *s) {
  switch (s->kind) {
  case IR_NEST: return cu_of(s)->fragments ? " multiplied" : "";
  case IR_CORRECT: return " corrected";
  case IR_DIVIDE: return " divided";
  default:
    return s->kind == IR_SAVE && p->buffers[s->save.to].space == CU_FRAGMENT ? " kept" : " stored";
  }
}

/* Whether the role has something to do at or below the list. */
static bool concerns(const reader *r, const ir_body *b) {
  bool any = false;
  for (int i = 0; i < b->n && !any; i++)
    any = concerns(r, &b->s[i]->body) ||
          (r->makes ? b->s[i]->kind == IR_WAIT : ir_facts_of(b->s[i])->points);
  return any;
}

static void steps(reader *r, const ir_stmt *loop) {
  tf_mask m;
  line(r);
  fprintf(r->out, "for %s=%" PRId64 "%s\n", r->p->tree->workload->dims[loop->loop.dim].name,
          loop->loop.trip,
          cu_mask_of(r->p, r->g->warps, loop, &m) ? ", but for what the mask leaves nothing of"
                                                  : "");
}

static void body(reader *r, const ir_body *b) {
  for (int i = 0; i < b->n; i++) {
    const ir_stmt *s = b->s[i];
    const int ring = r->makes && s->kind == IR_WAIT ? cu_ring_of(r->g, s) : -1;
    const bool serial = s->kind == IR_FOR && s->loop.map == IR_SERIAL;
    if (ring >= 0) tiles(r, &r->g->ring[ring]);
    if (ir_facts_of(s)->points && !r->makes) {
      if (!r->listing) line(r);
      fprintf(r->out, "%s%s%s", r->listing ? ", " : "", r->p->tree->workload->ops[s->op].name,
              done_to(r->p, s));
      r->listing = true;
    }
    if (!concerns(r, &s->body)) continue;
    if (serial) steps(r, s);
    r->depth += serial;
    body(r, &s->body);
    if (serial && r->listing) fputc('\n', r->out), r->listing = false;
    r->depth -= serial;
  }
}

/* What bounds the steps of a pipe. */
static const char *bound_of(const cu_pipe *q) {
  const double each = cu_pipe_step(q);
  return each <= q->consumer ? "products" : each <= q->producer ? "copies" : "the ring's depth";
}

static void tree(FILE *out, const ir_program *p, const cu_groups *g, const cu_pipe *q) {
  reader r = {.out = out, .p = p, .g = g, .makes = true, .depth = 4};
  fprintf(out,
          "\n    part%d: %" PRId64 " blocks, %.6g on a multiprocessor, one after the other\n"
          "      Pipe: a step takes %.6g cycles (%s); fill %.6g, drain %.6g\n"
          "        bring: a warpgroup, %.6g cycles a step\n",
          g->number, g->part->loop.trip, q->blocks, cu_pipe_step(q), bound_of(q),
          q->latency + q->producer, q->consumer + q->epilogue, q->producer);
  r.depth = 5, body(&r, &g->warps->body);
  fprintf(out, "        take: %s warpgroups%s, %.6g cycles a step\n",
          g->groups == 2 ? "two" : "three", g->in_turns ? ", a block each" : "", q->consumer);
  r.makes = false, body(&r, &g->warps->body);
  if (r.listing) fputc('\n', out);
}

static void row(FILE *out, const cu_groups *g, const cu_pipe *q) {
  fprintf(out, "| part%d%s | %.6g | %.6g | %.6g | %.6g | %.6g | %.6g | %s | %.6g | %.6g | %.6g |\n",
          g->number, q->in_turns ? ", blocks in turn" : "", q->blocks, q->steps, q->depth,
          q->producer, q->consumer, cu_pipe_step(q), bound_of(q), q->latency + q->producer,
          q->consumer + q->epilogue, cu_pipe_all(q));
}

static const char about[] = "\n## Pipe\n\n"
                            "One warpgroup brings tiles, others multiply them, and rings of tiles "
                            "are between: a Pipe, as the kernel runs it (the mapping's\n"
                            "tree has none, since no op is a copy).  Cycles of a multiprocessor, "
                            "of a step (a tile of the ring); fill: until the first step can\n"
                            "begin, drain: behind the last.\n";
static const char head[] = "\n"
                           "| Kernel | Blocks | Steps a block | Ring | Brings | Takes | A step | "
                           "Bound by | Fill | Drain | All |\n"
                           "|---|--:|--:|--:|--:|--:|--:|---|--:|--:|--:|\n";

void cu_groups_page(FILE *out, const ir_program *p) {
  for (int rows = 0; rows < 2; rows++)
    for (int i = 0, number = 0, found = 0; i < p->body.n; i++) {
      const ir_stmt *part = p->body.s[i];
      cu_groups g;
      if (part->kind == IR_LET) continue;
      number++;
      const cu_pipe q = cu_pipe_of(p, part);
      if (q.steps == 0 || !cu_groups_find(p, part, number - 1, &g)) continue;
      if (!found++) fputs(rows ? head : about, out);
      if (rows)
        row(out, &g, &q);
      else
        tree(out, p, &g, &q);
    }
}
