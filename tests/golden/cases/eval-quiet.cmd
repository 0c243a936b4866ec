# --quiet prints no report; a mapping that does not fit is still told on stderr.
tileflow eval tests/golden/in/chain.yaml --quiet
tileflow eval tests/golden/in/tight.yaml --quiet 2>&1 | grep -c 'error\['
