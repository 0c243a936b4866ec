# A memory of three parts: what each holds and what passes it; one of them too small, though all of it together would fit; the formats of others have no parts.
tileflow eval tests/golden/in/parts.yaml --json $OUT/a.json --csv $OUT/a.csv | grep -A 8 '^memory'
sed -n '/"parts"/,/]/p' $OUT/a.json
grep true,part, $OUT/a.csv
tileflow explain tests/golden/in/parts.yaml | grep part
tileflow eval tests/golden/in/parts.yaml --set right=0.5 --json $OUT/b.json > $OUT/b.txt
grep -A 14 '"violations"' $OUT/b.json
tileflow export tests/golden/in/parts.yaml --to timeloop -o $OUT/x
