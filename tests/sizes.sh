#!/bin/sh
# Files fit a person's head: no C file over 800 lines, no function over 60 lines or of more than 7 parameters,
# no name that many of them have, no folder over 25 files.  Rooms do not grow: none has more lines than tests/lines.txt says.
#   tests/sizes.sh [ROOT]
# With TF_UPDATE_GOLDEN=1 lower figures are written to tests/lines.txt, and all of them where the file is not there.
set -u
cd "${1:-$(dirname "$0")/..}" || exit 2
files=$(find base certify model grad search sweep codegen planner net train tune cli include examples bench tests -name '*.[ch]' \
  2>/dev/null | LC_ALL=C sort)

# A function starts at an unindented name and ends at a line that is "}" alone; a table or a
# type ends at "};" or "} name;" and may be long.
# shellcheck disable=SC2086 # file names hold no spaces
awk -v same=13 '
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
    if (name ~ /^[a-z]/ && head ~ /^static/ && file ~ /\.c$/ && file !~ /^(tests|bench|examples)/) statics[name]++
    if (head ~ /\(/ && parameters(head) > 7) {
      printf "%s:%d: %s has %d parameters, 7 are allowed\n", file, start, name, parameters(head)
      bad++
    }
  }
  else if (line ~ /[;}]$/) state = "between"
}
END {
  close_file()
  for (name in statics)
    if (statics[name] > same) {
      printf "%d files have a static function `%s`, %d may: name it for what it does\n", statics[name], name, same
      bad++
    }
  if (!bad) printf "sizes: %d functions, the longest has %d lines\n", functions, longest
  exit bad > 0
}' $files || exit 1

# Folders fit a screen: no room has more than 25 sources of its own.
find base certify model grad search sweep codegen planner net train tune cli include -name '*.[ch]' 2>/dev/null | sed 's|/[^/]*$||' | sort | uniq -c |
  awk '$1 > 25 { printf "%s has %d source files, 25 are allowed\n", $2, $1; bad = 1 } END { exit bad }' || exit 1

# A name stands for one file, so that whoever searches for it, or reads a backtrace, finds it: those of which there are several
# become no more.
shared=221
n=$(find base certify model grad search sweep codegen planner net train tune cli -name '*.[ch]' 2>/dev/null | awk -F / '
  { of[$NF]++ } END { for (name in of) if (of[name] > 1) n += of[name]; print n + 0 }')
[ "$n" -le $shared ] || { echo "$n files share their names with others, $shared may: name new ones after their room, too"; exit 1; }

# What a folder is for stands in docs/ARCHITECTURE.md, what a header is for in its first line.
untold=$({ cat docs/ARCHITECTURE.md 2>/dev/null; echo '# sources'; find base certify model grad search sweep codegen planner net train tune cli include \
  -name '*.[ch]' 2>/dev/null; } | awk '
  $0 == "# sources" { sources = 1; next }
  !sources { if (/^\|/) row[++n] = $0; next }
  {
    if (/\.h$/ && (getline first < $0) > 0 && first !~ /^\/\*/) print $0 " does not begin with what it is for"
    close($0)
    folder = above = last = $0; sub(/\/[^\/]*$/, "", folder)
    if (folder in seen || folder ~ /^include/ || !n) next
    seen[folder]
    above = last = folder; sub(/\/[^\/]*$/, "", above); sub(/.*\//, "", last)
    told = 0
    for (i = 1; i <= n && !told; i++)
      told = index(row[i], "`" folder "`") || (match(row[i], "`" above "(/[a-z]*)?`") && index(substr(row[i], RSTART), "`" last "`"))
    if (!told) print "docs/ARCHITECTURE.md does not say what " folder " is for"
  }')
[ -z "$untold" ] || { echo "$untold"; exit 1; }

# Lines of rooms, by hundreds: what a room loses, its ceiling loses.
lines=$(mktemp) || exit 2
trap 'rm -f "$lines"' EXIT
# shellcheck disable=SC2086
wc -l $files | awk '
$2 ~ /^(examples|bench|tests)\// || $2 == "total" { next }
{
  n = split($2, p, "/")
  room = p[1]
  if (room ~ /^(model|search|codegen|sweep|tune|cli)$/ && n > 2) room = room "/" p[2]
  if (p[2] == "backend" && n > 3) room = room "/" p[3]
  lines[room] += $1
}
END { for (room in lines) print lines[room], room }' | LC_ALL=C sort -k 2 >"$lines"
table=tests/lines.txt
if [ -n "${TF_UPDATE_GOLDEN:-}" ]; then
  touch "$table"
  awk -v table="$table" '
  FILENAME == table { if (/^[0-9]/) most[$2] = $1; next }
  FNR == 1 {
    print "# Lines of C that a room may have (tests/sizes.sh), rounded up to hundreds.  A figure only falls: what a room needs, another"
    print "# part of it gives; a new room gets a row."
  }
  { n = int(($1 + 99) / 100) * 100; print !($2 in most) || n < most[$2] ? n : most[$2], $2 }' "$table" "$lines" >"$lines.new" &&
    mv "$lines.new" "$table"
fi
awk -v table="$table" '
FILENAME == table { if (/^[0-9]/) most[$2] = $1; next }
{ seen[$2] = 1; all += $1; rooms++ }
!($2 in most) { printf "%s has %d lines and no row in tests/lines.txt\n", $2, $1; bad = 1; next }
$1 > most[$2] { printf "%s has %d lines, %d are allowed (tests/lines.txt): make room in it\n", $2, $1, most[$2]; bad = 1 }
$1 <= most[$2] - 100 {
  printf "%s has %d lines, tests/lines.txt allows %d: let it say %d\n", $2, $1, most[$2], int(($1 + 99) / 100) * 100
  bad = 1
}
END {
  for (room in most) if (!(room in seen)) { printf "tests/lines.txt has %s, which has no files\n", room; bad = 1 }
  printf "lines: %d in %d rooms\n", all, rooms
  exit bad
}' "$table" "$lines"
