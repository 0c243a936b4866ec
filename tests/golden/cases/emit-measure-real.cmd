# emit --measure with the compiler and the clock there are: whatever they say, the kernel kept is the one with the least time, and passes its test.
tileflow emit tests/golden/in/chain-open.yaml --target cpu --strategy exhaustive --evals 2000 --measure 2 -o "$OUT/k" --quiet --no-test
sed -n 's/.*"measured": {.*"seconds": \([^,]*\),.*/\1/p' "$OUT/k/manifest.json" >"$OUT/kept"
sed -n '/"measured"/,$p' "$OUT/k/manifest.json" | sed -n 's/^    {"rank".*"seconds": \([^}]*\)}.*/\1/p' | sort -g | head -n 1 | cmp - "$OUT/kept" && echo least
awk '{ print ($1 > 0 ? "some time" : "no time") }' "$OUT/kept"
make -s -C "$OUT/k" OPENMP= test >"$OUT/said" && echo passes
