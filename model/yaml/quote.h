/* Text as a YAML scalar. */
#ifndef MODEL_YAML_QUOTE_H
#define MODEL_YAML_QUOTE_H
#include <stdio.h>

/* Writes the text in double quotes, so that any YAML reader reads back just that. */
void tf_yaml_quote(FILE *out, const char *text);
#endif
