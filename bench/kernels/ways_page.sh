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
function judge(says, took, which,  i, k, most, of, slow, fast, least) {
  least = took[1]
  for (i = 2; i <= n; i++) if (took[i] < least) least = took[i]
  for (i = 1; i <= n; i++) for (k = i + 1; k <= n; k++) {
    of = order(says[i], says[k]) == 0 ? 0.5 : order(says[i], says[k]) == order(took[i], took[k])
    slow = took[i] > took[k] ? took[i] : took[k]
    fast = took[i] + took[k] - slow
    count("all", which, of)
    if (slow > 1.05 * fast) count("far", which, of)
    if (slow < 1.5 * least) count("near", which, of)
  }
  most = int(0.4 * n + 0.999)
  for (i = 1; i <= n; i++) if (among(took, i, n, most)) count("top", which, among(says, i, n, most))
}
function count(what, which, of) {
  of_all[what, which]++
  right[what, which] += of
}
function row(what, text, last,  i) {
  printf "| %s |", text
  for (i = 1; i <= n_ways; i++) printf " %.1f %% |", 100 * right[what, way[i]] / of_all[what, way[i]]
  printf " %s |\n", last
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
  judge(ours, time, "ours"); judge(kernel, time, "kernel"); judge(sum, time, "sum"); judge(thesis, time, "thesis"); judge(early, late, "half")
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
  lanes[n] = $4; how[n] = $5; ours[n] = $6; kernel[n] = $8; sum[n] = $7 + $8; thesis[n] = $9; time[n] = $10; least[n] = $11; early[n] = $12; late[n] = $13
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
  n_ways = split("ours kernel sum thesis half", way, " ")
  printf "\n| Ranking of the candidates of a layer | ours | the kernel alone | the kernel and the model | Eq. 5.6-5.8 | half of the rounds | thesis, of its model on a V100 |\n|---|--:|--:|--:|--:|--:|--:|\n"
  row("all", sprintf("pairs in the right order, of %d", of_all["all", "ours"]), "85.7 %")
  row("far", sprintf("of these, %d that differ by more than 5 %%", of_all["far", "ours"]), "")
  row("near", sprintf("of these, %d within 1.5 times the fastest", of_all["near", "ours"]), "")
  row("top", "recall of the best 40 %", "91.4 %")
}' docs/results/instructions.csv
cat <<'TEXT'

**Which mapping**: windows, and rows shorter than the lanes, take channels; 1 x 1 layers of int8 with up to 64 channels whose rows fill the lanes take rows (`rows_fill_lanes` of `channels.c`), since there is nothing to copy and no sum to turn. (Of 18 layers drawn on 2026-11-24, 14 with 80 to 368 channels take 0.54 to 0.94 of the time so, and one with 76 takes 1.12; rows stay with 48 channels, where channels take 1.18 of the time, and where rows of sums lie 4 KiB apart, 1.2 twice.)
bfloat16 takes channels for all. In int8, rows and channels of C2 and C4 take the same time within 8 %.

**Pairs reach the goal** (85.69 %), the recall (91.4 %) falls short, over candidates drawn as the thesis draws them: each mapping with random schedules of the whole space, whatever they cost. *Ours* is what `emit` ranks a convolution of these types by: the kernel's cycles (`codegen/target/cpu/pass/cost.c`) and the time in which its words arrive, by bytes, each once if the next cache holds all (`tf_emit_value`).
*The kernel and the model* is what it ranked by before: the model's cycles are of float32 words and units, two and four times what they should be, and hide the kernel's. *Half of the rounds* is no estimate: it orders candidates by the median of the first 30 rounds, where those of the last 30 are the truth; what it misses is the noise of these measurements.
At the commit that added this table it was 89.2 % of the pairs and a recall of 91.7 %, 88.8 % and 91.7 % when measured again: of the 192 best candidates 176, now 168. An hour later rows of bfloat16 in layers of 1 x 1 were multiplied in pairs, so C2 and C4 in bfloat16 were measured anew (all else is of the first commit; costs are today's): rows of C2 are now expected to take 0.83 of the channels' time and take 1.25, as the cost of transposing sums is too high for short sums, so that of its best 8 one is found. Among candidates within 1.5 times a layer's fastest, of which many differ by a few per cent, 73.8 % of the pairs are in order; with three random schedules of each mapping, identical kernels among them, as this page drew them first, it was 72.9 % of all pairs by the sum and 78.1 % by the kernel.
What is left: transposing short sums; unrolling, which no estimate knows; and kernels of 25,000 lines, where joined rows are printed tile by tile (C9: 1.2 to 1.4 times as slow as others of that cost).
Eq. 5.6-5.8 charge the latency for each call, which is the longest term here for any schedule: it tells none from another.
TEXT
