/* UTF-8, one code point at a time. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes the code point at s (end > s).  Returns its bytes, 1 to 4, or 0 if it is not
 * UTF-8 (overlong, surrogate, cut short, past U+10FFFF). */
size_t tf_utf8_next(const char *s, const char *end, uint32_t *code);

/* Bytes of the line break at s (LF, CR, CR LF, NEL, LS, PS: those of YAML), 0 if none. */
size_t tf_line_break(const char *s, const char *end);

/* Whether the code point can be shown in one line of a message without moving the cursor. */
bool tf_printable(uint32_t code);
#endif
