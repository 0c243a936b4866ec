#!/bin/sh
# Solves every problem of the thesis's tables 3.5 and 3.6 on Edge and Cloud, with the search beside it, and writes
# docs/results/solve.csv and docs/RESULTS-search.md.  About 25 minutes on two cores.
#   bench/results-search.sh TILEFLOW [measure] [report]       both if none is named
# CHAIN and ATTENTION are the seconds a solve may take, SEARCH those of the search.
set -u
[ $# -ge 1 ] || { echo "usage: $0 TILEFLOW [measure] [report]" >&2; exit 2; }
tool=$(realpath "$1") || exit 2
shift
cd "$(dirname "$0")/.." || exit 2
[ $# -gt 0 ] || set -- measure report
CHAIN=${CHAIN:-10}
ATTENTION=${ATTENTION:-35}
SEARCH=${SEARCH:-2}
out=docs/results
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
mkdir -p $out

# fields of the JSON member `search`
found() {
  awk -F'[:,]' '/"search": {/ { on = 1 }
    on && /"(value|bound|proved|evaluations|seconds|stopped_by)"/ { gsub(/[ "]/, ""); v[$1] = $2 }
    END { printf "%s %s %s %s %s %s\n", v["value"], v["bound"], v["proved"], v["evaluations"], v["seconds"],
      v["stopped_by"] }' "$1"
}

# run LIMIT COMMAND FILE...: fields and the most KiB held, "- - - - - - KiB" where nothing was found
run() {
  limit=$1 command=$2
  shift 2
  rm -f "$scratch/r.json"
  command time -f %M -o "$scratch/kib" "$tool" "$command" "$@" --time-limit "$limit" --threads 2 --quiet \
    --json "$scratch/r.json" 2>"$scratch/said"
  kib=$(tail -n 1 "$scratch/kib")
  if [ -s "$scratch/r.json" ]; then echo "$(found "$scratch/r.json") $kib"; else echo "- - - - - - $kib"; fi
}

# whether the tool solves in closed form
closed() { "$tool" solve --help | grep -q closed; }

problems() {
  for arch in edge cloud; do
    for g in 1 2 3 4 5 6 7 8 9 10 11 12; do echo $arch gemm-chain/g$g "$CHAIN"; done
    for c in 1 2 3 4 5 6 7 8; do echo $arch conv-chain/c$c "$CHAIN"; done
    for g in 1 2 3 4 5 6 7 8 9 10 11 12; do echo $arch attention/g$g "$ATTENTION"; done
  done
}

measure() {
  echo "architecture,workload,exact,bound,proved,evaluations,seconds,stopped_by,kib,search,search_seconds,closed" \
    >$out/solve.csv
  problems | while read -r arch work limit; do
    files="arch-specs/$arch.yaml workloads/$work.yaml"
    # shellcheck disable=SC2086 # two files
    exact=$(run "$limit" solve $files)
    # shellcheck disable=SC2086
    search=$(run "$SEARCH" search $files --seed 1)
    form="- - - - - - -"
    # shellcheck disable=SC2086
    closed && form=$(run "$limit" solve $files --method closed)
    echo "$arch $work $exact $search $form" | awk '{
      printf "%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s\n", $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $14, $17 }' \
      >>$out/solve.csv
  done
}

report() { sh bench/results-search-table.sh <$out/solve.csv >docs/RESULTS-search.md; }

for part in "$@"; do
  case $part in
    measure | report) $part ;;
    *) echo "$0: no part '$part'" >&2; exit 2 ;;
  esac
done
