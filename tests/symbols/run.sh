#!/bin/sh
# What the headers of include/tileflow declare, and nothing else, is what either library exports; a program that has functions
# of its own with all the library's other names gets the library's answers.
#   tests/symbols/run.sh BUILD [CC]
set -eu
build=$(realpath "$1")
cc=${2:-cc}
cd "$(dirname "$0")/../.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

# Names that stand before a parenthesis in declarations outside braces; those behind TF_API come a second time with it.
for header in include/tileflow/*.h; do echo "#include \"$header\""; done |
  "$cc" -E -std=c17 -Iinclude -D_POSIX_C_SOURCE=200809L -DTF_API=TF_API -x c - >"$dir/all"
awk '
  /^# [0-9]/ { ours = $3 ~ /include\/tileflow\//; next }
  !ours { next }
  { text = text " " $0 }
  END {
    gsub(/__attribute__ *\(\([^;]*\)\)/, "", text)
    while (gsub(/\{[^{}]*\}/, "", text)) ;
    n = split(text, declarations, ";")
    for (i = 1; i <= n; i++) {
      d = declarations[i]
      if (d ~ /^ *(typedef|extern "C")/ || !match(d, /[A-Za-z_0-9]+ *\(/)) continue
      print substr(d, RSTART, RLENGTH - 1) (d ~ /^ *TF_API / ? "" : " without TF_API")
    }
  }' "$dir/all" | sort >"$dir/declared"
[ "$(wc -l <"$dir/declared")" -gt 100 ] || { echo "symbols: too few declarations found"; exit 1; }
nm -D --defined-only "$build/libtileflow.so" | awk 'NF > 2 { print $3 }' | sort >"$dir/shared"
nm -g --defined-only "$build/libtileflow.a" | awk 'NF > 2 { print $3 }' | sort >"$dir/static"
for kind in shared static; do
  diff "$dir/declared" "$dir/$kind" >"$dir/differences" && continue
  echo "declared in include/tileflow (<), exported by the $kind library (>):"
  grep '^[<>]' "$dir/differences"
  failed=1
done

# All other names of the library's, as a program's own.
nm -g --defined-only "$build/libtileflow_inside.a" | awk 'NF > 2 { print $3 }' | sort -u | comm -23 - "$dir/static" >"$dir/private"
{
  printf '#include <stdio.h>\n#include <stdlib.h>\n'
  sed 's/.*/void &(void); void &(void) { puts("the program'"'"'s own &() was called"); abort(); }/' "$dir/private"
} >"$dir/own.c"
"$cc" -std=c17 -Iinclude tests/symbols/plan.c -o "$dir/alone" "$build/libtileflow.so"
LD_LIBRARY_PATH=$build "$dir/alone" >"$dir/expected"
libraries=$(sed -n 's/^Libs.private: //p' "$build/tileflow.pc")
for library in libtileflow.so libtileflow.a; do
  # shellcheck disable=SC2046,SC2086
  "$cc" -std=c17 -w -Iinclude tests/symbols/plan.c "$dir/own.c" -o "$dir/both" "$build/$library" \
    $(pkg-config --libs yaml-0.1 sqlite3 nettle libprotobuf-c) $libraries &&
    LD_LIBRARY_PATH=$build "$dir/both" >"$dir/said" && cmp -s "$dir/said" "$dir/expected" && continue
  echo "$library beside a program's own functions:"
  head -n 5 "$dir/said"
  failed=1
done
[ $failed -eq 0 ] && echo "symbols: $(wc -l <"$dir/declared") exported, $(wc -l <"$dir/private") of a program's own beside them"
exit $failed
