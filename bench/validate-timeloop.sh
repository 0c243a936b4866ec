#!/bin/sh
# Our counters beside Timeloop's for its 75 mappings: writes docs/results/timeloop.csv and the figure, prints the section of
# docs/VALIDATION.md.
#   bench/validate-timeloop.sh TILEFLOW      (from the repository root)
set -u
tool=$1
csv=docs/results/timeloop.csv
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

for f in tests/data/timeloop/case*.yaml; do
  name=$(basename "$f" .yaml)
  "$tool" import "$f" -o "$scratch/native.yaml" && "$tool" eval "$scratch/native.yaml" --csv - --quiet >"$scratch/eval.csv" || exit 1
  output=$(sed -n 's/^  - "\([A-Za-z_0-9]*\)\[.*+=.*/\1/p' "$scratch/native.yaml")
  sed "s/^/$name,$output,/" "$scratch/eval.csv"
done | awk -F, '
  BEGIN { print "case,level,tensor,counter,timeloop,ours,why" }
  FNR == NR { if ($6 == "tensor") { k = $1 "," $7 "," $8; read[k] = $13; fill[k] = $12; update[k] = $14; out[$1] = $2 } next }
  function row(counter, theirs, ours) {
    why = ours == theirs ? "equal" : $1 == "case061" && $3 != out[$1] ? "links" : ours > theirs ? "larger" : \
      $3 == out[$1] && counter == "fill" ? "partial sums" : $3 != out[$1] ? "windows" : "other"
    print $1 "," $2 "," $3 "," counter "," theirs "," ours "," why
  }
  /^#/ { next }
  { k = $1 "," $2 "," $3; row("read", $4, read[k]); row("fill", $5, fill[k]); row("update", $6, update[k]) }
' - tests/data/timeloop/expected.csv >"$scratch/rows.csv" || exit 1
mv "$scratch/rows.csv" $csv

n() { grep -c ",$1\$" $csv; }
cat <<TEXT
## Counts of Timeloop

75 mappings in Timeloop's own files ([tests/data/timeloop](../tests/data/timeloop)): reads, fills and updates of every data space in every memory, beside
Timeloop 3.0.3 ([timeloop.csv](results/timeloop.csv), \`unit.test_import\`). Each survives export and import (\`unit.test_export\`).

| counters | | |
|---|--:|---|
| all | $(($(wc -l <$csv) - 1)) | |
| equal | $(n equal) | |
| smaller, partial sums | $(n "partial sums") | fills of an output below a network that reduces: Timeloop fills every instance with the partial sum, one copy is enough |
| smaller, windows | $(n windows) | reads and fills of an input whose window moves in two ranks at once: Timeloop counts the whole tile |
| links | $(n links) | case061 alone: Timeloop hands its input on between neighbouring register files. With \`peers\` on their network the buffer's reads are Timeloop's, 7,680; of the 6,144 words handed on it counts half |
| larger | $(n larger) | |
| unexplained | $(n other) | |

![our counters over Timeloop's](img/validation/timeloop.svg)
TEXT
