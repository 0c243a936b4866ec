#!/bin/sh
# Writes every malformed input, and what is said of it, as a file of its own.
#   tests/bad/unpack.sh ROOT     ROOT/tests/bad/READER/NAME.yaml, NAME.err, ..., beside links to what they read
# READER/CODE.cases holds the cases of an error code, each file after a line `-- NAME --`; what is not lines of text lies
# beside them as it is.
set -eu
[ $# -eq 1 ] || { echo "usage: $0 ROOT" >&2; exit 2; }
from=$(dirname "$(realpath "$0")")
mkdir -p "$1/tests/bad"
for known in arch-specs workloads tests/data tests/golden; do ln -s "$from/../../$known" "$1/$known"; done
cd "$from"
for folder in */; do
  folder=${folder%/}
  mkdir "$1/tests/bad/$folder"
  for file in "$folder"/*; do
    case $file in
    *.cases) LC_ALL=C awk -v to="$1/tests/bad/$folder/" '
      /^-- [^ ]* --$/ { if (name != "") close(name); name = to $2; printf "" >name; next }
      { print >name }' "$file" ;;
    *) cp "$file" "$1/tests/bad/$folder/" ;;
    esac
  done
done
