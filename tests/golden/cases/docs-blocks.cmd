# Every YAML block of the formats page and of the how-to that is a whole input is evaluated.
for page in docs/FORMATS.md docs/HOWTO-arch.md; do
  awk -v out="$OUT" '
    /^```/ { inside = ($0 == "```yaml"); if (inside) file = sprintf("%s/%d.yaml", out, ++n); next }
    inside { print >file }' $page
  for f in "$OUT"/*.yaml; do
    grep -q '^mapping:' "$f" || { tileflow check "$f"; continue; }
    tileflow eval "$f" | sed 's/, mapping given.*//; 2,$d'
  done
  rm "$OUT"/*.yaml
done
