#!/bin/sh
# The tables of docs/RESULTS-search-ga.md from docs/results/search-*.csv, on stdout.  Run by bench/results-search-ga.sh, from the root.
set -u
. "$(dirname "$0")/lib.sh"
in=docs/results

cat <<'T'
# The search: rate, templates, convergence

Written by `bench/results-search-ga.sh`, machine-readable results in [results](results). Cycles by our model. What the search finds beside
the exact solver's optima, for every shape of the thesis's tables, and the named dataflows completed for them, is in
[RESULTS-search.md](RESULTS-search.md).

T
echo "## Evaluations per second"
echo
echo "\`build/bench/bench_search\`: one shape of the two-op chain, inside each strategy. The clock's figures are those of a"
echo "shared machine; per second of one core's time is what a core does. \`random\`, \`exhaustive\` and part of \`ga\` are evaluated in"
echo "batches ([RESULTS-rate.md](RESULTS-rate.md))."
echo
stamped search-bench
echo
echo "| strategy | threads | per second | per second of a core |"
echo "|---|--:|--:|--:|"
awk -F, 'NR > 1 { printf "| %s | %d | %d | %d |\n", $2, $3, $4, $5 }' $in/search-bench.csv
cat <<'T'

## TileFlow's templates

TileFlow's six templates of `13-test-attention` on its own edge accelerator, its files imported as they are
([HOWTO-import.md](HOWTO-import.md)), each trip count open, against the cycles that its mapper found in 60 s. Ours are completed within
500,000 mappings, the same on every machine, and counted by our model: where a template keeps C on chip we do (`keep`), where it does not it passes through L2.
Part of the difference is the counting: TileFlow charges every partial sum with a fill
(`SEMANTICS.md`, 1), we only those that were met before; so *times better* is the search and the counting together.

T
stamped search-templates
echo
echo "| template | TileFlow, 60 s | ours | times better | mappings tried | s, two threads |"
echo "|---|--:|--:|--:|--:|--:|"
awk -F, 'NR > 1 { printf "| %s | %d | %.0f | %.2f | %d | %.1f |\n", $1, $2, $3, $4, $5, $6 }' $in/search-templates.csv
cat <<'T'

## Convergence

Seed 1 alone, 300,000 mappings each: one run of each strategy, so that curves that lie close say nothing of which is better.

![best cycles over mappings evaluated, gemm-chain/g1](img/search/convergence-gemm-chain-g1.svg)

![best cycles over mappings evaluated, attention/g1](img/search/convergence-attention-g1.svg)

![best cycles over mappings evaluated, conv-chain/c3](img/search/convergence-conv-chain-c3.svg)

Compare the thesis's figure 3.14: there, too, most is gained in the first part of the search. The curves
show tasks in the order in which they are told; a task evaluates from 16 to 2048 mappings.

T
stamped search-convergence
