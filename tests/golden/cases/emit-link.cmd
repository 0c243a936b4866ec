# What the README of a kernel says of a call: its lines compile, link and compute.
tileflow emit examples/matmul.yaml --isa portable --no-test --quiet -o $OUT/kernel --name product
cd $OUT/kernel && sed -n '/^## In a program/,/^## Mapping/p' README.md
{
  echo '#include <stdio.h>'
  sed -n 's/^    \(#include.*\)/\1/p' README.md
  echo 'static float A[64*64], B[64*64], C[64*64];'
  echo 'int main(void) { for (int i = 0; i < 64 * 64; i++) A[i] = 1, B[i] = (float)(i % 64);'
  sed -n '/^    product_args/,/^    if/p' README.md | sed 's/ \.\.\.$/ return 1;/'
  echo 'printf("%g %g", C[1], C[64*64-1]); puts(""); return 0; }'
} >program.c
sed -n 's/^    \(make lib.*\)/\1/p' README.md >link.sh && sh -e link.sh >said 2>&1 || cat said
./program
