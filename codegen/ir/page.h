/* What the files of every target hold beside code: texts in JSON, the mapping, the kernel's name.
 */
#ifndef CODEGEN_IR_PAGE_H
#define CODEGEN_IR_PAGE_H
#include <stdio.h>

#include "tileflow/emit.h"

/* Text as a JSON string, with its quotes. */
void c_json_text(FILE *out, const char *text);
/* The mapping as a block of Markdown: its lines, indented by four. */
void c_mapping_block(FILE *out, const tf_tree *t);
/* Puts the kernel's name where C_NAME (names.h) stands in the files.  False: out of memory. */
bool c_name_files(tf_emitted *e, const char *name);
#endif
