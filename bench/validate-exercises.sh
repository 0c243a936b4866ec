#!/bin/sh
# Timeloop's published runs beside ours: prints the section of docs/VALIDATION.md from docs/results/timeloop-exercises.csv, which
# bench/validate-exercises.py writes.
#   bench/validate-exercises.sh      (from the repository root)
set -u
csv=docs/results/timeloop-exercises.csv

n() { awk -F, -v what="$1" -v why="$2" 'NR > 1 && $4 ~ what && $7 ~ why { n++ } END { print n + 0 }' $csv; }
counters='^(read|fill|update)$'
actual='^actual (read|fill|update)$'
cat <<TEXT
## Published runs of Timeloop, with energies

$(awk -F, '$4 == "cycles"' $csv | wc -l) runs of Timeloop 4 with Accelergy, as their authors published them
([timeloop-accelergy-exercises](https://github.com/Accelergy-Project/timeloop-accelergy-exercises), 2d55108; not in this repository). Of the
$(awk -F, '$4 ~ /^actual/ { print $1 }' $csv | sort -u | wc -l) of sparse data (Sparseloop), *actual* figures are of what zeros leave. \`bench/validate-exercises.py TILEFLOW FOLDER\` writes
[timeloop-exercises.csv](results/timeloop-exercises.csv), with each figure and why it differs.

| figures | all | equal | differ, explained | unexplained |
|---|--:|--:|--:|--:|
| cycles | $(n cycles '') | $(n cycles '^equal$') | $(n cycles '^(whole|rounded)') | $(n cycles '^other') |
| reads, fills and updates | $(n "$counters" '') | $(n "$counters" '^equal$') | $(n "$counters" '^(windows|partial)') | $(n "$counters" '^other') |
| actual reads, fills and updates | $(n "$actual" '') | $(n "$actual" '^equal$') | $(n "$actual" '^(windows|partial|begun|rounded|long)') | $(n "$actual" '^other') |
| energies of components | $(awk -F, '$4 == "energy" && $2 != "all"' $csv | wc -l) | $(awk -F, '$4 == "energy" && $2 != "all" && $7 == "equal"' $csv | wc -l) | $(awk -F, '$4 == "energy" && $2 != "all" && $7 !~ /^(equal|other)/' $csv | wc -l) | $(n energy '^other') |

| why they differ | Timeloop | here |
|---|---|---|
| *windows*: a window that moves in two ranks at once, or by steps that overlap | counts whole tiles | what moves |
| *partial sums*: fills of an output below a network that reduces | fills every instance | one copy is enough |
| *rounded*, *whole cycles* | rounds what it expects to a whole number: of 27 points at a density of 0.43, 12 | 11.61 |
| *begun*: updates that begin an element read nothing | takes their share of the updates left | reads none |
| *long runs*: a run of zeros longer than an entry can tell | leaves the word out | takes a word of its own |
| *lines* (of an energy) where zeros are left out | whole lines of several words (3.5 pJ of 59 of 03.2.1's outermost memory are not derived) | words take their share of a line |

Runs that differ somewhere:

| run | cycles | ours | counters equal | energy, uJ | ours | ours / theirs |
|---|--:|--:|--:|--:|--:|--:|
TEXT
awk -F, 'NR > 1 {
    if (!($1 in met)) { met[$1] = 1; order[++m] = $1 }
    if ($4 == "cycles") { theirs[$1] = $5; ours[$1] = $6 }
    else if ($4 != "energy") { all[$1]++; equal[$1] += $7 == "equal" }
    else if ($2 == "all") { pj[$1] = $5; here[$1] = $6 }
  }
  END {
    for (i = 1; i <= m; i++) {
      r = order[i]
      if (theirs[r] == ours[r] && equal[r] == all[r] && sprintf("%.3f", here[r] / pj[r]) == "1.000") continue
      printf "| %s | %d | %.10g | %d of %d | %.4g | %.4g | %.3f |\n", r, theirs[r], ours[r], equal[r], all[r], pj[r] / 1e6, here[r] / 1e6, here[r] / pj[r]
    }
  }' $csv
