# Zeros: what is left of the counts, as text and JSON; nothing of it without densities; what refuses, what says so.
sed '/^mapping/,$d' examples/pruned.yaml >$OUT/open.yaml
sed '/density/d; s/^  tensors:$//; /^params/d' examples/pruned.yaml >$OUT/dense.yaml
tileflow eval examples/pruned.yaml
tileflow eval examples/pruned.yaml --json $OUT/full.json --quiet && check_json <$OUT/full.json
sed -n '/"zeros"/,/^  },/p' $OUT/full.json
sed 's/\[W\]/"*"/; s/\[W, Y\]/"*"/' $OUT/dense.yaml >$OUT/all.yaml
tileflow eval $OUT/all.yaml --json $OUT/dense.json --quiet && grep -c zeros $OUT/dense.json
tileflow bound examples/pruned.yaml | sed -n 1,8p
cd $OUT && tileflow solve open.yaml 2>&1
tileflow search open.yaml --evals 200 --json - --quiet | grep '"proved"'
