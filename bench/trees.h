/* The trees that benchmarks evaluate on that machine: the chain of two products, attention as seven
 * ops. */
#ifndef BENCH_TREES_H
#define BENCH_TREES_H
#include "bench/machine.h"

static const char bench_chain[] = BENCH_CHAIN "mapping: |\n"
                                              "  DRAM for m=2\n"
                                              "    L1 for m=4 l=16\n"
                                              "      Seq\n"
                                              "        L1 for m=2 k=64 spatial m=32@x l=32@y\n"
                                              "          L0 for m=1\n"
                                              "            op C\n"
                                              "        L1 for m=2 n=2 l=32 spatial m=32@x n=32@y\n"
                                              "          L0 for m=1\n"
                                              "            op E\n";

static const char bench_attention[] = "workload:\n"
                                      "  name: attention\n"
                                      "  dims: {b: 1, h: 8, m: 512, l: 512, a: 64, n: 64}\n"
                                      "  ops:\n"
                                      "  - S[b,h,m,l] += Q[b,h,m,a] * K[b,h,l,a]\n"
                                      "  - X[b,h,m] max= S[b,h,m,l]\n"
                                      "  - D[b,h,m,l] = S[b,h,m,l] - X[b,h,m]\n"
                                      "  - E[b,h,m,l] = exp(D[b,h,m,l])\n"
                                      "  - Z[b,h,m] += E[b,h,m,l]\n"
                                      "  - P[b,h,m,l] = E[b,h,m,l] / Z[b,h,m]\n"
                                      "  - O[b,h,m,n] += P[b,h,m,l] * V[b,h,l,n]\n"
                                      "mapping: |\n"
                                      "  DRAM for h=2 m=4 spatial h=2@x h=2@y\n"
                                      "    L1 for m=4\n"
                                      "      Seq\n"
                                      "        L1 for l=16 a=64 spatial m=32@x l=32@y\n"
                                      "          L0 for m=1\n"
                                      "            op S\n"
                                      "        L1 for l=512 spatial m=32@x\n"
                                      "          op X\n"
                                      "        L1 for l=512 spatial m=32@x\n"
                                      "          op D\n"
                                      "        L1 for l=512 spatial m=32@x\n"
                                      "          op E\n"
                                      "        L1 for l=512 spatial m=32@x\n"
                                      "          op Z\n"
                                      "        L1 for l=512 spatial m=32@x\n"
                                      "          op P\n"
                                      "        L1 for n=2 l=512 spatial m=32@x n=32@y\n"
                                      "          L0 for m=1\n"
                                      "            op O\n";
#endif
