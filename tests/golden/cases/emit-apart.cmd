# Columns that begin inside of a panel are not read from panels that a caller lays out: the kernel's test compares results with and without.
tileflow emit tests/golden/in/columns-apart.yaml --isa portable -o "$OUT/k" --quiet --no-test
make -s -C "$OUT/k" OPENMP= test >"$OUT/said" && echo passes
sed 's/u=8/u=16/; s/y + 7/y/; s/y: 8/y: 16/; s/y=8/y=16/' tests/golden/in/columns-apart.yaml >"$OUT/whole.yaml"
tileflow emit "$OUT/whole.yaml" --isa portable -o "$OUT/whole" --quiet --no-test
for k in k whole; do grep -c 'size_t kernel_packed' "$OUT/$k/kernel.h"; done
true
