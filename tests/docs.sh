#!/bin/sh
# What the documents show is run: every `build/tileflow` of a ```sh block, and the pictures of
# docs/img that these commands draw are compared;
# every ```yaml block that holds whole sections is read by `tileflow check`, the tables of the
# README are computed anew, every relative link and anchor leads somewhere, and the manual page names every
# command and option that the tool's own help names.  Names that a table of the program has are in the help, the manual
# and the page of their option.
#   tests/docs.sh TILEFLOW          TF_UPDATE_GOLDEN=1 writes the pictures anew
set -u
. "$(dirname "$0")/lib.sh"
cd "$dir" || exit 2
for folder in arch-specs workloads examples tests; do ln -s "$root/$folder" .; done
mkdir build blocks
ln -s "$tool" build/tileflow
commands=0

# Commands, with lines that end in a backslash joined.
cat "$root"/README.md "$root"/docs/*.md | awk '
  { sub(/^ *(\.\/setup\.sh && )?/, "") }
  /^```/ { inside = ($0 == "```sh"); next }
  inside && /^build\/tileflow / { joining = 1; text = "" }
  joining { more = sub(/\\$/, ""); text = text $0; if (!more) { print text; joining = 0 } }
' >commands
while read -r command; do
  commands=$((commands + 1))
  timeout 600 sh -c "$command" >said 2>&1 </dev/null
  status=$?
  [ $status -eq 0 ] || [ $status -eq 3 ] && continue
  echo "$command: exit status $status"
  cat said
  failed=$((failed + 1))
done <commands

for picture in "$root"/docs/img/*.svg; do
  drawn=$(basename "$picture")
  [ -n "${TF_UPDATE_GOLDEN:-}" ] && [ -e "$drawn" ] && cp "$drawn" "$picture"
  [ -e "$drawn" ] && cmp -s "$drawn" "$picture" && continue
  echo "docs/img/$drawn is not what the commands of the documents draw today"
  failed=$((failed + 1))
done

# All other figures: plots/figures.sh, drawn anew.  Another gnuplot draws others; so there must be as many, of these names.
if command -v gnuplot >/dev/null; then
  (cd "$root" && sh plots/figures.sh "$tool" "$dir/img") || failed=$((failed + 1))
  [ -n "${TF_UPDATE_GOLDEN:-}" ] && [ -e img/gallery.md ] && cp img/gallery.md "$root/docs/GALLERY.md"
  cmp -s img/gallery.md "$root/docs/GALLERY.md" || { echo "docs/GALLERY.md is not what plots/gallery.sh writes today"; failed=$((failed + 1)); }
  version() { grep -m 1 'Produced by GNUPLOT' "$1"; }
  for picture in "$root"/docs/img/*/*.svg; do
    drawn=$dir/img/${picture#"$root"/docs/img/}
    [ -n "${TF_UPDATE_GOLDEN:-}" ] && [ -e "$drawn" ] && cp "$drawn" "$picture"
    [ -e "$drawn" ] && { [ "$(version "$drawn")" != "$(version "$picture")" ] || cmp -s "$drawn" "$picture"; } && continue
    echo "$picture is not what plots/figures.sh draws today"
    failed=$((failed + 1))
  done
  for drawn in "$dir"/img/*/*.svg; do
    [ -e "$root/docs/img/${drawn#"$dir"/img/}" ] && continue
    echo "plots/figures.sh draws ${drawn#"$dir"/img/}, which docs/img lacks"
    failed=$((failed + 1))
  done
fi

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
  [ -e "$block" ] || continue
  grep -q '^\(architecture\|workload\|instructions\):' "$block" || continue
  blocks=$((blocks + 1))
  "$tool" check "$block" >said 2>&1 </dev/null && continue
  sed 1q "$block"
  cat said
  failed=$((failed + 1))
done

{ "$root/tests/readme_table.sh" "$tool" && sh "$root/bench/results-cpu-readme.sh" | sed '/^$/d'; } >table
while read -r row; do
  grep -qxF "$row" "$root/README.md" && continue
  echo "README.md lacks this row of its tables (tests/readme_table.sh build/tileflow, bench/results-cpu-readme.sh):"
  echo "$row"
  failed=$((failed + 1))
done <table

# What README says `best` prints of `init`'s files.
"$tool" init readme >said 2>&1 && "$tool" best readme/machine.yaml readme/workload.yaml readme/mapping.yaml --evals 5000 >said 2>&1
sed 5q said >head
while read -r line; do
  grep -qxF -e "$line" "$root/README.md" && continue
  echo "README.md lacks this line of best's screen: $line"
  failed=$((failed + 1))
done <head

# The anchors of a page, one of each heading as GitHub makes them.
anchors_of() {
  awk '
    /^```/ { code = !code }
    !code && sub(/^#+ +/, "") {
      $0 = tolower($0)
      gsub(/\]\([^)]*\)/, "")
      gsub(/[^a-z0-9_ -]/, "")
      gsub(/ /, "-")
      print seen[$0]++ ? $0 "-" seen[$0] - 1 : $0
    }' "$1"
}
for doc in "$root"/*.md "$root"/docs/*.md "$root"/docs/tutorials/*.md; do
  grep -o '](\([^)]*\)' "$doc" | sed 's/^](//' | grep -v '^https*:' >links || continue
  while read -r link; do
    case $link in \#*) page=$doc ;; *) page=$(dirname "$doc")/${link%%#*} ;; esac
    [ -e "$page" ] && case $link in *\#*) anchors_of "$page" | grep -qxF -e "${link#*#}" ;; esac && continue
    echo "$doc links to $link, which is not there"
    failed=$((failed + 1))
  done <links
done

# The site (site/build.sh): every page has its place in the navigation, and what Sphinx reads can be laid out.
for doc in "$root"/docs/*.md "$root"/docs/tutorials/*.md; do
  name=${doc#"$root/"}
  grep -q -e "^${name%.md}\$" -e "<${name%.md}>\$" "$root/site/index.md" && continue
  echo "site/index.md has no place for $name"
  failed=$((failed + 1))
done
if command -v python3 >/dev/null; then
  python3 -B "$root/site/stage.py" "$tool" "$dir/stage" >said 2>&1 && [ -s stage/commands.md ] && [ -s stage/docs/tutorials/kernel.md ] ||
    { echo "site/stage.py:"; cat said; failed=$((failed + 1)); }
fi

sed 's/\\-/-/g' "$root/docs/tileflow.1" >manual
known=$("$tool" --help | sed -n 's/^  tileflow \([a-z][a-z]*\)  .*/\1/p')
[ -n "$known" ] || { echo "tileflow --help lists no commands"; failed=$((failed + 1)); }
for c in '' $known; do
  # shellcheck disable=SC2086
  "$tool" $c --help | awk -v of="$c" 'length > 80 { print "help of " of " is wider than 80 columns: " $0; n++ } END { exit n > 0 }' ||
    failed=$((failed + 1))
done
for word in $known $(for c in $known; do "$tool" "$c" --help; done | grep -o -e '--[a-z-]*'); do
  grep -q -e "$word" manual && continue
  echo "docs/tileflow.1 does not name $word"
  failed=$((failed + 1))
done

# names_in FILE NAMES: a paragraph of the file, or what is said of one option, has all the names.
names_in() {
  awk -v names="$2" '
    function end(  i, n, name, missing) {
      gsub(/[^A-Za-z0-9_-]+/, " ", text)
      n = split(names, name, " ")
      for (i = 1; i <= n; i++) missing += !index(text " ", " " name[i] " ")
      found = found || !missing
      text = ""
    }
    /^ *$|^\.(TP|PP|SH|SS)|^  --/ { end() }
    { text = text " " $0 }
    END { end(); exit !found }' "$1"
}
while read -r command option page; do
  case $command in
  plot) arguments="$root/docs/results/slope.csv -o x.svg" ;;
  *) arguments="arch-specs/edge.yaml workloads/attention/g1.yaml" ;;
  esac
  [ "$command" = emit ] && arguments="$arguments -o kernel"
  # shellcheck disable=SC2086 # the message for a name that is none lists those that are; what is in parentheses is said of one
  names=$("$tool" "$command" $arguments "$option" no-such-name-at-all 2>&1 | sed -n 's/.*; known: //p' | sed 's/([^)]*)//g' | tr -d ' ' | tr ',' ' ')
  "$tool" "$command" --help >help
  for file in help manual ${page:+"$root/docs/$page"}; do
    [ -n "$names" ] && names_in "$file" "$names" && continue
    echo "$file does not list the names of $command $option: ${names:-none is known}"
    failed=$((failed + 1))
  done
done <<END
search --strategy HOWTO-search.md
search --objective
tune --strategy HOWTO-tune.md
solve --method HOWTO-solve.md
plot --as HOWTO-plot.md
emit --isa HOWTO-emit.md
emit --micro HOWTO-emit.md
emit --dtype HOWTO-emit.md
emit --target HOWTO-emit.md
END

echo "docs: $commands commands run, $blocks YAML blocks read, $failed failed"
[ $failed -eq 0 ]
