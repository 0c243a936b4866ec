/* The machine that benchmarks evaluate on, an edge accelerator, and the chain of two products. */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

static const char bench_arch[] =
    "architecture:\n"
    "  name: edge\n"
    "  clock: 1 GHz\n"
    "  memories:\n"
    "  - {name: DRAM, bandwidth: 60 GB/s}\n"
    "  - {name: L1, mesh: [2, 2], capacity: 4 MiB, bandwidth: 1.2 TB/s}\n"
    "  - {name: L0, mesh: [32, 32], capacity: 6, bandwidth: 3}\n"
    "  compute:\n"
    "  - {name: matrix, ops: [mac], below: L0}\n"
    "  - {name: vector, ops: [add, sub, mul, div, max, exp], below: L1, mesh: [32, 3]}\n";

#define BENCH_CHAIN                                                                                \
  "workload:\n"                                                                                    \
  "  name: chain\n"                                                                                \
  "  dims: {m: 512, l: 512, k: 64, n: 64}\n"                                                       \
  "  ops:\n"                                                                                       \
  "  - C[m,l] += A[m,k] * B[k,l]\n"                                                                \
  "  - E[m,n] += C[m,l] * D[l,n]\n"
#endif
