#!/bin/sh
# Every command reads Timeloop's and TileFlow's files as `import` does: `eval` of them says what `import`, then `eval`, says,
# in the same JSON, and `check` of malformed ones what `import` says.
#   tests/foreign.sh TILEFLOW
set -u
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")" || exit 2
same=0

# A set of files; where no mapping is whole, `check` instead: a search need not be run twice.
compare() {
  "$tool" import "$@" -o "$dir/native.yaml" --quiet 2>"$dir/err" || { echo "import $*: $(cat "$dir/err")"; failed=$((failed + 1)); return; }
  command="eval --json -"
  grep -q '^mapping' "$dir/native.yaml" && ! grep -q '=?' "$dir/native.yaml" || command=check
  # shellcheck disable=SC2086 # the words are meant to split
  "$tool" $command "$dir/native.yaml" >"$dir/want" 2>/dev/null
  want=$?
  # shellcheck disable=SC2086
  "$tool" $command "$@" --quiet >"$dir/got" 2>"$dir/err"
  got=$?
  [ "$command" = check ] && : >"$dir/want"
  open=$(grep -c 'E_OPEN' "$dir/err")
  if [ $got -eq $want ] && { [ $got -ne 2 ] || [ "$open" -gt 0 ]; } && cmp -s "$dir/want" "$dir/got"; then
    same=$((same + 1))
  else
    echo "$command $*: exit status $got, of the imported text $want"
    diff "$dir/want" "$dir/got" | head -5
    head -5 "$dir/err"
    failed=$((failed + 1))
  fi
}

for f in data/timeloop/*.yaml data/import/conv-0*.yaml data/import/tileflow-corners.yaml; do compare "$f"; done
compare data/import/conv-04.yaml data/import/conv-tables.yaml
for d in data/tileflow/*/; do # each mapping with every problem that it is of, on the first machine
  arch=$(ls "$d"arch/*.yaml | head -1)
  macro=$(ls "$d"macro/*.yaml "${d}macro.yaml" 2>/dev/null | head -1)
  for m in "$d"map/*.yaml; do
    for p in "$d"prob/*.yaml; do
      # shellcheck disable=SC2086 # none, or one
      "$tool" import "$arch" "$p" "$m" $macro --quiet >/dev/null 2>&1 && compare "$arch" "$p" "$m" $macro
    done
  done
done

# stdin, a native mapping beside a foreign machine, each file once.
f=data/timeloop/case004.yaml
"$tool" eval "$f" --json - >"$dir/want" 2>/dev/null
"$tool" eval - --json - <"$f" >"$dir/got" 2>/dev/null && cmp -s "$dir/want" "$dir/got" || { echo "eval - differs"; failed=$((failed + 1)); }
"$tool" eval ../examples/matmul.yaml --json - >"$dir/want"
"$tool" eval --json - - <../examples/matmul.yaml >"$dir/got" && cmp -s "$dir/want" "$dir/got" || { echo "eval - differs"; failed=$((failed + 1)); }

cd bad || exit 2
for f in *.command; do
  name=${f%.command}
  [ "$(cat "$f")" = import ] && [ ! -f "$name.args" ] && [ "$name" != import_not_timeloop ] || continue
  "$tool" check "$name.yaml" >/dev/null 2>"$dir/err"
  if [ $? -eq 2 ] && cmp -s "$name.err" "$dir/err"; then
    same=$((same + 1))
  else
    echo "check $name.yaml does not say what import says:"
    diff "$name.err" "$dir/err" | head -6
    failed=$((failed + 1))
  fi
done
echo "foreign: $same the same, $failed failed"
[ $failed -eq 0 ] && [ $same -gt 0 ]
