/* A program as C: calls of some fifteen intrinsics, which write it in the assembler's words. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/target/npu/text/text.h"

const char npu_intrinsics[] =
    "/* The NPU's instructions as calls in C: each writes its line of the program to stdout; what the program does is "
    "in\n"
    " * the manual of its assembler.  A dim is \"count:step:step\", steps in elements: of the destination, then of "
    "each\n"
    " * source. */\n"
    "#ifndef NPU_H\n#define NPU_H\n#include <stdio.h>\n\n"
    "typedef struct {\n  const char *where; /* a memory or a tensor; NULL: it is `number` */\n"
    "  long long byte;\n  const char *type;\n  double number;\n} npu_at;\n\n"
    "enum { NPU_SET, NPU_ADD };\n\n"
    "static inline npu_at at(const char *where, long long byte, const char *type) {\n"
    "  return (npu_at){where, byte, type, 0};\n}\n"
    "static inline npu_at value(double number) { return (npu_at){NULL, 0, NULL, number}; }\n"
    "static inline void npu_put(npu_at a) {\n"
    "  if (a.where)\n    printf(\" %s[%lld]:%s\", a.where, a.byte, a.type);\n  else\n    printf(\" %.17g\", "
    "a.number);\n}\n"
    "static inline void npu_end(const char *dims, const char *tag) {\n"
    "  printf(\"%s%s%s%s\\n\", *dims ? \" \" : \"\", dims, *tag ? \" @\" : \"\", tag);\n}\n\n"
    "/* The machine, the tensors: a line as the assembler has it. */\n"
    "static inline void npu_line(const char *line) { puts(line); }\n"
    "/* Transfers: global memory to L1, L0A, L0B or UB; L1 to those; UB and L0C outwards. */\n"
    "static inline void dma(npu_at to, npu_at from, const char *dims, const char *tag) {\n"
    "  printf(\"copy\"), npu_put(to), npu_put(from), npu_end(dims, tag);\n}\n"
    "/* A window over an image, zeros around it; window: \"at ROW COLUMN in ROWS COLUMNS\". */\n"
    "static inline void load3d(npu_at to, npu_at from, const char *window, const char *dims, const char *tag) {\n"
    "  printf(\"load\"), npu_put(to), npu_put(from), printf(\" %s\", window), npu_end(dims, tag);\n}\n"
    "/* sums = (NPU_SET), or += (NPU_ADD), left x right; ld: \"\", or \"ld SUMS LEFT RIGHT\". */\n"
    "static inline void mad(npu_at sums, npu_at left, npu_at right, int m, int n, int k, int how, const char *ld,\n"
    "                       const char *tag) {\n"
    "  printf(\"mad\"), npu_put(sums), npu_put(left), npu_put(right);\n"
    "  printf(\" %d %d %d %s\", m, n, k, how == NPU_ADD ? \"add\" : \"set\"), npu_end(ld, tag);\n}\n"
    "/* Vector operations of one, two and three sources; v_mov, v_exp, v_add, v_rmax, ... are these. */\n"
    "static inline void v1(const char *op, npu_at to, npu_at a, const char *dims, const char *tag) {\n"
    "  fputs(op, stdout), npu_put(to), npu_put(a), npu_end(dims, tag);\n}\n"
    "static inline void v2(const char *op, npu_at to, npu_at a, npu_at b, const char *dims, const char *tag) {\n"
    "  fputs(op, stdout), npu_put(to), npu_put(a), npu_put(b), npu_end(dims, tag);\n}\n"
    "static inline void v3(const char *op, npu_at to, npu_at a, npu_at b, npu_at c, const char *dims, const char *tag) "
    "{\n"
    "  fputs(op, stdout), npu_put(to), npu_put(a), npu_put(b), npu_put(c), npu_end(dims, tag);\n}\n"
    "#define v_mov(...) v1(\"mov\", __VA_ARGS__)\n#define v_exp(...) v1(\"exp\", __VA_ARGS__)\n"
    "#define v_radd(...) v1(\"radd\", __VA_ARGS__)\n#define v_rmax(...) v1(\"rmax\", __VA_ARGS__)\n"
    "#define v_add(...) v2(\"add\", __VA_ARGS__)\n#define v_sub(...) v2(\"sub\", __VA_ARGS__)\n"
    "#define v_mul(...) v2(\"mul\", __VA_ARGS__)\n#define v_div(...) v2(\"div\", __VA_ARGS__)\n"
    "#define v_max(...) v2(\"max\", __VA_ARGS__)\n"
    "/* Queue `from` raises the flag for `to` behind all before it; queue `to` waits for it. */\n"
    "static inline void set_flag(const char *from, const char *to, int id) { printf(\"set %s %s %d\\n\", from, to, "
    "id); }\n"
    "static inline void wait_flag(const char *from, const char *to, int id) { printf(\"wait %s %s %d\\n\", from, to, "
    "id); "
    "}\n"
    "static inline void pipe_barrier(void) { puts(\"barrier\"); }\n"
    "#endif\n";

/* ---- calls -------------------------------------------------------------------------------------------------- */
static void put_operand(FILE *out, const tf_npu *p, const npu_operand *o) {
  if (o->memory < 0) {
    fprintf(out,
            o->number > 1e300    ? "value(HUGE_VAL)"
            : o->number < -1e300 ? "value(-HUGE_VAL)"
                                 : "value(%.17g)",
            o->number);
    return;
  }
  fprintf(out, "at(\"%s\", %" PRId64, o->tensor >= 0 ? p->tensor[o->tensor].name : p->machine.memory[o->memory].name,
          o->at);
  for (int k = 0; k < NPU_DEPTH; k++)
    if (o->step[k]) fprintf(out, " + %" PRId64 " * i%d", o->step[k], k);
  fprintf(out, ", \"%s\")", npu_type_name(o->type));
}

static void put_dims(FILE *out, const npu_instr *i) {
  fputs(", \"", out);
  for (int k = 0; k < i->n_dims; k++) {
    fprintf(out, "%s%" PRId64, k ? " " : "", i->dim[k].count);
    for (int s = 0; s <= npu_facts_of(i->op)->sources; s++)
      fprintf(out, ":%" PRId64, i->dim[k].step[s]);
    if (i->op == NPU_LOAD) fprintf(out, ":%" PRId64 ":%" PRId64, i->dim[k].high, i->dim[k].wide);
  }
  fprintf(out, "\", \"%s\");\n", i->tag);
}

static void put_call(FILE *out, const tf_npu *p, const npu_instr *i) {
  static const npu_op named[] = {NPU_MOV, NPU_EXP, NPU_RADD, NPU_RMAX, NPU_ADD, NPU_SUB, NPU_MUL, NPU_DIV, NPU_MAX};
  const npu_op_facts *f = npu_facts_of(i->op);
  bool macro = false;
  for (size_t k = 0; k < sizeof named / sizeof *named; k++)
    macro |= named[k] == i->op;
  if (i->op == NPU_COPY || i->op == NPU_LOAD || i->op == NPU_MAD)
    fputs(i->op == NPU_COPY ? "dma(" : i->op == NPU_LOAD ? "load3d(" : "mad(", out);
  else if (macro)
    fprintf(out, "v_%s(", f->name);
  else
    fprintf(out, "v%d(\"%s\", ", f->sources, f->name);
  put_operand(out, p, &i->to);
  for (int k = 0; k < f->sources; k++) {
    fputs(", ", out);
    put_operand(out, p, &i->from[k]);
  }
  if (i->op == NPU_LOAD)
    fprintf(out, ", \"at %" PRId64 " %" PRId64 " in %" PRId64 " %" PRId64 "\"", i->window.at[0], i->window.at[1],
            i->window.in[0], i->window.in[1]);
  if (i->op != NPU_MAD) {
    put_dims(out, i);
    return;
  }
  fprintf(out, ", %" PRId64 ", %" PRId64 ", %" PRId64 ", %s, \"", i->mad.m, i->mad.n, i->mad.k,
          i->mad.add ? "NPU_ADD" : "NPU_SET");
  if (i->mad.ld[0]) fprintf(out, "ld %" PRId64 " %" PRId64 " %" PRId64, i->mad.ld[0], i->mad.ld[1], i->mad.ld[2]);
  fprintf(out, "\", \"%s\");\n", i->tag);
}

static void put_instr(FILE *out, const tf_npu *p, const npu_instr *i, int *depth) {
  *depth -= i->op == NPU_END;
  fprintf(out, "%*s", 2 + 2 * *depth, "");
  switch (i->op) {
  case NPU_FOR:
    fprintf(out, "for (long long i%d = 0; i%d < %" PRId64 "; i%d++) {\n", *depth, *depth, i->loop.trip, *depth);
    ++*depth;
    break;
  case NPU_END: fputs("}\n", out); break;
  case NPU_SET:
  case NPU_WAIT:
    fprintf(out, "%s_flag(\"%s\", \"%s\", %d);\n", npu_facts_of(i->op)->name, p->machine.queue[i->queue],
            p->machine.queue[i->flag.to], i->flag.id);
    break;
  case NPU_BARRIER: fputs("pipe_barrier();\n", out); break;
  default: put_call(out, p, i); break;
  }
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
          "/* %s for the NPU: run it, and what it prints is the program (kernel.npu). */\n#include "
          "<math.h>\n\n#include \"npu.h\"\n\n"
          "static void machine(void) {\n",
          what);
  for (char *line = strtok(head, "\n"); line; line = strtok(NULL, "\n"))
    fprintf(out, "  npu_line(\"%s\");\n", line);
  fputs("}\n\nint main(void) {\n  machine();\n", out);
  for (size_t k = 0; k < p->n; k++)
    put_instr(out, p, &p->instr[k], &depth);
  fputs("  return fflush(stdout) != 0;\n}\n", out);
  free(head);
}
