/* Limits the nesting of messages, as the protobuf reader is recursive and a hostile file could exhaust the stack. */
#include "model/import/onnx/onnx.h"

enum { DEEPEST = 64, VARINT = 0, EIGHT = 1, LENGTH = 2, FOUR = 5 };

static bool varint(const uint8_t **p, const uint8_t *end, uint64_t *out) {
  *out = 0;
  for (int shift = 0; *p < end && shift < 64; shift += 7) {
    const uint8_t byte = *(*p)++;
    *out |= (uint64_t)(byte & 127) << shift;
    if (byte < 128) return true;
  }
  return false;
}

/* Malformed data is left to the reader, which reports it. */
static bool is_shallow(const ProtobufCMessageDescriptor *what, const uint8_t *p, const uint8_t *end, int depth) {
  uint64_t tag, n;
  if (depth > DEEPEST) return false;
  while (p < end && varint(&p, end, &tag)) {
    switch (tag & 7) {
    case VARINT:
      if (!varint(&p, end, &n)) return true;
      break;
    case EIGHT: p += end - p < 8 ? end - p : 8; break;
    case FOUR: p += end - p < 4 ? end - p : 4; break;
    case LENGTH: {
      if (!varint(&p, end, &n) || n > (uint64_t)(end - p)) return true;
      const ProtobufCFieldDescriptor *f = protobuf_c_message_descriptor_get_field(what, (unsigned)(tag >> 3));
      if (f && f->type == PROTOBUF_C_TYPE_MESSAGE && !is_shallow(f->descriptor, p, p + n, depth + 1)) return false;
      p += n;
      break;
    }
    default: return true;
    }
  }
  return true;
}

bool ox_is_shallow(const char *text, size_t len) {
  const uint8_t *p = (const uint8_t *)text;
  return is_shallow(&onnx__model_proto__descriptor, p, p + len, 0);
}
