# The violations of a mapping that does not fit, as JSON.
tileflow eval tests/golden/in/tight.yaml --json - 2>/dev/null | sed -n '/"mapping"/,/^  },/p'
tileflow eval tests/golden/in/tight.yaml --json - >$OUT/a.json 2>/dev/null
