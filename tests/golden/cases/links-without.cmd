# Figures of links of a network that has none: warned of at their place, whatever the command; not with a topology, nor with --quiet.
cat >$OUT/links.yaml <<'Y'
architecture:
  memories:
  - {name: DRAM}
  - {name: Tile, mesh: [4, 4], network: {width: 2, hop-latency: 3, energy-per-hop: 1 pJ}}
  compute: [{name: mac, ops: [mac]}]
workload:
  dims: {m: 16, n: 16, k: 16}
  ops: ["C[m,n] += A[m,k] * B[k,n]"]
Y
tileflow check $OUT/links.yaml 2>&1 | sed "s,$OUT/,,g"
tileflow bound $OUT/links.yaml 2>&1 >/dev/null | sed "s,$OUT/,,g"
tileflow check --quiet $OUT/links.yaml
sed 's/{width/{topology: bus, width/' $OUT/links.yaml >$OUT/bus.yaml
tileflow check $OUT/bus.yaml
