/* JSON as text. */
#ifndef CLI_JSON_H
#define CLI_JSON_H
#include <jansson.h>

#include "cli/text.h"

/* The number; null where it is none. */
json_t *cli_json_real(double v);

/* Prints and frees the value, with jansson's flags, and a line break; if it could not be made,
 * marks out as bad. */
void cli_put_json(json_t *value, size_t flags, cli_text *out);
#endif
