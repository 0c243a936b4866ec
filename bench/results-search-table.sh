#!/bin/sh
# docs/results/solve.csv (stdin) as docs/RESULTS-search.md (stdout); called by results-search.sh.
cat <<'HEAD'
# Proved optima, and what is left open

Written by `bench/results-search.sh`; machine-readable in [results/solve.csv](results/solve.csv). Latency in cycles by our
model. *Exact*: `tileflow solve`, two threads, at most 10 s for chains and 35 s for
attention. The machine is shared: seconds are those of two cores (CPU time over two), and so are the limits. *Proved*: no mapping of the space of [HOWTO-solve.md](HOWTO-solve.md) is better than the one found; else
*gap* is the value over the bound proved for that space (C1 to C6: for all mappings), less one. *Search*: GA + MCTS for 2 s,
seed 1. *Best known* is the best of these and the closed form; the search's space has bypasses, the exact solver's has not.

**When and where.** *Exact* and *search* are of 2026-11-21, on an AMD EPYC (Zen 5), from before latency charged every memory's ports at every
node ([DECISIONS.md](DECISIONS.md) 15), before padded inputs were proved, and before the search began with the closed form; the closed
form's column is of 2026-11-22. Of the rows solved again since, attention G1 to G3 on Edge are the same to the last digit; chains may
move where the mapping has a Pipe, a Para or a scope at its root. The same holds for the figures 3.14 to 3.17 below. `bench/results-search.sh` and
`bench/thesis-figures.py` measure them anew.

## In short

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
  print "| problems | proved | gap under 1 % | largest gap | longest, s | most memory, MiB | search within 1 % of best known | search better | search over exact, geometric mean |"
  print "|---|--:|--:|--:|--:|--:|--:|--:|--:|"
  for (i = 1; i <= m; i++) {
    k = order[i]
    printf "| %s | %d of %d | %d | %s %% | %s | %s | %d | %d | %s %% |\n", k, proved[k], n[k], near[k],
      dec(100 * worst[k], 2), dec(slow[k], 1), dec(kib[k] / 1024, 0), within[k], beats[k], dec(100 * (exp(sgap[k] / (sn[k] ? sn[k] : 1)) - 1), 1)
  }
  printf "\nThe search is within 1 %% of the best known in %d of %d.\n", all, total
  print "\n## Each problem\n"
  print "| architecture | workload | exact | proved | gap | s | MiB | evaluations | search, 2 s | over exact | closed form |"
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

- **Padded convolutions** (C1 to C6): where a border clips boxes the model takes hundreds of times as long (or cannot count at all,
  where instances run out of step). C1 to C5 are solved with the padding as data, taking only mappings that can be counted as
  they are; what is proved for them is the bound of all mappings, so their gap says how far that bound is, more
  than how far the mapping is. With the input of the first convolution free (no words moved, none held) the same space has mappings within
  1 % of that bound (C1 and C3 on Edge; C5 within 8 %): a sharper one must bound the words of the padded input.
  In C6 the intermediate is padded; few mappings are had in the time.
- **The search is better** in places: its mappings bypass memories, which those of the space do not. The first mapping of the solver
  comes from 300,000 evaluations of the search; where it is such a one, it is what must be beaten, and is printed. GEMM chains and attention were
  solved with an older search to start from, and their seconds are the clock's: what is proved for the space stands.
- **Attention on Edge** is where the search still loses: the seven ops must fit each other, and five of them, in a Seq of their own on the vector unit,
  must change together. What was tried, geometric means over the exact solver's value: starts by lot and no scopes in scopes, 2 s: 147 % (all
  twelve). Seeds read off the graph: 12 % (four shapes, 300,000 mappings). Over six shapes, 330,000 mappings: dims of Tiles changed more often, 10 %; dims of
  shared Tiles from those all ops share, uneven trip counts kept out of the population, a third of the parents from the three best: 1.5 %.
- **Attention**: the shapes of the solver fuse all seven ops or none. Vector ops can use 64 of the vector unit's 96 lanes per core of Edge, because
  trip counts divide: 3 divides none of the lengths.
- **Memory** includes the heads of all shapes; time includes the search that gives the first mapping, one to two seconds.
TAIL
