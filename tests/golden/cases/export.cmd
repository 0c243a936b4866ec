# One matrix product for Timeloop, a fused chain for TileFlow; a folder that is there already is left alone.
tileflow export examples/matmul.yaml --to timeloop -o "$OUT/tl" --quiet && head -n 60 "$OUT"/tl/*.yaml | sed "s|$OUT|OUT|"
tileflow export tests/golden/in/chain.yaml --to tileflow -o "$OUT/tf" --quiet && head -n 200 "$OUT"/tf/*.yaml | sed "s|$OUT|OUT|"
tileflow export examples/matmul.yaml --to timeloop -o "$OUT/tl" 2>&1 | sed "s|$OUT|OUT|"
