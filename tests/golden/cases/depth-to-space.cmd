# Indices with / and %: the example's figures, a loop over a dim that is cut, the backward workload.
tileflow eval examples/depth-to-space.yaml
printf 'mapping: |\n  DRAM for h=2\n    Buffer\n      op O\n' >"$OUT/own.yaml"
sed '/^mapping:/,$d' examples/depth-to-space.yaml >"$OUT/rest.yaml"
tileflow check "$OUT/rest.yaml" "$OUT/own.yaml" 2>&1 | grep E_NAME | sed "s|.*/own|own|"
tileflow grad "$OUT/rest.yaml" --by X,W | sed 1d
