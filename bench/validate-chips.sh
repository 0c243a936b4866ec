#!/bin/sh
# Energies, words and areas of published chips: prints their section of docs/VALIDATION.md, writes docs/results/chips.csv.
#   bench/validate-chips.sh TILEFLOW              (from the repository root)
#   bench/validate-chips.sh TILEFLOW find EVALS   looks for mappings of less energy x delay, beginning with those that are kept; a minute at most each
set -u
. "$(dirname "$0")/lib.sh"
begin "$(dirname "$0")/.." "${1:?usage: $0 TILEFLOW [find EVALS]}"
kept=workloads/dataflows/chips
csv=docs/results/chips.csv

# The chips, and the same with the energies of the tables; of Simba one chip of the package, whose outermost memory stands for what
# feeds it.
sed '/name: DRAM/,/name: GLB/s/energy: .*/enrgy: 0 pJ/; /^ *energy:/d; s/enrgy/energy/; s/, energy-per-hop: [0-9.]* pJ//' arch-specs/eyeriss.yaml \
  >"$scratch/eyeriss-tables.yaml"
sed 's/mesh: \[6, 6\]/mesh: [1, 1]/; s/, energy-per-hop: 9 pJ//' arch-specs/simba.yaml >"$scratch/simba-chip.yaml"
cmp -s arch-specs/simba.yaml "$scratch/simba-chip.yaml" && { echo "$0: simba.yaml has no package" >&2; exit 1; }

# What Chen et al., JSSC 2017, table V, give of a layer: DRAM and buffer in MB, mW, ms
layers() {
  cat <<'END'
conv1 5.0 18.5 332 20.9
conv2 4.0 77.6 288 41.9
conv3 3.0 50.2 266 23.6
conv4 2.1 37.4 235 18.4
conv5 1.3 24.9 236 10.5
END
}

keep() { # NAME ARCHITECTURE WORKLOAD
  start=
  [ -e "$kept/$1.yaml" ] && start=$kept/$1.yaml
  # shellcheck disable=SC2086 # a file or none
  timeout 300 "$tool" best "$2" "$3" $start --objective edp --evals "$evals" --time-limit 60 -o "$scratch/found" --force --quiet --threads 1 </dev/null || return
  {
    echo "# The mapping of least energy x delay known of $1; found by bench/validate-chips.sh."
    echo "# tileflow eval arch-specs/${1%-*}.yaml $3 $kept/$1.yaml"
    grep -v '^#' "$scratch/found"
  } >"$scratch/file" && mv "$scratch/file" "$kept/$1.yaml"
}

if [ "${2:-}" = find ]; then
  evals=${3:?usage: $0 TILEFLOW find EVALS}
  mkdir -p "$kept"
  layers | while read -r name _; do keep "eyeriss-$name" arch-specs/eyeriss.yaml "workloads/chips/alexnet-$name.yaml"; done
  keep simba-chip "$scratch/simba-chip.yaml" workloads/gemm.yaml
  exit
fi

# figures ARCHITECTURE FILE...: words of DRAM, words of the next memory, pJ on the chip, cycles, least and most pJ on the chip, points
figures() {
  "$tool" eval "$@" --csv "$scratch/out.csv" --json "$scratch/out.json" --force --quiet </dev/null || exit 1
  tr -d ',' <"$scratch/out.json" | awk '/^  "energy_range_pj": \[/ { getline; low = $1; getline; high = $1 } END { printf "%s %s ", low, high }' >"$scratch/range"
  awk -F, '$4 == "total" { points = $14; all = $19; cycles = $18 }
    $4 == "level" && ++n == 1 { dram = $11 + $12; off = $19 }
    $4 == "level" && n == 2 { glb = $10 + $11 + $12 + $13 }
    END { getline range <file; split(range, r, " "); if (r[1] == "") r[1] = r[2] = all
      printf "%.0f %.0f %.6g %.6g %.6g %.6g %.0f\n", dram, glb, all - off, cycles, r[1] - off, r[2] - off, points }' file="$scratch/range" "$scratch/out.csv"
}

echo "chip,layer,figure,published,ours,least,most" >"$csv"
# row CHIP LAYER FIGURE PUBLISHED OURS [LEAST MOST]
row() { echo "$1,$2,$3,$4,$5,${6:-},${7:-}" >>"$csv"; }
scaled() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.4g", a * b }'; }

layers >"$scratch/layers"
while read -r name dram glb mw ms; do
  set -- "workloads/chips/alexnet-$name.yaml" "$kept/eyeriss-$name.yaml"
  figures arch-specs/eyeriss.yaml "$@" >"$scratch/own" || exit 1
  figures "$scratch/eyeriss-tables.yaml" "$@" >"$scratch/tables" || exit 1
  read -r words buffer pj cycles _ <"$scratch/own"
  read -r _ _ by_tables _ least most _ <"$scratch/tables"
  row eyeriss "$name" "DRAM MB" "$dram" "$(scaled "$words" 2e-6)"
  row eyeriss "$name" "buffer MB" "$glb" "$(scaled "$buffer" 2e-6)"
  row eyeriss "$name" "chip mJ" "$(scaled "$mw" "$ms"e-3)" "$(scaled "$pj" 1e-9)"
  row eyeriss "$name" "chip mJ by the tables" "$(scaled "$mw" "$ms"e-3)" "$(scaled "$by_tables" 1e-9)" "$(scaled "$least" 1e-9)" "$(scaled "$most" 1e-9)"
  row eyeriss "$name" ms "$ms" "$(scaled "$cycles" 5e-6)"
done <"$scratch/layers"

# Zimmer et al., VLSI Circuits 2019, of one chip: 0.11 pJ an operation at best, 4.01 TOPS, 1.29 TOPS/mm2
figures "$scratch/simba-chip.yaml" workloads/gemm.yaml "$kept/simba-chip.yaml" >"$scratch/own" || exit 1
read -r _ _ pj _ least most points <"$scratch/own"
each() { awk -v pj="$1" -v points="$points" 'BEGIN { printf "%.3g", pj / (2 * points) }'; }
row simba chip "pJ an operation" 0.11 "$(each "$pj")" "$(each "$least")" "$(each "$most")"
# the chip's 1024 units at 1.736 GHz; its area, and the least and the most of it
peak=$(awk 'BEGIN { printf "%.4g", 1024 * 2 * 1.736e9 / 1e12 }')
row simba chip TOPS 4.01 "$peak"
tr -d ',' <"$scratch/out.json" | awk '/^  "area_um2":/ { all = $2 } /^  "area_range_um2": \[/ { getline; least = $1; getline; most = $1 } END { print all, least, most }' >"$scratch/area"
read -r all least most <"$scratch/area"
density() { awk -v um2="$1" -v peak="$peak" 'BEGIN { printf "%.3g", peak / um2 * 1e6 }'; }
row simba chip "TOPS/mm2" 1.29 "$(density "$all")" "$(density "$most")" "$(density "$least")"

# line FIGURE WHAT WHY: the layers' sum, and each of them
total() { awk -F, -v figure="$1" '$1 == "eyeriss" && $3 == figure { theirs += $4; ours += $5; least += $6; most += $7 }
  END { printf "| %.4g | %s | %.2f |", theirs, most ? sprintf("%.3g (%.3g to %.3g)", ours, least, most) : sprintf("%.4g", ours), ours / theirs }' "$csv"; }
layer() { awk -F, -v figure="$1" -v layer="$2" '$2 == layer && $3 == figure { printf " %.2f |", $5 / $4 }' "$csv"; }
line() { printf '| %s %s' "$2" "$(total "$1")"; for l in conv1 conv2 conv3 conv4 conv5; do layer "$1" $l; done; echo " $3 |"; }
one() { awk -F, -v figure="$1" -v what="$2" -v why="$3" '$1 == "simba" && $3 == figure {
  printf "| %s | %s | %s | %.2f | %s |\n", what, $4, $7 ? $5 " (" $6 " to " $7 ")" : $5, $5 / $4, why }' "$csv"; }
cat <<'END'
## Energies of chips

Measured chips, on our descriptions of them ([chips.csv](results/chips.csv), `bench/validate-chips.sh`). Brackets have what published sources
make of the tables ([FORMATS.md](FORMATS.md#architecture)). Mappings are the best known of energy x delay: those of the chips are not published.

**Eyeriss**, [eyeriss.yaml](../arch-specs/eyeriss.yaml), the convolutions of AlexNet, 4 images (Chen et al., JSSC 52(1), 2017, table V). Its rows were written
from memory; their sums are the abstract's 278 mW, 35 images a second and 0.0029 words of DRAM a multiply-add. The last five columns are ours over theirs by layer.

| | theirs | ours | over | 1 | 2 | 3 | 4 | 5 | |
|---|--:|--:|--:|--:|--:|--:|--:|--:|---|
END
line "chip mJ" "energy of the chip, mJ" "memories and array at the ratios of ISCA 2016 (1 : 2 : 6) to the tables' 16-bit multiply-add"
line "chip mJ by the tables" "the same, all by the tables, mJ" "register files as SRAM, no network; Eyeriss's lie at the upper end"
line "DRAM MB" "DRAM, MB" "theirs are compressed, but for the first layer's input; ours are dense"
line "buffer MB" "global buffer, MB" "another mapping"
line ms "time, ms" "103.5 ms of theirs are work of the array"
cat <<'END'

Not in ours: gating of zero inputs, clock, control, leakage, pads.

**Simba**, one chip of [simba.yaml](../arch-specs/simba.yaml), a product of 1024 x 1024 x 1024 without its DRAM (Zimmer et al., VLSI Circuits 2019).

| | theirs | ours | over | |
|---|--:|--:|--:|---|
END
one "pJ an operation" "energy, pJ an operation" "all by the tables, at the supply of 45 nm; theirs is the best of all supplies"
one TOPS TOPS "simba.yaml has the clock of 128 TOPS in 36 chips; one chip alone runs faster"
one TOPS/mm2 TOPS/mm2 "memories and multiply-adds alone: no routers, RISC-V core, post-processing beyond one add, nor wires"
cat <<'END'

**Thesis, figure 3.13**, what TileFlow was held against:

| | theirs | ours |
|---|---|---|
| a: cycles beside Timeloop, one product | R2 0.999 over 1152 mappings, which are not published | [75 mappings](#counts-of-timeloop) and [24 runs](#published-runs-of-timeloop-with-energies), equal or explained |
| b: energy beside Timeloop | 0.1 % on average | the same runs, by component |
| c: cycles beside RTL | 5.4 % on average over 131 mappings of attention | [66 runs](#cycles-of-real-rtl) of fused products, which are published |
| d: energy beside RTL | 6.1 % on average | no energy of that RTL is published |
END
