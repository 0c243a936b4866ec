#!/bin/sh
# docs/results/solve.csv (stdin) as docs/RESULTS-search.md (stdout); called by results-search.sh.
cat <<'HEAD'
# Proved optima, and what is left open

Written by `bench/results-search.sh`; machine-readable in [results/solve.csv](results/solve.csv). Latency in cycles by our
model. *Exact*: `tileflow solve`, two threads, stopped when it has used as much processor time as two free cores give in 10 s (chains) or 35 s (attention);
its seconds are half of the processor time, whatever else the machine does. *Proved*: no mapping of the space of [HOWTO-solve.md](HOWTO-solve.md) is better than the one found (rows of before
2026-11-26 say so, too, where the one found lies outside of that space); else
*gap* is the value over the bound proved for that space (C6: for all mappings), less one. *Search*: GA + MCTS, 300,000 mappings, seed 1, two threads: the
same on every machine. *Best known* is the best of these and the closed form; the search's space has bypasses and counts that do not divide, the exact solver's has not.

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
  run = $14 ", commit " $15
  if (!(run in ran)) runs[++several] = run
  ran[run]++
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
  printf "**When.** "
  for (i = 1; i <= several; i++) printf "%s%s (%d rows)", (i > 1 ? "; " : ""), runs[i], ran[runs[i]]
  print ", on an AMD EPYC (Zen 5) of two cores that other programs kept busy.\n"
  print "## In short\n"
  print "| problems | proved | gap under 1 % | largest gap | longest, s | most memory, MiB | search within 1 % of best known | search better | search over exact, geometric mean |"
  print "|---|--:|--:|--:|--:|--:|--:|--:|--:|"
  for (i = 1; i <= m; i++) {
    k = order[i]
    printf "| %s | %d of %d | %d | %s %% | %s | %s | %d | %d | %s %% |\n", k, proved[k], n[k], near[k],
      dec(100 * worst[k], 2), dec(slow[k], 1), dec(kib[k] / 1024, 0), within[k], beats[k], dec(100 * (exp(sgap[k] / (sn[k] ? sn[k] : 1)) - 1), 1)
  }
  printf "\nThe search is within 1 %% of the best known in %d of %d.\n", all, total
  print "\n## Each problem\n"
  print "| architecture | workload | exact | proved | gap | s | MiB | evaluations | search | over exact | closed form |"
  print "|---|---|--:|---|--:|--:|--:|--:|--:|--:|--:|"
  for (i = 1; i <= lines; i++) {
    split(rows[i], c, ",")
    none = c[3] == "-"
    printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", c[1], c[2], none ? "-" : dec(c[3], 0),
      c[5] == "true" ? "yes" : "no", none ? "-" : dec(100 * (c[3] / c[4] - 1), 2) " %", none ? "-" : dec(c[7], 1),
      dec(c[9] / 1024, 0), c[6], c[10] == "-" ? "-" : dec(c[10], 0),
      none || c[10] == "-" ? "-" : dec(100 * (c[10] / c[3] - 1), 1) " %", c[12] == "-" ? "-" : dec(c[12], 0)
  }
}'
cat <<'TAIL'

## What limits it

- **Padded convolutions.** Padded inputs (C1 to C5) are counted and proved like others; those that are not proved ran out of time. In C6 the
  intermediate is padded: there the bound is that of all mappings, so its gap says how far that bound is, more than how far the mapping is.
- **The search is better** in places: its mappings bypass memories and have counts that do not divide, which those of the space do not. The first mapping of the solver
  comes from a search; where it is such a one, it is what must be beaten, and is printed.
- **Attention on Edge** is where the search still loses: the seven ops must fit each other, and five of them, in a Seq of their own on the vector unit,
  must change together. 300,000 mappings are few for it: one seed, and a larger budget moves it.
- **Attention**: the shapes of the solver fuse all seven ops or none. Vector ops can use 64 of the vector unit's 96 lanes per core of Edge, because
  trip counts divide: 3 divides none of the lengths.
- **Memory** includes the heads of all shapes; time includes the search that gives the first mapping.
TAIL
