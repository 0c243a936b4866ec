#!/bin/sh
# Measures the search and writes docs/RESULTS-search-ga.md, docs/results/search-*.csv and, with gnuplot,
# docs/img/search/*.svg.
#   bench/results-search-ga.sh TILEFLOW [PART...]
# PART is one of: templates convergence rate report draw (all of them if none is named).  Searches are limited by mappings evaluated, so that
# templates and convergence are the same on every machine; the rate is of the machine at hand.
set -u
. "$(dirname "$0")/lib.sh"
begin "$(dirname "$0")/.." "${1:?usage: $0 TILEFLOW [PART...]}"
shift
[ $# -gt 0 ] || set -- templates convergence rate report draw
out=docs/results
mkdir -p $out docs/img/search

# search MAPPINGS SEED FILE...: value bound evaluations seconds, or "- - - -"
search() {
  mappings=$1 seed=$2
  shift 2
  "$tool" search "$@" --evals "$mappings" --seed "$seed" --threads 2 --quiet --json "$scratch/r.json" \
    2>"$scratch/said" || { echo "- - - -"; return; }
  awk -F'[:,]' '/"search": {/ { on = 1 }
    on && /"(value|bound|evaluations|seconds)"/ { gsub(/[ "]/, ""); v[$1] = $2 }
    END { print v["value"], v["bound"], v["evaluations"], v["seconds"] }' "$scratch/r.json"
}

# TileFlow's own files, unedited, imported; the shape is BERT-small's.
templates() {
  before=$(load_now)
  shape="--set size_B=1 --set size_H=8 --set size_M=512 --set size_N=64 --set size_A=64 --set size_L=512"
  from=tests/data/tileflow/13-test-attention
  echo "template,tileflow_cycles_60s,cycles,times_better,evaluations,seconds" >$out/search-templates.csv
  sed -n 's/^BERT-small,1,8,512,64,64,512,\([^,]*\),\([0-9]*\),.*/\1 \2/p' $from/search-edge.csv | while read -r name theirs; do
    "$tool" import $from/arch/edge.yaml $from/prob/attention.yaml "$from/map/$name.yaml" -o "$scratch/$name.yaml" 2>/dev/null
    # shellcheck disable=SC2046,SC2086 # settings and four words
    set -- $(search 500000 1 "$scratch/$name.yaml" $shape)
    echo "$name $theirs $*" | awk '{ printf "%s,%s,%s,%.3f,%s,%s\n", $1, $2, $3, $2 / $3, $5, $6 }' \
      >>$out/search-templates.csv
  done
  stamp search-templates "$before"
}

# From a log: evaluations so far and the best so far.
convergence() {
  before=$(load_now)
  echo "workload,strategy,evaluations,best" >$out/search-convergence.csv
  for work in gemm-chain/g1 attention/g1 conv-chain/c3; do
    for strategy in ga-mcts mcts ga random; do
      rm -f "$scratch/log"
      "$tool" search arch-specs/edge.yaml workloads/$work.yaml --evals 300000 --quiet --seed 1 \
        --strategy $strategy --threads 2 --log "$scratch/log" >/dev/null 2>&1
      python3 - "$scratch/log" $work $strategy <<'P' >>$out/search-convergence.csv
import sys
path, work, strategy = sys.argv[1:]
n, best = 0, None
for line in open(path):
    word = line.split()
    if word[0] == "task":
        n += int(word[3])
    if word[0] == "best" and word[1] == "0":
        value = float.fromhex(word[2])
        if best is None or value < best:
            best = value
            print(f"{work},{strategy},{n},{best:.6g}")
if best is not None:
    print(f"{work},{strategy},{n},{best:.6g}")
P
    done
  done
  stamp search-convergence "$before"
}

rate() {
  before=$(load_now)
  into $out/search-bench.csv "$(dirname "$tool")/bench/bench_search" 2 && stamp search-bench "$before"
}

report() { into docs/RESULTS-search-ga.md sh bench/results-search-report.sh; }

draw() { sh plots/figures.sh "$tool"; }

for part; do
  case $part in
  templates | convergence | rate | report | draw) $part ;;
  *) echo "no part '$part'" >&2 && exit 2 ;;
  esac
done
