#!/bin/sh
# What the documents show is run: every line of a ```sh block that starts with `build/tileflow`,
# and every ```yaml block that holds whole sections is read by `tileflow check`.
#   tests/docs.sh TILEFLOW
set -u
[ $# -eq 1 ] || { echo "usage: $0 TILEFLOW" >&2; exit 2; }
tool=$(realpath "$1") || exit 2
root=$(realpath "$(dirname "$0")/..")
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2
for folder in arch-specs workloads examples; do ln -s "$root/$folder" .; done
mkdir build blocks
ln -s "$tool" build/tileflow
failed=0
commands=0

# Commands, with lines that end in a backslash joined.
cat "$root"/README.md "$root"/docs/*.md | awk '
  /^```/ { inside = ($0 == "```sh"); next }
  inside && /^build\/tileflow / { joining = 1; text = "" }
  joining { more = sub(/\\$/, ""); text = text $0; if (!more) { print text; joining = 0 } }
' >commands
while read -r command; do
  commands=$((commands + 1))
  timeout 60 sh -c "$command" >said 2>&1 </dev/null
  status=$?
  [ $status -eq 0 ] || [ $status -eq 3 ] && continue
  echo "$command: exit status $status"
  cat said
  failed=$((failed + 1))
done <commands

awk '
  FNR == 1 { inside = 0 }
  /^```/ {
    inside = ($0 == "```yaml")
    if (inside) { out = sprintf("blocks/%03d.yaml", ++n); printf "# %s:%d\n", FILENAME, FNR >out }
    else if (out) close(out)
    next
  }
  inside { print >out }
' "$root"/README.md "$root"/docs/*.md
blocks=0
for block in blocks/*.yaml; do
  grep -q '^\(architecture\|workload\):' "$block" || continue
  blocks=$((blocks + 1))
  "$tool" check "$block" >said 2>&1 </dev/null && continue
  sed 1q "$block"
  cat said
  failed=$((failed + 1))
done
echo "docs: $commands commands run, $blocks YAML blocks read, $failed failed"
[ $failed -eq 0 ]
