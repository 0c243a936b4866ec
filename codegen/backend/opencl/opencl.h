/* OpenCL C: what the files of its printer share.  What kernels do is CUDA's: its passes and what
 * prints its parts. */
#ifndef CODEGEN_BACKEND_OPENCL_OPENCL_H
#define CODEGEN_BACKEND_OPENCL_OPENCL_H
#include "codegen/backend/cuda/print/cuda.h"
#include "codegen/backend/target.h"

/* language.c: how OpenCL C spells what differs. */
extern const cu_language cl_language;
/* opencl_host.c: kernel.c, which holds the text of kernel.cl and has a device's compiler make
 * kernels of it.  False: out of memory. */
bool cl_host(FILE *out, cu_package *p);
/* opencl_files.c: the files around them; tf_target.print. */
tf_emitted *cl_print(const tf_target *t, const tf_tree *tree, const tf_emit_options *o,
                     tf_diags *d);
#endif
