# A mapping that is given is where it begins, and is compared: beaten, not beaten, and not fitting; what is next leaves its file out.
arch=arch-specs/edge.yaml work=workloads/attention/g1.yaml
tileflow best $arch $work workloads/dataflows/edge/attention-tileflow.yaml --evals 300 --json $OUT/given.json
grep -E '"(method|origin)"' $OUT/given.json
sed -n '/"given": {/,/}/p' $OUT/given.json
tileflow best $arch $work workloads/dataflows/edge/attention-layerwise.yaml --evals 300 | grep -E 'mapping given|tileflow eval'
tileflow best tests/golden/in/chain.yaml --evals 300 --set seq=256 | grep -E 'mapping given|Next|tileflow eval'
sed 's/capacity: 64 KiB/capacity: 1 KiB/' tests/golden/in/chain.yaml | tileflow best - --evals 300 | grep -E 'mapping given|Next|tileflow eval'
