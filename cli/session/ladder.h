/* explain --ladder: schedules from plain loops to the model's first choice. */
#ifndef CLI_LADDER_H
#define CLI_LADDER_H
#include "cli/cli.h"

/* Prints each step with the words that it moves by the model, and its schedule; json: the same for
 * programs, NULL: none; measure: also the time of its kernel on this computer. */
cli_status cli_ladder(const cli_input *in, const cli_looking *look, const char *json, bool measure);
#endif
