# Of an extent past what a search goes through, eval without a mapping shows what the formulas find.
mkdir $OUT/bad && sh tests/bad/unpack.sh $OUT/bad
sed 's/search long_extent.yaml --strategy mcts//' $OUT/bad/tests/bad/search/long_extent.yaml >$OUT/long.yaml
rm -r $OUT/bad
tileflow eval $OUT/long.yaml --evals 300 --threads 1
