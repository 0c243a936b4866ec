/* The files that come with the program: architectures, workloads, examples. */
#ifndef CLI_SHIPPED_H
#define CLI_SHIPPED_H
#include "cli/text.h"

/* The folder that has arch-specs, workloads and examples: share/tileflow beside the program's bin,
 * the sources that it was built in, or the system's.  False: there is none. */
bool cli_shipped_root(cli_text *out);

typedef struct {
  char *path; /* relative to that folder */
  char *says; /* the first comment of the file, without "#"; "" if it begins otherwise */
} cli_shipped_file;
typedef struct {
  int n;
  cli_shipped_file *file; /* by path */
} cli_shipped_list;
/* All of them.  False: out of memory, or a folder cannot be read.  Free it in either case. */
bool cli_shipped_files(const char *root, cli_shipped_list *out);
void cli_shipped_free(cli_shipped_list *l);
#endif
