# The commands there are, and the help of each.
tileflow --version
tileflow --help
for c in eval check tree bound; do
  echo "== $c"
  tileflow $c --help
done
tileflow help eval | cmp - $OUT/eval 2>/dev/null || tileflow eval -h >$OUT/eval
tileflow help eval | cmp - $OUT/eval && echo same
