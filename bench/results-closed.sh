#!/bin/sh
# Solves every problem of the thesis's tables 3.5 and 3.6 on Edge and Cloud in closed form and writes docs/results/closed.csv and
# docs/RESULTS-closed.md; fills the column "closed" of docs/results/solve.csv, which results-search.sh measures, and
# writes its report anew.  Half a minute.
#   bench/results-closed.sh TILEFLOW [measure] [report]       both if none is named
set -u
. "$(dirname "$0")/lib.sh"
begin "$(dirname "$0")/.." "${1:?usage: $0 TILEFLOW [measure] [report]}"
shift
[ $# -gt 0 ] || set -- measure report
out=docs/results
mkdir -p $out

# The figures of the JSON member `search` of $1: value bound evaluations seconds orders home real formula tree model rounding limit
figures() {
  awk -F'[:,]' '/"search": {/ { on = 1 }
    on && /"[a-z_]+": [-0-9.]/ { gsub(/[ "]/, ""); v[$1] = $2 }
    END { print v["value"], v["bound"], v["evaluations"], v["seconds"], v["orders"], v["home_level"], v["real_words"],
      v["formula_words"], v["tree_words"], v["model_words"], v["rounding"], v["rounding_limit"] }' "$1"
}

problems() {
  for arch in edge cloud; do
    for g in 1 2 3 4 5 6 7 8 9 10 11 12; do echo $arch gemm-chain/g$g; done
    for c in 1 2 3 4 5 6 7 8; do echo $arch conv-chain/c$c; done
    for g in 1 2 3 4 5 6 7 8 9 10 11 12; do echo $arch attention/g$g; done
  done
}

# The least seconds of three runs; all else is the same in each.
measure() {
  echo "architecture,workload,objective,value,bound,evaluations,seconds,orders,home_level,real_words,formula_words,tree_words,model_words,rounding,rounding_limit" \
    >$out/closed.csv
  problems | while read -r arch work; do
    for objective in latency traffic; do
      best=
      for turn in 1 2 3; do
        rm -f "$scratch/r.json"
        "$tool" solve "arch-specs/$arch.yaml" "workloads/$work.yaml" --method closed --objective $objective --quiet \
          --json "$scratch/r.json" 2>/dev/null
        [ -s "$scratch/r.json" ] || continue
        now=$(figures "$scratch/r.json")
        best=$(printf '%s\n%s\n' "$best" "$now" | awk 'NF && (!n++ || $4 < least) { least = $4; line = $0 } END { print line }')
      done
      echo "$arch $work $objective ${best:-- - - - - - - - - - - -}" | tr ' ' ',' >>$out/closed.csv
    done
  done
  awk -F, -v OFS=, 'NR == FNR { if ($3 == "latency") v[$1 "," $2] = $4; next }
    FNR > 1 && ($1 "," $2) in v { $12 = v[$1 "," $2] } { print }' $out/closed.csv $out/solve.csv >"$scratch/solve.csv" &&
    cp "$scratch/solve.csv" $out/solve.csv
}

report() {
  into docs/RESULTS-closed.md sh bench/results-closed-table.sh
  sh bench/results-search.sh "$tool" report
}

for part in "$@"; do
  case $part in
    measure | report) $part ;;
    *) echo "$0: no part '$part'" >&2; exit 2 ;;
  esac
done
