/* The lines of a mapping as a regular expression, from the words by which they are read. */
#include "model/schema/pattern.h"

#include "model/tree/parse.h"

#define REST "[A-Za-z0-9_.-]"
#define NAME "[A-Za-z_]" REST "*"
#define COUNT "[0-9]+"
#define TRIPS "(?:" COUNT "|[?](?: *<= *" COUNT "| *[{] *" COUNT " *(?:, *" COUNT " *)*[}])?)"
#define LOOP NAME " *= *" TRIPS
#define NAMES "(?: +" NAME ")+"

/* What follows the word of each clause; both lists have all of them. */
static const char *const rests[] = {
    "(?: *[{] *" LOOP "(?: *" LOOP ")* *[}]| +" LOOP "(?: *" LOOP ")*)", /* FOR */
    "(?: +" LOOP " *@ *[xy](?!" REST "))+",                              /* SPATIAL */
    NAMES,                                                               /* BYPASS */
    "(?: +" NAME " *@ *" NAME ")+",                                      /* KEEP */
    NAMES,                                                               /* RETAIN */
    NAMES,                                                               /* STREAM */
};
static const char *const words[] = {
#define X(id, key) key,
    TF_CLAUSES(X)
#undef X
};
_Static_assert(sizeof rests == sizeof words, "each clause has a word and what follows it");
enum {
#define X(id, key) id,
  TF_CLAUSES(X)
#undef X
      N_CLAUSES
};

static void write_clauses(FILE *out, int from, int to) {
  fprintf(out, "(?:");
  for (int c = from; c < to; c++)
    fprintf(out, "%s *%s%s", c > from ? "|" : "", words[c], rests[c]);
  fprintf(out, ")*");
}

static void write_scopes(FILE *out) {
  for (int s = 0; s < TF_N_SCOPES; s++)
    fprintf(out, "%s%s", s ? "|" : "", tf_scope_at((tf_scope)s)->key);
}

void tf_write_mapping_pattern(FILE *out) {
  static const char line[] = "(?: *(?:#[^\\n]*)?(?:\\n|$))";
  fprintf(out, "^(?:%s| *(?:op +" NAME "|(?:", line);
  write_scopes(out);
  fprintf(out, "|[?])(?!" REST ")");
  write_clauses(out, KEEP, N_CLAUSES);
  fprintf(out, "|(?!(?:op|");
  write_scopes(out);
  fprintf(out, ")(?!" REST "))" NAME);
  write_clauses(out, FOR, KEEP);
  fprintf(out, ")%s)*$", line);
}
