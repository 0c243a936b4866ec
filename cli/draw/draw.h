/* Three drawings of an evaluated tree. */
#ifndef CLI_DRAW_H
#define CLI_DRAW_H
#include "cli/cli.h"
#include "cli/text.h"

/* With box-drawing characters where the locale (LC_ALL, LC_CTYPE, LANG) is UTF-8, else with ASCII.
 */
void cli_draw_text(const cli_session *s, cli_text *out);
void cli_draw_svg(const cli_session *s, cli_text *out);
void cli_draw_dot(const cli_session *s, cli_text *out);
#endif
