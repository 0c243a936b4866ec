#!/bin/sh
# Runs `TILEFLOW check` on every malformed input here and compares what it says.
#   tests/bad/run.sh TILEFLOW [PREFIX]
# NAME.yaml    the input; NAME.args, if there is one, holds all the arguments instead (one
#              line, paths relative to this folder, NAME.yaml not implied)
# NAME.command the command, if it is not `check`
# NAME.err     the exact text expected on stderr; the exit status must be 2
# PREFIX       only the cases whose names start so (then no codes are missed)
# TF_UPDATE_GOLDEN=1 writes the .err files anew.
set -u
[ $# -ge 1 ] || { echo "usage: $0 TILEFLOW [PREFIX]" >&2; exit 2; }
tool=$(realpath "$1") || exit 2
prefix=${2:-}
cd "$(dirname "$0")" || exit 2
said=$(mktemp) || exit 2
trap 'rm -f "$said"' EXIT
passed=0
failed=0

for input in "$prefix"*.yaml; do
  name=${input%.yaml}
  case $name in part_*) continue ;; esac # second files of other cases
  args=$input
  [ -f "$name.args" ] && args=$(cat "$name.args")
  command=check
  [ -f "$name.command" ] && command=$(cat "$name.command")
  # shellcheck disable=SC2086 # the arguments are meant to split
  "$tool" $command $args >/dev/null 2>"$said" </dev/null
  status=$?
  [ -n "${TF_UPDATE_GOLDEN:-}" ] && cp "$said" "$name.err"
  if [ $status -ne 2 ]; then
    echo "$name: exit status $status, expected 2"
    failed=$((failed + 1))
  elif ! diff -u "$name.err" "$said"; then
    failed=$((failed + 1))
  else
    passed=$((passed + 1))
  fi
done

# Every code that reading can give (IO to OPEN, and LIMIT) has a case.
codes=$(sed -n 's/^  X([A-Z]*, "\(E_[A-Z]*\)").*/\1/p' ../../include/tileflow/diag.h |
  sed -n '1,/^E_LIMIT$/p')
for code in $codes; do
  [ -n "$prefix" ] && break
  grep -q "error\[$code\]" ./*.err && continue
  echo "no case gives $code"
  failed=$((failed + 1))
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
