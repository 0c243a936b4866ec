#!/bin/sh
# Every figure of docs/img but the README's tree, drawn from docs/results by `tileflow plot`.
#   plots/figures.sh TILEFLOW [OUT]      in the root of the sources; OUT: docs/img if not given
# A figure that needs a part of a table, or ratios, has them made by awk first.
set -eu
tool=$(realpath "$1")
out=${2:-docs/img}
results=docs/results
part=$(mktemp -d)
trap 'rm -rf "$part"' EXIT
mkdir -p "$out/bound" "$out/search" "$out/validation" "$out/cpu" "$out/sweep" "$out/tune" "$out/networks"

# figure NAME INPUT OPTION...: OUT/NAME.svg
figure() {
  name=$1 input=$2
  shift 2
  "$tool" plot "$input" "$@" --width two -o "$out/$name.svg"
}

figure bound/ski-slope $results/slope.csv --as slope --title "Least words through the outermost memory, one unit, on Edge"

awk -F, 'NR == 1 { print "model,cycles,ratio"; next }
  { print "one port each way," $8 "," 1 + $10; print "\"one shared port, as documented\"," $8 "," 1 + $16
    print "TileFlow," $8 "," 1 + $12; print "graph-based," $8 "," 1 + $14 }' $results/rtl.csv >"$part/rtl.csv"
figure validation/rtl "$part/rtl.csv" --as points --x cycles --y ratio --by model --title "Predicted over measured cycles, 66 products in RTL"
awk -F, 'NR == 1 { print "kind,words,ratio" } NR > 1 && $5 > 0 { print $7 "," $5 "," $6 / $5 }' $results/timeloop.csv >"$part/timeloop.csv"
figure validation/timeloop "$part/timeloop.csv" --as points --x words --y ratio --by kind --title "Words counted, over Timeloop's"
awk -F, 'NR == 1 { print "kind,words,ratio"; next }
  { print ($1 == "pipeline" ? "Pipe" : "Seq") ($5 ? " and C between instances" : "") "," $3 "," $4 / $3 }' $results/tileflow-dram.csv >"$part/tileflow.csv"
figure validation/tileflow "$part/tileflow.csv" --as points --x words --y ratio --by kind --title "DRAM words, over TileFlow's"

figure cpu/movement $results/cpu-movement.csv --as points --x predicted_words --y measured_words --by kind,order \
  --title "Words into the first cache: counted by Cachegrind over predicted"
figure cpu/movement-apart $results/cpu-apart.csv --as points --x predicted_words --y measured_words --by order \
  --title "3.11 f: words into the first cache, unfused: counted over predicted"
for what in "l2 L2 4 5" "l3 L3 5 6"; do
  # shellcheck disable=SC2086 # a name, a title, two columns
  set -- $what
  awk -F, -v above="$3" -v into="$4" 'NR == 1 { print "chain,who,hits"; next } { print $1 "," $2 "," 1 - $into / $above }' $results/cpu-beside.csv >"$part/hits.csv"
  figure "cpu/beside-$1" "$part/hits.csv" --as bars --x chain --y hits --by who --title "3.11 a, b: share of what misses the cache before that hits $2"
done
awk -F, 'NR == 1 { print "cache,who,words over fused"; next }
  { for (l = 1; l <= 3; l++) if ($2 == "fused") least[$1, l] = $(3 + l)
    else print $1 " L" l "," $2 "," $(3 + l) / least[$1, l] }' $results/cpu-beside.csv >"$part/over.csv"
figure cpu/beside-words "$part/over.csv" --as bars --x cache --y "words over fused" --by who --title "3.11 c: words into each cache, fused = 1"
awk -F, 'NR == 1 { print "kind,order,predicted_cycles,times_the_FMA_peak" } NR > 1 { print $1 "," $2 "," $11 "," 1 / $13 }' \
  $results/cpu-movement.csv >"$part/time.csv"
figure cpu/movement-time "$part/time.csv" --as points --x predicted_cycles --y times_the_FMA_peak --by kind,order \
  --title "Time measured, times that of the FMA peak"

for work in gemm-chain/g1 attention/g1 conv-chain/c3; do
  awk -F, -v w=$work 'NR == 1 || $1 == w' $results/search-convergence.csv >"$part/convergence.csv"
  figure "search/convergence-$(echo $work | tr / -)" "$part/convergence.csv" --as convergence --by strategy --title "Best cycles found: $work on Edge"
done
for name in a b c; do
  awk -F, -v p=$name 'NR == 1 || $1 == p' $results/thesis-convergence.csv >"$part/$name.csv"
done
figure search/thesis-3-14-a "$part/a.csv" --as convergence --by curve --title "3.14 a: trip counts of each dataflow, Edge"
figure search/thesis-3-14-b "$part/b.csv" --as convergence --by curve --title "3.14 b: the whole space, Edge"
figure search/thesis-3-14-c "$part/c.csv" --as convergence --by curve --title "3.14 c: the whole space, Cloud"

# ratios NUMBER ARCHITECTURE KIND: cycles, DRAM words and words on chip, over those of layerwise.
ratios() {
  for what in "cycles 5" "DRAM-words 7" "on-chip-words 8"; do
    set -- "$1" "$2" "$3" ${what% *} ${what#* }
    awk -F, -v a="$2" -v k="$3" -v c="$5" 'NR == 1 { print "shape,dataflow,over layerwise"; next } $1 == a && $2 == k {
      if ($4 == "layerwise") base[$3] = $c
      if (base[$3] > 0 && $c > 0 && $4 != "layerwise") print $3 "," $4 "," $c / base[$3] }' $results/thesis-dataflows.csv >"$part/ratios.csv"
    figure "search/thesis-3-$1-$4" "$part/ratios.csv" --as bars --x shape --y "over layerwise" --by dataflow \
      --title "3.$1: $(echo "$4" | tr - ' ') of $3 on $2, layerwise = 1"
  done
}
ratios 15 edge attention
ratios 16 cloud attention
ratios 17 cloud conv-chain
awk -F, 'NR == 1 { print "dataflow,what,words"; next } $1 == "edge" && $2 == "attention" && $3 == "g2" {
  print $4 ",read," $10; print $4 ",update," $11; print $4 ",fill," $9 }' $results/thesis-dataflows.csv >"$part/l1.csv"
figure search/thesis-3-15-d "$part/l1.csv" --as bars --x dataflow --y words --by what --title "3.15 d: words of L1, attention of Bert-Base on Edge"

figure sweep/edge-16-front $results/sweep/edge-16-machines.csv --as pareto --x cycles --y area_um2 \
  --title "Edge accelerators up to 16 mm²: 24 workloads, geometric mean"
figure sweep/sparse-100-front $results/sweep/sparse-100-machines.csv --as pareto --x cycles --y area_um2 \
  --title "16 cores in a mesh up to 100 mm²: a layer with 2:4 weights"
awk -F, 'NR == 1 || $3 == 4' $results/sweep/edge-16-machines.csv >"$part/four.csv"
figure sweep/edge-16-heat "$part/four.csv" --as heat --x l1_kib --y side --z cycles --title "Machines of four cores: cycles, geometric mean"
awk -F, 'NR == 1 { print "workload,bound,cycles over what is proved"; next } { print $1 "," $4 "," $2 / $3 }' \
  $results/sweep/edge-16-best.csv | sort -V >"$part/sorted.csv"
{ grep '^workload,' "$part/sorted.csv" && grep -v '^workload,' "$part/sorted.csv"; } >"$part/best.csv"
figure sweep/edge-16-best "$part/best.csv" --as bars --x workload --y "cycles over what is proved" --by bound \
  --title "The best machine of 16 mm²: each workload's cycles over its bound, by what is busiest"

# tables WHAT RUNS: of the recorded tables, over their cases: the geometric mean of the best found over the best of all, after k kernels (kernels), or after as
# many processor seconds: the strategy's own, and 0.7 for each kernel, to compile, test and measure it (seconds)
tables() {
  awk -F, -v what="$1" 'NR == 1 { print "strategy," (what == "kernels" ? "kernels measured" : "processor seconds") ",best found over the best"; next }
    { w = $2; c = $1 SUBSEP w; if (!(w in of)) names[++n] = w; if (!(c in own)) { own[c] = $7; of[w]++; sum[w] += $7 } at[c, $3] = $4 }
    END {
      for (i = 1; i <= n; i++) {
        w = names[i]
        for (k = 1; k <= 100; k++) {
          all = 0
          for (c in own) { split(c, part, SUBSEP); if (part[2] == w) { if ((c, k) in at) now[c] = at[c, k]; all += log(now[c]) } }
          printf "%s,%.4g,%.4f\n", w, what == "kernels" ? k : k * (0.7 + sum[w] / of[w]), exp(all / of[w])
        }
      }
    }' "$results/$2"
}
tables kernels tune-tables-runs.csv >"$part/tables.csv"
figure tune/convergence-tables "$part/tables.csv" --as lines --x "kernels measured" --y "best found over the best" --by strategy --title "Strategies on eight recorded spaces, ten seeds each"
tables kernels tune-tables-avx2-runs.csv >"$part/samples.csv"
figure tune/convergence-samples "$part/samples.csv" --as lines --x "kernels measured" --y "best found over the best" --by strategy --title "Strategies on samples of 31 operators' spaces, ten seeds each"
tables seconds tune-tables-runs.csv >"$part/clock.csv"
figure tune/clock-tables "$part/clock.csv" --as lines --x "processor seconds" --y "best found over the best" --by strategy --title "Strategies on eight recorded spaces, ten seeds each"
# Figure 4.13, of five kernels of MI-LSTM's step: their time, each as often as the step runs it, over that of the best ones, while all are
# tuned in turns.  A kernel takes 1.1 processor seconds to compile, test and measure, and what the strategy takes to propose it.
awk -F, 'FNR == 1 { file++; next }
  file == 1 { runs[$1] = $2; n++; next }
  file == 2 { if (!($1 in least) || $4 + 0 < least[$1]) least[$1] = $4 + 0; next }
  { if (!($2 in of)) { of[$2]; names[++w] = $2 } if (!(($1, $2) in seen)) { seen[$1, $2]; own[$2] += $7 } at[$1, $2, $3] = $4 }
  END {
    print "strategy,processor seconds of tuning,time of a step over the best"
    for (g in runs) whole += runs[g] * least[g]
    for (i = 1; i <= w; i++)
      for (k = 1; k <= 40; k++) {
        sum = 0
        for (g in runs) { if ((g, names[i], k) in at) now[g, i] = at[g, names[i], k]; sum += runs[g] * least[g] * now[g, i] }
        printf "%s,%.4g,%.4f\n", names[i], k * (1.1 * n + own[names[i]]), sum / whole
      }
  }' bench/operators/mi-lstm/runs.csv $results/tune-mi-lstm.csv $results/tune-mi-lstm-runs.csv >"$part/mi-lstm.csv"
figure tune/mi-lstm "$part/mi-lstm.csv" --as lines --x "processor seconds of tuning" --y "time of a step over the best" --by strategy --title "4.13: five kernels of MI-LSTM's training step while they are tuned"
figure tune/overlap $results/tune-overlap.csv --as lines --x seconds --y iterations --by mode --title "Iterations of four operators while they are tuned"

# fusions of the thesis's figure 4.5, by what their ops read; and its figures 4.10 to 4.12: times over those of PyTorch
awk -F, 'NR == 1 { print "pair,verdict,fusions"; next } { n[$2 "," $8]++ } END { for (k in n) print k "," n[k] }' $results/train-fusions.csv >"$part/all.csv"
{ head -n 1 "$part/all.csv" && tail -n +2 "$part/all.csv" | LC_ALL=C sort; } >"$part/fusions.csv"
figure networks/fusions "$part/fusions.csv" --as bars --x pair --y fusions --by verdict --title "Fusions of two forward ops in the steps of MI-LSTM and an MLP, by what they read"
awk -F, 'NR == 1 { print "network,who,times eager PyTorch"; next }
  $2 == "sgd" { print $1 ",tileflow," $9; print $1 ",torch.compile," $7 / $8 }' $results/training.csv >"$part/training.csv"
figure networks/training "$part/training.csv" --as bars --x network --y "times eager PyTorch" --by who --title "Training steps on one core: speed, eager PyTorch = 1"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; print "network,who,times eager PyTorch"; next }
  $at["threads"] == 1 && $at["eager_ms"] > 0 && !($1 in seen) { seen[$1]; e = $at["eager_ms"]; print $1 ",tileflow," e / $at["tileflow_ms"]
    print $1 ",onnxruntime," e / $at["ort_ms"]; print $1 ",OpenVINO," e / $at["openvino_ms"]; print $1 ",torch.compile," e / $at["compile_ms"] }' $results/networks.csv >"$part/inference.csv"
figure networks/inference "$part/inference.csv" --as bars --x network --y "times eager PyTorch" --by who --title "Inference on one core: speed, eager PyTorch = 1"

sh plots/gallery.sh "$tool" "$out/gallery" # and $out/gallery.md, the page docs/GALLERY.md
[ "$out" != docs/img ] || mv docs/img/gallery.md docs/GALLERY.md
