#!/bin/sh
# search --start: what is known is found again, mended where it does not fit, and never lost.
#   starts.sh TOOL, in the root of the sources
set -u
. "$(dirname "$0")/../lib.sh"
large=arch-specs/edge.yaml small=$dir/small.yaml op=workloads/attention/g1.yaml
sed 's/capacity: 4 MiB/capacity: 64 KiB/' $large >"$small"
cmp -s $large "$small" && { echo "edge.yaml's L1 has another size now"; exit 1; }

cycles() { sed -n 's/^  "cycles": \([0-9.e+]*\),*$/\1/p' "$1"; }
complain() { echo "$*"; failed=$((failed + 1)); }
# no_worse FILE THAN: both JSON
no_worse() { awk -v a="$(cycles "$1")" -v b="$(cycles "$2")" 'BEGIN { exit !(a != "" && b != "" && a <= b) }' || complain "$3: $(cycles "$1") cycles, started at $(cycles "$2")"; }
search() { "$tool" search --quiet "$@" || complain "search $*: status $?"; }

search "$small" $op --evals 4000 --json "$dir/found.json" --mapping "$dir/found.yaml"
"$tool" search "$small" $op --evals 4000 >"$dir/found.txt"
for seed in 1 2 3; do
  for form in json yaml txt; do
    search $large $op --evals 60 --seed $seed --start "$dir/found.$form" --json "$dir/again.json"
    no_worse "$dir/again.json" "$dir/found.json" "a larger buffer, .$form, seed $seed"
  done
done
# the same with any number of threads; several starts, the best of which counts; a start may be overwritten by what comes of it
search $large $op --evals 3000 --seed 1 --json "$dir/large.json" --mapping "$dir/large.yaml"
for threads in 1 2 5; do
  search $large $op --evals 3000 --seed 7 --threads $threads --start "$dir/found.yaml" --start "$dir/large.yaml" --mapping "$dir/t$threads.yaml" --json "$dir/two.json"
  no_worse "$dir/two.json" "$dir/large.json" "two starts"
  cmp -s "$dir/t1.yaml" "$dir/t$threads.yaml" || complain "$threads threads find another mapping"
done
search $large $op --evals 60 --start "$dir/large.yaml" --mapping "$dir/large.yaml"
# one that does not fit is mended: its own space is searched, with few evaluations and nothing else to go by
"$tool" eval "$small" $op "$dir/t1.yaml" >/dev/null 2>&1
[ $? -eq 3 ] || complain "the mapping for the large buffer fits the small one: the case shows nothing"
search "$small" $op --strategy random --evals 200 --start "$dir/t1.yaml" --json "$dir/mended.json"
grep -q '"feasible": true' "$dir/mended.json" || complain "a start that does not fit is not mended"
# outside of what is searched (a bypass, a retain, loops of any order), as given
for start in workloads/dataflows/edge/attention-*.yaml; do
  "$tool" eval $large $op "$start" --quiet --json "$dir/given.json" 2>/dev/null || continue
  search $large $op --evals 2 --start "$start" --json "$dir/kept.json"
  no_worse "$dir/kept.json" "$dir/given.json" "$start"
done
# what cannot be a start: every error, nothing written
echo 'params: {x: 1}' >"$dir/none.yaml"
printf 'mapping: |\n  DRAM for q=3\n' >"$dir/wrong.yaml"
"$tool" search $large $op --evals 60 --start "$dir/none.yaml" --start "$dir/wrong.yaml" --start "$dir/absent.yaml" --json "$dir/no.json" 2>"$dir/said"
[ $? -eq 2 ] || complain "bad starts: not status 2"
for text in "holds no mapping" "wrong.yaml:2:" "absent.yaml: error[E_IO]: cannot read: No such file"; do
  grep -qF "$text" "$dir/said" || { complain "bad starts: no '$text' in:"; cat "$dir/said"; }
done
[ -e "$dir/no.json" ] && complain "bad starts: something is written"
echo "$failed failed"
[ $failed -eq 0 ]
