# Markdown from files of bench/kernels/run.sh; their cases stand in the files.
# mode=summary: several files, a group a row; titles: "GROUP=text" by semicolons.  mode=ways: the same, a contestant a row, a group a column.
# mode=readme: the same in the README's columns, with the case that comes off worst.  mode=shapes: of two files, float32 and bfloat16, each case
# beside the best of PyTorch's ways.
function group_of(file) { sub(/.*cpu-/, "", file); sub(/\.csv$/, "", file); return file }
function ours(who) { return who == "tileflow" || who == "tileflow packed" }
function cell(v, digits) { return v == "" ? "-" : sprintf("%.*f", digits, v) }
function percent(v) { return v > 0 ? sprintf("%.0f %%", 100 * v) : "-" }
function times(v) { return cell(v, v >= 20 ? 0 : 2) }
# Geometric mean over the group's cases of WHAT of a contestant, where there is one.
function mean(what, g, who,   i, k, s, v) {
  for (i = 1; i <= cases[g]; i++) {
    v = what == "share" ? share[g, name[g, i], who] : slower[g, name[g, i], who]
    if (v > 0) { k++; s += log(v) }
  }
  return k ? exp(s / k) : ""
}
# The least of a case's contestants whose name matches.
function best(g, c, pattern,   j, v, least) {
  for (j = 1; j <= n_who[g]; j++) {
    v = slower[g, c, whose[g, j]]
    if (!ours(whose[g, j]) && whose[g, j] ~ pattern && v > 0 && (least == "" || v < least)) least = v
  }
  return least
}
# The mean of what is slower, of the best of those whose name matches, case by case.
function mean_best(g, pattern,   i, k, s, least) {
  for (i = 1; i <= cases[g]; i++)
    if ((least = best(g, name[g, i], pattern)) != "") { k++; s += log(least) }
  return k ? exp(s / k) : ""
}
# The case whose fastest contestant is the least slower, as text.
function worst(g,   i, v, least, at) {
  for (i = 1; i <= cases[g]; i++) {
    v = best(g, name[g, i], ".")
    if (least == "" || v < least) { least = v; at = name[g, i] }
  }
  return times(least) " (" at ")"
}
function summary(   k, g, t) {
  print "| Cases | number | our share of peak | packed | oneDNN | libxsmm | OpenBLAS | PyTorch | best of all | least |"
  print "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
  for (k = 1; k <= groups; k++) {
    g = order[k]
    t = g
    sub(/-cores$/, "", t)
    printf "| %s | %d | %s | %s | %s | %s | %s | %s | %s | %s |\n", title[t], cases[g], percent(mean("share", g, "tileflow")), percent(mean("share", g, "tileflow packed")),
      times(mean_best(g, "^oneDNN")), times(mean_best(g, "^libxsmm")), times(mean_best(g, "^openblas")), times(mean_best(g, "^torch")),
      times(mean_best(g, "^(oneDNN|libxsmm|openblas|torch)")), worst(g)
  }
}
# A column a group: the mean of each contestant.
function ways(   k, j, n, row, done, listed) {
  printf "| Way |"
  for (k = 1; k <= groups; k++) printf " %s |", title[order[k]]
  printf "\n|---|"
  for (k = 1; k <= groups; k++) printf "--:|"
  for (k = 1; k <= groups; k++) for (j = 1; j <= n_who[order[k]]; j++)
    if (!ours(row = whose[order[k], j]) && !(row in done)) { done[row]; listed[++n] = row }
  for (j = 1; j <= n; j++) {
    printf "\n| %s |", listed[j]
    for (k = 1; k <= groups; k++) printf " %s |", times(mean("slower", order[k], listed[j]))
  }
  print ""
}
function readme(   k, g) {
  for (k = 1; k <= groups; k++) {
    g = order[k]
    printf "| %s | %d | %s | %s | %s | %s | %s | %s |\n", title[g], cases[g], times(mean_best(g, "^oneDNN")), times(mean_best(g, "^libxsmm")),
      times(mean_best(g, "^openblas")), times(mean_best(g, "^torch")), times(mean_best(g, "^(oneDNN|libxsmm|openblas|torch)")), worst(g)
  }
}
function shapes(   i, c) {
  for (i = 1; i <= cases[order[1]]; i++) {
    c = name[order[1], i]
    printf "| `%s` | %s | %s |\n", c, times(best(order[1], c, "^torch")), times(best(order[2], c "-bf16", "^torch"))
  }
}
BEGIN {
  FS = ","
  m = split(titles, part, ";")
  for (i = 1; i <= m; i++) { split(part[i], pair, "="); title[pair[1]] = pair[2] }
}
FNR == 1 { g = group_of(FILENAME); order[++groups] = g; next }
{
  if (!((g, $1) in seen)) { seen[g, $1] = 1; name[g, ++cases[g]] = $1 }
  if (!((g, $2) in heard)) { heard[g, $2] = 1; whose[g, ++n_who[g]] = $2 }
  if ($2 == "tileflow packed") packed[g] = 1
  seconds[g, $1, $2] = $3; flops[g, $1, $2] = $4; share[g, $1, $2] = $5; slower[g, $1, $2] = $6
}
END {
  if (mode == "readme") readme()
  else if (mode == "ways") ways()
  else if (mode == "shapes") shapes()
  else summary()
}
