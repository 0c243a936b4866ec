# The example that each help ends with runs.
for c in eval check tree bound diff; do
  tileflow $c --help | sed -n '/^example/,$p' | sed 1d >$OUT/example
  sh $OUT/example >$OUT/said && echo "$c: $(($(wc -l <$OUT/said) > 1)) status $?"
done
