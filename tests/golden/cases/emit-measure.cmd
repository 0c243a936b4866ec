# emit --measure: the fastest of the best mappings of the model is kept, both times in output, README and manifest; nothing is left
# behind.  `make` is played: kernel N takes N + 1 ms by the clock and 9 - N ms of processor time, the third one crashes; of every second one, which has two threads, the clock counts.
mkdir "$OUT/bin" "$OUT/tmp" && cat >"$OUT/bin/make" <<'END'
#!/bin/sh
n=${3##*/}
printf '#!/bin/sh\necho "kernel 0.%03d s, 1 GFLOP/s, %d thread%s, 0.00%d s of processor time"\n' $((n + 1)) $((n % 2 + 1)) "$([ $((n % 2)) = 0 ] || echo s)" $((9 - n)) >"$3/bench"
[ "$n" != 2 ] || printf '#!/bin/sh\necho "no luck"; exit 7\n' >"$3/bench"
chmod +x "$3/bench"
END
chmod +x "$OUT/bin/make"
PATH=$OUT/bin:$PATH TMPDIR=$OUT/tmp tileflow emit tests/golden/in/chain-open.yaml --target cpu --isa sse2 --strategy exhaustive --evals 2000 --measure 5 --no-test -o "$OUT/k" |
  sed "s|$OUT/||g"
sed -n '/measured/,$p' "$OUT/k/manifest.json"
sed -n '/^## Measured/,/^## Workspace/p' "$OUT/k/README.md"
ls "$OUT/tmp"
