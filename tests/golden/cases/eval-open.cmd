# Open trip counts: each is an error at its place.
sed 's/m=32$/m=?/; s/l=4 n=64/l=?<=8 n=?{32,64}/' tests/golden/in/chain.yaml >$OUT/open.yaml
cd $OUT && tileflow eval open.yaml
