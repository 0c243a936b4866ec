#!/bin/sh
# docs/RESULTS-tune.md from docs/results/operators.csv and tune-by.csv (bench/operators/run.py), tune-strategies.csv (bench/tune_strategies.py),
# tune-overlap.csv (bench/operators/overlap.py) and tune-ways.csv (tests/unit/tune_ways.c), on stdout.
#   bench/results-tune.sh
set -u
cd "$(dirname "$0")/.." || exit 2
results=docs/results

# table WHAT: of operators.csv.  kinds: a line a kind; sum: of the first 110; cases: a line a case
table() {
  awk -F, -v what="$1" '
    function least(a, b) { return a == "" ? b : b == "" || a + 0 < b + 0 ? a : b }
    function two(x) { return x >= 9.95 ? sprintf("%.0f", x) : x < 0.1 ? sprintf("%.2g", x) : sprintf("%.2f", x) }
    function us(x) { return x == "" ? "-" : x >= 1000 ? sprintf("%.4g ms", x / 1000) : sprintf("%.3g us", x) }
    function mean(sum, n) { return n ? two(exp(sum / n)) : "-" }
    FNR == 1 && NR > 1 { next }
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    {
      kind = $at["kind"]
      first = least($at["first_us"], $at["first_packed_us"])
      tuned = least($at["tuned_us"], $at["tuned_packed_us"])
      given = least($at["torch_us"], least($at["other_us"], $at["compiled_us"]))
      library = least(given, least($at["channels_last_us"], $at["onednn_us"]))
      ratio = library / first
      sub(/-strided$/, "", kind)
      if (!(kind in n)) kinds[++k] = kind
      n[kind]++; as_given[kind] += log(given / $at["first_us"]); best[kind] += log(ratio)
      if (!(kind in worst) || ratio < worst[kind]) { worst[kind] = ratio; who[kind] = $at["case"] }
      table42 = kind ~ /^(gmv|gmm|bil|[ct][123]d|grp|dep|dil)$/
      if (table42) { all++; all_given += log(given / $at["first_us"]); all_best += log(ratio); won += ratio >= 1; near += ratio >= 0.9 }
      if (tuned != "") {
        m[kind]++; by[kind] += log(library / tuned); gain[kind] += log(first / tuned)
        tunes++; all_by += log(library / tuned); all_first += log(ratio); within += first <= 1.05 * tuned
        if (tuned / first > behind) behind = tuned / first
      }
      if (what == "cases")
        printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", $at["case"], us($at["first_us"]), us($at["first_packed_us"]), us(tuned), us($at["torch_us"]),
          us(least($at["other_us"], $at["compiled_us"])), us($at["channels_last_us"]), us($at["onednn_us"]), two(ratio)
    }
    END {
      for (i = 1; what == "kinds" && i <= k; i++) {
        x = kinds[i]
        printf "| %s | %d | %s | %s | %s (%s) | %s | %s | %s |\n", toupper(x), n[x], mean(as_given[x], n[x]), mean(best[x], n[x]), two(worst[x]), who[x],
          m[x] ? m[x] : "-", m[x] ? mean(gain[x], m[x]) : "-", m[x] ? mean(by[x], m[x]) : "-"
      }
      if (what == "sum")
        printf "Over the %d cases of the thesis the geometric mean is %s with arrays as the workload has them and %s with everyone in the best of its ways; %d are at least as fast as the best library, %d reach 0.9 of it.\n", all, mean(all_given, all), mean(all_best, all), won, near
      if (what == "tuned")
        printf "%d cases were tuned: %s of the best library after, %s before. The first choice is within 5 %% of the tuned kernel in %d of them (%.0f %%). A tuned kernel can come out behind the first choice, by up to %.0f %% here, as the store chose it by another measurement.\n", tunes, mean(all_by, tunes), mean(all_first, tunes), within, 100 * within / tunes, 100 * (behind - 1)
    }' $results/operators.csv
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

# when: days and loads of the rows
when() {
  awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    { d = $at["date"]; l = $at["load"] + 0; if (NR == 2 || d < from) from = d; if (d > to) to = d; if (NR == 2 || l < low) low = l; if (l > high) high = l }
    END { printf "%s to %s UTC, load %.0f to %.0f", from, to, low, high }' $results/operators.csv
}

# strategies: after how many measurements each seed of each strategy was within 5 % of the best that any found
strategies() {
  awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    {
      c = $at["case"]; s = $at["strategy"]; seed = $at["seed"]; b = $at["best"]
      if (!(c in least)) cases[++n] = c
      if (!(s in known)) { known[s]; names[++k] = s }
      if (b != "" && (!(c in least) || b + 0 < least[c])) least[c] = b + 0
      if ($at["trial"] == 0 && b != "" && (!(c in first) || b + 0 < first[c])) first[c] = b + 0
      row[++r] = c SUBSEP s SUBSEP seed; measured[r] = $at["measured"]; best[r] = b
      if (seed + 0 > seeds[c]) seeds[c] = seed + 0
      last[c, s, seed] = $at["measured"]
    }
    END {
      for (i = 1; i <= r; i++) {
        split(row[i], p, SUBSEP)
        if (best[i] != "" && best[i] <= 1.05 * least[p[1]] && !(row[i] in need)) need[row[i]] = measured[i]
      }
      for (i = 1; i <= n; i++) {
        c = cases[i]
        printf "| %s | %.4g | %.4g |", c, first[c] * 1e6, least[c] * 1e6
        for (j = 1; j <= k; j++) {
          for (d = 1; d <= seeds[c]; d++) printf "%s%s", d == 1 ? " " : ", ", (c, names[j], d) in need ? need[c, names[j], d] : "-"
          printf " |"
        }
        print ""
      }
    }' $results/tune-strategies.csv
}

# ways: the best found after 25, 50 and 100 schedules over the best of all, and how many seeds came within 5 % of that
ways() {
  awk -F, 'NR == 1 { next }
    { if (!(($1, $2) in n)) { n[$1, $2]; row[++k] = $1 " | " $2; a[k] = $1; b[k] = $2 } best[$1, $2, $3] = $4; near[$1, $2] = $5 }
    END { for (i = 1; i <= k; i++) printf "| %s | %.2f | %.2f | %.2f | %d |\n", row[i], best[a[i], b[i], 25], best[a[i], b[i], 50], best[a[i], b[i], 100], near[a[i], b[i]] }' \
    $results/tune-ways.csv
}

cat <<T
# What tuning finds, and operators beside PyTorch and oneDNN

Written by \`bench/results-tune.sh\` from [results/operators.csv](results/operators.csv) (\`bench/operators/run.py\`) and
[results/tune-strategies.csv](results/tune-strategies.csv) (\`bench/tune_strategies.py\`): AMD EPYC (Zen 5), 2 cores, other work beside it ($(when); each row keeps its load, and the commit whose code it is of), gcc 12.2, PyTorch 2.15 with oneDNN and MKL
(which is told to take its kernels for AVX-512), float32, one core, processor time of the thread, medians of 5 or 7 rounds in which all take turns.
Every case was emitted, compiled, and held against PyTorch in float64 (1e-5 of the norm) before it was timed.

## Operators

The model's first choice, what \`tileflow emit\` writes without a measurement. Columns are how many times as long the library takes as our kernel, so above 1 we are faster: *as given*, the better of
PyTorch's ways with arrays as the workload has them; *best*, everyone in the best of its ways, which for libraries has images channels last and weights in oneDNN's own layout, put so beforehand,
and for us packed weights where the kernel has them (products and convolutions of one group). *Least*: the worst case of the kind by *best*.

| Kind | cases | as given | best | least | tuned cases | tuned over first | tuned, best |
|---|--:|--:|--:|---|--:|--:|--:|
$(table kinds)

$(table sum)

$(cat bench/operators/limits.md)

## Tuned

Four strategies with 6 or 8 trials each, all with one store (a number of measurements, not the 60 seconds that the goal names: the machine's time allowed no more); then the fastest of the store beside the rest, in turns.
$(table tuned)

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

## Strategies

Measurements until a kernel was within 5 % of the best that any of the runs found, one number a seed, where all draw from one recorded table: each kernel was timed once, beforehand, so strategies differ in what they ask for alone. 60 trials. Microseconds.

| Case | first choice | best | sa-q | sa | cga | model | random |
|---|--:|--:|--:|--:|--:|--:|--:|
$(strategies)

![The best found over measurements, gmm-4](img/tune/convergence-gmm-4.svg)
![The best found over processor time, gmm-4](img/tune/clock-gmm-4.svg)

$(cat bench/operators/strategies.md)

### On a time that is computed

\`tests/unit/tune_ways.c\`: the same strategies, where the time of a kernel is the longer of the model's cycles and those of its inner parts. Nothing is noise there, and seeds are 20. Of what each strategy has found after so many schedules
(without the first choice to begin with), the geometric mean of the seeds over the best that any found; and how many of the 20 came within 5 % of that in 100. On [host-template.yaml](../arch-specs/host-template.yaml).

| Case | strategy | after 25 | 50 | 100 | within 5 % |
|---|---|--:|--:|--:|--:|
$(ways)

![The best found over the best of all, c1d-3](img/tune/convergence-c1d-3.svg)

$(cat bench/operators/ways.md)

## Each case

Ours with weights *packed* beforehand; *other*: another way of PyTorch's with arrays as given, or \`torch.compile\`. The last column is *best*.

| Case | first choice | packed | tuned | PyTorch | other | channels last | oneDNN laid out | best |
|---|--:|--:|--:|--:|--:|--:|--:|--:|
$(table cases)

\`\`\`sh
python3 bench/operators/run.py build/tileflow docs/results/operators.csv            # a quarter of an hour
python3 bench/operators/run.py build/tileflow docs/results/operators.csv --tune 6 --strategy cga,sa-q,random,model --by docs/results/tune-by.csv # hours
python3 bench/tune_strategies.py build/tileflow docs/results/tune-strategies.csv --recorded --constraints bench/operators/gmm-4.csp --store gmm-4.db --trials 60 --seeds 6 gmm-4
python3 bench/operators/overlap.py build/tileflow docs/results/tune-overlap.csv --trials 4 --stages-of docs/results/tune-stages.csv gmm-3 dep-6 grp-3 cap-1
build/tests/tune_ways gmm-5 arch-specs/host-template.yaml workloads/operators/gmm.yaml --set M=512 --set N=512 --set K=512
\`\`\`
T
