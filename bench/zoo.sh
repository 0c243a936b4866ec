#!/bin/sh
# The zoo: current models (workloads/zoo) on one machine, one product on each current machine, by mappings that are kept
# (workloads/dataflows/zoo).
#   bench/zoo.sh TILEFLOW page                 the tables of docs/RESULTS-zoo.md, from the mappings that are kept
#   bench/zoo.sh TILEFLOW find EVALS [NAME...] looks for better ones with so many evaluations each, beginning with those that are kept,
#                                              and keeps what is better; a minute at most each
set -u
. "$(dirname "$0")/lib.sh"
[ $# -ge 2 ] || { echo "usage: $0 TILEFLOW page | find EVALS [NAME...]" >&2; exit 2; }
begin "$(dirname "$0")/.." "$1"
kept=workloads/dataflows/zoo
machines='h100 b200 mi300x tpu-v4i tpu-v5e gaudi2 ascend910 eyeriss-v2 simba phone-npu ara2'

# all: a line for each pair, with the file of its mapping: ARCHITECTURE WORKLOAD MAPPING
all() {
  for workload in workloads/zoo/*.yaml; do
    echo "arch-specs/tpu-v5e.yaml $workload $kept/$(basename "$workload")"
  done
  for machine in $machines; do
    echo "arch-specs/$machine.yaml workloads/gemm.yaml $kept/gemm-$machine.yaml"
  done
}

find_one() {
  start=
  [ -e "$3" ] && start=$3
  # shellcheck disable=SC2086 # a file or none
  timeout 300 "$tool" best "$1" "$2" $start --evals "$evals" --time-limit 60 -o "$scratch/found" --force --quiet </dev/null || { echo "$2 on $1: nothing found" >&2; return; }
  {
    echo "# The best mapping known of $(basename "$2" .yaml) on $(basename "$1" .yaml), for cycles; found by bench/zoo.sh."
    echo "# tileflow eval $1 $2 $3"
    grep -v '^#' "$scratch/found"
  } >"$scratch/file" && mv "$scratch/file" "$3"
}

# row NAME ARCHITECTURE WORKLOAD MAPPING: cycles and words, each over its bound.
row() {
  "$tool" eval "$2" "$3" "$4" >"$scratch/said" </dev/null || { cat "$scratch/said" >&2; exit 1; }
  awk -v name="$1" '
    $1 == "cycles" { cycles = $2; over = $3; for (i = 4; i <= NF; i++) if ($i == "at") time = $(i - 2) " " $(i - 1) }
    $2 == "words" && $5 == "the" { words = $3; more = $4 }
    $2 == "words" && $6 == "the" { words = $3; more = $4 }
    /^The bottleneck is / { sub(/^The bottleneck is /, ""); sub(/, busy.*/, ""); what = $0 }
    END { printf "| %s | %s | %s | %s | %s | %s | %s |\n", name, cycles, over, time, words, more, what }' "$scratch/said"
}

page() {
  cat <<'END'
# The zoo

Best known mappings of current models and machines, beside their lower bounds (*over*; for words the bound ignores capacity); none is proved optimal. The
files are in [workloads/zoo](../workloads/zoo) and [arch-specs](../arch-specs), every number with its source. `bench/zoo.sh TILEFLOW find EVALS` searches a
minute for each mapping and keeps the best in [workloads/dataflows/zoo](../workloads/dataflows/zoo); `bench/zoo.sh TILEFLOW page` writes this page.

Sizes are parameters: `tileflow best arch-specs/h100.yaml workloads/zoo/llama3-mlp.yaml --set width=8192 --set inner=28672` is Llama 3 70B.

## Models on a TPU v5e

| workload | cycles | over | time | words of HBM | over | bottleneck |
|---|--:|--:|--:|--:|--:|---|
END
  all | grep "workloads/zoo/" | while read -r a w m; do row "[$(basename "$w" .yaml)](../$w)" "$a" "$w" "$m"; done
  cat <<'END'

## One product of 1024 x 1024 x 1024 on each machine

| machine | cycles | over | time | words of the outermost memory | over | bottleneck |
|---|--:|--:|--:|--:|--:|---|
END
  all | grep "workloads/gemm.yaml" | while read -r a w m; do row "[$(basename "$a" .yaml)](../$a)" "$a" "$w" "$m"; done
}

case $2 in
page) page ;;
find)
  evals=$3
  shift 3
  mkdir -p "$kept"
  all | while read -r a w m; do
    name=$(basename "$m" .yaml)
    [ $# -eq 0 ] || case " $* " in *" $name "*) ;; *) continue ;; esac
    find_one "$a" "$w" "$m"
  done
  ;;
*) echo "usage: $0 TILEFLOW page | find EVALS [NAME...]" >&2 && exit 2 ;;
esac
