/* Tokens of expressions, located in the scalar that holds them. */
#ifndef MODEL_INPUT_LEX_H
#define MODEL_INPUT_LEX_H
#include "model/yaml/node.h"

/* A number: integers keep their exact value in i (and f is the same). */
typedef struct {
  bool whole;
  int64_t i;
  double f;
} tf_value;

typedef enum { TF_T_END, TF_T_NUMBER, TF_T_NAME, TF_T_PUNCT, TF_T_BAD } tf_tok_kind;

typedef struct {
  tf_tok_kind kind;
  char punct; /* PUNCT: one of + - * / ( ) [ ] , = and so on */
  size_t at, len;
  tf_value value; /* NUMBER */
} tf_tok;

typedef struct {
  const tf_ynode *node;
  tf_diags *diags;
  size_t start;    /* where the expression starts in the node's text */
  tf_tok tok;      /* the next token */
  size_t prev_end; /* end of the token before it */
} tf_lex;

tf_value tf_integer(int64_t i);
tf_value tf_real(double f); /* whole if it is, and below 2^53 */

tf_lex tf_lex_start(const tf_ynode *node, size_t off, tf_diags *d);
void tf_lex_next(tf_lex *x);
bool tf_lex_is(const tf_lex *x, char punct);
bool tf_lex_take(tf_lex *x, char punct); /* skips it if it is next */
/* Skips punct, or reports that it is missing. */
bool tf_lex_need(tf_lex *x, char punct, const char *after);
const char *tf_lex_text(const tf_lex *x); /* of the token */
bool tf_lex_word(const tf_lex *x, const char *word);

/* Reports at the token: "expected WHAT, not 'x'".  Always false. */
bool tf_lex_fail(tf_lex *x, const char *expected);
/* The place of the token, and of everything from byte `from` up to the token before it. */
tf_loc tf_lex_at(const tf_lex *x);
tf_loc tf_lex_since(const tf_lex *x, size_t from);
#endif
