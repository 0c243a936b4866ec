# All figures as one table; a name with a comma is quoted.
sed 's/name: chain/name: "chain, fused"/' tests/golden/in/chain.yaml >$OUT/comma.yaml
tileflow eval $OUT/comma.yaml --csv=-
