#!/bin/sh
# What the scripts of bench read from an emitted kernel's folder is there: the flags that its Makefile compiles with.
#   tests/benches.sh TILEFLOW
set -u
[ $# -eq 1 ] || { echo "usage: $0 TILEFLOW" >&2; exit 2; }
. "$(dirname "$0")/../bench/lib.sh"
begin "$(dirname "$0")/.." "$1"
failed=0

# compiles ISA FLAG: among the flags
compiles() {
  timeout 60 "$tool" emit arch-specs/host-template.yaml workloads/gemm.yaml --set M=64 --set N=64 --set K=64 --isa "$1" --target cpu --no-test \
    --evals 100 -o "$scratch/$1" --quiet || failed=$((failed + 1))
  case " $(flags_of "$scratch/$1") " in
  *" $2 "*) ;;
  *) echo "flags for $1: '$(flags_of "$scratch/$1")', without $2" && failed=$((failed + 1)) ;;
  esac
}

compiles avx2 -march=x86-64-v3
compiles avx512 -march=x86-64-v4
mkdir "$scratch/none" && echo 'ALL = -O3' >"$scratch/none/Makefile"
flags_of "$scratch/none" 2>/dev/null && echo "flags of a Makefile that says none" && failed=$((failed + 1))
echo "benches: $failed failed"
[ $failed -eq 0 ]
