# Architectures and mappings of AccelForge: expressions, scales, ports, arrays, tolls, several units; tiles, splits, homes; templates.  What is counted
# equals AccelForge's own (bench/accelforge.py --files), but where a warning says otherwise.
array=tests/data/import/accelforge-array.yaml fused=tests/data/import/accelforge-fused.yaml
tileflow import $array 2>&1
tileflow eval $array
tileflow import $fused --set N=2
tileflow eval $fused --set N=2 --set SIZE=1024
tileflow import $fused --set N=2 --set O=3 2>&1
tileflow import $fused 2>&1
# What is written is read again, and means the same.
tileflow import $array -o $OUT/native.yaml --quiet && tileflow import $fused --set N=2 --set SIZE=1024 -o $OUT/chain-native.yaml
tileflow eval $array 2>$OUT/warnings | sed 1d >$OUT/eval-foreign.txt
tileflow eval $OUT/native.yaml | sed 1d >$OUT/eval-native.txt
diff $OUT/eval-foreign.txt $OUT/eval-native.txt
# Sections in files of their own; without a mapping, units run what enables them.
sed '/^workload/,$d' $fused >$OUT/two.yaml
sed '1,/^workload/{/^workload/!d}; /^mapping/,$d' $fused >$OUT/chain.yaml
tileflow import $OUT/two.yaml $OUT/chain.yaml --set N=1 | sed -n '/compute/,/^workload/p'
tileflow import $OUT/two.yaml 2>&1 | sed "s,$OUT/,,g"
# Where counts differ, a warning says so at its place.
cat >$OUT/apart.yaml <<'Y'
mapping:
  nodes:
  - !Storage {tensors: [T0, W0, T1, S], component: Far}
  - !Sequential
    nodes:
    - !Nested
      nodes:
      - !Temporal {rank_variable: m, tile_shape: 1}
      - !Storage {tensors: [T0, W0, T1], component: Near}
      - !Temporal {rank_variable: n0, tile_shape: 1}
      - !Temporal {rank_variable: n1, tile_shape: 1}
      - !Compute {einsum: T1, component: Pairs}
    - !Nested
      nodes:
      - !Storage {tensors: [S], component: Near}
      - !Temporal {rank_variable: n1, tile_shape: 1}
      - !Storage {tensors: [T1], component: Near}
      - !Temporal {rank_variable: m, tile_shape: 1}
      - !Compute {einsum: S, component: Plain}
Y
tileflow import $OUT/two.yaml $OUT/chain.yaml $OUT/apart.yaml --set N=1 2>&1 | sed "s,$OUT/,,g" | sed '/^architecture/,$d'
