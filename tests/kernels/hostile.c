/* Names that C, C++, their libraries and our own kernels have already, for tensors, dims and ops.
 */
#include "tests/kernels/hostile.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *const words[] = {
    "auto",
    "break",
    "case",
    "char",
    "const",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extern",
    "float",
    "for",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "typedef",
    "union",
    "unsigned",
    "void",
    "volatile",
    "while",
    "_Bool",
    "_Complex",
    "_Alignas",
    "_Static_assert",
    "bool",
    "true",
    "false",
    "nullptr",
    "typeof",
    "constexpr",
    "asm",
    "class",
    "new",
    "delete",
    "this",
    "template",
    "typename",
    "namespace",
    "using",
    "operator",
    "private",
    "public",
    "protected",
    "virtual",
    "friend",
    "and",
    "or",
    "not",
    "xor",
    "bitand",
    "compl",
    "and_eq",
    "not_eq",
    "try",
    "catch",
    "throw",
    "mutable",
    "explicit",
    "export",
    "wchar_t",
    "char16_t",
    "EOF",
    "NULL",
    "NAN",
    "INFINITY",
    "HUGE_VAL",
    "M_PI",
    "M_E",
    "BUFSIZ",
    "INT_MAX",
    "INT64_MIN",
    "INT64_C",
    "SIZE_MAX",
    "RAND_MAX",
    "EXIT_FAILURE",
    "FILE",
    "CLOCK_MONOTONIC",
    "PRId64",
    "offsetof",
    "assert",
    "errno",
    "unix",
    "linux",
    "stdin",
    "stdout",
    "stderr",
    "signgam",
    "environ",
    "I",
    "L_tmpnam",
    "int64_t",
    "uint8_t",
    "size_t",
    "uintptr_t",
    "va_list",
    "omp_get_max_threads",
    "_OPENMP",
    "__GNUC__",
    "__x86_64__",
    "_mm512_loadu_ps",
    "__m512",
    "__builtin_expect",
    "malloc",
    "free",
    "exp",
    "expf",
    "fmax",
    "fabs",
    "sqrt",
    "tanh",
    "erf",
    "memcpy",
    "memset",
    "printf",
    "puts",
    "exit",
    "main",
    "isnan",
    "syscall",
    "abs",
    "y0",
    "j1",
    "index",
    "time",
    "clock",
    "A",
    "A_stride",
    "stride_A",
    "tensor_A",
    "tensor",
    "stride",
    "t0_A",
    "t1_x",
    "dim0_m",
    "op0_C",
    "packed",
    "packed_",
    "kernel",
    "kernel_args",
    "kernel_h",
    "TILEFLOW_kernel_H",
    "args",
    "workspace",
    "bytes",
    "own",
    "rest",
    "add",
    "vec",
    "run",
    "pack",
    "far",
    "from",
    "to",
    "row",
    "all",
    "by",
    "of",
    "at",
    "at0",
    "x",
    "x0",
    "c0_0",
    "i",
    "p",
    "q",
    "d_m",
    "v_C",
    "s_C_0",
    "r_C",
    "k_C",
    "m_3",
    "i_m_0",
    "A_s0",
    "A_pack3",
    "A_held",
    "A_made",
    "C_sums",
    "n_wide",
    "k_wide",
    "block_16_16",
    "ahead0",
    "LANES",
    "APART",
    "FAR_A",
    "_",
    "__",
    "a__b",
    "a_b",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ_ABCDEFGHIJKLMNOPQRSTUVWXYZ_ABCDEFGHIJKLMNOPQRSTUVWXYZ_1",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ_ABCDEFGHIJKLMNOPQRSTUVWXYZ_ABCDEFGHIJKLMNOPQRSTUVWXYZ_2",
};

void hostile_begin(hostile *h) {
  *h = (hostile){0};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    hostile_add(h, words[i], strlen(words[i]));
}

void hostile_add(hostile *h, const char *name, size_t n) {
  if (!n || isdigit((unsigned char)*name) || h->n == HOSTILE_MOST) return;
  for (int i = 0; i < h->n; i++)
    if (strlen(h->name[i]) == n && !memcmp(h->name[i], name, n)) return;
  char *copy = calloc(n + 1, 1);
  if (!copy) abort();
  h->name[h->n++] = memcpy(copy, name, n);
}

/* Every identifier, and what stands before and behind each `_`: a name could be put together to the
 * same. */
void hostile_gather(hostile *h, const char *text) {
  for (const char *c = text; *c;) {
    size_t n = 0;
    while (isalnum((unsigned char)c[n]) || c[n] == '_')
      n++;
    hostile_add(h, c, n);
    for (size_t i = 0; i < n; i++)
      if (c[i] == '_') hostile_add(h, c, i), hostile_add(h, c + i + 1, n - i - 1);
    c += n ? n : 1;
  }
}

void hostile_end(hostile *h) {
  for (int i = 0; i < h->n; i++)
    free(h->name[i]);
}

/* In turn, so that all come by; none twice in a workload. */
static const char *next(hostile *h) { return h->name[h->at++ % h->n]; }

void hostile_rename(hostile *h, tf_workload *wl) {
  for (int z = 0; z < wl->n_tensors; z++)
    wl->tensors[z].name = next(h);
  for (int d = 0; d < wl->n_dims; d++)
    wl->dims[d].name = next(h);
  for (int o = 0; o < wl->n_ops; o++)
    wl->ops[o].name = next(h);
  wl->name = "*/ int \"x\" /* \\\n\x01%d";
}
