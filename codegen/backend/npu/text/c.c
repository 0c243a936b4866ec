/* A program as C: loops, and calls of intrinsics with typed operands that print it as assembler. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/backend/npu/text/asm.h"

static const char types[] =
    "/* The NPU's instructions as calls in C: each writes its line of the program to stdout; what "
    "the program does is in the\n"
    " * manual of its assembler. */\n"
    "#ifndef NPU_H\n#define NPU_H\n#include <stddef.h>\n#include <stdio.h>\n\n"
    "typedef enum { F16, F32 } npu_type;\n"
    "typedef struct {\n  const char *name;\n} npu_place; /* a memory or a tensor */\n"
    "typedef struct {\n  const char *name;\n} npu_queue;\n\n"
    "/* An operand: where it begins, in bytes, and what its elements are; where.name NULL: it is "
    "`number`. */\n"
    "typedef struct {\n  npu_place where;\n  npu_type type;\n  long long byte;\n"
    "  double number;\n} npu_at;\n"
    "/* Elements along a dim, and from one to the next in the destination and in each source; of "
    "load3d also the steps in\n"
    " * the window's height and width. */\n"
    "typedef struct {\n  long long count, step[4], high, wide;\n} npu_dim;\n"
    "/* The last dim is the innermost.  No dims: NULL. */\n"
    "#define DIMS(...) (const npu_dim[]){__VA_ARGS__, {0, {0}, 0, 0}}\n"
    "/* Where a window begins, in an image of so many rows and columns, around which zeros are. "
    "*/\n"
    "typedef struct {\n  long long row, column, rows, columns;\n} npu_window;\n"
    "/* Sums (m x n), = or += left (m x k) x right (k x n); elements from one line to the next of "
    "each, 0: packed. */\n"
    "typedef enum { MAD_SET, MAD_ADD } npu_how;\n"
    "typedef struct {\n  long long m, n, k;\n  npu_how how;\n  long long ld[3];\n} npu_product;\n\n"
    "static inline npu_at at(npu_place where, npu_type type, long long byte) {\n"
    "  return (npu_at){where, type, byte, 0};\n}\n"
    "static inline npu_at value(double number) { return (npu_at){{NULL}, F32, 0, number}; }\n"
    "static inline void npu_put(npu_at a) {\n"
    "  if (a.where.name)\n"
    "    printf(\" %s[%lld]:%s\", a.where.name, a.byte, a.type == F16 ? \"f16\" : \"f32\");\n"
    "  else\n    printf(\" %.17g\", a.number);\n}\n"
    "static inline void npu_end(const npu_dim *dims, int steps, int window, const char *tag) {\n"
    "  for (; dims && dims->count; dims++) {\n    printf(\" %lld\", dims->count);\n"
    "    for (int s = 0; s < steps; s++)\n      printf(\":%lld\", dims->step[s]);\n"
    "    if (window) printf(\":%lld:%lld\", dims->high, dims->wide);\n  }\n"
    "  printf(\"%s%s\\n\", *tag ? \" @\" : \"\", tag);\n}\n\n"
    "/* The machine, the tensors: a line as the assembler has it. */\n"
    "static inline void npu_line(const char *line) { puts(line); }\n"
    "/* Transfers: global memory to L1, L0A, L0B or UB; L1 to those; UB and L0C outwards. */\n"
    "static inline void dma(npu_at to, npu_at from, const npu_dim *dims, const char *tag) {\n"
    "  printf(\"copy\"), npu_put(to), npu_put(from), npu_end(dims, 2, 0, tag);\n}\n"
    "static inline void load3d(npu_at to, npu_at from, npu_window w, const npu_dim *dims, const "
    "char *tag) {\n"
    "  printf(\"load\"), npu_put(to), npu_put(from);\n"
    "  printf(\" at %lld %lld in %lld %lld\", w.row, w.column, w.rows, w.columns), npu_end(dims, "
    "2, 1, tag);\n"
    "}\n"
    "static inline void mad(npu_at sums, npu_at left, npu_at right, npu_product p, const char "
    "*tag) {\n"
    "  printf(\"mad\"), npu_put(sums), npu_put(left), npu_put(right);\n"
    "  printf(\" %lld %lld %lld %s\", p.m, p.n, p.k, p.how == MAD_ADD ? \"add\" : \"set\");\n"
    "  if (p.ld[0]) printf(\" ld %lld %lld %lld\", p.ld[0], p.ld[1], p.ld[2]);\n"
    "  npu_end(NULL, 0, 0, tag);\n}\n"
    "/* Queue `from` raises the flag for `to` behind all before it; queue `to` waits for it. */\n"
    "static inline void set_flag(npu_queue from, npu_queue to, int id) {\n"
    "  printf(\"set %s %s %d\\n\", from.name, to.name, id);\n}\n"
    "static inline void wait_flag(npu_queue from, npu_queue to, int id) {\n"
    "  printf(\"wait %s %s %d\\n\", from.name, to.name, id);\n}\n"
    "static inline void pipe_barrier(void) { puts(\"barrier\"); }\n\n"
    "/* Operations of the vector unit. */\n";

/* A function for each operation. */
static void put_operation(FILE *out, npu_op op) {
  const npu_op_facts *f = npu_facts_of(op);
  fprintf(out, "static inline void v_%s(npu_at to", f->name);
  for (int k = 0; k < f->sources; k++)
    fprintf(out, ", npu_at %c", 'a' + k);
  fprintf(out, ", const npu_dim *dims, const char *tag) {\n  printf(\"%s\"), npu_put(to)", f->name);
  for (int k = 0; k < f->sources; k++)
    fprintf(out, ", npu_put(%c)", 'a' + k);
  fprintf(out, ", npu_end(dims, %d, 0, tag);\n}\n", 1 + f->sources);
}

void npu_c_intrinsics(FILE *out) {
  fputs(types, out);
  for (int op = 0; op < NPU_N_OPS; op++)
    if (npu_is_vector((npu_op)op)) put_operation(out, (npu_op)op);
  fputs("#endif\n", out);
}

/* ---- calls ---------------------------------------------------------------------------------- */
static void put_place(FILE *out, int64_t at, const int64_t *step) {
  fprintf(out, "%" PRId64, at);
  for (int k = 0; k < NPU_DEPTH; k++)
    if (step[k])
      fprintf(out, " %c %" PRId64 " * i%d", step[k] < 0 ? '-' : '+',
              step[k] < 0 ? -step[k] : step[k], k);
}

static void put_ring(FILE *out, const npu_ring *g) {
  const char *before = "";
  fprintf(out, " + %" PRId64 " * ((", g->bytes);
  if (g->at) fprintf(out, "%d", g->at), before = " + ";
  for (int k = 0; k < NPU_DEPTH; k++) {
    if (g->step[k] == 1) fprintf(out, "%si%d", before, k);
    if (g->step[k] > 1) fprintf(out, "%s%d * i%d", before, g->step[k], k);
    if (g->step[k]) before = " + ";
  }
  fprintf(out, ") %% %d)", g->n);
}

static void put_operand(FILE *out, const tf_npu *p, const npu_operand *o) {
  if (o->memory < 0) {
    fprintf(out,
            o->number > 1e300    ? "value(HUGE_VAL)"
            : o->number < -1e300 ? "value(-HUGE_VAL)"
                                 : "value(%.17g)",
            o->number);
    return;
  }
  fprintf(out, "at(%s%s, %s, ", o->tensor >= 0 ? "T_" : "M_",
          o->tensor >= 0 ? p->tensor[o->tensor].name : p->machine.memory[o->memory].name,
          o->type == NPU_F16 ? "F16" : "F32");
  const bool turns = npu_turns(&o->ring);
  put_place(out, turns ? o->base : npu_begin_of(o), o->step);
  if (turns) put_ring(out, &o->ring);
  fputc(')', out);
}

static void put_dims(FILE *out, const npu_instr *i) {
  fputs(i->n_dims ? ", DIMS(" : ", NULL", out);
  for (int k = 0; k < i->n_dims; k++) {
    fprintf(out, "%s{%" PRId64 ", {", k ? ", " : "", i->dim[k].count);
    for (int s = 0; s <= npu_facts_of(i->op)->sources; s++)
      fprintf(out, "%s%" PRId64, s ? ", " : "", i->dim[k].step[s]);
    fprintf(out, i->op == NPU_LOAD ? "}, %" PRId64 ", %" PRId64 "}" : "}}", i->dim[k].high,
            i->dim[k].wide);
  }
  if (i->n_dims) fputc(')', out);
}

static void put_window(FILE *out, const npu_instr *i) {
  fputs(", (npu_window){", out);
  for (int k = 0; k < 2; k++) {
    put_place(out, i->window.origin[k], i->window.step[k]);
    fputs(", ", out);
  }
  fprintf(out, "%" PRId64 ", %" PRId64 "}", i->window.size[0], i->window.size[1]);
}

static void put_product(FILE *out, const npu_instr *i) {
  fprintf(out, ", (npu_product){%" PRId64 ", %" PRId64 ", %" PRId64 ", %s", i->mad.m, i->mad.n,
          i->mad.k, i->mad.add ? "MAD_ADD" : "MAD_SET");
  if (i->mad.ld[0])
    fprintf(out, ", {%" PRId64 ", %" PRId64 ", %" PRId64 "}", i->mad.ld[0], i->mad.ld[1],
            i->mad.ld[2]);
  fputc('}', out);
}

static void put_call(FILE *out, const tf_npu *p, const npu_instr *i) {
  const npu_op_facts *f = npu_facts_of(i->op);
  if (npu_is_vector(i->op))
    fprintf(out, "v_%s(", f->name);
  else
    fputs(i->op == NPU_COPY ? "dma(" : i->op == NPU_LOAD ? "load3d(" : "mad(", out);
  put_operand(out, p, &i->to);
  for (int k = 0; k < f->sources; k++) {
    fputs(", ", out);
    put_operand(out, p, &i->from[k]);
  }
  if (i->op == NPU_LOAD) put_window(out, i);
  if (i->op == NPU_MAD)
    put_product(out, i);
  else
    put_dims(out, i);
  fprintf(out, ", \"%s\");\n", i->tag);
}

/* Which steps have the flag. */
static void put_when(FILE *out, const npu_instr *i) {
  for (int k = 0; k < i->flag.n; k++) {
    const npu_when *w = &i->flag.when[k];
    const char *before = "";
    fputs(k ? " && " : "if (", out);
    for (int d = 0; d < NPU_DEPTH; d++) {
      if (w->step[d] == 1) fprintf(out, "%si%d", before, d);
      if (w->step[d] && w->step[d] != 1) fprintf(out, "%s%d * i%d", before, w->step[d], d);
      if (w->step[d]) before = " + ";
    }
    fprintf(out, "%s %s %d", *before ? "" : "0",
            w->first == w->last         ? "=="
            : w->first == NPU_ANY_FIRST ? "<="
                                        : ">=",
            w->first == NPU_ANY_FIRST ? w->last : w->first);
  }
  if (i->flag.n) fputs(") ", out);
}

static void put_instr(FILE *out, const tf_npu *p, const npu_instr *i, int *depth) {
  *depth -= i->op == NPU_END;
  fprintf(out, "%*s", 2 + 2 * *depth, "");
  switch (i->op) {
  case NPU_FOR:
    fprintf(out, "for (long long i%d = 0; i%d < %" PRId64 "; i%d++) {\n", *depth, *depth,
            i->loop.trip, *depth);
    ++*depth;
    break;
  case NPU_END: fputs("}\n", out); break;
  case NPU_SET:
  case NPU_WAIT:
    put_when(out, i);
    fprintf(out, "%s_flag(Q_%s, Q_%s, %d);\n", npu_facts_of(i->op)->name,
            p->machine.queue[i->queue], p->machine.queue[i->flag.to], i->flag.id);
    break;
  case NPU_BARRIER: fputs("pipe_barrier();\n", out); break;
  default: put_call(out, p, i); break;
  }
}

/* Names of the program's memories, tensors and queues. */
static void put_names(FILE *out, const tf_npu *p) {
  const npu_machine *m = &p->machine;
  fputs("static const npu_place ", out);
  for (int i = 0; i < m->n_memories; i++)
    fprintf(out, "%sM_%s = {\"%s\"}", i ? ", " : "", m->memory[i].name, m->memory[i].name);
  for (int i = 0; i < p->n_tensors; i++)
    fprintf(out, ", T_%s = {\"%s\"}", p->tensor[i].name, p->tensor[i].name);
  fputs(";\nstatic const npu_queue ", out);
  for (int i = 0; i < m->n_queues; i++)
    fprintf(out, "%sQ_%s = {\"%s\"}", i ? ", " : "", m->queue[i], m->queue[i]);
  fputs(";\n\n", out);
}

void npu_c_text(FILE *out, const tf_npu *p, const char *what) {
  char *head = NULL;
  size_t n = 0;
  FILE *lines = open_memstream(&head, &n);
  int depth = 0;
  if (!lines) return;
  npu_put_head(lines, p);
  if (fclose(lines) != 0) return;
  fprintf(out,
          "/* %s for the NPU: run it, and what it prints is the program, instruction by "
          "instruction. */\n"
          "#include <math.h>\n\n#include \"npu.h\"\n\n",
          what);
  put_names(out, p);
  fputs("static void machine(void) {\n", out);
  for (char *line = strtok(head, "\n"); line; line = strtok(NULL, "\n"))
    fprintf(out, "  npu_line(\"%s\");\n", line);
  fputs("}\n\nint main(void) {\n  machine();\n", out);
  for (size_t k = 0; k < p->n; k++)
    put_instr(out, p, &p->instr[k], &depth);
  fputs("  return fflush(stdout) != 0;\n}\n", out);
  free(head);
}
