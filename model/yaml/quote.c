#include "model/yaml/quote.h"

void tf_yaml_quote(FILE *out, const char *text) {
  fputc('"', out);
  for (const unsigned char *s = (const unsigned char *)text; *s; s++)
    if (*s < 0x20 || *s == 0x7f)
      fprintf(out, "\\x%02x", *s);
    else
      fprintf(out, *s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
  fputc('"', out);
}
