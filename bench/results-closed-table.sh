#!/bin/sh
# docs/results/closed.csv, with the exact solver's values of solve.csv, as docs/RESULTS-closed.md (stdout); called by
# results-closed.sh.
cat <<'HEAD'
# The closed form, and how far it is from the optimum

Written by `bench/results-closed.sh`; machine-readable in [results/closed.csv](results/closed.csv). `tileflow solve --method closed`
([HOWTO-solve.md](HOWTO-solve.md)) on one thread, least time of three runs, while other programs kept both cores of the machine busy (a load of 15 to 20): by processor time an order
takes a fifth to a third of what the clock says (ten runs: G1 on Edge 49 us, its attention 67, C3 146, C6 446; attention G8 on Cloud 83).

## In short

HEAD
awk -F, '
function kind(w) { sub(/\/.*/, "", w); return w }
function dec(x, n) { return sprintf("%." n "f", x) }
function ratio(a, b) { return dec(100 * (a / b - 1), 1) " %" }
NR == FNR { exact[$1 "," $2] = $3; proved[$1 "," $2] = $5; next }
FNR == 1 { next }
$4 == "-" { next }
{
  k = $1 " " kind($2)
  if (!(k in n)) order[++m] = k
  n[k] += $3 == "latency"
  us = 1e6 * $7 / $8
  if (us > slow[k]) slow[k] = us
  rows[++lines] = $0
  if ($3 == "traffic") { t[k]++; least[k] += $4 <= $5 * (1 + 1e-9); inside[k] += $14 <= $15 * (1 + 1e-9); next }
  x = exact[$1 "," $2]
  if (x == "" || x == "-") next
  e[k]++
  sum[k] += log($4 / x)
  within[k] += $4 <= 1.1 * x
  better[k] += $4 < x * (1 - 1e-9)
}
END {
  print "| problems | latency over exact, mean | within 10 % | better | least traffic reached | rounding within Eq. 3.19 | us an order, at most |"
  print "|---|--:|--:|--:|--:|--:|--:|"
  for (i = 1; i <= m; i++) {
    k = order[i]
    printf "| %s | %s | %d of %d | %d | %d of %d | %d of %d | %s |\n", k, e[k] ? ratio(exp(sum[k] / e[k]), 1) : "-", within[k], e[k], better[k],
      least[k], t[k], inside[k], t[k], dec(slow[k], 0)
  }
  print "\n*Least traffic*: each word once, which no mapping can beat. *Exact*: [RESULTS-search.md](RESULTS-search.md), optimum or best found.\n"
  print "## Latency\n"
  print "| architecture | workload | cycles | over exact | exact proved | orders | ms | us an order | words, model |"
  print "|---|---|--:|--:|---|--:|--:|--:|--:|"
  for (i = 1; i <= lines; i++) {
    split(rows[i], c, ",")
    if (c[3] != "latency") continue
    x = exact[c[1] "," c[2]]
    printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", c[1], c[2], dec(c[4], 0), x == "" || x == "-" ? "-" : ratio(c[4], x),
      proved[c[1] "," c[2]] == "true" ? "yes" : "no", c[8], dec(1e3 * c[7], 1), dec(1e6 * c[7] / c[8], 0), c[13]
  }
  print "\n## Traffic: the formulas beside the model\n"
  print "Words through the first memory below the outermost, for the mapping of least traffic: in real numbers (DV* of Eq. 3.18), by Algorithm 1 with the"
  print "whole-numbered tiles, by the formula of the tree, and as the model counts; *rounding* is the third over the first, *limit* what Eq. 3.19 allows.\n"
  print "| architecture | workload | home | real | Algorithm 1 | tree | model | rounding | limit |"
  print "|---|---|---|--:|--:|--:|--:|--:|--:|"
  for (i = 1; i <= lines; i++) {
    split(rows[i], c, ",")
    if (c[3] != "traffic") continue
    printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", c[1], c[2], c[9] ? c[9] : "-", dec(c[10], 0), dec(c[11], 0), dec(c[12], 0),
      dec(c[13], 0), dec(c[14], 3), dec(c[15], 3)
  }
}' docs/results/solve.csv docs/results/closed.csv
cat <<'TAIL'

## What limits it

- **No Pipe.** The exact solver's best attention on Edge runs the products beside the vector unit; the thesis's formula for the words held knows Seq and sums.
- **Volume is not time.** The formulas make DRAM traffic small. Where that is hidden behind the compute (all GEMM chains on Edge), what
  decides is the first load, how well factors of the lengths fill the arrays, and the ports of L0; the closed form takes the fullest spread of lowest
  density and does not look further.
- **Multiples.** Tiles are multiples of what the meshes do at once, and those of inner memories divide the outer ones. The ratio to the real volume can pass
  Eq. 3.19's limit where these lie far apart (lengths such as 7 or 14 rows).
- **Model against formula.** Where halos overlap or borders clip, the formula counts full boxes; the model counts what is loaded. Where sums
  come back, the model counts them twice.
TAIL
