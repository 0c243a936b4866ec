#!/bin/sh
# Measures emitted kernels beside libraries on this computer, and writes docs/RESULTS-cpu.md from all the figures that are there.
#   bench/results-cpu.sh TILEFLOW [GROUP...]
# GROUP: of $groups below, on one core, each writes docs/results/cpu-GROUP.csv; GROUP-cores: on all cores; all of both if none is given.
#        report: none, only the page.
# A group whose run fails keeps the figures that it had.  When, where and how long each was run stands in docs/results/cpu-runs.csv.
# DNNL_ROOT, MKL_ROOT: folders with oneDNN and MKL of today, as bench/kernels/run.sh takes them.
# OLDER=FILE: another build of TILEFLOW, for planning's second column.
# PYTHON=FILE: a Python with PyTorch, for torch, torch-bf16, models and models-bf16; ARCH, ISA: as bench/kernels/run.sh takes them.
set -u
. "$(dirname "$0")/lib.sh"
begin "$(dirname "$0")/.." "${1:?usage: $0 TILEFLOW [GROUP...]}"
shift
beside="chains softmax exponent conv conv-relu yolo resnet bf16 bf16-softmax int8 int8-softmax int8-product"
groups="$beside torch torch-bf16 models models-bf16 data chosen planning movement apart beside whose story"
[ $# -gt 0 ] || set -- $groups $(for g in $beside models models-bf16; do echo "$g-cores"; done)
results=docs/results
page=docs/RESULTS-cpu.md
runs=$results/cpu-runs.csv
failed=0
export KERNELS="${KERNELS:-$scratch/kernels}"

# version_of_dnnl: what run.sh links
version_of_dnnl() {
  if [ -n "${DNNL_ROOT:-}" ]; then
    lib=$(realpath "$DNNL_ROOT/lib/libdnnl.so")
    for each in "$lib".*.*; do # copies instead of links, as in PyPI's packages
      cmp -s "$lib" "$each" && lib=$each
    done
    basename "$lib" | sed 's/libdnnl\.so\.//'
  else
    dpkg-query -W -f '${Version}' libdnnl-dev 2>/dev/null | sed 's/[+-].*//'
  fi
}

# libraries_of GROUP: the versions of those whose version is not the same in each run, and the compiler
libraries_of() {
  case $1 in
  models* | torch*) echo "PyTorch $("${PYTHON:-python3}" -c 'import torch; print(torch.__version__)' 2>/dev/null)" ;;
  data | chosen | planning | movement | apart | whose | story) ;;
  *) echo "oneDNN $(version_of_dnnl)${MKL_ROOT:+ and MKL}" ;;
  esac | sed "s/$/ gcc $(gcc -dumpfullversion)/; s/,/ /g"
}

# ran GROUP STARTED SECONDS LOAD THREADS: its row of cpu-runs.csv, in the place of the old one.
ran() {
  cpu=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1 | tr -d ,)
  [ -e $runs ] || echo "group,started,seconds,load_before,threads,cpu,commit,libraries" >$runs
  into $runs awk -F, -v group="$1" -v row="$1,$2,$3,$4,$5,$cpu,$(git rev-parse --short HEAD 2>/dev/null),$(libraries_of "$1")" \
    '$1 != group { print } END { print row }' $runs
}

version() { dpkg-query -W -f '${Version}' "$1" 2>/dev/null | sed 's/[+-].*//'; }

# machine: the sentence of the page's head that says which computer the last group ran on; the page may be written on another.
machine() {
  printf 'This computer: %s, %s cores, with %s. ' "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" "$(nproc --all)" \
    "$(grep -o -w -m 1 -e avx2 -e avx512f -e avx512_vnni -e avx512_bf16 -e amx_bf16 /proc/cpuinfo | sort -u | tr '\n' ' ' | sed 's/ $//; s/ /, /g')"
  printf 'Libraries: libxsmm %s and OpenBLAS %s (Debian); oneDNN, PyTorch and the compiler as each group says.\n' "$(version libxsmm-dev)" "$(version libopenblas0)"
}

# measure GROUP COMMAND...
measure() {
  group=$1 started=$(date -u '+%Y-%m-%d %H:%M') from=$(date +%s) load=$(cut -d ' ' -f 1 /proc/loadavg)
  shift
  echo "$0: $group" >&2
  if into $results/cpu-"$group".csv "$@"; then
    into $results/cpu-machine.txt machine
    ran "$group" "$started" $(($(date +%s) - from)) "$load" "${THREADS:-1}"
  else
    echo "$0: $group failed or was skipped: the figures are those of before" >&2
    rm -f $results/cpu-"$group".csv.new
    failed=1
  fi
}

# cores GROUP SCRIPT ARGUMENT: the same on all cores
cores() {
  THREADS=$(nproc)
  export THREADS
  measure "$1" sh bench/kernels/"$2" "$tool" "$3"
  unset THREADS
}

# known GROUP WORDS
known() { case " $2 " in *" $1 "*) ;; *) return 1 ;; esac; }

for group; do
  case $group in
  report) ;;
  torch) measure torch sh bench/kernels/torch.sh "$tool" f32 ;;
  torch-bf16) measure torch-bf16 sh bench/kernels/torch.sh "$tool" bf16 ;;
  data) measure data sh bench/kernels/data.sh "$tool" ;;
  models) measure models sh bench/kernels/models.sh "$tool" f32 ;;
  models-bf16) measure models-bf16 sh bench/kernels/models.sh "$tool" bf16 ;;
  models-cores) cores models-cores models.sh f32 ;;
  models-bf16-cores) cores models-bf16-cores models.sh bf16 ;;
  movement) measure movement sh bench/movement/run.sh "$tool" ;;
  apart) measure apart sh bench/movement/apart.sh "$tool" ;;
  beside) measure beside env TILES="${TILES:-$scratch}/beside" sh bench/movement/beside.sh "$tool" ;;
  whose) measure whose sh bench/movement/whose.sh "$tool" "${TILES:-$scratch}/beside" ;; # of what beside made
  chosen) measure chosen sh bench/kernels/chosen.sh "$tool" ;;
  planning) measure planning sh bench/kernels/planning.sh "$tool" ${OLDER:+"$OLDER"} ;;
  story) measure story sh bench/story/run.sh "$tool" ;;
  *-cores) known "${group%-cores}" "$beside" || { echo "$0: no group '$group'" >&2; exit 2; }
    cores "$group" run.sh "${group%-cores}" ;;
  *) known "$group" "$beside" || { echo "$0: no group '$group'" >&2; exit 2; }
    measure "$group" sh bench/kernels/run.sh "$tool" "$group" ;;
  esac
done
sh bench/results-cpu-page.sh >"$page.new" && mv "$page.new" "$page" || exit 1
if [ -e $results/cpu-movement.csv ]; then sh plots/figures.sh "$tool" || exit 1; fi
exit $failed
