# The keys and types of docs/FORMATS.md, for a mapping that fits and for one that does not.
tileflow eval tests/golden/in/softmax.yaml --json - | check_json
tileflow eval tests/golden/in/tight.yaml --json - 2>/dev/null | check_json
tileflow tree tests/golden/in/softmax.yaml --json - | check_json
