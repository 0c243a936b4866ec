# emit --measure without make, with a compiler that fails, with kernels that do not end well: told, status 1, and nothing is written.
mkdir "$OUT/none" "$OUT/bad" "$OUT/tmp"
printf '#!/bin/sh\necho "cc: this is no compiler"\nexit 2\n' >"$OUT/bad/make" && chmod +x "$OUT/bad/make"
ln -s "$(command -v tileflow)" "$OUT/none/tileflow"
export TMPDIR="$OUT/tmp"
ask() { "$@" emit tests/golden/in/chain-open.yaml --target cpu --isa sse2 --strategy exhaustive --evals 2000 --measure 2 -o "$OUT/k"; echo "status $?"; }
PATH=$OUT/none ask tileflow
PATH=$OUT/bad:$PATH ask tileflow
ls "$OUT" "$OUT/tmp" | grep -v :
