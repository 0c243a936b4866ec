/* network.c's reader of weights: a table of the inputs, and a loader that checks a file against it.
 */
#include <inttypes.h>

#include "net/emit.h"

/* The files are untrusted: every number is checked before use. */
static const char reader[] =
    "static uint64_t word(const unsigned char *p, int bytes) {\n"
    "  uint64_t x = 0;\n  for (int i = bytes; i-- > 0;)\n    x = x << 8 | p[i];\n  return x;\n}\n\n"
    "static int refuse(char *why, size_t size, const char *what, const char *name, size_t n) {\n"
    "  if (why && size) snprintf(why, size, \"%s%s%.*s\", what, n ? \" \" : \"\", (int)(n < 80 ? n "
    ": 80), name);\n"
    "  return " C_NAME "_bad_weights;\n}\n\n"
    "/* The input of that name; NULL: there is none. */\n"
    "static const struct input *find_input(const char *name, size_t n) {\n"
    "  for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)\n"
    "    if (strlen(inputs[i].name) == n && memcmp(inputs[i].name, name, n) == 0) return "
    "&inputs[i];\n"
    "  return NULL;\n}\n\n"
    "/* Bytes of the row at p, `left` of them at most; 0: it is cut short. */\n"
    "static uint64_t row_bytes(const unsigned char *p, uint64_t left) {\n"
    "  if (left < 24 || word(p + 8, 8) > 64 || word(p, 4) > 4096) return 0;\n"
    "  const uint64_t n = 24 + 8 * word(p + 8, 8) + (word(p, 4) + 7) / 8 * 8;\n"
    "  return n <= left ? n : 0;\n}\n\n"
    "/* One row: its input's pointer and strides. */\n"
    "static int take_row(" C_NAME "_args *args, const unsigned char *file, size_t bytes, const "
    "unsigned char *p, char *why, size_t size) {\n"
    "  const size_t length = (size_t)word(p, 4);\n"
    "  const uint64_t rank = word(p + 8, 8), from = word(p + 16, 8);\n"
    "  const char *name = (const char *)p + 24 + 8 * rank;\n"
    "  const struct input *in = find_input(name, length);\n"
    "  uint64_t n = 1, last;\n"
    "  if (!in) return refuse(why, size, \"the network has no input\", name, length);\n"
    "  if (word(p + 4, 4) != in->type) return refuse(why, size, \"of another type:\", name, "
    "length);\n"
    "  if (rank != (uint64_t)in->rank) return refuse(why, size, \"of another rank:\", name, "
    "length);\n"
    "  for (int r = 0; r < in->rank; r++) {\n"
    "    if (word(p + 24 + 8 * r, 8) != (uint64_t)in->shape[r]) return refuse(why, size, \"of "
    "another shape:\", name, length);\n"
    "    n *= (uint64_t)in->shape[r];\n  }\n"
    "  if (from % 64 || from > bytes || (bytes - from) / in->bytes < n) return refuse(why, size, "
    "\"outside of the file:\", name, length);\n"
    "  const void *data = file + from;\n"
    "  memcpy((char *)args + in->field, &data, sizeof data);\n"
    "  last = 1;\n  for (int r = in->rank - 1; r > 0; r--) {\n"
    "    last *= (uint64_t)in->shape[r];\n    const int64_t step = (int64_t)last;\n"
    "    memcpy((char *)args + in->stride + sizeof step * (size_t)(r - 1), &step, sizeof step);\n"
    "  }\n"
    "  return " C_NAME "_done;\n}\n\n"
    "int " C_NAME "_weights(" C_NAME
    "_args *args, const void *file, size_t bytes, char *why, size_t size) {\n"
    "  const unsigned char *p = (const unsigned char *)file;\n"
    "  if (!args || !file) return " C_NAME "_bad_argument;\n"
    "  if (bytes < 40 || memcmp(p, \"TFWEIGHT\", 8) != 0) return refuse(why, size, \"no file of "
    "weights\", \"\", 0);\n"
    "  if (word(p + 8, 4) != 1) return refuse(why, size, \"a file of another version\", \"\", 0);\n"
    "  if ((uintptr_t)file % 4) return refuse(why, size, \"not aligned as its elements are\", "
    "\"\", 0);\n"
    "  const uint64_t head = word(p + 16, 8);\n"
    "  if (word(p + 24, 8) != bytes || head < 40 || head > bytes) return refuse(why, size, \"a "
    "file of another length\", \"\", 0);\n"
    "  const unsigned char *at = p + 40, *end = p + head;\n"
    "  for (uint64_t i = word(p + 12, 4); i > 0; i--) {\n"
    "    const uint64_t n = row_bytes(at, (uint64_t)(end - at));\n"
    "    if (!n) return refuse(why, size, \"a table that is cut short\", \"\", 0);\n"
    "    const int status = take_row(args, p, bytes, at, why, size);\n"
    "    if (status) return status;\n    at += n;\n"
    "  }\n"
    "  return at == end ? " C_NAME
    "_done : refuse(why, size, \"a table of another length\", \"\", 0);\n}\n";

/* The number of a type in such a file (docs/FORMATS.md). */
static int number_of(ir_type t) {
  return t == IR_BF16 ? 2 : t == IR_F16 ? 3 : t == IR_I8 ? 4 : t == IR_U8 ? 5 : 1;
}

static void put_input(FILE *out, const net_emission *e, int t) {
  const tf_tensor *z = &e->wl->tensors[t];
  const ir_type type = net_type_of(e, t);
  fprintf(out, "    {\"%s\", %d, %d, %d, {", z->name, number_of(type), ir_bytes(type), z->rank);
  for (int r = 0; r < z->rank; r++)
    fprintf(out, "%s%" PRId64, r ? ", " : "", z->extent[r]);
  fputs(z->rank ? "}, " : "0}, ", out);
  fprintf(out, "offsetof(%s_args, ", C_NAME), c_field(out, z->name), fputs("), ", out);
  if (z->rank > 1)
    fprintf(out, "offsetof(%s_args, ", C_NAME), c_stride_field(out, z->name), fputs(")},\n", out);
  else
    fputs("0},\n", out);
}

void net_print_weights(FILE *out, const net_emission *e) {
  int most = 1;
  for (int z = 0; z < e->wl->n_tensors; z++)
    if (e->wl->tensors[z].rank > most) most = e->wl->tensors[z].rank;
  fprintf(out,
          "\n"
          "/* Inputs, any of which a file of weights may have: where their pointers and strides "
          "stand in the arguments. */\n"
          "static const struct input {\n  const char *name;\n"
          "  unsigned type, bytes; /* the number of its elements' type in such a file; of one */\n"
          "  int rank;\n  int64_t shape[%d];\n  size_t field, stride;\n} inputs[] = {\n",
          most);
  for (int z = 0; z < e->wl->n_tensors; z++)
    if (c_is_input(&e->wl->tensors[z])) put_input(out, e, z);
  fprintf(out, "};\n\n%s", reader);
}

void net_declare_weights(FILE *out) {
  fprintf(
      out,
      "enum { %s_bad_weights = -6 }; /* a file that is no file of weights of this network */\n\n"
      "/* Takes what a file of weights has (`tileflow pack MODEL.onnx`), read or mapped into "
      "memory by the caller and kept\n"
      " * there: pointers and strides of these inputs are set into it, so that it is not copied.  "
      "It is checked against the\n"
      " * names and shapes of the inputs; why (NULL, or `size` bytes) is told what is wrong, and "
      "args are then not to be used.\n"
      " * Inputs that the file lacks stay as they are.  For computers whose numbers are "
      "little-endian. */\n"
      "int %s_weights(%s_args *args, const void *file, size_t bytes, char *why, size_t size);\n\n",
      C_NAME, C_NAME, C_NAME);
}
