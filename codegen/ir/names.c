#include "codegen/ir/names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 36 }; /* characters of a name that a numbered identifier shows */

static bool is_word_char(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* ---- identifiers ---------------------------------------------------------------------------- */

static bool stands_as_it_is(c_named what, const char *name) {
  const size_t n = strlen(name);
  for (size_t i = 0; i < n; i++)
    if (!isalnum((unsigned char)name[i])) return false;
  return n <= SHOWN && (what != C_TENSOR ||
                        (isupper((unsigned char)name[0]) && !isupper((unsigned char)name[1])));
}

const char *c_identifier(tf_arena *a, c_named what, const char *name, int i) {
  static const char *const kinds[] = {[C_TENSOR] = "t", [C_DIM] = "dim", [C_OP] = "op"};
  char text[SHOWN + 24];
  if (stands_as_it_is(what, name)) return name;
  int n = snprintf(text, sizeof text, "%s%d_%.*s", kinds[what], i, SHOWN, name);
  for (char *c = text; *c; c++)
    if (!is_word_char(*c)) *c = '_';
  return tf_arena_strndup(a, text, (size_t)n);
}

/* ---- fields --------------------------------------------------------------------------------- */

static bool starts(const char *s, const char *with) { return !strncmp(s, with, strlen(with)); }

static bool ends(const char *s, const char *with) {
  const size_t n = strlen(s), m = strlen(with);
  return n >= m && !strcmp(s + n - m, with);
}

bool c_may_be_macro(const char *s) {
  int capitals = 0, small = 0;
  for (const char *c = s; *c; c++)
    capitals += isupper((unsigned char)*c) != 0, small += islower((unsigned char)*c) != 0;
  return strlen(s) > 2 && ((isupper((unsigned char)s[0]) && isupper((unsigned char)s[1])) ||
                           (capitals > 1 && !small));
}

static bool field_is_name(const char *s) {
  return *s != '_' && !starts(s, "tensor") && !starts(s, "stride") && !ends(s, "_stride") &&
         !ends(s, "_t") && strcmp(s, "packed") != 0 && !c_may_be_macro(s) && !c_is_word(s);
}

void c_field(FILE *out, const char *tensor) {
  fprintf(out, "%s%s", field_is_name(tensor) ? "" : "tensor_", tensor);
}

void c_stride_field(FILE *out, const char *tensor) {
  if (field_is_name(tensor))
    fprintf(out, "%s_stride", tensor);
  else
    fprintf(out, "stride_%s", tensor);
}

/* ---- the kernel's name ---------------------------------------------------------------------- */

/* The position after a comment, a literal or a header name that begins at c; c if none does. */
static const char *behind(const char *c) {
  const char *end = c;
  if (starts(c, "/*")) {
    end = strstr(c + 2, "*/");
    return end ? end + 2 : c + strlen(c);
  }
  if (starts(c, "//") || starts(c, "#include")) return c + strcspn(c, "\n");
  if (*c != '"' && *c != '\'') return c;
  for (end = c + 1; *end && *end != *c; end++)
    if (*end == '\\' && end[1]) end++;
  return *end ? end + 1 : end;
}

/* Whether the file has C_NAME followed by `rest`. */
static bool exports(const char *text, const char *rest) {
  const size_t n = strlen(rest);
  for (const char *c = strstr(text, C_NAME); c; c = strstr(c + 1, C_NAME))
    if (!strncmp(c + 1, rest, n) && !is_word_char(c[1 + n])) return true;
  return false;
}

/* Whether the word, found in the kernel's own text, is one that is derived from the kernel's name.
 */
static bool is_made(const char *word, size_t length, const char *name, const char *const *text,
                    int n) {
  char rest[64];
  const size_t at = strlen(name);
  if (length < at || strncmp(word, name, at) != 0 || length - at >= sizeof rest) return false;
  snprintf(rest, sizeof rest, "%.*s", (int)(length - at), word + at);
  bool made = false;
  for (int i = 0; i < n; i++)
    made |= exports(text[i], rest);
  return made;
}

/* Whether the word is a field; these clash with nothing. */
static bool is_field(const char *file, const char *c) {
  return c > file && (c[-1] == '.' || (c - file > 1 && c[-1] == '>' && c[-2] == '-'));
}

static bool has_word_of(const char *file, const char *name, const char *const *text, int n) {
  for (const char *c = file; *c;) {
    const char *next = behind(c);
    if (next == c && is_word_char(*c)) {
      while (is_word_char(*next))
        next++;
      if ((c == file || c[-1] != *C_NAME) && !is_field(file, c) &&
          is_made(c, (size_t)(next - c), name, text, n))
        return true;
    }
    c = next == c ? c + 1 : next;
  }
  return false;
}

const char *c_name_fault(const char *name, const char *const *text, int n) {
  const bool letter = isalpha((unsigned char)*name) || *name == '_';
  if (!letter ||
      name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")])
    return "a letter, then letters, digits and _";
  if (strlen(name) > 120) return "it is longer than 120 characters";
  if (*name == '_' || strstr(name, "__") || ends(name, "_t"))
    return "such names are reserved for compilers and systems";
  if (c_is_word(name)) return "it is a word of C or C++";
  if (c_is_library(name)) return "C's library, POSIX or what builds the kernel has that name";
  if (c_may_be_macro(name)) return "it may be a macro; use a small letter, too";
  for (int i = 0; i < n; i++)
    if (has_word_of(text[i], name, text, n))
      return "something else inside the kernel has that name";
  return NULL;
}

char *c_with_name(const char *text, const char *name) {
  size_t names = 0, length = strlen(name);
  for (const char *c = text; *c; c++)
    names += *c == *C_NAME;
  char *all = malloc(strlen(text) + names * length + 1), *to = all;
  for (const char *c = text; all && *c; c++) {
    if (*c != *C_NAME)
      *to++ = *c;
    else
      memcpy(to, name, length), to += length;
  }
  if (all) *to = '\0';
  return all;
}

void c_plain_text(FILE *out, const char *text) {
  for (const char *c = text; *c; c++) {
    const bool part = (*c == '/' && c[1] == '*') || (*c == '*' && c[1] == '/');
    fputc((unsigned char)*c < ' ' || *c == 127 || *c == '\\' ? ' ' : *c, out);
    if (part) fputc(' ', out);
  }
}
