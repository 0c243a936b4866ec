#!/bin/sh
# docs/RESULTS-instructions.md from docs/results/instructions.csv, which ways.sh measured.
#   bench/kernels/ways_page.sh >docs/RESULTS-instructions.md
set -u
cd "$(dirname "$0")/../.." || exit 1
awk -F, '
function order(a, b) { return (a > b) - (a < b) }
# Of n values, whether the i-th is among the least `most`; ties by number.
function among(v, i, n, most,  k, before) {
  before = 0
  for (k = 1; k <= n; k++) before += v[k] < v[i] || (v[k] == v[i] && k < i)
  return before < most
}
function judge(says, which,  i, k, most, of) {
  for (i = 1; i <= n; i++) for (k = i + 1; k <= n; k++) {
    of = order(says[i], says[k]) == 0 ? 0.5 : order(says[i], says[k]) == order(time[i], time[k])
    pairs[which]++; right[which] += of
    if (time[i] > 1.05 * time[k] || time[k] > 1.05 * time[i]) { far_pairs[which]++; far_right[which] += of }
  }
  most = int(0.4 * n + 0.999)
  for (i = 1; i <= n; i++) if (among(time, i, n, most)) { tops[which]++; recalled[which] += among(says, i, n, most) }
}
function done(  i, first, best, planned, took) {
  if (!n) return
  split("", took)
  first = best = 1
  for (i = 1; i <= n; i++) {
    if (how[i] == "planned") took[lanes[i]] = time[i]
    if (time[i] < time[best]) best = i
  }
  first = chosen
  judge(ours, "ours"); judge(thesis, "thesis"); judge(kernel, "kernel"); judge(bytes, "bytes"); judge(longer, "longer"); judge(least, "least")
  layers[type]++; agree[type] += lanes[first] == lanes[best]
  if (library) { beside[type] += log(library / least[first]); n_beside[type]++ }
  printf "| %s | %s | %s | %s | %.3f | %.3f | %.2f | %.2f |\n", layer, type, name[lanes[first]], name[lanes[best]], 1e3 * took["last"], 1e3 * took["channels"], time[best] / time[first], library / least[first]
}
NR == 1 {
  name["last"] = "row"; name["channels"] = "channels"
  next
}
{
  if ($1 != layer || $2 != type) { done(); n = 0; library = 0; layer = $1; type = $2 }
  if ($5 == "first") { chosen = $3 + 1; next }
  if ($5 == "oneDNN") { library = $11; next }
  n++
  lanes[n] = $4; how[n] = $5; ours[n] = $6; thesis[n] = $9; kernel[n] = $8; model = $7 / ($2 == "int8" ? 4 : 2); bytes[n] = $8 + model; longer[n] = $8 > model ? $8 : model; time[n] = $10; least[n] = $11
}
BEGIN {
  while ((getline line < "bench/kernels/ways_page.md") > 0) print line
}
END {
  done()
  printf "\n"
  for (t = 1; t <= 2; t++) {
    type = t == 1 ? "int8" : "bf16"
    printf "- %s: the mapping that wins is the first choice in **%d of %d**; oneDNN takes %.2f times as long as the first choice in the geometric mean.\n", type, agree[type], layers[type], exp(beside[type] / n_beside[type])
  }
  n_ways = split("ours kernel bytes longer thesis least", way, " ")
  printf "\n| Ranking of the candidates of a layer | ours | the kernel alone | and the model by bytes | the longer of these | Eq. 5.6-5.8 | fastest round | thesis, of its model on a V100 |\n|---|--:|--:|--:|--:|--:|--:|--:|\n"
  printf "| pairs in the right order |"
  for (i = 1; i <= n_ways; i++) printf " %.1f %% |", 100 * right[way[i]] / pairs[way[i]]
  printf " 85.7 %% |\n| of these, pairs that differ by more than 5 %% |"
  for (i = 1; i <= n_ways; i++) printf " %.1f %% |", 100 * far_right[way[i]] / far_pairs[way[i]]
  printf " |\n| recall of the best 40 %% |"
  for (i = 1; i <= n_ways; i++) printf " %.1f %% |", 100 * recalled[way[i]] / tops[way[i]]
  printf " 91.4 %% |\n"
}' docs/results/instructions.csv
cat <<'TEXT'

**Which mapping**: windows, and rows shorter than the lanes, take channels; 1 x 1 layers of int8 whose rows fill the lanes take rows (`rows_fill_lanes` of `channels.c`), since there is nothing to copy and no sum to turn.
bfloat16 takes channels for all (C2, where rows are faster, waits for memory with either).

**Ranking falls short of the goal** (85.69 % of pairs, 91.4 % of the best 40 %). *Ours* is what `emit` ranks by, the model's cycles and those of the kernel (`codegen/target/cpu/pass/cost.c`). For short types the former are of float32 words and units,
two and four times what they should be, and hide the latter: *the kernel alone* is nearer; *and the model by bytes* adds a half or a quarter of the model's cycles and is not, so words were not the only error; the longer of the two instead of the sum, as kernels fetch while they multiply, is no better than the kernel alone. *Fastest round* is no estimate: it orders candidates by the fastest of their 15 rounds, where the goal's order is that of their medians. That even it does not agree on all
is the noise of these measurements; an estimate cannot be expected to do better. What is left
are schedules of one mapping, of which many take the same time but for noise; unrolling and prefetches, which no estimate knows; and C0, C1 and C3 in int8, where all random schedules took 0.56 to 0.8 of the time of the planner's: their loops were unrolled, and gcc 12 kept sums of the planner's in memory. Since the commit after these figures its loops are unrolled by two, too (C1 0.39 ms before, 0.25 now).
Eq. 5.6-5.8 charge the latency for each call, which is the longest term here for any schedule: it tells none from another.
TEXT
