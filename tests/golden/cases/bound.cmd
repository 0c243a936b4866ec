# Lower bounds, as text and as JSON; no mapping is needed.
tileflow bound tests/golden/in/chain.yaml --evals 300
tileflow bound tests/golden/in/chain.yaml --evals 300 --json -
tileflow bound tests/golden/in/chain.yaml --evals 300 --csv - --quiet
