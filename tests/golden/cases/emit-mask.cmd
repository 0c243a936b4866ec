# The kernel's test has -inf in an input that is added as a mask; not where something else reads it, too, whose result would be infinite.
tileflow emit tests/golden/in/mask-read-twice.yaml --evals 20 -o "$OUT/twice" --quiet --no-test
sed '/G\[m\]/d' tests/golden/in/mask-read-twice.yaml >"$OUT/once.yaml"
tileflow emit "$OUT/once.yaml" --evals 20 -o "$OUT/once" --quiet --no-test
grep -c '? -INFINITY :' "$OUT/twice/test.c" "$OUT/once/test.c" | sed 's/.*test.c:/masks: /'
make -s -C "$OUT/twice" OPENMP= test >"$OUT/said" && echo passes
