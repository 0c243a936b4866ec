#!/bin/sh
# docs/RESULTS-cpu.md from docs/results/cpu-*.csv, on stdout; results-cpu.sh calls it.
set -u
cd "$(dirname "$0")/.." || exit 2
results=docs/results
beside="chains softmax exponent conv conv-relu yolo resnet bf16 bf16-softmax int8 int8-softmax int8-product"
torch="torch torch-bf16 models models-bf16"
titles="chains=Two products (G1 to G12);softmax=Attention (G1 to G12);exponent=Product, exp, product;conv=Two convolutions (C1 to C8);\
conv-relu=Two convolutions, ReLU between;yolo=Layers of YOLO, batch 1;resnet=Layers of ResNet-18, batch 16;bf16=Two products, bfloat16;\
bf16-softmax=Attention, bfloat16;int8=Two products, int8;int8-softmax=Attention from int8;int8-product=One product, int8;\
torch=Two products and attention;torch-bf16=The same, bfloat16;models=Shapes of current models;models-bf16=The same shapes, bfloat16"

has() { [ -s "$results/cpu-$1.csv" ]; }
files() { for g; do if has "$g"; then echo "$results/cpu-$g.csv"; fi; done; }
# when GROUP...: with what their figures were taken, and where they are; when, the load and the commit are in cpu-runs.csv
when() {
  awk -F, -v groups="$*" '
    { cpu[$1] = $6; with[$1] = $8 }
    END {
      n = split(groups, group, " ")
      for (i = 1; i <= n; i++) if (group[i] in cpu) {
        g = group[i]
        line = line (line == "" ? "" : ", ") "[" g "](results/cpu-" g ".csv)"
        if (with[g] != "" && !(with[g] in told)) { told[with[g]]; tools = tools ", " with[g] }
        machine = cpu[g]
      }
      printf "*%s%s; %s ([runs](results/cpu-runs.csv)).*\n\n", machine, tools, line
    }' $results/cpu-runs.csv
}
# table MODE GROUP...
table() {
  mode=$1 && shift
  # shellcheck disable=SC2046 # files
  awk -v titles="$titles" -v mode="$mode" -f bench/kernels/tables.awk $(files "$@")
}
# section TITLE GROUP... <TEXT: heading, where the figures are, text
section() {
  printf '\n## %s\n\n' "$1"
  shift
  when "$@"
  cat
}

echo "# Emitted kernels beside the libraries"
printf '\n`bench/results-cpu.sh build/tileflow [GROUP...]` measures and writes this page. '
cat $results/cpu-machine.txt
cat <<'TEXT'

Kernels are of the mapping that `tileflow emit` plans on `tileflow import --host`, untuned. A figure is the library's time over ours (above 1: ours is
faster): median of 21 interleaved rounds, geometric mean of the cases. On one core it is processor time. Results are checked first (1e-5 of the norm;
bfloat16 1e-2). The peak is that of multiply-adds on registers, of the operands' type.

TEXT
printf '## Where we stand\n\nOne core. Each library takes the best of its ways case by case; *least* names the worst case.\n\n'
# shellcheck disable=SC2086 # groups
table summary $beside $torch
echo
when $beside
cat <<'TEXT'
Each way by itself, as the geometric mean of its cases:

| Way | Means |
|---|---|
| packed | weights (of a chain: second operands) are laid out beforehand, ours too where it has such a row; without the word, packing counts |
| blocked | all tensors in the library's layout; ours stay in NCHW |
| oneDNN | one primitive an op, ReLU and exp as post-ops; *heads*: a call for each head |
| openblas | two calls, our code between; convolutions as im2col |
| libxsmm rows | both products on 64 rows in the cache, our softmax between; *blocked*: its convolution layers |
| uint8 | first operand unsigned, which spares a correction; ours is int8. After the first int8 product all continue in float32 |
| gcc -O3 | the plain loop nest |

TEXT
table ways $beside
cat <<'TEXT'

Limits:

- **Share of the peak**: exp takes seven operations of the multipliers for each vector of scores, which it leaves out. Work that an image's border cuts off
  counts, so it can pass 100 %.
- **Convolutions**: a tile is transposed to NCHW when stored, about 200 cycles for 14 elements x 32 channels.
- **Weights used rarely** (YOLO-C14, C15): packing takes nearly as long as the product, so compare *packed*.
- **One product of int8**: ours corrects for negative numbers in each tile; oneDNN on uint8 does not.
TEXT
section "Beside PyTorch, way by way" $torch <<'TEXT'
`bench/kernels/torch.sh` and `models.sh` run in one process with PyTorch: eager, fused attention, joined products, transposed or frozen weights,
channels_last, `torch.compile`. MKL takes its AVX-512 kernels. Of causal attention, the visible half counts as work. Single shapes are in
[README](../README.md#emitted-kernels).

TEXT
table ways torch torch-bf16
cores=$(for g in $beside; do if has "$g-cores"; then echo "$g-cores"; fi; done)
# shellcheck disable=SC2086 # groups
section "All cores" $cores <<'TEXT'
Wall time, OpenMP on two cores. OpenBLAS and libxsmm's products are spread by batches, else by rows; layers of oneDNN and libxsmm use their own threads.
Called from several threads, libxsmm's products take two to eight times their share, so these figures say nothing.

TEXT
# shellcheck disable=SC2086
table summary $cores
section "Does time depend on the data?" data <<'TEXT'
`bench/kernels/data.sh` runs attention (plain, with an added mask, streamed) and softmax on each instruction set, with scores of deviation 1, 8 and 24 and
half or nine in ten masked. Goal: 1.10 at most.

TEXT
awk -F, '
  NR > 1 && $2 != "tileflow" { n++; if (!at || $6 + 0 > most) { most = $6 + 0; at = $1 " at " $2 } if (n == 1 || $6 + 0 < least) least = $6 + 0 }
  END { printf "Of %d ratios the largest is %.2f (%s), the least %.2f.\n", n, most, at, least }' $results/cpu-data.csv
printf '\n## Convolutions drawn at random\n\n'
cat <<'TEXT'
`bench/convolutions/run.py build/tileflow docs/results/cpu-convs.csv --random 40 --dtype f32` (and `bf16`) draws convolutions: batch 1 to 5, 1 to 7
groups, odd channels, windows to 7 x 7, strides and dilations to 3, uneven padding. Processor time on one core, medians of 5 rounds
([figures](results/cpu-convs.csv)). *Laid out*: oneDNN within PyTorch 2.15, weights and images in its layouts beforehand; ours stay in NCHW.

TEXT
awk -F, -f bench/convolutions/table.awk $results/cpu-convs.csv
echo
cat <<'TEXT'
Libraries are faster at 3 output channels in bfloat16, and at groups of 8 or of 24 to 50 channels with 1 x 1 windows. Rows with 13 output channels,
four groups of 8, or 5 x 5 windows are of an earlier version.
TEXT
printf '\n## Kernels of workloads drawn at random\n\n'
cat <<'TEXT'
`bench/kernels/unseen.sh build/tileflow f32 FILE.csv 4177 4` (and `bf16`, `int8`, and seed 60061) draws four workloads of each of seven kinds.
*Kinds*: attention with grouped heads and masks, MLPs, a norm before a product, chains of maps and sums, reductions, transposed maps, products of few rows. Processor time on
one core, the median of 7 rounds beside eager PyTorch 2.15 with MKL's and oneDNN's kernels ([figures](results/cpu-unseen.csv)). Weights are packed in each
call; `kernel_pack` does it once (the column `packed_ms`). From int8 PyTorch has products alone. Kernels were improved by what seed 4177 showed, not by seed
60061, whose means are 1.59, 2.12 and 1.37.

TEXT
awk -F, '
  $1 != "case" && $9 != "" { r = $9; n[$3]++; s[$3] += log(r); if (r < 0.95) { below[$3]++; names[$3] = names[$3] ", " $2 " (" $4 ") " sprintf("%.2f", r) } }
  END {
    print "| Type | Cases | Best of PyTorch / ours, mean | below 0.95 | which |"
    print "|---|--:|--:|--:|---|"
    k = split("f32 bf16 int8", type, " ")
    for (i = 1; i <= k; i++) { t = type[i]; gsub(/ act=|gated=0 |map=1/, "", names[t]); printf "| %s | %d | %.2f | %d | %s |\n", t, n[t], exp(s[t] / n[t]), below[t], substr(names[t], 3) }
  }' $results/cpu-unseen.csv
cat <<'TEXT'

*Behind*: sums of 50 elements pay
for adding up the lanes of a vector each.
TEXT
printf '\n### What `emit` expects of its kernels\n\n'
cat <<'TEXT'
`manifest.json` has what a call is expected to take (`kernel_seconds`, by `kernel_parts`). `bench/kernels/predicted.py` draws 20 kernels of each of 15 kinds
(`EACH="4 2 2"`: eight, as here) and times them called again and again, packed beforehand where possible. Figures of the parts were fitted to 300 kernels of
seed 1 ([fitted.csv](../arch-specs/cores/fitted.csv), `bench/kernels/fit_predicted.py`), of which 195 are within 25 %. Kernels of seed 2
([figures](results/cpu-predicted.csv)): how many are within 25 %, and the median of measured over expected:

TEXT
awk -F, '
  $1 != "case" && $7 != "nan" {
    r = $7 + 0
    for (i = 1; i <= 4; i++) { k = (i < 3 ? $2 : "all") " " (i % 2 ? $3 : "all"); v[k, ++n[k]] = r; near[k] += r >= 0.8 && r <= 1.25 }
  }
  function cell(k, i, j, t, m) {
    m = n[k]
    for (i = 2; i <= m; i++) for (j = i; j > 1 && v[k, j] < v[k, j - 1]; j--) { t = v[k, j]; v[k, j] = v[k, j - 1]; v[k, j - 1] = t }
    return sprintf(" %d of %d, %.2f |", near[k], m, m % 2 ? v[k, (m + 1) / 2] : (v[k, m / 2] + v[k, m / 2 + 1]) / 2)
  }
  END {
    print "| Kind | f32: within 25 %, median | bf16 | int8 | all |"
    print "|---|--:|--:|--:|--:|"
    kinds = split("attention mlp norm chain reduction turned product map softmax pool scan transposed gather conv depthwise all", kind, " ")
    types = split("f32 bf16 int8 all", type, " ")
    for (i = 1; i <= kinds; i++) {
      printf "| %s |", kind[i]
      for (t = 1; t <= types; t++) printf "%s", cell(kind[i] " " type[t])
      print ""
    }
  }' $results/cpu-predicted.csv
cat <<'TEXT'

| The furthest off | Measured over expected | Likely cause (no profile was taken) |
|---|--:|---|
| maxima over windows of 7 x 7 with steps of 7, bfloat16 | 15.8, 12.9 | elements are taken one by one |
| `floor` of bfloat16, float32 | 6.7, 2.7 | counted as one instruction, it may be a call for each element |
| turned tensors of which rows are pages apart; those that stay in a cache | 5.6, 4.4; 0.31 | one figure an element, whatever the memory |
| depth to space with rows of 28 elements | 3.4 | quotients of indices are not counted |
| a transposed convolution of three channels | 0.32 | its product is counted as if all channels of a tile were there |
TEXT
section "The model's first choice and the best of those timed" chosen <<'TEXT'
`emit --measure 50` (`bench/kernels/chosen.sh`) times the best-predicted mappings of 100,000 evaluations on one core. The figure is the fastest kernel's
time over that of the first choice, which `emit` takes (median of 11 ratios). Goal: 0.95 at least.

TEXT
awk -F, '
  $1 != "case" && NF == 6 { n++; s += log($6); if (n == 1 || $6 < low) low = $6; if ($6 > high) high = $6; first += $5 == 1; if ($5 > rank) rank = $5 }
  END {
    printf "Over %d workloads the geometric mean is %.2f, the least %.2f, the most %.2f.\n", n, exp(s / n), low, high
    printf "The fastest of those timed is the first choice in %d of them, and number %d of the model'"'"'s order at most.\n", first, rank
  }' $results/cpu-chosen.csv
section "What planning takes" planning <<'TEXT'
Processor time of `emit` from workload to kernel files (`bench/kernels/planning.sh`), float32, the least of three. Goal: 0.5 s.

TEXT
sort -t, -k 2 -g $results/cpu-planning.csv | awk -F, '
  $1 != "workload" { n++; took[n] = $2; if ($2 > 0.5) over = over (over == "" ? "" : ", ") sprintf("%s takes %.2f s", $1, $2) }
  END { printf "Of %d workloads the median takes %.2f s; %s.\n", n, took[int((n + 1) / 2)], over }'
awk -F, '
  $2 == "avx2" || $2 == "cuda" || $2 == "npu" { gsub(/"[^"]*"/, "-"); v[$2, ++n[$2]] = $4 + 0 }
  END {
    print "\n`python3 bench/plan_odd.py build/tileflow` plans random odd shapes of products, chains, MLPs, attention and convolutions"
    print "([figures](results/plan-odd.csv)). The NPU'"'"'s planner walks the programs of candidates.\n"
    print "| Target | Shapes | Median, s | Most, s | Above 1 s |\n|---|--:|--:|--:|--:|"
    split("avx2 cuda npu", key, " "); split("CPU, AVX2;A100;NPU", name, ";")
    for (t = 1; t <= 3; t++) {
      k = key[t]; m = n[k]; above = 0
      for (i = 2; i <= m; i++) for (j = i; j > 1 && v[k, j] < v[k, j - 1]; j--) { x = v[k, j]; v[k, j] = v[k, j - 1]; v[k, j - 1] = x }
      for (i = 1; i <= m; i++) above += v[k, i] > 1
      printf "| %s | %d | %.3f | %.2f | %d |\n", name[t], m, m % 2 ? v[k, (m + 1) / 2] : (v[k, m / 2] + v[k, m / 2 + 1]) / 2, v[k, m], above
    }
  }' $results/plan-odd.csv
printf '\n## Products that skip zeros\n\n'
cat <<'TEXT'
`bench/sparse.sh build/tileflow` runs kernels that [skip zeros](HOWTO-emit.md#zeros-that-are-skipped) in turn with dense ones of the same shape, weights
packed beforehand: processor time on one core (Zen 5, AVX-512; [figures](results/cpu-zeros.csv)).

TEXT
awk -F, '
  NR == 1 { print "| m x n x k | Not zero | Skipping, ms | Dense, ms | Ratio |\n|---|---|--:|--:|--:|" }
  NR > 1 { sub(/:/, " of every ", $4); sub(/ of /, " of blocks of ", $4); sub(/ of blocks of every/, " of every", $4); printf "| %d x %d x %d | %s | %s | %s | %s |\n", $1, $2, $3, $4, $5, $6, $7 }' $results/cpu-zeros.csv
cat <<'TEXT'

With n of m elements each multiply-add loads a row of `X`: two loads a cycle are the limit, where the dense kernel takes operands from registers. Time with
blocks is nearly the share of them that is left.
TEXT
printf '\n## Prediction against measurement (thesis Fig. 3.11 d and e)\n\n'
cat <<'TEXT'
`bench/movement/run.sh` emits two products of 288 x 288 matrices for AVX2: two loop orders, tiles that fill more than a tenth of the cache. Cachegrind
counts the lines that enter a first cache of 48 KiB, `tileflow eval` the words ([core.yaml](../bench/movement/core.yaml), [figures](results/cpu-movement.csv)).
*Tight* tiles fit only without room for a streamed tile twice. Time is on one core, over that of the multiply-adds at the peak, predicted with
`overlap: none` (chosen after a pilot of 70 other tiles). R2 and slope are of measured on predicted; *worst* is the largest difference of one tile.

![words that enter the first cache and time, predicted against measured](img/cpu/movement.svg)

TEXT
awk -F, -f bench/movement/report.awk $results/cpu-movement.csv
cat <<'TEXT'

Some tight tiles move up to twice the predicted words. Close to the peak, ranks follow effects that no count of words knows.
TEXT
section "What enters the caches, unfused and beside libraries (thesis Fig. 3.11 a to c, f)" apart beside whose <<'TEXT'
All run under Cachegrind with caches of 48 KiB, 512 KiB and 1 MiB ([three.yaml](../bench/movement/three.yaml)).

- *Unfused tiles* (`bench/movement/apart.sh`): 30 tiles of the products above, one product after the other.
- *Beside libraries* (`beside.sh`): chains G1 to G12, batches that make C larger than the last cache. *Fused* and *ours, apart* are kernels of the tiles
  with the fewest predicted words into L1. Libraries take their AVX2 kernels.
- *L1 of one set* (`whose.sh`): our loads and stores go to a fully associative first cache.

![words into each cache, over those of the fused kernel](img/cpu/beside-words.svg)
![hits in L2](img/cpu/beside-l2.svg)
![hits in L3](img/cpu/beside-l3.svg)
![words into the first cache, unfused](img/cpu/movement-apart.svg)

TEXT
awk -F, -f bench/movement/beside.awk $results/cpu-apart.csv $results/cpu-beside.csv $results/cpu-whose.csv
cat <<'TEXT'

Fused kernels bring 71 to 75 % fewer words from DRAM than the libraries (the thesis: 75 % fewer than PyTorch), within 0.4 % of the model, and 50 to 73 %
fewer into L1 (the thesis: 46 % more). In G6 and G9 fusing costs a fifth to two fifths more words into L1 than apart. The model does not know conflicts in
sets (A and E lose lines while B and D stream past them); with one set of the same size it is exact.
TEXT
section "The seed's story" story <<'TEXT'
F = exp(A B) E, 1024 x 2048 x 1024 x 3072, on one core is rewritten step by step (`bench/story/run.sh`). Each step is timed, and predicted on the caches of
`arch-specs/host-template.yaml` at 2.6 GHz; compare gains, not times. The first four steps are scalar code, the others vectors. *Packed* copies each tile of
B and E; `tileflow emit` writes the last two.

TEXT
awk -F, -f bench/story/report.awk $results/cpu-story.csv
cat <<'TEXT'

The model counts words, so it misses what scalar code waits for: strided columns (*reordered*), short rows (*tiled*), and set conflicts before *packed*.
TEXT
