#include "cli/json.h"

#include <math.h>
#include <stdlib.h>

json_t *cli_json_real(double v) { return isfinite(v) ? json_real(v) : json_null(); }

void cli_put_json(json_t *value, size_t flags, cli_text *out) {
  char *text = value ? json_dumps(value, flags) : NULL;
  if (text) cli_printf(out, "%s\n", text);
  out->bad |= !text;
  free(text);
  json_decref(value);
}
