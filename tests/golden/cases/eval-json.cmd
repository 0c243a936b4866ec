# All figures as JSON, and nothing else on stdout.
tileflow eval tests/golden/in/chain.yaml --json -
