#!/bin/sh
# docs/results/closed.csv, with the exact solver's values of solve.csv, as docs/RESULTS-closed.md (stdout); called by
# results-closed.sh.
cat <<'HEAD'
# The closed form, and how far it is from the optimum

`tileflow solve --method closed` ([HOWTO-solve.md](HOWTO-solve.md)) on every shape of the thesis's tables 3.5 and 3.6. Times are the least of three runs
on one thread. `bench/results-closed.sh` writes this page from [results/closed.csv](results/closed.csv), a row for each shape.

HEAD
awk -F, '
function kind(w) { sub(/\/.*/, "", w); return w }
function dec(x, n) { return sprintf("%." n "f", x) }
function ratio(a, b) { return dec(100 * (a / b - 1), 1) " %" }
NR == FNR { exact[$1 "," $2] = $3; next }
FNR == 1 { next }
$4 == "-" { next }
{
  k = $1 " " kind($2)
  if (!(k in n)) order[++m] = k
  n[k] += $3 == "latency"
  us = 1e6 * $7 / $8
  if (us > slow[k]) slow[k] = us
  if (1e3 * $7 > all[k]) all[k] = 1e3 * $7
  if ($3 == "traffic") { t[k]++; least[k] += $4 <= $5 * (1 + 1e-9); inside[k] += $14 <= $15 * (1 + 1e-9); same[k] += $12 == $13; next }
  x = exact[$1 "," $2]
  if (x == "" || x == "-") next
  e[k]++
  sum[k] += log($4 / x)
  within[k] += $4 <= 1.1 * x
  if ($4 / x > most[k]) most[k] = $4 / x
}
END {
  print "## Latency\n"
  print "| problems | over exact, mean | over exact, most | within 10 % | us an order, at most | ms in all, at most |"
  print "|---|--:|--:|--:|--:|--:|"
  for (i = 1; i <= m; i++) {
    k = order[i]
    printf "| %s | %s | %s | %d of %d | %s | %s |\n", k, e[k] ? ratio(exp(sum[k] / e[k]), 1) : "-", e[k] ? ratio(most[k], 1) : "-", within[k], e[k],
      dec(slow[k], 0), dec(all[k], 0)
  }
  print "\n*Exact* is the optimum, or the best found ([RESULTS-search.md](RESULTS-search.md)). Tiles are solved for each *order* of the loops.\n"
  print "## Traffic\n"
  print "Words through the first memory below the outermost, for the mapping of least traffic. *Rounding* is Algorithm 1 with whole tiles over the"
  print "real optimum (DV* of Eq. 3.18), bounded by Eq. 3.19. The *lower bound* is each word once.\n"
  print "| problems | lower bound reached | rounding within Eq. 3.19 | formula of the tree equals the model |"
  print "|---|--:|--:|--:|"
  for (i = 1; i <= m; i++) {
    k = order[i]
    printf "| %s | %d of %d | %d of %d | %d of %d |\n", k, least[k], t[k], inside[k], t[k], same[k], t[k]
  }
}' docs/results/solve.csv docs/results/closed.csv
cat <<'TAIL'

## What limits it

- **No Pipe.** The best attention on Edge runs the products beside the vector unit; the thesis's formula knows Seq and sums only.
- **Traffic is not time.** Where compute hides traffic, the first load, the fit of factors to the arrays and the ports of L0 decide.
- **Multiples.** Inner tiles divide outer ones, which leaves few choices for lengths such as 7 or 14.
- **Formula against model.** The formula counts full boxes where halos overlap or borders clip. The model counts partial sums that come back twice.
TAIL
