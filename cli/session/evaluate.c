/* A mapping read, or found, then counted. */
#include "cli/session/session.h"
#include "tileflow/tree.h"

cli_status cli_evaluate(cli_session *s, const cli_input *in, const cli_looking *l) {
  cli_status status = cli_open(s, in);
  if (status == CLI_DONE) status = cli_check_sections(s);
  if (status != CLI_DONE) return status;
  if (!s->tree || s->tree->open) status = s->tree ? cli_search(s, l) : cli_find(s, l);
  return status == CLI_DONE ? cli_count_words(s) : status;
}
