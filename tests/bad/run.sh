#!/bin/sh
# Runs `tileflow` on every malformed input here and compares what it says.
#   tests/bad/run.sh TILEFLOW [PREFIX]
# NAME.yaml  the input, in the folder of what reads it (unpack.sh; in CODE.cases, or a file of its own).  Its first comment of
#            the form `# tileflow COMMAND ARGUMENTS` is what runs, in the folder; else `tileflow check NAME.yaml`.
#            part_*.yaml are second files of other cases
# NAME.err   the exact text expected on stderr; the exit status must be 2
# PREFIX     only the cases that start so (`mapping/`, `spec/dup_`; then no codes are missed)
# TF_UPDATE_GOLDEN=1 writes the expected texts anew.
set -u
[ $# -ge 1 ] || { echo "usage: $0 TILEFLOW [PREFIX]" >&2; exit 2; }
tool=$(realpath "$1") || exit 2
prefix=${2:-}
here=$(dirname "$(realpath "$0")")
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
sh "$here/unpack.sh" "$work" && cd "$work/tests/bad" || exit 2
said=$work/said
passed=0
failed=0

# FILE<tab>ARGUMENTS of each case.
awk 'BEGIN {
  for (i = 1; i < ARGC; i++) {
    words = ""
    while (words == "" && (getline line < ARGV[i]) > 0)
      if (index(line, "# tileflow ") == 1) words = substr(line, 12)
    close(ARGV[i])
    print ARGV[i] "\t" words
  }
}' "$prefix"*/*.yaml "$prefix"*.yaml >"$said.cases"

tab=$(printf '\t')
while IFS=$tab read -r input arguments; do
  folder=${input%/*} name=${input##*/}
  name=${name%.yaml}
  [ -f "$input" ] || continue # the pattern matched nothing
  case $name in part_*) continue ;; esac
  # shellcheck disable=SC2086 # the arguments are meant to split
  (cd "$folder" && exec "$tool" ${arguments:-check $name.yaml}) >/dev/null 2>"$said" </dev/null
  status=$?
  [ -n "${TF_UPDATE_GOLDEN:-}" ] && cp "$said" "$folder/$name.err"
  if [ $status -ne 2 ]; then
    echo "$folder/$name: exit status $status, expected 2"
    failed=$((failed + 1))
  elif ! cmp -s "$folder/$name.err" "$said"; then
    diff -u "$folder/$name.err" "$said"
    failed=$((failed + 1))
  else
    passed=$((passed + 1))
  fi
done <"$said.cases"
[ -z "${TF_UPDATE_GOLDEN:-}" ] || sh "$here/pack.sh" "$work" || exit 2

# A case outside the folders would never run.
for stray in "$here"/*.*; do
  case $stray in */run.sh | */pack.sh | */unpack.sh) continue ;; esac
  echo "$stray lies in no reader's folder"
  failed=$((failed + 1))
done

# Every code that reading can give (IO to OPEN, and LIMIT) has a case.
codes=$(sed -n 's/^  X([A-Z]*, "\(E_[A-Z]*\)").*/\1/p' "$here/../../include/tileflow/diag.h" |
  sed -n '1,/^E_LIMIT$/p')
for code in $codes; do
  [ -n "$prefix" ] && break
  grep -q "error\[$code\]" ./*/*.err && continue
  echo "no case gives $code"
  failed=$((failed + 1))
done
echo "$passed passed, $failed failed"
[ $passed -gt 0 ] && [ $failed -eq 0 ]
