#!/bin/sh
# tune_ways on a table that nobody measured: a schedule takes as many microseconds as its kernel's number and a hundred.  Each strategy finds what is within
# 5 % of the least, the same rows each time; a table that lacks schedules, or has no row of the case, is refused.
#   tests/unit/tune_ways.sh TUNE_WAYS
set -u
tool=$1 failed=0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# ways OPTION...: on a product of 64 x 64 x 64
ways() {
  timeout 60 "$tool" small arch-specs/host-template.yaml workloads/operators/gmm.yaml --set M=64 --set N=64 --set K=64 --constraints tests/data/tune-ways.csp "$@"
}

fail() {
  echo "$*"
  failed=$((failed + 1))
}

mkdir "$dir/kernels"
ways --list "$dir/kernels" >"$dir/list" || fail "no list"
[ "$(wc -l <"$dir/list")" -gt 100 ] || fail "$(wc -l <"$dir/list") schedules"
[ "$(cut -d, -f3 "$dir/list" | sort -u | wc -l)" -eq "$(ls "$dir/kernels" | wc -l)" ] || fail "kernels are not those of the list"
awk -F, '{ print $0 "," 100 + $3 }' "$dir/list" >"$dir/table"
ways --table "$dir/table" --seeds 3 >"$dir/once" || fail "no rows"
ways --table "$dir/table" --seeds 3 >"$dir/again" && cmp "$dir/once" "$dir/again" || fail "rows differ"
for way in sa-q p sa cga random model; do
  awk -F, -v w=$way '$2 == w { best = $4; near = $5; rows++; if ($3 > 1 && best > last) exit 1; last = best } END { exit !(rows > 0 && near == 3 && best <= 1.05) }' "$dir/once" ||
    fail "$way: $(grep ",$way," "$dir/once" | tail -n 1)"
done
ways --table "$dir/table" --teach yes >"$dir/lessons" || fail "no lessons"
awk -F, 'NR == FNR { us[$2] = $4; kernels[$3]; next } NF != 37 || $3 != us[$2] || $4 <= 0 { exit 1 } { n++ }
  END { for (k in kernels) n--; exit n != 0 }' "$dir/table" "$dir/lessons" || fail "lessons are not those of the kernels"
mkdir "$dir/drawn"
ways --sample 40 --list "$dir/drawn" >"$dir/some" || fail "no sample"
[ "$(cut -d, -f2 "$dir/some" | sort -u | wc -l)" -eq 40 ] && [ "$(cut -d, -f2 "$dir/list" "$dir/some" | sort | uniq -d | wc -l)" -eq 40 ] || fail "the sample is not of the space"
awk -F, '{ print $0 "," 100 + $3 }' "$dir/some" >"$dir/times"
ways --sample 40 --table "$dir/times" --seeds 3 >"$dir/once" || fail "no rows of the sample"
for way in sa-q p sa cga random model; do
  awk -F, -v w=$way '$2 == w { near = $5 } END { exit near != 3 }' "$dir/once" || fail "$way finds nothing in the sample"
done
head -n 3 "$dir/table" >"$dir/part"
ways --table "$dir/part" --seeds 1 --strategy random >/dev/null 2>&1 && fail "a table that lacks schedules passes"
: >"$dir/none"
ways --table "$dir/none" --seeds 1 >/dev/null 2>&1 && fail "an empty table passes"
echo "tune_ways: $failed failed"
[ $failed -eq 0 ]
