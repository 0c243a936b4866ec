# Markdown from docs/results/cpu-apart.csv, cpu-beside.csv and cpu-whose.csv: what enters caches unfused, and beside libraries; chains one by one stand in the files.
#   awk -F, -f bench/movement/beside.awk docs/results/cpu-apart.csv docs/results/cpu-beside.csv docs/results/cpu-whose.csv
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
# the line of chains: counted for those of WHOSE, said by the model of those of BY, caches FROM to LAST
function beside(what, whose, by, from, last,   n, g, l, w, ways, each, model_of) {
  ways = split(whose, each, " "); split(by, model_of, " ")
  for (g = 1; g <= chains; g++) for (w = 1; w <= ways; w++) for (l = from; l <= last; l++) {
    x[++n] = model[chain[g], model_of[w], l]; y[n] = words[chain[g], each[w], l]
  }
  if (n) { fit(x, y, n); line("chains, " what, n) }
}
# the line of what enters the first cache if it has one set: tensors, and not the tile of C that a fused kernel keeps
function alike(   n, g, w) {
  for (g = 1; g <= chains; g++) for (w = 1; w <= 2; w++) {
    x[++n] = tensors_of[chain[g], names[w]]; y[n] = whole[chain[g], names[w]]
  }
  fit(x, y, n); line("chains, both: the tensors, L1 of one set", n)
}
function hits(who, l,   g, sum) {
  for (g = 1; g <= chains; g++) sum += 100 * (1 - words[chain[g], who, l] / words[chain[g], who, l - 1])
  return sum / chains
}
function geometric(who, l,   g, sum) {
  for (g = 1; g <= chains; g++) sum += log(words[chain[g], who, l] / words[chain[g], "fused", l])
  return exp(sum / chains)
}
FNR == 1 { next }
FILENAME == ARGV[1] { tiles++; said[tiles] = $7; found[tiles] = $8; next }
FILENAME == ARGV[2] {
  for (l = 1; l <= 3; l++) { words[$1, $2, l] = $(3 + l); model[$1, $2, l] = $(6 + l) }
  if (!($1 in order)) { order[$1] = ++chains; chain[chains] = $1 }
  next
}
{ t = $3 == "kept" ? "C" : $3
  over[$1, $2, t] += $4 - $6; all[$1, $2] += $4; known[$1, $2] += $6
  if ($3 !~ /kept|other/) { whole[$1, $2] += $5; tensors_of[$1, $2] += $6 } }
END {
  split("fused,parts,openblas,onednn", names, ","); shown["fused"] = "fused"; shown["parts"] = "ours, apart"
  shown["openblas"] = "OpenBLAS"; shown["onednn"] = "oneDNN"
  print "Hits are shares of what misses the cache before, means; words are over those of our fused kernel, geometric means:\n"
  print "| | hits L2 | hits L3 | words into L1 | into L2 | into L3 |\n|---|--:|--:|--:|--:|--:|"
  for (w = 1; w <= 4; w++) {
    printf "| %s | %.1f %% | %.1f %% |", shown[names[w]], hits(names[w], 2), hits(names[w], 3)
    for (l = 1; l <= 3; l++) printf " %.2f |", geometric(names[w], l)
    print ""
  }
  head()
  if (tiles) { fit(said, found, tiles); line("the first cache, tiles unfused", tiles) }
  for (w = 1; w <= 2; w++) beside(shown[names[w]], names[w], names[w], 1, 3)
  beside("both, all three", "fused parts", "fused parts", 1, 3)
  alike()
  for (w = 3; w <= 4; w++) beside(shown[names[w]] ": L3, by the model of ours, apart", names[w], "parts", 3, 3)
  for (g = 1; g <= chains; g++) {
    c = chain[g]
    by = 100 * (all[c, "fused"] / known[c, "fused"] - 1)
    if (g == 1 || by < least) least = by
    if (g == 1 || by > most) { most = by; which = c; streams = 100 * (over[c, "fused", "A"] + over[c, "fused", "E"]) / known[c, "fused"] }
    by = 100 * (all[c, "parts"] / known[c, "parts"] - 1)
    if (by > apart) apart = by
  }
  printf "\nInto L1 fused kernels bring %.2f to %.2f %% more than the model says (%s; A and E %.2f %% of it), products apart %.2f %% at most.\n", least, most, which, streams, apart
}
