#!/bin/sh
# docs/RESULTS-tune.md from docs/results/operators.csv, operators-tuned.csv and tune-by.csv (bench/operators/run.py), tune-tables*.csv (bench/operators/tables.py), tune-carried.csv (bench/operators/carried.py), tune-overlap.csv (bench/operators/overlap.py) and tune-live.csv (bench/operators/live.py), on stdout.
#   bench/results-tune.sh
set -u
cd "$(dirname "$0")/.." || exit 2
results=docs/results

# table WHAT FILE: of rows of bench/operators/run.py.  kinds: a line a kind; sum: of the first 110; tuned: of all that have tuned times
table() {
  awk -F, -v what="$1" '
    function least(a, b) { return a == "" ? b : b == "" || a + 0 < b + 0 ? a : b }
    function two(x) { return x >= 9.95 ? sprintf("%.0f", x) : x < 0.1 ? sprintf("%.2g", x) : sprintf("%.2f", x) }
    function mean(sum, n) { return n ? two(exp(sum / n)) : "-" }
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    {
      kind = $at["kind"]
      first = least($at["first_us"], $at["first_packed_us"])
      tuned = least($at["tuned_us"], $at["tuned_packed_us"])
      given = least($at["torch_us"], least($at["other_us"], $at["compiled_us"]))
      library = least(given, least($at["channels_last_us"], $at["onednn_us"]))
      ratio = library / first
      bound = "least_us" in at ? $at["least_us"] : ""
      sub(/-strided$/, "", kind)
      if (!(kind in n)) kinds[++k] = kind
      n[kind]++; as_given[kind] += log(given / $at["first_us"]); best[kind] += log(ratio)
      if (bound != "") { bounds[kind]++; most[kind] += log(library / bound); share[kind] += log(bound / first) }
      if (!(kind in worst) || ratio < worst[kind]) { worst[kind] = ratio; who[kind] = $at["case"] }
      if (kind ~ /^(gmv|gmm|bil|[ct][123]d|grp|dep|dil)$/) {
        all++; all_given += log(given / $at["first_us"]); all_best += log(ratio); won += ratio >= 1; near += ratio >= 0.9
      }
      if (tuned != "") {
        tunes++; all_by += log(library / tuned); all_first += log(ratio); within += first <= 1.05 * tuned
        if (tuned / first > behind) behind = tuned / first
      }
    }
    END {
      for (i = 1; i <= k; i++) {
        x = kinds[i]
        if (what == "kinds")
          printf "| %s | %d | %s | %s | %s (%s) | %s | %s |\n", toupper(x), n[x], mean(as_given[x], n[x]), mean(best[x], n[x]), two(worst[x]), who[x],
            mean(share[x], bounds[x]), mean(most[x], bounds[x])
      }
      if (what == "sum")
        printf "Over the %d cases of the thesis the geometric mean is %s with arrays as the workload has them and %s with everyone in the best of its ways.\n%d are at least as fast as the best library, %d reach 0.9 of it.\n", all, mean(all_given, all), mean(all_best, all), won, near
      if (what == "tuned")
        printf "%d cases are tuned: %s of the best library after, %s before. The first choice is within 5 %% of the tuned kernel in %d of them (%.0f %%).\nThe tuned kernel is up to %.0f %% behind the first choice, as the store chose it by another measurement.\n", tunes, mean(all_by, tunes), mean(all_first, tunes), within, 100 * within / tunes, 100 * (behind - 1)
    }' "$results/$2"
}

# begins MODE: the second at which iterations begin
begins() {
  awk -F, -v mode="$1" '$1 == mode && $3 == 0 { at = $2 } END { printf "%.0f s", at }' $results/tune-overlap.csv
}

# near WAY: the seconds, least and most, until a program has a version within 5 % of its fastest; longest WAY: the longest call with a new version
near() { awk -F, -v way="$1" '$2 == way { t = $6 + 0; if (!n++ || t < low) low = t; if (t > high) high = t } END { printf "%.0f to %.0f", low, high }' $results/tune-live.csv; }
longest() { awk -F, -v way="$1" '$2 == way { t = $9 / 1000; if (!n++ || t < low) low = t; if (t > high) high = t } END { printf "%.0f to %.0f", low, high }' $results/tune-live.csv; }

# means WHAT=RUNS...: of each table of spaces how many kernels random measures until one is within 5 % of the best, and of the other strategies the share of
# that: means over the seeds (a seed that never has one counts as the most that were asked for), then geometric means over the cases
means() {
  head=
  for table; do
    awk -F, -v what="${table%%=*}" -v head="$head" '
      FNR == 1 { next }
      {
        if (!($2 in known)) { known[$2]; names[++w] = $2 }
        if (!($1 in case_)) { case_[$1]; n++ }
        i = $1 SUBSEP $2; need[i] += ($3 - last[i]) * (1 - near[i] / $6); last[i] = $3; near[i] = $5
      }
      END {
        for (i in need) { split(i, part, SUBSEP); sum[part[2]] += log(need[i]) }
        if (head == "") {
          printf "| Spaces | cases | random |"; for (j = 1; j <= w; j++) if (names[j] != "random") printf " %s |", names[j]
          printf "\n|---|--:|--:|"; for (j = 1; j < w; j++) printf "--:|"
          print ""
        }
        least = sum["random"] / n
        printf "| %s | %d | %.1f |", what, n, exp(least)
        for (j = 1; j <= w; j++) if (names[j] != "random") printf " %.2f |", exp(sum[names[j]] / n - least)
        print ""
      }' "$results/${table#*=}"
    head=1
  done
}

# kinds RUNS: of each strategy the kinds of operators for which it needs at most half of what random measures, and those for which it needs more than random
kinds() {
  awk -F, 'FNR == 1 { next }
    {
      if (!($2 in known)) { known[$2]; names[++w] = $2 }
      if (!($1 in kind)) { k = $1; sub(/-.*/, "", k); kind[$1] = k; cases[++n] = $1; if (!(k in of)) kinds[++m] = k; of[k]++ }
      i = $1 SUBSEP $2; need[i] += ($3 - last[i]) * (1 - near[i] / $6); last[i] = $3; near[i] = $5
    }
    END {
      for (i = 1; i <= n; i++) for (j = 1; j <= w; j++) sum[kind[cases[i]], names[j]] += log(need[cases[i], names[j]])
      print "| Strategy | at most half of random | more than random |\n|---|---|---|"
      for (j = 1; j <= w; j++) {
        if (names[j] == "random") continue
        half = more = ""
        for (i = 1; i <= m; i++) {
          k = kinds[i]; share = exp((sum[k, names[j]] - sum[k, "random"]) / of[k])
          if (share <= 0.5) half = half " " toupper(k)
          if (share > 1) more = more " " toupper(k)
        }
        printf "| %s |%s |%s |\n", names[j], half, more
      }
    }' "$results/$1"
}

# carried: means over the held-out cases, for each machine, way and what its lessons lack
carried() {
  awk -F, '
    NR == 1 { next }
    { k = $1 "," $3 "," $4; if (!(k in n)) keys[++m] = k; n[k]++; first[k] += log($5); best[k] += log($6); rank[k] += $7; if ($5 + 0 > worst[k]) worst[k] = $5 + 0 }
    END {
      lacks["kind"] = "its kind"; lacks["machine"] = "its machine"
      name["model"] = "the model, nothing learnt"; name["line"] = "a line on 11 features"
      split("zen5-avx512 zen3-avx2 zen3-sse2", machines, " "); split("kind machine", held, " "); split("model line", ways, " ")
      for (a = 1; a <= 3; a++) for (b = 1; b <= 2; b++) for (c = 1; c <= 2; c++) {
        k = machines[a] "," held[b] "," ways[c]
        if (n[k] && (b == 1 || c > 1))
          printf "| %s | %s | %s | %d | %.1f | %d | %.2f | %.2f |\n", machines[a], c == 1 ? "-" : lacks[held[b]], name[ways[c]], n[k], exp(first[k] / n[k]), worst[k], exp(best[k] / n[k]), rank[k] / n[k]
      }
    }' $results/tune-carried.csv
}

cat <<T
# What tuning finds, and operators beside PyTorch and oneDNN

\`bench/results-tune.sh\` writes this page from [docs/results](results); \`bench/operators/measure.sh build/tileflow PART...\` measures on an AMD EPYC (Zen 5), 2 cores,
gcc 12.2. PyTorch 2.15 has oneDNN and MKL (AVX-512 kernels). Times are of float32 on one core, processor time, medians of 5 or 7 rounds in turns. Kernels are first held
against PyTorch in float64 (1e-5 of the norm).

## Operators

Kernels are the model's first choice, which \`tileflow emit\` writes. Figures are geometric means of the library's time over ours (above 1: ours is faster; [case by
case](results/operators.csv)).

| Column | Meaning |
|---|---|
| as given | PyTorch's fastest way, arrays as the workload has them |
| best, least | everyone in the best of its ways, layouts beforehand; the worst case |
| of the bound | the time of the multiply-adds on registers, over ours |
| at most | the best library's time over that of the bound |

| Kind | cases | as given | best | least | of the bound | at most |
|---|--:|--:|--:|---|--:|--:|
$(table kinds operators.csv)

$(table sum operators.csv)

Limits: GRP and DIL cannot reach the goal of 1.5, as *at most* says. T3D with a stride (t3d-5, t3d-7) computes 37 of 64 taps that are zero. For small images
(grp-14, grp-15, dil-10, dil-11) 9.4 MB of weights are read for 49 or 196 pixels. Why other 3D convolutions and bil-1 lose is not known.

## Tuned

Four strategies with 6 or 8 trials each share a store, whose fastest kernel is then timed beside the others in turns.
$(table tuned operators-tuned.csv) Kernels are of an earlier version than above ([figures](results/operators-tuned.csv), [by strategy](results/tune-by.csv)).

First choices are behind in
orders of loops over short rows (sho-1) and cuts of a nest that the generator does not try (dil-11). They are also behind in ops in turn over a matrix in the
last-level cache (BCM).

## Tuning while a network runs

\`bench/operators/overlap.py\` lays out in time (thesis 4.6.3) the measured stages of four small operators (gmm-3, dep-6, grp-3, cap-1;
[figures](results/tune-stages.csv)). *Static*: one after another. *Compiled*: iterations wait only while a kernel is compiled. *Overlapped*: nobody waits.

![Iterations over time](img/tune/overlap.svg)

Iterations begin after $(begins overlapped) overlapped, $(begins compiled) compiled, and $(begins static) static.

## Kernels that are replaced as a program runs

A program calls the kernel of \`emit --live\`, at first one for SSE2, while \`tune --serve\` looks for faster ones for 60 s ([HOWTO-tune](HOWTO-tune.md#while-a-program-runs);
gmm-4, dep-6 and grp-3 on two shared cores; [figures](results/tune-live.csv)). The first call comes after half a second (after a search: 30 s), one within 5 % of the
fastest after $(near overlapped) s. The longest call that takes a version over takes $(longest overlapped) ms.

## Strategies

Each space is measured once (\`bench/operators/tables.py\`), and strategies search these tables. Counted are the kernels until one is within 5 % of the best,
without the first choice, ten seeds (never: 100). \`taught\` learns from all other kinds. Goal: half of random's.

- *Whole*: every schedule of eight spaces, AVX-512 ([schedules](results/tune-tables.csv), [runs](results/tune-tables-runs.csv)).
- *Sampled*: sixty schedules of each of 31 spaces, drawn at random, on another AMD EPYC (Zen 3) with AVX2
  ([schedules](results/tune-tables-avx2.csv), [runs](results/tune-tables-avx2-runs.csv)), and of eight with SSE2 ([schedules](results/tune-tables-sse2.csv),
  [runs](results/tune-tables-sse2-runs.csv)).

Kernels that random measures, and the share of that which the others do (geometric means):

$(means 'whole, AVX-512=tune-tables-runs.csv' 'sampled, AVX2=tune-tables-avx2-runs.csv' 'sampled, SSE2=tune-tables-sse2-runs.csv')

By kind of operator, sampled with AVX2:

$(kinds tune-tables-avx2-runs.csv)

![The best found over measurements](img/tune/convergence-tables.svg)
![The best found over measurements, samples](img/tune/convergence-samples.svg)
![The best found over processor time](img/tune/clock-tables.svg)

- In whole spaces all but plain annealing (\`sa\`) come near the goal; in samples only \`taught\` does, with 31 spaces to learn from. There the model's order
  correlates with times by 0.63 (whole spaces: 0.78), and a step changes most decisions.
- \`p\` takes every direction, learns nothing, and needs as many kernels as SA + Q. The thesis (figure 4.9) has
  0.28 of P's time over hundreds of measurements.
- *Limits*: the two constants of \`taught\` were chosen on the samples with AVX2, without MI-LSTM. GMV is missing: all its schedules write one kernel for AVX2.

## MI-LSTM over time

As the thesis's figure 4.13: five kinds of kernel that MI-LSTM's training step runs 19 times, 40 % of its predicted cycles (\`bench/operators/mi-lstm\`). Sixty
schedules of each (Zen 3, AVX2) are tuned in turns, ten seeds, at 1.1 processor seconds a kernel.

![MI-LSTM's step while its kernels are tuned](img/tune/mi-lstm.svg)

$(means 'MI-LSTM, AVX2=tune-mi-lstm-runs.csv')

Products decide: of the element-wise kernels random finds a near one at the second measurement. Products that make gradients of weights are not recorded.
[HOWTO-train](HOWTO-train.md#beside-pytorch) has a whole step beside PyTorch.

## What other operators teach

Each case is held out in turn (\`bench/operators/carried.py\`, [figures](results/tune-carried.csv)). A line fitted to the others' errors, whose lessons *lack* the
case's kind or its machine, orders its kernels. *Near*: place of the first within 5 % of the best (geometric mean, worst). *First*: the first one's time over the
best. *Correlation*: Spearman's.

| Machine | lack | by | cases | near | worst | first | correlation |
|---|---|---|--:|--:|--:|--:|--:|
$(carried)

Within a machine a little carries over, given enough cases; to another machine nothing sure does. So \`tune\` takes from a store only what the same machine and
compiler measured ([HOWTO-tune](HOWTO-tune.md#measuring)).
T
