# eight ops and uneven tiles, which the walk counts: without a memo of ranges every way from an op to the outputs is followed anew
tileflow eval tests/golden/in/uneven-stream.yaml --quiet --json "$OUT/r.json"
grep -o '"cycles": *[0-9.]*' "$OUT/r.json" | head -1
