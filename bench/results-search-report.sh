#!/bin/sh
# The tables of docs/RESULTS-search-ga.md from docs/results/search-*.csv, on stdout.  Run by bench/results-search-ga.sh, from the root.
set -u
. "$(dirname "$0")/lib.sh"
in=docs/results

cat <<'T'
# The search: rate, templates, convergence

[RESULTS-search.md](RESULTS-search.md) has the search beside proved optima.
`bench/results-search-ga.sh` writes this page from [results](results) (`search-*.csv`).

T
echo "## Evaluations per second"
echo
echo "\`build/bench/bench_search\` searches one shape of the two-op chain: mappings evaluated in each second of a core. \`random\`, \`exhaustive\` and part of \`ga\` evaluate in batches ([RESULTS-rate.md](RESULTS-rate.md))."
echo
stamped search-bench
echo
echo "| strategy | one thread | two threads |"
echo "|---|--:|--:|"
awk -F, 'NR > 1 { if (!($2 in seen)) { seen[$2]; name[++n] = $2 } rate[$2, $3] = $5 }
  END { for (i = 1; i <= n; i++) printf "| %s | %d | %d |\n", name[i], rate[name[i], 1], rate[name[i], 2] }' $in/search-bench.csv
cat <<'T'

## TileFlow's templates

TileFlow's six templates of `13-test-attention` are imported as they are ([HOWTO-import.md](HOWTO-import.md)), with each trip count open, on its
own edge accelerator; C stays on chip where theirs does. Its mapper searches for 60 s, ours tries 500,000 mappings at most. Cycles are each by its own model.

T
stamped search-templates
echo
echo "| template | TileFlow, 60 s | ours | times better | mappings tried | s, two threads |"
echo "|---|--:|--:|--:|--:|--:|"
awk -F, 'NR > 1 { printf "| %s | %d | %.0f | %.2f | %d | %.1f |\n", $1, $2, $3, $4, $5, $6 }' $in/search-templates.csv
cat <<'T'

Limits: *times better* is the search and the counting together. TileFlow charges every partial sum with a fill, our model only those that were met before.

## Convergence

300,000 mappings of each strategy, with seed 1. One run each: curves that lie close do not rank the strategies.

![best cycles over mappings evaluated, gemm-chain/g1](img/search/convergence-gemm-chain-g1.svg)

![best cycles over mappings evaluated, attention/g1](img/search/convergence-attention-g1.svg)

![best cycles over mappings evaluated, conv-chain/c3](img/search/convergence-conv-chain-c3.svg)

T
stamped search-convergence
