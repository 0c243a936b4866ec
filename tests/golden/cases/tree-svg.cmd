# The picture; names are escaped.
sed 's/name: chain/name: "a<b> \& c"/' tests/golden/in/chain.yaml >$OUT/chain.yaml
tileflow tree $OUT/chain.yaml --svg $OUT/a.svg && cat $OUT/a.svg
