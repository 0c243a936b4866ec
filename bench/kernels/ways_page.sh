#!/bin/sh
# docs/RESULTS-instructions.md from docs/results/instructions.csv, which ways.sh measured.
#   bench/kernels/ways_page.sh >docs/RESULTS-instructions.md
set -u
cd "$(dirname "$0")/../.." || exit 1
cat <<'TEXT'
# Mappings onto instructions, measured

Layers of ResNet-18 (thesis table 5.4), one image, one core of an AMD Zen 5: int8 with `vpdpbusd`, bfloat16 with `vdpbf16ps`. A convolution becomes
`Dst[i1] += Src1[r1] * Src2[i1, r1]` ([HOWTO-instruction.md](HOWTO-instruction.md)) in two ways:

- *row*: lanes `i1` are columns `q` of the output, `r1` input channels `c`, one window position after the other;
- *channels*: lanes are output channels `k`, and all of `c`, `r`, `s` is one sum (`codegen/backend/cpu/pass/channels.c`).

Candidates of each way are the planner's choice and eight random schedules, in random turns: medians of 61 rounds, processor time, weights packed beforehand.
Outputs equal oneDNN's (int8 exactly, bfloat16 within 1 %). `bench/kernels/ways.sh` measures ([figures](results/instructions.csv)).

*First right*: layers where the fastest way is that of `emit`'s first choice. *Best over first*: time of the fastest candidate over the first choice's. *Rows over
channels*: of the planner's two. *oneDNN over ours*: by the fastest of 61 rounds, oneDNN in its own layouts. *Slower*: the layers below 1.

| type | first right | best over first, mean | least | rows over channels | oneDNN over ours, mean | slower than oneDNN |
|---|--:|--:|--:|--:|--:|---|
TEXT
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
  ratio = time[best] / time[first]
  gain[type] += log(ratio)
  if (!(type in worst) || ratio < worst[type]) { worst[type] = ratio; whose[type] = layer }
  rows_over[type] += log(took["last"] / took["channels"])
  if (!library) return
  ratio = library / least[first]
  beside[type] += log(ratio); n_beside[type]++
  if (ratio < 0.995) lost[type] = lost[type] (lost[type] == "" ? "" : ", ") layer sprintf(" %.2f", ratio)
}
NR == 1 {
  next
}
{
  if ($1 != layer || $2 != type) { done(); n = 0; library = 0; layer = $1; type = $2 }
  if ($5 == "first") { chosen = $3 + 1; next }
  if ($5 == "oneDNN") { library = $11; next }
  n++
  lanes[n] = $4; how[n] = $5; ours[n] = $6; kernel[n] = $8; sum[n] = $7 + $8; thesis[n] = $9; time[n] = $10; least[n] = $11; early[n] = $12; late[n] = $13
}
END {
  done()
  for (t = 1; t <= 2; t++) {
    type = t == 1 ? "int8" : "bf16"
    printf "| %s | %d of %d | %.2f | %.2f (%s) | %.2f | %.2f | %s |\n", type, agree[type], layers[type], exp(gain[type] / layers[type]), worst[type], whose[type],
      exp(rows_over[type] / layers[type]), exp(beside[type] / n_beside[type]), lost[type]
  }
  n_ways = split("ours kernel sum thesis half", way, " ")
  printf "\n| Ranking of the candidates of a layer | ours | the kernel alone | the kernel and the model | Eq. 5.6-5.8 | half of the rounds | thesis, of its model on a V100 |\n|---|--:|--:|--:|--:|--:|--:|\n"
  row("all", sprintf("pairs in the right order, of %d", of_all["all", "ours"]), "85.7 %")
  row("far", sprintf("of these, %d that differ by more than 5 %%", of_all["far", "ours"]), "")
  row("near", sprintf("of these, %d within 1.5 times the fastest", of_all["near", "ours"]), "")
  row("top", "recall of the best 40 %", "91.4 %")
}' docs/results/instructions.csv
cat <<'TEXT'

- *Ours* is what `emit` ranks these convolutions by: the kernel's cycles, and the time in which its words arrive.
- *The kernel and the model* adds the model's cycles, which are for float32 words and units.
- *Eq. 5.6-5.8* charge the latency for each call, the longest term for any schedule here.
- *Half of the rounds* is the noise: the median of the first 30 rounds beside that of the last 30.

Windows, rows shorter than the lanes, and bfloat16 take channels. Layers of 1 x 1 in int8 with up to 64 channels take rows that fill the lanes.

**Limits.** The recall is below the thesis's. C2 in bfloat16 is expected to be faster by rows than it is. No estimate knows unrolling, nor kernels of 25,000 lines
(C9).
TEXT
