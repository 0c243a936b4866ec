#!/bin/sh
# docs/FROM-THESIS.md says what it says of each row: its command runs, and prints the line that stands beside it.
#   thesis.sh TOOL [ROW...]          ROW: these alone
set -u
. "$(dirname "$0")/../lib.sh"
tool=$(realpath "$tool")
page=$root/docs/FROM-THESIS.md
shift
mkdir "$dir/bin" "$dir/run" && ln -s "$tool" "$dir/bin/tileflow" && cd "$dir/run" || exit 2
PATH=$dir/bin:$PATH
LC_ALL=C.UTF-8 # the tree is drawn with signs of Unicode
export LC_ALL
for folder in arch-specs workloads examples tests docs README.md; do ln -s "$root/$folder" .; done

# A row's number, state, command and line, by tabs; `\|` is a sign within a cell.
awk '
  /^\| [0-9]+ \|/ {
    gsub(/\\\|/, "\001")
    n = split($0, cell, / *\| */)
    for (i = 2; i < n; i++) gsub(/\001/, "|", cell[i])
    gsub(/^`|`$/, "", cell[5]); gsub(/^`|`$/, "", cell[6])
    printf "%s\t%s\t%s\t%s\n", cell[2], cell[4], cell[5], cell[6]
  }' "$page" >rows
tab=$(printf '\t')
while IFS=$tab read -r number state command line; do
  case " $* " in "  " | *" $number "*) ;; *) continue ;; esac
  case $command in *'tileflow plot '*) command -v gnuplot >/dev/null || { echo "row $number: not drawn, gnuplot is not there"; continue; } ;; esac
  spaced=spaced.$(printf %s "$command" | cksum | tr ' ' .) # rows may have a command in common
  if [ ! -e "$spaced" ]; then
    sh -c "$command" >said 2>&1 </dev/null
    tr -s ' ' <said | sed 's/^ //; s/ $//' >"$spaced"
  fi
  grep -qxF -- "$line" "$spaced" && continue
  echo "row $number: '$command' does not print '$line' but"
  head -n 8 "$spaced"
  failed=$((failed + 1))
done <rows

numbers=$(cut -f 1 rows | tr '\n' ' ')
[ "$numbers" = "$(seq -s ' ' 132) " ] || { echo "the page has not one row for each of 1 to 132: $numbers"; failed=$((failed + 1)); }
count() { cut -f 2 rows | grep -cx "$1"; }
total="Of 132 rows $(count works) work, $(count otherwise) are otherwise, $(count no) are not there."
grep -qF "$(echo "$total" | sed 's/^Of 132 rows //')" "$page" || { echo "the page does not say: $total"; failed=$((failed + 1)); }
[ "$(count no)" -le 8 ] || { echo "$(count no) rows are 'no', 8 at most"; failed=$((failed + 1)); }
[ $(($(count works) + $(count otherwise) + $(count no))) -eq 132 ] || { echo "a row has another state"; failed=$((failed + 1)); }
[ $failed -eq 0 ] && echo "132 rows as the page says"
exit $((failed > 0))
