#!/bin/sh
# CUDA kernels on a machine with a GPU: writes, compiles, checks and times them beside PyTorch's, and says which goals are met.
#   bench/cuda.sh TILEFLOW [CASE]              all of it (CASE: one case, or a pattern, 'gemm*'); in parts:
#   bench/cuda.sh --emit DIR TILEFLOW [CASE]   writes the kernels below DIR: needs neither a compiler nor a GPU
#   bench/cuda.sh --compile DIR [CASE]         compiles those that are not compiled yet: needs nvcc
#   bench/cuda.sh --run DIR [CASE]             compiles what is left, checks and times on the GPU: needs DIR and bench/cuda, no tileflow
#   bench/cuda.sh --report DIR                 the figures of issues 15, 19 and 38 from DIR/results.csv, each beside its goal
#   bench/cuda.sh --emulate DIR TILEFLOW CASE  the same as all of it by the emulator and PyTorch on the CPU: what a dry run of small cases takes
# --run adds to DIR/results.csv and leaves out what stands there, so that it goes on where it was stopped, on another machine, too, if that file was
# carried along; rows of an hour that went wrong are deleted by hand.  CASE may be several patterns, 'conv*|gemm-8192*': cases are run in
# their order.  Each case has its own time and its own process behind it: what hangs or crashes is told, and what is left goes on.
#   ARCH_SPEC=FILE the architecture that mappings are planned for (that of this machine's GPU where there is one, else arch-specs/h100.yaml)
#   ARCH=sm_90     what nvcc compiles all for that is not of warpgroups
#   FOR=SECONDS    --run ends in time before so many are over (none: when all is done)
#   RESULTS=FILE   instead of DIR/results.csv
#   PYTHON=python3 with PyTorch for the figures beside ours; without it, ours alone are checked (small ones) and timed
#   JOBS=N         compilers side by side (as many as cores)
#   CUOBJDUMP=FILE to count what stands in the machine code
# docs/CUDA.md says which question each step answers.
set -u
usage() { sed -n 's/^#   bench/usage: bench/p' "$0" >&2; exit 2; }
whole() { case $1 in /*) echo "$1" ;; *) echo "$PWD/$1" ;; esac; }
[ $# -gt 0 ] || usage
phases='emit run report' work='' tileflow='' how=''
case $1 in
--emit) phases=emit ;;
--compile) phases=compile ;;
--run) phases='run report' ;;
--report) phases=report ;;
--emulate) how=--emulate ;;
-*) usage ;;
esac
case $1 in -*) [ $# -ge 2 ] && work=$(whole "$2") && shift 2 || usage ;; esac
case $phases in emit*) [ $# -ge 1 ] || usage && tileflow=$(whole "$1") && shift ;; esac
word=${1:-*}
cd "$(dirname "$0")/.." || exit 2
case $(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null) in
*H200*) spec=arch-specs/h200.yaml ;;
*A100*) spec=arch-specs/a100.yaml ;;
*) spec=arch-specs/h100.yaml ;;
esac
spec=${ARCH_SPEC:-$spec} python=${PYTHON:-python3}
[ "$work" ] || { work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT; }
mkdir -p "$work" || exit 2
. bench/cuda/cases.sh

failed=0
for phase in $phases; do
  case $phase in
  emit) cases >"$work/cases.tsv" || failed=1 ;;
  compile) "$python" bench/cuda/run.py --compile "$work" "$word" || failed=1 ;;
  run) "$python" bench/cuda/run.py $how "$work" "$word" || failed=1 ;;
  report) python3 bench/cuda/report.py "$work" || failed=1 ;;
  esac
done
exit $failed
