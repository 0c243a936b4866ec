/* The files by which a kernel can be replaced while the program runs: those of
 * codegen/backend/cpu/live, and tables of this kernel. */
#ifndef CODEGEN_BACKEND_CPU_PRINT_LIVE_H
#define CODEGEN_BACKEND_CPU_PRINT_LIVE_H
#include "codegen/backend/cpu/print/files.h"

/* The texts of those files, with the kernel called `kernel`. */
extern const char tf_live_h[], tf_live_c[], tf_live_try[], tf_live_mk[];

enum { C_LIVE_FILES = 6 };
/* The name of the i-th file. */
const char *c_live_name(int i);
void c_live_file(FILE *out, const c_package *k, int i);
#endif
