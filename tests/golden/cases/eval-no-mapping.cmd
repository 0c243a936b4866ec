# Without a mapping one is searched for, and the JSON says so.
tileflow eval arch-specs/edge.yaml workloads/attention/g1.yaml --evals 3000 --quiet --json $OUT/r.json
grep -E '"(origin|feasible|method|objective|evaluations|seed|stopped_by)"' $OUT/r.json
tileflow eval arch-specs/edge.yaml workloads/attention/g1.yaml --evals 3000 --threads 1 | sed -n 1p
