# Two mappings of one workload on one machine: text, then the same with the sides named and swapped.
sed '/^mapping/,$d' tests/golden/in/chain.yaml >$OUT/common.yaml
sed -n '/^mapping/,$p' tests/golden/in/chain.yaml >$OUT/kept.yaml
cd $OUT && cp "$OLDPWD/tests/golden/in/chain-apart.yaml" apart.yaml
tileflow diff apart.yaml kept.yaml common.yaml
echo "status $?"
tileflow diff common.yaml kept.yaml -- common.yaml apart.yaml --csv - | grep -E '^(kind|total|words,DRAM)'
tileflow diff kept.yaml common.yaml apart.yaml --quiet --json - | sed -n '1,60p'
