/* Libraries of small matrix products that emitted kernels may use. */
#include <string.h>

#include "codegen/intrin/micro.h"

/* libxsmm 1.17 is column-major, so the operands are exchanged; its lengths are int. */
static const char xsmm[] =
    "  if (a_k == 1 && k <= INT_MAX && a_m <= INT_MAX && b_k <= INT_MAX && c_m <= INT_MAX) {\n"
    "    const int lda = (int)a_m, ldb = (int)b_k, ldc = (int)c_m;\n"
    "    const float alpha = 1.0f, beta = add & ADDS ? 1.0f : 0.0f;\n"
    "    const libxsmm_smmfunction multiply = libxsmm_smmdispatch(%lld, %lld, (int)k, &ldb, &lda, "
    "&ldc, &alpha, &beta, NULL, NULL);\n"
    "    if (multiply) {\n"
    "      multiply(b, a, c);\n"
    "      return;\n"
    "    }\n"
    "  }\n";

static const tf_micro_source sources[] = {
    {"own", "", "", "", ""},
    {"libxsmm", "#include <libxsmm.h>\n#include <limits.h>\n", "-lxsmm -lblas -ldl -lpthread",
     "xsmm", xsmm},
};

const tf_micro_source *tf_micro_source_find(const char *name) {
  for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
    if (!strcmp(sources[i].name, name ? name : "own")) return &sources[i];
  return NULL;
}
