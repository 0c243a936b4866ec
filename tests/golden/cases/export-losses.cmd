# What the format has no word for and changes times alone: a warning where it was written, and a comment in the file.
tileflow export tests/golden/in/two-units.yaml --to tileflow -o "$OUT/tf" | sed "s|$OUT|OUT|" && grep '^#' "$OUT/tf/architecture.yaml"
tileflow export tests/golden/in/two-units.yaml --to tileflow -o "$OUT/quiet" --quiet
