# emit runs the kernel's test before the folder appears: one that fails, one that passes, neither make nor compiler, not asked for, a folder that is there
# already, for which none is run.  `make` and the compiler are played; nothing else is left behind.
mkdir "$OUT/none" "$OUT/bad" "$OUT/good" "$OUT/tmp"
printf '#!/bin/sh\nexit 0\n' >"$OUT/cc"
printf '#!/bin/sh\necho "E: error 2 of the norm"\nexit 2\n' >"$OUT/bad/make"
printf '#!/bin/sh\necho "$4 in ${3##*/}" >>"$OUT/runs"\n' >"$OUT/good/make"
chmod +x "$OUT/cc" "$OUT/bad/make" "$OUT/good/make"
ln -s "$(command -v tileflow)" "$(command -v sed)" "$OUT/none"
export TMPDIR="$OUT/tmp" CC="$OUT/cc"
ask() {
  to=$1
  shift
  "$@" emit tests/golden/in/chain-open.yaml --target cpu --isa portable --strategy exhaustive --evals 2000 --quiet $more -o "$OUT/$to" 2>&1 | sed "s|$OUT/||g"
  [ -d "$OUT/$to" ] && echo "$to is there" || echo "$to is not there"
}
more=
PATH=$OUT/bad:$PATH ask failed tileflow
PATH=$OUT/good:$PATH ask passed tileflow
PATH=$OUT/good:$PATH ask passed tileflow
PATH=$OUT/none ask untested tileflow
more=--no-test
PATH=$OUT/bad:$PATH ask unasked tileflow
cat "$OUT/runs"
ls "$OUT/tmp"
