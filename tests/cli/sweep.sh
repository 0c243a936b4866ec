#!/bin/sh
# Stores of sweeps: gone on with, shared, merged, of other inputs, full, read-only, newer, damaged; mappings back into eval.
#   sweep.sh TOOL, in the root of the sources
set -u
. "$(dirname "$0")/../lib.sh"
cp "$root"/examples/sweep.yaml "$root"/examples/edge-family.yaml "$root"/examples/matmul-small.yaml \
  "$root"/examples/matmul-wide.yaml "$dir"
cd "$dir" || exit 2
sed -i 's/evals: 500/evals: 60/' sweep.yaml

fail() {
  echo "$*"
  [ -s said ] && cat said
  failed=$((failed + 1))
}

# expect STATUS TEXT COMMAND...: the status, and the text on stdout or stderr
expect() {
  status=$1 text=$2
  shift 2
  "$tool" "$@" >said 2>&1 </dev/null
  got=$?
  [ $got -eq "$status" ] || fail "tileflow $*: status $got, expected $status"
  grep -qF -- "$text" said || fail "tileflow $*: no '$text' in:"
}

rows() { "$tool" results "$1" --csv "$1.csv" --quiet || fail "no rows in $1"; }
same() { rows "$1"; cmp -s whole.tfdb.csv "$1.csv" || fail "rows of $1 differ from those of the whole"; }

expect 0 "machines are on the front" sweep sweep.yaml --store whole.tfdb --threads 2
rows whole.tfdb
[ "$(wc -l <whole.tfdb.csv)" -eq 29 ] || fail "28 points, and a head, not $(wc -l <whole.tfdb.csv)"
expect 0 "28 points: 28 found" sweep sweep.yaml --store whole.tfdb --resume
same whole.tfdb
# one thread, and a limit of time that lets it find a few at once
"$tool" sweep sweep.yaml -o one.tfdb --threads 1 --time-limit 0.05 --quiet || fail "a limit of time"
"$tool" sweep sweep.yaml -o one.tfdb --threads 1 --quiet || fail "going on"
same one.tfdb
# two at once on one store
"$tool" sweep sweep.yaml -o two.tfdb --quiet &
"$tool" sweep sweep.yaml -o two.tfdb --quiet || fail "the second of two at once"
wait $! || fail "the first of two at once"
same two.tfdb
# shards, merged: every point once
for i in 1 2 3; do "$tool" sweep sweep.yaml -o part$i.tfdb --shard $i/3 --quiet || fail "shard $i"; done
expect 0 "the store has all points of 5 of 14 machines" results part1.tfdb
"$tool" results part1.tfdb --machines --csv part.csv --quiet || fail "a part"
[ "$(cut -d, -f13 part.csv | grep -c 1)" -eq 0 ] || fail "a part proves something of the grid"
"$tool" results part1.tfdb --merge part2.tfdb part3.tfdb --csv merged.csv --quiet || fail "merge"
[ "$(cut -d, -f1 merged.csv)" = "$(cut -d, -f1 whole.tfdb.csv)" ] || fail "shards do not make the whole"
expect 0 "part2.tfdb: 0 rows taken" results part1.tfdb --merge part2.tfdb
# lists
expect 0 "found" results whole.tfdb --where "side >= 16 and workload == 'wide' and not (dram < 60)" --top 3
[ "$(wc -l <said)" -eq 4 ] || fail "--top 3 prints a head and three rows"
expect 0 '"objectives": [' results whole.tfdb --json -
expect 2 "no value 'sidee', did you mean 'side'?" results whole.tfdb --where "sidee > 1"
# machines, a row each, scored over their workloads; plot reads the same of the store
"$tool" results whole.tfdb --machines --csv machines.csv --quiet || fail "no table of machines"
[ "$(wc -l <machines.csv)" -eq 15 ] || fail "14 machines, and a head, not $(wc -l <machines.csv)"
front=$("$tool" results whole.tfdb | sed -n 's/^\([0-9]*\) of 14 machines are on the front.*/\1/p')
[ "$(cut -d, -f12 machines.csv | grep -c 1)" -eq "${front:-0}" ] || fail "machines of the front: $front"
sum=$(awk -F, '$2 == 0 && $4 == "small" { a = $9 } $2 == 0 && $4 == "wide" { b = $9 } END { printf "%.6g", a + 3 * b }' whole.tfdb.csv)
[ "$(awk -F, '$1 == 0 { printf "%.6g", $6 }' machines.csv)" = "$sum" ] || fail "machine 0 does not score $sum"
mkdir bin && printf '#!/bin/sh\nf=$(sed -n "s/^set output .\\(.*\\).$/\\1/p" "$1")\necho "drawn</svg>" >"$f"\n' >bin/gnuplot && chmod +x bin/gnuplot
(PATH=$dir/bin:$PATH && "$tool" plot whole.tfdb --as pareto -o front.svg --script) || fail "a figure of a store"
[ "$(grep -c 'on the front' front.csv)" -eq "${front:-0}" ] || fail "marks on the front: not $front"
(PATH=$dir/bin:$PATH && cat machines.csv | "$tool" plot /dev/stdin --as pareto -o piped.svg) || fail "a figure of what a pipe gives"
# what comes within a share of the bounds is not solved, and the machine that does stands for it
sed 's/^  method: search/  within: 0.5\n&/' sweep.yaml >within.yaml
expect 0 "proofs within 50 %" sweep within.yaml -o within.tfdb
expect 2 "within is 0.5 there" sweep sweep.yaml -o within.tfdb
# a mapping goes back into eval, with the figures of its row
"$tool" results whole.tfdb --point 2 >mapping.yaml || fail "no mapping of point 2"
words=$(sed -n '1s/.*: //p' mapping.yaml)
cycles=$("$tool" eval $words mapping.yaml --json - --quiet | sed -n 's/^  "cycles": \(.*\),/\1/p')
line=$(sed -n 's/^2,//p' whole.tfdb.csv)
awk -v a="$cycles" -v b="$(echo "$line" | cut -d, -f8)" 'BEGIN { exit !(a > 0 && (a - b) ^ 2 < 1e-20 * a * a) }' ||
  fail "the mapping has $cycles cycles, its row says $line"
expect 2 "the sweep has no point 99" results whole.tfdb --point 99
# other inputs: what differs is said, and the store stays
cp whole.tfdb before.tfdb
cp sweep.yaml sweep.before
sed -i 's/evals: 60/evals: 50/; s/side: {from: 8, to: 32/side: {from: 16, to: 32/' sweep.yaml
sed -i 's/clock: 1 GHz/clock: 2 GHz/' edge-family.yaml
expect 2 "budget.evals is 60 there, 50 here" sweep sweep.yaml -o whole.tfdb
expect 2 "over.side is 8, 16, 32 there, 16, 32 here" sweep sweep.yaml -o whole.tfdb
expect 2 "line 5 of 'edge-family.yaml' is 'clock: 1 GHz' there, 'clock: 2 GHz' here" sweep sweep.yaml -o whole.tfdb
"$tool" sweep sweep.yaml -o other.tfdb --quiet || fail "the other sweep"
expect 2 "it is the store of another sweep" results whole.tfdb --merge other.tfdb
cmp -s before.tfdb whole.tfdb || fail "a refused sweep changed the store"
cp "$root"/examples/edge-family.yaml .
cp sweep.before sweep.yaml
# newer (SQLite's user_version, four bytes at 60), another program's (application_id at 68), cut off, a page overwritten
cp whole.tfdb newer.tfdb && printf '\000\000\000\011' | dd of=newer.tfdb bs=1 seek=60 conv=notrunc 2>/dev/null
expect 2 "is a store of a newer version: format 9" sweep sweep.yaml -o newer.tfdb
expect 2 "is a store of a newer version: format 9" results newer.tfdb
cp whole.tfdb alien.tfdb && printf '\000\000\000\001' | dd of=alien.tfdb bs=1 seek=68 conv=notrunc 2>/dev/null
expect 2 "is a database, but no store of a sweep" sweep sweep.yaml -o alien.tfdb
# earlier: it is read as it stands, and raised when the sweep goes on
earlier=$root/tests/data/earlier
cp "$earlier"/sweep-1.tfdb "$earlier"/*.yaml .
"$tool" results sweep-1.tfdb >said && cmp said "$earlier"/sweep-1.txt || fail "results of a store of format 1"
cmp -s sweep-1.tfdb "$earlier"/sweep-1.tfdb || fail "a store was changed by reading it"
expect 0 "16 found" sweep sweep.yaml -o sweep-1.tfdb
[ "$(od -An -tu1 -j 60 -N 4 sweep-1.tfdb | tr -d ' ')" = 0002 ] || fail "a store was not raised"
cp "$root"/examples/edge-family.yaml "$root"/examples/matmul-*.yaml .
cp sweep.before sweep.yaml
head -c 20000 whole.tfdb >cut.tfdb
expect 2 "error[E_STORE]: is damaged" sweep sweep.yaml -o cut.tfdb
expect 2 "error[E_STORE]: is damaged" results cut.tfdb
cp whole.tfdb torn.tfdb && head -c 4096 /dev/zero | tr '\0' 'x' | dd of=torn.tfdb bs=4096 seek=3 conv=notrunc 2>/dev/null
cp torn.tfdb torn.before
expect 2 "error[E_STORE]: is damaged" sweep sweep.yaml -o torn.tfdb
cmp -s torn.before torn.tfdb || fail "a damaged store was changed"
expect 2 "error[E_STORE]: is empty" results /dev/null
: >empty.tfdb
expect 0 "28 found" sweep sweep.yaml -o empty.tfdb
# a folder, a folder that is not there, one that may not be written to, a file that may not
expect 1 "cannot open: Is a directory" sweep sweep.yaml -o .
expect 1 "cannot open: No such file or directory" sweep sweep.yaml -o no/x.tfdb
if [ "$(id -u)" -ne 0 ]; then
  mkdir shut && cp part1.tfdb shut && chmod 555 shut
  expect 1 "cannot open: Permission denied" sweep sweep.yaml -o shut/x.tfdb
  expect 1 "error[E_IO]: cannot write" sweep sweep.yaml -o shut/part1.tfdb --full
  expect 0 "points" results shut/part1.tfdb
fi
# a disk that fills (a limit on the size of files, in blocks of 512 bytes): the store stays whole, and goes on later
for blocks in 20 84; do # too few for the tables; for the rows
  printf '#!/bin/sh\nulimit -f %d\nexec "%s" "$@"\n' $blocks "$tool" >limited && chmod +x limited
  ./limited sweep sweep.yaml -o full.tfdb --quiet 2>said
  status=$?
  [ $status -eq 1 ] && grep -q "full.tfdb: error\[E_IO\]: cannot" said || fail "a full disk: status $status"
  "$tool" sweep sweep.yaml -o full.tfdb --quiet || fail "going on after a full disk"
  same full.tfdb
  rm full.tfdb
done

echo "$failed failed"
[ $failed -eq 0 ]
