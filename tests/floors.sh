#!/bin/sh
# The one direction of docs/ARCHITECTURE.md: a room includes only from the floors below it, rooms on
# one floor do not include each other, the CLI sees public headers only, and only model/yaml sees
# yaml.h.  Also: no file over 800 lines.
cd "$(dirname "$0")/.." || exit 1
status=0
complain() { echo "floors: $*"; status=1; }

floor() {
  case $1 in
  base) echo 0 ;; model/yaml) echo 1 ;; model/spec) echo 2 ;; model/tree) echo 3 ;;
  model/cost | model/import) echo 4 ;; search | codegen) echo 5 ;; cli) echo 6 ;;
  *) echo 9 ;;
  esac
}

for room in base model/yaml model/spec model/tree model/cost model/import search codegen cli; do
  [ -d "$room" ] || continue
  for file in "$room"/*.[ch]; do
    [ -f "$file" ] || continue
    sed -n 's/^#include "\([^"]*\)".*/\1/p' "$file" > "${TMPDIR:-/tmp}/floors.$$"
    while read -r path; do
      other=${path%/*}
      case $path in
      tileflow/*) continue ;;
      esac
      [ "$other" = "$room" ] && continue
      [ "$room" = cli ] && complain "$file includes $path: the CLI sees public headers only"
      [ "$(floor "$other")" -lt "$(floor "$room")" ] ||
        complain "$file includes $path: $room may not look up at $other"
    done < "${TMPDIR:-/tmp}/floors.$$"
    rm -f "${TMPDIR:-/tmp}/floors.$$"
    if [ "$room" != model/yaml ] && grep -q '<yaml.h>' "$file"; then
      complain "$file includes yaml.h: only model/yaml may"
    fi
    lines=$(wc -l < "$file")
    [ "$lines" -le 800 ] || complain "$file has $lines lines"
  done
done
[ $status = 0 ] && echo "floors: one direction holds"
exit $status
