#!/bin/sh
# The seed dsa-compute-schedule: prints its section of docs/VALIDATION.md.
#   bench/validate-dsa.sh TILEFLOW      (from the repository root)
set -u
tool=$1
row() { # mapping workload, the seed's figure, a remark, the machine if not dsa-sram
  "$tool" eval "arch-specs/${5:-dsa-sram}.yaml" "workloads/dsa/$2.yaml" "workloads/dataflows/dsa/$1.yaml" --csv - --quiet 2>/dev/null |
    awk -F, -v name="$1" -v seed="$3" -v remark="$4" '
      function dots(n,  s) { s = sprintf("%.0f", n); while (s ~ /[0-9][0-9][0-9][0-9]/) sub(/[0-9][0-9][0-9]($|,)/, ",&", s); return s }
      $4 == "level" && $5 == "DRAM" { words = $11 + $12; fits = $3 }
      $4 == "level" && $5 == "SRAM" { peak = $9 * $21 / 8192 }
      END { printf "| %s | %s | %s | %s | %.0f KiB | %s |\n", name, seed, fits == "true" ? dots(words) : "does not fit", dots(words), peak, remark }'
}
cat <<'TEXT'
## The seed dsa-compute-schedule

The seed counts the elements that its schedules load, an output's among them. Convolution: 2048 to 512 channels, 1 x 1, 56 x 56, one SRAM of
1,536 KiB, float32. Ours are [tile trees](../workloads/dataflows/dsa) (`unit.test_dsa`). *Words* are read from DRAM and written to it.

| schedule | seed's count | words | words, if it fitted | SRAM | |
|---|--:|--:|--:|--:|---|
TEXT
row demo1 conv 6,578,274,304 "equal: nothing is used again"
row demo1-kept conv "" "the same order on an SRAM that is not emptied after each output"
row demo2 conv 179,651,584 "the model keeps the weights while the rows pass, which the seed's demo2 does not"
row demo3-1 conv "does not fit" "all weights"
row demo3-2 conv 9,586,432 "as demo2; the flag counts the first of 28 tiles of the image"
row demo3-3 conv 4,825,088 "the seed's flag counts the first of 128 passes over the depth"
row demo4 conv "does not fit" "the whole image"
row demo5-1 add-conv 30,515,200 "sum, then demo3-3"
row demo5-2 add-conv 8,036,352 "the flag again; the sum is made 64 times"
row demo5-rows add-conv "" "ours: two rows of all channels, the sum is made once"
row demo6 conv-conv 722,528 "two convolutions apart, 8 bits; the flag counts the first tile of each" dsa-sram-8-bits
row demo6-1 conv-conv 206,432 "fused, 8 bits; the flag again; the first is made 4 times" dsa-sram-8-bits
cat <<'TEXT'

- **The flag.** From demo3-2 on the seed marks a tile `reuse` after its first load, but later tiles hold other elements. Of demo3-3 and demo5-2 its figure is exactly
  (words - outputs) / 128 + outputs.
- **Two convolutions.** The seed gives no shape for demos 6 and 6-1; ours is the roundest of 93 that fit (1 x 1, 3 to 32 to 64 channels, 224 x 224).
- **Fusion.** The seed's fused sum moves 1.9 times more words than the two ops apart (by its figures 3.8 times less), fused by rows 9.9 times less. Its fused
  convolutions move 3.0 times less (the seed: 3.5).
TEXT
