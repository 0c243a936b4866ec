#!/bin/sh
# Measures the search and writes docs/RESULTS-search-ga.md, docs/results/search-*.csv and, with gnuplot,
# docs/img/search/*.svg.
#   bench/results-search-ga.sh TILEFLOW [PART...]
# PART is one of: quality templates convergence dataflows rate report (all of them if none is named).
# SHORT and LONG are the seconds of a search and of the one that its result is compared with.
set -u
. "$(dirname "$0")/lib.sh"
begin "$(dirname "$0")/.." "${1:?usage: $0 TILEFLOW [PART...]}"
shift
[ $# -gt 0 ] || set -- quality templates convergence dataflows rate report
SHORT=${SHORT:-2}
LONG=${LONG:-6}
EACH=${EACH:-0.6}           # for the trip counts of a dataflow of attention
EACH_CONV=${EACH_CONV:-1.5} # and of a convolution chain, which the model counts more slowly
out=docs/results
mkdir -p $out docs/img/search

# search SECONDS SEED FILE...: value bound evaluations seconds, or "- - - -"
search() {
  seconds=$1 seed=$2
  shift 2
  "$tool" search "$@" --time-limit "$seconds" --seed "$seed" --threads 2 --quiet --json "$scratch/r.json" \
    2>"$scratch/said" || { echo "- - - -"; return; }
  awk -F'[:,]' '/"search": {/ { on = 1 }
    on && /"(value|bound|evaluations|seconds)"/ { gsub(/[ "]/, ""); v[$1] = $2 }
    END { print v["value"], v["bound"], v["evaluations"], v["seconds"] }' "$scratch/r.json"
}

# words WHERE: words through DRAM and through the memories within, of the mapping in r.json
words() {
  awk '/"levels": \[/ { on = 1 } on && /^    {/ { level++; top = 1 }
    on && /"tensors"/ { top = 0 }
    on && top && /"(fill|read|update|drain)"/ { gsub(/[",:]/, " "); n[level > 1] += $2 }
    /"compute": \[/ { on = 0 } END { printf "%.0f %.0f\n", n[0], n[1] }' "$scratch/r.json"
}

problems() {
  for arch in edge cloud; do
    for g in 1 2 3 4 5 6 7 8 9 10 11 12; do echo $arch gemm-chain/g$g; done
    for g in 1 2 3 4 5 6 7 8 9 10 11 12; do echo $arch attention/g$g; done
    for c in 1 2 3 4 5 6 7 8; do echo $arch conv-chain/c$c; done
  done
}

quality() {
  echo "architecture,workload,seconds,value,evaluations,best_known,bound,gap_to_best,gap_to_bound" \
    >$out/search-quality.csv
  problems | while read -r arch work; do
    files="arch-specs/$arch.yaml workloads/$work.yaml"
    # shellcheck disable=SC2086 # two files
    set -- $(search "$SHORT" 1 $files) $(search "$LONG" 2 $files)
    echo "$arch $work $*" | awk '{
      best = $3 == "-" || ($7 != "-" && $7 + 0 < $3 + 0) ? $7 : $3
      printf "%s,%s,%s,%s,%s,%s,%s,%s,%s\n", $1, $2, $6, $3, $5, best, $4,
        $3 == "-" ? "-" : $3 / best - 1, $3 == "-" ? "-" : $3 / $4 - 1 }' >>$out/search-quality.csv
  done
}

# TileFlow's own files, unedited, imported; the shape is BERT-small's.
templates() {
  shape="--set size_B=1 --set size_H=8 --set size_M=512 --set size_N=64 --set size_A=64 --set size_L=512"
  from=tests/data/tileflow/13-test-attention
  echo "template,tileflow_cycles_60s,cycles,times_better,evaluations,seconds" >$out/search-templates.csv
  sed -n 's/^BERT-small,1,8,512,64,64,512,\([^,]*\),\([0-9]*\),.*/\1 \2/p' $from/search-edge.csv | while read -r name theirs; do
    "$tool" import $from/arch/edge.yaml $from/prob/attention.yaml "$from/map/$name.yaml" -o "$scratch/$name.yaml" 2>/dev/null
    # shellcheck disable=SC2046,SC2086 # settings and four words
    set -- $(search 3 1 "$scratch/$name.yaml" $shape)
    echo "$name $theirs $*" | awk '{ printf "%s,%s,%s,%.3f,%s,%s\n", $1, $2, $3, $2 / $3, $5, $6 }' \
      >>$out/search-templates.csv
  done
}

# From a log: evaluations so far and the best so far.
convergence() {
  echo "workload,strategy,evaluations,best" >$out/search-convergence.csv
  for work in gemm-chain/g1 attention/g1 conv-chain/c3; do
    for strategy in ga-mcts mcts ga random; do
      rm -f "$scratch/log"
      "$tool" search arch-specs/edge.yaml workloads/$work.yaml --time-limit 4 --evals 300000 --quiet \
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
}

# The thesis's dataflows (workloads/dataflows) with every trip count open, for every shape.
dataflows() {
  echo "architecture,shape,dataflow,cycles,dram_words,onchip_words" >$out/search-dataflows.csv
  for arch in edge cloud; do
    for file in workloads/dataflows/$arch/attention-*.yaml workloads/dataflows/$arch/conv-chain-*.yaml; do
      flow=$(basename "$file" .yaml)
      case $flow in
      *nomax*) continue ;;
      attention-*) each=$EACH shapes=$(for g in 1 2 3 4 5 6 7 8 9 10 11 12; do echo attention/g$g; done) ;;
      *) each=$EACH_CONV shapes=$(for c in 1 2 3 4 5 6 7 8; do echo conv-chain/c$c; done) ;;
      esac
      sed '/^mapping/,$s/=[0-9][0-9]*/=?/g' "$file" >"$scratch/open.yaml"
      for shape in $shapes; do
        set -- $(search "$each" 1 arch-specs/$arch.yaml workloads/"$shape".yaml "$scratch/open.yaml")
        [ "$1" = - ] && { echo "$arch,$shape,$flow,-,-,-" >>$out/search-dataflows.csv; continue; }
        echo "$arch,$shape,$flow,$1,$(words | tr ' ' ,)" >>$out/search-dataflows.csv
      done
    done
    for shape in $(for g in 1 2 3 4 5 6 7 8 9 10 11 12; do echo attention/g$g; done) \
      $(for c in 1 2 3 4 5 6 7 8; do echo conv-chain/c$c; done); do
      set -- $(search "$SHORT" 1 arch-specs/$arch.yaml workloads/"$shape".yaml)
      [ "$1" = - ] && continue
      kind=${shape%/*}
      echo "$arch,$shape,$kind-found,$1,$(words | tr ' ' ,)" >>$out/search-dataflows.csv
    done
  done
}

rate() { "$(dirname "$tool")/bench/bench_search" 2 >$out/search-bench.csv; }

report() {
  sh bench/results-search-report.sh >docs/RESULTS-search-ga.md
  command -v gnuplot >/dev/null || return
  for script in plots/search-*.gp; do gnuplot "$script"; done
}

for part; do
  case $part in
  quality | templates | convergence | dataflows | rate | report) $part ;;
  *) echo "no part '$part'" >&2 && exit 2 ;;
  esac
done
