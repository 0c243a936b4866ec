# --version stands alone; names and lines with control characters are shown without them.
tileflow --version x || echo "$?"
esc=$(printf '\033')
tileflow eval examples/matmul.yaml --json "no${esc}/x" || echo "$?"
printf 'workload:\n  dims: {m: 4}\n  op\033[2Js: []\n' >"$OUT/a${esc}[2J.yaml"
cd "$OUT" && tileflow check "a${esc}[2J.yaml" "no${esc}.yaml" || echo "$?"
