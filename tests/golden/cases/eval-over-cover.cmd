# Counts that cover more than their range are warned of; the exit status stays.
tileflow eval tests/golden/in/over.yaml --json /dev/null --quiet
tileflow check tests/golden/in/over.yaml
