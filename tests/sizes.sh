#!/bin/sh
# Files fit a person's head: no C file over 800 lines, no function over 60 lines or of more than 7 parameters,
# no folder over 25 files.
#   tests/sizes.sh [ROOT]
set -u
cd "${1:-$(dirname "$0")/..}" || exit 2
files=$(find base certify model grad search sweep codegen planner net train tune cli include examples bench tests -name '*.[ch]' \
  2>/dev/null | LC_ALL=C sort)

# A function starts at an unindented name and ends at a line that is "}" alone; a table or a
# type ends at "};" or "} name;" and may be long.
# shellcheck disable=SC2086 # file names hold no spaces
awk '
function complain(what, n, most) {
  printf "%s:%d: %s has %d lines, %d are allowed\n", file, start, what, n, most
  bad++
}
# Of a function whose head is `text`; commas within brackets of a parameter are none of the list.
function parameters(text, i, c, depth, n) {
  n = 1
  for (i = index(text, "("); i <= length(text); i++) {
    c = substr(text, i, 1)
    if (c == "(" || c == "{") depth++
    else if (c == ")" || c == "}") { if (--depth == 0) break }
    else if (c == "," && depth == 1) n++
  }
  return n
}
function close_file() {
  start = 1
  if (file != "" && lines > 800) complain("the file", lines, 800)
}
FNR == 1 { close_file(); file = FILENAME; state = "between" }
{
  lines = FNR
  line = $0
  gsub(/\/\*.*\*\//, "", line); sub(/\/\/.*/, "", line); sub(/[ \t]+$/, "", line)
}
state == "body" && line ~ /^}/ {
  if (line == "}") {
    functions++
    if (FNR - start + 1 > 60) complain(name, FNR - start + 1, 60)
    if (FNR - start + 1 > longest) longest = FNR - start + 1
  }
  state = "between"
  next
}
state == "between" && line ~ /^[A-Za-z_]/ {
  start = FNR
  name = line; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name)
  head = ""
  state = "head"
}
state == "head" {
  head = head line
  if (line ~ /{$/) {
    state = "body"
    if (head ~ /\(/ && parameters(head) > 7) {
      printf "%s:%d: %s has %d parameters, 7 are allowed\n", file, start, name, parameters(head)
      bad++
    }
  }
  else if (line ~ /[;}]$/) state = "between"
}
END {
  close_file()
  if (!bad) printf "sizes: %d functions, the longest has %d lines\n", functions, longest
  exit bad > 0
}' $files || exit 1

# Folders fit a screen: no room has more than 25 sources of its own.
find base certify model grad search sweep codegen planner net train tune cli include -name '*.[ch]' | sed 's|/[^/]*$||' | sort | uniq -c |
  awk '$1 > 25 { printf "%s has %d source files, 25 are allowed\n", $2, $1; bad = 1 } END { exit bad }'
