#!/bin/sh
# docs/results/solve.csv (stdin) as docs/RESULTS-search.md (stdout); called by results-search.sh.
cat <<'HEAD'
# Proved optima, and what is left open

Values are latency in cycles by our model, for the shapes of the thesis's tables 3.5 and 3.6. `bench/results-search.sh` writes this page from
[results/solve.csv](results/solve.csv).

- *Exact* is `tileflow solve` with two threads. It stops after the processor time that two free cores give in 10 s (chains) or 35 s (attention);
  its seconds are half of that time.
- *Proved* is here `space_proved`: no mapping of the space of [HOWTO-solve.md](HOWTO-solve.md) is better. *Gap* is the value over the proved bound, less one; for C6 the bound of all mappings.
- *Search* is GA + MCTS: 300,000 mappings, seed 1, also with bypasses and counts that do not divide.
- *Best known* is the best of these and the closed form.

HEAD
awk -F, '
function kind(w) { sub(/\/.*/, "", w); return w }
function dec(x, n) { return sprintf("%." n "f", x) }
NR == 1 { next }
{
  k = $1 " " kind($2)
  if (!(k in n)) order[++m] = k
  n[k]++
  rows[++lines] = $0
  if ($3 == "-") { next }
  gap = $3 / $4 - 1
  proved[k] += $5 == "true"
  near[k] += gap < 0.01
  if (gap > worst[k]) worst[k] = gap
  if ($7 > slow[k]) slow[k] = $7
  if ($9 > kib[k]) kib[k] = $9
  if ($10 != "-") { beats[k] += $10 < $3 * (1 - 1e-9); sgap[k] += log($10 / $3); sn[k]++; best = $3; if ($10 + 0 < best) best = $10; if ($12 != "-" && $12 + 0 < best) best = $12
    within[k] += $10 <= 1.01 * best; all += $10 <= 1.01 * best; total++ }
}
END {
  print "## In short\n"
  print "| problems | proved | gap under 1 % | largest gap | longest, s | most memory, MiB | search within 1 % of best known | search better | search over exact, geometric mean |"
  print "|---|--:|--:|--:|--:|--:|--:|--:|--:|"
  for (i = 1; i <= m; i++) {
    k = order[i]
    printf "| %s | %d of %d | %d | %s %% | %s | %s | %d | %d | %s %% |\n", k, proved[k], n[k], near[k],
      dec(100 * worst[k], 2), dec(slow[k], 1), dec(kib[k] / 1024, 0), within[k], beats[k], dec(100 * (exp(sgap[k] / (sn[k] ? sn[k] : 1)) - 1), 1)
  }
  printf "\nThe search is within 1 %% of the best known in %d of %d.\n", all, total
  print "\n## What is not proved\n"
  print "| architecture | workload | exact | gap | s | MiB | evaluations | search | over exact | closed form |"
  print "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|"
  for (i = 1; i <= lines; i++) {
    split(rows[i], c, ",")
    if (c[5] == "true") continue
    none = c[3] == "-"
    printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", c[1], c[2], none ? "-" : dec(c[3], 0), none ? "-" : dec(100 * (c[3] / c[4] - 1), 2) " %", none ? "-" : dec(c[7], 1),
      dec(c[9] / 1024, 0), c[6], c[10] == "-" ? "-" : dec(c[10], 0),
      none || c[10] == "-" ? "-" : dec(100 * (c[10] / c[3] - 1), 1) " %", c[12] == "-" ? "-" : dec(c[12], 0)
  }
}'
cat <<'TAIL'

## What limits it

- **Convolutions**: the open ones ran out of time. C6 has a padded intermediate, so its gap says more of the bound.
- **The search is better** where a mapping bypasses memories or has counts that do not divide.
- **Attention on Edge**: five ops in a Seq must change together; 300,000 mappings are few for it. Exact shapes fuse all seven ops or none, with 64 of 96 lanes per core.
  Later runs, which also try phases, find fewer cycles (g11: 9974, [proofs.csv](results/proofs.csv)).
TAIL
