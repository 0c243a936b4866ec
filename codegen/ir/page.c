#include "codegen/ir/page.h"

#include <stdlib.h>

#include "codegen/ir/names.h"
#include "tileflow/tree.h"

void c_json_text(FILE *out, const char *text) {
  fputc('"', out);
  for (const char *s = text; *s; s++) {
    if (*s == '"' || *s == '\\') fputc('\\', out);
    if (*s == '\n')
      fputs("\\n", out);
    else if ((unsigned char)*s < ' ')
      fprintf(out, "\\u%04x", (unsigned)*s);
    else
      fputc(*s, out);
  }
  fputc('"', out);
}

void c_mapping_block(FILE *out, const tf_tree *t) {
  char *mapping = tf_tree_text(t);
  for (const char *c = mapping ? mapping : ""; *c;) {
    fputs("    ", out);
    while (*c && *c != '\n')
      fputc(*c++, out);
    fputc('\n', out);
    if (*c) c++;
  }
  free(mapping);
}

bool c_name_files(tf_emitted *e, const char *name) {
  for (int i = 0; i < e->n; i++) {
    char *named = c_with_name(e->file[i].text, name);
    if (!named) return false;
    free((char *)e->file[i].text);
    e->file[i].text = named;
  }
  return true;
}

void tf_emitted_free(tf_emitted *e) {
  for (int i = 0; e && i < e->n; i++)
    free((char *)e->file[i].text);
  if (e) free(e->file);
  free(e);
}
