#!/bin/sh
# The named dataflows of thesis table 3.8, evaluated and compared: writes docs/RESULTS-dataflows.md.
#   bench/dataflows.sh TILEFLOW > docs/RESULTS-dataflows.md
# Exits 1 if a tree does not fit or its DRAM traffic is not the one counted by hand below.
set -u
. "$(dirname "$0")/lib.sh"
begin "$(dirname "$0")/.." "${1:?usage: $0 TILEFLOW > docs/RESULTS-dataflows.md}"
out=$scratch/out
bad=0

# ---- DRAM words by hand --------------------------------------------------------------------
t=$((8 * 512 * 64))    # each of Q, K, V, O of G1
s=$((8 * 512 * 512))   # each of S, D, E, P
r=$((8 * 512))         # each of X, Z
once=$((4 * t))
# every op reads its operands and writes its result: S 2 writes and reads of X, D; D, E (three), P
layers=$((4 * t + 10 * s + 4 * r))
twice=$((2 * t + 2 * 2 * t)) # K and V for each of two blocks of rows

i=$((64 * 56 * 56))
m=$((128 * 56 * 56))
w=$((128 * 64 * 9 + 64 * 128))
o=$((64 * 56 * 56))
conv_layers=$((i + 2 * m + w + o))
conv_once=$((i + w + o))
# Windows of 3 reach one row or column beyond a part: 56 + 2 * 3 rows are read where the map is cut in
# four, 56 + 2 columns where it is cut in two.
conv_rows=$((62 * 56 * 64 + w + o))
# Tiles of 14 x 14, columns inner: rows as if cut in four, columns as if cut in two, less the corner
# of 2 x 2 that each core still holds when it goes on to its next row of tiles.
conv_tiles=$((62 * 58 * 64 - 4 * 4 * 64 + w + o))
conv_quarters=$((58 * 58 * 64 + w + o))

# ---- one evaluation ------------------------------------------------------------------------
# Leaves the figures in variables.
evaluate() { # architecture workload mapping
  timeout 60 "$tool" eval --quiet --json - "arch-specs/$1.yaml" "workloads/$2.yaml" \
    "workloads/dataflows/$1/$3.yaml" >"$out" 2>/dev/null
  status=$?
  if [ $status -ne 0 ] && [ $status -ne 3 ]; then
    echo "$1 $2 $3: exit status $status" >&2
    exit 1
  fi
  # The report is indented by two: six spaces are the figures of a level, deeper ones of a tensor.
  eval "$(awk '
    /^  "cycles"/ { v = $2; sub(",", "", v); printf "cycles=%.0f\n", v }
    /^  "energy_pj"/ { v = $2; sub(",", "", v); printf "energy=%.0f\n", v / 1e6 }
    /^  "bottleneck"/ { v = $0; sub(/^[^:]*: "/, "", v); sub(/",?$/, "", v); printf "bottleneck=\"%s\"\n", v }
    /^  "levels"/ { at = 1 }
    /^  "compute"/ { at = 0 }
    at && /^      "name"/ { v = $2; gsub(/[",]/, "", v); level = v; sum = 0 }
    at && /^      "peak_words"/ { v = $2; sub(",", "", v); printf "%s_peak=%d\n", level, v }
    at && /^      "(fill|read|update|drain)"/ { v = $2; sub(",", "", v); sum += v; printf "%s_words=%.0f\n", level, sum }
  ' "$out")"
}

ratio() { # a b: a / b with two decimals
  awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'
}

mega() { awk -v a="$1" 'BEGIN { printf "%.2f", a / 1e6 }'; }
kilo() { awk -v a="$1" 'BEGIN { printf "%.1f", a / 1e3 }'; }

row() { # architecture workload file by-hand
  evaluate "$1" "$2" "$3"
  name=${3#attention-}
  name=${name#conv-chain-}
  case $name in layerwise) base=$cycles; base_words=$DRAM_words ;; esac
  note=
  if [ $status -eq 3 ]; then
    note=" (does not fit)"
    bad=1
  fi
  if [ "$4" != "$DRAM_words" ]; then
    note="$note (by hand: $4 words)"
    bad=1
  fi
  l2=
  [ "$1" = cloud ] && l2=" $(mega "$L2_words") |"
  echo "| [$name](../workloads/dataflows/$1/$3.yaml)$note | $DRAM_words | $(awk -v a="$DRAM_words" -v b="$base_words" 'BEGIN { printf "%.1f %%", 100 * (1 - a / b) }') | $cycles | $(ratio "$base" "$cycles") | $energy |$l2 $(mega "$L1_words") | $(kilo "$L1_peak") | $bottleneck |"
}

head_of() { # architecture
  if [ "$1" = cloud ]; then
    echo "| dataflow | DRAM words | saved | cycles | speed-up | energy, uJ | L2 words, M | L1 words, M | L1 peak, K words | busiest |"
    echo "|---|---:|---:|---:|---:|---:|---:|---:|---:|---|"
  else
    echo "| dataflow | DRAM words | saved | cycles | speed-up | energy, uJ | L1 words, M | L1 peak, K words | busiest |"
    echo "|---|---:|---:|---:|---:|---:|---:|---:|---|"
  fi
}

# ---- the page ------------------------------------------------------------------------------
cat <<'TEXT'
# The named dataflows, compared

The dataflows of the thesis's table 3.8 on one shape, as tile trees written by hand. `bench/dataflows.sh build/tileflow > docs/RESULTS-dataflows.md` writes
this page. DRAM words equal a formula in the script; *saved* and *speed-up* are against layerwise; *L1 words* and *L2 words* are accesses of all
instances, *L1 peak* is of one.
TEXT

echo
echo "## Self-attention G1 on Edge"
echo
head_of edge
row edge attention/g1 attention-layerwise $layers
row edge attention/g1 attention-uni-pipe $once
row edge attention/g1 attention-flat-hgran $once
row edge attention/g1 attention-flat-rgran $once
row edge attention/g1 attention-chimera $twice
row edge attention/g1 attention-tileflow $once
row edge attention/g1 attention-flash-attention $once
row edge attention-nomax attention-nomax-chimera $once

echo
echo "## Self-attention G1 on Cloud"
echo
head_of cloud
row cloud attention/g1 attention-layerwise $layers
for f in uni-pipe flat-hgran flat-rgran chimera tileflow flash-attention; do
  row cloud attention/g1 attention-$f $once
done

# convolutions TITLE ARCH WORDS: those of the fused-layer tree, whose tiles differ, by hand
convolutions() {
  echo
  echo "## Convolution chain C3 on $1"
  echo
  head_of "$2"
  row "$2" conv-chain/c3 conv-chain-layerwise $conv_layers
  row "$2" conv-chain/c3 conv-chain-fused-layer "$3"
  row "$2" conv-chain/c3 conv-chain-isos $conv_rows
  row "$2" conv-chain/c3 conv-chain-tileflow $conv_once
}
convolutions Edge edge $conv_tiles
convolutions Cloud cloud $conv_quarters
cat <<'TEXT'

[RESULTS-search.md](RESULTS-search.md#the-thesiss-figures-from-our-runs) has means over all shapes beside the thesis's. FLAT-RGran and Chimera need a fraction
of FLAT-HGran's L1 (the thesis: 28.4 % and 14.8 %).

## Limits

FlashAttention's cycles include rescaling O on the vector units. Nothing hides the first load, the last store and the work of the last step.
TEXT
exit $bad
