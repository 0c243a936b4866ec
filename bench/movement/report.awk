# Markdown from docs/results/cpu-movement.csv: how predicted movement and time go with measured ones.
#   awk -F, -f bench/movement/report.awk docs/results/cpu-movement.csv
function swap(v, i, j,   t) { t = v[i]; v[i] = v[j]; v[j] = t }
function sort(v, lo, hi,   i, last) { # indices in v[lo..hi] by key[]
  if (lo >= hi) return
  swap(v, lo, int((lo + hi) / 2)); last = lo
  for (i = lo + 1; i <= hi; i++) if (key[v[i]] < key[v[lo]]) swap(v, ++last, i)
  swap(v, lo, last); sort(v, lo, last - 1); sort(v, last + 1, hi)
}
# rank[i] of what[i], i = 1 .. n; equals share the mean of their ranks
function ranks(what, rank, n,   i, j, k) {
  for (i = 1; i <= n; i++) { at[i] = i; key[i] = what[i] }
  sort(at, 1, n)
  for (i = 1; i <= n; i = j + 1) {
    for (j = i; j < n && key[at[j + 1]] == key[at[i]];) j++
    for (k = i; k <= j; k++) rank[at[k]] = (i + j) / 2
  }
}
# of y on x: slope, squared correlation, and 1 - (squares off the line y = x) / (squares off the mean)
function fit(x, y, n,   i, mx, my, xx, xy, yy, off) {
  for (i = 1; i <= n; i++) { mx += x[i] / n; my += y[i] / n }
  for (i = 1; i <= n; i++) {
    xx += (x[i] - mx) ^ 2; yy += (y[i] - my) ^ 2; xy += (x[i] - mx) * (y[i] - my); off += (y[i] - x[i]) ^ 2
  }
  slope = xx ? xy / xx : 0; squared = xx * yy ? xy ^ 2 / (xx * yy) : 0; equal = yy ? 1 - off / yy : 0
  correlation = xx * yy ? xy / sqrt(xx * yy) : 0
}
function spearman(x, y, n) { ranks(x, rx, n); ranks(y, ry, n); fit(rx, ry, n); return correlation }
function take(kind, near,   i) {
  n = 0; least = 1e30; most = worst = 0
  for (i = 1; i <= rows; i++) {
    if (kind != "" && kinds[i] != kind) continue
    if (near && shares[i] < near) continue
    n++; said[n] = predicted[i]; found[n] = measured[i]; cycles[n] = guessed[i]; took[n] = 1 / shares[i]
    if (took[n] < least) least = took[n]
    if (took[n] > most) most = took[n]
    if (said[n] > 0) { r = found[n] / said[n]; r = r > 1 ? r - 1 : 1 - r; if (r > worst) worst = r }
  }
}
function movement(title, kind) {
  take(kind, 0)
  if (n < 3) return
  fit(said, found, n)
  printf "| %s | %d | %.4f | %.3f | %.4f | %.1f %% |\n", title, n, squared, slope, equal, 100 * worst
}
function times(title, kind, near) {
  take(kind, near)
  if (n < 3) return
  printf "| %s | %d | %.2f to %.2f | %.3f |\n", title, n, least, most, spearman(cycles, took, n)
}
NR == 1 { next }
{
  rows++; kinds[rows] = $1; predicted[rows] = $8; measured[rows] = $9; guessed[rows] = $11; shares[rows] = $13
}
END {
  print "| Tiles | number | R2 | slope | R2 of y = x | worst |"
  print "|---|--:|--:|--:|--:|--:|"
  movement("both orders", "fits")
  movement("tight, both orders", "tight")
  print ""
  print "| Tiles | number | time, in that of the peak | Spearman |"
  print "|---|--:|--:|--:|"
  times("both orders", "fits", 0)
  times("all, with the tight ones", "", 0); times("of all, those at 80 % of the peak or above", "", 0.8); times("90 % or above", "", 0.9)
}
