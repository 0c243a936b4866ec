# Of an extent past what a search goes through, eval without a mapping shows what the formulas find.
sed 's/search long_extent.yaml --strategy mcts//' tests/bad/search/long_extent.yaml >$OUT/long.yaml
tileflow eval $OUT/long.yaml --evals 300 --threads 1
