# docs/HOWTO-instruction.md followed: its two blocks as files, their mappings, and one mapping's addresses.
awk -v out="$OUT" '/^```/ { n += /yaml/; inside = /yaml/; next } inside { print >(out "/" n ".yaml") }' docs/HOWTO-instruction.md
tileflow instructions "$OUT/1.yaml" "$OUT/2.yaml" || exit
tileflow instructions "$OUT/1.yaml" "$OUT/2.yaml" --paper | sed -n '4p' || exit
tileflow instructions "$OUT/1.yaml" "$OUT/2.yaml" --json - | sed -n '1,70p'
