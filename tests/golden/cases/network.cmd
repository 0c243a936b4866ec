# A network with a topology: its table, the bottleneck, energy of hops; explained; refused by no format but told; and the other topologies.
tileflow eval tests/golden/in/mesh.yaml
tileflow eval tests/golden/in/mesh.yaml --json - | grep -A4 '"network"'
tileflow explain tests/golden/in/mesh.yaml | sed -n 1,9p
for t in torus tree bus crossbar; do
  sed "s/topology: mesh/topology: $t/" tests/golden/in/mesh.yaml >"$OUT/$t.yaml"
  tileflow eval "$OUT/$t.yaml" | grep -E "^cycles|^energy|^Buffer network"
done
sed "s/network: {topology.*//" tests/golden/in/mesh.yaml >"$OUT/none.yaml"
tileflow eval "$OUT/none.yaml" | grep -E "^cycles|^energy|network"
tileflow export tests/golden/in/mesh.yaml --to timeloop -o "$OUT/t" 2>&1 | grep warning
