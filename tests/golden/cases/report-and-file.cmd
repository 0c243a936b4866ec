# --json FILE writes the file and prints the report; --json - prints the JSON alone.
f=tests/golden/in/chain.yaml
tileflow eval $f --json $OUT/a.json | sed 1q
tileflow eval $f --json - | cmp - $OUT/a.json && echo same
tileflow eval $f --csv - --json $OUT/b.json | sed 1q
