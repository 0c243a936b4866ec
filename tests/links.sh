#!/bin/sh
# What the object files of a build take from each other: a line "FROM TO NAME" for each name that FROM's object takes from TO's
# (paths of their sources).  Registries take the rows of their tables, so tables count as functions do.
#   tests/links.sh BUILD >LINKS
set -u
[ $# -eq 1 ] || { echo "usage: $0 BUILD" >&2; exit 2; }
for part in tileflow_spec tileflow_objects tileflow_cli; do
  (cd "$1/CMakeFiles/$part.dir" && find . -name '*.o' | sed 's|^\./||' | LC_ALL=C sort | xargs nm -A -g --format=posix)
done | awk '
{ file = $1; sub(/\.o(\[.*)?:$/, "", file) }
$3 == "U" { from[++n] = file; name[n] = $2 }
$3 != "U" { of[$2] = file }
END {
  for (i = 1; i <= n; i++)
    if (name[i] in of && of[name[i]] != from[i]) print from[i], of[name[i]], name[i]
}' | LC_ALL=C sort -u
