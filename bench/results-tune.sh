#!/bin/sh
# docs/RESULTS-tune.md from docs/results/operators.csv, operators-tuned.csv and tune-by.csv (bench/operators/run.py), tune-tables*.csv (bench/operators/tables.py), tune-carried.csv (bench/operators/carried.py), tune-overlap.csv (bench/operators/overlap.py) and tune-live.csv (bench/operators/live.py), on stdout.
#   bench/results-tune.sh
set -u
cd "$(dirname "$0")/.." || exit 2
results=docs/results

# table WHAT FILE: of rows of bench/operators/run.py.  kinds: a line a kind; sum: of the first 110; cases: a line a case; tunes: a line a kind that has
# tuned times; tuned: of all of these
table() {
  awk -F, -v what="$1" '
    function least(a, b) { return a == "" ? b : b == "" || a + 0 < b + 0 ? a : b }
    function two(x) { return x >= 9.95 ? sprintf("%.0f", x) : x < 0.1 ? sprintf("%.2g", x) : sprintf("%.2f", x) }
    function us(x) { return x == "" ? "-" : x >= 1000 ? sprintf("%.4g ms", x / 1000) : sprintf("%.3g us", x) }
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
        m[kind]++; by[kind] += log(library / tuned); gain[kind] += log(first / tuned)
        tunes++; all_by += log(library / tuned); all_first += log(ratio); within += first <= 1.05 * tuned
        if (tuned / first > behind) behind = tuned / first
      }
      if (what == "cases")
        printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", $at["case"], us($at["first_us"]), us($at["first_packed_us"]), us($at["torch_us"]),
          us(least($at["other_us"], $at["compiled_us"])), us($at["channels_last_us"]), us($at["onednn_us"]), us(bound), two(ratio)
    }
    END {
      for (i = 1; i <= k; i++) {
        x = kinds[i]
        if (what == "kinds")
          printf "| %s | %d | %s | %s | %s (%s) | %s | %s |\n", toupper(x), n[x], mean(as_given[x], n[x]), mean(best[x], n[x]), two(worst[x]), who[x],
            mean(share[x], bounds[x]), mean(most[x], bounds[x])
        if (what == "tunes" && m[x]) printf "| %s | %d | %s | %s |\n", toupper(x), m[x], mean(gain[x], m[x]), mean(by[x], m[x])
      }
      if (what == "sum")
        printf "Over the %d cases of the thesis the geometric mean is %s with arrays as the workload has them and %s with everyone in the best of its ways; %d are at least as fast as the best library, %d reach 0.9 of it.\n", all, mean(all_given, all), mean(all_best, all), won, near
      if (what == "tuned")
        printf "%d cases were tuned: %s of the best library after, %s before. The first choice is within 5 %% of the tuned kernel in %d of them (%.0f %%). A tuned kernel can come out behind the first choice, by up to %.0f %% here, as the store chose it by another measurement.\n", tunes, mean(all_by, tunes), mean(all_first, tunes), within, 100 * within / tunes, 100 * (behind - 1)
    }' "$results/$2"
}

# by: what each strategy of a tuning found, by the times of the store
by() {
  awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    {
      c = $at["case"]; s = $at["strategy"]; b = $at["best_us"]
      if (!(s in n)) names[++k] = s
      if (!(c in least) || b + 0 < least[c]) least[c] = b + 0
      n[s]++; gain[s] += log($at["first_us"] / b); of[s, n[s]] = c; best[s, n[s]] = b; kernels[s] += $at["kernels"]; trials[s] += $at["trials"]
      drawn[s] += $at["drawn"]; unfit[s] += $at["unfit"]
    }
    END {
      for (i = 1; i <= k; i++) {
        s = names[i]; near = 0
        for (j = 1; j <= n[s]; j++) near += best[s, j] <= 1.05 * least[of[s, j]]
        printf "| %s | %d | %.1f | %.1f | %.3f | %.0f %% | %.1f %% |\n", s, n[s], trials[s] / n[s], kernels[s] / n[s], exp(gain[s] / n[s]), 100 * near / n[s], drawn[s] ? 100 * unfit[s] / drawn[s] : 0
      }
    }' $results/tune-by.csv
}

# stages: what the overlap was laid out from
stages() {
  awk -F, 'NR > 1 { printf "| %s | %s | %.1f | %.2f | %.3g |\n", $1, $2, $3, $4, $5 * 1e6 }' $results/tune-stages.csv
}

# live: rows of bench/operators/live.py
live() {
  awk -F, 'NR > 1 && $7 > most[$1] { most[$1] = $7 } NR > 1 { row[++n] = $0 }
    END { for (i = 1; i <= n; i++) { split(row[i], f, ","); printf "| %s | %s | %s | %s | %s | %s | %d | %.2f | %.0f | %.0f |\n", f[1], f[2], f[3], f[4], f[5], f[6], f[8], f[7] / most[f[1]], f[9] / 1000, f[10] / 1000 } }' $results/tune-live.csv
}

# when FILE: days and loads of its rows
when() {
  awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    { d = $at["date"]; l = $at["load"] + 0; if (NR == 2 || d < from) from = d; if (d > to) to = d; if (NR == 2 || l < low) low = l; if (l > high) high = l }
    END { printf "%s to %s UTC, load %.0f to %.0f", from, to, low, high }' "$results/$1"
}

# tables TABLE RUNS: of each recorded space its schedules, kernels and how many of these are within 5 % of the best; then how many kernels each strategy measures until
# it has one of these: mean over the seeds, a seed that never has one counting as the most that were asked for; the last row is the geometric mean
tables() {
  awk -F, 'FNR == 1 { file++; next }
    file == 1 { c = $1; if (!(c in rows)) { cases[++n] = c; least[c] = $4 + 0 } rows[c]++; us[c, $3] = $4 + 0; if ($3 + 1 > kernels[c]) kernels[c] = $3 + 1; if ($4 + 0 < least[c]) least[c] = $4 + 0; next }
    {
      if (!($2 in known)) { known[$2]; names[++w] = $2 }
      i = $1 SUBSEP $2; need[i] += ($3 - last[i]) * (1 - near[i] / $6); last[i] = $3; near[i] = $5
    }
    END {
      printf "| Case | schedules | kernels | near | best, us |"; for (j = 1; j <= w; j++) printf " %s |", names[j]
      printf "\n|---|--:|--:|--:|--:|"; for (j = 1; j <= w; j++) printf "--:|"
      for (i = 1; i <= n; i++) {
        c = cases[i]; close_ = 0
        for (k = 0; k < kernels[c]; k++) close_ += us[c, k] <= 1.05 * least[c]
        printf "\n| %s | %d | %d | %d | %.4g |", c, rows[c], kernels[c], close_, least[c]
        for (j = 1; j <= w; j++) { x = need[c, names[j]]; sum[j] += log(x); printf " %.1f |", x }
      }
      printf "\n| mean | | | | |"; for (j = 1; j <= w; j++) printf " %.1f |", exp(sum[j] / n)
      print ""
    }' "$results/$1" "$results/$2"
}

# kinds RUNS: of each kind how many kernels random measures, and of the others the share of that, geometric means over its cases; the last row over all cases
kinds() {
  awk -F, 'FNR == 1 { next }
    {
      if (!($2 in known)) { known[$2]; names[++w] = $2 }
      if (!($1 in kind)) { k = $1; sub(/-.*/, "", k); kind[$1] = k; cases[++n] = $1; if (!(k in of)) kinds[++m] = k; of[k]++; of["all"]++ }
      i = $1 SUBSEP $2; need[i] += ($3 - last[i]) * (1 - near[i] / $6); last[i] = $3; near[i] = $5
    }
    END {
      for (i = 1; i <= n; i++)
        for (j = 1; j <= w; j++) { x = log(need[cases[i], names[j]]); sum[kind[cases[i]], names[j]] += x; sum["all", names[j]] += x }
      printf "| Kind | cases | random |"; for (j = 1; j <= w; j++) if (names[j] != "random") printf " %s |", names[j]
      printf "\n|---|--:|--:|"; for (j = 1; j < w; j++) printf "--:|"
      kinds[++m] = "all"
      for (i = 1; i <= m; i++) {
        k = kinds[i]; least = sum[k, "random"] / of[k]
        printf "\n| %s | %d | %.1f |", k == "all" ? "mean" : toupper(k), of[k], exp(least)
        for (j = 1; j <= w; j++) if (names[j] != "random") printf " %.2f |", exp(sum[k, names[j]] / of[k] - least)
      }
      print ""
    }' "$results/$1"
}

# carried: means over the held-out cases, for each machine, way and what its lessons lack
carried() {
  awk -F, '
    NR == 1 { next }
    { k = $1 "," $3 "," $4; if (!(k in n)) keys[++m] = k; n[k]++; first[k] += log($5); best[k] += log($6); rank[k] += $7; if ($5 + 0 > worst[k]) worst[k] = $5 + 0 }
    END {
      lacks["case"] = "the case"; lacks["kind"] = "its kind"; lacks["machine"] = "its machine"
      name["model"] = "the model, nothing learnt"; name["all"] = "trees, all 33 features"; name["few"] = "trees, 11 features"; name["line"] = "a line, 11 features less their mean"
      split("zen5-avx512 zen3-avx2 zen3-sse2", machines, " "); split("case kind machine", held, " "); split("model all few line", ways, " ")
      for (a = 1; a <= 3; a++) for (b = 1; b <= 3; b++) for (c = 1; c <= 4; c++) {
        k = machines[a] "," held[b] "," ways[c]
        if (n[k] && (b == 1 || c > 1))
          printf "| %s | %s | %s | %d | %.1f | %d | %.2f | %.2f |\n", machines[a], c == 1 ? "-" : lacks[held[b]], name[ways[c]], n[k], exp(first[k] / n[k]), worst[k], exp(best[k] / n[k]), rank[k] / n[k]
      }
    }' $results/tune-carried.csv
}

cat <<T
# What tuning finds, and operators beside PyTorch and oneDNN

Written by \`bench/results-tune.sh\` from [results/operators.csv](results/operators.csv) (\`bench/operators/run.py\`) and
[results/tune-tables.csv](results/tune-tables.csv) (\`bench/operators/tables.py\`): AMD EPYC (Zen 5), 2 cores, other work beside it ($(when operators.csv); each row keeps its load, and the commit whose code it is of), gcc 12.2, PyTorch 2.15 with oneDNN and MKL
(which is told to take its kernels for AVX-512), float32, one core, processor time of the thread, medians of 5 or 7 rounds in which all take turns.
Every case was emitted, compiled, and held against PyTorch in float64 (1e-5 of the norm) before it was timed.

## Operators

The model's first choice, what \`tileflow emit\` writes without a measurement. Columns are how many times as long the library takes as our kernel, so above 1 we are faster: *as given*, the better of
PyTorch's ways with arrays as the workload has them; *best*, everyone in the best of its ways, which for libraries has images channels last and weights in oneDNN's own layout, put so beforehand,
and for us packed weights where the kernel has them (products and convolutions of one group). *Least*: the worst case of the kind by *best*. *Of the bound*: the time that the multiply-adds take on registers alone, measured in the same process, over ours;
those that borders cut off are not counted. *At most*: the best library over the same time: a kernel that computes these products, each once, cannot be further ahead of it.

| Kind | cases | as given | best | least | of the bound | at most |
|---|--:|--:|--:|---|--:|--:|
$(table kinds operators.csv)

$(table sum operators.csv)

$(cat bench/operators/limits.md)

## Tuned

Four strategies with 6 or 8 trials each, all with one store (a number of measurements, not the 60 seconds that the goal names: the machine's time allowed no more); then the fastest of the store beside the rest, in turns.
$(table tuned operators-tuned.csv) They were measured from $(when operators-tuned.csv), of the code of those hours ([results/operators-tuned.csv](results/operators-tuned.csv)), so their first choices are not those of the table above.

| Kind | tuned cases | tuned over first | tuned, best |
|---|--:|--:|--:|
$(table tunes operators-tuned.csv)

By the times of the store: how much faster the best of each strategy is than the first choice (geometric mean), and how often it is within 5 % of the best that any of the four found. Kernels: different ones, the first choice among them.

| Strategy | cases | trials | kernels | first over best | within 5 % | drawn that did not fit |
|---|--:|--:|--:|--:|--:|--:|
$(by)

$(cat bench/operators/tuned.md)

## Tuning while a network runs

The three ways of the thesis (4.6.3) in which tuning, compiling and running may overlap, for a network of four small operators: their stages were measured (processor seconds; a stage is 4 trials of the default strategy), and \`bench/operators/overlap.py\` lays
them out in time, with one worker who tunes, one who compiles, and one who runs. *Static*: one after another. *Compiled*: tuning goes on beside the iterations, which wait while a new kernel is compiled. *Overlapped*: nobody waits.

![Iterations over time](img/tune/overlap.svg)

$(cat bench/operators/overlap.md)

| Case | stage | tuned, s | compiled, s | kernel, us |
|---|--:|--:|--:|--:|
$(stages)

## Kernels that are replaced as a program runs

The same three ways for real ([HOWTO-tune](HOWTO-tune.md#while-a-program-runs)): a program calls the kernel of \`emit --live\` all the time and begins with one for SSE2, \`tune --serve\` looks for faster ones, for 60 s in all. *Static*: the search alone for half of the time, then the program. *Turns*: two seconds of search, two of the program. *Overlapped*: both at once. *Near*: when
the program first had a version within 5 % of the fastest that it got.

$(cat bench/operators/live.md)

| Case | way | first call, s | slowest version, us | fastest, us | near, s | versions | called | longest call at a new version, ms | else, ms |
|---|---|--:|--:|--:|--:|--:|--:|--:|--:|
$(live)

## Strategies

Spaces measured once (\`bench/operators/tables.py record\`): their kernels were compiled, checked (the whole ones against PyTorch; of the sampled ones the first by its own test, the others against the first) and timed in turns. In these tables each strategy looks for
a kernel within 5 % of the best (*near*: how many there are): so many kernels it measures until it has one, the mean of 10 seeds (one that never has one counts as 100). None is given the first choice to begin with. The last row is the geometric mean of the cases.

**Whole**: every schedule that constraints leave, on an AMD EPYC with AVX-512 (\`zen5-avx512\`).

$(tables tune-tables.csv tune-tables-runs.csv)

**Sampled**: sixty schedules of each case, drawn at random from the whole space by a fixed seed, on another AMD EPYC, that has AVX2 (\`zen3-avx2\`), one core of two, which little else used, on 2026-11-29. *Best* is the best of the sample, and strategies have its rows alone: they draw from them, a step leads to the row that has
most of what the step changes (of those to the nearest, by how many decisions differ), a child becomes the nearest row that is neither parent. Each sees predictions and times of rows that there are, of no others.

$(tables tune-tables-avx2.csv tune-tables-avx2-runs.csv)

Eight of them with SSE2 alone (\`zen3-sse2\`, samples of its own):

$(tables tune-tables-sse2.csv tune-tables-sse2-runs.csv)

**The goal, half of random's, by kind** (samples of AVX2): kernels that random measures, and the share of that which the others do.

$(kinds tune-tables-avx2-runs.csv)

![The best found over measurements](img/tune/convergence-tables.svg)
![The best found over measurements, samples](img/tune/convergence-samples.svg)
![The best found over processor time](img/tune/clock-tables.svg)

$(cat bench/operators/strategies.md)

## What other operators teach

Each table in its turn held out (\`bench/operators/carried.py\`): from the others it is learnt how far kernels are off what is predicted for them, in each case less the mean, by features that mean the same in every case (cycles over the bound, the kernel's inner parts, utilisation, each
choice of the generator; words, room and time of each memory, sizes). The held-out kernels are put in the order of what is then predicted. *Near*: the place of the first within 5 % of the best (geometric mean, worst); *first*: the first one's time over the best; *correlation*: Spearman's, of order and
times. The lessons *lack* the case itself, in every space of it; or all cases of its kind; or its machine: then they are of the two others, the same operators among them.

| Machine | lack | by | cases | near | worst | first | correlation |
|---|---|---|--:|--:|--:|--:|--:|
$(carried)

$(cat bench/operators/carried.md)

## Each case

Ours with weights *packed* beforehand; *other*: another way of PyTorch's with arrays as given, or \`torch.compile\`. *Bound*: multiply-adds on registers alone. The last column is *best*.

| Case | first choice | packed | PyTorch | other | channels last | oneDNN laid out | bound | best |
|---|--:|--:|--:|--:|--:|--:|--:|--:|
$(table cases operators.csv)

\`\`\`sh
python3 bench/operators/run.py build/tileflow docs/results/operators.csv            # a quarter of an hour
python3 bench/operators/run.py build/tileflow docs/results/operators-tuned.csv --tune 6 --strategy cga,sa-q,random,model --by docs/results/tune-by.csv # hours
python3 bench/operators/tables.py record build/tests/tune_ways docs/results/tune-tables.csv    # half an hour of compilers
python3 bench/operators/tables.py replay build/tests/tune_ways docs/results/tune-tables.csv docs/results/tune-tables-runs.csv --seeds 10
for isa in avx2 sse2; do # needs numpy
  python3 bench/operators/tables.py record build/tests/tune_ways docs/results/tune-tables-\$isa.csv --isa \$isa --core 1
  python3 bench/operators/tables.py replay build/tests/tune_ways docs/results/tune-tables-\$isa.csv docs/results/tune-tables-\$isa-runs.csv --isa \$isa --seeds 10
done
python3 bench/operators/carried.py build/tests/tune_ways docs/results/tune-carried.csv avx512=docs/results/tune-tables.csv avx2=docs/results/tune-tables-avx2.csv sse2=docs/results/tune-tables-sse2.csv # needs numpy
python3 bench/operators/overlap.py build/tileflow docs/results/tune-overlap.csv --trials 4 --stages-of docs/results/tune-stages.csv gmm-3 dep-6 grp-3 cap-1
python3 bench/operators/live.py build/tileflow docs/results/tune-live.csv gmm-4 dep-6 grp-3  # ten minutes
\`\`\`
T
