/* Lines and tokens of mapping texts. */
#ifndef MODEL_TREE_LEX_H
#define MODEL_TREE_LEX_H
#include "tileflow/diag.h"

typedef enum { TF_M_END, TF_M_WORD, TF_M_NUMBER, TF_M_PUNCT, TF_M_BAD } tf_mkind;

typedef struct {
  tf_mkind kind;
  char punct;     /* one of = @ ? { } , and < for "<=" */
  bool huge;      /* NUMBER that passes 2^63 - 1 */
  int64_t number; /* NUMBER */
  const char *text;
  size_t len;
  tf_loc at;
} tf_mtok;

/* The rest of a line, and its next token. */
typedef struct {
  const char *p, *end;
  tf_loc at; /* of p */
  tf_mtok tok;
  tf_loc last; /* one column past the token before */
} tf_mlex;

/* A text that is read line by line. */
typedef struct {
  const char *p, *end;
  tf_loc at; /* of p, which starts a line */
} tf_mtext;

/* Moves to the next line that is neither blank nor a comment, past its indentation.  False at the end of the text.
 * *tab: the place of a tab in the line; line 0 if there is none. */
bool tf_mtext_line(tf_mtext *t, tf_mlex *x, tf_loc *tab);

void tf_mlex_next(tf_mlex *x);
bool tf_mlex_word(const tf_mlex *x, const char *word);
bool tf_mlex_take(tf_mlex *x, char punct); /* skips it if it is the next token */
#endif
