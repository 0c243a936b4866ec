# What no mapping can beat, as text and as JSON; no mapping is needed.
tileflow bound tests/golden/in/chain.yaml
tileflow bound tests/golden/in/chain.yaml --json -
