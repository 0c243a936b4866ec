/* The fused products that were measured in RTL (tests/data/rtl), for printf with a row's extents,
 * then the factors of its tiles. */
#ifndef TESTS_UNIT_OTHERS_RTL_H
#define TESTS_UNIT_OTHERS_RTL_H

/* C = A B stays in the buffer, tiles of M outermost; E = C D. */
static const char *const rtl_product =
    "workload:\n  name: fused-gemm\n  dims: {m: %ld, l: %ld, k: %ld, n: %ld}\n  ops:\n"
    "  - C[m,l] += A[m,k] * B[k,l]\n  - E[m,n] += C[m,l] * D[l,n]\n"
    "mapping: |\n  DRAM for m=%ld\n    Seq keep C@Buffer\n"
    "      DRAM for k=%ld\n        Buffer for k=%ld m=%ld l=%ld spatial m=16@x k=16@y\n"
    "          Reg\n"
    "            op C\n"
    "      DRAM for l=%ld\n        Buffer for l=%ld m=%ld n=%ld spatial m=16@x l=16@y\n"
    "          Reg\n"
    "            op E\n";
#endif
