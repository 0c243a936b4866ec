/* emit of a network's plan: a folder with a kernel for each distinct group and network.c. */
#ifndef CLI_NETWORK_H
#define CLI_NETWORK_H
#include "cli/cli.h"
#include "tileflow/net.h"

/* Whether a file of the command holds a plan; or is an ONNX model. */
bool cli_has_plan(const cli_input *in);
bool cli_has_model(const cli_input *in);
/* The target that the plan says it is for; false: it says none. */
bool cli_plan_target(const cli_input *in, char *target, size_t size);
/* "cpu or cuda": those whose kernels a network can have. */
cli_text cli_network_targets(void);
/* Notes that the instruction set that was asked for changes nothing for that type of data, if so.
 */
void cli_note_unused_isa(const char *target, const char *isa, const char *dtype);
/* Emits the network of the plan, or of one that is made with those options, whose target is the
 * kernels'. */
cli_status cli_emit_network(const cli_input *in, const char *out, const tf_emit_options *o,
                            const tf_net_opts *plan);
#endif
