# The same inputs give the same bytes, whatever --threads and --seed are.
f=tests/golden/in/softmax.yaml
tileflow eval $f --json - >$OUT/a
tileflow eval $f --json - --threads 7 --seed 3 --objective edp --time-limit 1 >$OUT/b
cmp $OUT/a $OUT/b && echo same
