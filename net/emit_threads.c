/* How many threads a call of the network has. */
#include "net/emit.h"

void net_declare_threads(FILE *out) {
  fprintf(
      out,
      "/* The same on so many threads, of OpenMP's pool for the calling thread; 0: as many as OpenMP would take.  One "
      "without OpenMP.\n"
      " * The outputs are the same bits whatever their number.  %s_workspace_on: bytes of workspace that such a call "
      "needs. */\n"
      "size_t %s_workspace_on(int threads);\n"
      "int %s_on(const %s_args *args, void *workspace, size_t bytes, int threads);\n\n",
      C_NAME, C_NAME, C_NAME, C_NAME);
}

void net_print_threads(FILE *out) {
  fputs("\n/* The threads that OpenMP takes for this caller from now on; how many they were. */\n"
        "static int take_threads(int threads) {\n"
        "#if defined(_OPENMP)\n  const int before = omp_get_max_threads();\n"
        "  if (threads > 0) omp_set_num_threads(threads);\n  return before;\n"
        "#else\n  return threads;\n#endif\n}\n",
        out);
  fprintf(out,
          "\nsize_t %s_workspace_on(int threads) {\n  const int before = take_threads(threads);\n"
          "  const size_t bytes = %s_workspace();\n  take_threads(before);\n  return bytes;\n}\n"
          "\nint %s_on(const %s_args *args, void *workspace, size_t bytes, int threads) {\n"
          "  const int before = take_threads(threads), status = %s(args, workspace, bytes);\n"
          "  take_threads(before);\n  return status;\n}\n",
          C_NAME, C_NAME, C_NAME, C_NAME, C_NAME);
}
