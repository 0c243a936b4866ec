# Markdown from docs/results/cpu-apart.csv and cpu-beside.csv: what enters caches unfused, and beside libraries.
#   awk -F, -f bench/movement/beside.awk docs/results/cpu-apart.csv docs/results/cpu-beside.csv
# of y on x: slope, squared correlation, 1 - (squares off the line y = x) / (squares off the mean), largest difference
function fit(x, y, n,   i, mx, my, xx, xy, yy, off, r) {
  mx = my = xx = xy = yy = off = worst = 0
  for (i = 1; i <= n; i++) { mx += x[i] / n; my += y[i] / n }
  for (i = 1; i <= n; i++) {
    xx += (x[i] - mx) ^ 2; yy += (y[i] - my) ^ 2; xy += (x[i] - mx) * (y[i] - my); off += (y[i] - x[i]) ^ 2
    r = x[i] ? y[i] / x[i] - 1 : 0; if (r < 0) r = -r; if (r > worst) worst = r
  }
  slope = xx ? xy / xx : 0; squared = xx * yy ? xy ^ 2 / (xx * yy) : 0; equal = yy ? 1 - off / yy : 0
}
function line(what, n) { printf "| %s | %d | %.4f | %.3f | %.4f | %.1f %% |\n", what, n, squared, slope, equal, 100 * worst }
function head() { print "\n| what enters | number | R2 | slope | R2 of y = x | worst |\n|---|--:|--:|--:|--:|--:|" }
# the line of those chains that the model speaks of, by WHO if that is given, caches FROM to LAST
function beside(what, by, from, last,   n, i, l) {
  for (i = 1; i <= rows; i++) for (l = from; l <= last; l++) {
    if (model[i, l] == "" || by != "" && who[i] != by) continue
    x[++n] = model[i, l]; y[n] = words[i, l]
  }
  if (n) { fit(x, y, n); line("chains, " what, n) }
}
function thousands(n) { return sprintf("%.0f", n / 1000) }
FNR == 1 { next }
FILENAME == ARGV[1] { tiles++; said[tiles] = $7; found[tiles] = $8; next }
{
  rows++; seen[$2] = 1; chain[rows] = $1; who[rows] = $2; touched[rows] = $3
  for (l = 1; l <= 3; l++) { words[rows, l] = $(3 + l); model[rows, l] = $(6 + l) }
  if (!($1 in order)) { order[$1] = ++chains }
  at[$1, $2] = rows
}
END {
  split("fused,parts,openblas,onednn", names, ","); shown["fused"] = "fused"; shown["parts"] = "ours, apart"
  shown["openblas"] = "OpenBLAS"; shown["onednn"] = "oneDNN"
  print "| chain | | references hit L1 | lines that miss L1 hit L2 | that miss L2 hit L3 | thousand words into L1 | into L2 | into L3 | by the model: L1 | L2 | L3 |"
  print "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
  for (i = 1; i <= rows; i++) {
    printf "| %s | %s | %.2f %% | %.1f %% | %.1f %% |", chain[i], shown[who[i]], 100 * (1 - words[i, 1] / 16 / touched[i]),
      100 * (1 - words[i, 2] / words[i, 1]), 100 * (1 - words[i, 3] / words[i, 2])
    for (l = 1; l <= 3; l++) printf " %s |", thousands(words[i, l])
    for (l = 1; l <= 3; l++) printf " %s |", model[i, l] == "" ? "" : thousands(model[i, l])
    print ""
  }
  print "\nWords of the others over those of our fused kernel, geometric means:\n"
  print "| | into L1 | into L2 | into L3 |\n|---|--:|--:|--:|"
  for (w = 2; w <= 4; w++) {
    if (!(names[w] in seen)) continue
    printf "| %s |", shown[names[w]]
    for (l = 1; l <= 3; l++) {
      sum = 0
      for (g in order) sum += log(words[at[g, names[w]], l] / words[at[g, "fused"], l])
      printf " %.2f |", exp(sum / chains)
    }
    print ""
  }
  head()
  if (tiles) { fit(said, found, tiles); line("the first cache, tiles unfused", tiles) }
  for (w = 1; w <= 2; w++) for (l = 1; l <= 3; l++) beside(shown[names[w]] ": L" l, names[w], l, l)
  beside("both, all three", "", 1, 3)
}
