# Leakage: a part of the energy in the report, JSON, CSV, bound and a difference; written to Timeloop's tables and read back.
tileflow eval tests/golden/in/leaky.yaml | head -n 12
tileflow eval tests/golden/in/leaky.yaml --json - | grep -E 'leakage|energy_pj'
tileflow eval tests/golden/in/leaky.yaml --csv - | cut -d, -f1,2,17- | grep -v tensor
tileflow bound tests/golden/in/leaky.yaml | sed -n 3,5p
tileflow best tests/golden/in/leaky.yaml --objective energy | sed -n '/^Of the energy/,/^$/p'
sed 's/leakage: 100 pJ/leakage: 50 pJ/' tests/golden/in/leaky.yaml >"$OUT/half.yaml"
tileflow diff tests/golden/in/leaky.yaml "$OUT/half.yaml" | grep -i leakage
tileflow export tests/golden/in/leaky.yaml --to timeloop -o "$OUT/t" >"$OUT/said" 2>&1
grep leak "$OUT/t/ERT.yaml"
tileflow import "$OUT"/t/*.yaml 2>"$OUT/said" | grep leakage
