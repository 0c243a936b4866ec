#!/bin/sh
# What the command line prints, byte by byte.
#   tests/golden/run.sh TILEFLOW [CASE...]
# A case is cases/NAME.cmd: a comment that says what it guards, then shell lines that call
# `tileflow`, run in the root of the sources with an empty folder $OUT.  Its stdout must be
# NAME.out, its stderr NAME.err (no such file: nothing), its exit status what NAME.status holds
# (no such file: 0).  TF_UPDATE_GOLDEN=1 writes these files anew.  TF_LESS: cases that are left out.
set -u
[ $# -ge 1 ] || { echo "usage: $0 TILEFLOW [CASE...]" >&2; exit 2; }
tool=$(realpath "$1") || exit 2
shift
cases=$(realpath "$(dirname "$0")")/cases
root=$(realpath "$(dirname "$0")/../..")
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin"
ln -s "$tool" "$scratch/bin/tileflow"
# shellcheck disable=SC2046 # pkg-config's words are meant to split
${CC:-cc} -std=c17 -Wall -Wextra -o "$scratch/bin/check_json" "$cases/../check_json.c" \
  $(pkg-config --cflags --libs jansson) || exit 2
PATH=$scratch/bin:$PATH
OUT=$scratch/out
export PATH OUT
unset LC_CTYPE LANG NO_COLOR
LC_ALL=C
export LC_ALL
cd "$root" || exit 2

# Leaves what a case says in $scratch/out.txt, err.txt and status.txt.
run() {
  rm -rf "$OUT" && mkdir "$OUT"
  sh "$cases/$1.cmd" >"$scratch/out.txt" 2>"$scratch/err.txt" </dev/null
  echo $? >"$scratch/status.txt"
}

update() {
  cp "$scratch/out.txt" "$cases/$1.out"
  rm -f "$cases/$1.err" "$cases/$1.status"
  [ ! -s "$scratch/err.txt" ] || cp "$scratch/err.txt" "$cases/$1.err"
  [ "$(cat "$scratch/status.txt")" = 0 ] || cp "$scratch/status.txt" "$cases/$1.status"
}

# same CASE PART DEFAULT: one of the three, against its file or, without one, the default.
same() {
  wanted=$cases/$1.$2
  [ -f "$wanted" ] || { printf '%s' "$3" >"$scratch/default" && wanted=$scratch/default; }
  diff -u "$wanted" "$scratch/$2.txt" >"$scratch/diff" && return
  echo "$1.$2:"
  cat "$scratch/diff"
  return 1
}

failed=0
number=0
[ $# -gt 0 ] || set -- $(cd "$cases" && ls ./*.cmd | sed 's|^\./||; s|\.cmd$||')
for name; do
  case " ${TF_LESS:-} " in *" $name "*) continue ;; esac
  number=$((number + 1))
  case $(sed 1q "$cases/$name.cmd") in
  '# '*) ;;
  *) echo "$name.cmd: the first line must say what it guards" && failed=$((failed + 1)) ;;
  esac
  run "$name"
  if [ "${TF_UPDATE_GOLDEN:-}" = 1 ]; then
    update "$name"
    continue
  fi
  good=yes
  same "$name" out '' || good=no
  same "$name" err '' || good=no
  same "$name" status '0
' || good=no
  [ $good = yes ] || { failed=$((failed + 1)) && sed 1q "$cases/$name.cmd"; }
done
echo "golden: $number cases, $failed failed"
[ $failed -eq 0 ] && [ $number -gt 0 ]
