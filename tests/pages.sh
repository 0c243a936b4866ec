#!/bin/sh
# The pages of results hold what their scripts write from docs/results today: each page is written anew, without measuring, beside
# the one that stands in docs, and so are README's sentences that have figures of them; what only the model decides (dataflows, validation, the closed form) is computed anew, too, and so is a
# row of each kind of the tables that a search made.
#   tests/pages.sh TILEFLOW          TF_UPDATE_GOLDEN=1 writes the pages anew
set -u
. "$(dirname "$0")/lib.sh"

# A tree to write into: copies of what scripts write and of the scripts, which work in the folder above their own.
mkdir "$dir/tree" && cd "$dir/tree" || exit 2
cp -r "$root/bench" "$root/docs" . || exit 2
for folder in arch-specs workloads examples tests plots; do ln -s "$root/$folder" .; done

# written SCRIPT FILE...: the script runs; the files are those of docs
written() {
  script=$1
  shift
  sh -c "$script" >said 2>&1 || { echo "$script: exit status $?"; cat said; failed=$((failed + 1)); }
  for file; do
    cmp -s "$file" "$root/$file" && continue
    [ -z "${TF_UPDATE_GOLDEN:-}" ] || cp "$file" "$root/$file"
    echo "$file is not what '$script' writes:"
    diff "$root/$file" "$file" | head -n 10
    failed=$((failed + 1))
  done
}
results=docs/results
written "sh bench/dataflows.sh $tool >docs/RESULTS-dataflows.md" docs/RESULTS-dataflows.md
written "sh bench/validate.sh $tool page" docs/VALIDATION.md $results/rtl.csv $results/timeloop.csv $results/tileflow.csv $results/tileflow-dram.csv
# The thesis's section of RESULTS-search.md is written by Python.
command -v python3 >/dev/null &&
  written "sh bench/results-closed.sh $tool report" docs/RESULTS-closed.md docs/RESULTS-search.md $results/thesis-means.csv
written "sh bench/results-search-ga.sh $tool report" docs/RESULTS-search-ga.md
written "sh bench/results-rate.sh $tool report" docs/RESULTS-rate.md
written "sh bench/sweep_thesis.sh >table && grep -qxF \"\$(tail -n 1 table)\" docs/RESULTS-sweep.md"
written "sh bench/networks/table.sh | sed '/^$/d' >table && grep -cxFf table docs/RESULTS-networks.md | grep -qx \"\$(wc -l <table)\""
written "sh bench/training/table.sh >table && grep -cxFf table docs/HOWTO-train.md | grep -qx \"\$(wc -l <table)\""
cp "$root/README.md" . && written "sh bench/prose.sh README.md >new && mv new README.md" README.md
written "sh bench/zoo.sh $tool page >docs/RESULTS-zoo.md" docs/RESULTS-zoo.md
written "sh bench/results-tune.sh >docs/RESULTS-tune.md" docs/RESULTS-tune.md
written "sh bench/onnx/page.sh >docs/RESULTS-onnx.md" docs/RESULTS-onnx.md
written "sh bench/results-cpu-page.sh >docs/RESULTS-cpu.md" docs/RESULTS-cpu.md
written "sh bench/kernels/ways_page.sh >docs/RESULTS-instructions.md" docs/RESULTS-instructions.md

# same WHAT OLD NEW: figures of a table and of now, to the last of nine digits
same() {
  awk -v a="$2" -v b="$3" 'BEGIN { d = a - b; exit !(a != "" && b != "" && a != "-" && (d < 0 ? -d : d) <= 1e-9 * a) }' && return
  echo "$1: $2 in the table, $3 now"
  failed=$((failed + 1))
}

# value COMMAND...: of the mapping that it finds
value() {
  "$tool" "$@" --quiet --json found.json >said 2>&1
  awk -F'[:,]' '/"search": {/ { on = 1 } on && /"value"/ { printf "%.17g", $2; exit }' found.json
  rm -f found.json
}

# column N FILE FIELD...: of the row that begins with these
column() {
  awk -F, -v n="$1" -v key="$(shift 2 && echo "$*" | tr ' ' ',')," 'index($0, key) == 1 { printf "%.17g", $n }' "$2"
}

for row in "edge gemm-chain/g1" "edge conv-chain/c6" "edge attention/g12" "cloud conv-chain/c5" "cloud attention/g4"; do
  arch=${row% *} work=${row#* }
  now=$(value solve "arch-specs/$arch.yaml" "workloads/$work.yaml" --method closed --threads 1)
  same "closed.csv, $row" "$(column 4 $results/closed.csv "$arch" "$work" latency)" "$now"
  same "solve.csv, closed form of $row" "$(column 12 $results/solve.csv "$arch" "$work")" "$now"
done
for row in "cloud gemm-chain/g7"; do # proved of all mappings in a moment
  now=$(value solve "arch-specs/${row% *}.yaml" "workloads/${row#* }.yaml" --evals 30000 --threads 1)
  same "solve.csv, optimum of $row" "$(column 3 $results/solve.csv "${row% *}" "${row#* }")" "$now"
done

echo "pages: $failed failed"
[ $failed -eq 0 ]
