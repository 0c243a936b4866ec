# Open trip counts are completed, and the report says how; a small space is searched to its end.
sed 's/m=32$/m=?/; s/l=8$/l=?/; s/l=4 n=64/l=?<=8 n=?{32,64}/' tests/golden/in/chain.yaml >$OUT/open.yaml
cd $OUT && tileflow eval open.yaml --strategy exhaustive | sed -n '1,/^$/p;/^mapping/,/^$/p'
tileflow eval open.yaml --strategy exhaustive --quiet --json - | grep -E '"(origin|method|proved|evaluations|stopped_by)"'
