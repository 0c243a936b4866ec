/* Where what a mask leaves of a box ends: asked of its data while the kernel runs. */
#include "codegen/target/cpu/print/print.h"

enum { RANK_MOST = 16 }; /* as an input's */

const char *c_seen_name(ir_type mask) { return mask == IR_BF16 ? "bf16_seen" : "f32_seen"; }

/* Rows are looked through from their end, a piece at a time, down to the end found so far: what counts at the end of
 * the first row is enough. */
static void function(FILE *out, ir_type mask) {
  const char *const none = mask == IR_BF16 ? "0xff80" : "-INFINITY", *const type = tf_micro_type(mask);
  fprintf(out,
          "/* The end of what a mask leaves of a box (from, to; from, to; ..): behind it all of each row is -inf. */\n"
          "static int64_t %s(const %s *mask, int rank, const int64_t *step, const int64_t *box) {\n"
          "  const int64_t to = box[2 * rank - 1];\n"
          "  int64_t at[%d], end = box[2 * rank - 2];\n"
          "  for (int r = 0; r < rank; r++) at[r] = box[2 * r];\n",
          c_seen_name(mask), type, RANK_MOST);
  fprintf(out,
          "  for (int r = 0; r >= 0 && end < to;) {\n"
          "    const %s *row = mask;\n"
          "    int64_t n = to;\n"
          "    for (int i = 0; i < rank - 1; i++) row += at[i] * step[i];\n"
          "    while (n > end) {\n"
          "      const int64_t from = n - end < 64 ? end : n - 64;\n"
          "      int any = 0;\n"
          "      for (int64_t i = from; i < n; i++) any |= row[i] != %s;\n"
          "      if (any) break;\n"
          "      n = from;\n"
          "    }\n"
          "    while (n > end && row[n - 1] == %s) n--;\n"
          "    end = n;\n",
          type, none, none);
  fputs("    for (r = rank - 2; r >= 0 && ++at[r] >= box[2 * r + 1]; r--) at[r] = box[2 * r];\n"
        "  }\n  return end;\n}\n\n",
        out);
}

/* Whether a value of the body asks a mask of that type. */
static bool asks(const ir_program *p, const ir_body *b, ir_type mask) {
  bool any = false;
  for (int i = 0; i < b->n && !any; i++) {
    const ir_stmt *s = b->s[i];
    any = asks(p, &s->body, mask) ||
          (s->kind == IR_LET && s->let.expr.fn == IR_SEEN && p->buffers[s->let.expr.arg[0].off].type == mask);
  }
  return any;
}

void c_seen_text(FILE *out, const ir_program *p, const ir_body *b) {
  static const ir_type masks[] = {IR_F32, IR_BF16};
  for (size_t i = 0; i < sizeof masks / sizeof *masks; i++)
    if (asks(p, b, masks[i])) function(out, masks[i]);
}
