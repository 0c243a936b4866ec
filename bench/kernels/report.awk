# Markdown from rows of bench/kernels/run.sh: convolutions and the chain with exp between, and, with -v cores=N, all on N cores.
function least(c,   best) { # the better of oneDNN's ways
  best = slower[c, "oneDNN"]
  if (slower[c, "oneDNN blocked"] && slower[c, "oneDNN blocked"] < best) best = slower[c, "oneDNN blocked"]
  if (slower[c, "oneDNN packed"] && slower[c, "oneDNN packed"] < best) best = slower[c, "oneDNN packed"]
  return best
}
function cell(v, digits) { return v ? sprintf("%.*f", digits, v) : "-" }
# Cases that match, one a row; the last row: geometric means.
function layers(title, pattern,   i, c, k, g, sd, sp, sb, sq) {
  for (i = 1; i <= n; i++) k += order[i] ~ pattern
  if (!k) return
  print "\n### " title "\n"
  print "| Case | GFLOP/s | share of peak | oneDNN, better | plain | its own layouts | its share | gcc -O3 |"
  print "|---|--:|--:|--:|--:|--:|--:|--:|"
  k = 0
  for (i = 1; i <= n; i++) {
    c = order[i]
    if (c !~ pattern) continue
    printf "| %s | %.0f | %.0f %% | %.2f | %s | %s | %.0f %% | %s |\n", c, gf[c, "tileflow"], 100 * share[c, "tileflow"], least(c),
      cell(slower[c, "oneDNN"], 2), cell(slower[c, "oneDNN blocked"], 2), 100 * share[c, "oneDNN blocked"], cell(slower[c, "gcc -O3"], 0)
    k++; sd += log(least(c)); sp += log(share[c, "tileflow"]); sq += log(share[c, "oneDNN blocked"])
    if (slower[c, "gcc -O3"]) { sg += log(slower[c, "gcc -O3"]); kg++ }
  }
  printf "| geometric mean | | %.0f %% | %.2f | | | %.0f %% | %s |\n", 100 * exp(sp / k), exp(sd / k), 100 * exp(sq / k), kg ? sprintf("%.0f", exp(sg / kg)) : "-"
  sg = kg = 0
}
function mean_of(pattern, who,   i, c, k, s, v) {
  for (i = 1; i <= n; i++) {
    c = order[i]
    v = who == "oneDNN" ? least(c) : slower[c, who]
    if (c ~ pattern && v) { k++; s += log(v) }
  }
  return k ? sprintf("%.2f", exp(s / k)) : "-"
}
function mean_share(pattern,   i, c, k, s) {
  for (i = 1; i <= n; i++) if (order[i] ~ pattern) { k++; s += log(share[order[i], "tileflow"]) }
  return k ? sprintf("%.0f %%", 100 * exp(s / k)) : "-"
}
function group(title, pattern,   i, k) {
  for (i = 1; i <= n; i++) k += order[i] ~ pattern
  if (k) printf "| %s | %d | %s | %s | %s | %s |\n", title, k, mean_share(pattern), mean_of(pattern, "oneDNN"), mean_of(pattern, "libxsmm rows"), mean_of(pattern, "openblas")
}
$1 == "case" { next }
{ gf[$1, $2] = $4; share[$1, $2] = $5; slower[$1, $2] = $6; if (!($1 in seen)) { seen[$1] = 1; order[++n] = $1 } }
END {
  if (cores > 1) {
    print "| Cases | number | share of the peak of all cores | oneDNN | libxsmm rows | OpenBLAS |\n|---|--:|--:|--:|--:|--:|"
    group("two products", "^G[0-9]+$"); group("attention", "^G.*softmax"); group("product, exp, product", "^matmul")
    group("two convolutions", "^C[0-9]+$"); group("with ReLU", "^C.*relu"); group("YOLO", "^YOLO"); group("ResNet-18, batch 16", "^ResNet")
  } else {
    layers("Two in a row (C1 to C8 of thesis Table 3.6)", "^C[0-9]+$")
    layers("With a ReLU between", "^C.*relu")
    layers("Layers of YOLO, batch 1", "^YOLO")
    layers("Layers of ResNet-18, batch 16", "^ResNet")
    while ((getline line < "bench/kernels/convolutions-limits.md") > 0) print line
    c = "matmul-exp-matmul"
    if (gf[c, "tileflow"]) {
      print "\n## Product, exp, product\n\n" \
        "The example of the seed mlc-introduction, 1024 x 2048 x 1024 x 3072; libraries' exp: OpenBLAS and libxsmm have ours, oneDNN its own,\n" \
        "as a post-op of the first product.\n"
      print "| | GFLOP/s | share of peak | times our time |\n|---|--:|--:|--:|"
      m = split("tileflow,oneDNN,oneDNN packed,libxsmm rows,openblas,gcc -O3", who, ",")
      for (i = 1; i <= m; i++) if (gf[c, who[i]]) printf "| %s | %.3g | %.1f %% | %.2f |\n", who[i], gf[c, who[i]], 100 * share[c, who[i]], slower[c, who[i]]
    }
  }
}
