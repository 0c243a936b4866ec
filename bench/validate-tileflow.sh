#!/bin/sh
# Our counters beside TileFlow's for its printed cases and its 216 attention mappings: writes docs/results/tileflow.csv, tileflow-dram.csv
# and the figure, prints the section of docs/VALIDATION.md.
#   bench/validate-tileflow.sh TILEFLOW      (from the repository root; its tests are built beside it)
set -u
program=$(dirname "$1")/tests/test_tileflow
csv=docs/results/tileflow.csv
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
"$program" "$scratch/all.csv" >"$scratch/said" || { cat "$scratch/said" >&2; exit 1; }

# The printed cases as they are; the mappings summed by dataflow.
awk -F, -v OFS=, 'NR == 1 || /^(04|08|tut)/ { print; next } $4 == "Cycle" { next }
  { sub(/-[0-9]+$/, "", $1); k = $1 "," $2 "," $3 "," $4; if (!(k in n)) key[++m] = k
    n[k]++; if ($7 == "apart") apart[k]++; else { their[k] += $5; our[k] += $6 }
    if (!index(why[k], $7)) why[k] = why[k] (why[k] ? " " : "") $7 }
  END { for (i = 1; i <= m; i++) printf "%s,%.0f,%.0f,%s\n", key[i], their[key[i]], our[key[i]], why[key[i]] }' \
  "$scratch/all.csv" >"$scratch/sums.csv" || exit 1
mv "$scratch/sums.csv" $csv
awk -F, 'BEGIN { print "dataflow,case,tileflow,ours,c_between_instances" } /^(04|08|tut)/ || NR == 1 || $2 != "L2" || $4 == "Fill" { next }
  { if (!($1 in their)) name[++m] = $1; their[$1] += $5; our[$1] += $6; link[$1] += $7 == "link" }
  END { for (i = 1; i <= m; i++) { c = name[i]; d = c; sub(/-[0-9]+$/, "", d); printf "%s,%s,%.0f,%.0f,%d\n", d, c, their[c], our[c], (link[c] > 0) } }' \
  "$scratch/all.csv" >"$scratch/dram.csv" || exit 1
mv "$scratch/dram.csv" docs/results/tileflow-dram.csv

n() { awk -F, -v why="$1" -v printed="$2" '$7 == why && (/^(04|08|tut)/ ? 1 : 0) == printed { n++ } END { print n + 0 }' "$scratch/all.csv"; }
row() { echo "| $2 | $(n "$1" 1) | $(n "$1" 0) | $3 |"; }

cat <<TEXT
## Counts of TileFlow

TileFlow's own files ([tests/data/tileflow](../tests/data/tileflow)): 3 cases for which it prints its counters, and 216 random attention mappings,
10 of which it gives no figures for. Compared are reads, fills and updates of every tensor in every memory, its figures times the instances in use
(\`unit.test_tileflow\`; [tileflow.csv](results/tileflow.csv)). Its own mapping of the 66 products of the RTL moves the RTL's DRAM words on all 66.

| counters | 3 printed cases | 206 mappings | why |
|---|--:|--:|---|
$(row equal "equal" "")
$(row first "smaller: first touch" "the first touch of an output element costs nothing (SEMANTICS.md, section 3); TileFlow loads a zero that nobody wrote, once for each instance that shares it")
$(row stays "smaller: what stays" "a memory keeps what the latest entry left, and a Pipe's children keep their parts; TileFlow starts every Tile empty, and a Pipe's child with its sibling's data")
$(row mean "larger: a mean" "TileFlow gives fills as a mean over all instances below, and cuts the fraction off in each class of steps: less than one word an instance and class is missing")
$(row link "C: instance to instance" "see below")
$(row apart "C: cannot be told" "one figure for fills of both ops, which use different numbers of instances")
$(row other "unexplained" "")

DRAM words, read and written, summed over the mappings of each dataflow (C: the scores, which the first product makes and the second reads):

| dataflow | mappings | TileFlow | ours | TileFlow, without C | ours, without C | mappings larger | C between instances |
|---|--:|--:|--:|--:|--:|--:|--:|
TEXT
awk -F, '/^(04|08|tut)/ || NR == 1 || $2 != "L2" || $4 == "Fill" { next }
  { c = $1; d = c; sub(/-[0-9]+$/, "", d); if (!(d in seen)) { seen[d] = 1; name[++m] = d }
    if (!(c in of)) { of[c] = d; n[d]++ }
    their[d] += $5; our[d] += $6; more[c] += $6 - $5
    if ($3 != "C") { their_rest[d] += $5; our_rest[d] += $6 } else if ($7 == "link" && $4 == "Read") link[d]++ }
  END { for (c in more) larger[of[c]] += more[c] > 0
    for (i = 1; i <= m; i++) { d = name[i]; printf "| %s | %d | %.0f | %.0f | %.0f | %.0f | %d | %d |\n", d, n[d], their[d], our[d],
      their_rest[d], our_rest[d], larger[d], link[d] } }' "$scratch/all.csv"
cat <<TEXT

![DRAM words, ours over TileFlow's](img/validation/tileflow.svg)

Apart from C no tensor moves more DRAM words in ours; nor does C where it stays on chip. In 53 mappings one set of L1 instances makes C and another reads it.
TileFlow counts none of these words, or a few between neighbours; here C passes through DRAM, which makes 42 mappings larger in sum.

Cycles, ours over TileFlow's, differ by rule: here drains take the read port, and each child of a Seq overlaps its own loads only.

| dataflow | least | median | most |
|---|--:|--:|--:|
TEXT
awk -F, '$4 == "Cycle" && !/^(04|08|tut)/ { d = $1; sub(/-[0-9]+$/, "", d); print d "," $6 / $5 }' "$scratch/all.csv" | sort -t, -k1,1 -k2,2g |
  awk -F, 'function show() { if (d) printf "| %s | %.2f | %.2f | %.2f |\n", d, v[1], n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2, v[n] }
    $1 != d { show(); d = $1; n = 0 } { v[++n] = $2 } END { show() }'
