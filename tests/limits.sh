#!/bin/sh
# docs/FORMATS.md, "Limits", has the number of every limit that reading a file holds to.  Prints each that is missing.
#   tests/limits.sh ROOT
set -u
cd "$1" || exit 2
section=$(sed -n '/^## Limits/,/^## What/p' docs/FORMATS.md | tr ',;.' '   ')
missing=0 n=0
for limit in $(sed -n 's/^ *\(TF_MAX_[A-Z]*\) = \([0-9]*\),*.*/\1=\2/p' model/spec/reader.h model/tree/*.h include/tileflow/tree.h | sort -u); do
  n=$((n + 1))
  case " $(echo $section) " in
  *" ${limit#*=} "*) ;;
  *) echo "$limit: not in docs/FORMATS.md, Limits" && missing=$((missing + 1)) ;;
  esac
done
echo "$n limits, $missing missing"
[ $n -ge 12 ] && [ $missing -eq 0 ]
