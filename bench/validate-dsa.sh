#!/bin/sh
# The seed dsa-compute-schedule: prints its section of docs/VALIDATION.md.
#   bench/validate-dsa.sh TILEFLOW      (from the repository root)
set -u
tool=$1
row() { # mapping workload, the seed's figure, a remark
  "$tool" eval arch-specs/dsa-sram.yaml "workloads/dsa/$2.yaml" "workloads/dataflows/dsa/$1.yaml" --csv - --quiet 2>/dev/null |
    awk -F, -v name="$1" -v seed="$3" -v remark="$4" '
      function dots(n,  s) { s = sprintf("%.0f", n); while (s ~ /[0-9][0-9][0-9][0-9]/) sub(/[0-9][0-9][0-9]($|,)/, ",&", s); return s }
      $4 == "level" && $5 == "DRAM" { words = $11 + $12; fits = $3 }
      $4 == "level" && $5 == "SRAM" { peak = $9 * 4 / 1024 }
      END { printf "| %s | %s | %s | %s | %.0f KiB | %s |\n", name, seed, fits == "true" ? dots(words) : "does not fit", dots(words), peak, remark }'
}
cat <<'TEXT'
## The seed dsa-compute-schedule

Its convolution (2048 to 512 channels, 1 x 1, 56 x 56; one SRAM of 1,536 KiB, float32) as
[tile trees](../workloads/dataflows/dsa); `unit.test_dsa` holds these figures. *Words* are those read from DRAM and written to
it; the seed counts the elements that it loads, an output's among them.

| schedule | seed's count | words | words, if it fitted | SRAM | |
|---|--:|--:|--:|--:|---|
TEXT
row demo1 conv 6,578,274,304 "equal: nothing is used again"
row demo1-kept conv "" "the same order on an SRAM that is not emptied after each output"
row demo2 conv 179,651,584 "demo3-2, too: the model keeps the weights while the rows pass"
row demo3-1 conv "does not fit" "all weights"
row demo3-3 conv 4,825,088 "the seed's flag counts the first of 128 passes over the depth"
row demo4 conv "does not fit" "the whole image"
row demo5-1 add-conv 30,515,200 "sum, then demo3-3"
row demo5-2 add-conv 8,036,352 "the flag again; the sum is made 64 times"
row demo5-rows add-conv "" "ours: two rows of all channels, the sum is made once"
cat <<'TEXT'

- **What the flag hides.** From demo3-2 on the seed marks a tile `reuse` after its first load, *to keep repeated loads out of the
  statistics*, as it says; but the tiles that follow hold other elements. Counting the first of the 128 tiles of 16
  input channels only, (words - outputs) / 128 + outputs, gives the seed's 4,825,088 of demo3-3 and 8,036,352 of demo5-2
  exactly. Every element that is really moved counted, demo3-3 loads the image 64 times, and demo2 is the better one.
- **Order.** The seed's figures fall from demo1 over demo2 and demo3-2 (9,586,432) to demo3-3; the words do from demo1 over
  demo1-kept and demo3-3 to demo2.
- **Fusion.** By the seed's figures its fused sum moves 3.8 times less than the two ops apart. In words it moves 1.9 times more, for
  image and bias pass once for every 8 output channels; fused by rows it moves 9.9 times less.
TEXT
