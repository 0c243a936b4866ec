/* A node of the tree as text. */
#ifndef CLI_NODE_TEXT_H
#define CLI_NODE_TEXT_H
#include "cli/cli.h"
#include "cli/text.h"

/* Its line as the mapping text writes it, without the indent. */
void cli_node_line(const tf_tree *t, int node, cli_text *out);
/* The parts of that line: "for h=2 m=4", "spatial h=2@x"; nothing if there are none. */
void cli_node_temporal(const tf_tree *t, int node, cli_text *out);
void cli_node_spatial(const tf_tree *t, int node, cli_text *out);
/* "bypass Q", "keep C@L1 retain D": what follows the loops or the scope's keyword. */
void cli_node_rest(const tf_tree *t, int node, cli_text *out);
/* The name of its memory, "Seq", "op S". */
void cli_node_head(const tf_tree *t, int node, cli_text *out);
#endif
