/* UTF-8 decoding, and which code points are printable. */
#include "base/utf8.h"

size_t tf_utf8_next(const char *s, const char *end, uint32_t *code) {
  unsigned char lead = (unsigned char)*s;
  *code = lead;
  if (lead < 0x80) return 1;
  size_t n = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || (size_t)(end - s) < n) return 0;
  uint32_t c = lead & (0x7fu >> n);
  for (size_t i = 1; i < n; i++) {
    unsigned char next = (unsigned char)s[i];
    if ((next & 0xc0) != 0x80) return 0;
    c = (c << 6) | (next & 0x3fu);
  }
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) return 0;
  *code = c;
  return n;
}

size_t tf_line_break(const char *s, const char *end) {
  if (s >= end) return 0;
  if (*s == '\n') return 1;
  if (*s == '\r') return end - s > 1 && s[1] == '\n' ? 2 : 1;
  if ((unsigned char)*s != 0xc2 && (unsigned char)*s != 0xe2) return 0;
  uint32_t code;
  size_t n = tf_utf8_next(s, end, &code);
  return code == 0x85 || code == 0x2028 || code == 0x2029 ? n : 0;
}

bool tf_printable(uint32_t c) {
  if (c < 0x20 || (c >= 0x7f && c < 0xa0)) return false;
  bool turns_direction = (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
                         (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
  return !turns_direction;
}
