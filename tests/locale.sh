#!/bin/sh
# Public functions that report errors or return a text read or write numbers, so they go into the C locale first
# (base/locale.h).  Prints each that does not, and fails.
#   tests/locale.sh ROOT
set -u
cd "$1" || exit 2
missing=0 n=0
# names of functions with diagnostics that they may add to, or whose result is a text of the heap
names=$(grep -hv '^#' include/tileflow/*.h | tr '\n' ' ' | sed 's|/\*[^*]*\*\**\([^/*][^*]*\*\**\)*/||g; s/[;{}]/&\n/g' |
  grep -E '^ *(TF_API )?(const )?[a-z_]+ \**tf_[a-z_0-9]+\(' | grep -v typedef |
  grep -E 'tf_diags \*d[,)]|^ *(TF_API )?char \*tf_' | grep -vE 'const tf_diags \*d|tf_diags_|tf_out_of_memory' |
  sed 's/^[^(]*[ *]\(tf_[a-z_0-9]*\)(.*/\1/' | sort -u)
for name in $names; do
  n=$((n + 1))
  grep -rhE -A8 "^[a-z][a-z_ ]*[ *]$name\(" base model search sweep codegen planner grad net train tune --include='*.c' |
    grep -q TF_IN_C_LOCALE || {
    echo "$name: does not begin with TF_IN_C_LOCALE"
    missing=$((missing + 1))
  }
done
echo "$n functions, $missing without"
[ $n -gt 50 ] && [ $missing -eq 0 ]
