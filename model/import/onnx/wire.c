/* The file's bytes, before the protobuf reader gets them.  What would exhaust its stack or cut a
 * name short is refused, and a damaged file is reported with the byte where it stops making sense.
 * The reader copies what it reads: it gets the file without the numbers of tensors, which stay
 * where they are, and only learns where that is. */
#include <stdlib.h>
#include <string.h>

#include "model/import/onnx/onnx.h"

enum { DEEPEST = 64, VARINT = 0, EIGHT = 1, LENGTH = 2, FOUR = 5 };
/* Fields that ONNX's tensors do not have: where the numbers of field n lie in the file (PLACE + n),
 * and how many bytes they are (SIZE + n). */
enum { PLACE = 30000, SIZE = 30100, BEHIND = 30200, MOST_FIELD = 16 };

/* A field: its number, and its bytes from the tag on; of one with a length, what stands behind
 * that. */
typedef struct {
  unsigned number, wire;
  const uint8_t *from, *body, *end;
  bool cut; /* it would end beyond what it stands in */
} field;

static bool varint(const uint8_t **p, const uint8_t *end, uint64_t *out) {
  *out = 0;
  for (int shift = 0; *p < end && shift < 64; shift += 7) {
    const uint8_t byte = *(*p)++;
    *out |= (uint64_t)(byte & 127) << shift;
    if (byte < 128) return true;
  }
  return false;
}

/* Reads the field at *p, which is before the end, and moves *p behind it; false: it makes no sense.
 */
static bool next_field(const uint8_t **p, const uint8_t *end, field *out) {
  uint64_t tag, n;
  *out = (field){.from = *p};
  if (!varint(p, end, &tag) || tag >> 3 == 0 || tag >> 32) return false;
  out->number = (unsigned)(tag >> 3);
  out->wire = (unsigned)(tag & 7);
  out->body = *p;
  if (out->wire == VARINT && !varint(p, end, &n)) return false;
  if (out->wire == LENGTH) {
    if (!varint(p, end, &n)) return false;
    out->body = *p;
  } else {
    n = out->wire == EIGHT ? 8 : out->wire == FOUR ? 4 : 0;
    if (out->wire != VARINT && !n) return false;
  }
  out->cut = out->wire != VARINT && n > (uint64_t)(end - *p);
  if (out->cut) return false;
  if (out->wire != VARINT) *p += n;
  out->end = *p;
  return true;
}

static const ProtobufCFieldDescriptor *described(const ProtobufCMessageDescriptor *what,
                                                 const field *f) {
  return f->wire == LENGTH ? protobuf_c_message_descriptor_get_field(what, f->number) : NULL;
}

/* ---- what is wrong -------------------------------------------------------------------------- */

typedef enum { FINE, BROKEN, CUT, DEEP, ZERO } fault;

static fault look(const ProtobufCMessageDescriptor *what, const uint8_t *p, const uint8_t *end,
                  int depth, const uint8_t **at) {
  field f;
  fault found = FINE;
  if (depth > DEEPEST) return DEEP;
  while (p < end && !found) {
    if (!next_field(&p, end, &f)) return *at = f.from, f.cut ? CUT : BROKEN;
    const ProtobufCFieldDescriptor *d = described(what, &f);
    if (d && d->type == PROTOBUF_C_TYPE_MESSAGE)
      found = look(d->descriptor, f.body, f.end, depth + 1, at);
    if (d && d->type == PROTOBUF_C_TYPE_STRING && memchr(f.body, 0, (size_t)(f.end - f.body)) &&
        strcmp(d->name, "doc_string") != 0)
      found = ZERO, *at = f.body;
  }
  return found;
}

/* ---- without numbers ------------------------------------------------------------------------ */

/* What is written so far; NULL: it is only counted. */
typedef struct {
  const uint8_t *file;
  uint8_t *out;
  size_t n;
} copy;

static void put(copy *c, const uint8_t *from, size_t n) {
  if (c->out && n) memcpy(c->out + c->n, from, n);
  c->n += n;
}

static void put_varint(copy *c, uint64_t x) {
  for (; x > 127; x >>= 7)
    put(c, &(uint8_t){(uint8_t)(x & 127) | 128}, 1);
  put(c, &(uint8_t){(uint8_t)x}, 1);
}

static void put_number(copy *c, unsigned field_number, uint64_t x) {
  put_varint(c, (uint64_t)field_number << 3 | EIGHT);
  for (int i = 0; i < 8; i++)
    put(c, &(uint8_t){(uint8_t)(x >> 8 * i & 255)}, 1);
}

/* Which fields of a tensor are a list of numbers that stands in one piece: raw bytes, or a list
 * written packed. */
static void find_lists(const uint8_t *p, const uint8_t *end, bool list[MOST_FIELD]) {
  static const bool holds[MOST_FIELD] = {[OX_FLOATS] = true,
                                         [OX_INT32S] = true,
                                         [OX_INT64S] = true,
                                         [OX_DOUBLES] = true,
                                         [OX_UINT64S] = true};
  int pieces[MOST_FIELD] = {0};
  field f;
  memset(list, 0, MOST_FIELD * sizeof *list);
  while (p < end && next_field(&p, end, &f))
    if (f.number < MOST_FIELD && holds[f.number])
      list[f.number] = pieces[f.number]++ == 0 && f.wire == LENGTH;
  list[OX_RAW] = true; /* of several the last counts */
}

/* A message without the numbers of tensors. */
static void strip(copy *c, const ProtobufCMessageDescriptor *what, const uint8_t *p,
                  const uint8_t *end) {
  const bool tensor = what == &onnx__tensor_proto__descriptor;
  bool list[MOST_FIELD];
  field f;
  if (tensor) find_lists(p, end, list);
  while (p < end && next_field(&p, end, &f)) {
    const ProtobufCFieldDescriptor *d = described(what, &f);
    if (tensor && f.number >= PLACE && f.number < BEHIND) continue;
    if (tensor && d && f.number < MOST_FIELD && list[f.number]) {
      put_number(c, PLACE + f.number, (uint64_t)(f.body - c->file));
      put_number(c, SIZE + f.number, (uint64_t)(f.end - f.body));
    } else if (d && d->type == PROTOBUF_C_TYPE_MESSAGE) {
      copy inner = {.file = c->file};
      strip(&inner, d->descriptor, f.body, f.end);
      put_varint(c, (uint64_t)f.number << 3 | LENGTH);
      put_varint(c, inner.n);
      if (c->out)
        strip(c, d->descriptor, f.body, f.end);
      else
        c->n += inner.n;
    } else {
      put(c, f.from, (size_t)(f.end - f.from));
    }
  }
}

/* The last number of that field; 0: none. */
static uint64_t last_of(const Onnx__TensorProto *t, unsigned number) {
  uint64_t x = 0;
  for (size_t i = 0; i < t->base.n_unknown_fields; i++) {
    const ProtobufCMessageUnknownField *u = &t->base.unknown_fields[i];
    if (u->tag != number || u->len != 8) continue;
    x = 0;
    for (int b = 7; b >= 0; b--)
      x = x << 8 | u->data[b];
  }
  return x;
}

const uint8_t *ox_piece(const ox_net *g, const Onnx__TensorProto *t, unsigned number, size_t *n) {
  *n = (size_t)last_of(t, SIZE + number);
  return *n ? g->bytes + last_of(t, PLACE + number) : NULL;
}

/* ---- the model ------------------------------------------------------------------------------ */

static Onnx__ModelProto *unpack(const uint8_t *file, size_t len) {
  copy c = {.file = file};
  strip(&c, &onnx__model_proto__descriptor, file, file + len);
  c.out = malloc(c.n + 1);
  if (!c.out) return NULL;
  c.n = 0;
  strip(&c, &onnx__model_proto__descriptor, file, file + len);
  Onnx__ModelProto *m = onnx__model_proto__unpack(NULL, c.n, c.out);
  free(c.out);
  return m;
}

Onnx__ModelProto *ox_unpack(ox_net *g, const char *text, size_t len) {
  const uint8_t *const file = (const uint8_t *)text, *at = file;
  const fault found = look(&onnx__model_proto__descriptor, file, file + len, 0, &at);
  Onnx__ModelProto *m = found ? NULL : unpack(file, len);
  if (m && m->graph) return m;
  if (!g)
    ;
  else if (found == DEEP)
    ox_fail(g, TF_E_LIMIT, "messages stand more than %d deep in each other", DEEPEST);
  else if (found == ZERO)
    ox_fail(g, TF_E_NAME, "a name with a zero byte, at byte %zu of the file", (size_t)(at - file));
  else if (found == CUT)
    ox_fail(g, TF_E_SYNTAX,
            "neither YAML nor an ONNX model, or one that was cut: the field at byte %zu of %zu is "
            "longer",
            (size_t)(at - file), len);
  else if (found == BROKEN)
    ox_fail(g, TF_E_SYNTAX,
            "neither YAML nor an ONNX model, or a damaged one: byte %zu begins no field of it",
            (size_t)(at - file));
  else
    ox_fail(g, TF_E_SYNTAX, "neither YAML nor an ONNX model: it has no graph");
  if (m) onnx__model_proto__free_unpacked(m, NULL);
  return NULL;
}
