#!/bin/sh
# Predictions held against what others measured: writes docs/VALIDATION.md, docs/results/{rtl,timeloop,tileflow,tileflow-dram,chips}.csv and the figures.
#   bench/validate.sh TILEFLOW [page]      page: without the figures
# Exits 1 if the DRAM words of a fused product differ from the RTL's.
set -u
. "$(dirname "$0")/lib.sh"
begin "$(dirname "$0")/.." "${1:?usage: $0 TILEFLOW [page]}"
what=${2:-} # below, $2 is part of what a mapping gives
csv=docs/results/rtl.csv

# One fused product, as shared/data/README.md describes it: C stays in the buffer, its tiles of M outermost.
product() { # M L K N tileM tileK1 tileK2
  cat >"$scratch/case.yaml" <<YAML
workload:
  name: fused-gemm
  dims: {m: $1, l: $2, k: $3, n: $4}
  ops:
  - C[m,l] += A[m,k] * B[k,l]
  - E[m,n] += C[m,l] * D[l,n]
mapping: |
  DRAM for m=$(($1 / $5))
    Seq keep C@Buffer
      DRAM for k=$(($3 / $6))
        Buffer for k=$(($6 / 16)) m=$(($5 / 16)) l=$2 spatial m=16@x k=16@y
          Reg
            op C
      DRAM for l=$(($2 / $7))
        Buffer for l=$(($7 / 16)) m=$(($5 / 16)) n=$4 spatial m=16@x l=16@y
          Reg
            op E
YAML
}

# The two products apart, C through DRAM: a graph-based estimate takes them so, less C's own traffic.
evaluate() { # ARCH
  "$tool" eval --quiet --json - "$1" "$scratch/case.yaml" >"$scratch/out.json" || exit 1
  awk '/^  "cycles"/ { sub(",", "", $2); cycles = $2 }
       /^      "(read|update)"/ && !seen[$1]++ { sub(",", "", $2); v[$1] = $2 }
       END { printf "%.1f %d %d\n", cycles, v["\"read\":"], v["\"update\":"] }' "$scratch/out.json"
}

# The DRAM as it is documented: one port of 4 words a cycle for loads and stores.  rtl-core.yaml has one each way, which is inferred from
# these very runs.
sed 's/bandwidth: {read: 4, write: 4}/bandwidth: 4/; /^    pipeline:/d' arch-specs/rtl-core.yaml >"$scratch/shared.yaml"
cmp -s arch-specs/rtl-core.yaml "$scratch/shared.yaml" && { echo "validate.sh: rtl-core.yaml has no ports to join" >&2; exit 1; }

bad=0
sooner=0 # runs that end before one port could have passed their loads and stores
echo "m,l,k,n,tile_m,tile_k1,tile_k2,rtl_cycles,cycles,error,tileflow_cycles,tileflow_error,graph_cycles,graph_error,shared_cycles,shared_error" >"$csv"
while IFS=, read -r m l k n tm tl tk1 tn tk2 cycles to_buffer to_memory _ _ theirs; do
  [ "$m" = M ] && continue
  product "$m" "$l" "$k" "$n" "$tm" "$tk1" "$tk2"
  set -- $(evaluate "$scratch/shared.yaml")
  shared=$1
  [ $((($2 + $3) / 4)) -le "$cycles" ] || sooner=$((sooner + 1))
  set -- $(evaluate arch-specs/rtl-core.yaml)
  [ "$2" -eq $((to_buffer / 16)) ] && [ "$3" -eq $((to_memory / 16)) ] || {
    echo "M $m L $l K $k tile $tm: $2 words read and $3 written, the RTL has $((to_buffer / 16)) and $((to_memory / 16))" >&2
    bad=$((bad + 1))
  }
  # each product alone at the longer of its loads and its points; C neither stored nor loaded
  awk -v m="$m" -v l="$l" -v k="$k" -v n="$n" -v tm="$tm" -v tk1="$tk1" -v tk2="$tk2" -v rtl="$cycles" -v our="$1" \
    -v tf="$theirs" -v shared="$shared" 'function max(a, b) { return a > b ? a : b }
    BEGIN { graph = max((m * k + k * l) / 4, m * l * k / 256) + max((l * n + m * n) / 4, m * l * n / 256)
      printf "%d,%d,%d,%d,%d,%d,%d,%d,%.0f,%.4f,%d,%.4f,%.0f,%.4f,%.0f,%.4f\n", m, l, k, n, tm, tk1, tk2, rtl, our, our / rtl - 1,
        tf, tf / rtl - 1, graph, graph / rtl - 1, shared, shared / rtl - 1 }' >>"$csv"
done <tests/data/rtl/fused_gemm.csv

sh bench/validate-timeloop.sh "$tool" >"$scratch/timeloop.md" || exit 1
sh bench/validate-exercises.sh >"$scratch/exercises.md" || exit 1
sh bench/validate-chips.sh "$tool" >"$scratch/chips.md" || exit 1
sh bench/validate-tileflow.sh "$tool" >"$scratch/tileflow.md" || exit 1
[ "$what" = page ] || sh plots/figures.sh "$tool" || exit 1
sh bench/validate-dsa.sh "$tool" >"$scratch/dsa.md" || exit 1
summary() { # column
  awk -F, -v c="$1" 'NR > 1 { e = $c < 0 ? -$c : $c; s += e; if (e > w) w = e; n++ } END { printf "%.2f %% | %.1f %%", 100 * s / n, 100 * w }' "$csv"
}
{
  cat <<TEXT
# Validation

\`bench/validate.sh\` writes this page and its figures.

## Cycles of real RTL

66 fused pairs of matrix products, simulated in RTL on one core of the accelerator of thesis section 3.6.5.1, published with TileFlow
([tests/data/rtl](../tests/data/rtl/README.md)), predicted on [rtl-core.yaml](../arch-specs/rtl-core.yaml) ([rtl.csv](results/rtl.csv)). DRAM words, read and
written, equal the RTL's on $((66 - bad)) of 66 rows. Cycles:

| prediction | mean absolute error | worst |
|---|--:|--:|
| tileflow, DRAM with a port each way (inferred from these runs) | $(summary 10) |
| tileflow, DRAM with one shared port (as documented) | $(summary 16) |
| TileFlow (its published prediction) | $(summary 12) |
| graph-based: each product alone, less the intermediate's traffic | $(summary 14) |

![predicted over measured cycles](img/validation/rtl.svg)

*Limits.* One core, one simulator (its results as published), one kind of workload, one order of loops. The first row predicts no unseen data, as two facts
are inferred from these runs:

- *The DRAM's ports*. As documented, loads and stores share 4 words a cycle (second row), but $sooner of the 66 runs end sooner than that allows. So
  rtl-core.yaml has a port each way.
- *56 cycles for each product besides* ([NPU.md](NPU.md)). Without them the first row is 1.46 % and 8.4 %.

Between buffer and registers the RTL moves more on all 66 rows: it reads partial sums that nobody wrote, and passes over C (what the first
product makes) once between the products. Without these its words are ours (\`unit.test_rtl\`).

TEXT
  cat "$scratch/timeloop.md"
  echo
  cat "$scratch/exercises.md"
  echo
  cat "$scratch/chips.md"
  echo
  cat "$scratch/tileflow.md"
  echo
  cat "$scratch/dsa.md"
  cat <<TEXT

## Counts of the execution itself

\`oracle.main\` compares every counter with a brute-force walk that shares no code with the model: in every run of CI 2,000 random cases, \`oracle.padded\` 400 with
padding, \`oracle.masked\` 80 with masks. The table adds up longer runs (\`bench/results-oracle.sh\`, [oracle.csv](results/oracle.csv)); for bounds
(\`unit.test_below\`), *compared* counts single checks. Cases that differed are tests today (\`tests/oracle/found\`).

| what | runs | cases | compared | differed |
|---|--:|--:|--:|--:|
$(awk -F, 'NR > 1 { if (!($1 in n)) order[++m] = $1; n[$1]++; cases[$1] += $3; same[$1] += $4; differ[$1] += $5 }
  END { for (i = 1; i <= m; i++) { k = order[i]; printf "| %s | %d | %d | %d | %d |\n", k, n[k], cases[k], same[k], differ[k] } }' docs/results/oracle.csv)
TEXT
} >"$scratch/page.md"
mv "$scratch/page.md" docs/VALIDATION.md
exit $((bad > 0))
