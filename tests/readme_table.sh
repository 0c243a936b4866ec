#!/bin/sh
# Prints the table of README.md; tests/docs.sh compares the two.
#   tests/readme_table.sh TILEFLOW
set -eu
tool=$(realpath "$1")
cd "$(dirname "$0")/.."
echo "| Mapping | Cycles | DRAM words | Energy, uJ | Fits |"
echo "|---|--:|--:|--:|---|"
for name in layerwise uni-pipe flat-hgran flat-rgran chimera flash-attention tileflow; do
  "$tool" eval arch-specs/edge.yaml workloads/attention/g1.yaml \
    "workloads/dataflows/edge/attention-$name.yaml" --csv - 2>/dev/null | tr -d '\r' |
    awk -F, -v name="$name" '
      $4 == "level" && $5 == "DRAM" { words = $11 + $12 }
      $4 == "total" { cycles = $18; pj = $19; fits = $3 }
      END {
        printf "| `%s` | %.0f | %d | %.1f | %s |\n", name, cycles, words, pj / 1e6,
          fits == "true" ? "yes" : "no"
      }' || true
done
"$tool" bound arch-specs/edge.yaml workloads/attention/g1.yaml --evals 1 --json - |
  awk '
    { sub(/,$/, "") }
    /"cycles"/ { cycles = $2 }
    /"energy_pj"/ { pj = $2 }
    /"traffic_words"/ { words = $2 }
    END { printf "| lower bound | %.0f | %d | %.1f | |\n", cycles, words, pj / 1e6 }'
