# Names with commas and quotes stay one cell.
sed 's/name: chain/name: "a, \\"b\\""/' tests/golden/in/chain.yaml >"$OUT/named.yaml"
tileflow bound "$OUT/named.yaml" --evals 300 --csv - --quiet | head -n 2 | cut -c 1-40
