# Tiles that zeros leave out: what is left of what inner memories fetch, of points and of the time; without `tiles` the rules leave nothing out; what bounds know of it; Timeloop's rule between memories.
tileflow eval examples/pruned-tiles.yaml | sed -n '1,/^Slack/p; /^What zeros/,$p'
sed 's/, tiles: true//' examples/pruned-tiles.yaml >$OUT/points.yaml
tileflow eval $OUT/points.yaml | sed -n '/^cycles/,/^DRAM/p'
tileflow bound examples/pruned-tiles.yaml | sed -n 1,4p
tileflow explain examples/pruned-tiles.yaml | grep Zeros
sed '/^mapping/,$d' examples/pruned-tiles.yaml >$OUT/open.yaml
cd $OUT && tileflow search open.yaml --evals 300 --threads 1 --json - --quiet | grep '"upper_bounds"'
cd - >$OUT/from
sed 's/^  - target: Back$/&\n    action-optimization:\n    - {type: skipping, options: [{target: I, condition-on: [W]}]}/' tests/data/import/sparse-window.yaml >$OUT/window.yaml
tileflow import $OUT/window.yaml 2>$OUT/said | grep skipping
