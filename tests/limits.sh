#!/bin/sh
# docs/FORMATS.md, "Limits", has the number of every limit that reading a file holds to.  Prints each that is missing.  And
# arch-specs/cores/fitted.csv has the figures of the code that were fitted to a processor, with their values; comments of
# the code that name one instead are no more than there were.  C files that documents name are there.
#   tests/limits.sh ROOT
set -u
cd "$1" || exit 2
section=$(sed -n '/^## Limits/,/^## What/p' docs/FORMATS.md | tr ',;.' '   ')
missing=0 n=0
for limit in $(sed -n 's/^ *\(TF_MAX_[A-Z]*\) = \([0-9]*\),*.*/\1=\2/p' model/input/reader.h model/tree/*.h include/tileflow/tree.h | sort -u); do
  n=$((n + 1))
  case " $(echo $section) " in
  *" ${limit#*=} "*) ;;
  *) echo "$limit: not in docs/FORMATS.md, Limits" && missing=$((missing + 1)) ;;
  esac
done
echo "$n limits, $missing missing"
rows=0
while IFS=, read -r file name value date _; do
  [ "$file" = file ] && continue
  rows=$((rows + 1))
  grep -qE "(^|[^A-Z_a-z])${name} = ${value}[^0-9.]" "$file" || { echo "$file has no '$name = $value', as fitted.csv says"; missing=$((missing + 1)); }
  case $date in 20[0-9][0-9]-[01][0-9]-[0-3][0-9]) ;; *) echo "fitted.csv: $name has no date" && missing=$((missing + 1)) ;; esac
done <arch-specs/cores/fitted.csv
most=35
stories=$(grep -rnE 'Zen [0-9]|Sapphire|nvcc 1[0-9]|gcc 1[0-9]|clang 1[0-9]|(an|of) [HA][12]00' --include='*.[ch]' base certify model grad search sweep codegen \
  planner net train tune cli include | grep -vE '^[^:]*:[0-9]*:.*"' | wc -l)
[ "$stories" -le $most ] || { echo "$stories lines of comments name a processor or a compiler's version, $most may: such figures go to fitted.csv"; missing=$((missing + 1)); }
# docs/READING.md, the ways of three figures: each function is defined in a file of its row.
# A C file that a document names is there, or is one that is emitted; HOWTO-add tells of trials.
for file in $(ls docs/*.md | grep -v HOWTO-add | xargs grep -ohE '`[a-z_/]+\.c`' | tr -d '`' | sort -u); do
  case ${file##*/} in kernel*.c | test*.c | bench.c | network*.c | g1.c) continue ;; esac
  [ -e "$file" ] || [ -n "$(find base certify model grad search sweep codegen planner net train tune cli examples bench tests -path "*/$file")" ] ||
    { echo "docs name $file, which is not there"; missing=$((missing + 1)); }
done
steps=0
sed -n '/^## Three figures/,/^## Glossary/s/^| \(`[^|]*\) | \([^|]*\) |$/\1|\2/p' docs/READING.md >"${steps_at:=$(mktemp)}"
while IFS='|' read -r files names; do
  files=$(echo "$files" | tr -d '`,')
  for name in $(echo "$names" | sed 's/([^)]*)//g' | tr -d '`,;'); do
    steps=$((steps + 1))
    # shellcheck disable=SC2086 # file names hold no spaces
    grep -qE "^[a-z].*[ *]$name\(" $files || { echo "docs/READING.md: $name is not in $files"; missing=$((missing + 1)); }
  done
done <"$steps_at"
rm -f "$steps_at"
[ $steps -ge 40 ] || { echo "docs/READING.md has $steps steps of three figures"; missing=$((missing + 1)); }
echo "$steps steps; $rows fitted figures; $stories lines of comments that name a processor or a compiler's version"
[ $n -ge 12 ] && [ $rows -ge 10 ] && [ $missing -eq 0 ]
