# A point of a masked workload says how much of it is skipped.
{ cat tests/golden/in/causal.yaml && printf 'sweep:\n  name: masked\n  method: eval\n'; } >"$OUT/s.yaml"
tileflow sweep "$OUT/s.yaml" --store "$OUT/s.tfdb" --quiet && tileflow results "$OUT/s.tfdb" --csv - | cut -d, -f4-6,21-
