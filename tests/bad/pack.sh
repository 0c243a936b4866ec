#!/bin/sh
# Joins malformed inputs, and what is said of them, in files by reader and error code: the other way round of unpack.sh.
#   tests/bad/pack.sh [ROOT]     what unpack.sh wrote there, with changes; else what lies here
# So a new case is two files here, NAME.yaml and NAME.err, until this is run.  What is not lines of text stays a file.
set -eu
here=$(dirname "$(realpath "$0")")
root=${1:-}
if [ -z "$root" ]; then
  root=$(mktemp -d)
  trap 'rm -rf "$root"' EXIT
  sh "$here/unpack.sh" "$root"
fi
cd "$root/tests/bad"

# Whether it is text of whole lines, none of them like those that part files.
is_text() {
  [ -z "$(tail -c 1 "$1")" ] && [ "$(LC_ALL=C tr -d '\0\r' <"$1" | wc -c)" -eq "$(wc -c <"$1")" ] && ! grep -qa '^-- [^ ]* --$' "$1"
}

for folder in */; do
  folder=${folder%/}
  rm -f "$here/$folder"/*.cases
  for file in $(ls "$folder" | LC_ALL=C sort); do
    base=${file%.*}
    if ! is_text "$folder/$file"; then
      cmp -s "$folder/$file" "$here/$folder/$file" || cp "$folder/$file" "$here/$folder/$file"
      continue
    fi
    code=
    [ -f "$folder/$base.err" ] && code=$(sed -n 's/.*error\[E_\([A-Z]*\)\].*/\1/p' "$folder/$base.err" | head -n 1 | tr A-Z a-z)
    case $file in part_*) code=parts ;; esac
    { echo "-- $file --"; cat "$folder/$file"; } >>"$here/$folder/${code:-other}.cases"
    rm -f "$here/$folder/$file"
  done
done
