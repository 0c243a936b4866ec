# --set changes a param: half the sequence, a mapping that fits it no more would be an error.
sed 's/l=512/l=256/; s/l=8$/l=4/; s/m=32$/m=16/' tests/golden/in/chain.yaml >$OUT/half.yaml
tileflow eval $OUT/half.yaml --set seq=256 --json $OUT/a.json --quiet
grep -m 1 '"points"' $OUT/a.json
